//! A pool before the first turn of a cycle: everything that is known before a slot is matched.
//!
//! In: a [`Snapshot`]. Out: a [`PreparedPool`]: the rules, the annotated slots, the policy charged up to the time of
//! the snapshot, the submitters and their queue. Cycles run over it, and explanations read it. One file, because each part
//! is prepared from the ones before it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;

use crate::accountant::usage::{Account, SlotInUse};
use crate::negotiate::candidate::RankKey;
use crate::negotiate::preemption::{KnownQuotas, LiveUsage, SlotAnnotator};
use crate::negotiate::quotas::{Division, divided};
use crate::negotiate::request_standing::submitter_attributes_at_start;
use crate::negotiate::rules::Rules;
use crate::negotiate::single::{self, SubmitterJobs};
use crate::negotiate::{CycleObserver, Snapshot};
use crate::pool::ad_reader::AdReader;
use crate::pool::projection::{is_projected, project};
use crate::pool::slot::{copies, is_slot};
use crate::pool::{PoolSize, Slot};
use crate::priority::ranking::ServiceOrder;
use crate::priority::{Opening, PriorityPolicy, Standing, Waiting};
use crate::queue::autocluster::{self, KnownParts};
use crate::queue::job::{JobAd, KnownTraits, Traits};
use crate::queue::request::{JobsBehind, Queue, Queued, is_always_sent};
use crate::queue::significant::{self, STANDING};
use crate::queue::{Job, JobId, Submitter};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;
use classmate::internal::text::Text;
use classmate::internal::threads;
use classmate_config::internal::config::ConfigError;

/// The purpose of a prepared pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A cycle.
    Cycle,
    /// Explanations, which need whole slot ads, the slots that the configuration leaves out and the order of jobs; and
    /// a cycle.
    Explanation,
}

/// A pool before the first turn of a cycle.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_pool::{CycleOptions, PreparedPool, Snapshot};
/// let snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"s\"; State = \"Claimed\"; RemoteUser = \"a@x\"]")?],
///     ..Snapshot::default()
/// };
/// let mut pool = PreparedPool::new(&snapshot).unwrap();
/// assert!(pool.slots()[0].ad.contains("RemoteUserPrio"));
/// assert!(pool.negotiate(CycleOptions::default()).unwrap().outcome.matches.is_empty());
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub struct PreparedPool<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) rules: Arc<Rules>,
    /// Clock and seed, and the usage in `live`.
    pub(super) settings: EvalOptions,
    pub(super) live: Arc<LiveUsage>,
    pub(super) slots: Vec<Slot>,
    /// With `NEGOTIATOR_IGNORE_JOB_RANKS` the rank of each slot; otherwise empty.
    pub(super) ranks: Vec<RankKey>,
    pub(super) ignored: IgnoredAds,
    pub(super) policy: Box<dyn PriorityPolicy>,
    pub(super) submitters: Vec<Submitter>,
    pub(super) queue: Queue<'s>,
    /// Jobs of the snapshot that have an ID and a submitter.
    pub(super) known_jobs: usize,
    pub(super) size: PoolSize,
    pub(super) quotas: Option<Arc<KnownQuotas>>,
    /// A setting that is an error only if a cycle runs.
    pub(super) unreadable: Option<ConfigError>,
    explained: Option<Explained>,
}

/// The data that only explanations need.
struct Explained {
    /// The slots with whole ads, and the policy charged for them; `None` if the cycle has whole ads, too. (Without
    /// preemption the negotiator gets only some attributes of slots in use.)
    whole: Option<(Vec<Slot>, Box<dyn PriorityPolicy>)>,
    left_out: Vec<Slot>,
    order: Arc<ServiceOrder>,
}

