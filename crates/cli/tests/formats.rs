//! Output for programs: `--format` means the same in every command, JSON follows the schemas in `docs/schemas`, and messages are
//! JSON where JSON is requested.
//!
//! A schema is the contract with the programs that read the output. A new member is added to it by hand; members and types that
//! are there never change without a new version.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its data has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Stands for a folder of a run's own, as tests run at the same time.
const FOLDER: &str = "FOLDER";

/// Commands with their schemas and the version of these.
const COMMANDS: &[(&str, &[&str])] = &[
    ("negotiate/1", &["negotiate", "examples/pool"]),
    ("negotiate/1", &["negotiate", "examples/groups", "--stats"]),
    ("negotiate/1", &["negotiate", "examples/slurm", "--policy", "slurm"]),
    ("negotiate/1", &["negotiate", "examples/dirac", "--policy", "dirac"]),
    ("negotiate-cycles/1", &["negotiate", "examples/pool", "--cycles", "3", "--run-time", "60"]),
    ("explain-job/1", &["explain", "examples/stuck", "--job", "1.0"]),
    ("explain-job/1", &["explain", "examples/groups", "--job", "3.11"]),
    ("explain-all/1", &["explain", "examples/groups", "--all"]),
    ("explain-slot/1", &["explain", "examples/stuck", "--slot", "slot1@m05.example.org"]),
    ("explain-submitter/1", &["explain", "examples/pool", "--submitter", "carol@pool.test"]),
    ("explain-group/1", &["explain", "examples/groups", "--group", "chemistry"]),
    ("whatif/1", &["whatif", "examples/groups", "--set", "GROUP_QUOTA_chemistry = 5"]),
    ("whatif/1", &["whatif", "examples/stuck", "--set-job", "RequestMemory > 8192", "RequestMemory = 8192"]),
    ("advise/1", &["advise", "examples/groups", "--goal", "chemistry >= 40% of pool"]),
    ("report/1", &["report", "examples/groups", "--output", "-"]),
    ("verify/1", &["verify", "examples/verify"]),
    ("quotas/1", &["quotas", "examples/groups"]),
    ("taskqueues/1", &["taskqueues", "examples/dirac", "--draws", "2"]),
    ("sprio/1", &["sprio", "examples/slurm"]),
    (
        "sprio-against/1",
        &["sprio", "examples/slurm-cluster", "--against", "examples/slurm-cluster/sprio.txt", "--now", "2026-11-25"],
    ),
    ("sshare/1", &["sshare", "examples/slurm", "-a"]),
    ("userprio/1", &["userprio", "examples/pool", "-allusers"]),
    ("autoclusters/1", &["autoclusters", "examples/pool"]),
    ("autoclusters-change/1", &["autoclusters", "examples/pool", "--set-slot", "Cpus > 0", "Start = TARGET.Foo =!= 1"]),
    ("match/1", &["match", "--job", "examples/pool/jobs.ads", "--slots", "examples/pool/slots.ads"]),
    ("match/1", &["match", "--job", "examples/pool/jobs.ads", "--slots", "examples/pool/slots.ads", "--pairs", "none"]),
    ("eval/1", &["eval", "1 + 1"]),
    ("functions/1", &["functions"]),
    ("ads/1", &["ads", "examples/pool/slots.ads", "--attributes", "Name,Cpus,NoSuch"]),
    ("config-dump/1", &["config", "dump", "examples/pool", "--changed"]),
    ("config-get/1", &["config", "get", "NEGOTIATOR_INTERVAL"]),
    ("config-check/1", &["config", "check", "crates/cli/tests/data/wrong.conf"]),
    ("lint/1", &["lint", "crates/cli/tests/data/lint.conf"]),
    ("policy/1", &["policy", "implies", "Memory > 1024", "Memory > 4096"]),
    ("policy/1", &["policy", "never", "Cpus > 4 && Cpus < 2"]),
    ("versions/1", &["versions", "crates/cli/tests/data/versions.ads", "--from", "23.0"]),
    ("versions-expression/1", &["versions", "Memory > 2G"]),
    ("test/1", &["test", "examples/policy/start.toml", "examples/policy/owner.toml", "--coverage"]),
    ("simulate/1", &["simulate", "--workload", "tests/data/workloads/small.swf"]),
    ("experiment/1", &["experiment", "examples/simulate/experiment.toml", "--output", FOLDER]),
    ("compare/1", &["compare", "tests/data/runs/condor", "tests/data/runs/slurm"]),
];

