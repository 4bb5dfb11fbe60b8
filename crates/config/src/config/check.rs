//! Problems in a configuration: invalid values, and names that are probably mistakes.
//!
//! In: a [`Config`]. Out: [`Diagnostic`]s with places, in the order of the files.

mod choices;
mod conditions;
mod families;
mod groups;
mod names;
mod options;
mod paths;
mod prefixes;
#[cfg(test)]
mod tests;
mod types;
mod unknown;
mod words;

pub use types::{AtZero, at_zero, is_number, seconds_of_days, unit, unit_of_days};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::names::{DAEMONS, newer, removed};
use super::condition::VERSION;
use super::expand::{ExpandError, MAX_STEPS};
use super::facts::is_open;
use super::knob::{self, Knob, KnobKind};
use super::line::Lines;
use super::name_list::{has_no_default, names};
use super::series;
use super::setting::{leading_number, list_items};
use super::statement::{self, Statement, WRITTEN_WARNING};
use super::table;
use super::{Config, ConfigError, Definition, Diagnostic, FoundValue, Source, shown};
use classmate::internal::diagnostic::Severity;
use classmate::internal::pcre::{self, Options};
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;

/// Bytes of expanded values that are looked at; a configuration that makes more is given up.
const MAX_EXPANDED_BYTES: usize = 64 << 20;
/// Bytes that a reference counts as: what takes as long.
const REFERENCE_BYTES: usize = 16;
/// Diagnostics of values; more are not looked for.
const MAX_DIAGNOSTICS: usize = 1000;

/// The problems of a configuration, with the warnings from reading it, in the order of the files.
pub fn check(config: &Config) -> Vec<Diagnostic> {
    // What only a machine knows is left open: nothing is concluded from it.
    let config = &config.without_facts();
    let coded = |warning: &Diagnostic| match warning.code {
        "" => warning.clone().code("odd-line"),
        _ => warning.clone(),
    };
    // The author of `warning : text` wants it to be seen when the file is read: it reports no mistake.
    let own = |warning: &&Diagnostic| warning.code != WRITTEN_WARNING;
    let mut found: Vec<Diagnostic> = config.warnings().iter().filter(own).map(coded).collect();
    found.extend_from_slice(&config.untaken.found);
    let not_elif: Vec<Diagnostic> = config
        .sources()
        .iter()
        .flat_map(|source| conditions::not_elif(Arc::clone(&source.name), &source.text))
        .collect();
    // The reader says that it ignores what follows `else`: one message is enough.
    let line = |diagnostic: &Diagnostic| diagnostic.place.as_ref().map(|place| (Arc::clone(&place.file), place.line));
    let known: BTreeSet<_> = not_elif.iter().map(line).collect();
    found.retain(|warning| !known.contains(&line(warning)));
    found.extend(not_elif);
    found.extend(conditions::before_values(config));
    let mut checker = Checker::of(config);
    for definition in config.definitions() {
        checker.look_at(&definition);
        if checker.is_given_up() {
            break;
        }
    }
    if checker.work > MAX_EXPANDED_BYTES {
        let message = format!("the expanded values exceed {} MiB: the rest is not checked", MAX_EXPANDED_BYTES >> 20);
        checker.found.push(Diagnostic::without_place(message).code("bad-value"));
    }
    found.extend(checker.found);
    sort(config, &mut found);
    found
}

/// The problems of the statements in the branch with a number of each `if`, as far as it is not taken, in a configuration that
/// [`Config::with_untaken`] made: those that one statement has alone.
pub fn check_untaken(config: &Config, number: usize) -> Vec<Diagnostic> {
    // Other statements make these.
    const OF_SEVERAL: [&str; 3] = ["group-quota", "undeclared-group", "unused-group-setting"];
    // Another version has other variables, and other values of them.
    const OF_VERSION: [&str; 4] = ["bad-value", "obsolete-knob", "unknown-knob", "unread-prefix"];
    let mut checker = Checker::of(config);
    let mut found = Vec::new();
    for (definition, of_version) in config.untaken(number) {
        // A circle may have parts of several branches.
        if config.expanded(definition.name, definition.raw).is_err() {
            continue;
        }
        checker.look_at(&definition);
        let alone =
            |one: &Diagnostic| !(OF_SEVERAL.contains(&one.code) || of_version && OF_VERSION.contains(&one.code));
        found.extend(checker.found.drain(..).filter(alone));
        if checker.is_given_up() {
            break;
        }
    }
    found
}

