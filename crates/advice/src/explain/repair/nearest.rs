//! The slots that fail by the fewest conditions, and the smallest changes after which they match.
//!
//! A change is constructed from the conditions that fail, and reported only after a test on all slots. One file of more than 600 lines: the
//! order of changes is that of how they were constructed.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdCondition, AdConditions};
use crate::explain::correction;
use crate::explain::job_view::JobView;
use crate::explain::repair::edit::{self, Bound, Edit, amount, changed, is_request_of_all, number};
use crate::explain::repair::failure::{FailureClass, failures};
use crate::explain::repair::plan::{self, Repair, RepairMap, RepairPlan};
use crate::explain::repair::policy_edit::{RejectingSlots, replaced};
use crate::explain::repair::suggestion::{Change, Changed, Suggestion, TestedChange, WrittenAttributes};
use crate::explain::trial::{Effect, Trials};
use crate::submit::added::Origin;
use crate::submit::requirements::completed;
use classmate::internal::builtin::near;
use classmate::internal::program::view::TableView;
use classmate::internal::syntax::literal::Literal;
use classmate::{ClassAd, Expr, Name, Scope};

/// Slots that fail by the same conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearSlots {
    /// Number of slots.
    pub slots: usize,
    /// One of them.
    pub example: String,
    /// Conditions of the job that are not true for them.
    pub by_job: Vec<String>,
    /// Conditions of theirs that are not true for the job.
    pub by_slot: Vec<String>,
}

/// Maximum number of classes of slots in the output.
const MAX_NEAR_CLASSES: usize = 8;
/// Maximum number of classes of slots for which changes are constructed.
const MAX_TRIED_CLASSES: usize = 24;
/// Maximum number of attribute sets whose change is tested.
const MAX_SIGNATURES: usize = 8;
/// Maximum number of tested ways to satisfy a condition.
const MAX_PLANS: usize = 6;
/// Maximum number of edits of a suggestion: a job with more faults is another job.
const MAX_EDITS: usize = 3;
/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 8;

/// The nearest slots and what would make them match.
pub(crate) fn nearest(view: &JobView<'_>) -> (Vec<NearSlots>, Vec<TestedChange>) {
    let failures = failures(&view.conditions, &view.classes);
    let text = |conditions: &AdConditions, failing: &[usize]| {
        failing.iter().map(|at| format!("{:#}", conditions.all[*at].expr)).collect::<Vec<_>>()
    };
    let mut near: IndexMap<[Vec<String>; 2], NearSlots> = IndexMap::new();
    for failure in &failures {
        let by_job = text(&view.conditions, &failure.by_one);
        let by_slot = text(&view.classes.policies[failure.policy].conditions, &failure.by_many);
        let example = view.pool.of_slots[view.classes.all[failure.classes[0]].first].name.clone();
        let key = [by_job.clone(), by_slot.clone()];
        near.entry(key).or_insert(NearSlots { slots: 0, example, by_job, by_slot }).slots += failure.size;
    }
    let near = near.into_values().take(MAX_NEAR_CLASSES).collect();
    // The correction of a name that no ad defines can name attributes that the conditions do not reach.
    let mut names = correction::names(view);
    let required = view.conditions.required();
    let others = required.filter_map(|(_, one)| Origin::of(view.job, &one.expr)?.other()?.condition());
    names.extend(others);
    let wider = (!names.is_empty()).then(|| {
        let names: Vec<&Expr> = names.iter().collect();
        AdTable::of(view.pool.slots.iter().map(|slot| &slot.ad).collect(), view.job, &names, &view.pool.settings)
    });
    let table = wider.as_ref().unwrap_or(&view.table);
    let mut made: Vec<UntestedChange<'_>> =
        of_the_job(view, table, &failures).into_iter().map(UntestedChange::OfJob).collect();
    let of_slots = failures.iter().filter(|failure| failure.by_one.is_empty());
    made.extend(
        of_slots
            .clone()
            .take(MAX_TRIED_CLASSES)
            .enumerate()
            .map(|(at, failure)| UntestedChange::OfSlots(at, replaced(view, failure))),
    );
    let refusing = RejectingSlots::of(view, of_slots.collect());
    // Stable: of the same attribute the smallest change stays first, and what the nearest slots want before the rest.
    made.sort_by_key(UntestedChange::order);
    let trials = Trials::new(table, view.job);
    let mut tested: Vec<TestedChange> = Vec::new();
    for one in made {
        if tested.len() == MAX_SUGGESTIONS {
            break;
        }
        let found = match one {
            UntestedChange::OfJob(edits) => of_edits(view, &trials, &edits, &tested),
            UntestedChange::OfSlots(at, conditions) => refusing.change(view, at, &conditions, &tested),
        };
        let part = |found: &TestedChange| tested.iter().any(|known| is_part_of(&known.suggestion, &found.suggestion));
        let found = found.filter(|found| !part(found));
        tested.extend(found);
    }
    (near, ranked(without_repeated(tested)))
}

