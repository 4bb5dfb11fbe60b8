//! A cycle of a live pool: predicted from what was read before it, and compared with the matches that were made.
//!
//! In: the pool as it was before the cycle, the matches of the cycle, and the pool as it is afterwards. Out: a [`ShadowCycle`],
//! plain serializable data, with a likely cause for each difference. Knows no daemons.

pub mod change;
pub mod load;
pub mod observed;
pub mod policy;
pub mod published;
pub mod unread;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::shadow::change::{PoolChange, access_point, changes};
use crate::shadow::published::{GivenUp, NegotiatorTimes, PublishedCycle};
use crate::shadow::unread::{PoolPart, UnreadPart};
use crate::verify::cause::{Conditions, DifferenceCause};
use crate::verify::record::{CycleRecord, RecordedMatch, RecordedVisit};
use classmate::{ClassAd, EvalOptions};
use classmate_config::ConfigError;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::Job;
use classmate_pool::{CycleOptions, Matcher, Outcome, PreparedPool, Snapshot, negotiate};

/// Most pairs of slots and requests for which equal slots are put into the exact order of `condor_negotiator`: a few
/// seconds.
const MAX_EXACT: usize = 10_000_000;

/// The source of the matches that were really made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActualSource {
    /// A log of the negotiator.
    Log,
    /// The claims that appeared afterwards. A slot counts once for each cluster.
    Claims,
}

/// A cycle that was watched.
#[derive(Debug, Clone, Copy)]
pub struct WatchedCycle<'a> {
    /// The pool before the cycle. Its clock is the start of the cycle.
    pub before: &'a Snapshot,
    /// Time at which it began to be read, epoch seconds.
    pub read: i64,
    /// The parts that could not be read.
    pub unread: &'a [UnreadPart],
    /// The parts that could not be read after the cycle.
    pub unread_after: &'a [UnreadPart],
    /// The matches that were made.
    pub record: &'a CycleRecord,
    /// Their source.
    pub source: ActualSource,
    /// The pool after the cycle, if it was read.
    pub after: Option<&'a Snapshot>,
    /// The statistics that the negotiator publishes.
    pub published: &'a PublishedCycle,
    /// The times of the negotiator when the pool was read, and after the cycle.
    pub negotiator: [NegotiatorTimes; 2],
}

/// A match, predicted or made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowMatch {
    /// The job; of several jobs of a request, the first.
    pub job: String,
    /// The submitter.
    pub submitter: String,
    /// The slot.
    pub slot: String,
}

impl ShadowMatch {
    fn pair(&self) -> Pair {
        let cluster = self.job.split('.').next().and_then(|number| number.parse().ok());
        (self.submitter.clone(), cluster.unwrap_or(0), partitionable(&self.slot))
    }
}

/// A cluster and a slot that were matched more or less often than predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadowDifference {
    /// The cluster. The access point chooses which job of it gets the slot.
    pub cluster: i64,
    /// The submitter.
    pub submitter: String,
    /// The slot; the partitionable one for a dynamic slot.
    pub slot: String,
    /// Matches predicted.
    pub predicted: usize,
    /// Matches made.
    pub actual: usize,
    /// The likely cause.
    #[serde(flatten)]
    pub cause: DifferenceCause,
}

/// A cycle and its prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadowCycle {
    /// True if there is no difference, and the negotiator made as many matches as predicted.
    pub identical: bool,
    /// The source of the matches that were made.
    pub source: ActualSource,
    /// The predicted matches, in order. As [`ActualSource::Claims`] counts them, the first one of a slot and a cluster.
    pub predicted: Vec<ShadowMatch>,
    /// The matches that were made, counted likewise; in order if a log has them.
    pub actual: Vec<ShadowMatch>,
    /// The differences.
    pub different: Vec<ShadowDifference>,
}

impl ShadowCycle {
    /// The number of matches that were made as predicted.
    pub fn agreed(&self) -> usize {
        let pair = |one: &ShadowDifference| (one.submitter.clone(), one.cluster, one.slot.clone());
        let different: HashSet<Pair> = self.different.iter().map(pair).collect();
        let same = |made: &&ShadowMatch| !different.contains(&made.pair());
        let partly: usize = self.different.iter().map(|one| one.actual.min(one.predicted)).sum();
        self.actual.iter().filter(same).count() + partly
    }
}

