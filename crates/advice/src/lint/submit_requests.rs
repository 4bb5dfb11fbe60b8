//! Requests of submit files: amounts of memory, disk and processors, and their units.
//!
//! In: a command such as `request_memory` and its value. Out: the finding about it.

use std::sync::Arc;

use super::compared_values::wrong_size;
use super::expression::unparsed;
use super::submit::misspelled;
use super::submit_expressions::Own;
use super::submit_values::{bad_value, is_size_unit, may_expand};
use super::units::{in_unit, meant_amount};
use super::{commands, placed, shifted_fix};
use crate::submit::queue::number;
use crate::submit::{bytes, bytes_of_unit};
use classmate::internal::analysis::evaluate::Analysis;
use classmate::internal::analysis::values::{Values, kind};
use classmate::internal::diagnostic::Excerpt;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::Reference;
use classmate::{Diagnostic, ParseOptions, Span};

/// The finding about a request: a name that is misspelled, a number in quotes, or in another unit.
pub(super) fn request(
    (file, own): (&Arc<str>, &Own),
    line: &[u8],
    (name, equals): (&str, usize),
    (number, start): (u64, usize),
) -> Option<Diagnostic> {
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = String::from_utf8_lossy(line[value.min(line.len())..].trim_ascii_end()).into_owned();
    let span = Span::new(value, value + text.len());
    let unit = match name {
        "request_memory" | "gpus_minimum_memory" => Some("MiB"),
        "request_disk" => Some("KiB"),
        _ => None,
    };
    if let Some(misspelled) = misspelled((file, own), line, line[..equals].trim_ascii(), (number, start)) {
        return Some(misspelled);
    }
    let is_size = unit.is_some() || name.starts_with("retry_request_") || name == "gpus_minimum_memory";
    let is_number = commands::is_listed(name);
    let finding = if is_number && text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
        let message = format!("`{name}` is a string, which slots compare with a number: the result is ERROR");
        Diagnostic::warning(message, span).help("write the number without quotes").code("type-clash")
    } else if let Some(list) = grouped_digits(name, &text).or_else(|| less_next(name, &text)) {
        list.shifted(value)
    } else if let Some(fault) = not_an_amount(&text, is_size, &own.options()) {
        let attribute = match name {
            "request_memory" => Some(&b"RequestMemory"[..]),
            "request_disk" => Some(&b"RequestDisk"[..]),
            _ => None,
        };
        in_unit(fault, text.as_bytes(), attribute).shifted(value)
    } else if let Some(word) = own.unknown_value(text.as_bytes()).filter(|_| bad_value(name, &text).is_none()) {
        number_expected(word, name).shifted(value)
    } else if let Some(fault) = is_number.then(|| no_amount(name, &text).or_else(|| other_unit(name, &text))).flatten()
    {
        fault.shifted(value)
    } else {
        without_unit((own, start), (name, unit?), &text, span)?
    };
    let excerpt = Excerpt { text: line.to_vec(), subject: Some(name.to_owned()) };
    let fix = shifted_fix(&finding, start);
    Some(placed(finding, file, number, excerpt, fix))
}

/// The finding about a request without a unit: a number in another one than that of the request.
pub(super) fn without_unit(
    (own, start): (&Own, usize),
    (name, unit): (&str, &str),
    text: &str,
    span: Span,
) -> Option<Diagnostic> {
    let Ok(amount) = text.parse::<u32>() else { return product(name, text, span) };
    if let Some((meant, _)) = meant_amount(&own.beside(start, name), f64::from(amount), unit) {
        let message = format!("`{name}` without a unit is in {unit}, and the comment says `{}`", meant.shown);
        let help = format!("write `{}`", meant.shown.replace([' ', '-'], ""));
        return Some(Diagnostic::warning(message, span).code("odd-unit").help(help));
    }
    let looks = unlikely_request(name, unit, amount)?;
    let message = format!("`{name}` without a unit is in {unit}, and the number is probably {looks}");
    let meant = match looks {
        "MiB" => "MB",
        looks if looks.starts_with("KiB") => "KB",
        _ => "GB",
    };
    Some(Diagnostic::warning(message, span).help(format!("write a unit, as in `{text}{meant}`")).code("odd-unit"))
}

