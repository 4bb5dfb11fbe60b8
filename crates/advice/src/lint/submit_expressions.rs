//! Values of submit commands that are expressions, beside what all expressions have (times, ranks, properties of GPUs), and the
//! names that a file defines for them.
//!
//! In: the value of a command, and what the file defines. Out: the finding about it.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::{is_known, only_in};
use super::compared_values::wrong_size;
use super::expression::Role;
use super::knobs::{MATCH, ON_ACCESS_POINT};
use super::rules::{asks, meant_literal, published};
use super::submit_requests::{is_amount, number_expected};
use super::submit_values::bad_value;
use super::units::{NamedAmount, meant_of, named_amounts};
use super::versions::LintVersions;
use crate::submit::statements::{queue_arguments, statements};
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions, Span};
use classmate_config::internal::config::check::seconds_of_days;

/// The most amounts in all comments with which each limit of time is compared.
const MAX_AMOUNTS: usize = 100;

/// The names that a submit file defines, upper case.
#[derive(Default)]
pub(super) struct Own {
    /// Attributes it gives its jobs.
    pub(super) attributes: BTreeSet<Vec<u8>>,
    /// Their values, as far as they are known.
    pub(super) ad: ClassAd,
    /// The values of those that have one value.
    pub(super) types: ClassAd,
    /// True if the jobs run on the access point.
    pub(super) is_local: bool,
    /// Macros that something refers to, or that `queue` sets.
    pub(super) macros: BTreeSet<Vec<u8>>,
    /// The one value, with a unit, of each macro that has such: names in lower case.
    pub(super) sizes: BTreeMap<String, String>,
    /// The one value of each macro that is a plain integer, nothing for a name with other values: names in lower case.
    pub(super) numbers: BTreeMap<String, Option<i64>>,
    /// The comments right above statements, by the offsets of these.
    pub(super) comments: BTreeMap<usize, String>,
    /// The amounts that comments name; none of more than [`MAX_AMOUNTS`].
    pub(super) named: Vec<NamedAmount>,
    /// The values of commands that give a reason: names in lower case.
    pub(super) reasons: BTreeMap<String, String>,
    /// The versions in which expressions are read and compared.
    pub(super) versions: LintVersions,
}

