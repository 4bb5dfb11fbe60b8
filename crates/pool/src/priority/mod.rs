//! Order of service: one trait, and one policy chosen by configuration.
//!
//! In: claimants, usage, and the slots to deal. Out: turns, each with a claimant and a limit. A policy
//! receives the result of each turn and decides on the next. Only [`policy`] knows the choice of policies; everything
//! else knows the trait.

pub mod condor;
pub mod dirac;
pub mod pie;
pub mod policy;
pub mod ranking;
pub mod session;
pub mod slurm;
pub mod spins;

pub use condor::CondorPriority;
pub use dirac::Past;
pub use policy::{Opening, Policy, QueueDiscipline, seed_of_cycle};
pub use session::Session;

use serde::{Deserialize, Serialize};

use crate::accountant::usage::{Account, SlotInUse};
use crate::queue::Job;
use crate::queue::request::JobsBehind;
use classmate::internal::ad::ClassAd;

/// A policy: charges usage, and deals the pool in turns.
///
/// `HTCondor` deals shares of a pie in spins, Slurm serves jobs in a total order, DIRAC draws lots: what
/// they have in common is a sequence of turns that depends on how the earlier ones ended.
pub trait PriorityPolicy {
    /// Brings priorities and usage up to `now` (epoch seconds), from the slots in use.
    fn charge(&mut self, in_use: &[SlotInUse<'_>], now: i64);

    /// The current state of a submitter, including matches of this cycle.
    fn standing(&self, submitter: &[u8]) -> Standing;

    /// The priority of a submitter when it is read for the first time in a cycle, if it is another one then.
    fn first_priority(&self, submitter: &[u8]) -> Option<f64> {
        let _ = submitter;
        None
    }

    /// Current usage of a group in weighted slots, its own members only.
    fn group_usage(&self, group: &[u8]) -> f64;

    /// Charges a match of a slot of this weight.
    fn matched(&mut self, submitter: &[u8], account: Account, weight: f64, now: i64);

    /// Names and weighted slots in use, of all submitters that use any.
    fn in_use(&self) -> Vec<(&[u8], f64)>;

    /// Returns whether the pool is divided among the groups first, if there are any.
    fn divides_among_groups(&self) -> bool {
        true
    }

    /// Returns whether the ads of running jobs decide the account and the cost of their usage.
    fn asks_jobs(&self) -> bool {
        false
    }

    /// The account charged for the use of a slot by a job, from their ads; that of its submitter, unless the policy has
    /// accounts of its own.
    fn account(&self, job: &ClassAd, slot: &ClassAd) -> Account {
        let _ = (job, slot);
        Account::Submitter
    }

    /// Cost of a slot in use for one second, from the ads of its job, if known, and its own; its weight unless the
    /// policy has its own prices.
    fn cost(&self, job: Option<&ClassAd>, slot: &ClassAd, weight: f64) -> f64 {
        let _ = (job, slot);
        weight
    }

    /// The ads that represent a job in the queue instead of its own: one for each way to run it. When one of them is
    /// matched, the others leave.
    fn candidacies(&self, job: &ClassAd) -> Option<Vec<ClassAd>> {
        let _ = job;
        None
    }

    /// Returns whether a waiting job is not served yet, whatever slots there are.
    fn holds_back(&self, job: &ClassAd) -> bool {
        let _ = job;
        false
    }

    /// Starts dealing the pool to these claimants, whose jobs may be looked at.
    fn begin(&self, claimants: &[Claimant], waiting: &dyn Waiting, deal: &PieInput) -> Box<dyn Turns>;
}

/// The idle jobs of claimants, for policies that order jobs.
pub trait Waiting {
    /// The jobs of a claimant that are not matched yet, in the order of its queue, each with its number in this deal.
    fn jobs(&self, who: usize) -> Vec<(usize, &Job<'_>)>;

    /// The autoclusters of these jobs, in the same order: jobs of one are equal in all that matters to a match.
    fn autoclusters(&self, who: usize) -> Vec<u32> {
        vec![0; self.jobs(who).len()]
    }

    /// Calls a function with the number, the job and the autocluster of each of these jobs, in the same order.
    fn each<'w>(&'w self, who: usize, see: &mut dyn FnMut(usize, &'w Job<'w>, u32)) {
        for ((number, job), autocluster) in self.jobs(who).into_iter().zip(self.autoclusters(who)) {
            see(number, job, autocluster);
        }
    }

    /// The unlisted jobs that this one stands for, if there are any.
    fn behind(&self, job: &Job<'_>) -> Option<&JobsBehind> {
        let _ = job;
        None
    }
}

/// Predicate: would a job get a slot at this moment? Arguments: its claimant, its number in the deal, the number of the
/// slot.
pub type Fits<'f> = &'f mut dyn FnMut(usize, usize, usize) -> bool;

/// An empty queue.
impl Waiting for () {
    fn jobs(&self, _: usize) -> Vec<(usize, &Job<'_>)> {
        Vec::new()
    }
}

/// A sequence of turns that depends on how each one ended.
pub trait Turns {
    /// The next turn; none when the deal is over.
    ///
    /// After each turn, [`Turns::ended`] must be called before the next turn is requested.
    fn next_turn(&mut self) -> Option<Turn>;

    /// The same for policies that look for a job for a slot, who must know beforehand which would get it.
    fn next_suited(&mut self, fits: Fits<'_>) -> Option<Turn> {
        let _ = fits;
        self.next_turn()
    }

    /// Claimants merged since the last call, because they are the same submitter at the same access point and became
    /// neighbors: until the end of the pie the jobs of the second are requested with those of the first.
    fn merged(&mut self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Receives the result of the last turn, and the usage after it if the turn was of a claimant and not of one job.
    fn ended(&mut self, spent: TurnResult, charged: Option<ChargedUsage>);

    /// The history so far.
    fn history(&self) -> &PieHistory;

    /// For policies that look for a job for a slot: the jobs that were offered to slots as one, including those that
    /// got a slot.
    fn equivalent_jobs(&self) -> &[EquivalentJobs] {
        &[]
    }
}

/// Jobs that were offered to slots as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EquivalentJobs {
    /// Claimant of each job, and its number in the deal.
    pub jobs: Vec<(usize, usize)>,
    /// The limits of sites because of which the policy did not offer them to a slot.
    pub held_by: Vec<String>,
}

/// A submitter at one access point that requests slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimant {
    /// The submitter's name, `user@domain` or `group.user@domain`.
    pub submitter: Vec<u8>,
    /// Number of idle jobs it reports.
    pub idle_jobs: i64,
    /// Time of its last update, epoch seconds; 0 if unknown.
    pub last_heard: i64,
    /// The priority of the requested jobs: with `USE_GLOBAL_JOB_PRIOS` a submitter has one claimant for each.
    pub job_prio: Option<i64>,
    /// Number of the access point; none if it has no name: its jobs cannot be requested then.
    pub schedd: Option<usize>,
}

/// The input of a deal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PieInput {
    /// Weighted slots of the whole pool, busy ones included.
    pub weight: f64,
    /// Weight of the lightest slot; `f64::MAX` if there is none.
    pub smallest_weight: f64,
    /// The group the deal is limited to, if any.
    pub group: Option<GroupShare>,
    /// The number of the first pie, from 1; pies are numbered through a cycle.
    pub first_pie: u32,
}

