//! Slots of made pools.

use std::io::{self, Write};

use super::expression::{attribute, only};
use super::random::Random;
use super::{GeneratedPool, NOW, SLOT, Shape, VERSION};

/// Cores of whole machines: of 27 partitionable and static slots.
const CORES: [(u32, u64); 8] = [(7, 1), (6, 4), (5, 8), (3, 2), (2, 16), (2, 32), (1, 64), (1, 26)];

/// Memory a core, MB: of 143 slots.
const MEMORY: [(u32, u64); 8] =
    [(25, 512), (20, 4096), (19, 1024), (15, 2048), (14, 2560), (10, 3072), (9, 2432), (5, 3840)];

/// Disk of a slot, KB: of 143 slots.
const DISK: [(u32, u64); 9] = [
    (23, 2_097_152),
    (17, 2048),
    (16, 2_098_176),
    (15, 1_048_576),
    (10, 4_194_304),
    (8, 1_049_600),
    (7, 512_000),
    (5, 10_485_760),
    (5, 8_000_512),
];

/// Operating systems: of 143 slots.
const SYSTEMS: [(u32, (&str, u32)); 7] = [
    (109, ("CentOS9", 9)),
    (20, ("CentOS8", 8)),
    (5, ("Debian13", 13)),
    (3, ("Ubuntu24", 24)),
    (3, ("CentOS10", 10)),
    (2, ("CentOS7", 7)),
    (1, ("AlmaLinux9", 9)),
];

/// The first site has nearly a third of the slots, the other 41 share the rest.
const SITES: u64 = 42;

/// Cores of a static slot of a small cluster.
const STOCK_CORES: [(u32, u64); 4] = [(50, 1), (17, 4), (17, 8), (16, 2)];

/// Its memory, MB.
const STOCK_MEMORY: [(u32, u64); 7] =
    [(25, 8192), (21, 4096), (17, 2048), (13, 1024), (12, 16_384), (8, 32_768), (4, 65_536)];

/// The purpose of the expression that limits what a slot gives.
const LIMITS: &str = "WithinResourceLimits";

/// Resources of a machine.
struct Machine {
    cores: u64,
    memory: u64,
    disk: u64,
    gpus: u64,
    site: u64,
}

impl Machine {
    fn of(pool: &GeneratedPool, number: u64, random: &mut Random) -> Self {
        let site = if random.happens(0.31) { 0 } else { 1 + random.below(SITES - 1) };
        match pool.shape {
            Shape::Static => Machine { cores: 1, memory: 2048, disk: 10_000_000, gpus: 0, site },
            Shape::Distinct => Machine { cores: 1, memory: 1024 + number, disk: 10_000_000 + number, gpus: 0, site },
            Shape::Stock => Machine {
                cores: random.pick(&STOCK_CORES).unwrap_or(1),
                memory: random.pick(&STOCK_MEMORY).unwrap_or(1024),
                disk: ((1_000_000 + random.below(100_000_000)) & !0xF_FFFF) | (number & 0xF_FFFF),
                gpus: u64::from(random.happens(0.1)),
                site,
            },
            Shape::Ospool | Shape::Gpu => {
                let cores = random.pick(&CORES).unwrap_or(1);
                let (memory, disk) = (random.pick(&MEMORY).unwrap_or(1024), random.pick(&DISK).unwrap_or(2048));
                let share = if pool.shape == Shape::Gpu { 0.5 } else { 0.014 };
                let gpus = if random.happens(share) { 1 + random.below(2) } else { 0 };
                Machine { cores, memory: cores * memory, disk: cores * disk, gpus, site }
            }
        }
    }
}

/// Writes one slot.
pub(super) fn write(out: &mut impl Write, pool: &GeneratedPool, number: u64) -> io::Result<()> {
    let mut random = Random::of(pool.seed, SLOT, number);
    let machine = Machine::of(pool, number, &mut random);
    let Machine { cores, memory, disk, gpus, site } = machine;
    let partitionable = matches!(pool.shape, Shape::Ospool | Shape::Gpu);
    let claimed = random.happens(pool.claimed);
    let (name, host) = if partitionable {
        (format!("slot1@ep{number}.example.org"), format!("ep{number}.example.org"))
    } else {
        (format!("slot{}@ep{}.example.org", number % 8 + 1, number / 8), format!("ep{}.example.org", number / 8))
    };
    write!(
        out,
        "MyType = \"Machine\"\n{VERSION}\nName = \"{name}\"\nMachine = \"{host}\"\nMyAddress = \
         \"<10.{}.{}.{}:9618?addrs=10.0.0.1-9618&alias={host}>\"\nArch = \"X86_64\"\nOpSys = \"LINUX\"\nCpus = \
         {cores}\nTotalSlotCpus = {cores}\nMemory = {memory}\nTotalSlotMemory = {memory}\nDisk = {disk}\nTotalSlotDisk = {disk}\n\
         GPUs = {gpus}\nSlotWeight = Cpus\nMips = {}\nKFlops = {}\nLoadAvg = {}.{:02}\nUpdateSequenceNumber = {}\n\
         MyCurrentTime = {NOW}\nLastHeardFrom = {}\nHasFileTransfer = true\nHasSingularity = {}\n",
        number >> 16 & 255,
        number >> 8 & 255,
        number & 255,
        20_000 + random.below(12_000),
        1_300_000 + number * 3 % 400_000 + random.below(3),
        random.below(9),
        random.below(100),
        random.below(2000),
        NOW - random.below(300) as i64,
        random.happens(0.98)
    )?;
    if claimed && !partitionable {
        let user = random.below(pool.submitters.max(1));
        write!(
            out,
            "State = \"Claimed\"\nActivity = \"Busy\"\nRemoteUser = \"{0}@example.org\"\nAccountingGroup = \
             \"{0}@example.org\"\nCurrentRank = 0.0\n",
            pool.submitter(user)
        )?;
    } else {
        out.write_all(b"State = \"Unclaimed\"\nActivity = \"Idle\"\nCurrentRank = 0.0\n")?;
    }
    if partitionable {
        glide_in(out, &machine, site, &mut random)?;
    } else {
        out.write_all(b"SlotType = \"Static\"\nRank = 0.0\nStart = true\n")?;
        let limits = if pool.shape == Shape::Stock { stock(out, site, &mut random)? } else { only(LIMITS) };
        writeln!(out, "WithinResourceLimits = {limits}\nRequirements = Start && WithinResourceLimits")?;
    }
    if pool.full {
        everything_else(out, number, &mut random)?;
    }
    out.write_all(b"\n")
}

