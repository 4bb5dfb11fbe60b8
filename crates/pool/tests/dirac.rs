//! DIRAC's job shares: the worked example of its documentation, laws that hold for all pools, and whole cycles.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::internal::ad::ClassAd;
use classmate_config::internal::config::dirac::{
    DiracSettings, DiracTree, Lottery, PolicyOptions, Profile, ShareCorrections, Weighting, Whose, Word,
};
use classmate_pool::internal::negotiate::{Snapshot, negotiate};
use classmate_pool::internal::priority::Policy;
use classmate_pool::internal::priority::dirac::{
    DiracChoice, PriorityTable, QueuedJob, Requirements, RunHistory, SliceUse, SplitMix64, TaskQueue, TaskQueues,
    correct, draw_job, draw_order, entity_priorities, first_chances,
};
use proptest::prelude::*;

/// The example of DIRAC's documentation, to the letter.
const PAGE: &str = " ShareCorrections \n {\n   ShareCorrectorsToStart = WMSHistory\n   WMSHistory\n   {\n     GroupsInstance\n     {\n       MaxGlobalCorrectionFactor = 3\n       WeekSlice\n       {\n         TimeSpan = 604800\n         Weight = 80\n         MaxCorrection = 2\n       }\n       HourSlice\n       {\n         TimeSpan = 3600\n         Weight = 20\n         MaxCorrection = 5\n       }\n     }\n     lhcb_userInstance\n     {\n       Group = lhcb_user\n       MaxGlobalCorrectionFactor = 3\n       WeekSlice\n       {\n         TimeSpan = 604800\n         Weight = 80\n         MaxCorrection = 2\n       }\n       HourSlice\n       {\n         TimeSpan = 3600\n         Weight = 20\n         MaxCorrection = 5\n       }\n     }\n   }\n }\n";

fn name(text: &str) -> Word {
    Word::from(text.as_bytes())
}

fn page() -> ShareCorrections {
    let tree = DiracTree::parse("page", PAGE.as_bytes()).unwrap();
    DiracSettings::read(&tree, Whose::default()).unwrap().corrections
}

#[test]
fn the_share_corrections_file_of_the_documentation() {
    let corrections = page();
    assert_eq!(corrections.order, [name("WMSHistory")]);
    let [groups, users] = corrections.instances.as_slice() else { unreachable!("two instances") };
    assert_eq!((&*groups.name, &groups.group), (&b"GroupsInstance"[..], &None));
    assert_eq!((&*users.name, &users.group), (&b"lhcb_userInstance"[..], &Some(name("lhcb_user"))));
    for instance in &corrections.instances {
        let slices: Vec<_> =
            instance.slices.iter().map(|slice| (slice.time_span, slice.weight, slice.max_correction)).collect();
        assert_eq!(slices, [(604_800.0, 0.8, 2.0), (3600.0, 0.2, 5.0)]);
        assert_eq!(instance.global_max(Profile::Documented), 3.0);
        assert_eq!(instance.global_max(Profile::Observed), 5.0, "the program reads another name");
    }
}

/// The formula at the end of the documentation's page.
fn formula(hour: f64, week: f64) -> f64 {
    let (hour_max, week_max, global_max): (f64, f64, f64) = (5.0, 2.0, 3.0);
    let hour_correction = hour.min(hour_max).max(1.0 / hour_max);
    let week_correction = week.min(week_max).max(1.0 / week_max);
    let final_correction = hour_correction * 0.2 + week_correction * 0.8;
    final_correction.min(global_max).max(1.0 / global_max)
}

