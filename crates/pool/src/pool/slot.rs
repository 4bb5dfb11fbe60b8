//! A slot as the negotiator sees it: its ad, and the values that are needed of every slot.
//!
//! Formula source: `docs/reference/negotiation.md` 1, 4.2, 9.2.

use std::sync::LazyLock;

use crate::pool::ad_reader::AdReader;
use crate::pool::address::Protocols;
use crate::pool::consumption::Consumption;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::{Expr, Node};
use classmate::internal::text::Text;
use classmate::internal::threads;
use classmate::internal::value::Value;

/// The state of a slot, as far as the negotiator distinguishes states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Runs no job and is offered.
    Unclaimed,
    /// Matched, not yet claimed.
    Matched,
    /// Claimed by an access point.
    Claimed,
    /// Being vacated.
    Preempting,
    /// Anything else: used by its owner, drained, running backfill.
    Other,
}

impl State {
    /// The state with this name in HTCondor, in any case.
    pub fn named(name: &[u8]) -> Self {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("Unclaimed") {
            Self::Unclaimed
        } else if is("Matched") {
            Self::Matched
        } else if is("Claimed") {
            Self::Claimed
        } else if is("Preempting") {
            Self::Preempting
        } else {
            Self::Other
        }
    }
}

/// The weights of slots.
#[derive(Debug, Clone)]
pub struct Weighing {
    /// True if slots count by weight; otherwise every slot weighs 1.
    pub weighted: bool,
    /// `SLOT_WEIGHT`: the weight of slots whose `SlotWeight` is not a number. `None`: such slots weigh 1.
    pub default: Option<Expr>,
    /// True if the default overrides the `SlotWeight` of every slot.
    pub forced: bool,
}

// Attributes that are read from every slot.
static NAME: LazyLock<Name> = LazyLock::new(|| Name::new("Name"));
static MY_TYPE: LazyLock<Name> = LazyLock::new(|| Name::new("MyType"));
static NEGOTIATOR_REQUIREMENTS: LazyLock<Name> = LazyLock::new(|| Name::new("NegotiatorRequirements"));
/// The Requirements that replace those of a slot: a reference, so that explanations name the attribute with the conditions.
static BY_NAME: LazyLock<Option<Expr>> = LazyLock::new(|| "MY.NegotiatorRequirements".parse().ok());
static SAVED_REQUIREMENTS: LazyLock<Name> = LazyLock::new(|| Name::new("SavedRequirements"));
static REQUIREMENTS: LazyLock<Name> = LazyLock::new(|| Name::new("Requirements"));
static MACHINE_MATCH_COUNT: LazyLock<Name> = LazyLock::new(|| Name::new("MachineMatchCount"));
static OFFLINE_MATCHES: LazyLock<Name> = LazyLock::new(|| Name::new("OfflineMatches"));
static SLOT_WEIGHT: LazyLock<Name> = LazyLock::new(|| Name::new("SlotWeight"));
static STATE: LazyLock<Name> = LazyLock::new(|| Name::new("State"));
static ACTIVITY: LazyLock<Name> = LazyLock::new(|| Name::new("Activity"));
static ACCOUNTING_GROUP: LazyLock<Name> = LazyLock::new(|| Name::new("AccountingGroup"));
static REMOTE_USER: LazyLock<Name> = LazyLock::new(|| Name::new("RemoteUser"));
static PREEMPTING_ACCOUNTING_GROUP: LazyLock<Name> = LazyLock::new(|| Name::new("PreemptingAccountingGroup"));
static PREEMPTING_USER: LazyLock<Name> = LazyLock::new(|| Name::new("PreemptingUser"));
static GHOST_MULTIPLIER: LazyLock<Name> = LazyLock::new(|| Name::new("GhostMultiplier"));
static PARTITIONABLE_SLOT: LazyLock<Name> = LazyLock::new(|| Name::new("PartitionableSlot"));
static REMOTE_SCHEDD_NAME: LazyLock<Name> = LazyLock::new(|| Name::new("RemoteScheddName"));
static MY_ADDRESS: LazyLock<Name> = LazyLock::new(|| Name::new("MyAddress"));
static STARTD_IP_ADDR: LazyLock<Name> = LazyLock::new(|| Name::new("StartdIpAddr"));
static WANT_AD_REVALUATE: LazyLock<Name> = LazyLock::new(|| Name::new("WantAdRevaluate"));
static WANT_CLAIMING: LazyLock<Name> = LazyLock::new(|| Name::new("WantClaiming"));
static OFFLINE: LazyLock<Name> = LazyLock::new(|| Name::new("Offline"));
static RANK: LazyLock<Name> = LazyLock::new(|| Name::new("Rank"));
static CURRENT_RANK: LazyLock<Name> = LazyLock::new(|| Name::new("CurrentRank"));
static CONCURRENCY_LIMITS: LazyLock<Name> = LazyLock::new(|| Name::new("ConcurrencyLimits"));
static CLAIM_ID_LIST: LazyLock<Name> = LazyLock::new(|| Name::new("ClaimIdList"));
static CLAIM_ID: LazyLock<Name> = LazyLock::new(|| Name::new("ClaimId"));
static NUM_CLAIMS: LazyLock<Name> = LazyLock::new(|| Name::new("NumClaims"));

