//! Several cycles one after another, each figure from a calculation beside it.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use classmate::internal::ad::ClassAd;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate_config::internal::config::slurm::{SlurmAssociations, SlurmConf};
use classmate_config::internal::config::{Config, TextFiles};
use classmate_pool::internal::accountant::Journal;
use classmate_pool::internal::negotiate::{Snapshot, commit};
use classmate_pool::internal::priority::Policy;
use classmate_pool::internal::priority::dirac::DiracChoice;
use classmate_pool::internal::priority::slurm::{Options, SlurmFiles, SlurmSettings};
use classmate_pool::internal::simulate::replay::{CycleReport, ReplayPlan, replay};

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(format!("[{text}]").as_bytes()).unwrap()
}

fn slot(name: &str, more: &str) -> ClassAd {
    ad(&format!(
        "Name = \"{name}@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Memory = 1024; Disk = 100000; \
         SlotWeight = Cpus; Rank = 0; Requirements = true; {more}"
    ))
}

fn jobs(user: &str, cluster: u32, count: u32, more: &str) -> Vec<ClassAd> {
    let job = |process| {
        ad(&format!(
            "ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; User = \"{user}@x\"; RequestCpus = 1; \
             RequestMemory = 100; Requirements = TARGET.Memory >= RequestMemory && TARGET.Cpus >= RequestCpus; {more}"
        ))
    };
    (0..count).map(job).collect()
}

fn pool(config: &str, slots: Vec<ClassAd>, jobs: &[Vec<ClassAd>]) -> Snapshot {
    let config = Config::parse("config", config.as_bytes()).unwrap();
    Snapshot { config, slots, jobs: jobs.concat(), now: 1_000_000, ..Snapshot::default() }
}

fn plan(cycles: u32, interval: i64, run_time: &str) -> ReplayPlan {
    let run_time = parse_expr(run_time.as_bytes(), &ParseOptions::default()).unwrap();
    ReplayPlan { cycles, interval, run_time: Some(run_time), refill: false }
}

fn played(snapshot: Snapshot, plan: &ReplayPlan) -> Vec<CycleReport> {
    let mut cycles = Vec::new();
    replay(snapshot, plan, |_, _| Ok(None), |cycle| cycles.push(cycle)).unwrap();
    cycles
}

/// Ended, started, displaced, running and idle of every cycle.
fn counts(cycles: &[CycleReport]) -> Vec<[usize; 5]> {
    cycles.iter().map(|c| [c.ended, c.started, c.displaced, c.running, c.idle]).collect()
}

#[test]
fn usage_builds_up_from_cycle_to_cycle_under_a_tree_of_shares() {
    let (conf, _) = SlurmConf::read("c", b"PriorityWeightFairshare=1000", &TextFiles::default());
    let dump = b"Cluster - 'c'\nParent - 'root'\nAccount - 'g'\nParent - 'g'\nUser - 'a'\nUser - 'b'\n";
    let associations = SlurmAssociations::read("d", dump).0;
    let files = SlurmFiles { conf, associations, usage: Vec::new(), qos: Vec::new(), options: Options::default() };
    let own = "AcctGroup = \"g\"; AcctGroupUser";
    let jobs = [jobs("a", 1, 3, &format!("{own} = \"a\"")), jobs("b", 2, 3, &format!("{own} = \"b\""))];
    let policy = Policy::Slurm(Box::new(SlurmSettings::new(files).unwrap()));
    let snapshot = Snapshot { policy, ..pool("", vec![slot("s", "")], &jobs) };
    let cycles = played(snapshot, &plan(6, 300, "300"));
    let matched: Vec<&str> = cycles.iter().map(|cycle| cycle.outcome.matches[0].submitter.as_str()).collect();
    // One slot, jobs as long as a cycle: the older job first, then whoever has used less.
    assert_eq!(matched, ["a@x", "b@x", "a@x", "b@x", "a@x", "b@x"]);
}

