//! The configuration of a pool in two versions.
//!
//! In: a configuration as one version reads it. Out: expressions that change their meaning, and defaults and variables that
//! change. One file: almost half of it is tests.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;

use super::defects::defects_of;
use super::entries::entries;
use super::upgrade::{PlacedDefect, PlacedDifference, in_both, is_plain};
use super::{VersionAds, VersionText, compare_alone, compare_own, suggest_for_macro};
use crate::lint::LineIndex;
use crate::lint::expression::Role;
use crate::lint::knobs;
use crate::lint::open_macros::without_macros;
use crate::lint::placing::SourceMap;
use crate::lint::transforms::{self, TransformPart};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalOptions, Name, ParseOptions, Semantics, Series};
use classmate_config::internal::config::check::is_number;
use classmate_config::internal::config::is_name_byte;
use classmate_config::internal::config::knob::{self, KnobKind};
use classmate_config::internal::config::series::{self, VariableHistory};
use classmate_config::{Config, Definition};

/// A variable whose default changes, or that comes or goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariableChange {
    /// The variable.
    pub name: &'static str,
    /// The release with the change.
    pub since: String,
    /// The default in the first version; `None` if the variable has no effect there.
    pub before: Option<&'static str>,
    /// The default in the second version; `None` if the variable has no effect there.
    pub after: Option<&'static str>,
    /// The place where the configuration sets the variable.
    pub set_at: Option<String>,
    /// The subject of the variable.
    pub concerns: &'static str,
}

/// A variable that the files set in another way for the other version, as by `if version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingDifference {
    /// The variable.
    pub name: String,
    /// Its value for the first version; `None` if the files do not set it.
    pub before: Option<PlacedValue>,
    /// Its value for the second version; `None` if the files do not set it.
    pub after: Option<PlacedValue>,
}

/// A value, and the place that sets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedValue {
    /// The value with all macros expanded.
    pub value: String,
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
}

impl PlacedValue {
    /// The value of a variable that the files set.
    fn of(config: &Config, name: &[u8]) -> Option<Self> {
        let definition = config.definition(name).filter(|found| found.place.is_some())?;
        let value = expanded(config, &definition);
        Some(PlacedValue {
            value: String::from_utf8_lossy(value.trim_ascii()).into_owned(),
            file: definition.place.map_or_else(String::new, |place| place.file.to_string()),
            line: definition.place.map(|place| u64::from(place.line)),
        })
    }
}

/// The value of a definition with all macros expanded; as it is written if that fails.
fn expanded(config: &Config, definition: &Definition<'_>) -> Vec<u8> {
    let value = config.get(&String::from_utf8_lossy(definition.name)).ok().flatten().map(|found| found.text);
    value.unwrap_or_else(|| definition.raw.to_vec())
}

/// Tests whether two versions read the same assignments.
fn is_alike([before, after]: [&Config; 2]) -> bool {
    before.assignments().eq(after.assignments())
}

/// The variables that files set in different ways for two versions, each of which has read them, in the order of the files.
pub(super) fn settings([before, after]: [&Config; 2]) -> Vec<SettingDifference> {
    if is_alike([before, after]) {
        return Vec::new();
    }
    let is_new =
        |definition: &Definition<'_>| before.definition(definition.name).is_none_or(|found| found.place.is_none());
    let names = before.definitions().chain(after.definitions().filter(is_new)).map(|definition| definition.name);
    let change = |name: &[u8]| {
        let [one, other] = [before, after].map(|config| PlacedValue::of(config, name));
        let text = |value: &Option<PlacedValue>| value.as_ref().map(|value| value.value.clone());
        let name = String::from_utf8_lossy(name).into_owned();
        (text(&one) != text(&other)).then_some(SettingDifference { name, before: one, after: other })
    };
    names.filter_map(change).collect()
}

/// Variables that a startd puts into the ads of slots under their own names (`ResMgr::init_config_classad`).
const SLOT_ATTRIBUTES: [&str; 31] = [
    "START",
    "SUSPEND",
    "CONTINUE",
    "PREEMPT",
    "KILL",
    "WANT_SUSPEND",
    "WANT_VACATE",
    "WANT_HOLD",
    "WANT_HOLD_REASON",
    "WANT_HOLD_SUBCODE",
    "CLAIM_WORKLIFE",
    "MaxJobRetirementTime",
    "MachineMaxVacateTime",
    "PERIODIC_CHECKPOINT",
    "RunBenchmarks",
    "RANK",
    "SUSPEND_VANILLA",
    "CONTINUE_VANILLA",
    "PREEMPT_VANILLA",
    "KILL_VANILLA",
    "WANT_SUSPEND_VANILLA",
    "WANT_VACATE_VANILLA",
    "START_BACKFILL",
    "EVICT_BACKFILL",
    "FetchWorkDelay",
    "HIBERNATE",
    "Unhibernate",
    "SlotWeight",
    "IsOwner",
    "CpuBusy",
    "Requirements",
];

