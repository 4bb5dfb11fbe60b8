//! The upgrade of ads and of a pool from one version to another.
//!
//! In: files as text, and snapshots as each version reads them. Out: expressions that change their meaning, defaults and
//! variables that change, changes of the negotiator, and the matches of a cycle that differ. One file, because all
//! comparisons fill the same record.

use std::collections::HashMap;

use serde::Serialize;

use super::configuration::{self, SettingDifference, VariableChange, of_config};
use super::defects::{VersionDefect, defects_of};
use super::encounter::encounters;
use super::entries::entries;
use super::source_ad::{SourceAd, each_ad};
use super::{DifferenceSeverity, VersionAds, VersionDifference, VersionText, compare, compare_part};
use crate::whatif::{Difference, run};
use classmate::internal::format::detect::detect_ads;
use classmate::internal::records::records;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::parse::{parse_expr, parse_prefix};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalOptions, Format, Name, ParseOptions, Semantics, Series};
use classmate_config::Config;
use classmate_config::internal::config::series::ChangedReleases;
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

/// A crash or hang that an expression of a file meets in one of the versions, or in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedDefect {
    /// The file.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<u64>,
    /// The attribute or variable.
    pub name: String,
    /// The text in front of the expression, if it is a part of the variable: `SET Memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The text.
    pub text: String,
    /// Number of ads with this text.
    pub ads: usize,
    /// The series with the defect.
    pub series: Vec<String>,
    /// The defect, in the first of the ads.
    pub defect: VersionDefect,
}

/// The defects of one expression in two versions, with the series of each.
pub(super) fn in_both(
    versions: [Semantics; 2],
    met: impl Fn(usize, Semantics) -> Vec<VersionDefect>,
) -> Vec<(VersionDefect, Vec<String>)> {
    let mut found: Vec<(VersionDefect, Vec<String>)> = Vec::new();
    for (at, version) in versions.into_iter().enumerate() {
        for defect in met(at, version) {
            match found.iter_mut().find(|(known, _)| *known == defect) {
                Some((_, series)) => series.push(version.to_string()),
                None => found.push((defect, vec![version.to_string()])),
            }
        }
    }
    found
}

/// A text that was evaluated in some of the ads that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartialComparison {
    /// The file.
    pub file: String,
    /// The line of the first of the ads, if it is known.
    pub line: Option<u64>,
    /// The attribute, in the first of the ads.
    pub name: String,
    /// Number of ads in which it was evaluated, always with the same value in both versions, or without a defect.
    pub evaluated: usize,
    /// Number of ads with the text.
    pub ads: usize,
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

/// The reason that a cycle does not run in the language of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleRefusal {
    /// The series.
    pub version: String,
    /// The error.
    pub problem: String,
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
    /// Crashes and hangs of the two versions, which are not reproduced.
    pub defects: Vec<PlacedDefect>,
    /// Texts that were evaluated in some of their ads only.
    pub partial: Vec<PartialComparison>,
    /// True if ads were compared, for whose values alone the result holds.
    #[serde(skip)]
    pub has_ads: bool,
    /// Variables that the configuration sets in different ways for the two versions.
    pub settings: Vec<SettingDifference>,
    /// Variables whose default changes, or that come or go. Empty without a configuration.
    pub variables: Vec<VariableChange>,
    /// Changes of the negotiator. Empty without a pool.
    pub behavior: Vec<BehaviorChange>,
    /// Matches of a cycle by the language of each version. `None` without a pool, or if a version refuses the cycle.
    pub matches: Option<Difference>,
    /// The versions that refuse a cycle.
    pub refusals: Vec<CycleRefusal>,
}

impl Upgrade {
    /// An upgrade of which nothing is known yet.
    pub fn new([from, to]: [Semantics; 2]) -> Self {
        Upgrade { from: from.to_string(), to: to.to_string(), ..Upgrade::default() }
    }

