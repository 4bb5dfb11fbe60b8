//! A job as the negotiator and its access point see it.
//!
//! Formula source: `docs/reference/negotiation.md` 8.3, `docs/reference/accountant.md` 10.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::LazyLock;

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::{Key, Name};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::text::Text;
use classmate::internal::threads;
use classmate::internal::value::Value;

/// `JobStatus` of an idle job.
const IDLE: i64 = 1;
/// `JobStatus` of a running job, or of one that transfers output.
const RUNNING: [i64; 2] = [2, 6];
/// Job universes that are not matched to slots for their user: scheduler, grid, parallel, local.
pub const UNMATCHED_UNIVERSES: [i64; 4] = [7, 9, 11, 12];

// Attributes that are read of every job.
static CLUSTER: LazyLock<Name> = LazyLock::new(|| Name::new("ClusterId"));
static PROCESS: LazyLock<Name> = LazyLock::new(|| Name::new("ProcId"));
static PRIORITIES: LazyLock<[Name; 5]> =
    LazyLock::new(|| ["PreJobPrio1", "PreJobPrio2", "JobPrio", "PostJobPrio1", "PostJobPrio2"].map(Name::new));
static GLOBAL: LazyLock<Name> = LazyLock::new(|| Name::new("GlobalJobId"));
static UNIVERSE: LazyLock<Name> = LazyLock::new(|| Name::new("JobUniverse"));
static STATUS: LazyLock<Name> = LazyLock::new(|| Name::new("JobStatus"));
static USER: LazyLock<Name> = LazyLock::new(|| Name::new("User"));
static OWNER: LazyLock<Name> = LazyLock::new(|| Name::new("Owner"));
static GROUP: LazyLock<Name> = LazyLock::new(|| Name::new("AccountingGroup"));
static FACTORY: LazyLock<[Name; 2]> =
    LazyLock::new(|| ["JobMaterializeLimit", "JobMaterializeDigestFile"].map(Name::new));

/// The attributes that are read of every job, without its numbers (`ClusterId`, `ProcId`, `GlobalJobId`).
static OF_CLUSTERS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let others = [*UNIVERSE, *STATUS, *USER, *OWNER, *GROUP];
    PRIORITIES.iter().copied().chain(others).map(Name::key).collect()
});

/// Numbers of a job, the times of its submission and its status, and the time it requests.
static NUMBERS_AND_TIMES: LazyLock<[Key; 7]> = LazyLock::new(|| {
    ["ClusterId", "ProcId", "GlobalJobId", "QDate", "EnteredCurrentStatus", "CPUTime", "AllowedJobDuration"]
        .map(|name| Name::new(name).key())
});

/// Jobs a thread looks at before another one helps.
const GRAIN: usize = 4096;

/// The number of a job: cluster and process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// `ClusterId`: one for all jobs of a submission.
    pub cluster: i64,
    /// `ProcId`: counts within the cluster.
    pub process: i64,
}

impl JobId {
    /// The number in the ad of a job; none without `ClusterId`.
    pub(crate) fn of(facts: AdReader<'_>) -> Option<Self> {
        Some(Self { cluster: facts.integer(*CLUSTER)?, process: facts.integer(*PROCESS).unwrap_or(0) })
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.cluster, self.process)
    }
}

/// A string that is not the ID of a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a job ID is a cluster and a process, like 12.3")]
pub struct JobIdError;

/// Reads `12.3`.
impl FromStr for JobId {
    type Err = JobIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        let parts = text.split_once('.').and_then(|(cluster, process)| Some((number(cluster)?, number(process)?)));
        let (cluster, process) = parts.ok_or(JobIdError)?;
        Ok(Self { cluster, process })
    }
}

/// As text: `"12.3"`.
impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The state of a job in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Waits for a slot.
    Idle,
    /// Has one.
    Running,
    /// Held, completed, removed, or of a kind that is not matched; or not a job, but the ad of a job factory.
    Neither,
}

