//! Ads of new syntax, `[ a = 1; b = a + 1 ]`, alone and in streams (`docs/reference/classad-language.md` 9.1).

use crate::ad::{Attribute, ClassAd, Shapes};
use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::format::extent::{Brackets, skip_blank, value_end};
use crate::format::list::ParseAd;
use crate::format::literal::new_literal;
use crate::format::vocabulary::{Expressions, Names, whole};
use crate::format::{MAX_ATTRIBUTES, MAX_INDENT, TOO_MANY_ATTRIBUTES};
use crate::name::Name;
use crate::span::Span;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::print::{Indent, Style, write_line, write_literal, write_name, write_while};
use crate::syntax::quote::unquote;
use crate::syntax::token::{Quoting, is_space, joined_strings, new_string};

/// Reads the ad that a text begins with; what follows it is ignored. Also returns how many bytes the ad takes, what
/// precedes it included.
///
/// # Errors
/// The text does not begin with an ad.
///
/// ```
/// use classmate::ParseOptions;
/// use classmate::internal::format::new::parse_ad;
/// let (ad, length) = parse_ad(b"[ a = 1; b = a + 1 ] and more", &ParseOptions::default())?;
/// assert_eq!((ad.len(), length), (2, 20));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn parse_ad(text: &[u8], options: &ParseOptions) -> Result<(ClassAd, usize), SyntaxError> {
    AdParser::new(options).parse(text)
}

/// Reads a text that is one ad and nothing else but white space and comments.
///
/// # Errors
/// The text is anything else.
pub fn parse_whole_ad(text: &[u8], options: &ParseOptions) -> Result<ClassAd, SyntaxError> {
    let (ad, length) = parse_ad(text, options)?;
    let text = memchr::memchr(0, text).map_or(text, |nul| &text[..nul]);
    match skip_blank(text, length)? {
        end if end == text.len() => Ok(ad),
        end => Err(unexpected(text, end, Expected::EndOfAd)),
    }
}

impl ClassAd {
    /// Parses one ad of new syntax, `[ a = 1; b = a + 1 ]`.
    ///
    /// # Errors
    /// The text is not one ad and nothing else.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, SyntaxError> {
        ClassAd::parse_with(text, &ParseOptions::default())
    }

    /// As [`ClassAd::parse`], with options.
    ///
    /// # Errors
    /// The text is not one ad and nothing else.
    pub fn parse_with(text: impl AsRef<[u8]>, options: &ParseOptions) -> Result<Self, SyntaxError> {
        parse_whole_ad(text.as_ref(), options)
    }
}

/// Parses ads of new syntax attribute by attribute, constants without the expression parser. One parser for many ads
/// remembers names, expressions and shapes.
#[derive(Debug)]
pub struct AdParser {
    names: Names,
    expressions: Expressions,
    shapes: Shapes,
    /// The attributes of this ad.
    entries: Vec<(Name, Attribute)>,
}

impl ParseAd for AdParser {
    const BRACKETS: Brackets = Brackets::Square;
    const EXPECTED: Expected = Expected::Ad;
    const QUOTING: Option<Quoting> = Some(Quoting::New);

    fn new(options: &ParseOptions) -> Self {
        let options = ParseOptions { quoting: Quoting::New, ..options.clone() };
        AdParser {
            names: Names::default(),
            expressions: Expressions::new(options, |text, options| whole(parse_expr, text, options)),
            shapes: Shapes::default(),
            entries: Vec::new(),
        }
    }

    fn language(&mut self) -> &mut Expressions {
        &mut self.expressions
    }

    fn parse_without_nul(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        let mut at = skip_blank(text, 0)?;
        if text.get(at) != Some(&b'[') {
            return Err(unexpected(text, at, Expected::Ad));
        }
        self.expressions.begin();
        self.names.again();
        self.entries.clear();
        at = skip_blank(text, at + 1)?;
        let first = at;
        loop {
            while text.get(at) == Some(&b';') {
                at = skip_blank(text, at + 1)?;
            }
            // Behind leading semicolons an attribute must come.
            if text.get(at) == Some(&b']') && (at == first || !self.entries.is_empty()) {
                break;
            }
            at = self.attribute(text, at)?;
            match text.get(at) {
                Some(b';') => {}
                Some(b']') => break,
                _ => return Err(unexpected(text, at, Expected::SemicolonOrCloseBracket)),
            }
        }
        Ok((self.shapes.make(&mut self.entries, 0), at + 1))
    }
}

