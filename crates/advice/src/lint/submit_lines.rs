//! Lines of a submit file that are not what they look like: comments within values, rows that lack items, commands that are
//! read as parts of the line before.
//!
//! In: the statements of a file. Out: the findings about their lines.

use std::sync::Arc;

use super::{commands, placed};
use crate::submit::queue::{ItemKind, ItemList, QueueStatement};
use crate::submit::statements::{SubmitLine, joined, queue_arguments};
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::{Diagnostic, Span};
use classmate_config::internal::config::BYTE_ORDER_MARK;

/// A byte order mark at the beginning: `condor_submit` takes it for a part of the first name.
pub(super) fn byte_order_mark(file: &Arc<str>, text: &[u8]) -> Option<Diagnostic> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK)?;
    let line = &text[..text.len() - rest.len() + memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let message = "the file starts with a byte order mark, which is not valid in a name";
    let found = Diagnostic::error(message, Span::new(0, BYTE_ORDER_MARK.len())).code("rejected-submit");
    let excerpt = Excerpt { text: line.to_vec(), subject: None };
    Some(placed(found.help("save the file as UTF-8 without the mark"), file, 1, excerpt, None))
}

/// `#SBATCH --mem=4G`: a comment with options of another batch system.
pub(super) fn of_other_system(file: &Arc<str>, all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
    const MARKS: [&[u8]; 4] = [b"#SBATCH -", b"#PBS -", b"#$ -", b"#BSUB -"];
    let (number, _, line) = all.iter().find(|(.., line)| MARKS.iter().any(|mark| line.starts_with(mark)))?;
    let shown = String::from_utf8_lossy(line.trim_ascii()).into_owned();
    let finding = Diagnostic::warning(format!("`{shown}` is a comment"), Span::new(0, shown.len()));
    let help = "HTCondor has commands for requests, such as `request_memory` and `request_cpus`";
    let excerpt = Excerpt { text: line.to_vec(), subject: None };
    Some(placed(finding.help(help).code("odd-command"), file, *number, excerpt, None))
}

/// The rows of items below a `queue` with several variables, `queue a, b from (`.
struct ItemRows<'t> {
    /// The variables, as they are written.
    names: Vec<String>,
    /// The rows with their numbers in the file, from 1: those of which all is known.
    rows: Vec<(u64, &'t [u8])>,
}

impl<'t> ItemRows<'t> {
    fn of(text: &'t [u8], all: &[SubmitLine<'t>]) -> Option<Self> {
        /// Rows that are looked at.
        const MAX_ROWS: usize = 10_000;
        let (number, start, statement) =
            all.iter().find(|(.., line)| queue_arguments(joined(line).trim_ascii()).is_some())?;
        let line = joined(statement);
        let arguments = String::from_utf8_lossy(queue_arguments(line.trim_ascii())?).into_owned();
        let queue = QueueStatement::parse(&arguments).ok()?;
        let is_list = queue.kind == ItemKind::Rows && matches!(queue.list, ItemList::Lines(first) if first.is_empty());
        if !is_list || queue.format.has_header() || queue.names.is_empty() {
            return None;
        }
        let first = number + memchr::memchr_iter(b'\n', statement).count() as u64 + 1;
        let rest = text.get(start + statement.len() + 1..)?;
        let rows = rest.split(|byte| *byte == b'\n').take(MAX_ROWS);
        let rows = rows.take_while(|row| !row.trim_ascii().starts_with(b")"));
        // A separator of its own, and macros, may hold anything.
        let is_unknown = |row: &[u8]| row.iter().any(|byte| matches!(*byte, 0x1F | b'$'));
        let is_known = |row: &[u8]| !(row.is_empty() || row.starts_with(b"#") || is_unknown(row));
        let rows = (first..).zip(rows).filter(|(_, row)| is_known(row.trim_ascii())).collect();
        Some(ItemRows { names: queue.names.iter().map(|name| (*name).to_owned()).collect(), rows })
    }

    /// A finding about one of the rows.
    fn finding(file: &Arc<str>, (number, row): (u64, &[u8]), message: String, help: &str) -> Diagnostic {
        let column = row.len() - row.trim_ascii_start().len();
        let finding = Diagnostic::warning(message, Span::new(column, column + row.trim_ascii().len()));
        let excerpt = Excerpt { text: row.to_vec(), subject: None };
        placed(finding.help(help).code("odd-command"), file, number, excerpt, None)
    }

    /// Tests whether the file uses a variable, and only in such lines, given the command and the value in lower case.
    fn is_used_only(name: &str, all: &[SubmitLine<'_>], is_such: impl Fn(&str, &str) -> bool) -> bool {
        let reference = format!("$({})", name.to_ascii_lowercase());
        let lines = all.iter().map(|(.., line)| String::from_utf8_lossy(line).to_ascii_lowercase());
        let mut uses = lines.filter(|line| line.contains(&reference)).peekable();
        uses.peek().is_some()
            && uses.all(|line| {
                let (command, value) = line.split_once('=').unwrap_or((&line, ""));
                is_such(command.trim(), value.trim())
            })
    }

    /// A row with fewer columns than there are variables: the last ones are empty.
    fn short(&self, file: &Arc<str>, all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
        let is_separator = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        let last = self.names.last()?;
        let whole = format!("$({})", last.to_ascii_lowercase());
        // A program may have no arguments.
        let may_be_empty = Self::is_used_only(last, all, |command, value| is_arguments(command) && value == whole);
        self.rows.iter().find_map(|(number, row)| {
            let items = row.trim_ascii();
            let words = items.split(is_separator).filter(|item| !item.is_empty()).count();
            let columns = items.split(|byte| *byte == b',').count().max(words);
            let (missing, names) = (self.names.get(columns)?, self.names.len());
            if may_be_empty && columns + 1 == names {
                return None;
            }
            let shown = String::from_utf8_lossy(items);
            let message = format!("`{shown}` has {columns} of {names} columns, so `{missing}` is empty");
            Some(Self::finding(file, (*number, row), message, "write a value for each variable of `queue`"))
        })
    }

    /// The only row of one variable, with several words: a line is one item.
    fn joined(&self, file: &Arc<str>, all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
        let ([name], [(number, row)]) = (self.names.as_slice(), self.rows.as_slice()) else { return None };
        let shown = String::from_utf8_lossy(row.trim_ascii()).into_owned();
        let items: Vec<&str> = shown.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
        let is_item = |item: &&str| !item.contains([' ', '\t', '=', '"', '\'', ':']) && !item.starts_with('-');
        // A list of files or of variables of the environment is one value.
        let others = ["output", "error", "log", "batch_name", "executable", "input"];
        let is_one = |command: &str, _: &str| is_arguments(command) || others.contains(&command);
        let is_list = items.len() > 1 && items.iter().all(is_item) && Self::is_used_only(name, all, is_one);
        let message = format!("a line is one item, so this is one job, with `{name}` = `{shown}`");
        let help = format!("write each item on a line of its own, or `queue {name} in ({shown})`");
        let mut found = Self::finding(file, (*number, row), message, &help);
        // One value with commas may be meant.
        found.severity = Severity::Note;
        is_list.then_some(found)
    }

    /// A row with more columns than there are variables: the last one takes the rest of the row, with its commas.
    fn long(&self, file: &Arc<str>, all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
        let last = self.names.last()?;
        // A list of files, or a text in quotes, may have commas.
        let is_plain = |command: &str, value: &str| is_arguments(command) && !value.contains(['\'', '\\']);
        if !Self::is_used_only(last, all, is_plain) {
            return None;
        }
        self.rows.iter().find_map(|(number, row)| {
            let shown = String::from_utf8_lossy(row.trim_ascii());
            let value = remainder(&shown, self.names.len() - 1).filter(|value| value.contains(", "))?;
            let message = format!("`{last}` is `{value}` here: the last variable takes the rest of the row");
            let help =
                "blanks and commas separate: write a variable of `queue` for each column, and items without blanks";
            Some(Self::finding(file, (*number, row), message, help))
        })
    }
}