/// A group and what it may use.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupShare {
    /// Its full name.
    pub name: Vec<u8>,
    /// Weighted slots it may use in all, what it already uses included.
    pub quota: f64,
}

/// Priority, usage and floor of a submitter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Its priority; lower is better.
    pub priority: f64,
    /// Weighted slots it uses.
    pub usage: f64,
    /// Weighted slots it is served first.
    pub floor: i64,
}

/// A turn: claimant and limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Index of the claimant.
    pub who: usize,
    /// The number of the only job that is served, as [`Waiting`] has it; none: its jobs in the order of its queue.
    ///
    /// A deal has turns of one kind only.
    pub job: Option<usize>,
    /// Position of the job that is served among those still waiting in its queue, the oldest is 0, if another one stands for
    /// it; none: the job itself.
    pub place: Option<usize>,
    /// The number of the only slot that may be taken, for a turn of one job; none: any.
    pub slot: Option<usize>,
    /// The limit of the turn.
    pub allowance: Allowance,
    /// Number of the pie in the cycle, from 1.
    pub pie: u32,
    /// Number of the pass over all claimants, from 1.
    pub spin: u32,
}

/// The limit of one turn, in weighted slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// In all.
    pub limit: f64,
    /// Limit for unclaimed slots.
    pub limit_unclaimed: f64,
    /// Absolute bound, tested before each request.
    pub ceiling: f64,
    /// Beyond the limit, slots that strictly prefer the job to the one they run may still be taken.
    pub preferring_is_free: bool,
}