/// `request_disk = 20 * 1024`: a product of numbers in another unit than the request.
pub(super) fn product(name: &str, text: &str, span: Span) -> Option<Diagnostic> {
    let is_product = name == "request_disk" && text.contains('*') && !text.contains('$');
    let amount = number(text).filter(|amount| is_product && *amount < f64::from(u32::MAX))?;
    let looks = unlikely_request(name, "KiB", amount as u32)?;
    let message = format!("`{name}` is in KiB, and `{text}` is probably {looks}");
    Some(Diagnostic::warning(message, span).code("odd-unit").help("write a number with a unit, as in `20GB`"))
}

/// A request that depends on what a job used in its last run: the first one has no value, and matches no slot.
pub(super) fn undefined_at_first(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    const OF_RUNS: [&[u8]; 8] = [
        b"cpususage",
        b"exitcode",
        b"holdreasoncode",
        b"holdreasonsubcode",
        b"jobcurrentstartdate",
        b"lastremotehost",
        b"memoryusage",
        b"residentsetsize",
    ];
    let expr = parse_expr(text, options).ok().filter(|_| memchr::memchr(b'$', text).is_none())?;
    let (tree, root) = (expr.tree(), expr.root());
    let name = tree.references(root).map(|reference| reference.name).find(|name| OF_RUNS.contains(&name.folded()))?;
    let missing = |reference: Reference| {
        if OF_RUNS.contains(&reference.name.folded()) { Values::of_kinds(kind::UNDEFINED) } else { Values::any() }
    };
    let values = Analysis::new(tree, &missing).values(root);
    let only = |values: &Values| !values.has_defined() && !values.is_empty();
    let message = format!("`{name}` is UNDEFINED before the first run, and so is this: the job matches no slot");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("always-undefined");
    let help = format!("write `{name} =!= undefined && …`, or `MAX({{ 1024, … }})`, which leaves it out");
    only(&values).then(|| found.help(help))
}

/// The unit that the amount of a request is probably in, if it is not its own.
pub(super) fn unlikely_request(name: &str, unit: &str, amount: u32) -> Option<&'static str> {
    // A few MiB are less than a job writes.
    let is_small = name == "request_disk"
        && (1..=65_536).contains(&amount)
        && (amount.is_multiple_of(1000) || amount.is_multiple_of(1024));
    // No program runs in a few MiB.
    let is_tiny = name == "request_memory" && (1..=MAX_TINY).contains(&amount);
    wrong_size(unit, f64::from(amount)).or(is_small.then_some("MiB")).or(is_tiny.then_some("GiB"))
}

/// MiB in which no program runs.
pub(super) const MAX_TINY: u32 = 10;

/// `request_memory = 2048KB` and `request_memory = 20480GB`: a size that no program needs, or no machine has.
pub(super) fn other_unit(name: &str, text: &str) -> Option<Diagnostic> {
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic() || sign == ' ');
    let number = digits.parse::<f64>().ok().filter(|_| name == "request_memory" && digits.len() < text.len())?;
    let unit = match text[digits.len()..].trim() {
        "b" | "B" => 1,
        word => bytes_of_unit(word)?,
    };
    let mib = number * unit as f64 / f64::from(1 << 20);
    // A small program runs in 10 MB.
    let what = if mib < f64::from(MAX_TINY) {
        "less than a program needs"
    } else if mib >= 4.0 * 1024.0 * 1024.0 {
        "more than a machine has"
    } else {
        return None;
    };
    let message = format!("`{name}` is `{text}`, which is {what}");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-unit");
    Some(found.help("write another unit, such as `GB`"))
}

/// The finding about a word of which nothing is known, where a number is expected: quotes do not help.
pub(super) fn number_expected(mut found: Diagnostic, name: &str) -> Diagnostic {
    if found.fix.is_none() || name.ends_with("_reason") {
        return found;
    }
    found.fix = None;
    found.help("write a number, or an expression of known attributes")
}

