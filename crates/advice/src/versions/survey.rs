//! One expression in all series: where its meaning changes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::comparison::{TextComparison, TextDifference};
use super::defects::{VersionDefect, defects};
use super::{DifferenceSeverity, VersionAds, VersionReading, VersionText};
use classmate::internal::semantics::{DOCUMENTED, RULES, VersionRule};
use classmate::{ClassAd, EvalOptions, Semantics, Series};

/// Consecutive series that read a text alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesRange {
    /// The first series.
    pub from: String,
    /// The last series.
    pub to: String,
    /// The text with all parentheses; `None` if it does not parse.
    pub expression: Option<String>,
    /// The syntax error.
    pub problem: Option<String>,
    /// The value, or the reason that the evaluation fails.
    pub value: Option<String>,
}

/// A rule that gives a text another meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedRule {
    /// Its name.
    pub name: &'static str,
    /// The first series with the new behavior.
    pub since: String,
    /// HTCondor's ticket.
    pub ticket: Option<&'static str>,
    /// The behavior before.
    pub old: &'static str,
    /// The behavior since.
    pub now: &'static str,
}

/// The meanings of an expression in a range of series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionSurvey {
    /// The text.
    pub text: String,
    /// The importance; `None` if it means the same everywhere.
    pub severity: Option<DifferenceSeverity>,
    /// Attributes for which the values are shown, if they are only an example.
    pub example: Vec<String>,
    /// The meanings, oldest series first; one if there is no difference.
    pub ranges: Vec<SeriesRange>,
    /// The rules that make the differences.
    pub rules: Vec<AppliedRule>,
    /// A text that means the same in all versions.
    pub write: Option<String>,
    /// The series whose meaning that text has.
    pub write_keeps: Option<String>,
    /// Crashes and hangs of versions.
    pub defects: Vec<DefectRange>,
}

/// A crash or hang of consecutive series, which is not reproduced.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefectRange {
    /// The first series.
    pub from: String,
    /// The last series.
    pub to: String,
    /// The defect.
    #[serde(flatten)]
    pub defect: VersionDefect,
}

