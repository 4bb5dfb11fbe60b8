//! Room in partitionable slots: dynamic slots that are preempted so that a request fits.
//!
//! In: a partitionable slot whose ad lists its dynamic slots, and a request that it has no room for. Out: the slot as
//! it would be without some of them, and their numbers. Formula source: `docs/reference/negotiation.md` 10.10.

use hashbrown::{HashMap, HashSet};

use super::{Limited, Offer, ScanMatcher, SlotSearch, SlotVerdict};
use crate::introsort;
use crate::negotiate::candidate::PreemptState;
use crate::negotiate::preemption::Preemption;
use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use crate::pool::resource::resources;
use crate::pool::slot::weight;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// The user of a slot in which room is made, as named by `condor_negotiator`.
pub const VARIOUS: &str = "various_dSlot_users";

/// A partitionable slot with room made in it.
#[derive(Debug, Clone)]
pub(super) struct Room {
    /// Its ad, with the resources of the preempted dynamic slots added.
    pub(super) ad: ClassAd,
    /// The ground on which they are preempted.
    pub(super) preempt_state: PreemptState,
    /// Numbers of the preempted dynamic slots, from 0, in the order of preemption.
    pub(super) given_up: Vec<usize>,
}

/// A search for room.
pub(super) struct RoomSearch<'a> {
    /// The conditions under which a job may be preempted.
    pub(super) preemption: &'a Preemption,
    /// The submitter of the request.
    pub(super) submitter: &'a [u8],
    /// True if only jobs that the slot ranks lower may be preempted.
    pub(super) only_preferring: bool,
    /// Clock and seed.
    pub(super) settings: &'a EvalOptions,
    /// A slot of the pool by its name.
    pub(super) named: &'a dyn Fn(&[u8]) -> Option<&'a Slot>,
    /// Returns whether slot and request accept each other if the slot has this ad.
    pub(super) fits: &'a dyn Fn(&ClassAd) -> bool,
}

/// A dynamic slot that may be preempted.
struct Child {
    number: usize,
    rank: f64,
}

impl RoomSearch<'_> {
    /// Makes room for a request: preempts dynamic slots, lowest rank first, until the request fits. `gone` are those
    /// preempted before in the cycle. `None` if the request does not fit even then.
    pub(super) fn room(&self, slot: &Slot, request: &ClassAd, gone: Option<&HashSet<usize>>) -> Option<Room> {
        let children = self.children(slot, gone)?;
        let rank = Scope::new(&slot.ad, self.settings).with_target(request).eval_attr("Rank").ok();
        let rank = rank.and_then(|value| value.as_number()).unwrap_or(0.0);
        let names = list(&slot.ad, "ChildName", self.settings);
        let assets = assets(&slot.ad, self.settings);
        let mut room = Room { ad: slot.ad.clone(), preempt_state: PreemptState::None, given_up: Vec::new() };
        for child in children.into_iter().take_while(|child| child.rank <= rank) {
            if child.rank < rank {
                room.preempt_state = if room.preempt_state == PreemptState::Priority {
                    PreemptState::Priority
                } else {
                    PreemptState::Rank
                };
            } else if !self.only_preferring && self.required(names.get(child.number), request) {
                room.preempt_state = PreemptState::Priority;
            } else {
                continue;
            }
            give_all_back(&mut room.ad, &assets, child.number, self.settings);
            room.given_up.push(child.number);
            if (self.fits)(&room.ad) {
                room.ad.insert("RemoteUser", VARIOUS);
                return Some(room);
            }
        }
        None
    }

    /// The dynamic slots that are candidates for preemption, lowest rank first; `None` if the slot has none.
    fn children(&self, slot: &Slot, gone: Option<&HashSet<usize>>) -> Option<Vec<Child>> {
        if !slot.partitionable {
            return None;
        }
        let facts = AdReader::of(&slot.ad, self.settings);
        let count = usize::try_from(facts.integer("NumDynamicSlots")?).ok().filter(|count| *count > 0)?;
        let of = |name: &str| list(&slot.ad, name, self.settings);
        let (names, ranks, states) = (of("ChildName"), of("ChildCurrentRank"), of("ChildState"));
        let retirement = of("ChildRetirementTimeRemaining");
        // Public ads have no claims; an ad that has some must have all of them.
        let claims = slot.ad.contains("ChildClaimIds").then(|| of("ChildClaimIds"));
        if claims.as_ref().is_some_and(|claims| claims.len() != count) {
            return None;
        }
        let told = [names.len(), ranks.len(), states.len(), retirement.len()].into_iter().max().unwrap_or(0);
        let number_of = |list: &[Value], at: usize| list.get(at).and_then(Value::as_number);
        let may_go = |at: &usize| {
            let text = |list: &[Value]| match list.get(*at) {
                Some(Value::Str(text)) => Some(text.clone()),
                _ => None,
            };
            let claimed = claims.as_ref().is_none_or(|claims| text(claims).is_some_and(|claim| !claim.is_empty()));
            let leaving = text(&states).is_some_and(|state: Text| state.eq_ignore_ascii_case(b"Preempting"));
            let retired = number_of(&retirement, *at).unwrap_or(0.0) <= 0.0;
            claimed && !leaving && retired && !gone.is_some_and(|gone| gone.contains(at))
        };
        let child = |number| Child { number, rank: number_of(&ranks, number).unwrap_or(0.0) };
        let mut children: Vec<Child> = (0..count.min(told)).filter(may_go).map(child).collect();
        introsort::sort(&mut children, |a, b| a.rank < b.rank);
        Some(children)
    }

    /// Returns whether the job of a dynamic slot may be preempted although the slot does not prefer the request: it
    /// belongs to another user, and `PREEMPTION_REQUIREMENTS` is true. False if the slot is not in the pool.
    fn required(&self, name: Option<&Value>, request: &ClassAd) -> bool {
        let Some(Value::Str(name)) = name else { return false };
        let Some(child) = (self.named)(name) else { return false };
        child.user.as_deref() != Some(self.submitter) && self.preemption.is_required(&child.ad, request, self.settings)
    }
}

