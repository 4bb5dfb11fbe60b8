//! Changes of the job that a condition that fails calls for, for each slot for which it fails.
//!
//! In: a condition, and slots of one block. Out: edits, one for each value that is wanted. One file of more than 600 lines: each
//! kind of condition adds its edits to the same map.

use std::iter;

use indexmap::IndexMap;

use crate::explain::clauses::{AdCondition, is_long, others, own, truth_of};
use crate::explain::clock::end;
use crate::explain::correction::{self, MeantValue};
use crate::explain::job_view::JobView;
use crate::explain::repair::count::CountedLimit;
use crate::explain::repair::edit::{
    Bound, Edit, amount, bound, comparison, is_no_amount, is_no_request, is_request_of_all, number, presence,
};
use crate::explain::repair::inversion::{Constraint, Inversion};
use crate::explain::repair::membership::Membership;
use crate::explain::repair::suggestion::{ANY_STRING, Changed};
use crate::submit::added::{Origin, is_of_htcondor};
use classmate::internal::eval::conditions::Connective;
use classmate::internal::program::Side;
use classmate::internal::program::atom::MentionsCache;
use classmate::internal::program::column::Entry;
use classmate::internal::program::partition::Partition;
use classmate::internal::program::view::{RowValues, TableView};
use classmate::internal::syntax::expr::{Node, NodeId, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name, Value};
use classmate_pool::internal::pool::{Slot, attribute};

/// The repair for a slot.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Repair {
    /// No edit is known.
    Unknown,
    /// The condition holds.
    Nothing,
    /// An edit, by its number.
    Edit(u32),
}

/// Maps each of some slots to the edit it needs.
pub(crate) struct RepairMap {
    /// The repair for each slot.
    pub(crate) of: Vec<Repair>,
    pub(crate) edits: Vec<Edit>,
}

/// Edits that are made together so that a condition holds.
pub(crate) type RepairPlan = Vec<RepairMap>;

impl RepairMap {
    fn none(slots: usize) -> Self {
        RepairMap { of: vec![Repair::Unknown; slots], edits: Vec::new() }
    }

    /// The same edit for all slots.
    fn always(slots: usize, edit: Edit) -> Self {
        RepairMap { of: vec![Repair::Edit(0); slots], edits: vec![edit] }
    }

    /// An unknown repair for slots that need one, and none for the others.
    fn needed(by: impl Iterator<Item = bool>) -> Self {
        let of = by.map(|needed| if needed { Repair::Unknown } else { Repair::Nothing }).collect();
        RepairMap { of, edits: Vec::new() }
    }

    /// No repair for slots for which a condition holds, an unknown one for the others.
    fn unless(holds: &[Truth]) -> Self {
        Self::needed(holds.iter().map(|truth| *truth != Truth::True))
    }

    /// The slots without a repair.
    fn unknown(&mut self) -> impl Iterator<Item = (usize, &mut Repair)> {
        self.of.iter_mut().enumerate().filter(|(_, repair)| **repair == Repair::Unknown)
    }

    /// Adds the repairs of another map for slots without one.
    fn add(&mut self, others: RepairMap) {
        let before = self.edits.len() as u32;
        self.edits.extend(others.edits);
        for (at, repair) in self.unknown() {
            if let Repair::Edit(edit) = others.of[at] {
                *repair = Repair::Edit(before + edit);
            }
        }
    }

    /// The same for all slots that have none yet.
    fn otherwise(&mut self, edit: Edit) {
        let number = self.edits.len() as u32;
        self.edits.push(edit);
        self.unknown().for_each(|(_, repair)| *repair = Repair::Edit(number));
    }

    /// An edit for slots that have none yet: one of the values that some parts of an expression have for a slot.
    fn by_values(&mut self, part: &Part<'_>, asked: &[NodeId], edit: impl Fn(&[&Value]) -> Option<Edit>) {
        if self.unknown().next().is_none() {
            return;
        }
        let value = |id: &NodeId| part.slots.values_of(part.side, &part.expr.part(*id));
        let found: Vec<RowValues> = asked.iter().map(value).collect();
        let mut rows = Partition::whole(self.of.len());
        // Most often all but the first are the same for all slots.
        for values in found.iter().filter(|values| values.values.len() > 1) {
            rows.split(|at| values.of[at]);
        }
        let mut known: Vec<Option<Repair>> = vec![None; rows.count];
        let mut edits = std::mem::take(&mut self.edits);
        for (at, repair) in self.unknown() {
            *repair = *known[rows.of[at] as usize].get_or_insert_with(|| {
                let values = found.iter().map(|values| values.values.get(values.of[at] as usize));
                let Some(made) = values.collect::<Option<Vec<_>>>().and_then(|values| edit(&values)) else {
                    return Repair::Unknown;
                };
                edits.push(made);
                Repair::Edit(edits.len() as u32 - 1)
            });
        }
        self.edits = edits;
    }

