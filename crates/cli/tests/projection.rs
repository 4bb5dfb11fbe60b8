//! A pool of which only what a cycle needs is kept gives the outcome of the whole pool, byte for byte.
//!
//! `negotiate` keeps of slots what can be looked at; with `--reference-path` it keeps everything and looks at slot after
//! slot. The outcomes, as JSON, are compared. `crates/pool/tests/agree.rs` compares both over random pools and scenarios.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn classmate(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The outcome of a cycle over a pool, made several ways that have to agree.
fn agree(pool: &Path, more: &[&str]) -> Vec<u8> {
    let pool = pool.to_str().unwrap();
    let negotiate = |with: &[&str]| {
        let plain = ["negotiate", pool, "--format", "json"];
        classmate(&[&plain[..], more, with].concat())
    };
    let outcome = negotiate(&[]);
    assert!(outcome == negotiate(&["--reference-path"]), "{pool}: whole slots, one after another");
    assert!(outcome == negotiate(&["--threads", "1"]), "{pool}: one thread");
    assert!(outcome == negotiate(&["--threads", "3"]), "{pool}: three threads");
    outcome
}

/// A made pool, in a folder of its own.
fn made(name: &str, arguments: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let path = folder.to_str().unwrap();
    // That of an earlier run may have another configuration.
    let _ = std::fs::remove_dir_all(&folder);
    classmate(&[&["generate", path][..], arguments].concat());
    folder
}

fn count(outcome: &[u8], word: &str) -> usize {
    String::from_utf8_lossy(outcome).matches(word).count()
}

#[test]
fn made_pools_give_what_whole_ones_give() {
    for (name, more) in [
        ("full", &["--full", "--slots", "300", "--jobs", "400", "--groups", "4"][..]),
        ("static", &["--shape", "static", "--slots", "400", "--jobs", "500", "--claimed", "0.4"]),
        ("gpu", &["--shape", "gpu", "--full", "--slots", "150", "--jobs", "300"]),
        ("distinct", &["--shape", "distinct", "--slots", "150", "--jobs", "100"]),
    ] {
        let outcome = agree(&made(&format!("needed-{name}"), more), &[]);
        assert!(count(&outcome, "\"slot\"") > 20, "{name}: nearly nothing matched");
    }
}

#[test]
fn the_examples_give_what_whole_ones_give() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("slots.ads").exists() && folder.join("jobs.ads").exists() {
            agree(&folder, &[]);
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} examples");
}

#[test]
fn other_forms_of_ads_give_the_same_outcome() {
    let pool = made("needed-forms", &["--slots", "200", "--jobs", "300", "--seed", "5"]);
    let expected = agree(&pool, &[]);
    let slots = pool.join("slots.ads");
    for form in ["json", "xml", "new"] {
        let text = classmate(&["ads", slots.to_str().unwrap(), "--to", form]);
        let file = pool.join(format!("slots.{form}"));
        std::fs::write(&file, text).unwrap();
        let outcome = agree(&pool, &["--slots", file.to_str().unwrap()]);
        assert!(outcome == expected, "{form}");
    }
}