/// Changes without those that set an attribute to 0, where its removal does the same, and without steps of a limit that win no
/// more slots than a smaller one.
fn without_repeated(mut tested: Vec<TestedChange>) -> Vec<TestedChange> {
    let all: Vec<(Vec<Change>, Vec<u32>, usize)> = tested
        .iter()
        .map(|one| (one.suggestion.changes.clone(), one.suggestion.won_slots.clone(), one.suggestion.lost))
        .collect();
    tested.retain(|TestedChange { suggestion: Suggestion { changes, won_slots, lost, .. }, .. }| {
        let removed = |change: &Change| match (change.of, change.after.as_str()) {
            (Changed::Job, "0") => Change { after: "undefined".to_owned(), ..change.clone() },
            _ => change.clone(),
        };
        let removed: Vec<Change> = changes.iter().map(removed).collect();
        removed == *changes
            || !all.iter().any(|(other, won, less)| *other == removed && won == won_slots && less == lost)
    });
    // A condition is not left out where its constant was misspelled, or where another one wins as much; nor is another string written.
    let misspelled: Vec<bool> = tested
        .iter()
        .map(|one| {
            let corrects = |other: &TestedChange| {
                (other.slip.is_some() || one.suggestion.won <= other.suggestion.won)
                    && !changed_parts(other, Changed::Constant).is_empty()
                    && other.suggestion.changes.len() == one.suggestion.changes.len()
                    && removes_the_same(one, other)
                    || other.corrects_value && other.suggestion.changes.len() <= one.suggestion.changes.len() && {
                        let is_other = changed_parts(one, Changed::Constant) == changed_parts(other, Changed::Constant);
                        one.writes_string && is_other || removes_constants(one, other)
                    }
            };
            tested.iter().any(corrects)
        })
        .collect();
    let mut misspelled = misspelled.into_iter();
    tested.retain(|_| misspelled.next() == Some(false));
    // A further step that wins no more.
    let mut steps: IndexMap<Vec<(Changed, String)>, usize> = IndexMap::new();
    tested.retain(|one| {
        let slots = one.suggestion.slots;
        if !one.is_step {
            return true;
        }
        let most = steps.entry(places(one)).or_default();
        let is_more = *most < slots;
        *most = (*most).max(slots);
        is_more
    });
    tested
}

/// The attributes and conditions that a change changes.
fn places(one: &TestedChange) -> Vec<(Changed, String)> {
    let place = |change: &Change| match change.of {
        // To remove an attribute is another thing than to give it another value.
        Changed::Job if change.after == "undefined" => (change.of, format!("{} removed", change.attribute)),
        // So is less or more of it.
        Changed::Job => match [&change.before, &change.after].map(|text| text.parse::<f64>()) {
            [Ok(before), Ok(after)] if after > before => (change.of, format!("{} raised", change.attribute)),
            _ => (change.of, change.attribute.clone()),
        },
        _ => (change.of, change.before.clone()),
    };
    one.suggestion.changes.iter().map(place).collect()
}

