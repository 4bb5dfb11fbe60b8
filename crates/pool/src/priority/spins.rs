//! The pie dealt in spins: passes over all submitters until a pass changes nothing.
//!
//! In: submitters with priorities and usage. Out: turns. Formula source: `docs/reference/negotiation.md` 7.1, 7.4.
//! The limits on wall-clock time of the reference have no place here: a deal is a pure function.

use super::pie::{Bounds, SubmitterLimits, SubmitterOrderKey, below_ceiling, limits, shares, starvation};
use super::{Allowance, ChargedUsage, End, Passed, PieHistory, PieInput, Spin, Turn, TurnResult, Turns, Visit};
use crate::introsort;

/// A claimant in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entrant {
    /// Number of its name; claimants of the same name share usage.
    pub name: usize,
    /// Effective priority, positive; lower is better.
    pub priority: f64,
    /// Number of idle jobs it reports.
    pub idle_jobs: i64,
    /// Time of its last update, epoch seconds.
    pub last_heard: i64,
    /// Most weighted slots it may have; negative: no limit.
    pub ceiling: i64,
    /// Weighted slots it is served first; 0: none.
    pub floor: i64,
    /// The priority of the requested jobs, if jobs of all access points are ordered by it.
    pub job_prio: Option<i64>,
    /// Number of the access point; none if its jobs cannot be requested.
    pub schedd: Option<usize>,
}

/// Constants of a deal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpinTerms {
    /// The pool.
    pub deal: PieInput,
    /// True if claimed slots may be matched.
    pub preemption: bool,
    /// True if shares are ignored.
    pub ignore_priorities: bool,
    /// True if claimants that are equal in everything else keep their order; otherwise they are in that of HTCondor's sort.
    pub in_order: bool,
}

/// The turns of a deal: a floor round if any submitter is below its floor, then the spins.
#[derive(Debug, Clone, Default)]
pub struct Spins {
    terms: SpinTerms,
    entrants: Vec<Entrant>,
    /// Weighted slots in use, by name.
    usage: Vec<f64>,
    group_usage: f64,
    /// `group_usage` at the beginning of the spin: limits of the whole spin are computed with it.
    group_usage_before: f64,
    history: PieHistory,
    stage: SpinStage,
    pie: u32,
    floor_round: bool,
    spin: u32,
    /// Claimants still in the deal, in the order in which they are served, with their shares.
    list: Vec<(usize, f64)>,
    cursor: usize,
    /// Those visited in this spin that stay in the deal.
    kept: Vec<(usize, f64)>,
    pie_left: f64,
    /// Pie and number of claimants at the beginning of the spin.
    before: (f64, usize),
    slots_left: usize,
    /// Merged claimants with their new claimants, not yet reported.
    merged: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum SpinStage {
    #[default]
    FloorRound,
    Rounds,
    Spinning,
    Serving,
    Over,
}

impl Spins {
    /// Starts a deal. `usage` is by name, `group_usage` that of the deal's group.
    pub fn new(terms: SpinTerms, entrants: Vec<Entrant>, usage: Vec<f64>, group_usage: f64) -> Self {
        let pie = terms.deal.first_pie;
        Self {
            terms,
            entrants,
            usage,
            group_usage,
            group_usage_before: group_usage,
            pie,
            slots_left: usize::MAX,
            ..Self::default()
        }
    }

    /// Enters the floor round, or the rounds proper.
    fn enter(&mut self, floor_round: bool) {
        let below = |e: &Entrant| e.floor > 0 && self.usage[e.name] < e.floor as f64;
        let members = self.entrants.iter().enumerate();
        self.list = members.filter(|(_, e)| !floor_round || below(e)).map(|(at, _)| (at, 0.0)).collect();
        self.floor_round = floor_round;
        self.spin = 0;
        // Without submitters there is a pie, too, with one spin.
        let skipped = floor_round && self.list.is_empty();
        self.stage = if skipped { self.after_pie() } else { SpinStage::Spinning };
    }

    /// The stage after a pie: the regular rounds after a floor round, or the end.
    fn after_pie(&self) -> SpinStage {
        if self.floor_round { SpinStage::Rounds } else { SpinStage::Over }
    }

