//! Jobs as Slurm sees them: requester, partition, requested resources.
//!
//! In: ads of jobs. Out: a candidate for each partition a job names. Formula source:
//! `docs/reference/slurm-multifactor.md` 10.2.

use std::sync::LazyLock;

use super::billing::add_billing;
use super::factor::{FactorTerms, JobFacts, Maxima, Scale};
use super::machines::{
    GENERIC, PLAIN, PartitionNodes, SlurmNodes, generic_resources, given_tres, named_partitions, plain_tres,
};
use super::order::JobOrderKey;
use super::running::RESOURCES;
use super::settings::SlurmSettings;
use super::{AssociationTree, Figures, figures, figures_at_first};
use crate::pool::ad_reader::AdReader;
use crate::priority::ranking::{HeldBack, HeldUntil};
use crate::queue::job::JobId;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate_config::internal::config::slurm::{Duration, INFINITE, Partition, PriorityFlags, TresWeights};

/// The values of `JobStatus`.
const IDLE: i64 = 1;
const RUNNING: i64 = 2;
const COMPLETED: i64 = 4;
const HELD: i64 = 5;
const TRANSFERRING: i64 = 6;
const SUSPENDED: i64 = 7;

// Attributes that are read of every job in every cycle.
static STATUS: LazyLock<Name> = LazyLock::new(|| Name::new("JobStatus"));
static SUBMITTED: LazyLock<Name> = LazyLock::new(|| Name::new("QDate"));
static ENTERED: LazyLock<Name> = LazyLock::new(|| Name::new("EnteredCurrentStatus"));
static BEGINS: LazyLock<Name> = LazyLock::new(|| Name::new("SlurmBeginTime"));
static DURATION: LazyLock<Name> = LazyLock::new(|| Name::new("AllowedJobDuration"));
static DIRECT: LazyLock<Name> = LazyLock::new(|| Name::new("SlurmPriority"));

/// A job in one of its partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct SlurmJob {
    /// Its number.
    pub id: JobId,
    /// Submission time, epoch seconds.
    pub submitted: i64,
    /// The user, lower case.
    pub user: String,
    /// The account, lower case; empty if there is none.
    pub account: String,
    /// The partition; empty if the job names none and there is no default.
    pub partition: String,
    /// `PriorityTier` of the partition.
    pub tier: u16,
    /// The quality of service, lower case.
    pub qos: String,
    /// The number of its association, if it has one.
    pub association: Option<usize>,
    /// True in the partition that the job names first.
    pub primary: bool,
    /// The inputs of its factors.
    pub facts: JobFacts,
}

/// Facts that the clock and the age of a job decide.
struct AgeFacts {
    submitted: i64,
    accrues_since: Option<i64>,
    held: bool,
}

/// The requester: a user, in an account if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    /// The user, lower case.
    pub user: String,
    /// The account, lower case.
    pub account: Option<String>,
}

impl Requester {
    /// The association that a job is charged to.
    pub fn of_job(facts: AdReader<'_>, tree: &AssociationTree) -> Self {
        let text = |name: &str| {
            let text = facts.string(name).filter(|text| !text.is_empty())?;
            Some(String::from_utf8_lossy(&text).to_lowercase())
        };
        let owner = || {
            let user = text("Owner").or_else(|| text("User")).unwrap_or_default();
            user.split('@').next().unwrap_or_default().to_owned()
        };
        let leaf = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let mut asker = if let Some(path) = text("AccountingGroup") {
            Self::of_path(&path, tree, owner)
        } else if let Some(group) = text("AcctGroup") {
            Self { user: text("AcctGroupUser").unwrap_or_else(owner), account: Some(leaf(&group)) }
        } else {
            Self { user: owner(), account: None }
        };
        if let Some(account) = text("SlurmAccount") {
            asker.account = Some(account);
        }
        asker
    }

    /// User and account in the name of a submitter, `a.b.user@domain`.
    pub fn of_submitter(name: &[u8], tree: &AssociationTree) -> Self {
        let name = String::from_utf8_lossy(name).to_lowercase();
        let path = name.split('@').next().unwrap_or_default();
        Self::of_path(path, tree, String::new)
    }