/// A row of items with fewer or more columns than `queue` has variables.
pub(super) fn odd_row(file: &Arc<str>, text: &[u8], all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
    let rows = ItemRows::of(text, all)?;
    if rows.names.len() == 1 {
        return rows.joined(file, all);
    }
    rows.short(file, all).or_else(|| rows.long(file, all))
}

/// The rest of a row after a number of items, each of which ends with a comma or blanks.
fn remainder(row: &str, count: usize) -> Option<&str> {
    let mut rest = row;
    for _ in 0..count {
        let end = rest.find([',', ' ', '\t'])?;
        let after = rest[end..].trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    Some(rest)
}

/// A command on a line that the `\` at the end of the line before it makes a part of another value.
pub(super) fn joined_command(file: &Arc<str>, statement: &[u8], number: u64) -> Option<Diagnostic> {
    let mut offset = 0;
    for (at, line) in statement.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        let equals = memchr::memchr(b'=', text).unwrap_or_default();
        let name = String::from_utf8_lossy(text[..equals].trim_ascii_end()).to_ascii_lowercase();
        let compares = text.get(equals + 1).is_none_or(|next| b"=?!".contains(next));
        let queues = queue_arguments(text).is_some_and(|rest| rest.trim_ascii().iter().all(u8::is_ascii_digit));
        let is_command = !compares && commands::is_listed(&name);
        let command = if queues {
            Some(("queue".to_owned(), text.len()))
        } else {
            is_command.then(|| (format!("{name} ="), name.len()))
        };
        if let Some((shown, length)) = command.filter(|_| at > 0) {
            let start = offset + line.len() - line.trim_ascii_start().len();
            let message = format!("`{shown}` is a part of the value: the line before it ends with `\\`");
            // The sign is what is too much.
            let sign = memchr::memrchr(b'\\', &statement[..offset]).unwrap_or(start);
            let finding = Diagnostic::warning(message, Span::new(sign, sign + 1));
            let finding = finding.related(Span::new(start, start + length), "a command of its own");
            let excerpt = Excerpt { text: statement.to_vec(), subject: None };
            let help = "remove the `\\` at the end of the line before it";
            return Some(placed(finding.help(help).code("odd-command"), file, number, excerpt, None));
        }
        offset += line.len();
    }
    None
}

/// Returns whether a command, in lower case, sets the arguments of the program.
fn is_arguments(command: &str) -> bool {
    matches!(command, "arguments" | "args")
}

/// A comment between the lines of a statement that does not end in a backslash: it ends the statement.
pub(super) fn comment_in_statement(file: &Arc<str>, statement: &[u8], number: u64) -> Option<Diagnostic> {
    let mut offset = 0;
    for (at, line) in statement.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        if at > 0 && text.starts_with(b"#") && !text.ends_with(b"\\") {
            let start = offset + line.len() - line.trim_ascii_start().len();
            let finding = Diagnostic::error(
                "a comment inside of a continued value ends it",
                Span::new(start, start + text.len()),
            );
            let help = "end the comment line with `\\`, or move it above the command";
            let excerpt = Excerpt { text: statement.to_vec(), subject: None };
            return Some(placed(finding.help(help).code("comment-in-value"), file, number, excerpt, None));
        }
        offset += line.len();
    }
    None
}
