//! The accountant's log as a file: locked, appended to in transactions, compacted, recovered.
//!
//! In: a path and transactions. Out: the records in memory, always those on disk. Formula source:
//! `docs/reference/accountant.md` 8.
//!
//! A transaction is written with one call after the last good byte and applied in memory only after it is on disk. If
//! writing fails, the file is cut back to its former length. A compaction writes a new file beside the old one and
//! renames it, so that the name always refers to a complete log.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::entry::{Entry, Unwritable};
use super::log::{AccountantLog, LogError, LogWarning, Replay};

/// `MAX_ACCOUNTANT_DATABASE_SIZE` by default, bytes.
pub const MAX_LOG_BYTES: u64 = 1_000_000;

/// Errors with the file of the log.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be opened, read, written, renamed or locked.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// The failed operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// Another process writes to the log.
    #[error("`{}` is locked by another program", path.display())]
    Locked {
        /// The log.
        path: PathBuf,
    },
    /// A record in the middle cannot be read.
    #[error("`{}`: {error}", path.display())]
    Corrupt {
        /// The log.
        path: PathBuf,
        /// The place of the error and the expected content.
        error: LogError,
    },
    /// A name or a value that the log cannot hold.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// An earlier write failed and could not be taken back.
    #[error("an earlier failure left `{}` incomplete: no more data is written", path.display())]
    Abandoned {
        /// The log.
        path: PathBuf,
    },
}

impl JournalError {
    /// The suggested remedy.
    pub fn help(&self) -> &'static str {
        match self {
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free disk space and run the command again: the log is unchanged"
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "the log and its directory must be writable; the log is unchanged"
                }
                _ => "the log is unchanged",
            },
            Self::Locked { .. } => "wait until the other program ends",
            Self::Corrupt { .. } => "the log is unchanged: restore it from a copy, or correct the line",
            Self::Unwritable(_) => "submitter names have the form user@domain, without spaces",
            Self::Abandoned { .. } => "open the log again to discard the incomplete data",
        }
    }
}

/// Changes that are made together or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    lines: Vec<u8>,
}

impl Transaction {
    /// No changes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// A name or value that the log cannot hold; nothing is added.
    pub fn push(&mut self, entry: Entry<'_>) -> Result<(), Unwritable> {
        entry.encode(&mut self.lines)
    }

    /// Returns whether there is nothing to change; committing it writes nothing.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines as they are in the log, without begin and end.
    pub fn as_bytes(&self) -> &[u8] {
        &self.lines
    }
}

/// An open accountant's log, of which this is the only writer.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Held as long as the journal is.
    _lock: LogLock,
    log: AccountantLog,
    /// Length of the file, all of it whole transactions.
    length: u64,
    largest: u64,
    /// Damage found by recovery before the log was repaired.
    found: Vec<LogWarning>,
    abandoned: bool,
}

