//! Slots in use that keep the jobs they run although `PREEMPTION_REQUIREMENTS` is true: what their `Rank` says.
//!
//! In: slots in use that match a job. Out: sentences, with the numbers. Formula source: `docs/reference/negotiation.md` 10.4.

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::values::{summary, verb};
use classmate::internal::program::view::RowValues;
use classmate::internal::threads;
use classmate::{ClassAd, EvalOptions, Name, Scope, Value};
use classmate_pool::internal::negotiate::preemption::PreemptionRefusal;

/// The reason the `Rank` of a slot in use keeps its present job.
#[derive(Debug, Clone)]
enum RankObjection {
    /// The slot lacks an attribute, without which both tests are undefined.
    Without(&'static str),
    /// `MY.Rank` for the other job and `MY.CurrentRank`, of which the first is less, or not a number.
    Ranks(Value, Value),
}

impl RankObjection {
    /// The reason a slot prefers its present job to another one.
    fn of(slot: &ClassAd, job: &ClassAd, settings: &EvalOptions) -> Self {
        if let Some(lacking) = ["Rank", "CurrentRank"].into_iter().find(|name| !slot.contains(*name)) {
            return RankObjection::Without(lacking);
        }
        let scope = Scope::new(slot, settings).with_target(job);
        let [rank, current] =
            ["Rank", "CurrentRank"].map(|name| scope.eval_attr(Name::new(name)).unwrap_or(Value::Error));
        RankObjection::Ranks(rank, current)
    }
}

/// The causes for which matching slots in use keep their jobs because of `Rank`, the most slots first.
pub(crate) fn keeping(pool: &PoolFacts, job: &ClassAd, submitter: &str, matching: &[usize]) -> Vec<Cause> {
    let keeps = |at: &usize| {
        let user = pool.of_slots[*at].user.as_ref().filter(|_| pool.of_slots[*at].exclusion.is_none())?;
        let (slot, pair) = (&pool.slots[*at].ad, (user.as_bytes(), submitter.as_bytes()));
        let ground = pool.rules.preemption.verdict(slot, job, pair, false, &pool.settings);
        (ground == Err(PreemptionRefusal::Rank)).then(|| RankObjection::of(slot, job, &pool.settings))
    };
    let found: Vec<RankObjection> = threads::map_all(matching, keeps).into_iter().flatten().collect();
    let mut causes: Vec<(usize, String)> = Vec::new();
    for name in ["Rank", "CurrentRank"] {
        let count =
            found.iter().filter(|one| matches!(one, RankObjection::Without(lacking) if *lacking == name)).count();
        let has = verb(count, "matching slot in use does not define", "matching slots in use do not define");
        let is = verb(count, "it is", "they are");
        causes.push((count, format!("{count} {has} `{name}`, so {is} never preempted")));
    }
    let ranks = found.iter().filter_map(|one| match one {
        RankObjection::Ranks(rank, current) => Some((rank.clone(), current.clone())),
        RankObjection::Without(_) => None,
    });
    let (better, unknown): (Vec<_>, Vec<_>) =
        ranks.partition(|(rank, current)| rank.as_number().is_some() && current.as_number().is_some());
    for (pairs, is_better) in [(better, true), (unknown, false)] {
        let count = pairs.len();
        let who = match (count, is_better) {
            (1, true) => "matching slot in use prefers the job it runs",
            (_, true) => "matching slots in use prefer the jobs they run",
            (1, false) => "matching slot in use is not preempted for this job",
            (_, false) => "matching slots in use are not preempted for this job",
        };
        let (ranks, currents): (Vec<Value>, Vec<Value>) = pairs.into_iter().unzip();
        let [rank, current] =
            [ranks, currents].map(|values| summary(&RowValues { of: (0..count as u32).collect(), values }));
        let text = format!(
            "{count} {who}: `MY.Rank >= MY.CurrentRank` is not true (Rank for this job is {rank}, CurrentRank is {current})"
        );
        causes.push((count, text));
    }
    causes.retain(|(count, _)| *count > 0);
    causes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    causes
        .into_iter()
        .map(|(_, text)| Cause::new(Reason::Rank, "matching slots in use prefer the jobs they run", text))
        .collect()
}
