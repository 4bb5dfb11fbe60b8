//! The slots of a session: each expression is evaluated in every one of them, as TARGET.
//!
//! In: the ads of slots, and expressions. Out: counts of their values, and the names of the slots with a value.

use std::collections::BTreeMap;

use crate::repl::command::{CommandInput, problem, text};
use crate::repl::{Output, Session};
use crate::report::{counted, printable, shortened};
use classmate::internal::builtin::near::{allowance, distance};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, EvalError, Expr, Scope, Value};

/// Values of an expression, and names of slots, that are shown at most.
const SHOWN_VALUES: usize = 5;
const SHOWN_NAMES: usize = 20;

/// The name of a slot.
pub(super) fn name_of(slot: &ClassAd) -> Option<String> {
    match slot.constant("Name") {
        Some(Value::Str(name)) => Some(printable(&name)),
        _ => None,
    }
}

/// The value of an expression in each slot, as text.
///
/// One evaluation may take as long as the limits of evaluation allow, but not one in each of many slots: after the first
/// that exceeds them, the others are not evaluated.
fn values(session: &Session, expr: &Expr) -> Vec<String> {
    let settings = session.settings();
    let mut too_long = false;
    let mut value = |slot: &ClassAd| {
        if too_long {
            return "not evaluated".to_owned();
        }
        match Scope::new(&session.my, &settings).with_target(slot).eval(expr) {
            Ok(value) => printable(&value.to_text(Style::New)),
            Err(why) => {
                too_long = matches!(why, EvalError::Work(_) | EvalError::Memory(_));
                "stopped".to_owned()
            }
        }
    };
    session.slots.iter().map(&mut value).collect()
}

