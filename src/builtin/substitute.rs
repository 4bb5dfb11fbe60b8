//! Substitution of what a regular expression matches.

use super::pattern::{Effort, MatchError, MatchGroups, Pattern};

/// Longest text that a substitution makes, in bytes.
pub const LONGEST_RESULT: usize = 64 << 20;

/// Options of a substitution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Substitution {
    /// Every match, not only the first (`g`).
    pub every: bool,
    /// Return the whole text with the matches replaced, not only the replacements (`f`).
    pub full: bool,
}

impl Substitution {
    /// The options of a text of letters; all other letters are ignored.
    pub fn from_letters(letters: &[u8]) -> Substitution {
        Substitution { every: letters.contains(&b'g'), full: letters.contains(&b'f') }
    }
}

/// Reasons that a substitution has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubstituteError {
    /// The replacement names a group after the last one that took part in the match.
    #[error("the replacement names the group `\\{0}`, but the match has fewer")]
    NoSuchGroup(usize),
    /// The pattern matches nothing at the end of the text, where the reference gives up.
    #[error("the regular expression matches the empty end of the string")]
    EmptyAtEnd,
    /// The result would be longer than [`LONGEST_RESULT`].
    #[error("the result of the substitution is too long")]
    TooLong,
    /// The search itself failed.
    #[error(transparent)]
    Match(#[from] MatchError),
}

/// Replaces matches of a pattern in a text, with no more than some effort for each search.
///
/// In the replacement `\0` to `\9` stand for groups of the match, everything else for itself. Without a match the
/// result is empty, or the text if it was to be returned in full. After an empty match, matches that are not empty are
/// tried right where the last one ended; when there is none, the next character is copied, even if only the
/// replacements are returned, and the search goes on.
pub(crate) fn substitute(
    effort: Effort,
    pattern: &Pattern,
    text: &[u8],
    replacement: &[u8],
    how: Substitution,
) -> Result<Vec<u8>, SubstituteError> {
    let mut out = Vec::new();
    let mut at = 0;
    // Set by an empty match, and kept until nothing more is found where the last match ended.
    let mut here = false;
    let mut search = pattern.search(effort, text);
    loop {
        let Some(found) = search.find(at, here)? else {
            if !here {
                break;
            }
            out.push(*text.get(at).ok_or(SubstituteError::EmptyAtEnd)?);
            at += 1;
            here = false;
            continue;
        };
        let (start, end) = replace(&mut out, text, at, &found, replacement, how)?;
        // Older engines let `\K` in a lookahead put the start of a match after its end, and then never get on.
        if end < start || (here && end <= at) {
            return Err(MatchError::LimitExceeded.into());
        }
        at = end;
        if !how.every {
            break;
        }
        here |= start == end;
    }
    if how.full {
        out.extend_from_slice(text.get(at..).unwrap_or_default());
    }
    Ok(out)
}

