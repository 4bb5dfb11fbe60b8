use super::observed::observed;
use super::published::published_cycles;
use super::*;
use crate::verify::record::{RecordedMatch, RecordedVisit};
use classmate_config::Config;
use classmate_pool::internal::accountant::AccountantLog;

/// A pool of two equal slots and two jobs of one user, at 100.
fn pool() -> Snapshot {
    let slot = |name: &str| {
        format!("[Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true; SlotWeight = 1]")
    };
    let job = |cluster: u32, more: &str| {
        format!(
            "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; User = \"a@x\"; Owner = \"a\"; GlobalJobId = \"s#{cluster}.0#1\"; \
             RequestCpus = 1; JobUniverse = 5; QDate = 50; Requirements = true; {more}]"
        )
    };
    let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
    Snapshot {
        slots: vec![ad(slot("slot1@m")), ad(slot("slot2@m"))],
        jobs: vec![ad(job(1, "")), ad(job(2, "Requirements = TARGET.Name == \"slot2@m\""))],
        now: 100,
        ..Snapshot::default()
    }
}

fn made(pairs: &[(i64, &str)]) -> CycleRecord {
    let matches = pairs.iter().map(|(cluster, slot)| RecordedMatch {
        cluster: *cluster,
        submitter: "a@x".to_owned(),
        slot: (*slot).to_owned(),
        ..RecordedMatch::default()
    });
    CycleRecord { matches: matches.collect(), finished: true, ..CycleRecord::default() }
}

fn watched<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    record: &'a CycleRecord,
    source: ActualSource,
    published: &'a PublishedCycle,
) -> WatchedCycle<'a> {
    WatchedCycle {
        before,
        read: 90,
        unread: &[],
        record,
        source,
        after: Some(after),
        unread_after: &[],
        published,
        negotiator: [NegotiatorTimes::default(); 2],
    }
}

/// A part that was read, without ads that were skipped.
fn unread(part: PoolPart) -> UnreadPart {
    UnreadPart { part, is_partial: true }
}

fn causes(before: &Snapshot, after: &Snapshot, record: &CycleRecord, source: ActualSource) -> Vec<DifferenceCause> {
    let published = PublishedCycle { started: 100, ended: 101, matches: Some(2), ..PublishedCycle::default() };
    let cycle = shadow_cycle(&watched(before, after, record, source, &published)).unwrap();
    assert_eq!(
        cycle.identical,
        cycle.different.is_empty() && (source == ActualSource::Log || cycle.predicted.len() == 2)
    );
    cycle.different.into_iter().map(|one| one.cause).collect()
}

#[test]
fn a_cycle_as_predicted_has_no_differences() {
    let pool = pool();
    assert!(causes(&pool, &pool, &made(&[(1, "slot1@m"), (2, "slot2@m")]), ActualSource::Log).is_empty());
    // The order does not count, and a dynamic slot stands for its partitionable one.
    assert!(causes(&pool, &pool, &made(&[(2, "slot2_1@m"), (1, "slot1_7@m")]), ActualSource::Log).is_empty());
}

/// The new configuration rejects both jobs; the ads of the pool are the same.
#[test]
fn a_negotiator_that_was_reconfigured_is_the_cause() {
    let (pool, record) = (pool(), made(&[]));
    let published = PublishedCycle { started: 100, ended: 101, matches: Some(0), ..PublishedCycle::default() };
    let times = |started, configured| NegotiatorTimes { started: Some(started), configured: Some(configured) };
    let found = [times(10, 95), times(95, 95), times(10, 101)].map(|after| {
        let negotiator = [times(10, 10), after];
        let watched = WatchedCycle { negotiator, ..watched(&pool, &pool, &record, ActualSource::Log, &published) };
        shadow_cycle(&watched).unwrap().different.into_iter().map(|one| one.cause).collect::<Vec<_>>()
    });
    let changed = |what: &str| vec![DifferenceCause::Changed(format!("the negotiator was {what}")); 2];
    // The last reconfiguration was after the start of the cycle.
    assert_eq!(found, [changed("reconfigured"), changed("restarted"), vec![DifferenceCause::Unexplained; 2]]);
}

