//! Proofs about 300 pairs of realistic conditions.
#![expect(clippy::panic, reason = "a test may panic")]

use classmate::internal::analysis::proof::{PairAnswer, find_pair};
use classmate::{EvalOptions, Expr, parse_expr};

/// A pair of ads that refutes a relation of two conditions, by the relation's questions.
fn answer(relation: &str, first: &Expr, second: &Expr) -> Option<bool> {
    let questions: &[(&[&Expr], &[&Expr])] = match relation {
        "implies" => &[(&[first], &[second])],
        "equal" => &[(&[first], &[second]), (&[second], &[first])],
        "disjoint" => &[(&[first, second], &[])],
        other => panic!("{other}"),
    };
    let mut answer = Some(true);
    for (hold, fail) in questions {
        match find_pair(hold, fail, &EvalOptions::default()) {
            PairAnswer::Found { .. } => return Some(false),
            PairAnswer::Open => answer = None,
            PairAnswer::Impossible => {}
        }
    }
    answer
}

/// The answers of `tests/data/proofs.tsv` were found by hand and by random evaluation with HTCondor's library. They are
/// about ads with numbers up to 2^50. At least nine of ten pairs are decided.
#[test]
fn realistic_conditions_are_decided() {
    let text = std::fs::read_to_string("tests/data/proofs.tsv").unwrap();
    let (mut pairs, mut decided) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [relation, expected, first, second] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let parsed = |text: &str| parse_expr(text.as_bytes()).unwrap();
        let found = answer(relation, &parsed(first), &parsed(second));
        assert!(found.is_none_or(|found| found.to_string() == expected), "{line}");
        pairs += 1;
        decided += usize::from(found.is_some());
    }
    assert_eq!(pairs, 300);
    assert!(decided >= 270, "{decided} are decided");
}
