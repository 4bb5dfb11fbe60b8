//! Every claim about jobs that do not run is true. One file, because all tests check claims on the same kinds of pools.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::format::long::LongReader;
use classmate::internal::name::Name;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate_advice::internal::explain::cycle::reasons;
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::internal::explain::job_view::JobView;
use classmate_advice::internal::explain::repair::suggestion::{Change, Changed, Suggestion};
use classmate_advice::internal::explain::replay::{self, ExplainedJob};
use classmate_advice::internal::explain::{Explanation, PoolFacts, find};
use classmate_advice::internal::whatif::kind::SlotKinds;
use classmate_advice::internal::whatif::{AdEdit, Difference, PoolRun, drain};
use classmate_cli::report::Color;
use classmate_cli::report::explain::ShownParts;
use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::generate::{GeneratedPool, NOW};
use classmate_pool::internal::negotiate::{PreparedPool, Purpose, Snapshot, negotiate};
use proptest::prelude::*;

mod facts;
mod notes;

fn ad(text: &str) -> ClassAd {
    ClassAd::parse(text.as_bytes()).unwrap()
}

/// The pool of a snapshot, prepared for explanations; both stay until the tests end.
fn prepared(snapshot: &Snapshot) -> &'static PreparedPool<'static> {
    let snapshot = Box::leak(Box::new(snapshot.clone()));
    Box::leak(Box::new(PreparedPool::for_explanation(snapshot).unwrap()))
}

fn explained(job: &ClassAd, slots: Vec<ClassAd>) -> (PoolFacts<'static>, Explanation) {
    let facts = PoolFacts::new(prepared(&Snapshot { slots, ..Snapshot::default() }));
    let found = JobView::of(&facts, job).explanation("1.0".to_owned(), "a@x".to_owned());
    (facts, found)
}

