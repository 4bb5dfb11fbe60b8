//! The strict comparison of a recorded cycle with an outcome.
//!
//! In: a record and an outcome. Out: how much of each kind is identical, and each [`Discrepancy`]. Knows no causes.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use crate::verify::record::CycleRecord;
use classmate::{ClassAd, EvalOptions};
use classmate_pool::Outcome;
use classmate_pool::internal::negotiate::advertisement::advertisement;
use classmate_pool::internal::pool::ad_reader::AdReader;

/// The kinds of decisions that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// A match: submitter, cluster, slot, pie spin, and whether a job is preempted.
    Match,
    /// A rejection: submitter, cluster and reason.
    Rejection,
    /// A visit to a submitter with its submitter limit.
    Limit,
    /// The size of the pie at the start of a spin.
    Pie,
    /// A statistic of the negotiator ad.
    Statistic,
}

/// The number of decisions of one kind, and how many of them are identical.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Decisions in the record.
    pub recorded: usize,
    /// Decisions in the replay.
    pub replayed: usize,
    /// Decisions that both have.
    pub identical: usize,
}

/// A difference between a record and its replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discrepancy {
    /// The kind of decision.
    pub kind: DecisionKind,
    /// The line of the log, from 1; that of the next decision if only the replay made this one.
    pub line: Option<u64>,
    /// The decision in the record.
    pub recorded: Option<String>,
    /// The decision in the replay.
    pub replayed: Option<String>,
}

/// A comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The counts of each kind that the record has.
    pub counts: Vec<(DecisionKind, Agreement)>,
    /// The differences, by kind and in the order of the cycle.
    pub differences: Vec<Discrepancy>,
    /// The line of the first decision that is not that of the replay; `u64::MAX` if only decisions of the replay are left.
    pub first: Option<u64>,
    /// The slots, clusters and submitters of different matches and rejections in the record.
    pub parties: Vec<Party>,
}

/// What a different decision of the record is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Party {
    /// The cluster.
    pub cluster: i64,
    /// The submitter.
    pub submitter: String,
    /// The slot, of a match.
    pub slot: Option<String>,
}

/// The statistics that do not depend on the speed of a machine, `LastNegotiationCycle…0`.
pub const STATISTICS: [&str; 13] = [
    "ActiveSubmitterCount",
    "CandidateSlots",
    "Matches",
    "NumIdleJobs",
    "NumJobsConsidered",
    "NumSchedulers",
    "PieSpins",
    "Pies",
    "Rejections",
    "SlotShareIter",
    "SubmittersShareLimit",
    "TotalSlots",
    "TrimmedSlots",
];

/// The statistics of a cycle that started at a time, epoch seconds, in an ad of the negotiator: names and values as text.
///
/// An ad has several cycles, the latest with number 0.
pub fn published(ad: &ClassAd, started: i64) -> Vec<(&'static str, String)> {
    let settings = EvalOptions::default();
    let time = |number: &usize| {
        let name = format!("LastNegotiationCycleTime{number}");
        AdReader::of(ad, &settings).integer(name.as_str()).is_some_and(|time| (time - started).abs() <= 1)
    };
    let found: Vec<usize> = (0..MAX_PUBLISHED).filter(time).collect();
    let [number] = found[..] else { return Vec::new() };
    let value = |name: &&'static str| {
        let attribute = format!("LastNegotiationCycle{name}{number}");
        Some((*name, ad.get(attribute.as_str())?.to_string()))
    };
    STATISTICS.iter().filter_map(value).collect()
}

/// Most cycles in an ad of the negotiator (`NEGOTIATION_CYCLE_STATS_LENGTH`).
const MAX_PUBLISHED: usize = 100;

