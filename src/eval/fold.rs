//! Ads with their own constants in the expressions that decide a match, for ads that are matched again and again.
//!
//! In: an ad. Out: an ad that matches the same others in fewer steps, or nothing where that would not pay. A match of
//! folded ads is decided within limits so much narrower that the ads themselves stay within theirs; where it is not, and
//! where an expression looks at expressions or at whole ads, it is left to the ads themselves. One file: a third of it is
//! tests.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ad::{Attribute, ClassAd};
use crate::eval::scope::{EvalOptions, Scope};
use crate::eval::{Evaluator, REQUIREMENTS, operate, with_stack};
use crate::name::{Key, Name, known};
use crate::syntax::compiled::{is_condition, type_test};
use crate::syntax::expr::{CallSite, Node, NodeId, Run, Tree, base_of, copy_into};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::parse::Mode;
use crate::value::logic::Truth;
use crate::value::{Value, arith};

/// An ad with its own constants in its Requirements and in the attributes that these refer to.
#[derive(Debug)]
pub struct FoldedAd {
    /// The attributes that decide a match, folded and compiled, and the whole ad as their parent.
    ad: Arc<ClassAd>,
    cost: Cost,
}

/// Bounds of what an evaluation takes beyond that of the folded ad.
#[derive(Clone, Copy, Default, Debug)]
struct Cost {
    /// Steps for each step that is left.
    steps: u64,
    /// Levels on one path.
    levels: u32,
}

impl Cost {
    /// Adds what may be on the same path.
    fn add(&mut self, other: Cost) {
        self.steps = self.steps.saturating_add(other.steps);
        self.levels = self.levels.saturating_add(other.levels);
    }

    /// Adds what is on another path.
    fn add_beside(&mut self, other: Cost) {
        let levels = self.levels.max(other.levels);
        self.add(other);
        self.levels = levels;
    }
}

/// Expressions with more nodes stay as they are.
const MAX_NODES: usize = 2_000;

/// Parts inside one another, beyond which an ad is not folded: about what an evaluation allows.
const MAX_NESTING: u32 = 400;

/// Beyond these bounds an ad is not folded: the limits of a match would become too narrow to be of use.
const MAX_COST: Cost = Cost { steps: 5_000, levels: 100 };

/// Functions that look at expressions.
const LOOKING: [&[u8]; 4] = [b"unparse", b"unresolved", b"evalineachcontext", b"countmatches"];

impl FoldedAd {
    /// Folds an ad; none if an expression looks at expressions or whole ads, or is too large.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use classmate::{ClassAd, EvalOptions};
    /// use classmate::internal::eval::fold::{FoldedAd, symmetric_folded};
    /// let folded = |text: &str| FoldedAd::new(&Arc::new(ClassAd::parse(text.as_bytes()).unwrap())).unwrap();
    /// let job = folded("[ RequestCpus = 2; Requirements = TARGET.Cpus >= RequestCpus ]");
    /// let slot = folded("[ Cpus = 4; Owned = false; Requirements = !Owned && TARGET.RequestCpus <= MY.Cpus ]");
    /// assert_eq!(symmetric_folded(&job, &slot, &EvalOptions::default()), Some(true));
    /// ```
    pub fn new(ad: &Arc<ClassAd>) -> Option<Self> {
        let mut folder =
            Folder { ad, attributes: HashMap::new(), replaced: Vec::new(), cost: Cost::default(), nesting: 0 };
        folder.attribute(*REQUIREMENTS)?;
        let Folder { replaced, cost, .. } = folder;
        if cost.steps > MAX_COST.steps || cost.levels > MAX_COST.levels {
            return None;
        }
        if replaced.is_empty() {
            return Some(FoldedAd { ad: Arc::clone(ad), cost });
        }
        let mut folded = ClassAd::with_capacity(replaced.len());
        for (name, attribute) in replaced {
            if let Attribute::Tree(tree) = &attribute {
                tree.compile_for(&|key| ad.lookup_key(key).is_some());
            }
            folded.set(name, attribute);
        }
        folded.chain(Some(Arc::clone(ad)));
        Some(FoldedAd { ad: Arc::new(folded), cost })
    }
}