impl Own {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut own = Own::default();
        let (mut comment, mut named) = (String::new(), Vec::new());
        for (_, start, line) in statements(text).0 {
            let line = line.trim_ascii();
            if line.starts_with(b"#") {
                comment.push_str(&String::from_utf8_lossy(line));
                comment.push(' ');
                named.extend(named_amounts(&String::from_utf8_lossy(line)));
            } else if !comment.is_empty() {
                own.comments.insert(start, std::mem::take(&mut comment));
            }
            let name = line[..memchr::memchr(b'=', line).unwrap_or(0)].trim_ascii().to_ascii_uppercase();
            if let Some(name) = name.as_slice().strip_prefix(b"+").or_else(|| name.strip_prefix(b"MY.")) {
                let is_first = own.attributes.insert(name.to_vec());
                let value = &line[memchr::memchr(b'=', line).map_or(line.len(), |at| at + 1)..];
                // Of a name with several values, none is known.
                if !is_first {
                    own.types.remove(Name::new(name));
                }
                if let Ok(expr) = parse_expr(value.trim_ascii(), &own.options()) {
                    own.ad.insert_expr(Name::new(name), &expr);
                    if is_first {
                        own.types.insert_expr(Name::new(name), &expr);
                    }
                }
            }
            let value = line[(memchr::memchr(b'=', line).map_or(0, |at| at + 1))..].trim_ascii();
            let value = String::from_utf8_lossy(value).into_owned();
            let lower = String::from_utf8_lossy(&name).to_ascii_lowercase();
            if matches!(lower.as_str(), "universe" | "jobuniverse") {
                own.is_local = matches!(value.to_ascii_lowercase().as_str(), "local" | "scheduler" | "7" | "12");
            }
            if lower.ends_with("_reason") {
                own.reasons.insert(lower.clone(), value.clone());
            }
            if !line.starts_with(b"#") && !lower.is_empty() {
                let number = value.parse::<i64>().ok();
                own.numbers.entry(lower.clone()).and_modify(|known| *known = None).or_insert(number);
            }
            let has_unit = is_amount(&value) && !value.ends_with(|sign: char| sign.is_ascii_digit() || sign == '.');
            let known = if has_unit && !own.sizes.contains_key(&lower) { value } else { String::new() };
            if has_unit || own.sizes.contains_key(&lower) {
                own.sizes.insert(lower, known);
            }
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            for at in memchr::memchr_iter(b'(', line) {
                let rest = &line[at + 1..];
                own.macros.insert(rest[..rest.iter().take_while(|byte| is_word(byte)).count()].to_ascii_uppercase());
            }
            // Names without a sign of their own: `queue name from …`, `if defined name`, `$CHOICE(Process, names)`.
            let first = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let tests = [b"if".as_slice(), b"elif"].iter().any(|word| line[..first].eq_ignore_ascii_case(word));
            let names = if queue_arguments(line).is_some() || tests { Some(line) } else { called(line) };
            if let Some(names) = names {
                own.macros.extend(names.split(|byte| !is_word(byte)).map(<[u8]>::to_ascii_uppercase));
            }
        }
        // A file that names so many amounts does not explain one number with them.
        if named.len() <= MAX_AMOUNTS {
            own.named = named;
        }
        own
    }

    /// The comment above the statement at an offset, and the reason of a command (lower case).
    pub(super) fn beside(&self, start: usize, name: &str) -> String {
        let reason = self.reasons.get(&format!("{name}_reason")).map_or("", String::as_str);
        format!("{}{reason}", self.comments.get(&start).map_or("", String::as_str))
    }

    /// The finding about a number of seconds of which the comment above says another amount.
    pub(super) fn said_otherwise(&self, start: usize, name: &str, number: &str) -> Option<Diagnostic> {
        said_otherwise(name, number, &self.beside(start, name)).or_else(|| {
            // The number of a limit may be explained at the beginning of the file.
            let is_limit = matches!(name, "allowed_execute_duration" | "allowed_job_duration");
            let found = is_limit.then(|| said_otherwise_of(name, number, &self.named))??;
            found.message.contains(&format!("`{number} ")).then_some(found)
        })
    }

    /// The role of `requirements`.
    pub(super) fn requirements(&self) -> Role {
        if self.is_local { ON_ACCESS_POINT } else { MATCH }
    }

    /// The reading of values, with places.
    pub(super) fn options(&self) -> ParseOptions {
        let semantics = self.versions.read;
        ParseOptions { quoting: Quoting::Old, semantics, places: true, ..ParseOptions::default() }
    }

    /// The finding about a value that is a word of which nothing is known.
    pub(super) fn unknown_value(&self, text: &[u8]) -> Option<Diagnostic> {
        let own = |word: Name| self.attributes.contains(&word.folded().to_ascii_uppercase());
        let no_macro = memchr::memchr(b'$', text).is_none();
        no_macro.then(|| published(text, &self.options(), &|word| is_known(word.folded()) || own(word)))?
    }

    /// Returns true if a word is probably not an attribute. Custom attributes of slots mostly have capitals.
    pub(super) fn is_unknown_word(&self, word: Name) -> bool {
        let capital = word.display().bytes().any(|byte| byte.is_ascii_uppercase()) && !is_grid_site(&word.display());
        !(capital || is_known(word.folded()) || self.attributes.contains(&word.folded().to_ascii_uppercase()))
    }
}

/// Tests for the name of a site of the LHC grid, `T2_DE_DESY`: a tier, a country and a place.
fn is_grid_site(word: &str) -> bool {
    let mut parts = word.splitn(3, '_');
    let tier = parts.next().is_some_and(|tier| matches!(tier, "T0" | "T1" | "T2" | "T3"));
    let country = parts.next().is_some_and(|two| two.len() == 2 && two.bytes().all(|byte| byte.is_ascii_uppercase()));
    tier && country && parts.next().is_some_and(|place| !place.is_empty())
}

