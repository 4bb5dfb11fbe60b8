//! Limits inside of a condition that counts ads of a list, such as `countMatches(RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs`.
//!
//! In: the count of a condition of the job. Out: another number in a limit of what is counted, for each slot that lacks ads.

use crate::explain::clauses::own;
use crate::explain::repair::edit::{Bound, Edit, comparison, number};
use crate::explain::repair::inversion::{Constraint, Inversion};
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope, Value};

/// Limits that are tried.
const MAX_LIMITS: usize = 8;

/// A limit in what is counted: a comparison with a number.
pub(crate) struct CountedLimit {
    op: BinaryOp,
    /// The number is on the left side.
    is_left: bool,
    number: Literal,
    place: NumberPlace,
    /// Lists the values that the number is compared with in the ads of the list.
    pub(crate) values: Expr,
    /// The number of ads for which the limit has to hold.
    wanted: usize,
}

/// The place of a number.
enum NumberPlace {
    /// An attribute of the job is the number.
    Attribute(Name),
    /// A node of a comparison in an attribute.
    Constant(Name, Expr, NodeId),
}

impl CountedLimit {
    /// The limits of what a condition of the job counts; none if it counts nothing.
    pub(crate) fn all(condition: &Expr, holder: Name, job: &ClassAd, settings: &EvalOptions) -> Vec<Self> {
        let tree = condition.tree();
        let Some((op, left, right)) = comparison(tree, condition.root()) else { return Vec::new() };
        let (count, least) = match op {
            BinaryOp::GreaterEqual | BinaryOp::Greater | BinaryOp::Equal => (left, right),
            BinaryOp::LessEqual | BinaryOp::Less => (right, left),
            _ => return Vec::new(),
        };
        let View::Call { name, arguments: &[subject, list] } = tree.view(count) else { return Vec::new() };
        if name.folded() != b"countmatches" {
            return Vec::new();
        }
        let Ok(Value::Int(least)) = Scope::new(job, settings).eval(&condition.part(least)) else { return Vec::new() };
        let is_strict = matches!(op, BinaryOp::Greater | BinaryOp::Less);
        let Ok(wanted) = usize::try_from(least.saturating_add(i64::from(is_strict))) else { return Vec::new() };
        let subject = tree.bare(subject);
        let named = own(tree, subject).and_then(|name| Some((name, job.get(name)?)));
        let (holder, counted) = named.unwrap_or_else(|| (holder, condition.part(subject)));
        let tree = counted.tree();
        let numbered = |part: NodeId, id: NodeId| {
            let id = tree.bare(id);
            let found = match (tree.node(id), own(tree, id)) {
                (Node::Literal(literal), _) => (literal.clone(), NumberPlace::Constant(holder, counted.part(part), id)),
                (_, Some(name)) => (job.get(name)?.as_literal()?.clone(), NumberPlace::Attribute(name)),
                _ => return None,
            };
            Some(found).filter(|(literal, _)| number(literal).is_some())
        };
        let limit = |id: NodeId| {
            let (op, left, right) = comparison(tree, id)?;
            let (number, place, other, is_left) = match (numbered(id, left), numbered(id, right)) {
                (Some((number, place)), None) => (number, place, right, true),
                (None, Some((number, place))) => (number, place, left, false),
                _ => return None,
            };
            // A reference alone is looked up outside of the ads, and the list from where it is found.
            let (value, list) = (counted.part(other), condition.part(list));
            let values = format!("evalInEachContext(({value}) ?: undefined,{list})");
            Some(CountedLimit { op, is_left, number, place, values: values.parse().ok()?, wanted })
        };
        let parts = tree.flattened(BinaryOp::And, counted.root()).into_iter();
        parts.filter_map(|id| limit(tree.bare(id))).take(MAX_LIMITS).filter(|limit| limit.wanted > 0).collect()
    }

    /// The smallest change of the number after which the limit holds for enough of the values of a list; none if it does
    /// now, or cannot.
    pub(crate) fn edit(&self, list: &Value) -> Option<Edit> {
        let Value::List(list) = list else { return None };
        let (present, now) = (&self.number, number(&self.number)?);
        let found = |value: &Value| {
            let constraint = Constraint { op: self.op, is_left: self.is_left, other: value, beside: &[] };
            if Inversion::straight().holds(&constraint, present) {
                return Some((0.0, Bound::Any, present.clone()));
            }
            let (bound, literal) = Inversion::straight().solved(&constraint, Some(present))?;
            Some(((number(&literal)? - now).abs(), bound, literal))
        };
        let mut all: Vec<(f64, Bound, Literal)> = list.values()?.iter().filter_map(found).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (distance, bound, literal) = all.into_iter().nth(self.wanted - 1)?;
        (distance > 0.0).then(|| match &self.place {
            NumberPlace::Attribute(name) => Edit::value_of(*name, bound, literal),
            NumberPlace::Constant(holder, part, id) => Edit::constant(*holder, part.clone(), *id, (bound, literal)),
        })
    }
}
