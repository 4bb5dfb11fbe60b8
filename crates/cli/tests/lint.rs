//! Every code of `classmate lint` is documented with an example that gives it and one that gives nothing.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use classmate_advice::internal::lint::catalogue::CHECKS;

/// The examples of the document: code, kind, whether it is a bad one, text.
fn examples() -> Vec<(String, String, bool, String)> {
    let text =
        std::fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/lint.md")).unwrap();
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
fn a_byte_order_mark_stays_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.conf");
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments).arg(&path).output().unwrap();
    std::fs::write(&path, "\u{feff}START = a > 5 && b > 1 && a > 1\n").unwrap();
    let linted = run(&["lint", "--fix"]);
    assert!(String::from_utf8_lossy(&linted.stdout).contains("starts with a byte order mark"));
    assert_eq!(linted.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}START = a > 5 && b > 1\n");
    std::fs::write(&path, "\u{feff}START = a>5\n").unwrap();
    let laid_out = run(&["fmt"]);
    assert!(String::from_utf8_lossy(&laid_out.stderr).contains("starts with a byte order mark"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}START = a > 5\n");
}

#[test]
fn what_fix_writes_keeps_the_value_or_gives_one() {
    let folder = tempfile::tempdir().unwrap();
    for (text, fixed) in [
        ("START = a > 5 && b > 1 && a > 1 && b > 1\n", "START = a > 5 && b > 1\n"),
        ("START = TARGET.Memory > 5 & Cpus = 2\n", "START = TARGET.Memory > 5 && Cpus == 2\n"),
        ("# kept\nSTART = GPUs == undefined\n\n", "# kept\nSTART = GPUs =?= undefined\n\n"),
        ("START = OpSys == LINUX\n", "START = OpSys == LINUX\n"),
        // A comment between the lines of a value stays.
        (
            "START = TARGET.A > 3 || \\\n  # why we need B\n  TARGET.A > 3 || \\\n  TARGET.B\n",
            "START = TARGET.A > 3 || \\\n  # why we need B\n  TARGET.A > 3 || \\\n  TARGET.B\n",
        ),
        (
            "START = TARGET.A > 3 || \\\n  # why \\\n  TARGET.A > 3 || \\\n  TARGET.B\n",
            "START = TARGET.A > 3 || \\\n  # why \\\n  TARGET.A > 3 || \\\n  TARGET.B\n",
        ),
        ("START = a > 1 /* kept */ && a > 1\n", "START = a > 1 /* kept */ && a > 1\n"),
        ("START = GPUs /* kept */ == undefined\n", "START = GPUs /* kept */ == undefined\n"),
        // The bits may be meant: `(TARGET.a & 4) == 4`.
        ("START = TARGET.a & 4 == 4\n", "START = TARGET.a & 4 == 4\n"),
    ] {
        let path = folder.path().join("pool.conf");
        std::fs::write(&path, text).unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_classmate")).args(["lint", "--fix"]).arg(&path).output().unwrap();
        assert!(status.status.code().is_some_and(|code| code != 1));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), fixed);
    }
}

#[test]
fn words_that_no_ad_of_the_pool_has_are_texts() {
    let folder = tempfile::tempdir().unwrap();
    let slots = "MyType = \"Machine\"\nGLIDEIN_Site = \"MIT\"\nStart = TARGET.Owner == bob && TARGET.Group == Site\n";
    let jobs = "MyType = \"Job\"\nClusterId = 1\nOwner = \"bob\"\nGroup = \"x\"\nSite = \"x\"\n\
                Requirements = TARGET.GLIDEIN_Site == MIT && TARGET.GLIDEIN_Site != LastRemoteHost\n";
    for (name, text) in [("slots.ads", slots), ("jobs.ads", jobs), ("config", "PREEMPT = TARGET.Owner == root\n")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let told = |files: &[&std::path::Path]| {
        let command =
            Command::new(env!("CARGO_BIN_EXE_classmate")).args(["lint", "--format", "json"]).args(files).output();
        let result: serde_json::Value = serde_json::from_slice(&command.unwrap().stdout).unwrap();
        let place = |alarm: &serde_json::Value| {
            format!("{} {}:{}", alarm["code"].as_str().unwrap(), alarm["line"], alarm["column"])
        };
        result["alarms"].as_array().unwrap().iter().map(place).collect::<Vec<String>>()
    };
    assert_eq!(told(&[folder.path()]), ["unquoted-word 3:25", "unquoted-word 6:39", "unquoted-word 1:27"]);
    // Of a slot alone nobody knows what the jobs have.
    assert_eq!(told(&[&folder.path().join("slots.ads")]), Vec::<String>::new());
}

#[test]
fn expressions_may_begin_with_a_minus_sign() {
    let command = ["lint", "-e", "-5 < TARGET.Cpus"];
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(command).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 errors, 0 warnings\n");
}

#[test]
fn a_sarif_log_names_files_by_valid_references() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b#1.conf");
    std::fs::write(&path, "NEGOTIATOR_INTERVALL = 5\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(["lint", "--format", "sarif"]).arg(&path).output();
    let log: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("/a%20b%231.conf"), "{place}");
}

