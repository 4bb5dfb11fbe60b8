//! What is wrong with what a user gives: a clear message, the right status, and books as they were.
//!
//! Long, because each kind of wrong input has its test here.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its data has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use classmate_pool::internal::accountant::Journal;

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
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/pool/Accountantnew.log")
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
    says(&found, 0, &["`GROUP_QUOTA_DYNAMIC_a` has no effect: `GROUP_QUOTA_a` is set (5)", ":3:1"]);
    let found = checked("GROUP_NAMES = a, a.b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_a.b = 9\n");
    says(&found, 0, &["static quotas below `a` sum to 9, more than its 5"]);
}

#[test]
fn a_group_without_parent_is_told_to_be_left_out() {
    let found = checked("GROUP_NAMES = a.b\nGROUP_QUOTA_a.b = 5\n");
    says(&found, 0, &["group `a.b` is ignored: its parent `a` is not in GROUP_NAMES", ":1:"]);
}

#[test]
fn negative_quotas_are_errors_and_negative_factors_count_as_one() {
    let found = checked("GROUP_NAMES = a\nGROUP_QUOTA_a = -5\n");
    says(&found, 2, &["`GROUP_QUOTA_a` is `-5`: expected a number from 0"]);
    let found = checked("DEFAULT_PRIO_FACTOR = -5\nGROUP_NAMES = a\nGROUP_QUOTA_a = 1\nGROUP_PRIO_FACTOR_a = -3\n");
    let texts = ["`DEFAULT_PRIO_FACTOR` is `-5`: factors below 1 are treated as 1", "`GROUP_PRIO_FACTOR_a` is `-3`"];
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
    says(&classmate(&["userprio", &log, "-allusers"]), 0, &["warning: ", "discarded the last", "alice@pool.test"]);
    // Reading changes nothing; a change first drops what was not finished.
    assert_eq!(std::fs::read(&log).unwrap(), cut);
    says(&classmate(&["userprio", &log, "-setprio", "alice@pool.test", "7"]), 0, &["was set to 7"]);
    let again = classmate(&["userprio", &log, "-allusers"]);
    says(&again, 0, &["alice@pool.test"]);
    assert!(!again.text.contains("discarded"), "{}", again.text);
}

#[test]
fn what_is_skipped_of_a_log_is_an_error_and_repeated_warnings_are_counted() {
    let lines: String = (0..9).map(|at| format!("103 Customer.u{at} Priority 1.0\n")).collect();
    let (_folder, log) = books(lines.as_bytes());
    let found = classmate(&["userprio", &log, "-allusers"]);
    let kind = "skipped an attribute of a record that does not exist";
    says(
        &found,
        1,
        &["Accountantnew.log:1: ", "Accountantnew.log:3: ", &format!("warning: 6 more warnings not shown: {kind}")],
    );
    assert!(!found.text.contains("Accountantnew.log:4: "), "{}", found.text);
}

#[test]
fn a_listing_of_slurm_without_jobs_and_lines_that_are_skipped_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().display().to_string();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("slurm.conf", "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n");
    let page = "does not contain jobs";
    for text in ["{}", "[]"] {
        write("squeue.json", text);
        for command in [&["sprio", &pool][..], &["negotiate", &pool, "--policy", "slurm"]] {
            says(&classmate(command), 2, &[page, "squeue --json"]);
        }
    }
    // Nor may a listing of an empty queue pass in silence; a file without content says nothing.
    for (name, text) in [("squeue.json", "{\"jobs\": []}"), ("scontrol.jobs", "No jobs in the system\n")] {
        write(name, text);
        says(&classmate(&["sprio", &pool]), 2, &[&format!("{name}` lists no jobs"), "the queue was empty"]);
        write(name, "");
        says(&classmate(&["sprio", &pool]), 0, &["note: there are no jobs"]);
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    // Two jobs are held, one may begin later, one depends on others.
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=a UserId=ann(1) JobState=PENDING Partition=p {more} LastSchedEval=1970-01-01T00:01:40\n"
        )
    };
    let held = [job(1, "Priority=0"), job(2, "Priority=0")].concat();
    let waiting = [job(3, "EligibleTime=1970-01-01T00:10:00"), job(4, "EligibleTime=Unknown")].concat();
    write("scontrol.jobs", &(held + &waiting));
    let found = classmate(&["sprio", &pool]);
    says(&found, 0, &["note: of 4 jobs none is listed: 2 are held, 1 may not begin yet, 1 has no begin time"]);
    let lines: String = (0..9).map(|at| format!("garbage line {at}{}\n", "x".repeat(5000))).collect();
    write("slurm.conf", &format!("NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n{lines}"));
    let found = classmate(&["sprio", &pool]);
    says(&found, 1, &["slurm.conf:3:", "6 more warnings not shown: expected …, found …: skipped the line"]);
    assert!(!found.text.contains("slurm.conf:6:") && found.text.len() < 2000, "{}", found.text);
}

