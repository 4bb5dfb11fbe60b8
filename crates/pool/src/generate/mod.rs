//! Pools made by rule, of any size: something to try the negotiator on, to measure it with and to test it with.
//!
//! In: how large the pool is, its shape and a seed. Out: the text of its files. Every ad depends only on the seed and
//! its own number. The distributions are those of 143 slots of a large production pool (2026), counted and rounded;
//! where one says so, the numbers beside the choices are how many of the 143 have it.

mod expression;
mod job;
mod random;
mod slot;

use std::io::{self, Write};

use random::Random;

/// The time at which every made pool was recorded: 2026-07-05T12:00:00Z.
pub const NOW: i64 = 1_783_252_800;

/// The kinds of machines and jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Partitionable slots of many sites with long START expressions.
    Ospool,
    /// Static slots of a cluster, one core each.
    Static,
    /// Like the sites, but half of the machines have GPUs, and half of the jobs request them.
    Gpu,
    /// The worst case: all slots differ in the attributes that jobs use, all autoclusters differ in their expressions,
    /// and each ranks slots by their speed.
    Distinct,
    /// Static slots as a startd of HTCondor 25.14.1 with its default configuration advertises them, and jobs as
    /// its `condor_submit` makes them. Every slot has another size of its disk.
    Stock,
}

/// A pool to generate: the numbers of its ads, their shape, and the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratedPool {
    /// Slots.
    pub slots: u64,
    /// Idle jobs, without `passes`.
    pub jobs: u64,
    /// 0: all submitters have the same number of jobs, and random priorities. Otherwise they have about as many jobs as
    /// there are slots in all, and such priorities that the slots are dealt in this number of passes over them.
    pub passes: u32,
    /// Kinds of jobs, at least 1.
    pub autoclusters: u64,
    /// Submitters, at least 1.
    pub submitters: u64,
    /// Groups of submitters; 0: none.
    pub groups: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The kinds of machines and jobs.
    pub shape: Shape,
    /// True if slots have all of about 475 attributes, not only the significant ones.
    pub full: bool,
    /// The fraction of slots that run a job.
    pub claimed: f64,
    /// The fraction of autoclusters that request more than any slot has.
    pub unmatched: f64,
}

impl Default for GeneratedPool {
    fn default() -> Self {
        Self {
            slots: 1000,
            jobs: 10_000,
            passes: 0,
            autoclusters: 100,
            submitters: 20,
            groups: 0,
            seed: 0,
            shape: Shape::Ospool,
            full: false,
            claimed: 0.0,
            unmatched: 0.05,
        }
    }
}

impl GeneratedPool {
    /// Writes the slots, in the long format.
    ///
    /// # Errors
    /// Those of the output.
    ///
    /// ```
    /// use classmate_pool::internal::generate::GeneratedPool;
    /// let mut text = Vec::new();
    /// GeneratedPool { slots: 2, ..GeneratedPool::default() }.write_slots(&mut text)?;
    /// assert_eq!(text.split(|b| *b == b'\n').filter(|line| line.starts_with(b"Name = ")).count(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_slots(&self, out: &mut impl Write) -> io::Result<()> {
        (0..self.slots).try_for_each(|number| slot::write(out, self, number))
    }

    /// Writes the idle jobs, in the long format: those of an autocluster are one cluster of one submitter.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write_jobs(&self, out: &mut impl Write) -> io::Result<()> {
        (0..self.autoclusters.max(1)).try_for_each(|autocluster| job::write(out, self, autocluster))
    }

    /// Writes the submitters, in the long format.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write_submitters(&self, out: &mut impl Write) -> io::Result<()> {
        (0..self.submitters.max(1)).try_for_each(|submitter| {
            let name = self.submitter(submitter);
            let point = access_point(submitter);
            let idle: u64 = self.autoclusters_of(submitter).map(|autocluster| self.jobs_of(autocluster)).sum();
            writeln!(
                out,
                "MyType = \"Submitter\"\nName = \"{name}@example.org\"\nScheddName = \"{point}\"\nScheddIpAddr = \
                 \"<10.0.0.{}:9618>\"\nIdleJobs = {idle}\nRunningJobs = 0\nLastHeardFrom = {}\n",
                1 + submitter % ACCESS_POINTS,
                NOW - (submitter % 300) as i64
            )
        })
    }

    /// Writes the negotiator's settings: the groups, each with an equal part of the pool.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write_config(&self, out: &mut impl Write) -> io::Result<()> {
        if self.groups == 0 {
            return writeln!(out, "# no groups");
        }
        let names: Vec<String> = (0..self.groups).map(group).collect();
        writeln!(out, "GROUP_NAMES = {}\nGROUP_ACCEPT_SURPLUS = true", names.join(", "))?;
        // A little less, so that the sum is not more than the pool by rounding.
        let part = 0.999 / self.groups as f64;
        names.iter().try_for_each(|name| writeln!(out, "GROUP_QUOTA_DYNAMIC_{name} = {part}"))
    }

    /// Writes the accountant's log: every submitter with a priority of its own.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write_log(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "101 Accountant. * *\n103 Accountant. LastUpdateTime {NOW}")?;
        (0..self.submitters.max(1)).try_for_each(|submitter| {
            let name = self.submitter(submitter);
            let (priority, factor) = match self.passes {
                0 => (0.5 + Random::of(self.seed, PRIORITY, submitter).below(4000) as f64 / 16.0, 1000.0),
                passes => (0.5, f64::from(passes).powf((submitter % u64::from(passes)) as f64)),
            };
            writeln!(
                out,
                "101 Customer.{name}@example.org * *\n103 Customer.{name}@example.org Priority {priority}\n\
                 103 Customer.{name}@example.org PriorityFactor {factor:?}"
            )
        })
    }

    /// The name of a submitter, without the domain.
    fn submitter(&self, number: u64) -> String {
        match self.groups {
            0 => format!("user{number}"),
            groups => format!("{}.user{number}", group(number % groups)),
        }
    }

    /// The autoclusters of a submitter: dealt round.
    fn autoclusters_of(&self, submitter: u64) -> impl Iterator<Item = u64> {
        (submitter..self.autoclusters.max(1)).step_by(self.submitters.max(1) as usize)
    }

    /// Number of jobs of an autocluster: equal, as far as divisible.
    fn jobs_of(&self, autocluster: u64) -> u64 {
        let (jobs, autocluster, autoclusters) = match self.passes {
            0 => (self.jobs, autocluster, self.autoclusters.max(1)),
            passes => {
                let submitters = self.submitters.max(1);
                let own = self.autoclusters_of(autocluster % submitters).count() as u64;
                (self.wanted(u64::from(passes)), autocluster / submitters, own.max(1))
            }
        };
        jobs / autoclusters + u64::from(autocluster < jobs % autoclusters)
    }

    /// The jobs of a submitter, if the slots are dealt in `n` passes.
    ///
    /// To each of `n` levels of submitters is due `n` times as much as to the next one. So the first level that is left in
    /// a pass is entitled to more than `(n - 1) / n` of all slots, and the next one to `1 / (n + 1)` at most, which is when
    /// no others are left. If each wants a little more than that, the first is content and the next is not.
    fn wanted(&self, passes: u64) -> u64 {
        if passes == 1 {
            return self.slots / self.submitters.max(1);
        }
        let in_level = self.submitters.max(1).div_ceil(passes);
        self.slots / (passes + 1) / in_level + 1
    }
}

