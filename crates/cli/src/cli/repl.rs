//! `classmate repl`

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};

use crate::cli::input::{self, Notes};
use crate::cli::{Failure, Now, Streams, World, columns, pager, written};
use crate::repl::complete::{Completion, complete, signature};
use crate::repl::highlight::{FAINT, paint};
use crate::repl::input::{LinesSoFar, goes_on, is_command, split};
use crate::repl::{Host, Output, Session, Start};
use crate::report::Color;
use crate::report::escape::escaped;
use crate::report::message_kinds::MessageKinds;
use classmate::internal::eval::walk::AdSide;
use classmate::{ClassAd, EvalOptions, Mode};
use classmate_config::internal::config::disk::io_reason;

/// Evaluate expressions interactively.
///
/// Each value is printed, with the cause if it is UNDEFINED or ERROR. `NAME = expression` defines an attribute of MY;
/// `:help` lists the commands. On a terminal, lines can be edited, with completion and history; otherwise lines are
/// read from standard input. Input continues on the next line while a bracket or a string is open; an empty line or a
/// command ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate repl
  classmate repl --my examples/pool/jobs.ads --target examples/pool/slots.ads
  echo ':match' | classmate repl --my examples/pool/jobs.ads --target examples/pool/slots.ads
  echo 'Memory > 8192' | classmate repl --slots examples/stuck/slots.ads
  echo '1 + 1' | classmate repl --check

Longer outputs than the terminal are shown with the program named by CLASSMATE_PAGER or PAGER [default: less]; if it is \
empty, they are printed. History is saved in the file named by CLASSMATE_HISTORY, or in classmate/history in the user's data directory. \
If CLASSMATE_HISTORY is empty, no history is saved.

Exit status: 0; with --check, 1 if a line failed.")]
pub(super) struct ReplArguments {
    /// Load the first ad of this file as MY
    #[arg(long, value_name = "FILE")]
    my: Option<PathBuf>,
    /// Load the first ad of this file as TARGET
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    /// Evaluate each expression also in every slot of this file, and count the values; the first slot is TARGET without --target
    #[arg(long, value_name = "FILE")]
    slots: Option<PathBuf>,
    /// Exit with status 1 if a line fails
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    world: World,
}

/// The files and the clock of this process.
struct Process {
    begin: Instant,
}

impl Host for Process {
    fn load(&mut self, path: &str, at: u64, settings: &EvalOptions) -> Result<(ClassAd, Vec<String>), String> {
        loaded(path, |path, notes| input::ad(path, at, settings, notes))
    }

    fn load_all(&mut self, path: &str, settings: &EvalOptions) -> Result<(Vec<ClassAd>, Vec<String>), String> {
        loaded(path, |path, notes| input::ads(path, settings, notes))
    }

    fn save(&mut self, path: &str, text: &[u8]) -> Result<(), String> {
        std::fs::write(path, text).map_err(|error| format!("cannot write `{path}`: {}", io_reason(&error)))
    }

    fn now(&self) -> i64 {
        Now::Wall.seconds()
    }

    fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}

/// Reads a file for the session; also returns messages about skipped input.
fn loaded<T>(
    path: &str,
    read: impl FnOnce(&Path, &mut Notes) -> Result<T, Failure>,
) -> Result<(T, Vec<String>), String> {
    if path == "-" {
        return Err("standard input holds the lines of the session: expected a file name instead of `-`".to_owned());
    }
    let mut notes = Notes::default();
    let found = read(Path::new(path), &mut notes);
    let found = found.map_err(|failure| failure.shown().trim_start_matches("error: ").to_owned())?;
    Ok((found, notes.lines(Color::Off)))
}

