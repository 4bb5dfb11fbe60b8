//! Attributes that conditions refer to and that exist nowhere, with names that look like them.

use hashbrown::HashSet;
use serde::Serialize;

use crate::explain::Market;
use crate::explain::clauses::AdConditions;
use crate::explain::decide::leaves;
use crate::explain::kinds::Kinds;
use crate::explain::panel::Panel;
use classmate::internal::ad::ClassAd;
use classmate::internal::builtin::near::{allowance, distance};
use classmate::internal::eval::conditions::Connective;
use classmate::internal::name::{Key, Name, known};
use classmate::internal::syntax::expr::{Node, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::value::logic::Truth;

/// An attribute that exists nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Absent {
    /// As it is written.
    pub name: String,
    /// The condition that refers to it.
    pub clause: String,
    /// Whether the condition is the job's; otherwise it is that of slots.
    pub of_job: bool,
    /// A name that looks like it, in the ads where it is looked for.
    pub similar: Option<String>,
    /// Whether a condition that refers to it decides for some slot that it does not match.
    pub decides: bool,
}

impl Absent {
    /// Whether it is written with the scope `MY`.
    pub fn is_of_own_ad(&self) -> bool {
        self.name.get(..3).is_some_and(|scope| scope.eq_ignore_ascii_case("MY."))
    }
}

/// Slots whose names are looked through for similar ones.
const LOOKED_AT: usize = 1000;

/// Where a reference is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    My,
    Target,
    Either,
}

impl Place {
    /// A name as it is written to be looked for there.
    pub(super) fn written(self, name: Name) -> String {
        match self {
            Place::My => format!("MY.{name}"),
            Place::Target => format!("TARGET.{name}"),
            Place::Either => name.to_string(),
        }
    }
}

/// The references of a part of a tree, with what is not looked up in either ad left out.
pub(super) fn references(tree: &Tree, root: u32) -> Vec<(Name, Place)> {
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        match tree.node(id) {
            Node::Attr(name) if !known::is_special(name.key()) && !known::is_of_match(name.key()) => {
                found.push((*name, Place::Either));
            }
            Node::Attr(_) => {}
            Node::Select(name) => match tree.node(base_of(id)) {
                Node::Attr(base) if base.folded() == b"my" => found.push((*name, Place::My)),
                Node::Attr(base) if base.folded() == b"target" => found.push((*name, Place::Target)),
                _ => waiting.push(base_of(id)),
            },
            Node::Ad(_) => {} // names inside are those of the ad written there
            _ => waiting.extend(tree.parts(id)),
        }
    }
    found.reverse();
    found
}

/// Attributes that are known, but that not every job or slot has: a name like theirs is no slip of the pen.
const STANDARD: &[&[u8]] = &[
    b"requestgpus",
    b"requiregpus",
    b"gpus",
    b"totalgpus",
    b"detectedgpus",
    b"gpus_capability",
    b"availablegpus",
    b"cudacapability",
    b"accountinggroup",
    b"acctgroup",
    b"acctgroupuser",
    b"concurrencylimits",
    b"remoteowner",
    b"remoteuser",
    b"rank",
    b"flockto",
    b"jobprio",
    b"niceuser",
    b"owner",
    b"user",
];