    /// Adds the attributes of a file of ads, in any format.
    ///
    /// # Errors
    /// The format is not known.
    pub fn add_ads(
        &mut self,
        file: &str,
        text: &[u8],
        versions: [Semantics; 2],
        settings: &EvalOptions,
    ) -> std::io::Result<()> {
        let found = of_ads(file, text, versions, settings)?;
        self.expressions.extend(found.expressions);
        self.defects.extend(found.defects);
        self.partial.extend(found.partial);
        self.has_ads = true;
        Ok(())
    }

    /// Adds the expressions of a configuration, as each of the versions reads its files, and what they set in different ways.
    pub fn add_config(&mut self, configs: [&Config; 2], versions: [Semantics; 2], settings: &EvalOptions) {
        self.settings = configuration::settings(configs);
        let (found, defects) = of_config(configs, versions, settings);
        self.expressions.extend(found);
        self.defects.extend(defects);
    }

    /// Adds the defects that the conditions of slots and jobs, of the named files, meet only beside an ad of the other side.
    pub fn add_encounters(&mut self, [slots, jobs]: [&str; 2], snapshots: [&Snapshot; 2]) {
        let mut found: Vec<PlacedDefect> = Vec::new();
        for snapshot in snapshots {
            let met = encounters(&snapshot.slots, &snapshot.jobs, &snapshot.settings());
            for one in met.into_iter().filter(|one| !one.alone) {
                let ads = if one.of_job { &snapshot.jobs } else { &snapshot.slots };
                let has_text =
                    |ad: &&ClassAd| ad.get(one.attribute).is_some_and(|expr| expr.to_text(Style::New) == one.text);
                let placed = PlacedDefect {
                    file: if one.of_job { jobs } else { slots }.to_owned(),
                    line: None,
                    name: one.attribute.to_owned(),
                    part: None,
                    text: String::from_utf8_lossy(&one.text).into_owned(),
                    ads: ads.iter().filter(has_text).count(),
                    series: vec![one.version.to_string()],
                    defect: one.defect,
                };
                let is_it = |known: &&mut PlacedDefect| {
                    (&known.file, &known.name, &known.text) == (&placed.file, &placed.name, &placed.text)
                        && known.defect == placed.defect
                };
                match found.iter_mut().find(is_it) {
                    Some(known) => known.series.extend(placed.series),
                    None => found.push(placed),
                }
            }
        }
        self.defects.extend(found);
    }

    /// Adds the matches of one cycle over a pool as each version reads it, or why a version refuses the cycle.
    pub fn add_matches(&mut self, snapshots: [&Snapshot; 2]) {
        let runs = snapshots.map(run);
        if let [Ok(before), Ok(after)] = &runs {
            self.matches = Some(Difference::between(before, after));
        }
        let versions = [&self.from, &self.to].map(Clone::clone);
        let refused = versions.into_iter().zip(runs).filter_map(|(version, run)| {
            let problem = run.err()?.to_line();
            Some(CycleRefusal { version, problem })
        });
        self.refusals = refused.collect();
    }
}

/// Evaluations of one text in different ads, after which it is taken to mean the same in all.
const MAX_VARIANTS: usize = 100;

/// Collects the differences of the ads of one file.
struct AdComparison<'a> {
    file: &'a str,
    versions: [Semantics; 2],
    settings: &'a EvalOptions,
    /// The differences of each text, one for each rule.
    found: Vec<Vec<PlacedDifference>>,
    /// The place of each text in `found`.
    places: HashMap<(Name, Vec<u8>), usize>,
    /// The ads for which each text was compared without a difference.
    alike: HashMap<Vec<u8>, Tried>,
    defects: Vec<PlacedDefect>,
    /// The place in `defects` of the first defect of each text, and their number.
    met: HashMap<(Name, Vec<u8>), (usize, usize)>,
    /// The ads for which each text was evaluated without a defect.
    sound: HashMap<Vec<u8>, Tried>,
}

