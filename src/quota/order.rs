//! In which order groups are negotiated with: `GROUP_SORT_EXPR` in an ad of each group, the lowest first.
//!
//! Formula source: `group-quotas.md` §7.

use super::allocate::State;
use super::tree::{GroupTree, ROOT};
use crate::ad::ClassAd;
use crate::eval::scope::{Scope, Settings};
use crate::syntax::expr::Expr;
use crate::syntax::print::Style;
use crate::text::Text;
use crate::value::Value;

/// The key of a group whose expression is no number: after all that have one.
const LAST: f64 = f32::MAX as f64;

/// The key of each group.
pub(super) fn keys(
    tree: &GroupTree,
    expr: Option<&Expr>,
    states: &[State],
    usage: &[f64],
    settings: &Settings,
) -> Vec<f64> {
    let Some(expr) = expr else { return vec![LAST; states.len()] };
    let mut ad = ClassAd::new();
    ad.insert_expr("SortExpr", expr);
    ad.insert("SortExprString", Value::Str(Text::new(expr.to_text(Style::New))));
    let mut key = |at: usize| {
        ad.insert("AccountingGroup", Value::Str(Text::new(&tree.groups()[at].name)));
        ad.insert("GroupQuota", states[at].quota);
        ad.insert("GroupResourcesAllocated", states[at].allocated);
        ad.insert("GroupResourcesInUse", usage[at]);
        let value = Scope::new(&ad, settings).eval(expr).ok().and_then(|value| value.as_number());
        value.filter(|key| !key.is_nan()).unwrap_or(LAST)
    };
    (0..states.len()).map(&mut key).collect()
}

/// The groups in the order of their keys, equal ones breadth first; with autoregroup the root is last whatever its key.
pub(super) fn order(tree: &GroupTree, keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let last = |at: usize| tree.autoregroup && at == ROOT;
    // Plain comparison: both zeros are equal, and NaN was replaced.
    order.sort_by(|&a, &b| {
        last(a).cmp(&last(b)).then_with(|| keys[a].partial_cmp(&keys[b]).unwrap_or(std::cmp::Ordering::Equal))
    });
    order
}
