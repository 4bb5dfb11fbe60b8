//! One negotiation cycle: a snapshot of a pool in, the decisions of the negotiator out.
//!
//! A pure function: the same snapshot always gives the same outcome.

pub mod advertisement;
pub mod candidate;
pub mod commit;
pub mod concurrency;
pub mod directory;
pub mod engine;
pub mod feasibility;
pub mod groups;
pub mod needed;
pub mod negotiation_loop;
pub mod offer;
pub mod outcome;
pub mod preemption;
pub mod prepared;
pub mod quotas;
mod request_standing;
pub mod rules;
pub mod single;
pub mod slot_matcher;
pub mod snapshot;
pub mod summary;

use std::collections::BTreeSet;

pub use commit::commit;
pub use directory::{LoadError, LoadedPool};
pub use feasibility::Feasibility;
pub use outcome::Outcome;
pub use prepared::{PreparedJob, PreparedPool, Purpose, advertised};
pub use snapshot::Snapshot;

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::negotiate::engine::{CLASS_MEMORY, ClassMatcher, SampleRequest};
use crate::negotiate::negotiation_loop::NegotiationLoop;
use crate::negotiate::offer::ScanMatcher;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::{ClassCounts, SlotMatcher};
use crate::pool::Slot;
use crate::priority::{End, PieInput, PriorityPolicy};
use crate::queue::request::{CARRIED, Queue, RESOURCE_COUNT, Request};
use crate::queue::{Submitter, significant};
use classmate::internal::ad::{ClassAd, Excerpts};
use classmate::internal::name::{Key, Name};
use classmate::internal::plural::counted;
use classmate::internal::threads;
use classmate_config::internal::config::ConfigError;

pub(crate) use prepared::{ChargedPool, IgnoredAds, KnownJobs, opening, slots};

/// Runs one cycle with default options. [`PreparedPool::negotiate`] has options.
///
/// # Errors
/// A setting of the configuration that is wrong, or not supported yet.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_pool::{Snapshot, negotiate};
/// let snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]")?],
///     jobs: vec![ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?],
///     ..Snapshot::default()
/// };
/// let outcome = negotiate(&snapshot).unwrap();
/// assert_eq!((outcome.matches[0].job.to_string(), outcome.matches[0].slot.as_str()), ("1.0".to_owned(), "slot1@m"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn negotiate(snapshot: &Snapshot) -> Result<Outcome, ConfigError> {
    PreparedPool::new(snapshot)?.negotiate(CycleOptions::default()).map(|cycle| cycle.outcome)
}

/// The way slots are found for requests. All give the same outcome, except that [`Matcher::ExactTies`] may choose other slots
/// among equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matcher {
    /// By classes of slots, over columns, where that is certain to give the same result as slot by slot.
    Columnar {
        /// Approximate memory for classes of requests, bytes: classes beyond it are built when needed, and dropped
        /// again.
        memory: usize,
    },
    /// Slot by slot, like `condor_negotiator`.
    Reference,
    /// Slot by slot, with equal slots in the order in which the sort of `condor_negotiator` leaves them. The others take
    /// equal slots in the order of the snapshot.
    ExactTies,
}

impl Default for Matcher {
    fn default() -> Self {
        Self::Columnar { memory: CLASS_MEMORY }
    }
}

