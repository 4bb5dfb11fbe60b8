//! Macros of submit files: those without a use, those that are not defined, and those that refer to each other.
//!
//! `condor_submit` asks of each macro that it did not expand whether it is a typo. It expands the values of commands and of
//! attributes, the arguments of `queue`, and conditions of `if`; and, within these, macros. One file of more than 600 lines: all
//! checks follow the same references.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::fact;
use super::commands::{CommandKind, is_command, kind};
use super::near_names::NearNames;
use super::open_macros::{torn, torn_macro, without_macros};
use super::refusals::{Reading, Refused, error, warning};
use super::submit_notations::odd_function;
use super::submit_odd::{FILES, is_for_shell};
use crate::submit::queue::{ItemList, QueueStatement};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;
use classmate::internal::plural::counted;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, ParseOptions, Span};

/// Macros that `condor_submit` itself defines, lower case.
pub(super) const BUILT_IN: [&str; 32] = [
    "arch",
    "cluster",
    "clusterid",
    "day",
    "dollar",
    "islinux",
    "iswindows",
    "itemindex",
    "jobid",
    "joblistid",
    "month",
    "node",
    "opsys",
    "opsysandver",
    "opsysmajorver",
    "opsysver",
    "process",
    "procid",
    "request_cpus",
    "request_memory",
    "row",
    "spool",
    "step",
    "submit_file",
    "submit_time",
    "taskid",
    "vm_memory",
    "vm_vcpus",
    "year",
    "item",
    "dag_status",
    "failed_count",
];

/// Words that other batch systems have for commands, lower case.
const OF_BATCH: [(&[&str], &str); 12] = [
    (&["time", "walltime", "wall_time", "max_time", "time_limit", "max_runtime"], "allowed_execute_duration"),
    (&["mem", "memory", "ram", "mem_per_cpu", "vmem"], "request_memory"),
    (&["ntasks", "cpus", "ncpus", "cpus_per_task", "cores", "threads", "ppn", "num_cpus"], "request_cpus"),
    (&["gpus", "gres", "ngpus", "num_gpus"], "request_gpus"),
    (&["disk", "tmp", "scratch"], "request_disk"),
    (&["job_name", "jobname", "job_batch_name"], "batch_name"),
    (&["mail_user", "email", "mail_to"], "notify_user"),
    (&["mail_type"], "notification"),
    (&["account"], "accounting_group"),
    (&["workdir", "chdir", "work_dir"], "initialdir"),
    (&["stdout"], "output"),
    (&["stderr"], "error"),
];

/// Macros of which `condor_submit` does not ask, lower case.
pub(super) const NOT_ASKED: [&str; 9] = [
    "dag_status",
    "failed_count",
    "job",
    "retry",
    "submitwarnemptymatches",
    "submitfailemptymatches",
    "submitwarnduplicatematches",
    "submitfailemptyfields",
    "submitwarnemptyfields",
];

/// Macros that `condor_dagman` sets for each node (`dagman_submit.cpp`), lower case.
const OF_DAGMAN: [&str; 2] = ["job", "retry"];

/// The macros of a file.
pub(super) struct Macros<'r> {
    pub(super) reading: &'r Reading,
    /// Names that are expanded, lower case.
    reached: BTreeSet<String>,
    /// A name is made of other macros, `$($(which))`: any may be expanded.
    computed: bool,
    /// The services in a container, lower case: `container_service_names = web` has `web_container_port`.
    services: BTreeSet<String>,
}

impl<'r> Macros<'r> {
    /// The macros of what was read.
    pub(super) fn of(reading: &'r Reading) -> Self {
        let mut reached = BTreeSet::new();
        let expands = |name: &str| is_command(name) || name.contains('.');
        let values = reading.values.iter().filter(|(name, _)| expands(name)).flat_map(|(_, all)| all);
        let mut open: Vec<&str> = values.chain(&reading.expanded).map(|(text, _)| text.as_str()).collect();
        let queue = reading.queue_names().map(|(at, _)| *at);
        let conditions = reading.expanded.iter().filter(|(_, at)| Some(*at) != queue);
        let tested = conditions.flat_map(|(text, _)| text.split_whitespace());
        reached.extend(tested.map(str::to_ascii_lowercase));
        for name in &reached {
            open.extend(reading.values.get(name).into_iter().flatten().map(|(text, _)| text.as_str()));
        }
        let mut computed = false;
        while let Some(text) = open.pop() {
            computed |= has_computed_name(text);
            for name in references(text) {
                if let Some(all) = reading.values.get(&name).filter(|_| !reached.contains(&name)) {
                    open.extend(all.iter().map(|(text, _)| text.as_str()));
                }
                reached.insert(name);
            }
        }
        let lists = ["container_service_names", "containerservicenames"];
        let lists = lists.iter().filter_map(|name| reading.values.get(*name)).flatten();
        let services = lists.flat_map(|(text, _)| text.split([',', ' ', '\t'])).map(str::to_ascii_lowercase).collect();
        Macros { reading, reached, computed, services }
    }

