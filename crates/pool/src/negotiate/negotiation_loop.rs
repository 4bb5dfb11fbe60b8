//! The negotiation loop: serves one turn after another until no submitter can be served.
//!
//! In: turns of a policy, requests, slots. Out: matches and rejections. Formula source: `docs/reference/negotiation.md` 7.5,
//! 8.3, 9.1.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::accountant::GroupOf;
use crate::negotiate::offer::{Offer, Refusal, SlotSearch, VARIOUS};
use crate::negotiate::outcome::{Candidacy, Match, Negotiation, Outcome, Pie, Rejected, Tally};
use crate::negotiate::preemption::LiveUsage;
use crate::negotiate::rules::Rules;
use crate::negotiate::single::{SingleTurns, SubmitterJobs};
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use crate::pool::address::Protocols;
use crate::priority::session::Serve;
use crate::priority::{
    ChargedUsage, Claimant, PieHistory, PieInput, PriorityPolicy, Session, Spin, Turn, TurnResult, Turns,
};
use crate::queue::request::{Queue, Request};
use crate::queue::significant::requires_standing;
use crate::queue::submitter::Submitter;
use classmate::internal::ad::{ClassAd, Excerpts};
use classmate::internal::eval::scope::EvalOptions;

/// The state of the negotiation loop.
pub struct NegotiationLoop<'c> {
    /// Submitters, in order of arrival.
    pub submitters: &'c [Submitter],
    /// The configuration.
    pub rules: &'c Rules,
    /// Clock and seed.
    pub settings: &'c EvalOptions,
    /// Jobs that are not matched yet.
    pub queue: Queue<'c>,
    /// Slots that are not taken yet.
    pub offers: Box<dyn SlotMatcher + 'c>,
    /// Current usage, for expressions that refer to it.
    pub live: &'c LiveUsage,
    /// Priorities and usage.
    pub policy: &'c mut dyn PriorityPolicy,
    /// The decisions so far. Matches lack the names of their slots.
    pub outcome: Outcome,
    /// The slot of each match. Its name is read at the end, on all threads: to fetch each from memory takes a while.
    pub matched_slots: Vec<u32>,
    /// The group that is negotiated for; `None` without groups.
    pub group: Option<NegotiatedGroup>,
    /// Submitters that were negotiated with, by name.
    pub active: HashSet<&'c [u8]>,
    /// Numbers of the access points that were negotiated with.
    pub active_schedds: HashSet<usize>,
    /// Number of requests in the queue: runs of equal jobs.
    pub requests: usize,
    /// The number of each submitter's access point.
    schedds: Vec<usize>,
    /// The protocols that reach it.
    protocols: Vec<Protocols>,
    /// The autoclusters whose jobs require something of what the negotiator adds to a request, as far as this was asked.
    require_standing: RefCell<HashMap<u32, bool>>,
    /// The places of the attributes of requests in the ads of their jobs.
    pub(super) excerpts: RefCell<Excerpts>,
    /// False if neither slots nor the configuration refer to what the negotiator adds to a request; computed when first
    /// needed.
    pub(super) sees_standing: OnceCell<bool>,
    /// The autoclusters whose requests refer to it, as far as this was asked.
    pub(super) mention_standing: RefCell<HashMap<u32, bool>>,
}

/// The group that is negotiated for, as request ads show it.
#[derive(Debug, Clone, Default)]
pub struct NegotiatedGroup {
    /// Its name.
    pub name: String,
    /// True if this is the root and members of other groups negotiate again in it (autoregroup).
    pub autoregroup: bool,
    /// The quota of each group at this moment.
    pub quotas: Arc<Vec<f64>>,
}

/// The request being served.
pub(super) struct ServedRequest {
    pub(super) request: Request,
    /// Jobs of it that are served: matched, or expected to be packed into a slot with one that is.
    pub(super) served: usize,
    /// The place from which on jobs of it may be idle.
    idle_from: usize,
}

impl ServedRequest {
    /// A request of which no job is served yet.
    pub(super) fn new(request: Request) -> Self {
        Self { idle_from: request.first, request, served: 0 }
    }
}

/// A run of equal jobs that were requested and not all matched.
#[derive(Clone, Copy)]
struct PassedRun {
    first: usize,
    autocluster: u32,
    /// True if they may fit a slot that runs no job; all of them may fit one that does.
    fits_unclaimed: bool,
}

