//! Slurm's priorities as a policy: jobs are served in their total order.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 2.6, 10.2.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use hashbrown::HashMap;

use super::billing::billing;
use super::candidate::{Requester, SlurmJob, Standpoint, held_until, partitions, qos_of};
use super::factor::{ClusterSize, JobFacts, Maxima, Scale, recomputed};
use super::ledger::{Running, UsageLedger};
use super::machines::{partitions_of, plain_tres};
use super::order::JobOrderKey;
use super::settings::SlurmSettings;
use super::{Figures, ROOT, SlurmNodes, figures};
use crate::accountant::GroupOf;
use crate::accountant::usage::{Account, SlotInUse};
use crate::pool::ad_reader::AdReader;
use crate::priority::{
    Allowance, ChargedUsage, Claimant, Opening, PieHistory, PieInput, PriorityPolicy, Standing, Turn, TurnResult,
    Turns, Visit, Waiting,
};
use crate::queue::Job;
use crate::queue::job::{JobId, shared_part};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;
use classmate::internal::value::Value;
use classmate_config::internal::config::slurm::Shares;

/// Slurm's multifactor priority over a pool.
pub struct SlurmPriority {
    settings: Arc<SlurmSettings>,
    machines: SlurmNodes,
    evaluation: EvalOptions,
    groups: Arc<dyn GroupOf + Send + Sync>,
    ledger: UsageLedger,
    figures: Vec<Figures>,
    /// Submitters that used something, by number.
    known: Vec<ActiveSubmitter>,
    by_name: HashMap<Vec<u8>, usize>,
    /// Billing in use by submitter, including matches of this cycle; in the order of first sight.
    used: Vec<(usize, f64)>,
    /// Submitters charged last for the slots, in their order.
    charged_last: Vec<usize>,
    /// Priorities of earlier cycles, for `INCR_ONLY`.
    before: Mutex<HashMap<(JobId, String), u32>>,
    /// Candidates of earlier jobs, by the address of the part of their ads that they share with others.
    seen: Mutex<HashMap<usize, SeenCandidate>>,
}

/// Number of shared parts of ads that are remembered.
const MAX_SEEN: usize = 4096;

/// A candidate that is that of other jobs too, except for their numbers and times.
struct SeenCandidate {
    /// Kept, so that no other ad has its address.
    _shared: Arc<ClassAd>,
    candidate: Arc<SlurmJob>,
}

/// A submitter that used something.
struct ActiveSubmitter {
    name: Vec<u8>,
    association: Option<usize>,
    /// Its place among those with current usage.
    place: Option<usize>,
}

