//! Turns of one job: for policies that order jobs, not submitters.
//!
//! In: a turn that names a job. Out: its match or rejection, as in a deal to submitters.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::negotiation_loop::{NegotiationLoop, ServedRequest, TurnProgress};
use crate::negotiate::offer::{self, Refusal};
use crate::negotiate::outcome::{Rejected, Rejection, Tally};
use crate::negotiate::request_standing::overlooks;
use crate::pool::Slot;
use crate::priority::{Allowance, EquivalentJobs, PriorityPolicy, Session, Turn, TurnResult, Waiting};
use crate::queue::Job;
use crate::queue::job::{Activity, JobAd, JobId};
use crate::queue::request::{JobsBehind, Queue, Queued, Request};
use crate::queue::submitter::Submitter;
use classmate::Text;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Key;

/// The jobs that some of the submitters have in the queue.
pub(super) struct SubmitterJobs<'q> {
    /// Numbers of the submitters.
    pub(super) members: &'q [usize],
    /// The queue.
    pub(super) queue: &'q Queue<'q>,
}

impl Waiting for SubmitterJobs<'_> {
    fn jobs(&self, who: usize) -> Vec<(usize, &Job<'_>)> {
        let list = self.members.get(who).map_or([].as_slice(), |&who| &self.queue.lists[who]);
        list.iter().map(|queued| (queued.job, &self.queue.jobs[queued.job])).collect()
    }

    fn autoclusters(&self, who: usize) -> Vec<u32> {
        let list = self.members.get(who).map_or([].as_slice(), |&who| &self.queue.lists[who]);
        list.iter().map(|queued| queued.autocluster).collect()
    }

    fn each<'w>(&'w self, who: usize, see: &mut dyn FnMut(usize, &'w Job<'w>, u32)) {
        for queued in self.members.get(who).map_or([].as_slice(), |&who| &self.queue.lists[who]) {
            see(queued.job, &self.queue.jobs[queued.job], queued.autocluster);
        }
    }

    fn behind(&self, job: &Job<'_>) -> Option<&JobsBehind> {
        self.queue.behind.get(&job.id)
    }
}

/// The state of a deal that serves single jobs.
#[derive(Default)]
pub(super) struct SingleTurns {
    /// Place of each job in the list of its submitter; computed when first needed.
    places: Vec<Option<usize>>,
    /// Jobs that got a slot, with their submitters: their other candidacies are not served any more.
    taken: HashSet<(usize, JobId)>,
    /// Index of the rejection in the outcome, by submitter and autocluster: equal jobs are not tried again.
    refused: HashMap<(usize, u32), usize>,
    /// The requests for which slots were evaluated, by submitter and autocluster.
    asked: HashMap<(usize, u32), Request>,
    /// The attributes in which equal requests may differ; computed when first needed.
    varying: Option<HashSet<Key>>,
    /// The number of each submitter's access point, by its name and address; computed when first needed.
    schedds: Vec<usize>,
    /// For each autocluster asked for so far, true if verdicts are the same for its requests from one access point, of any
    /// submitter.
    blind: HashMap<u32, bool>,
    /// For each slot evaluated so far, true if its verdict is the same for equal requests of any submitter.
    impartial: HashMap<usize, bool>,
    /// Verdicts of slots since the last match, by slot, autocluster and access point.
    answers: HashMap<(usize, u32, usize), Tally>,
    /// Refusals by all slots since the last match, by autocluster and access point.
    refusals: HashMap<(u32, usize), Refusal>,
    /// The last of them: mostly the next one, too.
    last_answer: Option<((usize, u32, usize), Tally)>,
    /// Verdicts of the slots evaluated for each job; filled when first needed.
    tallies: Vec<Tally>,
}

