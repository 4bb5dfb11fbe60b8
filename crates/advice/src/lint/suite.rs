//! Files of policy tests: their configuration, their ads, and the expressions of the tests.
//!
//! In: the text of the file, and the configuration it names. Out: alarms whose places are places of the file itself.

use std::ops::Range;
use std::sync::Arc;

use super::ads::AdLinter;
use super::expression::{LintContext, Role, lint as lint_expression};
use super::schema::AdSchema;
use super::versions::LintVersions;
use super::{LineIndex, config, placed};
use crate::policy_test::file::{AdSource, PolicyFile, TestFileError};
use crate::policy_test::run::ads_of;
use classmate::internal::diagnostic::Excerpt;
use classmate::internal::span::Position;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, Diagnostic, Name, Span};
use classmate_config::{Config, Context};

/// Codes that are not mistakes in a test, which may well contain constants.
const ASKED: [&str; 6] =
    ["always-true", "always-false", "always-undefined", "always-error", "constant-clause", "never-true"];

/// Checks a file of tests; `beside` gives the text of a file next to it.
pub fn lint(
    name: &Arc<str>,
    text: &[u8],
    versions: &LintVersions,
    beside: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Vec<Diagnostic> {
    let file = match PolicyFile::parse(&String::from_utf8_lossy(text)) {
        Ok(file) => file,
        Err(TestFileError::Text(finding)) => {
            let excerpt = Excerpt { text: text.to_vec(), subject: None };
            return vec![placed(finding.code("syntax"), name, 1, excerpt, None)];
        }
        Err(TestFileError::Other(_)) => return Vec::new(),
    };
    let piece = |span: Range<usize>, value: &str| {
        let value = value.as_bytes().to_vec();
        let places = places(text, span, &value);
        Piece { file: name, text, starts: LineIndex::of(&value), value, places }
    };
    let mut alarms = Vec::new();
    if let Some(config) = &file.config {
        alarms.extend(configuration(&file, &piece(config.span(), config.get_ref()), versions, beside));
    }
    let mut known: Vec<ClassAd> = Vec::new();
    for source in file.ads.values() {
        let AdSource::Text(ad) = source.get_ref() else { continue };
        let piece = piece(source.span(), ad);
        let mut linter = AdLinter::within(Arc::new(AdSchema::of(versions)));
        if ad.trim_start().starts_with('[') {
            linter.written(name, &piece.value);
        } else {
            linter.long(name, &piece.value);
        }
        alarms.extend(linter.finish().into_iter().map(|alarm| piece.in_file(alarm)));
        known.extend(ads_of(ad.as_bytes(), versions.read));
    }
    let defined = |name: Name| known.iter().any(|ad| ad.contains(name));
    let sets = file.pool.slots.iter().chain(&file.pool.jobs).flat_map(|copies| copies.set.values());
    let of_tests = file.tests.iter().flat_map(|test| [&test.expression, &test.value, &test.clause]);
    for expression in of_tests.flatten().chain(sets) {
        let piece = piece(expression.span(), expression.get_ref());
        let (text, role, quoting) = (piece.value.as_slice(), Role::default(), Quoting::New);
        let context = LintContext { defined: &defined, versions, ..LintContext::of(text, quoting, role) };
        let found = lint_expression(&context).into_iter().filter(|found| !ASKED.contains(&found.code));
        let excerpt = Excerpt { text: piece.value.clone(), subject: None };
        alarms.extend(found.map(|found| piece.in_file(placed(found, name, 1, excerpt.clone(), None))));
    }
    alarms.sort_by_key(|alarm| {
        let place = alarm.range().0;
        (place.line, place.column)
    });
    alarms
}

/// A string of the file: its value, and the place of each of its bytes.
struct Piece<'a> {
    file: &'a Arc<str>,
    /// The text of the file.
    text: &'a [u8],
    value: Vec<u8>,
    starts: LineIndex,
    /// The place in the file of every byte, and of what follows the last one.
    places: Vec<usize>,
}

/// Checks the configuration of a file of tests, which is read after the one it names.
fn configuration(
    file: &PolicyFile,
    piece: &Piece<'_>,
    versions: &LintVersions,
    beside: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Vec<Diagnostic> {
    const NAME: &str = "config";
    let mut read = Config::new(Context { semantics: versions.read, ..Context::default() });
    if let Some(name) = &file.config_file {
        let Some(text) = beside(name) else { return Vec::new() };
        if read.add(name, &text).is_err() {
            return Vec::new();
        }
    }
    let refused = read.add(NAME, &piece.value).err();
    let schema = AdSchema::of(versions);
    let mut alarms = config::lint_beside(&read, Some(&schema));
    alarms.extend(refused.map(|error| config::refusal(&read, &error)));
    let ours = alarms.into_iter().filter(|alarm| alarm.file() == NAME);
    ours.map(|alarm| piece.in_file(alarm)).collect()
}

impl Piece<'_> {
    /// A diagnostic of the string as one of the file.
    fn in_file(&self, mut found: Diagnostic) -> Diagnostic {
        let Excerpt { text, subject } = *found.excerpt.take().unwrap_or_default();
        let start = self.starts.offset(found.line(), 1).unwrap_or_default().min(self.value.len());
        let (whole, verbatim) = (self.text, self.value[start..].starts_with(&text));
        let place = |offset: usize| self.places[(start + offset).min(self.value.len())];
        if !verbatim {
            // The text after expansion, on the line from which it comes.
            let line = Position::of(whole, place(0)).line;
            return placed(found, self.file, line, Excerpt { text, subject }, None);
        }
        let moved = |span: Span| {
            let range = span.range();
            Span::new(place(range.start), place(range.end).max(place(range.start)))
        };
        found.span = moved(found.span);
        let mut all = found.span;
        if let Some(related) = &mut found.related {
            related.span = moved(related.span);
            all = all.to(related.span);
        }
        let all = all.range();
        let first = memchr::memrchr(b'\n', &whole[..all.start.min(whole.len())]).map_or(0, |newline| newline + 1);
        let end = all.end.min(whole.len());
        let last = memchr::memchr(b'\n', &whole[end..]).map_or(whole.len(), |newline| end + newline);
        let back = |span: Span| Span::new(span.range().start - first, span.range().end - first);
        found.span = back(found.span);
        if let Some(related) = &mut found.related {
            related.span = back(related.span);
        }
        let excerpt = Excerpt { text: whole[first..last].to_vec(), subject };
        placed(found, self.file, Position::of(whole, first).line, excerpt, None)
    }
}

