//! Templates of sentences: `{}` is a part that is checked.

/// Nothing, or what is wrong.
pub(super) type Checked = Result<(), String>;

/// Fails with some words unless a condition holds.
pub(super) fn check(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// A sentence with all words in the singular, except in backticks.
pub(super) fn singular(text: &str) -> String {
    const WORDS: [(&str, &str); 16] = [
        ("slots", "slot"),
        ("jobs", "job"),
        ("matches", "match"),
        ("conditions", "condition"),
        ("causes", "cause"),
        ("rejects", "reject"),
        ("accepts", "accept"),
        ("requests", "request"),
        ("fails", "fail"),
        ("are", "is"),
        ("do", "does"),
        ("submitters", "submitter"),
        ("values", "value"),
        ("they", "it"),
        ("were", "was"),
        ("turns", "turn"),
    ];
    let word =
        |word: &str| WORDS.iter().find(|(many, _)| *many == word).map_or(word.to_owned(), |(_, one)| (*one).to_owned());
    let outside = |text: &str| {
        let mut out = String::new();
        for part in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != '.' && c != '@') {
            let end = part.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
            out.push_str(&word(&part[..end]));
            out.push_str(&part[end..]);
        }
        out
    };
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { outside(part) } else { part.to_owned() }).collect::<Vec<_>>().join("`")
}

/// The parts of a text that stand for `{}` in a template, each as short as possible; none if the rest differs.
pub(super) fn fit<'t>(template: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let parts: Vec<&str> = template.split("{}").collect();
    let (mut rest, mut found) = (text.strip_prefix(parts[0])?, Vec::new());
    for (at, part) in parts.iter().enumerate().skip(1) {
        let end = match (at + 1 == parts.len(), part.is_empty()) {
            (true, true) => rest.len(),
            (true, false) => rest.strip_suffix(part)?.len(),
            _ => rest.find(part)?,
        };
        found.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A number in a sentence.
pub(super) fn number(text: &str) -> f64 {
    // What is not a number equals none.
    text.parse().unwrap_or(f64::NAN)
}

/// Fails unless a number in a sentence is as it should be, to the digits that are printed.
pub(super) fn same(what: &str, text: &str, expected: f64) -> Checked {
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let found: f64 = text.parse().map_err(|_| format!("{what}: `{text}` is not a number"))?;
    // A figure is rounded to the digits that are printed, and without any to four.
    let near = 0.500_001 * 10_f64.powi(-(if decimals == 0 { 4 } else { decimals as i32 }));
    if (found - expected).abs() <= near { Ok(()) } else { Err(format!("{what} is {expected}, not {text}")) }
}

#[test]
fn parts_of_sentences_are_found() {
    assert_eq!(fit("{} of {} slot", "3 of 5 slot"), Some(vec!["3", "5"]));
    assert_eq!(fit("a {}", "a b c"), Some(vec!["b c"]));
    assert_eq!(fit("a", "a b"), None);
    assert_eq!(singular("2 slots do not match `slots` of jobs."), "2 slot does not match `slots` of job.");
}