/// The job with the changes of a suggestion made in its text; none if something else than the job changes.
fn changed(before: &ClassAd, changes: &[Change]) -> Option<ClassAd> {
    let mut job = before.clone();
    for change in changes {
        let text = match change.of {
            Changed::Slot => return None,
            Changed::Job => change.after.clone(),
            Changed::Correction | Changed::Constant | Changed::Condition => {
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
    let removes = changes.iter().any(|change| change.of == Changed::Condition);
    Some(if removes { submitted_again(before, job) } else { job })
}

/// A job with what `condor_submit` adds to its Requirements and did not before the change: a condition on the platform or on the
/// CPUs, if there is none and more than one CPU is requested (`check_requirements` in HTCondor's `submit_utils.cpp`).
fn submitted_again(before: &ClassAd, mut after: ClassAd) -> ClassAd {
    let conditions = |job: &ClassAd| {
        let requirements = job.get("Requirements").unwrap().to_string();
        let arch = (!requirements.contains("TARGET.Arch")).then_some("TARGET.Arch == \"X86_64\"");
        let is_one = job.eval_int("RequestCpus").is_none_or(|cpus| cpus <= 1);
        let cpus = (!requirements.contains("TARGET.Cpus") && !is_one).then_some("TARGET.Cpus >= RequestCpus");
        [arch, cpus]
    };
    let known = conditions(before);
    for added in conditions(&after).into_iter().flatten().filter(|one| !known.contains(&Some(one))) {
        let whole = format!("({}) && {added}", after.get("Requirements").unwrap());
        after.insert_expr("Requirements", &parse_expr(whole.as_bytes(), &ParseOptions::default()).unwrap());
    }
    after
}

/// A slot with the changes of a suggestion made in its text; none if the job changes.
fn changed_slot(slot: &ClassAd, changes: &[Change]) -> Option<ClassAd> {
    let mut slot = slot.clone();
    for change in changes {
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

/// The number of slots that match a job, evaluated one by one.
fn matching(facts: &PoolFacts, job: &ClassAd) -> usize {
    facts.slots.iter().filter(|slot| symmetric(job, &slot.ad, &facts.settings)).count()
}

/// The number of slots that a change of their policy wins, made in the text of all that have it; none if the job changes, or if a
/// text stands more than once.
fn won_by_text(facts: &PoolFacts, job: &ClassAd, suggestion: &Suggestion) -> Option<usize> {
    let mut won = 0;
    for slot in facts.slots {
        for change in &suggestion.changes {
            let text = slot.ad.get(change.attribute.as_str()).map(|expr| expr.to_string()).unwrap_or_default();
            // An attribute that is a condition by itself is set wherever it is one; of its values the first is told.
            if change.attribute == "START" {
                return None;
            }
            // The text of one condition may be a part of another one.
            let conditions = text.split(" && ").filter(|condition| *condition == change.before).count();
            if change.of != Changed::Slot || conditions > 1 || text.matches(&change.before).count() != conditions {
                return None;
            }
        }
        let Some(after) = changed_slot(&slot.ad, &suggestion.changes) else { continue };
        let matches = |slot: &ClassAd| symmetric(job, slot, &facts.settings);
        won += usize::from(!matches(&slot.ad) && matches(&after));
    }
    Some(won)
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
            "RequestMemory / RequestCpus <= 100",
            "TARGET.Memory - RequestMemory >= 150",
            "RequestMemory + Overhead <= TARGET.Memory",
            "stringListMember(TARGET.Arch, Arches)",
            "member(TARGET.Arch, {\"C\"})",
            "member(TARGET.Arch, Sites)",
            "(RequestMemory ?: 0) % 300 == 0",
            "isUndefined(MY.Limit)",
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
            "TARGET.RequestMemory / TARGET.RequestCpus <= 100",
            "300 / TARGET.RequestCpus < Memory",
            "Memory - TARGET.RequestMemory >= 150",
            "-TARGET.RequestMemory > -300",
            "TARGET.RequestMemory * Cpus <= Memory",
            "TARGET.RequestMemory + TARGET.Overhead <= Memory",
            "stringListMember(TARGET.ProjectName, \"atlas, cms\")",
            "stringListIMember(TARGET.Arch, \"b,a\")",
            "member(TARGET.ProjectName, { \"lhcb\", \"cms\" })",
            "stringListMember(Arch, TARGET.Arches)",
            "member(Arch, TARGET.Sites)",
            "(TARGET.RequestGPUs ?: 0) > 0",
            "TARGET.Limit =!= undefined && TARGET.Limit < 4",
            "isUndefined(TARGET.Limit)",
            "TARGET.RequestMemory % 128 == 0",
            "TARGET.RequestMemory / 64 < Cpus",
            "TARGET.User == alice",
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
            "[ RequestMemory = {}; RequestCpus = {cpus}; Arches = \"C\"; Sites = {{ \"C\" }}; Limit = 7; User = \"Alice\"; \
             Fits = TARGET.Memory > 250 && TARGET.Cpus < 5; Requirements = {requirements} ]",
            memory * 100
        ));
        let slots: Vec<ClassAd> = slots.iter().enumerate().map(|(at, (policy, cpus, memory, arch, start))| ad(&format!(
            "[ Name = \"s{at}\"; MyType = \"Machine\"; Cpus = {cpus}; Memory = {}; Arch = \"{arch}\"; START = {start}; Requirements = {policy} ]",
            memory * 100
        ))).collect();
        let (facts, found) = explained(&job, slots);
        prop_assert_eq!(found.matching, matching(&facts, &job));
        for suggestion in &found.suggestions {
            prop_assert!(suggestion.won > 0 && suggestion.lost <= suggestion.won, "{:?}", suggestion);
            if let Some(after) = changed(&job, &suggestion.changes) {
                prop_assert_eq!(matching(&facts, &after), suggestion.slots, "{:?}", suggestion);
                let counted = |before: bool| {
                    let is = |job: &ClassAd, at: usize| symmetric(job, &facts.slots[at].ad, &facts.settings);
                    (0..facts.slots.len()).filter(|at| is(&job, *at) == before && is(&after, *at) != before).count()
                };
                prop_assert_eq!((counted(false), counted(true)), (suggestion.won, suggestion.lost), "{:?}", suggestion);
                let job = after;
                let named = facts.of_slots.iter().position(|slot| slot.name == suggestion.example).unwrap();
                prop_assert!(symmetric(&job, &facts.slots[named].ad, &facts.settings), "{:?}", suggestion);
            }
            if let Some(won) = won_by_text(&facts, &job, suggestion) {
                prop_assert_eq!(won, suggestion.slots, "{:?}", suggestion);
            }
            let named = facts.of_slots.iter().position(|slot| slot.name == suggestion.example).unwrap();
            if let Some(slot) = changed_slot(&facts.slots[named].ad, &suggestion.changes) {
                prop_assert!(!symmetric(&job, &facts.slots[named].ad, &facts.settings), "{:?}", suggestion);
                prop_assert!(symmetric(&job, &slot, &facts.settings), "{:?} of {}", suggestion, slot);
            }
        }
        for clause in &found.clauses {
            prop_assert_eq!(clause.alone.total(), facts.slots.len());
        }
        // Everything that must be true together is the whole.
        if let Some(last) = found.clauses.iter().rev().find_map(|clause| clause.together.filter(|_| clause.depth <= 1)) {
            prop_assert!(last >= found.accepted_by_job);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_change_that_is_told_of_a_slot_makes_a_match(
        (policy, cpus, memory, arch, start) in slot(),
        jobs in prop::collection::vec((condition(true), 1..10u32, 1..6u32), 1..6),
    ) {
        let jobs = jobs.iter().enumerate().map(|(at, (requirements, memory, cpus))| ad(&format!(
            "[ ClusterId = {}; ProcId = 0; JobStatus = 1; User = \"Alice@x\"; Owner = \"Alice\"; RequestMemory = {}; RequestCpus = {cpus}; \
             Fits = TARGET.Memory > 250 && TARGET.Cpus < 5; Requirements = {requirements} ]",
            at + 1, memory * 100
        )));
        let slot = ad(&format!(
            "[ Name = \"s\"; MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = {cpus}; Memory = {}; Arch = \"{arch}\"; \
             START = {start}; Requirements = {policy} ]",
            memory * 100
        ));
        let snapshot = Snapshot { slots: vec![slot], jobs: jobs.collect(), ..Snapshot::default() };
        let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
        let pool = prepared(&snapshot);
        let facts = PoolFacts::new(pool);
        let found = classmate_advice::internal::explain::slot::explain(pool, &outcome, "s").unwrap();
        let slot = &facts.slots[0].ad;
        let matches = |job: &ClassAd, slot: &ClassAd| symmetric(job, slot, &facts.settings);
        let matching = snapshot.jobs.iter().filter(|job| matches(job, slot)).count();
        prop_assert_eq!(found.matching, matching);
        prop_assert!(matching == 0 || found.changes.is_empty());
        prop_assert_eq!(found.nearest.is_empty(), matching > 0 || found.clauses.is_empty());
        for change in &found.changes {
            let (named, _) = change.job.split_once('.').unwrap();
            let job = &snapshot.jobs[named.parse::<usize>().unwrap() - 1];
            if let Some(after) = changed(job, &change.changes) {
                prop_assert!(matches(&after, slot), "{:?}", change);
            }
            if let Some(after) = changed_slot(slot, &change.changes) {
                prop_assert!(matches(job, &after), "{:?}", change);
                let count = snapshot.jobs.iter().filter(|job| matches(job, &after)).count();
                prop_assert_eq!(count, change.jobs, "{:?}", change);
            }
        }
    }
}

#[test]
fn a_slot_tells_the_values_and_what_both_sides_refuse() {
    let job = |id: u32, memory: u32| {
        ad(&format!(
            "[ ClusterId = {id}; ProcId = 0; JobStatus = 1; User = \"a@x\"; RequestMemory = {memory}; \
             Requirements = TARGET.Memory >= RequestMemory ]"
        ))
    };
    let slot = ad("[ Name = \"s\"; MyType = \"Machine\"; State = \"Unclaimed\"; Memory = 1000; Requirements = START; \
                   START = TARGET.RequestMemory <= 500 ]");
    let snapshot = Snapshot { slots: vec![slot], jobs: vec![job(1, 2000), job(2, 800)], ..Snapshot::default() };
    let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
    let found = classmate_advice::internal::explain::slot::explain(prepared(&snapshot), &outcome, "s").unwrap();
    let causes: Vec<&str> = found.causes.iter().map(|cause| cause.text.as_str()).collect();
    assert_eq!(
        causes,
        [
            // Without it the second job would match: what the first one requires is not a cause.
            "it rejects all idle jobs because of `TARGET.RequestMemory <= 500` in `START` (RequestMemory of jobs is 800 to 2000 MB)",
        ]
    );
    // The one that fails by one condition is nearer.
    let near: Vec<(&str, usize)> =
        found.nearest.iter().map(|near| (near.example.as_str(), near.by_slot.len() + near.by_job.len())).collect();
    assert_eq!(near, [("2.0", 1), ("1.0", 2)]);
    let first = &found.changes[0];
    assert_eq!((first.job.as_str(), first.changes[0].after.as_str()), ("2.0", "500"));
    assert!(found.changes.iter().any(|one| one.changes[0].after == "TARGET.RequestMemory <= 800" && one.jobs == 1));
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
fn the_branch_that_a_slot_takes_is_changed_for_first() {
    // `P` is there, so that the second branch counts: at most 8192.
    let guarded = "P = 8192; Requirements = isUndefined(P) ? TARGET.X < 100 : TARGET.X <= P";
    let first = |job: &str, slot: &str| suggestions(&format!("{job}; Requirements = true"), slot).remove(0);
    assert_eq!(first("X = 9000", guarded), "+X = 8192: 1 of 1 slot matches");
    // Of a slot without GPUs it asks for at most two cores; more GPUs would do nothing.
    let cores = "GPUs = 0; Requirements = ifThenElse(GPUs > 0, TARGET.RequestGPUs >= 1, TARGET.RequestCpus <= 2)";
    let job = "RequestCpus = 4; RequestGPUs = 0";
    assert_eq!(first(job, cores), "request_cpus = 2: 1 of 1 slot matches");
    // Of the job's own attribute: 64 is not above 100, so 5 is wanted.
    let own = "P = 100; Requirements = TARGET.X > 100 ? TARGET.X / 2 == P : TARGET.X == 5";
    assert_eq!(first("X = 64", own), "+X = 5: 1 of 1 slot matches");
}

#[test]
fn what_does_nothing_in_a_change_is_left_out() {
    // 200 + 10 * 1 < 256: fewer cores do, whatever the memory.
    let slot = "Memory = 256; Cpus = 2; Requirements = TARGET.RequestCpus < Cpus";
    let job = "RequestMemory = 200; RequestCpus = 8; Requirements = RequestMemory + 10 * RequestCpus < TARGET.Memory";
    let found = suggestions(job, slot);
    assert_eq!(found[0], "request_cpus = 1: 1 of 1 slot matches");
    assert!(found[1..].iter().all(|other| !other.contains("request_cpus = 1 and")), "{found:?}");
}

/// A suggestion as it is printed.
fn suggested(one: &Suggestion, found: &Explanation) -> String {
    let (change, effect) = classmate_cli::report::explain::suggested(one, found);
    format!("{change}: {effect}")
}

/// What is suggested first for a job, of a pool of one slot.
fn suggestions(job: &str, slot: &str) -> Vec<String> {
    let slot = ad(&format!("[ Name = \"s\"; MyType = \"Machine\"; Memory = 16384; Cpus = 4; {slot} ]"));
    let job = ad(&format!("[ RequestMemory = 2000; RequestCpus = 1; {job} ]"));
    let (_, found) = explained(&job, vec![slot]);
    found.suggestions.iter().map(|one| suggested(one, &found)).collect()
}

#[test]
fn an_attribute_is_solved_for_in_lists_quotients_differences_and_sums() {
    let any = "Requirements = true";
    let of_slot = |policy: &str| suggestions(any, &format!("Requirements = {policy}"));
    let tail = ": 1 of 1 slot matches";
    let quotient = of_slot("TARGET.RequestMemory / TARGET.RequestCpus <= 1000");
    assert_eq!(quotient[0], format!("request_memory = 1000 MB{tail}"));
    assert_eq!(quotient[1], format!("request_cpus = 2{tail}"));
    assert_eq!(of_slot("Memory - TARGET.RequestMemory >= 15000")[0], format!("request_memory = 1384 MB{tail}"));
    let list = of_slot("stringListMember(TARGET.ProjectName, \"atlas,cms\")");
    assert_eq!(list[0], format!("+ProjectName = \"atlas\"{tail}"));
    let list = of_slot("member(TARGET.ProjectName, { \"atlas\", \"cms\" })");
    assert_eq!(list[0], format!("+ProjectName = \"atlas\"{tail}"));
    let sum = of_slot("TARGET.RequestMemory + TARGET.MemoryOverhead <= Memory");
    assert_eq!(sum[0], format!("+MemoryOverhead = 14384{tail}"));
    // The nearest of the list.
    let near = suggestions(
        "ProjectName = \"cns\"; Requirements = true",
        "Requirements = stringListMember(TARGET.ProjectName, \"atlas,cms\")",
    );
    assert_eq!(near[0], format!("+ProjectName = \"cms\"{tail}"));
    // Of the job's own conditions.
    let own = suggestions("Requirements = RequestMemory / RequestCpus <= 1000 && TARGET.Cpus > 1", any);
    assert_eq!(own[..2], [format!("request_cpus = 2{tail}"), format!("request_memory = 1000 MB{tail}")]);
    let own = suggestions("Requirements = TARGET.Memory - RequestMemory >= 15000", any);
    assert_eq!(own[0], format!("request_memory = 1384 MB{tail}"));
    let own = suggestions("Requirements = RequestMemory + Extra <= TARGET.Memory", any);
    assert_eq!(own[0], format!("+Extra = 14384{tail}"));
}

#[test]
fn of_the_values_that_would_do_the_nearest_is_told() {
    let any = "Requirements = true";
    let tail = ": 1 of 1 slot matches";
    let first = |job: &str, policy: &str| suggestions(job, &format!("Requirements = {policy}")).remove(0);
    let disk = |present: &str| format!("RequestDisk = {present}; {any}");
    // 2047 / 1024 is 1 among integers.
    assert_eq!(first(&disk("4000"), "TARGET.RequestDisk / 1024 < 2"), format!("request_disk = 2047 KB{tail}"));
    // 1999 / 2 is 999.
    let cpus = "RequestCpus = 2; Requirements = true";
    let memory = first(cpus, "TARGET.RequestMemory/TARGET.RequestCpus < 1000");
    assert_eq!(memory, format!("request_memory = 1999 MB{tail}"));
    let strict = first(&disk("9"), "(TARGET.RequestDisk - 100) > 12.5");
    assert_eq!(strict, format!("request_disk = 113 KB{tail}"));
    // A tenth of 16384 is 1638.4, and what is whole stays whole.
    let whole = first(any, "TARGET.RequestMemory <= Memory * 0.1");
    assert_eq!(whole, format!("request_memory = 1638 MB{tail}"));
    let real = first("Share = 0.9; Requirements = true", "TARGET.Share < 0.5");
    assert_eq!(real, format!("+Share = 0.4{tail}"));
    // 16384 / 10 is 1638, and of the number in the condition as little is taken away.
    let constant = first("Requirements = TARGET.Memory * 0.1 >= 2000", "true");
    assert_eq!(
        constant,
        format!("in requirements, replace `TARGET.Memory * 0.1 >= 2000` with `TARGET.Memory * 0.1 >= 1638`{tail}")
    );
}

#[test]
fn what_is_no_number_or_leads_nowhere_gives_no_change_of_the_job() {
    for condition in [
        "TARGET.RequestMemory / 0 < 2",
        "TARGET.RequestMemory * 0 > 2",
        "TARGET.RequestMemory % 0 == 2",
        "TARGET.RequestMemory < real(\"NaN\")",
        "TARGET.RequestMemory + 1 > real(\"INF\")",
        "TARGET.RequestMemory - \"a\" > 5",
        "TARGET.RequestMemory / {1} > 5",
    ] {
        let found = suggestions("Requirements = true", &format!("Requirements = {condition}"));
        assert!(found.iter().all(|text| !text.starts_with("`RequestMemory`")), "{condition}: {found:?}");
    }
    let tail = ": 1 of 1 slot matches";
    let first = |policy: &str| suggestions("Requirements = true", &format!("Requirements = {policy}")).remove(0);
    // A request is not negative.
    let negative = suggestions("Requirements = true", "Requirements = TARGET.RequestMemory < -5");
    assert!(negative.iter().all(|text| !text.contains("request_memory")), "{negative:?}");
    let huge = first("TARGET.RequestMemory * 2 > 9007199254740993");
    assert_eq!(huge, format!("request_memory = 4503599627370497{tail}"));
}

#[test]
fn what_slots_ask_of_presence_defaults_lists_and_remainders_is_found() {
    let tail = ": 1 of 1 slot matches";
    let of = |job: &str, policy: &str| {
        suggestions(&format!("{job}; Requirements = true"), &format!("Site = \"cern\"; Requirements = {policy}"))
    };
    let first = |job: &str, policy: &str| of(job, policy).remove(0);
    for policy in
        ["(TARGET.RequestGPUs ?: 0) > 0", "ifThenElse(isUndefined(TARGET.RequestGPUs), 0, TARGET.RequestGPUs) >= 1"]
    {
        assert_eq!(first("A = 1", policy), format!("request_gpus = 1{tail}"), "{policy}");
    }
    // 7 is the largest below 8; to be there at all is what the other condition asks.
    for policy in [
        "TARGET.X =!= undefined && TARGET.X < 8",
        "!isUndefined(TARGET.X) && TARGET.X < 8",
        "(TARGET.X isnt undefined && TARGET.X < 8) || TARGET.Y == 1 && false",
        "TARGET.X =!= undefined && TARGET.X < 8 && TARGET.X > 6",
    ] {
        assert_eq!(first("A = 1", policy), format!("+X = 7{tail}"), "{policy}");
    }
    for policy in ["isUndefined(TARGET.WantX)", "TARGET.WantX =?= undefined", "!(undefined isnt TARGET.WantX)"] {
        assert_eq!(first("WantX = 5", policy), format!("remove +WantX{tail}"), "{policy}");
    }
    assert_eq!(first("A = 1", "TARGET.HasX =!= undefined"), format!("+HasX = true{tail}"));
    assert_eq!(first("A = 1", "(TARGET.WantX ?: false)"), format!("+WantX = true{tail}"));
    assert_eq!(first("WantX = true", "!(TARGET.WantX ?: false)"), format!("+WantX = false{tail}"));
    // The job's is the member, or the list; and the list of the slots gets longer.
    let member = of("Place = \"B\"", "member(TARGET.Place, {\"A\",\"C\"}) =?= true");
    assert_eq!(member[0], format!("+Place = \"A\"{tail}"));
    assert_eq!(
        member[1],
        format!(
            "replace `member(TARGET.Place,{{ \"A\",\"C\" }}) is true` with `member(TARGET.Place,{{ \"A\",\"C\",\"B\" }}) is \
             true` in `Requirements` of slots{tail}"
        )
    );
    let text = of("Place = \"B\"", "(stringListIMember(TARGET.Place, \"A,C\") ?: false)");
    assert_eq!(text[0], format!("+Place = \"A\"{tail}"));
    assert!(text[1].contains("\"A,C,B\""), "{text:?}");
    assert_eq!(
        first("Sites = { \"infn\" }", "member(Site, TARGET.Sites)"),
        format!("+Sites = {{ \"infn\",\"cern\" }}{tail}")
    );
    assert_eq!(first("A = 1", "member(Site, TARGET.Sites)"), format!("+Sites = {{ \"cern\" }}{tail}"));
    assert_eq!(
        first("Sites = \"infn\"", "stringListMember(Site, TARGET.Sites)"),
        format!("+Sites = \"infn,cern\"{tail}")
    );
    let left = of("A = 1", "TARGET.RequestMemory % 1024 == 0");
    assert_eq!(left[..2], ["2 GB", "1 GB"].map(|to| format!("request_memory = {to}{tail}")));
    assert_eq!(left[2], format!("remove `TARGET.RequestMemory % 1024 == 0` from `Requirements` of slots{tail}"));
    assert_eq!(first("A = 1", "TARGET.RequestCpus != 1"), format!("request_cpus = 2{tail}"));
    // Any other string will do; and without the attribute the other branch counts, which is true.
    assert_eq!(first("Project = \"\"", "TARGET.Project != \"\""), format!("+Project = \"...\" (any string){tail}"));
    for policy in [
        "ifThenElse(TARGET.Length is \"Long\", Cpus > 8, true)",
        "ifThenElse(TARGET.Length isnt undefined && TARGET.Length == \"Long\", Cpus > 8, Cpus < 8)",
    ] {
        assert_eq!(first("Length = \"Long\"", policy), format!("remove +Length{tail}"), "{policy}");
    }
}

#[test]
fn what_the_job_asks_of_lists_defaults_and_remainders_is_found() {
    let tail = ": 1 of 1 slot matches";
    let of = |job: &str| suggestions(job, "Site = \"cern\"; Tags = \"ssd,gpu\"; Requirements = true");
    let first = |job: &str| of(job).remove(0);
    assert_eq!(
        first("Requirements = member(TARGET.Site, {\"A\"})"),
        format!(
            "in requirements, replace `member(TARGET.Site,{{ \"A\" }})` with `member(TARGET.Site,{{ \"A\",\"cern\" }})`{tail}"
        )
    );
    assert_eq!(
        first("Requirements = stringListMember(\"gpus\", TARGET.Tags)"),
        format!(
            "in requirements, replace `stringListMember(\"gpus\",TARGET.Tags)` with `stringListMember(\"gpu\",TARGET.Tags)`{tail}"
        )
    );
    assert_eq!(
        first("Sites = {\"A\"}; Requirements = member(TARGET.Site, Sites)"),
        format!("+Sites = {{ \"A\",\"cern\" }}{tail}")
    );
    assert_eq!(first("Least = 9; Requirements = (Least ?: 0) < TARGET.Cpus"), format!("+Least = 3{tail}"));
    assert_eq!(first("Max = 9; Requirements = isUndefined(MY.Max)"), format!("remove +Max{tail}"));
    let left = of("Requirements = RequestMemory % 1024 == 0");
    assert_eq!(left[..2], ["2 GB", "1 GB"].map(|to| format!("request_memory = {to}{tail}")));
}

#[test]
fn a_limit_of_what_is_counted_is_moved_as_far_as_enough_ads_want() {
    let tail = ": 1 of 1 slot matches";
    let all = |job: &str| {
        let count = "Requirements = countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs";
        let gpus = "AvailableGPUs = { A, B }; A = [ Capability = 8.6; Free = 20 ]; B = [ Capability = 7.5; Free = 10 ]";
        suggestions(&format!("{job}; {count}"), &format!("{gpus}; Requirements = true"))
    };
    let least = "GPUsMinCapability = 9.0; RequireGPUs = Capability >= GPUsMinCapability";
    assert_eq!(all(&format!("RequestGPUs = 1; {least}"))[0], format!("gpus_minimum_capability = 8.6{tail}"));
    assert_eq!(all(&format!("RequestGPUs = 2; {least}"))[0], format!("gpus_minimum_capability = 7.5{tail}"));
    // To do without is the last that the owner of a job wants.
    let written = |limit: &str| all(&format!("RequestGPUs = 1; RequireGPUs = Free > 5 && {limit}"))[..2].to_vec();
    let changes = |from: &str, to: &str| {
        [format!("in require_gpus, replace `{from}` with `{to}`"), "remove request_gpus".to_owned()]
            .map(|change| change + tail)
    };
    assert_eq!(written("Free > 25"), changes("Free > 25", "Free > 19"));
    assert_eq!(written("5 >= Free"), changes("5 >= Free", "10 >= Free"));
}

#[test]
fn of_a_long_condition_the_operands_outside_of_calls_are_shown_first() {
    let slot =
        ad("[Name = \"s\"; Disk = 5; Requirements = TARGET.Need - ifThenElse(A ?: B ?: C ?: true, 0, 1) <= MY.Disk]");
    let found = explained(&ad("[Need = 9; Requirements = true]"), vec![slot]).1;
    assert!(
        found.causes[0].text.contains("(Need of the job is 9, Disk of slots is 5 KB, A of the job"),
        "{}",
        found.causes[0].text
    );
}

#[test]
fn of_a_job_that_matches_a_change_says_what_it_wins_and_loses() {
    let slots = |counts: [usize; 3]| {
        let kinds = [("LINUX", 1000), ("LINUX", 4000), ("WINDOWS", 4000)];
        let kinds = kinds.into_iter().zip(counts).flat_map(|(kind, count)| std::iter::repeat_n(kind, count));
        kinds.enumerate().map(|(at, (system, memory))| {
            ad(&format!(
                "[ Name = \"s{at}\"; MyType = \"Machine\"; OpSys = \"{system}\"; Memory = {memory}; Requirements = true ]"
            ))
        })
    };
    let job =
        ad("[ RequestMemory = 2000; Requirements = TARGET.Memory >= RequestMemory && TARGET.OpSys == \"LINUX\" ]");
    let told = |counts: [usize; 3]| {
        let (_, found) = explained(&job, slots(counts).collect());
        assert!(found.matching > 0);
        found.suggestions.iter().map(|one| suggested(one, &found)).collect::<Vec<_>>()
    };
    let windows = "requirements = TARGET.OpSys == \"WINDOWS\"";
    let found = told([2, 1, 3]);
    assert!(found.contains(&"request_memory = 1000 MB: 3 of 6 slots match (+2)".to_owned()), "{found:?}");
    assert!(found.contains(&format!("{windows}: 3 of 6 slots match (+3, −1)")), "{found:?}");
    // Three are lost for two.
    let found = told([2, 3, 2]);
    assert!(!found.iter().any(|text| text.starts_with(windows)) && !found.is_empty(), "{found:?}");
}

#[test]
fn a_circle_is_told_with_its_way_and_where_it_is() {
    let cause = |job: &str, slot: &str| {
        let slot = ad(&format!("[ Name = \"s\"; MyType = \"Machine\"; Memory = 10; {slot} ]"));
        explained(&ad(&format!("[ {job} ]")), vec![slot]).1.causes.remove(0).text
    };
    let any = "Requirements = true";
    assert_eq!(
        cause("Requirements = Fits && TARGET.Memory > 1; Fits = Large; Large = Fits && true", any),
        "no slot satisfies `Fits`: `Fits` → `Large` → `Fits` is a circular reference in the job, so it is UNDEFINED"
    );
    assert_eq!(
        cause("Requirements = Requirements && TARGET.Memory > 1", any),
        "no slot satisfies `Requirements`: `Requirements` → `Requirements` is a circular reference in the job, so it is UNDEFINED"
    );
    assert_eq!(
        cause(any, "Requirements = START; START = START"),
        "1 of 1 slot rejects the job: `START` requires `START`, but `START` → `START` is a circular \
         reference in slots, so it is UNDEFINED"
    );
    let across = cause("Requirements = TARGET.Fits; Fits = TARGET.Fits", "Requirements = true; Fits = TARGET.Fits");
    assert!(
        across.contains(
            "`Fits` of slots → `Fits` of the job → `Fits` of slots is a circular reference, so it is UNDEFINED"
        ),
        "{across}"
    );
}

#[test]
fn one_change_of_several_policies_is_told_once_with_all_that_it_wins() {
    let slots = (0..3).map(|at| {
        let more = if at == 0 { " && TARGET.RequestCpus > 0" } else { "" };
        ad(&format!(
            "[ Name = \"s{at}\"; MyType = \"Machine\"; Memory = 1000; Requirements = Fits{more}; \
             Fits = TARGET.RequestMemory <= MY.Memory ]"
        ))
    });
    let job = ad("[ RequestMemory = 2000; RequestCpus = 1; Requirements = true ]");
    let (_, found) = explained(&job, slots.collect());
    let told: Vec<String> = found.suggestions.iter().map(|one| suggested(one, &found)).collect();
    let without = told.iter().filter(|text| text.contains("of slots")).collect::<Vec<_>>();
    assert_eq!(
        without,
        ["remove `TARGET.RequestMemory <= MY.Memory` from `Fits` of slots: 3 of 3 slots match"],
        "{told:?}"
    );
}

#[test]
fn names_that_a_condition_does_without_are_no_cause_and_of_one_condition_there_is_one_note() {
    let slot = "[ Name = \"s\"; MyType = \"Machine\"; Cpus = 4; Memory = 9; Requirements = (TARGET.RequestGPUs ?: 0) <= 0 \
                && ifThenElse(isUndefined(TARGET.Disc), 1, TARGET.Disc) < 5 \
                && countMatches(Capability > 3, { [ Capability = 4 ] }) > 2 && TARGET.Zap + TARGET.Zip > 1 ]";
    let (_, mut found) = explained(&ad("[ RequestCpus = 1; Requirements = true ]"), vec![ad(slot)]);
    let names: Vec<&str> = found.absent.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["TARGET.Zap", "TARGET.Zip"]);
    let mut out = Vec::new();
    found.causes.clear();
    let parts = ShownParts { details: true, policies: 1 };
    classmate_cli::report::explain::write(&mut out, &found, &parts, classmate_cli::report::Color::Off).unwrap();
    let text = String::from_utf8(out).unwrap();
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("note: the job does not define")).collect();
    assert_eq!(
        notes,
        ["note: the job does not define `TARGET.Zap`, `TARGET.Zip`; slots require `TARGET.Zap + TARGET.Zip > 1`"]
    );
}

#[test]
fn conditions_of_the_nearest_slots_are_written_plainly() {
    let slot = "[ Name = \"s\"; MyType = \"Machine\"; Speed = 2.5; Requirements = !(TARGET.Size > 0.5) ]";
    let job = ad("[ Size = 1.5; Requirements = TARGET.Name == \"s\" && !(TARGET.Speed > 1.5) ]");
    let (_, found) = explained(&job, vec![ad(slot)]);
    let [near] = found.nearest.as_slice() else { panic!("{:?}", found.nearest) };
    assert_eq!(near.by_job, ["!(TARGET.Speed > 1.5)"]);
    assert_eq!(near.by_slot, ["!(TARGET.Size > 0.5)"]);
}

#[test]
fn a_job_without_requirements_is_told_as_such() {
    let (_, found) = explained(&ad("[ RequestMemory = 1 ]"), vec![ad("[ Name = \"s\"; Requirements = true ]")]);
    assert!(found.clauses.is_empty() && found.matching == 0 && found.suggestions.is_empty());
}

/// A made pool with groups, slots in use and jobs that match nothing.
fn made(seed: u64) -> Snapshot {
    let pool = GeneratedPool {
        slots: 60,
        jobs: 150,
        autoclusters: 12,
        submitters: 7,
        groups: seed % 4,
        seed,
        claimed: 0.3,
        unmatched: 0.2,
        ..GeneratedPool::default()
    };
    let (mut slots, mut jobs, mut config) = (Vec::new(), Vec::new(), Vec::new());
    pool.write_slots(&mut slots).unwrap();
    pool.write_jobs(&mut jobs).unwrap();
    pool.write_config(&mut config).unwrap();
    let ads =
        |text: &[u8]| LongReader::new(text, &ParseOptions::default()).collect::<Result<Vec<ClassAd>, _>>().unwrap();
    Snapshot {
        slots: ads(&slots),
        jobs: ads(&jobs),
        config: Config::parse("config", &config).unwrap(),
        now: NOW,
        ..Snapshot::default()
    }
}

fn ran(snapshot: &Snapshot) -> PoolRun {
    let kinds = SlotKinds::of(&snapshot.slots, &snapshot.settings());
    PoolRun::of(&mut PreparedPool::new(snapshot).unwrap(), &kinds).unwrap()
}

fn difference(before: &Snapshot, after: &Snapshot) -> Difference {
    Difference::between(&ran(before), &ran(after))
}

#[test]
fn without_a_change_there_is_no_difference_and_with_one_the_sums_agree() {
    let parsed = |text: &str| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
    for seed in 0..12 {
        let before = made(seed);
        let mut after = before.clone();
        let settings = before.settings();
        // What is set is what is there.
        let same = AdEdit { of: parsed("true"), name: Name::new("JobStatus"), value: parsed("1") };
        assert_eq!(same.apply(&mut after.jobs, &settings), before.jobs.len());
        let found = difference(&before, &after);
        assert!(found.is_none(), "seed {seed}: {found:?}");
        let gone = drain(&mut after.slots, &parsed("Cpus >= 8"), &settings);
        let found = difference(&before, &after);
        assert_eq!(
            found.is_none(),
            gone == 0 || found.matches.0 == found.matches.1 && found.jobs_moved.is_empty(),
            "seed {seed}"
        );
        // Who wins and who loses is the difference of the matches, by job, by submitter and by kind of slot.
        let (old, new) = found.matches;
        assert_eq!(new + found.jobs_lost.len(), old + found.jobs_won.len(), "seed {seed}");
        let sum = |moved: &[classmate_advice::internal::whatif::Delta<usize>]| {
            moved.iter().map(|one| one.after as i64 - one.before as i64).sum::<i64>()
        };
        assert_eq!(sum(&found.submitters), new as i64 - old as i64, "seed {seed}");
        assert!(found.freed.is_empty(), "seed {seed}: fewer slots match more: {:?}", found.freed);
    }
}

#[test]
fn a_cycle_that_takes_the_slots_decides_what_one_over_a_copy_decides() {
    for seed in 0..4 {
        let snapshot = made(seed);
        let copied = ran(&snapshot);
        let mut rest = snapshot.clone();
        let slots = std::mem::take(&mut rest.slots);
        let kinds = SlotKinds::of(&slots, &rest.settings());
        let mut pool = PreparedPool::prepare(&rest, slots, Purpose::Cycle, &mut ()).unwrap();
        let taken = PoolRun::of(&mut pool, &kinds).unwrap();
        assert!(Difference::between(&copied, &taken).is_none());
        assert_eq!((&copied.feasibility, &copied.classes), (&taken.feasibility, &taken.classes));
        assert_eq!(copied.outcome.matches, taken.outcome.matches);
        assert!(copied.classes.values().sum::<usize>() == copied.outcome.matches.len());
    }
}

#[test]
fn a_cycle_knows_which_jobs_no_slot_would_do_for() {
    let mut stuck = 0;
    for seed in 0..6 {
        let mut snapshot = made(seed);
        if seed % 2 == 1 {
            // Slots in use are not looked at then, and would do all the same.
            snapshot.config.add("test", b"NEGOTIATOR_CONSIDER_PREEMPTION = false").unwrap();
        }
        let ran = ran(&snapshot);
        assert!(ran.feasibility.is_sorted() && !ran.feasibility.is_empty());
        for prospect in ran.feasibility.iter().step_by(5) {
            let (job, ad) = find(&snapshot, |job, _| job.id == prospect.job).unwrap();
            let pool = PreparedPool::for_explanation(&snapshot).unwrap();
            let matching = matching(&PoolFacts::new(&pool), &pool.job(ad, &job.submitter).ad);
            assert_eq!(prospect.infeasible_request.is_none(), matching > 0, "seed {seed}: {}", prospect.job);
            stuck += usize::from(matching == 0);
        }
    }
    assert!(stuck > 10, "{stuck}");
}

#[test]
fn all_requests_that_lose_every_slot_are_counted() {
    let slots = ["a", "b"].map(|name| {
        let memory = if name == "a" { 100 } else { 10 };
        ad(&format!("[ Name = \"{name}\"; MyType = \"Machine\"; Memory = {memory}; Requirements = true ]"))
    });
    // A hundred requests, each of two jobs, that only the large slot would do for; and one for either.
    let jobs = (1..102).flat_map(|cluster| (0..2).map(move |process| (cluster, process)));
    let jobs = jobs.map(|(cluster, process)| {
        let memory = if cluster == 101 { 5 } else { 20 + cluster % 80 };
        ad(&format!(
            "[ ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; User = \"u@x\"; RequestMemory = {memory}; \
             Requirements = TARGET.Memory >= RequestMemory ]"
        ))
    });
    let before = Snapshot { slots: slots.to_vec(), jobs: jobs.collect(), ..Snapshot::default() };
    let mut after = before.clone();
    drain(&mut after.slots, &parse_expr(b"Memory > 50", &ParseOptions::default()).unwrap(), &before.settings());
    let found = difference(&before, &after);
    assert_eq!((found.stranded.len(), found.freed.len()), (100, 0));
    assert_eq!(difference(&after, &before).freed.len(), 100);
    assert_eq!(found.stranded[0], "1.0");
}

/// A pool of ten slots of four cores, whose groups `phys.cms` and `phys.atlas` have 8 weighted slots between them.
fn capped() -> Snapshot {
    let config = "UID_DOMAIN = x\nGROUP_NAMES = phys, phys.cms, phys.atlas, chem\nGROUP_QUOTA_phys = 8\n\
                  GROUP_QUOTA_phys.cms = 8\nGROUP_QUOTA_phys.atlas = 8\nGROUP_QUOTA_chem = 32\nGROUP_ACCEPT_SURPLUS = false\n";
    let slot = |at: usize| {
        ad(&format!(
            "[Name = \"s{at:02}\"; MyType = \"Machine\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 4; Memory = 8192; \
             SlotWeight = Cpus; Requirements = true]"
        ))
    };
    let job = |cluster: i64, process: i64, group: &str, owner: &str| {
        ad(&format!(
            "[ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; JobUniverse = 5; Owner = \"{owner}\"; User = \"{owner}@x\"; \
             AcctGroup = \"{group}\"; AcctGroupUser = \"{owner}\"; AccountingGroup = \"{group}.{owner}\"; RequestCpus = 1; \
             Requirements = TARGET.Memory > 0]"
        ))
    };
    let jobs = (0..5).map(|at| job(1, at, "phys.cms", "alice")).chain((0..5).map(|at| job(2, at, "phys.atlas", "bob")));
    Snapshot {
        config: Config::parse("c", config.as_bytes()).unwrap(),
        slots: (0..10).map(slot).collect(),
        jobs: jobs.collect(),
        ..Snapshot::default()
    }
}

#[test]
fn a_waiting_job_is_counted_once_however_often_its_request_was_refused() {
    let snapshot = capped();
    let (outcome, queue) = reasons::ran(&snapshot).unwrap();
    assert_eq!(outcome.matches.len(), 2);
    let found = reasons::survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    assert_eq!((found.idle, found.matched, found.causes.iter().map(|cause| cause.jobs).sum::<usize>()), (10, 2, 8));
}

#[test]
fn the_story_of_a_group_names_the_level_that_caps_it_and_grants_what_the_quotas_say() {
    let snapshot = capped();
    let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
    let division = || PreparedPool::new(&snapshot).unwrap().division();
    let story =
        |name: &str| classmate_advice::internal::explain::cycle::group::trace(&outcome, division(), name).unwrap();
    // Of 8 weighted slots for both, two slots of 4 are given to the first one.
    let full = "group `phys` above it does not accept surplus, and its subtree uses 8 of its quota of 8";
    let groups: Vec<(&str, bool)> = ["phys.atlas", "phys.cms"]
        .into_iter()
        .map(|name| (name, story(name).steps.iter().any(|step| step.contains(full))))
        .collect();
    assert!(groups.contains(&("phys.cms", true)), "{groups:?}");
    let above = story("phys").steps.pop().unwrap();
    assert_eq!(
        above,
        "including its subgroups, it uses 8 of its subtree quota of 8, and 10 is requested; it does not accept surplus, which limits all of them"
    );
    let division = division();
    for one in &division.groups {
        assert_eq!(story(&one.summary.name).granted, one.summary.granted(), "{}", one.summary.name);
    }
}

#[test]
fn a_group_whose_slots_weigh_more_than_its_requests_is_limited_by_its_quota() {
    let config = "UID_DOMAIN = x\nGROUP_NAMES = phys.cms, phys\nGROUP_QUOTA_phys.cms = 10\nGROUP_QUOTA_phys = 20\n\
                  GROUP_ACCEPT_SURPLUS = false\n";
    let mut snapshot = capped();
    snapshot.config = Config::parse("c", config.as_bytes()).unwrap();
    snapshot.jobs.truncate(5);
    // In a second round no group lacks anything, so that its limit is 0/0; it is the first that counts.
    snapshot.config.add("rounds", b"GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 3\n").unwrap();
    // 5 jobs request 1 core each and match slots of weight 4: the second match makes 8, a third one would make 12 of 10.
    let found = replay::explain_job(&snapshot, "1.2".parse().unwrap()).unwrap().unwrap();
    assert_eq!(
        found.causes[0].text,
        "group phys.cms has less than a matching slot left of its quota: quota 10, limit 10, in use 8, requested 5; its \
         slots weigh more than the 5 requested and allocated; the lightest unclaimed matching slot has weight 4"
    );
    assert_eq!(found.causes[0].label, "group phys.cms has less than a matching slot left of its quota");
    let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
    let division = PreparedPool::new(&snapshot).unwrap().division();
    let found = classmate_advice::internal::explain::cycle::group::trace(&outcome, division, "phys.cms").unwrap();
    assert_eq!(
        found.steps.last().unwrap(),
        "after the cycle it uses 8 of its quota of 10, with 5 allocated: its slots weigh more than the 5 requested and allocated"
    );
}

#[test]
fn matching_slots_that_the_cycle_does_not_consider_are_a_cause_of_their_own() {
    let causes = |protected: usize, others: usize| {
        let slot = |at: usize| {
            let retirement = if at < protected { "RetirementTimeRemaining = 100; " } else { "" };
            ad(&format!(
                "[Name = \"s{at}\"; State = \"Claimed\"; RemoteUser = \"b@x\"; RemoteOwner = \"b@x\"; {retirement}Requirements = true]"
            ))
        };
        let job = ad("[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]");
        let config = Config::parse("c", b"UID_DOMAIN = x\nPREEMPTION_REQUIREMENTS = false\n").unwrap();
        let slots = (0..protected + others).map(slot).collect();
        let snapshot = Snapshot { slots, jobs: vec![job], config, ..Snapshot::default() };
        let found = replay::explain_job(&snapshot, "1.0".parse().unwrap()).unwrap().unwrap();
        found.causes.into_iter().map(|cause| cause.text).collect::<Vec<_>>()
    };
    let excluded = "in use within retirement time (RetirementTimeRemaining is above 0), and NEGOTIATOR_CONSIDER_EARLY_PREEMPTION is false";
    let busy = "matching slots are busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption";
    // The cause of the most slots comes first.
    let most = format!("the cycle does not consider 5 of the 7 matching slots: 5 are {excluded}");
    assert_eq!(causes(5, 2), [most, format!("2 {busy}")]);
    let few = format!("the cycle does not consider 2 of the 7 matching slots: 2 are {excluded}");
    assert_eq!(causes(2, 5), [format!("5 {busy}"), few]);
    let all = format!("the cycle does not consider any of the 2 matching slots: 2 are {excluded}");
    assert_eq!(causes(2, 0), [all]);
}

#[test]
fn suggestions_are_ordered_by_edits_and_then_by_slots() {
    let slots = || {
        [1000, 2000, 3000]
            .map(|memory| ad(&format!("[Name = \"s{memory}\"; Memory = {memory}; Requirements = true]")))
            .to_vec()
    };
    let values = |request: &str| {
        let job = ad(&format!("[RequestMemory = {request}; Requirements = TARGET.Memory >= RequestMemory]"));
        let found = explained(&job, slots()).1;
        let one = |one: &Suggestion| (one.changes[0].after.clone(), one.slots);
        found.suggestions.iter().filter(|one| one.changes[0].of == Changed::Job).map(one).collect::<Vec<_>>()
    };
    let (two, three) = (("2000".to_owned(), 2), ("3000".to_owned(), 1));
    // A request that is an amount, also one with its unit in a string, is lowered in steps, the smallest first; in place of another
    // value the amount that most slots have is written.
    assert_eq!(values("4000"), [three.clone(), two.clone()]);
    assert_eq!(values("\"4 GB\""), [three, two]);
    assert_eq!(values("\"much\""), [("1000".to_owned(), 3)]);
    assert_eq!(values("Undefined1 * 2"), [("1000".to_owned(), 3)]);
    let plain = |at| ad(&format!("[Name = \"p{at}\"; HasSingularity = false; Requirements = true]"));
    let short = ad("[Name = \"q\"; HasSingularity = true; Requirements = TARGET.IsShort is true]");
    let slots = (0..4).map(plain).chain([short]).collect();
    let found = explained(&ad("[Requirements = TARGET.HasSingularty]"), slots).1;
    let edits: Vec<usize> = found.suggestions.iter().map(|one| one.changes.len()).collect();
    assert!(edits.is_sorted() && edits.contains(&2), "{edits:?}");
    assert_eq!(found.suggestions[0].slots, 4);
}

#[test]
fn another_weight_or_another_kind_of_slot_is_a_difference() {
    let before = capped();
    let mut after = before.clone();
    for slot in &mut after.slots {
        slot.insert("Memory", 4096_i64);
    }
    let found = difference(&before, &after);
    assert!(!found.is_none() && found.weight.0 == found.weight.1);
    // Two slots of four cores were matched before, of another kind after it.
    let kinds: Vec<(usize, usize)> = found.classes.iter().map(|kind| (kind.before, kind.after)).collect();
    assert_eq!(kinds, [(0, 2), (2, 0)]);
    let mut after = before.clone();
    after.config.add("more", b"SLOT_WEIGHT = 3").unwrap();
    after.slots.iter_mut().for_each(|slot| slot.insert("SlotWeight", 3_i64));
    let found = difference(&before, &after);
    assert!(!found.is_none());
    assert!(found.weights.iter().any(|moved| moved.before != moved.after), "{found:?}");
}

#[test]
fn changes_are_found_through_arithmetic_negation_and_quotation_marks() {
    let slots = || {
        (0..3)
            .map(|at| ad(&format!("[Name = \"s{at}\"; Memory = 8192; OpSys = \"LINUX\"; Requirements = true]")))
            .collect()
    };
    let first = |job: &str| {
        let found = explained(&ad(job), slots()).1;
        found.suggestions[0]
            .changes
            .iter()
            .map(|change| format!("{} {}", change.attribute, change.after))
            .collect::<Vec<_>>()
    };
    // 8192 > 819 · 10, and not > 820 · 10.
    assert_eq!(
        first("[RequestMemory = 1000; Requirements = TARGET.Memory > RequestMemory * 10]"),
        ["RequestMemory 819"]
    );
    // 8192 / 1.5 = 5461.3…, which is less than 8192 − 1000.
    assert_eq!(
        first(
            "[RequestMemory = 8000; Requirements = TARGET.Memory >= RequestMemory * 1.5 && (TARGET.Memory - 1000) >= RequestMemory]"
        ),
        ["RequestMemory 5461"]
    );
    assert_eq!(
        first("[RequestMemory = \"2000\"; Requirements = TARGET.Memory >= RequestMemory]"),
        ["RequestMemory 2000"]
    );
    assert_eq!(first("[Requirements = !(TARGET.OpSys != \"WINDOWS\")]"), ["Requirements !(TARGET.OpSys != \"LINUX\")"]);
    assert_eq!(
        first(
            "[RequestMemory = 9000; Requirements = TARGET.OpSys == \"LINUX\" ? !(TARGET.Memory < RequestMemory) : TARGET.HasX]"
        ),
        ["RequestMemory 8192"]
    );
}

#[test]
fn another_owner_is_not_proposed() {
    let slot = ad(
        "[Name = \"s\"; Requirements = START; START = StartJob && true; StartJob = ProjectOK || TARGET.Owner == \"root\"; ProjectOK = false]",
    );
    let found = explained(&ad("[Owner = \"alice\"; Requirements = true]"), vec![slot]).1;
    assert!(!found.suggestions.is_empty());
    let mut changes = found.suggestions.iter().flat_map(|one| &one.changes);
    assert!(changes.all(|change| change.of == Changed::Slot), "{:?}", found.suggestions);
}

/// `SYSTEM_IMMUTABLE_JOB_ATTRS`, `SYSTEM_SECURE_JOB_ATTRS` and `SYSTEM_STARTD_JOB_ATTRS` list them.
#[test]
fn what_htcondor_sets_or_measures_is_not_proposed() {
    let attributes = [
        ("JobUniverse", "5", "TARGET.JobUniverse == 6"),
        ("DiskUsage", "25000", "TARGET.DiskUsage < 1000"),
        ("ImageSize", "25000", "TARGET.ImageSize < 1000"),
        ("x509UserProxyVOName", "\"atlas\"", "TARGET.x509UserProxyVOName == \"cms\""),
    ];
    for (name, value, condition) in attributes {
        let slot = format!("[Name = \"s\"; Start = {condition}; Requirements = Start]");
        let found = explained(&ad(&format!("[{name} = {value}; Requirements = true]")), vec![ad(&slot)]).1;
        assert!(!found.suggestions.is_empty(), "{name}");
        let mut changes = found.suggestions.iter().flat_map(|one| &one.changes);
        assert!(changes.all(|change| change.of == Changed::Slot), "{:?}", found.suggestions);
    }
}

/// `condor_submit` writes the condition for the command, so only the command can be removed.
#[test]
fn a_request_of_what_no_slot_has_is_left_out() {
    let job = "[RequestLicense = 1; RequestCpus = 1; Requirements = TARGET.Cpus >= RequestCpus && TARGET.License >= RequestLicense]";
    let found = explained(&ad(job), vec![ad("[Name = \"s\"; Cpus = 4; Requirements = true]")]).1;
    let commands = |one: &Suggestion| one.changes.iter().map(|change| change.command.clone()).collect::<Vec<_>>();
    let all: Vec<_> = found.suggestions.iter().map(commands).collect();
    // Of both, since the condition is added to a request that is left.
    assert_eq!(all, [["remove request_license"; 2].map(|command| Some(command.to_owned()))]);
    assert_eq!((found.suggestions[0].slots, found.suggestions[0].won), (1, 1));
}

/// By default, the negotiator does not see `MemoryUsage` (`REMOVE_SIGNIFICANT_ATTRIBUTES`).
#[test]
fn attributes_that_requests_lack_are_named() {
    let explained = |start: &str| {
        let slot = format!("[Name = \"s\"; State = \"Unclaimed\"; Start = {start}; Requirements = Start]");
        let job = "[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; MemoryUsage = 900; Requirements = true]";
        let config = Config::parse("c", b"UID_DOMAIN = x\n").unwrap();
        let snapshot = Snapshot { slots: vec![ad(&slot)], jobs: vec![ad(job)], config, ..Snapshot::default() };
        let found = replay::explain_job(&snapshot, "1.0".parse().unwrap()).unwrap().unwrap();
        let changes = found.suggestions.iter().flat_map(|one| &one.changes).map(|one| one.after.clone());
        (found.causes.into_iter().map(|cause| cause.text).collect::<Vec<_>>(), changes.collect::<Vec<_>>())
    };
    let unsent =
        "MemoryUsage of the job is 900 MB); REMOVE_SIGNIFICANT_ATTRIBUTES leaves `MemoryUsage` out of requests";
    let refused = |start: &str| format!("1 of 1 slot rejects the job: `Start` requires `{start}` ({unsent}");
    let start = "TARGET.MemoryUsage < 500";
    // Another number would leave it undefined in the cycle.
    assert_eq!(explained(start), (vec![refused(start)], vec!["true".to_owned()]));
    let start = "TARGET.MemoryUsage < 500 || TARGET.MemoryUsage is undefined";
    let (causes, _) = explained(start);
    assert_eq!(causes[0], "the job matched s in spin 1 of pie 1");
    assert_eq!(
        causes[1],
        "the request matched, but no slot matches the whole job: a slot rejects it when it is claimed"
    );
    assert!(
        causes[2].starts_with("1 of 1 slot rejects the job because of `TARGET.MemoryUsage < 500` in `Start`"),
        "{causes:?}"
    );
    assert!(causes[2].ends_with("; REMOVE_SIGNIFICANT_ATTRIBUTES leaves `MemoryUsage` out of requests"), "{causes:?}");
}

#[test]
fn draining_slots_are_called_so() {
    let slot = |more: &str| ad(&format!("[Name = \"s\"; {more} Start = false; Requirements = Start]"));
    let cause = |slots| explained(&ad("[Requirements = true]"), slots).1.causes[0].text.clone();
    let because = "`Requirements` requires `Start` (Start of slots is false)";
    let draining = cause(vec![slot("Draining = true;"), slot("Draining = true;")]);
    assert_eq!(draining, format!("2 of 2 slots, which are draining, reject the job: {because}"));
    let one = cause(vec![slot("Draining = true;"), slot("")]);
    assert_eq!(one, format!("2 of 2 slots reject the job: {because}"));
}

/// 3.10 is the number 3.1, and 3.9 is more than that.
#[test]
fn a_number_that_may_have_lost_a_zero_is_no_version() {
    let of = |version: &str| {
        let slots =
            [version, "3.9.25"].map(|one| ad(&format!("[Name = \"s{one}\"; Python = \"{one}\"; Requirements = true]")));
        let found = explained(&ad("[Requirements = TARGET.Python >= 3.1]"), slots.to_vec()).1;
        found.suggestions.iter().any(|one| suggested(one, &found).contains("versionGE"))
    };
    assert_eq!((of("3.10.4"), of("3.11.2")), (false, true));
}

/// A slot that has the attribute itself does not miss it in requests.
#[test]
fn attributes_of_the_slot_are_not_left_out_of_requests() {
    let slot = ad("[Name = \"s\"; MemoryUsage = 700; Start = MemoryUsage < 500; Requirements = Start]");
    let found = explained(&ad("[MemoryUsage = 900; Requirements = true]"), vec![slot]).1;
    assert!(!found.causes[0].text.contains("REMOVE_SIGNIFICANT_ATTRIBUTES"), "{:?}", found.causes);
}

/// A job takes one of two slots in use by the rank of the slot, before the turn of another submitter or after it: before it, that slot
/// is not protected as well, and after it both were.
#[test]
fn a_slot_that_was_taken_before_is_not_protected_as_well() {
    let slot = |name: &str, rank: &str| {
        ad(&format!(
            "[Name = \"{name}\"; State = \"Claimed\"; RemoteUser = \"b@x\"; RemoteOwner = \"b@x\"; CurrentRank = 0.0; \
             Rank = {rank}; Requirements = true]"
        ))
    };
    let job = |cluster: u32, user: &str| {
        ad(&format!("[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; User = \"{user}\"; Requirements = true]"))
    };
    let causes = |preferred: &str, explained: &str| -> Vec<String> {
        let slots = vec![slot("s1", &format!("TARGET.User == \"{preferred}\"")), slot("s2", "0.0")];
        let config = Config::parse("c", b"UID_DOMAIN = x\nPREEMPTION_REQUIREMENTS = false\n").unwrap();
        let snapshot = Snapshot { slots, jobs: vec![job(1, "a@x"), job(2, "e@x")], config, ..Snapshot::default() };
        let found = replay::explain_job(&snapshot, explained.parse().unwrap()).unwrap().unwrap();
        found.causes.into_iter().map(|cause| cause.text).collect()
    };
    // The turn of a@x comes first.
    let later = causes("e@x", "1.0");
    assert_eq!(later, ["2 matching slots are busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption"]);
    let before = causes("a@x", "2.0");
    assert!(before[0].starts_with("a@x got 1 of the 2 matching slots"), "{before:?}");
    assert_eq!(before[1], "1 matching slot is busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption");
}

/// What is proposed for a job, one line each.
fn proposed(job: &str, slots: &[&str]) -> Vec<String> {
    let found = explained(&ad(job), slots.iter().map(|text| ad(text)).collect()).1;
    found.suggestions.iter().map(|one| suggested(one, &found)).collect()
}

/// Slots of one kind.
const FOUR: [&str; 4] = ["s0", "s1", "s2", "s3"];

fn four(attributes: &str) -> Vec<String> {
    FOUR.iter().map(|name| format!("[Name = \"{name}\"; Machine = \"{name}\"; {attributes}]")).collect()
}

fn proposed_of_four(job: &str, attributes: &str) -> Vec<String> {
    let slots = four(attributes);
    proposed(job, &slots.iter().map(String::as_str).collect::<Vec<_>>())
}

const GPUS: &str = "GPUMem = 4000; HasGPU = true; Memory = 8192; OpSys = \"LINUX\"; Requirements = true";

#[test]
fn inside_alternatives_only_what_fails_of_a_chain_is_changed() {
    assert_eq!(
        proposed_of_four("[Requirements = (TARGET.GPUMem >= 8000 && TARGET.Memory > 100) || TARGET.IsSpecial]", GPUS),
        ["in requirements, replace `TARGET.GPUMem >= 8000` with `TARGET.GPUMem >= 4000`: 4 of 4 slots match"]
    );
    // Both fail: both are changed, together.
    assert_eq!(
        proposed_of_four(
            "[RequestCpus = 1; Requirements = RequestCpus > 0 ? (TARGET.GPUMem >= 8000 && TARGET.Memory >= 10000) : false]",
            GPUS
        )
        .last()
        .unwrap(),
        "in requirements, replace `TARGET.GPUMem >= 8000` with `TARGET.GPUMem >= 4000` and in requirements, replace `TARGET.Memory >= 10000` \
         with `TARGET.Memory >= 8192`: 4 of 4 slots match"
    );
    // Of each alternative its own part.
    let found = proposed_of_four(
        "[Requirements = (TARGET.OpSys == \"LINUX\" && TARGET.HasNone) || (TARGET.OpSys == \"WINDOWS\" && TARGET.Memory > 5)]",
        GPUS,
    );
    assert_eq!(
        found,
        [
            "in requirements, replace `TARGET.OpSys == \"WINDOWS\"` with `TARGET.OpSys == \"LINUX\"`: 4 of 4 slots match",
            "in requirements, remove `TARGET.HasNone`: 4 of 4 slots match",
        ]
    );
}

#[test]
fn a_name_that_looks_like_it_and_a_text_without_quotation_marks_are_proposed() {
    assert_eq!(
        proposed_of_four("[Requirements = TARGET.OpSys == LINUX]", GPUS)[0],
        "in requirements, replace `TARGET.OpSys == LINUX` with `TARGET.OpSys == \"LINUX\"`: 4 of 4 slots match"
    );
    assert_eq!(
        proposed_of_four("[RequestMemory = 5; Requirements = TARGET.Memorry >= RequestMemory]", GPUS)[0],
        "in requirements, replace `TARGET.Memorry >= RequestMemory` with `TARGET.Memory >= RequestMemory`: 4 of 4 slots match"
    );
    assert_eq!(
        proposed_of_four("[Requirements = TARGET.HasGPUs]", GPUS)[0],
        "in requirements, replace `TARGET.HasGPUs` with `TARGET.HasGPU`: 4 of 4 slots match"
    );
    // The name alone is not enough, and 9000 is more than 8192.
    assert_eq!(
        proposed_of_four("[RequestMemory = 9000; Requirements = TARGET.Memorry >= RequestMemory]", GPUS)[0],
        "request_memory = 8 GB and in requirements, replace `TARGET.Memorry >= RequestMemory` with `TARGET.Memory >= \
         RequestMemory`: 4 of 4 slots match"
    );
}

#[test]
fn no_attribute_is_made_up_of_a_word_or_of_what_other_slots_have() {
    let slot = "[Name = \"s\"; Requirements = START; START = TARGET.Owner == alice || TARGET.Team == cms]";
    let found = proposed("[Owner = \"alice\"; Requirements = true]", &[slot]);
    assert_eq!(
        found,
        ["replace `TARGET.Owner == alice` with `TARGET.Owner == \"alice\"` in `START` of slots: 1 of 1 slot matches"]
    );
    let slots = [
        "[Name = \"a\"; HasJava = true; Requirements = START; START = HasJava && TARGET.RequestMemory > 5]",
        "[Name = \"b\"; Requirements = START; START = HasJava == true]",
    ];
    let found = proposed("[RequestMemory = 1; Requirements = true]", &slots);
    assert!(found.len() > 1 && found.iter().all(|text| !text.contains("`HasJava` undefined")), "{found:?}");
}

#[test]
fn of_texts_the_nearest_is_proposed_and_none_for_a_pattern() {
    let found = proposed_of_four("[Requirements = TARGET.Machine =?= \"S1\"]", "Requirements = true");
    assert_eq!(
        found,
        ["in requirements, replace `TARGET.Machine is \"S1\"` with `TARGET.Machine is \"s1\"`: 1 of 4 slots matches"]
    );
    assert_eq!(
        proposed_of_four("[Requirements = TARGET.Machine == \"s*\"]", "Requirements = true")[0],
        "in requirements, replace `TARGET.Machine == \"s*\"` with `regexp(\"^s.*$\",TARGET.Machine,\"i\")`: 4 of 4 slots match"
    );
}

#[test]
fn a_limit_of_slots_becomes_another_number() {
    assert_eq!(
        proposed_of_four(
            "[RequestMemory = 5000; Requirements = true]",
            "Requirements = START; START = TARGET.RequestMemory <= 4096 && TARGET.RequestMemory > 10"
        ),
        [
            "request_memory = 4 GB: 4 of 4 slots match",
            "replace `TARGET.RequestMemory <= 4096` with `TARGET.RequestMemory <= 5000` in `START` of slots: 4 of 4 slots match",
        ]
    );
}

#[test]
fn nothing_is_compared_with_a_lot_or_the_clock() {
    for condition in ["random() < 0.0", "time() > 5", "CurrentTime > 5"] {
        let found = proposed_of_four(&format!("[Requirements = {condition}]"), "Requirements = true");
        assert!(
            found.iter().all(|text| text.starts_with("in requirements, remove") || text.starts_with("remove")),
            "{found:?}"
        );
    }
}

#[test]
fn a_submitter_that_a_constraint_leaves_out_is_told_of() {
    let mut snapshot = capped();
    snapshot.config.add("more", b"NEGOTIATOR_SUBMITTER_CONSTRAINT = IdleJobs > 100").unwrap();
    let names: Vec<String> = classmate_pool::internal::negotiate::negotiate(&capped())
        .unwrap()
        .submitters
        .into_iter()
        .map(|line| line.submitter)
        .collect();
    let text = |idle: i64, name: &str| {
        format!("[Name = \"{name}\"; ScheddName = \"s\"; ScheddIpAddr = \"<1>\"; IdleJobs = {idle}]")
    };
    for advertised in [false, true] {
        snapshot.submitters = advertised.then(|| names.iter().map(|name| ad(&text(5, name))).collect());
        let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
        assert_eq!((outcome.matches.len(), outcome.submitters.len()), (0, 0));
        let story =
            classmate_advice::internal::explain::cycle::submitter::trace(&outcome, prepared(&snapshot), &names[0])
                .unwrap();
        assert!(story.steps[1].contains("`IdleJobs > 100` is not true (IdleJobs is 5)"), "{:?}", story.steps);
        assert!(
            classmate_advice::internal::explain::cycle::submitter::trace(&outcome, prepared(&snapshot), "nobody@x")
                .is_none()
        );
    }
    snapshot.config.add("more", b"NEGOTIATOR_SUBMITTER_CONSTRAINT = IdleJobs > 4 && Name =!= \"x\"").unwrap();
    assert_eq!(classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap().submitters.len(), names.len());
}

#[test]
fn jobs_that_a_constraint_leaves_out_are_counted_in_the_story_of_a_share() {
    let mut snapshot = capped();
    snapshot.config.add("more", b"NEGOTIATOR_JOB_CONSTRAINT = false").unwrap();
    let outcome = classmate_pool::internal::negotiate::negotiate(&snapshot).unwrap();
    let name = outcome.submitters[0].submitter.clone();
    let story =
        classmate_advice::internal::explain::cycle::submitter::trace(&outcome, prepared(&snapshot), &name).unwrap();
    assert_eq!(story.steps[1], "NEGOTIATOR_JOB_CONSTRAINT excludes 5 of 5 idle jobs: `false` is not true");
}

#[test]
fn only_jobs_that_get_a_slot_found_none_before() {
    let read = |slots: &str, more: &str| {
        let text = |number: u32, memory: u32| {
            format!(
                "[ClusterId = {number}; ProcId = 0; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; QDate = {number}; \
                 RequestMemory = {memory}; Requirements = TARGET.Memory >= RequestMemory]"
            )
        };
        let mut config = Config::default();
        config.add("c", more.as_bytes()).unwrap();
        Snapshot {
            slots: vec![ad(slots)],
            jobs: vec![ad(&text(1, 10)), ad(&text(2, 20))],
            config,
            now: NOW,
            ..Snapshot::default()
        }
    };
    let slot = |requirements: &str, user: &str| {
        format!(
            "[Name = \"s\"; MyType = \"Machine\"; Cpus = 1; Memory = 15; Rank = 0; CurrentRank = 0; Requirements = {requirements}{user}]"
        )
    };
    // Job 1 gets the slot only after the change; job 2 never.
    let found = difference(&read(&slot("false", ""), ""), &read(&slot("true", ""), ""));
    let short: Vec<(String, usize)> = found.no_match_before.iter().map(|one| (one.request.clone(), one.jobs)).collect();
    assert_eq!(
        (found.jobs_won.as_slice(), short.as_slice()),
        (["1.0".to_owned()].as_slice(), [("1.0".to_owned(), 1)].as_slice())
    );
    assert!(found.no_match_now.is_empty() && found.reasons.is_empty(), "{found:?}");
    // In use: job 1 is refused before and after the change, for another reason.
    let used = slot("true", "; RemoteUser = \"b@x\"; State = \"Claimed\"");
    let found = difference(&read(&slot("false", ""), ""), &read(&used, "PREEMPTION_REQUIREMENTS = false"));
    assert!(found.no_match_before.is_empty() && found.jobs_won.is_empty());
    let moved: Vec<(&str, &str, &str)> =
        found.reasons.iter().map(|one| (one.name.as_str(), one.before.as_str(), one.after.as_str())).collect();
    assert_eq!(moved, [("1.0", "no match found", "PREEMPTION_REQUIREMENTS == False")]);
}

/// An unclaimed slot of one core with these Requirements.
fn unclaimed(name: &str, requirements: &str) -> ClassAd {
    ad(&format!("[Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 1; Memory = 100; Requirements = {requirements}]"))
}

/// A job of a snapshot, explained with the cycle.
fn explained_in_cycle(snapshot: &Snapshot, id: &str) -> Explanation {
    let snapshot = Box::leak(Box::new(snapshot.clone()));
    classmate_advice::explain_job(snapshot, id.parse().unwrap()).unwrap().unwrap()
}

/// As `SIGNIFICANT_ATTRIBUTES` of the recorded cycles r10, r2050 and r5172: the attributes that it leaves out are undefined
/// to slots (`docs/reference/negotiation.md` 8.3), although the job has them.
#[test]
fn attributes_that_requests_leave_out_are_the_first_cause_and_are_added() {
    let job = ad(
        "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; RequestCpus = 1; \
                  RequestDisk = 5; Dept = \"phys\"; Unused = 1; Requirements = TARGET.Memory > 0]",
    );
    let strict = "TARGET.RequestCpus <= Cpus && TARGET.Dept == \"phys\"";
    let mut snapshot = Snapshot {
        slots: vec![unclaimed("s1", strict), unclaimed("s2", strict)],
        jobs: vec![job],
        config: Config::parse("c", b"SIGNIFICANT_ATTRIBUTES = Requirements, Rank, RequestDisk\n").unwrap(),
        ..Snapshot::default()
    };
    let found = explained_in_cycle(&snapshot, "1.0");
    let text =
        "SIGNIFICANT_ATTRIBUTES leaves out `Dept`, `RequestCpus`, which all 2 matching slots require of requests";
    assert_eq!((found.matching, found.causes.len(), &*found.causes[0].text), (2, 1, text));
    let lines: Vec<&str> = found.settings.iter().flat_map(|one| &one.lines).map(String::as_str).collect();
    assert_eq!(lines, ["SIGNIFICANT_ATTRIBUTES = Requirements, Rank, RequestDisk, Dept, RequestCpus"]);
    // The setting that is proposed gives it a slot; without one of the attributes it has none.
    for (setting, matches) in
        [(lines[0].to_owned(), 1), (format!("{}, Dept", lines[0].replace(", Dept, RequestCpus", "")), 0)]
    {
        let mut changed = snapshot.clone();
        changed.config.add("more", setting.as_bytes()).unwrap();
        assert_eq!(
            classmate_pool::internal::negotiate::negotiate(&changed).unwrap().matches.len(),
            matches,
            "{setting}"
        );
    }
    // The setting that removes attributes by name or by a pattern is named.
    for (setting, line) in [
        ("REMOVE_SIGNIFICANT_ATTRIBUTES = Dept, Other", "REMOVE_SIGNIFICANT_ATTRIBUTES = Other"),
        ("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX = ^De", "ADD_SIGNIFICANT_ATTRIBUTES = Dept"),
    ] {
        snapshot.config = Config::parse("c", setting.as_bytes()).unwrap();
        let found = explained_in_cycle(&snapshot, "1.0");
        let name = setting.split(" =").next().unwrap();
        assert_eq!(
            found.causes[0].text,
            format!("{name} leaves out `Dept`, which all 2 matching slots require of requests")
        );
        assert_eq!(found.settings.iter().flat_map(|one| &one.lines).collect::<Vec<_>>(), [line]);
    }
    // Requests that are whole job ads have all attributes, and a slot that wants none of them takes the job.
    snapshot.config.add("more", b"NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 1\n").unwrap();
    assert_eq!(explained_in_cycle(&snapshot, "1.0").causes[0].label, "matched");
    snapshot.config = Config::parse("c", b"SIGNIFICANT_ATTRIBUTES = Requirements\n").unwrap();
    snapshot.slots[1] = unclaimed("s2", "true");
    assert_eq!(explained_in_cycle(&snapshot, "1.0").causes[0].label, "matched");
}

/// One slot requires one attribute, the other slot another one, and a different setting leaves out each.
#[test]
fn attributes_that_requests_leave_out_are_of_the_slots_that_require_them() {
    let job = ad(
        "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; RequestCpus = 1; \
                  Dept = \"phys\"; Site = \"A\"; SubmitterUserPrio = 3.0; Requirements = TARGET.Memory > 0]",
    );
    let mut snapshot = Snapshot {
        slots: vec![unclaimed("s1", "TARGET.Dept == \"phys\""), unclaimed("s2", "TARGET.Site == \"A\"")],
        jobs: vec![job],
        config: Config::parse("c", b"SIGNIFICANT_ATTRIBUTES = Requirements\n").unwrap(),
        ..Snapshot::default()
    };
    let first = |snapshot: &Snapshot| explained_in_cycle(snapshot, "1.0").causes[0].text.clone();
    let rest = "`Dept`, `Site`; all 2 matching slots require at least one of them of requests";
    assert_eq!(first(&snapshot), format!("SIGNIFICANT_ATTRIBUTES leaves out {rest}"));
    let two = "REMOVE_SIGNIFICANT_ATTRIBUTES = Site\nREMOVE_SIGNIFICANT_ATTRIBUTES_REGEX = ^De\n";
    snapshot.config = Config::parse("c", two.as_bytes()).unwrap();
    let are = rest.replace("; all", " are not significant; all");
    assert_eq!(first(&snapshot), are);
    // The negotiator adds the priority of the submitter to requests, whatever the job has.
    snapshot.config = Config::parse("c", b"SIGNIFICANT_ATTRIBUTES = Requirements\n").unwrap();
    snapshot.slots = vec![unclaimed("s1", "TARGET.SubmitterUserPrio < 1.0 && TARGET.Dept == \"phys\"")];
    let pool = PreparedPool::for_explanation(&snapshot).unwrap();
    let names = pool.job(&snapshot.jobs[0], b"a@x").unsent;
    assert!(names.contains(&Name::new("Dept")) && !names.contains(&Name::new("SubmitterUserPrio")), "{names:?}");
}

/// The text tells no change of a job that is held, and JSON says of each that it does not help.
#[test]
fn changes_of_a_job_that_something_else_keeps_idle_do_not_help() {
    let job = |status: i64, more: &str| {
        ad(&format!(
            "[ClusterId = 1; ProcId = 0; JobStatus = {status}; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; RequestCpus = 1; \
             RequestMemory = 200; {more}Requirements = TARGET.Memory >= RequestMemory]"
        ))
    };
    let helps = |job: ClassAd, config: &str| -> Vec<bool> {
        let slot = ad("[Name = \"s\"; State = \"Unclaimed\"; Cpus = 1; Memory = 100; Requirements = true]");
        let config = Config::parse("c", config.as_bytes()).unwrap();
        let snapshot = Snapshot { slots: vec![slot], jobs: vec![job], config, ..Snapshot::default() };
        explained_in_cycle(&snapshot, "1.0").suggestions.iter().map(|one| one.helps).collect()
    };
    let all = |found: Vec<bool>, helps: bool| !found.is_empty() && found.iter().all(|one| *one == helps);
    assert!(all(helps(job(1, ""), ""), true));
    assert!(all(helps(job(5, ""), ""), false));
    assert!(all(helps(job(1, ""), "NEGOTIATOR_JOB_CONSTRAINT = false"), false));
}

#[test]
fn an_amount_of_disk_is_whole_in_a_unit_of_submit_files() {
    // 15229609 KB are 14.5 GB, and 14 GB are 14680064 KB, about half of what is requested.
    let found =
        suggestions("RequestDisk = 30000000; Requirements = true", "Requirements = TARGET.RequestDisk <= 15229609");
    assert_eq!(found[0], "request_disk = 14 GB: 1 of 1 slot matches", "{found:?}");
}

#[test]
fn what_the_negotiator_sets_is_not_proposed() {
    let slot = ad("[Name = \"s\"; Requirements = TARGET.SubmitterGroup == \"phys\" || TARGET.Dept == \"phys\"]");
    let (_, found) = explained(&ad("[Dept = \"chem\"; Requirements = true]"), vec![slot]);
    let names: Vec<&str> = found.suggestions.iter().flat_map(|one| &one.changes).map(|one| &*one.attribute).collect();
    assert!(names.contains(&"Dept") && !names.contains(&"SubmitterGroup"), "{names:?}");
}

/// The first line of an explanation as text.
fn status(found: &Explanation) -> String {
    let mut out = Vec::new();
    classmate_cli::report::explain::write(&mut out, found, &ShownParts::default(), Color::default()).unwrap();
    String::from_utf8(out).unwrap().lines().next().unwrap().to_owned()
}

#[test]
fn a_submitter_without_a_domain_has_no_at_sign() {
    let job = "ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; Requirements = true";
    let of = |more: &str| {
        let jobs = vec![ad(&format!("[{job}; {more}]"))];
        let snapshot = Snapshot { slots: vec![unclaimed("s", "true")], jobs, ..Snapshot::default() };
        status(&explained_in_cycle(&snapshot, "1.0"))
    };
    assert!(of("").starts_with("Job 1.0 of a gets a slot"), "{}", of(""));
    assert!(of("User = \"a@x\"").starts_with("Job 1.0 of a@x gets a slot"));
}

#[test]
fn the_ad_of_a_job_factory_is_not_explained_as_a_job() {
    let factory = ad("[ClusterId = 3; JobMaterializeLimit = 5; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; \
                      RequestCpus = 1; Requirements = true]");
    let snapshot = Snapshot { slots: vec![unclaimed("s", "true")], jobs: vec![factory], ..Snapshot::default() };
    assert!(negotiate(&snapshot).unwrap().matches.is_empty());
    let found = explained_in_cycle(&snapshot, "3.0");
    assert!(found.causes[0].text.contains("this is the ad of a job factory, not a job"), "{:?}", found.causes);
    assert!(found.suggestions.iter().all(|one| !one.helps));
    assert!(status(&found).starts_with("Job factory 3 of a@x: 1 of 1 slot matches"), "{}", status(&found));
    let (job, ad) = find(&snapshot, |_, _| true).unwrap();
    let mut prepared = PreparedPool::for_explanation(&snapshot).unwrap();
    let alone = replay::of_job(&mut prepared, &ExplainedJob::of(&job, ad), false).unwrap();
    assert_eq!(alone.causes, found.causes);
    assert_eq!(status(&alone), "Job factory 3 of a@x: 1 of 1 slot matches");
}

#[test]
fn a_change_of_the_policy_says_how_many_slots_are_unclaimed() {
    let slots: Vec<ClassAd> = (0..4)
        .map(|at| {
            let mut slot = unclaimed(&format!("s{at}"), "START");
            slot.insert_expr("START", &parse_expr(b"TARGET.IsShort is true", &ParseOptions::default()).unwrap());
            if at < 3 {
                slot.insert("State", "Claimed");
                slot.insert("RemoteUser", "b@x");
            }
            slot
        })
        .collect();
    let job = ad("[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; RequestCpus = 1; \
                  Requirements = true]");
    let found = explained_in_cycle(&Snapshot { slots, jobs: vec![job], ..Snapshot::default() }, "1.0");
    let told: Vec<String> = found.suggestions.iter().map(|one| suggested(one, &found)).collect();
    let wanted = "remove `TARGET.IsShort is true` from `START` of slots: 4 of 4 slots match, 1 unclaimed";
    assert!(told.contains(&wanted.to_owned()), "{told:?}");
}

#[test]
fn a_request_of_nothing_is_not_told_beside_its_removal() {
    let gpus = "GPUs = 0; Requirements = TARGET.RequestGPUs is undefined || MY.GPUs >= TARGET.RequestGPUs";
    let told = suggestions("RequestGPUs = 2; Requirements = true", gpus);
    let of_gpus: Vec<&String> = told.iter().filter(|text| text.contains("request_gpus")).collect();
    assert_eq!(of_gpus, ["remove request_gpus: 1 of 1 slot matches"], "{told:?}");
}

/// The causes of a job that is explained without a cycle.
fn causes(job: &str, slots: &[&str]) -> Vec<String> {
    let slots = slots.iter().map(|text| ad(text)).collect();
    explained(&ad(job), slots).1.causes.into_iter().map(|cause| cause.text).collect()
}

#[test]
fn a_comparison_of_both_sides_is_one_cause_where_slots_accept_jobs_without_the_request() {
    let job = "[RequestGPUs = 4; Requirements = TARGET.GPUs >= RequestGPUs]";
    let slot = |condition: &str| format!("[Name = \"s\"; MyType = \"Machine\"; GPUs = 2; Requirements = {condition}]");
    let found = causes(job, &[&slot("TARGET.RequestGPUs is undefined || MY.GPUs >= TARGET.RequestGPUs")]);
    let one = "no slot satisfies `TARGET.GPUs >= RequestGPUs` (GPUs of slots is 2, RequestGPUs of the job is 4)";
    assert_eq!(found, [one]);
    // Another attribute is another condition.
    let found = causes(job, &[&slot("TARGET.Trial is false || MY.GPUs >= TARGET.RequestGPUs")]);
    assert_eq!(found.len(), 2, "{found:?}");
    let found = causes(job, &[&slot("TARGET.RequestGPUs is undefined || MY.GPUs > TARGET.RequestGPUs")]);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn slots_that_require_an_attribute_of_other_jobs_are_the_first_cause_if_they_are_the_most() {
    let slot = |memory: i64, start: &str| {
        format!(
            "[Name = \"s{memory}\"; MyType = \"Machine\"; Memory = {memory}; Requirements = START; START = {start}]"
        )
    };
    let small: Vec<String> = (1..=5).map(|at| slot(at, "true")).collect();
    let first = |count: i64, start: &str| {
        let large: Vec<String> = (0..count).map(|at| slot(100 + at, start)).collect();
        let slots: Vec<&str> = small.iter().chain(&large).map(String::as_str).collect();
        let job = "[Owner = \"al\"; RequestMemory = 50; Requirements = TARGET.Memory >= RequestMemory]";
        causes(job, &slots).remove(0)
    };
    let short = "TARGET.IsShort is true";
    assert!(first(4, short).starts_with("5 of 9 slots do not satisfy `TARGET.Memory"), "{}", first(4, short));
    assert!(first(5, short).starts_with("5 of 10 slots reject the job"), "{}", first(5, short));
    // An attribute that the job has may have another value: half as many slots are enough.
    let owner = "TARGET.Owner == \"bob\"";
    assert!(first(2, owner).starts_with("5 of 7 slots do not satisfy `TARGET.Memory"), "{}", first(2, owner));
    assert!(first(3, owner).starts_with("3 of 8 slots reject the job"), "{}", first(3, owner));
}

#[test]
fn an_attribute_that_slots_want_is_added_corrected_or_removed() {
    let named = "Requirements = isUndefined(TARGET.ProjectName) != true && TARGET.ProjectName != \"\"";
    let told = suggestions("Requirements = true", named);
    assert!(told.contains(&"+ProjectName = \"...\" (any string): 1 of 1 slot matches".to_owned()), "{told:?}");
    let site = |sites: &str, more: &str| {
        let slot = format!(
            "Site = \"SU-ITS\"; Requirements = TARGET.Sites is undefined || stringListMember(Site, TARGET.Sites{more})"
        );
        suggestions(&format!("Sites = \"{sites}\"; Requirements = true"), &slot)
    };
    let told = site("SU-IST", ", \",\"");
    assert!(told.contains(&"+Sites = \"SU-ITS\": 1 of 1 slot matches".to_owned()), "{told:?}");
    let told = site("CHTC,SU-IST", "");
    assert!(told.contains(&"+Sites = \"CHTC,SU-ITS\": 1 of 1 slot matches".to_owned()), "{told:?}");
    let told = suggestions("ITB = true; Requirements = true", "Requirements = TARGET.ITB isnt true");
    assert_eq!(told[0], "remove +ITB: 1 of 1 slot matches", "{told:?}");
}

/// The example has 30 slots; each setting that is proposed gives the job a slot.
#[test]
fn a_quota_of_more_than_the_pool_or_of_another_group_gives_the_job_a_slot() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groups");
    let read = || Snapshot::read_dir(directory).unwrap().snapshot;
    for (id, starts) in [
        // A larger quota alone would cost more jobs their slots than one that is taken from the group beside it.
        ("2.18", ["GROUP_QUOTA_physics.lep = 19\nGROUP_QUOTA_physics.hep = 1"].as_slice()),
        ("4.0", &["GROUP_QUOTA_physics = ", "GROUP_QUOTA_chemistry = "]),
        // Quotas of more than the pool are scaled down, and 29 slots for the group would need one of 290.
        ("2.24", &["GROUP_QUOTA_physics = 29\nGROUP_QUOTA_chemistry = 1"]),
    ] {
        let found = explained_in_cycle(&read(), id);
        let settings: Vec<String> = found.settings.iter().map(|one| one.lines.join("\n")).collect();
        assert_eq!(settings.len(), starts.len(), "{id}: {settings:?}");
        for (setting, start) in settings.iter().zip(starts) {
            assert!(setting.starts_with(start), "{id}: {setting}");
            let mut changed = read();
            changed.config.add("more", setting.as_bytes()).unwrap();
            let matches = negotiate(&changed).unwrap().matches;
            assert!(matches.iter().any(|made| made.job.to_string() == id), "{id}: {setting}");
        }
    }
}

#[test]
fn an_amount_that_is_a_string_or_missing_becomes_the_nearest_and_the_smallest_amount() {
    let slots = ["Memory = 2048", "Memory = 8192", "Memory = 262144"]
        .map(|memory| format!("[{memory}; Name = \"s\"; MyType = \"Machine\"; Requirements = true]"));
    let told = |request: &str| {
        let job = format!("[RequestMemory = {request}; Requirements = TARGET.Memory >= RequestMemory]");
        let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
        proposed(&job, &slots)
    };
    assert_eq!(told("\"4 GB\"")[0], "request_memory = 4 GB: 2 of 3 slots match");
    assert_eq!(told("\"5000000 KB\"")[0], "request_memory = 4883 MB: 2 of 3 slots match");
    let told = told("Unknown");
    assert!(told.iter().all(|one| !one.contains("256 GB")), "{told:?}");
}

#[test]
fn what_a_person_would_not_write_is_not_proposed() {
    let slot = |more: &str, requirements: &str| {
        format!("[Name = \"s\"; MyType = \"Machine\"; {more}; Requirements = {requirements}]")
    };
    // A condition on an amount that always holds.
    let told = proposed("[Requirements = TARGET.GPUs > 4]", &[&slot("GPUs = 0", "true")]);
    assert!(!told.is_empty() && told.iter().all(|one| !one.contains("> -1")), "{told:?}");
    let told = proposed("[RequestGPUs = 0; Requirements = true]", &[&slot("GPUs = 2", "TARGET.RequestGPUs > 0")]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|one| !one.contains("> -1")), "{told:?}");
    // A policy for another number of GPUs.
    let told = proposed("[Requirements = true]", &[&slot("GPUs = 2", "MY.GPUs == 0")]);
    assert!(!told.is_empty() && told.iter().all(|one| !one.contains("== 2")), "{told:?}");
    // A condition in quotation marks, and a number that is compared with a version: as strings, "10.1" is less than "6".
    let told = proposed("[Requirements = \"Memory > 1000\"]", &[&slot("Memory = 2000", "true")]);
    assert!(told[0].contains("with `Memory > 1000`"), "{told:?}");
    let told = proposed("[Requirements = TARGET.Kernel >= 6]", &[&slot("Kernel = \"6.8.0\"", "true")]);
    assert!(told[0].contains("with `versionGE(TARGET.Kernel,\"6\")`"), "{told:?}");
    // More changes than a person makes.
    let all = "TARGET.A == 1 && TARGET.B == 1 && TARGET.C == 1 && TARGET.D == 1";
    let told = proposed(&format!("[Requirements = {all}]"), &[&slot("A = 2; B = 2; C = 2; D = 2", "true")]);
    assert_eq!(told, [""; 0]);
}

#[test]
fn an_element_of_a_list_is_corrected_in_its_letters() {
    let slot = |site: &str| {
        format!(
            "[Name = \"s\"; MyType = \"Machine\"; Site = \"{site}\"; Requirements = stringListMember(MY.Site, TARGET.Sites)]"
        )
    };
    let slots = ["CHTC", "UChicago"].map(slot);
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let told = proposed("[Sites = \"chtc,UChicago\"; Requirements = true]", &slots);
    assert!(told[0].starts_with("+Sites = \"CHTC,UChicago\": 2 of 2 slots match"), "{told:?}");
}

#[test]
fn a_change_of_a_corrected_condition_is_a_change_of_the_one_that_is_there() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; PYTHON_VERSION = \"2.7.5\"; Requirements = true]";
    let job = ad("[Requirements = TARGET.PYTHONVERSION >= \"3.9\"]");
    let (_, found) = explained(&job, vec![ad(slot)]);
    assert!(!found.suggestions.is_empty());
    for change in found.suggestions.iter().flat_map(|one| &one.changes) {
        assert_eq!(change.before, "TARGET.PYTHONVERSION >= \"3.9\"", "{:?}", found.suggestions);
    }
}

#[test]
fn a_job_that_starts_as_cron_says_waits_for_its_time() {
    let deferral = "((time() + 300) >= (DeferralTime - 300)) && (time() < (DeferralTime + 100))";
    let job = ad(&format!(
        "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; CronMinute = \"15\"; Requirements = {deferral}]"
    ));
    let snapshot = Snapshot { slots: vec![unclaimed("s", "true")], jobs: vec![job], ..Snapshot::default() };
    let found = explained_in_cycle(&snapshot, "1.0");
    assert!(found.causes[0].text.contains("(cron_minute)"), "{:?}", found.causes);
    assert!(found.suggestions.iter().all(|one| !one.helps), "{:?}", found.suggestions);
}

/// Example g of floors in `docs/reference/negotiation.md`: the submitter below its floor is served first although its priority is
/// worse, and both are in one group.
#[test]
fn a_submitter_below_its_floor_came_first() {
    let job = |cluster: u32, owner: &str| {
        ad(&format!(
            "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"{owner}@x\"; Requirements = true]"
        ))
    };
    let log = b"101 Customer.a@x * *\n103 Customer.a@x Priority 500.0\n103 Customer.a@x Floor 1\n";
    let snapshot = Snapshot {
        slots: vec![unclaimed("s", "true"), unclaimed("other", "false")],
        jobs: vec![job(1, "a"), job(2, "b")],
        log: AccountantLog::read(log.as_slice()).ok(),
        ..Snapshot::default()
    };
    let found = explained_in_cycle(&snapshot, "2.0");
    let told = "a@x got the only matching slot: in turn 1; b@x had turn 2, as submitters below their floor came first";
    assert_eq!(found.causes[0].text, told);
}

#[test]
fn what_was_probably_meant_comes_before_what_most_slots_have() {
    let slot = |site: &str| format!("[Name = \"s\"; MyType = \"Machine\"; Site = \"{site}\"; Requirements = true]");
    let slots = ["CentOS8", "CentOS9", "CentOS9", "SU-ITS"].map(slot);
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let first = |condition: &str| proposed(&format!("[Requirements = {condition}]"), &slots).remove(0);
    for condition in ["Site == CentOS8", "TARGET.Site == \"CentOS 8\"", "TARGET.Site is \"centos8\""] {
        assert!(first(condition).contains("\"CentOS8\"`: 1 of 4"), "{condition}: {}", first(condition));
    }
}

/// 2 slots fail by the disk alone, and 3 by the cores alone; but 12 of 15 have too small a disk, and 4 no cores.
#[test]
fn a_condition_of_more_than_twice_as_many_slots_comes_first() {
    let slot = |(cpus, disk): (u32, u32)| {
        format!(
            "[Name = \"s\"; MyType = \"Machine\"; Cpus = {cpus}; Disk = {disk}; Memory = {disk}; Requirements = MY.Cpus > 0]"
        )
    };
    let mut slots = vec![slot((0, 900)); 3];
    slots.extend(vec![slot((1, 500)); 2]);
    slots.extend(vec![slot((1, 10)); 9]);
    slots.push(slot((0, 10)));
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let found = causes("[Requirements = TARGET.Disk > 800 && TARGET.Memory > 100]", &slots);
    assert!(found[0].starts_with("12 of 15 slots do not satisfy `TARGET.Disk > 800`"), "{found:?}");
}

#[test]
fn a_request_of_nothing_is_not_told_beside_its_removal_with_another_change() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; GPUs = 0; Requirements = TARGET.RequestGPUs is undefined || MY.GPUs >= TARGET.RequestGPUs]";
    let told = proposed("[RequestGPUs = 2; Requirements = TARGET.CUDACapability >= 7.0]", &[slot]);
    let removed = told.iter().filter(|one| one.starts_with("remove request_gpus and"));
    assert_eq!((removed.count(), told.iter().any(|one| one.contains("request_gpus = 0"))), (1, false), "{told:?}");
}

