//! Usage as it goes on: periods of calculation, jobs that run through them, resets.
//!
//! In: what is in use at some moments. Out: the tree with usage up to the last period. Formula source:
//! `slurm-multifactor.md` §3.3, §3.5.

use hashbrown::HashMap;
use jiff::tz::TimeZone;

use super::AssociationTree;
use super::reset::next_reset;
use super::settings::SlurmSettings;
use super::usage::Decay;
use crate::config::slurm::{Duration, ResetPeriod};

/// The most periods that are computed one by one when nobody asked for long; the rest is one period.
const MOST_PERIODS: i64 = 100_000;

/// How much may have changed for the rest not to be looked at.
const FEW: usize = 8;

/// Something that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// The number of its association.
    pub association: usize,
    /// What a second costs.
    pub billing: f64,
}

impl Running {
    /// The same for those that are alike.
    fn key(&self) -> (usize, u64) {
        (self.association, self.billing.to_bits())
    }
}

/// The books of a cluster.
#[derive(Debug, Clone)]
pub struct Ledger {
    tree: AssociationTree,
    half_life: f64,
    decay: Decay,
    period: i64,
    reset: ResetPeriod,
    zone: TimeZone,
    /// The end of the last period, and when usage was reset last; none before the first moment.
    clock: Option<Clock>,
    /// What runs, longest first, and since when.
    running: Vec<(Running, i64)>,
    /// What was in use when the books were last told; it is what runs but for what began since.
    told: Vec<Running>,
    /// Whether something began since.
    begun: bool,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    last: i64,
    reset: i64,
}