/// Puts diagnostics into the order of the files.
pub fn sort(config: &Config, found: &mut [Diagnostic]) {
    let order = |diagnostic: &Diagnostic| {
        let place = diagnostic.place.as_ref()?;
        let file = config.sources().iter().position(|source| source.name == place.file);
        Some((file.unwrap_or(usize::MAX), place.line, place.column))
    };
    found.sort_by_key(|diagnostic| order(diagnostic).unwrap_or((usize::MAX, 0, 0)));
}

/// The names that some value, or a statement such as `if` or `include`, refers to, upper case.
pub fn referenced(config: &Config) -> BTreeSet<Vec<u8>> {
    let mut names = BTreeSet::new();
    for definition in config.definitions() {
        references(definition.raw, &mut names);
    }
    // A value that a later one replaces, and the lines between those of values.
    for source in config.sources() {
        let mut lines = Lines::new(Arc::clone(&source.name), &source.text);
        while let Ok(Some(line)) = lines.next(&mut Vec::new()) {
            let text = line.text.strip_prefix(b":").unwrap_or(&line.text);
            references(text, &mut names);
            if let Some(Statement::If(rest) | Statement::Elif(rest)) = statement::condition(text) {
                let words = text[rest].split(|byte| !super::reference::is_name_byte(*byte));
                names.extend(words.filter(|word| !word.is_empty()).map(<[u8]>::to_ascii_uppercase));
            }
        }
    }
    names
}

/// Adds the names, upper case, that begin after a parenthesis: `$(NAME)`, `$INT(NAME)`.
fn references(text: &[u8], names: &mut BTreeSet<Vec<u8>>) {
    for at in memchr::memchr_iter(b'(', text).filter(|at| *at > 0) {
        let body = &text[at + 1..];
        let end = body.iter().position(|byte| !super::reference::is_name_byte(*byte)).unwrap_or(body.len());
        if (1..=100).contains(&end) {
            names.insert(body[..end].to_ascii_uppercase());
        }
    }
}

/// The names that a configuration gives to daemons, upper case: those that the master starts, and local names.
fn daemons(config: &Config) -> BTreeSet<Vec<u8>> {
    let mut names: BTreeSet<Vec<u8>> = BTreeSet::new();
    let expanded = |name: &[u8]| config.get(&String::from_utf8_lossy(name)).ok().flatten().map(|found| found.text);
    for list in ["DAEMON_LIST", "DC_DAEMON_LIST"] {
        let items = expanded(list.as_bytes()).map(|text| list_items(&text)).unwrap_or_default();
        names.extend(items.iter().map(|name| name.strip_prefix(b"+").unwrap_or(name).to_ascii_uppercase()));
    }
    for name in config.names().filter(|name| name.to_ascii_uppercase().ends_with(b"_ARGS")) {
        let Some(text) = expanded(name) else { continue };
        let words: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let local = words.windows(2).filter(|pair| matches!(pair[0], b"-local-name" | b"-localname" | b"-local"));
        names.extend(local.map(|pair| pair[1].trim_ascii().to_ascii_uppercase()));
    }
    names
}

/// The names of `NEGOTIATOR_MATCH_EXPRS`, upper case.
fn match_exprs(config: &Config) -> BTreeSet<Vec<u8>> {
    let names = config.list("NEGOTIATOR_MATCH_EXPRS").unwrap_or_default();
    names.iter().map(|name| name.to_ascii_uppercase()).collect()
}

