//! Submit files that `condor_submit` rejects: statements it does not read, and values it does not take.
//!
//! In: the statements of a file. Out: errors, each of which ends `condor_submit -dry-run` of HTCondor 25.14.1, and
//! warnings for values that another statement replaces; with them what each statement assigns, for the rules about the whole
//! file. Statements of an `if` that is certainly false are not read.

use std::collections::{BTreeMap, BTreeSet};

use super::commands::is_command;
use super::expression::MAX_TEXT;
use super::submit_macros::Macros;
use super::submit_names::by_written_name;
use super::submit_odd::odd_value;
use super::submit_queue::{has_empty_slice, odd_items, queue_fault};
use super::submit_values::bad_value;
use crate::submit::other_names::{self, command_of_other};
use crate::submit::queue::{ItemKind, ItemList, QueueStatement};
use crate::submit::statements::{appended, is_name, queue_arguments};
use classmate::internal::diagnostic::Severity;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, ParseOptions, Span};

/// A finding in the statement with a number.
pub(super) type Refused = (usize, Diagnostic);

/// A branch of an `if`.
#[derive(Clone, Copy)]
pub(super) struct IfBranch {
    /// True if its statements are read; `None` if that depends on what the file does not say.
    reads: Option<bool>,
    /// As `reads`, of it and those around it.
    here: Option<bool>,
    /// True if it or an earlier branch is read.
    any: Option<bool>,
    /// An `else` was read.
    after_else: bool,
    /// The branch is read only if a name is defined that the file does not define.
    unless_defined: bool,
    /// The statement of the `if`, and where its text begins and ends.
    begins: (usize, usize, usize),
}

/// A value of a command or macro, and the number of its statement.
pub(super) type Assigned = (String, usize);

/// A file as far as it was read.
#[derive(Default)]
pub(super) struct Reading {
    /// The branches of the open `if` statements.
    pub(super) open: Vec<IfBranch>,
    /// The statement that queues, with the variables that its items set.
    pub(super) queued: Option<(usize, Vec<String>)>,
    /// The items are in a file, of which jobs may use some columns.
    pub(super) table: bool,
    /// The items are in the submit file.
    pub(super) has_items_here: bool,
    /// Another file, or a template, may set anything.
    pub(super) includes: bool,
    /// Names, lower case, that DAGs give values to.
    pub(super) given: BTreeSet<String>,
    /// The tag that ends a value of several lines, and the name that has the value.
    pub(super) tag: Option<(String, String)>,
    /// Values of commands and macros, lower case: those that may be the last, in order.
    pub(super) values: BTreeMap<String, Vec<Assigned>>,
    /// The texts of conditions and of `queue`, which are expanded when they are read.
    pub(super) expanded: Vec<Assigned>,
    /// The statements that are certainly not read, and those whose value is certainly replaced.
    pub(super) unread: BTreeSet<usize>,
    pub(super) replaced: BTreeSet<usize>,
    /// The statements that may not be read, and those that add to a value.
    pub(super) doubtful: BTreeSet<usize>,
    /// The statements that set a name of a command of which an earlier name counts.
    pub(super) macros: BTreeSet<usize>,
    /// Statements that replace the value of an earlier one, and that one.
    pub(super) earlier: BTreeMap<usize, usize>,
    pub(super) found: Vec<Refused>,
    /// The statements of which the findings so far do not count, and the number of all findings then.
    pub(super) forgotten: BTreeMap<usize, usize>,
}

/// Reads the statements of a submit file. `endless` is true if the list of items of the last `queue` has no end; DAGs give values to
/// the names of `given`, lower case.
pub(super) fn read(statements: &[String], endless: bool, given: BTreeSet<String>) -> Reading {
    let mut reading = read_all(statements, endless, given);
    let forgotten = std::mem::take(&mut reading.forgotten);
    let counts = |(at, (statement, _)): &(usize, Refused)| forgotten.get(statement).is_none_or(|count| at >= count);
    let found = std::mem::take(&mut reading.found).into_iter().enumerate().filter(counts).map(|(_, one)| one);
    let named = |(at, one): Refused| (at, statements.get(at).map_or(one.clone(), |text| by_written_name(one, text)));
    reading.found = found.map(named).collect();
    reading
}