/// A line from the first function on that it calls, `$NAME(arguments)`: a part of these may be the name of a macro.
pub(super) fn called(line: &[u8]) -> Option<&[u8]> {
    let rests = memchr::memchr_iter(b'$', line).map(|dollar| &line[dollar + 1..]);
    let mut calls = rests.filter(|rest| {
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        name > 0 && rest.get(name) == Some(&b'(')
    });
    calls.next()
}

/// Properties that `condor_gpu_discovery` prints of each GPU.
const PROPERTIES: [&str; 13] = [
    "Capability",
    "ClockMhz",
    "ComputeUnits",
    "CoresPerCU",
    "DeviceName",
    "DevicePciBusId",
    "DeviceUuid",
    "DriverVersion",
    "ECCEnabled",
    "GlobalMemoryMb",
    "MaxSupportedVersion",
    "OpenCLVersion",
    "WarpSize",
];

/// The findings about the properties of a GPU, which have no prefix: `Capability`, not `CUDACapability`.
pub(super) fn of_gpus(text: &[u8], options: &ParseOptions) -> Vec<Diagnostic> {
    const SHORT: [(&str, &str); 7] = [
        ("globalmemory", "GlobalMemoryMb"),
        ("globalmemorymib", "GlobalMemoryMb"),
        ("memory", "GlobalMemoryMb"),
        ("memorymb", "GlobalMemoryMb"),
        ("name", "DeviceName"),
        ("devicememory", "GlobalMemoryMb"),
        ("computecapability", "Capability"),
    ];
    let Ok(expr) = parse_expr(text, options) else { return Vec::new() };
    let tree = expr.tree();
    if let Node::Literal(Literal::Str(inner)) = tree.node(tree.bare(expr.root())) {
        let message = "this is a string, and not a condition: no GPU fulfils it";
        let found = Diagnostic::warning(message, Span::new(0, text.len())).code("type-clash");
        return vec![found.help(format!("write `{}`", String::from_utf8_lossy(inner)))];
    }
    let finding = |id| {
        if let Some(reference) = tree.reference(id) {
            let name = reference.name.display().into_owned();
            let lower = name.to_ascii_lowercase();
            let short = SHORT.iter().find(|(short, _)| *short == lower).map(|(_, meant)| format!("write `{meant}`"));
            let is_property = PROPERTIES.iter().any(|known| known.eq_ignore_ascii_case(&name));
            let near = near::closest_within(1, name.as_bytes(), PROPERTIES).filter(|_| !is_property);
            if let Some(help) = near.map(|meant| format!("did you mean `{meant}`?")).or(short) {
                let message = format!("`{name}` is not a property of a GPU");
                return Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("unseen-attribute"));
            }
            let property = ["cuda", "gpus_"]
                .iter()
                .find_map(|prefix| Some(&name[lower.strip_prefix(prefix).map(|_| prefix.len())?..]))?;
            let message = format!("`{name}` is not a property of a GPU: the properties have no prefix");
            return Some(
                Diagnostic::warning(message, tree.span(id)?)
                    .help(format!("write `{property}`"))
                    .code("unseen-attribute"),
            );
        }
        let Node::Binary(op, left, right) = *tree.node(id) else { return None };
        let name = tree.reference(tree.bare(left)).filter(|_| matches!(op.precedence(), 6 | 7))?.name;
        let span = tree.span(id)?;
        if let Node::Attr(word) = tree.node(tree.bare(right))
            && matches!(name.folded(), b"devicename" | b"deviceuuid")
        {
            let message = format!("`{word}` without quotes is an attribute, which a GPU does not have");
            let help = format!("write `{name} {} \"{word}\"`", op.symbol());
            return Some(Diagnostic::warning(message, span).help(help).code("unquoted-word"));
        }
        match (name.folded(), tree.node(tree.bare(right))) {
            (
                b"capability"
                | b"globalmemorymb"
                | b"driverversion"
                | b"maxsupportedversion"
                | b"computeunits"
                | b"clockmhz",
                Node::Literal(Literal::Str(text)),
            ) => {
                let message = format!("`{name}` is a number: its comparison with a string is ERROR");
                let help = format!("write `{name} {} {}`", op.symbol(), String::from_utf8_lossy(text));
                Some(Diagnostic::warning(message, span).help(help).code("type-clash"))
            }
            // The largest capability is 12.
            (b"capability", Node::Literal(Literal::Int(number))) if *number >= 20 => {
                let meant = *number as f64 / 10.0;
                let message = format!("`{name}` is a version such as 8.6, and never {number}");
                let help = format!("write `{name} {} {meant:.1}`", op.symbol());
                Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
            }
            (b"globalmemorymb", Node::Literal(Literal::Int(number))) => {
                let looks = wrong_size("MiB", *number as f64)?;
                let message = format!("`{name}` is in MiB, and the number is probably {looks}");
                Some(Diagnostic::warning(message, span).help(format!("write `{number} * 1024`")).code("odd-unit"))
            }
            _ => None,
        }
    };
    (tree.first_of(expr.root())..=expr.root()).filter_map(finding).collect()
}

