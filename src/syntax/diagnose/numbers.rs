//! Mistakes with numbers: other bases, units, separators, versions.

use crate::diagnostic::Diagnostic;
use crate::error::SyntaxErrorKind;
use crate::span::Span;
use crate::syntax::diagnose::Rule;
use crate::syntax::diagnose::place::{Kind, Lexeme, Place, touch};

/// For numbers that the lexer refuses.
pub(super) const RULES: &[Rule] = &[leading_zero, hexadecimal, incomplete];

/// `010`
fn leading_zero(place: &Place<'_>) -> Option<Diagnostic> {
    let SyntaxErrorKind::LeadingZero(text) = &place.error.kind else { return None };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let plain = match digits.trim_start_matches('0') {
        "" => "0",
        other => other,
    };
    let written = format!("{sign}{plain}");
    let before = place.source[..place.error.span.range().start].trim_ascii_end();
    let is_date = before.len() == place.error.span.range().start && before.ends_with(b"-") || text.starts_with('-');
    if is_date && before.trim_ascii_end().last().is_some_and(|last| last.is_ascii_digit() || *last == b'-') {
        let help = "a time is a number of seconds since 1970; `absTime(\"2026-12-01T00:00:00Z\")` is a time";
        return Some(place.plain().help(help));
    }
    let help = format!("write `{written}`; there are no octal numbers");
    Some(place.plain().help(help).fix(place.error.span, written))
}

/// `0x1F`
fn hexadecimal(place: &Place<'_>) -> Option<Diagnostic> {
    let SyntaxErrorKind::Hexadecimal(text) = &place.error.kind else { return None };
    let digits = text.get(2..)?;
    Some(match i64::from_str_radix(digits, 16) {
        Ok(value) => place.plain().write(place.error.span, value.to_string()),
        Err(_) => place.plain().help("the number is larger than 9223372036854775807"),
    })
}

/// `1.`, `1.e5`, `1e`, `0x`, `1..2`
fn incomplete(place: &Place<'_>) -> Option<Diagnostic> {
    let SyntaxErrorKind::IncompleteNumber(text) = &place.error.kind else { return None };
    let span = place.error.span;
    let end = span.range().end;
    let plain = place.plain();
    if let Some(whole) = text.strip_suffix('.') {
        let next = place.source.get(end).copied().unwrap_or_default();
        if next == b'.' {
            return Some(plain.help("ranges are not supported: write `low <= x && x <= high`"));
        }
        if next.is_ascii_alphabetic() && !matches!(next, b'e' | b'E') {
            return Some(
                plain.help("a number does not have attributes; write a real with digits on both sides, `1.0`"),
            );
        }
        let number = format!("{whole}.0");
        return Some(plain.write(span, number));
    }
    if text.ends_with(['x', 'X']) {
        return Some(plain.help("hexadecimal numbers are not part of the language"));
    }
    Some(plain.help("write the exponent as digits, as in `1e6`; quote a name that starts with a digit, `'1e'`"))
}

/// Factors of units: a thousand and its powers, in the binary sense that memory and disk are counted in.
const SIZES: &[(&str, &str)] =
    &[("k", "1024"), ("m", "1024 * 1024"), ("g", "1024 * 1024 * 1024"), ("t", "1024 * 1024 * 1024 * 1024")];

const TIMES: &[(&[&str], &str)] = &[
    (&["s", "sec", "secs", "second", "seconds"], "1"),
    (&["min", "mins", "minute", "minutes"], "60"),
    (&["h", "hr", "hrs", "hour", "hours"], "3600"),
    (&["d", "day", "days"], "86400"),
    (&["w", "week", "weeks"], "604800"),
];