fn classmate(arguments: &[&str], more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let arguments = arguments.iter().map(|argument| if *argument == FOLDER { folder } else { argument });
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(arguments).args(more).current_dir(ROOT).env("TZ", "UTC").env("NO_COLOR", "1").output().unwrap()
}

fn text(arguments: &[&str], more: &[&str]) -> String {
    let output = classmate(arguments, more);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("unexpected argument") && !message.contains("panicked"), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(text: &str, arguments: &[&str]) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{text}"))
}

/// The name of a JSON type.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Checks a value against a schema: `type`, `const`, `enum`, `properties`, `required`, `additionalProperties`, `items`, `$ref` to
/// `$defs`.
pub(crate) fn check(schema: &Value, root: &Value, value: &Value, place: &str, wrong: &mut Vec<String>) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(name) => root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} is not defined")),
        None => schema,
    };
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let found = type_of(value);
    let fits = types.contains(&found) || found == "integer" && types.contains(&"number");
    if !types.is_empty() && !fits {
        wrong.push(format!("{place} is {found}, not {types:?}"));
        return;
    }
    if schema.get("const").is_some_and(|only| only != value) {
        wrong.push(format!("{place} is {value}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        wrong.push(format!("{place} is {value}, not one of {values:?}"));
    }
    match value {
        Value::Object(members) => {
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !members.contains_key(name) {
                    wrong.push(format!("{place} lacks `{name}`"));
                }
            }
            for (name, member) in members {
                let place = format!("{place}.{name}");
                // A program must ignore members that it does not know; the schema lists all that there are.
                match schema["properties"].get(name).or_else(|| schema.get("additionalProperties")) {
                    None if schema.get("type").is_some() => wrong.push(format!("{place} is not in the schema")),
                    Some(inner) => check(inner, root, member, &place, wrong),
                    None => {}
                }
            }
        }
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                if let Some(inner) = schema.get("items") {
                    check(inner, root, element, &format!("{place}[{at}]"), wrong);
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn schema(name: &str) -> Value {
    let path = Path::new(ROOT).join(format!("docs/schemas/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    json_of(&text, &[name])
}

#[test]
fn json_follows_the_schema_of_its_command() {
    for (expected, arguments) in COMMANDS {
        let value = json_of(&text(arguments, &["--format", "json"]), arguments);
        assert_eq!(value["schema"], *expected, "{arguments:?}");
        let (name, version) = expected.split_once('/').unwrap();
        let schema = schema(name);
        assert_eq!(schema["properties"]["schema"]["const"], format!("{name}/{version}"));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        let mut wrong = Vec::new();
        check(&schema, &schema, &value, "", &mut wrong);
        assert!(wrong.is_empty(), "{arguments:?}: {}", wrong.join("\n"));
    }
}

#[test]
fn every_schema_belongs_to_a_command() {
    let names: BTreeSet<&str> = COMMANDS.iter().map(|(name, _)| name.split('/').next().unwrap()).collect();
    for entry in std::fs::read_dir(Path::new(ROOT).join("docs/schemas")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            // Lines of `shadow` are checked where a pool can be set up.
            assert!(names.contains(name.as_str()) || ["message", "shadow"].contains(&&*name), "{name}");
        }
    }
}

#[test]
fn the_formats_have_the_same_rows() {
    for (_, arguments) in COMMANDS {
        let lines = text(arguments, &["--format", "jsonl"]);
        let rows: Vec<Value> = lines.lines().map(|line| json_of(line, arguments)).collect();
        let table = text(arguments, &["--format", "csv"]);
        let mut csv = csv(&table).into_iter();
        let headings = csv.next().unwrap_or_default();
        assert!(!rows.is_empty() || arguments[0] == "verify", "{arguments:?} has no rows");
        assert!(!headings.is_empty(), "{arguments:?}");
        assert_eq!(csv.len(), rows.len(), "{arguments:?}");
        assert!(headings.iter().all(|heading| !heading.is_empty()), "{arguments:?}: {headings:?}");
        for row in csv {
            assert_eq!(row.len(), headings.len(), "{arguments:?}: {row:?}");
        }
    }
}

/// Columns do not depend on the rows that a result has: all but those named after users, groups and resources are listed.
#[test]
fn the_columns_of_each_schema_are_listed() {
    let listed = include_str!("../src/cli/columns.txt");
    let of_schema = |name: &str| {
        let lines = listed.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        lines.flat_map(|line| line.split(' ')).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    for (name, arguments) in COMMANDS {
        if ["ads", "userprio", "sshare", "simulate"].contains(&arguments[0]) {
            continue;
        }
        let known = of_schema(name);
        let headings = csv(&text(arguments, &["--format", "csv"])).into_iter().next().unwrap();
        let is_named = |heading: &String| heading.starts_with("after.") || heading.starts_with("weighted.tres.");
        let new: Vec<_> = headings.iter().filter(|one| !known.contains(*one) && !is_named(one)).collect();
        assert!(new.is_empty(), "{name}: columns {new:?} are not in columns.txt");
    }
}

/// The fields of each line of comma-separated values.
fn csv(text: &str) -> Vec<Vec<String>> {
    let fields = |line: &str| {
        let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(std::mem::take(&mut field)),
                other => field.push(other),
            }
        }
        fields.push(field);
        fields
    };
    text.lines().map(fields).collect()
}

#[test]
fn a_table_is_text() {
    for (_, arguments) in COMMANDS {
        // Figures of time differ from run to run.
        if arguments.contains(&"--stats") {
            continue;
        }
        // These write something else by default.
        let plain = if ["ads", "report"].contains(&arguments[0]) { &["--format", "text"][..] } else { &[] };
        assert_eq!(text(arguments, &["--format", "table"]), text(arguments, plain), "{arguments:?}");
    }
}

/// The messages of a command, each a JSON object in a line.
fn messages(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().map(|line| json_of(line, &[])).collect()
}

#[test]
fn messages_are_json_where_json_is_requested() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.ads");
    std::fs::write(&bad, "Name = \"a\"\nCpus = (\n").unwrap();
    let bad = bad.to_str().unwrap();
    let schema = schema("message");
    for (arguments, status, expected) in [
        (&["eval", "1 +", "--format", "json"][..], 2, json!({ "file": "expression", "line": 1, "column": 4 })),
        (
            &["negotiate", "/nowhere", "--format=json"],
            1,
            json!({ "help": "to name single files, use --slots FILE and --jobs FILE" }),
        ),
        (&["quotas", "examples/stuck", "--format", "jsonl"], 2, json!({ "message": "no groups are configured" })),
        (
            &["negotiate", "examples/pool", "--format", "json", "--bogus"],
            2,
            json!({ "message": "unexpected argument '--bogus' found" }),
        ),
        (
            &["whatif", "--format", "json"],
            2,
            json!({ "message": "the following required arguments were not provided: <POOL>" }),
        ),
        (
            &["negotiate", "examples/pool", "--format", "json", "--semantic"],
            2,
            json!({ "help": "a similar argument exists: '--semantics'" }),
        ),
        (
            &["explain", "examples/pool", "--job", "99.0", "--format", "json"],
            2,
            json!({ "message": "there is no job `99.0`" }),
        ),
        (
            &["match", "--job", bad, "--slots", bad, "--format", "json"],
            1,
            json!({ "file": bad, "line": 2, "column": 9 }),
        ),
        (&["config", "dump", "crates/cli/tests/data/zero.conf", "--format", "json", "--match", "("], 2, json!({})),
    ] {
        let output = classmate(arguments, &[]);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        let messages = messages(&output);
        for message in &messages {
            let mut wrong = Vec::new();
            check(&schema, &schema, message, "", &mut wrong);
            assert!(wrong.is_empty(), "{arguments:?}: {}", wrong.join("\n"));
        }
        let is_there = |message: &Value| {
            expected.as_object().unwrap().iter().all(|(name, value)| message["error"].get(name) == Some(value))
        };
        assert!(messages.iter().any(is_there), "{arguments:?}: {messages:?}");
    }
    // For people they are drawn.
    let drawn = String::from_utf8(classmate(&["eval", "1 +"], &[]).stderr).unwrap();
    assert!(drawn.starts_with("error: ") && drawn.contains("--> expression:1:4"), "{drawn}");
}

/// The members of the JSON of a command and their types, as a draft of its schema: print with `--nocapture`, and judge each line.
#[test]
#[ignore = "prints drafts of schemas"]
#[expect(clippy::print_stdout, reason = "the output of this test is what it is for")]
fn drafts_of_schemas() {
    let mut drafts: BTreeMap<String, Value> = BTreeMap::new();
    for (name, arguments) in COMMANDS {
        let value = json_of(&text(arguments, &["--format", "json"]), arguments);
        let draft = drafts.entry((*name).to_owned()).or_insert(Value::Null);
        *draft = merged(draft.clone(), drafted(&value));
    }
    println!("{}", serde_json::to_string_pretty(&drafts).unwrap());
}

fn drafted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let properties: serde_json::Map<_, _> =
                members.iter().map(|(name, member)| (name.clone(), drafted(member))).collect();
            let required: Vec<&String> = members.keys().collect();
            json!({ "type": "object", "properties": properties, "required": required })
        }
        Value::Array(elements) => {
            let items = elements.iter().map(drafted).fold(Value::Null, merged);
            if items.is_null() { json!({ "type": "array" }) } else { json!({ "type": "array", "items": items }) }
        }
        other => json!({ "type": type_of(other) }),
    }
}

