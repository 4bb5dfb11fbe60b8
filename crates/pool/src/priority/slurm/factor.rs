//! The factors of a job and the priority they add up to.
//!
//! Numbers in, numbers out. Formula source: `docs/reference/slurm-multifactor.md` 2.

use classmate_config::internal::config::slurm::{PriorityFlags, SlurmConf, TresWeights, Weights};

/// The highest priority.
const MAX_PRIORITY: f64 = u32::MAX as f64;

/// The size of a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClusterSize {
    /// Nodes.
    pub nodes: f64,
    /// CPUs.
    pub cpus: f64,
}

/// The largest values of the cluster, by which raw ones are divided.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Maxima {
    /// `PriorityJobFactor` of all partitions.
    pub job_factor: f64,
    /// Priorities of all QOS.
    pub qos: f64,
    /// Priorities of all associations.
    pub association: f64,
}

/// Settings of the priority computation.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a> {
    /// The weights of the factors.
    pub weights: Weights,
    /// The weights of resources.
    pub tres_weights: &'a TresWeights,
    /// The flags.
    pub flags: PriorityFlags,
    /// `PriorityMaxAge` in seconds; infinite if unlimited.
    pub max_age: f64,
    /// `PriorityFavorSmall`.
    pub favor_small: bool,
    /// The size of the cluster.
    pub cluster: ClusterSize,
    /// The largest values.
    pub maxima: Maxima,
}

impl<'a> Scale<'a> {
    /// The scale of a configuration.
    pub fn of(conf: &'a SlurmConf, cluster: ClusterSize, maxima: Maxima) -> Self {
        Self {
            weights: conf.weights,
            tres_weights: &conf.tres_weights,
            flags: conf.flags,
            max_age: conf.max_age.seconds().map_or(f64::INFINITY, |seconds| seconds as f64),
            favor_small: conf.favor_small,
            cluster,
            maxima,
        }
    }
}

/// The inputs from a job in a partition.
#[derive(Debug, Clone, PartialEq)]
pub struct JobFacts {
    /// The clock, epoch seconds.
    pub now: i64,
    /// Time at which it became eligible; none: it is not.
    pub accrues_since: Option<i64>,
    /// Nodes it needs at least.
    pub nodes: f64,
    /// CPUs, 0 if unknown.
    pub cpus: f64,
    /// Its time limit in minutes; infinite if there is none.
    pub time_limit: f64,
    /// The fair-share factor of its association, 0 if it has none.
    pub fair_share: f64,
    /// The priority of its association.
    pub association_priority: f64,
    /// The priority of its QOS.
    pub qos_priority: f64,
    /// `PriorityJobFactor` of the partition.
    pub partition_factor: f64,
    /// Requested resources and amounts, memory in MB.
    pub tres: Vec<(String, f64)>,
    /// Resources of the partition.
    pub partition_tres: TresWeights,
    /// Added to the sum.
    pub site: i64,
    /// Taken from the sum.
    pub nice: i64,
    /// True if it is held.
    pub held: bool,
    /// A priority that an administrator set.
    pub direct: Option<u32>,
}

impl Default for JobFacts {
    fn default() -> Self {
        Self {
            now: 0,
            accrues_since: None,
            nodes: 1.0,
            cpus: 0.0,
            time_limit: f64::INFINITY,
            fair_share: 0.0,
            association_priority: 0.0,
            qos_priority: 0.0,
            partition_factor: 1.0,
            tres: Vec::new(),
            partition_tres: TresWeights::default(),
            site: 0,
            nice: 0,
            held: false,
            direct: None,
        }
    }
}

/// A number for each factor: the factors, or what they weigh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Factors {
    /// Age.
    pub age: f64,
    /// Association.
    pub association: f64,
    /// Fair share.
    pub fair_share: f64,
    /// Job size.
    pub job_size: f64,
    /// Partition.
    pub partition: f64,
    /// Quality of service.
    pub qos: f64,
    /// Each requested resource.
    pub tres: Vec<(String, f64)>,
}

