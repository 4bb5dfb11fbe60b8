//! Usage as it goes on: periods of calculation, jobs that run through them, resets.
//!
//! In: what is in use at some moments. Out: the tree with usage up to the last period. Formula source:
//! `docs/reference/slurm-multifactor.md` 3.3, 3.5.

use jiff::tz::TimeZone;

use super::AssociationTree;
use super::reset::next_reset;
use super::settings::SlurmSettings;
use super::usage::Decay;
use classmate_config::internal::config::slurm::{Duration, ResetPeriod};

/// Maximum number of periods that are computed one by one after a long pause; the rest is one period.
const MAX_PERIODS: i64 = 100_000;

/// Rounding error of a sum, relative to it.
const MAX_ROUNDING: f64 = 1e-9;

/// Something that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// The number of its association.
    pub association: usize,
    /// Cost of a second.
    pub billing: f64,
}

/// The usage in progress of an association.
#[derive(Debug, Clone, Default, PartialEq)]
struct Load {
    /// Start time and cost per second, longest first.
    parts: Vec<(i64, f64)>,
    /// Cost of a second of all of it.
    billing: f64,
    /// True if it is among those to be examined.
    active: bool,
}

impl Load {
    fn begin(&mut self, billing: f64, now: i64) {
        if billing > 0.0 {
            match self.parts.last_mut().filter(|(since, _)| *since == now) {
                Some((_, before)) => *before += billing,
                None => self.parts.push((now, billing)),
            }
            self.billing += billing;
        }
    }

    /// Sets the cost of a second of all usage from now on. Returns the start and the cost per second of the ended
    /// usage: the rest of a part that did not end as a whole continues.
    fn change(&mut self, billing: f64, now: i64) -> Vec<(i64, f64)> {
        // What began at this moment has cost nothing yet: it begins anew, if it is in use.
        while let Some((_, part)) = self.parts.pop_if(|(since, _)| *since >= now) {
            self.billing -= part;
        }
        let mut ended = Vec::new();
        if billing <= 0.0 {
            ended = std::mem::take(&mut self.parts);
            self.billing = 0.0;
        } else if (self.billing - billing).abs() <= MAX_ROUNDING * billing {
            // The same.
        } else if self.billing < billing {
            self.begin(billing - self.billing, now);
        } else {
            let mut excess = self.billing - billing;
            while excess > MAX_ROUNDING * billing
                && let Some((since, part)) = self.parts.pop()
            {
                let gone = part.min(excess);
                ended.push((since, gone));
                if part - gone > MAX_ROUNDING * part {
                    self.parts.push((since, part - gone));
                }
                excess -= gone;
            }
            self.billing = billing;
        }
        ended
    }
}

/// The usage records of a cluster.
#[derive(Debug, Clone)]
pub struct UsageLedger {
    tree: AssociationTree,
    half_life: f64,
    decay: Decay,
    period: i64,
    reset: ResetPeriod,
    zone: TimeZone,
    /// The end of the last period, and when usage was reset last; none before the first moment.
    clock: Option<DecayClock>,
    /// Usage in progress, by association.
    loads: Vec<Load>,
    /// The associations that run something.
    active: Vec<usize>,
    /// Current use, by association; 0 except during a count.
    in_use: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct DecayClock {
    last: i64,
    reset: i64,
}

impl UsageLedger {
    /// The ledger of some settings. The usage of the tree is as of the first reported moment.
    pub fn new(settings: &SlurmSettings, zone: &TimeZone) -> Self {
        let conf = settings.conf();
        let period = match conf.calc_period {
            Duration::Seconds(seconds) => i64::try_from(seconds).unwrap_or(i64::MAX),
            Duration::Infinite => i64::MAX,
        };
        Self {
            tree: settings.tree().clone(),
            half_life: settings.half_life(),
            decay: settings.files().options.decay,
            period: period.max(1),
            reset: conf.reset,
            zone: zone.clone(),
            clock: None,
            loads: vec![Load::default(); settings.tree().nodes().len()],
            active: Vec::new(),
            in_use: vec![0.0; settings.tree().nodes().len()],
        }
    }

    /// The associations with what they have used.
    pub fn tree(&self) -> &AssociationTree {
        &self.tree
    }

