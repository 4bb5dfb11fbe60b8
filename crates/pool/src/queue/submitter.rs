//! Submitters: name, access point, number of requested slots.
//!
//! In: submitter ads, or the queue if there are none. Out: submitters in the order in which they reach the
//! negotiator. Formula source: `docs/reference/negotiation.md` 4.3.

use crate::OrderedMap;
use crate::pool::ad_reader::AdReader;
use crate::queue::hash_table::HashTable;
use crate::queue::job::{Activity, BySharedTraits, Job};
use crate::queue::job_weighing::JobWeighing;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::text::Text;

/// A submitter at one access point.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitter {
    /// `Name`, `user@domain` or `group.user@domain`.
    pub name: Text,
    /// Name at its access point, if a user map renamed it: `OriginalName`.
    pub original: Option<Text>,
    /// `ScheddName`; empty if unknown.
    pub schedd: Text,
    /// `ScheddIpAddr`; empty if unknown.
    pub address: Text,
    /// True if its jobs can be requested: an ad without `ScheddName` has a share, but leaves at its turn.
    pub reachable: bool,
    /// `IdleJobs`.
    pub idle: i64,
    /// `RunningJobs`.
    pub running: i64,
    /// `WeightedIdleJobs`, else `IdleJobs`.
    pub weighted_idle: i64,
    /// `WeightedRunningJobs`, else `RunningJobs`.
    pub weighted_running: i64,
    /// `LastHeardFrom`, epoch seconds; 0 if unknown.
    pub last_heard: i64,
    /// The priority of the requested jobs, with `USE_GLOBAL_JOB_PRIOS`; none: all jobs.
    pub job_prio: Option<i64>,
    /// True if a later entry represents the same ad.
    pub again: bool,
}

impl Submitter {
    /// The submitter of an ad; none if it has no name or address, a name with blanks, no jobs, or does not
    /// take part.
    pub fn new(ad: &ClassAd, settings: &EvalOptions) -> Option<Self> {
        let facts = AdReader::of(ad, settings);
        let name = facts.string("Name").filter(|name| !name.iter().any(u8::is_ascii_whitespace))?;
        let address = facts.string("ScheddIpAddr")?;
        let (idle, running) = (facts.integer("IdleJobs").unwrap_or(0), facts.integer("RunningJobs").unwrap_or(0));
        let taking_part = facts.truth("SkipMatchmaking") != Some(true) && idle.saturating_add(running) > 0;
        let (name, original) = named(name, settings);
        let schedd = facts.string("ScheddName");
        let reachable = schedd.is_some();
        taking_part.then(|| Self {
            name,
            original,
            schedd: schedd.unwrap_or_else(|| Text::from("")),
            address,
            reachable,
            idle,
            running,
            weighted_idle: facts.integer("WeightedIdleJobs").unwrap_or(idle),
            weighted_running: facts.integer("WeightedRunningJobs").unwrap_or(running),
            last_heard: facts.integer("LastHeardFrom").unwrap_or(0),
            job_prio: None,
            again: false,
        })
    }

    /// The submitter once for each priority of its jobs, in the order given; itself if they are unknown.
    pub fn by_job_prio(self, priorities: Option<&[i64]>) -> Vec<Self> {
        let Some(priorities) = priorities else { return vec![self] };
        let one = |(at, prio): (usize, &i64)| Self { job_prio: Some(*prio), again: at > 0, ..self.clone() };
        priorities.iter().enumerate().map(one).collect()
    }

    /// `JobPrioArray` of an ad, if it has one: the priorities of its jobs, separated by commas.
    pub fn job_prios(ad: &ClassAd, settings: &EvalOptions) -> Option<Vec<i64>> {
        let listed = AdReader::of(ad, settings).string("JobPrioArray")?;
        let text = String::from_utf8_lossy(&listed);
        Some(text.split(',').filter_map(|prio| prio.trim().parse().ok()).collect())
    }

    /// The priorities of the idle jobs of a submitter, as its access point lists them: highest first, limited in
    /// number.
    pub fn job_prios_of(&self, jobs: &[Job<'_>], most: usize) -> Vec<i64> {
        let own = |job: &&Job<'_>| {
            let name = self.original.as_ref().unwrap_or(&self.name);
            let here = job.schedd.as_ref().is_none_or(|schedd| *schedd == self.schedd);
            job.activity == Activity::Idle && job.submitter == *name && here
        };
        let mut found: Vec<i64> = jobs.iter().filter(own).map(Job::job_prio).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found.truncate(most);
        found
    }

