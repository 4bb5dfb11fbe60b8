//! Explanations of jobs and slots, as text.

use std::cmp::Ordering;
use std::io::{self, Write};

use crate::report::table::{Screen, Table};
use crate::report::{Color, counted, shortened};
use classmate::internal::eval::conditions::Connective;
use classmate_advice::internal::explain::Explanation;
use classmate_advice::internal::explain::causes::Cause;
use classmate_advice::internal::explain::clauses::Clause;
use classmate_advice::internal::explain::cycle::order::shown;
use classmate_advice::internal::explain::cycle::trace::CycleTrace;
use classmate_advice::internal::explain::names::MissingAttribute;
use classmate_advice::internal::explain::repair::suggestion::{Change, Changed, Suggestion};
use classmate_advice::internal::explain::slot::SlotExplanation;
use classmate_advice::internal::explain::values::verb;
use classmate_pool::Rejection;
use classmate_pool::internal::priority::Passed;
use classmate_pool::internal::quota::derivation::slots;

/// Writes an explanation, with the conditions of so many policies of slots.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Explanation, policies: usize, color: Color) -> io::Result<()> {
    writeln!(
        out,
        "Job {} of {}: {} of {} {}",
        found.job,
        found.submitter,
        found.matching,
        counted(found.slots as u64, "slot"),
        if found.slots == 1 { "matches" } else { verb(found.matching, "matches", "match") }
    )?;
    writeln!(
        out,
        "the job's Requirements accept {}; {} {} the job",
        counted(found.accepted_by_job as u64, "slot"),
        counted(found.accepting_job as u64, "slot"),
        verb(found.accepting_job, "accepts", "accept")
    )?;
    causes(out, &found.causes)?;
    remarks(out, found)?;
    writeln!(out, "\nRequirements of the job, evaluated for each slot")?;
    if found.clauses.is_empty() {
        writeln!(out, "  the job does not have Requirements, so it does not match any slot")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    writeln!(out, "\nRequirements of the slots, evaluated for the job")?;
    for policy in found.policies.iter().take(policies) {
        let refusing = policy.slots - policy.accepting;
        let does = if refusing > 0 {
            format!("{refusing} {} the job", verb(refusing, "rejects", "reject"))
        } else {
            format!("{} {} the job", policy.accepting, verb(policy.accepting, "accepts", "accept"))
        };
        writeln!(out, "{}: {does}", examples(policy.slots, "slot", &policy.example))?;
        if policy.clauses.is_empty() {
            writeln!(out, "  no Requirements, so they do not match any job")?;
        } else {
            clauses(out, &policy.clauses, color)?;
        }
    }
    if found.policies.len() > policies {
        writeln!(out, "… {} more (use --policies NUMBER)", found.policies.len() - policies)?;
    }
    near(out, found)?;
    match &found.cycle {
        Some(story) => cycle(out, story, color),
        None => Ok(()),
    }
}

/// `1st`, `2nd`, `3rd`, `4th`.
fn ordinal(place: usize) -> String {
    let suffix = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{place}{suffix}")
}

/// A count with one example.
fn examples(count: usize, noun: &str, example: &str) -> String {
    let such_as = if count == 1 { "" } else { "such as " };
    format!("{} ({such_as}{example})", counted(count as u64, noun))
}

/// Causes, the most telling first.
fn causes(out: &mut impl Write, causes: &[Cause]) -> io::Result<()> {
    causes.iter().try_for_each(|cause| writeln!(out, "- {}", cause.text))
}

/// Notes on undefined names, and on conditions that every slot satisfies.
fn remarks(out: &mut impl Write, found: &Explanation) -> io::Result<()> {
    let is_reported = |clause: &str| found.causes.iter().any(|cause| cause.text.contains(clause));
    // Of one condition one note, whatever it names.
    let mut notes: Vec<(&MissingAttribute, Vec<String>)> = Vec::new();
    for one in found.absent.iter().filter(|one| one.decides && !is_reported(&one.clause)) {
        let name = match &one.similar {
            Some(similar) => format!("`{}` (did you mean `{similar}`?)", one.name),
            None => format!("`{}`", one.name),
        };
        let key = |one: &MissingAttribute| (one.of_job, one.is_of_own_ad());
        match notes.iter_mut().find(|(known, _)| key(known) == key(one) && known.clause == one.clause) {
            Some((_, names)) => names.push(name),
            None => notes.push((one, vec![name])),
        }
    }
    for (one, names) in notes {
        let absent = if one.of_job == one.is_of_own_ad() { "the job does not define" } else { "no slot advertises" };
        let side = if one.of_job { "the job requires" } else { "slots require" };
        writeln!(out, "note: {absent} {}; {side} `{}`", names.join(", "), shortened(&one.clause, MAX_NOTED))?;
    }
    if found.matching == 0 && found.slots > 0 && !found.always.is_empty() {
        let texts: Vec<String> = found.always.iter().map(|text| format!("`{text}`")).collect();
        writeln!(out, "note: every slot satisfies {}", texts.join(", "))?;
    }
    Ok(())
}

