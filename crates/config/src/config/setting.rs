//! Reading a value as a boolean, a number, a list or an expression (`docs/reference/config-language.md` 10).
//!
//! In: a [`Config`] and a name. Out: a typed value, or what was expected there.

use super::condor::FoundValue;
use super::knob::KnobKind;
use super::{Config, ConfigError, Diagnostic, shown, table};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::value::Value;

/// Typed values; every error names the knob, its place, the value and what was expected.
impl Config {
    /// The expanded text of a knob that is set and not blank.
    pub fn text(&self, name: &str) -> Result<Option<FoundValue>, ConfigError> {
        let found = self.get(name)?;
        Ok(found.filter(|found| !found.text.trim_ascii().is_empty()))
    }

    /// A text as it is; blank counts as unset.
    pub fn string(&self, name: &str) -> Result<Option<Vec<u8>>, ConfigError> {
        Ok(self.text(name)?.map(|found| found.text.trim_ascii().to_vec()))
    }

    /// An expression knob, which the consumer parses; explicitly empty means no expression, not the default.
    pub fn expression(&self, name: &str) -> Result<Option<FoundValue>, ConfigError> {
        Ok(self.text(name)?.map(|found| FoundValue { text: found.text.trim_ascii().to_vec(), ..found }))
    }

    /// A list separated by commas and white space; blank items vanish.
    pub fn list(&self, name: &str) -> Result<Vec<Vec<u8>>, ConfigError> {
        Ok(self.text(name)?.map_or_else(Vec::new, |found| list_items(&found.text)))
    }

    /// A boolean; `default` is the one in code, used when neither a file nor the table has a value.
    pub fn boolean(&self, name: &str, default: bool) -> Result<bool, ConfigError> {
        self.valued(name)?.map_or(Ok(default), |found| boolean(name, &found))
    }

    /// A boolean that may also be one of the letters `T` and `F`.
    pub fn letter(&self, name: &str, default: bool) -> Result<bool, ConfigError> {
        self.valued(name)?.map_or(Ok(default), |found| letter(name, &found))
    }

    /// An integer within a range; reals lose their fraction.
    pub fn integer(&self, name: &str, default: i64, min: i64, max: i64) -> Result<i64, ConfigError> {
        self.valued(name)?.map_or(Ok(default), |found| whole(name, &found, min, max))
    }

    /// A real within a range.
    pub fn real(&self, name: &str, default: f64, min: f64, max: f64) -> Result<f64, ConfigError> {
        self.valued(name)?.map_or(Ok(default), |found| real(name, &found, min, max))
    }

    /// A knob the reference reads as a plain number: the leading number of the text, 0 if there is none.
    pub fn leading_number(&self, name: &str) -> Result<Option<f64>, ConfigError> {
        Ok(self.text(name)?.map(|found| leading_number(&found.text)))
    }

    /// The text of a knob whose explicitly empty value falls back to the table's default.
    fn valued(&self, name: &str) -> Result<Option<FoundValue>, ConfigError> {
        if let Some(found) = self.text(name)? {
            return Ok(Some(found));
        }
        let Some(text) = table::default_text(name.as_bytes()).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let expanded = self.expanded(name.as_bytes(), text.as_bytes());
        let text =
            expanded.map_err(|error| Diagnostic::without_place(format!("`{name}` cannot be expanded: {error}")))?.text;
        let found = FoundValue { text, place: None, semantics: self.semantics() };
        Ok(Some(found).filter(|found| !found.text.trim_ascii().is_empty()))
    }
}

/// Returns true if a text is a value of a kind, as the reading of a knob would say.
pub(crate) fn typed(kind: KnobKind, name: &str, found: &FoundValue) -> Result<(), ConfigError> {
    match kind {
        KnobKind::Boolean => boolean(name, found).map(drop),
        KnobKind::Letter => letter(name, found).map(drop),
        KnobKind::Integer(min, max) => whole(name, found, min, max).map(drop),
        KnobKind::Real(min, max) => real(name, found, min, max).map(drop),
        KnobKind::Number
        | KnobKind::Expression
        | KnobKind::Pattern
        | KnobKind::List
        | KnobKind::Text
        | KnobKind::Path => Ok(()),
    }
}

fn boolean(name: &str, found: &FoundValue) -> Result<bool, ConfigError> {
    let truth = match found.text.trim_ascii() {
        text if text.eq_ignore_ascii_case(b"true") => Some(true),
        text if text.eq_ignore_ascii_case(b"false") => Some(false),
        _ => constant(found).and_then(|value| value.as_condition()),
    };
    truth.ok_or_else(|| invalid(name, found, "a boolean"))
}

fn letter(name: &str, found: &FoundValue) -> Result<bool, ConfigError> {
    match found.text.trim_ascii() {
        b"T" | b"t" => Ok(true),
        b"F" | b"f" => Ok(false),
        _ => boolean(name, found),
    }
}

fn whole(name: &str, found: &FoundValue, min: i64, max: i64) -> Result<i64, ConfigError> {
    let text = found.text.trim_ascii();
    let exact = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    let number = match exact {
        Some(number) => Some(number),
        None => number(found).filter(|n| n.abs() < 9.2e18).map(|n| n as i64),
    };
    let Some(number) = number else {
        return Err(invalid(name, found, "an integer"));
    };
    if number < min || number > max {
        return Err(invalid(name, found, &range(&min, &max, min == i64::MIN, max == i64::MAX)));
    }
    Ok(number)
}

