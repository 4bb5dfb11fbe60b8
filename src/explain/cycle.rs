//! What one cycle makes of a job: its turn, its share, and who took the slots it could have used.
//!
//! In: the outcome of a replayed cycle. Out: a [`Story`].

use serde::Serialize;

use crate::ad::ClassAd;
use crate::eval::matching::symmetric;
use crate::explain::{Market, tally};
use crate::negotiate::Outcome;
use crate::negotiate::outcome::{Match, Rejected};
use crate::negotiate::summary::Stopped;
use crate::priority::Passed;
use crate::queue::job::JobId;

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
}

/// Who has slots that the job could have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taken {
    /// Slots that match the job, whoever has them.
    pub usable: usize,
    /// Of these, those that nobody has and that nobody got.
    pub left: usize,
    /// Those that others got in this cycle, by submitter.
    pub won: Vec<(String, usize)>,
    /// Those that were in use before the cycle and that nobody got, by user.
    pub in_use: Vec<(String, usize)>,
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
    /// Who has the slots it could have used.
    pub taken: Taken,
}

/// Cluster and process of a job's number.
fn number(text: &str) -> Option<(i64, i64)> {
    let (cluster, process) = text.split_once('.')?;
    Some((cluster.parse().ok()?, process.parse().ok()?))
}

/// Tells what a cycle made of a job of a submitter.
pub fn story(outcome: &Outcome, market: &Market, id: JobId, submitter: &str, job: &ClassAd) -> Story {
    let name = id.to_string();
    let matched = outcome.matches.iter().find(|made| made.job == name).cloned();
    let within = |one: &&Rejected| {
        // The jobs of a request follow one another; the refusal names the first that is left.
        one.submitter == submitter
            && number(&one.job).is_some_and(|(cluster, process)| {
                let beyond = i64::try_from(one.jobs).unwrap_or(i64::MAX);
                cluster == id.cluster && process <= id.process && id.process - process < beyond
            })
    };
    let refused = match matched {
        Some(_) => None,
        None => outcome.rejections.iter().rev().find(within).cloned(),
    };
    let visits = outcome.negotiations.iter().enumerate().filter(|(_, visit)| visit.submitter == submitter);
    let turns: Vec<Turn> = visits
        .map(|(at, visit)| Turn {
            turn: at + 1,
            pie: visit.pie,
            spin: visit.spin,
            group: visit.group.clone(),
            share: visit.share,
            limit: visit.limit,
            matched: outcome
                .matches
                .iter()
                .filter(|made| made.submitter == submitter && (made.pie, made.spin) == (visit.pie, visit.spin))
                .count(),
            passed: visit.passed,
        })
        .collect();
    let line = outcome.submitters.iter().position(|line| line.submitter == submitter);
    let summary = line.map(|at| &outcome.submitters[at]);
    Story {
        matched,
        refused,
        place: line.filter(|_| !turns.is_empty()).map(|at| at + 1),
        priority: summary.and_then(|line| line.priority),
        submitter_matched: summary.map_or(0, |line| line.matched),
        submitter_idle: summary.map_or(0, |line| line.idle),
        stopped: summary.map(|line| line.stopped),
        group: stand(outcome, submitter),
        taken: taken(outcome, market, submitter, job),
        turns,
    }
}

/// The innermost group whose name begins the submitter's.
fn stand(outcome: &Outcome, submitter: &str) -> Option<GroupStand> {
    let within = |group: &str| {
        submitter.len() > group.len()
            && submitter.is_char_boundary(group.len())
            && submitter[..group.len()].eq_ignore_ascii_case(group)
            && submitter.as_bytes()[group.len()] == b'.'
    };
    let innermost = outcome.groups.iter().filter(|group| within(&group.name)).max_by_key(|group| group.name.len());
    innermost.map(|group| GroupStand {
        group: group.name.clone(),
        quota: group.quota,
        allocated: group.allocated,
        demand: group.demand,
        usage: group.usage,
    })
}

fn taken(outcome: &Outcome, market: &Market, submitter: &str, job: &ClassAd) -> Taken {
    let usable: Vec<usize> =
        (0..market.slots.len()).filter(|at| symmetric(job, &market.slots[*at], &market.settings)).collect();
    let got: hashbrown::HashMap<&str, &str> =
        outcome.matches.iter().map(|made| (made.slot.as_str(), made.submitter.as_str())).collect();
    let user = |at: usize| -> Option<String> {
        let claimed = ["Claimed", "Preempting"];
        let state = market.slots[at].constant("State")?;
        let state = String::from_utf8_lossy(state.as_bytes()?).into_owned();
        if !claimed.iter().any(|name| name.eq_ignore_ascii_case(&state)) {
            return None;
        }
        let user = ["AccountingGroup", "RemoteUser"].iter().find_map(|name| market.slots[at].constant(*name));
        Some(
            user.and_then(|user| user.as_bytes().map(|text| String::from_utf8_lossy(text).into_owned()))
                .unwrap_or(state),
        )
    };
    let (won, rest): (Vec<usize>, Vec<usize>) =
        usable.iter().partition(|at| got.contains_key(market.names[**at].as_str()));
    let in_use: Vec<String> = rest.iter().filter_map(|at| user(*at)).collect();
    Taken {
        usable: usable.len(),
        left: rest.len() - in_use.len(),
        won: tally(won.iter().filter_map(|at| {
            let who = got.get(market.names[*at].as_str())?;
            Some(if *who == submitter { format!("{who} (the same submitter)") } else { (*who).to_owned() })
        })),
        in_use: tally(in_use.into_iter()),
    }
}
