//! Small cycles, each about one rule of the negotiator. One file, because all use the same small pools.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;

use classmate::internal::ad::ClassAd;
use classmate::internal::builtin::user_map::{UserMap, UserMaps};
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::outcome::{Match, Rejection};
use classmate_pool::internal::negotiate::{Outcome, Snapshot, negotiate};
use proptest::prelude::*;

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(format!("[{text}]").as_bytes()).unwrap()
}

/// An idle slot of one core.
fn slot(name: &str, more: &str) -> ClassAd {
    ad(&format!(
        "Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 1; Memory = 1000; Rank = 0; Requirements = true; {more}"
    ))
}

/// `count` idle jobs of a cluster that fit every slot.
fn jobs(user: &str, cluster: u32, count: u32, more: &str) -> Vec<ClassAd> {
    let job = |process| {
        ad(&format!(
            "ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; User = \"{user}@x\"; RequestCpus = 1; \
             RequestMemory = 100; Requirements = true; GlobalJobId = \"schedd@x#{cluster}.{process}#1\"; {more}"
        ))
    };
    (0..count).map(job).collect()
}

fn run(config: &str, slots: Vec<ClassAd>, jobs: &[Vec<ClassAd>]) -> Outcome {
    let config = Config::parse("config", config.as_bytes()).unwrap();
    negotiate(&Snapshot { config, slots, jobs: jobs.concat(), ..Snapshot::default() }).unwrap()
}

/// Job and slot of every match.
fn pairs(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome.matches.iter().map(|m| (&*m.job.to_string().leak(), m.slot.as_str())).collect()
}

#[test]
fn ties_go_to_the_slot_that_comes_first() {
    let outcome = run("", vec![slot("b", ""), slot("a", ""), slot("c", "")], &[jobs("u", 1, 2, "")]);
    assert_eq!(pairs(&outcome), [("1.0", "b"), ("1.1", "a")]);
    assert_eq!(outcome.statistics.largest_tie, 3);
}

#[test]
fn the_order_of_jobs_is_kept_when_like_jobs_are_apart() {
    // Like jobs 1.x and 3.0 are apart because of the priority of 2.0.
    let queue =
        vec![jobs("u", 1, 1, "JobPrio = 9"), jobs("u", 2, 1, "JobPrio = 5; RequestMemory = 200"), jobs("u", 3, 1, "")];
    let outcome = run("", vec![slot("a", ""), slot("b", ""), slot("c", "")], &queue);
    assert_eq!(pairs(&outcome), [("1.0", "a"), ("2.0", "b"), ("3.0", "c")]);
}

#[test]
fn an_autocluster_without_a_match_is_not_offered_again_in_the_turn() {
    let big = "RequestMemory = 5000; Requirements = TARGET.Memory >= RequestMemory";
    let queue = vec![
        jobs("u", 1, 2, &format!("JobPrio = 9; {big}")),
        jobs("u", 2, 1, "JobPrio = 5"),
        jobs("u", 3, 2, &format!("JobPrio = 1; {big}")),
    ];
    let outcome = run("", vec![slot("a", ""), slot("b", "")], &queue);
    assert_eq!(pairs(&outcome), [("2.0", "a")]);
    assert_eq!(outcome.rejections.len(), 1);
    let refused = &outcome.rejections[0];
    assert_eq!((refused.job.to_string(), refused.jobs, refused.rejection), ("1.0".to_owned(), 2, Rejection::NoMatch));
    assert_eq!((refused.slots.considered, refused.slots.refused_by_job), (2, 2));
}

#[test]
fn a_slot_too_heavy_for_the_rest_of_a_share_is_a_limit() {
    let slots = vec![slot("a", "SlotWeight = 3"), slot("b", "SlotWeight = 3"), slot("c", "SlotWeight = 3")];
    let outcome = run("", slots, &[jobs("u", 1, 3, ""), jobs("v", 2, 3, "")]);
    // 9 to deal, 4.5 each: one slot each; 1.5 is less than a slot in the second spin.
    assert_eq!(outcome.matches.len(), 2);
    assert_eq!(outcome.rejections[0].rejection, Rejection::SubmitterLimit);
    assert_eq!(outcome.rejections[0].slots.over_limit, 2);
    assert_eq!(outcome.statistics.submitters_share_limit, ["u@x", "v@x"]);
}

#[test]
fn a_claimed_partitionable_slot_is_for_its_access_point() {
    let claimed = |schedd: &str| {
        slot(schedd, &format!("State = \"Claimed\"; PartitionableSlot = true; RemoteScheddName = \"{schedd}\""))
    };
    let config = "NEGOTIATOR_CONSIDER_PREEMPTION = false";
    let outcome = run(config, vec![claimed("other@x"), claimed("schedd@x")], &[jobs("u", 1, 3, "")]);
    assert_eq!(pairs(&outcome), [("1.0", "schedd@x")]);
    assert_eq!(outcome.rejections[0].slots.unreachable, 1);
}

#[test]
fn slots_in_use_are_charged_but_not_matched() {
    let busy = slot("a", "State = \"Claimed\"; RemoteUser = \"v@x\"; CurrentRank = 0");
    let outcome = run("", vec![busy, slot("b", "")], &[jobs("u", 1, 2, ""), jobs("v", 2, 2, "")]);
    assert_eq!(pairs(&outcome), [("1.0", "b")]);
    let v = outcome.negotiations.iter().find(|n| n.submitter == "v@x").unwrap();
    assert_eq!(v.limit, 0.0);
}

