//! What a condition that fails wants changed in the job, for each slot for which it fails.
//!
//! In: a condition, and slots of one block. Out: edits, one for each value that is wanted.

use crate::ad::ClassAd;
use crate::eval::scope::Scope;
use crate::explain::clauses::{Condition, Joint, Truth, conjuncts, others, own, truth};
use crate::explain::edit::{Bound, Edit, Linear, bound, comparison, constant, options, unquoted};
use crate::explain::meant;
use crate::explain::panel::{Panel, Sight};
use crate::explain::view::View;
use crate::name::Name;
use crate::program::Side;
use crate::program::atom::Surveyed;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};

/// No edit is known.
const NONE: u32 = u32::MAX;
/// No edit is needed.
const HOLDS: u32 = u32::MAX - 1;

/// What is wanted for a slot.
pub(super) enum Wish {
    /// Nothing is known that would do.
    Unknown,
    /// The condition holds.
    Nothing,
    /// An edit, by its number.
    Edit(usize),
}

/// What is wanted for some slots.
pub(super) struct Wishes {
    /// For each slot which edit.
    of: Vec<u32>,
    pub(super) edits: Vec<Edit>,
}

/// Edits that are made together so that a condition holds.
pub(super) type Way = Vec<Wishes>;

impl Wishes {
    fn none(slots: usize) -> Self {
        Wishes { of: vec![NONE; slots], edits: Vec::new() }
    }

    /// What a condition wants of slots for which it does not hold.
    fn unless(holds: &[Truth]) -> Self {
        let of = holds.iter().map(|truth| if *truth == Truth::True { HOLDS } else { NONE }).collect();
        Wishes { of, edits: Vec::new() }
    }

    /// What is wanted for a slot.
    pub(super) fn of(&self, slot: usize) -> Wish {
        match self.of[slot] {
            NONE => Wish::Unknown,
            HOLDS => Wish::Nothing,
            edit => Wish::Edit(edit as usize),
        }
    }

    /// The same for all slots that have none yet.
    fn otherwise(&mut self, edit: Edit) {
        let number = self.edits.len() as u32;
        self.edits.push(edit);
        self.of.iter_mut().filter(|edit| **edit == NONE).for_each(|edit| *edit = number);
    }

    /// An edit for slots that have none yet: one of the literal that the other side of a comparison wants.
    fn compared(&mut self, part: &Comparison<'_>, edit: impl Fn(Bound, Literal) -> Edit) {
        let Some((bound, off)) = bound(part.op, part.handle_is_left) else { return };
        if self.of.iter().all(|edit| *edit != NONE) {
            return;
        }
        let values = part.panel.values(part.job, part.side, &part.expr.part(part.other), part.slots);
        let mut numbers = Vec::with_capacity(values.values.len());
        for value in &values.values {
            let wanted = constant(value, off);
            numbers.push(if wanted.is_some() { self.edits.len() as u32 } else { NONE });
            self.edits.extend(wanted.map(|literal| edit(bound, literal)));
        }
        for (edit, value) in self.of.iter_mut().zip(&values.of).filter(|(edit, _)| **edit == NONE) {
            *edit = numbers[*value as usize];
        }
    }
}

/// A comparison of something that can be changed with something else, for some slots.
struct Comparison<'c> {
    panel: &'c Panel<'c>,
    job: &'c ClassAd,
    side: Side,
    slots: &'c [u32],
    expr: &'c Expr,
    op: BinaryOp,
    handle_is_left: bool,
    other: NodeId,
}

/// What a comparison wants an attribute of the job to be, constants around it taken off.
fn attribute(job: &ClassAd, name: Name, linear: Linear) -> impl Fn(Bound, Literal) -> Edit {
    let value = job.get(name).and_then(|expr| expr.as_literal().cloned());
    move |bound, wanted| {
        let whole = !matches!(value, Some(Literal::Real(_)));
        let wanted = linear.solved(bound, wanted, whole);
        let meant = match &value {
            Some(Literal::Str(text)) => unquoted(text, bound, &wanted),
            _ => None,
        };
        Edit::Attribute(name, bound, meant.unwrap_or(wanted))
    }
}

