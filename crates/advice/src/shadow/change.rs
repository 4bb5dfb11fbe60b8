//! The changes of a pool after a reading, as a reading after the cycle shows them. As far as ads have the time of a change, it is older
//! than the cycle, except for those of submitters: of several new ads the last one is seen.
//!
//! In: both readings. Out: each [`PoolChange`] that the cycle itself did not make.

use std::collections::{HashMap, HashSet};

use classmate::{ClassAd, EvalOptions, Scope, Value};
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::Job;

use super::unread::{PoolPart, UnreadPart, unread_jobs};
use super::{WatchedCycle, partitionable};
use crate::verify::record::RecordedMatch;

/// Seconds by which the clocks of daemons may differ.
const SKEW: i64 = 1;

/// Values of `JobStatus`.
const IDLE: i64 = 1;
const RUNNING: i64 = 2;
const REMOVED: i64 = 3;
const COMPLETED: i64 = 4;
const HELD: i64 = 5;

/// Attributes of a slot that decide which jobs get it.
const DECISIVE: [&str; 7] = ["KFlops", "Mips", "Offline", "Rank", "Requirements", "SlotWeight", "Start"];

/// Those of them that a match changes: what a partitionable slot has left.
const LEFT: [&str; 4] = ["Cpus", "GPUs", "Memory", "ChildCpus"];

/// A change of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolChange {
    /// The cluster, if it is about a job.
    pub cluster: Option<i64>,
    /// The slot, if it is about one.
    pub slot: Option<String>,
    /// The submitter, if it is about one.
    pub submitter: Option<String>,
    /// The change as a clause, to be continued with "after the pool was read".
    pub text: String,
}

impl PoolChange {
    /// True if it is about one of these.
    pub fn concerns(&self, cluster: i64, slot: &str, submitter: &str) -> bool {
        self.cluster == Some(cluster)
            || self.slot.as_deref() == Some(slot)
            || self.submitter.as_deref() == Some(submitter)
    }
}

/// The changes between the reading and the cycle.
pub fn changes(watched: &WatchedCycle<'_>, after: &Snapshot) -> Vec<PoolChange> {
    let (from, until) = (watched.read - SKEW, watched.published.started + SKEW);
    let reader = ChangeReader { settings: EvalOptions::default(), from, until, made: &watched.record.matches };
    let before = watched.before;
    let was_read = |snapshot, unread: &[UnreadPart]| {
        let mut names = reader.access_points(snapshot);
        names.retain(|name| unread_jobs(unread, name).is_none());
        names
    };
    let (read_before, read_after) = (was_read(before, watched.unread), was_read(after, watched.unread_after));
    let mut changes = reader.of_jobs(before, after, (&read_before, &read_after));
    // An ad that only one of them has may have been skipped in the other.
    let is_whole = |part: &PoolPart| {
        let mut unread = watched.unread.iter().chain(watched.unread_after);
        !unread.any(|unread| unread.part == *part)
    };
    changes.extend(reader.of_slots(before, after, is_whole(&PoolPart::Slots)));
    changes.extend(reader.of_claims(before, after, &read_after));
    changes.extend(reader.of_submitters(before, after, is_whole(&PoolPart::Submitters)));
    changes
}

struct ChangeReader<'m> {
    settings: EvalOptions,
    from: i64,
    until: i64,
    /// The matches of the cycle.
    made: &'m [RecordedMatch],
}