/// Both slots of weight 4 went to submitters of the root, whose allocation of 7 they exceed: no quota gives the third job a slot.
#[test]
fn a_group_that_has_all_matching_slots_is_not_the_cause() {
    let slot = |name: &str| {
        ad(&format!("[Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 4; Memory = 100; Requirements = true]"))
    };
    let job = |cluster: u32, process: u32, owner: &str| {
        ad(&format!(
            "[ClusterId = {cluster}; ProcId = {process}; JobStatus = 1; JobUniverse = 5; User = \"{owner}@x\"; Requirements = true]"
        ))
    };
    let config = b"UID_DOMAIN = x\nGROUP_NAMES = group_physics\nGROUP_QUOTA_group_physics = 4";
    let snapshot = Snapshot {
        slots: vec![slot("s1"), slot("s2")],
        jobs: (0..6).map(|process| job(2, process, "bob")).chain([job(1, 0, "ann")]).collect(),
        config: Config::parse("config", config).unwrap(),
        ..Snapshot::default()
    };
    let found = explained_in_cycle(&snapshot, "2.4");
    assert!(found.causes.iter().all(|cause| !cause.text.contains("group")), "{:?}", found.causes);
    assert!(
        found.causes.iter().any(|cause| cause.text.starts_with("ann@x got 1 of the 2 matching slots")),
        "{:?}",
        found.causes
    );
}