impl SingleTurns {
    fn place(&mut self, queue: &Queue, job: usize) -> Option<usize> {
        if self.places.is_empty() {
            self.places.resize(queue.jobs.len(), None);
            for list in &queue.lists {
                for (place, queued) in list.iter().enumerate() {
                    self.places[queued.job] = Some(place);
                }
            }
        }
        self.places.get(job).copied().flatten()
    }

    /// A match was made: verdicts on slots may be others from now on.
    pub(super) fn changed(&mut self) {
        self.answers.clear();
        self.refusals.clear();
        self.last_answer = None;
    }

    /// The number of the access point of a submitter.
    fn schedd<'s>(&mut self, who: usize, submitters: &'s [Submitter]) -> usize {
        if self.schedds.is_empty() {
            let mut numbers: HashMap<(&'s [u8], &'s [u8]), usize> = HashMap::new();
            let number = |one: &'s Submitter| {
                let next = numbers.len();
                *numbers.entry((&one.schedd, &one.address)).or_insert(next)
            };
            self.schedds = submitters.iter().map(number).collect();
        }
        self.schedds[who]
    }

    /// Removes the jobs that got a slot from the queue, with all their candidacies.
    pub(super) fn leave(&self, queue: &mut Queue) {
        if self.taken.is_empty() {
            return;
        }
        let Queue { jobs, lists, .. } = queue;
        for (who, list) in lists.iter_mut().enumerate() {
            list.retain(|queued| !self.taken.contains(&(who, jobs[queued.job].id)));
        }
    }
}

