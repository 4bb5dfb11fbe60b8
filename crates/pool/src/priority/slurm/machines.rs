//! The cluster and its partitions, from the ads of slots.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 10.2.

use hashbrown::HashSet;

use super::ClusterSize;
use super::billing::billing;
use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::value::{List, Value};
use classmate_config::internal::config::slurm::{Partition, SlurmConf, TresWeights};

/// A partition with what its slots have.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionNodes {
    /// Its configuration.
    pub partition: Partition,
    /// Resources of its slots: `cpu`, `mem` (MB), `node`, `gres/gpu` and others that have a weight; the licenses of the
    /// cluster; what all of it bills.
    pub tres: TresWeights,
}

/// The machines of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct SlurmNodes {
    /// Nodes and CPUs of all slots.
    pub cluster: ClusterSize,
    /// Resources of all slots.
    pub tres: TresWeights,
    /// The partitions of the configuration, in its order, then those only slots know, in theirs.
    pub partitions: Vec<PartitionNodes>,
}

/// Sums over slots.
#[derive(Default)]
struct Sums {
    machines: HashSet<Vec<u8>>,
    cpus: f64,
    memory: f64,
    gpus: f64,
    /// Other resources, by name.
    others: Vec<(String, f64)>,
}

impl Sums {
    fn add(&mut self, facts: AdReader<'_>, generic: &[&str]) {
        let machine = facts.string("Machine").or_else(|| {
            let name = facts.string("Name")?;
            let host = memchr::memrchr(b'@', &name).map_or(0, |at| at + 1);
            Some(classmate::internal::text::Text::new(&name[host..]))
        });
        self.machines.extend(machine.map(|machine| machine.to_ascii_lowercase()));
        // What a partitionable slot has is what is left in it; its total counts.
        let whole = facts.truth("PartitionableSlot") == Some(true);
        let amount = |name: &str| {
            let total = if whole { facts.number(format!("TotalSlot{name}").as_str()) } else { None };
            total.or_else(|| facts.number(name)).filter(|amount| amount.is_finite() && *amount > 0.0).unwrap_or(0.0)
        };
        self.cpus += amount("Cpus");
        self.memory += amount("Memory");
        self.gpus += amount("GPUs");
        let given = given_tres(facts, "SlurmTres");
        for name in generic.iter().filter(|name| !given.has(name)) {
            add(&mut self.others, name, name.strip_prefix(GENERIC).map_or(0.0, amount));
        }
        let others = given.0.iter().filter(|(name, _)| !PLAIN.contains(&name.as_str()));
        others.for_each(|(name, amount)| add(&mut self.others, name, *amount));
    }

    fn tres(&self, prices: Option<&TresWeights>, conf: &SlurmConf) -> TresWeights {
        let mut tres = plain_tres([self.cpus, self.memory, self.machines.len() as f64, self.gpus]);
        tres.extend(self.others.iter().chain(&conf.licenses.0).cloned());
        let bill = billing(&tres, prices, conf.flags.billing).trunc();
        tres.push(("billing".to_owned(), bill));
        TresWeights(tres)
    }
}

impl SlurmNodes {
    /// The machines that slots are on; dynamic slots are part of those they were carved from.
    pub fn of<'a>(slots: impl IntoIterator<Item = &'a ClassAd>, conf: &SlurmConf, settings: &EvalOptions) -> Self {
        let generic = generic_resources(conf);
        let mut whole = Sums::default();
        let mut divisions: Vec<(Partition, Sums)> =
            conf.partitions.iter().map(|partition| (partition.clone(), Sums::default())).collect();
        for ad in slots {
            let facts = AdReader::of(ad, settings);
            if is_dynamic(facts) {
                continue;
            }
            whole.add(facts, &generic);
            for name in partitions_of(ad, conf, settings) {
                let known = divisions.iter().position(|(partition, _)| partition.name.eq_ignore_ascii_case(&name));
                let at = known.unwrap_or_else(|| {
                    divisions.push((Partition::named(&name), Sums::default()));
                    divisions.len() - 1
                });
                divisions[at].1.add(facts, &generic);
            }
        }
        Self {
            cluster: ClusterSize { nodes: whole.machines.len() as f64, cpus: whole.cpus },
            tres: whole.tres(None, conf),
            partitions: divisions
                .into_iter()
                .map(|(partition, sums)| {
                    let tres = sums.tres(partition.billing.as_ref(), conf);
                    PartitionNodes { partition, tres }
                })
                .collect(),
        }
    }

    /// A partition by name, in any case.
    pub fn partition(&self, name: &str) -> Option<&PartitionNodes> {
        self.partitions.iter().find(|division| division.partition.name.eq_ignore_ascii_case(name))
    }
}

/// Resources that plain attributes of ads give.
pub(super) const PLAIN: [&str; 4] = ["cpu", "mem", "node", "gres/gpu"];

/// Amounts of those resources, in their order.
pub(super) fn plain_tres(amounts: [f64; 4]) -> Vec<(String, f64)> {
    PLAIN.map(str::to_owned).into_iter().zip(amounts).collect()
}

/// The beginning of the names of generic resources: `gres/shard` is `Shard` of a slot and `RequestShard` of a job.
pub(super) const GENERIC: &str = "gres/";

