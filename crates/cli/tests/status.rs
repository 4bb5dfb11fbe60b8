//! Exit status: 1 whenever input was skipped, and when a change can have no effect.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn classmate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(arguments).current_dir(ROOT).env("NO_COLOR", "1").output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn skipped_input_is_a_failure_of_every_command_that_reads_ads() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().to_str().unwrap().to_owned();
    for name in ["jobs.ads", "slots.ads", "config", "Accountantnew.log"] {
        std::fs::copy(format!("{ROOT}/examples/pool/{name}"), folder.path().join(name)).unwrap();
    }
    let commands = |pool: &str| -> Vec<Vec<String>> {
        [
            "negotiate POOL",
            "negotiate POOL --format json",
            "negotiate POOL --cycles 2 --matches none --run-time 60",
            "explain POOL --job 1.0",
            "explain POOL --submitter alice@pool.test",
            "whatif POOL --set NEGOTIATOR_INTERVAL=20",
            "report POOL -o -",
            "quotas POOL --config examples/groups/config",
            "autoclusters POOL",
            "match --job POOL/jobs.ads --slots POOL/slots.ads --pairs none",
            "ads POOL/slots.ads --count",
            "taskqueues POOL",
            "sprio POOL",
        ]
        .iter()
        .map(|line| line.split(' ').map(|word| word.replace("POOL", pool)).collect())
        .collect()
    };
    for command in commands(&pool) {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let output = classmate(&arguments);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", message(&output));
    }
    let slots = folder.path().join("slots.ads");
    let text = std::fs::read_to_string(&slots).unwrap() + "\nName = \"bad\"\nCpus = (\n";
    std::fs::write(&slots, text).unwrap();
    for command in commands(&pool) {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let output = classmate(&arguments);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {}", message(&output));
        assert!(message(&output).contains("some input was skipped"), "{command:?}: {}", message(&output));
        assert!(!output.stdout.is_empty(), "{command:?} has no result");
    }
}

#[test]
fn a_change_without_effect_is_a_failure() {
    for (set, expected) in [
        ("GROUP_QUOTA_chemistr = 5", "GROUP_QUOTA_chemistr"),
        ("NEGOTIATOR_INTERVALL = 5", "NEGOTIATOR_INTERVALL"),
        ("SOMETHING_ELSE = 5", "has no effect"),
        ("GROUP_QUOTA_DYNAMIC_chemistry = 0.5", "`GROUP_QUOTA_chemistry` is set"),
    ] {
        let output = classmate(&["whatif", "examples/groups", "--set", set]);
        assert_eq!(output.status.code(), Some(1), "{set}: {}", message(&output));
        assert!(message(&output).contains(expected), "{set}: {}", message(&output));
    }
    for (set, value) in [
        ("--set-job", "RequestMemroy = 1"),
        ("--set-job", "Wanted = 1"),
        ("--set-slot", "Memry = 1"),
        // A list has the name, but no value refers to it.
        ("--set", "CHEMISTRY = 5"),
    ] {
        let pair = if set == "--set" { vec![set, value] } else { vec![set, "true", value] };
        let output = classmate(&[&["whatif", "examples/groups"], &*pair].concat());
        assert_eq!(output.status.code(), Some(1), "{value}: {}", message(&output));
        assert!(message(&output).contains("has no effect: no cycle reads it"), "{value}: {}", message(&output));
    }
    for change in [
        &["--set", "GROUP_QUOTA_chemistry = 5"][..],
        // What a cycle reads may have an effect, whether or not it has one here.
        &["--set-job", "true", "PreJobPrio1 = 1"],
        &["--set-slot", "true", "ConsumptionCpus = 1"],
        // A new attribute that another change refers to, and custom resources.
        &["--set-job", "true", "Wanted = 1", "--set-slot", "true", "Start = TARGET.Wanted == 1"],
        &["--set-job", "true", "RequestTokens = 1", "--set-slot", "true", "Tokens = 1"],
        &["--set", "A = 5", "--set", "GROUP_QUOTA_chemistry = $(A)"],
        &["--set", "NEGOTIATOR_MATCH_EXPRS = Extra", "--set", "Extra = 1"],
        &["--set-job", "true", "Lasts = 5", "--cycles", "2", "--run-time", "Lasts"],
        // A group without a quota gets nothing: a warning, and an effect.
        &["--set", "GROUP_NAMES = chemistry"],
        &["--set", "GROUP_NAMES = chemistry, other"],
    ] {
        let output = classmate(&[&["whatif", "examples/groups"], change].concat());
        assert_eq!(output.status.code(), Some(0), "{change:?}: {}", message(&output));
    }
    let output = classmate(&["whatif", "examples/groups"]);
    assert_eq!(output.status.code(), Some(2), "{}", message(&output));
}
