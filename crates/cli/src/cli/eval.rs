//! `classmate eval EXPR`

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::failure::{Message, MessageBody};
use crate::cli::input::{self, Notes};
use crate::cli::output::show_message;
use crate::cli::{
    Failure, Form, FormatArguments, Reply, Streams, World, complain, line_output, parsed_with, print, print_result,
};
use crate::report::escape::own;
use crate::report::versions::not_reproduced;
use crate::report::{self, Color, Origin};
use classmate::internal::builtin::check::check;
use classmate::internal::builtin::near::closest;
use classmate::internal::eval::explain::explain;
use classmate::internal::span::Position;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, Expr, ParseOptions, Scope, Value};
use classmate_advice::internal::versions::defects::defects;

/// Evaluate an expression and print its value.
///
/// The expression can refer to the attributes of MY, and to those of TARGET as `TARGET.name`. Elements of lists and ads
/// are printed unevaluated.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate eval '2 + 3 * 4'
  classmate eval 'RequestMemory > 1024 && isUndefined(RequestGPUs)' --my examples/pool/jobs.ads
  classmate eval MY.Requirements --my examples/pool/jobs.ads --target examples/pool/slots.ads
  classmate eval --explain 'RequestMemry > 1024' --my examples/pool/jobs.ads
  classmate eval --now 2026-07-05T12:00:00Z 'formatTime(time(), \"%A\")'

Exit status: 0 if there is a value (UNDEFINED and ERROR are values), 1 if the evaluation reached a limit, 2 if the expression does not parse.")]
pub(super) struct EvalArguments {
    /// The expression, in new syntax
    #[arg(allow_hyphen_values = true)]
    expression: OsString,
    /// The MY ad: the first ad of this file, in any format, or the first job of a submit file (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    my: Option<PathBuf>,
    /// Position of the MY ad in its file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "my", value_parser = clap::value_parser!(u64).range(1..))]
    my_at: u64,
    /// The TARGET ad: the first ad of this file
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    /// Position of the TARGET ad in its file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "target", value_parser = clap::value_parser!(u64).range(1..))]
    target_at: u64,
    #[command(flatten)]
    output: FormatArguments,
    /// Explain on standard error why the value is UNDEFINED or ERROR, and warn about likely mistakes
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    world: World,
}

pub(super) fn run(arguments: &EvalArguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let source = arguments.expression.as_encoded_bytes();
    let options = ParseOptions { places: true, ..settings.parse_options() };
    if let Some(option) = option_meant(source) {
        let expression = report::printable(source);
        complain(&format!("warning: `{expression}` is read as the expression; did you mean the option `{option}`?"));
    }
    let expr = parsed_with(source, "expression", &options, streams.err)?;
    let mut notes = Notes::default();
    let mut side = |path: &Option<PathBuf>, at: u64| {
        path.as_ref().map(|path| input::ad(path, at, &settings, &mut notes)).transpose()
    };
    let my = side(&arguments.my, arguments.my_at)?.unwrap_or_else(ClassAd::new);
    let target = side(&arguments.target, arguments.target_at)?;
    notes.show(streams.err);
    let scope = Scope::new(&my, &settings);
    let scope = target.as_ref().map_or(scope, |target| scope.with_target(target));
    let value = scope.eval(&expr);
    for defect in defects(&expr, &my, target.as_ref(), &settings) {
        complain(&format!("note: {}", not_reproduced(&defect, settings.semantics.alone())));
    }
    if arguments.explain {
        for cause in explain(scope, &expr) {
            let help = cause.help("MY", "TARGET").map_or_else(String::new, |help| format!("\n  = help: {help}"));
            complain(&format!("note: {cause}{help}"));
        }
        warn(&expr, source, "expression", streams.err);
    } else if !matches!(value, Ok(Value::Bool(_) | Value::Int(_) | Value::Real(_))) {
        // The value may come from a misspelled function.
        warn(&expr, source, "expression", streams.err);
    }
    match value {
        Ok(value) => show(&value, arguments.output.format),
        Err(failed) => {
            show(&Value::Error, arguments.output.format)?;
            Err(Failure::new(format!("evaluation stopped: {failed}")))
        }
    }
}

/// The option whose misspelling was probably read as the expression.
fn option_meant(expression: &[u8]) -> Option<&'static str> {
    let known = ["--my", "--my-at", "--target", "--target-at", "--format", "--explain", "--strict", "--now", "--seed"];
    expression.starts_with(b"--").then(|| closest(expression, known)).flatten()
}

/// Warns of likely mistakes in an expression.
pub(super) fn warn(expr: &Expr, source: &[u8], name: &str, color: Color) {
    for finding in check(expr, source) {
        let place = Position::of(source, finding.span.start as usize);
        let body = MessageBody::at(&finding, name, place.line, place.column);
        let drawn = report::render_diagnostic(&finding, source, &Origin::whole(name), color);
        show_message(&Message::Warning(body), &own(&drawn));
    }
}

fn show(value: &Value, form: Form) -> Result<(), Failure> {
    let mut line = value.to_text(Style::New);
    if form == Form::Text {
        line.push(b'\n');
        return print(line_output(), |out| out.write_all(&line));
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    let shown = json!({ "type": value.type_of().as_str(), "text": text });
    print_result(form, &Reply { schema: "eval/1", result: &shown, rows: &[&shown] }, |_| Ok(()))
}
