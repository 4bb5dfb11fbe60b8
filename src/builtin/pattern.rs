//! Regular expressions: PCRE2 over bytes, with a bound on the work of every search.
//!
//! The engine counts backtracking steps, but from each starting place anew, so that a limit alone leaves a hostile
//! pattern `length × limit` steps. Therefore the limit shrinks as texts grow (`TIERS`). A search that exceeds it is
//! done once more as one anchored match that skips its way to the starting place, where one limit holds for the whole
//! search.

use std::sync::OnceLock;

use crate::pcre::{self, Error, Regex, groups};
pub use crate::pcre::{MatchGroups, Options};

use super::dialect::translated;

/// A text that is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a regular expression, found `{}`: {reason}", String::from_utf8_lossy(.pattern))]
pub struct InvalidPattern {
    /// The text.
    pub pattern: Vec<u8>,
    /// The message of the engine.
    pub reason: String,
}

/// Reasons that a search has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    /// The pattern needs more steps or memory than a search may take.
    #[error("the regular expression takes too many steps")]
    LimitExceeded,
    /// The pattern asks for UTF-8, and the text is something else or was entered in the middle of a character.
    #[error("the regular expression expects UTF-8")]
    NotUtf8,
}

/// Maximum length of texts in bytes, with the number of steps of a search from each starting place.
///
/// Their product is the most steps of a search: about 10^8, some tenths of a second. Texts beyond the last tier take
/// its steps too.
const TIERS: [(usize, u32); 4] = [(1 << 10, 100_000), (1 << 13, 12_000), (1 << 16, 1_500), (1 << 20, 100)];

/// Steps from each starting place of a search that is only to be quick, ten times what everyday patterns take.
const QUICK_STEPS: u32 = 300;

/// The place of the engine of quick searches, behind those of the tiers.
const QUICK: usize = TIERS.len();

/// Longest text that is searched quickly, in bytes.
pub(crate) const QUICK_LENGTH: usize = TIERS[2].0;

/// Steps of the anchored search that is tried when a tier's limit is exceeded; a tenth of a second.
const ANCHORED_STEPS: u32 = 10_000_000;

/// Memory of a search, in KiB.
const MEMORY: u32 = 65_536;

/// Texts longer than this are not searched for patterns with parts whose steps the engine does not count.
const UNCOUNTED_LENGTH: usize = 1 << 15;

/// Anchored searches in one [`Search`].
const ANCHORED_SEARCHES: u32 = 3;

/// Limits on the work of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Some microseconds for every byte of the text at worst.
    Quick,
    /// Some tenths of a second.
    Full,
}

/// A compiled regular expression.
#[derive(Debug)]
pub struct Pattern {
    text: String,
    options: Options,
    /// True if some part is matched without counting steps, however long it is.
    uncounted: bool,
    /// True if the pattern means the same in parentheses.
    enclosable: bool,
    /// By tier; compiled when a text first needs it.
    engines: [OnceLock<Option<Regex>>; TIERS.len() + 1],
    /// The same, but matching only where the search starts, and there not the empty text.
    filled_engines: [OnceLock<Option<Regex>>; TIERS.len() + 1],
}

impl Pattern {
    /// Compiles a pattern, in which bytes that are not UTF-8 stand for themselves.
    ///
    /// ```
    /// # use classmate::internal::builtin::pattern::{Options, Pattern};
    /// let pattern = Pattern::compile(b"^slot[0-9]+@", Options::default()).unwrap();
    /// assert_eq!(pattern.is_match(b"slot1@host"), Ok(true));
    /// ```
    pub fn compile(pattern: &[u8], options: Options) -> Result<Pattern, InvalidPattern> {
        let invalid = |reason: String| InvalidPattern { pattern: pattern.to_vec(), reason };
        let text = readable(pattern).ok_or_else(|| invalid("the pattern is not UTF-8".to_owned()))?;
        let text = translated(&text).map_err(|unknown| invalid(unknown.to_string()))?;
        let compiled = Pattern {
            uncounted: UNCOUNTED.iter().any(|part| text.contains(part)),
            enclosable: !NOT_ENCLOSED.iter().any(|part| text.contains(part)),
            text,
            options,
            engines: Default::default(),
            filled_engines: Default::default(),
        };
        let prefix = Pattern::prefix(QUICK, false);
        let first = compiled.build(&format!("{prefix}{}", compiled.text)).map_err(|error| {
            let message = error.to_string();
            // The engine counts its offset from the start of the prefix.
            let reason = message.rsplit_once(": ").map_or(message.as_str(), |(_, reason)| reason);
            let place = error.offset().map(|offset| offset.saturating_sub(prefix.len()));
            invalid(place.map_or_else(|| reason.to_owned(), |place| format!("{reason} at offset {place}")))
        })?;
        let _ = compiled.engines[QUICK].set(Some(first));
        Ok(compiled)
    }

