//! The listings of a cluster that was constructed to give those of the specification, to the character.

use std::collections::BTreeMap;
use std::process::Command;

fn lines(arguments: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Every line of the specification stands in the listing, in its order (it leaves some out); blanks at the end aside.
fn holds(expected: &str, arguments: &[&str]) {
    let found = lines(arguments);
    let mut rest = found.iter();
    for line in expected.lines().skip(1) {
        assert!(rest.any(|found| found == line.trim_end()), "not found: {line}\nin {found:#?}");
    }
}

#[test]
fn sprio_is_that_of_the_specification() {
    let expected = r"
          JOBID PARTITION   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION        QOS                 TRES
              1 batch           4111          0          0          0       3636         78        250          0        cpu=31,mem=16
              2 batch           7245          0          0        700       4545        500        250        500      cpu=500,mem=250
              3 debug           3903          0          0          0       2727        133       1000          0        cpu=62,mem=31
              4 zero            1896          0          0          0       1818         66          0          0          cpu=8,mem=4
              5 batch           7019          0          0          0       6364        125        250        125       cpu=125,mem=31
              5 debug           8238          0          0          0       6364        125       1000        125      cpu=500,mem=125
              6 batch           9937          0          0        233       5455       1000        250          0    cpu=1000,mem=2000
";
    assert_eq!(lines(&["sprio", "examples/slurm"]), expected.lines().skip(1).collect::<Vec<_>>());
    let expected = r"
          JOBID PARTITION PRIORITY   AGE        ASSOC      FAIRSHARE  JOBSIZE    PARTITION  QOS        TRES
              1 batch     0.00000095 0.0000025  0.0000000  0.3636364  0.0781250  0.2500000  0.0000000  cpu=0.03,mem=0.01
              2 batch     0.00000168 0.0000000  1.0000000  0.4545455  0.5000000  0.2500000  1.0000000  cpu=0.50,mem=0.12
";
    holds(expected, &["sprio", "examples/slurm", "-n"]);
    let expected = r"
          JOBID PARTITION   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION        QOS                 TRES
        Weights                               1       1000        700      10000       1000       1000        500    CPU=1000,Mem=2000
";
    holds(expected, &["sprio", "examples/slurm", "-w"]);
    let expected = "\n3|   games|1000 |      3903|0.00000090893247|cpu=62,mem=31|cpu=0.06,mem=0.02\n";
    holds(expected, &["sprio", "examples/slurm", "-h", "-o", "%i|%.8u|%5P|%.10Y|%y|%T|%t"]);
}

#[test]
fn sshare_is_that_of_the_specification() {
    let expected = r"
Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare
-------------------- ---------- ---------- ----------- ----------- ------------- ----------
root                                          0.000000        7700      1.000000
 root                      root          1    0.090909           0      0.000000   1.000000
 chem                                    3    0.272727        2600      0.337662
  chem                     news          1    1.000000        2500      0.961538   0.181818
";
    holds(expected, &["sshare", "examples/slurm", "-a"]);
    let expected = r"
 phys||5|0.454545|4200|0.545455|0.545455||0.833333
  phys|bin|parent|0.454545|500|0.064935|0.119048|0.818182|
  phys|daemon|2|0.200000|1000|0.129870|0.238095|0.363636|0.840000
";
    let columns = "Account,User,RawShares,NormShares,RawUsage,NormUsage,Eff,FairShare,LevelFS";
    holds(expected, &["sshare", "examples/slurm", "-a", "-P", "-o", columns]);
    let expected = r"
Account                    User  RawShares  NormShares    RawUsage   NormUsage  EffectvUsage  FairShare    LevelFS                    GrpTRESMins                    TRESRunMins
-------------------- ---------- ---------- ----------- ----------- ----------- ------------- ---------- ---------- ------------------------------ ------------------------------
root                                          0.000000        7700                  1.000000                                                      cpu=0,mem=0,energy=0,node=0,b+
 root                      root          1    0.090909           0    0.000000      0.000000   1.000000        inf                                cpu=0,mem=0,energy=0,node=0,b+
 phys                                    5    0.454545        4200    0.545455      0.545455              0.833333                                cpu=0,mem=0,energy=0,node=0,b+
  phys                      bin     parent    0.454545         500    0.064935      0.119048   0.818182                                           cpu=0,mem=0,energy=0,node=0,b+
  phys                   daemon          2    0.200000        1000    0.129870      0.238095   0.363636   0.840000                                cpu=0,mem=0,energy=0,node=0,b+
  hep                               parent    0.454545        1200    0.155844      0.285714                                                      cpu=0,mem=0,energy=0,node=0,b+
";
    holds(expected, &["sshare", "examples/slurm", "-a", "-l"]);
}

/// The output of Slurm 22.05.8 and 26.05.5 for clusters with jobs in all states, by release and the name of a file.
fn clusters() -> BTreeMap<String, BTreeMap<String, String>> {
    let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/slurm/clusters.json.gz")).unwrap();
    serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap()
}

#[test]
fn every_form_of_listing_gives_the_priorities_that_slurm_printed() {
    let forms: [&[&str]; 4] = [
        &["slurm.conf", "squeue.json"],
        &["slurm.conf", "scontrol.jobs", "scontrol.nodes"],
        &["slurm.conf", "squeue.json", "nodes.json"],
        // Only 26.05 lists the nodes of a cloud that are off.
        &["scontrol.config", "scontrol.partitions", "scontrol.nodes", "squeue.json"],
    ];
    let mut compared = 0;
    for (release, files) in clusters() {
        for (at, form) in forms.iter().enumerate().filter(|(at, _)| *at < 2 || release == "26.05") {
            let pool = tempfile::tempdir().unwrap();
            for name in *form {
                std::fs::write(pool.path().join(name), &files[*name]).unwrap();
            }
            for name in ["sprio", "sprio -l", "sprio -n"] {
                let printed = pool.path().join("printed.txt");
                std::fs::write(&printed, &files[name]).unwrap();
                let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
                let output = command.arg("sprio").arg(pool.path()).arg("--against").arg(&printed).output().unwrap();
                let columns = files[name].lines().next().unwrap().split_whitespace().count();
                let cells = (files[name].lines().count() - 1) * columns;
                let found = String::from_utf8(output.stdout).unwrap();
                assert_eq!(found, format!("{cells} of {cells} cells identical\n"), "{release} {at} {name}");
                compared += cells;
            }
        }
    }
    // 22.05: two forms, 9 lines of 8, 13 and 7 columns; 26.05: four forms, 10 lines of 8, 15 and 7 columns.
    assert_eq!(compared, 2 * 9 * (8 + 13 + 7) + 4 * 10 * (8 + 15 + 7));
}

/// Snapshots of clusters of Slurm 22.05.8 and 26.05.5, by name and the name of a file: what `snapshot --slurm` saves, and in
/// `sshare` the columns below.
pub(super) fn snapshots() -> BTreeMap<String, BTreeMap<String, String>> {
    let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/slurm/snapshots.json.gz")).unwrap();
    serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap()
}

#[test]
fn snapshots_give_what_slurm_printed() {
    const COLUMNS: &str = "Account,User,Partition,RawShares,FairShare,TRESRunMins";
    let (mut compared, mut noted) = (0, 0);
    for (name, files) in snapshots() {
        let pool = tempfile::tempdir().unwrap();
        for (file, text) in &files {
            std::fs::write(pool.path().join(file), text).unwrap();
        }
        let printed = pool.path().join("sprio.txt");
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
            command.arg(arguments[0]).arg(pool.path()).args(&arguments[1..]).output().unwrap()
        };
        let output = run(&["sprio", "--against", printed.to_str().unwrap()]);
        let columns = files["sprio.txt"].lines().next().unwrap().split_whitespace().count();
        let cells = (files["sprio.txt"].lines().count() - 1) * columns;
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(found, format!("{cells} of {cells} cells identical\n"), "{name}");
        noted += usize::from(String::from_utf8(output.stderr).unwrap().contains("Slurm does not list it with jobs"));
        let found = String::from_utf8(run(&["sshare", "-a", "-m", "-P", "-o", COLUMNS]).stdout).unwrap();
        assert_eq!(found, files["sshare"], "{name}");
        compared += 1;
    }
    assert_eq!((compared, noted), (12, 6));
}

