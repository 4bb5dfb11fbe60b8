//! `slurm.conf`: the priority family, the partitions; everything else is passed over.
//!
//! One file: the table of options and the reader that uses it; the last third is tests.
//! Formula source: `docs/reference/slurm-multifactor.md` 6.1.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::line::{Line, lines, pairs};
use super::weights::RESOURCES;
use super::{Duration, HostList, NodeLine, Partition, PriorityFlags, Release, TresWeights, Weights};
use crate::config::files::beside;
use crate::config::{ConfigError, Diagnostic, Files, Location};
use classmate::internal::builtin::near;

/// Maximum depth of includes.
const MAX_INCLUDE_DEPTH: usize = 16;

/// Maximum number of included files.
const MAX_FILES: usize = 256;

/// Sets an option to a value as it is written; the error is what was expected.
type Setter<T> = fn(&mut T, &str) -> Result<(), String>;

/// The options that are read: those of the priority family, and the licenses of the cluster.
const OPTIONS: [(&str, Setter<SlurmConf>); 20] = [
    ("FairShareDampeningFactor", |conf, value| {
        let factor = value.parse().ok().filter(|&factor: &u16| factor > 0);
        conf.dampening = factor.ok_or("a whole number from 1 to 65535")?;
        Ok(())
    }),
    ("Licenses", |conf, value| {
        conf.licenses = TresWeights::licenses(value).ok_or("a list such as `matlab:10,ansys@server:5`")?;
        Ok(())
    }),
    ("PriorityCalcPeriod", |conf, value| match long_time(value)? {
        Duration::Seconds(0..60) => Err("a time of at least one minute".to_owned()),
        period => {
            conf.calc_period = period;
            Ok(())
        }
    }),
    ("PriorityDecayHalfLife", |conf, value| long_time(value).map(|time| conf.half_life = time)),
    ("PriorityFavorSmall", |conf, value| truth(value).map(|truth| conf.favor_small = truth)),
    ("PriorityFlags", |conf, value| {
        conf.flags = PriorityFlags::parse(value);
        Ok(())
    }),
    ("PriorityMaxAge", |conf, value| long_time(value).map(|time| conf.max_age = time)),
    ("PriorityParameters", unused),
    ("PrioritySiteFactorParameters", unused),
    ("PrioritySiteFactorPlugin", unused),
    ("PriorityType", |conf, value| {
        conf.priority_type = match value.to_ascii_lowercase().as_str() {
            "priority/multifactor" => PriorityType::Multifactor,
            "priority/basic" => PriorityType::Basic,
            _ => return Err("`priority/multifactor` or `priority/basic`".to_owned()),
        };
        Ok(())
    }),
    ("PriorityUsageResetPeriod", |conf, value| {
        conf.reset = ResetPeriod::parse(value)
            .ok_or("`NONE`, `NOW`, `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY`, `YEARLY` or a time")?;
        Ok(())
    }),
    ("PriorityWeightAge", |conf, value| weight(value).map(|weight| conf.weights.age = weight)),
    ("PriorityWeightAssoc", |conf, value| weight(value).map(|weight| conf.weights.association = weight)),
    ("PriorityWeightFairshare", |conf, value| weight(value).map(|weight| conf.weights.fair_share = weight)),
    ("PriorityWeightJobSize", |conf, value| weight(value).map(|weight| conf.weights.job_size = weight)),
    ("PriorityWeightPartition", |conf, value| weight(value).map(|weight| conf.weights.partition = weight)),
    ("PriorityWeightQOS", |conf, value| weight(value).map(|weight| conf.weights.qos = weight)),
    ("PriorityWeightTRES", |conf, value| tres_weights(value).map(|weights| conf.tres_weights = weights)),
    ("SLURM_VERSION", |conf, value| {
        conf.release = Release::parse(value);
        Ok(())
    }),
];

/// The names of the priority family on the line of a partition.
const PARTITION_FAMILY: [&str; 3] = ["Priority", "PriorityJobFactor", "PriorityTier"];

