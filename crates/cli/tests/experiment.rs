//! Experiments: the same result however they are run, also after a kill; and messages for wrong files.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const EXPERIMENT: &str = "\
seeds = 5
baseline = \"condor/usual\"
[simulate]
workload = \"trace.swf\"
pool = \"pool\"
slots = 10
shake = 600
[policies.condor]
[policies.slurm]
[policies.dirac]
[settings.usual]
[settings.twelve]
slots = 12
[settings.slow]
interval = 3600
[settings.short]
set = [\"PRIORITY_HALFLIFE = 3600\", \"NEGOTIATOR_INTERVAL = 30\"]
";

/// A directory with an experiment, the example trace and its pool.
fn folder(experiment: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/simulate"));
    std::fs::create_dir(folder.path().join("pool")).unwrap();
    for name in ["config", "slurm.conf", "sacctmgr.dump", "dirac.cfg"] {
        std::fs::copy(examples.join(name), folder.path().join("pool").join(name)).unwrap();
    }
    std::fs::copy(examples.join("trace.swf"), folder.path().join("trace.swf")).unwrap();
    std::fs::write(folder.path().join("e.toml"), experiment).unwrap();
    folder
}

fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(["experiment", "e.toml"]).args(more).current_dir(folder);
    command
}

fn run(folder: &Path, more: &[&str]) -> Output {
    command(folder, more).output().unwrap()
}

/// The files of a directory with their contents.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn an_experiment_that_was_killed_goes_on_to_the_same_result() {
    let folder = folder(EXPERIMENT);
    let whole = run(folder.path(), &["--output", "whole"]);
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let expected = files(&folder.path().join("whole"));
    // 3 policies, 4 settings, 5 seeds; and five files.
    assert_eq!(expected.len(), 65);
    // Killed after a few runs.
    let mut child =
        command(folder.path(), &["--output", "killed", "--jobs", "2"]).stdout(Stdio::null()).spawn().unwrap();
    let points = folder.path().join("killed/points");
    let end = Instant::now() + Duration::from_mins(2);
    while Instant::now() < end && std::fs::read_dir(&points).map_or(0, Iterator::count) < 7 {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = files(&points);
    let complete: Vec<_> = left.iter().filter(|(name, _)| !name.contains(".partial")).collect();
    assert!((5..60).contains(&complete.len()), "{} runs before the kill", complete.len());
    for (name, text) in complete {
        assert_eq!(text, &expected[&format!("points/{name}")], "{name} is whole");
    }
    // One that was cut off, and one of another trace, are made again.
    std::fs::write(points.join("condor~usual~1.json"), "{\"workload\": ").unwrap();
    let resumed = run(folder.path(), &["--output", "killed", "--jobs", "3"]);
    assert_eq!(resumed.stdout, whole.stdout);
    let shown = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(shown(&resumed), "warning: runs that are not complete in `killed/points` are made again\n");
    let mut found = files(&folder.path().join("killed"));
    found.retain(|name, _| !name.ends_with(".partial"));
    assert_eq!(found, expected);
    // Another trace makes other runs, in the same directory.
    let trace = std::fs::read_to_string(folder.path().join("trace.swf")).unwrap();
    let shorter: String = trace.lines().take(100).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("trace.swf"), shorter).unwrap();
    let other = run(folder.path(), &["--output", "killed", "--jobs", "2"]);
    assert_ne!(other.stdout, whole.stdout);
    let expected = "warning: runs of another version, command or file in `killed/points` are made again\n";
    assert!(shown(&other).starts_with(expected), "{}", shown(&other));
}