#[test]
fn a_configuration_of_slurm_in_place_of_slots_is_named_in_its_warnings_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (conf, job) = (path("cluster.conf"), path("job.ad"));
    let nodes = "ClusterName=c\nNodeName=n[1-2] CPUs=4 RealMemory=100\n";
    std::fs::write(&conf, format!("{nodes}garbage line\n")).unwrap();
    std::fs::write(&job, "[ClusterId = 1; ProcId = 0; Requirements = TARGET.Cpus == 4]\n").unwrap();
    let commands = [
        &["match", "--job", &job, "--slots", &conf, "--pairs", "none"][..],
        &["ads", &conf, "--attributes", "Name,Cpus", "--values"],
    ];
    let results = ["1.0  2 slots: 2 accepted by the job", "n1 4\nn2 4"];
    for (command, result) in commands.iter().zip(results) {
        says(&classmate(command), 1, &[result, &format!("{conf}:3:"), "skipped the line"]);
    }
    std::fs::write(&conf, format!("{nodes}NodeName=n[1 CPUs=4\n")).unwrap();
    for command in commands {
        let found = classmate(command);
        assert!(found.text.contains(&conf) && found.text.contains("line 3: "), "{}", found.text);
    }
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
        says(&run(&[]), 2, &["skipped the command", "config:1:19", "use --allow-commands"]);
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
    says(
        &found,
        1,
        &[":1: 3 numbers", ":1499: 3 numbers", "more lines that are not valid jobs: 1501-1502, 1504-1505,"],
    );
    says(&found, 1, &["1558-1559, and 80 other places; use --format json to list all"]);
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
fn what_a_trace_holds_gives_a_terminal_no_commands() {
    let job = "0 -1 5 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1";
    let (_folder, path) = folder(&[("t.swf", &format!("\u{1b}[31mX {job}\n\u{7}\u{9b}2J {job}\n3 {job}\n"))]);
    let found = classmate(&["simulate", "--workload", &format!("{path}/t.swf"), "--slots", "1"]);
    says(&found, 1, &["t.swf:1: the job number is `\\x1b[31mX`", ":2: the job number is `\\x07\\u{9b}2J`"]);
    assert!(!found.text.contains('\u{1b}'));
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
    says(&played("1"), 0, &["shares over time have steps of 10 s, because steps of 1 s would be too many"]);
    assert!(!played("10").text.contains("too many"));
    let csv = classmate(&["simulate", "--workload", &path, "--slots", "1", "--step", "1", "--format", "json"]);
    says(&csv, 0, &["\"step\": 10,"]);
}

/// A folder with files: their names and texts.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().display().to_string();
    (folder, path)
}

const SLOT: &str = "MyType = \"Machine\"\nName = \"slot1@n1\"\nMachine = \"n1\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = 4\n\
                    Memory = 1000\nRequirements = true\n";

/// The ad of a job.
fn job(cluster: i64, more: &str) -> String {
    format!(
        "MyType = \"Job\"\nClusterId = {cluster}\nProcId = 0\nOwner = \"u\"\nUser = \"u@x\"\nJobStatus = 1\nQDate = 1000\n\
         RequestCpus = 1\nRequestMemory = 1\nRequirements = true\nRemoteWallClockTime = 100\n{more}\n\n"
    )
}

