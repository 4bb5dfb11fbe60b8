//! `HTCondor`'s transaction log of the accountant: one record a line, replayed in order.
//!
//! In: lines. Out: the records by key, in the order in which they were created, and warnings. Formula source:
//! `docs/reference/accountant.md` 8.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;

use super::entry::Entry;
use super::record::{Record, is_value};

/// A line in the middle of a log that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the accountant's log (at byte {offset}) cannot be read: expected {expected}")]
#[non_exhaustive]
pub struct LogError {
    /// The line, from 1.
    pub line: u64,
    /// The byte at which the line begins, from 0.
    pub offset: u64,
    /// The expected content.
    pub expected: &'static str,
}

/// A problem in a log that does not stop the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogWarning {
    /// The last transaction, begun at this line, has no end and was discarded.
    UnfinishedTransaction(u64),
    /// The last line is incomplete and was discarded.
    UnfinishedLine(u64),
    /// A transaction begins inside another one.
    NestedBegin(u64),
    /// A transaction ends that did not begin.
    UnmatchedEnd(u64),
    /// An attribute is set or deleted of a record that does not exist.
    NoRecord(u64),
}

impl LogWarning {
    /// The warning as a sentence without its place.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnfinishedTransaction(_) => "discarded the last transaction, which is incomplete",
            Self::UnfinishedLine(_) => "discarded the last line, which is incomplete",
            Self::NestedBegin(_) => "a transaction starts inside another one",
            Self::UnmatchedEnd(_) => "a transaction ends that did not start",
            Self::NoRecord(_) => "skipped an attribute of a record that does not exist",
        }
    }

    /// The warning with its place in a file.
    pub fn to_line(self, path: &Path) -> String {
        format!("{}:{}: {}", path.display(), self.line(), self.as_str())
    }

    /// The line it is about, from 1.
    pub fn line(self) -> u64 {
        let (Self::UnfinishedTransaction(line)
        | Self::UnfinishedLine(line)
        | Self::NestedBegin(line)
        | Self::UnmatchedEnd(line)
        | Self::NoRecord(line)) = self;
        line
    }

    /// True if the end of the log was discarded: the log must be compacted before more is written.
    pub fn is_lost_end(self) -> bool {
        matches!(self, Self::UnfinishedTransaction(_) | Self::UnfinishedLine(_))
    }
}

/// The records of a log after replay.
///
/// ```
/// use classmate_pool::internal::accountant::AccountantLog;
/// let log = AccountantLog::read(b"101 Customer.a@x * *\n103 Customer.a@x Priority 5.000000\n").unwrap();
/// assert_eq!(log.get(b"Customer.a@x").unwrap().real("Priority"), Some(5.0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct AccountantLog {
    /// Keys and records by their numbers, which are in the order of their creation.
    records: BTreeMap<u64, (Box<[u8]>, Record)>,
    index: HashMap<Box<[u8]>, u64>,
    sequence: Option<i64>,
    created: Option<i64>,
    transactions: u64,
    warnings: Vec<LogWarning>,
    published: bool,
}

impl AccountantLog {
    /// True if the records are those that a running negotiator publishes: with the usage that it counts, but without its records of slots.
    pub fn is_published(&self) -> bool {
        self.published
    }

    /// Marks the records as published.
    pub(super) fn set_published(&mut self) {
        self.published = true;
    }

