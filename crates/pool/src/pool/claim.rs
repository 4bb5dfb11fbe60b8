//! Slots that change hands: claimed by a job, carved into dynamic slots, released.
//!
//! In: slot ads and jobs. Out: slot ads as their execution points would advertise them afterwards.

use crate::pool::ad_reader::AdReader;
use crate::pool::consumption::Consumption;
use crate::pool::resource;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::rank;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::value::{List, Value};

/// The attributes of a claimed slot that describe its user and job; an unclaimed slot does not have them.
const OF_CLAIM: [&str; 13] = [
    "RemoteUser",
    "RemoteOwner",
    "AccountingGroup",
    "JobId",
    "GlobalJobId",
    "JobStart",
    "ClientMachine",
    "RemoteScheddName",
    "PreemptingUser",
    "PreemptingOwner",
    "PreemptingAccountingGroup",
    "MatchedConcurrencyLimits",
    "ConcurrencyLimits",
];

/// The units in which execution points allocate resources: the defaults of `MODIFY_REQUEST_EXPR_REQUESTMEMORY` and
/// similar variables. Memory is in MiB, disk in KiB.
const UNITS: [(&str, f64); 3] = [("Cpus", 1.0), ("Memory", 128.0), ("Disk", 1024.0)];

/// A claim of a slot by a submitter for a job.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The job's ad.
    pub job: &'a ClassAd,
    /// The submitter that its usage is charged to.
    pub submitter: &'a [u8],
    /// Concurrency limits of the match; `None` without any.
    pub limits: Option<&'a str>,
}

/// Claims a slot for a job. The clock is that of the settings.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::claim::{Claim, claim, release};
/// let job = ClassAd::parse(b"[ClusterId = 7; ProcId = 0; Owner = \"ada\"]")?;
/// let mut slot = ClassAd::parse(b"[Name = \"slot1@m\"; State = \"Unclaimed\"; Rank = 3]")?;
/// claim(&mut slot, &Claim { job: &job, submitter: b"ada@x", limits: None }, &EvalOptions::default());
/// assert_eq!(slot.get("RemoteUser").unwrap().to_string(), "\"ada@x\"");
/// assert_eq!(slot.constant("CurrentRank").and_then(|rank| rank.as_number()), Some(3.0));
/// release(&mut slot, &EvalOptions::default());
/// assert!(!slot.contains("RemoteUser"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn claim(slot: &mut ClassAd, claim: &Claim<'_>, settings: &EvalOptions) {
    let Claim { job, submitter, limits } = *claim;
    let liked = rank(slot, job, settings);
    free(slot);
    let facts = AdReader::of(job, settings);
    let number = |name| facts.integer(name).unwrap_or(0);
    let id = format!("{}.{}", number("ClusterId"), number("ProcId"));
    slot.insert("JobId", id.as_str());
    if let Some(id) = facts.string("GlobalJobId") {
        slot.insert("GlobalJobId", Value::Str(id));
    }
    for name in ["RemoteUser", "RemoteOwner", "AccountingGroup"] {
        slot.insert(name, Value::text(submitter));
    }
    if let Some(limits) = limits {
        slot.insert("MatchedConcurrencyLimits", limits);
        slot.insert("ConcurrencyLimits", limits);
    }
    slot.insert("CurrentRank", liked);
    slot.insert("JobStart", settings.now);
    enter(slot, "Claimed", "Busy", settings);
}

/// Releases a slot: it becomes unclaimed and idle.
pub fn release(slot: &mut ClassAd, settings: &EvalOptions) {
    free(slot);
    slot.insert("CurrentRank", 0.0);
    enter(slot, "Unclaimed", "Idle", settings);
}

fn free(slot: &mut ClassAd) {
    for name in OF_CLAIM {
        slot.remove(name);
    }
}

fn enter(slot: &mut ClassAd, state: &str, activity: &str, settings: &EvalOptions) {
    slot.insert("State", state);
    slot.insert("Activity", activity);
    slot.insert("EnteredCurrentState", settings.now);
    slot.insert("EnteredCurrentActivity", settings.now);
}

