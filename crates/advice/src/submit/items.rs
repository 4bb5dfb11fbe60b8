//! The items of a `queue` statement and the values that they give to its variables, as `condor_submit` reads them.
//!
//! In: a `queue` statement, the lines after it, and the folder of its files. Out: the items, each with its values.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexSet;

use super::is_true;
use super::queue::{ItemKind, ItemList, PathKind, QueueStatement, number};
use classmate_config::internal::config::disk::io_reason;

/// The form of items that have columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowFormat {
    /// The row with the names of the columns, from 0.
    header: Option<usize>,
    /// Rows after it that are no items.
    skip: usize,
    /// Blanks separate columns too.
    at_blanks: bool,
    /// Values have no blanks around them.
    trims: bool,
    separator: Option<char>,
}

/// The form of items without `table`.
impl Default for RowFormat {
    fn default() -> Self {
        RowFormat { header: None, skip: 0, at_blanks: true, trims: true, separator: Some(',') }
    }
}

impl RowFormat {
    /// True if a row has the names of the columns.
    pub(crate) fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// The options that follow the word `table`, and their length; `None` if they are not closed.
    pub(super) fn of_table(text: &str) -> Option<(Self, usize)> {
        let mut format = RowFormat { header: Some(0), at_blanks: false, ..RowFormat::default() };
        let Some(options) = text.strip_prefix('(') else { return Some((format, 0)) };
        let options = &options[..options.find(')')?];
        let count = |text: &str| number(text).map(f64::trunc);
        for option in options.split(',').map(str::trim) {
            let (key, value) = option.split_once('=').map_or((option, ""), |(key, value)| (key.trim(), value.trim()));
            let is_set = || number(value).map(|number| number != 0.0).or_else(|| is_true(value).then_some(true));
            match key.to_ascii_lowercase().as_str() {
                "standard" => format = RowFormat::default(),
                "csv" => format = RowFormat { at_blanks: false, ..RowFormat::default() },
                "header" if value.eq_ignore_ascii_case("none") => format.header = None,
                "header" => {
                    format.header = count(value).map_or(format.header, |row| (row >= 0.0).then_some(row as usize));
                }
                "skip" => format.skip = count(value).map_or(format.skip, |rows| rows as usize),
                "trim" => format.trims = is_set().unwrap_or(format.trims),
                "comma_sep" => {
                    format.separator = is_set().map_or(format.separator, |is_set| is_set.then_some(','));
                }
                "sep" => format.separator = value.chars().next(),
                _ => {}
            }
        }
        Some((format, options.len() + 2))
    }

    /// The columns of a row, at most so many: the last one has the rest, and missing ones are empty. None of a blank row.
    fn columns<'r>(&self, row: &'r str, most: Option<usize>) -> Vec<&'r str> {
        const BLANKS: [char; 2] = [' ', '\t'];
        let usual = *self == RowFormat::default();
        let (separator, at_blanks) = match self.separator {
            _ if usual && row.contains('\u{1f}') => ('\u{1f}', false),
            Some(separator) => (separator, self.at_blanks),
            // Without a separator `condor_submit` takes the usual ones.
            None => (',', true),
        };
        let is_end = |sign: char| sign == separator || at_blanks && BLANKS.contains(&sign);
        let trimmed = |text: &'r str| if self.trims { text.trim_matches(BLANKS) } else { text };
        let (mut rest, mut columns) = (trimmed(row), Vec::new());
        if rest.is_empty() {
            return columns;
        }
        while most.is_none_or(|most| columns.len() + 1 < most) {
            let Some((column, after)) = rest.split_once(is_end) else { break };
            columns.push(if self.trims { column.trim_end_matches(BLANKS) } else { column });
            rest = if self.trims { after.trim_start_matches(BLANKS) } else { after };
        }
        columns.push(rest);
        columns.resize(most.unwrap_or(columns.len()), "");
        columns
    }
}

/// The items of a `queue` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueItems {
    /// The variables that items set; none without items.
    pub names: Vec<String>,
    /// The items as they are written, before a slice is taken.
    pub rows: Vec<String>,
    format: RowFormat,
    /// The fault of the heading of a table; the heading is an item then.
    pub heading_fault: Option<String>,
}

impl QueueItems {
    /// The items of a statement; `lines` is the text after an open list, and files are relative to the `folder`: without one,
    /// none can be read.
    pub(crate) fn of(queue: &QueueStatement<'_>, lines: &str, folder: Option<&Path>) -> Result<Self, String> {
        let rows = match &queue.list {
            ItemList::None => vec![String::new()],
            ItemList::Here(text) => split(text, queue.kind),
            ItemList::File(name) => {
                let text = read(name, folder)?;
                joined(&text)
            }
            ItemList::Lines(first) => {
                let mut all = if first.is_empty() { Vec::new() } else { split(first, queue.kind) };
                let lines = joined(lines);
                let end = lines.iter().position(|line| line.starts_with(')'));
                let end = end.ok_or("the list of items has no line with `)` at its end")?;
                let items = lines[..end].iter().filter(|line| !line.starts_with('#'));
                all.extend(items.flat_map(|line| split(line, queue.kind)));
                all
            }
        };
        let rows = match queue.kind {
            ItemKind::Paths(kind) => matching(&rows, kind, folder)?,
            _ => rows,
        };
        let names = queue.names.iter().map(ToString::to_string).collect();
        let mut items = QueueItems { names, rows, format: queue.format.clone(), heading_fault: None };
        items.heading_fault = items.take_heading();
        Ok(items)
    }

