//! The cause of a difference between a record and its replay.
//!
//! In: a snapshot and a record. Out: a snapshot under a condition that the record shows, to be replayed once more; or what
//! the record names and the snapshot does not have.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::verify::comparison::{Comparison, DecisionKind};
use crate::verify::record::{CycleRecord, RecordedMatch, RecordedVisit};
use classmate::{ClassAd, EvalOptions};
use classmate_config::ConfigError;
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::accountant::{Accountant, AccountantLog, Ungrouped};
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::priority::pie::TIE_BREAK;
use classmate_pool::{Match, Outcome, PreparedPool, Snapshot};

/// A cause of differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "cause", content = "about", rename_all = "snake_case")]
pub enum DifferenceCause {
    /// Slots that are equal on every rank: `condor_negotiator` takes them in an order of its own. Proved by a replay that takes them in the
    /// order of the record, or by the ranks of the slots.
    EqualSlots,
    /// Submitters that are equal in the order of service. Proved by a replay that visits them in the order of the record.
    EqualSubmitters,
    /// Submitters that are equal but for the time of their last ads, which access points renewed after the reading. Proved by a replay
    /// with times that the renewed ads can have had, of which those with the order of the record are chosen: not before the newest
    /// ad of the snapshot, not after the cycle, and not after the ad of a later reading.
    RenewedAds,
    /// The first cycle of a negotiator does not know the groups of the users of slots. Proved by a replay without them.
    FirstCycle,
    /// Accounting ads lack the part of the usage since the last update that is not charged, so priorities that differ by less have an
    /// unknown order. Proved by a replay with priorities that fit the order of the record.
    UnchargedUsage,
    /// Priorities that the negotiator had and the accountant's log of the snapshot has not. Proved by a replay with the
    /// priorities of the record, and equal submitters in its order.
    Priorities,
    /// The access point numbers autoclusters in an order that also depends on jobs that left its queue; only rejections are
    /// left, and `NEGOTIATE_ALL_JOBS_IN_CLUSTER` is set.
    AutoclusterNumbers,
    /// The record names what the snapshot does not have: the pool had changed.
    NotInSnapshot(String),
    /// Something changed between the reading of the pool and the cycle.
    Changed(String),
    /// A source that could not be read.
    NotRead(String),
    /// The negotiator gave up an access point: it failed, or took too long.
    AccessPoint(String),
    /// The negotiator made the predicted number of matches, but the slot is not claimed by the job afterwards.
    NoClaim,
    /// The job had left the queue when the pool was read after the cycle.
    LeftQueue,
    /// The access point started the job without a match: in a claim that it had, or in the rest of a partitionable slot.
    OwnClaim,
    /// None of these.
    Unexplained,
}

impl DifferenceCause {
    /// The causes that are found by another replay, in the order in which they are tried.
    pub const BY_EXPERIMENT: [Self; 6] = [
        Self::EqualSlots,
        Self::EqualSubmitters,
        Self::RenewedAds,
        Self::FirstCycle,
        Self::UnchargedUsage,
        Self::Priorities,
    ];
}

/// The conditions that were found to hold so far.
pub(crate) struct Conditions<'s> {
    snapshot: &'s Snapshot,
    record: &'s CycleRecord,
    /// The pool after the cycle, if it was read.
    after: Option<&'s Snapshot>,
    kept: Option<Snapshot>,
}

