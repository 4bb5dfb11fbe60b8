//! What is wrong with what a user gives: a clear message, the right status, and books as they were.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use classmate::accountant::Journal;

/// Status, and everything that was printed.
struct Answer {
    status: Option<i32>,
    text: String,
}

fn answer(command: &mut Command) -> Answer {
    let output = command.env("NO_COLOR", "1").env("TZ", "UTC").output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Answer { status: output.status.code(), text }
}

fn classmate(arguments: &[&str]) -> Answer {
    answer(Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments))
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pool/Accountantnew.log")
}

/// A folder with a log in it.
fn books(text: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Accountantnew.log");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

/// What `config check` says of settings.
fn checked(settings: &str) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("condor_config");
    std::fs::write(&path, settings).unwrap();
    classmate(&["config", "check", &path.display().to_string()])
}

fn says(answer: &Answer, status: i32, texts: &[&str]) {
    assert_eq!(answer.status, Some(status), "{}", answer.text);
    for text in texts {
        assert!(answer.text.contains(text), "`{text}` is not in:\n{}", answer.text);
    }
}

#[test]
fn contradictory_quotas_are_told_with_the_one_that_counts() {
    let found = checked("GROUP_NAMES = a\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_a = 0.5\n");
    says(&found, 0, &["group `a` has GROUP_QUOTA `5` and GROUP_QUOTA_DYNAMIC `0.5`: GROUP_QUOTA counts", ":3:1"]);
    let found = checked("GROUP_NAMES = a, a.b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_a.b = 9\n");
    says(&found, 0, &["static quotas below `a` sum to 9, more than its 5"]);
}

#[test]
fn a_group_without_parent_is_told_to_be_left_out() {
    let found = checked("GROUP_NAMES = a.b\nGROUP_QUOTA_a.b = 5\n");
    says(&found, 0, &["group `a.b` is left out: its parent `a` is not in GROUP_NAMES", ":1:"]);
}

#[test]
fn negative_quotas_are_errors_and_negative_factors_count_as_one() {
    let found = checked("GROUP_NAMES = a\nGROUP_QUOTA_a = -5\n");
    says(&found, 2, &["`GROUP_QUOTA_a` is `-5`: expected a number from 0"]);
    let found = checked("DEFAULT_PRIO_FACTOR = -5\nGROUP_NAMES = a\nGROUP_QUOTA_a = 1\nGROUP_PRIO_FACTOR_a = -3\n");
    let texts = ["`DEFAULT_PRIO_FACTOR` is `-5`: factors below 1 count as 1", "`GROUP_PRIO_FACTOR_a` is `-3`"];
    says(&found, 0, &texts);
    let before = std::fs::read(recorded()).unwrap();
    let (_folder, log) = books(&before);
    says(&classmate(&["userprio", &log, "-setfactor", "alice@pool.test", "-3"]), 2, &["`-3` is out of range"]);
    assert_eq!(std::fs::read(&log).unwrap(), before);
}

#[test]
fn a_cyclic_macro_is_told_with_the_names_of_its_circle() {
    says(&checked("A = $(B)\nB = $(C)\nC = $(A)\n"), 2, &["`A` refers to itself: A → B → C → A"]);
    let found = checked("NEGOTIATOR_INTERVAL = $(A)\nA = $(A2)\nA2 = $(A)\n");
    says(&found, 2, &["`NEGOTIATOR_INTERVAL` cannot be expanded"]);
}

#[test]
fn a_log_cut_in_the_middle_is_read_to_its_last_whole_transaction() {
    let whole = std::fs::read(recorded()).unwrap();
    // What was being written when it was cut.
    let begun = b"105 \n103 Customer.alice@pool.test Priority 9.000000\n103 Customer.alice@pool.te";
    let cut = [&whole[..], begun].concat();
    let (_folder, log) = books(&cut);
    says(&classmate(&["userprio", &log, "-allusers"]), 0, &["warning: ", "was discarded", "alice@pool.test"]);
    // Reading changes nothing; a change first drops what was not finished.
    assert_eq!(std::fs::read(&log).unwrap(), cut);
    says(&classmate(&["userprio", &log, "-setprio", "alice@pool.test", "7"]), 0, &["was set to 7"]);
    let again = classmate(&["userprio", &log, "-allusers"]);
    says(&again, 0, &["alice@pool.test"]);
    assert!(!again.text.contains("discarded"), "{}", again.text);
}

#[test]
fn a_record_that_cannot_be_read_is_told_and_nothing_is_changed() {
    let whole = std::fs::read(recorded()).unwrap();
    let at = memchr::memmem::find(&whole, b"\n103 ").unwrap() + 1;
    let damaged = [&whole[..at], b"garbage\n", &whole[at..]].concat();
    let (_folder, log) = books(&damaged);
    for change in [&["-allusers"][..], &["-setprio", "alice@pool.test", "7"]] {
        let found = classmate(&[&["userprio", &log], change].concat());
        says(&found, 2, &[&format!("(at byte {at}) cannot be read")]);
    }
    assert_eq!(std::fs::read(&log).unwrap(), damaged);
}

#[test]
fn there_are_no_two_writers() {
    let (_folder, log) = books(&std::fs::read(recorded()).unwrap());
    let first = Journal::open(Path::new(&log), 7).unwrap();
    let before = std::fs::read(&log).unwrap();
    let second = classmate(&["userprio", &log, "-setprio", "alice@pool.test", "7"]);
    says(&second, 1, &["error: ", "Accountantnew.log"]);
    assert_eq!(std::fs::read(&log).unwrap(), before);
    // Reading is allowed all the same.
    says(&classmate(&["userprio", &log, "-allusers"]), 0, &["alice@pool.test"]);
    drop(first);
    says(&classmate(&["userprio", &log, "-setprio", "alice@pool.test", "7"]), 0, &["was set to 7"]);
}

