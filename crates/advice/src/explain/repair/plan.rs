//! What a condition that fails wants changed in the job, for each slot for which it fails.
//!
//! In: a condition, and slots of one block. Out: edits, one for each value that is wanted.

use std::iter;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::explain::clauses::{AdCondition, others, own, truth_of};
use crate::explain::correction;
use crate::explain::repair::edit::{Bound, Edit, bound, comparison, unnegated};
use crate::explain::repair::inversion::{Constraint, Inversion};
use crate::explain::repair::membership::Membership;
use crate::explain::repair::suggestion::Changed;
use crate::explain::view::View;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::conditions::Connective;
use classmate::internal::name::Name;
use classmate::internal::program::Side;
use classmate::internal::program::atom::MentionsCache;
use classmate::internal::program::view::{TableView, Values};
use classmate::internal::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;

/// No edit is known.
const UNKNOWN: u32 = u32::MAX;
/// No edit is needed.
const NOT_NEEDED: u32 = u32::MAX - 1;

/// The repair for a slot.
pub(crate) enum Repair {
    /// Nothing is known that would do.
    Unknown,
    /// The condition holds.
    Nothing,
    /// An edit, by its number.
    Edit(usize),
}

/// Maps each of some slots to the edit it needs.
pub(crate) struct RepairMap {
    /// For each slot which edit.
    of: Vec<u32>,
    pub(crate) edits: Vec<Edit>,
}

/// `EditTable` that are made together so that a condition holds.
pub(crate) type RepairPlan = Vec<RepairMap>;

impl RepairMap {
    fn none(slots: usize) -> Self {
        RepairMap { of: vec![UNKNOWN; slots], edits: Vec::new() }
    }

    /// No repair for slots for which a condition holds, an unknown one for the others.
    fn unless(holds: &[Truth]) -> Self {
        let of = holds.iter().map(|truth| if *truth == Truth::True { NOT_NEEDED } else { UNKNOWN }).collect();
        RepairMap { of, edits: Vec::new() }
    }

    /// The repair for a slot.
    pub(crate) fn of(&self, slot: usize) -> Repair {
        match self.of[slot] {
            UNKNOWN => Repair::Unknown,
            NOT_NEEDED => Repair::Nothing,
            edit => Repair::Edit(edit as usize),
        }
    }

    /// Adds the repairs of another map for slots without one.
    fn add(&mut self, others: RepairMap) {
        let before = self.edits.len() as u32;
        self.edits.extend(others.edits);
        for (edit, other) in self.of.iter_mut().zip(others.of) {
            if *edit == UNKNOWN && other < NOT_NEEDED {
                *edit = before + other;
            }
        }
    }

    /// The same for all slots that have none yet.
    fn otherwise(&mut self, edit: Edit) {
        let number = self.edits.len() as u32;
        self.edits.push(edit);
        self.of.iter_mut().filter(|edit| **edit == UNKNOWN).for_each(|edit| *edit = number);
    }