/// Shares of entities corrected by the slices of the page; uses as (week, hour).
fn corrected(shares: &[f64], uses: &[(f64, f64)]) -> Vec<f64> {
    let entity = |at: usize| name(&format!("e{at}"));
    let named: Vec<(Word, f64)> = shares.iter().enumerate().map(|(at, share)| (entity(at), *share)).collect();
    let instance = &page().instances[0];
    let running =
        |pick: fn(&(f64, f64)) -> f64| uses.iter().enumerate().map(|(at, uses)| (entity(at), pick(uses))).collect();
    let slices: Vec<SliceUse> = instance
        .slices
        .iter()
        .zip([running(|uses| uses.0), running(|uses| uses.1)])
        .map(|(slice, running)| SliceUse { running, weight: slice.weight, max_correction: slice.max_correction })
        .collect();
    let found = correct(&named, &slices, instance.global_max(Profile::Documented), Profile::Documented);
    found.unwrap().iter().map(|corrected| corrected.factor).collect()
}

#[test]
fn the_formula_of_the_documentation() {
    // Two entities of equal shares: three times as much as due is a third, weighed and bounded.
    for (own, other) in [(75.0, 25.0), (50.0, 50.0), (99.0, 1.0), (1.0, 99.0)] {
        let deviation = 0.5 / (own / (own + other));
        let found = corrected(&[1000.0, 1000.0], &[(own, own), (other, other)]);
        assert!((found[0] - formula(deviation, deviation)).abs() < 1e-12, "{own} of {}", own + other);
    }
}

/// Queues of a pool: for each job its owner, its group, its CPU time and its priority.
fn queues(jobs: &[(u8, u8, i64, u8)]) -> TaskQueues {
    let mut queues = TaskQueues::default();
    for (at, (owner, group, cpu_time, user_priority)) in jobs.iter().enumerate() {
        let requirements = Requirements {
            owner: name(&format!("u{owner}")),
            group: name(&format!("g{group}")),
            cpu_time: *cpu_time,
            ..Requirements::default()
        };
        queues.push(requirements, QueuedJob { id: at as i64, user_priority: f64::from(*user_priority) });
    }
    queues
}

fn settings(weighting: Weighting, sharing: &[u8]) -> DiracSettings {
    let mut text = String::new();
    for group in sharing {
        text.push_str(&format!(
            "Registry {{\nGroups {{\ng{group} {{\nJobShare = {}\nProperties = JobSharing\n}}\n}}\n}}\n",
            100 * u32::from(*group) + 7
        ));
    }
    let mut settings = DiracSettings::read(&DiracTree::parse("c", text.as_bytes()).unwrap(), Whose::default()).unwrap();
    settings.options.weighting = weighting;
    settings
}

