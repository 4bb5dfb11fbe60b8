//! What one cycle makes of a job: its turn, its share, and who took the slots it could have used.
//!
//! In: the outcome of a replayed cycle. Out: a [`Story`].

use rayon::prelude::*;
use serde::Serialize;

use crate::ad::ClassAd;
use crate::config::ConfigError;
use crate::eval::matching::symmetric;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{Clause, Joint, Plan, Truth};
use crate::explain::{Market, tally};
use crate::name::Name;
use crate::negotiate::concurrency::demands;
use crate::negotiate::outcome::{Match, Rejected, Rejection};
use crate::negotiate::quotas::divide;
use crate::negotiate::scene::Asker;
use crate::negotiate::summary::Stopped;
use crate::negotiate::{Outcome, Snapshot};
use crate::pool::facts::Facts;
use crate::priority::Passed;
use crate::queue::job::{Activity, JobId};
use crate::quota::story::slots;
use crate::quota::summary::SurplusPolicy;

/// A visit to the submitter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    /// Which turn of all turns of the cycle, from 1.
    pub turn: usize,
    /// Which pie, from 1.
    pub pie: u32,
    /// Which pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
    /// Its fraction of the pie.
    pub share: f64,
    /// Weighted slots it might take.
    pub limit: f64,
    /// Jobs that got a slot then.
    pub matched: usize,
    /// Why it was not served, if it was not.
    pub passed: Option<Passed>,
}

/// Quota and use of the group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStand {
    /// Its name.
    pub group: String,
    /// Its quota in weighted slots.
    pub quota: f64,
    /// What it was granted in the last round.
    pub allocated: f64,
    /// What its submitters ask for.
    pub demand: f64,
    /// What it uses at the end.
    pub usage: f64,
    /// Why it was granted no more, in a clause.
    pub why: String,
    /// How quota and grant came about, line by line.
    pub steps: Vec<String>,
}

/// A resource that jobs hold, and that the job asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStand {
    /// Its name, in lower case.
    pub name: String,
    /// What the job asks for.
    pub wanted: f64,
    /// What may be held at once.
    pub maximum: f64,
    /// Who holds how much at the end.
    pub holders: Vec<(String, f64)>,
}

/// Slots that a submitter got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Won {
    /// Who.
    pub submitter: String,
    /// How many.
    pub slots: usize,
    /// Why it was served before the job.
    pub why: String,
}

/// Who has slots that the job could have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taken {
    /// Slots that match the job, whoever has them.
    pub usable: usize,
    /// Of these, those that nobody has and that nobody got.
    pub left: usize,
    /// Those that others got in this cycle, by submitter.
    pub won: Vec<Won>,
    /// Those that were in use before the cycle and that nobody got, by user.
    pub in_use: Vec<(String, usize)>,
    /// Those that the cycle did not look at: in use while pre-emption is not considered, retiring, or shutting down.
    pub not_looked_at: usize,
}

/// What a cycle makes of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Story {
    /// The match, if it got a slot.
    pub matched: Option<Match>,
    /// The last refusal of the request it belongs to, if it was refused.
    pub refused: Option<Rejected>,
    /// Its submitter's place among those that were served, from 1; none if it had no turn.
    pub place: Option<usize>,
    /// The submitter's priority; lower is better.
    pub priority: Option<f64>,
    /// Jobs of the submitter that got a slot.
    pub submitter_matched: usize,
    /// Jobs the submitter says are idle.
    pub submitter_idle: i64,
    /// Why the submitter got no more.
    pub stopped: Option<Stopped>,
    /// The visits to the submitter.
    pub turns: Vec<Turn>,
    /// The group the submitter belongs to, if there are groups.
    pub group: Option<GroupStand>,
    /// Weighted slots the submitter uses at the beginning.
    pub usage: f64,
    /// The submitter's ceiling in weighted slots, if it has one.
    pub ceiling: Option<i64>,
    /// The concurrency limits the job asks for.
    pub limits: Vec<LimitStand>,
    /// The conditions of `PREEMPTION_REQUIREMENTS`, for the slots in use that match and that it refused.
    pub preemption: Vec<Clause>,
    /// Who takes the slot that the job has, if somebody does.
    pub displaced: Option<Match>,
    /// Who has the slots it could have used.
    pub taken: Taken,
}

