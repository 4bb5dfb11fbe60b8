//! What to do about significant attributes, the most harmful first.

use super::{Audit, Significance};

/// Jobs from which on an attribute that is different in nearly all of them is an explosion.
const FEW: usize = 10;

/// What to do, the most harmful first.
pub fn of(audit: &Audit) -> Vec<String> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for one in &audit.attributes {
        let saved = audit.autoclusters.saturating_sub(one.autoclusters_without);
        let why = reason(one);
        let name = &one.name;
        let explodes = audit.idle_jobs >= FEW && one.values * 2 > audit.idle_jobs && saved > 0;
        let are = if one.autoclusters_without == 1 { "is" } else { "are" };
        let removed = format!(
            "without it there {are} {} instead of {} autoclusters",
            one.autoclusters_without, audit.autoclusters
        );
        if audit.idle_jobs == 0 {
            if one.per_job {
                let message =
                    format!("explosion: `{name}` mostly differs from job to job: an autocluster for every job; {why}");
                found.push((usize::MAX, 0, message));
            } else if !one.matters {
                let slots = one.reasons.first().map_or(0, |reason| reason.slots);
                let message = format!("`{name}` is significant, but no match depends on it; {why}");
                found.push((0, slots, message));
            }
        } else if one.per_job && (explodes || saved > 0) {
            let message = format!("explosion: `{name}` mostly differs from job to job: {removed}; {why}");
            found.push((saved, one.values, message));
        } else if !one.matters && one.values > 1 {
            let message = format!(
                "`{name}` is significant, but no match depends on it: {removed}; {why}; REMOVE_SIGNIFICANT_ATTRIBUTES takes it out"
            );
            found.push((saved, one.values, message));
        } else if explodes {
            // A number can be rounded; of a condition only the text can be made alike.
            let condition = ["Requirements", "Rank"].iter().any(|other| name.eq_ignore_ascii_case(other));
            let advice = if condition {
                "write it alike in all jobs, with what differs in attributes that it refers to"
            } else {
                "round it where jobs are made"
            };
            let message = format!(
                "`{name}` has {} values among {} idle jobs: {removed}; {why}; {advice}",
                one.values, audit.idle_jobs
            );
            found.push((saved, one.values, message));
        }
    }
    found.sort_by(|one, two| two.0.cmp(&one.0).then(two.1.cmp(&one.1)).then_with(|| one.2.cmp(&two.2)));
    found.into_iter().map(|(.., message)| message).collect()
}

fn reason(one: &Significance) -> String {
    match one.reasons.first() {
        Some(reason) if reason.source.is_empty() => reason.text.clone(),
        Some(reason) if reason.slots == 0 => format!("`{}` refers to it", reason.source),
        Some(reason) => {
            let slots = if reason.slots == 1 { "slot" } else { "slots" };
            let more = one.reasons.len() - 1;
            let others = if more > 0 {
                format!(" and {more} other {}", if more == 1 { "expression" } else { "expressions" })
            } else {
                String::new()
            };
            format!("`{}` of {} {slots}{others} refers to it", reason.source, reason.slots)
        }
        None => "a reference that another attribute makes".to_owned(),
    }
}
