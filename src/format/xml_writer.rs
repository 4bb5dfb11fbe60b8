//! Ads as XML: the writer (`docs/reference/classad-language.md` 8.8).

use crate::format::notation::{Notation, NotationWriter};
use crate::format::xml_token::encode_entities;
use crate::name::Name;
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::number::write_real;
use crate::syntax::print::{Style, write_expr, write_integer};
use crate::syntax::quote::write_escaped;
use crate::syntax::time::{write_abs, write_rel};

/// Writes ads in the XML form, in listing order, their own attributes only (`docs/reference/classad-language.md` 8.8).
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::format::xml::XmlWriter;
/// let ad = ClassAd::parse(b"[b = true; c = {1, a < 2}]")?;
/// let mut out = Vec::new();
/// XmlWriter::default().write_line(&mut out, &ad);
/// assert_eq!(out, br#"<c><a n="b"><b v="t"/></a><a n="c"><l><i>1</i><e>a &lt; 2</e></l></a></c>"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub type XmlWriter = NotationWriter<Xml>;

/// XML of the reference.
#[derive(Clone, Debug, Default)]
pub struct Xml {
    /// True if a number lost its size suffix.
    pub(super) has_lost_suffix: bool,
}

/// The text that tools write before the first ad.
pub(super) const HEADER: &str = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";
/// The text that tools write after the last ad.
pub(super) const FOOTER: &str = "</classads>\n";

impl Notation for Xml {
    const INDENT: usize = 4;
    const LIST: [&'static str; 2] = ["<l>", "</l>"];
    const LIST_HAS_LINES: bool = false;
    const AD: [&'static str; 2] = ["<c>", "</c>"];
    const ATTRIBUTE_END: &'static str = "</a>";
    const SEPARATOR: &'static str = "";

    fn write_name(out: &mut Vec<u8>, name: Name) {
        out.extend_from_slice(b"<a n=\"");
        let start = out.len();
        write_escaped(out, name.as_bytes(), Some(b'"'));
        encode_entities(out, start);
        out.extend_from_slice(b"\">");
    }

    fn write_constant(&mut self, out: &mut Vec<u8>, literal: &Literal) {
        match literal {
            Literal::Undefined => out.extend_from_slice(b"<un/>"),
            Literal::Error => out.extend_from_slice(b"<er/>"),
            Literal::Bool(true) => out.extend_from_slice(b"<b v=\"t\"/>"),
            Literal::Bool(false) => out.extend_from_slice(b"<b v=\"f\"/>"),
            Literal::Int(value) => {
                out.extend_from_slice(b"<i>");
                write_integer(out, *value);
                out.extend_from_slice(b"</i>");
            }
            Literal::Real(value) | Literal::RelTime(value) => {
                out.extend_from_slice(b"<r>");
                match *value {
                    0.0 => out.extend_from_slice(b"0.0"), // -0.0 as well
                    value if value.is_nan() => out.extend_from_slice(b"NaN"),
                    f64::INFINITY => out.extend_from_slice(b"INF"),
                    f64::NEG_INFINITY => out.extend_from_slice(b"-INF"),
                    value => write_real(out, value),
                }
                out.extend_from_slice(b"</r>");
            }
            Literal::Suffixed(number, _) => {
                self.has_lost_suffix = true;
                self.write_constant(out, number);
            }
            Literal::OldRelTime(seconds) => {
                out.extend_from_slice(b"<rt>");
                write_rel(out, *seconds);
                out.extend_from_slice(b"</rt>");
            }
            Literal::Str(text) => {
                out.extend_from_slice(b"<s>");
                let start = out.len();
                write_escaped(out, text, None);
                encode_entities(out, start);
                out.extend_from_slice(b"</s>");
            }
            Literal::AbsTime(time) => {
                out.extend_from_slice(b"<at>");
                write_abs(out, *time);
                out.extend_from_slice(b"</at>");
            }
        }
    }

    fn write_expr(&mut self, out: &mut Vec<u8>, tree: &Tree, id: NodeId) {
        out.extend_from_slice(b"<e>");
        let start = out.len();
        write_expr(out, tree, id, Style::New);
        encode_entities(out, start);
        out.extend_from_slice(b"</e>");
    }
}