    /// Adds what is wrong with the macros.
    pub(super) fn check(&self, statements: &[String]) -> Vec<Refused> {
        let mut found: Vec<Refused> = self.circles(statements).into_iter().collect();
        found.extend(self.unused(statements));
        found.extend(self.undefined(statements));
        found.extend(self.calls(statements));
        found.extend(self.choices(statements));
        found.extend(self.indexes(statements));
        found.extend(self.sums(statements));
        found.extend(self.sums_as_texts(statements));
        found.extend(self.other_notations(statements));
        found.extend(self.torn(statements));
        found.extend(self.commented(statements));
        found.extend(self.quoted(statements));
        found
    }

    /// `mem = 2000 # per core` with `request_memory = $(mem)`: a comment in an expression, which `condor_submit` rejects.
    fn commented(&self, statements: &[String]) -> Vec<Refused> {
        let is_expression = |name: &str| {
            kind(name) == Some(CommandKind::Expression)
                || EXPRESSIONS.contains(&name)
                || ["request_", "my."].iter().any(|front| name.starts_with(front))
        };
        let expressions: Vec<(&String, &str)> = self
            .reading
            .values
            .iter()
            .filter(|(name, _)| is_expression(name))
            .flat_map(|(name, all)| all.iter().map(move |(text, _)| (name, text.as_str())))
            // Within a string, any sign is one of it.
            .filter(|(_, text)| !text.contains('"'))
            .collect();
        let begins =
            |value: &str| value.match_indices('#').map(|(at, _)| at).find(|at| value[..*at].ends_with([' ', '\t']));
        let mut found = Vec::new();
        for (name, all) in self.reading.values.iter().filter(|(name, _)| !is_command(name) && !name.contains('.')) {
            let [(value, at)] = all.as_slice() else { continue };
            let Some(comment) = begins(value).filter(|_| !value.contains('"')) else { continue };
            let reference = format!("$({name})");
            let is_user = |(_, text): &&(&String, &str)| text.to_ascii_lowercase().contains(&reference);
            let (Some((command, _)), Some(statement)) = (expressions.iter().find(is_user), statements.get(*at)) else {
                continue;
            };
            let message = format!("`{}` is a part of `{command}`, which is not an expression then", &value[comment..]);
            found.push((*at, error(message, statement, "move the comment to its own line")));
        }
        found
    }

    /// `folder = "/data"` with `log = $(folder)/job.log`: the quotes are in the middle of the name of the file.
    fn quoted(&self, statements: &[String]) -> Vec<Refused> {
        let files = FILES.iter().filter_map(|name| Some((*name, self.reading.values.get(*name)?.last()?.0.as_str())));
        let files: Vec<(&str, String)> = files.map(|(name, text)| (name, text.to_ascii_lowercase())).collect();
        let mut found = Vec::new();
        for (name, all) in self.reading.values.iter().filter(|(name, _)| !is_command(name) && !name.contains('.')) {
            let [(value, at)] = all.as_slice() else { continue };
            let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let Some(inner) = inner.filter(|inner| !inner.is_empty() && !inner.contains('"')) else { continue };
            let reference = format!("$({name})");
            let user = files.iter().find(|(_, text)| text.contains(&reference) && !text.contains('"'));
            let (Some((command, _)), Some(statement)) = (user, statements.get(*at)) else { continue };
            let shown = statement.split('=').next().unwrap_or_default().trim();
            let message = format!("the quotes are a part of the name in `{command}`, which refers to `$({shown})`");
            found.push((*at, warning(message, statement, format!("write `{shown} = {inner}`")).code("odd-command")));
        }
        found
    }

    /// `requirements = $(fast) && b` with `fast = x || y`.
    fn torn(&self, statements: &[String]) -> Vec<Refused> {
        /// Macros of an expression that are looked at, and bytes of an expression.
        const MOST: (usize, usize) = (64, 16 << 10);
        let options = ParseOptions { quoting: Quoting::Old, places: true, ..ParseOptions::default() };
        let mut found = Vec::new();
        for (text, at) in EXPRESSIONS.iter().filter_map(|name| self.reading.values.get(*name)).flatten() {
            let Some(statement) = statements.get(*at).filter(|_| text.len() <= MOST.1) else { continue };
            for (start, _) in text.match_indices("$(").take(MOST.0) {
                let Some(length) = text[start..].find(')') else { continue };
                let (reference, end) = (&text[start..=start + length], start + length + 1);
                let name = reference[2..length].to_ascii_lowercase();
                // One value, without macros of its own.
                let Some([(value, _)]) = self.reading.values.get(&name).map(Vec::as_slice) else { continue };
                let whole = [&text[..start], value, &text[end..]].concat();
                let Some(open) = without_macros(whole.as_bytes()).filter(|_| !value.contains('$')) else { continue };
                let part = start..start + value.len();
                let Some(operators) = torn(&open.text, part, &options).filter(|_| !text[..start].ends_with('$')) else {
                    continue;
                };
                let begin = statement.find(reference).unwrap_or_default();
                found.push((*at, torn_macro(reference, operators, Span::new(begin, begin + reference.len()))));
            }
        }
        found
    }