    /// Replays a whole log.
    ///
    /// # Errors
    /// A line that cannot be read and is not the last one.
    pub fn read(text: &[u8]) -> Result<Self, LogError> {
        let mut replay = Replay::default();
        let mut rest = text;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            replay.line(&rest[..end])?;
            rest = &rest[end + 1..];
        }
        Ok(replay.finish(rest))
    }

    /// A record by its key, such as `Customer.alice@example.org`; keys are case-sensitive.
    pub fn get(&self, key: &[u8]) -> Option<&Record> {
        self.records.get(self.index.get(key)?).map(|(_, record)| record)
    }

    /// Keys and records in the order of their creation.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Record)> {
        self.records.values().map(|(key, record)| (&**key, record))
    }

    /// The records of one table, such as `Customer`, by the rest of their keys.
    pub fn table<'a>(&'a self, table: &'a str) -> impl Iterator<Item = (&'a [u8], &'a Record)> {
        self.iter()
            .filter_map(move |(key, record)| Some((key.strip_prefix(table.as_bytes())?.strip_prefix(b".")?, record)))
    }

    /// Number of compactions of the log, plus 1; none without a header.
    pub fn sequence(&self) -> Option<i64> {
        self.sequence
    }

    /// Creation time of the first log, epoch seconds; none without a header.
    pub fn created(&self) -> Option<i64> {
        self.created
    }

    /// Number of finished transactions.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// The warnings, in order.
    pub fn warnings(&self) -> &[LogWarning] {
        &self.warnings
    }

    /// The log compacted: a header, and every record with its attributes. Reading it gives the same records.
    pub fn to_text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut line = |entry: Entry<'_>| {
            // What was read from a line can be written as one.
            let _ = entry.encode(&mut text);
        };
        if let (Some(sequence), Some(created)) = (self.sequence, self.created) {
            line(Entry::Header { sequence, created });
        }
        for (key, record) in self.iter() {
            line(Entry::Create { key });
            for (name, value) in record.iter() {
                line(Entry::Set { key, name, value });
            }
        }
        text
    }

    /// Sets the header.
    pub(super) fn set_header(&mut self, sequence: i64, created: i64) {
        (self.sequence, self.created) = (Some(sequence), Some(created));
    }

    /// Puts an earlier header back.
    pub(super) fn restore_header(&mut self, (sequence, created): (Option<i64>, Option<i64>)) {
        (self.sequence, self.created) = (sequence, created);
    }

    /// Applies an operation; whether it was about a record that exists.
    pub(super) fn apply(&mut self, entry: Entry<'_>) -> bool {
        match entry {
            Entry::Create { key } => {
                if !self.index.contains_key(key) {
                    let next = self.records.last_key_value().map_or(0, |(last, _)| last + 1);
                    self.index.insert(key.into(), next);
                    self.records.insert(next, (key.into(), Record::default()));
                }
            }
            Entry::Destroy { key } => {
                if let Some(at) = self.index.remove(key) {
                    self.records.remove(&at);
                }
            }
            Entry::Set { key, name, value } => match self.record(key) {
                Some(record) => record.set(name, value),
                None => return false,
            },
            Entry::Delete { key, name } => match self.record(key) {
                Some(record) => record.remove(name),
                None => return false,
            },
            Entry::Header { sequence, created } => self.set_header(sequence, created),
            Entry::Begin | Entry::End => {}
        }
        true
    }

    fn record(&mut self, key: &[u8]) -> Option<&mut Record> {
        self.records.get_mut(self.index.get(key)?).map(|(_, record)| record)
    }
}

/// Reads a log line by line, for logs that are not wholly in memory.
///
/// Holds the lines of the open transaction; besides them only records are kept.
#[derive(Debug, Default)]
pub struct Replay {
    log: AccountantLog,
    line: u64,
    offset: u64,
    /// Line at which the open transaction began, and its lines so far.
    open: Option<u64>,
    pending: Vec<u8>,
    /// A line that could not be read; an error only if another one follows.
    broken: Option<LogError>,
}

