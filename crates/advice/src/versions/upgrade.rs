//! The upgrade of a configuration, of ads and of a pool from one version to another.
//!
//! In: files as text, and snapshots as each version reads them. Out: expressions that change their meaning, defaults and
//! variables that change, changes of the negotiator, and the matches of a cycle that differ.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use super::entries::entries;
use super::{VersionAds, VersionDifference, VersionText, compare, compare_alone};
use crate::lint::LineIndex;
use crate::lint::placing::SourceMap;
use crate::lint::submit::without_macros;
use crate::lint::transforms::{self, TransformPart};
use crate::whatif::{Difference, what_if};
use classmate::internal::format::detect::detect_ads;
use classmate::internal::records::records;
use classmate::internal::syntax::parse::{parse_expr, parse_prefix};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalOptions, Format, Name, ParseOptions, Reader, Semantics, Series};
use classmate_config::internal::config::knob::{self, KnobKind};
use classmate_config::internal::config::series::{ChangedReleases, DefaultChange};
use classmate_config::internal::config::{ConfigError, series};
use classmate_config::{Config, Definition};
use classmate_pool::Snapshot;

/// An expression of a file that means something else in the other version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedDifference {
    /// The file.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<u64>,
    /// The attribute or variable.
    pub name: String,
    /// The text in front of the expression, if it is a part of the variable: `SET Memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Number of ads with this text.
    pub ads: usize,
    /// The difference, of the first of them.
    #[serde(flatten)]
    pub difference: VersionDifference,
}

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

/// A change of the negotiator without a variable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BehaviorChange {
    /// The release with the change.
    pub since: String,
    /// True if the first version has the change, and the second does not.
    pub undone: bool,
    /// The change, with HTCondor's tickets.
    pub change: String,
}

/// The effects of an upgrade.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Upgrade {
    /// The series before.
    pub from: String,
    /// The series after.
    pub to: String,
    /// Expressions that change their meaning.
    pub expressions: Vec<PlacedDifference>,
    /// Variables whose default changes, or that come or go. Empty without a configuration.
    pub variables: Vec<VariableChange>,
    /// Changes of the negotiator. Empty without a pool.
    pub behavior: Vec<BehaviorChange>,
    /// Matches of a cycle by the language of each version. `None` without a pool.
    pub matches: Option<Difference>,
}

impl Upgrade {
    /// An upgrade of which nothing is known yet.
    pub fn new([from, to]: [Semantics; 2]) -> Self {
        Upgrade { from: from.to_string(), to: to.to_string(), ..Upgrade::default() }
    }
}

/// Evaluations of one text in different ads, after which it is taken to mean the same in all.
const MAX_VARIANTS: usize = 100;

/// Collects the differences of the ads of one file.
struct AdComparison<'a> {
    file: &'a str,
    versions: [Semantics; 2],
    settings: &'a EvalOptions,
    found: Vec<PlacedDifference>,
    /// The place of each text in `found`.
    places: HashMap<(Name, Vec<u8>), usize>,
    /// Number of ads for which each text was compared without a difference.
    alike: HashMap<Vec<u8>, usize>,
}

/// One attribute of an ad: its name, text, and line.
type AdLine = (Name, Vec<u8>, Option<u64>);