/// Attributes that few slots have, and that are looked at after each match.
static SPECIAL: [&LazyLock<Name>; 7] =
    [&OFFLINE, &WANT_CLAIMING, &SAVED_REQUIREMENTS, &CONCURRENCY_LIMITS, &CLAIM_ID_LIST, &CLAIM_ID, &NUM_CLAIMS];

/// A slot.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Slot {
    /// The ad, with the requirements and weight that matchmaking uses.
    pub ad: ClassAd,
    /// `Name`.
    pub name: Text,
    /// `State`.
    pub state: State,
    /// True if its activity is `Suspended`.
    pub suspended: bool,
    /// Slot weight, not negative.
    pub weight: f64,
    /// `GhostMultiplier`, or 1: the factor of its weight in the size of the pool.
    pub ghosts: f64,
    /// True if dynamic slots can be carved from it.
    pub partitionable: bool,
    /// The accounting group or user that a match would preempt: that of the job that preempts the running one, or else
    /// of the running one.
    pub user: Option<Text>,
    /// The submitter that its usage is charged to.
    pub charged: Option<Text>,
    /// Its consumption policy, if it has one.
    pub consumption: Option<Consumption>,
    /// `RemoteScheddName`: the access point that has claimed it as a whole.
    pub claimed_by: Option<Text>,
    /// The Internet protocols by which it can be reached.
    pub protocols: Protocols,
    /// `WantAdRevaluate`: after a match the slot stays, at the end of the list.
    pub stays: bool,
    rank: RankTest,
    /// False if it has none of the attributes that only few slots have and that are looked at after each match.
    special: bool,
}

/// The test of the access point that the slot ranks a job at least as high as the one it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RankTest {
    /// Any job passes: a `Rank` that is the same for all jobs is not below `CurrentRank`.
    Passed,
    /// The rank of the job decides.
    ByJob,
}

/// Number of attributes for which room is reserved: the number of matches, and one that the configuration adds. Most
/// slots get no more.
const ADDED: usize = 2;

/// Copies slot ads, with room for the attributes that the negotiator adds.
pub fn copies(ads: &[ClassAd]) -> Vec<ClassAd> {
    threads::map_all(ads, |ad| ad.copy_with_room(ADDED))
}

