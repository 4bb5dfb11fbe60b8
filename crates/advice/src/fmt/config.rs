//! Configurations: the values of knobs that are expressions.

use crate::fmt::{MAX_SHOWN, Unformatted};
use crate::lint::knobs::is_expression;
use classmate::internal::syntax::layout::{Measure, layout};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, ParseOptions, Semantics};
use classmate_config::internal::config::{beginning, is_name_byte, is_statement, parenthesized};

/// Columns by which the lines of a long value are indented.
const INDENT: usize = 4;

/// A configuration with the expressions of its policies laid out; everything else stays as it is.
pub fn config(text: &[u8], width: usize, semantics: Semantics) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    each(text, |_, lines, is_statement| match is_statement.then(|| statement(lines, width, semantics)).flatten() {
        Some(written) => out.extend_from_slice(&written),
        None => lines.iter().for_each(|line| out.extend_from_slice(line)),
    });
    out
}

/// The lines that are not statements and the policies that are not valid expressions, which stay as they are; without policies
/// with macros, of which nothing is known.
pub fn unformatted(text: &[u8], semantics: Semantics) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    each(text, |line, lines, is_outside| {
        let first = lines[0].trim_ascii();
        let written = first.strip_suffix(b"\\").unwrap_or(first);
        if is_outside && !written.is_empty() && !written.starts_with(b"#") && !is_statement(written) {
            found.push(super::unformatted(line, &beginning(written, MAX_SHOWN), &Unformatted::Statement));
            return;
        }
        let Some(Statement { name, value, .. }) = is_outside.then(|| Statement::of(lines)).flatten() else { return };
        let Some((marked, macros)) = marked(&value) else { return };
        if !macros.is_empty() {
            return;
        }
        let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
        if let Err(error) = parse_expr(&marked, &options) {
            found.push(super::unformatted(line, &String::from_utf8_lossy(&name), &Unformatted::Value(&error)));
        }
    });
    found
}

/// Hands over the statements of a configuration with the number of their first line, and all other lines.
fn each(text: &[u8], mut to: impl FnMut(usize, &[&[u8]], bool)) {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').zip(1..);
    let mut tag: Option<Vec<u8>> = None;
    while let Some((line, number)) = lines.next() {
        let mut whole = vec![line];
        let start = line.trim_ascii();
        if let Some(open) = &tag {
            if start.strip_prefix(b"@") == Some(open.as_slice()) {
                tag = None;
            }
            to(number, &whole, false);
            continue;
        }
        if !start.is_empty() && !start.starts_with(b"#") {
            while whole.last().is_some_and(|line| line.trim_ascii().ends_with(b"\\")) {
                match lines.next() {
                    Some((next, _)) => whole.push(next),
                    None => break,
                }
            }
        }
        tag = block_tag(start);
        to(number, &whole, true);
    }
}

/// The tag of `NAME @=TAG`.
fn block_tag(line: &[u8]) -> Option<Vec<u8>> {
    let name = line.iter().position(|byte| !is_name_byte(*byte))?;
    let rest = line[name..].trim_ascii_start();
    rest.strip_prefix(b"@=").filter(|_| name > 0).map(|tag| tag.trim_ascii().to_vec())
}

/// A statement `NAME = expression`.
struct Statement<'t> {
    /// The text before it on the line.
    margin: &'t [u8],
    name: Vec<u8>,
    value: Vec<u8>,
}

impl<'t> Statement<'t> {
    /// None for other lines, and for what is not understood.
    fn of(lines: &[&'t [u8]]) -> Option<Self> {
        let first = *lines.first()?;
        let margin = &first[..first.len() - first.trim_ascii_start().len()];
        let mut joined: Vec<u8> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim_ascii();
            // Comments and blank lines inside a value have rules of their own.
            if at > 0 && (line.is_empty() || line.starts_with(b"#")) {
                return None;
            }
            joined.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
        }
        let end = joined.iter().position(|byte| !is_name_byte(*byte))?;
        let (name, rest) = joined.split_at(end);
        let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        if name.is_empty() || value.is_empty() || !is_expression(name) {
            return None;
        }
        // All lines are one in the end: a comment that ends its line would swallow the others.
        if memchr::memmem::find(value, b"//").is_some() {
            return None;
        }
        Some(Statement { margin, name: name.to_vec(), value: value.to_vec() })
    }
}

