//! The rules of preemption, and the attributes of slots in use that describe their users.
//!
//! In: a slot in use and a request. Out: the ground on which the request may preempt, or the reason it may not.
//! Formula source: `docs/reference/negotiation.md` 9.2, 10.3, 10.4.

use std::sync::{Arc, RwLock};

use hashbrown::HashMap;

use crate::accountant::GroupOf;
use crate::negotiate::candidate::PreemptState;
use crate::negotiate::outcome::Tally;
use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use crate::pool::trim::Trim;
use crate::priority::PriorityPolicy;
use crate::quota::GroupTree;
use classmate::internal::ad::ClassAd;
use classmate::internal::builtin::in_use::Usage;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::text::Text;
use classmate::internal::value::Value;
use classmate_config::internal::config::{ConfigError, Diagnostic};

/// The conditions under which a job may preempt another.
#[derive(Debug, Clone)]
pub struct Preemption {
    /// `PREEMPTION_REQUIREMENTS`; `None`: always true.
    pub requirements: Option<Expr>,
    /// `MY.Rank > MY.CurrentRank`, evaluated in the slot.
    pub prefers: Expr,
    /// `MY.Rank >= MY.CurrentRank`, evaluated in the slot.
    pub likes_as_well: Expr,
}

/// The reason a request may not preempt the job of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreemptionRefusal {
    /// The slot runs a job of the same submitter and does not prefer this one.
    SameSubmitter,
    /// Only slots that prefer the job are permitted.
    NotPreferred,
    /// `PREEMPTION_REQUIREMENTS` is not true.
    Requirements,
    /// The slot's `Rank` of the job is not at least its `CurrentRank`.
    Rank,
}

impl Preemption {
    /// The rules with this `PREEMPTION_REQUIREMENTS`.
    ///
    /// # Errors
    /// None is expected: the other expressions are fixed.
    pub fn new(requirements: Option<Expr>) -> Result<Self, ConfigError> {
        let fixed = |text: &str| {
            parse_expr(text.as_bytes(), &ParseOptions::default())
                .map_err(|error| Diagnostic::without_place(format!("`{text}`: {error}")))
        };
        Ok(Self {
            requirements,
            prefers: fixed("MY.Rank > MY.CurrentRank")?,
            likes_as_well: fixed("MY.Rank >= MY.CurrentRank")?,
        })
    }

    /// The ground on which a request of `submitter` may preempt a job of `user`; see [`ground`].
    ///
    /// # Errors
    /// The reason it may not.
    pub fn verdict(
        &self,
        slot: &ClassAd,
        request: &ClassAd,
        (user, submitter): (&[u8], &[u8]),
        only_preferring: bool,
        settings: &EvalOptions,
    ) -> Result<PreemptState, PreemptionRefusal> {
        let is_true = |expr: &Expr| is_true(expr, slot, request, settings);
        let is_required = || self.is_required(slot, request, settings);
        let tests = PreemptionTests { is_required, likes_as_well: || is_true(&self.likes_as_well) };
        ground(is_true(&self.prefers), only_preferring, || user == submitter, tests)
    }