/// Carves a dynamic slot out of a partitionable one: with the resources that the job takes by the slot's consumption
/// policy, or else those that it requests, in the units of execution points. `None` if the slot does not have enough.
///
/// `name` is the name of the new slot. The partitionable slot loses the resources of the new one.
pub fn carve(slot: &mut ClassAd, name: &str, job: &ClassAd, settings: &EvalOptions) -> Option<ClassAd> {
    let resources = resources(slot, settings);
    let amounts = amounts(slot, &resources, job, settings)?;
    let mut child = slot.clone();
    child.insert("Name", name);
    child.insert("SlotType", "Dynamic");
    child.insert("DynamicSlot", true);
    child.insert("PartitionableSlot", false);
    child.remove("NumDynamicSlots");
    for name in child.names().filter(|name| name.as_bytes().starts_with(b"Child")).collect::<Vec<_>>() {
        child.remove(name);
    }
    for (name, amount) in &amounts {
        let left = AdReader::of(slot, settings).number(*name).unwrap_or(0.0) - amount;
        slot.insert(*name, resource::amount(left));
        child.insert(*name, resource::amount(*amount));
    }
    let children = AdReader::of(slot, settings).integer("NumDynamicSlots").unwrap_or(0);
    slot.insert("NumDynamicSlots", children + 1);
    Some(child)
}

/// Returns whether a slot that is not partitionable has the resources that a job requests; otherwise its execution
/// point rejects the claim.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::claim::holds;
/// let job = ClassAd::parse(b"[RequestCpus = 2]")?;
/// let slot = |cores: u8| ClassAd::parse(format!("[Cpus = {cores}]").as_bytes());
/// assert!(holds(&slot(2)?, &job, &EvalOptions::default()) && !holds(&slot(1)?, &job, &EvalOptions::default()));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn holds(slot: &ClassAd, job: &ClassAd, settings: &EvalOptions) -> bool {
    let scope = Scope::new(job, settings).with_target(slot);
    resources(slot, settings).into_iter().all(|name| {
        let asked = Name::new([b"Request", name.as_bytes()].concat());
        let asks = scope.eval_attr(asked).ok().and_then(|value| value.as_number());
        asks.is_none_or(|asks| asks <= AdReader::of(slot, settings).number(name).unwrap_or(0.0))
    })
}

/// Returns the resources of a dynamic slot to the slot it was carved from.
pub fn give_back(slot: &mut ClassAd, child: &ClassAd, settings: &EvalOptions) {
    for name in resources(slot, settings) {
        let had = AdReader::of(child, settings).number(name).unwrap_or(0.0);
        let has = AdReader::of(slot, settings).number(name).unwrap_or(0.0);
        slot.insert(name, resource::amount(has + had));
    }
    let children = AdReader::of(slot, settings).integer("NumDynamicSlots").unwrap_or(1);
    slot.insert("NumDynamicSlots", (children - 1).max(0));
}

/// Adds attributes of the dynamic slots to the partitionable slot they were carved from: `ChildName`, `ChildState` and
/// so on.
pub fn roll_up(slot: &mut ClassAd, children: &[ClassAd], settings: &EvalOptions) {
    let told = ["Name", "State", "CurrentRank", "RetirementTimeRemaining"].map(Name::new);
    for name in told.into_iter().chain(resources(slot, settings)) {
        let values = children.iter().map(|child| AdReader::of(child, settings).value(name)).collect();
        slot.insert(Name::new([b"Child", name.as_bytes()].concat()), Value::List(List::of(values)));
    }
    slot.insert("NumDynamicSlots", children.len() as i64);
}

/// The names of the resources of a slot, as far as they are attributes of its ad.
fn resources(slot: &ClassAd, settings: &EvalOptions) -> Vec<Name> {
    let mut names = resource::resources(slot, settings);
    names.retain(|name| slot.contains(*name));
    names
}