/// The options of a partition's line that are read, by their names in lower case. `Priority` comes after what it
/// overrides, in no order of the line.
const OF_PARTITION: [(&str, Setter<Partition>); 7] = [
    ("priorityjobfactor", |partition, value| factor(value).map(|factor| partition.job_factor = factor)),
    ("prioritytier", |partition, value| factor(value).map(|tier| partition.tier = tier)),
    ("priority", |partition, value| factor(value).map(|both| (partition.job_factor, partition.tier) = (both, both))),
    ("tresbillingweights", |partition, value| tres_weights(value).map(|prices| partition.billing = Some(prices))),
    ("maxtime", |partition, value| {
        partition.max_time = time(value).ok_or("a time such as `30` (minutes) or `7-0`")?;
        Ok(())
    }),
    ("nodes", |partition, value| {
        partition.nodes = HostList::parse(value);
        Ok(())
    }),
    ("default", |partition, value| truth(value).map(|truth| partition.default = truth)),
];

fn unused(_: &mut SlurmConf, _: &str) -> Result<(), String> {
    Ok(())
}

fn weight(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| "a whole number from 0 to 4294967295".to_owned())
}

fn factor(value: &str) -> Result<u16, String> {
    value.parse().map_err(|_| "a whole number from 0 to 65535".to_owned())
}

fn time(value: &str) -> Option<Duration> {
    Duration::parse(value).map(Duration::in_whole_minutes)
}

fn long_time(value: &str) -> Result<Duration, String> {
    time(value).ok_or_else(|| "a time such as `30` (minutes), `12:00:00` or `7-0`".to_owned())
}

fn tres_weights(value: &str) -> Result<TresWeights, String> {
    TresWeights::parse(value).map_err(|error| format!("a list such as `CPU=1000,Mem=0.25G` ({error})"))
}

fn truth(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "up" | "true" | "1" => Ok(true),
        "no" | "down" | "false" | "0" => Ok(false),
        _ => Err("`YES` or `NO`".to_owned()),
    }
}

/// `PriorityType`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PriorityType {
    /// `priority/multifactor`.
    #[default]
    Multifactor,
    /// `priority/basic`: first come, first served.
    Basic,
}

/// `PriorityUsageResetPeriod`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetPeriod {
    /// `NONE`: never.
    #[default]
    None,
    /// `NOW`: once, at the start.
    Now,
    /// `DAILY`.
    Daily,
    /// `WEEKLY`, on Sundays.
    Weekly,
    /// `MONTHLY`.
    Monthly,
    /// `QUARTERLY`: January, April, July, October.
    Quarterly,
    /// `YEARLY`.
    Yearly,
    /// So many seconds after the last reset.
    Every(u64),
}

impl ResetPeriod {
    /// Reads a period: a word in any case, or a time string.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "NONE" => Self::None,
            "NOW" => Self::Now,
            "DAILY" => Self::Daily,
            "WEEKLY" => Self::Weekly,
            "MONTHLY" => Self::Monthly,
            "QUARTERLY" => Self::Quarterly,
            "YEARLY" => Self::Yearly,
            _ => match Duration::parse(text)?.in_whole_minutes() {
                Duration::Seconds(0) | Duration::Infinite => Self::None,
                Duration::Seconds(seconds) => Self::Every(seconds),
            },
        })
    }
}

/// The priority settings of a `slurm.conf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlurmConf {
    /// `PriorityType`.
    pub priority_type: PriorityType,
    /// `PriorityDecayHalfLife`, in whole minutes; 0: usage does not decay.
    pub half_life: Duration,
    /// `PriorityCalcPeriod`, in whole minutes.
    pub calc_period: Duration,
    /// `PriorityMaxAge`, in whole minutes.
    pub max_age: Duration,
    /// `PriorityUsageResetPeriod`.
    pub reset: ResetPeriod,
    /// `PriorityFavorSmall`.
    pub favor_small: bool,
    /// `PriorityFlags`.
    pub flags: PriorityFlags,
    /// The weights of the factors.
    pub weights: Weights,
    /// `PriorityWeightTRES`.
    pub tres_weights: TresWeights,
    /// `FairShareDampeningFactor`.
    pub dampening: u16,
    /// `Licenses`: how many there are of each, as `license/NAME`.
    #[serde(default)]
    pub licenses: TresWeights,
    /// The partitions, in the order of the file.
    pub partitions: Vec<Partition>,
    /// The nodes, in the order of the file.
    #[serde(default)]
    pub nodes: Vec<NodeLine>,
    /// `SLURM_VERSION`, which `scontrol show config` prints.
    #[serde(default)]
    pub release: Option<Release>,
    /// The values of the priority family as written, by lower-case name.
    pub written: BTreeMap<String, String>,
}

