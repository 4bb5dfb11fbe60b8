//! `classmate functions [NAME]`

use std::borrow::Cow;
use std::io::Write;

use serde_json::{Value as Json, json};

use crate::cli::{Failure, FormatArguments, Reply, columns, print_result};
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
  classmate functions --format jsonl | head -3

Exit status: 0, or 2 if the function does not exist.")]
pub(super) struct FunctionsArguments {
    /// Function name, in any case
    name: Option<String>,
    #[command(flatten)]
    output: FormatArguments,
}

pub(super) fn run(arguments: &FunctionsArguments) -> Result<(), Failure> {
    let (text, found): (Cow<'_, str>, Vec<&Function>) = match &arguments.name {
        None => (functions::list().into(), all().collect()),
        Some(name) => {
            let text = functions::describe(name, columns()).map_err(Failure::input)?;
            (text.into(), find(Name::new(name.strip_suffix("()").unwrap_or(name))).into_iter().collect())
        }
    };
    let rows: Vec<Json> = found.into_iter().map(row).collect();
    let result = json!({ "functions": rows });
    let answer = Reply { schema: "functions/1", result: &result, rows: &rows };
    print_result(arguments.output.format, &answer, |out| writeln!(out, "{text}"))
}

fn row(function: &Function) -> Json {
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
}
