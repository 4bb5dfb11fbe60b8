//! The significant job attributes of a pool, their reasons and their cost.
//!
//! In: slots, jobs, a configuration. Out: an [`Audit`]: the attributes with the expressions that make them significant, the
//! number of values of each, the number of requests with and without it, and whether it can influence a match at all.
//! Formula source: `docs/reference/negotiation.md` 8.

pub mod counting;
mod excess;
pub mod reach;
pub mod warnings;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use serde::Serialize;

use crate::autoclusters::counting::{JobValues, Pull};
use crate::lint::attributes::is_per_job;
use classmate::internal::ad::Attribute;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::program::table::closure;
use classmate::internal::syntax::expr::Node;
use classmate::{ClassAd, EvalOptions, Name, Scope, rank};
use classmate_config::ConfigError;
use classmate_config::internal::config::beginning;
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::internal::queue::request::Queue;
use classmate_pool::internal::queue::significant::Significant;
use classmate_pool::internal::queue::{Job, Submitter};

/// A reason why an attribute is significant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SignificanceReason {
    /// The attribute of slots, or the knob, whose expression refers to it; empty for what is always looked at.
    pub source: String,
    /// The expression.
    pub text: String,
    /// Slots that have it; 0 for knobs and for expressions of jobs.
    pub slots: usize,
    /// Idle jobs that have it, if it is an expression of jobs.
    #[serde(skip_serializing_if = "is_zero")]
    pub jobs: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// An attribute in which jobs of one autocluster are alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Significance {
    /// Its name.
    pub name: String,
    /// The reasons: those of slots first, then those of jobs, the most frequent first.
    pub reasons: Vec<SignificanceReason>,
    /// True if it is significant; otherwise only significant expressions of jobs refer to it.
    pub significant: bool,
    /// True if a match can depend on it: it can be reached from Requirements, Rank or a knob.
    pub matters: bool,
    /// Number of values in idle jobs, a missing attribute counted as one.
    pub values: usize,
    /// Autoclusters if no slot and no job referred to it, or if it were the same in all jobs.
    pub autoclusters_without: usize,
    /// Requests in that case.
    pub requests_without: usize,
    /// True if it is known to differ from job to job.
    pub per_job: bool,
}

/// The effects of the significant attributes of a pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// Slots that take part.
    pub slots: usize,
    /// Names that expressions of slots refer to in jobs, before any are removed or added.
    pub referred: usize,
    /// Of these, those that a match can depend on.
    pub referred_that_matter: usize,
    /// Idle jobs that are offered.
    pub idle_jobs: usize,
    /// Idle jobs that are not, because `NEGOTIATOR_JOB_CONSTRAINT` is not true for them.
    pub excluded_jobs: usize,
    /// Significant attributes, and those of jobs that these refer to, in alphabetical order.
    pub attributes: Vec<Significance>,
    /// Autoclusters of the idle jobs.
    pub autoclusters: usize,
    /// Requests: runs of like jobs in the lists of their submitters.
    pub requests: usize,
    /// Autoclusters that differ in the slots they match or in how they rank them; none if that would take too long.
    pub outcomes: Option<usize>,
    /// Pairs of an autocluster and a slot whose Requirements are evaluated if no match is kept.
    pub tests: usize,
    /// Advice, the most harmful problem first.
    pub warnings: Vec<String>,
}

/// Pairs of autoclusters and slots that are evaluated for [`Audit::outcomes`].
const MAX_PAIRS: usize = 400_000;
/// Maximum number of reported attributes that only jobs refer to; those with the most values come first.
const MAX_JOB_ONLY: usize = 200;
/// Characters of an expression in a reason.
const MAX_TEXT_CHARS: usize = 120;