    fn end_pie(&mut self) {
        self.pie += 1;
        self.history.pies += 1;
        self.stage = self.after_pie();
    }

    /// In the first spin, machine rank may exceed limits.
    fn ignores_limit(&self) -> bool {
        self.spin == 1 && self.terms.preemption
    }

    fn group_is_full(&self) -> bool {
        let full = |group: &super::GroupShare| self.group_usage >= group.quota;
        !self.ignores_limit() && self.terms.deal.group.as_ref().is_some_and(full)
    }

    fn limits(&self, who: usize, share: f64, floor: bool) -> SubmitterLimits {
        let Entrant { name, floor: own_floor, .. } = self.entrants[who];
        let group = self.terms.deal.group.as_ref();
        let bounds = Bounds {
            pie: group.map_or(self.terms.deal.weight, |group| self.terms.deal.weight.min(group.quota)),
            group_left: group.map(|group| group.quota - self.group_usage_before),
            preemption: self.terms.preemption,
            ignore_priorities: self.terms.ignore_priorities,
            floor: floor.then_some(own_floor),
        };
        limits(share, self.usage[name], &bounds)
    }

    fn start_spin(&mut self) {
        self.spin += 1;
        self.history.begun += 1;
        self.group_usage_before = self.group_usage;
        if self.group_is_full() {
            return self.end_pie();
        }
        if !self.terms.preemption {
            let (entrants, left) = (&self.entrants, &mut self.history.left);
            self.list.retain(|(who, _)| {
                let idle = entrants[*who].idle_jobs > 0;
                if !idle && !self.floor_round {
                    left.push(*who);
                }
                idle
            });
        }
        let priorities: Vec<_> =
            self.list.iter().map(|&(who, _)| (self.entrants[who].name, self.entrants[who].priority)).collect();
        for (entry, share) in self.list.iter_mut().zip(shares(&priorities, self.usage.len())) {
            entry.1 = share;
        }
        // The pie is computed without the clamp of a floor round.
        let open: Vec<f64> = self.list.iter().map(|&(who, share)| self.limits(who, share, false).limit).collect();
        self.pie_left = open.iter().sum::<f64>().min(f64::MAX);
        if !self.terms.preemption && self.pie_left <= 0.0 {
            return self.end_pie();
        }
        if self.spin == 1 {
            self.sort(&open);
        }
        self.before = (self.pie_left, self.list.len());
        self.cursor = 0;
        self.history.spins.push(Spin { pie: self.pie, spin: self.spin, pie_left: self.pie_left });
        self.stage = SpinStage::Serving;
    }

    fn sort(&mut self, open: &[f64]) {
        let key = |(who, _): &(usize, f64), limit: f64| {
            let Entrant { name, priority, last_heard, job_prio, .. } = self.entrants[*who];
            SubmitterOrderKey { priority, job_prio, starvation: starvation(self.usage[name], limit), last_heard }
        };
        let mut keyed: Vec<_> = self.list.iter().zip(open).map(|(entry, &limit)| (key(entry, limit), *entry)).collect();
        if self.terms.in_order {
            keyed.sort_by(|(a, _), (b, _)| a.compare(b));
        } else {
            introsort::sort(&mut keyed, |(a, _), (b, _)| a.compare(b).is_lt());
        }
        self.list = keyed.into_iter().map(|(_, entry)| entry).collect();
        if !self.floor_round {
            self.history.order = self.list.iter().map(|(who, _)| *who).collect();
        }
        self.merge();
    }

    /// Merges neighbors that are the same submitter at the same access point with different job priorities. After a floor
    /// round all are back.
    fn merge(&mut self) {
        let Self { entrants, merged, history, floor_round, .. } = self;
        merged.clear();
        self.list.dedup_by(|(later, _), (first, _)| {
            let (a, b) = (&entrants[*first], &entrants[*later]);
            let same = a.job_prio.is_some() && b.job_prio.is_some() && (a.name, a.schedd) == (b.name, b.schedd);
            if same {
                merged.push((*first, *later));
                if !*floor_round {
                    history.left.push(*later);
                }
            }
            same
        });
    }