/// Tests if a change asks for none of something that the job requests.
pub(crate) fn gives_up(change: &Change) -> bool {
    let is_nothing = matches!(change.after.as_str(), "0" | "undefined");
    let is_removed = change.command.as_ref().is_some_and(|command| command.starts_with("remove request_"));
    is_removed
        || change.of == Changed::Job && is_nothing && Name::new(&change.attribute).folded().starts_with(b"request")
}

/// Tests if a change writes another value, of several that would do, in place of a constant that is not misspelled.
fn is_other_value(one: &TestedChange) -> bool {
    let mut constants = one.suggestion.changes.iter().filter(|change| change.of == Changed::Constant);
    one.slip.is_none() && constants.any(|_| one.writes_string || !one.is_step)
}

/// The constants that a change writes other values for, or the conditions that it removes.
fn changed_parts(one: &TestedChange, of: Changed) -> Vec<&str> {
    let corrects = of == Changed::Constant && one.corrects_value;
    let is_it = |change: &&Change| change.of == of || corrects && change.of == Changed::Correction;
    one.suggestion.changes.iter().filter(is_it).map(|change| change.before.as_str()).collect()
}

/// Tests if a change removes the conditions for whose constants another one writes values, without more changes.
fn removes_the_same(one: &TestedChange, other: &TestedChange) -> bool {
    one.suggestion.changes.len() <= other.suggestion.changes.len() && removes_constants(one, other)
}

/// Tests if a change removes the conditions for whose constants another one writes values.
fn removes_constants(one: &TestedChange, other: &TestedChange) -> bool {
    let removed = changed_parts(one, Changed::Condition);
    changed_parts(other, Changed::Constant)
        .iter()
        .all(|constant| removed.iter().any(|condition| condition.contains(constant)))
}

/// The number of times that a request of the job is divided by four, at least, if another ad takes the place of the job.
fn reduction(view: &JobView<'_>, after: &ClassAd, edits: &[Edit]) -> u32 {
    const PART: f64 = 4.0;
    /// Of numbers that are not finite.
    const MOST: usize = 32;
    let of_edit = |edit: &Edit| {
        let number = |ad: &ClassAd| Scope::new(ad, &view.pool.settings).eval_attr(edit.name).ok()?.as_number();
        let (before, after) = (number(view.job)?, number(after)?);
        let parts = std::iter::successors(Some(before / PART), |part| Some(part / PART));
        Some(parts.take(MOST).take_while(|part| after > 0.0 && *part > after).count() as u32)
    };
    // What is corrected was not meant.
    let is_correction = edits.iter().any(|edit| edit.of == Changed::Correction);
    let is_request = |edit: &&Edit| edit.of == Changed::Job && edit.name.folded().starts_with(b"request");
    edits.iter().filter(|edit| !is_correction && is_request(edit)).filter_map(of_edit).max().unwrap_or(0)
}

/// For each change, true if it is worse than another that is a little larger: it writes another string where most slots match
/// without the condition, or another value where more slots match and fewer are lost without it, or writes another value than the one
/// after which most slots match, where the condition can be left out.
fn lesser_values(tested: &[TestedChange]) -> Vec<bool> {
    /// Most times as many slots as match with another string if its condition is left out.
    const OF_STRING: usize = 2;
    let is_lesser = |(at, one): (usize, &TestedChange)| {
        let is_better = |(place, other): (usize, &TestedChange)| {
            let key = |at: usize, one: &TestedChange| {
                (one.suggestion.changes.len(), std::cmp::Reverse(one.suggestion.slots), at)
            };
            is_other_value(other)
                && changed_parts(one, Changed::Constant) == changed_parts(other, Changed::Constant)
                && key(place, other) < key(at, one)
        };
        let wins = |other: &TestedChange, times: usize| other.suggestion.slots > times * one.suggestion.slots;
        let is_far_better = |other: &TestedChange| {
            one.writes_string && is_other_value(one) && removes_the_same(other, one) && wins(other, OF_STRING)
                || is_other_value(one)
                    && removes_the_same(other, one)
                    && other.suggestion.lost < one.suggestion.lost
                    && other.suggestion.slots > one.suggestion.slots
        };
        tested.iter().any(is_far_better)
            || is_other_value(one)
                && tested.iter().any(|other| removes_the_same(other, one))
                && tested.iter().enumerate().any(is_better)
    };
    tested.iter().enumerate().map(is_lesser).collect()
}