    /// Takes the names of variables from the heading of a table. Returns what is wrong with it.
    fn take_heading(&mut self) -> Option<String> {
        let at = self.format.header?;
        let Some(heading) = self.rows.get(at) else {
            return Some(format!("the table has {} rows; its heading would be row {}", self.rows.len(), at + 1));
        };
        let names: Vec<String> = self.format.columns(heading, None).into_iter().map(str::to_owned).collect();
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./".contains(&byte))
        };
        if let Some(wrong) = names.iter().find(|name| !is_name(name)) {
            return Some(format!("`{wrong}` in the heading of the table is not a name of a variable"));
        }
        self.rows.remove(at);
        if let Some(before) = at.checked_sub(1) {
            // One row before the heading remains, and rows to skip are those before it, as in `condor_submit`.
            self.rows.drain(..before.saturating_add(self.format.skip).min(self.rows.len()));
        }
        if names.is_empty() {
            return Some("the heading of the table is empty".to_owned());
        }
        self.names = names;
        None
    }

    /// The values that an item gives to the variables; none if it is blank.
    pub fn values<'r>(&self, row: &'r str) -> Vec<&'r str> {
        self.format.columns(row, Some(self.names.len()))
    }
}

/// The items in a text: the text, or each of its words.
fn split(text: &str, kind: ItemKind) -> Vec<String> {
    if kind == ItemKind::Rows {
        return vec![text.to_owned()];
    }
    text.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The lines of a text without blanks around them; one that ends in `\` goes on on the next.
fn joined(text: &str) -> Vec<String> {
    let (mut all, mut open): (Vec<String>, Option<String>) = (Vec::new(), None);
    for line in text.lines().map(str::trim) {
        let mut whole = open.take().unwrap_or_default();
        match line.strip_suffix('\\') {
            Some(part) => {
                whole.push_str(part);
                open = Some(whole);
            }
            None => {
                whole.push_str(line);
                all.push(whole);
            }
        }
    }
    all.extend(open);
    all
}

/// The text of a file with items.
fn read(name: &str, folder: Option<&Path>) -> Result<String, String> {
    let cannot = |reason: &str| format!("cannot read the items of `queue` from `{name}`: {reason}");
    if name.ends_with('|') {
        return Err(cannot("it is a program, which is not run"));
    }
    let folder = folder.ok_or_else(|| cannot("no files are read here"))?;
    let text = std::fs::read(folder.join(name)).map_err(|error| cannot(&io_reason(&error)))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The paths that match patterns, those of each pattern in order, each once; directories end with `/`.
fn matching(patterns: &[String], kind: PathKind, folder: Option<&Path>) -> Result<Vec<String>, String> {
    let mut found: IndexSet<String> = IndexSet::new();
    for pattern in patterns {
        let cannot = |reason: String| format!("cannot look for files that match `{pattern}`: {reason}");
        let folder = folder.ok_or_else(|| cannot("no files are read here".to_owned()))?;
        let start = if folder.as_os_str().is_empty() { String::new() } else { format!("{}/", folder.display()) };
        let start = if Path::new(pattern).is_absolute() { String::new() } else { start };
        let whole = format!("{}{}", glob::Pattern::escape(&start), as_of_glob(pattern));
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let paths = glob::glob_with(&whole, options).map_err(|error| cannot(error.to_string()))?;
        let mut of_pattern = BTreeSet::new();
        for path in paths.flatten() {
            let mut text = path.to_string_lossy().into_owned();
            let is_folder = path.is_dir();
            text = text.strip_prefix(&start).map(str::to_owned).unwrap_or(text);
            if pattern.starts_with("./") && !text.starts_with("./") {
                text.insert_str(0, "./");
            }
            if is_folder && !text.ends_with('/') {
                text.push('/');
            }
            let is_kind = match kind {
                PathKind::Unstated | PathKind::Any => true,
                PathKind::Files => !is_folder,
                PathKind::Directories => is_folder,
            };
            if is_kind {
                of_pattern.insert(text);
            }
        }
        found.extend(of_pattern);
    }
    Ok(found.into_iter().collect())
}

/// A pattern of the C library's `glob` for ours: `[^a]` is `[!a]`, `\\*` is `[*]`, `**` is `*`, and a bracket that is not closed is
/// a bracket.
fn as_of_glob(pattern: &str) -> String {
    let mut whole = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(sign) = rest.chars().next() {
        rest = &rest[sign.len_utf8()..];
        match sign {
            '\\' => {
                let Some(escaped) = rest.chars().next() else { break };
                whole.push_str(&glob::Pattern::escape(&rest[..escaped.len_utf8()]));
                rest = &rest[escaped.len_utf8()..];
            }
            '*' if whole.ends_with('*') => {}
            '[' => {
                let negated = rest.starts_with(['^', '!']);
                let inside = if negated { &rest[1..] } else { rest };
                // A bracket that comes first is one of the signs.
                let end = inside.char_indices().skip(1).find(|(_, sign)| *sign == ']').map(|(at, _)| at);
                let Some(end) = end else {
                    whole.push_str("[[]");
                    continue;
                };
                whole.push_str(if negated { "[!" } else { "[" });
                whole.push_str(&inside[..=end]);
                rest = &inside[end + 1..];
            }
            sign => whole.push(sign),
        }
    }
    whole
}
