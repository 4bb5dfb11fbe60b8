//! Every sentence of `explain`, `whatif`, `report` and `quotas --group` is true.
//!
//! Over random pools, each order, count, position, quota, limit and value is read back from the text and compared with the
//! outcome of a cycle that knows nothing of explanations, or with an evaluation that is made here. A sentence of a form that
//! is not known fails. `CLASSMATE_SENTENCES` is the number of pools, `CLASSMATE_SEED` the first.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod change;
mod job;
mod pool;
mod quota;
#[path = "../../../pool/tests/random/mod.rs"]
mod random;
mod setting;
mod slot;
mod template;

use std::sync::atomic::{AtomicUsize, Ordering};

use classmate::internal::threads;
use classmate_advice::internal::autoclusters::audit;
use classmate_advice::internal::explain::PoolFacts;
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::internal::explain::cycle::{group, reasons, submitter};
use classmate_advice::internal::explain::replay::{BeforeCycle, ExplainedJob, division_of};
use classmate_advice::internal::explain::replayed_change::replay;
use classmate_advice::internal::explain::slot::explain as explain_slot;
use classmate_advice::internal::explain::tested_setting::settings;
use classmate_advice::internal::picture::picture;
use classmate_advice::internal::whatif::kind::SlotKinds;
use classmate_advice::internal::whatif::{Difference, PoolRun};
use classmate_cli::report::cycle::page;
use classmate_pool::CycleOptions;
use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;

use job::{JobCase, Played};
use slot::{SlotCase, Waiting};
use template::{Checked, fit, number, singular};

/// Jobs that are explained in each pool.
const JOBS: usize = 6;

/// Sentences that were compared.
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Settings that were made.
static SETTINGS: AtomicUsize = AtomicUsize::new(0);

/// Suggestions that were made in the ad of a job, after which it stays idle, and matches.
static REPLAYED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn of_jobs(played: &Played<'_>) -> Checked {
    let facts = PoolFacts::new(played.pool);
    let record = OutcomeRecord::new(played.outcome, played.queue);
    let division = division_of(played.pool);
    let jobs: Vec<Job<'_>> =
        played.snapshot.jobs.iter().filter_map(|ad| Job::new(ad, None, &played.settings)).collect();
    for job in jobs.iter().step_by(jobs.len().div_ceil(JOBS)) {
        let subject = ExplainedJob::of(job, &job.ad);
        let asker = played.pool.job(&job.ad, &job.submitter);
        let before = BeforeCycle::of(&facts, &subject, &asker);
        let mut found = before.after(&record, (played.snapshot, division.as_ref()), &facts);
        found.settings = settings(played.snapshot, &subject, (played.outcome, &facts), &found);
        COMPARED.fetch_add(found.causes.len() + found.suggestions.len(), Ordering::Relaxed);
        replay(played.snapshot, &subject, &mut found);
        SETTINGS.fetch_add(found.settings.len(), Ordering::Relaxed);
        let status = job.ad.eval_int("JobStatus").unwrap_or(0);
        let case = JobCase { played, id: job.id, submitter: job.submitter.to_string(), status, job: asker, found };
        case.check().map_err(|wrong| format!("job {}: {wrong}", job.id))?;
    }
    Ok(())
}

fn of_slots(played: &Played<'_>) -> Checked {
    let jobs = played.snapshot.jobs.iter().filter_map(|ad| Some((ad, Job::new(ad, None, &played.settings)?)));
    let idle = jobs.filter(|(_, job)| job.activity == Activity::Idle);
    let jobs: Vec<Waiting<'_>> =
        idle.map(|(ad, job)| Waiting { id: job.id, submitter: job.submitter.to_string(), ad }).collect();
    let slots: Vec<&Slot> = played.pool.slots().iter().chain(played.pool.left_out()).collect();
    for slot in slots.iter().step_by(slots.len().div_ceil(JOBS).max(1)) {
        let name = slot.name.to_string();
        let found = explain_slot(played.pool, played.outcome, &name).ok_or("no slot")?;
        COMPARED.fetch_add(found.causes.len(), Ordering::Relaxed);
        SlotCase { played, slot, jobs: &jobs, found }.check().map_err(|wrong| format!("slot {name}: {wrong}"))?;
    }
    Ok(())
}

fn of_groups(played: &Played<'_>) -> Checked {
    let mut places = Vec::new();
    for summary in &played.outcome.groups {
        let found = group::trace(played.outcome, played.pool.division(), &summary.name).ok_or("no group")?;
        for step in &found.steps {
            let text = singular(step);
            quota::step(played, &summary.name, &text).map_err(|wrong| format!("{}: {step}: {wrong}", summary.name))?;
            let huge = || fit("negotiates as number {} of {}: {} a lower sort key", &text);
            if let Some(parts) = fit("negotiates as number {} of {}, sort key {}", &text).or_else(huge) {
                places.push((summary.name.clone(), number(parts[0])));
            }
        }
        COMPARED.fetch_add(found.steps.len(), Ordering::Relaxed);
    }
    // Groups that negotiate again do so in rounds and with the root.
    let once = played.outcome.groups.iter().all(|group| group.rounds.len() <= 1);
    if once { quota::order(played.outcome, &places) } else { Ok(()) }
}

