//! Expressions and pools in two versions of HTCondor.
//!
//! In: a text and two versions, or a pool. Out: the rules that give the text another meaning, both readings with their
//! values, and a form that means the same in all versions; for a pool also variables, defaults and matches that change.

pub mod configuration;
pub mod defects;
pub mod encounter;
mod entries;
mod source_ad;
pub mod survey;
pub mod upgrade;
mod writing;

use std::collections::BTreeSet;

use serde::Serialize;

use classmate::internal::builtin;
use classmate::internal::semantics::{DOCUMENTED, VersionRule};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::{parse_expr, parse_prefix};
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, EvalOptions, Expr, Name, ParseOptions, Scope, Semantics, SyntaxError, Value};

/// Rules that are visible in the order of attributes only, or to programs that compare expressions.
const UNSEEN: [VersionRule; 3] =
    [VersionRule::AttributeOrder, VersionRule::EnvironmentOrder, VersionRule::RealSameness];

/// The importance of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceSeverity {
    /// One version refuses the text, or ignores a part of it.
    Error,
    /// The value differs.
    Warning,
    /// Only the printed form differs.
    Note,
}

/// A text as one version reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionReading {
    /// The series.
    pub series: String,
    /// The expression with all parentheses; `None` if it does not parse.
    pub expression: Option<String>,
    /// The syntax error, or the part of the text that is ignored.
    pub problem: Option<String>,
    /// The value, or the reason that the evaluation fails.
    pub value: Option<String>,
}

/// A text that means something else in another version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionDifference {
    /// The rules that make the difference.
    pub rules: Vec<&'static str>,
    /// The importance.
    pub severity: DifferenceSeverity,
    /// The text.
    pub text: String,
    /// Attributes for which the values are shown, if they are only an example: `A = "x"`.
    pub example: Vec<String>,
    /// The text in both versions.
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
}

/// A successful or failed reading of a text in one version.
type Parsed = Result<(Expr, usize), SyntaxError>;

/// The comparison of one text in two versions.
struct TextComparison<'a> {
    text: VersionText<'a>,
    /// The reading of the text, if it is not read as an expression alone.
    read: Option<&'a dyn Fn(Semantics) -> Result<Expr, SyntaxError>>,
    settings: &'a EvalOptions,
    ads: VersionAds<'a>,
}

/// Compares the meanings of a text in two versions; `None` if it means the same. Values are those in the given ads.
pub fn compare(
    text: VersionText<'_>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    ads: VersionAds<'_>,
) -> Option<VersionDifference> {
    TextComparison { text, read: None, settings, ads }.difference(versions)
}

/// As [`compare`], of a text that is a part of what each version reads.
fn compare_part(
    text: &[u8],
    read: &dyn Fn(Semantics) -> Result<Expr, SyntaxError>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    ads: VersionAds<'_>,
) -> Option<VersionDifference> {
    let text = VersionText { text, quoting: Quoting::New, prefix: false };
    TextComparison { text, read: Some(read), settings, ads }.difference(versions)
}

