//! `PriorityFlags`: a list of words, found by substring in any case.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 2.5.

use serde::{Deserialize, Serialize};

/// The algorithm of the fair-share factor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FairShare {
    /// Fair Tree, the default since 19.05.
    #[default]
    FairTree,
    /// `NO_FAIR_TREE`: `2^(−U_E/S)`.
    Exponential,
    /// `DEPTH_OBLIVIOUS`.
    DepthOblivious,
}

/// The way billing is summed over resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingSum {
    /// The sum of all.
    #[default]
    Sum,
    /// `MAX_TRES`: the largest of what a node has, plus the rest.
    Max,
    /// `MAX_TRES_GRES`: the largest of CPUs, memory and nodes, plus generic resources, plus the rest.
    MaxAndGres,
}

/// The flags that are set.
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the system")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityFlags {
    /// `ACCRUE_ALWAYS`: age counts from submission.
    pub accrue_always: bool,
    /// `CALCULATE_RUNNING`: running jobs get new priorities too.
    pub calculate_running: bool,
    /// `INCR_ONLY`: a priority never sinks.
    pub increase_only: bool,
    /// `SMALL_RELATIVE_TO_TIME`: size per minute of time limit.
    pub small_relative_to_time: bool,
    /// `NO_NORMAL_ASSOC`: the raw priority of the association.
    pub raw_association: bool,
    /// `NO_NORMAL_PART`: the raw factor of the partition.
    pub raw_partition: bool,
    /// `NO_NORMAL_QOS`: the raw priority of the QOS.
    pub raw_qos: bool,
    /// `NO_NORMAL_TRES`: raw amounts.
    pub raw_tres: bool,
    /// The algorithm of the fair-share factor.
    pub fair_share: FairShare,
    /// The way billing is summed.
    pub billing: BillingSum,
}

impl PriorityFlags {
    /// The flags of a text.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::{FairShare, PriorityFlags};
    /// let flags = PriorityFlags::parse("accrue_always,NO_FAIR_TREE");
    /// assert!(flags.accrue_always);
    /// assert_eq!(flags.fair_share, FairShare::Exponential);
    /// ```
    pub fn parse(text: &str) -> Self {
        let text = text.to_ascii_uppercase();
        let has = |word: &str| text.contains(word);
        let raw = |word: &str| has("NO_NORMAL_ALL") || has(word);
        Self {
            accrue_always: has("ACCRUE_ALWAYS"),
            calculate_running: has("CALCULATE_RUNNING"),
            increase_only: has("INCR_ONLY"),
            small_relative_to_time: has("SMALL_RELATIVE_TO_TIME"),
            raw_association: raw("NO_NORMAL_ASSOC"),
            raw_partition: raw("NO_NORMAL_PART"),
            raw_qos: raw("NO_NORMAL_QOS"),
            raw_tres: raw("NO_NORMAL_TRES"),
            fair_share: if has("DEPTH_OBLIVIOUS") {
                FairShare::DepthOblivious
            } else if has("NO_FAIR_TREE") {
                FairShare::Exponential
            } else {
                FairShare::FairTree
            },
            billing: if has("MAX_TRES_GRES") {
                BillingSum::MaxAndGres
            } else if has("MAX_TRES") {
                BillingSum::Max
            } else {
                BillingSum::Sum
            },
        }
    }

    /// The words of the flags that are in effect, alphabetically; `FAIR_TREE` is the default.
    pub fn words(&self) -> Vec<&'static str> {
        self.table().into_iter().filter(|(_, set)| *set).map(|(word, _)| word).collect()
    }

    /// Every word that means something, and whether it is in effect; short forms of others never are.
    pub(super) fn table(&self) -> [(&'static str, bool); 14] {
        [
            ("ACCRUE_ALWAYS", self.accrue_always),
            ("CALCULATE_RUNNING", self.calculate_running),
            ("DEPTH_OBLIVIOUS", self.fair_share == FairShare::DepthOblivious),
            ("FAIR_TREE", self.fair_share == FairShare::FairTree),
            ("INCR_ONLY", self.increase_only),
            ("MAX_TRES", self.billing == BillingSum::Max),
            ("MAX_TRES_GRES", self.billing == BillingSum::MaxAndGres),
            ("NO_FAIR_TREE", false),
            ("NO_NORMAL_ALL", false),
            ("NO_NORMAL_ASSOC", self.raw_association),
            ("NO_NORMAL_PART", self.raw_partition),
            ("NO_NORMAL_QOS", self.raw_qos),
            ("NO_NORMAL_TRES", self.raw_tres),
            ("SMALL_RELATIVE_TO_TIME", self.small_relative_to_time),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fair_tree_is_on_unless_switched_off() {
        assert_eq!(PriorityFlags::parse("").words(), ["FAIR_TREE"]);
        assert_eq!(PriorityFlags::parse("DEPTH_OBLIVIOUS,NO_FAIR_TREE").words(), ["DEPTH_OBLIVIOUS"]);
        assert_eq!(PriorityFlags::parse("no_fair_tree").words(), [""; 0]);
    }

    #[test]
    fn of_the_two_ways_of_billing_the_longer_word_wins() {
        assert_eq!(PriorityFlags::parse("MAX_TRES,MAX_TRES_GRES").billing, BillingSum::MaxAndGres);
        assert_eq!(PriorityFlags::parse("MAX_TRES").billing, BillingSum::Max);
    }

    #[test]
    fn all_raw_means_each_raw() {
        let each = ["NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES"];
        assert_eq!(PriorityFlags::parse("NO_NORMAL_ALL").words()[1..], each);
    }
}
