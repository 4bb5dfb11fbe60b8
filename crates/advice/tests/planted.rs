//! Planted mistakes that lint must find, and near misses in which it must find nothing (`data/lint`).
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;

use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, ParseOptions, Reader};
use classmate_advice::internal::lint::ads::AdLinter;
use classmate_advice::internal::lint::expression::{self, LintContext, Role};
use classmate_advice::internal::lint::schema::AdSchema;
use classmate_advice::internal::lint::versions::LintVersions;
use classmate_advice::internal::lint::{config, submit};
use classmate_config::Config;

/// The cases of a file: the heading of each, its words, and its text.
fn cases(text: &str) -> impl Iterator<Item = (Vec<&str>, &str)> {
    text.split("\n=== ").skip(1).map(|case| {
        let (heading, body) = case.split_once('\n').unwrap_or((case, ""));
        // Comments and blank lines ahead of the next case do not belong to this one.
        let end = body.find("\n\n# ").unwrap_or(body.len());
        (heading.split(" | ").collect(), body[..end].trim_end())
    })
}

fn of_ads(text: &str, schema: Arc<AdSchema>) -> Vec<Diagnostic> {
    let mut linter = AdLinter::within(schema);
    if text.starts_with('[') {
        linter.written(&Arc::from("ads"), text.as_bytes());
    } else {
        linter.long(&Arc::from("ads"), text.as_bytes());
    }
    linter.finish()
}

fn of_pool(text: &str) -> Vec<Diagnostic> {
    let parts: Vec<(&str, &str)> = text.split("%% ").skip(1).filter_map(|part| part.split_once('\n')).collect();
    let mut schema = AdSchema::default();
    for (_, text) in parts.iter().filter(|(kind, _)| *kind != "config") {
        for ad in Reader::detect(text.as_bytes(), &ParseOptions::default()).unwrap() {
            schema.add(&ad.unwrap());
        }
    }
    let schema = Arc::new(schema);
    let of = |(kind, text): &(&str, &str)| match *kind {
        "config" => config::lint_beside(&Config::parse("config", text.as_bytes()).unwrap(), Some(&schema)),
        _ => of_ads(text, Arc::clone(&schema)),
    };
    parts.iter().flat_map(of).collect()
}

/// Codes and messages of what is found.
fn found(kind: &str, text: &str) -> Vec<(String, String)> {
    let found = match kind {
        "expression" => {
            let role = Role { condition: true, ..Role::default() };
            expression::lint(&LintContext::of(text.as_bytes(), Quoting::New, role))
        }
        // A part of a configuration, of which there may be others.
        "config" => match Config::parse("10-site.conf", text.as_bytes()) {
            Ok(config) => config::lint(&config),
            Err(error) => vec![Diagnostic::error(error.to_string(), classmate::Span::new(0, 0)).code("bad-value")],
        },
        "submit" => submit::lint(&Arc::from("submit"), text.as_bytes(), &LintVersions::default()),
        "ads" => of_ads(text, Arc::new(AdSchema::default())),
        "pool" => of_pool(text),
        other => panic!("unknown kind {other}"),
    };
    found.into_iter().map(|found| (found.code.to_owned(), found.message)).collect()
}

#[test]
fn planted_mistakes_are_found() {
    let (mut missed, mut all) = (Vec::new(), 0);
    for (heading, text) in cases(include_str!("data/lint/planted.txt")) {
        let found = found(heading[0], text);
        all += 1;
        if !found.iter().any(|(code, _)| code == heading[1]) {
            missed.push(format!("{heading:?}\n{text}\n  {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{} of {all} missed:\n{}", missed.len(), missed.join("\n\n"));
    assert!(all >= 150);
}

#[test]
fn near_misses_are_left_alone() {
    let (mut wrong, mut all) = (Vec::new(), 0);
    for (heading, text) in cases(include_str!("data/lint/clean.txt")) {
        let found = found(heading[0], text);
        all += 1;
        if !found.is_empty() {
            wrong.push(format!("{heading:?}\n{text}\n  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {all} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(all >= 150);
}