/// Tests if a change requests something that the job does without, other than what every job needs.
fn asks_more(change: &Change) -> bool {
    let name = Name::new(&change.attribute);
    change.of == Changed::Job
        && change.before == "undefined"
        && name.folded().starts_with(b"request")
        && !is_request_of_all(name)
}

/// Changes by their size, then those of the owner or the group, then those of slots, and those that reduce a request to less than a
/// quarter last; of equal ones corrections come first, then strings
/// that were probably misspelled, then those after which most slots match, then fewer changes, with smaller changes of the same limits
/// before them. Of other values for a constant, all but one come last.
fn ranked(mut tested: Vec<TestedChange>) -> Vec<TestedChange> {
    let mut most: IndexMap<Vec<(Changed, String)>, usize> = IndexMap::new();
    for one in &tested {
        let most = most.entry(places(one)).or_default();
        *most = (*most).max(one.suggestion.slots);
    }
    let mut lesser = lesser_values(&tested).into_iter();
    let mut tested: Vec<(bool, TestedChange)> =
        tested.drain(..).map(|one| (lesser.next().unwrap_or(false), one)).collect();
    tested.sort_by_cached_key(|(is_lesser, one)| {
        let changes = &one.suggestion.changes;
        let of = changes.iter().map(|change| change.of).max();
        let is_of_others = changes.iter().any(|change| is_identity(Name::new(&change.attribute)));
        let (is_correction, is_removal) = (of == Some(Changed::Correction), of == Some(Changed::Condition));
        let corrects = changes.iter().any(|change| change.of == Changed::Correction);
        let (place, most) = most.get_full(&places(one)).map_or((0, 0), |(place, _, most)| (place, *most));
        let slots = one.suggestion.slots;
        let order = if one.is_step { slots } else { usize::MAX - slots };
        let slip = (one.slip.is_none(), one.slip);
        let fewer = (!corrects, changes.len(), is_removal);
        let size = (one.weight, !is_correction, slip, std::cmp::Reverse(most), fewer);
        let is_last = (changes.iter().any(gives_up), one.suggestion.reduction, of == Some(Changed::Slot), is_of_others);
        (is_last, *is_lesser || changes.iter().any(asks_more), size, place, order)
    });
    tested.into_iter().map(|(_, one)| one).collect()
}

/// Tests if a known change only edits parts of a condition that another one removes.
fn is_part_of(known: &Suggestion, found: &Suggestion) -> bool {
    let [outer] = found.changes.as_slice() else { return false };
    let inside = |inner: &Change| {
        inner.attribute == outer.attribute && inner.before != outer.before && outer.before.contains(&inner.before)
    };
    outer.of == Changed::Condition && known.changes.iter().all(inside) && known.slots >= found.slots
}

/// Tests if an attribute identifies the owner: changing it is not a small change.
pub(crate) fn is_identity(name: Name) -> bool {
    let identity: [&[u8]; 8] = [
        b"owner",
        b"user",
        b"accountinggroup",
        b"acctgroup",
        b"acctgroupuser",
        b"ntdomain",
        b"x509userproxysubject",
        b"clusterid",
    ];
    identity.contains(&name.folded())
}

/// A change that was not tried yet.
enum UntestedChange<'c> {
    OfJob(Vec<Edit>),
    /// Of the slots of a class, by its number.
    OfSlots(usize, Vec<&'c AdCondition>),
}

impl UntestedChange<'_> {
    /// The sort key: identity changes last, then the size, then the object of the change.
    fn order(&self) -> (bool, usize, Option<Changed>) {
        match self {
            UntestedChange::OfJob(edits) => {
                let of_others = edits.iter().any(|edit| is_identity(edit.name));
                (of_others, weight(edits), edits.iter().map(|edit| edit.of).max())
            }
            UntestedChange::OfSlots(_, conditions) => {
                (false, conditions.len(), (!conditions.is_empty()).then_some(Changed::Slot))
            }
        }
    }
}

