//! The cycles that a negotiator publishes in its ad, and the times at which it read its configuration.
//!
//! In: the ad. Out: its last cycles, the latest first, and those that were not in an earlier ad.

use classmate::{ClassAd, EvalOptions};
use classmate_pool::internal::pool::ad_reader::AdReader;

/// Most cycles in an ad (`NEGOTIATION_CYCLE_STATS_LENGTH`).
const MAX_CYCLES: usize = 100;

/// The lists of submitters and access points that the negotiator gave up, with words for the reason.
const GIVEN_UP: [(&str, bool, &str); 3] = [
    ("SubmittersFailed", false, "submitter {}: it could not be negotiated with"),
    ("SubmittersOutOfTime", false, "submitter {}: its time was over"),
    // By `ScheddName` of submitter ads.
    ("ScheddsOutOfTime", true, "access point {}: its time was over"),
];

/// A submitter or an access point that the negotiator gave up in a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Its name.
    pub name: String,
    /// True for an access point.
    pub is_access_point: bool,
    /// The name and the reason.
    pub text: String,
}

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
    /// The submitters and access points that were given up.
    pub given_up: Vec<GivenUp>,
    /// The processor time that it took, which differs from cycle to cycle.
    pub mark: Option<String>,
}

/// The last cycles in the ad of a negotiator, the latest first.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_advice::internal::shadow::published::{PublishedCycle, new_cycles, published_cycles};
/// let earlier = ClassAd::parse(b"[LastNegotiationCycleTime0 = 60; LastNegotiationCycleEnd0 = 61]").unwrap();
/// let ad = ClassAd::parse(
///     b"[LastNegotiationCycleTime0 = 120; LastNegotiationCycleEnd0 = 122; LastNegotiationCycleMatches0 = 7;
///        LastNegotiationCycleSubmittersOutOfTime0 = \"a@x, b@x\"; LastNegotiationCycleTime1 = 60; LastNegotiationCycleEnd1 = 61]",
/// ).unwrap();
/// let (cycles, earlier) = (published_cycles(&ad), published_cycles(&earlier));
/// assert_eq!((cycles.len(), cycles[0].matches, cycles[0].given_up[1].name.as_str()), (2, Some(7), "b@x"));
/// assert_eq!(new_cycles(&earlier, &cycles).0, [cycles[0].clone()]);
/// // The clock of the negotiator was set back before the last one.
/// let back = [PublishedCycle { started: 50, ended: 52, ..cycles[0].clone() }, cycles[1].clone()];
/// assert_eq!(new_cycles(&earlier, &back), (vec![back[0].clone()], false));
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
        for (what, is_access_point, words) in GIVEN_UP {
            for one in list(what).split(',').map(str::trim).filter(|one| !one.is_empty()) {
                let text = words.replace("{}", one);
                given_up.push(GivenUp { name: one.to_owned(), is_access_point, text });
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

/// The times at which a negotiator read its configuration, as its ad shows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NegotiatorTimes {
    /// Its start, epoch seconds.
    pub started: Option<i64>,
    /// Its last reconfiguration, epoch seconds; its start if there was none.
    pub configured: Option<i64>,
}

impl NegotiatorTimes {
    /// The times in the ad of a negotiator.
    pub fn of(ad: &ClassAd) -> Self {
        let settings = EvalOptions::default();
        let time = |name: &str| AdReader::of(ad, &settings).integer(name);
        NegotiatorTimes { started: time("DaemonStartTime"), configured: time("DaemonLastReconfigTime") }
    }

    /// The change from these times to later ones, if it took place by a time on the clock of the negotiator.
    ///
    /// ```
    /// use classmate_advice::internal::shadow::published::NegotiatorTimes;
    /// let times = |started, configured| NegotiatorTimes { started: Some(started), configured: Some(configured) };
    /// let change = |started, configured| times(10, 20).change(times(started, configured), 100);
    /// assert_eq!([change(10, 20), change(10, 100), change(10, 101)], [None, Some("the negotiator was reconfigured"), None]);
    /// assert_eq!([change(90, 90), change(101, 101)], [Some("the negotiator was restarted"), None]);
    /// ```
    pub fn change(self, later: Self, until: i64) -> Option<&'static str> {
        let is_new =
            |before: Option<i64>, after: Option<i64>| before != after && after.is_some_and(|time| time <= until);
        if is_new(self.started, later.started) {
            Some("the negotiator was restarted")
        } else if is_new(self.configured, later.configured) {
            Some("the negotiator was reconfigured")
        } else {
            None
        }
    }
}

/// The cycles that were not in an earlier ad, the earliest first, and true if there may be more that the ad does not have.
pub fn new_cycles(earlier: &[PublishedCycle], now: &[PublishedCycle]) -> (Vec<PublishedCycle>, bool) {
    let known = earlier.first().and_then(|last| now.iter().position(|cycle| cycle == last));
    // Before one that is known all are new, also if the clock was set back.
    let is_later =
        |cycle: &&PublishedCycle| known.is_some() || earlier.first().is_none_or(|last| cycle.started >= last.ended);
    let new = now[..known.unwrap_or(now.len())].iter().filter(is_later);
    let new: Vec<PublishedCycle> = new.rev().cloned().collect();
    let is_cut = known.is_none() && !earlier.is_empty() && !new.is_empty();
    (new, is_cut)
}