    /// Returns whether `PREEMPTION_REQUIREMENTS` is true for a slot and a request, or not set.
    pub fn is_required(&self, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> bool {
        self.requirements.as_ref().is_none_or(|expr| is_true(expr, slot, request, settings))
    }
}

/// The tests of preemption by priority.
pub(super) struct PreemptionTests<R, L> {
    /// Returns whether `PREEMPTION_REQUIREMENTS` is true, or not set.
    pub(super) is_required: R,
    /// Returns whether the slot ranks the job as high as the one it runs.
    pub(super) likes_as_well: L,
}

/// The ground on which a request may preempt the job of a slot: the slot prefers the new job, or its user has a worse
/// priority. With `only_preferring`, only the first is permitted.
///
/// # Errors
/// The reason it may not.
pub(super) fn ground(
    prefers: bool,
    only_preferring: bool,
    is_own: impl FnOnce() -> bool,
    tests: PreemptionTests<impl FnOnce() -> bool, impl FnOnce() -> bool>,
) -> Result<PreemptState, PreemptionRefusal> {
    if prefers {
        Ok(PreemptState::Rank)
    } else if only_preferring {
        Err(PreemptionRefusal::NotPreferred)
    } else if is_own() {
        Err(PreemptionRefusal::SameSubmitter)
    } else if !(tests.is_required)() {
        Err(PreemptionRefusal::Requirements)
    } else if !(tests.likes_as_well)() {
        Err(PreemptionRefusal::Rank)
    } else {
        Ok(PreemptState::Priority)
    }
}

impl PreemptionRefusal {
    /// The count of a tally to which slots that are refused for this reason are added.
    pub(super) fn count_in(self, tally: &mut Tally) -> &mut usize {
        match self {
            Self::SameSubmitter => &mut tally.used_by_submitter,
            Self::NotPreferred => &mut tally.beyond_share,
            Self::Requirements => &mut tally.preemption_not_required,
            Self::Rank => &mut tally.prefers_its_job,
        }
    }
}

/// Returns whether an expression is the boolean `true` for a slot and a request; numbers do not count.
fn is_true(expr: &Expr, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> bool {
    matches!(Scope::new(slot, settings).with_target(request).eval(expr), Ok(Value::Bool(true)))
}

/// The groups and their quotas at the start of a cycle, as slot ads show them.
#[derive(Debug)]
pub struct KnownQuotas {
    /// The groups.
    pub tree: Arc<GroupTree>,
    /// The quota of each, in weighted slots.
    pub quotas: Vec<f64>,
}

/// Current usage of submitters and groups in weighted slots, matches of the cycle included.
#[derive(Debug)]
pub struct LiveUsage {
    users: RwLock<HashMap<Box<[u8]>, f64>>,
    groups: Option<Arc<KnownQuotas>>,
}

impl LiveUsage {
    /// The usage of submitters and groups at the beginning.
    pub fn new(users: &[(&[u8], f64)], groups: Option<Arc<KnownQuotas>>) -> Self {
        let users = users.iter().map(|(name, usage)| ((*name).into(), *usage)).collect();
        Self { users: RwLock::new(users), groups }
    }

    /// Sets the usage of a submitter or group, in weighted slots.
    pub fn set(&self, name: &[u8], usage: f64) {
        if let Ok(mut users) = self.users.write() {
            match users.get_mut(name) {
                Some(known) => *known = usage,
                None => {
                    users.insert(name.into(), usage);
                }
            }
        }
    }
}

impl Usage for LiveUsage {
    fn of_submitter(&self, submitter: &[u8]) -> f64 {
        self.users.read().ok().and_then(|users| users.get(submitter).copied()).unwrap_or(0.0)
    }

    fn of_group(&self, submitter: &[u8]) -> Option<f64> {
        Some(self.of_submitter(self.groups.as_ref()?.tree.group_of(submitter)))
    }
}

/// Adds attributes to the ad of each slot in use: priority, floor, usage and group of its user.
///
/// Values that change during a cycle are expressions, so that each evaluation gives the current value.
pub struct SlotAnnotator<'a> {
    /// Priorities and floors.
    pub policy: &'a dyn PriorityPolicy,
    /// Group quotas, if there are any.
    pub groups: Option<&'a KnownQuotas>,
    /// `STARTD_RESOURCE_PREFIX` if `NEGOTIATOR_CROSS_SLOT_PRIOS` is true: the users of the other slots of the machine
    /// are added, too.
    pub siblings: Option<&'a [u8]>,
    /// Clock and seed.
    pub settings: &'a EvalOptions,
    /// The slots that the configuration leaves out, whose users the negotiator does not look up.
    pub trim: &'a Trim,
    /// The attributes of slots in use, by user.
    pub known: HashMap<Box<[u8]>, ClassAd>,
    /// The priorities that the first slot of each user shows, if they are not those of the others.
    pub first: HashMap<Box<[u8]>, f64>,
}

impl SlotAnnotator<'_> {
    /// Writes the `Remote…` attributes of a slot.
    pub fn of(&mut self, slot: &mut Slot) {
        if let Some(user) = slot.user.as_deref() {
            if !self.known.contains_key(user) {
                let mut attributes = ClassAd::new();
                self.user(&mut attributes, b"", user);
                attributes.insert("RemoteUserFloor", self.policy.standing(user).floor);
                self.known.insert(user.into(), attributes);
                self.first.extend(self.policy.first_priority(user).map(|first| (user.into(), first)));
            }
            slot.ad.update(&self.known[user]);
            if self.first.contains_key(user)
                && self.trim.keeps(slot, self.settings)
                && let Some(first) = self.first.remove(user)
            {
                slot.ad.insert("RemoteUserPrio", f64::from(first as f32));
            }
            if let Some(rank) = slot.ad.get("PreemptingRank") {
                slot.ad.insert_expr("CurrentRank", &rank);
            }
        }
        if let Some(prefix) = self.siblings {
            for (number, user) in siblings(&slot.ad, prefix, self.settings) {
                let prefix = [prefix, number.to_string().as_bytes(), b"_"].concat();
                self.user(&mut slot.ad, &prefix, &user);
            }
        }
    }

