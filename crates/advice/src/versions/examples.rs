//! Ads in which an expression is tried.
//!
//! In: expressions, and the ads of their evaluation. Out: variants of both ads, with values for the attributes that the expressions
//! look at: all combinations of one or two attributes; of more, each alone beside some values of all others, and a fixed choice of
//! combinations. Of a large expression, some of these.

use std::collections::BTreeSet;

use super::dependence;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Expr, List, Name, Value};

/// Values that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExampleValues {
    /// Plain ones, and those of the expressions.
    Plain,
    /// Also those that versions use in different ways.
    All,
}

/// MY and TARGET of an example.
#[derive(Debug, Clone)]
pub(super) struct VariantAds {
    pub(super) my: ClassAd,
    pub(super) target: Option<ClassAd>,
}

/// The attribute of one of the ads.
type AttributePlace = (bool, Name);

/// Values that all other attributes have beside each value of one.
const BACKGROUNDS: usize = 6;
/// Combinations of more than two attributes.
const COMBINATIONS: usize = 800;
/// Nodes that are evaluated in all examples together.
const MAX_WORK: usize = 1_000_000;

/// The attributes that expressions look at, in MY and TARGET.
fn places(exprs: [&Expr; 2], own: Option<Name>) -> Vec<AttributePlace> {
    let references = exprs.into_iter().flat_map(|expr| expr.tree().references(expr.root()).collect::<Vec<_>>());
    let places: BTreeSet<(bool, String)> = references
        .filter(|reference| reference.scope == RefScope::Target || Some(reference.name) != own)
        .map(|reference| (reference.scope == RefScope::Target, reference.name.to_string()))
        .collect();
    places.into_iter().map(|(of_target, name)| (of_target, Name::new(&name))).collect()
}

fn values(exprs: [&Expr; 2], of: ExampleValues) -> Vec<Value> {
    let mut values = vec![Value::from(1), Value::from(true), Value::Undefined, Value::from(4096)];
    for expr in exprs {
        values.extend(expr.nodes().iter().filter_map(|node| match node {
            // What HTCondor prints for a time that far away is unpredictable.
            Node::Literal(Literal::Int(i64::MIN | i64::MAX)) => None,
            Node::Literal(literal @ (Literal::Str(_) | Literal::Int(_) | Literal::Real(_))) => {
                Some(Value::from(literal))
            }
            _ => None,
        }));
    }
    // Beside strings, first a string.
    let has_text = values.iter().any(|value| matches!(value, Value::Str(_)));
    values.insert(usize::from(!has_text), Value::from("x"));
    if of == ExampleValues::All {
        values.extend(dependence::telling());
        // Versions convert these to a number of the expression, or to 1024 times as much.
        let suffixed = |node: &Node| match node {
            Node::Literal(literal @ (Literal::Int(_) | Literal::Real(_))) => {
                Some(Value::from(format!("{:#}K", Value::from(literal)).as_str()))
            }
            _ => None,
        };
        values.extend(exprs.iter().flat_map(|expr| expr.nodes()).filter_map(suffixed));
        let numbers = [0, -1, 9_007_199_254_740_993].map(Value::from);
        let reals = [0.0, -2.5, 1e300].map(Value::from);
        let texts = ["1.5M", "2", "-7 g", "10.1.2", "true"].map(Value::from);
        let others =
            [Value::from(false), Value::Error, Value::List(List::of(vec![Value::from(1), Value::from("10K")]))];
        values.extend(numbers.into_iter().chain(reals).chain(texts).chain(others));
    }
    let mut known = BTreeSet::new();
    values.retain(|value| known.insert(format!("{value:#}")));
    values
}

/// The next of a fixed sequence of numbers, below a limit.
fn next(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap_or_default() % limit.max(1)
}