/// The ad of a job: that of the snapshot, or one that was made of it.
#[derive(Debug, Clone)]
pub enum JobAd<'a> {
    /// The ad as it was read.
    Read(&'a ClassAd),
    /// One of several candidacies of a job.
    Made(Arc<ClassAd>),
}

impl JobAd<'_> {
    /// The ad that was made for a candidacy, if this is one.
    pub fn made(&self) -> Option<Arc<ClassAd>> {
        match self {
            JobAd::Read(_) => None,
            JobAd::Made(ad) => Some(Arc::clone(ad)),
        }
    }
}

impl Deref for JobAd<'_> {
    type Target = ClassAd;

    fn deref(&self) -> &ClassAd {
        match self {
            JobAd::Read(ad) => ad,
            JobAd::Made(ad) => ad,
        }
    }
}

/// A job.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The whole ad.
    pub ad: JobAd<'a>,
    /// Its number.
    pub id: JobId,
    /// Its other properties; the jobs of a cluster share them.
    pub traits: Arc<Traits>,
}

/// Properties of a job besides its ID.
#[derive(Debug)]
pub struct Traits {
    /// The name its use is charged to.
    pub submitter: Text,
    /// The access point it was submitted to; none if the ad does not name it.
    pub schedd: Option<Text>,
    /// Its state in the queue.
    pub activity: Activity,
    /// `PreJobPrio1`, `PreJobPrio2`, `JobPrio`, `PostJobPrio1`, `PostJobPrio2`; higher goes first.
    pub priorities: [i64; 5],
}

impl Deref for Job<'_> {
    type Target = Traits;

    fn deref(&self) -> &Traits {
        &self.traits
    }
}

impl<'a> Job<'a> {
    /// The view of a job ad; none if it has no number.
    ///
    /// `domain` is the domain of submitter names; without it the one in the job's `User` is taken.
    pub fn new(ad: &'a ClassAd, domain: Option<&[u8]>, settings: &EvalOptions) -> Option<Self> {
        let facts = AdReader::of(ad, settings);
        let id = JobId::of(facts)?;
        let traits = Traits {
            submitter: submitter(facts, domain),
            schedd: schedd(facts),
            activity: activity(facts),
            priorities: PRIORITIES.map(|name| facts.integer(name).unwrap_or(0)),
        };
        Some(Self { id, traits: Arc::new(traits), ad: JobAd::Read(ad) })
    }

    /// The views of ads, without those that have no number.
    pub fn all(ads: &'a [ClassAd], domain: Option<&[u8]>, settings: &EvalOptions) -> Vec<Self> {
        // Of each cluster, one job is looked at in full; where threads meet, one more.
        threads::flat_map_parts(ads.len(), GRAIN, |part| {
            let mut known = KnownTraits::default();
            known.views(&ads[part], domain, settings)
        })
    }

    /// `JobPrio`.
    pub fn job_prio(&self) -> i64 {
        self.priorities[2]
    }

    /// The order in which an access point offers the jobs of a submitter: higher priorities first, then
    /// older numbers.
    pub fn order(&self) -> impl Ord + use<> {
        (self.priorities.map(std::cmp::Reverse), self.id)
    }
}

/// A value for the properties that several jobs share, by their address. Of a job that shares them with none, nothing is kept.
#[derive(Debug)]
pub struct BySharedTraits<T>(HashMap<*const Traits, T>);

impl<T> Default for BySharedTraits<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Copy> BySharedTraits<T> {
    /// The value for the properties of a job, which `find` computes from them alone. The jobs must live as long as the values.
    pub fn get(&mut self, job: &Job<'_>, find: impl FnOnce() -> T) -> T {
        if Arc::strong_count(&job.traits) == 1 {
            return find();
        }
        *self.0.entry(Arc::as_ptr(&job.traits)).or_insert_with(find)
    }
}

/// The properties of jobs that have all but their numbers from a chained parent, by its address.
#[derive(Debug, Default)]
pub struct KnownTraits(HashMap<usize, SharedTraits>);