    /// An edit for slots that have none yet: one of the literal that a comparison wants in place of the present one.
    fn compared(
        &mut self,
        part: &Part<'_>,
        handle: &Handle,
        present: Option<&Literal>,
        edit: impl Fn((Bound, Literal)) -> Option<Edit>,
    ) {
        let Handle { op, is_left, other, ref inversion } = *handle;
        let asked: Vec<NodeId> = iter::once(other).chain(inversion.beside.iter().copied()).collect();
        self.by_values(part, &asked, |values| {
            let constraint = Constraint { op, is_left, other: values[0], beside: &values[1..] };
            inversion.solved(&constraint, present).and_then(&edit)
        });
    }
}

/// A part of a condition of a side, for some slots.
struct Part<'c> {
    slots: TableView<'c>,
    side: Side,
    expr: &'c Expr,
}

/// Something in a comparison that can be changed.
struct Handle {
    op: BinaryOp,
    /// It is in the left side.
    is_left: bool,
    other: NodeId,
    /// The way to it.
    inversion: Inversion,
}

/// The attributes in a comparison that can be changed, in the order in which they are tried: of several, the one whose turn
/// it is comes first.
fn handles(
    tree: &Tree,
    (op, left, right): (BinaryOp, NodeId, NodeId),
    turn: usize,
    name: impl Fn(&Inversion) -> Option<Name>,
) -> Vec<(Name, Handle)> {
    let mut found = Vec::new();
    for (side, other) in [(left, right), (right, left)] {
        let all = Inversion::all(tree, side).into_iter();
        let named = all.filter_map(|inversion| Some((name(&inversion)?, inversion)));
        found.extend(named.map(|(name, inversion)| (name, Handle { op, is_left: side == left, other, inversion })));
    }
    if !found.is_empty() {
        let first = turn % found.len();
        found.rotate_left(first);
    }
    found
}

/// Things in one comparison that are tried, each in a plan of its own.
const MAX_HANDLES: usize = 3;

/// The value of a job attribute that is a constant; an amount with a unit that is a string by mistake, as the number.
fn present(job: &ClassAd, name: Name) -> Option<Literal> {
    let literal = job.get(name)?.as_literal()?.clone();
    Some(amount(name, &literal).map_or(literal, |amount| Literal::Str(amount.to_string().as_str().into())))
}

/// Adds repairs for an attribute of the job that has to be in a list, or is the list; for a constant in a condition of the
/// attribute that is given likewise.
fn in_list(part: &Part<'_>, asked: impl Fn(NodeId) -> Option<Name>, holder: Option<Name>, repairs: &mut RepairMap) {
    let (tree, job) = (part.expr.tree(), part.slots.other);
    let Some(question) = Membership::of(tree, part.expr.root()) else { return };
    let (item, list) = (tree.bare(question.item), tree.bare(question.list));
    if let Some(name) = asked(item) {
        let old = present(job, name);
        repairs.by_values(part, &[list], |values| {
            Some(Edit::value_of(name, Bound::Exactly, question.nearest(values[0], old.as_ref())?))
        });
    }
    if let Some(name) = asked(list) {
        let old = job.get(name);
        repairs.by_values(part, &[item], |values| {
            let corrected = question.corrected(old.as_ref(), values[0], &|element| {
                is_value(part, item, &|value| question.is_same(value, element))
            });
            let longer = corrected.or_else(|| question.longer(old.as_ref(), values[0]))?;
            Some(match longer.as_literal() {
                Some(literal) => Edit::value_of(name, Bound::Exactly, literal.clone()),
                None => Edit::attribute(name, longer),
            })
        });
    }
    let Some(holder) = holder else { return };
    let whole = || part.expr.part(tree.bare(part.expr.root()));
    if let Node::Literal(literal) = tree.node(item) {
        repairs.by_values(part, &[list], |values| {
            let nearest = question.nearest(values[0], Some(literal))?;
            Some(Edit::constant(holder, whole(), item, (Bound::Exactly, nearest)))
        });
    }
    if matches!(tree.node(list), Node::Literal(_) | Node::List(_)) {
        repairs.by_values(part, &[item], |values| {
            let longer = question.longer(Some(&part.expr.part(list)), values[0])?;
            Some(Edit::part(Changed::Constant, holder, whole(), list, longer))
        });
    }
}