#[test]
fn equal_slots_are_taken_in_any_order() {
    let mut pool = pool();
    pool.jobs.pop();
    let found = causes(&pool, &pool, &made(&[(1, "slot2@m")]), ActualSource::Log);
    assert_eq!(found, vec![DifferenceCause::EqualSlots; 2]);
}

#[test]
fn what_changed_after_the_reading_is_the_cause() {
    let (before, mut after) = (pool(), pool());
    let text = "[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"a@x\"; GlobalJobId = \"s#3.0#1\"; QDate = 95]";
    after.jobs.push(ClassAd::parse(text.as_bytes()).unwrap());
    let found = causes(&before, &after, &made(&[(3, "slot1@m"), (2, "slot2@m")]), ActualSource::Log);
    // Cluster 1 did not get the slot that the new job got.
    assert_eq!(found, vec![DifferenceCause::Changed("job 3.0 was submitted".to_owned()); 2]);
}

#[test]
fn a_job_that_cannot_be_matched_any_more_is_the_cause() {
    // Removed, completed, held, transferring output, suspended.
    let found = [3_i64, 4, 5, 6, 7].map(|status| {
        let mut after = pool();
        after.jobs[0].insert("JobStatus", status);
        after.jobs[0].insert("EnteredCurrentStatus", 95_i64);
        causes(&pool(), &after, &made(&[(2, "slot2@m")]), ActualSource::Log)
    });
    let changed = |what: &str| [DifferenceCause::Changed(format!("job 1.0 {what}"))];
    let unexplained = [DifferenceCause::Unexplained];
    assert_eq!(
        found,
        [changed("was removed"), changed("completed"), changed("was held"), unexplained.clone(), unexplained]
    );
}

#[test]
fn jobs_of_an_access_point_that_was_not_read_are_no_change() {
    let record = made(&[(3, "slot1@m"), (2, "slot2@m")]);
    let found = ["s", "t"].map(|access_point| {
        let mut after = pool();
        let text = format!(
            "[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"a@x\"; GlobalJobId = \"{access_point}#3.0#1\"; QDate = 50]"
        );
        after.jobs.push(ClassAd::parse(text.as_bytes()).unwrap());
        causes(&pool(), &after, &record, ActualSource::Log)
    });
    // Both are older than the reading, which has jobs of `s` alone.
    let appeared = DifferenceCause::Changed("job 3.0 appeared in the queue".to_owned());
    assert_eq!(found, [vec![appeared; 2], vec![DifferenceCause::NotInSnapshot("cluster 3".to_owned()); 2]]);
    // The reading after the cycle has no jobs of `s`: it could not be read, or it has none, or the collector does not know it.
    let ad = ClassAd::parse(
        b"[Name = \"a@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<127.0.0.1:1>\"; IdleJobs = 2; RunningJobs = 0]",
    )
    .unwrap();
    let (known, unknown) = (Some(vec![ad]), Some(Vec::new()));
    let before = Snapshot { submitters: known.clone(), ..pool() };
    let record = made(&[(2, "slot2@m")]);
    let published = PublishedCycle { started: 100, ended: 101, ..PublishedCycle::default() };
    let (failed, other) =
        ([unread(PoolPart::AccessPoint("s".to_owned()))], [unread(PoolPart::AccessPoint("a@s".to_owned()))]);
    let found = [(known.clone(), &failed[..]), (known.clone(), &other), (known, &[]), (unknown, &[])].map(
        |(submitters, unread_after)| {
            let after = Snapshot { jobs: Vec::new(), submitters, ..pool() };
            let watched =
                WatchedCycle { unread_after, ..watched(&before, &after, &record, ActualSource::Log, &published) };
            shadow_cycle(&watched).unwrap().different.remove(0).cause
        },
    );
    let changed = |text: &str| DifferenceCause::Changed(text.to_owned());
    let left = changed("job 1.0 left the queue");
    let gone = [left.clone(), left, changed("the ad of submitter a@x disappeared")];
    assert_eq!(found[0], DifferenceCause::Unexplained);
    assert_eq!(found[1..], gone);
}