/// The weighted factors of a job, and what they add up to.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorTerms {
    /// Factor × weight.
    pub weighted: Factors,
    /// Their sum, with site and without nice.
    pub sum: f64,
    /// The priority: the sum without its fraction, from 1 to 4294967295; 0 for a job that is held.
    pub priority: u32,
}

/// Age: how much of the largest age a job has waited, 0 to 1; 0 if it does not wait.
///
/// ```
/// use classmate_pool::internal::priority::slurm::factor::age;
/// assert_eq!(age(1000, Some(400), 1200.0), 0.5);
/// assert_eq!(age(1000, Some(400), 600.0), 1.0);
/// assert_eq!(age(1000, None, 600.0), 0.0);
/// ```
pub fn age(now: i64, since: Option<i64>, max_age: f64) -> f64 {
    let Some(since) = since.filter(|&since| since != 0) else { return 0.0 };
    let waited = now.saturating_sub(since).max(0) as f64;
    if waited < max_age { waited / max_age } else { 1.0 }
}

/// Size of a job as a fraction of the cluster, 0 to 1, inverted when small jobs are favored
/// (`docs/reference/slurm-multifactor.md` 2.2).
///
/// ```
/// use classmate_pool::internal::priority::slurm::{ClusterSize, factor::job_size};
/// let cluster = ClusterSize { nodes: 8.0, cpus: 128.0 };
/// assert_eq!(job_size(1.0, 4.0, 60.0, cluster, false, false), 0.078_125);
/// assert_eq!(job_size(1.0, 4.0, 60.0, cluster, true, false), 0.921_875);
/// ```
pub fn job_size(nodes: f64, cpus: f64, time_limit: f64, cluster: ClusterSize, small: bool, by_time: bool) -> f64 {
    if cluster.nodes <= 0.0 || cluster.cpus <= 0.0 {
        return 0.0;
    }
    let size = if by_time {
        let size = (nodes * cluster.cpus / cluster.nodes).max(cpus) / time_limit / cluster.cpus;
        if small { 1.0 - size } else { size }
    } else if small {
        let size = if cluster.nodes > nodes { (cluster.nodes - nodes) / cluster.nodes } else { 0.0 };
        // The program subtracts unsigned 32-bit numbers: a request for more than there is counts as zero.
        let left = if cpus > cluster.cpus { cluster.cpus - cpus + 4_294_967_296.0 } else { cluster.cpus - cpus };
        if cpus > 0.0 { f64::midpoint(size, left / cluster.cpus) } else { size }
    } else {
        let size = nodes / cluster.nodes;
        if cpus > 0.0 { f64::midpoint(size, cpus / cluster.cpus) } else { size }
    };
    if size.is_nan() { 0.0 } else { size.clamp(0.0, 1.0) }
}

/// A value as a fraction of the largest there is, or raw.
fn normal(value: f64, largest: f64, raw: bool) -> f64 {
    if raw {
        value
    } else if largest > 0.0 {
        value / largest
    } else {
        0.0
    }
}

impl JobFacts {
    /// The factors; one whose weight is 0 is not computed and counts 0.
    pub fn factors(&self, scale: &Scale<'_>) -> Factors {
        let tres = self.tres.iter().map(|(name, amount)| (name.clone(), self.tres_factor(name, *amount, scale)));
        Factors { tres: tres.collect(), ..self.plain_factors(scale) }
    }