/// Tests if some ad of the table has such a text as the attribute that a node is; true if that is not known.
fn is_value(part: &Part<'_>, item: NodeId, is_text: &dyn Fn(&[u8]) -> bool) -> bool {
    let column = part.expr.tree().reference(item).and_then(|found| part.slots.table.column(found.name.key()));
    let is_it = |entry: &Entry| match entry {
        Entry::Constant(value) => value.as_bytes().is_some_and(is_text),
        Entry::Absent => false,
        Entry::Tree(_) => true,
    };
    column.is_none_or(|column| column.entries.iter().any(is_it))
}

/// Tests if an attribute of slots is the number of a version in some of them, and not a number in any; with a number, that none of the
/// versions is it with a zero at its end, which may have been written: 3.10 is the number 3.1.
fn has_versions(block: TableView<'_>, name: Name, number: Option<&str>) -> bool {
    let is_cut = |text: &[u8]| {
        let rest = number.filter(|number| number.contains('.')).and_then(|number| text.strip_prefix(number.as_bytes()));
        rest.is_some_and(|rest| rest == b"0" || rest.starts_with(b"0."))
    };
    if constants(block, name).filter_map(Value::as_bytes).any(is_cut) {
        return false;
    }
    let is_version = |value: &Value| value.as_bytes().is_some_and(correction::is_version);
    constants(block, name).any(is_version) && !constants(block, name).any(|value| value.as_number().is_some())
}

/// The values of an attribute of slots that are constants.
fn constants(block: TableView<'_>, name: Name) -> impl Iterator<Item = &Value> {
    let entries = block.table.column(name.key()).into_iter().flat_map(|column| &column.entries);
    entries.filter_map(|entry| if let Entry::Constant(value) = entry { Some(value) } else { None })
}

/// Tests if an attribute of the job is a string: HTCondor or the projects that use it write it as one, some slot has it as one, or some
/// condition of slots compares it with a string or looks for it in a list of strings.
fn is_text(view: &JobView<'_>, name: Name) -> bool {
    if let Some(kind) = attribute::find(name.folded()).and_then(|found| found.get("type")) {
        return kind == "string";
    }
    let is_it = |tree: &Tree, id: NodeId| tree.reference(tree.bare(id)).is_some_and(|found| found.name == name);
    let compared = |expr: &Expr| {
        let tree = expr.tree();
        let is_string = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Str(_)));
        (tree.first_of(expr.root())..=expr.root()).any(|id| match *tree.node(id) {
            Node::Binary(_, left, right) => {
                is_it(tree, left) && is_string(right) || is_string(left) && is_it(tree, right)
            }
            _ => {
                Membership::of(tree, id).is_some_and(|question| question.is_of_strings() && is_it(tree, question.item))
            }
        })
    };
    let is_string = |slot: &Slot| slot.ad.constant(name).is_some_and(|value| value.as_bytes().is_some());
    if view.pool.slots.iter().any(is_string) {
        return true;
    }
    let mut conditions = view.classes.policies.iter().flat_map(|policy| &policy.conditions.all);
    conditions.any(|condition| condition.connective == Connective::Leaf && compared(&condition.expr))
}

/// An attribute of the job that is to be there, or gone. What it is then another condition says, if any does.
fn to_be_there(view: &JobView<'_>, name: Name, there: bool) -> Edit {
    let (bound, value) = match there {
        false => (Bound::Exactly, Literal::Undefined),
        true if is_text(view, name) => (Bound::Any, Literal::Str(ANY_STRING.into())),
        true if name.folded().starts_with(b"request") => (Bound::Any, Literal::Int(1)),
        true => (Bound::Any, Literal::Bool(true)),
    };
    Edit::value_of(name, bound, value)
}

