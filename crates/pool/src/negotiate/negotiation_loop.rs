//! The deal: serving one turn after another until nobody can be served.
//!
//! In: turns of a policy, requests, slots. Out: matches and rejections. Formula source: `docs/reference/negotiation.md` 7.5,
//! 8.3, 9.1.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use hashbrown::{HashMap, HashSet};

use crate::accountant::GroupOf;
use crate::negotiate::offer::{Offer, Refusal, RequestingSubmitter, VARIOUS};
use crate::negotiate::outcome::{Candidacy, Match, Negotiation, Outcome, Pie, Rejected};
use crate::negotiate::preemption::LiveUsage;
use crate::negotiate::rules::Rules;
use crate::negotiate::single::{SingleTurns, SubmitterJobs};
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use crate::pool::address::Protocols;
use crate::priority::session::Serve;
use crate::priority::{Claimant, PieHistory, PieInput, PriorityPolicy, Session, Spin, Turn, TurnResult, Turns};
use crate::queue::request::{Queue, Request};
use crate::queue::submitter::Submitter;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// The name of the group negotiated for when there are no groups.
const NO_GROUP: &str = "<none>";

/// Asked of every slot that is matched.
static OFFLINE: LazyLock<Name> = LazyLock::new(|| Name::new("Offline"));

/// A deal while it lasts.
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
    /// What is in use, for expressions that ask.
    pub live: &'c LiveUsage,
    /// Priorities and usage.
    pub policy: &'c mut dyn PriorityPolicy,
    /// What was decided so far.
    pub outcome: Outcome,
    /// The group that is negotiated for; none without groups.
    pub group: Option<NegotiatedGroup>,
    /// Submitters that were visited.
    pub seen: BTreeSet<usize>,
    /// Requests in the queue: runs of like jobs.
    pub requests: usize,
    /// The number of each submitter's access point.
    schedds: Vec<usize>,
}

/// The group that is negotiated for, as requests are told.
#[derive(Debug, Clone, Default)]
pub struct NegotiatedGroup {
    /// Its name.
    pub name: String,
    /// Whether members of groups compete here once more.
    pub autoregroup: bool,
    /// The quota of each group at this moment.
    pub quotas: Arc<Vec<f64>>,
}

/// The request being served.
pub(super) struct ServedRequest {
    pub(super) request: Request,
    /// Jobs of it that got a slot in this turn.
    pub(super) matched: usize,
}

/// What has happened in a turn.
#[derive(Default)]
pub(super) struct TurnProgress {
    /// Where the next request is looked for in the submitter's list.
    next: usize,
    /// Autoclusters that got no slot; they are not offered again in this turn.
    rejected: HashSet<u32>,
    /// Places in the submitter's list of the jobs that got a slot.
    matched: HashSet<usize>,
    /// Concurrency limits that refused the requests before this one, as long as no slot was looked at.
    reached: BTreeSet<String>,
}