fn read_all(statements: &[String], endless: bool, given: BTreeSet<String>) -> Reading {
    let mut reading = Reading { given, ..Reading::default() };
    for (at, statement) in statements.iter().enumerate() {
        if !reading.statement(at, statement) {
            return reading;
        }
    }
    if let Some(last) = statements.last().filter(|_| endless) {
        let message = "the list of items of `queue` has no closing `)` at the beginning of a line";
        reading.found.push((statements.len() - 1, error(message, last, "write `)` on a line of its own")));
        return reading;
    }
    reading.leave_macros();
    reading.name_by_command();
    // A file that neither queues nor runs anything may be a part of another one.
    let is_whole = reading.queued.is_some() || reading.has(&EXECUTABLE);
    if is_whole && !reading.includes {
        reading.whole(statements);
        if reading.queued.is_some() {
            let found = Macros::of(&reading).check(statements);
            reading.found.extend(found);
        }
    }
    reading
}

pub(super) fn error(message: impl Into<String>, text: &str, help: impl Into<Box<str>>) -> Diagnostic {
    let start = text.len() - text.trim_start().len();
    let span = Span::new(start, text.trim_end().len().max(start));
    Diagnostic::error(message, span).help(help).code("rejected-submit")
}

/// A warning about the whole of a statement.
pub(super) fn warning(message: impl Into<String>, text: &str, help: impl Into<Box<str>>) -> Diagnostic {
    let mut found = error(message, text, help);
    found.severity = Severity::Warning;
    found
}

/// The commands that name the program.
pub(super) const EXECUTABLE: [&str; 2] = ["executable", "shell"];

impl Reading {
    /// Reads a statement; returns false if `condor_submit` stops there.
    pub(super) fn statement(&mut self, at: usize, text: &str) -> bool {
        // Inside of an `if`, a colon may begin a line: very old versions ignore such lines.
        let line = text.trim();
        let line = line.strip_prefix(':').filter(|_| !self.open.is_empty()).unwrap_or(line);
        if let Some((tag, name)) = &self.tag {
            if line == tag {
                self.tag = None;
            } else if let Some(all) = self.values.get_mut(name)
                && let Some((value, _)) = all.last_mut()
            {
                value.push_str(line);
                value.push('\n');
            }
            return true;
        }
        if line.is_empty() || line.starts_with('#') {
            return true;
        }
        let word = line.split(|sign: char| !sign.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
        let rest = line[word.len()..].trim();
        let is_word = line[word.len()..].chars().next().is_none_or(char::is_whitespace);
        let branches = is_word && !rest.starts_with('=') && self.queued.is_none();
        let is_if = rest.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case("if"));
        if branches && !self.open.is_empty() && (matches!(word.as_str(), "elseif" | "elsif") || word == "else" && is_if)
        {
            let written = if word == "else" { "else if" } else { word.as_str() };
            let message = format!("`{written}` is not a keyword, so the condition is not read");
            self.found.push((at, warning(message, text, "write `elif`").code("odd-command")));
        }
        match word.as_str() {
            "if" if branches => self.begin(at, text, rest),
            "elif" | "else" | "endif" if branches => self.branch(at, text, &word, rest),
            _ if self.reads() == Some(false) && self.queued.is_none() => {
                self.unread.insert(at);
            }
            _ => return self.plain(at, text, line),
        }
        self.goes_on(at)
    }

    /// Returns true if `condor_submit` goes on after a statement: it does after a bad value.
    pub(super) fn goes_on(&self, at: usize) -> bool {
        let mut of_statement = self.found.iter().rev().take_while(|(other, _)| *other == at);
        !of_statement.any(|(_, found)| found.help.as_deref() == Some(STOPS))
    }

    /// Drops the findings about a statement.
    pub(super) fn forget(&mut self, at: usize) {
        self.forgotten.insert(at, self.found.len());
    }

