//! The probable meaning of a function name that is not in the table.

use std::sync::LazyLock;

use crate::builtin::{Function, all};
use crate::records::{Record, records};

/// Functions of other languages, several names in each record, and what to write instead.
static FOREIGN: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("foreign.txt")).collect());

/// The replacement for a function that other languages have.
pub fn foreign(name: &[u8]) -> Option<&'static str> {
    let is_known = |record: &&Record| record.name.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    FOREIGN.iter().find(is_known).map(|record| record.about.as_str())
}

/// The functions whose names are nearest to a text, best first, at most three; none if all are far.
///
/// ```
/// use classmate::internal::builtin::near::nearest;
/// assert_eq!(nearest(b"isUndefind")[0].name, "isUndefined");
/// assert!(nearest(b"frobnicate").is_empty());
/// ```
pub fn nearest(name: &[u8]) -> Vec<&'static Function> {
    let allowed = allowance(name);
    let mut near: Vec<(usize, &'static Function)> = all()
        .filter_map(|function| distance(name, function.name.as_bytes(), allowed).map(|edits| (edits, function)))
        .collect();
    near.sort_by_key(|(edits, function)| (*edits, function.name));
    near.into_iter().take(3).map(|(_, function)| function).collect()
}

/// The number of edits that still look like a slip: one in three letters.
pub fn allowance(name: &[u8]) -> usize {
    (name.len() / 3).clamp(1, 3)
}

/// The one of the known names that a text may have meant; of several as near, the first in order.
///
/// ```
/// use classmate::internal::builtin::near::closest;
/// assert_eq!(closest(b"Memroy", ["Cpus", "Memory"]), Some("Memory"));
/// assert_eq!(closest(b"Disk", ["Cpus", "Memory"]), None);
/// ```
pub fn closest<T: AsRef<[u8]> + Ord>(name: &[u8], known: impl IntoIterator<Item = T>) -> Option<T> {
    closest_within(allowance(name), name, known)
}

/// [`closest`] with another number of edits that still look like a slip.
pub fn closest_within<T: AsRef<[u8]> + Ord>(
    allowed: usize,
    name: &[u8],
    known: impl IntoIterator<Item = T>,
) -> Option<T> {
    let edited = |known: T| Some((distance(name, known.as_ref(), allowed)?, known));
    known.into_iter().filter_map(edited).min().map(|(_, known)| known)
}

/// The number of letters to insert, remove, replace or swap to turn one name into another, without regard to
/// case; `None` if more than `allowed`.
pub fn distance(one: &[u8], other: &[u8], allowed: usize) -> Option<usize> {
    /// Names longer than this are not compared.
    const MAX_LENGTH: usize = 64;
    if one.len().abs_diff(other.len()) > allowed || one.len() > MAX_LENGTH || other.len() > MAX_LENGTH {
        return None;
    }
    // Every edit but a swap brings or takes one letter at most on either side: that alone distinguishes most names.
    let mut letters = [0i16; 32];
    for letter in one {
        letters[usize::from((letter | 0x20) & 31)] += 1;
    }
    for letter in other {
        letters[usize::from((letter | 0x20) & 31)] -= 1;
    }
    let surplus: i16 = letters.iter().filter(|count| **count > 0).sum();
    let missing: i16 = letters.iter().filter(|count| **count < 0).map(|count| -count).sum();
    if usize::try_from(surplus.max(missing)).is_ok_and(|edits| edits > allowed) {
        return None;
    }
    let same = |i: usize, j: usize| one[i].eq_ignore_ascii_case(&other[j]);
    let (mut before, mut above) = ([0usize; MAX_LENGTH + 1], [0usize; MAX_LENGTH + 1]);
    above.iter_mut().enumerate().for_each(|(at, edits)| *edits = at);
    for i in 0..one.len() {
        let mut row = [0usize; MAX_LENGTH + 1];
        row[0] = i + 1;
        for j in 0..other.len() {
            let mut edits = (above[j] + usize::from(!same(i, j))).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j) {
                edits = edits.min(before[j - 1] + 1);
            }
            row[j + 1] = edits;
        }
        before = std::mem::replace(&mut above, row);
    }
    Some(above[other.len()]).filter(|edits| *edits <= allowed)
}

/// Tests whether a name is another one with two neighbouring letters swapped, or with a letter doubled, without regard to
/// case: slips that leave no other word, however short the name is.
///
/// ```
/// use classmate::internal::builtin::near::is_slip;
/// assert!(is_slip(b"STRAT", b"START"));
/// assert!(is_slip(b"Ownerr", b"Owner"));
/// assert!(!is_slip(b"STARS", b"START"));
/// ```
pub fn is_slip(name: &[u8], known: &[u8]) -> bool {
    let same = |one: &u8, other: &u8| one.eq_ignore_ascii_case(other);
    let rest = |from: usize, other: usize| {
        let (one, other) = (name.get(from..), known.get(other..));
        one.zip(other).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
    };
    let at = name.iter().zip(known).take_while(|(one, other)| same(one, other)).count();
    let (here, next) = (name.get(at), name.get(at + 1));
    let swapped = known.get(at).zip(known.get(at + 1)).zip(here.zip(next));
    let is_swapped = swapped.is_some_and(|((one, two), (here, next))| same(one, next) && same(two, here));
    let is_doubled = at > 0 && here.is_some_and(|here| same(here, &name[at - 1]));
    is_swapped && rest(at + 2, at + 2) || is_doubled && rest(at + 1, at)
}

/// Returns whether a name lacks one of the inner letters of a known one, in any case.
///
/// ```
/// use classmate::internal::builtin::near::lacks_letter;
/// assert!(lacks_letter(b"Memry", b"Memory"));
/// assert!(!lacks_letter(b"emory", b"Memory") && !lacks_letter(b"Slot", b"Slots"));
/// ```
pub fn lacks_letter(name: &[u8], known: &[u8]) -> bool {
    let same = |(one, other): &(&u8, &u8)| one.eq_ignore_ascii_case(other);
    let at = name.iter().zip(known).take_while(same).count();
    let rest = known.get(at + 1..).unwrap_or_default();
    (1..name.len()).contains(&at) && name[at..].eq_ignore_ascii_case(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::find;
    use crate::name::Name;

    #[test]
    fn swapped_and_missing_letters_are_one_edit() {
        assert_eq!(distance(b"strcat", b"STRACT", 3), Some(1)); // ca swapped to ac
        assert_eq!(distance(b"flor", b"floor", 3), Some(1));
        assert_eq!(distance(b"foolr", b"floor", 3), Some(2));
        assert_eq!(distance(b"abcdef", b"x", 3), None);
        assert_eq!(distance(b"listen", b"silent", 3), None); // the same letters, four edits apart
        assert_eq!(distance(b"kitten", b"SITTING", 3), Some(3)); // k→s, e→i, g
        assert_eq!(distance(&[b'a'; 64], &[b'a'; 65], 3), None);
    }

    #[test]
    fn no_foreign_name_is_a_function() {
        for name in FOREIGN.iter().flat_map(|record| record.name.split(' ')) {
            assert!(find(Name::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn every_function_that_is_recommended_exists() {
        for help in FOREIGN.iter().map(|record| record.about.as_str()) {
            for call in help.split('`').skip(1).step_by(2) {
                let Some((name, _)) = call.split_once('(') else { continue };
                let name = name.trim_start_matches('!');
                assert!(name.is_empty() || find(Name::new(name)).is_some(), "{help}");
            }
        }
    }
}
