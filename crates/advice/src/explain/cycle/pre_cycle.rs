//! Facts about a job before a cycle: everything that the trace of the cycle needs from slots and their ads.
//!
//! In: a view of a job. Out: plain data, so that the slots themselves may go into the cycle.

use crate::explain::ad_table::AdTable;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{AdCondition, Clause, conditions_of, counted, truth_of};
use crate::explain::clock::begin;
use crate::explain::cycle::limit_status::{LimitStatus, limits};
use crate::explain::cycle::obstacle::{is_failing, moment};
use crate::explain::cycle::slot_rank::keeping;
use crate::explain::cycle::unsent::UnsentAttributes;
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use crate::explain::slot_classes::SlotClass;
use crate::explain::values::{Opposites, tally, verb};
use crate::submit::CRON;
use crate::submit::added::Origin;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::plural;
use classmate::internal::program::Side;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalOptions, Name, Scope};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::consumption::Shortage;
use classmate_pool::internal::pool::slot::Slot;
use classmate_pool::internal::quota::derivation::slots;

/// The slots a job could use, and the obstacles to them.
#[derive(Debug, Clone)]
pub struct PreCycleFacts {
    /// The slots that match the job, claimed or not, by their places in the pool.
    pub(crate) usable: Vec<usize>,
    /// Slots that would match the job if they were in its partition.
    pub(crate) elsewhere: usize,
    /// The conditions of `PREEMPTION_REQUIREMENTS`, for the matching slots in use that it protects.
    pub(crate) preemption: Vec<Clause>,
    /// The values of the attributes of the one that is not true, for the slots that it protects; empty if there are several.
    pub(crate) unmet: String,
    /// The causes for which matching slots in use keep their jobs because of `Rank`.
    pub(crate) keeping: Vec<Cause>,
    /// The concurrency limits that the job requests, as they are held.
    pub(crate) limits: Vec<LimitStatus>,
    /// Attributes that its requests do not have, although slots require them.
    pub(crate) unsent: Option<UnsentAttributes>,
    /// The number of slots that match the job but have less than their consumption policy takes, and the cause.
    pub(crate) short: Option<(usize, Cause)>,
    /// The cause of a job that no slot matches before a time of its own.
    pub(crate) deferred: Option<Cause>,
    /// The cause of a job to which the policy does not give some of the slots that match by their Requirements.
    pub(crate) withheld: Option<Cause>,
}

impl PreCycleFacts {
    /// The facts for a job of a submitter; `unsent` are the attributes that its requests do not have.
    pub fn of(view: &JobView<'_>, submitter: &str, unsent: &[Name]) -> Self {
        let mut usable = view.classes.ads(SlotClass::matches).into_iter().map(|at| at as usize).collect::<Vec<_>>();
        let withheld = withheld(view, &mut usable);
        let (preemption, unmet) = preemption(view, submitter, &usable);
        PreCycleFacts {
            preemption,
            unmet,
            keeping: keeping(view.pool, view.job, submitter, &usable),
            limits: limits(view.pool, view.job),
            unsent: UnsentAttributes::of(view, &usable, unsent),
            short: short(view, &usable),
            deferred: (usable.is_empty() && withheld.is_none()).then(|| deferred(view)).flatten(),
            withheld,
            elsewhere: view.classes.count(|class| is_elsewhere(view, class)),
            usable,
        }
    }
}

