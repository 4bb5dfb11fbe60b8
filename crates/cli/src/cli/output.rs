//! Standard output and standard error of a command: formats, colors, folding.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::cli::failure::Message;
use crate::cli::{Failure, words};
use crate::report::Color;
use crate::report::escape::{self, escaped};
use crate::report::fold::Folded;
use classmate_config::internal::config::disk::io_reason;

/// A format of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Text and tables for people.
    Text,
    /// One JSON object with the whole result.
    Json,
    /// The rows of the result, a JSON object in each line.
    JsonLines,
    /// The rows of the result as comma-separated values.
    Csv,
    Html,
    Sarif,
}

/// The formats of all commands.
pub(super) const FORMATS: [(&str, &str, Form); 4] = [
    ("text", "Text and tables [alias: table]", Form::Text),
    ("json", "One JSON object with the full result", Form::Json),
    ("jsonl", "One JSON object per row", Form::JsonLines),
    ("csv", "One line per row, after a line of headings", Form::Csv),
];

/// `--format`, which means the same in every command.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct FormatArguments {
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMATS), default_value = "text")]
    pub(crate) format: Form,
}

/// Colors of the output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    pub(crate) out: Color,
    pub(crate) err: Color,
}

/// True if messages are JSON objects, one in each line.
static JSON_MESSAGES: OnceLock<bool> = OnceLock::new();

/// Decides the form of messages by the arguments of the command, before they are parsed: mistakes in them are messages too.
pub(super) fn choose_messages(arguments: &[String]) {
    let is_json = |format: &str| matches!(format, "json" | "jsonl" | "sarif");
    let given = arguments.iter().enumerate().any(|(at, argument)| match argument.strip_prefix("--format") {
        Some("") => arguments.get(at + 1).is_some_and(|format| is_json(format)),
        Some(rest) => rest.strip_prefix('=').is_some_and(is_json),
        None => false,
    });
    let _ = JSON_MESSAGES.set(given);
}

/// Tests whether messages are JSON objects.
pub(super) fn messages_are_json() -> bool {
    JSON_MESSAGES.get() == Some(&true)
}

/// Writes a message to standard error; failures to write are ignored. `drawn` is its text for people.
pub(super) fn show_message(message: &Message, drawn: &str) {
    let _ = if messages_are_json() {
        serde_json::to_writer(JsonText(io::stderr()), message)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(io::stderr()))
    } else {
        let mut out = Folded::but_sources(io::stderr(), columns_of(&io::stderr()));
        writeln!(out, "{drawn}").and_then(|()| out.flush())
    };
}

/// Writes a message to standard error that begins with its severity.
pub(crate) fn complain(message: &str) {
    show_message(&Message::of_text(message), message);
}

/// Buffered standard output.
pub(crate) type Out = Folded<BufWriter<StdoutLock<'static>>>;

fn standard_output() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Standard output for text, folded to the width of the terminal.
pub(crate) fn text_output() -> Out {
    Folded::new(standard_output(), columns())
}

/// Standard output for excerpts of sources, whose lines stay whole.
pub(crate) fn source_output() -> Out {
    Folded::but_sources(standard_output(), columns())
}

/// Standard output for text of which a line stays a line.
pub(crate) fn line_output() -> Out {
    Folded::new(standard_output(), None)
}

/// Standard output for formats for programs, byte for byte.
pub(crate) fn raw_output() -> Out {
    Folded::raw(standard_output())
}

/// Writes to an output and flushes it.
pub(crate) fn print(mut out: Out, write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), Failure> {
    written(write(&mut out).and_then(|()| out.flush()))
}

/// A result for programs: the name and version of its schema, the result, and its rows, which may be made as they are written.
pub(crate) struct Reply<'a, R, I> {
    /// The file `docs/schemas/NAME.json` and its version, `NAME/1`.
    pub(crate) schema: &'static str,
    pub(crate) result: &'a R,
    pub(crate) rows: I,
}