/// One job that may look at whole slots is enough: then they are kept whole.
#[test]
fn a_job_that_looks_at_whole_slots_finds_them_whole() {
    let pool = made("needed-whole", &["--slots", "50", "--jobs", "60"]);
    let jobs = pool.join("jobs.ads");
    let text = std::fs::read_to_string(&jobs).unwrap();
    // Nobody names `TotalSlotDisk`; there are some forty attributes.
    for whole in
        ["size(TARGET) > 35", "eval(\"TARGET.TotalSlotDisk > 0\")", "TARGET[strcat(\"Total\", \"SlotDisk\")] > 0"]
    {
        assert!(!text.contains("TotalSlotDisk"), "another attribute is needed here");
        let changed: String = text
            .lines()
            .map(|line| match line.strip_prefix("Requirements = ") {
                Some(rest) => format!("Requirements = ({whole}) && {rest}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        std::fs::write(&jobs, changed).unwrap();
        let outcome = agree(&pool, &[]);
        assert!(count(&outcome, "\"slot\"") > 5, "{whole}");
    }
}

/// Faults in the files are told as before, those of the slots first.
#[test]
fn what_cannot_be_read_is_told_in_the_order_of_the_files() {
    let pool = made("needed-faults", &["--slots", "20", "--jobs", "20"]);
    for name in ["slots.ads", "jobs.ads"] {
        let file = pool.join(name);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}\nName = \"odd\"\nUnnamed = (\nLater = 1\n")).unwrap();
    }
    let told = |more: &[&str]| {
        let pool = pool.to_str().unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_classmate")).args(["negotiate", pool]).args(more).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let text = told(&[]);
    assert!(text.find("slots.ads").unwrap() < text.find("jobs.ads").unwrap(), "{text}");
    assert_eq!(text, told(&["--reference-path"]));
    std::fs::remove_file(pool.join("slots.ads")).unwrap();
    std::fs::remove_file(pool.join("jobs.ads")).unwrap();
    let text = told(&[]);
    assert!(text.contains("slots.ads") && !text.contains("jobs.ads"), "{text}");
}

/// What `explain` says with slots of which only what a cycle needs is kept is what it says with whole ones: those are
/// given through a pipe, which cannot be read twice.
#[test]
fn explanations_are_those_of_whole_slots() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let examples = std::fs::read_dir(root.join("examples")).unwrap();
    let mut pools: Vec<PathBuf> = examples.map(|entry| entry.unwrap().path()).collect();
    pools.push(made("needed-explain", &["--full", "--slots", "120", "--jobs", "60", "--groups", "4"]));
    let misspelled = made("needed-misspelled", &["--full", "--slots", "60", "--jobs", "20"]);
    let jobs = misspelled.join("jobs.ads");
    let text = std::fs::read_to_string(&jobs).unwrap();
    // Slots have `TotalSlotDisk`, and nothing names it.
    assert!(!text.contains("TotalSlotDisk"), "another attribute is needed here");
    std::fs::write(&jobs, text.replace("Requirements = ", "Requirements = TARGET.TotalSlotDsk > 0 && ")).unwrap();
    pools.push(misspelled);
    let mut told = Vec::new();
    for pool in pools.iter().filter(|pool| pool.join("slots.ads").exists() && pool.join("jobs.ads").exists()) {
        let (slots, jobs) = (pool.join("slots.ads"), std::fs::read_to_string(pool.join("jobs.ads")).unwrap());
        let name = std::fs::read_to_string(&slots).unwrap();
        let name =
            name.lines().find_map(|line| line.strip_prefix("Name = \"")).unwrap().trim_end_matches('"').to_owned();
        let mut asked = vec![vec!["--slot".to_owned(), name]];
        if jobs.contains("ClusterId") {
            asked.push(vec!["--job".to_owned(), "ClusterId >= 0".to_owned()]);
        }
        for about in asked {
            let run = |slots: Stdio, more: &[&str]| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
                command.args(["explain", pool.to_str().unwrap(), "--format", "json"]).args(&about).args(more);
                command.stdin(slots).output().unwrap()
            };
            let (kept, whole) = (run(Stdio::null(), &[]), run(File::open(&slots).unwrap().into(), &["--slots", "-"]));
            assert_eq!(kept.status.code(), whole.status.code(), "{} {about:?}", pool.display());
            assert!(kept.stdout == whole.stdout, "{} {about:?}", pool.display());
            told.extend(kept.stdout);
        }
    }
    assert!(count(&told, "\"similar\": \"TotalSlotDisk\"") >= 1, "what was meant is not told");
}

/// What comes through a pipe is read once, whatever it is called.
#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_once() {
    let pool = made("needed-pipe", &["--slots", "1500", "--jobs", "20"]);
    let explain = |slots: &str, before: &str| {
        let line = format!("{before}\"$0\" explain \"$1\" {slots} --job 'ClusterId >= 0' --format json");
        let arguments = ["-c", &line, env!("CARGO_BIN_EXE_classmate"), pool.to_str().unwrap()];
        let output = Command::new("sh").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert!(explain("", "") == explain("--slots /dev/stdin", "cat \"$1/slots.ads\" | "));
}