/// Values of all places, for each example; `None` for an attribute that stays as it is. Of many, only every one of a number.
fn rows(places: usize, values: usize, every: usize) -> Vec<Vec<Option<usize>>> {
    let each = 0..values;
    match places {
        0 => Vec::new(),
        1 => each.step_by(every).map(|one| vec![Some(one)]).collect(),
        2 => {
            let pairs = each.clone().flat_map(|one| each.clone().map(move |two| vec![Some(one), Some(two)]));
            pairs.step_by(every).collect()
        }
        _ => {
            let backgrounds = std::iter::once(None).chain((0..values.min(BACKGROUNDS)).map(Some));
            let alone = backgrounds.flat_map(|background| {
                let each = each.clone();
                (0..places).flat_map(move |place| each.clone().map(move |value| (background, place, value)))
            });
            let alone = alone.step_by(every).map(|(background, place, value)| {
                let mut row = vec![background; places];
                row[place] = Some(value);
                row
            });
            let mut rows: Vec<Vec<Option<usize>>> = alone.collect();
            let mut state = 1;
            let combination = |_: usize| (0..places).map(|_| Some(next(&mut state, values))).collect();
            rows.extend((0..COMBINATIONS.div_ceil(every)).map(combination));
            rows
        }
    }
}

/// The number of [`rows`] if none is left out.
fn count(places: usize, values: usize) -> usize {
    match places {
        0 => 0,
        1 => values,
        2 => values * values,
        _ => (values.min(BACKGROUNDS) + 1) * places * values + COMBINATIONS,
    }
}

/// Variants of two ads, with values for the attributes that the expressions look at, and true if none is left out. Most expressions
/// look at few.
pub(super) fn examples(
    exprs: [&Expr; 2],
    of: ExampleValues,
    base: &VariantAds,
    own: Option<Name>,
) -> (impl Iterator<Item = VariantAds>, bool) {
    let (places, values) = (places(exprs, own), values(exprs, of));
    let base = base.clone();
    let nodes: usize = exprs.iter().map(|expr| expr.nodes().len()).sum();
    let every = (count(places.len(), values.len()) * nodes).div_ceil(MAX_WORK).max(1);
    let rows = rows(places.len(), values.len(), every);
    let variants = rows.into_iter().map(move |row| {
        let mut ads = base.clone();
        for ((of_target, name), value) in places.iter().zip(row) {
            let Some(value) = value.and_then(|at| values.get(at)) else { continue };
            let ad = if *of_target { ads.target.get_or_insert_default() } else { &mut ads.my };
            ad.insert(*name, value.clone());
        }
        ads
    });
    (variants, every == 1)
}

impl VariantAds {
    /// The attributes as text: `A = "x"`.
    pub(super) fn shown(&self) -> Vec<String> {
        let of = |ad: &ClassAd, scope: &str| -> Vec<String> {
            let value = |name| ad.get(name).unwrap_or_else(|| Expr::literal(Literal::Undefined));
            ad.listed().map(|(name, _)| format!("{scope}{name} = {:#}", value(name))).collect()
        };
        let target = self.target.iter().flat_map(|ad| of(ad, "TARGET."));
        of(&self.my, "").into_iter().chain(target).collect()
    }

    /// The ads without the attributes that do not matter for a test.
    pub(super) fn reduced(mut self, shows: impl Fn(&Self) -> bool) -> Self {
        let names =
            |ad: &ClassAd, of_target: bool| ad.names().map(|name| (of_target, name)).collect::<Vec<AttributePlace>>();
        let mut places = names(&self.my, false);
        places.extend(self.target.iter().flat_map(|ad| names(ad, true)));
        for (of_target, name) in places {
            let mut smaller = self.clone();
            let ad = if of_target { smaller.target.as_mut() } else { Some(&mut smaller.my) };
            ad.and_then(|ad| ad.remove(name));
            if shows(&smaller) {
                self = smaller;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::parse_expr;

    #[test]
    fn the_examples_of_a_large_expression_are_limited() {
        let of = |clauses: usize| {
            let clauses: Vec<String> = (0..clauses).map(|at| format!("(int(A{at}) == {at})")).collect();
            let expr = parse_expr(clauses.join(" && ").as_bytes()).unwrap();
            let base = VariantAds { my: ClassAd::new(), target: None };
            let (variants, is_complete) = examples([&expr; 2], ExampleValues::All, &base, None);
            (variants.count() * expr.nodes().len() * 2, is_complete)
        };
        assert!(of(3).1);
        let (work, is_complete) = of(150);
        // Each of the two kinds of rows is rounded up.
        assert!(!is_complete && work <= MAX_WORK + 4 * 150 * 6, "{work}");
    }
}
