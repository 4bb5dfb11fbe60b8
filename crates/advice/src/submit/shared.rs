//! What the jobs of one `queue` statement share: the commands of the file, the values that no item changes, and expressions.
//!
//! In: a configuration with the values of an item. Out: the same answers as the configuration gives, found once.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::PathBuf;

use hashbrown::HashMap;

use super::attributes::Command;

use classmate::internal::ad::Attribute;
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::literal::Literal;
use classmate::{ClassAd, Expr, Name};
use classmate_config::{Config, ConfigError};
use classmate_pool::internal::queue::cluster::same;

/// Texts of one command that are remembered with their expressions.
const MAX_TEXTS: usize = 4;

/// A command with a prefix, and the rest of its name.
pub(super) type Prefixed = (String, String);

/// Values of the commands of a submit file.
#[derive(Default)]
pub(super) struct SharedValues {
    /// Names whose values are others in each job.
    varying: Vec<String>,
    /// The commands with attributes of their own.
    pub(super) commands: Vec<Command>,
    /// The commands that name an attribute after `MY.`.
    pub(super) attributes: Vec<Prefixed>,
    /// The commands that name a resource after `request_`.
    pub(super) requests: Vec<Prefixed>,
    values: RefCell<HashMap<String, Option<String>>>,
    expressions: RefCell<HashMap<String, Vec<(String, Expr)>>>,
    sizes: RefCell<HashMap<OsString, Option<i64>>>,
    /// True if a value was looked for that may be another one for the next job.
    has_varied: Cell<bool>,
    requirements: RefCell<Option<KnownRequirements>>,
}

/// The Requirements of a job, with the attributes that were set for them.
struct KnownRequirements {
    /// The name of its universe.
    universe: String,
    /// The job before them.
    before: ClassAd,
    /// The numbers of the job that no other attribute looks at: they may differ.
    free: Vec<Name>,
    set: Vec<(Name, Attribute)>,
}

/// The numbers of a job that, by themselves, decide no more than whether there is a condition on them.
const NUMBERS: [&str; 4] = ["ProcId", "RequestMemory", "RequestDisk", "RequestCpus"];

/// The numbers that no attribute of a job looks at. Its own Requirements do not count: of these, only names are looked at.
fn free_numbers(job: &ClassAd) -> Vec<Name> {
    let is_other = |(name, _): &(Name, &Attribute)| name.folded() != b"requirements";
    let mentions: Vec<Mentions> = job
        .attributes()
        .filter(is_other)
        .filter_map(|(_, value)| value.tree())
        .map(|tree| Mentions::of(tree))
        .collect();
    let is_free = |number: &Name| {
        !mentions.iter().any(|one| one.opaque || !one.selectors.is_empty() || one.names.contains(number))
    };
    NUMBERS.map(Name::new).into_iter().filter(is_free).collect()
}

impl KnownRequirements {
    /// Tests if another job has the same Requirements: nothing differs but numbers that these do not depend on.
    fn are_of(&self, job: &ClassAd, universe: &str) -> bool {
        let is_alike = |(one, other): ((Name, &Attribute), (Name, &Attribute))| {
            one.0 == other.0
                && (same(one.1, other.1) || self.free.contains(&one.0) && is_as_much(one.0, one.1, other.1))
        };
        self.universe == universe
            && self.before.len() == job.len()
            && self.before.attributes().zip(job.attributes()).all(is_alike)
    }
}

/// Tests if two numbers have the same conditions: that of the process, and amounts that are requested of none, of one, or of more.
fn is_as_much(name: Name, one: &Attribute, other: &Attribute) -> bool {
    let (Attribute::Literal(Literal::Int(one)), Attribute::Literal(Literal::Int(other))) = (one, other) else {
        return false;
    };
    match name.folded() {
        b"procid" => true,
        b"requestmemory" | b"requestdisk" | b"requestcpus" => (*one).clamp(0, 2) == (*other).clamp(0, 2),
        _ => false,
    }
}

impl SharedValues {
    /// Of a configuration in which some names have other values for each job.
    fn of(config: &Config, varying: Vec<String>) -> Self {
        SharedValues {
            varying,
            commands: Command::all(config),
            attributes: prefixed(config, "MY."),
            requests: prefixed(config, "request_"),
            ..SharedValues::default()
        }
    }