impl ChangeReader<'_> {
    fn facts<'a>(&'a self, ad: &'a ClassAd) -> AdReader<'a> {
        AdReader::of(ad, &self.settings)
    }

    fn text(&self, ad: &ClassAd, name: &str) -> Option<String> {
        self.facts(ad).string(name).map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// True if the cycle matched this slot or one of its partitionable slot, for a submitter if one is named.
    fn is_taken(&self, place: &str, by: Option<&str>) -> bool {
        let is_by = |made: &RecordedMatch| by.is_none_or(|submitter| made.submitter == submitter);
        self.made.iter().any(|made| partitionable(&made.slot) == place && is_by(made))
    }

    /// True if the cycle preempted the job in a slot. A match of the partitionable slot may preempt those of several dynamic ones.
    fn is_displaced(&self, host: &str) -> bool {
        self.made.iter().any(|made| made.displaces && (made.slot == host || made.slot == partitionable(host)))
    }

    /// True if the cycle matched the cluster of a job.
    fn is_matched(&self, ad: &ClassAd) -> bool {
        Job::new(ad, None, &self.settings).is_some_and(|job| {
            self.made.iter().any(|made| made.cluster == job.id.cluster && *made.submitter.as_bytes() == *job.submitter)
        })
    }

    /// The names of the dynamic slots that the ad of a partitionable one has.
    fn children(&self, ad: &ClassAd) -> Vec<String> {
        let Value::List(names) = self.facts(ad).value("ChildName") else { return Vec::new() };
        let name = |element| Scope::new(ad, &self.settings).eval(&element).ok()?.as_bytes().map(<[u8]>::to_vec);
        names.exprs().into_iter().filter_map(name).map(|name| String::from_utf8_lossy(&name).into_owned()).collect()
    }

    /// The slot of a job that runs.
    fn host(&self, ad: &ClassAd) -> Option<String> {
        let is_running = self.facts(ad).integer("JobStatus") == Some(RUNNING);
        self.text(ad, "RemoteHost").filter(|_| is_running)
    }

    /// True if an attribute is a time in between.
    fn is_between(&self, ad: &ClassAd, name: &str) -> bool {
        self.facts(ad).integer(name).is_some_and(|time| (self.from..=self.until).contains(&time))
    }

    /// The ads by a name.
    fn named<'a>(&self, ads: &'a [ClassAd], name: &str) -> HashMap<String, &'a ClassAd> {
        ads.iter().filter_map(|ad| Some((self.text(ad, name)?, ad))).collect()
    }

    /// The access points of which a snapshot has jobs or submitters: not those that the collector did not know after a restart.
    fn access_points(&self, snapshot: &Snapshot) -> HashSet<String> {
        let of_jobs = snapshot.jobs.iter().filter_map(|ad| self.text(ad, "GlobalJobId"));
        let submitters = snapshot.submitters.iter().flatten();
        let of_submitters = submitters.filter_map(|ad| self.text(ad, "ScheddName"));
        of_jobs.map(|id| access_point(&id).to_owned()).chain(of_submitters).collect()
    }

    fn of_jobs(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        (read_before, read_after): (&HashSet<String>, &HashSet<String>),
    ) -> Vec<PoolChange> {
        let (old, new) = (self.named(&before.jobs, "GlobalJobId"), self.named(&after.jobs, "GlobalJobId"));
        let mut changes = Vec::new();
        let mut add = |ad: &ClassAd, what: &str| {
            let (cluster, process) = (self.facts(ad).integer("ClusterId"), self.facts(ad).integer("ProcId"));
            let job = format!("{}.{}", cluster.unwrap_or(0), process.unwrap_or(0));
            changes.push(PoolChange { cluster, slot: None, submitter: None, text: format!("job {job} {what}") });
        };
        let status = |ad: &ClassAd| self.facts(ad).integer("JobStatus");
        for ad in &after.jobs {
            let Some(id) = self.text(ad, "GlobalJobId") else { continue };
            match old.get(&id) {
                // `QDate` is the time at which the submission began, also of jobs that the access point adds later.
                None if self.is_between(ad, "QDate") => add(ad, "was submitted"),
                None if self.facts(ad).integer("QDate").is_some_and(|time| time < self.from)
                    && read_before.contains(access_point(&id)) =>
                {
                    add(ad, "appeared in the queue");
                }
                Some(earlier) if status(ad) != status(earlier) && self.is_between(ad, "EnteredCurrentStatus") => {
                    match status(ad) {
                        Some(IDLE) if self.host(earlier).is_some_and(|host| self.is_displaced(&host)) => {}
                        Some(IDLE) => add(ad, "became idle"),
                        Some(REMOVED) => add(ad, "was removed"),
                        // A job that the cycle matched may have run and ended since.
                        Some(COMPLETED) if !self.is_matched(ad) => add(ad, "completed"),
                        Some(HELD) => add(ad, "was held"),
                        // It runs, is suspended or transfers its output: it has its slot.
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        // A job that the cycle matched may have run and ended since.
        for ad in before.jobs.iter().filter(|ad| status(ad) == Some(IDLE) && !self.is_matched(ad)) {
            let is_gone = |id: String| !new.contains_key(&id) && read_after.contains(access_point(&id));
            if self.text(ad, "GlobalJobId").is_some_and(is_gone) {
                add(ad, "left the queue");
            }
        }
        changes
    }

    fn of_slots(&self, before: &Snapshot, after: &Snapshot, is_whole: bool) -> Vec<PoolChange> {
        let (old, new) = (self.named(&before.slots, "Name"), self.named(&after.slots, "Name"));
        let mut changes = Vec::new();
        let mut add = |slot: &str, what: String| {
            let text = format!("{slot} {what}");
            let slot = Some(partitionable(slot));
            changes.push(PoolChange { cluster: None, slot, submitter: None, text });
        };
        for ad in &after.slots {
            let Some(name) = self.text(ad, "Name") else { continue };
            let place = partitionable(&name);
            let is_taken = self.is_taken(&place, None);
            // A dynamic slot that another submitter uses was carved for an earlier match.
            let user = self.text(ad, "AccountingGroup").or_else(|| self.text(ad, "RemoteUser"));
            match old.get(&name) {
                None if is_whole && (!is_taken || user.is_some_and(|user| !self.is_taken(&place, Some(&user)))) => {
                    add(&name, "appeared".to_owned());
                }
                Some(earlier) if !is_taken => {
                    let (from, to) = (self.text(earlier, "State"), self.text(ad, "State"));
                    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from != to) {
                        add(&name, format!("changed from {from} to {to}"));
                    } else if let Some(what) = changed(earlier, ad, false) {
                        add(&name, what);
                    }
                }
                Some(earlier) => {
                    if let Some(what) = changed(earlier, ad, true) {
                        add(&name, what);
                    }
                    // The ad of the partitionable slot comes after those of the dynamic ones, which are withdrawn at once.
                    for released in self.children(earlier).iter().filter(|child| !old.contains_key(*child)) {
                        add(&name, format!("advertised the release of {released}"));
                    }
                }
                None => {}
            }
        }
        for ad in &before.slots {
            let Some(name) = self.text(ad, "Name") else { continue };
            // The job of a dynamic slot that the cycle matched may have ended, and that of another may have been preempted.
            let is_made = self.is_displaced(&name) || self.made.iter().any(|made| made.slot == name);
            if is_whole && !new.contains_key(&name) && !is_made {
                add(&name, "disappeared".to_owned());
            }
        }
        changes
    }

    /// Slots that jobs have left, also if the cycle matched them at once and the names of dynamic slots are used again.
    fn of_claims(&self, before: &Snapshot, after: &Snapshot, read_after: &HashSet<String>) -> Vec<PoolChange> {
        let new = self.named(&after.jobs, "GlobalJobId");
        let [old_slots, new_slots] = [before, after].map(|snapshot| self.named(&snapshot.slots, "Name"));
        let user =
            |slots: &HashMap<String, &ClassAd>, host: &str| slots.get(host).and_then(|ad| self.text(ad, "RemoteUser"));
        let mut changes = Vec::new();
        for ad in &before.jobs {
            let Some((id, host)) = self.text(ad, "GlobalJobId").zip(self.host(ad)) else { continue };
            let slot = partitionable(&host);
            let is_gone = new.get(&id).map_or(read_after.contains(access_point(&id)), |later| {
                let changed = self.facts(later).integer("EnteredCurrentStatus");
                self.host(later).is_none_or(|now| now != host) && changed.is_none_or(|time| time <= self.until)
            });
            // The access point went on to use the claim: the slot is not free in between.
            let is_kept = user(&old_slots, &host).is_some_and(|old| user(&new_slots, &host) == Some(old))
                && !self.is_taken(&slot, None);
            if is_gone && !is_kept && !self.is_displaced(&host) {
                let [cluster, process] = ["ClusterId", "ProcId"].map(|name| self.facts(ad).integer(name).unwrap_or(0));
                let text = format!("job {cluster}.{process} stopped running on {host}");
                changes.push(PoolChange { cluster: None, slot: Some(slot), submitter: None, text });
            }
        }
        changes
    }

    fn of_submitters(&self, before: &Snapshot, after: &Snapshot, is_whole: bool) -> Vec<PoolChange> {
        let key = |ad: &ClassAd| Some((self.text(ad, "Name")?, self.text(ad, "ScheddName")));
        let ads = |snapshot: &Snapshot| snapshot.submitters.clone().unwrap_or_default();
        let keyed =
            |ads: Vec<ClassAd>| ads.into_iter().filter_map(|ad| Some((key(&ad)?, ad))).collect::<HashMap<_, _>>();
        let (old, new) = (keyed(ads(before)), keyed(ads(after)));
        let counts = |ad: &ClassAd| ["IdleJobs", "RunningJobs"].map(|name| self.facts(ad).integer(name));
        let change =
            |name: &String, text: String| PoolChange { cluster: None, slot: None, submitter: Some(name.clone()), text };
        let is_new = |key: &_, ad: &ClassAd| old.get(key).is_none_or(|earlier| counts(earlier) != counts(ad));
        // An access point that is restarted has another address.
        let is_restarted = |key: &_, ad: &ClassAd| {
            old.get(key).is_some_and(|earlier| self.text(earlier, "ScheddIpAddr") != self.text(ad, "ScheddIpAddr"))
        };
        let updated = new.iter().filter(|(key, ad)| is_new(key, ad) || is_restarted(key, ad));
        // Of several new ads the last one is seen.
        let (between, later): (Vec<_>, Vec<_>) = updated.partition(|(_, ad)| self.is_between(ad, "LastHeardFrom"));
        // The access point withdrew it, or the collector was restarted.
        let gone = old.keys().filter(|key| is_whole && !new.contains_key(*key));
        let sent = |ads: Vec<(&(String, Option<String>), &ClassAd)>| {
            let what = |key: &_, ad: &ClassAd| {
                if is_restarted(key, ad) { "was restarted, and sent a new ad" } else { "sent a new ad" }
            };
            let text =
                |key: &(String, _), ad: &ClassAd| format!("the access point {} of submitter {}", what(key, ad), key.0);
            let mut sent: Vec<_> = ads.into_iter().map(|(key, ad)| change(&key.0, text(key, ad))).collect();
            sent.sort_by(|one, other| one.text.cmp(&other.text));
            sent
        };
        let mut changes = sent(between);
        changes.extend(gone.map(|(name, _)| change(name, format!("the ad of submitter {name} disappeared"))));
        changes.sort_by(|one, other| one.text.cmp(&other.text));
        changes.extend(sent(later));
        changes
    }
}

/// The name of the access point in a `GlobalJobId`.
pub(super) fn access_point(id: &str) -> &str {
    id.split_once('#').map_or(id, |(name, _)| name)
}

/// The first attribute of a slot that decides and has another value, in words. What is left of a slot that the cycle matched is no
/// evidence.
fn changed(earlier: &ClassAd, ad: &ClassAd, is_taken: bool) -> Option<String> {
    let shown =
        |ad: &ClassAd, name: &str| ad.get(name).map_or_else(|| "undefined".to_owned(), |value| value.to_string());
    let names = DECISIVE.iter().chain(if is_taken { [].iter() } else { LEFT.iter() });
    names.copied().find_map(|name| {
        let (from, to) = (shown(earlier, name), shown(ad, name));
        let is_short = from.len() + to.len() < 80;
        let text = if is_short { format!("changed {name} from {from} to {to}") } else { format!("changed {name}") };
        (from != to).then_some(text)
    })
}