/// The values of an expression in all slots: `true for 13 of 143 slots`.
pub(super) fn summary(session: &Session, expr: &Expr) -> Option<String> {
    if session.slots.is_empty() {
        return None;
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for value in values(session, expr) {
        *counts.entry(value).or_default() += 1;
    }
    let all = counted(session.slots.len() as u64, "slot");
    let is_condition = |value: &str| matches!(value, "true" | "false" | "undefined" | "error");
    let yes = counts.get("true").copied().unwrap_or(0);
    let mut others: Vec<(&str, u64)> =
        counts.iter().filter(|(value, _)| *value != "true").map(|(value, count)| (value.as_str(), *count)).collect();
    others.sort_by(|(one, count), (other, beside)| beside.cmp(count).then_with(|| one.cmp(other)));
    let shown = |(value, count): &(&str, u64)| format!("{} for {count}", shortened(value, 40));
    if counts.keys().all(|value| is_condition(value)) && (yes > 0 || counts.contains_key("false")) {
        let unclear: Vec<String> = others.iter().filter(|(value, _)| *value != "false").map(shown).collect();
        let unclear = if unclear.is_empty() { String::new() } else { format!(", {}", unclear.join(", ")) };
        return Some(format!("  true for {yes} of {all}{unclear}"));
    }
    if let [(value, _)] = others.as_slice()
        && yes == 0
    {
        return Some(format!(
            "  {} for {}",
            shortened(value, 40),
            if session.slots.len() == 1 { all } else { format!("all {all}") }
        ));
    }
    if yes > 0 {
        others.push(("true", yes));
    }
    let more = others.len().saturating_sub(SHOWN_VALUES);
    let mut list: Vec<String> = others.iter().take(SHOWN_VALUES).map(shown).collect();
    if more > 0 {
        list.push(format!("and {}", counted(more as u64, "other value")));
    }
    Some(format!("  of {all}: {}", list.join(", ")))
}

/// `:load slots FILE`: keeps the slots; the first one is TARGET unless there is one.
pub(super) fn load(session: &mut Session, file: &str) -> Vec<Output> {
    let settings = session.settings();
    match session.host.load_all(file, &settings) {
        Ok((slots, notes)) => {
            let mut outputs: Vec<Output> = notes.into_iter().map(Output::Warning).collect();
            outputs.extend(session.set_slots(slots).map(|note| Output::Warning(format!("note: {note}"))));
            outputs.push(Output::Text(session.slots_told()));
            outputs
        }
        Err(message) => problem(message),
    }
}

/// `:who`: the slots in which the last expression has a value, which is true unless another one is given; or in which the
/// expression that is given is true.
pub(super) fn who(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    if session.slots.is_empty() {
        return no_slots();
    }
    let given = input.text();
    let last = session.last.as_ref().map(|(expr, _)| expr.clone());
    let mut of_last = last.as_ref().map(|expr| values(session, expr)).unwrap_or_default();
    let has = |value: &str, wanted: &str| value.eq_ignore_ascii_case(wanted);
    let is_value = given.is_empty() || of_last.iter().any(|value| has(value, &given));
    let (wanted, values) = match parse_expr(given.as_bytes(), &session.settings().parse_options()) {
        // Not a value, but another expression.
        Ok(expr) if !is_value && expr.as_literal().is_none() => ("true", values(session, &session.with_last(expr))),
        Err(error) if !is_value => return problem(format!("{given}: {error}")),
        _ if last.is_none() => return problem("there is no expression yet\n  = help: type one first"),
        _ => (if given.is_empty() { "true" } else { &*given }, std::mem::take(&mut of_last)),
    };
    let names: Vec<String> = session
        .slots
        .iter()
        .zip(&values)
        .enumerate()
        .filter(|(_, (_, value))| has(value, wanted))
        .map(|(at, (slot, _))| name_of(slot).unwrap_or_else(|| format!("slot number {}", at + 1)))
        .collect();
    let more = names.len().saturating_sub(SHOWN_NAMES);
    let mut lines = vec![format!(
        "{} for {} of {}",
        printable(wanted.as_bytes()),
        names.len(),
        counted(values.len() as u64, "slot")
    )];
    lines.extend(names.into_iter().take(SHOWN_NAMES).map(|name| format!("  {name}")));
    if more > 0 {
        lines.push(format!("  and {}", counted(more as u64, "other slot")));
    }
    text(lines.join("\n"))
}

/// `:use NAME`: the slot becomes TARGET. Part of a name is enough if no other slot has it.
pub(super) fn choose(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    if session.slots.is_empty() {
        return no_slots();
    }
    let wanted = input.text();
    if wanted.is_empty() {
        return super::command::usage("use");
    }
    let named: Vec<(String, usize)> =
        session.slots.iter().enumerate().filter_map(|(at, slot)| Some((name_of(slot)?, at))).collect();
    let lower = wanted.to_ascii_lowercase();
    let whole = named.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&wanted)).collect::<Vec<_>>();
    let found = match whole.as_slice() {
        [] => named.iter().filter(|(name, _)| name.to_ascii_lowercase().contains(&lower)).collect(),
        _ => whole,
    };
    match found.as_slice() {
        [(name, at), rest @ ..] if rest.iter().all(|(other, _)| other == name) => {
            let attributes = counted(session.slots[*at].len() as u64, "attribute");
            let told = format!("TARGET is `{name}`, with {attributes}");
            session.target = Some(session.slots[*at].clone());
            text(told)
        }
        [] => {
            let near = named.iter().map(|(name, _)| name).filter_map(|name| {
                let far = distance(wanted.as_bytes(), name.as_bytes(), allowance(wanted.as_bytes()))?;
                Some((far, name))
            });
            let help = near.min().map_or_else(String::new, |(_, name)| format!("\n  = help: did you mean `{name}`?"));
            problem(format!("no slot has `{}` in its name{help}", printable(wanted.as_bytes())))
        }
        several => {
            let names: Vec<String> = several.iter().take(SHOWN_VALUES).map(|(name, _)| format!("`{name}`")).collect();
            let more = if several.len() > SHOWN_VALUES { ", …" } else { "" };
            problem(format!(
                "{} have `{}` in their names: {}{more}",
                counted(several.len() as u64, "slot"),
                printable(wanted.as_bytes()),
                names.join(", ")
            ))
        }
    }
}

fn no_slots() -> Vec<Output> {
    problem("there are no slots\n  = help: load some with `:load slots FILE`, or start with `--slots FILE`")
}
