//! The parts of a cycle that are compiled before it starts: attributes, plans and classes of slots.

use hashbrown::{HashMap, HashSet};

use crate::negotiate::CycleObserver;
use crate::negotiate::engine::SampleRequest;
use crate::negotiate::engine::evaluate::RequestKey;
use crate::negotiate::engine::partitioning::{Combinations, Partitioner, Partitioning};
use crate::negotiate::engine::plan::MatchPlans;
use crate::negotiate::engine::table::ClassTable;
use crate::negotiate::engine::vocabulary::Vocabulary;
use crate::negotiate::offer::ScanMatcher;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Key;
use classmate::internal::program::view::AdSource;
use classmate::internal::syntax::expr::Expr;

/// The data that does not change during the negotiation loop.
#[derive(Debug)]
pub(super) struct CompiledCycle {
    /// The index of the slot at each place.
    pub(super) order: Vec<usize>,
    pub(super) vocabulary: Vocabulary,
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

/// The property of settings or slots because of which a cycle has to be evaluated slot by slot.
fn obstacle(offers: &ScanMatcher<'_>, rules: &Rules) -> Option<&'static str> {
    let matching = &rules.knobs.matching;
    let any = |of: fn(&Slot) -> bool| offers.slots.iter().any(of);
    let without_claim = offers.slots.iter().any(|slot| slot.claims(offers.settings) == Some(0));
    let obstacles = [
        (!matching.preemption_requirements_stable, "PREEMPTION_REQUIREMENTS is declared unstable"),
        (!matching.preemption_rank_stable, "PREEMPTION_RANK is declared unstable"),
        (rules.ranking.ignore_jobs, "NEGOTIATOR_IGNORE_JOB_RANKS is set"),
        (matching.allow_pslot_preemption, "ALLOW_PSLOT_PREEMPTION is set"),
        (any(|slot| slot.consumption.is_some()), "a slot has a consumption policy"),
        (any(|slot| slot.stays), "a slot has WantAdRevaluate"),
        (without_claim, "a slot has no claim"),
        (offers.order.is_empty(), "there are no slots"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
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
    ) -> Result<(Self, Vec<RequestKey<'s>>), &'static str> {
        let order = offers.order.clone();
        let slot = |place: u32| offers.slot(order[place as usize]);
        if let Some(obstacle) = obstacle(offers, rules) {
            return Err(obstacle);
        }
        observer.phase_started("project");
        let in_use = rules.trim.preemption && (0..order.len() as u32).any(|place| slot(place).user.is_some());
        let ranking = &rules.ranking;
        let mut exprs: Vec<&Expr> = [&ranking.before_job, &ranking.after_job].into_iter().flatten().collect();
        let mut roots = vec!["Requirements", "Rank"];
        if in_use {
            roots.push("CurrentRank");
            exprs.extend(ranking.preemption.iter().chain(&rules.preemption.requirements));
        }
        let ads: Vec<&ClassAd> = samples.iter().map(|sample| &sample.ad).collect();
        let source = SlotAds { offers, order: &order };
        let mut vocabulary = Vocabulary::collect((order.len(), &source), &ads, &roots, &exprs)?;
        observer.phase_started("compile");
        let slot_structures = vocabulary.slots.structures(order.len());
        let mut structures: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut sample_requests: Vec<&ClassAd> = Vec::new();
        let mut requests = Vec::with_capacity(ads.len());
        let of_queue = vocabulary.take_queue(ads.len());
        for (ad, ids) in ads.into_iter().zip(of_queue) {
            let next = structures.len();
            let structure = if vocabulary.is_unforeseen(&ids) {
                usize::MAX
            } else {
                *structures.entry(vocabulary.structure(&ids)).or_insert(next)
            };
            if structure == sample_requests.len() {
                sample_requests.push(ad);
            }
            requests.push(RequestKey { ad, ids, structure });
        }
        let sample_slots: Vec<&ClassAd> = slot_structures.firsts().into_iter().map(|place| source.ad(place)).collect();
        let plans = MatchPlans::new(&sample_slots, &sample_requests, &vocabulary, rules, in_use);
        observer.phase_started("classify");
        let partitioning = Partitioning::of(&plans, &vocabulary, order.len(), varying);
        let combinations = Combinations::of(&plans, &vocabulary, &partitioning, &requests);
        let partitioner = Partitioner {
            source: &source,
            vocabulary: &vocabulary,
            plans: &plans,
            partitioning: &partitioning,
            combinations: &combinations,
            requests: &requests,
            settings: offers.settings,
        };
        let table = ClassTable::new(&slot, &slot_structures, &partitioner);
        let unpartitioned = partitioning.unpartitioned;
        Ok((Self { order, vocabulary, plans, structures, unpartitioned, combinations, table }, requests))
    }
}
