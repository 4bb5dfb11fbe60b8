//! Pools with one planted problem each, which must be the first that a command reports.
//!
//! Each file in `planted` holds the pools of one kind, each in a table with its name: `problem` describes what is wrong
//! with the pool, `ask` is the command, `first` is a part of the first cause or warning that the command reports (for
//! `lint`, the code of the first finding), and `reason` is the kind of the first cause. If there are `lines`, the suggestions in the
//! text that the command prints are these.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    problem: String,
    ask: Vec<String>,
    first: String,
    reason: Option<String>,
    lines: Option<Vec<String>>,
    config: Option<String>,
    slots: Option<String>,
    jobs: Option<String>,
    log: Option<String>,
}

/// The kind and the words of the first finding of a command, and the lines of its suggestions.
fn first(planted: &Planted) -> (String, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
    };
    write("config", &planted.config);
    write("slots.ads", &planted.slots);
    write("jobs.ads", &planted.jobs);
    write("Accountantnew.log", &planted.log);
    let lint = planted.ask[0] == "lint";
    let of = if lint { folder.path().join("config") } else { folder.path().to_owned() };
    let ran = |format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        let command = command.arg(&planted.ask[0]).arg(&of).args(&planted.ask[1..]);
        command.args(["--format", format]).output().unwrap()
    };
    let lines = planted.lines.iter().flat_map(|_| {
        let text = String::from_utf8(ran("text").stdout).unwrap();
        let text = text.replace(&folder.path().display().to_string(), "DIR");
        text.lines().filter_map(|line| Some(line.strip_prefix("  ")?.to_owned())).collect::<Vec<_>>()
    });
    let (lines, output) = (lines.collect(), ran("json"));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let Ok(found) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return (String::new(), errors, lines);
    };
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    if lint {
        (String::new(), text(&found["alarms"][0]["code"]), lines)
    } else if planted.ask[0] == "autoclusters" {
        (String::new(), text(&found["warnings"][0]), lines)
    } else {
        (text(&found["causes"][0]["reason"]), text(&found["causes"][0]["text"]), lines)
    }
}

#[test]
fn the_planted_cause_is_reported_first() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planted");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut pools = 0;
    let mut wrong = Vec::new();
    for file in &files {
        let planted: BTreeMap<String, Planted> = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        pools += planted.len();
        for (name, planted) in &planted {
            let (reason, text, lines) = first(planted);
            if let Some(expected) = planted.lines.as_ref().filter(|expected| **expected != lines) {
                let (expected, lines) = (expected.join("\n  "), lines.join("\n  "));
                wrong.push(format!("{}: {name}: expected\n  {expected}\nfound\n  {lines}", file.display()));
            }
            if !text.contains(&planted.first) || planted.reason.as_ref().is_some_and(|wanted| *wanted != reason) {
                wrong.push(format!(
                    "{}: {name} ({}): expected {:?} `{}`\n  found `{reason}` `{text}`",
                    file.display(),
                    planted.problem,
                    planted.reason,
                    planted.first
                ));
            }
        }
    }
    assert!(pools >= 88, "only {pools} pools");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
