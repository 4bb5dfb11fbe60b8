//! Mistakes and what is said about them, as pairs.
//!
//! Each file in `tests/golden` is named after a mistake. It holds the text, the report as it is shown, and, when the
//! report knows what to write instead, the text with that put in. `UPDATE_GOLDEN=1 cargo test --test golden` writes
//! the files anew: reviewing a change of messages means reading the difference.
//!
//! A first line `%% strict`, `%% old` or `%% escaped` says how the text is read; `escaped` stands for bytes written
//! as `\xNN`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use classmate::internal::builtin::check::check;
use classmate::internal::error::Finding;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::parse::{Mode, ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;
use classmate_cli::report::{Color, Origin, render_finding};

const REPORT: &str = "\n--- report\n";
const FIXED: &str = "--- fixed\n";

struct Mistake {
    directive: Option<String>,
    written: String,
    source: Vec<u8>,
    options: ParseOptions,
}

impl Mistake {
    fn read(text: &str) -> Mistake {
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
        Mistake { directive, written, source, options }
    }

    fn findings(&self, source: &[u8]) -> Vec<Finding> {
        match parse_expr(source, &self.options) {
            Ok(expr) => check(&expr, source),
            Err(error) => vec![diagnose(source, &error, &self.options)],
        }
    }

    /// The whole file as it should be.
    fn golden(&self, findings: &[Finding]) -> String {
        let mut out = String::new();
        if let Some(directive) = &self.directive {
            writeln!(out, "%% {directive}").unwrap();
        }
        out.push_str(&self.written);
        out.push_str(REPORT);
        for finding in findings {
            let report = render_finding(finding, &self.source, &Origin::whole("example"), Color::Off);
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

fn files() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/golden");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "golden"));
    files.sort();
    files
}

#[test]
fn every_mistake_is_reported_as_recorded() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = String::new();
    for file in files() {
        let recorded = std::fs::read_to_string(&file).unwrap();
        let mistake = Mistake::read(&recorded);
        let golden = mistake.golden(&mistake.findings(&mistake.source));
        if update {
            std::fs::write(&file, golden).unwrap();
        } else if golden != recorded {
            writeln!(wrong, "{}\nrecorded:\n{recorded}\nnow:\n{golden}", file.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "reports changed; look at them, then set UPDATE_GOLDEN=1\n{wrong}");
}

#[test]
fn every_mistake_gets_help() {
    let files = files();
    assert!(files.len() >= 40, "{}", files.len());
    for file in files {
        let mistake = Mistake::read(&std::fs::read_to_string(&file).unwrap());
        let findings = mistake.findings(&mistake.source);
        assert!(!findings.is_empty(), "{}: nothing is wrong", file.display());
        for finding in findings {
            assert!(finding.help.is_some(), "{}: no help", file.display());
            let style = finding.message.chars().next().unwrap();
            assert!(!style.is_uppercase() && !finding.message.ends_with('.'), "{}: style", file.display());
        }
    }
}

#[test]
fn what_is_to_be_written_instead_is_right() {
    for file in files() {
        let mistake = Mistake::read(&std::fs::read_to_string(&file).unwrap());
        for finding in mistake.findings(&mistake.source) {
            let Some(fix) = &finding.fix else { continue };
            let fixed = fix.apply(&mistake.source);
            // Either nothing is wrong any more, or the next mistake stands behind.
            let behind = mistake
                .findings(&fixed)
                .iter()
                .all(|next| next.message != finding.message || next.span.start > finding.span.start);
            assert!(behind, "{}: {:?}", file.display(), String::from_utf8_lossy(&fixed));
            let parses = parse_expr(&fixed, &mistake.options);
            let further = parses.as_ref().err().is_none_or(|error| error.span.start > fix.span.start);
            assert!(further, "{}: {:?}: {parses:?}", file.display(), String::from_utf8_lossy(&fixed));
        }
    }
}

/// Every beginning of every mistake, and every mistake with a byte replaced, is read and reported without harm.
#[test]
fn no_text_breaks_the_reports() {
    for file in files() {
        let mistake = Mistake::read(&std::fs::read_to_string(&file).unwrap());
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
                let report = render_finding(&finding, &text, &Origin::whole("example"), Color::On);
                assert!(report.len() < 20_000, "{}", report.len());
                assert!(finding.span.start <= finding.span.end, "{finding:?}");
                assert!(finding.span.range().end <= text.len() + 1, "{finding:?}: {text:?}");
                if let Some(fix) = &finding.fix {
                    assert!(fix.span.range().end <= text.len(), "{finding:?}: {text:?}");
                }
            }
        }
    }
}
