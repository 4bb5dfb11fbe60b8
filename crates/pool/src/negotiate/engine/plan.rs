//! The expressions of a cycle, compiled for each structure of a slot and each structure of a request.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::engine::vocabulary::Vocabulary;
use crate::negotiate::rules::Rules;
use classmate::Semantics;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::Side;
use classmate::internal::program::atom::{AdPair, Atom, Atoms, Surrounding};
use classmate::internal::program::condition::{Clause, ClauseStep, expression, rank, requirements};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::threads;

/// Smallest number of plans for which a thread is worth while.
const GRAIN: usize = 128;

/// The clauses of a condition that look at the same attributes of the request.
#[derive(Debug)]
pub(super) struct ConditionPart {
    /// The number of its content: parts of the same atoms and operators share it.
    pub(super) id: u32,
    /// The attributes of the request, by their place in the vocabulary.
    pub(super) places: Vec<usize>,
    pub(super) clauses: Vec<Clause>,
}

/// The numbers of parts by content.
type PartNumbers = HashMap<Vec<u64>, u32>;

impl ConditionPart {
    /// Groups the clauses of a condition by the attributes of the request that they look at.
    fn of(clauses: Vec<Clause>, vocabulary: &Vocabulary, known: &mut PartNumbers) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for clause in clauses {
            let names = clause.atoms().flat_map(|atom| &atom.other);
            let places = vocabulary.places(names);
            match parts.iter_mut().find(|part| part.places == places) {
                Some(part) => part.clauses.push(clause),
                None => parts.push(Self { id: 0, places, clauses: vec![clause] }),
            }
        }
        for part in &mut parts {
            let next = known.len() as u32;
            part.id = *known.entry(part.identity()).or_insert(next);
        }
        parts
    }

    /// The content: operators, and atoms by their number.
    fn identity(&self) -> Vec<u64> {
        let number = |step: &ClauseStep| match step {
            ClauseStep::Not => 0,
            ClauseStep::And => 1,
            ClauseStep::Or => 2,
            ClauseStep::Choose => 3,
            ClauseStep::Atom(atom) => 5 + u64::from(atom.id),
        };
        // 4 ends a clause.
        self.clauses.iter().flat_map(|clause| clause.steps.iter().map(number).chain([4])).collect()
    }
}

/// The expressions to evaluate for a slot and a request.
#[derive(Debug)]
pub(super) struct MatchPlan<Condition = Arc<[ConditionPart]>> {
    /// The Requirements of the request.
    pub(super) job: Condition,
    /// The Requirements of the slot.
    pub(super) slot: Condition,
    /// The ranks: of the negotiator before the job's, the job's, the negotiator's after it.
    pub(super) ranks: [Option<Arc<Atom>>; 3],
    /// For slots in use: whether they prefer the job, whether `PREEMPTION_REQUIREMENTS` is true, and whether they rank the
    /// job as high as the running one.
    pub(super) preemption: [Option<Arc<Atom>>; 3],
    /// For slots in use: `PREEMPTION_RANK`.
    pub(super) preemption_rank: Option<Arc<Atom>>,
}

/// The plans, by structure of the request and of the slot.
#[derive(Debug, Default)]
pub(super) struct MatchPlans {
    /// True if slots are in use and may be preempted.
    pub(super) in_use: bool,
    slot_structures: usize,
    by_structure: Vec<MatchPlan>,
}

impl MatchPlans {
    /// Compiles the plans for an ad of each structure; without rules, only those of matches.
    pub(super) fn new(
        slots: &[&ClassAd],
        requests: &[&ClassAd],
        vocabulary: &Vocabulary,
        rules: Option<&Rules>,
        in_use: bool,
        semantics: Semantics,
    ) -> Self {
        let count = slots.len() * requests.len();
        // Atoms are numbered in the order of first sight, into however many parts the pairs are divided.
        let parts = threads::map_parts(count, GRAIN, |part| {
            let mut parts = DraftParts::default();
            let draft = |at: usize| {
                let (row, other) = (slots[at % slots.len()], requests[at / slots.len()]);
                let pair = AdPair { row, other, selected: &vocabulary.slots.selected, semantics };
                DraftPlan::new(&pair, rules, in_use, &mut parts)
            };
            (part.map(draft).collect::<Vec<DraftPlan>>(), parts)
        });
        let (mut atoms, mut known) = (Atoms::default(), PartNumbers::default());
        let mut plans = Vec::with_capacity(count);
        for (drafts, DraftParts { atoms: apart, conditions, .. }) in parts {
            let numbered = atoms.absorb(apart);
            let finish = |clauses: Vec<Clause>| finished(clauses, &numbered, vocabulary, &mut known).into();
            let conditions: Vec<Arc<[ConditionPart]>> = conditions.into_iter().map(finish).collect();
            plans.extend(drafts.into_iter().map(|draft| draft.finish(&numbered, &conditions)));
        }
        Self { in_use, slot_structures: slots.len(), by_structure: plans }
    }