/// Characters of a condition in a note; its full text is in the table.
const MAX_NOTED: usize = 160;

fn clauses(out: &mut impl Screen, clauses: &[Clause], color: Color) -> io::Result<()> {
    let mut table = Table::new(["TRUE", "FALSE", "UNDEF", "ERROR", "TOGETHER", "CONDITION"], &[0, 1, 2, 3, 4]);
    for clause in clauses {
        let text = match clause.joint {
            Connective::All => "all of".to_owned(),
            Connective::Any => "one of".to_owned(),
            Connective::Choice => "if, then, else".to_owned(),
            Connective::Leaf | Connective::Not => clause.text.clone(),
        };
        let via = clause.via.last().map(|name| format!("{name}: ")).unwrap_or_default();
        let together = match clause.joint {
            Connective::All => clause.alone.yes.to_string(),
            _ => clause.together.map(|count| count.to_string()).unwrap_or_default(),
        };
        table.row([
            clause.alone.yes.to_string(),
            clause.alone.no.to_string(),
            clause.alone.undefined.to_string(),
            clause.alone.error.to_string(),
            together,
            format!("{}{via}{text}", "  ".repeat(clause.depth)),
        ]);
    }
    table.write(out, color)
}

fn near(out: &mut impl Write, found: &Explanation) -> io::Result<()> {
    nearest(out, "slot", &found.nearest, |near| {
        let sides = [("the job requires ", &near.by_job), ("the slots require", &near.by_slot)];
        (near.slots, &near.example, sides)
    })?;
    if !found.suggestions.is_empty() {
        // What already matches is not lost sight of.
        let more = if found.matching > 0 { " for more matches" } else { "" };
        writeln!(out, "\nSuggested changes{more} (tested against all slots)")?;
        for suggestion in &found.suggestions {
            writeln!(out, "{}", suggested(suggestion))?;
        }
    }
    Ok(())
}

