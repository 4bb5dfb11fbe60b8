//! Variables of an execution point that have no effect without another one: hooks, benchmarks, accounts, power, memory limits.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use std::collections::{BTreeMap, BTreeSet};

use super::knobs::bare;
use super::lists::{Found, may_be_elsewhere};
use super::{second_place, unknowns};
use classmate::Diagnostic;
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;
use classmate::internal::pcre::{self, Options};
use classmate_config::internal::config::check::has_root;
use classmate_config::internal::config::setting::list_items;
use classmate_config::{Config, Definition};

/// The text between a keyword and a hook of it, as in `SITE_HOOK_PREPARE_JOB`.
const HOOK: &str = "_HOOK_";

/// The findings about such variables.
pub(super) fn check(config: &Config) -> Found {
    let point = ExecutionPoint { config };
    let found = [
        point.hibernation(),
        point.niceness(),
        point.memory_limit(),
        point.images(),
        point.accounts(),
        point.benchmarks(),
    ];
    found.into_iter().flatten().chain(point.hooks()).collect()
}

struct ExecutionPoint<'c> {
    config: &'c Config,
}

fn upper(name: &[u8]) -> String {
    String::from_utf8_lossy(bare(name)).to_ascii_uppercase()
}

/// A warning at the value of a variable.
fn problem(one: &Definition<'_>, message: String, help: impl Into<Box<str>>) -> (Diagnostic, String) {
    let place = one.value_place().or_else(|| one.place.cloned());
    let warning = Diagnostic::warning_at(message, place).help(help).code("conflicting-knobs");
    (warning, String::from_utf8_lossy(one.name).into_owned())
}

impl<'c> ExecutionPoint<'c> {
    /// The definition of a variable in a file, with its value; none if a part of it is known to a machine only.
    fn set(&self, name: &str) -> Option<(Definition<'c>, String)> {
        let one =
            self.config.definition(name.as_bytes()).filter(|one| one.place.is_some() && one.template.is_none())?;
        let text = unknowns::known_value(self.config, &one)?;
        let is_plain = !text.is_empty() && !text.contains(&b'$');
        is_plain.then(|| (one, String::from_utf8_lossy(&text).into_owned()))
    }

    /// The value of a variable, that of the table included.
    fn text(&self, name: &str) -> String {
        let found = self.config.get(name).ok().flatten().map(|found| found.text).unwrap_or_default();
        String::from_utf8_lossy(found.trim_ascii()).into_owned()
    }

    /// Tests whether a variable is certainly not set elsewhere: a part of a configuration may leave it to other files.
    fn is_known(&self, name: &str) -> bool {
        has_root(self.config) || self.set(name).is_some()
    }

    /// `HIBERNATE` without `HIBERNATE_CHECK_INTERVAL`, which is 0 by default.
    fn hibernation(&self) -> Option<(Diagnostic, String)> {
        const INTERVAL: &str = "HIBERNATE_CHECK_INTERVAL";
        let (one, text) = self.set("HIBERNATE")?;
        let interval = self.text(INTERVAL);
        // The two are written together, but in files that are not here.
        let is_elsewhere = may_be_elsewhere(self.config);
        let is_off = interval.is_empty() && !is_elsewhere || interval == "0" && self.is_known(INTERVAL);
        let never = ["\"NONE\"", "NONE", "UNDEFINED", "FALSE", "0"].iter().any(|word| word.eq_ignore_ascii_case(&text));
        let message = format!("`HIBERNATE` is never evaluated: `{INTERVAL}` is 0");
        if !is_off || never {
            return None;
        }
        let help = format!("set `{INTERVAL} = 300`");
        let Some((interval, _)) = self.set(INTERVAL) else { return Some(problem(&one, message, help)) };
        // A file that sets the interval to 0 means it, perhaps for some time.
        let (mut found, subject) = problem(&interval, message, help);
        found.severity = Severity::Note;
        let Some(other) = one.place else { return Some((found, subject)) };
        Some((second_place::beside(self.config, found, (other, one.name.len()), "it is set here"), subject))
    }

    /// A priority for jobs that the starter replaces with the nearest one that there is (`os_proc.cpp`).
    fn niceness(&self) -> Option<(Diagnostic, String)> {
        const MOST: i64 = 19;
        let (one, text) = self.set("JOB_RENICE_INCREMENT")?;
        let number = text.trim().parse::<i64>().ok().filter(|number| !(0..=MOST).contains(number))?;
        let taken = number.clamp(0, MOST);
        let message = format!("`JOB_RENICE_INCREMENT` is {number}: the starter takes {taken}");
        let (found, subject) = problem(&one, message, format!("write a number from 0 to {MOST}, such as {taken}"));
        Some((found.code("bad-value"), subject))
    }

    /// The limit of a policy that is not chosen, or that has no limit.
    fn memory_limit(&self) -> Option<(Diagnostic, String)> {
        const POLICY: &str = "CGROUP_MEMORY_LIMIT_POLICY";
        const LIMIT: &str = "CGROUP_HARD_MEMORY_LIMIT_EXPR";
        let policy = self.text(POLICY);
        match (self.set(LIMIT), policy.as_str()) {
            (Some((one, _)), "hard" | "none" | "") => {
                let message = format!("`{LIMIT}` has no effect: `{POLICY}` is `{policy}`");
                Some(problem(&one, message, format!("write `{POLICY} = custom`")))
            }
            (None, "custom") if self.text(LIMIT).is_empty() => {
                let (one, _) = self.set(POLICY)?;
                let message = format!("`{POLICY}` is `custom` without `{LIMIT}`, so there is no limit");
                Some(problem(&one, message, format!("set `{LIMIT}`, or write `hard`")))
            }
            _ => None,
        }
    }

