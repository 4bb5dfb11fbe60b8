//! The record of a shadow so far: totals, the last cycles and events. Kept in a directory, so that the next run goes on.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::cli::output::{JsonText, complain};
use crate::report::shadow::page;
use crate::report::verify::sentence;
use classmate_advice::internal::shadow::ShadowCycle;
use classmate_advice::internal::shadow::policy::PolicyComparison;
use classmate_advice::internal::shadow::published::PublishedCycle;
use classmate_config::internal::config::disk::io_reason;

/// Cycles and events that are shown on the page.
const SHOWN_CYCLES: usize = 200;
const SHOWN_EVENTS: usize = 50;

/// Differences of a cycle that are shown.
const SHOWN_DIFFERENCES: usize = 10;

/// The size at which the file of cycles is rotated, and the number of old files that are kept.
const MAX_BYTES: u64 = 32 << 20;
const OLD_FILES: u32 = 4;

/// The schema of a cycle for programs.
const SCHEMA: &str = "shadow/1";

/// The version of the state.
const VERSION: u32 = 1;

/// All that is known about the cycles so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ShadowHistory {
    pub(super) version: u32,
    /// The pool.
    pub(crate) pool: String,
    /// Start of the first run, epoch seconds.
    pub(crate) began: i64,
    /// Cycles seen.
    pub(crate) cycles: u64,
    /// Cycles without a difference.
    pub(crate) identical: u64,
    /// Cycles without a prediction.
    pub(crate) missed: u64,
    /// Matches predicted, made, and made as predicted.
    pub(crate) predicted: u64,
    pub(crate) actual: u64,
    pub(crate) agreed: u64,
    /// Differences by cause.
    pub(crate) causes: BTreeMap<String, u64>,
    /// The last cycles, the latest first.
    pub(crate) last: VecDeque<ShadowRow>,
    /// The last events, the latest first: time and text.
    pub(crate) events: VecDeque<(i64, String)>,
    /// Start of the record of the load, epoch seconds.
    #[serde(default)]
    pub(super) load_began: Option<i64>,
    /// The load under another policy.
    #[serde(default)]
    pub(crate) policy: Option<PolicyComparison>,
}

/// A cycle in short.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ShadowRow {
    pub(crate) cycle: u64,
    pub(crate) started: i64,
    /// Seconds between the reading and the cycle.
    pub(crate) age: Option<i64>,
    pub(crate) predicted: u64,
    pub(crate) actual: u64,
    pub(crate) agreed: u64,
    pub(crate) different: u64,
    /// Matches that the negotiator published, if not all were seen.
    pub(crate) published: Option<u64>,
    pub(crate) identical: bool,
    /// The first differences, or the reason why there is no prediction.
    pub(crate) notes: Vec<String>,
    pub(crate) is_missed: bool,
}

/// A cycle for programs.
#[derive(Debug, Serialize)]
pub(super) struct ShadowLine {
    schema: &'static str,
    /// Its number since the first run.
    pub(super) cycle: u64,
    /// Its start and end, epoch seconds.
    pub(super) started: i64,
    pub(super) ended: i64,
    /// Time at which the pool was read for the prediction, epoch seconds.
    pub(super) read: Option<i64>,
    /// Matches and rejections that the negotiator published.
    pub(super) matches: Option<i64>,
    pub(super) rejections: Option<i64>,
    #[serde(flatten)]
    pub(super) result: ShadowResult,
}

/// The result of a cycle.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ShadowResult {
    Compared(ShadowCycle),
    Missed(Missed),
}

/// A cycle that could not be predicted: no matches, and the reason.
#[derive(Debug, Default, Serialize)]
pub(super) struct Missed {
    identical: bool,
    predicted: [(); 0],
    actual: [(); 0],
    different: [(); 0],
    #[serde(rename = "missed")]
    reason: String,
}

impl ShadowResult {
    pub(super) fn missed(reason: impl Into<String>) -> Self {
        ShadowResult::Missed(Missed { reason: reason.into(), ..Missed::default() })
    }
}

