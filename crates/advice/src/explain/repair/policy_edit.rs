//! Changes of the policy of slots that only their own conditions keep away.
//!
//! In: slots that fail by the same conditions. Out: the smallest change of these, tested on all slots with the same conditions.

use hashbrown::HashMap;

use crate::explain::clauses::{AdCondition, is_false, own};
use crate::explain::cycle::unsent::left_out_by;
use crate::explain::full_slots;
use crate::explain::job_view::JobView;
use crate::explain::policy_notes::is_of_clock;
use crate::explain::repair::edit::{Bound, bound, comparison, is_no_amount, number};
use crate::explain::repair::failure::FailureClass;
use crate::explain::repair::inversion::{Constraint, Inversion};
use crate::explain::repair::membership::Membership;
use crate::explain::repair::plan::{self, Branch};
use crate::explain::repair::suggestion::{Change, Changed, Suggestion, TestedChange, WrittenAttributes};
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::Key;
use classmate::internal::program::Side;
use classmate::internal::program::atom::MentionsCache;
use classmate::internal::program::view::TableView;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::{ClassAd, Expr, Name, Scope};
use classmate_pool::internal::pool::Slot;

/// Classes of slots that only their own conditions keep away.
pub(crate) struct RejectingSlots<'c> {
    failures: Vec<&'c FailureClass>,
    /// For each of their policies the conditions, as the attribute that contains them and their text.
    texts: HashMap<usize, Vec<(Name, String)>>,
}

impl<'c> RejectingSlots<'c> {
    /// Of some classes.
    pub(crate) fn of(view: &JobView<'_>, failures: Vec<&'c FailureClass>) -> Self {
        let mut texts: HashMap<usize, Vec<(Name, String)>> = HashMap::new();
        for failure in &failures {
            texts.entry(failure.policy).or_insert_with(|| {
                let conditions = &view.classes.policies[failure.policy].conditions;
                conditions.all.iter().map(text_of).collect()
            });
        }
        RejectingSlots { failures, texts }
    }

    /// The conditions of a class that have the same texts as some others, in the order in which they are replaced; none if
    /// one is missing.
    fn same<'v>(
        &self,
        view: &'v JobView<'_>,
        failure: &FailureClass,
        wanted: &[(Name, String)],
    ) -> Option<Vec<&'v AdCondition>> {
        let texts = self.texts.get(&failure.policy)?;
        let conditions = &view.classes.policies[failure.policy].conditions;
        let mut found = Vec::with_capacity(wanted.len());
        for one in wanted {
            let before = found.len();
            let places = texts.iter().enumerate().filter(|(_, text)| *text == one);
            found.extend(places.map(|(at, _)| &conditions.all[at]));
            if found.len() == before {
                return None;
            }
        }
        Some(ordered(found))
    }

    /// A change of what the slots of a class ask, with how many it wins if it is made at all that ask the same; none if no
    /// slot is won, or if it is known already.
    pub(crate) fn change(
        &self,
        view: &JobView<'_>,
        at: usize,
        conditions: &[&AdCondition],
        known: &[TestedChange],
    ) -> Option<TestedChange> {
        let failure = *self.failures.get(at)?;
        let first = &view.pool.slots[view.classes.all[failure.classes[0]].first];
        if conditions.iter().any(|condition| is_kept(view, condition, first)) {
            return None;
        }
        let mut all: Vec<ConditionEdit<'_>> =
            conditions.iter().map(|&condition| ConditionEdit::of(view, failure, condition)).collect();
        let mut found = rewritten(view, failure, &all);
        if found.is_none() {
            all = conditions.iter().map(|&condition| ConditionEdit::without(condition)).collect();
            found = rewritten(view, failure, &all);
        }
        let mut found = found?;
        if known.iter().any(|known| is_same(&known.suggestion, &found.suggestion)) {
            return None;
        }
        let texts: Vec<(Name, String)> = conditions.iter().map(|condition| text_of(condition)).collect();
        for (_, other) in self.failures.iter().enumerate().filter(|(place, _)| *place != at) {
            let Some(theirs) = self.same(view, other, &texts) else { continue };
            let mut same_there: Vec<ConditionEdit<'_>> = Vec::with_capacity(theirs.len());
            for condition in &theirs {
                let place = texts.iter().position(|known| *known == text_of(condition));
                same_there.extend(place.and_then(|place| all[place].at_condition(condition)));
            }
            if same_there.len() != theirs.len() {
                continue;
            }
            let same = rewritten(view, other, &same_there).filter(|same| is_same(&same.suggestion, &found.suggestion));
            found.suggestion.won_slots.extend(same.into_iter().flat_map(|same| same.suggestion.won_slots));
        }
        found.suggestion.won = found.suggestion.won_slots.len();
        found.suggestion.slots = found.suggestion.won;
        Some(found)
    }
}

