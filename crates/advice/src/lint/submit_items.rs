//! Macros whose value depends on the items of `queue`: indexes of `$CHOICE` that no item has, and parts of paths that all items share.
//!
//! In: the arguments of `queue`, and the values of commands. Out: errors of the rule `rejected-submit`, and values without these parts.

use super::refusals::Refused;
use super::submit_macros::{BUILT_IN, Macros, NOT_ASKED};
use super::submit_queue::items;
use crate::submit::queue::{ItemKind, ItemList, QueueStatement};
use classmate::{Diagnostic, Span};

impl Macros<'_> {
    /// `$CHOICE(Process, a, b)` beside `queue 3`: the index is not in the list, and `condor_submit` ends with an error (HTCondor's
    /// `config.cpp`).
    pub(super) fn choices(&self, statements: &[String]) -> Vec<Refused> {
        const CALL: &str = "$CHOICE(";
        let mut found = Vec::new();
        let arguments = self.reading.queue_text();
        let Some(queue) = QueueStatement::parse(&arguments).ok().filter(is_counted) else { return found };
        let Some(jobs) = queue.jobs() else { return found };
        let values = self.reading.values.iter().filter(|(name, _)| self.expands(name));
        for (text, at) in values.flat_map(|(_, all)| all) {
            let Some(start) = text.find(CALL).filter(|start| !text[..*start].ends_with('$')) else { continue };
            let inner = &text[start + CALL.len()..];
            let Some(inner) =
                inner.find([')', '$']).filter(|end| inner[*end..].starts_with(')')).map(|end| &inner[..end])
            else {
                continue;
            };
            let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
            let last = match parts[0].to_ascii_lowercase().as_str() {
                "process" | "procid" => jobs * items(&queue) - 1,
                "step" => jobs - 1,
                "row" | "itemindex" => items(&queue) - 1,
                _ => continue,
            };
            let Some(count) = self.count(&parts).filter(|count| *count <= last) else { continue };
            let Some(statement) = statements.get(*at) else { continue };
            let call = format!("{CALL}{inner})");
            let Some(begin) = statement.find(&call) else { continue };
            let several = if count == 1 { "1 item".to_owned() } else { format!("{count} items") };
            let message = format!("`{call}` has {several}, and `{}` is up to {last}", parts[0]);
            let finding = Diagnostic::error(message, Span::new(begin, begin + call.len())).code("rejected-submit");
            found.push((*at, finding.help("write an item for each value of the index; the first one has the index 0")));
        }
        found
    }

    /// `$CHOICE(mode, a, b)`: the index is neither a number nor a macro that is one, and `condor_submit` ends with an error.
    pub(super) fn indexes(&self, statements: &[String]) -> Vec<Refused> {
        const CALL: &str = "$CHOICE(";
        let mut found = Vec::new();
        let is_inner = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let is_word = |text: &str| {
            text.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_') && text.chars().all(is_inner)
        };
        for (text, at) in self.reading.values.iter().filter(|(name, _)| self.expands(name)).flat_map(|(_, all)| all) {
            let Some(start) = text.find(CALL).filter(|start| !text[..*start].ends_with('$')) else { continue };
            let inner = &text[start + CALL.len()..];
            let Some((index, after)) = inner.split_once(',') else { continue };
            let name = index.trim();
            let lower = name.to_ascii_lowercase();
            let is_open = self.reading.includes
                || self.reading.is_of_items(&lower)
                || self.reading.given.contains(&lower)
                || NOT_ASKED.contains(&lower.as_str());
            let is_no_number = match self.reading.values.get(&lower).map(Vec::as_slice) {
                None => !BUILT_IN.contains(&lower.as_str()),
                Some([(value, _)]) => is_word(value),
                Some(_) => false,
            };
            let (true, Some(statement)) = (is_word(name) && !is_open && is_no_number, statements.get(*at)) else {
                continue;
            };
            let end = after.find(')').map_or(inner.len(), |end| index.len() + end + 2);
            let call = &text[start..start + CALL.len() + end.min(inner.len())];
            let begin = statement.find(call).unwrap_or_default();
            let message =
                format!("`{name}` is neither a number nor a macro that is one: `condor_submit` rejects the file");
            let finding = Diagnostic::error(message, Span::new(begin, begin + call.len())).code("rejected-submit");
            found.push((*at, finding.help("write the index of an item, of which the first one has 0, or `Process`")));
        }
        found
    }

    /// The number of items of the list in the arguments of `$CHOICE`: its own, or those of the macro that it names.
    fn count(&self, arguments: &[&str]) -> Option<usize> {
        let [_, list] = arguments else { return Some(arguments.len() - 1).filter(|count| *count > 0) };
        let list = list.to_ascii_lowercase();
        let [(text, _)] = self.reading.values.get(&list)?.as_slice() else { return None };
        let is_known = !text.contains(['$', '"']) && !text.is_empty() && !self.reading.is_of_items(&list);
        (is_known && !self.reading.includes).then(|| text.split(',').count())
    }
}

