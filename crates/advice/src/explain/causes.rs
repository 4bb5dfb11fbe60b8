//! The causes for which a job matches no slot, the most significant first, with the values beside the conditions.
//!
//! In: what every condition is for every slot. Out: sentences, each about one condition or one rule of the cycle.
//! One file: every cause weighs the same conditions and slots, and the order of the causes depends on all of them.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::clauses::{AdCondition, AdConditions, is_false, truth};
use crate::explain::clock::{begin_of_job, end};
use crate::explain::correction::{self, MeantValue, pattern, quoted};
use crate::explain::cycle::obstacle::moment;
use crate::explain::cycle::unsent::left_out_by;
use crate::explain::decide::{DecidingCondition, PlacedCondition, deciding};
use crate::explain::free_gpus::FreeGpus;
use crate::explain::full_slots::FullSlots;
use crate::explain::job_view::JobView;
use crate::explain::names::{MissingAttribute, references};
use crate::explain::policy_notes::{begins, opens, small_unit};
use crate::explain::same_fact::{classes_of, exact_key, is_part_of, key, representative};
use crate::explain::slot_classes::SlotClass;
use crate::explain::values::{Opposites, beside, in_parentheses, summary_of, verb};
use crate::submit::added::{Origin, method};
use classmate::internal::eval;
use classmate::internal::eval::explain::explain;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::walk::{AdSide, Via};
use classmate::internal::plural::counted;
use classmate::internal::program::view::RowValues;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name, Scope, Value};
use classmate_pool::internal::pool::Slot;

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The job does not wait: it is held, runs, or is of a kind that is not matched.
    NotIdle,
    /// The policy does not serve the job yet.
    HeldBack,
    /// The cycle leaves the job, its submitter or slots out.
    LeftOut,
    /// There are no slots.
    NoSlots,
    /// The job has no Requirements.
    NoRequirements,
    /// A condition of the job is true for no slot.
    NeverTrue,
    /// Conditions of the job are true for some slots, but never together.
    NotTogether,
    /// A condition of the job is not true for slots beside those that it accepts.
    Unsatisfied,
    /// Slots that the job accepts reject it.
    Refused,
    /// Slots require attributes that are not significant, so that the requests of the job do not have them.
    NotSent,
    /// The group that the job names does not exist, and the one that it belongs to instead has used its allocation.
    UnknownGroup,
    /// The group has used its allocation or reached its quota.
    GroupQuota,
    /// The share of the submitter is used up, or what is left of it is less than a slot.
    Share,
    /// The submitter is at its ceiling.
    Ceiling,
    /// A concurrency limit is reached.
    ConcurrencyLimit,
    /// `PREEMPTION_REQUIREMENTS` is not true.
    PreemptionRequirements,
    /// Slots in use prefer the jobs they run.
    Rank,
    /// The cycle does not consider matching slots.
    NotLookedAt,
    /// Other jobs got or use the slots.
    Taken,
    /// Its submitter got slots that have room for more of its jobs.
    Leftovers,
    /// It gets a slot.
    Matched,
    /// It loses the slot it has.
    Displaced,
}

impl Reason {
    /// The description of the jobs with this reason.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NotIdle => "not idle",
            Reason::HeldBack => "may not run yet",
            Reason::LeftOut => "left out of the cycle",
            Reason::NoSlots => "no slots",
            Reason::NoRequirements => "no Requirements",
            Reason::NeverTrue => "no slot satisfies a condition of the job",
            Reason::NotTogether => "no slot satisfies all conditions of the job",
            Reason::Unsatisfied => "few slots satisfy the conditions of the job",
            Reason::Refused => "slots reject the job",
            Reason::NotSent => "slots require attributes that are not significant",
            Reason::UnknownGroup => "the group does not exist",
            Reason::GroupQuota => "the group cannot use more slots",
            Reason::Share => "submitter limit reached",
            Reason::Ceiling => "ceiling reached",
            Reason::ConcurrencyLimit => "concurrency limit reached",
            Reason::PreemptionRequirements => "PREEMPTION_REQUIREMENTS protects slots in use",
            Reason::Rank => "slots in use prefer their jobs",
            Reason::NotLookedAt => "matching slots are not considered",
            Reason::Taken => "other jobs use the slots",
            Reason::Leftovers => "slots of the submitter have room for more jobs",
            Reason::Matched => "matched",
            Reason::Displaced => "displaced",
        }
    }
}

/// A cause for which a job is idle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// The kind of a cause.
    pub reason: Reason,
    /// In a few words that are the same for all jobs with this cause.
    pub label: String,
    /// In a sentence.
    pub text: String,
    /// The group with which the label begins.
    #[serde(skip)]
    pub(super) group: Option<String>,
}

impl Cause {
    pub(super) fn new(reason: Reason, label: impl Into<String>, text: impl Into<String>) -> Self {
        Cause { reason, label: label.into(), text: text.into(), group: None }
    }

    /// A cause that is named by its sentence.
    pub(super) fn plain(reason: Reason, text: impl Into<String>) -> Self {
        let text = text.into();
        Cause::new(reason, text.clone(), text)
    }
}

/// Causes that are ordered by what probably is a mistake, and of which each is stated once.
const MAX_CAUSES: usize = 4;
/// Maximum number of causes, but for conditions of the job that no slot satisfies.
const MAX_LISTED: usize = 50;
/// Slots are few beside this many times as many.
const FEW_OF: usize = 4;
/// Maximum number of deciding conditions in a cause.
const MAX_DECIDING: usize = 3;

/// The causes for which no slot matches, all or the first ones, and the number of slots that fail none of the conditions in them;
/// empty if one matches.
pub(super) fn of_match(view: &JobView<'_>, is_all: bool) -> (Vec<Cause>, usize) {
    let left_out = left_out(view);
    let only = |cause: Cause| (vec![cause], 0);
    if view.pool.slots.is_empty() {
        return only(left_out.unwrap_or_else(|| Cause::plain(Reason::NoSlots, "there are no slots in the cycle")));
    }
    if view.conditions.all.is_empty() {
        let text = "the job does not have Requirements, so it does not match any slot";
        return only(Cause::plain(Reason::NoRequirements, text));
    }
    if view.classes.all.iter().any(SlotClass::matches) {
        return (Vec::new(), 0);
    }
    let full = FullSlots::of(view);
    let (mut found, others) = of_obstacles(view, full.as_ref(), is_all);
    // What matches, but is left out, comes before what does not match.
    found.splice(0..0, left_out.filter(|_| view.pool.left_out.iter().any(|slot| is_feasible(view, slot))));
    (found, others)
}