    /// `a.b.user`; a single name is that of an account if there is such an account and an owner, or of a user if not.
    fn of_path(path: &str, tree: &AssociationTree, owner: impl FnOnce() -> String) -> Self {
        let path = path.split('@').next().unwrap_or_default();
        if let Some((accounts, user)) = path.rsplit_once('.') {
            let account = accounts.rsplit('.').next().unwrap_or_default();
            return Self { user: user.to_owned(), account: Some(account.to_owned()) };
        }
        if tree.find_account(path).is_some() {
            let owner = owner();
            if !owner.is_empty() {
                return Self { user: owner, account: Some(path.to_owned()) };
            }
        }
        Self { user: path.to_owned(), account: None }
    }

    /// The account: the one named, else the default of the user; empty if there is none.
    pub fn account<'a>(&'a self, tree: &'a AssociationTree) -> &'a str {
        self.account.as_deref().or_else(|| tree.default_account(&self.user)).unwrap_or_default()
    }

    /// The number of the association.
    pub fn association(&self, tree: &AssociationTree, partition: Option<&str>) -> Option<usize> {
        tree.find_user(self.account(tree), &self.user, partition)
    }
}

/// The inputs of priorities: settings, machines, and the figures of the tree at a moment.
#[derive(Debug, Clone)]
pub struct Standpoint<'a> {
    settings: &'a SlurmSettings,
    machines: &'a SlurmNodes,
    tree: &'a AssociationTree,
    figures: &'a [Figures],
    maxima: Maxima,
    /// Generic resources that have a weight.
    generic: Vec<&'a str>,
}

impl<'a> Standpoint<'a> {
    /// The standpoint of a tree whose figures are known.
    pub fn new(
        settings: &'a SlurmSettings,
        machines: &'a SlurmNodes,
        tree: &'a AssociationTree,
        figures: &'a [Figures],
    ) -> Self {
        let qos = settings.files().qos.iter().map(|qos| qos.priority).max().unwrap_or(0);
        let factors = machines.partitions.iter().map(|division| division.partition.job_factor);
        let maxima = Maxima {
            job_factor: f64::from(factors.max().unwrap_or(1).max(1)),
            qos: f64::from(qos),
            association: f64::from(tree.max_priority()),
        };
        let generic = generic_resources(settings.conf());
        Self { settings, machines, tree, figures, maxima, generic }
    }

    /// The figures of the settings' tree in a cluster.
    pub fn figures(settings: &SlurmSettings, machines: &SlurmNodes) -> Vec<Figures> {
        figures(settings.tree(), settings.algorithm(machines.cluster))
    }

    /// The figures of the settings' tree in a cluster with these jobs, as the options want them.
    pub fn figures_of(
        settings: &SlurmSettings,
        machines: &SlurmNodes,
        jobs: &[ClassAd],
        evaluation: &EvalOptions,
    ) -> Vec<Figures> {
        if !settings.files().options.first_look {
            return Self::figures(settings, machines);
        }
        let tree = settings.tree();
        let mut asked = vec![false; tree.nodes().len()];
        for ad in jobs {
            let facts = AdReader::of(ad, evaluation);
            let looked_at = facts.integer("JobStatus") == Some(IDLE) && facts.integer("SlurmPriority") != Some(0);
            let partition = partitions(ad, settings, evaluation).into_iter().next();
            let association = Requester::of_job(facts, tree).association(tree, partition.as_deref());
            if let Some(at) = association.filter(|_| looked_at) {
                asked[at] = true;
            }
        }
        figures_at_first(tree, settings.algorithm(machines.cluster), &asked)
    }

