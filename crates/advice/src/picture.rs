//! The state of a pool after a negotiation cycle: what is in use and what is wasted, by machine, group and submitter.
//!
//! In: a snapshot, the outcome of a cycle over it, and the causes of its idle jobs. Out: numbers for a page or a program.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::explain::causes::Reason;
use crate::explain::cycle::reasons::{CauseSurvey, CommonCause};
use crate::explain::cycle::submitter::trace;
use classmate::internal::threads;
use classmate_config::ConfigError;
use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::{Slot, State};
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::simulate::replay::slots_after;
use classmate_pool::{GroupSummary, Outcome, PreparedPool, Snapshot};

/// The state of a pool after a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolPicture {
    /// The clock of the cycle, epoch seconds.
    pub now: i64,
    /// Weighted slots of the pool.
    pub pool_weight: f64,
    /// Idle jobs before the cycle.
    pub idle: usize,
    /// Those that got a slot.
    pub matched: usize,
    /// The resources of all machines.
    #[serde(flatten)]
    pub resources: Resources,
    /// Idle jobs without a slot, by reason; those of the most jobs first.
    pub reasons: Vec<ReasonCount>,
    /// Machines: those of the owner with the most cores first, by state and name.
    pub machines: Vec<Machine>,
    /// Machines by owner and state, in the same order.
    pub owners: Vec<OwnerUsage>,
    /// Groups, each followed by those below it.
    pub groups: Vec<GroupUsage>,
    /// Submitters, in the order of negotiation.
    pub submitters: Vec<SubmitterUsage>,
}

/// The amounts of three resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Resources {
    /// Cores.
    pub cores: Amounts,
    /// Memory, MiB.
    pub memory: Amounts,
    /// GPUs.
    pub gpus: Amounts,
}

/// The amounts of a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Amounts {
    /// All there is.
    pub total: f64,
    /// In use before the cycle.
    pub before: f64,
    /// In use after it.
    pub used: f64,
    /// Free after it, but beside so little of another resource that no waiting job fits.
    pub wasted: f64,
}

/// The names of the resources and the least request of a job that does not state any.
const RESOURCES: [(&str, &str, f64); 3] =
    [("Cpus", "RequestCpus", 1.0), ("Memory", "RequestMemory", 0.0), ("GPUs", "RequestGPUs", 0.0)];

impl Resources {
    fn each(&mut self) -> [&mut Amounts; 3] {
        [&mut self.cores, &mut self.memory, &mut self.gpus]
    }

    fn add(&mut self, other: &Self) {
        let other = [other.cores, other.memory, other.gpus];
        for (own, other) in self.each().into_iter().zip(other) {
            own.total += other.total;
            own.before += other.before;
            own.used += other.used;
            own.wasted += other.wasted;
        }
    }

    /// Finds what is wasted, given the least requests of waiting jobs.
    fn waste(&mut self, least: Option<[f64; 3]>) {
        let Some([cores, memory, _]) = least else { return };
        let free = |amounts: Amounts| (amounts.total - amounts.used).max(0.0);
        let (no_cores, no_memory) = (free(self.cores) < cores, free(self.memory) < memory);
        for (amounts, is_wasted) in self.each().into_iter().zip([no_memory, no_cores, no_cores || no_memory]) {
            amounts.wasted = if is_wasted { free(*amounts) } else { 0.0 };
        }
    }
}

/// A machine after the cycle.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Machine {
    /// `Machine`, or the part of its slots' names after `@`.
    pub name: String,
    /// The group with most of its cores, or the submitter in a pool without groups; empty if none is in use.
    pub owner: String,
    /// State of the machine.
    pub state: MachineState,
    /// Its resources.
    #[serde(flatten)]
    pub resources: Resources,
}

/// State of a machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineState {
    /// No core is free.
    Full,
    /// Some cores are in use.
    Partly,
    /// None is in use.
    #[default]
    Unclaimed,
    /// None is in use or offered: used by its owner, drained, running backfill.
    Unavailable,
}

