//! The statement of a line: assignment, condition, include, template or message (`docs/reference/config-language.md`
//! 3).
//!
//! In: the text of a logical line. Out: its parts, as ranges of it; nothing is expanded.

use std::ops::Range;

use super::reference::is_name_byte;
use super::{Diagnostic, shown};
use classmate::internal::span::Span;

/// The code of what `warning : text` says when a configuration is read.
pub(super) const WRITTEN_WARNING: &str = "warning-statement";

/// The operator of an assignment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `NAME = value`.
    Set,
    /// `NAME : value`.
    ObsoleteSet,
    /// `NAME += value`: appended, with this between the old and the new value.
    Append(Vec<u8>),
    /// `NAME @=TAG`: the value is on the lines up to `@TAG`; the value range is the tag.
    Block,
}

/// The source of an included text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Include {
    /// `ifexist`: nothing is wrong if it is missing.
    pub(crate) if_exists: bool,
    /// True for a command, whose output is read.
    pub(crate) command: bool,
    /// A file that keeps the output of the command.
    pub(crate) cache: Option<Range<usize>>,
    /// The file or command.
    pub(crate) what: Range<usize>,
}

/// One statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    Assign {
        name: Range<usize>,
        operator: Operator,
        stray: Option<Range<usize>>,
        value: Range<usize>,
    },
    If(Range<usize>),
    Elif(Range<usize>),
    /// The text after it.
    Else(Range<usize>),
    Endif(Range<usize>),
    Use {
        category: Range<usize>,
        items: Range<usize>,
    },
    Include(Include),
    /// `error : text`, otherwise `warning : text`.
    Message {
        error: bool,
        text: Range<usize>,
    },
    /// `[section]`.
    Section,
}

/// An error in a line, with its place in the line.
fn unreadable<T>(message: impl Into<String>, at: Range<usize>, help: &'static str) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(message, Span::new(at.start, at.end)).help(help))
}

/// The range of a part of a text without blanks at its ends.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..start + part.trim_ascii().len()
}

/// Returns true if the line is a condition, also in a branch that is not taken.
pub(crate) fn condition(text: &[u8]) -> Option<Statement> {
    let word = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let rest = trimmed(text, word..text.len());
    match text[..word].to_ascii_lowercase().as_slice() {
        b"if" => Some(Statement::If(rest)),
        b"elif" => Some(Statement::Elif(rest)),
        b"else" => Some(Statement::Else(rest)),
        b"endif" => Some(Statement::Endif(rest)),
        _ => None,
    }
}

/// Returns whether a line that is not empty is a statement of a configuration.
pub fn is_statement(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && parse(line).is_ok()
}

/// Reads a line that is not empty.
pub(crate) fn parse(text: &[u8]) -> Result<Statement, Diagnostic> {
    if let Some(condition) = condition(text) {
        return Ok(condition);
    }
    let at = usize::from(text[0] == b'@');
    let end = text[at..].iter().position(|byte| !byte.is_ascii_alphabetic()).map_or(text.len(), |end| at + end);
    let rest = trimmed(text, end..text.len());
    let assigned = [b"=".as_slice(), b"+", b"@="].iter().any(|operator| text[rest.clone()].starts_with(operator));
    let separated = text.get(end).is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b':');
    let is = |keyword: &str| separated && text[at..end].eq_ignore_ascii_case(keyword.as_bytes());
    if !assigned {
        if is("use") {
            return template(text, rest);
        }
        if is("include") {
            return include(text, rest);
        }
        if is("warning") || is("error") {
            let Some(colon) = memchr::memchr(b':', &text[rest.clone()]) else {
                return unreadable(
                    format!("expected `{} : text`", shown(&text[at..end])),
                    0..text.len(),
                    "write the message after a colon",
                );
            };
            let text = trimmed(text, rest.start + colon + 1..text.len());
            return Ok(Statement::Message { error: is("error"), text });
        }
    }
    let bare = |byte: &u8| byte.is_ascii_whitespace() || b"=:".contains(byte);
    if text[0] == b'[' && !text.iter().any(bare) {
        return Ok(Statement::Section);
    }
    assignment(text)
}

