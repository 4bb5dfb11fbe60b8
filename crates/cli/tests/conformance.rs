//! The recorded answers of the reference, case by case, through the conformance door.
//!
//! All of them must be alike, but for those whose ids `QUIRKS.md` lists. `SHOW=1` shows each difference,
//! `AREAS=number,string` runs only these areas.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may panic and show why")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use classmate::internal::semantics::DOCUMENTED;
use classmate::{Semantics, Series};
use classmate_cli::conform::{Kind, answer, answer_in};
use serde_json::Value as Json;

pub(crate) fn records(file: &str) -> String {
    let path = format!("{}/tests/data/conformance/{file}", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// The ids of records that `QUIRKS.md` lists: there the answer differs on purpose.
fn quirks() -> BTreeSet<String> {
    let text = std::fs::read_to_string(format!("{}/QUIRKS.md", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))).unwrap();
    let is_id = |word: &&str| {
        let (area, number) = word.rsplit_once('-').unwrap_or_default();
        !area.is_empty() && number.len() == 4 && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    text.split('`').filter(is_id).map(str::to_owned).collect()
}

/// Runs the records of a file and returns the ids that differ, by area.
fn differences(file: &str, kind: Kind, columns: &[&str], areas: Option<&[&str]>) -> BTreeMap<String, Vec<String>> {
    let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ran = 0;
    let quirks = quirks();
    for line in records(file).lines() {
        let case: Json = serde_json::from_str(
            &line.replace(": Infinity}", ": \"\u{10fd00}inf\"}").replace(": NaN}", ": \"\u{10fd00}NaN\"}"),
        )
        .unwrap();
        let area = ["area", "op", "format"].iter().find_map(|key| case[*key].as_str()).unwrap();
        if areas.is_some_and(|areas| !areas.contains(&area)) {
            continue;
        }
        ran += 1;
        let answer = answer(kind, line.as_bytes());
        let id = case["id"].as_str().unwrap();
        if quirks.contains(id) {
            let differs = columns.iter().any(|column| answer.get(column) != case.get(column));
            assert!(differs, "QUIRKS.md lists {id}, which has the recorded answer");
            continue;
        }
        for column in columns {
            if answer.get(column) != case.get(column) {
                if std::env::var_os("SHOW").is_some() {
                    eprintln!(
                        "{id} {} [{}] my {} target {}\n   expected {}\n   found    {}",
                        case["expr"],
                        case["mode"],
                        case["my"],
                        case["target"],
                        case.get(column).unwrap_or(&Json::Null),
                        answer.get(column).unwrap_or(&answer)
                    );
                }
                differences.entry(area.to_owned()).or_default().push(id.to_owned());
                break;
            }
        }
    }
    assert!(ran > 0, "no case ran");
    differences
}

#[test]
fn every_recorded_expression_has_the_recorded_answer() {
    let areas = std::env::var("AREAS").ok();
    let areas: Option<Vec<&str>> = areas.as_ref().map(|areas| areas.split(',').collect());
    let differences = differences(
        "classad-eval.jsonl.gz",
        Kind::Eval,
        &["parse", "full_parse", "unparsed", "value"],
        areas.as_deref(),
    );
    let counts: BTreeMap<&String, usize> = differences.iter().map(|(area, ids)| (area, ids.len())).collect();
    assert!(differences.is_empty(), "{counts:?}");
}

#[test]
fn every_recorded_operation_has_the_recorded_outcome() {
    let columns = [
        "kind",
        "text",
        "refs",
        "ok",
        "same",
        "symmetricMatch",
        "leftMatchesRight",
        "rightMatchesLeft",
        "leftRankValue",
        "rightRankValue",
        "matches",
        "symmetric",
        "result",
        "quoted",
    ];
    let differences = differences("classad-util.jsonl.gz", Kind::Util, &columns, None);
    assert!(differences.is_empty(), "{differences:?}");
}

#[test]
fn every_recorded_ad_reads_and_prints_as_recorded() {
    let differences = differences("classad-ads.jsonl.gz", Kind::Ads, &["ads", "ok"], None);
    assert!(differences.is_empty(), "{differences:?}");
}

/// The recorded answer of a version; none where the library crashed or hung.
fn answer_of(case: &Json, series: Series) -> Option<&Json> {
    let limit = |answer: &Json, key: &str| answer[key].as_str().unwrap().parse::<Semantics>().unwrap().series();
    let mut answers = case["answers"].as_array().unwrap().iter();
    answers.find(|answer| limit(answer, "from") <= series && series <= limit(answer, "to"))
}

#[test]
fn every_version_gives_its_recorded_answers() {
    let (mut asked, mut wrong) = (0, Vec::new());
    for (file, kind) in [("versions-eval.jsonl.gz", Kind::Eval), ("versions-ads.jsonl.gz", Kind::Ads)] {
        for line in records(file).lines() {
            let case: Json = serde_json::from_str(line).unwrap();
            for series in DOCUMENTED {
                let found = answer_in(Semantics::of(series), kind, line.as_bytes());
                let Some(expected) = answer_of(&case, series) else { continue };
                asked += 1;
                let is_alike = match kind {
                    Kind::Ads => alike(&expected["ads"], &found["ads"], 0.0),
                    _ => ["parse", "full_parse", "unparsed", "value"]
                        .iter()
                        .all(|key| expected.get(key) == found.get(key)),
                };
                if !is_alike {
                    if std::env::var_os("SHOW").is_some() {
                        eprintln!("{series} {line}\n   expected {expected}\n   found    {found}");
                    }
                    wrong.push((case["id"].as_str().unwrap().to_owned(), series.to_string()));
                }
            }
        }
    }
    assert_eq!(wrong, []);
    assert_eq!(asked, 48_060);
}

/// Whether two outputs are alike: numbers within a tolerance, absolute below 1 and relative above; keys that are not
/// expected are not looked at.
pub(crate) fn alike(expected: &Json, found: &Json, tolerance: f64) -> bool {
    match (expected, found) {
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
        }
        (Json::Object(a), Json::Object(b)) => {
            a.iter().all(|(key, value)| b.get(key).is_some_and(|found| alike(value, found, tolerance)))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b, tolerance)),
        (a, b) => a == b,
    }
}

/// Runs records of a policy, `op`, `input` and `expect`; returns how many there are and which differ.
fn policy_differences(file: &str, kind: Kind) -> (usize, Vec<String>) {
    let mut wrong = Vec::new();
    let records = records(file);
    for line in records.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let answer = answer(kind, line.as_bytes());
        let tolerance = case.get("tol").map_or(1e-9, |tolerance| tolerance.as_f64().unwrap());
        if !alike(&case["expect"], &answer["output"], tolerance) {
            if std::env::var_os("SHOW").is_some() {
                eprintln!("{}\n   found    {answer}", line.trim());
            }
            wrong.push(format!("{} {}", case["id"], case["op"]));
        }
    }
    (records.lines().count(), wrong)
}

#[test]
fn every_recorded_computation_of_dirac_has_the_recorded_output() {
    assert_eq!(policy_differences("dirac-shares.jsonl.gz", Kind::Dirac), (112, vec![]));
}
