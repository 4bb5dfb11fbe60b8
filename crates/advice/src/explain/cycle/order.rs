//! The order of two waiting jobs, in the words of the policy that orders them.
//!
//! In: a snapshot. Out: the priority of every waiting job and what it is made of, if the policy orders jobs; and sentences.

use std::cmp::Ordering;

use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{JobId, Negotiation};

pub use classmate_pool::internal::priority::ranking::{JobRank, ServiceOrder};

/// The meaning of a submitter's priority under a policy.
pub(crate) fn standing(order: &ServiceOrder, priority: f64) -> String {
    match order {
        ServiceOrder::Submitters => format!("effective priority {priority:.2}"),
        ServiceOrder::Lots(_) => format!("priority {priority:.2}; a higher priority is drawn more often"),
        ServiceOrder::Jobs { .. } => format!("fair-share factor {:.2}; higher is better", 1.0 - priority),
    }
}

/// The reason a job was served before another one, if the policy does not order submitters.
pub(crate) fn precedence_of_policy(
    order: &ServiceOrder,
    won: JobId,
    lost: JobId,
    visits: [Option<&Negotiation>; 2],
) -> Option<String> {
    match order {
        ServiceOrder::Submitters => None,
        ServiceOrder::Lots(_) => Some(match visits {
            [Some(one), Some(other)] if one.submitter != other.submitter => format!(
                "drawn at random: priority {:.2} against {:.2}, where higher is more likely",
                one.priority, other.priority
            ),
            _ => "drawn at random".to_owned(),
        }),
        ServiceOrder::Jobs { ranks, .. } => Some(match (ranks.get(&won), ranks.get(&lost)) {
            (Some(one), Some(other)) => against((one, won), (other, lost)),
            _ => format!("job {won} has a priority, but this job does not"),
        }),
    }
}

/// The factors that count, with what they are.
pub fn shown(rank: &JobRank) -> String {
    let parts = rank.factors.iter().filter(|(_, value)| *value != 0.0);
    let parts: Vec<String> = parts.map(|(name, value)| format!("{name} {}", rounded(*value))).collect();
    if parts.is_empty() { "all weighted factors are 0".to_owned() } else { parts.join(", ") }
}

/// The first key in which the ranks of two jobs differ.
fn against((one, job): (&JobRank, JobId), (other, lost): (&JobRank, JobId)) -> String {
    if one.tier != other.tier {
        let word = if one.tier > other.tier { "before" } else { "after" };
        return format!(
            "job {job} is ordered {word} this one: PriorityTier {} of partition `{}` against {} of `{}`, higher is \
            better",
            one.tier, one.partition, other.tier, other.partition
        );
    }
    if one.priority < other.priority {
        return format!(
            "job {job} has a lower priority: {} against {}, higher is better",
            one.priority, other.priority
        );
    }
    if one.priority > other.priority {
        let differ = one.factors.iter().zip(&other.factors);
        let most = differ.max_by(|(a, b), (c, d)| (a.1 - b.1).total_cmp(&(c.1 - d.1)));
        let most = most.filter(|(mine, theirs)| mine.1 > theirs.1).map(|(mine, theirs)| {
            format!(", mainly because of {} ({} against {})", mine.0, rounded(mine.1), rounded(theirs.1))
        });
        return format!(
            "job {job} has a higher priority: {} against {}{}",
            one.priority,
            other.priority,
            most.unwrap_or_default()
        );
    }
    let differs = match (one.submitted.cmp(&other.submitted), job < lost) {
        (Ordering::Less, _) => "was submitted earlier",
        (Ordering::Greater, _) => "was submitted later",
        (Ordering::Equal, true) => "has the lower job ID",
        (Ordering::Equal, false) => "has the higher job ID",
    };
    format!("same priority ({}), and job {job} {differs}", one.priority)
}

fn rounded(value: f64) -> String {
    slots((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(tier: u16, priority: u32, age: f64, fair_share: f64) -> JobRank {
        JobRank {
            partition: "p".to_owned(),
            tier,
            priority,
            submitted: 5,
            factors: vec![("age", age), ("fair share", fair_share)],
            held_back: None,
        }
    }

    fn id(cluster: i64) -> JobId {
        JobId { cluster, process: 0 }
    }

    #[test]
    fn the_factor_that_differs_most_is_named_and_higher_is_better() {
        let (one, other) = (rank(1, 900, 100.0, 800.0), rank(1, 500, 150.0, 350.0));
        assert_eq!(
            against((&one, id(7)), (&other, id(1))),
            "job 7.0 has a higher priority: 900 against 500, mainly because of fair share (800 against 350)"
        );
        assert_eq!(
            against((&other, id(8)), (&one, id(1))),
            "job 8.0 has a lower priority: 500 against 900, higher is better"
        );
        assert!(
            against((&rank(2, 1, 0.0, 0.0), id(9)), (&one, id(1)))
                .starts_with("job 9.0 is ordered before this one: PriorityTier 2")
        );
        assert_eq!(against((&one, id(1)), (&one, id(2))), "same priority (900), and job 1.0 has the lower job ID");
    }
}