    fn end_spin(&mut self) {
        // A group that is full ends the spin before all claimants were visited.
        self.kept.extend_from_slice(&self.list[self.cursor..]);
        self.list = std::mem::take(&mut self.kept);
        let (pie, count) = self.before;
        let progress = self.pie_left < pie || self.list.len() < count;
        if progress && !self.list.is_empty() && self.slots_left > 0 && !self.floor_round {
            self.stage = SpinStage::Spinning;
        } else {
            self.end_pie();
        }
    }

    /// Looks at the claimant whose turn it is: serves it, or passes it by.
    fn visit(&mut self) -> Option<Turn> {
        let (who, share) = self.list[self.cursor];
        let entrant = self.entrants[who];
        if entrant.idle_jobs <= 0 || entrant.schedd.is_none() {
            self.leave(End::Done);
            return None;
        }
        let SubmitterLimits { mut limit, unclaimed } = self.limits(who, share, self.floor_round);
        let starved = (limit - self.pie_left).max(0.0);
        limit = limit.min(self.pie_left);
        let ceiling = below_ceiling(entrant.ceiling, self.usage[entrant.name]);
        let smallest = self.terms.deal.smallest_weight;
        let passed = if self.spin > 1 && (limit < smallest || self.pie_left < smallest) {
            Some(Passed::LessThanASlot)
        } else if ceiling == 0.0 || ceiling < smallest {
            Some(Passed::AtCeiling)
        } else {
            None
        };
        let Entrant { priority, .. } = entrant;
        let (pie, spin) = (self.pie, self.spin);
        let end = if passed == Some(Passed::AtCeiling) { End::Done } else { End::Resume };
        self.history.visits.push(Visit { who, pie, spin, priority, share, limit, starved, passed, end });
        if passed.is_some() {
            self.leave(end);
            return None;
        }
        let preferring_is_free = self.ignores_limit();
        let allowance = Allowance { limit, limit_unclaimed: unclaimed, ceiling, preferring_is_free };
        Some(Turn { who, job: None, place: None, slot: None, allowance, pie, spin })
    }

    /// Goes on to the next claimant; one that is done leaves the deal.
    fn leave(&mut self, end: End) {
        if end == End::Resume {
            self.kept.push(self.list[self.cursor]);
        } else if !self.floor_round {
            self.history.left.push(self.list[self.cursor].0);
        }
        self.cursor += 1;
    }
}

impl Turns for Spins {
    fn next_turn(&mut self) -> Option<Turn> {
        loop {
            match self.stage {
                SpinStage::FloorRound => self.enter(true),
                SpinStage::Rounds => self.enter(false),
                SpinStage::Spinning => self.start_spin(),
                SpinStage::Serving if self.cursor >= self.list.len() || self.group_is_full() => {
                    self.end_spin();
                }
                SpinStage::Serving => {
                    if let Some(turn) = self.visit() {
                        return Some(turn);
                    }
                }
                SpinStage::Over => return None,
            }
        }
    }

    fn merged(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.merged)
    }

    fn ended(&mut self, spent: TurnResult, charged: Option<ChargedUsage>) {
        let Some(&(who, _)) = self.list.get(self.cursor) else {
            return;
        };
        if let Some(ChargedUsage { submitter, group }) = charged {
            self.usage[self.entrants[who].name] = submitter;
            self.group_usage = group.unwrap_or(self.group_usage);
        }
        self.pie_left -= spent.weight;
        self.slots_left = spent.slots_left;
        if let Some(visit) = self.history.visits.last_mut() {
            visit.end = spent.end;
        }
        self.leave(spent.end);
    }

