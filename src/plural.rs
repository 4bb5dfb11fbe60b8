//! Counts with their nouns: `1 match`, `2 matches`.

use std::fmt::Display;

/// A count and its noun, in the singular or the plural.
///
/// ```
/// use classmate::internal::plural::counted;
/// assert_eq!([counted(1, "idle job"), counted(2, "idle job")], ["1 idle job", "2 idle jobs"]);
/// assert_eq!([counted(1, "match"), counted(0, "match")], ["1 match", "0 matches"]);
/// assert_eq!(counted(2, "entry"), "2 entries");
/// ```
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) { format!("{count} {noun}") } else { format!("{count} {}", plural(noun)) }
}

/// The regular plural of a noun.
pub fn plural(noun: &str) -> String {
    if noun.ends_with(['s', 'x']) || noun.ends_with("ch") || noun.ends_with("sh") {
        return format!("{noun}es");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}