proptest! {
    /// With slices as of the page, every entity with a record is corrected by the page's formula.
    #[test]
    fn corrections_are_the_formula(entities in prop::collection::vec((1.0..1e5f64, 0.01..1e4f64, 0.01..1e4f64), 1..8)) {
        let shares: Vec<f64> = entities.iter().map(|entity| entity.0).collect();
        let uses: Vec<(f64, f64)> = entities.iter().map(|entity| (entity.1, entity.2)).collect();
        let total: f64 = shares.iter().sum();
        let (week, hour) = uses.iter().fold((0.0, 0.0), |(week, hour), uses| (week + uses.0, hour + uses.1));
        for (at, found) in corrected(&shares, &uses).into_iter().enumerate() {
            let due = shares[at] / total;
            let expected = formula(due / (uses[at].1 / hour), due / (uses[at].0 / week));
            prop_assert!((found - expected).abs() < 1e-12 * expected, "{found}, not {expected}");
        }
    }

    /// What a group has is divided without a rest, whoever waits: among its users, among their queues.
    #[test]
    fn shares_are_divided_without_a_rest(
        jobs in prop::collection::vec((0..4u8, 0..3u8, 0..5i64, 1..9u8), 1..60),
        proportional in any::<bool>(),
    ) {
        let weighting = if proportional { Weighting::Proportional } else { Weighting::Observed };
        let settings = settings(weighting, &[0, 1]);
        let queues = queues(&jobs);
        let table = PriorityTable::new(&queues, &settings, |_| None, &RunHistory::default(), 0.0);
        for group in 0..3u8 {
            let word = name(&format!("g{group}"));
            let of_group: Vec<&TaskQueue> = queues.iter().filter(|queue| queue.requirements.group == word).collect();
            let sum: f64 = of_group.iter().map(|queue| table.priority(queue.id)).sum();
            let expected = settings.group(&word).share.unwrap_or(1000.0);
            prop_assert!(of_group.is_empty() || (sum - expected).abs() < 1e-9 * expected, "{sum}, not {expected}");
            if group == 2 {
                // Not sharing: equal parts for those who wait.
                let mut users: Vec<&Word> = of_group.iter().map(|queue| &queue.requirements.owner).collect();
                users.sort();
                users.dedup();
                for user in &users {
                    let own = of_group.iter().filter(|queue| queue.requirements.owner == **user);
                    let part: f64 = own.map(|queue| table.priority(queue.id)).sum();
                    prop_assert!((part - 1000.0 / users.len() as f64).abs() < 1e-9);
                }
            }
        }
    }

    /// Literally, the parts of N queues add up to an N-th of the share.
    #[test]
    fn the_letter_of_the_documentation_gives_an_nth(priorities in prop::collection::vec(1..10u8, 1..20)) {
        let jobs: Vec<(u8, u8, i64, u8)> =
            priorities.iter().enumerate().map(|(at, priority)| (0, 0, at as i64, *priority)).collect();
        let queues = queues(&jobs);
        let all: Vec<&TaskQueue> = queues.iter().collect();
        let sum: f64 = entity_priorities(&all, 1000.0, Weighting::Literal, false).iter().sum();
        prop_assert!((sum - 1000.0 / all.len() as f64).abs() < 1e-9);
    }

    #[test]
    fn chances_sum_to_one(priorities in prop::collection::vec(0.001..1e6f64, 1..200)) {
        let chances = first_chances(&priorities);
        let sum: f64 = chances.iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        for (a, b) in priorities.iter().zip(&chances).flat_map(|a| priorities.iter().zip(&chances).map(move |b| (a, b))) {
            prop_assert!(a.0 < b.0 || a.1 >= b.1, "a higher priority is never less likely");
        }
    }

    #[test]
    fn a_seed_gives_the_same_draws_for_ever(
        seed in any::<u64>(),
        priorities in prop::collection::vec(0.001..1e6f64, 1..30),
        proportional in any::<bool>(),
    ) {
        let lottery = if proportional { Lottery::Proportional } else { Lottery::Observed };
        let options = PolicyOptions { lottery, ..PolicyOptions::default() };
        let queues: Vec<(i64, f64)> = priorities.iter().enumerate().map(|(at, p)| (at as i64 + 1, *p)).collect();
        let jobs: Vec<QueuedJob> = queues.iter().map(|&(id, p)| QueuedJob { id, user_priority: p % 11.0 }).collect();
        let draw = |reverse: bool| {
            let (mut queues, mut jobs) = (queues.clone(), jobs.clone());
            if reverse {
                queues.reverse();
                jobs.reverse();
            }
            let mut generator = SplitMix64::new(seed);
            let mut draw = || (draw_order(&queues, &mut generator, options, usize::MAX), draw_job(&jobs, &mut generator, options));
            [draw(), draw(), draw()]
        };
        let drawn = draw(false);
        prop_assert_eq!(&drawn, &draw(true), "the order in which queues are handed in does not matter");
        let mut all = drawn[0].0.clone();
        all.sort_unstable();
        prop_assert_eq!(all, queues.iter().map(|queue| queue.0).collect::<Vec<_>>());
    }

    /// Whatever a file holds, it is read or refused with a place.
    #[test]
    fn any_text_is_read_or_refused(text in "[ a-c={}#\n+,0-9]{0,80}") {
        let read = DiracTree::parse("c", text.as_bytes()).and_then(|tree| DiracSettings::read(&tree, Whose::default()));
        prop_assert!(read.is_ok() || read.unwrap_err().place.is_some());
    }
}