/// Submitter, cluster and slot.
type Pair = (String, i64, String);

/// Times predicted, and times made.
type Counts = BTreeMap<Pair, (usize, usize)>;

/// Predicts a cycle, compares it with the matches that were made, and finds the likely cause of each difference.
///
/// As for [`crate::verify()`], a rule is the cause of differences that vanish when the cycle is replayed under the condition
/// that the matches show. Otherwise the pool has changed after it was read, or what followed the matches is not what they
/// promised.
///
/// # Errors
/// A setting that is wrong for a cycle.
pub fn shadow_cycle(watched: &WatchedCycle<'_>) -> Result<ShadowCycle, ConfigError> {
    let outcome = predict(watched.before)?;
    let counts = differences(watched, &outcome);
    let mut causes: BTreeMap<Pair, DifferenceCause> = BTreeMap::new();
    let mut left = counts.clone();
    let mut conditions = Conditions::new(watched.before, watched.record, watched.after);
    for cause in DifferenceCause::BY_EXPERIMENT {
        if left.is_empty() {
            break;
        }
        let Some(changed) = conditions.with(&cause) else { continue };
        let found = differences(watched, &negotiate(&changed)?);
        if found.len() < left.len() {
            for pair in counts.keys().filter(|pair| !found.contains_key(*pair)) {
                causes.entry(pair.clone()).or_insert_with(|| cause.clone());
            }
            left = found;
            conditions.keep(changed);
        }
    }
    let mut rest = Rest::new(watched, &outcome, counts.len() > causes.len());
    rest.missing = counts.keys().find_map(|pair| rest.missing(pair));
    let different = counts.into_iter().map(|(pair, (predicted, actual))| {
        let cause = causes.remove(&pair).unwrap_or_else(|| rest.cause(&pair, predicted, actual));
        let (submitter, cluster, slot) = pair;
        ShadowDifference { cluster, submitter, slot, predicted, actual, cause }
    });
    let different: Vec<ShadowDifference> = different.collect();
    // A claim may end before it is seen.
    let as_many = watched.source == ActualSource::Log || rest.as_many || watched.published.matches.is_none();
    Ok(ShadowCycle {
        identical: different.is_empty() && as_many,
        source: watched.source,
        predicted: counted(predicted(&outcome), watched.source),
        actual: counted(actual(watched.record), watched.source),
        different,
    })
}

/// The matches that were made.
pub fn actual(record: &CycleRecord) -> Vec<ShadowMatch> {
    let made = record.matches.iter().map(|made| ShadowMatch {
        job: format!("{}.{}", made.cluster, made.process),
        submitter: made.submitter.clone(),
        slot: made.slot.clone(),
    });
    made.collect()
}

/// The predicted matches.
fn predicted(outcome: &Outcome) -> Vec<ShadowMatch> {
    let made = outcome.matches.iter().map(|made| ShadowMatch {
        job: made.job.to_string(),
        submitter: made.submitter.clone(),
        slot: made.slot.clone(),
    });
    made.collect()
}

/// The matches that count.
fn counted(mut matches: Vec<ShadowMatch>, source: ActualSource) -> Vec<ShadowMatch> {
    let mut seen = HashSet::new();
    matches.retain(|made| source == ActualSource::Log || seen.insert(made.pair()));
    matches
}

/// Runs the cycle; equal slots are taken in the exact order, as far as that is affordable.
fn predict(snapshot: &Snapshot) -> Result<Outcome, ConfigError> {
    let cycle = PreparedPool::new(snapshot)?.negotiate(CycleOptions::default())?;
    let pairs = snapshot.slots.len().saturating_mul(cycle.requests);
    if cycle.outcome.statistics.largest_tie < 2 || pairs > MAX_EXACT {
        return Ok(cycle.outcome);
    }
    let options = CycleOptions { matcher: Matcher::ExactTies, ..CycleOptions::default() };
    PreparedPool::new(snapshot)?.negotiate(options).map(|cycle| cycle.outcome)
}

