//! Recovering the accountant's log: one of a million records, as left by a pool that never compacted it.
//!
//! `CLASSMATE_RECORDS` sets another number of records.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints what it measures")]

use std::fmt::Write;
use std::time::Instant;

use classmate_pool::internal::accountant::Journal;

fn main() {
    let records: usize =
        std::env::var("CLASSMATE_RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Accountantnew.log");
    std::fs::write(&path, text(records)).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    for _ in 0..5 {
        let begun = Instant::now();
        let journal = Journal::open(&path, 0).unwrap();
        let took = begun.elapsed();
        assert!(journal.found().is_empty() && journal.log().transactions() > 0);
        println!(
            "{records} records ({} MB) recovered in {:.3} s, {} ads",
            size / 1_000_000,
            took.as_secs_f64(),
            journal.log().iter().count()
        );
    }
}

/// Matches of a thousand submitters on ten thousand slots, as transactions of fourteen records.
fn text(records: usize) -> String {
    let mut text = String::from("107 1 CreationTimestamp 1762900000\n");
    let mut lines = 1;
    let mut at = 0_usize;
    while lines < records {
        let (user, slot) = (at % 1000, at % 10_000);
        let customer = format!("Customer.group_physics.user{user}@example.org");
        let resource = format!("Resource.slot1_{slot}@ep{slot}.example.org@<10.0.0.7:9618?addrs=10.0.0.7-9618>");
        let _ = write!(
            text,
            "105 \n101 {customer} * *\n103 {customer} ResourcesUsed {at}\n\
             103 {customer} WeightedResourcesUsed {at}.500000\n103 {customer} UnchargedTime -3\n\
             103 {customer} WeightedUnchargedTime -24.000000\n103 {customer} Priority {at}.123456\n\
             103 {customer} WeightedAccumulatedUsage {at}4567.125000\n101 {resource} * *\n\
             103 {resource} RemoteUser \"group_physics.user{user}@example.org\"\n103 {resource} SlotWeight 8.000000\n\
             103 {resource} StartTime 17629{slot:05}\n102 {resource}\n106 \n"
        );
        lines += 14;
        at += 1;
    }
    text
}