/// Decides whether two different ads accept each other, as [`symmetric_by_expression`] does; none if the folded ads
/// cannot tell.
///
/// [`symmetric_by_expression`]: crate::eval::matching::symmetric_by_expression
pub fn symmetric_folded(left: &FoldedAd, right: &FoldedAd, settings: &EvalOptions) -> Option<bool> {
    let mut cost = left.cost;
    cost.add(right.cost);
    let evaluator = Evaluator::new(Scope { my: &right.ad, target: Some(&left.ad), settings });
    evaluator.of_folded(cost.steps, cost.levels)?.both_nonzero().ok()
}

/// Tests whether the Requirements of an ad, as an expression, have a value other than zero for another ad, as one side of
/// [`symmetric_folded`]; none if the folded ads cannot tell.
pub fn accepts_folded(my: &FoldedAd, target: &FoldedAd, settings: &EvalOptions) -> Option<bool> {
    let mut cost = my.cost;
    cost.add(target.cost);
    let evaluator = Evaluator::new(Scope { my: &my.ad, target: Some(&target.ad), settings });
    evaluator.of_folded(cost.steps, cost.levels)?.accepts_nonzero().ok()
}

impl Evaluator<'_> {
    /// The evaluation of a match of folded ads, within limits narrower than those of the ads themselves.
    fn of_folded(mut self, steps: u64, levels: u32) -> Option<Self> {
        let settings = self.settings;
        if settings.mode != Mode::HTCondor || !settings.semantics.is_present() {
            return None;
        }
        self.is_folded = true;
        // What is gone may have been all, or beside each step that is left.
        self.work = settings.limits.work.checked_sub(steps)? / (1 + steps);
        self.steps_left = self.work;
        self.deepest = self.deepest.checked_sub(levels)?;
        Some(self)
    }
}

/// A folded part.
struct FoldedPart {
    /// The bounds of what is no longer evaluated. For a constant, all that it took.
    cost: Cost,
    is_constant: bool,
}

impl FoldedPart {
    fn kept(cost: Cost) -> Option<Self> {
        Some(FoldedPart { cost, is_constant: false })
    }

    fn constant(steps: u64, levels: u32) -> Option<Self> {
        Some(FoldedPart { cost: Cost { steps, levels }, is_constant: true })
    }
}

struct Folder<'a> {
    ad: &'a ClassAd,
    /// The attributes visited so far: the constant that one is; none if it is not a constant, or while it is visited.
    attributes: HashMap<Key, Option<(Literal, Cost)>>,
    replaced: Vec<(Name, Attribute)>,
    cost: Cost,
    /// Parts around the one that is being folded, in all attributes on the way to it.
    nesting: u32,
}

