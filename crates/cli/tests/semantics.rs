//! `--semantics` with every command: each answers as the version that it names does. Expected values follow from the rules of
//! `docs/reference/versions.md` 2.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One slot takes the job if `2K` is a number, the other if `?:` has the highest precedence.
const SLOTS: &str = "\
Name = \"suffix@m\"\nMachine = \"m\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = int(\"3K\")\nMemory = 4096
Disk = 1000\nSlotWeight = Cpus\nRequirements = TARGET.RequestMemory <= 2K

Name = \"elvis@m\"\nMachine = \"m\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = 1\nMemory = 4096
Disk = 1000\nSlotWeight = Cpus\nRequirements = \"x\" ?: \"\" != \"Copy\"
";

const JOBS: &str = "\
ClusterId = 1\nProcId = 0\nUser = \"ada@x\"\nOwner = \"ada\"\nJobStatus = 1\nQDate = 1000\nJobUniverse = 5
RequestCpus = int(\"1K\") / 1024 + 1\nRequestMemory = 1500\nRequirements = true\nRunTime = int(\"6K\")
";

const ACCOUNTING: &str = "\
Name = \"ada@x\"\nPriority = 10K\nPriorityFactor = 1000.0\nLastUpdate = 1000\nAccumulatedUsage = 5.0\nResourcesUsed = 1
WeightedAccumulatedUsage = 5.0\nWeightedResourcesUsed = 1.0\nBeginUsageTime = 10\nLastUsageTime = 900
";

const CONFIG: &str = "\
GROUP_NAMES = g\nGROUP_QUOTA_DYNAMIC_g = 0.5\nY = int(\"2K\")\nX = $EVAL(Y)\nSTART = TARGET.x ?: 1 < 5 && x ?: 2 > 1
";

const TESTS: &str = "\
[ads]\nslot = '[ Requirements = TARGET.x ?: 1 < 5 ]'\njob = '[ x = 9; Requirements = true ]'
[[test]]\nname = \"a\"\nmy = \"slot\"\ntarget = \"job\"\nexpression = \"MY.Requirements\"\nvalue = \"false\"
";

const EXPERIMENT: &str = "[simulate]\nworkload = \"jobs.ads\"\npool = \".\"\nrun-time = \"RunTime\"\n";

/// Commands in a directory with these files. What only 23.0 says, and what only 25.14 does; nothing: they differ in other ways.
const COMMANDS: [(&[&str], &str, &str); 29] = [
    (&["eval", "9 ?: 1 + 2"], "9", "11"),
    (&["repl"], "", "11"),
    (
        &["match", "--job", "jobs.ads", "--slots", "slots.ads"],
        "elvis@m   yes          error",
        "elvis@m   yes          yes",
    ),
    (&["ads", "slots.ads", "--constraint", "Cpus == 3072"], "suffix@m", ""),
    (&["negotiate", "."], "suffix@m", "elvis@m"),
    (&["negotiate", ".", "--policy", "dirac"], "suffix@m", "elvis@m"),
    (&["negotiate", "slurm", "--policy", "slurm"], "3073", ""),
    (&["explain", ".", "--job", "1.0"], "suffix@m", "elvis@m"),
    (
        &["whatif", ".", "--set", "NEGOTIATOR_INTERVAL = 20", "--expect", "versionlt(\"1\", \"2\")"],
        "which is error",
        "",
    ),
    (&["diff", "cycle.json", "cycle.json", "--expect", "versionlt(\"1\", \"2\")"], "which is error", ""),
    (&["report", ".", "-o", "-"], "", ""),
    (&["advise", ".", "--goal", "ada@x >= 90% of pool"], "", ""),
    (&["quotas", "."], "1536.5", ""),
    (&["autoclusters", "."], "", "the rest of this line is ignored"),
    (&["userprio", "--inputfile", "accounting.ads", "--allusers"], "10240.00", " 10.00"),
    (
        &["userprio", "--inputfile", "accounting.ads", "--constraint", "versionlt(\"1\", \"2\")", "--allusers"],
        "",
        "ada@x",
    ),
    (&["taskqueues", "."], "2Processors", ""),
    (&["sprio", "slurm"], "", "the rest of this line is ignored"),
    (&["sshare", "slurm"], "", "the rest of this line is ignored"),
    (&["simulate", "--workload", "jobs.ads", "--pool", ".", "--run-time", "RunTime"], "1h 42m", " 6s"),
    (&["simulate", "--workload", "jobs.ads", "--slots", "4", "--run-time", "int(\"6K\")"], "1h 42m", " 6s"),
    (&["config", "get", "X", "config"], "2048", ""),
    (&["config", "check", "config", "--set", "PREEMPTION_REQUIREMENTS = MY.x > 2K"], "", "is not a valid expression"),
    (&["lint", "slots.ads"], "", "error[size-suffix]"),
    (&["fmt", "slots.ads"], "", "is not a valid expression"),
    (&["test", "tests.toml"], "1 failed", "1 passed"),
    (&["policy", "implies", "x > int(\"2K\")", "x > 100"], "proven", "refuted"),
    (&["verify", "verify"], "0 of 7 matches", "7 of 7 matches"),
    (&["conform", "eval"], "1.024000000000000E+04", ""),
];

/// Commands that do not read or evaluate ads, or name versions in another way.
const WITHOUT: [&[&str]; 6] = [
    &["functions"],
    &["generate", "made", "--slots", "1"],
    &["compare", "a.json", "b.json"],
    &["completions", "bash"],
    &["man"],
    &["versions", "1"],
];

/// Commands that read a live pool (`live` tries those), or have a test of their own.
const OTHERS: [&str; 5] = ["snapshot", "top", "export", "shadow", "experiment"];

fn classmate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("HOME", folder);
    let child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut running = child.spawn().unwrap();
    let input = if arguments[0] == "conform" { "{\"id\": 1, \"expr\": \"10K\"}\n" } else { "9 ?: 1 + 2\n" };
    // A command that reads nothing may end before.
    let _ = std::io::Write::write_all(&mut running.stdin.take().unwrap(), input.as_bytes());
    running.wait_with_output().unwrap()
}