    /// Reads a statement that does not branch.
    pub(super) fn plain(&mut self, at: usize, text: &str, line: &str) -> bool {
        if let Some(arguments) = queue_arguments(line.as_bytes()) {
            let arguments = String::from_utf8_lossy(arguments).trim().to_owned();
            if self.queued.is_some() {
                self.after_queue(at, text);
                return false;
            }
            let fault = queue_fault(&arguments);
            let goes_on = fault.is_none();
            self.found.extend(fault.map(|(message, help)| {
                // The name of a macro in place of its value.
                let is_macro = self.values.contains_key(&arguments.to_ascii_lowercase());
                let meant = is_macro.then(|| format!("write `queue $({arguments})`"));
                (at, error(message, text, meant.as_deref().unwrap_or(help)))
            }));
            let queue = QueueStatement::parse(&arguments).ok();
            let odd = queue.as_ref().and_then(odd_items);
            self.found.extend(odd.map(|(message, help)| (at, warning(message, text, help).code("odd-command"))));
            if queue.as_ref().is_some_and(has_empty_slice) {
                let message = "the slice has no items, so there are no jobs";
                let help = "write `[first:end]`, with a larger end";
                self.found.push((at, warning(message, text, help).code("odd-command")));
            }
            self.open_at_queue(text);
            let plain = arguments.split('(').next().unwrap_or_default().to_ascii_lowercase();
            let words: Vec<&str> = plain.split_whitespace().collect();
            if let [.., "matching"] | [.., "matching", "files" | "dirs" | "any"] = words.as_slice()
                && !arguments.contains('(')
            {
                let message = "`matching` has no pattern, so there are no jobs";
                self.found.push((at, warning(message, text, "write the patterns after it").code("odd-command")));
            }
            if plain.contains("matching from ") {
                let message = "`from` is a pattern here, as `matching` takes patterns";
                let help = "write `matching files` and the patterns";
                self.found.push((at, warning(message, text, help).code("odd-command")));
            }
            self.has_items_here = queue.as_ref().is_some_and(|queue| {
                let is_list = matches!(queue.list, ItemList::Here(_) | ItemList::Lines(_));
                is_list && !matches!(queue.kind, ItemKind::Paths(_)) && !arguments.contains('$')
            });
            // A table with a heading has names of its own.
            let names = QueueStatement::parse(&arguments).map(|queue| {
                self.table = queue.kind == ItemKind::Rows && matches!(queue.list, ItemList::File(_));
                queue.names.iter().filter(|_| !queue.format.has_header()).map(ToString::to_string).collect()
            });
            self.queued = Some((at, names.unwrap_or_default()));
            self.expanded.push((arguments, at));
            return goes_on;
        }
        if self.queued.is_some() {
            self.after_queue(at, text);
            return false;
        }
        let bare = line.strip_prefix('@').unwrap_or(line);
        let end = bare.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(bare.len());
        let (word, rest) = (bare[..end].to_ascii_lowercase(), bare[end..].trim());
        let is_statement = !rest.starts_with('=') && bare[end..].starts_with([' ', '\t', ':']);
        match word.as_str() {
            "include" if is_statement => self.include(at, text, rest),
            "use" if is_statement => self.template(at, text, rest),
            "warning" if rest.starts_with(':') => {}
            // Under a condition, it is what the author wants.
            "error" if rest.starts_with(':') && self.reads() != Some(true) => {}
            "error" if rest.starts_with(':') => {
                let help = "`condor_submit` stops at `error :`";
                self.found.push((at, error("this statement ends `condor_submit`", text, help)));
            }
            _ => self.assignment(at, text, line),
        }
        self.goes_on(at)
    }

    /// `queue` in an `if` without `endif`: it is read, and ends the file, only if the condition is true.
    pub(super) fn open_at_queue(&mut self, text: &str) {
        let Some((begins, start, end)) = self.open.last().map(|branch| branch.begins) else { return };
        let message = "`queue` is in an `if` without `endif`";
        let help = "write `endif` before it: without it, `queue` is read only where the condition is true";
        let mut found = if self.open.iter().any(|branch| branch.unless_defined) {
            error(message, text, help)
        } else {
            warning(message, text, help).code("odd-command")
        };
        found.span = Span::new(start, end);
        self.found.push((begins, found));
    }