#[test]
fn protocols_must_meet() {
    let six = slot("a", "MyAddress = \"<[fd00::1]:9618>\"");
    let four = slot("b", "MyAddress = \"<10.0.0.1:9618>\"");
    let submitter = ad(
        "Name = \"u@x\"; ScheddName = \"schedd@x\"; ScheddIpAddr = \"<10.0.0.9:9618>\"; IdleJobs = 2; RunningJobs = 0",
    );
    let snapshot = Snapshot {
        slots: vec![six, four],
        jobs: jobs("u", 1, 2, ""),
        submitters: Some(vec![submitter]),
        ..Snapshot::default()
    };
    let outcome = negotiate(&snapshot).unwrap();
    assert_eq!(pairs(&outcome), [("1.0", "b")]);
    assert_eq!(outcome.rejections[0].slots.unreachable, 1);
}

#[test]
fn only_advertised_submitters_are_served() {
    let submitter = ad("Name = \"u@x\"; ScheddName = \"schedd@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 2");
    let snapshot = Snapshot {
        slots: vec![slot("a", ""), slot("b", "")],
        jobs: [jobs("v", 1, 2, ""), jobs("u", 2, 1, "")].concat(),
        submitters: Some(vec![submitter]),
        ..Snapshot::default()
    };
    assert_eq!(pairs(&negotiate(&snapshot).unwrap()), [("2.0", "a")]);
}

#[test]
fn depth_first_packs_a_slot() {
    let big = || slot("p", "Cpus = 4; Memory = 300; PartitionableSlot = true");
    let config = "NEGOTIATOR_DEPTH_FIRST = true";
    // Memory is enough for 3 jobs of 100: one match, two jobs ride along.
    let outcome = run(config, vec![big(), slot("b", "")], &[jobs("u", 1, 4, "")]);
    assert_eq!(pairs(&outcome), [("1.0", "b"), ("1.1", "p")]);
    let outcome = run(config, vec![big()], &[jobs("u", 1, 3, "")]);
    assert_eq!((pairs(&outcome), outcome.rejections.len()), (vec![("1.0", "p")], 0));
}

#[test]
fn a_slot_with_a_consumption_policy_serves_many_jobs() {
    let policy = "Cpus = 4; SlotWeight = Cpus; PartitionableSlot = true; MachineResources = \"Cpus Memory\"; \
                  ConsumptionCpus = TARGET.RequestCpus; ConsumptionMemory = TARGET.RequestMemory";
    let outcome = run("", vec![slot("p", policy)], &[jobs("u", 1, 3, ""), jobs("v", 2, 3, "RequestCpus = 2")]);
    // 4 to deal, 2 each. u: two of weight 1; v: one of weight 2.
    let taken: Vec<_> = outcome.matches.iter().map(|m| (m.cluster, m.weight)).collect();
    assert_eq!(taken.iter().filter(|(cluster, weight)| (*cluster, *weight) == (1, 1.0)).count(), 2);
    assert_eq!(taken.iter().filter(|(cluster, weight)| (*cluster, *weight) == (2, 2.0)).count(), 1);
    assert_eq!(taken.len(), 3);
}

#[test]
fn what_a_consumption_policy_takes_does_not_count_for_the_access_point() {
    // The first job of a request gets its match unseen. The second match is for a job that requests 1 core, which the slot
    // does not accept: it is used for the job that requests 3, as the negotiator rejected that one for 4.5. The third is lost.
    let policy = "Cpus = 8; SlotWeight = Cpus; PartitionableSlot = true; MachineResources = \"Cpus Memory\"; \
                  ConsumptionCpus = TARGET.RequestCpus * 1.5; ConsumptionMemory = 1; \
                  Requirements = TARGET.RequestCpus == 3 || TARGET.RequestCpus == 1.5";
    let requests = [jobs("u", 1, 1, "RequestCpus = 3; JobPrio = 5"), jobs("u", 2, 3, "RequestCpus = 1")];
    let outcome = run("", vec![slot("p", policy)], &requests);
    let used: Vec<_> = outcome.matches.iter().map(|m| (m.job.to_string(), m.unused)).collect();
    let expected = [("2.0", false), ("1.0", false), ("2.0", true)];
    assert_eq!(used[..3], expected.map(|(job, unused)| (job.to_owned(), unused)));
}

#[test]
fn a_slot_that_wants_another_look_is_matched_again_after_the_others() {
    let outcome = run(
        "",
        // The slot in use makes the pie large enough for three.
        vec![
            slot("a", "WantAdRevaluate = true; Requirements = TARGET.RequestMemory > 0"),
            slot("b", ""),
            slot("c", "State = \"Claimed\"; RemoteUser = \"v@x\""),
        ],
        &[jobs("u", 1, 1, ""), jobs("u", 2, 1, "RequestMemory = 200"), jobs("u", 3, 1, "RequestMemory = 300")],
    );
    assert_eq!(pairs(&outcome), [("1.0", "a"), ("2.0", "b"), ("3.0", "a")]);
}