/// Removes the slots that the policy does not give to a job, and returns the cause; none if it may have all.
fn withheld(view: &JobView<'_>, usable: &mut Vec<usize>) -> Option<Cause> {
    let (pool, all) = (view.pool, usable.len());
    let ads: Vec<&ClassAd> = usable.iter().map(|at| &pool.slots[*at].ad).collect();
    let unmet = pool.order.requirements()?.unmet(view.job, &ads, &pool.settings);
    let by_name = tally(unmet.iter().flatten().map(|name| ((*name).to_owned(), 1)));
    let mut unmet = unmet.iter();
    usable.retain(|_| unmet.next().is_none_or(Option::is_none));
    let each = |(name, slots): &(String, usize)| {
        let slots = plural::counted(*slots, "slot");
        match view.job.get(name.as_str()) {
            Some(value) => format!("{slots} because {name} of the job is {value:#}"),
            // Made of other attributes, as tags are of RequestMemory.
            None => format!("{slots} because of what it requests as {name}"),
        }
    };
    let (first, _) = by_name.first()?;
    let label = format!("the policy withholds slots from the job because of {first}");
    let matches = verb(all, "slot that matches", "slots that match");
    let why = by_name.iter().map(each).collect::<Vec<_>>().join(", ");
    let given = usable.len();
    let text = format!("the policy gives the job {given} of {all} {matches} by Requirements, and withholds {why}");
    Some(Cause::new(Reason::Unsatisfied, label, text))
}

/// Tests if some slot matches a job at a time.
fn matches_at(view: &JobView<'_>, job: &ClassAd, now: i64) -> bool {
    let then = EvalOptions { now, ..view.pool.settings.clone() };
    view.pool.slots.iter().any(|slot| symmetric(job, &slot.ad, &then))
}

/// The cause of a job that no slot matches before a time, as with the condition that `condor_submit` adds to the Requirements of a
/// job with `deferral_time` (`SetRequirements`, `submit_utils.cpp`).
///
/// None if something else keeps all slots away.
fn deferred(view: &JobView<'_>) -> Option<Cause> {
    let (job, pool) = (view.job, view.pool);
    let required = view.conditions.required();
    let scope = Scope::new(job, &pool.settings).with_target(&pool.slots.first()?.ad);
    let timed = required.filter_map(|(_, one)| Some((begin(scope, &one.expr, pool.settings.now)?, &one.expr)));
    let Some((begins, condition)) = timed.max_by_key(|(begins, _)| *begins) else { return periodic(view) };
    if matches_at(view, job, begins.saturating_sub(1)) || !matches_at(view, job, begins) {
        return None;
    }
    let before = format!("no slot matches before {}", moment(begins));
    let starts = AdReader::of(job, &pool.settings).integer("DeferralTime");
    let text = match starts.filter(|_| Origin::of(job, condition) == Some(Origin::Deferral)) {
        Some(starts) => {
            format!("the job starts at {} at the earliest (deferral_time), and {before}", moment(starts))
        }
        None => format!("{before}, when `{condition:#}` becomes true (now it is {})", moment(pool.settings.now)),
    };
    Some(Cause::new(Reason::HeldBack, "the job may not begin yet", text))
}

/// The number of slots that have less than their consumption policy takes for the job, and the cause that says so.
fn short(view: &JobView<'_>, usable: &[usize]) -> Option<(usize, Cause)> {
    let settings = &view.pool.settings;
    let of = |at: &usize| {
        let slot = &view.pool.slots[*at];
        Some((slot, slot.consumption.as_ref()?.shortage(&slot.ad, view.job, settings)?))
    };
    let found: Vec<(&Slot, Shortage)> = usable.iter().filter_map(of).collect();
    let (slot, first) = found.first()?;
    let label = "matching slots have less than their consumption policy takes";
    let which = match (found.len(), usable.len()) {
        (1, 1) => "the only matching slot has less than its consumption policy takes".to_owned(),
        (some, all) => format!(
            "{some} of the {} {} than {} consumption policy takes",
            plural::counted(all, "matching slot"),
            verb(some, "has less", "have less"),
            verb(some, "its", "their")
        ),
    };
    // Other slots have other amounts.
    let place =
        if found.iter().all(|(_, other)| other == first) { String::new() } else { format!(" on {}", slot.name) };
    let amounts = format!("{} is {}, but {} is {}", first.takes, slots(first.amount), first.has, slots(first.left));
    let text = format!("{which}: {amounts}{place}");
    Some((found.len(), Cause::new(Reason::Unsatisfied, label, text)))
}

