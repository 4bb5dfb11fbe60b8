//! Chosen attributes of ads, one ad a line: `-af`, as the tools of a pool print them.
//!
//! In: ads and names of attributes. Out: lines.

use std::io::{self, Write};

use crate::cli::language;
use crate::report::template::plain;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, EvalOptions, Name, Scope};

/// Format of values: the letters after `-af:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Separator of values.
    between: &'static str,
    /// `l`: each value has its name before it.
    labels: bool,
    /// `V`: strings keep their quotes.
    quoted: bool,
    /// `r`: what is written, not what it evaluates to.
    raw: bool,
}

impl Setting {
    /// The setting of some letters.
    ///
    /// # Errors
    /// The letter that means nothing.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate_cli::report::userprio::Setting;
    /// let ad = ClassAd::parse(b"[Name = \"a@x\"; Priority = 500.0]")?;
    /// let mut out = Vec::new();
    /// Setting::parse(",V")?.write(&mut out, &[ad], &["Name".to_owned(), "Ceiling".to_owned()])?;
    /// assert_eq!(out, b"\"a@x\", undefined\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(letters: &str) -> Result<Self, String> {
        let mut setting = Self { between: " ", labels: false, quoted: false, raw: false };
        for letter in letters.chars() {
            match letter {
                ',' => setting.between = ", ",
                't' => setting.between = "\t",
                'n' => setting.between = "\n",
                'l' => setting.labels = true,
                'V' => setting.quoted = true,
                'r' => setting.raw = true,
                other => return Err(format!("unknown letter `{other}`: expected some of , t n l V r")),
            }
        }
        Ok(setting)
    }

    /// Writes the values of some attributes, a line an ad.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&self, out: &mut impl Write, ads: &[ClassAd], names: &[String]) -> io::Result<()> {
        let settings = language::settings();
        for ad in ads {
            for (at, name) in names.iter().enumerate() {
                if at > 0 {
                    out.write_all(self.between.as_bytes())?;
                }
                if self.labels {
                    write!(out, "{name} = ")?;
                }
                out.write_all(&self.value(ad, Name::new(name), &settings))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn value(&self, ad: &ClassAd, name: Name, settings: &EvalOptions) -> Vec<u8> {
        if self.raw {
            return ad.get(name).map_or_else(|| b"undefined".to_vec(), |expr| expr.to_text(Style::Old));
        }
        let value = Scope::new(ad, settings).eval_attr(name).unwrap_or_default();
        if self.quoted { value.to_text(Style::Old) } else { plain(&value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(letters: &str) -> String {
        let ads = [&b"[Name = \"a@x\"; N = 1 + 1]"[..], b"[Name = \"b@x\"]"].map(|text| ClassAd::parse(text).unwrap());
        let mut out = Vec::new();
        let names = ["Name", "N"].map(str::to_owned);
        Setting::parse(letters).unwrap().write(&mut out, &ads, &names).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn letters_say_what_stands_between_and_around_values() {
        assert_eq!(printed(""), "a@x 2\nb@x undefined\n");
        assert_eq!(printed("t"), "a@x\t2\nb@x\tundefined\n");
        assert_eq!(printed(",l"), "Name = a@x, N = 2\nName = b@x, N = undefined\n");
        assert_eq!(printed("nV"), "\"a@x\"\n2\n\"b@x\"\nundefined\n");
        assert_eq!(printed("r"), "\"a@x\" 1 + 1\n\"b@x\" undefined\n");
        assert!(Setting::parse("q").unwrap_err().contains("`q`"));
    }
}
