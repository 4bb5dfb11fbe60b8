//! Changes by themselves: jobs that start in what a match leaves, and slots that open at a time. And amounts as they are written.

use super::*;

/// A partitionable slot with 8 cores and 8192 MB.
const WHOLE: &str = "[Name = \"slot1@m\"; MyType = \"Machine\"; State = \"Unclaimed\"; PartitionableSlot = true; Cpus = 8; Memory = 8192; \
    SlotWeight = Cpus; Requirements = TARGET.RequestCpus <= Cpus && TARGET.RequestMemory <= Memory]";

/// The causes of the second of four jobs, of which the first gets the slot.
fn causes_of_second(slot: &str, request: &str, config: &str) -> Vec<String> {
    let job = |process: usize| {
        ad(&format!(
            "[ClusterId = 1; ProcId = {process}; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; RequestMemory = 1000; \
             RequestCpus = 1; {request}; Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory && (MY.IsPicky isnt true || \
             countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs)]"
        ))
    };
    let config = Config::parse("c", format!("UID_DOMAIN = x\n{config}").as_bytes()).unwrap();
    let snapshot = Snapshot { slots: vec![ad(slot)], jobs: (0..4).map(job).collect(), config, ..Snapshot::default() };
    explained_in_cycle(&snapshot, "1.1").causes.into_iter().map(|cause| cause.text).collect()
}

/// `Scheduler::claimedStartd` hands what a claim leaves of a partitionable slot to `FindRunnableJob` for the same submitter, which takes
/// no job with concurrency limits, as those of the match are removed from the ad.
///
/// The first job takes 1 core and 1024 MB (1000, in units of 128): 7 cores and 7168 MB are left for the three others. Of jobs of 3 cores,
/// 5 cores are left for one; of jobs of 5 cores, 3 for none.
#[test]
fn jobs_of_the_same_submitter_start_in_what_a_match_leaves() {
    let leftovers = |request: &str, config: &str| {
        let found = causes_of_second(WHOLE, request, config);
        assert_eq!(found[0], "a@x got the only matching slot: other jobs of the same submitter");
        found.get(1).cloned()
    };
    let room = |jobs: &str| {
        Some(format!(
            "slot1@m, which a@x got, has room for {jobs} like this one: right after the cycle, the access point may start jobs of this \
             submitter there"
        ))
    };
    assert_eq!(leftovers("JobPrio = 0", ""), room("3 more jobs"));
    assert_eq!(leftovers("RequestCpus = 3", ""), room("1 more job"));
    assert_eq!(leftovers("RequestCpus = 5", ""), None);
    assert_eq!(leftovers("RequestMemory = 4000", ""), room("1 more job"));
    assert_eq!(leftovers("JobPrio = 0", "CLAIM_PARTITIONABLE_LEFTOVERS = false"), None);
    assert_eq!(leftovers("ConcurrencyLimits = \"db\"", "DB_LIMIT = 10"), None);
    let whole = WHOLE.replace("PartitionableSlot = true; ", "");
    assert_eq!(causes_of_second(&whole, "JobPrio = 0", "").len(), 1);
}

/// GPUs that a match takes are some of those in `AvailableGPUs`: which ones is not known.
#[test]
fn nothing_is_said_about_gpus_that_may_be_taken() {
    let slot = WHOLE.replace(
        "Cpus = 8;",
        "MachineResources = \"Cpus Memory GPUs\"; GPUs = 2; AvailableGPUs = { GPUs_a, GPUs_b }; GPUs_a = [ Capability = 7.0 ]; \
         GPUs_b = [ Capability = 8.0 ]; Cpus = 8;",
    );
    let any = causes_of_second(&slot, "RequestGPUs = 1", "");
    assert!(any[1].starts_with("slot1@m, which a@x got, has room for 1 more job like this one"), "{any:?}");
    let some = causes_of_second(&slot, "RequestGPUs = 1; IsPicky = true; RequireGPUs = Capability > 7.5", "");
    assert_eq!(some, ["a@x got the only matching slot: other jobs of the same submitter"]);
}

/// 1200 minutes are 20 hours; day 5 is Friday.
#[test]
fn slots_that_open_at_a_time_say_when() {
    let job = "[ClusterId = 1; RequestMemory = 2048; Requirements = true]";
    let slot = |requirements: &str| {
        format!(
            "[Name = \"s\"; Machine = \"s\"; ClockMin = 700; ClockDay = 5; Memory = 4096; Requirements = {requirements}]"
        )
    };
    let cause = |requirements: &str| causes(job, &[&slot(requirements)]).remove(0);
    let night = cause("ClockMin >= 1200 || ClockMin < 420");
    assert!(
        night.ends_with(
            "so `ClockMin >= 1200 || ClockMin < 420` is not true; it becomes true at 20:00 of the slots' clock"
        ),
        "{night}"
    );
    let weekend = cause("ClockDay == 0 || ClockDay == 6");
    assert!(weekend.ends_with("; it becomes true on Saturday at 00:00 of the slots' clock"), "{weekend}");
    let computed = cause("ClockMin > 22 * 60 && ClockDay == 5");
    assert!(computed.ends_with("; it becomes true at 22:01 of the slots' clock"), "{computed}");
    let never = cause("ClockMin > 1500");
    assert!(!never.contains("becomes true"), "{never}");
    let told = proposed(job, &[&slot("ClockMin >= 1200 || ClockMin < 420")]);
    assert!(told.iter().all(|one| !one.contains("ClockMin >= 700")), "{told:?}");
}