impl Folder<'_> {
    /// The constant that an attribute of the ad is, if it is one, and what it takes to evaluate it. Nothing at all if
    /// the ad is not to be folded.
    #[expect(clippy::option_option, reason = "two different questions")]
    fn attribute(&mut self, name: Name) -> Option<Option<(Literal, Cost)>> {
        let tree = match self.ad.lookup(name) {
            None => return Some(None),
            Some(Attribute::Literal(literal)) => {
                return Some(Some((literal.clone(), Cost { steps: steps_of(literal), levels: 1 })));
            }
            Some(Attribute::Tree(tree)) => tree,
        };
        if let Some(known) = self.attributes.get(&name.key()) {
            return Some(known.clone());
        }
        if tree.nodes.len() > MAX_NODES {
            return None;
        }
        self.attributes.insert(name.key(), None);
        let mut folded = Tree { semantics: tree.semantics, ..Tree::default() };
        let part = self.part(tree, tree.root(), &mut folded)?;
        self.cost.add(part.cost);
        match folded.nodes.last() {
            Some(Node::Literal(literal)) if part.is_constant => {
                let mut cost = part.cost;
                cost.add(Cost { steps: 1, levels: 1 });
                let constant = Some((literal.clone(), cost));
                self.attributes.insert(name.key(), constant.clone());
                self.replaced.push((name, Attribute::Literal(literal.clone())));
                Some(constant)
            }
            _ => {
                // Also one that stays as it is: it is compiled for this ad.
                self.replaced.push((name, Attribute::Tree(Arc::new(folded))));
                Some(None)
            }
        }
    }

    /// Folds a part of an expression after what is folded already.
    fn part(&mut self, tree: &Tree, id: NodeId, out: &mut Tree) -> Option<FoldedPart> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        self.nesting += 1;
        let part = with_stack(|| self.node(tree, id, out));
        self.nesting -= 1;
        part
    }

    fn node(&mut self, tree: &Tree, id: NodeId, out: &mut Tree) -> Option<FoldedPart> {
        let start = out.nodes.len();
        match tree.node(id) {
            Node::Literal(literal) => {
                out.nodes.push(Node::Literal(literal.clone()));
                FoldedPart::constant(steps_of(literal), 0)
            }
            Node::Attr(name) if name.key() == known::CURRENT_TIME => copied(tree, id, out),
            Node::Attr(name) if known::is_known(name.key()) && name.key() != known::REQUIREMENTS => None,
            Node::Attr(name) => self.reference(tree, id, *name, out),
            Node::Select(name) => match tree.node(base_of(id)) {
                Node::Attr(side) if self.ad.contains(*side) => None,
                Node::Attr(side) if side.key() == known::TARGET => copied(tree, id, out),
                Node::Attr(side) if side.key() == known::MY && !known::is_known(name.key()) => {
                    if self.ad.contains(*name) {
                        return self.reference(tree, id, *name, out);
                    }
                    out.nodes.push(Node::Literal(Literal::Undefined));
                    FoldedPart::constant(2, 0)
                }
                _ => copied(tree, id, out),
            },
            Node::Paren(inner) => {
                let part = self.part(tree, *inner, out)?;
                if part.is_constant {
                    return FoldedPart::constant(part.cost.steps + 1, part.cost.levels + 1);
                }
                out.nodes.push(Node::Paren(out.root()));
                Some(part)
            }
            Node::Unary(op, operand) => {
                let part = self.part(tree, *operand, out)?;
                if part.is_constant
                    && let Some(value) = constant(out).map(|value| match op {
                        UnaryOp::Not => Truth::of(&value).not().value(),
                        op => arith::unary(*op, value),
                    })
                    && let Some(literal) = settled(&value)
                {
                    return put(out, start, literal, &[part]);
                }
                out.nodes.push(Node::Unary(*op, out.root()));
                FoldedPart::kept(part.cost)
            }
            Node::Binary(op, left, right) => self.binary(tree, *op, [*left, *right], out),
            Node::Conditional { condition, yes, no } => {
                let mut cost = Cost::default();
                let [condition, yes, no] = self.parts(tree, [*condition, *yes, *no], out, &mut cost)?;
                out.nodes.push(Node::Conditional { condition, yes, no });
                FoldedPart::kept(cost)
            }
            Node::Call(call) => self.call(tree, tree.calls[*call as usize], out),
            // Names in lists and ads may mean something else there.
            Node::Absolute(_) | Node::Subscript { .. } | Node::List(_) | Node::Ad(_) => copied(tree, id, out),
        }
    }

    /// Folds parts one after another; returns their new places.
    fn parts<const N: usize>(
        &mut self,
        tree: &Tree,
        parts: [NodeId; N],
        out: &mut Tree,
        cost: &mut Cost,
    ) -> Option<[NodeId; N]> {
        let mut places = [0; N];
        for (place, id) in places.iter_mut().zip(parts) {
            cost.add_beside(self.part(tree, id, out)?.cost);
            *place = out.root();
        }
        Some(places)
    }

    /// `name`, or `MY.name` for an attribute that the ad has.
    fn reference(&mut self, tree: &Tree, id: NodeId, name: Name, out: &mut Tree) -> Option<FoldedPart> {
        if let Some((literal, cost)) = self.attribute(name)? {
            out.nodes.push(Node::Literal(literal));
            return FoldedPart::constant(cost.steps + 2, cost.levels);
        }
        copied(tree, id, out)
    }

    fn binary(&mut self, tree: &Tree, op: BinaryOp, operands: [NodeId; 2], out: &mut Tree) -> Option<FoldedPart> {
        let start = out.nodes.len();
        let left = self.part(tree, operands[0], out)?;
        let (first, first_id) = (constant(out).filter(|_| left.is_constant), out.root());
        let second_start = out.nodes.len();
        let right = self.part(tree, operands[1], out)?;
        let (second, second_id) = (constant(out).filter(|_| right.is_constant), out.root());
        let decides = |value: &Value| match op {
            BinaryOp::And => Truth::of(value).decides_and(),
            BinaryOp::Or => Truth::of(value).decides_or(),
            _ => false,
        };
        // Beside a condition it changes nothing.
        let is_neutral = |value: &Value| {
            matches!((op, value), (BinaryOp::And, Value::Bool(true)) | (BinaryOp::Or, Value::Bool(false)))
        };
        let mut cost = left.cost;
        cost.add_beside(right.cost);
        match (&first, &second) {
            (Some(first), Some(second)) if !is_noted(op, first, second) => {
                if let Some(literal) = settled(&operate(op, first, second)) {
                    return put(out, start, literal, &[left, right]);
                }
            }
            (Some(first), None) if decides(first) => {
                if let Some(literal) = Truth::of(first).value().to_literal() {
                    return put(out, start, literal, &[left, right]);
                }
            }
            (Some(first), None) if is_neutral(first) && is_condition(out, second_id) => {
                let mut alone = Tree::default();
                let root = copy_into(&mut alone, out, second_id);
                out.nodes.truncate(start);
                copy_into(out, &alone, root);
                return shortened(cost);
            }
            (None, Some(second)) if is_neutral(second) && is_condition(out, first_id) => {
                out.nodes.truncate(second_start);
                return shortened(cost);
            }
            _ => {}
        }
        out.nodes.push(Node::Binary(op, first_id, second_id));
        FoldedPart::kept(cost)
    }

    fn call(&mut self, tree: &Tree, site: CallSite, out: &mut Tree) -> Option<FoldedPart> {
        if LOOKING.contains(&site.name.folded()) {
            return None;
        }
        let start = out.nodes.len();
        let (mut parts, mut places) = (Vec::new(), Vec::new());
        for argument in tree.run(site.arguments) {
            parts.push(self.part(tree, *argument, out)?);
            places.push(out.root());
        }
        if let (Some(test), [part]) = (type_test(site.name), &parts[..])
            && part.is_constant
            && let Some(Node::Literal(literal)) = out.nodes.last()
        {
            let literal = Literal::Bool(test(literal));
            return put(out, start, literal, &parts);
        }
        let arguments = Run { first: out.children.len() as u32, len: places.len() as u32 };
        out.children.extend(places);
        out.calls.push(CallSite { name: site.name, arguments });
        out.nodes.push(Node::Call((out.calls.len() - 1) as u32));
        let mut cost = Cost::default();
        for part in &parts {
            cost.add_beside(part.cost);
        }
        FoldedPart::kept(cost)
    }
}

