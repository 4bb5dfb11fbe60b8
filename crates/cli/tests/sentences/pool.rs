//! Random pools with everything that sentences speak of: groups, floors, ceilings, job priorities, preemption, limits.

use std::fmt::Write as _;

use classmate::internal::ad::ClassAd;
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::Snapshot;

use super::random::Random;

/// Conditions of jobs. Alternatives are in parentheses, and outside of them no condition contains `&&`.
const JOB: [&str; 14] = [
    "TARGET.Memory >= RequestMemory",
    "TARGET.Memory >= RequestMemory",
    "TARGET.Cpus >= RequestCpus",
    "TARGET.Arch == \"X\"",
    "TARGET.Disk >= 40",
    "TARGET.HasGpu",
    "TARGET.Site == \"a\"",
    "(TARGET.Arch == \"Z\" || TARGET.Memory > 6)",
    "(TARGET.Cpus > 1 ? TARGET.Memory > 3 : TARGET.HasGpu)",
    "(TARGET.Cpus > 2 ? false : TARGET.Memory > 5)",
    "(TARGET.Arch == \"Y\" && TARGET.Memory > 4 || TARGET.Disk > 60)",
    "(TARGET.Memory > 8 || TARGET.Cpus > 2 || TARGET.Disk > 70 || TARGET.Arch == \"Z\")",
    "Fits",
    "TARGET.IsGood",
];
/// Conditions of slots.
const SLOT: [&str; 10] = [
    "TARGET.RequestMemory <= Memory",
    "TARGET.RequestMemory <= Memory",
    "TARGET.RequestCpus <= Cpus",
    "TARGET.IsShort is true",
    "TARGET.Owner != \"u1\"",
    "TARGET.Dept == \"phys\"",
    "TARGET.RequestMemory < 9",
    "(isUndefined(TARGET.Wanted) || Memory == TARGET.Wanted)",
    "(isUndefined(TARGET.Dept) || TARGET.Dept == \"phys\")",
    "true",
];

fn pick<'t>(random: &mut Random, from: &[&'t str]) -> &'t str {
    from[random.below(from.len() as u64) as usize]
}

fn chance(random: &mut Random, one_in: u64) -> bool {
    random.below(one_in) == 0
}

fn several(random: &mut Random, from: &[&str], most: u64) -> String {
    let count = 1 + random.below(most);
    (0..count).map(|_| pick(random, from)).collect::<Vec<_>>().join(" && ")
}

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn slot(random: &mut Random, number: u64, policies: &[(String, String)]) -> ClassAd {
    let (start, more) = &policies[random.below(policies.len() as u64) as usize];
    let mut text = format!(
        "Name = \"s{number}@h\"; MyType = \"Machine\"; Cpus = {}; Memory = {}; Disk = {}; Arch = \"{}\"; IsGood = Memory > 4; \
         START = {start}; Requirements = START && {more}",
        1 + random.below(3),
        1 + random.below(10),
        20 * random.below(5),
        pick(random, &["X", "X", "Y"])
    );
    if chance(random, 30) {
        text = text.replace("; Requirements = START", "; Old = START");
    }
    for (name, values) in
        [("HasGpu", &["true", "false"][..]), ("Site", &["\"a\"", "\"b\"", "\"c\""]), ("SlotWeight", &["Cpus"])]
    {
        if chance(random, 2) {
            let _ = write!(text, "; {name} = {}", pick(random, values));
        }
    }
    if chance(random, 3) {
        let user = pick(random, &["u0@x", "u1@x", "u2@x", "phys.u3@x", "other@x"]);
        let _ = write!(
            text,
            "; State = \"Claimed\"; Activity = \"Busy\"; RemoteUser = \"{user}\"; RemoteOwner = \"{user}\""
        );
        if chance(random, 4) {
            text += "; ConcurrencyLimits = \"lic\"";
        }
        if chance(random, 2) {
            let _ = write!(text, "; CurrentRank = {}", pick(random, &["0.0", "1.0"]));
        }
        if chance(random, 5) {
            text += "; RetirementTimeRemaining = 100";
        }
        if chance(random, 2) {
            text += "; Rank = TARGET.Dept == \"phys\"";
        }
    } else {
        text += "; State = \"Unclaimed\"; Activity = \"Idle\"";
    }
    ad(&format!("[{text}]"))
}