impl<'s> Conditions<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, record: &'s CycleRecord, after: Option<&'s Snapshot>) -> Self {
        Self { snapshot, record, after, kept: None }
    }

    /// The snapshot under the conditions so far.
    pub(super) fn snapshot(&self) -> &Snapshot {
        self.kept.as_ref().unwrap_or(self.snapshot)
    }

    /// The snapshot under a further condition; `None` if the record does not show it.
    pub(crate) fn with(&self, cause: &DifferenceCause) -> Option<Snapshot> {
        let snapshot = self.snapshot();
        match cause {
            DifferenceCause::EqualSlots => self.slots_as_taken(snapshot),
            DifferenceCause::EqualSubmitters => self.submitters_as_visited(snapshot),
            DifferenceCause::RenewedAds => self.submitters_as_visited(&self.renewed(snapshot)?),
            DifferenceCause::FirstCycle => (self.record.restarted && !snapshot.first_cycle)
                .then(|| Snapshot { first_cycle: true, ..snapshot.clone() }),
            DifferenceCause::UnchargedUsage => self.submitters_in_doubt(snapshot),
            DifferenceCause::Priorities => {
                let known = |visit: &'s RecordedVisit| Some((visit.submitter.as_str(), visit.priority?, visit.factor?));
                let changed = with_priorities(snapshot, self.record.visits.iter().filter_map(known))?;
                let known = self.renewed(&changed).unwrap_or(changed);
                self.submitters_as_visited(&known).or(Some(known))
            }
            _ => None,
        }
    }

    /// Keeps a condition that was found to hold.
    pub(crate) fn keep(&mut self, snapshot: Snapshot) {
        self.kept = Some(snapshot);
    }

    /// Ties go to the slot that comes first, so slots in the order in which they were taken are taken in that order.
    fn slots_as_taken(&self, snapshot: &Snapshot) -> Option<Snapshot> {
        let settings = EvalOptions::default();
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        for (place, made) in self.record.matches.iter().enumerate() {
            places.entry(made.slot.as_bytes()).or_insert(place);
        }
        let place = |ad: &ClassAd| {
            let name = AdReader::of(ad, &settings).string("Name");
            name.and_then(|name| places.get(&*name).copied()).unwrap_or(usize::MAX)
        };
        let mut slots: Vec<(usize, &ClassAd)> = snapshot.slots.iter().map(|ad| (place(ad), ad)).collect();
        if slots.is_sorted_by_key(|(place, _)| *place) {
            return None;
        }
        slots.sort_by_key(|(place, _)| *place);
        Some(Snapshot { slots: slots.into_iter().map(|(_, ad)| ad.clone()).collect(), ..snapshot.clone() })
    }

    /// Submitters that are equal are visited in the order of their ads.
    fn submitters_as_visited(&self, snapshot: &Snapshot) -> Option<Snapshot> {
        let (mut places, mut at) = (HashMap::new(), HashMap::new());
        for (visit, place) in self.record.visits.iter().zip(0_u64..) {
            places.entry(visit.submitter.as_bytes()).or_insert(place);
            // A submitter may have jobs at several access points.
            at.entry((visit.submitter.as_bytes(), visit.access_point.as_bytes())).or_insert(place);
        }
        if at.len() < 2 {
            return None;
        }
        let mut changed = snapshot.clone();
        match &mut changed.submitters {
            Some(submitters) => {
                let settings = EvalOptions::default();
                let place = |ad: &ClassAd| {
                    let text = |name: &str| {
                        AdReader::of(ad, &settings).string(name).map_or_else(Vec::new, |text| text.to_vec())
                    };
                    let (name, address) = (text("Name"), text("ScheddIpAddr"));
                    at.get(&(&*name, &*address)).or(places.get(&*name)).copied().unwrap_or(u64::MAX)
                };
                submitters.sort_by_cached_key(place);
                changed.submitters_in_order = true;
            }
            None => {
                changed.served = places.into_iter().map(|(name, place): (&[u8], u64)| (name.to_vec(), place)).collect();
            }
        }
        Some(changed)
    }

    /// A snapshot in which ads of submitters were renewed before the negotiator got them: of the times at which that can have been,
    /// those with which submitters of one priority come in the order of the record, if there are any. `None` if no ad is another.
    fn renewed(&self, snapshot: &Snapshot) -> Option<Snapshot> {
        let settings = EvalOptions::default();
        let text = |ad: &ClassAd, name: &str| {
            AdReader::of(ad, &settings).string(name).map_or_else(Vec::new, |text| text.to_vec())
        };
        let heard = |ad: &ClassAd| AdReader::of(ad, &settings).integer("LastHeardFrom");
        let newest = snapshot.submitters.iter().flatten().filter_map(heard).max()?;
        let until = self.record.first_decision().or(self.record.started).unwrap_or(snapshot.now);
        let later: Option<HashMap<_, _>> = self.after.and_then(|after| after.submitters.as_ref()).map(|ads| {
            ads.iter().filter_map(|ad| Some(((text(ad, "Name"), text(ad, "ScheddName")), heard(ad)?))).collect()
        });
        let mut changed = snapshot.clone();
        let ads = changed.submitters.as_mut()?;
        let (mut known, mut any, mut last) = (HashSet::new(), false, (None, 0));
        for visit in &self.record.visits {
            let is_it = |ad: &&mut ClassAd| {
                text(ad, "Name") == visit.submitter.as_bytes()
                    && text(ad, "ScheddIpAddr") == visit.access_point.as_bytes()
            };
            if !known.insert((&visit.submitter, &visit.access_point)) {
                continue;
            }
            let Some((ad, own)) = ads.iter_mut().find(is_it).and_then(|ad| heard(ad).map(|own| (ad, own))) else {
                continue;
            };
            // An ad that is the same afterwards was not renewed; one that has gone may have been.
            let seen = later.as_ref().and_then(|later| later.get(&(text(ad, "Name"), text(ad, "ScheddName"))));
            let until = seen.map_or(until, |seen| if *seen == own { own } else { until.min(*seen) });
            let times = (newest.max(own + 1)..=until).take(TIE_BREAK as usize).chain([own]);
            let priority = visit.priority.map(f64::to_bits);
            let least = if priority == last.0 { last.1 } else { 0 };
            let order = |time: &i64| (time % TIE_BREAK < least, time % TIE_BREAK, *time != own);
            let Some(time) = times.min_by_key(order) else { continue };
            last = (priority, time % TIE_BREAK);
            if time != own {
                ad.insert("LastHeardFrom", time);
                any = true;
            }
        }
        any.then_some(changed)
    }

    /// Usage since the last update is charged in full, or less for matches that were made after it. Submitters that were visited before
    /// others of better priority get the same, if they have less without this usage.
    fn submitters_in_doubt(&self, snapshot: &Snapshot) -> Option<Snapshot> {
        let log = snapshot.log.as_ref().filter(|log| log.is_published())?;
        let knobs = NegotiatorKnobs::read(&snapshot.config).ok()?.accountant;
        let [charged, uncharged] = [true, false].map(|is_charged| {
            let mut accountant = Accountant::from_log(log, FactorRules::new(&knobs));
            if !is_charged {
                accountant.recount([], snapshot.now, false, &Ungrouped);
            }
            accountant.update_priorities(snapshot.now, knobs.half_life);
            accountant
        });
        let mut visited: Vec<(&str, f64)> = Vec::new();
        let mut known = HashSet::new();
        for visit in self.record.visits.iter().filter(|visit| known.insert(visit.submitter.as_str())) {
            visited.push((&visit.submitter, charged.effective_priority(visit.submitter.as_bytes(), &Ungrouped)));
        }
        let mut any = false;
        for at in (0..visited.len()).rev() {
            let (name, priority) = visited[at];
            let possible = uncharged.effective_priority(name.as_bytes(), &Ungrouped)..priority;
            let later = visited[at..].iter().map(|(_, priority)| *priority).filter(|one| possible.contains(one));
            if let Some(best) = later.min_by(f64::total_cmp) {
                (visited[at].1, any) = (best, true);
            }
        }
        let priorities =
            visited.iter().map(|(name, priority)| (*name, *priority, charged.factor(name.as_bytes(), &Ungrouped)));
        let changed = with_priorities(snapshot, priorities).filter(|_| any)?;
        self.submitters_as_visited(&changed)
    }
}

