//! The obstacles that kept a job from a slot in a cycle, in sentences, the most significant first.

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{Clause, truth};
use crate::explain::cycle::competition::Competition;
use crate::explain::cycle::group_status::GroupStatus;
use crate::explain::cycle::limit_status::all_reached;
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use crate::explain::cycle::unknown_group::UnknownGroup;
use crate::explain::values::{of_ad, verb};
use classmate::Scope;
use classmate::internal::eval::conditions::Connective;
use classmate::internal::plural::counted;
use classmate::internal::value::logic::Truth;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::summary::Stopped;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::priority::ranking::{HeldBack, HeldUntil};
use classmate_pool::internal::queue::job::{Activity, is_factory};
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{Match, Rejected, Rejection};

/// The obstacle of a request for which slots match, by what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CycleObstacle {
    ConcurrencyLimit,
    /// A limit of the submitter or of its group.
    Limit(Stopped),
    PreemptionRequirements,
    Rank,
    /// Other jobs got or use the slots.
    Taken,
}

impl CycleObstacle {
    /// The obstacle by the last rejection of an equal request, and the reason the submitter got no more.
    pub(crate) fn of(refused: Option<&Rejected>, stopped: Option<Stopped>) -> Self {
        let of_limit =
            stopped.filter(|stopped| matches!(stopped, Stopped::ShareUsed | Stopped::AtCeiling | Stopped::GroupQuota));
        match refused.map(|refused| (refused.rejection, refused.slots)) {
            Some((Rejection::ConcurrencyLimit, _)) => CycleObstacle::ConcurrencyLimit,
            Some((Rejection::SubmitterLimit, _)) => CycleObstacle::Limit(limit(stopped)),
            Some((_, slots)) if slots.beyond_share > 0 => CycleObstacle::Limit(limit(stopped)),
            Some((Rejection::PreemptionRequirements, _)) => CycleObstacle::PreemptionRequirements,
            Some((_, slots)) if slots.prefers_its_job > 0 => CycleObstacle::Rank,
            _ => of_limit.map_or(CycleObstacle::Taken, CycleObstacle::Limit),
        }
    }
}

/// The limit by which a submitter got no more; its share if nothing else was recorded.
fn limit(stopped: Option<Stopped>) -> Stopped {
    stopped.filter(|stopped| matches!(stopped, Stopped::AtCeiling | Stopped::GroupQuota)).unwrap_or(Stopped::ShareUsed)
}

/// The group of submitters without a group.
const ROOT: &str = "<none>";

