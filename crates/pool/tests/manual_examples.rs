//! The worked examples of the manuals, each dealt by a whole cycle: thirty slots of physicists and chemists, half and twice
//! as many, subgroups with and without surplus, strict priority, users of different priority, and the half-life.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use std::fmt::Write as _;

use classmate::internal::ad::ClassAd;
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::commit::charged;
use classmate_pool::internal::negotiate::{Outcome, Snapshot, negotiate};

/// Whose jobs wait, and how many.
type Wanted<'a> = [(&'a str, u32)];

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(format!("[{text}]").as_bytes()).unwrap()
}

/// A pool of like slots, of which some are in use.
fn pool(config: &str, slots: u32, in_use: &Wanted<'_>, wanted: &Wanted<'_>, log: Option<AccountantLog>) -> Snapshot {
    let slot = |name: String, more: &str| {
        ad(&format!(
            "Name = \"{name}\"; StartdIpAddr = \"<{name}>\"; Cpus = 1; Memory = 1; Rank = 0; CurrentRank = 0; \
             Requirements = true; {more}"
        ))
    };
    let mut all: Vec<ClassAd> = (0..slots).map(|at| slot(format!("m{at}"), "State = \"Unclaimed\"")).collect();
    for (user, count) in in_use {
        let claimed = format!("State = \"Claimed\"; RemoteUser = \"{user}@x\"; AccountingGroup = \"{user}@x\"");
        all.extend((0..*count).map(|at| slot(format!("{user}{at}"), &claimed)));
    }
    let running = |user: &str| in_use.iter().find(|(other, _)| *other == user).map_or(0, |(_, count)| *count);
    let submitter = |(user, idle): &(&str, u32)| {
        ad(&format!(
            "Name = \"{user}@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<127.0.0.1:9>\"; IdleJobs = {idle}; RunningJobs = {}",
            running(user)
        ))
    };
    let jobs = |(cluster, (user, idle)): (usize, &(&str, u32))| {
        let job = |process| {
            ad(&format!(
                "ClusterId = {}; ProcId = {process}; JobStatus = 1; User = \"{user}@x\"; RequestCpus = 1; Requirements = true; \
                 GlobalJobId = \"s#{cluster}.{process}\"",
                cluster + 1
            ))
        };
        (0..*idle).map(job).collect::<Vec<_>>()
    };
    Snapshot {
        config: Config::parse("config", config.as_bytes()).unwrap(),
        slots: all,
        jobs: wanted.iter().enumerate().flat_map(jobs).collect(),
        submitters: Some(wanted.iter().map(submitter).collect()),
        log,
        now: 2000,
        ..Snapshot::default()
    }
}

fn dealt(snapshot: &Snapshot) -> Outcome {
    negotiate(snapshot).unwrap()
}

/// How many slots each of the users was given.
fn won<const N: usize>(outcome: &Outcome, users: [&str; N]) -> [usize; N] {
    users.map(|user| outcome.matches.iter().filter(|made| made.submitter == format!("{user}@x")).count())
}

const THIRTY: &str = "GROUP_NAMES = group_physics, group_chemistry\nGROUP_QUOTA_group_physics = 20\n\
                      GROUP_QUOTA_group_chemistry = 10\n";
const SCALED: &str = "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = False\n";
const MANY: [(&str, u32); 2] = [("group_physics.newton", 100), ("group_chemistry.curie", 100)];

#[test]
fn thirty_slots_are_twenty_for_physics_and_ten_for_chemistry() {
    for config in [THIRTY.to_owned(), format!("{THIRTY}{SCALED}")] {
        let outcome = dealt(&pool(&config, 30, &[], &MANY, None));
        assert_eq!(won(&outcome, ["group_physics.newton", "group_chemistry.curie"]), [20, 10]);
    }
}

/// "Physics would be scaled back to a quota of ten, and chemistry to five."
#[test]
fn a_pool_halved_to_fifteen_slots_is_ten_for_physics_and_five_for_chemistry() {
    let outcome = dealt(&pool(&format!("{THIRTY}{SCALED}"), 15, &[], &MANY, None));
    assert_eq!(won(&outcome, ["group_physics.newton", "group_chemistry.curie"]), [10, 5]);
    // Without scaling, which is the default of the present: whoever uses less of its quota goes first, and of equals the
    // one with the smaller name; the other gets what is left.
    let outcome = dealt(&pool(THIRTY, 15, &[], &MANY, None));
    assert_eq!(won(&outcome, ["group_physics.newton", "group_chemistry.curie"]), [5, 10]);
}

/// "If somehow the number of slots doubled from thirty to sixty, physics would still be limited to 20 slots, and chemistry
/// would be limited to 10"; those in no group have the rest.
#[test]
fn a_pool_doubled_to_sixty_slots_leaves_the_other_thirty_to_those_in_no_group() {
    let wanted = [MANY[0], MANY[1], ("alice", 100)];
    for config in [THIRTY.to_owned(), format!("{THIRTY}{SCALED}")] {
        let outcome = dealt(&pool(&config, 60, &[], &wanted, None));
        assert_eq!(won(&outcome, ["group_physics.newton", "group_chemistry.curie", "alice"]), [20, 10, 30]);
        let outcome = dealt(&pool(&config, 60, &[], &MANY, None));
        assert_eq!(outcome.matches.len(), 30);
    }
}

const SUBGROUPS: &str = "GROUP_NAMES = group_physics, group_physics.hep, group_physics.lep, group_chemistry\n\
                         GROUP_QUOTA_group_physics = 20\nGROUP_QUOTA_group_physics.hep = 15\n\
                         GROUP_QUOTA_group_physics.lep = 5\nGROUP_QUOTA_group_chemistry = 10\n";
