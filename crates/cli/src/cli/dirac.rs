//! The files and options of DIRAC's policy.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::cli::failure::MessageBody;
use crate::cli::input::{Notes, own};
use crate::cli::policy::first_given;
use crate::cli::settings::contents;
use crate::cli::{Failure, words};
use crate::report::config::SourceLines;
use crate::report::{self, Color};
use classmate::internal::builtin::near;
use classmate_config::internal::config::dirac::{DiracTree, Lottery, Order, PolicyOptions, Profile, Weighting};
use classmate_config::{ConfigError, Source};
use classmate_pool::internal::priority::dirac::DiracChoice;

/// The name of the file in a pool.
const CONF: &str = "dirac.cfg";

/// The section of the groups of users.
const GROUPS: &str = "/Registry/Groups";

/// DIRAC's configuration files, and choices where its documentation and its program differ.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "DIRAC")]
pub(super) struct DiracArguments {
    /// DIRAC configuration file, instead of POOL/dirac.cfg; repeatable, later files override earlier ones
    #[arg(long = "cs", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Virtual organization whose `Operations` to use; required if the configuration has several
    #[arg(long, value_name = "NAME")]
    vo: Option<String>,
    /// Setup to use; required if the configuration has several
    #[arg(long, value_name = "NAME")]
    setup: Option<String>,
    /// Options by their paths, and values, that override the files.
    #[arg(skip)]
    changes: Vec<(String, String)>,
    /// How to divide a share among the queues of a user or a sharing group
    #[arg(long, value_parser = words(&WEIGHTINGS), value_name = "RULE")]
    weighting: Option<Weighting>,
    /// Rules of share correction
    #[arg(long, value_parser = words(&PROFILES), value_name = "RULES")]
    profile: Option<Profile>,
    /// Lottery among queues
    #[arg(long, value_parser = words(&LOTTERIES), value_name = "RULE")]
    lottery: Option<Lottery>,
    /// Order of queues
    #[arg(long, value_parser = words(&ORDERS), value_name = "ORDER")]
    order: Option<Order>,
}

const WEIGHTINGS: [(&str, &str, Weighting); 3] = [
    (
        "observed",
        "By the average priority of their jobs; queues that differ only in sites add up (like DIRAC)",
        Weighting::Observed,
    ),
    ("literal", "1/N times the fraction of all user priorities (the literal documentation)", Weighting::Literal),
    ("proportional", "The fraction of all user priorities (the intended documentation)", Weighting::Proportional),
];

const PROFILES: [(&str, &str, Profile); 2] =
    [("observed", "As implemented in DIRAC", Profile::Observed), ("documented", "As documented", Profile::Documented)];

const LOTTERIES: [(&str, &str, Lottery); 2] = [
    ("observed", "Sort by random number / priority (like DIRAC)", Lottery::Observed),
    ("proportional", "Draw in proportion to priority", Lottery::Proportional),
];

const ORDERS: [(&str, &str, Order); 2] =
    [("random", "Draw at random", Order::Random), ("greedy", "Highest priority first", Order::Greedy)];

impl DiracArguments {
    /// The first flag that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--cs", !self.files.is_empty()),
            ("--vo", self.vo.is_some()),
            ("--setup", self.setup.is_some()),
            ("--weighting", self.weighting.is_some()),
            ("--profile", self.profile.is_some()),
            ("--lottery", self.lottery.is_some()),
            ("--order", self.order.is_some()),
        ])
    }

    /// The arguments before settings are replaced: the pool's own file, if it has one.
    pub(super) fn before(&self, pool: Option<&Path>) -> Self {
        let files = if own(pool, CONF).is_some() { Vec::new() } else { self.files.clone() };
        Self { files, ..self.clone() }
    }

    /// Takes a line that changes an option, `Section/…/Name = value`, if it is one.
    pub(super) fn change(&mut self, line: &str) -> bool {
        let Some((path, value)) = line.split_once('=').filter(|(path, _)| path.contains('/')) else { return false };
        self.changes.push((path.trim().trim_matches('/').to_owned(), value.trim().to_owned()));
        true
    }

    /// Reads the files, or the one in the pool's directory; without any the defaults of DIRAC hold.
    /// `groups` are those of jobs, for options that change them.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        groups: &dyn Fn() -> HashSet<Vec<u8>>,
        notes: &mut Notes,
    ) -> Result<DiracChoice, Failure> {
        let paths = if self.files.is_empty() { own(pool, CONF).into_iter().collect() } else { self.files.clone() };
        let text = |path: &PathBuf| Ok((path.display().to_string(), contents(path)?));
        let mut files = paths.iter().map(text).collect::<Result<Vec<_>, Failure>>()?;
        self.warn_of_new(&files, groups, notes);
        files.extend(self.changes.iter().map(|(path, value)| ("--set".to_owned(), sections(path, value))));
        let choice = DiracChoice::read(files.clone(), self.vo.clone(), self.setup.clone());
        let choice = choice.map_err(|error| refused(&error, files))?;
        for warning in &choice.settings().warnings {
            let help = warning.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            notes.warn(warning.to_line() + &help);
        }
        let options = choice.settings().options;
        Ok(choice.with_options(PolicyOptions {
            profile: self.profile.unwrap_or(options.profile),
            weighting: self.weighting.unwrap_or(options.weighting),
            lottery: self.lottery.unwrap_or(options.lottery),
            order: self.order.unwrap_or(options.order),
            ..options
        }))
    }

    /// Reports sections that no file has, whose names may be typos.
    fn warn_of_new(&self, files: &[(String, Vec<u8>)], groups: &dyn Fn() -> HashSet<Vec<u8>>, notes: &mut Notes) {
        let mut tree = DiracTree::default();
        // Errors in the files are reported by their readers.
        if self.changes.is_empty() || files.iter().any(|(name, text)| tree.add(name, text).is_err()) {
            return;
        }
        for (path, _) in &self.changes {
            let (mut section, mut above) = (tree.root(), String::new());
            let (sections, _) = path.rsplit_once('/').unwrap_or_default();
            for part in sections.split('/') {
                if let Some(inside) = section.named(part.as_bytes()) {
                    section = inside;
                    above = format!("{above}/{part}");
                    continue;
                }
                let names: Vec<_> =
                    section.sections().map(|inside| String::from_utf8_lossy(inside.name()).into_owned()).collect();
                let near = near::closest(part.as_bytes(), names.iter().map(String::as_str));
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                if above == GROUPS && !groups().contains(part.as_bytes()) {
                    notes.no_effect(format!("--set: `{path}` has no effect: no job is of group `{part}`{near}"));
                } else {
                    notes.warn(format!("--set: section `{above}/{part}` is new{near}"));
                }
                break;
            }
        }
    }
}

/// An option in its sections, as a file has it.
fn sections(path: &str, value: &str) -> Vec<u8> {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let name = parts.pop().unwrap_or_default();
    let (open, close) = (parts.iter().map(|part| format!("{part} {{\n")), "}\n".repeat(parts.len()));
    format!("{}{name} = {value}\n{close}", open.collect::<String>()).into_bytes()
}

/// An error with the line it is about.
fn refused(error: &ConfigError, files: Vec<(String, Vec<u8>)>) -> Failure {
    let sources: Vec<Source> =
        files.into_iter().map(|(name, text)| Source { name: name.into(), text: text.into() }).collect();
    Failure::drawn(MessageBody::of(error), &report::config::render(error, &SourceLines::of(&sources), Color::Off))
}