/// The attributes of a file of ads, in any format, that mean something else in the other version.
///
/// # Errors
/// The format is not known.
pub fn of_ads(
    file: &str,
    text: &[u8],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> std::io::Result<Vec<PlacedDifference>> {
    let (found, places, alike) = (Vec::new(), HashMap::new(), HashMap::new());
    let mut comparison = AdComparison { file, versions, settings, found, places, alike };
    match detect_ads(text, &ParseOptions::default()) {
        Format::Long => comparison.long(text),
        Format::New => comparison.new_syntax(text),
        _ => comparison.others(text)?,
    }
    let mut found = comparison.found;
    found.sort_by_key(|one| (one.difference.severity, one.line));
    Ok(found)
}

impl AdComparison<'_> {
    fn options(&self, at: usize, quoting: Quoting) -> ParseOptions {
        let semantics = self.versions[at];
        ParseOptions { quoting, semantics, mode: self.settings.mode, ..ParseOptions::default() }
    }

    /// Ads of the long format, line by line.
    fn long(&mut self, text: &[u8]) {
        let options = [self.options(0, Quoting::Old), self.options(1, Quoting::Old)];
        let mut lines: Vec<AdLine> = Vec::new();
        let mut ads = [ClassAd::new(), ClassAd::new()];
        let ends = std::iter::once(&b""[..]);
        for (at, line) in text.split(|byte| *byte == b'\n').chain(ends).enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                self.ad(&std::mem::take(&mut lines), [&ads[0], &ads[1]], Quoting::Old);
                ads = [ClassAd::new(), ClassAd::new()];
                continue;
            }
            let Some(equals) = memchr::memchr(b'=', line).filter(|_| line[0] != b'#') else { continue };
            let (name, value) = (Name::new(line[..equals].trim_ascii()), line[equals + 1..].trim_ascii());
            for (ad, options) in ads.iter_mut().zip(&options) {
                if let Ok((expr, _)) = parse_prefix(value, options) {
                    ad.insert_expr(name, &expr);
                }
            }
            if !is_plain(value) {
                lines.push((name, value.to_vec(), Some(at as u64 + 1)));
            }
        }
    }

    /// Ads in new syntax, attribute by attribute: one version may refuse some.
    fn new_syntax(&mut self, text: &[u8]) {
        let options = [self.options(0, Quoting::New), self.options(1, Quoting::New)];
        let (mut number, mut counted) = (1, 0);
        for attributes in entries(text) {
            let mut ads = [ClassAd::new(), ClassAd::new()];
            let mut lines: Vec<AdLine> = Vec::new();
            for (name, place) in attributes {
                number += memchr::memchr_iter(b'\n', &text[counted..place.start]).count() as u64;
                counted = place.start;
                let value = &text[place];
                for (ad, options) in ads.iter_mut().zip(&options) {
                    if let Ok(expr) = parse_expr(value, options) {
                        ad.insert_expr(name, &expr);
                    }
                }
                if !is_plain(value) {
                    lines.push((name, value.to_vec(), Some(number)));
                }
            }
            self.ad(&lines, [&ads[0], &ads[1]], Quoting::New);
        }
    }

    /// Ads of another format, as each version reads them. An attribute is compared by its text in the first version.
    fn others(&mut self, text: &[u8]) -> std::io::Result<()> {
        let read = |at: usize| -> std::io::Result<Vec<ClassAd>> {
            Reader::detect(text, &self.options(at, Quoting::New))?.by_ref().collect()
        };
        let (first, second) = (read(0)?, read(1)?);
        for (first, second) in first.iter().zip(&second) {
            let text =
                |name: &Name| first.get(*name).or_else(|| second.get(*name)).map(|expr| expr.to_text(Style::New));
            let names = first.names().chain(second.names().filter(|name| !first.contains(*name)));
            let lines: Vec<AdLine> = names
                .filter_map(|name| Some((name, text(&name)?, None)))
                .filter(|(_, text, _)| !is_plain(text))
                .collect();
            self.ad(&lines, [first, second], Quoting::New);
        }
        Ok(())
    }

    fn ad(&mut self, lines: &[AdLine], my: [&ClassAd; 2], quoting: Quoting) {
        let ads = VersionAds { my, target: [None; 2] };
        for (name, value, line) in lines {
            if let Some(place) = self.places.get(&(*name, value.clone())) {
                self.found[*place].ads += 1;
                continue;
            }
            let alike = self.alike.entry(value.clone()).or_default();
            if *alike >= MAX_VARIANTS {
                continue;
            }
            let text = VersionText { text: value, quoting, prefix: quoting == Quoting::Old };
            let Some(difference) = compare(text, self.versions, self.settings, ads) else {
                *alike += 1;
                continue;
            };
            self.places.insert((*name, value.clone()), self.found.len());
            let (file, name) = (self.file.to_owned(), name.to_string());
            self.found.push(PlacedDifference { file, line: *line, name, part: None, ads: 1, difference });
        }
    }
}

