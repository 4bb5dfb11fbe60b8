//! Mistakes with operators: those of other languages, split ones, and missing operands.

use std::sync::LazyLock;

use crate::diagnostic::Diagnostic;
use crate::error::Expected;
use crate::records::{Record, records};
use crate::span::Span;
use crate::syntax::diagnose::place::{Kind, Lexeme, Place, touch};

/// Operators of other languages, what to do about them, and what to write if that is sure.
static FOREIGN: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("operators.txt")).collect());

/// `a <> b`, `a === b`, `a := b`
pub(super) fn foreign_operator(place: &Place<'_>) -> Option<Diagnostic> {
    let span = operator_run(place);
    let written = place.text(span);
    let foreign = FOREIGN.iter().find(|foreign| foreign.name == written)?;
    let help = foreign.about.as_str();
    let finding = Diagnostic::error(format!("`{written}` is not an operator"), span);
    Some(match (place.expected(), foreign.get("fix")) {
        (Some(Expected::Assign), _) => finding.help("write `=` after the name of an attribute").fix(span, "="),
        (_, Some(replacement)) => finding.help(help).fix(span, replacement),
        _ => finding.help(help),
    })
}

/// The operator characters that touch the place.
fn operator_run(place: &Place<'_>) -> Span {
    let symbol = |byte: &u8| b"=<>!&|?:~+-*/%^".contains(byte);
    let at = place.start();
    let before = place.source[..at].iter().rev().take(8).take_while(|byte| symbol(byte)).count();
    let behind = place.source[at..].iter().take(8).take_while(|byte| symbol(byte)).count();
    Span::new(at - before, at + behind)
}

/// `a = = b`, `a & & b`
pub(super) fn split_operator(place: &Place<'_>) -> Option<Diagnostic> {
    let joined = |left: Option<&Lexeme<'_>>, right: Option<&Lexeme<'_>>| {
        let (left, right) = (left?, right?);
        let operator = [left.text, right.text].concat();
        let known: [&[u8]; 8] = [b"==", b"!=", b"<=", b">=", b"&&", b"||", b"<<", b">>"];
        let split = left.kind == Kind::Symbol && right.kind == Kind::Symbol && !touch(left, right);
        (split && known.contains(&operator.as_slice()))
            .then(|| (left.span.to(right.span), String::from_utf8_lossy(&operator).into_owned()))
    };
    let (span, operator) =
        joined(place.before(0), place.after(0)).or_else(|| joined(place.after(0), place.after(1)))?;
    let finding = Diagnostic::error(format!("the operator `{operator}` is split in two"), span);
    Some(finding.help(format!("write `{operator}` without a space")).fix(span, operator))
}

/// `MY->x`
pub(super) fn arrow(place: &Place<'_>) -> Option<Diagnostic> {
    let (minus, greater) = (place.before(0)?, place.after(0)?);
    if !(minus.is("-") && greater.is(">") && touch(minus, greater)) {
        return None;
    }
    let span = minus.span.to(greater.span);
    Some(Diagnostic::error("`->` is not an operator", span).help("write `.` to select an attribute").fix(span, "."))
}

/// `a and b`
pub(super) fn foreign_word(place: &Place<'_>) -> Option<Diagnostic> {
    if place.wants_value() {
        return None;
    }
    let found = place.after(0)?;
    let foreign = FOREIGN.iter().find(|foreign| found.is_word(&[foreign.name]))?;
    let finding = Diagnostic::error(format!("`{}` is not an operator", found.shown()), found.span);
    let finding = finding.help(foreign.about.as_str());
    Some(match foreign.get("fix") {
        Some(replacement) => finding.fix(found.span, replacement),
        None => finding,
    })
}

/// `a is not b`
pub(super) fn is_not(place: &Place<'_>) -> Option<Diagnostic> {
    let (is, not) = (place.before(1)?, place.before(0)?);
    if !(is.is_word(&["is"]) && not.is_word(&["not"]) && place.after(0)?.begins_operand()) {
        return None;
    }
    let span = is.span.to(not.span);
    Some(Diagnostic::error("`is not` is not an operator", span).help("write `isnt` or `=!=`").fix(span, "isnt"))
}