/// Tests if a condition is not for the policy to change: slots are closed by it on purpose, or it is about what is left of a
/// partitionable slot.
fn is_kept(view: &JobView<'_>, condition: &AdCondition, slot: &Slot) -> bool {
    let named = own(condition.expr.tree(), condition.expr.root()).and_then(|name| slot.ad.get(name));
    let is_closed = is_false(&condition.expr) || named.is_some_and(|expr| is_false(&expr));
    let is_of_startd = condition.place.holder.folded() == b"withinresourcelimits";
    is_closed || is_of_startd || slot.partitionable && full_slots::is_about(&condition.expr, false, view.job)
}

/// The attribute that contains a condition, and its text.
fn text_of(condition: &AdCondition) -> (Name, String) {
    (condition.place.holder, format!("{:#}", condition.expr))
}

/// Tests if two suggestions make the same changes, in any order.
fn is_same(one: &Suggestion, other: &Suggestion) -> bool {
    // Of two policies, one may write `START` and the other `Start`.
    let equal = |one: &Change, other: &Change| {
        one.attribute.eq_ignore_ascii_case(&other.attribute)
            && (one.of, &one.before, &one.after) == (other.of, &other.before, &other.after)
    };
    one.changes.len() == other.changes.len()
        && one.changes.iter().all(|change| other.changes.iter().any(|other| equal(change, other)))
}

/// The conditions of the slots of a class that fail, in the order in which something is written in their place.
pub(crate) fn replaced<'v>(view: &'v JobView<'_>, failure: &FailureClass) -> Vec<&'v AdCondition> {
    let conditions = &view.classes.policies[failure.policy].conditions;
    ordered(failure.by_many.iter().map(|at| &conditions.all[*at]).collect())
}

/// Conditions in the order in which something is written in their place.
fn ordered(mut conditions: Vec<&AdCondition>) -> Vec<&AdCondition> {
    // The last node is replaced first, since that moves nothing before it; and once, however often a policy
    // refers to the attribute that contains it.
    conditions.sort_by_key(|condition| (std::cmp::Reverse(condition.expr.root()), condition.place.holder.folded()));
    conditions.dedup_by_key(|condition| (condition.expr.root(), condition.place.holder.folded()));
    conditions
}

/// A replacement for a condition of slots, or for a part of it.
struct ConditionEdit<'c> {
    condition: &'c AdCondition,
    /// The part that becomes another one.
    part: Expr,
    /// The node that is replaced, and its replacement.
    at: NodeId,
    other: Expr,
}

impl<'c> ConditionEdit<'c> {
    /// Leaves a condition out.
    fn without(condition: &'c AdCondition) -> Self {
        let part = condition.expr.clone();
        ConditionEdit { condition, at: part.root(), part, other: Expr::literal(Literal::Bool(true)) }
    }

