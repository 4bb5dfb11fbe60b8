//! Consumption policies: partitionable slots whose ads define the resources that a job takes.
//!
//! In: such a slot and a request. Out: the resources that the match would take, and its cost. Formula source:
//! `docs/reference/negotiation.md` 10.9.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pool::ad_reader::AdReader;
use crate::pool::resource::{self, listed};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;

static PARTITIONABLE: LazyLock<Name> = LazyLock::new(|| Name::new("PartitionableSlot"));

/// The policy of a slot: the amount of each of its assets that a job takes.
#[derive(Debug, Clone)]
pub struct Consumption {
    assets: Vec<Asset>,
}

/// The attributes that belong to an asset such as `Cpus`.
#[derive(Debug, Clone, Copy)]
struct Asset {
    /// The attribute of the amount that the slot has: `Cpus`.
    has: Name,
    /// The slot attribute of the amount that a job takes: `ConsumptionCpus`.
    takes: Name,
    /// The job attribute of the amount that it requests: `RequestCpus`.
    asks: Name,
    /// The job attribute that overrides the request: `_condor_RequestCpus`.
    overrides: Name,
}

/// The resources that a match would take.
#[derive(Debug, Clone)]
pub struct Draw {
    /// The amount of each asset, in the order of the policy.
    pub amounts: Vec<f64>,
    /// The request, with the amounts that it would take as its requests.
    pub request: ClassAd,
}

/// An asset of which a request would take more than a slot has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortage {
    /// The slot attribute of the amount that it would take.
    pub takes: Name,
    /// That amount.
    pub amount: f64,
    /// The attribute of the amount that the slot has.
    pub has: Name,
    /// That amount.
    pub left: f64,
}

impl Consumption {
    /// The policy of a slot ad; `None` unless the slot is partitionable, lists its resources and has a `Consumption…`
    /// attribute for each.
    pub fn of(ad: &ClassAd, settings: &EvalOptions) -> Option<Self> {
        if AdReader::of(ad, settings).truth(*PARTITIONABLE) != Some(true) {
            return None;
        }
        let assets: Vec<Asset> = listed(ad, settings)?.iter().map(|name| Asset::named(name.as_bytes())).collect();
        let complete = !assets.is_empty() && assets.iter().all(|asset| ad.contains(asset.takes));
        complete.then_some(Self { assets })
    }

