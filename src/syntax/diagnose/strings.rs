//! Mistakes with quotes, escapes and the texts of times.

use crate::diagnostic::Diagnostic;
use crate::error::SyntaxErrorKind;
use crate::span::Span;
use crate::syntax::diagnose::Rule;
use crate::syntax::diagnose::place::{Kind, Place, touch};

/// For strings that the lexer refuses.
pub(super) const RULES: &[Rule] = &[nul, apostrophe, backslash_before_quote, never_closed];

/// `"\0"`
fn nul(place: &Place<'_>) -> Option<Diagnostic> {
    if place.error.kind != SyntaxErrorKind::NulInString {
        return None;
    }
    let span = place.error.span;
    let token = place.source.get(span.range())?;
    // The escape itself: zeros behind a backslash that is not escaped.
    let mut at = 0;
    while let Some(backslash) = memchr::memchr(b'\\', &token[at..]).map(|found| at + found) {
        let digits = token[backslash + 1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        if digits > 0 && token[backslash + 1..=backslash + digits].iter().all(|byte| *byte == b'0') {
            let start = span.range().start + backslash;
            let finding = Diagnostic::error(place.error.to_string(), Span::new(start, start + 1 + digits));
            return Some(finding.help("remove it, or write `\\\\` for a backslash"));
        }
        at = (backslash + 2).min(token.len());
    }
    None
}

/// `don't`, `'abc`
fn apostrophe(place: &Place<'_>) -> Option<Diagnostic> {
    if place.error.kind != (SyntaxErrorKind::UnterminatedString { quote: '\'' }) {
        return None;
    }
    let finding = Diagnostic::error("the quoted name is not closed: expected `'` before the end", place.error.span);
    Some(finding.help("write strings in double quotes, `\"…\"`; single quotes enclose attribute names"))
}

/// `"C:\"`
fn backslash_before_quote(place: &Place<'_>) -> Option<Diagnostic> {
    let start = place.start();
    let end = memchr::memchr(b'\n', place.rest()).map_or(place.source.len(), |newline| start + newline);
    let line = &place.source[start..end];
    let at = memchr::memmem::rfind(line, b"\\\"")?;
    let span = Span::new(start + at, start + at + 2);
    let finding = Diagnostic::error(place.error.to_string(), place.error.span);
    let help = "write `\\\\` for a backslash, as in `\"C:\\\\dir\\\\\"`";
    let ends = line[at + 2..].first().is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let finding = finding.related(span, "this quote belongs to the string").help(help);
    Some(if ends { finding.fix(span, "\\\\\"") } else { finding })
}

fn never_closed(place: &Place<'_>) -> Option<Diagnostic> {
    let before =
        place.before(0).filter(|before| before.kind == Kind::String && before.span.end == place.error.span.start);
    let finding = place.plain();
    Some(match before {
        Some(before) => {
            finding.related(before.span, "this string ends here").help("a quote inside a string is written `\\\"`")
        }
        None if memchr::memchr(b'\n', place.rest()).is_none() => {
            let end = place.source.trim_ascii_end().len();
            finding.help("write `\"` where the string ends").fix(Span::new(end, end), "\"")
        }
        None => finding.help("write `\"` where the string ends"),
    })
}

/// `"say "hi""`
pub(super) fn quote_inside(place: &Place<'_>) -> Option<Diagnostic> {
    let (string, found) = (place.before(0)?, place.after(0)?);
    if string.kind != Kind::String || !touch(string, found) || !matches!(found.kind, Kind::Word | Kind::Number) {
        return None;
    }
    let finding = Diagnostic::error(format!("the string ends before `{}`", found.shown()), found.span);
    Some(finding.related(string.span, "the string").help("a quote inside a string is written `\\\"`"))
}

/// `absTime("garbage")`
pub(super) fn bad_time(place: &Place<'_>) -> Option<Diagnostic> {
    let span = place.error.span;
    let call = place.source.get(span.range())?;
    let string = memchr::memchr(b'"', call).zip(memchr::memrchr(b'"', call)).filter(|(first, last)| first < last);
    let span =
        string.map_or(span, |(first, last)| Span::new(span.range().start + first, span.range().start + last + 1));
    let finding = Diagnostic::error(place.error.to_string(), span);
    Some(if call.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'r')) {
        finding.help("write `relTime(\"1+02:03:04\")` for days, hours, minutes and seconds, or `relTime(\"90\")`")
    } else {
        finding.help("write `absTime(\"2026-07-05T12:00:00Z\")`, or with an offset as in `+02:00`")
    })
}