impl Default for SlurmConf {
    fn default() -> Self {
        Self {
            priority_type: PriorityType::Multifactor,
            half_life: Duration::Seconds(7 * 86_400),
            calc_period: Duration::Seconds(300),
            max_age: Duration::Seconds(7 * 86_400),
            reset: ResetPeriod::None,
            favor_small: false,
            flags: PriorityFlags::default(),
            weights: Weights::default(),
            tres_weights: TresWeights::default(),
            dampening: 1,
            licenses: TresWeights::default(),
            partitions: Vec::new(),
            nodes: Vec::new(),
            release: None,
            written: BTreeMap::new(),
        }
    }
}

/// The code of a warning about a line that is skipped.
pub const SKIPPED_LINE: &str = "skipped-line";

/// The problems of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defects {
    /// The errors, in the order in which they were found.
    pub errors: Vec<ConfigError>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Defects {
    /// Adds an error.
    pub(super) fn error(&mut self, place: &Location, message: impl Into<String>) {
        self.errors.push(Diagnostic::error_at(message, place.clone()));
    }

    /// Adds a warning.
    pub(super) fn warning(&mut self, place: &Location, message: impl Into<String>) {
        self.warnings.push(Diagnostic::warning_at(message, place.clone()));
    }

    /// A line that is skipped for this reason.
    pub(super) fn skipped(&mut self, place: &Location, why: &str) {
        let warning = Diagnostic::warning_at(format!("{why}: skipped the line"), place.clone());
        self.warnings.push(warning.code(SKIPPED_LINE));
    }
}

impl SlurmConf {
    /// Reads a file with those it includes. What is wrong keeps its default.
    ///
    /// ```
    /// use classmate_config::TextFiles;
    /// use classmate_config::SlurmConf;
    /// let text = b"PriorityWeightAge=1000 # a week\nPriorityWaightQOS=5\nSlurmctldPort=6817\n";
    /// let (conf, defects) = SlurmConf::read("slurm.conf", text, &TextFiles::default());
    /// assert_eq!(conf.weights.age, 1000);
    /// assert_eq!(defects.errors[0].line(), 2);
    /// assert_eq!(defects.errors[0].help.as_deref(), Some("did you mean `PriorityWeightQOS`?"));
    /// ```
    pub fn read(name: &str, text: &[u8], files: &dyn Files) -> (Self, Defects) {
        Self::read_changed(name, text, files, ("", &[]))
    }

    /// As [`SlurmConf::read`], with lines after it that change what is there. That of a partition leaves what it does
    /// not name; `changes` are their name, for messages, and the lines.
    ///
    /// ```
    /// use classmate_config::TextFiles;
    /// use classmate_config::SlurmConf;
    /// let text = b"PartitionName=debug Nodes=n[1-2] MaxTime=30 PriorityTier=1\n";
    /// let changes = ["PartitionName=debug PriorityTier=5".to_owned()];
    /// let (conf, _) = SlurmConf::read_changed("slurm.conf", text, &TextFiles::default(), ("--set", &changes));
    /// let debug = conf.partition("debug").unwrap();
    /// assert_eq!((debug.tier, debug.max_time.seconds()), (5, Some(1800)));
    /// ```
    pub fn read_changed(name: &str, text: &[u8], files: &dyn Files, changes: (&str, &[String])) -> (Self, Defects) {
        Self::read_all(&[(name.to_owned(), text.to_vec())], files, changes)
    }

    /// As [`SlurmConf::read_changed`], of several files by name, one after the other: what `scontrol show config` and
    /// `scontrol -o show partitions` print is in two.
    pub fn read_all(texts: &[(String, Vec<u8>)], files: &dyn Files, changes: (&str, &[String])) -> (Self, Defects) {
        let (values, partitions, nodes, defects) = (BTreeMap::new(), Vec::new(), Vec::new(), Defects::default());
        let mut reader = ConfReader { files, values, partitions, nodes, defects, included: 0 };
        for (name, text) in texts {
            reader.file(name, text, 0);
        }
        let (source, lines) = changes;
        let source: Arc<str> = Arc::from(source);
        for (number, line) in (1..).zip(lines) {
            reader.change(line, Location { file: Arc::clone(&source), line: number, column: 1 });
        }
        reader.finish()
    }

