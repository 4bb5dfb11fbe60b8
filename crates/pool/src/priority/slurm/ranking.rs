//! The order of all jobs of a pool, with what each priority is made of.

use hashbrown::HashMap;

use super::candidate::held_back;
use super::machines::partitions_of;
use super::{SlurmJob, SlurmNodes, SlurmSettings, Standpoint};
use crate::pool::ad_reader::AdReader;
use crate::pool::slot::is_slot;
use crate::priority::ranking::{HeldBack, JobRank, ServiceOrder};
use crate::queue::JobId;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;

/// The priority of every job of a pool that has a number, and the partitions of its slots.
pub fn ranking(slurm: &SlurmSettings, slots: &[ClassAd], jobs: &[ClassAd], settings: &EvalOptions) -> ServiceOrder {
    let machines = SlurmNodes::of(slots.iter().filter(|ad| is_slot(ad)), slurm.conf(), settings);
    let figures = Standpoint::figures(slurm, &machines);
    let standpoint = Standpoint::new(slurm, &machines, slurm.tree(), &figures);
    let mut ranks: HashMap<JobId, JobRank> = HashMap::new();
    for ad in jobs {
        let held_back = held_back(AdReader::of(ad, settings), settings.now);
        for candidate in standpoint.candidates(ad, settings) {
            let rank = rank(&standpoint, &candidate, held_back.clone());
            let known = ranks.entry(candidate.id).or_insert_with(|| rank.clone());
            if (rank.tier, rank.priority) > (known.tier, known.priority) {
                *known = rank;
            }
        }
    }
    let name = |ad: &ClassAd| {
        let name = ad.constant("Name")?;
        Some(String::from_utf8_lossy(name.as_bytes()?).into_owned())
    };
    let partitions =
        slots.iter().filter_map(|ad| Some((name(ad)?, partitions_of(ad, slurm.conf(), settings)))).collect();
    ServiceOrder::Jobs { ranks, partitions }
}

fn rank(standpoint: &Standpoint<'_>, candidate: &SlurmJob, held_back: Option<HeldBack>) -> JobRank {
    let terms = standpoint.terms(candidate);
    let parts = &terms.weighted;
    let factors = vec![
        ("age", parts.age),
        ("association", parts.association),
        ("fair share", parts.fair_share),
        ("job size", parts.job_size),
        ("partition", parts.partition),
        ("QOS", parts.qos),
        ("resources", parts.tres.iter().fold(0.0, |sum, (_, value)| sum + value)),
        ("site", candidate.facts.site as f64),
        ("nice", -(candidate.facts.nice as f64)),
    ];
    JobRank {
        partition: candidate.partition.clone(),
        tier: candidate.tier,
        priority: terms.priority,
        submitted: candidate.submitted,
        factors,
        held_back,
    }
}
