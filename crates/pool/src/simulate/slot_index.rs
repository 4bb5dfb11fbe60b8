//! Slots by name while jobs start and end: carved out of partitionable slots and freed again.
//!
//! In: the slot ads of a pool, which stay with the caller. Out: the place of each slot in them.

use hashbrown::HashMap;

use crate::pool::ad_reader::AdReader;
use crate::pool::claim::{Claim, carve, claim, give_back, release};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;

/// The places of slots in a list of ads, by name.
#[derive(Debug, Default)]
pub(super) struct SlotIndex {
    places: HashMap<Vec<u8>, usize>,
}

impl SlotIndex {
    /// The index of a list of ads; ads without a name have no entry.
    pub(super) fn new(ads: &[ClassAd], settings: &EvalOptions) -> Self {
        let named = ads.iter().enumerate().filter_map(|(at, ad)| Some((name_of(ad, settings)?, at)));
        Self { places: named.collect() }
    }

    /// The place of a slot.
    pub(super) fn get(&self, name: &[u8]) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The place of the slot that a dynamic slot was carved from, by its name: `slot1@m` for `slot1_4@m`.
    pub(super) fn parent(&self, name: &[u8]) -> Option<usize> {
        let end = memchr::memchr(b'@', name).unwrap_or(name.len());
        let number = memchr::memrchr(b'_', &name[..end])?;
        self.get(&[&name[..number], &name[end..]].concat())
    }

    /// Carves a dynamic slot with a claim out of the partitionable slot at a place, and returns its place; none if the
    /// slot does not have enough resources.
    pub(super) fn carve(
        &mut self,
        ads: &mut Vec<ClassAd>,
        at: usize,
        name: &str,
        of: &Claim<'_>,
        settings: &EvalOptions,
    ) -> Option<usize> {
        let mut child = carve(&mut ads[at], name, of.job, settings)?;
        claim(&mut child, of, settings);
        self.places.insert(name.as_bytes().to_vec(), ads.len());
        ads.push(child);
        Some(ads.len() - 1)
    }

    /// Ends the claim on a slot. A dynamic slot goes back into its parent and leaves an empty ad, whose place is returned.
    pub(super) fn free(&mut self, ads: &mut [ClassAd], name: &[u8], settings: &EvalOptions) -> Option<usize> {
        let at = self.get(name)?;
        let Some(parent) = self.parent(name).filter(|_| is_dynamic(&ads[at], settings)) else {
            release(&mut ads[at], settings);
            return None;
        };
        let child = std::mem::take(&mut ads[at]);
        give_back(&mut ads[parent], &child, settings);
        self.places.remove(name);
        Some(at)
    }

    /// Removes the ad at a place; the last ad takes its place.
    pub(super) fn swap_remove(&mut self, ads: &mut Vec<ClassAd>, at: usize, settings: &EvalOptions) {
        ads.swap_remove(at);
        if let Some(moved) = ads.get(at).and_then(|moved| name_of(moved, settings)) {
            self.places.insert(moved, at);
        }
    }

    /// Removes empty ads; the others keep their order.
    pub(super) fn compact(&mut self, ads: &mut Vec<ClassAd>, settings: &EvalOptions) {
        let before = ads.len();
        ads.retain(|ad| !ad.is_empty());
        if ads.len() != before {
            *self = Self::new(ads, settings);
        }
    }
}

/// The name of a slot.
pub(super) fn name_of(ad: &ClassAd, settings: &EvalOptions) -> Option<Vec<u8>> {
    AdReader::of(ad, settings).string("Name").map(|name| name.to_vec())
}

/// Returns whether a slot was carved from a partitionable one.
pub(super) fn is_dynamic(ad: &ClassAd, settings: &EvalOptions) -> bool {
    AdReader::of(ad, settings).truth("DynamicSlot") == Some(true)
}

/// Returns whether jobs carve dynamic slots from a slot.
pub(super) fn is_partitionable(ad: &ClassAd, settings: &EvalOptions) -> bool {
    AdReader::of(ad, settings).truth("PartitionableSlot") == Some(true)
}

/// The name of a dynamic slot: `slot1_4@machine`.
pub(super) fn dynamic_name(parent: &str, number: u64) -> String {
    let end = parent.find('@').unwrap_or(parent.len());
    let (slot, machine) = parent.split_at(end);
    format!("{slot}_{number}{machine}")
}
