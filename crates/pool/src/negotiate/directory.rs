//! A pool directory: the output of the tools of a pool, and the configuration of its negotiator.
//!
//! In: `slots.ads`, `jobs.ads`, and if present `submitters.ads`, `Accountantnew.log` or `accounting.ads`, `condor_config`,
//! `config.d` and `config`.
//! Out: a [`Snapshot`], with everything that was skipped.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::accountant::entry::Unwritable;
use crate::accountant::{AccountantLog, LogError};
use crate::listing::ListingFormat;
use crate::negotiate::{Snapshot, needed};
use crate::queue::cluster::Siblings;
use classmate::internal::ad::ClassAd;
use classmate::internal::format::Reader;
use classmate::internal::format::parallel::read_long;
use classmate::internal::format::report::Report;
use classmate::internal::format::room::Room;
use classmate::internal::format::selection::{Chooser, Selection};
use classmate::internal::name::Name;
use classmate::{Diagnostic, ParseOptions, Semantics};
use classmate_config::internal::config::disk::io_reason;
use classmate_config::internal::config::user_map::user_maps;
use classmate_config::internal::config::{BYTE_ORDER_MARK, Config, ConfigError, Disk};

/// The ad files of a pool.
#[derive(Debug, Clone, Default)]
pub struct AdFiles {
    /// Slot ads.
    pub slots: Option<PathBuf>,
    /// Job ads.
    pub jobs: Option<PathBuf>,
    /// Submitter ads. `None`: they are derived from the jobs.
    pub submitters: Option<PathBuf>,
}

/// The part of slot ads that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotAttributes {
    /// All attributes.
    All,
    /// Those that one cycle under HTCondor's policy can read.
    Cycle,
    /// Those that one cycle can read, those with names similar to misspelled ones, and the names of all others. Reads
    /// the file of slots twice.
    Explanation,
}

impl SlotAttributes {
    /// The attributes to read; `None`: all. For explanations, `first` are some slots.
    pub fn selection(self, config: &Config, jobs: &[ClassAd], first: &[ClassAd]) -> Option<Selection> {
        match self {
            SlotAttributes::All => None,
            SlotAttributes::Cycle => needed::selection(config, jobs),
            SlotAttributes::Explanation => needed::selection_to_explain(config, jobs, first),
        }
    }
}

/// The names of attributes of these slots.
pub fn names_of(slots: &[ClassAd]) -> Vec<Name> {
    let mut seen = HashSet::new();
    slots.iter().flat_map(ClassAd::names).filter(|name| seen.insert(name.key())).collect()
}

/// The ads of a pool, and what was skipped in their files.
#[derive(Debug, Clone, Default)]
pub struct PoolAds {
    /// Slot ads.
    pub slots: Vec<ClassAd>,
    /// Names of slot attributes that were not kept.
    pub unkept: Vec<Name>,
    /// Job ads.
    pub jobs: Vec<ClassAd>,
    /// Submitter ads.
    pub submitters: Option<Vec<ClassAd>>,
    /// The reports on the files: slots, jobs, submitters.
    pub reports: Vec<AdFileReport>,
}

/// A file of ads that was read to its end.
#[derive(Debug, Clone, Default)]
pub struct AdFileReport {
    /// The name for messages.
    pub name: String,
    /// The ads, and what was skipped.
    pub report: Report,
    /// Warnings about a `slurm.conf`.
    pub warnings: Vec<Diagnostic>,
}

/// An open file of ads.
pub struct AdInput {
    /// Its ads.
    pub source: AdSource,
    /// The name for messages.
    pub name: String,
    /// The room for its ads.
    pub room: Room,
}

/// Ads that are to be read, or were made of a text of another kind.
pub enum AdSource {
    /// The bytes, decompressed and without a byte order mark.
    Text(Box<dyn BufRead + Send>),
    /// The ads of the jobs of a submit file, or of a listing of Slurm.
    Made(Vec<ClassAd>),
}

/// Number of bytes that decide the kind of a file.
const BEGINNING: u64 = 1 << 18;

/// Number of lines that tell a listing of Slurm from ads, if the file is no `slurm.conf`.
const FIRST_LINES: usize = 3;

impl AdInput {
    /// A file of ads as bytes, decompressed and without a byte order mark.
    pub fn text(reader: Box<dyn BufRead + Send>, name: String, room: Room) -> Self {
        AdInput { source: AdSource::Text(reader), name, room }
    }