/// The generic resources other than GPUs that have a weight, such as `gres/shard`.
pub(super) fn generic_resources(conf: &SlurmConf) -> Vec<&str> {
    let prices = conf.partitions.iter().filter_map(|partition| partition.billing.as_ref());
    let weighed = std::iter::once(&conf.tres_weights).chain(prices).flat_map(|weights| &weights.0);
    let mut names: Vec<&str> = weighed.map(|(name, _)| name.as_str()).collect();
    names.retain(|name| name.starts_with(GENERIC) && *name != "gres/gpu");
    names.sort_unstable();
    names.dedup();
    names
}

/// The resources in an attribute, as Slurm prints them: `cpu=2,mem=1G,license/lic=4`.
pub(super) fn given_tres(facts: AdReader<'_>, attribute: &str) -> TresWeights {
    let text = facts.string(attribute);
    text.and_then(|text| TresWeights::amounts(&String::from_utf8_lossy(&text))).unwrap_or_default()
}

/// Adds an amount to that of a resource.
pub(super) fn add(amounts: &mut Vec<(String, f64)>, name: &str, amount: f64) {
    match amounts.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => *sum += amount,
        None => amounts.push((name.to_owned(), amount)),
    }
}

fn is_dynamic(facts: AdReader<'_>) -> bool {
    facts.truth("DynamicSlot") == Some(true)
        || facts.string("SlotType").is_some_and(|kind| kind.eq_ignore_ascii_case(b"Dynamic"))
}

/// The partitions a slot is in: those it lists, else those whose `Nodes` have its machine.
pub fn partitions_of(ad: &ClassAd, conf: &SlurmConf, settings: &EvalOptions) -> Vec<String> {
    let facts = AdReader::of(ad, settings);
    if ad.contains("PartitionName") {
        return named_partitions(ad, settings);
    }
    let Some(machine) = facts.string("Machine") else { return Vec::new() };
    let machine = String::from_utf8_lossy(&machine);
    let covering = conf.partitions.iter().filter(|partition| partition.nodes.contains(&machine));
    covering.map(|partition| partition.name.clone()).collect()
}

/// Adds `PartitionName` to slots without one.
pub fn enlist(slots: &mut [ClassAd], conf: &SlurmConf, settings: &EvalOptions) {
    for ad in slots {
        if !ad.contains("PartitionName") {
            let names = partitions_of(ad, conf, settings);
            if !names.is_empty() {
                let names = names.iter().map(|name| Value::Str(name.as_str().into())).collect();
                ad.insert("PartitionName", Value::List(List::of(names)));
            }
        }
    }
}

/// The names in `PartitionName`: a string with commas, or a list of strings.
pub fn named_partitions(ad: &ClassAd, settings: &EvalOptions) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let mut names: Vec<String> = match AdReader::of(ad, settings).value("PartitionName") {
        Value::Str(string) => string.split(|&byte| byte == b',').map(text).collect(),
        Value::List(list) => {
            let scope = || Scope::new(ad, settings);
            let values = list.exprs().into_iter().filter_map(|element| scope().eval(&element).ok());
            values.filter_map(|value| if let Value::Str(string) = value { Some(text(&string)) } else { None }).collect()
        }
        _ => Vec::new(),
    };
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::TextFiles;

    fn conf(text: &str) -> SlurmConf {
        SlurmConf::read("c", text.as_bytes(), &TextFiles::default()).0
    }

    fn slot(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn machines_count_once_and_partitionable_slots_with_their_total() {
        let slots = [
            slot(
                "[Name = \"slot1@a\"; Machine = \"a\"; PartitionableSlot = true; Cpus = 1; TotalSlotCpus = 8; Memory = 100; PartitionName = {\"x\", \"y\"}]",
            ),
            slot(
                "[Name = \"slot1_1@a\"; Machine = \"a\"; DynamicSlot = true; Cpus = 7; Memory = 700; PartitionName = {\"x\"}]",
            ),
            slot("[Name = \"slot2@A\"; Machine = \"A\"; Cpus = 2; Memory = 50; GPUs = 1; PartitionName = \"y\"]"),
        ];
        let machines = SlurmNodes::of(&slots, &conf("PartitionName=y PriorityJobFactor=5"), &EvalOptions::default());
        assert_eq!(machines.cluster, ClusterSize { nodes: 1.0, cpus: 10.0 });
        let seen: Vec<_> =
            machines.partitions.iter().map(|d| (&*d.partition.name, d.tres.of("cpu"), d.tres.of("mem"))).collect();
        assert_eq!(seen, [("y", 10.0, 150.0), ("x", 8.0, 100.0)]);
        assert_eq!(machines.partition("Y").unwrap().tres.of("gres/gpu"), 1.0);
    }

    #[test]
    fn slots_get_the_partitions_that_the_configuration_puts_them_in() {
        let conf = conf("PartitionName=a Nodes=n[1-2]\nPartitionName=b Nodes=ALL\n");
        let mut slots = [
            slot("[Machine = \"n2.x\"]"),
            slot("[Machine = \"m\"]"),
            slot("[Machine = \"n1\"; PartitionName = \"z\"]"),
        ];
        enlist(&mut slots, &conf, &EvalOptions::default());
        let named = |ad: &ClassAd| partitions_of(ad, &conf, &EvalOptions::default());
        assert_eq!(slots.each_ref().map(named), [vec!["a", "b"], vec!["b"], vec!["z"]]);
        assert_eq!(slots[0].get("PartitionName").unwrap().to_string(), "{ \"a\",\"b\" }");
    }
}