/// Writes what comes before a match, if wanted, and the replacement of the match; returns where the match lies.
fn replace(
    out: &mut Vec<u8>,
    text: &[u8],
    from: usize,
    found: &MatchGroups,
    replacement: &[u8],
    how: Substitution,
) -> Result<(usize, usize), SubstituteError> {
    let (start, end) = found.first().copied().flatten().unwrap_or((from, from));
    if how.full {
        out.extend_from_slice(text.get(from..start).unwrap_or_default());
    }
    let mut rest = replacement;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.first() {
            Some(digit) if digit.is_ascii_digit() => {
                let group = usize::from(digit - b'0');
                let place = found.get(group).ok_or(SubstituteError::NoSuchGroup(group))?;
                out.extend_from_slice(place.and_then(|(start, end)| text.get(start..end)).unwrap_or_default());
                rest = &rest[1..];
            }
            _ => out.push(b'\\'),
        }
        if out.len() > LONGEST_RESULT {
            return Err(SubstituteError::TooLong);
        }
    }
    out.extend_from_slice(rest);
    if out.len() > LONGEST_RESULT { Err(SubstituteError::TooLong) } else { Ok((start, end)) }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Options;
    use super::*;

    fn regexps(pattern: &str, text: &str, replacement: &str, letters: &str) -> Result<String, SubstituteError> {
        let pattern = Pattern::compile(pattern.as_bytes(), Options::from_letters(letters.as_bytes())).unwrap();
        let how = Substitution::from_letters(letters.as_bytes());
        let out = substitute(Effort::Full, &pattern, text.as_bytes(), replacement.as_bytes(), how)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn replacements_are_those_of_the_reference() {
        for (pattern, text, replacement, letters, expected) in [
            ("(\\w+)@", "joe@cs", "\\1 at ", "f", "joe at cs"),
            ("(a)|(b)", "b", "[\\1\\2]", "", "[b]"),
            ("(a)|(b)", "xayb", "[\\0]", "g", "[a][b]"),
            ("b", "abcb", "X", "g", "XX"),
            ("b", "abcb", "X", "fg", "aXcX"),
            ("b", "abc", "X", "f", "aXc"),
            ("z", "abc", "X", "fg", "abc"),
            ("z", "abc", "X", "g", ""),
            ("^", "abc", "-", "fg", "-abc"),
            ("(?m)^", "a\nb", "-", "fg", "-a\n-b"),
            ("(?=b)", "abc", "-", "fg", "a-bc"),
            ("(?=b)", "abc", "-", "g", "-b"),
            ("a??(?=.)", "aab", "-", "fg", "---b"),
            ("(?<!^)(?=.)", "aab", "-", "fg", "a-a-b"),
            ("\\Ga", "aab", "-", "fg", "--b"),
            ("a??(?=.)", "aacaab", "-", "fg", "---c---b"),
            ("(?=.)|a|b", "abab.", "-", "fg", "-----."),
            ("(?=a)|a\\Kb", "ababxab.", "-", "fg", "-a-a-x-a-."),
            ("(?=a)|a\\Kb|(?=x)", "ababxab.", "<\\0>", "fg", "<>a<b>a<b>x<>a<b>."),
            ("(?=a)|ab\\K", "ababxab.", "-", "fg", "-ab-ab-x-ab-."),
            ("a\\Kb", "abab", "-", "fg", "a-a-"),
            ("a\\K", "abab", "-", "fg", "a-ba-b"),
            ("x*(?!$)", "abcx", "X", "g", "XaXbXcXx"),
            ("x*(?!$)", "abcxd", "X", "fg", "XaXbXcXXd"),
            ("x*(?!$)", "axbc", "X", "g", "XaXXbXc"),
            ("(*NOTEMPTY)x*", "abxc", "-", "fg", "ab-c"),
            ("(*UTF)é", "aéb", "-", "f", "a-b"),
            ("^a|^", "ab", "X", "g", "X"),
            ("(?x) (?=b) | a # c", "aab", "-", "fg", "---b"),
            ("(?=b)|b\\Q|", "ab|b", "-", "fg", "a--b"),
            ("(b)", "abc", "\\a\\1\\", "", "\\ab\\"),
            ("((((((((((b))))))))))", "abc", "\\10", "", "b0"),
            ("b", "ABC", "x", "fi", "AxC"),
            ("", "abc", "X", "f", "Xabc"),
            ("", "abc", "X", "", "X"),
            ("", "", "X", "", "X"),
        ] {
            assert_eq!(
                regexps(pattern, text, replacement, letters).as_deref(),
                Ok(expected),
                "{pattern} {text} {letters}"
            );
        }
    }

    #[test]
    fn an_empty_match_at_the_end_is_an_error() {
        for (pattern, text) in
            [("x?", "abcx"), ("\\b", "ab cd"), ("\\b|c", "ab cd"), ("a*?", "aab"), ("a|", "ab"), ("$", "a")]
        {
            assert_eq!(regexps(pattern, text, "-", "fg"), Err(SubstituteError::EmptyAtEnd), "{pattern}");
        }
    }

    #[test]
    fn groups_that_took_no_part_are_empty_or_errors() {
        assert_eq!(regexps("(a)|(b)", "a", "[\\1\\2]", ""), Err(SubstituteError::NoSuchGroup(2)));
        assert_eq!(regexps("b", "abc", "\\9", ""), Err(SubstituteError::NoSuchGroup(9)));
        assert_eq!(regexps("(*UTF)(?=.)", "aéb", "-", "fg"), Err(MatchError::NotUtf8.into()));
    }

    #[test]
    fn results_are_bounded() {
        let text = "a".repeat(100_000);
        let replacement = "\\0".repeat(2000);
        assert_eq!(regexps("a", &text, &replacement, "fg"), Err(SubstituteError::TooLong));
        assert_eq!(regexps("a", &text, "bb", "fg").map(|t| t.len()), Ok(200_000));
    }
}
