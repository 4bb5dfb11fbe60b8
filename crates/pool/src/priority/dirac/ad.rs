//! DIRAC's view of the ads of a pool: requirements of jobs, descriptions of slots (`docs/reference/dirac-shares.md` 9).

use std::sync::LazyLock;

use super::queue::Requirements;
use super::resource::SiteResource;
use super::segment::Segments;
use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::value::Value;
use classmate_config::internal::config::dirac::{DiracSettings, Word, word};

/// Default CPU time of a job, in seconds.
const DEFAULT_CPU_TIME: f64 = 86_400.0;
/// Minimum and maximum CPU time that a job may request, in seconds.
const CPU_TIMES: (f64, f64) = (100.0, 500_000.0);
/// Least and most user priority.
const USER_PRIORITIES: (f64, f64) = (0.0, 10.0);
/// Largest number for which a slot gets a tag; names up to it are made once.
const MAX_TAGS: usize = 1024;
/// The group of a job that names none.
const DEFAULT_GROUP: &[u8] = b"user";
/// `JobStatus` of jobs that have a slot: running, transferring output, suspended.
const RUNNING: [i64; 3] = [2, 6, 7];
/// `JobStatus` of jobs that wait.
const IDLE: i64 = 1;

// Attributes that are read of every job.
static CPU_TIME: LazyLock<Name> = LazyLock::new(|| Name::new("CPUTime"));
static DURATION: LazyLock<Name> = LazyLock::new(|| Name::new("AllowedJobDuration"));
static REQUESTS: LazyLock<[Name; 2]> = LazyLock::new(|| ["RequestCpus", "RequestMemory"].map(Name::new));
static PRIORITIES: LazyLock<[Name; 2]> = LazyLock::new(|| ["UserPriority", "JobPrio"].map(Name::new));
static OWNERS: LazyLock<[Name; 2]> = LazyLock::new(|| ["Owner", "User"].map(Name::new));
static GROUPS: LazyLock<[Name; 2]> = LazyLock::new(|| ["DiracGroup", "AcctGroup"].map(Name::new));
static ACCOUNT: LazyLock<Name> = LazyLock::new(|| Name::new("AccountingGroup"));
/// Tags, sites, computing elements, banned sites, platforms, job types.
static LISTS: LazyLock<[Name; 6]> =
    LazyLock::new(|| ["Tags", "Site", "GridCE", "BannedSites", "Platform", "JobType"].map(Name::new));

/// `nProcessors` and `nGB`.
static NUMBERED: LazyLock<[Vec<Word>; 2]> = LazyLock::new(|| {
    ["Processors", "GB"].map(|unit| (0..=MAX_TAGS).map(|n| word(format!("{n}{unit}").as_bytes())).collect())
});

/// Reads jobs as DIRAC sees them.
#[derive(Debug, Clone)]
pub struct JobReader<'a> {
    /// Clock and seed, for attributes that are expressions.
    pub settings: &'a EvalOptions,
    /// Segments of CPU time.
    pub segments: Segments,
    /// True if jobs that request memory get a tag for it.
    pub memory_tags: bool,
}

/// Start and end of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobTimes {
    /// Start time, epoch seconds.
    pub start: f64,
    /// End time; none: it still runs.
    pub end: Option<f64>,
}

