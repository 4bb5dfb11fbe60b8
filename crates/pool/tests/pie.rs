//! Small pies: what counts in them, who stays in them, and who is told to have been limited.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use classmate::internal::ad::ClassAd;
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::commit::charged;
use classmate_pool::internal::negotiate::{CycleOptions, Matcher, Outcome, PreparedPool, Snapshot, negotiate};
use classmate_pool::internal::queue::cluster::Siblings;

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(format!("[{text}]").as_bytes()).unwrap()
}

fn slot(name: &str, more: &str) -> ClassAd {
    ad(&format!(
        "MyType = \"Machine\"; Name = \"{name}\"; StartdIpAddr = \"<{name}>\"; Memory = 1000; Rank = 0; CurrentRank = 0; \
         Requirements = true; SlotWeight = Cpus; {more}"
    ))
}

fn idle(name: &str, more: &str) -> ClassAd {
    slot(name, &format!("State = \"Unclaimed\"; {more}"))
}

fn claimed(name: &str, user: &str, more: &str) -> ClassAd {
    slot(name, &format!("State = \"Claimed\"; RemoteUser = \"{user}@x\"; AccountingGroup = \"{user}@x\"; {more}"))
}

fn jobs(user: &str, cluster: u32, count: u32, more: &str) -> Vec<ClassAd> {
    let job = |process| {
        ad(&format!(
            "ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; User = \"{user}@x\"; RequestCpus = 1; \
             RequestMemory = 1; Requirements = true; GlobalJobId = \"schedd@x#{cluster}.{process}#1\"; {more}"
        ))
    };
    (0..count).map(job).collect()
}

fn submitter(user: &str, idle: u32, running: u32) -> ClassAd {
    ad(&format!(
        "Name = \"{user}@x\"; ScheddName = \"schedd@x\"; ScheddIpAddr = \"<127.0.0.1:9>\"; IdleJobs = {idle}; \
         RunningJobs = {running}; LastHeardFrom = 1000"
    ))
}

/// Books in which everybody has the priority 1, and never another.
fn books(users: &[&str]) -> AccountantLog {
    let mut text = "107 1 CreationTimestamp 1\n101 Accountant. * *\n103 Accountant. LastUpdateTime 2000\n".to_owned();
    for user in users {
        let key = format!("Customer.{user}@x");
        text.push_str(&format!("101 {key} * *\n103 {key} Priority 1.0\n103 {key} PriorityFactor 1.0\n"));
    }
    AccountantLog::read(text.as_bytes()).unwrap()
}

fn pool(
    config: &str,
    slots: Vec<ClassAd>,
    jobs: &[Vec<ClassAd>],
    submitters: Vec<ClassAd>,
    users: &[&str],
) -> Snapshot {
    let config = format!("UID_DOMAIN = x\nPRIORITY_HALFLIFE = 1e30\n{config}");
    Snapshot {
        config: Config::parse("config", config.as_bytes()).unwrap(),
        slots,
        jobs: jobs.concat(),
        submitters: Some(submitters),
        log: Some(books(users)),
        now: 2000,
        ..Snapshot::default()
    }
}

fn won(outcome: &Outcome, user: &str) -> f64 {
    outcome.matches.iter().filter(|made| made.submitter == format!("{user}@x")).map(|made| made.weight).sum()
}

/// Six idle slots and six in use by b, all at one site, of which the constraint counts those that say so.
fn at_a_site(preemption: bool) -> Outcome {
    let config =
        format!("NEGOTIATOR_CONSIDER_PREEMPTION = {preemption}\nNEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Site == \"x\"\n");
    let site = "Cpus = 1; Site = \"x\"";
    let mut slots: Vec<ClassAd> = (0..6).map(|at| idle(&format!("m{at}"), site)).collect();
    slots.extend((0..6).map(|at| claimed(&format!("c{at}"), "b", site)));
    let submitters = vec![submitter("a", 9, 0), submitter("b", 9, 6)];
    negotiate(&pool(&config, slots, &[jobs("a", 1, 9, ""), jobs("b", 2, 9, "")], submitters, &["a", "b"])).unwrap()
}