    /// Returns true if a line sets what is read of a `slurm.conf`: a partition, or a name of the priority family,
    /// misspelled ones too.
    ///
    /// ```
    /// use classmate_config::SlurmConf;
    /// assert!(SlurmConf::is_line("PriorityWeightAge = 5"));
    /// assert!(!SlurmConf::is_line("PRIORITY_HALFLIFE = 5"));
    /// ```
    pub fn is_line(line: &str) -> bool {
        let name = line.split(['=', ' ']).next().unwrap_or_default();
        name.eq_ignore_ascii_case("PartitionName") || is_family(name) && !name.contains('_')
    }

    /// A partition by name, in any case.
    pub fn partition(&self, name: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name.eq_ignore_ascii_case(name))
    }

    /// The partition of jobs that name none: the last one that says so.
    pub fn default_partition(&self) -> Option<&Partition> {
        self.partitions.iter().rev().find(|partition| partition.default)
    }

    /// The largest factor of all partitions, at least 1.
    pub fn max_job_factor(&self) -> u16 {
        self.partitions.iter().map(|partition| partition.job_factor).max().unwrap_or(1).max(1)
    }
}

/// A value and its place.
struct WrittenOption {
    /// Its name as written.
    key: String,
    value: String,
    place: Location,
}

/// Names as written and values, by the names in lower case.
pub(super) type Pairs = BTreeMap<String, (String, String)>;

struct ConfReader<'f> {
    files: &'f dyn Files,
    values: BTreeMap<String, WrittenOption>,
    /// Lines of partitions.
    partitions: Vec<(Pairs, Location)>,
    /// Lines of nodes.
    nodes: Vec<(Pairs, Location)>,
    defects: Defects,
    /// The number of included files.
    included: usize,
}

