//! Slots by kind: cores, memory, GPUs and architecture.
//!
//! In: the ads of slots, before a cycle. Out: how many of each kind there are, and how many of these a cycle matched.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use serde::Serialize;

use classmate::internal::program::column::{Column, Entry};
use classmate::internal::program::partition::Partition;
use classmate::internal::threads;
use classmate::{ClassAd, EvalOptions, Name, Text};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::{Outcome, Snapshot};

/// The counts of slots of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SlotKind {
    /// Cores, memory, GPUs and architecture.
    pub name: String,
    /// Number of slots.
    pub slots: usize,
    /// Number of slots that were in use when the cycle began.
    pub in_use: usize,
    /// Number of slots that were matched.
    pub matched: usize,
}

/// Numeric attributes that define a kind.
const AMOUNT_ATTRIBUTES: [&str; 3] = ["Cpus", "Memory", "GPUs"];
/// String attributes that define a kind.
const STRING_ATTRIBUTES: [&str; 2] = ["Arch", "OpSys"];

/// The kinds of some slots.
#[derive(Debug)]
pub struct SlotKinds {
    /// For each slot that has a name: the name, the number of its kind, and whether it is in use.
    slots: Vec<(Text, u32, bool)>,
    /// The kinds; two may have the same name.
    names: Vec<String>,
}

impl SlotKinds {
    /// The kinds of slots with these ads.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate::EvalOptions;
    /// use classmate_pool::Outcome;
    /// use classmate_advice::internal::whatif::kind::SlotKinds;
    /// let slot = ClassAd::parse(b"[Name = \"s\"; Cpus = 4; Arch = \"X86_64\"]")?;
    /// let matched = SlotKinds::of(&[slot], &EvalOptions::default()).matched(&Outcome::default());
    /// assert_eq!(matched.into_iter().next(), Some(("Cpus 4, X86_64".to_owned(), 0)));
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn of(slots: &[ClassAd], settings: &EvalOptions) -> Self {
        let attributes: Vec<Name> =
            AMOUNT_ATTRIBUTES.iter().chain(&STRING_ATTRIBUTES).map(|name| Name::new(*name)).collect();
        let mut kinds = Partition::whole(slots.len());
        for column in Column::of(&attributes, slots.len(), &|at| &slots[at]).into_iter().flatten() {
            // The same expression need not have the same value in two slots.
            let apart = column.entries.iter().any(|entry| matches!(entry, Entry::Tree(_)));
            kinds.split(|at| if apart { at as u32 } else { column.ids[at] });
        }
        let names = kinds.firsts().into_iter().map(|at| kind(AdReader::of(&slots[at as usize], settings))).collect();
        let slot = |at: usize| {
            let facts = AdReader::of(&slots[at], settings);
            let is_in_use = facts.string("State").is_some_and(|state| state.eq_ignore_ascii_case(b"Claimed"));
            Some((facts.string("Name")?, kinds.of[at], is_in_use))
        };
        SlotKinds { slots: threads::map_range(slots.len(), slot).into_iter().flatten().collect(), names }
    }

    /// The kinds of slots with names, by the name of the kind, with their slots that a cycle matched.
    fn counts(&self, outcome: &Outcome) -> BTreeMap<&str, SlotKind> {
        let got: HashSet<&str> = outcome.matches.iter().map(|made| made.slot.as_str()).collect();
        let is_matched = |(name, ..): &(Text, u32, bool)| got.contains(String::from_utf8_lossy(name).as_ref());
        let matched: Vec<bool> = threads::map_all(&self.slots, is_matched);
        let mut counts = vec![[0; 3]; self.names.len()];
        for ((_, number, is_in_use), is_matched) in self.slots.iter().zip(matched) {
            let [slots, in_use, matched] = &mut counts[*number as usize];
            *slots += 1;
            *in_use += usize::from(*is_in_use);
            *matched += usize::from(is_matched);
        }
        let mut kinds: BTreeMap<&str, SlotKind> = BTreeMap::new();
        for (name, [slots, in_use, matched]) in self.names.iter().zip(counts).filter(|(_, [slots, ..])| *slots > 0) {
            let kind = kinds.entry(name).or_insert_with(|| SlotKind { name: name.clone(), ..SlotKind::default() });
            kind.slots += slots;
            kind.in_use += in_use;
            kind.matched += matched;
        }
        kinds
    }

    /// Number of matched slots of each kind, including kinds without a match.
    pub fn matched(&self, outcome: &Outcome) -> BTreeMap<String, usize> {
        self.counts(outcome).into_values().map(|kind| (kind.name, kind.matched)).collect()
    }
}

/// The slots of a pool by kind, the most frequent kind first.
pub fn kinds(snapshot: &Snapshot, outcome: &Outcome) -> Vec<SlotKind> {
    let all = SlotKinds::of(&snapshot.slots, &snapshot.settings());
    let mut kinds: Vec<SlotKind> = all.counts(outcome).into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.slots));
    kinds
}

/// The kind of a slot: cores, memory, GPUs and architecture, as far as they are defined.
fn kind(facts: AdReader<'_>) -> String {
    let mut parts = Vec::new();
    for name in AMOUNT_ATTRIBUTES {
        if let Some(count) = facts.integer(name).filter(|count| name != "GPUs" || *count > 0) {
            parts.push(format!("{name} {count}"));
        }
    }
    for name in STRING_ATTRIBUTES {
        if let Some(text) = facts.string(name) {
            parts.push(String::from_utf8_lossy(&text).into_owned());
        }
    }
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_pool::internal::negotiate::negotiate;

    fn slot(text: &str) -> ClassAd {
        ClassAd::parse(format!("[State = \"Unclaimed\"; Requirements = true; {text}]").as_bytes()).unwrap()
    }

    #[test]
    fn slots_of_one_kind_are_counted_together_whether_they_say_so_or_work_it_out() {
        // Of the same expression each slot makes its own; a slot without a name is none.
        let texts = [
            "Name = \"a\"; Cpus = 4",
            "Name = \"b\"; Cpus = Half * 2; Half = 2",
            "Name = \"c\"; Cpus = Half * 2; Half = 4",
            "Name = \"d\"; Cpus = 4; GPUs = 0",
            "Cpus = 4",
        ];
        let job = b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = TARGET.Name == \"b\"]";
        let snapshot = Snapshot {
            slots: texts.iter().map(|text| slot(text)).collect(),
            jobs: vec![ClassAd::parse(job).unwrap()],
            ..Snapshot::default()
        };
        let outcome = negotiate(&snapshot).unwrap();
        let found: Vec<(String, usize, usize)> =
            kinds(&snapshot, &outcome).into_iter().map(|kind| (kind.name, kind.slots, kind.matched)).collect();
        assert_eq!(found, [("Cpus 4".to_owned(), 3, 1), ("Cpus 8".to_owned(), 1, 0)]);
        let matched = SlotKinds::of(&snapshot.slots, &snapshot.settings()).matched(&outcome);
        assert_eq!(matched.into_iter().collect::<Vec<_>>(), [("Cpus 4".to_owned(), 1), ("Cpus 8".to_owned(), 0)]);
    }
}