#[test]
fn a_slot_is_matched_as_often_as_it_has_claims() {
    let matches = |claims: &str| {
        let slots = vec![slot("a", &format!("WantAdRevaluate = true; {claims}")), slot("b", ""), slot("c", "")];
        run("", slots, &[jobs("u", 1, 3, "")]).matches.iter().filter(|m| m.slot == "a").count()
    };
    assert_eq!([matches("ClaimId = \"x\""), matches("ClaimIdList = \"\"")], [1, 0]);
    let without = vec![slot("a", "ClaimIdList = \"\""), slot("b", "")];
    assert_eq!(pairs(&run("", without, &[jobs("u", 1, 2, "")])), [("1.0", "b")]);
}

#[test]
fn a_job_constraint_holds_back_what_does_not_satisfy_it() {
    let config = "NEGOTIATOR_JOB_CONSTRAINT = RequestMemory < 150";
    let outcome =
        run(config, vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 1, "RequestMemory = 200"), jobs("u", 2, 1, "")]);
    assert_eq!(pairs(&outcome), [("2.0", "a")]);
}

#[test]
fn macros_may_be_copied_into_slots() {
    let config =
        "NEGOTIATOR_MATCH_EXPRS = Open, NegotiatorMatchExprLimit\nOpen = Memory > 500\nNegotiatorMatchExprLimit = 7";
    let wants = "Requirements = TARGET.NegotiatorMatchExprOpen && TARGET.NegotiatorMatchExprLimit == 7";
    let outcome = run(config, vec![slot("a", "Memory = 100"), slot("b", "")], &[jobs("u", 1, 2, wants)]);
    assert_eq!(pairs(&outcome), [("1.0", "b")]);
}

#[test]
fn the_request_shows_how_its_submitter_stands() {
    // The slot accepts those who use less than 2.
    let modest =
        |name| slot(name, "Requirements = TARGET.SubmitterUserResourcesInUse < 2 && TARGET.SubmitterUserPrio == 500");
    let outcome = run(
        "NEGOTIATOR_MATCHLIST_CACHING = false",
        vec![modest("a"), modest("b"), modest("c")],
        &[jobs("u", 1, 3, "")],
    );
    // The access point does not know how the submitter stands: the match for the second job is lost.
    assert_eq!(pairs(&outcome), [("1.0", "a"), ("1.0", "b")]);
    assert_eq!(outcome.matches.iter().map(|m| m.unused).collect::<Vec<_>>(), [false, true]);
}

/// A slot of a random pool: memory, weight, site.
fn random_slots() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    prop::collection::vec((1u32..5, 1u32..4, 0u32..3), 0..25)
}

/// A cluster of a random queue: user, priority, memory, how many.
fn random_jobs() -> impl Strategy<Value = Vec<(u32, u32, u32, u32)>> {
    prop::collection::vec((0u32..4, 0u32..3, 1u32..5, 1u32..6), 0..10)
}

fn random_pool(slots: &[(u32, u32, u32)], clusters: &[(u32, u32, u32, u32)], config: &str) -> Outcome {
    let (slots, jobs) = random_ads(slots, clusters);
    run(config, slots, &[jobs])
}