/// The causes for which the job got no slot although some match, the most significant first; or its match.
pub(crate) fn of_cycle(
    story: &CycleTrace,
    (pool, pre_cycle): (&PoolFacts, &PreCycleFacts),
    asked: &JobInCycle<'_>,
) -> Vec<Cause> {
    if let Some(made) = &story.matched {
        let text =
            format!("the job matched {} in spin {} of pie {}{}", made.slot, made.spin, made.pie, displacing(made));
        return vec![Cause::new(Reason::Matched, "matched", text)];
    }
    if let Some(cause) = not_waiting(story, pool, asked) {
        return vec![cause];
    }
    let taken = &story.taken;
    let partition = (pre_cycle.elsewhere > 0).then(|| partition(story, pool, asked)).flatten();
    if taken.usable == 0 {
        return pre_cycle.withheld.clone().or_else(|| pre_cycle.deferred.clone()).or(partition).into_iter().collect();
    }
    let mut found: Vec<Cause> = Vec::new();
    if let Some(refused) = story.refused.as_ref().filter(|refused| refused.rejection == Rejection::SiteLimit) {
        let text = format!("{}: no more such jobs start there now", refused.reason);
        found.push(Cause::new(Reason::HeldBack, &refused.reason, text));
    }
    if taken.not_looked_at == taken.usable {
        found.extend(not_looked_at(taken));
        return found;
    }
    if let Some((_, cause)) = pre_cycle.short.as_ref().filter(|(short, _)| *short == taken.usable) {
        return vec![cause.clone()];
    }
    let unsent = story.unsent.as_ref();
    if let Some(unsent) = unsent.filter(|unsent| unsent.slots.len() == taken.usable) {
        return vec![unsent.cause(taken.usable)];
    }
    let obstacle = CycleObstacle::of(story.refused.as_ref(), story.stopped);
    // Unclaimed slots that are too heavy, beside others that the rejection is about.
    let is_too_heavy =
        taken.unclaimed_weight.is_some() && story.refused.as_ref().is_some_and(|one| one.slots.over_limit > 0);
    match obstacle {
        CycleObstacle::Limit(stopped) => found.extend(of_limit(stopped, story, pool, asked)),
        CycleObstacle::ConcurrencyLimit => {}
        _ if is_too_heavy => found.extend(of_limit(limit(story.stopped), story, pool, asked)),
        _ => {}
    }
    // Slots are left that weigh no more than any other, or none is light enough: the limit alone keeps the job idle.
    let is_full = story.group.as_ref().is_some_and(|group| group.capped || group.left < taken.weight);
    let is_left = taken.unclaimed_weight.is_some_and(|weight| weight <= taken.weight || is_full);
    if is_left && found.iter().any(is_limit) {
        found.extend(unsent.map(|unsent| unsent.cause(taken.usable)));
        found.extend(partition);
        found.extend(pre_cycle.withheld.clone());
        return found;
    }
    // Slots may be gone before the rest, which are in use, rejects the job. That these are never preempted, which is the default,
    // is not news.
    let is_about_use = matches!(obstacle, CycleObstacle::PreemptionRequirements | CycleObstacle::Rank);
    let is_never = story.preemption.iter().any(is_false);
    let is_mostly_won = is_never || taken.matched_slots() * 2 > taken.usable;
    if is_about_use && is_mostly_won {
        found.extend(taken.won_causes(2));
    }
    match obstacle {
        CycleObstacle::Limit(_) => {}
        CycleObstacle::ConcurrencyLimit => found.extend(all_reached(&story.limits)),
        CycleObstacle::PreemptionRequirements => {
            found.extend(protected(pre_cycle, taken.preempted));
        }
        CycleObstacle::Rank => found.extend(pre_cycle.keeping.iter().cloned()),
        // A limit that was reached before the first request was rejected.
        CycleObstacle::Taken if story.refused.is_none() => found.extend(all_reached(&story.limits)),
        CycleObstacle::Taken => {}
    }
    if is_about_use && !is_mostly_won {
        found.extend(taken.won_causes(2));
    }
    let bounded = found.iter().any(is_limit);
    if found.iter().all(|cause| cause.reason == Reason::HeldBack) {
        // It has the turn of the group that it belongs to.
        found.extend(story.group.as_ref().and_then(|group| unknown_group(group, pool, asked)));
        found.extend(taken.causes(3));
    }
    found.extend(pre_cycle.short.iter().map(|(_, cause)| cause.clone()));
    // A limit is about all slots; other causes are about those that are considered.
    let at = if !bounded && taken.not_looked_at * 2 > taken.usable { 0 } else { found.len() };
    found.splice(at..at, not_looked_at(taken));
    if let Some(refused) = story.refused.as_ref().filter(|_| found.is_empty()) {
        let text = format!("the request of job {} was rejected: {}", refused.job, refused.reason);
        found.push(Cause::new(Reason::Taken, &refused.reason, text));
    }
    if let Some(unsent) = unsent {
        let at = if unsent.unclaimed > 0 { 0 } else { found.len() };
        found.insert(at, unsent.cause(taken.usable));
    }
    found.extend(partition);
    found.extend(pre_cycle.withheld.clone());
    found
}