#[test]
fn ads_that_were_skipped_are_the_cause_for_what_the_reading_lacks() {
    let published = PublishedCycle { started: 100, ended: 101, ..PublishedCycle::default() };
    let cause = |record: &CycleRecord, parts: &[UnreadPart], after: &Snapshot| {
        let before = pool();
        let watched = WatchedCycle { unread: parts, ..watched(&before, after, record, ActualSource::Log, &published) };
        let mut different = shadow_cycle(&watched).unwrap().different;
        different.retain(|one| one.actual == 1);
        different.remove(0).cause
    };
    let skipped = |name: &str| [unread(PoolPart::AccessPoint(name.to_owned()))];
    let not_read = |what: &str| DifferenceCause::NotRead(what.to_owned());
    // A job that the reading after the cycle has, at `s`, and one that it does not have.
    let mut after = pool();
    let job = b"[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"a@x\"; GlobalJobId = \"s#3.0#1\"; QDate = 50]";
    after.jobs.push(ClassAd::parse(job).unwrap());
    let third = made(&[(3, "slot2@m")]);
    assert_eq!(cause(&third, &skipped("s"), &after), not_read("a part of access point `s`"));
    assert_eq!(cause(&third, &skipped("t"), &pool()), not_read("a part of access point `t`"));
    let missing = |what: &str| DifferenceCause::NotInSnapshot(what.to_owned());
    assert_eq!(cause(&third, &[unread(PoolPart::Slots)], &pool()), missing("cluster 3"));
    // A slot that appears after the cycle was not new if ads of slots were skipped before.
    let mut after = pool();
    after.slots.push(ClassAd::parse(b"[Name = \"slot3@m\"; State = \"Unclaimed\"]").unwrap());
    let other = made(&[(1, "slot4@m")]);
    let found = [&[][..], &[unread(PoolPart::Slots)]].map(|parts| cause(&other, parts, &after));
    assert_eq!(found, [missing("slot slot4@m"), not_read("a part of the slots")]);
    let second = made(&[(2, "slot1@m"), (1, "slot2@m")]);
    let found = [&[][..], &[unread(PoolPart::Slots)]].map(|parts| cause(&second, parts, &after));
    assert_eq!(found, [DifferenceCause::Changed("slot3@m appeared".to_owned()), not_read("a part of the slots")]);
}

#[test]
fn a_submitter_that_was_given_up_is_the_cause_for_itself_alone() {
    let (pool, record) = (pool(), made(&[(2, "slot2@m")]));
    let found = ["a@x", "aa@x"].map(|name| {
        let published = giving_up("SubmittersOutOfTime", name);
        shadow_cycle(&watched(&pool, &pool, &record, ActualSource::Log, &published)).unwrap().different.remove(0).cause
    });
    let given_up = DifferenceCause::AccessPoint("submitter a@x: its time was over".to_owned());
    assert_eq!(found, [given_up, DifferenceCause::Unexplained]);
}

/// The negotiator's ad after a cycle that gave up what these names name.
fn giving_up(list: &str, names: &str) -> PublishedCycle {
    let text = format!(
        "[LastNegotiationCycleTime0 = 100; LastNegotiationCycleEnd0 = 101; LastNegotiationCycle{list}0 = \"{names}\"]"
    );
    published_cycles(&ClassAd::parse(text.as_bytes()).unwrap()).remove(0)
}

/// The negotiator names an access point as `ScheddName` of the submitter ad does, which is not the name of the submitter.
#[test]
fn an_access_point_whose_time_is_over_is_the_cause_for_the_jobs_in_its_queue() {
    let (mut pool, record) = (pool(), made(&[]));
    pool.jobs[0].insert("GlobalJobId", "ap1@m1.example.org#1.0#1");
    pool.jobs[1].insert("GlobalJobId", "ap2.example.org#2.0#1");
    let causes = |names: &str| {
        let published = giving_up("ScheddsOutOfTime", names);
        let cycle = shadow_cycle(&watched(&pool, &pool, &record, ActualSource::Log, &published)).unwrap();
        cycle.different.into_iter().map(|one| one.cause).collect::<Vec<_>>()
    };
    let over = |name: &str| DifferenceCause::AccessPoint(format!("access point {name}: its time was over"));
    assert_eq!(causes("ap1@m1.example.org"), [over("ap1@m1.example.org"), DifferenceCause::Unexplained]);
    assert_eq!(causes("ap1@m1.example.org, ap2.example.org"), [over("ap1@m1.example.org"), over("ap2.example.org")]);
    assert_eq!(causes("a@x, ap3"), [DifferenceCause::Unexplained, DifferenceCause::Unexplained]);
}

