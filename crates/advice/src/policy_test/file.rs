//! The file of a policy test.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;

use classmate::{ClassAd, Diagnostic, ParseOptions, Reader, Semantics, Span};

/// A test file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyFile {
    /// The clock: seconds since 1970, or a date.
    pub now: Option<Spanned<Clock>>,
    /// The seed of `random()`.
    #[serde(default)]
    pub seed: u64,
    /// The version of the language.
    #[serde(skip)]
    pub semantics: Semantics,
    /// The configuration, as text.
    pub config: Option<Spanned<String>>,
    /// The configuration, as a file beside this one.
    pub config_file: Option<String>,
    /// Ads by name.
    #[serde(default)]
    pub ads: BTreeMap<String, Spanned<AdSource>>,
    /// The slots and jobs of a cycle.
    #[serde(default)]
    pub pool: PoolSource,
    /// The tests.
    #[serde(default, rename = "test")]
    pub tests: Vec<PolicyTest>,
}

/// A moment.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a date such as `2026-01-31T12:00:00Z`, or seconds since 1970")]
pub enum Clock {
    /// Seconds since 1970.
    Seconds(i64),
    /// A date of TOML.
    Date(Datetime),
}

/// The source of an ad: its text, or a file.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    rename_all = "kebab-case",
    expecting = "expected an ad as a string, or `{ file = \"slots.ads\", at = 1 }`"
)]
pub enum AdSource {
    /// The ad, in new syntax or one attribute a line.
    Text(String),
    /// An ad of a file beside this one.
    File {
        /// The file.
        file: String,
        /// The number of the ad in it, from 1.
        #[serde(default = "one")]
        at: u64,
    },
}

/// The slots and jobs of a cycle.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PoolSource {
    /// A file of slot ads beside this one.
    pub slots_file: Option<String>,
    /// A file of job ads beside this one.
    pub jobs_file: Option<String>,
    /// The accountant's log beside this one; without one, all users start at the minimum priority.
    pub log_file: Option<String>,
    /// Slots made from ads.
    #[serde(default)]
    pub slots: Vec<Copies>,
    /// Jobs made from ads.
    #[serde(default)]
    pub jobs: Vec<Copies>,
}

/// Copies of an ad, each with a name or a number of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// The name of the ad.
    pub ad: Spanned<String>,
    /// The number of copies.
    #[serde(default = "one")]
    pub count: usize,
    /// Attributes that are set in them, as expressions.
    #[serde(default)]
    pub set: BTreeMap<String, Spanned<String>>,
}

fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// A test: what it looks at, and what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyTest {
    /// The name.
    pub name: Spanned<String>,
    /// The ad in which an expression is evaluated.
    pub my: Option<Spanned<String>>,
    /// The ad on the other side.
    pub target: Option<Spanned<String>>,
    /// An expression, or the name of an attribute.
    pub expression: Option<Spanned<String>>,
    /// The value it must have, as an expression of its own.
    pub value: Option<Spanned<String>>,
    /// The job of a match.
    pub job: Option<Spanned<String>>,
    /// The slot of a match.
    pub slot: Option<Spanned<String>>,
    /// True if they must match.
    #[serde(rename = "match")]
    pub matches: Option<bool>,
    /// The clause that must decide against a match.
    pub clause: Option<Spanned<String>>,
    /// Slots in the order in which the job must prefer them.
    pub rank: Option<Spanned<Vec<String>>>,
    /// The number of slots that submitters must get in the cycle.
    #[serde(default)]
    pub gets: BTreeMap<String, usize>,
    /// The quota that groups must have, in weighted slots.
    #[serde(default)]
    pub quota: BTreeMap<String, f64>,
    /// The slot weight that groups must be allocated.
    #[serde(default)]
    pub granted: BTreeMap<String, f64>,
    /// True if a job must be preempted in the cycle.
    pub preempts: Option<bool>,
}

/// An error that prevents a test file from running.
#[derive(Debug)]
pub enum TestFileError {
    /// Something in the file itself, with its place.
    Text(Diagnostic),
    /// Something else, such as a file that is missing.
    Other(String),
}

impl TestFileError {
    /// Something wrong at a place of the file.
    pub fn at(message: impl Into<String>, place: std::ops::Range<usize>) -> Self {
        TestFileError::Text(Diagnostic::error(message, Span::new(place.start, place.end)))
    }
}

impl PolicyFile {
    /// Reads the text of a test file.
    ///
    /// # Errors
    /// It is not TOML, or contains something that a test file does not have.
    pub fn parse(text: &str) -> Result<Self, TestFileError> {
        let file: PolicyFile = toml::from_str(text).map_err(|error| {
            let place = error.span().unwrap_or(0..0);
            let message = plain(error.message().trim());
            let found = text.get(place.clone()).unwrap_or_default();
            if message.starts_with("expected ") && !message.contains("found") && !found.is_empty() {
                return TestFileError::at(format!("{message}, found `{}`", shortened(found)), place);
            }
            TestFileError::at(message, place)
        })?;
        match &file.now {
            Some(now) if now.get_ref().seconds().is_none() => {
                let message = "a time of day without a date: expected a date, or seconds since 1970";
                Err(TestFileError::at(message, now.span()))
            }
            _ => Ok(file),
        }
    }