/// Under saturation the proportional lottery gives groups, then users, then their queues what they are due, within 2 %.
#[test]
fn long_run_shares_of_the_proportional_lottery_are_the_shares() {
    let settings = settings(Weighting::Observed, &[9]);
    // Group 9 shares 907 among two queues; group 1 has 1000: user 1 with two queues, user 2 with one.
    let queues = queues(&[(5, 9, 1, 1), (6, 9, 2, 1), (1, 1, 1, 1), (1, 1, 2, 3), (2, 1, 1, 1)]);
    let table = PriorityTable::new(&queues, &settings, |_| None, &RunHistory::default(), 0.0);
    let due = [907.0 / 2.0, 907.0 / 2.0, 125.0, 375.0, 500.0].map(|share| share / 1907.0);
    let lots: Vec<(i64, f64)> = table.rows().iter().map(|row| (row.queue, row.priority)).collect();
    let options = PolicyOptions { lottery: Lottery::Proportional, ..PolicyOptions::default() };
    let (mut generator, mut first, draws) = (SplitMix64::new(1), [0u32; 5], 400_000u32);
    for _ in 0..draws {
        first[draw_order(&lots, &mut generator, options, 1)[0] as usize - 1] += 1;
    }
    for (first, due) in first.into_iter().zip(due) {
        let share = f64::from(first) / f64::from(draws);
        assert!((share / due - 1.0).abs() < 0.02, "{share}, due {due}");
    }
}

/// What two groups with shares of 3000 and 1000 get of one slot in the long run, jobs of 100 s, if both always wait:
/// the part of the first.
fn long_run(corrected: bool) -> f64 {
    let text = format!("EnableSharesCorrection = {corrected}\n")
        + &PAGE.replace("MaxGlobalCorrectionFactor", "MaxGlobalCorrection")
        + "Registry {\nGroups {\na {\nJobShare = 3000\nProperties = JobSharing\n}\nb {\nProperties = JobSharing\n}\n}\n}\n";
    let settings = DiracSettings::read(&DiracTree::parse("c", text.as_bytes()).unwrap(), Whose::default()).unwrap();
    let mut waiting = TaskQueues::default();
    for (at, group) in ["a", "b"].iter().enumerate() {
        let requirements = Requirements { group: name(group), ..Requirements::default() };
        waiting.push(requirements, QueuedJob { id: at as i64, user_priority: 1.0 });
    }
    let mut history = RunHistory::default();
    let mut generator = SplitMix64::new(11);
    let (mut now, mut first_of_a, draws) = (0.0, 0u32, 30_000u32);
    for _ in 0..draws {
        let table = PriorityTable::new(&waiting, &settings, |_| None, &history, now);
        let lots: Vec<(i64, f64)> = table.rows().iter().map(|row| (row.queue, row.priority)).collect();
        let first = draw_order(&lots, &mut generator, settings.options, 1)[0];
        first_of_a += u32::from(first == 1);
        history.ran(&name(if first == 1 { "a" } else { "b" }), &name("u"), now, Some(now + 100.0));
        now += 100.0;
        history.forget(now - 604_800.0);
    }
    f64::from(first_of_a) / f64::from(draws)
}

/// The observed lottery gives three quarters of the shares 1 - 1/(2·3) = 5/6 of the slot. Corrected, the priorities are
/// 3·0.75/x and 0.25/(1 - x), and x = 1 - (0.25/(1 - x)) / (2·3·0.75/x), so x = 18(1 - x)²: about 0.7903.
#[test]
fn corrections_bring_the_use_nearer_to_the_shares() {
    let (plain, corrected) = (long_run(false), long_run(true));
    assert!((plain - 5.0 / 6.0).abs() < 0.01, "{plain}");
    assert!((corrected - 0.7903).abs() < 0.01, "{corrected}");
}

fn ads(texts: &[String]) -> Vec<ClassAd> {
    texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect()
}

fn slot(name: &str, more: &str) -> String {
    format!("[Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 1; Memory = 1000; Requirements = true; {more}]")
}

