//! Every code of `classmate lint` is documented with an example that gives it and one that gives nothing.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use classmate::lint::catalogue::CHECKS;

/// The examples of the document: code, kind, whether it is a bad one, text.
fn examples() -> Vec<(String, String, bool, String)> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lint.md")).unwrap();
    let (mut found, mut code) = (Vec::new(), String::new());
    let mut open: Option<(String, bool, String)> = None;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("#### `") {
            title.trim_end_matches('`').clone_into(&mut code);
        } else if let Some((kind, bad, lines)) = &mut open {
            if line == "```" {
                found.push((code.clone(), std::mem::take(kind), *bad, std::mem::take(lines)));
                open = None;
            } else {
                lines.push_str(line);
                lines.push('\n');
            }
        } else if let Some((kind, which)) = line.strip_prefix("```").and_then(|info| info.split_once(' ')) {
            open = Some((kind.to_owned(), which == "bad", String::new()));
        }
    }
    found
}

/// The codes that a text gives.
fn codes(kind: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example");
    std::fs::write(&path, text).unwrap();
    let kind = if kind == "ad" { "ads" } else { kind };
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(["lint", "--format", "json", "--as", kind])
        .arg(&path)
        .output()
        .unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let alarms = result["alarms"].as_array().unwrap();
    alarms.iter().map(|alarm| alarm["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn bad_examples_give_their_code_and_good_ones_nothing() {
    let mut wrong = Vec::new();
    for (code, kind, bad, text) in examples() {
        let found = codes(&kind, &text);
        if bad && found.first() != Some(&code) || !bad && !found.is_empty() {
            wrong.push(format!("{code}, bad: {bad}: {text} gives {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_code_has_both_examples() {
    let of = |bad: bool| {
        let of_kind = examples().into_iter().filter(|example| example.2 == bad);
        of_kind.map(|(code, ..)| code).collect::<BTreeSet<_>>()
    };
    let all: BTreeSet<String> = CHECKS.iter().map(|check| check.code.to_owned()).collect();
    assert_eq!(of(true), all);
    assert_eq!(of(false), all);
}

#[test]
fn what_fix_writes_keeps_the_value_or_gives_one() {
    let folder = tempfile::tempdir().unwrap();
    for (text, fixed) in [
        ("START = a > 5 && b > 1 && a > 1 && b > 1\n", "START = a > 5 && b > 1\n"),
        ("START = TARGET.Memory > 5 & Cpus = 2\n", "START = TARGET.Memory > 5 && Cpus == 2\n"),
        ("# kept\nSTART = GPUs == undefined\n\n", "# kept\nSTART = GPUs =?= undefined\n\n"),
        ("START = OpSys == LINUX\n", "START = OpSys == LINUX\n"),
    ] {
        let path = folder.path().join("pool.conf");
        std::fs::write(&path, text).unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_classmate")).args(["lint", "--fix"]).arg(&path).output().unwrap();
        assert!(status.status.code().is_some_and(|code| code != 1));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), fixed);
    }
}
