//! The state of a pool as metrics, in the text format of Prometheus.
//!
//! Names follow the rules of that ecosystem: a prefix, base units, `_total` for counters, and one meaning for each name.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::{Account, PoolStatus, language};
use classmate::ClassAd;
use classmate_pool::GroupSummary;
use classmate_pool::internal::pool::ad_reader::AdReader;

/// The media type of the format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Bytes of a MiB, the unit of `Memory`.
const MIB: f64 = 1_048_576.0;

/// The names of `JobStatus`, from 1.
const JOB_STATES: [&str; 7] = ["idle", "running", "removed", "completed", "held", "transferring_output", "suspended"];

/// The readings of an exporter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadingCounts {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    /// Duration of the last one, seconds.
    pub(crate) took: f64,
    /// Time of the last one that succeeded, epoch seconds.
    pub(crate) last: Option<i64>,
}

/// A metric: its values have labels.
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: Vec<(Vec<(&'static str, String)>, f64)>,
}

/// The text of all metrics; without a state the pool could not be read.
pub(crate) fn metrics(status: Option<&PoolStatus>, readings: ReadingCounts) -> String {
    let mut text = String::new();
    let metrics = of_exporter(status, readings).into_iter().chain(status.map(of_pool).unwrap_or_default());
    for metric in metrics.filter(|metric| !metric.samples.is_empty()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, metric.help, metric.kind);
        for (labels, value) in &metric.samples {
            text.push_str(metric.name);
            for (at, (name, label)) in labels.iter().enumerate() {
                let _ = write!(text, "{}{name}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(label));
            }
            let end = if labels.is_empty() { "" } else { "}" };
            let _ = writeln!(text, "{end} {}", number(*value));
        }
    }
    text
}

/// A label value with what the format escapes.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        value => value.to_string(),
    }
}

fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: "gauge", help, samples: Vec::new() }
}

fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: "counter", help, samples: Vec::new() }
}

impl Metric {
    fn value(mut self, value: impl Into<Option<f64>>) -> Self {
        self.samples.extend(value.into().map(|value| (Vec::new(), value)));
        self
    }

    fn by(mut self, label: &'static str, values: impl IntoIterator<Item = (String, f64)>) -> Self {
        self.samples.extend(values.into_iter().map(|(name, value)| (vec![(label, name)], value)));
        self
    }
}

/// Metrics about the exporter.
fn of_exporter(status: Option<&PoolStatus>, readings: ReadingCounts) -> Vec<Metric> {
    let counts = [("success".to_owned(), readings.succeeded as f64), ("failure".to_owned(), readings.failed as f64)];
    let version = env!("CARGO_PKG_VERSION").to_owned();
    vec![
        gauge("htcondor_up", "1 if the last reading of the pool succeeded.")
            .value(f64::from(u8::from(status.is_some()))),
        gauge("htcondor_unreadable_sources", "Access points and other sources that the last reading could not read.")
            .value(status.map(|status| status.failures.len() as f64)),
        counter("classmate_export_readings_total", "Readings of the pool.").by("result", counts),
        gauge("classmate_export_reading_duration_seconds", "Duration of the last reading.").value(readings.took),
        gauge("classmate_export_last_success_timestamp_seconds", "Time of the last reading that succeeded.")
            .value(readings.last.map(|time| time as f64)),
        gauge("classmate_build_info", "1, with the version of Classmate.").by("version", [(version, 1.0)]),
    ]
}

/// Metrics about the pool.
fn of_pool(status: &PoolStatus) -> Vec<Metric> {
    let mut metrics = of_slots(&status.snapshot.slots);
    metrics.extend(of_jobs(status));
    metrics.extend(of_submitters(status));
    metrics.extend(of_groups(status));
    metrics.extend(of_cycle(status));
    metrics
}