/// Audits the significant attributes of a pool.
///
/// # Errors
/// A setting of the configuration that is wrong, or not supported.
pub fn audit(snapshot: &Snapshot) -> Result<Audit, ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let slots = slots(snapshot, &rules, &settings);
    let significant = rules.significant(slots.iter().copied());
    let domain = rules.knobs.accountant.domain.as_deref();
    let jobs: Vec<Job> = snapshot.jobs.iter().filter_map(|ad| Job::new(ad, domain, &settings)).collect();
    let submitters = Submitter::of_jobs(&jobs, &rules.job_weighing, &settings);
    let reasons = reasons(&slots, &rules, &significant);
    let referred: Significant = referred(&slots).map(|(_, _, name)| name).collect();
    let reached = reach::reached(&slots, &jobs, &rules);
    let queue = Queue::new(jobs, &submitters, significant.clone(), &rules.offering(), &settings);
    let job_values = JobValues::of(&queue, &significant, MAX_TEXT_CHARS);
    let (autoclusters, requests) = job_values.count(&[]);
    let matters = matter(&job_values, &significant, &reached);
    let mut own: Vec<Name> = job_values.names.iter().copied().filter(|name| !significant.contains(*name)).collect();
    own.sort_by_key(|name| (std::cmp::Reverse(job_values.values(*name)), name.folded()));
    own.truncate(MAX_JOB_ONLY);
    let mut names: Vec<Name> = significant.names().chain(own).collect();
    names.sort_by_key(|name| name.folded());
    let of_jobs = |pull: &Pull| {
        let text = pull.text.as_ref().map_or_else(|| "…".to_owned(), |text| beginning(text, MAX_TEXT_CHARS));
        SignificanceReason { source: pull.source.display().into_owned(), text, slots: 0, jobs: pull.jobs }
    };
    let attributes = names
        .iter()
        .map(|name| {
            let (autoclusters_without, requests_without) = job_values.count(&[*name]);
            let of_slots = reasons.get(name.folded()).cloned().unwrap_or_default();
            Significance {
                name: name.display().into_owned(),
                reasons: of_slots.into_iter().chain(job_values.pulls(*name).into_iter().map(of_jobs)).collect(),
                significant: significant.contains(*name),
                matters: matters.contains(*name),
                values: job_values.values(*name),
                autoclusters_without,
                requests_without,
                per_job: is_per_job(name.folded()),
            }
        })
        .collect();
    let outcomes = outcomes(&queue, &slots, &settings);
    let idle_jobs: usize = queue.lists.iter().map(Vec::len).sum();
    let idle = queue.jobs.iter().filter(|job| job.traits.activity == Activity::Idle).count();
    let mut audit = Audit {
        slots: slots.len(),
        referred: referred.len(),
        referred_that_matter: referred.names().filter(|name| reached.contains(*name)).count(),
        idle_jobs,
        excluded_jobs: if rules.jobs.is_some() { idle.saturating_sub(queue.strangers + idle_jobs) } else { 0 },
        attributes,
        autoclusters,
        requests,
        outcomes: outcomes.as_ref().map(|of| of.values().collect::<BTreeSet<_>>().len()),
        tests: autoclusters * slots.len(),
        warnings: Vec::new(),
    };
    audit.warnings = warnings::of(&audit, &job_values, outcomes.as_ref());
    Ok(audit)
}

/// The attributes that a match can depend on: those that are reached from slots and knobs, and what their expressions in
/// jobs refer to.
fn matter(job_values: &JobValues<'_>, significant: &Significant, reached: &Significant) -> Significant {
    let references = job_values.references();
    let roots = significant.names().filter(|name| reached.contains(*name));
    let mentioned = |source: &Name| references.get(&source.key()).into_iter().flatten().copied();
    closure(roots, |names| names.iter().flat_map(mentioned).collect()).into_iter().collect()
}

/// The slots that take part.
fn slots<'a>(snapshot: &'a Snapshot, rules: &Rules, settings: &EvalOptions) -> Vec<&'a ClassAd> {
    let holds = |ad: &ClassAd| rules.slots.as_ref().is_none_or(|constraint| Scope::new(ad, settings).holds(constraint));
    snapshot.slots.iter().filter(|ad| is_slot(ad) && ad.contains("Name") && holds(ad)).collect()
}