impl AdParser {
    /// A parser with options.
    pub fn with_options(options: &ParseOptions) -> Self {
        AdParser::new(options)
    }

    /// As [`parse_ad`].
    ///
    /// # Errors
    /// The text does not begin with an ad.
    pub fn parse_ad(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        self.parse(text)
    }

    /// Reads `name = value` and returns the place of the `;` or `]` after it, if there is one.
    fn attribute(&mut self, text: &[u8], start: usize) -> Result<usize, SyntaxError> {
        let (name, mut at) = match self.names.expected() {
            Some(name) if name.is_plain() && assigned(&text[start..], name.as_bytes()) => {
                self.names.confirm();
                (name, start + name.as_bytes().len() + 1)
            }
            _ => {
                let (name, end) = self.name(text, start)?;
                (name, skip_blank(text, end)?)
            }
        };
        if text.get(at) != Some(&b'=') || matches!(text.get(at + 1), Some(b'=' | b'?')) || is_isnt(&text[at..]) {
            return Err(unexpected(text, at, Expected::Assign));
        }
        at = skip_blank(text, at + 1)?;
        let (value, end) = match constant(text, at) {
            Some(found) => found,
            None => self.expression(text, at)?,
        };
        if name.as_bytes().is_empty() {
            // The reference notices only behind the value.
            return Err(SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(start, (end + 1).min(text.len()))));
        }
        self.entries.push((name, value));
        if self.entries.len() > MAX_ATTRIBUTES {
            return Err(SyntaxError::new(TOO_MANY_ATTRIBUTES, Span::new(start, end)));
        }
        Ok(end)
    }

    fn name(&mut self, text: &[u8], start: usize) -> Result<(Name, usize), SyntaxError> {
        let rest = &text[start..];
        let length = word_length(rest);
        if length > 0 && !rest[0].is_ascii_digit() {
            let name = self.names.name(&rest[..length]);
            // `parent` is printed in quotes but may be written without.
            if name.is_plain() || name.folded() == b"parent" {
                return Ok((name, start + length));
            }
        }
        if rest.first() == Some(&b'\'') {
            let Some(length) = joined_strings(&rest[1..], b'\'') else {
                let kind = SyntaxErrorKind::UnterminatedString { quote: '\'' };
                return Err(SyntaxError::new(kind, Span::new(start, start + 1)));
            };
            let end = start + 1 + length;
            let bytes = unquote(&text[start..end], Quoting::New)
                .map_err(|_| SyntaxError::new(SyntaxErrorKind::NulInString, Span::new(start, end)))?;
            return Ok((self.names.name(&bytes), end));
        }
        Err(unexpected(text, start, Expected::AttributeName))
    }

    /// Reads an expression with the parser; returns the place of the `;` or `]` after it.
    fn expression(&mut self, text: &[u8], start: usize) -> Result<(Attribute, usize), SyntaxError> {
        let end = value_end(text, start);
        let value = text[start..end].trim_ascii_end();
        match self.expressions.parse(value, start) {
            Ok((attribute, _)) => Ok((attribute, end)),
            Err(error) => Err(in_ad(error, text, start, end)),
        }
    }
}

/// An error in the value at `start..end`, in terms of the ad.
fn in_ad(error: SyntaxError, text: &[u8], start: usize, end: usize) -> SyntaxError {
    let span = error.span.shifted(start);
    let SyntaxErrorKind::Unexpected { expected, found } = error.kind else {
        return SyntaxError { span, ..error };
    };
    if found.is_empty() {
        // The value is at its end, the ad is not.
        return unexpected(text, end, expected);
    }
    let expected = match expected {
        Expected::Operator | Expected::End => Expected::SemicolonOrCloseBracket,
        other => other,
    };
    SyntaxError { kind: SyntaxErrorKind::Unexpected { expected, found }, span }
}

/// Tests whether a text begins with `name =`, in exactly these bytes; the caller looks at the `=`.
#[inline]
fn assigned(text: &[u8], name: &[u8]) -> bool {
    text.get(name.len()..name.len() + 2).is_some_and(|next| next == b" =") && &text[..name.len()] == name
}

fn is_isnt(text: &[u8]) -> bool {
    text.starts_with(b"=!=")
}