/// `request_cpus = 1-4`, which is -3, and `request_gpus = true`.
pub(super) fn no_amount(name: &str, text: &str) -> Option<Diagnostic> {
    let amount = number(text)?;
    let span = Span::new(0, text.len());
    // `condor_submit` rejects a retry with less.
    if amount < 0.0 && !name.starts_with("retry_request_") {
        let message = format!("`{name}` is {amount}, which every slot has");
        return Some(Diagnostic::warning(message, span).help("write the amount that a job needs").code("odd-command"));
    }
    if matches!(name, "request_cpus" | "request_gpus") && amount.fract() != 0.0 {
        let message = format!("`{name}` is {amount}, and a slot has a whole number of them");
        let found = Diagnostic::warning(message, span).code("odd-command");
        return Some(found.help(format!("write {}", amount.ceil())));
    }
    // More than the largest machines have.
    let most = match name {
        "request_cpus" => 4_096.0,
        "request_gpus" => 1_024.0,
        "request_memory" => 1e9,
        "request_disk" => 1e12,
        _ => f64::INFINITY,
    };
    if amount >= most {
        let found = Diagnostic::warning(format!("`{name}` is {amount}, more than a machine has"), span);
        return Some(found.help("write the amount that one job needs").code("odd-command"));
    }
    if name == "request_cpus" && amount == 0.0 {
        let found = Diagnostic::warning(format!("`{name}` is 0, and a job runs on a core"), span);
        return Some(found.help("write 1").code("odd-command"));
    }
    let is_truth = ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let message = format!("`{name}` is a boolean, and counts as {amount}");
    is_truth.then(|| Diagnostic::warning(message, span).help("write a number").code("type-clash"))
}

/// `request_memory = 4,096`: a list of sizes to try one after the other.
pub(super) fn grouped_digits(name: &str, text: &str) -> Option<Diagnostic> {
    let (first, rest) = text.split_once(',')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let behind = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
    // `1,5GB`: a comma in the place of the point.
    if first.len() <= 2
        && digits(first)
        && !first.is_empty()
        && !behind.is_empty()
        && behind.len() < rest.len()
        && is_size_unit(behind)
    {
        let message = format!("`{name}` is {first} at first, and `{rest}` for the next try: `,` separates amounts");
        let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
        return Some(found.help(format!("write `{}`", text.replace(',', "."))));
    }
    let grouped =
        (1..=3).contains(&first.len()) && digits(first) && rest.split(',').all(|part| part.len() == 3 && digits(part));
    let message = format!("`{name}` is {first} at first, and `{rest}` for the next tries: `,` separates amounts");
    let span = Span::new(0, text.len());
    grouped.then(|| {
        Diagnostic::warning(message, span).help(format!("write `{}`", text.replace(',', ""))).code("odd-command")
    })
}

/// `request_memory = 4GB, 2GB`: the next try gets no more than the first.
fn less_next(name: &str, text: &str) -> Option<Diagnostic> {
    let unit = match name {
        "request_memory" => 1 << 20,
        "request_disk" => 1 << 10,
        _ => return None,
    };
    let mut amounts = text.split(',').map(|amount| bytes(amount.trim(), unit));
    let (first, next) = (amounts.next()??, amounts.next()??);
    let message = format!("`{name}` is `{text}`: the next try gets no more than the first");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
    (next <= first).then(|| found.help("write larger and larger sizes, as in `4GB, 8GB`"))
}