/// The size of some edits together.
fn weight(edits: &[Edit]) -> usize {
    edits.iter().map(Edit::weight).sum()
}

/// A change of the job with what it does to all slots; none if no slot is won, or more are lost. What does nothing in it is
/// left out.
fn of_edits(
    view: &JobView<'_>,
    trials: &Trials<'_, '_>,
    edits: &[Edit],
    known: &[TestedChange],
) -> Option<TestedChange> {
    let changes = |edits: &[Edit]| edit::changes(view.job, edits);
    let is_known = |edits: &[Edit]| {
        let changes = changes(edits);
        known.iter().any(|one| one.suggestion.changes == changes)
    };
    let tried = |edits: &[Edit]| {
        let requirements = Name::new("Requirements");
        let mut names: Vec<Name> = edits.iter().map(|edit| edit.name).collect();
        let mut after = changed(view.job, edits);
        let removes = edits.iter().any(|edit| edit.of == Changed::Condition);
        if let Some(completed) = removes.then(|| completed(view.job, &after)).flatten() {
            after.insert_expr(requirements, &completed);
            names.push(requirements);
        }
        let effect = trials.of(&after, &names).filter(|found| found.lost <= found.won.len())?;
        Some((after, effect))
    };
    if is_known(edits) {
        return None;
    }
    let mut edits = edits.to_vec();
    let (mut after, mut effect) = tried(&edits)?;
    for at in (0..edits.len()).rev() {
        let mut fewer = edits.clone();
        fewer.remove(at);
        if fewer.is_empty() {
            break;
        }
        let does = |found: &Effect| found.won.len() >= effect.won.len() && found.lost <= effect.lost;
        if let Some((less, found)) = tried(&fewer).filter(|(_, found)| does(found)) {
            (edits, after, effect) = (fewer, less, found);
        }
    }
    for at in 0..edits.len() {
        // What a person would write, if as many slots match then.
        for written in edits[at].in_larger_units() {
            let mut other = edits.clone();
            other[at] = written;
            let does = |found: &Effect| found.won.len() >= effect.won.len() && found.lost <= effect.lost;
            if let Some((ad, found)) = tried(&other).filter(|(_, found)| does(found)) {
                (edits, after, effect) = (other, ad, found);
                break;
            }
        }
    }
    if is_known(&edits) || edits.iter().filter(|edit| edit.is_counted()).count() > MAX_EDITS {
        return None;
    }
    let Effect { matching: slots, won: won_slots, lost } = effect;
    let example = view.pool.of_slots[*won_slots.first()? as usize].name.clone();
    let (changes, won, weight) = (changes(&edits), won_slots.len(), weight(&edits));
    // A limit that is not a number now is not moved by a small step.
    let is_limit =
        |edit: &Edit| matches!(edit.value(), Some((_, Bound::AtMost | Bound::AtLeast))) && is_number_now(view, edit);
    let reduction = reduction(view, &after, &edits);
    // The Requirements may have been completed.
    let names = edits.iter().map(|edit| edit.name).chain([Name::new("Requirements")]);
    let suggestion = Suggestion {
        changes,
        slots,
        won,
        lost,
        unclaimed: 0,
        helps: true,
        transient: 0,
        reduction,
        won_slots,
        written: WrittenAttributes::of(view.job, &after, names),
        example,
        is_shown: false,
        replayed: None,
    };
    let is_string =
        |edit: &Edit| edit.of == Changed::Constant && matches!(edit.value(), Some((Literal::Str(_), Bound::Exactly)));
    let (is_step, writes_string) = (edits.iter().any(is_limit), edits.iter().any(is_string));
    // What slots match now is not misspelled.
    let slip = slip(view.job, &edits).filter(|_| lost == 0);
    let corrects_value = edits.iter().any(Edit::corrects_value);
    Some(TestedChange { suggestion, weight, after, is_step, writes_string, corrects_value, slip })
}