/// A snapshot with other priorities in the accountant's records: submitters, effective priorities and factors. They are not aged again.
fn with_priorities<'a>(
    snapshot: &Snapshot,
    priorities: impl IntoIterator<Item = (&'a str, f64, f64)>,
) -> Option<Snapshot> {
    let mut text = snapshot.log.as_ref().map(AccountantLog::to_text).unwrap_or_default();
    let mut line = |key: &str, attribute: &str, value: String| {
        text.extend_from_slice(format!("101 {key} * *\n103 {key} {attribute} {value}\n").as_bytes());
    };
    let mut any = false;
    for (submitter, priority, factor) in priorities.into_iter().filter(|(_, _, factor)| *factor > 0.0) {
        let key = format!("Customer.{submitter}");
        line(&key, "Priority", format!("{:.9}", priority / factor));
        line(&key, "PriorityFactor", format!("{factor:.6}"));
        any = true;
    }
    line("Accountant.", "LastUpdateTime", snapshot.now.to_string());
    let log = AccountantLog::read(&text).ok().filter(|_| any)?;
    Some(Snapshot { log: Some(log), ..snapshot.clone() })
}

/// True if record and replay match the same clusters in the same order, if only to other slots that are equal on every rank.
///
/// `condor_negotiator` sorts anew for each search, so a slot that stays in the list may come first again.
fn are_equal(snapshot: &Snapshot, record: &CycleRecord, outcome: &Outcome) -> Result<bool, ConfigError> {
    let same = |(one, other): (&RecordedMatch, &Match)| {
        (one.cluster, one.submitter.as_str()) == (other.cluster, other.submitter.as_str())
    };
    let different = || record.matches.iter().zip(&outcome.matches).filter(|(one, other)| one.slot != other.slot);
    let alike = record.matches.len() == outcome.matches.len() && record.matches.iter().zip(&outcome.matches).all(same);
    if !alike || different().next().is_none() {
        return Ok(false);
    }
    let pool = PreparedPool::for_explanation(snapshot)?;
    let (settings, rules) = (pool.settings(), pool.rules());
    let key = |name: &str, job: &ClassAd| {
        let slot = pool.slots().iter().find(|slot| *slot.name == *name.as_bytes())?;
        Some(rules.ranking.key(&slot.ad, job, PreemptState::None, &settings))
    };
    let job = |made: &Match| {
        let is_it = |ad: &&ClassAd| {
            let facts = AdReader::of(ad, &settings);
            (facts.integer("ClusterId"), facts.integer("ProcId")) == (Some(made.job.cluster), Some(made.job.process))
        };
        let ad = snapshot.jobs.iter().find(is_it)?;
        Some(pool.job(ad, made.submitter.as_bytes()).ad)
    };
    Ok(different().all(|(one, other)| {
        let keys = job(other).and_then(|job| key(&one.slot, &job).zip(key(&other.slot, &job)));
        one.displaces == other.displaced.is_some() && keys.is_some_and(|(one, other)| one.compare(&other).is_eq())
    }))
}