/// `docs/reference/negotiation.md` 4.1: without preemption the negotiator does not get `Site` of the slots in use. The pie is
/// that of the six idle ones: 3 for each, and b has its 6.
#[test]
fn the_pool_is_counted_by_what_is_fetched_of_slots_in_use() {
    let without = at_a_site(false);
    assert_eq!((without.statistics.pool_weight, without.statistics.total_slots), (6.0, 12));
    assert_eq!((won(&without, "a"), won(&without, "b")), (3.0, 0.0));
    // With preemption whole ads are fetched: a pie of 12, 6 for each.
    let with = at_a_site(true);
    assert_eq!(with.statistics.pool_weight, 12.0);
    assert_eq!((won(&with, "a"), won(&with, "b")), (6.0, 0.0));
}

/// `SlotWeight = Cpus` comes with `Cpus`: three slots of 4 in use and six of 1 are a pie of 18. `GhostMultiplier` does not.
#[test]
fn the_weight_of_slots_in_use_is_known_without_preemption() {
    let weight = |preemption: bool| {
        let mut slots: Vec<ClassAd> =
            (0..6).map(|at| idle(&format!("m{at}"), "Cpus = 1; GhostMultiplier = 2")).collect();
        slots.extend((0..3).map(|at| claimed(&format!("c{at}"), "b", "Cpus = 4; GhostMultiplier = 2")));
        let config = format!("NEGOTIATOR_CONSIDER_PREEMPTION = {preemption}");
        let submitters = vec![submitter("a", 9, 0)];
        negotiate(&pool(&config, slots, &[jobs("a", 1, 9, "")], submitters, &["a", "b"]))
            .unwrap()
            .statistics
            .pool_weight
    };
    assert_eq!(weight(true), 2.0 * (6.0 + 12.0));
    assert_eq!(weight(false), 2.0 * 6.0 + 12.0);
}

/// What the constraint leaves out takes no part: its user is not charged for it, in the cycle as in the books.
#[test]
fn slots_that_are_not_fetched_are_not_charged() {
    let slots = vec![claimed("in", "b", "Cpus = 4"), claimed("out", "b", "Cpus = 2; Test = true")];
    let config = "NEGOTIATOR_SLOT_CONSTRAINT = Test =!= true";
    let snapshot = pool(config, slots, &[], vec![submitter("b", 0, 2)], &["b"]);
    let outcome = negotiate(&snapshot).unwrap();
    let books = charged(&snapshot, &outcome).unwrap();
    let record = books.get(b"Customer.b@x").unwrap();
    assert_eq!(record.real("WeightedResourcesUsed"), Some(4.0));
    assert!(books.get(b"Resource.in@<in>").is_some() && books.get(b"Resource.out@<out>").is_none());
}

/// Ten slots of which z, who asks for nothing, uses one; a and b want many, c one.
fn with_one_in_use() -> Outcome {
    let mut slots: Vec<ClassAd> = (0..9).map(|at| idle(&format!("m{at}"), "Cpus = 1")).collect();
    slots.push(claimed("c0", "z", "Cpus = 1"));
    let submitters = vec![submitter("a", 20, 0), submitter("b", 20, 0), submitter("c", 1, 0)];
    let jobs = [jobs("a", 1, 20, ""), jobs("b", 2, 20, ""), jobs("c", 3, 1, "")];
    negotiate(&pool("", slots, &jobs, submitters, &["a", "b", "c", "z"])).unwrap()
}

/// Shares of a third of 10: a and b take 3 each, and their fourth is refused for `PREEMPTION_REQUIREMENTS` by the slot in use
/// and for the limit by the others. The reason that is told is the first; the turn ends with the second
/// (`docs/reference/negotiation.md` 7.5), so both are there in the second spin: halves of 10, of which each has 3, and the
/// first of them takes the two slots that c left.
#[test]
fn who_is_refused_for_the_limit_stays_whatever_the_reason_that_is_told() {
    let outcome = with_one_in_use();
    let mut shares = [won(&outcome, "a"), won(&outcome, "b")];
    shares.sort_by(f64::total_cmp);
    assert_eq!((shares, won(&outcome, "c")), ([3.0, 5.0], 1.0));
    let second = outcome.matches.iter().filter(|made| made.spin == 2).count();
    assert_eq!(second, 2);
    assert!(outcome.rejections.iter().all(|refused| refused.reason == "PREEMPTION_REQUIREMENTS == False"));
}

