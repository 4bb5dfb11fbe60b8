//! Files for the commands: ordinary, compressed, or standard input, with progress on a terminal.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use indexmap::IndexSet;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::failure::{Message, MessageBody};
use crate::cli::output::show_message;
use crate::cli::submit::SubmitFile;
use crate::cli::{Failure, has_no_color, is_dumb, language};
use crate::report::escape;
use crate::report::message_kinds::MessageKinds;
use crate::report::{self, Color, counted, shortened};
use classmate::internal::format::report::Fault;
use classmate::internal::format::room::{Counted, Expanded, RATIO, Room};
use classmate::{ClassAd, Diagnostic, EvalOptions, Format, Reader, Report, Series};
use classmate_config::internal::config::BYTE_ORDER_MARK;
use classmate_config::internal::config::slurm::SKIPPED_LINE;
use classmate_pool::internal::negotiate::directory::{AdFileReport, AdInput, AdSource, read_ads};
use classmate_pool::internal::queue::cluster::whole;

/// A file of a pool's directory, if it has it.
pub(super) fn own(pool: Option<&Path>, name: &str) -> Option<PathBuf> {
    pool.map(|pool| pool.join(name)).filter(|path| path.exists())
}

/// Files smaller than this are read without a progress bar.
const LARGE: u64 = 32 << 20;

/// True if a file of the command line was standard input.
static STDIN_TAKEN: AtomicBool = AtomicBool::new(false);

/// Most bytes of a pipe that are looked at before they are read.
const MAX_PEEKED: u64 = 512 << 20;

/// The bytes of pipes that were looked at and are still to be read.
static PEEKED: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// True if a path is that of standard input, of a pipe or of a device, which can be read only once.
pub(crate) fn is_pipe(path: &Path) -> bool {
    path.as_os_str() == "-" || path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// The text of a pipe, which can be read once more.
pub(crate) fn peek(path: &Path) -> Result<Vec<u8>, Failure> {
    let kept = || PEEKED.lock().unwrap_or_else(PoisonError::into_inner);
    if !kept().contains_key(path) {
        let name = shown_name(path);
        let mut bytes = Vec::new();
        let read = source(path)?.0.take(MAX_PEEKED).read_to_end(&mut bytes);
        read.map_err(|error| Failure::reading(&name, &error))?;
        if bytes.len() as u64 == MAX_PEEKED {
            let message = format!("`{name}` is longer than {} MiB", MAX_PEEKED >> 20);
            return Err(Failure::input(message).help("name a file, or set its type with --as"));
        }
        kept().insert(path.to_owned(), bytes);
    }
    let bytes = kept().get(path).cloned().unwrap_or_default();
    let text = open(path)?.text();
    kept().insert(path.to_owned(), bytes);
    text
}

/// A source of bytes, and what to call it in messages.
pub(crate) struct Input {
    pub(crate) reader: Box<dyn BufRead + Send>,
    pub(crate) name: String,
    /// The room for what is read: compressed input can expand to any amount.
    pub(crate) room: Room,
    /// True if a byte order mark was before the rest.
    pub(crate) marked: bool,
}

impl Input {
    /// The rest of the text.
    pub(crate) fn text(&mut self) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        self.reader.read_to_end(&mut text).map_err(|error| Failure::reading(&self.name, &error))?;
        Ok(text)
    }
}

