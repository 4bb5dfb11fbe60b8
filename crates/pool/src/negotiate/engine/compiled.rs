//! The parts of a cycle that are compiled before it starts: attributes, plans and classes of slots.

use hashbrown::{HashMap, HashSet};

use crate::negotiate::CycleObserver;
use crate::negotiate::engine::SampleRequest;
use crate::negotiate::engine::equivalence::RequestEquivalence;
use crate::negotiate::engine::partitioning::{Combinations, Partitioner, Partitioning};
use crate::negotiate::engine::plan::MatchPlans;
use crate::negotiate::engine::requests::{DistinctRequests, QueueColumns};
use crate::negotiate::engine::table::ClassTable;
use crate::negotiate::engine::vocabulary::{Vocabulary, is_plain};
use crate::negotiate::offer::ScanMatcher;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Key;
use classmate::internal::program::view::AdSource;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::threads;

/// The data that does not change during the negotiation loop.
#[derive(Debug)]
pub(super) struct CompiledCycle {
    /// The index of the slot at each place; slots that have to be evaluated by themselves have none.
    pub(super) order: Vec<usize>,
    /// The reason why the first of those has to be; `None` if all slots have a place.
    pub(super) odd: Option<&'static str>,
    /// The reason why slots are ranked one by one for each request; `None` if classes are ranked.
    pub(super) listed: Option<&'static str>,
    pub(super) vocabulary: Vocabulary,
    pub(super) equivalence: RequestEquivalence,
    pub(super) plans: MatchPlans,
    /// The structures of requests, by the structure of each attribute.
    pub(super) structures: HashMap<Vec<u32>, usize>,
    pub(super) unpartitioned: HashSet<Key>,
    pub(super) combinations: Combinations,
    pub(super) table: ClassTable,
}

/// The ads of slots, by place.
#[derive(Clone, Copy)]
pub(super) struct SlotAds<'e, 'c> {
    pub(super) offers: &'e ScanMatcher<'c>,
    pub(super) order: &'e [usize],
}

impl AdSource for SlotAds<'_, '_> {
    fn ad(&self, place: u32) -> &ClassAd {
        &self.offers.slot(self.order[place as usize]).ad
    }
}

/// Obstacles that expressions can be.
const OF_SETTINGS: &str =
    "an expression of the configuration evaluates a string, uses a whole ad, or depends on usage during the cycle";
const OF_SLOTS: &str = "a slot expression evaluates a string, uses a whole ad, or depends on usage during the cycle";