/// A job as slots see it.
#[derive(Debug, Clone)]
pub struct PreparedJob {
    /// Its ad, with the attributes that the negotiator adds.
    pub ad: ClassAd,
    /// Attributes that its requests do not have, if slots or the configuration may use some of them.
    pub unsent: Vec<Name>,
    /// Priority and usage of its submitter.
    pub standing: Standing,
}

/// An idle job that is offered in a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedJob {
    /// The job.
    pub job: JobId,
    /// The access point that it names.
    pub schedd: Option<Text>,
    /// Its autocluster, from 1: jobs of one make equal requests.
    pub autocluster: u32,
}

/// Ads among the slots that take no part in a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IgnoredAds {
    /// Ads that are not slot ads.
    pub(crate) not_slots: usize,
    /// Slot ads without a name.
    pub(crate) unnamed: usize,
}

/// The slots of a pool under a policy that is charged for them.
pub(crate) struct ChargedPool<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) rules: Arc<Rules>,
    /// The slots that take part.
    pub(crate) slots: Vec<Slot>,
    pub(crate) ignored: IgnoredAds,
    pub(crate) policy: Box<dyn PriorityPolicy>,
    /// The size of the pool, if these slots are only a part of it; `None`: computed from them.
    pub(crate) size: Option<PoolSize>,
    /// Waiting jobs that are not in the snapshot, by the job that stands for them.
    pub(crate) behind: HashMap<JobId, JobsBehind>,
    /// The properties of jobs that earlier cycles with these rules found, if they are kept.
    pub(crate) known: Option<&'s mut KnownJobs>,
}

/// Findings about jobs that cycles with the same rules share.
#[derive(Debug, Default)]
pub(crate) struct KnownJobs {
    traits: KnownTraits,
    parts: KnownParts,
    order: KnownOrder,
    /// The properties of each job of the snapshot, in its order, if they stay as they are.
    pub(crate) lasting: Vec<Option<LastingView>>,
}

/// The number and the properties of a job that stay as they are.
pub(crate) type LastingView = (JobId, Arc<Traits>);

impl KnownJobs {
    /// A job is added to those of the snapshot.
    pub(crate) fn add(&mut self, ad: &ClassAd, domain: Option<&[u8]>, settings: &EvalOptions) {
        self.lasting.push(self.traits.lasting(ad, domain, settings));
    }

    fn views<'a>(&mut self, ads: &'a [ClassAd], domain: Option<&[u8]>, settings: &EvalOptions) -> Vec<Job<'a>> {
        let view = |(ad, known): (&'a ClassAd, &Option<LastingView>)| match known {
            Some((id, traits)) => Some(Job { ad: JobAd::Read(ad), id: *id, traits: Arc::clone(traits) }),
            None => self.traits.view(ad, domain, settings),
        };
        ads.iter().zip(&self.lasting).filter_map(view).collect()
    }
}

/// The order in which a collector hands out submitters, as it was last computed.
#[derive(Debug, Default)]
struct KnownOrder {
    /// Names and access points.
    keys: Vec<(Text, Text)>,
    order: Vec<usize>,
}

impl KnownOrder {
    fn of(&mut self, keys: Vec<(Text, Text)>) -> &[usize] {
        if self.keys != keys {
            self.order = Submitter::collected_order(&keys);
            self.keys = keys;
        }
        &self.order
    }
}

impl<'s> PreparedPool<'s> {
    /// Prepares a pool for a cycle.
    ///
    /// # Errors
    /// A wrong setting in the configuration.
    pub fn new(snapshot: &'s Snapshot) -> Result<Self, ConfigError> {
        Self::prepare(snapshot, copies(&snapshot.slots), Purpose::Cycle, &mut ())
    }

    /// Prepares a pool for explanations and a cycle.
    ///
    /// # Errors
    /// A wrong setting in the configuration.
    pub fn for_explanation(snapshot: &'s Snapshot) -> Result<Self, ConfigError> {
        Self::prepare(snapshot, copies(&snapshot.slots), Purpose::Explanation, &mut ())
    }