fn real(name: &str, found: &FoundValue, min: f64, max: f64) -> Result<f64, ConfigError> {
    let Some(number) = number(found) else {
        return Err(invalid(name, found, "a number"));
    };
    if !(min..=max).contains(&number) {
        let expected = range(&min, &max, min == f64::MIN, max == f64::MAX);
        return Err(invalid(name, found, &expected));
    }
    Ok(number)
}

/// The items of a list value.
pub fn list_items(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|b| *b == b',' || b.is_ascii_whitespace()).filter(|item| !item.is_empty()).map(<[u8]>::to_vec).collect()
}

fn range<T: std::fmt::Display>(min: &T, max: &T, no_min: bool, no_max: bool) -> String {
    match (no_min, no_max) {
        (true, true) => "a number".to_owned(),
        (true, false) => format!("a number of at most {max}"),
        (false, true) => format!("a number of at least {min}"),
        (false, false) => format!("a number from {min} to {max}"),
    }
}

fn invalid(name: &str, found: &FoundValue, expected: &str) -> ConfigError {
    let message = format!("`{name}` is `{}`: expected {expected}", shown(found.text.trim_ascii()));
    Diagnostic::error_at(message, found.place.clone())
}

/// Returns true if a text is a number and nothing else.
pub(crate) fn is_number(text: &[u8]) -> bool {
    literal(text.trim_ascii()).is_some()
}

/// The value of a number literal.
pub(crate) fn literal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let looks_numeric = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    looks_numeric.then(|| text.parse().ok()).flatten()
}

/// The value of a constant expression, literals included.
fn constant(found: &FoundValue) -> Option<Value> {
    if let Some(number) = literal(found.text.trim_ascii()) {
        return Some(Value::Real(number));
    }
    let settings = EvalOptions { semantics: found.semantics, ..EvalOptions::default() };
    let expr = found.expression().ok()?;
    Scope::new(&ClassAd::new(), &settings).eval(&expr).ok()
}

/// The value of a constant numeric expression.
fn number(found: &FoundValue) -> Option<f64> {
    constant(found)?.as_number().filter(|number| !number.is_nan())
}

/// The number at the beginning of a text, as C's `atof` reads it.
pub fn leading_number(text: &[u8]) -> f64 {
    let text = text.trim_ascii();
    let numeric = text.iter().take_while(|b| b.is_ascii_digit() || b"+-.eE".contains(b)).count();
    (0..=numeric).rev().find_map(|end| literal(&text[..end])).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse("c", text.as_bytes()).unwrap()
    }

    #[test]
    fn booleans_are_words_or_numbers() {
        for (text, expected) in [
            ("TRUE", true),
            ("False", false),
            ("1", true),
            ("0", false),
            ("0.5", true),
            ("1 > 2", false),
            ("3 - 2", true),
        ] {
            let config = config(&format!("A = {text}"));
            assert_eq!(config.boolean("A", !expected), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_empty_value_is_the_tables_default_for_numbers_and_nothing_for_expressions() {
        let config = config("NEGOTIATOR_INTERVAL =\nPREEMPTION_REQUIREMENTS =\nNEGOTIATOR_CONSIDER_PREEMPTION =");
        let settings = config;
        assert_eq!(settings.integer("NEGOTIATOR_INTERVAL", 1, 0, i64::MAX), Ok(60));
        assert_eq!(settings.boolean("NEGOTIATOR_CONSIDER_PREEMPTION", false), Ok(true));
        assert_eq!(settings.expression("PREEMPTION_REQUIREMENTS"), Ok(None));
    }

    #[test]
    fn an_invalid_value_names_knob_place_value_and_expectation() {
        let config = config("\n  A = maybe\nB = -1");
        let error = config.boolean("A", true).unwrap_err();
        assert_eq!(error.message, "`A` is `maybe`: expected a boolean");
        assert_eq!(error.place.unwrap().to_string(), "c:2:3");
        let error = config.integer("B", 0, 0, i64::MAX).unwrap_err();
        assert_eq!(error.message, "`B` is `-1`: expected a number of at least 0");
    }

    #[test]
    fn integers_truncate_reals() {
        let hours = config("HOUR = 3600\nA = 2 * $(HOUR)\nB = 10 / 4.0");
        assert_eq!(hours.integer("A", 0, 0, i64::MAX), Ok(7200));
        assert_eq!(hours.real("B", 0.0, 0.0, 9.0), Ok(2.5));
        let config = config("A = 7.9\nB = -7.9\nC = 9223372036854775807\nD = 1e30");
        let read = |name| config.integer(name, 0, i64::MIN, i64::MAX);
        assert_eq!(read("A"), Ok(7));
        assert_eq!(read("B"), Ok(-7));
        assert_eq!(read("C"), Ok(i64::MAX));
        assert!(read("D").is_err());
    }

    #[test]
    fn lists_split_at_commas_and_blanks() {
        let config = config("GROUP_NAMES = a, b  c,,");
        let names = config.list("GROUP_NAMES").unwrap();
        assert_eq!(names, [b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
    }

    #[test]
    fn plain_numbers_are_read_from_the_beginning_of_the_text() {
        for (text, expected) in [("1e10", 1e10), ("10 * 2", 10.0), ("5x", 5.0), ("2e", 2.0), ("x", 0.0)] {
            assert_eq!(leading_number(text.as_bytes()), expected, "{text}");
        }
    }
}
