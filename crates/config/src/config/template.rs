//! Templates, `use CATEGORY : NAME(arguments)` (`docs/reference/config-language.md` 8).
//!
//! In: the text behind `use CATEGORY :`. Out: the templates it names, and their lines with the arguments put in.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::reference::parenthesized;

/// The text of all templates of configuration files.
static TEXT: &str = include_str!("data/templates.conf");
/// The text of those of submit files.
static SUBMIT: &str = include_str!("data/strict.conf");

/// A template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) category: &'static str,
    pub(crate) name: &'static str,
    /// Its lines.
    pub(crate) text: &'static str,
}

static ALL: LazyLock<Vec<Template>> = LazyLock::new(|| parsed(TEXT));
static OF_SUBMIT: LazyLock<Vec<Template>> = LazyLock::new(|| parsed(SUBMIT));

fn parsed(text: &'static str) -> Vec<Template> {
    let parts = text.split("\n@@ ").skip(1);
    parts
        .filter_map(|part| {
            let (title, text) = part.split_once('\n').unwrap_or((part, ""));
            let (category, name) = title.split_once(':')?;
            Some(Template { category, name, text })
        })
        .collect()
}

/// The templates that a subsystem knows: submit files have their own.
pub(crate) fn all(subsystem: &str) -> &'static [Template] {
    if subsystem == "SUBMIT" { &OF_SUBMIT } else { &ALL }
}

pub(crate) fn is_category(all: &[Template], category: &[u8]) -> bool {
    all.iter().any(|template| template.category.as_bytes().eq_ignore_ascii_case(category))
}

pub(crate) fn find<'t>(all: &'t [Template], category: &[u8], name: &[u8]) -> Option<&'t Template> {
    all.iter().find(|template| {
        template.category.as_bytes().eq_ignore_ascii_case(category)
            && template.name.as_bytes().eq_ignore_ascii_case(name)
    })
}

/// A template as a `use` names it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item<'t> {
    /// The name, and its place in the text.
    pub(crate) name: &'t [u8],
    pub(crate) at: usize,
    /// The text between the parentheses.
    pub(crate) arguments: &'t [u8],
}

/// The templates a text names; the place of a `(` that is not closed.
pub(crate) fn items(text: &[u8]) -> Result<Vec<Item<'_>>, usize> {
    let gap = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
    let mut items = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if gap(&text[at]) {
            at += 1;
            continue;
        }
        let end = text[at..].iter().position(|byte| gap(byte) || *byte == b'(').map_or(text.len(), |end| at + end);
        let mut item = Item { name: &text[at..end], at, arguments: b"" };
        let blanks = text[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        at = end;
        if text.get(end + blanks) == Some(&b'(') {
            let open = end + blanks;
            at = open + parenthesized(&text[open..]).ok_or(open)?;
            item.arguments = text[open + 1..at - 1].trim_ascii();
        }
        items.push(item);
    }
    Ok(items)
}

/// A line of a template with `$(1)`, `$(2:default)`, `$(1?)`, `$(0#)` and `$(2+)` replaced.
pub(crate) fn with_arguments<'l>(line: &'l [u8], arguments: &[u8]) -> Cow<'l, [u8]> {
    if memchr::memmem::find(line, b"$(").is_none() {
        return Cow::Borrowed(line);
    }
    let parts = Arguments::new(arguments);
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memmem::find(rest, b"$(") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (text, length) = parts.replacement(rest).unwrap_or((Cow::Borrowed(b"$("), 2));
        out.extend_from_slice(&text);
        rest = &rest[length..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// The arguments of a template, from the text between its parentheses.
pub(crate) fn arguments(all: &[u8]) -> Vec<Vec<u8>> {
    let parts = Arguments::new(all);
    (1..=parts.parts.len()).map(|number| parts.get(number, false).to_vec()).collect()
}

struct Arguments<'a> {
    all: &'a [u8],
    /// The start and end of each.
    parts: Vec<(usize, usize)>,
}

