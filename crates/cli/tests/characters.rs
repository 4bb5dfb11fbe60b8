//! Control characters: what ads hold does not reach a terminal, by any command, on a terminal or piped.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::path::Path;
use std::process::{Command, Output};

/// Sets the title of a terminal, clears it, and hides the text after it; as a character of eight bits, too.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{1b}[8m\u{9b}31m\u{202e}";

/// A pool in which all names are hostile.
fn pool() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let slot = |at: usize| {
        format!(
            "MyType = \"Machine\"\nName = \"slot{at}{HOSTILE}@m{at}\"\nMachine = \"m{at}{HOSTILE}\"\nCpus = {at}\nMemory = 1024\n\
             State = \"Unclaimed\"\nActivity = \"Idle\"\nArch = \"{HOSTILE}\"\nSlotWeight = 1\n\
             Requirements = TARGET.Owner =!= \"{HOSTILE}\" && TARGET.ProjectName != \"p{HOSTILE}\"\n\n"
        )
    };
    write("slots.ads", (1..4).map(slot).collect());
    let job = |at: usize| {
        format!(
            "MyType = \"Job\"\nClusterId = {at}\nProcId = 0\nJobStatus = 1\nOwner = \"eve{HOSTILE}\"\n\
             User = \"eve{HOSTILE}@example.org\"\nAccountingGroup = \"group{HOSTILE}.eve\"\nProjectName = \"p{HOSTILE}\"\n\
             QDate = 1\nRequestCpus = {at}\nRequestMemory = 512\nJobPrio = 0\nConcurrencyLimits = \"l{HOSTILE}\"\n\
             Requirements = TARGET.Arch == \"{HOSTILE}\" && TARGET.Cpus >= RequestCpus && TARGET.'odd{HOSTILE}' =?= undefined\n\n"
        )
    };
    write("jobs.ads", (1..6).map(job).collect());
    write(
        "config",
        format!(
            "GROUP_NAMES = group\nGROUP_QUOTA_group = 2\nX = \"{HOSTILE}\"\nODD = $({HOSTILE})\nSTART = Owner == {HOSTILE}\n"
        ),
    );
    write("bad.ads", format!("Name = \"{HOSTILE}\"\n{HOSTILE} = (\nodd{HOSTILE}\n"));
    write("bad.sub", format!("executable = a\n+A{HOSTILE}X = 1\nqueue\n"));
    write("bad.config", format!("GROUP_NAMES = group\nGROUP_QUOTA_group = {HOSTILE}\n"));
    write("policy.toml", "[[test]]\nname = \"a\\u001b[2J\"\nexpr = '1 == 2'\nvalue = 'true'\n".to_owned());
    folder
}

const COMMANDS: &[&[&str]] = &[
    &["negotiate", "."],
    &["negotiate", ".", "--cycles", "2", "--run-time", "1"],
    &["negotiate", ".", "--policy", "slurm"],
    &["negotiate", ".", "--policy", "dirac"],
    &["explain", ".", "--job", "1.0"],
    &["explain", ".", "--job", "5.0"],
    &["explain", ".", "--job", "Cluster == 3"],
    &["explain", ".", "--slot", "unknown"],
    &["explain", ".", "--submitter", "unknown"],
    &["explain", ".", "--group", "group"],
    &["whatif", ".", "--set", "GROUP_QUOTA_group = 1"],
    &["whatif", ".", "--set-job", "true", "RequestCpus = 1"],
    &["whatif", ".", "--set", "A\u{1b}[31mX = 1"],
    &["explain", ".", "--submit", "bad.sub"],
    &["negotiate", ".", "--config", "bad.config"],
    &["quotas", "."],
    &["taskqueues", "."],
    &["sprio", "."],
    &["sshare", ".", "-a", "--associations", "jobs.ads"],
    &["autoclusters", ".", "--reasons"],
    &["match", "--job", "jobs.ads", "--slots", "slots.ads"],
    &["match", "--job", "bad.ads", "--slots", "bad.ads"],
    &["eval", "MY.Arch", "--my", "slots.ads"],
    &["eval", "TARGET.Owner\u{1b}[2J", "--my", "slots.ads"],
    &["ads", "slots.ads", "bad.ads", "--attributes", "Name,Arch", "--format", "table"],
    &["ads", "slots.ads", "--attributes", "Name,Arch", "--format", "csv"],
    &["ads", "slots.ads", "--attributes", "Name,Arch", "--values"],
    &["ads", "slots.ads", "--attributes", "Name,Arch", "--template", "%s %s\\n"],
    &["ads", "slots.ads", "--attributes", "Name", "--format", "json"],
    &["ads", "bad.ads", "--count"],
    &["config", "dump", "config", "--changed", "--verbose"],
    &["config", "get", "X", "config"],
    &["config", "check", "config"],
    &["lint", ".", "bad.ads"],
    &["fmt", "--diff", "config", "jobs.ads"],
    &["test", "policy.toml"],
    &["userprio", "log", "-allusers"],
    &["simulate", "--workload", "jobs.ads", "--slots", "2", "--run-time", "10"],
];

fn classmate(folder: &Path, color: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(["--color", color]).args(arguments).current_dir(folder).env_remove("NO_COLOR").output().unwrap()
}

/// The log of an accountant after a cycle of the pool.
fn add_log(folder: &Path) {
    std::fs::write(folder.join("Accountantnew.log"), "").unwrap();
    let output = classmate(folder, "never", &["negotiate", ".", "--commit"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(folder.join("Accountantnew.log"), folder.join("log")).unwrap();
}

/// True for text without control characters, apart from line ends, tabs, and colors that were allowed.
fn is_harmless(text: &str, colors: bool) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|character: char| {
        character.is_control() && !matches!(character, '\n' | '\t') || matches!(character, '\u{202e}')
    }) {
        let sequence = &rest[at..];
        let Some(end) = sequence.strip_prefix("\u{1b}[").and_then(|inside| inside.find('m')) else { return false };
        // Ours set a color, or what is bold; none hides text.
        let inside = &sequence[2..2 + end];
        let ours = inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') && inside != "8";
        if !colors || !ours {
            return false;
        }
        rest = &sequence[3 + end..];
    }
    true
}

#[test]
fn no_command_prints_control_characters_of_its_input() {
    let folder = pool();
    add_log(folder.path());
    let mut hostile = 0;
    for arguments in COMMANDS {
        for color in ["never", "always"] {
            let output = classmate(folder.path(), color, arguments);
            for bytes in [&output.stdout, &output.stderr] {
                let text = String::from_utf8(bytes.clone()).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
                assert!(is_harmless(&text, color == "always"), "{arguments:?} with color {color}: {text:?}");
                assert!(!text.contains("panicked"), "{text}");
                hostile += text.matches("\\x1b").count();
            }
        }
    }
    assert!(
        hostile > 100,
        "only {hostile} control characters were shown: the pool of this test does not reach the commands"
    );
}

#[test]
fn formats_of_ads_stay_as_they_are() {
    let folder = pool();
    for arguments in
        [&["ads", "slots.ads"][..], &["ads", "slots.ads", "--to", "new"], &["ads", "slots.ads", "--to", "xml"]]
    {
        let output = classmate(folder.path(), "always", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // These forms have escapes.
        let is_escaped = arguments.len() > 2;
        let expected: &[u8] = if is_escaped { b"slot1\\033]0;x" } else { b"slot1\x1b]0;x" };
        let found = output.stdout.windows(expected.len()).any(|part| part == expected);
        assert!(found, "{arguments:?}: {:?}", String::from_utf8_lossy(&output.stdout));
    }
}