/// The error of a requested amount that is neither an expression nor, if it is a size, a number with a unit.
pub(super) fn not_an_amount(text: &str, size: bool, options: &ParseOptions) -> Option<Diagnostic> {
    if text.is_empty() || size && is_amount(text) || may_expand(text) {
        return None;
    }
    // Sizes to try one after the other, with an expression perhaps at the end.
    let mut sizes = text.split(',').map(str::trim);
    let last = sizes.next_back().unwrap_or_default();
    let text = if size && sizes.clone().next().is_some() && sizes.all(is_amount) {
        if is_amount(last) {
            return None;
        }
        last
    } else {
        text
    };
    let error = parse_expr(text.as_bytes(), options).err()?;
    // `4GB # per core`
    if let Some(at) = text.find(" #").filter(|at| size && is_amount(text[..*at].trim_end())) {
        let message = format!("`{}` is a part of the value: comments have lines of their own", &text[at + 1..]);
        let found = Diagnostic::error(message, Span::new(at + 1, text.len()));
        return Some(found.help(format!("write `{}`", text[..at].trim_end())).code("syntax"));
    }
    // `4GB ram`: the size is right, and the text after it is not.
    let mut amounts = text.match_indices(' ').map(|(at, _)| at).filter(|at| is_amount(&text[..*at]));
    if let Some(at) =
        amounts.next_back().filter(|at| size && text[*at..].trim().bytes().all(|byte| byte.is_ascii_alphabetic()))
    {
        let message = format!("text after the size: found `{}`", text[at..].trim());
        let found = Diagnostic::error(message, Span::new(at + 1, text.len()));
        // A number alone may have meant another unit.
        let help = match text.as_bytes().get(at.wrapping_sub(1)) {
            Some(byte) if byte.is_ascii_alphabetic() => format!("write `{}`", &text[..at]),
            _ => format!("write a unit right after the number, such as `{}GB`", &text[..at]),
        };
        return Some(found.help(help).code("syntax"));
    }
    Some(unparsed(text.as_bytes(), &error, options))
}

/// Returns true for a number with a unit, or without one.
pub(super) fn is_amount(text: &str) -> bool {
    let letters = text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    letters.len() < text.len() && is_size_unit(letters)
}

/// `$(hours) / 3600`, where the macro is a number below the divisor.
pub(super) fn zero_quotient(own: &Own, text: &[u8]) -> Option<Diagnostic> {
    let text = String::from_utf8_lossy(text).into_owned();
    text.match_indices("$(").find_map(|(at, _)| {
        let end = at + text[at..].find(')')? + 1;
        let number = own.numbers.get(&text[at + 2..end - 1].to_ascii_lowercase()).copied().flatten()?;
        let divided = text[end..].trim_start().strip_prefix('/')?;
        let after = divided.trim_start();
        let digits = after.len() - after.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        let divisor: i64 = after[..digits].parse().ok()?;
        let is_alone = text[..at].trim_end().is_empty()
            || text[..at].trim_end().ends_with(['<', '>', '=', '(', '+', '-', '&', '|', ',']);
        let is_integer = !after[digits..].starts_with(|sign: char| sign.is_alphanumeric() || sign == '.');
        if !is_alone || !is_integer || number <= 0 || number >= divisor {
            return None;
        }
        let macro_name = &text[at..end];
        let span = Span::new(at, text.len() - after.len() + digits);
        let message = format!("`{macro_name}` is {number}: `{number} / {divisor}` is a division of integers, and 0");
        let help = if matches!(divisor, 60 | 3600 | 86_400 | 1024) {
            format!("write `{macro_name} * {divisor}`, or `{macro_name} / {divisor}.0`")
        } else {
            format!("write `{macro_name} / {divisor}.0`")
        };
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    })
}

/// The error of an expression with a macro whose value has a unit: `TARGET.Memory >= $(request_memory)`.
pub(super) fn expanded_size(own: &Own, text: &[u8]) -> Option<Diagnostic> {
    let text = String::from_utf8_lossy(text).into_owned();
    let references = text.match_indices("$(").filter(|(at, _)| !text[..*at].ends_with('$'));
    references.into_iter().find_map(|(at, _)| {
        let end = at + text[at..].find(')')? + 1;
        let size = own.sizes.get(&text[at + 2..end - 1].to_ascii_lowercase()).filter(|size| !size.is_empty())?;
        let (before, after) = (text[..at].trim_end(), text[end..].trim_start());
        let is_alone = before.ends_with(['<', '>', '=']) && (after.is_empty() || after.starts_with(['&', '|', ')']));
        let message = format!("`{}` is `{size}`, and numbers do not have units", &text[at..end]);
        let finding = Diagnostic::error(message, Span::new(at, end));
        is_alone.then(|| {
            finding
                .help("write `RequestMemory` or a plain number: `condor_submit` rejects the file")
                .code("size-suffix")
        })
    })
}
