//! Expressions and pools in two versions of HTCondor.
//!
//! In: a text and two versions, or a pool. Out: the rules that give the text another meaning, both readings with their
//! values, and a form that means the same in all versions; for a pool also variables, defaults and matches that change.

mod comparison;
pub mod configuration;
pub mod defects;
mod dependence;
pub mod encounter;
mod entries;
mod examples;
mod source_ad;
mod stage;
pub mod survey;
pub mod upgrade;
mod writing;

use std::ops::Range;

use serde::Serialize;

use comparison::TextComparison;

use classmate::internal::semantics::{OLDEST, VersionRule};
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalOptions, Expr, Name, ParseOptions, Semantics, SyntaxError};

/// The importance of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceSeverity {
    /// One version refuses the text, or ignores a part of it.
    Error,
    /// The value differs.
    Warning,
    /// Only the printed form differs, or a part that may not matter for the whole.
    Note,
}

/// A text as one version reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionReading {
    /// The series.
    pub series: String,
    /// Rules that changed in the series or before and are not applied, to show the effect of another rule alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<&'static str>,
    /// The expression with all parentheses; `None` if it does not parse.
    pub expression: Option<String>,
    /// The syntax error, or the part of the text that is ignored.
    pub problem: Option<String>,
    /// The value, or the reason that the evaluation fails.
    pub value: Option<String>,
}

impl VersionReading {
    /// The version, and the rules that are not applied.
    pub fn version(&self) -> String {
        match self.without.as_slice() {
            [] => self.series.clone(),
            rules => format!("{} without {}", self.series, rules.join(", ")),
        }
    }
}

/// A text to which a rule gives another meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionDifference {
    /// The rule.
    pub rule: &'static str,
    /// The importance.
    pub severity: DifferenceSeverity,
    /// The text.
    pub text: String,
    /// Attributes for which the values are shown, if they are only an example: `A = "x"`.
    pub example: Vec<String>,
    /// The text before and after the change of the rule: in both versions, or between them if other rules also change it.
    pub readings: [VersionReading; 2],
    /// A text that has the meaning of the second version in all versions; that of the first if the second refuses it.
    pub write: Option<String>,
    /// The series whose meaning that text has.
    pub write_keeps: Option<String>,
}

/// The text of an expression and the way in which it is read.
#[derive(Debug, Clone, Copy)]
pub struct VersionText<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The quoting of its strings.
    pub quoting: Quoting,
    /// True if what follows an expression is ignored, as in a line of the long format.
    pub prefix: bool,
}

