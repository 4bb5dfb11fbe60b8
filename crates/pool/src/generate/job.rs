//! Jobs of made pools.

use std::io::{self, Write};

use super::expression::{only, picked};
use super::random::Random;
use super::{GeneratedPool, JOB, NOW, Shape, VERSION, access_point};

/// Cores, memory and disk that jobs request: round numbers, mostly small.
const CORES: [(u32, u64); 5] = [(70, 1), (12, 2), (10, 4), (6, 8), (2, 16)];
const MEMORY: [(u32, u64); 8] =
    [(20, 512), (25, 1024), (25, 2048), (10, 3072), (10, 4096), (5, 8192), (3, 16_384), (2, 32_768)];
const DISK: [(u32, u64); 6] =
    [(30, 1024), (25, 512_000), (20, 1_048_576), (15, 2_097_152), (8, 4_194_304), (2, 10_485_760)];

/// The purpose of the clauses that `condor_submit` adds.
const USUAL: &str = "Requirements";

/// Requests of an autocluster.
struct AutoclusterSpec {
    cores: u64,
    memory: u64,
    disk: u64,
    requirements: String,
    rank: String,
    more: String,
}

impl AutoclusterSpec {
    fn of(pool: &GeneratedPool, autocluster: u64) -> Self {
        let mut random = Random::of(pool.seed, JOB, autocluster);
        let unmatched = random.happens(pool.unmatched);
        let project = format!("ProjectName = \"project{autocluster}\"\n");
        let mut kind = match pool.shape {
            Shape::Static => AutoclusterSpec {
                cores: 1,
                memory: 1 + autocluster % 2048,
                disk: 1000 + autocluster / 2048,
                requirements: only(USUAL).to_owned(),
                rank: "0.0".to_owned(),
                more: project,
            },
            Shape::Distinct => AutoclusterSpec {
                cores: 1,
                memory: 1024 + autocluster,
                disk: 1000,
                requirements: format!(
                    "{} && (TARGET.Mips * {} > {})",
                    only(USUAL),
                    autocluster + 1,
                    21_000 * (autocluster + 1)
                ),
                rank: format!("TARGET.KFlops * {} + TARGET.Mips", autocluster + 1),
                more: project,
            },
            Shape::Stock => AutoclusterSpec {
                cores: 1,
                memory: 128 + autocluster,
                disk: 1000 + random.below(1000),
                requirements: format!(
                    "({}) && {}",
                    picked("clause of a user of a cluster", &mut random),
                    only("Requirements by default")
                ),
                rank: picked("Rank of a user of a cluster", &mut random).to_owned(),
                more: format!("FileSystemDomain = \"example.org\"\n{VERSION}\n"),
            },
            Shape::Ospool | Shape::Gpu => Self::of_a_user(pool, autocluster, &mut random, project),
        };
        if unmatched {
            kind.memory = (1 << 30) + autocluster;
        }
        kind
    }

    fn of_a_user(pool: &GeneratedPool, autocluster: u64, random: &mut Random, project: String) -> Self {
        let clause = picked("clause of a user", random);
        let mut more = project;
        if random.happens(0.05) {
            more += &format!("DESIRED_Sites = \"site{},site{}\"\n", autocluster % 42, autocluster % 5);
        }
        if random.happens(0.3) {
            more += "SingularityImage = \"/cvmfs/singularity.example.org/image.sif\"\n";
        }
        if random.happens(0.1) {
            more += "JobDurationCategory = \"Long\"\n";
        }
        if pool.shape == Shape::Gpu && random.happens(0.5) {
            more += &format!("RequestGPUs = {}\n", 1 + random.below(2));
        }
        AutoclusterSpec {
            cores: random.pick(&CORES).unwrap_or(1),
            memory: random.pick(&MEMORY).unwrap_or(1024),
            disk: random.pick(&DISK).unwrap_or(1024),
            requirements: if clause.is_empty() {
                only(USUAL).to_owned()
            } else {
                format!("{clause} && {}", only(USUAL))
            },
            rank: picked("Rank of a user", random).to_owned(),
            more,
        }
    }
}

/// Writes the jobs of one autocluster.
pub(super) fn write(out: &mut impl Write, pool: &GeneratedPool, autocluster: u64) -> io::Result<()> {
    let AutoclusterSpec { cores, memory, disk, requirements, rank, more } = AutoclusterSpec::of(pool, autocluster);
    let submitter = autocluster % pool.submitters.max(1);
    let (name, point) = (pool.submitter(submitter), access_point(submitter));
    let cluster = autocluster + 1;
    let group = if pool.groups > 0 { format!("AccountingGroup = \"{name}\"\n") } else { String::new() };
    let same = format!(
        "MyType = \"Job\"\nOwner = \"user{submitter}\"\nUser = \"user{submitter}@example.org\"\n{group}JobStatus = 1\n\
         JobUniverse = 5\nJobPrio = 0\nQDate = {NOW}\nCmd = \"/home/user{submitter}/run.sh\"\nRequestCpus = {cores}\n\
         RequestMemory = {memory}\nRequestDisk = {disk}\n{more}Rank = {rank}\nRequirements = {requirements}\n"
    );
    (0..pool.jobs_of(autocluster)).try_for_each(|process| {
        writeln!(
            out,
            "ClusterId = {cluster}\nProcId = {process}\nGlobalJobId = \"{point}#{cluster}.{process}#{NOW}\"\n{same}"
        )
    })
}
