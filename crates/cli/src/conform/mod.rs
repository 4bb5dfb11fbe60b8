//! The batch door for conformance cases: JSON lines in, JSON lines out.
//!
//! Answers come through the same code that users run. What a case looks like is described in
//! `docs/conform.md`.

use std::sync::{Arc, LazyLock};

use serde_json::{Value as Json, json};

mod ads;
mod config;
mod dirac;
mod eval;
mod field;
mod quotas;
mod slurm;
mod util;

use classmate::internal::builtin::user_map::{UserMap, UserMaps};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::time::truncate_to_32;
use classmate::{ClassAd, EvalOptions, List, Mode, ParseOptions, Semantics, Value};

/// The kind of the cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Parse, print and evaluate expressions
    Eval,
    /// Read ads in one format and print them in all formats
    Ads,
    /// Partial evaluation, references, equality, matching and changes of ads
    Util,
    /// Read configuration files and look up variables
    Config,
    /// Group quotas and limits, with matches that are only counted
    Quotas,
    /// DIRAC's task queues, shares, corrections, matching and draws
    Dirac,
    /// Slurm's files, usage, fair share, priority factors and listings
    Slurm,
}

/// Answers one case, given as a line of JSON; a malformed line is answered with `malformed`.
pub fn answer(kind: Kind, line: &[u8]) -> Json {
    answer_in(Semantics::default(), kind, line)
}

/// As [`answer`], in a version of the language; only expressions and ads depend on it.
pub fn answer_in(semantics: Semantics, kind: Kind, line: &[u8]) -> Json {
    let Ok(line) = std::str::from_utf8(line) else {
        return json!({ "id": null, "malformed": "the line is not UTF-8" });
    };
    let case: Json = match serde_json::from_str(line).or_else(|_| serde_json::from_str(&quoted_numbers(line))) {
        Ok(case) => case,
        Err(error) => return json!({ "id": null, "malformed": error.to_string() }),
    };
    let id = case.get("id").cloned().unwrap_or(Json::Null);
    let answers = match kind {
        Kind::Eval => eval::answers(&case, semantics),
        Kind::Ads => ads::answers(&case, semantics),
        Kind::Util => util::answers(&case, semantics),
        Kind::Config => config::answers(&case, semantics),
        Kind::Quotas => quotas::answers(&case),
        Kind::Dirac => dirac::answers(&case),
        Kind::Slurm => slurm::answers(&case),
    };
    let mut line = json!({ "id": id });
    let answers = answers.unwrap_or_else(|reason| json!({ "malformed": reason }));
    if let (Json::Object(line), Json::Object(answers)) = (&mut line, answers) {
        line.extend(answers);
    }
    line
}

/// The text of an answer: ASCII, with `\uXXXX` for the rest.
pub fn ascii(answer: &Json) -> String {
    let mut line = String::new();
    let plain = answer.to_string();
    let plain = plain.replace("\"\u{10fd00}inf\"", "Infinity").replace("\"\u{10fd00}-inf\"", "-Infinity");
    for character in plain.replace("\"\u{10fd00}NaN\"", "NaN").chars() {
        match u32::from(character) {
            0..0x7f => line.push(character),
            // Bytes that are not UTF-8 travel as characters of a private range, see `text`.
            byte @ 0x0010_fe80..=0x0010_feff => escape(&mut line, 0xdc00 | (byte & 0xff) as u16),
            _ => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    escape(&mut line, *unit);
                }
            }
        }
    }
    line
}

/// Writes `\uXXXX`.
fn escape(line: &mut String, unit: u16) {
    line.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        line.extend(char::from_digit(u32::from(unit >> shift & 15), 16));
    }
}

/// The records hold `Infinity` and `NaN`, which JSON does not know: as strings they are read.
fn quoted_numbers(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    for (at, part) in split_strings(line).into_iter().enumerate() {
        if at % 2 == 0 {
            let part = part.replace("-Infinity", "\"-inf\"").replace("Infinity", "\"inf\"").replace("NaN", "\"nan\"");
            out.push_str(&part);
        } else {
            out.push_str(&stray_bytes(part));
        }
    }
    out
}