    /// Macros of the file, and those of jobs, in the notation of a shell or of a template: `$name`, `${name}`, `$[name]`, `{{ name }}`.
    fn other_notations(&self, statements: &[String]) -> Vec<Refused> {
        const OF_JOBS: [&str; 5] = ["process", "procid", "cluster", "clusterid", "item"];
        let queued = self.reading.queue_names().map_or(&[][..], |(_, names)| names.as_slice());
        let is_own = |name: &str| {
            let lower = name.to_ascii_lowercase();
            let is_macro = self.reading.values.contains_key(&lower) && !is_command(&lower) && !lower.contains('.');
            is_macro || OF_JOBS.contains(&&*lower) || queued.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        let queue = self.reading.queue_names().map(|(at, _)| *at);
        let mut found = Vec::new();
        for (command, all) in self.reading.values.iter().filter(|(name, _)| is_command(name)) {
            for (text, at) in all.iter().filter(|(_, at)| Some(*at) != queue) {
                // A shell reads its own variables.
                let is_of_shell = is_for_shell(text) || matches!(command.as_str(), "environment" | "environment2");
                let other = other_notation(text, &is_own).filter(|_| !is_of_shell);
                let Some(((shown, name), statement)) = other.and_then(|one| Some((one, statements.get(*at)?))) else {
                    continue;
                };
                let start = statement.find(&shown).unwrap_or_default();
                let message = format!("`{shown}` is not a macro, and is not expanded");
                let warning = Diagnostic::warning(message, Span::new(start, start + shown.len()));
                found.push((*at, warning.help(format!("write `$({name})`")).code("odd-command")));
            }
        }
        found
    }

    /// Functions whose arguments `condor_submit` cannot use.
    fn calls(&self, statements: &[String]) -> Vec<Refused> {
        let mut found = Vec::new();
        for (_, all) in self.reading.values.iter().filter(|(name, _)| self.expands(name)) {
            for (text, at) in all {
                let odd = odd_function(text).and_then(|odd| Some((odd, statements.get(*at)?)));
                let Some(((call, message, help), statement)) = odd else { continue };
                let start = statement.find(&call).unwrap_or_default();
                let warning = Diagnostic::warning(message, Span::new(start, start + call.len()));
                found.push((*at, warning.help(help).code("odd-command")));
            }
        }
        found
    }

    /// `$INT(Process+1)`: the argument is the name of a macro or an expression without macros, in which `Process` has no
    /// value (HTCondor's `config.cpp`): `condor_submit` rejects `$INT` and `$REAL`.
    fn sums(&self, statements: &[String]) -> Vec<Refused> {
        let mut found = Vec::new();
        for (text, at) in self.reading.values.iter().filter(|(name, _)| self.expands(name)).flat_map(|(_, all)| all) {
            let odd = undefined_sum(text).or_else(|| self.word_as_number(text));
            let odd = odd.and_then(|odd| Some((odd, statements.get(*at)?)));
            let Some(((call, sum), statement)) = odd else { continue };
            let start = statement.find(&call).unwrap_or_default();
            let span = Span::new(start, start + call.len());
            let message = |effect| format!("`{sum}` is neither the name of a macro nor a number: {effect}");
            let finding = if call.starts_with("$EVAL") {
                Diagnostic::warning(message("the call has no value"), span).code("odd-command")
            } else {
                Diagnostic::error(message("`condor_submit` rejects the file"), span).code("rejected-submit")
            };
            let help = "define a macro of it, with `$( )` around the names, and write the name of that macro here";
            found.push((*at, finding.help(help)));
        }
        found
    }

    /// `$INT(N)` with `N = many`: the call, and the value that is no number.
    fn word_as_number(&self, text: &str) -> Option<(String, String)> {
        ["$INT(", "$REAL("].iter().find_map(|call| {
            let start = text.find(call).filter(|start| !text[..*start].ends_with('$'))?;
            let inner = &text[start + call.len()..];
            let end = inner.find(')')?;
            let name = inner[..end].split(',').next().unwrap_or_default().trim().to_ascii_lowercase();
            let [(value, _)] = self.reading.values.get(&name)?.as_slice() else { return None };
            let is_word = value.starts_with(|sign: char| sign.is_ascii_alphabetic())
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !["true", "false"].contains(&value.to_ascii_lowercase().as_str());
            let is_known = is_word && !self.reading.is_of_items(&name) && !self.reading.includes;
            is_known.then(|| (text[start..=start + call.len() + end].to_owned(), value.clone()))
        })
    }

    /// Macros that refer to each other in a circle: `condor_submit` does not end.
    fn circles(&self, statements: &[String]) -> Option<Refused> {
        let values = &self.reading.values;
        // Of each name the names that its value refers to; `condor_submit` replaces a name in its own value.
        let next = |name: &str| -> Vec<&str> {
            let text = values.get(name).and_then(|all| all.last()).map_or("", |(text, _)| text.as_str());
            let known = references(text).into_iter().filter(|other| other != name);
            known.filter_map(|other| values.get_key_value(&other).map(|(other, _)| other.as_str())).collect()
        };
        // Names that lead to no circle, and the way to the present one.
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for name in values.keys().filter(|name| self.expands(name)) {
            let mut way: Vec<(&str, Vec<&str>)> = Vec::new();
            let mut within: BTreeSet<&str> = BTreeSet::new();
            let mut enter = Some(name.as_str());
            loop {
                if let Some(one) = enter.take().filter(|one| !done.contains(one)) {
                    if !within.insert(one) {
                        let circle = way.iter().skip_while(|(other, _)| *other != one).map(|(other, _)| *other);
                        let first = circle.min()?;
                        let (_, at) = values.get(first)?.last()?;
                        let message = format!("`{first}` refers to itself through `$(…)`");
                        let help = "`condor_submit` never ends expanding it";
                        return Some((*at, error(message, statements.get(*at)?, help)));
                    }
                    way.push((one, next(one)));
                }
                let Some((one, open)) = way.last_mut() else { break };
                match open.pop() {
                    Some(other) => enter = Some(other),
                    None => {
                        done.insert(one);
                        way.pop();
                    }
                }
            }
        }
        None
    }

    pub(super) fn expands(&self, name: &str) -> bool {
        self.computed || is_command(name) || name.contains('.') || self.reached.contains(name) || self.is_port(name)
    }

    /// Returns true for the port of a service in a container.
    fn is_port(&self, name: &str) -> bool {
        name.strip_suffix("_container_port").is_some_and(|service| self.services.contains(service))
    }

    /// Macros and variables of items that nothing expands.
    fn unused(&self, statements: &[String]) -> Vec<Refused> {
        let mut found = Vec::new();
        let of_queue = self.reading.queue_names();
        // The value of a variable of `queue` is the one without items.
        let queued: BTreeSet<String> =
            of_queue.into_iter().flat_map(|(_, names)| names).map(|name| name.to_ascii_lowercase()).collect();
        // Of the second name of a command another rule speaks.
        let told: BTreeSet<&str> = self.reading.two_names().into_iter().map(|(_, second, _)| second).collect();
        let mut referred: Option<BTreeSet<String>> = None;
        for (name, all) in &self.reading.values {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !plain
                || queued.contains(name)
                || self.expands(name)
                || NOT_ASKED.contains(&name.as_str())
                || told.contains(name.as_str())
            {
                continue;
            }
            let Some(((_, at), text)) = all.last().and_then(|last| Some((last, statements.get(last.1)?))) else {
                continue;
            };
            let start = text.len() - text.trim_start().len();
            let shown = text.get(start..(start + name.len()).min(text.len())).unwrap_or(name);
            let referred = referred.get_or_insert_with(|| {
                self.reading.values.values().flatten().flat_map(|(text, _)| references(text)).collect()
            });
            let message = if referred.contains(name) {
                format!("only macros without a use refer to `{shown}`, and it is not a command")
            } else {
                format!("nothing refers to `{shown}`, and it is not a command")
            };
            let warning = Diagnostic::warning(message, Span::new(start, start + name.len()));
            let meant = OF_BATCH.iter().find(|(words, _)| words.contains(&name.as_str())).map(|(_, meant)| *meant);
            let help = meant.map_or_else(
                || "correct the name, or write `+Name` for an attribute of the job".to_owned(),
                |meant| format!("write `{meant}`"),
            );
            found.push((*at, warning.help(help).code("unknown-command")));
        }
        // Beside a reference to nothing, one of them has another name.
        if let Some((at, names)) = self.reading.queue_names() {
            let lacking = self.lacking(names);
            let is_unused = |name: &&String| !self.expands(&name.to_ascii_lowercase());
            // Items of which jobs need nothing count them.
            // Nor do jobs need all columns of a file.
            let counts = lacking.is_none() && (self.reading.table || names.iter().all(|name| is_unused(&name)));
            let mut unused = names.iter().filter(is_unused).filter(|_| !counts);
            if let (Some(name), Some(text)) = (unused.next(), statements.get(*at)) {
                let start = text.find(name.as_str()).unwrap_or(text.len() - text.trim_start().len());
                let message = match unused.count() {
                    0 => format!("nothing refers to the variable `{name}` of `queue`"),
                    others => format!("nothing refers to the variable `{name}` of `queue`, nor to {others} more"),
                };
                let warning = Diagnostic::warning(message, Span::new(start, start + name.len()));
                let help = format!("write `$({name})` where a job needs its item");
                let lacks = lacking.as_ref().map(|lacking| format!("`$({lacking})` is not defined"));
                let warning = warning.help(help).code("unknown-command");
                found.push((*at, lacks.into_iter().fold(warning, Diagnostic::more_help)));
            }
        }
        found
    }

    /// A name, lower case, that something refers to and that nothing defines.
    fn lacking(&self, queued: &[String]) -> Option<String> {
        let lower: BTreeSet<String> = queued.iter().map(|one| one.to_ascii_lowercase()).collect();
        let is_defined = |name: &String| {
            let built_in = BUILT_IN.contains(&name.as_str()) && !is_other_item(name, queued.is_empty());
            let known = self.reading.values.contains_key(name) || self.reading.given.contains(name);
            lower.contains(name) || known || built_in
        };
        let texts = self.reading.values.values().flatten().map(|(text, _)| text.as_str());
        let plain = texts
            .flat_map(|text| text.match_indices("$(").map(move |(at, _)| &text[..at]).zip(std::iter::repeat(text)));
        let mut names = plain.filter(|(before, _)| !before.ends_with('$')).filter_map(|(before, text)| {
            let rest = &text[before.len() + 2..];
            let end = rest.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(rest.len());
            (rest[end..].starts_with(')') && end > 0).then(|| rest[..end].to_ascii_lowercase())
        });
        names.find(|name| !is_defined(name))
    }

    /// Tests whether macros may come from the command line or from a DAG: the file queues one job, defines no macros itself, or
    /// speaks of it.
    fn is_for_others(&self, statements: &[String], queued: &[String]) -> bool {
        let is_own = |name: &&String| !is_command(name) && !name.contains('.');
        let has_own = self.reading.values.keys().any(|name| is_own(&name)) || !queued.is_empty();
        self.reading.jobs() < 2 || !has_own || self.reading.includes || speaks_of_others(statements)
    }

    /// The help about an amount of a slot as a macro, `$(Cpus)`, in a file that requests a fixed amount of it.
    fn of_slot(&self, name: &str) -> Option<String> {
        const AMOUNTS: [(&str, &str); 4] = [("cpus", "Cpus"), ("disk", "Disk"), ("gpus", "GPUs"), ("memory", "Memory")];
        let (_, attribute) = AMOUNTS.iter().find(|(known, _)| *known == name)?;
        let request = format!("request_{name}");
        let (amount, _) = self.reading.value(&[&request]).filter(|_| !self.reading.includes)?;
        let own = if BUILT_IN.contains(&request.as_str()) { format!("$({request})") } else { amount.clone() };
        let help = format!("write `$$({attribute})` for the amount of the slot, or `{own}` for the request");
        (!amount.contains('$')).then_some(help)
    }

    /// Tests whether the file queues items, as far as it is known.
    fn has_items(&self) -> bool {
        let Some((queue, _)) = &self.reading.queued else { return true };
        let arguments = self.reading.expanded.iter().find(|(_, at)| at == queue).map_or("", |(text, _)| text.as_str());
        QueueStatement::parse(arguments).map_or(true, |statement| statement.list != ItemList::None)
    }

    /// Names, lower case, of which the file asks `if defined NAME`: it knows what it does without them.
    fn asked(&self) -> BTreeSet<String> {
        self.reading
            .expanded
            .iter()
            .flat_map(|(text, _)| {
                let words = text.split_whitespace().map(|word| word.trim_start_matches('!'));
                words.skip_while(|word| !word.eq_ignore_ascii_case("defined")).skip(1)
            })
            .map(str::to_ascii_lowercase)
            .collect()
    }

    /// References to macros that nothing defines and that are named almost like one that is defined. Others may come from
    /// the command line or from a DAG.
    fn undefined(&self, statements: &[String]) -> Vec<Refused> {
        let names = self.reading.queue_names().map_or(&[][..], |(_, names)| names.as_slice());
        let queued: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let queue = self.reading.queue_names().map(|(at, _)| *at);
        let is_plain = |name: &&String| !name.contains('.');
        let own: BTreeSet<&str> =
            self.reading.values.keys().filter(is_plain).chain(&queued).map(String::as_str).collect();
        let near = NearNames::of(own.iter().copied().filter(|known| known.len() >= 3).chain(BUILT_IN));
        let has_items = self.has_items();
        let other_item = |name: &str| is_other_item(name, queued.is_empty() && has_items);
        let is_defined = |name: &str| {
            let given = OF_DAGMAN.contains(&name) || self.reading.given.contains(name);
            own.contains(name) || given || BUILT_IN.contains(&name) && !other_item(name)
        };
        let asked = self.asked();
        let (is_open, speaks) = (self.is_for_others(statements, &queued), speaks_of_others(statements));
        let referred: BTreeSet<String> =
            self.reading.values.values().flatten().flat_map(|(text, _)| references(text)).collect();
        // Of two names that are like the one of the items, each may come from elsewhere.
        let is_only = |known: &str| {
            let is_like = |name: &&String| !is_defined(name) && (name.starts_with(known) || name.ends_with(known));
            referred.iter().filter(is_like).nth(1).is_none()
        };
        // The help about each reference, and the statements that have it; and those that something outside may define.
        let mut said: BTreeMap<String, (String, BTreeSet<usize>)> = BTreeMap::new();
        let mut open = OpenReferences::default();
        // All that nothing defines; a command of a shell is probably not meant beside others.
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        let texts = self.reading.values.values().flatten().chain(&self.reading.expanded);
        for (text, at) in texts {
            let Some(statement) = statements.get(*at) else { continue };
            let given = statement.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            for (start, _) in text.match_indices("$(") {
                let rest = &text[start + 2..];
                let end = rest.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(rest.len());
                let (name, lower) = (&rest[..end], rest[..end].to_ascii_lowercase());
                let escaped = text[..start].ends_with('$');
                if !rest[end..].starts_with(')')
                    || escaped
                    || name.is_empty()
                    || is_defined(&lower)
                    || asked.contains(&lower)
                {
                    continue;
                }
                let item = || queued.first().filter(|_| is_other_item(&lower, false));
                let slip = || {
                    // A value that refers to itself is no better.
                    let is_other = |known: &str| stem(known) != stem(&lower) && known != given;
                    let allowed = near::allowance(lower.as_bytes()).min(2);
                    near.closest(allowed, &lower, is_other).filter(|_| name.len() >= 4)
                };
                // Short names are other words but for those of the items.
                let short_slip = || {
                    let is_near = |known: &&String| {
                        known.len() >= 4 && near::distance(lower.as_bytes(), known.as_bytes(), 1).is_some()
                    };
                    queued.iter().filter(|_| name.len() == 3).find(is_near)
                };
                // `$(filename)` beside `queue file from …`.
                let longer_slip = || {
                    let is_part = |known: &&String| {
                        known.len() >= 4 && (lower.starts_with(known.as_str()) || lower.ends_with(known.as_str()))
                    };
                    queued.iter().find(is_part).filter(|known| !speaks && is_only(known))
                };
                let no_items = || (lower == "item" && !has_items).then(|| NO_ITEMS.to_owned());
                let number = || Some(*at) == queue && text.split_whitespace().next() == Some(&format!("$({name})"));
                let help = no_items()
                    .or_else(|| of_attribute(&given, &lower))
                    .or_else(|| self.of_slot(&lower).filter(|_| !speaks))
                    .or_else(|| of_environment(name))
                    .or_else(|| of_job(&lower, !speaks && self.reading.jobs() > 1))
                    .or_else(|| of_configuration(&given, name).filter(|_| !speaks))
                    .or_else(|| of_shell(name))
                    .or_else(|| Some(format!("the items are called `$({})`", item().filter(|_| name.len() >= 3)?)))
                    .or_else(|| Some(format!("did you mean `$({})`?", slip()?)))
                    .or_else(|| Some(format!("did you mean `$({})`?", short_slip()?)))
                    .or_else(|| Some(format!("did you mean `$({})`?", longer_slip()?)))
                    .or_else(|| Some(format!("did you mean `$({})`?", unused_longer(&lower, &own, &referred)?)));
                let reference = format!("$({name})");
                unknown.insert(lower.clone());
                if let Some(help) = help {
                    said.entry(reference).or_insert((help, BTreeSet::new())).1.insert(*at);
                } else if number() {
                    open.number = Some((*at, reference));
                } else if !is_open {
                    open.others.insert((*at, reference));
                }
            }
        }
        let is_of_shell = |reference: &str| of_shell(&reference[2..reference.len() - 1]).is_some();
        if is_open && unknown.len() > 1 {
            for (reference, (_, all)) in said.iter().filter(|(reference, _)| is_of_shell(reference)) {
                open.others.extend(all.iter().map(|at| (*at, reference.clone())));
            }
            said.retain(|reference, _| !is_of_shell(reference));
            open.is_completed = true;
        }
        let mut found: Vec<Refused> = open.finding(statements, queue).into_iter().collect();
        for (reference, (help, all)) in said {
            let Some((at, statement)) = all.first().and_then(|at| Some((*at, statements.get(*at)?))) else { continue };
            let also = (all.len() > 1).then(|| format!(", also in {}", counted(all.len() - 1, "more line")));
            let message = format!("`{reference}` is not defined and expands to nothing{}", also.unwrap_or_default());
            found.push((at, undefined(message, statement, &reference, help)));
        }
        found
    }
}

/// The help about `$(Item)` where no items are queued.
const NO_ITEMS: &str = "the queue statement has no items: the number of a job is `$(Process)`";

/// A name without the digits at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|sign: char| sign.is_ascii_digit())
}

