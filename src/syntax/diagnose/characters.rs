//! Mistakes with characters that begin no token.

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::diagnose::Rule;
use crate::syntax::diagnose::place::Place;
use crate::syntax::diagnose::values::text_needs_quotes;
use crate::syntax::lexer::leading_character;

/// For characters that the lexer refuses.
pub(super) const RULES: &[Rule] = &[
    half_identity,
    macro_call,
    hash,
    at_sign,
    backslash,
    backquote,
    typographic_quote,
    typographic,
    letter,
    stray_byte,
];

/// `a =? b`
fn half_identity(place: &Place<'_>) -> Option<Diagnostic> {
    let span = place.literally(b"=?")?;
    let finding = Diagnostic::error("`=?` is not an operator", span);
    Some(finding.help("write `=?=`, which is never UNDEFINED, or `==`").fix(span, "=?="))
}

/// `$(MACRO)`, `$$(X)`, `${X}`, `$X`
fn macro_call(place: &Place<'_>) -> Option<Diagnostic> {
    let rest = place.rest();
    let dollars = rest.iter().take_while(|byte| **byte == b'$').count();
    let word = rest[dollars..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if dollars == 0 {
        return None;
    }
    let behind = dollars + word;
    let close = match rest.get(behind) {
        Some(b'(') => memchr::memchr2(b')', b'\n', &rest[behind..]).filter(|at| rest[behind + at] == b')'),
        Some(b'{') => memchr::memchr2(b'}', b'\n', &rest[behind..]).filter(|at| rest[behind + at] == b'}'),
        _ => None,
    };
    let end = close.map_or(behind, |at| behind + at + 1);
    let span = place.ahead(end);
    let written = place.text(span);
    let inner = place.text(Span::new(place.start() + behind + 1, (place.start() + end).saturating_sub(1)));
    let finding = |message: String| Diagnostic::error(message, span);
    Some(match (dollars, close) {
        (2, Some(_)) => finding(format!("`{written}` was not filled in")).help(format!(
            "HTCondor replaces `$$(…)` in submit commands after the match; in an expression, write `TARGET.{}`",
            inner.split(':').next().unwrap_or_default()
        )),
        (1, Some(_)) if rest.get(behind) == Some(&b'(') => finding(format!("the macro `{written}` was not expanded"))
            .help("macros are expanded only in configuration and submit files; write the value instead"),
        (1, None) if word > 0 => {
            let name = place.text(Span::new(place.start() + 1, place.start() + behind));
            let help = format!("write `{name}` for an attribute; expressions do not have variables");
            finding("unexpected character `$`".to_owned()).help(help).fix(span, name)
        }
        _ => finding(format!("the variable `{written}` was not expanded")).help("write the value instead"),
    })
}

/// `1 # one`
fn hash(place: &Place<'_>) -> Option<Diagnostic> {
    let span = place.literally(b"#")?;
    let finding = Diagnostic::error("`#` does not start a comment inside an expression", span);
    Some(finding.help("move the comment to its own line, or write `//` or `/* … */`").fix(span, "//"))
}

/// `slot1@host.example.org`
fn at_sign(place: &Place<'_>) -> Option<Diagnostic> {
    place.literally(b"@")?;
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-@".contains(byte);
    let before = place.source[..place.start()].iter().rev().take(256).take_while(part).count();
    let behind = place.rest().iter().take(256).take_while(part).count();
    let span = Span::new(place.start() - before, place.start() + behind);
    Some(text_needs_quotes(place, span))
}

/// `\"abc\"`, a line that goes on
fn backslash(place: &Place<'_>) -> Option<Diagnostic> {
    let span = place.literally(b"\\")?;
    Some(match place.rest().get(1) {
        Some(b'"' | b'\'') => {
            let finding = Diagnostic::error("the quote that starts a string does not need a backslash", span);
            finding.help("remove the backslashes before the quotes")
        }
        None | Some(b'\n' | b'\r') => {
            let finding = Diagnostic::error("`\\` does not continue a line", span);
            finding.help("remove it: an expression can span several lines").fix(span, "")
        }
        _ => Diagnostic::error("unexpected character `\\`", span)
            .help("a path is a string: write it in double quotes, with `\\\\` for each backslash"),
    })
}

/// `` `abc` ``
fn backquote(place: &Place<'_>) -> Option<Diagnostic> {
    let finding = Diagnostic::error("unexpected backquote", place.literally(b"`")?);
    Some(finding.help("write strings in double quotes, and attribute names in single quotes or without quotes"))
}

/// The character at the place, if it is not ASCII.
fn character(place: &Place<'_>) -> Option<(char, Span)> {
    let rest = place.rest();
    let length = rest.first().map(|_| leading_character(rest))?;
    let text = std::str::from_utf8(&rest[..length]).ok()?;
    let character = text.chars().next().filter(|character| !character.is_ascii())?;
    Some((character, place.ahead(length)))
}

/// `“LINUX”`
fn typographic_quote(place: &Place<'_>) -> Option<Diagnostic> {
    let (character, span) = character(place)?;
    if !"“”„‟«»‘’‚‛″′＂＇".contains(character) {
        return None;
    }
    let finding = Diagnostic::error(format!("`{character}` is not a valid quote"), span);
    let help = "write strings in straight double quotes, `\"…\"`";
    // Up to the typographic quote that closes it, on the same line.
    let behind = &place.source[span.range().end..];
    let line = &behind[..memchr::memchr(b'\n', behind).unwrap_or(behind.len())];
    let text = String::from_utf8_lossy(line);
    let close = text.char_indices().find(|(_, other)| "“”‟«»‘’‛″′＂＇".contains(*other));
    Some(match close {
        Some((at, quote)) if !text[..at].contains(['"', '\u{FFFD}']) => {
            let whole = Span::new(span.range().start, span.range().end + at + quote.len_utf8());
            finding.help(help).fix(whole, format!("\"{}\"", &text[..at]))
        }
        _ => finding.help(help),
    })
}

const TYPOGRAPHIC: &[(char, &str)] = &[
    ('≥', ">="),
    ('≤', "<="),
    ('≠', "!="),
    ('＝', "=="),
    ('×', "*"),
    ('∗', "*"),
    ('·', "*"),
    ('÷', "/"),
    ('−', "-"),
    ('–', "-"),
    ('—', "-"),
    ('‐', "-"),
    ('‑', "-"),
    ('∧', "&&"),
    ('∨', "||"),
    ('¬', "!"),
    ('，', ","),
    ('；', ";"),
    ('（', "("),
    ('）', ")"),
];

/// `a ≥ b`, `a – b`, and characters that cannot be seen
fn typographic(place: &Place<'_>) -> Option<Diagnostic> {
    let (character, span) = character(place)?;
    if let Some((_, plain)) = TYPOGRAPHIC.iter().find(|(known, _)| *known == character) {
        return Some(Diagnostic::error(format!("unexpected character `{character}`"), span).write(span, *plain));
    }
    let (name, replacement) = match character {
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{3000}' => ("an unusual space", " "),
        '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{AD}' => ("an invisible character", ""),
        '\u{FEFF}' => ("a byte order mark", ""),
        _ => return None,
    };
    let finding = Diagnostic::error(format!("found {name}, U+{:04X}", u32::from(character)), span);
    Some(finding.help("remove it; it often comes from a web page or a word processor").fix(span, replacement))
}

/// `größe`
fn letter(place: &Place<'_>) -> Option<Diagnostic> {
    let (character, _) = character(place).filter(|(character, _)| character.is_alphanumeric())?;
    let before = place.source[..place.start()].iter().rev().take(256);
    let before = before.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let behind = &place.rest()[..place.rest().len().min(256)];
    let text = String::from_utf8_lossy(behind);
    let word =
        text.chars().take_while(|other| other.is_alphanumeric() || *other == '_').map(char::len_utf8).sum::<usize>();
    let span = Span::new(place.start() - before, place.start() + word);
    let written = place.text(span);
    let finding = Diagnostic::error(format!("names can contain only ASCII letters: found `{character}`"), span);
    let quoted = format!("'{written}'");
    Some(finding.help(format!("write `{quoted}` for an attribute, or `\"{written}\"` for a string")).fix(span, quoted))
}

/// A byte that is not UTF-8, a control character.
fn stray_byte(place: &Place<'_>) -> Option<Diagnostic> {
    let byte = place.rest().first()?;
    let help = match byte {
        byte if byte.is_ascii_control() => "remove the control character",
        byte if !byte.is_ascii() => "save the file as UTF-8; only strings can contain other bytes",
        _ => return None,
    };
    Some(Diagnostic::error(format!("unexpected byte 0x{byte:02x}"), place.error.span).help(help))
}
