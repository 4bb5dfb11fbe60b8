//! Expressions that mean different things in the versions of a pool (`docs/reference/versions.md` 4).
//!
//! In: an expression, its ad, and the versions. Out: findings of the rule `version-dependent`.

use std::sync::LazyLock;

use super::expression::{LintContext, MAX_TEXT, Role};
use crate::versions::{DifferenceSeverity, VersionAds, VersionDifference, VersionReading, VersionText};
use crate::versions::{compare_alone, compare_own, suggest_for_macro, upgrade};
use classmate::internal::semantics::RULES;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::{ClassAd, Diagnostic, EvalError, EvalOptions, Expr, Limits, Name, Scope, Semantics, Series, Span};
use hashbrown::HashSet;

/// The version in which expressions are read, and those in which they must mean the same.
#[derive(Debug, Clone)]
pub struct LintVersions {
    /// The version in which expressions are read.
    pub read: Semantics,
    /// The versions that are compared.
    pub alike: Vec<Semantics>,
}

impl LintVersions {
    /// The versions if nothing is known of the pool.
    pub(super) fn unknown() -> &'static Self {
        static UNKNOWN: LazyLock<LintVersions> = LazyLock::new(LintVersions::default);
        &UNKNOWN
    }
}

impl Default for LintVersions {
    /// The oldest long-term series in use, and the newest series.
    fn default() -> Self {
        let read = Semantics::default();
        LintVersions { read, alike: vec![Semantics::of(Series::new(23, 0)), read] }
    }
}

/// The beginning of a literal that was a relative time.
const DURATION: &[u8] = b"reltime(";
/// Nodes of an expression from which on a limit of its depth may matter.
const DEEP: usize = 390;

/// Tests whether a text has a digit with a letter behind it that was a size suffix: since 23.2 it leaves no trace in the tree.
fn has_suffix(text: &[u8]) -> bool {
    text.windows(2)
        .any(|pair| matches!(pair, [b'0'..=b'9' | b'.', letter] if b"BKMGT".contains(&letter.to_ascii_uppercase())))
}

/// Tests whether a version may read another literal. Integers beyond 64 bits are read as one of three.
fn is_doubtful(literal: &Literal) -> bool {
    matches!(
        literal,
        Literal::Int(0 | i64::MIN | i64::MAX)
            | Literal::Error
            | Literal::RelTime(_)
            | Literal::OldRelTime(_)
            | Literal::Suffixed(..)
    )
}

/// Tests whether a literal with this text is the same in all versions.
pub(super) fn is_certain(literal: &Literal, text: &[u8]) -> bool {
    let is_number = matches!(literal, Literal::Int(_) | Literal::Real(_));
    upgrade::is_plain(text) || !(is_doubtful(literal) || is_number && has_suffix(text))
}

/// An expression that means different things in the versions that must read it alike: a finding for each rule that changes it.
pub(super) fn changed(context: &LintContext<'_>, expr: &Expr) -> Vec<Diagnostic> {
    const FUNCTIONS: [&[u8]; 12] = [
        b"eval",
        b"int",
        b"real",
        b"floor",
        b"ceiling",
        b"round",
        b"pow",
        b"quantize",
        b"interval",
        b"formattime",
        b"splittime",
        b"stringlist_regexpmember",
    ];
    let (tree, versions) = (expr.tree(), context.versions);
    let may_differ = |node: &Node| match node {
        Node::Binary(BinaryOp::Default, ..) => true,
        Node::Call(call) => {
            let name = tree.calls[*call as usize].name.folded();
            name.starts_with(b"version") || FUNCTIONS.contains(&name)
        }
        Node::Literal(literal) => is_doubtful(literal),
        _ => false,
    };
    // The literal is a plain number since 23.7.
    let has_duration = context.text.windows(DURATION.len()).any(|word| word.eq_ignore_ascii_case(DURATION));
    let has_suffix = has_suffix(context.text);
    let is_circular = context.own.is_some_and(|(name, ad)| reaches(ad, expr, name));
    if !(is_circular || has_duration || has_suffix || expr.nodes().len() >= DEEP || expr.nodes().iter().any(may_differ))
    {
        return Vec::new();
    }
    let found = differences(context);
    // A text that is refused, or of which a part is ignored, is reported as such.
    let is_refused = |one: &VersionReading| one.series == versions.read.to_string() && one.problem.is_some();
    let Some(span) = tree.span(expr.root()) else { return Vec::new() };
    if found.of_rules.iter().flat_map(|one| &one.readings).any(is_refused) {
        return Vec::new();
    }
    found.of_rules.iter().map(|one| different(one, found.pair, span)).collect()
}

