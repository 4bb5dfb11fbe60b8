//! Listings of a recorded HTCondor 25.14.1 pool, reproduced character for character from its accounting ads.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use crate::recorded;
use std::path::{Path, PathBuf};

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::time::Zone;
use classmate::internal::value::Value;
use classmate_cli::report::userprio::{Columns, Layout, Listing};
use classmate_config::internal::config::Config;
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_pool::internal::accountant::edit::Edit;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::accountant::report::accounting_ads;
use classmate_pool::internal::accountant::{AccountantLog, Journal};
use classmate_pool::internal::negotiate::directory::read_ad_file;
use classmate_pool::internal::negotiate::{Snapshot, commit, negotiate};
use classmate_pool::internal::quota::GroupTree;

fn folder(name: &str) -> PathBuf {
    recorded::userprio().join(name)
}

fn listing(columns: Columns) -> Listing {
    Listing { columns, layout: Layout::Automatic, quotas: false, rollup: false, active_since: -1, zone: Zone::utc() }
}

fn listed(listing: &Listing, ads: &[ClassAd]) -> String {
    let mut out = Vec::new();
    listing.write(&mut out, ads).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_scenario_lists_as_recorded() {
    let mut checked = 0;
    for entry in std::fs::read_dir(folder("")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(recorded) = std::fs::read_to_string(folder.join("userprio.txt")) else { continue };
        let found = listed(&listing(Columns::ALL), &read_ad_file(folder.join("accounting.ads")).unwrap());
        assert_eq!(found, recorded, "{}", folder.display());
        checked += 1;
    }
    assert_eq!(checked, 21);
}

#[test]
fn the_sample_of_all_columns_lists_as_recorded() {
    let folder = folder("samples");
    let found = listed(&listing(Columns::ALL), &read_ad_file(folder.join("userprio.negotiator.long.ads")).unwrap());
    assert_eq!(found, std::fs::read_to_string(folder.join("userprio.all.txt")).unwrap());
}

#[test]
fn the_sample_of_quotas_lists_as_recorded() {
    let folder = folder("samples");
    let listing = Listing { quotas: true, layout: Layout::GroupsFirst, ..listing(Columns::QUOTAS) };
    let found = listed(&listing, &read_ad_file(folder.join("userprio.negotiator.long.ads")).unwrap());
    assert_eq!(found, std::fs::read_to_string(folder.join("userprio.quotas.txt")).unwrap());
}

#[test]
fn a_recorded_log_is_the_same_when_written_again() {
    let text = std::fs::read(folder("samples").join("Accountantnew.log")).unwrap();
    let log = AccountantLog::read(&text).unwrap();
    assert_eq!(log.warnings(), []);
    let again = AccountantLog::read(&log.to_text()).unwrap();
    let records = |log: &AccountantLog| -> Vec<_> {
        log.iter()
            .map(|(key, record)| {
                let set: Vec<_> = record.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
                (key.to_vec(), set)
            })
            .collect()
    };
    assert_eq!(records(&again), records(&log));
    assert_eq!((again.sequence(), again.created()), (log.sequence(), log.created()));
    assert!(records(&log).len() > 20);
}

fn rules(config: &Config) -> FactorRules {
    FactorRules::new(&NegotiatorKnobs::read(config).unwrap().accountant)
}

/// The negotiator's own answer from its log: every attribute of every ad, but for what only a cycle computes.
#[test]
fn the_ads_of_a_recorded_log_are_those_the_negotiator_answered() {
    let folder = folder("samples");
    let recorded = read_ad_file(folder.join("userprio.negotiator.long.ads")).unwrap();
    let log = AccountantLog::read(&std::fs::read(folder.join("Accountantnew.log")).unwrap()).unwrap();
    let config = Config::parse("config", b"GROUP_NAMES = group_bio, group_phys, group_phys.hep").unwrap();
    let groups = GroupTree::named_in(&config).unwrap();
    let found = accounting_ads(&log, rules(&config), &groups, &|_| None);
    assert_eq!(found.len(), recorded.len());
    let computed = [
        "SubmitterShare",
        "SubmitterLimit",
        "EffectiveQuota",
        "ConfigQuota",
        "SubtreeQuota",
        "GroupSortKey",
        "SurplusPolicy",
        "Requested",
    ];
    let shown = |ad: &ClassAd, name: &str| ad.get(name).map(|expr| expr.to_string());
    for ad in &recorded {
        let name = shown(ad, "Name");
        let same = found.iter().find(|found| shown(found, "Name") == name).unwrap();
        for (attribute, expr) in ad.iter() {
            let attribute = attribute.to_string();
            if computed.iter().any(|known| attribute.eq_ignore_ascii_case(known)) {
                continue;
            }
            let (found, recorded) = (same.constant(attribute.as_str()), ad.constant(attribute.as_str()));
            match (found.as_ref().and_then(Value::as_number), recorded.as_ref().and_then(Value::as_number)) {
                (Some(found), Some(recorded)) => assert!((found - recorded).abs() < 1e-9, "{name:?} {attribute}"),
                _ => assert_eq!(shown(same, &attribute), Some(expr.to_string()), "{name:?} {attribute}"),
            }
        }
    }
}

/// A recorded pool, its cycle run and charged, and then listed from the log that was written: what the real tool listed
/// after the real cycle, apart from the order of equals.
#[test]
fn a_cycle_that_is_charged_lists_as_the_reference_did() {
    let root = recorded::scenarios();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let names = [
        "ceiling",
        "floor",
        "job-prio",
        "limits",
        "match-mix",
        "order-default",
        "order-jobrank",
        "order-prejobrank",
        "pie-equal",
        "pie-leftover",
        "pie-unequal",
        "pie-usage",
        "pie-weighted",
        "preempt-prio",
        "preempt-rank",
        "pslots",
    ];
    for name in names {
        let pool = root.join(name);
        let spool = tempfile::tempdir().unwrap();
        let path = spool.path().join("Accountantnew.log");
        std::fs::copy(pool.join("Accountantnew.log"), &path).unwrap();
        let recorded = folder(name);
        let settings = EvalOptions::default();
        let after = read_ad_file(recorded.join("accounting.ads")).unwrap();
        let now = Scope::new(&after[0], &settings).eval_attr("LastUpdate").unwrap().as_number().unwrap();
        let mut journal = Journal::open(&path, 0).unwrap();
        let loaded = Snapshot::read_dir(&pool).unwrap().snapshot;
        let snapshot = Snapshot { log: Some(journal.log().clone()), now: now as i64, ..loaded };
        let outcome = negotiate(&snapshot).unwrap();
        commit(&snapshot, &outcome, &mut journal).unwrap();
        drop(journal);
        let log = AccountantLog::read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(log.warnings(), [], "{name}");
        let found = accounting_ads(&log, rules(&snapshot.config), &GroupTree::of_names([]), &|_| None);
        let found = listed(&listing(Columns::ALL), &found);
        let recorded = std::fs::read_to_string(recorded.join("userprio.txt")).unwrap();
        assert_eq!(sorted(&found), sorted(&recorded), "{name}:\n{found}\n{recorded}");
    }
}

/// With groups, by the command: quotas and requests are computed from the pool's slots and submitters, and nothing is left
/// empty. Groups come by their sort keys of now; the reference's are those of the last round of its cycle, so lines are
/// compared without their order.
#[test]
fn a_cycle_of_groups_that_is_charged_lists_their_quotas_as_the_reference_did() {
    let root = recorded::scenarios();
    let command = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_classmate"));
        let output = command.args(arguments).env("TZ", "UTC").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for name in ["group-autoregroup", "group-nested", "group-static", "group-surplus", "group-weighted"] {
        let copy = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(root.join(name)).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
        let recorded = folder(name);
        let after = read_ad_file(recorded.join("accounting.ads")).unwrap();
        let now = Scope::new(&after[0], &EvalOptions::default()).eval_attr("LastUpdate").unwrap().as_number().unwrap();
        let pool = copy.path().to_str().unwrap();
        command(&["negotiate", pool, "--commit", "--now", &format!("{now:.0}")]);
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let found = command(&["userprio", pool, "-all", "-allusers"]);
        let recorded = std::fs::read_to_string(recorded.join("userprio.txt")).unwrap();
        assert_eq!(sorted(&found), sorted(&recorded), "{name}:\n{found}\n{recorded}");
        // The columns that are shown when none are asked for have the same of it.
        let found = command(&["userprio", pool, "-allusers"]);
        assert!(!found.contains("n/d") && found.contains("Requested"), "{name}:\n{found}");
    }
}

/// Saved ads in which some lack `LastUsageTime`: as in the reference, such a row has that of the ad before, and the first
/// one none. `never`, `again`: hidden, as long as nobody is seen before them.
#[test]
fn who_lacks_a_last_usage_is_as_active_as_the_one_before() {
    let ad = |name: &str, last: &str| {
        let text =
            format!("[Name = \"{name}@x\"; Priority = 500.0; PriorityFactor = 1000.0; LastUpdate = 200000; {last}]");
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    let listing = Listing { active_since: 200_000 - 86_400, ..listing(Columns::PRIORITIES) };
    let users = |ads: &[ClassAd]| {
        let text = listed(&listing, ads);
        text.lines().filter_map(|line| line.split_once("@x ").map(|(name, _)| name.to_owned())).collect::<Vec<_>>()
    };
    let (never, active) = (ad("never", ""), ad("active", "LastUsageTime = 199999"));
    let old = ad("old", "LastUsageTime = 5");
    assert_eq!(users(&[never.clone(), active.clone(), ad("again", ""), old, ad("hidden", "")]), ["active", "again"]);
    assert_eq!(users(&[never, ad("zero", "LastUsageTime = 0")]), [""; 0]);
}

/// The constructed listings of `docs/reference/accountant.md` 11.4; the cutoff is one day, less one second.
#[test]
fn the_listings_of_the_description_are_reproduced() {
    let folder = folder("described");
    let (flat, grouped) =
        (read_ad_file(folder.join("flat.ads")).unwrap(), read_ad_file(folder.join("groups.ads")).unwrap());
    let cases = [
        ("default", &flat, Columns::NONE),
        ("priority", &flat, Columns::PRIORITIES),
        ("usage", &flat, Columns::USAGE),
        ("all", &flat, Columns::ALL),
        ("groups", &grouped, Columns::NONE),
        ("quotas", &grouped, Columns::QUOTAS),
        ("groups_all", &grouped, Columns::ALL),
    ];
    for (name, ads, columns) in cases {
        let quotas = columns == Columns::QUOTAS;
        let listing = Listing { active_since: 1_762_960_710 - 86_399, quotas, ..listing(columns) };
        let expected = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&listed(&listing, ads)), trimmed(&expected), "{name}");
    }
}