#[test]
fn claims_show_matches() {
    let (before, mut after) = (pool(), pool());
    let run = |ad: &mut ClassAd, slot: &str| {
        ad.insert("JobStatus", 2_i64);
        ad.insert("RemoteHost", slot);
    };
    run(&mut after.jobs[1], "slot2@m");
    let record = observed(&before, &after);
    assert_eq!(record.matches.iter().map(|made| (made.cluster, &*made.slot)).collect::<Vec<_>>(), [(2, "slot2@m")]);
    // The negotiator made two matches, and one did not become a claim.
    assert_eq!(causes(&before, &after, &record, ActualSource::Claims), [DifferenceCause::NoClaim]);
    after.jobs.remove(0);
    assert_eq!(causes(&before, &after, &record, ActualSource::Claims), [DifferenceCause::LeftQueue]);
    // With a log, the job was not matched.
    assert_eq!(
        causes(&before, &after, &record, ActualSource::Log),
        [DifferenceCause::Changed("job 1.0 left the queue".to_owned())]
    );
    // A job in a slot that its user had claimed before was not matched.
    let mut claimed = pool();
    claimed.slots[1].insert("RemoteUser", "a@x");
    assert!(observed(&claimed, &after).matches.is_empty());
    // A second job in a partitionable slot was started by the access point.
    let mut before = pool();
    before.jobs[0].insert("JobStatus", 5_i64);
    let mut after = before.clone();
    run(&mut after.jobs[0], "slot2_1@m");
    run(&mut after.jobs[1], "slot2_2@m");
    let record = observed(&before, &after);
    assert_eq!(causes(&before, &after, &record, ActualSource::Claims), [DifferenceCause::OwnClaim]);
}

/// The access point starts two more jobs in the rest of a slot that was matched once, as the log of the same cycle shows.
#[test]
fn claims_of_a_partitionable_slot_count_once_for_each_cluster() {
    let pool = pool();
    let record = made(&[(1, "slot1_1@m"), (2, "slot2_1@m"), (2, "slot2_2@m"), (2, "slot2_3@m")]);
    let published = PublishedCycle { started: 100, ended: 101, matches: Some(2), ..PublishedCycle::default() };
    let cycle = shadow_cycle(&watched(&pool, &pool, &record, ActualSource::Claims, &published)).unwrap();
    assert_eq!((cycle.identical, cycle.predicted.len(), cycle.actual.len(), cycle.agreed()), (true, 2, 2, 2));
    // A log that has four matches means four.
    let cycle = shadow_cycle(&watched(&pool, &pool, &record, ActualSource::Log, &published)).unwrap();
    assert_eq!((cycle.identical, cycle.predicted.len(), cycle.actual.len(), cycle.agreed()), (false, 2, 4, 2));
}

#[test]
fn a_slot_or_submitter_that_changed_by_the_next_reading_is_the_cause() {
    let before = pool();
    let mut after = pool();
    after.slots[0].insert("Cpus", 0_i64);
    let found = causes(&before, &after, &made(&[(2, "slot2@m")]), ActualSource::Log);
    assert_eq!(found, [DifferenceCause::Changed("slot1@m changed Cpus from 1 to 0".to_owned())]);
    // A match changes the resources of its slot.
    let found = causes(&before, &after, &made(&[(1, "slot1@m")]), ActualSource::Log);
    assert_eq!(found, [DifferenceCause::Unexplained]);
    // What a new slot gets is the cause of the others, too.
    let found = causes(&before, &before, &made(&[(1, "slot3@m"), (2, "slot2@m")]), ActualSource::Log);
    assert_eq!(found, vec![DifferenceCause::NotInSnapshot("slot slot3@m".to_owned()); 2]);
    // The access point had not announced the submitter.
    let before = Snapshot { submitters: Some(Vec::new()), ..pool() };
    let found = causes(&before, &pool(), &made(&[(1, "slot1@m"), (2, "slot2@m")]), ActualSource::Log);
    assert_eq!(found, vec![DifferenceCause::NotInSnapshot("submitter a@x".to_owned()); 2]);
}

