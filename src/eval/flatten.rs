//! Partial evaluation (`docs/reference/classad-language.md` 10.7): computes what an ad decides of an expression and
//! leaves the rest.
//!
//! In: an expression and an ad. Out: a value, or a residual expression in which known attributes are constants and
//! constants of one chain of operators are folded into one. The residue grows in a flat arena; chains of operators
//! are walked in a loop, and other nesting is limited, so nothing overflows the stack.
//! One file, because each node is flattened in terms of the others, and half of the lines are tests.

use std::sync::Arc;

use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Scope};
use crate::eval::{EvalError, Evaluator, Found, operate};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::syntax::expr::{CallSite, Expr, Node, NodeId, Run, Tree, base_of, copy_into, copy_node};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::logic::Truth;
use crate::value::{FrameId, Value, arith};

/// The result of partial evaluation.
#[derive(Clone, Debug)]
pub enum Flattened {
    /// The ad decides it.
    Value(Value),
    /// Something is missing.
    Residue(Expr),
}

/// The treatment of a reference to an attribute whose expression does not flatten to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inlining {
    /// The reference stays.
    Keep,
    /// The residue of the attribute's expression takes its place.
    Inline,
}

/// Computes what an ad decides of an expression.
///
/// Functions count as pure: `time()` and `random()` are evaluated now.
///
/// # Errors
/// The evaluation of a part was abandoned, references go in a circle, or the residue is too large.
///
/// ```
/// use classmate::{ClassAd, EvalOptions, Flattened, Inlining, flatten, parse_expr};
/// let ad = ClassAd::parse(b"[ a = 1 ]")?;
/// let expr = parse_expr(b"x + a + 2")?;
/// match flatten(&ad, &expr, Inlining::Keep, &EvalOptions::default()) {
///     Ok(Flattened::Residue(rest)) => assert_eq!(rest.to_string(), "3 + x"),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn flatten(ad: &ClassAd, expr: &Expr, inlining: Inlining, settings: &EvalOptions) -> Result<Flattened, EvalError> {
    let evaluator = Evaluator::new(Scope::new(ad, settings));
    let start = evaluator.start();
    let mut flattener =
        Flattener { root: evaluator.root_of(start), evaluator, inlining, parts: Tree::default(), nesting: 0 };
    flattener.parts.semantics = expr.tree().semantics;
    let flat = flattener.flat(expr.tree(), expr.root(), Context { frame: start, attached: false })?;
    match flat {
        Flat::Value(value) => Ok(Flattened::Value(flattener.evaluator.released(value))),
        other => {
            let root = flattener.tree(other)?;
            flattener.expr(root).map(Flattened::Residue)
        }
    }
}

/// Parts inside one another, other than chains of operators. The reference has no limit and overflows its stack.
const MAX_NESTING: u32 = 10_000;

/// Memory that a residual part counts for.
const PART_SIZE: usize = 32;

/// A flattened operand.
enum Flat {
    Value(Value),
    Tree(NodeId),
    /// `constant op tree`, from a chain of that operator; the constant can still take in others.
    Pair(BinaryOp, Value, NodeId),
}

/// The ad in which names are looked up.
#[derive(Clone, Copy)]
struct Context {
    frame: FrameId,
    /// True if ads written here are inside the ad of the frame. Those of a loose expression are not.
    attached: bool,
}

struct Flattener<'a> {
    evaluator: Evaluator<'a>,
    root: FrameId,
    inlining: Inlining,
    /// Residual parts, in any order.
    parts: Tree,
    nesting: u32,
}

fn is_associative(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Multiply
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::And
            | BinaryOp::Or
    )
}

