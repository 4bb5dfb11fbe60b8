//! Constants that attributes are compared with or set to, and that they never have: types, ranges, sets of values, units.
//!
//! In: an attribute whose facts are known, and a constant. Out: the finding about it.

use super::attributes::{Fact, Kind, fact};
use super::comparison::Measured;
use classmate::internal::analysis::compare::compare;
use classmate::internal::analysis::values::{Truths, Values};
use classmate::internal::builtin::near;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::{Diagnostic, Name, Span, Value};

/// Numbers of minutes, hours or days that people write, improbable as seconds.
pub(super) const OTHER_TIMES: [f64; 7] = [7.0, 12.0, 15.0, 24.0, 36.0, 48.0, 72.0];

/// More of them, improbable for an attribute that counts seconds: a state may be so old, a keyboard is not idle after so short a time.
pub(super) const SHORT_TIMES: [f64; 4] = [10.0, 20.0, 30.0, 45.0];

/// The attribute of a slot that a request, lower case, is at most.
pub(super) fn requested(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"request").filter(|resource| [&b"cpus"[..], b"memory", b"disk"].contains(resource))
}

/// The effect of a comparison between two types.
pub(super) fn effect(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Is => "is always false",
        BinaryOp::Isnt => "is always true",
        _ => "is ERROR",
    }
}

/// A value of another type than the attribute.
pub(super) fn of_type(measured: &Measured, op: BinaryOp, value: &Value, text: &str, span: Span) -> Option<Diagnostic> {
    let (fact, identity) = (measured.fact, matches!(op, BinaryOp::Is | BinaryOp::Isnt));
    let clash = match (fact.kind?, value) {
        (Kind::String, Value::Int(_) | Value::Real(_) | Value::Bool(_)) => true,
        (Kind::Integer | Kind::Number | Kind::Boolean, Value::Str(_)) => true,
        // A boolean counts as 0 or 1, which some numbers are.
        (Kind::Integer | Kind::Number, Value::Bool(_)) => identity || fact.range.is_none_or(|range| range != (0, 1)),
        (Kind::Boolean, Value::Int(_) | Value::Real(_)) => identity,
        (Kind::Integer, Value::Real(_)) => identity,
        _ => false,
    };
    if !clash {
        return None;
    }
    let (shown, a) = (&measured.shown, fact.kind.map_or("", Kind::with_article));
    let message = match value {
        Value::Bool(truth) if fact.kind != Some(Kind::String) && !identity => {
            format!("`{shown}` is {a}, and `{text}` counts as {}", u8::from(*truth))
        }
        _ => format!("`{shown}` is {a}: its comparison with `{text}` {}", effect(op)),
    };
    let symbol = op.symbol();
    let meant = match value {
        Value::Str(word) => meant(fact, &word.to_string()),
        Value::Int(_) | Value::Real(_) if fact.kind == Some(Kind::String) => Some(format!("\"{text}\"")),
        Value::Real(value) if value.fract() == 0.0 => Some(format!("{value}")),
        _ => None,
    };
    let finding = Diagnostic::warning(message, span).code("type-clash");
    Some(match meant {
        Some(meant) if fact.kind == Some(Kind::Boolean) && matches!(op, BinaryOp::Equal) => {
            finding.help(format!("write `{shown}`, or `{shown} {symbol} {meant}`"))
        }
        Some(meant) => finding.help(format!("write `{shown} {symbol} {meant}`")),
        None => finding.help(format!("compare it with {a}")),
    })
}

