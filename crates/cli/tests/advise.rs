//! Advice on pools with a planted problem: the known remedy is found, and the effects are those of the changed pool.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A pool with these files, and the advice about a goal.
fn advise(slots: &str, jobs: &str, config: &str, more: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("slots.ads", slots), ("jobs.ads", jobs), ("config", config)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = run(folder.path(), more);
    (folder, output)
}

fn run(pool: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_classmate")).arg("advise").arg(pool).args(more).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn slots(count: u32, cores: u32) -> String {
    let slot = |at: u32| {
        format!(
            "[ Name = \"slot1@m{at}\"; Machine = \"m{at}\"; MyType = \"Machine\"; State = \"Unclaimed\"; PartitionableSlot = true; \
             SlotWeight = Cpus; Cpus = {cores}; Memory = 65536; Requirements = TARGET.RequestCpus <= MY.Cpus ]\n"
        )
    };
    (0..count).map(slot).collect()
}

/// Jobs of a submitter with these cores, and with run times that are not all equal.
fn jobs(cluster: u32, count: u32, group: &str, cores: u32) -> String {
    let job = |at: u32| {
        format!(
            "[ ClusterId = {cluster}; ProcId = {at}; JobStatus = 1; Owner = \"u\"; User = \"u@x\"; AcctGroup = \"{group}\"; \
             AccountingGroup = \"{group}.u{cluster}\"; RequestCpus = {cores}; RequestMemory = 1; QDate = {}; \
             Seconds = {}; Requirements = TARGET.Cpus >= RequestCpus ]\n",
            1000 + cluster * 1000 + at,
            600 + 60 * (at % 7)
        )
    };
    (0..count).map(job).collect()
}

/// The changes of the best remedy.
fn changes(found: &Value) -> Vec<String> {
    let changes = found["remedies"][0]["changes"].as_array().unwrap();
    changes.iter().map(|change| change.as_str().unwrap().to_owned()).collect()
}

const RUN: [&str; 8] = ["--run-time", "Seconds ?: 600", "--cycles", "40", "--interval", "60", "--format", "json"];

#[test]
fn a_large_request_starves_while_small_ones_accept_surplus() {
    // Four machines of 8 cores, all used by jobs of one core, of which there are always more. In each cycle, `multi` is
    // negotiated with first and finds no machine with 8 free cores; what it cannot use goes to `single`, in another round.
    // Within a quota of 16, `single` starts no job until 16 cores are free. Its new jobs fill the first machines, and when
    // the old ones have ended (600 s), the two other machines are whole: 2 x 8 cores are the quota of `multi`.
    let config = "GROUP_NAMES = multi, single\nGROUP_QUOTA_multi = 16\nGROUP_QUOTA_single = 16\nGROUP_ACCEPT_SURPLUS = True\n\
                  NEGOTIATOR_INTERVAL = 60\n";
    let single: String = jobs(1, 2000, "single", 1);
    let slots = slots(4, 0) + &claimed("single.u9@x");
    let more = [&["--goal", "multi >= 90% of quota", "--now", "3100"][..], &RUN].concat();
    let (folder, output) = advise(&slots, &(single + &jobs(2, 40, "multi", 8)), config, &more);
    let found = json(&output);
    assert_eq!(found["met"], false);
    let used = &found["goals"][0]["used"];
    assert!(used.as_f64().unwrap() < 0.9 * 16.0, "{used}");
    let seen = found["observations"].to_string();
    assert!(seen.contains("group single uses") && seen.contains("as it accepts surplus"), "{seen}");
    assert!(seen.contains("of them were rejected: no match found"), "{seen}");
    assert_eq!(changes(&found), ["GROUP_ACCEPT_SURPLUS_single = False"]);
    let remedy = &found["remedies"][0];
    assert_eq!((&remedy["met"], &remedy["goals"][0]["used"]), (&true.into(), &16.0.into()));
    assert!(remedy["reasons"].to_string().contains("single keeps to its quota"), "{remedy}");
    // The other known remedy: no second round.
    let others = found["remedies"].to_string();
    assert!(others.contains("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 1"), "{others}");
    // The cycles of `negotiate` with the change agree: jobs of 8 cores run.
    let changed = format!("{config}GROUP_ACCEPT_SURPLUS_single = False\n");
    for (config, expected) in [(config, 0), (changed.as_str(), 2)] {
        std::fs::write(folder.path().join("config"), config).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
            .arg("negotiate")
            .arg(folder.path())
            .args(&RUN[..2])
            .args(["--cycles", "40", "--interval", "60", "--now", "3100", "--format", "json"])
            .output()
            .unwrap();
        let cycles = json(&output);
        let last = cycles["cycles"][39]["submitters"].as_array().unwrap();
        let multi = last.iter().find(|line| line["submitter"] == "multi.u2@x").unwrap();
        assert_eq!(multi["running"], expected, "{config}");
    }
}

