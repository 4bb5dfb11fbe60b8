//! Files of facts that are compiled in: one record for each function, configuration variable, attribute or command.
//!
//! Empty lines separate records. A record is a line with its name, lines `@field value` (a field may be repeated), and
//! lines of description. Lines that begin with `#` are comments.

/// A record: the facts about one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name.
    pub name: &'static str,
    /// The fields with their values, in the order of the file.
    pub fields: Vec<(&'static str, &'static str)>,
    /// The description: a sentence or a few.
    pub about: String,
}

impl Record {
    /// The value of a field; the first one if it is repeated.
    pub fn get(&self, field: &str) -> Option<&'static str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
    }

    fn read(lines: &'static str) -> Option<Self> {
        let mut lines = lines.lines().filter(|line| !line.starts_with('#'));
        let name = lines.next().filter(|name| !name.is_empty())?;
        let mut record = Record { name, fields: Vec::new(), about: String::new() };
        for line in lines {
            match line.strip_prefix('@') {
                Some(field) => record.fields.push(field.split_once(' ').unwrap_or((field, ""))),
                None if record.about.is_empty() => record.about.push_str(line),
                None => record.about.extend([" ", line]),
            }
        }
        Some(record)
    }
}

/// The records of a file, in order.
///
/// ```
/// use classmate::internal::records::records;
/// let disk = records("# Requests.\n\nRequestDisk\n@of job\n@unit KiB\nDisk space\nof a job.\n").next().unwrap();
/// assert_eq!((disk.name, disk.get("unit"), disk.about.as_str()), ("RequestDisk", Some("KiB"), "Disk space of a job."));
/// ```
pub fn records(text: &'static str) -> impl Iterator<Item = Record> {
    text.split("\n\n").filter_map(Record::read)
}