fn of_submitters(played: &Played<'_>) -> Checked {
    for line in &played.outcome.submitters {
        let found = submitter::trace(played.outcome, played.pool, &line.submitter).ok_or("no submitter")?;
        COMPARED.fetch_add(found.steps.len(), Ordering::Relaxed);
        quota::share(played, &found).map_err(|wrong| format!("{}: {wrong}", line.submitter))?;
    }
    Ok(())
}

fn of_the_page(played: &Played<'_>) -> Checked {
    let record = OutcomeRecord::new(played.outcome, played.queue);
    let survey = reasons::survey(played.snapshot, &record, |_| true).map_err(|error| error.to_line())?;
    change::survey(&survey)?;
    let jobs = played.snapshot.jobs.iter().filter_map(|ad| Job::new(ad, None, &played.settings));
    let idle: Vec<Job<'_>> = jobs.filter(|job| job.activity == Activity::Idle).collect();
    let matched = idle.iter().filter(|job| played.outcome.matches.iter().any(|made| made.job == job.id)).count();
    let audit = audit(played.snapshot).map_err(|error| error.to_line())?;
    let picture = picture(played.snapshot, played.outcome, &survey).map_err(|error| error.to_line())?;
    let text = page(("a pool", "pool"), played.snapshot, played.outcome, &picture, (&audit, None));
    change::page(&text, (played.outcome, &picture), &survey, idle.len(), matched)
}

fn ran(snapshot: &Snapshot) -> PoolRun {
    let kinds = SlotKinds::of(&snapshot.slots, &snapshot.settings());
    PoolRun::of(&mut PreparedPool::new(snapshot).unwrap(), &kinds).unwrap()
}

fn of_a_change(snapshot: &Snapshot, seed: u64) -> Checked {
    let mut after = snapshot.clone();
    match seed % 3 {
        0 => after.slots.truncate(snapshot.slots.len() / 2),
        1 => after.config.add("change", b"GROUP_QUOTA_phys = 3\nNEGOTIATOR_CONSIDER_PREEMPTION = false\n").unwrap(),
        _ => after.jobs.iter_mut().for_each(|job| job.insert("RequestMemory", 1_i64)),
    }
    let (old, new) = (ran(snapshot), ran(&after));
    change::difference(&old.outcome, &new.outcome, &Difference::between(&old, &new))
}

fn of_pool(seed: u64) -> Checked {
    let snapshot = pool::made(seed);
    let mut cycle = PreparedPool::new(&snapshot).map_err(|error| error.to_line())?;
    let queue = cycle.queued();
    let outcome = cycle.negotiate(CycleOptions::default()).map_err(|error| error.to_line())?.outcome;
    let pool = PreparedPool::for_explanation(&snapshot).map_err(|error| error.to_line())?;
    let settings = pool.settings();
    let played = Played { snapshot: &snapshot, outcome: &outcome, pool: &pool, queue: &queue, settings };
    of_jobs(&played)?;
    of_slots(&played)?;
    of_groups(&played)?;
    of_submitters(&played)?;
    of_the_page(&played)?;
    of_a_change(&snapshot, seed)
}

#[test]
fn every_sentence_is_true() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (count, first) = (variable("CLASSMATE_SENTENCES").unwrap_or(60), variable("CLASSMATE_SEED").unwrap_or(0));
    let wrong: Vec<String> = threads::map_range(count as usize, |at| {
        let seed = first + at as u64;
        of_pool(seed).err().map(|wrong| format!("pool {seed}: {wrong}"))
    })
    .into_iter()
    .flatten()
    .collect();
    let shown: Vec<String> = wrong.iter().take(8).cloned().collect();
    assert!(wrong.is_empty(), "{} of {count} pools\n{}", wrong.len(), shown.join("\n\n"));
    let compared = COMPARED.load(Ordering::Relaxed) as u64;
    assert!(compared > 10 * count, "only {compared} sentences");
    let settings = SETTINGS.load(Ordering::Relaxed) as u64;
    assert!(settings * 30 > count, "only {settings} settings");
    let [idle, matched] = REPLAYED.each_ref().map(|some| some.load(Ordering::Relaxed) as u64);
    assert!(idle * 30 > count && matched * 30 > count, "{idle} changes leave a job idle, after {matched} it matches");
}