/// The properties of the jobs of a cluster.
#[derive(Debug)]
struct SharedTraits {
    /// Kept, so that no other ad has its address.
    _parent: Arc<ClassAd>,
    traits: Arc<Traits>,
}

/// Number of chained parents whose jobs are remembered.
const MAX_KNOWN: usize = 1 << 16;

impl KnownTraits {
    /// The views of ads, without those that have no number.
    pub fn views<'a>(&mut self, ads: &'a [ClassAd], domain: Option<&[u8]>, settings: &EvalOptions) -> Vec<Job<'a>> {
        ads.iter().filter_map(|ad| self.view(ad, domain, settings)).collect()
    }

    /// The number and the properties of a job, if its attributes are constants: they stay as they are.
    pub fn lasting(
        &mut self,
        ad: &ClassAd,
        domain: Option<&[u8]>,
        settings: &EvalOptions,
    ) -> Option<(JobId, Arc<Traits>)> {
        let constant = |(_, value): (Name, &Attribute)| value.tree().is_none();
        if shared_part(ad).is_none() || !ad.attributes().all(constant) {
            return None;
        }
        self.view(ad, domain, settings).map(|job| (job.id, job.traits))
    }

    /// The view of an ad; none if it has no number.
    pub fn view<'a>(&mut self, ad: &'a ClassAd, domain: Option<&[u8]>, settings: &EvalOptions) -> Option<Job<'a>> {
        // Without its own number it may be no job at all.
        let parent = ad.chained().filter(|_| ad.names().any(|name| name.key() == PROCESS.key()));
        let parent = parent.filter(|_| ad.names().all(|name| !OF_CLUSTERS.contains(&name.key())));
        let known = parent.and_then(|parent| self.0.get(&(Arc::as_ptr(parent) as usize)));
        if let Some(like) = known.and_then(|known| known.sibling(ad, settings)) {
            return Some(like);
        }
        let job = Job::new(ad, domain, settings)?;
        if let Some(parent) = parent.filter(|_| is_shared(ad)) {
            if self.0.len() >= MAX_KNOWN {
                self.0.clear();
            }
            let known = SharedTraits { _parent: Arc::clone(parent), traits: Arc::clone(&job.traits) };
            self.0.insert(Arc::as_ptr(parent) as usize, known);
        }
        Some(job)
    }
}

impl SharedTraits {
    /// The view of another ad that has all but its numbers from this parent; none if its access point is another one.
    fn sibling<'a>(&self, ad: &'a ClassAd, settings: &EvalOptions) -> Option<Job<'a>> {
        let facts = AdReader::of(ad, settings);
        let id = JobId::of(facts)?;
        let here = match (&self.traits.schedd, ad.lookup(*GLOBAL)) {
            (Some(known), Some(Attribute::Literal(Literal::Str(text)))) => {
                text.get(known.len()) == Some(&b'#') && text.starts_with(known) && !known.contains(&b'#')
            }
            (known, _) => schedd(facts) == *known,
        };
        here.then(|| Job { id, traits: Arc::clone(&self.traits), ad: JobAd::Read(ad) })
    }
}

/// The chained parent from which an ad has everything but the numbers and the times of its job, if all of that is constant.
/// Jobs with one such parent differ in their numbers, their age and the time they request alone.
pub fn shared_part(ad: &ClassAd) -> Option<&Arc<ClassAd>> {
    let parent = ad.chained()?;
    let constant = |(_, value): (Name, &Attribute)| value.tree().is_none();
    let is_own = ad.names().all(|name| NUMBERS_AND_TIMES.contains(&name.key()));
    (is_own && parent.chained().is_none() && parent.attributes().all(constant)).then_some(parent)
}

/// Returns whether all attributes read of a job, except its ID, are constants of its chained parent.
fn is_shared(ad: &ClassAd) -> bool {
    let constant = |parent: &ClassAd| {
        let tree = |(name, value): (Name, &Attribute)| {
            matches!(value, Attribute::Tree(_)) && OF_CLUSTERS.contains(&name.key())
        };
        parent.chained().is_none() && !parent.attributes().any(tree)
    };
    ad.chained().is_some_and(|parent| constant(parent))
}

