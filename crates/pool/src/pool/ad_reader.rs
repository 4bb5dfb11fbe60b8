//! Typed values of an ad: an attribute as a string, a number or a truth value.
//!
//! In: an ad and an attribute. Out: the value if it has the requested type. Attributes may be expressions; they are
//! evaluated in the ad alone.

use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// Reads typed values from an ad.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::ad_reader::AdReader;
/// let ad = ClassAd::parse(b"[Cpus = 2; Weight = Cpus * 1.5]")?;
/// let settings = EvalOptions::default();
/// assert_eq!(AdReader::of(&ad, &settings).number("Weight"), Some(3.0));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Copy)]
pub struct AdReader<'a> {
    ad: &'a ClassAd,
    settings: &'a EvalOptions,
}

impl<'a> AdReader<'a> {
    /// A reader of an ad.
    pub fn of(ad: &'a ClassAd, settings: &'a EvalOptions) -> Self {
        Self { ad, settings }
    }

    /// The value of an attribute; UNDEFINED if it is missing or cannot be evaluated.
    pub fn value(self, name: impl Into<Name>) -> Value {
        let name = name.into();
        match self.ad.lookup(name) {
            None => Value::Undefined,
            Some(Attribute::Literal(literal)) => Value::from(literal),
            Some(Attribute::Tree(_)) => Scope::new(self.ad, self.settings).eval_attr(name).unwrap_or_default(),
        }
    }

    /// A string; `None` if the value is not one.
    pub fn string(self, name: impl Into<Name>) -> Option<Text> {
        match self.value(name) {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// An integer; reals lose their fraction, booleans are 1 and 0. `None` for other values and reals out of range.
    pub fn integer(self, name: impl Into<Name>) -> Option<i64> {
        match self.value(name) {
            Value::Int(number) => Some(number),
            Value::Bool(truth) => Some(i64::from(truth)),
            Value::Real(number) if number.abs() < 9.2e18 => Some(number as i64),
            _ => None,
        }
    }

    /// A number; booleans are 1 and 0. `None` for other values.
    pub fn number(self, name: impl Into<Name>) -> Option<f64> {
        self.value(name).as_number()
    }

    /// A truth value: a boolean, or a number, which is true unless it is 0. `None` for other values.
    pub fn truth(self, name: impl Into<Name>) -> Option<bool> {
        self.value(name).as_condition()
    }
}
