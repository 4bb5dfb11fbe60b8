//! Long simulations against theory: shares, decay, evenness, no starvation, no chance. One file, because all use the
//! same workloads.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate_config::internal::config::slurm::{Qos, SlurmAssociations, SlurmConf};
use classmate_config::internal::config::{Config, TextFiles};
use classmate_pool::internal::accountant::usage::{Account, SlotInUse};
use classmate_pool::internal::accountant::{Accountant, AccountantLog, Ungrouped};
use classmate_pool::internal::negotiate::Snapshot;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::priority::dirac::{DiracChoice, SplitMix64};
use classmate_pool::internal::priority::slurm::{Options, SlurmFiles, SlurmSettings};
use classmate_pool::internal::priority::{CondorPriority, Policy, PriorityPolicy};
use classmate_pool::internal::simulate::spread::jain;
use classmate_pool::internal::simulate::{
    Cluster, SimulationPlan, SimulationResult, SlotCluster, UniformCluster, simulate,
};
use classmate_pool::internal::workload::{Workload, job_ads, swf};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const CYCLE: i64 = 300;

/// Users as group and number; each submits two jobs of one core every five minutes, which is more than it can get. Jobs run
/// for half an hour to an hour and a half.
fn crowd(users: &[(i64, i64)], days: i64) -> String {
    let mut trace = String::new();
    let (mut id, mut random) = (0, 1_u64);
    for time in (0..days * DAY).step_by(CYCLE as usize) {
        for (group, user) in users.iter().chain(users) {
            id += 1;
            // Knuth's MMIX generator.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let run = HOUR / 2 + (random >> 33) as i64 % HOUR;
            writeln!(trace, "{id} {time} -1 {run} -1 -1 -1 1 -1 -1 1 {user} {group} -1 -1 -1 -1 -1").unwrap();
        }
    }
    trace
}

fn played(trace: &str, cores: u32, base: &Snapshot, until: i64) -> SimulationResult {
    let workload = swf::read(&mut trace.as_bytes()).unwrap();
    assert_eq!(workload.faults, []);
    let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
    let mut machines = UniformCluster::new(&workload, &rules, base, cores);
    let plan = SimulationPlan { interval: CYCLE, until: Some(until), step: Some(DAY) };
    simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap()
}

/// A user's part of what was in use from a day on.
fn share(simulated: &SimulationResult, user: &str, from: usize) -> f64 {
    let steps = &simulated.over_time[from..];
    assert!(steps.len() >= 3, "{} days are no long run", steps.len());
    for step in steps {
        // A core waits for the next cycle, half of one on the average: 150 s for every 3600 s of use.
        assert!((step.utilisation - 3600.0 / 3750.0).abs() < 0.015, "utilisation {}", step.utilisation);
    }
    steps.iter().map(|step| step.shares.get(user).copied().unwrap_or(0.0)).sum::<f64>() / steps.len() as f64
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() <= 0.02, "{found}, not {expected}");
}

fn condor(config: &str, factors: &[(&str, f64)]) -> Snapshot {
    let line = |(name, factor): &(&str, f64)| {
        format!("101 Customer.{name} * *\n103 Customer.{name} PriorityFactor {factor:.6}\n")
    };
    let log = "107 1 CreationTimestamp 0\n".to_owned() + &factors.iter().map(line).collect::<String>();
    let config = Config::parse("config", config.as_bytes()).unwrap();
    Snapshot { config, log: Some(AccountantLog::read(log.as_bytes()).unwrap()), ..Snapshot::default() }
}

/// One user may have no more than three cores, another is served two before all others.
fn limited() -> Snapshot {
    let log = "107 1 CreationTimestamp 0\n101 Customer.user1@trace * *\n103 Customer.user1@trace Ceiling 3\n\
               101 Customer.user2@trace * *\n103 Customer.user2@trace Floor 2\n";
    Snapshot { log: Some(AccountantLog::read(log.as_bytes()).unwrap()), ..condor("PRIORITY_HALFLIFE = 600", &[]) }
}

fn slurm(conf: &str, dump: &str) -> Snapshot {
    let (conf, defects) = SlurmConf::read("slurm.conf", conf.as_bytes(), &TextFiles::default());
    assert_eq!(defects.errors, []);
    let associations = SlurmAssociations::read("dump", dump.as_bytes()).0;
    let files = SlurmFiles { conf, associations, usage: Vec::new(), qos: Vec::new(), options: Options::default() };
    Snapshot { policy: Policy::Slurm(Box::new(SlurmSettings::new(files).unwrap())), ..Snapshot::default() }
}

/// The same with a default partition `p` that has these prices, one `q` that has others, and two qualities of service.
fn priced(conf: &str, dump: &str, prices: &str) -> Snapshot {
    let partitions = "PartitionName=q TRESBillingWeights=CPU=0.25 PriorityJobFactor=7 PriorityTier=2\n";
    let conf = format!("{conf}PartitionName=p Default=YES {prices}\n{partitions}");
    let (conf, defects) = SlurmConf::read("slurm.conf", conf.as_bytes(), &TextFiles::default());
    assert_eq!(defects.errors, []);
    let associations = SlurmAssociations::read("dump", dump.as_bytes()).0;
    let quality = |name: &str, priority, usage_factor| Qos { name: name.to_owned(), priority, usage_factor };
    let qos = vec![quality("normal", 1, 0.75), quality("high", 5, 2.0)];
    let files = SlurmFiles { conf, associations, usage: Vec::new(), qos, options: Options::default() };
    let slot = ClassAd::parse(b"[PartitionName = {\"p\", \"q\"}]").unwrap();
    let policy = Policy::Slurm(Box::new(SlurmSettings::new(files).unwrap()));
    Snapshot { policy, slots: vec![slot], ..Snapshot::default() }
}