/// An accounting ad of a submitter with this priority at factor 1.
fn accounted(name: &str, priority: f64) -> ClassAd {
    let text = format!(
        "[Name = \"{name}\"; Priority = {priority:.6}; PriorityFactor = 1.0; IsAccountingGroup = false; \
         AccountingGroup = \"<none>\"; LastUpdate = 1000; LastUsageTime = 1000]"
    );
    ClassAd::parse(text.as_bytes()).unwrap()
}

/// The listing of the manual of version 7: an accounting group is listed with the domain, the best priority first.
#[test]
fn the_accounting_group_of_the_manual_is_listed_with_its_domain() {
    let ads = [("heavyuser", 111.13), ("group_physics", 0.5), ("user", 23.11)]
        .map(|(name, priority)| accounted(&format!("{name}@example.com"), priority));
    let listed = listed(&listing(Columns::PRIORITIES), &ads);
    let rows: Vec<(&str, &str)> = listed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next().filter(|name| name.contains('@'))?, words.next()?))
        })
        .collect();
    assert_eq!(
        rows,
        [("group_physics@example.com", "0.50"), ("user@example.com", "23.11"), ("heavyuser@example.com", "111.13")]
    );
}

/// `condor_userprio -delete group_physics@example.com` of the same manual; everything else stays.
#[test]
fn the_accounting_group_of_the_manual_can_be_deleted() {
    let log = "107 1 CreationTimestamp 7\n101 Customer.group_physics@example.com * *\n\
               103 Customer.group_physics@example.com Priority 5.0\n101 Customer.user@example.com * *\n\
               103 Customer.user@example.com Priority 7.0\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Accountantnew.log");
    std::fs::write(&path, log).unwrap();
    let mut journal = Journal::open(&path, 7).unwrap();
    let edit = Edit::Delete(b"group_physics@example.com".to_vec());
    let groups = GroupTree::named_in(&Config::default()).unwrap();
    let edited = edit.apply(journal.log(), rules(&Config::default()), &groups, 7).unwrap();
    assert_eq!(edited.message, "The accountant record named group_physics@example.com was deleted");
    journal.commit(&edited.transaction).unwrap();
    drop(journal);
    let again = AccountantLog::read(&std::fs::read(&path).unwrap()).unwrap();
    let names: Vec<_> = again.table("Customer").map(|(name, _)| name.to_vec()).collect();
    assert_eq!(names, [b"user@example.com".to_vec()]);
}