/// The slots that jobs of one core of a submitter use: 32 on four machines, which end one after another.
fn claimed(submitter: &str) -> String {
    let slot = |at: u32| {
        format!(
            "[ Name = \"slot1_{at}@m{0}\"; Machine = \"m{0}\"; MyType = \"Machine\"; State = \"Claimed\"; DynamicSlot = true; \
             SlotType = \"Dynamic\"; SlotWeight = Cpus; Cpus = 1; Memory = 1; RemoteUser = \"{submitter}\"; \
             AccountingGroup = \"{submitter}\"; EnteredCurrentState = {1}; Requirements = true ]\n",
            at / 8,
            3000 - 60 * (at % 8)
        )
    };
    (0..32).map(slot).collect()
}

#[test]
fn a_group_above_the_others_does_not_accept_surplus() {
    // As above, but the small jobs are those of two subgroups. Each may use what the other leaves: only the group above
    // them must not take what `multi` leaves. Refusing surplus in one of them gives it to the other.
    let config = "GROUP_NAMES = multi, site, site.a, site.b\nGROUP_QUOTA_multi = 16\nGROUP_QUOTA_site = 16\nGROUP_QUOTA_site.a = 8\n\
                  GROUP_QUOTA_site.b = 8\nGROUP_ACCEPT_SURPLUS = True\nNEGOTIATOR_INTERVAL = 60\n";
    let queue = jobs(1, 2000, "site.a", 1) + &jobs(3, 2000, "site.b", 1) + &jobs(2, 40, "multi", 8);
    let more = [&["--goal", "multi >= 90% of quota", "--now", "3100"][..], &RUN].concat();
    let (_folder, output) = advise(&(slots(4, 0) + &claimed("site.a.u9@x")), &queue, config, &more);
    let found = json(&output);
    assert_eq!(changes(&found), ["GROUP_ACCEPT_SURPLUS_site = False"], "{found}");
    let remedy = &found["remedies"][0];
    // Its quota of 16 is two jobs of 8 cores; the others share the other 16.
    assert_eq!((&remedy["met"], &remedy["goals"][0]["used"]), (&true.into(), &16.0.into()));
}

#[test]
fn a_group_that_negotiates_again_takes_what_large_jobs_wait_for() {
    // As above, but without surplus: at the end of each cycle, `single` negotiates again for all that is left.
    let config = "GROUP_NAMES = multi, single\nGROUP_QUOTA_multi = 16\nGROUP_QUOTA_single = 16\nGROUP_AUTOREGROUP_single = True\n\
                  NEGOTIATOR_INTERVAL = 60\n";
    let queue = jobs(1, 2000, "single", 1) + &jobs(2, 40, "multi", 8);
    let more = [&["--goal", "multi >= 90% of quota", "--now", "3100"][..], &RUN].concat();
    let (_folder, output) = advise(&(slots(4, 0) + &claimed("single.u9@x")), &queue, config, &more);
    let found = json(&output);
    let seen = found["observations"].to_string();
    assert!(seen.contains("as it negotiates again after all groups"), "{seen}");
    assert_eq!(changes(&found), ["GROUP_AUTOREGROUP_single = False"], "{found}");
    assert_eq!(found["remedies"][0]["goals"][0]["used"], 16.0);
}