/// The pairs that do not have the same number of matches on both sides.
fn differences(watched: &WatchedCycle<'_>, outcome: &Outcome) -> Counts {
    let mut counts = Counts::new();
    let place = |submitter: &str, cluster: i64, slot: &str| (submitter.to_owned(), cluster, partitionable(slot));
    for made in &outcome.matches {
        counts.entry(place(&made.submitter, made.cluster, &made.slot)).or_default().0 += 1;
    }
    for made in &watched.record.matches {
        counts.entry(place(&made.submitter, made.cluster, &made.slot)).or_default().1 += 1;
    }
    if watched.source == ActualSource::Claims {
        for (predicted, actual) in counts.values_mut() {
            (*predicted, *actual) = (1.min(*predicted), 1.min(*actual));
        }
    }
    counts.retain(|_, (predicted, actual)| predicted != actual);
    counts
}

/// The name of the partitionable slot of a dynamic one, `slot1@m` for `slot1_2@m`; other names stay.
///
/// ```
/// use classmate_advice::internal::shadow::partitionable;
/// assert_eq!([partitionable("slot1_12@m_1"), partitionable("slot2@m"), partitionable("a_b@m")], ["slot1@m_1", "slot2@m", "a_b@m"]);
/// ```
pub fn partitionable(slot: &str) -> String {
    let parts = slot.split_once('@').and_then(|(name, machine)| Some((name.rsplit_once('_')?, machine)));
    match parts {
        Some(((name, number), machine)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{name}@{machine}")
        }
        _ => slot.to_owned(),
    }
}

/// Everything that can explain differences which no rule explains.
struct Rest<'a> {
    watched: &'a WatchedCycle<'a>,
    changes: Vec<PoolChange>,
    /// True if the negotiator made as many matches as predicted.
    as_many: bool,
    /// The part of any pair that was not in the pool before the cycle.
    missing: Option<DifferenceCause>,
    /// An access point that requested nothing in the cycle, although jobs of it were predicted to match.
    without_requests: Option<String>,
}

impl<'a> Rest<'a> {
    fn new(watched: &'a WatchedCycle<'a>, outcome: &Outcome, is_needed: bool) -> Self {
        let after = watched.after.filter(|_| is_needed);
        let mut rest = Rest {
            watched,
            changes: after.map(|after| changes(watched, after)).unwrap_or_default(),
            as_many: watched.published.matches == Some(outcome.matches.len() as i64),
            missing: None,
            without_requests: None,
        };
        if is_needed {
            rest.without_requests = rest.without_requests(outcome);
        }
        rest
    }

    /// The name of an access point whose submitters were all visited without a request, although jobs of it were predicted to match:
    /// one that is shutting down still advertises them.
    fn without_requests(&self, outcome: &Outcome) -> Option<String> {
        let record = self.watched.record;
        let lines = record.matches.iter().map(|made| made.line).chain(record.rejections.iter().map(|one| one.line));
        let (mut requests, mut visits): (Vec<u64>, Vec<&RecordedVisit>) =
            (lines.collect(), record.visits.iter().collect());
        requests.sort_unstable();
        visits.sort_unstable_by_key(|visit| visit.line);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, visit) in visits.iter().enumerate() {
            let until = visits.get(at + 1).map_or(u64::MAX, |next| next.line);
            let before = |line: u64| requests.partition_point(|request| *request < line);
            *counts.entry(&visit.access_point).or_default() += before(until) - before(visit.line);
        }
        let settings = EvalOptions::default();
        let text = |ad: &ClassAd, name: &str| {
            AdReader::of(ad, &settings).string(name).map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        let ads = self.watched.before.submitters.iter().flatten();
        let silent = ads.filter(|ad| text(ad, "ScheddIpAddr").is_some_and(|address| counts.get(&*address) == Some(&0)));
        let names: BTreeSet<String> = silent.filter_map(|ad| text(ad, "ScheddName")).collect();
        let is_predicted =
            |name: &String| outcome.matches.iter().any(|made| self.is_queued_at(name, made.cluster, &made.submitter));
        names.into_iter().find(is_predicted)
    }

