//! The outcome of a cycle by job, submitter and group, and the order of the turns in it.
//!
//! In: an outcome, and the queue before the cycle. Out: what was recorded of a job, a submitter or a group.

use hashbrown::HashMap;
use serde::Serialize;

use crate::explain::SlotFacts;
use classmate::internal::plural::counted;
use classmate_pool::internal::negotiate::prepared::OfferedJob;
use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::internal::priority::Passed;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::internal::quota::summary::SurplusPolicy;
use classmate_pool::{GroupSummary, JobId, Match, Outcome, Rejected, Rejection};

/// A visit to the submitter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    /// Number of the turn among all turns of the cycle, from 1.
    pub turn: usize,
    /// Number of the pie, from 1.
    pub pie: u32,
    /// Number of the pie spin, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
    /// Its fraction of the pie.
    pub share: f64,
    /// Weighted slots of the pie that were left when the spin began.
    pub pie_left: f64,
    /// Weighted slots it might take.
    pub limit: f64,
    /// Jobs of the submitter that got a slot in this spin.
    pub matched: usize,
    /// The reason it was not served, if it was not.
    pub passed: Option<Passed>,
}

impl Turn {
    /// The turn in a sentence; whether the submitter has a ceiling decides what `AtCeiling` means.
    pub fn sentence(&self, has_ceiling: bool) -> String {
        let group = self.group.as_ref().map(|group| format!(" for {group}")).unwrap_or_default();
        let passed = match self.passed {
            Some(Passed::LessThanASlot) => "; skipped: its limit is less than one slot",
            Some(Passed::AtCeiling) if has_ceiling => "; skipped: ceiling reached",
            Some(Passed::AtCeiling) => "; skipped: nothing left to allocate",
            None => "",
        };
        format!(
            "turn {} (pie {}, spin {}{group}): share {:.1}% of a pie of {}, limit {}, {}{passed}",
            self.turn,
            self.pie,
            self.spin,
            self.share * 100.0,
            slots(self.pie_left),
            slots(self.limit),
            counted(self.matched, "match")
        )
    }
}

/// Usage and demand of a group and all groups below it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Subtree {
    pub(crate) usage: f64,
    pub(crate) demand: f64,
}

/// A job and the access point that it names: each numbers its jobs on its own.
pub(crate) type JobOf<'o> = (Option<&'o [u8]>, JobId);

/// The jobs of a submitter in a cluster of an access point.
type ClusterOf<'o> = (&'o str, Option<&'o [u8]>, i64);

/// A pie spin of a submitter: its name, and the numbers of the pie and the spin.
type SpinOf<'o> = (&'o str, u32, u32);

/// The outcome of a cycle, by job, submitter and group.
pub struct OutcomeRecord<'o> {
    pub(crate) outcome: &'o Outcome,
    autoclusters: HashMap<JobOf<'o>, u32>,
    lines: HashMap<&'o str, usize>,
    visits: HashMap<&'o str, Vec<usize>>,
    made: HashMap<SpinOf<'o>, usize>,
    matches: HashMap<(&'o str, JobOf<'o>), &'o Match>,
    /// The last match of each slot.
    takers: HashMap<&'o str, &'o Match>,
    rejections: HashMap<(&'o str, u32), &'o Rejected>,
    /// The rejections of a policy that draws lots.
    drawn: HashMap<ClusterOf<'o>, Vec<&'o Rejected>>,
    groups: HashMap<String, usize>,
    subtrees: Vec<Subtree>,
    lightest: f64,
}