/// As [`compare`] without ads: the values are those of an example for which they differ, if one is found.
pub fn compare_alone(
    text: VersionText<'_>,
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> Option<VersionDifference> {
    let empty = ClassAd::new();
    let ads = VersionAds { my: [&empty; 2], target: [None; 2] };
    let comparison = TextComparison { text, read: None, settings, ads };
    let found = comparison.difference(versions);
    let exprs = [0, 1].map(|at| comparison.parse(versions[at]).ok().map(|(expr, _)| expr));
    let [Some(first), Some(second)] = exprs else { return found };
    // A difference of the trees, or of a function, may show in some ads only.
    if found.as_ref().is_some_and(|found| found.readings[0].value != found.readings[1].value) {
        return found;
    }
    let example = examples(&first, &second).into_iter().find_map(|ad| {
        let ads = VersionAds { my: [&ad; 2], target: [None; 2] };
        let comparison = TextComparison { text, read: None, settings, ads };
        let found = comparison.difference(versions)?;
        (found.readings[0].value != found.readings[1].value).then(|| {
            let shown = ad.listed().map(|(name, _)| format!("{name} = {:#}", ad.get(name).unwrap_or_else(undefined)));
            VersionDifference { example: shown.collect(), ..found }
        })
    });
    example.or_else(|| {
        let bare = |mut found: VersionDifference| {
            for reading in &mut found.readings {
                reading.value = None;
            }
            found
        };
        found.map(bare)
    })
}

fn undefined() -> Expr {
    Expr::literal(Literal::Undefined)
}

/// Attributes that an example sets, and values for each.
const MAX_NAMES: usize = 2;

/// Ads with some values for the attributes that an expression looks at.
fn examples(first: &Expr, second: &Expr) -> Vec<ClassAd> {
    let mut names = BTreeSet::new();
    let mut values = vec![Value::from(1), Value::from(true), Value::Undefined, Value::from(4096)];
    for expr in [first, second] {
        let references = expr.tree().references(expr.root());
        let own = references.filter(|reference| reference.scope != RefScope::Target);
        names.extend(own.map(|reference| reference.name.to_string()));
        values.extend(expr.nodes().iter().filter_map(|node| match node {
            Node::Literal(literal @ (Literal::Str(_) | Literal::Int(_))) => Some(Value::from(literal)),
            _ => None,
        }));
    }
    // Beside strings, first a string.
    let has_text = values.iter().any(|value| matches!(value, Value::Str(_)));
    values.insert(usize::from(!has_text), Value::from("x"));
    let mut ads = vec![ClassAd::new()];
    for name in names.iter().take(MAX_NAMES) {
        ads = ads
            .iter()
            .flat_map(|ad| {
                values.iter().map(|value| {
                    let mut ad = ad.clone();
                    ad.insert(Name::new(name), value.clone());
                    ad
                })
            })
            .collect();
    }
    ads
}

impl TextComparison<'_> {
    fn options(&self, semantics: Semantics) -> ParseOptions {
        ParseOptions { quoting: self.text.quoting, semantics, mode: self.settings.mode, ..ParseOptions::default() }
    }

    fn parse(&self, semantics: Semantics) -> Parsed {
        let text = self.text.text.trim_ascii_end();
        if let Some(read) = self.read {
            return read(semantics).map(|expr| (expr, text.len()));
        }
        let options = self.options(semantics);
        if self.text.prefix {
            parse_prefix(text, &options)
        } else {
            parse_expr(text, &options).map(|expr| (expr, text.len()))
        }
    }

    /// The value in the ads of one of the versions.
    fn value(&self, expr: &Expr, semantics: Semantics, ads: usize) -> String {
        let settings = EvalOptions { semantics, ..self.settings.clone() };
        let scope = Scope::new(self.ads.my[ads], &settings);
        let scope = self.ads.target[ads].map_or(scope, |target| scope.with_target(target));
        match scope.eval(expr) {
            Ok(value) => format!("{value:#}"),
            Err(failed) => format!("evaluation fails: {failed}"),
        }
    }

    /// Tests whether two readings differ: whether they parse, where they end, their trees, or their values.
    fn differs(&self, [first, second]: [(&Parsed, Semantics); 2], ads: usize) -> bool {
        match (first.0, second.0) {
            (Err(_), Err(_)) => false,
            (Ok((one, one_end)), Ok((other, other_end))) => {
                one_end != other_end
                    || !one.same_as(other)
                    || self.value(one, first.1, ads) != self.value(other, second.1, ads)
            }
            _ => true,
        }
    }

    fn difference(&self, versions: [Semantics; 2]) -> Option<VersionDifference> {
        let parsed = versions.map(|version| self.parse(version));
        let severity = self.severity(&parsed, versions)?;
        let mut rules: Vec<&'static str> = versions[0]
            .differences(versions[1])
            .filter(|change| !UNSEEN.contains(&change.rule) && self.is_cause(change.rule, &parsed, versions))
            .map(|change| change.name)
            .collect();
        if rules.contains(&VersionRule::SizeSuffix.change().name) {
            rules.retain(|name| *name != VersionRule::SuffixPrinting.change().name);
        }
        if rules.is_empty() {
            return None; // only what it refers to differs
        }
        let (write, write_keeps) = self.rewritten(&parsed, versions).unzip();
        Some(VersionDifference {
            rules,
            severity,
            text: String::from_utf8_lossy(self.text.text).trim().to_owned(),
            example: Vec::new(),
            readings: [self.reading(versions[0], 0), self.reading(versions[1], 1)],
            write,
            write_keeps,
        })
    }

    /// The text as a version reads it.
    fn reading(&self, semantics: Semantics, ads: usize) -> VersionReading {
        let (expression, problem, value) = match self.parse(semantics) {
            Err(error) => (None, Some(error.to_string()), None),
            Ok((expr, end)) => {
                let rest = String::from_utf8_lossy(self.text.text.trim_ascii_end().get(end..).unwrap_or_default());
                let problem = (!rest.is_empty()).then(|| format!("`{}` is ignored", rest.trim()));
                (Some(writing::parenthesized(&expr)), problem, Some(self.value(&expr, semantics, ads)))
            }
        };
        VersionReading { series: semantics.to_string(), expression, problem, value }
    }

    /// The importance of the difference; `None` if there is none.
    fn severity(&self, parsed: &[Parsed; 2], versions: [Semantics; 2]) -> Option<DifferenceSeverity> {
        match parsed {
            [Err(_), Err(_)] => None,
            [Ok((first, first_end)), Ok((second, second_end))] => {
                let is_cut = first_end != second_end;
                let same_value = || self.value(first, versions[0], 0) == self.value(second, versions[1], 1);
                let only_printed = || first.nodes().len() == 1 && same_value();
                match (is_cut, first.same_as(second)) {
                    (true, _) => Some(DifferenceSeverity::Error),
                    (_, false) if only_printed() => Some(DifferenceSeverity::Note),
                    (_, false) => Some(DifferenceSeverity::Warning),
                    (_, true) if same_value() && !calls_misspelled(first, versions) => None,
                    _ => Some(DifferenceSeverity::Warning),
                }
            }
            _ => Some(DifferenceSeverity::Error),
        }
    }

    /// Tests whether one rule alone makes a difference, in either version.
    fn is_cause(&self, rule: VersionRule, parsed: &[Parsed; 2], versions: [Semantics; 2]) -> bool {
        if rule == VersionRule::VersionCase
            && let Ok((expr, _)) = &parsed[0]
        {
            return calls_misspelled(expr, versions);
        }
        [(0, 1), (1, 0)].into_iter().any(|(at, other)| {
            let flipped = versions[at].with(rule, versions[other]);
            self.differs([(&parsed[at], versions[at]), (&self.parse(flipped), flipped)], at)
        })
    }

    /// A text that means in all versions what the second one reads, or the first if the second refuses it; and that version.
    fn rewritten(&self, parsed: &[Parsed; 2], versions: [Semantics; 2]) -> Option<(String, String)> {
        let text = self.text.text.trim_ascii_end();
        let is_whole = |at: usize| parsed[at].as_ref().is_ok_and(|(_, end)| *end == text.len());
        let meant = usize::from(is_whole(1));
        // Size suffixes are seen only where they are printed.
        let seen = versions[meant].with(VersionRule::SuffixPrinting, Semantics::of(DOCUMENTED[0]));
        let (expr, _) = self.parse(seen).ok()?;
        let meaning = self.value(parsed[meant].as_ref().ok().map(|(expr, _)| expr)?, versions[meant], meant);
        // A size suffix makes a real.
        let forms = ["1024", "1024.0"].map(|factor| writing::portable(&expr, factor));
        let written = forms.into_iter().find(|write| self.always_means(write, &meaning, meant))?;
        (written.as_bytes() != text.trim_ascii()).then(|| (written, versions[meant].to_string()))
    }

    /// Tests whether a text has the same tree and a certain value in all series.
    fn always_means(&self, write: &str, meaning: &str, ads: usize) -> bool {
        let text = VersionText { text: write.as_bytes(), ..self.text };
        let comparison = TextComparison { text, read: None, settings: self.settings, ads: self.ads };
        let mut first: Option<Expr> = None;
        DOCUMENTED.into_iter().map(Semantics::of).all(|semantics| {
            let Ok((expr, end)) = comparison.parse(semantics) else { return false };
            let is_alike = first.as_ref().is_none_or(|first| first.same_as(&expr));
            let means = end == write.len() && comparison.value(&expr, semantics, ads) == meaning;
            first.get_or_insert(expr);
            is_alike && means
        })
    }
}