/// A result with its schema.
#[derive(Serialize)]
struct Tagged<'a, R> {
    schema: &'static str,
    #[serde(flatten)]
    result: &'a R,
}

/// Prints a result in a format for programs, or as text.
pub(crate) fn print_result<R: Serialize, I: IntoIterator<Item: Serialize> + Clone>(
    form: Form,
    answer: &Reply<'_, R, I>,
    text: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), Failure> {
    match form {
        Form::Json => {
            print(raw_output(), |out| write_json(out, &Tagged { schema: answer.schema, result: answer.result }))
        }
        Form::JsonLines => print(raw_output(), |out| {
            answer.rows.clone().into_iter().try_for_each(|row| {
                serde_json::to_writer(JsonText(&mut *out), &row)?;
                writeln!(out)
            })
        }),
        Form::Csv => print(raw_output(), |out| write_csv(out, answer.schema, &answer.rows)),
        _ => print(text_output(), text),
    }
}

/// Writes a value as indented JSON.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(JsonText(&mut *out), value)?;
    writeln!(out)
}

/// JSON on its way out: the control characters that JSON permits are escaped as well. They occur only in strings.
pub(super) struct JsonText<W>(pub(super) W);

impl<W: Write> Write for JsonText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_hidden =
            |character: char| escape::is_hidden(character) && (character == '\u{7f}' || !character.is_ascii());
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains(is_hidden) => {
                for character in text.chars() {
                    if is_hidden(character) {
                        for unit in character.encode_utf16(&mut [0; 2]) {
                            write!(self.0, "\\u{unit:04x}")?;
                        }
                    } else {
                        write!(self.0, "{character}")?;
                    }
                }
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The columns of the rows of each schema.
const COLUMNS: &str = include_str!("columns.txt");

/// The columns of a schema; of those of two kinds of rows, the ones that a row has.
fn listed_columns(schema: &str, row: &[(String, String)]) -> Vec<&'static str> {
    let lines = COLUMNS.lines().filter_map(|line| line.strip_prefix(schema)?.strip_prefix(' '));
    let kinds: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
    let fits = |columns: &&Vec<&str>| row.iter().all(|(name, _)| columns.contains(&&**name));
    kinds.iter().find(fits).or(kinds.first()).cloned().unwrap_or_default()
}

/// Writes rows as comma-separated values: objects in them become columns of their own (`slots.considered`), lists one text.
/// The columns of a schema are there whatever the rows have, so that programs find them in a result without rows as well.
fn write_csv<I: IntoIterator<Item: Serialize> + Clone>(out: &mut impl Write, schema: &str, rows: &I) -> io::Result<()> {
    let first = rows.clone().into_iter().next().map(|row| cells(&row)).transpose()?.unwrap_or_default();
    let listed = listed_columns(schema, &first);
    // An object that is absent is no column beside those of its members.
    let is_absent = |name: &str, text: &str| {
        let is_member = |column: &&str| column.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        text.is_empty() && listed.iter().any(is_member)
    };
    let mut headings: indexmap::IndexSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    for row in rows.clone() {
        for (name, text) in cells(&row)? {
            if !headings.contains(&name) && !is_absent(&name, &text) {
                headings.insert(name);
            }
        }
    }
    if headings.is_empty() {
        return Ok(());
    }
    csv_line(out, headings.iter().map(String::as_str))?;
    for row in rows.clone() {
        let cells: std::collections::HashMap<String, String> = cells(&row)?.into_iter().collect();
        csv_line(out, headings.iter().map(|name| cells.get(name).map_or("", String::as_str)))?;
    }
    Ok(())
}