impl ConfReader<'_> {
    fn file(&mut self, name: &str, text: &[u8], depth: usize) {
        let shown: Arc<str> = Arc::from(name);
        let printed = text.starts_with(PRINTED);
        for Line { number, text } in lines(text) {
            if printed && !is_setting(&text) {
                continue;
            }
            let place = Location { file: Arc::clone(&shown), line: number, column: 1 };
            match included(&text) {
                Some(path) => self.include(name, path, &place, depth),
                None => self.line(&text, place),
            }
        }
    }

    fn include(&mut self, from: &str, path: &str, place: &Location, depth: usize) {
        let whole = beside(from, path);
        self.included += 1;
        let message = if depth >= MAX_INCLUDE_DEPTH {
            format!("files include one another more than {MAX_INCLUDE_DEPTH} deep")
        } else if self.included > MAX_FILES {
            format!("more than {MAX_FILES} files are included")
        } else {
            match self.files.read(&whole) {
                Ok(text) => return self.file(&whole, &text, depth + 1),
                Err(error) => format!("cannot include `{path}`: {error}"),
            }
        };
        self.defects.error(place, message);
    }

    fn line(&mut self, text: &str, place: Location) {
        let (pairs, rest) = pairs(text);
        let first = pairs.first().map_or_else(|| rest.split([' ', '=']).next().unwrap_or_default(), |(key, _)| key);
        let of_partition = first.eq_ignore_ascii_case("PartitionName");
        if !rest.is_empty() && (of_partition || is_family(first)) {
            self.defects.error(&place, format!("expected `Key=Value`, found `{rest}`"));
        } else if pairs.is_empty() && !rest.is_empty() {
            self.defects.skipped(&place, &format!("expected `Key=Value`, found `{rest}`"));
        } else if text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
            self.defects.warning(&place, format!("a quote of `{text}` is not closed"));
        }
        let hosts = if of_partition { "Nodes" } else { "NodeName" };
        for (_, value) in pairs.iter().filter(|(key, _)| key.eq_ignore_ascii_case(hosts)) {
            if !HostList::is_balanced(value) {
                self.defects.error(&place, format!("`{hosts}` is `{value}`, expected as many `]` as `[`"));
            }
        }
        if of_partition {
            for (key, _) in &pairs {
                self.check_name(key, PARTITION_FAMILY, &place);
            }
            self.partitions.push((owned(pairs), place));
        } else if first.eq_ignore_ascii_case("NodeName") {
            self.nodes.push((owned(pairs), place));
        } else if !["NodeSet", "DownNodes", "FrontendName"].iter().any(|key| first.eq_ignore_ascii_case(key)) {
            for (key, value) in pairs {
                self.check_name(key, OPTIONS.map(|(name, _)| name), &place);
                if OPTIONS.iter().any(|(name, _)| key.eq_ignore_ascii_case(name)) {
                    let (written, value) = (key.to_owned(), value.to_owned());
                    let written = WrittenOption { key: written, value, place: place.clone() };
                    self.values.insert(key.to_ascii_lowercase(), written);
                }
            }
        }
    }

    /// A line that changes what is there.
    fn change(&mut self, text: &str, place: Location) {
        let known = self.partitions.len();
        self.line(text, place.clone());
        let Some((pairs, _)) = (self.partitions.len() > known).then(|| self.partitions.pop()).flatten() else { return };
        let name = |pairs: &Pairs| pairs.get("partitionname").map(|(_, name)| name.clone()).unwrap_or_default();
        let changed = name(&pairs);
        let unread = pairs
            .iter()
            .filter(|(key, _)| !OF_PARTITION.iter().any(|(name, _)| name == key) && *key != "partitionname");
        for (_, (shown, _)) in unread {
            self.defects.warning(&place, format!("`{shown}` of a partition has no effect here"));
        }
        if changed.eq_ignore_ascii_case("DEFAULT") {
            let message = "`PartitionName=DEFAULT` applies to the lines after it, but there are none";
            self.defects.errors.push(Diagnostic::error_at(message, Some(place)).help("add the partitions"));
            return;
        }
        if let Some(there) = self.partitions.iter_mut().rfind(|(pairs, _)| name(pairs) == changed) {
            there.0.extend(pairs);
            there.1 = place;
            return;
        }
        let names: Vec<String> = self.partitions.iter().map(|(pairs, _)| name(pairs)).collect();
        let warning = Diagnostic::warning_at(format!("partition `{changed}` is new"), place.clone());
        let near = near::closest(changed.as_bytes(), names.iter().map(String::as_str));
        self.defects.warnings.push(warning.did_you_mean(near));
        self.partitions.push((pairs, place));
    }

    /// An unknown name of the family is an error: a misspelled weight would silently be 0.
    fn check_name<const N: usize>(&mut self, key: &str, known: [&str; N], place: &Location) {
        if !is_family(key) || known.iter().any(|name| key.eq_ignore_ascii_case(name)) {
            return;
        }
        let error =
            Diagnostic::error_at(format!("`{key}` is not a priority parameter"), place.clone()).width(key.len());
        let of_partition = PARTITION_FAMILY.iter().find(|name| key.eq_ignore_ascii_case(name));
        self.defects.errors.push(match of_partition {
            Some(name) => error.help(format!("write it on the line of a partition: `PartitionName=… {name}=…`")),
            None => error.did_you_mean(near::closest(key.as_bytes(), known)),
        });
    }

    fn finish(mut self) -> (SlurmConf, Defects) {
        let mut conf = SlurmConf::default();
        let values = std::mem::take(&mut self.values);
        for (key, WrittenOption { key: shown, value, place }) in &values {
            let setter = OPTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
            if let Some(Err(expected)) = setter.map(|(_, set)| set(&mut conf, value)) {
                self.defects.error(place, format!("`{shown}` is `{value}`, expected {expected}"));
            }
            if key == "priorityflags" {
                self.check_flags(value, place);
            }
        }
        if let Some(WrittenOption { key, value, place }) = values.get("priorityweighttres") {
            self.check_resources((key, value), &conf.tres_weights, place);
        }
        let place = |key: &str| values.get(key).map(|written| written.place.clone());
        if conf.half_life == Duration::Seconds(0) && conf.reset == ResetPeriod::None {
            let message = "usage does not decay and is not reset: `PriorityDecayHalfLife` is 0 and \
            `PriorityUsageResetPeriod` is not set";
            self.defects
                .errors
                .push(Diagnostic::error_at(message, place("prioritydecayhalflife")).help("set one of them"));
        }
        let Weights { age, association, fair_share, job_size, partition, qos } = conf.weights;
        let sum: u64 =
            [age, association, fair_share, job_size, partition, qos].iter().map(|&weight| u64::from(weight)).sum();
        if sum > u64::from(u32::MAX)
            && let Some(place) = place("priorityweightage").or_else(|| place("priorityweightfairshare"))
        {
            self.defects.warning(
                &place,
                format!("the sum of the weights is {sum}, more than 4294967295, so priorities are truncated"),
            );
        }
        let family = values.into_iter().filter(|(key, _)| is_family(key));
        conf.written = family.map(|(key, written)| (key, written.value)).collect();
        self.partitions(&mut conf);
        self.nodes(&mut conf);
        self.defects.errors.sort_by_key(classmate::Diagnostic::line);
        (conf, self.defects)
    }

    fn check_flags(&mut self, text: &str, place: &Location) {
        let known = PriorityFlags::default().table().map(|(word, _)| word);
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if !known.iter().any(|known| word.eq_ignore_ascii_case(known)) {
                let warning = Diagnostic::warning_at(format!("`{word}` is not a priority flag"), place.clone());
                self.defects.warnings.push(warning.did_you_mean(near::closest(word.as_bytes(), known)));
            }
        }
    }

    /// A resource that Slurm does not know counts nothing.
    fn check_resources(&mut self, (key, value): (&str, &str), weights: &TresWeights, place: &Location) {
        for name in weights.unknown() {
            let mut written = value.split([',', '=']).map(str::trim);
            let shown = written.find(|written| written.eq_ignore_ascii_case(name)).unwrap_or(name);
            let message = format!("`{shown}` in `{key}` is not a Slurm resource");
            let near = near::closest(name.as_bytes(), RESOURCES);
            self.defects.warnings.push(Diagnostic::warning_at(message, place.clone()).did_you_mean(near));
        }
    }

    fn partitions(&mut self, conf: &mut SlurmConf) {
        for (name, whole, place) in with_defaults(std::mem::take(&mut self.partitions), "partitionname") {
            let mut partition = Partition::named(&name);
            for (key, set) in OF_PARTITION {
                let Some((shown, value)) = whole.get(key) else { continue };
                if let Err(expected) = set(&mut partition, value) {
                    self.defects
                        .error(&place, format!("`{shown}` of partition `{name}` is `{value}`, expected {expected}"));
                }
            }
            if let (Some(prices), Some((key, value))) = (&partition.billing, whole.get("tresbillingweights")) {
                self.check_resources((key, value), prices, &place);
            }
            match conf.partitions.iter_mut().find(|known| known.name == name) {
                Some(known) => *known = partition,
                None => conf.partitions.push(partition),
            }
        }
    }

    fn nodes(&mut self, conf: &mut SlurmConf) {
        for (name, whole, place) in with_defaults(std::mem::take(&mut self.nodes), "nodename") {
            match NodeLine::read(&whole) {
                Ok(node) => conf.nodes.push(node),
                Err((shown, value, expected)) => {
                    self.defects.error(&place, format!("`{shown}` of node `{name}` is `{value}`, expected {expected}"));
                }
            }
        }
    }
}

