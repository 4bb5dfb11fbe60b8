//! Mistakes in expressions, and how they are reported.
//!
//! Each file in `golden` holds the mistakes of one topic. A line `=== name` starts a mistake. The source follows, then
//! its report below `--- report`, and the corrected source below `--- fixed` if the report suggests a correction. A
//! line `%% strict`, `%% old` or `%% escaped` above the source selects how it is read; in an escaped source, `\xNN` is
//! a byte.
//!
//! To add a mistake, write its name and source. `UPDATE=1 cargo test -p classmate-cli golden` writes the report; read
//! the difference before you keep it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use classmate::internal::builtin::check::check;
use classmate::internal::diagnostic::Diagnostic;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::parse::{Mode, ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;
use classmate_cli::report::{Color, Origin, render_diagnostic};

const NAME: &str = "=== ";
const REPORT: &str = "\n--- report\n";
const FIXED: &str = "--- fixed\n";

struct Mistake {
    name: String,
    recorded: String,
    directive: Option<String>,
    written: String,
    source: Vec<u8>,
    options: ParseOptions,
}

impl Mistake {
    /// Reads what follows the name in a file.
    fn read(name: &str, text: &str) -> Mistake {
        let head = text.split_once(REPORT).map_or(text.trim_end_matches('\n'), |(head, _)| head);
        let (directive, written) = match head.strip_prefix("%% ").and_then(|rest| rest.split_once('\n')) {
            Some((directive, written)) => (Some(directive.to_owned()), written.to_owned()),
            None => (None, head.to_owned()),
        };
        let mut options = ParseOptions { places: true, ..ParseOptions::default() };
        let mut source = written.clone().into_bytes();
        match directive.as_deref() {
            Some("strict") => options.mode = Mode::Strict,
            Some("old") => options.quoting = Quoting::Old,
            Some("escaped") => source = unescaped(&written),
            Some(other) => panic!("unknown directive {other}"),
            None => {}
        }
        Mistake { name: name.to_owned(), recorded: text.to_owned(), directive, written, source, options }
    }

    fn findings(&self, source: &[u8]) -> Vec<Diagnostic> {
        match parse_expr(source, &self.options) {
            Ok(expr) => check(&expr, source),
            Err(error) => vec![diagnose(source, &error, &self.options)],
        }
    }

    /// The entry as the findings make it.
    fn golden(&self, findings: &[Diagnostic]) -> String {
        let mut out = String::new();
        if let Some(directive) = &self.directive {
            writeln!(out, "%% {directive}").unwrap();
        }
        out.push_str(&self.written);
        out.push_str(REPORT);
        for finding in findings {
            let report = render_diagnostic(finding, &self.source, &Origin::whole("example"), Color::Off);
            for line in report.lines() {
                writeln!(out, "{}", line.trim_end()).unwrap();
            }
        }
        if let Some(fix) = findings.first().and_then(|finding| finding.fix.as_ref()) {
            out.push_str(FIXED);
            writeln!(out, "{}", String::from_utf8_lossy(&fix.apply(&self.source))).unwrap();
        }
        out
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&behind[..2], 16).unwrap());
        rest = &behind[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// The mistakes of one topic.
struct Topic {
    file: PathBuf,
    mistakes: Vec<Mistake>,
}

fn topics() -> Vec<Topic> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| Topic { mistakes: read_topic(&file), file }).collect()
}

/// Reads a file: the mistakes are separated by an empty line.
fn read_topic(file: &Path) -> Vec<Mistake> {
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let Some(entries) = text.strip_prefix(NAME) else {
        panic!("{}: expected `{NAME}` and a name in the first line", file.display())
    };
    let read = |entry: &str| {
        let (name, rest) = entry.split_once('\n').unwrap();
        Mistake::read(name, &format!("{rest}\n"))
    };
    entries.split(&format!("\n\n{NAME}")).map(read).collect()
}

fn mistakes() -> Vec<Mistake> {
    topics().into_iter().flat_map(|topic| topic.mistakes).collect()
}

#[test]
fn every_mistake_is_reported_as_recorded() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = String::new();
    for topic in topics() {
        let mut entries = Vec::new();
        for mistake in &topic.mistakes {
            let Mistake { name, recorded, .. } = mistake;
            let golden = mistake.golden(&mistake.findings(&mistake.source));
            if golden != *recorded {
                writeln!(wrong, "{}: {name}\nrecorded:\n{recorded}\nnow:\n{golden}", topic.file.display()).unwrap();
            }
            entries.push(format!("{NAME}{name}\n{golden}"));
        }
        if update {
            std::fs::write(&topic.file, entries.join("\n")).unwrap();
            wrong.clear();
        }
    }
    assert!(wrong.is_empty(), "reports changed; look at them, then set UPDATE=1\n{wrong}");
}

#[test]
fn every_mistake_has_one_name_and_gets_help() {
    let mistakes = mistakes();
    let names: BTreeSet<&str> = mistakes.iter().map(|mistake| mistake.name.as_str()).collect();
    assert_eq!(names.len(), mistakes.len(), "a name is used twice");
    assert!(mistakes.len() >= 171, "{}", mistakes.len());
    for mistake in &mistakes {
        let findings = mistake.findings(&mistake.source);
        let name = &mistake.name;
        assert!(!findings.is_empty(), "{name}: nothing is wrong");
        for finding in findings {
            assert!(finding.help.is_some(), "{name}: no help");
            let style = finding.message.chars().next().unwrap();
            assert!(!style.is_uppercase() && !finding.message.ends_with('.'), "{name}: style");
        }
    }
}

#[test]
fn what_is_to_be_written_instead_is_right() {
    for mistake in mistakes() {
        for finding in mistake.findings(&mistake.source) {
            let Some(fix) = &finding.fix else { continue };
            let fixed = fix.apply(&mistake.source);
            // Either nothing is wrong any more, or the next mistake stands behind.
            let behind = mistake
                .findings(&fixed)
                .iter()
                .all(|next| next.message != finding.message || next.span.start > finding.span.start);
            assert!(behind, "{}: {:?}", mistake.name, String::from_utf8_lossy(&fixed));
            let parses = parse_expr(&fixed, &mistake.options);
            let further = parses.as_ref().err().is_none_or(|error| error.span.start as usize > fix.range.start);
            assert!(further, "{}: {:?}: {parses:?}", mistake.name, String::from_utf8_lossy(&fixed));
        }
    }
}

/// Every beginning of every mistake, and every mistake with a byte replaced, is read and reported without harm.
#[test]
fn no_text_breaks_the_reports() {
    for mistake in mistakes() {
        let source = mistake.source.clone();
        let most = source.len().min(80);
        let cut = (0..most).map(|end| source[..end].to_vec());
        let changed = (0..most).flat_map(|at| {
            [b'(', b'"', b'\\', b'=', b'.', 0x80, b'\n', b'\''].map(|byte| {
                let mut text = source.clone();
                text[at] = byte;
                text
            })
        });
        for text in cut.chain(changed) {
            for finding in mistake.findings(&text) {
                let report = render_diagnostic(&finding, &text, &Origin::whole("example"), Color::On);
                assert!(report.len() < 20_000, "{}", report.len());
                assert!(finding.span.start <= finding.span.end, "{finding:?}");
                assert!(finding.span.range().end <= text.len() + 1, "{finding:?}: {text:?}");
                if let Some(fix) = &finding.fix {
                    assert!(fix.range.end <= text.len(), "{finding:?}: {text:?}");
                }
            }
        }
    }
}