const USERS: [&str; 3] = ["group_physics.hep.higgs", "group_physics.lep.landau", "group_chemistry.curie"];

/// What hep, lep and chemistry get when they want so much.
fn by_subgroup(more: &str, wanted: [u32; 3]) -> [usize; 3] {
    let wanted: Vec<(&str, u32)> = USERS.into_iter().zip(wanted).collect();
    let outcome = dealt(&pool(&format!("{SUBGROUPS}{more}"), 30, &[], &wanted, None));
    won(&outcome, USERS)
}

#[test]
fn hep_and_lep_without_surplus_have_their_quotas() {
    for more in ["", SCALED] {
        assert_eq!(by_subgroup(more, [60, 60, 60]), [15, 5, 10]);
        // What hep does not need stays idle.
        assert_eq!(by_subgroup(more, [4, 60, 60]), [4, 5, 10]);
    }
}

/// "Are allowed to exceed their quota of 15 and 5, but their sum cannot exceed 20, for that is their parent's quota."
#[test]
fn hep_and_lep_with_surplus_exceed_their_quotas_but_not_that_of_physics() {
    let accept = "GROUP_ACCEPT_SURPLUS = False\nGROUP_ACCEPT_SURPLUS_group_physics = False\n\
                  GROUP_ACCEPT_SURPLUS_group_physics.lep = True\nGROUP_ACCEPT_SURPLUS_group_physics.hep = True\n";
    let scaled = format!("{accept}{SCALED}");
    assert_eq!(by_subgroup(&scaled, [4, 60, 60]), [4, 16, 10]);
    assert_eq!(by_subgroup(&scaled, [60, 2, 60]), [18, 2, 10]);
    assert_eq!(by_subgroup(&scaled, [60, 60, 60]), [15, 5, 10]);
    assert_eq!(by_subgroup(accept, [4, 60, 60]), [4, 16, 10]);
}

/// A quota that can never be met makes physics always the most starving; chemistry comes before what is smaller still.
#[test]
fn quotas_far_beyond_the_pool_are_a_strict_priority() {
    let config = "GROUP_NAMES = group_physics, group_chemistry, group_bio\nGROUP_QUOTA_group_physics = 1000000\n\
                  GROUP_QUOTA_group_chemistry = 10000\nGROUP_QUOTA_group_bio = 1000\n\
                  NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = True\n";
    let users = ["group_physics.newton", "group_chemistry.curie", "group_bio.darwin"];
    let in_use = users.map(|user| (user, 30));
    let deal = |physics| {
        let wanted = [(users[0], physics), (users[1], 20), (users[2], 20)];
        won(&dealt(&pool(config, 10, &in_use, &wanted, None)), users)
    };
    assert_eq!(deal(40), [10, 0, 0]);
    // Only when all physics jobs run do the chemists' run.
    assert_eq!(deal(4), [4, 6, 0]);
}

/// Books with these priorities and a factor of 1.
fn books(priorities: &[(&str, f64)], updated: i64) -> AccountantLog {
    let mut text =
        format!("107 1 CreationTimestamp 1\n101 Accountant. * *\n103 Accountant. LastUpdateTime {updated}\n");
    for (user, priority) in priorities {
        let key = format!("Customer.{user}@x");
        write!(text, "101 {key} * *\n103 {key} Priority {priority:?}\n103 {key} PriorityFactor 1.0\n").unwrap();
    }
    AccountantLog::read(text.as_bytes()).unwrap()
}

/// "User A with EUP=5 will receive twice as many resources as user B with EUP=10 and four times as many as user C with
/// EUP=20"; what A does not use goes to B and C, two to one.
#[test]
fn priorities_of_5_10_and_20_are_shares_of_four_two_and_one() {
    let deal = |wanted: [u32; 3]| {
        let users = ["a", "b", "c"];
        let log = books(&[("a", 5.0), ("b", 10.0), ("c", 20.0)], 2000);
        let wanted: Vec<(&str, u32)> = users.into_iter().zip(wanted).collect();
        won(&dealt(&pool("", 70, &[], &wanted, Some(log))), users)
    };
    assert_eq!(deal([100, 100, 100]), [40, 20, 10]);
    // Spin 2: b is due 2/3 of 70, less its 20, which is 26.67: 26; c the 4 that are left.
    assert_eq!(deal([10, 100, 100]), [10, 46, 14]);
}

/// "If a user whose RUP was 10 has no running jobs, that user's RUP would be 5 one day later, 2.5 two days later."
#[test]
fn a_priority_of_10_is_5_after_a_half_life_and_2_and_a_half_after_two() {
    let mut log = books(&[("a", 10.0)], 2000);
    let mut seen = Vec::new();
    for day in 1..=2 {
        let snapshot = Snapshot { now: 2000 + day * 86_400, ..pool("", 1, &[], &[], Some(log)) };
        log = charged(&snapshot, &dealt(&snapshot)).unwrap();
        seen.push(log.get(b"Customer.a@x").and_then(|record| record.real("Priority")));
    }
    assert_eq!(seen, [Some(5.0), Some(2.5)]);
    // Two days at once are the same.
    let snapshot = Snapshot { now: 2000 + 2 * 86_400, ..pool("", 1, &[], &[], Some(books(&[("a", 10.0)], 2000))) };
    let log = charged(&snapshot, &dealt(&snapshot)).unwrap();
    assert_eq!(log.get(b"Customer.a@x").and_then(|record| record.real("Priority")), Some(2.5));
}
