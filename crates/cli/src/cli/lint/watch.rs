//! Checking files again when they change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

/// The files that are watched, with the time and the length of each.
#[derive(PartialEq, Eq)]
pub(super) struct WatchedFiles(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl WatchedFiles {
    /// The state of files, and of those in directories.
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let mut files = BTreeSet::new();
        for path in paths {
            gather(path, &mut files);
        }
        let state = |path: PathBuf| {
            let data = std::fs::metadata(&path).ok();
            let state = data.and_then(|data| Some((data.modified().ok()?, data.len())));
            (path, state)
        };
        WatchedFiles(files.into_iter().map(state).collect())
    }
}

/// Waits until one of some states is not that of its files any longer.
pub(super) fn wait(states: &[(&WatchedFiles, &[PathBuf])]) {
    while states.iter().all(|(state, paths)| WatchedFiles::of(paths) == **state) {
        std::thread::sleep(PAUSE);
    }
}

/// Adds a file, or the files of a directory and of those in it, links to directories aside.
fn gather(path: &Path, files: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        files.insert(path.to_owned());
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            gather(&entry.path(), files);
        } else {
            files.insert(entry.path());
        }
    }
}
