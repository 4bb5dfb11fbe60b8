//! The arguments of `queue`, read as `condor_submit` reads them.
//!
//! In: the text after the word `queue`, on one line. Out: the number of jobs of each item as it is written, the variables,
//! and the items or the place where they are, or what is wrong. Macros are expanded, if at all, before.

use super::items::RowFormat;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, ParseOptions};

/// A `queue` statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueStatement<'q> {
    /// The number of jobs of each item; empty for one.
    pub(crate) count: &'q str,
    /// The variables that items set, in order.
    pub(crate) names: Vec<&'q str>,
    pub(crate) kind: ItemKind,
    pub(crate) list: ItemList<'q>,
    /// `[start:end:step]`: the items that are used.
    pub(crate) slice: Option<Slice>,
    /// The columns of items.
    pub(crate) format: RowFormat,
}

/// The kind of items, after the keyword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// `in`: words.
    #[default]
    Words,
    /// `from`: lines.
    Rows,
    /// `matching`: paths that match patterns.
    Paths(PathKind),
}

/// The paths that match a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKind {
    /// Those that `submit_match_directories` says; all unless it is set.
    Unstated,
    /// `any`.
    Any,
    /// `files`: all except directories.
    Files,
    /// `dirs`.
    Directories,
}

/// The items of a `queue` statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum ItemList<'q> {
    /// No list: one item that sets nothing.
    #[default]
    None,
    /// Items on the line of the statement, with or without parentheses.
    Here(&'q str),
    /// `from file`.
    File(&'q str),
    /// An open list: this text, and the lines up to one that begins with `)`.
    Lines(&'q str),
}

/// The first, the last and the distance of the items that are used, as in Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
}

/// The part of a `queue` statement that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueueFault {
    /// A word that the keyword before the items does not take.
    Word(String),
    /// A slice in another form.
    Slice(String),
    /// Options of a table without a closing parenthesis.
    Table,
}

impl<'q> QueueStatement<'q> {
    /// Reads the arguments.
    pub(crate) fn parse(text: &'q str) -> Result<Self, QueueFault> {
        let text = text.trim();
        let Some((start, end, keyword)) = keyword(text) else {
            return Ok(QueueStatement { count: text, ..QueueStatement::default() });
        };
        let mut queue = QueueStatement { kind: keyword, ..QueueStatement::default() };
        let mut rest = text[end..].trim_start();
        while !rest.starts_with('(') {
            let Some(word_end) = rest.find(is_delimiter) else { break };
            let word = &rest[..word_end];
            if word.starts_with('[') {
                let (slice, length) = Slice::parse(rest).ok_or_else(|| QueueFault::Slice(word.to_owned()))?;
                queue.slice = Some(slice);
                rest = rest[length..].trim_start();
                continue;
            }
            rest = match (word.to_ascii_lowercase().as_str(), queue.kind) {
                ("table", ItemKind::Rows) => {
                    let (format, length) = RowFormat::of_table(&rest[word_end..]).ok_or(QueueFault::Table)?;
                    queue.format = format;
                    &rest[word_end + length..]
                }
                (lower @ ("files" | "dirs" | "any"), ItemKind::Paths(PathKind::Unstated)) => {
                    queue.kind = ItemKind::Paths(match lower {
                        "files" => PathKind::Files,
                        "dirs" => PathKind::Directories,
                        _ => PathKind::Any,
                    });
                    &rest[word_end..]
                }
                ("table" | "files" | "dirs" | "any", _) => {
                    return Err(QueueFault::Word(format!("{} {word}", text[start..end].trim())));
                }
                _ => break,
            }
            .trim_start();
        }
        queue.list = match rest.strip_prefix('(').map(|list| list.strip_suffix(')').ok_or(list)) {
            // A second parenthesis opens a list.
            Some(Ok(list)) => list.strip_prefix('(').map_or(ItemList::Here(list.trim_start()), open),
            Some(Err(list)) => open(list),
            None if keyword == ItemKind::Rows => ItemList::File(rest),
            None => ItemList::Here(rest),
        };
        let before = text[..start].trim_end();
        let names = names_start(before.as_bytes());
        queue.count = before[..names].trim_end();
        queue.names = before[names..].split([',', ' ', '\t']).filter(|name| !name.is_empty()).collect();
        if queue.names.is_empty() {
            queue.names.push("Item");
        }
        Ok(queue)
    }

    /// The number of jobs of each item; `None` if it is not a number. `condor_submit` takes 0 as 1.
    pub(crate) fn jobs(&self) -> Option<usize> {
        if self.count.is_empty() {
            return Some(1);
        }
        let number = number(self.count)?.trunc();
        (number >= 0.0 && number < f64::from(i32::MAX)).then_some((number as usize).max(1))
    }
}

impl QueueFault {
    /// The message for people.
    pub(crate) fn message(&self) -> String {
        match self {
            QueueFault::Word(word) => format!("`{word}` is not a form of `queue`"),
            QueueFault::Slice(slice) => format!("`{slice}` is not a slice of items"),
            QueueFault::Table => "the options of `table` have no closing `)`".to_owned(),
        }
    }
}