impl ScanMatcher<'_> {
    /// Returns whether a slot is matched in another way because `ALLOW_PSLOT_PREEMPTION` is true: a partitionable slot
    /// with dynamic slots, or one of those.
    pub(in crate::negotiate) fn has_room(&self, slot: &Slot) -> bool {
        let children =
            || AdReader::of(&slot.ad, self.settings).integer("NumDynamicSlots").is_some_and(|count| count > 0);
        self.rules.knobs.matching.allow_pslot_preemption
            && (self.is_reached_through(slot) || slot.partitionable && children())
    }

    /// Returns whether a dynamic slot is available only through the slot it was carved from: `ALLOW_PSLOT_PREEMPTION`
    /// is true, and so is its `PslotRollupInformation`.
    pub(super) fn is_reached_through(&self, slot: &Slot) -> bool {
        self.rules.knobs.matching.allow_pslot_preemption && {
            let facts = AdReader::of(&slot.ad, self.settings);
            facts.truth("DynamicSlot") == Some(true) && facts.truth("PslotRollupInformation") == Some(true)
        }
    }

    /// The verdict on a slot that does not fit, with room made in it; `None` if room cannot be made.
    pub(super) fn with_room(&self, at: usize, search: &SlotSearch<'_>, limited: &Limited) -> Option<SlotVerdict> {
        let (slot, room, request) = (&self.slots[at], self.room(at, search)?, search.request);
        let cost = match &slot.consumption {
            Some(consumption) => {
                let amounts = consumption.amounts(&room.ad, &request.ad, self.settings);
                consumption.cost(&room.ad, &amounts, self.settings)
            }
            None => weight(AdReader::of(&room.ad, self.settings), self.rules.weighing.weighted),
        };
        let offer = Offer { slot: at, preempt_state: room.preempt_state, cost, makes_room: true };
        let verdict = self.ranked(at, &room.ad, self.permitted(offer, &room.ad, search, limited), request);
        Some(SlotVerdict::WithRoom(room.given_up, Box::new(verdict)))
    }

    /// Makes room in a partitionable slot for a request that does not fit; `None` if that is not possible or not
    /// permitted.
    pub(super) fn room(&self, at: usize, search: &SlotSearch<'_>) -> Option<Room> {
        let request = search.request;
        let wants = || AdReader::of(&request.ad, self.settings).truth("WantPslotPreemption") == Some(true);
        let slot = &self.slots[at];
        if !self.rules.makes_room() || !slot.partitionable || !wants() {
            return None;
        }
        // `condor_negotiator` does not look at the consumption policy here, even if there is not enough for it.
        let fits = |ad: &ClassAd| {
            matching::accepts(&request.ad, ad, self.settings) && matching::accepts(ad, &request.ad, self.settings)
        };
        let room = RoomSearch {
            preemption: &self.rules.preemption,
            submitter: search.name,
            only_preferring: search.only_preferring(),
            settings: self.settings,
            named: &|name| self.named.get(name).map(|&at| &self.slots[at]),
            fits: &fits,
        };
        room.room(slot, &request.ad, self.given_up.get(&at))
    }
}

