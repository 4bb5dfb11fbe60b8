//! One record of the accountant's log: attribute names with literal values as text.
//!
//! In: names and values as the log writes them. Out: the values as numbers and strings.

use hashbrown::HashMap;

use crate::syntax::quote::unescape;

/// Up to this many attributes a record is searched from the front; more get an index.
const SEARCHED: usize = 24;

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

    /// An integer attribute; reals lose their fraction, booleans are 1 and 0.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let text = std::str::from_utf8(self.get(name)?.trim_ascii()).ok()?;
        text.parse().ok().or_else(|| number(text).filter(|n| n.abs() < 9.2e18).map(|n| n as i64))
    }

    /// A numeric attribute.
    pub fn real(&self, name: &str) -> Option<f64> {
        number(std::str::from_utf8(self.get(name)?.trim_ascii()).ok()?)
    }

    /// A string attribute, without its quotes and with its escapes resolved as in the language.
    pub fn string(&self, name: &str) -> Option<Vec<u8>> {
        let text = self.get(name)?.trim_ascii();
        let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        unescape(inner).ok()
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
        } else if self.attributes.len() > SEARCHED {
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

/// The value of a numeric or boolean literal.
fn number(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        return Some(1.0);
    }
    if text.eq_ignore_ascii_case("false") {
        return Some(0.0);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if numeric {
        return text.parse().ok();
    }
    // What an ad writes for values that have no literal.
    let named = text.strip_prefix("real(\"")?.strip_suffix("\")")?;
    match named.to_ascii_lowercase().as_str() {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
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