/// A job of a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its number.
    pub id: JobId,
    /// Whom it belongs to.
    pub submitter: &'a str,
    /// Whether it waits.
    pub activity: Activity,
    /// Its ad and its submitter, as slots see them.
    pub asker: &'a Asker,
}

/// Cluster and process of a job's number.
pub(super) fn number(text: &str) -> Option<(i64, i64)> {
    let (cluster, process) = text.split_once('.')?;
    Some((cluster.parse().ok()?, process.parse().ok()?))
}

/// Tells what a cycle made of a job.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn story(outcome: &Outcome, snapshot: &Snapshot, market: &Market, asked: &Asked<'_>) -> Result<Story, ConfigError> {
    let Asked { id, submitter, asker, .. } = *asked;
    let name = id.to_string();
    let matched = outcome.matches.iter().find(|made| made.job == name).cloned();
    let within = |one: &&Rejected| {
        // The jobs of a request follow one another: those it got slots for in the same spin, and those that are left.
        one.submitter == submitter
            && number(&one.job).is_some_and(|(cluster, process)| {
                let of_request = |made: &&Match| {
                    made.cluster == cluster
                        && made.submitter == one.submitter
                        && (made.pie, made.spin) == (one.pie, one.spin)
                };
                let all = one.jobs + outcome.matches.iter().filter(of_request).count();
                let beyond = i64::try_from(all).unwrap_or(i64::MAX);
                cluster == id.cluster && process <= id.process && id.process - process < beyond
            })
    };
    let refused = match matched {
        Some(_) => None,
        None => outcome.rejections.iter().rev().find(within).cloned(),
    };
    let line = outcome.submitters.iter().position(|line| line.submitter == submitter);
    let summary = line.map(|at| &outcome.submitters[at]);
    let turns = turns(outcome, submitter);
    let usable: Vec<usize> = usable(market, &asker.ad);
    let place = line.filter(|_| !turns.is_empty()).map(|at| at + 1);
    Ok(Story {
        place,
        priority: summary.and_then(|line| line.priority),
        submitter_matched: summary.map_or(0, |line| line.matched),
        submitter_idle: summary.map_or(0, |line| line.idle),
        stopped: summary.map(|line| line.stopped),
        group: stand(outcome, snapshot, submitter)?,
        usage: asker.standing.usage,
        ceiling: ceiling(snapshot, submitter),
        limits: limits(outcome, market, &asker.ad),
        preemption: preemption(market, submitter, &asker.ad, &usable),
        displaced: displaced(outcome, &asker.ad, submitter),
        taken: taken(outcome, market, submitter, &usable),
        matched,
        refused,
        turns,
    })
}

/// The visits to a submitter.
pub(super) fn turns(outcome: &Outcome, submitter: &str) -> Vec<Turn> {
    let visits = outcome.negotiations.iter().enumerate().filter(|(_, visit)| visit.submitter == submitter);
    let made = |pie: u32, spin: u32| {
        let made = outcome.matches.iter();
        made.filter(|made| made.submitter == submitter && (made.pie, made.spin) == (pie, spin)).count()
    };
    visits
        .map(|(at, visit)| Turn {
            turn: at + 1,
            pie: visit.pie,
            spin: visit.spin,
            group: visit.group.clone(),
            share: visit.share,
            limit: visit.limit,
            matched: made(visit.pie, visit.spin),
            passed: visit.passed,
        })
        .collect()
}

/// The ceiling of a submitter, as the accountant's log has it.
pub(super) fn ceiling(snapshot: &Snapshot, submitter: &str) -> Option<i64> {
    let record = snapshot.log.as_ref()?.get(format!("Customer.{submitter}").as_bytes())?;
    record.integer("Ceiling").filter(|ceiling| *ceiling >= 0)
}