/// The access point, from the number that no other job has.
fn schedd(facts: AdReader<'_>) -> Option<Text> {
    let id = facts.string(*GLOBAL)?;
    let end = memchr::memchr(b'#', &id)?;
    Some(Text::new(&id[..end]))
}

/// Tests if an ad is that of a job factory: a cluster whose jobs are made one by one. It has no `ProcId`, or a negative one
/// (`JobQueueCluster`, `qmgmt.cpp`), and is never matched to a slot.
pub fn is_factory(facts: AdReader<'_>) -> bool {
    match facts.integer(*PROCESS) {
        Some(process) => process < 0,
        None => FACTORY.iter().any(|name| !matches!(facts.value(*name), Value::Undefined)),
    }
}

fn activity(facts: AdReader<'_>) -> Activity {
    if facts.integer(*UNIVERSE).is_some_and(|universe| UNMATCHED_UNIVERSES.contains(&universe)) {
        return Activity::Neither;
    }
    match facts.integer(*STATUS) {
        Some(IDLE) if is_factory(facts) => Activity::Neither,
        Some(IDLE) => Activity::Idle,
        Some(status) if RUNNING.contains(&status) => Activity::Running,
        _ => Activity::Neither,
    }
}

/// `<AccountingGroup or owner>@<domain>`.
fn submitter(facts: AdReader<'_>, domain: Option<&[u8]>) -> Text {
    let user = facts.string(*USER).or_else(|| facts.string(*OWNER));
    let user: &[u8] = user.as_deref().unwrap_or_default();
    let (owner, own_domain) = match memchr::memrchr(b'@', user) {
        Some(at) => (&user[..at], &user[at + 1..]),
        None => (user, b"".as_slice()),
    };
    let account = facts.string(*GROUP).filter(|group| !group.is_empty());
    Text::from([account.as_deref().unwrap_or(owner), b"@", domain.unwrap_or(own_domain)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(ad: &str, domain: Option<&str>) -> Job<'static> {
        let ad = ClassAd::parse(format!("[ClusterId = 7; ProcId = 2; {ad}]").as_bytes()).unwrap();
        Job::new(Box::leak(Box::new(ad)), domain.map(str::as_bytes), &EvalOptions::default()).unwrap()
    }

    #[test]
    fn submitters_are_named_after_the_accounting_group_else_the_owner() {
        let user = "User = \"alice@sub.x\"";
        assert_eq!(&*job(user, Some("x")).submitter, b"alice@x");
        assert_eq!(&*job(user, None).submitter, b"alice@sub.x");
        let grouped = format!("{user}; AccountingGroup = \"group_a.alice\"");
        assert_eq!(&*job(&grouped, Some("x")).submitter, b"group_a.alice@x");
    }

    #[test]
    fn only_idle_jobs_that_are_matched_to_slots_wait() {
        assert_eq!(job("JobStatus = 1; JobUniverse = 5", None).activity, Activity::Idle);
        assert_eq!(job("JobStatus = 1; JobUniverse = 12", None).activity, Activity::Neither);
        assert_eq!(job("JobStatus = 5", None).activity, Activity::Neither);
        assert_eq!(job("JobStatus = 2", None).activity, Activity::Running);
    }

    #[test]
    fn the_ad_of_a_job_factory_does_not_wait() {
        let activity = |ad: &str| {
            let ad = ClassAd::parse(ad.as_bytes()).unwrap();
            Job::new(&ad, None, &EvalOptions::default()).unwrap().activity
        };
        let limit = "ClusterId = 1; JobStatus = 1; JobMaterializeLimit = 10";
        assert_eq!(activity(&format!("[{limit}]")), Activity::Neither);
        assert_eq!(activity("[ClusterId = 1; ProcId = -1; JobStatus = 1]"), Activity::Neither);
        // Its jobs have the limit from it.
        assert_eq!(activity(&format!("[{limit}; ProcId = 0]")), Activity::Idle);
        assert_eq!(activity("[ClusterId = 1; JobStatus = 1]"), Activity::Idle);
        let parent = Arc::new(ClassAd::parse(format!("[{limit}]").as_bytes()).unwrap());
        let chained = |own: &str| {
            let mut ad = ClassAd::parse(own.as_bytes()).unwrap();
            ad.chain(Some(Arc::clone(&parent)));
            ad
        };
        let (ads, settings) = (["[ProcId = 0]", "[]", "[ProcId = 1]"].map(chained), EvalOptions::default());
        let found: Vec<Activity> = Job::all(&ads, None, &settings).iter().map(|job| job.activity).collect();
        assert_eq!(found, [Activity::Idle, Activity::Neither, Activity::Idle]);
    }

    #[test]
    fn the_access_point_is_in_the_global_number() {
        assert_eq!(job("GlobalJobId = \"s1@x#7.2#123\"", None).schedd.as_deref().unwrap(), b"s1@x");
        assert_eq!(job("A = 1", None).schedd, None);
    }

    #[test]
    fn higher_priorities_go_first_then_older_jobs() {
        let order = |a: &Job, b: &Job| a.order().cmp(&b.order());
        let plain = job("A = 1", None);
        assert!(order(&job("JobPrio = 5", None), &plain).is_lt());
        assert!(order(&job("PreJobPrio2 = 1", None), &job("JobPrio = 5", None)).is_lt());
        assert!(order(&job("PostJobPrio1 = 9", None), &job("JobPrio = 5", None)).is_gt());
        let older = Job { id: JobId { cluster: 6, process: 9 }, ..plain.clone() };
        assert!(order(&older, &plain).is_lt());
    }

    #[test]
    fn jobs_of_clusters_that_take_turns_are_as_alone() {
        let parent = |text: &str| Arc::new(ClassAd::parse(text.as_bytes()).unwrap());
        let parents = ["[User = \"a@x\"; JobStatus = 1]", "[User = \"b@x\"; JobStatus = 2]"].map(parent);
        let child = |number: usize| {
            let mut ad = ClassAd::parse(format!("[ClusterId = 1; ProcId = {number}]").as_bytes()).unwrap();
            ad.chain(Some(Arc::clone(&parents[number % 2])));
            ad
        };
        let (ads, settings) = ((0..6).map(child).collect::<Vec<_>>(), EvalOptions::default());
        let jobs = Job::all(&ads, None, &settings);
        let alone = ads.iter().map(|ad| Job::new(ad, None, &settings).unwrap());
        let view = |job: &Job| (job.id, job.submitter.to_string(), job.activity);
        assert_eq!(jobs.iter().map(view).collect::<Vec<_>>(), alone.map(|job| view(&job)).collect::<Vec<_>>());
        assert!(Arc::ptr_eq(&jobs[0].traits, &jobs[4].traits));
    }

    #[test]
    fn what_jobs_share_is_all_but_numbers_and_times() {
        let is_shared = |own: &str, parent: &str| {
            let mut ad = ClassAd::parse(own.as_bytes()).unwrap();
            ad.chain(Some(Arc::new(ClassAd::parse(parent.as_bytes()).unwrap())));
            shared_part(&ad).is_some()
        };
        assert!(is_shared("[ProcId = 1; qdate = 5]", "[Owner = \"a\"]"));
        assert!(!is_shared("[ProcId = 1; Owner = \"a\"]", "[RequestCpus = 1]"));
        assert!(!is_shared("[ProcId = 1]", "[RequestCpus = ProcId]"));
        assert!(shared_part(&ClassAd::new()).is_none());
    }

    #[test]
    fn a_job_without_a_number_is_none() {
        assert!(Job::new(&ClassAd::new(), None, &EvalOptions::default()).is_none());
    }
}