/// Tests if a cause is a limit, which is about all slots.
fn is_limit(cause: &Cause) -> bool {
    matches!(
        cause.reason,
        Reason::UnknownGroup | Reason::GroupQuota | Reason::Share | Reason::Ceiling | Reason::ConcurrencyLimit
    )
}

/// The causes of a limit of the submitter or of its group.
fn of_limit(stopped: Stopped, story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Vec<Cause> {
    if stopped == Stopped::AtCeiling {
        return vec![ceiling(story, asked)];
    }
    let taken = &story.taken;
    let lightest = &LightestSlot::of(taken);
    let is_full = |group: &&GroupStatus| group.capped || group.left < lightest.weight || group.exhausted;
    let Some(group) = story.group.as_ref().filter(is_full) else {
        // Who has every slot that matches does not lack a share.
        let has_all =
            taken.left == 0 && taken.in_use.is_empty() && taken.won.iter().all(|won| won.submitter == asked.submitter);
        return if has_all { Vec::new() } else { vec![share(story, pool, asked, lightest)] };
    };
    if taken.is_of_group {
        return Vec::new();
    }
    unknown_group(group, pool, asked).into_iter().chain([group_quota(group, lightest)]).collect()
}

/// The sentence on a job that belongs to a group because the one that it names does not exist: another may have been meant.
fn unknown_group(group: &GroupStatus, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Option<Cause> {
    let unknown = UnknownGroup::of(pool, &asked.asker.ad);
    let unknown = unknown.filter(|one| one.similar.is_some() || group.group == ROOT);
    unknown.map(|unknown| unknown.cause(&group.group))
}

/// The lightest slot that a job could have got: of the unclaimed ones, if there are any.
struct LightestSlot {
    weight: f64,
    is_unclaimed: bool,
}

impl LightestSlot {
    fn of(taken: &Competition) -> Self {
        let weight = taken.unclaimed_weight.unwrap_or(taken.weight).min(1e9);
        LightestSlot { weight, is_unclaimed: taken.unclaimed_weight.is_some() }
    }
}

impl std::fmt::Display for LightestSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unclaimed = if self.is_unclaimed { "unclaimed " } else { "" };
        write!(f, "the lightest {unclaimed}matching slot has weight {}", slots(self.weight))
    }
}

/// The sentence about matching slots that the cycle does not consider, if there are any.
fn not_looked_at(taken: &Competition) -> Option<Cause> {
    if taken.usable == 1 && taken.not_looked_at == 1 {
        let text = "the cycle does not consider the only matching slot";
        let why = taken.excluded.iter().map(|(why, _)| format!("it is {why}")).collect::<Vec<_>>().join(", ");
        return Some(Cause::new(Reason::NotLookedAt, text, format!("{text}: {why}")));
    }
    let why = |(why, count): &(String, usize)| format!("{count} {} {why}", verb(*count, "is", "are"));
    let why = taken.excluded.iter().map(why).collect::<Vec<_>>().join(", ");
    let all = counted(taken.usable, "matching slot");
    let (label, text) = match taken.not_looked_at {
        0 => return None,
        some if some == taken.usable => {
            let text = format!("the cycle does not consider any of the {all}");
            (text.clone(), text)
        }
        some => {
            let label = "the cycle does not consider most of the matching slots";
            (label.to_owned(), format!("the cycle does not consider {some} of the {all}"))
        }
    };
    Some(Cause::new(Reason::NotLookedAt, label, format!("{text}: {why}")))
}