impl SlurmPriority {
    /// The policy over a pool.
    pub fn new(settings: &SlurmSettings, opening: &Opening<'_>) -> Self {
        let machines = SlurmNodes::of(opening.slots.iter().map(|slot| &slot.ad), settings.conf(), opening.settings);
        Self {
            ledger: UsageLedger::new(settings, &opening.settings.zone.time_zone()),
            figures: Standpoint::figures(settings, &machines),
            settings: Arc::new(settings.clone()),
            machines,
            evaluation: opening.settings.clone(),
            groups: Arc::clone(&opening.groups),
            known: Vec::new(),
            by_name: HashMap::new(),
            used: Vec::new(),
            charged_last: Vec::new(),
            before: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The association of a submitter whose jobs are not known.
    fn association(&self, submitter: &[u8]) -> Option<usize> {
        if let Some(&known) = self.by_name.get(submitter) {
            return self.known[known].association;
        }
        let tree = self.ledger.tree();
        let asker = Requester::of_submitter(submitter, tree);
        tree.find_user_anywhere(asker.account(tree), &asker.user)
    }

    /// The association a use by a submitter, given by its number, is charged to.
    fn charged_to(&self, account: Account, number: usize) -> Option<usize> {
        match account {
            Account::Number(association) => Some(association),
            Account::Unknown => None,
            Account::Submitter => self.known[number].association,
        }
    }

    /// The shares of an association out of the whole tree: its part of its level, times that of its account, and so on.
    fn share_of_tree(&self, association: usize) -> f64 {
        let nodes = self.ledger.tree().nodes();
        let mut at = association;
        let mut share = 1.0;
        while at != ROOT {
            // An association with the shares of its account has no share of its own.
            if nodes[at].shares != Shares::Parent {
                share *= nodes[at].share_of_level();
            }
            at = nodes[at].fair_share_parent;
        }
        share
    }

    /// The number of a submitter, which is new if it never used anything.
    fn number(&mut self, submitter: &[u8]) -> usize {
        if let Some(&known) = self.by_name.get(submitter) {
            return known;
        }
        let association = self.association(submitter);
        self.by_name.insert(submitter.to_vec(), self.known.len());
        self.known.push(ActiveSubmitter { name: submitter.to_vec(), association, place: None });
        self.known.len() - 1
    }

    fn uses(&mut self, number: usize, weight: f64) {
        let place = *self.known[number].place.get_or_insert_with(|| {
            self.used.push((number, 0.0));
            self.used.len() - 1
        });
        self.used[place].1 += weight;
    }

    /// Calls a function with the first candidate of a job, if it has one.
    fn with_candidate(&self, standpoint: &Standpoint<'_>, job: &Job<'_>, look: impl FnOnce(&Arc<SlurmJob>)) {
        let made = || standpoint.candidates(&job.ad, &self.evaluation).into_iter().next().map(Arc::new);
        // With a partition there is an ad for each, which has that of its own.
        let shared = shared_part(&job.ad).filter(|_| job.ad.made().is_none());
        let shared = shared.and_then(|shared| Some((shared, self.seen.lock().ok()?)));
        let Some((shared, mut seen)) = shared else {
            if let Some(candidate) = made() {
                look(&candidate);
            }
            return;
        };
        let address = Arc::as_ptr(shared) as usize;
        if let Some(known) = seen.get_mut(&address) {
            let facts = AdReader::of(&job.ad, &self.evaluation);
            standpoint.renew(Arc::make_mut(&mut known.candidate), (job.id, facts), self.evaluation.now);
            look(&known.candidate);
        } else if let Some(candidate) = made() {
            look(&candidate);
            if seen.len() >= MAX_SEEN {
                seen.clear();
            }
            seen.insert(address, SeenCandidate { _shared: Arc::clone(shared), candidate });
        }
    }

    fn factor(&self, association: usize) -> f64 {
        self.figures[association].factor.unwrap_or(0.0)
    }

    /// The partition in which a job uses a slot: of those it may run in, the first that the slot lists.
    fn partition(&self, job: &ClassAd, slot: &ClassAd) -> Option<String> {
        let mut names = partitions(job, &self.settings, &self.evaluation);
        if names.len() > 1 {
            let listed = partitions_of(slot, self.settings.conf(), &self.evaluation);
            let lists = |name: &String| listed.iter().any(|one| one.eq_ignore_ascii_case(name));
            let at = names.iter().position(lists).unwrap_or(0);
            names.swap(0, at);
        }
        names.into_iter().next()
    }
}

impl PriorityPolicy for SlurmPriority {
    fn charge(&mut self, in_use: &[SlotInUse<'_>], now: i64) {
        for (number, _) in self.used.drain(..) {
            self.known[number].place = None;
        }
        // The clock of a cycle is that of its priorities.
        self.evaluation.now = now;
        let mut running = Vec::with_capacity(in_use.len());
        let before = std::mem::replace(&mut self.charged_last, Vec::with_capacity(in_use.len()));
        for (at, slot) in in_use.iter().enumerate() {
            // Mostly the same submitters have slots as before.
            let same = before.get(at).copied().filter(|known| self.known[*known].name == slot.submitter);
            let number = same.unwrap_or_else(|| self.number(slot.submitter));
            self.charged_last.push(number);
            self.uses(number, slot.weight);
            let association = self.charged_to(slot.account, number);
            if let Some(association) = association.filter(|_| !slot.suspended) {
                running.push(Running { association, billing: slot.weight });
            }
        }
        if self.ledger.end_periods(now) {
            // What ended after the period counts in the next one.
            self.figures = figures(self.ledger.tree(), self.settings.algorithm(self.machines.cluster));
        }
        self.ledger.advance(&running, now);
    }

    fn asks_jobs(&self) -> bool {
        true
    }

    /// The association of the job's user in its account, for the partition it runs in if there is such a one.
    fn account(&self, job: &ClassAd, slot: &ClassAd) -> Account {
        let tree = self.ledger.tree();
        let asker = Requester::of_job(AdReader::of(job, &self.evaluation), tree);
        let association = asker.association(tree, self.partition(job, slot).as_deref());
        association.map_or(Account::Unknown, Account::Number)
    }

    /// Billing of what the slot provides by the prices of the job's partition, times the factor of its QOS. Where the job is
    /// not known, the prices are those of the first partition of the slot that has any, and the slot may show the QOS.
    fn cost(&self, job: Option<&ClassAd>, slot: &ClassAd, weight: f64) -> f64 {
        let conf = self.settings.conf();
        let prices = match job {
            Some(job) => self.partition(job, slot).and_then(|name| conf.partition(&name)?.billing.as_ref()),
            None => {
                let partitions = partitions_of(slot, conf, &self.evaluation);
                partitions.iter().find_map(|name| conf.partition(name)?.billing.as_ref())
            }
        };
        let facts = AdReader::of(slot, &self.evaluation);
        let name = match job {
            Some(job) => Some(qos_of(AdReader::of(job, &self.evaluation))),
            None => facts.string("QOS").map(|name| String::from_utf8_lossy(&name).to_lowercase()),
        };
        let factor = name.and_then(|name| self.settings.qos(&name)).map_or(1.0, |qos| qos.usage_factor);
        let Some(prices) = prices else { return weight * factor };
        let amount = |name: &str| facts.number(name).filter(|amount| amount.is_finite()).unwrap_or(0.0);
        let provided = plain_tres([amount("Cpus"), amount("Memory"), 1.0, amount("GPUs")]);
        billing(&provided, Some(prices), conf.flags.billing) * factor
    }

    /// Lower is better: what the fair-share factor lacks to 1.
    fn standing(&self, submitter: &[u8]) -> Standing {
        let factor = self.association(submitter).map_or(0.0, |association| self.factor(association));
        let place = self.by_name.get(submitter).and_then(|&known| self.known[known].place);
        let usage = place.map_or(0.0, |place| self.used[place].1);
        Standing { priority: 1.0 - factor, usage, floor: 0 }
    }

    fn group_usage(&self, group: &[u8]) -> f64 {
        let in_group = |(number, _): &&(usize, f64)| self.groups.group_of(&self.known[*number].name) == group;
        self.used.iter().filter(in_group).map(|(_, usage)| usage).sum()
    }

    fn matched(&mut self, submitter: &[u8], account: Account, weight: f64, now: i64) {
        let number = self.number(submitter);
        self.uses(number, weight);
        if let Some(association) = self.charged_to(account, number) {
            self.ledger.begin(Running { association, billing: weight }, now);
        }
    }

    fn in_use(&self) -> Vec<(&[u8], f64)> {
        self.used.iter().map(|(number, usage)| (self.known[*number].name.as_slice(), *usage)).collect()
    }

    /// Accounts take the place of groups: who is over its share waits, and nothing is set aside.
    fn divides_among_groups(&self) -> bool {
        false
    }

    fn candidacies(&self, job: &ClassAd) -> Option<Vec<ClassAd>> {
        let partitions = partitions(job, &self.settings, &self.evaluation);
        if partitions.is_empty() { None } else { Some(partitions.iter().map(|name| candidacy(job, name)).collect()) }
    }

    fn holds_back(&self, job: &ClassAd) -> bool {
        held_until(AdReader::of(job, &self.evaluation), self.evaluation.now).is_some()
    }

    fn begin(&self, claimants: &[Claimant], waiting: &dyn Waiting, deal: &PieInput) -> Box<dyn Turns> {
        let standpoint = Standpoint::new(&self.settings, &self.machines, self.ledger.tree(), &self.figures);
        let increase_only = self.settings.conf().flags.increase_only;
        let (mut jobs, mut lines, mut visits) = (Vec::new(), Vec::new(), Vec::new());
        for who in 0..claimants.len() {
            let before = jobs.len();
            // A submitter may have jobs in several accounts, and has the best of their priorities.
            let mut associations = BTreeSet::new();
            for (number, job) in waiting.jobs(who) {
                self.with_candidate(&standpoint, job, |candidate| {
                    let mut priority = standpoint.terms(candidate).priority;
                    if increase_only && let Ok(mut before) = self.before.lock() {
                        let key = (candidate.id, candidate.partition.clone());
                        let kept = before.entry(key).or_default();
                        *kept = recomputed(*kept, priority, true);
                        priority = *kept;
                    }
                    if priority > 0 {
                        associations.extend(candidate.association);
                        let line = waiting.behind(job).map(|behind| {
                            let (candidate, next) = (Arc::clone(candidate), Arc::clone(&behind.next));
                            lines.push(RankedLine { candidate, next, followed: 0 });
                            lines.len() - 1
                        });
                        jobs.push(RankedJob { key: candidate.key(priority), who, number, line });
                    }
                });
            }
            if jobs.len() > before {
                let best = associations.iter().map(|&at| self.factor(at)).fold(0.0, f64::max);
                let share = associations.iter().map(|&at| self.share_of_tree(at)).sum();
                visits.push(Visit::of_jobs(who, deal, 1.0 - best, share));
            }
        }
        jobs.sort_by(|one, other| one.key.compare(&other.key));
        jobs.reverse();
        let history = PieHistory { left: (0..claimants.len()).collect(), ..PieHistory::of_jobs(deal, visits) };
        let size = (self.machines.cluster, standpoint.maxima());
        let settings = Arc::clone(&self.settings);
        Box::new(InOrder { jobs, lines, served: None, settings, size, pie: deal.first_pie, history })
    }
}

/// The ad of a job in one of its partitions: it takes only slots that list that.
fn candidacy(job: &ClassAd, partition: &str) -> ClassAd {
    let mut ad = job.clone();
    let name = Value::Str(partition.into());
    if let Some(requirements) = job.get("Requirements") {
        let own = requirements.to_text(Style::New);
        let listed = format!(
            "(member({name}, TARGET.PartitionName) =?= true || stringListIMember({name}, TARGET.PartitionName) =?= true)"
        );
        let both = [b"(", own.as_slice(), b") && ", listed.as_bytes()].concat();
        let options = ParseOptions { semantics: requirements.tree().semantics, ..ParseOptions::default() };
        if let Ok(both) = parse_expr(&both, &options) {
            ad.insert_expr("Requirements", &both);
        }
    }
    ad.insert("PartitionName", name);
    ad
}

/// A job of a deal.
#[derive(Clone, Copy)]
struct RankedJob {
    key: JobOrderKey<JobId>,
    /// Its claimant.
    who: usize,
    /// Its number in the deal.
    number: usize,
    /// The jobs that it stands for, if there are any.
    line: Option<usize>,
}

/// Jobs that a listed one stands for.
struct RankedLine {
    candidate: Arc<SlurmJob>,
    next: Arc<[(JobId, i64)]>,
    /// Number of them that are in the order already.
    followed: usize,
}

/// The turns of a deal: one for each job, in order. Once a job that stands for others has got a slot, the next of these has a
/// turn, too.
struct InOrder {
    /// The jobs, the next one last.
    jobs: Vec<RankedJob>,
    lines: Vec<RankedLine>,
    /// The job of the last turn.
    served: Option<RankedJob>,
    settings: Arc<SlurmSettings>,
    /// The size of the cluster, and its largest values.
    size: (ClusterSize, Maxima),
    pie: u32,
    history: PieHistory,
}

impl InOrder {
    /// Puts the next of the jobs that a job stood for into the order.
    fn follow(&mut self, served: RankedJob) {
        let line = served.line.and_then(|at| self.lines.get_mut(at));
        let Some(line) = line else { return };
        let Some(&(id, submitted)) = line.next.get(line.followed) else { return };
        line.followed += 1;
        let known = &line.candidate.facts;
        let facts = JobFacts { accrues_since: known.accrues_since.map(|_| submitted), ..known.clone() };
        let (cluster, maxima) = self.size;
        let priority = facts.terms(&Scale::of(self.settings.conf(), cluster, maxima)).priority;
        if priority > 0 {
            let job = RankedJob { key: JobOrderKey { priority, submitted, id, ..served.key }, ..served };
            let place = self.jobs.partition_point(|other| other.key.compare(&job.key).is_gt());
            self.jobs.insert(place, job);
        }
    }
}

impl Turns for InOrder {
    fn next_turn(&mut self) -> Option<Turn> {
        let RankedJob { who, number, line, .. } = *self.served.insert(self.jobs.pop()?);
        Some(Turn {
            slot: None,
            who,
            job: Some(number),
            place: line.map(|_| 0),
            allowance: Allowance::UNLIMITED,
            pie: self.pie,
            spin: 1,
        })
    }

    fn ended(&mut self, spent: TurnResult, _: Option<ChargedUsage>) {
        // The jobs behind one that got no slot would get none.
        if let Some(served) = self.served.take().filter(|_| spent.weight > 0.0) {
            self.follow(served);
        }
    }

    fn history(&self) -> &PieHistory {
        &self.history
    }
}
