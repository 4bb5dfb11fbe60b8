//! Values of commands with their macros replaced, where the file gives the macros one value, or its items do.
//!
//! In: what was read of a file, and its text. Out: the findings about these values that the values as they are written do not have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::commands::is_command;
use super::expression::MAX_TEXT;
use super::placed;
use super::refusals::{Reading, error, refers_to, warning};
use super::submit::command;
use super::submit_expressions::Own;
use super::submit_names::by_written_name;
use super::submit_notations::is_of_path;
use super::submit_odd::odd_value;
use super::submit_values::{bad_value, may_expand};
use super::templates::placeholders;
use crate::submit::expanded::values_of_items;
use crate::submit::other_names::command_of_other;
use crate::submit::statements::SubmitLine;
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::{Diagnostic, Span};

/// Macros that refer to macros, one within the other.
const MAX_DEPTH: usize = 16;

/// Letters of a value that a message repeats.
const MAX_SHOWN: usize = 100;

impl Reading {
    /// The commands whose values have macros that are all known, with the values and their statements.
    fn known_commands(&self) -> Vec<(&str, &str, usize)> {
        if self.includes || self.queued.is_none() {
            return Vec::new();
        }
        let (mut found, mut names) = (Vec::new(), BTreeMap::new());
        for (name, all) in &self.values {
            let [(text, at)] = all.as_slice() else { continue };
            let counts = (is_command(name) || name.starts_with("my."))
                && !self.doubtful.contains(at)
                && !self.macros.contains(at)
                && text.len() <= MAX_TEXT
                && may_expand(text)
                && self.is_known(text, 0, &mut names);
            found.extend(counts.then_some((name.as_str(), text.as_str(), *at)));
        }
        // What the items set directly.
        if let Some((at, names)) = self.queue_names().filter(|_| self.has_items_here) {
            let set = names.iter().filter(|name| is_command(name) && !self.is_macro_of_items(name));
            found.extend(set.map(|name| (name.as_str(), "", *at)));
        }
        found
    }

    /// Tests whether a text has only macros of which the file gives the value.
    fn is_known(&self, text: &str, depth: usize, names: &mut BTreeMap<String, bool>) -> bool {
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        depth < MAX_DEPTH
            && text.match_indices('$').all(|(at, _)| {
                let rest = &text[at + 1..];
                let end = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
                let Some(inner) = rest[end..].strip_prefix('(') else {
                    // Two signs begin what the slot gives.
                    return !(rest.starts_with('$') && may_expand(&text[at..]));
                };
                let length = inner.find(|sign| !is_name(sign)).unwrap_or(inner.len());
                let (name, after) = (inner[..length].to_ascii_lowercase(), &inner[length..]);
                let is_function = ["INT", "REAL", "SUBSTR"].contains(&&rest[..end]) || is_of_path(&rest[..end]);
                let ends = match end {
                    0 => after.starts_with(')'),
                    _ => is_function && after.starts_with([')', ',']),
                };
                ends && self.is_known_name(name, depth, names)
            })
    }

    /// Tests whether the file gives a macro (lower case) its value. `names` are those of which it is known.
    fn is_known_name(&self, name: String, depth: usize, names: &mut BTreeMap<String, bool>) -> bool {
        const OF_JOBS: [&str; 7] = ["process", "procid", "cluster", "clusterid", "step", "row", "itemindex"];
        if let Some(known) = names.get(&name) {
            return *known;
        }
        let is_known = if self.given.contains(&name) {
            false
        } else if self.is_of_items(&name) {
            self.has_items_here
        } else {
            match self.values.get(&name).map(Vec::as_slice) {
                Some([(text, at)]) => !self.doubtful.contains(at) && self.is_known(text, depth + 1, names),
                Some(_) => false,
                None => OF_JOBS.contains(&name.as_str()),
            }
        };
        names.insert(name, is_known);
        is_known
    }

    /// The arguments of `queue`, with the values of the macros that the file defines; empty without such a statement.
    pub(super) fn queue_text(&self) -> String {
        let queue = self.queued.as_ref().map(|(at, _)| *at);
        let text = self.expanded.iter().find(|(_, at)| Some(*at) == queue).map_or("", |(text, _)| text.as_str());
        if self.includes || !text.contains('$') {
            return text.to_owned();
        }
        let value = |name: &str| match self.values.get(name)?.as_slice() {
            [(value, at)] if !self.doubtful.contains(at) && !self.given.contains(name) && !value.contains('$') => {
                Some(value)
            }
            _ => None,
        };
        let (mut replaced, mut rest) = (String::new(), text);
        while let Some((before, inner)) = rest.split_once("$(") {
            replaced.push_str(before);
            let name = inner.split(')').next().unwrap_or_default();
            match value(&name.to_ascii_lowercase()).filter(|_| name.len() < inner.len() && !before.ends_with('$')) {
                Some(value) => {
                    replaced.push_str(value);
                    rest = &inner[name.len() + 1..];
                }
                None => {
                    replaced.push_str("$(");
                    rest = inner;
                }
            }
        }
        replaced + rest
    }