thread_local! {
    /// Paths of the files that this thread opened.
    static OPENED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// The files that this thread opened since the last call.
pub(super) fn take_opened() -> Vec<PathBuf> {
    OPENED.take()
}

/// The program that expands a file with these first bytes, if it is not done here.
fn expander(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => Some("bzip2"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        _ => None,
    }
}

/// The name of a file in messages.
pub(super) fn shown_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Opens a file, or standard input for `-`; gzip is recognised by its first bytes.
pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
    let name = shown_name(path);
    let peeked = PEEKED.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    let (raw, size): (Box<dyn Read + Send>, _) = match peeked {
        Some(bytes) => (Box::new(Cursor::new(bytes)), None),
        None => source(path)?,
    };
    let raw: Box<dyn Read + Send> = match size {
        Some(size) if size >= LARGE && shows_progress() => Box::new(bar(size, &name).wrap_read(raw)),
        _ => raw,
    };
    let mut reader = BufReader::with_capacity(1 << 18, raw);
    let start = reader.fill_buf().map_err(|error| Failure::reading(&name, &error))?;
    let (mut reader, room): (Box<dyn BufRead + Send>, Room) = if start.starts_with(&[0x1f, 0x8b]) {
        let room = Room::of_compressed();
        let decoder = MultiGzDecoder::new(Counted::new(reader, room.clone()));
        let expanded = Expanded::new(decoder, room.clone());
        (Box::new(BufReader::with_capacity(1 << 18, expanded)), room)
    } else {
        (Box::new(reader), Room::default())
    };
    // A byte order mark is not part of the first name; read errors are reported by the code that reads on.
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
        Ok(start) => {
            if let Some(program) = expander(start) {
                let message = format!("cannot read `{name}`: it is compressed by {program}, expected text or gzip");
                return Err(Failure::new(message).help(&format!("expand it first: {program} -d")));
            }
        }
        Err(_) => {}
    }
    Ok(Input { reader, name, room, marked })
}

/// The bytes of a file or of standard input, as they are, and the size of a file.
fn source(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>), Failure> {
    if path.as_os_str() != "-" {
        let (file, size) = opened(path)?;
        OPENED.with_borrow_mut(|opened| opened.push(path.to_owned()));
        return Ok((Box::new(file), Some(size)));
    }
    if STDIN_TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::input("`-` is standard input, which can be read only once"));
    }
    Ok((Box::new(std::io::stdin()), None))
}

/// A file and its size in bytes.
fn opened(path: &Path) -> Result<(File, u64), Failure> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (facts, file) = opened.map_err(|error| Failure::reading(path.display(), &error))?;
    if facts.is_dir() {
        return Err(Failure::new(format!("cannot read `{}`: it is a directory, expected a file", path.display())));
    }
    Ok((file, facts.len()))
}

/// Complains now about a file that cannot be opened, although it is read later. A pipe is not opened: who writes it would be done.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    if is_pipe(path) { Ok(()) } else { opened(path).map(drop) }
}

/// True if no progress is shown, even on a terminal.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Hides the progress from now on.
pub(super) fn hide_progress() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// True if progress is shown: standard error is a terminal on which escape sequences are wanted, which draw it.
fn shows_progress() -> bool {
    !IS_QUIET.load(Ordering::Relaxed) && std::io::stderr().is_terminal() && !has_no_color() && !is_dumb()
}

/// Progress up to a count, in the form of a template; hidden where none is shown.
fn progress(count: Option<u64>, template: &str) -> ProgressBar {
    if !shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = count.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Progress over a number of steps.
pub(crate) fn steps(count: u64, what: &str) -> ProgressBar {
    progress(Some(count), "{msg} {pos}/{len} {wide_bar} {eta}").with_message(what.to_owned())
}

/// The amount written so far, and the speed.
pub(crate) fn written() -> ProgressBar {
    progress(None, "{spinner} {msg} {bytes} {binary_bytes_per_sec}")
}

/// The number of ads received so far from a live pool.
pub(crate) fn received() -> ProgressBar {
    progress(None, "{spinner} ads received: {human_pos}, last {msg}")
}

/// Progress of a simulation over a number of jobs, with both clocks.
pub(crate) fn clocks(count: u64) -> ProgressBar {
    progress(Some(count), "{msg} {pos}/{len} jobs {wide_bar} {elapsed} of {duration}")
}

/// Progress of reading a file.
fn bar(size: u64, name: &str) -> ProgressBar {
    let bar = progress(Some(size), "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar.with_message(format!("reading {name}"))
}

/// The ads of a file, one after another.
pub(crate) enum OpenAds {
    /// Ads that are read from a text.
    Text(Box<Reader<Box<dyn BufRead + Send>>>),
    /// Ads that were made of a text of another kind.
    Made(std::vec::IntoIter<ClassAd>),
}

impl OpenAds {
    /// The format of the text; that of `condor_q -long` if it is of another kind.
    pub(crate) fn format(&self) -> Format {
        match self {
            OpenAds::Text(reader) => reader.format(),
            OpenAds::Made(_) => Format::Long,
        }
    }

    /// The part of the text that was skipped so far.
    pub(crate) fn report(&self) -> Report {
        match self {
            OpenAds::Text(reader) => reader.report().clone(),
            OpenAds::Made(_) => Report::default(),
        }
    }
}

impl Iterator for OpenAds {
    type Item = std::io::Result<ClassAd>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            OpenAds::Text(reader) => reader.next(),
            OpenAds::Made(ads) => ads.next().map(|ad| Ok(whole(&ad))),
        }
    }
}

