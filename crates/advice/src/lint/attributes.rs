//! Properties of HTCondor's attributes that lint relies on: type, presence, variation among jobs.

use std::ops::Range;
use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use classmate::internal::builtin::near;
use classmate::internal::records::{Record, records};
use classmate_pool::internal::pool::attribute;

/// The type of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    String,
    Integer,
    /// An integer or a real.
    Number,
    Boolean,
}

impl Kind {
    pub(super) fn with_article(self) -> &'static str {
        match self {
            Kind::String => "a string",
            Kind::Integer => "an integer",
            Kind::Number => "a number",
            Kind::Boolean => "a boolean",
        }
    }
}

/// The facts about an attribute that comparisons are checked with.
#[derive(Debug)]
pub(super) struct Fact {
    /// The name, as HTCondor spells it.
    pub(super) name: &'static str,
    pub(super) kind: Option<Kind>,
    /// It is an expression that ads set.
    pub(super) expression: bool,
    pub(super) unit: Option<&'static str>,
    /// The smallest and the largest value.
    pub(super) range: Option<(i64, i64)>,
    /// The largest value on Linux.
    pub(super) most: Option<i64>,
    /// Strings that it can be.
    pub(super) values: Vec<&'static str>,
    /// It is none but these strings.
    pub(super) closed: bool,
    /// It is a time that is over.
    pub(super) past: bool,
    /// Strings of it contain an `@`, or never do.
    pub(super) sign: Option<bool>,
    /// Meanings of values.
    codes: Vec<(&'static str, &'static str)>,
}

impl Fact {
    fn of(record: &'static Record) -> Self {
        let kind = match record.get("type") {
            Some("string") => Some(Kind::String),
            Some("integer") => Some(Kind::Integer),
            Some("number") => Some(Kind::Number),
            Some("boolean") => Some(Kind::Boolean),
            _ => None,
        };
        let range = record.get("range").and_then(|range| {
            let (low, high) = range.split_once("..")?;
            Some((low.parse().ok()?, if high.is_empty() { i64::MAX } else { high.parse().ok()? }))
        });
        let codes = record.get("codes").map_or("", |codes| codes).split(", ").filter_map(|code| code.split_once(' '));
        Fact {
            name: record.name,
            kind,
            expression: record.get("type") == Some("expression"),
            unit: record.get("unit"),
            range,
            most: record.get("most").and_then(|most| most.parse().ok()),
            values: record.get("values").map(|values| values.split(' ').collect()).unwrap_or_default(),
            closed: record.get("closed").is_some(),
            past: record.get("past").is_some(),
            sign: record.get("sign").map(|sign| sign == "always"),
            codes: codes.collect(),
        }
    }

    /// The value with a meaning: 5 for `held`.
    pub(super) fn code_of(&self, word: &str) -> Option<&'static str> {
        self.codes.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, code)| *code)
    }

    /// The value that a string misspells: `X86_64` for `x86-64`.
    pub(super) fn spelled(&self, text: &str) -> Option<&'static str> {
        const OTHER_NAMES: [(&str, &str); 6] = [
            ("amd64", "X86_64"),
            ("x64", "X86_64"),
            ("i386", "INTEL"),
            ("i686", "INTEL"),
            ("linux64", "LINUX"),
            ("win64", "WINDOWS"),
        ];
        let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '-', ' ', '.'], "");
        let other = OTHER_NAMES.iter().find(|(name, _)| *name == plain(text)).map(|(_, value)| *value);
        let same = self.values.iter().find(|known| plain(known) == plain(text)).copied();
        same.or_else(|| other.filter(|value| self.values.contains(value)))
    }
}

static FACTS: LazyLock<HashMap<&'static str, Fact>> =
    LazyLock::new(|| attribute::all().iter().map(|record| (record.name, Fact::of(record))).collect());

/// The facts about an attribute, by its name in lower case.
pub(super) fn fact(name: &[u8]) -> Option<&'static Fact> {
    FACTS.get(attribute::find(name)?.name)
}

/// The way in which an attribute differs among jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variety {
    /// Each job has its own.
    Job,
    /// It counts the jobs of one submission.
    Process,
    /// Each submission has its own.
    Submission,
    /// It is the second of the submission.
    Second,
    /// It is what a user wrote for the job, often a text of its own.
    Written,
    /// It records the history of the job.
    History,
}