/// Slots, each with a number of its own, and jobs.
fn random_ads(slots: &[(u32, u32, u32)], clusters: &[(u32, u32, u32, u32)]) -> (Vec<ClassAd>, Vec<ClassAd>) {
    let slots = slots.iter().enumerate().map(|(at, (memory, weight, site))| {
        let more = format!(
            "Number = {at}; Memory = {memory}; SlotWeight = {weight}; Site = {site}; \
             Requirements = TARGET.RequestMemory <= MY.Memory"
        );
        slot(&format!("slot{at}"), &more)
    });
    let clusters = clusters.iter().enumerate().map(|(at, (user, priority, memory, count))| {
        let more = format!("JobPrio = {priority}; RequestMemory = {memory}; Rank = TARGET.Site == {user}");
        jobs(&format!("u{user}"), at as u32 + 1, *count, &more)
    });
    (slots.collect(), clusters.flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeping_candidates_changes_nothing(slots in random_slots(), clusters in random_jobs()) {
        let kept = random_pool(&slots, &clusters, "");
        let fresh = random_pool(&slots, &clusters, "NEGOTIATOR_MATCHLIST_CACHING = false");
        prop_assert_eq!(kept.matches, fresh.matches);
        prop_assert_eq!(kept.pies, fresh.pies);
    }

    /// Only ties depend on the order of the input: here no two slots are equal to a job.
    #[test]
    fn the_order_of_slots_and_jobs_changes_nothing(
        slots in random_slots(),
        clusters in random_jobs(),
        turns in any::<(prop::sample::Index, prop::sample::Index)>(),
        reversed in any::<bool>(),
    ) {
        let pool = random_ads(&slots, &clusters);
        let config = Config::parse("config", b"NEGOTIATOR_POST_JOB_RANK = MY.Number").unwrap();
        let as_given = Snapshot { config, slots: pool.0, jobs: pool.1, ..Snapshot::default() };
        let mut turned = as_given.clone();
        let (by_slot, by_job) = turns;
        for (ads, by) in [(&mut turned.slots, by_slot), (&mut turned.jobs, by_job)] {
            if !ads.is_empty() {
                let by = by.index(ads.len());
                ads.rotate_left(by);
            }
            if reversed {
                ads.reverse();
            }
        }
        let (found, turned) = (negotiate(&as_given).unwrap(), negotiate(&turned).unwrap());
        prop_assert_eq!(found.matches, turned.matches);
        prop_assert_eq!(found.rejections, turned.rejections);
    }

    #[test]
    fn nothing_is_matched_twice(slots in random_slots(), clusters in random_jobs()) {
        let outcome = random_pool(&slots, &clusters, "");
        let names: BTreeSet<_> = outcome.matches.iter().map(|m| &m.slot).collect();
        let numbers: BTreeSet<_> = outcome.matches.iter().map(|m| &m.job).collect();
        prop_assert_eq!((names.len(), numbers.len()), (outcome.matches.len(), outcome.matches.len()));
    }

    #[test]
    fn the_only_submitter_gets_every_slot_that_fits(slots in random_slots(), clusters in random_jobs()) {
        let clusters: Vec<_> = clusters.iter().map(|&(_, priority, memory, count)| (0, priority, memory, count)).collect();
        let outcome = random_pool(&slots, &clusters, "");
        let taken: BTreeSet<_> = outcome.matches.iter().map(|m| m.slot.clone()).collect();
        let largest_left =
            slots.iter().enumerate().filter(|(at, _)| !taken.contains(&format!("slot{at}"))).map(|(_, slot)| slot.0).max();
        for (at, &(_, _, memory, count)) in clusters.iter().enumerate() {
            let matched = outcome.matches.iter().filter(|m| m.job.cluster == at as i64 + 1).count();
            prop_assert!(matched == count as usize || largest_left < Some(memory));
        }
    }
}

#[test]
fn numbers_at_the_edge_do_not_overflow() {
    // Without submitter ads, the demand of each submitter is summed from its jobs.
    let heavy = "RequestCpus = 9223372036854775807";
    let outcome = run("", vec![slot("a", "")], &[jobs("u", 1, 3, heavy)]);
    assert_eq!((outcome.submitters[0].idle, outcome.matches.len()), (3, 1));
    let mut snapshot = Snapshot { slots: vec![slot("a", "")], ..Snapshot::default() };
    let submitter =
        |name| format!("Name = \"{name}@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<1>\"; IdleJobs = {}", i64::MAX);
    snapshot.submitters = Some(vec![ad(&submitter("u")), ad(&submitter("v"))]);
    assert_eq!(negotiate(&snapshot).unwrap().statistics.idle_jobs, i64::MAX);
}

#[test]
fn what_is_left_out_is_said() {
    let daemon = ad("MyType = \"DaemonMaster\"; Name = \"m\"");
    let nameless = ad("MyType = \"Machine\"; Cpus = 1");
    let outcome = run("", vec![slot("a", ""), daemon, nameless], &[jobs("u", 1, 1, "")]);
    assert_eq!(outcome.statistics.total_slots, 1);
    let said = outcome.quirks.join("\n");
    for part in ["skipped 1 ad of another type than slots", "skipped 1 slot without a name"] {
        assert!(said.contains(part), "{said}");
    }
    // A queue whose submitters are not advertised.
    let snapshot = Snapshot {
        slots: vec![slot("a", "")],
        jobs: jobs("u", 1, 2, ""),
        submitters: Some(Vec::new()),
        ..Snapshot::default()
    };
    let outcome = negotiate(&snapshot).unwrap();
    assert_eq!(outcome.quirks, ["did not consider 2 idle jobs of submitters that are not advertised"]);
}

#[test]
fn a_submitter_stops_for_the_reason_that_is_true() {
    use classmate_pool::internal::negotiate::summary::Stopped;
    let stopped = |outcome: &Outcome| outcome.submitters[0].stopped;
    assert_eq!(stopped(&run("", Vec::new(), &[jobs("u", 1, 1, "")])), Stopped::NoSlotsLeft);
    assert_eq!(stopped(&run("", vec![slot("a", "")], &[jobs("u", 1, 1, "")])), Stopped::AllMatched);
    let picky = jobs("u", 1, 1, "Requirements = TARGET.Memory > 5000");
    assert_eq!(stopped(&run("", vec![slot("a", "")], &[picky])), Stopped::NoSlotMatches);
    // Two submitters, two slots: one each is a fair share, and neither gets what the other has.
    let outcome = run("", vec![slot("a", ""), slot("b", "")], &[jobs("u", 1, 5, ""), jobs("v", 2, 5, "")]);
    assert_eq!(outcome.submitters.iter().map(|line| line.stopped).collect::<Vec<_>>(), [Stopped::ShareUsed; 2]);
    let submitter = ad("Name = \"w@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<1>\"; IdleJobs = 3");
    let snapshot = Snapshot { slots: vec![slot("a", "")], submitters: Some(vec![submitter]), ..Snapshot::default() };
    assert_eq!(stopped(&negotiate(&snapshot).unwrap()), Stopped::NoJobsInQueue);
}

#[test]
fn values_that_double_without_end_are_refused() {
    let links: String = (0..40).map(|at| format!("A{at} = $(A{next})$(A{next})\n", next = at + 1)).collect();
    let config =
        Config::parse("config", format!("{links}A40 = $(NOPE)\nPRIORITY_HALFLIFE = $(A0:5)\n").as_bytes()).unwrap();
    let error = negotiate(&Snapshot { config, ..Snapshot::default() }).unwrap_err();
    assert!(error.message.contains("more than 1000000 references"), "{}", error.message);
}

/// Two equal users and three slots: each is due 1.5.
#[test]
fn global_job_priorities_order_jobs_of_equal_users() {
    let slots = || vec![slot("a", ""), slot("b", ""), slot("c", "")];
    let queue = [jobs("u", 1, 1, "JobPrio = 10"), jobs("u", 2, 1, "JobPrio = 5"), jobs("v", 3, 2, "JobPrio = 7")];
    // One slot each; the halves that are left are less than a slot.
    let apart = run("", slots(), &queue);
    let mut made: Vec<String> = apart.matches.iter().map(|made| made.job.to_string()).collect();
    made.sort_unstable();
    assert_eq!(made, ["1.0", "3.0"]);
    // u asks for 10, v for 7, u again for 5: the first slot of a turn may be larger than what is due.
    let together = run("USE_GLOBAL_JOB_PRIOS = True", slots(), &queue);
    let made: Vec<String> = together.matches.iter().map(|made| made.job.to_string()).collect();
    assert_eq!(made, ["1.0", "3.0", "2.0"]);
    let line = |name: &str| together.submitters.iter().find(|line| line.submitter == name).unwrap();
    assert_eq!((line("u@x").idle, line("u@x").matched, line("v@x").idle), (2, 2, 2));
}

/// Neighbours in the order that are the same submitter at the same access point are served in one turn.
#[test]
fn claims_for_several_priorities_are_one_where_nobody_stands_between() {
    let queue = [jobs("u", 2, 1, "JobPrio = 5"), jobs("u", 1, 1, "JobPrio = 10"), jobs("u", 3, 1, "JobPrio = -1")];
    let outcome = run("USE_GLOBAL_JOB_PRIOS = True", vec![slot("a", ""), slot("b", ""), slot("c", "")], &queue);
    let made: Vec<String> = outcome.matches.iter().map(|made| made.job.to_string()).collect();
    assert_eq!((made, outcome.negotiations.len()), (["1.0", "2.0", "3.0"].map(str::to_owned).to_vec(), 1));
    // An access point lists the priorities; without a list all its jobs are one.
    let advertised = |array: &str| Snapshot {
        config: Config::parse("config", b"USE_GLOBAL_JOB_PRIOS = True").unwrap(),
        slots: vec![slot("a", ""), slot("b", "")],
        jobs: [jobs("u", 1, 1, "JobPrio = 1"), jobs("u", 2, 1, "JobPrio = 9")].concat(),
        submitters: Some(vec![ad(&format!(
            "Name = \"u@x\"; ScheddName = \"schedd@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 2; {array}"
        ))]),
        ..Snapshot::default()
    };
    for array in ["", "JobPrioArray = \"9, 1\"", "JobPrioArray = \"1,9\""] {
        let outcome = negotiate(&advertised(array)).unwrap();
        let made: Vec<String> = outcome.matches.iter().map(|made| made.job.to_string()).collect();
        assert_eq!(made, ["2.0", "1.0"], "{array}");
    }
}

#[test]
fn a_user_map_puts_submitters_into_groups() {
    let text = "GROUP_NAMES = physics\nGROUP_QUOTA_physics = 1";
    let mut maps = UserMaps::default();
    maps.insert(b"group_prefix", UserMap::parse(b"* x physics"));
    let snapshot = Snapshot {
        config: Config::parse("config", text.as_bytes()).unwrap(),
        slots: vec![slot("a", ""), slot("b", "")],
        jobs: jobs("u", 1, 3, ""),
        maps: Arc::new(maps),
        ..Snapshot::default()
    };
    let outcome = negotiate(&snapshot).unwrap();
    let made: Vec<_> = outcome.matches.iter().map(|m| (m.submitter.as_str(), m.group.as_deref())).collect();
    assert_eq!(made, [("physics.u@x", Some("physics"))]);
    // A snapshot that was written down has its maps.
    let again: Snapshot = serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
    assert_eq!(negotiate(&again).unwrap(), outcome);
}

/// A slot that runs a job of `user`.
fn busy(name: &str, user: &str, more: &str) -> ClassAd {
    let claim = format!(
        "State = \"Claimed\"; Activity = \"Busy\"; RemoteUser = \"{user}@x\"; RemoteOwner = \"{user}@x\"; CurrentRank = 0; {more}"
    );
    slot(name, &claim)
}

#[test]
fn requirements_see_what_is_in_use_at_each_moment() {
    // v uses three slots; u may take them while it uses fewer than v. What v loses still counts in the cycle.
    let config = "PREEMPTION_REQUIREMENTS = RemoteUserResourcesInUse > TARGET.SubmitterUserResourcesInUse + 1 && \
                  ResourcesInUseByUser(\"v@x\") == 3";
    let slots = vec![busy("a", "v", ""), busy("b", "v", ""), busy("c", "v", "")];
    let uncached = format!("{config}\nNEGOTIATOR_MATCHLIST_CACHING = false\nNEGOTIATOR_IGNORE_USER_PRIORITIES = true");
    let outcome = run(&uncached, slots.clone(), &[jobs("u", 1, 3, "")]);
    assert_eq!(pairs(&outcome), [("1.0", "a"), ("1.1", "b")]);
    assert_eq!(outcome.rejections[0].rejection, Rejection::PreemptionRequirements);
    assert_eq!(outcome.rejections[0].slots.preemption_not_required, 1);
    // Candidates found once are kept, unless the configuration says that the answer may change.
    let cached = format!("{config}\nNEGOTIATOR_IGNORE_USER_PRIORITIES = true");
    assert_eq!(run(&cached, slots.clone(), &[jobs("u", 1, 3, "")]).matches.len(), 3);
    let unstable = format!("{cached}\nPREEMPTION_REQUIREMENTS_STABLE = false");
    assert_eq!(run(&unstable, slots, &[jobs("u", 1, 3, "")]).matches.len(), 2);
}

#[test]
fn a_displaced_user_is_named_and_the_tier_is_told() {
    let slots = vec![busy("a", "v", ""), busy("b", "v", "Rank = TARGET.RequestMemory")];
    let outcome = run("PREEMPTION_REQUIREMENTS = true", slots, &[jobs("u", 1, 2, "")]);
    let told: Vec<_> =
        outcome.matches.iter().map(|m| (m.slot.as_str(), m.preempting, m.displaced.as_deref())).collect();
    // The default first rank is 10,000,000 × Rank of the machine: b goes first.
    assert_eq!(told, [("b", PreemptState::Rank, Some("v@x")), ("a", PreemptState::Priority, Some("v@x"))]);
}

#[test]
fn a_retiring_slot_is_left_alone() {
    let slots = vec![busy("a", "v", "RetirementTimeRemaining = 60")];
    let config = "PREEMPTION_REQUIREMENTS = true";
    assert_eq!(run(config, slots.clone(), &[jobs("u", 1, 1, "")]).matches.len(), 0);
    let early = format!("{config}\nNEGOTIATOR_CONSIDER_EARLY_PREEMPTION = true");
    assert_eq!(run(&early, slots, &[jobs("u", 1, 1, "")]).matches.len(), 1);
}

#[test]
fn a_concurrency_limit_may_depend_on_the_slot() {
    let limits = "ConcurrencyLimits = strcat(\"SWX:2 \", TARGET.Network)";
    let slots = vec![slot("a", "Network = \"n1\""), slot("b", "Network = \"n1\""), slot("c", "Network = \"n2\"")];
    let config = "N1_LIMIT = 1\nSWX_LIMIT = 5";
    let outcome = run(config, slots.clone(), &[jobs("u", 1, 3, limits)]);
    assert_eq!(pairs(&outcome), [("1.0", "a"), ("1.1", "c")]);
    // No candidate is left for the third job. B was passed over for the second, but the reason is that of the search.
    assert_eq!(outcome.rejections[0].reason, "no match found");
    assert_eq!(outcome.rejections[0].slots.over_concurrency_limit, 1);
    // Looked at anew, b is refused because the third job wants two more of SWX, of which four of five are held.
    let outcome = run(&format!("{config}\nNEGOTIATOR_MATCHLIST_CACHING = false"), slots, &[jobs("u", 1, 3, limits)]);
    assert_eq!(outcome.rejections[0].reason, "concurrency limit swx reached");
}

#[test]
fn what_slots_in_use_hold_counts_against_a_limit() {
    let holder = busy("a", "v", "ConcurrencyLimits = \"Lic:2\"; PreemptingConcurrencyLimits = \"lic\"");
    let outcome = run(
        "LIC_LIMIT = 4",
        vec![holder, slot("b", ""), slot("c", "")],
        &[jobs("u", 1, 2, "ConcurrencyLimits = \"LIC\"")],
    );
    assert_eq!(pairs(&outcome), [("1.0", "b")]);
    assert_eq!(outcome.rejections[0].rejection, Rejection::ConcurrencyLimit);
    assert_eq!(outcome.rejections[0].reason, "concurrency limit lic reached");
}

#[test]
fn ranks_that_ignore_jobs_order_the_slots_once() {
    let slots = || vec![slot("a", "Memory = 2000"), slot("b", "Memory = 1000"), slot("c", "Memory = 500")];
    let wants = jobs("u", 1, 1, "Rank = TARGET.Memory");
    let config = "NEGOTIATOR_PRE_JOB_RANK = 0";
    assert_eq!(pairs(&run(config, slots(), std::slice::from_ref(&wants))), [("1.0", "a")]);
    let ignoring = "NEGOTIATOR_IGNORE_JOB_RANKS = true\nNEGOTIATOR_PRE_JOB_RANK = -Memory";
    assert_eq!(pairs(&run(ignoring, slots(), &[wants])), [("1.0", "c")]);
}

/// A partitionable slot with one core left, and the two dynamic slots of 2 cores carved from it, both of `v`.
fn carved(more: &str) -> Vec<ClassAd> {
    let parent = format!(
        "PartitionableSlot = true; NumDynamicSlots = 2; ChildName = {{\"d1\", \"d2\"}}; ChildCpus = {{2, 2}}; \
         ChildMemory = {{100, 100}}; ChildDisk = {{0, 0}}; ChildCurrentRank = {{0.0, 0.0}}; \
         ChildState = {{\"Claimed\", \"Claimed\"}}; {more}"
    );
    let dynamic = "Cpus = 2; DynamicSlot = true; PslotRollupInformation = true";
    vec![slot("p", &parent), busy("d1", "v", dynamic), busy("d2", "v", dynamic)]
}

/// Slot, tier, dynamic slots given up, and weight of every match for jobs that want this many cores.
fn with_room(config: &str, slots: Vec<ClassAd>, cores: u32) -> Vec<(String, PreemptState, Vec<String>, f64)> {
    let config = format!("PREEMPTION_REQUIREMENTS = true\n{config}");
    let wanting = format!("RequestCpus = {cores}; Requirements = TARGET.Cpus >= RequestCpus");
    let outcome = run(&config, slots, &[jobs("u", 1, 1, &wanting)]);
    let told = |made: &Match| (made.slot.clone(), made.preempting, made.released.clone(), made.weight);
    outcome.matches.iter().map(told).collect()
}

/// `docs/reference/negotiation.md` 10.10, 10.3.2.
#[test]
fn dynamic_slots_are_given_up_so_that_a_job_fits() {
    let one = |name: &str, tier, released: &[&str], weight| {
        vec![(name.to_owned(), tier, released.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), weight)]
    };
    let allowed = "ALLOW_PSLOT_PREEMPTION = true";
    // 1 core is left, each dynamic slot has 2 more; what is charged is the slot with room made in it.
    assert_eq!(with_room(allowed, carved(""), 3), one("p", PreemptState::Priority, &["d1"], 3.0));
    assert_eq!(with_room(allowed, carved(""), 5), one("p", PreemptState::Priority, &["d1", "d2"], 5.0));
    assert_eq!(with_room(allowed, carved(""), 6), []);
    assert_eq!(with_room(allowed, carved(""), 1), one("p", PreemptState::None, &[], 1.0));
    // Without it a dynamic slot is one like others, and nothing has three cores.
    assert_eq!(with_room("", carved(""), 3), []);
    assert_eq!(with_room("", carved(""), 2), one("d1", PreemptState::Priority, &[], 2.0));
    // With it they are reached through the slot they were carved from.
    assert_eq!(with_room(allowed, carved(""), 2), one("p", PreemptState::Priority, &["d1"], 3.0));
    let without = format!("{allowed}\nNEGOTIATOR_CONSIDER_PREEMPTION = false");
    assert_eq!(with_room(&without, carved(""), 3), []);
}

