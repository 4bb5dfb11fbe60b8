//! `classmate conform KIND`

use std::io::{BufRead, BufWriter, Write};

use crate::cli::{Failure, written};
use crate::conform::{Kind, answer, ascii};

/// Answer conformance cases: JSON lines on standard input, one answer a line on standard output.
///
/// Every line is answered, in order; a line that is no case gets `"malformed"` and the reason.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  echo '{\"id\": 1, \"expr\": \"1 + 1\"}' | classmate conform eval")]
pub(super) struct Arguments {
    /// What the cases are about
    kind: Kind,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut input = std::io::stdin().lock();
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        if read == 0 {
            return written(output.flush());
        }
        let case = line.trim_ascii();
        if case.is_empty() {
            continue;
        }
        let answered = writeln!(output, "{}", ascii(&answer(arguments.kind, case)));
        if answered.is_err() {
            return written(answered);
        }
    }
}
