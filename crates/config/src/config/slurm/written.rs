//! Slurm's own files, written from what was read of them.
//!
//! In: settings, associations, usage, qualities of service. Out: texts from which the readers of this module read the same. What
//! they do not read is not written.

use std::fmt::Write;

use super::{AssociationRow, Duration, Partition, Qos, Release, Shares, SlurmAssociations, SlurmConf, UsageRow};

/// Options of the priority family that have no effect here.
const UNUSED: [&str; 3] = ["priorityparameters", "prioritysitefactorparameters", "prioritysitefactorplugin"];

/// The `slurm.conf` of priorities and partitions, without the nodes, and with a release.
///
/// ```
/// use classmate_config::{SlurmConf, TextFiles};
/// use classmate_config::internal::config::slurm::{Release, conf_text};
/// let text = b"Licenses=lic:20\nPriorityFlags=MAX_TRES\nPartitionName=p MaxTime=1-0 TRESBillingWeights=\"CPU=1,Mem=0.25G\"\n";
/// let (conf, _) = SlurmConf::read("slurm.conf", text, &TextFiles::default());
/// let (again, defects) = SlurmConf::read("slurm.conf", conf_text(&conf, Release::OLD).as_bytes(), &TextFiles::default());
/// assert_eq!((again, defects.errors.len()), (SlurmConf { release: Some(Release::OLD), ..conf }, 0));
/// ```
pub fn conf_text(conf: &SlurmConf, release: Release) -> String {
    let mut text = format!("SLURM_VERSION={release}\n");
    for (key, value) in conf.written.iter().filter(|(key, _)| !UNUSED.contains(&key.as_str())) {
        let _ = writeln!(text, "{key}={}", option(value));
    }
    let licenses = conf.licenses.0.iter().map(|(name, count)| {
        let name = name.strip_prefix("license/").unwrap_or(name);
        format!("{name}:{count}")
    });
    let licenses = licenses.collect::<Vec<_>>().join(",");
    if !licenses.is_empty() {
        let _ = writeln!(text, "Licenses={}", option(&licenses));
    }
    for Partition { name, job_factor, tier, billing, max_time, nodes: _, default } in &conf.partitions {
        let _ = write!(text, "PartitionName={} PriorityJobFactor={job_factor} PriorityTier={tier}", option(name));
        if let Some(prices) = billing {
            let prices = prices.0.iter().map(|(name, price)| format!("{name}={price}"));
            let _ = write!(text, " TRESBillingWeights=\"{}\"", prices.collect::<Vec<_>>().join(","));
        }
        let _ = match max_time {
            Duration::Seconds(seconds) => write!(text, " MaxTime={}", seconds / 60),
            Duration::Infinite => write!(text, " MaxTime=UNLIMITED"),
        };
        text.push_str(if *default { " Default=YES\n" } else { "\n" });
    }
    text
}

/// The value of an option of a `slurm.conf`.
fn option(value: &str) -> String {
    let value = value.replace('#', "\\#");
    if value.contains(char::is_whitespace) || value.is_empty() { format!("\"{value}\"") } else { value }
}

/// The dump of associations, without the qualities of service.
///
/// ```
/// use classmate_config::internal::config::slurm::{SlurmAssociations, associations_text};
/// let text = b"Cluster - 'lab':Priority=7\nParent - 'root'\nAccount - 'phys':Fairshare=5\nParent - 'phys'\n\
///     User - 'ann':Partition='gpu':DefaultAccount='phys':Fairshare=parent:Priority=3:GrpTRESMins='cpu=5,gres/gpu:a100=7'\n";
/// let (dump, _) = SlurmAssociations::read("dump", text);
/// let (again, defects) = SlurmAssociations::read("dump", associations_text(&dump).as_bytes());
/// assert_eq!((again, defects.errors.len()), (dump, 0));
/// ```
pub fn associations_text(associations: &SlurmAssociations) -> String {
    let mut text = String::new();
    if let Some(cluster) = &associations.cluster {
        let priority = associations.root_priority.map(|priority| format!(":Priority={priority}"));
        let _ = write!(text, "Cluster - '{cluster}'{}", priority.unwrap_or_default());
    }
    let mut above = None;
    for row in &associations.rows {
        let AssociationRow {
            account,
            user,
            parent,
            partition,
            shares,
            priority,
            default_account,
            group_minutes,
            line: _,
        } = row;
        if above != Some(parent) {
            let _ = write!(text, "\nParent - '{parent}'");
            above = Some(parent);
        }
        let _ = match user {
            Some(user) => write!(text, "\nUser - '{user}'"),
            None => write!(text, "\nAccount - '{account}'"),
        };
        let options = [("Partition", partition), ("DefaultAccount", default_account), ("GrpTRESMins", group_minutes)];
        for (key, value) in options.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            let _ = write!(text, ":{key}='{value}'");
        }
        let _ = match shares {
            Shares::Own(shares) => write!(text, ":Fairshare={shares}"),
            Shares::Parent => write!(text, ":Fairshare=parent"),
        };
        if let Some(priority) = priority {
            let _ = write!(text, ":Priority={priority}");
        }
    }
    text.push('\n');
    text
}