impl<'c> NegotiationLoop<'c> {
    /// A deal in which nothing was decided yet.
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
        // So they do not move while they grow; memory that nothing is written to costs nothing.
        let outcome = Outcome {
            matches: Vec::with_capacity(waiting.min(offers.left())),
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
            group: None,
            seen: BTreeSet::new(),
            requests,
            schedds,
        }
    }

    /// Deals to some of the submitters. Returns those who have nothing more to be served, and the number of the next pie.
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
        self.run(members, &mut *turns);
        self.record(members, turns.history());
        let history = turns.history();
        (history.left.iter().map(|&who| members[who]).collect(), deal.first_pie + history.pies)
    }

    /// Notes what the turns have to tell.
    fn record(&mut self, members: &[usize], history: &PieHistory) {
        let group = self.group.as_ref().map(|group| group.name.clone());
        for visit in &history.visits {
            let who = members[visit.who];
            self.seen.insert(who);
            self.outcome.negotiations.push(Negotiation {
                submitter: self.submitters[who].name.to_string(),
                schedd: self.submitters[who].schedd.to_string(),
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
    fn run(&mut self, members: &[usize], turns: &mut dyn Turns) {
        let mut spin = (0, 0);
        let mut singles = SingleTurns::default();
        while let Some(turn) =
            turns.next_suited(&mut |who, job, slot| self.suits(members[who], job, slot, &mut singles))
        {
            for (into, from) in turns.merged() {
                self.queue.merge(members[into], members[from]);
            }
            let turn = Turn { who: members[turn.who], ..turn };
            if std::mem::replace(&mut spin, (turn.why.pie, turn.why.spin)) != spin {
                self.offers.forget();
            }
            let spent = match turn.job {
                Some(job) => self.serve_one(&turn, job, &mut singles),
                None => self.serve(&turn),
            };
            turns.ended(spent);
        }
        singles.leave(&mut self.queue);
        self.tell_left(spin.0.max(1), members, &turns.equivalent_jobs(), &singles);
    }

    /// Serves one turn.
    fn serve(&mut self, turn: &Turn) -> TurnResult {
        let mut session = Session::new(turn.allowance);
        let mut progress = TurnProgress::default();
        let mut serving: Option<ServedRequest> = None;
        let out_of_jobs = loop {
            let serve = session.serve();
            if serve == Serve::Nothing {
                break false;
            }
            let Some(mut current) = self.next(turn.who, serving.take(), &mut progress) else { break true };
            self.outcome.statistics.jobs_considered += 1;
            if self.offers.needs_ad(current.request.autocluster) {
                self.insert_submitter_attributes(turn.who, &mut current.request);
            }
            match self.find(turn, serve, &current.request, &session) {
                Ok(offer) => {
                    progress.reached.clear();
                    self.matched(turn, &mut current, offer, &mut session, &mut progress);
                    serving = Some(current);
                }
                Err(mut refusal) => {
                    // As the reference names them: with those of the requests that were refused just before.
                    if !refusal.untested {
                        progress.reached.clear();
                    }
                    progress.reached.extend(std::mem::take(&mut refusal.reached));
                    refusal.reached = progress.reached.iter().cloned().collect();
                    self.rejected(turn, &current, &refusal);
                    // A list is searched by the negotiator, which skips like jobs; asked for one job at a time, the
                    // access point does.
                    let significant = &self.rules.knobs.significant;
                    if significant.request_list_size > 1 || !significant.all_jobs_in_cluster {
                        progress.rejected.insert(current.request.autocluster);
                    }
                    // Whatever the reason that is told, and with no slot looked at, whatever became of those before.
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

    /// The request to serve next: the same again while it stands for more jobs, then the next one.
    fn next(&self, who: usize, serving: Option<ServedRequest>, progress: &mut TurnProgress) -> Option<ServedRequest> {
        if let Some(serving) = serving
            && serving.matched < serving.request.count
        {
            return Some(serving);
        }
        let mut request = self.queue.run(who, progress.next, &progress.rejected)?;
        if self.offers.needs_ad(request.autocluster) {
            request.ad = self.queue.request_ad(who, &request);
        }
        progress.next = request.first + request.count;
        Some(ServedRequest { request, matched: 0 })
    }

    /// Tells the request who asks and how they stand at this moment.
    pub(super) fn insert_submitter_attributes(&self, who: usize, request: &mut Request) {
        let submitter = &self.submitters[who].name;
        insert_submitter_attributes(&mut request.ad, submitter, &*self.policy, self.rules, self.group.as_ref());
    }

    pub(super) fn find(
        &mut self,
        turn: &Turn,
        serve: Serve,
        request: &Request,
        session: &Session,
    ) -> Result<Offer, Refusal> {
        let requester = self.requester(turn.who, serve);
        self.offers.best(request, &requester, session)
    }

    /// Who asks for a slot.
    pub(super) fn requester(&self, who: usize, serve: Serve) -> RequestingSubmitter<'c> {
        let submitter = &self.submitters[who];
        RequestingSubmitter {
            submitter: who,
            name: &submitter.name,
            schedd: &submitter.schedd,
            protocols: Protocols::of(&submitter.address),
            serve,
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
        let place = serving.request.first + serving.matched;
        let name = slot.name.to_string_lossy().into_owned();
        let displaced = match &slot.user {
            _ if offer.makes_room => Some(VARIOUS.to_owned()),
            user => user.as_ref().filter(|_| self.rules.trim.preemption).map(ToString::to_string),
        };
        let offline = AdReader::of(&slot.ad, self.settings).truth(*OFFLINE) == Some(true);
        let packed = self.packed(&serving.request, slot).min(serving.request.count - serving.matched);
        progress.matched.extend(place..place + packed);
        serving.matched += packed;
        let released = if offer.makes_room { self.offers.make_room(&offer) } else { Vec::new() };
        let limits = self.offers.take(&offer, &serving.request);
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
        let job = |place: usize| self.queue.jobs[list[place].job].id;
        self.outcome.matches.push(Match {
            job: job(place),
            place: turn.place,
            cluster: job(serving.request.first).cluster,
            submitter: submitter.name.to_string_lossy().into_owned(),
            slot: name,
            preempting: offer.preempt_state,
            displaced,
            released,
            offline,
            limits: limits.map(|limits| String::from_utf8_lossy(&limits).into_owned()),
            weight: offer.cost,
            candidacy: Candidacy(ad.made()),
            pie: turn.why.pie,
            spin: turn.why.spin,
            group: self.group.as_ref().map(|group| group.name.clone()),
        });
    }

    /// How many jobs of a request the access point is expected to pack into a slot.
    fn packed(&self, request: &Request, slot: &Slot) -> usize {
        if !self.rules.knobs.matching.depth_first {
            return 1;
        }
        let amount = |ad, name: &str| AdReader::of(ad, self.settings).integer(name).unwrap_or(1);
        let fits = |has: &str, wants: &str| amount(&slot.ad, has) / amount(&request.ad, wants).max(1);
        // At least the job itself: the reference would match it again and again.
        fits("Cpus", "RequestCpus").min(fits("Memory", "RequestMemory")).max(1) as usize
    }

    pub(super) fn rejected(&mut self, turn: &Turn, serving: &ServedRequest, refusal: &Refusal) {
        let request = &serving.request;
        let list = &self.queue.lists[turn.who];
        self.outcome.rejections.push(Rejected {
            job: self.queue.jobs[list[request.first].job].id,
            jobs: request.count - serving.matched,
            submitter: self.submitters[turn.who].name.to_string(),
            reason: refusal.rejection.reason(&refusal.reached),
            rejection: refusal.rejection,
            slots: refusal.tally,
            pie: turn.why.pie,
            spin: turn.why.spin,
            group: self.group.as_ref().map(|group| group.name.clone()),
        });
    }
}

/// Tells a request who asks and how they stand before the first turn.
pub(super) fn insert_submitter_attributes_at_start(
    ad: &mut ClassAd,
    submitter: &[u8],
    policy: &dyn PriorityPolicy,
    rules: &Rules,
) {
    let negotiating = (!rules.groups.tree.is_empty()).then(NegotiatedGroup::default);
    insert_submitter_attributes(ad, submitter, policy, rules, negotiating.as_ref());
}

/// Tells a request who asks and how they stand.
fn insert_submitter_attributes(
    ad: &mut ClassAd,
    submitter: &[u8],
    policy: &dyn PriorityPolicy,
    rules: &Rules,
    negotiating: Option<&NegotiatedGroup>,
) {
    let standing = policy.standing(submitter);
    ad.insert("SubmitterNegotiatingGroup", negotiating.map_or(NO_GROUP, |group| &group.name));
    ad.insert("SubmitterAutoregroup", negotiating.is_some_and(|group| group.autoregroup));
    if let Some(NegotiatedGroup { quotas, .. }) = negotiating {
        let tree = &rules.groups.tree;
        let at = tree.of(submitter);
        let name = &tree.groups()[at].name;
        ad.insert("SubmitterGroup", Value::Str(Text::new(name)));
        ad.insert("SubmitterGroupResourcesInUse", policy.group_usage(name));
        ad.insert("SubmitterGroupQuota", quotas.get(at).copied().unwrap_or(0.0));
    }
    ad.insert("SubmittorPrio", standing.priority);
    ad.insert("SubmitterUserPrio", standing.priority);
    ad.insert("SubmitterUserResourcesInUse", standing.usage);
}
