//! The files and choices of DIRAC's policy.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::Failure;
use crate::cli::input::Notes;
use crate::cli::policy::first_given;
use crate::cli::settings::contents;
use crate::config::check::Diagnostic;
use crate::config::dirac::{Lottery, Order, PolicyOptions, Profile, Weighting};
use crate::config::{ConfigError, Source};
use crate::priority::dirac::DiracChoice;
use crate::report::{self, Color};

/// DIRAC's configuration files, and whose part of them counts.
#[derive(clap::Args, Debug)]
pub(super) struct CsFiles {
    /// A configuration file of DIRAC, instead of POOL/dirac.cfg; may be given several times, the last one counts most
    #[arg(long = "cs", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Whose `Operations` of DIRAC's configuration count; needed when it has those of several communities
    #[arg(long, value_name = "NAME")]
    vo: Option<String>,
    /// Which setup of DIRAC's configuration counts; needed when it has several
    #[arg(long, value_name = "NAME")]
    setup: Option<String>,
}

/// What is computed where DIRAC's documentation and its program differ, and how lots are drawn.
#[derive(clap::Args, Debug)]
pub(super) struct Choices {
    /// How a share is divided among the queues of a user or a sharing group
    #[arg(long, value_enum, value_name = "RULE")]
    weighting: Option<WeightingName>,
    /// Whose rules of share correction hold
    #[arg(long, value_enum, value_name = "RULES")]
    profile: Option<ProfileName>,
    /// How lots are drawn
    #[arg(long, value_enum, value_name = "RULE")]
    lottery: Option<LotteryName>,
    /// Whether lots are drawn
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<OrderName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum WeightingName {
    /// By the average priority of their jobs; queues that differ only in sites add up (the program)
    Observed,
    /// 1/N, times the queue's part of all user priorities (the documentation, to the letter)
    Literal,
    /// The queue's part of all user priorities (the documentation, as it is meant)
    Proportional,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ProfileName {
    /// Those of the program
    Observed,
    /// Those of the documentation
    Documented,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LotteryName {
    /// Sorted by random number / priority (the program)
    Observed,
    /// In proportion to priority
    Proportional,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum OrderName {
    /// Lots are drawn
    Random,
    /// The highest priority goes first
    Greedy,
}

impl CsFiles {
    /// The flag of the first of them that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let files = ("--cs", !self.files.is_empty());
        first_given(&[files, ("--vo", self.vo.is_some()), ("--setup", self.setup.is_some())])
    }

    /// Reads the files, or the one in the pool's directory; without any the defaults of DIRAC hold.
    pub(super) fn read(&self, pool: Option<&Path>, notes: &mut Notes) -> Result<DiracChoice, Failure> {
        let own = pool.map(|pool| pool.join("dirac.cfg")).filter(|path| path.exists());
        let paths = if self.files.is_empty() { own.into_iter().collect() } else { self.files.clone() };
        let text = |path: &PathBuf| Ok((path.display().to_string(), contents(path)?));
        let files = paths.iter().map(text).collect::<Result<Vec<_>, Failure>>()?;
        let choice = DiracChoice::read(files.clone(), self.vo.clone(), self.setup.clone());
        let choice = choice.map_err(|error| refused(error, files))?;
        for warning in &choice.settings().warnings {
            let help = warning.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            notes.warn(format!("{}: {}{help}", warning.place, warning.message));
        }
        Ok(choice)
    }
}

/// An error with the line it is about.
fn refused(error: ConfigError, files: Vec<(String, Vec<u8>)>) -> Failure {
    let sources: Vec<Source> =
        files.into_iter().map(|(name, text)| Source { name: name.into(), text: text.into() }).collect();
    Failure::rendered(report::config::render(&Diagnostic::error(error), &sources, Color::Off))
}

impl Choices {
    /// The flag of the first of them that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--weighting", self.weighting.is_some()),
            ("--profile", self.profile.is_some()),
            ("--lottery", self.lottery.is_some()),
            ("--order", self.order.is_some()),
        ])
    }

    /// The options of a configuration with what was chosen instead.
    pub(super) fn over(&self, options: PolicyOptions) -> PolicyOptions {
        let weighting = self.weighting.map(|name| match name {
            WeightingName::Observed => Weighting::Observed,
            WeightingName::Literal => Weighting::Literal,
            WeightingName::Proportional => Weighting::Proportional,
        });
        let profile = self.profile.map(|name| match name {
            ProfileName::Observed => Profile::Observed,
            ProfileName::Documented => Profile::Documented,
        });
        let lottery = self.lottery.map(|name| match name {
            LotteryName::Observed => Lottery::Observed,
            LotteryName::Proportional => Lottery::Proportional,
        });
        let order = self.order.map(|name| match name {
            OrderName::Random => Order::Random,
            OrderName::Greedy => Order::Greedy,
        });
        PolicyOptions {
            profile: profile.unwrap_or(options.profile),
            weighting: weighting.unwrap_or(options.weighting),
            lottery: lottery.unwrap_or(options.lottery),
            order: order.unwrap_or(options.order),
            memory_tags: options.memory_tags,
        }
    }
}
