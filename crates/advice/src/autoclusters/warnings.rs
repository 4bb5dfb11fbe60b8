//! Advice about attributes that split the queue, the most harmful first.

use classmate::internal::plural::counted;
use hashbrown::HashMap;

use super::counting::JobValues;
use super::excess::{self, Excess, FEW, is_condition};
use super::{Audit, Significance, SignificanceReason};
use classmate::internal::name::Name;

/// Other attributes that are taken out together with one that alone saves little.
const TOGETHER: usize = 4;
/// Warnings for which others are tried.
const TRIED: usize = 8;

/// The harm of a problem: greater harm is reported first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    /// It costs nothing in this queue.
    None,
    /// It costs and serves nothing, or differs from job to job by its nature.
    Some,
    /// Nearly every job has a value of its own, or it makes most of many autoclusters.
    Explosion,
}

/// The problem with an attribute.
enum WarningKind {
    /// It differs from job to job by its nature.
    PerJob,
    /// It does so by its nature, but no job of this queue says it.
    Unsaid,
    /// No match depends on it.
    Useless,
    /// It has many values.
    Many,
}

/// An attribute with what is wrong with it.
type Judged<'a> = (Harm, WarningKind, &'a Significance);

/// The warnings of an audit, the most harmful first.
pub(super) fn of(audit: &Audit, job_values: &JobValues<'_>, outcomes: Option<&HashMap<u32, u32>>) -> Vec<String> {
    let judged =
        audit.attributes.iter().filter_map(|one| judged(audit, one, job_values).map(|(harm, kind)| (harm, kind, one)));
    let mut found: Vec<Judged<'_>> = judged.collect();
    let reported: Vec<Name> =
        found.iter().filter(|(.., one)| one.values > 1).map(|(.., one)| Name::new(&one.name)).collect();
    let excess = excess::of(audit, job_values, outcomes, &reported);
    for name in excess.iter().flat_map(|excess| &excess.names) {
        let of = audit.attributes.iter().filter(|one| Name::new(&one.name) == *name);
        found.extend(of.map(|one| (Harm::Explosion, WarningKind::Many, one)));
    }
    let key = |(harm, _, one): &Judged<'_>| {
        let saved = audit.autoclusters.saturating_sub(one.autoclusters_without);
        // Without jobs what most slots have costs most.
        let amount =
            if audit.idle_jobs == 0 { one.reasons.first().map_or(0, |reason| reason.slots) } else { one.values };
        (*harm, one.per_job && *harm == Harm::Explosion, saved, one.per_job, amount)
    };
    found.sort_by(|one, two| key(two).cmp(&key(one)).then_with(|| one.2.name.cmp(&two.2.name)));
    let reported = found.into_iter().enumerate();
    reported.map(|(at, (_, kind, one))| message(audit, job_values, one, (&kind, excess.as_ref()), at < TRIED)).collect()
}

/// Returns whether nearly every job has a value of its own.
fn explodes(audit: &Audit, one: &Significance) -> bool {
    audit.idle_jobs >= FEW && one.values * 2 > audit.idle_jobs
}

/// Returns whether an attribute alone makes most of many autoclusters.
fn splits(audit: &Audit, one: &Significance) -> bool {
    audit.autoclusters >= FEW && one.autoclusters_without * 2 <= audit.autoclusters
}

/// The reason why an attribute differs between all jobs.
fn differs(one: &Significance) -> &'static str {
    if ["ClusterId", "QDate"].iter().any(|name| one.name.eq_ignore_ascii_case(name)) {
        "differs from submission to submission"
    } else {
        "often differs from job to job"
    }
}

