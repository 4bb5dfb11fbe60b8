//! Turns of one job: for policies that order jobs, not submitters.
//!
//! In: a turn that names a job. Out: its match or rejection, as in a deal to submitters.

use hashbrown::{HashMap, HashSet};

use crate::negotiate::deal::{Dealing, Progress, Serving};
use crate::negotiate::outcome::Rejection;
use crate::priority::{PriorityPolicy, Session, Spent, Turn, Waiting};
use crate::queue::Job;
use crate::queue::job::{Activity, JobId};
use crate::queue::request::{Queue, Queued};

/// The jobs that some of the submitters have in the queue.
pub(super) struct Members<'q> {
    /// Numbers of the submitters.
    pub(super) members: &'q [usize],
    /// The queue.
    pub(super) queue: &'q Queue,
}

impl Waiting for Members<'_> {
    fn jobs(&self, who: usize) -> Vec<(usize, &Job)> {
        let list = self.members.get(who).map_or([].as_slice(), |&who| &self.queue.lists[who]);
        list.iter().map(|queued| (queued.job, &self.queue.jobs[queued.job])).collect()
    }
}

/// What is known in a deal of single jobs.
#[derive(Default)]
pub(super) struct Singles {
    /// Place of each job in the list of its submitter; made when first asked.
    places: Vec<Option<usize>>,
    /// Jobs that got a slot, by submitter: other candidacies of theirs are gone.
    taken: HashSet<(usize, JobId)>,
    /// Where the rejection of an autocluster stands: its like is not tried again.
    refused: HashMap<(usize, u32), usize>,
}

impl Singles {
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

    /// Takes the jobs that got a slot out of the queue, with all their candidacies.
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

impl Dealing<'_> {
    /// Serves a turn of one job.
    pub(super) fn serve_one(&mut self, turn: &Turn, job: usize, singles: &mut Singles) -> Spent {
        let mut session = Session::new(turn.allowance);
        let left = self.offers.left();
        let place = singles.place(&self.queue, job);
        let Some(request) = place.and_then(|place| self.queue.single(turn.who, place)) else {
            return session.spent(true, left);
        };
        let key = (turn.who, self.queue.jobs[job].id);
        if singles.taken.contains(&key) {
            return session.spent(true, left);
        }
        let like = (turn.who, request.autocluster);
        if let Some(&at) = singles.refused.get(&like) {
            self.outcome.rejections[at].jobs += 1;
            return session.spent(true, left);
        }
        self.outcome.statistics.jobs_considered += 1;
        let mut serving = Serving { request, matched: 0 };
        self.mark(turn, &mut serving.request);
        match self.find(turn, session.serve(), &serving.request, &session) {
            Ok(offer) => {
                self.matched(turn, &mut serving, offer, &mut session, &mut Progress::default());
                singles.taken.insert(key);
            }
            Err(refusal) => {
                // What is too heavy in this turn may be light enough in another.
                if refusal.rejection != Rejection::SubmitterLimit {
                    singles.refused.insert(like, self.outcome.rejections.len());
                }
                self.rejected(turn, &serving, &refusal);
            }
        }
        session.spent(true, self.offers.left())
    }
}

/// How many jobs each submitter has in the queue, of so many in all; one with several candidacies counts once.
pub(super) fn offered(queue: &Queue, known: usize) -> Vec<usize> {
    if queue.jobs.len() == known {
        return queue.lists.iter().map(Vec::len).collect();
    }
    let distinct =
        |list: &Vec<Queued>| list.iter().map(|queued| queue.jobs[queued.job].id).collect::<HashSet<_>>().len();
    queue.lists.iter().map(distinct).collect()
}

/// How many idle jobs belong to none of the submitters, of so many jobs in all.
pub(super) fn strangers(queue: &Queue, known: usize) -> usize {
    if queue.jobs.len() == known {
        return queue.strangers;
    }
    let listed: HashSet<usize> = queue.lists.iter().flatten().map(|queued| queued.job).collect();
    let idle = queue.jobs.iter().enumerate().filter(|(at, job)| job.activity == Activity::Idle && !listed.contains(at));
    idle.map(|(_, job)| (&*job.submitter, job.schedd.as_deref(), job.id)).collect::<HashSet<_>>().len()
}

/// Jobs as the policy lets them stand in the queue.
pub(super) fn candidates(jobs: Vec<Job>, policy: &dyn PriorityPolicy) -> Vec<Job> {
    let mut candidates = Vec::with_capacity(jobs.len());
    for job in jobs {
        match policy.candidacies(&job.ad) {
            None => candidates.push(job),
            Some(ads) => candidates.extend(ads.into_iter().map(|ad| Job { ad, ..job.clone() })),
        }
    }
    candidates
}