pub(super) fn run(arguments: &ReplArguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let now = match arguments.world.now {
        None | Some(Now::Wall) => None,
        Some(Now::At(seconds)) => Some(seconds),
    };
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let start = Start { options: settings.clone(), now, color: streams.out, width: columns() };
    let mut session = Session::new(Box::new(Process { begin: Instant::now() }), start);
    let mut notes = Notes::default();
    for (side, path) in [(AdSide::My, &arguments.my), (AdSide::Target, &arguments.target)] {
        if let Some(path) = path {
            session.set(side, input::ad(path, 1, &settings, &mut notes)?);
        }
    }
    if let Some(path) = &arguments.slots
        && let Some(skipped) = session.set_slots(input::ads(path, &settings, &mut notes)?)
    {
        notes.warn(skipped);
    }
    notes.show(streams.err);
    let problems = if terminal { interactive(session, settings.mode, streams.out)? } else { piped(&mut session)? };
    match problems {
        0 => Ok(()),
        _ if !arguments.check => Ok(()),
        1 => Err(Failure::new("1 line failed")),
        lines => Err(Failure::new(format!("{lines} lines failed"))),
    }
}

/// Writes outputs, and counts an input with a problem; false if standard output is closed.
fn show(outputs: &[Output], problems: &mut usize) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    *problems += usize::from(outputs.iter().any(Output::is_problem));
    let printed = outputs.iter().try_for_each(|output| writeln!(out, "{}", output.text())).and_then(|()| out.flush());
    let open = printed.is_ok();
    written(printed).map(|()| open)
}

/// Messages of one kind that are shown.
const SHOWN: u64 = 20;

/// The output of a session without a terminal.
struct PipedOutput {
    out: BufWriter<std::io::StdoutLock<'static>>,
    kinds: MessageKinds,
    /// Inputs with a problem.
    problems: usize,
}

impl PipedOutput {
    /// Writes the outputs of an input; false if standard output is closed.
    fn show(&mut self, mut outputs: Vec<Output>) -> Result<bool, Failure> {
        self.problems += usize::from(outputs.iter().any(Output::is_problem));
        outputs.retain(|output| output.message().is_none_or(|(level, message)| self.kinds.is_shown(level, message)));
        let printed = outputs.iter().try_for_each(|output| writeln!(self.out, "{}", output.text()));
        let open = printed.is_ok();
        written(printed).map(|()| open)
    }

    /// Hands on what was written; false if standard output is closed.
    fn flush(&mut self) -> Result<bool, Failure> {
        let flushed = self.out.flush();
        let open = flushed.is_ok();
        written(flushed).map(|()| open)
    }
}

/// Reads lines from standard input; how many inputs could not be carried out.
fn piped(session: &mut Session) -> Result<usize, Failure> {
    let kinds = MessageKinds::new(SHOWN);
    let mut output = PipedOutput { out: BufWriter::new(std::io::stdout().lock()), kinds, problems: 0 };
    let mut input = BufReader::new(std::io::stdin().lock());
    let (mut open, mut line, mut lines) = (Vec::new(), Vec::new(), LinesSoFar::default());
    while !session.finished() {
        line.clear();
        // A program at the other end may wait for the answer before it asks again.
        if memchr::memchr(b'\n', input.buffer()).is_none() && !output.flush()? {
            break;
        }
        let read = input
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::new(format!("cannot read standard input: {}", io_reason(&error))))?;
        // A command ends what is open before it, as the end does.
        if !open.is_empty() && (read == 0 || is_command(&String::from_utf8_lossy(&line))) {
            if !output.show(session.line(whole_lines(&open)))? {
                break;
            }
            open.clear();
            lines = LinesSoFar::default();
        }
        if read == 0 {
            break;
        }
        open.extend_from_slice(&line);
        if lines.add(&String::from_utf8_lossy(whole_lines(&line))) {
            continue;
        }
        lines = LinesSoFar::default();
        if !output.show(session.line(whole_lines(&open)))? {
            break;
        }
        open.clear();
    }
    let rest: Vec<Output> = output.kinds.rest().iter().map(|note| Output::Text(escaped(note).into_owned())).collect();
    output.show(rest)?;
    output.flush()?;
    Ok(output.problems)
}

