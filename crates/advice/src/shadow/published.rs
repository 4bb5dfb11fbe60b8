//! The cycles that a negotiator publishes in its ad.
//!
//! In: the ad. Out: its last cycles, the latest first, and those that were not in an earlier ad.

use classmate::{ClassAd, EvalOptions};
use classmate_pool::internal::pool::ad_reader::AdReader;

/// Most cycles in an ad (`NEGOTIATION_CYCLE_STATS_LENGTH`).
const MAX_CYCLES: usize = 100;

/// The lists of submitters and access points that the negotiator gave up, with words for the reason.
const GIVEN_UP: [(&str, &str); 3] = [
    ("SubmittersFailed", "submitter {}: it could not be negotiated with"),
    ("SubmittersOutOfTime", "submitter {}: its time was over"),
    ("ScheddsOutOfTime", "access point {}: its time was over"),
];

/// A cycle in the ad of a negotiator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublishedCycle {
    /// Its start, epoch seconds.
    pub started: i64,
    /// Its end, epoch seconds.
    pub ended: i64,
    /// Its matches.
    pub matches: Option<i64>,
    /// Its rejections.
    pub rejections: Option<i64>,
    /// The names of submitters and access points that were given up, with the reason.
    pub given_up: Vec<(String, String)>,
    /// The processor time that it took, which differs from cycle to cycle.
    pub mark: Option<String>,
}

/// The last cycles in the ad of a negotiator, the latest first.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_advice::internal::shadow::published::{new_cycles, published_cycles};
/// let earlier = ClassAd::parse(b"[LastNegotiationCycleTime0 = 60; LastNegotiationCycleEnd0 = 61]").unwrap();
/// let ad = ClassAd::parse(
///     b"[LastNegotiationCycleTime0 = 120; LastNegotiationCycleEnd0 = 122; LastNegotiationCycleMatches0 = 7;
///        LastNegotiationCycleSubmittersOutOfTime0 = \"a@x, b@x\"; LastNegotiationCycleTime1 = 60; LastNegotiationCycleEnd1 = 61]",
/// ).unwrap();
/// let (cycles, earlier) = (published_cycles(&ad), published_cycles(&earlier));
/// assert_eq!((cycles.len(), cycles[0].matches, cycles[0].given_up[1].0.as_str()), (2, Some(7), "b@x"));
/// assert_eq!(new_cycles(&earlier, &cycles).0, [cycles[0].clone()]);
/// ```
pub fn published_cycles(ad: &ClassAd) -> Vec<PublishedCycle> {
    let settings = EvalOptions::default();
    let facts = AdReader::of(ad, &settings);
    let cycle = |number: usize| {
        let name = |what: &str| format!("LastNegotiationCycle{what}{number}");
        let integer = |what: &str| facts.integer(name(what).as_str());
        let list = |what: &str| {
            let text = facts.string(name(what).as_str()).map(|text| String::from_utf8_lossy(&text).into_owned());
            text.unwrap_or_default()
        };
        let mut given_up = Vec::new();
        for (what, words) in GIVEN_UP {
            for one in list(what).split(',').map(str::trim).filter(|one| !one.is_empty()) {
                given_up.push((one.to_owned(), words.replace("{}", one)));
            }
        }
        Some(PublishedCycle {
            started: integer("Time")?,
            ended: integer("End")?,
            matches: integer("Matches"),
            rejections: integer("Rejections"),
            given_up,
            mark: ad.get(name("CpuTime").as_str()).map(|time| time.to_string()),
        })
    };
    (0..MAX_CYCLES).map_while(cycle).collect()
}

/// The cycles that were not in an earlier ad, the earliest first, and true if there may be more that the ad does not have.
pub fn new_cycles(earlier: &[PublishedCycle], now: &[PublishedCycle]) -> (Vec<PublishedCycle>, bool) {
    let known = earlier.first().and_then(|last| now.iter().position(|cycle| cycle == last));
    let is_later = |cycle: &&PublishedCycle| earlier.first().is_none_or(|last| cycle.started >= last.ended);
    let new = now[..known.unwrap_or(now.len())].iter().filter(is_later);
    let new: Vec<PublishedCycle> = new.rev().cloned().collect();
    let is_cut = known.is_none() && !earlier.is_empty() && !new.is_empty();
    (new, is_cut)
}
