//! The work of an evaluation in versions before 25.13, which follow a circular reference to the limit of its depth.
//!
//! In: an expression and its ads. Out: true if its evaluation has no end in practice. Only successes and failures are
//! followed; values are those of an evaluation that fails at once.
//!
//! These versions evaluate the chosen branch of a conditional again if it fails: for a true condition the same one, for a false one the
//! branch for true first. A failed argument of `strcat` or `join` costs a level for good since 10.3.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{MAX_HOMES, PartInScope, evaluated_text, is_call};
use classmate::internal::semantics::VersionRule;
use classmate::internal::syntax::expr::{Node, NodeId, base_of};
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, EvalError, EvalOptions, Expr, Name, Scope, Value};

/// Evaluations of a part for each level of references, after which there are more than anyone waits for: more than the square of the
/// levels.
const MAX_STEPS_OF_LEVEL: u32 = 1500;
/// Parts inside one another.
const MAX_LEVELS: u32 = 2500;
/// The limit of references, where a smaller one tells the same.
const FEW_REFERENCES: u32 = 100;

/// Functions that evaluate the elements of a list one after the other, behind the arguments before it.
const BY_ELEMENT: [&str; 8] = ["min", "max", "sum", "avg", "member", "identicalMember", "anyCompare", "allCompare"];

/// An ad in which expressions are evaluated.
struct Home<'a> {
    /// Its attributes, and of one inside an expression those that it sees around it.
    seen: Cow<'a, ClassAd>,
    /// Of an ad inside an expression, its attributes alone, and the ad around it.
    inside: Option<(ClassAd, usize)>,
    /// The number of the other side.
    other: Option<usize>,
}

/// The evaluation of one expression.
pub(super) struct OldEvaluation<'a> {
    settings: &'a EvalOptions,
    /// The ad of the expression, the other one, then ads inside expressions.
    homes: Vec<Home<'a>>,
    /// Expressions, with the number of their ad.
    exprs: Vec<(usize, Expr)>,
    attributes: HashMap<(usize, Name), usize>,
    /// The expressions that a part selects, or evaluates as a text.
    inside: HashMap<(usize, NodeId), Vec<usize>>,
    values: HashMap<(usize, NodeId), Option<Value>>,
    /// Expressions without a failure inside.
    plain: HashSet<usize>,
    remaining: u32,
    levels: u32,
    steps: u32,
    max_steps: u32,
    failures: u32,
}

impl<'a> OldEvaluation<'a> {
    /// Tests whether the evaluation of a whole expression does not end.
    pub(super) fn is_endless(part: &PartInScope<'a>) -> bool {
        let outcome = part.value(part.expr.root());
        let fails = matches!(outcome, Err(EvalError::Circular | EvalError::Depth(_)));
        // A failure of an element that is taken from a list is an error.
        let has_subscript = |expr: &Expr| expr.nodes().iter().any(|node| matches!(node, Node::Subscript { .. }));
        if !fails && !has_subscript(part.expr) && !part.reached().iter().any(|(_, expr)| has_subscript(expr)) {
            return false;
        }
        let limit = if part.semantics.is_old(VersionRule::DepthReference) { 999 } else { 399 };
        let is_circular = matches!(outcome, Err(EvalError::Circular));
        let [own, other] = part.ads;
        let Some(own) = own else { return false };
        let mut homes = vec![Home { seen: Cow::Borrowed(own), inside: None, other: other.map(|_| 1) }];
        homes.extend(other.map(|other| Home { seen: Cow::Borrowed(other), inside: None, other: Some(0) }));
        let remaining = if is_circular { FEW_REFERENCES } else { limit };
        let mut evaluation = OldEvaluation {
            settings: part.settings,
            homes,
            exprs: vec![(0, part.expr.clone())],
            attributes: HashMap::new(),
            inside: HashMap::new(),
            values: HashMap::new(),
            plain: HashSet::new(),
            remaining,
            levels: 0,
            steps: 0,
            max_steps: remaining * MAX_STEPS_OF_LEVEL,
            failures: 0,
        };
        evaluation.succeeds(0, part.expr.root());
        evaluation.steps > evaluation.max_steps
    }

    fn is_old(&self, rule: VersionRule) -> bool {
        self.settings.semantics.is_old(rule)
    }