fn merged(one: Value, other: Value) -> Value {
    let (Value::Object(mut one), Value::Object(other)) = (one.clone(), other.clone()) else {
        return if one.is_null() { other } else { one };
    };
    let types = |value: &Value| match value {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let mut all = types(&one["type"]);
    all.extend(types(&other["type"]).into_iter().filter(|kind| !types(&one["type"]).contains(kind)));
    if all.contains(&json!("number")) {
        all.retain(|kind| kind != "integer");
    }
    all.sort_by_key(ToString::to_string);
    one.insert("type".to_owned(), if all.len() == 1 { all[0].clone() } else { Value::Array(all) });
    if let Some(items) = other.get("items") {
        let both = merged(one.get("items").cloned().unwrap_or(Value::Null), items.clone());
        one.insert("items".to_owned(), both);
    }
    if let Some(Value::Object(properties)) = other.get("properties") {
        let known = one.get("properties").cloned();
        let mut both = known.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, schema) in properties {
            let before = both.get(name).cloned().unwrap_or(Value::Null);
            both.insert(name.clone(), merged(before, schema.clone()));
        }
        let names =
            |value: Option<&Value>| -> Vec<Value> { value.and_then(Value::as_array).cloned().unwrap_or_default() };
        let required = match known {
            Some(_) => {
                let others = names(other.get("required"));
                names(one.get("required")).into_iter().filter(|name| others.contains(name)).collect()
            }
            None => names(other.get("required")),
        };
        one.insert("properties".to_owned(), Value::Object(both));
        one.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(one)
}

#[test]
fn the_message_that_input_was_skipped_has_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slots.ads");
    std::fs::write(&path, "Name = \"s\"\nRequirements = true\n\nName = (\n").unwrap();
    let jobs = "examples/stuck/jobs.ads";
    let output = classmate(&["match", "--job", jobs, "--slots", path.to_str().unwrap()], &["--format", "json"]);
    let message = String::from_utf8(output.stderr).unwrap();
    let last = json_of(message.lines().last().unwrap(), &["match"]);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(last, serde_json::json!({ "error": { "message": "some input was skipped", "status": 1 } }));
}

#[test]
fn force_color_turns_colors_on_and_off() {
    let colored = |value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        let command = command.args(["explain", "examples/stuck", "--job", "2.0"]).current_dir(ROOT);
        let output = command.env_remove("NO_COLOR").env("FORCE_COLOR", value).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert_eq!(["1", "0", "false", ""].map(colored), [true, false, false, false]);
}
