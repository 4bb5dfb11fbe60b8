//! The expressions of a cycle, compiled for each structure of a slot and each structure of a request.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::engine::vocabulary::Vocabulary;
use crate::negotiate::rules::Rules;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Key;
use classmate::internal::program::Side;
use classmate::internal::program::atom::{Atom, Atoms, World};
use classmate::internal::program::condition::{Clause, Step, expression, rank, requirements};
use classmate::internal::syntax::expr::Expr;

/// Clauses of a condition that look at the same attributes of the request.
#[derive(Debug)]
pub(super) struct Part {
    /// Its number: parts of the same atoms and operators are one.
    pub(super) id: u32,
    /// The attributes of the request, by their place in the vocabulary.
    pub(super) places: Vec<usize>,
    pub(super) clauses: Vec<Clause>,
}

/// Numbers parts.
type Parts = HashMap<Vec<u64>, u32>;

impl Part {
    /// Takes a condition apart by what its clauses look at.
    fn of(clauses: Vec<Clause>, vocabulary: &Vocabulary, known: &mut Parts) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for clause in clauses {
            let names = clause.atoms().flat_map(|atom| &atom.other);
            let mut places: Vec<usize> = names.filter_map(|name| vocabulary.place_of(name.key())).collect();
            places.sort_unstable();
            places.dedup();
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

    /// Its steps: atoms by their number, above the numbers of operators.
    fn identity(&self) -> Vec<u64> {
        let number = |step: &Step| match step {
            Step::Not => 0,
            Step::And => 1,
            Step::Or => 2,
            Step::Choose => 3,
            Step::Atom(atom) => 5 + u64::from(atom.id),
        };
        // 4 ends a clause.
        self.clauses.iter().flat_map(|clause| clause.steps.iter().map(number).chain([4])).collect()
    }
}

/// What is asked of a slot and a request.
#[derive(Debug)]
pub(super) struct Plan {
    /// The Requirements of the request.
    pub(super) job: Vec<Part>,
    /// The Requirements of the slot.
    pub(super) slot: Vec<Part>,
    /// The ranks: of the negotiator before the job's, the job's, the negotiator's after it.
    pub(super) ranks: [Option<Arc<Atom>>; 3],
    /// What is asked of slots in use: whether they prefer the job, whether they may be taken from their users, whether
    /// they like the job as well as theirs; and how willingly they are taken.
    pub(super) preemption: [Option<Arc<Atom>>; 4],
}

/// The plans, by structure of the request and of the slot.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// Whether slots are in use that somebody may be displaced from.
    pub(super) in_use: bool,
    kinds: usize,
    by_structure: Vec<Plan>,
}

impl Plans {
    /// Compiles the plans for an ad of each structure.
    pub(super) fn new(
        slots: &[&ClassAd],
        requests: &[&ClassAd],
        vocabulary: &Vocabulary,
        rules: &Rules,
        in_use: bool,
    ) -> Self {
        let (mut atoms, mut parts) = (Atoms::default(), Parts::default());
        let mut plans = Vec::with_capacity(slots.len() * requests.len());
        for request in requests {
            for slot in slots {
                let world = World { row: slot, other: request, selected: &vocabulary.selected };
                plans.push(Plan::new(&world, rules, in_use, &mut atoms, &mut |clauses| {
                    Part::of(clauses, vocabulary, &mut parts)
                }));
            }
        }
        Self { in_use, kinds: slots.len(), by_structure: plans }
    }

    /// The plan of a request's structure for a slot's.
    pub(super) fn plan(&self, request: usize, slot: usize) -> &Plan {
        &self.by_structure[request * self.kinds + slot]
    }

    /// The atoms of conditions that look at slots of a structure alone, each once.
    pub(super) fn closed(&self, kind: usize) -> impl Iterator<Item = &Arc<Atom>> {
        let mut seen = HashSet::new();
        self.by_structure
            .iter()
            .skip(kind)
            .step_by(self.kinds.max(1))
            .flat_map(Plan::conditions)
            .filter(move |atom| atom.other.is_empty() && seen.insert(atom.id))
    }

    /// The atoms of conditions that look at slots of a structure and at a request, with the structure of the request.
    pub(super) fn open(&self, kind: usize) -> impl Iterator<Item = (usize, &Arc<Atom>)> {
        let of_slots = self.by_structure.iter().skip(kind).step_by(self.kinds.max(1));
        let conditions = of_slots.enumerate().flat_map(|(kind, plan)| plan.conditions().map(move |atom| (kind, atom)));
        conditions.filter(|(_, atom)| !atom.other.is_empty())
    }

    /// The attributes of slots that conditions compare with something of the request: those that stand alone in every
    /// atom that looks at them, beside nothing that varies within an autocluster, and the others.
    pub(super) fn compared(&self, varying: &HashSet<Key>) -> (HashSet<Key>, HashSet<Key>) {
        let (mut alone, mut together) = (HashSet::new(), HashSet::new());
        for atom in self.by_structure.iter().flat_map(Plan::conditions).filter(|atom| !atom.other.is_empty()) {
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
        self.by_structure.iter().flat_map(|plan| plan.ranks.iter().flatten())
    }

    /// The ranks that look at slots of a structure alone, each once.
    pub(super) fn closed_ranks(&self, kind: usize) -> impl Iterator<Item = &Arc<Atom>> {
        let mut seen = HashSet::new();
        let of_slots = self.by_structure.iter().skip(kind).step_by(self.kinds.max(1));
        let ranks = of_slots.flat_map(|plan| plan.ranks.iter().flatten());
        ranks.filter(move |atom| atom.other.is_empty() && seen.insert(atom.id))
    }

    /// Number of structures of slots.
    pub(super) fn slots(&self) -> usize {
        self.kinds
    }

    /// Number of structures of requests.
    pub(super) fn requests(&self) -> usize {
        self.by_structure.len().checked_div(self.kinds).unwrap_or(0)
    }

    /// The attributes of requests that anything depends on.
    pub(super) fn asked(&self) -> HashSet<Key> {
        let all = self.by_structure.iter().flat_map(|plan| {
            let values = plan.ranks.iter().chain(&plan.preemption).flatten();
            plan.conditions().chain(values)
        });
        all.flat_map(|atom| &atom.other).map(|name| name.key()).collect()
    }
}

impl Plan {
    fn new(
        world: &World<'_>,
        rules: &Rules,
        in_use: bool,
        atoms: &mut Atoms,
        apart: &mut dyn FnMut(Vec<Clause>) -> Vec<Part>,
    ) -> Self {
        let mut of = |expr: Option<&Expr>, wanted: bool| {
            expr.filter(|_| wanted).map(|expr| expression(world, expr, Side::Row, atoms))
        };
        let (ranking, rules) = (&rules.ranking, &rules.preemption);
        let (before, after) = (of(ranking.before_job.as_ref(), true), of(ranking.after_job.as_ref(), true));
        let preemption = [
            of(Some(&rules.prefers), in_use),
            of(rules.requirements.as_ref(), in_use),
            of(Some(&rules.likes_as_well), in_use),
            of(ranking.preemption.as_ref(), in_use),
        ];
        Self {
            ranks: [before, Some(rank(world, Side::Other, atoms)), after],
            preemption,
            job: apart(requirements(world, Side::Other, atoms)),
            slot: apart(requirements(world, Side::Row, atoms)),
        }
    }

    fn conditions(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.job.iter().chain(&self.slot).flat_map(|part| &part.clauses).flat_map(Clause::atoms)
    }
}