/// The attributes of a group that `GROUP_SORT_EXPR` can refer to.
pub(super) const OF_GROUP: &[&str] =
    &["accountinggroup", "groupquota", "groupresourcesallocated", "groupresourcesinuse", "sortexpr", "sortexprstring"];

/// Returns true if an attribute (lower case) is in all slots, or in all jobs: a condition need not handle its absence.
pub(super) fn is_always_present(name: &[u8]) -> bool {
    has(name, "presence", "always")
}

/// The attribute, and its values, without which another attribute (lower case) does not exist.
pub(super) fn exists_only(name: &[u8]) -> Option<(&'static str, Vec<&'static str>)> {
    let mut words = attribute::find(name)?.get("only")?.split(' ');
    Some((words.next()?, words.collect()))
}

/// Returns true if an attribute (lower case) is a string wherever it is.
pub(super) fn is_string(name: &[u8]) -> bool {
    has(name, "type", "string")
}

/// Returns true if jobs have an attribute (lower case), and slots do not unless the configuration copies it.
pub(super) fn is_of_jobs(name: &[u8]) -> bool {
    has(name, "ad", "job")
}

/// The kind of ad that alone has an attribute (lower case): `job`, `slot` or `scheduler`.
pub(super) fn only_in(name: &[u8]) -> Option<&'static str> {
    attribute::find(name)?.get("ad")
}

fn has(name: &[u8], field: &str, value: &str) -> bool {
    attribute::find(name).is_some_and(|attribute| attribute.get(field) == Some(value))
}

/// Returns true if an attribute (lower case) is one that HTCondor knows, whatever the ads have.
pub(super) fn is_known(name: &[u8]) -> bool {
    let of_group = || OF_GROUP.iter().any(|known| known.as_bytes() == name);
    attribute::find(name).is_some() || of_group() || is_numbered(name) || MORE.contains(name)
}

/// Attributes of which only the name is known, lower case.
static MORE: LazyLock<HashSet<Vec<u8>>> =
    LazyLock::new(|| more_names().map(|name| name.to_ascii_lowercase().into_bytes()).collect());

/// The names of those attributes, as HTCondor spells them.
fn more_names() -> impl Iterator<Item = &'static str> {
    static LISTS: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/more_attributes.txt")).collect());
    LISTS.iter().flat_map(|list| list.about.split_whitespace())
}

/// Names that are often written for an attribute, lower case.
const FOR_ATTRIBUTES: [(&[u8], &str); 65] = [
    (b"opsysmajver", "OpSysMajorVer"),
    (b"opsysmajor", "OpSysMajorVer"),
    (b"architecture", "Arch"),
    (b"diskused", "DiskUsage"),
    (b"enteredstatus", "EnteredCurrentStatus"),
    (b"helddate", "EnteredCurrentStatus"),
    (b"holddate", "EnteredCurrentStatus"),
    (b"holdsubcode", "HoldReasonSubCode"),
    (b"jobowner", "Owner"),
    (b"jobpriority", "JobPrio"),
    (b"machineactivity", "Activity"),
    (b"machinestate", "State"),
    (b"memoryused", "MemoryUsage"),
    (b"numstarts", "NumJobStarts"),
    (b"slotactivity", "Activity"),
    (b"slotstate", "State"),
    (b"totallocalrunning", "TotalLocalJobsRunning"),
    (b"totalschedulerrunning", "TotalSchedulerJobsRunning"),
    (b"totallocalidle", "TotalLocalJobsIdle"),
    (b"totalscheduleridle", "TotalSchedulerJobsIdle"),
    (b"os", "OpSys"),
    (b"dayofweek", "ClockDay"),
    (b"acctgrp", "AcctGroup"),
    (b"kflop", "KFlops"),
    (b"mip", "Mips"),
    (b"now", "CurrentTime"),
    (b"status", "JobStatus"),
    (b"walltime", "RemoteWallClockTime"),
    (b"accountinggrp", "AccountingGroup"),
    (b"cpu", "Cpus"),
    (b"exitstatuscode", "ExitCode"),
    (b"holdcode", "HoldReasonCode"),
    (b"hostname", "Machine"),
    (b"jobstate", "JobStatus"),
    (b"keyboardidletime", "KeyboardIdle"),
    (b"loadaverage", "LoadAvg"),
    (b"machinename", "Machine"),
    (b"numcores", "Cpus"),
    (b"operatingsystem", "OpSys"),
    (b"opsysandversion", "OpSysAndVer"),
    (b"osversion", "OpSysVer"),
    (b"totalcores", "TotalCpus"),
    (b"queuedate", "QDate"),
    (b"remotewallclock", "RemoteWallClockTime"),
    (b"submittime", "QDate"),
    (b"wallclocktime", "RemoteWallClockTime"),
    (b"ncpus", "Cpus"),
    (b"numcpus", "Cpus"),
    (b"remotewalltime", "RemoteWallClockTime"),
    (b"totalmem", "TotalMemory"),
    (b"opsysmajorversion", "OpSysMajorVer"),
    (b"opsysversion", "OpSysVer"),
    (b"requestcores", "RequestCpus"),
    (b"requestcpu", "RequestCpus"),
    (b"requestgpu", "RequestGPUs"),
    (b"requestmem", "RequestMemory"),
    (b"requestram", "RequestMemory"),
    (b"remoteprio", "RemoteUserPrio"),
    (b"remotepriority", "RemoteUserPrio"),
    (b"remoteuserpriority", "RemoteUserPrio"),
    (b"submitterprio", "SubmitterUserPrio"),
    (b"submitterpriority", "SubmitterUserPrio"),
    (b"submitteruserpriority", "SubmitterUserPrio"),
    (b"totalcpu", "TotalCpus"),
    // Neither a job nor a slot has it: the negotiator adds this one.
    (b"userprio", "SubmitterUserPrio"),
];

