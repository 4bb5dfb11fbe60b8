//! The fast cycle and the slow one agree, match by match. One file, because all tests share the comparison.
//!
//! The slow one, request by request and slot by slot through the evaluator, is the authority. Both are run over random
//! pools with every feature of the negotiator, over the recorded scenarios and over made pools of real shape.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test whose data is wrong has failed")]

use crate::recorded;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use classmate::Semantics;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::accepts;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::format::long::LongReader;
use classmate::internal::program::Side;
use classmate::internal::program::atom::{Atom, Atoms};
use classmate::internal::program::column::Column;
use classmate::internal::program::condition::{expression, requirements as apart};
use classmate::internal::program::mask::Mask;
use classmate::internal::program::table::Table;
use classmate::internal::program::view::TableView;
use classmate::internal::semantics::{DOCUMENTED, LATEST};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::threads;
use classmate::internal::value::Value;
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::generate::{GeneratedPool, NOW, Shape};
use classmate_pool::internal::negotiate::slot_matcher::ClassCounts;
use classmate_pool::internal::negotiate::{Cycle, CycleOptions, Matcher, PreparedPool, Snapshot};

use crate::random::Random;

fn cycle(snapshot: &Snapshot, matcher: Matcher) -> Cycle {
    let options = CycleOptions { matcher, ..CycleOptions::default() };
    PreparedPool::new(snapshot).and_then(|mut pool| pool.negotiate(options)).unwrap()
}

/// Attributes of slots that a cycle does not need and that some of the cycles below did without.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

fn attributes(snapshot: &Snapshot) -> usize {
    snapshot.slots.iter().map(ClassAd::len).sum()
}

/// Runs both ways, with hardly any memory for classes, and over slots of which only what is needed is kept, and compares everything that was decided. Gives the classes of the fast one.
fn agree(name: &str, snapshot: &Snapshot) -> Option<ClassCounts> {
    let (fast, slow) = (cycle(snapshot, Matcher::default()), cycle(snapshot, Matcher::Reference));
    let pairs = fast.outcome.matches.iter().zip(&slow.outcome.matches);
    for (at, (fast, slow)) in pairs.enumerate() {
        assert_eq!(fast, slow, "{name}: match {at}");
    }
    let pairs = fast.outcome.rejections.iter().zip(&slow.outcome.rejections);
    for (at, (fast, slow)) in pairs.enumerate() {
        assert_eq!(fast, slow, "{name}: rejection {at}");
    }
    let text = |cycle: &Cycle| serde_json::to_string(&cycle.outcome).unwrap();
    assert_eq!(text(&fast), text(&slow), "{name}");
    for room in [0, 4096] {
        let tight = cycle(snapshot, Matcher::Columnar { memory: room });
        assert_eq!(text(&tight), text(&slow), "{name}: with {room} bytes for classes");
    }
    let mut needed = snapshot.clone();
    if needed.project() {
        let left_out = attributes(snapshot) - attributes(&needed);
        LEFT_OUT.fetch_add(left_out, Ordering::Relaxed);
        assert_eq!(text(&cycle(&needed, Matcher::default())), text(&slow), "{name}: of slots what is needed");
        assert_eq!(text(&cycle(&needed, Matcher::Reference)), text(&slow), "{name}: of slots what is needed, slowly");
    }
    assert!(slow.classes.is_none());
    fast.classes
}

// ---- random pools -----------------------------------------------------------------------------------------------

/// An expression of slots or jobs, from the kinds that real ones are made of.
fn condition(random: &mut Random, depth: u32) -> String {
    if depth > 0 && random.below(3) > 0 {
        let (a, b) = (condition(random, depth - 1), condition(random, depth - 1));
        return match random.below(7) {
            0 | 1 => format!("({a}) && ({b})"),
            2 => format!("{a} && {b}"),
            3 => format!("({a} || {b})"),
            4 => format!("!({a})"),
            5 => format!("ifThenElse({a}, {b}, {})", condition(random, 0)),
            _ => format!("({a} ? {b} : {})", condition(random, 0)),
        };
    }
    let number = number(random, 1);
    let own = random.below(6);
    match random.below(29) {
        0 => format!("TARGET.Memory >= {own}"),
        1 => "TARGET.Memory >= RequestMemory".into(),
        2 => "MY.Memory >= TARGET.RequestMemory".into(),
        3 => "Site == \"a\"".into(),
        4 => "TARGET.Site =!= \"B\"".into(),
        5 => "stringListMember(Site, Sites)".into(),
        6 => "isUndefined(Nothing) || Nothing".into(),
        7 => format!("Fast{}", random.below(2)),
        8 => "time() < Until".into(),
        9 => format!("{number} > {own}"),
        10 => "regexp(\"^[ab]$\", Site)".into(),
        11 => "(Odd ?: true)".into(),
        12 => "TARGET.Name =!= \"slot3\"".into(),
        13 => "Owner == \"u1\"".into(),
        14 => "error".into(),
        15 => "undefined".into(),
        16 => "\"text\"".into(),
        17 => format!("{own}"),
        18 => "Start".into(),
        19 => "MY.Speed > TARGET.Speed".into(),
        // What is asked for decides which part is ever looked at.
        20 => "(Odd =!= undefined ? countMatches(Memory > 1, {[Memory = 3]}) > 0 : TARGET.Memory > 1)".into(),
        21 => "(Sites is undefined || Nothing is undefined || size(GlobalJobId) > 9)".into(),
        22 => "(false && split(GlobalJobId, \"#\")[0] == \"s0\" || Site =!= undefined)".into(),
        23 => "GlobalJobId >= \"s0#2.1\"".into(),
        // Parts that only functions evaluate, beside values that every slot has its own of.
        24 => "(versionGE(split(TARGET.Version)[1], \"25.12.0\") || TARGET.Memory >= RequestMemory)".into(),
        25 => format!("(Speed - size(Site ?: \"\")) * {own} < TARGET.Speed"),
        26 => "(TARGET.RequestMemory - ifThenElse(Method ?: \"\" != \"Copy\", ifThenElse(Asked =?= undefined || \
               Catalogs =?= undefined, 0, sum(evalInEachContext(member(Id, Asked) ? Size : 0, Catalogs))), 0)) <= MY.Speed"
            .into(),
        _ => "true".into(),
    }
}