fn dirac(text: &str) -> Snapshot {
    let choice = DiracChoice::read(vec![("dirac.cfg".to_owned(), text.into())], None, None).unwrap();
    Snapshot { policy: Policy::Dirac(choice), ..Snapshot::default() }
}

const FACTORS: [(&str, f64); 3] = [("user1@trace", 1000.0), ("user2@trace", 2000.0), ("user3@trace", 4000.0)];

/// Users of no group with factors in the ratio 1 : 2 : 4.
const USERS: [(i64, i64); 3] = [(-1, 1), (-1, 2), (-1, 3)];

#[test]
fn condors_shares_are_inverse_to_factors_while_real_priorities_are_equal() {
    // Nothing that is used ever counts: real priorities stay 1/2, effective ones are as the factors. 42 cores in the
    // ratio 4 : 2 : 1 are 24, 12 and 6.
    let base = condor("PRIORITY_HALFLIFE = 1.0e30", &FACTORS);
    let simulated = played(&crowd(&USERS, 8), 42, &base, 8 * DAY);
    for ((user, _), cores) in FACTORS.iter().zip([24.0, 12.0, 6.0]) {
        near(share(&simulated, user, 1), cores / 42.0);
    }
}

#[test]
fn condors_shares_under_decay_are_inverse_to_the_roots_of_factors() {
    // In the long run the real priority is the cores in use, so shares are inverse to share times factor: s = c / (s f),
    // or s = sqrt(c / f).
    let base = condor("PRIORITY_HALFLIFE = 21600", &FACTORS);
    let simulated = played(&crowd(&USERS, 12), 42, &base, 12 * DAY);
    let roots: Vec<f64> = FACTORS.iter().map(|(_, factor)| 1.0 / factor.sqrt()).collect();
    for ((user, _), root) in FACTORS.iter().zip(&roots) {
        near(share(&simulated, user, 4), root / roots.iter().sum::<f64>());
    }
}

const CONF: &str = "PriorityWeightFairshare=100000\nPriorityDecayHalfLife=6:00:00\n";

const DUMP: &str = "Cluster - 'c'\nParent - 'root'\nAccount - 'group1':Fairshare=3\nAccount - 'group2':Fairshare=2\n\
                    Parent - 'group1'\nUser - 'user1':Fairshare=2\nUser - 'user2':Fairshare=1\n\
                    Parent - 'group2'\nUser - 'user3':Fairshare=1\n";

#[test]
fn slurms_shares_are_those_of_the_tree() {
    // 3/5 for the first account, of which its users have 2/3 and 1/3; 2/5 for the second.
    let simulated = played(&crowd(&[(1, 1), (1, 2), (2, 3)], 12), 42, &slurm(CONF, DUMP), 12 * DAY);
    for (user, part) in [("group1.user1@trace", 0.4), ("group1.user2@trace", 0.2), ("group2.user3@trace", 0.4)] {
        near(share(&simulated, user, 4), part);
        let due = simulated.submitters.iter().find(|line| line.name == user).unwrap().due.unwrap();
        assert!((due - part).abs() < 1e-9, "{user} is due {due}");
    }
}