/// The concurrency limits that a job asks for.
fn limits(outcome: &Outcome, market: &Market, job: &ClassAd) -> Vec<LimitStand> {
    let Some(text) = Facts::of(job, &market.settings).string("ConcurrencyLimits") else { return Vec::new() };
    let mut found = Vec::new();
    for wanted in demands(&text.to_ascii_lowercase()) {
        let mut holders: std::collections::BTreeMap<String, f64> = std::collections::BTreeMap::new();
        let mut hold = |who: &str, text: &[u8]| {
            for held in demands(text).filter(|held| held.name == wanted.name) {
                *holders.entry(who.to_owned()).or_default() += held.amount;
            }
        };
        for (slot, user) in market.slots.iter().zip(&market.users) {
            let facts = Facts::of(slot, &market.settings);
            for held in ["ConcurrencyLimits", "PreemptingConcurrencyLimits"].iter().filter_map(|by| facts.string(*by)) {
                hold(user.as_deref().unwrap_or("nobody"), &held.to_ascii_lowercase());
            }
        }
        for made in &outcome.matches {
            hold(&made.submitter, made.limits.as_deref().unwrap_or_default().as_bytes());
        }
        found.push(LimitStand {
            name: String::from_utf8_lossy(wanted.name).into_owned(),
            wanted: wanted.amount,
            maximum: market.rules.concurrency.maximum(wanted.name),
            holders: holders.into_iter().collect(),
        });
    }
    found
}

/// The conditions of `PREEMPTION_REQUIREMENTS` for the slots of others that it keeps from the job.
fn preemption(market: &Market, submitter: &str, job: &ClassAd, usable: &[usize]) -> Vec<Clause> {
    let Some(expr) = &market.rules.preemption.requirements else { return Vec::new() };
    let name = Name::new("PREEMPTION_REQUIREMENTS");
    let others =
        |at: &&usize| market.looked_at[**at] && market.users[**at].as_deref().is_some_and(|user| user != submitter);
    let mut plan = Plan::default();
    let mut rows = Vec::new();
    for at in usable.iter().filter(others) {
        if rows.is_empty() {
            let mut slot = market.slots[*at].clone();
            slot.insert_expr(name, expr);
            plan = Plan::of(&slot, name);
        }
        let row = plan.truths(&market.slots[*at], job, &market.settings);
        if row.first() != Some(&Truth::True) {
            rows.push(row);
        } else if rows.is_empty() {
            plan = Plan::default();
        }
    }
    plan.counted(rows.iter().map(Vec::as_slice))
}

/// The match that takes the slot a job runs in.
fn displaced(outcome: &Outcome, job: &ClassAd, submitter: &str) -> Option<Match> {
    let host = job.constant("RemoteHost")?;
    let host = String::from_utf8_lossy(host.as_bytes()?).into_owned();
    let takes = |made: &&Match| made.slot == host && made.displaced.as_deref() == Some(submitter);
    outcome.matches.iter().find(takes).cloned()
}

/// The innermost group whose name begins the submitter's.
fn stand(outcome: &Outcome, snapshot: &Snapshot, submitter: &str) -> Result<Option<GroupStand>, ConfigError> {
    let within = |group: &str| {
        submitter.len() > group.len()
            && submitter.is_char_boundary(group.len())
            && submitter[..group.len()].eq_ignore_ascii_case(group)
            && submitter.as_bytes()[group.len()] == b'.'
    };
    let innermost = outcome.groups.iter().filter(|group| within(&group.name)).max_by_key(|group| group.name.len());
    let Some(group) = innermost.or_else(|| outcome.groups.iter().find(|group| group.parent.is_none())) else {
        return Ok(None);
    };
    let division = divide(snapshot)?;
    let told = division.groups.into_iter().find(|one| one.summary.name == group.name);
    let (why, steps) = told.map(|one| (one.why, one.story)).unwrap_or_default();
    let full = |name: &str| -> Option<String> {
        let above = outcome.groups.iter().find(|one| one.name == name)?;
        let used: f64 =
            outcome.groups.iter().filter(|one| is_within(outcome, &one.name, name)).map(|one| one.usage).sum();
        let strict = above.surplus == SurplusPolicy::No && above.parent.is_some() && used + 1e-6 >= above.subtree_quota;
        strict.then(|| {
            format!(
                "`{name}` above it accepts no surplus, and all below it use {} of its {}",
                slots(used),
                slots(above.subtree_quota)
            )
        })
    };
    let mut above = group.parent.clone();
    let mut capped = None;
    for _ in 0..outcome.groups.len() {
        let Some(name) = above else { break };
        capped = full(&name);
        if capped.is_some() {
            break;
        }
        above = outcome.groups.iter().find(|one| one.name == name).and_then(|one| one.parent.clone());
    }
    let why = capped.unwrap_or(why);
    Ok(Some(GroupStand {
        group: group.name.clone(),
        quota: group.quota,
        allocated: group.allocated,
        demand: group.demand,
        usage: group.usage,
        why,
        steps,
    }))
}