/// The value that a string for an attribute of another type means.
pub(super) fn meant(fact: &Fact, word: &str) -> Option<String> {
    let word = word.trim();
    if let Some(code) = fact.code_of(word) {
        return Some(code.to_owned());
    }
    if fact.kind == Some(Kind::Boolean) {
        let truth = ["true", "yes", "1", "t"].iter().any(|known| word.eq_ignore_ascii_case(known));
        return Some(truth.to_string());
    }
    let digits = word.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = (&word[..digits], word[digits..].trim());
    if digits == 0 || number.parse::<f64>().is_err() {
        return None;
    }
    if unit.is_empty() {
        return Some(number.to_owned());
    }
    let power = |letter: u8| b"kmgt".iter().position(|known| *known == letter.to_ascii_lowercase());
    let base = power(*fact.unit?.as_bytes().first()?)?;
    let steps = power(unit.bytes().next()?)?.checked_sub(base)?;
    Some(format!("{number}{}", " * 1024".repeat(steps)))
}

/// A name with a domain, or without one, that the attribute never is: `Owner == "alice@example.org"`.
pub(super) fn of_sign(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let (Value::Str(text), Some(always)) = (value, measured.fact.sign) else { return None };
    let effect = match op {
        BinaryOp::Equal | BinaryOp::Is => "never true",
        BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
        _ => return None,
    };
    let text = text.to_string();
    let is_pattern = text.is_empty() || text.contains(['*', ',', ' ']);
    if text.contains('@') == always || is_pattern {
        return None;
    }
    let (has, help) = if always {
        ("always has a domain, `name@domain`", format!("compare `Owner`, or write `\"{text}@domain\"`"))
    } else {
        ("has no domain", format!("compare `User`, or write `\"{}\"`", text.split('@').next().unwrap_or_default()))
    };
    let message = format!("`{}` {has}: this is {effect}", measured.fact.name);
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

/// A fraction that an integer is compared with for equality.
pub(super) fn of_fraction(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let is_fraction = matches!(value, Value::Real(number) if number.fract() != 0.0);
    if !is_fraction || measured.fact.kind != Some(Kind::Integer) || op != BinaryOp::Equal {
        return None;
    }
    let message = format!("`{}` is an integer: this is never true", measured.fact.name);
    Some(Diagnostic::warning(message, span).help("compare it with an integer").code("impossible-value"))
}

/// A string that the attribute never is.
pub(super) fn of_values(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let (fact, Value::Str(text)) = (measured.fact, value) else { return None };
    let text = text.to_string();
    let always = match op {
        BinaryOp::Equal | BinaryOp::Is => "never true",
        BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
        _ if fact.name == "OpSysAndVer" => {
            let message = "`OpSysAndVer` is a text, so `AlmaLinux10` is before `AlmaLinux9`".to_owned();
            let help = "compare `OpSysMajorVer` with a number, and `OpSysName`";
            return Some(Diagnostic::warning(message, span).help(help).code("impossible-value"));
        }
        _ => return None,
    };
    if let Some((message, help)) = other_form(fact.name, &text) {
        let message = format!("{message}: this is {always}");
        return Some(Diagnostic::warning(message, span).help(help).code("impossible-value"));
    }
    let alike = fact.values.iter().find(|known| known.eq_ignore_ascii_case(&text));
    let shown = &measured.shown;
    let (message, help) = match alike {
        Some(known) if *known == text || !matches!(op, BinaryOp::Is | BinaryOp::Isnt) => return None,
        Some(known) => {
            let equal = if op == BinaryOp::Is { "==" } else { "!=" };
            let message =
                format!("`{}` distinguishes case, and `{}` is `{known}`: this is {always}", op.symbol(), fact.name);
            (message, format!("write `{shown} {} \"{known}\"`, or `{equal}`", op.symbol()))
        }
        None if fact.name == "OpSysAndVer" && text.contains(' ') => {
            let help = format!("write `{shown} {} \"{}\"`", op.symbol(), text.replace(' ', ""));
            (format!("`OpSysAndVer` has no blanks, as in `AlmaLinux9`: this is {always}"), help)
        }
        None if !fact.closed || text.is_empty() => {
            let help = format!("write `{shown} {} \"{}\"`", op.symbol(), misspelled_system(fact, &text)?);
            (format!("`{}` is never `{text}`: this is {always}", fact.name), help)
        }
        // The usual way to refer to an attribute, so that `condor_submit` adds no condition on it.
        None if always == "always true" && text.eq_ignore_ascii_case("dummy") => return None,
        None => {
            let help = fact.spelled(&text).map_or_else(
                || format!("it is one of {}", list(&fact.values)),
                |known| format!("write `{shown} {} \"{known}\"`", op.symbol()),
            );
            (format!("`{}` is never `{text}`: this is {always}", fact.name), help)
        }
    };
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

/// A text in a form that the values of an attribute never have, and the form that they have.
pub(super) fn other_form(name: &str, text: &str) -> Option<(String, String)> {
    match name {
        "OpSysName" if text.contains([' ', '9', '8', '7']) && !text.starts_with("Windows") => {
            let plain = text.trim_end_matches(|sign: char| sign.is_ascii_digit() || " .".contains(sign));
            let message = format!("`OpSysName` has no release, and `{text}` has one");
            (plain.len() < text.len()).then(|| (message, format!("write `\"{plain}\"`, and compare `OpSysMajorVer`")))
        }
        "MyAddress" | "NegotiatorIpAddr" | "ScheddIpAddr" | "StartdIpAddr"
            if text.contains(['.', ':']) && !text.starts_with('<') =>
        {
            let message = format!("`{name}` is an address with a port, `<10.0.0.1:9618?…>`, and never `{text}`");
            Some((message, format!("compare `Machine`, or write `regexp(\"^<{text}[:?]\", {name})`")))
        }
        "Microarch" => {
            let rest = text.get(..6).filter(|start| start.eq_ignore_ascii_case("x86_64") || *start == "x86-64");
            let level = text.bytes().last().filter(u8::is_ascii_digit)?;
            let meant = format!("x86_64-v{}", char::from(level));
            let message = format!("`Microarch` is never `{text}`");
            (rest.is_some() && !text.eq_ignore_ascii_case(&meant) && text.len() > 6)
                .then(|| (message, format!("write `\"{meant}\"`")))
        }
        _ => None,
    }
}

/// Names of systems, beside those of which the values of `OpSysAndVer` are known.
const MORE_SYSTEMS: [&str; 10] =
    ["Amazon", "Fedora", "MacOSX", "openSUSE", "OracleLinux", "RedHat", "RHEL", "Scientific", "SL", "Windows"];

/// Tests whether a word (lower case) is the name of a system and its release, which `OpSysAndVer` (lower case) can be.
pub(super) fn is_release(attribute: &[u8], word: &[u8]) -> bool {
    let Some(fact) = fact(attribute).filter(|fact| fact.name == "OpSysAndVer") else { return false };
    let end = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    let values = fact.values.iter().map(|value| value.trim_end_matches(|sign: char| sign.is_ascii_digit()));
    let is_name = |name: &str| name.as_bytes().eq_ignore_ascii_case(&word[..end]);
    end < word.len() && values.chain(MORE_SYSTEMS).any(is_name)
}

/// The value of `OpSysAndVer`, a name and a release, that one with a slip in the name means: `AlmaLinux9` for `AlmaLinx9`.
pub(super) fn misspelled_system(fact: &Fact, text: &str) -> Option<String> {
    const MORE: [&str; 3] = ["Fedora", "RedHat", "openSUSE"];
    if fact.name != "OpSysAndVer" {
        return None;
    }
    let end = text.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, release) = text.split_at(end);
    let names = fact.values.iter().map(|value| value.trim_end_matches(|sign: char| sign.is_ascii_digit())).chain(MORE);
    let is_slip = |known: &&str| {
        !known.eq_ignore_ascii_case(name) && near::distance(name.as_bytes(), known.as_bytes(), 1).is_some()
    };
    let is_release = !release.is_empty() && release.bytes().all(|byte| byte.is_ascii_digit());
    let is_known = names.clone().any(|known| known.eq_ignore_ascii_case(name));
    let meant = names.filter(|_| name.len() >= 5 && is_release && !is_known).find(is_slip)?;
    Some(format!("{meant}{release}"))
}

/// Names in a row, at most six.
pub(super) fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 6 { " and others" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A number that no value of the attribute satisfies.
pub(super) fn of_range(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let is_number = matches!(value, Value::Int(_) | Value::Real(_));
    // A boolean is 0 or 1 beside a number.
    let truths = (measured.fact.kind == Some(Kind::Boolean)).then_some((0, 1));
    let most = measured.fact.most.filter(|_| is_order(op)).map(|most| (i64::MIN, most));
    let (low, high) = measured.fact.range.or(truths).or(most).filter(|_| is_number)?;
    let (op, always) = match op {
        BinaryOp::Is => (BinaryOp::Equal, "never true"),
        // -1 often stands for no value.
        BinaryOp::NotEqual | BinaryOp::Isnt if matches!(value, Value::Int(-1)) => return None,
        // Every value differs from one that there is not, and a missing one is UNDEFINED.
        BinaryOp::NotEqual => (BinaryOp::Equal, "never false"),
        BinaryOp::Isnt => (BinaryOp::Equal, "always true"),
        op => (op, "never true"),
    };
    let range = Values { ints: Some((low, high)), reals: Some((low as f64, high as f64)), ..Values::none() };
    if compare(op, &range, &Values::value(value)).has(Truths::TRUE) {
        return None;
    }
    let bounds = match (low, high) {
        (low, i64::MAX) => format!("at least {low}"),
        (i64::MIN, high) => format!("at most {high} on Linux"),
        (low, high) => format!("from {low} to {high}"),
    };
    let there = if low == i64::MIN { " there" } else { "" };
    let message = format!("`{}` is {bounds}: this is {always}{there}", measured.fact.name);
    Some(Diagnostic::warning(message, span).help("compare it with a value that it can have").code("impossible-value"))
}

/// The number of a value that is one.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        _ => None,
    }
}