    /// The plan of a request's structure for a slot's.
    pub(super) fn plan(&self, request: usize, slot: usize) -> &MatchPlan {
        &self.by_structure[request * self.slot_structures + slot]
    }

    /// The plans for slots of a structure, one for each structure of a request.
    fn of_slots(&self, structure: usize) -> impl Iterator<Item = &MatchPlan> {
        self.by_structure.iter().skip(structure).step_by(self.slot_structures.max(1))
    }

    /// The atoms of conditions that look only at slots of a structure, each once.
    pub(super) fn closed(&self, structure: usize) -> impl Iterator<Item = &Arc<Atom>> {
        let mut seen = HashSet::new();
        let conditions = self.of_slots(structure).flat_map(MatchPlan::conditions);
        conditions.filter(move |atom| atom.other.is_empty() && seen.insert(atom.id))
    }

    /// The atoms of conditions that look at slots of a structure and at a request, with the structure of the request.
    pub(super) fn open(&self, structure: usize) -> impl Iterator<Item = (usize, &Arc<Atom>)> {
        let of_slots = self.of_slots(structure);
        let conditions =
            of_slots.enumerate().flat_map(|(request, plan)| plan.conditions().map(move |atom| (request, atom)));
        conditions.filter(|(_, atom)| !atom.other.is_empty())
    }

    /// The attributes of slots that conditions compare with attributes of the request: first those that are the only one of
    /// the slot in every atom, beside nothing that varies within an autocluster, then the others.
    pub(super) fn compared(&self, varying: &HashSet<Key>) -> (HashSet<Key>, HashSet<Key>) {
        let (mut alone, mut together) = (HashSet::new(), HashSet::new());
        for atom in self.by_structure.iter().flat_map(MatchPlan::conditions).filter(|atom| !atom.other.is_empty()) {
            let foreseen = atom.row.len() == 1 && !atom.other.iter().any(|name| varying.contains(&name.key()));
            let keys = atom.row.iter().map(|name| name.key());
            if foreseen { alone.extend(keys) } else { together.extend(keys) }
        }
        let preemption = self.by_structure.iter().flat_map(|plan| plan.preemption.iter().flatten());
        together.extend(preemption.flat_map(|atom| &atom.row).map(|name| name.key()));
        alone.retain(|key| !together.contains(key));
        (alone, together)
    }

    /// The ranks.
    pub(super) fn ranks(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.by_structure.iter().flat_map(MatchPlan::all_ranks)
    }

    /// The ranks that look only at slots of a structure, each once.
    pub(super) fn closed_ranks(&self, structure: usize) -> impl Iterator<Item = &Arc<Atom>> {
        let mut seen = HashSet::new();
        let ranks = self.of_slots(structure).flat_map(MatchPlan::all_ranks);
        ranks.filter(move |atom| atom.other.is_empty() && seen.insert(atom.id))
    }

    /// Number of structures of slots.
    pub(super) fn slots(&self) -> usize {
        self.slot_structures
    }

    /// Number of structures of requests.
    pub(super) fn requests(&self) -> usize {
        self.by_structure.len().checked_div(self.slot_structures).unwrap_or(0)
    }

    /// The attributes of requests that any expression depends on.
    pub(super) fn request_attributes(&self) -> HashSet<Key> {
        self.by_structure.iter().flat_map(MatchPlan::looked_at).map(|name| name.key()).collect()
    }

    /// For each structure of a request the attributes that any expression looks at, by their place in the vocabulary: requests
    /// that agree in them have equal results.
    pub(super) fn looked_at(&self, vocabulary: &Vocabulary) -> Vec<Vec<usize>> {
        let of_requests = self.by_structure.chunks(self.slot_structures.max(1));
        of_requests.map(|plans| vocabulary.places(plans.iter().flat_map(MatchPlan::looked_at))).collect()
    }
}

/// A plan with atoms that are numbered apart, and the numbers of its conditions.
type DraftPlan = MatchPlan<usize>;

