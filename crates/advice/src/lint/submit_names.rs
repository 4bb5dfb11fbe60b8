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
    let named = |text: &str| {
        ["`", " = "]
            .iter()
            .fold(text.to_owned(), |text, end| text.replace(&format!("`{command}{end}"), &format!("`{written}{end}")))
    };
    found.message = named(&found.message);
    found.help = found.help.map(|help| named(&help).into());
    found
}

impl Reading {
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
