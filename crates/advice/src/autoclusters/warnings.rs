//! Advice about attributes that split the queue, the most harmful first.

use classmate::internal::plural::counted;
use hashbrown::HashMap;

use super::counting::JobValues;
use super::excess::{self, Excess, FEW, is_condition, needed};
use super::{Audit, Significance, SignificanceReason};
use classmate::Name;

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
    let judged = |one| Some((judged(audit, one, job_values)?, one));
    let mut found: Vec<Judged<'_>> =
        audit.attributes.iter().filter_map(judged).map(|((harm, kind), one)| (harm, kind, one)).collect();
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
    let warning = |(at, (_, kind, one)): (usize, Judged<'_>)| {
        let excess = excess.as_ref().filter(|excess| excess.together.contains(&Name::new(&one.name)));
        Warning { audit, job_values, one, excess, tried: at < TRIED }.message(&kind)
    };
    found.into_iter().enumerate().map(warning).collect()
}

fn judged(audit: &Audit, one: &Significance, job_values: &JobValues<'_>) -> Option<(Harm, WarningKind)> {
    if audit.idle_jobs == 0 {
        return match (one.per_job, one.matters) {
            (true, _) => Some((Harm::Explosion, WarningKind::PerJob)),
            (false, false) => Some((Harm::None, WarningKind::Useless)),
            (false, true) => None,
        };
    }
    // Nearly every job has a value of its own, or it alone makes most of many autoclusters.
    let explodes = audit.idle_jobs >= FEW && one.values * 2 > audit.idle_jobs;
    let splits = audit.autoclusters >= FEW && one.autoclusters_without * 2 <= audit.autoclusters;
    let harm = if explodes || splits { Harm::Explosion } else { Harm::Some };
    if one.per_job && one.values > 1 {
        return Some((harm, WarningKind::PerJob));
    }
    if one.per_job && !job_values.is_defined(Name::new(&one.name)) {
        return Some((Harm::None, WarningKind::Unsaid));
    }
    if !one.matters && one.values > 1 {
        return Some((harm, WarningKind::Useless));
    }
    explodes.then_some((Harm::Explosion, WarningKind::Many))
}

/// A warning about an attribute.
struct Warning<'a> {
    audit: &'a Audit,
    job_values: &'a JobValues<'a>,
    one: &'a Significance,
    /// The attributes that it is one of.
    excess: Option<&'a Excess>,
    /// True if others are tried together with it.
    tried: bool,
}

impl Warning<'_> {
    fn message(&self, kind: &WarningKind) -> String {
        let Warning { audit, one, .. } = self;
        let (name, why) = (&one.name, reason(one));
        // The reason why it differs between all jobs.
        let by_submission = ["ClusterId", "QDate"].iter().any(|known| name.eq_ignore_ascii_case(known));
        let (often, mostly, each) = if by_submission {
            let differs = "differs from submission to submission";
            (differs, differs, "each submission has its own autocluster")
        } else {
            let mostly = "mostly differs from job to job";
            ("often differs from job to job", mostly, "each job has its own autocluster")
        };
        let (values, jobs) = (one.values, audit.idle_jobs);
        match kind {
            WarningKind::PerJob if jobs == 0 => format!("explosion: `{name}` {mostly}, so {each}; {why}"),
            _ if jobs == 0 => format!("`{name}` is significant, but no match depends on it; {why}"),
            WarningKind::PerJob if values * 2 <= jobs => {
                format!("`{name}` {often}, and has {values} values among {jobs} idle jobs: {}; {why}", self.removed())
            }
            WarningKind::PerJob => {
                format!("explosion: `{name}` mostly differs from job to job: {}; {why}", self.removed())
            }
            WarningKind::Unsaid => {
                format!("explosion: `{name}` {mostly}; no job here defines it, but where jobs define it, {each}; {why}")
            }
            WarningKind::Useless if one.reasons.iter().any(|reason| reason.jobs > 0) => {
                format!("no match depends on `{name}`: {}; {why}", self.removed())
            }
            WarningKind::Useless => format!(
                "`{name}` is significant, but no match depends on it: {}; {why}; REMOVE_SIGNIFICANT_ATTRIBUTES removes it",
                self.removed()
            ),
            WarningKind::Many => {
                // A number can be rounded; of a condition only the text can be made alike.
                let advice = if is_condition(name) {
                    "write it identically in all jobs, and move the differences to attributes that it refers to"
                } else if self.job_values.is_of_numbers(Name::new(name)) {
                    "round it when jobs are submitted"
                } else {
                    "refer to it in fewer expressions, or use fewer values"
                };
                let all = audit.autoclusters;
                let truly = match audit.outcomes.filter(|_| self.excess.is_some()) {
                    Some(1) => format!("; 1 of all {all} differs in its matches"),
                    Some(outcomes) => format!("; {outcomes} of all {all} differ in their matches"),
                    None => String::new(),
                };
                let removed = self.removed();
                format!("`{name}` has {values} values among {jobs} idle jobs: {removed}{truly}; {why}; {advice}")
            }
        }
    }

    /// The number of autoclusters without an attribute; if it is nearly the same, also without others that split the
    /// queue.
    fn removed(&self) -> String {
        let Warning { audit, one, .. } = self;
        let (all, alone) = (audit.autoclusters, one.autoclusters_without);
        let joint = self.excess.filter(|excess| excess.together.len() > 1).map(|excess| {
            let others = excess.together.iter().copied().filter(|name| *name != Name::new(&one.name));
            (others.collect::<Vec<Name>>(), excess.left)
        });
        // Nothing is gained by taking out more.
        let enough = alone * 2 <= all || !self.tried || one.values * 2 <= audit.idle_jobs;
        let still = if alone * 2 <= all || enough && joint.is_none() {
            format!("without it there would be {alone} instead of {}", counted(all, "autocluster"))
        } else {
            let still = if alone == all { format!("all {all}") } else { format!("{alone} of {all}") };
            format!("without it there would still be {still} autoclusters")
        };
        let joint = if enough { joint } else { joint.or_else(|| self.together()) };
        let Some((others, count)) = joint else { return still };
        let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
        format!("{still}, without it and {} there would be {count}", others.join(" and "))
    }

    /// Other attributes without which, together with one, there are at most half the autoclusters; and how many there are then.
    fn together(&self) -> Option<(Vec<Name>, usize)> {
        let Warning { audit, job_values, one, .. } = self;
        let mut others: Vec<&Significance> =
            audit.attributes.iter().filter(|other| other.values > 1 && other.name != one.name).collect();
        // Conditions take with them what they refer to: they come last.
        let key =
            |other: &&Significance| (other.autoclusters_without < audit.autoclusters, other.values, other.per_job);
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
        let mut without = needed(without, 1, |fewer| {
            let left = job_values.count(fewer).0;
            let same = left <= count;
            count = if same { left } else { count };
            same
        });
        without.remove(0);
        Some((without, count))
    }
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