    /// A job in each of its partitions, those of a higher tier first; none if it has no number.
    pub fn candidates(&self, ad: &ClassAd, settings: &EvalOptions) -> Vec<SlurmJob> {
        let facts = AdReader::of(ad, settings);
        let Some(id) = JobId::of(facts) else { return Vec::new() };
        let partitions = partitions(ad, self.settings, settings);
        let Some(primary) = partitions.first() else {
            return vec![self.candidate(id, (None, None), facts, settings.now)];
        };
        // The partition it names first decides its size and its bill in all of them.
        let primary = self.machines.partition(primary).map(|division| &division.partition);
        let in_one = |name: &String| self.candidate(id, (Some(name), primary), facts, settings.now);
        let mut candidates: Vec<SlurmJob> = partitions.iter().map(in_one).collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.tier));
        candidates
    }

    fn candidate(
        &self,
        id: JobId,
        (partition, primary): (Option<&str>, Option<&Partition>),
        facts: AdReader<'_>,
        now: i64,
    ) -> SlurmJob {
        let conf = self.settings.conf();
        let asker = Requester::of_job(facts, self.tree);
        let named = partition.and_then(|name| self.machines.partition(name));
        let unknown =
            PartitionNodes { partition: Partition::named(partition.unwrap_or_default()), tres: TresWeights::default() };
        let PartitionNodes { partition: settings, tres } = named.unwrap_or(&unknown);
        let partition_tres = if partition.is_some() { tres.clone() } else { self.machines.tres.clone() };
        let association = asker.association(self.tree, partition);
        let AgeFacts { submitted, accrues_since, held } = self.times(facts, now);
        let qos = qos_of(facts);
        let amounts = Amounts::of(facts, &self.generic);
        let mut tres = amounts.tres();
        if conf.tres_weights.has("billing") {
            add_billing(&mut tres, primary, conf.flags.billing);
        }
        tres.sort_by_key(|(name, _)| RESOURCES.iter().position(|known| known == name).unwrap_or(RESOURCES.len()));
        let direct = facts.integer("SlurmPriority").map(|priority| priority.clamp(0, i64::from(u32::MAX)) as u32);
        SlurmJob {
            id,
            submitted,
            tier: settings.tier,
            partition: settings.name.clone(),
            account: asker.account(self.tree).to_owned(),
            association,
            primary: primary.is_none_or(|primary| primary.name == settings.name),
            facts: JobFacts {
                now,
                accrues_since,
                nodes: amounts.size_nodes,
                cpus: amounts.size_cpus,
                time_limit: requested_minutes(facts).unwrap_or_else(|| minutes(primary.unwrap_or(settings).max_time)),
                fair_share: self.fair_share(association),
                association_priority: association.map_or(0.0, |at| f64::from(self.tree.nodes()[at].priority)),
                qos_priority: self.settings.qos(&qos).map_or(0.0, |qos| f64::from(qos.priority)),
                partition_factor: f64::from(settings.job_factor),
                tres,
                partition_tres,
                site: bounded(facts.integer("SiteFactor").unwrap_or(0)),
                nice: bounded(facts.integer("JobPrio").unwrap_or(0).saturating_neg()),
                held,
                direct,
            },
            user: asker.user,
            qos,
        }
    }

    /// Makes of the candidate of a job without a partition, computed at any moment, that of a job that differs from it in its
    /// number and its times alone, at this moment.
    pub fn renew(&self, candidate: &mut SlurmJob, job: (JobId, AdReader<'_>), now: i64) {
        let (id, facts) = job;
        let without_limit = Partition::named("").max_time;
        let AgeFacts { submitted, accrues_since, held } = self.times(facts, now);
        (candidate.id, candidate.submitted) = (id, submitted);
        let fair_share = self.fair_share(candidate.association);
        let known = &mut candidate.facts;
        known.time_limit = requested_minutes(facts).unwrap_or_else(|| minutes(without_limit));
        (known.now, known.accrues_since, known.held, known.fair_share) = (now, accrues_since, held, fair_share);
    }

    fn fair_share(&self, association: Option<usize>) -> f64 {
        association.and_then(|at| self.figures[at].factor).unwrap_or(0.0)
    }

    fn times(&self, facts: AdReader<'_>, now: i64) -> AgeFacts {
        let status = facts.integer(*STATUS);
        let submitted = facts.integer(*SUBMITTED).unwrap_or(0);
        let begins = facts.integer(*BEGINS);
        let accrues_since = if self.settings.conf().flags.accrue_always {
            Some(submitted)
        } else {
            // Slurm lists when the age began, which is before it may begin if it was held and released.
            let begins = begins.filter(|_| facts.string("SlurmState").is_none());
            accrues_since(facts, status, submitted).map(|since| since.max(begins.unwrap_or(since)))
        };
        AgeFacts { submitted, accrues_since, held: held_until(facts, now).is_some() }
    }

    /// The priority of a candidate and what it is made of.
    pub fn terms(&self, candidate: &SlurmJob) -> FactorTerms {
        candidate.facts.terms(&self.scale())
    }

    /// The weighted factor of the partition of a candidate, however its priority was set.
    pub fn partition_term(&self, candidate: &SlurmJob) -> f64 {
        candidate.facts.partition_term(&self.scale())
    }

    fn scale(&self) -> Scale<'_> {
        Scale::of(self.settings.conf(), self.machines.cluster, self.maxima)
    }

    /// The largest values.
    pub(super) fn maxima(&self) -> Maxima {
        self.maxima
    }
}