    /// The amount of each asset that a request would take from a slot, in the order of the policy, be it there or not;
    /// negative ones as they are, and -999 for what is not a number, as in `condor_negotiator`.
    pub fn amounts(&self, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> Vec<f64> {
        let mut asking = Cow::Borrowed(request);
        for asset in &self.assets {
            if let Some(amount) = request.get(asset.overrides) {
                asking.to_mut().insert_expr(asset.asks, &amount);
            } else if !request.contains(asset.asks) {
                asking.to_mut().insert(asset.asks, 0i64);
            }
        }
        let scope = Scope::new(slot, settings).with_target(&asking);
        let amount = |asset: &Asset| scope.eval_attr(asset.takes).ok().and_then(|value| value.as_number());
        self.assets.iter().map(|asset| amount(asset).unwrap_or(-999.0)).collect()
    }

    /// The resources that a request would take from a slot; `None` if the slot does not have enough, if nothing would
    /// be taken, or if an amount is negative or not a number.
    pub fn draw(&self, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> Option<Draw> {
        let amounts = self.amounts(slot, request, settings);
        let has = |asset: &Asset| AdReader::of(slot, settings).number(asset.has).unwrap_or(0.0);
        let enough = self.assets.iter().zip(&amounts).all(|(asset, amount)| *amount >= 0.0 && has(asset) >= *amount);
        if !enough || amounts.iter().all(|amount| *amount == 0.0) {
            return None;
        }
        let mut request = request.clone();
        for (asset, amount) in self.assets.iter().zip(&amounts) {
            if request.contains(asset.asks) {
                request.insert(asset.asks, resource::amount(*amount));
            }
        }
        Some(Draw { amounts, request })
    }

    /// The first asset of which a request would take more than a slot has; `None` if there is enough of each.
    pub fn shortage(&self, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> Option<Shortage> {
        let amounts = self.amounts(slot, request, settings);
        let has = |asset: &Asset| AdReader::of(slot, settings).number(asset.has).unwrap_or(0.0);
        let short = self.assets.iter().zip(&amounts).find(|(asset, amount)| **amount > has(asset));
        short.map(|(asset, amount)| Shortage { takes: asset.takes, amount: *amount, has: asset.has, left: has(asset) })
    }

    /// The cost of what is taken: the slot weight that goes with it.
    pub fn cost(&self, slot: &ClassAd, amounts: &[f64], settings: &EvalOptions) -> f64 {
        let weight = |ad: &ClassAd| AdReader::of(ad, settings).number("SlotWeight").unwrap_or(0.0);
        let mut after = slot.clone();
        self.deduct(&mut after, amounts, settings);
        weight(slot) - weight(&after)
    }

    /// Subtracts what is taken from the resources of the slot.
    pub fn deduct(&self, slot: &mut ClassAd, amounts: &[f64], settings: &EvalOptions) {
        for (asset, amount) in self.assets.iter().zip(amounts) {
            let left = AdReader::of(slot, settings).number(asset.has).unwrap_or(0.0) - amount;
            slot.insert(asset.has, resource::amount(left));
        }
    }
}

impl Asset {
    fn named(name: &[u8]) -> Self {
        let with = |prefix: &[u8]| Name::new([prefix, name].concat());
        Self {
            has: with(b""),
            takes: with(b"Consumption"),
            asks: with(b"Request"),
            overrides: with(b"_condor_Request"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: &[u8] =
        b"[PartitionableSlot = true; MachineResources = \"Cpus Memory Swap\"; Cpus = 8; Memory = 1000; \
        SlotWeight = Cpus; ConsumptionCpus = TARGET.RequestCpus; ConsumptionMemory = TARGET.RequestMemory * 2]";

    fn ad(text: &[u8]) -> ClassAd {
        ClassAd::parse(text).unwrap()
    }

    fn draw(request: &[u8]) -> Option<(Vec<f64>, f64, String)> {
        let (slot, settings) = (ad(SLOT), EvalOptions::default());
        let policy = Consumption::of(&slot, &settings).unwrap();
        let draw = policy.draw(&slot, &ad(request), &settings)?;
        let cost = policy.cost(&slot, &draw.amounts, &settings);
        Some((draw.amounts.clone(), cost, draw.request.to_string()))
    }

    #[test]
    fn a_policy_needs_every_asset_and_a_partitionable_slot() {
        let settings = EvalOptions::default();
        let mut slot = ad(SLOT);
        assert!(Consumption::of(&slot, &settings).is_some());
        slot.remove("ConsumptionMemory");
        assert!(Consumption::of(&slot, &settings).is_none());
        let mut slot = ad(SLOT);
        slot.insert("PartitionableSlot", false);
        assert!(Consumption::of(&slot, &settings).is_none());
    }

    #[test]
    fn a_match_takes_what_the_policy_says_and_costs_the_weight() {
        let (amounts, cost, request) = draw(b"[RequestCpus = 2; RequestMemory = 100]").unwrap();
        assert_eq!((amounts, cost), (vec![2.0, 200.0], 2.0));
        assert_eq!(request, "[ RequestCpus = 2; RequestMemory = 200 ]");
    }

    #[test]
    fn what_is_not_asked_for_is_nothing() {
        let (amounts, cost, request) = draw(b"[RequestMemory = 100]").unwrap();
        assert_eq!((amounts, cost), (vec![0.0, 200.0], 0.0));
        assert_eq!(request, "[ RequestMemory = 200 ]");
    }

    #[test]
    fn an_override_counts_instead_of_the_request() {
        assert_eq!(draw(b"[RequestCpus = 2; _condor_RequestCpus = 3]").unwrap().0, [3.0, 0.0]);
    }

    #[test]
    fn too_much_nothing_and_nonsense_are_not_sufficient() {
        assert!(draw(b"[RequestCpus = 9]").is_none());
        assert!(draw(b"[RequestCpus = 0]").is_none());
        assert!(draw(b"[RequestCpus = -1; RequestMemory = 5]").is_none());
        assert!(draw(b"[RequestCpus = \"x\"; RequestMemory = 5]").is_none());
    }

    #[test]
    fn deducting_keeps_integers() {
        let (mut slot, settings) = (ad(SLOT), EvalOptions::default());
        let policy = Consumption::of(&slot, &settings).unwrap();
        let draw = policy.draw(&slot, &ad(b"[RequestCpus = 2; RequestMemory = 0.25]"), &settings).unwrap();
        policy.deduct(&mut slot, &draw.amounts, &settings);
        assert_eq!(slot.get("Cpus").unwrap().to_string(), "6");
        assert_eq!(AdReader::of(&slot, &settings).number("Memory"), Some(999.5));
    }
}