/// Ways to change the job so that one of its own conditions holds, what was meant by it first, to leave it out last.
pub(crate) fn of_job(view: &JobView<'_>, block: TableView<'_>, condition: &AdCondition) -> Vec<RepairPlan> {
    let (holder, slots) = (condition.place.holder, block.ads.len());
    let origin = Origin::of(view.job, &condition.expr);
    if let Some(origin) = origin.filter(|origin| *origin != Origin::Request) {
        return of_added(view, block, condition, origin);
    }
    if is_long(&condition.expr) {
        return vec![vec![RepairMap::always(slots, Edit::without(holder, &condition.expr))]];
    }
    let mut plans: Vec<RepairPlan> = Vec::new();
    let written = origin.is_none().then_some(&condition.expr);
    if let Some(found) = written.and_then(|expr| correction::of_names_and_words(view, expr)) {
        let mut plan: RepairPlan = corrected(&condition.expr, found.parts)
            .into_iter()
            .map(|(part, id, other)| RepairMap::always(slots, Edit::part(Changed::Correction, holder, part, id, other)))
            .collect();
        // What was meant may not hold either; to leave it out needs no correction.
        let mut more = RepairMap::unless(&holds(block, Side::Other, &found.whole));
        // Its nodes are those of the condition unless there are fewer.
        if found.whole.root() == condition.expr.root() {
            let whole = AdCondition { expr: found.whole, ..condition.clone() };
            compared_to_constants(block, &whole, &alternatives(block, &whole), 0, &mut more);
        }
        plan.push(more);
        plans.push(plan);
    }
    let mut parts = alternatives(block, condition);
    let versions = |part: &Expr| correction::versions(part, &|name, number| has_versions(block, name, Some(number)));
    let is_of_versions = |part: &Expr| correction::versions(part, &|name, _| has_versions(block, name, None)).is_some();
    for part in &parts {
        for limit in CountedLimit::all(part, holder, view.job, block.settings) {
            let values = Part { slots: block, side: Side::Other, expr: &limit.values };
            let mut repairs = RepairMap::none(slots);
            repairs.by_values(&values, &[limit.values.root()], |found| limit.edit(found[0]));
            plans.push(vec![repairs]);
        }
        let meant = correction::pattern(part).or_else(|| correction::unquoted(part)).or_else(|| versions(part));
        let values = |name: Name| constants(block, name).filter_map(Value::as_bytes).map(<[u8]>::to_vec).collect();
        let meant = meant.or_else(|| correction::in_any_case(part, &values)).or_else(|| {
            let meant = correction::any_case(part)?;
            holds(block, Side::Other, &meant).contains(&Truth::True).then_some(meant)
        });
        let meant = meant.or_else(|| {
            let is_shared = |name: Name| view.job.contains(name) && block.table.has(name);
            let meant = correction::of_slots(part, &is_shared)?;
            holds(block, Side::Other, &meant).contains(&Truth::True).then_some(meant)
        });
        if let Some(MeantValue { id, value, .. }) = correction::value(part, view.job, block.table) {
            let edit = Edit::corrected(holder, part.clone(), id, value);
            plans.push(vec![RepairMap::always(slots, edit)]);
        }
        if let Some(meant) = meant {
            let root = part.tree().bare(part.root());
            let edit = Edit::part(Changed::Correction, holder, part.part(root), root, meant);
            plans.push(vec![RepairMap::always(slots, edit)]);
        }
        // All operands of `&&` that fail have to change.
        let operands = part.tree().flattened(BinaryOp::And, part.root());
        if operands.len() < 2 {
            continue;
        }
        let wanted = |id: NodeId| {
            let operand = part.part(part.tree().bare(id));
            let mut repairs = RepairMap::unless(&holds(block, Side::Other, &operand));
            compared_to_constants(block, condition, &deciding(block, &operand), 0, &mut repairs);
            repairs.otherwise(Edit::without(holder, &operand));
            repairs
        };
        plans.push(operands.into_iter().map(wanted).collect());
    }
    // As strings, "3.9" is more than "3.11".
    parts.retain(|part| !is_of_versions(part));
    let own = |part: &Expr| own_handles(block, part, 0).len();
    let turns = parts.iter().map(own).max().unwrap_or(0).min(MAX_HANDLES);
    // The plan to leave the condition out comes last.
    for turn in (1..turns).chain([0]) {
        let mut repairs = RepairMap::none(slots);
        compared_to_constants(block, condition, &parts, turn, &mut repairs);
        if turn == 0 && origin.is_none() {
            repairs.otherwise(Edit::without(holder, &condition.expr));
        }
        plans.push(vec![repairs]);
    }
    match origin {
        None => plans.push(vec![RepairMap::always(slots, Edit::without(holder, &condition.expr))]),
        Some(_) => {
            let edits = requested(&condition.expr).map(|name| Edit::without_request(holder, &condition.expr, name));
            plans.extend(edits.map(|edits| edits.map(|edit| RepairMap::always(slots, edit)).into()));
        }
    }
    plans
}

/// The request that a condition compares, of something that a job can do without.
fn requested(condition: &Expr) -> Option<Name> {
    let mut names = condition.tree().outer_references(condition.root()).into_iter().map(|found| found.name);
    names.find(|name| name.folded().starts_with(b"request") && !is_request_of_all(*name))
}

/// Ways to change the job so that a condition holds that `condor_submit` adds: another command, if one does. A condition that is
/// left out would be written again.
fn of_added(view: &JobView<'_>, block: TableView<'_>, condition: &AdCondition, origin: Origin) -> Vec<RepairPlan> {
    let slots = block.ads.len();
    if let Some(edit) = (origin == Origin::Deferral).then(|| longer_window(view, condition)).flatten() {
        return vec![vec![RepairMap::always(slots, edit)]];
    }
    let other = origin.other().and_then(|other| Edit::by_command(condition.place.holder, &condition.expr, &other));
    let edits = other.map(|edits| edits.into_iter().map(|edit| RepairMap::always(slots, edit)).collect());
    vec![edits.unwrap_or_else(|| vec![RepairMap::none(slots)])]
}