fn assignment(text: &[u8]) -> Result<Statement, Diagnostic> {
    let name_end = text.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'=' | b':')).unwrap_or(text.len());
    let rest = trimmed(text, name_end..text.len());
    let mut stray = None;
    let (operator, length) = match &text[rest.clone()] {
        [b'=', ..] => (Operator::Set, 1),
        [b':', ..] => (Operator::ObsoleteSet, 1),
        [b'@', b'=', ..] => (Operator::Block, 2),
        [b'+', b'=', ..] => (Operator::Append(b" ".to_vec()), 2),
        [b'+', separator, b'=', ..] if b",;|&*".contains(separator) => (Operator::Append(vec![*separator]), 3),
        [b'+', separator, again, b'=', ..] if separator == again && b",;|&*".contains(separator) => {
            (Operator::Append(vec![b' ', *separator, *separator, b' ']), 4)
        }
        [b'+' | b'@', ..] => {
            let word = text[rest.clone()].split(u8::is_ascii_whitespace).next().unwrap_or_default();
            return unreadable(
                format!("`{}` is not an operator", shown(word)),
                rest.start..rest.start + word.len(),
                "the operators are `=`, `+=`, `+,=` `+;=` `+|=` `+&=` `+*=` (also with a doubled sign) and `@=TAG`",
            );
        }
        other => {
            let Some(at) = other.iter().position(|byte| matches!(byte, b'=' | b':')) else {
                let message = format!("expected `NAME = value`, found `{}`", shown(text));
                let help = "to continue a value on the next line, end the line with `\\`";
                return unreadable(message, 0..text.len(), help);
            };
            stray = Some(trimmed(text, rest.start..rest.start + at));
            let operator = if other[at] == b'=' { Operator::Set } else { Operator::ObsoleteSet };
            (operator, at + 1)
        }
    };
    let value = trimmed(text, rest.start + length..text.len());
    // Blanks in front are not part of a value; those at the end were there before a backslash.
    let value = value.start.min(text.len())..text.len();
    Ok(Statement::Assign { name: 0..name_end, operator, stray, value })
}

fn template(text: &[u8], rest: Range<usize>) -> Result<Statement, Diagnostic> {
    const HELP: &str = "write the category and the name of the template: `use POLICY : Always_Run_Jobs`";
    let Some(colon) = memchr::memchr(b':', &text[rest.clone()]) else {
        let message = format!("`{}` has no `:` after the category", shown(text.trim_ascii()));
        let error = Diagnostic::error(message, Span::new(0, text.len()));
        let words = shown(&text[rest]).replace('=', " ");
        return Err(match words.split_whitespace().collect::<Vec<_>>()[..] {
            [category, name] => error.help(format!("write `use {category} : {name}`")),
            _ => error.help(HELP),
        });
    };
    let category = trimmed(text, rest.start..rest.start + colon);
    let items = trimmed(text, rest.start + colon + 1..text.len());
    if category.is_empty() || !text[category.clone()].iter().copied().all(is_name_byte) {
        return unreadable("`use` requires a category before the `:`", 0..text.len(), HELP);
    }
    Ok(Statement::Use { category, items })
}