/// `requirements = Capability >= 8.0`: the property is in the ad of each GPU, and not in that of the slot.
pub(super) fn property_of_gpu(command: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    /// Functions that evaluate an expression in other ads, lower case.
    const IN_OTHERS: [&[u8]; 2] = [b"countmatches", b"evalineachcontext"];
    let is_of_slot = matches!(command, "requirements" | "rank");
    let expr = parse_expr(text, &own.options()).ok().filter(|_| is_of_slot)?;
    let tree = expr.tree();
    let all = || tree.first_of(expr.root())..=expr.root();
    let is_in_others = |id| match *tree.node(id) {
        Node::Call(call) => IN_OTHERS.contains(&tree.calls[call as usize].name.folded()),
        _ => false,
    };
    if all().any(is_in_others) {
        return None;
    }
    let is_property = |id: &NodeId| {
        let reference = tree.reference(*id).filter(|one| one.scope != RefScope::My);
        reference.is_some_and(|one| {
            let is_one = PROPERTIES.iter().any(|known| known.eq_ignore_ascii_case(&one.name.display()));
            is_one && !own.attributes.contains(&one.name.folded().to_ascii_uppercase()) && !asks(tree, *id)
        })
    };
    let id = all().find(is_property)?;
    let name = tree.reference(id)?.name;
    let message = format!("`{name}` is a property of a GPU, and not an attribute of the slot");
    let help = if name.folded() == b"capability" {
        "write `gpus_minimum_capability = …`, or the condition into `require_gpus`"
    } else {
        "write the condition into `require_gpus`"
    };
    Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("unseen-attribute"))
}