/// The sentence about a group whose limit leaves no room for the lightest matching slot.
fn group_quota(group: &GroupStatus, lightest: &LightestSlot) -> Cause {
    // A group that was allocated less than its quota may use all of it.
    let is_more = group.quota > group.allocated && group.limit > group.allocated;
    let is_quota = is_more && (group.limit - group.quota).abs() < 1e-6 && !group.capped;
    let (word, bound) = if is_more { ("limit", group.limit) } else { ("allocated", group.allocated) };
    let left = bound - group.usage;
    let is_part = left > 1e-6 && left < lightest.weight && (is_quota || !is_more);
    let full = match (is_quota, is_part, group.usage > 0.0) {
        (false, ..) if !is_more && bound <= 0.0 => "has no allocation",
        (true, true, false) => "has a quota of less than a matching slot",
        (false, true, false) => "was allocated less than a matching slot",
        (true, true, true) => "has less than a matching slot left of its quota",
        (false, true, true) => "has less than a matching slot left of its allocation",
        (true, false, _) if left < lightest.weight => "has reached its quota",
        (false, false, _) if !is_more && left < lightest.weight => "has used its allocation",
        (_, false, _) => "cannot use more slots",
    };
    let rest = if is_part || !group.capped && group.left > 0.0 && group.left < lightest.weight {
        format!("; {lightest}")
    } else if group.capped || group.left <= 0.0 {
        String::new()
    } else {
        "; what is left is less than a slot for each of its submitters".to_owned()
    };
    let note = "; during the cycle, a match counts the whole partitionable slot";
    let whole = if group.counts_whole_slots { note } else { "" };
    let text = format!(
        "group {} {full}: quota {}, {word} {}, in use {}, requested {}; {}{rest}{whole}",
        group.group,
        slots(group.quota),
        slots(bound),
        slots(group.usage),
        slots(group.demand),
        group.why
    );
    let cause = Cause::new(Reason::GroupQuota, format!("group {} {full}", group.group), text);
    Cause { group: Some(group.group.clone()), ..cause }
}

/// The sentence about a submitter at its ceiling.
fn ceiling(story: &CycleTrace, asked: &JobInCycle<'_>) -> Cause {
    let label = match story.ceiling {
        Some(ceiling) => format!("{} has reached its ceiling of {ceiling}", asked.submitter),
        None => format!("nothing is left to allocate to {}", asked.submitter),
    };
    let uses = slots(story.usage + story.submitter_weight);
    Cause::new(Reason::Ceiling, &label, format!("{label}: {uses} in use"))
}

/// The cause of all jobs whose submitter has reached its limit.
pub(super) const SUBMITTER_LIMIT: &str = "submitter limit reached";

/// The sentence about a submitter that reached its limit.
fn share(story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>, lightest: &LightestSlot) -> Cause {
    let turn = story.turns.last();
    let (fraction, limit) = turn.map_or((0.0, 0.0), |turn| (turn.share * 100.0, turn.limit));
    let text = format!(
        "submitter limit of {} reached: share {fraction:.1}% of the pie, {} in use before the cycle, {} matched, limit {} in its last turn; \
        {}",
        asked.submitter,
        slots(story.usage),
        story.submitter_matched,
        slots(limit),
        uncounted(pool).unwrap_or_else(|| lightest.to_string())
    );
    Cause::new(Reason::Share, SUBMITTER_LIMIT, text)
}

/// The clause about slots that do not count for the size of the pool, of which a limit is a part.
fn uncounted(pool: &PoolFacts) -> Option<String> {
    let (all, left_out) = (pool.of_slots.len(), pool.of_slots.iter().filter(|slot| !slot.counts).count());
    let constraint = pool.rules.pool_size.as_ref().filter(|_| left_out > 0)?;
    let all = counted(all, "slot");
    Some(format!(
        "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT (`{constraint:#}`) leaves {left_out} of {all} out of the pool size"
    ))
}

/// Tests if a clause of `PREEMPTION_REQUIREMENTS` is the constant that never allows preemption.
fn is_false(clause: &Clause) -> bool {
    clause.text == "false"
}

/// Tests if a condition of `PREEMPTION_REQUIREMENTS` without parts is not true for some slots.
pub(crate) fn is_failing(clause: &Clause) -> bool {
    clause.joint != Connective::All && clause.together.is_some() && clause.alone.yes < clause.alone.total()
}

