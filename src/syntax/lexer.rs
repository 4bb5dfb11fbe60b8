//! Tokens with payload: raw tokens read in their context.
//!
//! Decides what the scanner cannot: whether a minus sign belongs to a number, which words are keywords, which
//! integers are refused, and the meaning of a quoted text.

use logos::{Lexer as Scanner, Logos};

use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::name::Name;
use crate::semantics::{Semantics, VersionRule};
use crate::span::Span;
use crate::syntax::literal::{Literal, SizeSuffix};
use crate::syntax::number;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::parse::{Mode, ParseOptions};
use crate::syntax::quote::unquote;
use crate::syntax::token::{Mark, Quoting, Raw, ScanError};
use crate::text::Text;

/// A token of the grammar.
#[derive(Clone, Debug)]
pub enum Token {
    /// A constant.
    Literal(Literal),
    /// A name, quoted or not.
    Name(Name),
    /// An operator that is only between operands.
    Binary(BinaryOp),
    /// `!` or `~`
    Prefix(UnaryOp),
    /// Any other sign.
    Mark(Mark),
}

impl Token {
    /// Tests whether a minus sign behind this token subtracts, rather than beginning a negative number
    /// (`docs/reference/classad-language.md` 2.6).
    fn ends_operand(&self) -> bool {
        matches!(
            self,
            Token::Literal(_)
                | Token::Name(_)
                | Token::Mark(Mark::Dot | Mark::CloseParen | Mark::CloseBracket | Mark::CloseBrace)
        )
    }
}

/// A token with its place.
pub type Spanned = (usize, Token, usize);

/// The tokens of a text. Ends at the first NUL byte, and behind the first error.
pub struct Lexer<'s> {
    source: &'s [u8],
    scanner: Scanner<'s, Raw>,
    mode: Mode,
    quoting: Quoting,
    semantics: Semantics,
    after_operand: bool,
    failed: bool,
}

impl<'s> Lexer<'s> {
    /// Reads a text from its beginning.
    pub fn new(source: &'s [u8], options: &ParseOptions) -> Self {
        let ParseOptions { mode, quoting, semantics, .. } = *options;
        let source = memchr::memchr(0, source).map_or(source, |end| &source[..end]);
        Lexer {
            source,
            scanner: Raw::lexer_with_extras(source, quoting),
            mode,
            quoting,
            semantics,
            after_operand: false,
            failed: false,
        }
    }

    /// Goes on at a later place of the text, also behind an error. Returns false if the place is not behind the last token, or behind
    /// the end.
    pub fn skip_to(&mut self, place: usize) -> bool {
        let Some(length) = place.checked_sub(self.offset()).filter(|_| place <= self.source.len()) else {
            return false;
        };
        self.scanner.bump(length);
        (self.after_operand, self.failed) = (false, false);
        true
    }

    /// The offset behind the last token.
    pub fn offset(&self) -> usize {
        self.scanner.span().end
    }

    fn error(&self, kind: SyntaxErrorKind, start: usize, end: usize) -> SyntaxError {
        SyntaxError::new(kind, Span::new(start, end.min(self.source.len())))
    }

    fn scan_error(&self, error: ScanError, start: usize, end: usize) -> SyntaxError {
        let byte = self.source.get(start).copied().unwrap_or_default();
        match error {
            ScanError::UnterminatedString => {
                self.error(SyntaxErrorKind::UnterminatedString { quote: char::from(byte) }, start, start + 1)
            }
            ScanError::UnterminatedComment => self.error(SyntaxErrorKind::UnterminatedComment, start, start + 2),
            ScanError::BadCharacter => {
                let rest = &self.source[start..];
                let length = match rest.first() {
                    Some(byte) if byte.is_ascii() => 1,
                    _ => leading_character(rest),
                };
                let shown = describe_character(&rest[..length]);
                self.error(SyntaxErrorKind::BadCharacter(shown), start, end.min(start + 1).max(start + length))
            }
        }
    }