/// Two users of the account b, alike but for what their jobs say besides, on ten cores for half a day: each submits eight
/// jobs of ten minutes every ten minutes. On the cores of a partitionable slot, and on cores that are all alike.
fn halves(said: [&str; 2], conf: &str, dump: &str) -> [f64; 2] {
    let mut ads = Vec::new();
    for time in (0..12 * HOUR).step_by(600) {
        for number in 0..16 {
            let (owner, more) = if number % 2 == 0 { ("p", said[0]) } else { ("q", said[1]) };
            let text = format!(
                "[ClusterId = {}; ProcId = 0; Owner = \"{owner}\"; QDate = {}; RequestCpus = 1; RequestMemory = 1; \
                 RequestDisk = 1; Requirements = true; RemoteWallClockTime = 590; {more}]",
                time + number + 1,
                1000 + time
            );
            ads.push(ClassAd::parse(text.as_bytes()).unwrap());
        }
    }
    let run_time = parse_expr(b"RemoteWallClockTime", &ParseOptions::default()).unwrap();
    let workload = job_ads::read(ads, &run_time, Some(b"x"), &EvalOptions::default());
    let (conf, defects) = SlurmConf::read("slurm.conf", conf.as_bytes(), &TextFiles::default());
    assert_eq!((defects.errors, workload.faults.len()), (vec![], 0));
    let associations = SlurmAssociations::read("dump", dump.as_bytes()).0;
    let qos = vec![Qos { name: "high".to_owned(), priority: 0, usage_factor: 4.0 }];
    let files = SlurmFiles { conf, associations, usage: Vec::new(), qos, options: Options::default() };
    let policy = Policy::Slurm(Box::new(SlurmSettings::new(files).unwrap()));
    let slot = |at: usize| {
        let text = format!(
            "[MyType = \"Machine\"; Name = \"slot{at}@n1\"; Machine = \"n1\"; State = \"Unclaimed\"; Activity = \"Idle\"; \
             Cpus = 1; Memory = 1000; Disk = 1000; Requirements = true; PartitionName = {{\"x\", \"y\"}}]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    let base = Snapshot { policy, slots: (1..=10).map(slot).collect(), ..Snapshot::default() };
    let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
    let first = |machines: &mut dyn Cluster| {
        let plan = SimulationPlan { interval: 600, until: Some(1000 + 12 * HOUR), step: None };
        let simulated = simulate(&workload, machines, &plan, &mut |_, _| {}).unwrap();
        let dues: f64 = simulated.submitters.iter().map(|line| line.due.unwrap()).sum();
        assert!((dues - 1.0).abs() < 1e-9, "half for each in the only account that is used, but {dues}");
        simulated.submitters.iter().find(|line| line.name.starts_with("p@") || line.name == "b@x").unwrap().share
    };
    [
        first(&mut SlotCluster::new(&workload, &rules, &base)),
        first(&mut UniformCluster::new(&workload, &rules, &base, 10)),
    ]
}

const TWO_PARTITIONS: &str =
    "PriorityDecayHalfLife=1-0\nPriorityWeightFairshare=100000\nPartitionName=x Default=YES\nPartitionName=y\n";

#[test]
fn use_is_charged_to_the_association_of_the_job() {
    // Both users have half of the account's shares, so half of the cores each, whatever way their jobs name the account.
    let dump = |first: &str| {
        format!(
            "Parent - 'root'\nAccount - 'b':Fairshare=1\nParent - 'b'\nUser - 'p':Fairshare=1{first}\n\
             User - 'q':DefaultAccount='b':Fairshare=1\n"
        )
    };
    let two = "Parent - 'root'\nAccount - 'b':Fairshare=1\nAccount - 'a':Fairshare=0\nParent - 'b'\nUser - 'p':Fairshare=1\n\
               User - 'q':DefaultAccount='b':Fairshare=1\nParent - 'a'\nUser - 'p':DefaultAccount='a'\n";
    for (said, dump) in [
        ("", dump("")),
        // The account that a job names stands before the default of its user.
        ("SlurmAccount = \"b\"", two.to_owned()),
        // An association for a partition is a leaf of its own.
        ("", dump(":Partition='x'")),
        // The name of an account alone is no name of a user.
        ("AccountingGroup = \"b\"", dump("")),
    ] {
        for share in halves([said, ""], TWO_PARTITIONS, &dump) {
            assert!((share - 0.5).abs() < 0.02, "{said} {share} of {dump}");
        }
    }
}

#[test]
fn use_costs_what_the_partition_and_the_quality_of_service_of_the_job_say() {
    let dump =
        "Parent - 'root'\nAccount - 'b':Fairshare=1\nParent - 'b'\nUser - 'p':Fairshare=1\nUser - 'q':Fairshare=1\n";
    let priced = "PriorityDecayHalfLife=1-0\nPriorityWeightFairshare=100000\nPartitionName=x Default=YES TRESBillingWeights=CPU=1\n\
                  PartitionName=y TRESBillingWeights=CPU=4\n";
    // A second of the first costs four times as much: four times as many go to the second, 20 % and 80 %. Both slots and
    // jobs are in both partitions where the jobs say so.
    for (said, conf) in
        [(["QOS = \"high\"", ""], TWO_PARTITIONS), (["PartitionName = \"y\"", "PartitionName = \"x\""], priced)]
    {
        for share in halves(said, conf, dump) {
            assert!((share - 0.2).abs() < 0.02, "{said:?}: {share}");
        }
    }
}

fn lots(options: &str) -> Snapshot {
    dirac(&format!(
        "Registry\n{{\n  Groups\n  {{\n    group1\n    {{\n      Users = user1, user2\n      JobShare = 6000\n    }}\n    \
         group2\n    {{\n      Users = user3\n      JobShare = 4000\n    }}\n  }}\n}}\nClassmate\n{{\n{options}\n}}\n"
    ))
}

#[test]
fn diracs_shares_are_those_of_groups_and_then_of_users() {
    // 6 : 4 for the groups; in the first each user has half. Lots are drawn: 30 days are some 41,000 of them, whose share
    // of 0.3 has a standard deviation of 0.0023, which is 0.8 % of it. Of 576 jobs a day 161 stay: nobody has more than
    // the 5000 that are one queue, of which each other one would have the priority of both.
    let simulated = played(&crowd(&[(1, 1), (1, 2), (2, 3)], 30), 60, &lots("Lottery = proportional"), 30 * DAY);
    for (user, part) in [("group1.user1@trace", 0.3), ("group1.user2@trace", 0.3), ("group2.user3@trace", 0.4)] {
        near(share(&simulated, user, 1), part);
        let due = simulated.submitters.iter().find(|line| line.name == user).unwrap().due.unwrap();
        assert!((due - part).abs() < 1e-9, "{user} is due {due}");
    }
}

#[test]
fn diracs_own_lottery_gives_more_than_the_largest_share() {
    // Three queues of priorities 3, 3 and 4: with q = 3/4 the largest goes first with the chance
    // 1 - 2q/2 + q²/3 = 1 - 3/4 + 3/16 = 7/16, each of the others with half of the rest, 9/32.
    // No queue has more than 5000 jobs within 19 days.
    let simulated = played(&crowd(&[(1, 1), (1, 2), (2, 3)], 19), 50, &lots(""), 19 * DAY);
    for (user, chance) in
        [("group1.user1@trace", 9.0 / 32.0), ("group1.user2@trace", 9.0 / 32.0), ("group2.user3@trace", 7.0 / 16.0)]
    {
        near(share(&simulated, user, 1), chance);
    }
}

/// The lines of a trace for which a rule holds, by user, time and number.
fn kept(trace: &str, rule: impl Fn(i64, i64, i64) -> bool) -> String {
    let of_line = |line: &&str| {
        let numbers: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        rule(numbers[11], numbers[1], numbers[0])
    };
    trace.lines().filter(of_line).map(|line| format!("{line}\n")).collect()
}

#[test]
fn one_who_comes_late_ends_with_the_same_share() {
    // User 3 comes on the fifth day; from the ninth on it is as if it had always been there.
    let late = |users: &[(i64, i64)]| kept(&crowd(users, 14), |user, time, _| user != 3 || time >= 4 * DAY);
    let simulated = played(&late(&[(1, 1), (1, 2), (2, 3)]), 30, &slurm(CONF, DUMP), 14 * DAY);
    for (user, part) in [("group1.user1@trace", 0.4), ("group1.user2@trace", 0.2), ("group2.user3@trace", 0.4)] {
        near(share(&simulated, user, 8), part);
    }
    // Before that, the first account has everything, 2 : 1.
    let early = simulated.over_time[3].shares["group1.user1@trace"];
    assert!((early - 2.0 / 3.0).abs() < 0.03, "{early}");
    let base = condor("PRIORITY_HALFLIFE = 21600", &FACTORS);
    let simulated = played(&late(&USERS), 30, &base, 14 * DAY);
    let roots: Vec<f64> = FACTORS.iter().map(|(_, factor)| 1.0 / factor.sqrt()).collect();
    for ((user, _), root) in FACTORS.iter().zip(&roots) {
        near(share(&simulated, user, 8), root / roots.iter().sum::<f64>());
    }
}

#[test]
fn one_who_asks_for_less_than_its_share_has_what_it_asks_for_and_the_others_divide_the_rest() {
    // Every eighth job of user 3 is left: one in twenty minutes, an hour long on the average, so 3 cores of 30 instead of
    // 12. The others have 2 : 1 of the rest.
    let trace = kept(&crowd(&[(1, 1), (1, 2), (2, 3)], 12), |user, _, number| user != 3 || number % 24 == 3);
    let simulated = played(&trace, 30, &slurm(CONF, DUMP), 12 * DAY);
    let [first, second, third] = ["group1.user1@trace", "group1.user2@trace", "group2.user3@trace"];
    let of_both = share(&simulated, first, 4) + share(&simulated, second, 4);
    near(share(&simulated, first, 4) / of_both, 2.0 / 3.0);
    near(share(&simulated, second, 4) / of_both, 1.0 / 3.0);
    let of_third = share(&simulated, third, 4);
    assert!((of_third - 3.0 / 28.8).abs() < 0.01, "{of_third}");
    let third = simulated.submitters.iter().find(|line| line.name == third).unwrap();
    // Cores become free in every cycle, and it stands first.
    assert!(third.wait.p95 <= 2.0 * CYCLE as f64, "{:?}", third.wait);
}

#[test]
fn lots_forget_who_comes_late_and_what_was() {
    // Lots are of the moment: from its first day on the third user has the share of its group, 4 of 10, and before that the
    // first group has everything, 1 : 1.
    let trace = kept(&crowd(&[(1, 1), (1, 2), (2, 3)], 22), |user, time, _| user != 3 || time >= 4 * DAY);
    let simulated = played(&trace, 46, &lots("Lottery = proportional"), 22 * DAY);
    for (user, part) in [("group1.user1@trace", 0.3), ("group1.user2@trace", 0.3), ("group2.user3@trace", 0.4)] {
        near(share(&simulated, user, 5), part);
    }
    let early = &simulated.over_time[1..4];
    assert!(early.iter().all(|step| !step.shares.contains_key("group2.user3@trace")));
    let first: f64 = early.iter().map(|step| step.shares["group1.user1@trace"]).sum::<f64>() / 3.0;
    // Some 2,900 lots: a standard deviation of 0.009.
    assert!((first - 0.5).abs() < 0.03, "{first}");
}

#[test]
fn who_draws_more_than_it_asks_for_leaves_the_rest_to_the_others() {
    // One job in twenty minutes, an hour long on the average, is 3 cores of 30 instead of 12: the lots of the third user are
    // drawn as long as it has a job, so it waits for few cycles, and the others have 1 : 1 of what is left.
    let trace = kept(&crowd(&[(1, 1), (1, 2), (2, 3)], 24), |user, _, number| user != 3 || number % 24 == 3);
    let simulated = played(&trace, 30, &lots("Lottery = proportional"), 24 * DAY);
    let [first, second, third] = ["group1.user1@trace", "group1.user2@trace", "group2.user3@trace"];
    let of_both = share(&simulated, first, 1) + share(&simulated, second, 1);
    near(share(&simulated, first, 1) / of_both, 0.5);
    let of_third = share(&simulated, third, 1);
    assert!((of_third - 3.0 / 28.8).abs() < 0.01, "{of_third}");
    let third = simulated.submitters.iter().find(|line| line.name == third).unwrap();
    // Some 2.4 cores get free in a cycle, each drawn with the chance 0.4: within three cycles in 97 of 100.
    assert!(third.wait.p95 <= 4.0 * CYCLE as f64, "{:?}", third.wait);
}

#[test]
fn the_time_a_job_is_allowed_counts_where_a_policy_looks_at_it() {
    // One core, busy until 600. The older job may take 1000 minutes, the younger ten.
    let job = |id: i64, submit: i64, run: i64, asked: i64| {
        format!("{id} {submit} -1 {run} -1 -1 -1 1 {asked} -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    let trace = job(1, 0, 600, 600) + &job(2, 10, 50, 60_000) + &job(3, 20, 50, 600);
    let waits = |base: &Snapshot| {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut machines = UniformCluster::new(&workload, &rules, base, 1);
        let plan = SimulationPlan { interval: 60, until: Some(649), step: None };
        let simulated = simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap();
        assert_eq!((simulated.jobs.completed, simulated.jobs.running), (1, 1));
        simulated.never_started[0].job.clone()
    };
    let dump = "Cluster - 'c'\nParent - 'root'\nAccount - 'group1':Fairshare=1\nParent - 'group1'\nUser - 'user1':Fairshare=1\n";
    // A core for ten minutes is 1/10 of the cluster by time, for a thousand 1/1000: the younger goes first.
    let size = "PriorityWeightJobSize=10000\n";
    assert_eq!(waits(&slurm(&format!("{size}PriorityFlags=SMALL_RELATIVE_TO_TIME\n"), dump)), "2.0");
    assert_eq!(waits(&slurm(size, dump)), "3.0");
    assert_eq!(waits(&condor("", &[])), "3.0");
}

#[test]
fn slurms_factors_are_those_of_the_last_period_whatever_ended_since() {
    // Two equal users and one core; periods of 300 s. Job 1 of user 1 runs from 0 to 130, job 2 of user 2 from 180 to 370. At 300
    // user 1 has used 130 s and user 2 120 s, so user 2 is ahead until 600, though at 370 it has used 190 s: its job 3 starts
    // at 420, and runs to 850; job 4 of user 1 starts at 900.
    let job = |id: i64, run: i64, user: i64| format!("{id} 0 -1 {run} 1 -1 -1 1 -1 -1 1 {user} 1 -1 -1 -1 -1 -1\n");
    let trace = job(1, 130, 1) + &job(2, 190, 2) + &job(3, 430, 2) + &job(4, 190, 1);
    let dump = "Parent - 'root'\nAccount - 'group1'\nParent - 'group1'\nUser - 'user1'\nUser - 'user2'\n";
    let base = slurm("PriorityDecayHalfLife=7-0\nPriorityWeightFairshare=1000\nPriorityCalcPeriod=5\n", dump);
    let workload = swf::read(&mut trace.as_bytes()).unwrap();
    let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
    let mut machines = UniformCluster::new(&workload, &rules, &base, 1);
    let plan = SimulationPlan { interval: 60, until: None, step: None };
    let simulated = simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap();
    let waits: Vec<(&str, f64, i64)> =
        simulated.submitters.iter().map(|line| (line.name.as_str(), line.wait.mean, line.longest_wait)).collect();
    assert_eq!(waits, [("group1.user1@trace", 450.0, 900), ("group1.user2@trace", 300.0, 420)]);
}

#[test]
fn equal_users_end_equal_under_each_policy() {
    let users: Vec<(i64, i64)> = (1..=5).map(|user| (1, user)).collect();
    let trace = crowd(&users, 8);
    let names: String = users.iter().map(|(_, user)| format!("User - 'user{user}':Fairshare=1\n")).collect();
    let dump = format!("Cluster - 'c'\nParent - 'root'\nAccount - 'group1':Fairshare=1\nParent - 'group1'\n{names}");
    for base in [condor("PRIORITY_HALFLIFE = 21600", &[]), slurm(CONF, &dump), dirac("")] {
        let simulated = played(&trace, 40, &base, 8 * DAY);
        let parts: Vec<f64> = simulated.submitters.iter().map(|line| line.core_seconds).collect();
        assert_eq!(parts.len(), 5);
        assert!(simulated.jain >= 0.999 && simulated.jain == jain(&parts), "{}: {parts:?}", base.policy.name());
    }
}

/// Users that have less than half a core each all have the best priority there is, and take turns.
#[test]
fn equal_users_that_outnumber_the_cores_end_equal() {
    for (users, cores) in [(3, 1), (4, 1), (5, 1), (5, 2), (7, 2), (7, 3), (40, 3)] {
        let line = |id: i64| format!("{id} 0 -1 600 -1 -1 -1 1 -1 -1 1 {} 1 -1 -1 -1 -1 -1\n", id % users);
        let trace: String = (1..=400 * users).map(line).collect();
        let base = condor("PRIORITY_HALFLIFE = 3600", &[]);
        // Half of what it takes to do it all.
        let simulated = played(&trace, cores, &base, 400 * 600 * users / i64::from(cores) / 2);
        let parts: Vec<f64> = simulated.submitters.iter().map(|line| line.core_seconds).collect();
        assert_eq!(parts.len(), users as usize);
        assert!(simulated.jain >= 0.999, "{users} users on {cores} cores: {parts:?}");
    }
}

/// A rule about what jobs are at all times does not wait for the clock.
#[test]
fn a_constraint_on_jobs_ends_with_the_jobs_it_lets_run() {
    let line = |id: i64| format!("{id} 0 -1 600 -1 -1 -1 1 -1 -1 1 {} 1 -1 -1 -1 -1 -1\n", id % 2);
    let trace: String = (1..=4).map(line).collect();
    let to_the_end = |constraint: &str| {
        let base = condor(&format!("NEGOTIATOR_JOB_CONSTRAINT = {constraint}"), &[]);
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut machines = UniformCluster::new(&workload, &rules, &base, 2);
        let plan = SimulationPlan { interval: CYCLE, until: None, step: None };
        simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap()
    };
    let simulated = to_the_end("Owner != \"user1\"");
    assert_eq!((simulated.start, simulated.end, simulated.stopped), (0, 600, None));
    let never: Vec<u64> = simulated.never_started.iter().map(|one| one.place).collect();
    assert_eq!(never, [1, 3]);
    assert_eq!(simulated.never_started[0].reason.as_deref(), Some("NEGOTIATOR_JOB_CONSTRAINT excludes it"));
    // The clock itself is waited for: after an hour they run.
    let simulated = to_the_end("Owner != \"user1\" || time() - QDate >= 3600");
    assert_eq!((simulated.end, simulated.never_started.len()), (4200, 0));
}

#[test]
fn a_user_that_stops_is_forgotten_by_the_half_life() {
    // The real priority goes to the cores in use, as 10 + (1/2 - 10) 2^-t/h, and from there to 0, but not below 1/2. The
    // books keep six decimals.
    let config = Config::parse("config", b"PRIORITY_HALFLIFE = 3600\nDEFAULT_PRIO_FACTOR = 1").unwrap();
    let base = Snapshot { config, ..Snapshot::default() };
    let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
    let knobs = &rules.knobs;
    let factors = classmate_pool::internal::accountant::factor::FactorRules::new(&knobs.accountant);
    let mut policy = CondorPriority::new(Accountant::new(factors), std::sync::Arc::new(Ungrouped), knobs);
    let ten = [SlotInUse { submitter: b"a@x", account: Account::Submitter, weight: 10.0, suspended: false }];
    let priority = |policy: &CondorPriority| policy.standing(b"a@x").priority;
    for now in (0..=7 * HOUR).step_by(300) {
        policy.charge(&ten, now);
        let expected = 10.0 - 9.5 * (-now as f64 / 3600.0).exp2();
        assert!((priority(&policy) - expected).abs() < 1e-5, "{now}: {}, not {expected}", priority(&policy));
    }
    // Uneven steps: decay does not depend on when it is looked at.
    let peak = priority(&policy);
    policy.charge(&[], 7 * HOUR);
    for after in [7, 1000, 3600, 3601, 7200, 12_345] {
        // 9.93 / 2^3.4 is 0.92.
        policy.charge(&[], 7 * HOUR + after);
        let expected = peak * (-after as f64 / 3600.0).exp2();
        assert!((priority(&policy) - expected).abs() < 1e-5, "{after}: {}, not {expected}", priority(&policy));
    }
}

#[test]
fn nobody_waits_for_ever_under_a_finite_factor() {
    // The second user stands a million times behind the first, who could use everything.
    let base = condor("PRIORITY_HALFLIFE = 86400", &[("user1@trace", 1.0), ("user2@trace", 1e6)]);
    let trace = crowd(&[(-1, 1), (-1, 1), (-1, 1), (-1, 2)], 6);
    let simulated = played(&trace, 20, &base, 6 * DAY);
    let second = simulated.submitters.iter().find(|line| line.name == "user2@trace").unwrap();
    // It waits for the core that rounding leaves it, and then has one job after another.
    assert!(second.completed >= 20, "{} jobs in six days", second.completed);
    // Its first job waits no longer than until two cores are free at once.
    let early: f64 = simulated.over_time[..2].iter().filter_map(|step| step.shares.get("user2@trace")).sum();
    assert!(early > 0.0);
}

#[test]
fn every_job_starts_that_fits_into_what_gets_free() {
    // Twenty jobs of one core of a user a million times behind another, who could use everything for six days: one after
    // another they all start, and end.
    let base = condor("PRIORITY_HALFLIFE = 86400", &[("user1@trace", 1.0), ("user2@trace", 1e6)]);
    let trace = crowd(&[(-1, 1), (-1, 1), (-1, 1), (-1, 2)], 6);
    let few = kept(&trace, |user, _, number| user != 2 || number <= 80);
    let simulated = played(&few, 20, &base, 6 * DAY);
    let second = simulated.submitters.iter().find(|line| line.name == "user2@trace").unwrap();
    assert_eq!((second.jobs, second.completed), (20, 20));
    assert!(simulated.jobs.waiting > 0, "the other still has jobs waiting");
}

#[test]
fn neighbouring_seeds_share_no_lots() {
    let trace = crowd(&[(1, 1), (1, 2), (2, 3)], 2);
    let seeded = |seed| played(&trace, 20, &Snapshot { seed, ..lots("") }, 2 * DAY);
    let shares =
        |simulated: &SimulationResult| simulated.submitters.iter().map(|line| line.wait.mean).collect::<Vec<_>>();
    let all: Vec<Vec<f64>> = (0..4).map(|seed| shares(&seeded(seed))).collect();
    for (at, one) in all.iter().enumerate() {
        assert!(all[at + 1..].iter().all(|other| one != other), "{all:?}");
    }
}

/// Jobs at random that ask for more than there is, of users in groups, with few or many kinds of sizes, memories and times;
/// some come in bursts.
fn medley(seed: u64, jobs: i64, users: u64, kinds: u64) -> String {
    let mut generator = SplitMix64::new(seed);
    let mut below = |limit: u64| (generator.next_u64() % limit) as i64;
    let mut trace = String::new();
    let mut time = 0;
    for id in 1..=jobs {
        time += if below(4) == 0 { below(400) } else { 0 };
        let (run, cores, memory, asked) = (1 + below(2000), 1 + below(3), below(kinds) * 700, 60 + below(kinds) * 900);
        let user = below(users);
        let group = if user % 3 == 0 { -1 } else { user % 3 };
        let (memory, asked) = if memory == 0 { (-1, -1) } else { (memory, asked) };
        let line = format!("{id} {time} -1 {run} -1 -1 -1 {cores} {asked} {memory} 1 {user} {group} -1 -1 -1 -1 -1");
        writeln!(trace, "{line}").unwrap();
    }
    trace
}

/// What is played when cycles are shown what they need, and when they are shown every job that waits, is the same.
fn shown_a_part(trace: &str, cores: u32, base: &Snapshot, plan: &SimulationPlan) {
    played_both_ways(&swf::read(&mut trace.as_bytes()).unwrap(), cores, base, plan);
}

fn played_both_ways(workload: &Workload, cores: u32, base: &Snapshot, plan: &SimulationPlan) {
    let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
    let run = |machines: UniformCluster<'_>| {
        let mut machines = machines;
        let mut moments = Vec::new();
        let simulated = simulate(workload, &mut machines, plan, &mut |now, come| moments.push((now, come))).unwrap();
        (serde_json::to_string(&simulated).unwrap(), moments)
    };
    let machines = || UniformCluster::new(workload, &rules, base, cores);
    assert_eq!(run(machines()), run(machines().showing_all()), "{}", base.policy.name());
}

#[test]
fn cycles_that_are_shown_a_part_of_the_queue_decide_as_if_they_were_shown_all() {
    let corrections = "Operations\n{\nDefaults\n{\nJobScheduling\n{\nEnableSharesCorrection = True\nShareCorrections\n{\n\
                       ShareCorrectorsToStart = WMSHistory\nWMSHistory\n{\nG\n{\nHour\n{\nTimeSpan = 3600\nWeight = 1\n\
                       MaxCorrection = 2\n}\n}\n}\n}\n}\n}\n}\n";
    let bases = vec![
        condor("PRIORITY_HALFLIFE = 3600", &FACTORS),
        condor("", &[]),
        limited(),
        condor("NEGOTIATOR_CONSIDER_PREEMPTION = False\nNEGOTIATOR_JOB_CONSTRAINT = RequestMemory < 1000", &FACTORS),
        condor("GROUP_NAMES = group1, group2\nGROUP_QUOTA_group1 = 3\nGROUP_ACCEPT_SURPLUS = True", &FACTORS),
        condor("NEGOTIATOR_JOB_CONSTRAINT = QDate % 3 == 0 || RequestCpus == 2", &FACTORS),
        Snapshot {
            config: condor("NEGOTIATOR_JOB_CONSTRAINT = ClusterId % 4 > 0", &[]).config,
            ..priced(CONF, DUMP, "")
        },
        slurm("", ""),
        slurm(&format!("{CONF}PriorityWeightAge=5000\nPriorityMaxAge=0:30:00\n"), DUMP),
        slurm(&format!("{CONF}PriorityWeightJobSize=9000\nPriorityFlags=SMALL_RELATIVE_TO_TIME\n"), DUMP),
        slurm(&format!("{CONF}PriorityWeightTRES=CPU=1000,Mem=5000\nPriorityFlags=INCR_ONLY\n"), DUMP),
        priced(CONF, DUMP, "TRESBillingWeights=CPU=1.5,Mem=0.25G"),
        priced(&format!("{CONF}PriorityWeightAge=5000\nPriorityWeightQOS=300\n"), DUMP, "TRESBillingWeights=Mem=1"),
        priced(&format!("{CONF}PriorityWeightTRES=Billing=5000\n"), DUMP, "TRESBillingWeights=Mem=1"),
        lots(""),
        lots("Lottery = proportional\nWeighting = literal"),
        lots("Order = greedy\nDiracMemoryTags = yes\nWeighting = proportional"),
        dirac(corrections),
        Snapshot {
            config: condor("ADD_SIGNIFICANT_ATTRIBUTES = RequestMemory, AllowedJobDuration", &[]).config,
            ..lots("")
        },
        Snapshot { config: condor("NEGOTIATOR_JOB_CONSTRAINT = RequestMemory < 1000", &[]).config, ..lots("") },
    ];
    for (number, base) in bases.iter().enumerate() {
        let seed = number as u64;
        let plan = SimulationPlan { interval: 60, until: seed.is_multiple_of(2).then_some(3 * HOUR), step: None };
        shown_a_part(&medley(seed, 160, 14, 3), 5, base, &plan);
        shown_a_part(&medley(100 + seed, 240, 5, 40), 20, base, &plan);
        // Nearly everything free at first, nothing later on.
        shown_a_part(&medley(200 + seed, 300, 3, 1), 90, base, &plan);
    }
}

/// Job ads at random, of users with several accounts each, for several partitions and qualities of service.
fn ads(seed: u64, jobs: i64) -> Workload {
    let mut generator = SplitMix64::new(seed);
    let mut below = |limit: u64| (generator.next_u64() % limit) as i64;
    let mut time = 0;
    let mut ad = |id| {
        time += if below(3) == 0 { below(300) } else { 0 };
        let group =
            ["", "AccountingGroup = \"group1.user1\";", "AccountingGroup = \"group2.user3\";"][below(3) as usize];
        let account = ["", "", "SlurmAccount = \"group1\";", "SlurmAccount = \"other\";"][below(4) as usize];
        let partition = ["", "", "PartitionName = \"q\";", "PartitionName = \"p,q\";"][below(4) as usize];
        let quality = ["", "QOS = \"high\";", "QOS = \"unknown\";"][below(3) as usize];
        let (user, run, cores, memory) = (1 + below(3), 1 + below(900), 1 + below(3), 1 + below(4) * 600);
        let (own, sites) = (below(11), ["", "Site = \"here\";", "Tags = \"a\";"][below(3) as usize]);
        let text = format!(
            "[ClusterId = {id}; Owner = \"user{user}\"; User = \"user{user}@x\"; QDate = {time}; RequestCpus = {cores}; \
             RequestMemory = {memory}; Requirements = true; RemoteWallClockTime = {run}; JobPrio = {}; UserPriority = {own}; \
             {group}{account}{partition}{quality}{sites}]",
            own % 2
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    let ads = (1..=jobs).map(&mut ad).collect();
    let run_time = parse_expr(b"RemoteWallClockTime", &ParseOptions::default()).unwrap();
    let workload = job_ads::read(ads, &run_time, Some(b"x"), &EvalOptions::default());
    assert_eq!(workload.counts.bad, 0);
    workload
}

#[test]
fn jobs_with_accounts_partitions_and_sites_of_their_own_are_no_others() {
    let dump = format!("{DUMP}User - 'user1':Fairshare=1:Partition='q'\nUser - 'user2':Fairshare=1\n");
    let bases = [
        condor("PRIORITY_HALFLIFE = 3600", &FACTORS),
        priced(CONF, &dump, "TRESBillingWeights=CPU=1.5,Mem=0.25G"),
        priced(&format!("{CONF}PriorityWeightQOS=3000\nPriorityWeightPartition=500\n"), &dump, ""),
        lots("DiracMemoryTags = yes"),
        lots("Order = greedy"),
    ];
    let plan = SimulationPlan { interval: 60, until: Some(4 * HOUR), step: None };
    for (seed, base) in (0..).zip(&bases) {
        played_both_ways(&ads(seed, 150), 6, base, &plan);
        played_both_ways(&ads(100 + seed, 200), 40, base, &plan);
    }
}

#[test]
fn whole_queues_of_lots_are_counted_though_few_of_their_jobs_are_shown() {
    // DIRAC's queues hold 5000 jobs: those of the first user are three, of the second two, and one of the third.
    let mut trace = String::new();
    for (user, jobs) in [(1, 10_020), (2, 5_001), (3, 40)] {
        for id in 0..jobs {
            let id = user * 100_000 + id;
            writeln!(trace, "{id} 0 -1 {} -1 -1 -1 1 -1 -1 1 {user} -1 -1 -1 -1 -1 -1", 30 + id % 60).unwrap();
        }
    }
    let plan = SimulationPlan { interval: 60, until: Some(360), step: None };
    for base in [lots(""), lots("Lottery = proportional\nWeighting = proportional")] {
        shown_a_part(&trace, 12, &base, &plan);
    }
}

#[test]
fn the_same_run_twice_is_the_same_to_the_byte() {
    let trace = crowd(&[(1, 1), (1, 2), (2, 3)], 2);
    for base in [condor("", &[]), slurm(CONF, DUMP), lots("")] {
        let text = || serde_json::to_string(&played(&trace, 20, &base, 2 * DAY)).unwrap();
        assert_eq!(text(), text());
    }
}

#[test]
fn another_seed_draws_other_lots() {
    let trace = crowd(&[(1, 1), (1, 2), (2, 3)], 2);
    let seeded = |seed| played(&trace, 20, &Snapshot { seed, ..lots("") }, 2 * DAY);
    assert_ne!(seeded(1), seeded(2));
}
