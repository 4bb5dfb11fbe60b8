//! The priorities of all task queues at one moment, and how they came about (`docs/reference/dirac-shares.md` 3, 4).

use crate::OrderedMap;
use serde::Serialize;

use super::correct::{SliceUse, correct};
use super::history::RunHistory;
use super::queue::{TaskQueue, TaskQueues};
use super::share::{DEFAULT_SHARE, DiracGroup, group_priorities};
use classmate_config::internal::config::dirac::{DiracSettings, Instance, Word};

/// Derivation of the priority of a task queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// The number of the queue.
    pub queue: i64,
    /// The share of its group, before correction.
    pub group_share: f64,
    /// Correction factor of the group's share.
    pub group_correction: f64,
    /// Part of the owner of the queue; all of it if the group shares its jobs.
    pub share: f64,
    /// Correction factor of the owner's share.
    pub user_correction: f64,
    /// The priority.
    pub priority: f64,
}

/// The priorities of task queues.
///
/// ```
/// use classmate_config::DiracSettings;
/// use classmate_pool::internal::priority::dirac::{RunHistory, PriorityTable, QueuedJob, Requirements, TaskQueues};
/// let mut queues = TaskQueues::default();
/// queues.push(Requirements::default(), QueuedJob { id: 1, user_priority: 1.0 });
/// let table = PriorityTable::new(&queues, &DiracSettings::default(), |_| None, &RunHistory::default(), 0.0);
/// assert_eq!(table.rows()[0].priority, 1000.0);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriorityTable(Vec<Row>);

impl PriorityTable {
    /// Computes the priorities of all queues.
    ///
    /// `quota` is the share of a group that the configuration does not give one; without both it is 1000. `now` is in
    /// seconds, like the history.
    pub fn new(
        queues: &TaskQueues,
        settings: &DiracSettings,
        quota: impl Fn(&[u8]) -> Option<f64>,
        history: &RunHistory,
        now: f64,
    ) -> Self {
        let mut groups: OrderedMap<Word, Vec<&TaskQueue>> = OrderedMap::default();
        for queue in queues.iter() {
            groups.entry(queue.requirements.group.clone()).or_default().push(queue);
        }
        let share = |group: &Word| {
            let said = settings.groups.get(group).and_then(|group| group.share);
            said.or_else(|| quota(group)).unwrap_or(DEFAULT_SHARE)
        };
        let corrector = Corrector { settings, history, now };
        let shares: Vec<(Word, f64)> = groups.keys().map(|group| (group.clone(), share(group))).collect();
        let corrected = corrector.apply(None, &shares);
        let mut rows = Vec::with_capacity(queues.iter().len());
        for (((name, queues), (_, group_share)), corrected) in groups.iter().zip(&shares).zip(&corrected) {
            let stated = settings.group(name);
            let group =
                DiracGroup { share: *corrected, job_sharing: stated.job_sharing, background: stated.background };
            let users = |users: &[(Word, f64)]| corrector.apply(Some(name), users);
            let parts = group_priorities(queues, &group, settings.options.weighting, users);
            rows.extend(queues.iter().zip(parts).map(|(queue, part)| Row {
                queue: queue.id,
                group_share: *group_share,
                group_correction: corrected / group_share,
                share: part.share,
                user_correction: if part.share > 0.0 { part.corrected / part.share } else { 1.0 },
                priority: part.priority,
            }));
        }
        rows.sort_unstable_by_key(|row| row.queue);
        Self(rows)
    }

    /// A row for each queue, in ascending order of their numbers.
    pub fn rows(&self) -> &[Row] {
        &self.0
    }

    /// The row of a queue.
    pub fn row(&self, queue: i64) -> Option<Row> {
        // Mostly there is one for each number from 1.
        let expected = usize::try_from(queue).ok().and_then(|queue| self.0.get(queue.checked_sub(1)?));
        let found = || self.0.binary_search_by_key(&queue, |row| row.queue).ok().map(|at| &self.0[at]);
        expected.filter(|row| row.queue == queue).or_else(found).copied()
    }

    /// The priority of a queue; 0 if there is none.
    pub fn priority(&self, queue: i64) -> f64 {
        self.row(queue).map_or(0.0, |row| row.priority)
    }
}

