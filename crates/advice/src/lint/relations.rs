//! Relations of two settings: one has no effect without the other, or while the other has some value.
//!
//! In: `data/relations.txt`. Out: its rows, of configuration variables and of submit commands.

use std::sync::LazyLock;

/// A row of the table.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) verb: Verb,
    pub(super) left: Vec<NamedValues>,
    pub(super) right: Vec<NamedValues>,
    /// The consequence, if it is not that the left side has no effect.
    pub(super) effect: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// The right side has no effect while the left one has a value.
    Off,
    /// The left side has no effect unless one of the right side is on.
    Need,
    /// As `Need`, where another file often has the right side; three of the left side in one file are set together with it.
    NeedBeside,
    /// As `NeedBeside`, where two of the left side are enough.
    NeedTogether,
    /// The number on the left is at most the one on the right.
    Most,
    /// The values are never the same.
    Differ,
}

/// A setting with the values that count.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedValues {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// The values of a setting that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Any,
    True,
    False,
    Zero,
    ZeroOrLess,
    Negative,
    Word(&'static str),
    /// Those that begin with a text.
    Front(&'static str),
}

static CONFIG: LazyLock<Vec<Relation>> = LazyLock::new(|| rows("@config").collect());
static SUBMIT: LazyLock<Vec<Relation>> = LazyLock::new(|| rows("@submit").collect());

/// The relations of configuration variables.
pub(super) fn of_config() -> &'static [Relation] {
    &CONFIG
}

/// The relations of submit commands.
pub(super) fn of_submit() -> &'static [Relation] {
    &SUBMIT
}

/// The rows of a part of the table.
fn rows(part: &'static str) -> impl Iterator<Item = Relation> {
    let lines = include_str!("data/relations.txt").lines().skip_while(move |line| *line != part).skip(1);
    lines.take_while(|line| !line.starts_with('@')).filter_map(row)
}

fn row(line: &'static str) -> Option<Relation> {
    let (verb, rest) = line.split_once(' ').filter(|_| !line.starts_with('#'))?;
    let verb = match verb {
        "off" => Verb::Off,
        "need" => Verb::Need,
        "need-beside" => Verb::NeedBeside,
        "need-together" => Verb::NeedTogether,
        "most" => Verb::Most,
        "differ" => Verb::Differ,
        _ => return None,
    };
    let mut parts = rest.split(" : ");
    let mut sides = || parts.next().map(|part| part.split_whitespace().map(side).collect());
    let (left, right) = (sides()?, sides()?);
    Some(Relation { verb, left, right, effect: parts.next() })
}

fn side(text: &'static str) -> NamedValues {
    let Some((name, value)) = text.split_once('=') else { return NamedValues { name: text, values: Values::Any } };
    let values = match value {
        "true" => Values::True,
        "false" => Values::False,
        "0" => Values::Zero,
        "<=0" => Values::ZeroOrLess,
        "<0" => Values::Negative,
        word => word.strip_suffix('*').map_or(Values::Word(word), Values::Front),
    };
    NamedValues { name, values }
}

impl Values {
    /// Tests whether a value (lower case) is one of these.
    pub(super) fn has(self, value: &str) -> bool {
        let number = || value.parse::<f64>().ok();
        match self {
            Values::Any => !value.is_empty(),
            Values::True => matches!(value, "true" | "yes" | "t" | "y" | "1"),
            Values::False => matches!(value, "false" | "no" | "f" | "n" | "0"),
            Values::Zero => number() == Some(0.0),
            Values::ZeroOrLess => number().is_some_and(|number| number <= 0.0),
            Values::Negative => number().is_some_and(|number| number < 0.0),
            Values::Word(word) => value == word,
            Values::Front(front) => value.starts_with(front),
        }
    }
}

/// Tests whether a value (lower case) turns something on.
pub(super) fn is_on(value: &str) -> bool {
    !value.is_empty() && value.trim_matches('"') != "none" && !Values::False.has(value)
}

/// The text of a name in place of the `*` of a pattern; the whole pattern without one.
pub(super) fn matched<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    match pattern.split_once('*') {
        Some((front, end)) => name.strip_prefix(front)?.strip_suffix(end).filter(|text| !text.is_empty()),
        None => (pattern == name).then_some(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let all = include_str!("data/relations.txt").lines();
        let rows = all.filter(|line| !line.is_empty() && !line.starts_with(['#', '@'])).count();
        assert_eq!(of_config().len() + of_submit().len(), rows);
        for relation in of_config().iter().chain(of_submit()) {
            assert!(!relation.left.is_empty() && !relation.right.is_empty(), "{relation:?}");
        }
    }

    #[test]
    fn the_text_of_a_star() {
        assert_eq!(matched("*_LOCK", "SCHEDD_LOCK"), Some("SCHEDD"));
        assert_eq!(matched("*_LOCK", "_LOCK"), None);
        assert_eq!(matched("SETTABLE_ATTRS_*", "SETTABLE_ATTRS_OWNER"), Some("OWNER"));
        assert_eq!(matched("MEMORY", "MEMORY"), Some(""));
    }
}
