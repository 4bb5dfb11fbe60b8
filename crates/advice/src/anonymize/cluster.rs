//! Clusters of Slurm without the names of users, accounts and nodes.
//!
//! In: the ads of a cluster, and what its files say. Out: the same with pseudonyms, and the texts of the files, over which priorities,
//! shares and a cycle are the same.

use std::fmt::Debug;

use super::pseudonyms::{NameKind, RankedNames};
use super::{AnonymizeError, Anonymizer, settings};
use classmate::ClassAd;
use classmate::internal::value::Value;
use classmate_config::internal::config::slurm::{
    AssociationRow, HostList, Partition, SlurmAssociations, SlurmConf, UsageRow, associations_text, conf_text,
    qos_text, read_qos, read_usage, usage_text,
};
use classmate_config::internal::config::{ConfigError, TextFiles};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::slurm::machines::PartitionNodes;
use classmate_pool::internal::priority::slurm::running::minutes_left;
use classmate_pool::internal::priority::slurm::{AssociationTree, SlurmFiles, SlurmNodes, SlurmSettings, Standpoint};
use classmate_pool::{Match, Policy, Snapshot, negotiate};

/// The names in a string attribute.
#[derive(Clone, Copy)]
enum NameForm {
    User,
    Account,
    /// Accounts with dots between them.
    Accounts,
    /// A user, or accounts and a user with dots between them; and a domain.
    Submitter,
    /// A user and a domain.
    Address,
    Host,
    /// The name of a slot, which ends in a host.
    Slot,
}

/// The attributes with names that Slurm's policy reads, and those of the same names in slots.
const NAMED: [(&str, NameForm); 12] = [
    ("Owner", NameForm::User),
    ("AcctGroupUser", NameForm::User),
    ("SlurmAccount", NameForm::Account),
    ("AcctGroup", NameForm::Accounts),
    ("AccountingGroup", NameForm::Submitter),
    ("User", NameForm::Address),
    ("RemoteUser", NameForm::Submitter),
    ("RemoteOwner", NameForm::Submitter),
    ("RemoteGroup", NameForm::Accounts),
    ("RemoteNegotiatingGroup", NameForm::Accounts),
    ("Machine", NameForm::Host),
    ("Name", NameForm::Slot),
];

/// The other attributes with strings that Slurm's policy reads. They have words of Slurm or of the site.
const WORDS: [&str; 6] = ["PartitionName", "QOS", "SlurmTres", "SlurmRequestedTres", "SlurmState", "SlurmReason"];

/// Gives what is written for a name.
type Rename<'r> = dyn FnMut(NameKind, &str) -> String + 'r;

impl NameForm {
    fn renamed(self, text: &str, tree: &AssociationTree, rename: &mut Rename<'_>) -> String {
        match self {
            Self::User => rename(NameKind::User, text),
            Self::Account => rename(NameKind::Account, text),
            Self::Host => rename(NameKind::Host, text),
            Self::Accounts => text.split('.').map(|name| rename(NameKind::Account, name)).collect::<Vec<_>>().join("."),
            Self::Slot => match text.rsplit_once('@') {
                Some((slot, host)) => format!("{slot}@{}", rename(NameKind::Host, host)),
                None => rename(NameKind::Host, text),
            },
            Self::Submitter | Self::Address => {
                let (path, domain) = text.split_once('@').map_or((text, None), |(path, domain)| (path, Some(domain)));
                let mut renamed = match path.rsplit_once('.').filter(|_| matches!(self, Self::Submitter)) {
                    Some((accounts, user)) => {
                        let accounts = Self::Accounts.renamed(accounts, tree, rename);
                        format!("{accounts}.{}", rename(NameKind::User, user))
                    }
                    None => {
                        let is_account =
                            matches!(self, Self::Submitter) && tree.find_account(&path.to_lowercase()).is_some();
                        rename(if is_account { NameKind::Account } else { NameKind::User }, path)
                    }
                };
                if let Some(domain) = domain {
                    renamed = format!("{renamed}@{}", rename(NameKind::Host, domain));
                }
                renamed
            }
        }
    }
}