fn of_slots(slots: &[ClassAd]) -> Vec<Metric> {
    let settings = language::settings();
    let mut kinds: BTreeMap<(String, String), [f64; 3]> = BTreeMap::new();
    for ad in slots {
        let ad = AdReader::of(ad, &settings);
        let text = |name: &str| ad.string(name).map_or_else(|| "Unknown".to_owned(), |text| text.to_string());
        let counts = kinds.entry((text("State"), text("SlotType"))).or_default();
        let amounts = [1.0, ad.number("Cpus").unwrap_or(0.0), ad.number("Memory").unwrap_or(0.0) * MIB];
        counts.iter_mut().zip(amounts).for_each(|(count, amount)| *count += amount);
    }
    let metrics = [
        gauge("htcondor_slots", "Slots."),
        gauge("htcondor_slot_cpus", "Cores of slots; of partitionable slots those that are left."),
        gauge("htcondor_slot_memory_bytes", "Memory of slots; of partitionable slots what is left."),
    ];
    let with_samples = |(at, mut metric): (usize, Metric)| {
        metric.samples = kinds
            .iter()
            .map(|((state, kind), counts)| (vec![("state", state.clone()), ("type", kind.clone())], counts[at]))
            .collect();
        metric
    };
    metrics.into_iter().enumerate().map(with_samples).collect()
}

fn of_jobs(status: &PoolStatus) -> Vec<Metric> {
    let settings = language::settings();
    let mut states = JOB_STATES.map(|state| (state.to_owned(), 0.0));
    for ad in &status.snapshot.jobs {
        let number =
            AdReader::of(ad, &settings).integer("JobStatus").and_then(|number| usize::try_from(number - 1).ok());
        if let Some((_, count)) = number.and_then(|number| states.get_mut(number)) {
            *count += 1.0;
        }
    }
    let mut causes: BTreeMap<String, f64> = BTreeMap::new();
    for cause in &status.idle.causes {
        let name = serde_json::to_value(cause.reason).ok().and_then(|name| name.as_str().map(str::to_owned));
        *causes.entry(name.unwrap_or_default()).or_default() += cause.jobs as f64;
    }
    vec![
        gauge("htcondor_jobs", "Jobs in the queues of all access points.").by("status", states),
        gauge("htcondor_unmatched_jobs", "Idle jobs that would not be matched now, by the main cause.")
            .by("cause", causes),
        gauge("htcondor_matchable_jobs", "Idle jobs that would be matched now.").value(status.idle.matched as f64),
    ]
}

fn of_submitters(status: &PoolStatus) -> Vec<Metric> {
    let accounts =
        |value: fn(&Account) -> f64| status.accounts.iter().map(move |(name, account)| (name.clone(), value(account)));
    let mut jobs = gauge("htcondor_submitter_jobs", "Jobs of a submitter, as its access points advertise them.");
    for (name, counts) in &status.submitters {
        let states = [("idle", counts.idle), ("running", counts.running), ("held", counts.held)];
        jobs.samples.extend(
            states
                .map(|(state, count)| (vec![("submitter", name.clone()), ("status", state.to_owned())], count as f64)),
        );
    }
    let label = "submitter";
    vec![
        jobs,
        gauge("htcondor_submitter_effective_priority", "Effective user priority: lower is better.")
            .by(label, accounts(|account| account.priority)),
        gauge("htcondor_submitter_priority_factor", "Priority factor.").by(label, accounts(|account| account.factor)),
        gauge("htcondor_submitter_slots_in_use", "Weighted slots in use.")
            .by(label, accounts(|account| account.in_use)),
        counter("htcondor_submitter_usage_seconds_total", "Accumulated usage in weighted slot seconds.")
            .by(label, accounts(|account| account.usage)),
    ]
}

fn of_groups(status: &PoolStatus) -> Vec<Metric> {
    let groups = |value: fn(&GroupSummary) -> f64| {
        status.outcome.groups.iter().map(move |group| (group.name.clone(), value(group)))
    };
    let label = "group";
    vec![
        gauge(
            "htcondor_group_quota_slots",
            "Quota of an accounting group in weighted slots, without the groups below it.",
        )
        .by(label, groups(|group| group.quota)),
        gauge(
            "htcondor_group_subtree_quota_slots",
            "Quota of an accounting group and all groups below it in weighted slots.",
        )
        .by(label, groups(|group| group.subtree_quota)),
        gauge("htcondor_group_slots_in_use", "Weighted slots that an accounting group uses.")
            .by(label, groups(|group| group.usage_before)),
        gauge("htcondor_group_demand_slots", "Weighted slots that an accounting group uses or requests.")
            .by(label, groups(|group| group.demand)),
        gauge("htcondor_group_allocated_slots", "Weighted slots that an accounting group would be allocated now.")
            .by(label, groups(GroupSummary::granted)),
    ]
}