/// The cause of a job with `cron_*` commands that has no time yet, as before its submission: with the present time as its time,
/// some slot matches.
fn periodic(view: &JobView<'_>) -> Option<Cause> {
    let (job, pool) = (view.job, view.pool);
    let (command, _) = CRON.iter().find(|(_, attribute)| job.contains(*attribute))?;
    let mut timed = job.clone();
    timed.insert("DeferralTime", pool.settings.now);
    for (name, default) in [("DeferralPrepTime", 300), ("DeferralWindow", 0), ("ScheddInterval", 300)] {
        if !timed.contains(name) {
            timed.insert(name, default);
        }
    }
    if !matches_at(view, &timed, pool.settings.now.saturating_sub(1)) {
        return None;
    }
    let text = format!(
        "the access point computes after the submission when the job starts ({command}), and no slot matches before"
    );
    Some(Cause::new(Reason::HeldBack, "the job may not begin yet", text))
}

/// Tests if slots of a class fail by nothing but conditions on their partition.
fn is_elsewhere(view: &JobView<'_>, class: &SlotClass) -> bool {
    let mut failing = view.conditions.required().filter(|(at, _)| class.one[*at] != Truth::True).peekable();
    let names_partition = |condition: &AdCondition| {
        let named = references(condition.expr.tree(), condition.expr.root());
        named.iter().any(|reference| reference.name.key() == Name::new(PARTITION).key())
    };
    class.accepts() && failing.peek().is_some() && failing.all(|(_, condition)| names_partition(condition))
}

/// The attribute with the partitions of a slot.
pub(crate) const PARTITION: &str = "PartitionName";

/// The conditions of `PREEMPTION_REQUIREMENTS` for the slots of others that it keeps from the job, and the values beside the one
/// that is not true, if there is one alone.
fn preemption(view: &JobView<'_>, submitter: &str, usable: &[usize]) -> (Vec<Clause>, String) {
    let pool = view.pool;
    let Some(expr) = &pool.rules.preemption.requirements else { return Default::default() };
    let others = |at: &&usize| {
        pool.of_slots[**at].exclusion.is_none()
            && pool.of_slots[**at].user.as_deref().is_some_and(|user| user != submitter)
    };
    let slots: Vec<&ClassAd> = usable.iter().filter(others).map(|at| &pool.slots[*at].ad).collect();
    let Some(first) = slots.first() else { return Default::default() };
    let name = Name::new("PREEMPTION_REQUIREMENTS");
    let mut with = (*first).clone();
    with.insert_expr(name, expr);
    let conditions = conditions_of(&with, name);
    let table = AdTable::of(slots, view.job, &[expr], &pool.settings);
    let all: Vec<u32> = (0..table.ads.len() as u32).collect();
    let column = |condition: &AdCondition| {
        let found = table.values(view.job, Side::Row, &condition.expr, &all);
        found.of.iter().map(|value| truth_of(&found.values[*value as usize])).collect::<Vec<_>>()
    };
    let columns: Vec<Vec<Truth>> = conditions.all.iter().map(column).collect();
    let row = |at: u32| columns.iter().map(|column| column[at as usize]).collect::<Vec<_>>();
    let rows = all.iter().map(|at| (*at, row(*at)));
    let refused: Vec<(u32, Vec<Truth>)> = rows.filter(|(_, row)| row.first() != Some(&Truth::True)).collect();
    if refused.is_empty() {
        return Default::default();
    }
    let clauses = counted(&conditions, refused.iter().map(|(_, row)| (row.as_slice(), 1)));
    let mut failing = (0..clauses.len()).filter(|at| is_failing(&clauses[*at]));
    let (Some(at), None) = (failing.next(), failing.next()) else { return (clauses, String::new()) };
    let unmet: Vec<u32> = refused.iter().filter(|(_, row)| row[at] != Truth::True).map(|(slot, _)| *slot).collect();
    let opposites = Opposites { one: view.job, many: &table, is_job: true };
    let values = opposites.beside(&conditions.all[at].expr, false, &unmet);
    (clauses, values)
}
