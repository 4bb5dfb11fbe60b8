//! One record of the accountant's log: attribute names with literal values as text.
//!
//! In: names and values as the log writes them. Out: the values as numbers and strings.

use hashbrown::HashMap;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::number::real_to_integer;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// Up to this many attributes a record is searched from the front; more get an index.
const MAX_SCANNED: usize = 24;

/// A name and the text of its value.
type Attribute = (Box<[u8]>, Box<[u8]>);

/// A record: attributes in the order in which they were first set, names without regard to case.
#[derive(Debug, Clone, Default)]
pub struct Record {
    attributes: Vec<Option<Attribute>>,
    index: Option<HashMap<Box<[u8]>, usize>>,
}

impl Record {
    /// The text of an attribute's value, as the log writes it.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let at = self.position(name.as_bytes())?;
        self.attributes[at].as_ref().map(|(_, value)| &**value)
    }

    /// An integer attribute, as HTCondor looks it up: reals lose their fraction, booleans are 1 and 0.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match value(self.get(name)?)? {
            Value::Int(number) => Some(number),
            Value::Real(number) => Some(real_to_integer(number)),
            Value::Bool(truth) => Some(i64::from(truth)),
            _ => None,
        }
    }

    /// A numeric attribute, as HTCondor looks it up: booleans are 1 and 0.
    pub fn real(&self, name: &str) -> Option<f64> {
        value(self.get(name)?)?.as_number()
    }

    /// A string attribute, without its quotes and with its escapes resolved as in the language.
    pub fn string(&self, name: &str) -> Option<Vec<u8>> {
        match value(self.get(name)?)? {
            Value::Str(text) => Some(text.to_vec()),
            _ => None,
        }
    }

    /// Names and values, in the order in which the names were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.attributes.iter().flatten().map(|(name, value)| (&**name, &**value))
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        if let Some(at) = self.position(name) {
            self.attributes[at] = Some((name.into(), value.into()));
            return;
        }
        self.attributes.push(Some((name.into(), value.into())));
        if let Some(index) = &mut self.index {
            index.insert(folded(name), self.attributes.len() - 1);
        } else if self.attributes.len() > MAX_SCANNED {
            let set = self.attributes.iter().enumerate();
            let named = set.filter_map(|(at, set)| Some((folded(&set.as_ref()?.0), at)));
            self.index = Some(named.collect());
        }
    }

    /// Removes an attribute, if it is there.
    pub fn remove(&mut self, name: &[u8]) {
        if let Some(at) = self.position(name) {
            self.attributes[at] = None;
            if let Some(index) = &mut self.index {
                index.remove(&folded(name));
            }
        }
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        if let Some(index) = &self.index {
            return index.get(&folded(name)).copied();
        }
        let mut set = self.attributes.iter();
        set.position(|set| set.as_ref().is_some_and(|(known, _)| known.eq_ignore_ascii_case(name)))
    }
}

fn folded(name: &[u8]) -> Box<[u8]> {
    name.to_ascii_lowercase().into_boxed_slice()
}

/// Returns whether a string is an expression of the language.
pub(super) fn is_value(text: &[u8]) -> bool {
    plain_number(text).is_some() || is_plain_string(text) || expression(text).is_some()
}

/// The value of a string: nearly always a literal, but HTCondor evaluates any expression.
fn value(text: &[u8]) -> Option<Value> {
    if let Some(number) = plain_number(text) {
        return Some(number);
    }
    if is_plain_string(text) {
        return Some(Value::Str(Text::new(&text[1..text.len() - 1])));
    }
    let (empty, settings) = (ClassAd::new(), EvalOptions::default());
    Scope::new(&empty, &settings).eval(&expression(text)?).ok()
}

fn expression(text: &[u8]) -> Option<Expr> {
    parse_expr(text, &ParseOptions::default()).ok()
}

/// A decimal number as the accountant writes it, the quick way; all other forms are left to the language, also those
/// that only look decimal, such as the octal `017`.
fn plain_number(text: &[u8]) -> Option<Value> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    // Fifteen digits are exact in every reading.
    if whole == 0 || digits.len() > 15 || (whole > 1 && digits[0] == b'0') {
        return None;
    }
    let number = std::str::from_utf8(text).ok()?;
    if whole == digits.len() {
        return number.parse().ok().map(Value::Int);
    }
    let fraction = &digits[whole + 1..];
    let real = digits[whole] == b'.' && !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
    if real { number.parse().ok().map(Value::Real) } else { None }
}

/// A string without escapes.
fn is_plain_string(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    inner.is_some_and(|inner| memchr::memchr3(b'"', b'\\', 0, inner).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: &str) -> Record {
        let mut record = Record::default();
        record.set(b"A", value.as_bytes());
        record
    }

    #[test]
    fn numbers_are_read_in_every_form_the_log_has() {
        let cases = [
            ("1000.000000", 1000.0),
            ("-3", -3.0),
            ("1.000000000000000E+03", 1000.0),
            ("10000000000.000000", 1e10),
            ("5.0", 5.0),
            (".5", 0.5),
            ("true", 1.0),
            ("real(\"INF\")", f64::INFINITY),
        ];
        for (text, expected) in cases {
            assert_eq!(record(text).real("a"), Some(expected), "{text}");
        }
        for text in ["inf", "nan", "\"5\"", "x", "", "-"] {
            assert_eq!(record(text).real("A"), None, "{text}");
        }
        assert_eq!(record("7.9").integer("A"), Some(7));
        assert_eq!(record("9007199254740993").integer("A"), Some(9_007_199_254_740_993));
    }

    #[test]
    fn strings_lose_quotes_and_escapes() {
        assert_eq!(record(r#""alice@x""#).string("A").unwrap(), b"alice@x");
        assert_eq!(record(r#""a\"b\\c\101\n""#).string("A").unwrap(), b"a\"b\\cA\n");
        assert_eq!(record("5").string("A"), None);
        assert_eq!(record("\"").string("A"), None);
    }

    #[test]
    fn attributes_are_case_insensitive_and_ordered_also_when_there_are_many() {
        let mut record = Record::default();
        for i in 0..200 {
            record.set(format!("Attr{i}").as_bytes(), i.to_string().as_bytes());
        }
        record.set(b"ATTR7", b"x");
        record.remove(b"attr8");
        record.set(b"Attr8", b"again");
        assert_eq!(record.get("attr7"), Some(b"x".as_slice()));
        assert_eq!(record.get("attr150"), Some(b"150".as_slice()));
        let names: Vec<_> = record.iter().map(|(name, _)| name.to_vec()).collect();
        assert_eq!((names.len(), &names[7][..], &names[199][..]), (200, b"ATTR7".as_slice(), b"Attr8".as_slice()));
    }
}