#[test]
fn a_job_that_stopped_is_the_cause_of_a_match_of_its_slot() {
    let mut before = pool();
    before.config = Config::parse("c", b"PREEMPTION_REQUIREMENTS = false").unwrap();
    before.slots[1].insert("State", "Claimed");
    before.slots[1].insert("RemoteUser", "b@x");
    let text = "[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"b@x\"; GlobalJobId = \"s#3.0#1\"; RemoteHost = \"slot2@m\"]";
    before.jobs.push(ClassAd::parse(text.as_bytes()).unwrap());
    let mut after = before.clone();
    after.jobs.pop();
    let mut record = made(&[(1, "slot1@m"), (2, "slot2@m")]);
    let found = causes(&before, &after, &record, ActualSource::Log);
    assert_eq!(found, [DifferenceCause::Changed("job 3.0 stopped running on slot2@m".to_owned())]);
    // The cycle preempted it, and it left the queue or waits again.
    record.matches[1].displaces = true;
    assert_eq!(causes(&before, &after, &record, ActualSource::Log), [DifferenceCause::Unexplained]);
    let waits = ClassAd::parse(b"[JobStatus = 1; EnteredCurrentStatus = 101; RemoteHost = undefined]").unwrap();
    let mut after = before.clone();
    after.jobs[2].update(&waits);
    assert_eq!(causes(&before, &after, &record, ActualSource::Log), [DifferenceCause::Unexplained]);
}

#[test]
fn a_job_that_left_another_dynamic_slot_is_the_cause() {
    let text = |slot: &str| {
        format!(
            "[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"b@x\"; GlobalJobId = \"s#3.0#1\"; RemoteHost = \"{slot}\"]"
        )
    };
    let found = ["slot1_1@m", "slot1_2@m"].map(|slot| {
        let mut before = pool();
        before.jobs.push(ClassAd::parse(text(slot).as_bytes()).unwrap());
        let mut record = made(&[(1, "slot2@m"), (2, "slot1_1@m")]);
        record.matches[1].displaces = true;
        let stopped = DifferenceCause::Changed(format!("job 3.0 stopped running on {slot}"));
        causes(&before, &pool(), &record, ActualSource::Log).contains(&stopped)
    });
    // The cycle preempted the job in slot1_1 alone.
    assert_eq!(found, [false, true]);
}

/// Slot 1 is not taken, and job 2 ran and ended before the next reading.
#[test]
fn a_job_that_the_cycle_matched_and_that_ended_is_no_cause() {
    let mut after = pool();
    after.jobs.remove(1);
    let record = made(&[(2, "slot2@m")]);
    assert_eq!(causes(&pool(), &after, &record, ActualSource::Log), [DifferenceCause::Unexplained]);
    // A job of another submitter has the same number.
    let mut before = pool();
    before.jobs[1].insert("User", "b@x");
    let left = DifferenceCause::Changed("job 2.0 left the queue".to_owned());
    assert!(causes(&before, &after, &record, ActualSource::Log).contains(&left));
}

#[test]
fn a_dynamic_slot_whose_job_the_cycle_preempted_is_no_cause() {
    let mut before = pool();
    let text = "[Name = \"slot2_1@m\"; State = \"Claimed\"; Cpus = 1; RemoteUser = \"b@x\"; Requirements = false]";
    before.slots.push(ClassAd::parse(text.as_bytes()).unwrap());
    let mut record = made(&[(2, "slot2@m")]);
    let disappeared = DifferenceCause::Changed("slot2_1@m disappeared".to_owned());
    assert_eq!(causes(&before, &pool(), &record, ActualSource::Log), [disappeared]);
    // Through the partitionable slot, or itself.
    record.matches[0].displaces = true;
    assert_eq!(causes(&before, &pool(), &record, ActualSource::Log), [DifferenceCause::Unexplained]);
    record.matches[0].slot = "slot2_1@m".to_owned();
    assert_eq!(causes(&before, &pool(), &record, ActualSource::Log), [DifferenceCause::Unexplained]);
}