impl NegotiationLoop<'_> {
    /// Returns whether a job would get a free slot now, without preemption, and counts the verdict.
    pub(super) fn suits(&mut self, who: usize, job: usize, slot: usize, singles: &mut SingleTurns) -> bool {
        let Some(place) = singles.place(&self.queue, job) else { return false };
        let Some(autocluster) = self.queue.lists[who].get(place).map(|queued| queued.autocluster) else { return false };
        let key = (slot, autocluster, singles.schedd(who, self.submitters));
        let last = singles.last_answer.filter(|(last, _)| *last == key).map(|(_, answer)| answer);
        let answer = match last.or_else(|| singles.answers.get(&key).copied()) {
            Some(known) => known,
            None => {
                let asked = singles.asked.remove(&(who, autocluster));
                let made = || self.queue.single(who, place, &mut self.excerpts.borrow_mut());
                let Some(mut request) = asked.or_else(made) else { return false };
                self.insert_submitter_attributes(who, &mut request);
                let session = Session::new(Allowance::UNLIMITED);
                let answer = match self.offers.of_slot(slot, &self.search(who, &request, &session)) {
                    Ok(_) => Tally { considered: 1, suitable: 1, ..Tally::default() },
                    Err(refused) => refused,
                };
                if self.is_blind(autocluster, &request.ad, singles) && self.is_impartial(slot, singles) {
                    singles.answers.insert(key, answer);
                    singles.last_answer = Some((key, answer));
                }
                singles.asked.insert((who, autocluster), request);
                answer
            }
        };
        if singles.tallies.is_empty() {
            singles.tallies.resize(self.queue.jobs.len(), Tally::default());
        }
        singles.tallies[job] += answer;
        answer.suitable > 0
    }

    /// Returns whether the verdicts on the requests of an autocluster do not depend on their submitters, from the ad of one of
    /// them.
    fn is_blind(&self, autocluster: u32, ad: &ClassAd, singles: &mut SingleTurns) -> bool {
        let SingleTurns { varying, blind, .. } = singles;
        let varying = varying.get_or_insert_with(|| super::varying(&self.queue));
        // What only some requests of an autocluster have, nothing in it refers to.
        *blind.entry(autocluster).or_insert_with(|| overlooks(ad, varying))
    }

    /// Returns whether the verdict of a slot does not depend on the submitter of a request.
    fn is_impartial(&self, slot: usize, singles: &mut SingleTurns) -> bool {
        let SingleTurns { varying, impartial, .. } = singles;
        let varying = varying.get_or_insert_with(|| super::varying(&self.queue));
        let blind = |slot: &Slot| slot.user.is_none() && overlooks(&slot.ad, varying);
        *impartial.entry(slot).or_insert_with(|| !self.rules.makes_room() && blind(self.offers.slot(slot)))
    }

    /// Returns whether the verdicts of all slots do not depend on the submitter. Only asked where there are fewer slots than
    /// submitters, whom the answer saves a search each.
    fn all_impartial(&self, singles: &mut SingleTurns) -> bool {
        let slots = self.outcome.statistics.total_slots;
        slots <= self.submitters.len() && (0..slots).all(|slot| self.is_impartial(slot, singles))
    }

    /// The refusal of a request by all slots, if it is known that an equal one would be refused again.
    pub(super) fn known_refusal(&self, who: usize, request: &Request, singles: &mut SingleTurns) -> Option<Refusal> {
        if singles.refusals.is_empty() {
            return None;
        }
        let known = (request.autocluster, singles.schedd(who, self.submitters));
        singles.refusals.get(&known).cloned()
    }

    /// Keeps the refusal of a request by all slots until the next match, if it holds for equal requests of all submitters,
    /// whatever is left of their turns.
    pub(super) fn keep_refusal(&self, who: usize, request: &Request, refusal: &Refusal, singles: &mut SingleTurns) {
        let Tally { considered, unreachable, refused_by_job, refused_by_slot, .. } = refusal.tally;
        let final_verdict = !refusal.untested && considered == unreachable + refused_by_job + refused_by_slot;
        // Whole ads of one autocluster may differ in anything.
        if final_verdict
            && !self.queue.whole
            && !request.ad.is_empty()
            && self.is_blind(request.autocluster, &request.ad, singles)
            && self.all_impartial(singles)
        {
            let known = (request.autocluster, singles.schedd(who, self.submitters));
            singles.refusals.insert(known, refusal.clone());
        }
    }

    /// Adds the rejections of the jobs that are left to the outcome: one for each set of equivalent jobs.
    pub(super) fn tell_left(&mut self, pie: u32, members: &[usize], alike: &[EquivalentJobs], singles: &SingleTurns) {
        for EquivalentJobs { jobs, held_by } in alike {
            let mut tally = Tally::default();
            for (_, job) in jobs {
                tally += singles.tallies.get(*job).copied().unwrap_or_default();
            }
            let is_left =
                |(who, job): &&(usize, usize)| !singles.taken.contains(&(members[*who], self.queue.jobs[*job].id));
            let mut left = jobs.iter().filter(is_left);
            let Some(&(who, job)) = left.next() else { continue };
            let count = 1 + left.count();
            let rejection = match (tally.considered, tally.suitable) {
                (1.., 0) => offer::rejection(&tally),
                _ if !held_by.is_empty() => Rejection::SiteLimit,
                (0, _) => Rejection::NotRequested,
                _ => Rejection::NotDrawn,
            };
            self.outcome.rejections.push(Rejected {
                job: self.queue.jobs[job].id,
                schedd: self.queue.jobs[job].schedd.clone(),
                jobs: count,
                submitter: self.submitters[members[who]].name.to_string_lossy().into_owned(),
                reason: rejection.reason(held_by),
                rejection,
                slots: tally,
                pie,
                spin: 1,
                group: None,
            });
        }
    }

    /// Serves a turn of one job.
    pub(super) fn serve_one(&mut self, turn: &Turn, job: usize, singles: &mut SingleTurns) -> TurnResult {
        let mut session = Session::new(turn.allowance);
        let left = self.offers.left();
        let place = singles.place(&self.queue, job);
        let queued = place.and_then(|place| Some((place, self.queue.lists[turn.who].get(place)?.autocluster)));
        let Some((place, autocluster)) = queued else { return session.spent(true, left) };
        let key = (turn.who, self.queue.jobs[job].id);
        if singles.taken.contains(&key) {
            return session.spent(true, left);
        }
        let like = (turn.who, autocluster);
        if let Some(&at) = singles.refused.get(&like) {
            self.outcome.rejections[at].jobs += 1;
            return session.spent(true, left);
        }
        let known = (autocluster, singles.schedd(turn.who, self.submitters));
        if let Some(refusal) = singles.refusals.get(&known).filter(|_| turn.slot.is_none()).cloned() {
            self.outcome.statistics.jobs_considered += 1;
            singles.refused.insert(like, self.outcome.rejections.len());
            let request = Request { first: place, count: 1, autocluster, ad: ClassAd::new() };
            self.rejected(turn, &request, 1, &refusal);
            return session.spent(true, left);
        }
        let request = self.queue.single(turn.who, place, &mut self.excerpts.borrow_mut());
        let Some(request) = request else { return session.spent(true, left) };
        self.outcome.statistics.jobs_considered += 1;
        let mut serving = ServedRequest::new(request);
        self.insert_submitter_attributes(turn.who, &mut serving.request);
        let search = self.search(turn.who, &serving.request, &session);
        let found = match turn.slot {
            Some(slot) => self.offers.of_slot(slot, &search).map_err(|_| None),
            None => self.offers.best(&search).map_err(Some),
        };
        match found {
            Ok(offer) => {
                self.matched(turn, &mut serving, offer, &mut session, &mut TurnProgress::default());
                if !self.queue.replace(key.1) {
                    singles.taken.insert(key);
                }
                singles.changed();
            }
            Err(None) => {}
            Err(Some(refusal)) => {
                // A slot that is over the limit in this turn may be within it in another.
                if refusal.rejection != Rejection::SubmitterLimit {
                    singles.refused.insert(like, self.outcome.rejections.len());
                    let request = &serving.request;
                    if self.is_blind(autocluster, &request.ad, singles) && self.all_impartial(singles) {
                        singles.refusals.insert(known, refusal.clone());
                    }
                }
                self.rejected(turn, &serving.request, 1, &refusal);
            }
        }
        session.spent(true, self.offers.left())
    }
}