/// The names of attributes without one letter, and whole, with the names they come from.
static SHORTENED: LazyLock<HashMap<Vec<u8>, Vec<&'static str>>> = LazyLock::new(|| {
    let mut shortened: HashMap<Vec<u8>, Vec<&'static str>> = HashMap::new();
    let known = attribute::all().iter().map(|record| record.name).filter(|name| name.len() >= SHORTEST_SLIP);
    for name in known.chain(more_names().filter(|name| name.len() >= SHORTEST_LESS_KNOWN)) {
        for short in without_a_letter(&name.to_ascii_lowercase().into_bytes()) {
            shortened.entry(short).or_default().push(name);
        }
    }
    shortened
});

/// The long names of attributes, each with its letters: two slips in them still leave no other word.
static LONG: LazyLock<Vec<(u32, &'static str)>> = LazyLock::new(|| {
    let known = attribute::all().iter().map(|record| record.name).chain(more_names());
    known.filter(|name| name.len() >= SHORTEST_OF_TWO_SLIPS).map(|name| (letters(name.as_bytes()), name)).collect()
});

/// The letters of a name, without regard to case.
fn letters(name: &[u8]) -> u32 {
    name.iter().fold(0, |letters, byte| letters | 1 << ((byte | 0x20) & 31))
}

/// Shorter names are not taken for misspelled ones; of those up to [`SHORTEST_OF_ANY_SLIP`], only such with swapped or doubled
/// letters, or with a letter less than an attribute that all ads of a kind have.
const SHORTEST_SLIP: usize = 4;

/// The shortest names that can be such an attribute without a letter.
const SHORTEST_LACKING: usize = 5;

/// Names of this length or more are taken for misspelled ones with any slip.
const SHORTEST_OF_ANY_SLIP: usize = 7;

/// Of attributes that are rarely used, only names of this length or more are taken for misspelled ones.
const SHORTEST_LESS_KNOWN: usize = 12;

/// Names of this length or more may have two slips.
const SHORTEST_OF_TWO_SLIPS: usize = 16;

/// A name, and the name without each of its letters.
fn without_a_letter(name: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let shorter = (0..name.len()).map(|at| [&name[..at], &name[at + 1..]].concat());
    std::iter::once(name.to_vec()).chain(shorter)
}