    fn token(&mut self, raw: Raw) -> Result<Token, SyntaxError> {
        match raw {
            Raw::Comment => Err(self.scan_error(ScanError::UnterminatedComment, self.scanner.span().start, 0)),
            Raw::Word => Ok(word(self.scanner.slice())),
            Raw::Integer | Raw::Hexadecimal | Raw::HexadecimalFraction | Raw::Fraction | Raw::Exponent => {
                self.number(raw, self.scanner.span().start)
            }
            Raw::String => Ok(Token::Literal(Literal::Str(Text::new(self.unquoted()?)))),
            Raw::QuotedName => Ok(Token::Name(Name::new(self.unquoted()?))),
            Raw::Mark(Mark::Minus) => self.minus(),
            Raw::Mark(Mark::Assign) => self.assign(),
            Raw::Mark(Mark::Default) => Ok(Token::Mark(self.default_mark())),
            Raw::Mark(mark) => Ok(Token::Mark(mark)),
            Raw::Binary(op) => Ok(Token::Binary(op)),
            Raw::Prefix(op) => Ok(Token::Prefix(op)),
        }
    }

    /// `=`; followed by `?` it can only have been meant as `=?=`.
    fn assign(&self) -> Result<Token, SyntaxError> {
        let span = self.scanner.span();
        if self.source.get(span.end) == Some(&b'?') {
            return Err(self.error(SyntaxErrorKind::BadCharacter("`=?`".to_owned()), span.start, span.end + 1));
        }
        Ok(Token::Mark(Mark::Assign))
    }

    /// `?:`, with or without space between.
    fn default_mark(&self) -> Mark {
        let is_late = self.semantics.is_old(VersionRule::ElvisPrecedence)
            || self.semantics.is_old(VersionRule::EmptyMiddle) && self.scanner.slice().len() > 2;
        if is_late { Mark::LateDefault } else { Mark::Default }
    }

    fn minus(&mut self) -> Result<Token, SyntaxError> {
        let start = self.scanner.span().start;
        let rest = self.scanner.remainder();
        let digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        if self.after_operand || !(digit(0) || (rest.first() == Some(&b'.') && digit(1))) {
            return Ok(Token::Mark(Mark::Minus));
        }
        match self.scanner.next() {
            Some(Ok(
                raw @ (Raw::Integer | Raw::Hexadecimal | Raw::HexadecimalFraction | Raw::Fraction | Raw::Exponent),
            )) => self.number(raw, start),
            _ => Ok(Token::Mark(Mark::Minus)), // a digit always begins a number
        }
    }

    /// A number whose text begins at `start`, a sign included.
    fn number(&mut self, raw: Raw, start: usize) -> Result<Token, SyntaxError> {
        let end = self.scanner.span().end;
        let text = &self.source[start..end];
        let shown = |end: usize| String::from_utf8_lossy(&self.source[start..end.min(self.source.len())]).into_owned();
        let next = self.source.get(end).copied().unwrap_or_default();
        let incomplete = match raw {
            Raw::Integer => {
                matches!(next, b'.' | b'e' | b'E') || (matches!(next, b'x' | b'X') && self.scanner.slice() == b"0")
            }
            Raw::Fraction | Raw::HexadecimalFraction => matches!(next, b'e' | b'E'),
            Raw::Hexadecimal => next == b'.',
            _ => false,
        };
        if incomplete {
            let sign = usize::from(matches!(self.source.get(end + 1), Some(b'+' | b'-')) && next != b'.');
            return Err(self.error(SyntaxErrorKind::IncompleteNumber(shown(end + 1 + sign)), start, end + 1 + sign));
        }
        let literal = match raw {
            // `..5` is read as a number, which begins with no digit that the conversion understands.
            Raw::Fraction | Raw::Exponent if text.starts_with(b"..") => Literal::Real(0.0),
            Raw::Fraction | Raw::Exponent => Literal::Real(number::parse_real(text)),
            // The token ends as a decimal number does, but C's strtod takes all digits as hexadecimal.
            Raw::HexadecimalFraction => Literal::Real(number::real_prefix(text).map_or(0.0, |(value, _)| value)),
            // The reference looks at the first character, which may be the sign: `-010` is -10 everywhere.
            Raw::Hexadecimal if self.mode == Mode::HTCondor && text[0] == b'0' => {
                return Err(self.error(SyntaxErrorKind::Hexadecimal(shown(end)), start, end));
            }
            Raw::Hexadecimal if self.semantics.is_old(VersionRule::IntegerBase) => {
                Literal::Int(number::parse_c_integer(text))
            }
            Raw::Hexadecimal => Literal::Int(0),
            _ => {
                let leading_zero = text[0] == b'0' && text.len() > 1;
                let octal = self.scanner.slice().iter().all(|digit| *digit < b'8');
                let zero_first = self.scanner.slice().len() > 1 && self.scanner.slice()[0] == b'0';
                if (leading_zero && self.mode == Mode::HTCondor) || (zero_first && !octal) {
                    return Err(self.error(SyntaxErrorKind::LeadingZero(shown(end)), start, end));
                }
                Literal::Int(match self.mode {
                    Mode::Strict if self.semantics.is_old(VersionRule::IntegerBase) => number::parse_c_integer(text),
                    _ => number::parse_integer(text, self.semantics),
                })
            }
        };
        Ok(Token::Literal(match SizeSuffix::of(next) {
            Some(suffix) if self.semantics.is_old(VersionRule::SizeSuffix) => {
                self.scanner.bump(1);
                let scaled = Literal::Suffixed(Box::new(literal), suffix);
                if self.semantics.is_old(VersionRule::SuffixPrinting) { scaled } else { scaled.product() }
            }
            _ => literal,
        }))
    }

