//! The order in which groups negotiate: `GROUP_SORT_EXPR` in an ad of each group, the lowest first.
//!
//! Formula source: `docs/reference/group-quotas.md` 7.

use super::allocate::AllocationState;
use super::tree::{GroupTree, ROOT};
use crate::accountant::ROOT_GROUP;
use crate::introsort;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::print::Style;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// The key of a group whose expression is not a number: last of all.
const LAST_KEY: f64 = f32::MAX as f64;

/// The default of `GROUP_SORT_EXPR` as it prints.
const STARVATION: &str = "ifThenElse(AccountingGroup is \"<none>\",3.400000000000000E+38,\
                          ifThenElse(GroupQuota > 0,GroupResourcesInUse / GroupQuota,3.300000000000000E+38))";

/// The keys that the default gives, without evaluating it ten thousand times.
fn starvation(tree: &GroupTree, states: &[AllocationState], usage: &[f64]) -> Vec<f64> {
    let key = |at: usize| {
        let quota = states[at].quota;
        let used = if quota > 0.0 { usage[at] / quota } else { 3.3e38 };
        match *tree.groups()[at].name == *ROOT_GROUP {
            true => 3.4e38,
            // A division that overflows is an error in the language.
            false if used.is_finite() => used,
            false => LAST_KEY,
        }
    };
    (0..states.len()).map(key).collect()
}

/// The key of each group.
pub(super) fn keys(
    tree: &GroupTree,
    expr: Option<&Expr>,
    states: &[AllocationState],
    usage: &[f64],
    settings: &EvalOptions,
) -> Vec<f64> {
    let Some(expr) = expr else { return vec![LAST_KEY; states.len()] };
    if expr.to_string() == STARVATION {
        return starvation(tree, states, usage);
    }
    let mut ad = ClassAd::new();
    ad.insert_expr("SortExpr", expr);
    ad.insert("SortExprString", Value::Str(Text::new(expr.to_text(Style::New))));
    let mut key = |at: usize| {
        ad.insert("AccountingGroup", Value::Str(Text::new(&tree.groups()[at].name)));
        ad.insert("GroupQuota", states[at].quota);
        ad.insert("GroupResourcesAllocated", states[at].allocated);
        ad.insert("GroupResourcesInUse", usage[at]);
        let value = Scope::new(&ad, settings).eval(expr).ok().and_then(|value| value.as_number());
        value.filter(|key| !key.is_nan()).unwrap_or(LAST_KEY)
    };
    (0..states.len()).map(&mut key).collect()
}

/// The groups in the order of their keys, up to 16 equal ones breadth first; with autoregroup the root is last whatever its key.
pub(super) fn order(tree: &GroupTree, keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let last = |at: usize| tree.autoregroup && at == ROOT;
    introsort::sort(&mut order, |&a, &b| if last(a) || last(b) { !last(a) } else { keys[a] < keys[b] });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::QuotaSettings;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
    use classmate_config::internal::config::Config;

    fn settings(config: &str) -> QuotaSettings {
        QuotaSettings::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap()
    }

    fn states(quotas: &[f64]) -> Vec<AllocationState> {
        quotas
            .iter()
            .map(|&quota| AllocationState { quota, allocated: quota / 2.0, ..AllocationState::default() })
            .collect()
    }

    #[test]
    fn the_default_is_recognised_and_computed_as_it_evaluates() {
        let settings = settings("GROUP_NAMES = a, b, c, d, e");
        let expr = settings.rules.order.clone().unwrap();
        assert_eq!(expr.to_string(), STARVATION);
        let tree = GroupTree::new(&settings);
        let states = states(&[4.0, 20.0, 0.0, 3.0, 5e-324, 7.0]);
        let usage = [1.0, 15.0, 2.0, 1.0, 1e300, 0.0];
        // The same meaning in other words is evaluated.
        let other = parse_expr(format!("0 + {expr}").as_bytes(), &ParseOptions::default()).unwrap();
        let evaluated = keys(&tree, Some(&other), &states, &usage, &EvalOptions::default());
        assert_eq!(starvation(&tree, &states, &usage), evaluated);
        assert_eq!(evaluated, [3.4e38, 0.75, 3.3e38, 1.0 / 3.0, LAST_KEY, 0.0]);
    }

    #[test]
    fn any_attribute_of_the_group_may_be_asked_for_and_what_is_no_number_is_last() {
        let tree = GroupTree::new(&settings("GROUP_NAMES = a, b"));
        let of = |text: &str| {
            let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
            keys(&tree, Some(&expr), &states(&[4.0, 6.0, 0.0]), &[1.0, 2.0, 3.0], &EvalOptions::default())
        };
        assert_eq!(of("GroupResourcesAllocated * 10 + GroupResourcesInUse"), [21.0, 32.0, 3.0]);
        assert_eq!(of("AccountingGroup == \"B\""), [0.0, 0.0, 1.0]);
        assert_eq!(of("size(SortExprString)"), [20.0; 3]);
        assert_eq!(of("GroupQuotaInUse"), [LAST_KEY; 3]);
        assert_eq!(of("AccountingGroup"), [LAST_KEY; 3]);
        assert_eq!(of("SortExpr"), [LAST_KEY; 3]);
    }

    #[test]
    fn equal_keys_keep_the_order_of_the_tree_and_autoregroup_puts_the_root_last() {
        let plain = GroupTree::new(&settings("GROUP_NAMES = a, b, c"));
        assert_eq!(order(&plain, &[0.0, 1.0, -1.0, 0.0]), [2, 0, 3, 1]);
        let regrouping = GroupTree::new(&settings("GROUP_NAMES = a, b, c\nGROUP_AUTOREGROUP_b = true"));
        assert_eq!(order(&regrouping, &[0.0, 1.0, LAST_KEY, 0.0]), [3, 1, 2, 0]);
    }
}