/// The expressions of a configuration that mean something else in the other version, and those that make one of the versions
/// crash or hang: those that both versions read in the same files.
pub(super) fn of_config(
    [before, config]: [&Config; 2],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> (Vec<PlacedDifference>, Vec<PlacedDefect>) {
    let (mut found, mut crashes) = (Vec::new(), Vec::new());
    let advertised = knobs::advertised(config);
    let is_alike = is_alike([before, config]);
    let macros = OnceCell::new();
    for definition in config.definitions() {
        let shown = String::from_utf8_lossy(definition.name).into_owned();
        let value = expanded(config, &definition);
        let value = value.trim_ascii();
        if value.is_empty() || is_plain(value) {
            continue;
        }
        // What only one of them reads does not mean anything in the other. Macros may have other values in it.
        let is_same = |other: Definition<'_>| other.raw == definition.raw && other.place == definition.place;
        if !is_alike && !before.definition(definition.name).is_some_and(is_same) {
            continue;
        }
        if is_divided(config, definition.name) {
            let (differences, defects) = of_transform(config, &definition, value, versions, settings);
            found.extend(differences);
            crashes.extend(defects);
            continue;
        }
        let Some(name) = compared_as(config, &advertised, definition.name, value) else { continue };
        let text = VersionText { text: value, quoting: Quoting::Old, prefix: false };
        let own = versions.map(|semantics| own(name, text, semantics, settings));
        let ads = VersionAds { my: [&own[0], &own[1]], target: [None; 2], name: Some(name) };
        let file = definition.place.map_or_else(String::new, |place| place.file.to_string());
        let line = definition.place.map(|place| u64::from(place.line));
        let in_version =
            |at: usize, semantics| defects_of(name, &own[at], &EvalOptions { semantics, ..settings.clone() });
        crashes.extend(in_both(versions, in_version).into_iter().map(|(defect, series)| PlacedDefect {
            file: file.clone(),
            line,
            name: shown.clone(),
            part: None,
            text: String::from_utf8_lossy(value).into_owned(),
            ads: 0,
            series,
            defect,
        }));
        let of_rule = |difference| PlacedDifference {
            file: file.clone(),
            line,
            name: shown.clone(),
            part: None,
            ads: 0,
            difference,
        };
        let mut differences = compare_own(text, versions, settings, ads);
        if !differences.is_empty() && macros.get_or_init(|| referred_to(config)).contains(&shown.to_ascii_uppercase()) {
            suggest_for_macro(&mut differences, text, |text| compare_own(text, versions, settings, ads));
        }
        found.extend(differences.into_iter().map(of_rule));
    }
    (found, crashes)
}

/// The crashes and hangs that the expressions of a configuration meet in the version of the settings.
pub fn defects_in(config: &Config, settings: &EvalOptions) -> Vec<PlacedDefect> {
    of_config([config; 2], [settings.semantics.alone().measured(); 2], settings).1
}

/// The ad with an expression alone, as one version reads it; empty if it does not.
fn own(name: Name, text: VersionText<'_>, semantics: Semantics, settings: &EvalOptions) -> ClassAd {
    let mut ad = ClassAd::new();
    let options = ParseOptions { quoting: text.quoting, semantics, mode: settings.mode, ..ParseOptions::default() };
    if let Ok(expr) = parse_expr(text.text, &options) {
        ad.insert_expr(name, &expr);
    }
    ad
}

/// The name by which the value of a variable can refer to itself, if daemons, or expressions that refer to the variable, read the
/// value as an expression: the name of an attribute, or none for expressions that are not in an ad. `advertised` has the names of
/// [`knobs::advertised`]; the value has its macros expanded.
pub(crate) fn compared_as(
    config: &Config,
    advertised: &BTreeMap<Vec<u8>, Role>,
    name: &[u8],
    value: &[u8],
) -> Option<Name> {
    let value = value.trim_ascii();
    if value.is_empty() || is_plain(value) {
        return None;
    }
    // What no daemon reads as an expression may be a size or a path.
    let bare = knobs::bare(config.bare(name));
    let kind = knob::find(bare).map(|knob| knob.kind);
    let is_advertised = advertised.contains_key(&bare.to_ascii_uppercase());
    let is_typed = matches!(kind, Some(KnobKind::Expression | KnobKind::Boolean))
        || is_number(bare)
        || knobs::is_expression(bare) && !is_of_jobs(bare)
        || is_advertised;
    let is_word = || value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
    if !is_typed && (kind.is_some() || is_word()) {
        return None;
    }
    // Only what is no plain number is an expression then.
    if is_number(bare) && !is_advertised && value.strip_prefix(b"-").unwrap_or(value).iter().all(u8::is_ascii_digit) {
        return None;
    }
    let is_attribute = is_advertised || SLOT_ATTRIBUTES.iter().any(|known| bare.eq_ignore_ascii_case(known.as_bytes()));
    Some(if is_attribute { Name::new(bare) } else { Name::new("") })
}

/// The macros, upper case, to which values of the configuration and defaults refer.
pub(crate) fn referred_to(config: &Config) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for definition in config.all() {
        for at in memchr::memmem::find_iter(definition.raw, b"$(") {
            let name = &definition.raw[at + 2..];
            let end = name.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(name.len());
            names.insert(String::from_utf8_lossy(&name[..end]).to_ascii_uppercase());
        }
    }
    names
}