/// A longer window, in whole hours, for a job that may start an hour from now at least, although its time is over.
fn longer_window(view: &JobView<'_>, condition: &AdCondition) -> Option<Edit> {
    const HOUR: i64 = 3600;
    end(view, &condition.expr)?;
    let late = view.pool.settings.now.checked_sub(view.job.eval_int("DeferralTime")?)?;
    let window = (late / HOUR).checked_add(2)?.checked_mul(HOUR)?;
    Some(Edit::value_of(Name::new("DeferralWindow"), Bound::AtLeast, Literal::Int(window)))
}

/// The truth of a condition of a side for each slot.
fn holds(block: TableView<'_>, side: Side, expr: &Expr) -> Vec<Truth> {
    let found = block.values_of(side, expr);
    found.of.iter().map(|value| truth_of(&found.values[*value as usize])).collect()
}

/// The parts of a condition of the job of which one has to hold.
fn alternatives(block: TableView<'_>, condition: &AdCondition) -> Vec<Expr> {
    match condition.connective {
        Connective::Any | Connective::Choice => deciding(block, &condition.expr),
        _ => vec![condition.expr.clone()],
    }
}

/// Corrected nodes of a condition, each with the part that is reported; of several in one comparison, the comparison.
fn corrected(condition: &Expr, parts: Vec<(NodeId, Expr)>) -> Vec<(Expr, NodeId, Expr)> {
    let mut by_part: IndexMap<NodeId, (Expr, Vec<(NodeId, Expr)>)> = IndexMap::new();
    for (id, other) in parts {
        let part = around(condition, id);
        by_part.entry(part.root()).or_insert_with(|| (part, Vec::new())).1.push((id, other));
    }
    let edit = |(part, mut nodes): (Expr, Vec<(NodeId, Expr)>)| {
        if nodes.len() > 1 {
            // Later nodes first: a replacement moves only the nodes after it.
            nodes.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
            let whole = nodes.iter().fold(part.clone(), |whole, (id, other)| whole.with_part(*id, other));
            nodes = vec![(part.root(), whole)];
        }
        nodes.pop().map(|(id, other)| (part, id, other))
    };
    by_part.into_values().filter_map(edit).collect()
}

/// The comparison that contains a node, or the node.
fn around(expr: &Expr, id: NodeId) -> Expr {
    let tree = expr.tree();
    let smallest = (id..=expr.root()).find(|at| {
        let is_comparison =
            matches!(tree.node(*at), Node::Binary(op, ..) if !matches!(op, BinaryOp::And | BinaryOp::Or));
        is_comparison && tree.first_of(*at) <= id
    });
    expr.part(smallest.unwrap_or(id))
}

/// The parts of a job comparison that can be changed: its own attributes, and requests or attributes inside arithmetic that no ad
/// defines.
fn own_handles(block: TableView<'_>, part: &Expr, turn: usize) -> Vec<(Name, Handle)> {
    let tree = part.tree();
    let name = |inversion: &Inversion| {
        let name = own(tree, inversion.inner)?;
        let is_request = name.folded().starts_with(b"request");
        let is_known = block.other.contains(name) || (is_request || !inversion.is_straight()) && !block.table.has(name);
        (is_known && is_settable(name)).then_some(name)
    };
    comparison(tree, part.root()).map(|compared| handles(tree, compared, turn, name)).unwrap_or_default()
}

