//! Commands of a submit file that have no effect without another one, or beside it, by a table.
//!
//! In: the values of a file, and the rows of [`super::relations`]. Out: statements, messages and helps.

use super::refusals::Reading;
use super::relations::{NamedValues, Relation, Values, Verb, is_on, of_submit};

/// A statement, a message and a help.
type Related = (usize, String, String);

impl Reading {
    /// The commands that have no effect because of others.
    pub(super) fn related(&self, universe: &str) -> Vec<Related> {
        // Another file may have what is missing, and replace what is there.
        if self.includes {
            return Vec::new();
        }
        let of_row = |row: &'static Relation| match row.verb {
            Verb::Off => self.beside(row, universe),
            Verb::Need | Verb::NeedBeside | Verb::NeedTogether => self.without(row, universe),
            Verb::Most | Verb::Differ => Vec::new(),
        };
        of_submit().iter().flat_map(of_row).collect()
    }

    /// The commands that have no effect beside the first one of a row.
    fn beside(&self, row: &'static Relation, universe: &str) -> Vec<Related> {
        let Some(switch) = row.left.first().filter(|switch| self.certainly_has(switch, universe)) else {
            return Vec::new();
        };
        let value = if switch.name == "universe" { universe.to_owned() } else { self.lower(switch.name) };
        let is_any = switch.values == Values::Any;
        let state = if is_any { "set".to_owned() } else { format!("`{value}`") };
        let commands = row.right.iter().filter_map(|side| Some((side.name, self.value(&[side.name])?)));
        let counts = |text: &str| is_on(&text.to_ascii_lowercase());
        let commands = commands.filter(|(_, (text, _))| counts(text));
        let related = commands.map(|(name, (_, at))| {
            let message = format!("`{name}` has no effect: `{}` is {state}", switch.name);
            (*at, message, format!("remove `{name}`, or change `{}`", switch.name))
        });
        related.collect()
    }

    /// The commands on the left of a row, if none of those on the right is there.
    fn without(&self, row: &'static Relation, universe: &str) -> Vec<Related> {
        if row.right.iter().any(|side| self.possibly_has(side, universe)) {
            return Vec::new();
        }
        let Some(needed) = row.right.first() else { return Vec::new() };
        let is_there = |side: &&NamedValues| self.certainly_has(side, universe);
        let commands = row.left.iter().filter(is_there).filter_map(|side| Some((side, self.value(&[side.name])?)));
        let commands =
            commands.filter(|(side, (text, _))| side.values != Values::Any || is_on(&text.to_ascii_lowercase()));
        let related = commands.map(|(side, (text, at))| {
            let shown =
                if side.values == Values::Any { side.name.to_owned() } else { format!("{} = {text}", side.name) };
            let message = match row.effect {
                Some(effect) => format!("`{shown}` without `{}`: {effect}", needed.name),
                None => format!("`{shown}` has no effect without `{}`", needed.name),
            };
            (*at, message, format!("set `{}` too, or remove `{}`", needed.name, side.name))
        });
        related.collect()
    }

    /// The value of a command, lower case.
    fn lower(&self, name: &str) -> String {
        self.value(&[name]).map(|(text, _)| text.trim().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Tests whether a command certainly has one of some values.
    fn certainly_has(&self, side: &NamedValues, universe: &str) -> bool {
        if side.name == "universe" {
            return is_universe(side, universe);
        }
        let is_one = self.values.get(side.name).is_some_and(|all| all.len() == 1) && !self.is_of_items(side.name);
        let text = self.lower(side.name);
        let is_open = text.contains('$') && !matches!(side.values, Values::Any | Values::Front(_));
        is_one && !is_open && side.values.has(&text)
    }

    /// Tests whether a command may have one of some values.
    fn possibly_has(&self, side: &NamedValues, universe: &str) -> bool {
        if side.name == "universe" {
            return is_universe(side, universe);
        }
        let counts = |text: &str| {
            let text = text.trim().to_ascii_lowercase();
            text.contains('$') || if side.values == Values::Any { is_on(&text) } else { side.values.has(&text) }
        };
        let all = self.values.get(side.name);
        all.is_some_and(|all| all.iter().any(|(text, _)| counts(text))) || self.is_of_items(side.name)
    }
}

/// Tests whether a universe, by its name or its number, is the one of a side.
fn is_universe(side: &NamedValues, universe: &str) -> bool {
    const NUMBERS: [(&str, &str); 2] = [("7", "scheduler"), ("12", "local")];
    let name = NUMBERS.iter().find(|(number, _)| *number == universe).map_or(universe, |(_, name)| name);
    side.values.has(name)
}