impl Flattener<'_> {
    fn part(&mut self, node: Node) -> Result<NodeId, EvalError> {
        self.parts.nodes.push(node);
        let id = self.parts.root();
        let children = match self.parts.node(id) {
            Node::Call(_) | Node::List(_) => self.parts.parts(id).len() * size_of::<NodeId>(),
            Node::Ad(run) => run.len as usize * size_of::<(Name, NodeId)>(),
            _ => 0,
        };
        self.evaluator.charge_bytes(PART_SIZE + children)?;
        Ok(id)
    }

    /// A part of an expression as it is.
    fn copied(&mut self, tree: &Tree, id: NodeId) -> Result<NodeId, EvalError> {
        self.evaluator.charge_bytes(PART_SIZE)?;
        Ok(copy_into(&mut self.parts, tree, id))
    }

    fn constant(&mut self, value: &Value) -> Result<NodeId, EvalError> {
        let constant = value.to_expr();
        self.copied(constant.tree(), constant.root())
    }

    /// The parts of a list or the arguments of a call.
    fn run(&mut self, parts: &[NodeId]) -> Run {
        let run = Run { first: self.parts.children.len() as u32, len: parts.len() as u32 };
        self.parts.children.extend(parts);
        run
    }

    /// A flattened operand as a residual part.
    fn tree(&mut self, flat: Flat) -> Result<NodeId, EvalError> {
        match flat {
            Flat::Value(value) => {
                let value = self.evaluator.released(value);
                self.constant(&value)
            }
            Flat::Tree(part) => Ok(part),
            Flat::Pair(op, value, right) => {
                let left = self.constant(&value)?;
                self.part(Node::Binary(op, left, right))
            }
        }
    }

    fn kept(&mut self, tree: &Arc<Tree>, id: NodeId) -> Result<Flat, EvalError> {
        self.copied(tree, id).map(Flat::Tree)
    }

    /// Flattens a part; no pair leaves it.
    fn whole(&mut self, tree: &Arc<Tree>, id: NodeId, context: Context) -> Result<Flat, EvalError> {
        match self.flat(tree, id, context)? {
            pair @ Flat::Pair(..) => self.tree(pair).map(Flat::Tree),
            other => Ok(other),
        }
    }

    fn flat(&mut self, tree: &Arc<Tree>, id: NodeId, context: Context) -> Result<Flat, EvalError> {
        if self.nesting >= MAX_NESTING {
            return Err(EvalError::Depth(MAX_NESTING));
        }
        self.nesting += 1;
        let flat = crate::eval::with_stack(|| self.node(tree, id, context));
        self.nesting -= 1;
        flat
    }

    fn node(&mut self, tree: &Arc<Tree>, id: NodeId, context: Context) -> Result<Flat, EvalError> {
        self.evaluator.charge_work(1)?;
        match *tree.node(id) {
            Node::Literal(ref literal) => Ok(Flat::Value(Value::from(literal))),
            Node::Attr(_) | Node::Absolute(_) | Node::Select(_) => self.reference(tree, id, context),
            Node::Paren(inner) => match self.whole(tree, inner, context)? {
                Flat::Tree(part) => self.part(Node::Paren(part)).map(Flat::Tree),
                value => Ok(value),
            },
            Node::Unary(op, operand) => match self.whole(tree, operand, context)? {
                Flat::Value(value) if op == UnaryOp::Not => {
                    Ok(Flat::Value(self.evaluator.meaning(&value).not().value()))
                }
                Flat::Value(value) => Ok(Flat::Value(arith::unary(op, value))),
                other => {
                    let part = self.tree(other)?;
                    self.part(Node::Unary(op, part)).map(Flat::Tree)
                }
            },
            Node::Binary(BinaryOp::Default, left, right)
                if self.evaluator.is_old(VersionRule::ElvisPrecedence, tree) =>
            {
                self.conditional(tree, left, None, right, context)
            }
            Node::Binary(..) => self.chain(tree, id, context),
            Node::Subscript { base, index } => {
                let (base, index) = (self.whole(tree, base, context)?, self.whole(tree, index, context)?);
                if let (Flat::Value(base), Flat::Value(index)) = (&base, &index) {
                    return self.evaluator.subscript_of(base, index).map(Flat::Value);
                }
                let (base, index) = (self.tree(base)?, self.tree(index)?);
                self.part(Node::Subscript { base, index }).map(Flat::Tree)
            }
            Node::Conditional { condition, yes, no } => self.conditional(tree, condition, Some(yes), no, context),
            Node::Call(call) => self.call(tree, tree.calls[call as usize], context),
            Node::List(run) => {
                let parts = self.each(tree, tree.run(run), context)?.0;
                let run = self.run(&parts);
                self.part(Node::List(run)).map(Flat::Tree)
            }
            Node::Ad(run) => self.ad(tree, id, run, context),
        }
    }

    /// Flattens several parts, and says whether all of them are values.
    fn each(&mut self, tree: &Arc<Tree>, ids: &[NodeId], context: Context) -> Result<(Vec<NodeId>, bool), EvalError> {
        let (mut parts, mut values) = (Vec::with_capacity(ids.len()), true);
        for id in ids {
            let flat = self.whole(tree, *id, context)?;
            values &= matches!(flat, Flat::Value(_));
            parts.push(self.tree(flat)?);
        }
        Ok((parts, values))
    }

    fn ad(&mut self, tree: &Arc<Tree>, id: NodeId, run: Run, context: Context) -> Result<Flat, EvalError> {
        let frame = self.evaluator.frame_of_written(tree, id, context.attached.then_some(context.frame))?;
        let inside = Context { frame, attached: true };
        let mut attributes = Vec::with_capacity(run.len as usize);
        for (name, value) in tree.ad(run) {
            let flat = self.whole(tree, *value, inside)?;
            attributes.push((*name, self.tree(flat)?));
        }
        let run = Run { first: self.parts.attributes.len() as u32, len: run.len };
        self.parts.attributes.extend(attributes);
        self.part(Node::Ad(run)).map(Flat::Tree)
    }

    fn call(&mut self, tree: &Arc<Tree>, site: CallSite, context: Context) -> Result<Flat, EvalError> {
        let Some(function) = crate::builtin::find(site.name) else { return Ok(Flat::Value(Value::Error)) };
        let written = tree.run(site.arguments);
        let (mut arguments, values) = self.each(tree, written, context)?;
        if values {
            return self.evaluator.call(tree, site, context.frame).map(Flat::Value);
        }
        if let (true, Some(first), Some(original)) = (function.quotes(), arguments.first_mut(), written.first()) {
            *first = self.copied(tree, *original)?;
        }
        let site = CallSite { name: site.name, arguments: self.run(&arguments) };
        self.parts.calls.push(site);
        self.part(Node::Call((self.parts.calls.len() - 1) as u32)).map(Flat::Tree)
    }

    /// Flattens a conditional; versions before 23.10 take `?:` for one without a first branch.
    fn conditional(
        &mut self,
        tree: &Arc<Tree>,
        condition: NodeId,
        yes: Option<NodeId>,
        no: NodeId,
        context: Context,
    ) -> Result<Flat, EvalError> {
        let chosen = match self.whole(tree, condition, context)? {
            Flat::Value(Value::Undefined) => self.copied(tree, condition)?,
            Flat::Value(value) => {
                return match self.evaluator.meaning(&value) {
                    Truth::True => self.whole(tree, yes.ok_or(EvalError::Unflattened)?, context),
                    Truth::False => self.whole(tree, no, context),
                    _ => Ok(Flat::Value(Value::Error)),
                };
            }
            other => self.tree(other)?,
        };
        let branches: Vec<NodeId> = yes.into_iter().chain([no]).collect();
        let node = match *self.each(tree, &branches, context)?.0 {
            [yes, no] => Node::Conditional { condition: chosen, yes, no },
            ref right => Node::Binary(BinaryOp::Default, chosen, right[0]),
        };
        self.part(node).map(Flat::Tree)
    }

    fn reference(&mut self, tree: &Arc<Tree>, id: NodeId, context: Context) -> Result<Flat, EvalError> {
        let found = match *tree.node(id) {
            Node::Attr(name) => self.evaluator.resolve_reference(name, context.frame),
            Node::Absolute(name) => self.evaluator.resolve(name, self.root),
            Node::Select(name) => match self.selected(tree, base_of(id), context)? {
                Value::Ad(ad) => {
                    let from = self.evaluator.frame_of(&ad)?;
                    self.evaluator.resolve(name, from)
                }
                Value::List(list) if self.inlining == Inlining::Inline => {
                    let made = self.evaluator.project(&list, name, context.frame)?;
                    return self.tree(Flat::Value(made)).map(Flat::Tree);
                }
                Value::Undefined | Value::List(_) => None,
                _ => return Ok(Flat::Value(Value::Error)),
            },
            _ => None,
        };
        let Some((found, at)) = found else { return self.kept(tree, id) };
        let (target, node) = match (found.tree(), found) {
            (Some((target, node)), _) if !matches!(target.node(node), Node::Ad(_)) => (target, node),
            (Some(_), _) | (None, Found::Frame(_)) => return self.kept(tree, id),
            (None, found) => return self.evaluator.found_in(&found, at, at).map(Flat::Value),
        };
        self.evaluator.descend()?;
        let flat = self.whole(&target, node, Context { frame: at, attached: true });
        self.evaluator.ascend();
        match flat? {
            Flat::Tree(_) if self.inlining == Inlining::Keep => self.kept(tree, id),
            other => Ok(other),
        }
    }

    /// The left side of a selection.
    fn selected(&mut self, tree: &Arc<Tree>, base: NodeId, context: Context) -> Result<Value, EvalError> {
        if context.attached {
            return self.evaluator.eval(tree, base, context.frame);
        }
        self.evaluator.eval_relocated(FrameId::NONE, &Expr::at(Arc::clone(tree), base), context.frame)
    }

    /// A chain of operators, from its leftmost operand to the right: `a + b * c` is `+` of `a` and `b * c`.
    fn chain(&mut self, tree: &Arc<Tree>, id: NodeId, context: Context) -> Result<Flat, EvalError> {
        let mut operators = Vec::new();
        let mut leftmost = id;
        while let Node::Binary(op, left, right) = *tree.node(leftmost) {
            operators.push((op, right));
            leftmost = left;
        }
        self.evaluator.charge_work(operators.len() as u64)?;
        let mut left = self.flat(tree, leftmost, context)?;
        for (op, right) in operators.into_iter().rev() {
            let right = self.flat(tree, right, context)?;
            left = if is_associative(op) { self.combined(op, left, right)? } else { self.joined(op, left, right)? };
        }
        Ok(left)
    }

    /// An operation whose operands stay where they are.
    fn joined(&mut self, op: BinaryOp, left: Flat, right: Flat) -> Result<Flat, EvalError> {
        if let (Flat::Value(left), Flat::Value(right)) = (&left, &right) {
            return Ok(Flat::Value(self.operated(op, left, right)));
        }
        let (left, right) = (self.tree(left)?, self.tree(right)?);
        self.part(Node::Binary(op, left, right)).map(Flat::Tree)
    }

    /// An operation of an associative operator, whose constants are brought together in front.
    fn combined(&mut self, op: BinaryOp, left: Flat, right: Flat) -> Result<Flat, EvalError> {
        let (left, right) = match (op, left, right) {
            (BinaryOp::And | BinaryOp::Or, Flat::Value(value), tree @ (Flat::Tree(_) | Flat::Pair(..))) => {
                let result = self.operated(op, &value, &Value::Undefined);
                match self.decided(op, value, tree, result)? {
                    Ok(flat) => return Ok(flat),
                    Err((value, tree)) => (Flat::Value(value), tree),
                }
            }
            (BinaryOp::And | BinaryOp::Or, tree @ (Flat::Tree(_) | Flat::Pair(..)), Flat::Value(value)) => {
                let result = self.operated(op, &Value::Undefined, &value);
                match self.decided(op, value, tree, result)? {
                    Ok(flat) => return Ok(flat),
                    Err((value, tree)) => (tree, Flat::Value(value)),
                }
            }
            (_, left, right) => (left, right),
        };
        let is_pair = |flat: &Flat, own: bool| matches!(flat, Flat::Pair(other, ..) if (*other == op) == own);
        let foreign = is_pair(&left, false) || is_pair(&right, false);
        if foreign && !is_pair(&left, true) && !is_pair(&right, true) {
            return self.joined(op, left, right);
        }
        // A pair of another operator is a tree like any other here. (The reference drops its constant:
        // `x + 1 + y * 2` becomes `1 + x + y`.)
        let (left, right) = (self.own(op, left)?, self.own(op, right)?);
        Ok(match (left, right) {
            (Flat::Value(a), Flat::Value(b)) => Flat::Value(self.operated(op, &a, &b)),
            (Flat::Value(value), Flat::Tree(tree)) | (Flat::Tree(tree), Flat::Value(value)) => {
                Flat::Pair(op, value, tree)
            }
            (Flat::Tree(a), Flat::Tree(b)) => Flat::Tree(self.part(Node::Binary(op, a, b))?),
            (Flat::Pair(_, a, tree), Flat::Value(b)) | (Flat::Value(a), Flat::Pair(_, b, tree)) => {
                Flat::Pair(op, self.operated(op, &a, &b), tree)
            }
            (Flat::Pair(_, value, a), Flat::Tree(b)) | (Flat::Tree(a), Flat::Pair(_, value, b)) => {
                Flat::Pair(op, value, self.part(Node::Binary(op, a, b))?)
            }
            (Flat::Pair(_, a, left), Flat::Pair(_, b, right)) => {
                Flat::Pair(op, self.operated(op, &a, &b), self.part(Node::Binary(op, left, right))?)
            }
        })
    }

    /// An operand in which only a pair of this operator is still a pair.
    fn own(&mut self, op: BinaryOp, flat: Flat) -> Result<Flat, EvalError> {
        match flat {
            Flat::Pair(other, ..) if other != op => self.tree(flat).map(Flat::Tree),
            flat => Ok(flat),
        }
    }

    /// The value of an operator between values.
    fn operated(&self, op: BinaryOp, left: &Value, right: &Value) -> Value {
        let [left_truth, right_truth] = [left, right].map(|value| self.evaluator.meaning(value));
        match op {
            BinaryOp::And => left_truth.and(right_truth).value(),
            BinaryOp::Or => left_truth.or(right_truth).value(),
            _ => operate(op, left, right),
        }
    }

    /// `&&` or `||` of a value and something else, with the result if that is undefined: decided by the value, or simply the
    /// something else.
    fn decided(
        &mut self,
        op: BinaryOp,
        value: Value,
        other: Flat,
        result: Value,
    ) -> Result<Result<Flat, (Value, Flat)>, EvalError> {
        if let Value::Bool(_) = result {
            return Ok(Ok(Flat::Value(result)));
        }
        let condition = match self.evaluator.meaning(&value) {
            Truth::True => true,
            Truth::False => false,
            _ => return Ok(Err((value, other))),
        };
        if op == BinaryOp::And && condition {
            // The reference drops the constant of a pair here: `true && x + 1` becomes `x`.
            return self.own(op, other).map(Ok);
        }
        Ok(Err((Value::Bool(condition), other)))
    }

    /// One of the residual parts as an expression.
    fn expr(&mut self, root: NodeId) -> Result<Expr, EvalError> {
        let limit = self.evaluator.bytes_left() / size_of::<Node>();
        let mut tree = Tree { semantics: self.parts.semantics, ..Tree::default() };
        let mut moved: Vec<NodeId> = vec![0; self.parts.nodes.len()];
        let mut steps = vec![(root, false)];
        while let Some((id, is_below_done)) = steps.pop() {
            if tree.nodes.len() > limit {
                return Err(self.evaluator.too_many_bytes());
            }
            if is_below_done {
                copy_node(&mut tree, &self.parts, id, |part| moved[part as usize]);
                moved[id as usize] = tree.root();
            } else {
                steps.push((id, true));
                steps.extend(self.parts.parts(id).into_iter().rev().map(|part| (part, false)));
            }
        }
        Ok(Expr::whole(Arc::new(tree)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{Mode, parse_expr};

    fn flat(ad: &str, expr: &str, inlining: Inlining) -> String {
        flat_in(&EvalOptions::default(), ad, expr, inlining)
    }

    fn flat_in(options: &EvalOptions, ad: &str, expr: &str, inlining: Inlining) -> String {
        let ad = ClassAd::parse_with(ad, &options.parse_options()).unwrap();
        let expr = parse_expr(expr.as_bytes(), &options.parse_options()).unwrap();
        match flatten(&ad, &expr, inlining, options) {
            Ok(Flattened::Value(value)) => format!("value {value}"),
            Ok(Flattened::Residue(expr)) => expr.to_string(),
            Err(failed) => failed.to_string(),
        }
    }

    /// The answers of 10.0.9, 23.0.28, and 23.10.29, in strict mode.
    #[test]
    fn before_23_10_the_default_operator_is_a_conditional_without_a_branch() {
        let ad = "[u = undefined; i = 5; f = false; e = error; s = \"x\"; d = undefined ?: 3]";
        let fails = "HTCondor before 23.10 cannot flatten `?:` behind a value";
        for (text, [oldest, old, now]) in [
            ("i ?: 3", ["value error", fails, "value 5"]),
            ("i ?: y", ["value error", fails, "5 ?: y"]),
            ("u ?: 3", ["u ?: 3", "u ?: 3", "value 3"]),
            ("u ?: y", ["u ?: y", "u ?: y", "undefined ?: y"]),
            ("d ?: 3", ["d ?: 3", "d ?: 3", "value 3"]),
            ("y ?: u", ["y ?: undefined"; 3]),
            ("y ?: i", ["y ?: 5"; 3]),
            ("f ?: 3", ["value 3", "value 3", "value false"]),
            ("e ?: 3", ["value error"; 3]),
            ("s ?: 3", ["value error", "value error", "value \"x\""]),
            ("u ?: 3 + i", ["u ?: 8", "u ?: 8", "value 8"]),
            ("false && (true ?: 3)", [fails, fails, "value false"]),
            ("strcat(s, u ?: \"q\")", ["strcat(\"x\",u ?: \"q\")", "strcat(\"x\",u ?: \"q\")", "value \"xq\""]),
            ("i ? y : 2", ["value error", "y", "y"]),
            ("y ? u ?: 1 : i", ["y ? u ?: 1 : 5", "y ? u ?: 1 : 5", "y ? 1 : 5"]),
        ] {
            for (series, expected) in [("10.0", oldest), ("23.0", old), ("23.10", now)] {
                let semantics = series.parse().unwrap();
                let options = EvalOptions { semantics, mode: Mode::Strict, ..EvalOptions::default() };
                assert_eq!(flat_in(&options, ad, text, Inlining::Keep), expected, "{text} in {series}");
            }
        }
    }

    /// The answers of 10.0.9 and 10.9.0 in strict mode; `t || i` in 10.0 is error there, as a string is (Q6).
    #[test]
    fn before_10_3_strict_mode_takes_no_number_for_a_condition() {
        let ad = "[i = 5; z = 0; r = 2.5; t = true; f = false; u = undefined]";
        for (text, [old, now]) in [
            ("!i", ["value error", "value false"]),
            ("!z", ["value error", "value true"]),
            ("i && t", ["value error", "value true"]),
            ("z || f", ["value error", "value false"]),
            ("i && u", ["value error", "value undefined"]),
            ("u || r", ["value error", "value true"]),
            ("i && y", ["5 && y", "y"]),
            ("z && y", ["0 && y", "value false"]),
            ("y || i", ["5 || y", "value true"]),
            ("y || z", ["0 || y", "false || y"]),
            ("y || i || f", ["error || y", "value true"]),
            ("y && (i && t)", ["error && y", "y"]),
            ("t && y && i", ["5 && y", "y"]),
            ("!(i && y)", [" !(5 && y)", " !(y)"]),
            ("y && i && f", ["value false", "value false"]),
            ("i ? 1 : y", ["value error", "value 1"]),
        ] {
            for (series, mode, expected) in [
                ("10.0", Mode::Strict, old),
                ("10.9", Mode::Strict, now),
                ("10.0", Mode::HTCondor, now),
                ("25.14", Mode::Strict, now),
            ] {
                let options = EvalOptions { semantics: series.parse().unwrap(), mode, ..EvalOptions::default() };
                assert_eq!(flat_in(&options, ad, text, Inlining::Keep), expected, "{text} in {series}, {mode:?}");
            }
        }
    }

    /// The reference drops `* 2`, `1 +` and `undefined &&` (its results are `1 + x + y`, `x` and `x`).
    #[test]
    fn what_is_evaluated_elsewhere_stays_as_it_is() {
        let ad = "[x = 3; L = {[x = 1],[x = 5]}]";
        for (text, expected) in [
            ("countMatches(x > 2, L)", "countMatches(x > 2,L)"),
            ("evalInEachContext(x + TARGET.y, { [x = 1] })", "evalInEachContext(x + TARGET.y,{ [ x = 1 ] })"),
            ("unparse(x + TARGET.y)", "unparse(x + TARGET.y)"),
            ("unparse(x)", "value \"3\""),
            ("strcat(x, TARGET.y)", "strcat(3,TARGET.y)"),
        ] {
            assert_eq!(flat(ad, text, Inlining::Keep), expected, "{text}");
        }
    }

    #[test]
    fn no_operand_is_lost() {
        let flat = |expr| flat("[]", expr, Inlining::Keep);
        assert_eq!(flat("x + 1 + y * 2"), "1 + x + 2 * y");
        assert_eq!(flat("x + 1 && true"), "1 + x");
        assert_eq!(flat("true && x + 1 + 2"), "3 + x");
        assert_eq!(flat("x && undefined && 5"), "undefined && x");
        assert_eq!(flat("y * 2 + x + 1"), "1 + 2 * y + x");
    }

    #[test]
    fn attributes_that_stay_open_are_kept_or_inlined() {
        let ad = "[a = 2; g = x + a; n = l && y; l = true]";
        assert_eq!(flat(ad, "g + a && n", Inlining::Keep), "2 + g && n");
        assert_eq!(flat(ad, "(g) * a && n", Inlining::Inline), "2 * (2 + x) && y");
        assert_eq!(flat(ad, "{ a, [ q = a ] }", Inlining::Keep), "{ 2,[ q = a ] }");
    }

    /// Answers of 25.14.1.
    #[test]
    fn an_ad_written_in_a_loose_expression_has_nothing_around_it() {
        for (text, expected) in [
            ("[q = a].q", "[ q = a ].q"),
            ("[q = a].q + a", "1 + [ q = a ].q"),
            ("[q = d].q.c", "[ q = d ].q.c"),
            ("{ [q = a] }[0].q", "{ [ q = a ] }[0].q"),
            ("[a = 7; q = a].q", "value 7"),
            ("x.q", "value 1"),
        ] {
            assert_eq!(
                flat("[a = 1; b = a + 1; d = [a = 5; c = b]; x = [q = a]]", text, Inlining::Keep),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn circles_fail() {
        assert_eq!(flat("[a = b + x; b = a]", "a", Inlining::Keep), EvalError::Depth(400).to_string());
    }

    /// 2^60 copies of `x` would be inlined.
    #[test]
    fn a_residue_that_grows_without_end_fails() {
        let ad: Vec<String> = (0..60).map(|link| format!("a{link} = a{0} + a{0}", link + 1)).collect();
        let message = flat(&format!("[{}]", ad.join("; ")), "a0", Inlining::Inline);
        assert!(message.starts_with("the evaluation "), "{message}");
    }

    #[test]
    fn long_chains_and_deep_nesting_need_no_stack() {
        let sum = vec!["x"; 50_000].join(" - ");
        assert_eq!(flat("[]", &sum, Inlining::Keep), sum);
        let ones = vec!["1"; 50_000].join(" + ");
        assert_eq!(flat("[]", &ones, Inlining::Keep), "value 50000");
        let subscripts = format!("x{}", "[0]".repeat(50_000));
        assert_eq!(flat("[]", &subscripts, Inlining::Keep), EvalError::Depth(MAX_NESTING).to_string());
    }
}