impl Replay {
    /// Takes one complete line, without its newline.
    ///
    /// # Errors
    /// The line before this one could not be read.
    pub fn line(&mut self, text: &[u8]) -> Result<(), LogError> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        self.line += 1;
        let offset = self.offset;
        self.offset += text.len() as u64 + 1;
        match Entry::decode(text).and_then(with_value) {
            Err(expected) => {
                self.broken = Some(LogError { line: self.line, offset, expected });
            }
            Ok(Entry::Begin) if self.open.is_some() => {
                self.log.warnings.push(LogWarning::NestedBegin(self.line));
            }
            Ok(Entry::Begin) => self.open = Some(self.line),
            Ok(Entry::End) => match self.open.take() {
                Some(begun) => self.commit(begun),
                None => self.log.warnings.push(LogWarning::UnmatchedEnd(self.line)),
            },
            Ok(_) if self.open.is_some() => {
                self.pending.extend_from_slice(text);
                self.pending.push(b'\n');
            }
            Ok(entry) => self.apply(entry, self.line),
        }
        Ok(())
    }

    /// Ends the replay; `rest` is what follows the last newline.
    pub fn finish(mut self, rest: &[u8]) -> AccountantLog {
        if self.broken.is_some() {
            self.log.warnings.push(LogWarning::UnfinishedLine(self.line));
        }
        if let Some(line) = self.open {
            self.log.warnings.push(LogWarning::UnfinishedTransaction(line));
        }
        if !rest.is_empty() {
            self.log.warnings.push(LogWarning::UnfinishedLine(self.line + 1));
        }
        self.log
    }

    fn commit(&mut self, begun: u64) {
        self.log.transactions += 1;
        let pending = std::mem::take(&mut self.pending);
        // Lines that begin or end nothing keep no place: those of a transaction count from its first.
        for (at, line) in pending.split(|b| *b == b'\n').filter(|line| !line.is_empty()).enumerate() {
            if let Ok(entry) = Entry::decode(line) {
                self.apply(entry, begun + 1 + at as u64);
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn apply(&mut self, entry: Entry<'_>, line: u64) {
        if !self.log.apply(entry) {
            self.log.warnings.push(LogWarning::NoRecord(line));
        }
    }
}

/// An operation whose value, if it has one, is an expression of the language.
fn with_value(entry: Entry<'_>) -> Result<Entry<'_>, &'static str> {
    match entry {
        Entry::Set { value, .. } if !is_value(value) => Err("a ClassAd value"),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_read() {
        let text = b"107 1 CreationTimestamp 1762900000
101 Customer.<none> * *
103 Customer.<none> PriorityFactor 1000.000000
101 Accountant. * *
103 Accountant. LastUpdateTime 1762900000
101 Customer.alice@example.org * *
103 Customer.alice@example.org PriorityFactor 1000.000000
105 
103 Customer.alice@example.org WeightedResourcesUsed 8.000000
103 Customer.alice@example.org UnchargedTime -3
101 Resource.slot1@ep1.example.org@<10.0.0.7:9618?addrs=10.0.0.7-9618> * *
103 Resource.slot1@ep1.example.org@<10.0.0.7:9618?addrs=10.0.0.7-9618> RemoteUser \"alice@example.org\"
106 
";
        let log = AccountantLog::read(text).unwrap();
        assert_eq!((log.sequence(), log.created(), log.transactions()), (Some(1), Some(1_762_900_000), 1));
        assert_eq!(log.get(b"Accountant.").unwrap().integer("LastUpdateTime"), Some(1_762_900_000));
        let alice = log.get(b"Customer.alice@example.org").unwrap();
        assert_eq!(alice.real("WeightedResourcesUsed"), Some(8.0));
        assert_eq!(alice.integer("unchargedtime"), Some(-3));
        let customers: Vec<_> = log.table("Customer").map(|(name, _)| name).collect();
        assert_eq!(customers, [b"<none>".as_slice(), b"alice@example.org"]);
        let (_, resource) = log.table("Resource").next().unwrap();
        assert_eq!(resource.string("RemoteUser").unwrap(), b"alice@example.org");
        assert!(log.warnings().is_empty());
    }

    #[test]
    fn attributes_and_records_can_be_removed() {
        let text = b"101 K * *\n103 K A 1\n103 K B 2\n104 K A\n101 L (empty) (empty)\n102 L\n101 M *\n";
        let log = AccountantLog::read(text).unwrap();
        assert_eq!(log.get(b"K").unwrap().get("A"), None);
        assert_eq!(log.get(b"K").unwrap().get("B"), Some(b"2".as_slice()));
        assert!(log.get(b"L").is_none());
        // The third word of 101 may be missing in old logs.
        assert_eq!(log.iter().map(|(key, _)| key).collect::<Vec<_>>(), [b"K".as_slice(), b"M"]);
    }

    #[test]
    fn creating_a_record_again_keeps_it() {
        let log = AccountantLog::read(b"101 K * *\n103 K A 1\n101 K * *\n").unwrap();
        assert_eq!(log.get(b"K").unwrap().integer("A"), Some(1));
    }

    #[test]
    fn a_value_may_contain_blanks() {
        let log = AccountantLog::read(b"101 K * *\n103 K A  \"x  y\" \n").unwrap();
        assert_eq!(log.get(b"K").unwrap().get("A"), Some(b" \"x  y\" ".as_slice()));
        assert_eq!(log.get(b"K").unwrap().string("A").unwrap(), b"x  y");
    }

    #[test]
    fn an_unfinished_transaction_is_discarded() {
        let log = AccountantLog::read(b"101 K * *\n105 \n103 K A 1\n106 \n105 \n103 K A 2\n").unwrap();
        assert_eq!(log.get(b"K").unwrap().integer("A"), Some(1));
        assert_eq!(log.warnings(), [LogWarning::UnfinishedTransaction(5)]);
    }

    #[test]
    fn an_unfinished_last_line_is_discarded() {
        let log = AccountantLog::read(b"101 K * *\n103 K A 1\n103 K A 25").unwrap();
        assert_eq!(log.get(b"K").unwrap().integer("A"), Some(1));
        assert_eq!(log.warnings(), [LogWarning::UnfinishedLine(3)]);
        let log = AccountantLog::read(b"101 K * *\n103 K\n").unwrap();
        assert_eq!(log.warnings(), [LogWarning::UnfinishedLine(2)]);
    }

    #[test]
    fn an_unreadable_line_in_the_middle_is_an_error() {
        let error = AccountantLog::read(b"101 K * *\nhello\n103 K A 1\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 of the accountant's log (at byte 10) cannot be read: expected an operation from 101 to 107"
        );
        for line in ["101 K", "102 ", "103 K A", "103 K A ", "104 K", "107 x y z", "999 K", ""] {
            let text = format!("{line}\n105 \n106 \n");
            assert_eq!(AccountantLog::read(text.as_bytes()).unwrap_err().line, 1, "{line}");
        }
    }

    #[test]
    fn transactions_that_overlap_are_noted() {
        let log = AccountantLog::read(b"106 \n105 \n105 \n101 K * *\n106 #why\n").unwrap();
        assert_eq!(log.warnings(), [LogWarning::UnmatchedEnd(1), LogWarning::NestedBegin(3)]);
        assert!(log.get(b"K").is_some());
    }

    #[test]
    fn setting_an_attribute_of_no_record_is_noted() {
        let log = AccountantLog::read(b"103 K A 1\n105 \n101 L * *\n104 M B\n106 \n").unwrap();
        assert_eq!(log.iter().count(), 1);
        assert_eq!(log.warnings(), [LogWarning::NoRecord(1), LogWarning::NoRecord(4)]);
    }

    #[test]
    fn a_value_that_is_none_is_an_error_with_its_place() {
        let error = AccountantLog::read(b"101 K * *\n103 K A 1 +\n103 K A 1\n").unwrap_err();
        assert_eq!((error.line, error.offset, error.expected), (2, 10, "a ClassAd value"));
        assert!(AccountantLog::read(b"101 K * *\n103 K A { 1, \"x\" }\n103 K B 1 + 2\n").is_ok());
    }

    #[test]
    fn records_that_come_and_go_take_no_room() {
        let mut text = b"101 Keep * *\n".to_vec();
        for i in 0..10_000 {
            text.extend(format!("101 R{i} * *\n102 R{i}\n").bytes());
        }
        text.extend(b"103 Keep A 7\n");
        let log = AccountantLog::read(&text).unwrap();
        assert!(log.records.len() < 200, "{}", log.records.len());
        assert_eq!(log.get(b"Keep").unwrap().integer("A"), Some(7));
    }

    #[test]
    fn a_compacted_log_holds_the_same() {
        let text = b"107 3 CreationTimestamp 5\n101 K * *\n103 K A \"x y\"\n101 L * *\n103 L B 1.5\n";
        assert_eq!(AccountantLog::read(text).unwrap().to_text(), text);
    }

    #[test]
    fn empty_is_an_empty_log() {
        let log = AccountantLog::read(b"").unwrap();
        assert_eq!((log.iter().count(), log.sequence()), (0, None));
    }
}
