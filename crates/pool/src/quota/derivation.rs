//! Derivation of a group's quota and allocation, in words and numbers.
//!
//! In: what was computed. Out: a clause for a table, or the whole derivation line by line.

use super::grant::Grant;
use super::rounds::{Round, Rounds};
use super::settings::QuotaRules;
use super::tree::{Configured, GroupTree, ROOT};

/// The inputs of all derivations of a cycle.
#[derive(Debug)]
pub struct QuotaDerivation<'a> {
    tree: &'a GroupTree,
    rules: &'a QuotaRules,
    rounds: &'a Rounds<'a>,
    /// The place of each group in the order, from 1, by round.
    places: Vec<Vec<usize>>,
}

/// A number of slots for people: at most four decimals.
pub fn slots(number: f64) -> String {
    if number.abs() >= 1e15 {
        return format!("{number:e}");
    }
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The sort key of a group for people: all its digits. In place of a huge number, which only puts a group after others, the number of
/// groups that it puts before.
fn key(round: &Round, group: usize) -> String {
    /// `GROUP_SORT_EXPR` gives this number to a group without a quota by default, and a larger one to `<none>`.
    const LAST: f64 = 3.3e38;
    let number = round.grants[group].sort_key;
    if number < LAST {
        return if number.abs() >= 1e15 { format!(", sort key {number:e}") } else { format!(", sort key {number}") };
    }
    match round.grants.iter().filter(|grant| grant.sort_key < number).count() {
        0 => ": no group has a lower sort key".to_owned(),
        1 => ": 1 group has a lower sort key".to_owned(),
        lower => format!(": {lower} groups have a lower sort key"),
    }
}

impl<'a> QuotaDerivation<'a> {
    /// The story of what happened to these groups so far, by the rules they were divided by.
    pub fn new(tree: &'a GroupTree, rules: &'a QuotaRules, rounds: &'a Rounds<'a>) -> Self {
        let places = |round: &Round| {
            let mut places = vec![0; tree.len()];
            for (place, &group) in round.order.iter().enumerate() {
                places[group] = place + 1;
            }
            places
        };
        Self { tree, rules, rounds, places: rounds.record().iter().map(places).collect() }
    }

    /// The place of a group in the order of the first round, from 1; 0 if there was none.
    pub fn place(&self, group: usize) -> usize {
        self.places.first().map_or(0, |places| places[group])
    }

    /// In a clause, why a group got no more (or no less) in the first round.
    pub fn brief(&self, group: usize) -> String {
        let Some(round) = self.rounds.record().first() else { return String::new() };
        let grant = &round.grants[group];
        let node = &self.tree.groups()[group];
        if group == ROOT && self.tree.autoregroup {
            return "negotiates last, with the autoregroup groups, for the whole pool".to_owned();
        }
        if group == ROOT && self.rules.flat {
            return "negotiates last, for the slots that the groups leave".to_owned();
        }
        if grant.demand <= 0.0 {
            return "no slots requested".to_owned();
        }
        let taken = grant.surplus();
        let covered = grant.unmet <= 0.0 || (!self.rules.weighted && grant.unmet < 1.0);
        if covered && taken <= 0.0 {
            return "its quota covers its requests".to_owned();
        }
        if covered && grant.fair <= 0.0 {
            return format!("surplus of {} covers its requests", slots(taken));
        }
        if covered {
            return format!("its quota and a surplus of {} cover its requests", slots(taken));
        }
        let again = if node.autoregroup && group != ROOT { "; negotiates again with `<none>`" } else { "" };
        if !node.accepts_surplus {
            let own = if grant.quota > 0.0 { "limited by its quota" } else { "its own quota is 0" };
            return format!("{own}; GROUP_ACCEPT_SURPLUS is false{again}");
        }
        if taken > 0.0 {
            return format!("took its part of the surplus; {} more requested{again}", slots(grant.unmet));
        }
        match self.barrier(group) {
            Some(above) => format!(
                "no surplus below `{}`, which does not accept \
            surplus{again}",
                self.tree.display(above)
            ),
            None => format!("no surplus left{again}"),
        }
    }

    /// The derivation of a group's quota and grants, a sentence a line.
    pub fn lines(&self, group: usize) -> Vec<String> {
        let mut lines = self.quota(group);
        for round in self.rounds.record() {
            if self.rounds.record().len() > 1 {
                lines.push(format!("round {}", round.round));
            }
            self.grant(round, group, &mut lines);
        }
        lines
    }

    /// The nearest group above (or the group itself) that accepts no surplus.
    fn barrier(&self, group: usize) -> Option<usize> {
        self.tree.upwards(group).find(|&at| !self.tree.groups()[at].accepts_surplus)
    }

    /// Derivation of the quota.
    fn quota(&self, group: usize) -> Vec<String> {
        let assigned = self.rounds.assigned();
        let node = &self.tree.groups()[group];
        let own = assigned[group];
        let above = assigned[node.parent].division;
        let parent = self.tree.display(node.parent);
        let has = slots(assigned[node.parent].subtree_quota);
        let mut lines = Vec::new();
        match node.configured {
            Configured::Pool => lines.push(format!("pool size is {}", slots(own.subtree_quota))),
            Configured::Static(quota) => {
                lines.push(format!("GROUP_QUOTA is {}", slots(quota)));
                let (sum, available) = (slots(above.static_sum), slots(above.static_available));
                if above.static_available < above.static_sum {
                    lines.push(format!(
                        "the static quotas below `{parent}` sum to {sum}, but it has {has}: quota is {} · {available} \
                        / {sum} = {}",
                        slots(quota),
                        slots(own.subtree_quota)
                    ));
                } else if above.static_sum > assigned[node.parent].subtree_quota {
                    lines.push(format!(
                        "the static quotas below `{parent}` sum to {sum}, more than its {has}, but are kept \
                        (NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION)"
                    ));
                }
            }
            Configured::Dynamic(fraction) => {
                lines.push(format!("GROUP_QUOTA_DYNAMIC is {fraction} of the quota of `{parent}` after static quotas"));
                let scaled = if above.dynamic_sum > 1.0 {
                    format!(" / {} (sum of the fractions)", slots(above.dynamic_sum))
                } else {
                    String::new()
                };
                lines.push(format!(
                    "`{parent}` has {has}, static quotas take {}: {} · {fraction}{scaled} = {}",
                    slots(above.static_available),
                    slots(above.dynamic_available),
                    slots(own.subtree_quota)
                ));
            }
        }
        if !node.children.is_empty() {
            let keeps = slots(own.quota);
            let handed = slots(own.division.handed_down);
            lines.push(if self.rules.oversubscription && group != ROOT {
                format!("its subgroups get {handed}; with oversubscription it keeps {keeps} in addition")
            } else {
                format!("its subgroups get {handed}, and it keeps {keeps}")
            });
        }
        lines
    }

    /// Derivation of the grant of a round.
    fn grant(&self, round: &Round, group: usize, lines: &mut Vec<String>) {
        let grant: &Grant = &round.grants[group];
        let node = &self.tree.groups()[group];
        lines.push(format!("requested {} in total, {} in use", slots(grant.demand), slots(grant.usage)));
        lines.push(format!("its own quota covers {} and leaves {}", slots(grant.fair), slots(grant.spare)));
        let level = grant.level;
        if !node.children.is_empty() {
            let below = level.pot - grant.spare;
            let shared = match (level.wanted > 0.0, level.weights > 0.0) {
                _ if level.pot <= 0.0 => "no surplus at its level".to_owned(),
                (false, _) => format!("no group at its level requests more; {} moved up", slots(level.passed_up)),
                (true, true) => format!(
                    "{} requested at its level: shared in proportion to quotas, total {}",
                    slots(level.wanted),
                    slots(level.weights)
                ),
                (true, false) if level.passed_up > 0.0 || level.wanted <= level.pot => {
                    format!(
                        "{} requested at its level: fully allocated; {} moved up",
                        slots(level.wanted),
                        slots(level.passed_up)
                    )
                }
                (true, false) => format!("{} requested at its level: shared equally", slots(level.wanted)),
            };
            lines.push(format!(
                "its direct subgroups leave {}, so it has {} to share; {shared}",
                slots(below),
                slots(level.pot)
            ));
        }
        for taken in &grant.taken {
            let whose = self.tree.display(taken.from);
            let pot = round.grants[taken.from].level.pot;
            lines.push(format!(
                "takes {} of the surplus of {} at the level of \
            `{whose}`",
                slots(taken.amount),
                slots(pot)
            ));
        }
        if grant.taken.is_empty()
            && grant.unmet > 0.0
            && let Some(barrier) = self.barrier(group)
        {
            let who = if barrier == group {
                "it".to_owned()
            } else {
                format!(
                    "its ancestor \
                `{}`",
                    self.tree.display(barrier)
                )
            };
            lines.push(format!("takes no surplus from higher levels, because {who} does not accept surplus"));
        }
        if grant.rounding != 0.0 {
            let (word, amount) =
                if grant.rounding < 0.0 { ("gives up", -grant.rounding) } else { ("gains", grant.rounding) };
            lines.push(format!("without slot weights, allocations are whole numbers: it {word} {}", slots(amount)));
        }
        lines.push(format!("allocated {}; {} more requested", slots(grant.allocated), slots(grant.unmet.max(0.0))));
        let place = self.places[round.round as usize - 1][group];
        lines.push(format!("negotiates as number {place} of {}{}", round.order.len(), key(round, group)));
        let calls: Vec<String> = round
            .calls
            .iter()
            .filter(|call| call.group == group)
            .map(|call| {
                call.limit.map_or_else(|| "0 (0/0: nothing is matched)".to_owned(), |_| call.whole_limit().to_string())
            })
            .collect();
        if !calls.is_empty() {
            lines.push(format!("negotiated with limit {}", calls.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{QuotaPool, QuotaSettings};
    use classmate::internal::eval::scope::EvalOptions;
    use classmate_config::internal::config::Config;

    /// Clause and derivation of a group; quotas by name, the pool has 30 slots.
    fn derived(config: &str, demand: &[(&str, f64)], group: &str) -> (String, Vec<String>) {
        let settings = QuotaSettings::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap();
        let tree = GroupTree::new(&settings);
        let mut pool = QuotaPool { total: 30.0, demand: vec![0.0; tree.len()], ..QuotaPool::default() };
        for (name, demand) in demand {
            pool.demand[tree.find(name.as_bytes()).unwrap()] = *demand;
        }
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        rounds.divide();
        let derivation = QuotaDerivation::new(&tree, &settings.rules, &rounds);
        let group = tree.find(group.as_bytes()).unwrap();
        (derivation.brief(group), derivation.lines(group))
    }

    const LOCAL: &str = "GROUP_NAMES = p, p.hep, p.lep, c\nGROUP_QUOTA_p = 20\nGROUP_QUOTA_p.hep = 15\n\
                         GROUP_QUOTA_p.lep = 5\nGROUP_QUOTA_c = 10\nGROUP_ACCEPT_SURPLUS_p.hep = true\n\
                         GROUP_ACCEPT_SURPLUS_p.lep = true\nNEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false";

    /// Example 8a of `docs/reference/group-quotas.md`.
    #[test]
    fn surplus_taken_is_reported_with_its_source() {
        let demand = [("p.hep", 4.0), ("p.lep", 60.0), ("c", 60.0)];
        let (brief, lines) = derived(LOCAL, &demand, "p.lep");
        assert_eq!(brief, "took its part of the surplus; 44 more requested");
        assert_eq!(
            lines,
            [
                "GROUP_QUOTA is 5",
                "requested 60 in total, 0 in use",
                "its own quota covers 5 and leaves 0",
                "takes 11 of the surplus of 11 at the level of `p`",
                "allocated 16; 44 more requested",
                "negotiates as number 3 of 5, sort key 0",
            ]
        );
        // The default gives 3.3e38 to `p`, whose children have all of its quota, and 3.4e38 to `<none>`.
        assert_eq!(
            ["p", "<none>"].map(|group| derived(LOCAL, &demand, group).1.last().unwrap().clone()),
            [
                "negotiates as number 4 of 5: 3 groups have a lower sort key",
                "negotiates as number 5 of 5: 4 groups have a lower sort key"
            ]
        );
        assert_eq!(derived(LOCAL, &demand, "p.hep").0, "its quota covers its requests");
        assert_eq!(derived(LOCAL, &demand, "p").0, "no slots requested");
        assert_eq!(derived(LOCAL, &demand, "c").0, "limited by its quota; GROUP_ACCEPT_SURPLUS is false");
        let full = [("p.hep", 60.0), ("p.lep", 60.0)];
        assert_eq!(derived(LOCAL, &full, "p.lep").0, "no surplus below `p`, which does not accept surplus");
        let lines = derived(LOCAL, &full, "p.lep").1;
        assert!(
            lines.contains(
                &"takes no surplus from higher levels, because its ancestor `p` does not accept surplus".to_owned()
            ),
            "{lines:?}"
        );
    }

    #[test]
    fn levels_and_scaling_are_reported() {
        let (_, lines) = derived(LOCAL, &[("p.hep", 4.0), ("p.lep", 60.0)], "p");
        assert_eq!(
            lines[1..5],
            [
                "its subgroups get 20, and it keeps 0",
                "requested 0 in total, 0 in use",
                "its own quota covers 0 and leaves 0",
                "its direct subgroups leave 11, so it has 11 to share; 55 requested at its level: shared in \
                 proportion to quotas, total 5",
            ]
        );
        let scaled = "GROUP_NAMES = a, b, d\nGROUP_QUOTA_a = 40\nGROUP_QUOTA_b = 20\nGROUP_QUOTA_DYNAMIC_d = 0.5\n\
                      NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false";
        let (_, lines) = derived(scaled, &[], "a");
        assert_eq!(
            lines[..2],
            [
                "GROUP_QUOTA is 40",
                "the static quotas below `<none>` sum to 60, but it has 30: quota is 40 · 30 / 60 = 20"
            ]
        );
        let (_, lines) = derived(scaled, &[], "d");
        assert_eq!(lines[1], "`<none>` has 30, static quotas take 30: 0 · 0.5 = 0");
    }

    #[test]
    fn autoregroup_and_whole_slots_are_reported() {
        let config = "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.25\nGROUP_QUOTA_b = 8\nGROUP_AUTOREGROUP_a = true\n\
                      NEGOTIATOR_USE_SLOT_WEIGHTS = false";
        let demand = [("a", 9.0)];
        // (30 − 8) / 4 = 5.5
        let (brief, lines) = derived(config, &demand, "a");
        assert_eq!(brief, "limited by its quota; GROUP_ACCEPT_SURPLUS is false; negotiates again with `<none>`");
        assert!(
            lines.contains(&"without slot weights, allocations are whole numbers: it gives up 0.5".to_owned()),
            "{lines:?}"
        );
        let (brief, _) = derived(config, &demand, "<none>");
        assert_eq!(brief, "negotiates last, with the autoregroup groups, for the whole pool");
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, -0.00001, 5.0, 19.8, 1.0 / 3.0, 1e9, 1e100].map(slots);
        assert_eq!(shown, ["0", "0", "5", "19.8", "0.3333", "1000000000", "1e100"]);
    }
}