/// The attribute that a name (lower case), which is not known, misspells by one letter or two swapped ones. Digits and
/// underscores are chosen.
pub(super) fn misspelled_attribute(name: &[u8]) -> Option<&'static str> {
    let stem = |name: &[u8]| name.iter().copied().filter(u8::is_ascii_alphabetic).collect::<Vec<_>>();
    if let Some((_, meant)) = FOR_ATTRIBUTES.iter().find(|(known, _)| *known == name) {
        return Some(meant);
    }
    if name.len() < SHORTEST_SLIP || name.len() > 64 {
        return None;
    }
    let near = without_a_letter(name).filter_map(|short| SHORTENED.get(&short)).flatten();
    let is_slip = |known: &&&str| {
        let lower = known.to_ascii_lowercase().into_bytes();
        let is_common = || attribute::find(&lower).is_some_and(|known| known.get("presence") == Some("always"));
        let lacks_letter = name.len() >= SHORTEST_LACKING && near::lacks_letter(name, &lower) && is_common();
        let long = name.len().min(lower.len()) >= SHORTEST_OF_ANY_SLIP || lacks_letter || near::is_slip(name, &lower);
        long && stem(&lower) != stem(name) && near::distance(name, &lower, 1).is_some()
    };
    let near = near.filter(is_slip).min().copied();
    near.or_else(|| twice_misspelled(name)).or_else(|| reworded(name)).or_else(|| reordered(name))
}

/// The attribute that the name (lower case) of one that is set, and not looked for, misspells: a site may have short names of its own.
pub(super) fn misspelled_own(name: &[u8]) -> Option<&'static str> {
    const SHORTEST: usize = 8;
    /// Attributes of pools and sites that many jobs set.
    const OF_SITES: [&str; 7] = [
        "DESIRED_Sites",
        "ProjectName",
        "SingularityImage",
        "UNDESIRED_Sites",
        "WantFlocking",
        "WantGlidein",
        "WantParallelScheduling",
    ];
    if name.len() < SHORTEST || is_known(name) {
        return None;
    }
    if OF_SITES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name)) {
        return None;
    }
    // Another number, digits and underscores are chosen.
    let stem = |name: &str| name.to_ascii_lowercase().replace('_', "").trim_end_matches('s').to_owned();
    let own = stem(&String::from_utf8_lossy(name));
    // `HAS_SINGULARITY`: sites write their own attributes so.
    let is_own = |meant: &str| name.contains(&b'_') && stem(meant) == own;
    let is_near = |meant: &&str| near::distance(name, meant.as_bytes(), 2).is_some() && !is_own(meant);
    let meant = misspelled_attribute(name).filter(is_near);
    meant.or_else(|| near::closest_within(1, name, OF_SITES.into_iter().filter(|known| stem(known) != own)))
}

/// The attribute with a long name that a name (lower case) misspells by two letters. Digits, and the smallest for the largest, are
/// chosen.
fn twice_misspelled(name: &[u8]) -> Option<&'static str> {
    // Both letters may be missing.
    if name.len() + 2 < SHORTEST_OF_TWO_SLIPS {
        return None;
    }
    let plain = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase().replace("min", "max");
    let digits = |name: &[u8]| name.iter().copied().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
    let own = letters(name);
    let is_near = |other: u32| (own & !other).count_ones() <= 2 && (other & !own).count_ones() <= 2;
    let is_slip = |known: &&str| {
        let known = known.as_bytes();
        known[0].eq_ignore_ascii_case(&name[0]) && digits(known) == digits(name) && plain(known) != plain(name)
    };
    let near = LONG.iter().filter(|(other, _)| is_near(*other)).map(|(_, known)| *known).filter(is_slip);
    near::closest_within(2, name, near)
}

/// The attribute of which a name (lower case) has all words but one, which is longer or shorter: `RequestedMemory`,
/// `TotalLoadAverage`.
fn reworded(name: &[u8]) -> Option<&'static str> {
    /// Letters of a word, of the words that are the same together, and of those that one word has more than the other.
    const SHORTEST_WORD: usize = 3;
    const SHORTEST_OTHERS: usize = 6;
    const MOST_MORE: usize = 4;
    let is_within = |short: &[u8], long: &[u8]| {
        let mut letters = long.iter();
        short.iter().all(|letter| letters.any(|other| other == letter))
    };
    let is_like = |one: &[u8], other: &[u8]| {
        let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
        let more = long.len() - short.len();
        short.len() >= SHORTEST_WORD && (1..=MOST_MORE).contains(&more) && short[0] == long[0] && is_within(short, long)
    };
    let is_meant = |known: &&str| {
        let lower = known.to_ascii_lowercase();
        words(known).into_iter().any(|word| {
            let (before, own, after) = (&lower[..word.start], &lower[word.clone()], &lower[word.end..]);
            let rest = name.strip_prefix(before.as_bytes()).and_then(|rest| rest.strip_suffix(after.as_bytes()));
            before.len() + after.len() >= SHORTEST_OTHERS && rest.is_some_and(|rest| is_like(rest, own.as_bytes()))
        })
    };
    let known = attribute::all().iter().map(|record| record.name).filter(|known| known.len() >= SHORTEST_LESS_KNOWN);
    let mut meant = known.filter(|known| known.is_ascii()).filter(is_meant);
    meant.next().filter(|_| meant.next().is_none())
}