/// The version of all daemons, as a line of an ad.
const VERSION: &str = "CondorVersion = \"$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $\"";

const ACCESS_POINTS: u64 = 20;

/// Purposes of random numbers: each has its own sequence.
const PRIORITY: u64 = 1;
const SLOT: u64 = 2;
const JOB: u64 = 3;

fn group(number: u64) -> String {
    format!("group_{number}")
}

fn access_point(submitter: u64) -> String {
    format!("ap{}.example.org", submitter % ACCESS_POINTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::ad::ClassAd;
    use classmate::internal::format::long::LongReader;
    use classmate::internal::syntax::parse::ParseOptions;

    fn ads(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> Vec<ClassAd> {
        let mut text = Vec::new();
        write(&mut text).unwrap();
        let mut reader = LongReader::new(text.as_slice(), &ParseOptions::default());
        let ads = reader.by_ref().collect::<Result<_, _>>().unwrap();
        assert_eq!(reader.report().errors, 0);
        ads
    }

    #[test]
    fn every_shape_has_as_many_slots_and_jobs_as_asked_for() {
        for shape in [Shape::Ospool, Shape::Static, Shape::Gpu, Shape::Distinct, Shape::Stock] {
            let pool = GeneratedPool {
                slots: 50,
                jobs: 107,
                autoclusters: 10,
                submitters: 3,
                shape,
                ..GeneratedPool::default()
            };
            assert_eq!(ads(|out| pool.write_slots(out)).len(), 50);
            let jobs = ads(|out| pool.write_jobs(out));
            assert_eq!(jobs.len(), 107);
            let submitters = ads(|out| pool.write_submitters(out));
            let idle: i64 = submitters.iter().filter_map(|ad| ad.constant("IdleJobs")?.as_int()).sum();
            assert_eq!((submitters.len(), idle), (3, 107));
        }
    }

    #[test]
    fn full_slots_have_the_width_of_real_ones() {
        let slots = ads(|out| GeneratedPool { slots: 3, full: true, ..GeneratedPool::default() }.write_slots(out));
        assert!(slots.iter().all(|ad| (460..490).contains(&ad.len())), "{}", slots[0].len());
    }

    #[test]
    fn an_ad_depends_on_its_number_and_the_seed_only() {
        let few = ads(|out| GeneratedPool { slots: 3, ..GeneratedPool::default() }.write_slots(out));
        let many = ads(|out| GeneratedPool { slots: 9, jobs: 5, ..GeneratedPool::default() }.write_slots(out));
        assert_eq!(few[2].to_string(), many[2].to_string());
        let other = ads(|out| GeneratedPool { slots: 3, seed: 1, ..GeneratedPool::default() }.write_slots(out));
        assert_ne!(few[2].to_string(), other[2].to_string());
    }
}