/// The reference names everybody whose turn ended at a limit: by a refusal, by a share that is used up exactly, or by a
/// rest too small for a slot.
#[test]
fn limited_are_those_refused_for_the_limit_and_those_whose_share_is_used_up() {
    assert_eq!(with_one_in_use().statistics.submitters_share_limit, ["a@x", "b@x"]);
    // Halves of 4: each takes its 2, and nobody is refused.
    let slots = (0..4).map(|at| idle(&format!("m{at}"), "Cpus = 1")).collect();
    let jobs = [jobs("a", 1, 2, ""), jobs("b", 2, 2, "")];
    let config = "NEGOTIATOR_CONSIDER_PREEMPTION = false";
    let submitters = vec![submitter("a", 2, 0), submitter("b", 2, 0)];
    let outcome = negotiate(&pool(config, slots, &jobs, submitters, &["a", "b"])).unwrap();
    assert_eq!((won(&outcome, "a"), won(&outcome, "b"), outcome.rejections.len()), (2.0, 2.0, 0));
    assert_eq!(outcome.statistics.submitters_share_limit, ["a@x", "b@x"]);
    // One who has all it asks for below its share is not limited.
    let slots = (0..4).map(|at| idle(&format!("m{at}"), "Cpus = 1")).collect();
    let outcome =
        negotiate(&pool("", slots, &[self::jobs("a", 1, 2, "")], vec![submitter("a", 2, 0)], &["a"])).unwrap();
    assert_eq!((won(&outcome, "a"), outcome.statistics.submitters_share_limit.len()), (2.0, 0));
}

/// A parent that accepts no surplus with 9, of which dan uses 2, and below it a group with 9 that wants 20. Round 1: 9 due,
/// cut to the 9 − 2 = 7 of the parent. Round 2: 7 granted, 9 due, no group lacks anything of what is granted; the parent has
/// nothing left, so 7 is the end (`docs/reference/group-quotas.md` 6.2, 6.4).
#[test]
fn what_a_group_is_due_in_a_later_round_is_cut_to_the_room_of_its_parent() {
    for oversubscription in [true, false] {
        let config = format!(
            "GROUP_NAMES = gb, gb.u\nGROUP_QUOTA_gb = 9\nGROUP_QUOTA_gb.u = 9\nGROUP_ACCEPT_SURPLUS_gb.u = True\n\
             NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = {oversubscription}"
        );
        let mut slots: Vec<ClassAd> = (0..2).map(|at| claimed(&format!("c{at}"), "gb.dan", "Cpus = 1")).collect();
        slots.extend((0..28).map(|at| idle(&format!("m{at}"), "Cpus = 1")));
        let submitters = vec![submitter("gb.dan", 0, 2), submitter("gb.u.eve", 20, 0)];
        let jobs = [jobs("gb.u.eve", 1, 20, "")];
        let outcome = negotiate(&pool(&config, slots, &jobs, submitters, &["gb.dan", "gb.u.eve"])).unwrap();
        assert_eq!(won(&outcome, "gb.u.eve"), 7.0, "{oversubscription}");
    }
}