/// Tests if what an edit changes is a number, or a string that was meant as one.
fn is_number_now(view: &JobView<'_>, edit: &Edit) -> bool {
    let now = || Scope::new(view.job, &view.pool.settings).eval_attr(edit.name).ok()?.as_number();
    let meant = || amount(edit.name, view.job.get(edit.name)?.as_literal()?);
    edit.of == Changed::Constant || now().is_some() || meant().is_some()
}

/// Edits by number, each with its place and the text that is written there: the same of both is one.
#[derive(Default)]
struct EditTable(IndexMap<(String, String), Edit>);

impl EditTable {
    fn number(&mut self, edit: &Edit) -> u32 {
        let entry = self.0.entry((edit.place(), edit.written()));
        let number = entry.index() as u32;
        entry.or_insert_with(|| edit.clone());
        number
    }

    fn place(&self, number: u32) -> &str {
        self.0.get_index(number as usize).map_or("", |((place, _), _)| place)
    }

    /// Adds an edit to others, unless there is one of its place that satisfies as much.
    fn add(&self, found: &mut Vec<u32>, new: u32) {
        let Some(at) = found.iter().position(|old| self.place(*old) == self.place(new)) else {
            return found.push(new);
        };
        let tighter = match (self.0[found[at] as usize].value(), self.0[new as usize].value()) {
            (Some((old, Bound::AtMost)), Some((new, Bound::AtMost))) => number(new) < number(old),
            (Some((old, Bound::AtLeast)), Some((new, Bound::AtLeast))) => number(new) > number(old),
            (Some((_, Bound::Exactly)), _) | (Some(_), Some((_, Bound::Any))) => false,
            _ => true,
        };
        if tighter {
            found[at] = new;
        }
    }
}

/// The places of some edits, and the direction of each.
type Signature<'e> = Vec<(&'e str, Direction)>;

/// The direction in which an edit changes something.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Direction {
    Removed,
    /// At most a value.
    Down,
    /// At least a value.
    Up,
    Other,
}

impl Direction {
    fn of(edit: &Edit) -> Self {
        match edit.value() {
            Some((Literal::Undefined, _)) => Direction::Removed,
            Some((_, Bound::AtMost)) => Direction::Down,
            Some((_, Bound::AtLeast)) => Direction::Up,
            _ => Direction::Other,
        }
    }
}

/// Changes of the job that the nearest slots want: the sets of edits worth trying, those of few attributes first.
fn of_the_job(view: &JobView<'_>, table: &AdTable<'_>, failures: &[FailureClass]) -> Vec<Vec<Edit>> {
    let mut edits = EditTable::default();
    // The sets of edits, and how many slots need each.
    let mut sets: IndexMap<Vec<u32>, usize> = IndexMap::new();
    for failure in failures.iter().take(MAX_TRIED_CLASSES) {
        let slots = view.classes.ads_of(&failure.classes);
        let wanted = wanted(view, table, failure, &slots, &mut edits);
        for mut set in wanted.into_iter().flatten().flatten().filter(|set| !set.is_empty()) {
            set.sort_unstable_by(|a, b| edits.place(*a).cmp(edits.place(*b)));
            *sets.entry(set).or_default() += 1;
        }
    }
    // To remove an attribute is another thing than to give it another value, as less or more of it is.
    let direction = |number: u32| Direction::of(&edits.0[number as usize]);
    let mut signatures: IndexMap<Signature<'_>, Vec<(&Vec<u32>, usize)>> = IndexMap::new();
    for (set, count) in &sets {
        let places = set.iter().map(|number| (edits.place(*number), direction(*number))).collect();
        signatures.entry(places).or_default().push((set, *count));
    }
    signatures.sort_by(|one, _, other, _| one.len().cmp(&other.len()));
    let mut found: Vec<Vec<Edit>> = Vec::new();
    let made = |set: &[u32]| -> Vec<Edit> { set.iter().map(|number| edits.0[*number as usize].clone()).collect() };
    for sets in signatures.values().take(MAX_SIGNATURES) {
        let variants: Vec<(Vec<Edit>, usize)> = sets.iter().map(|(set, count)| (made(set), *count)).collect();
        found.extend(chosen(view, &variants).into_iter().map(|at| variants[at].0.clone()));
    }
    found
}

