//! Test files of policies: what passes, what fails and why, what is refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate_advice::internal::policy_test::{Covered, PolicyFile, TestFileError, TestResult, run};

const ADS: &str = "
    ads.job = '[ User = \"a@x\"; RequestMemory = 10; Rank = TARGET.Speed; Requirements = TARGET.Memory >= RequestMemory ]'
    ads.big = '[ Memory = 20; Speed = 1; State = \"Unclaimed\"; SlotWeight = 1; Requirements = Start; Start = TARGET.RequestMemory > 5 ]'
    ads.small = '[ Memory = 5; Speed = 2; Requirements = true ]'
";

fn ran(tests: &str) -> Result<(Vec<TestResult>, Vec<Covered>), TestFileError> {
    run(&PolicyFile::parse(&format!("{ADS}{tests}"))?, &|name| Err(format!("no {name}")))
}

/// The clauses of the configuration that tests look at, with how often each held and did not.
fn covered_of_config(tests: &str) -> Vec<String> {
    let covered = ran(tests).unwrap().1;
    let of_config = covered.iter().filter(|one| one.place.starts_with("config"));
    of_config.map(|one| format!("{} | {} | {} {}", one.place, one.clause, one.held, one.refused)).collect()
}

/// The failures of one test.
fn failures(test: &str) -> Vec<String> {
    ran(&format!("[[test]]\nname = 't'\n{test}")).unwrap().0[0].failures.clone()
}

#[test]
fn what_is_as_expected_passes_and_what_is_not_is_told() {
    for passing in [
        "expression = '1 + 1'\nvalue = '2'",
        "my = 'job'\ntarget = 'big'\nexpression = 'Requirements'\nvalue = 'true'",
        "job = 'job'\nslot = 'big'\nmatch = true",
        "job = 'job'\nslot = 'small'\nmatch = false\nclause = 'TARGET.Memory>=RequestMemory'",
        "job = 'job'\nrank = ['small', 'big']",
    ] {
        assert_eq!(failures(passing), Vec::<String>::new(), "{passing}");
    }
    for (failing, why) in [
        ("expression = '1 + 1'\nvalue = '2.0'", "`1 + 1` is 2, expected 2.000000000000000E+00"),
        ("job = 'job'\nslot = 'big'\nmatch = false", "they match: both sides accept"),
        (
            "job = 'job'\nslot = 'small'\nclause = 'x > 1'",
            "`x > 1` does not decide: the job's `TARGET.Memory >= RequestMemory` is false",
        ),
        ("job = 'job'\nrank = ['big', 'small']", "`big` has rank 1, which is not higher than 2 of `small`"),
        (
            "gets = { 'a@x' = 1 }\n[pool]\nslots = [{ ad = 'big' }]\njobs = [{ ad = 'job', set = { RequestMemory = '50' } }]",
            "`a@x` gets 0 slots, expected 1",
        ),
    ] {
        assert_eq!(failures(failing), [why], "{failing}");
    }
}

#[test]
fn a_cycle_is_run_over_the_pool() {
    let pool = "\n[pool]\nslots = [{ ad = 'big', count = 3 }]\njobs = [{ ad = 'job', count = 2 }]";
    assert_eq!(failures(&format!("gets = {{ 'a@x' = 2 }}\npreempts = false{pool}")), Vec::<String>::new());
    assert_eq!(failures(&format!("preempts = true{pool}")), ["no job is preempted"]);
}

#[test]
fn coverage_counts_the_clauses_of_both_sides() {
    let tests = "
        [[test]]\nname = 'one'\njob = 'job'\nslot = 'big'\nmatch = true
        [[test]]\nname = 'two'\njob = 'job'\nslot = 'small'\nmatch = false";
    let covered = ran(tests).unwrap().1;
    let shown: Vec<String> =
        covered.iter().map(|one| format!("{} | {} | {} {}", one.place, one.clause, one.held, one.refused)).collect();
    assert_eq!(
        shown,
        [
            "job: Requirements | TARGET.Memory >= RequestMemory | 1 1",
            "slot: Requirements, Start | TARGET.RequestMemory > 5 | 1 0"
        ]
    );
}

#[test]
fn coverage_counts_the_conditions_of_the_configuration() {
    let tests = "config = \"\"\"\nSTART = TARGET.RequestMemory < 100 || TARGET.Owner == \"root\"\n\
        NEGOTIATOR_SLOT_CONSTRAINT = Memory > 1\nSYSTEM_PERIODIC_HOLD = RequestMemory > 5\n\
        PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2 && TARGET.RequestMemory < 5\n\"\"\"\n\
        ads.used = '[ Memory = 20; State = \"Claimed\"; Activity = \"Busy\"; RemoteUser = \"b@x\"; CurrentRank = 0.0; \
        SlotWeight = 1; Requirements = true; Rank = 0.0 ]'\n\
        [[test]]\nname = 'one'\njob = 'job'\nslot = 'big'\nmatch = true\n\
        [[test]]\nname = 'two'\npreempts = false\n\
        [pool]\nslots = [{ ad = 'used' }]\njobs = [{ ad = 'job' }]";
    let shown = covered_of_config(tests);
    // Nobody has used anything: the priorities are equal.
    assert_eq!(
        shown,
        [
            "config: NEGOTIATOR_SLOT_CONSTRAINT | Memory > 1 | 2 0",
            "config: PREEMPTION_REQUIREMENTS | RemoteUserPrio > SubmitterUserPrio * 1.200000000000000E+00 | 0 1",
            "config: PREEMPTION_REQUIREMENTS | TARGET.RequestMemory < 5 | 0 1",
            "config: START | TARGET.Owner == \"root\" | 0 2",
            "config: START | TARGET.RequestMemory < 100 | 2 0",
            "config: SYSTEM_PERIODIC_HOLD | RequestMemory > 5 | 2 0",
        ]
    );
}