/// The access point used the claim for another job, and that slot was not free for anybody.
#[test]
fn a_job_that_ended_in_a_claim_that_was_kept_is_no_cause() {
    let found = ["b@x", "c@x"].map(|user| {
        let mut before = pool();
        let text = "[ClusterId = 3; ProcId = 0; JobStatus = 2; User = \"b@x\"; GlobalJobId = \"s#3.0#1\"; RemoteHost = \"slot3@m\"]";
        before.jobs.push(ClassAd::parse(text.as_bytes()).unwrap());
        let slot = |user: &str| {
            let text = format!("[Name = \"slot3@m\"; State = \"Claimed\"; RemoteUser = \"{user}\"; Requirements = false]");
            ClassAd::parse(text.as_bytes()).unwrap()
        };
        let mut after = pool();
        after.slots.push(slot(user));
        before.slots.push(slot("b@x"));
        causes(&before, &after, &made(&[(2, "slot2@m")]), ActualSource::Log)
    });
    let stopped = DifferenceCause::Changed("job 3.0 stopped running on slot3@m".to_owned());
    assert_eq!(found, [[DifferenceCause::Unexplained], [stopped]]);
}

#[test]
fn a_slot_that_is_older_than_those_carved_from_it_changes() {
    let mut before = pool();
    let used = ClassAd::parse(b"[Cpus = 0; Requirements = Cpus > 0; ChildName = { \"slot2_1@m\" }]").unwrap();
    before.slots[1].update(&used);
    // What the match took is what the dynamic slot had.
    let found = causes(&before, &before, &made(&[(1, "slot1@m"), (2, "slot2@m")]), ActualSource::Log);
    assert_eq!(found, [DifferenceCause::Changed("slot2@m advertised the release of slot2_1@m".to_owned())]);
}

#[test]
fn a_dynamic_slot_of_another_submitter_is_older_than_the_match_of_its_partitionable_slot() {
    let before = pool();
    let found = ["b@x", "a@x"].map(|user| {
        let mut after = pool();
        let text = format!("[Name = \"slot1_1@m\"; State = \"Claimed\"; Cpus = 1; RemoteUser = \"{user}\"]");
        after.slots.push(ClassAd::parse(text.as_bytes()).unwrap());
        causes(&before, &after, &made(&[(1, "slot1@m")]), ActualSource::Log)
    });
    let appeared = DifferenceCause::Changed("slot1_1@m appeared".to_owned());
    assert_eq!(found, [vec![appeared], vec![DifferenceCause::Unexplained]]);
}

#[test]
fn an_access_point_that_was_restarted_is_the_cause() {
    let of_schedd = |port: u32, heard: i64| {
        let text = format!(
            "[Name = \"a@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<127.0.0.1:{port}>\"; IdleJobs = 2; RunningJobs = 0; \
             LastHeardFrom = {heard}]"
        );
        Snapshot { submitters: Some(vec![ClassAd::parse(text.as_bytes()).unwrap()]), ..pool() }
    };
    let found = causes(&of_schedd(1, 80), &of_schedd(2, 95), &made(&[(1, "slot1@m")]), ActualSource::Log);
    let restarted = "the access point was restarted, and sent a new ad of submitter a@x";
    assert_eq!(found, [DifferenceCause::Changed(restarted.to_owned())]);
}