/// `time() - QDate > 2 * DAY`: a word for a time, which no ad has.
pub(super) fn word_of_time(text: &[u8], own: &Own) -> Option<Diagnostic> {
    const WORDS: [(&[u8], u32); 9] = [
        (b"day", 86_400),
        (b"days", 86_400),
        (b"hour", 3_600),
        (b"hours", 3_600),
        (b"minute", 60),
        (b"minutes", 60),
        (b"seconds", 1),
        (b"week", 604_800),
        (b"weeks", 604_800),
    ];
    let expr = parse_expr(text, &own.options()).ok()?;
    let tree = expr.tree();
    let seconds = |id: NodeId| {
        let reference = tree.reference(tree.bare(id)).filter(|one| one.scope == RefScope::Either)?;
        let (_, seconds) = WORDS.iter().find(|(word, _)| *word == reference.name.folded())?;
        let is_own = own.attributes.contains(&reference.name.folded().to_ascii_uppercase());
        (!is_own && !asks(tree, id)).then_some(*seconds)
    };
    // `days * 86400` and `days * 24 * 3600` count with the word, which is another mistake.
    let is_count = |id: NodeId, seconds: u32| match *tree.node(tree.bare(id)) {
        Node::Literal(Literal::Int(count)) => {
            let seconds = i64::from(seconds);
            count == 1 || count > 1 && !(seconds % count == 0 && [1, 60, 3_600, 86_400].contains(&(seconds / count)))
        }
        Node::Literal(Literal::Real(_)) => true,
        _ => false,
    };
    // `time() - EnteredCurrentStatus`
    let is_time = |id: NodeId| {
        let is_now = |id| match *tree.node(id) {
            Node::Call(call) => tree.calls[call as usize].name.folded() == b"time",
            _ => tree.reference(id).is_some_and(|one| one.name.folded() == b"currenttime"),
        };
        (tree.first_of(id)..=id).any(is_now)
    };
    let word_in = |id: NodeId| {
        let Node::Binary(op, left, right) = *tree.node(id) else { return None };
        let is_factor = op == BinaryOp::Multiply;
        let is_limit = matches!(op.precedence(), 6 | 7);
        let is_it = |other: NodeId, seconds| is_factor && is_count(other, seconds) || is_limit && is_time(other);
        let sides = [(left, right), (right, left)];
        sides.into_iter().find_map(|(one, other)| Some((one, seconds(one).filter(|of| is_it(other, *of))?)))
    };
    let (id, seconds) = (tree.first_of(expr.root())..=expr.root()).find_map(word_in)?;
    let span = tree.span(tree.bare(id))?;
    let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
    let message = format!("`{shown}` is not an attribute of jobs or slots: the time is UNDEFINED");
    let is_macro = own.numbers.contains_key(&shown.to_ascii_lowercase());
    let help = if is_macro { format!("write `$({shown})`") } else { format!("write `{seconds}`") };
    Some(Diagnostic::warning(message, span).help(help).code("unknown-attribute"))
}

/// `leave_in_queue = completed`: a policy that is one word of which nothing is known.
pub(super) fn word_for_policy(name: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    const POLICIES: [&str; 7] = [
        "leave_in_queue",
        "on_exit_hold",
        "on_exit_remove",
        "periodic_hold",
        "periodic_release",
        "periodic_remove",
        "periodic_vacate",
    ];
    const STATES: [(&[u8], u32); 10] = [
        (b"complete", 4),
        (b"completed", 4),
        (b"done", 4),
        (b"finished", 4),
        (b"held", 5),
        (b"idle", 1),
        (b"removed", 3),
        (b"running", 2),
        (b"success", 4),
        (b"suspended", 7),
    ];
    let expr = parse_expr(text, &own.options()).ok().filter(|_| POLICIES.contains(&name))?;
    let tree = expr.tree();
    let root = tree.bare(expr.root());
    let word = tree.reference(root).filter(|one| one.scope == RefScope::Either)?.name;
    let upper = word.folded().to_ascii_uppercase();
    let state = STATES.iter().find(|(state, _)| *state == word.folded()).map(|(_, number)| *number);
    let is_known = is_known(word.folded()) || own.attributes.contains(&upper) || meant_literal(word.folded()).is_some();
    if is_known || state.is_none() && !own.is_unknown_word(word) {
        return None;
    }
    let span = tree.span(root)?;
    let shown = String::from_utf8_lossy(text.get(span.range())?).into_owned();
    let message = format!("`{shown}` is not an attribute of jobs, so `{name}` is UNDEFINED");
    let help = match (name, state) {
        _ if own.numbers.contains_key(&shown.to_ascii_lowercase()) => format!("write `$({shown})`"),
        ("on_exit_hold", _) => "write a condition, such as `ExitCode =!= 0`".to_owned(),
        ("on_exit_remove", _) => "write a condition, such as `ExitCode =?= 0`".to_owned(),
        (_, Some(state)) => format!("write `JobStatus == {state}`"),
        _ => "write a condition, such as `JobStatus == 4`".to_owned(),
    };
    Some(Diagnostic::warning(message, span).help(help).code("unknown-attribute"))
}

