//! Cycles of the negotiator in Slurm's order.

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_advice::internal::explain::cycle::reasons::{ran, survey};
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::{Reason, explain_job};
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_config::internal::config::slurm::{SlurmAssociations, SlurmConf, UsageRow};
use classmate_config::internal::config::{Config, TextFiles};
use classmate_pool::internal::accountant::Ungrouped;
use classmate_pool::internal::accountant::usage::{Account, SlotInUse};
use classmate_pool::internal::negotiate::summary::Stopped;
use classmate_pool::internal::negotiate::{Outcome, Snapshot, negotiate};
use classmate_pool::internal::priority::slurm::machines::enlist;
use classmate_pool::internal::priority::slurm::{Options, SlurmFiles, SlurmSettings};
use classmate_pool::internal::priority::{Claimant, Opening, PieInput, Policy, Waiting};
use classmate_pool::internal::queue::Job;

fn settings(conf: &str, dump: &str, usage: &[(&str, &str, f64)]) -> SlurmSettings {
    let (conf, defects) = SlurmConf::read("slurm.conf", conf.as_bytes(), &TextFiles::default());
    assert_eq!(defects.errors, []);
    let (associations, defects) = SlurmAssociations::read("dump", dump.as_bytes());
    assert_eq!(defects.errors, []);
    let row = |&(account, user, usage): &(&str, &str, f64)| UsageRow {
        account: account.to_owned(),
        user: Some(user.to_owned()),
        partition: None,
        usage,
        digit: 0.0,
        by_resource: None,
        run_minutes: None,
        place: None,
        line: 0,
    };
    let usage = usage.iter().map(row).collect();
    let files = SlurmFiles { conf, associations, usage, qos: Vec::new(), options: Options::default() };
    SlurmSettings::new(files).unwrap()
}

