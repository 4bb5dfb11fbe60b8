//! Mistakes with brackets and the text between them.

use crate::diagnostic::Diagnostic;
use crate::error::Expected;
use crate::name::Name;
use crate::span::Span;
use crate::syntax::diagnose::place::{Bracket, Kind, Lexeme, Place};
use crate::syntax::quote::write_quoted;

/// A name in the quotes of names.
fn quoted_name(text: &[u8]) -> String {
    let mut out = Vec::new();
    write_quoted(&mut out, text, b'\'');
    String::from_utf8_lossy(&out).into_owned()
}

/// `(1 + 2]`
pub(super) fn wrong_close(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| is_close(found))?;
    let (bracket, opened) = place.inside()?;
    if found.is(bracket.close()) {
        return None;
    }
    let message = format!("expected `{}`, found `{}`", bracket.close(), found.shown());
    let help = format!("close {} with `{}`", bracket.of(), bracket.close());
    Some(Diagnostic::error(message, found.span).related(opened, "opened here").help(help))
}

fn is_close(lexeme: &Lexeme<'_>) -> bool {
    [")", "]", "}"].iter().any(|close| lexeme.is(close))
}

/// `(1 + 2`, `f(1`, `{1`, `[a = 1`, `x[1`
pub(super) fn never_closed(place: &Place<'_>) -> Option<Diagnostic> {
    let (bracket, opened) = place.inside().filter(|_| place.at_end())?;
    let message = format!("{} is not closed: expected `{}` before the end", bracket.of(), bracket.close());
    let finding = Diagnostic::error(message, place.error.span).related(opened, "opened here");
    if place.wants_value() || place.expected() == Some(Expected::AttributeName) || place.open.len() > 8 {
        return Some(finding.help(format!("complete the expression and close {}", bracket.of())));
    }
    let missing: String = place.open.iter().rev().map(|(bracket, _)| bracket.close()).collect();
    let end = Span::new(place.start(), place.start());
    Some(finding.help(format!("write `{missing}` at the end")).fix(end, missing))
}

/// `[a = (1; b = 2]`, `[a = f(1; b = 2]`
pub(super) fn closed_too_late(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0)?;
    let (bracket, opened) = place.inside().filter(|(bracket, _)| *bracket != Bracket::Ad)?;
    let in_ad = place.open.iter().any(|(outer, _)| *outer == Bracket::Ad);
    let separator = if found.is(";") {
        found
    } else {
        // Inside a call, `;` separates arguments, and only the `=` behind it shows that it was not meant to.
        place.before(0).filter(|name| found.is("=") && name.kind == Kind::Word)?;
        place.before(1).filter(|separator| separator.is(";"))?
    };
    if !in_ad || place.wants_value() {
        return None;
    }
    let message = format!("{} is not closed: expected `{}` before `;`", bracket.of(), bracket.close());
    let at = separator.span.range().start;
    let finding = Diagnostic::error(message, separator.span).related(opened, "opened here");
    let help = format!("write `{}` where {} ends", bracket.close(), bracket.of());
    Some(finding.help(help).fix(Span::new(at, at), bracket.close()))
}

/// `1 + 2)`
pub(super) fn never_opened(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| is_close(found) && place.open.is_empty() && place.whole)?;
    let message = format!("`{}` does not close anything", found.shown());
    Some(Diagnostic::error(message, found.span).help("remove it, or open its bracket").fix(found.span, ""))
}

/// `()`
pub(super) fn empty_parentheses(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| found.is(")"))?;
    let (_, opened) = place.inside().filter(|(bracket, _)| *bracket == Bracket::Paren)?;
    place.before(0).filter(|before| before.span == opened)?;
    let finding = Diagnostic::error("the parentheses are empty", opened.to(found.span));
    Some(finding.help("write an expression there, or remove them; an empty list is `{}`, an empty ad `[]`"))
}

/// `{1,}`, `{,1}`, `f(1,,2)`, `{1;2}`, `[;]`
pub(super) fn stray_separator(place: &Place<'_>) -> Option<Diagnostic> {
    let (found, (bracket, _)) = (place.after(0)?, place.inside()?);
    let separator = |lexeme: &Lexeme<'_>| lexeme.is(",") || lexeme.is(";");
    if bracket == Bracket::List && found.is(";") && !place.wants_value() {
        let finding = Diagnostic::error("elements of a list are separated by `,`, found `;`", found.span);
        return Some(finding.write(found.span, ","));
    }
    let wanted = place.wants_value() || place.expected() == Some(Expected::AttributeName);
    let before = place.before(0).filter(|_| wanted)?;
    let extra = match (separator(before), separator(found)) {
        (true, true) => found,
        (true, false) if found.is(bracket.close()) => before,
        (false, true) if matches!(before.text, b"(" | b"{") => found,
        _ => return None,
    };
    let message = format!("nothing between `{}` and `{}`", before.shown(), found.shown());
    let finding = Diagnostic::error(message, extra.span).help("remove it, or add the missing expression");
    Some(finding.fix(extra.span, ""))
}

/// `1 + 2;`
pub(super) fn trailing_semicolon(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| found.is(";") && place.open.is_empty() && place.whole)?;
    if place.after(1).is_none() {
        let finding = Diagnostic::error("an expression does not end with `;`", found.span);
        return Some(finding.help("remove it").fix(found.span, ""));
    }
    let help = "`;` separates only the attributes of an ad, `[ a = 1; b = 2 ]`";
    Some(place.plain().help(help))
}