    fn cause(&self, pair: &Pair, predicted: usize, actual: usize) -> DifferenceCause {
        let (submitter, cluster, slot) = pair;
        let is_of_pair = |given: &&GivenUp| {
            if given.is_access_point {
                self.is_queued_at(&given.name, *cluster, submitter)
            } else {
                given.name == *submitter
            }
        };
        if let Some(given) = self.watched.published.given_up.iter().find(is_of_pair) {
            return DifferenceCause::AccessPoint(given.text.clone());
        }
        let is_claims = self.watched.source == ActualSource::Claims;
        if is_claims && predicted > actual && self.as_many {
            let is_left = self.watched.after.is_some_and(|after| has_cluster(after, *cluster));
            return if is_left { DifferenceCause::NoClaim } else { DifferenceCause::LeftQueue };
        }
        if let Some(change) = self.changes.iter().find(|change| change.concerns(*cluster, slot, submitter)) {
            return DifferenceCause::Changed(change.text.clone());
        }
        let shares = |made: &RecordedMatch| {
            made.submitter == *submitter && made.cluster != *cluster && partitionable(&made.slot) == *slot
        };
        if is_claims && actual > predicted && (self.as_many || self.watched.record.matches.iter().any(shares)) {
            return DifferenceCause::OwnClaim;
        }
        if let Some(missing) = self.missing(pair) {
            return missing;
        }
        let [before, after] = self.watched.negotiator;
        if let Some(change) = before.change(after, self.watched.published.started) {
            return DifferenceCause::Changed(change.to_owned());
        }
        if let Some(name) = &self.without_requests {
            return DifferenceCause::AccessPoint(format!("access point {name}: it sent no requests"));
        }
        match (self.changes.first(), &self.missing, self.watched.unread.first()) {
            (Some(change), ..) => DifferenceCause::Changed(change.text.clone()),
            // What a new slot or job got, others did not get.
            (None, Some(missing), _) => missing.clone(),
            (None, None, Some(unread)) => DifferenceCause::NotRead(unread.to_string()),
            (None, None, None) => DifferenceCause::Unexplained,
        }
    }

    /// True if a cluster of a submitter is in the queue of an access point. Another one may have the same number.
    fn is_queued_at(&self, name: &str, cluster: i64, submitter: &str) -> bool {
        let settings = EvalOptions::default();
        let jobs = [Some(self.watched.before), self.watched.after].into_iter().flatten().flat_map(|pool| &pool.jobs);
        let mut of_pair = jobs.filter(|ad| {
            Job::new(ad, None, &settings)
                .is_some_and(|job| job.id.cluster == cluster && *job.submitter == *submitter.as_bytes())
        });
        of_pair.any(|ad| {
            let id = AdReader::of(ad, &settings).string("GlobalJobId");
            id.is_some_and(|id| access_point(&String::from_utf8_lossy(&id)) == name)
        })
    }

    /// The part of a pair that was not in the pool before the cycle, or the part of the pool that was not read and may have it.
    fn missing(&self, (submitter, cluster, slot): &Pair) -> Option<DifferenceCause> {
        let (before, settings) = (self.watched.before, EvalOptions::default());
        let absent =
            |what: String, may_have: &dyn Fn(&PoolPart) -> bool| {
                let unread = self.watched.unread.iter().find(|unread| may_have(&unread.part));
                Some(unread.map_or(DifferenceCause::NotInSnapshot(what), |unread| {
                    DifferenceCause::NotRead(unread.to_string())
                }))
            };
        let is_slot = |ad: &ClassAd| {
            let name = AdReader::of(ad, &settings).string("Name");
            name.is_some_and(|name| partitionable(&String::from_utf8_lossy(&name)) == *slot)
        };
        if !before.slots.iter().any(is_slot) {
            return absent(format!("slot {slot}"), &|part| *part == PoolPart::Slots);
        }
        if !has_cluster(before, *cluster) {
            let is_read_elsewhere = self.watched.after.is_some_and(|after| has_cluster(after, *cluster));
            return absent(format!("cluster {cluster}"), &|part| match part {
                PoolPart::AccessPoint(name) => !is_read_elsewhere || self.is_queued_at(name, *cluster, submitter),
                _ => false,
            });
        }
        let is_submitter = |ad: &ClassAd| {
            AdReader::of(ad, &settings).string("Name").is_some_and(|name| *name == *submitter.as_bytes())
        };
        if before.submitters.as_ref().is_none_or(|ads| ads.iter().any(is_submitter)) {
            return None;
        }
        absent(format!("submitter {submitter}"), &|part| *part == PoolPart::Submitters)
    }
}

/// True if a job of the cluster is in the queue.
fn has_cluster(snapshot: &Snapshot, cluster: i64) -> bool {
    let settings = EvalOptions::default();
    snapshot.jobs.iter().any(|ad| AdReader::of(ad, &settings).integer("ClusterId") == Some(cluster))
}

#[cfg(test)]
mod tests;
