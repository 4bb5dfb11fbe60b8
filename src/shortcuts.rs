//! Short forms of common calls, with default options.

use std::fs::File;
use std::io;
use std::path::Path;
use std::str::FromStr;

use crate::ad::ClassAd;
use crate::error::SyntaxError;
use crate::eval::scope::{EvalOptions, Scope};
use crate::format::Reader;
use crate::name::Name;
use crate::syntax::expr::Expr;
use crate::syntax::parse::ParseOptions;
use crate::value::Value;

/// Parses a text that is one expression and nothing else. [`Expr::parse_with`] takes options.
///
/// # Errors
/// The first syntax error, with its place.
///
/// ```
/// let expr = classmate::parse_expr("Memory >= 2 * 1024")?;
/// assert_eq!(expr.to_string(), "Memory >= 2 * 1024");
/// let error = classmate::parse_expr("Memory + * 2").unwrap_err();
/// assert_eq!(error.to_string(), "expected an expression, found `*`");
/// # Ok::<(), classmate::SyntaxError>(())
/// ```
pub fn parse_expr(text: impl AsRef<[u8]>) -> Result<Expr, SyntaxError> {
    Expr::parse_with(text, &ParseOptions::default())
}

/// Parses one ad of new syntax, `[ a = 1; b = a + 1 ]`. [`ClassAd::parse_with`] takes options.
///
/// # Errors
/// The text is not one ad and nothing else.
pub fn parse_ad(text: impl AsRef<[u8]>) -> Result<ClassAd, SyntaxError> {
    ClassAd::parse(text)
}

/// Reads the ads of a file in the format that its first lines show.
///
/// An ad that cannot be read is skipped and noted in the report of the reader.
///
/// # Errors
/// The file cannot be read.
///
/// ```
/// let mut ads = classmate::read_ads("examples/pool/slots.ads")?;
/// let mut cpus = 0;
/// for ad in ads.by_ref() {
///     cpus += ad?.eval_int("Cpus").unwrap_or(0);
/// }
/// assert_eq!(cpus, 14);
/// assert!(ads.report().is_clean());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_ads(path: impl AsRef<Path>) -> io::Result<Reader<File>> {
    Reader::detect(File::open(path)?, &ParseOptions::default())
}

impl Expr {
    /// Parses a text that is one expression and nothing else.
    ///
    /// # Errors
    /// The first syntax error, with its place.
    pub fn parse_with(text: impl AsRef<[u8]>, options: &ParseOptions) -> Result<Self, SyntaxError> {
        crate::syntax::parse::parse_expr(text.as_ref(), options)
    }
}

impl FromStr for Expr {
    type Err = SyntaxError;

    /// As [`parse_expr`].
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        parse_expr(text)
    }
}

impl FromStr for ClassAd {
    type Err = SyntaxError;

    /// As [`parse_ad`].
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        parse_ad(text)
    }
}

/// Evaluation of single attributes, without a target and with default options. A [`Scope`] has all choices.
impl ClassAd {
    fn evaluated(&self, name: Name) -> Option<Value> {
        Scope::new(self, &EvalOptions::default()).eval_attr(name).ok()
    }

    /// The value of an attribute as a condition: numbers other than zero are true. `None` for other values and for an
    /// evaluation that fails.
    ///
    /// ```
    /// let ad: classmate::ClassAd = "[ Cpus = 4; Requirements = Cpus > 2; Name = \"slot1\" ]".parse()?;
    /// assert_eq!(ad.eval_bool("Requirements"), Some(true));
    /// assert_eq!(ad.eval_bool("Cpus"), Some(true));
    /// assert_eq!(ad.eval_bool("Name"), None);
    /// assert_eq!(ad.eval_bool("Missing"), None);
    /// # Ok::<(), classmate::SyntaxError>(())
    /// ```
    pub fn eval_bool(&self, name: impl Into<Name>) -> Option<bool> {
        self.evaluated(name.into())?.as_condition()
    }

    /// The value of an attribute if it is an integer.
    pub fn eval_int(&self, name: impl Into<Name>) -> Option<i64> {
        self.evaluated(name.into())?.as_int()
    }

    /// The value of an attribute as a real; integers and booleans are converted.
    pub fn eval_real(&self, name: impl Into<Name>) -> Option<f64> {
        self.evaluated(name.into())?.as_number()
    }

    /// The value of an attribute if it is a string; bytes that are not UTF-8 are replaced.
    pub fn eval_string(&self, name: impl Into<Name>) -> Option<String> {
        let value = self.evaluated(name.into())?;
        Some(String::from_utf8_lossy(value.as_bytes()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_evaluated_by_type() {
        let ad: ClassAd =
            "[ a = 1 + 2; b = a / 2.0; c = strcat(\"x\", a); d = a > 2; e = error; f = f ]".parse().unwrap();
        assert_eq!((ad.eval_int("A"), ad.eval_int("b"), ad.eval_int("c")), (Some(3), None, None));
        assert_eq!((ad.eval_real("a"), ad.eval_real("b"), ad.eval_real("d")), (Some(3.0), Some(1.5), Some(1.0)));
        assert_eq!((ad.eval_string("c"), ad.eval_string("a")), (Some("x3".to_owned()), None));
        assert_eq!((ad.eval_bool("d"), ad.eval_bool("e"), ad.eval_bool("f")), (Some(true), None, None));
    }

    #[test]
    fn expressions_are_parsed_from_strings_and_bytes() {
        assert_eq!("1 + 2".parse::<Expr>().unwrap().to_string(), "1 + 2");
        assert_eq!(parse_expr(b"a && b").unwrap().to_string(), "a && b");
        assert_eq!(parse_expr(Vec::from(b"x")).unwrap().to_string(), "x");
        assert!("1 +".parse::<Expr>().is_err() && "[ a = 1".parse::<ClassAd>().is_err());
    }
}
