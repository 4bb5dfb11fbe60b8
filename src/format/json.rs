//! Ads as JSON, in the dialect of the reference (`docs/reference/classad-language.md` 8.7 and 9.3).
//!
//! It is laxer than RFC 8259 (comments, joined strings, extra commas in objects) and stricter (numbers are those of
//! the language), and strings `"\/Expr(…)\/"` hold expressions, so general JSON readers do not fit.

use crate::ad::{Attribute, ClassAd, Shapes};
use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::format::extent::{Brackets, skip_blank};
use crate::format::json_string::{Decoded, decode};
use crate::format::list::ParseAd;
use crate::format::literal::number;
use crate::format::nested::{self, Start, ValueSyntax};
use crate::format::new::unexpected;
use crate::format::vocabulary::{Expressions, Names, whole};
use crate::format::{MAX_ATTRIBUTES, TOO_MANY_ATTRIBUTES};
use crate::name::Name;
use crate::semantics::{Semantics, VersionRule};
use crate::span::Span;
use crate::syntax::literal::Literal;
use crate::syntax::parse::{ParseOptions, parse_expr, parse_full};
use crate::syntax::token::{Quoting, joined_strings};
use crate::text::Text;

pub use crate::format::json_writer::JsonWriter;

/// Reads the JSON object that a text begins with as an ad; what follows it is ignored. Also returns how many bytes it
/// takes, what precedes it included.
///
/// # Errors
/// The text does not begin with an object, or a value in it cannot be read.
///
/// ```
/// use classmate::internal::format::json::parse_json;
/// use classmate::ParseOptions;
/// let (ad, _) = parse_json(r#"{"a": 1, "b": "\/Expr(a + 1)\/", "c": ["é", null]}"#.as_bytes(), &ParseOptions::default())?;
/// assert_eq!(ad.to_string(), r#"[ a = 1; b = a + 1; c = { "\303\251",undefined } ]"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn parse_json(text: &[u8], options: &ParseOptions) -> Result<(ClassAd, usize), SyntaxError> {
    JsonParser::new(options).parse(text)
}

/// Parses JSON objects.
#[derive(Debug)]
pub(crate) struct JsonParser {
    names: Names,
    expressions: Expressions,
    shapes: Shapes,
    /// The attributes of this ad.
    entries: Vec<(Name, Attribute)>,
}

impl ParseAd for JsonParser {
    const BRACKETS: Brackets = Brackets::Curly;
    const EXPECTED: Expected = Expected::Object;
    const QUOTING: Option<Quoting> = None;

    fn new(options: &ParseOptions) -> Self {
        let options = ParseOptions { quoting: Quoting::New, places: false, ..options.clone() };
        JsonParser {
            names: Names::default(),
            expressions: Expressions::new(options, |text, options| whole(parse_full, text, options)),
            shapes: Shapes::default(),
            entries: Vec::new(),
        }
    }

    fn language(&mut self) -> &mut Expressions {
        &mut self.expressions
    }

    fn parse_without_nul(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        let start = skip_blank(text, 0)?;
        if text.get(start) != Some(&b'{') {
            return Err(unexpected(text, start, Expected::Object));
        }
        self.expressions.begin();
        self.names.again();
        self.entries.clear();
        let mut at = start + 1;
        while let Some((name, name_start, value)) = self.member(text, &mut at)? {
            let (value, end) = nested::value(self, text, value)?;
            at = skip_blank(text, end)?;
            if !matches!(text.get(at), Some(b',' | b'}')) {
                return Err(unexpected(text, at, Expected::CommaOrEndOfObject));
            }
            if name.as_bytes().is_empty() {
                // The reference notices only behind the value.
                return Err(SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(name_start, at + 1)));
            }
            self.entries.push((name, value));
            if self.entries.len() > MAX_ATTRIBUTES {
                return Err(SyntaxError::new(TOO_MANY_ATTRIBUTES, Span::new(name_start, at)));
            }
        }
        Ok((self.shapes.make(&mut self.entries, 0), at))
    }
}

impl JsonParser {
    /// Reads commas and `"name":`, or the `}`. Returns the name, its place, and the place of its value.
    fn member(&mut self, text: &[u8], at: &mut usize) -> Result<Option<(Name, usize, usize)>, SyntaxError> {
        let mut start = skip_blank(text, *at)?;
        while text.get(start) == Some(&b',') {
            start = skip_blank(text, start + 1)?;
        }
        let (name, end) = match text.get(start) {
            Some(b'}') => {
                *at = start + 1;
                return Ok(None);
            }
            Some(b'"') => match self.names.expected() {
                Some(name) if name.is_plain() && quoted(&text[start + 1..], name.as_bytes()) => {
                    self.names.confirm();
                    (name, start + name.as_bytes().len() + 2)
                }
                _ => {
                    let (token, end) = string(text, start)?;
                    (self.names.name(&decoded(token, start)?.bytes), end)
                }
            },
            _ => return Err(unexpected(text, start, Expected::JsonName)),
        };
        let colon = skip_blank(text, end)?;
        if text.get(colon) != Some(&b':') {
            return Err(unexpected(text, colon, Expected::JsonColon));
        }
        Ok(Some((name, start, skip_blank(text, colon + 1)?)))
    }

