//! What the analysis of an expression claims is so, whatever the ads are.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::internal::ad::ClassAd;
use classmate::internal::analysis::clauses::{Certainty, claims};
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::proof::{PairAnswer, find_pair};
use classmate::internal::analysis::values::{Truths, Values};
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::{Expr, Node, Tree, copy_into};
use classmate::internal::syntax::layout::{Measure, layout};
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;
use classmate::internal::value::Value;
use classmate_advice::internal::lint::expression::{LintContext, Role, lint};
use proptest::prelude::*;

/// References, of few names so that they meet often.
fn reference() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "MY.a", "TARGET.a", "TARGET.b", "A", "d"]).prop_map(str::to_owned)
}

fn literal() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "0",
        "1",
        "2",
        "5",
        "-1",
        "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807",
        "0.0",
        "-0.0",
        "1.0",
        "2.5",
        "1e300",
        "-1e300",
        "true",
        "false",
        "undefined",
        "error",
        "\"x\"",
        "\"X\"",
        "\"y\"",
        "\"\"",
        "{1}",
        "[q = 1]",
        "relTime(3)",
        "relTime(\"5\")",
        "absTime(\"2020-01-01T00:00:00Z\")",
        "real(\"NaN\")",
        "real(\"-INF\")",
    ])
    .prop_map(str::to_owned)
}

fn comparison() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">=", "=?=", "=!="])
}

fn expression() -> impl Strategy<Value = String> {
    let simple = (reference(), comparison(), literal()).prop_map(|(a, op, b)| format!("{a} {op} {b}"));
    let turned = (literal(), comparison(), reference()).prop_map(|(a, op, b)| format!("{a} {op} {b}"));
    let leaf = prop_oneof![3 => reference(), 2 => literal(), 6 => simple, 2 => turned];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let joined = |op: &'static str| {
            prop::collection::vec(inner.clone(), 2..5)
                .prop_map(move |parts| parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(op))
        };
        let unary = prop::sample::select(vec!["!", "-", "+", "~"]);
        let binary = prop::sample::select(vec!["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "?:"]);
        let predicate = prop::sample::select(vec![
            "isUndefined",
            "isError",
            "isString",
            "isInteger",
            "isReal",
            "isBoolean",
            "isList",
            "isClassAd",
            "isAbsTime",
            "isRelTime",
            "int",
            "real",
            "string",
            "size",
            "toUpper",
            "debug",
            "nosuch",
            "strcat",
        ]);
        prop_oneof![
            4 => joined(" && "),
            4 => joined(" || "),
            2 => (inner.clone(), comparison(), inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            1 => (inner.clone(), binary, inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            1 => (unary, inner.clone()).prop_map(|(op, a)| format!("{op}({a})")),
            1 => (predicate, inner.clone()).prop_map(|(name, a)| format!("{name}({a})")),
            1 => (prop::sample::select(vec!["versionGT", "versiongt"]), inner.clone(), literal())
                .prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("ifThenElse({a}, {b}, {c})")),
            1 => (inner.clone(), inner).prop_map(|(a, b)| format!("member({a}, {{{b}}})")),
            1 => prop::sample::select(vec![
                "size(\"abc\")",
                "member(\"a\", {\"A\", 2})",
                "versionGE(\"8.9.1\", \"8.8.0\")",
                "versionge(\"8.9.1\", \"8.8.0\")",
                "int(\"7K\")",
                "formatTime(4294967297)",
                "1 / 0.0",
                "-1 / 0.0",
                "pow(2, -1)",
                "int(\"7\") % 4",
                "substr(\"abc\", 1)",
                "real(\"NaN\") + 1",
                "split(\"a,b\")",
                "getHours(0)",
            ]).prop_map(str::to_owned),
        ]
    })
}

fn ad() -> impl Strategy<Value = ClassAd> {
    prop::collection::vec((prop::sample::select(vec!["a", "b", "c", "d"]), literal()), 0..5).prop_map(|attributes| {
        let text: String = attributes.iter().map(|(name, value)| format!("{name} = {value}; ")).collect();
        ClassAd::parse(format!("[{text}]").as_bytes()).unwrap_or_default()
    })
}