/// The only macro of a file that nothing refers to and whose name begins or ends with another name: `mem_gb` for `mem`.
fn unused_longer<'o>(name: &str, own: &BTreeSet<&'o str>, referred: &BTreeSet<String>) -> Option<&'o str> {
    let is_part = |known: &str| {
        let rest = known.strip_prefix(name).map(|rest| rest.starts_with('_'));
        let front = known.strip_suffix(name).map(|front| front.ends_with('_'));
        rest.or(front) == Some(true) && !is_command(known) && !referred.contains(known)
    };
    let mut like = own.iter().copied().filter(|known| name.len() >= 3 && is_part(known));
    like.next().filter(|_| like.next().is_none())
}

/// References to macros that resemble no name of the file: the command line or a DAG may define them.
#[derive(Default)]
struct OpenReferences {
    /// The one that is the number of jobs.
    number: Option<(usize, String)>,
    /// The statements of all others.
    others: BTreeSet<(usize, String)>,
    /// The file has more of them, and is for another program by that.
    is_completed: bool,
}

impl OpenReferences {
    /// One finding about all of them.
    fn finding(self, statements: &[String], queue: Option<usize>) -> Option<Refused> {
        /// Names that are shown.
        const MOST: usize = 4;
        let (is_only_number, is_completed) = (self.others.is_empty(), self.is_completed);
        let mut all = self.others;
        all.extend(self.number);
        let (at, first) = all.first()?.clone();
        let mut names: Vec<&String> = Vec::new();
        for (_, reference) in &all {
            if !names.contains(&reference) {
                names.push(reference);
            }
        }
        let mut shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
        if names.len() > MOST {
            shown.push(format!("{} more", names.len() - MOST));
        }
        let last = shown.pop()?;
        let list = if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) };
        let message = match names.len() {
            1 if is_only_number => {
                format!("{list} has no value in this file: one job is queued unless the command line gives it one")
            }
            1 => {
                format!("{list} has no value in this file, and is empty unless the command line or a DAG gives it one")
            }
            _ => format!(
                "{list} have no value in this file, and are empty unless the command line or a DAG gives them one"
            ),
        };
        let name = first.trim_start_matches("$(").trim_end_matches(')');
        let help = format!("define `{name}`, or write a default, as in `$({name}:1)`");
        let mut found = undefined(message, statements.get(at)?, &first, help);
        // A file that leaves several open, or what it queues, is completed elsewhere.
        if is_completed || names.len() > 1 || all.iter().any(|(at, _)| Some(*at) == queue) {
            found.severity = Severity::Note;
        }
        Some((at, found))
    }
}