/// Tests whether a comparison is one of order.
pub(super) fn is_order(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt | BinaryOp::Equal | BinaryOp::Is)
}

/// A number that is probably in another unit than the attribute.
pub(super) fn of_unit(measured: &Measured, op: BinaryOp, value: &Value, unit: &str, span: Span) -> Option<Diagnostic> {
    let (value, ordered) = (number_of(value)?, is_order(op));
    let least = matches!(op, BinaryOp::Greater | BinaryOp::GreaterEqual);
    let (is, looks) = match unit {
        "MiB" | "KiB" if ordered => {
            let of_use = || used_size(measured.fact.name, unit, value);
            (format!("is in {unit}"), wrong_size(unit, value).or_else(of_use)?)
        }
        "seconds" if least && (OTHER_TIMES.contains(&value) || !measured.age && SHORT_TIMES.contains(&value)) => {
            ("is in seconds".into(), "minutes, hours or days")
        }
        // Too short for an age of jobs that matters.
        "seconds" if least && measured.shown.contains("QDate") && value == 30.0 => ("is in seconds".into(), "days"),
        "seconds" if measured.age && ordered && value >= 86_400_000.0 => ("is in seconds".into(), "milliseconds"),
        "minutes" if ordered && (2.0..=24.0).contains(&value) => ("counts minutes since midnight".into(), "hours"),
        "hundredths" if (1.0..100.0).contains(&value) => ("is 100 times a release".into(), "the release"),
        "time" if ordered && value >= 1e11 => ("is in seconds since 1970".into(), "milliseconds"),
        "time" if ordered && (2.0..1e8).contains(&value) => ("is in seconds since 1970".into(), "an age"),
        _ => return None,
    };
    let message = format!("`{}` {is}, and the number is probably {looks}", measured.shown);
    let help = match (unit, looks) {
        ("MiB", "GiB") => format!("write `{value} * 1024`"),
        ("hundredths", _) => {
            let major = measured.shown.replace("OpSysVer", "OpSysMajorVer");
            format!("write `{}`, or compare `{major}`", value * 100.0)
        }
        ("KiB", _) if value < 1e6 => format!("write `{value} * 1024` for MiB, `{value} * 1024 * 1024` for GiB"),
        ("seconds", "milliseconds") => format!("write {}", value / 1000.0),
        ("seconds", _) => format!("write `{value} * 60` for minutes, `{value} * 3600` for hours"),
        ("minutes", _) => format!("write `{value} * 60`"),
        ("time", "an age") => format!("write `time() - {}` for the age", measured.shown),
        _ => format!("write the number in {}", if unit == "time" { "seconds" } else { unit }),
    };
    Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
}