/// The value of a constant that is a boolean or a number.
pub(crate) fn number(text: &str) -> Option<f64> {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let expr = parse_expr(text.as_bytes(), &options).ok()?;
    let mut ad = ClassAd::new();
    ad.insert_expr("Value", &expr);
    ad.eval_real("Value").or_else(|| Some(f64::from(u8::from(ad.eval_bool("Value")?))))
}

impl Slice {
    /// The slice at the beginning of a text, and its length.
    fn parse(text: &str) -> Option<(Self, usize)> {
        let close = text.find(']')?;
        let parts: Vec<&str> = text[1..close].split(':').collect();
        if parts.len() > 3 {
            return None;
        }
        let mut numbers = [None; 3];
        for (number, part) in numbers.iter_mut().zip(parts) {
            if !part.is_empty() {
                *number = Some(part.trim_start().parse().ok()?);
            }
        }
        let [start, end, step] = numbers;
        Some((Slice { start, end, step }, close + 1))
    }

    /// Returns true if no item is used, however many there are: `[5:2]`, or with the step 0.
    pub(crate) fn is_empty(self) -> bool {
        let is_reversed = |start: i64, end: i64| start >= 0 && end >= 0 && start >= end;
        self.step == Some(0) || self.start.zip(self.end).is_some_and(|(start, end)| is_reversed(start, end))
    }

    /// Returns true if an item is used, of so many.
    pub(crate) fn has(self, at: usize, count: usize) -> bool {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let place = |number: i64| if number < 0 { number.saturating_add(count) } else { number };
        let (start, end) = (self.start.map_or(0, place), self.end.map_or(count, place));
        let step = self.step.filter(|step| *step > 0).unwrap_or(1);
        at >= start && at < end && (at - start) % step == 0
    }
}

/// Returns true for what ends a word: blanks, and the parenthesis before items.
fn is_delimiter(sign: char) -> bool {
    sign.is_ascii_whitespace() || sign == '('
}

/// An open list with items on the line of the statement.
fn open(first: &str) -> ItemList<'_> {
    ItemList::Lines(first.trim_start())
}

/// The first keyword of a text: its start, its end, and the kind of items after it.
fn keyword(text: &str) -> Option<(usize, usize, ItemKind)> {
    let mut start = 0;
    for (end, _) in text.match_indices(is_delimiter) {
        let kind = match text[start..end].to_ascii_lowercase().as_str() {
            "in" => Some(ItemKind::Words),
            "from" => Some(ItemKind::Rows),
            "matching" => Some(ItemKind::Paths(PathKind::Unstated)),
            _ => None,
        };
        if let Some(kind) = kind {
            return Some((start, end, kind));
        }
        start = end + 1;
    }
    None
}

/// The place in a text at which the names of variables at its end begin. Digits belong to a name after a letter.
fn names_start(text: &[u8]) -> usize {
    let (mut at, mut names) = (text.len(), text.len());
    while at > 0 {
        let mut sign = text[at - 1];
        if sign.is_ascii_digit() {
            at -= 1;
            while at > 0 {
                sign = text[at - 1];
                if !sign.is_ascii_digit() {
                    break;
                }
                at -= 1;
            }
            if !sign.is_ascii_alphabetic() {
                break;
            }
        }
        if !(sign.is_ascii_whitespace() || sign.is_ascii_alphabetic() || b",_.".contains(&sign)) {
            break;
        }
        names = at - 1;
        at -= 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_names_and_lists_are_told_apart() {
        let parts = |text: &'static str| {
            let queue = QueueStatement::parse(text).unwrap();
            (queue.count, queue.names.join(" "), queue.list)
        };
        let here = ItemList::Here;
        assert_eq!(parts(""), ("", String::new(), ItemList::None));
        assert_eq!(parts("2 + 1"), ("2 + 1", String::new(), ItemList::None));
        assert_eq!(parts("3 x, y in (a b)"), ("3", "x y".to_owned(), here("a b")));
        assert_eq!(parts("2x in(a b)"), ("2", "x".to_owned(), here("a b")));
        assert_eq!(parts("x1 IN a, b"), ("", "x1".to_owned(), here("a, b")));
        assert_eq!(parts("in a"), ("", "Item".to_owned(), here("a")));
        assert_eq!(parts("x-y in a"), ("x-", "y".to_owned(), here("a")));
        // A keyword needs a blank after it.
        assert_eq!(parts("x in"), ("x in", String::new(), ItemList::None));
        assert_eq!(parts("x from list.txt"), ("", "x".to_owned(), ItemList::File("list.txt")));
        assert_eq!(parts("x from (a b)"), ("", "x".to_owned(), here("a b")));
        let open = ItemList::Lines;
        assert_eq!(parts("x in (a, b"), ("", "x".to_owned(), open("a, b")));
        assert_eq!(parts("x in (a b) c"), ("", "x".to_owned(), open("a b) c")));
        assert_eq!(parts("x from table(csv) ("), ("", "x".to_owned(), open("")));
        assert_eq!(QueueStatement::parse("x in files a b"), Err(QueueFault::Word("in files".to_owned())));
        assert_eq!(QueueStatement::parse("x in [z] (a)"), Err(QueueFault::Slice("[z]".to_owned())));
    }
}