/// As [`changed`], of a text that nothing else is said of, so that it may also be refused.
pub(super) fn changed_text(context: &LintContext<'_>) -> Vec<Diagnostic> {
    if context.text.len() > MAX_TEXT {
        return Vec::new();
    }
    if let Ok(expr) = parse_expr(context.text, &context.options()) {
        return changed(context, &expr);
    }
    let text = context.text.trim_ascii();
    if text.len() > MAX_REFUSED {
        return Vec::new();
    }
    let found = differences(context);
    let start = context.text.len() - context.text.trim_ascii_start().len();
    let span = Span::new(start, start + text.len());
    found.of_rules.iter().map(|one| different(one, found.pair, span)).collect()
}

/// The differences of a text between two versions.
struct PairDifferences {
    pair: [Semantics; 2],
    of_rules: Vec<VersionDifference>,
}

/// The first differences between the versions that must read a text alike: in an example, or in its ad.
fn differences(context: &LintContext<'_>) -> PairDifferences {
    let LintContext { versions, own, .. } = *context;
    if own.is_some_and(|(name, ad)| takes_long(ad, name)) {
        return PairDifferences { pair: [versions.read; 2], of_rules: Vec::new() };
    }
    let mut alike = versions.alike.clone();
    alike.sort_by_key(|version| version.series());
    let settings = EvalOptions::default();
    let compared = |text: VersionText<'_>, pair: [Semantics; 2]| match own {
        Some((name, ad)) => {
            compare_own(text, pair, &settings, VersionAds { my: [ad; 2], target: [None; 2], name: Some(name) })
        }
        None => compare_alone(text, pair, &settings),
    };
    let differing = |pair: [Semantics; 2]| {
        let text = context.written();
        let mut of_rules = compared(text, pair);
        if context.is_macro {
            suggest_for_macro(&mut of_rules, text, |text| compared(text, pair));
        }
        let of_rules: Vec<_> = of_rules.into_iter().filter(|one| one.severity != DifferenceSeverity::Note).collect();
        PairDifferences { pair, of_rules }
    };
    // The ends may agree while a version between them does not.
    let ends = alike.first().zip(alike.last()).map(|(first, last)| [*first, *last]);
    let pairs = ends.into_iter().chain(alike.windows(2).map(|next| [next[0], next[1]]));
    let mut found = pairs.map(differing).filter(|found| !found.of_rules.is_empty());
    found.next().unwrap_or(PairDifferences { pair: [versions.read; 2], of_rules: Vec::new() })
}

/// Bytes of a text that is not read beyond which it is not compared, and of an expression that a message repeats.
const MAX_REFUSED: usize = 4096;
const MAX_SHOWN: usize = 80;

/// A finding about a text that is refused, or of which a part is ignored, with the versions that read it in another way.
pub(super) fn read_elsewhere(finding: Diagnostic, text: VersionText<'_>, versions: &LintVersions) -> Diagnostic {
    let VersionText { text, quoting, prefix } = text;
    if text.len() > MAX_REFUSED {
        return finding;
    }
    let found =
        differences(&LintContext { prefix, versions, ..LintContext::of(text, quoting, Role::default()) }).of_rules;
    let is_error = found.iter().any(|one| one.severity == DifferenceSeverity::Error);
    let (Some(first), Some(last), true) = (found.first(), found.last(), is_error) else { return finding };
    let shown = |one: &VersionReading| {
        let expression = one.expression.as_ref().map(|expression| match expression.len() {
            ..=MAX_SHOWN => format!("`{expression}`"),
            _ => "accepted".to_owned(),
        });
        let ignored = one.problem.as_ref().filter(|_| one.expression.is_some());
        let ignored = ignored.map_or_else(String::new, |problem| format!(", {problem}"));
        format!("{}: {}{ignored}", one.series, expression.as_deref().unwrap_or("refused"))
    };
    let rules: Vec<&str> = found.iter().map(|one| one.rule).collect();
    let [first, second] = [&first.readings[0], &last.readings[1]];
    finding.more_help(format!("{}; {} ({})", shown(first), shown(second), rules.join(", ")))
}