    fn user(&self, ad: &mut ClassAd, prefix: &[u8], user: &[u8]) {
        let named = |name: &str| Name::new([prefix, name.as_bytes()].concat());
        // `condor_negotiator` keeps it in single precision.
        ad.insert(named("RemoteUserPrio"), f64::from(self.policy.standing(user).priority as f32));
        if let Some(usage) = usage_of("ResourcesInUseByUser", user) {
            ad.insert_expr(named("RemoteUserResourcesInUse"), &usage);
        }
        let Some(KnownQuotas { tree, quotas }) = self.groups else { return };
        let group = tree.of(user);
        ad.insert(named("RemoteGroup"), Value::Str(Text::new(&tree.groups()[group].name)));
        if let Some(usage) = usage_of("ResourcesInUseByUsersGroup", user) {
            ad.insert_expr(named("RemoteGroupResourcesInUse"), &usage);
        }
        ad.insert(named("RemoteGroupQuota"), quotas[group]);
    }
}

/// A call of a function that returns current usage.
fn usage_of(function: &str, user: &[u8]) -> Option<Expr> {
    let user = Value::Str(Text::new(user));
    parse_expr(format!("{function}({user})").as_bytes(), &ParseOptions::default()).ok()
}

/// The users of the slots of the machine, where the slot's ad names them: slot number and user.
fn siblings(ad: &ClassAd, prefix: &[u8], settings: &EvalOptions) -> Vec<(i64, Text)> {
    let facts = AdReader::of(ad, settings);
    let slots = facts.integer("TotalSlots").unwrap_or(0);
    let mut numbers: Vec<i64> = ad
        .names()
        .filter_map(|name| {
            let (own, rest) = name.as_bytes().split_at_checked(prefix.len())?;
            let digits = &rest[..memchr::memchr(b'_', rest)?];
            let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
            (own.eq_ignore_ascii_case(prefix) && (1..=slots).contains(&number)).then_some(number)
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let user = |number: i64| {
        let of = ["PreemptingAccountingGroup", "PreemptingUser", "AccountingGroup", "RemoteUser"];
        let named = |name: &str| Name::new([prefix, format!("{number}_{name}").as_bytes()].concat());
        of.iter().find_map(|name| facts.string(named(name)))
    };
    numbers.into_iter().filter_map(|number| Some((number, user(number)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::factor::FactorRules;
    use crate::accountant::{Accountant, Ungrouped};
    use crate::pool::slot::Weighing;
    use crate::priority::CondorPriority;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    fn ground(
        requirements: &str,
        slot: &str,
        submitter: &str,
        only_preferring: bool,
    ) -> Result<PreemptState, PreemptionRefusal> {
        let parsed = |text: &str| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let requirements = (!requirements.is_empty()).then(|| parsed(requirements));
        let (slot, settings) = (ClassAd::parse(slot.as_bytes()).unwrap(), EvalOptions::default());
        let request = ClassAd::parse(b"[Dept = 1]").unwrap();
        let users = (b"eve@x".as_slice(), submitter.as_bytes());
        Preemption::new(requirements).unwrap().verdict(&slot, &request, users, only_preferring, &settings)
    }

    const PREFERS: &str = "[Rank = TARGET.Dept * 5; CurrentRank = 4]";
    const EQUAL: &str = "[Rank = 0; CurrentRank = 0.0]";

    #[test]
    fn a_slot_that_prefers_the_job_may_be_had_whatever_else_holds() {
        for (submitter, only_preferring) in [("a@x", false), ("a@x", true), ("eve@x", false)] {
            assert_eq!(ground("false", PREFERS, submitter, only_preferring), Ok(PreemptState::Rank));
        }
    }

    #[test]
    fn priority_needs_the_requirements_true_and_a_rank_not_worse() {
        assert_eq!(ground("true", EQUAL, "a@x", false), Ok(PreemptState::Priority));
        assert_eq!(ground("", EQUAL, "a@x", false), Ok(PreemptState::Priority));
        for other in ["false", "Missing", "1/0", "1"] {
            assert_eq!(ground(other, EQUAL, "a@x", false), Err(PreemptionRefusal::Requirements), "{other}");
        }
        assert_eq!(ground("true", "[Rank = 0; CurrentRank = 1]", "a@x", false), Err(PreemptionRefusal::Rank));
        // Without both ranks neither comparison is true.
        assert_eq!(ground("true", "[Rank = 9]", "a@x", false), Err(PreemptionRefusal::Rank));
    }

    #[test]
    fn ones_own_job_is_displaced_by_rank_only() {
        assert_eq!(ground("true", EQUAL, "eve@x", false), Err(PreemptionRefusal::SameSubmitter));
        assert_eq!(ground("true", EQUAL, "EVE@x", false), Ok(PreemptState::Priority));
        assert_eq!(ground("true", EQUAL, "a@x", true), Err(PreemptionRefusal::NotPreferred));
    }

    /// A slot after the introduction, with eve using 3 weighted slots at priority 0.5 × 1000.
    fn introduced(ad: &str, siblings: Option<&[u8]>) -> (Slot, EvalOptions) {
        let knobs = NegotiatorKnobs::read(&Config::parse("c", b"").unwrap()).unwrap();
        let accountant = Accountant::new(FactorRules::new(&knobs.accountant));
        let policy = CondorPriority::new(accountant, Arc::new(Ungrouped), &knobs);
        let live = LiveUsage::new(&[], None);
        live.set(b"eve@x", 3.0);
        let settings = EvalOptions { usage: Some(Arc::new(live)), ..EvalOptions::default() };
        let weighing = Weighing { weighted: true, default: None, forced: false };
        let mut slot = Slot::new(ClassAd::parse(ad.as_bytes()).unwrap(), &weighing, &settings).unwrap();
        let trim = Trim { preemption: true, early_preemption: false, shutdown_within: 0, working_cm_slots: false };
        let (known, first) = (HashMap::new(), HashMap::new());
        SlotAnnotator { policy: &policy, groups: None, siblings, settings: &settings, trim: &trim, known, first }
            .of(&mut slot);
        (slot, settings)
    }

    #[test]
    fn a_slot_in_use_knows_its_user_and_the_rank_to_beat() {
        let (slot, settings) =
            introduced("[Name = \"s\"; RemoteUser = \"eve@x\"; CurrentRank = 1; PreemptingRank = 7]", None);
        let facts = AdReader::of(&slot.ad, &settings);
        let number = |name: &str| facts.number(name);
        assert_eq!((number("RemoteUserPrio"), number("RemoteUserResourcesInUse")), (Some(500.0), Some(3.0)));
        assert_eq!((number("RemoteUserFloor"), number("CurrentRank")), (Some(0.0), Some(7.0)));
        assert!(!slot.ad.contains("RemoteGroup"));
        let (idle, _) = introduced("[Name = \"s\"]", None);
        assert!(!idle.ad.contains("RemoteUserPrio"));
    }

    #[test]
    fn slots_beside_it_are_introduced_when_asked_for() {
        let ad = "[Name = \"s\"; TotalSlots = 2; slot1_State = \"x\"; SLOT2_RemoteUser = \"eve@x\"; slot3_RemoteUser = \"eve@x\"]";
        let (slot, settings) = introduced(ad, Some(b"slot"));
        let number = |name: &str| AdReader::of(&slot.ad, &settings).number(name);
        assert_eq!(
            (number("slot2_RemoteUserPrio"), number("slot2_RemoteUserResourcesInUse")),
            (Some(500.0), Some(3.0))
        );
        assert_eq!((number("slot1_RemoteUserPrio"), number("slot3_RemoteUserPrio")), (None, None));
        assert!(!introduced(ad, None).0.ad.contains("slot2_RemoteUserPrio"));
    }
}