/// The warning about a reference in a statement that nothing defines.
fn undefined(message: String, statement: &str, reference: &str, help: String) -> Diagnostic {
    let begin = statement.find(reference).unwrap_or_default();
    Diagnostic::warning(message, Span::new(begin, begin + reference.len())).help(help).code("undefined-macro")
}

/// Tests whether the comments of a file speak of the command line or of a DAG.
fn speaks_of_others(statements: &[String]) -> bool {
    const WORDS: [&str; 8] =
        ["condor_submit", "command line", "commandline", "dag", "-append", "vars", "wrapper", "template"];
    let comments = statements.iter().filter(|line| line.trim_start().starts_with('#'));
    let mut comments = comments.map(|line| line.to_ascii_lowercase());
    comments.any(|line| WORDS.iter().any(|word| line.contains(word)))
}

/// A call of a function of numbers whose argument is a sum with the name of a macro of jobs, and the argument.
fn undefined_sum(text: &str) -> Option<(String, String)> {
    const CALLS: [&str; 3] = ["$INT(", "$REAL(", "$EVAL("];
    const OF_JOBS: [&str; 8] = ["process", "procid", "cluster", "clusterid", "item", "step", "row", "itemindex"];
    CALLS.iter().find_map(|call| {
        let start = text.find(call)?;
        let inner = &text[start + call.len()..];
        let end = inner.find(')')?;
        let sum = inner[..end].split(',').next().unwrap_or_default().trim();
        let words = sum.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        let names: Vec<&str> = words.filter(|word| word.starts_with(|sign: char| sign.is_ascii_alphabetic())).collect();
        let is_sum = sum.contains(['+', '*', '/', '%']) && !sum.contains(['$', '(', '"']);
        let is_of_job = |name: &&str| OF_JOBS.iter().any(|known| known.eq_ignore_ascii_case(name));
        (is_sum && names.iter().any(is_of_job))
            .then(|| (text[start..=start + call.len() + end].to_owned(), sum.to_owned()))
    })
}