/// Jobs that a submitter had in the queue when the cycle began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfferedCount {
    /// All of them.
    pub(super) jobs: usize,
    /// Those that the policy does not serve yet.
    pub(super) held_back: usize,
}

/// Number of jobs of each submitter in the queue; a job with several candidacies counts once. `known` is the number of
/// jobs before candidacies.
pub(super) fn offered(queue: &Queue, known: usize, policy: &dyn PriorityPolicy) -> Vec<OfferedCount> {
    let is_single = queue.jobs.len() == known;
    let counts = |list: &Vec<Queued>| {
        let held_back = || list.iter().filter(|queued| policy.holds_back(&queue.jobs[queued.job].ad));
        let distinct = |some: &mut dyn Iterator<Item = &Queued>| {
            some.map(|queued| queue.jobs[queued.job].id).collect::<HashSet<_>>().len()
        };
        if is_single {
            OfferedCount { jobs: list.len(), held_back: held_back().count() }
        } else {
            OfferedCount { jobs: distinct(&mut list.iter()), held_back: distinct(&mut held_back()) }
        }
    };
    queue.lists.iter().map(counts).collect()
}

/// Number of autoclusters of the jobs in the queue. Of jobs with several candidacies, those with the same set of autoclusters are in
/// one. `known` is the number of jobs before candidacies.
pub(super) fn autoclusters(queue: &Queue, known: usize) -> usize {
    if queue.jobs.len() == known {
        return queue.autoclusters.len();
    }
    let mut of_jobs: HashMap<_, BTreeSet<u32>> = HashMap::new();
    for queued in queue.lists.iter().flatten() {
        let job = &queue.jobs[queued.job];
        let schedd = job.schedd.as_ref().map(Text::as_bytes);
        of_jobs.entry((schedd, job.id)).or_default().insert(queued.autocluster);
    }
    of_jobs.into_values().collect::<BTreeSet<_>>().len()
}