/// `deferral_time = 2026-12-01 08:00`: a date, where a number of seconds is read.
pub(super) fn date(name: &str, text: &str) -> Option<Diagnostic> {
    let plain = text.trim_matches('"');
    let (day, time) = plain.split_once([' ', 'T']).unwrap_or((plain, "00:00"));
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let are_digits = |text: &str, sign: char, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(sign).collect();
        parts.len() == lengths.len() && parts.iter().zip(lengths).all(|(part, length)| digits(part, *length))
    };
    let time = time.trim_end_matches('Z').trim();
    let is_time = are_digits(time, ':', &[2, 2]) || are_digits(time, ':', &[2, 2, 2]);
    if name != "deferral_time" || !are_digits(day, '-', &[4, 2, 2]) || !is_time {
        return None;
    }
    let seconds = if time.len() == 5 { ":00" } else { "" };
    let message = format!("`{text}` is a date, and `{name}` is a number of seconds since 1970");
    let help =
        format!("write `int(absTime(\"{day}T{time}{seconds}Z\"))`, with a zone such as `+01:00` in place of `Z`");
    Some(Diagnostic::error(message, Span::new(0, text.len())).help(help).code("rejected-submit"))
}

/// A limit of the time in any status, where the comment or the reason speaks of the time that a job runs.
pub(super) fn of_any_status(name: &str, text: &str, beside: &str) -> Option<Diagnostic> {
    const WORDS: [&str; 5] = ["ran", "run", "running", "runs", "runtime"];
    // A comment that speaks of other jobs means them.
    const OTHERS: [&str; 11] =
        ["cannot", "idle", "never", "not", "or", "queue", "queued", "stuck", "wait", "waiting", "waits"];
    let plain: String = text.split_whitespace().collect::<String>().to_ascii_lowercase().replace(['(', ')'], "");
    let is_limit = ["time-enteredcurrentstatus>", "currenttime-enteredcurrentstatus>"];
    let rest = is_limit.iter().find_map(|start| plain.strip_prefix(start))?;
    let is_number = rest.bytes().all(|byte| byte.is_ascii_digit() || b"=*+-".contains(&byte));
    let words: Vec<&str> = beside.split(|sign: char| !sign.is_ascii_alphanumeric()).collect();
    let has = |all: &[&str]| words.iter().any(|word| all.iter().any(|known| known.eq_ignore_ascii_case(word)));
    let speaks = has(&WORDS) && !has(&OTHERS);
    if !matches!(name, "periodic_hold" | "periodic_remove") || !is_number || !speaks {
        return None;
    }
    let message = "this is the time in any status: idle jobs that wait so long count as well";
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
    Some(found.help("write `JobStatus == 2 && …` for the time that a job runs"))
}

/// Commands that are numbers of seconds.
pub(super) const SECONDS: [&str; 13] = [
    "allowed_execute_duration",
    "allowed_job_duration",
    "batch_runtime",
    "cron_prep_time",
    "cron_window",
    "deferral_prep_time",
    "kill_sig_timeout",
    "deferral_window",
    "job_lease_duration",
    "job_max_vacate_time",
    "keep_claim_idle",
    "max_job_retirement_time",
    "next_job_start_delay",
];

/// A word of which nothing is known in the calculation of a time: `deferral_time = midnight + 3600`.
pub(super) fn unknown_part(name: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    let is_time = name == "deferral_time" || SECONDS.contains(&name);
    let expr = parse_expr(text, &own.options()).ok().filter(|_| is_time && memchr::memchr(b'$', text).is_none())?;
    let tree = expr.tree();
    let is_unknown = |id: &NodeId| {
        let reference = tree.reference(*id).filter(|one| one.scope == RefScope::Either);
        reference.is_some_and(|one| own.is_unknown_word(one.name))
    };
    let span = tree.span((tree.first_of(expr.root())..=expr.root()).find(is_unknown)?)?;
    let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
    let message = format!("`{shown}` without quotes is an attribute reference");
    let help = "write numbers, or known attributes";
    Some(Diagnostic::warning(message, span).help(help).code("unquoted-word"))
}