/// Evaluations of a text in different ads.
struct Tried {
    name: Name,
    line: Option<u64>,
    evaluated: usize,
    ads: usize,
}

impl Tried {
    /// Counts an ad; returns false if the text was evaluated often enough.
    fn next(all: &mut HashMap<Vec<u8>, Self>, text: &[u8], name: Name, line: Option<u64>) -> bool {
        let tried = all.entry(text.to_vec()).or_insert(Tried { name, line, evaluated: 0, ads: 0 });
        tried.ads += 1;
        tried.evaluated < MAX_VARIANTS
    }

    /// Counts an evaluation without a difference or a defect.
    fn evaluated(all: &mut HashMap<Vec<u8>, Self>, text: &[u8]) {
        if let Some(tried) = all.get_mut(text) {
            tried.evaluated += 1;
        }
    }
}

/// The findings in the ads of one file.
struct FileComparison {
    expressions: Vec<PlacedDifference>,
    defects: Vec<PlacedDefect>,
    partial: Vec<PartialComparison>,
}

/// One attribute of an ad: its name, text, and line.
type AdLine = (Name, Vec<u8>, Option<u64>);

/// The attributes of a file of ads, in any format, that mean something else in the other version, and those that make one of the
/// versions crash or hang.
fn of_ads(
    file: &str,
    text: &[u8],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> std::io::Result<FileComparison> {
    let mut comparison = AdComparison {
        file,
        versions,
        settings,
        found: Vec::new(),
        places: HashMap::new(),
        alike: HashMap::new(),
        defects: Vec::new(),
        met: HashMap::new(),
        sound: HashMap::new(),
    };
    match detect_ads(text, &ParseOptions::default()) {
        Format::Long => comparison.long(text),
        Format::New => comparison.new_syntax(text),
        format => comparison.others(text, format)?,
    }
    let AdComparison { mut found, mut defects, alike, mut sound, .. } = comparison;
    let severity = |found: &[PlacedDifference]| found.iter().map(|one| one.difference.severity).min();
    found.sort_by_key(|found| (severity(found), found.first().and_then(|one| one.line)));
    defects.sort_by_key(|one| one.line);
    sound.retain(|text, _| alike.get(text).is_none_or(|alike| alike.evaluated < MAX_VARIANTS));
    // The value of a literal depends on no ad.
    let is_literal = |text: &[u8]| {
        let literal = parse_expr(text, &ParseOptions::default());
        literal.is_ok_and(|expr| matches!(expr.nodes(), [Node::Literal(_)]))
    };
    let partial = alike
        .into_iter()
        .chain(sound)
        .filter(|(text, tried)| tried.evaluated == MAX_VARIANTS && tried.ads > tried.evaluated && !is_literal(text));
    let partial = partial.map(|(_, tried)| PartialComparison {
        file: file.to_owned(),
        line: tried.line,
        name: tried.name.to_string(),
        evaluated: tried.evaluated,
        ads: tried.ads,
    });
    let mut partial: Vec<PartialComparison> = partial.collect();
    partial.sort_by(|one, other| (one.line, &one.name, one.ads).cmp(&(other.line, &other.name, other.ads)));
    Ok(FileComparison { expressions: found.into_iter().flatten().collect(), defects, partial })
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

    /// Ads of another format. Of an ad that one version refuses, what it refuses is found by the texts of the attributes.
    fn others(&mut self, text: &[u8], format: Format) -> std::io::Result<()> {
        let options = [self.options(0, Quoting::New), self.options(1, Quoting::New)];
        each_ad(text, format, &options, |source| match &source.ads {
            [Ok(first), Ok(second)] => self.both(source, [first, second]),
            [Ok(only), Err(_)] | [Err(_), Ok(only)] => self.refused(source, only),
            _ => {}
        })
    }

    /// An ad that both versions read. What they read is compared; the text may not show that it differs.
    fn both(&mut self, source: &SourceAd<'_>, my: [&ClassAd; 2]) {
        for name in source.names() {
            let ads = VersionAds { my, target: [None; 2], name: Some(name) };
            let [Some(first), Some(second)] = my.map(|ad| ad.get(name)) else { continue };
            let printed = first.to_text(Style::New);
            let is_same = first.same_as(&second);
            if is_same && is_plain(&printed) {
                continue;
            }
            self.defects_of(name, &printed, source.line, my);
            let key = if is_same {
                printed.clone()
            } else {
                [&printed, b" ".as_slice(), &second.to_text(Style::New)].concat()
            };
            let (versions, settings) = (self.versions, self.settings);
            // An expression of XML ends where a version does not read on.
            let options = [self.options(0, Quoting::New), self.options(1, Quoting::New)];
            let is_written = |text: &Vec<u8>| {
                let mut all = options.iter().zip([&first, &second]);
                all.all(|(options, read)| parse_prefix(text, options).is_ok_and(|(expr, _)| expr.same_as(read)))
            };
            self.attribute(name, &key, source.line, || {
                let written = || source.written(name);
                if let Some(text) = (!is_same).then(written).flatten().filter(is_written).as_deref() {
                    let text = VersionText { text, quoting: Quoting::New, prefix: true };
                    return compare(text, versions, settings, ads);
                }
                let read = |semantics| source.part(Some(name), semantics);
                let mut found = compare_part(&printed, &read, versions, settings, ads);
                if let Some(written) = (!found.is_empty()).then(written).flatten() {
                    let written = String::from_utf8_lossy(&written);
                    for one in &mut found {
                        one.text = written.clone().into_owned();
                    }
                }
                found
            });
        }
    }

    /// An ad that only one version reads.
    fn refused(&mut self, source: &SourceAd<'_>, ad: &ClassAd) {
        let texts = ad.iter().map(|(name, expr)| {
            let text = source.written(name).unwrap_or_else(|| expr.to_text(Style::New));
            (name, text, source.line)
        });
        let lines: Vec<AdLine> = texts.filter(|(_, text, _)| !is_plain(text)).collect();
        let ads = VersionAds { my: [ad; 2], target: [None; 2], name: None };
        let is_refused = |(_, value, _): &AdLine| {
            let text = VersionText { text: value, quoting: Quoting::New, prefix: false };
            let found = compare(text, self.versions, self.settings, ads);
            found.iter().any(|found| found.severity == DifferenceSeverity::Error)
        };
        let is_explained = lines.iter().any(is_refused);
        self.ad(&lines, ads.my, Quoting::New);
        if is_explained {
            return;
        }
        // The text of what is refused is not known: it is in a list, or in an ad.
        let (versions, settings) = (self.versions, self.settings);
        let name = source.last_refused();
        let printed = name.and_then(|name| ad.get(name)).unwrap_or_else(|| ad.to_expr()).to_text(Style::New);
        self.attribute(name.unwrap_or(Name::new("ad")), &[&printed, b" ".as_slice()].concat(), source.line, || {
            let read = |semantics| source.part(name, semantics);
            compare_part(&printed, &read, versions, settings, ads)
        });
    }

    fn ad(&mut self, lines: &[AdLine], my: [&ClassAd; 2], quoting: Quoting) {
        for (name, value, line) in lines {
            let ads = VersionAds { my, target: [None; 2], name: Some(*name) };
            self.defects_of(*name, value, *line, my);
            let text = VersionText { text: value, quoting, prefix: quoting == Quoting::Old };
            let (versions, settings) = (self.versions, self.settings);
            self.attribute(*name, value, *line, || compare(text, versions, settings, ads));
        }
    }

    /// Compares an attribute, unless what has this key was compared often enough.
    fn attribute(
        &mut self,
        name: Name,
        key: &[u8],
        line: Option<u64>,
        compared: impl FnOnce() -> Vec<VersionDifference>,
    ) {
        if let Some(place) = self.places.get(&(name, key.to_vec())) {
            self.found[*place].iter_mut().for_each(|one| one.ads += 1);
            return;
        }
        if !Tried::next(&mut self.alike, key, name, line) {
            return;
        }
        let found = compared();
        if found.is_empty() {
            Tried::evaluated(&mut self.alike, key);
            return;
        }
        self.places.insert((name, key.to_vec()), self.found.len());
        let of_rule = |difference| {
            let (file, name) = (self.file.to_owned(), name.to_string());
            PlacedDifference { file, line, name, part: None, ads: 1, difference }
        };
        self.found.push(found.into_iter().map(of_rule).collect());
    }

    fn defects_of(&mut self, name: Name, value: &[u8], line: Option<u64>, my: [&ClassAd; 2]) {
        if let Some((first, number)) = self.met.get(&(name, value.to_vec())) {
            for one in &mut self.defects[*first..first + number] {
                one.ads += 1;
            }
            return;
        }
        if !Tried::next(&mut self.sound, value, name, line) {
            return;
        }
        let in_version =
            |at: usize, semantics| defects_of(name, my[at], &EvalOptions { semantics, ..self.settings.clone() });
        let met = in_both(self.versions, in_version);
        if met.is_empty() {
            Tried::evaluated(&mut self.sound, value);
            return;
        }
        self.met.insert((name, value.to_vec()), (self.defects.len(), met.len()));
        let text = String::from_utf8_lossy(value).into_owned();
        self.defects.extend(met.into_iter().map(|(defect, series)| PlacedDefect {
            file: self.file.to_owned(),
            line,
            name: name.to_string(),
            part: None,
            text: text.clone(),
            ads: 1,
            series,
            defect,
        }));
    }
}

/// Tests whether a value is a constant that all versions read alike, in both modes: a short decimal integer, a boolean, a
/// string without escapes.
pub(crate) fn is_plain(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_decimal = digits == b"0" || !digits.is_empty() && !digits.starts_with(b"0");
    let is_integer = is_decimal && digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit);
    let inside = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    is_integer
        || inside.is_some_and(|text| memchr::memchr2(b'"', b'\\', text).is_none())
        || [&b"true"[..], b"false", b"undefined"].iter().any(|word| value.eq_ignore_ascii_case(word))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(from: &str, to: &str) -> [Semantics; 2] {
        [from, to].map(|series| series.parse().unwrap())
    }

    /// Name, line, number of ads, rules, and the replacement.
    type Shown = (String, Option<u64>, usize, &'static str, Option<String>);

    fn ads(text: &str, from: &str, to: &str) -> Vec<Shown> {
        let found = of_ads("x.ads", text.as_bytes(), versions(from, to), &EvalOptions::default()).unwrap();
        found
            .expressions
            .into_iter()
            .map(|one| (one.name, one.line, one.ads, one.difference.rule, one.difference.write))
            .collect()
    }

    /// The values are those of the reference: 10240.0 and 10; the evaluation fails, and true.
    #[test]
    fn lines_of_ads_are_compared_with_their_values() {
        let text =
            "Name = \"a\"\nA = 10K\nLimit = Limit ?: true\nStart = Cpus > 1\nCpus = 2\n\nName = \"b\"\nA = 10K\n";
        let found = ads(text, "23.0", "25.14");
        assert_eq!(found[0], ("A".to_owned(), Some(2), 2, "size-suffix", Some("10 * 1024.0".to_owned())));
        assert_eq!(found[1], ("Limit".to_owned(), Some(3), 1, "cycle", Some("true".to_owned())));
        assert_eq!(found.len(), 2);
        assert_eq!(ads(text, "25.13", "25.14"), []);
    }

    /// HTCondor 10.0.9 and 24.0.20 hang in `Loop`, and 10.0.9 dies of the division; `x ? Loop : 1` is `Loop` where x is true.
    #[test]
    fn crashes_and_hangs_of_both_versions_are_named() {
        let text = "Name = \"a\"\nLoop = true ? Loop : 1\nM = -9223372036854775808 / -1\nN = x ? Loop : 1\n\n\
            Name = \"b\"\nLoop = true ? Loop : 1\n";
        let met = |text: &str, from: &str, to: &str| -> Vec<_> {
            let found = of_ads("x.ads", text.as_bytes(), versions(from, to), &EvalOptions::default()).unwrap();
            let shown = found
                .defects
                .into_iter()
                .map(|one| (one.name, one.line, one.ads, one.series.join(" "), one.defect.name));
            shown.collect()
        };
        let is = |name: &str, line, ads, series: &str, defect| (name.to_owned(), line, ads, series.to_owned(), defect);
        let hang = |series| is("Loop", Some(2), 2, series, "endless-conditional");
        assert_eq!(met(text, "10.0", "24.0"), [hang("10.0 24.0"), is("M", Some(3), 1, "10.0", "smallest-integer")]);
        assert_eq!(met(text, "25.14", "24.0"), [hang("24.0")]);
        assert_eq!(met(text, "25.13", "25.14"), []);
        let square = "[ a = [ b = true ? b : 1 ].b ]\n";
        assert_eq!(met(square, "23.0", "25.14"), [is("a", Some(1), 1, "23.0", "endless-conditional")]);
    }

    #[test]
    fn ads_of_other_formats_are_compared() {
        let found = ads("[ a = x ?: \"\" != \"Copy\"; x = \"y\"; b = 1 ]\n", "23.0", "25.14");
        assert_eq!((found.len(), found[0].0.as_str(), found[0].3), (1, "a", "elvis-precedence"));
    }

    /// 25.14.1 reads `b + 10` of the XML, and refuses the JSON (`docs/reference/versions.md` 2.1).
    #[test]
    fn an_expression_of_xml_that_is_cut_is_an_error() {
        let xml =
            "<classads>\n<c>\n<a n=\"A\"><e>b + 10K</e></a>\n<a n=\"C\"><e>b ?: 1 + 2</e></a>\n</c>\n</classads>\n";
        let json = r#"[{"A": "\/Expr(b + 10K)\/"}]"#;
        let severities = |text: &str| -> Vec<_> {
            let versions = versions("23.0", "25.14");
            let found = of_ads("x", text.as_bytes(), versions, &EvalOptions::default()).unwrap();
            let shown =
                found.expressions.into_iter().map(|one| (one.name, one.difference.severity, one.difference.write));
            shown.collect()
        };
        let cut = ("A".to_owned(), DifferenceSeverity::Error, Some("b + 10 * 1024.0".to_owned()));
        let other = ("C".to_owned(), DifferenceSeverity::Warning, Some("(b ?: 1) + 2".to_owned()));
        assert_eq!(severities(json), std::slice::from_ref(&cut));
        assert_eq!(severities(xml), [cut, other]);
    }

    /// 25.14 reads `A + 10`, and the evaluation fails in 23.0: neither is what was meant.
    #[test]
    fn a_circular_reference_in_a_text_that_is_cut_has_no_replacement() {
        let found = ads("A = A + 10K\n", "23.0", "25.14");
        assert!(!found.is_empty() && found.iter().all(|one| one.4.is_none()), "{found:?}");
    }

    /// A version refuses only the attribute.
    #[test]
    fn ads_that_one_version_refuses_are_compared_by_attribute() {
        let found = ads("[\n a = 10K;\n b = c ?: 1 + 2;\n c = 7\n]\n", "23.0", "25.14");
        let shown: Vec<_> = found.iter().map(|one| (one.0.as_str(), one.1, one.3)).collect();
        assert_eq!(shown, [("a", Some(2), "size-suffix"), ("b", Some(3), "elvis-precedence")]);
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