impl Slot {
    /// Reads a slot ad; `None` if it does not have a name.
    ///
    /// `NegotiatorRequirements` replaces `Requirements`; a weight that is not a number is replaced by the default.
    pub fn new(mut ad: ClassAd, weighing: &Weighing, settings: &EvalOptions) -> Option<Self> {
        let name = AdReader::of(&ad, settings).string(*NAME)?;
        if let Some(by_name) = BY_NAME.as_ref().filter(|_| ad.contains(*NEGOTIATOR_REQUIREMENTS)) {
            if let Some(saved) = ad.get(*REQUIREMENTS) {
                ad.insert_expr(*SAVED_REQUIREMENTS, &saved);
            }
            ad.insert_expr(*REQUIREMENTS, by_name);
        }
        ad.reserve(ADDED);
        ad.insert(*MACHINE_MATCH_COUNT, 0i64);
        ad.remove(*OFFLINE_MATCHES);
        if let Some(default) = &weighing.default
            && (weighing.forced || AdReader::of(&ad, settings).number(*SLOT_WEIGHT).is_none())
        {
            ad.insert_expr(*SLOT_WEIGHT, default);
        }
        let facts = AdReader::of(&ad, settings);
        let state = facts.string(*STATE).map_or(State::Other, |state| State::named(&state));
        let suspended = facts.string(*ACTIVITY).is_some_and(|a| a.eq_ignore_ascii_case(b"Suspended"));
        let group = facts.string(*ACCOUNTING_GROUP);
        let user = facts.string(*REMOTE_USER);
        let charged = group.clone().or_else(|| user.clone());
        let preemptor = facts.string(*PREEMPTING_ACCOUNTING_GROUP).or_else(|| facts.string(*PREEMPTING_USER));
        let consumption = Consumption::of(&ad, settings);
        let user = preemptor.or(group).or(user);
        let lasting_rank = || match ad.constant(*RANK) {
            // `CurrentRank` of a slot in use may be replaced.
            None if user.is_none() && ad.get(*RANK).is_some_and(|rank| is_of_constants(&rank)) => {
                Some(facts.value(*RANK))
            }
            constant => constant,
        };
        let passed = consumption.is_none()
            && lasting_rank().is_some_and(|rank| is_enough(Some(&rank), facts.number(*CURRENT_RANK)));
        Some(Self {
            rank: if passed { RankTest::Passed } else { RankTest::ByJob },
            special: consumption.is_some() || SPECIAL.iter().any(|name| ad.contains(***name)),
            state,
            suspended,
            weight: weight(facts, weighing.weighted),
            ghosts: facts.integer(*GHOST_MULTIPLIER).unwrap_or(1) as f64,
            partitionable: facts.truth(*PARTITIONABLE_SLOT) == Some(true),
            user,
            charged,
            consumption,
            claimed_by: facts.string(*REMOTE_SCHEDD_NAME),
            protocols: {
                let address = facts.string(*MY_ADDRESS).or_else(|| facts.string(*STARTD_IP_ADDR));
                Protocols::of(address.as_deref().unwrap_or_default())
            },
            stays: facts.truth(*WANT_AD_REVALUATE) == Some(true),
            name,
            ad,
        })
    }

    /// Returns whether it is offline: a match only wakes it.
    pub fn is_offline(&self, settings: &EvalOptions) -> bool {
        AdReader::of(&self.ad, settings).truth(*OFFLINE) == Some(true)
    }

    /// Returns whether a match hands out no claim, so that the access point does not use it: the slot is offline, or its
    /// `WantClaiming` is false.
    pub fn is_without_claim(&self, settings: &EvalOptions) -> bool {
        let refuses_claims = || AdReader::of(&self.ad, settings).truth(*WANT_CLAIMING) == Some(false);
        self.special && (self.is_offline(settings) || refuses_claims())
    }

    /// Returns whether the access point accepts the slot for a job that is equal to the one it was matched for.
    pub fn suits_equal_job(&self, job: &ClassAd, settings: &EvalOptions) -> bool {
        if self.special && self.ad.contains(*SAVED_REQUIREMENTS) {
            return self.suits_other_job(job, job, settings);
        }
        self.rank_is_enough(job, settings)
    }