/// Searches in strings, comparisons of versions, and inequalities of several attributes, with what they are compared with.
fn searches() -> impl Strategy<Value = String> {
    let templates = vec![
        "regexp(\"^x\", A)",
        "regexp(\"^X\", A)",
        "regexp(\"y$\", A)",
        "regexp(\"xy\", A, \"i\")",
        "regexp(\"^(x|xy)$\", A)",
        "regexp(\"^xy?\", A)",
        "regexp(\"^[a-x]\", A)",
        "stringListMember(A, \"x,Xy\")",
        "stringListIMember(A, \"x,y\")",
        "stringListMember(\"x\", A)",
        "member(A, {\"x\", 1})",
        "identicalMember(A, {\"x\", 1, 2.5})",
        "anyCompare(\"<\", {1, 5}, A)",
        "allCompare(\"!=\", {1, 2}, A)",
        "anyCompare(\"==\", {1, \"xy\"}, A)",
        "versionGE(A, \"1.2\")",
        "versionLT(A, \"1.10\")",
        "versioncmp(A, \"1.2\") > 0",
        "version_in_range(A, \"1\", \"1.10\")",
        "versionEQ(A, B)",
        "toLower(A) == \"x\"",
        "toUpper(A) =?= \"X\"",
        "A == \"xy\"",
        "A =?= \"x\"",
        "A =!= \"X\"",
        "split(A)[0] == \"x\"",
        "size(A) > 1",
        "A + 2 < B",
        "A - B >= 1",
        "A * 2 > B",
        "A / 2.0 < B",
        "A / 2 < B",
        "-A <= 1",
        "time() - A > 2",
        "CurrentTime + A <= 5",
        "A <= B",
        "A == B",
        "A =?= B",
        "A != B",
        "A < 2",
        "A >= 1.5",
        "isUndefined(A)",
        "A is true",
        "A",
        "(A ?: 1) > 1",
    ];
    let name = || prop::sample::select(vec!["a", "b", "MY.a", "TARGET.a", "TARGET.b"]);
    let leaf = (prop::sample::select(templates), name(), name())
        .prop_map(|(template, one, two)| template.replace('A', "\u{1}").replace('B', two).replace('\u{1}', one));
    leaf.prop_recursive(3, 12, 3, |inner| {
        let joined = |op: &'static str| {
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(move |parts| parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(op))
        };
        prop_oneof![
            3 => joined(" && "),
            3 => joined(" || "),
            1 => inner.clone().prop_map(|part| format!("!({part})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("ifThenElse({a}, {b}, {c})")),
            1 => (inner.clone(), inner).prop_map(|(a, b)| format!("({a}) ?: ({b})")),
        ]
    })
}

/// An ad with values that such searches tell apart.
fn searched_ad() -> impl Strategy<Value = ClassAd> {
    let value = prop::sample::select(vec![
        "\"x\"",
        "\"X\"",
        "\"xy\"",
        "\"Xy\"",
        "\"y\"",
        "\"x\\n\"",
        "\"xy\\n\"",
        "\"x y\"",
        "\"x,y\"",
        "\"\"",
        "\"1.2\"",
        "\"1.10\"",
        "\"1\"",
        "\"2\"",
        "0",
        "1",
        "2",
        "3",
        "5",
        "-1",
        "2.5",
        "1.5",
        "0.5",
        "true",
        "false",
        "undefined",
        "error",
        "{1}",
        "{\"x\"}",
        "[q = 1]",
        "relTime(3)",
        "absTime(\"2020-01-01T00:00:00Z\")",
        "real(\"NaN\")",
    ]);
    prop::collection::vec((prop::sample::select(vec!["a", "b"]), value), 0..4).prop_map(|attributes| {
        let text: String = attributes.iter().map(|(name, value)| format!("{name} = {value}; ")).collect();
        ClassAd::parse(format!("[{text}]").as_bytes()).unwrap_or_default()
    })
}

fn parsed(text: &str) -> Expr {
    parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
}

/// Settings of versions between which the values of expressions differ.
fn version() -> impl Strategy<Value = EvalOptions> {
    let series = prop::sample::select(vec!["10.0", "23.0", "23.9", "24.0", "25.12", "25.14"]);
    series.prop_map(|series| EvalOptions { semantics: series.parse().unwrap(), ..EvalOptions::default() })
}

/// An expression in a version, with a text that is one in each.
fn parsed_in(text: &str, settings: &EvalOptions) -> Expr {
    parse_expr(text.as_bytes(), &settings.parse_options()).unwrap()
}

fn truth(value: &Value) -> Truths {
    Values::value(value).truths()
}

/// The value as a condition: only booleans, undefined and error are told apart.
fn meaning(value: &Value) -> Truths {
    match value {
        Value::Int(_) | Value::Real(_) => {
            if value.as_condition() == Some(true) {
                Truths::TRUE
            } else {
                Truths::FALSE
            }
        }
        other => truth(other),
    }
}

/// The chain of conditions without one of its operands.
fn without(expr: &Expr, clause: u32) -> Option<Expr> {
    let tree = expr.tree();
    for id in 0..tree.nodes.len() as u32 {
        if let Node::Binary(BinaryOp::And | BinaryOp::Or, left, right) = *tree.node(id)
            && (left == clause || right == clause)
        {
            let kept = if left == clause { right } else { left };
            return Some(expr.part(id)).zip(Some(expr.part(kept))).map(|(whole, kept)| replaced(expr, &whole, &kept));
        }
    }
    None
}

/// An expression in which one part stands for another; by way of its text.
fn replaced(expr: &Expr, part: &Expr, by: &Expr) -> Expr {
    let mut marked = Tree::default();
    copy_into(&mut marked, expr.tree(), expr.root());
    // The part is an operator between two conditions: its text in the whole is replaced by that of one of them.
    let spans = parse_expr(expr.to_string().as_bytes(), &ParseOptions { places: true, ..ParseOptions::default() });
    let again = spans.unwrap();
    let source = expr.to_string();
    let span = |id: u32| again.tree().span(id).unwrap().range();
    let (outer, inner) = (span(part.root()), span(by.root()));
    parsed(&format!("{}{}{}", &source[..outer.start], &source[inner], &source[outer.end..]))
}

/// Claims about the clauses of an expression are true with some ads; what a claim calls needless can be left out.
fn claims_hold(text: &str, ads: &[(ClassAd, ClassAd)]) -> Result<(), TestCaseError> {
    // The text as it is printed: nodes of both trees correspond.
    let expr = parsed(&parsed(text).to_string());
    let settings = EvalOptions::default();
    for claim in claims(&expr, &unknown) {
        for (my, target) in ads {
            let scope = Scope::new(my, &settings).with_target(target);
            let value = scope.eval(&expr.part(claim.clause)).unwrap();
            match claim.certainty {
                Certainty::Always(truths) => {
                    prop_assert_eq!(truth(&value), truths, "{} in {}", expr.part(claim.clause), expr);
                }
                Certainty::Never => prop_assert!(!truth(&value).has(Truths::TRUE), "{}", expr),
                Certainty::Contradicts(other) => {
                    let other = scope.eval(&expr.part(other)).unwrap();
                    prop_assert!(!(truth(&value).has(Truths::TRUE) && truth(&other).has(Truths::TRUE)), "{}", expr);
                }
                Certainty::Covered(other) => {
                    let other = scope.eval(&expr.part(other)).unwrap();
                    prop_assert!(!truth(&other).has(Truths::TRUE) || truth(&value) == Truths::TRUE, "{}", expr);
                    // It refuses nothing, and lets in nothing.
                    if matches!(expr.node(), Node::Binary(BinaryOp::And, ..)) {
                        let shorter = without(&expr, claim.clause).unwrap();
                        let is_true = |expr: &Expr| meaning(&scope.eval(expr).unwrap()) == Truths::TRUE;
                        prop_assert_eq!(
                            is_true(&expr),
                            is_true(&shorter),
                            "{} without {}",
                            expr,
                            expr.part(claim.clause)
                        );
                    }
                }
                Certainty::Within(other) => {
                    let other = scope.eval(&expr.part(other)).unwrap();
                    prop_assert!(!truth(&value).has(Truths::TRUE) || truth(&other) == Truths::TRUE, "{}", expr);
                    // It lets in nothing.
                    if matches!(expr.node(), Node::Binary(BinaryOp::Or, ..)) {
                        let shorter = without(&expr, claim.clause).unwrap();
                        let is_true = |expr: &Expr| meaning(&scope.eval(expr).unwrap()) == Truths::TRUE;
                        prop_assert!(
                            !is_true(&expr) || is_true(&shorter),
                            "{} without {}",
                            expr,
                            expr.part(claim.clause)
                        );
                    }
                }
                Certainty::Splice(truths) => prop_assert_eq!(truth(&value), truths),
                Certainty::Repeats(_) | Certainty::Follows(_) => {
                    let shorter = without(&expr, claim.clause);
                    prop_assert!(shorter.is_some());
                    let shorter = shorter.unwrap();
                    let (before, after) = (scope.eval(&expr).unwrap(), scope.eval(&shorter).unwrap());
                    // A chain is a boolean, a single clause may be a number.
                    if matches!(expr.node(), Node::Binary(BinaryOp::And | BinaryOp::Or, ..)) {
                        prop_assert_eq!(
                            meaning(&before),
                            meaning(&after),
                            "{} without {} with {} and {}",
                            expr,
                            expr.part(claim.clause),
                            my,
                            target
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// What is called an error where no condition is asked for is the error value itself.
fn errors_are_errors(text: &str, ads: &[(ClassAd, ClassAd)]) -> Result<(), TestCaseError> {
    let expr = parsed(&parsed(text).to_string());
    let options = ParseOptions { places: true, ..ParseOptions::default() };
    let written = expr.to_string();
    let placed = parse_expr(written.as_bytes(), &options).unwrap();
    let settings = EvalOptions::default();
    let context = LintContext::of(written.as_bytes(), Quoting::New, Role::default());
    for found in lint(&context).iter().filter(|found| found.code == "always-error") {
        let span = found.span.range();
        let told = (0..placed.tree().nodes.len() as u32).find(|id| placed.tree().span(*id).unwrap().range() == span);
        let part = expr.part(told.unwrap());
        for (my, target) in ads {
            let value = Scope::new(my, &settings).with_target(target).eval(&part).unwrap();
            prop_assert!(matches!(value, Value::Error), "{part} in {expr} is {value} with {my} and {target}");
        }
    }
    Ok(())
}

/// Conditionals over values of all kinds whose conditions are mostly defined.
fn conditionals() -> impl Strategy<Value = String> {
    let guard = prop::sample::select(vec!["isUndefined(a)", "a =?= 1", "b =!= \"x\"", "isString(c)", "a > 1"]);
    let value = prop::sample::select(vec![
        "\"a\"",
        "\"b\"",
        "{1}",
        "{2, \"c\"}",
        "[q = 1]",
        "1 + {2}",
        "error",
        "1",
        "undefined",
        "a",
        "b",
        "-\"x\"",
        "absTime(0)",
        "strcat(\"x\", \"y\")",
        "split(\"a,b\")",
        "!\"yes\"",
        "relTime(\"5\")",
    ]);
    value.prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
        let three = (guard.clone(), inner.clone(), inner.clone());
        prop_oneof![
            4 => three.clone().prop_map(|(guard, yes, no)| format!("ifThenElse({guard}, {yes}, {no})")),
            4 => three.clone().prop_map(|(guard, yes, no)| format!("({guard} ? ({yes}) : ({no}))")),
            1 => three.clone().prop_map(|(guard, yes, no)| format!("({guard} && ({yes})) ? ({no}) : ({yes})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) ?: ({two})")),
            1 => (inner.clone(), inner).prop_map(|(one, two)| format!("({one}) + ({two})")),
        ]
    })
}

/// Chains of few clauses that are made of one another, so that claims are many.
fn chains() -> impl Strategy<Value = String> {
    let literal = prop::sample::select(vec!["1", "3", "5", "true", "\"x\"", "undefined"]);
    let atom =
        (prop::sample::select(vec!["a", "b"]), comparison(), literal).prop_map(|(a, op, b)| format!("{a} {op} {b}"));
    let atom = prop_oneof![6 => atom, 1 => prop::sample::select(vec!["a", "b"]).prop_map(str::to_owned)];
    let few = prop::collection::vec(atom, 1..4);
    let picked = prop::collection::vec(0usize..8, 1..4);
    let outer = prop::sample::select(vec![("||", " && "), ("&&", " || "), ("||", " || "), ("&&", " && ")]);
    (few, prop::collection::vec(picked, 2..4), outer).prop_map(|(atoms, groups, (outer, inner))| {
        let group = |picked: &Vec<usize>| {
            let parts: Vec<&str> = picked.iter().map(|at| atoms[at % atoms.len()].as_str()).collect();
            format!("({})", parts.join(inner))
        };
        groups.iter().map(group).collect::<Vec<_>>().join(&format!(" {outer} "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every part of an expression evaluates to a value of its set.
    #[test]
    fn sets_hold_the_values(
        text in expression(),
        ads in prop::collection::vec((ad(), ad()), 6),
        settings in version(),
    ) {
        let expr = parsed_in(&text, &settings);
        let values = Analysis::new(expr.tree(), &unknown).values(expr.root());
        for (my, target) in &ads {
            let value = Scope::new(my, &settings).with_target(target).eval(&expr).unwrap();
            prop_assert!(values.contains(&value), "{expr} is {value} with {my} and {target}, not in {values:?}");
        }
    }

    /// A laid out expression is the same tree, and is not changed again.
    #[test]
    fn layout_keeps_the_tree(text in expression(), width in 5usize..120) {
        let measure = Measure { width, ..Measure::default() };
        let options = ParseOptions::default();
        let once = layout(text.as_bytes(), &options, measure).unwrap();
        let again = parsed(&String::from_utf8(once.clone()).unwrap());
        prop_assert!(again.same_as(&parsed(&text)));
        prop_assert_eq!(layout(&once, &options, measure).unwrap(), once);
    }

    /// Claims about clauses are true.
    #[test]
    fn claims_are_true(text in expression(), ads in prop::collection::vec((ad(), ad()), 6)) {
        claims_hold(&text, &ads)?;
    }

    /// Of values too, an error is one.
    #[test]
    fn what_is_called_an_error_is_one(text in expression(), ads in prop::collection::vec((ad(), ad()), 6)) {
        errors_are_errors(&text, &ads)?;
    }

    /// A conditional over texts and lists is no error.
    #[test]
    fn conditionals_over_texts_are_no_errors(text in conditionals(), ads in prop::collection::vec((ad(), ad()), 12)) {
        claims_hold(&text, &ads)?;
        errors_are_errors(&text, &ads)?;
    }

    /// Also about clauses that have much in common.
    #[test]
    fn claims_about_related_clauses_are_true(text in chains(), ads in prop::collection::vec((ad(), ad()), 12)) {
        claims_hold(&text, &ads)?;
    }

    /// Ads do not contradict a proof about two conditions, and a pair of ads that is found is one.
    #[test]
    fn proofs_are_true(
        texts in prop_oneof![(expression(), expression()), (chains(), chains())],
        ads in prop::collection::vec((ad(), ad()), 12),
        settings in version(),
    ) {
        proof_is_true((&texts.0, &texts.1), &ads, &settings)?;
    }

    /// Also about searches in strings and inequalities.
    #[test]
    fn proofs_about_searches_are_true(
        texts in (searches(), searches()),
        ads in prop::collection::vec((searched_ad(), searched_ad()), 40),
    ) {
        proof_is_true((&texts.0, &texts.1), &ads, &EvalOptions::default())?;
    }
}

fn proof_is_true(texts: (&str, &str), ads: &[(ClassAd, ClassAd)], settings: &EvalOptions) -> Result<(), TestCaseError> {
    let (one, two) = (parsed_in(texts.0, settings), parsed_in(texts.1, settings));
    let is_pair = |my: &ClassAd, target: &ClassAd| {
        let scope = Scope::new(my, settings).with_target(target);
        scope.holds(&one) && !scope.holds(&two)
    };
    match find_pair(&[&one], &[&two], settings) {
        PairAnswer::Found { my, target } => prop_assert!(is_pair(&my, &target), "{one}, not {two}: {my} {target}"),
        PairAnswer::Impossible => {
            for (my, target) in ads.iter().filter(|(my, target)| is_moderate(my) && is_moderate(target)) {
                prop_assert!(!is_pair(my, target), "{one}, not {two}: {my} {target}");
            }
        }
        PairAnswer::Open => {}
    }
    Ok(())
}

/// Tests for ads whose numbers are those of which proofs speak: up to 2^50.
fn is_moderate(ad: &ClassAd) -> bool {
    const LIMIT: i64 = 1 << 50;
    let settings = EvalOptions::default();
    ad.names().all(|name| {
        let value = Scope::new(ad, &settings).eval_attr(name).unwrap();
        // As a real, 2^53 + 1 is 2^53.
        if let Value::Int(number) = value {
            return (-LIMIT..=LIMIT).contains(&number);
        }
        value.as_number().is_none_or(|number| number.is_nan() || number.abs() <= LIMIT as f64)
    })
}