/// The ads of an evaluation in both versions, as each of them reads them.
#[derive(Debug, Clone, Copy)]
pub struct VersionAds<'a> {
    /// MY.
    pub my: [&'a ClassAd; 2],
    /// TARGET.
    pub target: [Option<&'a ClassAd>; 2],
    /// The attribute of MY whose expression is compared, if it is one.
    pub name: Option<Name>,
}

/// Compares the meanings of a text in two versions: one difference for each rule that changes it. Values are those in the given
/// ads.
pub fn compare(
    text: VersionText<'_>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    ads: VersionAds<'_>,
) -> Vec<VersionDifference> {
    TextComparison { text, read: None, settings, ads }.by_rule(versions, TextComparison::difference)
}

/// As [`compare`], of a text that is a part of what each version reads.
fn compare_part(
    text: &[u8],
    read: &dyn Fn(Semantics) -> Result<Expr, SyntaxError>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    ads: VersionAds<'_>,
) -> Vec<VersionDifference> {
    let text = VersionText { text, quoting: Quoting::New, prefix: false };
    TextComparison { text, read: Some(read), settings, ads }.by_rule(versions, TextComparison::difference)
}

/// As [`compare`] without ads: the values are those of an example for which they differ, if one is found.
pub fn compare_alone(
    text: VersionText<'_>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> Vec<VersionDifference> {
    let empty = ClassAd::new();
    let ads = VersionAds { my: [&empty; 2], target: [None; 2], name: None };
    TextComparison { text, read: None, settings, ads }.by_rule(versions, TextComparison::in_example)
}

/// As [`compare_alone`], unless a circular reference makes a difference: then as [`compare`] in the ad of the expression.
pub fn compare_own(
    text: VersionText<'_>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    own: VersionAds<'_>,
) -> Vec<VersionDifference> {
    let beside = compare(text, versions, settings, own);
    if beside.iter().any(|found| found.rule == VersionRule::Cycle.change().name) {
        return beside;
    }
    let alone = compare_alone(text, versions, settings);
    if alone.is_empty() { beside } else { alone }
}

/// Suggests, in place of the texts that were suggested, one that has their meaning inside of other texts, too, which are put around it as
/// around a macro: numbers with size suffixes become products in parentheses.
pub(crate) fn suggest_for_macro(
    found: &mut [VersionDifference],
    text: VersionText<'_>,
    compared: impl FnOnce(VersionText<'_>) -> Vec<VersionDifference>,
) {
    if found.iter().all(|one| one.write.is_none()) {
        return;
    }
    let Some(enclosed) = with_enclosed_suffixes(text) else { return };
    let suggested = compared(VersionText { text: &enclosed, ..text }).into_iter().next();
    let (write, keeps) = suggested.map_or((None, None), |one| (one.write, one.write_keeps));
    for one in found {
        (one.write, one.write_keeps) = (write.clone(), keeps.clone());
    }
}

/// A text with each of its numbers that have a size suffix in parentheses; `None` if they all are, or if there is none.
fn with_enclosed_suffixes(text: VersionText<'_>) -> Option<Vec<u8>> {
    let (quoting, semantics) = (text.quoting, Semantics::of(OLDEST));
    let options = ParseOptions { quoting, semantics, places: true, ..ParseOptions::default() };
    let expr = parse_expr(text.text, &options).ok()?;
    let tree = expr.tree();
    let is_suffixed = |id: &NodeId| matches!(tree.node(*id), Node::Literal(Literal::Suffixed(..)));
    let mut places: Vec<Range<usize>> =
        (0..=expr.root()).filter(is_suffixed).filter_map(|id| Some(tree.span(id)?.range())).collect();
    places.sort_by_key(|place| place.start);
    let mut enclosed = Vec::with_capacity(text.text.len() + 2 * places.len());
    let mut at = 0;
    for place in places {
        let (before, after) = (text.text[..place.start].trim_ascii_end(), text.text[place.end..].trim_ascii_start());
        if before.ends_with(b"(") && after.starts_with(b")") {
            continue;
        }
        let parts: [&[u8]; 4] = [&text.text[at..place.start], b"(", &text.text[place.clone()], b")"];
        enclosed.extend(parts.concat());
        at = place.end;
    }
    enclosed.extend_from_slice(&text.text[at..]);
    (at > 0).then_some(enclosed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, from: &str, to: &str) -> Vec<VersionDifference> {
        let versions = [from, to].map(|series| series.parse().unwrap());
        let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
        compare_alone(text, versions, &EvalOptions::default())
    }

    fn found(text: &str, from: &str, to: &str) -> Option<VersionDifference> {
        let mut all = all(text, from, to);
        assert!(all.len() < 2, "{all:?}");
        all.pop()
    }

    /// The values are those of HTCondor 23.0.28, 24.0.24 and 25.14.1.
    #[test]
    fn both_readings_are_shown_with_values_and_a_text_that_means_the_same() {
        let found = found(r#"MappingMethod ?: "" != "Copy""#, "23.0", "25.14").unwrap();
        assert_eq!(found.rule, "elvis-precedence");
        assert_eq!(found.severity, DifferenceSeverity::Warning);
        assert_eq!(found.readings[0].expression.as_deref(), Some(r#"MappingMethod ?: ("" != "Copy")"#));
        assert_eq!(found.readings[1].expression.as_deref(), Some(r#"(MappingMethod ?: "") != "Copy""#));
        assert_eq!(found.example, [r#"MappingMethod = "x""#]);
        assert_eq!(found.readings[0].value.as_deref(), Some(r#""x""#));
        assert_eq!(found.readings[1].value.as_deref(), Some("true"));
        assert_eq!(found.write.as_deref(), Some(r#"(MappingMethod ?: "") != "Copy""#));
        assert_eq!(found.write_keeps.as_deref(), Some("25.14"));
    }

    /// A size suffix makes a real in HTCondor 23.0.28: `Memory / 2K` is 2.44140625 for 5000, and `a[0K]` an error.
    #[test]
    fn the_rule_and_the_rewriting_are_found() {
        for (text, from, to, rule, write) in [
            ("Memory > 2G", "23.0", "25.14", "size-suffix", Some("Memory > 2 * 1024 * 1024 * 1024")),
            ("Memory / 2K", "23.5", "24.0", "size-suffix", Some("Memory / (2 * 1024.0)")),
            ("2k == Memory", "23.0", "25.14", "size-suffix", Some("2 * 1024 == Memory")),
            ("Memory =?= 2K", "23.0", "25.14", "size-suffix", Some("Memory =?= 2 * 1024.0")),
            ("a[0K]", "23.0", "25.14", "size-suffix", Some("a[0 * 1024.0]")),
            ("1K - a", "23.0", "25.14", "size-suffix", Some("1 * 1024.0 - a")),
            ("7B / a", "23.0", "25.14", "size-suffix", Some("7.0 / a")),
            ("a > 1.5M && b", "23.0", "25.14", "size-suffix", Some("a > 1.5 * 1024 * 1024 && b")),
            (
                "versiongt(CondorVersion, \"24.0\")",
                "24.0",
                "25.14",
                "version-case",
                Some("versionGT(CondorVersion, \"24.0\")"),
            ),
            ("relTime(\"1:30\") + 5", "23.0", "25.14", "reltime-literal", Some("90.0 + 5")),
            ("1 + absTime(\"bad\")", "23.0", "25.14", "time-literal-bad", Some("1 + error")),
            ("x ?: 1 + 2", "23.9", "23.10", "elvis-precedence", Some("(x ?: 1) + 2")),
            ("5 ? : 3 + 1", "25.12", "25.13", "empty-middle", Some("(5 ?: 3) + 1")),
            ("9223372036854775808 > x", "23.0", "25.14", "integer-range", Some("0 > x")),
            ("int(\"10K\")", "23.0", "25.14", "suffix-conversion", None),
            // With a = "10K", the conversion has another value before 23.9.
            ("interval(a ?: 1.5K)", "10.0", "25.14", "size-suffix", None),
            ("interval(b) ?: 1.5K", "10.0", "25.14", "size-suffix", None),
            ("real(TARGET.s) > 10K", "23.0", "25.14", "size-suffix", None),
            ("A && B && real(C) > 10K", "23.0", "25.14", "size-suffix", None),
            ("real(a + 1) > 10K", "23.0", "25.14", "size-suffix", Some("real(a + 1) > 10 * 1024")),
            ("formatTime(4294967297)", "24.0", "24.12", "time-32bit", None),
            ("splitTime(undefined)", "10.0", "10.9", "splittime-undefined", None),
        ] {
            let found = found(text, from, to).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.rule, found.write.as_deref()), (rule, write), "{text}: {found:?}");
        }
    }

    /// 25.14 refuses the second text; of the way back, the older version is meant.
    #[test]
    fn a_replacement_names_the_version_whose_meaning_it_keeps() {
        for (text, from, to, keeps) in [
            ("x ?: 1 + 2", "23.0", "25.14", "25.14"),
            ("Memory > 2G", "23.0", "25.14", "23.0"),
            ("x ?: 1 + 2", "25.14", "23.0", "23.0"),
        ] {
            assert_eq!(found(text, from, to).unwrap().write_keeps.as_deref(), Some(keeps), "{text}");
        }
        assert_eq!(found("int(\"10K\")", "23.0", "25.14").unwrap().write_keeps, None);
    }

    /// HTCondor 23.0.28 reads 10240.0, and 23.10.29 and 25.14.1 refuse the first text. 25.13.2 refuses the space, and only it
    /// knows the function.
    #[test]
    fn each_rule_that_changes_a_text_has_its_own_readings() {
        let shown = |text: &str, from: &str, to: &str| -> Vec<String> {
            let reading =
                |one: &VersionReading| format!("{}: {}", one.version(), one.expression.as_deref().unwrap_or("refused"));
            let found = all(text, from, to).into_iter();
            found.map(|one| format!("{} {}", one.rule, one.readings.each_ref().map(reading).join("; "))).collect()
        };
        assert_eq!(
            shown("10K ?: 1 + 2", "23.0", "25.14"),
            [
                "elvis-precedence 23.0: 10K ?: (1 + 2); 23.10 without size-suffix: (10240.0 ?: 1) + 2",
                "size-suffix 23.10 without size-suffix: (10240.0 ?: 1) + 2; 25.14: refused",
            ]
        );
        assert_eq!(
            shown("10K ?: 1 + 2", "25.14", "23.0"),
            [
                "size-suffix 25.14: refused; 23.10 without size-suffix: (10240.0 ?: 1) + 2",
                "elvis-precedence 23.10 without size-suffix: (10240.0 ?: 1) + 2; 23.0: 10K ?: (1 + 2)",
            ]
        );
        assert_eq!(
            shown("int(\"10K\") ?: 1 + 2", "10.0", "24.0"),
            [
                "suffix-conversion 10.0: int(\"10K\") ?: (1 + 2); 23.9: int(\"10K\") ?: (1 + 2)",
                "elvis-precedence 23.9: int(\"10K\") ?: (1 + 2); 24.0: (int(\"10K\") ?: 1) + 2",
            ]
        );
        // Both changed in 25.13.
        assert_eq!(
            shown("5 ? : versiongt(x, \"2\") + 1", "24.0", "25.14"),
            [
                "empty-middle 24.0: 5 ?: (versiongt(x, \"2\") + 1); 25.13 without version-case: (5 ?: versiongt(x, \"2\")) + 1",
                "version-case 25.13 without version-case: (5 ?: versiongt(x, \"2\")) + 1; 25.14: (5 ?: versiongt(x, \"2\")) + 1",
            ]
        );
        // The part is not read, whatever `?:` is.
        let text = VersionText { text: b"10K ?: 1 + 2", quoting: Quoting::Old, prefix: true };
        let versions = ["23.9", "25.14"].map(|series| series.parse().unwrap());
        assert_eq!(compare_alone(text, versions, &EvalOptions::default()), []);
    }

    /// 23.0.28 knows only `versionGT`: its condition is an error, and in 25.14.1 it would be true or false.
    #[test]
    fn a_function_that_the_meant_version_does_not_know_has_no_replacement() {
        let found = all("ifThenElse(versiongt(TARGET.v, \"1.0\"), 10G, 1)", "23.0", "25.14");
        assert!(!found.is_empty() && found.iter().all(|one| one.write.is_none()), "{found:?}");
    }

    /// The value is the same in both, and 23.5 prints 10240.0 (`docs/reference/versions.md` 2.1).
    #[test]
    fn a_difference_in_print_alone_is_a_note() {
        for (text, from, to, severity) in [
            ("Memory > 10K", "23.0", "23.5", DifferenceSeverity::Note),
            ("10K", "23.0", "23.5", DifferenceSeverity::Note),
            ("Memory > 10K", "23.0", "25.14", DifferenceSeverity::Error),
        ] {
            let found = found(text, from, to).map(|found| found.severity);
            assert_eq!(found, Some(severity), "{text} in {to}");
        }
    }

    /// 25.14 refuses the suffix, and only it knows the function.
    #[test]
    fn a_misspelled_function_is_a_cause_in_both_directions() {
        for (from, to) in [("23.0", "25.14"), ("25.14", "23.0")] {
            let rules: Vec<_> = all("10K > versiongt(a, b)", from, to).iter().map(|one| one.rule).collect();
            assert!(rules.contains(&"version-case") && rules.contains(&"size-suffix"), "{rules:?}");
        }
    }

    /// The values are those of 25.14.1; all evaluations fail in 24.0.20. A reference to `X ?: 1 + 2` is 3, and the expression alone
    /// is 5.
    #[test]
    fn an_attribute_that_refers_to_itself_is_rewritten_if_it_has_the_same_value_in_all_series() {
        for (text, write, value) in [
            ("X ?: true", Some("true"), "true"),
            ("x || true", Some("true"), "true"),
            ("X || Y > 1", Some("undefined || Y > 1"), "true"),
            ("X + 1", Some("undefined"), "undefined"),
            ("(X) ?: Z", Some("Z"), "5"),
            ("X ?: W", None, "undefined"),
            ("X ?: 1 + 2", None, "5"),
            ("X ?: Y > 1", None, "false"),
        ] {
            let ad = ClassAd::parse(format!("[ X = {text}; Y = 2; Z = 5; W = X ]")).unwrap();
            let versions = ["24.0", "25.14"].map(|series| series.parse().unwrap());
            let read = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
            let ads = VersionAds { my: [&ad; 2], target: [None; 2], name: Some(Name::new("X")) };
            let found = compare(read, versions, &EvalOptions::default(), ads);
            let found: Vec<_> = (found.iter())
                .map(|one| {
                    (one.rule, one.write.as_deref(), one.readings[1].value.as_deref(), one.write_keeps.as_deref())
                })
                .collect();
            assert_eq!(found, [("cycle", write, Some(value), write.and(Some("25.14")))], "{text}");
        }
    }

    /// A configuration has one backslash where new syntax has two.
    #[test]
    fn a_replacement_is_written_as_its_text_is_read() {
        for (quoting, pattern) in [(Quoting::Old, r"a\.b\d"), (Quoting::New, r"a\\.b\\d")] {
            let text = format!("regexp(\"{pattern}\", s) && versiongt(v, \"1.0\")");
            let text = VersionText { text: text.as_bytes(), quoting, prefix: false };
            let versions = ["24.0", "25.14"].map(|series| series.parse().unwrap());
            let found = compare_alone(text, versions, &EvalOptions::default());
            let write = format!("regexp(\"{pattern}\", s) && versionGT(v, \"1.0\")");
            assert_eq!(found.first().and_then(|one| one.write.as_deref()), Some(&*write));
        }
    }

    #[test]
    fn texts_that_mean_the_same_are_not_reported() {
        for text in [
            "Memory > 2048",
            "(x ?: \"\") != \"Copy\"",
            "versionGT(a, b)",
            "x ?: 1",
            "relTime(90)",
            "{1, 2}[0]",
            "x +",
            "[b = 2; a = 1]",
        ] {
            assert_eq!(found(text, "10.0", "25.14"), None, "{text}");
        }
        assert_eq!(found("x ?: 1 + 2", "24.0", "25.14"), None);
    }
}