/// A statement `NAME = expression` in the canonical layout; `None` for all others, and for what is not understood.
fn statement(lines: &[&[u8]], width: usize, semantics: Semantics) -> Option<Vec<u8>> {
    let Statement { margin, name, value } = Statement::of(lines)?;
    let (name, value) = (name.as_slice(), value.as_slice());
    let (marked, macros) = marked(value)?;
    let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
    let taken = margin.len() + name.len() + 3;
    let write = |measure: Measure| layout(&marked, &options, measure).ok().and_then(|text| restored(&text, &macros));
    let flat = write(Measure { width: usize::MAX, indent: 0, taken: 0 })?;
    let ending = if lines.last()?.ends_with(b"\n") { b"\n".as_slice() } else { b"" };
    if memchr::memchr(b'\n', &flat).is_none() && taken + flat.len() <= width {
        return Some([margin, name, b" = ", &flat, ending].concat());
    }
    let indent = margin.len() + INDENT;
    // Two columns are for the backslash.
    let broken = write(Measure { width: width.saturating_sub(2), indent, taken: indent })?;
    let mut out = [margin, name, b" = \\\n"].concat();
    out.resize(out.len() + indent, b' ');
    let count = broken.split(|byte| *byte == b'\n').count();
    for (at, line) in broken.split(|byte| *byte == b'\n').enumerate() {
        out.extend_from_slice(line);
        if at + 1 < count {
            // The next line is stripped when it is joined: the blank goes here.
            out.extend_from_slice(b" \\\n");
        }
    }
    out.extend_from_slice(ending);
    Some(out)
}

/// The text with a name in the place of every macro, and the macros.
fn marked(value: &[u8]) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut out = Vec::with_capacity(value.len());
    let mut macros: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    let mut quote = false;
    while at < value.len() {
        if value[at] == b'"' && (at == 0 || value[at - 1] != b'\\') {
            quote = !quote;
        }
        if quote || value[at] != b'$' {
            out.push(value[at]);
            at += 1;
            continue;
        }
        let open = at + value[at..].iter().position(|byte| *byte == b'(')?;
        let end = open + parenthesized(&value[open..])?;
        out.extend_from_slice(mark(macros.len()).as_bytes());
        macros.push(value[at..end].to_vec());
        at = end;
    }
    (memchr::memmem::find(value, MARK.as_bytes()).is_none()).then_some((out, macros))
}

const MARK: &str = "z_macro_";

fn mark(number: usize) -> String {
    format!("{MARK}{number:04}_")
}

/// The text with its macros back in their places; `None` if one was lost.
fn restored(text: &[u8], macros: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    for (number, text) in macros.iter().enumerate() {
        let mark = mark(number);
        let at = memchr::memmem::find(&out, mark.as_bytes())?;
        out.splice(at..at + mark.len(), text.iter().copied());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::Config;

    fn tidied(text: &str, width: usize) -> String {
        let once = config(text.as_bytes(), width, Semantics::default());
        assert_eq!(once, config(&once, width, Semantics::default()), "the second time");
        String::from_utf8(once).unwrap()
    }

    #[test]
    fn only_expressions_are_touched() {
        let text = "# a  b\nGROUP_NAMES=a,b\n START=a>1&&$(X)||b \nSTART @=end\n a>1\n@end\nPREEMPT = a // b\n";
        let expected =
            "# a  b\nGROUP_NAMES=a,b\n START = a > 1 && $(X) || b\nSTART @=end\n a>1\n@end\nPREEMPT = a // b\n";
        assert_eq!(tidied(text, 80), expected);
    }

    #[test]
    fn lines_that_are_not_statements_are_reported() {
        let text = "hello world\nif defined X\n use ROLE : Execute\n A @=end\nhello\n@end\nendif\n# no\nB = 1 \\\n hello\nA : 1\n";
        let found = unformatted(text.as_bytes(), Semantics::default());
        let found: Vec<String> = found.iter().map(|one| format!("{} {}", one.line(), one.message)).collect();
        let expected = "1 `hello world` is not a statement and is left unchanged: expected `NAME = value`";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn values_that_are_no_expressions_are_told_with_their_lines() {
        let text =
            "START = (a\nPREEMPT = a && \\\n  b +\nKILL = $(X) $(Y)\nLOG = a +\nSTART @=end\n a +\n@end\nRANK = 1";
        let found = unformatted(text.as_bytes(), Semantics::default());
        let found: Vec<String> = found.iter().map(|one| format!("{} {}", one.line(), one.message)).collect();
        assert!(found[0].starts_with("1 `START` is not a valid expression and is left unchanged: "), "{found:?}");
        assert!(found[1].starts_with("2 `PREEMPT` is not a valid expression and is left unchanged: "), "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_long_value_goes_over_lines_and_means_the_same() {
        let text = "START = (TARGET.Memory > 1024) && $(READY:true) && TARGET.Owner == \"some body\" && \\\n  Cpus>1\nREADY = x";
        let tidy = tidied(text, 40);
        let expected = "START = \\\n    (TARGET.Memory > 1024) \\\n    && $(READY:true) \\\n    && TARGET.Owner == \"some body\" \\\n    && Cpus > 1\nREADY = x";
        assert_eq!(tidy, expected);
        let value = |text: &str| Config::parse("c", text.as_bytes()).unwrap().get("START").unwrap().unwrap().text;
        let options = ParseOptions::default();
        let parsed = |text: &str| classmate::internal::syntax::parse::parse_expr(&value(text), &options).unwrap();
        assert!(parsed(text).same_as(&parsed(&tidy)));
    }
}