/// The ads and files of a cluster with other names.
fn renamed(snapshot: &Snapshot, slurm: &SlurmSettings, rename: &mut Rename<'_>) -> (Snapshot, SlurmFiles) {
    let evaluation = snapshot.settings();
    let mut ads = |ads: &[ClassAd]| -> Vec<ClassAd> {
        let mut ad = |ad: &ClassAd| {
            let mut out = ClassAd::new();
            out.update_from_chain(ad);
            let string = |name: &str| {
                let text = AdReader::of(ad, &evaluation).string(name)?;
                Some(String::from_utf8_lossy(&text).into_owned())
            };
            for (name, form) in NAMED {
                match string(name) {
                    Some(text) => {
                        out.insert(name, Value::Str(form.renamed(&text, slurm.tree(), rename).as_str().into()));
                    }
                    // An expression may have names in it.
                    None => drop(out.remove(name)),
                }
            }
            // Nodes may follow the reason.
            if let Some(reason) = string("SlurmReason") {
                let word = reason.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
                out.insert("SlurmReason", Value::Str(word.into()));
            }
            out
        };
        ads.iter().map(&mut ad).collect()
    };
    let (slots, jobs) = (ads(&snapshot.slots), ads(&snapshot.jobs));
    let SlurmFiles { conf, associations, usage, qos, options } = slurm.files().clone();
    let mut account = |name: &str| rename(NameKind::Account, name);
    let parents = associations.parents.iter().map(|(name, line)| (account(name), *line)).collect();
    let rows = associations.rows.iter().map(|row| AssociationRow {
        account: rename(NameKind::Account, &row.account),
        user: row.user.as_ref().map(|user| rename(NameKind::User, user)),
        parent: rename(NameKind::Account, &row.parent),
        default_account: row.default_account.as_ref().map(|name| rename(NameKind::Account, name)),
        ..row.clone()
    });
    let rows = rows.collect();
    let cluster = associations.cluster.as_ref().map(|_| "cluster".to_owned());
    let associations = SlurmAssociations { cluster, rows, parents, ..associations };
    let usage = usage.iter().map(|row| UsageRow {
        account: rename(NameKind::Account, &row.account),
        user: row.user.as_ref().map(|user| rename(NameKind::User, user)),
        ..row.clone()
    });
    let usage = usage.collect();
    (Snapshot { slots, jobs, ..snapshot.clone() }, SlurmFiles { conf, associations, usage, qos, options })
}

/// A cluster with pseudonyms.
#[derive(Debug)]
pub struct AnonymousCluster {
    /// Its ads, and a configuration of HTCondor if it has any.
    pub snapshot: Snapshot,
    /// The names and texts of Slurm's files.
    pub files: FileTexts,
}

