//! A line: jobs that differ in their age alone, of which a cycle is shown the first.
//!
//! A policy may hold them in queues of limited length, the oldest in the first.

use std::collections::VecDeque;

use smallvec::SmallVec;

/// Some jobs of a line. Mostly one stands for all.
pub(super) type JobList = SmallVec<[usize; 2]>;

/// Jobs that differ in their age alone, oldest first.
#[derive(Default)]
pub(super) struct TiedJobs {
    /// All of them.
    pub(super) all: VecDeque<usize>,
    /// Those that a cycle is shown.
    pub(super) shown: JobList,
    /// Number that started recently: more are shown only when needed.
    pub(super) lately: usize,
}

impl TiedJobs {
    /// The jobs to show when `first` of each queue of `most` are needed.
    pub(super) fn wanted(&self, first: usize, most: usize) -> JobList {
        let shown = self.shown.len();
        // Unless there are too many, those that are shown stay: cores come and go from cycle to cycle.
        if self.all.len() <= most
            && shown <= 2 * first
            && shown.checked_sub(1).map(|at| self.all[at]) == self.shown.last().copied()
        {
            return self.all.iter().take(first.max(shown)).copied().collect();
        }
        let queues = (0..self.all.len()).step_by(most);
        queues.flat_map(|start| self.all.iter().skip(start).take(first.min(most))).copied().collect()
    }

    /// The last shown job of each queue of `most`, and the number of hidden jobs after it.
    pub(super) fn unlisted(&self, most: usize) -> SmallVec<[(usize, usize); 1]> {
        let queues = (0..self.all.len()).step_by(most);
        let last = |start: usize| {
            let (shown, behind) = self.of_queue(start, most);
            Some((*shown.last()?, behind)).filter(|(_, behind)| *behind > 0)
        };
        queues.filter_map(last).collect()
    }

    /// The shown jobs of the queue of `most` that begins at a place, and the number of hidden ones.
    pub(super) fn of_queue(&self, start: usize, most: usize) -> (&[usize], usize) {
        let end = start.saturating_add(most).min(self.all.len());
        let ends = self.all.get(end).copied().unwrap_or(usize::MAX);
        let shown = self.shown.partition_point(|job| *job < ends);
        let before = self.shown.partition_point(|job| *job < self.all[start]);
        let shown = &self.shown[before..shown];
        (shown, end - start - shown.len())
    }

    /// Position of a waiting job: the beginning of its queue of `most`, and its place in that.
    pub(super) fn place(&self, job: usize, most: usize) -> Option<(usize, usize)> {
        let at = self.all.binary_search(&job).ok()?;
        Some((at - at % most, at % most))
    }

    /// A job waits no longer.
    pub(super) fn remove(&mut self, job: usize) {
        if let Ok(at) = self.all.binary_search(&job) {
            self.all.remove(at);
        }
        if let Ok(at) = self.shown.binary_search(&job) {
            self.shown.remove(at);
        }
    }
}
