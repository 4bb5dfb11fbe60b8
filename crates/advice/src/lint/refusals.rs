//! Submit files that `condor_submit` rejects: statements it does not read, values it does not take, and what is missing.
//!
//! In: the statements of a file. Out: errors, each of which ends `condor_submit -dry-run` of HTCondor 25.14.1, and
//! warnings for values that another statement replaces. Statements of an `if` that is certainly false are not read.
//! One file: the checks share what was assigned before a statement.

use std::collections::{BTreeMap, BTreeSet};

use super::commands::{is_command, needs};
use super::slips::Slips;
use super::submit_macros::Macros;
use super::submit_odd::{odd_value, of_shell};
use super::submit_values::{bad_value, grid_fault, is_size_unit};
use crate::submit::queue::{ItemKind, ItemList, PathKind, QueueStatement, Slice, number};
use crate::submit::statements::{appended, is_name, queue_arguments};
use classmate::internal::diagnostic::Severity;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, ParseOptions, Span};

/// A finding in the statement with a number.
pub(super) type Refused = (usize, Diagnostic);

/// A branch of an `if`.
struct IfBranch {
    /// True if its statements are read; `None` if that depends on what the file does not say.
    reads: Option<bool>,
    /// True if it or an earlier branch is read.
    any: Option<bool>,
    /// An `else` was read.
    after_else: bool,
    /// The branch is read only if a name is defined that the file does not define.
    unless_defined: bool,
}

/// A value of a command or macro, and the number of its statement.
pub(super) type Assigned = (String, usize);

/// A file as far as it was read.
#[derive(Default)]
pub(super) struct Reading {
    /// The branches of the open `if` statements.
    open: Vec<IfBranch>,
    /// The statement that queues, with the variables that its items set.
    queued: Option<(usize, Vec<String>)>,
    /// The items are in a file, of which jobs may use some columns.
    pub(super) table: bool,
    /// Another file, or a template, may set anything.
    pub(super) includes: bool,
    /// The tag that ends a value of several lines, and the name that has the value.
    tag: Option<(String, String)>,
    /// Values of commands and macros, lower case: those that may be the last, in order.
    pub(super) values: BTreeMap<String, Vec<Assigned>>,
    /// The texts of conditions and of `queue`, which are expanded when they are read.
    pub(super) expanded: Vec<Assigned>,
    /// The statements that are certainly not read, and those whose value is certainly replaced.
    pub(super) unread: BTreeSet<usize>,
    pub(super) replaced: BTreeSet<usize>,
    /// Statements that replace the value of an earlier one, and that one.
    pub(super) earlier: BTreeMap<usize, usize>,
    pub(super) found: Vec<Refused>,
    /// The statements of which the findings so far do not count, and the number of all findings then.
    forgotten: BTreeMap<usize, usize>,
}

/// Reads the statements of a submit file. `endless` is true if the list of items of the last `queue` has no end.
pub(super) fn read(statements: &[String], endless: bool) -> Reading {
    let mut reading = read_all(statements, endless);
    let forgotten = std::mem::take(&mut reading.forgotten);
    let counts = |(at, (statement, _)): &(usize, Refused)| forgotten.get(statement).is_none_or(|count| at >= count);
    reading.found =
        std::mem::take(&mut reading.found).into_iter().enumerate().filter(counts).map(|(_, one)| one).collect();
    reading
}