    /// The smallest change after which a condition of the slots of a class may hold: another number in a comparison, the
    /// text that a word without quotation marks was meant to be; or it is left out.
    fn of(view: &JobView<'_>, failure: &FailureClass, condition: &'c AdCondition) -> Self {
        let first = view.classes.all[failure.classes[0]].first;
        if left_out_by([view.job, &view.pool.slots[first].ad], &view.pool.rules, &condition.expr).is_some() {
            // Another number would not help: in the cycle the attribute is undefined.
            return ConditionEdit::without(condition);
        }
        let ads = [first as u32];
        let block = view.table.view(&ads, view.job);
        let found = plan::slot_branches(block, condition).into_iter().find_map(|Branch { part, .. }| {
            let (at, other) = compared(block, &part)?;
            Some(ConditionEdit { condition, part, at, other })
        });
        found.unwrap_or_else(|| ConditionEdit::without(condition))
    }

    /// The same written in another condition of the same text.
    fn at_condition<'o>(&self, condition: &'o AdCondition) -> Option<ConditionEdit<'o>> {
        let (from, to) = (self.condition.expr.root(), condition.expr.root());
        let moved = |id: NodeId| (id + to).checked_sub(from);
        let part = condition.expr.part(moved(self.part.root())?);
        Some(ConditionEdit { condition, part, at: moved(self.at)?, other: self.other.clone() })
    }

    /// The attribute that the condition is by itself, if it is left out.
    fn attribute(&self, slot: &ClassAd) -> Option<Name> {
        let expr = &self.condition.expr;
        let whole = self.at == expr.root();
        own(expr.tree(), expr.root()).filter(|name| whole && slot.contains(*name))
    }
}

/// The replacement that a comparison with the job needs for its number or word, or that a list test needs for its list,
/// of its list; and its node.
fn compared(block: TableView<'_>, part: &Expr) -> Option<(NodeId, Expr)> {
    if plan::is_fleeting(block, Side::Row, part) || is_of_clock(part) {
        return None;
    }
    let (slot, job) = block.sides(Side::Row, block.ads[0]);
    let tree = part.tree();
    let scope = Scope::new(slot, block.settings).with_target(job);
    if let Some(question) = Membership::of(tree, part.root()) {
        let list = tree.bare(question.list);
        let is_written = matches!(tree.node(list), Node::Literal(_) | Node::List(_));
        let item = scope.eval(&part.part(question.item)).ok().filter(|_| is_written)?;
        return question.longer(Some(&part.part(list)), &item).map(|longer| (list, longer));
    }
    let (op, left, right) = comparison(tree, part.root())?;
    let found = [(left, right), (right, left)].into_iter().find_map(|(handle, other)| {
        let (bound, _) = bound(op, handle == left)?;
        // Another number for the remainder of a division is not a smaller limit.
        if matches!(tree.node(tree.bare(other)), Node::Binary(BinaryOp::Modulo, ..)) {
            return None;
        }
        let wanted = |present: Option<&Literal>| {
            let other = scope.eval(&part.part(other)).ok()?;
            let constraint = Constraint { op, is_left: handle == left, other: &other, beside: &[] };
            Some(Inversion::straight().solved(&constraint, present)?.1)
        };
        let at = tree.bare(handle);
        match tree.node(at) {
            // Another number that has to be equal is another policy, not a wider one.
            Node::Literal(literal) if bound != Bound::Exactly && number(literal).is_some() => {
                let is_limit = |wanted: &Literal| number(wanted).is_some() && !is_no_amount(literal, wanted);
                wanted(Some(literal)).filter(is_limit).map(|wanted| (at, wanted))
            }
            Node::Attr(word) if bound == Bound::Exactly && plan::names_something(tree, other) => {
                let nowhere = !slot.contains(*word) && !job.contains(*word) && !block.table.has(*word);
                let meant = |wanted: &Literal| match wanted {
                    Literal::Str(text) => text.eq_ignore_ascii_case(word.as_bytes()),
                    _ => false,
                };
                wanted(None).filter(|wanted| nowhere && meant(wanted)).map(|wanted| (at, wanted))
            }
            _ => None,
        }
    });
    found.map(|(at, literal)| (at, Expr::literal(literal)))
}