/// Adds repairs for attributes of the job, and for constants in its conditions. Of several attributes in one comparison, the
/// one whose turn it is comes first.
fn compared_to_constants(
    block: TableView<'_>,
    condition: &AdCondition,
    parts: &[Expr],
    turn: usize,
    repairs: &mut RepairMap,
) {
    let (tree, job) = (condition.expr.tree(), block.other);
    // A request of nothing is left out.
    let is_left_out =
        || Origin::of(job, &condition.expr) == Some(Origin::Request) && requested(&condition.expr).is_some();
    for expr in parts.iter().filter(|part| !is_fleeting(block, Side::Other, part)) {
        let part = Part { slots: block, side: Side::Other, expr };
        let own = |id: NodeId| own(tree, id).filter(|name| job.contains(*name) && is_settable(*name));
        in_list(&part, own, Some(condition.place.holder), repairs);
        if let Some((inner, false)) = presence(tree, expr.root())
            && let Some(name) = own(inner)
        {
            repairs.otherwise(Edit::value_of(name, Bound::Exactly, Literal::Undefined));
        }
        for (name, handle) in own_handles(block, expr, turn) {
            repairs.compared(&part, &handle, present(job, name).as_ref(), |(bound, value)| {
                let is_nothing = number(&value) == Some(0.0) && is_left_out();
                (!is_nothing && !is_no_request(name, &value)).then(|| Edit::value_of(name, bound, value))
            });
        }
        let Some((op, left, right)) = comparison(tree, expr.root()) else { continue };
        for (handle, other) in [(left, right), (right, left)] {
            let Some(inversion) = Inversion::to_constant(tree, handle) else { continue };
            let (inner, is_straight) = (inversion.inner, inversion.is_straight());
            let Node::Literal(literal) = tree.node(inner) else { continue };
            // The contrary is not what was meant, nor is a slot that is in use.
            let contrary = matches!(literal, Literal::Bool(_))
                || tree.reference(tree.bare(other)).is_some_and(|found| is_of_the_moment(found.name));
            // A pattern is not any one string.
            let pattern = matches!(literal, Literal::Str(text) if text.contains(&b'*'));
            // Another number for the remainder of a division is not a small change, nor is the contrary.
            let left_over = matches!(tree.node(tree.bare(other)), Node::Binary(BinaryOp::Modulo, ..));
            if bound(op, handle == left).is_some() && !contrary && !pattern && !left_over {
                let handle = Handle { op, is_left: handle == left, other, inversion };
                repairs.compared(&part, &handle, Some(literal), |wanted| {
                    // "true" is not false, and nothing times a unit is no amount.
                    let is_nothing = !is_straight && number(&wanted.1) == Some(0.0);
                    let is_meant = !is_no_amount(literal, &wanted.1) && !is_contrary(literal, &wanted.1) && !is_nothing;
                    is_meant.then(|| Edit::constant(condition.place.holder, expr.clone(), inner, wanted))
                });
            }
        }
    }
}

/// Tests if a condition uses random numbers or the clock: its operands have other values next time.
pub(crate) fn is_fleeting(block: TableView<'_>, side: Side, expr: &Expr) -> bool {
    let tree = expr.tree();
    reads_clock(tree, expr.root())
        || block.pair().depends(tree, expr.root(), side, &mut MentionsCache::default()).random
}

/// Tests if a part of an expression uses the clock or random numbers by itself.
pub(crate) fn reads_clock(tree: &Tree, part: NodeId) -> bool {
    let is_clock = |id: NodeId| match tree.node(id) {
        Node::Call(call) => matches!(tree.calls[*call as usize].name.folded(), b"time" | b"random"),
        Node::Attr(name) | Node::Select(name) => name.folded() == b"currenttime",
        _ => false,
    };
    (tree.first_of(part)..=part).any(is_clock)
}

/// A part of `||`, or a branch of `?:`.
pub(crate) struct Branch {
    pub(crate) part: Expr,
    /// For each slot whether it counts.
    taken: Vec<bool>,
}

/// The parts of a chain of `||`, and the branches of `?:`, of a condition of a side.
fn branches(block: TableView<'_>, side: Side, expr: &Expr) -> Vec<Branch> {
    let tree = expr.tree();
    let (mut waiting, mut found) = (vec![(expr.root(), vec![true; block.ads.len()])], Vec::new());
    while let Some((id, taken)) = waiting.pop() {
        let bare = tree.bare(id);
        if let Node::Binary(BinaryOp::Or, left, right) = *tree.node(bare) {
            waiting.extend([(right, taken.clone()), (left, taken)]);
        } else if let Some([condition, yes, no]) = tree.choice(bare) {
            let guard = holds(block, side, &expr.part(condition));
            for (branch, wanted) in [(no, Truth::False), (yes, Truth::True)] {
                let taken = guard.iter().zip(&taken).map(|(truth, taken)| *taken && *truth == wanted);
                waiting.push((branch, taken.collect()));
            }
        } else {
            found.push(Branch { part: expr.part(id), taken });
        }
    }
    found
}

/// The parts of `||` and the branches of `?:` of the job that count for the first slot.
fn deciding(block: TableView<'_>, expr: &Expr) -> Vec<Expr> {
    let first = TableView { ads: &block.ads[..1], ..block };
    let all = branches(first, Side::Other, expr).into_iter();
    all.filter(|branch| branch.taken[0]).map(|branch| branch.part).collect()
}

