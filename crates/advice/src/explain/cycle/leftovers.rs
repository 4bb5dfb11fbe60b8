//! The rest of partitionable slots after their matches: there the access point starts more jobs of the same submitter.
//!
//! In: the record of a cycle, and a job that got no slot. Out: a cause that names the slots with room for it. Source:
//! `DCStartd::claimSlot` and `Scheduler::claimedStartd` (`CLAIM_PARTITIONABLE_LEFTOVERS`), `FindRunnableJob`.

use hashbrown::HashMap;

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::cycle::order::ServiceOrder;
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use classmate::internal::eval::matching::{rank, symmetric};
use classmate::internal::plural::counted;
use classmate::{ClassAd, EvalOptions};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::claim::carve;
use classmate_pool::internal::pool::consumption::Consumption;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{JobId, Match, Snapshot};

/// Jobs are counted up to this number.
const MAX_COUNTED: usize = 1000;

/// The cause of a job if its submitter got slots that have room for it besides. `usable` are the slots that match it, and `job` is
/// its ad in the queue.
///
/// None if the job requests concurrency limits, which the rest of a match does not hold.
pub(crate) fn leftovers(
    record: &OutcomeRecord<'_>,
    snapshot: &Snapshot,
    (pool, usable): (&PoolFacts, &[usize]),
    (story, asked, job): (&CycleTrace, &JobInCycle<'_>, &ClassAd),
) -> Option<Cause> {
    let is_on = snapshot.config.boolean("CLAIM_PARTITIONABLE_LEFTOVERS", true).is_ok_and(|is_on| is_on);
    if !is_on || !matches!(*pool.order, ServiceOrder::Submitters) || !story.limits.is_empty() {
        return None;
    }
    let of_schedd = |made: &Match| (made.submitter.as_str(), made.schedd.as_deref()) == (asked.submitter, asked.schedd);
    let is_split = |made: &Match| made.displaced.is_none() && made.released.is_empty() && !made.offline;
    let slots = usable.iter().map(|at| &pool.of_slots[*at]).filter(|slot| slot.partitionable);
    let matches = slots.filter_map(|slot| record.taker(&slot.name)).filter(|made| of_schedd(made) && is_split(made));
    let by_slot: HashMap<&[u8], JobId> = matches.map(|made| (made.slot.as_bytes(), made.job)).collect();
    if by_slot.is_empty() {
        return None;
    }
    let mut ads: HashMap<JobId, Option<&ClassAd>> = by_slot.values().map(|job| (*job, None)).collect();
    let domain = pool.rules.knobs.accountant.domain.as_deref();
    let mut idle = 0;
    for (one, ad) in snapshot.jobs.iter().filter_map(|ad| Some((Job::new(ad, domain, &pool.settings)?, ad))) {
        if one.schedd.as_deref() != asked.schedd {
            continue;
        }
        idle += usize::from(one.activity == Activity::Idle && *one.submitter == *asked.submitter.as_bytes());
        if let Some(found) = ads.get_mut(&one.id) {
            *found = Some(ad);
        }
    }
    let waiting = idle.saturating_sub(record.outcome.matches.iter().filter(|made| of_schedd(made)).count());
    let most = waiting.clamp(1, MAX_COUNTED);
    let (mut jobs, mut with_room) = (0, Vec::new());
    for slot in &snapshot.slots {
        let Some(name) = AdReader::of(slot, &pool.settings).string("Name") else { continue };
        let matched = by_slot.get(name.as_bytes()).and_then(|job| *ads.get(job)?);
        let left = (most - jobs).max(1);
        let room = matched.map_or(0, |matched| room(slot, (matched, job), left, &pool.settings));
        if room > 0 {
            jobs = (jobs + room).min(most);
            with_room.push(name);
        }
    }
    let least = if jobs == MAX_COUNTED { "at least " } else { "" };
    let (first, more) = (with_room.first()?, format!("{least}{}", counted(jobs, "more job")));
    let (which, has) = match with_room.len() {
        1 => (format!("{first}, which {} got,", asked.submitter), "has"),
        some => (format!("{some} of the slots that {} got", asked.submitter), "have"),
    };
    let text = format!(
        "{which} {has} room for {more} like this one: right after the cycle, the access point may start jobs of this submitter there"
    );
    Some(Cause::new(Reason::Leftovers, "slots of the submitter have room for more jobs", text))
}

/// The number of jobs that start in what a matched job leaves of a partitionable slot, at most `most`.
fn room(slot: &ClassAd, (matched, job): (&ClassAd, &ClassAd), most: usize, settings: &EvalOptions) -> usize {
    // What a consumption policy leaves is matched in the cycle.
    if Consumption::of(slot, settings).is_some() {
        return 0;
    }
    let mut rest = slot.clone();
    let takes = |rest: &mut ClassAd, job: &ClassAd| {
        let taken = carve(rest, "", job, settings)?;
        // Which of the GPUs are still free is not known.
        if AdReader::of(&taken, settings).number("GPUs").is_some_and(|gpus| gpus > 0.0) {
            rest.remove("AvailableGPUs");
        }
        Some(())
    };
    if takes(&mut rest, matched).is_none() {
        return 0;
    }
    let is_liked = |rest: &ClassAd| {
        let present = AdReader::of(rest, settings).number("CurrentRank");
        present.is_none_or(|present| rank(rest, job, settings) >= present)
    };
    let mut started = 0;
    while started < most && symmetric(job, &rest, settings) && is_liked(&rest) && takes(&mut rest, job).is_some() {
        started += 1;
    }
    started
}