    /// Tests whether the pattern matches anywhere in a text.
    pub fn is_match(&self, text: &[u8]) -> Result<bool, MatchError> {
        let tier = tier_of(text.len());
        if tier < TIERS.len() - 1
            && let Some(engine) = self.engine(tier, false)
        {
            match engine.is_match(text) {
                Ok(found) => return Ok(found),
                Err(error) if failure(&error) == MatchError::LimitExceeded => {}
                Err(error) => return Err(failure(&error)),
            }
            return Ok(self.anchored(text, 0, false)?.is_some());
        }
        Ok(self.search(Effort::Full, text).find(0, false)?.is_some())
    }

    /// As [`Pattern::is_match`], with no more than some effort.
    pub(crate) fn is_match_with(&self, effort: Effort, text: &[u8]) -> Result<bool, MatchError> {
        match effort {
            Effort::Full => self.is_match(text),
            Effort::Quick => {
                let engine = self.engine(QUICK, false).ok_or(MatchError::LimitExceeded)?;
                engine.is_match(text).map_err(|error| failure(&error))
            }
        }
    }

    /// The places of the first match in a text and of its groups.
    pub fn captures(&self, text: &[u8]) -> Result<Option<MatchGroups>, MatchError> {
        self.search(Effort::Full, text).find(0, false)
    }

    /// Begins a series of searches in one text, which share a bound on their work.
    pub(crate) fn search<'p>(&'p self, effort: Effort, text: &'p [u8]) -> Search<'p> {
        Search { pattern: self, text, effort, anchored_left: ANCHORED_SEARCHES }
    }

    /// The engine of a tier, or the one that refuses an empty match where the search starts.
    fn engine(&self, tier: usize, filled: bool) -> Option<&Regex> {
        let engines = if filled { &self.filled_engines } else { &self.engines };
        let build = || {
            let text = if filled { self.enclosed("\\G") } else { None };
            self.build(&format!("{}{}", Pattern::prefix(tier, filled), text.as_deref().unwrap_or(&self.text))).ok()
        };
        engines.get(tier)?.get_or_init(build).as_ref()
    }

    /// The pattern in parentheses after a text; `None` when it would mean something else there.
    fn enclosed(&self, before: &str) -> Option<String> {
        self.enclosable.then(|| format!("{before}(?:{})", self.text))
    }

    /// The settings that begin a pattern. A pattern's own settings may only lower the limits.
    fn prefix(tier: usize, filled: bool) -> String {
        let limit = TIERS.get(tier).map_or(QUICK_STEPS, |(_, steps)| *steps);
        // Loops that cannot give back what they took are not counted, so long texts do without them.
        let counted = if tier + 1 == TIERS.len() { "(*NO_AUTO_POSSESS)" } else { "" };
        let filled = if filled { "(*NOTEMPTY_ATSTART)" } else { "" };
        format!("(*LIMIT_MATCH={limit})(*LIMIT_HEAP={MEMORY}){counted}{filled}")
    }

    /// Compiles a complete text.
    fn build(&self, text: &str) -> Result<Regex, Error> {
        pcre::compile(text, self.options, true)
    }

    /// Searches with one limit for all starting places together.
    fn anchored(&self, text: &[u8], start: usize, filled: bool) -> Result<Option<MatchGroups>, MatchError> {
        let (setting, before) = if filled { ("(*NOTEMPTY_ATSTART)", "\\G") } else { ("", "\\G(?s:.)*?\\K") };
        let enclosed = self.enclosed(before).ok_or(MatchError::LimitExceeded)?;
        let engine = self
            .build(&format!(
                "(*LIMIT_MATCH={ANCHORED_STEPS})(*LIMIT_HEAP={MEMORY})(*NO_AUTO_POSSESS)(*NO_JIT){setting}{enclosed}"
            ))
            .map_err(|_| MatchError::LimitExceeded)?;
        groups(&engine, text, start).map_err(|error| failure(&error))
    }
}

/// Parts of patterns in which steps are not counted.
const UNCOUNTED: [&str; 8] = ["(?>", "(?=", "(?!", "(?<", "(*", "++", "*+", "}+"];