/// Puts a constant in the place of what it was computed from.
fn put(out: &mut Tree, start: usize, literal: Literal, parts: &[FoldedPart]) -> Option<FoldedPart> {
    out.nodes.truncate(start);
    let mut cost = Cost { steps: steps_of(&literal), levels: 0 };
    out.nodes.push(Node::Literal(literal));
    for part in parts {
        cost.add_beside(part.cost);
    }
    FoldedPart::constant(cost.steps, cost.levels + 1)
}

/// One operand, of which nothing more is left than the other one.
fn shortened(mut cost: Cost) -> Option<FoldedPart> {
    cost.add(Cost { steps: 1, levels: 1 });
    FoldedPart::kept(cost)
}

/// A part as it is.
fn copied(tree: &Tree, id: NodeId, out: &mut Tree) -> Option<FoldedPart> {
    copy_into(out, tree, id);
    FoldedPart::kept(Cost::default())
}

/// A bound of the steps that a constant takes: an operator or function that looks at its text counts its length.
fn steps_of(literal: &Literal) -> u64 {
    match literal {
        Literal::Str(text) => 2 + text.len() as u64,
        _ => 1,
    }
}

/// The value of the constant that was folded last.
fn constant(out: &Tree) -> Option<Value> {
    match out.nodes.last()? {
        Node::Literal(literal) => Some(Value::from(literal)),
        _ => None,
    }
}

/// The constant that has a value; none for durations, which are numbers where they are written.
fn settled(value: &Value) -> Option<Literal> {
    match value {
        Value::RelTime(_) => None,
        other => other.to_literal(),
    }
}