impl MachineState {
    /// The description for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partly => "partly in use",
            Self::Unclaimed => "unclaimed",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The machines of an owner in a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnerUsage {
    /// The owner of the machines.
    pub owner: String,
    /// Their state.
    pub state: MachineState,
    /// Their number.
    pub machines: usize,
    /// Their resources.
    #[serde(flatten)]
    pub resources: Resources,
}

/// A group after the cycle, in weighted slots.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupUsage {
    /// Its name.
    pub name: String,
    /// Number of groups above it.
    pub depth: usize,
    /// Its quota.
    pub quota: f64,
    /// Its allocation.
    pub allocated: f64,
    /// In use.
    pub used: f64,
    /// In use as the negotiator counts it during the cycle: a match takes the weight of the whole partitionable slot.
    pub counted: f64,
    /// Requested, including what is in use.
    pub requested: f64,
    /// In use beyond the quota.
    pub borrowed: f64,
    /// Part of the quota that is neither allocated to it nor in use: others may use it.
    pub lent: f64,
    /// Requested beyond what is in use.
    pub unmet: f64,
    /// The group and those below it.
    pub subtree: SubtreeUsage,
}

/// A group and those below it after the cycle, in weighted slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SubtreeUsage {
    /// Quota.
    pub quota: f64,
    /// The sum of the allocations.
    pub allocated: f64,
    /// In use.
    pub used: f64,
    /// Requested, including what is in use.
    pub requested: f64,
}

/// A submitter after the cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmitterUsage {
    /// Its numbers in the cycle.
    #[serde(flatten)]
    pub summary: SubmitterSummary,
    /// Its group.
    pub group: Option<String>,
    /// Fraction of the pool to which it was entitled.
    pub entitled: Option<f64>,
    /// Weight of the slots it uses after the cycle.
    pub used: f64,
    /// That as a fraction of the pool.
    pub pool_share: f64,
    /// The derivation of its share, line by line.
    pub steps: Vec<String>,
    /// The causes for which its idle jobs got no slot.
    pub causes: Vec<CommonCause>,
}

/// Idle jobs with one kind of reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReasonCount {
    /// The kind of reason.
    pub reason: Reason,
    /// Number of jobs.
    pub jobs: usize,
    /// Its causes.
    pub causes: Vec<CommonCause>,
}

/// The slots of a pool at a moment, as far as a picture shows them.
struct SlotUse {
    machine: String,
    amounts: [f64; 3],
    weight: f64,
    state: State,
    is_in_use: bool,
    charged: String,
}

/// Describes the pool after a cycle over a snapshot.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn picture(snapshot: &Snapshot, outcome: &Outcome, survey: &CauseSurvey) -> Result<PoolPicture, ConfigError> {
    let prepared = PreparedPool::for_explanation(snapshot)?;
    let settings = snapshot.settings();
    let weighing = &prepared.rules().weighing;
    let uses = |ads: &[classmate::ClassAd]| -> Vec<SlotUse> {
        let read = |ad: &classmate::ClassAd| {
            let slot = Slot::new(ad.clone(), weighing, &settings)?;
            let facts = AdReader::of(ad, &settings);
            let name = slot.name.to_string();
            let machine = facts.string("Machine").map(|machine| machine.to_string());
            let at = || name.split_once('@').map_or(&*name, |(_, machine)| machine).to_owned();
            Some(SlotUse {
                machine: machine.unwrap_or_else(at),
                amounts: RESOURCES.map(|(name, ..)| facts.number(name).unwrap_or(0.0).max(0.0)),
                weight: slot.weight,
                state: slot.state,
                is_in_use: slot.is_in_use(),
                charged: slot.charged.as_ref().map(ToString::to_string).unwrap_or_default(),
            })
        };
        threads::map_all(ads, read).into_iter().flatten().collect()
    };
    let (before, after) = (uses(&snapshot.slots), uses(&slots_after(snapshot, outcome)?));
    let groups: HashSet<&str> = outcome.groups.iter().map(|group| group.name.as_str()).collect();
    let machines = machines(&before, &after, least_requests(snapshot, outcome), |charged| owner(charged, &groups));
    let mut resources = Resources::default();
    let mut owners: Vec<OwnerUsage> = Vec::new();
    for machine in &machines {
        resources.add(&machine.resources);
        let (owner, state) = (&machine.owner, machine.state);
        if owners.last().is_none_or(|one| (&one.owner, one.state) != (owner, state)) {
            owners.push(OwnerUsage { owner: owner.clone(), state, machines: 0, resources: Resources::default() });
        }
        if let Some(own) = owners.last_mut() {
            own.machines += 1;
            own.resources.add(&machine.resources);
        }
    }
    let mut weights: HashMap<&str, f64> = HashMap::new();
    for slot in after.iter().filter(|slot| slot.is_in_use) {
        *weights.entry(&slot.charged).or_default() += slot.weight;
    }
    let mut of_groups: HashMap<String, f64> = HashMap::new();
    for (charged, weight) in &weights {
        *of_groups.entry(owner(charged, &groups)).or_default() += weight;
    }
    Ok(PoolPicture {
        now: snapshot.now,
        pool_weight: outcome.statistics.pool_weight,
        idle: survey.idle,
        matched: survey.matched,
        resources,
        reasons: reasons(survey),
        owners,
        groups: groups_in_order(&outcome.groups, &of_groups),
        submitters: submitters(outcome, &prepared, &weights, survey),
        machines,
    })
}