fn judged(audit: &Audit, one: &Significance, job_values: &JobValues<'_>) -> Option<(Harm, WarningKind)> {
    if audit.idle_jobs == 0 {
        return match (one.per_job, one.matters) {
            (true, _) => Some((Harm::Explosion, WarningKind::PerJob)),
            (false, false) => Some((Harm::None, WarningKind::Useless)),
            (false, true) => None,
        };
    }
    let explodes = explodes(audit, one);
    if one.per_job && one.values > 1 {
        return Some((if explodes || splits(audit, one) { Harm::Explosion } else { Harm::Some }, WarningKind::PerJob));
    }
    if one.per_job && !job_values.is_defined(Name::new(&one.name)) {
        return Some((Harm::None, WarningKind::Unsaid));
    }
    if !one.matters && one.values > 1 {
        return Some((if explodes || splits(audit, one) { Harm::Explosion } else { Harm::Some }, WarningKind::Useless));
    }
    explodes.then_some((Harm::Explosion, WarningKind::Many))
}

fn message(
    audit: &Audit,
    job_values: &JobValues<'_>,
    one: &Significance,
    (kind, excess): (&WarningKind, Option<&Excess>),
    tried: bool,
) -> String {
    let (name, why) = (&one.name, reason(one));
    let by_submission = differs(one) == "differs from submission to submission";
    if audit.idle_jobs == 0 {
        return match kind {
            WarningKind::PerJob if by_submission => {
                format!("explosion: `{name}` {}, so each submission has its own autocluster; {why}", differs(one))
            }
            WarningKind::PerJob => {
                format!(
                    "explosion: `{name}` mostly differs from job to job, so each job has its own autocluster; \
                {why}"
                )
            }
            _ => format!("`{name}` is significant, but no match depends on it; {why}"),
        };
    }
    let excess = excess.filter(|excess| excess.together.contains(&Name::new(name)));
    let removed = || removed(audit, job_values, one, (excess, tried));
    let (values, jobs) = (one.values, audit.idle_jobs);
    match kind {
        WarningKind::PerJob if values * 2 <= jobs => {
            format!("`{name}` {}, and has {values} values among {jobs} idle jobs: {}; {why}", differs(one), removed())
        }
        WarningKind::PerJob => format!("explosion: `{name}` mostly differs from job to job: {}; {why}", removed()),
        WarningKind::Unsaid if by_submission => format!(
            "explosion: `{name}` {}; no job here defines it, but where jobs define it, each submission has its own \
            autocluster; {why}",
            differs(one)
        ),
        WarningKind::Unsaid => format!(
            "explosion: `{name}` mostly differs from job to job; no job here defines it, but where jobs define it, \
            each job has its own autocluster; {why}"
        ),
        WarningKind::Useless if one.reasons.iter().any(|reason| reason.jobs > 0) => {
            format!("no match depends on `{name}`: {}; {why}", removed())
        }
        WarningKind::Useless => format!(
            "`{name}` is significant, but no match depends on it: {}; {why}; REMOVE_SIGNIFICANT_ATTRIBUTES removes it",
            removed()
        ),
        WarningKind::Many => {
            // A number can be rounded; of a condition only the text can be made alike.
            let advice = if is_condition(name) {
                "write it identically in all jobs, and move the differences to attributes that it refers to"
            } else if job_values.is_of_numbers(Name::new(name)) {
                "round it when jobs are submitted"
            } else {
                "refer to it in fewer expressions, or use fewer values"
            };
            let all = audit.autoclusters;
            let truly = match audit.outcomes.filter(|_| excess.is_some()) {
                Some(1) => format!("; 1 of all {all} differs in its matches"),
                Some(outcomes) => format!("; {outcomes} of all {all} differ in their matches"),
                None => String::new(),
            };
            format!("`{name}` has {values} values among {jobs} idle jobs: {}{truly}; {why}; {advice}", removed())
        }
    }
}

