//! The values beside a condition: what the attributes that it refers to are, in a few words.
//!
//! In: a condition, and the ads for which it is not true. Out: ` (Memory of slots is 10 to 40)`, or nothing.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use crate::explain::ad_table::AdTable;
use crate::explain::names::references;
use classmate::internal::program::view::RowValues;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope, Value};

/// Maximum number of attributes beside a condition.
const MAX_ATTRIBUTES: usize = 4;
/// Maximum number of values of an attribute.
const MAX_VALUES: usize = 3;

/// A note on each attribute that a condition refers to, in parentheses after a blank.
pub(super) fn beside(expr: &Expr, note: impl FnMut(Reference) -> String) -> String {
    let (mut seen, found) = (HashSet::new(), references(expr.tree(), expr.root()).into_iter());
    let notes: Vec<String> =
        found.filter(|found| seen.insert(found.name.key())).take(MAX_ATTRIBUTES).map(note).collect();
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

/// The values beside a condition of one ad.
pub(super) fn of_ad(expr: &Expr, ad: &ClassAd, settings: &EvalOptions) -> String {
    let value = |name: Name| Scope::new(ad, settings).eval_attr(name).unwrap_or(Value::Error);
    beside(expr, |Reference { name, .. }| format!("{name} is {:#}", value(name)))
}

/// One ad and the many opposite to it.
pub(super) struct Opposites<'t> {
    pub(super) one: &'t ClassAd,
    pub(super) many: &'t AdTable<'t>,
    /// The one ad is a job, and the others are slots.
    pub(super) is_job: bool,
}

impl Opposites<'_> {
    /// The values beside a condition of the one ad, or of some of the many.
    pub(super) fn beside(&self, expr: &Expr, is_of_one: bool, some: &[u32]) -> String {
        let Some(first) = some.first().map(|at| self.many.ads[*at as usize]) else { return String::new() };
        let (one, is_job) = (self.one, self.is_job);
        let (one_name, many_name) = match (is_job, some.len()) {
            (true, _) => ("the job", "slots"),
            (false, 1) => ("the slot", "the job"),
            (false, _) => ("the slot", "jobs"),
        };
        beside(expr, |Reference { scope, name }| {
            let is_in_one = match scope {
                RefScope::My => is_of_one,
                RefScope::Target => !is_of_one,
                RefScope::Either if is_of_one || first.contains(name) => is_of_one && one.contains(name),
                RefScope::Either if one.contains(name) => true,
                RefScope::Either if is_job && self.many.has(name) => {
                    return format!("these slots do not define {name}, but others do");
                }
                RefScope::Either => is_job,
            };
            if is_in_one {
                let value = Scope::new(one, self.many.settings).with_target(first).eval_attr(name);
                let value = value.map_or_else(|failed| failed.to_string(), |value| format!("{value:#}"));
                return format!("{name} of {one_name} is {value}");
            }
            format!("{name} of {many_name} is {}", range(&self.many.attribute(one, name, some)))
        })
    }
}

/// Values in a few words: a range of numbers, or the most frequent.
pub(super) fn range(found: &RowValues) -> String {
    let number = |value: &Value| value.as_number().filter(|_| value.as_bytes().is_none());
    let numbers: Option<Vec<(f64, &Value)>> = found.values.iter().map(|value| Some((number(value)?, value))).collect();
    let numbers = numbers.unwrap_or_default();
    let extreme = |is_further: fn(f64, f64) -> bool| {
        numbers.iter().copied().reduce(|best, other| if is_further(other.0, best.0) { other } else { best })
    };
    if let (Some((least, lowest)), Some((most, highest))) = (extreme(|a, b| a < b), extreme(|a, b| a > b))
        && least < most
    {
        return format!("{lowest:#} to {highest:#}");
    }
    let mut counts = vec![0usize; found.values.len()];
    found.of.iter().for_each(|value| counts[*value as usize] += 1);
    let counts = tally(found.values.iter().map(|value| format!("{value:#}")).zip(counts));
    let more = if counts.len() > MAX_VALUES { " …" } else { "" };
    let shown: Vec<&str> = counts.iter().take(MAX_VALUES).map(|(value, _)| value.as_str()).collect();
    format!("{}{more}", shown.join(" or "))
}

/// The sums of counts by key, the largest first.
pub(super) fn tally(counts: impl IntoIterator<Item = (String, usize)>) -> Vec<(String, usize)> {
    let mut sums: BTreeMap<String, usize> = BTreeMap::new();
    counts.into_iter().for_each(|(key, count)| *sums.entry(key).or_default() += count);
    let mut sums: Vec<(String, usize)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    sums
}

/// The form of a verb for a count.
pub fn verb(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}
