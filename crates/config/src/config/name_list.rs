//! Lists of names that HTCondor's daemons know, from the file `data/names.txt`.

use std::sync::LazyLock;

use hashbrown::HashMap;

use classmate::internal::records::{Record, records};

/// A list: its names in order, and the place of each without what is behind a colon.
struct NameList {
    name: &'static str,
    names: Vec<&'static str>,
    places: HashMap<&'static str, usize>,
}

static LISTS: LazyLock<Vec<NameList>> = LazyLock::new(|| {
    static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/names.txt")).collect());
    let list = |record: &'static Record| {
        let names: Vec<&str> = record.about.split_whitespace().collect();
        let bare = |entry: &'static str| entry.split_once(':').map_or(entry, |(name, _)| name);
        let places = names.iter().enumerate().rev().map(|(at, entry)| (bare(entry), at)).collect();
        NameList { name: record.name, names, places }
    };
    RECORDS.iter().map(list).collect()
});

fn list(name: &str) -> Option<&'static NameList> {
    LISTS.iter().find(|list| list.name == name)
}

/// The names of a list, in upper case.
pub(super) fn names(name: &str) -> impl Iterator<Item = &'static str> + Clone {
    list(name).into_iter().flat_map(|list| list.names.iter().copied())
}

/// The entry of a name (upper case) in a list: the name, perhaps with a colon and more.
pub(super) fn entry(name: &str, upper: &str) -> Option<&'static str> {
    let list = list(name)?;
    list.places.get(upper).map(|at| list.names[*at])
}

/// Returns true if a name (upper case) is of a variable that daemons read and that has no default.
pub(super) fn has_no_default(upper: &[u8]) -> bool {
    std::str::from_utf8(upper).is_ok_and(|upper| entry("variables without a default", upper).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_their_names() {
        assert_eq!(LISTS.len(), 28);
        assert_eq!(names("daemons").count(), 16);
        assert!(names("facts of a machine").is_sorted());
    }
}
