//! Limits inside of a condition that counts ads of a list, such as `countMatches(RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs`.
//!
//! In: the count of a condition of the job. Out: another number in a limit of what is counted, or another string that is compared, for
//! each slot that lacks ads.

use crate::explain::clauses::own;
use crate::explain::repair::edit::{Bound, Edit, comparison, number};
use crate::explain::repair::inversion::{Constraint, Inversion};
use crate::explain::repair::nearest::misspelled;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope, Value};

/// Limits that are tried.
const MAX_LIMITS: usize = 8;

/// The ads of a list that a condition of the job counts.
pub(crate) struct CountedAds {
    /// The number of ads that it requires.
    pub(crate) wanted: usize,
    /// The attribute of the job that is the condition on each ad, unless it is written in the call.
    name: Option<Name>,
    /// The condition on each ad.
    pub(crate) counted: Expr,
    /// The list.
    pub(crate) list: Expr,
}

impl CountedAds {
    /// The ads that a condition of the job counts, if it requires some.
    pub(crate) fn of(condition: &Expr, job: &ClassAd, settings: &EvalOptions) -> Option<Self> {
        let tree = condition.tree();
        let (op, left, right) = comparison(tree, condition.root())?;
        let (count, least) = match op {
            BinaryOp::GreaterEqual | BinaryOp::Greater | BinaryOp::Equal => (left, right),
            BinaryOp::LessEqual | BinaryOp::Less => (right, left),
            _ => return None,
        };
        let View::Call { name, arguments: &[subject, list] } = tree.view(count) else { return None };
        if name.folded() != b"countmatches" {
            return None;
        }
        let Ok(Value::Int(least)) = Scope::new(job, settings).eval(&condition.part(least)) else { return None };
        let is_strict = matches!(op, BinaryOp::Greater | BinaryOp::Less);
        let wanted = usize::try_from(least.saturating_add(i64::from(is_strict))).ok().filter(|wanted| *wanted > 0)?;
        let subject = tree.bare(subject);
        let named = own(tree, subject).and_then(|name| Some((Some(name), job.get(name)?)));
        let (name, counted) = named.unwrap_or_else(|| (None, condition.part(subject)));
        Some(CountedAds { wanted, name, counted, list: condition.part(list) })
    }

    /// The conditions that all have to be true of an ad.
    pub(crate) fn parts(&self) -> Vec<Expr> {
        let tree = self.counted.tree();
        let parts = tree.flattened(BinaryOp::And, self.counted.root()).into_iter();
        parts.map(|id| self.counted.part(tree.bare(id))).collect()
    }

    /// The list of what an expression is in each of the ads.
    pub(crate) fn in_each(&self, expr: &Expr) -> Option<Expr> {
        // A reference alone is looked up outside of the ads, and the list from where it is found.
        format!("evalInEachContext(({expr}) ?: undefined,{})", self.list).parse().ok()
    }
}

/// A limit in what is counted: a comparison with a number, or with a string that has to be equal.
pub(crate) struct CountedLimit {
    op: BinaryOp,
    /// The number is on the left side.
    is_left: bool,
    number: Literal,
    place: NumberPlace,
    /// Lists the values that the number or string is compared with in the ads of the list.
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
        let Some(ads) = CountedAds::of(condition, job, settings) else { return Vec::new() };
        let CountedAds { wanted, name, counted, .. } = &ads;
        let (wanted, holder, tree) = (*wanted, name.unwrap_or(holder), counted.tree());
        let numbered = |part: NodeId, id: NodeId| {
            let id = tree.bare(id);
            let found = match (tree.node(id), own(tree, id)) {
                (Node::Literal(literal), _) => (literal.clone(), NumberPlace::Constant(holder, counted.part(part), id)),
                (_, Some(name)) => (job.get(name)?.as_literal()?.clone(), NumberPlace::Attribute(name)),
                _ => return None,
            };
            Some(found).filter(|(literal, _)| number(literal).is_some() || matches!(literal, Literal::Str(_)))
        };
        let limit = |id: NodeId| {
            let (op, left, right) = comparison(tree, id)?;
            let (number, place, other, is_left) = match (numbered(id, left), numbered(id, right)) {
                (Some((number, place)), None) => (number, place, right, true),
                (None, Some((number, place))) => (number, place, left, false),
                _ => return None,
            };
            let is_equal = matches!(op, BinaryOp::Equal | BinaryOp::Is);
            let values = ads.in_each(&counted.part(other)).filter(|_| is_equal || self::number(&number).is_some())?;
            Some(CountedLimit { op, is_left, number, place, values, wanted })
        };
        let parts = tree.flattened(BinaryOp::And, counted.root()).into_iter();
        parts.filter_map(|id| limit(tree.bare(id))).take(MAX_LIMITS).collect()
    }

    /// The smallest change of the number after which the limit holds for enough of the values of a list; none if it does
    /// now, or cannot.
    pub(crate) fn edit(&self, list: &Value) -> Option<Edit> {
        let Value::List(list) = list else { return None };
        if let Literal::Str(present) = &self.number {
            return self.of_string(present, list.values()?);
        }
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
        (distance > 0.0).then(|| self.written(bound, literal))
    }

    /// The string of enough of some values that is most like the present one; none if that is one of enough.
    fn of_string(&self, present: &[u8], values: &[Value]) -> Option<Edit> {
        let texts: Vec<&[u8]> = values.iter().filter_map(Value::as_bytes).collect();
        let is_enough = |text: &&[u8]| {
            let is_same =
                |other: &&&[u8]| self.op == BinaryOp::Equal && other.eq_ignore_ascii_case(text) || *other == text;
            texts.iter().filter(is_same).count() >= self.wanted
        };
        let enough: Vec<&[u8]> = texts.iter().copied().filter(is_enough).collect();
        if enough.iter().any(|text| text.eq_ignore_ascii_case(present)) {
            return None;
        }
        let likeness = |text: &&&[u8]| misspelled((present.to_vec(), **text)).unwrap_or(usize::MAX);
        let nearest = enough.iter().min_by_key(likeness)?;
        Some(self.written(Bound::Exactly, Literal::Str(nearest.to_vec().into())))
    }

    /// Another number or string in its place.
    fn written(&self, bound: Bound, literal: Literal) -> Edit {
        match &self.place {
            NumberPlace::Attribute(name) => Edit::value_of(*name, bound, literal),
            NumberPlace::Constant(holder, part, id) => Edit::constant(*holder, part.clone(), *id, (bound, literal)),
        }
    }
}