    fn history(&self) -> &PieHistory {
        &self.history
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::Serve;
    use super::super::{GroupShare, Session};
    use super::*;

    /// A submitter of a small world: effective priority, jobs, use, ceiling, floor.
    #[derive(Clone, Copy)]
    struct User {
        priority: f64,
        jobs: usize,
        usage: f64,
        ceiling: i64,
        floor: i64,
    }

    const MANY: usize = 1_000_000;

    fn user(priority: f64) -> User {
        User { priority, jobs: MANY, usage: 0.0, ceiling: -1, floor: 0 }
    }

    /// Deals idle slots of one weight, any of which every job can use. Returns what each user won, in
    /// weight, and the number of spins.
    fn deal(users: &[User], idle: usize, weight: f64, group: Option<f64>) -> (Vec<f64>, u32) {
        let entrants = users.iter().enumerate().map(|(name, u)| Entrant {
            name,
            priority: u.priority,
            idle_jobs: u.jobs as i64,
            last_heard: 0,
            ceiling: u.ceiling,
            floor: u.floor,
            job_prio: None,
            schedd: Some(0),
        });
        let usage: Vec<f64> = users.iter().map(|u| u.usage).collect();
        let used: f64 = usage.iter().sum();
        let terms = SpinTerms {
            deal: PieInput {
                weight: idle as f64 * weight + used,
                smallest_weight: weight,
                group: group.map(|quota| GroupShare { name: b"g".to_vec(), quota }),
                first_pie: 1,
            },
            preemption: true,
            ignore_priorities: false,
            in_order: false,
        };
        let mut spins = Spins::new(terms, entrants.collect(), usage, used);
        let mut jobs: Vec<usize> = users.iter().map(|u| u.jobs).collect();
        let mut won = vec![0.0; users.len()];
        let mut free = idle;
        while let Some(turn) = spins.next_turn() {
            let mut session = Session::new(turn.allowance);
            let out_of_jobs = loop {
                match session.serve() {
                    Serve::Nothing => break false,
                    // No slot is claimed here, so no slot prefers a job.
                    Serve::OnlyStartdRank => break true,
                    Serve::Any if jobs[turn.who] == 0 => break true,
                    Serve::Any if free > 0 && !session.permits_unclaimed(weight) => {
                        session.refused_for_limit();
                        break true;
                    }
                    Serve::Any if free == 0 => break true,
                    Serve::Any => {
                        session.matched(weight, false);
                        jobs[turn.who] -= 1;
                        free -= 1;
                        won[turn.who] += weight;
                    }
                }
            };
            let charged = ChargedUsage {
                submitter: users[turn.who].usage + won[turn.who],
                group: Some(used + won.iter().sum::<f64>()),
            };
            spins.ended(session.spent(out_of_jobs, free), Some(charged));
        }
        (won, spins.history().spins.last().map_or(0, |spin| spin.spin))
    }

    // Tests a to j are the worked examples of `docs/reference/negotiation.md` 7.2, with its expected values.

    #[test]
    fn example_a_shares_are_inverse_to_priorities() {
        assert_eq!(deal(&[user(5.0), user(10.0), user(20.0)], 70, 1.0, None).0, [40.0, 20.0, 10.0]);
    }

    #[test]
    fn example_b_what_one_does_not_want_is_dealt_again() {
        let users = [User { jobs: 10, ..user(5.0) }, user(10.0), user(20.0)];
        assert_eq!(deal(&users, 70, 1.0, None), (vec![10.0, 46.0, 14.0], 2));
    }

    #[test]
    fn example_c_use_counts_against_the_share() {
        let users = [User { usage: 40.0, ..user(10.0) }, user(10.0)];
        assert_eq!(deal(&users, 20, 1.0, None).0, [0.0, 20.0]);
    }

    #[test]
    fn example_d_a_slot_too_big_for_every_rest_stays_idle_until_the_next_cycle() {
        let users = [user(10.0); 3];
        assert_eq!(deal(&users, 100, 1.0, None), (vec![33.0, 33.0, 33.0], 2));
        let next = [User { usage: 33.0, ..user(10.0) }; 3];
        assert_eq!(deal(&next, 1, 1.0, None).0, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn example_e_heavy_slots_leave_heavy_rests() {
        assert_eq!(deal(&[user(10.0); 3], 4, 8.0, None).0, [8.0, 8.0, 8.0]);
    }

    #[test]
    fn example_f_a_ceiling_leaves_its_rest_to_others() {
        let users = [User { ceiling: 12, ..user(5.0) }, user(10.0)];
        assert_eq!(deal(&users, 30, 1.0, None), (vec![12.0, 18.0], 3));
    }

    #[test]
    fn example_g_a_floor_is_served_first() {
        let users = [user(5.0), User { floor: 5, ..user(1000.0) }];
        assert_eq!(deal(&users, 30, 1.0, None).0, [25.0, 5.0]);
    }

    #[test]
    fn example_h_a_floor_round_counts_from_nothing() {
        let users = [user(5.0), User { floor: 5, usage: 4.0, ..user(1000.0) }];
        // The table counts what B has already: 4 + 5 = 9.
        assert_eq!(deal(&users, 26, 1.0, None).0, [21.0, 5.0]);
    }

    #[test]
    fn example_i_a_group_deals_its_own_quota() {
        assert_eq!(deal(&[user(10.0); 2], 100, 1.0, Some(9.0)).0, [4.0, 4.0]);
    }

    #[test]
    fn the_rest_of_a_group_is_that_at_the_beginning_of_the_spin() {
        let deal = PieInput {
            weight: 10.0,
            smallest_weight: 1.0,
            group: Some(GroupShare { name: b"g".to_vec(), quota: 6.0 }),
            first_pie: 1,
        };
        let terms = SpinTerms { deal, preemption: true, ignore_priorities: false, in_order: false };
        let mut spins = Spins::new(terms, vec![entrant(0, 9), entrant(1, 9)], vec![0.0; 2], 3.0);
        let first = spins.next_turn().unwrap();
        assert_eq!((first.allowance.limit, first.allowance.limit_unclaimed), (3.0, 3.0));
        let charged = ChargedUsage { submitter: 2.0, group: Some(5.0) };
        spins.ended(TurnResult { end: End::Resume, weight: 2.0, slots_left: 5 }, Some(charged));
        let second = spins.next_turn().unwrap();
        assert_eq!((second.allowance.limit, second.allowance.limit_unclaimed), (3.0, 3.0));
    }

    #[test]
    fn example_j_a_crumb_is_rounded_up_once() {
        assert_eq!(deal(&[user(75_125.0), user(500.0)], 100, 1.0, None).0, [1.0, 99.0]);
    }

    #[test]
    fn nobody_to_serve_ends_the_deal() {
        // As in the recorded cycle `b23-no-submitters`, with one spin.
        assert_eq!(deal(&[], 10, 1.0, None), (vec![], 1));
        let (won, _) = deal(&[User { jobs: 0, ..user(1.0) }], 10, 1.0, None);
        assert_eq!(won, [0.0]);
    }

    fn entrant(name: usize, idle_jobs: i64) -> Entrant {
        Entrant {
            name,
            priority: 1.0,
            idle_jobs,
            last_heard: 0,
            ceiling: -1,
            floor: 0,
            job_prio: None,
            schedd: Some(0),
        }
    }

    /// `docs/reference/negotiation.md` 7.4: an ad that names no access point is removed when its turn comes; until then it has
    /// a share.
    #[test]
    fn who_names_no_access_point_has_a_share_until_asked() {
        let deal = PieInput { weight: 10.0, smallest_weight: 1.0, group: None, first_pie: 1 };
        let terms = SpinTerms { deal, preemption: false, ignore_priorities: false, in_order: false };
        let nowhere = Entrant { schedd: None, ..entrant(0, 5) };
        let mut spins = Spins::new(terms, vec![nowhere, entrant(1, 50)], vec![0.0; 2], 0.0);
        let first = spins.next_turn().unwrap();
        assert_eq!((first.who, first.allowance.limit), (1, 5.0));
        let charged = ChargedUsage { submitter: 5.0, group: None };
        spins.ended(TurnResult { end: End::Resume, weight: 5.0, slots_left: 5 }, Some(charged));
        let second = spins.next_turn().unwrap();
        // Alone, with 5 of 10 in use.
        assert_eq!((second.who, second.allowance.limit), (1, 5.0));
        assert_eq!(spins.history().left, [0]);
        assert!(spins.history().visits.iter().all(|visit| visit.who == 1));
    }

    #[test]
    fn without_preemption_those_without_idle_jobs_have_no_share() {
        let limit_of_second = |preemption| {
            let deal = PieInput { weight: 10.0, smallest_weight: 1.0, group: None, first_pie: 1 };
            let terms = SpinTerms { deal, preemption, ignore_priorities: false, in_order: false };
            let mut spins = Spins::new(terms, vec![entrant(0, 0), entrant(1, 5)], vec![0.0; 2], 0.0);
            spins.next_turn().unwrap().allowance.limit
        };
        assert_eq!(limit_of_second(true), 5.0);
        assert_eq!(limit_of_second(false), 10.0);
    }
}