    /// The value of a command, which is looked for only if it may have changed.
    pub(super) fn value(
        &self,
        config: &Config,
        command: &str,
        find: impl FnOnce() -> Result<Option<String>, ConfigError>,
    ) -> Result<Option<String>, ConfigError> {
        if let Some(known) = self.values.borrow().get(command) {
            return Ok(known.clone());
        }
        let has_varied = self.has_varied.get();
        let found = find()?;
        self.has_varied.set(true);
        let stays = config.definition(command.as_bytes()).is_none_or(|definition| {
            let is_it = |name: &String| name.as_bytes().eq_ignore_ascii_case(definition.name);
            memchr::memchr(b'$', definition.raw).is_none() && !self.varying.iter().any(is_it)
        });
        if stays {
            self.has_varied.set(has_varied);
            self.values.borrow_mut().insert(command.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// The expression of a text that a command has.
    pub(super) fn expression(
        &self,
        command: &str,
        text: &str,
        parse: impl FnOnce() -> Result<Expr, ConfigError>,
    ) -> Result<Expr, ConfigError> {
        let known =
            |all: &Vec<(String, Expr)>| all.iter().find(|(known, _)| known == text).map(|(_, expr)| expr.clone());
        if let Some(expr) = self.expressions.borrow().get(command).and_then(known) {
            return Ok(expr);
        }
        let expr = parse()?;
        let mut all = self.expressions.borrow_mut();
        let texts = all.entry_ref(command).or_default();
        texts.truncate(MAX_TEXTS - 1);
        texts.insert(0, (text.to_owned(), expr.clone()));
        Ok(expr)
    }

    /// The size of a file in KB; none of what cannot be read, and of folders.
    pub(super) fn size(&self, path: PathBuf) -> Option<i64> {
        let measured = |path: &OsString| {
            let found = std::fs::metadata(path).ok().filter(|facts| !facts.is_dir())?;
            i64::try_from(found.len().div_ceil(1 << 10)).ok()
        };
        *self.sizes.borrow_mut().entry(path.into_os_string()).or_insert_with_key(measured)
    }

    /// Sets the Requirements of a job in a universe, and what belongs to them, as `set` does, which is not called for a job that differs
    /// from the one before in nothing that it looks at.
    pub(super) fn set_requirements(
        &self,
        job: &mut ClassAd,
        universe: &str,
        set: impl FnOnce(&mut ClassAd) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        if let Some(known) = self.requirements.borrow().as_ref().filter(|known| known.are_of(job, universe)) {
            known.set.iter().for_each(|(name, value)| job.set(*name, value.clone()));
            return Ok(());
        }
        let (before, free) = (job.clone(), free_numbers(job));
        self.has_varied.set(false);
        set(job)?;
        let is_new = |(name, value): &(Name, &Attribute)| !before.lookup(*name).is_some_and(|old| same(old, value));
        let set = job.attributes().filter(is_new).map(|(name, value)| (name, value.clone())).collect();
        let known = KnownRequirements { universe: universe.to_owned(), before, free, set };
        *self.requirements.borrow_mut() = Some(known).filter(|_| !self.has_varied.get());
        Ok(())
    }
}

/// The commands that begin with a prefix, each with the rest of its name.
fn prefixed(config: &Config, prefix: &str) -> Vec<Prefixed> {
    let names = config.names().map(|name| String::from_utf8_lossy(name).into_owned());
    let rest = |name: String| {
        let start = name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix))?;
        let rest = name[start.len()..].to_owned();
        Some((name, rest))
    };
    names.filter_map(rest).collect()
}

/// The commands of a submit file, with the variables of one job after another.
pub(super) struct ItemCommands<'c> {
    /// The commands without variables.
    file: &'c Config,
    /// Those of the last job, and what they share with the next; none before the first job.
    last: Option<(Config, SharedValues)>,
    /// True if the last values are in the configuration as they are written in the item.
    is_verbatim: bool,
}

impl<'c> ItemCommands<'c> {
    /// The commands of a file.
    pub(super) fn of(file: &'c Config) -> Self {
        ItemCommands { file, last: None, is_verbatim: false }
    }

    /// The commands with these variables, always of the same names.
    pub(super) fn with(&mut self, variables: &[(&str, String)]) -> Result<(&Config, &SharedValues), ConfigError> {
        let is_plain = self.is_verbatim && variables.iter().all(|(_, value)| is_plain(value));
        let of_last = self.last.take();
        let made = match of_last {
            Some((mut config, shared)) if is_plain => {
                for (name, value) in variables {
                    config.replace(name.as_bytes(), value.as_bytes());
                }
                (config, shared)
            }
            of_last => {
                let mut config = self.file.clone();
                // Blanks around a value that `trim=false` keeps are lost here.
                let lines: String = variables.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
                config.add("queue", lines.as_bytes())?;
                let is_verbatim = |(name, value): &(&str, String)| {
                    config.assignment(name.as_bytes()).is_some_and(|found| found.raw == value.as_bytes())
                };
                self.is_verbatim = variables.iter().all(is_verbatim);
                let names = || variables.iter().map(|(name, _)| (*name).to_owned()).collect();
                let shared = of_last.map_or_else(|| SharedValues::of(&config, names()), |(_, shared)| shared);
                (config, shared)
            }
        };
        let (config, shared) = self.last.insert(made);
        Ok((config, shared))
    }
}

/// Tests if a value is read as it is written.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
}