/// Receives progress callbacks from a cycle.
pub trait CycleObserver {
    /// A phase starts; the one before is over.
    fn phase_started(&mut self, phase: &'static str);
}

/// Ignores all events.
impl CycleObserver for () {
    fn phase_started(&mut self, _: &'static str) {}
}

/// The options of a cycle.
#[derive(Default)]
pub struct CycleOptions<'o> {
    /// The way slots are found.
    pub matcher: Matcher,
    /// Also determine for each idle job whether any slot matches it, claimed or not.
    pub feasibility: bool,
    /// Leave [`Outcome::submitters`] empty: a simulation runs many cycles and shows none of them.
    pub brief: bool,
    /// Receives progress callbacks.
    pub observer: Option<&'o mut dyn CycleObserver>,
    /// The [`Cycle::last_served`] of the cycle before; empty after a restart of the negotiator.
    pub last_served: Vec<f64>,
}

/// The result of a cycle, and how it was found.
#[derive(Debug)]
pub struct Cycle {
    /// The decisions.
    pub outcome: Outcome,
    /// The number of classes of slots and requests; `None` if slots were tried one by one.
    pub classes: Option<ClassCounts>,
    /// The reason slots were tried one by one for every request; `None` if they were not.
    pub by_slot: Option<&'static str>,
    /// Number of requests in the queue: runs of equal jobs.
    pub requests: usize,
    /// The idle jobs that were offered, by ID; empty unless [`CycleOptions::feasibility`] is set.
    pub feasibility: Vec<Feasibility>,
    /// The times, in seconds since 1970, at which each group last won a remainder or had no demand; empty without group quotas.
    pub last_served: Vec<f64>,
}

impl PreparedPool<'_> {
    /// Runs the cycle. It uses up the pool: its queue is served, and its slots are as the cycle left them.
    ///
    /// # Errors
    /// A concurrency limit that is not a number and that a waiting job requires.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate_pool::{CycleOptions, PreparedPool, Snapshot};
    /// let job = ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?;
    /// let snapshot = Snapshot { jobs: vec![job], ..Snapshot::default() };
    /// let options = CycleOptions { feasibility: true, ..CycleOptions::default() };
    /// let cycle = PreparedPool::new(&snapshot).and_then(|mut pool| pool.negotiate(options)).unwrap();
    /// assert_eq!(cycle.feasibility[0].infeasible_request, Some(cycle.feasibility[0].job));
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn negotiate(&mut self, options: CycleOptions<'_>) -> Result<Cycle, ConfigError> {
        let CycleOptions { matcher, feasibility, brief, observer, mut last_served } = options;
        let mut ignore = ();
        let observer = observer.unwrap_or(&mut ignore);
        if let Some(error) = self.unreadable.take() {
            return Err(error);
        }
        let (slots, mut queue) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.queue));
        let (snapshot, rules, size, settings) = (self.snapshot, &*self.rules, &self.size, &self.settings);
        let (submitters, policy) = (self.submitters.as_slice(), &mut *self.policy);
        queue.whole = queue.whole && uses_insignificant(&queue, rules);
        let total_slots = slots.len();
        let offered = (!brief).then(|| single::offered(&queue, self.known_jobs, &*policy));
        let autoclusters = single::autoclusters(&queue, self.known_jobs);
        let mut left_out = left_out(self.ignored, snapshot, &queue, self.known_jobs);
        left_out.extend(rules.groups.odd.iter().cloned());
        left_out.extend(rules.concurrency.odd().map(told));
        let mut offers = ScanMatcher::new(slots, self.ranks.clone(), rules, settings);
        if let Some(log) = &snapshot.log {
            offers = offers.with_books(log);
        }
        if matcher == Matcher::ExactTies {
            offers = offers.with_exact_ties();
        }
        observer.phase_started("requests");
        let (market, by_slot) = market(offers, &queue, submitters, rules, &*policy, matcher, observer);
        let feasibility = if feasibility {
            feasibility::feasibility(&*market, &queue, submitters, rules, &*policy)
        } else {
            Vec::new()
        };
        observer.phase_started("deal");
        let mut dealing = NegotiationLoop::new(submitters, rules, settings, queue, market, &self.live, policy);
        let statistics = &mut dealing.outcome.statistics;
        (statistics.total_slots, statistics.pool_weight) = (total_slots, size.weight);
        statistics.trimmed_slots = dealing.offers.left();
        statistics.candidate_slots = if self.quotas.is_some() { size.slots } else { statistics.trimmed_slots };
        statistics.autoclusters = autoclusters;
        if self.quotas.is_some() && dealing.policy.divides_among_groups() {
            last_served = groups::negotiate_groups(&mut dealing, size, settings, last_served);
        } else {
            let deal =
                PieInput { weight: size.weight, smallest_weight: size.smallest_weight, group: None, first_pie: 1 };
            let all: Vec<usize> = (0..submitters.len()).collect();
            dealing.negotiate_submitters(&all, &deal);
        }
        observer.phase_started("report");
        let (classes, requests) = (dealing.offers.classes(), dealing.requests);
        let (mut outcome, slots) = report(dealing, submitters, offered.as_deref());
        outcome.quirks = left_out;
        self.slots = slots;
        Ok(Cycle { outcome, classes, by_slot, requests, feasibility, last_served })
    }
}

/// Minimum number of requests per task of a thread.
const GRAIN: usize = 64;

/// Names of slots that are fetched from memory at a time.
const FETCHED_TOGETHER: usize = 64;

/// The matcher for the requests of the queue, and the reason it tries slots one by one; `None` if it uses classes.
fn market<'c>(
    offers: ScanMatcher<'c>,
    queue: &Queue<'_>,
    submitters: &[Submitter],
    rules: &'c Rules,
    policy: &dyn PriorityPolicy,
    matcher: Matcher,
    observer: &mut dyn CycleObserver,
) -> (Box<dyn SlotMatcher + 'c>, Option<&'static str>) {
    let memory = match matcher {
        _ if queue.whole => {
            return (Box::new(offers), Some("requests are whole job ads, and insignificant attributes may be used"));
        }
        Matcher::Columnar { memory } => memory,
        Matcher::Reference => return (Box::new(offers), Some("the reference path was requested")),
        Matcher::ExactTies => return (Box::new(offers), Some("the exact order of equal slots was requested")),
    };
    if let Some(reason) = engine::only_odd(&offers) {
        return (Box::new(offers), Some(reason));
    }
    let firsts: Vec<(usize, Request)> = queue.first_of_each().collect();
    let attributes =
        |submitter: &Submitter| request_standing::submitter_attributes_at_start(&submitter.name, policy, rules);
    let attributes: Vec<ClassAd> = submitters.iter().map(attributes).collect();
    let samples = threads::flat_map_parts(firsts.len(), GRAIN, |part| {
        let mut excerpts = Excerpts::default();
        let sample = |(who, request): &(usize, Request)| {
            let mut ad = queue.request_ad(*who, request, &mut excerpts);
            ad.update(&attributes[*who]);
            SampleRequest { autocluster: request.autocluster, ad }
        };
        firsts[part].iter().map(sample).collect()
    });
    let matcher = ClassMatcher::new(offers, rules, &samples, (&varying(queue), memory), observer);
    threads::drop_later(samples);
    match matcher {
        Ok(engine) => (Box::new(engine), None),
        Err((offers, obstacle)) => (offers, Some(obstacle)),
    }
}