/// Number of idle jobs that do not belong to any of the submitters; a job with several candidacies counts once. `known`
/// is the number of jobs before candidacies.
pub(super) fn strangers(queue: &Queue, known: usize) -> usize {
    if queue.jobs.len() == known {
        return queue.strangers;
    }
    let listed: HashSet<usize> = queue.lists.iter().flatten().map(|queued| queued.job).collect();
    let idle = queue.jobs.iter().enumerate().filter(|(at, job)| job.activity == Activity::Idle && !listed.contains(at));
    idle.map(|(_, job)| (&*job.submitter, job.schedd.as_deref(), job.id)).collect::<HashSet<_>>().len()
}

/// The entries of the queue: one for each candidacy that the policy gives a job, or the job itself.
pub(super) fn candidates<'a>(jobs: Vec<Job<'a>>, policy: &dyn PriorityPolicy) -> Vec<Job<'a>> {
    if jobs.iter().all(|job| policy.candidacies(&job.ad).is_none()) {
        return jobs;
    }
    let mut candidates = Vec::with_capacity(jobs.len());
    for job in jobs {
        match policy.candidacies(&job.ad) {
            None => candidates.push(job),
            Some(ads) => {
                let made = |ad| Job { ad: JobAd::Made(Arc::new(ad)), ..job.clone() };
                candidates.extend(ads.into_iter().map(made));
            }
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::{Snapshot, negotiate};
    use crate::priority::Policy;
    use crate::priority::dirac::DiracChoice;
    use crate::priority::slurm::{Options, SlurmFiles, SlurmSettings};
    use classmate_config::internal::config::TextFiles;
    use classmate_config::internal::config::slurm::{SlurmAssociations, SlurmConf};

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    /// Jobs that get the second slot in a cycle under DIRAC's policy, when the first is in use by `a`.
    fn matched(requirements: &str, seed: u64) -> Vec<String> {
        matched_under(Policy::Dirac(DiracChoice::default()), requirements, seed)
    }

    fn matched_under(policy: Policy, requirements: &str, seed: u64) -> Vec<String> {
        let slots = [
            "[Name = \"s1\"; State = \"Claimed\"; Activity = \"Busy\"; RemoteUser = \"a@x\"; Cpus = 1; Requirements = true]",
            &format!(
                "[Name = \"s2\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Requirements = {requirements}]"
            ),
        ];
        let job = |id: usize, user: &str| {
            ad(&format!(
                "[ClusterId = {id}; ProcId = 0; JobStatus = 1; User = \"{user}@x\"; Owner = \"{user}\"; Requirements = true]"
            ))
        };
        let snapshot = Snapshot {
            slots: slots.map(ad).to_vec(),
            jobs: vec![job(1, "a"), job(2, "b"), job(3, "a"), job(4, "b")],
            policy,
            seed,
            ..Snapshot::default()
        };
        negotiate(&snapshot).unwrap().matches.into_iter().map(|made| made.job.to_string()).collect()
    }

    #[test]
    fn a_slot_that_looks_at_who_asks_answers_each() {
        for seed in 0..20 {
            // A user of a slot is rejected, whichever of the equal requests is evaluated first.
            let found = matched("TARGET.SubmitterUserResourcesInUse < 1", seed);
            assert!(found == ["2.0"] || found == ["4.0"], "{found:?}");
            assert_eq!(matched("TARGET.SubmitterUserResourcesInUse > 5", seed), [""; 0]);
            assert_eq!(matched("true", seed).len(), 1);
        }
    }

    #[test]
    fn in_turns_of_submitters_a_slot_that_looks_at_who_asks_answers_each() {
        // The user `a` of a slot is rejected, and the equal request of `b` is not.
        let found = matched_under(Policy::Condor, "TARGET.SubmitterUserResourcesInUse < 1", 0);
        assert!(found == ["2.0"] || found == ["4.0"], "{found:?}");
    }

    #[test]
    fn in_turns_of_submitters_equal_requests_are_refused_alike() {
        // Five submitters request one core each of a slot that has three.
        let refused = |requirements: &str| {
            let slot = ad(&format!(
                "[Name = \"s\"; State = \"Unclaimed\"; Activity = \"Idle\"; PartitionableSlot = true; Cpus = 3; \
                 MachineResources = \"Cpus\"; SlotWeight = Cpus; ConsumptionCpus = TARGET.RequestCpus; \
                 Requirements = {requirements}]"
            ));
            let job = |id: usize| {
                let user = ["a", "b", "c", "d", "e"][id % 5];
                ad(&format!(
                    "[ClusterId = {id}; ProcId = 0; JobStatus = 1; User = \"{user}@x\"; RequestCpus = 1; Requirements = true]"
                ))
            };
            let snapshot = Snapshot { slots: vec![slot], jobs: (1..11).map(job).collect(), ..Snapshot::default() };
            let outcome = negotiate(&snapshot).unwrap();
            assert_eq!(outcome.matches.len(), 3);
            let facts = |left: &Rejected| (left.job, left.jobs, left.reason.clone(), left.slots, left.pie, left.spin);
            outcome.rejections.iter().map(facts).collect::<Vec<_>>()
        };
        // In any order of service, the reason for those without a core is that the slot has none left.
        let plain = refused("true");
        let none_left = Tally { considered: 1, refused_by_slot: 1, ..Tally::default() };
        assert!(
            plain.iter().filter(|(_, jobs, _, slots, ..)| (*jobs, *slots) == (2, none_left)).count() >= 2,
            "{plain:?}"
        );
        // A slot that looks at who asks answers each, and the same.
        assert_eq!(refused("TARGET.SubmitterUserPrio > 0"), plain);
    }

    /// The older job is refused because of the priority of its user, who has no shares; an equal job of another user is not.
    #[test]
    fn a_refusal_that_depends_on_who_asks_is_no_other_ones() {
        let (conf, _) = SlurmConf::read("c", b"", &TextFiles::default());
        let dump = b"Parent - 'root'\nAccount - 'g':Fairshare=1\nParent - 'g'\nUser - 'a':Fairshare=0\nUser - 'b':Fairshare=1\n";
        let associations = SlurmAssociations::read("d", dump).0;
        let files = SlurmFiles { conf, associations, usage: Vec::new(), qos: Vec::new(), options: Options::default() };
        let policy = Policy::Slurm(Box::new(SlurmSettings::new(files).unwrap()));
        let found = |requirements: &str| {
            let slot = format!("[Name = \"s\"; State = \"Unclaimed\"; Cpus = 1; Requirements = {requirements}]");
            let job = |id: usize, user: &str| {
                ad(&format!(
                    "[ClusterId = {id}; ProcId = 0; JobStatus = 1; Owner = \"{user}\"; AccountingGroup = \"g.{user}\"; \
                     Requirements = true]"
                ))
            };
            let (slots, jobs) = (vec![ad(&slot)], vec![job(1, "a"), job(2, "b")]);
            let outcome = negotiate(&Snapshot { slots, jobs, policy: policy.clone(), ..Snapshot::default() }).unwrap();
            (outcome.matches.len(), outcome.rejections.iter().map(|one| one.submitter.clone()).collect::<Vec<_>>())
        };
        assert_eq!(found("TARGET.SubmitterUserPrio < 0.5"), (1, vec!["g.a@".to_owned()]));
        assert_eq!(found("TARGET.Missing =?= 1"), (0, vec!["g.a@".to_owned(), "g.b@".to_owned()]));
    }
}
