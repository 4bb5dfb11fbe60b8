//! Pairs of policies of which one undoes the other: proofs about two conditions.
//!
//! In: two conditions. Out: whether both can be true, or one is true wherever the other is.

use std::collections::BTreeSet;

use classmate::internal::analysis::proof::{PairAnswer, find_pair};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, EvalOptions, Expr, ParseOptions, Semantics, Value};

use super::attributes::{Kind, fact};
use super::unknowns;
use crate::submit::added::OF_HOLDS;

/// Largest text of a condition that is looked at.
const MAX_TEXT: usize = 2_000;

/// The values of `JobStatus` of an idle job, and of a held one.
const IDLE: &str = "1";
const HELD: &str = "5";

/// Reads a condition in which nothing is left open.
pub(super) fn condition(text: &str, semantics: Semantics) -> Option<Expr> {
    let is_open = text.len() > MAX_TEXT || text.contains('$') || unknowns::marked(text.as_bytes()).is_some();
    let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
    parse_expr(text.as_bytes(), &options).ok().filter(|_| !is_open)
}

/// Tests whether each job that a policy releases is held again, because the condition of the hold is true for it as soon as it is idle.
pub(super) fn holds_again(hold: &str, release: &str, semantics: Semantics) -> bool {
    let settings = EvalOptions { semantics, ..EvalOptions::default() };
    let with_status = |text: &str, status| condition(&replaced(text, "JobStatus", status), semantics);
    let (Some(hold), Some(release)) = (with_status(hold, IDLE), with_status(release, HELD)) else { return false };
    let changes = |expr: &Expr| {
        let tree = expr.tree();
        let names: Vec<_> = tree.references(expr.root()).map(|reference| reference.name).collect();
        let is_timed = tree.calls.iter().any(|call| matches!(call.name.folded(), b"time" | b"random"));
        names.is_empty() || is_timed || names.iter().any(|name| OF_HOLDS.contains(&name.folded()))
    };
    let is_possible = || matches!(find_pair(&[&release], &[], &settings), PairAnswer::Found { .. });
    !changes(&hold) && is_possible() && matches!(find_pair(&[&release], &[&hold], &settings), PairAnswer::Impossible)
}

/// A text with another one in place of an attribute, perhaps of MY.
fn replaced(text: &str, name: &str, by: &str) -> String {
    let is_word = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let (lower, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let (mut made, mut done) = (String::new(), 0);
    for (at, _) in lower.match_indices(&name) {
        let front = &lower[..at];
        let begin = if front.ends_with("my.") { at - "my.".len() } else { at };
        let is_part = lower[..begin].ends_with(|sign| is_word(sign) || sign == '.')
            || lower[at + name.len()..].starts_with(is_word);
        if !is_part {
            made.push_str(&text[done..begin]);
            made.push_str(by);
            done = at + name.len();
        }
    }
    made.push_str(&text[done..]);
    made
}

/// An attribute and its value, with which two conditions about the same attributes are both true, as they are with other values too.
pub(super) fn both_true(first: &Expr, second: &Expr, semantics: Semantics) -> Option<String> {
    let names = |expr: &Expr| -> BTreeSet<(bool, String)> {
        let all = expr.tree().references(expr.root());
        all.map(|one| (one.scope == RefScope::Target, String::from_utf8_lossy(one.name.folded()).into_owned()))
            .collect()
    };
    let all = names(first);
    let [(of_target, name)] = all.iter().collect::<Vec<_>>()[..] else { return None };
    if all != names(second) || *of_target || [first, second].into_iter().any(|expr| !expr.tree().calls.is_empty()) {
        return None;
    }
    let fact = fact(name.as_bytes()).filter(|fact| matches!(fact.kind, Some(Kind::Integer | Kind::Number)))?;
    let settings = EvalOptions { semantics, ..EvalOptions::default() };
    let value = |ad: &ClassAd| match ad.constant(name.as_str())? {
        Value::Int(value) => Some(value as f64),
        Value::Real(value) if fact.kind == Some(Kind::Number) || value.fract() == 0.0 => Some(value),
        _ => None,
    };
    let PairAnswer::Found { my, .. } = find_pair(&[first, second], &[], &settings) else { return None };
    let found = value(&my)?;
    // At a bound, one value may belong to both.
    let other = condition(&format!("{name} > {found} + 1 || {name} < {found} - 1"), semantics)?;
    let PairAnswer::Found { my, .. } = find_pair(&[first, second, &other], &[], &settings) else { return None };
    value(&my).map(|_| format!("{} = {found}", fact.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(hold: &str, release: &str) -> bool {
        holds_again(hold, release, Semantics::default())
    }

    #[test]
    fn jobs_that_are_held_again() {
        assert!(again("JobStatus == 1 && NumJobStarts > 5", "NumJobStarts > 5 && time() - EnteredCurrentStatus > 600"));
        assert!(again("NumJobStarts > 5", "JobStatus == 5 && MY.NumJobStarts >= 10"));
        assert!(!again("NumJobStarts > 5", "NumJobStarts < 10"));
        // The job has to run first.
        assert!(!again("JobStatus == 2 && NumJobStarts > 5", "NumJobStarts > 5"));
        // It may hold only some of them, or later.
        assert!(!again("NumJobStarts > 5 && Owner == \"ann\"", "NumJobStarts > 5"));
        assert!(!again("NumHolds > 3", "NumHolds > 4"));
        assert!(!again("time() - EnteredCurrentStatus > 60", "time() - EnteredCurrentStatus > 600"));
    }

    #[test]
    fn overlaps_of_one_attribute() {
        let both = |first: &str, second: &str| {
            let of = |text: &str| condition(text, Semantics::default()).unwrap();
            both_true(&of(first), &of(second), Semantics::default()).is_some()
        };
        assert!(both("KeyboardIdle < 300", "KeyboardIdle > 60"));
        assert!(both("KeyboardIdle >= 60", "(KeyboardIdle <= 90)"));
        for (first, second) in [
            ("KeyboardIdle < 60", "KeyboardIdle > 300"),
            ("KeyboardIdle <= 300", "KeyboardIdle >= 300"),
            ("KeyboardIdle < 300", "KeyboardIdle > 299"),
            ("KeyboardIdle < 300", "KeyboardIdle > 60 && LoadAvg < 0.3"),
            ("KeyboardIdle < 300", "true"),
            ("TARGET.ImageSize > 300", "TARGET.ImageSize > 60"),
        ] {
            assert!(!both(first, second), "{first} {second}");
        }
    }
}
