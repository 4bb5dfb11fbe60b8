//! Clusters of real Slurm daemons, 22.05.8 and 26.05.5: what `sprio` and `sshare` printed, cell by cell.
//!
//! A cell that differs is one of three things: a number from usage that Slurm prints with fewer digits than it has, one of
//! the exceptions below, or a mistake.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recorded;

/// Columns of `sprio.fields`.
const FIELDS: &str = "i r u Y y S A B F J P Q N T t a b f j p q";
/// Columns of `sshare.cols`.
const COLUMNS: &str =
    "Cluster,Account,User,Partition,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS";
/// Columns that depend on usage.
const OF_USAGE: [&str; 9] = ["RawUsage", "NormUsage", "EffectvUsage", "FairShare", "LevelFS", "Y", "y", "F", "f"];

/// Cells that Slurm computes from what the files do not have: cluster, row, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    // Accounts have the usage of the last tick, and jobs ran since.
    ("c308", "", "jobs ran between the ticks of accounts and of users"),
    ("c358", "", "jobs ran between the ticks of accounts and of users"),
    // It completed in one partition; `scontrol show jobs` names that one, and sprio still those it asked for.
    ("c438", "9", "a job in four partitions has run in one of them"),
];

/// A listing, by rows that have a name.
type Rows = BTreeMap<String, Vec<String>>;

fn rows(text: &str, sprio: bool) -> Rows {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let name = |cells: &[String]| if sprio { cells[..2].join(" ") } else { cells[1..4].join(" ") };
    text.lines().map(cells).map(|cells| (name(&cells), cells)).collect()
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.arg(arguments[0]).arg(folder).args(&arguments[1..]).args(["--now", read("now").trim()]);
    if read("slurm.conf").contains("DEPTH_OBLIVIOUS") {
        command.arg("--first-look");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Counts of a cluster.
#[derive(Default)]
struct Counts {
    cells: usize,
    cut: usize,
    excepted: usize,
    wrong: Vec<String>,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.cut += other.cut;
        self.excepted += other.excepted;
        self.wrong.extend(other.wrong);
    }
}

fn excepted(cluster: &str, row: &str) -> bool {
    let job = row.split(' ').next().unwrap_or_default();
    EXCEPTIONS.iter().any(|(known, one, _)| *known == cluster && (one.is_empty() || *one == job))
}

/// The largest part by which two decimals can be wrong: of the usage of each row of `sshare`, and under no name of any usage.
fn rooms(folder: &Path) -> BTreeMap<String, f64> {
    const DIGIT: f64 = 0.01;
    let records = std::fs::read_to_string(folder.join("scontrol.assoc_mgr")).unwrap();
    let mut least = f64::INFINITY;
    let mut rooms = BTreeMap::new();
    for record in records.lines() {
        let value = |key: &str| record.split_once(key).unwrap().1.split([' ', '/']).next().unwrap();
        let user = value(" UserName=").split('(').next().unwrap();
        let usage: f64 = value(" UsageRaw/Norm/Efctv=").parse().unwrap();
        if usage > 0.0 {
            least = least.min(usage);
            // That of the row, of its level, and of the whole.
            let row = [value(" Account="), user, value(" Partition=")].join(" ");
            rooms.insert(row, 3.0 * DIGIT / usage);
        }
    }
    rooms.insert(String::new(), 3.0 * DIGIT / least);
    rooms
}

/// Compares the listings of a cluster in which every column is a cell.
fn cells(folder: &Path, cluster: &str) -> Counts {
    let mut counts = Counts::default();
    let format = FIELDS.split(' ').map(|letter| format!("%{letter}")).collect::<Vec<_>>().join("|");
    let listings: [(&str, &[&str], Vec<&str>); 2] = [
        ("sprio.fields", &["sprio", "-h", "-o", &format], FIELDS.split(' ').collect()),
        ("sshare.cols", &["sshare", "-a", "-m", "-P", "-o", COLUMNS], COLUMNS.split(',').collect()),
    ];
    let rooms = rooms(folder);
    for (file, arguments, columns) in listings {
        let (real, found) = (std::fs::read_to_string(folder.join(file)).unwrap(), printed(folder, arguments));
        let (mut real, found) = (rows(&real, file == "sprio.fields"), rows(&found, file == "sprio.fields"));
        real.retain(|_, cells| cells.len() > 1);
        for name in found.keys().filter(|name| !real.contains_key(*name)) {
            counts.wrong.push(format!("{cluster} {file}: no row `{name}`"));
        }
        for (name, expected) in &real {
            counts.cells += expected.len();
            let Some(cells) = found.get(name) else {
                if excepted(cluster, name) {
                    counts.excepted += expected.len();
                } else {
                    counts.wrong.push(format!("{cluster} {file}: row `{name}` is missing"));
                }
                continue;
            };
            for ((column, expected), cell) in columns.iter().zip(expected).zip(cells) {
                if expected == cell {
                    continue;
                }
                let numbers = expected.parse::<f64>().ok().zip(cell.parse::<f64>().ok());
                let digits = expected.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                // A priority as a fraction has 14 digits, of which the last five are beyond those of usage.
                let unit = if *column == "y" { 3e-10 } else { 1.01 * 0.1f64.powi(digits as i32) };
                let room = rooms.get(name).unwrap_or(&rooms[""]);
                let cut = numbers.is_some_and(|(one, other)| (one - other).abs() <= one.abs() * room + unit);
                if excepted(cluster, name) {
                    counts.excepted += 1;
                } else if cut && OF_USAGE.contains(column) {
                    counts.cut += 1;
                } else {
                    counts.wrong.push(format!("{cluster} {file} `{name}`: {column} is {cell}, not {expected}"));
                }
            }
        }
    }
    counts
}

/// Compares the listings of a cluster as they are printed; gives the names of those that differ.
fn layouts(folder: &Path) -> Vec<String> {
    let listings: [(&str, &[&str]); 6] = [
        ("sprio.txt", &["sprio"]),
        ("sprio.long", &["sprio", "-l"]),
        ("sprio.weights", &["sprio", "-w", "-l"]),
        ("sprio.sorted", &["sprio", "-h", "-S", "-Y", "-o", "%i|%r|%Y"]),
        ("sshare.txt", &["sshare", "-a"]),
        ("sshare.usage", &["sshare", "-a", "-m", "-P"]),
    ];
    let differs = |(name, arguments): &(&str, &[&str])| {
        printed(folder, arguments).trim_end() != std::fs::read_to_string(folder.join(name)).unwrap().trim_end()
    };
    listings.into_iter().filter(differs).map(|(name, _)| name.to_owned()).collect()
}

fn clusters() -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(recorded::slurm_real()).unwrap().map(|entry| entry.unwrap().path());
    let mut clusters: Vec<_> =
        entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect();
    clusters.sort();
    assert_eq!(clusters.len(), 79);
    clusters
}

