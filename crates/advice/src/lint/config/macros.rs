//! Macros of a configuration that nothing defines, and text that only looks like one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Linter, shown_name};
use crate::lint::LineIndex;
use crate::lint::attributes::{is_known, is_of_jobs, misspelled_own};
use crate::lint::knobs::{bare, is_expression};
use crate::lint::lists::misses_files;
use crate::lint::near_names::NearNames;
use crate::lint::submit_macros::{has_computed_name, references};
use crate::lint::submit_notations::{misspelled_call, odd_function};
use crate::lint::submit_values::grid_fault;
use crate::submit::queue::number;
use classmate::Diagnostic;
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;
use classmate::internal::plural::counted;
use classmate::internal::syntax::parse::parse_expr;
use classmate_config::internal::config::check::{closest_variable, has_root, is_variable, slipped_variable};
use classmate_config::internal::config::{knob, unclosed};
use classmate_config::{Definition, Location};

/// The macros of a route that the job router reads (HTCondor's `JobRouter.cpp`).
const OF_ROUTE: [&str; 14] = [
    "EditJobInPlace",
    "FailureRateThreshold",
    "GridResource",
    "JobFailureTest",
    "JobShouldBeSandboxed",
    "MaxIdleJobs",
    "MaxJobs",
    "Name",
    "OverrideRoutingEntry",
    "Requirements",
    "SendIDTokens",
    "SharedX509UserProxy",
    "TargetUniverse",
    "UseSharedX509UserProxy",
];

fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Words that are values, not names of macros.
const TRUTHS: [&str; 4] = ["TRUE", "FALSE", "YES", "NO"];

/// The references `$(name)` in a text: the place and the length of each, and the name.
fn plain_references(text: &[u8]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    memchr::memmem::find_iter(text, b"$(").filter_map(|at| {
        let rest = &text[at + 2..];
        // `/` is a letter of names, too.
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(byte)).count();
        let plain = length > 0 && rest.get(length) == Some(&b')') && !text[..at].ends_with(b"$");
        plain.then(|| (at, length + 3, &rest[..length]))
    })
}

/// The name that a name (upper case) misspells by one letter, or two swapped ones: of a built-in default, or of the files.
fn defined_like(upper: &str, own: &NearNames<'_>) -> Option<String> {
    if upper.len() < 3 {
        return None;
    }
    // Other digits, or a plural, may be meant.
    let singular = |name: &str| {
        let letters = name.bytes().filter(|byte| !byte.is_ascii_digit()).map(|byte| byte.to_ascii_uppercase());
        let mut letters: Vec<u8> = letters.collect();
        letters.truncate(letters.len() - usize::from(letters.ends_with(b"S")));
        letters
    };
    let is_other = |known: &str| singular(known) != singular(upper);
    // Of what HTCondor detects there is one name each, and of its units of time.
    let is_own = |known: &str| known.starts_with("DETECTED_") || matches!(known, "HOUR" | "MINUTE") || is_other(known);
    let is_built_in = |known: &&str| known.len() >= upper.len().min(4) && is_own(known);
    let built_in = BUILT_IN_MACROS.iter().copied().filter(is_built_in);
    let own = own.closest(1, upper, is_other).filter(|_| upper.len() >= 5);
    let letters = |name: &str| {
        let mut letters = name.to_ascii_uppercase().replace('_', "").into_bytes();
        letters.sort_unstable();
        letters
    };
    // Sites have many names of their own that begin so: only swapped letters and underscores are certain.
    let lacks_one = |known: &str| known == "LOCAL_DIR" && upper.len() < known.len();
    let is_slip = |known: &&str| !upper.starts_with("LOCAL") || letters(known) == letters(upper) || lacks_one(known);
    near::closest_within(1, upper.as_bytes(), built_in.chain(own)).filter(is_slip).map(str::to_owned)
}

/// The variable that a name (upper case) misspells: a long one with a default of which it lacks a letter or has one more, or any with
/// two letters swapped or one doubled.
fn near_variable(upper: &[u8]) -> Option<String> {
    /// Shorter names, and those with fewer words, are rather names of a site's own.
    const LEAST: usize = 14;
    let words = upper.split(|byte| *byte == b'_').count();
    let is_long = upper.len() >= LEAST && words >= 3;
    let meant = || is_long.then(|| closest_variable(upper)).flatten().or_else(|| slipped_variable(upper));
    (!is_variable(upper)).then(meant).flatten()
}

