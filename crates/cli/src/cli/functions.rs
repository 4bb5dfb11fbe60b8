//! `classmate functions [NAME]`

use std::io::Write;

use serde_json::json;

use crate::cli::{Failure, Form, TEXT_OR_JSON, print, words};
use crate::report::functions;
use classmate::Name;
use classmate::internal::builtin::documentation::Documentation;
use classmate::internal::builtin::{Function, all, find};

/// List the ClassAd functions, or describe one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate functions
  classmate functions substr
  classmate functions --format json | jq -r '.name'

Exit status: 0, or 2 if the function does not exist.")]
pub(super) struct FunctionsArguments {
    /// Function name, in any case
    name: Option<String>,
    /// Output format
    #[arg(long, value_parser = words(&FORMS), default_value = "text")]
    format: Form,
}

const FORMS: [(&str, &str, Form); 2] = [
    TEXT_OR_JSON[0],
    ("json", "JSON lines: `name`, `signature`, `least`, `most`, `pure`, `about`, `examples`", Form::Json),
];

pub(super) fn run(arguments: &FunctionsArguments) -> Result<(), Failure> {
    let json = arguments.format == Form::Json;
    let text = match &arguments.name {
        None if json => all().map(line).collect::<Vec<_>>().join("\n"),
        None => functions::list(usize::MAX),
        Some(name) => {
            let text = functions::describe(name).map_err(Failure::input)?;
            if json { find(Name::new(name)).map(line).unwrap_or_default() } else { text }
        }
    };
    print(None, |out| writeln!(out, "{text}"))
}

fn line(function: &Function) -> String {
    let Documentation { about, examples } = function.documentation();
    let examples: Vec<_> = examples.iter().map(|(call, value)| json!({ "call": call, "value": value })).collect();
    json!({
        "name": function.name,
        "signature": function.signature,
        "least": function.least,
        "most": function.most,
        "pure": function.pure,
        "about": about,
        "examples": examples,
    })
    .to_string()
}
