//! One expression in all series: where its meaning changes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::comparison::{TextComparison, TextDifference};
use super::defects::{VersionDefect, defects};
use super::dependence::may_reach_limit;
use super::{DifferenceSeverity, VersionAds, VersionReading, VersionText, writing};
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
    /// The value in the example, or the reason that the evaluation fails.
    pub value: Option<String>,
    /// Values in other examples, for which this range differs from the one before or after it.
    pub others: Vec<ExampleValue>,
}

/// A value in an example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExampleValue {
    /// The attributes.
    pub example: Vec<String>,
    /// The value, or the reason that the evaluation fails.
    pub value: String,
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
    /// Notes on conclusions that are shown, but not proven.
    pub unproven: Vec<String>,
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
    let steps: Vec<Option<TextDifference>> = versions.windows(2).map(|next| pair([next[0], next[1]])).collect();
    // The ends may agree while a version between them does not.
    let whole = pair(ends).or_else(|| steps.iter().flatten().next().cloned());
    let written = whole.as_ref().and_then(|found| comparison.replacement(ends, &found.rules));
    let has_example = |found: &&TextDifference| found.part.is_none();
    let first = whole.iter().chain(steps.iter().flatten()).find(has_example).or(whole.as_ref());
    let readings: Vec<VersionReading> = versions.iter().map(|version| comparison.reading(*version, 1)).collect();
    let shown = ShownExamples::of(comparison, &versions, &readings, first, &steps);
    let of_example = shown.examples[0].comparison.ads;
    // A text with which a version crashes has no meaning in all versions.
    let written = written.filter(|(write, _)| {
        let text = VersionText { text: write.as_bytes(), ..text };
        [comparison.ads, of_example].into_iter().all(|ads| !is_fatal(&TextComparison { text, ads, ..comparison }))
    });
    let mut met: Vec<DefectRange> = Vec::new();
    for version in &versions {
        let Ok((expr, _)) = comparison.parse(*version) else { continue };
        let settings = EvalOptions { semantics: *version, ..settings.clone() };
        for defect in defects(&expr, of_example.my[1], of_example.target[1], &settings) {
            match met.iter_mut().find(|known| known.defect.name == defect.name) {
                Some(known) => known.to = version.to_string(),
                None => met.push(DefectRange { from: version.to_string(), to: version.to_string(), defect }),
            }
        }
    }
    let mut ranges = shown.ranges(readings);
    // Between the ends, a rule may seem to make a difference that another one has made before.
    let found: Vec<&TextDifference> = match steps.iter().flatten().next() {
        Some(_) => steps.iter().flatten().collect(),
        None => whole.iter().collect(),
    };
    let causes: Vec<VersionRule> = found.iter().flat_map(|found| found.rules.iter().copied()).collect();
    let mut unproven: Vec<String> = Vec::new();
    if found.iter().any(|found| found.part.is_some()) {
        unproven.push("values are not known for which the part makes a difference for the whole".to_owned());
    }
    if causes.is_empty() {
        ranges.truncate(1);
        for range in &mut ranges {
            range.to = to.to_string();
        }
        if ads.is_none() && comparison.parse(to).is_ok_and(|(expr, _)| may_reach_limit(&expr, ends)) {
            unproven.push("it may be too deep for some versions, and only some values were tried".to_owned());
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
        severity: whole.iter().chain(steps.iter().flatten()).map(|found| found.severity).min(),
        example: shown.examples[0].shown.clone(),
        ranges,
        rules: rules.collect(),
        write,
        write_keeps,
        unproven,
        defects: met,
    }
}

/// Tests whether a version crashes or hangs in the evaluation of a text.
fn is_fatal(comparison: &TextComparison<'_>) -> bool {
    let ads = comparison.ads;
    DOCUMENTED.map(Semantics::of).into_iter().any(|semantics| {
        let settings = EvalOptions { semantics, ..comparison.settings.clone() };
        comparison.parse(semantics).is_ok_and(|(expr, _)| {
            defects(&expr, ads.my[1], ads.target[1], &settings).iter().any(VersionDefect::is_fatal)
        })
    })
}

/// An example, with a value for each version.
struct ShownExample<'a> {
    comparison: TextComparison<'a>,
    /// The attributes.
    shown: Vec<String>,
    /// `None` where the text does not parse.
    values: Vec<Option<String>>,
}

/// The examples that show where versions differ.
struct ShownExamples<'a> {
    examples: Vec<ShownExample<'a>>,
    /// For each version but the first, the example that shows how it differs from the one before.
    told: Vec<Option<usize>>,
}