/// The parts of some plans.
#[derive(Debug, Default)]
struct DraftParts {
    atoms: Atoms,
    /// The conditions, each once.
    conditions: Vec<Vec<Clause>>,
    /// Their numbers, by side and by all that decides them.
    known: HashMap<(Side, Vec<Surrounding>), usize>,
    /// The atoms of expressions of the configuration, by their address and all that decides what they depend on.
    expressions: HashMap<(usize, Vec<Surrounding>), Arc<Atom>>,
}

impl DraftParts {
    /// The number of the Requirements of a side.
    fn condition(&mut self, pair: &AdPair<'_>, side: Side) -> usize {
        let surroundings = pair.surroundings("Requirements".into(), side, &mut self.atoms.mentions);
        let (atoms, conditions) = (&mut self.atoms, &mut self.conditions);
        *self.known.entry((side, surroundings)).or_insert_with(|| {
            conditions.push(requirements(pair, side, atoms));
            conditions.len() - 1
        })
    }

    /// The atom of an expression of the configuration.
    fn expression(&mut self, pair: &AdPair<'_>, expr: &Expr) -> Arc<Atom> {
        let surroundings = pair.surroundings_of(expr, &mut self.atoms.mentions);
        let atoms = &mut self.atoms;
        let key = (std::ptr::from_ref(expr) as usize, surroundings);
        Arc::clone(self.expressions.entry(key).or_insert_with(|| expression(pair, expr, Side::Row, atoms)))
    }
}

impl DraftPlan {
    fn new(pair: &AdPair<'_>, rules: Option<&Rules>, in_use: bool, parts: &mut DraftParts) -> Self {
        let mut of = |expr: Option<&Expr>| expr.map(|expr| parts.expression(pair, expr));
        let ranking = rules.map(|rules| &rules.ranking);
        let before = of(ranking.and_then(|ranking| ranking.before_job.as_ref()));
        let after = of(ranking.and_then(|ranking| ranking.after_job.as_ref()));
        let preempting = rules.filter(|_| in_use);
        let preemption = preempting.map(|rules| &rules.preemption);
        let preemption = [
            of(preemption.map(|rules| &rules.prefers)),
            of(preemption.and_then(|rules| rules.requirements.as_ref())),
            of(preemption.map(|rules| &rules.likes_as_well)),
        ];
        let preemption_rank = of(preempting.and_then(|rules| rules.ranking.preemption.as_ref()));
        Self {
            ranks: [before, rules.map(|_| rank(pair, Side::Other, &mut parts.atoms)), after],
            preemption,
            preemption_rank,
            job: parts.condition(pair, Side::Other),
            slot: parts.condition(pair, Side::Row),
        }
    }

    /// The plan, with each atom replaced by the one in the place of its number.
    fn finish(self, numbered: &[Arc<Atom>], conditions: &[Arc<[ConditionPart]>]) -> MatchPlan {
        let of = |atom: Arc<Atom>| Arc::clone(&numbered[atom.id as usize]);
        MatchPlan {
            job: Arc::clone(&conditions[self.job]),
            slot: Arc::clone(&conditions[self.slot]),
            ranks: self.ranks.map(|atom| atom.map(of)),
            preemption: self.preemption.map(|atom| atom.map(of)),
            preemption_rank: self.preemption_rank.map(of),
        }
    }
}

/// The parts of a condition, with each atom replaced by the one in the place of its number.
fn finished(
    mut clauses: Vec<Clause>,
    numbered: &[Arc<Atom>],
    vocabulary: &Vocabulary,
    known: &mut PartNumbers,
) -> Vec<ConditionPart> {
    for step in clauses.iter_mut().flat_map(|clause| &mut clause.steps) {
        if let ClauseStep::Atom(atom) = step {
            *atom = Arc::clone(&numbered[atom.id as usize]);
        }
    }
    ConditionPart::of(clauses, vocabulary, known)
}

impl MatchPlan {
    /// The ranks, that of preemption included.
    fn all_ranks(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.ranks.iter().flatten().chain(&self.preemption_rank)
    }

    /// The attributes of the request that any expression looks at.
    fn looked_at(&self) -> impl Iterator<Item = &Name> {
        let all = self.conditions().chain(self.all_ranks()).chain(self.preemption.iter().flatten());
        all.flat_map(|atom| &atom.other)
    }

    fn conditions(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.job.iter().chain(&*self.slot).flat_map(|part| &part.clauses).flat_map(Clause::atoms)
    }
}