#[test]
fn lots_of_another_cycle_are_other_lots() {
    let snapshot = Snapshot {
        policy: Policy::Dirac(DiracChoice::default()),
        ..pool("", vec![slot("s", "")], &[jobs("a", 1, 40, ""), jobs("b", 2, 40, "")])
    };
    let cycles = played(snapshot, &plan(40, 60, "60"));
    let a = cycles.iter().filter(|cycle| cycle.outcome.matches[0].submitter == "a@x").count();
    assert!((8..=32).contains(&a), "{a} of 40 draws between equals");
}

#[test]
fn jobs_run_for_their_time_and_make_room() {
    let snapshot = pool("", vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 3, "RunTime = 100")]);
    let cycles = played(snapshot, &plan(5, 60, "RunTime"));
    // At 0 two start, for 100 s; at 60 nothing ends; at 120 both have, and the third starts; it ends at 220.
    assert_eq!(counts(&cycles), [[0, 2, 0, 2, 1], [0, 0, 0, 2, 1], [2, 1, 0, 1, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]]);
    assert_eq!(cycles.iter().map(|c| c.now - 1_000_000).collect::<Vec<_>>(), [0, 60, 120, 180, 240]);
}

#[test]
fn demand_stays_as_it_is_if_jobs_that_end_are_replaced() {
    let snapshot = pool("", vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 3, "RunTime = 100")]);
    let cycles = played(snapshot, &ReplayPlan { refill: true, ..plan(5, 60, "RunTime") });
    // As above, but at 120 and 240 two of three idle jobs start.
    assert_eq!(counts(&cycles), [[0, 2, 0, 2, 1], [0, 0, 0, 2, 1], [2, 2, 0, 2, 1], [0, 0, 0, 2, 1], [2, 2, 0, 2, 1]]);
}

#[test]
fn priorities_move_with_what_is_in_use() {
    let snapshot = pool("PRIORITY_HALFLIFE = 60", vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 3, "")]);
    let cycles = played(snapshot, &plan(3, 60, "undefined"));
    // Real priority 0.5 at first; each minute, which is a half-life, p := p / 2 + 2 slots / 2; times the factor 1000.
    let priorities: Vec<f64> = cycles.iter().map(|c| c.submitters[0].priority.unwrap()).collect();
    assert_eq!(priorities, [500.0, 1250.0, 1625.0]);
    assert_eq!((cycles[2].submitters[0].weight, cycles[2].submitters[0].share), (2.0, 1.0));
}

#[test]
fn what_a_match_leaves_of_a_partitionable_slot_is_packed_with_jobs_of_the_cluster() {
    let machine = || vec![slot("slot1", "PartitionableSlot = true; Cpus = 4")];
    let queue = [jobs("u", 1, 6, ""), jobs("u", 2, 1, "")];
    // Four of the six fit at once; when they end at 50, the other two start, and the job of cluster 2 in the cycle
    // after: a partitionable slot is matched once in a cycle.
    let cycles = played(pool("", machine(), &queue), &plan(3, 60, "50"));
    assert_eq!(counts(&cycles), [[0, 4, 0, 4, 3], [4, 2, 0, 2, 1], [2, 1, 0, 1, 0]]);
    let alone = played(pool("CLAIM_PARTITIONABLE_LEFTOVERS = False", machine(), &queue), &plan(3, 60, "150"));
    assert_eq!(counts(&alone), [[0, 1, 0, 1, 6], [0, 1, 0, 2, 5], [0, 1, 0, 3, 4]]);
}