impl Ledger {
    /// The books of settings. What the tree has used is as of the first moment told.
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
            running: Vec::new(),
            told: Vec::new(),
            begun: false,
        }
    }

    /// The associations with what they have used.
    pub fn tree(&self) -> &AssociationTree {
        &self.tree
    }

    /// Something began.
    pub fn begin(&mut self, running: Running, now: i64) {
        self.running.push((running, now));
        self.begun = true;
    }

    /// Brings the books up to a moment at which this runs, and nothing else. Tells whether a period ended.
    ///
    /// What no longer runs ended now, and is charged for its last seconds; of what is alike, the youngest ended first.
    pub fn advance(&mut self, in_use: &[Running], now: i64) -> bool {
        let ended = self.periods(now);
        if self.begun || !self.advance_few(in_use, now) {
            self.advance_all(in_use, now);
        }
        self.told.clear();
        self.told.extend_from_slice(in_use);
        self.begun = false;
        ended
    }

    /// The same if nearly all runs as before; false if it does not, and then nothing was done.
    fn advance_few(&mut self, in_use: &[Running], now: i64) -> bool {
        if self.told.len() != in_use.len() {
            return false;
        }
        let (mut gone, mut new): (Vec<Running>, Vec<Running>) = (Vec::new(), Vec::new());
        for (before, running) in self.told.iter().zip(in_use).filter(|(before, running)| before.key() != running.key())
        {
            if gone.len() == FEW {
                return false;
            }
            gone.push(*before);
            new.push(*running);
        }
        // What is alike has only changed places.
        new.retain(|running| match gone.iter().position(|gone| gone.key() == running.key()) {
            Some(at) => {
                gone.swap_remove(at);
                false
            }
            None => true,
        });
        let mut places: Vec<usize> = Vec::with_capacity(gone.len());
        for gone in &gone {
            let is_it = |at: &usize| self.running[*at].0.key() == gone.key() && !places.contains(at);
            places.extend((0..self.running.len()).rev().find(is_it));
        }
        places.sort_unstable();
        let last = self.clock.map_or(now, |clock| clock.last);
        for &place in &places {
            let (running, since) = self.running[place];
            self.charge(&running, now.saturating_sub(since.max(last)));
        }
        for &place in places.iter().rev() {
            self.running.remove(place);
        }
        for running in in_use {
            if let Some(at) = new.iter().position(|new| new.key() == running.key()) {
                new.swap_remove(at);
                self.running.push((*running, now));
            }
        }
        true
    }

    /// The same whatever runs.
    fn advance_all(&mut self, in_use: &[Running], now: i64) {
        let mut wanted: HashMap<(usize, u64), usize> = HashMap::new();
        for running in in_use {
            *wanted.entry(running.key()).or_default() += 1;
        }
        let last = self.clock.map_or(now, |clock| clock.last);
        let mut kept = Vec::with_capacity(in_use.len());
        for (running, since) in std::mem::take(&mut self.running) {
            match wanted.get_mut(&running.key()).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    kept.push((running, since));
                }
                None => self.charge(&running, now.saturating_sub(since.max(last))),
            }
        }
        for running in in_use {
            if let Some(count) = wanted.get_mut(&running.key()).filter(|count| **count > 0) {
                *count -= 1;
                kept.push((*running, now));
            }
        }
        self.running = kept;
    }

    fn charge(&mut self, running: &Running, seconds: i64) {
        let usage = self.decay.charged(self.half_life, seconds as f64, running.billing);
        if usage > 0.0 {
            self.tree.charge(running.association, usage);
        }
    }

    /// Ends every period up to now.
    fn periods(&mut self, now: i64) -> bool {
        let Some(Clock { last, .. }) = self.clock else {
            self.clock = Some(Clock { last: now, reset: now });
            if self.reset == ResetPeriod::Now {
                self.tree.decay(0.0);
            }
            return true;
        };
        let behind = now.saturating_sub(last) / self.period;
        if behind > MOST_PERIODS {
            self.tick(last + (behind - MOST_PERIODS) * self.period);
        }
        for _ in 0..behind.min(MOST_PERIODS) {
            let Some(Clock { last, .. }) = self.clock else { break };
            self.tick(last + self.period);
        }
        behind > 0
    }

    fn tick(&mut self, now: i64) {
        let Some(Clock { last, reset }) = self.clock else { return };
        let mut clock = Clock { last: now, reset };
        if let Some(due) = next_reset(self.reset, reset, now, &self.zone).filter(|&due| now >= due) {
            self.tree.decay(0.0);
            clock.reset = due;
        }
        self.tree.decay(self.decay.factor(self.half_life, (now - last) as f64));
        for (running, since) in self.running.clone() {
            self.charge(&running, now - since.max(last));
        }
        self.clock = Some(clock);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::SlurmFiles;
    use super::super::{Options, ROOT};
    use super::*;
    use crate::config::TextFiles;
    use crate::config::slurm::{Associations, SlurmConf, UsageRow};

    fn ledger(conf: &str, usage: f64) -> Ledger {
        let (conf, defects) = SlurmConf::read("c", conf.as_bytes(), &TextFiles::default());
        assert_eq!(defects.errors, []);
        let associations = Associations::read("d", b"Account - 'a'\nParent - 'a'\nUser - 'x'\n").0;
        let row = UsageRow {
            account: "a".to_owned(),
            user: Some("x".to_owned()),
            partition: None,
            usage,
            by_resource: None,
            line: 0,
        };
        let files = SlurmFiles { conf, associations, usage: vec![row], qos: Vec::new(), options: Options::default() };
        Ledger::new(&SlurmSettings::new(files).unwrap(), &TimeZone::UTC)
    }

    const JOB: Running = Running { association: 2, billing: 16.0 };

    #[test]
    fn a_job_through_three_periods_costs_as_computed() {
        // slurm-multifactor.md §8.7: 16 CPUs, periods of 300 s, half-life 3600 s, store 100000.
        let mut ledger = ledger("PriorityDecayHalfLife=1:00:00", 100_000.0);
        assert!(ledger.advance(&[JOB], 1000));
        for (period, expected) in [98_918.691, 97_898.065, 96_934.716].into_iter().enumerate() {
            assert!(ledger.advance(&[JOB], 1300 + 300 * period as i64));
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
            assert_eq!(steps.advance(running, now), now % 300 == 0);
        }
        assert_eq!(once.tree().nodes()[ROOT].usage, steps.tree().nodes()[ROOT].usage);
    }

    #[test]
    fn what_changes_little_is_charged_as_what_changes_much() {
        // Five users of three associations; now and then one uses something else, or somebody begins.
        let mut few = ledger("PriorityDecayHalfLife=1000\nPriorityCalcPeriod=1", 50.0);
        let mut all = few.clone();
        let mut lots = crate::priority::dirac::SplitMix64::new(5);
        let mut in_use: Vec<Running> =
            [1, 2, 2, 0, 2].map(|association| Running { association, billing: 1.0 }).to_vec();
        for now in (0..4000).step_by(7) {
            for _ in 0..lots.next_u64() % 4 {
                let at = (lots.next_u64() % in_use.len() as u64) as usize;
                in_use[at].billing = (lots.next_u64() % 3) as f64 + 1.0;
            }
            if lots.next_u64().is_multiple_of(9) {
                let begun = Running { association: 2, billing: 1.0 };
                few.begin(begun, now);
                all.begin(begun, now);
            }
            all.begun = true;
            assert_eq!(few.advance(&in_use, now), all.advance(&in_use, now));
            assert_eq!(few.running, all.running);
            let usage = |ledger: &Ledger| ledger.tree().nodes().iter().map(|node| node.usage).collect::<Vec<_>>();
            assert_eq!(usage(&few), usage(&all));
        }
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
        assert!(!tried.advance(&[JOB, other], 70));
        let usage = |ledger: &Ledger| ledger.tree().nodes().iter().map(|node| node.usage).collect::<Vec<_>>();
        assert_eq!(usage(&tried), usage(&untried));
        assert_eq!((tried.running, tried.told), (untried.running, untried.told));
    }

    #[test]
    fn the_end_of_a_job_between_periods_is_charged_once() {
        // §8.7: a tail of 43 s on 8 CPUs adds 338.351 at its end.
        let job = Running { association: 2, billing: 8.0 };
        let mut ledger = ledger("PriorityDecayHalfLife=30\nPriorityCalcPeriod=1", 0.0);
        ledger.advance(&[job], 0);
        ledger.advance(&[job], 60);
        let before = ledger.tree().nodes()[ROOT].usage;
        assert!(!ledger.advance(&[], 103));
        let added = ledger.tree().nodes()[ROOT].usage - before;
        assert!((added - 338.351).abs() < 1e-3, "{added}");
        let sum = ledger.tree().nodes()[ROOT].usage;
        assert!(ledger.advance(&[], 120));
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
        assert!(ledger.advance(&[], 10_000_000_000));
        assert!(ledger.tree().nodes()[ROOT].usage < 1e-100);
    }
}
