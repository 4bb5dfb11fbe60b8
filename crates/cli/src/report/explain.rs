//! Why a job does not run, for people.

use std::io::{self, Write};

use crate::report::outcome::{lines, table};
use crate::report::{Color, counted};
use classmate::internal::eval::conditions::Connective;
use classmate_advice::internal::explain::Explanation;
use classmate_advice::internal::explain::causes::Cause;
use classmate_advice::internal::explain::clauses::Clause;
use classmate_advice::internal::explain::cycle::Story;
use classmate_advice::internal::explain::names::Absent;
use classmate_advice::internal::explain::order::shown;
use classmate_advice::internal::explain::prose::prose;
use classmate_advice::internal::explain::slot::SlotExplanation;
use classmate_advice::internal::explain::suggestion::{Change, Changed, Suggestion};
use classmate_pool::internal::negotiate::outcome::Rejection;
use classmate_pool::internal::priority::Passed;
use classmate_pool::internal::quota::derivation::slots;

/// How much is printed.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Policies of slots that are shown with their conditions.
    pub policies: usize,
}

/// Writes an explanation.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, found: &Explanation, layout: Layout, color: Color) -> io::Result<()> {
    writeln!(
        out,
        "Job {} of {}: {} of {} {}",
        found.job,
        found.submitter,
        found.matching,
        counted(found.slots as u64, "slot"),
        if found.slots == 1 { "matches" } else { verb(found.matching, "match", "matches") }
    )?;
    writeln!(
        out,
        "the job accepts {}, {} {} the job",
        counted(found.accepted_by_job as u64, "slot"),
        found.accepting_job,
        verb(found.accepting_job, "accept", "accepts")
    )?;
    causes(out, &found.causes)?;
    remarks(out, found)?;
    writeln!(out, "\nWhat the job asks of slots")?;
    if found.clauses.is_empty() {
        writeln!(out, "  the job has no Requirements, and so it matches nothing")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    writeln!(out, "\nWhat slots ask of the job")?;
    for policy in found.policies.iter().take(layout.policies) {
        let refusing = policy.slots - policy.accepting;
        let does = if refusing > 0 {
            format!("{refusing} of them {}", verb(refusing, "refuse", "refuses"))
        } else {
            format!("{} of them {}", policy.accepting, verb(policy.accepting, "accept", "accepts"))
        };
        writeln!(out, "{}, {does}, such as {}", counted(policy.slots as u64, "slot"), policy.example)?;
        if policy.clauses.is_empty() {
            writeln!(out, "  no Requirements, and so they match nothing")?;
        } else {
            clauses(out, &policy.clauses, color)?;
        }
    }
    if found.policies.len() > layout.policies {
        writeln!(out, "… {} more policies: --policies NUMBER", found.policies.len() - layout.policies)?;
    }
    near(out, found)?;
    match &found.cycle {
        Some(story) => cycle(out, story, color),
        None => Ok(()),
    }
}