/// A name that `is_own` knows in another notation than `$(name)`, as it is written, and the name.
fn other_notation(text: &str, is_own: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
    const FORMS: [(&str, &str); 7] =
        [("$((", "))"), ("${", "}"), ("$[", "]"), ("%(", ")"), ("{{ ", " }}"), ("{{", "}}"), ("$", "")];
    let is_word = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    text.match_indices(['$', '%', '{']).find_map(|(at, _)| {
        // Of two signs, the first one counts.
        if text[..at].ends_with(['$', '%', '{']) {
            return None;
        }
        FORMS.iter().find_map(|(open, close)| {
            let rest = text[at..].strip_prefix(open)?;
            let name = &rest[..rest.find(|sign| !is_word(sign)).unwrap_or(rest.len())];
            let after = &rest[name.len()..];
            let name = if close.is_empty() { name.trim_end_matches('_') } else { name };
            let is_closed = after.starts_with(close) && !after.starts_with('(');
            let shown = format!("{open}{name}{close}");
            (is_closed && is_own(name)).then(|| (shown, name.to_owned()))
        })
    })
}

/// The help about a macro of configurations, which `condor_submit` does not look up, in the value of a command: `$(HOUR)` in an
/// expression. In lower case, the same words are rather macros of a DAG.
fn of_configuration(command: &str, name: &str) -> Option<String> {
    const NAMES: [&str; 7] = [
        "COLLECTOR_HOST",
        "CONDOR_HOST",
        "FILESYSTEM_DOMAIN",
        "FULL_HOSTNAME",
        "LOCAL_DIR",
        "RELEASE_DIR",
        "UID_DOMAIN",
    ];
    let is_expression = kind(command) == Some(CommandKind::Expression) || EXPRESSIONS.contains(&command);
    let what = match name {
        "HOUR" if is_expression => "write `3600`",
        "MINUTE" if is_expression => "write `60`",
        _ if NAMES.contains(&name) => "write its value",
        _ => return None,
    };
    Some(format!("macros of the configuration have no value in submit files: {what}"))
}