/// The lines of partitions or nodes, each with its name, which `key` has, and with the pairs of the `DEFAULT` lines before it.
fn with_defaults(lines: Vec<(Pairs, Location)>, key: &str) -> Vec<(String, Pairs, Location)> {
    let mut defaults = Pairs::new();
    let mut found = Vec::with_capacity(lines.len());
    for (pairs, place) in lines {
        let name = pairs.get(key).map(|(_, name)| name.clone()).unwrap_or_default();
        if name.eq_ignore_ascii_case("DEFAULT") {
            defaults.extend(pairs);
        } else {
            let mut whole = defaults.clone();
            whole.extend(pairs);
            found.push((name, whole, place));
        }
    }
    found
}

/// The beginning of the output of `scontrol show config`.
const PRINTED: &[u8] = b"Configuration data as of ";

/// Returns true if a line of `scontrol show config` is a setting that has a value, and not one of several.
fn is_setting(line: &str) -> bool {
    let pair = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    pair.is_some_and(|(key, value)| !["", "(null)"].contains(&value) && !key.contains(['[', ' ']))
}

/// Pairs by the names in lower case.
fn owned(pairs: Vec<(&str, &str)>) -> Pairs {
    pairs.into_iter().map(|(key, value)| (key.to_ascii_lowercase(), (key.to_owned(), value.to_owned()))).collect()
}