impl JobReader<'_> {
    /// The requirements of a job; those of its autocluster are not known here.
    pub fn requirements(&self, job: &ClassAd) -> Requirements {
        let facts = AdReader::of(job, self.settings);
        let [mut tags, sites, ces, banned_sites, platforms, job_types] =
            LISTS.map(|name| words(job, name, self.settings));
        let [cores, memory] = *REQUESTS;
        let processors = facts.integer(cores).unwrap_or(1);
        if processors > 1 {
            tags.push(numbered(processors, 0));
            tags.push(word(b"MultiProcessor"));
        }
        let memory = facts.number(memory).filter(|_| self.memory_tags);
        tags.extend(memory.and_then(tagged_gigabytes).map(|gigabytes| numbered(gigabytes, 1)));
        let set = |values: Vec<Word>| Requirements::set(values.iter().map(|value| &**value));
        Requirements {
            owner: owner(facts),
            group: group(facts),
            cpu_time: self.cpu_time(job),
            sites: set(sites),
            ces: set(ces),
            banned_sites: set(banned_sites),
            platforms: set(platforms),
            job_types: set(job_types),
            tags: set(tags),
            autocluster: 0,
        }
    }

    /// The segment of the CPU time that a job requests.
    pub fn cpu_time(&self, job: &ClassAd) -> i64 {
        let facts = AdReader::of(job, self.settings);
        segment(&self.segments, facts.number(*CPU_TIME).or_else(|| facts.number(*DURATION)))
    }

    /// The user priority of a job: `UserPriority`, else one more than `JobPrio`, from 0 to 10.
    pub fn user_priority(&self, job: &ClassAd) -> f64 {
        let facts = AdReader::of(job, self.settings);
        let [explicit, of_condor] = *PRIORITIES;
        let one_more = || 1.0 + facts.number(of_condor).unwrap_or(0.0);
        clamped(facts.number(explicit).unwrap_or_else(one_more), USER_PRIORITIES)
    }

    /// Start and end of a job; none if it never ran, if it was evicted and is idle again, or if its ad does not give
    /// the times.
    pub fn run(&self, job: &ClassAd) -> Option<JobTimes> {
        let facts = AdReader::of(job, self.settings);
        let time = |names: &[&str]| names.iter().find_map(|&name| facts.number(name).filter(|time| *time > 0.0));
        let start = time(&["JobCurrentStartDate", "JobStartDate"]);
        if facts.integer("JobStatus").is_some_and(|status| RUNNING.contains(&status)) {
            return Some(JobTimes { start: start.or_else(|| time(&["EnteredCurrentStatus"]))?, end: None });
        }
        // An idle job is not running, even if its ad has times of an earlier run.
        let end = time(&["CompletionDate"]).filter(|_| facts.integer("JobStatus") != Some(IDLE))?;
        Some(JobTimes { start: start.filter(|start| *start <= end)?, end: Some(end) })
    }
}

/// The segment of a requested CPU time, in seconds.
fn segment(segments: &Segments, cpu_time: Option<f64>) -> i64 {
    segments.fit(clamped(cpu_time.unwrap_or(DEFAULT_CPU_TIME), CPU_TIMES))
}

/// Gigabytes of memory that were requested in MB, if there are enough of them for a tag.
fn tagged_gigabytes(memory: f64) -> Option<i64> {
    let gigabytes = (memory / 1000.0).ceil() as i64;
    (gigabytes >= 2).then_some(gigabytes)
}

/// The part of the requested memory (MB) and time (seconds) that distinguishes a job from others.
pub fn distinguishing_request(settings: &DiracSettings, memory: u32, time: Option<i64>) -> (u32, Option<i64>) {
    let memory = tagged_gigabytes(f64::from(memory)).filter(|_| settings.options.memory_tags).unwrap_or(0);
    let segments = settings.segments.as_deref().map_or_else(Segments::default, Segments::new);
    let memory = u32::try_from(memory).unwrap_or(u32::MAX);
    (memory, Some(segment(&segments, time.map(|time| time as f64))))
}