    /// Returns whether the access point accepts the slot for another job than the one it was matched for: both accept
    /// each other, the slot ranks the job at least as high as the one it runs, and the job has the concurrency limits
    /// of the request.
    pub fn suits_other_job(&self, job: &ClassAd, requested: &ClassAd, settings: &EvalOptions) -> bool {
        let limits = |job: &ClassAd| Self::limits_in(&self.ad, job, settings).map(|text| text.to_ascii_lowercase());
        if limits(job).unwrap_or_default() != limits(requested).unwrap_or_default()
            || !self.rank_is_enough(job, settings)
        {
            return false;
        }
        match self.ad.get(*SAVED_REQUIREMENTS) {
            None => symmetric(job, &self.ad, settings),
            Some(requirements) => {
                let mut sent = self.ad.clone();
                sent.insert_expr(*REQUIREMENTS, &requirements);
                symmetric(job, &sent, settings)
            }
        }
    }

    fn rank_is_enough(&self, job: &ClassAd, settings: &EvalOptions) -> bool {
        if self.rank == RankTest::Passed {
            return true;
        }
        let current = AdReader::of(&self.ad, settings).number(*CURRENT_RANK);
        current.is_none()
            || is_enough(Scope::new(&self.ad, settings).with_target(job).eval_attr(*RANK).ok().as_ref(), current)
    }