/// In several plans: for each slot of a class, edits after which all conditions that fail for it may hold.
fn wanted(
    view: &JobView<'_>,
    table: &AdTable<'_>,
    failure: &FailureClass,
    slots: &[u32],
    edits: &mut EditTable,
) -> Vec<Vec<Option<Vec<u32>>>> {
    let mut wanted: Vec<Vec<Option<Vec<u32>>>> = Vec::new();
    for (places, part) in &table.parts(slots) {
        let block = table.view(part, view.job);
        for (plan, sets) in wanted_in_block(view, failure, block, edits).into_iter().enumerate() {
            if plan == wanted.len() {
                wanted.push(vec![None; slots.len()]);
            }
            for (at, set) in places.iter().zip(sets) {
                wanted[plan][*at] = set;
            }
        }
    }
    wanted
}

/// A plan to satisfy a condition, with the numbers of the edits.
type Numbered = Vec<(RepairMap, Vec<u32>)>;

/// As [`wanted`], of slots of one block.
fn wanted_in_block(
    view: &JobView<'_>,
    failure: &FailureClass,
    block: TableView<'_>,
    edits: &mut EditTable,
) -> Vec<Vec<Option<Vec<u32>>>> {
    let of_slots = &view.classes.policies[failure.policy].conditions;
    let mut numbered = |plan: RepairPlan| -> Numbered {
        let numbered = |repairs: RepairMap| {
            let numbers = repairs.edits.iter().map(|edit| edits.number(edit)).collect();
            (repairs, numbers)
        };
        plan.into_iter().map(numbered).collect()
    };
    // By condition the plans in which it may hold.
    let by_job = failure.by_one.iter().map(|at| plan::of_job(view, block, &view.conditions.all[*at]));
    let by_slots = failure.by_many.iter().map(|at| plan::of_slots(view, block, &of_slots.all[*at]));
    let all: Vec<Vec<Numbered>> =
        by_job.chain(by_slots).map(|plans| plans.into_iter().map(&mut numbered).collect()).collect();
    let plans = all.iter().map(Vec::len).max().unwrap_or(0).min(MAX_PLANS);
    let set = |plan: usize, slot: usize| {
        let mut set = Vec::with_capacity(all.len());
        for of_condition in &all {
            for (repairs, numbers) in &of_condition[plan.min(of_condition.len() - 1)] {
                match repairs.of[slot] {
                    Repair::Unknown => return None,
                    Repair::Nothing => {}
                    Repair::Edit(edit) => edits.add(&mut set, numbers[edit as usize]),
                }
            }
        }
        Some(set)
    };
    (0..plans).map(|plan| (0..block.ads.len()).map(|slot| set(plan, slot)).collect()).collect()
}

/// The edit distance of two strings, ignoring case, if one may be a misspelling of the other; the largest one that may be, if one
/// is a word or some words of the other.
pub(super) fn misspelled((old, new): (Vec<u8>, &[u8])) -> Option<usize> {
    let allowed = near::allowance(&old);
    near::distance(&old, new, allowed).or_else(|| (is_within(&old, new) || is_within(new, &old)).then_some(allowed))
}

/// Tests if a string is a word or some words of another, such as `UNL` of `UNL-PATH`, ignoring case.
fn is_within(short: &[u8], long: &[u8]) -> bool {
    /// Shorter strings are in too many others.
    const MIN_LENGTH: usize = 3;
    // What is beside a comma is another element of a list.
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b',');
    let is_at = |at: usize| {
        let (before, rest) = (long[..at].last(), &long[at..]);
        let rest = rest.split_at_checked(short.len()).filter(|(first, _)| first.eq_ignore_ascii_case(short));
        is_end(before) && rest.is_some_and(|(_, rest)| is_end(rest.first()))
    };
    short.len() >= MIN_LENGTH && (0..long.len()).any(is_at)
}

