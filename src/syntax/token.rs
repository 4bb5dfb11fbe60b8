//! The words of the language, as the scanner sees them.
//!
//! In: bytes. Out: raw tokens without payload. What depends on the neighbours (the minus sign, zeros in front of
//! a number, keywords) is decided in `lexer`.

use logos::{Lexer, Logos};

use crate::syntax::operator::{BinaryOp, UnaryOp};

/// The spelling of strings and quoted names (`docs/reference/classad-language.md` 2.5 and 2.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Quoting {
    /// New syntax: backslash escapes, adjacent strings join.
    #[default]
    New,
    /// Old syntax (the long format): a backslash is a character unless it precedes the quote.
    Old,
}

/// Reasons that the scanner could not read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScanError {
    /// No token begins with this byte.
    #[default]
    BadCharacter,
    /// A string without its end.
    UnterminatedString,
    /// A comment without its end.
    UnterminatedComment,
}

/// A sign without a payload that is not only an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `?:`
    Default,
    /// `?:` or `? :` in versions where it has the lowest precedence.
    LateDefault,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `=`
    Assign,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
}

/// A raw token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(utf8 = false, extras = Quoting, error = ScanError)]
#[logos(skip r"[ \t\n\x0B\x0C\r]+")]
pub enum Raw {
    /// `/* … */` or `// …`. The scanner would skip comments by calling itself, so a row of them would exhaust the
    /// stack; the lexer passes over them instead.
    #[token("/*", block_comment)]
    #[regex(r"//[^\n]*", allow_greedy = true)]
    Comment,
    /// A name or a keyword.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    /// Decimal digits.
    #[regex("[0-9]+")]
    Integer,
    /// `0x` and hexadecimal digits.
    #[regex("0[xX][0-9A-Fa-f]+")]
    Hexadecimal,
    /// A hexadecimal number with a point, as C reads it.
    #[regex(r"0[xX][0-9A-Fa-f]+\.[0-9]+([eE][+-]?[0-9]+)?")]
    HexadecimalFraction,
    /// A number with a point, an exponent, or both. Two points in front of digits are read like one, but the number is
    /// zero.
    #[regex(r"[0-9]+\.[0-9]+")]
    #[regex(r"\.[0-9]+")]
    #[regex(r"\.\.[0-9]+")]
    Fraction,
    /// A number with an exponent.
    #[regex(r"[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+")]
    #[regex(r"\.[0-9]+[eE][+-]?[0-9]+")]
    #[regex(r"\.\.[0-9]+[eE][+-]?[0-9]+")]
    Exponent,
    /// A string with its quotes; in new syntax all that join it.
    #[token("\"", |lexer| quoted(lexer, b'"'))]
    String,
    /// A quoted name with its quotes.
    #[token("'", |lexer| quoted(lexer, b'\''))]
    QuotedName,
    /// An operator that is only between operands.
    #[token("*", |_| BinaryOp::Multiply)]
    #[token("/", |_| BinaryOp::Divide)]
    #[token("%", |_| BinaryOp::Modulo)]
    #[token("^", |_| BinaryOp::BitXor)]
    #[token("&", |_| BinaryOp::BitAnd)]
    #[token("&&", |_| BinaryOp::And)]
    #[token("|", |_| BinaryOp::BitOr)]
    #[token("||", |_| BinaryOp::Or)]
    #[token("<", |_| BinaryOp::Less)]
    #[token("<=", |_| BinaryOp::LessEqual)]
    #[token("<<", |_| BinaryOp::ShiftLeft)]
    #[token(">", |_| BinaryOp::Greater)]
    #[token(">=", |_| BinaryOp::GreaterEqual)]
    #[token(">>", |_| BinaryOp::ShiftRight)]
    #[token(">>>", |_| BinaryOp::ShiftRightZero)]
    #[token("==", |_| BinaryOp::Equal)]
    #[token("=?=", |_| BinaryOp::Is)]
    #[token("=!=", |_| BinaryOp::Isnt)]
    #[token("!=", |_| BinaryOp::NotEqual)]
    Binary(BinaryOp),
    /// An operator that is only before an operand.
    #[token("~", |_| UnaryOp::BitNot)]
    #[token("!", |_| UnaryOp::Not)]
    Prefix(UnaryOp),
    /// Any other sign. A dot may be written `..`, and the default operator with white space inside.
    #[regex(r"\.\.?", |_| Mark::Dot)]
    #[regex(r"\?[ \t\n\x0B\x0C\r]*:", |_| Mark::Default)]
    #[token("+", |_| Mark::Plus)]
    #[token("-", |_| Mark::Minus)]
    #[token("?", |_| Mark::Question)]
    #[token(":", |_| Mark::Colon)]
    #[token(";", |_| Mark::Semicolon)]
    #[token(",", |_| Mark::Comma)]
    #[token("[", |_| Mark::OpenBracket)]
    #[token("]", |_| Mark::CloseBracket)]
    #[token("(", |_| Mark::OpenParen)]
    #[token(")", |_| Mark::CloseParen)]
    #[token("{", |_| Mark::OpenBrace)]
    #[token("}", |_| Mark::CloseBrace)]
    #[token("=", |_| Mark::Assign)]
    Mark(Mark),
}

fn block_comment(lexer: &mut Lexer<'_, Raw>) -> Result<(), ScanError> {
    let end = memchr::memmem::find(lexer.remainder(), b"*/").ok_or(ScanError::UnterminatedComment)?;
    lexer.bump(end + 2);
    Ok(())
}

fn quoted(lexer: &mut Lexer<'_, Raw>, quote: u8) -> Result<(), ScanError> {
    let rest = lexer.remainder();
    let length = match lexer.extras {
        Quoting::New => joined_strings(rest, quote),
        Quoting::Old => old_string(rest, quote),
    };
    lexer.bump(length.ok_or(ScanError::UnterminatedString)?);
    Ok(())
}

/// The length of a new-syntax string behind its opening quote, with all that join it.
pub(crate) fn joined_strings(rest: &[u8], quote: u8) -> Option<usize> {
    let mut end = new_string(rest, quote)?;
    loop {
        let gap = rest[end..].iter().take_while(|byte| is_space(**byte)).count();
        if rest.get(end + gap) != Some(&quote) {
            return Some(end);
        }
        let next = end + gap + 1;
        end = next + new_string(&rest[next..], quote)?;
    }
}

/// The length of one string behind its opening quote, with the closing one.
pub(crate) fn new_string(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(quote, b'\\', &rest[at..])?;
        if rest[at] == quote {
            return Some(at + 1);
        }
        at += 2;
        if at > rest.len() {
            return None;
        }
    }
}

/// The length of an old-syntax string behind its opening quote: the first quote that no backslash precedes, or
/// one that a backslash precedes when the line ends behind it.
fn old_string(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(quote, &rest[at..])?;
        let escaped = at > 0 && rest[at - 1] == b'\\';
        at += 1;
        if !escaped || matches!(rest.get(at), None | Some(b'\n')) {
            return Some(at);
        }
    }
}

/// White space of the language, that of C `isspace`: space, tab, newline, vertical tab, form feed, carriage return.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