/// Names that are followed for all attributes of an ad together, and at least for each.
const MAX_FOLLOWED: usize = 1_000_000;
const MIN_FOLLOWED: usize = 20;

/// Tests whether an expression of an ad refers to an attribute, directly or through others of the ad.
fn reaches(ad: &ClassAd, expr: &Expr, name: Name) -> bool {
    let mut seen: HashSet<Name> = HashSet::new();
    // Each attribute of an ad may be followed through all others.
    let mut names_left = (MAX_FOLLOWED / ad.len().max(1)).max(MIN_FOLLOWED);
    let mut next: Vec<Expr> = vec![expr.clone()];
    while let Some(expr) = next.pop() {
        for one in expr.tree().names(expr.root()) {
            if one == name {
                return true;
            }
            if names_left == 0 {
                return false;
            }
            names_left -= 1;
            if seen.insert(one) {
                next.extend(ad.get(one));
            }
        }
    }
    false
}

/// Tests whether an attribute takes more steps than its part of those of all attributes of the ad, which are compared in each version.
fn takes_long(ad: &ClassAd, name: Name) -> bool {
    const ALL_STEPS: u64 = 10_000_000;
    const MIN_STEPS: u64 = 500;
    let work = (ALL_STEPS / ad.len().max(1) as u64).max(MIN_STEPS);
    let settings = EvalOptions { limits: Limits { work, ..Limits::default() }, ..EvalOptions::default() };
    matches!(Scope::new(ad, &settings).eval_attr(name), Err(EvalError::Work(_)))
}