/// Tests whether the number of items is known.
fn is_counted(queue: &QueueStatement<'_>) -> bool {
    match queue.list {
        ItemList::None => true,
        ItemList::Here(text) => queue.kind == ItemKind::Words && queue.slice.is_none() && !text.contains('$'),
        ItemList::File(_) | ItemList::Lines(_) => false,
    }
}

/// A value without the calls that are the same for all items: `$Fx(file)` beside `queue file in (a.csv, b.csv)`.
pub(super) fn without_same_parts(value: &str, queue: &QueueStatement<'_>) -> String {
    let mut rest = value.to_owned();
    let ItemList::Here(text) = queue.list else { return rest };
    let [name] = queue.names.as_slice() else { return rest };
    if queue.kind == ItemKind::Rows || text.contains(['$', '"', '\'']) {
        return rest;
    }
    let all: Vec<&str> = text.split([',', ' ', '\t']).filter(|item| !item.is_empty()).collect();
    for (at, _) in value.match_indices("$F").filter(|(at, _)| !value[..*at].ends_with('$')) {
        let Some((letters, inner)) = value[at + 2..].split_once('(') else { continue };
        let Some((macro_, _)) = inner.split_once(')').filter(|(macro_, _)| macro_.trim().eq_ignore_ascii_case(name))
        else {
            continue;
        };
        let mut parts = all.iter().map(|item| part(letters, item));
        let Some(Some(first)) = parts.next() else { continue };
        // A pattern may match any name.
        if parts.all(|other| other.as_ref() == Some(&first)) && !first.contains(['*', '?', '[']) {
            rest = rest.replace(&format!("$F{letters}({macro_})"), "");
        }
    }
    rest
}

/// The part of a path that the letters of a function name; none for letters of which this says nothing.
fn part(letters: &str, path: &str) -> Option<String> {
    let base = path.rfind('/').map_or(0, |slash| slash + 1);
    let end = path[base..].rfind('.').map_or(path.len(), |dot| base + dot);
    if letters.is_empty() || !letters.chars().all(|letter| "pnx".contains(letter)) {
        return None;
    }
    let of = |letter: char, text: &str| if letters.contains(letter) { text.to_owned() } else { String::new() };
    Some([of('p', &path[..base]), of('n', &path[base..end]), of('x', &path[end..])].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_all_items_share_are_left_out() {
        let without = |value: &str, queue: &str| without_same_parts(value, &QueueStatement::parse(queue).unwrap());
        assert_eq!(without("r/$Fx(f).out", "f in (a/x.csv, a/y.csv)"), "r/.out");
        assert_eq!(without("$Fp(f)$Fn(f).out", "f in (a/x.csv, a/y.csv)"), "$Fn(f).out");
        assert_eq!(without("$Fx(f).out", "f matching files a/*.csv"), ".out");
        for (value, queue) in [
            ("$Fx(f).out", "f in (x.csv, x.txt)"),
            ("$Fn(f).out", "f matching files a/*.csv"),
            ("$Fx(f).out", "f from list.txt"),
            ("$Fqx(f).out", "f in (x.csv, y.csv)"),
            ("$Fx(g).out", "f in (x.csv, y.csv)"),
        ] {
            assert_eq!(without(value, queue), value, "{queue}");
        }
    }
}