fn include(text: &[u8], rest: Range<usize>) -> Result<Statement, Diagnostic> {
    const HELP: &str = "`include : FILE`, `include ifexist : FILE`, `include [ifexist] command [into CACHE] : COMMAND`";
    let Some(colon) = memchr::memchr(b':', &text[rest.clone()]) else {
        return unreadable("expected `include : FILE`, found no `:`", 0..text.len(), HELP);
    };
    let mut found = Include { if_exists: false, command: false, cache: None, what: 0..0 };
    found.what = trimmed(text, rest.start + colon + 1..text.len());
    let options = rest.start..rest.start + colon;
    let mut at = options.start;
    let mut word = || {
        let left = trimmed(text, at..options.end);
        let end = text[left.clone()].iter().position(u8::is_ascii_whitespace).map_or(left.end, |end| left.start + end);
        at = end;
        left.start..end
    };
    let mut option = word();
    let is = |range: &Range<usize>, keyword: &str| text[range.clone()].eq_ignore_ascii_case(keyword.as_bytes());
    if is(&option, "ifexist") || is(&option, "ifexists") {
        found.if_exists = true;
        option = word();
    }
    // `output` is another word for it (`config.cpp`).
    if is(&option, "command") || is(&option, "output") {
        found.command = true;
        option = word();
        if is(&option, "into") {
            found.cache = Some(word());
            option = word();
        }
    }
    if !option.is_empty() || found.cache.as_ref().is_some_and(Range::is_empty) {
        let shown = shown(&text[options.clone()]);
        return unreadable(format!("`{}` is not an option of `include`", shown.trim()), trimmed(text, options), HELP);
    }
    if !found.command && text[found.what.clone()].ends_with(b"|") {
        found.command = true;
        found.what = trimmed(text, found.what.start..found.what.end - 1);
    }
    if found.what.is_empty() {
        return unreadable("`include` requires a file name", 0..text.len(), HELP);
    }
    Ok(Statement::Include(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(text: &str) -> (String, Operator, String) {
        match parse(text.as_bytes()).unwrap() {
            Statement::Assign { name, operator, value, .. } => {
                (text[name].to_owned(), operator, text[value].to_owned())
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    fn refused(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().message
    }

    #[test]
    fn the_operators_assign_append_and_open_blocks() {
        assert_eq!(assigned("A=1 = 2"), ("A".into(), Operator::Set, "1 = 2".into()));
        assert_eq!(assigned("A :b"), ("A".into(), Operator::ObsoleteSet, "b".into()));
        assert_eq!(assigned("A +=  b"), ("A".into(), Operator::Append(b" ".to_vec()), "b".into()));
        assert_eq!(assigned("A +,= b"), ("A".into(), Operator::Append(b",".to_vec()), "b".into()));
        assert_eq!(assigned("A +&&= b"), ("A".into(), Operator::Append(b" && ".to_vec()), "b".into()));
        assert_eq!(assigned("A @= end "), ("A".into(), Operator::Block, "end ".into()));
        // Blanks before a backslash stay at the end.
        assert_eq!(assigned("A = 3 ").2, "3 ");
        assert_eq!(assigned("A =").2, "");
        assert_eq!(assigned("D+=z").0, "D+");
    }

    #[test]
    fn what_stands_between_name_and_operator_is_pointed_out() {
        let Statement::Assign { stray, value, .. } = parse(b"A x y = 2").unwrap() else { panic!() };
        assert_eq!((stray, value), (Some(2..5), 8..9));
        assert_eq!(refused("A + = 2"), "`+` is not an operator");
        assert_eq!(refused("A +&|= 2"), "`+&|=` is not an operator");
        assert_eq!(refused("A @x = 2"), "`@x` is not an operator");
        assert_eq!(refused("hello"), "expected `NAME = value`, found `hello`");
    }

    #[test]
    fn keywords_can_be_names_except_those_of_conditions() {
        assert_eq!(assigned("use = 3").0, "use");
        assert_eq!(assigned("error=4").0, "error");
        assert_eq!(assigned("include += 4").0, "include");
        assert_eq!(assigned("useful : 4").0, "useful");
        assert_eq!(parse(b"if = 3"), Ok(Statement::If(3..6)));
        assert_eq!(parse(b"ENDIF x"), Ok(Statement::Endif(6..7)));
    }

    #[test]
    fn includes_have_options_in_their_order() {
        let include = |text: &str| match parse(text.as_bytes()).unwrap() {
            Statement::Include(found) => {
                let cache = found.cache.map(|cache| text[cache].to_owned());
                (found.if_exists, found.command, cache, text[found.what].to_owned())
            }
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(include("include : a b"), (false, false, None, "a b".into()));
        assert_eq!(include("@INCLUDE ifexists:a"), (true, false, None, "a".into()));
        assert_eq!(include("include output : a b"), (false, true, None, "a b".into()));
        assert_eq!(include("include : x y |"), (false, true, None, "x y".into()));
        assert_eq!(include("include ifexist command into c : x"), (true, true, Some("c".into()), "x".into()));
        assert_eq!(refused("include into c command : x"), "`into c command` is not an option of `include`");
        assert_eq!(refused("include command into : x"), "`command into` is not an option of `include`");
        assert_eq!(refused("include :"), "`include` requires a file name");
        assert_eq!(refused("include x"), "expected `include : FILE`, found no `:`");
    }

    #[test]
    fn templates_and_messages_stand_behind_a_colon() {
        assert_eq!(parse(b"use POLICY : A, B"), Ok(Statement::Use { category: 4..10, items: 13..17 }));
        assert_eq!(parse(b"@use POLICY:A"), Ok(Statement::Use { category: 5..11, items: 12..13 }));
        assert_eq!(parse(b"error 5 : x"), Ok(Statement::Message { error: true, text: 10..11 }));
        assert_eq!(parse(b"WARNING: x"), Ok(Statement::Message { error: false, text: 9..10 }));
        assert_eq!(refused("use : x"), "`use` requires a category before the `:`");
        assert_eq!(refused("use POLICY"), "`use POLICY` has no `:` after the category");
        let helps = ["use FEATURE = GPUs", "use SECURITY Strong", "use POLICY A B"]
            .map(|text| parse(text.as_bytes()).unwrap_err().help);
        assert_eq!(helps[0].as_deref(), Some("write `use FEATURE : GPUs`"));
        assert_eq!(helps[1].as_deref(), Some("write `use SECURITY : Strong`"));
        assert!(helps[2].as_deref().is_some_and(|help| help.starts_with("write the category and the name")));
        assert_eq!(refused("warning foo"), "expected `warning : text`");
        assert_eq!(parse(b"[section]"), Ok(Statement::Section));
        assert_eq!(refused("[two words]"), "expected `NAME = value`, found `[two words]`");
    }
}