#[test]
fn a_difference_from_what_slurm_printed_is_named_and_fails() {
    let printed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slurm-cluster/sprio.txt"));
    let changed = printed.unwrap().replacen(" 6266 ", " 6265 ", 1) + "             99 batch              7\n";
    let (file, mut command) = (tempfile::NamedTempFile::new().unwrap(), Command::new(env!("CARGO_BIN_EXE_classmate")));
    let compare = |command: &mut Command, text: &str| {
        std::fs::write(file.path(), text).unwrap();
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).output().unwrap()
    };
    command.args(["sprio", "examples/slurm-cluster", "--against"]).arg(file.path());
    let output = compare(&mut command, &changed.replace("             99 batch              7\n", ""));
    assert_eq!(output.status.code(), Some(1));
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found, "79 of 80 cells identical\njob 2 in debug: PRIORITY is 6266, Slurm printed 6265\n");
    // Another size in two cells of a row: the ages of all rows are those of the same second as before.
    let larger =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slurm-cluster/sprio.txt"));
    let larger = larger.unwrap().replacen(" 6266 ", " 9266 ", 1);
    let output = compare(&mut command, &larger);
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found, "79 of 80 cells identical\njob 2 in debug: PRIORITY is 6266, Slurm printed 9266\n");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("--now"));
    let short = compare(&mut command, &changed);
    assert_eq!(short.status.code(), Some(2));
    assert!(String::from_utf8(short.stderr).unwrap().contains("expected 8 columns, found 3"));
    assert_eq!(compare(&mut command, "").status.code(), Some(2));
    assert_eq!(compare(&mut command, "NAME VALUE\n1 2\n").status.code(), Some(2));
}
