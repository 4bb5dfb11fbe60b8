//! Help: every example that it prints works as it is typed, subcommands are in groups, and options of other scheduling policies are
//! out of the way.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A token: `{"alg":"HS256","kid":"POOL"}`, `{"iss":"example.org","sub":"monitor@example.org","iat":1}` and a signature of zeros.
const TOKEN: &str = "eyJhbGciOiJIUzI1NiIsImtpZCI6IlBPT0wifQ.\
    eyJpc3MiOiJleGFtcGxlLm9yZyIsInN1YiI6Im1vbml0b3JAZXhhbXBsZS5vcmciLCJpYXQiOjF9.\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";

/// An address where nothing listens.
const NO_COLLECTOR: &str = "127.0.0.1:1";

fn classmate(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The names of the subcommands, those of `config` too, as words of a command line.
fn subcommands() -> Vec<Vec<String>> {
    let listed = |text: &str, from: &str| -> Vec<String> {
        let lines = text.split(from).nth(1).unwrap().lines();
        let lines = lines.take_while(|line| !line.starts_with("Options:"));
        let name = |line: &str| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned);
        lines.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(name).collect()
    };
    let names = listed(&classmate(&["--help"]), "Usage:").into_iter();
    let mut all: Vec<Vec<String>> = names.map(|name| vec![name]).collect();
    let of_config = listed(&classmate(&["config", "--help"]), "Commands:");
    all.extend(of_config.into_iter().filter(|name| name != "help").map(|name| vec!["config".to_owned(), name]));
    all
}

/// The examples of a help: lines that begin with a command.
fn examples(text: &str) -> Vec<String> {
    let examples = text.split("Example").skip(1).flat_map(str::lines);
    let commands = examples.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    commands.filter(|line| line.contains("classmate ")).map(str::to_owned).collect()
}

/// `COLUMNS=0` asks for no width.
#[test]
fn no_columns_are_the_usual_width() {
    let help = |columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.args(["negotiate", "--help"]).env_remove("COLUMNS");
        command.envs(columns.map(|columns| ("COLUMNS", columns))).output().unwrap().stdout
    };
    assert_eq!(help(Some("0")), help(None));
    assert_ne!(help(Some("40")), help(None));
}

/// A word that fits into the line above it is there: breaks of the source would be gaps where a terminal is narrow.
#[test]
fn paragraphs_are_broken_for_the_terminal_alone() {
    for words in subcommands() {
        let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
            .args(&words)
            .arg("--help")
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_prose = |line: &str| line.starts_with(|letter: char| !letter.is_whitespace()) && !line.ends_with(':');
        for pair in lines.windows(2) {
            let word = pair[1].split(' ').next().unwrap_or_default();
            let fits = pair[0].chars().count() + 1 + word.chars().count() <= 80;
            assert!(!(is_prose(pair[0]) && is_prose(pair[1]) && fits), "{words:?}: {pair:#?}");
        }
    }
}

/// A copy of the examples, with stand-ins for the tools of a pool.
fn scratch() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let copy = Command::new("cp").args(["-r", &format!("{ROOT}/examples"), folder.path().to_str().unwrap()]).status();
    assert!(copy.unwrap().success());
    for (name, file) in [("condor_status", "slots.ads"), ("condor_q", "jobs.ads")] {
        let tool = folder.path().join(name);
        std::fs::write(&tool, format!("#!/bin/sh\ncat examples/pool/{file}\n")).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(&tool).status().unwrap().success());
    }
    // What the examples of a live pool write and read.
    assert!(
        Command::new("cp")
            .arg("-r")
            .args(["examples/pool", "monday"])
            .current_dir(folder.path())
            .status()
            .unwrap()
            .success()
    );
    std::fs::remove_file(folder.path().join("monday/Accountantnew.log")).unwrap();
    std::fs::write(folder.path().join("monitor.token"), TOKEN).unwrap();
    folder
}

fn run(line: &str, folder: &Path) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_classmate")).parent().unwrap();
    let path = format!("{}:{}:{}", programs.display(), folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env("BROWSER", "true")
        .stdin(std::process::Stdio::null());
    command.output().unwrap()
}

#[test]
fn every_example_works_as_it_is_typed() {
    let folder = scratch();
    let mut wrong = Vec::new();
    let mut count = 0;
    for words in std::iter::once(Vec::new()).chain(subcommands()) {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        for example in examples(&classmate(&arguments)) {
            count += 1;
            // No pool is here: an example of a live one must get as far as its collector.
            let live = ["cm.example.org", "cm1.example.org", "cm2.example.org"];
            let line = live.iter().fold(example.clone(), |line, host| line.replace(host, NO_COLLECTOR));
            let output = run(&line, folder.path());
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            if line != example {
                if !message.contains(NO_COLLECTOR) || message.lines().any(|line| line.starts_with("Usage:")) {
                    wrong.push(format!("{example}: {}\n{message}", output.status));
                }
                continue;
            }
            // Checks report what they find with a status other than 0.
            let is_check = [" lint ", " fmt --", " test "].iter().any(|check| example.contains(check));
            let is_finding = is_check && !message.contains("error:");
            if !output.status.success() && !is_finding {
                wrong.push(format!("{example}: {}\n{message}", output.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 70, "only {count} examples were found");
}

#[test]
fn subcommands_are_listed_once_and_in_groups() {
    let help = classmate(&["--help"]);
    for heading in
        ["Negotiation cycles:", "ClassAds:", "Policies and configuration:", "Slurm and DIRAC:", "Simulation:", "Setup:"]
    {
        assert_eq!(help.matches(&format!("\n{heading}\n")).count(), 1, "{heading}\n{help}");
    }
    assert!(!help.contains("\nOther:") && !help.contains("\nCommands:"), "{help}");
    for words in subcommands().iter().filter(|words| words.len() == 1) {
        let lines = help.lines().filter(|line| line.starts_with(&format!("  {} ", words[0]))).count();
        assert_eq!(lines, 1, "{}", words[0]);
    }
}

#[test]
fn options_of_a_policy_are_shown_where_it_is_chosen() {
    for subcommand in ["negotiate", "explain", "whatif", "report", "simulate"] {
        let common = classmate(&[subcommand, "--help"]);
        assert!(!common.contains("--slurm-conf") && !common.contains("--weighting"), "{common}");
        let slurm = classmate(&[subcommand, "--policy", "slurm", "--help"]);
        assert!(slurm.contains("Slurm:\n") && slurm.contains("--slurm-conf"), "{slurm}");
        assert!(!slurm.contains("--weighting"), "{slurm}");
        let dirac = classmate(&[subcommand, "--policy=dirac", "--help"]);
        assert!(dirac.contains("DIRAC:\n") && dirac.contains("--weighting"), "{dirac}");
    }
}

#[test]
fn a_man_page_and_completions_exist_for_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("man1");
    classmate(&["man", directory.to_str().unwrap()]);
    let bash = classmate(&["completions", "bash"]);
    for words in subcommands() {
        let page = directory.join(format!("classmate-{}.1", words.join("-")));
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(text.contains(".SH DESCRIPTION"), "{}", page.display());
        assert!(bash.contains(words.last().unwrap().as_str()), "{words:?}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(classmate(&["completions", shell]).contains("negotiate"), "{shell}");
    }
}

#[test]
fn the_version_names_the_reference() {
    let version = classmate(&["--version"]);
    assert!(version.starts_with(&format!("classmate {} (", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.ends_with("HTCondor 25.14.1)\n"), "{version}");
}