    /// Something began.
    pub fn begin(&mut self, running: Running, now: i64) {
        self.look_at(running.association);
        self.loads[running.association].begin(running.billing, now);
    }

    fn look_at(&mut self, association: usize) {
        let load = &mut self.loads[association];
        if !load.active {
            load.active = true;
            self.active.push(association);
        }
    }

    /// Brings the ledger up to a moment at which exactly this runs, once every period up to then has ended.
    ///
    /// Usage that is no longer reported ended now, and is charged for its last seconds; of an association's usage, the
    /// youngest ended first. The grouping of its jobs makes no difference.
    pub fn advance(&mut self, in_use: &[Running], now: i64) {
        self.end_periods(now);
        for running in in_use {
            self.look_at(running.association);
            self.in_use[running.association] += running.billing;
        }
        let last = self.clock.map_or(now, |clock| clock.last);
        let mut active = std::mem::take(&mut self.active);
        active.retain(|&association| {
            let billing = std::mem::take(&mut self.in_use[association]);
            let load = &mut self.loads[association];
            let ended = load.change(billing, now);
            load.active = !load.parts.is_empty();
            let goes_on = load.active;
            self.charge(association, &ended, last, now);
            goes_on
        });
        self.active = active;
    }

    /// Charges an association for what ran up to a moment, each for its own length.
    fn charge(&mut self, association: usize, parts: &[(i64, f64)], last: i64, now: i64) {
        let cost = |&(since, billing): &(i64, f64)| {
            let seconds = now.saturating_sub(since.max(last));
            self.decay.charged(self.half_life, seconds as f64, billing)
        };
        let usage: f64 = parts.iter().map(cost).sum();
        if usage > 0.0 {
            self.tree.charge(association, usage);
        }
    }

    /// Ends every period up to a moment, and returns whether there was one: factors are those at its end, whatever
    /// ended after it.
    pub fn end_periods(&mut self, now: i64) -> bool {
        let Some(DecayClock { last, .. }) = self.clock else {
            self.clock = Some(DecayClock { last: now, reset: now });
            if self.reset == ResetPeriod::Now {
                self.tree.decay(0.0);
            }
            return true;
        };
        let behind = now.saturating_sub(last) / self.period;
        if behind > MAX_PERIODS {
            self.tick(last + (behind - MAX_PERIODS) * self.period);
        }
        for _ in 0..behind.min(MAX_PERIODS) {
            let Some(DecayClock { last, .. }) = self.clock else { break };
            self.tick(last + self.period);
        }
        behind > 0
    }