fn read_all(statements: &[String], endless: bool) -> Reading {
    let mut reading = Reading::default();
    for (at, statement) in statements.iter().enumerate() {
        if !reading.statement(at, statement) {
            return reading;
        }
    }
    if let Some(last) = statements.last().filter(|_| endless) {
        let message = "the list of items has no closing `)` at the beginning of a line";
        reading.found.push((statements.len() - 1, error(message, last, "write `)` on a line of its own")));
        return reading;
    }
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

/// The commands that jobs on EC2 need, of each row one.
const EC2: &[&[&str]] = &[
    &["ec2_access_key_id", "aws_access_key_id_file"],
    &["ec2_secret_access_key", "aws_secret_access_key_file"],
    &["ec2_ami_id"],
];

/// The commands that jobs on the Google Compute Engine need.
const GCE: &[&[&str]] = &[&["gce_image"], &["gce_machine_type"]];

/// The commands that jobs on Azure need.
const AZURE: &[&[&str]] =
    &[&["azure_image"], &["azure_location"], &["azure_size"], &["azure_admin_username"], &["azure_admin_key"]];

/// The commands that name the program.
const EXECUTABLE: [&str; 3] = ["executable", "cmd", "shell"];

impl Reading {
    /// Reads a statement; returns false if `condor_submit` stops there.
    fn statement(&mut self, at: usize, text: &str) -> bool {
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
    fn goes_on(&self, at: usize) -> bool {
        let mut of_statement = self.found.iter().rev().take_while(|(other, _)| *other == at);
        !of_statement.any(|(_, found)| found.help.as_deref() == Some(STOPS))
    }

    /// Drops the findings about a statement.
    fn forget(&mut self, at: usize) {
        self.forgotten.insert(at, self.found.len());
    }

    /// Reads a statement that does not branch.
    fn plain(&mut self, at: usize, text: &str, line: &str) -> bool {
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
            if queue.and_then(|queue| queue.slice).is_some_and(Slice::is_empty) {
                let message = "the slice has no items, so there are no jobs";
                let help = "write `[first:end]`, with a larger end";
                self.found.push((at, warning(message, text, help).code("odd-command")));
            }
            self.open_at_queue(at, text);
            let plain = arguments.split('(').next().unwrap_or_default().to_ascii_lowercase();
            let words: Vec<&str> = plain.split_whitespace().collect();
            if let [.., "matching"] | [.., "matching", "files" | "dirs" | "any"] = words.as_slice()
                && !arguments.contains('(')
            {
                let message = "`matching` has no pattern, so there are no jobs";
                self.found.push((at, warning(message, text, "write the patterns behind it").code("odd-command")));
            }
            if plain.contains("matching from ") {
                let message = "`from` is a pattern here, as `matching` takes patterns";
                let help = "write `matching files` and the patterns";
                self.found.push((at, warning(message, text, help).code("odd-command")));
            }
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
    fn open_at_queue(&mut self, at: usize, text: &str) {
        if self.open.is_empty() {
            return;
        }
        let message = "`queue` is in an `if` without `endif`";
        let help = "write `endif` before it: without it, `queue` is read only where the condition is true";
        let found = if self.open.iter().any(|branch| branch.unless_defined) {
            error(message, text, help)
        } else {
            warning(message, text, help).code("odd-command")
        };
        self.found.push((at, found));
    }

    fn after_queue(&mut self, at: usize, text: &str) {
        let help =
            "`condor_submit` 25 rejects the file: write all commands before one `queue`, with its items in a list";
        self.found.push((at, error("statement after `queue`", text, help)));
    }

    /// True if the statements are read here, false if they are not.
    fn reads(&self) -> Option<bool> {
        let mut all = self.open.iter().map(|branch| branch.reads);
        if self.open.iter().any(|branch| branch.reads == Some(false)) {
            Some(false)
        } else {
            all.all(|reads| reads == Some(true)).then_some(true)
        }
    }

    fn begin(&mut self, at: usize, text: &str, condition: &str) {
        let reads = if self.reads() == Some(false) { Some(false) } else { self.condition(at, text, condition, "if") };
        let is_defined = condition.to_ascii_lowercase().starts_with("defined ") && reads.is_none() && !self.includes;
        self.open.push(IfBranch { reads, any: reads, after_else: false, unless_defined: is_defined });
    }

    /// The value of a condition, if it is known; one that is not understood is reported.
    fn condition(&mut self, at: usize, text: &str, condition: &str, word: &str) -> Option<bool> {
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
    fn is_set(&self, name: &str) -> bool {
        let all = self.values.get(&name.to_ascii_lowercase());
        all.is_some_and(|all| all.len() == 1 && !all[0].0.is_empty() && !self.includes)
    }

    fn branch(&mut self, at: usize, text: &str, word: &str, condition: &str) {
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
            any,
            after_else: word == "else",
            unless_defined: false,
        };
        self.open.push(branch);
    }

    /// `include KEYWORDS : FILE`.
    fn include(&mut self, at: usize, text: &str, rest: &str) {
        let Some((keywords, _)) = rest.split_once(':') else {
            self.found.push((at, error("expected `include : file`", text, STOPS)));
            return;
        };
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
    fn template(&mut self, at: usize, text: &str, rest: &str) {
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

    fn assignment(&mut self, at: usize, text: &str, line: &str) {
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
        if let Some((message, help)) = bad_value(&lower, value) {
            self.found.push((at, error(message, text, help)));
        } else if let Some((message, help)) = odd_value(&lower, value) {
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
    fn is_of_items(&self, name: &str) -> bool {
        self.queued.as_ref().is_some_and(|(_, names)| names.iter().any(|one| one.eq_ignore_ascii_case(name)))
    }

    /// Reports the parts that the whole file lacks or contradicts.
    fn whole(&mut self, statements: &[String]) {
        if !self.open.is_empty() && self.queued.is_none() {
            let at = statements.len() - 1;
            self.found.push((at, error("`if` without `endif`", &statements[at], "write `endif`")));
        }
        let universe = self.value(&["universe", "jobuniverse"]).cloned();
        let at = universe.as_ref().map_or_else(|| self.queue(), |(_, at)| *at);
        let name = universe.map_or_else(String::new, |(name, _)| name.to_ascii_lowercase());
        let has = |names: &[&str]| self.has(names);
        let missing = match name.as_str() {
            "container" | "docker" if has(&["container_image"]) && name == "docker" => {
                Some(("`container_image` in the docker universe", "write `universe = container`"))
            }
            "docker" if !has(&["docker_image", "dockerimage"]) => {
                Some(("the docker universe needs `docker_image`", "add `docker_image = …`"))
            }
            "container" if !has(&["container_image", "docker_image", "containerimage", "dockerimage"]) => {
                Some(("the container universe needs `container_image`", "add `container_image = …`"))
            }
            "grid" | "9" if !has(&["grid_resource"]) => {
                Some(("the grid universe needs `grid_resource`", "add `grid_resource = …`"))
            }
            "vm" | "13" if !has(&["vm_memory", "request_memory"]) => {
                Some(("the vm universe needs `vm_memory`", "add `vm_memory = …`"))
            }
            "vm" | "13" if self.value(&["vm_type"]).is_some_and(|(kind, _)| kind.eq_ignore_ascii_case("vmware")) => {
                Some(("`vmware` is no longer a type of virtual machines", "write `vm_type = kvm`"))
            }
            "vm" | "13" if !has(&["vm_disk"]) && has(&["vm_type"]) => {
                Some(("the vm universe needs `vm_disk`", "add `vm_disk = …`"))
            }
            "parallel" | "mpi" | "11" | "8" if !has(&["machine_count", "machinecount", "node_count", "nodecount"]) => {
                Some(("the parallel universe needs `machine_count`", "add `machine_count = …`"))
            }
            "java" | "10" if !has(&["arguments", "args"]) => {
                Some(("the java universe needs the name of a class", "add `arguments = Class`"))
            }
            _ => None,
        };
        let runs = !matches!(name.as_str(), "docker" | "container" | "grid" | "9") && !name.contains('$');
        let image = has(&["container_image", "docker_image", "containerimage", "dockerimage"]);
        if let Some((message, help)) = missing {
            self.found.push((at, error(message, &statements[at], help)));
        } else if runs && !image && !EXECUTABLE.iter().any(|name| self.may_have(name)) {
            let at = self.queue();
            self.found.push((at, error("there is no `executable`", &statements[at], "add `executable = …`")));
        }
        if matches!(name.as_str(), "grid" | "9")
            && let Some((value, at)) = self.value(&["grid_resource"]).cloned()
            && let Some((message, help)) = grid_fault(&value).or_else(|| self.cloud(&value))
        {
            self.found.push((at, error(message, &statements[at], help)));
        }
        if matches!(name.as_str(), "vm" | "13") {
            self.virtual_machine(statements);
        }
        if matches!(name.as_str(), "scheduler" | "7")
            && let Some((_, at)) = self.value(&["deferral_time"]).cloned()
        {
            let message = "`deferral_time` cannot be used in the scheduler universe";
            self.found.push((at, error(message, &statements[at], "write `universe = local`")));
        }
        self.both_forms(statements);
        self.transfers(statements);
        self.ignored_commands(statements);
        self.mail(statements);
        self.reasons(statements);
        self.shell_variables(statements);
        self.of_containers(statements);
        self.shared_files(statements);
        self.overwritten(statements);
        self.unread_commands(&name, statements);
        self.policies(statements);
        self.companions(&name, statements);
        self.programs(statements);
        let slips = Slips { values: &self.values, statements }.check();
        self.found.extend(slips);
        for (one, other) in EXCLUSIVE {
            if let (Some((_, a)), Some((_, b))) = (self.value(&[one]), self.value(&[other])) {
                let at = *a.max(b);
                let message = format!("`{one}` and `{other}` cannot be used together");
                self.found.push((at, error(message, &statements[at], "remove one of them")));
            }
        }
        if let Some((value, at)) = self.value(&["requirements"]).cloned()
            && itself(&value)
        {
            let help = "write `$(requirements)` for the earlier value";
            self.found.push((at, error("`requirements` refers to itself", &statements[at], help)));
        }
    }

    /// Commands that `condor_submit` does not read without another one, or in another universe.
    fn unread_commands(&mut self, universe: &str, statements: &[String]) {
        const UNIVERSES: [&str; 7] = ["grid", "vm", "parallel", "mpi", "container", "docker", "java"];
        if universe.contains('$') || universe.bytes().any(|byte| byte.is_ascii_digit()) {
            return;
        }
        let mut found = Vec::new();
        for (name, all) in &self.values {
            let Some(needs) = needs(name) else { continue };
            let is_there = |need: &&str| *need == universe || self.values.contains_key(*need);
            let attribute = |need: &str| format!("my.{}", need.replace('_', ""));
            let is_met = needs.iter().any(|need| {
                let plain = need.replace('_', "");
                is_there(need) || self.values.contains_key(&attribute(need)) || self.values.contains_key(&plain)
            });
            let is_used = self.values.values().flatten().chain(&self.expanded).any(|(text, _)| refers_to(text, name));
            let Some((_, at)) = all.last().filter(|_| !is_met && !is_used) else { continue };
            let (first, is_universe) = (needs[0], UNIVERSES.contains(&needs[0]));
            let (message, help) = if is_universe {
                (format!("`{name}` is not read in this universe"), format!("it is a command of `universe = {first}`"))
            } else {
                (format!("`{name}` is not read without `{first}`"), format!("set `{first}` too, or remove it"))
            };
            found.push((*at, warning(message, &statements[*at], help).code("odd-command")));
        }
        self.found.extend(found);
    }

    /// The log of the events of a job in the file of its output.
    fn shared_files(&mut self, statements: &[String]) {
        let Some((log, at)) = self.value(&["log", "userlog"]).cloned() else { return };
        let is_it = |name: &&str| self.value(&[*name]).is_some_and(|(value, _)| *value == log);
        let Some(other) = ["output", "error"].into_iter().find(is_it).filter(|_| log != "/dev/null") else { return };
        let message = format!("`log` and `{other}` are one file, `{log}`, and overwrite each other");
        let help = "give each a file of its own";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// The command that a kind of cloud needs and the file does not have.
    fn cloud(&self, resource: &str) -> Option<(String, String)> {
        let mut words = resource.split_whitespace();
        let kind = words.next()?.to_ascii_lowercase();
        let needed: &[&[&str]] = match kind.as_str() {
            "ec2" => EC2,
            "gce" => GCE,
            "azure" => AZURE,
            _ => return None,
        };
        if kind == "ec2" && words.next().is_none() {
            let help = "write `ec2 https://…` with the address of the service".to_owned();
            return Some(("`grid_resource` of EC2 has no address".to_owned(), help));
        }
        let has = |name: &&str| {
            let attribute = name.replace('_', "");
            self.may_have(name) || self.may_have(&attribute) || self.may_have(&format!("my.{attribute}"))
        };
        let missing = needed.iter().find(|names| !names.iter().any(has))?;
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        Some((format!("`{kind}` needs {}", names.join(" or ")), format!("add `{} = …`", missing[0])))
    }

    /// Commands of virtual machines that are missing, or are not taken.
    fn virtual_machine(&mut self, statements: &[String]) {
        let is_plain = |(value, _): &&Assigned| !value.contains('$');
        if let Some((value, at)) = self.value(&["vm_disk"]).filter(is_plain).cloned() {
            let odd = |disk: &str| !(3..=4).contains(&(disk.matches(':').count() + 1));
            let permits = |disk: &&str| disk.split(':').nth(2).is_some_and(|way| !matches!(way, "r" | "w" | "rw"));
            if let Some(disk) = value.split(',').map(str::trim).find(|disk| odd(disk)) {
                let message = format!("`{disk}` is not a disk of a virtual machine");
                let help = "write `file:device:permission`, as in `disk.img:sda1:w`, perhaps with `:format`";
                self.found.push((at, error(message, &statements[at], help)));
            } else if let Some(disk) = value.split(',').map(str::trim).find(permits) {
                let message = format!("the permission of the disk `{disk}` is not `r`, `w` or `rw`");
                let help = "write `file:device:w`, or `r` for a disk that is only read";
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
        if let Some((value, at)) = self.value(&["vm_memory"]).filter(is_plain).cloned()
            && (value.parse::<f64>().is_ok_and(|memory| memory <= 0.0) || has_other_unit(&value))
        {
            let message =
                format!("`vm_memory` is `{value}`: expected a number of MiB, or one with a unit such as `GB`");
            self.found.push((at, error(message, &statements[at], "write `vm_memory = 512`")));
        }
        if let Some((value, at)) = self.value(&["vm_macaddr"]).filter(is_plain).cloned() {
            let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            if value.split(':').count() != 6 || !value.split(':').all(is_byte) {
                let message = format!("`{value}` is not the address of a network card");
                let help = "write six bytes, as in `00:11:22:33:44:55`";
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
        let all = ["input", "output", "error", "stdin", "stdout", "stderr"];
        let streams = all.into_iter().find_map(|name| Some((name, self.value(&[name])?.1)));
        if let Some((name, at)) = streams {
            let message = format!("`{name}` cannot be used in the vm universe");
            self.found.push((at, error(message, &statements[at], format!("remove `{name}`"))));
        }
        if let Some((_, at)) = self.value(&["vm_type"]).filter(|(kind, _)| kind.eq_ignore_ascii_case("xen")).cloned()
            && !self.may_have("xen_kernel")
        {
            let help = "add `xen_kernel = included`, or the name of a file";
            self.found.push((at, error("`vm_type = xen` needs `xen_kernel`", &statements[at], help)));
        }
    }

    /// Commands in the old and the new form, which need the word that both are meant.
    fn both_forms(&mut self, statements: &[String]) {
        const FORMS: [(&[&str], &str, &str); 4] = [
            (&["arguments", "args"], "arguments2", "allow_arguments_v1"),
            (&["environment", "env"], "environment2", "allow_environment_v1"),
            (&["tool_daemon_args"], "tool_daemon_arguments", ""),
            (&["java_vm_args"], "java_vm_arguments", ""),
        ];
        for (old, new, allows) in FORMS {
            let (Some(_), Some((_, at))) = (self.value(old), self.value(&[new]).cloned()) else { continue };
            if !allows.is_empty() && self.may_have(allows) {
                continue;
            }
            let message = format!("`{}` and `{new}` cannot be used together", old[0]);
            let more = if allows.is_empty() { String::new() } else { format!(", or write `{allows} = true`") };
            self.found.push((at, error(message, &statements[at], format!("remove one of them{more}"))));
        }
    }

    /// The file of the output of several jobs, which overwrite each other's.
    fn overwritten(&mut self, statements: &[String]) {
        let Some((queue, _)) = &self.queued else { return };
        let arguments = self.expanded.iter().find(|(_, at)| at == queue).map_or("", |(text, _)| text.as_str());
        let statement = QueueStatement::parse(arguments).ok();
        let several = statement.as_ref().is_some_and(|queue| {
            matches!(queue.list, ItemList::Lines(_) | ItemList::File(_)) || matches!(queue.kind, ItemKind::Paths(_))
        });
        let jobs = statement.as_ref().and_then(|queue| Some(queue.jobs()? * items(queue))).unwrap_or_default();
        // How many items there are is not known.
        let (jobs, all) = if several { (2, "all jobs".to_owned()) } else { (jobs, format!("all {jobs} jobs")) };
        // A folder of its own keeps files apart.
        let has_folder =
            ["initialdir", "initial_dir", "iwd", "job_iwd", "my.iwd"].iter().any(|name| self.may_have(name));
        if jobs < 2 || has_folder || self.may_have("noop_job") || self.includes {
            return;
        }
        // The number of the cluster is the same for all of its jobs, and that of a step for one job of each item.
        let items = if several { 2 } else { statement.as_ref().map_or(1, items) };
        let steps = if several { 1 } else { jobs / items.max(1) };
        let of_items: Vec<String> = statement.as_ref().map_or_else(Vec::new, |queue| {
            let names = queue.names.iter().copied().chain(["item", "row", "itemindex"]);
            names.map(|name| format!("$({})", name.to_ascii_lowercase())).collect()
        });
        let is_shared = |value: &str| {
            let plain = value.to_ascii_lowercase().replace("$(clusterid)", "").replace("$(cluster)", "");
            let rest = of_items.iter().fold(plain.replace("$(step)", ""), |rest, name| rest.replace(name, ""));
            let of_step = steps == 1 || plain.contains("$(step)");
            let of_item = items == 1 || of_items.iter().any(|name| plain.contains(name));
            let is_device = value.starts_with("/dev/") || value.eq_ignore_ascii_case("nul");
            !(rest.contains('$') || is_device || of_step && of_item)
        };
        let shared = |name: &&str| self.value(&[*name]).is_some_and(|(value, _)| is_shared(value));
        let name = ["output", "error"].into_iter().find(shared);
        if let Some((name, (value, at))) = name.and_then(|name| Some((name, self.value(&[name]).cloned()?))) {
            let message = format!("{all} write their `{name}` into one file, `{value}`");
            let help = format!("write `{}`", numbered(&value));
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
        let Some((value, at)) = self.value(&["transfer_output_remaps"]).cloned() else { return };
        // Who numbers one of the files knows about the others.
        let plain = Some(value.trim_matches('"')).filter(|value| is_shared(value)).unwrap_or_default();
        let target = plain.split(';').find_map(|item| {
            let (_, target) = item.split_once('=')?;
            Some(target.trim().to_owned()).filter(|target| is_shared(target) && !target.ends_with('/'))
        });
        if let Some(target) = target.filter(|target| !target.contains("://")) {
            let message = format!("{all} bring back one file, `{target}`, and overwrite each other's");
            let help = format!("write `{}`", numbered(&target));
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// Commands of containers in a job without an image.
    fn of_containers(&mut self, statements: &[String]) {
        const IMAGES: [&str; 4] = ["container_image", "docker_image", "containerimage", "dockerimage"];
        let universe = self.value(&["universe", "jobuniverse"]).map_or("", |(name, _)| name.as_str());
        // Another universe is reported, and a macro may be any.
        if IMAGES.iter().any(|name| self.may_have(name))
            || !matches!(universe.to_ascii_lowercase().as_str(), "" | "vanilla" | "5")
        {
            return;
        }
        let Some((_, at)) = self.value(&["container_target_dir"]).cloned() else { return };
        let message = "`container_target_dir` has no effect: the job has no `container_image`";
        self.found.push((at, warning(message, &statements[at], "add `container_image = …`").code("odd-command")));
    }

    /// Commands that `condor_submit` ignores beside others.
    fn ignored_commands(&mut self, statements: &[String]) {
        const IGNORED: [(&str, &str); 5] = [
            ("accounting_group", "my.accountinggroup"),
            ("retry_request_memory_increase", "retry_request_memory"),
            ("requirements", "my.requirements"),
            ("ec2_keypair_file", "ec2_keypair"),
            ("ec2_iam_profile_name", "ec2_iam_profile_arn"),
        ];
        for (name, other) in IGNORED {
            let Some((_, at)) = self.value(&[name]).filter(|_| self.value(&[other]).is_some()).cloned() else {
                continue;
            };
            let other = other.replace("my.", "+");
            let message = format!("`{name}` is ignored, as `{other}` is set too");
            self.found.push((at, warning(message, &statements[at], "remove one of them").code("odd-command")));
        }
    }

    /// The address of a mail that is never sent. Without `notification`, the access point may have another default than `never`.
    fn mail(&mut self, statements: &[String]) {
        const NAMES: [&str; 3] = ["notification", "jobnotification", "my.jobnotification"];
        let is_never = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "never" | "0");
        let when = NAMES.iter().find_map(|name| self.values.get(*name)?.last());
        if !when.is_some_and(|(value, _)| is_never(value)) {
            return;
        }
        let mut names = ["notify_user", "email_attributes"].into_iter();
        let Some((name, at)) = names.find_map(|name| Some((name, self.value(&[name])?.1))) else { return };
        if self.found.iter().any(|(of, _)| *of == at) {
            return;
        }
        let message = format!("`{name}` has no effect: `notification` is `never`");
        let help = "write `notification = complete`, `error` or `always`";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// The reason of a policy that the file does not have: it is for the job's own policy alone.
    fn reasons(&mut self, statements: &[String]) {
        const ENDS: [&str; 2] = ["reason", "subcode"];
        for (policy, attribute) in [("periodic_hold", "periodichold"), ("on_exit_hold", "onexithold")] {
            let names = [policy.to_owned(), attribute.to_owned(), format!("my.{attribute}")];
            if self.includes || names.iter().any(|name| self.values.contains_key(name)) {
                continue;
            }
            let of = |end: &'static str| Some((end, self.value(&[&format!("{policy}_{end}")])?.1));
            let Some((end, at)) = ENDS.into_iter().find_map(of) else { continue };
            let message = format!("`{policy}_{end}` has no effect: `{policy}` is false by default");
            let help = format!("set `{policy}` too, or remove it");
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
        let exit_codes = ["checkpoint_exit_code", "my.successcheckpointexitcode", "successcheckpointexitcode"];
        if self.includes || exit_codes.iter().any(|name| self.values.contains_key(*name)) {
            return;
        }
        let Some((_, at)) = self.value(&["transfer_checkpoint_files"]).cloned() else { return };
        let message =
            "`transfer_checkpoint_files` has no effect: without `checkpoint_exit_code` there is no checkpoint";
        let help = "set `checkpoint_exit_code` too, or remove it";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// Variables of a shell in the environment.
    fn shell_variables(&mut self, statements: &[String]) {
        let Some((value, at)) = self.value(&["environment", "env"]).cloned() else { return };
        let Some((message, help)) = of_shell(&value) else { return };
        if !self.found.iter().any(|(of, _)| *of == at) {
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// `should_transfer_files = NO` with files to transfer, and `IF_NEEDED` with output of evicted jobs.
    fn transfers(&mut self, statements: &[String]) {
        let is =
            |name: &str, word: &str| self.value(&[name]).is_some_and(|(value, _)| value.eq_ignore_ascii_case(word));
        if is("should_transfer_files", "IF_NEEDED")
            && is("when_to_transfer_output", "ON_EXIT_OR_EVICT")
            && let Some((_, at)) = self.value(&["when_to_transfer_output"]).cloned()
        {
            let message = "`ON_EXIT_OR_EVICT` cannot be used with `should_transfer_files = IF_NEEDED`";
            self.found.push((at, error(message, &statements[at], "write `ON_EXIT`, or `should_transfer_files = YES`")));
        }

        let no =
            |(value, _): &&(String, usize)| ["no", "false", "never"].iter().any(|no| value.eq_ignore_ascii_case(no));
        let Some((_, at)) = self.value(&["should_transfer_files"]).filter(no).cloned() else { return };
        let exit = |(value, _): &&(String, usize)| value.to_ascii_lowercase().starts_with("on_");
        let files = ["transfer_input_files", "transfer_output_files"];
        let other = files.into_iter().find_map(|name| Some((name, self.value(&[name])?.1)));
        let when =
            self.value(&["when_to_transfer_output"]).filter(exit).map(|(_, at)| ("when_to_transfer_output", *at));
        if let Some((name, _)) = other.or(when) {
            let message = format!("`should_transfer_files` is off, and `{name}` is set");
            self.found.push((at, error(message, &statements[at], format!("remove `{name}`, or write `YES`"))));
        }
    }

    /// The statement that queues, or the last one.
    fn queue(&self) -> usize {
        self.queued.as_ref().map_or(0, |(at, _)| *at)
    }

    /// The variables that items set, with the statement.
    pub(super) fn queue_names(&self) -> Option<&(usize, Vec<String>)> {
        self.queued.as_ref()
    }
}

/// Commands that exclude each other.
const EXCLUSIVE: [(&str, &str); 3] = [
    ("container_image", "docker_image"),
    ("concurrency_limits", "concurrency_limits_expr"),
    ("output_destination", "output_directory"),
];

/// Returns true if Requirements refer to themselves.
fn itself(value: &str) -> bool {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let Ok(expr) = parse_expr(value.as_bytes(), &options) else { return false };
    let tree = expr.tree();
    tree.references(expr.root())
        .any(|reference| reference.name.folded() == b"requirements" && reference.scope != RefScope::Target)
}

/// Returns true if a value contains `$(name)`.
fn refers_to(value: &str, name: &str) -> bool {
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

/// The name of a file with the number of the job.
fn numbered(file: &str) -> String {
    match file.rsplit_once('.').filter(|(front, end)| !front.is_empty() && !end.contains('/')) {
        Some((front, end)) => format!("{front}.$(Process).{end}"),
        None => format!("{file}.$(Process)"),
    }
}

/// Tests whether the only item is the name of a file that probably holds items.
fn is_list_file(item: &str) -> bool {
    const ENDS: [&str; 8] = [".txt", ".list", ".lst", ".csv", ".tsv", ".items", ".dat", ".lis"];
    let lower = item.trim().to_ascii_lowercase();
    !lower.contains([' ', ',', '\t', '$']) && ENDS.iter().any(|end| lower.len() > end.len() && lower.ends_with(end))
}

/// The items of a statement, if they are on its line; 1 for others.
fn items(queue: &QueueStatement<'_>) -> usize {
    let ItemList::Here(text) = &queue.list else { return 1 };
    if queue.kind != ItemKind::Words || queue.slice.is_some() || text.contains('$') {
        return 1;
    }
    text.split([',', ' ', '\t']).filter(|item| !item.is_empty()).count().max(1)
}

/// A range of numbers, as other languages write it: `1..10`, `{1..10}`, `range(10)`, and the command `seq 1 10`.
fn is_range(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let dots = inner.split_once("..").is_some_and(|(first, last)| is_number(first) && is_number(last));
    let is_command = text.starts_with("seq ") && !text.ends_with('|');
    dots || text.starts_with("range(") || is_command
}

/// The message and the help about a range in place of items.
fn of_range(item: &str) -> Option<(String, String)> {
    let message = format!("`{item}` is one item: there are no ranges");
    Some((message, "write `queue N` with `$(Process)`, or the items one by one".to_owned()))
}

/// The message and the help about items that are probably others than was meant.
fn odd_items(queue: &QueueStatement<'_>) -> Option<(String, String)> {
    let count = number(queue.count);
    if let Some(count) = count.filter(|count| *count == 0.0 || count.fract() != 0.0) {
        let message = format!(
            "`queue {}` queues {} job{}",
            queue.count,
            count.trunc().max(1.0),
            if count < 2.0 { "" } else { "s" }
        );
        return Some((message, "write the number of jobs".to_owned()));
    }
    if let Some(found) = odd_text(queue) {
        return Some(found);
    }
    match &queue.list {
        ItemList::Here(item) if queue.kind == ItemKind::Words && item.trim().starts_with('{') => {
            let inner = item.trim().trim_matches(['{', '}']);
            let message = format!("the braces are a part of the items in `{}`", item.trim());
            (!is_range(item)).then(|| (message, format!("write `in ({inner})`"))).or_else(|| of_range(item))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && is_range(item) => of_range(item),
        ItemList::File(file) if is_range(file) => {
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `from {file} |` for the output of a command")))
        }
        ItemList::File(file) if file.ends_with('/') => {
            let message = format!("`from` takes a file with one item on each line, and `{file}` is a folder");
            Some((message, format!("write `matching files {file}*` for the files in it")))
        }
        ItemList::File(file) if file.rsplit_once(' ').is_some_and(|(_, last)| number(last).is_some()) => {
            let (name, count) = file.rsplit_once(' ').unwrap_or((file, ""));
            let message = format!("`from` takes the name of a file, here `{file}`");
            Some((message, format!("write `queue {count} {} from {name}`", queue.names.join(","))))
        }
        ItemList::File(file) if file.contains(", ") => {
            Some((format!("`from` takes the name of a file, here `{file}`"), format!("write `in ({file})` for items")))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && is_list_file(item) && item.contains(['*', '?']) => {
            Some((
                format!("`in` takes items, here the one item `{item}`"),
                format!("write `queue {} matching files {item}` for the names of files", queue.names.join(",")),
            ))
        }
        ItemList::Here(item) if queue.kind == ItemKind::Words && is_list_file(item) => Some((
            format!("`in` takes items, here the one item `{item}`"),
            format!("write `from {item}` for the lines of a file"),
        )),
        ItemList::Here(_) | ItemList::Lines(_) if queue.kind == ItemKind::Words && queue.names.len() > 1 => {
            let (first, second) = (queue.names[0], queue.names[1]);
            let message = format!("an item of `in` is the value of `{first}` alone: `{second}` is empty");
            let names = queue.names.join(",");
            Some((message, format!("write `queue {names} from (`, each row of items on its own line, and `)`")))
        }
        _ => None,
    }
}

/// The kind of paths that another word means.
fn of_paths(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "dir" | "directories" | "directory" | "folders" => Some("dirs"),
        "all" => Some("any"),
        _ => None,
    }
}

/// Items in quotes, which are a part of them, and patterns of another kind.
fn odd_text(queue: &QueueStatement<'_>) -> Option<(String, String)> {
    let (ItemList::Here(text) | ItemList::File(text)) = &queue.list else { return None };
    let text = text.trim();
    let is_quoted = |word: &str| word.len() > 2 && word.starts_with('"') && word.ends_with('"');
    let mut words = text.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    if let (ItemList::File(file), true) = (&queue.list, text.contains('*') && !text.ends_with('|')) {
        let message = format!("`from` takes the name of a file, here `{file}`");
        let names = queue.names.join(",");
        let pattern = file.rsplit(' ').next().unwrap_or(file);
        return Some((message, format!("write `queue {names} matching files {pattern}`")));
    }
    if let (ItemList::Here(_), ItemKind::Paths(PathKind::Unstated), Some(first)) =
        (&queue.list, queue.kind, words.clone().next())
        && let Some(meant) = of_paths(first)
    {
        let message = format!("`{first}` is a pattern here, and not the kind of paths");
        return Some((message, format!("write `matching {meant}`")));
    }
    match (&queue.list, queue.kind) {
        (ItemList::Here(_), ItemKind::Words) if words.clone().all(is_quoted) && !text.is_empty() => {
            let message = format!("the quotes are a part of the items in `{text}`");
            Some((message, format!("write `in ({})`", text.replace('"', ""))))
        }
        (_, ItemKind::Paths(_) | ItemKind::Rows) if is_quoted(text) => {
            let message = format!("the quotes are a part of the name `{text}`");
            Some((message, format!("write `{}`", text.trim_matches('"'))))
        }
        (_, ItemKind::Paths(_)) => {
            let pattern = words.find(|word| word.contains("\\.") || word.contains(".*\\") || word.starts_with('^'))?;
            let message = format!("`{pattern}` is not a regular expression here, but a pattern of names");
            Some((message, "write `*` for any letters, as in `*.csv`".to_owned()))
        }
        (ItemList::Here(_), ItemKind::Rows) if is_list_file(text) => {
            let message = format!("`{text}` in parentheses is one item");
            Some((message, format!("write `from {text}` for the lines of the file")))
        }
        _ => None,
    }
}

/// The fault of the arguments of `queue`.
fn queue_fault(arguments: &str) -> Option<(String, &'static str)> {
    let help = "write `queue N`, `queue N name in (items)`, `queue name from file` or `queue name matching pattern`";
    if arguments.starts_with('=') {
        return Some(("`queue` is a command, not a macro".into(), help));
    }
    let queue = match QueueStatement::parse(arguments) {
        Ok(queue) => queue,
        Err(fault) => return Some((fault.message(), help)),
    };
    if matches!(queue.list, ItemList::File("")) {
        return Some(("`queue … from` has no items".into(), help));
    }
    let is_open = queue.count.contains('$') || queue.list == ItemList::None && arguments.contains('$');
    (!is_open && queue.jobs().is_none()).then(|| (format!("`{}` is not a number of jobs", queue.count), help))
}

/// Tests whether a number has a word behind it that is not a unit of sizes: `2 megs`.
fn has_other_unit(value: &str) -> bool {
    let word = value.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let letters = word.trim_start();
    let is_word = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    word.len() < value.len() && is_word && !is_size_unit(letters)
}