/// The events of a turn so far.
#[derive(Default)]
pub(super) struct TurnProgress {
    /// Lists of requests that were fetched from the access point.
    fetched: usize,
    /// Number of requests of the last list that were not considered yet.
    unread: i64,
    /// The place in the submitter's list at which the search for the next request begins.
    next: usize,
    /// Autoclusters that got no slot, with the list in which they were rejected: they are not offered again in this turn.
    rejected: HashMap<u32, usize>,
    /// The numbers of these autoclusters at the access point, if it treats each job as different.
    rejected_numbers: HashMap<usize, usize>,
    /// Places in the submitter's list of the jobs that got a slot, with the list of requests during which they did: later lists
    /// are without them.
    matched: HashMap<usize, usize>,
    /// Runs of jobs before the request that is served which may still be idle and fit a slot.
    passed: Vec<PassedRun>,
    /// All runs of jobs before it that were rejected or not wholly matched. A slot with a consumption policy may fit any:
    /// it was matched for what the policy takes, and is used for what the job requests.
    unserved: Vec<PassedRun>,
    /// Concurrency limits that were reached for the requests just before this one: those that rejected them before any slot
    /// was evaluated, and those reached in slots for the last one before that.
    reached: BTreeSet<String>,
}

impl<'c> NegotiationLoop<'c> {
    /// A loop without decisions yet.
    pub fn new(
        submitters: &'c [Submitter],
        rules: &'c Rules,
        settings: &'c EvalOptions,
        queue: Queue<'c>,
        offers: Box<dyn SlotMatcher + 'c>,
        live: &'c LiveUsage,
        policy: &'c mut dyn PriorityPolicy,
    ) -> Self {
        let requests = queue.requests();
        let waiting: usize = queue.lists.iter().map(Vec::len).sum();
        let most = waiting.min(offers.left());
        // Reserved, so that they do not move while they grow; memory that is never written costs nothing.
        let outcome = Outcome {
            matches: Vec::with_capacity(most),
            rejections: Vec::with_capacity(requests),
            ..Outcome::default()
        };
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        let number = |submitter: &'c Submitter| {
            let next = known.len();
            *known.entry(&submitter.address).or_insert(next)
        };
        let schedds = submitters.iter().map(number).collect();
        Self {
            submitters,
            rules,
            settings,
            queue,
            offers,
            live,
            policy,
            outcome,
            matched_slots: Vec::with_capacity(most),
            group: None,
            active: HashSet::new(),
            active_schedds: HashSet::new(),
            requests,
            schedds,
            protocols: submitters.iter().map(|submitter| Protocols::of(&submitter.address)).collect(),
            require_standing: RefCell::default(),
            excerpts: RefCell::default(),
            sees_standing: OnceCell::new(),
            mention_standing: RefCell::default(),
        }
    }

    /// Negotiates with some of the submitters. Returns those that stay in the list, in the order in which they were served, and the
    /// number of the next pie.
    pub fn negotiate_submitters(&mut self, members: &[usize], deal: &PieInput) -> (Vec<usize>, u32) {
        let claimant = |&who: &usize| Claimant {
            submitter: self.submitters[who].name.to_vec(),
            idle_jobs: self.submitters[who].idle,
            last_heard: self.submitters[who].last_heard,
            job_prio: self.submitters[who].job_prio,
            schedd: self.submitters[who].reachable.then_some(self.schedds[who]),
        };
        let claimants: Vec<Claimant> = members.iter().map(claimant).collect();
        let waiting = SubmitterJobs { members, queue: &self.queue };
        let mut turns = self.policy.begin(&claimants, &waiting, deal);
        self.run(members, deal, &mut *turns);
        self.record(members, turns.history());
        let history = turns.history();
        let left: HashSet<usize> = history.left.iter().copied().collect();
        let sorted: Vec<usize> =
            if history.order.is_empty() { (0..members.len()).collect() } else { history.order.clone() };
        let kept = sorted.into_iter().filter(|who| !left.contains(who)).map(|who| members[who]);
        (kept.collect(), deal.first_pie + history.pies)
    }

    /// Appends the turn history to the outcome.
    fn record(&mut self, members: &[usize], history: &PieHistory) {
        let group = self.group.as_ref().map(|group| group.name.clone());
        for visit in &history.visits {
            let who = members[visit.who];
            if visit.passed.is_none() {
                let Submitter { name, idle, .. } = &self.submitters[who];
                if self.active.insert(name) {
                    let waiting = &mut self.outcome.statistics.idle_jobs;
                    *waiting = waiting.saturating_add(*idle);
                }
                self.active_schedds.insert(self.schedds[who]);
            }
            self.outcome.negotiations.push(Negotiation {
                submitter: self.submitters[who].name.to_string_lossy().into_owned(),
                schedd: self.submitters[who].schedd.to_string_lossy().into_owned(),
                priority: visit.priority,
                share: visit.share,
                limit: visit.limit,
                starved: visit.starved,
                passed: visit.passed,
                end: visit.end,
                pie: visit.pie,
                spin: visit.spin,
                group: group.clone(),
            });
        }
        let pie = |spin: &Spin| Pie { pie: spin.pie, spin: spin.spin, pie_left: spin.pie_left, group: group.clone() };
        self.outcome.pies.extend(history.spins.iter().map(pie));
        self.outcome.statistics.pies += history.pies;
        self.outcome.statistics.pie_spins += history.begun as usize;
    }

    /// Serves turns until there are none left.
    fn run(&mut self, members: &[usize], deal: &PieInput, turns: &mut dyn Turns) {
        let mut spin = (0, 0);
        // Ads of a submitter whose jobs are requested with those of another one, for as long as the pie lasts.
        let mut joined: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut singles = SingleTurns::default();
        while let Some(turn) =
            turns.next_suited(&mut |who, job, slot| self.suits(members[who], job, slot, &mut singles))
        {
            if turn.pie != spin.0 {
                joined.clear();
            }
            for (into, from) in turns.merged() {
                joined.entry(members[into]).or_default().push(members[from]);
            }
            let turn = Turn { who: members[turn.who], ..turn };
            if std::mem::replace(&mut spin, (turn.pie, turn.spin)) != spin {
                self.offers.forget();
            }
            let matches = self.outcome.matches.len();
            let spent = match turn.job {
                Some(job) => self.serve_one(&turn, job, &mut singles),
                None => {
                    let others = joined.get(&turn.who).map_or([].as_slice(), Vec::as_slice);
                    self.queue.join(turn.who, others);
                    let spent = self.serve(&turn, &mut singles);
                    self.queue.part(turn.who, others, self.submitters);
                    spent
                }
            };
            // Without a match usage is as it was.
            let charged = (turn.job.is_none() && self.outcome.matches.len() > matches).then(|| ChargedUsage {
                submitter: self.policy.standing(&self.submitters[turn.who].name).usage,
                group: deal.group.as_ref().map(|group| self.policy.group_usage(&group.name)),
            });
            turns.ended(spent, charged);
        }
        singles.leave(&mut self.queue);
        self.tell_left(spin.0.max(1), members, turns.equivalent_jobs(), &singles);
    }

    /// Serves one turn.
    fn serve(&mut self, turn: &Turn, singles: &mut SingleTurns) -> TurnResult {
        let mut session = Session::new(turn.allowance);
        let mut progress = TurnProgress::default();
        let mut serving: Option<ServedRequest> = None;
        let out_of_jobs = loop {
            if session.serve() == Serve::Nothing {
                break false;
            }
            let Some(mut current) = self.next(turn.who, serving.take(), &mut progress) else { break true };
            self.outcome.statistics.jobs_considered += 1;
            match self.offer(turn.who, &mut current.request, &session, singles) {
                Ok(offer) => {
                    progress.reached = self.offers.last_reached().into_iter().collect();
                    self.matched(turn, &mut current, offer, &mut session, &mut progress);
                    singles.changed();
                    serving = Some(current);
                }
                Err(mut refusal) => {
                    // Named as by `condor_negotiator`: together with those of the requests rejected just before.
                    if !refusal.untested {
                        progress.reached.clear();
                    }
                    progress.reached.extend(std::mem::take(&mut refusal.reached));
                    refusal.reached = progress.reached.iter().cloned().collect();
                    let Request { first, count, autocluster, .. } = current.request;
                    let jobs = if count > 1 { count - current.served } else { self.queue.alike(turn.who, first) };
                    self.rejected(turn, &current.request, jobs, &refusal);
                    progress.rejected.entry(autocluster).or_insert(progress.fetched);
                    if self.rules.knobs.significant.all_jobs_in_cluster {
                        progress.next = progress.next.max(first + 1);
                        if let Some(number) = self.queue.autocluster_number(turn.who, first) {
                            progress.rejected_numbers.entry(number).or_insert(progress.fetched);
                        }
                    }
                    let Tally { over_limit, beyond_share, preemption_not_required, prefers_its_job, .. } =
                        refusal.tally;
                    // The access point's jobs have what requests may lack.
                    let is_incomplete = self.rules.replaces_significant() && !self.queue.whole;
                    let fits_unclaimed = beyond_share + over_limit > 0 || is_incomplete;
                    let run = PassedRun { first, autocluster, fits_unclaimed };
                    if fits_unclaimed || preemption_not_required + prefers_its_job > 0 {
                        progress.passed.push(run);
                    }
                    progress.unserved.push(run);
                    // The verdicts on slots count, not the reason of the rejection; without any, those of the search before.
                    let passed_over = refusal.untested && self.offers.passed_over(turn.who);
                    if passed_over || refusal.tally.over_limit > 0 {
                        session.refused_for_limit();
                        let knobs = &self.rules.knobs.pie;
                        if !knobs.consider_preemption && !knobs.use_slot_weights {
                            break false;
                        }
                    }
                }
            }
        };
        self.queue.remove(turn.who, &progress.matched);
        session.spent(out_of_jobs, self.offers.left())
    }

    /// The best slot for a request, whose ad is made if it is needed.
    fn offer(
        &mut self,
        who: usize,
        request: &mut Request,
        session: &Session,
        singles: &mut SingleTurns,
    ) -> Result<Offer, Refusal> {
        if let Some(refusal) = self.known_refusal(who, request, singles) {
            self.offers.drop_candidates();
            return Err(refusal);
        }
        if self.offers.needs_ad(request.autocluster) {
            if request.ad.is_empty() {
                request.ad = self.queue.request_ad(who, request, &mut self.excerpts.borrow_mut());
            }
            self.insert_submitter_attributes(who, request);
        }
        let offer = self.offers.best(&self.search(who, request, session));
        if let Err(refusal) = &offer {
            self.keep_refusal(who, request, refusal, singles);
        }
        offer
    }

    /// The request to serve next: the same again while it has more jobs, then the next one.
    fn next(&self, who: usize, serving: Option<ServedRequest>, progress: &mut TurnProgress) -> Option<ServedRequest> {
        if let Some(serving) = serving {
            let Request { first, count, autocluster, .. } = serving.request;
            if serving.served < count {
                return Some(serving);
            }
            if (serving.idle_from..first + count).any(|place| !progress.matched.contains_key(&place)) {
                let run = PassedRun { first, autocluster, fits_unclaimed: true };
                progress.passed.push(run);
                progress.unserved.push(run);
            }
        }
        self.next_request(who, progress).map(ServedRequest::new)
    }

    /// The next request that is not skipped, as negotiator and access point agree on it
    /// (`docs/reference/negotiation.md` 8.3, 8.4).
    ///
    /// Lists are fetched from the access point, the first of them before the turn. That was a conversation of its own: the
    /// second list begins again with the first job, without those that were matched or rejected since. If the first list
    /// was not full, there is no second.
    fn next_request(&self, who: usize, progress: &mut TurnProgress) -> Option<Request> {
        let knobs = &self.rules.knobs.significant;
        let one_by_one = knobs.request_list_size == 1;
        loop {
            if progress.unread == 0 {
                progress.fetched += 1;
                progress.unread = knobs.request_list_size;
                // An access point that sends each job by itself does not know equal jobs: it continues after the
                // rejected one.
                if progress.fetched == 2 && knobs.prefetch && !(one_by_one && knobs.all_jobs_in_cluster) {
                    progress.next = 0;
                }
            }
            // An access point that treats each job as different does not recognize equal jobs. It numbers the jobs, and
            // takes the number of a rejected autocluster for that of a job.
            let is_skipped = |place: usize, autocluster: u32| {
                let rejected = match (knobs.all_jobs_in_cluster, one_by_one) {
                    (false, _) => progress.rejected.get(&autocluster),
                    (true, false) => progress.rejected_numbers.get(&self.queue.number(who, place)),
                    (true, true) => None,
                };
                // In an earlier list: what is in this one stays in it.
                let before = |list: &usize| *list < progress.fetched;
                rejected.is_some_and(before) || progress.matched.get(&place).is_some_and(before)
            };
            // With lists of one job, the access point lists jobs singly, but has readied the second of a conversation
            // before, which may be a run of several.
            let singly = one_by_one && !(knobs.request_counts && knobs.prefetch && progress.fetched == 2);
            let request = self.queue.run(who, progress.next, is_skipped, singly)?;
            progress.unread -= 1;
            // Jobs that get no claim are offered again by an access point that sends one job after another.
            progress.next = if one_by_one { request.first } else { request.first + request.count };
            if one_by_one || !progress.rejected.contains_key(&request.autocluster) {
                return Some(request);
            }
        }
    }

    /// The search of a slot for a request of a submitter, with what is left of its turn.
    pub(super) fn search<'s>(&self, who: usize, request: &'s Request, session: &'s Session) -> SlotSearch<'s>
    where
        'c: 's,
    {
        let submitter = &self.submitters[who];
        SlotSearch {
            request,
            session,
            submitter: who,
            name: &submitter.name,
            schedd: &submitter.schedd,
            protocols: self.protocols[who],
            serve: session.serve(),
            known: None,
        }
    }

    pub(super) fn matched(
        &mut self,
        turn: &Turn,
        serving: &mut ServedRequest,
        offer: Offer,
        session: &mut Session,
        progress: &mut TurnProgress,
    ) {
        let slot = self.offers.slot(offer.slot);
        let submitter = &self.submitters[turn.who];
        let displaced = match &slot.user {
            _ if offer.makes_room => Some(VARIOUS.to_owned()),
            user => user.as_ref().filter(|_| self.rules.trim.preemption).map(ToString::to_string),
        };
        let without_claim = slot.is_without_claim(self.settings);
        let offline = without_claim && slot.is_offline(self.settings);
        let user = if without_claim { None } else { self.job_for(turn.who, serving, slot, progress) };
        let place = user.unwrap_or(serving.request.first);
        // One that gets no claim stays idle, too; but if the slot stays in the list, it would be matched to it for ever.
        if user.is_some() || without_claim && slot.stays {
            progress.matched.insert(place, progress.fetched);
        }
        while progress.matched.contains_key(&serving.idle_from) {
            serving.idle_from += 1;
        }
        let room = offer.makes_room.then(|| self.offers.make_room(&offer)).flatten();
        let limits = self.offers.take(&offer, &serving.request, room.as_ref());
        // Counted by what is left of the slot. Jobs that are skipped because they are expected in it stay idle.
        let left = self.offers.slot(offer.slot);
        let enlarged = room.as_ref().filter(|_| left.consumption.is_none());
        // A consumption policy counts before `WantAdRevaluate`, and what it takes comes to an end.
        let stays = left.stays && left.consumption.is_none();
        serving.served += self.packed(&serving.request, enlarged.map_or(&left.ad, |room| &room.ad), stays);
        let released = room.map_or_else(Vec::new, |room| room.released);
        session.matched(offer.cost, displaced.is_some());
        let list = &self.queue.lists[turn.who];
        let ad = &self.queue.jobs[list[place].job].ad;
        let account = self.policy.account(ad, &self.offers.slot(offer.slot).ad);
        self.policy.matched(&submitter.name, account, offer.cost, self.settings.now);
        self.live.set(&submitter.name, self.policy.standing(&submitter.name).usage);
        if self.group.is_some() {
            let group = self.rules.groups.tree.group_of(&submitter.name);
            self.live.set(group, self.policy.group_usage(group));
        }
        let job = |place: usize| &self.queue.jobs[list[place].job];
        self.matched_slots.push(offer.slot as u32);
        self.outcome.matches.push(Match {
            job: job(place).id,
            schedd: job(place).schedd.clone(),
            place: turn.place,
            cluster: job(serving.request.first).id.cluster,
            submitter: submitter.name.to_string_lossy().into_owned(),
            slot: String::new(),
            preempting: offer.preempt_state,
            displaced,
            released,
            offline,
            unused: user.is_none(),
            limits: limits.map(|limits| String::from_utf8_lossy(&limits).into_owned()),
            weight: offer.cost,
            candidacy: Candidacy(ad.made()),
            pie: turn.pie,
            spin: turn.spin,
            group: self.group.as_ref().map(|group| group.name.clone()),
        });
    }

    /// The place of the job for which the access point uses a slot: the first of the request, if it is idle, else the first
    /// idle one of the submitter that fits (`docs/reference/negotiation.md` 8.6).
    fn job_for(&self, who: usize, serving: &ServedRequest, slot: &Slot, progress: &TurnProgress) -> Option<usize> {
        let request = &serving.request;
        let Request { first, count, autocluster, .. } = *request;
        let list = &self.queue.lists[who];
        let is_idle = |place: &usize| !progress.matched.contains_key(place);
        if is_idle(&first) {
            return Some(first);
        }
        let chosen = |place: &usize| is_idle(place) && self.uses(who, *place, request, slot);
        let by_policy = slot.consumption.is_some();
        let passed = if by_policy { &progress.unserved } else { &progress.passed };
        let may_fit = |run: &&PassedRun| by_policy || slot.user.is_some() || run.fits_unclaimed;
        for run in passed.iter().filter(may_fit) {
            let alike = list[run.first..].iter().take_while(|queued| queued.autocluster == run.autocluster).count();
            if let Some(place) = (run.first..run.first + alike).find(is_idle).filter(chosen) {
                return Some(place);
            }
        }
        let own = (serving.idle_from..first + count).find(is_idle).filter(chosen);
        own.or_else(|| {
            let mut tried: HashSet<u32> = [autocluster].into_iter().collect();
            let later = (first + count..list.len()).filter(is_idle);
            later.filter(|place| tried.insert(list[*place].autocluster)).find(chosen)
        })
    }

    /// Returns whether the access point uses a slot that was matched for a request for this job.
    fn uses(&self, who: usize, place: usize, request: &Request, slot: &Slot) -> bool {
        let list = &self.queue.lists[who];
        let ad = |place: usize| &*self.queue.jobs[list[place].job].ad;
        // The access point's job does not have what the negotiator adds to a request.
        let of_slot = || self.queue.significant.slots_require_standing() && requires_standing(&slot.ad);
        // The jobs of an autocluster agree in their Requirements and in what these refer to.
        let of_job = || {
            let mut known = self.require_standing.borrow_mut();
            *known.entry(list[place].autocluster).or_insert_with(|| requires_standing(ad(place)))
        };
        let standing = || of_slot() || of_job();
        // The limits of a match are those of the request, which may lack those of the job.
        let limits_known = self.queue.requests_limits();
        let is_equal = list[place].autocluster == request.autocluster && !self.rules.replaces_significant();
        // Nor is what it requests replaced by what a consumption policy takes.
        if is_equal && limits_known && slot.consumption.is_none() && !standing() {
            return slot.suits_equal_job(ad(place), self.settings);
        }
        let requested = if limits_known { ad(request.first) } else { &ClassAd::new() };
        slot.suits_other_job(ad(place), requested, self.settings)
    }

    /// The number of jobs of a request that the access point is expected to pack into a slot with this ad.
    fn packed(&self, request: &Request, slot: &ClassAd, stays: bool) -> usize {
        if !self.rules.knobs.matching.depth_first {
            return 1;
        }
        let amount = |ad, name: &str| AdReader::of(ad, self.settings).integer(name).unwrap_or(1);
        let fits = |has: &str, wants: &str| amount(slot, has) / amount(&request.ad, wants).max(1);
        // None if too little is left: then the job is matched once more, unless requests are not counted, or the slot stays in
        // the list and would be matched for ever.
        let least = i64::from(stays || !self.rules.knobs.significant.request_counts);
        fits("Cpus", "RequestCpus").min(fits("Memory", "RequestMemory")).max(least) as usize
    }

    /// Adds the rejection of a number of jobs of a request to the outcome.
    pub(super) fn rejected(&mut self, turn: &Turn, request: &Request, jobs: usize, refusal: &Refusal) {
        let first = &self.queue.jobs[self.queue.lists[turn.who][request.first].job];
        self.outcome.rejections.push(Rejected {
            job: first.id,
            schedd: first.schedd.clone(),
            jobs,
            submitter: self.submitters[turn.who].name.to_string_lossy().into_owned(),
            reason: refusal.rejection.reason(&refusal.reached),
            rejection: refusal.rejection,
            slots: refusal.tally,
            pie: turn.pie,
            spin: turn.spin,
            group: self.group.as_ref().map(|group| group.name.clone()),
        });
    }
}
