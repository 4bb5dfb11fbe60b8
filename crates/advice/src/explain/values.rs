//! The values beside a condition: what the attributes that it refers to are, in a few words.
//!
//! In: a condition, and the ads for which it is not true. Out: ` (Memory of slots is 10 to 40 MB)`, or nothing.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use indexmap::IndexSet;

use crate::explain::ad_table::AdTable;
use crate::explain::names::{is_in_contexts, references};
use classmate::internal::name::Key;
use classmate::internal::plural::counted;
use classmate::internal::program::Side;
use classmate::internal::program::view::RowValues;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope, Value};
use classmate_pool::internal::pool::attribute;

/// Maximum number of attributes beside a condition.
const MAX_ATTRIBUTES: usize = 4;
/// Maximum number of values of an attribute.
const MAX_VALUES: usize = 3;
/// Maximum number of characters of a value; longer ones are cut.
const MAX_CHARACTERS: usize = 60;
/// The same of one of several values.
const MAX_OF_SEVERAL: usize = 32;

/// A note on each attribute that a condition refers to, in parentheses after a blank.
pub(super) fn beside(expr: &Expr, note: impl FnMut(Reference) -> String) -> String {
    in_parentheses(notes(expr, note))
}

/// Notes in parentheses after a blank.
pub(super) fn in_parentheses(notes: impl IntoIterator<Item = String>) -> String {
    let notes: Vec<String> = notes.into_iter().collect();
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

/// A note on each attribute that a condition refers to: first on those outside of calls.
fn notes(expr: &Expr, note: impl FnMut(Reference) -> String) -> IndexSet<String> {
    let (mut seen, direct) = (HashSet::new(), operands(expr));
    let mut found = references(expr.tree(), expr.root());
    found.retain(|found| seen.insert(*found));
    found.sort_by_key(|found| !direct.contains(&found.name.key()));
    // With and without its scope, an attribute may be the same.
    found.into_iter().map(note).take(MAX_ATTRIBUTES).collect()
}

/// The attributes that a condition compares or calculates with, outside of calls and choices.
fn operands(expr: &Expr) -> HashSet<Key> {
    let tree = expr.tree();
    let (mut waiting, mut found) = (vec![expr.root()], HashSet::new());
    while let Some(id) = waiting.pop() {
        match tree.view(id) {
            View::Reference(reference) => drop(found.insert(reference.name.key())),
            View::Call { .. } | View::Choice { .. } => {}
            _ => waiting.extend(tree.parts(id)),
        }
    }
    found
}

/// The attributes that a condition evaluates in each ad of a list: elsewhere they have another value.
fn in_contexts(expr: &Expr) -> HashSet<Key> {
    let tree = expr.tree();
    let (mut waiting, mut found) = (vec![expr.root()], HashSet::new());
    while let Some(id) = waiting.pop() {
        if let View::Call { name, arguments: [first, ..] } = tree.view(id)
            && is_in_contexts(name)
        {
            found.extend(tree.reference(tree.bare(*first)).map(|reference| reference.name.key()));
        }
        waiting.extend(tree.parts(id));
    }
    found
}

/// The values beside a condition of one ad.
pub(super) fn of_ad(expr: &Expr, ad: &ClassAd, settings: &EvalOptions) -> String {
    let value = |name: Name| Scope::new(ad, settings).eval_attr(name).unwrap_or(Value::Error);
    beside(expr, |Reference { name, .. }| {
        let value = value(name);
        let unit = if value.as_number().is_some() { unit(name) } else { "" };
        format!("{name} is {:#}{unit}", value.to_expr())
    })
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
        in_parentheses(self.notes(expr, is_of_one, some))
    }

    /// The same, apart.
    pub(super) fn notes(&self, expr: &Expr, is_of_one: bool, some: &[u32]) -> IndexSet<String> {
        let (one, is_job) = (self.one, self.is_job);
        let (one_name, many_name) = match (is_job, some.len()) {
            (_, 0) => return IndexSet::new(),
            (true, _) => ("the job", "slots"),
            (false, 1) => ("the slot", "the job"),
            (false, _) => ("the slot", "jobs"),
        };
        let counted = in_contexts(expr);
        let is_in_any = |name: Name| some.iter().any(|at| self.many.ads[*at as usize].contains(name));
        notes(expr, |Reference { scope, name }| {
            let is_in_one = match scope {
                RefScope::My => is_of_one,
                RefScope::Target => !is_of_one,
                RefScope::Either if is_of_one || is_in_any(name) => is_of_one && one.contains(name),
                RefScope::Either if one.contains(name) => true,
                RefScope::Either if is_job && self.many.has(name) => {
                    return format!("these slots do not define {name}, but others do");
                }
                RefScope::Either => is_job,
            };
            let (whose, values) = match one.get(name).filter(|_| is_in_one) {
                Some(own) if counted.contains(&name.key()) && own.as_literal().is_none() => {
                    (one_name, format!("`{own:#}`"))
                }
                Some(own) => (one_name, summary_of(name, &self.many.values(one, Side::Other, &own, some))),
                None if is_in_one => (one_name, "undefined".to_owned()),
                None => (many_name, summary_of(name, &self.many.attribute(one, name, some))),
            };
            format!("{name} of {whose} is {values}")
        })
    }
}

