//! Templates of text for the values of an ad: `'%-20s %6d\n'`, as C's printf and the tools of a pool have them.

use classmate::Value;
use classmate::internal::syntax::number::write_general;
use classmate::internal::syntax::print::{Style, write_integer};
use classmate::internal::value::text::{to_int, to_real};

/// A template, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(Vec<u8>),
    Value(Directive),
}

/// One `%` directive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Directive {
    left: bool,
    zeros: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
    kind: DirectiveKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DirectiveKind {
    /// `%s`, `%v`: strings as they are, other values in canonical text.
    Text,
    /// `%V`: canonical text, strings in quotes.
    Canonical,
    /// `%d`, `%i`
    Integer,
    /// `%f`
    Fixed,
    /// `%e`
    Exponent,
    /// `%g`
    General,
}

/// Widths beyond this are refused: they are mistakes.
const WIDEST: usize = 4096;

impl Template {
    /// Reads a template. `\n`, `\t`, `\r`, `\\` and `\"` are escapes.
    ///
    /// # Errors
    /// The mistake, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'\\' => {
                    let escape = rest.first().copied();
                    rest = rest.get(1..).unwrap_or_default();
                    plain.push(match escape {
                        Some(b'n') => b'\n',
                        Some(b't') => b'\t',
                        Some(b'r') => b'\r',
                        Some(other @ (b'\\' | b'"')) => other,
                        Some(other) => return Err(format!("unknown escape `\\{}`", char::from(other))),
                        None => return Err("the template ends with a lone `\\`".to_owned()),
                    });
                }
                b'%' if rest.first() == Some(&b'%') => {
                    rest = &rest[1..];
                    plain.push(b'%');
                }
                b'%' => {
                    let (directive, length) = directive(rest)?;
                    rest = &rest[length..];
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(Part::Value(directive));
                }
                other => plain.push(other),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Template { parts })
    }

    /// The number of values that the template takes.
    pub fn values(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, Part::Value(_))).count()
    }

    /// Writes the template with values in their order; missing values are undefined.
    pub fn write(&self, out: &mut Vec<u8>, values: &[Value]) {
        let mut values = values.iter();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Value(directive) => directive.write(out, values.next().unwrap_or(&Value::Undefined)),
            }
        }
    }
}

fn directive(text: &[u8]) -> Result<(Directive, usize), String> {
    let mut at = 0;
    let (mut left, mut zeros, mut plus) = (false, false, false);
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => left = true,
            b'0' => zeros = true,
            b'+' => plus = true,
            b' ' | b'#' => {}
            _ => break,
        }
        at += 1;
    }
    let mut number = || {
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = std::str::from_utf8(&text[at..at + digits]).unwrap_or_default().parse().unwrap_or(usize::MAX);
        at += digits;
        if digits == 0 {
            Ok(None)
        } else if value > WIDEST {
            Err(format!("a width must be at most {WIDEST}"))
        } else {
            Ok(Some(value))
        }
    };
    let width = number()?.unwrap_or(0);
    let mut precision = None;
    if text.get(at) == Some(&b'.') {
        at += 1;
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value: usize = std::str::from_utf8(&text[at..at + digits]).unwrap_or_default().parse().unwrap_or(0);
        if value > WIDEST {
            return Err(format!("a precision must be at most {WIDEST}"));
        }
        precision = Some(value);
        at += digits;
    }
    while matches!(text.get(at), Some(b'l' | b'h')) {
        at += 1;
    }
    let kind = match text.get(at) {
        Some(b's' | b'v') => DirectiveKind::Text,
        Some(b'V') => DirectiveKind::Canonical,
        Some(b'd' | b'i') => DirectiveKind::Integer,
        Some(b'f') => DirectiveKind::Fixed,
        Some(b'e') => DirectiveKind::Exponent,
        Some(b'g') => DirectiveKind::General,
        Some(other) => {
            return Err(format!("unknown directive `%{}`: expected one of s v V d i f e g", char::from(*other)));
        }
        None => return Err("the template ends inside a directive: expected one of s v V d i f e g, or `%%`".to_owned()),
    };
    Ok((Directive { left, zeros, plus, width, precision, kind }, at + 1))
}