#[test]
fn a_sarif_log_tells_the_related_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.conf");
    std::fs::write(&path, "START = TARGET.Weight > 5 && \\\n  TARGET.Weight < 3\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(["lint", "--format", "sarif"]).arg(&path).output();
    let log: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    let region = |of: &serde_json::Value| {
        let region = &of["physicalLocation"]["region"];
        format!("{}:{}-{}", region["startLine"], region["startColumn"], region["endColumn"])
    };
    assert_eq!(region(&result["locations"][0]), "2:3-20");
    assert_eq!(region(&result["relatedLocations"][0]), "1:9-26");
    assert_eq!(result["relatedLocations"][0]["message"]["text"], "conflicts with this");
}

/// Runs the command with a text on standard input; its status and output.
fn fed(arguments: &[&str], text: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

const NEW_SYNTAX: [&str; 5] = [
    "[\n  Requirements = TARGET.Memory > 5;\n  Owner = \"bob\";\n  Cpus = 1\n]\n",
    "// a slot\n[\n  Cpus = 1;\n]\n[\n  Cpus = 2\n]\n",
    "{\n[ Cpus = 1; Memory = 5 ]\n,\n[\n  Cpus = 2 ]\n}\n",
    "[ Cpus = 1 ]\n",
    "/* two */ [ A = { 1, 2 };\n B = [ C = 3 ] ]",
];

#[test]
fn ads_of_new_syntax_are_checked_and_laid_out_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    for text in NEW_SYNTAX {
        // With and without a name that says what it is.
        for name in ["jobs.ads", "jobs"] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let run = |command: &str| {
                let output = Command::new(env!("CARGO_BIN_EXE_classmate")).arg(command).arg(&path).output().unwrap();
                (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
            };
            assert_eq!(run("lint"), (Some(0), "0 errors, 0 warnings\n".to_owned()), "{text}");
            assert_eq!(run("fmt"), (Some(0), String::new()), "{text}");
            let once = std::fs::read_to_string(&path).unwrap();
            assert_eq!(run("fmt"), (Some(0), String::new()), "{once}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), once);
            assert_eq!(run("lint").0, Some(0), "{once}");
        }
    }
    let path = folder.path().join("jobs.ads");
    std::fs::write(&path, "[\n  Requirements = TARGET.Memory > 5 && TARGET.Memory < 3;\n  Cpus = 1\n]\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).arg("lint").arg(&path).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("warning[contradiction]") && told.ends_with("0 errors, 1 warning\n"), "{told}");
}

#[test]
fn the_type_of_standard_input_is_detected() {
    for text in NEW_SYNTAX {
        assert_eq!(fed(&["lint", "-"], text), (Some(0), "0 errors, 0 warnings\n".to_owned()), "{text}");
    }
    for (text, code) in [
        ("MyType = \"Job\"\nRequirements = TARGET.OpSys == LINUX\n", "unquoted-word"),
        ("START = TARGET.Memory > 5 && TARGET.Memory < 3\n", "contradiction"),
        ("executable = /bin/sleep\nrequirments = TARGET.Memory > 1024\nqueue\n", "unknown-command"),
        ("[\n Requirements = 1 =?= 1.0 && TARGET.x\n]\n", "always-false"),
    ] {
        let (status, told) = fed(&["lint", "-"], text);
        assert!(status == Some(0) && told.contains(&format!("[{code}]")), "{text}: {told}");
    }
    let (status, told) = fed(&["lint", "-", "-"], "START = true\n");
    assert!(status == Some(2) && told.contains("can be read only once"), "{told}");
    assert_eq!(fed(&["fmt", "-"], "[\na=1;b=2]\n").1, "[\n    a = 1;\n    b = 2\n]\n");
}

#[test]
fn a_folder_of_configuration_files_follows_its_root() {
    for name in ["config.d", "condor.d"] {
        folder_follows_its_root(name);
    }
}

fn folder_follows_its_root(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join(name);
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("10-a.conf"), "START = TARGET.x > $(LEAST)\n").unwrap();
    std::fs::write(parts.join("20-b.conf"), "SUSPEND = TARGET.x < $(LEAST)\n").unwrap();
    std::fs::write(parts.join("20-b.conf~"), "SUSPEND = (\n").unwrap();
    let lint = || {
        let output = Command::new(env!("CARGO_BIN_EXE_classmate")).arg("lint").arg(&parts).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, told) = lint();
    assert!(status == Some(0) && told.contains("warning[undefined-macro]"), "{told}");
    assert!(told.contains("`START` and 1 other variable") && told.ends_with("0 errors, 1 warning\n"), "{told}");
    std::fs::write(folder.path().join("condor_config"), "LOCAL_DIR = /var\n").unwrap();
    assert_eq!(lint().0, Some(2));
    std::fs::write(folder.path().join("condor_config"), "LEAST = 3\n").unwrap();
    assert_eq!(lint(), (Some(0), "0 errors, 0 warnings\n".to_owned()));
    // A pool may have such a name, too.
    std::fs::write(parts.join("slots.ads"), "Name = \"s\"\nCpus = 1\n").unwrap();
    std::fs::write(folder.path().join("condor_config"), "PREEMPT = (\n").unwrap();
    let (status, told) = lint();
    let is_folder = name == "config.d";
    assert_eq!((status == Some(2), told.contains("condor_config")), (is_folder, is_folder), "{told}");
}

#[test]
fn rules_are_selected_counted_and_kept_in_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let (path, known) = (folder.path().join("pool.conf"), folder.path().join("baseline.json"));
    std::fs::write(&path, "NEGOTIATOR_INTERVALL = 5\nSTART = TARGET.a > 5 && TARGET.a < 3\n").unwrap();
    let lint = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_classmate")).arg("lint").arg(&path).args(arguments).output();
        String::from_utf8(command.unwrap().stdout).unwrap()
    };
    let last = |arguments: &[&str]| lint(arguments).lines().last().unwrap().to_owned();
    assert_eq!(last(&[]), "0 errors, 2 warnings");
    assert_eq!(last(&["--select", "contradiction"]), "0 errors, 1 warning");
    assert_eq!(last(&["--ignore", "contradiction", "--allow", "unknown-knob"]), "0 errors, 0 warnings");
    let statistics = lint(&["--statistics"]);
    assert!(statistics.starts_with("     1  unknown-knob   warning  unknown name"), "{statistics}");
    assert_eq!(statistics.lines().count(), 3);
    std::fs::write(&known, lint(&["--format", "json"])).unwrap();
    let baseline = ["--baseline", known.to_str().unwrap()];
    assert_eq!(last(&baseline), "0 errors, 0 warnings (2 in the baseline)");
    // Lines move, and what is new is reported.
    std::fs::write(
        &path,
        "# moved\nNEGOTIATOR_INTERVALL = 5\n# classmate: allow odd-number\nX_LIMIT = ten\n\
         START = TARGET.a > 5 && TARGET.a < 3\nSUSPEND = TARGET.b > 5 && TARGET.b < 3\n",
    )
    .unwrap();
    assert_eq!(last(&baseline), "0 errors, 1 warning (1 allowed by comments, 2 in the baseline)");
    std::fs::write(&known, "[]").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).arg("lint").arg(&path).args(baseline).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("is not a result of `classmate lint"), "{told}");
}

