//! `HTCondor`'s user priorities as a policy: fair share that decays, dealt as a pie.
//!
//! Joins the accountant (who used what) and the spins (who is served next).

use std::sync::Arc;

use super::spins::{Entrant, SpinTerms, Spins};
use super::{Claimant, PieInput, PriorityPolicy, Standing, Turns, Waiting};
use crate::OrderedMap;
use crate::accountant::usage::{Account, RecordPlaces, SlotInUse};
use crate::accountant::{Accountant, GroupOf};
use classmate_config::internal::config::knobs::NegotiatorKnobs;

/// User priorities of `HTCondor`.
#[derive(Clone)]
pub struct CondorPriority {
    accountant: Accountant,
    known: RecordPlaces,
    groups: Arc<dyn GroupOf + Send + Sync>,
    half_life: f64,
    discount_suspended: bool,
    terms: SpinTerms,
}

impl CondorPriority {
    /// The policy over an accountant's records, as configured.
    pub fn new(accountant: Accountant, groups: Arc<dyn GroupOf + Send + Sync>, knobs: &NegotiatorKnobs) -> Self {
        Self {
            accountant,
            known: RecordPlaces::default(),
            groups,
            half_life: knobs.accountant.half_life,
            discount_suspended: knobs.accountant.discount_suspended,
            terms: SpinTerms {
                preemption: knobs.pie.consider_preemption,
                ignore_priorities: knobs.pie.ignore_user_priorities,
                ..SpinTerms::default()
            },
        }
    }

    /// Keeps claimants that are equal in everything else in their order, and not in that of HTCondor's sort.
    #[must_use]
    pub fn in_order(mut self, in_order: bool) -> Self {
        self.terms.in_order = in_order;
        self
    }

    /// The records as they are now.
    pub fn accountant(&self) -> &Accountant {
        &self.accountant
    }
}

impl PriorityPolicy for CondorPriority {
    fn charge(&mut self, in_use: &[SlotInUse<'_>], now: i64) {
        self.accountant.update_priorities(now, self.half_life);
        let in_use = in_use.iter().copied();
        self.accountant.recount_known(in_use, now, self.discount_suspended, &*self.groups, &mut self.known);
    }

    fn standing(&self, submitter: &[u8]) -> Standing {
        Standing {
            priority: self.accountant.effective_priority(submitter, &*self.groups),
            usage: self.accountant.usage(submitter),
            floor: self.accountant.floor(submitter),
        }
    }

    fn first_priority(&self, submitter: &[u8]) -> Option<f64> {
        self.accountant.first_priority(submitter, &*self.groups)
    }

    fn group_usage(&self, group: &[u8]) -> f64 {
        self.accountant.usage(group)
    }

    fn matched(&mut self, submitter: &[u8], _: Account, weight: f64, now: i64) {
        self.accountant.add_known_match(submitter, weight, now, &*self.groups, &mut self.known);
    }

    fn in_use(&self) -> Vec<(&[u8], f64)> {
        self.accountant.iter().map(|(name, customer)| (name, customer.weighted_resources)).collect()
    }

    fn begin(&self, claimants: &[Claimant], _: &dyn Waiting, deal: &PieInput) -> Box<dyn Turns> {
        let mut usage: OrderedMap<&[u8], f64> = OrderedMap::default();
        let mut entrants = Vec::with_capacity(claimants.len());
        for claimant in claimants {
            let submitter = claimant.submitter.as_slice();
            let own = usage.entry(submitter);
            let name = own.index();
            own.or_insert_with(|| self.accountant.usage(submitter));
            entrants.push(Entrant {
                name,
                priority: self.accountant.effective_priority(submitter, &*self.groups),
                idle_jobs: claimant.idle_jobs,
                last_heard: claimant.last_heard,
                ceiling: self.accountant.ceiling(submitter),
                floor: self.accountant.floor(submitter),
                job_prio: claimant.job_prio,
                schedd: claimant.schedd,
            });
        }
        let group_usage = deal.group.as_ref().map_or(0.0, |group| self.accountant.usage(&group.name));
        let terms = SpinTerms { deal: deal.clone(), ..self.terms.clone() };
        Box::new(Spins::new(terms, entrants, usage.into_values().collect(), group_usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::Ungrouped;
    use crate::accountant::factor::FactorRules;
    use crate::priority::{ChargedUsage, End, TurnResult};
    use classmate_config::internal::config::Config;

    fn policy(config: &str) -> CondorPriority {
        let knobs = NegotiatorKnobs::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap();
        let accountant = Accountant::new(FactorRules::new(&knobs.accountant));
        CondorPriority::new(accountant, Arc::new(Ungrouped), &knobs)
    }

    fn claimant(submitter: &str) -> Claimant {
        Claimant {
            submitter: submitter.as_bytes().to_vec(),
            idle_jobs: 9,
            last_heard: 0,
            job_prio: None,
            schedd: Some(0),
        }
    }

    const POOL: PieInput = PieInput { weight: 12.0, smallest_weight: 1.0, group: None, first_pie: 1 };

    #[test]
    fn the_same_submitter_at_two_access_points_shares_its_usage() {
        let claimants = [claimant("a@x"), claimant("a@x"), claimant("b@x")];
        let mut turns = policy("").begin(&claimants, &(), &POOL);
        let first = turns.next_turn().unwrap();
        assert_eq!((first.who, first.allowance.limit), (0, 6.0));
        let charged = ChargedUsage { submitter: 4.0, group: None };
        turns.ended(TurnResult { end: End::Resume, weight: 4.0, slots_left: 8 }, Some(charged));
        let second = turns.next_turn().unwrap();
        assert_eq!((second.who, second.allowance.limit), (1, 2.0));
    }

    #[test]
    fn slots_in_use_lessen_the_limit_and_matches_show_at_once() {
        let mut policy = policy("");
        policy.charge(
            &[SlotInUse { submitter: b"a@x", account: Account::Submitter, weight: 5.0, suspended: false }],
            100,
        );
        let mut turns = policy.begin(&[claimant("a@x"), claimant("b@x")], &(), &POOL);
        let turn = turns.next_turn().unwrap();
        assert_eq!((turn.who, turn.allowance.limit, turns.history().visits[0].priority), (1, 6.0, 500.0));
        policy.matched(b"a@x", Account::Submitter, 2.0, 100);
        assert_eq!(policy.standing(b"a@x"), Standing { priority: 500.0, usage: 7.0, floor: 0 });
        assert_eq!(policy.group_usage(b"<none>"), 7.0);
    }
}