/// The unit that a number of MiB or KiB is probably in; `None` if it is plausible.
pub(super) fn wrong_size(unit: &str, value: f64) -> Option<&'static str> {
    match unit {
        "MiB" if (4.0..=64.0).contains(&value) && value % 4.0 == 0.0 => Some("GiB"),
        "MiB" if value >= 4_194_304.0 => Some("KiB or bytes"),
        "KiB" if (8.0..=1024.0).contains(&value) && (value % 10.0 == 0.0 || value % 8.0 == 0.0) => Some("MiB or GiB"),
        "KiB" if value >= 1e12 => Some("bytes"),
        _ => None,
    }
}

/// The unit that a limit of what a job uses is probably in: no job uses so little, or so much.
pub(super) fn used_size(name: &str, unit: &str, value: f64) -> Option<&'static str> {
    const USED: [&str; 5] = ["DiskUsage", "ImageSize", "MemoryUsage", "ProportionalSetSizeKb", "ResidentSetSize"];
    let is_round = value % 1000.0 == 0.0 || value % 1024.0 == 0.0;
    match unit {
        _ if !USED.contains(&name) => None,
        "KiB" if is_round && (1000.0..=65_536.0).contains(&value) => Some("MiB or GiB"),
        "MiB" if value >= 1_048_576.0 => Some("KiB or bytes"),
        // 16 TiB
        "KiB" if value >= 17_179_869_184.0 => Some("bytes"),
        _ => None,
    }
}