/// The causes of a job that no slot matches, and the suggestions as they are printed.
fn answered(job: &str, slots: &[&str]) -> (Vec<String>, Vec<String>) {
    let (_, found) = explained(&ad(job), slots.iter().map(|slot| ad(slot)).collect());
    let change = |one: &Suggestion| suggested(one, &found).rsplit_once(": ").unwrap().0.to_owned();
    let suggested = found.suggestions.iter().map(change).collect();
    (found.causes.into_iter().map(|cause| cause.text).collect(), suggested)
}

const GLIDEIN: &str = "[Name = \"g\"; MyType = \"Machine\"; Memory = 4096; HasFileTransfer = true; HasContainer = true; \
    HasDockerURL = true; has_avx = true; FileSystemDomain = \"g\"; \
    HasFileTransferPluginMethods = \"data,http,https\"; Requirements = true]";

#[test]
fn conditions_that_condor_submit_adds_are_changed_by_commands() {
    let docker = "[JobUniverse = 5; WantDocker = true; Requirements = TARGET.HasDocker]";
    let (causes, suggested) = answered(docker, &[GLIDEIN]);
    assert_eq!(
        causes[0],
        "no slot satisfies `TARGET.HasDocker`: no slot advertises `HasDocker`, which `universe = docker` requires"
    );
    assert_eq!(suggested, ["universe = container"]);
    // Slots see what kind of container a job wants.
    let picky = GLIDEIN.replace("Requirements = true", "Requirements = TARGET.WantContainer is true");
    let (_, found) = explained(&ad(docker), vec![ad(&picky)]);
    assert_eq!(found.suggestions.len(), 1, "{:?}", found.suggestions);
    let without = GLIDEIN.replace("HasDockerURL = true", "HasDockerURL = false");
    assert_eq!(answered(docker, &[&without]).1, [""; 0]);

    let own = "MY.FileSystemDomain";
    let shared =
        format!("[JobUniverse = 5; FileSystemDomain = \"ap\"; Requirements = TARGET.FileSystemDomain == {own}]");
    let (causes, suggested) = answered(&shared, &[GLIDEIN]);
    assert!(
        causes[0].contains("(FileSystemDomain of slots is \"g\", FileSystemDomain of the job is \"ap\")"),
        "{causes:?}"
    );
    assert_eq!(suggested, ["should_transfer_files = YES"]);
    let unknown = shared.replace("FileSystemDomain = \"ap\"; ", "");
    let (causes, suggested) = answered(&unknown, &[GLIDEIN]);
    assert_eq!(
        causes[0],
        "no slot satisfies `TARGET.FileSystemDomain == MY.FileSystemDomain`: FileSystemDomain of the access point is not \
         known here"
    );
    assert_eq!(suggested, ["should_transfer_files = YES"]);
}