impl SlurmJob {
    /// Its sort key.
    pub fn key(&self, priority: u32) -> JobOrderKey<JobId> {
        JobOrderKey { tier: self.tier, priority, submitted: self.submitted, id: self.id }
    }
}

/// The quality of service of a job, lower case; `normal` if it names none.
pub fn qos_of(facts: AdReader<'_>) -> String {
    let named = facts.string("QOS").map(|name| String::from_utf8_lossy(&name).to_lowercase());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "normal".to_owned())
}

/// The partitions a job may run in: those it names, else the default, else the first there is.
pub fn partitions(ad: &ClassAd, slurm: &SlurmSettings, settings: &EvalOptions) -> Vec<String> {
    let mut named = named_partitions(ad, settings);
    let conf = slurm.conf();
    if named.is_empty() {
        let default = conf.default_partition().or(conf.partitions.first());
        return default.map(|partition| partition.name.clone()).into_iter().collect();
    }
    let mut seen = hashbrown::HashSet::new();
    named.retain(|name| seen.insert(name.to_ascii_lowercase()));
    named
}

/// The reason a job that waits is not served yet: it is held, or may not begin yet.
pub fn held_back(facts: AdReader<'_>, now: i64) -> Option<HeldBack> {
    let until = held_until(facts, now)?;
    let listed = facts.string("SlurmReason").map(|reason| String::from_utf8_lossy(&reason).into_owned());
    Some(HeldBack { until, listed })
}

/// As [`held_back`], without the reason that Slurm lists.
pub fn held_until(facts: AdReader<'_>, now: i64) -> Option<HeldUntil> {
    if facts.integer(*STATUS) == Some(HELD) || facts.integer(*DIRECT) == Some(0) {
        return Some(HeldUntil::Released);
    }
    match facts.integer(*BEGINS)? {
        i64::MAX => Some(HeldUntil::Known),
        begins if begins > now => Some(HeldUntil::Time(begins)),
        _ => None,
    }
}

/// Returns whether `sprio` lists a job: an idle one, and with `CALCULATE_RUNNING` one that runs or ran, unless it is held or may
/// not begin yet. With `ACCRUE_ALWAYS` it may begin later, but must have been submitted.
pub fn is_listed(facts: AdReader<'_>, flags: PriorityFlags, now: i64) -> bool {
    let listed = match facts.integer("JobStatus") {
        Some(IDLE) => true,
        Some(RUNNING | COMPLETED | TRANSFERRING | SUSPENDED) => flags.calculate_running,
        _ => false,
    };
    let submitted = || facts.integer("QDate").is_none_or(|submitted| submitted <= now);
    listed
        && if flags.accrue_always {
            facts.integer("SlurmPriority") != Some(0) && submitted()
        } else {
            held_until(facts, now).is_none()
        }
}