/// Surveys the series from one to another; a replacement keeps the meaning of the second one, which may be the older. Without ads,
/// values are those of an example for which they differ.
pub fn survey(
    text: VersionText<'_>,
    ends: [Semantics; 2],
    settings: &EvalOptions,
    ads: Option<VersionAds<'_>>,
) -> VersionSurvey {
    let mut sorted = ends;
    sorted.sort_by_key(|version| version.series());
    let [from, to] = sorted;
    // The recorded series, and those on both sides of each boundary.
    let before = |series: Series| Series::new(series.major, series.minor.saturating_sub(1));
    let boundaries = RULES.iter().flat_map(|change| [before(change.since), change.since]);
    let is_between = |series: &Series| from.series() < *series && *series < to.series();
    let between: BTreeSet<Series> = DOCUMENTED.into_iter().chain(boundaries).filter(is_between).collect();
    let between = between.into_iter().map(Semantics::of);
    let versions: Vec<Semantics> = [from].into_iter().chain(between).chain((from != to).then_some(to)).collect();
    let empty = ClassAd::new();
    let alone = VersionAds { my: [&empty; 2], target: [None; 2], name: None };
    let comparison = TextComparison { text, read: None, settings, ads: ads.unwrap_or(alone) };
    let pair = |versions| match ads {
        Some(_) => comparison.difference(versions),
        None => comparison.in_any_example(versions),
    };
    // The ends may agree while a version between them does not.
    let differences: Vec<TextDifference> = versions.windows(2).filter_map(|next| pair([next[0], next[1]])).collect();
    let whole = pair(ends).or_else(|| differences.first().cloned());
    let example = whole.as_ref().map(|found| found.example.clone()).unwrap_or_default();
    let written = whole.as_ref().and_then(|found| comparison.replacement(ends, &found.rules));
    let of_example = whole.as_ref().and_then(|found| found.ads.clone());
    let comparison = of_example.as_ref().map_or(comparison, |ads| comparison.with_ads(ads));
    let ads = comparison.ads;
    let mut ranges: Vec<SeriesRange> = Vec::new();
    let mut met: Vec<DefectRange> = Vec::new();
    for version in versions {
        if let Ok((expr, _)) = comparison.parse(version) {
            let settings = EvalOptions { semantics: version, ..settings.clone() };
            for defect in defects(&expr, ads.my[1], ads.target[1], &settings) {
                match met.iter_mut().find(|known| known.defect.name == defect.name) {
                    Some(known) => known.to = version.to_string(),
                    None => met.push(DefectRange { from: version.to_string(), to: version.to_string(), defect }),
                }
            }
        }
        let VersionReading { series, expression, problem, value, .. } = comparison.reading(version, 1);
        let value = match whole.as_ref().and_then(|found| found.part.as_ref()) {
            Some(part) => Some(format!("`{part:#}` is {}", comparison.value(part, version, 1))),
            None => value,
        };
        match ranges.last_mut() {
            Some(last) if (&last.expression, &last.problem, &last.value) == (&expression, &problem, &value) => {
                last.to = series;
            }
            _ => ranges.push(SeriesRange { from: series.clone(), to: series, expression, problem, value }),
        }
    }
    // Between the ends, a rule may seem to make a difference that another one has made before.
    let causes = if differences.is_empty() { whole.as_slice() } else { &differences };
    let causes: Vec<VersionRule> = causes.iter().flat_map(|found| found.rules.iter().copied()).collect();
    if causes.is_empty() {
        ranges.truncate(1);
        for range in &mut ranges {
            range.to = to.to_string();
        }
    }
    let rules = RULES.iter().filter(|change| causes.contains(&change.rule)).map(|change| AppliedRule {
        name: change.name,
        since: change.since.to_string(),
        ticket: change.ticket,
        old: change.old,
        now: change.now,
    });
    let (write, write_keeps) = written.unzip();
    VersionSurvey {
        text: String::from_utf8_lossy(text.text).trim().to_owned(),
        severity: whole.as_ref().map(|found| found.severity),
        example,
        ranges,
        rules: rules.collect(),
        write,
        write_keeps,
        defects: met,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::token::Quoting;

    /// HTCondor 23.0 reads `a ?: (1 + 2)` (`docs/reference/versions.md` 2.5).
    #[test]
    fn a_replacement_keeps_the_meaning_of_the_second_version() {
        let text = VersionText { text: b"a ?: 1 + 2", quoting: Quoting::New, prefix: false };
        for (ends, write) in [(["23.0", "25.14"], "(a ?: 1) + 2"), (["25.14", "23.0"], "a ?: (1 + 2)")] {
            let keeps = ends[1];
            let found = survey(text, ends.map(|series| series.parse().unwrap()), &EvalOptions::default(), None);
            assert_eq!((found.write.as_deref(), found.write_keeps.as_deref()), (Some(write), Some(keeps)));
            let ranges: Vec<_> = found.ranges.iter().map(|range| (range.from.as_str(), range.to.as_str())).collect();
            assert_eq!(ranges, [("23.0", "23.9"), ("23.10", "25.14")]);
        }
    }

    /// HTCondor 10.0 to 25.12 read `5 ?: (3 + 1)`, and 25.13 and later `(5 ?: 3) + 1` (`docs/reference/versions.md` 2.6).
    #[test]
    fn only_rules_that_change_something_between_two_series_are_named() {
        let of = |text: &str| {
            let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
            let ends = ["10.0", "25.14"].map(|series| series.parse().unwrap());
            let found = survey(text, ends, &EvalOptions::default(), None);
            let ranges: Vec<String> = found.ranges.iter().map(|range| format!("{} {}", range.from, range.to)).collect();
            (ranges, found.rules.iter().map(|rule| rule.name).collect::<Vec<_>>())
        };
        let is = |ranges: &[&str], rules: &[&'static str]| {
            (ranges.iter().map(|range| (*range).to_owned()).collect(), rules.to_vec())
        };
        assert_eq!(of("5 ? : 3 + 1"), is(&["10.0 25.12", "25.13 25.14"], &["empty-middle"]));
        assert_eq!(of("5 ?: 3 + 1"), is(&["10.0 23.9", "23.10 25.14"], &["elvis-precedence"]));
    }
}