fn job(cluster: i64, owner: &str, group: &str, more: &str) -> String {
    format!(
        "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; Owner = \"{owner}\"; User = \"{owner}@x\"; \
         DiracGroup = \"{group}\"; Requirements = true; {more}]"
    )
}

fn pool(slots: &[String], jobs: &[String], cs: &str, seed: u64) -> Snapshot {
    let choice = DiracChoice::read(vec![("cs".to_owned(), cs.as_bytes().to_vec())], None, None).unwrap();
    Snapshot {
        slots: ads(slots),
        jobs: ads(jobs),
        policy: Policy::Dirac(choice),
        seed,
        now: 1000,
        ..Snapshot::default()
    }
}

/// Job and slot of each match, in order.
fn matches(snapshot: &Snapshot) -> Vec<(String, String)> {
    negotiate(snapshot).unwrap().matches.into_iter().map(|made| (made.job.to_string(), made.slot)).collect()
}

const GREEDY: &str = "Classmate {\nOrder = greedy\n}\n";

#[test]
fn slots_ask_in_their_order_and_the_highest_priority_is_served() {
    let slots = ["s1", "s2", "s3"].map(|name| slot(name, ""));
    let jobs = [job(1, "ann", "small", ""), job(2, "bob", "big", ""), job(3, "bob", "big", "JobPrio = 3")];
    let cs = format!("{GREEDY}Registry {{\nGroups {{\nbig {{\nJobShare = 5000\n}}\n}}\n}}\n");
    let found = matches(&pool(&slots, &jobs, &cs, 0));
    let expected = [("3.0", "s1"), ("2.0", "s2"), ("1.0", "s3")].map(|(job, slot)| (job.to_owned(), slot.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_match_needs_both_the_ads_and_the_requirements_of_the_queue() {
    let slots =
        [slot("ral", "Site = \"RAL\""), slot("cern", "Site = \"CERN\"; Memory = 4000"), slot("gpu", "Tag = \"GPU\"")];
    let jobs = [
        job(1, "a", "g", "Site = \"CERN\"; Requirements = TARGET.Memory > 2000"),
        job(2, "a", "g", "Tags = \"GPU\""),
        job(3, "a", "g", "Site = \"CERN\"; Requirements = TARGET.Memory > 9000"),
        job(4, "a", "g", "BannedSites = \"RAL\"; CPUTime = 100; Requirements = TARGET.Site is \"RAL\""),
    ];
    let mut found = matches(&pool(&slots, &jobs, GREEDY, 0));
    found.sort();
    let expected = [("1.0", "cern"), ("2.0", "gpu")].map(|(job, slot)| (job.to_owned(), slot.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_slot_with_less_time_than_the_segment_takes_no_job() {
    let slots = [slot("short", "CPUTimeLeft = 3599"), slot("long", "CPUTimeLeft = 3600")];
    let found = matches(&pool(&slots, &[job(1, "a", "g", "CPUTime = 1900")], "", 0));
    assert_eq!(found, [("1.0".to_owned(), "long".to_owned())]);
}

#[test]
fn running_limits_of_a_site_count_jobs_that_run_and_those_just_matched() {
    let cs = format!("{GREEDY}JobScheduling {{\nRunningLimit {{\nCERN {{\nJobType {{\nUser = 2\n}}\n}}\n}}\n}}\n");
    let site = "Site = \"CERN\"";
    let mut slots: Vec<String> = (0..3).map(|at| slot(&format!("s{at}"), site)).collect();
    slots.push(slot("busy", site).replace("Unclaimed", "Claimed"));
    let running = job(9, "a", "g", "JobType = \"User\"; RemoteHost = \"busy\"; JobCurrentStartDate = 500");
    let mut jobs: Vec<String> = (1..=3).map(|at| job(at, "a", "g", "JobType = \"User\"")).collect();
    jobs.push(running.replace("JobStatus = 1", "JobStatus = 2"));
    assert_eq!(matches(&pool(&slots, &jobs, &cs, 0)), [("1.0".to_owned(), "s0".to_owned())]);
    jobs.push(job(4, "a", "g", "JobType = \"MC\""));
    let more = matches(&pool(&slots, &jobs, &cs, 0));
    assert_eq!(more.len(), 2, "{more:?}");
}

#[test]
fn nobody_is_displaced() {
    let busy = slot("s", "RemoteUser = \"z@x\"; RemoteUserPrio = 1000.0").replace("Unclaimed", "Claimed");
    assert_eq!(matches(&pool(&[busy], &[job(1, "a", "g", "")], "", 0)), []);
}

#[test]
fn the_same_seed_gives_the_same_cycle_and_another_one_another() {
    let slots: Vec<String> = (0..20).map(|at| slot(&format!("s{at}"), "")).collect();
    let jobs: Vec<String> = (0..60)
        .map(|at| job(at, &format!("u{}", at % 5), &format!("g{}", at % 2), &format!("JobPrio = {}", at % 3)))
        .collect();
    let of = |seed| matches(&pool(&slots, &jobs, "", seed));
    assert_eq!(of(1).len(), 20);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    let snapshot = pool(&slots, &jobs, "", 1);
    let replayed: Snapshot = serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
    assert_eq!(matches(&replayed), of(1));
}

#[test]
fn jobs_that_are_left_are_told_why() {
    let slots = [slot("s1", "Site = \"CERN\""), slot("s2", "Site = \"CERN\"")];
    let jobs = [
        job(1, "a", "g", "JobPrio = 5"),
        job(2, "a", "g", "Site = \"RAL\""),
        job(3, "a", "g", "Requirements = TARGET.Memory > 9000"),
        job(4, "a", "g", "CPUTime = 3600; JobPrio = 5"),
        job(5, "a", "g", "CPUTime = 3600; JobPrio = 5"),
    ];
    let outcome = negotiate(&pool(&slots, &jobs, GREEDY, 0)).unwrap();
    let told: Vec<_> = outcome
        .rejections
        .iter()
        .map(|left| {
            (&*left.job.to_string().leak(), left.reason.as_str(), left.slots.considered, left.slots.refused_by_job)
        })
        .collect();
    // Queues 1 (job 1) and 4 (jobs 4 and 5) are equal: the lower number goes first.
    assert_eq!(
        told,
        [
            ("2.0", "no slot requested it", 0, 0),
            ("3.0", "no match found", 2, 2),
            ("5.0", "other jobs were drawn", 2, 0),
        ]
    );
    let none = negotiate(&pool(&[], &jobs[..1], "", 0)).unwrap();
    assert_eq!(none.rejections[0].reason, "no slot requested it");
}

#[test]
fn a_slot_that_is_shared_out_asks_again_until_nothing_fits() {
    let shared = "[Name = \"p\"; State = \"Unclaimed\"; PartitionableSlot = true; MachineResources = \"Cpus Memory\"; \
                  Cpus = 5; Memory = 9000; SlotWeight = Cpus; Requirements = TARGET.RequestCpus <= MY.Cpus; \
                  ConsumptionCpus = TARGET.RequestCpus; ConsumptionMemory = TARGET.RequestMemory]";
    let jobs: Vec<String> =
        (1..=4).map(|at| job(at, "a", "g", "RequestCpus = 2; RequestMemory = 100; JobPrio = 1")).collect();
    let small = job(9, "b", "g", "RequestCpus = 1; RequestMemory = 100; UserPriority = 0");
    let snapshot = pool(&[shared.to_owned(), slot("s", "")], &[jobs, vec![small]].concat(), GREEDY, 0);
    // Two jobs of 2 processors leave one: the rest of `p` takes what nobody else wants, `s` has nothing to do.
    let expected = [("1.0", "p"), ("2.0", "p"), ("9.0", "p")].map(|(job, slot)| (job.to_owned(), slot.to_owned()));
    assert_eq!(matches(&snapshot), expected);
}
