//! Listings of a recorded HTCondor 25.14.1 pool, reproduced character for character from its accounting ads.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::path::{Path, PathBuf};

use classmate::accountant::Log;
use classmate::ad::ClassAd;
use classmate::format::long::LongReader;
use classmate::report::userprio::{Columns, Layout, Listing};
use classmate::syntax::parse::ParseOptions;
use classmate::syntax::time::Zone;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/userprio").join(name)
}

fn ads(path: &Path) -> Vec<ClassAd> {
    let text = std::fs::read(path).unwrap();
    LongReader::new(text.as_slice(), &ParseOptions::default()).collect::<Result<_, _>>().unwrap()
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
        let found = listed(&listing(Columns::ALL), &ads(&folder.join("accounting.ads")));
        assert_eq!(found, recorded, "{}", folder.display());
        checked += 1;
    }
    assert_eq!(checked, 21);
}

#[test]
fn the_sample_of_all_columns_lists_as_recorded() {
    let folder = folder("samples");
    let found = listed(&listing(Columns::ALL), &ads(&folder.join("userprio.negotiator.long.ads")));
    assert_eq!(found, std::fs::read_to_string(folder.join("userprio.all.txt")).unwrap());
}

#[test]
fn the_sample_of_quotas_lists_as_recorded() {
    let folder = folder("samples");
    let listing = Listing { quotas: true, layout: Layout::GroupsFirst, ..listing(Columns::QUOTAS) };
    let found = listed(&listing, &ads(&folder.join("userprio.negotiator.long.ads")));
    assert_eq!(found, std::fs::read_to_string(folder.join("userprio.quotas.txt")).unwrap());
}

#[test]
fn a_recorded_log_is_the_same_when_written_again() {
    let text = std::fs::read(folder("samples").join("Accountantnew.log")).unwrap();
    let log = Log::read(&text).unwrap();
    assert_eq!(log.warnings(), []);
    let again = Log::read(&log.to_text()).unwrap();
    let records = |log: &Log| -> Vec<_> {
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