/// Ways to change the job so that one of its own conditions holds, what was meant by it first, to leave it out last.
pub(super) fn of_job(view: &View<'_>, sight: Sight<'_, '_>, condition: &Condition) -> Vec<Way> {
    let holder = condition.holder;
    let mut ways: Vec<Way> = Vec::new();
    if let Some(found) = meant::of(view, &condition.expr) {
        let mut way: Way = Vec::new();
        for (id, other) in found.parts {
            let mut wishes = Wishes::none(sight.ads.len());
            let part = around(&condition.expr, id);
            wishes.otherwise(Edit::Meant(holder, part, id, other));
            way.push(wishes);
        }
        // What was meant may not hold either; to leave it out needs no correction.
        let mut more = Wishes::unless(&holds(sight, &found.whole));
        let whole = Condition { expr: found.whole, ..condition.clone() };
        compared_to_constants(sight, &whole, &alternatives(sight, &whole), &mut more);
        way.push(more);
        ways.push(way);
    }
    let parts = alternatives(sight, condition);
    for part in &parts {
        if let Some(pattern) = meant::pattern(part) {
            let mut wishes = Wishes::none(sight.ads.len());
            let root = part.tree().bare(part.root());
            wishes.otherwise(Edit::Meant(holder, part.part(root), root, pattern));
            ways.push(vec![wishes]);
        }
        // All operands of `&&` that fail have to change.
        let operands = conjuncts(part.tree(), part.root());
        if operands.is_empty() {
            continue;
        }
        let wanted = |id: NodeId| {
            let operand = part.part(part.tree().bare(id));
            let mut wishes = Wishes::unless(&holds(sight, &operand));
            compared_to_constants(sight, condition, &deciding(sight, &operand), &mut wishes);
            wishes.otherwise(Edit::Condition(holder, operand.clone(), operand.root()));
            wishes
        };
        ways.push(operands.into_iter().map(wanted).collect());
    }
    let mut wishes = Wishes::none(sight.ads.len());
    compared_to_constants(sight, condition, &parts, &mut wishes);
    wishes.otherwise(Edit::Condition(holder, condition.expr.clone(), condition.expr.root()));
    ways.push(vec![wishes]);
    ways
}

/// What a condition is for each slot.
fn holds(sight: Sight<'_, '_>, expr: &Expr) -> Vec<Truth> {
    let found = sight.values(Side::Other, expr);
    found.of.iter().map(|value| Truth::of(&found.values[*value as usize])).collect()
}

/// The parts of a condition of which one has to hold.
fn alternatives(sight: Sight<'_, '_>, condition: &Condition) -> Vec<Expr> {
    match condition.joint {
        Joint::Any | Joint::Choice => deciding(sight, &condition.expr),
        _ => vec![condition.expr.clone()],
    }
}

/// The comparison that a node stands in, or the node.
fn around(expr: &Expr, id: NodeId) -> Expr {
    let tree = expr.tree();
    let smallest = (id..=expr.root()).find(|at| {
        let is_comparison =
            matches!(tree.node(*at), Node::Binary(op, ..) if !matches!(op, BinaryOp::And | BinaryOp::Or));
        is_comparison && tree.first_of(*at) <= id
    });
    expr.part(smallest.unwrap_or(id))
}

/// Adds wishes for attributes of the job, and for constants in its conditions.
fn compared_to_constants(sight: Sight<'_, '_>, condition: &Condition, parts: &[Expr], wishes: &mut Wishes) {
    let (tree, job) = (condition.expr.tree(), sight.one);
    for part in parts.iter().filter(|part| !is_fleeting(sight, Side::Other, part)) {
        let Some((op, left, right)) = comparison(tree, part.root()) else { continue };
        let compared = |handle: NodeId, other: NodeId| Comparison {
            panel: sight.panel,
            job,
            side: Side::Other,
            slots: sight.ads,
            expr: &condition.expr,
            op,
            handle_is_left: handle == left,
            other,
        };
        for (handle, other) in [(left, right), (right, left)] {
            let linear = Linear::of(tree, handle);
            if let Some(name) = own(tree, linear.inner).filter(|name| job.contains(*name)) {
                wishes.compared(&compared(handle, other), attribute(job, name, linear));
            }
        }
        for (handle, other) in [(left, right), (right, left)] {
            let inner = tree.bare(handle);
            // To want the contrary is no change worth telling where another part would do.
            let contrary =
                matches!(tree.node(inner), Node::Literal(Literal::Bool(_))) && condition.joint != Joint::Leaf;
            // A pattern is not any one text.
            let pattern = matches!(tree.node(inner), Node::Literal(Literal::Str(text)) if text.contains(&b'*'));
            if matches!(tree.node(inner), Node::Literal(_)) && !contrary && !pattern {
                let edit = |bound, value| Edit::Constant(condition.holder, part.clone(), inner, bound, value);
                wishes.compared(&compared(handle, other), edit);
            }
        }
    }
}