fn word_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// Reads a value that is a single constant, with only spaces between it and the `;` or `]` behind it.
#[inline]
fn constant(text: &[u8], start: usize) -> Option<(Attribute, usize)> {
    let rest = &text[start..];
    let length = if rest.first() == Some(&b'"') {
        string_length(rest)?
    } else {
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'+' | b'-')).count()
    };
    let blank = rest[length..].iter().take_while(|byte| is_space(**byte)).count();
    matches!(rest.get(length + blank), Some(b';' | b']')).then_some(())?;
    Some((Attribute::Literal(new_literal(&rest[..length])?), start + length + blank))
}

/// The length of a string with its quotes; adjacent strings are not considered.
fn string_length(text: &[u8]) -> Option<usize> {
    new_string(&text[1..], b'"').map(|length| 1 + length)
}

/// An error: something else was expected at `at`.
pub(crate) fn unexpected(text: &[u8], at: usize, expected: Expected) -> SyntaxError {
    let rest = &text[at.min(text.len())..];
    let length = match rest.first() {
        None => 0,
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => word_length(rest).min(40),
        Some(b'"') => string_length(rest).filter(|length| *length <= 40).unwrap_or(1),
        Some(_) => crate::syntax::lexer::leading_character(rest),
    };
    let found = String::from_utf8_lossy(&rest[..length]).into_owned();
    SyntaxError::new(SyntaxErrorKind::Unexpected { expected, found }, Span::new(at, at + length))
}

/// Writes an ad of new syntax on one line, without a line end: its own attributes, in listing order
/// (`docs/reference/classad-language.md` 8.1–8.6).
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::format::new::write_ad;
/// let ad = ClassAd::parse(b"[ZZ=x is 1; b=2.5]")?;
/// let mut out = Vec::new();
/// write_ad(&mut out, &ad);
/// assert_eq!(out, b"[ b = 2.500000000000000E+00; ZZ = x is 1 ]");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn write_ad(out: &mut Vec<u8>, ad: &ClassAd) {
    out.extend_from_slice(b"[ ");
    for (at, (name, value)) in ad.listed().enumerate() {
        if at > 0 {
            out.extend_from_slice(b"; ");
        }
        write_attribute(out, name, value, Style::New, Indent::ALONE, &mut |_| {});
    }
    out.extend_from_slice(b" ]");
}

/// Writes an ad over several lines, the first of them empty, without a last line end
/// (`docs/reference/classad-language.md` 8.6).
pub fn write_pretty(out: &mut Vec<u8>, ad: &ClassAd) {
    write_pretty_in_pieces(out, ad, &mut |_| {});
}

/// As [`write_pretty`]; `hand_on` sees after every step what is written, and may take it away.
pub(super) fn write_pretty_in_pieces(out: &mut Vec<u8>, ad: &ClassAd, hand_on: &mut dyn FnMut(&mut Vec<u8>)) {
    write_line(out, 4);
    out.push(b'[');
    for (at, (name, value)) in ad.listed().enumerate() {
        if at > 0 {
            out.extend_from_slice(b"; ");
        }
        write_line(out, 8);
        write_attribute(out, name, value, Style::Pretty, Indent { around: 8, deepest: MAX_INDENT }, hand_on);
    }
    write_line(out, 4);
    out.push(b']');
}