/// Tests whether a value is a constant that all versions read alike: a short integer, a boolean, a string without escapes.
fn is_plain(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_integer = !digits.is_empty() && digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit);
    let inside = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    is_integer
        || inside.is_some_and(|text| memchr::memchr2(b'"', b'\\', text).is_none())
        || [&b"true"[..], b"false", b"undefined"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The expressions of a configuration that mean something else in the other version.
pub fn of_config(config: &Config, versions: [Semantics; 2], settings: &EvalOptions) -> Vec<PlacedDifference> {
    let mut found = Vec::new();
    for definition in config.definitions() {
        let shown = String::from_utf8_lossy(definition.name).into_owned();
        let value = config.get(&shown).ok().flatten().map(|found| found.text);
        let value = value.unwrap_or_else(|| definition.raw.to_vec());
        let value = value.trim_ascii();
        if value.is_empty() || is_plain(value) {
            continue;
        }
        if knob::is_transform(config.bare(definition.name)) || is_routes(config.bare(definition.name)) {
            found.extend(of_transform(config, &definition, value, versions, settings));
            continue;
        }
        let text = VersionText { text: value, quoting: Quoting::Old, prefix: false };
        // An attribute that a daemon advertises, or the condition of a slot, may refer to itself.
        let own = versions.map(|semantics| {
            let mut ad = ClassAd::new();
            let options =
                ParseOptions { quoting: text.quoting, semantics, mode: settings.mode, ..ParseOptions::default() };
            if let Ok(expr) = parse_expr(value, &options) {
                ad.insert_expr(Name::new(config.bare(definition.name)), &expr);
            }
            ad
        });
        let ads = VersionAds { my: [&own[0], &own[1]], target: [None; 2] };
        let difference = compare_alone(text, versions, settings).or_else(|| compare(text, versions, settings, ads));
        let Some(difference) = difference else { continue };
        // What no daemon reads as an expression may be a size or a path.
        let kind = knob::find(config.bare(definition.name)).map(|knob| knob.kind);
        let is_typed =
            matches!(kind, Some(KnobKind::Expression | KnobKind::Boolean | KnobKind::Integer(..) | KnobKind::Real(..)));
        let is_number = || value.iter().all(u8::is_ascii_alphanumeric);
        if !is_typed && (kind.is_some() || is_number()) {
            continue;
        }
        let (file, line) = definition
            .place
            .map_or((String::new(), None), |place| (place.file.to_string(), Some(u64::from(place.line))));
        found.push(PlacedDifference { file, line, name: shown, part: None, ads: 0, difference });
    }
    found
}

/// Tests whether a variable, without the prefix of a daemon, has routes in the form of ads.
fn is_routes(name: &[u8]) -> bool {
    ["JOB_ROUTER_ENTRIES", "JOB_ROUTER_DEFAULTS"].iter().any(|routes| name.eq_ignore_ascii_case(routes.as_bytes()))
}

/// The expressions of a transform or of routes of jobs, in either form, that mean something else in the other version. Macros
/// are expanded when a transform is applied; they stand for something unknown here.
fn of_transform(
    config: &Config,
    definition: &Definition<'_>,
    expanded: &[u8],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> Vec<PlacedDifference> {
    let is_ad = expanded.starts_with(b"[");
    let text = if is_ad { expanded } else { definition.raw };
    let places: Vec<(String, Range<usize>)> = if is_ad {
        entries(text).into_iter().flatten().map(|(name, place)| (format!("{} =", name.display()), place)).collect()
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
    let mut found = Vec::new();
    for (part, place) in places {
        let value = &text[place.clone()];
        let Some(open) = without_macros(value).filter(|_| !is_plain(value)) else { continue };
        let written = VersionText { text: &open.text, quoting, prefix: false };
        let Some(mut difference) = compare_alone(written, versions, settings) else { continue };
        let restore = |text: &mut String| *text = open.restored(text);
        restore(&mut difference.text);
        difference.write.iter_mut().chain(&mut difference.example).for_each(restore);
        for reading in &mut difference.readings {
            [&mut reading.expression, &mut reading.problem, &mut reading.value].into_iter().flatten().for_each(restore);
        }
        let file = definition.place.map_or_else(String::new, |place| place.file.to_string());
        let name = String::from_utf8_lossy(definition.name).into_owned();
        found.push(PlacedDifference { file, line: line(&place), name, part: Some(part), ads: 0, difference });
    }
    found
}

/// The variables that change between two series, and where the configuration sets them.
pub fn variables(config: &Config, [from, to]: [Series; 2]) -> Vec<VariableChange> {
    let mut found: Vec<VariableChange> = Vec::new();
    // Daemons read a variable before its entry, with the same default.
    for change in series::changes().iter().filter(|change| !change.entry_only) {
        let name = change.name;
        let Some(since) = change.releases.between(from, to) else { continue };
        // Of several changes, the last between the two.
        if let Some(known) = found.iter_mut().find(|known| known.name == name) {
            known.since = since;
            continue;
        }
        // A removed variable without a default has an effect before, too.
        let is_last = |series| series::change(series, name.as_bytes()).is_some_and(DefaultChange::is_removal);
        let no_default = |series| is_last(series).then_some("");
        let [before, after] = [from, to].map(|series| series::default_in(series, name).or(no_default(series)));
        let set_at = config.definition(name.as_bytes()).and_then(|found| found.place).map(ToString::to_string);
        // What is removed is missed where it is set, or referred to.
        let is_missed = match (series::removal(name.as_bytes()), change.removed) {
            (Some(_), _) => set_at.is_some() && before != after,
            (None, Some(_)) => set_at.is_none() && is_referenced(config, name),
            (None, None) => true,
        };
        if !is_missed {
            continue;
        }
        found.push(VariableChange { name, since, before, after, set_at, concerns: &change.concerns });
    }
    // A changed default of a variable that is set has no effect.
    found.retain(|change| change.set_at.is_none() || change.before.is_none() || change.after.is_none());
    found
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

/// The changes of the negotiator between two series.
pub fn behavior([from, to]: [Series; 2]) -> Vec<BehaviorChange> {
    let changes = records(include_str!("behavior.txt")).filter_map(|record| {
        let releases = ChangedReleases::read(record.name, &record)?;
        let since = releases.between(from, to)?;
        Some(BehaviorChange { since, undone: !releases.is_in(to), change: record.about })
    });
    changes.collect()
}

/// The matches of one cycle, over a pool as each version reads it.
///
/// # Errors
/// A setting that is wrong for a cycle.
pub fn matches(before: &Snapshot, after: &Snapshot) -> Result<Difference, ConfigError> {
    what_if(before, after)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::versions::DifferenceSeverity;

    fn versions(from: &str, to: &str) -> [Semantics; 2] {
        [from, to].map(|series| series.parse().unwrap())
    }

    /// Name, line, number of ads, rules, and the replacement.
    type Shown = (String, Option<u64>, usize, Vec<&'static str>, Option<String>);

    fn ads(text: &str, from: &str, to: &str) -> Vec<Shown> {
        let found = of_ads("x.ads", text.as_bytes(), versions(from, to), &EvalOptions::default()).unwrap();
        found.into_iter().map(|one| (one.name, one.line, one.ads, one.difference.rules, one.difference.write)).collect()
    }

    /// The values are those of the reference: 10240.0 and 10; the evaluation fails, and true.
    #[test]
    fn lines_of_ads_are_compared_with_their_values() {
        let text =
            "Name = \"a\"\nA = 10K\nLimit = Limit ?: true\nStart = Cpus > 1\nCpus = 2\n\nName = \"b\"\nA = 10K\n";
        let found = ads(text, "23.0", "25.14");
        assert_eq!(found[0], ("A".to_owned(), Some(2), 2, vec!["size-suffix"], Some("10 * 1024.0".to_owned())));
        assert_eq!(found[1], ("Limit".to_owned(), Some(3), 1, vec!["cycle"], None));
        assert_eq!(found.len(), 2);
        assert_eq!(ads(text, "25.13", "25.14"), []);
    }

    #[test]
    fn ads_of_other_formats_are_compared() {
        let found = ads("[ a = x ?: \"\" != \"Copy\"; x = \"y\"; b = 1 ]\n", "23.0", "25.14");
        assert_eq!((found.len(), found[0].0.as_str(), &found[0].3), (1, "a", &vec!["elvis-precedence"]));
    }

    #[test]
    fn a_configuration_is_compared_with_its_defaults() {
        let text = b"START = Memory > 2G\nMAX_X_LOG = 10M\nNEGOTIATOR_SCHEDDS_ARE_SUBMITTERS = true\nCURB_MATCHMAKING = false\nSLOT_WEIGHT = versiongt(a, b) ? 1 : 2\nKEEP_DATA_CLAIM_IDLE = 60\n";
        let config = Config::parse("c", text).unwrap();
        let found = of_config(&config, versions("10.0", "25.14"), &EvalOptions::default());
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

    /// The values follow from `docs/reference/versions.md` 2.9.
    #[test]
    fn variables_that_refer_to_themselves_are_compared() {
        let text = b"START = START ?: true\nSTARTD_ATTRS = WithinLimits\nWithinLimits = WithinLimits ?: true\nRANK = KFlops ?: 1\n";
        let config = Config::parse("c", text).unwrap();
        let found = of_config(&config, versions("24.0", "25.14"), &EvalOptions::default());
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.difference.rules[0], one.difference.readings[1].value.as_deref()))
            .collect();
        assert_eq!(shown, [(Some(1), "cycle", Some("true")), (Some(3), "cycle", Some("true"))]);
        assert!(of_config(&config, versions("25.13", "25.14"), &EvalOptions::default()).is_empty());
    }

    /// A variable that is set, a macro that is referred to, and others that are neither.
    #[test]
    fn removed_variables_are_reported_where_they_are_missed() {
        let text =
            b"STARTD_SENDS_ALIVES = true\nGRIDMAP = /etc/map\nSTART = $(cpubusy) == false\nMachineBusy = $(CPUIDLES)\n";
        let config = Config::parse("c", text).unwrap();
        let of = |from: &str, to: &str| -> Vec<_> {
            let found = variables(&config, versions(from, to).map(Semantics::series)).into_iter();
            let shown =
                found.filter(|change| series::removal(change.name.as_bytes()).is_some() || change.name == "CPUBusy");
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
        let found = of_config(&config, versions("23.0", "25.14"), &EvalOptions::default());
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.line, one.difference.text.as_str(), one.difference.rules[0]))
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
        assert!(of_config(&config, versions("25.13", "25.14"), &EvalOptions::default()).is_empty());
    }

    /// A version refuses only the attribute.
    #[test]
    fn ads_that_one_version_refuses_are_compared_by_attribute() {
        let found = ads("[\n a = 10K;\n b = c ?: 1 + 2;\n c = 7\n]\n", "23.0", "25.14");
        let shown: Vec<_> = found.iter().map(|one| (one.0.as_str(), one.1, one.3[0])).collect();
        assert_eq!(shown, [("a", Some(2), "size-suffix"), ("b", Some(3), "elvis-precedence")]);
    }

    /// Late releases of 24.12 and 25.0 have the default of 25.7.2; those of 25.1 to 25.6 do not.
    #[test]
    fn a_default_of_late_releases_is_reported_where_it_appears_and_where_it_is_lost() {
        let old = Some("quantize(RequestDisk,{1024})");
        let late = Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})");
        let new = Some("quantize(RequestDisk - $(CATALOG_SPACE),{Target.DiskQuantum?:1024})");
        for (from, to, expected) in [
            ("24.0", "25.0", Some(("24.12", old, late))),
            ("24.12", "25.0", None),
            ("24.12", "25.5", Some(("25.1", late, old))),
            ("25.0", "25.5", Some(("25.1", late, old))),
            ("25.0", "25.7", None),
            ("25.5", "25.7", Some(("25.7.2", old, late))),
            ("25.0", "25.14", Some(("25.12.2", late, new))),
            // Back.
            ("25.0", "24.0", Some(("24.12", late, old))),
            ("25.5", "24.12", Some(("25.1", old, late))),
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
        let is_removed = |name: &str| series::removal(name.as_bytes()).is_some();
        let is_shown =
            |change: &&DefaultChange| !(change.entry_only || change.removed.is_some() || is_removed(change.name));
        let names: BTreeSet<&str> = series::changes().iter().filter(is_shown).map(|change| change.name).collect();
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
    fn changes_of_the_negotiator_are_those_of_one_version_alone() {
        let since = |from, to| {
            let found = behavior(versions(from, to).map(Semantics::series)).into_iter();
            found.map(|change| (change.since, change.undone)).collect::<Vec<_>>()
        };
        let is = |undone: bool, all: &[&str]| all.iter().map(|one| ((*one).to_owned(), undone)).collect::<Vec<_>>();
        assert_eq!(since("24.0", "25.10"), is(false, &["25.8.2", "25.10.1"]));
        assert_eq!(since("23.0", "25.8"), is(false, &["24.2", "25.8.2"]));
        assert_eq!(since("23.10", "24.0"), is(false, &["24.0"]));
        assert_eq!(since("24.0", "24.1"), is(true, &["24.1"]));
        assert_eq!(since("25.10", "24.0"), is(true, &["25.8.2", "25.10.1"]));
        assert!(since("25.12", "25.14").is_empty());
    }
}
