//! Ads as JSON: the writer (`docs/reference/classad-language.md` 8.7).

use crate::ad::Attribute;
use crate::format::json_string::{write_escaped, write_string};
use crate::format::notation::{Notation, NotationWriter, write_value};
use crate::name::Name;
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::number::write_real_short;
use crate::syntax::print::{Style, write_expr, write_integer, write_literal};
use crate::value::Value;

/// Writes ads as JSON, in listing order, their own attributes only (`docs/reference/classad-language.md` 8.7).
///
/// Relative-time constants are written as numbers, as the reference does, and are reals when they are read back.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::format::json::JsonWriter;
/// let ad = ClassAd::parse(b"[ZZ=x is 1; b={2.5,undefined}]")?;
/// let mut out = Vec::new();
/// JsonWriter::default().write_line(&mut out, &ad);
/// assert_eq!(out, br#"{"b": [2.5,null],"ZZ": "\/Expr(x is 1)\/"}"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub type JsonWriter = NotationWriter<Json>;

/// JSON in the dialect of the reference.
#[derive(Clone, Debug, Default)]
pub struct Json {
    /// Room for the text of an expression.
    text: Vec<u8>,
    /// True if a number lost its size suffix.
    pub(super) has_lost_suffix: bool,
}

impl JsonWriter {
    /// Writes names and values as an object on one line, in the order given, without a line end.
    ///
    /// ```
    /// use classmate::internal::format::json::JsonWriter;
    /// use classmate::Value;
    /// let mut out = Vec::new();
    /// JsonWriter::default().write_values(&mut out, [("b".into(), Value::from(2)), ("A".into(), Value::Error)]);
    /// assert_eq!(out, br#"{"b": 2,"A": "\/Expr(error)\/"}"#);
    /// ```
    pub fn write_values(&mut self, out: &mut Vec<u8>, values: impl IntoIterator<Item = (Name, Value)>) {
        out.push(b'{');
        for (at, (name, value)) in values.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            Json::write_name(out, name);
            write_value(&mut self.notation, out, &Attribute::from(&value.to_expr()), false, &mut |_| {});
        }
        out.push(b'}');
    }
}

impl Notation for Json {
    const INDENT: usize = 2;
    const LIST: [&'static str; 2] = ["[", "]"];
    const LIST_HAS_LINES: bool = true;
    const AD: [&'static str; 2] = ["{", "}"];
    const ATTRIBUTE_END: &'static str = "";
    const SEPARATOR: &'static str = ",";

    fn write_name(out: &mut Vec<u8>, name: Name) {
        write_string(out, name.as_bytes());
        out.extend_from_slice(b": ");
    }

    fn write_constant(&mut self, out: &mut Vec<u8>, literal: &Literal) {
        match literal {
            Literal::Undefined => out.extend_from_slice(b"null"),
            Literal::Bool(true) => out.extend_from_slice(b"true"),
            Literal::Bool(false) => out.extend_from_slice(b"false"),
            Literal::Int(value) => write_integer(out, *value),
            Literal::Real(value) | Literal::RelTime(value) if value.is_finite() => write_real_short(out, *value),
            Literal::RelTime(value) => {
                self.write_quoted(out, |text| write_literal(text, &Literal::Real(*value), Style::New));
            }
            Literal::Str(string) => write_string(out, string),
            Literal::Suffixed(number, _) => {
                self.has_lost_suffix = true;
                self.write_constant(out, number);
            }
            Literal::Error | Literal::Real(_) | Literal::AbsTime(_) | Literal::OldRelTime(_) => {
                self.write_quoted(out, |text| write_literal(text, literal, Style::New));
            }
        }
    }

    fn write_expr(&mut self, out: &mut Vec<u8>, tree: &Tree, id: NodeId) {
        self.write_quoted(out, |text| write_expr(text, tree, id, Style::New));
    }
}

impl Json {
    /// Writes `"\/Expr(…)\/"`.
    fn write_quoted(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.clear();
        write(&mut self.text);
        out.extend_from_slice(br#""\/Expr("#);
        write_escaped(out, &self.text);
        out.extend_from_slice(br#")\/""#);
    }
}
