//! Requests: runs of like jobs, in the order in which an access point offers them.
//!
//! In: jobs and submitters. Out: for each submitter its idle jobs in order, and requests made of them.
//! Formula source: `docs/reference/negotiation.md` 8.3.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hashbrown::{HashMap, HashSet};

use crate::queue::autocluster::{Autoclusters, KnownParts, Neighbours};
use crate::queue::job::{Activity, BySharedTraits, Job, JobId};
use crate::queue::numbering::AutoclusterNumbers;
use crate::queue::significant::Significant;
use crate::queue::submitter::Submitter;
use classmate::internal::ad::{Attribute, ClassAd, Excerpts};
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::{Key, Name};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::text::Text;
use classmate::internal::threads;

/// Attributes of its first job that a request carries besides the significant ones.
pub static CARRIED: LazyLock<[Name; 5]> =
    LazyLock::new(|| ["Owner", "ClusterId", "ProcId", "GlobalJobId", "WantMatchDiagnostics"].map(Name::new));

/// The number of jobs of a request.
pub static RESOURCE_COUNT: LazyLock<Name> = LazyLock::new(|| Name::new("_condor_RESOURCE_COUNT"));
static MY_TYPE: LazyLock<Name> = LazyLock::new(|| Name::new("MyType"));
static AUTOCLUSTER_ID: LazyLock<Name> = LazyLock::new(|| Name::new("AutoClusterId"));
static WANT_PSLOT_PREEMPTION: LazyLock<Name> = LazyLock::new(|| Name::new("WantPslotPreemption"));

/// Returns whether every request has an attribute if its job does.
pub fn is_always_sent(name: Name) -> bool {
    CARRIED.contains(&name) || [*RESOURCE_COUNT, *MY_TYPE, *AUTOCLUSTER_ID, *WANT_PSLOT_PREEMPTION].contains(&name)
}

/// Number of attributes of its submitter for which a request has room.
const STANDING_ROOM: usize = 8;

/// `MyType` of a request.
static JOB_TYPE: LazyLock<Text> = LazyLock::new(|| Text::from("Job"));

/// An idle job in a submitter's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    /// Index of the job.
    pub job: usize,
    /// Its autocluster, from 1.
    pub autocluster: u32,
    /// Number of jobs before it that are not in the list and that the access point numbers: those that
    /// `NEGOTIATOR_JOB_CONSTRAINT` leaves out, if every job is its own request, and those that were matched.
    pub left_out: u32,
}

/// The idle jobs of every submitter, in the order in which they are offered.
#[derive(Debug, Clone, Default)]
pub struct Queue<'a> {
    /// All jobs.
    pub jobs: Vec<Job<'a>>,
    /// For each submitter its idle jobs that are not matched yet.
    pub lists: Vec<Vec<Queued>>,
    /// Attributes that have one value for all jobs of any autocluster.
    pub significant: Significant,
    /// For each autocluster the attributes that matter in its jobs.
    pub autoclusters: Vec<Arc<[Name]>>,
    /// Number of idle jobs without any of the submitters.
    pub strangers: usize,
    /// The unlisted jobs that listed ones stand for.
    pub behind: HashMap<JobId, JobsBehind>,
    /// True if every job is its own request.
    singly: bool,
    /// True if requests are whole job ads, and not only their significant part.
    pub whole: bool,
    /// The numbers of autoclusters at access points, if every job is its own request.
    numbers: AutoclusterNumbers,
}

/// Unlisted jobs that a listed one stands for: younger ones that differ from it in nothing but number and age.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobsBehind {
    /// Their number.
    pub count: usize,
    /// Numbers and submission times of those that might start in the cycle, oldest first, for policies that order jobs by age.
    pub next: Arc<[(JobId, i64)]>,
}

/// Submitter, access point, and the priority of the requested jobs.
type Place<'s> = (&'s [u8], Option<&'s [u8]>, Option<i64>);

/// The jobs that access points offer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offering<'e> {
    /// `NEGOTIATOR_JOB_CONSTRAINT`: jobs for which it does not hold are not offered.
    pub constraint: Option<&'e Expr>,
    /// `NEGOTIATE_ALL_JOBS_IN_CLUSTER`: each job is a request of its own, however like its neighbours it is.
    pub singly: bool,
    /// Requests are asked for one by one, and are whole job ads then.
    pub whole: bool,
}