/// A file that may not grow stands for a disk that is full: writing fails in the same place.
#[test]
fn a_full_disk_leaves_the_books_as_they_were() {
    let whole = std::fs::read(recorded()).unwrap();
    let (_folder, log) = books(&whole);
    // A first change writes the log as ours: from here on every byte must stay.
    says(&classmate(&["userprio", &log, "-setprio", "alice@pool.test", "5"]), 0, &["was set to 5"]);
    let before = std::fs::read(&log).unwrap();
    assert!(before.len() > 512);
    let script = format!("trap '' XFSZ; ulimit -f 1; exec '{}' \"$@\"", env!("CARGO_BIN_EXE_classmate"));
    let full =
        answer(Command::new("sh").args(["-c", &script, "sh", "userprio", &log, "-setprio", "alice@pool.test", "7"]));
    says(&full, 1, &["error: cannot "]);
    assert_eq!(std::fs::read(&log).unwrap(), before);
    says(&classmate(&["userprio", &log, "-setprio", "alice@pool.test", "7"]), 0, &["was set to 7"]);
}

/// Settings of a pool may run a program only where that is allowed, by every command that reads them.
#[test]
fn commands_in_the_settings_of_a_pool_are_not_run_unless_allowed() {
    let pool = tempfile::tempdir().unwrap();
    std::fs::write(pool.path().join("config"), "include command : touch ran; echo NEGOTIATOR_PRE_JOB_RANK = 7\n")
        .unwrap();
    for name in ["slots.ads", "jobs.ads"] {
        std::fs::write(pool.path().join(name), "").unwrap();
    }
    std::fs::write(pool.path().join("Accountantnew.log"), "107 1 CreationTimestamp 1\n").unwrap();
    let folder = pool.path().to_str().unwrap();
    for command in ["negotiate", "userprio"] {
        let run = |more: &[&str]| {
            let mut arguments = vec![command, folder];
            arguments.extend(more);
            answer(Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments).current_dir(pool.path()))
        };
        says(&run(&[]), 2, &["is not run", "config:1:19", "allow it with --allow-commands"]);
        assert!(!pool.path().join("ran").exists());
        says(&run(&["--allow-commands"]), 0, &[]);
        std::fs::remove_file(pool.path().join("ran")).unwrap();
    }
}

/// A trace of so many lines that are no jobs, every third of which is one.
fn sick_trace(lines: u64) -> (tempfile::TempDir, String) {
    let line = |number: u64| match number % 3 {
        0 => format!("{number} {number} -1 5 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"),
        _ => format!("{number} {number} 3\n"),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sick.swf");
    std::fs::write(&path, (1..=lines).map(line).collect::<String>()).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn every_bad_line_of_a_trace_is_told_however_many_there_are() {
    // Two of three lines are bad: 1, 2, 4, 5, … The thousandth is line 1499, so 1501 and 1502 are the first of the others,
    // and of 1800 lines 1200 are bad: 200 more in 100 pairs, of which twenty are told.
    let (_folder, path) = sick_trace(1800);
    let found = classmate(&["simulate", "--workload", &path, "--slots", "2"]);
    says(&found, 0, &[":1: 3 numbers", ":1499: 3 numbers", "more lines are no job: 1501-1502, 1504-1505,"]);
    says(&found, 0, &["1558-1559, and 80 other places: --format json has all"]);
    assert_eq!(found.text.matches(": 3 numbers: expected 18").count(), 1000);
    let json = answer(
        Command::new(env!("CARGO_BIN_EXE_classmate"))
            .args(["simulate", "--workload", &path, "--slots", "2", "--format", "json"])
            .stderr(std::process::Stdio::null()),
    );
    let run: serde_json::Value =
        serde_json::from_str(&json.text[json.text.find('{').unwrap()..=json.text.rfind('}').unwrap()]).unwrap();
    let jobs = &run["jobs"];
    assert_eq!((&jobs["records"], &jobs["bad"], &jobs["completed"]), (&1800.into(), &1200.into(), &600.into()));
    let further = run["further_faults"].as_array().unwrap();
    let lines = |place: &serde_json::Value| place[1].as_u64().unwrap() - place[0].as_u64().unwrap() + 1;
    assert_eq!((run["faults"].as_array().unwrap().len(), further.iter().map(lines).sum::<u64>()), (1000, 200));
}

#[test]
fn steps_that_would_be_too_many_are_made_longer_and_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.swf");
    // The last job ends at 100,000 s: of steps of 10 s there would be 10,000, which is the most; of 9 s more.
    std::fs::write(
        &path,
        "1 0 -1 5 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n2 99990 -1 9 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n",
    )
    .unwrap();
    let path = path.display().to_string();
    let played = |step: &str| classmate(&["simulate", "--workload", &path, "--slots", "1", "--step", step]);
    says(&played("1"), 0, &["shares over time are told in steps of 10 s, not 1 s: there would be too many"]);
    assert!(!played("10").text.contains("too many"));
    let csv = classmate(&["simulate", "--workload", &path, "--slots", "1", "--step", "1", "--format", "json"]);
    says(&csv, 0, &["\"step\": 10,"]);
}