    fn scope<'s>(&'s self, home: usize) -> Scope<'s>
    where
        'a: 's,
    {
        let Home { seen, other, .. } = &self.homes[home];
        let scope = Scope::new(seen, self.settings);
        other.map_or(scope, |other| scope.with_target(&self.homes[other].seen))
    }

    /// The value of a part; `None` if its evaluation fails.
    fn value(&mut self, at: usize, id: NodeId) -> Option<Value> {
        if let Some(known) = self.values.get(&(at, id)) {
            return known.clone();
        }
        let (home, expr) = &self.exprs[at];
        let value = self.scope(*home).eval(&expr.part(id)).ok();
        self.values.insert((at, id), value.clone());
        value
    }

    fn truth(&mut self, at: usize, id: NodeId) -> Option<bool> {
        self.value(at, id)?.as_condition()
    }

    /// Evaluates a part.
    fn succeeds(&mut self, at: usize, id: NodeId) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.steps > self.max_steps || self.levels >= MAX_LEVELS {
            self.failures += 1;
            return false;
        }
        self.levels += 1;
        let succeeds = self.node(at, id);
        self.levels -= 1;
        succeeds
    }

    /// Evaluates a part one level deeper.
    fn deeper(&mut self, evaluate: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.remaining == 0 {
            self.failures += 1;
            return false;
        }
        self.remaining -= 1;
        let succeeds = evaluate(self);
        self.remaining += 1;
        succeeds
    }

    /// Evaluates another expression.
    fn expression(&mut self, at: usize) -> bool {
        let (failures, root) = (self.failures, self.exprs[at].1.root());
        if self.plain.contains(&at) {
            return true;
        }
        let succeeds = self.deeper(|all| all.succeeds(at, root));
        if succeeds && failures == self.failures {
            self.plain.insert(at);
        }
        succeeds
    }

    fn node(&mut self, at: usize, id: NodeId) -> bool {
        let expr = self.exprs[at].1.clone();
        let tree = expr.tree();
        if let Some(reference) = tree.reference(id) {
            return self.attribute(at, reference).is_none_or(|found| self.expression(found));
        }
        match *tree.node(id) {
            Node::Paren(inner) | Node::Unary(_, inner) => self.succeeds(at, inner),
            Node::Select(name) => {
                self.succeeds(at, base_of(id)) && {
                    let inside = self.selected(at, id, name);
                    inside.into_iter().all(|found| self.expression(found))
                }
            }
            Node::Subscript { base, index } => {
                if !self.succeeds(at, base) || !self.succeeds(at, index) {
                    return false;
                }
                let base = tree.bare(base);
                if let (Node::List(_), Some(Value::Int(index))) = (tree.node(base), self.value(at, index))
                    && let Some(element) = usize::try_from(index).ok().and_then(|at| tree.parts(base).get(at).copied())
                {
                    // A failure is an error.
                    self.succeeds(at, element);
                }
                true
            }
            Node::Binary(op, left, right) => {
                if !self.succeeds(at, left) {
                    return false;
                }
                let is_decided = match op {
                    BinaryOp::And => self.truth(at, left) == Some(false),
                    BinaryOp::Or => self.truth(at, left) == Some(true),
                    BinaryOp::Default if self.is_old(VersionRule::ElvisPrecedence) => {
                        self.truth(at, left) == Some(false) && self.succeeds(at, left)
                    }
                    BinaryOp::Default => !matches!(self.value(at, left), Some(Value::Undefined)),
                    _ => false,
                };
                is_decided || self.succeeds(at, right)
            }
            Node::Conditional { condition, yes, no } => {
                self.succeeds(at, condition) && {
                    let chosen = self.truth(at, condition).map(|is_true| if is_true { yes } else { no });
                    let is_done = chosen.is_some_and(|chosen| self.succeeds(at, chosen));
                    is_done || self.succeeds(at, yes) && self.succeeds(at, no)
                }
            }
            Node::Call(_) => self.call(at, id),
            _ => true,
        }
    }

    fn call(&mut self, at: usize, id: NodeId) -> bool {
        let expr = self.exprs[at].1.clone();
        let tree = expr.tree();
        let arguments = tree.parts(id);
        if let Some([condition, yes, no]) = tree.choice(id) {
            return self.succeeds(at, condition)
                && match self.truth(at, condition) {
                    Some(is_true) => self.succeeds(at, if is_true { yes } else { no }),
                    None => true,
                };
        }
        let is = |names: &[&str]| is_call(&expr, id, names);
        if is(&["eval"]) {
            return arguments.iter().all(|argument| self.succeeds(at, *argument))
                && self.text(at, id).is_none_or(|text| self.expression(text));
        }
        if is(&["strcat", "join"]) {
            return self.joined(at, &arguments, is(&["join"]));
        }
        let operands: Vec<NodeId> = match arguments.as_slice() {
            _ if is(&["unparse"]) => Vec::new(),
            // In other ads.
            [_, list] if is(&["countMatches", "evalInEachContext"]) => vec![*list],
            _ if is(&BY_ELEMENT) => {
                let elements = |id: &NodeId| match tree.node(tree.bare(*id)) {
                    Node::List(run) => tree.run(*run).to_vec(),
                    _ => vec![*id],
                };
                arguments.iter().flat_map(elements).collect()
            }
            all => all.to_vec(),
        };
        let ends_at_error = is(&["min", "max", "sum", "avg"]);
        for operand in operands {
            if !self.succeeds(at, operand) {
                return false;
            }
            if ends_at_error && matches!(self.value(at, operand), Some(Value::Error)) {
                break;
            }
        }
        true
    }

    /// Evaluates the arguments of `strcat` or `join`.
    fn joined(&mut self, at: usize, arguments: &[NodeId], is_join: bool) -> bool {
        let has_limit = !self.is_old(VersionRule::DepthReference);
        let last = arguments.last().filter(|_| is_join && has_limit && arguments.len() <= 2);
        if let Some(last) = last {
            self.deeper(|all| all.succeeds(at, *last));
        }
        for argument in arguments {
            let evaluate = |all: &mut Self| all.succeeds(at, *argument);
            let succeeds = if has_limit { self.deeper(evaluate) } else { evaluate(self) };
            if !succeeds {
                self.remaining -= u32::from(has_limit && self.remaining > 0);
                return false;
            }
            if !is_join && matches!(self.value(at, *argument), Some(Value::Undefined | Value::Error)) {
                return true;
            }
        }
        true
    }

    /// The expression of an attribute.
    fn attribute(&mut self, at: usize, reference: Reference) -> Option<usize> {
        let own = self.exprs[at].0;
        let mut places = [Some(own), self.homes[own].other];
        if reference.scope == RefScope::Target && places[1].is_some() {
            places.reverse();
        }
        let has = |home: &usize| self.homes[*home].seen.contains(reference.name);
        let mut home = places.into_iter().flatten().find(has)?;
        let is_around = |(ad, _): &&(ClassAd, usize)| !ad.contains(reference.name);
        while let Some((_, around)) = self.homes[home].inside.as_ref().filter(is_around) {
            home = *around;
        }
        if let Some(known) = self.attributes.get(&(home, reference.name)) {
            return Some(*known);
        }
        let expr = self.homes[home].seen.get(reference.name)?;
        self.attributes.insert((home, reference.name), self.exprs.len());
        self.exprs.push((home, expr));
        Some(self.exprs.len() - 1)
    }

    /// The expressions of an attribute in the ads in which a part selects it. They see the attributes around these ads.
    fn selected(&mut self, at: usize, id: NodeId, name: Name) -> Vec<usize> {
        if let Some(known) = self.inside.get(&(at, id)) {
            return known.clone();
        }
        let ads: Vec<ClassAd> = match self.value(at, base_of(id)) {
            Some(Value::Ad(ad)) => vec![ad.to_ad()],
            Some(Value::List(list)) => list.exprs().iter().filter_map(ClassAd::from_expr).collect(),
            _ => Vec::new(),
        };
        let home = self.exprs[at].0;
        let mut found = Vec::new();
        for ad in ads {
            let Some(expr) = ad.get(name).filter(|_| self.homes.len() < MAX_HOMES) else { continue };
            let (mut seen, other) = (self.homes[home].seen.clone().into_owned(), self.homes[home].other);
            for (name, expr) in ad.names().filter_map(|name| Some((name, ad.get(name)?))) {
                seen.insert_expr(name, &expr);
            }
            self.attributes.insert((self.homes.len(), name), self.exprs.len());
            self.exprs.push((self.homes.len(), expr));
            self.homes.push(Home { seen: Cow::Owned(seen), inside: Some((ad, home)), other });
            found.push(self.exprs.len() - 1);
        }
        self.inside.insert((at, id), found.clone());
        found
    }

    /// The expression in the text that a part evaluates.
    fn text(&mut self, at: usize, id: NodeId) -> Option<usize> {
        if let Some(known) = self.inside.get(&(at, id)) {
            return known.first().copied();
        }
        let (home, expr) = &self.exprs[at];
        let text = evaluated_text(expr, id, &self.scope(*home), self.settings.semantics);
        let home = *home;
        let found = text.map(|text| {
            self.exprs.push((home, text));
            self.exprs.len() - 1
        });
        self.inside.insert((at, id), found.into_iter().collect());
        found
    }
}