#[test]
fn conditions_that_no_command_changes_are_left_alone() {
    let java = "[JobUniverse = 10; Requirements = TARGET.HasJava]";
    let (causes, suggested) = answered(java, &[GLIDEIN]);
    assert_eq!(
        causes[0],
        "no slot satisfies `TARGET.HasJava`: no slot advertises `HasJava`, which `universe = java` requires"
    );
    assert_eq!(suggested, [""; 0]);
    let machine = "[JobUniverse = 13; JobVMType = \"kvm\"; Requirements = TARGET.VM_Type == MY.JobVMType]";
    let (causes, suggested) = answered(machine, &[GLIDEIN]);
    assert!(causes[0].ends_with("no slot advertises `VM_Type`, which `universe = vm` requires"), "{causes:?}");
    assert_eq!(suggested, [""; 0]);
    let plugin = "[JobUniverse = 5; Requirements = (TARGET.FileSystemDomain == MY.FileSystemDomain) || \
        (TARGET.HasFileTransfer && stringListIMember(\"gsiftp\",TARGET.HasFileTransferPluginMethods))]";
    let (causes, suggested) = answered(plugin, &[GLIDEIN]);
    assert_eq!(
        causes[0],
        "no slot satisfies `stringListIMember(\"gsiftp\",TARGET.HasFileTransferPluginMethods)`: no slot has a plugin for \
         gsiftp:// URLs"
    );
    assert_eq!(suggested, [""; 0]);
    // In place of what is requested, less can be; the condition stays.
    let memory = "[JobUniverse = 5; RequestMemory = 8192; Requirements = TARGET.Memory >= RequestMemory]";
    assert_eq!(answered(memory, &[GLIDEIN]).1, ["request_memory = 4 GB"]);
    let unknown = "[JobUniverse = 5; RequestMemory = Unknown; Requirements = TARGET.Memory >= RequestMemory]";
    assert_eq!(answered(unknown, &[GLIDEIN]).1, ["request_memory = 4 GB"]);
}