impl Journal {
    /// Opens a log for writing, creating it if there is none, and recovers it: an unfinished end is discarded.
    ///
    /// `now` (epoch seconds) becomes the creation time of a new log. Warnings are in [`Journal::found`].
    ///
    /// # Errors
    /// A file that cannot be opened, a second writer, or a record in the middle that cannot be read; nothing is
    /// changed then.
    pub fn open(path: &Path, now: i64) -> Result<Self, JournalError> {
        let lock = lock(path)?;
        let failed = |what| move |source| JournalError::File { what, path: path.to_owned(), source };
        let mut file = open_private(path, false).map_err(failed("open"))?;
        if !file.metadata().map_err(failed("open"))?.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file");
            return Err(failed("open")(source));
        }
        let (log, length) = recover(&mut file, path)?;
        let found = log.warnings().to_vec();
        let mut journal = Self {
            path: path.to_owned(),
            file,
            _lock: lock,
            log,
            length,
            largest: MAX_LOG_BYTES,
            found,
            abandoned: false,
        };
        if journal.length == 0 {
            journal.log.set_header(1, now);
            let mut header = Vec::new();
            Entry::Header { sequence: 1, created: now }.encode(&mut header)?;
            journal.append(&header)?;
            sync_directory(path).map_err(failed("sync the directory of"))?;
        } else if journal.found.iter().any(|warning| warning.is_lost_end()) {
            journal.compact(now)?;
        }
        Ok(journal)
    }

    /// The records, as they are on disk.
    pub fn log(&self) -> &AccountantLog {
        &self.log
    }

    /// Warnings from opening the log.
    pub fn found(&self) -> &[LogWarning] {
        &self.found
    }

    /// Length of the file, bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Beyond how many bytes [`Journal::compact_if_large`] compacts.
    pub fn set_largest(&mut self, bytes: u64) {
        self.largest = bytes;
    }

    /// Makes the changes of a transaction, on disk and then in memory; one without changes writes nothing.
    ///
    /// # Errors
    /// A file that cannot be written: file and memory are as before.
    pub fn commit(&mut self, transaction: &Transaction) -> Result<(), JournalError> {
        if transaction.is_empty() {
            return Ok(());
        }
        let mut text = Vec::with_capacity(transaction.lines.len() + 16);
        Entry::Begin.encode(&mut text)?;
        text.extend_from_slice(&transaction.lines);
        Entry::End.encode(&mut text)?;
        self.append(&text)?;
        self.log.change(transaction);
        Ok(())
    }

    /// Rewrites the log with one line an attribute, under the next sequence number. `now` is the birth of a log that
    /// had no header.
    ///
    /// # Errors
    /// A file that cannot be written or renamed; the log is as before.
    pub fn compact(&mut self, now: i64) -> Result<(), JournalError> {
        let new = with_suffix(&self.path, ".tmp");
        let before = (self.log.sequence(), self.log.created());
        let sequence = before.0.map_or(1, |sequence| sequence.saturating_add(1));
        self.log.set_header(sequence, before.1.unwrap_or(now));
        let written = write_whole(&new, &self.log)
            .and_then(|written| std::fs::rename(&new, &self.path).map(|()| written).map_err(|error| ("rename", error)));
        match written {
            Ok((file, length)) => {
                (self.file, self.length, self.abandoned) = (file, length, false);
                let source = sync_directory(&self.path);
                let what = "sync the directory of";
                source.map_err(|source| JournalError::File { what, path: self.path.clone(), source })
            }
            Err((what, source)) => {
                self.log.restore_header(before);
                // The old log is still in place; the incomplete new one is useless.
                let _ = std::fs::remove_file(&new);
                Err(JournalError::File { what, path: new, source })
            }
        }
    }

    /// Compacts a log that has grown beyond the limit; if compacting helps little, the limit grows with the log.
    ///
    /// # Errors
    /// As [`Journal::compact`].
    pub fn compact_if_large(&mut self, now: i64) -> Result<(), JournalError> {
        if self.length > self.largest {
            self.compact(now)?;
            self.largest = self.largest.max(self.length.saturating_mul(2));
        }
        Ok(())
    }

    fn append(&mut self, text: &[u8]) -> Result<(), JournalError> {
        if self.abandoned {
            return Err(JournalError::Abandoned { path: self.path.clone() });
        }
        let written = self.file.seek(SeekFrom::Start(self.length)).and_then(|_| self.file.write_all(text));
        match written.and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(source) => {
                // If even this fails, the unfinished end is left to the recovery of the next start.
                self.abandoned = self.file.set_len(self.length).is_err();
                Err(JournalError::File { what: "write to", path: self.path.clone(), source })
            }
        }
    }
}

impl AccountantLog {
    /// Makes the changes of a transaction, in memory.
    pub(super) fn change(&mut self, transaction: &Transaction) {
        for line in transaction.lines.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            if let Ok(entry) = Entry::decode(line) {
                self.apply(entry);
            }
        }
    }
}

/// Reads a log from anything that is read in pieces; also gives its length in bytes.
///
/// # Errors
/// An error of the reader, or a record in the middle that cannot be read.
///
/// ```
/// let (log, length) = classmate_pool::internal::accountant::journal::read_log(&b"101 K * *\n103 K A 1\n"[..]).unwrap();
/// assert_eq!((log.iter().count(), length), (1, 20));
/// ```
pub fn read_log(reader: impl Read) -> io::Result<(AccountantLog, u64)> {
    let mut replay = Replay::default();
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let (mut line, mut length) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        length += line.len() as u64;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        replay.line(whole).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        line.clear();
    }
    Ok((replay.finish(&line), length))
}

fn recover(file: &mut File, path: &Path) -> Result<(AccountantLog, u64), JournalError> {
    read_log(file).map_err(|error| {
        let corrupt = error.get_ref().and_then(|inner| inner.downcast_ref::<LogError>()).cloned();
        match corrupt {
            Some(error) => JournalError::Corrupt { path: path.to_owned(), error },
            None => JournalError::File { what: "read", path: path.to_owned(), source: error },
        }
    })
}