    /// Prepares a pool that consists of these slot ads and of everything else in a snapshot.
    ///
    /// # Errors
    /// A wrong setting in the configuration.
    pub fn prepare(
        snapshot: &'s Snapshot,
        slots: Vec<ClassAd>,
        purpose: Purpose,
        observer: &mut dyn CycleObserver,
    ) -> Result<Self, ConfigError> {
        observer.phase_started("slots");
        let settings = snapshot.settings();
        let rules = Arc::new(Rules::read(&snapshot.config, &settings)?);
        let explained = (purpose == Purpose::Explanation).then(|| Explained::of(snapshot, &slots, &rules, &settings));
        let (slots, ignored) = received(slots, &rules, &settings);
        observer.phase_started("charge");
        let policy = charge(snapshot, &slots, &rules, &settings);
        let mut pool = ChargedPool::whole(snapshot, rules, (slots, ignored), policy).prepare(observer)?;
        pool.explained = explained;
        if let Some(Explained { whole: Some((slots, policy)), .. }) = &mut pool.explained {
            annotate_slots(slots, snapshot, &pool.rules, &**policy, pool.quotas.as_deref(), &settings);
        }
        Ok(pool)
    }

    /// Prepares one of several cycles with the same rules and policy; `policy` is `None` before the first.
    pub(crate) fn of_series(
        snapshot: &'s Snapshot,
        rules: &Arc<Rules>,
        policy: Option<Box<dyn PriorityPolicy>>,
    ) -> Result<Self, ConfigError> {
        let (settings, rules) = (snapshot.settings(), Arc::clone(rules));
        let (slots, ignored) = received(copies(&snapshot.slots), &rules, &settings);
        let mut policy = policy.unwrap_or_else(|| open(snapshot, &slots, &rules, &settings));
        charge_slots(&mut *policy, &slots, snapshot, &settings);
        ChargedPool::whole(snapshot, rules, (slots, ignored), policy).prepare(&mut ())
    }

    /// The policy, for the next cycle.
    pub(crate) fn into_policy(self) -> Box<dyn PriorityPolicy> {
        self.policy
    }

    /// The snapshot; its slots may have been moved into the pool.
    pub fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// The configuration.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The slots that take part, annotated: before the cycle as the first request finds them, after it as the cycle left
    /// them. In a pool for explanations their ads are whole.
    pub fn slots(&self) -> &[Slot] {
        match &self.explained {
            Some(Explained { whole: Some((slots, _)), .. }) => slots,
            _ => &self.slots,
        }
    }

    /// The slots that `NEGOTIATOR_SLOT_CONSTRAINT` leaves out; known in a pool for explanations.
    pub fn left_out(&self) -> &[Slot] {
        self.explained.as_ref().map_or(&[], |explained| &explained.left_out)
    }

    /// The order in which the policy serves jobs; known in a pool for explanations.
    pub fn order(&self) -> Arc<ServiceOrder> {
        self.explained.as_ref().map_or_else(|| Arc::new(self.snapshot.order()), |explained| explained.order.clone())
    }

    /// The submitters in order of arrival.
    pub fn submitters(&self) -> &[Submitter] {
        &self.submitters
    }

    /// The policy that [`PreparedPool::slots`] are annotated by.
    fn policy(&self) -> &dyn PriorityPolicy {
        match &self.explained {
            Some(Explained { whole: Some((_, policy)), .. }) => &**policy,
            _ => &*self.policy,
        }
    }

    /// Clock, seed, and the usage at this moment, which a later cycle does not change.
    pub fn settings(&self) -> EvalOptions {
        let usage: Arc<LiveUsage> = Arc::new(usage_now(self.policy(), self.quotas.clone()));
        EvalOptions { usage: Some(usage), ..self.snapshot.settings() }
    }