fn of_cycle(status: &PoolStatus) -> Vec<Metric> {
    let last = |what: &str| status.last_cycle(what);
    vec![
        gauge("htcondor_negotiation_cycle_start_timestamp_seconds", "Start of the last negotiation cycle.")
            .value(last("Time")),
        gauge("htcondor_negotiation_cycle_end_timestamp_seconds", "End of the last negotiation cycle.")
            .value(last("End")),
        gauge("htcondor_negotiation_cycle_duration_seconds", "Duration of the last negotiation cycle.")
            .value(last("Duration")),
        gauge("htcondor_negotiation_cycle_matches", "Matches of the last negotiation cycle.").value(last("Matches")),
        gauge("htcondor_negotiation_cycle_rejections", "Rejections of the last negotiation cycle.")
            .value(last("Rejections")),
        gauge("htcondor_negotiation_cycle_idle_jobs", "Idle jobs at the start of the last negotiation cycle.")
            .value(last("NumIdleJobs")),
        gauge("htcondor_negotiation_cycle_slots", "Slots of the last negotiation cycle.").value(last("TotalSlots")),
        gauge("htcondor_negotiation_cycle_submitters", "Submitters negotiated with in the last negotiation cycle.")
            .value(last("ActiveSubmitterCount")),
        gauge("htcondor_negotiation_cycle_pie_spins", "Pie spins of the last negotiation cycle.")
            .value(last("PieSpins")),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use classmate_config::Config;
    use classmate_pool::Snapshot;

    /// A pool with everything that there are metrics for, and names that have to be escaped.
    fn status() -> PoolStatus {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slot = "[Name = \"slot1@m\"; State = \"Unclaimed\"; SlotType = \"Static\"; Cpus = 4; Memory = 2; Requirements = true]";
        let job = "[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Owner = \"a\"; JobUniverse = 5; \
                   AccountingGroup = \"g.a\"; AcctGroup = \"g\"; RequestCpus = 9; Requirements = TARGET.Cpus >= RequestCpus]";
        let submitter = "[Name = \"g.a@x\"; ScheddName = \"s\"; IdleJobs = 1; RunningJobs = 2; HeldJobs = 3; ScheddIpAddr = \"<1>\"]";
        let snapshot = Snapshot {
            slots: vec![ad(slot)],
            jobs: vec![ad(job)],
            submitters: Some(vec![ad(submitter)]),
            config: Config::parse("test", b"GROUP_NAMES = g\nGROUP_QUOTA_g = 1\n").unwrap(),
            now: 100,
            ..Snapshot::default()
        };
        let account = "[Name = \"q\\\"\\\\\\n@x\"; Priority = 500.0; PriorityFactor = 1000.0; WeightedResourcesUsed = 1.5; \
                       WeightedAccumulatedUsage = 3600.0]";
        let mut negotiator = ad("[LastNegotiationCycleTime0 = 90]");
        for name in [
            "End",
            "Duration",
            "Matches",
            "Rejections",
            "NumIdleJobs",
            "TotalSlots",
            "ActiveSubmitterCount",
            "PieSpins",
        ] {
            negotiator.insert(format!("LastNegotiationCycle{name}0").as_str(), 7_i64);
        }
        PoolStatus::of(snapshot, &[ad(account)], negotiator, vec!["x".to_owned()]).unwrap()
    }

    /// A sample: its name, its labels and its value.
    type Sample = (String, Vec<(String, String)>, f64);

    /// Parses the format as strictly as its description: a HELP and a TYPE line before the samples of a metric, which are
    /// together, valid names, escaped labels, no sample twice, and a line feed at the end of each line.
    fn parsed(text: &str) -> Vec<Sample> {
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|letter: char| letter.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let (mut metrics, mut samples): (Vec<(String, Option<String>)>, Vec<Sample>) = Default::default();
        assert!(text.ends_with('\n') && !text.contains('\r'));
        for line in text.trim_end_matches('\n').split('\n') {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(is_name(name) && !help.is_empty() && !metrics.iter().any(|(known, _)| known == name), "{line}");
                metrics.push((name.to_owned(), None));
                continue;
            }
            let (name, kind) = metrics.last_mut().unwrap();
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (typed, word) = rest.split_once(' ').unwrap();
                assert!(typed == name && kind.is_none() && ["gauge", "counter"].contains(&word), "{line}");
                assert_eq!(word == "counter", name.ends_with("_total"), "{line}");
                *kind = Some(word.to_owned());
                continue;
            }
            let end = line.find(['{', ' ']).unwrap();
            assert!(&line[..end] == name && kind.is_some(), "{line}");
            let (mut labels, mut rest) = (Vec::new(), &line[end..]);
            if let Some(inside) = rest.strip_prefix('{') {
                rest = inside;
                loop {
                    let (label, value) = rest.split_once("=\"").unwrap();
                    assert!(is_name(label) && !label.starts_with("__"), "{line}");
                    let mut letters = value.char_indices();
                    let mut plain = String::new();
                    let end = loop {
                        match letters.next().unwrap() {
                            (at, '"') => break at,
                            (_, '\\') => plain.push(match letters.next().unwrap().1 {
                                'n' => '\n',
                                letter @ ('\\' | '"') => letter,
                                other => panic!("{other} is escaped: {line}"),
                            }),
                            (_, letter) => plain.push(letter),
                        }
                    };
                    labels.push((label.to_owned(), plain));
                    rest = &value[end + 1..];
                    match rest.strip_prefix(',') {
                        Some(more) => rest = more,
                        None => break,
                    }
                }
                rest = rest.strip_prefix('}').unwrap();
            }
            let value = rest.strip_prefix(' ').unwrap().parse::<f64>().unwrap();
            assert!(!samples.iter().any(|(known, with, _)| known == name && *with == labels), "{line} is repeated");
            samples.push((name.clone(), labels, value));
        }
        samples
    }

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let readings = ReadingCounts { succeeded: 2, failed: 1, took: 0.25, last: Some(100) };
        let samples = parsed(&metrics(Some(&status()), readings));
        let value = |name: &str, labels: &[(&str, &str)]| {
            let is_it = |(known, with, _): &&Sample| {
                known == name
                    && with.iter().map(|(label, value)| (label.as_str(), value.as_str())).eq(labels.iter().copied())
            };
            samples.iter().find(is_it).map(|(.., value)| *value)
        };
        assert_eq!(value("htcondor_up", &[]), Some(1.0));
        assert_eq!(
            value("htcondor_slot_memory_bytes", &[("state", "Unclaimed"), ("type", "Static")]),
            Some(2_097_152.0)
        );
        assert_eq!(value("htcondor_submitter_usage_seconds_total", &[("submitter", "q\"\\\n@x")]), Some(3600.0));
        assert_eq!(value("htcondor_submitter_jobs", &[("submitter", "g.a@x"), ("status", "held")]), Some(3.0));
        assert_eq!(value("htcondor_jobs", &[("status", "idle")]), Some(1.0));
        assert_eq!(value("htcondor_unmatched_jobs", &[("cause", "never_true")]), Some(1.0));
        assert_eq!(value("htcondor_group_quota_slots", &[("group", "g")]), Some(1.0));
        assert_eq!(value("htcondor_negotiation_cycle_start_timestamp_seconds", &[]), Some(90.0));
        assert_eq!(value("classmate_export_readings_total", &[("result", "failure")]), Some(1.0));
        // Nothing is said about a pool that cannot be read.
        let samples = parsed(&metrics(None, readings));
        assert_eq!(samples.iter().filter(|(name, ..)| name.starts_with("htcondor_")).count(), 1);
        assert_eq!(samples[0], ("htcondor_up".to_owned(), Vec::new(), 0.0));
    }

    #[test]
    fn every_metric_has_values_and_the_dashboard_uses_no_others() {
        let status = status();
        let readings = ReadingCounts { last: Some(1), ..ReadingCounts::default() };
        let all: Vec<Metric> = of_exporter(Some(&status), readings).into_iter().chain(of_pool(&status)).collect();
        for metric in &all {
            assert!(!metric.samples.is_empty(), "{}", metric.name);
        }
        let names: BTreeSet<&str> = all.iter().map(|metric| metric.name).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana-dashboard.json");
        let dashboard: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut used = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let expr = target["expr"].as_str().unwrap();
                let words = expr.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                used.extend(
                    words
                        .filter(|word| word.starts_with("htcondor_") || word.starts_with("classmate_"))
                        .map(str::to_owned),
                );
            }
        }
        assert!(used.len() > 20, "{used:?}");
        for name in &used {
            assert!(names.contains(name.as_str()), "{name}");
        }
    }
}