/// The lock of a log.
#[derive(Debug)]
struct LogLock(File);

impl Drop for LogLock {
    /// Unlocks: a program that is started at this moment may still have a copy of the open file, which would keep the lock.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a log: a file of its own, because compacting replaces the log.
fn lock(path: &Path) -> Result<LogLock, JournalError> {
    let name = with_suffix(path, ".lock");
    let failed = |what| {
        let path = name.clone();
        move |source| JournalError::File { what, path, source }
    };
    let file = open_private(&name, false).map_err(failed("open"))?;
    match file.try_lock() {
        Ok(()) => Ok(LogLock(file)),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed("lock")(source)),
    }
}

/// Writes a compacted log to a new file and onto the disk.
fn write_whole(path: &Path, log: &AccountantLog) -> Result<(File, u64), (&'static str, io::Error)> {
    let file = open_private(path, true).map_err(|error| ("open", error))?;
    let mut out = BufWriter::new(file);
    let text = log.to_text();
    let written = out.write_all(&text).and_then(|()| out.flush()).and_then(|()| out.get_ref().sync_all());
    written.map_err(|error| ("write", error))?;
    let file = out.into_inner().map_err(|error| ("write", error.into_error()))?;
    Ok((file, text.len() as u64))
}

/// A new name is on disk only when its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}