/// The group of a charged name, or the name in a pool without groups.
fn owner(charged: &str, groups: &HashSet<&str>) -> String {
    if charged.is_empty() || groups.is_empty() {
        return charged.to_owned();
    }
    let mut name = charged.split('@').next().unwrap_or_default();
    while let Some((above, _)) = name.rsplit_once('.') {
        if let Some(known) = groups.iter().find(|known| known.eq_ignore_ascii_case(above)) {
            return (*known).to_owned();
        }
        name = above;
    }
    "<none>".to_owned()
}

/// The least requests of the jobs that still wait; none if no job does.
fn least_requests(snapshot: &Snapshot, outcome: &Outcome) -> Option<[f64; 3]> {
    let settings = snapshot.settings();
    let matched: HashSet<_> = outcome.matches.iter().map(|made| (made.schedd.as_deref(), made.job)).collect();
    let mut least: Option<[f64; 3]> = None;
    for ad in &snapshot.jobs {
        let facts = AdReader::of(ad, &settings);
        let job = Job::new(ad, None, &settings);
        let is_matched = job.is_some_and(|job| matched.contains(&(job.schedd.as_deref(), job.id)));
        if facts.integer("JobStatus") != Some(1) || is_matched {
            continue;
        }
        let asks = RESOURCES.map(|(_, request, least)| facts.number(request).unwrap_or(least));
        let known = least.get_or_insert(asks);
        for (known, asks) in known.iter_mut().zip(asks) {
            *known = known.min(asks);
        }
    }
    least
}

fn machines(
    before: &[SlotUse],
    after: &[SlotUse],
    least: Option<[f64; 3]>,
    owner: impl Fn(&str) -> String,
) -> Vec<Machine> {
    let mut found: BTreeMap<&str, (Machine, HashMap<&str, f64>, bool)> = BTreeMap::new();
    for slot in before.iter().filter(|slot| slot.is_in_use) {
        let (machine, ..) = found.entry(&slot.machine).or_default();
        machine.resources.each().into_iter().zip(slot.amounts).for_each(|(own, amount)| own.before += amount);
    }
    for slot in after {
        let (machine, owners, available) = found.entry(&slot.machine).or_default();
        machine.name.clone_from(&slot.machine);
        *available |= slot.is_in_use || slot.state != State::Other;
        for (own, amount) in machine.resources.each().into_iter().zip(slot.amounts) {
            own.total += amount;
            own.used += if slot.is_in_use { amount } else { 0.0 };
        }
        if slot.is_in_use {
            *owners.entry(&slot.charged).or_default() += slot.amounts[0];
        }
    }
    let machine = |(mut machine, charged, available): (Machine, HashMap<&str, f64>, bool)| {
        let mut owners: BTreeMap<String, f64> = BTreeMap::new();
        for (name, cores) in charged {
            *owners.entry(owner(name)).or_default() += cores;
        }
        let cores = machine.resources.cores;
        machine.state = match owners.is_empty() {
            false if cores.used >= cores.total => MachineState::Full,
            false => MachineState::Partly,
            true if available => MachineState::Unclaimed,
            true => MachineState::Unavailable,
        };
        // The first by name of those with the most cores.
        let most = owners.into_iter().rev().max_by(|(_, one), (_, other)| one.total_cmp(other));
        machine.owner = most.map(|(name, _)| name).unwrap_or_default();
        if machine.state != MachineState::Unavailable {
            machine.resources.waste(least);
        }
        machine
    };
    let mut machines: Vec<Machine> = found.into_values().map(machine).collect();
    // The owner of the most cores first, machines in use by none last.
    let mut cores: HashMap<String, f64> = HashMap::new();
    for machine in &machines {
        *cores.entry(machine.owner.clone()).or_default() += machine.resources.cores.used;
    }
    machines.sort_by(|one, other| {
        let rank = |machine: &Machine| cores[&machine.owner];
        let by_owner = (one.owner.is_empty().cmp(&other.owner.is_empty())).then(rank(other).total_cmp(&rank(one)));
        by_owner.then_with(|| (&one.owner, one.state, &one.name).cmp(&(&other.owner, other.state, &other.name)))
    });
    machines
}

