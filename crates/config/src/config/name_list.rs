//! Lists of names that HTCondor's daemons know, from the file `data/names.txt`.

use std::sync::LazyLock;

use hashbrown::HashSet;

use classmate::internal::records::{Record, records};

static LISTS: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/names.txt")).collect());

/// The names of a list, in upper case.
pub(super) fn names(list: &str) -> impl Iterator<Item = &'static str> + Clone {
    let list = LISTS.iter().find(|record| record.name == list);
    list.into_iter().flat_map(|list| list.about.split_whitespace())
}

/// Returns true if a name (upper case) is of a variable that daemons read and that has no default.
pub(super) fn has_no_default(upper: &[u8]) -> bool {
    static NAMES: LazyLock<HashSet<&[u8]>> =
        LazyLock::new(|| names("variables without a default").map(str::as_bytes).collect());
    NAMES.contains(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_their_names() {
        assert_eq!(LISTS.len(), 20);
        assert_eq!(names("daemons").count(), 16);
        assert!(names("facts of a machine").is_sorted());
    }
}
