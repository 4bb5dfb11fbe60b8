//! The built-in parameter table: what a name is worth when no file sets it.
//!
//! Only names with an entry in the reference's table are here; a `$(NAME)` sees them. Defaults that exist in code only
//! belong to [`super::knob`].

use std::sync::LazyLock;

use hashbrown::HashMap;

/// The table as text, one `NAME = value` a line.
static TEXT: &str = include_str!("data/defaults.conf");

type DefaultValue = (&'static str, &'static str);

static TABLE: LazyLock<HashMap<Vec<u8>, DefaultValue>> =
    LazyLock::new(|| entries().map(|entry| (entry.0.to_ascii_uppercase().into_bytes(), entry)).collect());

/// Names and texts of the table, unexpanded, sorted by name.
pub fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" =")).map(|(name, text)| (name, text.trim_start()))
}

/// The table's entry for a name in upper case: the name as it is spelt there, and its text.
pub(crate) fn entry(upper: &[u8]) -> Option<(&'static str, &'static str)> {
    TABLE.get(upper).copied()
}

/// The table's text for a name (any case), unexpanded.
pub fn default_text(name: &[u8]) -> Option<&'static str> {
    entry(&name.to_ascii_uppercase()).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_entry_with_a_name_of_its_own() {
        let names: Vec<String> = entries().map(|(name, _)| name.to_ascii_uppercase()).collect();
        assert_eq!(names.len(), TEXT.lines().count() - 1);
        assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(default_text(b"negotiator_interval"), Some("60"));
        assert_eq!(default_text(b"NEGOTIATOR_SLOT_CONSTRAINT"), Some(""));
        assert_eq!(default_text(b"CondorIsAdmin"), None);
    }
}
