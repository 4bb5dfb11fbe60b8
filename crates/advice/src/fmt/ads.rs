//! Ads of the long format and of new syntax.

use crate::fmt::{MAX_SHOWN, Unformatted};
use classmate::internal::format::new::parse_ad;
use classmate::internal::format::{advertised, bracketed};
use classmate::internal::syntax::layout::{Measure, layout};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::{Quoting, is_space};
use classmate::{Diagnostic, ParseOptions, Semantics, SyntaxError};
use classmate_config::internal::config::beginning;

/// The texts of the ads in a text of the long format, each with the blank line or banner that ends it.
pub(crate) fn separated(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            if line.starts_with(b"***") || line.iter().all(|byte| is_space(*byte)) {
                break;
            }
        }
        let (ad, next) = rest.split_at(end);
        rest = next;
        (end > 0).then_some(ad)
    })
}

/// Ads of the long format: one attribute a line, each on one line. Comments and blank lines stay.
pub fn long(text: &[u8], semantics: Semantics) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for ad in separated(text) {
        let semantics = semantics.of_one(|| advertised(ad).next());
        for raw in ad.split_inclusive(|byte| *byte == b'\n') {
            let (line, end) = match raw.strip_suffix(b"\n") {
                Some(line) => (line, b"\n".as_slice()),
                None => (raw, b"".as_slice()),
            };
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            match attribute(line, semantics) {
                Some(written) => out.extend_from_slice(&written),
                None => out.extend_from_slice(line),
            }
            out.extend_from_slice(end);
        }
    }
    out
}

/// The values of long-format ads that are not valid expressions and stay as they are.
pub fn unformatted(text: &[u8], semantics: Semantics) -> Vec<Diagnostic> {
    let lines = separated(text).flat_map(|ad| {
        let semantics = semantics.of_one(|| advertised(ad).next());
        ad.split_inclusive(|byte| *byte == b'\n').map(move |line| (line, semantics))
    });
    let wrong = |((line, semantics), number): ((&[u8], Semantics), usize)| {
        let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = line.trim_ascii();
        let ends_ad = line.starts_with(b"***");
        if !(text.is_empty() || text[0] == b'#' || ends_ad || text.contains(&b'=')) {
            return Some(super::unformatted(number, &beginning(text, MAX_SHOWN), &Unformatted::Attribute));
        }
        let (name, value) = named(line)?;
        let error = parse_expr(value, &options).err()?;
        Some(super::unformatted(number, &String::from_utf8_lossy(name), &Unformatted::Value(&error)))
    };
    lines.zip(1..).filter_map(wrong).collect()
}

/// The name and the value of a line `Name = value`; `None` for all others.
fn named(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = line.iter().position(|byte| !is_space(*byte))?;
    if line[first] == b'#' {
        return None;
    }
    let equals = memchr::memchr(b'=', line)?;
    let name = line[first..equals].trim_ascii();
    let plain = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let value = line[equals + 1..].trim_ascii();
    // What may hold a comment that ends the line stays.
    (plain && !value.is_empty() && memchr::memmem::find(value, b"//").is_none()).then_some((name, value))
}

/// A line `Name = value` with its spaces set; `None` for all others.
fn attribute(line: &[u8], semantics: Semantics) -> Option<Vec<u8>> {
    let (name, value) = named(line)?;
    let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
    let measure = Measure { width: usize::MAX, ..Measure::default() };
    let written = layout(value, &options, measure).ok()?;
    // A backslash before the last quote means something else when spaces follow: only what ends alike is written.
    let equals = memchr::memchr(b'=', line)?;
    let whole = line[equals + 1..].trim_ascii_start();
    if whole.len() != value.len() && value.ends_with(b"\\\"") {
        return None;
    }
    if memchr::memchr(b'\n', &written).is_some() {
        return None;
    }
    Some([name, b" = ", &written].concat())
}

/// One ad of new syntax, one attribute a line, or an expression.
///
/// # Errors
/// The text is not a valid expression.
pub fn expression(text: &[u8], width: usize) -> Result<Vec<u8>, SyntaxError> {
    expression_with(text, width, &ParseOptions::default())
}

/// As [`expression`], with options of the parser.
///
/// # Errors
/// The text is not a valid expression.
pub fn expression_with(text: &[u8], width: usize, options: &ParseOptions) -> Result<Vec<u8>, SyntaxError> {
    let expr = parse_expr(text, options)?;
    // An ad of a file is always broken, whatever its length.
    let is_ad = matches!(expr.node(), classmate::internal::syntax::expr::Node::Ad(run) if run.len > 0);
    let taken = if is_ad { width } else { 0 };
    let mut written = layout(text, options, Measure { width, indent: 0, taken })?;
    written.push(b'\n');
    Ok(written)
}

/// Ads of new syntax one after another, or in the list form `{ ad, ad }`: each is laid out, all else between them
/// stays.
///
/// # Errors
/// Something between or inside the ads is none.
pub fn several(text: &[u8], width: usize, options: &ParseOptions) -> Result<Vec<u8>, SyntaxError> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(|byte| !is_space(*byte) && !b"{},".contains(byte)) {
        let start = at + start;
        between(&text[at..start], &mut out);
        let rest = &text[start..];
        if let Some(length) = comment(rest) {
            out.extend_from_slice(rest[..length].trim_ascii_end());
            at = start + length;
            continue;
        }
        let semantics = options.semantics.of_one(|| advertised(bracketed(rest)?).next());
        let options = &ParseOptions { semantics, ..options.clone() };
        let (_, length) = parse_ad(rest, options).map_err(|error| error.shifted(start))?;
        let ad = rest[..length].trim_ascii_end();
        let mut written = expression_with(ad, width, options).map_err(|error| error.shifted(start))?;
        written.pop();
        out.extend_from_slice(&written);
        at = start + ad.len();
    }
    between(&text[at..], &mut out);
    if out.last() != Some(&b'\n') {
        out.push(b'\n');
    }
    Ok(out)
}