/// `not a`, `if a then b`
pub(super) fn leading_word(place: &Place<'_>) -> Option<Diagnostic> {
    let (word, found) = (place.before(0)?, place.after(0)?);
    if !found.begins_operand() || place.before(1).is_some_and(Lexeme::ends_operand) {
        return None;
    }
    if word.is_word(&["not"]) {
        let span = Span { start: word.span.start, end: found.span.start };
        let help = "write `!`, with parentheses around a comparison: `!(a == b)`";
        let finding = Diagnostic::error("`not` is not an operator", word.span).help(help);
        let (whole, compares) = negated(place);
        if !compares {
            return Some(finding.fix(span, "!"));
        }
        let operand = place.text(whole);
        return Some(finding.fix(word.span.to(whole), format!("!({operand})")));
    }
    let help = if word.is_word(&["if", "when", "case"]) {
        "write `condition ? value : other`"
    } else if word.is_word(&["return", "let", "var", "set", "const", "select", "expr"]) {
        "write only the expression"
    } else {
        return None;
    };
    let word_shown = word.shown();
    Some(Diagnostic::error(format!("`{word_shown}` is not part of the language"), word.span).help(help))
}

/// The text after `not` up to the next `&&`, `||` or closing bracket, and true if it compares.
fn negated(place: &Place<'_>) -> (Span, bool) {
    let rest = place.rest();
    let (mut depth, mut at, mut compares, mut quoted) = (0usize, 0, false, false);
    while let Some(byte) = rest.get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => at += 1,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            b')' | b']' | b'}' | b',' | b';' | b'?' => break,
            b'&' | b'|' if rest.get(at + 1) == Some(byte) => break,
            b'<' | b'>' | b'=' => compares = true,
            byte if byte.is_ascii_whitespace() => {
                let word = rest[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                if [&b"and"[..], b"or"].iter().any(|known| rest[at + 1..at + 1 + word].eq_ignore_ascii_case(known)) {
                    break;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let length = rest[..at.min(rest.len())].trim_ascii_end().len();
    (place.ahead(length), compares)
}

/// `a = b`
pub(super) fn assignment(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0)?;
    if !found.is("=") || place.wants_value() {
        return None;
    }
    let alone = place.before(1).is_none() && place.before(0)?.kind == Kind::Word;
    let help = if alone {
        "write `==` to compare; `Name = value` is valid only in ads and files of attributes"
    } else {
        "write `==` to compare"
    };
    Some(Diagnostic::error("`=` is not an operator", found.span).help(help).fix(found.span, "=="))
}

/// `a ? b`
pub(super) fn unfinished_conditional(place: &Place<'_>) -> Option<Diagnostic> {
    let found = place.after(0);
    if place.expected() != Some(Expected::Colon) || found.is_some_and(Lexeme::begins_operand) {
        return None;
    }
    let question = (0..).map_while(|back| place.before(back)).find(|lexeme| lexeme.is("?"))?;
    if place.source.get(question.span.end as usize) == Some(&b'.') {
        let span = Span { start: question.span.start, end: question.span.end + 1 };
        let help = "write `.`: an attribute of UNDEFINED is UNDEFINED";
        return Some(Diagnostic::error("`?.` is not an operator", span).help(help).fix(span, "."));
    }
    let finding = Diagnostic::error("the conditional does not have a `:`", place.error.span)
        .related(question.span, "starts here");
    Some(finding.help("write `condition ? value : other`, or `value ?: other` for a default"))
}

/// `a +`, `* b`, `a + * b`, `a ?: !b`
pub(super) fn missing_operand(place: &Place<'_>) -> Option<Diagnostic> {
    if !place.wants_value() {
        return None;
    }
    let found = place.after(0).filter(|found| found.wants_operand());
    let before = place.before(0).filter(|before| before.wants_operand());
    let related = |before: &Lexeme<'_>, help: String| {
        place.plain().related(before.span, "requires a value on its right").help(help)
    };
    let finding = match (before, found) {
        (Some(before), Some(found)) if before.is("?:") && ["!", "-", "+", "~"].iter().any(|op| found.is(op)) => {
            let message = format!("the right side of `?:` cannot start with `{}`", found.shown());
            Diagnostic::error(message, found.span).help("put it in parentheses: `a ?: (!b)`")
        }
        (Some(before), Some(found)) => {
            related(before, format!("a value is missing between `{}` and `{}`", before.shown(), found.shown()))
        }
        (Some(before), None) if before.is("%") && place.before(1).is_some_and(|value| value.kind == Kind::Number) => {
            let number = place.before(1).map(Lexeme::shown).unwrap_or_default();
            let help = format!("`%` is the remainder of a division; for a percentage, write `{number} / 100.0`");
            related(before, help)
        }
        (Some(before), None) => related(before, format!("add the operand of `{}`, or remove it", before.shown())),
        (None, Some(found)) => place.plain().help(format!("`{}` requires a value on both sides", found.shown())),
        (None, None) => return None,
    };
    Some(finding)
}