/// `f(1; 2)` in strict mode
pub(super) fn semicolon_in_arguments(place: &Place<'_>) -> Option<Diagnostic> {
    Some(place.plain().help("write `,` between arguments").fix(place.error.span, ","))
}

/// `[a = 1, b = 2]`
pub(super) fn comma_in_ad(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| found.is(","))?;
    place.inside().filter(|(bracket, _)| *bracket == Bracket::Ad)?;
    if place.expected() != Some(Expected::SemicolonOrCloseBracket) {
        return None;
    }
    let finding = Diagnostic::error("the attributes of an ad are separated by `;`, found `,`", found.span);
    Some(finding.write(found.span, ";"))
}

/// `[a = 1 b = 2]`
pub(super) fn missing_semicolon(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|found| matches!(found.kind, Kind::Word | Kind::QuotedName))?;
    place.after(1).filter(|next| next.is("="))?;
    if place.expected() != Some(Expected::SemicolonOrCloseBracket) {
        return None;
    }
    let end = place.before(0)?.span.end as usize;
    let finding = Diagnostic::error(format!("expected `;` before the attribute `{}`", found.shown()), found.span);
    Some(finding.help("write `;` between attributes").fix(Span::new(end, end), ";"))
}

/// `{"a": 1}`, `["a": 1]`, `[1, 2]`
pub(super) fn json(place: &Place<'_>) -> Option<Diagnostic> {
    let (found, (bracket, opened)) = (place.after(0)?, place.inside()?);
    let before = place.before(0)?;
    let key = |lexeme: &Lexeme<'_>| lexeme.kind == Kind::String;
    let next_is = |symbol: &str| place.after(1).is_some_and(|next| next.is(symbol));
    let in_ad = bracket == Bracket::Ad && place.expected() == Some(Expected::AttributeName);
    if bracket == Bracket::List && found.is(":") && key(before) || in_ad && key(found) && next_is(":") {
        let finding = Diagnostic::error("this is JSON, not an ad of ClassAd syntax", opened.to(found.span));
        return Some(finding.help("write `[ a = 1; b = 2 ]`, or read the input as JSON"));
    }
    let element = matches!(found.kind, Kind::Number | Kind::String) && (next_is(",") || next_is("]"));
    if in_ad && before.is("[") && element {
        let finding = Diagnostic::error("expected an attribute name, found a value", found.span);
        return Some(finding.related(opened, "an ad starts here").help("a list is written in braces, `{ 1, 2 }`"));
    }
    None
}

/// `["a" = 1]`, `[true = 1]`, `[1 = 2]`
pub(super) fn attribute_name(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0).filter(|_| place.expected() == Some(Expected::AttributeName))?;
    match found.kind {
        Kind::String => {
            let inner = found.inner();
            let name = if Name::new(inner).is_plain() {
                String::from_utf8_lossy(inner).into_owned()
            } else {
                quoted_name(inner)
            };
            Some(Diagnostic::error("attribute names are not in double quotes", found.span).write(found.span, name))
        }
        Kind::Word => Some(reserved_word(found)),
        Kind::Number => {
            let help = format!("a name that starts with a digit must be in single quotes, `'{}'`", found.shown());
            Some(place.plain().help(help))
        }
        _ => None,
    }
}

/// A reserved word in place of an attribute name.
pub(super) fn reserved_word(found: &Lexeme<'_>) -> Diagnostic {
    let name = quoted_name(found.text);
    let finding = Diagnostic::error(format!("`{}` is a reserved word", found.shown()), found.span);
    finding.help(format!("write `{name}` for an attribute of that name")).fix(found.span, name)
}

/// `[a]`, `[a: 1]`, `[a == 1]`, `[a-b = 1]`
pub(super) fn attribute_without_assign(place: &Place<'_>) -> Option<Diagnostic> {
    let name = place.before(0).filter(|_| place.expected() == Some(Expected::Assign))?;
    let is_end = |found: &Lexeme<'_>| found.is("]") || found.is(";") || found.is(",");
    let Some(found) = place.after(0).filter(|found| !is_end(found)) else {
        let finding = Diagnostic::error(format!("the attribute `{}` does not have a value", name.shown()), name.span);
        return Some(finding.help(format!("write `{} = value`", name.shown())));
    };
    if found.is(":") || found.is("==") {
        let finding =
            Diagnostic::error(format!("expected `=` after the attribute name, found `{}`", found.shown()), found.span);
        return Some(finding.write(found.span, "="));
    }
    // Everything up to the `=` was meant as the name.
    let last = (0..).map_while(|ahead| place.after(ahead)).take_while(|lexeme| !lexeme.is("=")).last()?;
    (0..).map_while(|ahead| place.after(ahead)).find(|lexeme| lexeme.is("="))?;
    let span = name.span.to(last.span);
    let quoted = quoted_name(place.text(span).as_bytes());
    let finding = Diagnostic::error(format!("`{}` is not a plain name", place.text(span)), span);
    Some(
        finding
            .help(format!("write `{quoted}`: names with characters other than letters, digits and `_` are quoted"))
            .fix(span, quoted),
    )
}