#[test]
fn making_room_for_a_job_the_slot_prefers_needs_no_requirements() {
    let config = "ALLOW_PSLOT_PREEMPTION = true\nPREEMPTION_REQUIREMENTS = false";
    let liking = carved("Rank = TARGET.RequestCpus");
    let made = with_room(config, liking, 3);
    assert_eq!(made, [("p".to_owned(), PreemptState::Rank, vec!["d1".to_owned()], 3.0)]);
    assert_eq!(with_room(config, carved(""), 3), []);
}

/// Two slots like `carved`, p and q: either could have room made. A request takes one; the dynamic slot that the other would
/// have given up is not to be had by another request in this cycle, for its claim is gone; another one is.
#[test]
fn dynamic_slots_that_could_have_been_given_up_are_gone_for_the_cycle() {
    let twice = || {
        let mut slots = carved("");
        for ad in carved("ChildName = {\"e1\", \"e2\"}") {
            let mut ad = ad.clone();
            let name = ad.get("Name").unwrap().to_string().replace('"', "").replace('p', "q").replace('d', "e");
            ad.insert("Name", name.as_str());
            slots.push(ad);
        }
        slots
    };
    let config = "ALLOW_PSLOT_PREEMPTION = true\nPREEMPTION_REQUIREMENTS = true";
    let wanting = |cores: u32| format!("RequestCpus = {cores}; Requirements = TARGET.Cpus >= RequestCpus");
    let released = |first: u32, second: u32| {
        let queue = [jobs("u", 1, 1, &wanting(first)), jobs("u", 2, 1, &format!("{}; Rank = 5", wanting(second)))];
        let outcome = run(config, twice(), &queue);
        outcome.matches.iter().map(|made| made.released.join(" ")).collect::<Vec<_>>()
    };
    // Room for 3 takes one dynamic slot of either; the second request has the other one of the slot that is left.
    assert_eq!(released(3, 3), ["d1", "e2"]);
    // Room for 5 takes both: nothing is left to give up.
    assert_eq!(released(5, 3), ["d1 d2"]);
    // Jobs of one request are served from one look at the slots.
    let outcome = run(config, twice(), &[jobs("u", 1, 2, &wanting(3))]);
    assert_eq!(outcome.matches.iter().map(|made| made.released.join(" ")).collect::<Vec<_>>(), ["d1", "e1"]);
}