/// 64 GB are 64 · 1024 MB.
#[test]
fn a_limit_that_looks_like_gigabytes_is_named() {
    let job = "[ClusterId = 1; RequestMemory = 2048; Requirements = true]";
    let slot =
        "[Name = \"s\"; Machine = \"s\"; Memory = 4096; Start = TARGET.RequestMemory <= 64; Requirements = Start]";
    assert_eq!(
        causes(job, &[slot]),
        [
            "1 of 1 slot rejects the job: `Start` requires `TARGET.RequestMemory <= 64` (RequestMemory of the job is 2048 MB); RequestMemory is \
             in MB: 64 GB is 65536 MB"
        ]
    );
}

/// 400000000 / 1048576 is 381.4.
#[test]
fn of_a_product_the_amount_changes_and_not_the_unit() {
    let of = |condition: &str| {
        proposed_of_four(
            &format!("[ClusterId = 1; Requirements = {condition}]"),
            "Disk = 400000000; Requirements = true",
        )
    };
    let told = of("TARGET.Disk >= 500 * 1024 * 1024");
    assert!(told[0].contains("with `TARGET.Disk >= 381 * 1024 * 1024`"), "{told:?}");
    let told = of("TARGET.Disk >= 1024 * 1024 * 500");
    assert!(told[0].contains("with `TARGET.Disk >= 1024 * 1024 * 381`"), "{told:?}");
    // Less than a unit is no amount.
    let told = of("TARGET.Disk >= 1024 * (1024 * 1024)");
    assert!(told.iter().all(|one| !one.contains(" 0 ")), "{told:?}");
}

#[test]
fn a_pattern_that_fails_by_case_is_searched_in_any_case() {
    let job = "[ClusterId = 1; Requirements = regexp(\"^S[0-2]$\", TARGET.Machine)]";
    let told = proposed_of_four(job, "Memory = 1; Requirements = true");
    assert_eq!(
        told[0],
        "in requirements, replace `regexp(\"^S[0-2]$\",TARGET.Machine)` with `regexp(\"^S[0-2]$\",TARGET.Machine,\"i\")`: 3 of 4 slots match"
    );
}

#[test]
fn held_jobs_of_a_user_without_idle_ones_are_counted() {
    let job = |process: usize| {
        ad(&format!(
            "[ClusterId = 1; ProcId = {process}; JobStatus = 5; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; Requirements = true]"
        ))
    };
    let snapshot =
        Snapshot { slots: vec![unclaimed("s", "true")], jobs: (0..3).map(job).collect(), ..Snapshot::default() };
    let (outcome, queue) = reasons::ran(&snapshot).unwrap();
    let found = reasons::survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    let mut out = Vec::new();
    classmate_cli::report::explain::write_survey(&mut out, &found, &ShownParts::default()).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "0 idle jobs; 3 held\n");
}

/// The text of the survey of all idle jobs.
fn surveyed(snapshot: &Snapshot) -> String {
    let (outcome, queue) = reasons::ran(snapshot).unwrap();
    let found = reasons::survey(snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    let mut out = Vec::new();
    classmate_cli::report::explain::write_survey(&mut out, &found, &ShownParts::default()).unwrap();
    String::from_utf8(out).unwrap()
}

/// `START_LOCAL_UNIVERSE` decides on a job in the local universe (12), not the cycle.
#[test]
fn jobs_that_are_not_matched_are_counted_by_their_universe() {
    let job = |universe: i64, process: usize| {
        ad(&format!(
            "[ClusterId = 1; ProcId = {process}; JobStatus = 1; JobUniverse = {universe}; Owner = \"a\"; User = \"a@x\"; Requirements = true]"
        ))
    };
    let jobs = vec![job(12, 0), job(7, 1), job(12, 2)];
    assert_eq!(
        surveyed(&Snapshot { jobs, ..Snapshot::default() }),
        "0 idle jobs: 0 matched, 0 not matched\n\
         2 more jobs are in the local universe, without a slot: START_LOCAL_UNIVERSE of the access point decides (such as job 1.0)\n\
         1 more job is in the scheduler universe, without a slot: START_SCHEDULER_UNIVERSE of the access point decides (such as job 1.1)\n"
    );
}

/// Twelve groups without a quota for which each has as many jobs as its number: 12, 11, 10 and the nine others.
#[test]
fn causes_that_differ_in_the_group_alone_are_one_if_there_are_many() {
    let names: Vec<String> = (1..=12).map(|at| format!("g{at}")).collect();
    let quotas: String = names.iter().map(|name| format!("GROUP_QUOTA_{name} = 0\n")).collect();
    let config = format!("UID_DOMAIN = x\nGROUP_ACCEPT_SURPLUS = false\nGROUP_NAMES = {}\n{quotas}", names.join(", "));
    let job = |(group, process): (usize, usize)| {
        ad(&format!(
            "[ClusterId = {group}; ProcId = {process}; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; RequestCpus = 1; \
             AcctGroup = \"g{group}\"; AccountingGroup = \"g{group}.a\"; Requirements = true]"
        ))
    };
    let jobs: Vec<ClassAd> =
        (1..=12).flat_map(|group| (0..group).map(move |process| (group, process))).map(job).collect();
    let slot = ad(
        "[Name = \"s\"; MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 1; SlotWeight = 1; Requirements = true]",
    );
    let config = Config::parse("c", config.as_bytes()).unwrap();
    let found = surveyed(&Snapshot { slots: vec![slot], jobs, config, ..Snapshot::default() });
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], "78 idle jobs: 0 matched, 78 not matched");
    assert_eq!(
        lines[1..],
        [
            "78 jobs: their group has no allocation: g12 (12), g11 (11), g10 (10), 9 other groups (such as job 12.0)",
            "more: --details, --job ID"
        ]
    );
}