/// The ads of a file, in a format if it is given; the name of the file, and the room for its ads. A submit file or a listing
/// of Slurm is read as the ads of its jobs or nodes.
pub(crate) fn open_ads(
    path: &Path,
    from: Option<Format>,
    settings: &EvalOptions,
    notes: &mut Notes,
) -> Result<(OpenAds, String, Room), Failure> {
    let options = settings.parse_options();
    if let Some(format) = from {
        let Input { reader, name, room, .. } = open(path)?;
        return Ok((OpenAds::Text(Box::new(Reader::new(reader, format, &options))), name, room));
    }
    let mut input = ad_input(path)?;
    // What arrives slowly is shown at once.
    let is_stream = !std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let warnings = input.read_listing(is_stream).map_err(|error| Failure::reading(path.display(), &error))?;
    notes.warn_of_slurm(&warnings);
    let AdInput { source, name, room } = input;
    let ads = match source {
        AdSource::Text(reader) => {
            let reader = Reader::detect(reader, &options).map_err(|error| Failure::reading(&name, &error))?;
            OpenAds::Text(Box::new(reader))
        }
        AdSource::Made(ads) => OpenAds::Made(ads.into_iter()),
    };
    Ok((ads, name, room))
}

/// Reads all ads of a file, on all threads if it is of the long format.
pub(crate) fn ads(path: &Path, settings: &EvalOptions, notes: &mut Notes) -> Result<Vec<ClassAd>, Failure> {
    let by_itself = |ad: ClassAd, (): &mut ()| if ad.chained().is_some() { whole(&ad) } else { ad };
    let (ads, file) = read_ads(ad_input(path)?, &settings.parse_options(), None, by_itself)?;
    notes.add_file(file);
    Ok(ads)
}

/// Opens a file of ads; a submit file is one of the ads of its jobs.
pub(crate) fn ad_input(path: &Path) -> Result<AdInput, Failure> {
    if let Some(file) = SubmitFile::detect(path)? {
        let (ads, name) = file.into_ads()?;
        return Ok(AdInput { source: AdSource::Made(ads), name, room: Room::default() });
    }
    open(path).map(|Input { reader, name, room, .. }| AdInput::text(reader, name, room))
}

/// Reads the Nth ad of a file, counted from 1.
pub(crate) fn ad(path: &Path, at: u64, settings: &EvalOptions, notes: &mut Notes) -> Result<ClassAd, Failure> {
    let (mut reader, name, _) = open_ads(path, None, settings, notes)?;
    let mut seen = 0;
    for ad in reader.by_ref() {
        let ad = ad.map_err(|error| Failure::reading(&name, &error))?;
        seen += 1;
        if seen == at {
            notes.add(&name, reader.report());
            return Ok(ad);
        }
    }
    notes.add(&name, reader.report().clone());
    let ads = if seen == 0 { "no ads".to_owned() } else { counted(seen, "ad") };
    let message = format!("`{name}` contains {ads}: expected at least {at}");
    if !notes.any() {
        return Err(Failure::input(message));
    }
    // Notes are not shown after a failure, and they give the reason.
    Err(Failure::new(message).help("skipped ads are not counted").after(&notes.lines(Color::Off)))
}