    fn tick(&mut self, now: i64) {
        let Some(DecayClock { last, reset }) = self.clock else { return };
        let mut clock = DecayClock { last: now, reset };
        if let Some(due) = next_reset(self.reset, reset, now, &self.zone).filter(|&due| now >= due) {
            self.tree.decay(0.0);
            clock.reset = due;
        }
        self.tree.decay(self.decay.factor(self.half_life, (now - last) as f64));
        for at in 0..self.active.len() {
            let association = self.active[at];
            let parts = std::mem::take(&mut self.loads[association].parts);
            self.charge(association, &parts, last, now);
            // All of it has run since the beginning of the next period.
            let billing = parts.iter().map(|(_, billing)| billing).sum();
            self.loads[association].parts = vec![(now, billing)];
        }
        self.clock = Some(clock);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::SlurmFiles;
    use super::super::{Options, ROOT};
    use super::*;
    use classmate_config::internal::config::TextFiles;
    use classmate_config::internal::config::slurm::{SlurmAssociations, SlurmConf, UsageRow};

    fn ledger(conf: &str, usage: f64) -> UsageLedger {
        let (conf, defects) = SlurmConf::read("c", conf.as_bytes(), &TextFiles::default());
        assert_eq!(defects.errors, []);
        let associations = SlurmAssociations::read("d", b"Account - 'a'\nParent - 'a'\nUser - 'x'\n").0;
        let row = UsageRow {
            account: "a".to_owned(),
            user: Some("x".to_owned()),
            partition: None,
            usage,
            digit: 0.0,
            by_resource: None,
            run_minutes: None,
            place: None,
            line: 0,
        };
        let files = SlurmFiles { conf, associations, usage: vec![row], qos: Vec::new(), options: Options::default() };
        UsageLedger::new(&SlurmSettings::new(files).unwrap(), &TimeZone::UTC)
    }

    const JOB: Running = Running { association: 2, billing: 16.0 };

    #[test]
    fn a_job_through_three_periods_costs_as_computed() {
        // `docs/reference/slurm-multifactor.md` 8.7: 16 CPUs, periods of 300 s, half-life 3600 s, store 100000.
        let mut ledger = ledger("PriorityDecayHalfLife=1:00:00", 100_000.0);
        assert!(ledger.end_periods(1000));
        ledger.advance(&[JOB], 1000);
        for (period, expected) in [98_918.691, 97_898.065, 96_934.716].into_iter().enumerate() {
            assert!(ledger.end_periods(1300 + 300 * period as i64));
            ledger.advance(&[JOB], 1300 + 300 * period as i64);
            let found = ledger.tree().nodes()[ROOT].usage;
            assert!((found - expected).abs() < 1e-3, "{found}");
        }
        assert_eq!(ledger.tree().nodes()[2].usage, ledger.tree().nodes()[ROOT].usage);
    }

    #[test]
    fn several_periods_at_once_are_as_one_after_the_other() {
        let mut once = ledger("", 5.0);
        let mut steps = once.clone();
        once.advance(&[JOB, JOB], 0);
        steps.advance(&[JOB, JOB], 0);
        once.advance(&[JOB], 3000);
        for now in (100..=3000).step_by(100) {
            let running = if now < 3000 { &[JOB, JOB][..] } else { &[JOB] };
            assert_eq!(steps.end_periods(now), now % 300 == 0);
            steps.advance(running, now);
        }
        assert_eq!(once.tree().nodes()[ROOT].usage, steps.tree().nodes()[ROOT].usage);
    }

    #[test]
    fn use_is_that_of_jobs_one_by_one_however_they_are_put_together() {
        // Jobs of a core of two associations, the latest at the end; a period is a minute.
        let (half_life, period) = (1000.0, 60);
        let mut ledger = ledger("PriorityCalcPeriod=1", 50.0);
        assert_eq!(ledger.period, period);
        ledger.half_life = half_life;
        let mut jobs: [Vec<i64>; 2] = [Vec::new(), Vec::new()];
        let mut used = [0.0, 50.0];
        let mut lots = crate::priority::dirac::SplitMix64::new(5);
        ledger.advance(&[], 0);
        let charged = |seconds: i64| Decay::Linearized.charged(half_life, seconds as f64, 1.0);
        for now in 1..4000 {
            if now % period == 0 {
                for (used, jobs) in used.iter_mut().zip(&jobs) {
                    *used *= Decay::Linearized.factor(half_life, period as f64);
                    *used += jobs.iter().map(|since| charged(now - since.max(&(now - period)))).sum::<f64>();
                }
            }
            for association in 0..2 {
                // Ended jobs are reported before others begin.
                let begins = lots.next_u64().is_multiple_of(2);
                for _ in 0..(lots.next_u64() % 20).saturating_sub(17) {
                    if begins {
                        jobs[association].push(now);
                        // True if it is reported at once, false if found in use.
                        if lots.next_u64().is_multiple_of(2) {
                            ledger.end_periods(now);
                            ledger.begin(Running { association: association + 1, billing: 1.0 }, now);
                        }
                    } else if let Some(since) = jobs[association].pop() {
                        used[association] += charged(now - since.max(now - now % period));
                    }
                }
            }
            if now % 7 > 0 && lots.next_u64().is_multiple_of(2) {
                let apart = jobs[0].iter().map(|_| Running { association: 1, billing: 1.0 });
                let in_use = apart.chain([Running { association: 2, billing: jobs[1].len() as f64 }]);
                ledger.advance(&in_use.collect::<Vec<_>>(), now);
            } else {
                let together = [2, 1].map(|at| Running { association: at, billing: jobs[at - 1].len() as f64 });
                ledger.advance(&together, now);
            }
            let found =
                [ledger.tree().nodes()[1].usage - ledger.tree().nodes()[2].usage, ledger.tree().nodes()[2].usage];
            for (found, used) in found.iter().zip(used) {
                assert!((found - used).abs() < 1e-6 * used.max(1.0), "{now}: {found} is not {used}");
            }
        }
        assert!(used[0] > 1000.0 && used[1] > 1000.0, "{used:?}");
    }

    #[test]
    fn the_end_of_one_job_leaves_the_others_of_its_association_to_their_period() {
        // Two jobs from 0 on, one of 100 s; periods of 300 s, half-life 1000 minutes: 100·D(100)·D(300) + 300·D(300).
        let mut ledger = ledger("PriorityDecayHalfLife=1000", 0.0);
        let both = |billing: f64| [Running { association: 2, billing }];
        ledger.advance(&both(2.0), 0);
        ledger.advance(&both(1.0), 100);
        ledger.advance(&both(1.0), 300);
        let decay = |seconds: i32| (1.0 - 0.693 / 60_000.0_f64).powi(seconds);
        let expected = 100.0 * decay(100) * decay(300) + 300.0 * decay(300);
        let found = ledger.tree().nodes()[ROOT].usage;
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn what_ends_after_a_period_is_not_in_what_the_period_shows() {
        // The job ends at 370; at 300 it had run for 300 s.
        let mut ledger = ledger("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=YEARLY", 0.0);
        ledger.advance(&[JOB], 0);
        assert!(ledger.end_periods(370));
        assert_eq!(ledger.tree().nodes()[ROOT].usage, 300.0 * 16.0);
        ledger.advance(&[], 370);
        assert_eq!(ledger.tree().nodes()[ROOT].usage, 370.0 * 16.0);
    }

    #[test]
    fn what_began_at_this_moment_and_is_not_in_use_never_began() {
        let mut tried = ledger("PriorityDecayHalfLife=1000\nPriorityCalcPeriod=60", 50.0);
        let other = Running { association: 1, billing: 3.0 };
        tried.advance(&[JOB, other], 0);
        tried.advance(&[JOB, other], 70);
        let untried = tried.clone();
        for begun in [JOB, other, Running { billing: 5.0, ..JOB }] {
            tried.begin(begun, 70);
        }
        assert!(!tried.end_periods(70));
        tried.advance(&[JOB, other], 70);
        let usage = |ledger: &UsageLedger| ledger.tree().nodes().iter().map(|node| node.usage).collect::<Vec<_>>();
        assert_eq!(usage(&tried), usage(&untried));
        assert_eq!((tried.loads, tried.active), (untried.loads, untried.active));
    }

    #[test]
    fn the_end_of_a_job_between_periods_is_charged_once() {
        // `docs/reference/slurm-multifactor.md` 8.7: a tail of 43 s on 8 CPUs adds 338.351 at its end.
        let job = Running { association: 2, billing: 8.0 };
        let mut ledger = ledger("PriorityDecayHalfLife=30\nPriorityCalcPeriod=1", 0.0);
        ledger.advance(&[job], 0);
        ledger.advance(&[job], 60);
        let before = ledger.tree().nodes()[ROOT].usage;
        assert!(!ledger.end_periods(103));
        ledger.advance(&[], 103);
        let added = ledger.tree().nodes()[ROOT].usage - before;
        assert!((added - 338.351).abs() < 1e-3, "{added}");
        let sum = ledger.tree().nodes()[ROOT].usage;
        assert!(ledger.end_periods(120));
        let left = ledger.tree().nodes()[ROOT].usage / sum;
        assert!((left - 0.977_160_416_097_718).abs() < 1e-12, "the whole tick decays it: {left}");
    }

    #[test]
    fn usage_is_reset_when_it_is_due() {
        let mut ledger = ledger("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=DAILY", 7.0);
        ledger.advance(&[], 0);
        ledger.advance(&[], 86_399);
        assert_eq!(ledger.tree().nodes()[ROOT].usage, 7.0);
        ledger.advance(&[], 86_400);
        assert_eq!(ledger.tree().nodes()[ROOT].usage, 0.0);
    }

    #[test]
    fn centuries_of_silence_end() {
        let mut ledger = ledger("", 7.0);
        ledger.advance(&[], 0);
        assert!(ledger.end_periods(10_000_000_000));
        assert!(ledger.tree().nodes()[ROOT].usage < 1e-100);
    }
}