/// Whether a group is another one or stands below it.
fn is_within(outcome: &Outcome, name: &str, above: &str) -> bool {
    let mut at = Some(name.to_owned());
    for _ in 0..=outcome.groups.len() {
        match at {
            Some(name) if name == above => return true,
            Some(name) => at = outcome.groups.iter().find(|one| one.name == name).and_then(|one| one.parent.clone()),
            None => return false,
        }
    }
    false
}

/// Why one submitter was served before another, by the first key in which they differ.
fn precedence(outcome: &Outcome, winner: &str, loser: &str) -> String {
    let visit = |name: &str| outcome.negotiations.iter().find(|visit| visit.submitter == name);
    if winner == loser {
        return "its own jobs go first that have a higher JobPrio or a lower number".to_owned();
    }
    let (Some(won), Some(lost)) = (visit(winner), visit(loser)) else {
        return "this one had no turn".to_owned();
    };
    if won.group != lost.group {
        let name = |group: &Option<String>| group.clone().unwrap_or_default();
        return format!("group {} is served before {}", name(&won.group), name(&lost.group));
    }
    let place = |name: &str| outcome.negotiations.iter().position(|visit| visit.submitter == name);
    if place(winner) > place(loser) {
        return "served later, in a later spin or with what this one may not take".to_owned();
    }
    if won.priority < lost.priority {
        format!("its priority is better: {:.2} against {:.2}", won.priority, lost.priority)
    } else if won.starved < lost.starved {
        format!("priorities are equal ({:.2}), and it has less of its share", won.priority)
    } else {
        format!("priorities are equal ({:.2}), and it comes first by when it was heard of, or by name", won.priority)
    }
}

fn taken(outcome: &Outcome, market: &Market, submitter: &str, usable: &[usize]) -> Taken {
    let got: hashbrown::HashMap<&str, &str> =
        outcome.matches.iter().map(|made| (made.slot.as_str(), made.submitter.as_str())).collect();
    let (won, rest): (Vec<usize>, Vec<usize>) =
        usable.iter().partition(|at| got.contains_key(market.names[**at].as_str()));
    let in_use: Vec<String> = rest.iter().filter_map(|at| market.users[*at].clone()).collect();
    let won = tally(won.iter().filter_map(|at| Some((*got.get(market.names[*at].as_str())?).to_owned())));
    Taken {
        usable: usable.len(),
        left: rest.len() - in_use.len(),
        not_looked_at: usable.iter().filter(|at| !market.looked_at[**at]).count(),
        won: won
            .into_iter()
            .map(|(who, slots)| Won { why: precedence(outcome, &who, submitter), submitter: who, slots })
            .collect(),
        in_use: tally(in_use.into_iter()),
    }
}

