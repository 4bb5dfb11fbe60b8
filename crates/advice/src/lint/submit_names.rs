//! Commands of submit files that are set by another name: the rules know them by the first one, and messages by the one that is written.
//!
//! In: what was read of a file. Out: the same with the names of commands; findings with the names of the file.

use super::refusals::{Reading, refers_to};
use crate::submit::other_names::{self, command_of_other};
use classmate::Diagnostic;

/// A finding about a statement that sets a command by another name, with that name.
pub(super) fn by_written_name(mut found: Diagnostic, statement: &str) -> Diagnostic {
    let written = statement.split('=').next().unwrap_or_default().trim();
    let Some(command) = command_of_other(&written.to_ascii_lowercase()) else { return found };
    let own = format!("`{}`", written.to_ascii_lowercase());
    let named = |text: &str| {
        // It speaks of both names.
        if text.to_ascii_lowercase().contains(&own) {
            return text.to_owned();
        }
        ["`", " = "]
            .iter()
            .fold(text.to_owned(), |text, end| text.replace(&format!("`{command}{end}"), &format!("`{written}{end}")))
    };
    found.message = named(&found.message);
    found.help = found.help.map(|help| named(&help).into());
    found
}

/// Commands whose other name counts.
pub(super) const OTHERS_COUNT: [&str; 2] = ["should_transfer_files", "when_to_transfer_output"];

impl Reading {
    /// Marks the statements that set a name of a command where an earlier name of it is set: the name is a macro then.
    pub(super) fn leave_macros(&mut self) {
        for (command, _) in other_names::rows().filter(|(command, _)| !OTHERS_COUNT.contains(command)) {
            let mut is_set = false;
            for name in other_names::names(command) {
                let statements: Vec<usize> = self.values.get(name).into_iter().flatten().map(|(_, at)| *at).collect();
                for at in statements.iter().filter(|_| is_set) {
                    self.forget(*at);
                    self.macros.insert(*at);
                }
                is_set |= !statements.is_empty();
            }
        }
    }

    /// Tests if a name (lower case) that items set is a macro, because an earlier name of its command is set.
    pub(super) fn is_macro_of_items(&self, name: &str) -> bool {
        command_of_other(name).is_some_and(|command| {
            let mut earlier = other_names::names(command).take_while(|other| *other != name);
            earlier.any(|other| self.values.contains_key(other))
        })
    }

    /// Names the values of commands with other names by the commands. What macros refer to keeps its name too.
    pub(super) fn name_by_command(&mut self) {
        let commands =
            other_names::rows().flat_map(|(command, others)| others.iter().map(move |other| (command, *other)));
        for (command, other) in commands {
            if self.values.contains_key(command) || !self.values.contains_key(other) {
                continue;
            }
            let is_referred =
                self.values.values().flatten().chain(&self.expanded).any(|(text, _)| refers_to(text, other));
            let values = if is_referred { self.values.get(other).cloned() } else { self.values.remove(other) };
            self.values.extend(values.map(|values| (command.to_owned(), values)));
        }
    }
}