    /// The image of jobs that do not ask for a container, where such jobs get none.
    fn images(&self) -> Option<(Diagnostic, String)> {
        let (one, _) = self.set("SINGULARITY_IMAGE_EXPR")?;
        let job = self.text("SINGULARITY_JOB");
        let message = "`SINGULARITY_IMAGE_EXPR` has no effect: `SINGULARITY_JOB` is false".to_owned();
        let is_off = (job.is_empty() || job.eq_ignore_ascii_case("false")) && self.is_known("SINGULARITY_JOB");
        is_off.then(|| problem(&one, message, "set `SINGULARITY_JOB = true`"))
    }

    /// Accounts of slots that the pattern of dedicated accounts does not match: jobs may leave processes behind.
    fn accounts(&self) -> Option<(Diagnostic, String)> {
        const PATTERN: &str = "DEDICATED_EXECUTE_ACCOUNT_REGEXP";
        let (one, pattern) = self.set(PATTERN)?;
        // As `checkDedicatedExecuteAccounts` in HTCondor's `job_info_communicator.cpp`.
        let whole = pcre::compile(&format!("^{pattern}$"), Options::default(), false).ok()?;
        let is_account = |name: &str| {
            let number = name.strip_prefix("SLOT").and_then(|rest| rest.strip_suffix("_USER"));
            number.is_some_and(|number| {
                number.starts_with(|sign: char| sign.is_ascii_digit())
                    && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
            })
        };
        let accounts = self.config.names().map(upper).filter(|name| is_account(name));
        let other = accounts.into_iter().find_map(|name| {
            let (_, user) = self.set(&name)?;
            let login = user.split(['@', '\\']).next().unwrap_or_default().to_owned();
            (!whole.is_match(login.as_bytes()).unwrap_or(true)).then_some((name, login))
        });
        let (name, login) = other?;
        let message = format!("`{PATTERN}` does not match `{login}`, the value of `{name}`");
        Some(problem(&one, message, "the pattern must match the whole name of each account"))
    }

    /// Benchmarks without a program.
    fn benchmarks(&self) -> Option<(Diagnostic, String)> {
        let (one, text) = self.set("BENCHMARKS_JOBLIST")?;
        let items = list_items(text.as_bytes()).into_iter().map(|item| String::from_utf8_lossy(&item).into_owned());
        let lacks = |item: &String| self.text(&format!("BENCHMARKS_{item}_EXECUTABLE")).is_empty();
        let item = items.into_iter().find(lacks)?;
        let message = format!("the benchmark `{item}` has no `BENCHMARKS_{item}_EXECUTABLE`, so it never runs");
        Some(problem(&one, message, format!("add `BENCHMARKS_{item}_EXECUTABLE = /path/to/program`")))
    }

    /// Keywords of hooks for which no hook is defined, and hooks of a keyword that is almost one of these.
    fn hooks(&self) -> Found {
        // The keywords of hooks, upper case, with their variables.
        let mut defined: BTreeMap<String, Vec<Definition<'c>>> = BTreeMap::new();
        for one in self.config.definitions().filter(|one| !one.raw.trim_ascii().is_empty()) {
            if let Some((keyword, _)) = upper(one.name).split_once(HOOK).filter(|(_, what)| *what != "KEYWORD") {
                defined.entry(keyword.to_owned()).or_default().push(one);
            }
        }
        let is_keyword = |name: &str| name.ends_with("_HOOK_KEYWORD");
        let keywords: BTreeSet<String> = self.config.names().map(upper).filter(|name| is_keyword(name)).collect();
        let set: Vec<String> =
            keywords.iter().filter_map(|name| Some(self.set(name)?.1.to_ascii_uppercase())).collect();
        let is_elsewhere = may_be_elsewhere(self.config);
        // A job may name a keyword of its own, which differs in more than a letter, or in a number.
        let digits = |name: &str| name.bytes().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
        let near = |keyword: &str| {
            defined.iter().find(|(other, hooks)| {
                let is_one = hooks.len() == 1 && hooks.iter().all(|one| one.place.is_some() && one.template.is_none());
                let is_near = near::distance(other.as_bytes(), keyword.as_bytes(), 1) == Some(1);
                is_one && is_near && !set.contains(other) && digits(other) == digits(keyword)
            })
        };
        let of_keyword = |name: &String| {
            let (one, keyword) = self.set(name)?;
            let is_name = keyword.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name {
                let message = format!("`{keyword}` is not the keyword of hooks");
                let help = format!("write a word, as in `{name} = SITE`, and define `SITE{HOOK}PREPARE_JOB` or others");
                return Some(problem(&one, message, help));
            }
            let keyword = keyword.to_ascii_uppercase();
            if let Some((other, hook)) = near(&keyword).filter(|(other, _)| other.len() >= 3 && !is_elsewhere)
                && let Some(hook) = hook.first()
            {
                let message = format!("`{other}` is not the keyword of any daemon: `{name}` is `{keyword}`");
                let meant = upper(hook.name).replacen(other.as_str(), &keyword, 1);
                let warning = hook.name_warning(message).did_you_mean(Some(meant)).code("conflicting-knobs");
                return Some((warning, String::from_utf8_lossy(hook.name).into_owned()));
            }
            let message = format!("no hook of the keyword `{keyword}` is defined, so none runs");
            let help = format!("define `{keyword}{HOOK}PREPARE_JOB` or another hook");
            (!defined.contains_key(&keyword)).then(|| problem(&one, message, help))
        };
        keywords.iter().filter_map(of_keyword).collect()
    }
}