/// The property of settings because of which slots have to be ranked one by one.
fn obstacle(rules: &Rules) -> Option<&'static str> {
    let matching = &rules.knobs.matching;
    let obstacles = [
        (rules.ranking.ignore_jobs, "NEGOTIATOR_IGNORE_JOB_RANKS is set"),
        (!matching.preemption_requirements_stable, "PREEMPTION_REQUIREMENTS is declared unstable"),
        (!matching.preemption_rank_stable, "PREEMPTION_RANK is declared unstable"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
}

/// The property of a slot because of which it has to be evaluated by itself, other than its expressions.
fn oddity(offers: &ScanMatcher<'_>, slot: &Slot) -> Option<&'static str> {
    let oddities = [
        (offers.has_room(slot), "ALLOW_PSLOT_PREEMPTION is set, and a partitionable slot has dynamic slots"),
        (slot.consumption.is_some(), "a slot has a consumption policy"),
        (slot.stays, "a slot has WantAdRevaluate"),
        (slot.claims(offers.settings) == Some(0), "a slot has no claim"),
        (!is_plain(&slot.ad), "a slot ad has a parent, or an attribute named like a scope"),
    ];
    oddities.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
}

/// The reason why the first slot has to be evaluated by itself, if all have to be.
pub(in crate::negotiate) fn only_odd(offers: &ScanMatcher<'_>) -> Option<&'static str> {
    let mut oddities = offers.order.iter().map(|at| oddity(offers, offers.slot(*at)));
    let first = oddities.next().flatten();
    first.filter(|_| oddities.all(|odd| odd.is_some()))
}

impl CompiledCycle {
    /// Compiles a cycle; returns it with the requests of the queue.
    ///
    /// # Errors
    /// The reason why the cycle has to be evaluated slot by slot.
    pub(super) fn new<'s>(
        offers: &ScanMatcher<'_>,
        rules: &Rules,
        samples: &'s [SampleRequest],
        varying: &HashSet<Key>,
        observer: &mut dyn CycleObserver,
    ) -> Result<(Self, DistinctRequests<'s>), &'static str> {
        let mut listed = obstacle(rules);
        observer.phase_started("project");
        let oddities = threads::map_all(&offers.order, |at| oddity(offers, offers.slot(*at)));
        let mut odd = oddities.iter().copied().flatten().next();
        let by_class = offers.order.iter().zip(oddities).filter(|(_, odd)| odd.is_none());
        let mut order: Vec<usize> = by_class.map(|(at, _)| *at).collect();
        let ads: Vec<&ClassAd> = samples.iter().map(|sample| &sample.ad).collect();
        let (in_use, mut vocabulary) = loop {
            if order.is_empty() {
                return Err(odd.unwrap_or("there are no slots"));
            }
            let ranked = Some(rules).filter(|_| listed.is_none());
            let Some((in_use, vocabulary)) = vocabulary(offers, &order, ranked, &ads) else {
                listed = Some(OF_SETTINGS);
                continue;
            };
            if vocabulary.is_too_wide {
                return Err("requests look at too many different attributes");
            }
            let unforeseen = vocabulary.slots.unforeseen_ads();
            if unforeseen.is_empty() {
                break (in_use, vocabulary);
            }
            odd = odd.or(Some(OF_SLOTS));
            let mut places = 0..;
            order.retain(|_| places.next().is_some_and(|place| unforeseen.binary_search(&place).is_err()));
        };
        observer.phase_started("compile");
        let slot = |place: u32| offers.slot(order[place as usize]);
        let source = SlotAds { offers, order: &order };
        let slot_structures = vocabulary.slots.structures(order.len());
        let ranked = Some(rules).filter(|_| listed.is_none());
        let (roots, exprs) = evaluated(ranked, in_use);
        let equivalence = RequestEquivalence::of(&vocabulary, &exprs, &roots);
        let queue = QueueColumns::of(ads, &mut vocabulary, &equivalence);
        let sample_requests = queue.samples();
        let sample_slots: Vec<&ClassAd> = slot_structures.firsts().into_iter().map(|place| source.ad(place)).collect();
        let semantics = offers.settings.semantics;
        let pairs = order.len().saturating_mul(queue.len());
        if has_too_many_plans(sample_slots.len().saturating_mul(sample_requests.len()), pairs) {
            return Err("nearly every slot and every request has expressions of its own");
        }
        let plans = MatchPlans::new(&sample_slots, &sample_requests, &vocabulary, ranked, in_use, semantics);
        let structures = queue.structures(&vocabulary);
        let distinct = queue.distinct(&plans.looked_at(&vocabulary));
        let requests = &distinct.0;
        observer.phase_started("classify");
        let partitioning = Partitioning::of(&plans, &vocabulary, order.len(), varying);
        let combinations = Combinations::of(&plans, &vocabulary, &partitioning, requests);
        let partitioner = Partitioner {
            source: &source,
            vocabulary: &vocabulary,
            plans: &plans,
            partitioning: &partitioning,
            combinations: &combinations,
            requests,
            settings: offers.settings,
        };
        let table = ClassTable::new(&slot, &slot_structures, &partitioner);
        let unpartitioned = partitioning.unpartitioned;
        let compiled =
            Self { order, odd, listed, vocabulary, equivalence, plans, structures, unpartitioned, combinations, table };
        Ok((compiled, distinct))
    }
}

/// Returns whether to compile so many plans would take longer, and more memory, than to evaluate the pairs of slots and requests that
/// they serve one by one.
fn has_too_many_plans(plans: usize, pairs: usize) -> bool {
    /// Pairs that are evaluated in the time in which a plan is compiled.
    const PAIRS_PER_PLAN: usize = 16;
    /// Plans that are compiled in any case: they take about a second.
    const ANY: usize = 500_000;
    plans > ANY && plans.saturating_mul(PAIRS_PER_PLAN) > pairs
}

/// Returns whether any slot at the places is in use and may be preempted, and the attributes that the cycle can look at;
/// without rules, only those that Requirements can look at. `None` if an expression of the configuration is not foreseen.
fn vocabulary(
    offers: &ScanMatcher<'_>,
    order: &[usize],
    rules: Option<&Rules>,
    requests: &[&ClassAd],
) -> Option<(bool, Vocabulary)> {
    let is_in_use = |at: &usize| offers.slot(*at).user.is_some();
    let in_use = rules.is_some_and(|rules| rules.trim.preemption) && order.iter().any(is_in_use);
    let (roots, exprs) = evaluated(rules, in_use);
    let source = SlotAds { offers, order };
    Some((in_use, Vocabulary::collect((order.len(), &source), requests, &roots, &exprs)?))
}

/// The attributes of ads that a cycle evaluates, and the expressions of the configuration.
fn evaluated(rules: Option<&Rules>, in_use: bool) -> (Vec<&'static str>, Vec<&Expr>) {
    let (mut roots, mut exprs): (_, Vec<&Expr>) = (vec!["Requirements"], Vec::new());
    if let Some(rules) = rules {
        let ranking = &rules.ranking;
        roots.push("Rank");
        exprs.extend(ranking.before_job.iter().chain(&ranking.after_job));
        if in_use {
            roots.push("CurrentRank");
            exprs.extend(ranking.preemption.iter().chain(&rules.preemption.requirements));
        }
    }
    (roots, exprs)
}