/// Compares a record with an outcome, and the statistics of the negotiator ad with those of the outcome.
pub fn compare(record: &CycleRecord, published: &[(&'static str, String)], outcome: &Outcome) -> Comparison {
    let mut comparison = Comparison::default();
    comparison.matches(record, outcome);
    comparison.rejections(record, outcome);
    comparison.limits(record, outcome);
    comparison.pies(record, outcome);
    comparison.statistics(published, outcome);
    comparison
}

/// One side of a sequence: what is compared, how it is written, and its line in the log.
struct Decision<K> {
    key: K,
    text: String,
    line: u64,
}

impl Comparison {
    fn matches(&mut self, record: &CycleRecord, outcome: &Outcome) {
        // A log without spins, such as a MatchLog, is compared without them.
        let spins = record.matches.iter().any(|made| made.spin > 0);
        let text = |submitter: &str, cluster: i64, slot: &str, displaces: bool, spin: u32| {
            let preempting = if displaces { ", preempting a job" } else { "" };
            let spin = if spin > 1 { format!(" in spin {spin}") } else { String::new() };
            format!("cluster {cluster} of {submitter} on {slot}{preempting}{spin}")
        };
        let recorded = record.matches.iter().map(|made| Decision {
            key: (made.submitter.as_str(), made.cluster, made.slot.as_str(), made.displaces, made.spin),
            text: text(&made.submitter, made.cluster, &made.slot, made.displaces, made.spin),
            line: made.line,
        });
        let replayed = outcome.matches.iter().map(|made| {
            let (displaces, spin) = (made.displaced.is_some(), if spins { made.spin } else { 0 });
            Decision {
                key: (made.submitter.as_str(), made.cluster, made.slot.as_str(), displaces, spin),
                text: text(&made.submitter, made.cluster, &made.slot, displaces, spin),
                line: 0,
            }
        });
        let different =
            self.sequence(DecisionKind::Match, &recorded.collect::<Vec<_>>(), &replayed.collect::<Vec<_>>(), |key| {
                key.2
            });
        self.parties.extend(different.into_iter().map(|at| {
            let made = &record.matches[at];
            Party { cluster: made.cluster, submitter: made.submitter.clone(), slot: Some(made.slot.clone()) }
        }));
    }

    fn rejections(&mut self, record: &CycleRecord, outcome: &Outcome) {
        let text = |submitter: &str, cluster: i64, reason: &str| format!("cluster {cluster} of {submitter}: {reason}");
        let recorded = record.rejections.iter().map(|one| Decision {
            key: (one.submitter.as_str(), one.cluster, one.reason.as_str()),
            text: text(&one.submitter, one.cluster, &one.reason),
            line: one.line,
        });
        let replayed = outcome.rejections.iter().map(|one| Decision {
            key: (one.submitter.as_str(), one.job.cluster, one.reason.as_str()),
            text: text(&one.submitter, one.job.cluster, &one.reason),
            line: 0,
        });
        let pairs = |key: &(&str, i64, &str)| (key.0.to_owned(), key.1);
        let different =
            self.sequence(DecisionKind::Rejection, &recorded.collect::<Vec<_>>(), &replayed.collect::<Vec<_>>(), pairs);
        self.parties.extend(different.into_iter().map(|at| {
            let one = &record.rejections[at];
            Party { cluster: one.cluster, submitter: one.submitter.clone(), slot: None }
        }));
    }

    /// Compares two sequences. Identical are the most decisions that both have in the same order. Those that only one of
    /// them has are paired if they have the same `place`. Returns the positions of the recorded decisions that differ.
    fn sequence<K: Eq + Hash + Clone, P: Eq + Hash>(
        &mut self,
        kind: DecisionKind,
        recorded: &[Decision<K>],
        replayed: &[Decision<K>],
        place: impl Fn(&K) -> P,
    ) -> Vec<usize> {
        let line_at = |at: usize| recorded.get(at).map_or(u64::MAX, |one| one.line);
        let mut by_key: HashMap<&K, Vec<usize>> = HashMap::new();
        for (at, one) in replayed.iter().enumerate().rev() {
            by_key.entry(&one.key).or_default().push(at);
        }
        let pairs: Vec<Option<usize>> =
            recorded.iter().map(|one| by_key.get_mut(&one.key).and_then(Vec::pop)).collect();
        let in_order = longest_increasing(&pairs);
        self.counts
            .push((kind, Agreement { recorded: recorded.len(), replayed: replayed.len(), identical: in_order.len() }));
        let equal = pairs.iter().enumerate().take_while(|(at, pair)| **pair == Some(*at)).count();
        if equal == recorded.len() && equal == replayed.len() {
            return Vec::new();
        }
        self.first = Some(self.first.map_or(line_at(equal), |first| first.min(line_at(equal))));
        let mut others: Vec<usize> = by_key.into_values().flatten().collect();
        others.sort_unstable();
        let mut by_place: HashMap<P, Vec<usize>> = HashMap::new();
        for &at in others.iter().rev() {
            by_place.entry(place(&replayed[at].key)).or_default().push(at);
        }
        let mut found: Vec<(usize, Discrepancy)> = Vec::new();
        let mut kept = in_order.into_iter().peekable();
        for (at, one) in recorded.iter().enumerate() {
            if kept.next_if_eq(&at).is_some() {
                continue;
            }
            let other = match pairs[at] {
                Some(pair) => {
                    let later = kept.peek().is_some_and(|&next| pairs[next] < Some(pair));
                    Some(format!("{} ({} in the order)", one.text, if later { "later" } else { "earlier" }))
                }
                None => by_place.get_mut(&place(&one.key)).and_then(Vec::pop).map(|other| replayed[other].text.clone()),
            };
            found.push((
                at,
                Discrepancy { kind, line: Some(one.line), recorded: Some(one.text.clone()), replayed: other },
            ));
        }
        let different = found.iter().map(|(at, _)| *at).collect();
        for at in by_place.into_values().flatten() {
            let line = Some(line_at(at)).filter(|line| *line < u64::MAX);
            found.push((at, Discrepancy { kind, line, recorded: None, replayed: Some(replayed[at].text.clone()) }));
        }
        found.sort_by_key(|(at, difference)| (*at, difference.recorded.is_none()));
        self.differences.extend(found.into_iter().map(|(_, difference)| difference));
        different
    }

    fn limits(&mut self, record: &CycleRecord, outcome: &Outcome) {
        if record.visits.is_empty() {
            return;
        }
        let same = |at: usize| {
            let (recorded, replayed) = (&record.visits[at], &outcome.negotiations[at]);
            recorded.submitter == replayed.submitter
                && recorded.limit.is_none_or(|limit| is_near(replayed.limit, limit, LIMIT_DIGITS))
        };
        let text = |submitter: &str, limit: Option<f64>| match limit {
            Some(limit) if limit > UNLIMITED => format!("{submitter}, no limit"),
            Some(limit) => format!("{submitter}, limit {limit:.6}"),
            None => submitter.to_owned(),
        };
        let recorded = |at: usize| Some(text(&record.visits.get(at)?.submitter, record.visits[at].limit));
        let replayed =
            |at: usize| Some(text(&outcome.negotiations.get(at)?.submitter, Some(outcome.negotiations[at].limit)));
        let lengths = (record.visits.len(), outcome.negotiations.len());
        self.places(DecisionKind::Limit, lengths, |at| record.visits[at].line, same, recorded, replayed);
    }

    fn pies(&mut self, record: &CycleRecord, outcome: &Outcome) {
        if record.pies.is_empty() {
            return;
        }
        let same = |at: usize| is_near(outcome.pies[at].pie_left, record.pies[at].left, PIE_DIGITS);
        let recorded = |at: usize| Some(format!("{:.3}", record.pies.get(at)?.left));
        let replayed = |at: usize| Some(format!("{:.3}", outcome.pies.get(at)?.pie_left));
        let lengths = (record.pies.len(), outcome.pies.len());
        self.places(DecisionKind::Pie, lengths, |at| record.pies[at].line, same, recorded, replayed);
    }

    /// Compares two sequences place by place.
    fn places(
        &mut self,
        kind: DecisionKind,
        (recorded, replayed): (usize, usize),
        line: impl Fn(usize) -> u64,
        same: impl Fn(usize) -> bool,
        of_record: impl Fn(usize) -> Option<String>,
        of_replay: impl Fn(usize) -> Option<String>,
    ) {
        let both = recorded.min(replayed);
        let different: Vec<usize> = (0..both).filter(|&at| !same(at)).chain(both..recorded.max(replayed)).collect();
        let identical = both - different.iter().filter(|at| **at < both).count();
        self.counts.push((kind, Agreement { recorded, replayed, identical }));
        let line = |at: usize| if at < recorded { line(at) } else { u64::MAX };
        if let Some(&at) = different.first() {
            self.first = Some(self.first.map_or(line(at), |first| first.min(line(at))));
        }
        self.differences.extend(different.into_iter().map(|at| Discrepancy {
            kind,
            line: Some(line(at)).filter(|line| *line < u64::MAX),
            recorded: of_record(at),
            replayed: of_replay(at),
        }));
    }

    fn statistics(&mut self, published: &[(&'static str, String)], outcome: &Outcome) {
        if published.is_empty() {
            return;
        }
        let ours = advertisement(outcome, 0, true);
        let mut counts = Agreement { recorded: published.len(), replayed: published.len(), identical: 0 };
        for (name, recorded) in published {
            let attribute = format!("LastNegotiationCycle{name}0");
            let replayed = ours.get(attribute.as_str()).map(|expr| expr.to_string());
            if replayed.as_ref() == Some(recorded) {
                counts.identical += 1;
                continue;
            }
            self.first = self.first.or(Some(u64::MAX));
            self.differences.push(Discrepancy {
                kind: DecisionKind::Statistic,
                line: None,
                recorded: Some(format!("{name} = {recorded}")),
                replayed: replayed.map(|value| format!("{name} = {value}")),
            });
        }
        self.counts.push((DecisionKind::Statistic, counts));
    }
}

/// The positions of a longest subsequence whose numbers increase, in order. `None` belongs to none.
fn longest_increasing(numbers: &[Option<usize>]) -> Vec<usize> {
    // The last position of the best subsequence of each length, and the position before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (at, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_some()) {
        let length = ends.partition_point(|&end| numbers[end] < *number);
        before[at] = length.checked_sub(1).map(|length| ends[length]);
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut found: Vec<usize> = std::iter::successors(ends.last().copied(), |&at| before[at]).collect();
    found.reverse();
    found
}

/// Limits are logged with six decimals.
const LIMIT_DIGITS: f64 = 6e-7;

/// Pies are logged with three decimals.
const PIE_DIGITS: f64 = 6e-4;

/// Beyond this a number means that there is no limit.
const UNLIMITED: f64 = 1e300;

/// True if a number is the recorded one, as far as the log has digits.
fn is_near(found: f64, recorded: f64, digits: f64) -> bool {
    recorded > UNLIMITED || (found - recorded).abs() <= digits + 1e-6 * recorded.abs().max(1.0)
}