impl<'a> ShownExamples<'a> {
    /// One example first; beside it, one for each step between versions that no other shows.
    fn of(
        comparison: TextComparison<'a>,
        versions: &[Semantics],
        readings: &[VersionReading],
        first: Option<&'a TextDifference>,
        steps: &'a [Option<TextDifference>],
    ) -> Self {
        let example = |found: Option<&'a TextDifference>| {
            let comparison =
                found.and_then(|found| found.ads.as_ref()).map_or(comparison, |ads| comparison.with_ads(ads));
            let part = found.and_then(|found| found.part.as_ref());
            let value = |(version, reading): (&Semantics, &VersionReading)| {
                reading.expression.as_ref()?;
                match part {
                    Some(part) => {
                        let shown = writing::shown(part, comparison.style());
                        Some(format!("a part differs: `{shown}` is {}", comparison.value(part, *version, 1)))
                    }
                    None => comparison.parse(*version).ok().map(|(expr, _)| comparison.value(&expr, *version, 1)),
                }
            };
            let values = versions.iter().zip(readings).map(value).collect();
            let shown = found.map(|found| found.example.clone()).unwrap_or_default();
            ShownExample { comparison, shown, values }
        };
        let shows = |example: &ShownExample<'_>, at: usize| example.values[at] != example.values[at + 1];
        let mut examples = vec![example(first)];
        for (at, step) in steps.iter().enumerate() {
            if step.is_some() && !examples.iter().any(|known| shows(known, at)) {
                examples.push(example(step.as_ref()));
            }
        }
        let told = (0..steps.len()).map(|at| examples.iter().position(|known| shows(known, at))).collect();
        ShownExamples { examples, told }
    }

    /// The versions as ranges that no example divides.
    fn ranges(&self, readings: Vec<VersionReading>) -> Vec<SeriesRange> {
        let value = |example: usize, at: usize| {
            let ShownExample { shown, values, .. } = &self.examples[example];
            Some(ExampleValue { example: shown.clone(), value: values[at].clone()? })
        };
        let mut ranges: Vec<SeriesRange> = Vec::new();
        for (at, reading) in readings.into_iter().enumerate() {
            let VersionReading { series, expression, problem, .. } = reading;
            let before = at.checked_sub(1).and_then(|before| self.told[before]);
            if let (None, Some(last)) = (before, ranges.last_mut())
                && (&last.expression, &last.problem) == (&expression, &problem)
            {
                last.to = series;
                continue;
            }
            let other = before.filter(|example| *example > 0);
            if let (Some(example), Some(last)) = (other, ranges.last_mut()) {
                let other = value(example, at - 1);
                last.others.extend(other.filter(|other| !last.others.contains(other)));
            }
            let others = other.and_then(|example| value(example, at)).into_iter().collect();
            let value = self.examples[0].values[at].clone();
            ranges.push(SeriesRange { from: series.clone(), to: series, expression, problem, value, others });
        }
        ranges
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

    /// The values are those of HTCondor 10.0.9, 10.9.0, 24.0.20 and 24.12.20: an error, undefined, 1970 and 2106. 23.0.28 converts
    /// "5120K" to 5242880, and 23.10.29 to 5120.
    #[test]
    fn each_change_is_shown_in_an_example_in_which_it_shows() {
        let of = |text: &str| -> Vec<String> {
            let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
            let ends = ["10.0", "25.14"].map(|series| series.parse().unwrap());
            let found = survey(text, ends, &EvalOptions::default(), None);
            let value = |example: &[String], value: &str| format!("; {}: {value}", example.join(", "));
            let shown = |range: &SeriesRange| {
                let other = |other: &ExampleValue| value(&other.example, &other.value);
                let others: String = range.others.iter().map(other).collect();
                let first = value(&found.example, range.value.as_deref().unwrap_or_default());
                format!("{} {}{first}{others}", range.from, range.to)
            };
            found.ranges.iter().map(shown).collect()
        };
        assert_eq!(
            of("splitTime(a).Year"),
            [
                "10.0 10.2; : error",
                "10.3 24.1; : undefined; a = 4294967297: 1970",
                "24.2 25.14; : undefined; a = 4294967297: 2106",
            ]
        );
        assert_eq!(of("int(a) == 5120"), ["10.0 23.8; a = \"5120K\": false", "23.9 25.14; a = \"5120K\": true"]);
    }

    /// HTCondor 10.0.9 crashes with the present meaning, `(x ?: -9223372036854775808) / -1`, if `x` is not defined, and not with the
    /// other.
    #[test]
    fn a_text_with_which_a_version_crashes_is_no_replacement() {
        let of = |text: &str| {
            let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
            survey(text, ["10.0", "25.14"].map(|series| series.parse().unwrap()), &EvalOptions::default(), None).write
        };
        assert_eq!(of("x ?: -9223372036854775808 / -1"), None);
        assert_eq!(of("x ?: -9223372036854775808 / -2").as_deref(), Some("(x ?: -9223372036854775808) / -2"));
    }

    #[test]
    fn what_is_not_proven_is_said() {
        let deep = format!("{}a", "-".repeat(300));
        for (text, severity, is_proven) in [
            ("a > 1", None, true),
            ("int(a) > 1", Some(DifferenceSeverity::Warning), true),
            ("false && b + int(a) > 1", Some(DifferenceSeverity::Note), false),
            (deep.as_str(), None, false),
        ] {
            let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
            let ends = ["10.0", "25.14"].map(|series| series.parse().unwrap());
            let found = survey(text, ends, &EvalOptions::default(), None);
            assert_eq!((found.severity, found.unproven.is_empty()), (severity, is_proven), "{found:?}");
        }
    }
}