/// The negotiator visited both submitters, and the access point of one of them, which was shutting down, requested nothing.
#[test]
fn an_access_point_without_requests_is_the_cause() {
    let mut pool = pool();
    pool.slots.truncate(1);
    pool.jobs[1] = ClassAd::parse(
        b"[ClusterId = 2; ProcId = 0; JobStatus = 1; User = \"b@x\"; Owner = \"b\"; GlobalJobId = \"t#2.0#1\"; RequestCpus = 1; \
          JobUniverse = 5; QDate = 50; Requirements = true]",
    )
    .unwrap();
    let submitter = |name: &str, schedd: &str| {
        let text = format!(
            "[Name = \"{name}\"; ScheddName = \"{schedd}\"; ScheddIpAddr = \"<{schedd}>\"; IdleJobs = 1; RunningJobs = 0]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    };
    pool.submitters = Some(vec![submitter("a@x", "s"), submitter("b@x", "t")]);
    let visit = |line: u64, submitter: &str, access_point: &str| RecordedVisit {
        line,
        submitter: submitter.to_owned(),
        access_point: access_point.to_owned(),
        ..RecordedVisit::default()
    };
    let [first, second] = [("a@x", "<s>"), ("b@x", "<t>")];
    let predicted = predict(&pool).unwrap().matches[0].submitter.clone();
    let [silent, other] = if predicted == "a@x" { [first, second] } else { [second, first] };
    let mut record = made(&[(if other.0 == "a@x" { 1 } else { 2 }, "slot1@m")]);
    record.matches[0].submitter = other.0.to_owned();
    let found = [11, 21].map(|line| {
        let mut record = record.clone();
        record.visits = vec![visit(10, silent.0, silent.1), visit(20, other.0, other.1)];
        record.matches[0].line = line;
        causes(&pool, &pool, &record, ActualSource::Log)
    });
    let name = silent.1.trim_matches(['<', '>']);
    let none = DifferenceCause::AccessPoint(format!("access point {name}: it sent no requests"));
    // A request in the first visit is one of its access point.
    assert_eq!(found, [vec![DifferenceCause::Unexplained; 2], vec![none; 2]]);
}

#[test]
fn access_points_of_a_submitter_are_visited_in_any_order() {
    let mut pool = pool();
    pool.slots.truncate(1);
    let mut submitters = Vec::new();
    for number in [1, 2] {
        pool.jobs[number - 1] = ClassAd::parse(
            format!(
                "[ClusterId = {number}; ProcId = 0; JobStatus = 1; User = \"a@x\"; Owner = \"a\"; JobUniverse = 5; QDate = 50; \
                 GlobalJobId = \"s{number}#{number}.0#1\"; RequestCpus = 1; Requirements = true]"
            )
            .as_bytes(),
        )
        .unwrap();
        let text = format!(
            "[Name = \"a@x\"; ScheddName = \"s{number}\"; ScheddIpAddr = \"<127.0.0.1:{number}>\"; IdleJobs = 1; RunningJobs = 0]"
        );
        submitters.push(ClassAd::parse(text.as_bytes()).unwrap());
    }
    pool.submitters = Some(submitters);
    let visit = |number| RecordedVisit {
        submitter: "a@x".to_owned(),
        access_point: format!("<127.0.0.1:{number}>"),
        ..RecordedVisit::default()
    };
    let found = [1, 2].map(|first| {
        let mut record = made(&[(first, "slot1@m")]);
        record.visits = [first, 3 - first].map(visit).to_vec();
        causes(&pool, &pool, &record, ActualSource::Log)
    });
    // One of both is predicted.
    let mut sorted = found.to_vec();
    sorted.sort_by_key(Vec::len);
    assert_eq!(sorted, [vec![], vec![DifferenceCause::EqualSubmitters; 2]]);
    // The access point whose ad is older comes first, until it sends another one.
    let mut record = made(&[(2, "slot1@m")]);
    record.visits = [2, 1].map(visit).to_vec();
    let heard = |times: [i64; 2]| {
        let mut heard = pool.clone();
        for (ad, time) in heard.submitters.as_mut().unwrap().iter_mut().zip(times) {
            ad.insert("LastHeardFrom", time);
        }
        heard
    };
    // It has done so at 86 or later, but before the cycle at 100; or it has not. 85 is the time of the newest ad.
    for (later, is_renewed) in
        [([95, 85], true), ([103, 85], true), ([95, 97], true), ([80, 85], false), ([80, 97], false)]
    {
        let found = causes(&heard([80, 85]), &heard(later), &record, ActualSource::Log);
        let renewed = found == vec![DifferenceCause::RenewedAds; 2];
        assert_eq!((renewed, found.contains(&DifferenceCause::Unexplained)), (is_renewed, !is_renewed), "{found:?}");
    }
    // Times count modulo 1009: 1009 and 1010 come before 5, 1008 does not.
    record.started = Some(1010);
    for (later, is_renewed) in [(1010, true), (1008, false)] {
        let found = causes(&heard([5, 1007]), &heard([5, later]), &record, ActualSource::Log);
        assert_eq!(found == vec![DifferenceCause::RenewedAds; 2], is_renewed, "{found:?}");
    }
    // Another submitter comes first by the priorities of the snapshot, and last by those of the log.
    let text = pool.jobs[0].to_string().replace("a@x", "b@x").replace("ClusterId = 1", "ClusterId = 3");
    pool.jobs.push(ClassAd::parse(text.as_bytes()).unwrap());
    let text = pool.submitters.as_ref().unwrap()[0].to_string().replace("a@x", "b@x");
    pool.submitters.as_mut().unwrap().push(ClassAd::parse(text.as_bytes()).unwrap());
    let log = "101 Customer.a@x * *\n103 Customer.a@x Priority 0.7\n103 Customer.a@x PriorityFactor 1000.0\n";
    pool.log = Some(AccountantLog::read(log.as_bytes()).unwrap());
    for first in [1, 2] {
        let mut record = made(&[(first, "slot1@m")]);
        record.visits = [("a@x", first, 500.0), ("a@x", 3 - first, 500.0), ("b@x", 1, 600.0)]
            .map(|(submitter, number, priority)| RecordedVisit {
                submitter: submitter.to_owned(),
                priority: Some(priority),
                factor: Some(1000.0),
                ..visit(number)
            })
            .to_vec();
        assert_eq!(causes(&pool, &pool, &record, ActualSource::Log), vec![DifferenceCause::Priorities; 2]);
    }
}

/// A negotiator had matched six weighted slots one second after its update of priorities: it charged 8 × 4 - 6 slot seconds in
/// the next cycle, and logged the priority 500.453. The ads lead to 500.501, and without usage to 500.305.
#[test]
fn usage_that_is_not_charged_changes_the_order_of_submitters() {
    let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
    let mut pool = pool();
    pool.slots.truncate(1);
    pool.jobs[1] = ad(pool.jobs[0].to_string().replace("a@x", "b@x").replace("ClusterId = 1", "ClusterId = 2"));
    let found = [500.48, 500.3].map(|other| {
        let account = |name: &str, priority: f64, used: f64| {
            ad(format!(
                "[Name = \"{name}\"; Priority = {priority:?}; PriorityFactor = 1000.0; WeightedResourcesUsed = {used:?}; LastUpdate = 96]"
            ))
        };
        pool.log = Some(AccountantLog::of_ads(&[account("a@x", 500.321, 8.0), account("b@x", other, 0.0)]).unwrap());
        let mut record = made(&[(1, "slot1@m")]);
        record.visits =
            ["a@x", "b@x"].map(|name| RecordedVisit { submitter: name.to_owned(), ..RecordedVisit::default() }).to_vec();
        causes(&pool, &pool, &record, ActualSource::Log)
    });
    assert_eq!(found, [vec![DifferenceCause::UnchargedUsage; 2], vec![DifferenceCause::Unexplained; 2]]);
}

#[test]
fn matches_of_other_clusters_and_slots_are_not_as_predicted() {
    let (before, mut after) = (pool(), pool());
    after.slots[0].insert("Cpus", 0_i64);
    let record = made(&[(2, "slot2@m"), (9, "slot1@m"), (9, "slot1@m")]);
    let published = PublishedCycle { started: 100, ended: 101, ..PublishedCycle::default() };
    let source = ActualSource::Claims;
    assert_eq!(shadow_cycle(&watched(&before, &after, &record, source, &published)).unwrap().agreed(), 1);
}
