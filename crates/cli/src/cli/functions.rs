//! `classmate functions [NAME]`

use std::io::Write;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::{Failure, written};
use crate::report::functions;
use classmate::internal::builtin::{Function, all, find};
use classmate::internal::name::Name;

/// List the ClassAd functions, or describe one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate functions
  classmate functions substr
  classmate functions --format json | jq -r '.name'

Exit status: 0, or 2 if the function does not exist.")]
pub(super) struct Arguments {
    /// Function name, in any case
    name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Text
    Text,
    /// JSON lines: `name`, `signature`, `least`, `most`, `pure`, `about`, `examples`
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = match (&arguments.name, arguments.format) {
        (None, Form::Text) => functions::list(usize::MAX),
        (Some(name), Form::Text) => functions::describe(name).map_err(Failure::input)?,
        (None, Form::Json) => all().map(line).collect::<Vec<_>>().join("\n"),
        (Some(name), Form::Json) => {
            functions::describe(name).map_err(Failure::input)?;
            find(Name::new(name)).map(line).unwrap_or_default()
        }
    };
    written(writeln!(std::io::stdout().lock(), "{text}"))
}

fn line(function: &Function) -> String {
    let examples: Vec<_> =
        function.examples.iter().map(|(call, value)| json!({ "call": call, "value": value })).collect();
    json!({
        "name": function.name,
        "signature": function.signature,
        "least": function.least,
        "most": function.most,
        "pure": function.pure,
        "about": function.about,
        "examples": examples,
    })
    .to_string()
}