/// A verb for so many.
fn verb(count: usize, many: &'static str, one: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Causes, the most telling first.
fn causes(out: &mut impl Write, causes: &[Cause]) -> io::Result<()> {
    causes.iter().try_for_each(|cause| writeln!(out, "- {}", cause.text))
}

/// What exists nowhere, and what every slot satisfies.
fn remarks(out: &mut impl Write, found: &Explanation) -> io::Result<()> {
    let told = |clause: &str| found.causes.iter().any(|cause| cause.text.contains(clause));
    // Of one condition one note, whatever it names.
    let mut notes: Vec<(&Absent, Vec<String>)> = Vec::new();
    for one in found.absent.iter().filter(|one| one.decides && !told(&prose(&one.clause))) {
        let name = match &one.similar {
            Some(similar) => format!("`{}` (did you mean `{similar}`?)", one.name),
            None => format!("`{}`", one.name),
        };
        match notes.iter_mut().find(|(known, _)| known.of_job == one.of_job && known.clause == one.clause) {
            Some((_, names)) => names.push(name),
            None => notes.push((one, vec![name])),
        }
    }
    for (one, names) in notes {
        let side = if one.of_job { "the job asks" } else { "slots ask" };
        let exist = if names.len() == 1 { "exists" } else { "exist" };
        writeln!(out, "note: {} {exist} nowhere; {side} `{}`", names.join(", "), shortened(&prose(&one.clause)))?;
    }
    if found.matching == 0 && found.slots > 0 && !found.always.is_empty() {
        let texts: Vec<String> = found.always.iter().map(|text| format!("`{text}`")).collect();
        writeln!(out, "note: every slot satisfies {}", prose(&texts.join(", ")))?;
    }
    Ok(())
}

/// The beginning of a long condition, which stands in full in the table.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 160;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn clauses(out: &mut impl Write, clauses: &[Clause], color: Color) -> io::Result<()> {
    let mut table = table(&["TRUE", "FALSE", "UNDEF", "ERROR", "TOGETHER", "CONDITION"], &[0, 1, 2, 3, 4], color);
    for clause in clauses {
        let text = match clause.joint {
            Connective::All => "all of".to_owned(),
            Connective::Any => "one of".to_owned(),
            Connective::Choice => "if, then, else".to_owned(),
            Connective::Leaf | Connective::Not => prose(&clause.text),
        };
        let via = clause.via.last().map(|name| format!("{name}: ")).unwrap_or_default();
        let together = match clause.joint {
            Connective::All => clause.alone.yes.to_string(),
            _ => clause.together.map(|count| count.to_string()).unwrap_or_default(),
        };
        table.add_row([
            clause.alone.yes.to_string(),
            clause.alone.no.to_string(),
            clause.alone.undefined.to_string(),
            clause.alone.error.to_string(),
            together,
            format!("{}{via}{text}", "  ".repeat(clause.depth)),
        ]);
    }
    lines(out, &table)
}