/// The output of a command, and its exit status.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = classmate(folder, arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}[status {:?}]", text(&output.stdout), text(&output.stderr), output.status.code())
}

/// An output without the version where it names the command, which has the version of a settings file, too.
fn without(version: &str, output: &str) -> String {
    output.replace(&format!(" --semantics {version}"), "").replace(&format!(" --semantics={version}"), "")
}

fn said_in(folder: &Path, arguments: &[&str], version: &str) -> String {
    without(version, &said(folder, &[arguments, &["--semantics", version]].concat()))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| std::fs::write(folder.path().join(name), content).unwrap();
    let files = [("slots.ads", SLOTS), ("jobs.ads", JOBS), ("config", CONFIG), ("accounting.ads", ACCOUNTING)];
    for (name, content) in files.into_iter().chain([("tests.toml", TESTS), ("experiment.toml", EXPERIMENT)]) {
        write(name, content);
    }
    for name in ["slurm", "verify"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    write("slurm/slots.ads", SLOTS);
    write("slurm/jobs.ads", JOBS);
    for name in ["slurm.conf", "sacctmgr.dump"] {
        std::fs::copy(format!("{ROOT}/examples/slurm/{name}"), folder.path().join("slurm").join(name)).unwrap();
    }
    for name in ["Accountantnew.log", "NegotiatorLog", "config", "jobs.ads", "submitters.ads"] {
        std::fs::copy(format!("{ROOT}/examples/verify/{name}"), folder.path().join("verify").join(name)).unwrap();
    }
    // An unknown function until 25.12: no slot takes a job.
    let slots = std::fs::read_to_string(format!("{ROOT}/examples/verify/slots.ads")).unwrap();
    write("verify/slots.ads", &slots.replace("Requirements = ", "Requirements = versionlt(\"1\", \"2\") && "));
    std::fs::write(
        folder.path().join("cycle.json"),
        classmate(folder.path(), &["negotiate", ".", "--format", "json"]).stdout,
    )
    .unwrap();
    folder
}

#[test]
fn every_command_answers_as_the_version_does() {
    let folder = folder();
    for (command, old, new) in COMMANDS {
        let [was, is] = ["23.0", "25.14"].map(|series| said_in(folder.path(), command, series));
        assert_ne!(was, is, "{command:?}");
        assert!(
            was.contains(old) && (old.is_empty() || !is.contains(old)),
            "{command:?}: `{old}` in {was}, not in {is}"
        );
        assert!(
            is.contains(new) && (new.is_empty() || !was.contains(new)),
            "{command:?}: `{new}` in {is}, not in {was}"
        );
        // Neither the default nor another present version is anything else.
        let default = said(folder.path(), command);
        assert_eq!(default, is, "{command:?}");
    }
}

#[test]
fn the_settings_file_chooses_the_version_of_every_command() {
    let folder = folder();
    let given: Vec<String> = COMMANDS.iter().map(|(command, ..)| said_in(folder.path(), command, "23.0")).collect();
    std::fs::write(folder.path().join("classmate.toml"), "semantics = \"23.0\"\n").unwrap();
    for ((command, ..), given) in COMMANDS.iter().zip(given) {
        assert_eq!(without("23.0", &said(folder.path(), command)), given, "{command:?}");
    }
    for command in WITHOUT {
        assert!(!said(folder.path(), command).contains("has no effect"), "{command:?}");
    }
}

#[test]
fn commands_without_ads_refuse_a_version() {
    let folder = folder();
    for command in WITHOUT {
        let said = said(folder.path(), &[command, &["--semantics", "23.0"]].concat());
        assert!(
            said.contains("so --semantics has no effect") && said.ends_with("[status Some(2)]"),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn all_commands_are_tried() {
    let help = said(Path::new(ROOT), &["--help"]);
    let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).map(|(name, _)| name.trim());
    let listed: BTreeSet<&str> = listed.filter(|name| !name.is_empty() && !name.starts_with('-')).collect();
    let tried = COMMANDS.iter().map(|(command, ..)| command[0]).chain(WITHOUT.iter().map(|command| command[0]));
    let tried: BTreeSet<&str> = tried.chain(OTHERS).collect();
    let missing: Vec<_> = listed.iter().filter(|name| !tried.contains(**name) && !name.contains(' ')).collect();
    assert!(missing.is_empty() && listed.contains("negotiate"), "{missing:?}");
}

/// A run is repeated in another version, and jobs of a pool simulate in the version that is chosen.
#[test]
fn an_experiment_keeps_the_versions_of_its_runs_apart() {
    let folder = folder();
    let run =
        |more: &[&str]| said(folder.path(), &[&["experiment", "experiment.toml", "--output", "both"], more].concat());
    let (old, new) = (run(&["--semantics", "23.0"]), run(&[]));
    assert_ne!(old, new);
    let again = run(&["--semantics", "23.0"]);
    let told = "warning: runs of another version, command or file in `both/points` are made again\n";
    assert!(again.contains(told) && again.replace(told, "") == old, "{again}");
    let csv = std::fs::read_to_string(folder.path().join("both/results.csv")).unwrap();
    assert!(csv.contains("--semantics=23.0"), "{csv}");
    let each = format!("{EXPERIMENT}[settings.old]\nsemantics = \"23.0\"\n[settings.new]\nsemantics = \"latest\"\n");
    std::fs::write(folder.path().join("experiment.toml"), each).unwrap();
    assert_ne!(run(&[]), new);
    let csv = std::fs::read_to_string(folder.path().join("both/results.csv")).unwrap();
    let completed = |setting: &str| {
        let line = csv.lines().find(|line| line.starts_with(&format!("condor,{setting},"))).unwrap();
        line.split(',').nth(4).unwrap().to_owned()
    };
    // The cores of the pool: int("3K") + 1.
    assert_eq!((completed("old"), completed("new")), ("3073".to_owned(), "4".to_owned()));
    let folder = self::folder();
    said(folder.path(), &["experiment", "experiment.toml", "--output", "both", "--submit", "--semantics", "24.0"]);
    let submit = std::fs::read_to_string(folder.path().join("both/experiment.sub")).unwrap();
    assert!(submit.contains("--semantics=24.0 --run $(run)"), "{submit}");
}

/// An ad that 23.0 reads, and one that 25.14 reads, in one file.
#[test]
fn lint_and_fmt_read_each_ad_in_its_own_version() {
    let folder = folder();
    let version = |number: &str| format!("$CondorVersion: {number} 2026-01-01 $");
    let [old, new] = [version("23.0.28"), version("25.14.1")];
    let refused = format!("A=undefined?+:3\nCondorVersion=\"{new}\"\n");
    let long = format!("CondorVersion=\"{old}\"\nA=10K\nB=undefined?+:3\n\n");
    let square = format!("[A=10K;CondorVersion=\"{old}\"]\n");
    std::fs::write(folder.path().join("long.ads"), format!("{long}{refused}")).unwrap();
    std::fs::write(folder.path().join("square.ads"), format!("{square}[A=10;CondorVersion=\"{new}\"]\n")).unwrap();
    std::fs::write(folder.path().join("wrong.ads"), format!("{square}[A=10K;CondorVersion=\"{new}\"]\n")).unwrap();
    let said = |arguments: &[&str]| said(folder.path(), &[arguments, &["--semantics", "advertised"]].concat());
    // Only the last line but one of the file is wrong: its ad is of 25.14.
    let linted = said(&["lint", "long.ads"]);
    assert!(linted.contains("1 error") && linted.contains("long.ads:5:"), "{linted}");
    let linted = said(&["lint", "wrong.ads"]);
    assert!(linted.contains("1 error") && linted.contains("wrong.ads:2:"), "{linted}");
    // Both ads are read; but the daemon of the other version refuses the first one.
    let linted = said(&["lint", "square.ads"]);
    assert!(linted.starts_with("error[version-dependent]") && linted.contains("1 error, 0 warnings"), "{linted}");
    let laid = said(&["fmt", "long.ads", "--diff"]);
    assert!(laid.contains("+A = 10K") && laid.contains("long.ads:5: `A` is not a valid expression"), "{laid}");
    assert!(!laid.contains("long.ads:3:"), "{laid}");
    assert!(said(&["fmt", "square.ads", "--diff"]).contains("+    A = 10K;"));
    let laid = said(&["fmt", "wrong.ads", "--diff"]);
    assert!(laid.contains("wrong.ads:2:") && laid.ends_with("[status Some(2)]"), "{laid}");
}

/// Ads of a version that was not measured are read as those of the nearest, which is said.
#[test]
fn ads_of_unknown_versions_are_read_as_those_of_the_nearest() {
    let folder = folder();
    let [oldest, old, new] = [" 9.0.17", " 10.0.9", " 26.1.0"].map(|number| {
        std::fs::write(
            folder.path().join("slots.ads"),
            format!(
                "CondorVersion = \"$CondorVersion:{number} 2022-01-01 $\"\n{}",
                SLOTS.split("\n\n").next().unwrap()
            ),
        )
        .unwrap();
        said(folder.path(), &["negotiate", ".", "--semantics", "advertised"])
    });
    std::fs::write(folder.path().join("old.ads"), "CondorVersion = \"$CondorVersion: 9.0.17 2022-01-01 $\"\nA = 10K\n")
        .unwrap();
    let compared = said(folder.path(), &["versions", "old.ads"]);
    let note = "note: ads of HTCondor 9.0 are read as those of 10.0, the oldest version that is known\n";
    assert!(compared.contains(note) && compared.contains("different things in 10.0 and 25.14"), "{compared}");
    let compared = said(folder.path(), &["versions", "old.ads", "--from", "23.0"]);
    assert!(!compared.contains("9.0"), "{compared}");
    // A version is not compared with itself, wherever it is from.
    let none = said(folder.path(), &["versions", "A > 1", "--to", "10.0"]);
    assert!(none.contains("itself: it is the default, and the version of `--to`"), "{none}");
    let oldest_of_ads = said(folder.path(), &["versions", "old.ads", "--to", "10.0"]);
    assert!(
        oldest_of_ads.contains("itself: it is the version in which the oldest ads are read, and"),
        "{oldest_of_ads}"
    );
    assert!(old.contains("1  1.0  ada@x      suffix@m"), "{old}");
    let note = "warning: ads of HTCondor 9.0 are read as those of 10.0, the oldest version that is known\n";
    assert!(oldest.contains(note) && oldest.replace(note, "") == old, "{oldest}");
    let note = "warning: HTCondor 26.1 is newer than 25.14, whose semantics are used\n";
    assert!(new.contains(note) && new.contains("no matches"), "{new}");
    // Each command and format says so once.
    let version = "$CondorVersion: 9.0.17 2022-01-01 $";
    for (file, text) in [
        ("new.ads", format!("[ CondorVersion = \"{version}\" ]\n[ A = 1; CondorVersion = \"{version}\" ]\n")),
        ("ads.json", format!("[{{\"CondorVersion\": \"{version}\"}}]\n")),
        ("ads.xml", format!("<classads><c><a n=\"CondorVersion\"><s>{version}</s></a></c></classads>\n")),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let note = "warning: ads of HTCondor 9.0 are read as those of 10.0, the oldest version that is known\n";
    for command in [
        &["match", "--job", "old.ads", "--slots", "old.ads"][..],
        &["eval", "A", "--my", "old.ads"],
        &["eval", "A", "--target", "ads.xml"],
        &["ads", "old.ads"],
        &["ads", "new.ads"],
        &["ads", "ads.json"],
        &["ads", "ads.xml"],
        &["lint", "old.ads"],
        &["lint", "new.ads"],
        &["lint", "ads.json"],
        &["fmt", "old.ads", "--check"],
    ] {
        let own = said(folder.path(), &[command, &["--semantics", "advertised"]].concat());
        assert_eq!(own.matches(note).count(), 1, "{command:?}: {own}");
        assert!(!said(folder.path(), command).contains("9.0 are read"), "{command:?}");
    }
    // Several versions share a message, also those of several files.
    for (file, versions) in [("one.ads", ["8.8", "9.0", "9.1", "26.0"]), ("two.ads", ["9.1", "9.8", "9.12", "26.1"])] {
        let ads = versions.map(|version| format!("CondorVersion = \"$CondorVersion: {version}.3 2022-01-01 $\"\n"));
        std::fs::write(folder.path().join(file), ads.join("\n")).unwrap();
    }
    let several = said(folder.path(), &["ads", "one.ads", "two.ads", "--count", "--semantics", "advertised"]);
    let older = "warning: ads of HTCondor 8.8, 9.0, 9.1 and 2 more are read as those of 10.0, the oldest version that is known\n";
    let newer = "warning: HTCondor 26.0, 26.1 are newer than 25.14, whose semantics are used\n";
    assert!(several.contains(&format!("{older}{newer}")) && several.matches("warning").count() == 2, "{several}");
}

/// Each way to name a version says that a newer one is read as the newest.
#[test]
fn newer_versions_are_read_as_the_newest_and_said_to_be() {
    let folder = folder();
    let experiment = format!("{EXPERIMENT}[settings.new]\nsemantics = \"26.0\"\n");
    std::fs::write(folder.path().join("experiment.toml"), experiment).unwrap();
    for command in [
        &["eval", "1", "--semantics", "26.0"][..],
        &["versions", "1", "--to", "26.0"],
        &["versions", "1", "--from", "26.0", "--to", "26.0"],
        &["versions", "slots.ads", "--from", "24.0", "--to", "26.0"],
        &["lint", "slots.ads", "--versions", "23.0,26.0"],
        &["experiment", "experiment.toml", "--output", "new"],
    ] {
        let said = said(folder.path(), command);
        assert!(said.contains("HTCondor 26.0 is newer than 25.14, whose semantics are used"), "{command:?}: {said}");
    }
    assert!(!said(folder.path(), &["versions", "1", "--to", "25.14"]).contains("newer"));
    let once = said(folder.path(), &["versions", "1", "--from", "26.0", "--to", "26.0"]);
    assert_eq!(once.matches("is newer").count(), 1, "{once}");
}

/// HTCondor 24.0.20 hangs in `Start` of the slot, if the job has `Big`.
#[test]
fn the_check_of_a_pool_names_what_only_a_pair_of_ads_meets() {
    let folder = folder();
    let slots = "Name = \"a\"\nStart = TARGET.Big ? Start : true\nRequirements = Start\n\nName = \"b\"\nLoop = true ? Loop : 1\nRequirements = Loop\n";
    std::fs::write(folder.path().join("slots.ads"), slots).unwrap();
    let check = |job: &str| {
        std::fs::write(folder.path().join("jobs.ads"), format!("{JOBS}{job}\n")).unwrap();
        said(folder.path(), &["versions", ".", "--from", "24.0"])
    };
    let small = check("Big = false");
    assert_eq!(small.matches("HTCondor hangs").count(), 1, "{small}");
    let big = check("Big = true");
    assert!(big.contains("slots.ads: Requirements = Start\n    24.0: HTCondor hangs in a circular"), "{big}");
    assert_eq!(big.matches("HTCondor hangs").count(), 2, "{big}");
}

/// 25.14 does not know the suffix `K`, and 23.0 does: `docs/reference/versions.md` 2.1.
#[test]
fn a_pool_that_one_version_refuses_is_reported() {
    let folder = folder();
    for setting in ["SLOT_WEIGHT = Memory / 2K", "PREEMPTION_REQUIREMENTS = Memory > 2G", "PRIORITY_HALFLIFE = 100K"] {
        std::fs::write(folder.path().join("config"), format!("{setting}\n")).unwrap();
        for direction in [["--from", "23.0", "--to", "25.14"], ["--from", "25.14", "--to", "23.0"]] {
            let output = classmate(folder.path(), &[&["versions", "."], &direction[..]].concat());
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{setting}: {said}");
            let name = setting.split(' ').next().unwrap();
            assert!(said.contains(&format!("    {setting}\n")), "{said}");
            let refusal = format!("\n  the language of 25.14 refuses the configuration: ./config:1:1: `{name}` is");
            assert!(said.contains(&refusal) && !said.contains("language of 23.0 refuses"), "{said}");
        }
        let output = classmate(folder.path(), &["versions", ".", "--from", "23.0", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json.pointer("/refusals/0/version"), Some(&"25.14".into()), "{json}");
        assert_eq!(json.pointer("/matches"), Some(&serde_json::Value::Null));
    }
}

/// `config.d` is read after `condor_config`, as by `config dump`.
#[test]
fn a_directory_with_a_configuration_alone_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("config.d")).unwrap();
    std::fs::write(folder.path().join("condor_config"), "START = Memory > $(SIZE)\n").unwrap();
    std::fs::write(folder.path().join("config.d/10-size"), "SIZE = 2G\n").unwrap();
    let checked = said(folder.path(), &["versions", ".", "--from", "23.0"]);
    assert!(checked.contains("START = Memory > 2G") && !checked.contains("error: cannot"), "{checked}");
    // Slots alone do not make a pool: their expressions are compared, and no matches.
    std::fs::write(folder.path().join("slots.ads"), "Name = \"a\"\nA = 10K\n").unwrap();
    let checked = said(folder.path(), &["versions", ".", "--from", "23.0"]);
    assert!(checked.contains("\n2 expressions mean something else"), "{checked}");
    assert!(checked.contains("note: no matches are compared") && !checked.contains("One cycle"), "{checked}");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = said(folder.path(), &["versions", "empty"]);
    assert!(empty.contains("contains neither a configuration nor a pool"), "{empty}");
    // Two policies are not one configuration.
    for name in ["old.config", "new.config"] {
        std::fs::write(folder.path().join("empty").join(name), "START = true\n").unwrap();
    }
    let two = said(folder.path(), &["versions", "empty"]);
    assert!(two.contains("name a file of it: `classmate versions empty/new.config`"), "{two}");
}

/// 100 ads are evaluated, and the other 50 are counted. A number has the same value in all ads. What has no suffix means the same for all ads.
#[test]
fn what_holds_for_some_ads_only_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let ad = |at: usize| format!("Name = \"s{at}\"\nSize = \"{at}\"\nLoad = 0.5\nBig = int(Size) > 100\n\n");
    std::fs::write(folder.path().join("a.ads"), (0..150).map(ad).collect::<String>()).unwrap();
    let said = |arguments: &[&str]| said(folder.path(), arguments);
    let shown = said(&["versions", "a.ads", "--from", "23.0"]);
    let means = "no expression means something else in 25.14 than in 23.0";
    assert!(shown.starts_with(&format!("{means} in the ads that were evaluated\n")), "{shown}");
    assert!(
        shown.contains("\na.ads: not evaluated in all ads with the same text: Big (line 4, 100 of 150 ads)\n["),
        "{shown}"
    );
    let shown = said(&["versions", "int(Size) > 100", "--my", "a.ads"]);
    assert_eq!(shown, "`int(Size) > 100` means the same in HTCondor 10.0 to 25.14 for the given ads\n[status Some(0)]");
    let shown = said(&["versions", "Cpus > 100", "--my", "a.ads"]);
    assert_eq!(shown, "`Cpus > 100` means the same in HTCondor 10.0 to 25.14\n[status Some(0)]");
}

/// A name of a file is no expression, and ads are only for expressions.
#[test]
fn what_versions_cannot_use_is_refused() {
    let folder = folder();
    for (file, reason) in [
        ("/missing/file.ads", "cannot read `/missing/file.ads`"),
        ("missing.conf", "cannot read `missing.conf`"),
        ("pools/missing.ads", "cannot read `pools/missing.ads`"),
        ("MY.ad", "means the same"),
        ("a / b.c", "means the same"),
    ] {
        let said = said(folder.path(), &["versions", file]);
        assert!(said.contains(reason), "{file}: {said}");
    }
    for subject in ["slots.ads", "."] {
        let said = said(folder.path(), &["versions", subject, "--my", "jobs.ads"]);
        assert!(said.contains("`--my` and `--target` are the ads of an expression"), "{subject}: {said}");
    }
    assert!(!said(folder.path(), &["versions", "--help"]).contains("--semantics"));
}

/// HTCondor 24.0.20 hangs in `Rank`.
#[test]
fn cycles_and_simulations_name_what_the_version_does_instead() {
    let folder = folder();
    let jobs = format!("{JOBS}Rank = 1 ? Rank : 2\n");
    std::fs::write(folder.path().join("jobs.ads"), jobs).unwrap();
    let note = "warning: `Rank` of job 1.0: HTCondor 24.0 hangs in a circular reference or a chain";
    for command in [
        &["negotiate", "."][..],
        &["negotiate", ".", "--cycles", "2"],
        &["simulate", "--workload", "jobs.ads", "--pool", ".", "--run-time", "RunTime"],
    ] {
        let in_version = |series: &str| said(folder.path(), &[command, &["--semantics", series]].concat());
        let old = in_version("24.0");
        assert!(old.contains(note), "{command:?}: {old}");
        assert!(!in_version("25.14").contains("hangs"), "{command:?}");
    }
}