/// The parts of a name that begin with a capital letter.
fn words(name: &str) -> Vec<Range<usize>> {
    let capitals = name.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_uppercase());
    let starts: Vec<usize> = capitals.map(|(at, _)| at).chain([name.len()]).collect();
    starts.windows(2).map(|two| two[0]..two[1]).collect()
}

/// The attribute whose words a name (lower case) has in another order: `TotalLocalRunningJobs`.
fn reordered(name: &[u8]) -> Option<&'static str> {
    const SHORTEST_WORD: usize = 3;
    /// Tests whether a text is all of some words, in any order.
    fn is_made_of(text: &[u8], words: &[&[u8]]) -> bool {
        text.is_empty()
            || words.iter().enumerate().any(|(at, word)| {
                let others = || [&words[..at], &words[at + 1..]].concat();
                text.strip_prefix(*word).is_some_and(|rest| is_made_of(rest, &others()))
            })
    }
    let is_meant = |known: &&str| {
        let lower = known.to_ascii_lowercase();
        let places = words(known);
        let own: Vec<&[u8]> = places.iter().map(|word| &lower.as_bytes()[word.clone()]).collect();
        let is_whole = places.first().is_some_and(|first| first.start == 0);
        is_whole && own.iter().all(|word| word.len() >= SHORTEST_WORD) && is_made_of(name, &own)
    };
    let known = attribute::all().iter().map(|record| record.name).chain(more_names());
    let mut meant =
        known.filter(|known| known.len() == name.len() && known.len() >= SHORTEST_LESS_KNOWN).filter(is_meant);
    meant.next().filter(|_| meant.next().is_none())
}

/// Returns true for the numbered attributes that past matches leave in a job: `LastMatchName0`, `MachineAttrCpus1`.
fn is_numbered(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &name[..name.len() - digits];
    digits > 0 && (stem == b"lastmatchname" || stem.len() > b"machineattr".len() && stem.starts_with(b"machineattr"))
}

/// The condition on one attribute that implies another one exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PresenceCondition {
    /// It is this number.
    Is(i32),
    /// It is true.
    True,
    /// It is false.
    False,
    /// It exists.
    Defined,
}

/// The attributes, with their conditions, that imply an attribute (lower case) exists.
pub(super) fn presence_conditions(name: &[u8]) -> impl Iterator<Item = (&'static str, PresenceCondition)> {
    let fields = attribute::find(name).map_or(&[][..], |attribute| &attribute.fields);
    fields.iter().filter(|(field, _)| *field == "if").filter_map(|(_, text)| {
        let (attribute, value) = text.split_once(' ')?;
        let condition = match value {
            "defined" => PresenceCondition::Defined,
            "true" => PresenceCondition::True,
            "false" => PresenceCondition::False,
            number => PresenceCondition::Is(number.parse().ok()?),
        };
        Some((attribute, condition))
    })
}

/// Returns true if an attribute (lower case) differs from job to job.
pub fn is_per_job(name: &[u8]) -> bool {
    variety(name).is_some()
}

/// The way in which an attribute (lower case) differs from job to job; `None` if it usually does not.
pub(super) fn variety(name: &[u8]) -> Option<Variety> {
    Some(match attribute::find(name)?.get("varies")? {
        "job" => Variety::Job,
        "process" => Variety::Process,
        "submission" => Variety::Submission,
        "second" => Variety::Second,
        "written" => Variety::Written,
        "history" => Variety::History,
        _ => return None,
    })
}

/// Returns true if a word (lower case) is a value of an attribute whose values are names.
pub(super) fn is_value_of(attribute: &[u8], word: &[u8]) -> bool {
    let values = attribute::find(attribute).and_then(|attribute| attribute.get("values"));
    values.is_some_and(|values| values.split(' ').any(|value| value.as_bytes().eq_ignore_ascii_case(word)))
}