/// The usage of associations: records of `scontrol show assoc_mgr` if it has what only they have, otherwise a listing of `sshare`.
///
/// ```
/// use classmate_config::internal::config::slurm::{read_usage, usage_text};
/// let records = "ClusterName=cluster Account=phys UserName= Partition= UsageRaw/Norm/Efctv=12.75/1/1 Lft=3\n\
///     ClusterName=cluster Account=phys UserName=ann(7) Partition=gpu UsageRaw/Norm/Efctv=2.50/0/0 GrpTRESRunMins=cpu=N(7),mem=N(0)\n";
/// let listing = "Account|User|Partition|RawUsage|GrpTRESRaw\nphys|||20|cpu=7\nphys|ann|gpu|3|\n";
/// for text in [records, listing] {
///     let rows = read_usage("usage", text.as_bytes()).unwrap();
///     assert_eq!(read_usage("usage", usage_text(&rows).as_bytes()).unwrap(), rows);
/// }
/// ```
pub fn usage_text(rows: &[UsageRow]) -> String {
    let records = rows.iter().any(|row| row.place.is_some() || row.run_minutes.is_some());
    let mut text = if records { String::new() } else { "Account|User|Partition|RawUsage|GrpTRESRaw\n".to_owned() };
    for UsageRow { account, user, partition, usage, digit, by_resource, run_minutes, place, line: _ } in rows {
        let or_none = |name: &Option<String>| name.clone().unwrap_or_default();
        let (user, partition) = (or_none(user), or_none(partition));
        let decimals = (0..18).find(|&decimals| 0.1f64.powi(decimals) <= digit * 1.5).unwrap_or(0) as usize;
        if !records {
            let _ = writeln!(text, "{account}|{user}|{partition}|{usage:.decimals$}|{}", or_none(by_resource));
            continue;
        }
        let _ = write!(
            text,
            "ClusterName=cluster Account={account} UserName={user} Partition={partition} \
             UsageRaw/Norm/Efctv={usage:.decimals$}"
        );
        if let Some(place) = place {
            let _ = write!(text, " Lft={place}");
        }
        if let Some(minutes) = run_minutes {
            let limit = |item: &str| item.split_once('=').map(|(name, used)| format!("{name}=N({used})"));
            let limits = minutes.split(',').filter_map(limit).collect::<Vec<_>>().join(",");
            let _ = write!(text, " GrpTRESRunMins={limits}");
        }
        text.push('\n');
    }
    text
}

/// The qualities of service, as `sacctmgr -P show qos` prints them.
///
/// ```
/// use classmate_config::internal::config::slurm::{qos_text, read_qos};
/// let text = "Name|Priority|UsageFactor\nnormal|0|1\nhigh|80|0.5\n";
/// assert_eq!(qos_text(&read_qos("qos", text.as_bytes()).unwrap()), text);
/// ```
pub fn qos_text(all: &[Qos]) -> String {
    let mut text = "Name|Priority|UsageFactor\n".to_owned();
    for Qos { name, priority, usage_factor } in all {
        let _ = writeln!(text, "{name}|{priority}|{usage_factor}");
    }
    text
}
