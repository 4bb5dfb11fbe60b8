//! The place where a parser stopped: the tokens around it and the brackets that are open there.

use crate::diagnostic::Diagnostic;
use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::span::Span;
use crate::syntax::lexer::{Lexer, Token};
use crate::syntax::parse::ParseOptions;

/// Number of tokens before and after the place that are considered.
const AROUND: usize = 8;

/// The kind of a token, as far as mistakes are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name or keyword.
    Word,
    /// `'…'`
    QuotedName,
    /// A number.
    Number,
    /// `"…"`
    String,
    /// Anything else.
    Symbol,
}

/// A token as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s [u8],
    pub(super) span: Span,
}

impl<'s> Lexeme<'s> {
    fn new(source: &'s [u8], start: usize, token: &Token, end: usize) -> Self {
        let text = &source[start..end];
        let kind = match (token, text.first()) {
            (Token::Name(_), Some(b'\'')) => Kind::QuotedName,
            (_, Some(b'"')) => Kind::String,
            (_, Some(b'.')) if text.len() > 1 && text[1].is_ascii_digit() => Kind::Number,
            (_, Some(byte)) if byte.is_ascii_alphabetic() || *byte == b'_' => Kind::Word,
            (Token::Literal(_), _) => Kind::Number,
            _ => Kind::Symbol,
        };
        Lexeme { kind, text, span: Span::new(start, end) }
    }

    /// The text inside the quotes.
    pub(super) fn inner(&self) -> &'s [u8] {
        self.text.get(1..self.text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// The text for people.
    pub(super) fn shown(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }

    /// Tests whether the token is one of some words, in any case.
    pub(super) fn is_word(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.iter().any(|word| self.text.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Tests whether the token is a symbol.
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol.as_bytes()
    }

    /// Tests whether the token ends something that has a value.
    pub(super) fn ends_operand(&self) -> bool {
        match self.kind {
            Kind::Symbol => matches!(self.text, b")" | b"]" | b"}"),
            Kind::Word => !self.is_word(&["is", "isnt"]),
            _ => true,
        }
    }

    /// Tests whether the token can only begin a value.
    pub(super) fn begins_operand(&self) -> bool {
        match self.kind {
            Kind::Symbol => matches!(self.text, b"(" | b"{" | b"["),
            Kind::Word => !self.is_word(&["is", "isnt"]),
            _ => true,
        }
    }

    /// Tests whether the token is an operator that requires a value on its right.
    pub(super) fn wants_operand(&self) -> bool {
        match self.kind {
            Kind::Symbol => {
                !matches!(self.text, b")" | b"]" | b"}" | b"(" | b"[" | b"{" | b"," | b";" | b"=" | b"." | b"..")
            }
            Kind::Word => self.is_word(&["is", "isnt"]),
            _ => false,
        }
    }

    /// Tests whether the token is an operator that compares.
    pub(super) fn compares(&self) -> bool {
        matches!(self.text, b"==" | b"!=" | b"=?=" | b"=!=" | b"<" | b"<=" | b">" | b">=" | b"=")
            || self.is_word(&["is", "isnt"])
    }
}

/// The kinds of open brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bracket {
    /// `(` around an expression.
    Paren,
    /// `(` behind a function name.
    Call,
    /// `{`
    List,
    /// `[` of an ad.
    Ad,
    /// `[` behind a value.
    Subscript,
}

impl Bracket {
    pub(super) fn close(self) -> &'static str {
        match self {
            Bracket::Paren | Bracket::Call => ")",
            Bracket::List => "}",
            Bracket::Ad | Bracket::Subscript => "]",
        }
    }

    /// The construct that the bracket belongs to.
    pub(super) fn of(self) -> &'static str {
        match self {
            Bracket::Paren => "the parenthesis",
            Bracket::Call => "the call",
            Bracket::List => "the list",
            Bracket::Ad => "the ad",
            Bracket::Subscript => "the subscript",
        }
    }
}