    /// A job as slots see it before the first turn.
    pub fn job(&self, ad: &ClassAd, submitter: &[u8]) -> PreparedJob {
        let policy = self.policy();
        let mut ad = candidacy(ad, policy);
        let unsent = self.unsent(&ad);
        ad.update(&submitter_attributes_at_start(submitter, policy, &self.rules));
        PreparedJob { ad, unsent, standing: policy.standing(submitter) }
    }

    /// The attributes of a job that are not in its requests; empty if none of them can be used.
    fn unsent(&self, job: &ClassAd) -> Vec<Name> {
        let used = || {
            let rules = &self.rules;
            rules.replaces_significant() || rules.may_use_insignificant(job) || significant::has_insignificant(job)
        };
        if self.queue.whole || !used() {
            return Vec::new();
        }
        let sent = autocluster::relevant(job, &self.queue.significant);
        let all = job.lineage().flat_map(ClassAd::names);
        // The negotiator adds those that say how the submitter stands.
        let is_in_request = |name: &Name| sent.contains(name) || is_always_sent(*name) || STANDING.contains(name);
        all.filter(|name| !is_in_request(name)).collect()
    }

    /// The jobs that the cycle offers; none after it, as it takes the queue.
    pub fn queued(&self) -> Vec<OfferedJob> {
        let queued = |queued: &Queued| {
            let job = &self.queue.jobs[queued.job];
            OfferedJob { job: job.id, schedd: job.schedd.clone(), autocluster: queued.autocluster }
        };
        self.queue.lists.iter().flatten().map(queued).collect()
    }

    /// The division of the pool among its groups in the first round of a cycle.
    pub fn division(&self) -> Division {
        divided(&self.rules, &self.size, &self.submitters, &*self.policy, self.snapshot.settings())
    }

    /// Calls a function with the input of policies, and the idle jobs of each submitter.
    pub fn with_opening<T>(&self, look: impl FnOnce(&Opening<'_>, &dyn Waiting) -> T) -> T {
        let members: Vec<usize> = (0..self.submitters.len()).collect();
        let settings = self.snapshot.settings();
        let waiting = SubmitterJobs { members: &members, queue: &self.queue };
        opening(self.snapshot, &self.slots, &self.rules, &settings, |opening| look(opening, &waiting))
    }
}

impl Explained {
    fn of(snapshot: &Snapshot, slots: &[ClassAd], rules: &Rules, settings: &EvalOptions) -> Self {
        let order = Arc::new(snapshot.policy.ranking(slots, &snapshot.jobs, settings));
        let out = |constraint| {
            let is_out = |ad: &ClassAd| is_slot(ad) && !Scope::new(ad, settings).holds(constraint);
            let slot = |ad: &ClassAd| is_out(ad).then(|| Slot::new(ad.clone(), &rules.weighing, settings)).flatten();
            threads::map_all(slots, slot).into_iter().flatten().collect()
        };
        let whole = (!rules.trim.preemption).then(|| {
            let (slots, _) = participating(copies(slots), rules, settings, |ad| ad);
            let policy = charge(snapshot, &slots, rules, settings);
            (slots, policy)
        });
        Self { whole, left_out: rules.slots.as_ref().map_or_else(Vec::new, out), order }
    }
}

impl<'s> ChargedPool<'s> {
    /// All slots and all jobs of a snapshot, of which nothing is known from earlier cycles.
    fn whole(
        snapshot: &'s Snapshot,
        rules: Arc<Rules>,
        (slots, ignored): (Vec<Slot>, IgnoredAds),
        policy: Box<dyn PriorityPolicy>,
    ) -> Self {
        ChargedPool { snapshot, rules, slots, ignored, policy, size: None, behind: HashMap::new(), known: None }
    }

