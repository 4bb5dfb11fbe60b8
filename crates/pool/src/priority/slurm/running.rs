//! Remaining usage of running jobs, if they run up to their limits.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 7.2 (the column `TRESRunMins`).

use super::AssociationTree;
use super::billing::add_billing;
use super::candidate::{Amounts, Requester};
use super::machines::{add, generic_resources, named_partitions};
use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::slurm::SlurmConf;

/// The resources that are counted, in their order.
pub const RESOURCES: [&str; 8] = ["cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"];

/// For every association, resources × minutes that its running jobs have left; jobs without a limit count nothing.
pub fn minutes_left(
    jobs: &[ClassAd],
    tree: &AssociationTree,
    conf: &SlurmConf,
    settings: &EvalOptions,
) -> Vec<Vec<(String, f64)>> {
    let mut sums: Vec<Vec<(String, f64)>> = vec![Vec::new(); tree.nodes().len()];
    let generic = generic_resources(conf);
    for ad in jobs {
        let facts = AdReader::of(ad, settings);
        if facts.integer("JobStatus") != Some(2) {
            continue;
        }
        let partition = named_partitions(ad, settings).into_iter().next();
        let partition = partition.as_deref().and_then(|name| conf.partition(name)).or_else(|| conf.default_partition());
        let limit = facts
            .number("AllowedJobDuration")
            .or_else(|| partition.and_then(|partition| Some(partition.max_time.seconds()? as f64)));
        let date = |name: &str| facts.integer(name).filter(|date| *date > 0);
        let began = date("JobCurrentStartDate").or_else(|| date("EnteredCurrentStatus"));
        let asker = Requester::of_job(facts, tree);
        let association = asker.association(tree, partition.map(|partition| partition.name.as_str()));
        let (Some(limit), Some(began), Some(association)) = (limit, began, association) else { continue };
        let minutes = (limit - settings.now.saturating_sub(began) as f64).max(0.0) / 60.0;
        let mut tres = Amounts::of(facts, &generic).tres();
        add_billing(&mut tres, partition, conf.flags.billing);
        for at in tree.upwards(association) {
            for (name, amount) in &tres {
                add(&mut sums[at], name, amount * minutes);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::slurm::tree;

    #[test]
    fn what_is_left_goes_up_to_the_root() {
        let (_, tree, _) = tree::read("d", b"Account - 'a'\nParent - 'a'\nUser - 'x'\n").unwrap();
        let job = |text: &str| ClassAd::parse(format!("[Owner = \"x\"; RequestCpus = 4; {text}]").as_bytes()).unwrap();
        let jobs = [
            job("JobStatus = 2; AllowedJobDuration = 3600; JobCurrentStartDate = 1000"),
            job("JobStatus = 2; JobCurrentStartDate = 1000"),
            job("JobStatus = 1; AllowedJobDuration = 3600; JobCurrentStartDate = 1000"),
        ];
        let settings = EvalOptions { now: 1600, ..EvalOptions::default() };
        let left = minutes_left(&jobs, &tree, &SlurmConf::default(), &settings);
        // 4 CPUs for 50 minutes.
        let cpu = |at: usize| left[at].iter().find(|(name, _)| name == "cpu").map(|(_, minutes)| *minutes);
        assert_eq!([cpu(0), cpu(1), cpu(2)], [Some(200.0); 3]);
        assert!(left[0].contains(&("billing".to_owned(), 200.0)));
    }
}
