//! Submit files that `condor_submit` rejects: statements it does not read, values it does not take, and what is missing.
//!
//! In: the statements of a file. Out: errors, each of which ends `condor_submit -dry-run` of HTCondor 25.14.1, and
//! warnings for macros without a use, as it prints them.

use std::collections::BTreeMap;

use super::commands::{CommandKind, is_command, kind};
use super::submit::queue_arguments;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, Diagnostic, ParseOptions, Span};

/// A finding in the statement with a number.
type Refused = (usize, Diagnostic);

/// A file as far as it was read.
#[derive(Default)]
struct Reading {
    /// For each open `if`, true after its `else`.
    open: Vec<bool>,
    /// A `queue` was read.
    queued: bool,
    /// Another file, or a template, may set anything.
    includes: bool,
    /// The tag that ends a value of several lines.
    tag: Option<String>,
    /// Values of commands and macros, lower case, with the number of their statement.
    values: BTreeMap<String, (String, usize)>,
    found: Vec<Refused>,
}

/// The findings of the statements of a submit file, each with the index of its statement.
/// `endless` is true if the list of items of the last `queue` has no end.
pub(super) fn check(statements: &[String], endless: bool, is_referenced: &dyn Fn(&str) -> bool) -> Vec<Refused> {
    let mut reading = Reading::default();
    for (at, statement) in statements.iter().enumerate() {
        if !reading.statement(at, statement) {
            return reading.found;
        }
    }
    if let Some(last) = statements.last().filter(|_| endless) {
        let message = "the list of items has no closing `)`";
        reading.found.push((statements.len() - 1, error(message, last, "write `)` on a line of its own")));
    } else if reading.queued && !reading.includes {
        reading.whole(statements);
        reading.unused(statements, is_referenced);
    }
    reading.found
}

fn error(message: impl Into<String>, text: &str, help: impl Into<Box<str>>) -> Diagnostic {
    let start = text.len() - text.trim_start().len();
    let span = Span::new(start, text.trim_end().len().max(start));
    Diagnostic::error(message, span).help(help).code("rejected-submit")
}