impl Allowance {
    /// No limit.
    pub const UNLIMITED: Self =
        Self { limit: f64::MAX, limit_unclaimed: f64::MAX, ceiling: f64::MAX, preferring_is_free: false };
}

/// Result of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnResult {
    /// End of the turn.
    pub end: End,
    /// Weighted slots taken in all.
    pub weight: f64,
    /// Slots that can still be dealt, by anyone.
    pub slots_left: usize,
}

/// Usage after a turn. It is not the sum of what was taken, because the accountant keeps six decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChargedUsage {
    /// Weighted slots in use by the claimant's submitter.
    pub submitter: f64,
    /// Weighted slots in use by the group of the deal, if there is one.
    pub group: Option<f64>,
}

/// End of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// There is nothing more to serve; the claimant leaves the deal.
    Done,
    /// It could take more another time; the claimant stays.
    Resume,
}

/// History of a deal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PieHistory {
    /// Passes over the claimants, in order.
    pub spins: Vec<Spin>,
    /// Visits to claimants with idle jobs, in order.
    pub visits: Vec<Visit>,
    /// Claimants that had nothing more to be served, and left.
    pub left: Vec<usize>,
    /// All claimants in the order in which they are served; empty if the policy has none, or the deal ended before.
    #[serde(skip)]
    pub order: Vec<usize>,
    /// Number of pies, including those that ended at once.
    pub pies: u32,
    /// Number of passes begun, including those that ended at once.
    pub begun: u32,
}

impl PieHistory {
    /// The history of a deal that serves jobs, not claimants, in a single pass.
    pub(crate) fn of_jobs(deal: &PieInput, visits: Vec<Visit>) -> Self {
        let spins = vec![Spin { pie: deal.first_pie, spin: 1, pie_left: deal.weight }];
        Self { spins, visits, pies: 1, begun: 1, ..Self::default() }
    }
}

/// A pass over all claimants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spin {
    /// Number of the pie, from 1.
    pub pie: u32,
    /// Number of the pass, from 1.
    pub spin: u32,
    /// Weighted slots to deal at its beginning.
    pub pie_left: f64,
}

/// A visit to a claimant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// Index of the claimant.
    pub who: usize,
    /// Number of the pie, from 1.
    pub pie: u32,
    /// Number of the pass, from 1.
    pub spin: u32,
    /// Its priority; lower is better.
    pub priority: f64,
    /// Its fraction of the pie.
    pub share: f64,
    /// Weighted slots it might take.
    pub limit: f64,
    /// Weighted slots by which the limit was cut because the pie is used up.
    pub starved: f64,
    /// The reason for which it was passed over, if it was.
    pub passed: Option<Passed>,
    /// End of the visit.
    pub end: End,
}

impl Visit {
    /// The only visit to a claimant in a deal that serves jobs.
    pub(crate) fn of_jobs(who: usize, deal: &PieInput, priority: f64, share: f64) -> Self {
        let (pie, limit) = (deal.first_pie, deal.weight);
        Self { who, pie, spin: 1, priority, share, limit, starved: 0.0, passed: None, end: End::Done }
    }
}

/// The reason for which a claimant was visited but passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Its limit, or what is left of the pie, is less than the lightest slot.
    LessThanASlot,
    /// It is at its ceiling.
    AtCeiling,
}