    pub(super) fn after_queue(&mut self, at: usize, text: &str) {
        let help =
            "`condor_submit` 25 rejects the file: write all commands before one `queue`, with its items in a list";
        self.found.push((at, error("statement after `queue`", text, help)));
    }

    /// True if the statements are read here, false if they are not.
    pub(super) fn reads(&self) -> Option<bool> {
        self.open.last().map_or(Some(true), |branch| branch.here)
    }

    pub(super) fn begin(&mut self, at: usize, text: &str, condition: &str) {
        let reads = if self.reads() == Some(false) { Some(false) } else { self.condition(at, text, condition, "if") };
        let is_defined = condition.to_ascii_lowercase().starts_with("defined ") && reads.is_none() && !self.includes;
        let begins = (at, text.len() - text.trim_start().len(), text.trim_end().len());
        self.open(IfBranch { reads, here: None, any: reads, after_else: false, unless_defined: is_defined, begins });
    }

    /// Begins a branch inside of those that are open.
    fn open(&mut self, branch: IfBranch) {
        let here = match (self.reads(), branch.reads) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        self.open.push(IfBranch { here, ..branch });
    }

    /// The value of a condition, if it is known; one that is not understood is reported.
    pub(super) fn condition(&mut self, at: usize, text: &str, condition: &str, word: &str) -> Option<bool> {
        self.expanded.push((condition.to_owned(), at));
        let (negated, plain) = match condition.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, condition),
        };
        match condition_value(plain, &|name| self.is_set(name)) {
            Ok(value) => value.map(|value| value != negated),
            Err(()) => {
                let message = format!("`{plain}` is not a condition that `{word}` understands");
                let help = "`if` takes one word or macro that is true or false, `defined NAME` or `version >= 25.0`";
                self.found.push((at, error(message, text, help)));
                None
            }
        }
    }

    /// Returns true if a name has a value for certain; other places than the file may set it as well.
    pub(super) fn is_set(&self, name: &str) -> bool {
        let all = self.values.get(&name.to_ascii_lowercase());
        all.is_some_and(|all| all.len() == 1 && !all[0].0.is_empty() && !self.includes)
    }

    pub(super) fn branch(&mut self, at: usize, text: &str, word: &str, condition: &str) {
        if word == "endif" {
            if self.open.pop().is_none() {
                self.found.push((at, error("`endif` without `if`", text, STOPS)));
            }
            return;
        }
        let Some(outer) = self.open.pop() else {
            self.found.push((at, error(format!("`{word}` without `if`"), text, STOPS)));
            return;
        };
        if outer.after_else {
            self.found.push((at, error(format!("`{word}` after `else`"), text, STOPS)));
        }
        let is_read = self.reads() != Some(false);
        let own = match word {
            "elif" if is_read && outer.any != Some(true) => self.condition(at, text, condition, "elif"),
            "elif" => Some(false),
            _ => Some(true),
        };
        let reads = match (outer.any, own) {
            (Some(true), _) | (_, Some(false)) => Some(false),
            (Some(false), own) => own,
            (None, _) => None,
        };
        let any = match (outer.any, reads) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        let branch = IfBranch {
            reads: if is_read { reads } else { Some(false) },
            here: None,
            any,
            after_else: word == "else",
            unless_defined: false,
            begins: outer.begins,
        };
        self.open(branch);
    }

    /// `include KEYWORDS : FILE`.
    pub(super) fn include(&mut self, at: usize, text: &str, rest: &str) {
        let Some((keywords, file)) = rest.split_once(':') else {
            self.found.push((at, error("expected `include : file`", text, STOPS)));
            return;
        };
        if let Some(inner) = file.trim().strip_prefix('"').and_then(|file| file.strip_suffix('"'))
            && keywords.trim().is_empty()
        {
            let message = "the quotes are a part of the name of the file";
            self.found.push((at, error(message, text, format!("write `include : {inner}`"))));
        }
        let mut words = keywords.split_whitespace().peekable();
        words.next_if(|word| matches!(*word, "ifexist" | "ifexists"));
        let command = words.next_if(|word| matches!(*word, "command" | "output")).is_some();
        if command && words.next_if(|word| *word == "into").is_some() {
            words.next();
        }
        if let Some(word) = words.next() {
            let help = STOPS;
            self.found.push((at, error(format!("`{word}` is not a keyword of `include`"), text, help)));
        }
        self.includes = true;
    }

    /// `use CATEGORY : NAMES`.
    pub(super) fn template(&mut self, at: usize, text: &str, rest: &str) {
        let Some((category, names)) = rest.split_once(':') else {
            self.found.push((at, error("expected `use category : name`", text, STOPS)));
            return;
        };
        let category = category.trim().to_ascii_lowercase();
        match category.as_str() {
            // The access point defines the others.
            "template" => self.includes = true,
            "strict" => {
                let is_known = |name: &str| ["true", "false", "harsh"].iter().any(|one| name.eq_ignore_ascii_case(one));
                let mut all = names.split([',', ' ', '\t']).filter(|name| !name.is_empty());
                if let Some(name) = all.find(|name| !is_known(name)) {
                    let message = format!("`{name}` is not a template of `use STRICT`");
                    self.found.push((at, error(message, text, "write `TRUE`, `FALSE` or `HARSH`")));
                }
            }
            _ => {
                let message = format!("`{category}` is not a category of templates");
                self.found.push((at, error(message, text, "write `use TEMPLATE : name` or `use STRICT : name`")));
            }
        }
    }

    pub(super) fn assignment(&mut self, at: usize, text: &str, line: &str) {
        let Some(equals) = line.find('=') else {
            let message = format!("expected `name = value`, found `{line}`");
            let first = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
            let is_dag = matches!(first.as_str(), "JOB" | "PARENT" | "SCRIPT" | "SUBDAG" | "SPLICE" | "VARS" | "FINAL");
            let found = error(message, text, STOPS);
            let is_branch = self.found.iter().any(|(other, one)| *other == at && one.code == "odd-command");
            self.forget(at);
            self.found.push((
                at,
                match (is_branch, is_dag) {
                    (true, _) => found.more_help("write `elif`"),
                    (_, true) => found.more_help("a DAG is submitted with `condor_submit_dag`"),
                    _ => found,
                },
            ));
            return;
        };
        let (name, value) = (line[..equals].trim_end(), line[equals + 1..].trim());
        if let Some(block) = name.strip_suffix('@') {
            let name = block.trim().to_ascii_lowercase();
            self.values.insert(name.clone(), vec![(String::new(), at)]);
            self.doubtful.insert(at);
            self.tag = Some((format!("@{value}"), name));
            return;
        }
        let (name, appends) = appended(name);
        if !is_name(name) {
            self.found.push((at, error(format!("`{name}` is not a name"), text, STOPS)));
            return;
        }
        let lower = command_name(name);
        let refers = appends || refers_to(value, &lower);
        if refers || self.reads() != Some(true) {
            self.doubtful.insert(at);
        }
        // Only the last value of a name counts.
        if self.reads() == Some(true) && !refers {
            let earlier = self.values.remove(&lower).unwrap_or_default();
            for (_, earlier) in &earlier {
                self.forget(*earlier);
                self.replaced.insert(*earlier);
            }
            if let Some((_, earlier)) = earlier.last().filter(|(before, _)| before != value)
                && (is_command(&lower) || lower.starts_with("my."))
            {
                let shown = text[text.len() - text.trim_start().len()..].split('=').next().unwrap_or_default().trim();
                let message = format!("`{shown}` is set again, so the earlier value has no effect");
                let help = "remove one of them, or write both values into one";
                self.found.push((at, warning(message, text, help).code("redefined-knob")));
                self.earlier.insert(at, *earlier);
            }
        }
        let command = command_of_other(&lower).unwrap_or(&lower);
        if let Some((message, help)) = bad_value(command, value) {
            self.found.push((at, error(message, text, help)));
        } else if value.len() <= MAX_TEXT
            && let Some((message, help)) = odd_value(command, value)
        {
            self.found.push((at, warning(message, text, help).code("odd-command")));
        }
        self.values.entry(lower).or_default().push((value.to_owned(), at));
    }

    /// The last value of the first of some names that has one.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Assigned> {
        let last = |name: &&str| self.values.get(*name).and_then(|all| all.last());
        names.iter().find_map(last).filter(|(value, _)| !value.is_empty())
    }

    /// Tests whether a name has a value in some case.
    pub(super) fn may_have(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|all| all.iter().any(|(value, _)| !value.is_empty()))
            || self.is_of_items(name)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.value(names).is_some() || names.iter().any(|name| self.is_of_items(name))
    }

    /// Tests whether the items of the queue statement set a command.
    pub(super) fn is_of_items(&self, name: &str) -> bool {
        let others = other_names::others(name);
        let is_it =
            |one: &String| one.eq_ignore_ascii_case(name) || others.iter().any(|other| one.eq_ignore_ascii_case(other));
        self.queued.as_ref().is_some_and(|(_, names)| names.iter().any(is_it))
    }

    /// The statement that queues, or the last one.
    pub(super) fn queue(&self) -> usize {
        self.queued.as_ref().map_or(0, |(at, _)| *at)
    }

    /// The variables that items set, with the statement.
    pub(super) fn queue_names(&self) -> Option<&(usize, Vec<String>)> {
        self.queued.as_ref()
    }
}

