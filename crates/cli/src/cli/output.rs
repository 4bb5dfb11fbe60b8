//! Standard output and standard error of a command: formats, colors, folding.

use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use serde::Serialize;

use crate::cli::Failure;
use crate::report::Color;
use crate::report::fold::Folded;
use classmate_config::internal::config::disk::io_reason;

/// A format of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Text or tables.
    Text,
    Json,
    Csv,
    Html,
    Sarif,
}

/// The formats of a command with tables.
pub(super) const TABLE_OR_JSON: [(&str, &str, Form); 2] =
    [("table", "Tables", Form::Text), ("json", "One JSON object with the full result", Form::Json)];

/// The formats of a command with text.
pub(super) const TEXT_OR_JSON: [(&str, &str, Form); 2] =
    [("text", "Text", Form::Text), ("json", "One JSON object with the full result", Form::Json)];

/// Colors of the output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    pub(crate) out: Color,
    pub(crate) err: Color,
}

/// Writes a message to standard error; failures to write are ignored.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Buffered standard output, folded to a width.
pub(crate) type Out = Folded<BufWriter<StdoutLock<'static>>>;

/// Standard output; lines are folded if there is a width, such as [`columns`].
pub(crate) fn output(width: Option<usize>) -> Out {
    Folded::new(BufWriter::new(io::stdout().lock()), width)
}

/// Writes to standard output and flushes it.
pub(crate) fn print(width: Option<usize>, write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = output(width);
    written(write(&mut out).and_then(|()| out.flush()))
}

/// Prints a result as JSON, or as text that is folded if there is a width.
pub(crate) fn print_result(
    form: Form,
    result: &impl Serialize,
    width: Option<usize>,
    text: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), Failure> {
    match form {
        Form::Json => print(None, |out| write_json(out, result)),
        _ => print(width, text),
    }
}

/// Writes a value as indented JSON.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// The width of the terminal, or `COLUMNS`; none if standard output is not a terminal.
pub(crate) fn columns() -> Option<usize> {
    let terminal = comfy_table::Table::new().width();
    let asked = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.map(|columns| asked().unwrap_or(usize::from(columns)))
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