#[test]
fn who_is_displaced_waits_again() {
    let slots = vec![slot("a", "Rank = TARGET.Urgent =?= true ? 1 : 0")];
    let queue = [jobs("u", 1, 1, ""), jobs("v", 2, 1, "Urgent = true; JobUniverse = 5")];
    let mut snapshot = pool("NEGOTIATOR_CONSIDER_PREEMPTION = True", slots, &queue);
    // The urgent job is not there in the first cycle.
    let urgent = snapshot.jobs.pop().unwrap();
    let mut held = urgent.clone();
    held.insert("JobStatus", 5);
    snapshot.jobs.push(held);
    let first = played(snapshot.clone(), &plan(1, 60, "undefined"));
    assert_eq!(counts(&first), [[0, 1, 0, 1, 0]]);
    let Some(job) = snapshot.jobs.first_mut() else { panic!("no job") };
    job.insert("JobStatus", 2);
    snapshot.jobs[1] = urgent;
    for (name, value) in [("State", "Claimed"), ("Activity", "Busy"), ("RemoteUser", "u@x"), ("JobId", "1.0")] {
        snapshot.slots[0].insert(name, value);
    }
    snapshot.slots[0].insert("CurrentRank", 0.0);
    snapshot.slots[0].insert("EnteredCurrentState", snapshot.now - 60);
    let cycles = played(snapshot, &plan(3, 60, "ClusterId == 2 ? 90 : undefined"));
    // 2.0 takes the slot from 1.0, has run at 120, and 1.0 starts again.
    assert_eq!(counts(&cycles), [[0, 1, 1, 1, 1], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0]]);
}

#[test]
fn books_in_memory_and_on_disk_are_alike() {
    let snapshot = || pool("PRIORITY_HALFLIFE = 600", vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 5, "")]);
    let in_memory = played(snapshot(), &plan(4, 60, "90"));
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("Accountantnew.log"), 0).unwrap();
    let mut on_disk = Vec::new();
    let book = |snapshot: &Snapshot, outcome: &_| {
        commit(snapshot, outcome, &mut journal)?;
        Ok(Some(journal.log().clone()))
    };
    replay(snapshot(), &plan(4, 60, "90"), book, |cycle| on_disk.push(cycle)).unwrap();
    let text = |cycles: &[CycleReport]| serde_json::to_string(cycles).unwrap();
    assert_eq!(text(&in_memory), text(&on_disk));
}

#[test]
fn equal_users_come_to_equal_shares() {
    // Nine of ten slots are one's at first; jobs last an hour, priorities forget half in an hour.
    let slots: Vec<ClassAd> = (0..10).map(|n| slot(&format!("s{n}"), "")).collect();
    let mut snapshot = pool("PRIORITY_HALFLIFE = 3600", slots, &[jobs("early", 1, 500, ""), jobs("late", 2, 500, "")]);
    for slot in &mut snapshot.slots[..9] {
        for (name, value) in [("State", "Claimed"), ("Activity", "Busy"), ("RemoteUser", "early@x")] {
            slot.insert(name, value);
        }
        slot.insert("EnteredCurrentState", snapshot.now);
    }
    // Over the last two of three days, a share at a time is a whole number of slots; together they are equal.
    let cycles = played(snapshot, &plan(72, 3600, "3600"));
    let mean = |who: usize| cycles[24..].iter().map(|c| c.submitters[who].share).sum::<f64>() / 48.0;
    assert!((mean(0) - 0.5).abs() < 0.02 && (mean(1) - 0.5).abs() < 0.02, "{} {}", mean(0), mean(1));
}

#[test]
fn a_concurrency_limit_holds_as_long_as_the_job_runs() {
    let slots = vec![slot("a", ""), slot("b", "")];
    let cycles =
        played(pool("LIC_LIMIT = 1", slots, &[jobs("u", 1, 2, "ConcurrencyLimits = \"lic\"")]), &plan(3, 60, "90"));
    // The first has run at 120, and only then the second starts.
    assert_eq!(counts(&cycles), [[0, 1, 0, 1, 1], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0]]);
}