fn is_feasible(view: &JobView<'_>, slot: &Slot) -> bool {
    symmetric(view.job, &slot.ad, &view.pool.settings)
}

impl JobView<'_> {
    /// The values beside a condition of the job, or of some slots.
    fn beside(&self, condition: &AdCondition, of_job: bool, slots: &[u32]) -> String {
        self.opposites().beside(&condition.expr, of_job, slots)
    }

    fn opposites(&self) -> Opposites<'_> {
        Opposites { one: self.job, many: &self.table, is_job: true }
    }
}

/// Slots that the cycle does not know of.
fn left_out(view: &JobView<'_>) -> Option<Cause> {
    let PoolFacts { left_out, rules, slots, settings, .. } = view.pool;
    let constraint = rules.slots.as_ref().filter(|_| !left_out.is_empty())?;
    let all = left_out.len() + slots.len();
    let which =
        if slots.is_empty() { format!("all {all} slots") } else { format!("{} of {all} slots", left_out.len()) };
    let feasible = left_out.iter().filter(|slot| is_feasible(view, slot)).count();
    let values = beside(constraint, |Reference { name, .. }| {
        let value = |slot: &Slot| Scope::new(&slot.ad, settings).eval_attr(name).unwrap_or(Value::Undefined);
        let values = left_out.iter().map(value).collect::<Vec<_>>();
        format!("their {name} is {}", summary_of(name, &RowValues { of: (0..values.len() as u32).collect(), values }))
    });
    let label = format!("NEGOTIATOR_SLOT_CONSTRAINT excludes {which}");
    let matches = verb(feasible, "matches", "match");
    let text = format!("{label}, of which {feasible} {matches}: `{constraint:#}` is not true{values}");
    Some(Cause::new(Reason::LeftOut, label, text))
}

/// A condition that is not true for some classes of slots.
#[derive(Clone)]
pub(super) struct Failing<'v> {
    /// The condition, and the policy it is in; none for slots without Requirements.
    pub(super) condition: Option<(&'v AdConditions, usize)>,
    pub(super) of_job: bool,
    /// The classes, in their order.
    pub(super) classes: Vec<usize>,
}

/// Failing conditions that keep slots away: of the job, of slots, or of both, if they compare the same.
pub(super) type Obstacle<'v> = IndexMap<(bool, &'v str), Failing<'v>>;

/// The conditions that keep slots away.
struct Obstacles<'v> {
    all: Vec<Obstacle<'v>>,
    /// The obstacles by which slots fail, and the number of these slots.
    sets: BTreeMap<Vec<usize>, usize>,
}

/// The text of each condition, and its key.
type KeyedTexts = Vec<(String, String)>;