/// Returns true if a name belongs to the priority family, misspelled ones too.
fn is_family(key: &str) -> bool {
    let starts = |prefix: &str| key.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    starts("prio") || starts("fairshare")
}

/// The path of an `Include` line.
fn included(line: &str) -> Option<&str> {
    let (word, path) = line.split_once(char::is_whitespace)?;
    (word.eq_ignore_ascii_case("include") && !path.trim_start().starts_with('=')).then_some(path.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licenses_of_the_cluster_are_resources() {
        let read = |text: &str| SlurmConf::read("c", text.as_bytes(), &TextFiles::default());
        let (conf, defects) = read("Licenses=Lic:20,ansys@server:5,one\n");
        assert_eq!(defects, Defects::default());
        let expected = [("license/lic", 20.0), ("license/ansys@server", 5.0), ("license/one", 1.0)];
        assert_eq!(conf.licenses.0, expected.map(|(name, amount)| (name.to_owned(), amount)));
        assert!(conf.written.is_empty());
        assert_eq!(read("Licenses=lic:many\n").1.errors.len(), 1);
    }

    #[test]
    fn resources_that_nobody_knows_are_told_with_their_lines() {
        let text =
            b"PriorityWeightTRES=CPU=1,Foo=3,license/x=2\nPartitionName=p TRESBillingWeights=\"CPU=1,Nodes=2\"\n";
        let (_, defects) = SlurmConf::read("c", text, &crate::config::TextFiles::default());
        let reported: Vec<(u32, &str, Option<&str>)> = defects
            .warnings
            .iter()
            .map(|reported| (reported.line(), reported.message.as_str(), reported.help.as_deref()))
            .collect();
        let expected = [
            (1, "`Foo` in `PriorityWeightTRES` is not a Slurm resource", None),
            (2, "`Nodes` in `TRESBillingWeights` is not a Slurm resource", Some("did you mean `node`?")),
        ];
        assert_eq!((reported, defects.errors.len()), (expected.to_vec(), 0));
    }
    use crate::config::TextFiles;

    fn read(text: &str) -> (SlurmConf, Defects) {
        SlurmConf::read("slurm.conf", text.as_bytes(), &TextFiles::default())
    }

    fn first_error(text: &str) -> (String, u32) {
        let error = read(text).1.errors.remove(0);
        (error.message, error.place.unwrap().line)
    }

    #[test]
    fn names_of_other_families_are_passed_over() {
        let (conf, defects) = read("ClusterName=lab\nSlurmUser=slurm\nNodeName=n[1-9] CPUs=4 Priority=3\n");
        assert_eq!((conf.nodes.len(), conf.nodes[0].cpus), (1, 4));
        assert_eq!((SlurmConf { nodes: Vec::new(), ..conf }, defects), (SlurmConf::default(), Defects::default()));
    }

    #[test]
    fn wrong_values_are_told_with_their_line_and_keep_the_default() {
        assert_eq!(
            first_error("\nPriorityWeightAge=many"),
            ("`PriorityWeightAge` is `many`, expected a whole number from 0 to 4294967295".to_owned(), 2)
        );
        assert_eq!(
            first_error("PriorityMaxAge=1:2-3").0,
            "`PriorityMaxAge` is `1:2-3`, expected a time such as `30` (minutes), `12:00:00` or `7-0`"
        );
        assert_eq!(
            first_error("PriorityCalcPeriod=0").0,
            "`PriorityCalcPeriod` is `0`, expected a time of at least one minute"
        );
        assert_eq!(first_error("FairShareDampeningFactor=0").1, 1);
        assert_eq!(first_error("A=1\nPriorityWeightAge 5").0, "expected `Key=Value`, found `PriorityWeightAge 5`");
    }

    #[test]
    fn names_are_told_as_they_are_written() {
        assert_eq!(
            first_error("PRIORITYweightAGE=many").0,
            "`PRIORITYweightAGE` is `many`, expected a whole number from 0 to 4294967295"
        );
        assert_eq!(
            first_error("PartitionName=Big PriorityTIER=x").0,
            "`PriorityTIER` of partition `Big` is `x`, expected a whole number from 0 to 65535"
        );
    }

    #[test]
    fn usage_must_decay_or_be_reset() {
        assert!(first_error("PriorityDecayHalfLife=0").0.starts_with("usage does not decay and is not reset"));
        assert!(read("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=28-0").1.errors.is_empty());
        assert_eq!(read("PriorityUsageResetPeriod=28-0").0.reset, ResetPeriod::Every(28 * 86_400));
    }

    #[test]
    fn defaults_of_partitions_hold_for_those_after_them() {
        let (conf, defects) = read(
            "PartitionName=a\nPartitionName=DEFAULT PriorityJobFactor=10 MaxTime=1-0\nPartitionName=b Default=YES\n\
             PartitionName=c Priority=7 PriorityTier=2 TRESBillingWeights=CPU=1.0,Mem=0.25G Nodes=n[1-4]\n",
        );
        assert_eq!(defects, Defects::default());
        let seen: Vec<_> =
            conf.partitions.iter().map(|p| (p.name.as_str(), p.job_factor, p.tier, p.max_time)).collect();
        let day = Duration::Seconds(86_400);
        assert_eq!(seen, [("a", 1, 1, Duration::Infinite), ("b", 10, 1, day), ("c", 7, 7, day)]);
        assert_eq!(conf.default_partition().unwrap().name, "b");
        assert_eq!(conf.partition("C").unwrap().billing.as_ref().unwrap().of("mem"), 0.25 / 1024.0);
    }

    #[test]
    fn a_misspelled_setting_of_a_partition_is_told_too() {
        let error = &read("PartitionName=a PriorityTeir=2").1.errors[0];
        assert_eq!(error.message, "`PriorityTeir` is not a priority parameter");
        assert_eq!(error.help.as_deref(), Some("did you mean `PriorityTier`?"));
    }

    #[test]
    fn what_is_not_closed_or_no_pair_is_told_with_its_line() {
        let (_, defects) = read("A=1\njust words\nB=\"x\nPartitionName=p Nodes=n[1-4");
        let reported = |message: &str, line: u32| (message.to_owned(), line);
        let warnings: Vec<_> = defects.warnings.iter().map(|one| reported(&one.message, one.line())).collect();
        let pass = "expected `Key=Value`, found `just words`: skipped the line";
        assert_eq!(warnings, [reported(pass, 2), reported("a quote of `B=\"x` is not closed", 3)]);
        let errors: Vec<_> = defects.errors.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(errors, ["`Nodes` is `n[1-4`, expected as many `]` as `[`"]);
    }

    #[test]
    fn unknown_flags_are_only_odd() {
        let (conf, defects) = read("PriorityFlags=ACRUE_ALWAYS,MAX_TRES");
        assert_eq!(conf.flags.words(), ["FAIR_TREE", "MAX_TRES"]);
        assert_eq!(defects.warnings[0].message, "`ACRUE_ALWAYS` is not a priority flag");
        assert_eq!(defects.warnings[0].help.as_deref(), Some("did you mean `ACCRUE_ALWAYS`?"));
    }

    #[test]
    fn files_are_included_where_they_are_named_and_not_for_ever() {
        let files = TextFiles::from_iter([("/etc/more.conf", "PriorityWeightQOS=5")]);
        let (conf, defects) = SlurmConf::read("/etc/slurm.conf", b"include more.conf", &files);
        assert_eq!((conf.weights.qos, defects), (5, Defects::default()));
        let files = TextFiles::from_iter([("a", "Include a")]);
        let (_, defects) = SlurmConf::read("a", b"Include a", &files);
        assert_eq!(defects.errors[0].message, "files include one another more than 16 deep");
        assert_eq!(first_error("A=1\nInclude gone").0, "cannot include `gone`: no such file");
    }
}
