//! The sentences about two outcomes, and those of the page about one, compared with the outcomes.

use std::collections::{BTreeMap, BTreeSet};

use classmate_advice::internal::explain::cycle::reasons::CauseSurvey;
use classmate_advice::internal::picture::PoolPicture;
use classmate_advice::internal::whatif::Difference;
use classmate_cli::report::{Color, whatif};
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::quota::summary::QuotaKind;
use classmate_pool::{GroupSummary, JobId, Outcome};

use super::template::{Checked, check, fit, number, same, singular};

fn jobs(outcome: &Outcome) -> BTreeMap<JobId, &str> {
    outcome.matches.iter().map(|made| (made.job, made.slot.as_str())).collect()
}

fn weight(outcome: &Outcome, submitter: Option<&str>) -> f64 {
    let all = outcome.matches.iter().filter(|made| submitter.is_none_or(|name| name == made.submitter));
    all.map(|made| made.weight).sum()
}

/// The text about the difference of two outcomes.
pub(super) fn difference(before: &Outcome, after: &Outcome, found: &Difference) -> Checked {
    let mut out = Vec::new();
    whatif::write(&mut out, found, Color::Off).unwrap();
    let text = String::from_utf8(out).unwrap();
    let (mut heading, mut scaled) = ("", 0);
    for line in text.lines() {
        if line.starts_with("static quotas ") {
            (heading, scaled) = ("", scaled + 1);
            scaled_quotas(before, after, line).map_err(|wrong| format!("{line}: {wrong}\n{text}"))?;
        } else if line.starts_with("SUBMITTER") || line.starts_with("GROUP") || line.starts_with("SLOT KIND") {
            heading = line;
        } else if !heading.is_empty() && line.is_empty() {
            heading = "";
        } else if heading.is_empty() {
            self::line(before, after, &singular(line), line).map_err(|wrong| format!("{line}: {wrong}\n{text}"))?;
        } else {
            row(before, after, heading, line).map_err(|wrong| format!("{line}: {wrong}\n{text}"))?;
        }
    }
    let parents = after.groups.iter().map(|group| scaled_below(after, &group.name));
    let known = |sum_and_quota: &(f64, f64)| {
        before.groups.iter().any(|group| scaled_below(before, &group.name) == Some(*sum_and_quota))
    };
    let expected = parents.flatten().filter(|found| !known(found)).count();
    check(scaled >= expected, &format!("{expected} groups have static quotas below them that are scaled\n{text}"))
}

/// The sum of the static quotas below a group, and its own quota with all below it, if they are scaled down to that.
fn scaled_below(outcome: &Outcome, name: &str) -> Option<(f64, f64)> {
    let has = outcome.groups.iter().find(|group| group.name == name)?.subtree_quota;
    let is_below = |group: &&GroupSummary| group.parent.as_deref() == Some(name) && group.kind == QuotaKind::Static;
    let below: Vec<&GroupSummary> = outcome.groups.iter().filter(is_below).collect();
    let sum: f64 = below.iter().map(|group| group.configured).sum();
    // Quotas that may sum to more are kept as configured.
    let is_scaled = |group: &&GroupSummary| {
        group.subtree_quota != group.configured && (group.subtree_quota - group.configured * has / sum).abs() < 1e-6
    };
    let positive: Vec<&GroupSummary> = below.into_iter().filter(|group| group.configured > 0.0).collect();
    (sum > has && !positive.is_empty() && positive.iter().all(is_scaled)).then_some((sum, has))
}

/// A sentence on static quotas that are scaled down after a change, which is not true of the outcome before.
fn scaled_quotas(before: &Outcome, after: &Outcome, line: &str) -> Checked {
    let top = fit("static quotas at the top level sum to {}, more than the pool's {}: they are scaled down", line)
        .map(|parts| ("<none>", parts[0], parts[1]));
    let below = || {
        fit("static quotas below `{}` sum to {}, more than its {}: they are scaled down", line)
            .map(|parts| (parts[0], parts[1], parts[2]))
    };
    let (name, sum, has) = top.or_else(below).ok_or("another form")?;
    let is_root = after.groups.iter().any(|group| group.name == name && group.parent.is_none());
    check(is_root == line.contains("the pool's"), "another place")?;
    let found = scaled_below(after, name).ok_or("they are not scaled")?;
    same("sum", sum, found.0)?;
    same("quota", has, found.1)?;
    check(scaled_below(before, name) != Some(found), "that is true before the change")
}

