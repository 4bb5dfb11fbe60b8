//! Mistakes with values: string values need quotes, calls that are none, missing separators, templates left over.

use crate::diagnostic::Diagnostic;
use crate::error::Expected;
use crate::span::Span;
use crate::syntax::diagnose::brackets::reserved_word;
use crate::syntax::diagnose::place::{Bracket, Kind, Lexeme, Place, touch};

/// `Name.toUpper()`
pub(super) fn method_call(place: &Place<'_>) -> Option<Diagnostic> {
    place.after(0).filter(|found| found.is("("))?;
    let name = place.before(0).filter(|name| matches!(name.kind, Kind::Word | Kind::QuotedName))?;
    let (dot, base) = (place.before(1).filter(|dot| dot.is("."))?, place.before(2));
    let span = dot.span.to(name.span);
    let function = name.shown();
    let more = if place.after(1).is_some_and(|next| next.is(")")) { "" } else { ", …" };
    let help = match base {
        Some(base) if base.kind == Kind::Word => format!("write `{function}({}{more})`", base.shown()),
        _ => format!("write `{function}(value{more})`"),
    };
    Some(Diagnostic::error(format!("`{function}` cannot be called on a value"), span).help(help))
}

/// `TRUE()`, `2(x + 1)`
pub(super) fn constant_call(place: &Place<'_>) -> Option<Diagnostic> {
    let (found, value) = (place.after(0).filter(|found| found.is("("))?, place.before(0)?);
    if value.is_word(&["true", "false", "undefined", "error"]) {
        let finding = Diagnostic::error(format!("`{}` is a constant, not a function", value.shown()), value.span);
        let empty = place.after(1).filter(|close| close.is(")"));
        return Some(match empty {
            Some(close) => finding.help(format!("write `{}`", value.shown())).fix(found.span.to(close.span), ""),
            None => finding.help(format!("write `{}` without arguments", value.shown())),
        });
    }
    if value.kind == Kind::Number || value.is(")") {
        let end = Span::new(place.start(), place.start());
        let finding = Diagnostic::error("expected an operator, found `(`", found.span);
        let compares = |part: &[u8]| part.iter().any(|byte| b"<>=!&|".contains(byte));
        let inner = match value.kind {
            Kind::Number => parenthesized(place.rest()),
            _ => place.rest(),
        };
        let (before, behind) = (compares(&place.source[..place.start()]), compares(inner));
        // Of two parts in parentheses, a condition may be one attribute.
        if before && behind || value.is(")") && (before || behind) {
            return Some(finding.help("write `&&` or `||` between two conditions"));
        }
        return Some(finding.help("write `*` to multiply").fix(end, "* "));
    }
    None
}