/// The indices of slots by their names; of equal names the first.
pub(super) fn by_name(slots: &[Slot]) -> HashMap<Box<[u8]>, usize> {
    slots.iter().enumerate().rev().map(|(at, slot)| ((&*slot.name).into(), at)).collect()
}

/// A partitionable slot whose dynamic slots give their resources back.
#[derive(Debug, Clone)]
pub struct MadeRoom {
    /// Its ad with their resources, and with [`VARIOUS`] as its user.
    pub ad: ClassAd,
    /// Their names.
    pub released: Vec<String>,
}

impl MadeRoom {
    /// The slot with this ad, without some of its dynamic slots, given by their numbers.
    pub(super) fn new(slot: &ClassAd, given_up: &[usize], settings: &EvalOptions) -> Self {
        let names = list(slot, "ChildName", settings);
        let name = |at: &usize| match names.get(*at) {
            Some(Value::Str(name)) => name.to_string(),
            _ => format!("#{}", at + 1),
        };
        let mut ad = slot.clone();
        let assets = assets(slot, settings);
        for child in given_up {
            give_all_back(&mut ad, &assets, *child, settings);
        }
        ad.insert("RemoteUser", VARIOUS);
        Self { ad, released: given_up.iter().map(name).collect() }
    }
}

/// The resources of a partitionable slot, with the amounts of each that its dynamic slots have.
fn assets(slot: &ClassAd, settings: &EvalOptions) -> Vec<(Name, Vec<Value>)> {
    let amounts = |name: Name| list(slot, Name::new([b"Child", name.as_bytes()].concat()), settings);
    resources(slot, settings).into_iter().map(|name| (name, amounts(name))).collect()
}

/// Adds the resources of a dynamic slot, given by its number, to those of the partitionable one.
fn give_all_back(slot: &mut ClassAd, assets: &[(Name, Vec<Value>)], child: usize, settings: &EvalOptions) {
    for (name, amounts) in assets {
        give_back(slot, *name, amounts.get(child), settings);
    }
}

/// The elements of a list, evaluated in the ad; empty if the attribute is not a list.
fn list(ad: &ClassAd, name: impl Into<Name>, settings: &EvalOptions) -> Vec<Value> {
    let Value::List(list) = AdReader::of(ad, settings).value(name) else { return Vec::new() };
    let value = |element| Scope::new(ad, settings).eval(&element).unwrap_or(Value::Undefined);
    list.exprs().into_iter().map(value).collect()
}