/// Returns true if Requirements refer to themselves, or to those of slots: `condor_submit` does not distinguish scopes (`GetExprReferences` in
/// HTCondor's `submit_utils.cpp`).
pub(super) fn itself(value: &str) -> bool {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let Ok(expr) = parse_expr(value.as_bytes(), &options) else { return false };
    let tree = expr.tree();
    tree.references(expr.root()).any(|reference| reference.name.folded() == b"requirements")
}

/// Returns true if a value contains `$(name)`.
pub(super) fn refers_to(value: &str, name: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower
        .match_indices("$(")
        .any(|(at, _)| lower[at + 2..].strip_prefix(name).is_some_and(|rest| rest.starts_with([')', ':'])))
}

/// The value of a condition of `if`, without `!`: `None` if it depends on a macro, a version, or a name that other places
/// may set; an error if it is not a condition.
fn condition_value(text: &str, is_set: &dyn Fn(&str) -> bool) -> Result<Option<bool>, ()> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let (first, count) = (words.next().ok_or(())?, lower.split_whitespace().count());
    match first {
        "defined" => match words.next() {
            None => Ok(Some(false)),
            Some("use") => Ok(None),
            Some(name) if count == 2 => Ok(is_set(name).then_some(true)),
            Some(_) => Err(()),
        },
        "version" => {
            let rest = lower["version".len()..].trim();
            let version = rest.trim_start_matches(['<', '>', '=', '!']);
            let (operator, version) = (rest.len() - version.len(), version.trim());
            let mut parts = version.trim_start_matches('v').split('.');
            let mut number = || {
                let part = parts.next().unwrap_or_default();
                let digits = part.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(part.len());
                part[..digits].parse::<u32>().ok()
            };
            let (major, minor) = (number(), number());
            let valid = operator > 0 && major.is_some_and(|major| major >= 6) && minor.is_some();
            if valid || version.contains('$') { Ok(None) } else { Err(()) }
        }
        _ if count > 1 => Err(()),
        word if word.contains('$') => Ok(None),
        "true" | "yes" | "t" => Ok(Some(true)),
        "false" | "no" | "f" => Ok(Some(false)),
        number => number.parse::<f64>().map(|number| Some(number != 0.0)).map_err(|_| ()),
    }
}

/// The name that a statement sets, lower case: `+Name` and `-Name` are `my.name`.
pub(super) fn command_name(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    let attribute = lower.strip_prefix('+').or_else(|| lower.strip_prefix('-'));
    attribute.map_or(lower.clone(), |attribute| format!("my.{attribute}"))
}

/// The help of a statement at which `condor_submit` stops.
const STOPS: &str = "`condor_submit` rejects the file";
