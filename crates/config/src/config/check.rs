//! Problems in a configuration: invalid values, and names that are probably mistakes.
//!
//! In: a [`Config`]. Out: [`Diagnostic`]s with places, in the order of the files. One file: half of it is tests.

mod families;
mod groups;
mod names;
mod types;
mod words;

pub use types::{AtZero, at_zero, is_number, seconds_of_days, unit, unit_of_days};

use std::collections::BTreeSet;
use std::sync::Arc;

use self::names::{DAEMONS, FAMILY, is_of_every_daemon, removed};
use super::condition::VERSION;
use super::expand::{ExpandError, MAX_STEPS};
use super::facts::is_open;
use super::knob::{self, Knob, KnobKind};
use super::line::Lines;
use super::name_list::{has_no_default, names};
use super::series;
use super::setting::{leading_number, list_items};
use super::statement::{self, Statement};
use super::table;
use super::{Config, ConfigError, Definition, Diagnostic, FoundValue, Source, shown};
use classmate::internal::builtin::near;
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
    let mut found: Vec<Diagnostic> = config.warnings().iter().map(coded).collect();
    found.extend_from_slice(&config.untaken.found);
    let not_elif: Vec<Diagnostic> =
        config.sources().iter().flat_map(|source| not_elif(Arc::clone(&source.name), &source.text)).collect();
    // The reader says that it ignores what follows `else`: one message is enough.
    let line = |diagnostic: &Diagnostic| diagnostic.place.as_ref().map(|place| (Arc::clone(&place.file), place.line));
    let known: BTreeSet<_> = not_elif.iter().map(line).collect();
    found.retain(|warning| !known.contains(&line(warning)));
    found.extend(not_elif);
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
    const OF_SEVERAL: [&str; 2] = ["group-quota", "undeclared-group"];
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