impl Directive {
    fn write(&self, out: &mut Vec<u8>, value: &Value) {
        let mut text = Vec::new();
        let number = match self.kind {
            DirectiveKind::Text | DirectiveKind::Canonical => None,
            DirectiveKind::Integer => to_int(value).ok().map(|value| write_integer(&mut text, value)),
            kind => to_real(value).ok().map(|value| self.write_real(&mut text, value, kind)),
        };
        if number.is_none() {
            // What is no number is shown as it is, like `undefined`.
            text = if self.kind == DirectiveKind::Canonical { value.to_text(Style::New) } else { plain(value) };
            if let Some(precision) = self.precision.filter(|_| self.kind == DirectiveKind::Text) {
                text.truncate(precision);
            }
        } else if self.plus && text.first() != Some(&b'-') {
            text.insert(0, b'+');
        }
        let width = String::from_utf8_lossy(&text).chars().count();
        let missing = self.width.saturating_sub(width);
        if self.left {
            out.extend_from_slice(&text);
            out.resize(out.len() + missing, b' ');
        } else if self.zeros && number.is_some() {
            let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
            out.extend_from_slice(&text[..sign]);
            out.resize(out.len() + missing, b'0');
            out.extend_from_slice(&text[sign..]);
        } else {
            out.resize(out.len() + missing, b' ');
            out.extend_from_slice(&text);
        }
    }

    fn write_real(&self, text: &mut Vec<u8>, value: f64, kind: DirectiveKind) {
        let precision = self.precision.unwrap_or(6);
        match kind {
            DirectiveKind::General => write_general(text, value, precision.max(1), false),
            _ if !value.is_finite() => write_general(text, value, 6, false),
            DirectiveKind::Exponent => text.extend_from_slice(exponential(value, precision).as_bytes()),
            _ => text.extend_from_slice(format!("{value:.precision$}").as_bytes()),
        }
    }
}

/// A finite number as `%.*e` of C prints it: at least two digits of exponent, with a sign.
pub(super) fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// A value for people: strings without quotes, everything else in canonical text, reals in short.
pub fn plain(value: &Value) -> Vec<u8> {
    match value {
        Value::Str(text) => text.to_vec(),
        Value::Real(_) => value.to_text(Style::Old),
        other => other.to_text(Style::New),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(template: &str, values: &[Value]) -> String {
        let mut out = Vec::new();
        Template::parse(template).unwrap().write(&mut out, values);
        String::from_utf8(out).unwrap()
    }

    /// The expected texts are what C's printf writes.
    #[test]
    fn directives_write_what_printf_writes() {
        assert_eq!(written("%s|%5s|%-5s|", &["ab".into(), "ab".into(), "ab".into()]), "ab|   ab|ab   |");
        assert_eq!(written("%d %5d %05d %-5d|", &[7.into(), 7.into(), (-7).into(), 7.into()]), "7     7 -0007 7    |");
        assert_eq!(
            written("%f %.2f %8.3f %e %g", &[1.5.into(), 2.345.into(), 3.0.into(), 1500.0.into(), 0.0001.into()]),
            "1.500000 2.35 3.000 1.500000e+03 0.0001".replace("2.35 3.000", "2.35    3.000")
        );
        assert_eq!(written("%+d%%\\t%.1s\\n", &[7.into(), "abc".into()]), "+7%\ta\n");
    }

    #[test]
    fn what_is_no_number_is_shown_as_it_is() {
        assert_eq!(
            written("%d %f %s", &[Value::Undefined, Value::Error, Value::Undefined]),
            "undefined error undefined"
        );
        assert_eq!(written("%V %v", &["a b".into(), "a b".into()]), "\"a b\" a b");
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(Template::parse("%q").unwrap_err(), "unknown directive `%q`: expected one of s v V d i f e g");
        assert!(Template::parse("100%").unwrap_err().contains("ends inside a directive"));
        assert!(Template::parse("%99999d").unwrap_err().contains("at most"));
        assert!(Template::parse("\\q").unwrap_err().contains("unknown escape"));
    }
}