const DUMP: &str = "Account - 'a'\nParent - 'a'\nUser - 'u':Partition='x'\nUser - 'u':Partition='y'\nUser - 'v'\n";

#[test]
fn a_run_time_that_nobody_lives_to_see_is_told() {
    let (_folder, path) = folder(&[("jobs.ads", &job(7, ""))]);
    let workload = format!("{path}/jobs.ads");
    let play = |more: &[&str]| classmate(&[&["simulate", "--workload", &workload, "--slots", "2"], more].concat());
    let found = play(&["--run-time", "1e300"]);
    says(&found, 2, &["jobs.ads:ad 1: the run time of job 7.0 is 1e300: expected at most 4503599627370496 seconds"]);
    let found = play(&["--run-time", "9e18", "--policy", "slurm"]);
    says(&found, 2, &["the run time of job 7.0 is 9e18: expected at most"]);
    // Of what is bearable nothing overflows.
    let found = play(&["--run-time", "4503599627370496"]);
    says(&found, 0, &["jobs: 1 completed", "utilization 50.0%"]);
}

#[test]
fn jobs_of_a_file_of_ads_are_named_by_the_number_of_their_ad() {
    let jobs = job(7, "RequestCpus = 9") + &job(8, "");
    let (_folder, path) = folder(&[("jobs.ads", &jobs)]);
    let found = classmate(&["simulate", "--workload", &format!("{path}/jobs.ads"), "--slots", "2"]);
    says(&found, 0, &["jobs.ads:ad 1: job 7.0 requests 9 cores, more than any slot has"]);
}

#[test]
fn an_end_before_the_beginning_is_told() {
    let (_folder, path) = folder(&[("jobs.ads", &job(7, ""))]);
    let found = classmate(&["simulate", "--workload", &format!("{path}/jobs.ads"), "--slots", "2", "--until", "999"]);
    says(&found, 0, &["no jobs simulated: the first job is submitted at 1000, and --until is 999"]);
}