/// Tests whether HTCondor knows a variable by a name.
pub fn is_variable(name: &[u8]) -> bool {
    knob::find(name).is_some() || is_named(name)
}

/// The variable with a default whose name another one (upper case) is but for one letter.
pub fn closest_variable(upper: &[u8]) -> Option<String> {
    names::of_table(upper)
}

/// The variable that a name is but for swapped neighbours or a doubled letter, in the whole or in one of its words.
pub fn slipped_variable(name: &[u8]) -> Option<String> {
    names::of_slip(name)
}

/// Tests whether a variable with a name of its own has a name, not one of a family.
fn is_named(name: &[u8]) -> bool {
    let upper = name.to_ascii_uppercase();
    table::entry(&upper).is_some() || has_no_default(&upper)
}

/// Tests whether the root of a configuration is among the files that were read; otherwise they are a part of one.
pub fn has_root(config: &Config) -> bool {
    let is_root = |source: &Source| matches!(source.name.rsplit('/').next(), Some("condor_config" | "config"));
    config.sources().iter().any(is_root)
}

/// Tests whether the list of groups is known: a part of a configuration may leave it to the others.
pub fn lists_groups(config: &Config) -> bool {
    config.definition(b"GROUP_NAMES").is_some_and(|list| list.place.is_some()) || has_root(config)
}

struct Checker<'c> {
    config: &'c Config,
    referenced: BTreeSet<Vec<u8>>,
    /// Declared groups: upper case, and as they are declared first.
    groups: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Groups that were compared with those that are not declared.
    compared_groups: usize,
    /// True if all of them are known.
    groups_known: bool,
    /// The words of all values, once they are asked for.
    mentioned: Option<BTreeSet<Vec<u8>>>,
    /// The cron jobs that are listed, upper case, behind the prefix of their variables, once they are asked for.
    cron_jobs: Option<BTreeSet<String>>,
    /// Resources of machines that the configuration defines, once they are asked for.
    resources: Option<Vec<String>>,
    /// Names that the configuration gives to daemons, upper case.
    daemons: BTreeSet<Vec<u8>>,
    /// Macros that slots are to get, upper case.
    match_exprs: BTreeSet<Vec<u8>>,
    /// True if a group has a quota of one slot or more, once that is asked for.
    whole_quota: Option<bool>,
    /// True if these files set concurrency limits, once that is asked for.
    limits: Option<bool>,
    found: Vec<Diagnostic>,
    /// Bytes looked at.
    work: usize,
}

impl<'c> Checker<'c> {
    fn of(config: &'c Config) -> Self {
        let groups = config.list("GROUP_NAMES").unwrap_or_default();
        let groups_known = !groups.iter().any(|name| is_open(name)) && lists_groups(config);
        Checker {
            config,
            referenced: referenced(config),
            groups: groups.iter().rev().map(|name| (name.to_ascii_uppercase(), name.clone())).collect(),
            compared_groups: 0,
            groups_known,
            mentioned: None,
            cron_jobs: None,
            resources: None,
            whole_quota: None,
            limits: None,
            found: Vec::new(),
            work: 0,
            daemons: daemons(config),
            match_exprs: match_exprs(config),
        }
    }

    /// Tests whether some group has a quota of one slot or more.
    fn has_whole_quota(&mut self) -> bool {
        let config = self.config;
        *self.whole_quota.get_or_insert_with(|| {
            let is_quota = |name: &[u8]| {
                let upper = name.to_ascii_uppercase();
                upper.starts_with(b"GROUP_QUOTA_") && !upper.starts_with(b"GROUP_QUOTA_DYNAMIC_")
            };
            let mut own = config.definitions().filter(|one| one.place.is_some() && is_quota(config.bare(one.name)));
            own.any(|one| shown(one.raw.trim_ascii()).parse::<f64>().is_ok_and(|quota| quota >= 1.0))
        })
    }

