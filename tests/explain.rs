//! What is said about jobs that do not run is so.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::ad::ClassAd;
use classmate::eval::matching::symmetric;
use classmate::explain::nearest::{Changed, Suggestion};
use classmate::explain::{Explanation, Market, explain};
use classmate::negotiate::Snapshot;
use classmate::syntax::parse::{ParseOptions, parse_expr};
use proptest::prelude::*;

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(text.as_bytes()).unwrap()
}

fn explained(job: &ClassAd, slots: Vec<ClassAd>) -> (Market, Explanation) {
    let market = Market::of(&Snapshot { slots, ..Snapshot::default() }).unwrap();
    let found = explain(&market, "1.0".to_owned(), "a@x".to_owned(), job);
    (market, found)
}

/// The job with the changes of a suggestion made in its text; none if something else than the job changes.
fn changed(job: &ClassAd, suggestion: &Suggestion) -> Option<ClassAd> {
    let mut job = job.clone();
    for change in &suggestion.changes {
        let text = match change.of {
            Changed::Slot => return None,
            Changed::Job => change.after.clone(),
            Changed::Constant | Changed::Condition => {
                let text = job.get(change.attribute.as_str())?.to_string();
                // A condition that stands there more than once cannot be told apart in the text.
                if text.matches(&change.before).count() != 1 {
                    return None;
                }
                text.replacen(&change.before, &change.after, 1)
            }
        };
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        job.insert_expr(change.attribute.as_str(), &expr);
    }
    Some(job)
}

/// A slot with the changes of a suggestion made in its text; none if the job changes.
fn changed_slot(slot: &ClassAd, suggestion: &Suggestion) -> Option<ClassAd> {
    let mut slot = slot.clone();
    for change in &suggestion.changes {
        if change.of != Changed::Slot {
            return None;
        }
        let text = slot.get(change.attribute.as_str())?.to_string();
        if text.matches(&change.before).count() != 1 {
            return None;
        }
        let text = text.replacen(&change.before, &change.after, 1);
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        slot.insert_expr(change.attribute.as_str(), &expr);
    }
    Some(slot)
}

fn condition(of_job: bool) -> impl Strategy<Value = String> {
    let texts: &[&str] = if of_job {
        &[
            "TARGET.Memory >= RequestMemory",
            "TARGET.Memory > RequestMemory",
            "RequestMemory < TARGET.Memory",
            "TARGET.Cpus >= MY.RequestCpus",
            "TARGET.Cpus >= 4",
            "TARGET.Arch == \"A\"",
            "(TARGET.Arch == \"A\" || TARGET.Cpus > 3)",
            "TARGET.HasGpu",
            "TARGET.Memory >= RequestMemory * 2",
            "(TARGET.Cpus > 1 ? TARGET.Memory > 300 : true)",
            "Fits",
        ]
    } else {
        &[
            "TARGET.RequestMemory <= Memory",
            "MY.Memory > TARGET.RequestMemory",
            "TARGET.RequestCpus <= Cpus",
            "TARGET.IsShort",
            "!TARGET.IsShort",
            "(TARGET.IsShort =?= true || TARGET.RequestCpus == 2)",
            "TARGET.Owner == \"bob\"",
            "START",
            "false",
        ]
    };
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    prop::collection::vec(prop::sample::select(texts), 1..4).prop_map(|parts| parts.join(" && "))
}

fn slot() -> impl Strategy<Value = (String, u32, u32, &'static str, &'static str)> {
    let start = prop::sample::select(vec!["true", "false", "TARGET.RequestMemory < 500", "undefined"]);
    (condition(false), 1..6u32, 1..10u32, prop::sample::select(vec!["A", "B"]), start)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_suggested_change_makes_the_match(
        requirements in condition(true),
        (memory, cpus) in (1..10u32, 1..6u32),
        slots in prop::collection::vec(slot(), 1..6),
    ) {
        let job = ad(&format!(
            "[ RequestMemory = {}; RequestCpus = {cpus}; Fits = TARGET.Memory > 250 && TARGET.Cpus < 5; Requirements = {requirements} ]",
            memory * 100
        ));
        let slots: Vec<ClassAd> = slots.iter().enumerate().map(|(at, (policy, cpus, memory, arch, start))| ad(&format!(
            "[ Name = \"s{at}\"; MyType = \"Machine\"; Cpus = {cpus}; Memory = {}; Arch = \"{arch}\"; START = {start}; Requirements = {policy} ]",
            memory * 100
        ))).collect();
        let (market, found) = explained(&job, slots);
        prop_assert_eq!(found.matching, market.matching(&job));
        for suggestion in &found.suggestions {
            if let Some(job) = changed(&job, suggestion) {
                prop_assert_eq!(market.matching(&job), suggestion.slots, "{:?}", suggestion);
                let named = market.names.iter().position(|name| *name == suggestion.example).unwrap();
                prop_assert!(symmetric(&job, &market.slots[named], &market.settings), "{:?}", suggestion);
            }
            let named = market.names.iter().position(|name| *name == suggestion.example).unwrap();
            if let Some(slot) = changed_slot(&market.slots[named], suggestion) {
                prop_assert!(!symmetric(&job, &market.slots[named], &market.settings), "{:?}", suggestion);
                prop_assert!(symmetric(&job, &slot, &market.settings), "{:?} of {}", suggestion, slot);
            }
        }
        for clause in &found.clauses {
            prop_assert_eq!(clause.alone.total(), market.slots.len());
        }
        // Everything that must be true together is the whole.
        if let Some(last) = found.clauses.iter().rev().find_map(|clause| clause.together.filter(|_| clause.depth <= 1)) {
            prop_assert!(last >= found.accepted_by_job);
        }
    }
}

#[test]
fn memory_is_lowered_to_what_most_slots_have() {
    let slots = (0..5).map(|at| {
        let memory = if at < 4 { 8192 } else { 4096 };
        ad(&format!("[ Name = \"s{at}\"; MyType = \"Machine\"; Memory = {memory}; Requirements = TARGET.RequestMemory <= Memory ]"))
    });
    let job = ad("[ RequestMemory = 9000; Requirements = TARGET.Memory >= RequestMemory ]");
    let (_, found) = explained(&job, slots.collect());
    let first = &found.suggestions[0];
    assert_eq!((first.changes[0].before.as_str(), first.changes[0].after.as_str(), first.slots), ("9000", "8192", 4));
    assert_eq!(found.never, ["TARGET.Memory >= RequestMemory"]);
}

#[test]
fn a_job_without_requirements_is_told_as_such() {
    let (_, found) = explained(&ad("[ RequestMemory = 1 ]"), vec![ad("[ Name = \"s\"; Requirements = true ]")]);
    assert!(found.clauses.is_empty() && found.matching == 0 && found.suggestions.is_empty());
}
