//! The upgrade check of ads, against what HTCondor's libraries were recorded to read in each series.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read as _;

use classmate::{EvalOptions, Mode, Semantics, Series};
use classmate_advice::internal::versions::upgrade::Upgrade;
use serde_json::Value;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/conformance/versions-ads.jsonl.gz");

fn series(of: &Value) -> Series {
    of.as_str().unwrap().parse::<Semantics>().unwrap().series()
}

fn differences(text: &[u8], mode: Mode, versions: [Semantics; 2]) -> Upgrade {
    let mut found = Upgrade::new(versions);
    found.add_ads("ads", text, versions, &EvalOptions { mode, ..EvalOptions::default() }).unwrap();
    found
}

/// Each recorded ad whose answers differ between two series is reported, with one attribute; each that is alike is not. So it is
/// behind an ad that both read, and the other way round.
#[test]
fn recorded_ads_are_reported_between_the_series_whose_answers_differ() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(RECORDS).unwrap()).read_to_string(&mut text).unwrap();
    let mut compared = 0;
    for case in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let mode = if case["mode"] == "strict" { Mode::Strict } else { Mode::HTCondor };
        let answers = case["answers"].as_array().unwrap();
        let input = case["input"].as_str().unwrap();
        let plain = match case["format"].as_str().unwrap() {
            "json" => "{\"b\": 1}\n",
            "xml" => "<classads>\n<c><a n=\"b\"><i>1</i></a></c>\n",
            _ => "[b = 1]\n",
        };
        let text = [plain, input, "\n", plain].concat();
        let ends: Vec<(usize, Series)> = answers
            .iter()
            .enumerate()
            .flat_map(|(at, answer)| [(at, series(&answer["from"])), (at, series(&answer["to"]))])
            .collect();
        for (one, first) in &ends {
            for (other, second) in &ends {
                let versions = [*first, *second].map(Semantics::of);
                let found = differences(text.as_bytes(), mode, versions).expressions;
                let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
                let expected: &[&str] = if one == other { &[] } else { &["a"] };
                assert_eq!(names, expected, "{input} in {first} and {second}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

/// 23.0.28 and 25.14.1 read the values beside them; what 25.14.1 refuses, 23.0.28 reads, and the other way round.
#[test]
fn the_text_of_an_attribute_of_json_and_xml_is_shown_with_both_readings() {
    let versions = ["23.0", "25.14"].map(|series| series.parse().unwrap());
    let shown = |text: &str| -> Vec<[Option<String>; 5]> {
        let found = differences(text.as_bytes(), Mode::HTCondor, versions).expressions.into_iter();
        let shown = found.map(|found| {
            let [first, second] = found.difference.readings;
            let (line, rules) = (found.line.map(|line| line.to_string()), found.difference.rule.to_owned());
            [line, Some(rules), Some(found.difference.text), first.value, second.value]
        });
        shown.collect()
    };
    let is = |line: Option<&str>, rule: &str, text: &str, first: Option<&str>, second: Option<&str>| {
        [line, Some(rule), Some(text), first, second].map(|text| text.map(str::to_owned))
    };
    let saturated = |line| is(line, "integer-range", "9223372036854775808", Some("9223372036854775807"), Some("0"));
    assert_eq!(shown("{\"A\": 9223372036854775808}\n"), [saturated(Some("1"))]);
    assert_eq!(shown("[\n{\n  \"A\": 9223372036854775808,\n  \"B\": 1\n}\n]\n"), [saturated(None)]);
    assert_eq!(
        shown("{\"B\": 1}\n{\"A\": 9223372036854775807, \"B\": \"9223372036854775808\"}\n"),
        Vec::<[Option<String>; 5]>::new()
    );
    assert_eq!(
        shown("<classads>\n<c>\n<a n=\"A\"><i>+5</i></a>\n</c>\n</classads>\n"),
        [is(None, "integer-range", "+5", Some("5"), Some("error"))]
    );
    // What follows an ad that is refused is compared with itself.
    let suffix = "{\"A\": \"\\/Expr(x > 10K)\\/\", \"x\": 20000}\n";
    assert_eq!(
        shown(&format!("{{\"x\": 1}}\n{suffix}{{\"x\": 2}}\n{suffix}")),
        [is(Some("2"), "size-suffix", "x > 10K", Some("true"), None)]
    );
    assert_eq!(
        shown("{\"A\": \"\\/Expr(\\\"a\\\" ?: !y)\\/\", \"l\": [1, 2], \"m\": [\"\\/Expr(!x)\\/\"]}"),
        [is(Some("1"), "elvis-precedence", "\"a\" ?: !y", Some("\"a\""), None)]
    );
    // The list of an ad that is to blame, and not the one before or behind it.
    assert_eq!(
        shown("{\"k\": [1, 2.5], \"l\": [1, \"\\/Expr(absTime(\\\"bad\\\"))\\/\"], \"m\": [\"\\/Expr(!x)\\/\"]}"),
        [is(Some("1"), "time-literal-bad", "{ 1,error }", Some("{ 1,error }"), None)]
    );
    let xml = "<classads><c><a n=\"k\"><l><i>1</i></l></a><a n=\"l\"><l><rt>bad</rt></l></a><a n=\"m\"><e>a &lt; b</e></a></c></classads>";
    assert_eq!(shown(xml), [is(Some("1"), "time-literal-bad", "{ error }", Some("{ error }"), None)]);
}