/// The edit distance of the strings that some edits write from the present ones.
fn distance_of_texts(job: &ClassAd, edits: &[Edit]) -> usize {
    /// Further than any two names.
    const UNRELATED_DISTANCE: usize = 1000;
    let texts = edits.iter().filter_map(|edit| edit.texts(job));
    texts.map(|texts| misspelled(texts).unwrap_or(UNRELATED_DISTANCE)).sum()
}

/// The letters by which strings were probably misspelled, if all edits correct that or another mistake; none otherwise.
fn slip(job: &ClassAd, edits: &[Edit]) -> Option<usize> {
    let of_edit = |edit: &Edit| match edit.texts(job) {
        Some(texts) => misspelled(texts),
        None => (edit.of == Changed::Correction).then_some(0),
    };
    edits.iter().map(of_edit).sum()
}

/// The variants worth trying: of limits the smallest change, and the smallest after which half of the slots that want one may
/// match, but the smallest amount in place of what is not a number now; of other values the nearest, the one that most slots need,
/// and the farthest. Only those with the nearest strings.
fn chosen(view: &JobView<'_>, variants: &[(Vec<Edit>, usize)]) -> IndexSet<usize> {
    let job = view.job;
    let values = |at: &usize| variants[*at].0.iter().filter_map(|edit| Some((edit, edit.value()?)));
    let distance = |at: &usize| -> f64 {
        values(at)
            .map(|(edit, (value, bound))| match (number(value), bound) {
                (Some(value), Bound::AtMost) => -value,
                (Some(value), Bound::AtLeast) => value,
                _ => edit.shift(job),
            })
            .sum()
    };
    let texts: Vec<usize> = variants.iter().map(|(edits, _)| distance_of_texts(job, edits)).collect();
    let nearest = texts.iter().min().copied().unwrap_or(0);
    let mut all: Vec<usize> = (0..variants.len()).filter(|at| texts[*at] == nearest).collect();
    all.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let is_limit = |at: &usize| values(at).any(|(_, (_, bound))| matches!(bound, Bound::AtMost | Bound::AtLeast));
    let count = |some: &[usize]| some.iter().map(|at| variants[*at].1).sum::<usize>();
    let is_new = |at: &usize| {
        let mut limits = variants[*at].0.iter().filter(|edit| matches!(edit.value(), Some((_, Bound::AtMost))));
        limits.any(|edit| !is_number_now(view, edit))
    };
    let picks = if all.iter().all(|at| is_limit(at) && is_new(at)) {
        [all.last(), None, None]
    } else if all.iter().all(is_limit) {
        let half = (1..=all.len()).find(|some| 2 * count(&all[..*some]) >= count(&all));
        [all.first(), half.map(|some| &all[some - 1]), None]
    } else {
        let most = all.iter().rev().max_by_key(|at| variants[**at].1);
        [all.first(), most, all.last()]
    };
    picks.into_iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of a limit on memory, after which some slots match.
    fn step(memory: &str, slots: usize) -> TestedChange {
        let change = Change {
            of: Changed::Job,
            attribute: "RequestMemory".to_owned(),
            before: "9000".to_owned(),
            after: memory.to_owned(),
            command: None,
        };
        let suggestion = Suggestion {
            changes: vec![change],
            slots,
            won: slots,
            lost: 0,
            unclaimed: 0,
            helps: true,
            transient: 0,
            reduction: 0,
            won_slots: Vec::new(),
            written: WrittenAttributes::default(),
            example: String::new(),
            is_shown: false,
            replayed: None,
        };
        let (after, slip) = (ClassAd::new(), None);
        TestedChange { suggestion, weight: 1, after, is_step: true, writes_string: false, corrects_value: false, slip }
    }

    #[test]
    fn a_step_that_wins_less_than_any_before_it_is_left_out() {
        let kept = without_repeated(vec![step("8000", 10), step("7000", 8), step("6000", 9), step("5000", 11)]);
        assert_eq!(kept.iter().map(|one| one.suggestion.slots).collect::<Vec<_>>(), [10, 11]);
    }
}