impl ShadowHistory {
    /// Adds a cycle.
    pub(super) fn add(&mut self, published: &PublishedCycle, read: Option<i64>, result: ShadowResult) -> ShadowLine {
        self.cycles += 1;
        let mut row = ShadowRow {
            cycle: self.cycles,
            started: published.started,
            age: read.map(|read| published.started - read),
            predicted: 0,
            actual: 0,
            agreed: 0,
            different: 0,
            published: None,
            identical: false,
            notes: Vec::new(),
            is_missed: false,
        };
        match &result {
            ShadowResult::Missed(missed) => {
                self.missed += 1;
                row.is_missed = true;
                row.notes.push(missed.reason.clone());
            }
            ShadowResult::Compared(cycle) => {
                self.identical += u64::from(cycle.identical);
                row.predicted = cycle.predicted.len() as u64;
                row.actual = cycle.actual.len() as u64;
                row.agreed = cycle.agreed() as u64;
                row.different = cycle.different.len() as u64;
                row.identical = cycle.identical;
                let matches = published.matches.and_then(|matches| u64::try_from(matches).ok());
                row.published = matches.filter(|matches| *matches > row.actual);
                for one in &cycle.different {
                    *self.causes.entry(sentence(&one.cause)).or_default() += 1;
                }
                row.notes.extend(cycle.different.iter().take(SHOWN_DIFFERENCES).map(|one| {
                    format!(
                        "cluster {} of {} on {}: predicted {}, matched {}: {}",
                        one.cluster,
                        one.submitter,
                        one.slot,
                        one.predicted,
                        one.actual,
                        sentence(&one.cause)
                    )
                }));
            }
        }
        self.predicted += row.predicted;
        self.actual += row.actual;
        self.agreed += row.agreed;
        self.last.push_front(row);
        self.last.truncate(SHOWN_CYCLES);
        self.bound_causes();
        ShadowLine {
            schema: SCHEMA,
            cycle: self.cycles,
            started: published.started,
            ended: published.ended,
            read,
            matches: published.matches,
            rejections: published.rejections,
            result,
        }
    }

    /// Adds an event.
    pub(super) fn note(&mut self, time: i64, text: &str) {
        self.events.push_front((time, text.to_owned()));
        self.events.truncate(SHOWN_EVENTS);
    }

    /// Causes that name a job or a slot are as many as there are differences: the rarest are counted together.
    fn bound_causes(&mut self) {
        const OTHER: &str = "other causes";
        while self.causes.len() > SHOWN_CYCLES {
            let rarest = self.causes.iter().filter(|(cause, _)| *cause != OTHER).min_by_key(|(_, count)| **count);
            let Some(cause) = rarest.map(|(cause, _)| cause.clone()) else { return };
            let count = self.causes.remove(&cause).unwrap_or(0);
            *self.causes.entry(OTHER.to_owned()).or_default() += count;
        }
    }
}

/// The directory of a shadow: `state.json`, `cycles.jsonl` with its predecessors, `index.html`, and a file `lock`.
#[derive(Debug)]
pub(super) struct StateDirectory {
    path: PathBuf,
    /// The size at which the file of cycles is rotated.
    most: u64,
    /// Locked while it is open.
    _lock: Option<File>,
}

impl StateDirectory {
    /// Opens a directory, which is made if there is none, with the history of a pool in it.
    pub(super) fn open(path: &Path, pool: &str) -> Result<(Self, Option<ShadowHistory>), Failure> {
        fs::create_dir_all(path).map_err(|error| Failure::writing(path.display(), &error))?;
        let lock = lock(path)?;
        let file = path.join("state.json");
        let history = match fs::read(&file) {
            Ok(text) => {
                let history: ShadowHistory = serde_json::from_slice(&text).map_err(|error| {
                    Failure::input(format!("`{}` is not a state of shadow: {error}", file.display()))
                })?;
                if history.version > VERSION {
                    return Err(Failure::input(format!("`{}` is of a newer version", file.display())));
                }
                if history.pool != pool {
                    let what = format!("`{}` is of the pool `{}`, expected `{pool}`", file.display(), history.pool);
                    return Err(Failure::input(what).help("use a directory for each pool"));
                }
                Some(history)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::reading(file.display(), &error)),
        };
        Ok((StateDirectory { path: path.to_owned(), most: MAX_BYTES, _lock: lock }, history))
    }

    /// Appends a cycle to the file of cycles, which is rotated when it is large.
    pub(super) fn append(&self, line: &ShadowLine) -> io::Result<()> {
        let path = |number: u32| match number {
            0 => self.path.join("cycles.jsonl"),
            number => self.path.join(format!("cycles.{number}.jsonl")),
        };
        if fs::metadata(path(0)).is_ok_and(|facts| facts.len() > self.most) {
            for number in (0..OLD_FILES).rev().filter(|number| path(*number).exists()) {
                fs::rename(path(number), path(number + 1))?;
            }
        }
        let mut text = Vec::new();
        serde_json::to_writer(JsonText(&mut text), line)?;
        text.push(b'\n');
        OpenOptions::new().create(true).append(true).open(path(0))?.write_all(&text)
    }