/// Returns whether a match may depend on attributes of waiting jobs that are not significant.
fn uses_insignificant(queue: &Queue<'_>, rules: &Rules) -> bool {
    let ad = |who: usize, place: usize| &*queue.jobs[queue.lists[who][place].job].ad;
    let of_firsts = || queue.first_of_each().any(|(who, request)| rules.may_use_insignificant(ad(who, request.first)));
    let mut waiting = queue.lists.iter().flatten().map(|queued| &*queue.jobs[queued.job].ad);
    rules.replaces_significant() || of_firsts() || waiting.any(significant::has_insignificant)
}

/// The attributes in which requests of one autocluster may differ.
fn varying(queue: &Queue<'_>) -> HashSet<Key> {
    let carried = CARRIED.iter().copied().filter(|name| !queue.significant.contains(*name));
    let added = significant::STANDING.iter().copied().chain([*RESOURCE_COUNT]);
    carried.chain(added).map(Name::key).collect()
}

/// An error in the settings that does not stop the cycle, as a line of text.
fn told(error: &ConfigError) -> String {
    let help = error.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    error.to_line() + &help
}

/// Notes on the ads of the snapshot that the cycle skips, one for each cause. `known` is the number of jobs that have
/// an ID and a submitter.
fn left_out(ignored: IgnoredAds, snapshot: &Snapshot, queue: &Queue<'_>, known: usize) -> Vec<String> {
    let notes = [
        (ignored.not_slots, "skipped", "ad", "of another type than slots"),
        (ignored.unnamed, "skipped", "slot", "without a name"),
        (snapshot.jobs.len() - known, "skipped", "job", "without a ClusterId or a submitter"),
        (single::strangers(queue, known), "did not consider", "idle job", "of submitters that are not advertised"),
    ];
    let found = notes.iter().filter(|(count, ..)| *count > 0);
    found.map(|(count, done, what, which)| format!("{done} {} {which}", counted(*count as u64, what))).collect()
}

/// The names of slots. Some are fetched from memory before they are copied, so that the processor waits for all at once.
fn names(slots: &[Slot], matched: &[u32]) -> Vec<String> {
    threads::flat_map_parts(matched.len(), GRAIN, |part| {
        let mut names = Vec::with_capacity(part.len());
        for matched in matched[part].chunks(FETCHED_TOGETHER) {
            let name = |slot: &u32| &*slots[*slot as usize].name;
            let texts: SmallVec<[&[u8]; FETCHED_TOGETHER]> = matched.iter().map(name).collect();
            names.extend(texts.into_iter().map(|text| String::from_utf8_lossy(text).into_owned()));
        }
        names
    })
}

/// Completes the outcome with its counts and, if it is known what each submitter offered, with the results of submitters;
/// returns it with the slots.
fn report(
    dealing: NegotiationLoop<'_>,
    submitters: &[Submitter],
    offered: Option<&[single::OfferedCount]>,
) -> (Outcome, Vec<Slot>) {
    let NegotiationLoop { mut outcome, matched_slots, offers, active, active_schedds, .. } = dealing;
    outcome.statistics.largest_tie = offers.largest_tie();
    let slots = offers.into_slots();
    for (made, name) in outcome.matches.iter_mut().zip(names(&slots, &matched_slots)) {
        made.slot = name;
    }
    let limited: BTreeSet<&String> =
        outcome.negotiations.iter().filter(|visit| visit.end == End::Resume).map(|visit| &visit.submitter).collect();
    let limited = limited.into_iter().cloned().collect();
    let statistics = &mut outcome.statistics;
    (statistics.schedulers, statistics.active_submitters) = (active_schedds.len(), active.len());
    (statistics.matches, statistics.rejections) = (outcome.matches.len(), outcome.rejections.len());
    statistics.submitters_share_limit = limited;
    if let Some(offered) = offered {
        outcome.submitters = summary::summarize(&outcome, submitters, offered);
    }
    (outcome, slots)
}
