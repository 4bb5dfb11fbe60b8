//! Colours of the words of an expression.

use classmate::Mode;
use classmate::ParseOptions;
use classmate::internal::builtin::find;
use classmate::internal::syntax::lexer::{Lexer, Token};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::token::Mark;

const RESET: &str = "\x1b[0m";
const STRING: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const WORD: &str = "\x1b[35m";
const FUNCTION: &str = "\x1b[34m";
const COMMAND: &str = "\x1b[33m";
const UNKNOWN: &str = "\x1b[31m";
/// Dim, for hints.
pub const FAINT: &str = "\x1b[2m";

/// A text with a colour for each kind of word: strings, numbers, constants and operators that are words, functions.
/// Invalid text stays as it is; unknown functions are red.
pub fn paint(text: &str, mode: Mode) -> String {
    let (command, rest) = match text.strip_prefix(':') {
        Some(rest) => text.split_at(rest.find(char::is_whitespace).map_or(text.len(), |at| at + 1)),
        None => ("", text),
    };
    let mut out = String::with_capacity(text.len() * 2);
    if !command.is_empty() {
        out.push_str(COMMAND);
        out.push_str(command);
        out.push_str(RESET);
    }
    let tokens: Vec<_> =
        Lexer::new(rest.as_bytes(), &ParseOptions { mode, ..ParseOptions::default() }).map_while(Result::ok).collect();
    let mut done = 0;
    for (at, (start, token, end)) in tokens.iter().enumerate() {
        let called = matches!(tokens.get(at + 1), Some((_, Token::Mark(Mark::OpenParen), _)));
        let written = rest.get(*start..*end).unwrap_or_default();
        let color = match token {
            Token::Literal(Literal::Str(_)) => STRING,
            Token::Literal(Literal::Int(_) | Literal::Real(_)) => NUMBER,
            Token::Literal(_) => WORD,
            Token::Binary(_) if written.starts_with(['i', 'I']) => WORD,
            Token::Name(name) if called => {
                if find(*name).is_some() {
                    FUNCTION
                } else {
                    UNKNOWN
                }
            }
            _ => continue,
        };
        out.push_str(rest.get(done..*start).unwrap_or_default());
        out.push_str(color);
        out.push_str(written);
        out.push_str(RESET);
        done = *end;
    }
    let behind = rest.get(done..).unwrap_or_default();
    // A string that is not closed yet.
    match behind.find('"') {
        Some(quote) => {
            out.push_str(&behind[..quote]);
            out.push_str(STRING);
            out.push_str(&behind[quote..]);
            out.push_str(RESET);
        }
        None => out.push_str(behind),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('\x1b') {
            out.push_str(before);
            rest = behind.split_once('m').map_or("", |(_, rest)| rest);
        }
        out + rest
    }

    #[test]
    fn colours_change_no_character() {
        for text in ["1 + \"é\" is undefined", ":trace floor(x)", "size(\"abc", "a ≥ b", "", "nosuch(1)"] {
            assert_eq!(plain(&paint(text, Mode::HTCondor)), text);
        }
    }

    #[test]
    fn functions_that_do_not_exist_are_red() {
        assert!(paint("nosuch(1)", Mode::HTCondor).starts_with(UNKNOWN));
        assert!(paint("floor(1)", Mode::HTCondor).starts_with(FUNCTION));
    }
}
