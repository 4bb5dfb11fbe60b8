//! The load of a pool in the state directory, and what another policy would have done with it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::input::{self, Notes};
use crate::cli::{Failure, Now};
use classmate::{ClassAd, Format, Writer};
use classmate_advice::internal::shadow::load::LoadRecorder;
use classmate_advice::internal::shadow::policy::{PolicyComparison, compare_policies};
use classmate_config::Config;
use classmate_pool::Snapshot;

/// The size at which the file of jobs is rotated; one older file is kept.
const MAX_BYTES: u64 = 256 << 20;

/// Pause between two comparisons, at least, and in multiples of the time that one takes.
const PAUSE: Duration = Duration::from_hours(1);
const FACTOR: u32 = 100;

/// The jobs of a pool, in a file when they have ended, and the policy to compare with.
pub(super) struct RecordedLoad {
    recorder: LoadRecorder,
    directory: PathBuf,
    other: Config,
    /// The pool at the start.
    base: Snapshot,
    /// The time of the next comparison.
    due: Instant,
}

impl RecordedLoad {
    /// A record that begins now.
    pub(super) fn new(directory: &Path, other: Config, base: Snapshot) -> Self {
        let recorder = LoadRecorder::new(Now::Wall.seconds());
        RecordedLoad { recorder, directory: directory.to_owned(), other, base, due: Instant::now() + PAUSE }
    }

    fn file(&self, is_old: bool) -> PathBuf {
        self.directory.join(if is_old { "jobs.1.ads" } else { "jobs.ads" })
    }

    /// Takes the jobs of a reading, and appends those that ended to the file.
    pub(super) fn observe(&mut self, jobs: &[ClassAd], now: i64, is_whole: bool) -> io::Result<()> {
        let ended = self.recorder.observe(jobs, now, is_whole);
        if ended.is_empty() {
            return Ok(());
        }
        let path = self.file(false);
        if fs::metadata(&path).is_ok_and(|facts| facts.len() > MAX_BYTES) {
            fs::rename(&path, self.file(true))?;
        }
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text, Format::Long);
        for ad in &ended {
            writer.write(ad)?;
        }
        writer.finish()?;
        text.push(b'\n');
        io::Write::write_all(&mut OpenOptions::new().create(true).append(true).open(path)?, &text)
    }

    /// The load so far under the other policy, if it is time; `None` also if no job has run.
    pub(super) fn compare(&mut self, is_end: bool) -> Result<Option<PolicyComparison>, Failure> {
        let started = Instant::now();
        if !is_end && started < self.due {
            return Ok(None);
        }
        // Also after a failure, which is likely to come again.
        self.due = started + PAUSE;
        let (now, settings, mut notes) = (Now::Wall.seconds(), self.base.settings(), Notes::default());
        let mut ads = Vec::new();
        for path in [true, false].map(|is_old| self.file(is_old)).iter().filter(|path| path.exists()) {
            ads.extend(input::ads(path, &settings, &mut notes)?);
        }
        let (running, left_out) = self.recorder.running(now);
        ads.extend(running);
        let comparison = compare_policies(ads, &self.base, &self.other, (now, left_out))?;
        self.due = Instant::now() + PAUSE.max(started.elapsed() * FACTOR);
        Ok(comparison)
    }
}
