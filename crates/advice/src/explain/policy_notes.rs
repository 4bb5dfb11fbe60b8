//! Notes on a condition of slots that keeps a job away: the time at which it becomes true by itself, and the unit of an amount.

use crate::explain::clauses::{is_long, truth};
use crate::explain::clock::begin;
use crate::explain::cycle::obstacle::moment;
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use crate::explain::repair::edit::{Bound, bound, comparison};
use crate::explain::repair::plan::reads_clock;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::RefScope;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope, Value};
use classmate_pool::internal::pool::ad_reader::AdReader;

/// Minutes of a day.
const DAY: i64 = 24 * 60;

/// The days by `ClockDay`.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Tests if a condition refers to the time of day or the day of the week of a slot.
pub(super) fn is_of_clock(expr: &Expr) -> bool {
    names(expr).any(|name| matches!(name.folded(), b"clockmin" | b"clockday"))
}

fn names(expr: &Expr) -> impl Iterator<Item = Name> {
    references(expr.tree(), expr.root()).into_iter().map(|found| found.name)
}

/// Slots whose clocks are compared.
const MAX_SLOTS: usize = 20;

/// The note on a condition of some slots that compares the clock with a number and becomes true at the same time for all of them.
pub(super) fn begins(view: &JobView<'_>, expr: &Expr, slots: &[u32]) -> Option<String> {
    if is_long(expr) || slots.len() > MAX_SLOTS || !reads_clock(expr.tree(), expr.root()) {
        return None;
    }
    let (job, settings) = (view.job, &view.pool.settings);
    let of_slot = |at: &u32| {
        let slot = &view.pool.slots.get(*at as usize)?.ad;
        let then = begin(Scope::new(slot, settings).with_target(job), expr, settings.now)?;
        let is_at = |now: i64| {
            let settings = EvalOptions { now, ..settings.clone() };
            truth(Scope::new(slot, &settings).with_target(job), expr) == Truth::True
        };
        (is_at(then) && !is_at(then.saturating_sub(1))).then_some(then)
    };
    let first = of_slot(slots.first()?)?;
    let is_same = slots[1..].iter().all(|at| of_slot(at) == Some(first));
    is_same.then(|| format!("; it becomes true at {}", moment(first)))
}

/// The note on a condition of the slots' clocks that becomes true within a week, at the same time for all of some slots.
pub(super) fn opens(view: &JobView<'_>, expr: &Expr, slots: &[u32]) -> Option<String> {
    let is_of_days = names(expr).any(|name| name.folded() == b"clockday");
    if !is_of_clock(expr) || is_long(expr) || slots.len() > MAX_SLOTS {
        return None;
    }
    let minutes = turns(expr, &view.pool.settings);
    let of_slot = |at: &u32| -> Option<(i64, i64)> {
        let slot = &view.pool.slots.get(*at as usize)?.ad;
        let facts = AdReader::of(slot, &view.pool.settings);
        let now = facts.integer("ClockMin").filter(|now| (0..DAY).contains(now))?;
        let today = facts.integer("ClockDay").filter(|_| is_of_days).unwrap_or(0).clamp(0, 6);
        let mut then = slot.clone();
        let days = if is_of_days { 0..8 } else { 0..2 };
        let times = days.flat_map(|day| minutes.iter().map(move |minute| (day, *minute)));
        let mut later = times.filter(|time| *time > (0, now)).map(|(day, minute)| ((today + day) % 7, minute));
        let (day, minute) = later.find(|(day, minute)| {
            then.insert("ClockMin", *minute);
            then.insert("ClockDay", *day);
            truth(Scope::new(&then, &view.pool.settings).with_target(view.job), expr) == Truth::True
        })?;
        Some((if is_of_days { day } else { 0 }, minute))
    };
    let first = of_slot(slots.first()?)?;
    if !slots[1..].iter().all(|at| of_slot(at) == Some(first)) {
        return None;
    }
    let (day, minute) = first;
    let day = DAYS.get(usize::try_from(day).ok()?).filter(|_| is_of_days).map(|day| format!(" on {day}"));
    let (day, hour, minute) = (day.unwrap_or_default(), minute / 60, minute % 60);
    Some(format!("; it becomes true{day} at {hour:02}:{minute:02} of the slots' clock"))
}

/// The minutes of a day at which a condition may change: midnight, the numbers that are written in it or computed there, and those after
/// them.
fn turns(expr: &Expr, settings: &EvalOptions) -> Vec<i64> {
    let (tree, nothing) = (expr.tree(), ClassAd::new());
    let all = (tree.first_of(expr.root())..=expr.root()).filter(|id| tree.is_constant(*id));
    let numbers = all.filter_map(|id| match Scope::new(&nothing, settings).eval(&expr.part(id)).ok()? {
        Value::Int(number) => Some(number),
        _ => None,
    });
    let mut found: Vec<i64> = numbers.flat_map(|number| [number, number.saturating_add(1)]).chain([0]).collect();
    found.retain(|minute| (0..DAY).contains(minute));
    found.sort_unstable();
    found.dedup();
    found
}

/// The note on a condition that allows at most a small number as the memory or the disk of a job, as if it counted in GB.
pub(super) fn small_unit(expr: &Expr) -> Option<String> {
    /// The attributes with the name of the unit, the number of it in a GB, and a number below which slots allow next to nothing.
    const AMOUNTS: [(&str, &str, i64, i64); 2] =
        [("RequestMemory", "MB", 1 << 10, 256), ("RequestDisk", "KB", 1 << 20, 1000)];
    let tree = expr.tree();
    let (op, left, right) = comparison(tree, expr.root())?;
    [(left, right), (right, left)].into_iter().find_map(|(side, other)| {
        let Node::Literal(Literal::Int(most)) = *tree.node(tree.bare(other)) else { return None };
        let named = tree.reference(tree.bare(side)).filter(|found| found.scope != RefScope::My)?.name;
        let (name, unit, factor, few) = AMOUNTS.into_iter().find(|(name, ..)| Name::new(name) == named)?;
        let is_most = bound(op, side == left).is_some_and(|(bound, _)| bound == Bound::AtMost);
        let note = || format!("; {name} is in {unit}: {most} GB is {} {unit}", most * factor);
        (is_most && (1..few).contains(&most)).then(note)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 · 1024 MB, and 100 · 1024 · 1024 KB.
    #[test]
    fn a_small_amount_is_in_a_larger_unit() {
        let of = |text: &str| small_unit(&text.parse().unwrap());
        assert_eq!(of("TARGET.RequestMemory <= 64").unwrap(), "; RequestMemory is in MB: 64 GB is 65536 MB");
        assert_eq!(of("(100 > RequestDisk)").unwrap(), "; RequestDisk is in KB: 100 GB is 104857600 KB");
        for text in [
            "RequestMemory >= 64",
            "RequestMemory <= 4096",
            "RequestMemory <= Memory",
            "RequestCpus <= 4",
            "MY.RequestMemory <= 64",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