/// The place of an error.
pub(super) struct Place<'s> {
    pub(super) source: &'s [u8],
    pub(super) error: &'s SyntaxError,
    /// The last tokens before the place, nearest last.
    before: Vec<Lexeme<'s>>,
    /// The tokens from the place on.
    after: Vec<Lexeme<'s>>,
    /// The brackets that are open at the place, innermost last, with the tokens that opened them.
    pub(super) open: Vec<(Bracket, Span)>,
    /// True if nothing precedes and follows the text.
    pub(super) whole: bool,
}

impl<'s> Place<'s> {
    pub(super) fn new(source: &'s [u8], error: &'s SyntaxError, options: &ParseOptions, whole: bool) -> Self {
        let at = error.span.range().start.min(source.len());
        let mut place = Place { source, error, before: Vec::new(), after: Vec::new(), open: Vec::new(), whole };
        for (start, token, end) in Lexer::new(source, options).map_while(Result::ok) {
            if start >= at {
                break;
            }
            place.pass(Lexeme::new(source, start, &token, end));
        }
        let rest = Lexer::new(&source[at..], options).map_while(Result::ok);
        place.after = rest.take(AROUND).map(|(start, t, end)| Lexeme::new(source, at + start, &t, at + end)).collect();
        place
    }

    fn pass(&mut self, lexeme: Lexeme<'s>) {
        let operand = self.before.last().is_some_and(Lexeme::ends_operand);
        let named = self.before.last().is_some_and(|last| matches!(last.kind, Kind::Word | Kind::QuotedName));
        if lexeme.kind == Kind::Symbol {
            match lexeme.text {
                b"(" if named && operand => self.open.push((Bracket::Call, lexeme.span)),
                b"(" => self.open.push((Bracket::Paren, lexeme.span)),
                b"{" => self.open.push((Bracket::List, lexeme.span)),
                b"[" if operand => self.open.push((Bracket::Subscript, lexeme.span)),
                b"[" => self.open.push((Bracket::Ad, lexeme.span)),
                b")" | b"]" | b"}" => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        if self.before.len() == 2 * AROUND {
            self.before.drain(..AROUND);
        }
        self.before.push(lexeme);
    }

    /// A token before the place; 0 is the nearest.
    pub(super) fn before(&self, back: usize) -> Option<&Lexeme<'s>> {
        self.before.len().checked_sub(back + 1).and_then(|at| self.before.get(at))
    }

    /// A token from the place on; 0 is the one that was not expected.
    pub(super) fn after(&self, ahead: usize) -> Option<&Lexeme<'s>> {
        self.after.get(ahead)
    }

    /// The innermost bracket that is open.
    pub(super) fn inside(&self) -> Option<(Bracket, Span)> {
        self.open.last().copied()
    }

    /// The text that the parser would have accepted.
    pub(super) fn expected(&self) -> Option<Expected> {
        match &self.error.kind {
            SyntaxErrorKind::Unexpected { expected, .. } => Some(*expected),
            _ => None,
        }
    }

    /// Tests whether a value was expected.
    pub(super) fn wants_value(&self) -> bool {
        self.expected() == Some(Expected::Expression)
    }

    /// Tests whether the text ended.
    pub(super) fn at_end(&self) -> bool {
        self.after.is_empty() && self.whole
    }

    pub(super) fn start(&self) -> usize {
        self.error.span.range().start.min(self.source.len())
    }

    /// The text from the place on.
    pub(super) fn rest(&self) -> &'s [u8] {
        &self.source[self.start()..]
    }

    /// The span of a number of bytes from the place on.
    pub(super) fn ahead(&self, bytes: usize) -> Span {
        Span::new(self.start(), self.start() + bytes)
    }

    /// The span of a text, if it is at the place.
    pub(super) fn literally(&self, text: &[u8]) -> Option<Span> {
        self.rest().starts_with(text).then(|| self.ahead(text.len()))
    }

    /// A part of the text.
    pub(super) fn text(&self, span: Span) -> String {
        let end = span.range().end.min(self.source.len());
        String::from_utf8_lossy(&self.source[span.range().start.min(end)..end]).into_owned()
    }

    /// The error as the parser saw it.
    pub(super) fn plain(&self) -> Diagnostic {
        Diagnostic::from(self.error)
    }
}

/// Tests whether two tokens touch.
pub(super) fn touch(left: &Lexeme<'_>, right: &Lexeme<'_>) -> bool {
    left.span.end == right.span.start
}