fn write_attribute(
    out: &mut Vec<u8>,
    name: Name,
    value: &Attribute,
    style: Style,
    indent: Indent,
    hand_on: &mut dyn FnMut(&mut Vec<u8>),
) {
    write_name(out, name, style);
    out.extend_from_slice(b" = ");
    match value {
        Attribute::Literal(literal) => write_literal(out, literal, style),
        Attribute::Tree(tree) => {
            let goes_on = |out: &mut Vec<u8>| {
                hand_on(out);
                true
            };
            write_while(out, tree, tree.root(), style, indent, goes_on);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::report::Report;
    use crate::format::{Format, Reader};

    fn read(text: &[u8]) -> (Vec<String>, Report) {
        let mut reader = Reader::new(text, Format::New, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        (ads, reader.report().clone())
    }

    fn message(text: &str) -> String {
        let error = parse_ad(text.as_bytes(), &ParseOptions::default()).unwrap_err();
        format!("{}..{} {error}", error.span.start, error.span.end)
    }

    #[test]
    fn streams_and_lists_are_read() {
        for text in
            ["[a=1][b=2]", "[a=1]\n// c\n\n[b=2]", "{\n[a=1]\n,\n[b=2]\n}\n", "{[a=1][b=2]}", "{}{[a=1]}/* x */[b=2]"]
        {
            let (ads, report) = read(text.as_bytes());
            assert_eq!(ads, ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
            assert!(report.is_clean(), "{text}");
        }
    }

    #[test]
    fn reading_goes_on_behind_an_ad_that_cannot_be_read() {
        let (ads, report) = read(b"[a=1] junk, [b=(] [c=3] } [;] [d = \"x] [e=1]");
        assert_eq!(ads, ["[ a = 1 ]", "[ c = 3 ]"]);
        let faults: Vec<(u64, String)> =
            report.faults.iter().map(|fault| (fault.position.column, fault.to_string())).collect();
        assert_eq!(
            faults,
            [
                (7, "expected an ad, `[ … ]`, found `junk`".to_owned()),
                (17, "expected an expression, found `]`".to_owned()),
                (25, "expected an ad, `[ … ]`, found `}`".to_owned()),
                (29, "expected an attribute name, found `]`".to_owned()),
                (36, "the string is not closed: expected `\"` before the end".to_owned()),
            ]
        );
        assert_eq!((report.ads, report.skipped_ads, report.errors), (2, 3, 5));
    }

    #[test]
    fn ads_with_the_names_of_the_one_before_are_read_alike() {
        let (ads, report) =
            read(b"[a = 1; 'b c' = 2; dd = 3][ a = 1; 'b c' = 2; dd = 3][a = 1; 'b c' = 2; dd == 3][a=1;b=2;dd =?= 3]");
        assert_eq!(ads, ["[ a = 1; dd = 3; 'b c' = 2 ]", "[ a = 1; dd = 3; 'b c' = 2 ]"]);
        let messages: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["expected `=` after the attribute name, found `=`"; 2]);
    }

    #[test]
    fn errors_name_the_place_and_what_was_found() {
        assert_eq!(message("[a = 1 b = 2]"), "7..8 expected `;` or `]`, found `b`");
        assert_eq!(message("[a = 1, b = 2]"), "6..7 expected `;` or `]`, found `,`");
        assert_eq!(message("[a == 1]"), "3..4 expected `=` after the attribute name, found `=`");
        assert_eq!(message("[a]"), "2..3 expected `=` after the attribute name, found `]`");
        assert_eq!(message("[a = ]"), "5..6 expected an expression, found `]`");
        assert_eq!(message("[a = 1"), "6..6 expected `;` or `]`, found the end");
        assert_eq!(message("[a = 1)]"), "6..7 expected `;` or `]`, found `)`");
        assert_eq!(message("[true = 1]"), "1..5 expected an attribute name, found `true`");
    }

    #[test]
    fn nesting_is_counted_from_the_value_of_an_attribute() {
        let nested = |depth| format!("[a={}1{}]", "(".repeat(depth), ")".repeat(depth));
        assert!(ClassAd::parse(nested(165).as_bytes()).is_ok());
        assert_eq!(message(&nested(166)), "169..170 the expression is nested too deeply: more than 500 open levels");
    }

    #[test]
    fn places_count_in_the_whole_text() {
        let options = ParseOptions { places: true, ..ParseOptions::default() };
        let (ad, _) = parse_ad(b"[ a = 1; b = x + 1; c = x + 1 ]", &options).unwrap();
        let place = |name: &str| {
            let expr = ad.get(name).unwrap();
            expr.tree().span(expr.root()).unwrap().range()
        };
        assert_eq!((place("b"), place("c")), (13..18, 24..29));
    }

    #[test]
    fn an_ad_of_several_megabytes_is_read_through_a_small_window() {
        let mut text = b"[ s = \"".to_vec();
        text.extend(std::iter::repeat_n(b'x', 3_000_000));
        text.extend_from_slice(b"\"; t = 1 ] [ u = 2 ]");
        let ads: Vec<ClassAd> =
            Reader::new(text.as_slice(), Format::New, &ParseOptions::default()).collect::<Result<_, _>>().unwrap();
        assert_eq!(ads[0].constant("s").unwrap().as_bytes().map(<[u8]>::len), Some(3_000_000));
        assert_eq!(ads[1].to_string(), "[ u = 2 ]");
    }

    #[test]
    fn the_pretty_form_is_that_of_the_expression_printer() {
        let ad = ClassAd::parse(b"[a=1; b=[]; c={1,[x={}]}; d={f(1),x+1}; e=\"s\"]").unwrap();
        let mut out = Vec::new();
        write_pretty(&mut out, &ad);
        assert_eq!(out, ad.to_expr().to_text(Style::Pretty));
        out.clear();
        write_ad(&mut out, &ClassAd::new());
        assert_eq!(out, b"[  ]");
    }
}