    /// Tests whether these files set concurrency limits, whose names end with `_LIMIT`.
    fn has_limits(&mut self) -> bool {
        let config = self.config;
        *self.limits.get_or_insert_with(|| {
            let is_limit = |name: &[u8]| {
                let upper = name.to_ascii_uppercase();
                upper.starts_with(b"CONCURRENCY_LIMIT_DEFAULT")
                    || knob::find(&upper).is_some_and(|knob| knob.name == knob::LIMIT)
            };
            config.definitions().any(|one| one.place.is_some() && is_limit(config.bare(one.name)))
        })
    }

    /// Returns true if the rest is not checked.
    fn is_given_up(&self) -> bool {
        self.work > MAX_EXPANDED_BYTES || self.found.len() >= MAX_DIAGNOSTICS
    }

    fn look_at(&mut self, definition: &Definition<'_>) {
        /// Findings about names: those that a template sets are HTCondor's own.
        const OF_NAMES: [&str; 4] = ["obsolete-knob", "odd-line", "unknown-knob", "unread-prefix"];
        let start = self.found.len();
        self.definition(definition);
        if definition.template.is_some() {
            let of_template = self.found.split_off(start);
            self.found.extend(of_template.into_iter().filter(|found| !OF_NAMES.contains(&found.code)));
        }
        // The reason of what was found: comments have lines of their own.
        let has_comment = definition.raw.windows(2).any(|two| two[0].is_ascii_whitespace() && two[1] == b'#');
        for found in self.found[start..].iter_mut().filter(|_| has_comment) {
            if matches!(found.code, "bad-value" | "odd-number") && !found.message.starts_with("`#") {
                *found = found.clone().more_help("`#` is a part of a value: move the comment to its own line");
            }
        }
    }

    fn definition(&mut self, definition: &Definition<'_>) {
        let (name, start) = (definition.name, self.found.len());
        self.unread(definition);
        self.other_value(definition);
        self.minutes(definition);
        self.missing(definition);
        self.swallowed(definition);
        let (prefix, Some(bare)) = self.split(name, definition) else {
            // What no daemon reads, it does not read under its own name either.
            if let Some(dot) = memchr::memchr(b'.', name).filter(|_| !self.is_referenced(name))
                && !self.obsolete(&name[dot + 1..], definition)
                && self.found.len() == start
            {
                self.of_other_daemon((&name[..dot], &name[dot + 1..]), definition);
            }
            return;
        };
        self.older(bare, definition);
        let Some(value) = self.expand(name, definition) else { return };
        // Any name of this family is read, but few there are.
        if knob::find(bare).is_some_and(|knob| knob.name == "FLOCK_<what>") && !is_named(bare) {
            self.unknown(bare, definition);
        }
        match knob::find(bare) {
            Some(knob) => {
                if let Some(now) = knob.now {
                    let message = format!("`{}` is the obsolete name of `{now}`", shown(name));
                    let help = format!("write `{now}`");
                    let mut note = definition.name_warning(message).code("obsolete-knob").help(help);
                    // It is read all the same.
                    note.severity = Severity::Note;
                    let span = note.span;
                    self.found.push(if span.end > 0 { note.fix(span, now) } else { note });
                }
                // A macro of the file's own, named like one of a family: it is used where it is referred to.
                if knob.is_family() && self.is_referenced(name) && !self.is_member(knob, bare) {
                    return;
                }
                if self.other_resource(knob, bare, definition) {
                    return;
                }
                self.member(knob, bare, definition);
                self.value(knob, name, &value, definition);
            }
            None if prefix.is_none() => self.unknown(bare, definition),
            None => {}
        }
    }

    /// Reports an invalid value of a knob that is set for another daemon, which reads it as the negotiator does:
    /// `SCHEDD.MAX_JOBS_RUNNING = 5000 GB`.
    fn of_other_daemon(&mut self, (daemon, bare): (&[u8], &[u8]), definition: &Definition<'_>) {
        let daemon = daemon.to_ascii_uppercase();
        let is_daemon = names(DAEMONS).any(|known| known.as_bytes() == daemon) || self.daemons.contains(&daemon);
        let knob = knob::find(bare).filter(|knob| is_daemon && knob.now.is_none() && !knob.is_family());
        let Some(knob) = knob else { return };
        if let Some(value) = self.expand(definition.name, definition) {
            self.value(knob, definition.name, &value, definition);
        }
    }

