//! The nearest of many names, with a limit of work: a file can have as many names that are not defined as it has names.

use std::cell::Cell;
use std::collections::BTreeMap;

use classmate::internal::builtin::near;

/// Units of work of one file: a name that has other letters takes one, any other name [`COMPARED`].
const MAX_WORK: usize = 1 << 24;
const COMPARED: usize = 64;

/// Names that others may be slips of.
pub(super) struct NearNames<'n> {
    /// The names by their lengths, in order, each with its letters.
    names: BTreeMap<usize, Vec<(u32, &'n str)>>,
    work: Cell<usize>,
}

impl<'n> NearNames<'n> {
    pub(super) fn of(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut by_length: BTreeMap<usize, Vec<(u32, &str)>> = BTreeMap::new();
        for name in names {
            by_length.entry(name.len()).or_default().push((letters(name), name));
        }
        NearNames { names: by_length, work: Cell::new(0) }
    }

    /// The one of the names that satisfy a condition which a text may have meant, as [`near::closest_within`] finds it;
    /// none once the limit of work is reached.
    pub(super) fn closest(&self, allowed: usize, name: &str, is: impl Fn(&str) -> bool) -> Option<&'n str> {
        let own = letters(name);
        let lengths = name.len().saturating_sub(allowed)..=name.len() + allowed;
        let mut best: Option<(usize, &str)> = None;
        for (other, known) in self.names.range(lengths).flat_map(|(_, names)| names) {
            if self.work.get() > MAX_WORK {
                return None;
            }
            // Each edit brings one letter at most, and takes one.
            let edits = (own & !other).count_ones().max((other & !own).count_ones());
            let is_far = edits as usize > allowed;
            self.work.set(self.work.get() + if is_far { 1 } else { COMPARED });
            if is_far {
                continue;
            }
            let Some(distance) = near::distance(name.as_bytes(), known.as_bytes(), allowed) else { continue };
            if best.is_none_or(|best| (distance, *known) < best) && is(known) {
                best = Some((distance, known));
            }
        }
        best.map(|(_, known)| known)
    }
}

/// The letters of a name, without regard to case.
fn letters(name: &str) -> u32 {
    name.bytes().fold(0, |letters, byte| letters | 1 << ((byte | 0x20) & 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_work_has_a_limit() {
        let known = NearNames::of(["memory", "memoir", "disk"]);
        assert_eq!(known.closest(2, "memroy", |_| true), Some("memory"));
        assert_eq!(known.closest(2, "memroy", |name| name != "memory"), None);
        assert_eq!(known.closest(1, "cpus", |_| true), None);
        assert_eq!(known.closest(2, "memroy", |_| true), near::closest_within(2, b"memroy", ["memory", "memoir"]));
        let known = NearNames::of(vec!["memory"; MAX_WORK / COMPARED + 2]);
        assert_eq!(known.closest(2, "memroy", |_| true), None);
    }
}