/// A condition of the job or of slots: its key, its side and its text.
type KeyedCondition<'v> = (&'v str, (bool, &'v str));

impl<'v> Obstacles<'v> {
    fn of(view: &'v JobView<'_>, [of_job, of_slots]: [&'v [KeyedTexts]; 2]) -> Self {
        let mut found: IndexMap<&str, Obstacle<'v>> = IndexMap::new();
        let mut of_classes: Vec<Vec<KeyedCondition<'v>>> = Vec::new();
        for (at, class) in view.classes.all.iter().enumerate() {
            let mut own = Vec::new();
            let conditions = &view.classes.policies[class.policy].conditions;
            let sides = [
                (true, &view.conditions, &class.one, &of_job[0]),
                (false, conditions, &class.many, &of_slots[class.policy]),
            ];
            for (of_job, conditions, row, texts) in sides {
                let failing = conditions.required().map(|(place, _)| Some(place));
                let failing = failing.chain(conditions.all.is_empty().then_some(None));
                for place in failing.filter(|place| place.is_none_or(|place| row[place] != Truth::True)) {
                    let (text, key) = place.map_or(("", ""), |place| (&texts[place].0, &texts[place].1));
                    own.push((key, (of_job, text)));
                    let condition = place.map(|place| (conditions, place));
                    let new = || Failing { condition, of_job, classes: Vec::new() };
                    let of_key = found.entry(key).or_default();
                    let classes = &mut of_key.entry((of_job, text)).or_insert_with(new).classes;
                    // A text may be in a policy twice.
                    if classes.last() != Some(&at) {
                        classes.push(at);
                    }
                }
            }
            of_classes.push(own);
        }
        let (mut all, mut places): (Vec<Obstacle<'v>>, HashMap<KeyedCondition<'v>, usize>) = Default::default();
        for (key, obstacle) in found {
            let parts = match representative(view, &obstacle) {
                Some(_) => vec![obstacle],
                // None fails wherever another one does: each states a fact of its own.
                None => obstacle.into_iter().map(|one| IndexMap::from_iter([one])).collect(),
            };
            for part in parts {
                places.extend(part.keys().map(|condition| ((key, *condition), all.len())));
                all.push(part);
            }
        }
        let mut sets: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for (class, own) in view.classes.all.iter().zip(of_classes) {
            let mut set: Vec<usize> = own.iter().filter_map(|condition| places.get(condition)).copied().collect();
            set.sort_unstable();
            set.dedup();
            *sets.entry(set).or_default() += class.size;
        }
        Obstacles { all, sets }
    }

    /// For each obstacle, the number of slots that it keeps away while no other slot fails by fewer of the same obstacles.
    fn weights(&self) -> Vec<usize> {
        let mut least: Vec<&Vec<usize>> = Vec::new();
        let mut weights = vec![0; self.all.len()];
        let mut sets: Vec<(&Vec<usize>, &usize)> = self.sets.iter().collect();
        sets.sort_by_key(|(set, _)| set.len());
        for (set, slots) in sets {
            if !least.iter().any(|fewer| fewer.iter().all(|at| set.binary_search(at).is_ok())) {
                least.push(set);
                for at in set {
                    weights[*at] += slots;
                }
            }
        }
        weights
    }
}

/// The causes of the obstacles that keep slots away, but for those that keep away only slots that are in use, and the number of
/// slots that meet none of these.
fn of_obstacles(view: &JobView<'_>, full: Option<&FullSlots>, is_all: bool) -> (Vec<Cause>, usize) {
    let texts = |conditions: &AdConditions, ad: &ClassAd, of_job: bool| -> KeyedTexts {
        let text = |condition: &AdCondition| (format!("{:#}", condition.expr), key(condition, ad, of_job));
        conditions.all.iter().map(text).collect()
    };
    let policies = view.classes.policies.iter();
    let of_slots = policies.map(|policy| texts(&policy.conditions, &view.pool.slots[policy.first].ad, false));
    let (of_job, of_slots) = ([texts(&view.conditions, view.job, true)], of_slots.collect::<Vec<_>>());
    let obstacles = Obstacles::of(view, [&of_job, &of_slots]);
    let weights = obstacles.weights();
    let is_accepted = view.classes.all.iter().any(SlotClass::is_accepted);
    let left: Vec<bool> = view.classes.all.iter().map(|class| is_left_to_the_job(view, class)).collect();
    // What the slots that the job accepts require of it comes first, unless these are few or another condition concerns more
    // than twice as many, or just more where they require an attribute that the job does not have; then what keeps most slots
    // away. That the job wants few slots by name is not news to its owner: what rejects it on these comes before.
    let is_selection: Vec<bool> = obstacles.all.iter().map(|obstacle| is_selection(view, obstacle)).collect();
    let counts = |at: &usize| weights[*at] > 0 && !is_selection[*at];
    let unselected = || (0..weights.len()).filter(counts);
    let selects = is_selection.iter().zip(&weights).any(|(is_selection, weight)| *is_selection && *weight > 0);
    let most = unselected().map(|at| weights[at]).max().unwrap_or(0);
    let concerned = |obstacle: &Obstacle<'_>| view.classes.size(&classes_of(obstacle));
    let widest = unselected().max_by_key(|at| concerned(&obstacles.all[*at]));
    let most_concerned = widest.map_or(0, |at| concerned(&obstacles.all[at]));
    // Of requests that keep many slots away, the one that concerns most slots comes first.
    let requests: Vec<bool> = obstacles.all.iter().map(|obstacle| is_request(view, obstacle)).collect();
    let most_requested = (0..weights.len()).filter(|at| requests[*at]).map(|at| weights[at]).max().unwrap_or(0);
    let rank = |at: usize| {
        let (obstacle, weight) = (&obstacles.all[at], &weights[at]);
        let mut classes = obstacle.values().flat_map(|failing| &failing.classes);
        let times = if is_of_others(view, obstacle) { 1 } else { 2 };
        let is_many = weight * FEW_OF >= most && concerned(obstacle) * times >= most_concerned;
        let is_first =
            is_many && classes.any(|class| left[*class] || selects && view.classes.all[*class].is_accepted());
        // What concerns more than twice as many slots is the better answer, unless it alone keeps few of these away.
        let is_narrow =
            concerned(obstacle) * 2 < most_concerned && widest.is_some_and(|at| weights[at] * FEW_OF >= *weight);
        let is_request = requests[at] && weight * FEW_OF >= most_requested;
        let size = if is_request { (most_requested, concerned(obstacle)) } else { (*weight, 0) };
        (!is_first, is_narrow, std::cmp::Reverse(size))
    };
    let ranks: Vec<_> = (0..weights.len()).map(rank).collect();
    let mut order: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0).collect();
    order.sort_by_key(|at| ranks[*at]);
    // Of conditions that keep as many slots away, what is probably a mistake comes first.
    let equal = order.iter().take_while(|at| ranks[**at] == ranks[order[0]]).count();
    let explained: Vec<usize> =
        order.iter().copied().filter(|at| full.is_some_and(|full| full.explains(view, &obstacles.all[*at]))).collect();
    order.retain(|at| !explained.contains(at));
    let (first, rest) = order.split_at(order.len().min(equal.max(MAX_CAUSES)));
    let stated = |at: &usize| Some((*at, representative(view, &obstacles.all[*at])?));
    let mut found: Vec<(usize, bool, Failing<'_>, Cause)> = Vec::new();
    found.extend(first.iter().filter_map(stated).map(|(at, failing)| of_failing(view, at, failing)));
    found.sort_by_key(|(at, plain, ..)| (ranks[*at], *plain));
    // Of two that state one fact, the one that concerns more slots.
    let mut repeated = vec![false; found.len()];
    for (place, (.., one, _)) in found.iter().enumerate() {
        let size = |failing: &Failing<'_>| view.classes.size(&failing.classes);
        let covers = |(at, (.., other, _)): (usize, &(usize, bool, Failing<'_>, Cause))| {
            at != place && (at < place || size(other) > size(one)) && is_part_of(view, one, other)
        };
        repeated[place] = found.iter().enumerate().any(covers);
    }
    let mut repeated = repeated.into_iter();
    found.retain(|_| repeated.next() == Some(false));
    let is_never = |(.., cause): &(usize, bool, Failing<'_>, Cause)| cause.reason == Reason::NeverTrue;
    let is_apart = !is_accepted && full.is_none() && !found.iter().take(MAX_CAUSES).any(is_never);
    let apart = is_apart.then(|| apart(view));
    if is_all {
        let is_every = |failing: &Failing<'_>| view.classes.size(&failing.classes) == view.pool.slots.len();
        for (at, failing) in rest.iter().filter_map(stated) {
            let is_listed = found.len() < MAX_LISTED || failing.of_job && is_every(&failing);
            if is_listed && !found.iter().any(|(.., known, _)| is_part_of(view, &failing, known)) {
                found.push(of_failing(view, at, failing));
            }
        }
    } else {
        found.truncate(MAX_CAUSES - usize::from(is_apart));
    }
    let is_named = |set: &Vec<usize>| found.iter().map(|(at, ..)| at).chain(&explained).any(|at| set.contains(at));
    let others = obstacles.sets.iter().filter(|(set, _)| !is_named(set)).map(|(_, slots)| slots).sum();
    // Slots that are large enough are what the job waits for, unless another condition that they satisfy concerns more than twice as
    // many, and is not the one by which the job selects them.
    let wider = |full: &FullSlots| {
        let is_wider = |(at, _, one, _): &&(usize, bool, Failing<'_>, Cause)| {
            let keeps_away = |slot: &u32| full.slots.binary_search(slot).is_ok();
            !is_selection[*at]
                && view.classes.size(&one.classes) > 2 * full.slots.len()
                && !view.classes.ads_of(&classes_of(&obstacles.all[*at])).iter().any(keeps_away)
        };
        found.iter().take(MAX_CAUSES - 1).take_while(is_wider).count()
    };
    let place = full.map_or(0, wider);
    let mut causes: Vec<Cause> = apart.into_iter().chain(found.into_iter().map(|(.., cause)| cause)).collect();
    causes.splice(place..place, full.map(|full| full.cause(view)));
    (causes, others)
}

/// The cause of a failing condition, with its number and true unless it is probably a mistake before them.
fn of_failing<'v>(view: &JobView<'_>, at: usize, failing: Failing<'v>) -> (usize, bool, Failing<'v>, Cause) {
    let (plain, cause) = match &failing {
        Failing { of_job: true, .. } => of_job_condition(view, &failing),
        Failing { of_job: false, .. } => (true, of_slots_condition(view, &failing)),
    };
    (at, plain, failing, cause)
}

/// Tests if an obstacle is a request of a resource that slots have less of.
fn is_request(view: &JobView<'_>, obstacle: &Obstacle<'_>) -> bool {
    let mut own = obstacle.values().filter(|failing| failing.of_job).filter_map(|failing| failing.condition);
    own.any(|(conditions, at)| {
        let key = key(&conditions.all[at], view.job, true);
        RESOURCES.iter().any(|(name, _)| key == format!("true request{name} <= false {name}"))
    })
}

/// Tests if an obstacle is a choice of slots by the text of one attribute, such as `TARGET.GLIDEIN_Site == "x"`, that some slots
/// satisfy. `Arch` and `OpSys` are no such attributes: `condor_submit` adds conditions on them.
fn is_selection(view: &JobView<'_>, obstacle: &Obstacle<'_>) -> bool {
    let (Some(Failing { condition: Some((conditions, at)), of_job: true, classes }), 1) =
        (obstacle.values().next(), obstacle.len())
    else {
        return false;
    };
    let condition = &conditions.all[*at].expr;
    let mut named: Vec<Name> = references(condition.tree(), condition.root()).iter().map(|one| one.name).collect();
    named.dedup();
    let &[name] = named.as_slice() else { return false };
    let is_added = matches!(name.folded(), b"arch" | b"opsys");
    let of_slot = |slot: &Slot| Scope::new(&slot.ad, &view.pool.settings).eval_attr(name);
    let is_text = |at: &u32| matches!(of_slot(&view.pool.slots[*at as usize]), Ok(Value::Undefined | Value::Str(_)));
    !is_added
        && !view.job.contains(name)
        && view.classes.size(classes) < view.pool.slots.len()
        && view.classes.ads_of(classes).iter().all(is_text)
        && view.pool.slots.iter().any(|slot| matches!(of_slot(slot), Ok(Value::Str(_))))
}

/// Tests if an obstacle is conditions of slots on attributes that the job does not define: these slots are for other jobs.
fn is_of_others(view: &JobView<'_>, obstacle: &Obstacle<'_>) -> bool {
    let is_missing = |conditions: &AdConditions, at: usize| {
        let expr = &conditions.all[at].expr;
        let mut of_job = references(expr.tree(), expr.root()).into_iter().filter(|found| found.scope != RefScope::My);
        of_job
            .any(|found| view.absent.iter().any(|one| !one.of_job && one.name.eq_ignore_ascii_case(&found.to_string())))
    };
    obstacle.values().all(|one| !one.of_job && one.condition.is_some_and(|(conditions, at)| is_missing(conditions, at)))
}

/// Tests if the job accepts the slots of a class, and all conditions by which they reject it refer to the job.
fn is_left_to_the_job(view: &JobView<'_>, class: &SlotClass) -> bool {
    let (slot, conditions) = (&view.pool.slots[class.first].ad, &view.classes.policies[class.policy].conditions);
    let refers = |condition: &AdCondition| {
        let named = references(condition.expr.tree(), condition.expr.root());
        named.iter().any(|Reference { scope, name }| match scope {
            RefScope::My => false,
            RefScope::Target => true,
            RefScope::Either => !slot.contains(*name),
        })
    };
    class.is_accepted()
        && conditions.required().all(|(at, condition)| class.many[at] == Truth::True || refers(condition))
}

/// The subject of a sentence on slots that do not satisfy a condition.
fn unsatisfying(view: &JobView<'_>, slots: usize) -> String {
    match view.pool.slots.len() {
        all if all == slots => "no slot satisfies".to_owned(),
        all => format!("{slots} of {} {} satisfy", counted(all, "slot"), verb(slots, "does not", "do not")),
    }
}

/// Resources that jobs request: the attribute of slots, and what they have of it.
const RESOURCES: [(&str, &str); 4] =
    [("cpus", "more cores"), ("memory", "more memory"), ("disk", "more disk space"), ("gpus", "more GPUs")];

/// The cause of a condition of the job that is not true for some classes, and false if it is probably a mistake.
fn of_job_condition(view: &JobView<'_>, Failing { condition, classes, .. }: &Failing<'_>) -> (bool, Cause) {
    let at = condition.map_or(0, |(_, at)| at);
    let condition = &view.conditions.all[at];
    let (expr, slots) = (&condition.expr, view.classes.ads_of(classes));
    let is_every = slots.len() == view.pool.slots.len();
    let reason = if is_every { Reason::NeverTrue } else { Reason::Unsatisfied };
    let subject = unsatisfying(view, slots.len());
    let all = |is: Truth| classes.iter().all(|class| view.classes.all[*class].one[at] == is);
    let requested = |(name, words): &(&str, &'static str)| {
        (exact_key(condition, view.job, true) == format!("true request{name} <= false {name}")).then_some(*words)
    };
    let value = match [Truth::Undefined, Truth::Error].map(all) {
        [true, _] => ", which is UNDEFINED for all of them",
        [_, true] => ", which is ERROR for all of them",
        _ => "",
    };
    let is_larger = || is_every && all(Truth::False) && !FullSlots::would_satisfy(view, condition, &slots);
    let label = match RESOURCES.iter().find_map(requested).filter(|_| is_larger()) {
        Some(words) => format!("{words} than any slot has"),
        None => {
            let subject = if is_every { "no slot satisfies" } else { "slots do not satisfy" };
            format!("{subject} `{expr:#}`{}", value.trim_end_matches(" for all of them"))
        }
    };
    if let Some(FreeGpus { label, text }) = FreeGpus::of(view, expr, &slots) {
        return (true, Cause::new(reason, label, text));
    }
    let place = PlacedCondition { conditions: &view.conditions, at, classes: classes.clone() };
    let deciders = deciding(view, true, &[place]);
    if let Some((absent, text)) = descended(view, condition, slots.len(), deciders) {
        return (!absent, Cause::new(reason, label, text));
    }
    if let Some(note) = note_on(view, condition, true, &slots) {
        return (false, Cause::new(reason, label, format!("{subject} `{expr:#}`: {note}")));
    }
    let wildcard = match pattern(expr) {
        Some(_) => "; `*` is not a wildcard in comparisons, use `regexp` for patterns",
        None => "",
    };
    let values = view.beside(condition, true, &slots);
    let ended = end(view, expr).map(|(ended, is_included)| {
        let until = if is_included { "until" } else { "before" };
        format!("; it was true {until} {}, so the job can never run", moment(ended))
    });
    let begins = begin_of_job(view, expr)
        .map(|then| format!("; it becomes true at {} (now it is {})", moment(then), moment(view.pool.settings.now)));
    let notes = [ended, begins, meant_value(view, expr)].into_iter().flatten().collect::<String>();
    (true, Cause::new(reason, label, format!("{subject} `{expr:#}`{value}{values}{wildcard}{notes}")))
}

/// The note on a comparison with a string that no slot has as a value: a number in quotation marks, or a misspelled value.
fn meant_value(view: &JobView<'_>, expr: &Expr) -> Option<String> {
    let MeantValue { name, value, .. } = correction::value(expr, view.job, view.table.columns())?;
    Some(match value {
        Literal::Str(_) => format!("; did you mean {}?", Expr::literal(value)),
        _ => format!("; {name} is a number: remove the quotation marks around {}", Expr::literal(value)),
    })
}

/// States that so many slots do not satisfy a condition, with its deciding parts first; true if the first names an undefined attribute.
/// None if the condition is not made of others.
fn descended(
    view: &JobView<'_>,
    whole: &AdCondition,
    failing: usize,
    mut deciders: Vec<DecidingCondition>,
) -> Option<(bool, String)> {
    sort(view, &mut deciders);
    let (all, count) = (view.pool.slots.len(), deciders.len());
    let origin = |one: &AdCondition| Origin::of(view.job, &one.expr);
    let is_added = origin(whole) == Some(Origin::Transfer);
    // That files are transferred is what the submit file can change.
    let is_shared = |one: &DecidingCondition| one.of_job && origin(&one.condition) == Some(Origin::SharedFiles);
    if is_added && !deciders.iter().all(is_shared) {
        deciders.retain(|one| !is_shared(one));
    }
    let first = deciders.first().filter(|first| is_below(whole, first))?;
    let absent = note_on(view, &first.condition, first.of_job, &first.slots).is_some();
    let is_whole = |one: &DecidingCondition| one.slots.len() == failing;
    // Outside of branches, the whole is not true for just the slots for which none of its deciding parts is.
    let is_exact = |one: &DecidingCondition| is_whole(one) && one.since.is_empty();
    let mut text = if failing == all && deciders.iter().take(MAX_DECIDING).all(is_whole) {
        let mut said = SaidNotes::default();
        let parts: Vec<String> = deciders.iter().take(MAX_DECIDING).map(|one| said.phrase(view, one)).collect();
        format!("no slot satisfies {}", parts.join(", nor "))
    } else if deciders.len() == count && deciders.iter().all(is_exact) {
        unsatisfied(view, failing, &deciders)
    } else {
        format!(
            "the job rejects {failing} of {} because of {}",
            counted(all, "slot"),
            reasons(view, &deciders, failing)
        )
    };
    if !is_added || failing < all {
        text.push_str(&decided(whole, &deciders));
    }
    Some((absent, text))
}

/// States that none of some conditions is true for so many slots.
fn unsatisfied(view: &JobView<'_>, slots: usize, deciders: &[DecidingCondition]) -> String {
    let mut said = SaidNotes::default();
    if let [one] = deciders {
        return format!("{} {}", unsatisfying(view, slots), said.phrase(view, one));
    }
    let several = deciders.iter().take(MAX_DECIDING);
    let mut parts: Vec<String> = several.map(|one| said.phrase_of_several(view, one)).collect();
    let more = deciders.len() - parts.len();
    parts.extend((more > 0).then(|| counted(more, "other condition")));
    let last = parts.pop().unwrap_or_default();
    let (of, is) = (counted(view.pool.slots.len(), "slot"), verb(more.max(1), "is", "are"));
    format!("in {slots} of {of} neither {} nor {last} {is} true", parts.join(", "))
}

/// Conditions that decide for some of so many slots, few that together decide for most of them, with the number of slots of each.
fn reasons(view: &JobView<'_>, deciders: &[DecidingCondition], slots: usize) -> String {
    let (mut left, mut chosen, mut seen) = (deciders.iter().collect::<Vec<_>>(), Vec::new(), HashSet::new());
    while chosen.len() < MAX_DECIDING && !left.is_empty() {
        let new = |one: &&DecidingCondition| one.slots.iter().filter(|slot| !seen.contains(*slot)).count();
        // The last of the largest ones in the opposite order is the first.
        let best = (0..left.len()).rev().max_by_key(|at| new(&left[*at])).unwrap_or(0);
        let one = left.remove(best);
        seen.extend(one.slots.iter().copied());
        chosen.push(one);
    }
    let mut groups: IndexMap<&[u32], Vec<&DecidingCondition>> = IndexMap::new();
    for one in chosen {
        groups.entry(&one.slots).or_default().push(one);
    }
    let of_them = |count: usize, which: &str| match count {
        _ if count == slots => String::new(),
        _ => format!(" ({which}for {count} of them)"),
    };
    let mut said = SaidNotes::default();
    let part = |(some, conditions): (&[u32], Vec<&DecidingCondition>)| {
        let which = ["", "", "both ", "each "][conditions.len().min(3)];
        let named = |one: &DecidingCondition| match one.since.last().filter(|_| deciders.len() > 1) {
            Some((text, is)) if is_false(&one.condition.expr) => format!("`{text}`, which is {is}"),
            _ if deciders.len() == 1 => said.phrase(view, one),
            _ => said.phrase_of_several(view, one),
        };
        let texts: Vec<String> = conditions.into_iter().map(named).collect();
        texts.join(" and ") + &of_them(some.len(), which)
    };
    let mut parts: Vec<String> = groups.into_iter().map(part).collect();
    let others = slots.saturating_sub(seen.len());
    parts.extend((others > 0).then(|| format!("other conditions{}", of_them(others, ""))));
    parts.join(" and ")
}

/// The condition that some parts decide, and the branch they are in.
fn decided(whole: &AdCondition, deciders: &[DecidingCondition]) -> String {
    let since = match deciders {
        [one] => one.since.iter().map(|(text, is)| format!("`{text}` is {is}")).collect::<Vec<_>>().join(" and "),
        _ => String::new(),
    };
    if since.is_empty() {
        format!(", so `{:#}` is not true", whole.expr)
    } else {
        format!(", in the branch of `{:#}` where {since}", whole.expr)
    }
}

/// Sorts conditions with undefined names last, unless the name may be a typo.
fn sort(view: &JobView<'_>, deciders: &mut [DecidingCondition]) {
    deciders.sort_by_key(|one| {
        let slip = absent_in(view, &one.condition, one.of_job).map(|note| !note.contains("did you mean"));
        (std::cmp::Reverse(one.slots.len()), slip.unwrap_or(false))
    });
}

/// Tests if a deciding condition differs from the whole condition.
fn is_below(whole: &AdCondition, one: &DecidingCondition) -> bool {
    !one.through.is_empty() || one.condition.expr.to_string() != whole.expr.to_string()
}

/// The notes and values in a sentence, of which each is written once.
#[derive(Default)]
struct SaidNotes(HashSet<String>);

impl SaidNotes {
    /// A deciding condition at the end of a part of a sentence, with its attribute and its values.
    fn phrase(&mut self, view: &JobView<'_>, one: &DecidingCondition) -> String {
        // A question ends a sentence.
        let is_question = |note: &String| note.contains('?');
        self.phrase_with(view, one, |note| if is_question(&note) { format!(" ({note})") } else { format!(": {note}") })
    }

    /// A deciding condition that others may follow, with its attribute and its values.
    fn phrase_of_several(&mut self, view: &JobView<'_>, one: &DecidingCondition) -> String {
        self.phrase_with(view, one, |note| format!(" ({note})"))
    }

    /// A deciding condition, with its attribute and a note or its values.
    fn phrase_with(&mut self, view: &JobView<'_>, one: &DecidingCondition, noted: impl Fn(String) -> String) -> String {
        let condition = &one.condition;
        let holder = match (one.through.last(), condition.place.via.last()) {
            (Some(_), Some(name)) | (Some(name), None) => {
                format!(" in `{name}` of {}", if one.of_job { "the job" } else { "slots" })
            }
            (None, Some(name)) => format!(" in `{name}`"),
            (None, None) => String::new(),
        };
        let note = match note_on(view, condition, one.of_job, &one.slots).map(noted) {
            Some(note) => Some(note).filter(|note| self.0.insert(note.clone())).unwrap_or_default(),
            None => {
                let values = view.opposites().notes(&condition.expr, one.of_job, &one.slots);
                in_parentheses(values.into_iter().filter(|value| self.0.insert(value.clone())))
            }
        };
        format!("`{:#}`{holder}{note}", condition.expr)
    }
}

/// Two conditions of the job that are true for some slots each, and for none both; or all of them.
fn apart(view: &JobView<'_>) -> Cause {
    let required: Vec<(usize, &AdCondition)> = view.conditions.required().collect();
    let holds = |class: &SlotClass, at: usize| class.one[at] == Truth::True;
    for (place, (second, later)) in required.iter().enumerate() {
        for (first, earlier) in &required[..place] {
            if !view.classes.all.iter().any(|class| holds(class, *first) && holds(class, *second)) {
                let count = |at: usize| view.classes.count(|class| holds(class, at));
                let (one, other) = (count(*first), count(*second));
                let (does, also) = (verb(one, "slot does", "slots do"), verb(other, "does", "do"));
                let (earlier, later) = (&earlier.expr, &later.expr);
                let label = format!("no slot satisfies both `{earlier:#}` and `{later:#}`");
                let text =
                    format!("no slot satisfies both `{earlier:#}` ({one} {does}) and `{later:#}` ({other} {also})");
                return Cause::new(Reason::NotTogether, label, text);
            }
        }
    }
    let text = format!("no slot satisfies all {} conditions of the job together", required.len());
    Cause::plain(Reason::NotTogether, text)
}

/// The cause of a condition of slots that is not true for some classes.
fn of_slots_condition(view: &JobView<'_>, Failing { condition, classes, .. }: &Failing<'_>) -> Cause {
    let (slots, all) = (view.classes.size(classes), view.pool.slots.len());
    let which = format!("{slots} of {}", counted(all, "slot"));
    let Some((conditions, place)) = *condition else {
        let has = verb(slots, "does not have Requirements, so it does", "do not have Requirements, so they do");
        return Cause::plain(Reason::Refused, format!("{which} {has} not match any job"));
    };
    let condition = &conditions.all[place];
    let places = places(view, condition, classes);
    let mut deciders = deciding(view, false, &places);
    sort(view, &mut deciders);
    let is_draining = |at: &u32| view.pool.slots[*at as usize].ad.eval_bool("Draining") == Some(true);
    let refusing = view.classes.ads_of(classes);
    let draining = if refusing.iter().all(is_draining) {
        verb(slots, ", which is draining,", ", which are draining,")
    } else {
        ""
    };
    let which = format!("{which}{draining} {} the job", verb(slots, "rejects", "reject"));
    let holder = |place: &PlacedCondition<'_>| match place.conditions.all[place.at].place.via.last() {
        Some(name) => name.to_string(),
        None => "Requirements".to_owned(),
    };
    let holders: Vec<String> = places.iter().map(holder).collect();
    let is_same = |other: &String| other.eq_ignore_ascii_case(&holders[0]);
    let holder = holders.first().filter(|_| holders.iter().all(is_same)).map_or("Requirements", String::as_str);
    let rejecting = if draining.is_empty() { "slots" } else { "draining slots" };
    let label = format!("{rejecting} reject the job: `{holder}` requires `{:#}`", condition.expr);
    let text = if deciders.first().is_some_and(|first| is_below(condition, first)) {
        format!("{which} because of {}{}", reasons(view, &deciders, slots), decided(condition, &deciders))
    } else {
        let note = match note_on(view, condition, false, &refusing) {
            Some(note) => format!(", but {note}"),
            None => view.beside(condition, false, &refusing),
        };
        format!("{which}: `{holder}` requires `{:#}`{note}", condition.expr)
    };
    let mut small = deciders.iter().map(|one| &one.condition.expr).chain([&condition.expr]).map(small_unit);
    let small = small.find_map(|note| note);
    let timed = opens(view, &condition.expr, &refusing).or_else(|| begins(view, &condition.expr, &refusing));
    let note = timed.or(small).unwrap_or_default();
    let slot = refusing.first().map(|at| &view.pool.slots[*at as usize].ad);
    let left_out = slot.and_then(|slot| left_out_by([view.job, slot], &view.pool.rules, &condition.expr));
    let unsent = left_out.map(|(name, setting)| format!("; {setting} leaves `{name}` out of requests"));
    Cause::new(Reason::Refused, label, text + &note + &unsent.unwrap_or_default())
}

/// The places of a condition of slots in the policies of some classes that fail by it.
fn places<'v>(view: &'v JobView<'_>, condition: &AdCondition, classes: &[usize]) -> Vec<PlacedCondition<'v>> {
    let text = format!("{:#}", condition.expr);
    let mut of_policy: IndexMap<usize, Vec<usize>> = IndexMap::new();
    for class in classes {
        of_policy.entry(view.classes.all[*class].policy).or_default().push(*class);
    }
    let placed = |(policy, classes): (usize, Vec<usize>)| {
        let conditions = &view.classes.policies[policy].conditions;
        let at = conditions.required().find(|(_, other)| format!("{:#}", other.expr) == text)?.0;
        Some(PlacedCondition { conditions, at, classes })
    };
    of_policy.into_iter().filter_map(placed).collect()
}

/// The note on a condition with a circular reference or an undefined name, or on a plugin that slots do not have.
fn note_on(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    circle(view, condition, of_job, slots)
        .or_else(|| no_plugin(view, condition, of_job, slots))
        .or_else(|| absent_in(view, condition, of_job))
        .or_else(|| absent_below(view, condition, of_job, slots))
}

/// The note on a condition that is undefined for the first of some slots because an attribute of the job refers to one that it does not
/// define.
fn absent_below(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    let slot = &view.pool.slots.get(*slots.first()? as usize)?.ad;
    let (my, target) = if of_job { (view.job, slot) } else { (slot, view.job) };
    let scope = Scope::new(my, &view.pool.settings).with_target(target);
    if truth(scope, &condition.expr) != Truth::Undefined {
        return None;
    }
    explain(scope, &condition.expr).iter().find_map(|cause| {
        let is_missing =
            matches!(cause.reason, eval::explain::Reason::Missing { .. } | eval::explain::Reason::MissingIn(_));
        let via = cause.path.last().filter(|via| is_missing && (via.side == AdSide::My) == of_job)?;
        let Reference { scope, name } = cause.part.tree().reference(cause.part.root())?;
        let is_own = scope != RefScope::Target && !view.job.contains(name);
        let own = view.job.get(via.name).filter(|_| is_own)?;
        Some(format!("{} of the job is `{own:#}`, and the job does not define `{name}`", via.name))
    })
}

/// The note on a condition that `condor_submit` adds for the URL of a file.
fn no_plugin(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    let origin = Origin::of(view.job, &condition.expr).filter(|_| of_job)?;
    let method = method(&condition.expr).filter(|_| origin == Origin::Plugin)?;
    let is_every = slots.len() == view.pool.slots.len();
    let whose = if is_every { "no slot has" } else { verb(slots.len(), "it does not have", "they do not have") };
    Some(format!("{whose} a plugin for {method}:// URLs"))
}

/// The note on a circular reference, with its path and ad, if it makes a condition fail for the first of some slots
/// because of that.
fn circle(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    let slot = &view.pool.slots.get(*slots.first()? as usize)?.ad;
    let (my, target) = if of_job { (view.job, slot) } else { (slot, view.job) };
    let scope = Scope::new(my, &view.pool.settings).with_target(target);
    if !matches!(truth(scope, &condition.expr), Truth::Undefined | Truth::Error) {
        return None;
    }
    let found = explain(scope, &condition.expr);
    let back = found.iter().find(|cause| matches!(cause.reason, eval::explain::Reason::Circular))?;
    let in_side = back.path.last()?.side;
    let across = |side: AdSide| if side == AdSide::My { AdSide::Target } else { AdSide::My };
    let Reference { scope, name } = back.part.tree().reference(back.part.root())?;
    let is_own = (if in_side == AdSide::My { my } else { target }).contains(name);
    let side = match scope {
        RefScope::My => in_side,
        RefScope::Either if is_own => in_side,
        RefScope::Target | RefScope::Either => across(in_side),
    };
    let first = back.path.iter().rposition(|via| via.name == name && via.side == side)?;
    let way = &back.path[first..];
    let whose = |via: &Via| if (via.side == AdSide::My) == of_job { "the job" } else { "slots" };
    let (one, apart) = (whose(&way[0]), way.iter().any(|via| whose(via) != whose(&way[0])));
    let step = |via: &Via| if apart { format!("`{}` of {}", via.name, whose(via)) } else { format!("`{}`", via.name) };
    let steps: Vec<String> = way.iter().chain([&way[0]]).map(step).collect();
    let place = if apart { String::new() } else { format!(" in {one}") };
    Some(format!("{} is a circular reference{place}, so it is UNDEFINED", steps.join(" → ")))
}

/// The note on an undefined name in a condition.
fn absent_in(view: &JobView<'_>, condition: &AdCondition, of_job: bool) -> Option<String> {
    let names = references(condition.expr.tree(), condition.expr.root());
    let is_here = |one: &&MissingAttribute| {
        let is_named = |found: &Reference| one.name.eq_ignore_ascii_case(&found.to_string());
        one.of_job == of_job && one.decides && names.iter().any(is_named)
    };
    let one = view.absent.iter().find(is_here)?;
    let origin = Origin::of(view.job, &condition.expr).filter(|_| of_job);
    if origin == Some(Origin::SharedFiles) && one.is_of_own_ad() {
        return Some("FileSystemDomain of the access point is not known here".to_owned());
    }
    // Other jobs may have what this one lacks.
    let mut note = match one.name.split_once('.') {
        Some((_, name)) if one.is_of_own_ad() == of_job => format!("the job does not define `{name}`"),
        Some((_, name)) => format!("no slot advertises `{name}`"),
        None => format!("neither this job nor any slot defines `{}`", one.name),
    };
    if let Some(word) = quoted(view, &condition.expr, &one.name, of_job) {
        note.push_str(&format!("; did you mean the string \"{word}\"?"));
    } else if let Some(name) = &one.similar {
        note.push_str(&format!("; did you mean `{name}`?"));
    } else if !of_job && !one.name.to_ascii_uppercase().starts_with("MY.") {
        note = format!("the job does not define `{}`", one.name.trim_start_matches("TARGET."));
    }
    if let Some(command) = origin.and_then(|origin| origin.command(view.job)) {
        note.push_str(&format!(", which `{command}` requires"));
    }
    Some(note)
}

#[cfg(test)]
mod tests {
    use crate::explain::PoolFacts;
    use crate::explain::job_view::JobView;
    use classmate::internal::ad::ClassAd;
    use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};

    fn first(job: &str, slots: &[&str]) -> String {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots = slots.iter().map(|text| ad(text)).collect();
        let snapshot = Snapshot { slots, ..Snapshot::default() };
        let prepared = PreparedPool::for_explanation(&snapshot).unwrap();
        let pool = PoolFacts::new(&prepared);
        JobView::of(&pool, &ad(job)).explanation("1.0".to_owned(), "a@x".to_owned()).causes[0].text.clone()
    }

    const SMALL: &str =
        "[Name = \"a\"; MyType = \"Machine\"; OpSys = \"LINUX\"; Memory = 10; GPUs = 0; Requirements = true]";
    const LARGE: &str = "[Name = \"b\"; MyType = \"Machine\"; OpSys = \"LINUX\"; Memory = 40; GPUs = 2; \
                         Requirements = START; START = TARGET.Owner == \"bob\"]";

    const OFF: &str = "[Name = \"c\"; MyType = \"Machine\"; Memory = 40; Requirements = START; START = false]";

    #[test]
    fn the_values_stand_beside_the_condition() {
        assert_eq!(
            first("[RequestMemory = 50; Requirements = TARGET.Memory >= RequestMemory]", &[SMALL, LARGE]),
            "no slot satisfies `TARGET.Memory >= RequestMemory` (Memory of slots is 10 to 40 MB, RequestMemory of the job is 50 MB)"
        );
        assert_eq!(
            first("[Owner = \"al\"; Requirements = TARGET.Memory >= 20]", &[SMALL, LARGE]),
            "1 of 2 slots rejects the job: `START` requires `TARGET.Owner == \"bob\"` (Owner of the job is \"al\")"
        );
        // An attribute that is not a string selects no slots by name, although most slots do not define it.
        let plain = |name: &str| {
            format!("[Name = \"{name}\"; MyType = \"Machine\"; OpSys = \"LINUX\"; Memory = 10; Requirements = true]")
        };
        let without: Vec<String> = ["d", "e", "f", "g", "h", "i", "j", "k"].map(plain).into();
        let docker =
            |name: &str| LARGE.replace("\"b\"", &format!("\"{name}\"")).replace("GPUs", "HasDocker = true; GPUs");
        let all: Vec<String> = [without, vec![docker("l"), docker("m")]].concat();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let found = first("[Owner = \"al\"; Requirements = TARGET.HasDocker]", &all);
        assert!(found.contains("HasDocker"), "{found}");
        // A slot that rejects every job is not the first cause.
        assert_eq!(
            first("[Requirements = TARGET.Memory >= 20]", &[SMALL, OFF]),
            "1 of 2 slots does not satisfy `TARGET.Memory >= 20` (Memory of slots is 10 MB)"
        );
        assert_eq!(
            first("[Owner = \"al\"; Requirements = TARGET.Memory >= 10]", &[LARGE]),
            "1 of 1 slot rejects the job: `START` requires `TARGET.Owner == \"bob\"` (Owner of the job is \"al\")"
        );
    }

    #[test]
    fn an_unquoted_word_and_a_misspelled_name_are_reported() {
        assert_eq!(
            first("[Requirements = TARGET.Memory > 1 && TARGET.OpSys == LINUX]", &[SMALL]),
            "no slot satisfies `TARGET.OpSys == LINUX`: neither this job nor any slot defines `LINUX`; did you mean the string \"LINUX\"?"
        );
        assert_eq!(
            first("[Requirements = TARGET.Memroy > 1]", &[SMALL]),
            "no slot satisfies `TARGET.Memroy > 1`: no slot advertises `Memroy`; did you mean `Memory`?"
        );
    }

    #[test]
    fn conditions_that_exclude_each_other_are_reported() {
        assert_eq!(
            first(
                "[Requirements = TARGET.Memory < 20 && TARGET.OpSys == \"LINUX\" && TARGET.GPUs > 1]",
                &[SMALL, LARGE]
            ),
            "no slot satisfies both `TARGET.Memory < 20` (1 slot does) and `TARGET.GPUs > 1` (1 does)"
        );
    }
}