/// A file beside another one, with a longer name.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Opens a file, creating it if there is none. Files are private to their owner, as in HTCondor.
fn open_private(path: &Path, truncate: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(truncate);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &[u8], value: i64) -> Transaction {
        let mut transaction = Transaction::new();
        transaction.push(Entry::Create { key }).unwrap();
        for name in [b"A".as_slice(), b"B"] {
            transaction.push(Entry::Set { key, name, value: value.to_string().as_bytes() }).unwrap();
        }
        transaction
    }

    fn values(log: &AccountantLog) -> Vec<(Vec<u8>, Option<i64>, Option<i64>)> {
        log.iter().map(|(key, record)| (key.to_vec(), record.integer("A"), record.integer("B"))).collect()
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Accountantnew.log");
        (folder, path)
    }

    #[test]
    fn a_new_log_has_a_header_and_what_is_committed() {
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        journal.commit(&set(b"K", 1)).unwrap();
        journal.commit(&Transaction::new()).unwrap();
        let expected = "107 1 CreationTimestamp 7\n105 \n101 K * *\n103 K A 1\n103 K B 1\n106 \n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(journal.length(), expected.len() as u64);
        drop(journal);
        let journal = Journal::open(&path, 9).unwrap();
        assert_eq!(values(journal.log()), [(b"K".to_vec(), Some(1), Some(1))]);
        assert_eq!((journal.log().created(), journal.found().len()), (Some(7), 0));
    }

    #[test]
    #[cfg(unix)]
    fn the_log_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        journal.compact(7).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    /// Cut at every byte, a log is recovered to the last complete transaction, with a warning, and can be continued.
    #[test]
    fn a_log_cut_anywhere_keeps_every_whole_transaction() {
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        let mut ends = vec![(journal.length(), Vec::new())];
        for (key, value) in [(b"K", 1), (b"L", 2), (b"K", 30), (b"M", 4)] {
            journal.commit(&set(key, value)).unwrap();
            ends.push((journal.length(), values(journal.log())));
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&path, 7).unwrap();
            let last = ends.iter().rev().find(|(end, _)| *end <= cut as u64);
            let expected = last.map(|(_, values)| values.clone()).unwrap_or_default();
            assert_eq!(values(journal.log()), expected, "cut at {cut}");
            let clean = cut == 0 || ends.iter().any(|(end, _)| *end == cut as u64);
            assert_eq!(journal.found().is_empty(), clean, "cut at {cut}: {:?}", journal.found());
            journal.commit(&set(b"N", 5)).unwrap();
            drop(journal);
            let again = Journal::open(&path, 7).unwrap();
            assert_eq!(again.found(), [], "cut at {cut}");
            assert_eq!(values(again.log()).len(), expected.len() + 1, "cut at {cut}");
        }
    }

    #[test]
    fn there_is_one_writer() {
        let (_folder, path) = folder();
        let journal = Journal::open(&path, 7).unwrap();
        let error = Journal::open(&path, 7).unwrap_err();
        assert!(matches!(error, JournalError::Locked { .. }), "{error}");
        drop(journal);
        assert!(Journal::open(&path, 7).is_ok());
    }

    #[test]
    fn a_corrupt_record_is_reported_with_its_place_and_nothing_is_changed() {
        let (_folder, path) = folder();
        let text = "107 1 CreationTimestamp 7\n101 K * *\n1o3 K A 1\n103 K B 1\n";
        std::fs::write(&path, text).unwrap();
        let error = Journal::open(&path, 7).unwrap_err();
        assert!(error.to_string().contains("line 3 of the accountant's log (at byte 36) cannot be read"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn compacting_keeps_the_records_and_counts() {
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        for value in 0..50 {
            journal.commit(&set(b"K", value)).unwrap();
        }
        let before = values(journal.log());
        journal.set_largest(100);
        journal.compact_if_large(8).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "107 2 CreationTimestamp 7\n101 K * *\n103 K A 49\n103 K B 49\n");
        assert_eq!((journal.length(), values(journal.log())), (text.len() as u64, before));
        // Twice the new size is beyond the limit, which grows: the next commit does not compact again.
        journal.commit(&set(b"L", 1)).unwrap();
        journal.compact_if_large(8).unwrap();
        assert_eq!(journal.log().sequence(), Some(2));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(&text));
    }

    /// A full disk, as `/dev/full` is one: the commit fails, memory and the next start have what was before.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_leaves_the_books_as_they_were() {
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        journal.commit(&set(b"K", 1)).unwrap();
        let file = std::mem::replace(&mut journal.file, File::options().write(true).open("/dev/full").unwrap());
        let error = journal.commit(&set(b"K", 2)).unwrap_err();
        assert!(error.to_string().starts_with("cannot write to"), "{error}");
        assert!(error.help().starts_with("free disk space"), "{}", error.help());
        assert_eq!(values(journal.log()), [(b"K".to_vec(), Some(1), Some(1))]);
        // `/dev/full` cannot be cut back, so nothing more is written until the next start.
        journal.file = file;
        assert!(matches!(journal.commit(&set(b"K", 3)), Err(JournalError::Abandoned { .. })));
        drop(journal);
        let journal = Journal::open(&path, 7).unwrap();
        assert_eq!(values(journal.log()), [(b"K".to_vec(), Some(1), Some(1))]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_compaction_without_room_leaves_the_old_log() {
        let (_folder, path) = folder();
        let mut journal = Journal::open(&path, 7).unwrap();
        journal.commit(&set(b"K", 1)).unwrap();
        let before = std::fs::read(&path).unwrap();
        std::os::unix::fs::symlink("/dev/full", path.with_extension("log.tmp")).unwrap();
        let error = journal.compact(7).unwrap_err();
        assert!(error.help().starts_with("free disk space"), "{error}");
        assert_eq!((std::fs::read(&path).unwrap(), journal.log().sequence()), (before, Some(1)));
        journal.commit(&set(b"K", 2)).unwrap();
        journal.compact(7).unwrap();
        drop(journal);
        assert_eq!(values(Journal::open(&path, 7).unwrap().log()), [(b"K".to_vec(), Some(2), Some(2))]);
    }

    #[test]
    #[cfg(unix)]
    fn a_directory_that_cannot_be_written_is_reported() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, path) = folder();
        let mode = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o555);
        // The super-user may write everywhere.
        if File::create(folder.path().join("probe")).is_err() {
            let error = Journal::open(&path, 7).unwrap_err();
            assert!(error.help().contains("must be writable"), "{error}");
        }
        mode(0o755);
        assert!(Journal::open(&path, 7).is_ok());
    }

    #[test]
    fn a_directory_that_is_not_there_is_reported() {
        let (folder, _) = folder();
        let error = Journal::open(&folder.path().join("none/Accountantnew.log"), 7).unwrap_err();
        assert!(error.to_string().starts_with("cannot open"), "{error}");
        let error = Journal::open(folder.path(), 7).unwrap_err();
        assert!(error.to_string().starts_with("cannot open"), "{error}");
    }

    #[test]
    fn a_log_read_in_pieces_is_the_log() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let taken = self.0.len().min(3);
                out[..taken].copy_from_slice(&self.0[..taken]);
                self.0 = &self.0[taken..];
                Ok(taken)
            }
        }
        let text = b"101 K * *\n105 \n103 K A 1\n106 \n103 K B 2\n10";
        let (log, length) = read_log(Slow(text)).unwrap();
        assert_eq!((values(&log), length), (values(&AccountantLog::read(text).unwrap()), text.len() as u64));
        assert_eq!(log.warnings(), [LogWarning::UnfinishedLine(6)]);
    }
}