    /// Reads a word or a number.
    fn constant(&self, text: &[u8]) -> Result<Option<Literal>, SyntaxError> {
        let literal = match text.len() {
            4 if text.eq_ignore_ascii_case(b"true") => Some(Literal::Bool(true)),
            5 if text.eq_ignore_ascii_case(b"false") => Some(Literal::Bool(false)),
            4 if text.eq_ignore_ascii_case(b"null") => Some(Literal::Undefined),
            _ => number(text),
        };
        let numeric = text.first().is_some_and(|first| first.is_ascii_digit() || matches!(first, b'-' | b'.'));
        if literal.is_some() || !numeric {
            return Ok(literal);
        }
        // The lexer knows which other numbers there are, and what is wrong with the rest.
        let options = self.expressions.options();
        let semantics = options.semantics.with(VersionRule::SizeSuffix, Semantics::default());
        match parse_expr(text, &ParseOptions { semantics, ..options.clone() }) {
            Ok(expr) => Ok(expr.as_literal().cloned()),
            Err(error) if matches!(error.kind, SyntaxErrorKind::Unexpected { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl ValueSyntax for JsonParser {
    fn expressions(&mut self) -> &mut Expressions {
        &mut self.expressions
    }

    fn start(&mut self, text: &[u8], at: usize) -> Result<(Start, usize), SyntaxError> {
        let rest = &text[at.min(text.len())..];
        match rest.first() {
            Some(b'"') => {
                let (token, end) = string(text, at)?;
                let decoded = decoded(token, at)?;
                let value = match decoded.expression() {
                    Some(expression) => {
                        let parsed = self.expressions.parse(expression, 0);
                        // Where in the unescaped text it is means nothing here.
                        let (expr, _) = parsed.map_err(|error| SyntaxError { span: Span::new(at, end), ..error })?;
                        Start::Expression(expr)
                    }
                    None => Start::Constant(Literal::Str(Text::new(&decoded.bytes))),
                };
                Ok((value, end))
            }
            Some(b'[') => Ok((Start::List, at + 1)),
            Some(b'{') => Ok((Start::Ad, at + 1)),
            _ => {
                let length = constant_length(rest);
                match self.constant(&rest[..length]) {
                    Ok(Some(literal)) => Ok((Start::Constant(literal), at + length)),
                    Ok(None) => Err(unexpected(text, at, Expected::JsonValue)),
                    Err(error) => Err(SyntaxError { span: error.span.shifted(at), ..error }),
                }
            }
        }
    }

    fn following(&self, text: &[u8], at: usize) -> Result<usize, SyntaxError> {
        skip_blank(text, at)
    }

    fn next_element(&mut self, text: &[u8], at: &mut usize, is_first: bool) -> Result<bool, SyntaxError> {
        match text.get(*at) {
            Some(b']') => {
                *at += 1;
                return Ok(false);
            }
            _ if is_first => {}
            Some(b',') => *at = skip_blank(text, *at + 1)?,
            _ => return Err(unexpected(text, *at, Expected::CommaOrEndOfArray)),
        }
        Ok(true)
    }

    fn next_attribute(&mut self, text: &[u8], at: &mut usize, is_first: bool) -> Result<Option<Name>, SyntaxError> {
        if !is_first && !matches!(text.get(*at), Some(b',' | b'}')) {
            return Err(unexpected(text, *at, Expected::CommaOrEndOfObject));
        }
        let Some((name, _, value)) = self.member(text, at)? else { return Ok(None) };
        *at = value;
        Ok(Some(name))
    }
}

/// The length of a word or number; signs belong to it in front and in the exponent.
fn constant_length(text: &[u8]) -> usize {
    let mut before = b'e';
    let part = |byte: &&u8| {
        let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
        before = **byte;
        sign || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
    };
    text.iter().take_while(part).count()
}

#[inline]
fn quoted(text: &[u8], name: &[u8]) -> bool {
    text.get(name.len()) == Some(&b'"') && &text[..name.len()] == name && text.get(name.len() + 1) == Some(&b':')
}

/// The string token that begins at `start`, with its quotes and what joins it, and where it ends.
fn string(text: &[u8], start: usize) -> Result<(&[u8], usize), SyntaxError> {
    let Some(length) = joined_strings(&text[start + 1..], b'"') else {
        let kind = SyntaxErrorKind::UnterminatedString { quote: '"' };
        return Err(SyntaxError::new(kind, Span::new(start, start + 1)));
    };
    let end = start + 1 + length;
    Ok((&text[start..end], end))
}

fn decoded(token: &[u8], start: usize) -> Result<Decoded<'_>, SyntaxError> {
    decode(token).map_err(|kind| SyntaxError::new(kind, Span::new(start, start + token.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::report::Report;
    use crate::format::{Format, Reader};

    fn read(text: &str) -> (Vec<String>, Report) {
        let mut reader = Reader::new(text.as_bytes(), Format::Json, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        (ads, reader.report().clone())
    }

    fn message(text: &str) -> String {
        let error = parse_json(text.as_bytes(), &ParseOptions::default()).unwrap_err();
        format!("{}..{} {error}", error.span.start, error.span.end)
    }

    #[test]
    fn objects_are_read_one_after_another_or_from_a_list() {
        for text in [
            "{\"a\":1}{\"a\":2}",
            "{\"a\":1}\n{\"a\":2}\n",
            "[{\"a\":1},{\"a\":2}]",
            "[\n{\n\"a\": 1\n}\n,\n{\n\"a\": 2\n}\n]\n",
            "// c\n[]{\"a\" : 1}[{,\"a\":2,,}]/* end */",
        ] {
            let (ads, report) = read(text);
            assert_eq!(ads, ["[ a = 1 ]", "[ a = 2 ]"], "{text}");
            assert!(report.is_clean(), "{text}");
        }
    }

    #[test]
    fn nested_values_become_lists_and_ads() {
        let text = r#"{"a": [1, [], {}, {"b": "\/Expr(x + 1)\/", "B": [true]}], "c": {"d": {"zz": 1, "y": 2}}}"#;
        assert_eq!(read(text).0, ["[ a = { 1,{  },[  ],[ b = { true } ] }; c = [ d = [ y = 2; zz = 1 ] ] ]"]);
    }

    #[test]
    fn numbers_are_those_of_the_language() {
        assert_eq!(
            read(r#"{"a": .5, "b": -010, "c": 9223372036854775808, "d": 1E-7, "e": -0.0, "f": TRUE, "g": Null}"#).0,
            [
                "[ a = 5.000000000000000E-01; b = -10; c = 0; d = 1.000000000000000E-07; e = -0.0; f = true; g = undefined ]"
            ]
        );
        assert_eq!(message("{\"a\": 010}"), "6..9 the integer `010` starts with a zero");
        assert_eq!(message("{\"a\": 5.}"), "6..8 the number `5.` is not complete: expected a digit");
        assert_eq!(message("{\"a\": - 5}"), "6..7 expected a JSON value, found `-`");
        assert_eq!(message("{\"a\": +1}"), "6..7 expected a JSON value, found `+`");
        assert_eq!(message("{\"a\": 1+2}"), "7..8 expected `,` or `}`, found `+`");
    }

    #[test]
    fn errors_name_the_place_and_reading_goes_on() {
        let (ads, report) =
            read("{\"a\": 1}\n{\"a\": [1,]}\n{\"a\" 1}\nx\n{\"a\": \"\\/Expr(1 +)\\/\"}\n{\"a\": 2}\n{\"\": 1}{\"a");
        assert_eq!(ads, ["[ a = 1 ]", "[ a = 2 ]"]);
        let faults: Vec<String> = report
            .faults
            .iter()
            .map(|fault| format!("{}:{} {fault}", fault.position.line, fault.position.column))
            .collect();
        assert_eq!(
            faults,
            [
                "2:10 expected a JSON value, found `]`",
                "3:6 expected `:` after the attribute name, found `1`",
                "4:1 expected an ad, `{ … }`, found `x`",
                "5:7 expected an expression, found the end",
                "7:2 an attribute name cannot be empty",
                "7:9 the string is not closed: expected `\"` before the end",
            ]
        );
        assert_eq!((report.ads, report.skipped_ads), (2, 5));
    }

    #[test]
    fn what_json_cannot_say_is_an_expression() {
        let ad = ClassAd::parse(br#"[a=error; b=real("INF"); c=absTime("2020-01-01T00:00:00Z"); d=-x; e=({1}); f=1e400; g=relTime("1:30")]"#);
        let mut out = Vec::new();
        JsonWriter::default().write_line(&mut out, &ad.unwrap());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"a": "\/Expr(error)\/","b": "\/Expr(real(\"INF\"))\/","c": "\/Expr(absTime(\"2020-01-01T00:00:00-00:00\"))\/","d": "\/Expr( -x)\/","e": "\/Expr(({ 1 }))\/","f": "\/Expr(real(\"INF\"))\/","g": 90.0}"#
        );
    }
}
