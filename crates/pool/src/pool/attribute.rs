//! Facts about HTCondor's attributes, from the file `data/attributes.txt`, which describes its fields.

use std::sync::LazyLock;

use hashbrown::HashMap;

use classmate::internal::records::{Record, records};

static ATTRIBUTES: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/attributes.txt")).collect());

static BY_NAME: LazyLock<HashMap<Vec<u8>, &'static Record>> = LazyLock::new(|| {
    ATTRIBUTES.iter().map(|attribute| (attribute.name.to_ascii_lowercase().into_bytes(), attribute)).collect()
});

/// The names of the attributes with a field.
pub(crate) fn names_with(field: &str) -> impl Iterator<Item = &'static str> {
    ATTRIBUTES.iter().filter(move |attribute| attribute.get(field).is_some()).map(|attribute| attribute.name)
}

/// The facts about all attributes.
pub fn all() -> &'static [Record] {
    &ATTRIBUTES
}

/// The facts about an attribute, by its name in lower case.
///
/// ```
/// use classmate_pool::internal::pool::attribute;
/// assert_eq!(attribute::find(b"clusterid").unwrap().get("varies"), Some("submission"));
/// assert_eq!(attribute::find(b"site"), None);
/// ```
pub fn find(folded: &[u8]) -> Option<&'static Record> {
    BY_NAME.get(folded).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_of_a_known_kind() {
        const FIELDS: [&str; 16] = [
            "ad",
            "closed",
            "codes",
            "if",
            "most",
            "negotiator",
            "only",
            "past",
            "presence",
            "range",
            "run",
            "sign",
            "type",
            "unit",
            "values",
            "varies",
        ];
        for attribute in ATTRIBUTES.iter() {
            assert!(attribute.fields.iter().all(|(field, _)| FIELDS.contains(field)), "{attribute:?}");
        }
        assert_eq!(BY_NAME.len(), ATTRIBUTES.len());
        assert_eq!(names_with("negotiator").count(), 66);
    }
}
