//! Files for the commands: ordinary, compressed, or standard input, with progress on a terminal.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use indexmap::IndexSet;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Failure, complain};
use crate::report::{self, Color, counted};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::format::Reader;
use classmate::internal::format::report::Report;
use classmate_config::internal::config::BYTE_ORDER_MARK;
use classmate_config::internal::config::disk::io_reason;
use classmate_pool::internal::negotiate::directory::{AdInput, read_ads};

/// A file of a pool's directory, if it has it.
pub(super) fn own(pool: Option<&Path>, name: &str) -> Option<PathBuf> {
    pool.map(|pool| pool.join(name)).filter(|path| path.exists())
}

/// Files smaller than this are read without a progress bar.
const LARGE: u64 = 32 << 20;

/// Whether some file of the command line was standard input.
static STDIN_TAKEN: AtomicBool = AtomicBool::new(false);

/// A source of bytes, and what to call it in messages.
pub(crate) struct Input {
    pub(crate) reader: Box<dyn BufRead + Send>,
    pub(crate) name: String,
    /// Whether a byte order mark stood before the rest.
    pub(crate) marked: bool,
}

/// Opens a file, or standard input for `-`; gzip is recognised by its first bytes.
pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
    let (raw, name, size): (Box<dyn Read + Send>, String, Option<u64>) = if path.as_os_str() == "-" {
        if STDIN_TAKEN.swap(true, Ordering::Relaxed) {
            return Err(Failure::input("`-` is standard input, which can be read only once"));
        }
        (Box::new(std::io::stdin()), "standard input".to_owned(), None)
    } else {
        let (file, size) = opened(path)?;
        (Box::new(file), path.display().to_string(), Some(size))
    };
    let raw: Box<dyn Read + Send> = match size {
        Some(size) if size >= LARGE && std::io::stderr().is_terminal() => Box::new(bar(size, &name).wrap_read(raw)),
        _ => raw,
    };
    let mut reader = BufReader::with_capacity(1 << 18, raw);
    let start =
        reader.fill_buf().map_err(|error| Failure::new(format!("cannot read `{name}`: {}", io_reason(&error))))?;
    let mut reader: Box<dyn BufRead + Send> = if start.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    };
    // A byte order mark is no part of the first name; what cannot be read is told by who reads on.
    let mut marked = false;
    match reader.fill_buf() {
        Ok(start) if start.starts_with(BYTE_ORDER_MARK) => {
            reader.consume(BYTE_ORDER_MARK.len());
            marked = true;
        }
        Ok([0xff, 0xfe, ..] | [0xfe, 0xff, ..]) => {
            let utf16 = format!("cannot read `{name}`: it is UTF-16, expected UTF-8 or plain ASCII");
            return Err(Failure::new(utf16).help("convert it first: iconv -f UTF-16 -t UTF-8"));
        }
        _ => {}
    }
    Ok(Input { reader, name, marked })
}

/// A file and its size in bytes.
fn opened(path: &Path) -> Result<(File, u64), Failure> {
    let cannot = |why: String| Failure::new(format!("cannot read `{}`: {why}", path.display()));
    let file = File::open(path).map_err(|error| cannot(io_reason(&error)))?;
    let facts = file.metadata().map_err(|error| cannot(io_reason(&error)))?;
    if facts.is_dir() {
        return Err(cannot("it is a directory, expected a file".to_owned()));
    }
    Ok((file, facts.len()))
}

/// Complains now about a file that cannot be opened, although it is read later.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" { Ok(()) } else { opened(path).map(drop) }
}

/// Progress over so many steps; hidden unless standard error is a terminal.
pub(crate) fn steps(count: u64, what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count);
    if let Ok(style) = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// How much was written so far, and how fast; hidden unless standard error is a terminal.
pub(crate) fn written() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {bytes} {binary_bytes_per_sec}") {
        bar.set_style(style);
    }
    bar
}

/// Progress of a simulation over so many jobs, with both clocks; hidden unless standard error is a terminal.
pub(crate) fn clocks(count: u64) -> ProgressBar {
    let bar = steps(count, "");
    if let Ok(style) = ProgressStyle::with_template("{msg} {pos}/{len} jobs {wide_bar} {elapsed} of {duration}") {
        bar.set_style(style);
    }
    bar
}

fn bar(size: u64, name: &str) -> ProgressBar {
    let bar = ProgressBar::new(size);
    let style = "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(format!("reading {name}"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A file that could be opened but not read to its end.
pub(crate) fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read `{name}`: {}", io_reason(error)))
}

/// Reads all ads of a file.
pub(crate) fn ads(path: &Path, settings: &EvalOptions, notes: &mut Notes) -> Result<Vec<ClassAd>, Failure> {
    let input = open(path)?;
    let cannot = |error| unreadable(&input.name, &error);
    let mut reader = Reader::detect(input.reader, &settings.parse_options()).map_err(cannot)?;
    let ads = reader.by_ref().collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    notes.add(&input.name, reader.report());
    Ok(ads)
}