    /// Prepares the rest: submitters, queue, pool size, quotas and annotations.
    pub(crate) fn prepare(self, observer: &mut dyn CycleObserver) -> Result<PreparedPool<'s>, ConfigError> {
        let Self { snapshot, rules, mut slots, ignored, policy, size, behind, known } = self;
        let mut settings = snapshot.settings_over(&slots);
        observer.phase_started("queue");
        let (submitters, mut queue, known_jobs) = queue(snapshot, &slots, &rules, &*policy, &settings, known);
        queue.behind = behind;
        let unreadable = unreadable(&queue, &rules, &settings);
        observer.phase_started("divide");
        let all = || PoolSize::of(&slots, rules.pool_size.as_ref(), rules.weighing.weighted, &settings);
        let size = size.unwrap_or_else(all);
        rules.groups.fit(&size)?;
        let quotas = rules.groups.quotas(&size).map(Arc::new);
        observer.phase_started("introduce");
        // Only now: attributes that are copied into slot ads affect neither the significant attributes nor the size of
        // the pool.
        let live = Arc::new(usage_now(&*policy, quotas.clone()));
        settings.usage = Some(live.clone());
        let ranks = static_ranks(&slots, &rules, &settings);
        annotate_slots(&mut slots, snapshot, &rules, &*policy, quotas.as_deref(), &settings);
        let explained = None;
        Ok(PreparedPool {
            snapshot,
            rules,
            settings,
            live,
            slots,
            ranks,
            ignored,
            policy,
            submitters,
            queue,
            known_jobs,
            size,
            quotas,
            unreadable,
            explained,
        })
    }
}

/// The slots that take part, as the negotiator gets them: without preemption, with only some attributes of slots in
/// use.
pub(crate) fn slots(ads: Vec<ClassAd>, rules: &Rules, settings: &EvalOptions) -> Vec<Slot> {
    received(ads, rules, settings).0
}

/// As [`slots`], with the ads that are ignored.
fn received(ads: Vec<ClassAd>, rules: &Rules, settings: &EvalOptions) -> (Vec<Slot>, IgnoredAds) {
    participating(ads, rules, settings, |mut ad| {
        if !rules.trim.preemption && is_projected(&ad, settings) {
            project(&mut ad, settings);
        }
        ad
    })
}