/// Tests whether a comparison is one that the reference's library notes: see [`crate::value::compare::take_mixed`].
fn is_noted(op: BinaryOp, first: &Value, second: &Value) -> bool {
    let is_text = |value: &Value| matches!(value, Value::Str(_));
    !matches!(op, BinaryOp::Is | BinaryOp::Isnt | BinaryOp::And | BinaryOp::Or) && is_text(first) != is_text(second)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::eval::EvalError;
    use crate::eval::matching::symmetric_by_expression;
    use crate::eval::scope::Limits;
    use crate::random::SplitMix64;

    fn ad(text: &str) -> Arc<ClassAd> {
        Arc::new(ClassAd::parse(text.as_bytes()).unwrap())
    }

    fn folded(text: &str, attribute: &str) -> String {
        FoldedAd::new(&ad(text)).unwrap().ad.get(attribute).unwrap().to_string()
    }

    #[test]
    fn constants_of_the_ad_take_the_place_of_what_they_decide() {
        let slot = "[Cpus = 4; Memory = 2 * 1024; Owned = false; START = (!Owned) && (isUndefined(MY.Drained) || MY.Drained) \
                    && (Wanted is undefined || Wanted == Name) && true; Name = \"slot1\"; \
                    Requirements = START && TARGET.RequestMemory <= MY.Memory && CurrentTime > 5 && Cpus > 0]";
        assert_eq!(folded(slot, "START"), "(Wanted is undefined || Wanted == \"slot1\")");
        assert_eq!(folded(slot, "Memory"), "2048");
        assert_eq!(folded(slot, "Requirements"), "START && TARGET.RequestMemory <= 2048 && CurrentTime > 5");
        // A string is not a condition: beside it, `true` has a meaning.
        assert_eq!(folded("[Requirements = true && Name; Name = TARGET.Name]", "Requirements"), "true && Name");
        // What the reference's library notes each time is not decided once.
        assert_eq!(folded("[a = \"b\"; Requirements = a > 1]", "Requirements"), "\"b\" > 1");
    }

    /// Answers of 25.14.1: the difference of two times is a duration, which equals no number.
    #[test]
    fn durations_stay_durations() {
        let times = "a = absTime(\"2020-01-01T00:00:10+00:00\"); b = absTime(\"2020-01-01T00:00:05+00:00\")";
        let other = FoldedAd::new(&ad("[Requirements = true]")).unwrap();
        for (requirements, accepts) in [("(a - b) == 5", false), ("b + (a - b) == a", true)] {
            let job = FoldedAd::new(&ad(&format!("[{times}; Requirements = {requirements}]"))).unwrap();
            assert_eq!(symmetric_folded(&job, &other, &EvalOptions::default()), Some(accepts), "{requirements}");
        }
    }

    #[test]
    fn what_looks_at_expressions_is_not_folded() {
        for requirements in ["unparse(Cpus) == \"4\"", "MY =?= TARGET", "countMatches(Cpus, {}) > 0"] {
            assert!(
                FoldedAd::new(&ad(&format!("[Cpus = 4; Requirements = {requirements}]"))).is_none(),
                "{requirements}"
            );
        }
        // The other side looks, in a list or a text that is not visited.
        let slot = FoldedAd::new(&ad("[Cpus = 2 + 2; Requirements = Cpus > 0]")).unwrap();
        for requirements in [
            "size({MY}[0]) > 0",
            "{unparse(Cpus)}[0] == \"\"",
            "eval(\"unparse(Cpus)\") == \"\"",
            "eval(\"TARGET\") is error",
        ] {
            let job = FoldedAd::new(&ad(&format!("[Requirements = {requirements}]"))).unwrap();
            assert_eq!(symmetric_folded(&job, &slot, &EvalOptions::default()), None, "{requirements}");
        }
    }

    /// A random expression of the attributes that [`random_ad`] gives.
    pub(crate) fn random_expr(random: &mut SplitMix64, nesting: u32) -> String {
        let mut draw = |choices: &[&str]| choices[(random.next_u64() % choices.len() as u64) as usize].to_owned();
        let leaf = [
            "0",
            "1",
            "2.5",
            "true",
            "false",
            "undefined",
            "error",
            "\"x\"",
            "\"X\"",
            "a",
            "b",
            "MY.c",
            "TARGET.c",
            "d",
            "absTime(\"2020-01-01T00:00:10+00:00\")",
            "absTime(\"2020-01-01T00:00:05+00:00\")",
            "relTime(\"00:00:05\")",
        ];
        let names = [
            "e",
            "f",
            "MY.e",
            "TARGET.f",
            "MY.missing",
            "missing",
            "CurrentTime",
            "Requirements",
            "{a, e}[0]",
            "[q = e].q",
        ];
        match nesting {
            0 => draw(&[&leaf[..], &names[..]].concat()),
            _ => {
                let form = draw(&[
                    "&&",
                    "&&",
                    "||",
                    "||",
                    "==",
                    "is",
                    "isnt",
                    "<",
                    "+",
                    "- ",
                    "?:",
                    "!",
                    "-",
                    "()",
                    "?",
                    "isUndefined",
                    "isError",
                    "strcat",
                ]);
                let mut part = || random_expr(random, nesting - 1);
                match form.as_str() {
                    "!" | "-" => format!("({form}({}))", part()),
                    "()" => format!("({})", part()),
                    "?" => format!("({} ? {} : {})", part(), part(), part()),
                    "isUndefined" | "isError" | "strcat" => format!("{form}({})", part()),
                    op => format!("({} {op} {})", part(), part()),
                }
            }
        }
    }

    pub(crate) fn random_ad(random: &mut SplitMix64) -> Arc<ClassAd> {
        let constant = |random: &mut SplitMix64| random_expr(random, 0);
        let text = format!(
            "[a = {}; b = {}; c = {}; d = {}; e = {}; f = {}; Requirements = {}]",
            constant(random),
            constant(random),
            constant(random),
            constant(random),
            random_expr(random, 2),
            random_expr(random, 1),
            random_expr(random, 4)
        );
        ad(&text)
    }

    #[test]
    fn folded_ads_match_as_the_ads_themselves() {
        let mut random = SplitMix64::new(7);
        let (mut decided, mut shorter, mut matches, mut one_sided) = (0, 0, 0, 0);
        let count = 20_000;
        for round in 0..count {
            let (left, right) = (random_ad(&mut random), random_ad(&mut random));
            let (Some(job), Some(slot)) = (FoldedAd::new(&left), FoldedAd::new(&right)) else { continue };
            shorter += u32::from(!Arc::ptr_eq(&job.ad, &left));
            let settings = |limits| EvalOptions { limits, now: 1000, ..EvalOptions::default() };
            let narrow = Limits { depth: (round % 40) as u32, work: 3 * (round / 40 % 60), ..Limits::default() };
            for limits in [Limits::default(), narrow] {
                let settings = settings(limits);
                let truth = symmetric_by_expression(&left, &right, &settings);
                let found = symmetric_folded(&job, &slot, &settings);
                if limits == Limits::default() {
                    decided += u32::from(found.is_some());
                    matches += u32::from(found == Some(true));
                }
                if let Some(found) = accepts_folded(&slot, &job, &settings) {
                    one_sided += u32::from(found);
                    let expr = right.get(*REQUIREMENTS).unwrap();
                    let value = Scope::new(&right, &settings).with_target(&left).eval(&expr);
                    assert_eq!(Ok(found), value.map(|value| value.is_nonzero()), "{left} {right} within {limits:?}");
                }
                if let Some(found) = found {
                    assert_eq!(Ok(found), truth, "{left} {right} within {limits:?}");
                }
            }
        }
        // Circular references and functions that failed are left to the ads themselves.
        assert!(
            decided > 15_000 && shorter > 15_000 && matches > 500 && one_sided > matches,
            "{decided} {shorter} {matches} {one_sided}"
        );
    }

    #[test]
    fn limits_are_those_of_the_ads_themselves() {
        // 401 levels, all of which are gone.
        let names: Vec<String> = (0..401).map(|at| format!("a{at} = a{}", at + 1)).collect();
        let deep = ad(&format!("[{}; a401 = true; Requirements = a0]", names.join("; ")));
        let slot = ad("[Requirements = true]");
        let settings = EvalOptions::default();
        assert_eq!(symmetric_by_expression(&deep, &slot, &settings), Err(EvalError::Depth(400)));
        assert!(FoldedAd::new(&deep).is_none());
        // More attributes inside one another than the stack has room for.
        let names: Vec<String> = (0..100_000).map(|at| format!("a{at} = a{}", at + 1)).collect();
        assert!(FoldedAd::new(&ad(&format!("[{}; Requirements = a0]", names.join("; ")))).is_none());
        // 2^30 steps, all of which are gone.
        let names: Vec<String> = (0..30).map(|at| format!("a{at} = a{0} || a{0}", at + 1)).collect();
        let large = ad(&format!("[{}; a30 = false; Requirements = !a0]", names.join("; ")));
        assert_eq!(symmetric_by_expression(&large, &slot, &settings), Err(EvalError::Work(10_000_000)));
        assert!(FoldedAd::new(&large).is_none());
    }
}