/// The unit of an attribute that is an amount of memory or disk, after a blank; empty for others.
fn unit(name: Name) -> &'static str {
    match attribute::find(name.folded()).and_then(|found| found.get("unit")) {
        Some("KiB") => " KB",
        Some("MiB") => " MB",
        _ => "",
    }
}

/// Values in a few words: a range of numbers, or the most frequent; with their counts if they differ.
pub(super) fn summary(found: &RowValues) -> String {
    summary_in("", found)
}

/// As [`summary`], with the unit of an attribute after numbers.
pub(super) fn summary_of(name: Name, found: &RowValues) -> String {
    summary_in(unit(name), found)
}

fn summary_in(unit: &str, found: &RowValues) -> String {
    // Without values a limit of the evaluation was exceeded.
    let mut counts = vec![0usize; found.values.len()];
    for value in &found.of {
        if let Some(count) = counts.get_mut(*value as usize) {
            *count += 1;
        }
    }
    let present = || found.values.iter().zip(&counts).filter(|(_, count)| **count > 0);
    let number = |value: &Value| value.as_number().filter(|_| matches!(value, Value::Int(_) | Value::Real(_)));
    let numbers = || present().filter_map(|(value, count)| Some((number(value)?, value, *count)));
    let least = numbers().reduce(|best, other| if other.0 < best.0 { other } else { best });
    let most = numbers().reduce(|best, other| if other.0 > best.0 { other } else { best });
    let mut parts: Vec<(String, usize)> = Vec::new();
    if let (Some((low, least, _)), Some((high, most, _))) = (least, most) {
        let text = if low < high { format!("{least:#} to {most:#}{unit}") } else { format!("{least:#}{unit}") };
        parts.push((text, numbers().map(|(.., count)| count).sum()));
    }
    let others = present().filter(|(value, _)| number(value).is_none());
    parts.extend(tally(others.map(|(value, count)| (format!("{:#}", value.to_expr()), *count))));
    if parts.is_empty() {
        return "unknown".to_owned();
    }
    let hidden = parts.len().saturating_sub(MAX_VALUES);
    let shown = |(text, count): &(String, usize)| match parts.len() {
        1 => cut(text, MAX_CHARACTERS),
        _ => format!("{} ({count})", cut(text, MAX_OF_SEVERAL)),
    };
    let mut text = parts.iter().take(MAX_VALUES).map(shown).collect::<Vec<_>>().join(", ");
    if hidden > 0 {
        text.push_str(&format!(" and {}", counted(hidden, "other value")));
    }
    text
}

/// A value, cut to a readable length; a string keeps its quotation marks.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…{}", &text[..end], if text.starts_with('"') { "\"" } else { "" }),
        None => text.to_owned(),
    }
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