/// The parts of a condition of slots of which one has to hold.
pub(crate) fn slot_branches(block: TableView<'_>, condition: &AdCondition) -> Vec<Branch> {
    match condition.connective {
        Connective::Any | Connective::Choice => branches(block, Side::Row, &condition.expr),
        _ => vec![Branch { part: condition.expr.clone(), taken: vec![true; block.ads.len()] }],
    }
}

/// The same parts with those of the attributes of the slots that a part only names: of `ShortOK || LongOK` those of both.
fn followed(block: TableView<'_>, parts: Vec<Branch>, depth: usize) -> Vec<Branch> {
    /// Greatest depth to which attributes are followed.
    const MAX_FOLLOWED: usize = 4;
    let slot = block.sides(Side::Row, block.ads[0]).0;
    let mut found = Vec::with_capacity(parts.len());
    for part in parts {
        let tree = part.part.tree();
        let named = own(tree, tree.bare(part.part.root())).and_then(|name| slot.get(name));
        let Some(inner) = named.filter(|inner| inner.as_literal().is_none() && depth < MAX_FOLLOWED) else {
            found.push(part);
            continue;
        };
        let mut inner = branches(block, Side::Row, &inner);
        for one in &mut inner {
            one.taken.iter_mut().zip(&part.taken).for_each(|(inner, outer)| *inner &= outer);
        }
        found.extend(followed(block, inner, depth + 1));
    }
    found
}

/// Ways to change the job so that a condition of the slots holds, as far as that is known.
pub(crate) fn of_slots(view: &JobView<'_>, block: TableView<'_>, condition: &AdCondition) -> Vec<RepairPlan> {
    if is_long(&condition.expr) {
        return vec![vec![RepairMap::none(block.ads.len())]];
    }
    let mut parts = followed(block, slot_branches(block, condition), 0);
    // To remove an attribute is worse than to give it another value, for which a condition of the job may call as well.
    parts.sort_by_key(|Branch { part, .. }| matches!(presence(part.tree(), part.root()), Some((_, false))));
    let mut plans: Vec<RepairPlan> = Vec::new();
    for Branch { part, .. } in &parts {
        // All operands of `&&` that fail have to hold.
        let wanted = |id: NodeId| {
            let operand = part.part(part.tree().bare(id));
            let mut repairs = RepairMap::unless(&holds(block, Side::Row, &operand));
            of_part(view, block, &operand, 0, &mut repairs);
            repairs
        };
        let operands = part.tree().flattened(BinaryOp::And, part.root());
        if operands.len() > 1 {
            plans.push(operands.into_iter().map(wanted).collect());
        }
    }
    let (mut turn, mut turns) = (0, 1);
    while turn < turns {
        let mut repairs = RepairMap::none(block.ads.len());
        // The branch that a slot takes comes before those that it does not take.
        for branch in &parts {
            let mut own = RepairMap::needed(branch.taken.iter().copied());
            let handles = of_part(view, block, &branch.part, turn, &mut own);
            turns = turns.max(handles.min(MAX_HANDLES));
            repairs.add(own);
        }
        for branch in parts.iter().filter(|branch| branch.taken.contains(&false)) {
            of_part(view, block, &branch.part, turn, &mut repairs);
        }
        plans.push(vec![repairs]);
        turn += 1;
    }
    if condition.connective == Connective::Choice {
        plans.extend(for_other_branch(block, condition).map(|repairs| vec![repairs]));
    }
    // Each other part of `||` comes first in a plan of its own.
    for first in 1..parts.len() {
        let mut repairs = RepairMap::none(block.ads.len());
        for branch in parts[first..].iter().chain(&parts[..first]) {
            let mut own = RepairMap::needed(branch.taken.iter().copied());
            of_part(view, block, &branch.part, 0, &mut own);
            repairs.add(own);
        }
        plans.push(vec![repairs]);
    }
    plans
}

/// The removal of a job attribute that equals a string, for the slots that take a branch of a choice because of it.
fn for_other_branch(block: TableView<'_>, condition: &AdCondition) -> impl Iterator<Item = RepairMap> {
    let (tree, slot) = (condition.expr.tree(), block.sides(Side::Row, block.ads[0]).0);
    let (mut waiting, mut names) = (vec![condition.expr.root()], IndexMap::new());
    while let Some(id) = waiting.pop() {
        let bare = tree.bare(id);
        if let Some([guard, yes, no]) = tree.choice(bare) {
            waiting.extend([no, yes]);
            let leaves = tree.flattened(BinaryOp::And, guard);
            let equal = leaves.into_iter().filter_map(|leaf| {
                let (BinaryOp::Equal | BinaryOp::Is, left, right) = comparison(tree, leaf)? else { return None };
                let is_string = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Str(_)));
                let [handle, other] = if is_string(left) { [right, left] } else { [left, right] };
                others(tree, tree.bare(handle), slot).filter(|name| is_string(other) && block.other.contains(*name))
            });
            for name in equal {
                names.entry(name.key()).or_insert((name, guard));
            }
        } else if let Node::Binary(BinaryOp::Or, left, right) = *tree.node(bare) {
            waiting.extend([right, left]);
        }
    }
    names.into_values().map(move |(name, guard)| {
        let taken = holds(block, Side::Row, &condition.expr.part(guard)).into_iter();
        let repair = |truth| if truth == Truth::True { Repair::Edit(0) } else { Repair::Unknown };
        RepairMap {
            of: taken.map(repair).collect(),
            edits: vec![Edit::value_of(name, Bound::Exactly, Literal::Undefined)],
        }
    })
}