#[test]
fn a_header_that_is_wrong_is_told_when_it_is_why_nothing_can_be_played() {
    for (value, expected) in [("abc", "expected a whole number of 0 or more"), ("0", "expected 1 or more")] {
        let text = format!("; MaxProcs: {value}\n1 0 -1 5 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
        let (_folder, path) = folder(&[("t.swf", &text)]);
        let found = classmate(&["simulate", "--workload", &format!("{path}/t.swf")]);
        let told = format!("t.swf:1: `MaxProcs` is `{value}`: {expected}");
        says(&found, 2, &[&told, "the number of cores is unknown"]);
    }
}

#[test]
fn usage_without_partitions_is_given_to_the_associations_in_their_order() {
    let pool = |usage: &str| folder(&[("sacctmgr.dump", DUMP), ("sshare.usage", usage), ("slots.ads", SLOT)]);
    let (_one, path) = pool("Account|User|RawUsage\nroot||7\na||7\na|u|1\na|u|2\na|v|4\n");
    let found = classmate(&["sshare", &path, "-a", "-m", "-P", "-o", "User,Partition,RawUsage"]);
    says(&found, 0, &["u|x|1\n", "u|y|2\n", "v||4\n"]);
    assert!(!found.text.contains("warning"), "{}", found.text);
    let (_one, path) = pool("Account|User|RawUsage\na|v|1\na|u|2\n");
    let told = "sshare.usage:3: skipped usage of account `a`, user `u`, which does not belong to an association (print it with \
                `sshare -a -m -P`, which names partitions)";
    says(&classmate(&["sshare", &path, "-a"]), 1, &[told]);
}

#[test]
fn what_slurms_files_do_not_know_is_told_once_for_each_kind() {
    let jobs = [
        job(1, "PartitionName = \"x\""),
        job(2, "PartitionName = \"z\"\nAccountingGroup = \"a.v\""),
        job(3, "Owner = \"w\""),
        job(4, "Owner = \"w\"\nSlurmAccount = \"b\"\nQOS = \"high\""),
    ];
    let conf = "PriorityWeightTRES=Foo=3\nPartitionName=x Nodes=n1 Default=YES\n";
    let files = [("jobs.ads", &*jobs.concat()), ("slots.ads", SLOT), ("sacctmgr.dump", DUMP), ("slurm.conf", conf)];
    let (_folder, path) = folder(&files);
    let told = [
        "slurm.conf:1:1: `Foo` in `PriorityWeightTRES` is not a Slurm resource",
        "jobs without an association in the dump have the fair-share factor 0: 2, the first is 3.0 of `w`",
        "jobs that request a partition that is not in `slurm.conf`: 1, the first is 2.0 in `z`",
        "jobs that request an unlisted QOS have QOS priority 0 and usage factor 1: 1, the first is 4.0 with `high`",
    ];
    says(&classmate(&["negotiate", &path, "--policy", "slurm"]), 0, &told);
    says(&classmate(&["sprio", &path]), 0, &told);
}

#[test]
fn a_user_with_an_association_for_a_partition_stands_as_that() {
    let files = [("jobs.ads", &*job(1, "")), ("slots.ads", SLOT), ("sacctmgr.dump", DUMP)];
    let conf = ("slurm.conf", "PriorityWeightFairshare=1000\nPartitionName=x Nodes=n1 Default=YES\nPartitionName=y\n");
    let (_folder, path) = folder(&[&files[..], &[conf]].concat());
    // Nobody has used anything: all have the best factor, 1 - 1 is 0. A third of the shares of the only account.
    let found = classmate(&["negotiate", &path, "--policy", "slurm"]);
    says(&found, 0, &["u@x            0.00  33.3%"]);
    let found = classmate(&["explain", &path, "--policy", "slurm", "--job", "1.0", "--details"]);
    says(&found, 0, &["fair-share factor 1.00"]);
}

#[test]
fn options_of_another_policy_are_refused() {
    for (policy, given, told) in [
        ("condor", &["--cs", "nope"][..], "--cs requires the DIRAC policy"),
        ("condor", &["--vo", "x"], "--vo requires the DIRAC policy"),
        ("condor", &["--setup", "x"], "--setup requires the DIRAC policy"),
        ("slurm", &["--cs", "nope"], "--cs requires the DIRAC policy"),
        ("slurm", &["--lottery", "proportional"], "--lottery requires the DIRAC policy"),
        ("condor", &["--linear"], "--linear requires the Slurm policy"),
        ("dirac", &["--linear"], "--linear requires the Slurm policy"),
        ("condor", &["--ties", "documented"], "--ties requires the Slurm policy"),
        ("dirac", &["--usage", "nope"], "--usage requires the Slurm policy"),
    ] {
        let (_folder, path) = folder(&[("jobs.ads", &job(1, "")), ("slots.ads", SLOT)]);
        says(
            &classmate(&[&["negotiate", &path, "--policy", policy], given].concat()),
            2,
            &[told, "help: add `--policy "],
        );
    }
}

#[test]
fn a_choice_of_diracs_rules_holds_for_a_cycle_as_for_its_queues() {
    // Two queues, of a job with priority 9 and one with 1. In proportion the first is drawn in nine of ten cases.
    let jobs = job(1, "UserPriority = 9\nCPUTime = 300") + &job(2, "UserPriority = 1\nCPUTime = 90000");
    let (_folder, path) = folder(&[("jobs.ads", &jobs), ("slots.ads", SLOT)]);
    let told = classmate(&["negotiate", &path, "--policy", "dirac", "--order", "greedy"]);
    says(&told, 0, &["1  1.0  u@x"]);
    says(
        &classmate(&["simulate", "--policy", "dirac", "--help"]),
        0,
        &["--weighting", "--profile", "--lottery", "--order"],
    );
}

#[test]
fn dynamic_quotas_are_no_shares_and_that_is_told() {
    let config = "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_b = 5\n";
    let files = [("jobs.ads", &*job(1, "")), ("slots.ads", SLOT), ("config", config)];
    let (_folder, path) = folder(&files);
    for policy in ["dirac", "slurm"] {
        let told = "GROUP_QUOTA_DYNAMIC of `a` is ignored under this policy: only GROUP_QUOTA is used as a share";
        let config = format!("{path}/config");
        says(&classmate(&["negotiate", &path, "--config", &config, "--policy", policy]), 0, &[told]);
    }
}

#[test]
fn a_job_that_a_limit_of_the_site_keeps_back_is_told_so() {
    let cs = "JobScheduling\n{\nCheckJobLimits = yes\nRunningLimit\n{\nCERN\n{\nJobType\n{\nMC = 1\n}\n}\n}\n}\n";
    let jobs: String = (1..=2).map(|cluster| job(cluster, "JobType = \"MC\"")).collect();
    let slot = |name: &str| SLOT.replace("slot1", name) + "Site = \"CERN\"\n\n";
    let slots = slot("slot1") + &slot("slot2") + &slot("slot3");
    let (_folder, path) = folder(&[("jobs.ads", &jobs), ("slots.ads", &slots), ("dirac.cfg", cs)]);
    let found = classmate(&["negotiate", &path, "--policy", "dirac"]);
    says(&found, 0, &["held by RunningLimit/CERN/JobType/MC = 1"]);
    assert!(!found.text.contains("other jobs were drawn"), "{}", found.text);
    let cause = "held by RunningLimit/CERN/JobType/MC = 1: no more such jobs start there now";
    let idle = if found.text.contains("1.0  u@x") { "2.0" } else { "1.0" };
    says(&classmate(&["explain", &path, "--policy", "dirac", "--job", idle]), 0, &[cause]);
}

#[test]
fn a_number_of_a_job_is_taken_in_each_of_its_forms_and_nothing_else_is() {
    let jobs: String = (4..=6).map(|cluster| job(cluster, "EnteredCurrentStatus = 1000")).collect();
    let (_folder, path) =
        folder(&[("jobs.ads", &jobs), ("slots.ads", SLOT), ("slurm.conf", "PriorityWeightAge=1000\n")]);
    for number in ["5", "5.0", "5_0"] {
        let found = classmate(&["sprio", &path, "-h", "-o", "%i", "-j", number]);
        assert_eq!((found.status, found.text.trim()), (Some(0), "5"), "{number}");
    }
    says(&classmate(&["sprio", &path, "-j", "abc"]), 2, &["`abc` is not a job ID", "expected a job ID such as `7`"]);
    says(&classmate(&["sprio", &path, "-j", "5.x"]), 2, &["`5.x` is not a job ID"]);
}

#[test]
fn files_without_what_is_read_from_them_stop_the_command() {
    let (_folder, path) =
        folder(&[("jobs.ads", &job(1, "JobPrio = 0")), ("slots.ads", SLOT), ("hello", "hello world")]);
    let file = |name: &str| format!("{path}/{name}");
    let (slots, hello) = (file("slots.ads"), file("hello"));
    for (option, name, message, tool) in [
        ("--slots", &hello, "hello` contains no slots", "condor_status -long"),
        ("--jobs", &hello, "hello` contains no jobs", "condor_q -allusers -long"),
        ("--jobs", &slots, "slots.ads` contains no jobs, but 1 ad of another kind", "condor_q -allusers -long"),
        ("--log", &hello, "hello` is not an accountant's log", "Accountantnew.log"),
    ] {
        let found = classmate(&["negotiate", &path, option, name]);
        says(&found, 2, &[message, tool]);
        assert!(!found.text.contains("SUBMITTER"), "{}", found.text);
    }
    // An empty queue is no mistake, nor is an empty log.
    let empty = file("empty");
    std::fs::write(&empty, "").unwrap();
    says(&classmate(&["negotiate", &path, "--jobs", &empty, "--log", &empty]), 0, &["no submitters"]);
    // A fault of another file is no reason to refuse one without ads.
    let faulty = file("faulty");
    std::fs::write(&faulty, format!("{SLOT}\nName = = 1\n")).unwrap();
    let blank = file("blank");
    std::fs::write(&blank, "\n\n").unwrap();
    let found = classmate(&["negotiate", &path, "--jobs", &blank, "--slots", &faulty]);
    says(&found, 1, &["split in two", "no submitters"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    let found = answer(command.args(["negotiate", &path, "--jobs", "-"]).stdin(std::fs::File::open(&hello).unwrap()));
    says(&found, 2, &["`standard input` contains no jobs"]);
    let none = file("none");
    std::fs::create_dir(&none).unwrap();
    says(
        &classmate(&["sshare", &none]),
        1,
        &["contains no files of Slurm: expected sacctmgr.dump", "snapshot --slurm"],
    );
    says(&classmate(&["sprio", &none]), 1, &["slots.ads`", "scontrol.nodes"]);
}

#[test]
fn a_command_names_all_files_that_decide_what_was_tried() {
    let (_folder, path) = folder(&[("alt", "GROUP_NAMES = chemistry, physics\nGROUP_QUOTA_chemistry = 5\n")]);
    let explain = ["explain", "../../examples/groups", "--job", "3.11"];
    says(&classmate(&explain), 0, &["  classmate whatif ../../examples/groups --set "]);
    let given = classmate(&[&explain[..], &["--config", "../../examples/groups/config"]].concat());
    says(&given, 0, &["  classmate whatif ../../examples/groups --config ../../examples/groups/config --set "]);
    let other = classmate(&[&explain[..], &["--config", &format!("{path}/alt")]].concat());
    assert!(!other.text.contains("whatif ../../examples/groups --set"), "{}", other.text);
    // 20,639 days after 1970.
    let now = classmate(&[&explain[..], &["--now", "2026-07-05"]].concat());
    says(&now, 0, &["  classmate whatif ../../examples/groups --now 1783209600 --set "]);
}

/// Any attribute can be named by a string that is evaluated.
#[test]
fn a_condition_without_names_is_refuted_for_all_ads_only_if_it_is_constant() {
    says(&classmate(&["policy", "always", "false"]), 1, &["refuted: the condition is false, in all ads\n"]);
    let found = classmate(&["policy", "always", "eval(\"Foo\") > 3"]);
    says(&found, 1, &["refuted: the condition is undefined, in ads without attributes\n"]);
}

/// Slots with different amounts: what one has is not said of both.
#[test]
fn what_a_consumption_policy_takes_is_said_of_the_slot_that_has_less() {
    let slot = |name: &str, cpus: u32| {
        format!(
            "MyType = \"Machine\"\nName = \"{name}\"\nMachine = \"{name}\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\n\
             PartitionableSlot = true\nMachineResources = \"Cpus\"\nCpus = {cpus}\nMemory = 1000\nRequirements = true\n\
             ConsumptionCpus = TARGET.RequestCpus\nSlotWeight = Cpus\n\n"
        )
    };
    let asks = |cluster: i64| job(cluster, "RequestCpus = 4").replace("RequestCpus = 1\n", "");
    let cause = |slots: &[String], jobs: &[String]| {
        let (_folder, path) = folder(&[("slots.ads", &slots.concat()), ("jobs.ads", &jobs.concat())]);
        classmate(&["explain", &path, "--job", "9.0"]).text
    };
    let taken = "than their consumption policy takes: ConsumptionCpus is 4, but Cpus is";
    let found = cause(&[slot("a", 3), slot("b", 2)], &[asks(9)]);
    assert!(found.contains(&format!("2 of the 2 matching slots have less {taken} 3 on a\n")), "{found}");
    let found = cause(&[slot("a", 3), slot("b", 3)], &[asks(9)]);
    assert!(found.contains(&format!("2 of the 2 matching slots have less {taken} 3\n")), "{found}");
    // The other slot goes to the job before it.
    let found = cause(&[slot("a", 3), slot("b", 4)], &[asks(1), asks(9)]);
    let one =
        "1 of the 2 matching slots has less than its consumption policy takes: ConsumptionCpus is 4, but Cpus is 3\n";
    assert!(found.contains(one), "{found}");
}

/// Appended to a name, the domain would have two dots; those that `ipv6_hostname.cpp` makes of `DEFAULT_DOMAIN_NAME` need not.
#[test]
fn a_dot_before_a_domain_is_a_mistake_where_one_is_added() {
    says(&checked("UID_DOMAIN = .example.org\n"), 0, &["`UID_DOMAIN` is `.example.org`", "write `example.org`"]);
    let found = checked("DEFAULT_DOMAIN_NAME = .example.org\n");
    says(&found, 0, &["0 errors, 0 warnings"]);
    says(&checked("EMAIL_DOMAIN = .example.org\n"), 0, &["`EMAIL_DOMAIN` is `.example.org`"]);
}

/// The first bytes of files by `xz`, `bzip2` and `zstd`.
#[test]
fn files_that_are_compressed_by_other_programs_are_refused_with_the_command_that_expands_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slots.ads");
    for (start, program) in [
        (&b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46"[..], "xz"),
        (b"BZh91AY&SY\x94\x5b", "bzip2"),
        (b"\x28\xb5\x2f\xfd\x24\x0d", "zstd"),
    ] {
        std::fs::write(&path, start).unwrap();
        let found = classmate(&["ads", path.to_str().unwrap()]);
        let message = format!("it is compressed by {program}, expected text or gzip");
        says(&found, 1, &[&message, &format!("expand it first: {program} -d")]);
    }
    std::fs::write(&path, "BZh = 1\n").unwrap();
    says(&classmate(&["ads", path.to_str().unwrap()]), 0, &["BZh = 1"]);
}

/// A pipe is read once, to find out what it holds and for what it holds.
#[test]
#[cfg(unix)]
fn pipes_are_read_like_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text"), "NEGOTIATOR_INTERVAL = often\n").unwrap();
    std::fs::write(folder.path().join("loose"), "START = a&&b\n").unwrap();
    std::fs::write(folder.path().join("ads"), "Name = \"s\"\nMyType = \"Machine\"\nRequirements = 1K > 0\n").unwrap();
    let piped = |command: &str, file: &str| {
        let script =
            format!("mkfifo pipe; cat {file} > pipe & timeout 60 \"$0\" {command}; status=$?; rm pipe; exit $status");
        answer(Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_classmate")]).current_dir(folder.path()))
    };
    says(&piped("lint pipe", "text"), 2, &["NEGOTIATOR_INTERVAL", "pipe:1:23"]);
    says(&piped("fmt --check pipe", "loose"), 1, &["pipe"]);
    says(&piped("negotiate --slots pipe --jobs text", "ads"), 2, &["contains no jobs"]);
    says(&piped("versions pipe --from 10.0", "ads"), 0, &["1K"]);
    let mut standard = Command::new("sh");
    standard.args(["-c", "cat text | \"$0\" lint /dev/stdin", env!("CARGO_BIN_EXE_classmate")]);
    says(&answer(standard.current_dir(folder.path())), 2, &["NEGOTIATOR_INTERVAL", "/dev/stdin:1:23"]);
}

#[test]
fn a_compressed_file_that_ends_early_is_an_error_of_lint_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slots.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, SLOT.repeat(50).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(&path, &packed[..packed.len() - 20]).unwrap();
    says(&classmate(&["lint", &path.display().to_string()]), 1, &["ends early"]);
}

#[test]
fn slots_are_only_added_from_files_that_have_them() {
    let (_folder, path) = folder(&[("jobs.ads", &job(1, "JobPrio = 0")), ("slots.ads", SLOT), ("empty", "")]);
    let added = |name: &str| classmate(&["whatif", &path, "--add-slots", &format!("{path}/{name}")]);
    says(&added("jobs.ads"), 2, &["jobs.ads` contains no slots, but 1 ad of another kind", "condor_status -long"]);
    says(&added("empty"), 2, &["empty` does not contain any slots"]);
}

#[test]
fn ads_in_place_of_a_configuration_are_refused() {
    let (_folder, path) = folder(&[("jobs.ads", &job(1, "")), ("slots.ads", SLOT)]);
    let slots = format!("{path}/slots.ads");
    let found = classmate(&["negotiate", &path, "--config", &slots]);
    says(&found, 2, &["slots.ads` does not contain a configuration, but ads"]);
    let empty = tempfile::tempdir().unwrap();
    let found = classmate(&["negotiate", &path, "--config", &empty.path().display().to_string()]);
    says(&found, 1, &["does not contain a configuration", "expected `condor_config`"]);
}

#[test]
fn a_share_of_a_group_without_jobs_has_no_effect() {
    let cs = "Registry\n{\nGroups\n{\nphysics\n{\nJobShare = 10\n}\n}\n}\n";
    let jobs = job(1, "AcctGroup = \"physics\"") + &job(2, "AcctGroup = \"chemistry\"");
    let (_folder, path) = folder(&[("jobs.ads", &jobs), ("slots.ads", SLOT), ("dirac.cfg", cs)]);
    let whatif = |group: &str| {
        let line = format!("Registry/Groups/{group}/JobShare = 500");
        classmate(&["whatif", &path, "--policy", "dirac", "--set", &line])
    };
    let message =
        "`Registry/Groups/physcs/JobShare` has no effect: no job is of group `physcs`; did you mean `physics`?";
    says(&whatif("physcs"), 1, &[message, "error: a change has no effect"]);
    says(&whatif("chemistry"), 0, &["section `/Registry/Groups/chemistry` is new"]);
    says(&whatif("physics"), 0, &[]);
}

#[test]
fn a_setting_without_a_value_is_answered_with_an_example() {
    let (_folder, path) = folder(&[("jobs.ads", &job(1, "")), ("slots.ads", SLOT)]);
    let found = classmate(&["whatif", &path, "--set", "foo"]);
    says(&found, 2, &["--set: expected `NAME = value`, found `foo`", "--set 'PRIORITY_HALFLIFE = 3600'"]);
}

#[test]
fn a_listing_that_slurm_did_not_write_is_invalid() {
    for listing in ["{\"jobs\": [{\"job_id\": 5}]}", "{\"jobs\": ["] {
        let (_folder, path) = folder(&[("slurm.conf", ""), ("squeue.json", listing)]);
        says(
            &classmate(&["sprio", &path]),
            2,
            &["cannot read", "squeue.json", "expected the output of `squeue --json`"],
        );
    }
}

#[test]
fn the_only_name_is_named() {
    let (_folder, path) = folder(&[("jobs.ads", &job(1, "")), ("slots.ads", SLOT)]);
    let found = classmate(&["explain", &path, "--slot", "zz"]);
    says(&found, 2, &["no slot in the cycle is named `zz`", "the only one is `slot1"]);
}

#[test]
fn empty_queues_as_condor_q_prints_them_are_a_pool_without_jobs() {
    let (_folder, pool) = folder(&[("slots.ads", SLOT), ("jobs.ads", "All queues are empty\n")]);
    says(&classmate(&["negotiate", &pool]), 0, &["no submitters request slots", "no matches"]);
    says(&classmate(&["explain", &pool, "--all"]), 0, &["0 idle jobs"]);
    says(&classmate(&["explain", &pool, "--job", "1.0"]), 2, &["there is no job `1.0`", "0 jobs were read"]);
}

#[test]
fn a_path_that_does_not_exist_is_not_an_expression_for_versions() {
    for name in ["examples/grups", "pol", "./pool", "no/such-file.ads"] {
        says(
            &classmate(&["versions", name, "--from", "23.0"]),
            1,
            &[&format!("cannot read `{name}`"), "write spaces around the operators"],
        );
    }
    for expression in ["Memory / 1024", "MY.Memory", "-1", "010"] {
        let found = classmate(&["versions", expression, "--from", "23.0"]);
        assert!(!found.text.contains("cannot read"), "{expression}: {}", found.text);
    }
}

#[test]
fn the_name_of_a_slot_to_drain_is_answered_with_a_condition() {
    let (_folder, pool) = folder(&[("slots.ads", SLOT), ("jobs.ads", &job(1, ""))]);
    let found = classmate(&["whatif", &pool, "--drain", "slot1@m01.example.org"]);
    says(&found, 2, &["not the name of a slot", "write `Name == \"slot1@m01.example.org\"`"]);
}