    /// The submitters of a queue, as their access points would advertise them.
    pub fn of_jobs(jobs: &[Job<'_>], weighing: &JobWeighing, settings: &EvalOptions) -> Vec<Self> {
        let mut submitters: OrderedMap<(&[u8], &[u8]), Self> = OrderedMap::default();
        let mut places = BySharedTraits::default();
        for job in jobs {
            let place = places.get(job, || {
                let schedd: &[u8] = job.schedd.as_deref().unwrap_or_default();
                let entry = submitters.entry((&job.submitter, schedd));
                let place = entry.index();
                entry.or_insert_with(|| {
                    let (name, original) = named(job.submitter.clone(), settings);
                    let schedd = job.schedd.clone().unwrap_or_else(|| Text::from(""));
                    Self {
                        name,
                        original,
                        address: schedd.clone(),
                        schedd,
                        reachable: true,
                        idle: 0,
                        running: 0,
                        weighted_idle: 0,
                        weighted_running: 0,
                        last_heard: 0,
                        job_prio: None,
                        again: false,
                    }
                });
                place
            });
            let submitter = &mut submitters[place];
            let weight = || weighing.weight(&job.ad, settings);
            match job.activity {
                Activity::Idle => {
                    submitter.idle = submitter.idle.saturating_add(1);
                    submitter.weighted_idle = submitter.weighted_idle.saturating_add(weight());
                }
                Activity::Running => {
                    submitter.running = submitter.running.saturating_add(1);
                    submitter.weighted_running = submitter.weighted_running.saturating_add(weight());
                }
                Activity::Neither => {}
            }
        }
        submitters.into_values().filter(|submitter| submitter.idle.saturating_add(submitter.running) > 0).collect()
    }

    /// Its submitter ad, as far as it is known: `MyType`, `Name`, `ScheddName`, `ScheddIpAddr`, `IdleJobs`,
    /// `RunningJobs`, `WeightedIdleJobs`, `WeightedRunningJobs`, `FlockedJobs` and `LastHeardFrom`.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate::EvalOptions;
    /// use classmate_pool::internal::queue::Submitter;
    /// let ad = ClassAd::parse(b"[Name = \"a@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 3]")?;
    /// let one = Submitter::new(&ad, &EvalOptions::default()).unwrap();
    /// assert_eq!(one.to_ad().get("IdleJobs").unwrap().to_string(), "3");
    /// assert_eq!(Submitter::new(&one.to_ad(), &EvalOptions::default()).unwrap().idle, 3);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn to_ad(&self) -> ClassAd {
        let mut ad = ClassAd::new();
        let text = |text: &[u8]| Expr::literal(Literal::Str(Text::new(text)));
        ad.insert_expr("MyType", &text(b"Submitter"));
        ad.insert_expr("Name", &text(self.original.as_ref().unwrap_or(&self.name)));
        ad.insert_expr("ScheddName", &text(&self.schedd));
        ad.insert_expr("ScheddIpAddr", &text(&self.address));
        let counts = [
            ("IdleJobs", self.idle),
            ("RunningJobs", self.running),
            ("WeightedIdleJobs", self.weighted_idle),
            ("WeightedRunningJobs", self.weighted_running),
            ("FlockedJobs", 0),
            ("LastHeardFrom", self.last_heard),
        ];
        for (name, count) in counts {
            ad.insert(name, count);
        }
        ad
    }

    /// The name and the access point of an ad, by which a collector keeps it.
    pub fn collected_key(ad: &ClassAd, settings: &EvalOptions) -> (Text, Text) {
        let text = |name: &str| AdReader::of(ad, settings).string(name).unwrap_or_else(|| "".into());
        (text("Name"), text("ScheddName"))
    }

    /// The order in which a collector hands out submitter ads, by their names and access points: that of its hash table.
    ///
    /// Exported ads mostly are sorted by name, so that their order has no meaning. They have come in that order, though, as an
    /// access point sends them by name. Ads that are in the order of the table already, and not by name, stay in it.
    pub fn collected_order(ads: &[(Text, Text)]) -> Vec<usize> {
        let hashes: Vec<u64> =
            ads.iter().map(|(name, schedd)| hash(name.iter().chain(schedd.iter()).copied())).collect();
        let mut sent: Vec<usize> = (0..ads.len()).collect();
        sent.sort_by_key(|&at| (&*ads[at].0, &*ads[at].1));
        let table: HashTable = sent.iter().map(|&at| hashes[at]).collect();
        if !sent.is_sorted() && hashes.is_sorted_by_key(|hash| hash % table.size()) {
            return (0..ads.len()).collect();
        }
        table.order().map(|place| sent[place]).collect()
    }
}

/// The map that puts submitters into groups.
const GROUP_PREFIX: &[u8] = b"GROUP_PREFIX";

/// The effective name, and the one it replaces: the value of `GROUP_PREFIX` for the part after the last `@` is
/// prepended, with a dot.
pub fn named(name: Text, settings: &EvalOptions) -> (Text, Option<Text>) {
    let start = memchr::memrchr(b'@', &name).map_or(0, |at| at + 1);
    match settings.maps.output(GROUP_PREFIX, &name[start..]) {
        Some(prefix) => (Text::from([&prefix, b".".as_slice(), &*name].concat()), Some(name)),
        None => (name, None),
    }
}