    /// The statement that defines the one macro of which a value consists.
    fn definition(&self, text: &str) -> Option<usize> {
        let name = text.strip_prefix("$(")?.strip_suffix(')')?.to_ascii_lowercase();
        let [(value, at)] = self.values.get(&name)?.as_slice() else { return None };
        // What several statements refer to may be right for the others.
        let mut others =
            self.values.values().flatten().chain(&self.expanded).filter(|(text, _)| refers_to(text, &name));
        let is_only = others.next().is_some() && others.next().is_none();
        (!may_expand(value) && !is_command(&name) && is_only).then_some(*at)
    }
}

/// The findings about values with macros that are known, in statements of which nothing else was found.
pub(super) fn find(
    (file, own): (&Arc<str>, &Own),
    text: &[u8],
    (all, lines): (&[SubmitLine<'_>], &[String]),
    reading: &Reading,
    reported: &BTreeSet<usize>,
) -> Vec<Diagnostic> {
    let mut commands = reading.known_commands();
    commands.retain(|(_, _, at)| !reported.contains(at));
    // What fills in a template decides its values.
    if commands.is_empty() || !placeholders(lines).is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = commands.iter().map(|(name, ..)| *name).collect();
    let Some(rows) = values_of_items(text, &names) else { return Vec::new() };
    let mut found = Vec::new();
    for (column, (name, written, at)) in commands.iter().enumerate() {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let values = rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        let is_of_items = written.is_empty();
        let mut values = values
            .filter(|value| !value.is_empty() && value.len() <= MAX_TEXT && !may_expand(value) && seen.insert(value));
        let Some(line) = lines.get(*at) else { continue };
        let front = if is_of_items { name } else { line.split('=').next().unwrap_or_default() };
        let odd = values.find_map(|value| Some((value, fault((file, own), name, front, value)?)));
        let Some((value, mut one)) = odd else { continue };
        let place = reading.definition(written).filter(|place| !reported.contains(place)).unwrap_or(*at);
        let (Some((number, _, statement)), Some(statement_line)) = (all.get(place), lines.get(place)) else { continue };
        if place != *at {
            one.message = format!("`{name}` has this value: {}", one.message);
        } else if is_of_items {
            one.message = format!("an item sets `{name}`: {}", one.message);
        } else {
            let shown: String = value.chars().take(MAX_SHOWN).collect();
            let dots = if shown.len() < value.len() { "…" } else { "" };
            one = one.more_help(format!("with its macros replaced, the value is `{shown}{dots}`"));
        }
        let start = statement_line.len() - statement_line.trim_start().len();
        one.span = Span::new(start, statement_line.trim_end().len().max(start));
        let subject = Some(statement_line.split('=').next().unwrap_or_default().trim().to_owned());
        let severity = one.severity;
        let mut one = placed(one, file, *number, Excerpt { text: statement.to_vec(), subject }, None);
        one.severity = severity;
        found.push(one);
    }
    found
}

/// The fault of a value of a command.
fn fault((file, own): (&Arc<str>, &Own), name: &str, front: &str, value: &str) -> Option<Diagnostic> {
    let line = &format!("{front}= {value}");
    let name = &name.to_ascii_lowercase();
    let name = command_of_other(name).unwrap_or(name);
    if let Some((message, help)) = bad_value(name, value) {
        return Some(by_written_name(error(message, line, help), line));
    }
    if let Some((message, help)) = odd_value(name, value) {
        return Some(by_written_name(warning(message, line, help).code("odd-command"), line));
    }
    let all = command((file, own), line.as_bytes(), (1, 0));
    let mut one = all.into_iter().find(|one| one.severity == Severity::Error || SURE.contains(&one.code))?;
    // How the file may say it, the macros decide.
    one.help = one.help.filter(|_| one.code != "syntax");
    one.fix = None;
    one.related = None;
    one.place = None;
    one.excerpt = None;
    Some(one)
}

/// Rules that hold also where another value of a macro would do something else.
const SURE: [&str; 9] = [
    "bad-argument",
    "bitwise-operator",
    "integer-division",
    "odd-command",
    "odd-unit",
    "single-quotes",
    "size-suffix",
    "type-clash",
    "unquoted-word",
];