/// Whether a condition draws random numbers or looks at the clock: what it is compared with is another value next time.
pub(super) fn is_fleeting(sight: Sight<'_, '_>, side: Side, expr: &Expr) -> bool {
    let tree = expr.tree();
    let is_clock = |id: NodeId| match tree.node(id) {
        Node::Call(call) => matches!(tree.calls[*call as usize].name.folded(), b"time" | b"random"),
        Node::Attr(name) | Node::Select(name) => name.folded() == b"currenttime",
        _ => false,
    };
    (tree.first_of(expr.root())..=expr.root()).any(is_clock)
        || sight.world().depends(tree, expr.root(), side, &mut Surveyed::default()).random
}

/// The parts of `||` and the branches of `?:` that count for the first slot.
fn deciding(sight: Sight<'_, '_>, expr: &Expr) -> Vec<Expr> {
    let (tree, (slot, _)) = (expr.tree(), sight.pair(Side::Row, sight.ads[0]));
    let scope = Scope::new(sight.one, sight.panel.settings).with_target(slot);
    let (mut waiting, mut found) = (vec![expr.root()], Vec::new());
    while let Some(id) = waiting.pop() {
        let (condition, yes, no) = match *tree.node(tree.bare(id)) {
            Node::Binary(BinaryOp::Or, left, right) => {
                waiting.extend([right, left]);
                continue;
            }
            Node::Conditional { condition, yes, no } => (condition, yes, no),
            Node::Call(call) => match *tree.run(tree.calls[call as usize].arguments) {
                [condition, yes, no] if tree.calls[call as usize].name.folded() == b"ifthenelse" => {
                    (condition, yes, no)
                }
                _ => {
                    found.push(expr.part(id));
                    continue;
                }
            },
            _ => {
                found.push(expr.part(id));
                continue;
            }
        };
        match truth(scope, &expr.part(condition)) {
            Truth::True => waiting.push(yes),
            Truth::False => waiting.push(no),
            Truth::Undefined | Truth::Error => {}
        }
    }
    found
}

/// What to change in the job so that a condition of the slots holds, as far as that is known.
pub(super) fn of_slots(sight: Sight<'_, '_>, condition: &Condition) -> Wishes {
    let mut wishes = Wishes::none(sight.ads.len());
    let mut parts = vec![condition.expr.clone()];
    if matches!(condition.joint, Joint::Any | Joint::Choice) {
        parts = options(&condition.expr);
    }
    for part in &parts {
        of_part(sight, part, &mut wishes);
    }
    wishes
}

fn of_part(sight: Sight<'_, '_>, expr: &Expr, wishes: &mut Wishes) {
    if is_fleeting(sight, Side::Row, expr) {
        return;
    }
    let (tree, slot) = (expr.tree(), sight.pair(Side::Row, sight.ads[0]).0);
    let root = tree.bare(expr.root());
    // What other slots have is nothing that a job lacks.
    let of_slots = |id: NodeId, name: Name| {
        matches!(tree.node(id), Node::Attr(_)) && !sight.one.contains(name) && sight.panel.has(name)
    };
    let asked = |id: NodeId| others(tree, id, slot).filter(|name| !of_slots(id, *name));
    if let Some(name) = asked(root) {
        return wishes.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(true)));
    }
    if let Node::Unary(UnaryOp::Not, inner) = *tree.node(root)
        && let Some(name) = asked(tree.bare(inner))
    {
        return wishes.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(false)));
    }
    let Some((op, left, right)) = comparison(tree, root) else { return };
    for (handle, other) in [(left, right), (right, left)] {
        let linear = Linear::of(tree, handle);
        let Some(name) = asked(linear.inner) else { continue };
        // A word that neither ad has is rather a text without quotation marks than an attribute that a job should have.
        if is_word(tree, linear.inner) && !sight.one.contains(name) && names_something(tree, other) {
            continue;
        }
        let compared = Comparison {
            panel: sight.panel,
            job: sight.one,
            side: Side::Row,
            slots: sight.ads,
            expr,
            op,
            handle_is_left: handle == left,
            other,
        };
        wishes.compared(&compared, attribute(sight.one, name, linear));
    }
}

/// Whether a node is a name without a scope.
pub(super) fn is_word(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(tree.bare(id)), Node::Attr(_))
}

/// Whether a node is the name of an attribute, with a scope or without.
pub(super) fn names_something(tree: &Tree, id: NodeId) -> bool {
    let id = tree.bare(id);
    match tree.node(id) {
        Node::Attr(_) => true,
        Node::Select(_) => matches!(tree.node(base_of(id)), Node::Attr(_)),
        _ => false,
    }
}