/// Equal jobs that are neighbors.
#[derive(Debug, Clone)]
pub struct Request {
    /// Place of the first of them in the submitter's list.
    pub first: usize,
    /// Number of jobs, at least 1.
    pub count: usize,
    /// Their autocluster.
    pub autocluster: u32,
    /// The ad that represents them: the significant part of the first job.
    pub ad: ClassAd,
}

impl<'a> Queue<'a> {
    /// Sorts jobs to the submitters they belong to.
    ///
    /// A job goes to the submitter ad with its name and access point; one that names no access point goes
    /// to the first ad with its name.
    pub fn new(
        jobs: Vec<Job<'a>>,
        submitters: &[Submitter],
        significant: Significant,
        offering: &Offering<'_>,
        settings: &EvalOptions,
    ) -> Self {
        Self::with_known(jobs, submitters, significant, offering, settings, &mut KnownParts::default())
    }

    /// The same with what earlier queues found out about jobs.
    pub fn with_known(
        jobs: Vec<Job<'a>>,
        submitters: &[Submitter],
        significant: Significant,
        offering: &Offering<'_>,
        settings: &EvalOptions,
        known: &mut KnownParts,
    ) -> Self {
        let mut places: HashMap<Place<'_>, usize> = HashMap::with_capacity(2 * submitters.len());
        for (at, submitter) in submitters.iter().enumerate() {
            let name = submitter.original.as_ref().unwrap_or(&submitter.name);
            places.entry((name, Some(&submitter.schedd), submitter.job_prio)).or_insert(at);
            if submitter.reachable {
                places.entry((name, None, submitter.job_prio)).or_insert(at);
            }
        }
        let by_priority = submitters.iter().any(|submitter| submitter.job_prio.is_some());
        let mut order: Vec<usize> = (0..jobs.len()).filter(|&at| jobs[at].activity == Activity::Idle).collect();
        // Exported queues mostly are in order.
        if !order.is_sorted_by_key(|&at| jobs[at].order()) {
            order.sort_by_cached_key(|&at| jobs[at].order());
        }
        let mut lists = vec![Vec::new(); submitters.len()];
        let mut clusters = Autoclusters::new(&significant, std::mem::take(known));
        let mut strangers = 0;
        let mut changes = changes(&order, &jobs, &significant).into_iter().peekable();
        // The first of each run of like jobs. The jobs of a run have its number until these are numbered.
        let mut firsts = Vec::new();
        let mut before: Option<(usize, &Job<'_>)> = None;
        let mut known_places = BySharedTraits::default();
        for (turn, &at) in order.iter().enumerate() {
            let job = &jobs[at];
            let changed = changes.next_if_eq(&turn).is_some();
            let run = |firsts: &[_]| Queued { job: at, autocluster: firsts.len() as u32 - 1, left_out: 0 };
            if !changed
                && let Some((place, neighbour)) = before
                && Arc::ptr_eq(&neighbour.traits, &job.traits)
            {
                lists[place].push(run(&firsts));
                continue;
            }
            let place = |prio| places.get(&(&*job.submitter, job.schedd.as_deref(), prio));
            let own = Some(job.job_prio()).filter(|_| by_priority);
            let Some(place) = known_places.get(job, || place(own).or_else(|| place(None)).copied()) else {
                strangers += 1;
                before = None;
                continue;
            };
            if changed || before.is_none() {
                firsts.push(&*job.ad);
            }
            lists[place].push(run(&firsts));
            before = Some((place, job));
        }
        let by_run = clusters.of_all(&firsts);
        for queued in lists.iter_mut().flatten() {
            queued.autocluster = by_run[queued.autocluster as usize];
        }
        let Offering { singly, whole, .. } = *offering;
        let listed = clusters.count();
        let numbers = if singly {
            AutoclusterNumbers::new(&jobs, |job| clusters.of(job), settings)
        } else {
            AutoclusterNumbers::default()
        };
        let (mut autoclusters, parts) = clusters.into_names();
        *known = parts;
        autoclusters.truncate(listed);
        let behind = HashMap::new();
        let mut queue = Self { jobs, lists, significant, autoclusters, strangers, behind, singly, whole, numbers };
        if let Some(constraint) = offering.constraint {
            queue.constrain(constraint, settings);
        }
        queue
    }

    /// Drops the runs whose first job does not satisfy the constraint.
    fn constrain(&mut self, constraint: &Expr, settings: &EvalOptions) {
        let singly = self.singly;
        for list in &mut self.lists {
            let mut dropped = None;
            let mut kept = None;
            let mut left_out = 0;
            let jobs = &self.jobs;
            list.retain_mut(|queued| {
                queued.left_out = left_out;
                if !singly && dropped == Some(queued.autocluster) {
                    return false;
                }
                if !singly && kept == Some(queued.autocluster) {
                    return true;
                }
                let holds = Scope::new(&jobs[queued.job].ad, settings).holds(constraint);
                (kept, dropped) =
                    if holds { (Some(queued.autocluster), None) } else { (None, Some(queued.autocluster)) };
                left_out += u32::from(singly && !holds);
                holds
            });
        }
    }

    /// The next request of a submitter, without an ad: the run of equal jobs that begins at the first job at or after `from`
    /// that is not skipped, by its place and autocluster; `singly`: that job alone.
    pub fn run(
        &self,
        submitter: usize,
        from: usize,
        is_skipped: impl Fn(usize, u32) -> bool,
        singly: bool,
    ) -> Option<Request> {
        let list = &self.lists[submitter];
        let mut rest = list.get(from..)?.iter().enumerate();
        let first = from + rest.position(|(at, queued)| !is_skipped(from + at, queued.autocluster))?;
        let count = if singly { 1 } else { self.alike(submitter, first) };
        Some(Request { first, count, autocluster: list[first].autocluster, ad: ClassAd::new() })
    }

    /// Number of jobs from a place in a submitter's list on that form one request.
    pub fn alike(&self, submitter: usize, first: usize) -> usize {
        if self.singly {
            return 1;
        }
        let rest = &self.lists[submitter][first..];
        rest.iter().take_while(|queued| queued.autocluster == rest[0].autocluster).count()
    }

    /// The request of one job alone, given by its place in the submitter's list.
    pub fn single(&self, submitter: usize, place: usize, excerpts: &mut Excerpts) -> Option<Request> {
        let autocluster = self.lists.get(submitter)?.get(place)?.autocluster;
        let request = Request { first: place, count: 1, autocluster, ad: ClassAd::new() };
        Some(Request { ad: self.request_ad(submitter, &request, excerpts), ..request })
    }

    /// Number of requests: runs of like jobs.
    pub fn requests(&self) -> usize {
        if self.singly {
            return self.lists.iter().map(Vec::len).sum();
        }
        let runs = |list: &Vec<Queued>| list.chunk_by(|a, b| a.autocluster == b.autocluster).count();
        self.lists.iter().map(runs).sum()
    }

    /// The jobs of each run of like jobs, with its autocluster.
    pub fn runs(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = JobId>)> {
        let runs = self.lists.iter().flat_map(|list| list.chunk_by(|a, b| a.autocluster == b.autocluster));
        runs.map(|run| (run[0].autocluster, run.iter().map(|queued| self.jobs[queued.job].id)))
    }

    /// The first request of each autocluster, with its submitter.
    pub fn first_of_each(&self) -> impl Iterator<Item = (usize, Request)> {
        let mut seen = vec![false; self.autoclusters.len() + 1];
        let runs = |(who, list): (usize, &Vec<Queued>)| {
            let mut first = 0;
            let request = |run: &[Queued]| {
                let request = Request { first, count: run.len(), autocluster: run[0].autocluster, ad: ClassAd::new() };
                first += run.len();
                (who, request)
            };
            list.chunk_by(|a, b| a.autocluster == b.autocluster).map(request).collect::<Vec<_>>()
        };
        let all = self.lists.iter().enumerate().flat_map(runs);
        all.filter(move |(_, request)| !std::mem::replace(&mut seen[request.autocluster as usize], true))
    }

    /// The ad that represents a request of a submitter: the significant part of the first job, or all of it.
    pub fn request_ad(&self, submitter: usize, request: &Request, excerpts: &mut Excerpts) -> ClassAd {
        let Request { autocluster, count, .. } = *request;
        let job = &self.jobs[self.lists[submitter][request.first].job];
        let added = [
            (*MY_TYPE, Literal::Str(JOB_TYPE.clone())),
            (*AUTOCLUSTER_ID, Literal::Int(i64::from(autocluster))),
            (*WANT_PSLOT_PREEMPTION, Literal::Bool(true)),
            (*RESOURCE_COUNT, Literal::Int(count as i64)),
        ];
        let added = added.map(|(name, value)| (name, Attribute::Literal(value)));
        if self.whole {
            let mut ad = (*job.ad).clone();
            for (name, value) in added {
                ad.set(name, value);
            }
            return ad;
        }
        match autocluster.checked_sub(1).and_then(|at| self.autoclusters.get(at as usize)) {
            Some(names) => excerpts.make(&job.ad, (names, &*CARRIED), added, STANDING_ROOM),
            None => excerpts.make(&job.ad, (&Arc::default(), &*CARRIED), added, STANDING_ROOM),
        }
    }

    /// The number that an access point which treats each job as different gives to a job, by its place in the submitter's
    /// list at the beginning of a turn.
    pub fn number(&self, submitter: usize, place: usize) -> usize {
        place + 1 + self.lists[submitter].get(place).map_or(0, |queued| queued.left_out as usize)
    }

    /// The number of the autocluster of a job at its access point.
    pub fn autocluster_number(&self, submitter: usize, place: usize) -> Option<usize> {
        let Queued { job, autocluster, .. } = *self.lists[submitter].get(place)?;
        self.numbers.of(&self.jobs[job], autocluster)
    }

    /// Returns whether requests carry the concurrency limits of their jobs.
    pub fn requests_limits(&self) -> bool {
        self.whole || self.significant.contains(Name::new("ConcurrencyLimits"))
    }

    /// One of the unlisted jobs that a job stands for takes its place; false if there is none.
    pub fn replace(&mut self, job: JobId) -> bool {
        let behind = self.behind.get_mut(&job).filter(|behind| behind.count > 0);
        behind.map(|behind| behind.count -= 1).is_some()
    }

    /// Adds the jobs of other ads of a submitter to its own, in their order.
    pub fn join(&mut self, into: usize, others: &[usize]) {
        for &from in others {
            let mut jobs = std::mem::take(&mut self.lists[from]);
            self.lists[into].append(&mut jobs);
        }
        if !others.is_empty() {
            self.lists[into].sort_by_cached_key(|queued| self.jobs[queued.job].order());
        }
    }

    /// Gives the jobs that were added back to the ads of their priorities.
    pub fn part(&mut self, from: usize, others: &[usize], submitters: &[Submitter]) {
        for &into in others {
            let jobs = &self.jobs;
            let own = |queued: &mut Queued| submitters[into].job_prio == Some(jobs[queued.job].job_prio());
            self.lists[into] = self.lists[from].extract_if(.., own).collect();
        }
    }

    /// Takes matched jobs, given by their places in the submitter's list, out of it.
    pub fn remove<T>(&mut self, submitter: usize, places: &HashMap<usize, T>) {
        if !places.is_empty() {
            let (mut at, mut removed) = (0, 0);
            self.lists[submitter].retain_mut(|queued| {
                at += 1;
                let is_matched = places.contains_key(&(at - 1));
                removed += u32::from(is_matched);
                queued.left_out += removed;
                !is_matched
            });
        }
    }
}

/// Jobs a thread looks at before another one helps.
const GRAIN: usize = 4096;

/// The jobs of an order, by place, that may differ from the job before them in significant attributes. Nearly all jobs of a
/// cluster are equal.
fn changes(order: &[usize], jobs: &[Job<'_>], significant: &Significant) -> Vec<usize> {
    let keys: HashSet<Key> = significant.names().map(Name::key).collect();
    let of_part = |part: Range<usize>| {
        let mut neighbours = Neighbours::new(&keys);
        let differs = |at: &usize| {
            let before = at.checked_sub(1).map(|before| &jobs[order[before]].ad);
            !before.is_some_and(|before| neighbours.alike(before, &jobs[order[*at]].ad))
        };
        part.filter(differs).collect::<Vec<_>>()
    };
    threads::flat_map_parts(order.len(), GRAIN, of_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::job_weighing::JobWeighing;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    /// A queue of one submitter; each job is its `JobPrio` and its `RequestMemory`.
    fn offered(jobs: &[(i64, i64)], constraint: Option<&str>, singly: bool) -> Queue<'static> {
        let settings = EvalOptions::default();
        let views: Vec<Job<'_>> = jobs
            .iter()
            .enumerate()
            .map(|(process, (prio, memory))| {
                let text = format!(
                    "[ClusterId = 1; ProcId = {process}; JobStatus = 1; User = \"a@x\"; JobPrio = {prio}; \
                     RequestMemory = {memory}; Secret = 1]"
                );
                Job::new(Box::leak(Box::new(ClassAd::parse(text.as_bytes()).unwrap())), None, &settings).unwrap()
            })
            .collect();
        let submitters = Submitter::of_jobs(&views, &JobWeighing::default(), &settings);
        let mut significant = Significant::default();
        significant.insert(Name::new("RequestMemory"));
        let constraint = constraint.map(|text| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap());
        let offering = Offering { constraint: constraint.as_ref(), singly, whole: false };
        Queue::new(views, &submitters, significant, &offering, &settings)
    }

    fn queue(jobs: &[(i64, i64)], constraint: Option<&str>) -> Queue<'static> {
        offered(jobs, constraint, false)
    }

    /// Number of the first job and count of every request, until none is left.
    fn requests(queue: &Queue<'_>, rejected: &[u32]) -> Vec<(i64, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(request) = queue.run(0, from, |_, autocluster| rejected.contains(&autocluster), false) {
            found.push((queue.jobs[queue.lists[0][request.first].job].id.process, request.count));
            from = request.first + request.count;
        }
        found
    }