impl<'o> OutcomeRecord<'o> {
    /// The record of an outcome; the queue is that before the cycle.
    pub fn new(outcome: &'o Outcome, queue: &'o [OfferedJob]) -> Self {
        let mut visits: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, visit) in outcome.negotiations.iter().enumerate() {
            visits.entry(&visit.submitter).or_default().push(at);
        }
        let mut made: HashMap<SpinOf<'o>, usize> = HashMap::new();
        for one in &outcome.matches {
            *made.entry((&one.submitter, one.pie, one.spin)).or_default() += 1;
        }
        let offered = |queued: &'o OfferedJob| ((queued.schedd.as_deref(), queued.job), queued.autocluster);
        let autoclusters: HashMap<JobOf<'o>, u32> = queue.iter().map(offered).collect();
        let cluster = |one: &'o Rejected| {
            Some(((one.submitter.as_str(), *autoclusters.get(&(one.schedd.as_deref(), one.job))?), one))
        };
        let rejections = outcome.rejections.iter().filter_map(cluster).collect();
        let mut drawn: HashMap<ClusterOf<'o>, Vec<&Rejected>> = HashMap::new();
        let is_of_lots = |one: &&Rejected| {
            matches!(one.rejection, Rejection::SiteLimit | Rejection::NotRequested | Rejection::NotDrawn)
        };
        for one in outcome.rejections.iter().filter(is_of_lots) {
            drawn.entry((&one.submitter, one.schedd.as_deref(), one.job.cluster)).or_default().push(one);
        }
        let groups: HashMap<String, usize> =
            outcome.groups.iter().enumerate().map(|(at, group)| (group.name.to_ascii_lowercase(), at)).collect();
        let mut subtrees: Vec<Subtree> =
            outcome.groups.iter().map(|group| Subtree { usage: group.usage, demand: group.demand }).collect();
        // A group comes after the one above it.
        for (at, group) in outcome.groups.iter().enumerate().rev() {
            let above = group.parent.as_ref().and_then(|parent| groups.get(&parent.to_ascii_lowercase()));
            if let Some(above) = above.filter(|above| **above < at) {
                let Subtree { usage, demand } = subtrees[at];
                subtrees[*above].usage += usage;
                subtrees[*above].demand += demand;
            }
        }
        let lightest = outcome.matches.iter().map(|made| made.weight).fold(f64::INFINITY, f64::min);
        OutcomeRecord {
            outcome,
            lines: outcome.submitters.iter().enumerate().map(|(at, line)| (line.submitter.as_str(), at)).collect(),
            matches: outcome
                .matches
                .iter()
                .map(|made| ((made.submitter.as_str(), (made.schedd.as_deref(), made.job)), made))
                .collect(),
            takers: outcome.matches.iter().map(|made| (made.slot.as_str(), made)).collect(),
            lightest: if lightest.is_finite() { lightest } else { 1e-6 },
            autoclusters,
            visits,
            made,
            rejections,
            drawn,
            groups,
            subtrees,
        }
    }

    /// The match of a job.
    pub fn matched(&self, submitter: &str, job: JobOf<'_>) -> Option<&'o Match> {
        self.matches.get(&(submitter, job)).copied()
    }

    /// The last match of a slot.
    pub(crate) fn taker(&self, slot: &str) -> Option<&'o Match> {
        self.takers.get(slot).copied()
    }

    /// Tests if a slot is unclaimed after the cycle.
    pub(crate) fn is_unclaimed(&self, slot: &SlotFacts) -> bool {
        slot.user.is_none() && !slot.claimed && self.taker(&slot.name).is_none()
    }

    /// The autocluster of a job, if it was offered.
    pub(crate) fn autocluster(&self, job: JobOf<'_>) -> Option<u32> {
        self.autoclusters.get(&job).copied()
    }

    /// The last rejection of the submitter for a request like a job: jobs of one autocluster make equal requests.
    pub(crate) fn rejection(&self, submitter: &str, job: JobOf<'_>) -> Option<&'o Rejected> {
        self.drawn_against(submitter, job)
            .or_else(|| self.rejections.get(&(submitter, self.autocluster(job)?)).copied())
    }

    /// The rejection of a job under a policy that draws lots, where jobs of one autocluster may be in several queues: of the job, or of
    /// one of its cluster.
    fn drawn_against(&self, submitter: &str, (schedd, job): JobOf<'_>) -> Option<&'o Rejected> {
        let of_cluster = self.drawn.get(&(submitter, schedd, job.cluster))?;
        of_cluster.iter().copied().filter(|one| one.job <= job).max_by_key(|one| one.job)
    }

    /// The result of a submitter, and its place in the order of the first turns, from 0.
    pub(crate) fn line(&self, submitter: &str) -> Option<(usize, &'o SubmitterSummary)> {
        let at = *self.lines.get(submitter)?;
        Some((at, &self.outcome.submitters[at]))
    }

    /// The turn of a submitter in a pie spin, given by the numbers of the pie and the spin: its place among all turns of the cycle.
    pub(crate) fn turn_of(&self, submitter: &str, spin: (u32, u32)) -> Option<usize> {
        let is_it = |at: &usize| (self.outcome.negotiations[*at].pie, self.outcome.negotiations[*at].spin) == spin;
        self.visits.get(submitter)?.iter().copied().find(is_it)
    }

    /// The turns of a submitter, in order.
    pub fn turns(&self, submitter: &str) -> Vec<Turn> {
        let turn = |at: &usize| {
            let visit = &self.outcome.negotiations[*at];
            let pie = self.outcome.pies.iter().find(|pie| (pie.pie, pie.spin) == (visit.pie, visit.spin));
            Turn {
                turn: at + 1,
                pie: visit.pie,
                spin: visit.spin,
                group: visit.group.clone(),
                share: visit.share,
                pie_left: pie.map_or(0.0, |pie| pie.pie_left),
                limit: visit.limit,
                matched: self.made.get(&(submitter, visit.pie, visit.spin)).copied().unwrap_or(0),
                passed: visit.passed,
            }
        };
        self.visits.get(submitter).into_iter().flatten().map(turn).collect()
    }

    /// A group by its name.
    pub(crate) fn group(&self, name: &str) -> Option<(usize, &'o GroupSummary)> {
        let at = *self.groups.get(&name.to_ascii_lowercase())?;
        Some((at, &self.outcome.groups[at]))
    }

    /// The innermost group whose name begins the submitter's; the root for others.
    pub(crate) fn group_of(&self, submitter: &str) -> Option<(usize, &'o GroupSummary)> {
        let dots = submitter.rmatch_indices('.').map(|(at, _)| &submitter[..at]);
        let root = self.outcome.groups.iter().position(|group| group.parent.is_none());
        dots.into_iter().find_map(|name| self.group(name)).or_else(|| Some((root?, &self.outcome.groups[root?])))
    }

    /// Usage and demand of a group and all groups below it.
    pub(crate) fn subtree(&self, group: usize) -> Subtree {
        self.subtrees[group]
    }

    /// Tests if a group does not accept surplus and has less than the lightest matched slot left for its subtree.
    pub(crate) fn is_full(&self, at: usize) -> bool {
        let group = &self.outcome.groups[at];
        group.surplus == SurplusPolicy::No
            && group.parent.is_some()
            && self.subtrees[at].usage + self.lightest > group.subtree_quota + 1e-6
    }

    /// The reason a group was allocated no more, as a clause, where its usage differs from what was allocated by requests: a
    /// group above it is full, or it was allocated all that it requests, and its slots weigh more.
    pub(crate) fn beyond(&self, at: usize) -> Option<String> {
        let heavier = || {
            let is_covered = |group: &&GroupSummary| group.demand > 0.0 && group.granted() >= group.demand;
            let group = Some(&self.outcome.groups[at]).filter(is_covered)?;
            let why = if group.usage > group.demand {
                format!("its slots weigh more than the {} requested and allocated", slots(group.demand))
            } else if group.usage >= group.demand && self.has_idle(at) {
                "its slots weigh more than their jobs request".to_owned()
            } else {
                return None;
            };
            // A group above it may allow less than its own quota.
            let full = if group.limit().is_some_and(|limit| limit < group.quota) { self.full_above(at) } else { None };
            Some(why + &full.map(|full| format!("; {full}")).unwrap_or_default())
        };
        self.cap(at).or_else(heavier)
    }

    /// The nearest group above that does not accept surplus and has less than a slot left, as a clause; none if the group
    /// requests no more.
    pub(crate) fn cap(&self, at: usize) -> Option<String> {
        let group = &self.outcome.groups[at];
        if group.demand > group.usage { self.full_above(at) } else { None }
    }

    /// Tests if a submitter of a group has idle jobs that got no slot.
    fn has_idle(&self, at: usize) -> bool {
        let is_idle = |line: &&SubmitterSummary| line.idle > i64::try_from(line.matched).unwrap_or(i64::MAX);
        let mut idle = self.outcome.submitters.iter().filter(is_idle);
        idle.any(|line| self.group_of(&line.submitter).is_some_and(|(group, _)| group == at))
    }

    /// The nearest group above that does not accept surplus and has less than a slot left, as a clause.
    fn full_above(&self, at: usize) -> Option<String> {
        let group = &self.outcome.groups[at];
        let parent = |group: &GroupSummary| self.group(group.parent.as_deref()?);
        // A parent comes before its groups, so that this ends.
        let up = std::iter::successors(parent(group), |(at, group)| parent(group).filter(|(above, _)| above < at));
        let (full, group) = up.into_iter().find(|(above, _)| self.is_full(*above))?;
        Some(format!(
            "group `{}` above it does not accept surplus, and its subtree uses {} of its quota of {}",
            group.name,
            slots(self.subtrees[full].usage),
            slots(group.subtree_quota)
        ))
    }
}
