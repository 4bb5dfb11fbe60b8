//! Every rule that differs between versions, in the last series before it and in the first with it: values from
//! `docs/reference/versions.md` 2, and for `attribute-order` of HTCondor 23.0.28 and 23.10.29.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::internal::semantics::{RULES, RuleChange, VersionRule};
use classmate::internal::syntax::parse::Mode;
use classmate::{ClassAd, EvalOptions, Expr, Scope, Series};

/// A text in an ad, and its values in strict mode or not.
struct Case {
    rule: VersionRule,
    mode: Mode,
    my: String,
    text: String,
    old: &'static str,
    now: &'static str,
}

fn case(rule: VersionRule, text: &str, old: &'static str, now: &'static str) -> Case {
    Case { rule, mode: Mode::HTCondor, my: String::new(), text: text.to_owned(), old, now }
}

const FAILS: &str = "fails";
const REFUSED: &str = "syntax error";

fn cases() -> Vec<Case> {
    use VersionRule::*;
    let strict = |case: Case| Case { mode: Mode::Strict, ..case };
    let within = |my: String, case: Case| Case { my, ..case };
    // The last of 400 references is to a number.
    let links: String = (0..400).map(|link| format!("a{link} = a{}; ", link + 1)).collect();
    let [longest, sum] = [401, 402].map(|numbers| vec!["1"; numbers].join(" + "));
    let nested = "(".repeat(600) + "1" + &")".repeat(600);
    vec![
        case(SizeSuffix, "10K =?= 10240.0", "true", REFUSED),
        case(SuffixConversion, "int(\"10K\")", "10240", "10"),
        // As HTCondor 23.0.28 answers: a product of more than 64 bits is the least integer.
        case(SuffixConversion, "int(\"-2.7K\")", "-2048", "-2"),
        case(SuffixConversion, "int(\"8388607T\")", "9223370937343148032", "8388607"),
        case(SuffixConversion, "int(\"8388608T\")", "-9223372036854775808", "8388608"),
        case(IntegerRange, "9223372036854775808", "9223372036854775807", "0"),
        strict(case(IntegerBase, "010", "8", "10")),
        case(ElvisPrecedence, "10 ?: 2 + 3", "10", "13"),
        case(EmptyMiddle, "5 ? : 3 + 1", "5", "6"),
        case(EmptyMiddle, "undefined ? + : 3", "3", REFUSED),
        case(ReltimeLiteral, "isRelTime(relTime(\"1:30\"))", "true", "false"),
        case(TimeLiteralBad, "isError(absTime(\"bad\"))", "true", REFUSED),
        within("a = a ?: 5".to_owned(), case(Cycle, "a", FAILS, "5")),
        within(format!("{links}a400 = 7"), case(DepthReference, "a0", "7", FAILS)),
        case(DepthOperators, &longest, "401", "401"),
        case(DepthOperators, &sum, "402", FAILS),
        case(DepthParser, &nested, "1", REFUSED),
        case(VersionCase, "versiongt(\"2\", \"1\")", "error", "true"),
        case(Time32bit, "splitTime(2147483648).Year", "1901", "2038"),
        case(SplittimeUndefined, "splitTime(undefined)", "error", "undefined"),
        strict(case(StrictBoolean, "1 && true", "error", "true")),
        case(RegexpmemberEmpty, "stringList_regexpMember(\"[\", \"\")", "undefined", "error"),
        case(
            AttributeOrder,
            "strcat(\"x\", [a = 1; bb = 2; c = 3])",
            "\"x[ c = 3; bb = 2; a = 1 ]\"",
            "\"x[ a = 1; c = 3; bb = 2 ]\"",
        ),
        // Of these, what is printed and what is the same is tried below; the order of variables is not imitated.
        case(SuffixPrinting, "10K", "1.024000000000000E+04", "1.024000000000000E+04"),
        case(RealSameness, "0.5", "5.000000000000000E-01", "5.000000000000000E-01"),
        case(EnvironmentOrder, "mergeEnvironment(\"B=1 A=2\")", "\"A=2 B=1\"", "\"A=2 B=1\""),
    ]
}

/// Settings of the last series before a change, and of its first.
fn around(change: &RuleChange) -> [EvalOptions; 2] {
    let before = Series::new(change.since.major, change.since.minor - 1);
    let settings =
        |series: Series| EvalOptions { semantics: series.to_string().parse().unwrap(), ..EvalOptions::default() };
    [before, change.since].map(settings)
}

#[test]
fn every_rule_changes_what_it_says_where_it_says() {
    let cases = cases();
    for change in &RULES {
        let mut tried = cases.iter().filter(|case| case.rule == change.rule).peekable();
        assert!(tried.peek().is_some(), "{} has no case", change.name);
        for case in tried {
            let answers = around(change).map(|settings| {
                let settings = EvalOptions { mode: case.mode, ..settings };
                let my = ClassAd::parse_with(format!("[{}]", case.my), &settings.parse_options()).unwrap();
                let Ok(expr) = Expr::parse_with(&case.text, &settings.parse_options()) else {
                    return REFUSED.to_owned();
                };
                Scope::new(&my, &settings).eval(&expr).map_or_else(|_| FAILS.to_owned(), |value| value.to_string())
            });
            assert_eq!(
                answers,
                [case.old, case.now],
                "{}: {} in {}",
                change.name,
                &case.text[..case.text.len().min(60)],
                change.since
            );
        }
    }
}

#[test]
fn a_size_suffix_is_printed_as_it_was_written_until_it_is_printed_as_a_product() {
    for (text, before, since) in [
        ("10K", "10K", "1.024000000000000E+04"),
        ("1.5m + x", "1.500000000000000E+00M + x", "1.572864000000000E+06 + x"),
    ] {
        let printed = around(VersionRule::SuffixPrinting.change())
            .map(|settings| Expr::parse_with(text, &settings.parse_options()).unwrap().to_string());
        assert_eq!(printed, [before, since]);
    }
}

/// Answers of HTCondor 23.0.28 and 23.10.29; the third pair differs by 3.3e-16.
#[test]
fn reals_that_differ_a_little_were_not_the_same() {
    for (first, second, expected) in [
        ("0.5", "0.5000000000000001", [false, true]),
        ("0.5", "0.5000000000000002", [false, true]),
        ("0.5", "0.5000000000000003", [false, false]),
        ("1e-17", "0.0", [false, true]),
        ("1000000.0", "1000000.0000000001", [false, false]),
        ("x + 0.5", "x + 0.5000000000000001", [false, true]),
        ("0.5", "0.5", [true, true]),
    ] {
        let alike = around(VersionRule::RealSameness.change()).map(|settings| {
            let read = |text: &str| Expr::parse_with(text, &settings.parse_options()).unwrap();
            read(first).same_as(&read(second))
        });
        assert_eq!(alike, expected, "{first} and {second}");
    }
}
