//! `classmate conform KIND`

use std::io::{BufRead, BufWriter, Write};

use clap::ValueEnum;

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
    kind: KindName,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum KindName {
    /// Parse, print and evaluate expressions
    Eval,
    /// Read ads in a form and print them in all
    Ads,
    /// Partial evaluation, references, equality, matching, changes of ads
    Util,
    /// Read configuration files and look names up
    Config,
    /// Group quotas and limits, with matches that only count
    Quotas,
    /// Task queues, shares, corrections, matching and draws of DIRAC
    Dirac,
    /// Slurm's priorities: files, usage, fair share, factors, lines of listings
    Slurm,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let kind = match arguments.kind {
        KindName::Eval => Kind::Eval,
        KindName::Ads => Kind::Ads,
        KindName::Util => Kind::Util,
        KindName::Config => Kind::Config,
        KindName::Quotas => Kind::Quotas,
        KindName::Dirac => Kind::Dirac,
        KindName::Slurm => Kind::Slurm,
    };
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
        let answered = writeln!(output, "{}", ascii(&answer(kind, case)));
        if answered.is_err() {
            return written(answered);
        }
    }
}