    #[test]
    fn adjacent_like_jobs_form_a_request_and_order_is_kept() {
        let queue = queue(&[(0, 10), (0, 10), (0, 20), (0, 10), (5, 20)], None);
        assert_eq!(requests(&queue, &[]), [(4, 1), (0, 2), (2, 1), (3, 1)]);
        assert_eq!(queue.autoclusters.len(), 2);
    }

    #[test]
    fn with_all_jobs_in_a_cluster_each_is_a_request_and_asked_by_itself() {
        let jobs = [(0, 10), (0, 10), (0, 20)];
        assert_eq!(requests(&offered(&jobs, None, true), &[]), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(requests(&offered(&jobs, Some("ProcId > 0"), true), &[]), [(1, 1), (2, 1)]);
        assert_eq!(offered(&jobs, None, true).requests(), 3);
    }

    #[test]
    fn rejected_autoclusters_are_skipped() {
        // The first autocluster in order is that of memory 20.
        let queue = queue(&[(0, 10), (0, 10), (0, 20), (0, 10), (5, 20)], None);
        assert_eq!(requests(&queue, &[1]), [(0, 2), (3, 1)]);
    }

    #[test]
    fn a_request_shows_what_matters_and_nothing_else() {
        let queue = queue(&[(0, 10), (0, 10)], None);
        let ad = queue
            .single(0, 0, &mut Excerpts::default())
            .map(|request| queue.request_ad(0, &Request { count: 2, ..request }, &mut Excerpts::default()))
            .unwrap();
        assert_eq!(ad.get("RequestMemory").unwrap().to_string(), "10");
        assert_eq!(ad.get("_condor_RESOURCE_COUNT").unwrap().to_string(), "2");
        assert!(!ad.contains("Secret") && !ad.contains("JobPrio"));
    }

    #[test]
    fn a_constraint_is_asked_of_the_first_job_of_a_run() {
        let queue = queue(&[(0, 10), (0, 10), (0, 20)], Some("ProcId == 0 || RequestMemory > 15"));
        assert_eq!(requests(&queue, &[]), [(0, 2), (2, 1)]);
        let none = self::queue(&[(0, 10), (0, 10), (0, 20)], Some("ProcId == 1 || RequestMemory > 15"));
        assert_eq!(requests(&none, &[]), [(2, 1)]);
    }

    #[test]
    fn matched_jobs_leave_the_list() {
        let mut queue = queue(&[(0, 10), (0, 10), (0, 20)], None);
        queue.remove(0, &[(0, ())].into_iter().collect());
        assert_eq!(requests(&queue, &[]), [(1, 1), (2, 1)]);
    }
}