    /// Reports a variable that the version of the configuration does not have.
    fn missing(&mut self, definition: &Definition<'_>) {
        let (name, series) = (self.config.bare(definition.name), self.config.semantics().series());
        let missing = series::history(name).filter(|history| history.is_missing_in(series));
        if let Some(first) = missing.and_then(|history| history.first_after(series)) {
            let message = format!("HTCondor {series} does not have `{}`", shown(definition.name));
            let help = format!("it is new in HTCondor {first}: remove the line");
            self.found.push(definition.name_warning(message).code("unknown-knob").help(help));
        }
    }

    /// Reports `$EVAL(…)` of a text that is not an expression: it has no value.
    fn evaluations(&mut self, definition: &Definition<'_>) {
        for start in memchr::memmem::find_iter(definition.raw, b"$EVAL(") {
            let rest = &definition.raw[start + b"$EVAL(".len()..];
            let Some(argument) = memchr::memchr(b')', rest).map(|end| rest[..end].trim_ascii()) else { continue };
            let value = self.config.get(&String::from_utf8_lossy(argument)).ok().flatten();
            let text = value.map_or_else(|| argument.to_vec(), |value| value.text);
            if text.is_empty() || text.contains(&b'$') || is_open(&text) {
                continue;
            }
            let options =
                ParseOptions { quoting: Quoting::Old, semantics: self.config.semantics(), ..ParseOptions::default() };
            if let Err(error) = parse_expr(&text, &options) {
                let (argument, text) = (shown(argument), shown(&text));
                let message = format!("`$EVAL({argument})` has no value: `{text}` is not a valid expression: {error}");
                self.found.push(definition.value_problem(Severity::Warning, message).code("odd-line"));
            }
        }
    }