fn line(before: &Outcome, after: &Outcome, text: &str, whole: &str) -> Checked {
    let outcomes = [before, after];
    if let Some(parts) = fit("no difference: {} match before and after", text) {
        return outcomes.iter().try_for_each(|outcome| same("matches", parts[0], outcome.matches.len() as f64));
    }
    if let Some(parts) = fit("match {} → {}, weight {} → {}, preemptions {} → {}", text) {
        let preempting =
            |outcome: &Outcome| outcome.matches.iter().filter(|made| made.preempting != PreemptState::None).count();
        for (at, outcome) in outcomes.iter().enumerate() {
            same("matches", parts[at], outcome.matches.len() as f64)?;
            same("weight", parts[2 + at], weight(outcome, None))?;
            same("preemptions", parts[4 + at], preempting(outcome) as f64)?;
        }
        return Ok(());
    }
    let (old, new) = (jobs(before), jobs(after));
    let slots =
        |jobs: &BTreeMap<JobId, &str>| jobs.values().map(|slot| (*slot).to_owned()).collect::<BTreeSet<String>>();
    let only = |one: &BTreeMap<JobId, &str>, other: &BTreeMap<JobId, &str>| {
        one.keys().filter(|job| !other.contains_key(job)).map(ToString::to_string).collect::<BTreeSet<String>>()
    };
    let listed = |expected: &BTreeSet<String>, parts: &[&str]| {
        same("number", parts[0], expected.len() as f64)?;
        let names = parts[1].split(" and ").next().unwrap_or_default().split(", ");
        names.into_iter().try_for_each(|name| check(expected.contains(name), &format!("{name} is not one of them")))
    };
    for (template, expected) in [
        ("{} job now match: {}", only(&new, &old)),
        ("{} job no longer match: {}", only(&old, &new)),
        ("{} slot is now matched: {}", slots(&new).difference(&slots(&old)).cloned().collect()),
        ("{} slot is no longer matched: {}", slots(&old).difference(&slots(&new)).cloned().collect()),
        (
            "{} job match another slot: {}",
            old.iter()
                .filter_map(|(job, slot)| {
                    let other = new.get(job).filter(|other| *other != slot)?;
                    Some(format!("{job} {slot} → {other}"))
                })
                .collect(),
        ),
    ] {
        if let Some(parts) = fit(template, text) {
            return listed(&expected, &parts);
        }
    }
    if let Some((count, rest)) = text
        .split_once(" job is left without a slot: ")
        .or_else(|| text.split_once(" job was left without a slot before: "))
    {
        // Each request with its jobs that lack a slot in the one outcome only.
        let now = text.contains("is left");
        let lacking = if now { only(&old, &new) } else { only(&new, &old) };
        let rejected = if now { after } else { before };
        let mut sum = 0.0;
        for part in rest.split(" and ").next().unwrap_or_default().split(", ") {
            let parts = fit("{} from the request of job {}", part).ok_or("another form")?;
            check(rejected.rejections.iter().any(|one| one.job.to_string() == parts[1]), "no such rejection")?;
            sum += number(parts[0]);
        }
        check(
            number(count) <= lacking.len() as f64 && sum <= number(count),
            &format!("{} jobs lack one", lacking.len()),
        )?;
        return check(rest.contains(" and ") || sum == number(count), "the sum of the requests");
    }
    if let Some(parts) = fit("{} request is rejected for another reason: {}", text) {
        let last = |outcome: &Outcome| -> BTreeMap<String, String> {
            outcome.rejections.iter().map(|one| (one.job.to_string(), one.reason.clone())).collect()
        };
        let (old, new) = (last(before), last(after));
        let moved = old.iter().filter(|(job, reason)| new.get(*job).is_some_and(|other| other != *reason)).count();
        return same("requests", parts[0], moved as f64);
    }
    // The feasibility of requests is compared with evaluations in `explain`.
    let known = [" no slot that match any more: ", " now has slot that match: ", " now have slot that match: "];
    check(whole.is_empty() || known.iter().any(|known| text.contains(known)), "a line that nothing checks")
}

