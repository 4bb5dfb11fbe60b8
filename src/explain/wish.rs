//! What a condition that fails wants changed in the job, for each slot for which it fails.
//!
//! In: a condition, and slots of one block. Out: edits, one for each value that is wanted.

use crate::ad::ClassAd;
use crate::eval::scope::Scope;
use crate::explain::clauses::{Condition, Joint, Truth, bare, others, own, truth};
use crate::explain::edit::{Bound, Edit, Linear, bound, comparison, constant, options, unquoted};
use crate::explain::panel::{Panel, Sight};
use crate::name::Name;
use crate::program::Side;
use crate::syntax::expr::{Expr, Node, NodeId};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};

/// No edit.
const NONE: u32 = u32::MAX;

/// What is wanted for some slots.
pub(super) struct Wishes {
    /// For each slot which edit.
    of: Vec<u32>,
    pub(super) edits: Vec<Edit>,
}

impl Wishes {
    fn none(slots: usize) -> Self {
        Wishes { of: vec![NONE; slots], edits: Vec::new() }
    }

    /// The edit for a slot.
    pub(super) fn of(&self, slot: usize) -> Option<usize> {
        Some(self.of[slot] as usize).filter(|edit| *edit != NONE as usize)
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

/// What to change in the job so that one of its own conditions holds.
pub(super) fn of_job(sight: Sight<'_, '_>, condition: &Condition) -> Wishes {
    let (tree, job) = (condition.expr.tree(), sight.one);
    let mut wishes = Wishes::none(sight.ads.len());
    let parts = match condition.joint {
        Joint::Any | Joint::Choice => deciding(sight, &condition.expr),
        _ => vec![condition.expr.clone()],
    };
    for part in parts {
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
            let inner = bare(tree, handle);
            // To want the contrary is no change worth telling where another part would do.
            let contrary =
                matches!(tree.node(inner), Node::Literal(Literal::Bool(_))) && condition.joint != Joint::Leaf;
            if matches!(tree.node(inner), Node::Literal(_)) && !contrary {
                let edit = |bound, value| Edit::Constant(condition.holder, condition.expr.clone(), inner, bound, value);
                wishes.compared(&compared(handle, other), edit);
            }
        }
    }
    wishes.otherwise(Edit::Condition(condition.holder, condition.expr.clone(), condition.expr.root()));
    wishes
}

/// The parts of `||` and the branches of `?:` that count for the first slot.
fn deciding(sight: Sight<'_, '_>, expr: &Expr) -> Vec<Expr> {
    let (tree, (slot, _)) = (expr.tree(), sight.pair(Side::Row, sight.ads[0]));
    let scope = Scope::new(sight.one, sight.panel.settings).with_target(slot);
    let (mut waiting, mut found) = (vec![expr.root()], Vec::new());
    while let Some(id) = waiting.pop() {
        let (condition, yes, no) = match *tree.node(bare(tree, id)) {
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
    let (tree, slot) = (expr.tree(), sight.pair(Side::Row, sight.ads[0]).0);
    let root = bare(tree, expr.root());
    if let Some(name) = others(tree, root, slot) {
        return wishes.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(true)));
    }
    if let Node::Unary(UnaryOp::Not, inner) = *tree.node(root)
        && let Some(name) = others(tree, bare(tree, inner), slot)
    {
        return wishes.otherwise(Edit::Attribute(name, Bound::Exactly, Literal::Bool(false)));
    }
    let Some((op, left, right)) = comparison(tree, root) else { return };
    for (handle, other) in [(left, right), (right, left)] {
        let linear = Linear::of(tree, handle);
        if let Some(name) = others(tree, linear.inner, slot) {
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
}