    /// The factors without those of resources.
    fn plain_factors(&self, scale: &Scale<'_>) -> Factors {
        let Scale { weights, flags, maxima, .. } = scale;
        let when = |weight: u32, value: &dyn Fn() -> f64| if weight == 0 { 0.0 } else { value() };
        Factors {
            age: when(weights.age, &|| age(self.now, self.accrues_since, scale.max_age)),
            association: when(weights.association, &|| {
                normal(self.association_priority, maxima.association, flags.raw_association)
            }),
            fair_share: when(weights.fair_share, &|| self.fair_share),
            job_size: when(weights.job_size, &|| {
                let (small, by_time) = (scale.favor_small, flags.small_relative_to_time);
                job_size(self.nodes, self.cpus, self.time_limit, scale.cluster, small, by_time)
            }),
            partition: when(weights.partition, &|| {
                normal(self.partition_factor, maxima.job_factor.max(1.0), flags.raw_partition)
            }),
            qos: when(weights.qos, &|| normal(self.qos_priority, maxima.qos, flags.raw_qos)),
            tres: Vec::new(),
        }
    }

    /// The weighted factor of the partition.
    pub fn partition_term(&self, scale: &Scale<'_>) -> f64 {
        self.plain_factors(scale).partition * f64::from(scale.weights.partition)
    }

    fn tres_factor(&self, name: &str, amount: f64, scale: &Scale<'_>) -> f64 {
        normal(amount, self.partition_tres.of(name), scale.flags.raw_tres)
    }

    /// The weighted factors and the priority.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::{SlurmConf, Weights};
    /// use classmate_pool::internal::priority::slurm::{ClusterSize, JobFacts, Maxima, Scale};
    /// let conf = SlurmConf { weights: Weights { fair_share: 1000, ..Weights::default() }, ..SlurmConf::default() };
    /// let scale = Scale::of(&conf, ClusterSize::default(), Maxima::default());
    /// let job = JobFacts { fair_share: 0.4567, nice: 1, ..JobFacts::default() };
    /// assert_eq!(job.terms(&scale).priority, 455);
    /// ```
    pub fn terms(&self, scale: &Scale<'_>) -> FactorTerms {
        let (factors, weights) = (self.plain_factors(scale), scale.weights);
        let of = |factor: f64, weight: u32| factor * f64::from(weight);
        let weighted = Factors {
            age: of(factors.age, weights.age),
            association: of(factors.association, weights.association),
            fair_share: of(factors.fair_share, weights.fair_share),
            job_size: of(factors.job_size, weights.job_size),
            partition: of(factors.partition, weights.partition),
            qos: of(factors.qos, weights.qos),
            tres: if scale.tres_weights.is_empty() {
                Vec::new()
            } else {
                let weighted = |(name, amount): &(String, f64)| {
                    (name.clone(), self.tres_factor(name, *amount, scale) * scale.tres_weights.of(name))
                };
                self.tres.iter().map(weighted).collect()
            },
        };
        let sum = weighted.sum() + self.site as f64 - self.nice as f64;
        match (self.held, self.direct) {
            (true, _) => FactorTerms { weighted, sum, priority: 0 },
            // Set by hand, nothing is computed.
            (false, Some(priority)) => FactorTerms { weighted: Factors::default(), sum: f64::from(priority), priority },
            (false, None) => FactorTerms { priority: whole(sum), weighted, sum },
        }
    }
}

impl Factors {
    /// The sum of all.
    pub fn sum(&self) -> f64 {
        let tres: f64 = self.tres.iter().map(|(_, value)| value).sum();
        self.age + self.association + self.fair_share + self.job_size + self.partition + self.qos + tres
    }
}

/// A sum as a priority: without its fraction, from 1 (0 is for jobs that are held) to the highest.
///
/// ```
/// use classmate_pool::internal::priority::slurm::factor::whole;
/// assert_eq!((whole(-5.0), whole(1.999), whole(1e12)), (1, 1, u32::MAX));
/// ```
pub fn whole(sum: f64) -> u32 {
    sum.clamp(1.0, MAX_PRIORITY) as u32
}