/// The offsets in the file of the bytes of a TOML string, given the place of the string with its quotes; all at its
/// beginning if that is not known.
fn places(file: &[u8], span: Range<usize>, value: &[u8]) -> Vec<usize> {
    let (start, end) = (span.start.min(file.len()), span.end.min(file.len()));
    let written = &file[start..end];
    let quote = written.first().copied().unwrap_or_default();
    let long = written.len() >= 6 && written.starts_with(&[quote; 3]);
    let mut at = if long { 3 } else { 1 };
    if long {
        // A line break behind the quotes is none of the text.
        at += [&b"\r\n"[..], b"\n"].into_iter().find(|end| written[at..].starts_with(end)).map_or(0, <[u8]>::len);
    }
    let last = written.len().saturating_sub(if long { 3 } else { 1 });
    let mut places = Vec::with_capacity(value.len() + 1);
    while at < last && places.len() < value.len() {
        if quote == b'"' && written[at] == b'\\' {
            let Some(&letter) = written.get(at + 1) else { break };
            let (bytes, length) = match letter {
                b'u' | b'U' => {
                    let digits = if letter == b'u' { 4 } else { 8 };
                    let code = written.get(at + 2..at + 2 + digits).and_then(|text| std::str::from_utf8(text).ok());
                    let code = code.and_then(|text| u32::from_str_radix(text, 16).ok()).and_then(char::from_u32);
                    (code.map_or(1, char::len_utf8), 2 + digits)
                }
                // A line break behind a backslash, and all blanks behind it, are none of the text.
                b'\n' | b'\r' | b' ' | b'\t' => {
                    (0, 1 + written[at + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count())
                }
                _ => (1, 2),
            };
            places.extend(std::iter::repeat_n(start + at, bytes));
            at += length;
        } else if written[at] == b'\r' && written.get(at + 1) == Some(&b'\n') && value.get(places.len()) == Some(&b'\n')
        {
            at += 1;
        } else {
            places.push(start + at);
            at += 1;
        }
    }
    if places.len() != value.len() || at > last {
        return vec![start; value.len() + 1];
    }
    places.push(start + at);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, line and column of what is found, and what is underlined.
    fn found(text: &str) -> Vec<String> {
        let shown = |alarm: &Diagnostic| {
            let place = alarm.range().0;
            let marked = String::from_utf8_lossy(&alarm.text()[alarm.span.range()]).into_owned();
            format!("{} {}:{} {marked}", alarm.code, place.line, place.column)
        };
        lint(&Arc::from("f.toml"), text.as_bytes(), &LintVersions::default(), &|_| None).iter().map(shown).collect()
    }

    #[test]
    fn everything_is_looked_at_where_it_stands() {
        let text = "config = '''\nGROUP_NAMES = a\nGROUP_QUOTA_a = 1\nNEGOTIATOR_INTERVALL = 5\n\
                    PREEMPTION_REQUIREMENTS = x > 5 && x < 3\n'''\n\
                    [ads]\n\
                    slot = '''\nMyType = \"Machine\"\nMemory = 2G\nStart = TARGET.GlobalJobId != \"\"\n'''\n\
                    job = '[ Requirements = TARGET.OpSys == LINUX && TARGET.x > 1; A = 1 ]'\n\
                    escaped = \"[ A = \\\"x\\\"; Requirements = TARGET.Arch == INTEL ]\"\n\
                    [[test]]\nname = 't'\nmy = 'job'\nexpression = 'A == undefined'\nvalue = 'true = 5'\n\
                    [[test]]\nname = 'constant'\nexpression = '1 + 1 == 2'\nvalue = 'true'\n";
        assert_eq!(
            found(text),
            [
                "unknown-knob 4:1 NEGOTIATOR_INTERVALL",
                "contradiction 5:36 x < 3",
                "size-suffix 10:11 G",
                "per-job-attribute 11:9 TARGET.GlobalJobId",
                "unquoted-word 13:41 LINUX",
                "unquoted-word 14:55 INTEL",
                "compared-with-undefined 18:17 ==",
                "assignment 19:15 =",
            ]
        );
    }

    #[test]
    fn a_configuration_is_read_over_the_one_beside() {
        let text = "config-file = 'pool.conf'\nconfig = 'GROUP_QUOTA_a = 5'";
        let beside = |name: &str| (name == "pool.conf").then(|| b"GROUP_NAMES = a".to_vec());
        assert_eq!(lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default(), &beside), []);
        assert_eq!(found("config = 'GROUP_QUOTA_a = 5'"), ["undeclared-group 1:11 GROUP_QUOTA_a"]);
        assert_eq!(found(text), Vec::<String>::new());
    }
}