/// The conditions of `PREEMPTION_REQUIREMENTS` that protect slots in use, in one sentence.
pub(crate) fn protected(facts: &PreCycleFacts, preempted: usize) -> Option<Cause> {
    let failing: Vec<&Clause> = facts.preemption.iter().filter(|clause| is_failing(clause)).collect();
    let kept = |clause: &Clause| clause.alone.total() - clause.alone.yes;
    let total = failing.first()?.alone.total();
    let text = match failing.as_slice() {
        [never, ..] if is_false(never) => {
            // Those that a job got by the rank of the slot are counted for its submitter.
            let total = total.saturating_sub(preempted);
            if total == 0 {
                return None;
            }
            let busy = verb(total, "slot is", "slots are");
            format!("{total} matching {busy} busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption")
        }
        [one] => format!(
            "PREEMPTION_REQUIREMENTS protects {} of {} in use: `{}` is not true{}",
            kept(one),
            counted(total, "matching slot"),
            one.text,
            facts.unmet
        ),
        several => {
            let each = |one: &&Clause| format!("`{}` is not true for {}", one.text, kept(one));
            let each = several.iter().take(3).map(each).collect::<Vec<_>>().join(", ");
            format!("PREEMPTION_REQUIREMENTS protects {} in use: {each}", counted(total, "matching slot"))
        }
    };
    let label = if failing.iter().copied().any(is_false) {
        "the matching slots are busy, and PREEMPTION_REQUIREMENTS never allows preemption"
    } else {
        "PREEMPTION_REQUIREMENTS protects matching slots in use"
    };
    Some(Cause::new(Reason::PreemptionRequirements, label, text))
}