impl<'a> Arguments<'a> {
    fn new(all: &'a [u8]) -> Self {
        let mut parts = Vec::new();
        if !all.is_empty() {
            let (mut start, mut depth) = (0, 0usize);
            for (at, byte) in all.iter().enumerate() {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    b',' if depth == 0 => {
                        parts.push((start, at));
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            parts.push((start, all.len()));
        }
        Arguments { all, parts }
    }

    /// An argument, from 1, perhaps with those after it; 0 for all.
    fn get(&self, number: usize, and_later: bool) -> &'a [u8] {
        let Some(index) = number.checked_sub(1) else { return self.all };
        let Some((start, end)) = self.parts.get(index) else { return b"" };
        self.all[*start..if and_later { self.all.len() } else { *end }].trim_ascii()
    }

    /// The replacement of the `$(…)` at the beginning of a text, and the length of that.
    fn replacement<'t>(&self, text: &'t [u8]) -> Option<(Cow<'t, [u8]>, usize)>
    where
        'a: 't,
    {
        let body = &text[2..];
        let digits = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number: usize = std::str::from_utf8(&body[..digits]).ok()?.parse().ok()?;
        let after = &body[digits..];
        let argument = |text, length| Some((Cow::Borrowed(text), length));
        let or_default = |value: &'a [u8], at: usize| {
            let (text, length) = default(&after[at..])?;
            let length = 2 + digits + at + length + 1;
            // A default may itself name an argument.
            Some((if value.is_empty() { with_arguments(text, self.all) } else { Cow::Borrowed(value) }, length))
        };
        match after {
            [b')', ..] => argument(self.get(number, false), digits + 3),
            [b'?', b')', ..] => argument(if self.get(number, false).is_empty() { b"0" } else { b"1" }, digits + 4),
            [b'#', b')', ..] => {
                const COUNTS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
                let left = self.parts.len().saturating_sub(number.saturating_sub(1));
                argument(COUNTS[left.min(9)].as_bytes(), digits + 4)
            }
            [b'+', b')', ..] => argument(self.get(number, true), digits + 4),
            [b'+', b':', ..] => or_default(self.get(number, true), 2),
            [b':', ..] => or_default(self.get(number, false), 1),
            _ => None,
        }
    }
}

/// The text up to the `)` that closes it, and its length.
fn default(text: &[u8]) -> Option<(&[u8], usize)> {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some((&text[..at], at)),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(line: &str, arguments: &str) -> String {
        String::from_utf8(with_arguments(line.as_bytes(), arguments.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn every_template_has_a_name() {
        let (daemons, submit) = (all("NEGOTIATOR"), all("SUBMIT"));
        assert!(daemons.len() > 50 && submit.len() == 3, "{} {}", daemons.len(), submit.len());
        for template in daemons.iter().chain(submit) {
            assert!(!template.name.is_empty() && !template.name.contains(' '), "{template:?}");
        }
        assert!(find(daemons, b"policy", b"ALWAYS_RUN_JOBS").is_some() && is_category(daemons, b"Security"));
        assert!(!is_category(daemons, b"nope") && !is_category(daemons, b"strict") && is_category(submit, b"Strict"));
    }

    #[test]
    fn arguments_take_their_places() {
        assert_eq!(replaced("$(1) $(2) $(3)|$(0)", "a, b c"), "a b c |a, b c");
        assert_eq!(replaced("$(1?)$(2?)$(3?) $(0#)$(2#)", "a,"), "100 21");
        assert_eq!(replaced("$(2+)|$(3+)|$(1+)", "a, b, c"), "b, c|c|a, b, c");
        assert_eq!(replaced("$(1:x)$(2:y(z))$(3:$(1))", "a"), "ay(z)a");
        assert_eq!(replaced("$($(1)) $(A:1) $(1", "F"), "$(F) $(A:1) $(1");
        assert_eq!(replaced("$(2+:100%)", "1"), "100%");
        assert_eq!(replaced("$(1)", "(3+4)*2, f(a,b)"), "(3+4)*2");
        assert_eq!(replaced("$(2)", "(3+4)*2, f(a,b)"), "f(a,b)");
    }

    #[test]
    fn items_are_separated_by_commas_and_blanks() {
        let names = |text: &'static str| {
            let found = items(text.as_bytes()).unwrap();
            found.iter().map(|item| (item.name, item.arguments)).collect::<Vec<_>>()
        };
        assert_eq!(names("A, B  C"), [(&b"A"[..], &b""[..]), (b"B", b""), (b"C", b"")]);
        assert_eq!(names("A( x, (y) ),B (2)"), [(&b"A"[..], &b"x, (y)"[..]), (b"B", b"2")]);
        assert_eq!(names(""), []);
        assert_eq!(items(b"A(1"), Err(1));
    }
}