#[test]
fn clauses_that_no_test_reaches_are_listed() {
    let tests = "config = \"\"\"\nSTART = TARGET.RequestMemory < 100 || TARGET.Owner == \"root\"\n\
        PREEMPTION_REQUIREMENTS = RemoteUserPrio > 2 && (MY.State == \"Claimed\" || MY.Foo)\n\"\"\"\n\
        [pool]\nslots = [{ ad = 'big' }]\njobs = [{ ad = 'job' }]\n\
        [[test]]\nname = 'one'\nexpression = '1 + 1'\nvalue = '2'\n";
    let shown: Vec<String> = ran(tests)
        .unwrap()
        .1
        .iter()
        .map(|one| format!("{} | {} | {} {}", one.place, one.clause, one.held, one.refused))
        .collect();
    assert_eq!(
        shown,
        [
            "config: PREEMPTION_REQUIREMENTS | MY.Foo | 0 0",
            "config: PREEMPTION_REQUIREMENTS | MY.State == \"Claimed\" | 0 0",
            "config: PREEMPTION_REQUIREMENTS | RemoteUserPrio > 2 | 0 0",
            "config: START | TARGET.Owner == \"root\" | 0 0",
            "config: START | TARGET.RequestMemory < 100 | 0 0",
            "job: Requirements | TARGET.Memory >= RequestMemory | 0 0",
            "slot: Requirements, Start | TARGET.RequestMemory > 5 | 0 0",
        ]
    );
}

#[test]
fn ads_of_which_no_match_is_asked_are_listed() {
    let tests = "ads.spare = '[ Requirements = TARGET.Cpus > 1 && (TARGET.A || TARGET.B); Rank = TARGET.Speed ]'\n\
        ads.open = '[ Requirements = true ]'\n\
        [[test]]\nname = 'one'\njob = 'job'\nslot = 'big'\nmatch = true\n\
        [[test]]\nname = 'two'\nmy = 'spare'\nexpression = 'Requirements'\nvalue = 'undefined'\n\
        [[test]]\nname = 'three'\njob = 'spare'\nrank = ['big']\n";
    let shown: Vec<String> = ran(tests)
        .unwrap()
        .1
        .iter()
        .map(|one| format!("{} | {} | {} {}", one.place, one.clause, one.held, one.refused))
        .collect();
    assert_eq!(
        shown,
        [
            "ads.spare: Requirements | TARGET.A | 0 0",
            "ads.spare: Requirements | TARGET.B | 0 0",
            "ads.spare: Requirements | TARGET.Cpus > 1 | 0 0",
            "job: Requirements | TARGET.Memory >= RequestMemory | 1 0",
            "slot: Requirements, Start | TARGET.RequestMemory > 5 | 1 0",
        ]
    );
}

#[test]
fn conditions_that_a_configuration_puts_into_slots_are_counted() {
    let tests = "config = \"\"\"\nSTARTD_ATTRS = IsOk, Site, START, Weight\nIsOk = TARGET.RequestMemory > 5 && MY.Memory > 10\n\
        Site = \"x\"\nSTART = TARGET.RequestMemory < 100\nWeight = Memory * 2\nOther = TARGET.RequestMemory > 7\n\"\"\"\n\
        [[test]]\nname = 'one'\njob = 'job'\nslot = 'big'\nmatch = true\n\
        [[test]]\nname = 'two'\njob = 'job'\nslot = 'small'\nmatch = false\n";
    let shown = covered_of_config(tests);
    // The memory of `big` is 20, that of `small` 5; the job asks for 10.
    assert_eq!(
        shown,
        [
            "config: IsOk | MY.Memory > 10 | 1 1",
            "config: IsOk | TARGET.RequestMemory > 5 | 2 0",
            "config: START | TARGET.RequestMemory < 100 | 2 0",
        ]
    );
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for wrong in [
        "[[test]]\nname = 't'",
        "[[test]]\nname = 't'\nexpression = '1'",
        "[[test]]\nname = 't'\njob = 'job'\nmatch = true",
        "[[test]]\nname = 't'\njob = 'nosuch'\nslot = 'big'\nmatch = true",
        "[[test]]\nname = 't'\nexpression = '1 +'\nvalue = '1'",
        "[[test]]\nname = 't'\npreempts = true",
        "[[test]]\nname = 't'\nnope = 1",
        "config-file = 'x'",
    ] {
        assert!(ran(wrong).is_err(), "{wrong}");
    }
}

/// The values are those of HTCondor 23.0.28: 2048.0, and `x ?: (1 + 2)`.
#[test]
fn tests_run_in_another_version() {
    let text = "
        ads.a = '[ x = 10; Start = Size > 2K ; Size = 3000 ]'
        [[test]]
        name = 'suffix'
        expression = 'Start && 2K =?= 2048.0'
        my = 'a'
        value = 'true'
        [[test]]
        name = 'default'
        expression = 'x ?: 1 + 2'
        my = 'a'
        value = '10'
    ";
    let mut file = PolicyFile::parse(text).unwrap();
    let none = |name: &str| Err(format!("no `{name}`"));
    assert!(run(&file, &none).is_err());
    file.semantics = "23.0".parse().unwrap();
    file.check_ads(text).unwrap();
    let (results, _) = run(&file, &none).unwrap();
    assert!(results.len() == 2 && results.iter().all(|result| result.failures.is_empty()), "{results:?}");
}