/// The finding about a difference by one rule: both readings, and what to write.
fn different(found: &VersionDifference, [from, to]: [Semantics; 2], span: Span) -> Diagnostic {
    let VersionDifference { rule, severity, readings, example, .. } = found;
    let [first, second] = readings;
    let message = format!("this expression means different things in {from} and {to} ({rule})");
    let is_alike = first.expression == second.expression && first.problem == second.problem;
    let finding = match severity {
        DifferenceSeverity::Error => Diagnostic::error(message, span),
        DifferenceSeverity::Warning | DifferenceSeverity::Note => Diagnostic::warning(message, span),
    };
    let finding = finding.code("version-dependent");
    if let (true, None, Some(rule)) = (is_alike, &first.value, RULES.iter().find(|known| known.name == *rule)) {
        let finding = finding.help(format!("{}: {}", first.version(), rule.old));
        return written_alike(finding.more_help(format!("{}: {}", second.version(), rule.now)), found);
    }
    let shown = |one: &VersionReading| {
        let means = match (&one.expression, &one.problem) {
            (None, problem) => format!("syntax error: {}", problem.as_deref().unwrap_or_default()),
            (Some(_), _) if is_alike => String::new(),
            (Some(expression), None) => format!("`{expression}`"),
            (Some(expression), Some(problem)) => format!("`{expression}` ({problem})"),
        };
        let value = one.value.as_ref().map(|value| match example.as_slice() {
            [] => value.clone(),
            example => format!("{value} with {}", example.join(", ")),
        });
        let parts = [Some(means).filter(|means| !means.is_empty()), value];
        format!("{}: {}", one.version(), parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    };
    written_alike(finding.help(shown(first)).more_help(shown(second)), found)
}

/// The finding with a form that means the same in all versions, if there is one.
fn written_alike(finding: Diagnostic, found: &VersionDifference) -> Diagnostic {
    match (&found.write, &found.write_keeps) {
        (Some(write), Some(keeps)) => {
            finding.more_help(format!("write `{write}` for the meaning of {keeps} in all versions"))
        }
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lint::ads::AdLinter;
    use crate::lint::expression::lint;
    use crate::lint::schema::AdSchema;
    use classmate::internal::syntax::token::Quoting;

    /// Messages and help of the rule.
    fn reported(context: &LintContext<'_>) -> Vec<(String, String)> {
        let found = lint(context).into_iter().filter(|found| found.code == "version-dependent");
        found.map(|found| (found.message, found.help.map(String::from).unwrap_or_default())).collect()
    }

    /// The values are those of HTCondor 23.0.28, 24.0.24 and 25.14.1.
    #[test]
    fn what_versions_of_a_pool_read_differently_is_reported() {
        let text = "MappingMethod ?: \"\" != \"Copy\"";
        let context = LintContext::of(text.as_bytes(), Quoting::New, Role::default());
        let message = "this expression means different things in 23.0 and 25.14 (elvis-precedence)".to_owned();
        let help = "23.0: `MappingMethod ?: (\"\" != \"Copy\")`, \"x\" with MappingMethod = \"x\"; \
            25.14: `(MappingMethod ?: \"\") != \"Copy\"`, true with MappingMethod = \"x\"; \
            write `(MappingMethod ?: \"\") != \"Copy\"` for the meaning of 25.14 in all versions"
            .to_owned();
        assert_eq!(reported(&context), [(message, help)]);
        // The versions of a pool that are beyond the change read it alike.
        let of = |series: [&str; 2]| LintVersions {
            alike: series.map(|series| series.parse().unwrap()).to_vec(),
            ..LintVersions::default()
        };
        let alike = of(["24.0", "25.14"]);
        assert_eq!(reported(&LintContext { versions: &alike, ..context }), []);
        let text = "versiongt(a, \"24\")";
        let context = LintContext { text: text.as_bytes(), versions: &alike, ..context };
        assert!(reported(&context)[0].0.ends_with("in 24.0 and 25.14 (version-case)"), "{:?}", reported(&context));
        let newest = of(["25.13", "25.14"]);
        assert_eq!(reported(&LintContext { versions: &newest, ..context }), []);
    }

    /// The evaluation fails in 24.0.24, and is true in 25.14.1.
    #[test]
    fn circular_references_differ_between_versions() {
        let ad = ClassAd::parse("[ WithinLimits = Other ?: true; Other = WithinLimits; Cpus = 1 ]").unwrap();
        let of = |name: &str, text: &str| {
            let own = Some((Name::new(name), &ad));
            reported(&LintContext { own, ..LintContext::of(text.as_bytes(), Quoting::New, Role::default()) })
        };
        let found = of("WithinLimits", "Other ?: true");
        assert_eq!(found.len(), 1);
        assert!(found[0].0.ends_with("(cycle)") && found[0].1.contains("; 25.14: true"), "{found:?}");
        assert_eq!(of("Start", "Cpus > 1"), []);
    }

    /// The linter and `classmate versions` agree.
    #[test]
    fn every_difference_that_a_survey_shows_is_reported() {
        let ends = [Semantics::of(Series::new(23, 0)), Semantics::default()];
        for source in [
            "9223372036854775808",
            "10K",
            "x > 1.5g",
            "\"10K\"",
            "9223372036854775807",
            "x + 9223372036854775808",
            "-9223372036854775809 < x",
            "relTime(\"1:30\")",
            "RELTIME(\"1:30\") + 5",
            "string(relTime(\"1:30\"))",
            "x ?: 1 + 2",
            "!x ?: true",
            "5 ? : 3 + 1",
            "2 * pow(-2, 3) ?: 1 + 3",
            "formatTime(x + 4294967296)",
            "splitTime(2147483648).Year",
            "quantize(\"10K\", 3)",
            "eval(\"10K\")",
            "versiongt(\"1\", \"2\")",
            "stringList_regexpMember(\"[\", \"\")",
            "Memory > 2048",
            "x ?: -1",
            "bool(\"10K\")",
            "(x ?: 1) + 2",
            "relTime(90)",
        ] {
            let text = VersionText { text: source.as_bytes(), quoting: Quoting::New, prefix: false };
            let shown = crate::versions::survey::survey(text, ends, &EvalOptions::default(), None);
            for read in ["23.0", "23.8", "25.14"] {
                let versions = LintVersions { read: read.parse().unwrap(), ..LintVersions::default() };
                let context = LintContext::of(source.as_bytes(), Quoting::New, Role::default());
                let context = LintContext { versions: &versions, ..context };
                let said: Vec<_> = lint(&context).iter().map(told).collect();
                assert_eq!(said.contains(&true), !shown.rules.is_empty(), "{source} read by {read}");
                let of_ads = |ads: &dyn Fn(&mut AdLinter)| {
                    let mut linter = AdLinter::within(schema_of(versions.clone()));
                    ads(&mut linter);
                    linter.finish().iter().any(told)
                };
                let file: Arc<str> = Arc::from("ads");
                let written = of_ads(&|linter| linter.written(&file, format!("[ Other = {source} ]\n").as_bytes()));
                assert_eq!(written, !shown.rules.is_empty(), "[ Other = {source} ] read by {read}");
                let long = of_ads(&|linter| linter.long(&file, format!("Other = {source}\n").as_bytes()));
                assert_eq!(long, !shown.rules.is_empty(), "Other = {source} read by {read}");
            }
        }
    }

    fn schema_of(versions: LintVersions) -> Arc<AdSchema> {
        let mut schema = AdSchema::default();
        schema.versions = versions;
        Arc::new(schema)
    }

    /// Tests whether a finding says that versions read a text in different ways.
    fn told(found: &Diagnostic) -> bool {
        let help = found.help.clone().map(String::from).unwrap_or_default();
        found.message.starts_with("this expression means different things")
            || help.contains("23.0: ") && help.contains("25.14: ")
    }

    /// 23.0.28 reads 10240.0, and 25.14.1 reads 10 (`docs/reference/versions.md` 2.1).
    #[test]
    fn what_a_version_ignores_of_a_line_is_no_syntax_error() {
        let schema = |read: &str| schema_of(LintVersions { read: read.parse().unwrap(), ..LintVersions::default() });
        let mut linter = AdLinter::within(schema("23.0"));
        linter.long(&Arc::from("ads"), b"Other = 10K\n");
        let found = linter.finish();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "this expression means different things in 23.0 and 25.14 (size-suffix)");
        let help = found[0].help.clone().map(String::from).unwrap_or_default();
        assert!(help.starts_with("23.0: `10K`, 10240.0; 25.14: `10` (`K` is ignored), 10"), "{help}");
        let mut linter = AdLinter::within(schema("25.14"));
        linter.long(&Arc::from("ads"), b"Other = 10K\n");
        assert_eq!(linter.finish().len(), 1);
    }

    /// Both the mistake and its meanings are reported.
    #[test]
    fn a_difference_is_reported_beside_what_is_odd_in_all_versions() {
        for (text, code) in [("x ?: 1 + 2", "precedence"), ("9223372036854775808 > x", "odd-number")] {
            let context = LintContext::of(text.as_bytes(), Quoting::New, Role::default());
            let codes: Vec<_> = lint(&context).iter().map(|found| found.code).collect();
            assert!(codes.contains(&code) && codes.contains(&"version-dependent"), "{text}: {codes:?}");
        }
    }

    /// The readings follow from `docs/reference/versions.md` 2.1, 2.6 and 2.8.
    #[test]
    fn what_is_refused_is_said_with_the_versions_that_read_it() {
        for (text, quoting, help) in [
            ("Memory > 2G", Quoting::Old, "23.0: `Memory > 2G`; 25.14: refused (size-suffix)"),
            ("x ? + : 1", Quoting::New, "23.0: `x ?: 1`; 25.14: refused (empty-middle)"),
            ("absTime(\"bad\")", Quoting::New, "23.0: `error`; 25.14: refused (time-literal-bad)"),
        ] {
            let found = lint(&LintContext::of(text.as_bytes(), quoting, Role::default()));
            let shown = found.first().and_then(|found| found.help.clone()).map(String::from).unwrap_or_default();
            assert!(shown.ends_with(help), "{text}: {shown}");
        }
        let found = lint(&LintContext::of(b"x +", Quoting::New, Role::default()));
        let shown = found[0].help.clone().map(String::from).unwrap_or_default();
        assert!(!shown.contains("23.0"), "{shown}");
    }
}