/// The job attributes that expressions of slots refer to: the ad, the attribute of the expression, the attribute of the job.
fn referred<'a>(slots: &'a [&'a ClassAd]) -> impl Iterator<Item = (&'a ClassAd, Name, Name)> {
    let of_expression = |ad: &'a ClassAd, source: Name, value: &Attribute| {
        let tree = value.tree().filter(|tree| !matches!(tree.node(tree.root()), Node::List(_)));
        let names = tree.map(|tree| Significant::of_expression(tree, ad, &[])).unwrap_or_default();
        names.names().map(|name| (ad, source, name)).collect::<Vec<_>>()
    };
    slots.iter().flat_map(move |ad| ad.attributes().flat_map(move |(source, value)| of_expression(ad, source, value)))
}

/// The reasons of each attribute, by its name in lowercase.
fn reasons(slots: &[&ClassAd], rules: &Rules, significant: &Significant) -> HashMap<Vec<u8>, Vec<SignificanceReason>> {
    let mut counts: HashMap<Vec<u8>, BTreeMap<(String, String), usize>> = HashMap::new();
    let mut add = |name: Name, source: String, text: String, slots: usize| {
        *counts.entry(name.folded().to_vec()).or_default().entry((source, text)).or_default() += slots;
    };
    let knobs = &rules.knobs.significant;
    let listed = |list: &[Vec<u8>]| list.iter().map(Name::new).collect::<Vec<_>>();
    if knobs.replaced_by.is_empty() {
        for (ad, source, name) in referred(slots).filter(|(_, _, name)| significant.contains(*name)) {
            let text = ad.get(source).map(|expr| expr.beginning(MAX_TEXT_CHARS)).unwrap_or_default();
            add(name, source.display().into_owned(), beginning(&text, MAX_TEXT_CHARS), 1);
        }
        if let Some(sample) = slots.first() {
            let also = listed(&knobs.slot_side);
            for (knob, expr) in knob_expressions(rules) {
                for name in Significant::of_expression(&expr.to_tree(), sample, &also).names() {
                    let text = beginning(&expr.beginning(MAX_TEXT_CHARS), MAX_TEXT_CHARS);
                    add(name, knob.to_owned(), text, 0);
                }
            }
        }
        for name in Significant::schedd_minimum() {
            add(name, String::new(), "always significant at the access point".to_owned(), 0);
        }
        for name in listed(&knobs.added) {
            add(name, "ADD_SIGNIFICANT_ATTRIBUTES".to_owned(), name.display().into_owned(), 0);
        }
    } else {
        for name in listed(&knobs.replaced_by) {
            add(name, "SIGNIFICANT_ATTRIBUTES".to_owned(), name.display().into_owned(), 0);
        }
    }
    let list = |counts: BTreeMap<(String, String), usize>| {
        let reason = |((source, text), slots)| SignificanceReason { source, text, slots, jobs: 0 };
        let mut reasons: Vec<SignificanceReason> = counts.into_iter().map(reason).collect();
        reasons.sort_by(|one, two| two.slots.cmp(&one.slots).then_with(|| one.cmp(two)));
        reasons
    };
    counts.into_iter().map(|(name, counts)| (name, list(counts))).collect()
}

/// The expressions of the negotiator that look at jobs.
pub(crate) fn knob_expressions(rules: &Rules) -> Vec<(&'static str, &classmate::internal::syntax::expr::Expr)> {
    [
        ("NEGOTIATOR_PRE_JOB_RANK", &rules.ranking.before_job),
        ("NEGOTIATOR_POST_JOB_RANK", &rules.ranking.after_job),
        ("PREEMPTION_RANK", &rules.ranking.preemption),
        ("PREEMPTION_REQUIREMENTS", &rules.preemption.requirements),
        ("NEGOTIATOR_JOB_CONSTRAINT", &rules.jobs),
    ]
    .into_iter()
    .filter_map(|(name, expr)| Some((name, expr.as_ref()?)))
    .collect()
}