/// The text in the parentheses at the beginning of a text; all of it if they are not closed.
fn parenthesized(text: &[u8]) -> &[u8] {
    let mut depth = 0usize;
    let end = text.iter().position(|byte| {
        depth += usize::from(*byte == b'(');
        depth = depth.saturating_sub(usize::from(*byte == b')'));
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// `TARGET,x`
pub(super) fn scope_comma(place: &Place<'_>) -> Option<Diagnostic> {
    let (comma, scope) = (place.after(0).filter(|found| found.is(","))?, place.before(0)?);
    let next = place.after(1).filter(|next| next.kind == Kind::Word)?;
    if !scope.is_word(&["MY", "TARGET", "OTHER"]) {
        return None;
    }
    let help = format!("write `{}.{}`", scope.shown(), next.shown());
    Some(Diagnostic::error("expected an operator, found `,`", comma.span).help(help).fix(comma.span, "."))
}

/// `x.5`, `x.[0]`, `x.error`, `x.`
pub(super) fn selector(place: &Place<'_>) -> Option<Diagnostic> {
    let (before, found) = (place.before(0)?, place.after(0));
    if let Some(found) = found
        && found.kind == Kind::Number
        && found.text.starts_with(b".")
        && touch(before, found)
        && matches!(before.kind, Kind::Word | Kind::QuotedName)
    {
        let index = found.shown()[1..].to_owned();
        let help = format!("write `{}[{index}]` for an element of a list", before.shown());
        let finding = Diagnostic::error("an attribute name cannot start with a digit", found.span).help(help);
        return Some(finding.fix(found.span, format!("[{index}]")));
    }
    let dots = before.is(".") || before.is("..");
    if !(place.expected() == Some(Expected::Selector) && dots) {
        return None;
    }
    let Some(found) = found else {
        let help = "write an attribute name after the dot, or remove it";
        return Some(place.plain().related(before.span, "requires a name after it").help(help));
    };
    let finding = place.plain();
    Some(match found.kind {
        Kind::Word => reserved_word(found),
        Kind::String => {
            let name = String::from_utf8_lossy(found.inner());
            finding.help(format!("write `x[\"{name}\"]` to select an attribute, or `strcat(a, b)` to join strings"))
        }
        _ if found.is("[") => finding.help("remove the dot before `[`").fix(before.span, ""),
        _ if found.is(".") || found.is("..") => finding.help("replace the dots with the omitted text"),
        _ => finding.help("write an attribute name after the dot"),
    })
}

/// `OpSys == LINUX Foo`, `Path == /usr/bin`
pub(super) fn unquoted_words(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0)?;
    if place.wants_value() && found.is("/") && place.after(1).is_some_and(|next| touch(found, next)) {
        let rest = place.rest();
        let path = |at: usize| {
            let is_of_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"/._-+:".contains(byte);
            at + rest[at..].iter().take_while(is_of_path).count()
        };
        // Paths in a row are one list: `/cvmfs, /data`.
        let mut end = path(0);
        while place.open.is_empty() && rest[end..].starts_with(b",") {
            let next = end + 1 + rest[end + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if rest.get(next) != Some(&b'/') {
                break;
            }
            end = path(next);
        }
        return Some(text_needs_quotes(place, place.ahead(end)));
    }
    let before = place.before(0)?;
    let compared = place.before(1).is_some_and(Lexeme::compares);
    if !(compared && before.kind == Kind::Word && found.kind == Kind::Word) {
        return None;
    }
    let words = (0..).map_while(|ahead| place.after(ahead)).take_while(|lexeme| lexeme.kind == Kind::Word);
    let last = words.last()?;
    Some(text_needs_quotes(place, before.span.to(last.span)))
}

/// `C:\Windows\notepad.exe`
pub(super) fn windows_path(place: &Place<'_>) -> Option<Diagnostic> {
    let drive = place.before(0).filter(|drive| drive.kind == Kind::Word && drive.text.len() == 1)?;
    let rest = place.rest();
    rest.strip_prefix(b":\\")?;
    let more = rest.iter().take_while(|byte| !byte.is_ascii_whitespace() && !b"()\"".contains(byte)).count();
    let span = Span::new(drive.span.range().start, place.start() + more);
    let written = format!("\"{}\"", place.text(span).replace('\\', "\\\\"));
    Some(Diagnostic::error("string values need quotes", span).write(span, written))
}

/// A text that is to be a string.
pub(super) fn text_needs_quotes(place: &Place<'_>, span: Span) -> Diagnostic {
    let written = format!("\"{}\"", place.text(span));
    Diagnostic::error("string values need quotes", span).write(span, written)
}

/// `%d`, `%(name)s`, `<name>`
pub(super) fn template(place: &Place<'_>) -> Option<Diagnostic> {
    let (found, next) = (place.after(0).filter(|_| place.wants_value())?, place.after(1)?);
    let end = match next.kind {
        _ if found.is("%") && next.is("(") && touch(found, next) => {
            let close = memchr::memchr(b')', place.rest())?;
            let letters = place.rest()[close + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            place.start() + close + 1 + letters
        }
        Kind::Word if found.is("%") && touch(found, next) => next.span.range().end,
        Kind::Word if found.is("<") && place.after(2).is_some_and(|close| close.is(">")) => {
            place.after(2)?.span.range().end
        }
        _ => return None,
    };
    let span = Span::new(place.start(), end);
    let finding = Diagnostic::error(format!("`{}` is a placeholder that was not filled in", place.text(span)), span);
    Some(finding.help("write the value instead"))
}

/// `f(1 2)`, `{1 2}`
pub(super) fn missing_comma(place: &Place<'_>) -> Option<Diagnostic> {
    let (before, found) = (place.before(0)?, place.after(0)?);
    let (bracket, opened) = place.inside()?;
    if !matches!(bracket, Bracket::Call | Bracket::List) || !found.begins_operand() || !before.ends_operand() {
        return None;
    }
    let end = before.span.range().end;
    let finding = place.plain().related(opened, "opened here");
    Some(finding.help("write `,` or an operator between two values").fix(Span::new(end, end), ","))
}

/// `1 2`
pub(super) fn side_by_side(place: &Place<'_>) -> Option<Diagnostic> {
    let (before, found) = (place.before(0)?, place.after(0)?);
    if !(before.ends_operand() && found.begins_operand()) {
        return None;
    }
    Some(place.plain().help("write an operator between two values; strings need double quotes"))
}

/// An empty text.
pub(super) fn nothing(place: &Place<'_>) -> Option<Diagnostic> {
    (place.at_end() && place.before(0).is_none()).then(|| {
        Diagnostic::error("the expression is empty", place.error.span).help(
            "write an expression, such as \
        `Cpus >= 2`",
        )
    })
}
