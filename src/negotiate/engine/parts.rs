//! What an engine is made of: the attributes, plans and rows of a cycle.

use hashbrown::{HashMap, HashSet};

use crate::ad::ClassAd;
use crate::name::{Key, Name};
use crate::negotiate::engine::evaluate::Wanted;
use crate::negotiate::engine::plan::Plans;
use crate::negotiate::engine::separation::{Combinations, Separation, Separator};
use crate::negotiate::engine::table::{Table, structures};
use crate::negotiate::engine::vocabulary::{ClassRef, Vocabulary};
use crate::negotiate::engine::{Sample, VARYING};
use crate::negotiate::offer::Offers;
use crate::negotiate::rules::Rules;
use crate::syntax::expr::Expr;

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

impl Parts {
    /// The parts, and the requests of the queue; none if the cycle does what only a look at slot after slot can.
    pub(super) fn new(offers: &Offers<'_>, rules: &Rules, samples: &[Sample]) -> Option<(Self, Vec<Wanted>)> {
        let order = offers.order().to_vec();
        let slot = |place: usize| offers.slot_at(order[place]);
        let matching = &rules.knobs.matching;
        let foreseen = matching.preemption_requirements_stable
            && matching.preemption_rank_stable
            && !rules.ranking.ignore_jobs
            && !matching.allow_pslot_preemption
            && !offers.slots().iter().any(|slot| slot.consumption.is_some() || slot.stays);
        if !foreseen || order.is_empty() {
            return None;
        }
        let in_use = rules.trim.preemption && (0..order.len()).any(|place| slot(place).user.is_some());
        let ranking = &rules.ranking;
        let mut exprs: Vec<&Expr> = [&ranking.before_job, &ranking.after_job].into_iter().flatten().collect();
        let mut roots = vec!["Requirements", "Rank"];
        if in_use {
            roots.push("CurrentRank");
            exprs.extend(ranking.preemption.iter().chain(&rules.preemption.requirements));
        }
        let requests: Vec<ClassAd> = samples.iter().map(|sample| sample.ad.clone()).collect();
        let ads = |place: usize| ClassRef(&slot(place).ad);
        let (mut vocabulary, odd) = Vocabulary::collect(&ads, order.len(), &requests, &roots, &exprs)?;
        let (structure, structures) = structures(&vocabulary.columns, order.len());
        let mut kinds: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut shapes: Vec<&ClassAd> = Vec::new();
        let mut wanted = Vec::with_capacity(requests.len());
        for ad in &requests {
            let ids = vocabulary.ids(ad);
            let next = kinds.len();
            let kind = if vocabulary.is_odd(&ids, &odd) {
                usize::MAX
            } else {
                *kinds.entry(vocabulary.structure(&ids)).or_insert(next)
            };
            if kind == shapes.len() {
                shapes.push(ad);
            }
            wanted.push(Wanted { ad: ad.clone(), ids, kind });
        }
        let mut sample_slots: Vec<&ClassAd> = Vec::new();
        for (place, kind) in structure.iter().enumerate() {
            if *kind as usize == sample_slots.len() {
                sample_slots.push(&slot(place).ad);
            }
        }
        let plans = Plans::new(&sample_slots, &shapes, &vocabulary, rules, in_use);
        let varying = VARYING.iter().map(|name| Name::new(name).key()).collect();
        let separation = Separation::of(&plans, &vocabulary, order.len(), &varying);
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
        Some((Self { order, vocabulary, plans, kinds, odd, loose, combinations, table }, wanted))
    }
}