#[test]
fn means_and_differences_are_those_of_the_runs() {
    let folder = folder(EXPERIMENT);
    let output = run(folder.path(), &["--format", "json", "--baseline", "usual", "--jobs", "2"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let wait = |policy: &str, setting: &str| -> Vec<f64> {
        let points = found["points"].as_array().unwrap().iter();
        let own = points.filter(|point| point["policy"] == policy && point["setting"] == setting);
        own.map(|point| point["measures"]["wait_mean"].as_f64().unwrap()).collect()
    };
    let (slow, usual) = (wait("slurm", "slow"), wait("slurm", "usual"));
    assert_eq!((slow.len(), usual.len()), (5, 5));
    let variants = found["variants"].as_array().unwrap();
    let variant = variants.iter().find(|one| one["policy"] == "slurm" && one["setting"] == "slow").unwrap();
    let measures = variant["measures"].as_array().unwrap();
    let measure = measures.iter().find(|measure| measure["name"] == "wait, mean").unwrap();
    let mean = slow.iter().sum::<f64>() / 5.0;
    assert!((measure["mean"].as_f64().unwrap() - mean).abs() < 1e-6);
    // Student's quantile for 4 degrees of freedom is 2.7764.
    let differences: Vec<f64> = slow.iter().zip(&usual).map(|(one, other)| one - other).collect();
    let middle = differences.iter().sum::<f64>() / 5.0;
    let variance = differences.iter().map(|one| (one - middle).powi(2)).sum::<f64>() / 4.0;
    let difference = &measure["difference"];
    assert!((difference["mean"].as_f64().unwrap() - middle).abs() < 1e-6);
    assert!((difference["half_width"].as_f64().unwrap() - 2.7764 * (variance / 5.0).sqrt()).abs() < 1e-3);
    // The same run by hand gives the same measures.
    let command = found["points"][7]["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let again = Command::new(env!("CARGO_BIN_EXE_classmate"));
    let again = { again }.args(words).args(["--format", "json"]).current_dir(folder.path()).output().unwrap();
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["all"]["wait"]["mean"], found["points"][7]["measures"]["wait_mean"]);
    assert_eq!(again["provenance"]["files"][0]["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn mistakes_in_the_file_are_named() {
    for (text, message) in [
        ("seeds = \n", "`e.toml`:1:"),
        ("seeds = 0", "`seeds` is not a number from 1 to 10000 or a list of seeds"),
        ("sedes = 1", "`sedes` is unknown"),
        (
            "[simulate]\nworkload = \"trace.swf\"\nslot = 1",
            "does not have the option `--slot`, in the run condor/default",
        ),
        ("[simulate]\nworkload = \"trace.swf\"\nslots = 0", "in the run condor/default"),
        ("[simulate]\nslots = 1", "required arguments were not provided: --workload <FILE>, in the run condor/default"),
        ("[simulate]\nreport = \"x\"", "`simulate.report` cannot be set in an experiment"),
        ("[policies.mine]\nslots = 1", "`policies.mine` does not name its policy"),
        ("[settings.'a/b']", "`settings.a/b` is not a name of letters"),
        ("baseline = \"x\"\n[simulate]\nworkload = \"trace.swf\"", "the baseline `x` is not a policy or setting"),
        ("[simulate]\nworkload = \"none.swf\"", "cannot read `none.swf`"),
        ("[simulate]\nworkload = \"trace.swf\"\nset = [\"PRIORITY_HALFLIVE = 1\"]", "PRIORITY_HALFLIVE"),
    ] {
        let folder = folder(text);
        let output = run(folder.path(), &[]);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(shown.contains(message), "{text}: {shown}");
        assert!(!output.status.success(), "{text}");
    }
}

#[test]
fn jobs_of_a_pool_make_the_runs_and_the_same_command_collects_them() {
    let folder = folder(&EXPERIMENT.replace("seeds = 5", "seeds = 1"));
    let whole = run(folder.path(), &["--output", "whole"]);
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let submit = || run(folder.path(), &["--output", "swept", "--submit"]);
    assert_eq!(String::from_utf8(submit().stdout).unwrap(), "swept/experiment.sub\n");
    let text = std::fs::read_to_string(folder.path().join("swept/experiment.sub")).unwrap();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("{name} = "))).unwrap();
    let inputs = "e.toml, pool/config, pool/dirac.cfg, pool/sacctmgr.dump, pool/slurm.conf, trace.swf";
    assert_eq!(value("transfer_input_files"), inputs);
    let queued: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    // 3 policies, 4 settings, 1 seed.
    assert_eq!(queued.len(), 12);
    // Each job runs in a directory with the transferred files, as HTCondor makes it; all but the last.
    for name in &queued[..11] {
        let scratch = self::folder(&EXPERIMENT.replace("seeds = 5", "seeds = 1"));
        let arguments = value("arguments").replace("$(run)", name);
        let job = Command::new(value("executable")).args(arguments.split(' ')).current_dir(scratch.path()).output();
        let job = job.unwrap();
        assert!(job.status.success(), "{}", String::from_utf8_lossy(&job.stderr));
        let result = value("transfer_output_files").replace("$(run)", name);
        std::fs::copy(scratch.path().join(&result), folder.path().join(&result)).unwrap();
    }
    // Submitted again, only what is missing is queued; the collector makes it too.
    submit();
    let text = std::fs::read_to_string(folder.path().join("swept/experiment.sub")).unwrap();
    assert_eq!(text.lines().filter_map(|line| line.strip_prefix("  ")).collect::<Vec<_>>(), queued[11..]);
    assert!(run(folder.path(), &["--output", "swept"]).status.success());
    for name in ["results.csv", "results.parquet", "summary.csv", "summary.parquet", "index.html"] {
        let of = |output: &str| std::fs::read(folder.path().join(output).join(name)).unwrap();
        assert!(of("swept") == of("whole"), "{name}");
    }
    let message = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message(&submit()).contains("all runs are complete"));
    let wrong = message(&run(folder.path(), &["--output", "../swept", "--submit"]));
    assert!(wrong.contains("--submit cannot transfer `../swept`"), "{wrong}");
    let wrong = message(&run(folder.path(), &["--output", "./pool/", "--submit"]));
    assert!(wrong.contains("--submit cannot write to `pool`, which the runs read"), "{wrong}");
    let wrong = message(&run(folder.path(), &["--run", "condor~usual~7"]));
    assert!(wrong.contains("`condor~usual~7` is not a run of the experiment"), "{wrong}");
}

#[test]
fn results_beside_the_files_that_are_read_are_not_transferred() {
    let folder = folder(&EXPERIMENT.replace("\"pool\"", "\".\"").replace("seeds = 5", "seeds = 1"));
    std::fs::remove_dir_all(folder.path().join("pool")).unwrap();
    assert!(run(folder.path(), &["--submit"]).status.success());
    let text = std::fs::read_to_string(folder.path().join("e/experiment.sub")).unwrap();
    assert!(text.contains("\ntransfer_input_files = e.toml, trace.swf\n"), "{text}");
}