#[test]
fn unsafe_fixes_are_shown_and_applied_when_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.sub");
    let text = "executable = /bin/a\nrequirments = x\nrequirements = TARGET.OpSys == LINUX && a > 1 && a > 1\nqueue\n";
    std::fs::write(&path, text).unwrap();
    let lint = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_classmate")).arg("lint").arg(&path).args(arguments).output();
        let output = command.unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, shown) = lint(&["--diff"]);
    assert_eq!(status, Some(1));
    assert!(shown.contains("+requirements = TARGET.OpSys == LINUX && a > 1\n"), "{shown}");
    let (_, shown) = lint(&["--unsafe-fixes", "--diff"]);
    assert!(shown.contains("+requirements = TARGET.OpSys == \"LINUX\" && a > 1\n"), "{shown}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    lint(&["--fix"]);
    let safe = "executable = /bin/a\nrequirments = x\nrequirements = TARGET.OpSys == LINUX && a > 1\nqueue\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), safe);
    assert_eq!(lint(&["--fix", "--diff"]), (Some(0), String::new()));
    lint(&["--unsafe-fixes"]);
    let whole = "executable = /bin/a\nrequirements = x\nrequirements = TARGET.OpSys == \"LINUX\" && a > 1\nqueue\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn the_settings_of_a_directory_hold_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("site");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(
        folder.path().join("classmate.toml"),
        "[lint]\nselect = ['unknown-knob', 'contradiction']\nignore = ['contradiction']\ndeny-warnings = true\n",
    )
    .unwrap();
    std::fs::write(
        below.join("pool.conf"),
        "NEGOTIATOR_INTERVALL = 5\nSTART = TARGET.a > 5 && TARGET.a < 3\nRANK = TARGET.b / 0\n",
    )
    .unwrap();
    let lint = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_classmate"))
            .current_dir(&below)
            .args(["lint", "pool.conf", "--statistics"])
            .args(arguments)
            .output();
        let output = command.unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let codes = shown.lines().filter(|line| line.starts_with(' '));
        let codes = codes.map(|line| line.split_whitespace().nth(1).unwrap().to_owned());
        (output.status.code(), codes.collect::<Vec<_>>())
    };
    assert_eq!(lint(&[]), (Some(2), vec!["unknown-knob".to_owned()]));
    assert_eq!(lint(&["--extend", "contradiction"]).1, ["unknown-knob", "contradiction"]);
    assert_eq!(lint(&["--extend", "division-by-zero"]).1, ["unknown-knob", "division-by-zero"]);
    assert_eq!(lint(&["--select", "division-by-zero"]).1, ["division-by-zero"]);
}

