//! What an engine is made of: the attributes, plans and rows of a cycle.

use hashbrown::{HashMap, HashSet};

use crate::negotiate::CycleObserver;
use crate::negotiate::engine::Sample;
use crate::negotiate::engine::evaluate::Wanted;
use crate::negotiate::engine::plan::Plans;
use crate::negotiate::engine::separation::{Combinations, Separation, Separator};
use crate::negotiate::engine::table::{Table, structures};
use crate::negotiate::engine::vocabulary::{ClassRef, Vocabulary};
use crate::negotiate::offer::Offers;
use crate::negotiate::rules::Rules;
use crate::pool::Slot;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Key;
use classmate::internal::syntax::expr::Expr;

/// What does not change during a deal.
#[derive(Debug)]
pub(super) struct Parts {
    /// The index of the slot at each place.
    pub(super) order: Vec<usize>,
    pub(super) vocabulary: Vocabulary,
    pub(super) plans: Plans,
    pub(super) kinds: HashMap<Vec<u32>, usize>,
    pub(super) odd: HashSet<(Key, u32)>,
    pub(super) loose: HashSet<Key>,
    pub(super) combinations: Combinations,
    pub(super) table: Table,
}

/// Why a cycle has to look at slot after slot, if its settings or slots say so at once.
fn obstacle(offers: &Offers<'_>, rules: &Rules) -> Option<&'static str> {
    let matching = &rules.knobs.matching;
    let any = |of: fn(&Slot) -> bool| offers.slots().iter().any(of);
    let obstacles = [
        (!matching.preemption_requirements_stable, "PREEMPTION_REQUIREMENTS is declared unstable"),
        (!matching.preemption_rank_stable, "PREEMPTION_RANK is declared unstable"),
        (rules.ranking.ignore_jobs, "NEGOTIATOR_IGNORE_JOB_RANKS is set"),
        (matching.allow_pslot_preemption, "ALLOW_PSLOT_PREEMPTION is set"),
        (any(|slot| slot.consumption.is_some()), "a slot has a consumption policy"),
        (any(|slot| slot.stays), "a slot has WantAdRevaluate"),
        (offers.order().is_empty(), "there are no slots"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
}

impl Parts {
    /// The parts, and the requests of the queue.
    ///
    /// # Errors
    /// What the cycle does that only a look at slot after slot can.
    pub(super) fn new<'s>(
        offers: &Offers<'_>,
        rules: &Rules,
        samples: &'s [Sample],
        varying: &HashSet<Key>,
        observer: &mut dyn CycleObserver,
    ) -> Result<(Self, Vec<Wanted<'s>>), &'static str> {
        let order = offers.order().to_vec();
        let slot = |place: usize| offers.slot_at(order[place]);
        if let Some(obstacle) = obstacle(offers, rules) {
            return Err(obstacle);
        }
        observer.phase_started("project");
        let in_use = rules.trim.preemption && (0..order.len()).any(|place| slot(place).user.is_some());
        let ranking = &rules.ranking;
        let mut exprs: Vec<&Expr> = [&ranking.before_job, &ranking.after_job].into_iter().flatten().collect();
        let mut roots = vec!["Requirements", "Rank"];
        if in_use {
            roots.push("CurrentRank");
            exprs.extend(ranking.preemption.iter().chain(&rules.preemption.requirements));
        }
        let requests: Vec<&ClassAd> = samples.iter().map(|sample| &sample.ad).collect();
        let ads = |place: usize| ClassRef(&slot(place).ad);
        let (mut vocabulary, odd) = Vocabulary::collect(&ads, order.len(), &requests, &roots, &exprs)?;
        observer.phase_started("compile");
        let (structure, structures) = structures(&vocabulary.columns, order.len());
        let mut kinds: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut shapes: Vec<&ClassAd> = Vec::new();
        let mut wanted = Vec::with_capacity(requests.len());
        let of_queue = vocabulary.take_queue(requests.len());
        for (ad, ids) in requests.into_iter().zip(of_queue) {
            let next = kinds.len();
            let kind = if vocabulary.is_odd(&ids, &odd) {
                usize::MAX
            } else {
                *kinds.entry(vocabulary.structure(&ids)).or_insert(next)
            };
            if kind == shapes.len() {
                shapes.push(ad);
            }
            wanted.push(Wanted { ad, ids, kind });
        }
        let mut sample_slots: Vec<&ClassAd> = Vec::new();
        for (place, kind) in structure.iter().enumerate() {
            if *kind as usize == sample_slots.len() {
                sample_slots.push(&slot(place).ad);
            }
        }
        let plans = Plans::new(&sample_slots, &shapes, &vocabulary, rules, in_use);
        observer.phase_started("classify");
        let separation = Separation::of(&plans, &vocabulary, order.len(), varying);
        let combinations = Combinations::of(&plans, &vocabulary, &separation, &wanted);
        let slots = |place: u32| slot(place as usize);
        let separator = Separator {
            ad: &|place| &slot(place as usize).ad,
            vocabulary: &vocabulary,
            plans: &plans,
            separation: &separation,
            combinations: &combinations,
            wanted: &wanted,
            settings: offers.settings(),
        };
        let table = Table::new(&slots, (&structure, structures), &separator);
        let loose = separation.loose;
        Ok((Self { order, vocabulary, plans, kinds, odd, loose, combinations, table }, wanted))
    }
}
