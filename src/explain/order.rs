//! Which of two waiting jobs goes first, in the words of the policy that orders them.
//!
//! In: a snapshot. Out: the priority of every waiting job and what it is made of, if the policy orders jobs; and sentences.

use crate::negotiate::Snapshot;
use crate::negotiate::outcome::Negotiation;
use crate::quota::story::slots;

pub use crate::priority::ranking::{Order, Rank};

impl Order {
    /// The order of a snapshot's policy.
    pub fn of(snapshot: &Snapshot) -> Self {
        snapshot.policy.ranking(&snapshot.slots, &snapshot.jobs, &snapshot.settings())
    }

    /// Whether the visits of a cycle tell which submitter goes first.
    pub fn is_of_submitters(&self) -> bool {
        matches!(self, Self::Submitters)
    }

    /// How a job stands, if jobs are ordered.
    pub fn rank(&self, job: &str) -> Option<&Rank> {
        match self {
            Self::Jobs { ranks, .. } => ranks.get(job),
            _ => None,
        }
    }

    /// How many of some slots are not in the partition of a job, and the partition; none if there is none.
    pub(super) fn elsewhere<'n>(&self, job: &str, names: impl Iterator<Item = &'n String>) -> Option<(&str, usize)> {
        let Self::Jobs { ranks, partitions } = self else { return None };
        let rank = ranks.get(job).filter(|rank| !rank.partition.is_empty())?;
        let lists = |name: &&String| {
            partitions.get(*name).is_some_and(|of| of.iter().any(|one| one.eq_ignore_ascii_case(&rank.partition)))
        };
        Some((&rank.partition, names.filter(|name| !lists(name)).count()))
    }

    /// What the figure that a visit gives for the priority of its submitter says under this policy.
    pub(super) fn standing(&self, priority: f64) -> String {
        match self {
            Self::Submitters => format!("with priority {priority:.2}"),
            Self::Lots => format!("with priority {priority:.2}; the higher, the likelier it is drawn"),
            Self::Jobs { .. } => format!("fair-share factor {:.2}; higher is better", 1.0 - priority),
        }
    }

    /// Why a job was served before another one, if the policy does not order submitters.
    pub(super) fn precedence(&self, won: &str, lost: &str, visits: [Option<&Negotiation>; 2]) -> Option<String> {
        match self {
            Self::Submitters => None,
            Self::Lots => Some(match visits {
                [Some(one), Some(other)] if one.submitter != other.submitter => format!(
                    "it was drawn by lot: priority {:.2} against {:.2}, the higher the likelier",
                    one.priority, other.priority
                ),
                _ => "it was drawn by lot".to_owned(),
            }),
            Self::Jobs { ranks, .. } => Some(match (ranks.get(won), ranks.get(lost)) {
                (Some(one), Some(other)) => one.against(other, won),
                _ => format!("job {won} has a priority, and this one has none"),
            }),
        }
    }
}

impl Rank {
    /// The factors that count, with what they are.
    pub fn shown(&self) -> String {
        let parts = self.factors.iter().filter(|(_, value)| *value != 0.0);
        let parts: Vec<String> = parts.map(|(name, value)| format!("{name} {}", rounded(*value))).collect();
        if parts.is_empty() { "no factor has a weight".to_owned() } else { parts.join(", ") }
    }

    /// Why a job that stands so goes before one that stands otherwise, by the first key in which they differ.
    fn against(&self, other: &Self, job: &str) -> String {
        if self.tier != other.tier {
            let word = if self.tier > other.tier { "before" } else { "after" };
            return format!(
                "job {job} comes {word} it: PriorityTier {} of partition `{}` against {} of `{}`, higher is better",
                self.tier, self.partition, other.tier, other.partition
            );
        }
        if self.priority < other.priority {
            return format!(
                "job {job} comes after it, with priority {} against {}, higher is better: these slots were of no use to it",
                self.priority, other.priority
            );
        }
        if self.priority > other.priority {
            let differ = self.factors.iter().zip(&other.factors);
            let most = differ.max_by(|(a, b), (c, d)| (a.1 - b.1).total_cmp(&(c.1 - d.1)));
            let most = most.filter(|(one, other)| one.1 > other.1).map(|(one, other)| {
                format!(", most of it {} ({} against {})", one.0, rounded(one.1), rounded(other.1))
            });
            return format!(
                "the priority of job {job} is better: {} against {}, higher is better{}",
                self.priority,
                other.priority,
                most.unwrap_or_default()
            );
        }
        if self.submitted < other.submitted {
            return format!("the priorities are equal ({}), and job {job} was submitted earlier", self.priority);
        }
        format!("the priorities are equal ({}), and job {job} has the lower number", self.priority)
    }
}

fn rounded(value: f64) -> String {
    slots((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(tier: u16, priority: u32, age: f64, fair_share: f64) -> Rank {
        Rank {
            partition: "p".to_owned(),
            tier,
            priority,
            submitted: 5,
            factors: vec![("age", age), ("fair share", fair_share)],
        }
    }

    #[test]
    fn the_factor_that_differs_most_is_named_and_higher_is_better() {
        let (one, other) = (rank(1, 900, 100.0, 800.0), rank(1, 500, 150.0, 350.0));
        assert_eq!(
            one.against(&other, "7.0"),
            "the priority of job 7.0 is better: 900 against 500, higher is better, most of it fair share (800 against 350)"
        );
        assert!(other.against(&one, "8.0").starts_with("job 8.0 comes after it, with priority 500 against 900"));
        assert!(rank(2, 1, 0.0, 0.0).against(&one, "9.0").starts_with("job 9.0 comes before it: PriorityTier 2"));
        assert_eq!(one.against(&one, "1.0"), "the priorities are equal (900), and job 1.0 has the lower number");
    }
}