fn participating(
    ads: Vec<ClassAd>,
    rules: &Rules,
    settings: &EvalOptions,
    projected: impl Fn(ClassAd) -> ClassAd + Sync + Send,
) -> (Vec<Slot>, IgnoredAds) {
    let name = Name::new("Name");
    let (not_slots, unnamed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slot = |ad: ClassAd| {
        if !is_slot(&ad) {
            not_slots.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if !ad.contains(name) {
            unnamed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let takes_part = rules.slots.as_ref().is_none_or(|constraint| Scope::new(&ad, settings).holds(constraint));
        if takes_part { Slot::new(projected(ad), &rules.weighing, settings) } else { None }
    };
    let slots = threads::filter_map_into(ads, slot);
    (slots, IgnoredAds { not_slots: not_slots.into_inner(), unnamed: unnamed.into_inner() })
}

/// The usage under a policy at this moment.
fn usage_now(policy: &dyn PriorityPolicy, quotas: Option<Arc<KnownQuotas>>) -> LiveUsage {
    LiveUsage::new(&policy.in_use(), quotas)
}

/// With `NEGOTIATOR_IGNORE_JOB_RANKS` the ranks of slots, which last for the cycle: `condor_negotiator` evaluates them before it
/// adds attributes to the ads (`docs/reference/negotiation.md` 10.8). Otherwise none.
fn static_ranks(slots: &[Slot], rules: &Rules, settings: &EvalOptions) -> Vec<RankKey> {
    if !rules.ranking.ignore_jobs {
        return Vec::new();
    }
    threads::map_all(slots, |slot| match rules.trim.moved_clock(slot, settings) {
        Some(clock) => {
            let mut ad = slot.ad.clone();
            ad.insert("CurrentTime", clock);
            rules.ranking.of_slot(&ad, settings)
        }
        None => rules.ranking.of_slot(&slot.ad, settings),
    })
}

/// Adds configured and per-user attributes to each slot ad.
fn annotate_slots(
    slots: &mut [Slot],
    snapshot: &Snapshot,
    rules: &Rules,
    policy: &dyn PriorityPolicy,
    quotas: Option<&KnownQuotas>,
    settings: &EvalOptions,
) {
    for slot in slots.iter_mut() {
        for (name, expr) in &rules.match_exprs {
            slot.ad.insert_expr(*name, expr);
        }
    }
    if rules.trim.preemption {
        let siblings = rules.knobs.matching.cross_slot_prios.then_some(&*rules.knobs.matching.resource_prefix);
        let groups = quotas.filter(|_| !snapshot.first_cycle);
        let (known, first) = (HashMap::new(), HashMap::new());
        let mut annotator = SlotAnnotator { policy, groups, siblings, settings, trim: &rules.trim, known, first };
        for slot in slots {
            annotator.of(slot);
        }
    }
}

/// The ad by which a job is served: if it has several candidacies, one that accepts every slot that any of them
/// accepts.
fn candidacy(job: &ClassAd, policy: &dyn PriorityPolicy) -> ClassAd {
    let ways = policy.candidacies(job).unwrap_or_default();
    let Some(first) = ways.first() else { return job.clone() };
    let requirements: Vec<Expr> = ways.iter().filter_map(|ad| ad.get("Requirements")).collect();
    let texts = requirements.iter().map(|expr| [b"(", expr.to_text(Style::New).as_slice(), b")"].concat());
    let any = texts.collect::<Vec<_>>().join(&b" || "[..]);
    let mut ad = first.clone();
    let semantics = requirements.first().map(|expr| expr.tree().semantics).unwrap_or_default();
    if ways.len() > 1
        && let Ok(any) = parse_expr(&any, &ParseOptions { semantics, ..ParseOptions::default() })
    {
        ad.insert_expr("Requirements", &any);
    }
    ad
}

/// The first concurrency limit of a waiting job that is not a number.
fn unreadable(queue: &Queue<'_>, rules: &Rules, settings: &EvalOptions) -> Option<ConfigError> {
    rules.concurrency.odd().next()?;
    let waiting = queue.lists.iter().flatten().map(|queued| &queue.jobs[queued.job]);
    let mut limits = waiting.filter_map(|job| AdReader::of(&job.ad, settings).string("ConcurrencyLimits"));
    limits.find_map(|text| rules.concurrency.unreadable(&text.to_ascii_lowercase()).cloned())
}

/// The submitters, their jobs by autocluster, and the number of jobs before candidacies.
fn queue<'s>(
    snapshot: &'s Snapshot,
    slots: &[Slot],
    rules: &Rules,
    policy: &dyn PriorityPolicy,
    settings: &EvalOptions,
    mut known: Option<&mut KnownJobs>,
) -> (Vec<Submitter>, Queue<'s>, usize) {
    let domain = rules.knobs.accountant.domain.as_deref();
    let jobs = match &mut known {
        Some(known) => known.views(&snapshot.jobs, domain, settings),
        None => Job::all(&snapshot.jobs, domain, settings),
    };
    let mut order = KnownOrder::default();
    let order = known.as_mut().map_or(&mut order, |known| &mut known.order);
    let submitters = self::submitters(snapshot, &jobs, rules, settings, order);
    let count = jobs.len();
    let jobs = single::candidates(jobs, policy);
    let significant = rules.significant(slots.iter().map(|slot| &slot.ad));
    let mut parts = KnownParts::default();
    let parts = known.map_or(&mut parts, |known| &mut known.parts);
    let queue = Queue::with_known(jobs, &submitters, significant, &rules.offering(), settings, parts);
    (submitters, queue, count)
}

/// The submitters of the jobs of a snapshot, in the order in which the negotiator gets them.
fn submitters(
    snapshot: &Snapshot,
    jobs: &[Job<'_>],
    rules: &Rules,
    settings: &EvalOptions,
    known: &mut KnownOrder,
) -> Vec<Submitter> {
    let takes_part =
        |ad: &ClassAd| rules.submitters.as_ref().is_none_or(|constraint| Scope::new(ad, settings).holds(constraint));
    let pie = &rules.knobs.pie;
    let by_job_prio = |(submitter, priorities): (Submitter, Option<Vec<i64>>)| {
        submitter.by_job_prio(priorities.as_deref().filter(|_| pie.use_global_job_prios))
    };
    if let Some(ads) = &snapshot.submitters {
        let read = |ad: &ClassAd| Some((Submitter::new(ad, settings)?, Submitter::job_prios(ad, settings)));
        let taking_part =
            collected_order(snapshot, ads, settings).into_iter().map(|at| &ads[at]).filter(|ad| takes_part(ad));
        return taking_part.filter_map(read).flat_map(by_job_prio).collect();
    }
    let mut made = Submitter::of_jobs(jobs, &rules.job_weighing, settings);
    if !by_service(&mut made, snapshot) {
        let key = |one: &Submitter| (one.original.as_ref().unwrap_or(&one.name).clone(), one.schedd.clone());
        let order = known.of(made.iter().map(key).collect());
        let mut unordered: Vec<Option<Submitter>> = made.into_iter().map(Some).collect();
        made = order.iter().filter_map(|at| unordered[*at].take()).collect();
        if !snapshot.served.is_empty() {
            made.sort_by_cached_key(|submitter| snapshot.served.get(&*submitter.name));
        }
    }
    if rules.submitters.is_some() {
        made.retain(|one| takes_part(&one.to_ad()));
    }
    if !pie.use_global_job_prios {
        return made;
    }
    let with_priorities = |one: Submitter| {
        let priorities = one.job_prios_of(jobs, pie.most_global_job_prios);
        (one, Some(priorities))
    };
    made.into_iter().map(with_priorities).flat_map(by_job_prio).collect()
}

/// Sorts submitters by the time of their last service, if that puts each in a place of its own. Returns false, and leaves
/// them as they are, if it does not.
fn by_service(submitters: &mut Vec<Submitter>, snapshot: &Snapshot) -> bool {
    let place = |(at, one): (usize, &Submitter)| Some((*snapshot.served.get(&*one.name)?, at));
    let Some(mut places) = submitters.iter().enumerate().map(place).collect::<Option<Vec<_>>>() else { return false };
    places.sort_unstable();
    if places.windows(2).any(|two| two[0].0 == two[1].0) {
        return false;
    }
    let mut unordered: Vec<Option<Submitter>> = std::mem::take(submitters).into_iter().map(Some).collect();
    submitters.extend(places.into_iter().filter_map(|(_, at)| unordered[at].take()));
    true
}

/// The attribute with the place of a submitter ad among those that a collector hands out. Names decide it, so ads with other
/// names have it to stay in their order.
const COLLECTOR_PLACE: &str = "CollectorPlace";

/// The order in which a collector hands out the submitter ads of a snapshot.
fn collected_order(snapshot: &Snapshot, ads: &[ClassAd], settings: &EvalOptions) -> Vec<usize> {
    if snapshot.submitters_in_order {
        return (0..ads.len()).collect();
    }
    let place = |at: usize| Some((AdReader::of(&ads[at], settings).integer(COLLECTOR_PLACE)?, at));
    if let Some(mut places) = (0..ads.len()).map(place).collect::<Option<Vec<_>>>() {
        places.sort_unstable();
        return places.into_iter().map(|(_, at)| at).collect();
    }
    let key = |ad| Submitter::collected_key(ad, settings);
    Submitter::collected_order(&ads.iter().map(key).collect::<Vec<_>>())
}

/// The submitter ads of a snapshot in the order in which a collector hands them out; they stay in it with other names.
pub fn collected(snapshot: &Snapshot) -> Option<Vec<ClassAd>> {
    let ads = snapshot.submitters.as_ref()?;
    let order = collected_order(snapshot, ads, &snapshot.settings());
    let placed = |(place, at): (usize, usize)| {
        let mut ad = ads[at].clone();
        ad.insert(COLLECTOR_PLACE, place as i64);
        ad
    };
    Some(order.into_iter().enumerate().map(placed).collect())
}

/// The ads of all submitters, left out or not: those of the snapshot, or else those that the access points of its jobs
/// would send.
pub fn advertised<'s>(snapshot: &'s Snapshot, rules: &Rules, settings: &EvalOptions) -> Vec<Cow<'s, ClassAd>> {
    if let Some(ads) = &snapshot.submitters {
        return ads.iter().map(Cow::Borrowed).collect();
    }
    let jobs = Job::all(&snapshot.jobs, rules.knobs.accountant.domain.as_deref(), settings);
    Submitter::of_jobs(&jobs, &rules.job_weighing, settings).iter().map(|one| Cow::Owned(one.to_ad())).collect()
}

/// Calls a function with the input of policies.
pub(crate) fn opening<T>(
    snapshot: &Snapshot,
    slots: &[Slot],
    rules: &Rules,
    settings: &EvalOptions,
    look: impl FnOnce(&Opening<'_>) -> T,
) -> T {
    look(&Opening {
        log: snapshot.log.as_ref(),
        in_order: snapshot.submitters_in_order || snapshot.submitters.is_none(),
        knobs: &rules.knobs,
        groups: rules.groups.tree.clone(),
        quota: &|group| rules.groups.quota(group),
        slots,
        jobs: &snapshot.jobs,
        settings,
    })
}

/// The policy of a snapshot with the priorities and usage of its files, not charged yet.
fn open(snapshot: &Snapshot, slots: &[Slot], rules: &Rules, settings: &EvalOptions) -> Box<dyn PriorityPolicy> {
    opening(snapshot, slots, rules, settings, |opening| snapshot.policy.open(opening, None))
}

/// The policy of a snapshot, with priorities and usage charged up to its time.
fn charge(snapshot: &Snapshot, slots: &[Slot], rules: &Rules, settings: &EvalOptions) -> Box<dyn PriorityPolicy> {
    let mut policy = open(snapshot, slots, rules, settings);
    charge_slots(&mut *policy, slots, snapshot, settings);
    policy
}

/// Charges the slots in use up to the time of the snapshot.
fn charge_slots(policy: &mut dyn PriorityPolicy, slots: &[Slot], snapshot: &Snapshot, settings: &EvalOptions) {
    let running = if policy.asks_jobs() { running(&snapshot.jobs, settings) } else { HashMap::new() };
    let in_use: Vec<SlotInUse<'_>> = slots
        .iter()
        .filter(|slot| slot.is_in_use())
        .filter_map(|slot| {
            let submitter = slot.charged.as_deref()?;
            let job = running.get(&slot.name.to_ascii_lowercase()).copied();
            let account = job.map_or(Account::Submitter, |job| policy.account(job, &slot.ad));
            let weight = policy.cost(job, &slot.ad, slot.weight);
            Some(SlotInUse { submitter, account, weight, suspended: slot.suspended })
        })
        .collect();
    policy.charge(&in_use, snapshot.now);
}

/// The running jobs by the name of their slot, in lower case.
fn running<'j>(jobs: &'j [ClassAd], settings: &EvalOptions) -> HashMap<Vec<u8>, &'j ClassAd> {
    let host = |ad: &'j ClassAd| Some((AdReader::of(ad, settings).string("RemoteHost")?.to_ascii_lowercase(), ad));
    jobs.iter().filter_map(host).collect()
}