/// A priority computed anew beside the one before, under `INCR_ONLY`.
///
/// ```
/// use classmate_pool::internal::priority::slurm::factor::recomputed;
/// assert_eq!((recomputed(7, 5, true), recomputed(7, 5, false)), (7, 5));
/// ```
pub fn recomputed(before: u32, now: u32, increase_only: bool) -> u32 {
    if increase_only { before.max(now) } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: ClusterSize = ClusterSize { nodes: 8.0, cpus: 128.0 };

    #[test]
    fn sizes_are_as_in_the_worked_examples() {
        // `docs/reference/slurm-multifactor.md` 8.8.
        assert_eq!(job_size(8.0, 128.0, 1.0, CLUSTER, false, false), 1.0);
        assert_eq!(job_size(8.0, 128.0, 1.0, CLUSTER, true, false), 0.0);
        assert_eq!(job_size(1.0, 0.0, 1.0, CLUSTER, true, false), 0.875);
        assert!((job_size(4.0, 64.0, 120.0, CLUSTER, false, true) - 0.004_166_7).abs() < 1e-7);
        assert_eq!(job_size(8.0, 128.0, 1.0, CLUSTER, false, true), 1.0);
        assert!((job_size(1.0, 4.0, 60.0, CLUSTER, true, true) - 0.997_916_7).abs() < 1e-7);
    }

    #[test]
    fn sizes_stay_within_bounds_whatever_is_asked() {
        assert_eq!(job_size(9.0, 200.0, 1.0, CLUSTER, true, false), 1.0);
        assert_eq!(job_size(1.0, 1.0, 1.0, ClusterSize::default(), false, false), 0.0);
        assert_eq!(job_size(1.0, 1.0, f64::INFINITY, CLUSTER, false, true), 0.0);
        assert_eq!(job_size(0.0, 0.0, 0.0, CLUSTER, false, true), 0.0);
    }

    #[test]
    fn with_a_largest_age_of_zero_every_waiting_job_is_old() {
        assert_eq!(age(10, Some(10), 0.0), 1.0);
        assert_eq!(age(10, Some(20), 100.0), 0.0);
        assert_eq!(age(10, Some(5), f64::INFINITY), 0.0);
    }

    #[test]
    fn the_priority_computed_by_hand_is_the_one_of_the_page() {
        // `docs/reference/slurm-multifactor.md` 8.9: 700 + 4545.4545 + 500 + 250 + 500 + 500 + 250 = 7245.4545.
        let conf = SlurmConf {
            weights: Weights {
                age: 1000,
                association: 700,
                fair_share: 10_000,
                job_size: 1000,
                partition: 1000,
                qos: 500,
            },
            tres_weights: TresWeights::parse("CPU=1000,Mem=2000").unwrap(),
            ..SlurmConf::default()
        };
        let scale = Scale::of(&conf, CLUSTER, Maxima { job_factor: 400.0, qos: 80.0, association: 30.0 });
        let job = JobFacts {
            nodes: 4.0,
            cpus: 64.0,
            fair_share: 5.0 / 11.0,
            association_priority: 30.0,
            qos_priority: 80.0,
            partition_factor: 100.0,
            tres: vec![("cpu".to_owned(), 64.0), ("mem".to_owned(), 64_000.0)],
            partition_tres: TresWeights(vec![("cpu".to_owned(), 128.0), ("mem".to_owned(), 512_000.0)]),
            ..JobFacts::default()
        };
        let terms = job.terms(&scale);
        assert_eq!(terms.priority, 7245);
        assert!((terms.sum - 7245.4545).abs() < 1e-4);
        assert_eq!(terms.weighted.tres, [("cpu".to_owned(), 500.0), ("mem".to_owned(), 250.0)]);
        assert_eq!(JobFacts { held: true, ..job.clone() }.terms(&scale).priority, 0);
        let direct = JobFacts { direct: Some(9), ..job }.terms(&scale);
        assert_eq!((direct.priority, direct.weighted), (9, Factors::default()));
    }
}