/// Tests whether the value of a variable has expressions as its parts: transforms and routes of jobs.
pub(crate) fn is_divided(config: &Config, name: &[u8]) -> bool {
    let bare = knobs::bare(config.bare(name));
    knob::is_transform(bare) || is_routes(bare)
}

/// The attributes of transforms or routes in the form of ads, and the places of their values; `None` for any other form.
pub(crate) fn attributes(expanded: &[u8]) -> Option<impl Iterator<Item = (Name, Range<usize>)>> {
    expanded.trim_ascii_start().starts_with(b"[").then(|| entries(expanded).into_iter().flatten())
}

/// Tests whether a variable is the default of a submit command, which may have units of its own.
fn is_of_jobs(name: &[u8]) -> bool {
    name.to_ascii_uppercase().starts_with(b"JOB_DEFAULT_")
}

/// Tests whether a variable, without the prefix of a daemon, has routes in the form of ads.
fn is_routes(name: &[u8]) -> bool {
    ["JOB_ROUTER_ENTRIES", "JOB_ROUTER_DEFAULTS"].iter().any(|routes| name.eq_ignore_ascii_case(routes.as_bytes()))
}

/// The expressions of a transform or of routes of jobs, in either form, that mean something else in the other version, and their
/// crashes and hangs. Macros are expanded when a transform is applied; they stand for something unknown here.
fn of_transform(
    config: &Config,
    definition: &Definition<'_>,
    expanded: &[u8],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> (Vec<PlacedDifference>, Vec<PlacedDefect>) {
    let attributes = attributes(expanded);
    let is_ad = attributes.is_some();
    let text = if is_ad { expanded } else { definition.raw };
    let places: Vec<(String, Range<usize>)> = if let Some(attributes) = attributes {
        attributes.map(|(name, place)| (format!("{} =", name.display()), place)).collect()
    } else {
        let in_front = |place: &Range<usize>| {
            let start = memchr::memrchr(b'\n', &text[..place.start]).map_or(0, |newline| newline + 1);
            String::from_utf8_lossy(text[start..place.start].trim_ascii()).into_owned()
        };
        let expression = |part| match part {
            TransformPart::Expression { place, .. } => Some((in_front(&place), place)),
            TransformPart::Invalid(_) => None,
        };
        transforms::parts(text).into_iter().filter_map(expression).collect()
    };
    let quoting = if is_ad { Quoting::New } else { Quoting::Old };
    let source = definition
        .place
        .and_then(|place| config.sources().iter().rfind(|source| *source.name == *place.file))
        .map(|source| (source, LineIndex::of(&source.text)));
    let map = SourceMap::new(config, source.as_ref(), definition, text);
    let line = |place: &Range<usize>| Some(source.as_ref()?.1.line(map.in_file(place.clone()).start));
    let (mut found, mut crashes) = (Vec::new(), Vec::new());
    // No attribute has this name.
    let unnamed = Name::new(b"\x01");
    for (part, place) in places {
        let value = &text[place.clone()];
        let Some(open) = without_macros(value).filter(|_| !is_plain(value)) else { continue };
        let written = VersionText { text: &open.text, quoting, prefix: false };
        let file = definition.place.map_or_else(String::new, |place| place.file.to_string());
        let name = String::from_utf8_lossy(definition.name).into_owned();
        let in_version = |_: usize, semantics| {
            let ad = own(unnamed, written, semantics, settings);
            defects_of(unnamed, &ad, &EvalOptions { semantics, ..settings.clone() })
        };
        crashes.extend(in_both(versions, in_version).into_iter().map(|(defect, series)| PlacedDefect {
            file: file.clone(),
            line: line(&place),
            name: name.clone(),
            part: Some(part.clone()),
            text: String::from_utf8_lossy(value).trim().to_owned(),
            ads: 0,
            series,
            defect,
        }));
        let restore = |text: &mut String| *text = open.restored(text);
        for mut difference in compare_alone(written, versions, settings) {
            restore(&mut difference.text);
            difference.write.iter_mut().chain(&mut difference.example).for_each(restore);
            for reading in &mut difference.readings {
                let parts = [&mut reading.expression, &mut reading.problem, &mut reading.value];
                parts.into_iter().flatten().for_each(restore);
            }
            let (file, name) = (file.clone(), name.clone());
            found.push(PlacedDifference {
                file,
                line: line(&place),
                name,
                part: Some(part.clone()),
                ads: 0,
                difference,
            });
        }
    }
    (found, crashes)
}

/// The variables that change between two series, and where the configuration sets them: those of a negotiation cycle, and others
/// that it sets and one of the series does not have.
pub fn variables(config: &Config, [from, to]: [Series; 2]) -> Vec<VariableChange> {
    let change = |history: &'static VariableHistory| {
        let since = history.between(from, to)?;
        let [before, after] = [from, to].map(|series| history.default_in(series));
        if history.entry_only || before == after && history.removal().is_none() {
            return None;
        }
        let set_at = config.definition(history.name.as_bytes()).and_then(|found| found.place).map(ToString::to_string);
        let is_in_both = ![from, to].iter().any(|series| history.is_missing_in(*series));
        // What is removed is missed where it is set, or referred to.
        let is_missed = match history {
            _ if history.is_macro => set_at.is_none() && is_referenced(config, history.name),
            _ if history.removal().is_some() || history.concerns.is_empty() => set_at.is_some() && !is_in_both,
            // A changed default of a variable that is set has no effect.
            _ => set_at.is_none() || !is_in_both,
        };
        let (name, since, concerns) = (history.name, since.to_owned(), history.concerns.as_str());
        is_missed.then_some(VariableChange { name, since, before, after, set_at, concerns })
    };
    series::histories().iter().filter_map(change).collect()
}