/// A message in one line: its place, its text and its help.
pub(super) fn with_help(message: &Diagnostic) -> String {
    let help = message.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    message.to_line() + &help
}

/// Messages about the files that were read.
#[derive(Default)]
pub(crate) struct Notes {
    files: Vec<(String, Report)>,
    warnings: IndexSet<String>,
    /// Versions that ads advertise.
    unmeasured: BTreeSet<Series>,
    /// The reason why the result is not that of all input, if it is not.
    flaw: Option<&'static str>,
}

/// The reason why the exit status is not 0 although there is a result.
static FLAW: OnceLock<&'static str> = OnceLock::new();

/// The reason why the result of this process is not that of all its input, if it is not.
pub(super) fn flaw() -> Option<&'static str> {
    FLAW.get().copied()
}

const SKIPPED: &str = "some input was skipped";

/// Faults of one file that are shown in full.
const SHOWN: usize = 10;

/// Lines of one file whose end is ignored that are shown.
const SHOWN_IGNORED: usize = 3;

/// Characters of a quoted part of a warning.
const QUOTED: usize = 160;

impl Notes {
    /// Remembers the report of the reader of a file.
    pub(crate) fn add(&mut self, name: &str, report: Report) {
        self.advertise(report.unmeasured.iter().copied());
        self.files.push((name.to_owned(), report));
    }

    /// Remembers what was found in a file of ads.
    pub(crate) fn add_file(&mut self, file: AdFileReport) {
        self.warn_of_slurm(&file.warnings);
        self.add(&file.name, file.report);
    }

    /// Remembers warnings about Slurm's files.
    pub(super) fn warn_of_slurm(&mut self, warnings: &[Diagnostic]) {
        if warnings.iter().any(|warning| warning.code == SKIPPED_LINE) {
            self.skipped();
        }
        self.warn_by_kind(warnings.iter().map(with_help));
    }

    /// Adds the messages of another part of the input.
    pub(crate) fn extend(&mut self, other: Notes) {
        self.files.extend(other.files);
        self.warnings.extend(other.warnings);
        self.unmeasured.extend(other.unmeasured);
        self.flaw = self.flaw.or(other.flaw);
    }

    /// Leaves out a text in warnings and in the names of files, such as a folder that the user does not know.
    #[must_use]
    pub(super) fn without(self, text: &str) -> Self {
        let warnings = self.warnings.iter().map(|warning| warning.replace(text, "")).collect();
        let files = self.files.into_iter().map(|(name, report)| (name.replace(text, ""), report)).collect();
        Notes { files, warnings, ..self }
    }

    /// Remembers versions that ads advertise, of which some may be read as another one.
    pub(super) fn advertise(&mut self, versions: impl IntoIterator<Item = Series>) {
        self.unmeasured.extend(versions);
    }