/// A cycle of `condor_negotiator` 25.14.1: two partitionable slots of 16 cores, static quotas, and jobs of a group that wants 6. Its first match is
/// charged with 16, so no group lacks anything of what is granted in round 2, where the group uses less than its quota of 20: 0/0, and no further match
/// (`docs/reference/group-quotas.md` 6.2).
#[test]
fn a_group_without_a_limit_that_can_be_computed_matches_nothing_more() {
    let config = "GROUP_NAMES = physics, physics.top, chem\nGROUP_QUOTA_physics = 20\nGROUP_QUOTA_physics.top = 8\n\
                  GROUP_QUOTA_chem = 12\nGROUP_ACCEPT_SURPLUS = True\nGROUP_ACCEPT_SURPLUS_chem = False";
    let slots =
        ["m1", "m2"].map(|name| idle(name, "Cpus = 16; SlotType = \"Partitionable\"; PartitionableSlot = true"));
    let top = jobs("physics.top.carol", 112, 2, "RequestCpus = 4; Requirements = TARGET.Memory > 9999");
    let all = [jobs("physics.dave", 113, 6, ""), top];
    let mut submitters = vec![submitter("physics.dave", 6, 0), submitter("physics.top.carol", 2, 0)];
    submitters[1].insert("WeightedIdleJobs", 8);
    let outcome =
        negotiate(&pool(config, slots.into(), &all, submitters, &["physics.dave", "physics.top.carol"])).unwrap();
    assert_eq!(outcome.matches.len(), 1);
    assert_eq!(outcome.groups.iter().find(|group| group.name == "physics").unwrap().rounds.len(), 2);
}

/// Refusals of a cycle in both ways of looking for slots, which must be the same.
fn reasons(snapshot: &Snapshot) -> Vec<String> {
    let reasons = |matcher| {
        let mut pool = PreparedPool::new(snapshot).unwrap();
        let outcome = pool.negotiate(CycleOptions { matcher, ..CycleOptions::default() }).unwrap().outcome;
        outcome.rejections.into_iter().map(|refused| refused.reason).collect::<Vec<_>>()
    };
    let fast = reasons(Matcher::default());
    assert_eq!(fast, reasons(Matcher::Reference));
    fast
}

/// The names of limits gather as long as requests are refused before a slot is looked at (in the reference's list of them,
/// which is emptied when slots are), alphabetically.
#[test]
fn a_refusal_for_a_concurrency_limit_names_those_of_the_refusals_just_before() {
    let asking = |limit: &str| format!("ConcurrencyLimits = \"{limit}\"");
    let slots = vec![idle("m0", "Cpus = 1"), idle("m1", "Cpus = 1")];
    let config = "B_LIMIT = 0\nA_LIMIT = 0\nC_LIMIT = 0";
    let mut all = jobs("a", 1, 1, &asking("b"));
    all.extend(jobs("a", 2, 1, &asking("A")));
    all.extend(jobs("a", 3, 1, ""));
    all.extend(jobs("a", 4, 1, &asking("c")));
    let snapshot = pool(config, slots, &[all], vec![submitter("a", 4, 0)], &["a"]);
    assert_eq!(
        reasons(&snapshot),
        ["concurrency limit b reached", "concurrency limit a, b reached", "concurrency limit c reached"]
    );
}

/// Whether a submitter whose last request was refused for a concurrency limit stays.
fn stays(heavy: u32) -> Vec<String> {
    let mut slots = vec![idle("m0", "Cpus = 1"), idle("m1", "Cpus = 1"), idle("m2", "Cpus = 1")];
    slots.push(idle("big", &format!("Cpus = {heavy}")));
    let mut own = jobs("a", 1, 1, "");
    own.extend(jobs("a", 2, 1, "Rank = 5"));
    own.extend(jobs("a", 3, 1, "ConcurrencyLimits = \"x\""));
    let submitters = vec![submitter("a", 3, 0)];
    let snapshot = pool("X_LIMIT = 0", slots, &[own], submitters, &["a"]);
    assert_eq!(reasons(&snapshot)[0], "concurrency limit x reached");
    negotiate(&snapshot).unwrap().statistics.submitters_share_limit
}

/// The reference keeps the count of slots that were too heavy until slots are looked at again: with one of 8 in a pie of 11
/// the second request, after 1 is used, could have had it (1 + 8 ≤ 11); with one of 20 in a pie of 23, as well; so the count
/// stays at none, and the submitter is done.
#[test]
fn a_refusal_for_a_concurrency_limit_alone_is_no_limit_of_the_submitter() {
    assert_eq!(stays(8), [""; 0]);
    assert_eq!(stays(20), [""; 0]);
}