fn row(before: &Outcome, after: &Outcome, heading: &str, line: &str) -> Checked {
    let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let name = cells[0];
    let figures = |at: usize, old: f64, new: f64| {
        same("before", cells[at], old)?;
        same("after", cells[at + 1], new)
    };
    if heading.contains("WEIGHT BEFORE") {
        return figures(1, weight(before, Some(name)), weight(after, Some(name)));
    }
    if heading.starts_with("SUBMITTER") {
        let count = |outcome: &Outcome| outcome.matches.iter().filter(|made| made.submitter == name).count() as f64;
        return figures(1, count(before), count(after));
    }
    if heading.starts_with("GROUP") {
        let of = |outcome: &Outcome| {
            let group = outcome.groups.iter().find(|group| group.name == name);
            group.map_or([0.0; 3], |group| [group.quota, group.granted(), group.usage])
        };
        let (old, new) = (of(before), of(after));
        return (0..3).try_for_each(|at| figures(1 + 2 * at, old[at], new[at]));
    }
    check(heading.starts_with("SLOT KIND"), "a table that nothing checks")
}

/// The page about a cycle: its first paragraph, groups, submitters and spins.
pub(super) fn page(
    text: &str,
    (outcome, picture): (&Outcome, &PoolPicture),
    idle: &CauseSurvey,
    queued: usize,
    matched: usize,
) -> Checked {
    let paragraph = text.split("<p>").nth(1).and_then(|rest| rest.split("</p>").next()).ok_or("no paragraph")?;
    let plain = singular(paragraph);
    let parts = fit(
        "As of {}: {} match, {}; {} submitter that advertise {} idle job, {} of them negotiated with; {} slot with weight {} ({} \
         considered); {} in {}.",
        &plain,
    )
    .ok_or_else(|| format!("another form: {plain}"))?;
    let count = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    same("matches", parts[1], outcome.matches.len() as f64)?;
    same("rejections", &count(parts[2]), outcome.rejections.len() as f64)?;
    same("submitters", parts[3], outcome.submitters.len() as f64)?;
    same("idle jobs", parts[4], outcome.submitters.iter().map(|line| line.idle).sum::<i64>() as f64)?;
    let active: BTreeSet<&str> = outcome.negotiations.iter().map(|visit| visit.submitter.as_str()).collect();
    same("negotiated with", parts[5], active.len() as f64)?;
    same("slots", parts[6], outcome.statistics.total_slots as f64)?;
    same("spins", &count(parts[9]), outcome.pies.len() as f64)?;
    let pies: BTreeSet<u32> = outcome.pies.iter().map(|pie| pie.pie).collect();
    same("pies", &count(parts[10]), pies.len() as f64)?;
    check((idle.idle, idle.matched) == (queued, matched), &format!("{queued} idle jobs, of which {matched} matched"))?;
    check(text.contains(&format!("in the queue, {matched} of which got a slot.")), "idle jobs in the queue")?;
    for group in &outcome.groups {
        let name = group.name.replace('<', "&lt;").replace('>', "&gt;");
        let facts = text
            .split(&format!("{name}</strong> "))
            .nth(1)
            .and_then(|rest| rest.split('<').next())
            .ok_or("no group")?;
        let parts = fit("quota {}, allocated {}, in use {}, requested {}", facts).ok_or("another form")?;
        let drawn = picture.groups.iter().find(|drawn| drawn.name == group.name).ok_or("a group that is not drawn")?;
        // Usage after the cycle differs from the negotiator's, which is printed if it is larger.
        let (used, counted) = parts[2].split_once(" (").unwrap_or((parts[2], ""));
        for (text, figure) in
            [(parts[0], group.quota), (parts[1], group.granted()), (used, drawn.used), (parts[3], group.demand)]
        {
            same("group", text, figure)?;
        }
        same("counted", counted.strip_suffix(" counted)").unwrap_or(used), group.usage.max(drawn.used))?;
    }
    Ok(())
}

/// The idle jobs by cause.
pub(super) fn survey(found: &CauseSurvey) -> Checked {
    let sum: usize = found.causes.iter().map(|cause| cause.jobs).sum();
    check(found.idle == found.matched + sum, "the sum of the causes")
}