/// The amount of each resource that a job takes from a slot; `None` if the slot does not have enough, or if its
/// consumption policy takes nothing.
fn amounts(slot: &ClassAd, resources: &[Name], job: &ClassAd, settings: &EvalOptions) -> Option<Vec<(Name, f64)>> {
    if let Some(consumption) = Consumption::of(slot, settings) {
        let draw = consumption.draw(slot, job, settings)?;
        let mut after = slot.clone();
        consumption.deduct(&mut after, &draw.amounts, settings);
        let amount = |name: &Name| {
            let has = |ad| AdReader::of(ad, settings).number(*name).unwrap_or(0.0);
            (*name, has(slot) - has(&after))
        };
        return Some(resources.iter().map(amount).collect());
    }
    let scope = Scope::new(job, settings).with_target(slot);
    let amount = |name: &Name| {
        let asked = Name::new([b"Request", name.as_bytes()].concat());
        let least = if name.as_bytes().eq_ignore_ascii_case(b"Cpus") { 1.0 } else { 0.0 };
        let asks = scope.eval_attr(asked).ok().and_then(|value| value.as_number()).unwrap_or(least).max(0.0);
        let unit = UNITS.iter().find(|(unit, _)| name.as_bytes().eq_ignore_ascii_case(unit.as_bytes()));
        let has = AdReader::of(slot, settings).number(*name).unwrap_or(0.0);
        // A request that fits gets the rest of a resource, if that is less than the next whole unit.
        let takes = unit.map_or(asks, |(_, unit)| (asks / unit).ceil() * unit).min(has.max(asks));
        (takes <= has).then_some((*name, takes))
    };
    resources.iter().map(amount).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    fn has(ad: &ClassAd, name: &str) -> f64 {
        AdReader::of(ad, &EvalOptions::default()).number(name).unwrap()
    }

    #[test]
    fn what_is_carved_out_comes_back() {
        let settings = EvalOptions::default();
        let whole =
            ad("[Name = \"slot1@m\"; PartitionableSlot = true; Cpus = 8; Memory = 1000; Disk = 5000; GPUs = 2; \
             MachineResources = \"Cpus Memory Disk GPUs\"; SlotWeight = Cpus]");
        let job = ad("[RequestCpus = 2; RequestMemory = 300; RequestDisk = 1; RequestGPUs = 1]");
        let mut slot = whole.clone();
        let child = carve(&mut slot, "slot1_1@m", &job, &settings).unwrap();
        // Memory in units of 128, disk of 1024: 300 is 3 units, 1 is one.
        let amounts = |ad: &ClassAd| ["Cpus", "Memory", "Disk", "GPUs", "SlotWeight"].map(|name| has(ad, name));
        assert_eq!(amounts(&child), [2.0, 384.0, 1024.0, 1.0, 2.0]);
        assert_eq!(amounts(&slot), [6.0, 616.0, 3976.0, 1.0, 6.0]);
        assert_eq!(has(&slot, "NumDynamicSlots"), 1.0);
        give_back(&mut slot, &child, &settings);
        assert_eq!(amounts(&slot), amounts(&whole));
        assert_eq!(has(&slot, "NumDynamicSlots"), 0.0);
    }

    #[test]
    fn a_request_that_fits_gets_the_rest_and_a_larger_one_nothing() {
        let settings = EvalOptions::default();
        let slot = ad("[PartitionableSlot = true; Cpus = 2; Memory = 300; Disk = 10]");
        let carved = |job: &str| carve(&mut slot.clone(), "slot1_1@m", &ad(job), &settings);
        assert_eq!(has(&carved("[RequestMemory = 300]").unwrap(), "Memory"), 300.0);
        assert!(carved("[RequestMemory = 301]").is_none());
        assert!(carved("[RequestCpus = 3]").is_none());
    }

    #[test]
    fn a_consumption_policy_says_what_is_taken() {
        let settings = EvalOptions::default();
        let mut slot = ad("[PartitionableSlot = true; MachineResources = \"Cpus Memory\"; Cpus = 4; Memory = 100; \
             ConsumptionCpus = 1; ConsumptionMemory = TARGET.RequestMemory * 2]");
        let child = carve(&mut slot, "slot1_1@m", &ad("[RequestCpus = 3; RequestMemory = 10]"), &settings).unwrap();
        assert_eq!((has(&child, "Cpus"), has(&child, "Memory")), (1.0, 20.0));
        assert_eq!((has(&slot, "Cpus"), has(&slot, "Memory")), (3.0, 80.0));
    }
}