/// The help about another word for a number of the job: `$(ProcNum)`, `$(cluster_number)`; `$(JobNum)` is one of several jobs, where a DAG
/// would have a job for each value of such a name.
fn of_job(name: &str, is_one_of_several: bool) -> Option<String> {
    const NUMBERS: [&str; 7] = ["", "id", "idx", "index", "no", "num", "number"];
    let plain = name.replace('_', "");
    let of = |words: &[&str]| {
        let rest = words.iter().find_map(|word| plain.strip_prefix(word));
        rest.is_some_and(|rest| NUMBERS.contains(&rest))
    };
    let meant = match name {
        "procs" | "taskid" | "task_id" => "Process",
        "job_id" => "Cluster",
        "nodeid" | "node_id" | "nodenumber" => "Node",
        _ if of(&["process", "proc"]) => "Process",
        "jobidx" | "jobindex" | "jobno" | "jobnum" | "jobnumber" | "job_idx" | "job_index" | "job_no" | "job_num"
        | "job_number"
            if is_one_of_several =>
        {
            "Process"
        }
        _ if of(&["cluster", "clust"]) => "Cluster",
        "requestcpus" => "request_cpus",
        "requestmemory" => "request_memory",
        _ => return None,
    };
    Some(format!("write `$({meant})`"))
}