#[test]
fn the_quota_of_a_subgroup_is_a_part_of_that_above_it() {
    // 40 slots of one core; `a` has half of them, of which `a.y` has half. A quarter of the pool is the other half.
    let config = "GROUP_NAMES = a, a.x, a.y, b\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_DYNAMIC_a.x = 0\n\
                  GROUP_QUOTA_DYNAMIC_a.y = 0.5\nGROUP_QUOTA_DYNAMIC_b = 0.5\n";
    let queue = jobs(1, 400, "a.x", 1) + &jobs(2, 400, "a.y", 1) + &jobs(3, 400, "b", 1);
    let more = [&["--goal", "a.x >= 25% of pool", "--now", "3000"][..], &RUN].concat();
    let (_folder, output) = advise(&slots(40, 1), &queue, config, &more);
    let found = json(&output);
    assert_eq!(found["goals"][0]["used"], 0.0);
    // What the others leave is a quarter, too.
    assert_eq!(changes(&found), ["GROUP_ACCEPT_SURPLUS_a.x = True"], "{found}");
    let quota = &found["remedies"][1];
    assert_eq!(quota["changes"], serde_json::json!(["GROUP_QUOTA_DYNAMIC_a.x = 0.500"]));
    assert_eq!(quota["goals"][0]["used"], 10.0);
}

#[test]
fn the_quota_above_a_subgroup_grows_with_it() {
    // 40 slots of one core. A quota of 13 for `a.x` does not fit beside 5 in the 10 of `a`: it is scaled to 7.2. With 5 more
    // for `a`, it is 15 / 18 of 13, or 10.8. The quota of 25 of `b` is untouched; it loses the surplus of 5.
    let config = "GROUP_NAMES = a, a.x, a.y, b\nGROUP_QUOTA_a = 10\nGROUP_QUOTA_a.x = 5\nGROUP_QUOTA_a.y = 5\nGROUP_QUOTA_b = 25\n\
                  GROUP_ACCEPT_SURPLUS_b = True\n";
    let queue = jobs(1, 400, "a.x", 1) + &jobs(2, 400, "a.y", 1) + &jobs(3, 400, "b", 1);
    let more = [&["--goal", "a.x >= 25% of pool", "--now", "3000"][..], &RUN].concat();
    let (_folder, output) = advise(&slots(40, 1), &queue, config, &more);
    let found = json(&output);
    assert_eq!(found["goals"][0]["used"], 5.0);
    let expected = serde_json::json!(["GROUP_QUOTA_a = 15", "GROUP_QUOTA_a.x = 13"]);
    let remedies = found["remedies"].as_array().unwrap();
    let remedy = remedies.iter().find(|remedy| remedy["changes"] == expected).unwrap();
    let after = &remedy["after"]["groups"];
    let used = after["a.x"].as_f64().unwrap();
    assert!((10.0..=11.0).contains(&used), "{after}");
    assert_eq!(after["b"], 25.0);
}

#[test]
fn a_group_may_use_what_is_idle_if_it_accepts_surplus() {
    // 20 cores, of which the other group wants nothing.
    let config = "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_b = 15\n";
    let more = [&["--goal", "a >= 60% of pool", "--now", "3000"][..], &RUN].concat();
    let (folder, output) = advise(&slots(5, 4), &jobs(1, 2000, "a", 1), config, &more);
    let found = json(&output);
    let all: Vec<String> = found["remedies"].as_array().unwrap().iter().map(|one| one["changes"].to_string()).collect();
    assert!(all.contains(&"[\"GROUP_ACCEPT_SURPLUS_a = True\"]".to_owned()), "{all:?}");
    // The whole pool is of more use than a quota of 60 %.
    assert_eq!(changes(&found), ["GROUP_ACCEPT_SURPLUS_a = True"]);
    // With the change the goal is met, and nothing is advised.
    std::fs::write(folder.path().join("config"), format!("{config}GROUP_ACCEPT_SURPLUS_a = True\n")).unwrap();
    let after = json(&run(folder.path(), &more));
    assert_eq!((&after["met"], after["remedies"].as_array().unwrap().len()), (&true.into(), 0));
    assert_eq!(after["before"], found["remedies"][0]["after"]);
}