#[test]
fn watched_files_are_checked_again() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let (path, included) = (folder.path().join("pool.conf"), folder.path().join("more.conf"));
    std::fs::write(&included, "NEGOTIATOR_INTERVAL = 60\n").unwrap();
    std::fs::write(&path, format!("include : {}\n", included.display())).unwrap();
    // Links that lead back are not followed.
    let pool = folder.path().join("pool");
    std::fs::create_dir(&pool).unwrap();
    std::fs::write(pool.join("config"), "NEGOTIATOR_INTERVAL = 60\n").unwrap();
    std::os::unix::fs::symlink(&pool, pool.join("again")).unwrap();
    std::os::unix::fs::symlink(&pool, pool.join("and-again")).unwrap();
    let watch = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(["lint", "--watch"])
        .args([&path, &pool])
        .stdout(Stdio::piped())
        .spawn();
    let mut watch = Endless(watch.unwrap());
    let mut lines = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    let mut summary = || lines.by_ref().map(Result::unwrap).find(|line| line.contains(" errors, ")).unwrap();
    assert_eq!(summary(), "0 errors, 0 warnings");
    std::fs::write(&included, "NEGOTIATOR_INTERVALL = 600\n").unwrap();
    assert_eq!(summary(), "0 errors, 1 warning");
}

/// A command that does not end by itself.
struct Endless(std::process::Child);

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).map(drop).unwrap_or_default();
    }
}

#[test]
fn a_diff_counts_what_it_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.conf");
    let diff = |text: &str, arguments: &[&str]| {
        std::fs::write(&path, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        let output = command.args(["lint", "--diff"]).arg(&path).args(arguments).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap().lines().filter(|line| line.starts_with('+')).count();
        (output.status.code().unwrap(), lines, String::from_utf8(output.stderr).unwrap())
    };
    // The line of the new file, and the changed one.
    let fixed = diff("START = TARGET.a == 1 && TARGET.a == 1\n", &[]);
    assert_eq!((fixed.0, fixed.1, &*fixed.2), (1, 2, ""));
    let broken = diff("START = (\n", &[]);
    assert_eq!((broken.0, broken.1), (2, 0));
    assert!(broken.2.ends_with("1 finding without such a fix\n"), "{}", broken.2);
    // The name may be meant.
    let named = "NEGOTIATOR_INTERVALL = 600\n";
    let safe = diff(named, &[]);
    assert_eq!((safe.0, safe.1), (0, 0));
    assert!(safe.2.ends_with("1 finding without such a fix\n"), "{}", safe.2);
    assert_eq!((diff(named, &["--unsafe-fixes"]).0, diff(named, &["--deny-warnings"]).0), (1, 2));
}