/// Adds the amount of a resource of a dynamic slot to that of the partitionable one, if both are numbers; the latter is
/// rounded down first, as in `condor_negotiator`.
fn give_back(slot: &mut ClassAd, name: Name, amount: Option<&Value>, settings: &EvalOptions) {
    let Some(has) = AdReader::of(slot, settings).number(name).filter(|has| has.is_finite()) else { return };
    match amount {
        Some(Value::Int(more)) => slot.insert(name, (has.floor() as i64).saturating_add(*more)),
        Some(Value::Real(more)) => slot.insert(name, has.floor() + more),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::slot::Weighing;
    use classmate::internal::eval::matching::symmetric;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn slot(text: &str) -> Slot {
        let weighing = Weighing { weighted: true, default: None, forced: false };
        Slot::new(ClassAd::parse(text.as_bytes()).unwrap(), &weighing, &EvalOptions::default()).unwrap()
    }

    /// One core left; three dynamic slots of 2, 3 and 2 cores, of eve, the submitter and eve.
    fn parent(more: &str) -> Slot {
        slot(&format!(
            "[Name = \"p@m\"; PartitionableSlot = true; Cpus = 1; Memory = 10; Disk = 1; Requirements = true; \
             NumDynamicSlots = 3; ChildName = {{\"d1\", \"d2\", \"d3\"}}; ChildCpus = {{2, 3, 2}}; \
             ChildMemory = {{5.5, 1, 1}}; ChildCurrentRank = {{0.0, 0.0, 0.0}}; \
             ChildState = {{\"Claimed\", \"Claimed\", \"Claimed\"}}; {more}]"
        ))
    }

    fn room(parent: &Slot, cores: u32, requirements: &str, only_preferring: bool) -> Option<Room> {
        let settings = EvalOptions::default();
        let children: Vec<Slot> = [("d1", "eve@x"), ("d2", "ann@x"), ("d3", "eve@x")]
            .iter()
            .map(|(name, user)| slot(&format!("[Name = \"{name}\"; State = \"Claimed\"; RemoteUser = \"{user}\"]")))
            .collect();
        let request = ClassAd::parse(
            format!("[Dept = 7; Requirements = TARGET.Cpus >= {cores}; WantPslotPreemption = true]").as_bytes(),
        )
        .unwrap();
        let requirements = parse_expr(requirements.as_bytes(), &ParseOptions::default()).unwrap();
        let search = RoomSearch {
            preemption: &Preemption::new(Some(requirements)).unwrap(),
            submitter: b"ann@x",
            only_preferring,
            settings: &settings,
            named: &|name| children.iter().find(|child| *child.name == *name),
            fits: &|ad| symmetric(&request, ad, &settings),
        };
        search.room(parent, &request, None)
    }

    fn given_up(
        parent: &Slot,
        cores: u32,
        requirements: &str,
        only_preferring: bool,
    ) -> Option<(Vec<usize>, PreemptState)> {
        room(parent, cores, requirements, only_preferring).map(|room| (room.given_up, room.preempt_state))
    }

    #[test]
    fn at_the_same_rank_the_requirements_decide_and_ones_own_jobs_are_skipped() {
        // 1 + 2 cores suffice; for 5 both of eve's go, ann's own does not.
        assert_eq!(given_up(&parent(""), 3, "true", false), Some((vec![0], PreemptState::Priority)));
        assert_eq!(given_up(&parent(""), 5, "true", false), Some((vec![0, 2], PreemptState::Priority)));
        assert_eq!(given_up(&parent(""), 6, "true", false), None);
        assert_eq!(given_up(&parent(""), 3, "false", false), None);
        assert_eq!(given_up(&parent(""), 3, "RemoteUser == \"eve@x\" && TARGET.Dept == 7", false).unwrap().0, [0]);
        assert_eq!(given_up(&parent(""), 3, "true", true), None);
    }

    #[test]
    fn what_the_slot_likes_less_goes_first_and_needs_no_requirements() {
        let liking = parent("Rank = TARGET.Dept");
        // All three have rank 0, the request 7: in their order, ann's own too.
        assert_eq!(given_up(&liking, 6, "false", false), Some((vec![0, 1], PreemptState::Rank)));
        assert_eq!(given_up(&liking, 6, "false", true), Some((vec![0, 1], PreemptState::Rank)));
        let unequal = parent("Rank = TARGET.Dept; ChildCurrentRank = {7.0, 8.0, 3.0}");
        // d3 first, by rank; d2 is liked better; d1 at the same rank makes it a matter of priority.
        assert_eq!(given_up(&unequal, 3, "false", false), Some((vec![2], PreemptState::Rank)));
        assert_eq!(given_up(&unequal, 5, "true", false), Some((vec![2, 0], PreemptState::Priority)));
        assert_eq!(given_up(&unequal, 5, "false", false), None);
        assert_eq!(given_up(&unequal, 6, "true", false), None);
    }

    #[test]
    fn those_that_retire_or_leave_or_have_no_claim_stay() {
        for more in [
            "ChildRetirementTimeRemaining = {60, 0, 0}",
            "ChildState = {\"Preempting\", \"Claimed\", \"Claimed\"}",
            "ChildClaimIds = {\"\", \"b\", \"c\"}",
        ] {
            assert_eq!(given_up(&parent(more), 3, "true", false).unwrap().0, [2], "{more}");
        }
        for more in ["ChildClaimIds = {\"a\"}", "NumDynamicSlots = 0", "PartitionableSlot = false"] {
            assert_eq!(given_up(&parent(more), 3, "true", false), None, "{more}");
        }
    }

    #[test]
    fn the_slot_has_what_is_given_back_and_floors_what_it_had() {
        let found = room(&parent("Memory = 10.75"), 3, "true", false).unwrap().ad;
        let settings = EvalOptions::default();
        let facts = AdReader::of(&found, &settings);
        let number = |name: &str| facts.number(name);
        assert_eq!((number("Cpus"), number("Memory"), number("Disk")), (Some(3.0), Some(15.5), Some(1.0)));
        assert!(matches!(facts.value("Cpus"), Value::Int(3)));
        assert_eq!(facts.string("RemoteUser").unwrap(), VARIOUS.into());
    }

    #[test]
    fn a_count_that_nothing_bears_out_is_not_believed() {
        assert_eq!(given_up(&parent("NumDynamicSlots = 9223372036854775807"), 6, "true", false), None);
    }
}
