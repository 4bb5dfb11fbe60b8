//! Perl-compatible regular expressions over bytes.
//!
//! PCRE2 where the feature `pcre2` is on. Without it no pattern compiles, and the error says why: other engines differ
//! from PCRE2, some of them silently, so none takes its place.

#[cfg(feature = "pcre2")]
pub use pcre2::{
    Error,
    bytes::{Regex, RegexBuilder},
};

#[cfg(not(feature = "pcre2"))]
pub use absent::{Error, Regex, RegexBuilder};

/// The same names without an engine.
#[cfg(not(feature = "pcre2"))]
mod absent {
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
        /// Fails.
        ///
        /// # Errors
        /// Always.
        pub fn new(_: &str) -> Result<Self, Error> {
            Err(Error(()))
        }

        /// Tests whether the pattern matches anywhere in a text.
        pub fn is_match(&self, _: &[u8]) -> Result<bool, Error> {
            Err(Error(()))
        }

        /// Makes room for the groups of a match.
        pub fn capture_locations(&self) -> CaptureLocations {
            CaptureLocations(())
        }

        /// Searches from `start` on.
        pub fn captures_read_at(&self, _: &mut CaptureLocations, _: &[u8], _: usize) -> Result<Option<()>, Error> {
            Err(Error(()))
        }
    }

    /// The groups of a match. There are none.
    #[derive(Clone, Debug)]
    pub struct CaptureLocations(());

    impl CaptureLocations {
        /// The number of groups.
        pub fn len(&self) -> usize {
            0
        }

        /// The bounds of a group.
        pub fn get(&self, _: usize) -> Option<(usize, usize)> {
            None
        }
    }

    /// Builds no pattern.
    #[derive(Clone, Copy, Debug)]
    pub struct RegexBuilder(());

    impl RegexBuilder {
        /// A builder without options.
        pub fn new() -> Self {
            Self(())
        }

        /// Ignored.
        pub fn caseless(&mut self, _: bool) -> &mut Self {
            self
        }

        /// Ignored.
        pub fn multi_line(&mut self, _: bool) -> &mut Self {
            self
        }

        /// Ignored.
        pub fn dotall(&mut self, _: bool) -> &mut Self {
            self
        }

        /// Ignored.
        pub fn extended(&mut self, _: bool) -> &mut Self {
            self
        }

        /// Ignored.
        pub fn jit_if_available(&mut self, _: bool) -> &mut Self {
            self
        }

        /// Fails.
        pub fn build(&self, pattern: &str) -> Result<Regex, Error> {
            Regex::new(pattern)
        }
    }
}