#[test]
fn who_is_displaced_for_room_is_called_as_in_the_reference() {
    let config = "ALLOW_PSLOT_PREEMPTION = true\nPREEMPTION_REQUIREMENTS = true";
    let outcome = run(config, carved(""), &[jobs("u", 1, 1, "Requirements = TARGET.Cpus >= 3")]);
    assert_eq!(outcome.matches[0].displaced.as_deref(), Some("various_dSlot_users"));
}

/// Jobs and their counts of every rejection, for jobs without a match of which those of a cluster are alike.
fn refused(config: &str) -> Vec<(String, usize)> {
    let no = |cluster, prio, memory| {
        jobs(
            "u",
            cluster,
            2,
            &format!(
                "JobPrio = {prio}; RequestMemory = {memory}; Requirements = TARGET.Memory < 0 && RequestMemory > 0"
            ),
        )
    };
    let outcome = run(config, vec![slot("a", "")], &[no(1, 9, 1), no(2, 5, 2), no(3, 1, 1)]);
    outcome.rejections.iter().map(|refused| (refused.job.to_string(), refused.jobs)).collect()
}

/// `docs/reference/negotiation.md` 8.2: asked for one job at a time, an access point offers all jobs of a cluster only if it is
/// told to; of a list the negotiator itself skips those like one that was refused.
#[test]
fn jobs_like_one_that_was_refused_are_skipped_unless_all_in_a_cluster_are_wanted() {
    let told =
        |refused: &[(&str, usize)]| refused.iter().map(|(job, jobs)| ((*job).to_owned(), *jobs)).collect::<Vec<_>>();
    let singly = "USE_RESOURCE_REQUEST_COUNTS = false";
    assert_eq!(refused(""), told(&[("1.0", 2), ("2.0", 2)]));
    assert_eq!(refused(singly), told(&[("1.0", 2), ("2.0", 2)]));
    assert_eq!(refused("NEGOTIATE_ALL_JOBS_IN_CLUSTER = True"), told(&[("1.0", 1), ("2.0", 1)]));
    let all = ["1.0", "1.1", "2.0", "2.1", "3.0", "3.1"].map(|job| (job, 1));
    assert_eq!(refused(&format!("{singly}\nNEGOTIATE_ALL_JOBS_IN_CLUSTER = T")), told(&all));
}