/// The cause of the differences that no experiment explains: what the record names and the snapshot does not have, slots that
/// are equal, or a setting that is known to make them.
pub(super) fn of_the_rest(
    snapshot: &Snapshot,
    record: &CycleRecord,
    outcome: &Outcome,
    left: &Comparison,
) -> Result<DifferenceCause, ConfigError> {
    let settings = EvalOptions::default();
    let facts = |ad| AdReader::of(ad, &settings);
    let has_slot = |name: &str| {
        snapshot.slots.iter().any(|ad| facts(ad).string("Name").is_some_and(|own| *own == *name.as_bytes()))
    };
    let has_cluster = |cluster: i64| snapshot.jobs.iter().any(|ad| facts(ad).integer("ClusterId") == Some(cluster));
    let has_submitter = |name: &str| outcome.submitters.iter().any(|line| line.submitter == name);
    for party in &left.parties {
        let missing = match &party.slot {
            Some(slot) if !has_slot(slot) => format!("slot {slot}"),
            _ if !has_cluster(party.cluster) => format!("cluster {}", party.cluster),
            _ if !has_submitter(&party.submitter) => format!("submitter {}", party.submitter),
            _ => continue,
        };
        return Ok(DifferenceCause::NotInSnapshot(missing));
    }
    let visited = record.visits.iter().find(|visit| !has_submitter(&visit.submitter));
    if let Some(visit) = visited {
        return Ok(DifferenceCause::NotInSnapshot(format!("submitter {}", visit.submitter)));
    }
    if are_equal(snapshot, record, outcome)? {
        return Ok(DifferenceCause::EqualSlots);
    }
    let of_rejections = |kind: DecisionKind| matches!(kind, DecisionKind::Rejection | DecisionKind::Statistic);
    let all_jobs = snapshot.config.letter("NEGOTIATE_ALL_JOBS_IN_CLUSTER", false)?;
    if all_jobs && left.differences.iter().all(|difference| of_rejections(difference.kind)) {
        return Ok(DifferenceCause::AutoclusterNumbers);
    }
    Ok(DifferenceCause::Unexplained)
}