    /// Looks for ads, one attribute a line, of which a line is lost, in the text that was parsed.
    ///
    /// # Errors
    /// The first line that is not an attribute: the rest of its ad is not read.
    pub fn check_ads(&self, text: &str) -> Result<(), TestFileError> {
        for (name, source) in &self.ads {
            let AdSource::Text(ad) = source.get_ref() else { continue };
            let options = ParseOptions { semantics: self.semantics, ..ParseOptions::default() };
            if ClassAd::parse_with(ad.trim().as_bytes(), &options).is_ok() {
                continue;
            }
            let Ok(mut reader) = Reader::detect(ad.as_bytes(), &options) else { continue };
            if reader.by_ref().flatten().next().is_none() {
                continue;
            }
            reader.by_ref().for_each(drop);
            let Some(fault) = reader.report().faults.first() else { continue };
            let line = String::from_utf8_lossy(&fault.excerpt);
            let message = format!("invalid line in `{name}`, so the rest of the ad is ignored: {}", fault.error);
            // Text with escapes is underlined as a whole.
            let span = source.span();
            let written = text.get(span.clone()).unwrap_or_default();
            let place = written.find(line.trim()).map_or(span.clone(), |at| {
                let start = span.start + at;
                start..start + line.trim().len()
            });
            return Err(TestFileError::at(message, place));
        }
        Ok(())
    }
}

/// A message of the reader of TOML in words of people who write TOML.
fn plain(message: &str) -> String {
    const NUMBERS: [(&str, &str); 7] = [
        ("u64", "a number of at least 0"),
        ("usize", "a number of at least 0"),
        ("i64", "a whole number"),
        ("f64", "a number"),
        ("a sequence", "a list"),
        ("a map", "a table"),
        ("struct ", "a table"),
    ];
    let message = message.replace('\n', ", ");
    let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return message;
    };
    let known = NUMBERS.iter().find(|(word, _)| expected.starts_with(word)).map(|(_, words)| *words);
    format!("expected {}, found {found}", known.unwrap_or(expected))
}

/// The first line of a text, cut if it is long.
fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(MAX_CHARACTERS).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

impl Clock {
    /// The moment in seconds since 1970; `None` for a time of day alone.
    pub fn seconds(&self) -> Option<i64> {
        match self {
            Clock::Seconds(seconds) => Some(*seconds),
            Clock::Date(date) => {
                let text = date.to_string().replacen(' ', "T", 1);
                let zoned = date.offset.is_some();
                let text = if zoned { text } else { format!("{text}Z") };
                let text = if date.time.is_none() { text.replace('Z', "T00:00:00Z") } else { text };
                text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_a_number_or_a_date() {
        let now = |text: &str| PolicyFile::parse(text).unwrap().now.unwrap().get_ref().seconds();
        assert_eq!(now("now = 5"), Some(5));
        assert_eq!(now("now = 1970-01-02T00:00:00Z"), Some(86400));
        assert_eq!(now("now = 1970-01-02"), Some(86400));
        assert_eq!(now("now = 1970-01-01T01:00:00+01:00"), Some(0));
    }

    #[test]
    fn what_a_file_does_not_have_is_told_with_its_place() {
        let Err(TestFileError::Text(finding)) = PolicyFile::parse("seed = 1\nnope = 2") else {
            panic!("expected an error")
        };
        assert!(finding.message.contains("unknown field `nope`"), "{}", finding.message);
        assert_eq!(finding.span.range().start, 9);
    }

    #[test]
    fn an_ad_that_is_cut_short_by_a_line_is_told() {
        let checked = |text: &str| match PolicyFile::parse(text).unwrap().check_ads(text) {
            Err(TestFileError::Text(finding)) => Some(text[finding.span.range()].to_owned()),
            _ => None,
        };
        let long = "[ads]\nx = '''\nFoo = 1\nBar = $(X)\nBaz = 2\n'''\n";
        assert_eq!(checked(long).as_deref(), Some("Bar = $(X)"));
        assert_eq!(checked("[ads]\nx = \"Foo = 1\\nBar = $(X)\"").as_deref(), Some("Bar = $(X)"));
        for right in ["[ads]\nx = '''\nFoo = 1\nBar = 2\n'''\n", "ads.x = '[ Foo = 1; Bar = 2 ]'"] {
            assert_eq!(checked(right), None, "{right}");
        }
    }

    #[test]
    fn what_was_expected_is_told_with_what_was_found() {
        let refused = |text: &str| {
            let Err(TestFileError::Text(finding)) = PolicyFile::parse(text) else {
                panic!("expected an error of `{text}`")
            };
            (finding.span.range(), finding.message)
        };
        let clock = "expected a date such as `2026-01-31T12:00:00Z`, or seconds since 1970";
        assert_eq!(refused("seed = 1\nnow = 'noon'"), (15..21, format!("{clock}, found `'noon'`")));
        assert_eq!(refused("now = 12:00:00").1, "a time of day without a date: expected a date, or seconds since 1970");
        assert_eq!(refused("now = 5.5"), (6..9, format!("{clock}, found `5.5`")));
        let ad = "expected an ad as a string, or `{ file = \"slots.ads\", at = 1 }`";
        assert_eq!(refused("ads.x = 5"), (8..9, format!("{ad}, found `5`")));
        assert_eq!(refused("seed = 'a'"), (7..10, "expected a number of at least 0, found string \"a\"".to_owned()));
        assert_eq!(refused("test = 5").1, "expected a list, found integer `5`");
    }
}