/// Tests whether an expression calls a function by a name that only one of the versions knows.
fn calls_misspelled(expr: &Expr, versions: [Semantics; 2]) -> bool {
    versions[0].is_old(VersionRule::VersionCase) != versions[1].is_old(VersionRule::VersionCase)
        && expr.nodes().iter().any(|node| {
            let Node::Call(call) = node else { return false };
            let name = expr.tree().calls[*call as usize].name;
            builtin::find(name).is_some_and(|function| !builtin::version::is_spelled(function.name, name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, from: &str, to: &str) -> Option<VersionDifference> {
        let versions = [from, to].map(|series| series.parse().unwrap());
        let text = VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false };
        compare_alone(text, versions, &EvalOptions::default())
    }

    /// The values are those of HTCondor 23.0.28, 24.0.24 and 25.14.1.
    #[test]
    fn both_readings_are_shown_with_values_and_a_text_that_means_the_same() {
        let found = found(r#"MappingMethod ?: "" != "Copy""#, "23.0", "25.14").unwrap();
        assert_eq!(found.rules, ["elvis-precedence"]);
        assert_eq!(found.severity, DifferenceSeverity::Warning);
        assert_eq!(found.readings[0].expression.as_deref(), Some(r#"MappingMethod ?: ("" != "Copy")"#));
        assert_eq!(found.readings[1].expression.as_deref(), Some(r#"(MappingMethod ?: "") != "Copy""#));
        assert_eq!(found.example, [r#"MappingMethod = "x""#]);
        assert_eq!(found.readings[0].value.as_deref(), Some(r#""x""#));
        assert_eq!(found.readings[1].value.as_deref(), Some("true"));
        assert_eq!(found.write.as_deref(), Some(r#"(MappingMethod ?: "") != "Copy""#));
        assert_eq!(found.write_keeps.as_deref(), Some("25.14"));
    }

    #[test]
    fn the_rule_and_the_rewriting_are_found() {
        for (text, from, to, rule, write) in [
            ("Memory > 2G", "23.0", "25.14", "size-suffix", Some("Memory > 2 * 1024 * 1024 * 1024")),
            ("Memory / 2K", "23.5", "24.0", "size-suffix", Some("Memory / (2 * 1024)")),
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
            ("formatTime(4294967297)", "24.0", "24.12", "time-32bit", None),
            ("splitTime(undefined)", "10.0", "10.9", "splittime-undefined", None),
        ] {
            let found = found(text, from, to).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.rules.as_slice(), found.write.as_deref()), (&[rule][..], write), "{text}: {found:?}");
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