/// The length of the comment that a text begins with.
pub(crate) fn comment(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"//") {
        return Some(memchr::memchr(b'\n', text).unwrap_or(text.len()));
    }
    let inner = text.strip_prefix(b"/*")?;
    Some(memchr::memmem::find(inner, b"*/")? + 4)
}

/// Writes the text between ads: brackets and commas on lines of their own, and blank lines as they are.
fn between(text: &[u8], out: &mut Vec<u8>) {
    let mut breaks = 0;
    for byte in text {
        match byte {
            b'{' | b'}' => {
                if !out.is_empty() && out.last() != Some(&b'\n') {
                    out.push(b'\n');
                }
                out.extend_from_slice(&[*byte, b'\n']);
                breaks = 0;
            }
            b',' => out.push(b','),
            b'\n' => breaks += 1,
            _ => {}
        }
    }
    if !out.is_empty() && out.last() != Some(&b'\n') {
        out.push(b'\n');
    }
    if breaks > 1 && !out.is_empty() && !out.ends_with(b"\n\n") {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ads_get_their_spaces_and_the_rest_stays() {
        let text = b"# slots\nCpus=4\n  Requirements =  (a>1)&&b  \nBad = (\nPath = \"c:\\\" \n\nX = 1 // y\n";
        let expected = b"# slots\nCpus = 4\nRequirements = (a > 1) && b\nBad = (\nPath = \"c:\\\" \n\nX = 1 // y\n";
        assert_eq!(String::from_utf8_lossy(&long(text, Semantics::default())), String::from_utf8_lossy(expected));
    }

    #[test]
    fn values_that_are_no_expressions_are_told_with_their_lines() {
        let found = unformatted(b"# a = (\nA = 1 +\n\nB = A + 1\nC = (\r\nD = 1 // (\n", Semantics::default());
        let found: Vec<String> = found.iter().map(|one| format!("{} {}", one.line(), one.message)).collect();
        assert!(found[0].starts_with("2 `A` is not a valid expression and is left unchanged: "), "{found:?}");
        assert!(found[1].starts_with("5 `C` is not a valid expression and is left unchanged: "), "{found:?}");
        assert_eq!(found.len(), 2);
        // A line that is not an attribute; a banner of condor_history and a blank line end an ad; blanks do not.
        let found = unformatted(b"A = 1\n Foo bar baz\r\nB=2\n*** Offset of an ad\n\t\n# no\n", Semantics::default());
        let found: Vec<(u32, &str)> = found.iter().map(|one| (one.line(), one.message.as_str())).collect();
        let expected = "`Foo bar baz` is not an attribute and is left unchanged: expected `name = value`, found no `=`";
        assert_eq!(found, [(2, expected)]);
    }

    #[test]
    fn an_ad_takes_a_line_an_attribute() {
        assert_eq!(expression(b"[a=1;b={1,2}]", 80).unwrap(), b"[\n    a = 1;\n    b = { 1, 2 }\n]\n");
        assert_eq!(expression(b"a&&b", 80).unwrap(), b"a && b\n");
    }

    #[test]
    fn other_versions_have_their_own_expressions() {
        let semantics: Semantics = "23.0".parse().unwrap();
        let options = ParseOptions { semantics, ..ParseOptions::default() };
        assert_eq!(expression_with(b"a>2G&&!b?:c", 80, &options).unwrap(), b"a > 2G && !b ?: c\n");
        assert!(expression(b"a>2G", 80).is_err());
        assert_eq!(long(b"A=10K\n", semantics), b"A = 10K\n");
        assert_eq!(unformatted(b"A = 10K + 1\n", semantics), []);
        assert_eq!(unformatted(b"A = 10K + 1\n", Semantics::default()).len(), 1);
    }

    #[test]
    fn each_of_several_ads_is_laid_out() {
        let laid = |text: &str| {
            let once = several(text.as_bytes(), 80, &ParseOptions::default()).unwrap();
            assert_eq!(several(&once, 80, &ParseOptions::default()).unwrap(), once, "the second time");
            String::from_utf8(once).unwrap()
        };
        let (a, b) = ("[\n    a = 1\n]", "[\n    b = 2\n]");
        assert_eq!(laid("[a=1]\n[b=2]"), format!("{a}\n{b}\n"));
        assert_eq!(laid("[a=1]\n\n\n// the second\n[b=2]\n"), format!("{a}\n\n// the second\n{b}\n"));
        assert_eq!(laid("{\n[a=1],\n[b=2]}\n"), format!("{{\n{a},\n{b}\n}}\n"));
        assert_eq!(laid("[a=1] // of a [\n/* b */ [b=2]\n// end"), format!("{a}\n// of a [\n/* b */\n{b}\n// end\n"));
        assert!(several(b"[a=1]\n[b=", 80, &ParseOptions::default()).is_err());
        assert!(several(b"[a=1]\nb", 80, &ParseOptions::default()).is_err());
    }
}
