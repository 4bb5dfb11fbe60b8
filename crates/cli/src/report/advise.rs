//! Advice as text: the goals, what stands in their way, and changes with their effects.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::report::table::{Screen, Table};
use crate::report::{Color, Paint, counted};
use classmate_advice::internal::advise::{Advice, GoalState, Remedy, Usage};

/// Groups or submitters in a table, those with the largest changes first.
const MAX_ROWS: usize = 10;

/// Writes advice.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Advice, color: Color) -> io::Result<()> {
    goals(out, &found.goals, color)?;
    for observation in &found.observations {
        writeln!(out, "- {observation}")?;
    }
    if found.met {
        return Ok(());
    }
    for (number, remedy) in found.remedies.iter().enumerate() {
        let title = if remedy.met { format!("change {}", number + 1) } else { "nearest change".to_owned() };
        writeln!(out, "\n{title}:")?;
        for change in &remedy.changes {
            writeln!(out, "  {change}")?;
        }
        for reason in &remedy.reasons {
            writeln!(out, "- {reason}")?;
        }
        goals(out, &remedy.goals, color)?;
        effects(out, &found.before, remedy, color)?;
    }
    writeln!(out, "\n{} of changes tried", counted(found.tried as u64, "combination"))
}

fn goals(out: &mut impl Screen, goals: &[GoalState], color: Color) -> io::Result<()> {
    for GoalState { goal, used, bound, met } in goals {
        let (paint, word) = if *met { (Paint::Good, "met") } else { (Paint::Bad, "not met") };
        writeln!(out, "goal {goal}: {}, {used:.1} in use (bound {bound:.1})", color.paint(paint, word))?;
    }
    Ok(())
}

/// Usage before and after: of groups if there are any, otherwise of submitters.
fn effects(out: &mut impl Screen, before: &Usage, remedy: &Remedy, color: Color) -> io::Result<()> {
    let after = &remedy.after;
    let (heading, old, new) = if before.groups.is_empty() {
        ("SUBMITTER", &before.submitters, &after.submitters)
    } else {
        ("GROUP", &before.groups, &after.groups)
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let amount = |of: &BTreeMap<String, f64>, name: &str| of.get(name).copied().unwrap_or(0.0);
    let mut rows: Vec<(&str, f64, f64)> =
        names.into_iter().map(|name| (name.as_str(), amount(old, name), amount(new, name))).collect();
    rows.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()));
    let hidden = rows.len().saturating_sub(MAX_ROWS);
    let mut table = Table::new([heading, "IN USE BEFORE", "AFTER"], &[1, 2]);
    for (name, old, new) in rows.into_iter().take(MAX_ROWS) {
        table.row([name.to_owned(), format!("{old:.1}"), format!("{new:.1}")]);
    }
    table.row(["all".to_owned(), format!("{:.1}", before.total), format!("{:.1}", after.total)]);
    table.write(out, color)?;
    if hidden > 0 {
        writeln!(out, "{hidden} more (use --format json to list all)")?;
    }
    Ok(())
}
