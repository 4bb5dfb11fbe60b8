//! Syntax errors and their places.
//!
//! Errors are values: a kind and a [`Span`]. Their `Display` is one line in lower case without the place; the
//! shell renders place, caret and help. People see them as a [`Diagnostic`](crate::diagnostic::Diagnostic).

use thiserror::Error;

use crate::span::Span;

/// The text that the parser would have accepted where it stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// The start of a value: `1 +` and then the end.
    Expression,
    /// An operator, a closing bracket or the end: `1 2`.
    Operator,
    /// The end of the text: `1 )`.
    End,
    /// `)` : `(1`.
    CloseParen,
    /// `]` of a subscript: `x[1`.
    CloseSubscript,
    /// `,` or `)` of a call: `f(1 2)`.
    CommaOrCloseParen,
    /// `,` or `}` of a list: `{1 2}`.
    CommaOrCloseBrace,
    /// `;` or `]` of an ad: `[a = 1 b = 2]`.
    SemicolonOrCloseBracket,
    /// An attribute name: `[1 = 2]`.
    AttributeName,
    /// `=` after an attribute name: `[a]`.
    Assign,
    /// `:` of a conditional: `a ? b`.
    Colon,
    /// A name after a dot: `a.5`.
    Selector,
    /// An ad of new syntax, `[ … ]`.
    Ad,
    /// The end of the text: `[a = 1] x`.
    EndOfAd,
    /// A JSON object, `{ … }`.
    Object,
    /// A JSON value.
    JsonValue,
    /// The name of an attribute of a JSON object, a string.
    JsonName,
    /// `:` behind the name of an attribute of a JSON object.
    JsonColon,
    /// `,` or `}` of a JSON object.
    CommaOrEndOfObject,
    /// `,` or `]` of a JSON list.
    CommaOrEndOfArray,
    /// `<a n="…">` or `</c>` in an ad of the XML form.
    XmlAttribute,
    /// `<c>`, with which an ad of XML begins.
    XmlAd,
    /// An element that is a value.
    XmlValue,
    /// Text inside an element.
    XmlText,
}

impl Expected {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Expected::Expression => "an expression",
            Expected::Operator => "an operator or the end of the expression",
            Expected::End => "the end of the expression",
            Expected::CloseParen => "an operator or `)`",
            Expected::CloseSubscript => "an operator or `]`",
            Expected::CommaOrCloseParen => "`,` or `)`",
            Expected::CommaOrCloseBrace | Expected::CommaOrEndOfObject => "`,` or `}`",
            Expected::SemicolonOrCloseBracket => "`;` or `]`",
            Expected::AttributeName => "an attribute name",
            Expected::Assign => "`=` after the attribute name",
            Expected::Colon => "`:` of the conditional",
            Expected::Selector => "an attribute name after `.`",
            Expected::Ad => "an ad, `[ … ]`",
            Expected::EndOfAd => "nothing after the ad",
            Expected::Object => "an ad, `{ … }`",
            Expected::JsonValue => "a JSON value",
            Expected::JsonName => "an attribute name in double quotes",
            Expected::JsonColon => "`:` after the attribute name",
            Expected::CommaOrEndOfArray => "`,` or `]`",
            Expected::XmlAttribute => "`<a n=\"…\">` or `</c>`",
            Expected::XmlAd => "an ad in `<c>` and `</c>`",
            Expected::XmlValue => "a value such as `<i>5</i>`",
            Expected::XmlText => "a string value",
        }
    }
}

/// The kinds of syntax errors.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SyntaxErrorKind {
    /// Something else was found than the grammar allows.
    #[error("expected {}, found {}", expected.as_str(), found_text(found))]
    Unexpected {
        /// The text that would have been right.
        expected: Expected,
        /// The text that was found, empty at the end.
        found: String,
    },
    /// A string or quoted name without its closing quote.
    #[error("the string is not closed: expected `{quote}` before the end")]
    UnterminatedString {
        /// The quote that opened it.
        quote: char,
    },
    /// A `/*` without `*/`.
    #[error("the comment is not closed: expected `*/` before the end")]
    UnterminatedComment,
    /// An octal escape of value 0; strings cannot hold it.
    #[error("a string cannot hold the NUL character")]
    NulInString,
    /// A number such as `010`: in strict mode decimal, otherwise refused.
    #[error("the integer `{0}` starts with a zero")]
    LeadingZero(String),
    /// A number such as `0x1F` outside strict mode.
    #[error("hexadecimal numbers such as `{0}` are not part of the language")]
    Hexadecimal(String),
    /// A number such as `1.` or `1e+`.
    #[error("the number `{0}` is not complete: expected a digit")]
    IncompleteNumber(String),
    /// A byte that begins no token.
    #[error("unexpected character {0}")]
    BadCharacter(String),
    /// More nesting than the reference accepts.
    #[error("the expression is nested too deeply: more than {0} open levels")]
    TooDeep(usize),
    /// `absTime("…")` or `relTime("…")` with a text that is no time.
    #[error("`{0}` is not a time")]
    BadTime(String),
    /// `''` as an attribute name.
    #[error("an attribute name cannot be empty")]
    EmptyName,
    /// A `;` between arguments in strict mode.
    #[error("expected `,` or `)`, found `;`")]
    SemicolonInArguments,
    /// A `\\u` of JSON without four hexadecimal digits.
    #[error("`{0}` is not `\\u` and four hexadecimal digits")]
    BadUnicodeEscape(String),
    /// A text of 4 GiB or more.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// An ad beyond one of the limits of readers; the text names it.
    #[error("the ad is too large: {0}")]
    TooLarge(&'static str),
    /// A line of the long format without `=`.
    #[error("expected `name = value`, found no `=`")]
    NoAssign,
}

fn found_text(found: &str) -> String {
    if found.is_empty() { "the end".to_owned() } else { format!("`{found}`") }
}

/// A syntax error and its place.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// The kind of the error.
    pub kind: SyntaxErrorKind,
    /// The place in the text that was parsed.
    pub span: Span,
}

impl SyntaxError {
    /// An error at a place.
    pub fn new(kind: SyntaxErrorKind, span: Span) -> Self {
        SyntaxError { kind, span }
    }

    /// The same error in a text that the parsed one begins `offset` bytes into.
    #[must_use]
    pub fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.shifted(offset);
        self
    }
}
