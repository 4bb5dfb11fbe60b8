//! `classmate fmt FILE…`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::input::{self, Notes};
use crate::cli::lint::{COMPRESSED, FileKind, detect};
use crate::cli::{Failure, Streams, complain, language, line_output, raw_output, unparsed, words, written};
use crate::report::{counted, diff};
use classmate::internal::format::detect::detect_ads;
use classmate::internal::format::new::parse_whole_ad;
use classmate::{Diagnostic, Format, ParseOptions, SyntaxError};
use classmate_advice::internal::fmt::{ads, config};
use classmate_config::internal::config::BYTE_ORDER_MARK;

/// Format expressions, ads and configuration files.
///
/// Normalizes spaces and breaks long conditions into one clause per line. Everything else stays: comments, the spelling
/// of names, numbers and operators, and all text other than expressions. The formatted text is checked to parse to the
/// same tree, and formatting it again changes nothing. Files are written in place. Values that are not valid
/// expressions are reported and left unchanged.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate fmt examples/pool/config
  classmate fmt --diff examples/stuck/config
  classmate fmt --check examples/*/config
  classmate fmt --expression 'Memory>1024&&(Cpus>1||Slow)'
  classmate fmt --as config - < examples/groups/config

Exit status: 0 on success, 1 if a file would change (--check, --diff) or cannot be read or written, 2 on an invalid expression.")]
pub(super) struct FmtArguments {
    /// Files to format (`-` formats standard input to standard output)
    #[arg(value_name = "FILE", required_unless_present = "expression")]
    files: Vec<PathBuf>,
    /// An expression to format and print
    #[arg(long, short = 'e', value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    /// Type of the files [default: detected from their names and contents]
    #[arg(long = "as", value_name = "KIND", value_parser = words(&KINDS))]
    kind: Option<FileKind>,
    /// List the files that would change; do not write
    #[arg(long)]
    check: bool,
    /// Show the changes as a diff; do not write
    #[arg(long)]
    diff: bool,
    /// Maximum line width
    #[arg(long, value_name = "COLUMNS", default_value_t = 100)]
    width: usize,
}

/// The kinds of files that can be formatted.
const KINDS: [(&str, &str, FileKind); 3] = [
    ("config", "Configuration files", FileKind::Config),
    ("ads", "Ads in any format", FileKind::Ads),
    ("expression", "One expression per file", FileKind::Expression),
];

pub(super) fn run(arguments: &FmtArguments, streams: Streams) -> Result<ExitCode, Failure> {
    // What is laid out is written as it is; of a difference, control characters are made visible.
    let mut out = if arguments.diff { line_output() } else { raw_output() };
    if let Some(text) = &arguments.expression {
        let tidy = laid_out("expression", text.as_bytes(), FileKind::Expression, arguments.width, streams)?;
        written(out.write_all(&tidy).and_then(|()| out.flush()))?;
    }
    let (mut changes, mut wrong, mut notes) = (false, false, Notes::default());
    for path in &arguments.files {
        let kind = arguments.kind.map_or_else(|| detect(path), Ok)?;
        let mut source = input::open(path)?;
        let text = source.text()?;
        if text.contains(&0) {
            return Err(Failure::input(format!("`{}` is not text: it contains a zero byte", source.name)));
        }
        if kind == FileKind::Ads {
            language::note_advertised(&text, &mut notes);
        }
        let tidy = laid_out(&source.name, &text, kind, arguments.width, streams)?;
        let unformatted = unformatted(&text, kind);
        for one in unformatted.iter().take(MAX_WARNINGS) {
            complain(&format!("warning: {}:{}: {}", source.name, one.line(), one.message));
        }
        if unformatted.len() > MAX_WARNINGS {
            let more = counted((unformatted.len() - MAX_WARNINGS) as u64, "more value");
            complain(&format!("warning: {}: {more} like these; use --as to set the type of the file", source.name));
        }
        wrong |= !unformatted.is_empty();
        let changed = tidy != text;
        let mark = if source.marked { BYTE_ORDER_MARK } else { b"" };
        if source.marked && kind == FileKind::Config {
            let note = "the file starts with a byte order mark, so HTCondor rejects it; the mark is kept";
            complain(&format!("warning: {}: {note}", source.name));
        }
        changes |= changed;
        if arguments.diff {
            if changed {
                written(diff::write(&mut out, &source.name, &text, &tidy, streams.out))?;
            }
        } else if arguments.check {
            if changed {
                written(writeln!(out, "{}", source.name))?;
            }
        } else if path.as_os_str() == "-" {
            written(out.write_all(mark).and_then(|()| out.write_all(&tidy)))?;
        } else if changed {
            replace(path, &[mark, &tidy].concat())?;
        }
    }
    written(out.flush())?;
    notes.show(streams.err);
    let stale = changes && (arguments.check || arguments.diff);
    Ok(if wrong {
        ExitCode::from(2)
    } else if stale {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Maximum number of reported values of one file; more are counted.
const MAX_WARNINGS: usize = 10;

/// The values that stay unformatted because they are not valid expressions.
fn unformatted(text: &[u8], kind: FileKind) -> Vec<Diagnostic> {
    match kind {
        FileKind::Config => config::unformatted(text, language::chosen()),
        FileKind::Ads if detect_ads(text, &options()) == Format::Long => ads::unformatted(text, language::chosen()),
        _ => Vec::new(),
    }
}

/// Writes a file that was read, unless it is compressed.
fn replace(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let cannot = |error| Failure::writing(path.display(), &error);
    if std::fs::read(path).map_err(cannot)?.starts_with(&COMPRESSED) {
        return Err(Failure::new(format!("cannot write `{}`: it is compressed", path.display())));
    }
    std::fs::write(path, text).map_err(cannot)
}

/// The reading of expressions and ads.
fn options() -> ParseOptions {
    ParseOptions { semantics: language::chosen(), ..ParseOptions::default() }
}

fn laid_out(name: &str, text: &[u8], kind: FileKind, width: usize, streams: Streams) -> Result<Vec<u8>, Failure> {
    if let Some(lines) = without_returns(text) {
        return laid_out(name, &lines, kind, width, streams).map(|tidy| with_returns(&tidy));
    }
    let refused = |error: SyntaxError| unparsed(&error, text, name, streams.err);
    Ok(match kind {
        FileKind::Config => config::config(text, width, language::chosen()),
        FileKind::Expression => ads::expression_with(text, width, &options()).map_err(refused)?,
        FileKind::Submit | FileKind::Test => {
            let what = if kind == FileKind::Test { "a file of policy tests" } else { "a submit file" };
            return Err(Failure::input(format!("`{name}` is {what}: expected an expression, ads or a configuration"))
                .help(
                    "use `--as expression`, `--as ads` or `--as config` to set the type; `classmate lint` checks \
                all types of files",
                ));
        }
        FileKind::Ads => match detect_ads(text, &options()) {
            Format::Long => ads::long(text, language::chosen()),
            Format::New if parse_whole_ad(text, &options()).is_ok() => {
                ads::expression_with(text, width, &options()).map_err(refused)?
            }
            Format::New => ads::several(text, width, &options()).map_err(refused)?,
            _ => {
                return Err(Failure::input(format!("`{name}` contains ads in a format for tools")).help(
                    "convert it with `classmate ads FILE --to long`; fmt formats ads in the long format and in new \
                    syntax",
                ));
            }
        },
    })
}

/// A text whose lines all end in `\r\n` with lines that end in `\n`; `None` of other texts.
fn without_returns(text: &[u8]) -> Option<Vec<u8>> {
    let mut newlines = memchr::memchr_iter(b'\n', text).peekable();
    newlines.peek()?;
    newlines.all(|at| at > 0 && text[at - 1] == b'\r').then(|| {
        let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.collect::<Vec<_>>().join(&b'\n')
    })
}

/// A text with lines that end in `\r\n`.
fn with_returns(text: &[u8]) -> Vec<u8> {
    text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(b"\r\n".as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_lines_stay() {
        assert_eq!(without_returns(b"a\r\nb\r\n").as_deref(), Some(b"a\nb\n".as_slice()));
        assert_eq!(with_returns(b"a\nb\n"), b"a\r\nb\r\n");
        // Mixed ends, and none, are left alone.
        assert_eq!((without_returns(b"a\r\nb\n"), without_returns(b"a")), (None, None));
    }
}