/// A number of seconds of which the comment above says another amount.
fn said_otherwise(name: &str, text: &str, comment: &str) -> Option<Diagnostic> {
    said_otherwise_of(name, text, &named_amounts(comment))
}

/// A number of seconds of which comments name another amount.
fn said_otherwise_of(name: &str, text: &str, named: &[NamedAmount]) -> Option<Diagnostic> {
    const SIZES: [(&str, &str); 5] = [
        ("core_size", "bytes"),
        ("coresize", "bytes"),
        ("max_transfer_input_mb", "MiB"),
        ("max_transfer_output_mb", "MiB"),
        ("stack_size", "bytes"),
    ];
    let size = SIZES.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit);
    let unit = if SECONDS.contains(&name) { "seconds" } else { size? };
    let number = text.parse::<f64>().ok()?;
    let (amount, product) = meant_of(named, number, unit)?;
    let message = format!("`{name}` is in {unit}, and the comment says `{}`", amount.shown);
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-unit");
    Some(found.help(format!("write `{product}`")))
}

/// `allowed_execute_duration = 24 * 60`: minutes of days, where seconds are read.
pub(super) fn minutes_of_days(name: &str, text: &str) -> Option<Diagnostic> {
    let meant = seconds_of_days(text).filter(|_| SECONDS.contains(&name))?;
    let message = format!("`{name}` is in seconds, and `{text}` is a number of minutes");
    Some(Diagnostic::warning(message, Span::new(0, text.len())).help(format!("write `{meant}`")).code("odd-unit"))
}

/// `+WantGPULab = "true"`: a string, where the name asks for a boolean.
pub(super) fn quoted_truth(attribute: &str, expr: &Expr) -> Option<Diagnostic> {
    const STARTS: [&str; 7] = ["want", "is", "has", "use", "allow", "enable", "require"];
    let Node::Literal(Literal::Str(text)) = expr.node() else { return None };
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let begins = |start: &&str| {
        let (word, rest) = attribute.split_at_checked(start.len()).unwrap_or_default();
        word.eq_ignore_ascii_case(start) && rest.starts_with(|next: char| next == '_' || next.is_ascii_uppercase())
    };
    let is_truth = matches!(text.as_str(), "true" | "false") && STARTS.iter().any(begins);
    let span = expr.tree().span(expr.root()).filter(|_| is_truth)?;
    let message = "this is a string, and not a boolean: a condition that takes it for one is ERROR";
    Some(Diagnostic::warning(message, span).help(format!("write `{text}` without quotes")).code("type-clash"))
}

/// The finding about a rank: a string, an attribute of the job, or a word.
pub(super) fn of_rank(text: &[u8], own: &Own, name: &str) -> Option<Diagnostic> {
    if text.len() > 1 && text.starts_with(b"\"") && is_literal(text, &own.options()) {
        let warning = Diagnostic::warning("a string is not a number, so it counts as 0", Span::new(0, text.len()));
        return Some(warning.help("remove the quotes").code("type-clash"));
    }
    // `rank = RequestGPUs` beside a request that depends on the slot.
    let is_computed = |name: Name| {
        let resource = name.folded().strip_prefix(b"request").unwrap_or_default();
        let command = format!("request_{}", String::from_utf8_lossy(resource));
        // An amount with a unit is one value.
        let has_unit = own.sizes.get(&command).is_some_and(|size| !size.is_empty());
        matches!(own.numbers.get(&command), Some(None)) && !has_unit
    };
    let same = same_for_all(text, &own.options()).filter(|_| {
        let refers = |expr: Expr| expr.tree().references(expr.root()).any(|reference| is_computed(reference.name));
        !parse_expr(text, &own.options()).is_ok_and(refers)
    });
    let same = same.or_else(|| always_zero(text, &own.options()));
    let same = same.or_else(|| prefers_load(text, &own.options()));
    same.or_else(|| own.unknown_value(text).map(|found| number_expected(found, name)))
}

