//! The derivation of a share: the priority of a submitter, its slice of the pie, and its matches, step by step.

use classmate::internal::plural::counted;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::explain::cycle::left_out;
use crate::explain::cycle::record::{OutcomeRecord, Turn};
use crate::explain::cycle::trace::ceiling;
use crate::explain::values::tally;
use classmate_pool::internal::negotiate::summary::{Stopped, SubmitterSummary};
use classmate_pool::internal::priority::ranking::OrderedBy;
use classmate_pool::internal::queue::Submitter;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{Outcome, PreparedPool, Rejection};

/// The derivation of a share and its use.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShareTrace {
    /// Its numbers.
    #[serde(flatten)]
    pub summary: SubmitterSummary,
    /// Its ceiling in weighted slots, if it has one.
    pub ceiling: Option<i64>,
    /// Submitters that were served before it.
    pub before: Vec<String>,
    /// The visits.
    pub turns: Vec<Turn>,
    /// Refusals, by reason and how often.
    pub refusals: Vec<(String, usize)>,
    /// Line by line.
    pub steps: Vec<String>,
}

/// The derivation of the share of a submitter; none if there is no such submitter.
pub fn trace(outcome: &Outcome, prepared: &PreparedPool<'_>, name: &str) -> Option<ShareTrace> {
    let (snapshot, rules) = (prepared.snapshot(), &**prepared.rules());
    let settings = snapshot.settings();
    let Some(place) = outcome.submitters.iter().position(|line| line.submitter.eq_ignore_ascii_case(name)) else {
        let (one, text) = left_out::submitter(snapshot, rules, &settings, name)?;
        return Some(absent(&one, &text));
    };
    let summary = outcome.submitters[place].clone();
    let turns = OutcomeRecord::new(outcome, &[]).turns(&summary.submitter);
    let own = outcome.rejections.iter().filter(|one| one.submitter == summary.submitter);
    let refusals = tally(own.map(|one| (one.reason.clone(), 1)));
    let before = outcome.submitters[..place].iter().filter(|line| line.priority.is_some());
    let mut story = ShareTrace {
        ceiling: ceiling(snapshot, &summary.submitter),
        before: before.map(|line| line.submitter.clone()).collect(),
        steps: Vec::new(),
        refusals,
        turns,
        summary,
    };
    story.steps = steps(&story, outcome, snapshot.policy.key());
    let constrained = left_out::jobs_of(snapshot, rules, &settings, &story.summary.submitter);
    if let Some(text) = constrained {
        story.steps.insert(1, text);
    }
    Some(story)
}

/// The trace of a submitter that a constraint leaves out.
fn absent(one: &Submitter, text: &str) -> ShareTrace {
    let summary = SubmitterSummary {
        submitter: one.name.to_string(),
        priority: None,
        share: None,
        limit: None,
        running: one.running,
        idle: one.idle,
        matched: 0,
        weight: 0.0,
        stopped: Stopped::LeftOut,
    };
    let steps = vec![advertised(&summary), text.to_owned()];
    ShareTrace { summary, ceiling: None, before: Vec::new(), turns: Vec::new(), refusals: Vec::new(), steps }
}

fn advertised(line: &SubmitterSummary) -> String {
    format!("it advertises {} and {}", counted(line.idle, "idle job"), counted(line.running, "running job"))
}

fn steps(story: &ShareTrace, outcome: &Outcome, key: OrderedBy) -> Vec<String> {
    let line = &story.summary;
    let mut steps = vec![advertised(line)];
    let Some(priority) = line.priority else {
        steps.push(format!("it did not negotiate: {}", line.stopped.as_str()));
        return steps;
    };
    let place = story.before.len() + 1;
    let previous = story.before.last().map(|previous| format!(", after {previous}")).unwrap_or_default();
    // Each group has a pie of its own, and its turn.
    let has_groups = !outcome.groups.is_empty();
    steps.push(match key {
        OrderedBy::Submitters if has_groups => format!(
            "groups take turns in their order, and within a group the lowest effective priority is first: with {priority:.2} it is \
            number {place} in line{previous}"
        ),
        OrderedBy::Submitters => format!(
            "its effective priority is {priority:.2} (lower is better), so it is number {place} in line{previous}"
        ),
        OrderedBy::Lots => format!(
            "its task queues have priority {priority:.2}; slots draw queues at random, and a higher priority is drawn \
            more often"
        ),
        OrderedBy::Jobs => format!(
            "its fair-share factor is {:.2} (higher is better), one factor of the job priorities that determine the \
            order of jobs",
            1.0 - priority
        ),
    });
    if let Some(turn) = story.turns.first().filter(|_| key == OrderedBy::Submitters) {
        let visits = outcome.negotiations.iter().filter(|visit| (visit.pie, visit.spin) == (turn.pie, turn.spin));
        let parts: BTreeMap<&str, f64> = visits
            .filter(|visit| visit.priority > 0.0)
            .map(|visit| (visit.submitter.as_str(), 1.0 / visit.priority))
            .collect();
        let (own, sum) = (parts.get(line.submitter.as_str()).copied().unwrap_or(0.0), parts.values().sum::<f64>());
        // The sum is over all submitters in the pie, which the visits show unless one of them has none.
        if sum > 0.0 && (own / sum - turn.share).abs() < 1e-9 {
            let whose = if has_groups { "the submitters in its pie" } else { "all submitters" };
            // At least four significant digits, as the priorities of a pool may all be in the thousands.
            let digits = (3.0 - sum.log10().floor()).clamp(4.0, 15.0) as usize;
            steps.push(format!(
                "its share is 1/{priority:.2} divided by the sum {sum:.digits$} over {whose}: {:.1}%",
                turn.share * 100.0
            ));
        }
    }
    steps.extend(story.turns.iter().map(|turn| turn.sentence(story.ceiling.is_some())));
    if let Some(ceiling) = story.ceiling {
        steps.push(format!("its ceiling is {ceiling}"));
    }
    for (reason, count) in &story.refusals {
        steps.push(format!("rejections for `{reason}`: {count}"));
    }
    let limited = outcome
        .rejections
        .iter()
        .any(|one| one.submitter == line.submitter && one.rejection == Rejection::SubmitterLimit);
    if limited {
        steps.push("a matching slot is heavier than the rest of its limit".to_owned());
    }
    let matched = counted(line.matched, "slot");
    steps.push(format!("in total it matched {matched} with weight {}: {}", slots(line.weight), line.stopped.as_str()));
    steps
}