/// The listing of the manual of version 8: two groups below physics, each with 60 jobs in the queue.
#[test]
fn the_quotas_of_the_manual_are_listed() {
    let group = |name: &str, quota: f64, subtree: f64, requested: f64| {
        let text = format!(
            "[Name = \"{name}\"; IsAccountingGroup = true; AccountingGroup = \"{name}\"; Priority = 500.0; \
             PriorityFactor = 1000.0; EffectiveQuota = {quota:.1}; ConfigQuota = {subtree:.1}; \
             SubtreeQuota = {subtree:.1}; GroupSortKey = 0.0; SurplusPolicy = \"no\"; Requested = {requested:.1}; \
             LastUpdate = 1000; LastUsageTime = 1000]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    let ads = [
        group("<none>", 0.0, 30.0, 0.0),
        group("group_chemistry", 10.0, 10.0, 0.0),
        group("group_physics", 0.0, 20.0, 0.0),
        group("group_physics.hep", 15.0, 15.0, 60.0),
        group("group_physics.lep", 5.0, 5.0, 60.0),
    ];
    let listing = Listing { quotas: true, ..listing(Columns::QUOTAS) };
    let listed = listed(&listing, &ads);
    let row = |name: &str| -> Vec<String> {
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(row("group_physics.hep"), ["15.00", "15.00", "no", "15.00", "60"]);
    assert_eq!(row("group_physics.lep"), ["5.00", "5.00", "no", "5.00", "60"]);
}

/// Every option of `condor_userprio` that is promised, with one dash and with two.
#[test]
fn every_option_has_both_spellings() {
    let log = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/pool/Accountantnew.log");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Accountantnew.log");
    let user = "alice@pool.test";
    for option in [
        "priority",
        "usage",
        "all",
        "most",
        "quotas",
        "hierarchical",
        "heir",
        "flat",
        "grouporder",
        "grouprollup",
        "allusers",
        "long",
        "json",
        "surplus",
        "sortkey",
        "groupid",
        "order",
        "legacy",
        "modular",
        "negotiator",
        "resetall",
    ]
    .map(|option| vec![option.to_owned()])
    .into_iter()
    .chain(["resetusage", "delete", "getreslist"].map(|option| vec![option.to_owned(), user.to_owned()]))
    .chain(
        ["setprio", "setfactor", "setaccum", "setbegin", "setlast", "setceil", "setceiling", "setfloor"]
            .map(|option| vec![option.to_owned(), user.to_owned(), "5".to_owned()]),
    )
    .chain([
        ["activefrom", "1", "1", "2020"].map(str::to_owned).to_vec(),
        ["af", "Name", "Priority"].map(str::to_owned).to_vec(),
        ["autoformat:,l", "Name"].map(str::to_owned).to_vec(),
        ["name", "negotiator@pool.test"].map(str::to_owned).to_vec(),
    ]) {
        let answers = ["-", "--"].map(|dash| {
            std::fs::copy(&log, &path).unwrap();
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_classmate"))
                .args(["userprio", path.to_str().unwrap(), "--now", "1795214000"])
                .arg(format!("{dash}{}", option[0]))
                .args(&option[1..])
                .output()
                .unwrap();
            assert!(output.status.success(), "{dash}{option:?}: {}", String::from_utf8_lossy(&output.stderr));
            (output.stdout, std::fs::read(&path).unwrap())
        });
        assert_eq!(answers[0], answers[1], "{option:?}");
        assert!(!answers[0].0.is_empty(), "{option:?}");
    }
}