/// Applies the correctors of a configuration.
struct Corrector<'a> {
    settings: &'a DiracSettings,
    history: &'a RunHistory,
    now: f64,
}

impl Corrector<'_> {
    /// The shares of groups, or of the users of a group, after all correctors, each applied to the result of the last.
    fn apply(&self, group: Option<&Word>, shares: &[(Word, f64)]) -> Vec<f64> {
        if !self.settings.correct {
            return shares.iter().map(|(_, share)| *share).collect();
        }
        let mut shares: Vec<(Word, f64)> = shares.to_vec();
        let instances = self.settings.corrections.instances.iter().filter(|instance| instance.group.as_ref() == group);
        for instance in instances {
            let profile = self.settings.options.profile;
            // A use of exactly zero, which the program stumbles over, is not in our history.
            let corrected = correct(&shares, &self.slices(instance), instance.global_max(profile), profile);
            for (share, corrected) in shares.iter_mut().zip(corrected.unwrap_or_default()) {
                share.1 = corrected.share;
            }
        }
        shares.into_iter().map(|(_, share)| share).collect()
    }

    /// The history an instance looks at; nothing if one of its slices is empty altogether.
    fn slices(&self, instance: &Instance) -> Vec<SliceUse> {
        let slices: Vec<SliceUse> = instance
            .slices
            .iter()
            .map(|slice| SliceUse {
                running: match &instance.group {
                    None => self.history.of_groups(self.now, slice.time_span),
                    Some(group) => self.history.of_users(group, self.now, slice.time_span),
                },
                weight: slice.weight,
                max_correction: slice.max_correction,
            })
            .collect();
        if slices.iter().any(|slice| slice.running.is_empty()) { Vec::new() } else { slices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::dirac::{QueuedJob, Requirements, first_chances};
    use classmate_config::internal::config::dirac::{DiracTree, Whose};

    fn settings(text: &str) -> DiracSettings {
        DiracSettings::read(&DiracTree::parse("c", text.as_bytes()).unwrap(), Whose::default()).unwrap()
    }

    fn name(text: &str) -> Word {
        Word::from(text.as_bytes())
    }

    /// Queues given as owner, group, CPU time and number of jobs.
    fn queues(rows: &[(&str, &str, i64, usize)]) -> TaskQueues {
        let mut queues = TaskQueues::default();
        for (owner, group, cpu_time, jobs) in rows {
            for id in 0..*jobs as i64 {
                let requirements = Requirements {
                    owner: name(owner),
                    group: name(group),
                    cpu_time: *cpu_time,
                    ..Requirements::default()
                };
                queues.push(requirements, QueuedJob { id, user_priority: 1.0 });
            }
        }
        queues
    }

    fn priorities(queues: &TaskQueues, settings: &DiracSettings, history: &RunHistory) -> Vec<f64> {
        let table = PriorityTable::new(queues, settings, |_| None, history, 604_800.0);
        table.rows().iter().map(|row| row.priority).collect()
    }

    /// `docs/reference/dirac-shares.md` 7.12.
    #[test]
    fn everything_together() {
        let settings = settings("Registry {\nGroups {\nmc {\nJobShare = 3000\nProperties = JobSharing\n}\n}\n}");
        let queues = queues(&[
            ("ann", "usr", 3600, 4),
            ("ann", "usr", 86_400, 1),
            ("bob", "usr", 3600, 2),
            ("prod1", "mc", 3600, 1),
            ("prod2", "mc", 3600, 1),
        ]);
        let found = priorities(&queues, &settings, &RunHistory::default());
        assert_eq!(found, [250.0, 250.0, 500.0, 1500.0, 1500.0]);
        let chances = first_chances(&found);
        assert!((chances[3] + chances[4] - 0.8).abs() < 1e-12, "80 % of the first picks with 75 % of the shares");
    }

    /// The configuration of DIRAC's documentation page.
    fn page(correct: bool) -> DiracSettings {
        let slice = |name: &str, span: u32, weight: u32, most: u32| {
            format!("{name}Slice\n{{\nTimeSpan = {span}\nWeight = {weight}\nMaxCorrection = {most}\n}}\n")
        };
        let slices = slice("Week", 604_800, 80, 2) + &slice("Hour", 3600, 20, 5);
        let instance = |name: &str, group: &str| {
            format!("{name}Instance\n{{\n{group}\nMaxGlobalCorrectionFactor = 3\n{slices}}}\n")
        };
        settings(&format!(
            "{}\nShareCorrections\n{{\nShareCorrectorsToStart = WMSHistory\nWMSHistory\n{{\n{}{}}}\n}}\n\
             Registry\n{{\nGroups\n{{\nlhcb_user {{\nJobShare = 10000\n}}\n\
             lhcb_mc {{\nJobShare = 300\nProperties = JobSharing\n}}\n\
             lhcb_data {{\nJobShare = 40000\nProperties = JobSharing\n}}\n}}\n}}",
            if correct { "EnableSharesCorrection = yes" } else { "" },
            instance("Groups", ""),
            instance("lhcb_user", "Group = lhcb_user"),
        ))
    }

    /// `docs/reference/dirac-shares.md` 7.6: averages of 300, 500, 1200 over the week and 900, 100, 1000 over the hour.
    #[test]
    fn the_share_corrections_of_the_page_applied_to_groups() {
        let mut history = RunHistory::default();
        for (group, week, hour) in
            [("lhcb_user", 300.0, 900.0), ("lhcb_mc", 500.0, 100.0), ("lhcb_data", 1200.0, 1000.0)]
        {
            let before = (week * 604_800.0 - hour * 3600.0) / 601_200.0;
            history.change(&name(group), &name("u"), 0.0, before);
            history.change(&name(group), &name("u"), 601_200.0, hour - before);
        }
        let queues = queues(&[("u", "lhcb_user", 360, 1), ("p", "lhcb_mc", 360, 1), ("d", "lhcb_data", 360, 1)]);
        let found = priorities(&queues, &page(true), &history);
        for (found, expected) in found.iter().zip([11_486.636, 132.0, 55_135.852]) {
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
        }
        // The user alone in the group is as it should be: its own factor is 1.
        assert_eq!(priorities(&queues, &page(false), &history), [10_000.0, 300.0, 40_000.0]);
    }

    #[test]
    fn users_are_corrected_within_their_group() {
        let mut history = RunHistory::default();
        history.change(&name("lhcb_user"), &name("ann"), 0.0, 75.0);
        history.change(&name("lhcb_user"), &name("bob"), 0.0, 25.0);
        let queues = queues(&[("ann", "lhcb_user", 360, 1), ("bob", "lhcb_user", 360, 1)]);
        let table = PriorityTable::new(&queues, &page(true), |_| None, &history, 604_800.0);
        let [ann, bob] = table.rows() else { panic!("two rows") };
        // `docs/reference/dirac-shares.md` 7.7 with half of 10000 each.
        assert!((ann.priority - 5000.0 * 2.0 / 3.0).abs() < 1e-9 && (bob.priority - 10_000.0).abs() < 1e-9);
        assert!((ann.user_correction - 2.0 / 3.0).abs() < 1e-12 && ann.group_correction == 1.0);
        assert_eq!((ann.share, ann.group_share), (5000.0, 10_000.0));
    }

    #[test]
    fn a_slice_without_any_record_turns_correction_off() {
        let mut history = RunHistory::default();
        history.ran(&name("lhcb_mc"), &name("p"), 0.0, Some(1000.0));
        let queues = queues(&[("p", "lhcb_mc", 360, 1), ("d", "lhcb_data", 360, 1)]);
        // It ran last week, but nothing did in the last hour.
        assert_eq!(priorities(&queues, &page(true), &history), [300.0, 40_000.0]);
    }

    #[test]
    fn a_group_without_a_share_has_its_quota_else_a_thousand() {
        let queues = queues(&[("a", "g", 360, 1), ("a", "h", 360, 1)]);
        let quota = |group: &[u8]| (group == b"h").then_some(20.0);
        let table = PriorityTable::new(&queues, &DiracSettings::default(), quota, &RunHistory::default(), 0.0);
        assert_eq!((table.priority(1), table.priority(2), table.priority(3)), (1000.0, 20.0, 0.0));
    }
}