/// The second from which the age of a job counts, if it does.
///
/// A running job keeps its age. When it entered its status is when it began to wait if that is before its start; else it is
/// its start, and it waited from its submission.
fn accrues_since(facts: AdReader<'_>, status: Option<i64>, submitted: i64) -> Option<i64> {
    let entered = facts.integer(*ENTERED)?;
    match status? {
        IDLE => Some(entered),
        HELD => None,
        _ => {
            let waited = facts.integer("JobCurrentStartDate").is_some_and(|start| entered < start);
            Some(if waited { entered } else { submitted })
        }
    }
}

/// The resources that a job requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Amounts {
    /// Nodes, at least 1.
    pub nodes: f64,
    /// CPUs on all of them.
    pub cpus: f64,
    /// MB on all of them.
    pub memory: f64,
    /// GPUs on all of them.
    pub gpus: f64,
    /// Nodes that its size counts: those that it requested at least, also while it runs on more.
    pub size_nodes: f64,
    /// CPUs that its size counts: those of whole nodes once Slurm has looked for nodes for an exclusive job.
    pub size_cpus: f64,
    /// Other resources, by name.
    pub others: Vec<(String, f64)>,
}

impl Amounts {
    /// The amounts of a job's ad: those in `SlurmTres`, and for others what it requests of each node. Of `generic`
    /// resources there are those that have a weight.
    pub(super) fn of(facts: AdReader<'_>, generic: &[&str]) -> Self {
        let positive = |name: &str| facts.number(name).filter(|amount| amount.is_finite() && *amount > 0.0);
        let given = given_tres(facts, "SlurmTres");
        let whole = |name: &str| given.has(name).then(|| given.of(name));
        let nodes = whole("node").or_else(|| positive("MinHosts")).or_else(|| positive("RequestNodes"));
        let nodes = nodes.unwrap_or(1.0).max(1.0);
        let amount = |name: &str, request: &str, least: f64| {
            whole(name).unwrap_or_else(|| positive(request).unwrap_or(least) * nodes)
        };
        let generic = generic.iter().filter(|name| !given.has(name)).filter_map(|name| {
            let request = format!("Request{}", name.strip_prefix(GENERIC)?);
            Some(((*name).to_owned(), positive(&request)? * nodes))
        });
        let mut others: Vec<(String, f64)> = generic.collect();
        others.extend(given.0.iter().filter(|(name, _)| !PLAIN.contains(&name.as_str())).cloned());
        others.sort_by(|(one, _), (other, _)| one.cmp(other));
        let cpus = amount("cpu", "RequestCpus", 1.0);
        let requested = given_tres(facts, "SlurmRequestedTres").of("node");
        Self {
            nodes,
            size_nodes: if requested > 0.0 { requested } else { nodes },
            cpus,
            memory: amount("mem", "RequestMemory", 0.0),
            gpus: amount("gres/gpu", "RequestGpus", 0.0),
            size_cpus: positive("SlurmCpus").unwrap_or(cpus),
            others,
        }
    }

    /// The amounts as resources; GPUs only if there are any.
    pub fn tres(&self) -> Vec<(String, f64)> {
        let all = plain_tres([self.cpus, self.memory, self.nodes, self.gpus]).into_iter();
        all.filter(|(name, amount)| *amount > 0.0 || name != "gres/gpu").chain(self.others.iter().cloned()).collect()
    }
}

/// The time that a job requests, in minutes.
fn requested_minutes(facts: AdReader<'_>) -> Option<f64> {
    facts.number(*DURATION).filter(|seconds| *seconds > 0.0).map(|seconds| (seconds / 60.0).ceil())
}

/// Minutes; a time without end is the number Slurm writes for it.
fn minutes(time: Duration) -> f64 {
    time.seconds().map_or(INFINITE as f64, |seconds| seconds as f64 / 60.0)
}

/// `nice` and `site` lie that far around 0.
const OFFSET: i64 = 2_147_483_645;

/// A sign and a number within bounds.
fn bounded(number: i64) -> i64 {
    number.clamp(-OFFSET, OFFSET)
}

#[cfg(test)]
mod tests {
    use super::super::settings::SlurmFiles;
    use super::*;
    use classmate_config::internal::config::TextFiles;
    use classmate_config::internal::config::slurm::{SlurmAssociations, SlurmConf};