    /// An edit for slots that have none yet: one of the values that some parts of an expression have for a slot.
    fn by_values(&mut self, part: &Part<'_>, asked: &[NodeId], edit: impl Fn(&[&Value]) -> Option<Edit>) {
        if self.of.iter().all(|edit| *edit != UNKNOWN) {
            return;
        }
        let value = |id: &NodeId| part.slots.values_of(part.side, &part.expr.part(*id));
        let found: Vec<Values> = asked.iter().map(value).collect();
        let edits = &mut self.edits;
        let mut made = |values: &[&Value]| match edit(values) {
            Some(edit) => {
                edits.push(edit);
                edits.len() as u32 - 1
            }
            None => UNKNOWN,
        };
        // Most often all but the first are the same for all slots.
        let Some((first, rest)) = found.split_first() else { return };
        if rest.iter().all(|values| values.values.len() == 1) {
            let mut all: Vec<&Value> = found.iter().filter_map(|values| values.values.first()).collect();
            let numbers: Vec<u32> = first
                .values
                .iter()
                .map(|value| {
                    all[0] = value;
                    made(&all)
                })
                .collect();
            for (edit, value) in self.of.iter_mut().zip(&first.of).filter(|(edit, _)| **edit == UNKNOWN) {
                *edit = numbers.get(*value as usize).copied().unwrap_or(UNKNOWN);
            }
            return;
        }
        let mut known: HashMap<SmallVec<[u32; 4]>, u32> = HashMap::new();
        for (at, edit) in self.of.iter_mut().enumerate().filter(|(_, edit)| **edit == UNKNOWN) {
            let row: SmallVec<[u32; 4]> = found.iter().map(|values| values.of[at]).collect();
            *edit = *known.entry(row).or_insert_with_key(|row| {
                let values = found.iter().zip(row).map(|(values, value)| values.values.get(*value as usize));
                values.collect::<Option<Vec<&Value>>>().map_or(UNKNOWN, |values| made(&values))
            });
        }
    }

    /// An edit for slots that have none yet: one of the literal that a comparison wants at the end of a plan.
    fn compared(&mut self, part: &Part<'_>, compared: &Comparison<'_>, edit: impl Fn(Bound, Literal) -> Edit) {
        let inversion = compared.inversion;
        let asked: Vec<NodeId> = iter::once(compared.other).chain(inversion.beside.iter().copied()).collect();
        self.by_values(part, &asked, |values| {
            let (op, is_left) = (compared.op, compared.handle_is_left);
            let constraint = Constraint { op, is_left, other: values[0], beside: &values[1..] };
            let (bound, literal) = inversion.solved(&constraint, compared.present)?;
            Some(edit(bound, literal))
        });
    }
}

/// A part of a condition, for some slots.
struct Part<'c> {
    slots: TableView<'c>,
    job: &'c ClassAd,
    side: Side,
    expr: &'c Expr,
}

/// A comparison of something that can be changed with something else.
struct Comparison<'c> {
    op: BinaryOp,
    handle_is_left: bool,
    other: NodeId,
    /// The plan to what can be changed.
    inversion: &'c Inversion,
    /// The present value.
    present: Option<&'c Literal>,
}

/// Something in a comparison that can be changed.
struct Handle {
    name: Name,
    inversion: Inversion,
    is_left: bool,
    other: NodeId,
}

/// The parts of a comparison that can be changed, in the order in which they are tried.
fn handles(tree: &Tree, (left, right): (NodeId, NodeId), name: impl Fn(&Inversion) -> Option<Name>) -> Vec<Handle> {
    let mut found = Vec::new();
    for (side, other) in [(left, right), (right, left)] {
        for inversion in Inversion::all(tree, side) {
            if let Some(name) = name(&inversion) {
                found.push(Handle { name, inversion, is_left: side == left, other });
            }
        }
    }
    found
}

/// Things in one comparison that are tried, each in a plan of its own.
const MAX_HANDLES: usize = 3;

/// The value of a job attribute that is a constant.
fn present(job: &ClassAd, name: Name) -> Option<Literal> {
    job.get(name).and_then(|expr| expr.as_literal().cloned())
}