/// Why the job got no slot in the cycle although some match, the most telling first; or which it got.
pub fn of_cycle(story: &Story, outcome: &Outcome, market: &Market, asked: &Asked<'_>) -> Vec<Cause> {
    let mut found = Vec::new();
    if let Some(made) = &story.matched {
        found.push(Cause::new(
            Reason::Matched,
            format!("the job gets {}, in spin {} of pie {}", made.slot, made.spin, made.pie),
        ));
        return found;
    }
    found.extend(not_waiting(story, market, asked));
    if !found.is_empty() {
        return found;
    }
    if story.taken.usable == 0 {
        return found;
    }
    let lightest = lightest(market, &asked.asker.ad);
    let rejection = story.refused.as_ref().map(|refused| refused.rejection);
    if rejection == Some(Rejection::ConcurrencyLimit) {
        found.extend(story.limits.iter().filter_map(reached));
    }
    let group_full = story.group.as_ref().filter(|group| group.allocated - group.usage < lightest);
    let short = matches!(story.stopped, Some(Stopped::GroupQuota | Stopped::ShareUsed))
        || matches!(rejection, Some(Rejection::SubmitterLimit));
    if let Some(group) = group_full.filter(|_| short && rejection != Some(Rejection::ConcurrencyLimit)) {
        let heavy = if group.usage < group.allocated {
            format!("; the lightest slot that matches weighs {}", slots(lightest))
        } else {
            String::new()
        };
        let text = format!(
            "group {} is at what it may use: quota {}, granted {}, uses {}, asks for {}; {}{heavy}",
            group.group,
            slots(group.quota),
            slots(group.allocated),
            slots(group.usage),
            slots(group.demand),
            group.why
        );
        found.push(Cause::new(Reason::GroupQuota, text));
    }
    if story.stopped == Some(Stopped::AtCeiling) {
        let ceiling = story.ceiling.map(|ceiling| format!(" of {ceiling}")).unwrap_or_default();
        let got = outcome.matches.iter().filter(|made| made.submitter == asked.submitter).map(|made| made.weight);
        let uses = slots(story.usage + got.sum::<f64>());
        found.push(Cause::new(
            Reason::Ceiling,
            format!("{} is at its ceiling{ceiling} and uses {uses}", asked.submitter),
        ));
    }
    if rejection == Some(Rejection::PreemptionRequirements) {
        let failing = story.preemption.iter().filter(|clause| clause.joint != Joint::All && clause.together.is_some());
        for clause in failing.filter(|clause| clause.alone.yes < clause.alone.total()).take(3) {
            let text = format!(
                "PREEMPTION_REQUIREMENTS keeps {} of {} slots in use that match: `{}` is not true",
                clause.alone.total() - clause.alone.yes,
                clause.alone.total(),
                clause.text
            );
            found.push(Cause::new(Reason::PreemptionRequirements, text));
        }
    }
    // Who has every slot that matches does not lack a share.
    let has_all = story.taken.left == 0
        && story.taken.in_use.is_empty()
        && story.taken.won.iter().all(|won| won.submitter == asked.submitter);
    let share = (story.stopped == Some(Stopped::ShareUsed) || rejection == Some(Rejection::SubmitterLimit)) && !has_all;
    if share && found.is_empty() {
        let turn = story.turns.last();
        let (fraction, limit) = turn.map_or((0.0, 0.0), |turn| (turn.share * 100.0, turn.limit));
        let text = format!(
            "the share of {} is used up: {fraction:.1}% of the pie, {} used before and {} matched now, limit {} in its last turn; \
             the lightest slot that matches weighs {}",
            asked.submitter,
            slots(story.usage),
            story.submitter_matched,
            slots(limit),
            slots(lightest)
        );
        found.push(Cause::new(Reason::Share, text));
    }
    if let Some(tally) = story.refused.as_ref().map(|refused| refused.slots).filter(|_| found.is_empty())
        && tally.prefers_its_job > 0
    {
        let text = format!("{} slots in use that match like the jobs they run better", tally.prefers_its_job);
        found.push(Cause::new(Reason::Rank, text));
    }
    found.extend(gone(story, market, found.is_empty()));
    found
}

