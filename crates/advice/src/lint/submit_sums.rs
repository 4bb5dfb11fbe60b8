//! Sums and products of macros in submit files that are used as texts: `condor_submit` replaces macros, and calculates nothing.
//!
//! In: the macros of a file, and the values of its commands. Out: warnings of the rule `odd-command`.

use super::commands::is_command;
use super::refusals::Refused;
use super::submit_macros::Macros;
use super::submit_notations::OF_JOBS;
use super::submit_odd::{FILES, is_for_shell};
use super::submit_programs::base;
use classmate::{Diagnostic, Span};

/// Commands whose values are texts, beside those that are the name of a file.
const TEXTS: [&str; 6] = [
    "arguments",
    "environment",
    "environment2",
    "transfer_input_files",
    "transfer_output_files",
    "transfer_output_remaps",
];

/// Programs that calculate.
const CALCULATORS: [&str; 5] = ["awk", "bc", "dc", "eval", "expr"];

/// Macros that refer to macros, one within the other.
const MAX_DEPTH: usize = 8;

impl Macros<'_> {
    /// `arguments = --seed $(seed)` with `seed = $(Process) + 1000`: the job gets `0 + 1000`.
    pub(super) fn sums_as_texts(&self, statements: &[String]) -> Vec<Refused> {
        let mut found = Vec::new();
        let values = &self.reading.values;
        let program = self.reading.value(&["executable"]).map_or("", |(text, _)| base(text));
        if self.reading.includes || CALCULATORS.contains(&program) {
            return found;
        }
        let is_environment = |name: &str| name.starts_with("environment");
        let is_text = |name: &str| TEXTS.contains(&name) || FILES.contains(&name);
        let of_texts = values.iter().filter(|(name, _)| is_text(name));
        for (command, (text, at)) in of_texts.flat_map(|(name, all)| all.iter().map(move |one| (name, one))) {
            // A shell calculates `$(( … ))`.
            if is_for_shell(text) || text.contains("$((") || text.contains('`') {
                continue;
            }
            let Some(statement) = statements.get(*at) else { continue };
            for (start, _) in text.match_indices("$(").filter(|(start, _)| !text[..*start].ends_with('$')) {
                let Some(length) = text[start..].find(')') else { continue };
                let (reference, name) = (&text[start..=start + length], &text[start + 2..start + length]);
                let Some(value) = self.sum(&name.to_ascii_lowercase(), 0) else { continue };
                // In quotes, blanks end the value of a variable, and `condor_submit` rejects the operator.
                if text.starts_with('"') && value.contains(' ') && is_environment(command) {
                    continue;
                }
                let begin = statement.find(reference).unwrap_or_default();
                let function = if value.contains('.') { "REAL" } else { "INT" };
                let message = format!("`{reference}` is the text `{value}` here, and not its result");
                let span = Span::new(begin, begin + reference.len());
                let help = format!("write `${function}({name})`: macros are replaced, and not calculated");
                found.push((*at, Diagnostic::warning(message, span).help(help).code("odd-command")));
                break;
            }
        }
        found
    }

    /// The value of a macro (lower case) that is a sum or a product of numbers and of macros that are numbers.
    fn sum(&self, name: &str, depth: usize) -> Option<&str> {
        let is_own = !is_command(name) && !self.reading.is_of_items(name) && !self.reading.given.contains(name);
        let [(text, at)] = self.reading.values.get(name).filter(|_| is_own)?.as_slice() else { return None };
        let is_sum = depth < MAX_DEPTH && !self.reading.doubtful.contains(at) && self.is_sum(text, depth);
        is_sum.then_some(text)
    }

    /// Tests whether a text is a sum or a product with a macro in it. `-` and `/` between blanks alone: they are signs of names too.
    fn is_sum(&self, text: &str, depth: usize) -> bool {
        let (mut rest, mut operators, mut macros) = (text.trim(), 0, 0);
        loop {
            rest = rest.trim_start_matches(['(', ' ', '\t']);
            if let Some(inner) = rest.strip_prefix("$(") {
                let Some((name, after)) = inner.split_once(')') else { return false };
                if !self.is_number(&name.to_ascii_lowercase(), depth) {
                    return false;
                }
                macros += 1;
                rest = after;
            } else {
                let after = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
                if rest[..rest.len() - after.len()].parse::<f64>().is_err() {
                    return false;
                }
                rest = after;
            }
            let after = rest.trim_start_matches([')', ' ', '\t']);
            if after.is_empty() {
                return operators > 0 && macros > 0;
            }
            let is_apart = rest.len() > after.len() && after[1..].starts_with([' ', '\t']);
            rest = match after.strip_prefix(['+', '*']) {
                Some(next) => next,
                None => match after.strip_prefix(['-', '/', '%']).filter(|_| is_apart) {
                    Some(next) => next,
                    None => return false,
                },
            };
            operators += 1;
        }
    }

    /// Tests whether a macro (lower case) is a number, or is calculated from numbers.
    fn is_number(&self, name: &str, depth: usize) -> bool {
        let is_own_number = || {
            let Some([(text, at)]) = self.reading.values.get(name).map(Vec::as_slice) else { return false };
            !self.reading.doubtful.contains(at) && text.trim().parse::<f64>().is_ok()
        };
        let is_set = self.reading.values.contains_key(name) || self.reading.is_of_items(name);
        (!is_set && OF_JOBS.contains(&name) && name != "item")
            || !self.reading.is_of_items(name) && is_own_number()
            || self.sum(name, depth + 1).is_some()
    }
}