/// Tests whether a value that the configuration sets refers to a macro.
fn is_referenced(config: &Config, name: &str) -> bool {
    let is_it = |text: &[u8]| {
        let end = text.get(name.len()).copied();
        text.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
            && matches!(end, Some(b')' | b':'))
    };
    config.definitions().any(|found| memchr::memmem::find_iter(found.raw, b"$(").any(|at| is_it(&found.raw[at + 2..])))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::versions::DifferenceSeverity;
    use classmate_config::Context;
    use classmate_config::internal::config::Disk;

    fn versions(from: &str, to: &str) -> [Semantics; 2] {
        [from, to].map(|series| series.parse().unwrap())
    }

    #[test]
    fn a_configuration_is_compared_with_its_defaults() {
        let text = b"START = Memory > 2G\nMAX_X_LOG = 10M\nNEGOTIATOR_SCHEDDS_ARE_SUBMITTERS = true\nCURB_MATCHMAKING = false\nSLOT_WEIGHT = versiongt(a, b) ? 1 : 2\nKEEP_DATA_CLAIM_IDLE = 60\n";
        let config = Config::parse("c", text).unwrap();
        let (found, _) = of_config([&config; 2], versions("10.0", "25.14"), &EvalOptions::default());
        let shown: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.line, one.difference.severity)).collect();
        assert_eq!(
            shown,
            [("START", Some(1), DifferenceSeverity::Error), ("SLOT_WEIGHT", Some(5), DifferenceSeverity::Warning)]
        );
        let series = [Series::new(10, 0), Series::new(25, 14)];
        let changes = variables(&config, series);
        let of = |name: &str| changes.iter().find(|change| change.name == name);
        assert_eq!(of("NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS").unwrap().set_at.as_deref(), Some("c:3:1"));
        assert_eq!(of("CURB_MATCHMAKING"), None);
        // It had no effect before.
        let leftovers = of("KEEP_DATA_CLAIM_IDLE").unwrap();
        assert_eq!((leftovers.before, leftovers.set_at.as_deref()), (None, Some("c:6:1")));
        let disk = of("MODIFY_REQUEST_EXPR_REQUESTDISK").unwrap();
        assert_eq!((disk.before, disk.since.as_str()), (Some("quantize(RequestDisk,{1024})"), "25.12.2"));
        assert!(variables(&config, [Series::new(25, 13), Series::new(25, 14)]).is_empty());
    }

    /// HTCondor 23.0.28 reads 1024 for the numbers (`condor_adstash` by `htcondor.param`), and advertises `A = 10K`; 25.14.1 reads the defaults, and refuses the attribute.
    /// Factors are read like `atof`, memory and logs have units of their own in both, and a macro is not read alone.
    #[test]
    fn a_size_alone_is_compared_where_a_daemon_reads_an_expression() {
        let found = |text: &str| -> Vec<String> {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            let (found, _) = of_config([&config; 2], versions("23.0", "25.14"), &EvalOptions::default());
            found.into_iter().map(|one| format!("{} {}", one.name, one.difference.rule)).collect()
        };
        for text in [
            "UPDATE_INTERVAL = 1K",
            "RESERVED_MEMORY = 1K",
            "NUM_CPUS = 1K",
            "GANGLIAD_INTERVAL = 1K",
            "STARTD.UPDATE_INTERVAL = 1K",
            "MASTER_BACKOFF_FACTOR = 1.5K",
            "NEGOTIATOR_INTERVAL = 1K",
            "RANK = 1K",
            "STARTER_RLIMIT_AS = 1K",
            "ADSTASH_SE_TIMEOUT = 1K",
        ] {
            let name = text.split(' ').next().unwrap();
            assert_eq!(found(text), [format!("{name} size-suffix")], "{text}");
        }
        for list in ["STARTD_ATTRS", "SCHEDD_ATTRS", "SUBMIT_ATTRS", "STARTD_EXPRS", "SLOT_TYPE_1_STARTD_ATTRS"] {
            assert_eq!(
                found(&format!("{list} = A, B\nA = 10K\nC = 10K\nSTARTD.B = 1.5M")),
                ["A size-suffix", "STARTD.B size-suffix"]
            );
        }
        for text in [
            "DEFAULT_PRIO_FACTOR = 1K",
            "MAX_DAGMAN_LOG = 1K",
            "MAX_HISTORY_LOG = 1.5M",
            "BENCHMARKS_MAX_JOB_LOAD = 1K",
            "JOB_DEFAULT_REQUESTMEMORY = 2.5G",
            "HOUR = 1K",
            "ADSTASH_SE_INDEX_NAME = 1K",
            "MY_SIZE = 10K\nLVM_VOLUME_GROUP_NAME = 1K",
            "UPDATE_INTERVAL = 300",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    /// HTCondor puts the text of a macro into another one. In 23.0.28, `10 / 3K + 1` and `10 / (3 * 1024.0) + 1` are 1.003…, and
    /// `10 / 3 * 1024.0 + 1` is 3073.0; `10.0 / 2 * 3K` is 15360.0, as what is suggested.
    #[test]
    fn what_is_suggested_for_a_macro_holds_in_other_texts() {
        let suggested = |text: &str| -> Vec<String> {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            let (found, _) = of_config([&config; 2], versions("23.0", "25.14"), &EvalOptions::default());
            found
                .into_iter()
                .map(|one| format!("{} = {}", one.name, one.difference.write.unwrap_or_default()))
                .collect()
        };
        assert_eq!(
            suggested("A = 3K + 1\nB = 10 / $(A)\nC = 3K + 1"),
            ["A = (3 * 1024.0) + 1", "B = 10 / (3 * 1024.0) + 1", "C = 3 * 1024.0 + 1"]
        );
        assert_eq!(suggested("A = 2 * 3K\nB = 10.0 / $(a:1)"), ["A = 2 * (3 * 1024.0)", "B = 10.0 / 2 * (3 * 1024.0)"]);
        assert_eq!(suggested("STARTD_ATTRS = A\nA = 3K\nB = 10 / $(A)")[0], "A = (3 * 1024.0)");
        // A default refers to it.
        assert_eq!(suggested("CATALOG_SPACE = 3K - x"), ["CATALOG_SPACE = (3 * 1024.0) - x"]);
    }

    /// No version reads a plain number as an expression: HTCondor 23.0.28 and 24.0.20 refuse `CLAIM_WORKLIFE`, and 25.14.1 takes the
    /// largest integer. An attribute of an ad is one.
    #[test]
    fn a_plain_number_is_compared_in_attributes_only() {
        let found = |text: &str| -> Vec<&'static str> {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            let (found, _) = of_config([&config; 2], versions("23.0", "25.14"), &EvalOptions::default());
            found.into_iter().map(|one| one.difference.rule).collect()
        };
        assert_eq!(found("CLAIM_WORKLIFE = 9223372036854775808\nUPDATE_INTERVAL = -9223372036854775809"), [""; 0]);
        assert_eq!(found("PRIORITY_HALFLIFE = 9223372036854775808"), [""; 0]);
        assert_eq!(found("STARTD_ATTRS = A\nA = 9223372036854775808"), ["integer-range"]);
    }

    /// The values follow from `docs/reference/versions.md` 2.9.
    #[test]
    fn variables_that_refer_to_themselves_are_compared() {
        let text = b"START = START ?: true\nSTARTD_ATTRS = WithinLimits\nWithinLimits = WithinLimits ?: true\nRANK = KFlops ?: 1\n";
        let config = Config::parse("c", text).unwrap();
        let (found, _) = of_config([&config; 2], versions("24.0", "25.14"), &EvalOptions::default());
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.difference.rule, one.difference.readings[1].value.as_deref()))
            .collect();
        assert_eq!(shown, [(Some(1), "cycle", Some("true")), (Some(3), "cycle", Some("true"))]);
        // Three rules: the last version refuses the text.
        let config = Config::parse("c", b"START = START ?: Cpus > 2K\n").unwrap();
        let (found, _) = of_config([&config; 2], versions("23.0", "25.14"), &EvalOptions::default());
        let rules: Vec<_> = found.iter().map(|one| one.difference.rule).collect();
        assert_eq!(rules, ["elvis-precedence", "cycle", "size-suffix"]);
        assert!(of_config([&config; 2], versions("25.13", "25.14"), &EvalOptions::default()).0.is_empty());
    }

    /// HTCondor 24.0.20 hangs in `START`, and 25.14.1 evaluates it.
    #[test]
    fn defects_of_one_version_are_those_of_its_expressions() {
        let config = Config::parse("c", b"RANK = 1\nSTART = true ? START : 1\n").unwrap();
        let met = |series: &str| -> Vec<_> {
            let settings = EvalOptions { semantics: series.parse().unwrap(), ..EvalOptions::default() };
            let found = defects_in(&config, &settings).into_iter();
            found.map(|one| (one.name, one.line, one.defect.name)).collect()
        };
        let hang = ("START".to_owned(), Some(2), "endless-conditional");
        assert_eq!(met("24.0"), std::slice::from_ref(&hang));
        assert_eq!(met("advertised:24.0"), [hang]);
        assert_eq!(met("25.14"), []);
        // The negotiator evaluates an expression that is in no ad.
        let config = Config::parse("c", b"PREEMPTION_REQUIREMENTS = true ? PREEMPTION_REQUIREMENTS : 1\n").unwrap();
        let settings = EvalOptions { semantics: "24.0".parse().unwrap(), ..EvalOptions::default() };
        assert!(defects_in(&config, &settings).is_empty());
    }

    /// HTCondor 24.0.20 hangs in an attribute that a conditional leads back to itself.
    #[test]
    fn crashes_and_hangs_are_named_where_they_are_written() {
        let text = b"START = true ? START : Cpus > 1\nRANK = Memory > 1 ? 2 : 3\n\
            JOB_TRANSFORM_a @=end\n  SET A [ b = true ? b : $(X) ].b\n@end\n";
        let config = Config::parse("c", text).unwrap();
        let met = |from: &str, to: &str| -> Vec<_> {
            let (_, defects) = of_config([&config; 2], versions(from, to), &EvalOptions::default());
            defects
                .into_iter()
                .map(|one| (one.name, one.line, one.part, one.text, one.series, one.defect.name))
                .collect()
        };
        let is = |name: &str, line, part: Option<&str>, text: &str| {
            let series = vec!["24.0".to_owned()];
            (name.to_owned(), Some(line), part.map(str::to_owned), text.to_owned(), series, "endless-conditional")
        };
        let expected = [
            is("START", 1, None, "true ? START : Cpus > 1"),
            is("JOB_TRANSFORM_a", 4, Some("SET A"), "[ b = true ? b : $(X) ].b"),
        ];
        assert_eq!(met("24.0", "25.14"), expected);
        assert_eq!(met("25.14", "25.13"), []);
    }

    fn is_removed(name: &str) -> bool {
        series::history(name.as_bytes()).is_some_and(|history| history.removal().is_some())
    }

    /// A variable that is set, a macro that is referred to, and others that are neither.
    #[test]
    fn removed_variables_are_reported_where_they_are_missed() {
        let text =
            b"STARTD_SENDS_ALIVES = true\nGRIDMAP = /etc/map\nSTART = $(cpubusy) == false\nMachineBusy = $(CPUIDLES)\n";
        let config = Config::parse("c", text).unwrap();
        let of = |from: &str, to: &str| -> Vec<_> {
            let found = variables(&config, versions(from, to).map(Semantics::series)).into_iter();
            let shown = found.filter(|change| is_removed(change.name) || change.name == "CPUBusy");
            shown.map(|change| (change.name, change.since, change.before, change.after)).collect()
        };
        let busy = Some("($(NonCondorLoadAvg) >= $(HighLoad))");
        let expected = [
            ("GRIDMAP", "10.2.0".to_owned(), Some(""), None),
            ("CPUBusy", "10.4.0".to_owned(), busy, None),
            ("STARTD_SENDS_ALIVES", "25.4.0".to_owned(), Some("peer"), None),
        ];
        assert_eq!(of("10.0", "25.14"), expected);
        assert_eq!(of("24.0", "25.14"), expected[2..]);
        assert_eq!(of("25.14", "24.0"), [("STARTD_SENDS_ALIVES", "25.4.0".to_owned(), None, Some("peer"))]);
        assert_eq!(of("25.4", "25.14"), []);
    }

    /// The readings follow from `docs/reference/versions.md` 2.1, 2.5 and 2.11.
    #[test]
    fn expressions_of_transforms_and_routes_are_compared() {
        let text = b"JOB_TRANSFORM_a @=end\n  NAME x\n  REQUIREMENTS Owner ?: \"\" != \"ann\"\n  SET Memory 2G\n\
            macro = 10K\n  EVALSET Limit int(\"$(SIZE)\") + $(macro) ?: 1 + 2\n  DEFAULT Plain 5\n  DELETE /^x/\n@end\n\
            JOB_ROUTER_ROUTE_b = SET New versiongt($(V), \"1\")\n\
            JOB_ROUTER_ENTRIES = [ set_A = 1.5M; name = \"c\"; ] [ Requirements = x ?: 1 < 5; ]\n\
            JOB_ROUTER_TRANSFORM_NAMES = a\n";
        let config = Config::parse("c", text).unwrap();
        let (found, _) = of_config([&config; 2], versions("23.0", "25.14"), &EvalOptions::default());
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.line, one.difference.text.as_str(), one.difference.rule))
            .collect();
        let parts: Vec<_> = found.iter().filter_map(|one| one.part.as_deref()).collect();
        assert_eq!(parts, ["REQUIREMENTS", "SET Memory", "EVALSET Limit", "SET New", "set_A =", "Requirements ="]);
        assert_eq!(
            shown,
            [
                ("JOB_TRANSFORM_a", Some(3), "Owner ?: \"\" != \"ann\"", "elvis-precedence"),
                ("JOB_TRANSFORM_a", Some(4), "2G", "size-suffix"),
                ("JOB_TRANSFORM_a", Some(6), "int(\"$(SIZE)\") + $(macro) ?: 1 + 2", "elvis-precedence"),
                ("JOB_ROUTER_ROUTE_b", Some(10), "versiongt($(V), \"1\")", "version-case"),
                ("JOB_ROUTER_ENTRIES", Some(11), "1.5M", "size-suffix"),
                ("JOB_ROUTER_ENTRIES", Some(11), "x ?: 1 < 5", "elvis-precedence"),
            ]
        );
        assert!(of_config([&config; 2], versions("25.13", "25.14"), &EvalOptions::default()).0.is_empty());
    }

    /// Late releases of 24.12 and 25.0 have the default of 25.7.2; those of 25.1 to 25.6 do not.
    #[test]
    fn a_default_of_late_releases_is_reported_where_it_appears_and_where_it_is_lost() {
        let old = Some("quantize(RequestDisk,{1024})");
        let late = Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})");
        let new = Some("quantize(RequestDisk - $(CATALOG_SPACE),{Target.DiskQuantum?:1024})");
        for (from, to, expected) in [
            ("24.0", "25.0", Some(("24.12.18", old, late))),
            ("24.12", "25.0", None),
            ("24.12", "25.5", Some(("25.1.0", late, old))),
            ("25.0", "25.5", Some(("25.1.0", late, old))),
            ("25.0", "25.7", None),
            ("25.5", "25.7", Some(("25.7.2", old, late))),
            ("25.0", "25.14", Some(("25.12.2", late, new))),
            // Back.
            ("25.0", "24.0", Some(("24.12.18", late, old))),
            ("25.5", "24.12", Some(("25.1.0", old, late))),
            ("25.14", "24.0", Some(("25.12.2", new, old))),
        ] {
            let changes = variables(&Config::default(), versions(from, to).map(Semantics::series));
            let found = changes.iter().find(|change| change.name == "MODIFY_REQUEST_EXPR_REQUESTDISK");
            let found = found.map(|change| (change.since.as_str(), change.before, change.after));
            assert_eq!(found, expected, "{from} to {to}");
        }
    }

    /// All pairs of series: a variable is reported if and only if its default differs.
    #[test]
    fn every_default_that_differs_is_reported_and_no_other() {
        let is_shown = |history: &&VariableHistory| {
            !(history.concerns.is_empty() || history.entry_only || history.is_macro || is_removed(history.name))
        };
        let names: BTreeSet<&str> = series::histories().iter().filter(is_shown).map(|history| history.name).collect();
        let all: Vec<Series> = [10, 23, 24, 25]
            .into_iter()
            .flat_map(|major| (0..15).map(move |minor| (major, minor)))
            .map(|(major, minor)| Series::new(major, minor))
            .collect();
        for from in &all {
            for to in &all {
                let changes = variables(&Config::default(), [*from, *to]);
                let found: BTreeSet<&str> = changes.iter().map(|change| change.name).collect();
                let differ = |name: &str| series::default_in(*from, name) != series::default_in(*to, name);
                assert_eq!(found, names.iter().copied().filter(|name| differ(name)).collect(), "{from} to {to}");
                for change in changes {
                    let mut numbers = change.since.split('.').map_while(|number| number.parse().ok());
                    let since = Series::new(numbers.next().unwrap(), numbers.next().unwrap());
                    assert!(from.min(to) < &since && &since <= from.max(to), "{change:?} from {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn a_file_is_read_as_each_version_reads_it() {
        // By `if version`, 23.0 reads lines 4, 8 and 9, and 25.14 reads lines 2 and 11. Both read lines 6 and 13.
        let text = b"if version >= 25.0\nSTART = (a ?: 1) + 2 > 3\nelse\nSTART = a ?: 1 + 2 > 3\nendif\n\
            RANK = a ?: 1 + 2\nif version < 23.9\nPREEMPT = Memory > 2G\nN = 1\nelse\nN = 2\nendif\nSUSPEND = Memory > $(N)G\n";
        let read = |version: &str| {
            let semantics = version.parse().unwrap();
            let mut config = Config::new(Context { semantics, ..Context::default() });
            config.read("c", text, &Disk).unwrap();
            config
        };
        let configs = [read("23.0"), read("25.14")];
        let configs = [&configs[0], &configs[1]];
        let (found, _) = of_config(configs, versions("23.0", "25.14"), &EvalOptions::default());
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.line)).collect();
        assert_eq!(found, [("RANK", Some(6)), ("SUSPEND", Some(13))]);
        let placed =
            |value: &str, line| Some(PlacedValue { value: value.to_owned(), file: "c".to_owned(), line: Some(line) });
        let change = |name: &str, before, after| SettingDifference { name: name.to_owned(), before, after };
        assert_eq!(
            settings(configs),
            [
                change("START", placed("a ?: 1 + 2 > 3", 4), placed("(a ?: 1) + 2 > 3", 2)),
                change("PREEMPT", placed("Memory > 2G", 8), None),
                change("N", placed("1", 9), placed("2", 11)),
                change("SUSPEND", placed("Memory > 1G", 13), placed("Memory > 2G", 13)),
            ]
        );
        assert!(settings([configs[1]; 2]).is_empty());
    }
}