    /// Writes the history and the page. A reader sees the old files or the new ones.
    pub(super) fn save(&self, history: &ShadowHistory) -> io::Result<()> {
        let state = ShadowHistory { version: VERSION, ..history.clone() };
        if let Some(policy) = &history.policy {
            self.replace("policy.json", &serde_json::to_vec(policy)?)?;
        }
        self.replace("state.json", &serde_json::to_vec(&state)?)?;
        self.replace("index.html", page(history).as_bytes())
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let (new, old) = (self.path.join(format!("{name}.new")), self.path.join(name));
        let mut file = File::create(&new)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(new, old)
    }
}

/// Locks a directory for this process, until the file is closed: two that write the same state would each lose what the other
/// writes. A file system without locks is a warning, and `None`.
fn lock(path: &Path) -> Result<Option<File>, Failure> {
    let name = path.join("lock");
    let writing = |error: &io::Error| Failure::writing(name.display(), error);
    let file = OpenOptions::new().create(true).append(true).open(&name).map_err(|error| writing(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => {
            complain(&format!(
                "warning: `{}` cannot be locked: {}; two shadows that use it at the same time overwrite what the other writes",
                path.display(),
                io_reason(&error)
            ));
            Ok(None)
        }
        Err(TryLockError::WouldBlock) => {
            Err(Failure::input(format!("`{}` is in use by another `classmate shadow`", path.display()))
                .help("use a directory for each, or wait until the other one has ended"))
        }
        Err(TryLockError::Error(error)) => Err(writing(&error)),
    }
}

/// True if a file system, such as a network's, does not support locks, or has no service for them.
fn has_no_locks(error: &io::Error) -> bool {
    // `ENOLCK` has no kind of its own.
    const NO_LOCKS: i32 = if cfg!(target_os = "linux") { 37 } else { 77 };
    error.kind() == io::ErrorKind::Unsupported || (cfg!(unix) && error.raw_os_error() == Some(NO_LOCKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_system_without_locks_is_told_from_one_that_fails() {
        // ENOLCK, ENOSYS and EOPNOTSUPP of Linux; EACCES, EIO and EINTR.
        let is = |number: i32| has_no_locks(&io::Error::from_raw_os_error(number));
        assert_eq!([37, 38, 95, 13, 5, 4].map(is), [true, true, true, false, false, false]);
    }

    #[test]
    fn the_next_run_goes_on_and_files_stay_small() {
        let folder = tempfile::tempdir().unwrap();
        let (directory, history) = StateDirectory::open(folder.path(), "cm:9618").unwrap();
        assert!(history.is_none());
        let mut history = ShadowHistory { pool: "cm:9618".to_owned(), ..ShadowHistory::default() };
        let published = PublishedCycle { started: 100, ended: 101, ..PublishedCycle::default() };
        for number in 1..=300 {
            let line = history.add(&published, Some(98), ShadowResult::missed("<not read>"));
            assert_eq!(line.cycle, number);
            directory.append(&line).unwrap();
        }
        history.note(7, "a & b");
        directory.save(&history).unwrap();
        let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
        assert!(
            page.contains("http-equiv=\"refresh\"") && page.contains("&lt;not read&gt;") && page.contains("a &amp; b")
        );
        let second = StateDirectory::open(folder.path(), "cm:9618").unwrap_err().shown();
        assert!(second.contains("is in use by another `classmate shadow`"), "{second}");
        drop(directory);
        let (mut directory, read) = StateDirectory::open(folder.path(), "cm:9618").unwrap();
        directory.most = 10_000;
        let mut history = read.unwrap();
        assert_eq!((history.cycles, history.missed, history.last.len()), (300, 300, SHOWN_CYCLES));
        // Six files would be needed; the oldest is dropped.
        for _ in 0..6 {
            let line = history.add(&published, None, ShadowResult::missed("x".repeat(10_000)));
            directory.append(&line).unwrap();
        }
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name.starts_with("cycles"));
        names.sort();
        assert_eq!(names, ["cycles.1.jsonl", "cycles.2.jsonl", "cycles.3.jsonl", "cycles.4.jsonl", "cycles.jsonl"]);
        drop(directory);
        let other = StateDirectory::open(folder.path(), "other:9618").unwrap_err().shown();
        assert!(other.contains("is of the pool `cm:9618`, expected `other:9618`"), "{other}");
        fs::write(folder.path().join("state.json"), "{").unwrap();
        assert!(
            StateDirectory::open(folder.path(), "cm:9618").unwrap_err().shown().contains("is not a state of shadow")
        );
    }
}