fn number(random: &mut Random, depth: u32) -> String {
    if depth > 0 && random.below(2) == 0 {
        let op = ["+", "-", "*", "/", "%"][random.below(5) as usize];
        return format!("({} {op} {})", number(random, depth - 1), number(random, depth - 1));
    }
    match random.below(11) {
        0 => "Memory".into(),
        1 => "TARGET.Memory".into(),
        9 => "ifThenElse(Sites is undefined || Which =?= undefined, 1, sum(evalInEachContext(Memory + size(GlobalJobId), \
              {[Memory = 3]})))"
            .into(),
        2 => "Speed".into(),
        3 => "MY.RequestMemory".into(),
        4 => "(Until - time())".into(),
        5 => "TARGET.Speed".into(),
        6 => format!("{}.5", random.below(3)),
        7 => "(Fast0 is true)".into(),
        _ => format!("{}", random.below(5)),
    }
}

/// Something that cannot be foreseen or taken apart, now and then.
fn peculiar(random: &mut Random) -> String {
    match random.below(9) {
        0 => "size(MY) > 3".into(),
        1 => "eval(\"Memory > 1\")".into(),
        2 => "random(10) > 4 && random(10) > 2".into(),
        3 => "Start || Requirements".into(),
        4 => "TARGET[Which] > 1".into(),
        5 => "unresolved(Requirements) == \"x\" || Memory > 1".into(),
        6 => "evalInEachContext(Memory, {[Memory = 3]})[0] > TARGET.Memory".into(),
        7 => "countMatches(Memory > 1, {[Memory = 3]}) > 0 && Memory > 2".into(),
        _ => "TARGET.SubmitterUserResourcesInUse < 4 || SubmitterUserPrio > 600".into(),
    }
}

fn requirements(random: &mut Random, strange: bool) -> String {
    let plain = condition(random, 3);
    if strange && random.below(4) == 0 { format!("{} && ({plain})", peculiar(random)) } else { plain }
}

/// What differs from pool to pool.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
struct Features {
    strange: bool,
    preemption: bool,
    groups: bool,
    consumption: bool,
    rooms: bool,
    unique: bool,
}