    /// Reads the file if it is a listing of Slurm, and returns the warnings. Looks at the first lines, or at a longer part of
    /// it; that may arrive in small pieces.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_listing(&mut self, only_lines: bool) -> io::Result<Vec<Diagnostic>> {
        let AdSource::Text(reader) = &mut self.source else { return Ok(Vec::new()) };
        let reader: Box<dyn BufRead + Send> = std::mem::replace(reader, Box::new(io::empty()));
        let (mut start, mut begin) = (Vec::new(), reader.take(BEGINNING));
        if only_lines {
            for _ in 0..FIRST_LINES {
                begin.read_until(b'\n', &mut start)?;
            }
        } else {
            begin.read_to_end(&mut start)?;
        }
        let found = ListingFormat::detect(&start);
        let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(start).chain(begin.into_inner()));
        let Some(listing) = found else {
            self.source = AdSource::Text(reader);
            return Ok(Vec::new());
        };
        let (ads, warnings) = listing.read(&self.name, reader)?;
        self.source = AdSource::Made(ads);
        Ok(warnings)
    }
}

/// A pool directory that was read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoadedPool {
    /// The pool.
    pub snapshot: Snapshot,
    /// The reports of the ad files by name, which list the skipped input.
    pub reports: Vec<(String, Report)>,
    /// Warnings of the configuration, the user maps and the accountant's log.
    pub warnings: Vec<String>,
}

/// A pool directory that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that cannot be read.
    #[error("cannot read `{name}`: {}", io_reason(.error))]
    File {
        /// Its name.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// An invalid configuration.
    #[error("{}", .0.to_line())]
    Config(ConfigError),
    /// An invalid accountant's log.
    #[error("`{name}`: {error}")]
    AccountantLog {
        /// Its name.
        name: String,
        /// The error.
        error: LogError,
    },
}

impl Snapshot {
    /// Reads a pool directory: `slots.ads`, `jobs.ads` and, if they exist, `submitters.ads`, `Accountantnew.log` (otherwise
    /// `accounting.ads`), the configuration and the user maps that it names. The clock is the newest time in these files. The policy is that of
    /// HTCondor: files of Slurm and DIRAC are not read.
    ///
    /// # Errors
    /// A file that is missing or cannot be read, or an invalid configuration or log. Ads that cannot be read are skipped and
    /// reported.
    ///
    /// ```
    /// use classmate_pool::{Snapshot, negotiate};
    /// let pool = Snapshot::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pool"))?;
    /// assert!(pool.warnings.is_empty() && pool.reports.iter().all(|(_, report)| report.is_clean()));
    /// assert!(!negotiate(&pool.snapshot).unwrap().matches.is_empty());
    /// # Ok::<(), classmate_pool::internal::negotiate::LoadError>(())
    /// ```
    pub fn read_dir(directory: impl AsRef<Path>) -> Result<LoadedPool, LoadError> {
        Self::read_dir_as(directory, Semantics::default())
    }

    /// As [`Snapshot::read_dir`], in another version of the language.
    ///
    /// # Errors
    /// As [`Snapshot::read_dir`].
    pub fn read_dir_as(directory: impl AsRef<Path>, semantics: Semantics) -> Result<LoadedPool, LoadError> {
        let directory = directory.as_ref();
        let failed = |path: &Path, error| LoadError::File { name: path.display().to_string(), error };
        let mut config = Config::default().read_as(semantics);
        let files =
            Disk::pool_config(directory).map_err(|(path, error)| failed(&path, io::Error::other(error.to_string())))?;
        for path in files {
            let text = std::fs::read(&path).map_err(|error| failed(&path, error))?;
            config.read(&path.display().to_string(), &text, &Disk).map_err(LoadError::Config)?;
        }
        let (maps, odd) = user_maps(&config, "NEGOTIATOR", &Disk).map_err(LoadError::Config)?;
        let mut warnings: Vec<String> = config.warnings().iter().map(Diagnostic::to_line).collect();
        warnings.extend(odd);
        let path = directory.join("Accountantnew.log");
        let log = if path.exists() {
            let text = std::fs::read(&path).map_err(|error| failed(&path, error))?;
            let log = AccountantLog::read(&text)
                .map_err(|error| LoadError::AccountantLog { name: path.display().to_string(), error })?;
            warnings.extend(log.warnings().iter().map(|warning| warning.to_line(&path)));
            Some(log)
        } else {
            published_log(&directory.join("accounting.ads"), &options(&config), open)?
        };
        let others = ["slurm.conf", "dirac.cfg"].map(|name| directory.join(name));
        let unread = others.iter().filter(|path| path.exists());
        warnings.extend(
            unread.map(|path| format!("`{}` was not read: it belongs to another scheduling policy", path.display())),
        );
        let submitters = Some(directory.join("submitters.ads")).filter(|path| path.exists());
        let files =
            AdFiles { slots: Some(directory.join("slots.ads")), jobs: Some(directory.join("jobs.ads")), submitters };
        let PoolAds { slots, unkept, jobs, submitters, reports } = files.read(&config, SlotAttributes::All, open)?;
        warnings.extend(reports.iter().flat_map(|file| &file.warnings).map(Diagnostic::to_line));
        let reports = reports.into_iter().map(|file| (file.name, file.report)).collect();
        let maps = Arc::new(maps);
        let mut snapshot = Snapshot { config, slots, unkept, jobs, submitters, log, maps, ..Snapshot::default() };
        snapshot.now = snapshot.newest_time();
        Ok(LoadedPool { snapshot, reports, warnings })
    }
}