impl Reading {
    /// Reads a statement; returns false if `condor_submit` stops there.
    fn statement(&mut self, at: usize, text: &str) -> bool {
        let line = text.trim();
        if let Some(tag) = &self.tag {
            if line == tag {
                self.tag = None;
            }
            return true;
        }
        if line.is_empty() || line.starts_with('#') {
            return true;
        }
        if let Some(arguments) = queue_arguments(line.as_bytes()) {
            let arguments = String::from_utf8_lossy(arguments).trim().to_owned();
            if self.queued {
                self.after_queue(at, text);
                return false;
            }
            self.queued = true;
            let fault = queue_fault(&arguments);
            let goes_on = fault.is_none();
            self.found.extend(fault.map(|(message, help)| (at, error(message, text, help))));
            return goes_on;
        }
        if self.queued {
            self.after_queue(at, text);
            return false;
        }
        let word = line.split(|sign: char| !sign.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
        let rest = line[word.len()..].trim();
        match word.as_str() {
            "if" if !rest.starts_with('=') => self.condition(at, text, rest),
            "elif" | "else" | "endif" if !rest.starts_with('=') => self.branch(at, text, &word),
            "include" | "use" if !rest.starts_with('=') => self.includes = true,
            "warning" if rest.starts_with(':') => {}
            "error" if rest.starts_with(':') => {
                let help = "`condor_submit` stops at `error :`";
                self.found.push((at, error("this statement ends `condor_submit`", text, help)));
            }
            _ => self.assignment(at, text, line),
        }
        // It goes on after a bad value.
        !self.found.iter().any(|(other, found)| *other == at && found.help.as_deref() == Some(STOPS))
    }

    fn after_queue(&mut self, at: usize, text: &str) {
        let help =
            "`condor_submit` 25 rejects the file: write all commands before one `queue`, with its items in a list";
        self.found.push((at, error("statement after `queue`", text, help)));
    }

    fn condition(&mut self, at: usize, text: &str, condition: &str) {
        let nested = !self.open.is_empty();
        self.open.push(false);
        let condition = condition.trim_start_matches(['!', ' ']);
        let lower = condition.to_ascii_lowercase();
        let words = condition.split_whitespace().count();
        let plain = match lower.split_whitespace().next() {
            Some("defined") => words <= 2,
            Some("version") => {
                let version = lower["version".len()..].trim().trim_start_matches(['<', '>', '=', '!']).trim();
                version.contains('$') || version.split('.').all(|part| part.parse::<u32>().is_ok())
            }
            Some(_) => words == 1,
            None => false,
        };
        if !plain && !nested {
            let message = format!("`{condition}` is not a condition that `if` understands");
            let help = "`if` takes one word or macro that is true or false, `defined NAME` or `version >= 25.0`";
            self.found.push((at, error(message, text, help)));
        }
    }

    fn branch(&mut self, at: usize, text: &str, word: &str) {
        let Some(after_else) = self.open.last_mut() else {
            self.found.push((at, error(format!("`{word}` without `if`"), text, STOPS)));
            return;
        };
        if word == "endif" {
            self.open.pop();
        } else if std::mem::replace(after_else, word == "else") {
            self.found.push((at, error(format!("`{word}` after `else`"), text, STOPS)));
        }
    }

    fn assignment(&mut self, at: usize, text: &str, line: &str) {
        let Some(equals) = line.find('=') else {
            let message = format!("expected `name = value`, found `{line}`");
            self.found.push((at, error(message, text, STOPS)));
            return;
        };
        let (name, value) = (line[..equals].trim_end(), line[equals + 1..].trim());
        if let Some(block) = name.strip_suffix('@') {
            self.tag = Some(format!("@{value}"));
            self.values.insert(block.trim().to_ascii_lowercase(), (String::new(), at));
            return;
        }
        let name = if name.starts_with('+') { name } else { name.trim_end_matches('+').trim_end() };
        let (plus, bare) = name.strip_prefix('+').map_or((false, name), |bare| (true, bare));
        let odd = |sign: char| !(sign.is_ascii_alphanumeric() || "_./:".contains(sign));
        let invalid =
            if plus { bare.contains(char::is_whitespace) } else { bare.trim_start_matches('-').contains(odd) };
        if bare.is_empty() || invalid {
            self.found.push((at, error(format!("`{name}` is not a name"), text, STOPS)));
            return;
        }
        let lower = command_name(name);
        // Only the last value of a name counts.
        if let Some((_, earlier)) = self.values.get(&lower).filter(|_| self.open.is_empty()) {
            let earlier = *earlier;
            self.found.retain(|(other, _)| *other != earlier);
        }
        if let Some((message, help)) = bad_value(&lower, value) {
            self.found.push((at, error(message, text, help)));
        }
        self.values.insert(lower, (value.to_owned(), at));
    }

    fn value(&self, names: &[&str]) -> Option<&(String, usize)> {
        names.iter().find_map(|name| self.values.get(*name)).filter(|(value, _)| !value.is_empty())
    }

    /// Reports the parts that the whole file lacks or contradicts.
    fn whole(&mut self, statements: &[String]) {
        let universe = self.value(&["universe", "jobuniverse"]).cloned();
        let at = universe.as_ref().map_or_else(|| queue(statements), |(_, at)| *at);
        let name = universe.map_or_else(String::new, |(name, _)| name.to_ascii_lowercase());
        let has = |names: &[&str]| self.value(names).is_some();
        let missing = match name.as_str() {
            "container" | "docker" if has(&["container_image"]) && name == "docker" => {
                Some(("`container_image` in the docker universe", "write `universe = container`"))
            }
            "docker" if !has(&["docker_image"]) => {
                Some(("the docker universe needs `docker_image`", "add `docker_image = …`"))
            }
            "container" if !has(&["container_image", "docker_image"]) => {
                Some(("the container universe needs `container_image`", "add `container_image = …`"))
            }
            "grid" | "9" if !has(&["grid_resource"]) => {
                Some(("the grid universe needs `grid_resource`", "add `grid_resource = …`"))
            }
            "vm" | "13" if !has(&["vm_memory", "request_memory"]) => {
                Some(("the vm universe needs `vm_memory`", "add `vm_memory = …`"))
            }
            "parallel" | "mpi" | "11" | "8" if !has(&["machine_count", "machinecount", "node_count", "nodecount"]) => {
                Some(("the parallel universe needs `machine_count`", "add `machine_count = …`"))
            }
            "java" | "10" if !has(&["arguments", "args"]) => {
                Some(("the java universe needs the name of a class", "add `arguments = Class`"))
            }
            _ => None,
        };
        let runs = !matches!(name.as_str(), "docker" | "container" | "vm" | "grid" | "9" | "13") && !name.contains('$');
        let image = has(&["container_image", "docker_image"]);
        let exe = ["executable", "cmd"];
        if let Some((message, help)) = missing {
            self.found.push((at, error(message, &statements[at], help)));
        } else if runs && !image && !exe.iter().any(|name| self.values.contains_key(*name)) {
            let at = queue(statements);
            self.found.push((at, error("there is no `executable`", &statements[at], "add `executable = …`")));
        }
        self.transfers(statements);
        self.circles(statements);
    }

    /// `should_transfer_files = NO` with files to transfer.
    fn transfers(&mut self, statements: &[String]) {
        let no =
            |(value, _): &&(String, usize)| ["no", "false", "never"].iter().any(|no| value.eq_ignore_ascii_case(no));
        let Some((_, at)) = self.value(&["should_transfer_files"]).filter(no).cloned() else { return };
        let exit = |(value, _): &&(String, usize)| value.to_ascii_lowercase().starts_with("on_");
        let other = self.value(&["transfer_input_files"]).map(|(_, at)| ("transfer_input_files", *at));
        let when =
            self.value(&["when_to_transfer_output"]).filter(exit).map(|(_, at)| ("when_to_transfer_output", *at));
        if let Some((name, _)) = other.or(when) {
            let message = format!("`should_transfer_files` is off, and `{name}` is set");
            self.found.push((at, error(message, &statements[at], format!("remove `{name}`, or write `YES`"))));
        }
    }

    /// Macros that refer to each other in a circle: `condor_submit` does not end.
    fn circles(&mut self, statements: &[String]) {
        let refers = |value: &str| -> Vec<String> {
            let names = value.match_indices("$(").filter_map(|(at, _)| {
                let end = value[at..].find([')', ':'])?;
                Some(value[at + 2..at + end].to_ascii_lowercase())
            });
            names.collect()
        };
        let next: BTreeMap<&String, Vec<String>> =
            self.values.iter().map(|(name, (value, _))| (name, refers(value))).collect();
        for (name, (_, at)) in &self.values {
            let (mut open, mut seen) = (next[name].clone(), Vec::new());
            open.retain(|other| other != name);
            while let Some(one) = open.pop().filter(|_| seen.len() < 1000) {
                if one == *name {
                    let message = format!("`{name}` refers to itself through `$(…)`");
                    let help = "`condor_submit` never ends expanding it";
                    self.found.push((*at, error(message, &statements[*at], help)));
                    return;
                }
                if !seen.contains(&one) {
                    open.extend(next.get(&one).cloned().unwrap_or_default());
                    seen.push(one);
                }
            }
        }
    }

    /// Macros without a reference, of which `condor_submit` asks whether they are typos.
    fn unused(&mut self, statements: &[String], is_referenced: &dyn Fn(&str) -> bool) {
        for (name, (_, at)) in &self.values {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !plain || is_command(name) || is_referenced(name) {
                continue;
            }
            let text = &statements[*at];
            let start = text.len() - text.trim_start().len();
            let shown = &text[start..(start + name.len()).min(text.len())];
            let message = format!("nothing refers to `{shown}`, and it is not a command");
            let warning = Diagnostic::warning(message, Span::new(start, start + name.len()));
            let help = "correct the name, or write `+Name` for an attribute of the job";
            self.found.push((*at, warning.help(help).code("unknown-command")));
        }
    }
}

/// The index of the `queue` statement.
fn queue(statements: &[String]) -> usize {
    let is_queue = |line: &String| queue_arguments(line.trim().as_bytes()).is_some();
    statements.iter().position(is_queue).unwrap_or(0)
}

/// The name that a statement sets, lower case: `+Name` is `my.name`.
pub(super) fn command_name(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    lower.strip_prefix('+').map_or(lower.clone(), |attribute| format!("my.{attribute}"))
}

/// The help of a statement at which `condor_submit` stops.
const STOPS: &str = "`condor_submit` rejects the file";

/// The fault of the arguments of `queue`.
fn queue_fault(arguments: &str) -> Option<(String, &'static str)> {
    let help = "write `queue N`, `queue N name in (items)`, `queue name from file` or `queue name matching pattern`";
    let first = arguments.lines().next().unwrap_or_default();
    if first.starts_with('=') {
        return Some(("`queue` is a command, not a macro".into(), help));
    }
    let words: Vec<&str> = first.split(|sign: char| sign.is_whitespace() || "(,".contains(sign)).collect();
    let keyword = ["in", "from", "matching"].iter().find_map(|keyword| {
        let at = words.iter().position(|word| word.eq_ignore_ascii_case(keyword))?;
        let offset = words[..at].iter().map(|word| word.len() + 1).sum::<usize>();
        Some((*keyword, offset + keyword.len()))
    });
    if let Some((keyword, end)) = keyword {
        let items = arguments.get(end..).unwrap_or_default().trim();
        if items.is_empty() {
            return Some((format!("`queue … {keyword}` has no items"), help));
        }
        let closed = !items.starts_with('(') || !first.contains(')') || first.trim_end().ends_with(')');
        return (!closed).then(|| ("text after the list of items".into(), help));
    }
    if first.is_empty() || first.contains('$') {
        return None;
    }
    match number(first) {
        None => Some((format!("`{first}` is not a number of jobs"), help)),
        Some(number) if number < 0.0 => Some((format!("`{first}` is not a number of jobs"), help)),
        Some(_) => None,
    }
}

/// The value of a constant that is a boolean or a number.
fn number(text: &str) -> Option<f64> {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let expr = parse_expr(text.as_bytes(), &options).ok()?;
    let mut ad = ClassAd::new();
    ad.insert_expr("Value", &expr);
    ad.eval_real("Value").or_else(|| Some(f64::from(u8::from(ad.eval_bool("Value")?))))
}

/// The fault of a command's value, and its help.
fn bad_value(name: &str, value: &str) -> Option<(String, String)> {
    if value.is_empty() || value.contains('$') {
        return None;
    }
    let one_of = |words: &[&str], shown: &str| {
        let known = words.iter().any(|word| word.eq_ignore_ascii_case(value));
        (!known).then(|| (format!("`{value}` is not a value of `{name}`"), format!("write {shown}")))
    };
    match name {
        "universe" => {
            const KNOWN: [&str; 9] =
                ["vanilla", "scheduler", "mpi", "grid", "java", "parallel", "local", "vm", "docker"];
            let known = [KNOWN.as_slice(), &["container", "5", "7", "8", "9", "10", "11", "12", "13"]].concat();
            one_of(&known, "`vanilla`, `container`, `docker`, `local`, `scheduler`, `parallel`, `grid`, `java` or `vm`")
        }
        "notification" => one_of(
            &["never", "always", "complete", "start", "error"],
            "`Never`, `Always`, `Complete`, `Start` or `Error`",
        ),
        "should_transfer_files" => {
            one_of(&["yes", "no", "if_needed", "true", "false", "always", "never"], "`YES`, `NO` or `IF_NEEDED`")
        }
        "when_to_transfer_output" => {
            let known = [
                "on_exit",
                "onexit",
                "on_exit_or_evict",
                "on_success",
                "always",
                "never",
                "yes",
                "no",
                "true",
                "false",
            ];
            one_of(&known, "`ON_EXIT`, `ON_EXIT_OR_EVICT` or `ON_SUCCESS`")
        }
        "arguments" | "args" => quotes_fault(value).map(|fault| {
            let help =
                "write `arguments = \"a 'b c' \"\"d\"\"\"`, in double quotes as a whole, or none at all".to_owned();
            (fault, help)
        }),
        "environment" | "env" => environment_fault(value)
            .map(|fault| (fault, "write `environment = \"NAME=value OTHER='with blanks'\"`".to_owned())),
        "accounting_group" | "accounting_group_user" => value
            .contains(char::is_whitespace)
            .then(|| (format!("`{value}` is not a value of `{name}`"), "write one name without blanks".to_owned())),
        "concurrency_limits" => {
            let is_name = |item: &&str| {
                let name = item.split(':').next().unwrap_or_default();
                let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
                first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
            };
            let items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
            let odd = items.filter(|item| !is_name(item)).collect::<Vec<_>>();
            let odd = odd.first()?;
            let help = "a limit is a name of letters, digits, `_` and `.`, perhaps with `:amount`".to_owned();
            Some((format!("`{odd}` is not a concurrency limit"), help))
        }
        "cuda_version" => {
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let plain = value.split('.').count() <= 2 && value.split('.').all(digits);
            (!plain).then(|| (format!("`{value}` is not a value of `{name}`"), "write `11` or `11.5`".to_owned()))
        }
        _ => {
            let (what, is_right) = match kind(name)? {
                CommandKind::Boolean => ("a boolean", number(value).is_some()),
                CommandKind::Integer => ("a number", number(value).is_some()),
                CommandKind::Expression => return None,
            };
            (!is_right).then(|| (format!("`{name}` is `{value}`: expected {what}"), format!("write {what}")))
        }
    }
}

/// The fault of quotes in arguments.
fn quotes_fault(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix('"') else {
        let mut before = ' ';
        let odd = value.chars().any(|sign| std::mem::replace(&mut before, sign) != '\\' && sign == '"');
        return odd.then(|| "a double quote inside of arguments without quotes around them".to_owned());
    };
    let Some(inner) = inner.strip_suffix('"') else { return Some("there is no closing double quote".to_owned()) };
    let plain = inner.replace("\"\"", "");
    if plain.contains('"') {
        return Some("a double quote inside is written twice, `\"\"`".to_owned());
    }
    (plain.matches('\'').count() % 2 == 1).then(|| "there is no closing single quote".to_owned())
}

fn environment_fault(value: &str) -> Option<String> {
    let without = |entry: &str| {
        let entry = entry.trim();
        (!entry.is_empty() && !entry.contains('=')).then(|| format!("`{entry}` has no `=`"))
    };
    if !value.starts_with('"') {
        return value.split(';').find_map(without);
    }
    if let Some(fault) = quotes_fault(value) {
        return Some(fault);
    }
    // Blanks inside of single quotes do not separate.
    let mut inside = false;
    let inner: String = value[1..value.len() - 1]
        .chars()
        .map(|sign| {
            inside ^= sign == '\'';
            if inside && sign.is_whitespace() { '_' } else { sign }
        })
        .collect();
    inner.split_whitespace().find_map(without)
}