/// The description of a slot.
pub fn resource(slot: &ClassAd, settings: &EvalOptions) -> SiteResource {
    let facts = AdReader::of(slot, settings);
    let set = |name: &str| words(slot, name, settings);
    let mut platforms = set("Platform");
    if platforms.is_empty()
        && let (Some(system), Some(architecture)) = (facts.string("OpSysAndVer"), facts.string("Arch"))
    {
        platforms.push(word(&[&*system, b"_", &*architecture].concat()));
    }
    let mut tags = set("Tag");
    let upto = |number: i64| number.clamp(1, MAX_TAGS as i64) as usize;
    let processors = upto(facts.integer("Cpus").unwrap_or(1));
    if processors > 1 {
        tags.extend(NUMBERED[0].iter().take(processors + 1).skip(2).cloned());
        tags.push(word(b"MultiProcessor"));
    }
    tags.extend(NUMBERED[1].iter().take(upto(facts.integer("Memory").unwrap_or(0) / 1000) + 1).skip(2).cloned());
    if facts.truth("WholeNode") == Some(true) {
        tags.push(word(b"WholeNode"));
    }
    SiteResource {
        cpu_time: facts.number("CPUTimeLeft").unwrap_or(f64::INFINITY),
        sites: set("Site"),
        ces: set("GridCE"),
        platforms,
        job_types: set("JobType"),
        tags,
        required_tags: set("RequiredTag"),
        ..SiteResource::default()
    }
}

/// `nProcessors` (unit 0) or `nGB` (unit 1).
fn numbered(number: i64, unit: usize) -> Word {
    let known = usize::try_from(number).ok().and_then(|number| NUMBERED[unit].get(number));
    known.cloned().unwrap_or_else(|| word(format!("{number}{}", ["Processors", "GB"][unit]).as_bytes()))
}

fn clamped(number: f64, (least, most): (f64, f64)) -> f64 {
    if number.is_nan() { least } else { number.clamp(least, most) }
}

fn owner(facts: AdReader<'_>) -> Word {
    let [owner, user] = *OWNERS;
    let user = facts.string(owner).or_else(|| facts.string(user));
    let user: &[u8] = user.as_deref().unwrap_or_default();
    word(memchr::memchr(b'@', user).map_or(user, |at| &user[..at]))
}

/// The group of a job.
pub fn group_of_job(job: &ClassAd, settings: &EvalOptions) -> Vec<u8> {
    group(AdReader::of(job, settings)).to_vec()
}

pub(super) fn group(facts: AdReader<'_>) -> Word {
    let explicit = GROUPS.iter().find_map(|name| facts.string(*name));
    if let Some(explicit) = explicit.filter(|group| !group.is_empty()) {
        return word(&explicit);
    }
    let account = facts.string(*ACCOUNT);
    let account: &[u8] = account.as_deref().unwrap_or_default();
    word(memchr::memrchr(b'.', account).map_or(DEFAULT_GROUP, |dot| &account[..dot]))
}