/// Parts of patterns that mean something else, or nothing, when the pattern is enclosed: recursion, verbs, quoting,
/// and comments, which would swallow the closing parenthesis.
const NOT_ENCLOSED: [&str; 6] = ["(*", "(?R", "(?0", "\\g", "\\Q", "#"];

/// Searches in one text.
pub(crate) struct Search<'p> {
    pattern: &'p Pattern,
    text: &'p [u8],
    effort: Effort,
    anchored_left: u32,
}

impl Search<'_> {
    /// The first match from `start` on; with `filled`, only one that is found at `start` and is not empty there.
    pub(crate) fn find(&mut self, start: usize, filled: bool) -> Result<Option<MatchGroups>, MatchError> {
        if self.pattern.uncounted && self.text.len() > UNCOUNTED_LENGTH {
            return Err(MatchError::LimitExceeded);
        }
        let tier = if self.effort == Effort::Quick { QUICK } else { tier_of(self.text.len()) };
        if let Some(engine) = self.pattern.engine(tier, filled) {
            match groups(engine, self.text, start) {
                Ok(found) if filled && !self.pattern.enclosable => {
                    return Ok(found.filter(|groups| matches!(groups[..], [Some((at, _)), ..] if at == start)));
                }
                Ok(found) => return Ok(found),
                Err(error) if failure(&error) == MatchError::LimitExceeded => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        if self.effort == Effort::Quick {
            return Err(MatchError::LimitExceeded);
        }
        self.anchored_left = self.anchored_left.checked_sub(1).ok_or(MatchError::LimitExceeded)?;
        self.pattern.anchored(self.text, start, filled)
    }
}

/// The tier for texts of this length.
fn tier_of(length: usize) -> usize {
    TIERS.iter().position(|(longest, _)| length <= *longest).unwrap_or(TIERS.len() - 1)
}

/// The meaning of an error of a search: a limit (steps, depth, memory, the stack of compiled code) or a text that is
/// not UTF-8.
fn failure(error: &Error) -> MatchError {
    match error.code() {
        -46 | -47 | -48 | -53 | -63 => MatchError::LimitExceeded,
        _ => MatchError::NotUtf8,
    }
}

/// The pattern as UTF-8: every other byte is written as `\xHH`, which is that byte where UTF-8 is not asked for.
fn readable(pattern: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(pattern) {
        return Some(text.to_owned());
    }
    if memchr::memmem::find(pattern, b"(*UTF").is_some() {
        return None;
    }
    let mut text = String::with_capacity(pattern.len() + 8);
    let mut quoted = false;
    let mut escaped = false;
    for chunk in pattern.utf8_chunks() {
        for letter in chunk.valid().chars() {
            text.push(letter);
            match letter {
                'Q' if escaped && !quoted => quoted = true,
                'E' if escaped && quoted => quoted = false,
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
            // Inside a quotation a backslash quotes nothing, but may begin its end.
            if quoted && letter == '\\' {
                escaped = true;
            }
        }
        for byte in chunk.invalid() {
            if escaped && !quoted {
                // A backslash before such a byte means nothing.
                text.pop();
            }
            let (before, after) = if quoted { ("\\E", "\\Q") } else { ("", "") };
            text.extend([before, &format!("\\x{byte:02x}"), after]);
            escaped = false;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::compile(text.as_bytes(), Options::default()).unwrap()
    }

    fn matches(text: &str, subject: &[u8]) -> Result<bool, MatchError> {
        pattern(text).is_match(subject)
    }

    #[test]
    fn patterns_are_bytes() {
        // Answers of regexp of the reference.
        assert_eq!(matches("^.$", "é".as_bytes()), Ok(false));
        assert_eq!(matches("[é]", b"\xc3"), Ok(true));
        for text in [&b"\xe9"[..], b"\\\xe9", b"\\Q\xe9\\E", b"[\xe9]", b"\\\\?\xe9", b"[\xe0-\xef]$", b"\\Q\\\xe9"] {
            let found = Pattern::compile(text, Options::default()).unwrap();
            assert_eq!(found.is_match(b"\\\xe9"), Ok(true), "{text:?}");
            assert_eq!(found.is_match(b"e"), Ok(false), "{text:?}");
        }
        assert!(Pattern::compile(b"(*UTF)\xe9", Options::default()).is_err());
        assert_eq!(matches("(*UTF)é", b"a\xc3b"), Err(MatchError::NotUtf8));
        assert_eq!(matches("(*UTF)^.$", "é".as_bytes()), Ok(true));
    }

    #[test]
    fn options_are_letters() {
        let with = |letters: &str, text: &str| {
            Pattern::compile(text.as_bytes(), Options::from_letters(letters.as_bytes())).unwrap()
        };
        assert_eq!(with("i", "A").is_match(b"a"), Ok(true));
        assert_eq!(with("I", "A").is_match(b"a"), Ok(false));
        assert_eq!(with("m", "^c").is_match(b"a\nc"), Ok(true));
        assert_eq!(with("s", "a.c").is_match(b"a\nc"), Ok(true));
        assert_eq!(with("x", "a b # c").is_match(b"ab"), Ok(true));
        assert_eq!(with("i", "é").is_match("É".as_bytes()), Ok(false));
    }

    #[test]
    fn invalid_patterns_say_where() {
        let error = Pattern::compile(b"a(b", Options::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a regular expression, found `a(b`: missing closing parenthesis at offset 3"
        );
        assert!(Pattern::compile(b"[", Options::default()).is_err());
        assert!(Pattern::compile(b"a)(b", Options::default()).is_err());
    }

    #[test]
    fn groups_end_with_the_last_that_took_part() {
        assert_eq!(pattern("(a)|(b)").captures(b"a"), Ok(Some(vec![Some((0, 1)), Some((0, 1))])));
        assert_eq!(pattern("(a)|(b)").captures(b"b"), Ok(Some(vec![Some((0, 1)), None, Some((0, 1))])));
        assert_eq!(pattern("c").captures(b"b"), Ok(None));
    }

    #[test]
    fn a_search_may_refuse_the_empty_match() {
        let found = pattern("x*|a");
        let mut search = found.search(Effort::Full, b"ab");
        assert_eq!(search.find(0, false), Ok(Some(vec![Some((0, 0))])));
        assert_eq!(search.find(0, true), Ok(Some(vec![Some((0, 1))])));
        assert_eq!(search.find(1, true), Ok(None));
        // The match may be said to begin later than it was found.
        let found = pattern("|a\\Kb");
        assert_eq!(found.search(Effort::Full, b"ab").find(0, true), Ok(Some(vec![Some((1, 2))])));
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let million = |tail: &str| [&b"a".repeat(1_000_000)[..], tail.as_bytes()].concat();
        for (text, subject) in [
            ("(a+)+$", million("b")),
            ("(a+)+$", [&b"a".repeat(40)[..], b"b"].concat()),
            ("(a|aa)+$", million("b")),
            ("(?:a|b)*(?:a|b)*[xy]", b"a".repeat(3000)),
            ("(?:a|b)*[xy]", b"a".repeat(60_000)),
            ("(?:a|b)(?>\\w+)[0-9]", million("")),
            ("a*a*a*[xy]", million("")),
            ("^(([a-z])+.)+[A-Z]([a-z])+$", million("")),
        ] {
            let begin = Instant::now();
            assert_eq!(matches(text, &subject), Err(MatchError::LimitExceeded), "{text}");
            // Ten times what it takes, because tests run beside one another.
            assert!(begin.elapsed() < Duration::from_secs(5), "{text} took {:?}", begin.elapsed());
        }
    }

    #[test]
    fn long_texts_are_searched_all_the_same() {
        let text = [&b"the quick brown fox jumps over the lazy dog\n".repeat(20_000)[..], b"joe@cs.wisc.edu"].concat();
        assert_eq!(matches("[a-z]+@(\\w+\\.)*edu$", &text), Ok(true));
        assert_eq!(matches("cat", &text), Ok(false));
        assert_eq!(matches("(?:[a-z]|\\n| )*@", &text[text.len() - 60_000..]), Ok(true));
        assert_eq!(matches(".*fox.*dog", &text), Ok(true));
        let found = pattern("(\\w+)@").captures(&text).unwrap().unwrap();
        assert_eq!(found[1], Some((text.len() - 15, text.len() - 12)));
    }

    #[test]
    fn the_anchored_search_gives_the_same_answer() {
        for text in ["b+", "(a)|(b)", "(?:x*)(c)?", "(?x)a b", "z", "\\bc", "^b", "a\\Kb", "(?i)B"] {
            for filled in [false, true] {
                for start in 0..=4 {
                    let found = pattern(text);
                    let mut search = found.search(Effort::Full, b"abbc");
                    assert_eq!(found.anchored(b"abbc", start, filled), search.find(start, filled), "{text} {start}");
                }
            }
        }
    }
}