/// The cells of a row, with their headings.
fn cells(row: &impl Serialize) -> io::Result<Vec<(String, String)>> {
    fn add(cells: &mut Vec<(String, String)>, name: &str, value: &Json) {
        let inside = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
        let text = match value {
            Json::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(key, value)| add(cells, &inside(key), value));
                return;
            }
            Json::Null | Json::Object(_) => String::new(),
            Json::String(text) => text.clone(),
            Json::Array(elements) if elements.iter().all(|one| !one.is_array() && !one.is_object()) => {
                let texts = elements.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
                texts.collect::<Vec<_>>().join(";")
            }
            other => other.to_string(),
        };
        cells.push((if name.is_empty() { "value".to_owned() } else { name.to_owned() }, text));
    }
    let mut found = Vec::new();
    add(&mut found, "", &serde_json::to_value(row)?);
    Ok(found)
}

pub(super) fn csv_line<'c>(out: &mut impl Write, cells: impl Iterator<Item = &'c str>) -> io::Result<()> {
    let quoted = |cell: &str| {
        let cell = escaped(cell);
        if cell.contains([',', '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.into_owned() }
    };
    writeln!(out, "{}", cells.map(quoted).collect::<Vec<_>>().join(","))
}

/// An object of the fields of a value, after some others.
pub(crate) fn object(first: &[(&str, Json)], value: &impl Serialize) -> Json {
    let mut members: Map<String, Json> =
        first.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    if let Ok(Json::Object(more)) = serde_json::to_value(value) {
        members.extend(more);
    }
    Json::Object(members)
}

/// The width of a terminal that does not report one.
const USUAL_WIDTH: usize = 80;

/// The width of the terminal, or `COLUMNS`; none if standard output is not a terminal.
pub(crate) fn columns() -> Option<usize> {
    columns_of(&io::stdout())
}

/// The columns that the environment asks for; 0 asks for none.
pub(super) fn asked_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

fn columns_of(stream: &impl IsTerminal) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let asked = asked_columns();
    let width = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    Some(asked.or_else(width).unwrap_or(USUAL_WIDTH))
}

/// Writing to a pipe that was closed, as by `head`, ends the command quietly.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::new(format!("cannot write the output: {}", io_reason(&error)))),
    }
}

/// Writes a file through a buffer; `wrap` may count the bytes.
pub(super) fn write_file<W: Write>(
    path: &Path,
    wrap: impl FnOnce(File) -> W,
    write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, wrap(file));
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| Failure::writing(path.display(), &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn csv(schema: &str, rows: &[Json]) -> String {
        let mut out = Vec::new();
        write_csv(&mut out, schema, &rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_become_lines_under_the_headings_of_all() {
        let rows = [
            json!({ "job": "1.0", "slots": { "left": 2, "of": null }, "tags": ["a", "b"] }),
            json!({ "job": "a,\"b\"\u{1b}", "why": true }),
        ];
        assert_eq!(csv("", &rows), "job,slots.left,slots.of,tags,why\n1.0,2,,a;b,\n\"a,\"\"b\"\"\\x1b\",,,,true\n");
        assert_eq!(csv("", &[]), "");
        assert_eq!(csv("", &[json!("x")]), "value\nx\n");
    }

    #[test]
    fn the_columns_of_a_schema_are_there_without_rows_and_without_members() {
        assert_eq!(csv("whatif/1", &[]), "kind,name,before,after\n");
        assert_eq!(csv("match/1", &[]), "job,slot,job_accepts,slot_accepts,match,rank\n");
        let counts = json!({ "job": "1.0", "slots": 3, "matching": 2 });
        assert_eq!(csv("match/1", &[counts]), "job,slots,accepted_by_job,accepting_job,matching\n1.0,3,,,2\n");
        let proof =
            json!({ "relation": "never", "first": "Cpus < 2", "second": null, "example": null, "more": { "a": 1 } });
        assert_eq!(
            csv("policy/1", &[proof]),
            "relation,first,second,answer,example.my,example.target,example.values,more.a\nnever,Cpus < 2,,,,,,1\n"
        );
    }

    #[test]
    fn control_characters_are_escaped_in_json() {
        let mut out = Vec::new();
        write_json(&mut out, &"\u{1b}\u{9b}é\u{7f}\u{e0041}").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\"\\u001b\\u009bé\\u007f\\udb40\\udc41\"\n");
    }
}