    /// The concurrency limits of a job in a slot with this ad: its own, or those that the slot holds already if the job has none,
    /// because `condor_negotiator` evaluates the attribute in the job, or else in the slot. `None` if the value is not
    /// a string.
    pub fn limits_in(slot: &ClassAd, job: &ClassAd, settings: &EvalOptions) -> Option<Text> {
        let limits = *CONCURRENCY_LIMITS;
        let (ad, other) = if job.contains(limits) { (job, slot) } else { (slot, job) };
        if !ad.contains(limits) {
            return None;
        }
        match Scope::new(ad, settings).with_target(other).eval_attr(limits) {
            Ok(Value::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether a match with a job holds no concurrency limits, because neither has any.
    pub fn is_unlimited_for(&self, job: &ClassAd) -> bool {
        !self.special && !job.contains(*CONCURRENCY_LIMITS)
    }

    /// Number of claims; `None` if the ad does not have it. Public ads have no claims; those of slots with a consumption policy
    /// have their number.
    pub fn claims(&self, settings: &EvalOptions) -> Option<usize> {
        if !self.special {
            return None;
        }
        let facts = AdReader::of(&self.ad, settings);
        let separators = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        match facts.string(*CLAIM_ID_LIST) {
            Some(list) => Some(list.split(separators).filter(|claim| !claim.is_empty()).count()),
            None if self.ad.contains(*CLAIM_ID) => Some(1),
            None => facts.integer(*NUM_CLAIMS).map(|count| usize::try_from(count).unwrap_or(0)),
        }
    }

    /// Returns whether its state is `Claimed` or `Preempting`: a match would preempt its job.
    pub fn is_in_use(&self) -> bool {
        matches!(self.state, State::Claimed | State::Preempting)
    }

    /// Returns whether it is a partitionable slot that another access point has claimed as a whole.
    pub fn is_elsewhere(&self, schedd: &[u8]) -> bool {
        self.partitionable && self.claimed_by.as_ref().is_some_and(|owner| **owner != *schedd)
    }

    /// Puts the Requirements that `NegotiatorRequirements` replaced back into the ad, as a match does: a slot that is not used
    /// up has them from then on.
    pub fn restore_requirements(&mut self) {
        if let Some(saved) = self.ad.get(*SAVED_REQUIREMENTS) {
            self.ad.insert_expr(*REQUIREMENTS, &saved);
        }
    }

    /// Subtracts what a match takes by the consumption policy, and computes the weight of the slot again.
    pub fn deduct(&mut self, amounts: &[f64], weighing: &Weighing, settings: &EvalOptions) {
        if let Some(consumption) = &self.consumption {
            consumption.deduct(&mut self.ad, amounts, settings);
            self.weight = weight(AdReader::of(&self.ad, settings), weighing.weighted);
        }
    }
}

/// Returns whether the rank of a job is at least that of the job that runs; what is not a number is not compared.
fn is_enough(rank: Option<&Value>, current: Option<f64>) -> bool {
    rank.and_then(Value::as_number).zip(current).is_none_or(|(rank, current)| rank >= current)
}

/// Returns whether an expression has the same value everywhere: it is made of constants and operators.
fn is_of_constants(expr: &Expr) -> bool {
    let is_constant = |node: &Node| {
        matches!(
            node,
            Node::Literal(_) | Node::Paren(_) | Node::Unary(..) | Node::Binary(..) | Node::Conditional { .. }
        )
    };
    expr.nodes().iter().all(is_constant)
}

/// Returns whether an ad counts as a slot ad: its `MyType` is `Machine` or `Slot`, or is not a constant string.
pub fn is_slot(ad: &ClassAd) -> bool {
    match ad.constant(*MY_TYPE) {
        Some(Value::Str(kind)) => [&b"Machine"[..], b"Slot"].iter().any(|known| kind.eq_ignore_ascii_case(known)),
        _ => true,
    }
}

/// The weight of a slot: 1 if slots are not weighted, or if its weight is missing, not a number, negative or infinite.
pub(crate) fn weight(facts: AdReader<'_>, weighted: bool) -> f64 {
    let said = if weighted { facts.number(*SLOT_WEIGHT) } else { None };
    said.filter(|weight| *weight >= 0.0 && weight.is_finite()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn slot_weighed(ad: &str, weighted: bool, forced: bool) -> Slot {
        let default = Some(parse_expr(b"Cpus", &ParseOptions::default()).unwrap());
        let weighing = Weighing { weighted, default, forced };
        Slot::new(ClassAd::parse(ad.as_bytes()).unwrap(), &weighing, &EvalOptions::default()).unwrap()
    }

    fn slot(ad: &str) -> Slot {
        slot_weighed(ad, true, false)
    }

    #[test]
    fn weights_come_from_the_slot_then_from_the_negotiator() {
        assert_eq!(slot("[Name = \"a\"; Cpus = 4; SlotWeight = Cpus * 2]").weight, 8.0);
        assert_eq!(slot("[Name = \"a\"; Cpus = 4]").weight, 4.0);
        assert_eq!(slot("[Name = \"a\"; Cpus = 4; SlotWeight = \"x\"]").weight, 4.0);
        assert_eq!(slot("[Name = \"a\"; Cpus = 4; SlotWeight = -1]").weight, 1.0);
        assert_eq!(slot("[Name = \"a\"]").weight, 1.0);
        assert_eq!(slot_weighed("[Name = \"a\"; Cpus = 4; SlotWeight = 9]", false, false).weight, 1.0);
        assert_eq!(slot_weighed("[Name = \"a\"; Cpus = 4; SlotWeight = 9]", true, true).weight, 4.0);
    }

    #[test]
    fn negotiator_requirements_replace_the_slots_own() {
        let slot = slot("[Name = \"a\"; Requirements = A; NegotiatorRequirements = B]");
        assert_eq!(slot.ad.get("Requirements").unwrap().to_string(), "MY.NegotiatorRequirements");
        assert_eq!(slot.ad.get("SavedRequirements").unwrap().to_string(), "A");
    }

    #[test]
    fn the_preemptor_comes_before_the_user_but_the_user_is_charged() {
        let slot = slot(
            "[Name = \"a\"; State = \"Preempting\"; RemoteUser = \"u\"; AccountingGroup = \"g.u\"; PreemptingUser = \"p\"]",
        );
        assert_eq!((slot.user.unwrap(), slot.charged.unwrap()), (Text::from("p"), Text::from("g.u")));
    }

    #[test]
    fn a_slot_without_a_name_is_none() {
        let weighing = Weighing { weighted: true, default: None, forced: false };
        assert!(Slot::new(ClassAd::new(), &weighing, &EvalOptions::default()).is_none());
    }
}