#[test]
fn what_htcondor_sets_is_not_suggested() {
    let slot = |condition: &str| format!("[Name = \"s\"; MyType = \"Machine\"; Requirements = {condition}]");
    let job = "[JobUniverse = 5; Owner = \"al\"; NumJobStarts = 3; LastRemoteHost = \"s\"; ";
    for (of_job, of_slot, expected) in [
        ("true", "TARGET.Owner == \"bob\"", "remove `TARGET.Owner == \"bob\"` from `Requirements` of slots"),
        ("NumJobStarts < 3", "true", "in requirements, replace `NumJobStarts < 3` with `NumJobStarts < 4`"),
        ("TARGET.Name =!= LastRemoteHost", "true", "in requirements, remove `TARGET.Name isnt LastRemoteHost`"),
    ] {
        let (_, suggested) = answered(&format!("{job}Requirements = {of_job}]"), &[&slot(of_slot)]);
        assert_eq!(suggested[0], expected);
        assert!(suggested.iter().all(|one| !one.contains('+')), "{suggested:?}");
    }
}

/// The time of the pool is 1,000,000. The job starts at 1,010,000, its files are prepared 300 seconds before, and the access point
/// looks every 60: 1,009,640 is the first second at which it may match, on 1970-01-12 at 16:27:20.
#[test]
fn a_deferred_job_may_match_from_a_time_on() {
    let causes = |requirements: &str| {
        let job = ad(&format!(
            "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; DeferralTime = 1010000; \
             DeferralPrepTime = 300; ScheddInterval = 60; Requirements = {requirements}]"
        ));
        let slots = vec![unclaimed("s", "true")];
        let snapshot = Snapshot { now: 1_000_000, slots, jobs: vec![job], ..Snapshot::default() };
        let found = explained_in_cycle(&snapshot, "1.0");
        assert!(found.suggestions.iter().all(|one| !one.helps), "{:?}", found.suggestions);
        found.causes[0].text.clone()
    };
    let expected = "the job starts at 1970-01-12 16:33:20 UTC at the earliest (deferral_time), and no slot matches before \
        1970-01-12 16:27:20 UTC";
    assert_eq!(causes("(time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)"), expected);
    assert_eq!(causes("(time() + 60) >= (DeferralTime - DeferralPrepTime)"), expected);
    // A job may have such a condition of its own.
    assert_eq!(
        causes("time() > 1009639"),
        "no slot matches before 1970-01-12 16:27:20 UTC, when `time() > 1009639` becomes true (now it is 1970-01-12 13:46:40 UTC)"
    );
}