fn jobs(random: &mut Random, cluster: u64, groups: bool) -> Vec<ClassAd> {
    let owner = pick(random, &["u0", "u1", "u2", "u3"]);
    let mut same = format!(
        "ClusterId = {cluster}; Owner = \"{owner}\"; User = \"{owner}@x\"; JobUniverse = {}; RequestMemory = {}; RequestCpus = {}; \
         JobPrio = {}; Fits = TARGET.Memory > 2 && TARGET.Disk > 20",
        if chance(random, 25) { 7 } else { 5 },
        1 + random.below(12),
        1 + random.below(3),
        random.below(3)
    );
    if !chance(random, 25) {
        let _ = write!(same, "; Requirements = {}", several(random, &JOB, 3));
    }
    for (name, values) in [
        ("Dept", &["\"phys\"", "\"chem\""][..]),
        ("Wanted", &["4", "12"]),
        ("IsShort", &["true", "false"]),
        ("ConcurrencyLimits", &["\"lic\"", "\"lic:2, other\""]),
        ("Rank", &["TARGET.Memory", "TARGET.Disk"]),
    ] {
        if chance(random, 3) {
            let _ = write!(same, "; {name} = {}", pick(random, values));
        }
    }
    if groups && chance(random, 2) {
        let group = pick(random, &["phys", "phys", "phys.hep", "phys.hep", "chem", "chem", "chme", "phys.hpe"]);
        let _ = write!(
            same,
            "; AcctGroup = \"{group}\"; AcctGroupUser = \"{owner}\"; AccountingGroup = \"{group}.{owner}\""
        );
    }
    let count = 1 + random.below(6);
    (0..count)
        .map(|process| {
            let status = match random.below(12) {
                0 => "5; HoldReason = \"disk full\"",
                1 => "2; RemoteHost = \"s1@h\"",
                _ => "1",
            };
            ad(&format!("[{same}; ProcId = {process}; JobStatus = {status}]"))
        })
        .collect()
}

fn config(random: &mut Random, groups: bool) -> String {
    let mut text = String::from("UID_DOMAIN = x\nLIC_LIMIT = 2\n");
    for (line, one_in) in [
        ("NEGOTIATOR_USE_SLOT_WEIGHTS = false", 4),
        ("USE_GLOBAL_JOB_PRIOS = true", 4),
        ("NEGOTIATOR_JOB_CONSTRAINT = RequestMemory < 11", 8),
        ("NEGOTIATOR_SLOT_CONSTRAINT = Disk >= 20", 8),
        ("NEGOTIATOR_SUBMITTER_CONSTRAINT = IdleJobs > 2", 12),
        ("NEGOTIATOR_CONSIDER_PREEMPTION = false", 3),
        ("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 1", 6),
        ("NEGOTIATE_ALL_JOBS_IN_CLUSTER = true", 8),
        ("PREEMPTION_REQUIREMENTS = false", 4),
        ("PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2 && MY.Memory > 3", 4),
        ("SIGNIFICANT_ATTRIBUTES = Requirements, Rank, JobPrio", 10),
    ] {
        if chance(random, one_in) {
            text += line;
            text.push('\n');
        }
    }
    if groups {
        text += "GROUP_NAMES = phys, phys.hep, chem\n";
        let _ = writeln!(text, "GROUP_QUOTA_phys = {}", 4 + random.below(8));
        let _ = writeln!(text, "GROUP_QUOTA_DYNAMIC_phys.hep = 0.{}", 1 + random.below(9));
        let _ = writeln!(text, "GROUP_QUOTA_chem = {}", random.below(6));
        for group in ["phys", "phys.hep", "chem"] {
            if chance(random, 2) {
                let _ = writeln!(text, "GROUP_ACCEPT_SURPLUS_{group} = true");
            }
        }
        if chance(random, 5) {
            text += "GROUP_AUTOREGROUP = true\n";
        }
    }
    text
}

fn log(random: &mut Random) -> String {
    let mut text = String::new();
    for user in ["u0@x", "u1@x", "u2@x", "u3@x", "phys.u1@x", "phys.hep.u2@x", "chem.u0@x"] {
        let _ = writeln!(text, "101 Customer.{user} * *\n103 Customer.{user} PriorityFactor 1.0");
        let _ = writeln!(text, "103 Customer.{user} Priority {}.0", 1 + random.below(4));
        if chance(random, 8) {
            let _ = writeln!(text, "103 Customer.{user} Ceiling {}", random.below(4));
        }
        if chance(random, 8) {
            let _ = writeln!(text, "103 Customer.{user} Floor {}", 1 + random.below(3));
        }
    }
    text
}

/// The pool of a seed.
pub(super) fn made(seed: u64) -> Snapshot {
    let mut random = Random::of(seed);
    let groups = chance(&mut random, 2);
    let policies: Vec<(String, String)> =
        (0..=random.below(3)).map(|_| (several(&mut random, &SLOT, 2), several(&mut random, &SLOT, 1))).collect();
    let slots = if chance(&mut random, 40) { 0 } else { 1 + random.below(25) };
    let clusters = 1 + random.below(9);
    Snapshot {
        slots: (0..slots).map(|number| slot(&mut random, number, &policies)).collect(),
        jobs: (1..=clusters).flat_map(|cluster| jobs(&mut random, cluster, groups)).collect(),
        config: Config::parse("config", config(&mut random, groups).as_bytes()).unwrap(),
        log: AccountantLog::read(log(&mut random).as_bytes()).ok(),
        now: 1_000_000,
        ..Snapshot::default()
    }
}