#[test]
fn a_submitter_gets_more_with_a_lower_factor() {
    let job = |owner: &str, cluster: u32, at: u32| {
        format!(
            "[ ClusterId = {cluster}; ProcId = {at}; JobStatus = 1; User = \"{owner}@x\"; RequestCpus = 1; RequestMemory = 1; \
             QDate = 1; Requirements = true ]\n"
        )
    };
    let queue: String = (0..600).map(|at| job("alice", 1, at) + &job("bob", 2, at)).collect();
    let goal = ["--goal", "alice@x >= 60% of pool", "--now", "3000", "--run-time", "60", "--interval", "60"];
    let more = [&goal[..], &["--cycles", "40", "--format", "json"]].concat();
    let (_folder, output) = advise(&slots(20, 1), &queue, "NEGOTIATOR_INTERVAL = 60\n", &more);
    let found = json(&output);
    // Equal submitters have half of 20 cores each.
    let used = found["goals"][0]["used"].as_f64().unwrap();
    assert!((9.5..=10.5).contains(&used), "{used}");
    // Shares are as 1 / (real priority x factor), and in the long run the real priority is the usage: so usage is as
    // 1 / sqrt(factor). Half the factor: sqrt(2) / (1 + sqrt(2)) = 58.6 %, not enough, though a first cycle gives 2/3. A
    // quarter: twice as much as the other. The same ratio by a factor of 4000 for the other submitter.
    let remedies = found["remedies"].as_array().unwrap();
    let first: Vec<String> =
        remedies.iter().take(2).map(|one| one["changes"][0].as_str().unwrap().to_owned()).collect();
    assert_eq!(first, ["condor_userprio -setfactor alice@x 250", "condor_userprio -setfactor bob@x 4000"]);
    let usage = &remedies[0]["after"]["submitters"];
    let ratio = usage["alice@x"].as_f64().unwrap() / usage["bob@x"].as_f64().unwrap();
    assert!((1.8..=2.2).contains(&ratio), "{usage}");
}

#[test]
fn a_priority_factor_that_is_too_high_is_named_and_lowered() {
    let job = |owner: &str, cluster: u32, at: u32| {
        format!(
            "[ ClusterId = {cluster}; ProcId = {at}; JobStatus = 1; User = \"{owner}@x\"; RequestCpus = 1; RequestMemory = 1; \
             QDate = 1; Requirements = true ]\n"
        )
    };
    let queue: String = (0..400).map(|at| job("ann", 1, at) + &job("bob", 2, at) + &job("eve", 3, at)).collect();
    let goal = ["--goal", "eve@x >= 25% of pool", "--now", "3000", "--run-time", "60", "--interval", "60"];
    let more = [&goal[..], &["--cycles", "60", "--format", "json"]].concat();
    let (folder, _) = advise(&slots(40, 1), &queue, "NEGOTIATOR_INTERVAL = 60\n", &more);
    let log = "103 Customer.eve@x PriorityFactor 10000.000000\n";
    std::fs::write(folder.path().join("Accountantnew.log"), format!("101 Customer.eve@x * *\n{log}")).unwrap();
    let found = json(&run(folder.path(), &more));
    // Usage is as 1 / sqrt(factor): 1 to 1 to 1 / sqrt(10), so that eve has 13.7 % of 40 slots.
    let used = found["goals"][0]["used"].as_f64().unwrap();
    assert!((4.5..=6.5).contains(&used), "{used}");
    let seen = found["observations"].to_string();
    assert!(seen.contains("the priority factor of eve@x is 10000, that of ann@x is 1000"), "{seen}");
    // A factor of 2500 gives 24 %; that of the others, a third.
    assert_eq!(changes(&found), ["condor_userprio -setfactor eve@x 1000"]);
    let used = found["remedies"][0]["goals"][0]["used"].as_f64().unwrap();
    assert!((12.3..=14.3).contains(&used), "{used}");
}

#[test]
fn a_goal_that_no_setting_reaches_is_a_failure_with_the_nearest_change() {
    let config = "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_b = 15\n";
    let goal =
        ["--goal", "a >= 60% of pool", "--now", "3000", "--run-time", "Seconds", "--interval", "60", "--cycles", "10"];
    let (folder, output) = advise(&slots(5, 4), &jobs(1, 3, "a", 1), config, &goal);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("goal a >= 60% of pool: not met") && text.contains("a has no idle jobs"), "{text}");
    let wrong = |goal: &str| String::from_utf8(run(folder.path(), &["--goal", goal]).stderr).unwrap();
    assert!(wrong("c >= 5% of pool").contains("no group is named `c`"));
    assert!(wrong("c@x >= 5% of pool").contains("no submitter is named `c@x`"));
    assert!(wrong("a is happy").contains("is not a goal: expected NAME >= PERCENT% of quota|pool"));
}
