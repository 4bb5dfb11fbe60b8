//! `classmate conform KIND`

use std::io::{BufRead, BufWriter, Write};

use crate::cli::{Failure, language, written};
use crate::conform::{Kind, answer_in, ascii};

/// Reply conformance cases read from standard input.
///
/// Reads one JSON object per line and prints one result per line, in order. For an invalid case, the result is
/// `"malformed"` with the reason.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  echo '{\"id\": 1, \"expr\": \"1 + 1\"}' | classmate conform eval")]
pub(super) struct ConformArguments {
    /// Kind of cases
    kind: Kind,
}

pub(super) fn run(arguments: &ConformArguments) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        let case = line.trim_ascii();
        if case.is_empty() {
            continue;
        }
        let answered = writeln!(output, "{}", ascii(&answer_in(language::chosen(), arguments.kind, case)));
        if answered.is_err() {
            return written(answered);
        }
    }
    written(output.flush())
}