/// Adds what a part of a condition of slots wants; of several attributes in one comparison, the one whose turn it is comes
/// first. How many there are.
fn of_part(view: &JobView<'_>, block: TableView<'_>, expr: &Expr, turn: usize, repairs: &mut RepairMap) -> usize {
    if is_fleeting(block, Side::Row, expr) {
        return 0;
    }
    let (tree, slot) = (expr.tree(), block.sides(Side::Row, block.ads[0]).0);
    let root = tree.bare(expr.root());
    // What other slots have is nothing that a job lacks.
    let of_slots = |id: NodeId, name: Name| {
        matches!(tree.node(id), Node::Attr(_)) && !block.other.contains(name) && block.table.has(name)
    };
    let asked = |id: NodeId| others(tree, id, slot).filter(|name| !of_slots(id, *name) && is_settable(*name));
    // By itself, with a default, or as a branch.
    let by_itself = |id: NodeId| {
        let same = |inversion: &Inversion| asked(inversion.inner).filter(|_| inversion.is_same());
        Inversion::all(tree, id).iter().find_map(same)
    };
    if let Some(name) = by_itself(root) {
        repairs.otherwise(Edit::value_of(name, Bound::Exactly, Literal::Bool(true)));
        return 0;
    }
    if let Node::Unary(UnaryOp::Not, inner) = *tree.node(root)
        && let Some(name) = by_itself(inner)
    {
        repairs.otherwise(Edit::value_of(name, Bound::Exactly, Literal::Bool(false)));
        return 0;
    }
    if let Some((inner, there)) = presence(tree, root) {
        if let Some(name) = asked(inner).filter(|name| there || block.other.contains(*name)) {
            repairs.otherwise(to_be_there(view, name, there));
        }
        return 0;
    }
    let part = Part { slots: block, side: Side::Row, expr };
    in_list(&part, asked, None, repairs);
    let Some(compared) = comparison(tree, root) else { return 0 };
    let handles = handles(tree, compared, turn, |inversion| asked(inversion.inner));
    for (name, handle) in &handles {
        // A word that neither ad defines is rather a string without quotation marks than a missing attribute.
        let is_word = handle.inversion.is_straight() && matches!(tree.node(handle.inversion.inner), Node::Attr(_));
        if is_word && names_something(tree, handle.other) && !block.other.contains(*name) {
            continue;
        }
        repairs.compared(&part, handle, present(block.other, *name).as_ref(), |(bound, value)| {
            (!is_no_request(*name, &value)).then(|| Edit::value_of(*name, bound, value))
        });
        // What is not there is nothing else.
        if handle.op == BinaryOp::Isnt && handle.inversion.is_straight() && block.other.contains(*name) {
            repairs.otherwise(Edit::value_of(*name, Bound::Exactly, Literal::Undefined));
        }
    }
    handles.len()
}

/// Tests if an attribute of slots says what they are doing.
fn is_of_the_moment(name: Name) -> bool {
    matches!(name.folded(), b"state" | b"activity")
}

/// Tests if a string is the name of one truth value, and another literal is the other one.
fn is_contrary(text: &Literal, value: &Literal) -> bool {
    let (Literal::Str(text), Literal::Bool(value)) = (text, value) else { return false };
    text.eq_ignore_ascii_case(if *value { b"false" } else { b"true" })
}

/// Tests if the submit file can set an attribute: not what HTCondor sets or counts.
fn is_settable(name: Name) -> bool {
    !is_of_htcondor(name)
        && attribute::find(name.folded()).and_then(|found| found.get("varies")).is_none_or(|by| by == "written")
}

/// Tests if a node is the name of an attribute, with or without a scope.
pub(crate) fn names_something(tree: &Tree, id: NodeId) -> bool {
    let id = tree.bare(id);
    match tree.node(id) {
        Node::Attr(_) => true,
        Node::Select(_) => matches!(tree.node(base_of(id)), Node::Attr(_)),
        _ => false,
    }
}