/// The macros that configurations mostly refer to.
const BUILT_IN_MACROS: [&str; 29] = [
    "BIN",
    "CONDOR_HOST",
    "COLLECTOR_HOST",
    "DETECTED_CORES",
    "DETECTED_CPUS",
    "DETECTED_MEMORY",
    "ETC",
    "EXECUTE",
    "FILESYSTEM_DOMAIN",
    "FULL_HOSTNAME",
    "HOSTNAME",
    "HOUR",
    "IP_ADDRESS",
    "LIB",
    "LIBEXEC",
    "LOCAL_DIR",
    "LOCK",
    "LOG",
    "MINUTE",
    "OPSYS",
    "RELEASE_DIR",
    "RUN",
    "SBIN",
    "SPOOL",
    "SUBSYSTEM",
    "TILDE",
    "UID_DOMAIN",
    "USERNAME",
    "DAEMON_LIST",
];

/// A variable in the notation of Windows, `%CONDOR_HOME%`: its place and its name.
fn of_windows(raw: &[u8]) -> Option<(usize, String)> {
    memchr::memchr_iter(b'%', raw).find_map(|at| {
        let rest = &raw[at + 1..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
        (length > 3 && rest.get(length) == Some(&b'%')).then(|| (at, shown_name(&rest[..length])))
    })
}

/// A call at the beginning of a text that chooses at random among one item, or in a range without numbers: the call, the
/// message and the help.
fn odd_choice(text: &[u8]) -> Option<(String, String, String)> {
    /// Longer arguments are not looked at.
    const MOST: usize = 512;
    if !text.starts_with(b"$RANDOM_CHOICE(") && !text.starts_with(b"$RANDOM_INTEGER(") {
        return None;
    }
    let end = memchr::memchr(b')', &text[..text.len().min(MOST)])?;
    odd_function(&String::from_utf8_lossy(&text[..=end]))
}

/// Tests whether a macro (upper case) in the arguments of a daemon has the name of that daemon in front: `HAD_ARGS = -p $(HAD_PORT)`.
fn is_of_own_daemon(variable: &[u8], upper: &[u8]) -> bool {
    let own = bare(variable).to_ascii_uppercase();
    let front = own.strip_suffix(b"ARGS").filter(|front| front.len() > 1 && front.ends_with(b"_"));
    front.is_some_and(|front| upper.starts_with(front))
}

/// The first reference to an undefined macro, and the variables that are not valid without it.
type UndefinedMacro = (Diagnostic, Vec<String>);

impl Linter<'_> {
    /// Notes undefined macros without which a text is not an expression; returns true if there is one.
    pub(super) fn undefined(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        let undefined = self.config.undefined(definition);
        for one in &undefined {
            let place = match one.within.value_place().filter(|_| one.within.verbatim) {
                Some(place) => (Some(Location { column: place.column + one.at.0 as u32, ..place }), one.at.1),
                None => (one.within.place.cloned(), 0),
            };
            let knob = String::from_utf8_lossy(name).into_owned();
            let known = self.undefined.entry(one.name.to_ascii_uppercase()).or_insert_with(|| {
                let macro_name = String::from_utf8_lossy(&one.name);
                let message = format!("`$({macro_name})` is not defined and expands to nothing");
                let define = format!("define it, or write `$({macro_name}:value)`");
                let found = Diagnostic::error_at(message, place.0).width(place.1).help(define);
                (found.code("undefined-macro"), Vec::new())
            });
            known.1.push(knob);
        }
        !undefined.is_empty()
    }

    /// Reports each undefined macro once. Files that are only a part of a configuration may leave it to the others.
    pub(super) fn undefined_macros(&mut self) {
        let whole = has_root(self.config);
        // Those of one line have one cause.
        let mut of_lines: BTreeMap<(String, u32), Vec<UndefinedMacro>> = BTreeMap::new();
        for (found, knobs) in std::mem::take(&mut self.undefined).into_values() {
            let place = found.place.as_ref().map(|place| (place.file.to_string(), place.line));
            of_lines.entry(place.unwrap_or_default()).or_default().push((found, knobs));
        }
        for mut all in of_lines.into_values() {
            all.sort_by_key(|(found, _)| {
                (found.place.as_ref().map_or(0, |place| place.column), found.span.range().start)
            });
            let knobs: Vec<String> = all.iter().flat_map(|(_, knobs)| knobs.clone()).collect();
            let others = knobs[1..].iter().filter(|knob| **knob != knobs[0]).collect::<BTreeSet<_>>().len();
            let (found, _) = all.swap_remove(0);
            let (it, define) = match all.as_slice() {
                [] => ("it", found.help.clone().unwrap_or_default()),
                _ => ("them", "define them, or write defaults".into()),
            };
            let effect = match others {
                0 => format!("without {it}, `{}` is not a valid expression", knobs[0]),
                1 => format!("without {it}, `{}` and 1 other variable are not valid expressions", knobs[0]),
                _ => format!("without {it}, `{}` and {others} other variables are not valid expressions", knobs[0]),
            };
            let mut found = found.help(format!("{effect}; {define}"));
            let more = all.len();
            if let Some(end) = found.message.find(" is not defined").filter(|_| more > 0) {
                let macros = counted(more, "more macro");
                found.message = format!("{} and {macros} are not defined and expand to nothing", &found.message[..end]);
            }
            self.report(found, Some(knobs[0].clone()));
            if let Some(alarm) = self.alarms.last_mut().filter(|_| !whole) {
                alarm.severity = Severity::Warning;
            }
        }
    }

    /// Reports references to macros that nothing defines and that are named almost like one that is defined, or like a
    /// value.
    pub(super) fn misspelled_macros<'d>(&mut self, definitions: impl Iterator<Item = Definition<'d>>) {
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
        let config = self.config;
        let mut own: Option<NearNames<'_>> = None;
        let mut known: Option<BTreeSet<String>> = None;
        for definition in definitions.filter(|found| found.template.is_none()) {
            if memchr::memmem::find(definition.raw, b"$(").is_none() || knob::is_transform(bare(definition.name)) {
                continue;
            }
            for (at, length, one) in plain_references(definition.raw) {
                let upper = one.to_ascii_uppercase();
                if seen.contains(&upper) || config.definition(&upper).is_some() {
                    continue;
                }
                seen.insert(upper.clone());
                let Some(place) = definition.value_place().filter(|_| definition.verbatim) else { continue };
                let name = String::from_utf8_lossy(one).into_owned();
                let own = own.get_or_insert_with(|| {
                    let defined = config.definitions().filter_map(|known| std::str::from_utf8(known.name).ok());
                    NearNames::of(defined.filter(|name| name.len() >= 4))
                });
                let path = name.split_once('/').filter(|(front, _)| config.definition(front.as_bytes()).is_some());
                let help = if let Some((front, rest)) = path {
                    format!("write `$({front})/{rest}`")
                } else if name.contains('/') {
                    continue;
                } else if TRUTHS.iter().any(|word| word.eq_ignore_ascii_case(&name)) {
                    format!("write `{name}`")
                } else if let Some(meant) = defined_like(&shown_name(&upper), own).or_else(|| near_variable(&upper)) {
                    format!("did you mean `$({meant})`?")
                } else if is_of_own_daemon(definition.name, &upper) && !misses_files(config) {
                    format!("define `{name}`, or write its value here")
                } else {
                    continue;
                };
                let place = Location { column: place.column + at as u32, ..place };
                let message = format!("`$({name})` is not defined and expands to nothing");
                let known = known.get_or_insert_with(|| {
                    let alarms = self.alarms.iter().filter(|alarm| alarm.code == "undefined-macro");
                    alarms.map(|alarm| alarm.message.clone()).collect()
                });
                if known.contains(&message) {
                    continue;
                }
                let found = Diagnostic::warning_at(message, Some(place)).width(length).help(help);
                self.report(found.code("undefined-macro"), Some(shown_name(definition.name)));
                if let Some(alarm) = self.alarms.last_mut() {
                    alarm.severity = Severity::Warning;
                }
            }
        }
    }

    /// Reports a value that begins with `=`, `DAEMON_LIST == MASTER`, unless it is a known error; returns true if it does. A macro may
    /// be an operator and what follows it.
    fn begins_with_sign(&mut self, definition: &Definition<'_>, place: &Location) -> bool {
        let rest =
            definition.raw.strip_prefix(b"=").filter(|rest| !rest.first().is_some_and(|next| b"=?!~".contains(next)));
        let Some(rest) = rest.filter(|_| !is_expression(bare(definition.name))) else { return false };
        let known = self.of_line.get(&(Arc::clone(&place.file), place.line));
        if known.is_some_and(|of_line| of_line.has_error) {
            return false;
        }
        let name = shown_name(definition.name);
        let found =
            Diagnostic::warning_at(format!("the value of `{name}` begins with `=`"), Some(place.clone())).width(1);
        let found = found.help(format!("write `{name} = {}`", shown_name(rest.trim_ascii())));
        self.report(found.code("odd-line"), Some(name));
        true
    }

    /// Text that looks like a reference to a macro and is none: `$(LOG/x` without `)`, and `${LOG}`.
    pub(super) fn no_macros<'d>(&mut self, definitions: impl Iterator<Item = Definition<'d>>) {
        let config = self.config;
        for definition in definitions.filter(|found| found.template.is_none() && found.verbatim) {
            let raw = definition.raw;
            let upper = definition.name.to_ascii_uppercase();
            // Programs and shells have variables of their own, daemons have none.
            let of_daemon = upper.strip_suffix(b"_ARGS").is_some_and(|daemon| config.definition(daemon).is_some());
            let is_of_program = !of_daemon
                && [&b"ARGS"[..], b"ARGUMENTS", b"ENV", b"ENVIRONMENT"].iter().any(|end| upper.ends_with(end));
            if knob::is_transform(bare(definition.name)) || is_of_program {
                continue;
            }
            let Some(place) = definition.value_place() else { continue };
            if self.begins_with_sign(&definition, &place) {
                continue;
            }
            if let Some((at, name)) = of_windows(raw).filter(|_| !upper.ends_with(b"FORMAT")) {
                let place = Location { column: place.column + at as u32, ..place.clone() };
                let message = format!("`%{name}%` is not a macro, and is not expanded");
                let found = Diagnostic::warning_at(message, Some(place)).width(name.len() + 2);
                let found = found.help(format!("write `$ENV({name})`"));
                self.report(found.code("leftover-macro"), Some(shown_name(definition.name)));
            }
            let not_closed = unclosed(raw);
            for at in memchr::memchr_iter(b'$', raw) {
                let word =
                    |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
                // `$(name)`, `$FUNCTION(name)` and `${name}`.
                let open = at + 1 + word(&raw[at + 1..]);
                let next = raw.get(open).copied().unwrap_or_default();
                let may_be_call = matches!(next, b'{' | b'[') || raw[open..].starts_with(b"(ENV");
                if may_be_call
                    && !raw[..at].ends_with(b"$")
                    && let Some((shown, meant)) =
                        misspelled_call(&String::from_utf8_lossy(&raw[at..raw.len().min(at + 512)]))
                {
                    let place = Location { column: place.column + at as u32, ..place.clone() };
                    let message = format!("`{shown}` is not a call of a function");
                    let found = Diagnostic::warning_at(message, Some(place)).width(shown.len());
                    let found = found.help(format!("write `{meant}`"));
                    self.report(found.code("leftover-macro"), Some(shown_name(definition.name)));
                    continue;
                }
                if let Some((call, message, help)) = odd_choice(&raw[at..]).filter(|_| !raw[..at].ends_with(b"$")) {
                    let place = Location { column: place.column + at as u32, ..place.clone() };
                    let mut found = Diagnostic::warning_at(message, Some(place)).width(call.len()).help(help);
                    // Daemons end with an error at a range without numbers; a choice among one item is made.
                    if call.starts_with("$RANDOM_INTEGER") {
                        found.severity = Severity::Error;
                    }
                    self.report(found.code("bad-value"), Some(shown_name(definition.name)));
                    continue;
                }
                let end = if matches!(next, b'(' | b'{') { open + 1 + word(&raw[open + 1..]) } else { open };
                let shown = String::from_utf8_lossy(&raw[at..end]).into_owned();
                // `$[NAME]`, and `${NAME}` of the environment: only a shell expands it.
                let is_known = is_variable(bare(definition.name)) && !is_expression(bare(definition.name));
                let close = if next == b'[' { Some(b']') } else { (next == b'{').then_some(b'}') };
                let inner = open + 1 + word(raw.get(open + 1..).unwrap_or_default());
                if let Some(close) = close.filter(|_| is_known && open == at + 1 && inner > open + 1)
                    && raw.get(inner) == Some(&close)
                    && !raw[..at].ends_with(b"$")
                {
                    let (name, shown) = (shown_name(&raw[open + 1..inner]), shown_name(&raw[at..=inner]));
                    let of_environment = config.definition(name.as_bytes()).is_none();
                    let message = format!("`{shown}` is not a macro, and is not expanded");
                    let other = format!(", or `$ENV({name})` for a variable of the environment");
                    let help = format!("write `$({name})`{}", if of_environment { other.as_str() } else { "" });
                    let place = Location { column: place.column + at as u32, ..place.clone() };
                    let found = Diagnostic::warning_at(message, Some(place)).width(shown.len()).help(help);
                    self.report(found.code("leftover-macro"), Some(shown_name(definition.name)));
                    continue;
                }
                let (message, help) = match next {
                    b'(' if end > open + 1 && not_closed.binary_search(&open).is_ok() => {
                        (format!("`{shown}` has no `)`, so it is not a macro"), "add the `)`".to_owned())
                    }
                    // Other names are for a shell.
                    b'{' if open == at + 1
                        && raw.get(end) == Some(&b'}')
                        && config.definition(&raw[open + 1..end]).is_some() =>
                    {
                        let name = String::from_utf8_lossy(&raw[open + 1..end]);
                        (format!("`{shown}}}` is not a macro, and is not expanded"), format!("write `$({name})`"))
                    }
                    _ if open > at + 3
                        && next != b'('
                        && !raw[..at].ends_with(b"$")
                        && config.definition(&raw[at + 1..open]).is_some() =>
                    {
                        let name = String::from_utf8_lossy(&raw[at + 1..open]);
                        (format!("`${name}` is not a macro, and is not expanded"), format!("write `$({name})`"))
                    }
                    _ => continue,
                };
                let place = Location { column: place.column + at as u32, ..place.clone() };
                let found = Diagnostic::warning_at(message, Some(place)).width(shown.len()).help(help);
                self.report(found.code("leftover-macro"), Some(shown_name(definition.name)));
            }
        }
    }

    /// `Team = "atlas"` in a transform of jobs: a macro that nothing refers to, where an attribute is meant.
    pub(super) fn unused_macros(&mut self, definition: &Definition<'_>) {
        let Some(place) = definition.place.cloned().filter(|_| definition.template.is_none()) else { return };
        if definition.raw.trim_ascii_start().starts_with(b"[") {
            return;
        }
        let of_route = !bare(definition.name).to_ascii_uppercase().starts_with(b"JOB_TRANSFORM_");
        // `$(Q_$(N))` may refer to any name.
        if has_computed_name(&String::from_utf8_lossy(definition.raw)) {
            return;
        }
        // `$CHOICE(Index, Names)` and `if defined Names` refer to a macro, too.
        let mut words: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for word in definition.raw.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
            *words.entry(word.to_ascii_uppercase()).or_default() += 1;
        }
        // By a call, or by a line that has names without a sign: `if defined Names`, `TRANSFORM Names from (…)`.
        let text = shown_name(definition.raw);
        let is_line_of_names = |line: &&str| {
            let first = line.split_whitespace().next().unwrap_or_default();
            ["if", "elif", "transform"].iter().any(|word| word.eq_ignore_ascii_case(first))
        };
        let of_lines = text.lines().filter(is_line_of_names).flat_map(|line| line.split(|sign: char| !is_word(sign)));
        let referred: BTreeSet<String> =
            references(&text).into_iter().chain(of_lines.map(str::to_ascii_lowercase)).collect();
        let is_referred = |name: &[u8]| referred.contains(&shown_name(name).to_ascii_lowercase());
        for (number_of_line, line) in definition.raw.split(|byte| *byte == b'\n').enumerate() {
            let start = line.len() - line.trim_ascii_start().len();
            let length = line[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let (name, rest) = line[start..].split_at(length);
            let Some(value) = rest.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii) else { continue };
            // The job router reads some of its routes.
            let of_router = || of_route && OF_ROUTE.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
            let is_count = [&b"MaxJobs"[..], b"MaxIdleJobs"].iter().any(|count| count.eq_ignore_ascii_case(name));
            if of_route && is_count && !value.contains(&b'$') && number(&shown_name(value)).is_none() {
                let message = format!("`{}` is `{}`: expected a number of jobs", shown_name(name), shown_name(value));
                let at = Location { line: place.line + number_of_line as u32 + 1, column: 1, ..place.clone() };
                let found = Diagnostic::error_at(message, Some(at)).help("write a whole number");
                self.report(found.code("bad-value"), Some(shown_name(definition.name)));
                continue;
            }
            // The word may be the attribute elsewhere: a macro is used by a reference.
            let is_reference = !is_known(&name.to_ascii_lowercase()) || of_route || is_referred(name);
            let is_used = words.get(&name.to_ascii_uppercase()).is_some_and(|count| *count > 1 && is_reference)
                || name.eq_ignore_ascii_case(b"REQUIREMENTS")
                || of_router();
            if length == 0 || value.is_empty() || is_used {
                continue;
            }
            let (name, value) = (shown_name(name), shown_name(value));
            let message = format!("`{name} =` sets a macro of the transform, which nothing refers to");
            let column = start as u32 + 1;
            let at = Location { line: place.line + number_of_line as u32 + 1, column, ..place.clone() };
            let found = Diagnostic::warning_at(message, Some(at)).width(name.len());
            let is_command = ["NAME", "UNIVERSE"].iter().any(|command| name.eq_ignore_ascii_case(command));
            let is_value = parse_expr(value.as_bytes(), &self.options()).is_ok();
            let near = near::closest(name.as_bytes(), OF_ROUTE).filter(|_| of_route);
            let found = if let Some(near) = near {
                found.did_you_mean(Some(near))
            } else if is_command {
                found.help(format!("write `{name} {value}`, without `=`"))
            } else if is_value {
                found.help(format!("write `SET {name} {value}` for an attribute of the job"))
            } else {
                found.help(format!("write `SET {name} \"{value}\"` for an attribute of the job"))
            };
            self.report(found.code("odd-line"), Some(shown_name(definition.name)));
        }
    }

    /// A route to the grid universe without the resource: jobs fail unless a transform or the job itself has it.
    pub(super) fn grid_route(&mut self, definition: &Definition<'_>) {
        let upper = definition.raw.to_ascii_uppercase();
        let is_route = bare(definition.name).to_ascii_uppercase().starts_with(b"JOB_ROUTER_ROUTE_");
        let has = |word: &[u8]| memchr::memmem::find(&upper, word).is_some();
        let line = |line: &[u8]| {
            let words: Vec<&[u8]> = line.split(|byte| byte.is_ascii_whitespace() || *byte == b'=').collect();
            let mut words = words.into_iter().filter(|word| !word.is_empty());
            words.next() == Some(b"UNIVERSE") && matches!(words.next(), Some(b"GRID" | b"9"))
        };
        let Some(number) = upper.split(|byte| *byte == b'\n').position(|text| line(text.trim_ascii())) else { return };
        let is_transformed = || {
            let lists = ["JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES", "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES"];
            lists.iter().any(|list| self.config.definition(list.as_bytes()).is_some_and(|one| one.place.is_some()))
        };
        let Some(place) = definition.place.cloned().filter(|_| is_route && !is_transformed()) else { return };
        // A line may be what a macro gives.
        let is_made = upper.split(|byte| *byte == b'\n').any(|line| {
            let line = line.trim_ascii();
            line.strip_prefix(b"SET").map_or(line, <[u8]>::trim_ascii).starts_with(b"$")
        });
        if is_made || has(b"GRIDRESOURCE") || has(b"COPY") || has(b"RENAME") || definition.template.is_some() {
            return;
        }
        let at = Location { line: place.line + number as u32 + 1, column: 1, ..place };
        let found = Diagnostic::warning_at("the route to the grid universe has no `GridResource`", Some(at));
        let found = found.help("add `GridResource = \"batch slurm\"` or another resource: jobs fail without it");
        self.report(found.code("odd-line"), Some(shown_name(definition.name)));
    }

    /// The values of a route that the job router cannot use: a grid resource of no kind, and more idle jobs than jobs.
    pub(super) fn route_values(&mut self, definition: &Definition<'_>) {
        let is_route = bare(definition.name).to_ascii_uppercase().starts_with(b"JOB_ROUTER_ROUTE_");
        let Some(place) = definition.place.cloned().filter(|_| is_route && definition.template.is_none()) else {
            return;
        };
        let text = shown_name(definition.raw);
        let lines = text.lines().enumerate().filter(|_| text.contains('\n'));
        let (mut jobs, mut idle, mut found) = (None, None, Vec::new());
        for (number, line) in lines {
            let Some((name, value)) = line.split_once('=') else { continue };
            let (name, value) = (name.trim(), value.trim());
            let at = || Location { line: place.line + number as u32 + 1, column: 1, ..place.clone() };
            if name.eq_ignore_ascii_case("GridResource") {
                let fault = grid_fault(value.trim_matches('"')).filter(|_| !value.contains('$') && !value.is_empty());
                found.extend(fault.map(|(message, help)| Diagnostic::warning_at(message, Some(at())).help(help)));
            } else if name.eq_ignore_ascii_case("MaxJobs") {
                jobs = value.parse::<u64>().ok();
            } else if name.eq_ignore_ascii_case("MaxIdleJobs") {
                idle = value.parse::<u64>().ok().map(|idle| (idle, at()));
            }
        }
        if let (Some(jobs), Some((idle, at))) = (jobs, idle)
            && idle > jobs
        {
            let message = format!("`MaxIdleJobs` {idle} is more than `MaxJobs` {jobs}: it is never reached");
            found.push(Diagnostic::warning_at(message, Some(at)).help("write less, or remove it"));
        }
        for one in found {
            self.report(one.code("odd-line"), Some(shown_name(definition.name)));
        }
    }

    /// `$(Owner)` in a transform: a macro that nothing defines, with the name of an attribute of jobs.
    pub(super) fn job_macros(&mut self, definition: &Definition<'_>) {
        let Some(place) = definition.place.cloned() else { return };
        // A macro of the transform is set at the beginning of a line, or by a command.
        let upper = definition.raw.to_ascii_uppercase();
        let lines = upper.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let set: BTreeSet<&[u8]> = lines
            .map(|line| {
                let line = line.strip_prefix(b"EVALMACRO").map_or(line, <[u8]>::trim_ascii_start);
                let name = line.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'=').count();
                if name < line.len() { &line[..name] } else { b"" }
            })
            .collect();
        let starts = LineIndex::of(definition.raw);
        for at in memchr::memmem::find_iter(definition.raw, b"$(MY.") {
            let rest = &definition.raw[at + b"$(MY.".len()..];
            let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let lower = rest[..length].to_ascii_lowercase();
            let own = self.transforms.get(&lower.to_ascii_uppercase()).is_some_and(|times| *times > 1);
            let Some(meant) = misspelled_own(&lower).filter(|_| !own) else { continue };
            let line = starts.line(at) as u32;
            let message = format!("HTCondor does not know an attribute `{}`", shown_name(&rest[..length]));
            let at = Location { line: place.line + line, column: 1, ..place.clone() };
            let found = Diagnostic::warning_at(message, Some(at)).did_you_mean(Some(meant));
            self.report(found.code("unknown-attribute"), Some(shown_name(definition.name)));
        }
        for (at, _, name) in plain_references(definition.raw) {
            let is_set = set.contains(name.to_ascii_uppercase().as_slice());
            let is_job = is_of_jobs(&name.to_ascii_lowercase());
            if is_set || !is_job || self.config.definition(name).is_some() {
                continue;
            }
            let name = shown_name(name);
            let line = starts.line(at) as u32;
            let message = format!("`$({name})` is not defined and expands to nothing");
            let at = Location { line: place.line + line, column: 1, ..place.clone() };
            let found =
                Diagnostic::warning_at(message, Some(at)).help(format!("write `$(MY.{name})` for the job's attribute"));
            self.report(found.code("undefined-macro"), Some(shown_name(definition.name)));
            if let Some(alarm) = self.alarms.last_mut() {
                alarm.severity = Severity::Warning;
            }
        }
    }
}