/// Two of equal priority, 3 slots of 1 and one of 3: a pie of 6, 3 for each. The first request of a takes a slot of 1; the
/// second is looked for anew, and 1 + 3 > 3 passes the big one over; it takes a slot of 1. The third is refused for its
/// concurrency limit before any slot is looked at, and the count of the second still stands: a stays for a second spin,
/// where its limit is reached again.
#[test]
fn what_was_too_heavy_before_a_concurrency_limit_keeps_a_submitter_in_the_pie() {
    let mut slots = vec![idle("m0", "Cpus = 1"), idle("m1", "Cpus = 1"), idle("m2", "Cpus = 1")];
    slots.push(idle("big", "Cpus = 3"));
    let mut own = jobs("a", 1, 1, "");
    own.extend(jobs("a", 2, 1, "Rank = 5"));
    own.extend(jobs("a", 3, 1, "ConcurrencyLimits = \"x\""));
    let others = jobs("b", 4, 1, "");
    let submitters = vec![submitter("a", 3, 0), submitter("b", 1, 0)];
    let snapshot = pool("X_LIMIT = 0", slots, &[own, others], submitters, &["a", "b"]);
    assert_eq!(negotiate(&snapshot).unwrap().statistics.submitters_share_limit, ["a@x"]);
    assert_eq!(reasons(&snapshot), ["concurrency limit x reached"; 2]);
}

/// The reference reads a limit when a job asks for it, and ends if it is no number. Here the cycle is refused then, and
/// otherwise told with the same words.
#[test]
fn a_concurrency_limit_that_is_no_number_is_told_and_stops_who_asks_for_it() {
    let config = "XSW_LIMIT = bad\nYSW_LIMIT = 1 + 1";
    let slots = || (0..3).map(|at| idle(&format!("m{at}"), "Cpus = 1")).collect::<Vec<_>>();
    let asking = |limit: &str| {
        let jobs = jobs("a", 1, 3, &format!("ConcurrencyLimits = \"{limit}\""));
        negotiate(&pool(config, slots(), &[jobs], vec![submitter("a", 3, 0)], &["a"]))
    };
    let refused = asking("ysw, XSW").unwrap_err();
    assert_eq!(refused.message, "`XSW_LIMIT` is `bad`: expected a number");
    assert_eq!(refused.place.unwrap().line, 3);
    let outcome = asking("ysw").unwrap();
    assert_eq!(outcome.matches.len(), 2);
    let told = "config:3:1: `XSW_LIMIT` is `bad`: expected a number; a job that requests `xsw` stops the negotiator";
    assert_eq!(outcome.quirks, [told]);
}

/// Two jobs of one autocluster, of which the slots take only the first: an attribute that is not significant decides it, and
/// requests are whole job ads. It does not matter that jobs of a cluster share a parent ad. The list of candidates of the first
/// request is used again for the second one without any test (`docs/reference/negotiation.md` 10.7), if lists are kept.
#[test]
fn attributes_of_a_parent_ad_that_are_not_significant_may_decide_a_match() {
    let config = "REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX = ^Dept\nNEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 1\n";
    let chem = "Cpus = 1; Requirements = TARGET.Dept == \"chem\"";
    let slots = vec![idle("s1", chem), idle("s2", chem)];
    let job = |process: usize, dept: &str| jobs("a", 1, 2, &format!("Dept = \"{dept}\"")).swap_remove(process);
    let all = vec![job(0, "chem"), job(1, "phys")];
    let mut siblings = Siblings::default();
    let chained: Vec<ClassAd> = all.iter().map(|job| siblings.chain(job.clone())).collect();
    assert!(chained[0].is_empty());
    for (kept, expected) in [(false, 1), (true, 2)] {
        for jobs in [&all, &chained] {
            let config = format!("{config}NEGOTIATOR_MATCHLIST_CACHING = {kept}\n");
            let snapshot = pool(&config, slots.clone(), std::slice::from_ref(jobs), vec![submitter("a", 2, 0)], &["a"]);
            assert_eq!(negotiate(&snapshot).unwrap().matches.len(), expected);
        }
    }
}
