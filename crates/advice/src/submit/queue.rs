//! The arguments of `queue`, read as `condor_submit` reads them.
//!
//! In: the text after the word `queue`, on one line. Out: the number of jobs of each item as it is written, the variables,
//! and the items or the place where they are, or what is wrong. Macros are expanded, if at all, before.

use std::borrow::Cow;

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
    pub(crate) list: ItemList<'q>,
    /// `[start:end:step]`: the items that are used.
    pub(crate) slice: Option<Slice>,
    /// The items are lines of a table, which may have a heading.
    pub(crate) table: bool,
}

/// The items of a `queue` statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum ItemList<'q> {
    /// No list: one item that sets nothing.
    #[default]
    None,
    /// `in a, b` and `in (a, b)`, and patterns.
    Words(&'q str),
    /// `from (one line)`.
    Line(&'q str),
    /// `from file`.
    File(&'q str),
    /// An open list: this text, and the lines up to one that begins with `)`.
    Lines(OpenList<'q>),
}

/// A list that goes on on the lines after the statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenList<'q> {
    /// The items on the line of the statement.
    pub(crate) first: &'q str,
    /// Each line is an item, otherwise each word.
    pub(crate) of_lines: bool,
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
        let mut queue = QueueStatement::default();
        let mut rest = text[end..].trim_start();
        while !rest.starts_with('(') {
            let Some(word_end) = rest.find(is_delimiter) else { break };
            let word = &rest[..word_end];
            let lower = word.to_ascii_lowercase();
            let (is_known, takes) = match lower.as_str() {
                "files" | "dirs" | "any" => (true, keyword == "matching"),
                "table" => (true, keyword == "from"),
                _ => (false, false),
            };
            if word.starts_with('[') {
                let (slice, length) = Slice::parse(rest).ok_or_else(|| QueueFault::Slice(word.to_owned()))?;
                queue.slice = Some(slice);
                rest = rest[length..].trim_start();
                continue;
            }
            if !is_known {
                break;
            }
            if !takes {
                return Err(QueueFault::Word(format!("{keyword} {word}")));
            }
            rest = &rest[word_end..];
            if lower == "table" {
                queue.table = true;
                if rest.starts_with('(') {
                    let close = rest.find(')').ok_or(QueueFault::Table)?;
                    rest = &rest[close + 1..];
                }
            }
            rest = rest.trim_start();
        }
        let of_lines = keyword == "from";
        queue.list = match rest.strip_prefix('(') {
            Some(list) => match list.strip_suffix(')') {
                Some(line) if of_lines => ItemList::Line(line.trim_start()),
                Some(words) => ItemList::Words(words.trim_start()),
                None => ItemList::Lines(OpenList { first: list.trim_start(), of_lines }),
            },
            None if of_lines => ItemList::File(rest),
            None => ItemList::Words(rest),
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

    /// The items, in order; `lines` is the text after an open list, `read` returns the text of a file.
    pub(crate) fn items<'i>(
        &'i self,
        lines: &'i str,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Vec<Cow<'i, str>>, String> {
        let words = |text: &'i str| -> Vec<Cow<'i, str>> {
            let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
            words.map(Cow::Borrowed).collect()
        };
        let is_item = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let mut items = match &self.list {
            ItemList::None => return Ok(vec![Cow::Borrowed("")]),
            ItemList::Words(text) => words(text),
            ItemList::Line(line) => vec![Cow::Borrowed(*line)],
            ItemList::File(name) => {
                let text = read(name).ok_or_else(|| format!("cannot read the items of `queue` from `{name}`"))?;
                let text = String::from_utf8_lossy(&text);
                text.lines().map(str::trim).filter(is_item).map(|line| Cow::Owned(line.to_owned())).collect()
            }
            ItemList::Lines(list) => {
                let more = lines.lines().map(str::trim).take_while(|line| !line.starts_with(')'));
                let all = std::iter::once(list.first).chain(more).filter(is_item);
                if list.of_lines { all.map(Cow::Borrowed).collect() } else { all.flat_map(words).collect() }
            }
        };
        if let Some(slice) = self.slice {
            let count = items.len();
            let mut at = 0..;
            items.retain(|_| at.next().is_some_and(|at| slice.has(at, count)));
        }
        Ok(items)
    }

    /// The number of jobs of each item; `None` if it is not a number.
    pub(crate) fn jobs(&self) -> Option<usize> {
        if self.count.is_empty() {
            return Some(1);
        }
        let number = number(self.count)?.trunc();
        (number >= 0.0 && number < f64::from(i32::MAX)).then_some(number as usize)
    }

    /// The values of the variables in an item; the last one takes the rest.
    pub(crate) fn values(&self, item: &str) -> Vec<String> {
        let is_end = |sign: char| sign == ',' || sign.is_ascii_whitespace() && !item.contains(',');
        item.splitn(self.names.len(), is_end).map(|part| part.trim().to_owned()).collect()
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

    /// Returns true if an item is used, of so many.
    fn has(self, at: i64, count: usize) -> bool {
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

/// The first keyword of a text, with its start and its end.
fn keyword(text: &str) -> Option<(usize, usize, &'static str)> {
    let mut start = 0;
    for (end, _) in text.match_indices(is_delimiter) {
        let known = ["in", "from", "matching"].into_iter().find(|known| known.eq_ignore_ascii_case(&text[start..end]));
        if let Some(known) = known {
            return Some((start, end, known));
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
        let words = ItemList::Words;
        assert_eq!(parts(""), ("", String::new(), ItemList::None));
        assert_eq!(parts("2 + 1"), ("2 + 1", String::new(), ItemList::None));
        assert_eq!(parts("3 x, y in (a b)"), ("3", "x y".to_owned(), words("a b")));
        assert_eq!(parts("2x in(a b)"), ("2", "x".to_owned(), words("a b")));
        assert_eq!(parts("x1 IN a, b"), ("", "x1".to_owned(), words("a, b")));
        assert_eq!(parts("in a"), ("", "Item".to_owned(), words("a")));
        assert_eq!(parts("x-y in a"), ("x-", "y".to_owned(), words("a")));
        // A keyword needs a blank after it.
        assert_eq!(parts("x in"), ("x in", String::new(), ItemList::None));
        assert_eq!(parts("x from list.txt"), ("", "x".to_owned(), ItemList::File("list.txt")));
        assert_eq!(parts("x from (a b)"), ("", "x".to_owned(), ItemList::Line("a b")));
        let open = |first, of_lines| ItemList::Lines(OpenList { first, of_lines });
        assert_eq!(parts("x in (a, b"), ("", "x".to_owned(), open("a, b", false)));
        assert_eq!(parts("x in (a b) c"), ("", "x".to_owned(), open("a b) c", false)));
        assert_eq!(parts("x from table(csv) ("), ("", "x".to_owned(), open("", true)));
        assert_eq!(QueueStatement::parse("x in files a b"), Err(QueueFault::Word("in files".to_owned())));
        assert_eq!(QueueStatement::parse("x in [z] (a)"), Err(QueueFault::Slice("[z]".to_owned())));
    }

    #[test]
    fn items_are_those_of_the_slice() {
        let items = |text: &str, lines: &str| {
            let queue = QueueStatement::parse(text).unwrap();
            queue.items(lines, &|_| None).map(|items| items.join("|"))
        };
        assert_eq!(items("x in [1:3] (a b c d)", "").as_deref(), Ok("b|c"));
        assert_eq!(items("x in [::2] (a b c d)", "").as_deref(), Ok("a|c"));
        assert_eq!(items("x in [-1:] (a b c d)", "").as_deref(), Ok("d"));
        assert_eq!(items("x in (a, b", "\n# c\n d e\n) f").as_deref(), Ok("a|b|d|e"));
        assert_eq!(items("x from (", "\n a, 1\n b, 2\n)").as_deref(), Ok("a, 1|b, 2"));
        assert_eq!(items("5", "").as_deref(), Ok(""));
        assert!(items("x from list.txt", "").is_err());
    }
}
