//! Names of attributes that are probably misspellings of others.

use smallvec::SmallVec;

use classmate::internal::builtin::near::{allowance, distance};

/// Words of most names, at most.
const MAX_WORDS: usize = 8;

/// The words of a name, which `_` or capital letters separate: `HAS_CVMFS`, `HasJava`.
fn words(name: &[u8]) -> SmallVec<[&[u8]; MAX_WORDS]> {
    let parts = name.split(|byte| *byte == b'_');
    let begins = |before: &u8, after: &u8| before.is_ascii_lowercase() && after.is_ascii_uppercase();
    parts.flat_map(|part| part.chunk_by(move |before, after| !begins(before, after))).collect()
}

/// The number of edits between two names if they are few enough for a slip; a word that is written in full counts as one.
///
/// ```
/// use classmate_pool::internal::pool::similar::slip;
/// assert_eq!(slip(b"OpSysAndVersion", b"OpSysAndVer"), Some(1));
/// assert_eq!(slip(b"HasJava", b"has_avx"), None);
/// ```
pub fn slip(one: &[u8], other: &[u8]) -> Option<usize> {
    /// Names of other words are the same if they differ in one letter of so many.
    const LETTERS: usize = 5;
    let (words_of_one, words_of_other) = (words(one), words(other));
    if words_of_one.len() != words_of_other.len() {
        let letters = |words: &[&[u8]]| words.iter().map(|word| word.len()).sum::<usize>();
        let (in_one, in_other) = (letters(&words_of_one), letters(&words_of_other));
        let allowed = in_one / LETTERS;
        let is_near = in_one.abs_diff(in_other) <= allowed;
        return is_near.then(|| distance(&words_of_one.concat(), &words_of_other.concat(), allowed))?;
    }
    // `HAS_CVMFS_a` and `HAS_CVMFS_b` are names of different things.
    let edits = words_of_one.iter().zip(&words_of_other).map(|(one, other)| {
        let (short, long) = if one.len() > other.len() { (other, one) } else { (one, other) };
        // `PORT_443` and `PORT_8443` are, too.
        let are_numbers = [one, other].iter().all(|word| word.iter().all(u8::is_ascii_digit));
        if one.eq_ignore_ascii_case(other) {
            Some(0)
        } else if are_numbers {
            None
        } else {
            distance(one, other, allowance(long)).or_else(|| is_short_form(short, long).then_some(1))
        }
    });
    edits.sum::<Option<usize>>().filter(|edits| *edits <= allowance(one))
}

/// Tests if a word begins another one that is not much longer: `Ver` and `Version`.
fn is_short_form(short: &[u8], long: &[u8]) -> bool {
    let is_beginning = long.get(..short.len()).is_some_and(|start| start.eq_ignore_ascii_case(short));
    short.len() >= 3 && long.len() <= 2 * short.len() + 1 && is_beginning
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edits by hand: `ry` are two letters that were swapped, and `Version` is `Ver` in full.
    #[test]
    fn names_of_similar_words_are_slips() {
        let of = |one: &str, other: &str| slip(one.as_bytes(), other.as_bytes());
        assert_eq!(of("Memroy", "Memory"), Some(1));
        assert_eq!(of("OpSysAndVersion", "OpSysAndVer"), Some(1));
        assert_eq!(of("has_docker", "HasDocker"), Some(0));
        // `Java` is two edits from `avx`, of which one letter in three may differ.
        for (one, other) in [
            ("HasJava", "has_avx"),
            ("hasjava", "has_avx"),
            ("HasDocker", "HasDockerURL"),
            ("PORT_443", "PORT_8443"),
            ("HAS_CVMFS_ligo", "HAS_CVMFS_ligostorage"),
        ] {
            assert_eq!(of(one, other), None, "{one} {other}");
        }
    }
}