/// The collector's hash of a name.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0, |hash: u64, byte| hash.wrapping_mul(33).wrapping_add(u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use classmate::internal::builtin::user_map::{UserMap, UserMaps};

    fn submitter(ad: &str) -> Option<Submitter> {
        Submitter::new(&ClassAd::parse(ad.as_bytes()).unwrap(), &EvalOptions::default())
    }

    #[test]
    fn ads_without_name_address_or_jobs_are_dropped() {
        assert!(submitter("[Name = \"a@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 1]").is_some());
        assert!(submitter("[Name = \"a@x\"; ScheddIpAddr = \"<1>\"; RunningJobs = 1]").is_some());
        for ad in [
            "[ScheddIpAddr = \"<1>\"; IdleJobs = 1]",
            "[Name = \"a@x\"; IdleJobs = 1]",
            "[Name = \"a b@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 1]",
            "[Name = \"a@x\"; ScheddIpAddr = \"<1>\"]",
            "[Name = \"a@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 1; SkipMatchmaking = true]",
        ] {
            assert_eq!(submitter(ad), None, "{ad}");
        }
    }

    #[test]
    fn a_user_map_puts_submitters_into_groups() {
        let mut maps = UserMaps::default();
        maps.insert(b"Group_Prefix", UserMap::parse(b"* /[.]physics[.]edu$/ physics\n"));
        let settings = EvalOptions { maps: Arc::new(maps), ..EvalOptions::default() };
        let ad = |name: &str| {
            let ad = format!("[Name = \"{name}\"; ScheddIpAddr = \"<1>\"; IdleJobs = 1]");
            Submitter::new(&ClassAd::parse(ad.as_bytes()).unwrap(), &settings).unwrap()
        };
        let mapped = ad("ada@cs.physics.edu");
        assert_eq!(
            (mapped.name, mapped.original),
            ("physics.ada@cs.physics.edu".into(), Some("ada@cs.physics.edu".into()))
        );
        assert_eq!(ad("ada@cs.edu").original, None);
    }

    #[test]
    fn a_queue_makes_its_own_submitters() {
        let job = |submitter: &str, status: i64| {
            let text = format!(
                "[ClusterId = 1; ProcId = 0; JobStatus = {status}; User = \"{submitter}\"; GlobalJobId = \"s#1.0#\"]"
            );
            Job::new(Box::leak(Box::new(ClassAd::parse(text.as_bytes()).unwrap())), None, &EvalOptions::default())
                .unwrap()
        };
        let jobs = [job("b@x", 1), job("a@x", 2), job("b@x", 2), job("c@x", 5)];
        let found = Submitter::of_jobs(&jobs, &JobWeighing::default(), &EvalOptions::default());
        let counts: Vec<_> = found.iter().map(|s| (s.name.to_string(), s.idle, s.running)).collect();
        assert_eq!(counts, [("b@x".to_owned(), 1, 1), ("a@x".to_owned(), 0, 1)]);
        assert_eq!(&*found[0].schedd, b"s");
    }

    /// The order in which a collector hands out ads of one access point, by their users.
    fn collected<'u>(users: &[&'u str]) -> Vec<&'u str> {
        let ad = |user: &&str| (Text::new(format!("{user}@pool.test").as_bytes()), Text::from("schedd@pool.test"));
        let ads: Vec<(Text, Text)> = users.iter().map(ad).collect();
        Submitter::collected_order(&ads).into_iter().map(|at| users[at]).collect()
    }

    /// Recorded, the last one with two users in one bucket.
    #[test]
    fn equal_submitters_come_in_the_collectors_order() {
        assert_eq!(collected(&["alice", "bob", "carol"]), ["bob", "alice", "carol"]);
        assert_eq!(collected(&["bob", "carol", "dave", "eve", "gina"]), ["bob", "eve", "dave", "carol", "gina"]);
    }

    #[test]
    fn ads_in_the_order_of_the_table_stay_in_it() {
        assert_eq!(collected(&["bob", "eve", "carol", "dave", "gina"]), ["bob", "eve", "carol", "dave", "gina"]);
        assert_eq!(collected(&["gina", "bob", "eve", "carol", "dave"]), ["bob", "eve", "dave", "carol", "gina"]);
    }

    /// Slots are kept in such a table too: a recorded negotiator scanned ten in this order (collisions aside).
    #[test]
    fn the_collectors_table_explains_a_recorded_order_of_slots() {
        let recorded = ["m09", "m04", "m06", "m01", "m10", "m08", "m03", "m05", "m07", "m02"];
        let buckets: Vec<u64> =
            recorded.iter().map(|machine| hash(format!("slot1@{machine}.pool.test").bytes()) % 15).collect();
        assert!(buckets.is_sorted(), "{buckets:?}");
    }
}