fn slot(random: &mut Random, number: u64, features: &Features) -> ClassAd {
    let mut text = format!("Name = \"slot{number}\"; Memory = {}; Cpus = {}", random.below(5), 1 + random.below(3));
    let kind = random.below(3);
    // Slots of one kind share their expressions, as those of a site do.
    let mut kinds = Random::of(kind);
    let policy = requirements(&mut kinds, features.strange);
    let _ = write!(text, "; Requirements = {policy}; Start = {}", condition(&mut kinds, 2));
    if kinds.below(2) == 0 {
        text += "; Rank = TARGET.Dept * 2";
    }
    for (name, values) in [
        ("Site", &["\"a\"", "\"b\"", "\"B\"", "c", "7"][..]),
        ("Fast0", &["true", "false", "1"]),
        ("Fast1", &["Memory > 2", "TARGET.RequestMemory > 1"]),
        ("Odd", &["false", "undefined", "error"]),
        ("SlotWeight", &["1", "2", "Cpus", "\"x\"", "0"]),
        ("MyAddress", &["\"<10.0.0.1:1>\"", "\"<[::1]:1>\""]),
        ("Which", &["\"RequestMemory\"", "\"Memory\"", "\"Nothing\""]),
        ("Version", &["\"$V: 25.14.1 x $\"", "\"$V: 24.0.1 x $\"", "7"]),
        ("Method", &["\"Hardlink\"", "\"Copy\"", "2"]),
        ("Catalogs", &["{[Id = 1; Size = 2], [Id = 2; Size = 3]}", "{}", "{[Id = Memory; Size = Speed]}"]),
        ("PartitionableSlot", &["true"]),
        ("RemoteScheddName", &["\"s0\"", "\"s1\""]),
    ] {
        if random.below(3) == 0 {
            let _ = write!(text, "; {name} = {}", values[random.below(values.len() as u64) as usize]);
        }
    }
    let speed = if features.unique { number * 7 % 101 } else { random.below(3) };
    let _ = write!(
        text,
        "; Speed = {speed}; Until = {}",
        (5 * random.below(5) + random.below(3)) as i64 - 5 * random.below(2) as i64
    );
    if features.preemption && random.below(2) == 0 {
        let user = random.below(4);
        let _ = write!(
            text,
            "; State = \"Claimed\"; RemoteUser = \"u{user}@x\"; CurrentRank = {}",
            ["0", "0.0", "2", "undefined"][random.below(4) as usize]
        );
    }
    if features.consumption && random.below(3) == 0 {
        // What is taken of a slot may cost nothing, or less.
        let weight = ["Cpus", "Cpus", "2", "9 - Cpus"][random.below(4) as usize];
        let _ = write!(
            text,
            "; PartitionableSlot = true; MachineResources = \"Cpus Memory\"; ConsumptionCpus = TARGET.RequestCpus; \
             ConsumptionMemory = quantize(TARGET.RequestMemory, {{1}}); Cpus = {}; SlotWeight = {weight}",
            1 + random.below(5)
        );
    }
    if features.consumption && random.below(9) == 0 {
        text += "; WantAdRevaluate = true";
        text += ["", "; ClaimId = \"a\"", "; ClaimIdList = \"a,b,c\""][random.below(3) as usize];
    }
    if features.strange && random.below(9) == 0 {
        text += "; other = [Memory = 3]";
    }
    if features.rooms && random.below(3) == 0 {
        let _ = write!(
            text,
            "; PartitionableSlot = true; MachineResources = \"Cpus Memory\"; NumDynamicSlots = 2; ChildState = {{\"Claimed\", \
             \"Claimed\"}}; ChildName = {{\"slot{}\", \"slot{}\"}}; ChildCurrentRank = {{0.0, {}}}; ChildCpus = {{1, 1}}; \
             ChildMemory = {{2, {}}}; ChildRetirementTimeRemaining = {{0, 0}}",
            random.below(9),
            random.below(9),
            random.below(3),
            random.below(4)
        );
    } else if features.rooms && random.below(4) == 0 {
        text += "; DynamicSlot = true; PslotRollupInformation = true";
    }
    ClassAd::parse(format!("[{text}]").as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn jobs(random: &mut Random, cluster: u64, features: &Features) -> Vec<ClassAd> {
    let (user, count) = (random.below(4), 1 + random.below(6));
    let (wants, point) = (requirements(random, features.strange), random.below(2));
    let mut same = format!(
        "ClusterId = {cluster}; JobStatus = 1; User = \"u{user}@x\"; Owner = \"u{user}\"; JobPrio = {}; RequestMemory = {}; \
         RequestCpus = 1; Requirements = {wants}; Dept = {}",
        random.below(3),
        random.below(5),
        random.below(3)
    );
    if random.below(2) == 0 {
        let rank = match random.below(4) {
            0 => "TARGET.Speed".into(),
            1 => "TARGET.Site == \"a\"".into(),
            _ => number(random, 2),
        };
        let _ = write!(same, "; Rank = {rank}");
    }
    for (name, values) in [
        ("Sites", &["\"a,c\"", "\"b\"", "7"][..]),
        ("Nothing", &["true", "TARGET.Memory > 2"]),
        ("Start", &["true", "Memory > 1"]),
        ("Fast1", &["TARGET.Fast0", "false"]),
        ("Speed", &["1", "TARGET.Speed - 1"]),
        ("Version", &["\"$V: 24.0.1 x $\"", "TARGET.Version"]),
        ("WantPslotPreemption", &["true"]),
        ("Asked", &["{1}", "{1, 2}", "\"1\"", "{Dept}"]),
        ("ConcurrencyLimits", &["\"lic\"", "\"LIC:2, other\"", "strcat(\"site_\", TARGET.Site)"]),
        ("AccountingGroup", &["\"a.u\"", "\"b\"", "\"c.v\""]),
    ] {
        if random.below(4) == 0 {
            let _ = write!(same, "; {name} = {}", values[random.below(values.len() as u64) as usize]);
        }
    }
    if features.strange && random.below(9) == 0 {
        same += "; other = [Memory = 3]";
    }
    let job = |process: u64| {
        let text = format!("[{same}; ProcId = {process}; GlobalJobId = \"s{point}#{cluster}.{process}#0\"]");
        ClassAd::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    (0..count).map(job).collect()
}

fn config(random: &mut Random, features: &Features) -> String {
    let mut text = String::from("LIC_LIMIT = 3\nCONCURRENCY_LIMIT_DEFAULT = 2\n");
    for (line, chance) in [
        ("NEGOTIATOR_PRE_JOB_RANK = MY.Memory", 3),
        ("NEGOTIATOR_PRE_JOB_RANK = MY.Speed * 16777217", 5),
        ("NEGOTIATOR_POST_JOB_RANK = (RemoteOwner =?= UNDEFINED) * (Cpus - TARGET.RequestMemory)", 3),
        ("NEGOTIATOR_POST_JOB_RANK = eval(\"Memory - TARGET.RequestMemory\")", 12),
        ("NEGOTIATOR_MATCHLIST_CACHING = false", 5),
        ("NEGOTIATOR_USE_SLOT_WEIGHTS = false", 5),
        ("NEGOTIATOR_DEPTH_FIRST = true", 6),
        ("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 1", 6),
        ("NEGOTIATOR_IGNORE_USER_PRIORITIES = true", 8),
        ("NEGOTIATOR_IGNORE_JOB_RANKS = true", 10),
        ("NEGOTIATOR_MATCH_EXPRS = Odd\nOdd = Memory > 1", 8),
        ("NEGOTIATOR_JOB_CONSTRAINT = RequestMemory > 0", 9),
        ("NEGOTIATE_ALL_JOBS_IN_CLUSTER = T", 5),
        ("USE_RESOURCE_REQUEST_COUNTS = false", 8),
    ] {
        if random.below(chance) == 0 {
            text += line;
            text.push('\n');
        }
    }
    if features.rooms {
        text += "ALLOW_PSLOT_PREEMPTION = true\n";
    }
    if !features.preemption {
        text += "NEGOTIATOR_CONSIDER_PREEMPTION = false\n";
    } else if random.below(2) == 0 {
        text += [
            "PREEMPTION_REQUIREMENTS = true\n",
            "PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmittorPrio * 0.9\n",
            "PREEMPTION_REQUIREMENTS = MY.Memory > TARGET.RequestMemory\nPREEMPTION_RANK = MY.Speed - TARGET.Dept\n",
            "PREEMPTION_REQUIREMENTS = RemoteUserResourcesInUse > 1\n",
            "PREEMPTION_REQUIREMENTS = true\nPREEMPTION_RANK_STABLE = false\n",
            "PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 0.9\nPREEMPTION_REQUIREMENTS_STABLE = false\n",
        ][random.below(6) as usize];
    }
    if features.groups {
        text += "GROUP_NAMES = a, b, c\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_b = 4\nGROUP_QUOTA_DYNAMIC_c = 0.2\n";
        if random.below(2) == 0 {
            text += "GROUP_ACCEPT_SURPLUS = true\n";
        }
        if random.below(3) == 0 {
            text += "GROUP_AUTOREGROUP = true\n";
        }
    }
    text
}

fn pool(seed: u64) -> Snapshot {
    let mut random = Random::of(seed);
    let mut chance = |one_in: u64| random.below(one_in) == 0;
    let features = Features {
        strange: chance(4),
        preemption: chance(2),
        groups: chance(3),
        consumption: chance(6),
        rooms: chance(12),
        unique: chance(3),
    };
    let slots = 1 + random.below(60);
    let clusters = random.below(12);
    let text = config(&mut random, &features);
    // Now and then submitters say by which protocol they can be reached.
    let submitter = |number: u64| {
        let (user, point) = (number / 2, number % 2);
        let address = ["<10.0.0.9:9618>", "<[::1]:9618>"][(seed as usize + number as usize) % 2];
        let text = format!(
            "[Name = \"u{user}@x\"; ScheddName = \"s{point}\"; ScheddIpAddr = \"{address}\"; IdleJobs = {}]",
            number % 7
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    let submitters = seed.is_multiple_of(3).then(|| (0..8).map(submitter).collect());
    Snapshot {
        submitters,
        config: Config::parse("config", text.as_bytes()).unwrap(),
        slots: (0..slots).map(|number| slot(&mut random, number, &features)).collect(),
        jobs: (1..=clusters).flat_map(|cluster| jobs(&mut random, cluster, &features)).collect(),
        now: 10,
        seed,
        ..Snapshot::default()
    }
}

#[test]
fn random_pools_are_matched_alike() {
    let pools: u64 = std::env::var("CLASSMATE_POOLS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000);
    let first: u64 = std::env::var("CLASSMATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let compared = threads::map_range(pools as usize, |at| {
        let seed = first + at as u64;
        let snapshot = pool(seed);
        let classes = agree(&format!("pool {seed}"), &snapshot);
        (classes, cycle(&snapshot, Matcher::default()).outcome.matches.len())
    });
    let by_classes = || compared.iter().filter_map(|(classes, _)| classes.as_ref());
    let fast = by_classes().count() as u64;
    let matches: usize = compared.iter().map(|(_, matches)| matches).sum();
    // Otherwise nothing was compared with anything.
    assert!(fast * 2 > pools && matches as u64 > pools, "{fast} of {pools} by classes, {matches} matches");
    let counted = |reason: fn(&ClassCounts) -> Option<&'static str>| {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for reason in by_classes().filter_map(reason) {
            *counts.entry(reason).or_default() += 1;
        }
        counts
    };
    // Some slots of these pools are evaluated by themselves, or ranked one by one, for each of the reasons.
    for (reasons, number) in [(counted(|classes| classes.odd), 5), (counted(|classes| classes.listed), 4)] {
        assert!(reasons.len() == number && reasons.values().all(|of| of * 100 > pools), "{reasons:?} of {pools}");
    }
    let left_out = LEFT_OUT.load(Ordering::Relaxed) as u64;
    assert!(left_out > pools * 10, "{left_out} attributes of slots left out");
}

/// A slot of a class that was over the limit of the submitter counts as such also after a match with a slot that has a consumption
/// policy: the submitter negotiates again in the next pie spin.
#[test]
fn slots_over_the_limit_count_after_a_match_by_a_consumption_policy() {
    let ads = |texts: &[&str]| texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
    let slots: Vec<ClassAd> = ads(&[
        r#"[Name = "slot86@m86"; Arch = "A"; Start = true; Requirements = START]"#,
        r#"[Name = "slot114@m114"; Arch = "A"; Start = true; Requirements = START]"#,
        r#"[Name = "slot151@m151"; Cpus = 4; Memory = 4000; Start = TARGET.RequestMemory <= Memory; Requirements = START]"#,
        r#"[Name = "slot157@m157"; Cpus = 8; Memory = 4000; Arch = "A"; Start = TARGET.RequestMemory <= Memory; Requirements = START]"#,
        r#"[Name = "slot162@m162"; Memory = 2000; KFlops = 65834; Arch = "A"; Start = TARGET.RequestMemory <= Memory; Requirements = START; WantAdRevaluate = true]"#,
        r#"[Name = "slot173@m173"; Cpus = 8; Arch = "A"; Start = true; Requirements = START]"#,
        r#"[Name = "slot186@m186"; Cpus = 2; Memory = 4000; Arch = "A"; Start = TARGET.RequestMemory <= Memory; Requirements = START; PartitionableSlot = true; MachineResources = "Cpus Memory"; ConsumptionCpus = TARGET.RequestCpus; ConsumptionMemory = TARGET.RequestMemory]"#,
    ]);
    let jobs: Vec<ClassAd> = ads(&[
        r#"[ClusterId = 6; User = "u2@x"; JobStatus = 1; RequestCpus = 2; RequestMemory = 500; Requirements = TARGET.Arch == "A"]"#,
        r#"[ClusterId = 6; User = "u2@x"; JobStatus = 1; ConcurrencyLimits = "ifThen"]"#,
        r#"[ClusterId = 6; User = "u2@x"; JobStatus = 1; JobPrio = 1; Requirements = TARGET.Arch == "A"]"#,
        r#"[ClusterId = 8; AccountingGroup = "g2.u1"; JobStatus = 1; RequestMemory = 3000; Requirements = TARGET.Memory >= RequestMemory; ConcurrencyLimits = "ifThen"]"#,
        r#"[ClusterId = 12; User = "u0@x"; JobStatus = 1; RequestCpus = 4]"#,
        r#"[ClusterId = 12; User = "u0@x"; JobStatus = 1; RequestCpus = 4]"#,
        r#"[ClusterId = 12; User = "u0@x"; JobStatus = 1; RequestCpus = 4]"#,
        r#"[ClusterId = 12; User = "u0@x"; JobStatus = 1; RequestCpus = 4]"#,
        r#"[ClusterId = 12; User = "u0@x"; JobStatus = 1; RequestCpus = 4]"#,
        r#"[ClusterId = 13; AccountingGroup = "g2.u2"; JobStatus = 1; RequestMemory = 3000; Requirements = TARGET.Arch == "A"; ConcurrencyLimits = "ifThen"]"#,
        r#"[ClusterId = 14; AccountingGroup = "g2.u0"; JobStatus = 1; RequestMemory = 500; Rank = TARGET.KFlops; Requirements = TARGET.Arch == "A"]"#,
    ]);
    let config =
        b"GROUP_NAMES = g1, g2\nGROUP_QUOTA_g2 = 36\nNEGOTIATOR_DEPTH_FIRST = true\nCONCURRENCY_LIMIT_DEFAULT = 3\n";
    let snapshot =
        Snapshot { config: Config::parse("config", config).unwrap(), slots, jobs, now: 10, ..Snapshot::default() };
    agree("a consumption policy beside slots over the limit", &snapshot).unwrap();
    assert_eq!(cycle(&snapshot, Matcher::Reference).outcome.statistics.pie_spins, 3);
}

/// The pool in another version of the language, with what differs between versions in its slots and jobs.
fn in_version(snapshot: Snapshot, semantics: Semantics) -> Snapshot {
    in_versions(snapshot, semantics, |_| semantics)
}

/// As [`in_version`], with a version for each slot and job by its number.
fn in_versions(mut snapshot: Snapshot, semantics: Semantics, of_ad: impl Fn(usize) -> Semantics) -> Snapshot {
    let set = |(at, ad): (usize, &mut ClassAd), name: &str, text: &str| {
        let options = ParseOptions { semantics: of_ad(at), ..ParseOptions::default() };
        let text =
            text.replace("$REQUIREMENTS", &ad.get("Requirements").map_or_else(String::new, |old| old.to_string()));
        ad.insert_expr(name, &parse_expr(text.as_bytes(), &options).unwrap());
    };
    for (at, slot) in snapshot.slots.iter_mut().enumerate() {
        match at % 4 {
            0 => set((at, slot), "Fast0", "Fast0 ?: Memory > 1"),
            1 => set((at, slot), "Start", "versiongt(\"2\", \"1\") && Memory ?: 0 < TARGET.RequestMemory"),
            2 => set((at, slot), "Speed", "int(\"1K\") % 7"),
            _ => set((at, slot), "Rank", "splitTime(2147483648 + TARGET.Dept).Year"),
        }
    }
    for (at, job) in snapshot.jobs.iter_mut().enumerate() {
        match at % 3 {
            0 => {
                set((at, job), "Requirements", "($REQUIREMENTS) && (TARGET.Fast0 || TARGET.Start || TARGET.Speed > 1)");
            }
            1 => set((at, job), "Rank", "TARGET.Speed ? : 1 + relTime(\"0:02\")"),
            _ => {}
        }
    }
    snapshot.config = snapshot.config.read_as(semantics);
    snapshot
}

#[test]
fn random_pools_of_other_versions_are_matched_alike() {
    let differing = threads::map_range(400, |at| {
        let series = DOCUMENTED[at % (DOCUMENTED.len() - 1)];
        let snapshot = in_version(pool(at as u64), Semantics::of(series));
        agree(&format!("pool {at} of {series}"), &snapshot);
        let text = |snapshot: &Snapshot| serde_json::to_string(&cycle(snapshot, Matcher::default()).outcome).unwrap();
        text(&snapshot) != text(&in_version(pool(at as u64), Semantics::default()))
    });
    // Otherwise the versions were not compared with anything.
    let differing = differing.into_iter().filter(|differs| *differs).count();
    assert!(differing > 100, "{differing} of 400 pools differ from the present version");
}

/// Versions of slots and jobs, beside each other in one pool.
#[test]
fn random_pools_of_several_versions_are_matched_alike() {
    let differing = threads::map_range(400, |at| {
        let of_ad = |ad: usize| Semantics::of(DOCUMENTED[(at + ad * 5 / 2) % DOCUMENTED.len()]);
        let negotiator = Semantics::of(DOCUMENTED[at % DOCUMENTED.len()]);
        let snapshot = in_versions(pool(at as u64), negotiator.advertised(), of_ad);
        agree(&format!("pool {at} of several versions"), &snapshot);
        let text = |snapshot: &Snapshot| serde_json::to_string(&cycle(snapshot, Matcher::default()).outcome).unwrap();
        let mixed = text(&snapshot);
        [DOCUMENTED[0], LATEST].iter().all(|one| text(&in_version(pool(at as u64), Semantics::of(*one))) != mixed)
    });
    // Otherwise all ads could have been read in one version.
    let differing = differing.into_iter().filter(|differs| *differs).count();
    assert!(differing > 100, "{differing} of 400 pools differ from those of one version");
}

// ---- recorded and made pools ------------------------------------------------------------------------------------

fn ads(text: &[u8]) -> Vec<ClassAd> {
    LongReader::new(text, &ParseOptions::default()).collect::<Result<_, _>>().unwrap()
}

#[test]
fn recorded_scenarios_are_matched_alike() {
    let mut seen = 0;
    for entry in std::fs::read_dir(recorded::scenarios()).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("slots.ads").exists() {
            continue;
        }
        let snapshot = Snapshot::read_dir(&path).unwrap().snapshot;
        if snapshot.slots.is_empty() {
            continue;
        }
        agree(&path.display().to_string(), &snapshot);
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
}

fn made(pool: &GeneratedPool) -> Snapshot {
    let text = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut text = Vec::new();
        write(&mut text).unwrap();
        text
    };
    Snapshot {
        config: Config::parse("config", &text(&|out| pool.write_config(out))).unwrap(),
        slots: ads(&text(&|out| pool.write_slots(out))),
        jobs: ads(&text(&|out| pool.write_jobs(out))),
        submitters: Some(ads(&text(&|out| pool.write_submitters(out)))),
        log: AccountantLog::read(&text(&|out| pool.write_log(out))).ok(),
        now: NOW,
        ..Snapshot::default()
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let pool = GeneratedPool {
        slots: 500,
        jobs: 1000,
        autoclusters: 60,
        submitters: 9,
        groups: 3,
        ..GeneratedPool::default()
    };
    let snapshot = made(&pool);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| cycle(&snapshot, Matcher::default()).outcome);
        serde_json::to_string(&outcome).unwrap()
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(7));
}

#[test]
fn slots_of_real_width_are_matched_alike() {
    let pool = GeneratedPool {
        slots: 100,
        jobs: 400,
        autoclusters: 80,
        submitters: 7,
        full: true,
        ..GeneratedPool::default()
    };
    let mut snapshot = made(&pool);
    // The slots of a real pool, in the long format, if there are any.
    if let Some(path) = std::env::var_os("CLASSMATE_SLOTS") {
        snapshot.slots = ads(&std::fs::read(path).unwrap());
    }
    for ad in snapshot.slots.iter_mut().step_by(2) {
        // As the execution points of the reference have it since they keep files of jobs: no job asks for a catalog.
        let limits = "TARGET.RequestMemory <= MY.Memory && (TARGET.RequestDisk - ifThenElse(MappingMethod ?: \"\" != \"Copy\", \
                      ifThenElse(RequestedCatalogs =?= undefined || Catalogs =?= undefined, 0, \
                      sum(evalInEachContext(split(GlobalJobId, \"#\")[0] == AccessPoint ? CatalogSize : 0, Catalogs))), 0)) \
                      <= MY.Disk";
        ad.insert_expr("WithinResourceLimits", &parse_expr(limits.as_bytes(), &ParseOptions::default()).unwrap());
        let policy = "Start && WithinResourceLimits";
        ad.insert_expr("Requirements", &parse_expr(policy.as_bytes(), &ParseOptions::default()).unwrap());
    }
    let classes = agree("slots of real width", &snapshot).unwrap();
    // Every job is an autocluster: their numbers are significant. The classes are few all the same.
    let Cycle { outcome, .. } = cycle(&snapshot, Matcher::default());
    assert_eq!((outcome.statistics.autoclusters, classes.by_slot), (400, 0));
    assert!(classes.requests <= 80, "{}", classes.requests);
}

/// Conditions on an attribute `N` or `P` of a job, of which some cannot distinguish all values.
const USES: &[&str] = &[
    "TARGET.N < MY.M",
    "MY.M <= TARGET.N && TARGET.N != 12",
    "TARGET.N + 3 >= MY.M",
    "4 + TARGET.N > MY.M || TARGET.N - 2 == 9",
    "((TARGET.N ?: 0)) > 7",
    "(0 ?: TARGET.N) > 7 || TARGET.N =?= 5",
    "TARGET.N == 5.0 || TARGET.N =?= 7.0 || TARGET.N =!= undefined && TARGET.N > 11.5",
    "TARGET.N >= true",
    "TARGET.N + 1 > 3.5",
    "isInteger(TARGET.N) && N < MaxN",
    "TARGET.N < TARGET.K",
    "TARGET.N * 2 > MY.M",
    "MY.M - TARGET.N > 0",
    "TARGET.N % 2 == 0 && TARGET.N < MY.M",
    "TARGET[\"N\"] > 9 || TARGET.N > 12",
    "int(TARGET.P) < 9",
    "TARGET.N > 12 || TARGET.N > MY.Text",
    "countMatches(TARGET.N > 6, {[N = 7], [N = 8]}) > 1",
    "member(TARGET.N, {3, 4, 11})",
    "TARGET.N > 9007199254740992",
    "TARGET.P == MY.Text",
    "TARGET.P =?= \"b\"",
    "TARGET.P != \"B\" && isString(TARGET.P)",
    "TARGET.P < \"m\"",
    "regexp(\"^p[13]\", TARGET.P)",
    "TARGET.P =!= undefined && TARGET.P != MY.Text",
    "stringListMember(TARGET.P, \"p3,p4,b\")",
    "(TARGET.P ?: \"b\") == MY.Text",
    "isUndefined(TARGET.P) || TARGET.P == Owned",
    "TARGET.P + 1 =?= error",
];

#[test]
fn equivalent_values_of_requests_are_matched_alike() {
    let slot = |at: usize, uses: &str| {
        let m = ["4", "7.5", "9", "N + 2", "\"x\"", "undefined", "12"][at % 7];
        let text = ["b", "P3", "é"][at % 3];
        let ad = format!(
            "[MyType = \"Machine\"; Name = \"s{at}\"; Machine = \"m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; \
             StartdIpAddr = \"<10.0.0.1:1?x={at}>\"; M = {m}; Text = \"{text}\"; MaxN = 10; N = 3; Requirements = {uses}]"
        );
        ClassAd::parse(ad.as_bytes()).unwrap()
    };
    let values = (-2..15).map(|n| format!("N = {n}; P = \"p{n}\"")).chain(
        [
            "N = 9007199254740993; P = \"B\"",
            "N = 5.0; P = \"b\"",
            "N = \"5\"; P = 7",
            "P = \"é\"",
            "N = K + 1; P = undefined",
            "N = true",
            "",
        ]
        .map(str::to_owned),
    );
    let jobs: Vec<ClassAd> = (1..).zip(values).map(|(cluster, value)| {
        let ad = format!(
            "[MyType = \"Job\"; ClusterId = {cluster}; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; QDate = {cluster}; \
             K = {}; Owned = \"p6\"; {value}; Requirements = true]", cluster % 5
        );
        ClassAd::parse(ad.as_bytes()).unwrap()
    }).collect();
    let mut batched = 0;
    for uses in USES {
        let slots = (0..40).map(|at| slot(at, uses)).collect();
        let snapshot = Snapshot { slots, jobs: jobs.clone(), now: 1000, ..Snapshot::default() };
        let found = cycle(&snapshot, Matcher::Reference).outcome;
        assert!(!found.matches.is_empty() && !found.rejections.is_empty(), "{uses}: {} matches", found.matches.len());
        let classes = agree(uses, &snapshot).unwrap();
        batched += classes.batched + classes.scalar;
    }
    assert!(batched > 0);
}

#[test]
fn a_pool_of_so_many_passes_takes_so_many() {
    let of = |passes| GeneratedPool {
        slots: 4096,
        autoclusters: 64,
        submitters: 32,
        shape: Shape::Static,
        unmatched: 0.0,
        passes,
        ..GeneratedPool::default()
    };
    let taken = |passes| cycle(&made(&of(passes)), Matcher::default()).outcome.statistics.pie_spins;
    assert_eq!((taken(1), taken(4), taken(16)), (1, 4, 16));
    agree("sixteen passes", &made(&of(16)));
}

#[test]
fn made_pools_of_every_shape_are_matched_alike() {
    for (shape, groups) in [
        (Shape::Ospool, 0),
        (Shape::Ospool, 5),
        (Shape::Static, 0),
        (Shape::Gpu, 3),
        (Shape::Distinct, 0),
        (Shape::Stock, 2),
    ] {
        let pool = GeneratedPool {
            slots: 300,
            jobs: 600,
            autoclusters: 40,
            submitters: 7,
            groups,
            shape,
            claimed: 0.3,
            unmatched: 0.1,
            ..GeneratedPool::default()
        };
        let classes = agree(&format!("{shape:?}"), &made(&pool)).unwrap();
        assert_eq!(classes.by_slot, 0, "{shape:?}");
    }
}

// ---- expressions ------------------------------------------------------------------------------------------------

/// Rows of one structure, with all of their attributes in columns.
fn columns(rows: &[ClassAd]) -> Table {
    let mut table = Table::default();
    for name in rows[0].names() {
        if let Some(column) = Column::of(&[name], rows.len(), &|at| &rows[at]).remove(0) {
            table.push(column);
        }
    }
    table
}

/// Evaluates an expression in every row, over columns and by the evaluator, and as the Requirements of either side, taken
/// apart and whole. Gives how often columns sufficed.
fn same_over_columns(what: &str, expr: &Expr, rows: &[ClassAd], other: &ClassAd, settings: &EvalOptions) -> u64 {
    let with = |ad: &ClassAd| {
        let mut ad = ad.clone();
        ad.insert_expr("Requirements", expr);
        ad
    };
    let rows: Vec<ClassAd> = rows.iter().map(with).collect();
    let other = with(other);
    let (table, source) = (columns(&rows), rows.iter().collect::<Vec<_>>());
    let ads: Vec<u32> = (0..rows.len() as u32).collect();
    let view = TableView { table: &table, ads: &ads, source: &source, other: &other, settings };
    let mut atoms = Atoms::default();
    for side in [Side::Row, Side::Other] {
        let sides = |row: &'_ ClassAd| {
            if side == Side::Row { (row.clone(), other.clone()) } else { (other.clone(), row.clone()) }
        };
        let atom = expression(&view.pair(), expr, side, &mut atoms);
        let groups = view.groups(&atom);
        let values = view.values(&atom, &groups).unwrap();
        let clauses = apart(&view.pair(), side, &mut atoms);
        let mut accepted = Mask::all(rows.len());
        let mut known = true;
        for clause in &clauses {
            let truths = |atom: &Atom| Some(Arc::new(view.truths(atom, &view.groups(atom))?));
            match view.clause(clause, truths) {
                Some(truths) => accepted.keep(&truths.yes),
                // Left to the cycle that asks slot by slot.
                None => {
                    known = false;
                    false
                }
            };
        }
        for (at, row) in rows.iter().enumerate() {
            let (my, target) = sides(row);
            let expected = Scope::new(&my, settings).with_target(&target).eval(expr).unwrap_or(Value::Error);
            let value = values.get(groups.of[at] as usize);
            assert_eq!(value.to_string(), expected.to_string(), "{what} on {side:?} of row {at}");
            if known {
                assert_eq!(
                    accepted.contains(at),
                    accepts(&my, &target, settings),
                    "{what} as Requirements of {side:?} {at}"
                );
            }
        }
    }
    table.batched.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn the_corpus_has_the_same_values_over_columns() {
    let path = FilePath::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/data/conformance/classad-eval.jsonl.gz");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let settings = EvalOptions { now: 1_783_252_800, ..EvalOptions::default() };
    let (mut seen, mut batched) = (0, 0);
    for line in text.lines() {
        // Records of infinities are no JSON.
        let Ok(case) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let ad = |key: &str| match case[key].as_str() {
            Some(text) => ClassAd::parse(text.as_bytes()).ok(),
            None => Some(ClassAd::new()),
        };
        let (Some(source), Some(my), Some(target)) = (case["expr"].as_str(), ad("my"), ad("target")) else { continue };
        // A cycle over ads that define what `MY` means goes slot by slot.
        let scopes =
            ["my", "target", "self", "parent", "root", "toplevel", "left", "right", "other", "ad", "lctx", "rctx"];
        let strange = [&my, &target].iter().any(|ad| scopes.iter().any(|scope| ad.contains(*scope)));
        if strange || case["mode"] != "htcondor" || case["syntax"] != "new" {
            continue;
        }
        let Ok(expr) = parse_expr(source.as_bytes(), &ParseOptions::default()) else { continue };
        let id = format!("{}: {source}", case["id"]);
        batched += same_over_columns(&id, &expr, &[my], &target, &settings);
        seen += 1;
    }
    assert!(seen > 5_000 && batched > seen, "{seen} cases, {batched} over columns");
}

#[test]
fn random_expressions_have_the_same_values_over_columns() {
    let settings = EvalOptions { now: 10, ..EvalOptions::default() };
    let parse = |text: &str| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
    let mut batched = 0;
    for seed in 0..3000 {
        let mut random = Random::of(seed ^ 0xABCD);
        let (start, fast) = (condition(&mut random, 2), condition(&mut random, 1));
        let sites = ["\"a\"", "\"B\"", "7", "undefined"];
        let rows: Vec<ClassAd> = (0..12)
            .map(|number| {
                let site = sites[random.below(4) as usize];
                let text = format!(
                    "[Name = \"slot{number}\"; Memory = {}; Speed = {}; Site = {site}; Until = {}; Fast0 = {}; Fast1 = {fast}; \
                     Start = {start}]",
                    random.below(5),
                    ["1", "2.5", "3"][random.below(3) as usize],
                    random.below(20),
                    random.below(2) == 0,
                );
                ClassAd::parse(text.as_bytes()).unwrap()
            })
            .collect();
        let other = format!(
            "[RequestMemory = {}; Sites = \"a,b\"; Speed = TARGET.Memory - 1; Owner = \"u1\"; Odd = {}]",
            random.below(5),
            ["true", "error", "Start"][random.below(3) as usize]
        );
        let other = ClassAd::parse(other.as_bytes()).unwrap();
        let text = if seed % 5 == 0 { number(&mut random, 3) } else { condition(&mut random, 4) };
        batched += same_over_columns(&format!("{seed}: {text}"), &parse(&text), &rows, &other, &settings);
    }
    assert!(batched > 3000, "{batched}");
}