/// `10K`, `2 GB`, `3h`, `1L`, `1_000`
pub(super) fn unit(place: &Place<'_>) -> Option<Diagnostic> {
    let (number, found) = (place.before(0)?, place.after(0)?);
    if number.kind != Kind::Number || found.kind != Kind::Word {
        return None;
    }
    // Older versions read the first letter of a unit with the number.
    let (digits, letter) = without_suffix(number.shown());
    let word = letter + &found.shown().to_ascii_lowercase();
    let span = number.span.to(found.span);
    let finding = Diagnostic::error(format!("numbers do not have units: found `{}`", place.text(span)), span);
    let size = SIZES.iter().find(|(letter, _)| {
        word.strip_prefix(letter).is_some_and(|rest| matches!(rest, "" | "b" | "ib" | "i" | "bytes"))
    });
    if let Some((_, factor)) = size {
        // Only the attribute beside it says in which unit it counts.
        let help = format!(
            "write the number in the unit of the attribute: `Memory` is in MiB, `Disk` in KiB{}; `{digits} * {factor}` is \
            a number of bytes",
            counted(&digits, factor)
        );
        return Some(finding.help(help));
    }
    if let Some((_, factor)) = TIMES.iter().find(|(names, _)| names.contains(&word.as_str())) {
        let written = if *factor == "1" { digits } else { format!("({digits} * {factor})") };
        let finding = finding.help(format!("write `{written}`; times are in seconds"));
        // A number alone is not yet compared with anything.
        let is_alone = place.before(1).is_none() && place.after(1).is_none();
        return Some(if is_alone { finding } else { finding.fix(span, written) });
    }
    if !touch(number, found) {
        return None;
    }
    if word.starts_with('_') && word.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit()) {
        return Some(without_separators(span, &place.text(span), '_'));
    }
    if matches!(word.as_str(), "l" | "ll" | "u" | "ul" | "f" | "lf") {
        let message = format!("numbers do not have suffixes: found `{}`", place.text(span));
        return Some(Diagnostic::error(message, span).write(span, digits));
    }
    let base = [("b", 2), ("o", 8)].iter().find(|(letter, _)| digits == "0" && word.starts_with(letter));
    let value = base.and_then(|(letter, radix)| i64::from_str_radix(word.strip_prefix(letter)?, *radix).ok())?;
    let message = format!("numbers are decimal: found `{}`", place.text(span));
    Some(Diagnostic::error(message, span).write(span, value.to_string()))
}

/// A number without its size suffix, and the suffix in lower case.
fn without_suffix(mut number: String) -> (String, String) {
    let is_suffixed = number.ends_with(|last: char| "KMGTkmgt".contains(last));
    let suffix = if is_suffixed { number.split_off(number.len() - 1) } else { String::new() };
    (number, suffix.to_ascii_lowercase())
}

/// A size in the units of `Memory` and `Disk`, if it is a whole number of them.
fn counted(digits: &str, factor: &str) -> String {
    let bytes = factor.split('*').try_fold(1u64, |product, factor| product.checked_mul(factor.trim().parse().ok()?));
    let Some(bytes) = bytes.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor)) else {
        return String::new();
    };
    match (bytes >> 20, bytes >> 10) {
        (mib, kib) if mib > 0 && bytes.trailing_zeros() >= 20 => format!(": {mib} and {kib}"),
        (_, kib) if kib > 0 && bytes.trailing_zeros() >= 10 => format!(": {kib} KiB"),
        _ => String::new(),
    }
}

fn without_separators(span: Span, text: &str, separator: char) -> Diagnostic {
    let plain = text.replace(separator, "");
    let finding = Diagnostic::error(format!("digits of a number cannot be grouped: found `{text}`"), span);
    finding.write(span, plain)
}

/// `1,000`
pub(super) fn thousands_separator(place: &Place<'_>) -> Option<Diagnostic> {
    let (number, comma) = (place.before(0)?, place.after(0)?);
    let group = |lexeme: &Lexeme<'_>| lexeme.kind == Kind::Number && lexeme.text.iter().all(u8::is_ascii_digit);
    if !(comma.is(",") && group(number) && number.text.len() <= 3 && touch(number, comma)) {
        return None;
    }
    // The lexer stops at a group such as `000`.
    let rest = place.rest();
    let grouped = |at: usize| {
        let digits = rest.get(at + 1..at + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit));
        rest.get(at) == Some(&b',') && digits && !rest.get(at + 4).is_some_and(u8::is_ascii_alphanumeric)
    };
    let groups = (0..rest.len() / 4).take_while(|group| grouped(4 * group)).count();
    if groups == 0 {
        return None;
    }
    let span = Span::new(number.span.range().start, place.start() + 4 * groups);
    Some(without_separators(span, &place.text(span), ','))
}