    /// Remembers a warning; repeated ones are shown once.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.insert(warning);
    }

    /// Remembers warnings about lines: of each kind, which is the message without places, numbers and quoted parts, the first
    /// few and the number of the others.
    pub(crate) fn warn_by_kind(&mut self, warnings: impl IntoIterator<Item = String>) {
        let mut kinds = MessageKinds::new(SHOWN_IGNORED as u64);
        for warning in warnings.into_iter().filter(|warning| kinds.is_shown("warning", warning)) {
            let parts: Vec<&str> = warning.split('`').collect();
            let shown =
                |(at, part): (usize, &&str)| if at % 2 == 1 { shortened(part, QUOTED) } else { (*part).to_owned() };
            self.warn(parts.iter().enumerate().map(shown).collect::<Vec<_>>().join("`"));
        }
        for (hidden, kind) in kinds.hidden() {
            let message = kind.split_once(": ").map_or(kind, |(_, message)| message);
            self.warn(format!("{hidden} not shown: {message}"));
        }
    }

    /// Remembers that input was skipped, of which there is a warning.
    pub(crate) fn skipped(&mut self) {
        self.flaw = Some(SKIPPED);
    }

    /// Remembers a warning about input that is skipped.
    pub(crate) fn skip(&mut self, warning: String) {
        self.warn(warning);
        self.skipped();
    }

    /// Remembers a warning about a change that has no effect.
    pub(crate) fn no_effect(&mut self, warning: String) {
        self.warn(warning);
        self.flaw = Some("a change has no effect");
    }

    /// True if the reader of a file reported something.
    pub(super) fn any_of(&self, file: &str) -> bool {
        self.files.iter().any(|(name, report)| name == file && !report.is_clean())
    }

    /// True if input was skipped.
    pub(crate) fn any(&self) -> bool {
        self.flaw.is_some() || self.files.iter().any(|(_, report)| !report.is_clean())
    }

    /// Shows the messages on standard error.
    pub(crate) fn show(&self, color: Color) {
        if self.any() {
            let _ = FLAW.set(self.flaw.unwrap_or(SKIPPED));
        }
        for (message, drawn) in self.messages(color) {
            show_message(&message, &drawn);
        }
    }

    /// The messages for people; each may have several lines.
    pub(crate) fn lines(&self, color: Color) -> Vec<String> {
        self.messages(color).into_iter().map(|(_, drawn)| drawn).collect()
    }

    /// The messages, and what they look like.
    fn messages(&self, color: Color) -> Vec<(Message, String)> {
        let plain = |text: String| (Message::of_text(&text), text);
        let fault = |fault: &Fault, name: &str, is_ignored: bool| {
            let (line, column) = (Some(fault.position.line), Some(fault.position.column));
            let body =
                MessageBody { file: Some(name.to_owned()), line, column, ..MessageBody::plain(fault.to_string()) };
            let drawn = escape::own(&format!("{}\n", report::render_fault(fault, name, is_ignored, color)));
            (if is_ignored { Message::Warning(body) } else { Message::Error(body) }, drawn)
        };
        let mut lines: Vec<(Message, String)> =
            self.warnings.iter().map(|warning| plain(format!("warning: {warning}"))).collect();
        lines.extend(language::unmeasured(&self.unmeasured).map(|note| plain(format!("warning: {note}"))));
        for (name, report) in &self.files {
            for ignored in report.ignored.iter().take(SHOWN_IGNORED) {
                lines.push(fault(ignored, name, true));
            }
            let hidden = report.ignored_texts.saturating_sub(SHOWN_IGNORED as u64);
            if hidden > 0 {
                lines.push(plain(format!("note: ignored the end of {} more in `{name}`", counted(hidden, "line"))));
            }
            if report.is_clean() {
                continue;
            }
            lines.extend(report.faults.iter().take(SHOWN).map(|found| fault(found, name, false)));
            let hidden = report.errors.saturating_sub(SHOWN as u64);
            if hidden > 0 {
                lines.push(plain(format!("note: {} in `{name}` not shown", counted(hidden, "more error"))));
            }
            if report.unread_bytes > 0 {
                lines.push(plain(format!(
                    "note: skipped the rest of `{name}` ({}), because an ad before it is not closed",
                    counted(report.unread_bytes, "byte")
                )));
            }
            if report.is_cut {
                lines.push(plain(format!(
                    "note: skipped the rest of `{name}`, because it expands to more than {RATIO} times its compressed \
                     size (expand it first if it is what it should be)"
                )));
            }
            lines.push(plain(format!(
                "note: {} {} read from `{name}`; skipped: {}, {}",
                counted(report.ads, "ad"),
                if report.ads == 1 { "was" } else { "were" },
                counted(report.skipped_ads, "ad"),
                counted(report.skipped_attributes, "line"),
            )));
        }
        lines
    }
}
