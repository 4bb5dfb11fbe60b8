//! Cost of one second of a job.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 3.1.

use classmate_config::internal::config::slurm::{BillingSum, Partition, TresWeights};

/// The cost of resources: allocated CPUs without weights, or their weighted sum.
///
/// ```
/// use classmate_config::internal::config::slurm::{BillingSum, TresWeights};
/// use classmate_pool::internal::priority::slurm::billing::billing;
/// let job = [("cpu", 4.0), ("mem", 8192.0), ("license/x", 1.0)].map(|(name, amount)| (name.to_owned(), amount));
/// let weights = TresWeights::parse("CPU=1,Mem=1G,license/x=3").unwrap();
/// assert_eq!(billing(&job, None, BillingSum::Sum), 4.0);
/// assert_eq!(billing(&job, Some(&weights), BillingSum::Sum), 15.0);
/// assert_eq!(billing(&job, Some(&weights), BillingSum::Max), 11.0);
/// ```
pub fn billing(tres: &[(String, f64)], weights: Option<&TresWeights>, sum: BillingSum) -> f64 {
    let Some(weights) = weights else {
        return tres.iter().find(|(name, _)| name == "cpu").map_or(0.0, |(_, amount)| *amount);
    };
    let (mut largest, mut generic, mut rest) = (0.0f64, 0.0, 0.0);
    for (name, amount) in tres.iter().filter(|(name, _)| name != "billing") {
        let cost = amount * weights.of(name);
        let is_generic = name.starts_with("gres/");
        match sum {
            BillingSum::MaxAndGres if is_generic => generic += cost,
            BillingSum::Max | BillingSum::MaxAndGres if is_generic || matches!(&**name, "cpu" | "mem" | "node") => {
                largest = largest.max(cost);
            }
            _ => rest += cost,
        }
    }
    largest + generic + rest
}

/// Adds the resource `billing` to those of a job, if it is not among them: its cost at the weights of a partition, without its
/// fraction.
pub(super) fn add_billing(tres: &mut Vec<(String, f64)>, partition: Option<&Partition>, sum: BillingSum) {
    if !tres.iter().any(|(name, _)| name == "billing") {
        let weights = partition.and_then(|partition| partition.billing.as_ref());
        tres.push(("billing".to_owned(), billing(tres, weights, sum).trunc()));
    }
}