/// Opens a file of ads.
pub(crate) fn ad_input(path: &Path) -> Result<AdInput, Failure> {
    open(path).map(|Input { reader, name, .. }| AdInput { reader, name })
}

/// Reads all ads of a large file, on all threads if it is of the long format.
pub(crate) fn many_ads(path: &Path, notes: &mut Notes) -> Result<Vec<ClassAd>, Failure> {
    let (ads, (name, report)) = read_ads(ad_input(path)?, None, |ad, ()| ad)?;
    notes.add(&name, &report);
    Ok(ads)
}

/// Reads the ad of a file that stands at a place, counted from 1.
pub(crate) fn ad(path: &Path, at: u64, settings: &EvalOptions, notes: &mut Notes) -> Result<ClassAd, Failure> {
    let input = open(path)?;
    let cannot = |error| unreadable(&input.name, &error);
    let mut reader = Reader::detect(input.reader, &settings.parse_options()).map_err(cannot)?;
    let mut seen = 0;
    for ad in reader.by_ref() {
        let ad = ad.map_err(cannot)?;
        seen += 1;
        if seen == at {
            notes.add(&input.name, reader.report());
            return Ok(ad);
        }
    }
    notes.add(&input.name, reader.report());
    let ads = if seen == 0 { "no ads".to_owned() } else { counted(seen, "ad") };
    let mut failure = Failure::input(format!("`{}` contains {ads}: expected at least {at}", input.name));
    if notes.any() {
        // Nobody shows the notes behind a failure, and they say why.
        let told = notes.lines(Color::Off).join("\n");
        failure = failure.help("skipped ads are not counted");
        failure.message = format!("{told}\n{}", failure.message);
    }
    Err(failure)
}

/// What was wrong with the files that were read.
#[derive(Default)]
pub(crate) struct Notes {
    files: Vec<(String, Report)>,
    warnings: IndexSet<String>,
}

/// Faults of one file that are shown in full.
const SHOWN: usize = 10;

/// Lines of one file whose end is ignored that are shown.
const SHOWN_IGNORED: usize = 3;

impl Notes {
    /// Remembers what the reader of a file has to say.
    pub(crate) fn add(&mut self, name: &str, report: &Report) {
        self.files.push((name.to_owned(), report.clone()));
    }

    /// Remembers something odd that stops nothing, with its place.
    ///
    /// What was said of the same place before is said once. Of a text from a file nothing reaches the terminal that it would
    /// take for a command.
    pub(crate) fn warn(&mut self, warning: String) {
        let is_command = |letter: char| letter.is_control() && letter != '\n';
        self.warnings.insert(if warning.contains(is_command) {
            warning.replace(is_command, "\u{fffd}")
        } else {
            warning
        });
    }

    /// Whether anything was wrong.
    pub(crate) fn any(&self) -> bool {
        self.files.iter().any(|(_, report)| !report.is_clean())
    }

    /// Says on standard error what could not be read, and how much was skipped.
    pub(crate) fn show(&self, color: Color) {
        for line in self.lines(color) {
            complain(&line);
        }
    }

    /// What could not be read, and how much was skipped; each entry may have several lines.
    pub(crate) fn lines(&self, color: Color) -> Vec<String> {
        let mut lines: Vec<String> = self.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
        for (name, report) in &self.files {
            for ignored in report.ignored.iter().take(SHOWN_IGNORED) {
                lines.push(format!("{}\n", report::render_ignored(ignored, name, color)));
            }
            let hidden = report.ignored_texts.saturating_sub(SHOWN_IGNORED as u64);
            if hidden > 0 {
                lines.push(format!("note: ignored the end of {} more in `{name}`", counted(hidden, "line")));
            }
            if report.is_clean() {
                continue;
            }
            for fault in report.faults.iter().take(SHOWN) {
                lines.push(format!("{}\n", report::render_fault(fault, name, color)));
            }
            let hidden = report.errors.saturating_sub(SHOWN as u64);
            if hidden > 0 {
                lines.push(format!("note: {} in `{name}` not shown", counted(hidden, "more error")));
            }
            if report.unread_bytes > 0 {
                lines.push(format!(
                    "note: skipped the rest of `{name}` ({}), because an ad before it is not closed",
                    counted(report.unread_bytes, "byte")
                ));
            }
            lines.push(format!(
                "note: {} {} read from `{name}`; skipped: {}, {}",
                counted(report.ads, "ad"),
                if report.ads == 1 { "was" } else { "were" },
                counted(report.skipped_ads, "ad"),
                counted(report.skipped_attributes, "line"),
            ));
        }
        lines
    }
}