/// Runs something for every cluster, on two threads.
fn all<T: Send>(run: impl Fn(&str, &Path) -> T + Sync) -> Vec<T> {
    let clusters = clusters();
    std::thread::scope(|scope| {
        let halves = clusters.chunks(clusters.len().div_ceil(2));
        let run = &run;
        let threads = halves.map(|half| scope.spawn(move || half.iter().map(|(name, path)| run(name, path)).collect()));
        let threads: Vec<std::thread::ScopedJoinHandle<'_, Vec<T>>> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| panic!("a cluster fails"))).collect()
    })
}

#[test]
fn every_cell_is_that_of_the_recorded_cluster() {
    let mut counts = Counts::default();
    for of_cluster in all(|name, folder| cells(folder, name)) {
        counts.add(of_cluster);
    }
    assert!(counts.wrong.is_empty(), "{} cells differ:\n{}", counts.wrong.len(), counts.wrong.join("\n"));
    assert_eq!((counts.cells, counts.excepted, counts.cut), (43_066, 99, 387));
}

#[test]
fn layouts_are_those_of_the_recorded_clusters() {
    let mut differing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, files) in all(|name, folder| (name.to_owned(), layouts(folder))) {
        for file in files {
            differing.entry(file).or_default().push(name.clone());
        }
    }
    let shown: Vec<String> = differing.iter().map(|(file, names)| format!("{file}: {}", names.join(" "))).collect();
    // Where jobs ran, and where digits were cut off of what `sshare` lists.
    let cut = "c10 c104 c108 c116 c130 c132 c14 c202 c216 c22 c24 c26 c262 c28 c282 c308 c32 c358 c38 c4 c40 c6 c8";
    let expected = [
        "sprio.long: c308 c358 c438".to_owned(),
        "sprio.sorted: c308 c358 c438".to_owned(),
        "sprio.txt: c308 c358 c438".to_owned(),
        format!("sshare.txt: {cut}"),
        format!("sshare.usage: {cut}"),
    ];
    assert_eq!(shown, expected);
}