/// Lines without the last line end.
fn whole_lines(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// The file of the history, if it is kept.
fn history_file() -> Option<PathBuf> {
    match std::env::var_os("CLASSMATE_HISTORY") {
        Some(file) if file.is_empty() => return None,
        Some(file) => return Some(file.into()),
        None => {}
    }
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| folder("APPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("classmate/history"))
}

/// Edits lines on the terminal; how many inputs could not be carried out.
fn interactive(session: Session, mode: Mode, color: Color) -> Result<usize, Failure> {
    let broken = |error: ReadlineError| Failure::new(format!("cannot use the terminal: {error}"));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .color_mode(if color == Color::On { ColorMode::Enabled } else { ColorMode::Disabled })
        .auto_add_history(false)
        .build();
    let session = Rc::new(RefCell::new(session));
    let mut editor: Editor<Assistant, DefaultHistory> = Editor::with_config(config).map_err(broken)?;
    editor.set_helper(Some(Assistant {
        session: Rc::clone(&session),
        files: FilenameCompleter::new(),
        history: HistoryHinter::new(),
        mode,
        color,
    }));
    // Ctrl-C during an evaluation does not end the session: the evaluation ends by itself at its limits, soon enough. While
    // a line is typed the editor sees the key itself.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
    // A history that cannot be read or written is no reason to stop.
    let history = history_file();
    if let Some(file) = &history {
        let _ = file.parent().map(std::fs::create_dir_all);
        let _ = editor.load_history(file);
    }
    let mut problems = 0;
    let version = env!("CARGO_PKG_VERSION");
    let greeting = format!("classmate {version}: type an expression, `:help` for commands, Ctrl-D to leave");
    let mut first = vec![Output::Text(greeting)];
    if session.borrow().has_slots() {
        first.push(Output::Text(session.borrow().slots_told()));
    }
    show(&first, &mut problems)?;
    while !session.borrow().finished() {
        match editor.readline("> ") {
            Ok(line) => {
                if !line.trim().is_empty() && editor.add_history_entry(line.as_str()).unwrap_or(false) {
                    let _ = history.as_ref().map(|file| editor.append_history(file));
                }
                for input in split(&line) {
                    let outputs = session.borrow_mut().line(input.as_bytes());
                    let text: Vec<Cow<'_, str>> = outputs.iter().map(Output::text).collect();
                    if pager::show(&text.join("\n")) {
                        problems += usize::from(outputs.iter().any(Output::is_problem));
                    } else if !show(&outputs, &mut problems)? {
                        return Ok(problems);
                    }
                }
            }
            // The line is dropped, as in a shell.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            // A byte that is no text, typed or pasted: the line is dropped, the session goes on.
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                let _ = show(&[Output::Problem("error: the line is not UTF-8".to_owned())], &mut 0);
            }
            Err(error) => return Err(broken(error)),
        }
    }
    Ok(problems)
}

/// Completion, hints and colors of the line that is being typed.
struct Assistant {
    session: Rc<RefCell<Session>>,
    files: FilenameCompleter,
    history: HistoryHinter,
    mode: Mode,
    color: Color,
}

impl Helper for Assistant {}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        match complete(&self.session.borrow(), line, pos) {
            Completion::File => self.files.complete(line, pos, context),
            Completion::Words { start, words } => {
                let pairs = words.into_iter().map(|word| Pair { display: word.clone(), replacement: word });
                Ok((start, pairs.collect()))
            }
        }
    }
}

/// Faint text behind the cursor; the right arrow takes it over if it goes on the line.
struct Suggestion {
    shown: String,
    taken: Option<String>,
}

impl Hint for Suggestion {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.taken.as_deref()
    }
}

impl Hinter for Assistant {
    type Hint = Suggestion;

    fn hint(&self, line: &str, pos: usize, context: &Context<'_>) -> Option<Suggestion> {
        if pos < line.len() || self.color == Color::Off {
            return None;
        }
        if line.ends_with(['(', ',', ' '])
            && let Some(signature) = signature(line)
        {
            return Some(Suggestion { shown: format!("   {signature}"), taken: None });
        }
        let rest = self.history.hint(line, pos, context).filter(|rest| !rest.contains('\n'))?;
        Some(Suggestion { shown: rest.clone(), taken: Some(rest) })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        match self.color {
            Color::On => Cow::Owned(paint(line, self.mode)),
            Color::Off => Cow::Borrowed(line),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("{FAINT}{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.color == Color::On
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if goes_on(context.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}