/// A lone `\udcXX` represents a byte that is not UTF-8: written as a character of the private range that [`bytes`]
/// converts back.
fn stray_bytes(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find("\\udc") {
        let paired = at >= 6 && rest.is_char_boundary(at - 6) && rest[at - 6..at].starts_with("\\ud");
        let byte = rest.get(at + 4..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let stray = byte.filter(|byte| *byte >= 0x80 && !paired).and_then(|byte| char::from_u32(STRAY + byte));
        let end = if stray.is_some() { at + 6 } else { at + 4 };
        out.push_str(&rest[..at]);
        match stray {
            Some(character) => out.push(character),
            None => out.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Bytes that are not UTF-8 travel through JSON as characters of a private range: this, plus the byte.
const STRAY: u32 = 0x0010_fe00;

/// The bytes of a string in a case.
fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u32::from(character) {
            byte @ 0x0010_fe80..=0x0010_feff => out.push(byte as u8),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// A line split before and after each of its strings.
fn split_strings(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut inside, mut escaped) = (0, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => {
                let cut = if inside { at + 1 } else { at };
                parts.push(&line[start..cut]);
                start = cut;
                inside = !inside;
            }
            _ => {}
        }
    }
    parts.push(&line[start..]);
    parts
}

/// Bytes as JSON text; bytes that are not UTF-8 become `\udcXX` when written by [`ascii`].
fn text(bytes: &[u8]) -> Json {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(STRAY + u32::from(*byte))));
    }
    Json::String(out)
}

fn input(case: &Json, key: &str) -> Result<Vec<u8>, String> {
    match case.get(key) {
        Some(Json::String(text)) => Ok(bytes(text)),
        Some(_) => Err(format!("`{key}` must be a string")),
        None => Err(format!("`{key}` is missing")),
    }
}

fn optional(case: &Json, key: &str) -> Result<Option<Vec<u8>>, String> {
    match case.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(_) => input(case, key).map(Some),
    }
}

/// The value of an input that is one of some words; that of the first if it is missing.
fn choice<T: Copy>(case: &Json, key: &str, words: &[(&str, T)]) -> Result<T, String> {
    meaning(key, optional(case, key)?.as_deref(), words)
}

/// As [`choice`], where an input that is not a string counts as missing.
fn lenient_choice<T: Copy>(case: &Json, key: &str, words: &[(&str, T)]) -> Result<T, String> {
    meaning(key, case.get(key).and_then(Json::as_str).map(str::as_bytes), words)
}

fn meaning<T: Copy>(key: &str, word: Option<&[u8]>, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(known, _)| word.is_none_or(|word| word == known.as_bytes()));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
        let known = [known[..known.len() - 1].join(", "), known[known.len() - 1].clone()].join(" or ");
        format!("`{key}` must be {known}, found `{}`", String::from_utf8_lossy(word.unwrap_or_default()))
    })
}

fn settings(case: &Json) -> Result<EvalOptions, String> {
    let mode = choice(case, "mode", &[("htcondor", Mode::HTCondor), ("strict", Mode::Strict)])?;
    Ok(EvalOptions { mode, now: NOW, maps: Arc::clone(&MAPS), ..EvalOptions::default() })
}

/// The clock of all cases: 2025-01-01T00:00:00Z.
const NOW: i64 = 1_735_689_600;

/// The maps of all cases.
static MAPS: LazyLock<Arc<UserMaps>> = LazyLock::new(|| {
    let mut maps = UserMaps::default();
    maps.insert(b"groups", UserMap::parse(b"* alice physics,chem"));
    maps.insert(b"re", UserMap::parse(b"* /^(.*)@cs[.]example$/i \\1"));
    Arc::new(maps)
});

fn ad(source: &[u8], key: &str, options: &ParseOptions) -> Result<ClassAd, String> {
    ClassAd::parse_with(source, options).map_err(|error| format!("`{key}` is not an ad: {error}"))
}

/// A value as the records show it; `None` for an evaluation that failed.
fn describe(value: Option<&Value>) -> Json {
    let Some(value) = value else {
        return json!({ "type": "error", "text": "error", "failed": true });
    };
    let mut shown = json!({ "type": value.type_of().as_str(), "text": text(&recorded(value).to_text(Style::New)) });
    // The records show whole seconds, and the exact number beside them.
    if let Value::RelTime(seconds) = value {
        shown["seconds"] = number(*seconds);
    }
    shown
}

/// A value as the records print it: durations are whole seconds there, in lists too.
fn recorded(value: &Value) -> Value {
    match value {
        Value::RelTime(seconds) => Value::RelTime(f64::from(truncate_to_32(*seconds))),
        Value::List(list) => match list.values() {
            Some(values) => Value::List(List::of(values.iter().map(recorded).collect())),
            None => value.clone(),
        },
        other => other.clone(),
    }
}

fn number(value: f64) -> Json {
    // JSON has no such numbers, the records do: a mark that `ascii` knows.
    serde_json::Number::from_f64(value).map_or_else(|| Json::String(format!("\u{10fd00}{value}")), Json::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_behind_a_conditional_is_accepted_as_in_the_records() {
        let parse = |text: &str| answer(Kind::Eval, json!({ "expr": text }).to_string().as_bytes())["parse"].clone();
        assert_eq!(parse("true ? 1 : 2;"), Json::Bool(true));
        assert_eq!(parse("true ? 1 : 2; b = 3"), Json::Bool(false));
        assert_eq!(parse("true ? 1 : 2 junk"), Json::Bool(false));
        assert_eq!(parse("1;"), Json::Bool(false));
    }
}