/// The help about a command of a shell in the place of a macro: `$(date)`.
fn of_shell(name: &str) -> Option<String> {
    const NAMES: [&str; 7] = ["date", "pwd", "hostname", "whoami", "uname", "ls", "seq"];
    NAMES.contains(&name).then(|| "no command is run: write the value, or use `include command`".to_owned())
}

/// Tests whether a name (lower case) is that of the items of a `queue` which gives them other names.
fn is_other_item(name: &str, unnamed: bool) -> bool {
    name == "item" && !unnamed
}

/// Commands that are conditions or ranks.
const EXPRESSIONS: [&str; 9] = [
    "requirements",
    "rank",
    "periodic_hold",
    "periodic_release",
    "periodic_remove",
    "on_exit_hold",
    "on_exit_remove",
    "leave_in_queue",
    "require_gpus",
];

/// The help about an attribute that a condition refers to as a macro.
fn of_attribute(command: &str, name: &str) -> Option<String> {
    let meant = fact(name.as_bytes()).filter(|_| EXPRESSIONS.contains(&command))?;
    Some(format!("write `{}` for the attribute", meant.name))
}

/// The help about the name of a variable of the environment.
fn of_environment(name: &str) -> Option<String> {
    const NAMES: [&str; 7] = ["HOME", "USER", "LOGNAME", "PWD", "PATH", "SHELL", "X509_USER_PROXY"];
    NAMES.contains(&name).then(|| format!("write `$ENV({name})` for the variable of the environment"))
}

/// Tests whether the name in a reference of a text is made of another macro: `$($(which))`, `$(file_$(n))`.
pub(super) fn has_computed_name(text: &str) -> bool {
    text.match_indices("$(").any(|(at, _)| {
        let rest = text[at + 2..].trim_start_matches(|sign: char| sign.is_ascii_alphanumeric() || "_.".contains(sign));
        rest.starts_with("$(")
    })
}

/// The names that a text refers to, lower case: `$(name)`, `$(name:default)`, and words in the arguments of functions.
pub(super) fn references(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = |byte: u8| is_word(byte) || byte == b'.';
    // The calls that are open: for each true if all words in it are names.
    let (mut open, mut found, mut at) = (Vec::<bool>::new(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'$' {
            let dollars = bytes[at..].iter().take_while(|byte| **byte == b'$').count();
            let start = at + dollars;
            let end = start + bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
            at = end.max(start);
            if bytes.get(end) != Some(&b'(') {
                continue;
            }
            let is_list = text[start..end].eq_ignore_ascii_case("CHOICE") && is_long_list(&text[end + 1..]);
            // Of a reference, and of a choice from a list of items, only the first word.
            at = end + 1;
            if start == end || is_list {
                at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let name = bytes[at..].iter().take_while(|byte| is_name(**byte)).count();
                if name > 0 {
                    found.push(text[at..at + name].to_ascii_lowercase());
                }
                at += name;
            }
            open.push(start != end && !is_list);
        } else if bytes[at] == b')' {
            open.pop();
            at += 1;
        } else if open.last() == Some(&true) && is_name(bytes[at]) {
            let name = bytes[at..].iter().take_while(|byte| is_name(**byte)).count();
            found.push(text[at..at + name].to_ascii_lowercase());
            at += name;
        } else {
            at += 1;
        }
    }
    found
}

/// Tests whether the arguments at the beginning of a text are an index and several items.
fn is_long_list(arguments: &str) -> bool {
    /// Bytes that are searched for items.
    const MAX_BYTES: usize = 1024;
    let bytes = arguments.bytes().take(MAX_BYTES).take_while(|byte| *byte != b')');
    bytes.filter(|byte| *byte == b',').count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_made_of_macros() {
        assert!(has_computed_name("$($(which))") && has_computed_name("a $(file_$(n)) b"));
        assert!(!has_computed_name("$(a:$(b)) $(c)"));
    }

    #[test]
    fn references_are_macros_and_arguments() {
        assert_eq!(references("$(a)-$(B:x) $$(Memory) c"), ["a", "b", "memory"]);
        assert_eq!(
            references("$INT(n, %05d) $CHOICE(i, a, b) $CHOICE(i,list) $ENV(HOME)"),
            ["n", "05d", "i", "i", "list", "home"]
        );
        assert_eq!(references("$(x:$(y))"), ["x", "y"]);
        assert_eq!(references("a (b) $ (c)"), Vec::<String>::new());
    }
}