#[test]
fn an_offline_slot_is_woken_and_its_job_waits() {
    let cycles = played(pool("", vec![slot("a", "Offline = true")], &[jobs("u", 1, 1, "")]), &plan(2, 60, "90"));
    assert_eq!(counts(&cycles), [[0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]);
    assert!(cycles.iter().all(|cycle| cycle.outcome.matches[0].offline));
}

#[test]
fn room_is_made_for_a_large_job_and_the_small_ones_wait_again() {
    let slots = vec![slot("p", "Cpus = 4; Memory = 4096; PartitionableSlot = true; Rank = TARGET.RequestCpus")];
    let small = jobs("u", 1, 4, "");
    // The large job comes in the second cycle.
    let large = jobs("v", 2, 1, "RequestCpus = 3; RequestMemory = 3000; QDate = 0");
    let config = "ALLOW_PSLOT_PREEMPTION = true\nNEGOTIATOR_JOB_CONSTRAINT = RequestCpus == 1 || time() >= 1000060";
    let cycles = played(pool(config, slots, &[small, large]), &plan(2, 60, "undefined"));
    // Four small ones run; three of them make room, and the fourth keeps its slot.
    assert_eq!(counts(&cycles)[0], [0, 4, 0, 4, 1]);
    assert_eq!(counts(&cycles)[1], [0, 1, 3, 2, 3]);
    assert_eq!(cycles[1].outcome.matches[0].released.len(), 3);
}

/// The ad of a slot that wants another look counts until a newer one is let in.
#[test]
fn an_ad_that_is_kept_hides_what_became_of_its_slot() {
    let matched_in_the_second_cycle = |config: &str| {
        let slots = vec![slot("a", "WantAdRevaluate = true; UpdateSequenceNumber = 1")];
        let queue = [jobs("u", 1, 1, ""), jobs("u", 2, 1, "")];
        // The job of cluster 2 comes in the second cycle.
        let config = format!("NEGOTIATOR_JOB_CONSTRAINT = ClusterId == 1 || time() >= 1000060\n{config}");
        let cycles = played(pool(&config, slots, &queue), &plan(2, 60, "undefined"));
        (cycles[1].outcome.matches.len(), cycles[1].running)
    };
    assert_eq!(matched_in_the_second_cycle(""), (0, 1));
    // Its old ad is that of a free slot; the machine knows better, and the job does not start.
    assert_eq!(matched_in_the_second_cycle("STARTD_AD_REEVAL_EXPR = false"), (1, 1));
    // Where slots in use are not looked at, their ads come without WantAdRevaluate.
    let without = "STARTD_AD_REEVAL_EXPR = false\nNEGOTIATOR_CONSIDER_PREEMPTION = false";
    assert_eq!(matched_in_the_second_cycle(without), (0, 1));
}

#[test]
fn a_remainder_goes_to_the_group_that_waited_longest() {
    let config = "NEGOTIATOR_USE_SLOT_WEIGHTS = false\nGROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.5\n\
        GROUP_QUOTA_DYNAMIC_b = 0.5\nGROUP_ACCEPT_SURPLUS = true";
    let slots = ["1", "2", "3"].map(|name| slot(name, "")).to_vec();
    let queue = [jobs("u", 1, 20, "AccountingGroup = \"a.u\""), jobs("v", 2, 20, "AccountingGroup = \"b.v\"")];
    let cycles = played(pool(config, slots, &queue), &plan(4, 60, "60"));
    let of = |cycle: &CycleReport, group: &str| {
        cycle.outcome.matches.iter().filter(|one| one.submitter.starts_with(group)).count()
    };
    // One slot and a half for each. The half slots make a whole one: to `a` at first, then to who won it, or had no demand,
    // longer ago.
    assert_eq!(
        cycles.iter().map(|cycle| [of(cycle, "a."), of(cycle, "b.")]).collect::<Vec<_>>(),
        [[2, 1], [1, 2], [2, 1], [1, 2]]
    );
}