/// Lines that look like `elif` and are not: within a branch that is not taken, nothing says so.
fn not_elif(file: Arc<str>, text: &[u8]) -> Vec<Diagnostic> {
    let (mut lines, mut found) = (Lines::new(file, text), Vec::new());
    while let Ok(Some(line)) = lines.next(&mut Vec::new()) {
        let start = line.text.len() - line.text.trim_ascii_start().len();
        let rest = &line.text[start..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is = |words: &[&[u8]]| words.iter().any(|word| word.eq_ignore_ascii_case(&rest[..length]));
        let more = rest[length..].trim_ascii_start();
        let two =
            is(&[b"else"]) && more.len() > 3 && more[..2].eq_ignore_ascii_case(b"if") && more[2].is_ascii_whitespace();
        if !two && (!is(&[b"elsif", b"elseif"]) || more.is_empty() || more.starts_with(b"=")) {
            continue;
        }
        let end = start + if two { length + (rest.len() - length - more.len()) + 2 } else { length };
        let written = shown(&line.text[start..end]);
        let message = format!("`{written}` is not a keyword, so the condition is not read");
        found.push(line.warning(&(start..end), message).help("write `elif`").code("odd-line"));
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
    /// Declared groups, upper case.
    groups: BTreeSet<Vec<u8>>,
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
            groups: groups.iter().map(|name| name.to_ascii_uppercase()).collect(),
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
        let start = self.found.len();
        self.definition(definition);
        // The reason of what was found: comments have lines of their own.
        let has_comment = definition.raw.windows(2).any(|two| two[0].is_ascii_whitespace() && two[1] == b'#');
        for found in self.found[start..].iter_mut().filter(|_| has_comment) {
            if matches!(found.code, "bad-value" | "odd-number") && !found.message.starts_with("`#") {
                *found = found.clone().more_help("`#` is a part of a value: move the comment to its own line");
            }
        }
    }

    fn definition(&mut self, definition: &Definition<'_>) {
        let name = definition.name;
        self.unread(definition);
        self.other_value(definition);
        self.minutes(definition);
        self.missing(definition);
        self.swallowed(definition);
        let (prefix, Some(bare)) = self.split(name, definition) else {
            // What no daemon reads, it does not read under its own name either.
            if let Some(dot) = memchr::memchr(b'.', name).filter(|_| !self.is_referenced(name)) {
                self.obsolete(&name[dot + 1..], definition);
            }
            return;
        };
        let Some(value) = self.expand(name, definition) else { return };
        // Any name of this family is read, but few there are.
        if knob::find(bare).is_some_and(|knob| knob.name == "FLOCK_<what>") && !is_named(bare) {
            self.unknown(bare, definition);
        }
        match knob::find(bare) {
            Some(knob) => {
                if let Some(now) = knob.now {
                    let message = format!("`{}` is the obsolete name of `{now}`", shown(name));
                    let warning = definition.name_warning(message).code("obsolete-knob").help(format!("write `{now}`"));
                    let span = warning.span;
                    self.found.push(if span.end > 0 { warning.fix(span, now) } else { warning });
                }
                // A macro of the file's own, named like one of a family: it is used where it is referred to.
                if knob.is_family() && self.is_referenced(name) && !self.is_member(knob, bare) {
                    return;
                }
                self.member(knob, bare, definition);
                self.value(knob, name, &value, definition);
            }
            None if prefix.is_none() => self.unknown(bare, definition),
            None => {}
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

    /// The prefix of a name and the rest; no rest if it is of another daemon.
    fn split<'n>(&mut self, name: &'n [u8], definition: &Definition<'_>) -> (Option<&'n [u8]>, Option<&'n [u8]>) {
        let Some(dot) = memchr::memchr(b'.', name) else {
            return (None, Some(name));
        };
        let (prefix, rest) = (&name[..dot], &name[dot + 1..]);
        let context = self.config.context();
        let counts = |known: &str| known.as_bytes().eq_ignore_ascii_case(prefix);
        if counts(&context.subsystem) || context.local_name.as_deref().is_some_and(counts) {
            return (Some(prefix), Some(rest));
        }
        if names(DAEMONS).any(counts) || self.daemons.contains(&prefix.to_ascii_uppercase()) {
            self.two_prefixes(rest, definition);
            self.behind_prefix(rest, definition);
            return (Some(prefix), None);
        }
        if knob::find(name).is_some() {
            return (None, Some(name));
        }
        if let Some(meant) = families::of_slots(&shown(name)).filter(|_| !self.is_referenced(name)) {
            let message = format!("`{}` has no effect: a slot has no prefix with a dot", shown(name));
            let warning = definition.name_warning(message).code("unread-prefix").help(format!("write `{meant}`"));
            self.found.push(warning);
            return (Some(prefix), None);
        }
        // An unknown prefix in front of a knob: probably a mistake.
        let is_knob = knob::find(rest).is_some_and(|knob| !knob.is_family());
        let is_slip = || {
            let is_near = |name: &[u8]| near::distance(prefix, name, 1).is_some();
            let mut own = self.daemons.iter();
            is_named(rest) && (names(DAEMONS).any(|name| is_near(name.as_bytes())) || own.any(|name| is_near(name)))
        };
        if (is_knob || is_slip()) && !self.is_referenced(name) {
            let message = format!("unknown daemon prefix `{}`: `{}` has no effect", shown(prefix), shown(name));
            let warning = definition.name_warning(message).code("unread-prefix");
            let warning = warning.help("to read it as a local name, use --local-name");
            self.found.push(warning.did_you_mean(near::closest(prefix, names(DAEMONS))));
        }
        (Some(prefix), None)
    }

    /// Reports a misspelled name behind the prefix of a daemon or of a local name.
    fn behind_prefix(&mut self, rest: &[u8], definition: &Definition<'_>) {
        if rest.contains(&b'.') || is_variable(rest) || self.is_referenced(definition.name) {
            return;
        }
        let upper = rest.to_ascii_uppercase();
        if is_of_every_daemon(&upper, &self.daemons) || self.config.definition(rest).is_some() {
            return;
        }
        let Some(meant) = names::of_table(rest).filter(|_| !self.mentioned().contains(&upper)) else { return };
        let message = format!("`{}` is not a knob", shown(rest));
        self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
    }

    /// Reports a name with the prefix of a daemon and a local name: HTCondor's `lookup_macro` looks for one of them, not for both.
    fn two_prefixes(&mut self, rest: &[u8], definition: &Definition<'_>) {
        let Some((second, own)) = memchr::memchr(b'.', rest).map(|dot| (&rest[..dot], &rest[dot + 1..])) else {
            return;
        };
        let is_prefix = |word: &[u8]| {
            self.daemons.contains(&word.to_ascii_uppercase())
                || names(DAEMONS).any(|known| known.as_bytes().eq_ignore_ascii_case(word))
        };
        if !is_prefix(second) || !is_variable(own) || self.is_referenced(definition.name) {
            return;
        }
        let first = &definition.name[..definition.name.len() - rest.len() - 1];
        let is_daemon = names(DAEMONS).any(|known| known.as_bytes().eq_ignore_ascii_case(second));
        let local = if is_daemon { first } else { second };
        let message = format!("`{}` has no effect: a name has one prefix", shown(definition.name));
        let help = format!("write the local name or the daemon, as in `{}.{}`", shown(local), shown(own));
        self.found.push(definition.name_warning(message).code("unread-prefix").help(help));
    }

    fn is_referenced(&self, name: &[u8]) -> bool {
        self.referenced.contains(&name.to_ascii_uppercase())
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
                self.found.push(definition.value_problem(Severity::Warning, message).code("bad-value"));
            }
        }
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

    /// Reports a comment after a value, which is a part of it, and a setting that a `\` at the end of a line adds to the
    /// value before it.
    fn swallowed(&mut self, definition: &Definition<'_>) {
        let bare = self.config.bare(definition.name);
        let upper = String::from_utf8_lossy(bare).to_ascii_uppercase();
        let is_list = ["_ATTRS", "_NAMES", "_JOBLIST", "_LIST", "_EXPRS"].iter().any(|end| upper.ends_with(end));
        let is_list = is_list || ["ALLOW_", "DENY_", "FLOCK_"].iter().any(|start| upper.starts_with(start));
        let of_program = ["ARGS", "ENV", "ENVIRONMENT", "COMMAND", "FORMAT"].iter().any(|end| upper.ends_with(end));
        let plain =
            definition.place.is_some() && definition.template.is_none() && (is_list || !definition.raw.contains(&b'"'));
        if !plain || of_program || knob::is_transform(bare) || !is_list && !is_named(bare) {
            return;
        }
        let text = definition.raw;
        // A path or a word, and a comment.
        let hash = text.windows(2).position(|two| two[0].is_ascii_whitespace() && two[1] == b'#').map(|at| at + 1);
        let words = |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        if let Some(at) = hash.filter(|at| types::is_folder(&upper) && words(&text[..*at]) == 1) {
            let message = format!("`{}` is a part of the value: comments have lines of their own", shown(&text[at..]));
            let found = definition.value_problem(Severity::Warning, message).code("bad-value");
            self.found.push(
                found.help(format!("write `{}`, and the comment on its own line", shown(text[..at].trim_ascii()))),
            );
            return;
        }
        let Some(name) = swallowed_name(text).filter(|name| is_list || is_named(name)) else { return };
        let message = format!("`{} =` is a part of the value: the line before it ends with `\\`", shown(name));
        let found = definition.value_problem(Severity::Warning, message).code("odd-line");
        self.found.push(found.help("remove the `\\` at the end of the line before it"));
    }

    /// Reports a name that is not a knob but looks like one.
    fn unknown(&mut self, name: &[u8], definition: &Definition<'_>) {
        let upper = name.to_ascii_uppercase();
        let is_known = self.config.built_in(name).is_some() || table::entry(&upper).is_some() || has_no_default(&upper);
        if is_known || self.is_referenced(name) {
            return;
        }
        if self.obsolete(name, definition) {
            return;
        }
        let mut starts = (1..=upper.len()).filter(|end| upper.get(*end).is_none_or(|next| *next == b'_'));
        // The knobs of HTCondor's own daemons are known.
        let is_own = |daemon: &[u8]| names(DAEMONS).any(|known| known.as_bytes() == daemon);
        let of_daemon = starts.any(|end| self.daemons.contains(&upper[..end]) && !is_own(&upper[..end]));
        if of_daemon || self.match_exprs.contains(&upper) {
            return;
        }
        if self.other_words(name, definition) || self.of_cron(&upper, name, definition) {
            return;
        }
        if is_of_every_daemon(&upper, &self.daemons) {
            // `COLLECTOR_HOST_FOR_NEGOTIATR` begins like one of them.
            let meant = names::of_table(name).filter(|meant| meant.len() >= 20 && meant.contains('_'));
            let is_own = meant
                .as_ref()
                .is_none_or(|meant| is_of_every_daemon(meant.as_bytes(), &self.daemons) && meant.len() < 24);
            if let Some(meant) = meant.filter(|_| !is_own && !self.mentioned().contains(&upper)) {
                self.misspelled_name(name, "", Some(meant), definition);
            }
            return;
        }
        if let Some(meant) = self.of_declared_group(name) {
            let message = format!("`{}` is not a negotiator configuration variable", shown(name));
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
            return;
        }
        let family = FAMILY.iter().any(|prefix| upper.starts_with(prefix.as_bytes()));
        let nearest = self.nearest(name, family, definition);
        if nearest.is_none() && !family {
            self.unknown_of_family(name, definition);
            return;
        }
        let whose = if family { " of the negotiator" } else { "" };
        self.misspelled_name(name, whose, nearest, definition);
    }

    /// Reports a name that begins like the variables of a feature, or of a daemon, and that nothing uses. Names of macros and
    /// attributes of a site's own mostly have small letters.
    fn unknown_of_family(&mut self, name: &[u8], definition: &Definition<'_>) {
        let upper = shown(name);
        let is_plain = name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        if !is_plain || self.mentioned().contains(name) {
            return;
        }
        if let Some(meant) = families::of_request(&upper) {
            let message = format!("`{upper}` is not a knob");
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
        } else if let Some(meant) = families::of_daemon(&upper, &|rest| is_named(rest.as_bytes())) {
            let message = format!("`{upper}` is not a knob: the name of a daemon ends with a dot");
            let help = format!("write `{meant}`");
            self.found.push(definition.name_warning(message).code("unknown-knob").help(help));
        } else if let Some((family, meant)) = families::of_family(&upper) {
            let message = format!("`{upper}` is not a knob: HTCondor knows all that begin with `{family}`");
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(meant));
        }
    }

    /// Reports a name with the variable that was probably meant.
    fn misspelled_name(&mut self, name: &[u8], whose: &str, meant: Option<String>, definition: &Definition<'_>) {
        let message = format!("`{}` is not a knob{whose}", shown(name));
        let warning = definition.name_warning(message).code("unknown-knob").did_you_mean(meant.as_deref());
        let span = warning.span;
        self.found.push(match meant.filter(|meant| span.end > 0 && !meant.contains('`')) {
            Some(meant) => warning.fix(span, meant),
            None => warning,
        });
    }

    /// Reports a name of known words that is not the name of a variable; returns true if it is one.
    fn other_words(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        const REQUEST: &str = "MODIFY_REQUEST_EXPR_";
        let is_meant = self.mentioned().contains(&name.to_ascii_uppercase());
        if let Some(meant) = names::of_words(name).filter(|_| !is_meant) {
            self.misspelled_name(name, "", Some(meant), definition);
            return true;
        }
        let upper = shown(name).to_ascii_uppercase();
        if let Some(resource) = upper.strip_prefix(REQUEST).filter(|rest| !rest.starts_with("REQUEST"))
            && !resource.is_empty()
        {
            self.misspelled_name(name, "", Some(format!("{REQUEST}REQUEST{resource}")), definition);
            return true;
        }
        let level = names::unknown_level(name).filter(|_| !is_meant && names::of_pattern(name).is_none());
        let Some(level) = level else { return false };
        let message = format!("`{}` is not read: `{level}` is not an access level", shown(name));
        let levels = names(names::LEVELS).chain(["DEFAULT"]);
        // A site may use other names for macros of its own.
        let Some(meant) = near::closest(level.as_bytes(), levels) else { return false };
        self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
        true
    }

    /// Reports a variable of a cron job with an end that there is not; returns true if it is one.
    fn of_cron(&mut self, upper: &[u8], name: &[u8], definition: &Definition<'_>) -> bool {
        let config = self.config;
        let jobs = self.cron_jobs.get_or_insert_with(|| {
            let of = |prefix: &str| {
                let list = config.list(&format!("{prefix}JOBLIST")).unwrap_or_default();
                list.iter().map(|job| format!("{prefix}{}", shown(job).to_ascii_uppercase())).collect::<Vec<String>>()
            };
            names::CRON_PREFIXES.into_iter().flat_map(of).collect()
        });
        let has = |prefix: &str, job: &str| jobs.contains(&format!("{prefix}{job}"));
        let near = |job: &str| near::closest_within(1, job.as_bytes(), jobs.iter().map(String::as_str));
        let is_job = |job: &str| config.definition(format!("{job}_EXECUTABLE").as_bytes()).is_some();
        let upper = String::from_utf8_lossy(upper);
        let meant = names::of_cron_job(&upper, &has).or_else(|| names::of_other_job(&upper, &has, &near, &is_job));
        let Some(meant) = meant else { return false };
        self.misspelled_name(name, "", Some(meant), definition);
        true
    }

    /// The knob that a name may have meant.
    fn nearest(&mut self, name: &[u8], family: bool, definition: &Definition<'_>) -> Option<String> {
        let allowed = if family { near::allowance(name) } else { near::allowance(name).min(2) };
        let known = knob::all().filter(|knob| !knob.is_family() && knob.now.is_none());
        let known = known.filter(|knob| family || knob.name.len() >= 8).map(|knob| knob.name);
        if let Some(known) = near::closest_within(allowed, name, known) {
            return Some(known.to_owned());
        }
        // Those of other daemons, of types of slots, and limits: a name is not a mistake if another value mentions it.
        let meant = names::of_slot_type(name)
            .or_else(|| names::of_pattern(name))
            .or_else(|| names::of_limit(name, definition.raw))
            .or_else(|| names::of_turned_limit(name, definition.raw).filter(|_| self.has_limits()))
            .or_else(|| names::of_hook(name))
            .or_else(|| names::of_slot(name))
            .or_else(|| names::of_member(name))
            .or_else(|| names::of_table(name))
            .filter(|_| !family)?;
        (!self.mentioned().contains(&name.to_ascii_uppercase())).then_some(meant)
    }

    /// The words of all values, upper case.
    fn mentioned(&mut self) -> &BTreeSet<Vec<u8>> {
        let config = self.config;
        self.mentioned.get_or_insert_with(|| {
            let words = |raw: &[u8]| {
                let words = raw.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
                words.filter(|word| (4..=100).contains(&word.len())).map(<[u8]>::to_ascii_uppercase).collect::<Vec<_>>()
            };
            config.definitions().flat_map(|definition| words(definition.raw)).collect()
        })
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
                    let odd = types::odd_integer(knob.kind, &shown_name.to_ascii_uppercase(), &shown(value));
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

/// The name in `NAME =` inside of a value, after a blank.
fn swallowed_name(text: &[u8]) -> Option<&[u8]> {
    memchr::memchr_iter(b'=', text).find_map(|at| {
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        let before = text[..at].trim_ascii_end();
        let is_sign = at == 0 || b"=!<>".contains(&text[at - 1]) || matches!(next, b'=' | b'!' | b'?' | b'~');
        let length = before.iter().rev().take_while(|byte| super::reference::is_name_byte(**byte)).count();
        let (front, name) = before.split_at(before.len() - length);
        let is_name = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let apart = front.last().is_some_and(u8::is_ascii_whitespace) && before.len() < at;
        (!is_sign && is_name && apart).then_some(name)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Severity, place, message and help of what is found, one a line.
    fn found(text: &str) -> Vec<String> {
        found_in("25.14", text)
    }

    fn found_in(series: &str, text: &str) -> Vec<String> {
        let config = Config::parse("c", text.as_bytes()).unwrap().read_as(series.parse().unwrap());
        let line = |diagnostic: &Diagnostic| {
            let place =
                diagnostic.place.as_ref().map(|place| format!("{}:{}", place.line, place.column)).unwrap_or_default();
            let help = diagnostic.help.as_ref().map(|help| format!(" [{help}]")).unwrap_or_default();
            let (severity, width) = (diagnostic.severity.as_str(), diagnostic.span.end);
            format!("{severity} {place}+{width} {diagnostic}{help}")
        };
        check(&config).iter().map(line).collect()
    }

    #[test]
    fn values_out_of_range_or_of_another_kind_are_errors_at_the_value() {
        assert_eq!(
            found("NEGOTIATION_CYCLE_STATS_LENGTH = 500"),
            [
                "error 1:34+3 `NEGOTIATION_CYCLE_STATS_LENGTH` is `500`: expected a number from 0 to 100 [the default is `3`]"
            ]
        );
        assert_eq!(
            found("\n  NEGOTIATOR_CONSIDER_PREEMPTION = maybe"),
            ["error 2:36+5 `NEGOTIATOR_CONSIDER_PREEMPTION` is `maybe`: expected a boolean [the default is `true`]"]
        );
        assert_eq!(found("PRIORITY_HALFLIFE = 2 * 3600\nNEGOTIATOR_INTERVAL = 7.5\nUSE_GLOBAL_JOB_PRIOS = 1"), [""; 0]);
        assert_eq!(found("NEGOTIATE_ALL_JOBS_IN_CLUSTER = T"), [""; 0]);
        let transform = "JOB_TRANSFORM_x @=end\nval = 3\nSET Y $INT(val) + 2\nif $INT(MY.x) > 2\nendif\n@end";
        assert_eq!(found(transform), [""; 0]);
        let second = "DAEMON_LIST = $(DAEMON_LIST) NEGOTIATOR_GPU\nNEGOTIATOR_GPU = $(NEGOTIATOR)\n\
                      NEGOTIATOR_GPU_ARGS = -local-name NEGOTIATOR_GPU\nNEGOTIATOR_GPU.NEGOTIATOR_NAME = gpu\n\
                      NEGOTIATOR_GPU_LOG = $(LOG)/gpu\nCOLLECTOR_ARGS = -f -local-name other\nother.NEGOTIATOR_NAME = x";
        assert_eq!(found(second), [""; 0]);
        assert_eq!(found("DAEMON_LIST = MASTER, EVENTD\nEVENTD = /bin/e\nEVENTD_LOG = $(LOG)/e"), [""; 0]);
        assert_eq!(found("NEGOTIATOR_USERID = a\nNEGOTIATOR_MAX_FILE_DESCRIPTORS = 9"), [""; 0]);
        assert_eq!(found("NEGOTIATOR_MATCH_EXPRS = NegotiatorName\nNegotiatorName = \"x\""), [""; 0]);
        assert_eq!(found("DAEMON_LIST = MASTER, NEGOTIATOR\nNEGOTIATOR_INTERVL = 9").len(), 1);
        let macros = "NEGOTIATOR_MATCH_EXPRS = A, B\nA = 1";
        assert_eq!(found(macros), ["warning 1:26+4 `B` is not defined, so slots do not get it"]);
    }

    #[test]
    fn names_that_daemons_read_or_statements_use_are_known() {
        for text in [
            // Attributes that the startd takes from the configuration by their own name.
            "IsOwner = false\nISOWNER = true\nCpuBusy = true\ncpu_busy = true\nSlotWeight = Cpus\nRunBenchmarks = false",
            "SINGULARITY_BIND_EXPR = \"/a\"\nNUM_SLOTS = 3\nCCB_TIMEOUT = 3\nMAX_HISTORY_LOG = 1",
            "NEGOTIATOR_FLAG = true\nif defined NEGOTIATOR_FLAG\nendif",
            "NEGOTIATOR_FLAG = true\nif $(NEGOTIATOR_FLAG)\nA = 1\nelif version > 8\nendif",
            "NEGOTIATOR_DIR = x\ninclude ifexist : $(NEGOTIATOR_DIR)/y",
            "NEGOTIATOR_TIME = 3\nuse POLICY : Limit_Job_Runtimes($(NEGOTIATOR_TIME))",
            "NEGOTIATOR_A = 3\nB = $(NEGOTIATOR_A)\nB = 4",
            // Not concurrency limits.
            "MEMORY_LIMIT = 5 GB\nSWAP_LIMIT = 10K\nTIME_LIMIT = 2 * 3600\nCPU_LIMIT = RequestCpus\nX_LIMIT = 80%",
            "CGROUP_LOW_MEMORY_LIMIT = 75",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        assert_eq!(
            found("HOSTALLOW_WRITE = *\nGSI_DAEMON_CERT = /a"),
            [
                "warning 1:1+15 HTCondor 25.14.1 does not read `HOSTALLOW_WRITE` [it was replaced by `ALLOW_WRITE`]",
                "warning 2:1+15 HTCondor 25.14.1 does not read `GSI_DAEMON_CERT` [it was removed in HTCondor 10.2.0: remove the line]"
            ]
        );
        assert_eq!(found("GSI_DAEMON_CERT = /a\nA = $(GSI_DAEMON_CERT)"), [""; 0]);
        assert_eq!(found("MATLAB_LIMIT = 5O\nIDL_LIMIT = ten").len(), 2);
    }

    #[test]
    fn expressions_are_parsed_with_the_exact_place() {
        assert_eq!(
            found("PREEMPTION_REQUIREMENTS = RemoteUserPrio > * 1"),
            [
                "error 1:44+1 `PREEMPTION_REQUIREMENTS` is not a valid expression: expected an expression, found `*` [a value is missing between `>` and `*`]"
            ]
        );
        let expanded = found("X = * 1\nPREEMPTION_RANK = Cpus > $(X)");
        assert_eq!(expanded.len(), 1);
        assert!(expanded[0].starts_with("error 2:19+11 `PREEMPTION_RANK` is not a valid expression"), "{expanded:?}");
        assert!(expanded[0].ends_with("after expansion it reads `Cpus > * 1`]"), "{expanded:?}");
    }

    #[test]
    fn unknown_names_of_the_family_are_told_with_the_nearest() {
        assert_eq!(
            found("NEGOTIATOR_INTERVALL = 5"),
            [
                "warning 1:1+20 `NEGOTIATOR_INTERVALL` is not a knob of the negotiator [did you mean `NEGOTIATOR_INTERVAL`?]"
            ]
        );
        assert_eq!(
            found("PRIORTY_HALFLIFE = 5"),
            ["warning 1:1+16 `PRIORTY_HALFLIFE` is not a knob [did you mean `PRIORITY_HALFLIFE`?]"]
        );
        assert_eq!(
            found("NEGOTIATOR_FROBNICATE = 5"),
            ["warning 1:1+21 `NEGOTIATOR_FROBNICATE` is not a knob of the negotiator"]
        );
        // A macro that is used, or a knob of another daemon, is intended.
        assert_eq!(
            found("NEGOTIATOR_FROB = 5\nNEGOTIATOR_INTERVAL = $(NEGOTIATOR_FROB)\nMY_OWN = 3\nDAEMON_LIST = MASTER"),
            [""; 0]
        );
    }

    #[test]
    fn what_every_daemon_reads_is_no_mistake() {
        let text = "NEGOTIATOR_ADDRESS_FILE = /x\nNEGOTIATOR_ARGS = -f\nNEGOTIATOR_HOST = $(CONDOR_HOST)\n\
                    NEGOTIATOR_SUPER_ADDRESS_FILE = /x\nNEGOTIATOR_USE_SHARED_PORT = true\nMAX_NEGOTIATOR_LOG = 50000\n\
                    MAX_NEGOTIATOR_MATCH_LOG = 50000\nNEGOTIATOR_ENVIRONMENT = A=b\nNEGOTIATOR_LOG_KEEP = 3\n\
                    TRUNC_NEGOTIATOR_LOG_ON_OPEN = true\nNEGOTIATOR_DEBUG = D_FULLDEBUG\nNEGOTIATOR_RUN_DIR = /x\n\
                    NEGOTIATOR_TIMEOUT_MULTIPLIER = 2\nMAX_NUM_NEGOTIATOR_LOG = 2\nNEGOTIATOR_PUBLISH_CROSSING = 1";
        assert_eq!(found(text), [""; 0]);
        assert_eq!(found("NEGOTIATOR_INTERVALL = 5\nNEGOTIATOR_HOSTT = x").len(), 2);
    }

    #[test]
    fn group_knobs_without_an_underscore_are_told_with_the_right_name() {
        let groups = "GROUP_NAMES = physics, chem\nGROUP_QUOTA_physics = 1\nGROUP_QUOTA_chem = 1\n";
        for (name, help) in [
            ("GROUPQUOTA_chem", "GROUP_QUOTA_chem"),
            ("GROUP_QUOTA_DYNAMICchem", "GROUP_QUOTA_DYNAMIC_chem"),
            ("GROUP_QUOTAphysics", "GROUP_QUOTA_physics"),
            ("GROUP_ACCEPT_SURPLUSphysics", "GROUP_ACCEPT_SURPLUS_physics"),
            ("GROUP_PRIOFACTOR_chem", "GROUP_PRIO_FACTOR_chem"),
            ("GROUP_QUOTAS_physics", "GROUP_QUOTA_physics"),
            ("GROUP_DYNAMIC_QUOTA_physics", "GROUP_QUOTA_DYNAMIC_physics"),
            ("GROUP_ACEPT_SURPLUS_chem", "GROUP_ACCEPT_SURPLUS_chem"),
            ("GROUP_NAME", "GROUP_NAMES"),
            ("GROUP_AUTO_REGROUP", "GROUP_AUTOREGROUP"),
        ] {
            let what = match name {
                "GROUP_NAME" => "knob of the negotiator",
                "GROUP_AUTO_REGROUP" => "knob",
                _ => "negotiator configuration variable",
            };
            let width = name.len();
            assert_eq!(
                found(&format!("{groups}{name} = 1")),
                [format!("warning 4:1+{width} `{name}` is not a {what} [did you mean `{help}`?]")],
            );
        }
        // An undeclared group is not suggested.
        let none = ["warning 1:1+18 `GROUP_QUOTAphysics` is not a knob of the negotiator"];
        assert_eq!(found("GROUP_QUOTAphysics = 1"), none);
        // A macro that is referred to is not a knob.
        let helper = "GROUP_NAMES = a, b\nGROUP_QUOTA_BASE = 5\nGROUP_QUOTA_a = $(GROUP_QUOTA_BASE)\n\
                      GROUP_QUOTA_b = $INT(GROUP_QUOTA_BASE)\nMEM_LIMIT = 10x\nB_LIMIT = $(MEM_LIMIT:1)0";
        assert_eq!(found(&helper.replace("\nB_LIMIT = $(MEM_LIMIT:1)0", "")).len(), 1);
        assert_eq!(found(&helper.replace("B_LIMIT = ", "B = ")), [""; 0]);
    }

    #[test]
    fn nothing_is_concluded_from_what_only_a_machine_knows() {
        let text = "NEGOTIATOR_INTERVAL = $(DETECTED_CPUS)\nDEFAULT_PRIO_FACTOR = $INT(DETECTED_MEMORY)\n\
                    NEGOTIATOR_CONSIDER_PREEMPTION = $ENV(PREEMPT)\nPREEMPTION_RANK = $INT(DETECTED_CPUS) > 3\n\
                    GROUP_NAMES = $ENV(GROUPS)\nGROUP_QUOTA_a = 3\nNEGOTIATOR_CYCLE_DELAY = $RANDOM_INTEGER(1, 9)";
        assert_eq!(found(text), [""; 0]);
        assert_eq!(found("N = 7x\nNEGOTIATOR_INTERVAL = $(N)").len(), 1);
    }

    #[test]
    fn quotas_of_groups_that_are_not_declared_are_told() {
        assert_eq!(
            found(
                "GROUP_NAMES = group_phys, bio\nGROUP_QUOTA_group_phsy = 5\nGROUP_ACCEPT_SURPLUS_chem = true\nGROUP_QUOTA_BIO = 3"
            ),
            [
                "warning 2:1+22 `GROUP_QUOTA_group_phsy` has no effect: group `group_phsy` is not in GROUP_NAMES [did you mean `group_phys`?]",
                "warning 3:1+25 `GROUP_ACCEPT_SURPLUS_chem` has no effect: group `chem` is not in GROUP_NAMES [declare it: `GROUP_NAMES = $(GROUP_NAMES), chem`]",
            ]
        );
        assert_eq!(
            found("GROUP_NAMES = a-b"),
            ["warning 1:15+3 the group `a-b` cannot have a quota [names of configuration variables can contain \
                only letters, digits, `_`, `.` and `/`]"]
        );
    }

    #[test]
    fn obsolete_names_and_unread_prefixes_are_told() {
        assert_eq!(
            found("HFS_ROUND_ROBIN_RATE = 5"),
            [
                "warning 1:1+20 `HFS_ROUND_ROBIN_RATE` is the obsolete name of `GROUP_QUOTA_ROUND_ROBIN_RATE` [write `GROUP_QUOTA_ROUND_ROBIN_RATE`]"
            ]
        );
        assert_eq!(
            found("NEGOTATOR.PRIORITY_HALFLIFE = 5"),
            [
                "warning 1:1+27 unknown daemon prefix `NEGOTATOR`: `NEGOTATOR.PRIORITY_HALFLIFE` has no effect [did you mean `NEGOTIATOR`?]"
            ]
        );
        assert_eq!(
            found("SCHEDD.PRIORITY_HALFLIFE = 0"),
            [
                "warning 1:1+24 `SCHEDD.PRIORITY_HALFLIFE` has no effect: SCHEDD does not read `PRIORITY_HALFLIFE` [only NEGOTIATOR does: write `PRIORITY_HALFLIFE`]"
            ]
        );
        assert_eq!(found("NEGOTIATOR.PRIORITY_HALFLIFE = 0").len(), 1);
        assert_eq!(found("LARGE.X_LIMIT = 5"), [""; 0]);
    }

    /// `docs/reference/versions.md` 6. The sources of 10.8.0 are the first that read `MATCH_WORKING_CM_SLOTS`, and those of 10.3.1
    /// the last that read `NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS`; `htcondor.param` of 25.13.2 has no `LVM_THICK_LV_MARGIN`.
    #[test]
    fn variables_that_a_version_does_not_have_are_told() {
        let missing = |name: &str, series: &str, release: &str| {
            let width = name.len();
            vec![format!(
                "warning 1:1+{width} HTCondor {series} does not have `{name}` [it is new in HTCondor {release}: remove the line]"
            )]
        };
        for (name, series, release) in [
            ("MATCH_WORKING_CM_SLOTS", "10.7", Some("10.8.0")),
            ("MATCH_WORKING_CM_SLOTS", "10.8", None),
            ("LVM_THICK_LV_MARGIN", "25.12", Some("25.14.1")),
            ("KEEP_DATA_CLAIM_IDLE", "25.9", Some("25.10.1")),
            ("KEEP_DATA_CLAIM_IDLE", "25.10", None),
            // Only their entries in the table are new.
            ("NEGOTIATOR_NUM_THREADS", "10.1", None),
            ("STARTD_ENFORCE_DISK_LIMITS", "24.0", None),
        ] {
            let expected = release.map(|release| missing(name, series, release)).unwrap_or_default();
            assert_eq!(found_in(series, &format!("{name} = 1")), expected, "{name} in {series}");
        }
        let gone = "NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS = true";
        assert_eq!(found_in("10.0", gone), [""; 0]);
        assert_eq!(
            found_in("10.9", gone),
            [
                "warning 1:1+33 HTCondor 25.14.1 does not read `NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS` [it was removed in HTCondor 10.4.0: remove the line]"
            ]
        );
    }

    #[test]
    fn slips_in_the_knobs_of_other_daemons_are_told() {
        for (text, meant) in [
            ("MAX_JOBS_RUNING = 5", "MAX_JOBS_RUNNING"),
            ("SLOT_TYPE_1_PARTITONABLE = true", "SLOT_TYPE_1_PARTITIONABLE"),
            ("SLOT_TYPE_12_STRAT = true", "SLOT_TYPE_12_START"),
            ("ALOW_WRITE = *", "ALLOW_WRITE"),
            ("DENY_WRTE = *", "DENY_WRITE"),
            ("deny_wirte = *", "DENY_WRITE"),
            ("DENY_REDA_COLLECTOR = *", "DENY_READ_COLLECTOR"),
            ("ALLOW_NEGOTATOR_SCHEDD = *", "ALLOW_NEGOTIATOR_SCHEDD"),
            ("SEC_CLEINT_ENCRYPTION = REQUIRED", "SEC_CLIENT_ENCRYPTION"),
            ("SEC_DEFUALT_AUTHENTICATON = REQUIRED", "SEC_DEFAULT_AUTHENTICATION"),
            ("SEC_READ_INTEGRTY = OPTIONAL", "SEC_READ_INTEGRITY"),
            ("SETTABLE_ATTR_CONFIG = X", "SETTABLE_ATTRS_CONFIG"),
            ("NUM_SLOT_TYPE_1 = 1", "NUM_SLOTS_TYPE_1"),
            ("NUM_SLOTS_TYPE2 = 1", "NUM_SLOTS_TYPE_2"),
            ("SLOTS_TYPE_1 = cpus=1", "SLOT_TYPE_1"),
            ("SLOT_TYP_1_PARTITIONABLE = true", "SLOT_TYPE_1_PARTITIONABLE"),
            ("STARTT = true", "START"),
            ("XSW_LIMT = 5", "XSW_LIMIT"),
        ] {
            let name = &text[..text.find(' ').unwrap()];
            let reported = format!("warning 1:1+{} `{name}` is not a knob [did you mean `{meant}`?]", name.len());
            assert_eq!(found(text), [reported], "{text}");
        }
        for text in [
            "STARTT = true\nSTART = $(STARTT)",
            "STARTD_ATTRS = Startt\nSTARTT = true",
            "SLOT_TYPE_1_PARTITIONABLE = true\nSLOT_TYPE_1 = 100%\nSLOT_TYPE_1_START = true",
            "SLOT_TYPE_1_Site = \"x\"\nSLOT_TYPE_1_CONSUMPTION_GPUS = 1",
            "DENY_WRITE = a\nDENY_READ = b\nALLOW_WRITE_COLLECTOR = c\nDENY_DAEMON = d\nALLOW_OWNER = e\nALLOW_CONFIG = f",
            "SEC_READ_INTEGRITY = OPTIONAL\nSEC_WRITE_ENCRYPTION = REQUIRED\nSEC_DAEMON_CRYPTO_METHODS = AES",
            "SEC_DEFAULT_AUTHENTICATION_SCHEDD = REQUIRED\nSEC_DEFAULT_SESSION_DURATION = 60",
            "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = auto\nNUM_SLOTS_TYPE_12 = 1\nSLOT_TYPE_2_PARTITIONABLE = true",
            // Names of a site's own.
            "DENY_WRTE = *\nDENY_WRITE = $(DENY_WRTE)",
            "DENY_HOSTS = a\nALLOW_GROUP = b\nSEC_SITE_ENCRYPTION = c\nMY_SLOT_TYPE_1 = auto\nSLOT_TYPE_A = auto",
            "START2 = true",
            "POOL = x",
            "SITE_LIMITER = x > 5",
            "MY_SUBLIME = 5",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn evaluations_without_a_value_are_told() {
        assert_eq!(
            found("START2 = $EVAL(WORDS) $EVAL(1+2) $EVAL($(WORDS))\nWORDS = two words"),
            ["warning 1:10+39 `$EVAL(WORDS)` has no value: `two words` is not a valid expression: expected an \
                 operator or the end of the expression, found `words`"]
        );
    }

    #[test]
    fn circles_are_errors_with_all_their_places() {
        assert_eq!(
            found("A = $(B)\nB = x $(A)"),
            [
                "error 1:5+4 `A` cannot be expanded: `A` refers to itself: A → B → A [`B` is set at c:2:1, `A` is set at c:1:1]",
                "error 2:5+6 `B` cannot be expanded: `B` refers to itself: B → A → B [`A` is set at c:1:1, `B` is set at c:2:1]",
            ]
        );
        assert_eq!(found("A = $(B)\nB = $(A)\nC = $(A)").len(), 2);
        assert_eq!(found("A = $(B)\nB = $(A)\nSTART = $(A)").len(), 3);
    }

    #[test]
    fn numbers_that_are_read_by_their_beginning_are_told() {
        assert_eq!(
            found("DEFAULT_PRIO_FACTOR = 10 * 2"),
            ["warning 1:23+6 `DEFAULT_PRIO_FACTOR` is `10 * 2`: read as 10, because only plain numbers are supported"]
        );
    }

    /// The reference reads a limit when a job asks for it, as a number or a constant expression, and ends if it is
    /// neither.
    #[test]
    fn limits_that_are_no_numbers_are_told() {
        assert_eq!(
            found("XSW_LIMIT = bad\nNEGOTIATOR.YSW_LIMIT = bad"),
            [
                "warning 1:13+3 `XSW_LIMIT` is `bad`: expected a number [a job that requests `xsw` stops the negotiator]",
                "warning 2:24+3 `NEGOTIATOR.YSW_LIMIT` is `bad`: expected a number [a job that requests `ysw` stops the negotiator]",
            ]
        );
        assert_eq!(found("XSW_LIMIT = 1 + 1\nCONCURRENCY_LIMIT_DEFAULT_x = 2 * 2.5"), [""; 0]);
        // A macro that is used as one.
        assert_eq!(found("DISK_LIMIT = TARGET.Disk > 5\nPREEMPTION_REQUIREMENTS = $(DISK_LIMIT)"), [""; 0]);
        for name in ["CONCURRENCY_LIMIT_DEFAULT", "CONCURRENCY_LIMIT_DEFAULT_x"] {
            let reported = found(&format!("{name} = y"));
            assert!(
                reported[0].starts_with(&format!("error 1:{}+1 `{name}` is `y`: expected a number", name.len() + 4)),
                "{reported:?}"
            );
        }
    }

    #[test]
    fn a_configuration_of_bombs_is_given_up() {
        let mut text = String::new();
        for at in 0..100 {
            text.push_str(&format!("A{at}_0 = {}\n", "x".repeat(1000)));
            for level in 0..20 {
                text.push_str(&format!("A{at}_{} = $(A{at}_{level})$(A{at}_{level})\n", level + 1));
            }
        }
        let all = found(&text);
        assert!(all.len() < 1000);
        assert!(all.iter().any(|line| line.contains("is not checked")), "{:?}", all.last());
        assert!(all.iter().any(|line| line.contains("longer than 4194304 bytes")));
    }
}