/// The names and texts of files.
type FileTexts = Vec<(&'static str, String)>;

/// The cluster with pseudonyms, as priorities and a cycle read it. The slots must list their partitions. What HTCondor accounted for it
/// is left out.
///
/// # Errors
/// An invalid configuration, or priorities, shares or a cycle that differ.
pub fn anonymized_cluster(snapshot: &Snapshot, slurm: &SlurmSettings) -> Result<AnonymousCluster, AnonymizeError> {
    let policy = Policy::Slurm(Box::new(slurm.clone()));
    let whole = Snapshot { submitters: None, log: None, policy, ..snapshot.clone() };
    let mut names = RankedNames::default();
    renamed(&whole, slurm, &mut |kind, name| {
        names.add(kind, name);
        name.to_owned()
    });
    names.number();
    let mut pseudonym = |kind: NameKind, name: &str| names.pseudonym(kind, name);
    let (named, files) = renamed(&whole, slurm, &mut pseudonym);
    let (texts, read) = written(&files)?;
    let settings = settings(&snapshot.config)?;
    let done = NAMED.iter().map(|(name, _)| *name).chain(WORDS);
    let mut anonymizer = Anonymizer::of(&named, &settings, done.map(|name| name.to_ascii_lowercase().into()).collect());
    anonymizer.pseudonyms.number(0);
    let mut anonymous = anonymizer.pool(&named, &settings)?;
    anonymous.policy = Policy::Slurm(Box::new(read.clone()));
    if let Some(difference) = priorities_differ((&whole, slurm), (&anonymous, &read)) {
        return Err(AnonymizeError::Outcome(difference));
    }
    let (expected, found) = (negotiate(&whole)?, negotiate(&anonymous)?);
    let mut same = |a: &Match, b: &Match| {
        (a.job, a.preempting) == (b.job, b.preempting)
            && NameForm::Slot.renamed(&a.slot, slurm.tree(), &mut pseudonym) == b.slot
    };
    let other = expected.matches.iter().zip(&found.matches).find(|(a, b)| !same(a, b));
    let difference = match other {
        Some((one, _)) => format!("job {} on `{}` is another match", one.job, one.slot),
        None if expected.matches.len() == found.matches.len() => {
            return Ok(AnonymousCluster { snapshot: anonymous, files: texts });
        }
        None => format!("{} matches, expected {}", found.matches.len(), expected.matches.len()),
    };
    Err(AnonymizeError::Outcome(difference))
}

/// The texts of the files, and what is read of them.
fn written(files: &SlurmFiles) -> Result<(FileTexts, SlurmSettings), AnonymizeError> {
    let SlurmFiles { conf, associations, usage, qos, options } = files;
    let mut texts =
        vec![("slurm.conf", conf_text(conf, options.release)), ("sacctmgr.dump", associations_text(associations))];
    let used = usage_text(usage);
    if !usage.is_empty() {
        // Records have `=`, and a listing has not.
        let name = if used.starts_with("ClusterName=") { "scontrol.assoc_mgr" } else { "sshare.usage" };
        texts.push((name, used.clone()));
    }
    let qualities = qos_text(qos);
    if !qos.is_empty() {
        texts.push(("sacctmgr.qos", qualities.clone()));
    }
    let text = |at: usize| (texts[at].0, texts[at].1.as_bytes());
    let (conf, defects) = SlurmConf::read(text(0).0, text(0).1, &TextFiles::default());
    let (associations, other) = SlurmAssociations::read(text(1).0, text(1).1);
    let first = |errors: Vec<ConfigError>| errors.into_iter().next();
    if let Some(error) = first(defects.errors).or_else(|| first(other.errors)) {
        return Err(AnonymizeError::Config(error));
    }
    let usage = if usage.is_empty() { Vec::new() } else { read_usage("usage", used.as_bytes())? };
    let qos = read_qos("sacctmgr.qos", qualities.as_bytes())?;
    let read = SlurmSettings::new(SlurmFiles { conf, associations, usage, qos, options: *options });
    let read = read.map_err(|errors| {
        first(errors).map_or_else(|| AnonymizeError::Log("associations".to_owned()), AnonymizeError::Config)
    })?;
    Ok((texts, read))
}

/// The first difference of the shares, the order in which associations are listed, and the priorities of two clusters.
fn priorities_differ(before: (&Snapshot, &SlurmSettings), after: (&Snapshot, &SlurmSettings)) -> Option<String> {
    let [one, other] = [before, after].map(|(snapshot, slurm)| {
        let (evaluation, tree) = (snapshot.settings(), slurm.tree());
        let machines = SlurmNodes::of(snapshot.slots.iter().filter(|ad| is_slot(ad)), slurm.conf(), &evaluation);
        let figures = Standpoint::figures(slurm, &machines);
        let standpoint = Standpoint::new(slurm, &machines, tree, &figures);
        let left = minutes_left(&snapshot.jobs, tree, slurm.conf(), &evaluation);
        let associations = tree.nodes().iter().zip(&figures).zip(left).map(|((node, figures), left)| {
            let own = (&node.partition, node.shares, node.priority, &node.group_minutes, node.usage);
            shown(&(own, &node.children, &node.by_resource, &node.run_minutes, figures, left))
        });
        let jobs = snapshot.jobs.iter().flat_map(|ad| standpoint.candidates(ad, &evaluation)).map(|job| {
            let facts = (job.submitted, job.tier, &job.qos, job.association, job.primary);
            (format!("{} in `{}`", job.id, job.partition), shown(&(facts, standpoint.terms(&job))))
        });
        let partitions = machines.partitions.iter().map(|PartitionNodes { partition, tres }| {
            // Slots list their partitions.
            shown(&(Partition { nodes: HostList::default(), ..partition.clone() }, tres))
        });
        let resources = (shown(&(machines.cluster, &machines.tres)), partitions.collect::<Vec<_>>());
        (associations.collect::<Vec<_>>(), tree.listed(), jobs.collect::<Vec<_>>(), resources)
    });
    if one.3 != other.3 {
        return Some("the resources of the partitions".to_owned());
    }
    if let Some(at) = one.0.iter().zip(&other.0).position(|(one, other)| one != other) {
        return Some(format!("the shares of `{}`", before.1.tree().nodes()[at].key()));
    }
    if (one.0.len(), &one.1) != (other.0.len(), &other.1) {
        return Some("the order of the associations".to_owned());
    }
    let differing = one.2.iter().zip(&other.2).find(|(one, other)| one != other);
    let job = differing.map(|((job, _), _)| format!("the priority of job {job}"));
    job.or_else(|| (one.2.len() != other.2.len()).then(|| "the number of jobs".to_owned()))
}

/// Numbers in text, in which one that is none is like another.
fn shown(facts: &impl Debug) -> String {
    format!("{facts:?}")
}