/// The words in the files of a directory.
fn words(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let words = |text: String| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        words.collect::<Vec<_>>()
    };
    files.flat_map(words).collect()
}

/// The lines of `sprio` and `sshare` with their cells; and the matches of a cycle.
fn listings(folder: &Path, now: &str) -> [Vec<Vec<String>>; 3] {
    let format = format!("%u|%o|%c|%{}", FIELDS.replace(' ', "|%"));
    let commands: [&[&str]; 3] = [
        &["sshare", "-a", "-m", "-P", "-o", COLUMNS],
        &["sprio", "-h", "-o", &format],
        &["negotiate", "--policy", "slurm", "--format", "csv"],
    ];
    commands.map(|arguments| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.arg(arguments[0]).arg(folder).args(&arguments[1..]);
        let output = command.args(["--now", now]).output().unwrap();
        assert!(output.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split(['|', ',']).map(|cell| cell.trim().to_owned()).collect()).collect()
    })
}

/// Anonymizes a cluster; gives what is wrong with the result, and how many cells of `sprio` and matches it has.
fn anonymized(name: &str, folder: &Path, others: &[&str]) -> ([usize; 2], Vec<String>) {
    let target = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    let output = command.args(["snapshot", "--anonymize", "--from"]).arg(folder).arg(target.path()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let now = std::fs::read_to_string(folder.join("now")).unwrap_or_else(|_| "1795528675".to_owned());
    let (real, found) = (listings(folder, now.trim()), listings(target.path(), now.trim()));
    let mut wrong = Vec::new();
    // Rows and columns stay in their places, so that they tell which name a pseudonym is for.
    let is_name = |cell: &str| cell.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut names: BTreeMap<(bool, &str), &str> = BTreeMap::new();
    for (table, (real, found)) in real.iter().zip(&found).enumerate() {
        if real.len() != found.len() {
            wrong.push(format!("{name}: {} rows, expected {}", found.len(), real.len()));
        }
        for (one, other) in real.iter().zip(found) {
            for (column, (cell, replaced)) in one.iter().zip(other).enumerate() {
                // In `sshare` the second column has accounts, and in `sprio`.
                let is_account = column == 1;
                if cell != replaced
                    && (!is_name(cell) || *names.entry((is_account, cell)).or_insert(replaced) != replaced)
                {
                    wrong.push(format!("{name}, table {table}: {replaced} for {cell} in {}", one.join("|")));
                }
            }
        }
    }
    let different: BTreeSet<_> = names.iter().map(|((is_account, _), replaced)| (is_account, replaced)).collect();
    assert_eq!(different.len(), names.len(), "{name}");
    let dump = std::fs::read_to_string(folder.join("sacctmgr.dump")).unwrap_or_default();
    let of_dump = dump.lines().filter_map(|line| {
        let (kind, rest) = line.split_once(" - '")?;
        ["User", "Account", "Cluster"].contains(&kind).then(|| rest.split('\'').next().unwrap().to_owned())
    });
    let of_ads = |file: &str, attribute: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        let values =
            text.lines().filter_map(|line| line.strip_prefix(attribute)?.strip_prefix(" = \"")?.strip_suffix('"'));
        values.map(str::to_owned).collect()
    };
    let secret: BTreeSet<String> =
        of_dump.chain(of_ads("jobs.ads", "Owner")).chain(of_ads("slots.ads", "Machine")).collect();
    let secret = secret.iter().map(|name| name.split('.').next().unwrap()).chain(others.iter().copied());
    let words = words(target.path());
    let told = secret.filter(|secret| *secret != "root" && words.contains(*secret));
    wrong.extend(told.map(|secret| format!("{name}: {secret} is in the files")));
    ([real[1].iter().map(Vec::len).sum(), found[2].len()], wrong)
}

#[test]
fn clusters_with_pseudonyms_have_the_same_priorities_and_no_names() {
    let (mut counts, mut wrong) = ([0; 2], Vec::new());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let examples = [
        anonymized("slurm", &examples.join("slurm"), &["lab", "example"]),
        anonymized("slurm-cluster", &examples.join("slurm-cluster"), &["lp", "mail", "n01", "n04", "m1", "lab", "sh"]),
    ];
    for (of_cluster, found) in all(|name, folder| anonymized(name, folder, &[])).into_iter().chain(examples) {
        counts = [counts[0] + of_cluster[0], counts[1] + of_cluster[1]];
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts[0] > 20_000 && counts[1] > 10, "{counts:?}");
}