/// The attributes of a slot of a startd with its default configuration; returns its `WithinResourceLimits`.
fn stock(out: &mut impl Write, site: u64, random: &mut Random) -> io::Result<&'static str> {
    let (system, version) = random.pick(&SYSTEMS).unwrap_or(("CentOS9", 9));
    writeln!(
        out,
        "FileSystemDomain = \"example.org\"\nMappingMethod = \"Hardlink\"\nMachineResources = \"Cpus Memory Disk Swap GPUs\"\nOpSysAndVer = \
         \"{system}\"\nOpSysMajorVer = {version}\nMicroarch = \"x86_64-v{}\"\nSite = \"site{site}\"",
        2 + random.below(3)
    )?;
    Ok(only("WithinResourceLimits by default"))
}

/// The attributes of a slot that pilots of many sites start.
fn glide_in(out: &mut impl Write, machine: &Machine, site: u64, random: &mut Random) -> io::Result<()> {
    let (system, version) = random.pick(&SYSTEMS).unwrap_or(("CentOS9", 9));
    // Most pilots have hours before them; the times are all different.
    let retires = NOW - 7200 + random.below(80_000) as i64;
    let (name, start) = attribute("START of a glide-in", random);
    writeln!(
        out,
        "PartitionableSlot = true\nSlotType = \"Partitionable\"\nNumDynamicSlots = 0\nOpSysAndVer = \"{system}\"\n\
         OpSysMajorVer = {version}\nMicroarch = \"x86_64-v{}\"\nGLIDEIN_Site = \"site{site}\"\nGLIDEIN_ResourceName = \
         \"site{site}-ce{}\"\nGLIDEIN_ToRetire = {retires}\nGLIDEIN_ToDie = {}\nGLIDEIN_Max_Walltime = 171000\n\
         SiteWMS_WN_Draining = false\nOSG_NODE_VALIDATED = {}\nIsBlackHole = false\nHasExcessiveLoad = {}\n\
         SINGULARITY_START_CLAUSE = HasSingularity =?= true\nRank = {}\n{name} = {start}\nWithinResourceLimits = \
         {}\nRequirements = {name} && WithinResourceLimits",
        2 + random.below(3),
        1 + random.below(3),
        retires + 3600 + random.below(40_000) as i64,
        random.happens(0.99),
        random.happens(0.02),
        if name == "START" { "(1) + (1) + (1) + (1)" } else { "(TARGET.RequestGPUs ?: 0)" },
        only(LIMITS),
    )?;
    if machine.gpus > 0 {
        let (capability, memory) =
            random.pick(&[(3, ("7.5", 16_000)), (4, ("8.0", 40_000)), (2, ("9.0", 80_000))]).unwrap_or(("7.5", 16_000));
        writeln!(out, "GPUs_Capability = {capability}\nGPUs_GlobalMemoryMb = {memory}")?;
    }
    Ok(())
}

/// Attributes that hardly any job refers to: counters, times, strings, capabilities; 7 of 100 are expressions.
fn everything_else(out: &mut impl Write, number: u64, random: &mut Random) -> io::Result<()> {
    for attribute in 0..421 {
        match attribute % 14 {
            0 => writeln!(out, "RecentStatistic{attribute}Count = {}", random.below(100_000))?,
            1 => writeln!(out, "DaemonCoreDutyCycle{attribute} = 0.{:06}", random.below(1_000_000))?,
            2 => writeln!(out, "HasCapability{attribute}ForJobs = {}", attribute % 3 == 0)?,
            3 => writeln!(out, "Derived{attribute} = Cpus * {attribute} + ifThenElse(Memory > 1024, 1, 0)")?,
            4..=7 => writeln!(out, "GLIDEIN_Parameter_{attribute} = \"value {attribute} of the entry point\"")?,
            8 => writeln!(out, "OSG_Environment_{attribute} = \"/cvmfs/software.example.org/view{}\"", number % 97)?,
            _ => writeln!(out, "MonitorSelf{attribute}Bytes = {}", random.below(1 << 30))?,
        }
    }
    Ok(())
}
