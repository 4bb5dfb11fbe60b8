//! Perl-compatible regular expressions over bytes.
//!
//! PCRE2 where the feature `pcre2` is on. Without it no pattern compiles, and the error says why: other engines differ
//! from PCRE2, some of them silently, so none takes its place.

#[cfg(feature = "pcre2")]
pub use pcre2::{Error, bytes::Regex};

#[cfg(not(feature = "pcre2"))]
pub use absent::{Error, Regex, compile, groups};

/// Options for reading a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "four independent letters")]
pub struct Options {
    /// Letters match in either case (`i`).
    pub caseless: bool,
    /// `^` and `$` match at every line (`m`).
    pub multiline: bool,
    /// A dot matches a newline (`s`).
    pub dotall: bool,
    /// White space and comments in the pattern do not count (`x`).
    pub extended: bool,
}

impl Options {
    /// The options of a text of letters; letters that mean nothing here are ignored, upper case ones are such.
    ///
    /// ```
    /// # use classmate::internal::pcre::Options;
    /// assert!(Options::from_letters(b"gi").caseless);
    /// assert!(!Options::from_letters(b"I").caseless);
    /// ```
    pub fn from_letters(letters: &[u8]) -> Options {
        let has = |letter: u8| letters.contains(&letter);
        Options { caseless: has(b'i'), multiline: has(b'm'), dotall: has(b's'), extended: has(b'x') }
    }
}

/// The places of the groups of a match, the whole match first; a group that took no part is `None`.
///
/// Ends with the last group that took part, which is how the engine counts the groups of a match.
pub type MatchGroups = Vec<Option<(usize, usize)>>;

/// Compiles a pattern, to machine code if `jit`: that is for patterns that are searched often.
///
/// # Errors
/// The text is not a pattern.
#[cfg(feature = "pcre2")]
pub fn compile(pattern: &str, options: Options, jit: bool) -> Result<Regex, Error> {
    pcre2::bytes::RegexBuilder::new()
        .caseless(options.caseless)
        .multi_line(options.multiline)
        .dotall(options.dotall)
        .extended(options.extended)
        .jit_if_available(jit)
        .build(pattern)
}

/// The groups of the first match in a text from a place on.
///
/// # Errors
/// The search was given up.
#[cfg(feature = "pcre2")]
pub fn groups(regex: &Regex, text: &[u8], start: usize) -> Result<Option<MatchGroups>, Error> {
    let mut locations = regex.capture_locations();
    if regex.captures_read_at(&mut locations, text, start)?.is_none() {
        return Ok(None);
    }
    let mut found: MatchGroups = (0..locations.len()).map(|index| locations.get(index)).collect();
    let count = found.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    found.truncate(count);
    Ok(Some(found))
}

/// The same names without an engine.
#[cfg(not(feature = "pcre2"))]
mod absent {
    use super::{MatchGroups, Options};

    /// The only error: there is no engine.
    #[derive(Clone, Debug, thiserror::Error)]
    #[error("this program was built without regular expressions (feature `pcre2`)")]
    pub struct Error(());

    impl Error {
        /// The code of the engine; there is none.
        pub fn code(&self) -> i32 {
            0
        }

        /// The offset of the error in the pattern; it has none.
        pub fn offset(&self) -> Option<usize> {
            None
        }
    }

    /// A compiled pattern. None is ever made.
    #[derive(Clone, Debug)]
    pub struct Regex(());

    impl Regex {
        /// Tests whether the pattern matches anywhere in a text.
        pub fn is_match(&self, _: &[u8]) -> Result<bool, Error> {
            Err(Error(()))
        }
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn compile(_: &str, _: Options, _: bool) -> Result<Regex, Error> {
        Err(Error(()))
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn groups(_: &Regex, _: &[u8], _: usize) -> Result<Option<MatchGroups>, Error> {
        Err(Error(()))
    }
}