/// Writes why a slot is idle, or who gets it.
///
/// # Errors
/// The output cannot be written.
pub fn write_slot(out: &mut impl Screen, found: &SlotExplanation, color: Color) -> io::Result<()> {
    let user = found.user.as_ref().map(|user| format!(", used by {user}")).unwrap_or_default();
    writeln!(out, "Slot {}: {}{user}, weight {}", found.slot, found.state, slots(found.weight))?;
    writeln!(
        out,
        "{} of {} {}; the slot accepts {}; {} {} the slot",
        found.matching,
        counted(found.jobs as u64, "idle job"),
        if found.jobs == 1 { "matches" } else { verb(found.matching, "matches", "match") },
        counted(found.accepted_by_slot as u64, "job"),
        counted(found.accepting_slot as u64, "job"),
        verb(found.accepting_slot, "accepts", "accept")
    )?;
    causes(out, &found.causes)?;
    if found.jobs == 0 {
        return Ok(());
    }
    writeln!(out, "\nRequirements of the slot, evaluated for each idle job")?;
    if found.clauses.is_empty() {
        writeln!(out, "  no Requirements, so it does not match any job")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    if !found.refused_by.is_empty() {
        let which = if found.accepted_by_slot > 0 { "jobs that it accepts" } else { "jobs" };
        writeln!(out, "\nWhy {which} reject it")?;
        for (text, count) in found.refused_by.iter().take(10) {
            writeln!(out, "  {count} because of {text}")?;
        }
    }
    if !found.candidates.is_empty() {
        writeln!(out, "\nSubmitters with matching jobs")?;
        let mut table = Table::new(["SUBMITTER", "JOBS", "MATCHED ELSEWHERE", "STOPPED"], &[1, 2]);
        for one in &found.candidates {
            table.row([one.submitter.clone(), one.jobs.to_string(), one.elsewhere.to_string(), one.stopped.clone()]);
        }
        table.write(out, color)?;
    }
    near_jobs(out, found)
}

/// The conditions of one side that fail, after the words that introduce them.
type FailingSide<'f> = (&'static str, &'f Vec<String>);

/// Slots or jobs that do not match, by the conditions of both sides that fail: how many, an example, and the conditions.
fn nearest<T>(
    out: &mut impl Write,
    noun: &str,
    all: &[T],
    parts: impl Fn(&T) -> (usize, &String, [FailingSide<'_>; 2]),
) -> io::Result<()> {
    if !all.is_empty() {
        writeln!(out, "\nNearest {noun}s that do not match")?;
    }
    for (count, example, sides) in all.iter().map(parts) {
        let failing: u64 = sides.iter().map(|(_, conditions)| conditions.len() as u64).sum();
        writeln!(out, "{}: {}", examples(count, noun, example), counted(failing, "failing condition"))?;
        for (who, conditions) in sides {
            conditions.iter().try_for_each(|text| writeln!(out, "  {who}  {text}"))?;
        }
    }
    Ok(())
}

/// The jobs nearest to a slot, and what would make one match.
fn near_jobs(out: &mut impl Write, found: &SlotExplanation) -> io::Result<()> {
    nearest(out, "job", &found.nearest, |near| {
        let sides = [("the slot requires", &near.by_slot), ("the job requires ", &near.by_job)];
        (near.jobs, &near.example, sides)
    })?;
    if !found.changes.is_empty() {
        writeln!(out, "\nSuggested changes (tested against all idle jobs)")?;
        for change in &found.changes {
            let of_slot = change.changes.iter().all(|change| change.of == Changed::Slot);
            let changes: Vec<String> = change.changes.iter().map(|one| described(one, "the slot")).collect();
            let changes = changes.join(" and ");
            if of_slot {
                let matches = verb(change.jobs, "matches", "match");
                writeln!(out, "  {changes}: {} {matches}, such as {}", counted(change.jobs as u64, "job"), change.job)?;
            } else {
                writeln!(out, "  job {}: {changes}", change.job)?;
            }
        }
    }
    Ok(())
}

/// Writes a story step by step.
///
/// # Errors
/// The output cannot be written.
pub fn write_steps(out: &mut impl Write, title: &str, steps: &[String]) -> io::Result<()> {
    writeln!(out, "{title}")?;
    steps.iter().try_for_each(|step| writeln!(out, "  {step}"))
}

/// A suggestion in one line, with how many slots match then; and how many are won and lost, if some match now.
pub fn suggested(suggestion: &Suggestion) -> String {
    let changes: Vec<String> = suggestion.changes.iter().map(|change| described(change, "slots")).collect();
    let Suggestion { slots, won, lost, example, .. } = suggestion;
    let balance = match (won, lost) {
        (won, 0) if won == slots => String::new(),
        (won, 0) => format!(" (+{won})"),
        (won, lost) => format!(" (+{won}, −{lost})"),
    };
    let matches = verb(*slots, "matches", "match");
    let slots = counted(*slots as u64, "slot");
    format!("  {}: {slots} {matches}{balance}, such as {example}", changes.join(" and "))
}

fn described(change: &Change, whose: &str) -> String {
    match change.of {
        Changed::Job if change.before == "undefined" => format!("set `{}` to {}", change.attribute, change.after),
        Changed::Job => {
            format!("{} `{}` from {} to {}", direction(change), change.attribute, change.before, change.after)
        }
        Changed::Correction | Changed::Constant => {
            format!("replace `{}` with `{}` in `{}`", change.before, change.after, change.attribute)
        }
        Changed::Condition => format!("remove `{}` from `{}`", change.before, change.attribute),
        Changed::Slot if change.after == "true" && change.before != "false" => {
            format!("remove `{}` from `{}` of {whose}", change.before, change.attribute)
        }
        Changed::Slot if change.after != "true" => {
            format!("replace `{}` with `{}` in `{}` of {whose}", change.before, change.after, change.attribute)
        }
        Changed::Slot => {
            let verb = direction(change);
            format!("{verb} `{}` of {whose} from {} to {}", change.attribute, change.before, change.after)
        }
    }
}

/// The verb for a change of a value.
fn direction(change: &Change) -> &'static str {
    match change.order {
        Some(Ordering::Less) => "lower",
        Some(Ordering::Greater) => "raise",
        _ => "change",
    }
}

/// The group and the concurrency limits of a job.
fn bounds(out: &mut impl Write, story: &CycleTrace) -> io::Result<()> {
    if let Some(group) = &story.group {
        writeln!(
            out,
            "group {}: quota {:.2}, allocated {:.2}, requested {:.2}, in use {:.2}",
            group.group, group.quota, group.allocated, group.demand, group.usage
        )?;
        group.steps.iter().try_for_each(|step| writeln!(out, "  {step}"))?;
    }
    for limit in &story.limits {
        let (wanted, most, users) = (slots(limit.wanted), slots(limit.maximum), limit.users(usize::MAX));
        writeln!(out, "concurrency limit {}: requested {wanted}, maximum {most}, in use by {users}", limit.name)?;
    }
    Ok(())
}

fn cycle(out: &mut impl Screen, story: &CycleTrace, color: Color) -> io::Result<()> {
    writeln!(out, "\nNegotiation cycle")?;
    if let Some(made) = &story.matched {
        let whom = made.displaced.as_ref().map(|user| format!(", preempting {user}")).unwrap_or_default();
        writeln!(out, "the job matched {} in spin {} of pie {}{whom}", made.slot, made.spin, made.pie)?;
    }
    if let Some(made) = &story.displaced {
        writeln!(out, "its slot {} was preempted for job {} of {}", made.slot, made.job, made.submitter)?;
    }
    if let Some(refused) = &story.refused {
        writeln!(out, "rejected: {}; {} of its request left", refused.reason, counted(refused.jobs as u64, "job"))?;
        let tally = &refused.slots;
        let parts = [
            (tally.unreachable, "unreachable"),
            (tally.refused_by_job, "rejected by the job"),
            (tally.refused_by_slot, "reject the job"),
            (tally.used_by_submitter, "run a job of the same submitter"),
            (tally.preemption_not_required, "in use and protected by PREEMPTION_REQUIREMENTS"),
            (tally.prefers_its_job, "prefer the job they run"),
            (tally.beyond_share, "above the submitter limit"),
            (tally.over_limit, "heavier than the rest of the submitter limit"),
            (tally.over_concurrency_limit, "above a concurrency limit"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        if tally.considered == 0 && refused.rejection == Rejection::ConcurrencyLimit {
            writeln!(out, "  the limit is checked before any slot")?;
        } else {
            writeln!(out, "  candidate slots left: {}{parts}", tally.considered)?;
        }
    }
    if let Some(rank) = &story.rank {
        writeln!(
            out,
            "its priority is {} in partition `{}` (PriorityTier {}); higher is better: {}",
            rank.priority,
            rank.partition,
            rank.tier,
            shown(rank)
        )?;
    }
    match (story.place, &story.standing) {
        (Some(place), Some(standing)) => writeln!(
            out,
            "its submitter {}({standing}): {} of {} matched{}",
            if story.rank.is_some() { String::new() } else { format!("was {} in line ", ordinal(place)) },
            story.submitter_matched,
            counted(story.submitter_idle as u64, "idle job"),
            story.stopped.map(|stopped| format!("; {}", stopped.as_str())).unwrap_or_default()
        )?,
        _ => writeln!(
            out,
            "its submitter did not negotiate{}",
            story.stopped.map(|stopped| format!(": {}", stopped.as_str())).unwrap_or_default()
        )?,
    }
    for turn in &story.turns {
        let group = turn.group.as_ref().map(|group| format!(" for {group}")).unwrap_or_default();
        let passed = match turn.passed {
            Some(Passed::LessThanASlot) => ", skipped: its limit is less than one slot",
            Some(Passed::AtCeiling) if story.ceiling.is_some() => ", skipped: ceiling reached",
            Some(Passed::AtCeiling) => ", skipped: nothing left to allocate",
            None => "",
        };
        writeln!(
            out,
            "  turn {}, pie {} spin {}{group}: share {:.1}%, limit {:.2}, {}{passed}",
            turn.turn,
            turn.pie,
            turn.spin,
            turn.share * 100.0,
            turn.limit,
            counted(turn.matched as u64, "match")
        )?;
    }
    bounds(out, story)?;
    if !story.preemption.is_empty() {
        writeln!(out, "PREEMPTION_REQUIREMENTS, evaluated for the matching slots that it protects")?;
        clauses(out, &story.preemption, color)?;
    }
    let taken = &story.taken;
    if taken.usable == 0 {
        return Ok(());
    }
    let left = match taken.left {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        all if all == taken.usable => "all are".to_owned(),
        some => format!("{some} are"),
    };
    let matches = verb(taken.usable, "matches", "match");
    writeln!(out, "{} {matches}; {left} still unclaimed", counted(taken.usable as u64, "slot"))?;
    for won in taken.won.iter().take(10) {
        writeln!(out, "  {} taken by {}: {}", won.slots, won.submitter, won.why)?;
    }
    for (who, count) in taken.in_use.iter().take(10) {
        writeln!(out, "  {count} in use by {who}")?;
    }
    Ok(())
}