/// The references of a condition for which it matters whether they exist: not those for which it provides otherwise, by
/// `?:` or by asking in front whether they are there, nor names inside of the elements of a list.
fn relied_on(tree: &Tree, root: u32) -> Vec<(Name, Place)> {
    let (mut waiting, mut left_out, mut guarded) = (vec![root], HashSet::new(), HashSet::new());
    let mut leave = |id: u32| left_out.extend(references(tree, id).into_iter().map(|(name, _)| name.key()));
    while let Some(id) = waiting.pop() {
        let asked = match *tree.node(id) {
            Node::Ad(_) => continue,
            Node::Binary(BinaryOp::Default, left, right) => {
                leave(left);
                waiting.push(right);
                continue;
            }
            Node::Conditional { condition, .. } => Some(condition),
            Node::Call(call) => {
                let site = &tree.calls[call as usize];
                match (site.name.folded(), tree.run(site.arguments)) {
                    (b"evalineachcontext" | b"countmatches", [inner, ..]) => {
                        leave(*inner);
                        continue;
                    }
                    (b"ifthenelse", [condition, ..]) => Some(*condition),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(condition) = asked {
            guarded.extend(presence(tree, condition));
        }
        waiting.extend(tree.parts(id));
    }
    let mut found = references(tree, root);
    found.retain(|(name, _)| !left_out.contains(&name.key()) && !guarded.contains(&name.key()));
    found
}

/// The names of which a condition asks whether they are there.
fn presence(tree: &Tree, root: u32) -> Vec<Key> {
    let (mut waiting, mut found) = (vec![root], Vec::new());
    let undefined = |id: u32| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Undefined));
    while let Some(id) = waiting.pop() {
        let asked = match *tree.node(id) {
            Node::Binary(BinaryOp::Is | BinaryOp::Isnt, left, right) if undefined(right) => left,
            Node::Binary(BinaryOp::Is | BinaryOp::Isnt, left, right) if undefined(left) => right,
            Node::Call(call) if tree.calls[call as usize].name.folded() == b"isundefined" => id,
            _ => {
                waiting.extend(tree.parts(id));
                continue;
            }
        };
        found.extend(references(tree, asked).into_iter().map(|(name, _)| name.key()));
    }
    found
}

/// The attributes that conditions of the job and of slots refer to and that exist nowhere they are looked for.
pub(super) fn absent(
    market: &Market,
    panel: &Panel<'_>,
    job: &ClassAd,
    plan: &AdConditions,
    kinds: &Kinds,
) -> Vec<Absent> {
    let policies = &kinds.policies;
    let deciding = deciding(plan, kinds);
    let mut found: Vec<Absent> = Vec::new();
    // Without slots nothing can be said of what they have.
    if market.slots.is_empty() {
        return found;
    }
    // What a condition names can be reached from Requirements.
    let in_slots = |name: Name| panel.has(name);
    for (of_job, plan) in std::iter::once((true, plan)).chain(policies.iter().map(|policy| (false, &policy.plan))) {
        for condition in plan.all.iter().filter(|condition| condition.connective == Connective::Leaf) {
            for (name, place) in relied_on(condition.expr.tree(), condition.expr.root()) {
                let (job_side, slot_side) = match (place, of_job) {
                    (Place::Either, _) => (true, true),
                    (Place::My, true) | (Place::Target, false) => (true, false),
                    _ => (false, true),
                };
                if (job_side && job.contains(name)) || (slot_side && in_slots(name)) {
                    continue;
                }
                let written = place.written(name);
                let decides = deciding.contains(&(of_job, condition.expr.to_string()));
                let known = |one: &&mut Absent| one.of_job == of_job && one.name.eq_ignore_ascii_case(&written);
                if let Some(one) = found.iter_mut().find(known) {
                    // The condition that decides is told.
                    if decides && !one.decides {
                        (one.decides, one.clause) = (true, condition.expr.to_string());
                    }
                    continue;
                }
                let similar = similar(market, job, name, (job_side, slot_side));
                found.push(Absent { name: written, clause: condition.expr.to_string(), of_job, similar, decides });
            }
        }
    }
    found
}

/// The texts of the conditions of either side that decide that some slot does not match.
fn deciding(plan: &AdConditions, kinds: &Kinds) -> HashSet<(bool, String)> {
    let mut found = HashSet::new();
    let mut of = |of_job: bool, plan: &AdConditions, rows: &mut dyn Iterator<Item = &Vec<Truth>>| {
        let mut places: HashSet<usize> = HashSet::new();
        for row in rows {
            for (at, _) in plan.required().filter(|(at, _)| row[*at] != Truth::True) {
                places.extend(leaves(plan, row, at).into_iter().map(|(leaf, _)| leaf));
            }
        }
        found.extend(places.into_iter().map(|at| (of_job, plan.all[at].expr.to_string())));
    };
    of(true, plan, &mut kinds.all.iter().map(|kind| &kind.one));
    for policy in &kinds.policies {
        of(false, &policy.plan, &mut policy.kinds.iter().map(|at| &kinds.all[*at].many));
    }
    found
}

/// The name nearest to one that is missing, the job's if both are as near.
fn similar(market: &Market, job: &ClassAd, name: Name, (job_side, slot_side): (bool, bool)) -> Option<String> {
    if STANDARD.contains(&name.folded()) {
        return None;
    }
    let allowed = allowance(name.as_bytes());
    let mut ads: Vec<&ClassAd> = Vec::new();
    if job_side {
        ads.push(job);
        ads.extend(job.chained().map(|parent| &**parent));
    }
    if slot_side {
        ads.extend(market.slots.iter().take(LOOKED_AT).map(|slot| &slot.ad));
    }
    // Most ads have the same names.
    let mut seen: HashSet<Key> = HashSet::new();
    let unkept = market.unkept.iter().copied().filter(|_| slot_side);
    let names = ads.into_iter().flat_map(ClassAd::names).chain(unkept).filter(|name| seen.insert(name.key()));
    let near =
        names.filter_map(|other| Some((distance(name.as_bytes(), other.as_bytes(), allowed)?, other.folded(), other)));
    near.min_by_key(|(edits, folded, _)| (*edits, *folded)).map(|(_, _, other)| other.to_string())
}