/// A change of the policy of slots that only their own conditions keep away; none if no slot is won.
fn rewritten(view: &JobView<'_>, failure: &FailureClass, all: &[ConditionEdit<'_>]) -> Option<TestedChange> {
    let with = |at: usize| {
        let mut slot = view.pool.slots[at].ad.clone();
        for one in all {
            match one.attribute(&slot) {
                Some(name) => slot.insert(name, true),
                None => {
                    if let Some(expr) = slot.get(one.condition.place.holder) {
                        let changed = expr.with_part(one.at, &one.other);
                        slot.insert_expr(one.condition.place.holder, &changed);
                    }
                }
            }
        }
        slot
    };
    let matches = |at: usize| symmetric(view.job, &with(at), &view.pool.settings);
    let mut won_slots: Vec<u32> = Vec::new();
    for at in &failure.classes {
        let class = &view.classes.all[*at];
        let mut own = view.classes.ads_of(&[*at]);
        if view.table.is_foreseen() && is_apart(view, failure, all, class.first) {
            // All conditions are what they are for the first one, but those that are replaced.
            if !matches(class.first) {
                own.clear();
            }
        } else {
            own.retain(|slot| matches(*slot as usize));
        }
        won_slots.extend(own);
    }
    let first = *won_slots.iter().min()? as usize;
    let slot = &view.pool.slots[first].ad;
    let change = |one: &ConditionEdit<'_>| {
        let (attribute, before) = match one.attribute(slot) {
            Some(name) => (name, slot.get(name).map(|expr| format!("{expr:#}")).unwrap_or_default()),
            None => (one.condition.place.holder, format!("{:#}", one.part)),
        };
        let after = format!("{:#}", one.part.with_part(one.at, &one.other));
        Change { of: Changed::Slot, attribute: attribute.to_string(), before, after, command: None }
    };
    let mut changes: Vec<Change> = Vec::with_capacity(all.len());
    for change in all.iter().map(change) {
        // A condition that is in a policy twice is reported once.
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    let example = view.pool.of_slots[first].name.clone();
    let won = won_slots.len();
    let suggestion = Suggestion {
        changes,
        slots: won,
        won,
        lost: 0,
        unclaimed: 0,
        helps: true,
        transient: 0,
        reduction: 0,
        won_slots,
        written: WrittenAttributes::default(),
        example,
        is_shown: false,
        replayed: None,
    };
    Some(TestedChange {
        suggestion,
        weight: all.len(),
        after: with(first),
        is_step: false,
        writes_string: false,
        corrects_value: false,
        slip: None,
    })
}

/// Tests if no other condition depends on a replaced part or a written attribute: then the rest is
/// the same for all slots of a class.
fn is_apart(view: &JobView<'_>, failure: &FailureClass, replaced: &[ConditionEdit<'_>], slot: usize) -> bool {
    let ads = [slot as u32];
    let (pair, mut mentions) = (view.table.view(&ads, view.job).pair(), MentionsCache::default());
    let looks = |one: &ConditionEdit<'_>, mentions: &mut MentionsCache| {
        let left_out = one.at == one.condition.expr.root();
        let tree = one.condition.expr.tree();
        !left_out && !pair.depends(tree, one.condition.expr.root(), Side::Row, mentions).row.is_empty()
    };
    if replaced.iter().any(|one| looks(one, &mut mentions)) {
        return false;
    }
    let written: Vec<Key> = replaced
        .iter()
        .flat_map(|one| [own(one.part.tree(), one.part.root()), Some(one.condition.place.holder)])
        .flatten()
        .map(Name::key)
        .collect();
    let conditions = &view.classes.policies[failure.policy].conditions;
    let all = view.conditions.required().map(|(_, condition)| (Side::Other, condition));
    let others = conditions
        .required()
        .filter(|(at, _)| !failure.by_many.contains(at))
        .map(|(_, condition)| (Side::Row, condition));
    let mut all = all.chain(others);
    all.all(|(side, condition)| {
        let depends = pair.depends(condition.expr.tree(), condition.expr.root(), side, &mut mentions);
        !depends.row.iter().any(|name| written.contains(&name.key()))
    })
}