    fn unquoted(&self) -> Result<std::borrow::Cow<'s, [u8]>, SyntaxError> {
        let span = self.scanner.span();
        unquote(self.scanner.slice(), self.quoting)
            .map_err(|_| self.error(SyntaxErrorKind::NulInString, span.start, span.end))
    }
}

fn word(text: &[u8]) -> Token {
    keyword(text).unwrap_or_else(|| Token::Name(Name::new(text)))
}

/// The meaning of a word that is not a name.
pub(crate) fn keyword(text: &[u8]) -> Option<Token> {
    if !(2..=9).contains(&text.len()) {
        return None;
    }
    let mut folded = [0; 9];
    for (to, from) in folded.iter_mut().zip(text) {
        *to = from.to_ascii_lowercase();
    }
    Some(match &folded[..text.len()] {
        b"true" => Token::Literal(Literal::Bool(true)),
        b"false" => Token::Literal(Literal::Bool(false)),
        b"undefined" => Token::Literal(Literal::Undefined),
        b"error" => Token::Literal(Literal::Error),
        b"is" => Token::Binary(BinaryOp::Is),
        b"isnt" => Token::Binary(BinaryOp::Isnt),
        _ => return None,
    })
}

/// The number of bytes of the first character of a text; 1 if it is not UTF-8.
pub(crate) fn leading_character(rest: &[u8]) -> usize {
    (1..=rest.len().min(4)).find(|&length| std::str::from_utf8(&rest[..length]).is_ok()).unwrap_or(1)
}

fn describe_character(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("`{text}`"),
        _ => format!("byte 0x{:02x}", bytes.first().copied().unwrap_or_default()),
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Spanned, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let scanned = loop {
            match self.scanner.next()? {
                Ok(Raw::Comment) => {}
                other => break other,
            }
        };
        let start = self.scanner.span().start;
        let token = match scanned {
            Ok(raw) => self.token(raw),
            Err(error) => Err(self.scan_error(error, start, self.scanner.span().end)),
        };
        match token {
            Ok(token) => {
                self.after_operand = token.ends_operand();
                Some(Ok((start, token, self.scanner.span().end)))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn printed(text: &str) -> Option<String> {
        parse_expr(text.as_bytes(), &ParseOptions::default()).ok().map(|expr| expr.to_string())
    }

    #[test]
    fn hexadecimal_with_a_point_is_read_as_c_reads_it() {
        // Answers of the reference, in both modes: 16 + 8/16, 16 + 5e3/1000 in hexadecimal.
        assert_eq!(printed("0x10.8").as_deref(), Some("1.650000000000000E+01"));
        assert_eq!(printed("0x10.5e3").as_deref(), Some("1.636791992187500E+01"));
        assert_eq!(printed("-0X1.8").as_deref(), Some("-1.500000000000000E+00"));
        assert_eq!(printed("0x1.8e+2").as_deref(), Some("1.554687500000000E+00"));
        for refused in ["0x10.b", "0x10.", "0x1.8e", "0x1.8p1"] {
            assert_eq!(printed(refused), None, "{refused}");
        }
    }

    #[test]
    fn two_points_before_digits_are_a_number_that_is_zero() {
        // Answers of the reference.
        assert_eq!(printed("..5").as_deref(), Some("0.0"));
        assert_eq!(printed("..5e3 + 1").as_deref(), Some("0.0 + 1"));
        assert_eq!(printed("..5..a").as_deref(), Some("0.0.a"));
        assert_eq!(printed("..a").as_deref(), Some(".a"));
        for refused in ["a..5", "..5e", "..5.5", "...5"] {
            assert_eq!(printed(refused), None, "{refused}");
        }
    }
}