#[test]
fn a_job_that_is_too_large_for_a_slot_that_accepts_it_is_matched_once() {
    let config = "NEGOTIATOR_DEPTH_FIRST = true\nNEGOTIATOR_IGNORE_USER_PRIORITIES = true";
    let slots = vec![slot("a", "Cpus = 0; WantAdRevaluate = true"), slot("b", "Cpus = 0")];
    let outcome = run(config, slots, &[jobs("u", 1, 2, "RequestCpus = 2")]);
    let made: BTreeSet<_> = outcome.matches.iter().map(|m| m.job).collect();
    assert_eq!((made.len(), outcome.matches.len()), (2, 2));
}

/// `docs/reference/negotiation.md` 7.4: it counts in the shares of the first pass, and is gone when its turn comes.
#[test]
fn an_advertised_submitter_without_an_access_point_has_a_share_but_is_not_served() {
    let nowhere = ad("Name = \"u@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 9");
    let somewhere = ad("Name = \"v@x\"; ScheddName = \"schedd@x\"; ScheddIpAddr = \"<1>\"; IdleJobs = 9");
    let snapshot = Snapshot {
        slots: ["a", "b", "c", "d"].map(|name| slot(name, "")).to_vec(),
        jobs: [jobs("u", 1, 9, ""), jobs("v", 2, 9, "")].concat(),
        submitters: Some(vec![nowhere, somewhere]),
        ..Snapshot::default()
    };
    let outcome = negotiate(&snapshot).unwrap();
    let made: Vec<_> = outcome.matches.iter().map(|m| (m.submitter.as_str(), m.spin)).collect();
    assert_eq!(made, [("v@x", 1), ("v@x", 1), ("v@x", 2), ("v@x", 2)]);
    assert!(outcome.negotiations.iter().all(|visit| visit.submitter == "v@x"));
}