/// The number of the outcome of every autocluster: those with the same number match the same slots with the same ranks.
fn outcomes(queue: &Queue, slots: &[&ClassAd], settings: &EvalOptions) -> Option<HashMap<u32, u32>> {
    let mut firsts: BTreeMap<u32, usize> = BTreeMap::new();
    for queued in queue.lists.iter().flatten() {
        firsts.entry(queued.autocluster).or_insert(queued.job);
    }
    if firsts.len().saturating_mul(slots.len()) > MAX_PAIRS {
        return None;
    }
    let mut seen: HashMap<Vec<u64>, u32> = HashMap::new();
    let mut found = HashMap::new();
    for (autocluster, job) in firsts {
        let job = &queue.jobs[job].ad;
        let seen_by = |slot: &&ClassAd| {
            if symmetric(job, slot, settings) {
                [rank(job, slot, settings).to_bits().wrapping_add(1), rank(slot, job, settings).to_bits()]
            } else {
                [u64::MAX, 0]
            }
        };
        let next = seen.len() as u32;
        let outcome = *seen.entry(slots.iter().flat_map(seen_by).collect()).or_insert(next);
        found.insert(autocluster, outcome);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::Config;

    fn pool(start: &str, config: &str) -> Snapshot {
        let slot = |at: usize| {
            let text = format!(
                "[Name = \"s{at}\"; SlotID = {at}; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Memory = 1000; \
                 KFlops = 1; Odd = TARGET.Never; Start = {start}; Requirements = Start]"
            );
            ClassAd::parse(text.as_bytes()).unwrap()
        };
        let job = |at: usize| {
            let text = format!(
                "[ClusterId = 1; ProcId = {at}; JobStatus = 1; User = \"u@x\"; GlobalJobId = \"a#1.{at}\"; \
                 RequestMemory = {}; Never = {at}; Requirements = true]",
                (at % 2) * 5000
            );
            ClassAd::parse(text.as_bytes()).unwrap()
        };
        Snapshot {
            config: Config::parse("c", config.as_bytes()).unwrap(),
            slots: (0..3).map(slot).collect(),
            jobs: (0..10).map(job).collect(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn every_attribute_is_told_with_its_reasons_and_costs() {
        let audit = audit(&pool("TARGET.RequestMemory <= Memory", "")).unwrap();
        let of = |name: &str| audit.attributes.iter().find(|one| one.name == name).unwrap();
        // Ten jobs that differ in `Never`: ten autoclusters, and two without it; in the order of the queue each job differs
        // from the one before it in its memory.
        assert_eq!((audit.autoclusters, audit.requests, audit.outcomes), (10, 10, Some(2)));
        let never = of("Never");
        assert_eq!(
            (never.matters, never.values, never.autoclusters_without, never.requests_without),
            (false, 10, 2, 10)
        );
        assert_eq!(
            never.reasons,
            [SignificanceReason { source: "Odd".to_owned(), text: "TARGET.Never".to_owned(), slots: 3, jobs: 0 }]
        );
        let memory = of("RequestMemory");
        assert_eq!((memory.matters, memory.values, memory.autoclusters_without), (true, 2, 10));
        assert!(audit.warnings[0].starts_with("`Never`"), "{:?}", audit.warnings);
    }

    #[test]
    fn a_job_number_in_a_slot_is_an_explosion() {
        let audit = audit(&pool("TARGET.GlobalJobId =!= \"x\"", "REMOVE_SIGNIFICANT_ATTRIBUTES = Never")).unwrap();
        assert_eq!((audit.autoclusters, audit.requests), (10, 10));
        let id = audit.attributes.iter().find(|one| one.name == "GlobalJobId").unwrap();
        assert_eq!((id.autoclusters_without, id.requests_without, id.per_job), (1, 1, true));
        assert!(audit.warnings[0].starts_with("explosion: `GlobalJobId`"), "{:?}", audit.warnings);
    }

    /// Jobs whose attributes are made of their number, opposite to one slot.
    fn made(slot: &str, job: impl Fn(usize) -> String) -> Snapshot {
        let slot = format!("[Name = \"s\"; State = \"Unclaimed\"; Activity = \"Idle\"; Disk = 5000; {slot}]");
        let job = |at: usize| {
            let text = format!("[ClusterId = 1; ProcId = {at}; JobStatus = 1; User = \"u@x\"; {}]", job(at));
            ClassAd::parse(text.as_bytes()).unwrap()
        };
        let slots = vec![ClassAd::parse(slot.as_bytes()).unwrap()];
        Snapshot { slots, jobs: (0..12).map(job).collect(), ..Snapshot::default() }
    }

    #[test]
    fn an_explosion_is_told_first_whatever_else_varies() {
        // Twelve jobs differ in two attributes, and in a third that no match looks at.
        let audit = audit(&made(
            "Odd = TARGET.JobPrio; Requirements = Start; Start = TARGET.Args =!= \"x\" && TARGET.GlobalJobId =!= \"y\"",
            |at| format!("Args = \"{at}\"; GlobalJobId = \"a#1.{at}\"; JobPrio = {}; Requirements = true", at % 3),
        ))
        .unwrap();
        let starts: Vec<String> =
            audit.warnings.iter().map(|warning| warning.split(';').next().unwrap_or_default().to_owned()).collect();
        // Without both there is one autocluster for each JobPrio.
        assert_eq!(
            starts,
            [
                "explosion: `Args` mostly differs from job to job: without it there would still be all 12 autoclusters, \
                 without it and `GlobalJobId` there would be 3",
                "explosion: `GlobalJobId` mostly differs from job to job: without it there would still be all 12 \
                 autoclusters, without it and `Args` there would be 3",
                "`JobPrio` is significant, but no match depends on it: without it there would be 12 instead of 12 autoclusters",
            ]
        );
    }

    #[test]
    fn what_only_jobs_refer_to_is_told_with_its_reason() {
        let audit = audit(&made("Requirements = true", |at| {
            format!("RequestDisk = 100{at}; Rank = JobPrio; JobPrio = {at}; Requirements = TARGET.Disk >= RequestDisk")
        }))
        .unwrap();
        let of = |name: &str| audit.attributes.iter().find(|one| one.name == name).unwrap();
        let disk = of("RequestDisk");
        assert_eq!(
            disk.reasons,
            [SignificanceReason {
                source: "Requirements".to_owned(),
                text: "TARGET.Disk >= RequestDisk".to_owned(),
                slots: 0,
                jobs: 12
            }]
        );
        assert_eq!((disk.values, disk.matters, disk.significant, disk.autoclusters_without), (12, true, false, 12));
        assert_eq!(of("JobPrio").reasons[0].source, "Rank");
        assert!(audit.warnings.iter().any(|warning| warning.starts_with("`RequestDisk` has 12 values")));
        // The claim about both together holds: without Rank and Requirements nothing refers to either.
        assert!(audit.warnings[0].contains("without it and `RequestDisk` there would be 1;"), "{:?}", audit.warnings);
    }

    #[test]
    fn an_attribute_of_every_job_is_told_though_these_jobs_do_not_say_it() {
        let with = |slot: &str| audit(&made(slot, |_| "Requirements = true".to_owned())).unwrap().warnings;
        assert!(with("Requirements = true").is_empty());
        let warnings = with("Requirements = true; Foo = TARGET.GlobalJobId");
        assert!(warnings[0].starts_with("explosion: `GlobalJobId`"), "{warnings:?}");
    }

    /// A thousand jobs like those of a course, opposite to one slot that any of them fits.
    fn course(job: impl Fn(usize) -> String) -> Audit {
        let job = |at: usize| {
            let text = format!(
                "[ClusterId = 1; ProcId = {at}; JobStatus = 1; User = \"u@x\"; {}; \
                 Requirements = TARGET.Disk >= RequestDisk && TARGET.Memory >= RequestMemory]",
                job(at)
            );
            ClassAd::parse(text.as_bytes()).unwrap()
        };
        let mut snapshot = made("Memory = 1000; Cpus = 1; Requirements = true", |_| "A = 1".to_owned());
        snapshot.jobs = (0..1000).map(job).collect();
        audit(&snapshot).unwrap()
    }

    #[test]
    fn what_splits_the_queue_for_nothing_is_told_whatever_the_share_of_its_values() {
        // 450 disks among 1000 jobs, all of which fit.
        let one = course(|at| format!("RequestMemory = 5; RequestDisk = {}", 1000 + at % 450));
        assert_eq!((one.autoclusters, one.outcomes), (450, Some(1)));
        assert_eq!(one.warnings.len(), 1, "{:?}", one.warnings);
        assert!(
            one.warnings[0].starts_with(
                "`RequestDisk` has 450 values among 1000 idle jobs: without it there would be 1 instead of 450 autoclusters; 1 \
                 of all 450 differs in its matches;"
            ),
            "{:?}",
            one.warnings
        );
        // 30 disks times 34 memories, less the 20 of 1020 pairs that 1000 jobs do not reach.
        let two = course(|at| format!("RequestMemory = {}; RequestDisk = {}", 1 + at / 30, 1000 + at % 30));
        assert_eq!((two.autoclusters, two.outcomes), (1000, Some(1)));
        let starts: Vec<&str> = two.warnings.iter().filter_map(|warning| warning.split(',').next()).collect();
        assert_eq!(
            starts,
            [
                "`RequestMemory` has 34 values among 1000 idle jobs: without it there would be 30 instead of 1000 autoclusters",
                "`RequestDisk` has 30 values among 1000 idle jobs: without it there would be 34 instead of 1000 autoclusters",
            ]
        );
        assert!(two.warnings[0].contains("without it and `RequestDisk` there would be 1;"), "{:?}", two.warnings);
        assert!(two.warnings[1].contains("without it and `RequestMemory` there would be 1;"), "{:?}", two.warnings);
    }

    #[test]
    fn what_makes_a_difference_is_not_told_as_an_excess() {
        // Of 20 memories those up to 1000 fit, the others do not: two outcomes.
        let memories = course(|at| format!("RequestMemory = {}; RequestDisk = 7", 100 * (at % 20)));
        assert_eq!((memories.autoclusters, memories.outcomes), (20, Some(2)));
        assert!(memories.warnings[0].starts_with("`RequestMemory` has 20 values"), "{:?}", memories.warnings);
        // A few autoclusters are no harm, however like their outcomes are.
        assert!(course(|at| format!("RequestMemory = 5; RequestDisk = {}", at % 9)).warnings.is_empty());
        // 16 slots, of which each job fits one: what names the slot splits the queue as it must, the disk for nothing.
        let mut snapshot = made("Requirements = true", |_| "A = 1".to_owned());
        let slot = |at: usize| {
            format!("[Name = \"s{at}\"; State = \"Unclaimed\"; Place = {at}; Disk = 500; Requirements = true]")
        };
        snapshot.slots = (0..16).map(|at| ClassAd::parse(slot(at).as_bytes()).unwrap()).collect();
        let job = |at: usize| {
            format!(
                "[ClusterId = 1; ProcId = {at}; JobStatus = 1; User = \"u@x\"; Wanted = {}; RequestDisk = {}; \
                 Requirements = TARGET.Place == Wanted && TARGET.Disk > RequestDisk]",
                at % 16,
                at / 16 % 4
            )
        };
        snapshot.jobs = (0..256).map(|at| ClassAd::parse(job(at).as_bytes()).unwrap()).collect();
        let audit = audit(&snapshot).unwrap();
        assert_eq!((audit.autoclusters, audit.outcomes), (64, Some(16)));
        assert_eq!(audit.warnings.len(), 1, "{:?}", audit.warnings);
        assert!(
            audit.warnings[0]
                .starts_with("`RequestDisk` has 4 values among 256 idle jobs: without it there would be 16"),
            "{:?}",
            audit.warnings
        );
    }

    #[test]
    fn few_values_are_no_explosion() {
        let with = |slot: &str, job: &dyn Fn(usize) -> String| audit(&made(slot, job)).unwrap().warnings;
        let dates = with("Requirements = TARGET.QDate > 0", &|at| format!("QDate = {}", 5 + at % 3));
        assert!(
            dates[0].starts_with(
                "`QDate` differs from submission to submission, and has 3 values among 12 idle jobs: without it there would be 1 \
                 instead of 3 autoclusters;"
            ),
            "{dates:?}"
        );
        let args = with("Requirements = TARGET.Args != \"\"", &|at| format!("Args = \"{}\"", at % 2));
        assert!(
            args[0].starts_with("`Args` often differs from job to job, and has 2 values among 12 idle jobs"),
            "{args:?}"
        );
        // What costs most comes first.
        let both = with("Requirements = TARGET.QDate > 0; Odd = TARGET.Never", &|at| {
            format!("QDate = {}; Never = {}", 5 + at % 3 / 2, at % 4)
        });
        assert!(both[0].starts_with("`Never`"), "{both:?}");
    }
}