/// `1.2.3`, `10.0.0.1`
pub(super) fn version_number(place: &Place<'_>) -> Option<Diagnostic> {
    let (first, found) = (place.before(0)?, place.after(0)?);
    let next = found.kind == Kind::Number && found.text.starts_with(b".");
    if first.kind != Kind::Number || !next || !touch(first, found) {
        return None;
    }
    let more = place.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.').count();
    let span = Span::new(first.span.range().start, place.start() + more);
    let text = place.text(span);
    let finding = Diagnostic::error(format!("`{text}` is not a number"), span);
    let help = format!(
        "versions and addresses are strings, `\"{text}\"`; `versioncmp` and `versionGE` compare \
    versions"
    );
    Some(finding.help(help).fix(span, format!("\"{text}\"")))
}

/// `1abc`
pub(super) fn digit_first(place: &Place<'_>) -> Option<Diagnostic> {
    let (number, found) = (place.before(0)?, place.after(0)?);
    if number.kind != Kind::Number || found.kind != Kind::Word || !touch(number, found) || found.wants_operand() {
        return None;
    }
    let span = number.span.to(found.span);
    let text = place.text(span);
    if found.is_word(&["MY", "TARGET"]) && place.rest().get(found.span.range().len()) == Some(&b'.') {
        let message = format!("expected an operator between `{}` and `{}`", number.shown(), found.shown());
        return Some(Diagnostic::error(message, span).help("remove the number, or write an operator after it"));
    }
    let finding = Diagnostic::error(format!("a name cannot start with a digit: found `{text}`"), span);
    let text_meant = place.before(1).is_some_and(Lexeme::compares);
    let (written, what) = if text_meant { (format!("\"{text}\""), "text") } else { (format!("'{text}'"), "a name") };
    Some(finding.help(format!("write `{written}` for {what} that starts with a digit")).fix(span, written))
}

#[cfg(test)]
mod tests {
    use crate::ParseOptions;
    use crate::syntax::diagnose::diagnose;
    use crate::syntax::parse::parse_expr;

    /// A number of 23.0 may have a suffix, and none of a version has two units.
    #[test]
    fn a_unit_is_read_with_the_letter_that_an_old_version_reads() {
        let help = |text: &str, semantics: &str| {
            let options = ParseOptions { semantics: semantics.parse().unwrap(), ..ParseOptions::default() };
            let error = parse_expr(text.as_bytes(), &options).unwrap_err();
            diagnose(text.as_bytes(), &error, &options).help.unwrap_or_default().into_string()
        };
        for text in ["x > 2KB", "x > 2 KB", "x > 2 K"] {
            for semantics in ["23.0", "25.14"] {
                let help = help(text, semantics);
                assert!(help.ends_with(": 2 KiB; `2 * 1024` is a number of bytes"), "{text} in {semantics}: {help}");
            }
        }
        for text in ["x > 2KK", "x > 2K K", "x > 1.5M MB"] {
            assert!(!help(text, "23.0").contains("1024"), "{text}");
        }
    }

    #[test]
    fn a_date_and_a_time_alone_are_not_mended() {
        let fix = |text: &str| {
            let error = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap_err();
            diagnose(text.as_bytes(), &error, &ParseOptions::default()).fix.map(|fix| fix.text)
        };
        assert_eq!(fix("2026-12-01"), None);
        assert_eq!(fix("1 day"), None);
        assert_eq!(fix("x > 1 day").as_deref(), Some("(1 * 86400)"));
        assert_eq!(fix("x > 010").as_deref(), Some("10"));
    }
}