/// Adds repairs for an attribute of the job that has to be in a list, or is the list; for a constant in a condition of the
/// attribute that is given likewise.
fn in_list(part: &Part<'_>, asked: impl Fn(NodeId) -> Option<Name>, holder: Option<Name>, repairs: &mut RepairMap) {
    let tree = part.expr.tree();
    let Some(question) = Membership::of(tree, part.expr.root()) else { return };
    let (item, list) = (tree.bare(question.item), tree.bare(question.list));
    if let Some(name) = asked(item) {
        let old = present(part.job, name);
        repairs.by_values(part, &[list], |values| {
            Some(Edit::Attribute(name, Bound::Exactly, question.nearest(values[0], old.as_ref())?))
        });
    }
    if let Some(name) = asked(list) {
        let old = part.job.get(name);
        repairs.by_values(part, &[item], |values| {
            let longer = question.longer(old.as_ref(), values[0])?;
            Some(match longer.as_literal() {
                Some(literal) => Edit::Attribute(name, Bound::Exactly, literal.clone()),
                None => Edit::List(name, longer),
            })
        });
    }
    let Some(holder) = holder else { return };
    let whole = || part.expr.part(tree.bare(part.expr.root()));
    if let Node::Literal(literal) = tree.node(item) {
        repairs.by_values(part, &[list], |values| {
            let nearest = question.nearest(values[0], Some(literal))?;
            Some(Edit::Constant(holder, whole(), item, Bound::Exactly, nearest))
        });
    }
    if matches!(tree.node(list), Node::Literal(_) | Node::List(_)) {
        repairs.by_values(part, &[item], |values| {
            let longer = question.longer(Some(&part.expr.part(list)), values[0])?;
            Some(Edit::Part(Changed::Constant, holder, whole(), list, longer))
        });
    }
}

/// The part that a condition requires to be defined (true) or undefined: `isUndefined(x)`, `x is undefined`, and their negations.
fn presence(tree: &Tree, id: NodeId) -> Option<(NodeId, bool)> {
    let (at, is_negated) = unnegated(tree, id);
    let test = tree.defined_test(at)?;
    Some((tree.bare(test.of), test.negated == is_negated))
}

/// An attribute of the job that is to be there, or gone. What it is then another condition says, if any does.
fn to_be_there(name: Name, there: bool) -> Edit {
    match there {
        false => Edit::Attribute(name, Bound::Exactly, Literal::Undefined),
        true if name.folded().starts_with(b"request") => Edit::Attribute(name, Bound::Any, Literal::Int(1)),
        true => Edit::Attribute(name, Bound::Any, Literal::Bool(true)),
    }
}

/// Ways to change the job so that one of its own conditions holds, what was meant by it first, to leave it out last.
pub(crate) fn of_job(view: &View<'_>, sight: TableView<'_>, condition: &AdCondition) -> Vec<RepairPlan> {
    let holder = condition.place.holder;
    let mut plans: Vec<RepairPlan> = Vec::new();
    if let Some(found) = correction::of(view, &condition.expr) {
        let mut plan: RepairPlan = Vec::new();
        for (id, other) in found.parts {
            let mut repairs = RepairMap::none(sight.ads.len());
            let part = around(&condition.expr, id);
            repairs.otherwise(Edit::Part(Changed::Correction, holder, part, id, other));
            plan.push(repairs);
        }
        // What was meant may not hold either; to leave it out needs no correction.
        let mut more = RepairMap::unless(&holds(sight, Side::Other, &found.whole));
        let whole = AdCondition { expr: found.whole, ..condition.clone() };
        compared_to_constants(sight, &whole, &alternatives(sight, &whole), 0, &mut more);
        plan.push(more);
        plans.push(plan);
    }
    let parts = alternatives(sight, condition);
    for part in &parts {
        if let Some(pattern) = correction::pattern(part) {
            let mut repairs = RepairMap::none(sight.ads.len());
            let root = part.tree().bare(part.root());
            repairs.otherwise(Edit::Part(Changed::Correction, holder, part.part(root), root, pattern));
            plans.push(vec![repairs]);
        }
        // All operands of `&&` that fail have to change.
        let operands = part.tree().flattened(BinaryOp::And, part.root());
        if operands.len() < 2 {
            continue;
        }
        let wanted = |id: NodeId| {
            let operand = part.part(part.tree().bare(id));
            let mut repairs = RepairMap::unless(&holds(sight, Side::Other, &operand));
            compared_to_constants(sight, condition, &deciding(sight, &operand), 0, &mut repairs);
            repairs.otherwise(Edit::Condition(holder, operand.clone(), operand.root()));
            repairs
        };
        plans.push(operands.into_iter().map(wanted).collect());
    }
    let own = |part: &Expr| own_handles(sight, part).map_or(0, |(_, handles)| handles.len());
    for turn in 1..parts.iter().map(own).max().unwrap_or(0).min(MAX_HANDLES) {
        let mut repairs = RepairMap::none(sight.ads.len());
        compared_to_constants(sight, condition, &parts, turn, &mut repairs);
        plans.push(vec![repairs]);
    }
    let mut repairs = RepairMap::none(sight.ads.len());
    compared_to_constants(sight, condition, &parts, 0, &mut repairs);
    repairs.otherwise(Edit::Condition(holder, condition.expr.clone(), condition.expr.root()));
    plans.push(vec![repairs]);
    plans
}