fn slots(count: usize, more: &str) -> Vec<ClassAd> {
    let slot = |at: usize| {
        let text = format!(
            "[MyType = \"Machine\"; Name = \"s{at}\"; Machine = \"m{at}\"; State = \"Unclaimed\"; Cpus = 1; Memory = 1000; \
             Requirements = true; {more}]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    (0..count).map(slot).collect()
}

fn job(cluster: i64, group: &str, more: &str) -> ClassAd {
    let text = format!(
        "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; User = \"u@x\"; AccountingGroup = \"{group}\"; QDate = 100; \
         RequestCpus = 1; Requirements = TARGET.Cpus >= 1; {more}]"
    );
    ClassAd::parse(text.as_bytes()).unwrap()
}

fn run(settings: SlurmSettings, slots: Vec<ClassAd>, jobs: Vec<ClassAd>) -> Outcome {
    let policy = Policy::Slurm(Box::new(settings));
    let snapshot = Snapshot { slots, jobs, policy, now: 1000, ..Snapshot::default() };
    let outcome = negotiate(&snapshot).unwrap();
    // A cycle that is written down gives the same when it is read back.
    let text = serde_json::to_string(&snapshot).unwrap();
    let again: Snapshot = serde_json::from_str(&text).unwrap();
    assert_eq!(negotiate(&again).unwrap(), outcome);
    outcome
}

fn matches(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome.matches.iter().map(|made| (&*made.job.to_string().leak(), made.slot.as_str())).collect()
}

const TWO: &str =
    "Account - 'a':Fairshare=1\nAccount - 'b':Fairshare=1\nParent - 'a'\nUser - 'ann'\nParent - 'b'\nUser - 'bob'\n";

#[test]
fn one_association_with_the_best_factor_may_take_the_whole_pool() {
    let settings = settings("PriorityWeightFairshare=1000", TWO, &[("b", "bob", 50.0)]);
    let jobs = (1..=4).map(|n| job(n, "b.bob", "")).chain((5..=8).map(|n| job(n, "a.ann", ""))).collect();
    let outcome = run(settings, slots(4, ""), jobs);
    assert_eq!(matches(&outcome), [("5.0", "s0"), ("6.0", "s1"), ("7.0", "s2"), ("8.0", "s3")]);
    // The others are refused once, all four of them.
    assert_eq!(
        outcome.rejections.iter().map(|refused| (&*refused.submitter, refused.jobs)).collect::<Vec<_>>(),
        [("b.bob@x", 4)]
    );
}

#[test]
fn jobs_go_by_priority_then_submission_then_number() {
    // Nice is -JobPrio: it is taken from the sum. Before that everybody has 500 + 0.
    let settings = settings("PriorityWeightFairshare=1000", TWO, &[]);
    let jobs = vec![
        job(1, "a.ann", "JobPrio = -10"),
        job(2, "b.bob", "JobPrio = 5"),
        job(3, "a.ann", ""),
        job(4, "b.bob", "QDate = 50"),
        job(5, "b.bob", ""),
    ];
    let outcome = run(settings, slots(5, ""), jobs);
    let order: Vec<String> = outcome.matches.iter().map(|made| made.job.to_string()).collect();
    assert_eq!(order, ["2.0", "4.0", "3.0", "5.0", "1.0"]);
}

#[test]
fn a_job_in_two_partitions_is_served_once_and_only_where_slots_list_its_partition() {
    let conf = "PriorityWeightPartition=100\nPartitionName=batch PriorityJobFactor=1 Default=YES\n\
                PartitionName=debug PriorityJobFactor=10\nPartitionName=front PriorityTier=2\n";
    let mut pool = slots(1, "PartitionName = {\"batch\"}");
    pool.extend(slots(3, "PartitionName = {\"debug\", \"front\"}").into_iter().skip(1));
    let jobs = vec![
        job(1, "a.ann", ""),
        job(2, "a.ann", "PartitionName = {\"batch\", \"debug\"}"),
        job(3, "a.ann", "PartitionName = \"front\""),
        job(4, "a.ann", "PartitionName = \"gone\""),
        job(5, "a.ann", "PartitionName = \"batch,debug\""),
    ];
    let outcome = run(settings(conf, TWO, &[]), pool, jobs);
    // 3: the higher tier first; 2 in debug with 100, then 5, which finds debug full; 1 in batch, older than 5.
    assert_eq!(matches(&outcome), [("3.0", "s1"), ("2.0", "s2"), ("1.0", "s0")]);
    let refused: Vec<String> = outcome.rejections.iter().map(|refused| refused.job.to_string()).collect();
    assert_eq!(refused, ["5.0", "4.0", "5.0"]);
}

#[test]
fn groups_do_not_divide_the_pool_and_strangers_come_last() {
    let config = Config::parse("c", b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 1\nGROUP_QUOTA_b = 1\n").unwrap();
    let policy = Policy::Slurm(Box::new(settings("PriorityWeightFairshare=1000", TWO, &[])));
    let jobs = vec![job(1, "z.eve", ""), job(2, "a.ann", ""), job(3, "a.ann", ""), job(4, "a.ann", "")];
    let snapshot = Snapshot { config, slots: slots(4, ""), jobs, policy, now: 1000, ..Snapshot::default() };
    let outcome = negotiate(&snapshot).unwrap();
    assert_eq!(matches(&outcome), [("2.0", "s0"), ("3.0", "s1"), ("4.0", "s2"), ("1.0", "s3")]);
}

#[test]
fn priorities_never_sink_under_that_flag_and_age_counts_from_the_time_it_is_idle() {
    let conf = "PriorityWeightAge=1000\nPriorityMaxAge=1\n";
    let jobs = || vec![job(1, "a.ann", "EnteredCurrentStatus = 990"), job(2, "b.bob", "EnteredCurrentStatus = 950")];
    let order = |conf: &str| {
        let outcome = run(settings(conf, TWO, &[]), slots(2, ""), jobs());
        outcome.matches.iter().map(|made| made.job.to_string()).collect::<Vec<_>>()
    };
    // 10 and 50 of 60 seconds: 166 and 833.
    assert_eq!(order(conf), ["2.0", "1.0"]);
    // From submission both are as old.
    assert_eq!(order(&format!("{conf}PriorityFlags=ACCRUE_ALWAYS,INCR_ONLY\n")), ["1.0", "2.0"]);
}

/// An ad that stays until the tests end.
fn kept(ad: ClassAd) -> &'static ClassAd {
    Box::leak(Box::new(ad))
}

/// Under `INCR_ONLY` a priority that would sink stays: the user who used the machine keeps the place of before.
#[test]
fn priorities_that_would_sink_stay_under_that_flag() {
    let order = |flags: &str| {
        let conf = format!("PriorityWeightFairshare=1000\nPriorityFlags={flags}\n");
        let evaluation = EvalOptions::default();
        let job = |cluster: i64, group: &str| Job::new(kept(job(cluster, group, "")), None, &evaluation).unwrap();
        let waiting = Endless(vec![vec![job(1, "a.ann")], vec![job(2, "b.bob")]]);
        let knobs = NegotiatorKnobs::read(&Config::default()).unwrap();
        let opening = Opening {
            log: None,
            in_order: true,
            quota: &|_| None,
            knobs: &knobs,
            groups: std::sync::Arc::new(Ungrouped),
            slots: &[],
            jobs: &[],
            settings: &evaluation,
        };
        let mut policy = Policy::Slurm(Box::new(settings(&conf, TWO, &[]))).open(&opening, None);
        let name = |name: &[u8]| Claimant {
            submitter: name.to_vec(),
            idle_jobs: 1,
            last_heard: 0,
            job_prio: None,
            schedd: Some(0),
        };
        let claimants = [name(b"a.ann@x"), name(b"b.bob@x")];
        let deal = PieInput { weight: 1.0, smallest_weight: 1.0, group: None, first_pie: 1 };
        let mut first = |now: i64| {
            policy.charge(
                &[SlotInUse { submitter: b"a.ann@x", account: Account::Submitter, weight: 1.0, suspended: false }],
                now,
            );
            policy.begin(&claimants, &waiting, &deal).next_turn().unwrap().who
        };
        [first(0), first(300)]
    };
    // Nobody has used anything at first: both have 1000, and the lower number goes first.
    assert_eq!(order("FAIR_TREE"), [0, 1]);
    assert_eq!(order("INCR_ONLY"), [0, 0]);
}

struct Endless(Vec<Vec<Job<'static>>>);

impl Waiting for Endless {
    fn jobs(&self, who: usize) -> Vec<(usize, &Job<'_>)> {
        self.0[who].iter().enumerate().map(|(at, job)| (who * 100 + at, job)).collect()
    }
}

/// Users who always want more get, in the long run, what the tree promises them; and one who stops is forgotten by half
/// with each half-life.
#[test]
fn long_run_shares_are_those_of_the_tree() {
    let tree = "Account - 'a':Fairshare=7\nAccount - 'b':Fairshare=3\nParent - 'a'\nUser - 'ann':Fairshare=5\n\
                User - 'abe':Fairshare=2\nParent - 'b'\nUser - 'bob'\n";
    // The classic formulas mix the usage of siblings in, and keep to the shares on one level only.
    let flat = "User - 'ann':Fairshare=5\nUser - 'abe':Fairshare=2\nUser - 'bob':Fairshare=3\n";
    for (flags, dump) in [("FAIR_TREE", tree), ("NO_FAIR_TREE", flat), ("DEPTH_OBLIVIOUS", flat)] {
        let conf = format!("PriorityWeightFairshare=100000\nPriorityDecayHalfLife=1-0\nPriorityFlags={flags}\n");
        let settings = settings(&conf, dump, &[]);
        let evaluation = EvalOptions::default();
        let names = if dump == tree { ["a.ann", "a.abe", "b.bob"] } else { ["root.ann", "root.abe", "root.bob"] };
        let queues = names.iter().enumerate().map(|(who, name)| {
            let job = |at: usize| Job::new(kept(job((who * 100 + at) as i64, name, "")), None, &evaluation).unwrap();
            (0..10).map(job).collect()
        });
        let waiting = Endless(queues.collect());
        let knobs = NegotiatorKnobs::read(&Config::default()).unwrap();
        let opening = Opening {
            log: None,
            in_order: true,
            quota: &|_| None,
            knobs: &knobs,
            groups: std::sync::Arc::new(Ungrouped),
            slots: &[],
            jobs: &[],
            settings: &evaluation,
        };
        let mut policy = Policy::Slurm(Box::new(settings)).open(&opening, None);
        let claimants: Vec<Claimant> = names
            .iter()
            .map(|name| Claimant {
                submitter: format!("{name}@x").into_bytes(),
                idle_jobs: 10,
                last_heard: 0,
                job_prio: None,
                schedd: Some(0),
            })
            .collect();
        let deal = PieInput { weight: 10.0, smallest_weight: 1.0, group: None, first_pie: 1 };
        let mut won = [0u32; 3];
        let mut using: Vec<usize> = Vec::new();
        let (cycles, warm) = (6000, 1000);
        for cycle in 0..cycles {
            // Ten slots, jobs of one period each.
            let names: Vec<Vec<u8>> = using.iter().map(|&who| claimants[who].submitter.clone()).collect();
            let in_use: Vec<SlotInUse<'_>> = names
                .iter()
                .map(|submitter| SlotInUse { submitter, account: Account::Submitter, weight: 1.0, suspended: false })
                .collect();
            policy.charge(&in_use, 300 * cycle);
            let mut turns = policy.begin(&claimants, &waiting, &deal);
            using = (0..10).map(|_| turns.next_turn().unwrap().who).collect();
            for &who in using.iter().filter(|_| cycle >= warm) {
                won[who] += 1;
            }
        }
        let whole: u32 = won.iter().sum();
        for (who, target) in [(0, 0.5), (1, 0.2), (2, 0.3)] {
            let share = f64::from(won[who]) / f64::from(whole);
            assert!((share - target).abs() < 0.02 * target, "{flags}: {} has {share} of {target}", names[who]);
        }
    }
}

/// The causes for which each job of a pool is idle.
fn causes(conf: &str, slots: Vec<ClassAd>, jobs: Vec<ClassAd>) -> (Snapshot, Vec<Vec<String>>) {
    let settings = settings(conf, TWO, &[]);
    let mut slots = slots;
    enlist(&mut slots, settings.conf(), &EvalOptions::default());
    let policy = Policy::Slurm(Box::new(settings));
    let snapshot = Snapshot { slots, jobs, policy, now: 1000, ..Snapshot::default() };
    let ids = snapshot.jobs.iter().map(|ad| Job::new(ad, None, &snapshot.settings()).unwrap().id);
    let texts = |id| {
        let found = explain_job(&snapshot, id).unwrap().unwrap();
        found.causes.into_iter().map(|cause| cause.text).collect()
    };
    let found = ids.map(texts).collect();
    (snapshot, found)
}

#[test]
fn a_job_that_may_not_run_yet_is_idle_for_that_alone() {
    // It is second 1000; second 1600 is 26 minutes and 40 seconds after the beginning.
    let never = "SlurmBeginTime = 9223372036854775807";
    let jobs = vec![
        job(1, "a.ann", "PartitionName = \"p\"; SlurmBeginTime = 1600"),
        job(2, "a.ann", "PartitionName = \"p\"; SlurmPriority = 0; SlurmReason = \"JobHeldUser\""),
        job(3, "a.ann", &format!("PartitionName = \"p\"; SlurmReason = \"Dependency\"; {never}")),
        job(4, "b.bob", &format!("PartitionName = \"p\"; {never}")),
        job(5, "a.ann", "PartitionName = \"p\"; SlurmBeginTime = 1000"),
    ];
    let (snapshot, found) = causes("PartitionName=p Nodes=m[0-1]\nPartitionName=q Nodes=m[2-3]", slots(4, ""), jobs);
    assert_eq!(
        found.concat(),
        [
            "the job may not begin before 1970-01-01 00:26:40 UTC",
            "the job is held: its priority is 0 (listed reason: JobHeldUser)",
            "the job waits for a dependency (listed reason: Dependency)",
            "the job has no begin time, as one that waits for a dependency",
            "the job matched s0 in spin 1 of pie 1",
        ]
    );
    let (outcome, queue) = ran(&snapshot).unwrap();
    assert_eq!(outcome.submitters.iter().map(|line| line.stopped).collect::<Vec<_>>(), [Stopped::HeldBack; 2]);
    let found = survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    let labels = found.causes.iter().map(|cause| (cause.jobs, cause.reason, cause.label.as_str()));
    assert_eq!(
        labels.collect::<Vec<_>>(),
        [
            (1, Reason::HeldBack, "the job may not begin yet"),
            (1, Reason::HeldBack, "the job is held: its priority is 0"),
            (1, Reason::HeldBack, "the job waits for a dependency"),
            (1, Reason::HeldBack, "the job has no begin time, as one that waits for a dependency"),
        ]
    );
}

#[test]
fn a_partition_is_a_cause_if_slots_outside_it_would_match() {
    let conf = "PartitionName=p Nodes=m0\nPartitionName=q Nodes=m1";
    let jobs = || (1..=2).map(|n| job(n, "a.ann", "PartitionName = \"p\"")).collect();
    // The slot of the partition is taken; the other one would match.
    let (_, found) = causes(conf, slots(2, ""), jobs());
    assert_eq!(
        found[1],
        [
            "a.ann@x got the only matching slot: same priority (1), and job 1.0 has the lower job ID",
            "partition `p` of the job has 1 of 2 slots, 1 of which match",
        ]
    );
    let (_, found) = causes(conf, slots(2, "Requirements = Machine == \"m0\""), jobs());
    assert_eq!(found[1].len(), 1, "{found:?}");
}