#[test]
fn names_of_other_things_are_not_meant() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; Memory = 4096; HAS_CVMFS_clicdp_cern_ch = true; HasSingularity = true; \
        Requirements = true]";
    let (causes, suggested) = answered("[Requirements = HAS_CVMFS_alice_cern_ch]", &[slot]);
    assert!(!causes[0].contains("did you mean"), "{causes:?}");
    assert_eq!(suggested, ["in requirements, remove `HAS_CVMFS_alice_cern_ch`"]);
    let (causes, suggested) = answered("[Requirements = HAS_CVMFS_clicpd_cern_ch]", &[slot]);
    assert!(causes[0].ends_with("did you mean `HAS_CVMFS_clicdp_cern_ch`?"), "{causes:?}");
    assert!(suggested[0].ends_with("with `HAS_CVMFS_clicdp_cern_ch`"), "{suggested:?}");
    // A misspelled scope.
    let (causes, suggested) = answered("[Requirements = TARGT.Memory > 1000]", &[slot]);
    assert!(causes[0].ends_with("defines `TARGT`; did you mean `TARGET`?"), "{causes:?}");
    assert_eq!(suggested[0], "in requirements, replace `TARGT.Memory > 1000` with `TARGET.Memory > 1000`");
    // A string that is the name of a truth value.
    let other = "[Name = \"t\"; MyType = \"Machine\"; HasSingularity = false; Requirements = true]";
    let (_, suggested) = answered("[Requirements = HasSingularity =?= \"true\"]", &[slot, other]);
    assert!(suggested.iter().all(|one| !one.contains("is false")), "{suggested:?}");
    assert!(suggested[0].ends_with("with `HasSingularity is true`"), "{suggested:?}");
}

/// A hold and a release set `EnteredCurrentStatus` anew; `QDate` stays. The condition became false at 1000 + 600.
#[test]
fn a_job_can_run_again_if_the_time_it_depends_on_may_change() {
    let text = |attribute: &str| {
        let job = ad(&format!(
            "[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"u@x\"; {attribute} = 1000; \
             Requirements = time() - {attribute} < 600]"
        ));
        let slot = ad("[Name = \"s\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]");
        let snapshot = Snapshot { slots: vec![slot], jobs: vec![job], now: 5000, ..Snapshot::default() };
        replay::explain_job(&snapshot, "1.0".parse().unwrap()).unwrap().unwrap().causes.remove(0).text
    };
    assert!(!text("EnteredCurrentStatus").contains("can never run"), "{}", text("EnteredCurrentStatus"));
    assert!(text("QDate").contains("it was true before 1970-01-01 00:26:40 UTC, so the job can never run"));
}