/// The diagnostic of a known attribute that an ad sets to a constant that it never has.
pub(super) fn assigned(name: Name, literal: &Literal, text: &str, span: Span) -> Option<Diagnostic> {
    let fact = fact(name.folded())?;
    let value = match literal {
        Literal::Int(value) => Value::Int(*value),
        Literal::Real(value) => Value::Real(*value),
        Literal::Str(value) => Value::Str(value.clone()),
        Literal::Bool(value) => Value::Bool(*value),
        _ => return None,
    };
    let clash = match (fact.kind, &value) {
        (Some(Kind::String), Value::Int(_) | Value::Real(_) | Value::Bool(_)) => true,
        (Some(Kind::Integer | Kind::Number | Kind::Boolean), Value::Str(_)) => true,
        _ => fact.expression && matches!(value, Value::Str(_)),
    };
    if clash {
        let a = if fact.expression { "an expression" } else { fact.kind.map_or("", Kind::with_article) };
        let message = format!("`{}` is {a}, and `{text}` is not", fact.name);
        let help = match &value {
            Value::Str(word) if fact.expression => format!("write `{word}` without quotes"),
            Value::Str(word) => {
                meant(fact, &word.to_string()).map_or_else(|| format!("write {a}"), |meant| format!("write `{meant}`"))
            }
            _ => format!("write `\"{text}\"`"),
        };
        return Some(Diagnostic::warning(message, span).help(help).code("type-clash"));
    }
    let measured = Measured { shown: fact.name.to_owned(), fact, age: false };
    let found = of_values(&measured, BinaryOp::Equal, &value, span);
    let mut found = found.or_else(|| of_range(&measured, BinaryOp::Equal, &value, span))?;
    found.message = found.message.rsplit_once(": this is").map_or(found.message.clone(), |(what, _)| what.to_owned());
    Some(found)
}