/// The accountant's records in a file of accounting ads, if it exists; `open` opens a file.
///
/// # Errors
/// A file that cannot be read, or a name that the log cannot hold.
pub fn published_log<E: From<LoadError>>(
    path: &Path,
    options: &ParseOptions,
    open: impl Fn(&Path) -> Result<AdInput, E>,
) -> Result<Option<AccountantLog>, E> {
    if !path.exists() {
        return Ok(None);
    }
    let (ads, AdFileReport { name, .. }) = read_ads(open(path)?, options, None, |ad, ()| ad)?;
    let unwritable = |error: Unwritable| LoadError::File { name, error: io::Error::other(error.to_string()) };
    Ok(Some(AccountantLog::of_ads(&ads).map_err(unwritable)?))
}

/// Reads all ads of a file that is not compressed, in any format.
///
/// # Errors
/// A file that is missing or cannot be read.
pub fn read_ad_file(path: impl AsRef<Path>) -> Result<Vec<ClassAd>, LoadError> {
    Ok(read_ads(open(path.as_ref())?, &ParseOptions::default(), None, |ad, ()| ad)?.0)
}

/// Opens a file that is not compressed.
fn open(path: &Path) -> Result<AdInput, LoadError> {
    let name = path.display().to_string();
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::with_capacity(1 << 18, file),
        Err(error) => return Err(LoadError::File { name, error }),
    };
    match reader.fill_buf() {
        Ok(start) if start.starts_with(BYTE_ORDER_MARK) => reader.consume(BYTE_ORDER_MARK.len()),
        Ok(_) => {}
        Err(error) => return Err(LoadError::File { name, error }),
    }
    Ok(AdInput::text(Box::new(reader), name, Room::default()))
}

/// Number of slots whose attribute names are collected although the values are not kept.
pub const NAMED_SLOTS: usize = 1000;

impl AdFiles {
    /// Reads the ads; `open` opens a file. Jobs come first, since they and the configuration decide which attributes of slots
    /// are needed.
    ///
    /// # Errors
    /// A file that cannot be opened or read.
    pub fn read<E: From<LoadError>>(
        &self,
        config: &Config,
        kept: SlotAttributes,
        open: impl Fn(&Path) -> Result<AdInput, E>,
    ) -> Result<PoolAds, E> {
        let ads = |path: &Path, selection: Option<Selection>| -> Result<_, E> {
            Ok(read_ads(open(path)?, &options(config), selection.map(Arc::new).as_ref(), |ad, ()| ad)?)
        };
        // Most attributes of a job are those of its cluster, and are kept once.
        let jobs = match &self.jobs {
            Some(path) => {
                Some(read_ads(open(path)?, &options(config), None, |ad, siblings: &mut Siblings| siblings.chain(ad))?)
            }
            None => None,
        };
        let (jobs, of_jobs) = jobs.unzip();
        let jobs = jobs.unwrap_or_default();
        let first = match &self.slots {
            Some(path) if kept == SlotAttributes::Explanation => first_ads(open(path)?, NAMED_SLOTS, &options(config))?,
            _ => Vec::new(),
        };
        let selection = kept.selection(config, &jobs, &first);
        let unkept = names_of(&first);
        let (slots, of_slots) = self.slots.as_deref().map(|path| ads(path, selection)).transpose()?.unzip();
        let (submitters, of_submitters) = self.submitters.as_deref().map(|path| ads(path, None)).transpose()?.unzip();
        let reports = [of_slots, of_jobs, of_submitters].into_iter().flatten().collect();
        Ok(PoolAds { slots: slots.unwrap_or_default(), unkept, jobs, submitters, reports })
    }
}