/// The groups, each followed by those below it, given what each has in use.
fn groups_in_order(groups: &[GroupSummary], in_use: &HashMap<String, f64>) -> Vec<GroupUsage> {
    let mut below: BTreeMap<Option<&str>, Vec<&GroupSummary>> = BTreeMap::new();
    for group in groups {
        below.entry(group.parent.as_deref()).or_default().push(group);
    }
    let mut found: Vec<GroupUsage> = Vec::with_capacity(groups.len());
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(groups.len());
    let roots = below.remove(&None).unwrap_or_default();
    let mut waiting: Vec<(Option<usize>, &GroupSummary)> = roots.into_iter().rev().map(|group| (None, group)).collect();
    while let Some((parent, group)) = waiting.pop() {
        let (quota, allocated, requested) = (group.quota, group.granted(), group.demand);
        let used = in_use.get(&group.name).copied().unwrap_or(0.0);
        let positive = |amount: f64| amount.max(0.0);
        let at = found.len();
        parents.push(parent);
        found.push(GroupUsage {
            name: group.name.clone(),
            depth: parent.map_or(0, |parent| found[parent].depth + 1),
            quota,
            allocated,
            used,
            counted: group.usage,
            requested,
            borrowed: positive(used - quota),
            lent: positive(quota - allocated.max(used)),
            unmet: positive(requested - used),
            subtree: SubtreeUsage { quota: group.subtree_quota, allocated, used, requested },
        });
        let children = below.remove(&Some(group.name.as_str())).unwrap_or_default();
        waiting.extend(children.into_iter().rev().map(|group| (Some(at), group)));
    }
    // Those below come after the group: from the end, each adds its sums to the one above it.
    for at in (0..found.len()).rev() {
        let own = found[at].subtree;
        if let Some(parent) = parents[at] {
            let above = &mut found[parent].subtree;
            above.allocated += own.allocated;
            above.used += own.used;
            above.requested += own.requested;
        }
    }
    found
}

fn submitters(
    outcome: &Outcome,
    prepared: &PreparedPool<'_>,
    weights: &HashMap<&str, f64>,
    survey: &CauseSurvey,
) -> Vec<SubmitterUsage> {
    let mut groups: HashMap<&str, Option<&str>> = HashMap::new();
    for visit in &outcome.negotiations {
        groups.entry(&visit.submitter).or_insert(visit.group.as_deref());
    }
    let granted: HashMap<&str, f64> =
        outcome.groups.iter().map(|group| (group.name.as_str(), group.granted())).collect();
    let pool = outcome.statistics.pool_weight;
    let of_pool = |weight: f64| if pool > 0.0 { weight / pool } else { 0.0 };
    let usage = |summary: &SubmitterSummary| {
        let name = summary.submitter.as_str();
        let group = groups.get(name).copied().flatten();
        let pie = group.and_then(|group| granted.get(group)).copied().unwrap_or(pool);
        let used = weights.get(name).copied().unwrap_or(0.0);
        SubmitterUsage {
            group: group.map(str::to_owned),
            entitled: summary.share.map(|share| of_pool(share * pie)),
            used,
            pool_share: of_pool(used),
            steps: trace(outcome, prepared, name).map(|trace| trace.steps).unwrap_or_default(),
            causes: survey.of(name).to_vec(),
            summary: summary.clone(),
        }
    };
    outcome.submitters.iter().map(usage).collect()
}

fn reasons(survey: &CauseSurvey) -> Vec<ReasonCount> {
    let mut found: Vec<ReasonCount> = Vec::new();
    for cause in &survey.causes {
        let known = found.iter().position(|one| one.reason == cause.reason).unwrap_or_else(|| {
            found.push(ReasonCount { reason: cause.reason, jobs: 0, causes: Vec::new() });
            found.len() - 1
        });
        found[known].jobs += cause.jobs;
        found[known].causes.push(cause.clone());
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.jobs));
    found
}