/// The number of autoclusters without an attribute; if it is nearly the same, also without others that split the queue.
fn removed(
    audit: &Audit,
    job_values: &JobValues<'_>,
    one: &Significance,
    (excess, tried): (Option<&Excess>, bool),
) -> String {
    let all = audit.autoclusters;
    let alone = one.autoclusters_without;
    let joint = excess.filter(|excess| excess.together.len() > 1).map(|excess| {
        let others = excess.together.iter().copied().filter(|name| *name != Name::new(&one.name));
        (others.collect::<Vec<Name>>(), excess.left)
    });
    // Nothing is gained by taking out more.
    let enough = alone * 2 <= all || !tried || one.values * 2 <= audit.idle_jobs;
    if enough && joint.is_none() {
        return format!("without it there would be {alone} instead of {}", counted(all, "autocluster"));
    }
    let still = if alone * 2 <= all {
        format!("without it there would be {alone} instead of {}", counted(all, "autocluster"))
    } else {
        let still = if alone == all { format!("all {all}") } else { format!("{alone} of {all}") };
        format!("without it there would still be {still} autoclusters")
    };
    match joint.or_else(|| together(audit, job_values, one)) {
        Some((others, count)) => {
            let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
            format!("{still}, without it and {} there would be {count}", others.join(" and "))
        }
        None => still,
    }
}

/// Other attributes without which, together with one, there are at most half the autoclusters; and how many there are then.
fn together(audit: &Audit, job_values: &JobValues<'_>, one: &Significance) -> Option<(Vec<Name>, usize)> {
    let mut others: Vec<&Significance> =
        audit.attributes.iter().filter(|other| other.values > 1 && other.name != one.name).collect();
    // Conditions take with them what they refer to: they come last.
    let key = |other: &&Significance| (other.autoclusters_without < audit.autoclusters, other.values, other.per_job);
    others.sort_by(|a, b| {
        is_condition(&a.name)
            .cmp(&is_condition(&b.name))
            .then_with(|| key(b).cmp(&key(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
    let name = Name::new(&one.name);
    let mut without = vec![name];
    let mut count = one.autoclusters_without;
    for other in others.into_iter().take(TOGETHER) {
        without.push(Name::new(&other.name));
        count = job_values.count(&without).0;
        if count * 2 <= audit.autoclusters {
            break;
        }
    }
    if count * 2 > audit.autoclusters {
        return None;
    }
    // Attributes that make no difference are not reported.
    let mut at = 1;
    while at < without.len() && without.len() > 2 {
        let mut fewer = without.clone();
        fewer.remove(at);
        let left = job_values.count(&fewer).0;
        if left <= count {
            (without, count) = (fewer, left);
        } else {
            at += 1;
        }
    }
    without.remove(0);
    Some((without, count))
}

/// The expressions that refer to an attribute.
fn reason(one: &Significance) -> String {
    let of_jobs = one.reasons.iter().position(|reason| reason.jobs > 0).unwrap_or(one.reasons.len());
    let (slots, jobs) = one.reasons.split_at(of_jobs);
    let first = slots.first().map(|reason| match (reason.source.as_str(), reason.slots) {
        ("", _) => reason.text.clone(),
        (source, 0) => format!("`{source}`{}", others(slots)),
        (source, count) => format!("`{source}` of {}{}", counted(count, "slot"), others(slots)),
    });
    let by_jobs =
        jobs.first().map(|reason| format!("`{}` of {}{}", reason.source, counted(reason.jobs, "job"), others(jobs)));
    match (first, by_jobs) {
        (Some(text), None) if slots[0].source.is_empty() => text,
        (Some(text), Some(by_jobs)) if slots[0].source.is_empty() => format!("{text}, and {by_jobs} refers to it"),
        (Some(text), Some(by_jobs)) => format!("{text} and {by_jobs} refer to it"),
        (Some(text), None) => format!("{text} refers to it"),
        (None, Some(by_jobs)) => format!("{by_jobs} refers to it"),
        (None, None) => "another attribute refers to it".to_owned(),
    }
}

/// A note on the number of others after the first.
fn others(reasons: &[SignificanceReason]) -> String {
    match reasons.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other expression")),
    }
}