/// The text that `condor_q -global -long` prints where there are no jobs.
const EMPTY_QUEUES: &[u8] = b"All queues are empty";

/// Reads all ads of a file, on all threads if it has the long format. With a selection, constants that it does not
/// contain are dropped. `make` may change each ad as it is read.
///
/// # Errors
/// A file that cannot be read to its end.
pub fn read_ads<K: Default>(
    mut input: AdInput,
    options: &ParseOptions,
    selection: Option<&Arc<Selection>>,
    make: impl Fn(ClassAd, &mut K) -> ClassAd + Sync,
) -> Result<(Vec<ClassAd>, AdFileReport), LoadError> {
    let listing = input.read_listing(false);
    let AdInput { source, name, room } = input;
    let mut warnings = Vec::new();
    let read = || {
        warnings = listing?;
        let mut reader = match source {
            AdSource::Text(reader) => reader,
            AdSource::Made(ads) => {
                ads.iter().try_for_each(|ad| room.keep(ad))?;
                let (mut report, mut kept) = (Report::default(), K::default());
                report.ads = ads.len() as u64;
                return Ok((ads.into_iter().map(|ad| make(ad, &mut kept)).collect(), report));
            }
        };
        let start = reader.fill_buf()?;
        if start.trim_ascii() == EMPTY_QUEUES {
            return Ok((Vec::new(), Report::default()));
        }
        let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
        // An attribute's name: no other format begins like this.
        if first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            return read_long(reader, options, selection, &room, make);
        }
        let mut reader = Reader::detect(reader, options)?;
        let (mut kept, mut chooser) = (K::default(), selection.map(|selection| Chooser::new(Arc::clone(selection))));
        let mut made = |ad| match &mut chooser {
            Some(chooser) => make(chooser.project(&ad), &mut kept),
            None => make(ad, &mut kept),
        };
        let mut ads = Vec::new();
        for ad in reader.by_ref() {
            let ad = made(ad?);
            room.keep(&ad)?;
            ads.push(ad);
        }
        Ok((ads, reader.report().clone()))
    };
    match read() {
        Ok((ads, report)) => Ok((ads, AdFileReport { name, report, warnings })),
        Err(error) => Err(LoadError::File { name, error }),
    }
}

/// Options by which the files of a pool are parsed.
fn options(config: &Config) -> ParseOptions {
    ParseOptions { semantics: config.semantics(), ..ParseOptions::default() }
}

/// Reads the first ads of a file; errors in them are reported when all are read.
fn first_ads(input: AdInput, count: usize, options: &ParseOptions) -> Result<Vec<ClassAd>, LoadError> {
    let ads = match input.source {
        AdSource::Text(reader) => {
            Reader::detect(reader, options).and_then(|mut reader| reader.by_ref().take(count).collect())
        }
        AdSource::Made(ads) => Ok(ads.into_iter().take(count).collect()),
    };
    ads.map_err(|error| LoadError::File { name: input.name, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ads of a text that arrives byte by byte.
    fn read_slowly(text: &str) -> Vec<ClassAd> {
        let reader = Box::new(BufReader::with_capacity(1, Cursor::new(text.as_bytes().to_vec())));
        let input = AdInput::text(reader, "slow".to_owned(), Room::default());
        read_ads(input, &ParseOptions::default(), None, |ad, ()| ad).unwrap().0
    }

    #[test]
    fn a_file_that_arrives_in_small_pieces_is_of_the_same_kind() {
        let jobs = read_slowly("JobId=7 JobName=a UserId=ann(1) JobState=PENDING Partition=p\n");
        assert_eq!(jobs[0].eval_int("ClusterId"), Some(7));
        let nodes = read_slowly("ClusterName=c\nNodeName=n[1-2] CPUs=4\n");
        assert_eq!(nodes.len(), 2);
        let ads = read_slowly("\nA = 1\nB = 2\n\nA = 3\n");
        assert_eq!((ads.len(), ads[1].eval_int("A")), (2, Some(3)));
        assert_eq!(read_slowly("{ \"A\": 1 }\n")[0].eval_int("A"), Some(1));
    }
}