    fn settings(conf: &str, dump: &str) -> SlurmSettings {
        let (conf, defects) = SlurmConf::read("c", conf.as_bytes(), &TextFiles::default());
        assert_eq!(defects.errors, []);
        let associations = SlurmAssociations::read("d", dump.as_bytes()).0;
        SlurmSettings::new(SlurmFiles { conf, associations, ..SlurmFiles::default() }).unwrap()
    }

    fn asker(ad: &str) -> (String, String) {
        let settings =
            settings("", "Account - 'b'\nAccount - 'c'\nParent - 'c'\nUser - 'Ann':DefaultAccount='c'\nUser - 'x'\n");
        let ad = ClassAd::parse(format!("[{ad}]").as_bytes()).unwrap();
        let evaluation = EvalOptions::default();
        let asker = Requester::of_job(AdReader::of(&ad, &evaluation), settings.tree());
        (asker.account(settings.tree()).to_owned(), asker.user)
    }

    #[test]
    fn accounts_come_from_groups_and_users_have_a_default() {
        let is =
            |ad: &str, account: &str, user: &str| assert_eq!(asker(ad), (account.to_owned(), user.to_owned()), "{ad}");
        is("AccountingGroup = \"a.b.ann\"; Owner = \"joe\"", "b", "ann");
        is("AcctGroup = \"a.b\"; AcctGroupUser = \"ann\"; Owner = \"joe\"", "b", "ann");
        is("AccountingGroup = \"a.b.ann\"; SlurmAccount = \"C\"", "c", "ann");
        is("Owner = \"Ann\"", "c", "ann");
        is("User = \"x@example.org\"", "c", "x");
        is("Owner = \"nobody\"", "", "nobody");
        is("AccountingGroup = \"b\"; Owner = \"joe\"", "b", "joe");
        is("AccountingGroup = \"alias\"; Owner = \"joe\"", "", "alias");
    }

    #[test]
    fn a_job_has_a_candidate_for_each_partition_it_names() {
        let settings = settings(
            "PartitionName=batch PriorityJobFactor=100 Default=YES MaxTime=2:00:00\nPartitionName=debug PriorityJobFactor=400 PriorityTier=3\n",
            "",
        );
        let machines = SlurmNodes::of([], settings.conf(), &EvalOptions::default());
        let figures = Standpoint::figures(&settings, &machines);
        let standpoint = Standpoint::new(&settings, &machines, settings.tree(), &figures);
        let candidates = |more: &str| {
            let text = format!(
                "[ClusterId = 7; ProcId = 1; JobStatus = 1; QDate = 5; EnteredCurrentStatus = 9; JobPrio = 20; {more}]"
            );
            standpoint.candidates(&ClassAd::parse(text.as_bytes()).unwrap(), &EvalOptions::default())
        };
        let default = &candidates("RequestCpus = 2; RequestNodes = 3; RequestMemory = 10; AllowedJobDuration = 61")[0];
        assert_eq!((&*default.partition, default.tier, default.facts.nice), ("batch", 1, -20));
        assert_eq!((default.facts.cpus, default.facts.nodes, default.facts.time_limit), (6.0, 3.0, 2.0));
        assert_eq!((default.facts.accrues_since, default.submitted), (Some(9), 5));
        assert_eq!(candidates("")[0].facts.time_limit, 120.0);
        // Slurm keeps both within 2147483645 of 0.
        let far = &candidates("SiteFactor = -99999999999; JobPrio = 99999999999")[0].facts;
        assert_eq!((far.nice, far.site), (-2_147_483_645, -2_147_483_645));
        assert_eq!(candidates("JobPrio = -9223372036854775807")[0].facts.nice, 2_147_483_645);
        let endless = &candidates("PartitionName = \"endless\"")[0].facts;
        // Number of minutes that represents an unlimited time.
        assert_eq!(endless.time_limit, 4_294_967_295.0);
        let both = candidates("PartitionName = {\"debug\", \"batch\", \"DEBUG\", \"other\"}");
        let seen: Vec<_> = both.iter().map(|one| (&*one.partition, one.tier, one.facts.partition_factor)).collect();
        assert_eq!(seen, [("debug", 3, 400.0), ("batch", 1, 100.0), ("other", 1, 1.0)]);
        assert_eq!(candidates("PartitionName = \"debug,batch\"").len(), 2);
    }