fn near(out: &mut impl Write, found: &Explanation) -> io::Result<()> {
    if !found.nearest.is_empty() {
        writeln!(out, "\nNearest slots that do not match")?;
        for near in &found.nearest {
            let count = near.by_job.len() + near.by_slot.len();
            writeln!(
                out,
                "{}, such as {}, by {}",
                counted(near.slots as u64, "slot"),
                near.example,
                counted(count as u64, "condition")
            )?;
            asked(out, "the job asks  ", &near.by_job)?;
            asked(out, "the slots ask ", &near.by_slot)?;
        }
    }
    if !found.suggestions.is_empty() {
        // What already matches is not lost sight of.
        let what = if found.matching > 0 { "after which more slots match" } else { "that would match" };
        writeln!(out, "\nChanges {what}, tried on all slots")?;
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
pub fn write_slot(out: &mut impl Write, found: &SlotExplanation, color: Color) -> io::Result<()> {
    let user = found.user.as_ref().map(|user| format!(", used by {user}")).unwrap_or_default();
    writeln!(out, "Slot {}: {}{user}, weight {}", found.slot, found.state, slots(found.weight))?;
    writeln!(
        out,
        "{} of {} {}; the slot accepts {}, {} {} the slot",
        found.matching,
        counted(found.jobs as u64, "idle job"),
        if found.jobs == 1 { "matches" } else { verb(found.matching, "match", "matches") },
        found.accepted_by_slot,
        found.accepting_slot,
        verb(found.accepting_slot, "accept", "accepts")
    )?;
    causes(out, &found.causes)?;
    if found.jobs == 0 {
        return Ok(());
    }
    writeln!(out, "\nWhat the slot asks of jobs")?;
    if found.clauses.is_empty() {
        writeln!(out, "  no Requirements, and so it matches nothing")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    if !found.refused_by.is_empty() {
        let which = if found.accepted_by_slot > 0 { "jobs that it accepts" } else { "jobs" };
        writeln!(out, "\nWhy {which} refuse it")?;
        for (text, count) in found.refused_by.iter().take(10) {
            writeln!(out, "  {count} by {}", prose(text))?;
        }
    }
    if !found.candidates.is_empty() {
        writeln!(out, "\nWhose jobs match")?;
        let mut table = table(&["SUBMITTER", "JOBS", "GOT OTHER SLOTS", "STOPPED"], &[1, 2], color);
        for one in &found.candidates {
            table.add_row([
                one.submitter.clone(),
                one.jobs.to_string(),
                one.elsewhere.to_string(),
                one.stopped.clone(),
            ]);
        }
        lines(out, &table)?;
    }
    near_jobs(out, found)
}

/// The conditions of one side that stand in the way.
fn asked(out: &mut impl Write, who: &str, conditions: &[String]) -> io::Result<()> {
    conditions.iter().try_for_each(|text| writeln!(out, "  {who}  {}", prose(text)))
}

/// The jobs nearest to a slot, and what would make one match.
fn near_jobs(out: &mut impl Write, found: &SlotExplanation) -> io::Result<()> {
    if !found.nearest.is_empty() {
        writeln!(out, "\nNearest jobs that do not match")?;
        for near in &found.nearest {
            let count = near.by_job.len() + near.by_slot.len();
            let (jobs, conditions) = (counted(near.jobs as u64, "job"), counted(count as u64, "condition"));
            writeln!(out, "{jobs}, such as {}, by {conditions}", near.example)?;
            asked(out, "the slot asks ", &near.by_slot)?;
            asked(out, "the job asks  ", &near.by_job)?;
        }
    }
    if !found.changes.is_empty() {
        writeln!(out, "\nChanges that would match, tried on all idle jobs")?;
        for change in &found.changes {
            let of_slot = change.changes.iter().all(|change| change.of == Changed::Slot);
            let told: Vec<String> = change.changes.iter().map(|one| described(one, "the slot")).collect();
            let told = prose(&told.join(" and "));
            if of_slot {
                writeln!(out, "  {told}: {}, such as {}", counted(change.jobs as u64, "job"), change.job)?;
            } else {
                writeln!(out, "  job {}: {told}", change.job)?;
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
    format!("  {}: {}{balance}, such as {example}", prose(&changes.join(" and ")), counted(*slots as u64, "slot"))
}

fn described(change: &Change, whose: &str) -> String {
    match change.of {
        Changed::Job => format!("`{}` {} → {}", change.attribute, change.before, change.after),
        Changed::Meant | Changed::Constant => {
            format!("`{}` → `{}` in `{}`", change.before, change.after, change.attribute)
        }
        Changed::Condition => format!("without `{}` in `{}`", change.before, change.attribute),
        Changed::Slot if change.after == "true" && change.before != "false" => {
            format!("{whose} without `{}` in `{}`", change.before, change.attribute)
        }
        Changed::Slot if change.after != "true" => {
            format!("{whose} with `{}` → `{}` in `{}`", change.before, change.after, change.attribute)
        }
        Changed::Slot => format!("`{}` of {whose} {} → {}", change.attribute, change.before, change.after),
    }
}

/// The group and the concurrency limits of a job.
fn bounds(out: &mut impl Write, story: &Story) -> io::Result<()> {
    if let Some(group) = &story.group {
        writeln!(
            out,
            "group {}: quota {:.2}, granted {:.2} of {:.2} asked for, uses {:.2}",
            group.group, group.quota, group.allocated, group.demand, group.usage
        )?;
        group.steps.iter().try_for_each(|step| writeln!(out, "  {step}"))?;
    }
    for limit in &story.limits {
        let held: Vec<String> = limit.holders.iter().map(|(who, amount)| format!("{who} {}", slots(*amount))).collect();
        let held = if held.is_empty() { "nobody".to_owned() } else { held.join(", ") };
        writeln!(
            out,
            "concurrency limit {}: asks for {}, at most {}, held by {held}",
            limit.name,
            slots(limit.wanted),
            slots(limit.maximum)
        )?;
    }
    Ok(())
}

fn cycle(out: &mut impl Write, story: &Story, color: Color) -> io::Result<()> {
    writeln!(out, "\nThis cycle")?;
    if let Some(made) = &story.matched {
        let whom = made.displaced.as_ref().map(|user| format!(", which displaces {user}")).unwrap_or_default();
        writeln!(out, "the job gets {}, in spin {} of pie {}{whom}", made.slot, made.spin, made.pie)?;
    }
    if let Some(made) = &story.displaced {
        writeln!(out, "its slot {} goes to job {} of {}", made.slot, made.job, made.submitter)?;
    }
    if let Some(refused) = &story.refused {
        writeln!(out, "refused: {}; {} of its request left", refused.reason, counted(refused.jobs as u64, "job"))?;
        let tally = &refused.slots;
        let parts = [
            (tally.unreachable, "cannot be reached"),
            (tally.refused_by_job, "refused by the job"),
            (tally.refused_by_slot, "refuse the job"),
            (tally.used_by_submitter, "run a job of the same submitter"),
            (tally.preemption_not_required, "are in use and PREEMPTION_REQUIREMENTS is not true"),
            (tally.prefers_its_job, "like the job they run better"),
            (tally.beyond_share, "are beyond the share"),
            (tally.over_limit, "weigh more than the submitter may still take"),
            (tally.over_concurrency_limit, "are kept by a concurrency limit"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        if tally.considered == 0 && refused.rejection == Rejection::ConcurrencyLimit {
            writeln!(out, "  the limit is looked at before any slot")?;
        } else {
            writeln!(out, "  slots left then: {}{colon}{}", tally.considered, parts.join(", "))?;
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
            "its submitter is {}{standing}: {} of {} idle jobs matched{}",
            if story.rank.is_some() { "known by its ".to_owned() } else { format!("served in place {place}, ") },
            story.submitter_matched,
            story.submitter_idle,
            story.stopped.map(|stopped| format!("; {}", stopped.as_str())).unwrap_or_default()
        )?,
        _ => writeln!(
            out,
            "its submitter had no turn{}",
            story.stopped.map(|stopped| format!(": {}", stopped.as_str())).unwrap_or_default()
        )?,
    }
    for turn in &story.turns {
        let group = turn.group.as_ref().map(|group| format!(" for {group}")).unwrap_or_default();
        let passed = match turn.passed {
            Some(Passed::LessThanASlot) => ", passed over: less than a slot is left to it",
            Some(Passed::AtCeiling) if story.ceiling.is_some() => ", passed over: at its ceiling",
            Some(Passed::AtCeiling) => ", passed over: there is nothing to take",
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
            match turn.matched {
                1 => "1 match".to_owned(),
                count => format!("{count} matches"),
            }
        )?;
    }
    bounds(out, story)?;
    if !story.preemption.is_empty() {
        writeln!(out, "slots in use that match and that PREEMPTION_REQUIREMENTS refuses")?;
        clauses(out, &story.preemption, color)?;
    }
    let taken = &story.taken;
    if taken.usable == 0 {
        return Ok(());
    }
    let left = if taken.left == taken.usable { "all of them".to_owned() } else { taken.left.to_string() };
    writeln!(out, "of {} that match, nobody has {left}", counted(taken.usable as u64, "slot"))?;
    for won in taken.won.iter().take(10) {
        writeln!(out, "  {} taken by {}: {}", won.slots, won.submitter, won.why)?;
    }
    for (who, count) in taken.in_use.iter().take(10) {
        writeln!(out, "  {count} in use by {who}")?;
    }
    Ok(())
}