/// `rank = LoadAvg`: the machines with the highest load are the first ones.
fn prefers_load(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    const LOADS: [&[u8]; 4] = [b"loadavg", b"totalloadavg", b"condorloadavg", b"totalcondorloadavg"];
    let expr = parse_expr(text, options).ok()?;
    let tree = expr.tree();
    let load = tree.reference(tree.bare(expr.root())).filter(|one| LOADS.contains(&one.name.folded()))?;
    let message = format!("the slot with the largest rank is taken, here the one with the highest `{}`", load.name);
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
    Some(found.help(format!("write `-TARGET.{}`", load.name)))
}

/// A division of integers in a rank that is 0 for all slots: `Mips / 1000000`.
fn always_zero(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    /// Attributes that are integers, and numbers above all values that machines have.
    const MOST: [(&[u8], i64); 7] = [
        (b"cpus", 4_096),
        (b"gpus", 256),
        (b"kflops", 100_000_000),
        (b"memory", 100_000_000),
        (b"mips", 1_000_000),
        (b"totalcpus", 4_096),
        (b"totalmemory", 100_000_000),
    ];
    let expr = parse_expr(text, options).ok()?;
    let tree = expr.tree();
    let zero = |id| {
        let Node::Binary(BinaryOp::Divide, left, right) = *tree.node(id) else { return None };
        let Node::Literal(Literal::Int(divisor)) = tree.node(tree.bare(right)) else { return None };
        let name = tree.reference(tree.bare(left))?.name;
        let (_, most) = MOST.iter().find(|(known, _)| *known == name.folded())?;
        let message = format!("a division of integers: `{name}` is below {divisor} on every machine, so this is 0");
        let found = Diagnostic::warning(message, tree.span(id)?).code("integer-division");
        (*divisor >= *most).then(|| found.help(format!("write `{name} / {divisor}.0`")))
    };
    (tree.first_of(expr.root())..=expr.root()).find_map(zero)
}

/// A rank of attributes that the job alone has: it is the same for all slots.
pub(super) fn same_for_all(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    let expr = parse_expr(text, options).ok().filter(|_| memchr::memchr(b'$', text).is_none())?;
    let (tree, root) = (expr.tree(), expr.root());
    let is_of_job =
        |reference: &Reference| reference.scope != RefScope::Target && only_in(reference.name.folded()) == Some("job");
    let mut all = tree.references(root).peekable();
    let first = all.peek()?.name;
    let message = format!("`{first}` is an attribute of the job, so this is the same for all slots");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
    all.all(|reference| is_of_job(&reference))
        .then(|| found.help("write attributes of slots, such as `Memory` or `KFlops`"))
}

/// A string as the value of a command that is a number or a condition: `retry_until = "0"`.
pub(super) fn string_for_number(name: &str, text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    const STRINGS: [&str; 3] = ["buffer_files", "concurrency_limits_expr", "file_remaps"];
    let is_string = parse_expr(text, options).is_ok_and(|expr| matches!(expr.node(), Node::Literal(Literal::Str(_))));
    if !is_string || name.ends_with("_reason") || STRINGS.contains(&name) {
        return None;
    }
    let shown = String::from_utf8_lossy(text).into_owned();
    // What `condor_submit` rejects is an error.
    if bad_value(name, &shown).is_some() {
        return None;
    }
    let message = format!("`{name}` is a number or a condition, and `{shown}` is a string");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("type-clash");
    Some(found.help(format!("write `{}`", shown.trim_matches('"'))))
}

/// Returns true for a constant.
pub(super) fn is_literal(text: &[u8], options: &ParseOptions) -> bool {
    parse_expr(text, options).is_ok_and(|expr| matches!(expr.node(), Node::Literal(_)))
}
