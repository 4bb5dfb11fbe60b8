//! The statistics of a cycle as the negotiator's ad publishes them.
//!
//! In: an outcome and the clock. Out: the attributes `LastNegotiationCycle…0`. Source: `docs/reference/negotiation.md` 15.1.

use crate::negotiate::Outcome;
use classmate::internal::ad::ClassAd;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// The ad of a negotiator whose latest cycle had this outcome; `now` is the start and the end of the cycle, epoch
/// seconds.
///
/// Without `statistics` (`NEGOTIATION_CYCLE_STATS_LENGTH = 0`), the ad has no attributes about the cycle.
///
/// A cycle here takes no time, so durations, CPU times and rates are 0, as they are in a small pool, and no submitter
/// or access point runs out of time. `SlotShareIter` is 0, as in `condor_negotiator`, which never counts the rounds.
///
/// ```
/// use classmate_pool::internal::negotiate::{Outcome, advertisement::advertisement};
/// let ad = advertisement(&Outcome::default(), 1_795_214_106, true);
/// assert_eq!(ad.get("LastNegotiationCycleMatches0").unwrap().to_string(), "0");
/// ```
pub fn advertisement(outcome: &Outcome, now: i64, statistics: bool) -> ClassAd {
    let counts = &outcome.statistics;
    let int = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let names = |names: &[String]| Value::Str(Text::new(names.join(", ")));
    let (none, zero) = (Value::Int(0), Value::Real(0.0));
    let mut ad = ClassAd::new();
    ad.insert("MyType", "Negotiator");
    if !statistics {
        return ad;
    }
    for (name, value) in [
        ("Time", Value::Int(now)),
        ("End", Value::Int(now)),
        ("Period", none.clone()),
        ("Duration", none.clone()),
        ("Phase1Duration", none.clone()),
        ("Phase2Duration", none.clone()),
        ("Phase3Duration", none.clone()),
        ("Phase4Duration", none.clone()),
        ("CpuTime", zero.clone()),
        ("Phase1CpuTime", zero.clone()),
        ("Phase2CpuTime", zero.clone()),
        ("Phase3CpuTime", zero.clone()),
        ("Phase4CpuTime", zero.clone()),
        ("PrefetchDuration", none.clone()),
        ("PrefetchCpuTime", zero.clone()),
        ("TotalSlots", int(counts.total_slots)),
        ("TrimmedSlots", int(counts.trimmed_slots)),
        ("CandidateSlots", int(counts.candidate_slots)),
        ("SlotShareIter", none),
        ("NumSchedulers", int(counts.schedulers)),
        ("ActiveSubmitterCount", int(counts.active_submitters)),
        ("NumIdleJobs", Value::Int(counts.idle_jobs)),
        ("NumJobsConsidered", Value::Int(i64::try_from(counts.jobs_considered).unwrap_or(i64::MAX))),
        ("Matches", int(counts.matches)),
        ("Rejections", int(counts.rejections)),
        ("MatchRate", zero.clone()),
        ("MatchRateSustained", zero),
        ("Pies", Value::Int(i64::from(counts.pies))),
        ("PieSpins", int(counts.pie_spins)),
        ("ScheddsOutOfTime", names(&[])),
        ("SubmittersFailed", names(&[])),
        ("SubmittersOutOfTime", names(&[])),
        ("SubmittersShareLimit", names(&counts.submitters_share_limit)),
    ] {
        ad.insert(format!("LastNegotiationCycle{name}0").as_str(), value);
    }
    ad
}