    #[test]
    fn resources_come_from_attributes_or_as_slurm_prints_them() {
        let settings = settings(
            "PriorityWeightTRES=CPU=1,GRES/shard=2,License/lic=3,Billing=4\nLicenses=lic:20\n\
             PartitionName=a Default=YES TRESBillingWeights=CPU=0.5,GRES/shard=2 Nodes=ALL\n",
            "",
        );
        let evaluation = EvalOptions { now: 1000, ..EvalOptions::default() };
        let slots = [ClassAd::parse(b"[Machine = \"m\"; Cpus = 9; Shard = 4; SlurmTres = \"gres/x=1\"]").unwrap()];
        let machines = SlurmNodes::of(&slots, settings.conf(), &evaluation);
        let tres = &machines.partition("a").unwrap().tres;
        let amounts = ["cpu", "gres/shard", "gres/x", "license/lic", "billing"].map(|name| tres.of(name));
        assert_eq!(amounts, [9.0, 4.0, 1.0, 20.0, 12.0]);
        let figures = Standpoint::figures(&settings, &machines);
        let standpoint = Standpoint::new(&settings, &machines, settings.tree(), &figures);
        let candidate = |more: &str| {
            let text = format!("[ClusterId = 1; JobStatus = 1; QDate = 5; {more}]");
            standpoint.candidates(&ClassAd::parse(text.as_bytes()).unwrap(), &evaluation).remove(0)
        };
        let shown = |job: &SlurmJob| {
            let items = job.facts.tres.iter().map(|(name, amount)| format!("{name}={amount}"));
            items.collect::<Vec<_>>().join(",")
        };
        let plain = candidate("RequestNodes = 2; RequestCpus = 3; RequestMemory = 10; RequestShard = 1");
        assert_eq!(shown(&plain), "cpu=6,mem=20,node=2,billing=7,gres/shard=2");
        let given = candidate("RequestCpus = 3; SlurmTres = \"cpu=7,mem=1G,node=3,license/lic=4\"; SlurmCpus = 16");
        assert_eq!(shown(&given), "cpu=7,mem=1024,node=3,billing=3,license/lic=4");
        assert_eq!((given.facts.cpus, given.facts.nodes, given.facts.held), (16.0, 3.0, false));
        // It runs on three nodes, and would have begun on one.
        let running = candidate("JobStatus = 2; SlurmTres = \"cpu=7,node=3\"; SlurmRequestedTres = \"cpu=7,node=1\"");
        assert_eq!((running.facts.nodes, &*shown(&running)), (1.0, "cpu=7,mem=0,node=3,billing=3"));
        // Set by hand, held by hand, not yet to begin.
        assert_eq!(standpoint.terms(&candidate("SlurmPriority = 77")).priority, 77);
        assert!(candidate("SlurmPriority = 0").facts.held);
        assert!(candidate("SlurmBeginTime = 1001").facts.held && !candidate("SlurmBeginTime = 1000").facts.held);
    }

    #[test]
    fn running_jobs_keep_the_age_they_had() {
        let settings = settings("PriorityFlags=CALCULATE_RUNNING\n", "");
        let machines = SlurmNodes::of([], settings.conf(), &EvalOptions::default());
        let figures = Standpoint::figures(&settings, &machines);
        let standpoint = Standpoint::new(&settings, &machines, settings.tree(), &figures);
        let since = |more: &str| {
            let text = format!("[ClusterId = 1; JobStatus = 2; QDate = 5; JobCurrentStartDate = 50; {more}]");
            let ad = ClassAd::parse(text.as_bytes()).unwrap();
            standpoint.candidates(&ad, &EvalOptions::default())[0].facts.accrues_since
        };
        assert_eq!(["EnteredCurrentStatus = 9", "EnteredCurrentStatus = 50", ""].map(since), [Some(9), Some(5), None]);
    }
}
