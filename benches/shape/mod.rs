//! Generated ads in the shape of a large production pool: 475 attributes of about 45 bytes, 93 % of them
//! literals, four different Requirements; or ads from a file that the environment names.
#![allow(dead_code, clippy::panic, reason = "every bench uses a part, and may panic")]

use std::fmt::Write as _;
use std::io::Read;

use classmate::internal::ad::ClassAd;
use classmate::internal::format::long::LongReader;
use classmate::internal::syntax::parse::ParseOptions;

/// One slot in the long format.
pub(crate) fn slot_text(number: usize) -> String {
    let mut text = String::with_capacity(24_000);
    let cpus = 1 << (number % 5);
    let start = match number % 4 {
        0 => {
            "(time() < GLIDEIN_ToRetire) && (MY.NodeValidated) && (isUndefined(IsBlackHole) || IsBlackHole == false) && \
              ((DESIRED_Sites is undefined) || stringListMember(GLIDEIN_Site,DESIRED_Sites,\",\")) && \
              (!isUndefined(TARGET.ProjectName)) && ((MY.GPUs ?: 0) == 0 || (TARGET.RequestGPUs ?: 0) > 0)"
        }
        1 => {
            "(true && (Draining is false)) && (isUndefined(RequestGPUs) || RequestGPUs == 0) && \
              ((GLIDEIN_ToRetire is undefined) || (CurrentTime < GLIDEIN_ToRetire))"
        }
        2 => "TARGET.RequestCpus <= Cpus && TARGET.RequestMemory <= Memory",
        _ => "true",
    };
    let _ = write!(
        text,
        "Name = \"slot1_{number}@ep{number}.example.org\"\nMachine = \"ep{number}.example.org\"\nMyType = \"Machine\"\n\
         State = \"Unclaimed\"\nActivity = \"Idle\"\nArch = \"X86_64\"\nOpSys = \"LINUX\"\nCpus = {cpus}\n\
         Memory = {}\nDisk = {}\nGLIDEIN_Site = \"site{}\"\nGLIDEIN_ToRetire = 1900000000\nNodeValidated = true\n\
         Draining = false\nSlotWeight = Cpus\nRank = 0.0\nStart = {start}\nWithinResourceLimits = \
         (MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus && MY.Memory > 0 && TARGET.RequestMemory <= MY.Memory && \
         MY.Disk > 0 && TARGET.RequestDisk <= MY.Disk)\nRequirements = Start && (WithinResourceLimits)\n",
        cpus * 2048,
        cpus * 10_000_000,
        number % 7
    );
    for attribute in 0..456 {
        let _ = match attribute % 15 {
            0 => writeln!(text, "RecentStatistic{attribute}Count = {}", number * 31 + attribute),
            1 => writeln!(text, "DaemonCoreDutyCycle{attribute} = {}.{:06}", number % 10, attribute * 7919),
            2 => writeln!(text, "HasCapability{attribute}ForJobs = {}", attribute % 2 == 0),
            3 if attribute % 2 == 1 => {
                writeln!(text, "Derived{attribute} = Cpus * {attribute} + ifThenElse(Memory > 1024, 1, 0)")
            }
            4..=7 => writeln!(text, "GLIDEIN_Parameter_{attribute} = \"value {attribute} of the entry point\""),
            8 => writeln!(text, "OSG_Environment_Variable_{attribute} = \"/cvmfs/software.example.org/view{number}\""),
            _ => writeln!(text, "MonitorSelf{attribute}Bytes = {}", attribute * 1_048_573 + number),
        };
    }
    text
}

/// A number of slots in the long format.
pub(crate) fn slots_text(count: usize) -> Vec<u8> {
    (0..count).map(|number| slot_text(number) + "\n").collect::<String>().into_bytes()
}

/// Jobs for such slots, in the long format.
pub(crate) fn jobs_text(count: usize) -> Vec<u8> {
    (0..count)
        .map(|number| {
            format!(
                "ClusterId = {}\nProcId = 0\nOwner = \"user{}\"\nUser = \"user{}@example.org\"\nJobStatus = 1\nJobPrio = 0\n\
                 ProjectName = \"p\"\nRequestCpus = {}\nRequestMemory = {}\nRequestDisk = 1000\nRank = Memory\n\
                 Requirements = (TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && (TARGET.Disk >= RequestDisk) && \
                 (TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= RequestCpus)\n\n",
                number + 1,
                number % 10,
                number % 10,
                1 + number % 8,
                512 * (1 + number % 16)
            )
        })
        .collect::<String>()
        .into_bytes()
}

/// The content of the file that an environment variable names, if it is set; `.gz` files are decompressed.
pub(crate) fn file(variable: &str) -> Option<Vec<u8>> {
    let path = std::env::var_os(variable)?;
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.to_string_lossy()));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .read_to_end(&mut unpacked)
        .unwrap_or_else(|error| panic!("{error}"));
    Some(unpacked)
}

/// Reads ads of the long format.
pub(crate) fn ads(text: &[u8]) -> Vec<ClassAd> {
    LongReader::new(text, &ParseOptions::default()).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
}

/// The slots of `CLASSMATE_SLOTS`, or 143 generated ones.
pub(crate) fn slots() -> Vec<ClassAd> {
    let ads = ads(&file("CLASSMATE_SLOTS").unwrap_or_else(|| slots_text(143)));
    let is_slot = |ad: &ClassAd| ad.constant("MyType").is_some_and(|value| value.to_string() == "\"Machine\"");
    ads.into_iter().filter(is_slot).collect()
}

/// The jobs of `CLASSMATE_JOBS`, or generated ones.
pub(crate) fn jobs() -> Vec<ClassAd> {
    ads(&file("CLASSMATE_JOBS").unwrap_or_else(|| jobs_text(8)))
}