/// The truth of a condition of a side for each slot.
fn holds(sight: TableView<'_>, side: Side, expr: &Expr) -> Vec<Truth> {
    let found = sight.values_of(side, expr);
    found.of.iter().map(|value| truth_of(&found.values[*value as usize])).collect()
}

/// The parts of a condition of which one has to hold.
fn alternatives(sight: TableView<'_>, condition: &AdCondition) -> Vec<Expr> {
    match condition.connective {
        Connective::Any | Connective::Choice => deciding(sight, &condition.expr),
        _ => vec![condition.expr.clone()],
    }
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

/// The parts of a job comparison that can be changed: its own attributes, and those that no ad defines inside arithmetic.
fn own_handles(sight: TableView<'_>, part: &Expr) -> Option<(BinaryOp, Vec<Handle>)> {
    let tree = part.tree();
    let (op, left, right) = comparison(tree, part.root())?;
    let name = |inversion: &Inversion| {
        let name = own(tree, inversion.inner)?;
        (sight.other.contains(name) || !inversion.is_straight() && !sight.table.has(name)).then_some(name)
    };
    Some((op, handles(tree, (left, right), name)))
}

/// Adds repairs for attributes of the job, and for constants in its conditions. Of several attributes in one comparison, the
/// one whose turn it is comes first.
fn compared_to_constants(
    sight: TableView<'_>,
    condition: &AdCondition,
    parts: &[Expr],
    turn: usize,
    repairs: &mut RepairMap,
) {
    let (tree, job) = (condition.expr.tree(), sight.other);
    for expr in parts.iter().filter(|part| !is_fleeting(sight, Side::Other, part)) {
        let part = Part { slots: sight, job, side: Side::Other, expr };
        let own = |id: NodeId| own(tree, id).filter(|name| job.contains(*name));
        in_list(&part, own, Some(condition.place.holder), repairs);
        if let Some((inner, false)) = presence(tree, expr.root())
            && let Some(name) = own(inner)
        {
            repairs.otherwise(to_be_there(name, false));
        }
        let Some((op, mut handles)) = own_handles(sight, expr) else { continue };
        if !handles.is_empty() {
            let first = turn % handles.len();
            handles.rotate_left(first);
        }
        for Handle { name, inversion, is_left, other } in &handles {
            let present = present(job, *name);
            let (handle_is_left, other, present) = (*is_left, *other, present.as_ref());
            let compared = Comparison { op, handle_is_left, other, inversion, present };
            repairs.compared(&part, &compared, |bound, value| Edit::Attribute(*name, bound, value));
        }
        let Some((_, left, right)) = comparison(tree, expr.root()) else { continue };
        for (handle, other) in [(left, right), (right, left)] {
            let inner = tree.bare(handle);
            // To want the contrary is no change worth telling where another part would do.
            let contrary =
                matches!(tree.node(inner), Node::Literal(Literal::Bool(_))) && condition.connective != Connective::Leaf;
            // A pattern is not any one text.
            let pattern = matches!(tree.node(inner), Node::Literal(Literal::Str(text)) if text.contains(&b'*'));
            // Of what is left of a division another number is no small change, nor is the contrary.
            let left_over = matches!(tree.node(tree.bare(other)), Node::Binary(BinaryOp::Modulo, ..));
            let Node::Literal(literal) = tree.node(inner) else { continue };
            if bound(op, handle == left).is_some() && !contrary && !pattern && !left_over {
                let (handle_is_left, inversion, present) = (handle == left, &Inversion::straight(), Some(literal));
                let compared = Comparison { op, handle_is_left, other, inversion, present };
                repairs.compared(&part, &compared, |bound, value| {
                    Edit::Constant(condition.place.holder, expr.clone(), inner, bound, value)
                });
            }
        }
    }
}

/// Tests if a condition uses random numbers or the clock: its operands have other values next time.
pub(crate) fn is_fleeting(sight: TableView<'_>, side: Side, expr: &Expr) -> bool {
    let tree = expr.tree();
    let is_clock = |id: NodeId| match tree.node(id) {
        Node::Call(call) => matches!(tree.calls[*call as usize].name.folded(), b"time" | b"random"),
        Node::Attr(name) | Node::Select(name) => name.folded() == b"currenttime",
        _ => false,
    };
    (tree.first_of(expr.root())..=expr.root()).any(is_clock)
        || sight.pair().depends(tree, expr.root(), side, &mut MentionsCache::default()).random
}

/// A part of `||`, or a branch of `?:`.
struct Branch {
    part: Expr,
    /// The slots for which it counts, if not all.
    taken: Option<Vec<bool>>,
}

impl Branch {
    /// No repairs yet for slots that take it, and nothing to be wished of others.
    fn repairs(&self, slots: usize) -> RepairMap {
        match &self.taken {
            None => RepairMap::none(slots),
            Some(taken) => {
                let of = taken.iter().map(|taken| if *taken { UNKNOWN } else { NOT_NEEDED }).collect();
                RepairMap { of, edits: Vec::new() }
            }
        }
    }
}

/// The parts of a chain of `||`, and the branches of `?:`, of a condition of a side.
fn branches(sight: TableView<'_>, side: Side, expr: &Expr) -> Vec<Branch> {
    let tree = expr.tree();
    let (mut waiting, mut found) = (vec![(expr.root(), None::<Vec<bool>>)], Vec::new());
    while let Some((id, taken)) = waiting.pop() {
        let bare = tree.bare(id);
        if let Node::Binary(BinaryOp::Or, left, right) = *tree.node(bare) {
            waiting.extend([(right, taken.clone()), (left, taken)]);
        } else if let Some([condition, yes, no]) = tree.choice(bare) {
            let guard = holds(sight, side, &expr.part(condition));
            for (branch, wanted) in [(no, Truth::False), (yes, Truth::True)] {
                let counts =
                    |(at, truth): (usize, &Truth)| *truth == wanted && taken.as_ref().is_none_or(|taken| taken[at]);
                waiting.push((branch, Some(guard.iter().enumerate().map(counts).collect())));
            }
        } else {
            found.push(Branch { part: expr.part(id), taken });
        }
    }
    found
}

/// The parts of `||` and the branches of `?:` of the job that count for the first slot.
fn deciding(sight: TableView<'_>, expr: &Expr) -> Vec<Expr> {
    let first = TableView { ads: &sight.ads[..1], ..sight };
    let all = branches(first, Side::Other, expr).into_iter();
    all.filter(|branch| branch.taken.as_ref().is_none_or(|taken| taken[0])).map(|branch| branch.part).collect()
}

/// Ways to change the job so that a condition of the slots holds, as far as that is known.
pub(crate) fn of_slots(sight: TableView<'_>, condition: &AdCondition) -> Vec<RepairPlan> {
    let parts = match condition.connective {
        Connective::Any | Connective::Choice => branches(sight, Side::Row, &condition.expr),
        _ => vec![Branch { part: condition.expr.clone(), taken: None }],
    };
    let mut plans: Vec<RepairPlan> = Vec::new();
    for Branch { part, .. } in &parts {
        // All operands of `&&` that fail have to hold.
        let wanted = |id: NodeId| {
            let operand = part.part(part.tree().bare(id));
            let mut repairs = RepairMap::unless(&holds(sight, Side::Row, &operand));
            of_part(sight, &operand, 0, &mut repairs);
            repairs
        };
        let operands = part.tree().flattened(BinaryOp::And, part.root());
        if operands.len() > 1 {
            plans.push(operands.into_iter().map(wanted).collect());
        }
    }
    let (mut turn, mut turns) = (0, 1);
    while turn < turns {
        let mut repairs = RepairMap::none(sight.ads.len());
        // What a slot takes comes before what it would take if it were another.
        for branch in &parts {
            let mut own = branch.repairs(sight.ads.len());
            let handles = of_part(sight, &branch.part, turn, &mut own);
            turns = turns.max(handles.min(MAX_HANDLES));
            repairs.add(own);
        }
        for branch in parts.iter().filter(|branch| branch.taken.is_some()) {
            of_part(sight, &branch.part, turn, &mut repairs);
        }
        plans.push(vec![repairs]);
        turn += 1;
    }
    plans
}

/// Adds what a part of a condition of slots wants; of several attributes in one comparison, the one whose turn it is comes
/// first. How many there are.
fn of_part(sight: TableView<'_>, expr: &Expr, turn: usize, repairs: &mut RepairMap) -> usize {
    if is_fleeting(sight, Side::Row, expr) {
        return 0;
    }
    let (tree, slot) = (expr.tree(), sight.sides(Side::Row, sight.ads[0]).0);
    let root = tree.bare(expr.root());
    // What other slots have is nothing that a job lacks.
    let of_slots = |id: NodeId, name: Name| {
        matches!(tree.node(id), Node::Attr(_)) && !sight.other.contains(name) && sight.table.has(name)
    };
    let asked = |id: NodeId| others(tree, id, slot).filter(|name| !of_slots(id, *name));
    // By itself, with a default, or as a branch.
    let by_itself = |id: NodeId| {
        let same = |inversion: &Inversion| asked(inversion.inner).filter(|_| inversion.is_same());
        Inversion::all(tree, id).iter().find_map(same)
    };
    if let Some(name) = by_itself(root) {
        repairs.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(true)));
        return 0;
    }
    if let Node::Unary(UnaryOp::Not, inner) = *tree.node(root)
        && let Some(name) = by_itself(inner)
    {
        repairs.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(false)));
        return 0;
    }
    if let Some((inner, there)) = presence(tree, root) {
        if let Some(name) = asked(inner).filter(|name| there || sight.other.contains(*name)) {
            repairs.otherwise(to_be_there(name, there));
        }
        return 0;
    }
    let part = Part { slots: sight, job: sight.other, side: Side::Row, expr };
    in_list(&part, asked, None, repairs);
    let Some((op, left, right)) = comparison(tree, root) else { return 0 };
    let mut handles = handles(tree, (left, right), |inversion| asked(inversion.inner));
    let found = handles.len();
    if found > 0 {
        handles.rotate_left(turn % found);
    }
    for Handle { name, inversion, is_left, other } in &handles {
        // A word that neither ad has is rather a text without quotation marks than an attribute that a job should have.
        let word = inversion.is_straight() && is_word(tree, inversion.inner) && names_something(tree, *other);
        if word && !sight.other.contains(*name) {
            continue;
        }
        let present = present(sight.other, *name);
        let (handle_is_left, other, present) = (*is_left, *other, present.as_ref());
        let compared = Comparison { op, handle_is_left, other, inversion, present };
        repairs.compared(&part, &compared, |bound, value| Edit::Attribute(*name, bound, value));
    }
    found
}

/// Tests if a node is a name without a scope.
pub(crate) fn is_word(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(tree.bare(id)), Node::Attr(_))
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