/// Others that have the slots.
fn gone(story: &Story, market: &Market, first: bool) -> Vec<Cause> {
    let mut found = Vec::new();
    let taken = &story.taken;
    if first && taken.not_looked_at > 0 && taken.not_looked_at == taken.usable {
        let why = if market.rules.trim.preemption {
            "retiring or shutting down"
        } else {
            "in use, and NEGOTIATOR_CONSIDER_PREEMPTION is false"
        };
        let text = format!("the cycle does not look at any of the {} slots that match: {why}", taken.usable);
        found.push(Cause::new(Reason::NotLookedAt, text));
    }
    for won in taken.won.iter().take(3) {
        let text =
            format!("{} took {} of the {} slots that match: {}", won.submitter, won.slots, taken.usable, won.why);
        found.push(Cause::new(Reason::Taken, text));
    }
    for (who, count) in taken.in_use.iter().take(3) {
        found.push(Cause::new(Reason::Taken, format!("{who} uses {count} of the {} slots that match", taken.usable)));
    }
    found
}

/// Why the cycle does not offer the job.
fn not_waiting(story: &Story, market: &Market, asked: &Asked<'_>) -> Option<Cause> {
    let facts = Facts::of(&asked.asker.ad, &market.settings);
    if let Some(made) = &story.displaced {
        let ground = match made.preempting {
            crate::negotiate::candidate::Tier::Rank => "the slot likes the other job better",
            _ => "PREEMPTION_REQUIREMENTS holds, and its priority is worse",
        };
        let text = format!("the job loses {} to {} of {}: {ground}", made.slot, made.job, made.submitter);
        return Some(Cause::new(Reason::Displaced, text));
    }
    if asked.activity != Activity::Idle {
        let status = facts.integer("JobStatus");
        let word = match status {
            Some(1) => "is of a universe that is not matched",
            Some(2) => "runs",
            Some(3) => "was removed",
            Some(4) => "is completed",
            Some(5) => "is held",
            Some(6) => "transfers its output",
            Some(7) => "is suspended",
            _ => "is not idle",
        };
        let status = status.map_or_else(|| "it has no JobStatus".to_owned(), |status| format!("JobStatus is {status}"));
        let universe = facts.integer("JobUniverse").filter(|_| word.contains("universe"));
        let universe = universe.map(|universe| format!(", JobUniverse is {universe}")).unwrap_or_default();
        let reason = facts.string("HoldReason").map(|reason| format!(": {reason}")).unwrap_or_default();
        return Some(Cause::new(Reason::NotIdle, format!("the job {word} ({status}{universe}){reason}")));
    }
    if let Some(constraint) = &market.rules.jobs {
        let holds = crate::explain::clauses::truth(
            crate::eval::scope::Scope::new(&asked.asker.ad, &market.settings),
            constraint,
        );
        if holds != Truth::True {
            let text = format!("NEGOTIATOR_JOB_CONSTRAINT leaves the job out: `{constraint}` is not true");
            return Some(Cause::new(Reason::LeftOut, text));
        }
    }
    if story.stopped.is_none() {
        let text =
            format!("no submitter {} takes part in the cycle: it is not advertised, or left out", asked.submitter);
        return Some(Cause::new(Reason::LeftOut, text));
    }
    None
}

/// The slots that match a job, whoever has them.
fn usable(market: &Market, job: &ClassAd) -> Vec<usize> {
    let slots = 0..market.slots.len();
    slots.into_par_iter().filter(|at| symmetric(job, &market.slots[*at], &market.settings)).collect()
}

/// The least that a slot costs that the job could use.
fn lightest(market: &Market, job: &ClassAd) -> f64 {
    usable(market, job).into_iter().map(|at| market.weights[at]).fold(f64::INFINITY, f64::min).min(1e9)
}

/// A limit of which not enough is left.
fn reached(limit: &LimitStand) -> Option<Cause> {
    let held: f64 = limit.holders.iter().map(|(_, amount)| amount).sum();
    let whose: Vec<String> =
        limit.holders.iter().take(3).map(|(who, amount)| format!("{who} {}", slots(*amount))).collect();
    (held + limit.wanted > limit.maximum).then(|| {
        let text = format!(
            "concurrency limit `{}` is reached: at most {}, held by {}",
            limit.name,
            slots(limit.maximum),
            if whose.is_empty() { "nobody".to_owned() } else { whose.join(", ") }
        );
        Cause::new(Reason::ConcurrencyLimit, text)
    })
}
