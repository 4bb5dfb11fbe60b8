//! Pools with pseudonyms have the same cycles, and no names.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crate::recorded;
use classmate::ClassAd;
use classmate_advice::internal::anonymize::{AnonymizeError, anonymized};
use classmate_pool::{Match, Snapshot, negotiate};

fn folders(of: &Path) -> impl Iterator<Item = PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.into_iter().filter(|folder| folder.join("slots.ads").exists())
}

/// The jobs of matches with the places of their slots among the slots, in order.
fn places(pool: &Snapshot) -> Vec<(String, Option<usize>, usize)> {
    let named =
        |slot: &str| pool.slots.iter().position(|ad| ad.get("Name").unwrap().to_string() == format!("\"{slot}\""));
    let place = |one: &Match| (one.job.to_string(), named(&one.slot), one.released.len());
    negotiate(pool).unwrap().matches.iter().map(place).collect()
}

/// All strings of a pool, in lower case.
fn texts(pool: &Snapshot) -> String {
    let ads = pool.slots.iter().chain(&pool.jobs).chain(pool.submitters.iter().flatten());
    let mut text: Vec<u8> = ads.flat_map(|ad| ad.to_string().into_bytes()).collect();
    text.extend(pool.log.iter().flat_map(classmate_pool::AccountantLog::to_text));
    for (name, value, _) in pool.config.assignments() {
        text.extend([name, b" = ", value, b"\n"].concat());
    }
    String::from_utf8(text).unwrap().to_ascii_lowercase()
}

#[test]
fn recorded_cycles_stay_the_same_without_names() {
    // Users, and the domain, of all recorded pools.
    let names = ["alice", "bob@", "carol", "dave@", "frank", "pool.test"];
    let (mut pools, mut matches) = (0, 0);
    for folder in folders(recorded::scenarios()).chain(folders(recorded::cycles()).step_by(5)) {
        let pool = Snapshot::read_dir(&folder).unwrap().snapshot;
        let anonymous = anonymized(&pool).unwrap();
        let expected = places(&pool);
        assert_eq!(places(&anonymous), expected, "{}", folder.display());
        let texts = texts(&anonymous);
        for name in names {
            assert!(!texts.contains(name), "{name} in {}", folder.display());
        }
        pools += 1;
        matches += expected.len();
    }
    assert!(pools > 60 && matches > 500, "{pools} pools, {matches} matches");
}

fn pool(slots: &[&str], jobs: &[&str]) -> Snapshot {
    let ads = |texts: &[&str]| texts.iter().map(|text| ClassAd::parse(text).unwrap()).collect();
    Snapshot { slots: ads(slots), jobs: ads(jobs), ..Snapshot::default() }
}

const SLOT: &str = r#"[Name = "slot1@node017.example.org"; Machine = "node017.example.org"; State = "Unclaimed"; MyAddress = "<192.168.7.9:9618>";
    Site = "Springfield"; Notes = "in the cellar of Smith"; Staff = { "smith", "jones" }; Cpus = 1; Start = TARGET.Owner != "smithers";
    Requirements = Start && TARGET.AcctGroup =!= "rivals"]"#;

fn job(requirements: &str) -> String {
    format!(
        r#"[ClusterId = 1; ProcId = 0; JobStatus = 1; Owner = "jones"; User = "jones@example.org"; AcctGroup = "physics";
        Cmd = "/home/jones/secret/run"; Iwd = "/home/jones"; Requirements = {requirements}]"#
    )
}

#[test]
fn names_in_ads_and_conditions_are_replaced_and_the_rest_is_left_out() {
    let conditions =
        r#"regexp("^node0[1-2]", TARGET.Machine) && TARGET.Site == "springfield" && MY.Cmd != "/opt/other/tool""#;
    let pool = pool(&[SLOT], &[&job(conditions)]);
    let anonymous = anonymized(&pool).unwrap();
    assert_eq!(negotiate(&anonymous).unwrap().matches.len(), 1);
    // Of the hosts `example` and `node`, of the users `jones` and `smithers`.
    let slot = anonymous.slots[0].to_string();
    for part in [
        r#"Name = "slot1@hostb017.hosta.org""#,
        r#"MyAddress = "<10.0.0.1:9618>""#,
        r#"Site = "Sitea""#,
        r#"TARGET.Owner != "userb""#,
        r#"TARGET.AcctGroup isnt "groupb""#,
    ] {
        assert!(slot.contains(part), "{part} in {slot}");
    }
    assert!(!slot.contains("Notes") && !slot.contains("Staff"), "{slot}");
    let job = anonymous.jobs[0].to_string();
    // A user of the same name is the same word in a path.
    for part in [r#"Owner = "usera""#, r#"Cmd = "/home/usera/"#, r#"regexp("^hostb0[1-2]",TARGET.Machine)"#] {
        assert!(job.contains(part), "{part} in {job}");
    }
    assert!(!job.contains("Iwd") && !job.contains("secret"), "{job}");
}

#[test]
fn a_condition_on_the_letters_of_names_is_an_error() {
    let pool = pool(&[SLOT], &[&job(r#"substr(TARGET.Machine, 0, 2) == "no""#)]);
    assert_eq!(negotiate(&pool).unwrap().matches.len(), 1);
    assert!(matches!(anonymized(&pool), Err(AnonymizeError::Outcome(_))));
}

#[test]
fn addresses_in_all_encodings_and_short_host_names_are_replaced() {
    let slot = |number: u32| {
        format!(
            r#"[Name = "slot1@machine{number}@c10{number}"; Machine = "c10{number}"; FileSystemDomain = "c10{number}"; UtsnameNodename = "802b8c97f50a";
            State = "Unclaimed"; Cpus = 1; Requirements = true; Start = true; Arch = "X86_64"; PublicAddress = "203.0.113.77";
            MyAddress = "<203.0.113.7:4?CCBID=203.0.113.8:9618%3faddrs%3d203.0.113.8-9618+%5B2001-db8--7%5D-9618%26alias%3dccb-hub.example.org%26noUDP#6&alias=c10{number}>"]"#
        )
    };
    let conditions =
        r#"regexp("^c10[1-2]$", TARGET.Machine) && TARGET.Arch == "X86_64" && TARGET.PublicAddress == "203.0.113.77""#;
    let slots: Vec<String> = (1..4).map(slot).collect();
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let pool = pool(&slots, &[&job(conditions)]);
    let anonymous = anonymized(&pool).unwrap();
    assert_eq!(places(&anonymous), places(&pool));
    assert_eq!(places(&pool).len(), 1);
    let texts = texts(&anonymous);
    for name in ["203.0.113", "2001-db8", "ccb-", "hub", "machine1", "\"c10", "@c10", "=c10", "^c10", "802b8c97f50a"] {
        assert!(!texts.contains(name), "{name} in {texts}");
    }
    assert!(texts.contains("x86_64"), "{texts}");
}