/// The partition of a job, and the number of slots in it.
fn partition(story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Option<Cause> {
    let (name, slots) = pool.order.elsewhere(asked.id, pool.of_slots.iter().map(|facts| &facts.name))?;
    let all = pool.of_slots.len();
    let taken = story.taken.usable;
    (slots > 0).then(|| {
        let label = format!("partition `{name}` of the job has {} of {all} slots", all - slots);
        Cause::new(Reason::Unsatisfied, &label, format!("{label}, {taken} of which match"))
    })
}

/// The sentence on a job that the policy does not serve yet.
pub(super) fn held_back(held: &HeldBack) -> Cause {
    let listed = held.listed.as_ref().map(|reason| format!(" (listed reason: {reason})")).unwrap_or_default();
    let label = match held.until {
        HeldUntil::Released => "the job is held: its priority is 0",
        HeldUntil::Time(_) => "the job may not begin yet",
        HeldUntil::Known if listed.contains("Dependency") => "the job waits for a dependency",
        HeldUntil::Known => "the job has no begin time, as one that waits for a dependency",
    };
    let text = match held.until {
        HeldUntil::Time(begins) => format!("the job may not begin before {}", moment(begins)),
        _ => label.to_owned(),
    };
    Cause::new(Reason::HeldBack, label, format!("{text}{listed}"))
}

/// A time in words.
pub(in crate::explain) fn moment(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds);
    time.map_or_else(|_| format!("second {seconds}"), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// The user that a match preempts and the reason, or a note that the slot is offline.
fn displacing(made: &Match) -> String {
    let whom = made.displaced.as_deref().unwrap_or("another user");
    let mut text = match made.preempting {
        PreemptState::None => String::new(),
        PreemptState::Rank => format!(", preempting {whom}: the slot prefers this job"),
        PreemptState::Priority => format!(", preempting {whom}: PREEMPTION_REQUIREMENTS is true"),
    };
    if made.offline {
        text.push_str("; the slot is offline, so the match only wakes it and the job waits for another cycle");
    }
    text
}

/// The universe of an idle job that the cycle does not match, and who starts the job instead.
pub(super) fn unmatched(universe: Option<i64>) -> &'static str {
    match universe {
        Some(7) => "is in the scheduler universe, without a slot: START_SCHEDULER_UNIVERSE of the access point decides",
        Some(12) => "is in the local universe, without a slot: START_LOCAL_UNIVERSE of the access point decides",
        Some(9) => "is in the grid universe, without a slot: the access point submits it to another system",
        Some(11) => "is in the parallel universe: the dedicated scheduler of the access point claims slots for it",
        _ => "is in a universe that is not matched",
    }
}

/// The cause for which the ad of a job factory gets no slot.
pub(in crate::explain) fn of_factory(facts: AdReader<'_>, activity: Activity) -> Option<Cause> {
    let text = "this is the ad of a job factory, not a job, so it is never matched to a slot; the jobs that it materializes are";
    (activity != Activity::Idle && is_factory(facts)).then(|| Cause::plain(Reason::NotIdle, text))
}

/// The cause for which the cycle does not offer the job.
fn not_waiting(story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Option<Cause> {
    let facts = AdReader::of(&asked.asker.ad, &pool.settings);
    if let Some(made) = &story.displaced {
        let ground = match made.preempting {
            PreemptState::Rank => "the slot prefers the other job",
            _ => "PREEMPTION_REQUIREMENTS is true",
        };
        let text = format!("the job is preempted on {} by job {} of {}: {ground}", made.slot, made.job, made.submitter);
        return Some(Cause::new(Reason::Displaced, "preempted", text));
    }
    if let Some(cause) = of_factory(facts, asked.activity) {
        return Some(cause);
    }
    if asked.activity != Activity::Idle {
        let status = facts.integer("JobStatus");
        let universe = facts.integer("JobUniverse").filter(|_| status == Some(1));
        let word = match status {
            Some(1) => unmatched(universe),
            Some(2) => "is running",
            Some(3) => "was removed",
            Some(4) => "is completed",
            Some(5) => "is held",
            Some(6) => "is transferring output",
            Some(7) => "is suspended",
            _ => "is not idle",
        };
        let status = status.map_or_else(|| "not defined".to_owned(), |status| status.to_string());
        let universe = universe.map(|universe| format!(", JobUniverse is {universe}")).unwrap_or_default();
        let reason = facts.string("HoldReason").map(|reason| format!(": {reason}")).unwrap_or_default();
        let text = format!("the job {word} (JobStatus is {status}{universe}){reason}");
        return Some(Cause::new(Reason::NotIdle, format!("the job {word}"), text));
    }
    if let Some(held) = pool.order.held_back(asked.id) {
        return Some(held_back(held));
    }
    if let Some(constraint) = &pool.rules.jobs {
        let holds = truth(Scope::new(&asked.asker.ad, &pool.settings), constraint);
        if holds != Truth::True {
            let label = "NEGOTIATOR_JOB_CONSTRAINT excludes the job";
            let values = of_ad(constraint, &asked.asker.ad, &pool.settings);
            return Some(Cause::new(Reason::LeftOut, label, format!("{label}: `{constraint:#}` is not true{values}")));
        }
    }
    if story.stopped.is_none() {
        let unknown = || {
            format!(
                "submitter {} is not in the cycle: it is not advertised, or its ad does not request any slots",
                asked.submitter
            )
        };
        return Some(match &story.left_out {
            Some(text) => {
                Cause::new(Reason::LeftOut, "NEGOTIATOR_SUBMITTER_CONSTRAINT excludes the submitter", text.clone())
            }
            None => Cause::plain(Reason::LeftOut, unknown()),
        });
    }
    if let Some(uncounted) = uncounted(pool).filter(|_| pool.of_slots.iter().all(|slot| !slot.counts)) {
        return Some(Cause::new(Reason::Share, "the pool size is 0", format!("the pool size is 0: {uncounted}")));
    }
    None
}