/// The items of a list, or of a string that is one: separated by commas and blanks.
fn words(ad: &ClassAd, name: impl Into<Name>, settings: &EvalOptions) -> Vec<Word> {
    match AdReader::of(ad, settings).value(name) {
        Value::Str(text) => {
            let items = text.split(|byte| *byte == b',' || byte.is_ascii_whitespace());
            items.filter(|item| !item.is_empty()).map(word).collect()
        }
        Value::List(list) => {
            let scope = Scope::new(ad, settings);
            let text = |expr: Expr| match scope.eval(&expr) {
                Ok(Value::Str(text)) => Some(word(&text)),
                _ => None,
            };
            list.exprs().into_iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    fn requirements(text: &str) -> Requirements {
        let settings = EvalOptions::default();
        JobReader { settings: &settings, segments: Segments::default(), memory_tags: true }.requirements(&ad(text))
    }

    fn texts(words: &[Word]) -> Vec<String> {
        words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    #[test]
    fn owner_and_group_are_found_where_pools_have_them() {
        let names = |text: &str| {
            let found = requirements(text);
            texts(&[found.owner, found.group])
        };
        assert_eq!(names("[Owner = \"ann\"; DiracGroup = \"g\"; AcctGroup = \"h\"]"), ["ann", "g"]);
        assert_eq!(names("[User = \"ann@x\"; AcctGroup = \"h\"; AccountingGroup = \"i.ann\"]"), ["ann", "h"]);
        assert_eq!(names("[Owner = \"ann\"; AccountingGroup = \"a.b.ann\"]"), ["ann", "a.b"]);
        assert_eq!(names("[Owner = \"ann\"; AccountingGroup = \"ann\"]"), ["ann", "user"]);
    }

    #[test]
    fn cpu_time_is_what_the_job_may_take_within_bounds() {
        let time = |text: &str| requirements(text).cpu_time;
        assert_eq!(time("[]"), 86_400);
        assert_eq!(time("[CPUTime = 1000; AllowedJobDuration = 5]"), 1800);
        assert_eq!(time("[AllowedJobDuration = 50 * 60]"), 3600);
        assert_eq!(time("[CPUTime = 0]"), 360);
        assert_eq!(time("[CPUTime = 2000000]"), 518_400, "at most 500000 s may be asked for");
    }

    #[test]
    fn tags_come_from_processors_memory_and_the_user() {
        let tags = |text: &str| texts(&requirements(text).tags);
        assert_eq!(tags("[RequestCpus = 4; Tags = \"GPU, x\"]"), ["4Processors", "GPU", "MultiProcessor", "x"]);
        assert_eq!(tags("[RequestCpus = 1; RequestMemory = 2001; Tags = {\"b\", \"a\"}]"), ["3GB", "a", "b"]);
        assert_eq!(tags("[RequestMemory = 1000]"), [""; 0]);
        assert_eq!(tags("[RequestCpus = 5000]"), ["5000Processors", "MultiProcessor"]);
    }

    #[test]
    fn slots_offer_all_smaller_sizes() {
        let found = resource(
            &ad("[Cpus = 3; Memory = 2500; OpSysAndVer = \"EL9\"; Arch = \"X86_64\"]"),
            &EvalOptions::default(),
        );
        assert_eq!(texts(&found.tags), ["2Processors", "3Processors", "MultiProcessor", "2GB"]);
        assert_eq!((texts(&found.platforms), found.cpu_time), (vec!["EL9_X86_64".to_owned()], f64::INFINITY));
        let small =
            resource(&ad("[Cpus = 1; CPUTimeLeft = 60; Site = \"CERN\"; WholeNode = true]"), &EvalOptions::default());
        assert_eq!((texts(&small.tags), small.cpu_time, small.sites.len()), (vec!["WholeNode".to_owned()], 60.0, 1));
        assert_eq!(resource(&ad("[Cpus = 1000000]"), &EvalOptions::default()).tags.len(), 1024);
    }

    #[test]
    fn user_priorities_are_from_0_to_10() {
        let settings = EvalOptions::default();
        let reader = JobReader { settings: &settings, segments: Segments::default(), memory_tags: false };
        let priority = |text: &str| reader.user_priority(&ad(text));
        assert_eq!(
            ["[]", "[JobPrio = 3]", "[JobPrio = -7]", "[UserPriority = 99; JobPrio = 3]"].map(priority),
            [1.0, 4.0, 0.0, 10.0]
        );
    }

    #[test]
    fn runs_are_those_that_go_on_and_those_that_ended() {
        let settings = EvalOptions::default();
        let reader = JobReader { settings: &settings, segments: Segments::default(), memory_tags: false };
        let run = |text: &str| reader.run(&ad(text)).map(|run| (run.start, run.end));
        assert_eq!(run("[JobStatus = 2; JobCurrentStartDate = 50; JobStartDate = 10]"), Some((50.0, None)));
        assert_eq!(
            run("[JobStatus = 2; JobCurrentStartDate = 0; JobStartDate = 10]"),
            Some((10.0, None)),
            "0: not set"
        );
        assert_eq!(run("[JobStatus = 4; JobStartDate = 10; CompletionDate = 70]"), Some((10.0, Some(70.0))));
        assert_eq!(run("[JobStatus = 1; JobStartDate = 10; CompletionDate = 0]"), None);
        assert_eq!(run("[JobStatus = 1; JobStartDate = 10; CompletionDate = 70]"), None, "it waits");
        assert_eq!(run("[JobStatus = 4; JobStartDate = 90; CompletionDate = 70]"), None);
    }
}