#[test]
fn an_offline_slot_is_matched_last_and_told() {
    let slots = vec![slot("a", "SlotID = 1; Offline = true"), slot("b", "SlotID = 1")];
    let outcome = run("", slots, &[jobs("u", 1, 2, "")]);
    let made: Vec<_> = outcome.matches.iter().map(|m| (m.slot.as_str(), m.offline)).collect();
    assert_eq!(made, [("b", false), ("a", true)]);
    let json = serde_json::to_value(&outcome.matches).unwrap();
    assert_eq!((json[0].get("offline"), json[1]["offline"].as_bool()), (None, Some(true)));
}

/// `docs/reference/negotiation.md` 13: of a slot that is handed out but not claimed yet, only the books know which limits it
/// holds.
#[test]
fn a_slot_handed_out_holds_the_limits_the_books_have() {
    let matched = slot("m", "State = \"Matched\"; StartdIpAddr = \"<1>\"; Requirements = false");
    let log = |limits: &str| {
        let text = format!(
            "101 Resource.m@<1> * *\n103 Resource.m@<1> RemoteUser \"v@x\"\n\
             103 Resource.m@<1> MatchedConcurrencyLimits \"{limits}\"\n"
        );
        Some(AccountantLog::read(text.as_bytes()).unwrap())
    };
    let snapshot = |limits: &str| Snapshot {
        config: Config::parse("config", b"LIC_LIMIT = 2").unwrap(),
        slots: vec![matched.clone(), slot("a", ""), slot("b", "")],
        jobs: jobs("u", 1, 2, "ConcurrencyLimits = \"lic\""),
        log: log(limits),
        ..Snapshot::default()
    };
    assert_eq!(pairs(&negotiate(&snapshot("LIC")).unwrap()), [("1.0", "a")]);
    assert_eq!(pairs(&negotiate(&snapshot("other")).unwrap()), [("1.0", "a"), ("1.1", "b")]);
}
