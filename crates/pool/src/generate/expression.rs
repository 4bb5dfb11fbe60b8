//! Expressions of synthetic pools, from the file `data/expressions.txt`.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::random::Random;
use classmate::internal::records::{Record, records};

static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/expressions.txt")).collect());

/// The expressions for each purpose, with their weights.
static BY_PURPOSE: LazyLock<HashMap<&'static str, Vec<(u32, &'static Record)>>> = LazyLock::new(|| {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for record in RECORDS.iter() {
        let weight = record.get("weight").and_then(|weight| weight.parse().ok()).unwrap_or(1);
        all.entry(record.name).or_default().push((weight, record));
    }
    all
});

/// One of the expressions for a purpose, and the attribute that it is in.
pub(super) fn attribute(purpose: &str, random: &mut Random) -> (&'static str, &'static str) {
    let picked = random.pick(BY_PURPOSE.get(purpose).map_or(&[], Vec::as_slice));
    picked.map_or(("", ""), |record| (record.get("name").unwrap_or_default(), &record.about))
}

/// One of the expressions for a purpose.
pub(super) fn picked(purpose: &str, random: &mut Random) -> &'static str {
    attribute(purpose, random).1
}

/// The only expression for a purpose.
pub(super) fn only(purpose: &str) -> &'static str {
    RECORDS.iter().find(|record| record.name == purpose).map_or("", |record| &record.about)
}
