//! Descriptions and examples of the builtin functions.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::records::{Record, records};

/// Text about a function for people.
#[derive(Debug, Default)]
pub struct Documentation {
    /// The description: a sentence or a few.
    pub about: String,
    /// Calls and their values in canonical text.
    pub examples: Vec<(&'static str, &'static str)>,
}

static BY_NAME: LazyLock<HashMap<&'static str, Documentation>> = LazyLock::new(|| {
    records(include_str!("functions.txt")).map(|record| (record.name, Documentation::of(record))).collect()
});

impl Documentation {
    fn of(record: Record) -> Self {
        let examples = record.fields.iter().filter(|(field, _)| *field == "example");
        Documentation {
            examples: examples.filter_map(|(_, example)| example.split_once(" => ")).collect(),
            about: record.about,
        }
    }
}

/// The documentation of a function, by its name as the file spells it.
pub(super) fn find(name: &str) -> &'static Documentation {
    static EMPTY: Documentation = Documentation { about: String::new(), examples: Vec::new() };
    BY_NAME.get(name).unwrap_or(&EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::all;

    #[test]
    fn only_functions_are_documented() {
        let names: Vec<&str> = all().map(|function| function.name).collect();
        assert_eq!(records(include_str!("functions.txt")).count(), names.len());
        assert!(BY_NAME.keys().all(|name| names.contains(name)));
    }
}