    /// The expanded value of a definition; errors are reported.
    fn expand(&mut self, name: &[u8], definition: &Definition<'_>) -> Option<Vec<u8>> {
        match self.config.expanded(name, definition.raw) {
            Ok(expanded) => {
                self.evaluations(definition);
                self.work += expanded.text.len() + REFERENCE_BYTES * expanded.references;
                Some(expanded.text)
            }
            // A transform has macros of its own, and the attributes of the job.
            Err(_) if knob::is_transform(self.config.bare(name)) => None,
            Err(error) => {
                self.work += match error {
                    ExpandError::References | ExpandError::Length => REFERENCE_BYTES * MAX_STEPS,
                    _ => definition.raw.len(),
                };
                // A macro that refers to a circle from outside has the fault of its variables.
                if let ExpandError::Circle(names) = &error
                    && !is_variable(self.config.bare(name))
                    && !names.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(name))
                {
                    return None;
                }
                let refused = self.config.not_expanded(&shown(name), definition, &error);
                self.found.push(refused.code("bad-value"));
                None
            }
        }
    }

    /// Reports undefined macros that slots are to get.
    fn match_exprs(&mut self, text: &[u8], definition: &Definition<'_>) {
        for name in list_items(text) {
            if self.config.definition(&name).is_none_or(|found| found.raw.trim_ascii().is_empty()) {
                let message = format!("`{}` is not defined, so slots do not get it", shown(&name));
                self.found.push(definition.value_problem(Severity::Error, message).code("bad-value"));
            }
        }
    }

    /// Reports a variable that is still read, and has another name now.
    fn older(&mut self, bare: &[u8], definition: &Definition<'_>) {
        let Some(now) = newer(&bare.to_ascii_uppercase()) else { return };
        let name = shown(definition.name);
        let (message, help) = if now.is_empty() {
            (format!("`{name}` is obsolete"), "remove the line".to_owned())
        } else {
            (format!("`{name}` is obsolete: `{now}` took its place"), format!("write `{now}`"))
        };
        let mut found = definition.name_warning(message).code("obsolete-knob").help(help);
        // Two that nothing reads any more have no other name.
        if !now.is_empty() {
            found.severity = Severity::Note;
        }
        self.found.push(found);
    }

    /// Reports a variable that only earlier versions read; returns true if nothing more is to be said about it.
    fn obsolete(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        let upper = name.to_ascii_uppercase();
        let series = self.config.semantics().series();
        let history = series::history(name);
        let removal = history.and_then(|history| Some((history, history.removal()?)));
        let help = match (removal, removed(&upper)) {
            (Some((history, _)), _) if !history.is_missing_in(series) => return true,
            (Some((_, release)), _) => format!("it was removed in HTCondor {release}: remove the line"),
            (None, Some(now)) if now.is_empty() => "it was removed in an earlier version: remove the line".to_owned(),
            (None, Some(now)) => format!("it was replaced by `{now}`"),
            (None, None) => return false,
        };
        let [major, minor, patch] = VERSION;
        let message = format!("HTCondor {major}.{minor}.{patch} does not read `{}`", shown(name));
        self.found.push(definition.name_warning(message).code("obsolete-knob").help(help));
        true
    }

    fn value(&mut self, knob: &Knob, name: &[u8], text: &[u8], definition: &Definition<'_>) {
        let value = text.trim_ascii();
        if value.is_empty() || is_open(value) {
            return;
        }
        let shown_name = shown(name);
        match knob.kind {
            KnobKind::Expression => self.expression(&shown_name, text, definition),
            KnobKind::Pattern => {
                if let Err(error) = pcre::compile(&String::from_utf8_lossy(value), Options::default(), false) {
                    let message = format!("`{shown_name}` is `{}`: {error}", shown(value));
                    self.found.push(definition.value_problem(Severity::Error, message).code("bad-value"));
                }
            }
            KnobKind::Number => {
                let read = leading_number(value);
                let odd = if !super::setting::is_number(value) {
                    format!("read as {read}, because only plain numbers are supported")
                } else if knob.name.ends_with("PRIO_FACTOR") && read < 1.0 {
                    "factors below 1 are treated as 1".to_owned()
                } else {
                    return;
                };
                // The daemon goes on.
                let message = format!("`{shown_name}` is `{}`: {odd}", shown(value));
                self.found.push(definition.value_problem(Severity::Warning, message).code("odd-number"));
            }
            KnobKind::List if knob.name == "GROUP_NAMES" => self.group_names(text, definition),
            KnobKind::List if knob.name == "NEGOTIATOR_MATCH_EXPRS" => self.match_exprs(text, definition),
            _ => {
                let quota = shown(value).parse::<f64>().ok().filter(|quota| *quota > 0.0 && *quota < 1.0);
                let is_quota = knob.name == "GROUP_QUOTA_<group>";
                let quota = quota.filter(|_| is_quota && self.is_member(knob, self.config.bare(name)));
                // Beside whole slots, a part of one may be meant.
                if let Some(quota) = quota.filter(|_| !self.has_whole_quota()) {
                    let message = format!("`{shown_name}` is a number of slots, and {quota} is less than one");
                    let group = shown(self.config.bare(name).get("GROUP_QUOTA_".len()..).unwrap_or_default());
                    let warning = definition.value_problem(Severity::Warning, message).code("group-quota");
                    self.found.push(warning.help(format!("a share of the pool is `GROUP_QUOTA_DYNAMIC_{group}`")));
                }
                // The same code that reads the knob says whether it can.
                let Err(error) = self.typed(knob.kind, &shown_name, text, definition) else {
                    let (upper, text) = (shown_name.to_ascii_uppercase(), shown(value));
                    if let Some((message, help, code)) = self.truncated(knob.kind, &upper, &text) {
                        self.found.push(definition.value_problem(Severity::Warning, message).code(code).help(help));
                    }
                    let odd = types::odd_integer(knob.kind, &upper, &text);
                    self.found.extend(odd.map(|(severity, message, help)| {
                        definition.value_problem(severity, message).code("bad-value").help(help)
                    }));
                    return;
                };
                // Other files may define a macro that these do not; some numbers are computed in an ad.
                if !self.config.undefined(definition).is_empty() {
                    return;
                }
                if types::is_expression(value, self.config.semantics()) {
                    let (upper, text) = (shown_name.to_ascii_uppercase(), shown(value));
                    let fault = self.calculated(&upper, &text).filter(|_| knob.name != knob::LIMIT);
                    self.found.extend(fault.map(|(severity, message, help)| {
                        definition.value_problem(severity, message).code("bad-value").help(help)
                    }));
                    return;
                }
                self.found.push(if knob.name != knob::LIMIT {
                    let plain = types::ungrouped(&shown(value)).map(|plain| format!("write `{plain}`"));
                    let help = plain.or_else(|| knob.default_text().map(|text| format!("the default is `{text}`")));
                    definition.value_problem(Severity::Error, error.message).code("bad-value").help_if(help)
                } else if self.is_referenced(name) || !may_be_limit(value) {
                    // A macro that others use, or an amount with a unit, is probably not a limit.
                    return;
                } else {
                    let resource = knob::member(knob, self.config.bare(name)).map(of_no_limit);
                    definition.value_problem(Severity::Warning, error.message).code("odd-number").help_if(resource)
                });
            }
        }
    }

    /// Reads the value of a definition, after expansion, as one of a kind.
    fn typed(&self, kind: KnobKind, name: &str, text: &[u8], definition: &Definition<'_>) -> Result<(), ConfigError> {
        let (text, place) = (text.to_vec(), definition.place.cloned());
        super::setting::typed(kind, name, &FoundValue { text, place, semantics: self.config.semantics() })
    }

    fn expression(&mut self, name: &str, text: &[u8], definition: &Definition<'_>) {
        let semantics = self.config.semantics();
        let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
        let Err(error) = parse_expr(text, &options) else { return };
        let finding = diagnose(text, &error, &options);
        let message = format!("`{name}` is not a valid expression: {}", finding.message);
        let mut refused = definition.value_problem(Severity::Error, message);
        refused.help = finding.help;
        if definition.verbatim && definition.raw == text {
            // The place inside the expression is one in the file.
            if let Some(place) = &mut refused.place {
                place.column += finding.span.start;
            }
            refused = refused.width(finding.span.range().len());
        } else {
            refused = refused.more_help(format_args!("after expansion it reads `{}`", shown(text)));
        }
        self.found.push(refused.code("syntax"));
    }
}

/// Returns true if a value that is not a number may be meant as a concurrency limit: a word in lower case, or a number
/// and something other than a unit or a calculation. Variables of other programs have such names too: `MEMORY_LIMIT = 5 GB`.
fn may_be_limit(value: &[u8]) -> bool {
    const UNITS: [&str; 14] = ["k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib", "t", "tb", "tib", "%", "b"];
    let inner = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    if inner.is_some_and(|inner| !inner.is_empty() && inner.iter().all(u8::is_ascii_digit)) {
        return true;
    }
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let rest = value[digits..].trim_ascii();
    let is_unit = UNITS.iter().any(|unit| unit.as_bytes().eq_ignore_ascii_case(rest));
    let calculates = rest.iter().any(|byte| b"*/+-()<>=!&|?\"$".contains(byte));
    let is_word = rest.iter().all(u8::is_ascii_lowercase);
    (digits > 0 || is_word) && !is_unit && !calculates
}

/// The effect of a concurrency limit that is not a number, given the name of its resource.
pub fn of_no_limit(resource: &[u8]) -> String {
    format!("a job that requests `{}` stops the negotiator", shown(&resource.to_ascii_lowercase()))
}
