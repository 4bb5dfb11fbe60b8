//! A submit description as a mapping of its commands, with the arguments of its `queue` statement.
//!
//! In: the text of a submit file up to its first `queue` statement; what follows is ignored. Out: commands as they are written,
//! their values with all macros expanded, and the items of `queue`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::submit::QueueItems;
use crate::submit::pending::PendingLines;
use crate::submit::queue::{ItemList, QueueStatement};
use crate::submit::statements::{block_end, fault, folded, lines_after, queue_arguments, statements};
use classmate::Semantics;
use classmate_config::{Config, ConfigError, Context, Diagnostic, Location};

/// The commands before a `queue` statement, and its arguments.
#[derive(Debug, Clone)]
pub struct SubmitDescription {
    config: Config,
    queue: Option<String>,
    /// The lines of a list that begins on the line of the statement.
    list: String,
}

/// The values of macros that a description does not set: those of the first job.
const FIRST_JOB: [(&str, &str); 13] = [
    ("Cluster", "1"),
    ("ClusterId", "1"),
    ("Process", "0"),
    ("ProcId", "0"),
    ("Step", "0"),
    ("Row", "0"),
    ("ItemIndex", "0"),
    ("Node", ""),
    ("Item", ""),
    ("ARCH", "X86_64"),
    ("OPSYS", "LINUX"),
    ("IsLinux", "1"),
    ("IsWindows", "0"),
];

impl SubmitDescription {
    /// Parses the text of a submit file that has a name, in a version; macros see the variables of the `environment`.
    ///
    /// # Errors
    /// A statement that is not understood, with its place.
    ///
    /// ```
    /// use classmate_advice::internal::submit_description::SubmitDescription;
    /// let text = b"arguments = $(time) $(Process)\ntime = 60\n+Short = true\nqueue 2 x in (a b)";
    /// let parsed = SubmitDescription::parse("a.sub", text, Default::default(), Default::default()).unwrap();
    /// assert_eq!(parsed.expand("Arguments").unwrap().unwrap(), "60 0");
    /// assert_eq!(parsed.value("MY.short").unwrap(), "true");
    /// assert_eq!(parsed.queue(), Some("2 x in (a b)"));
    /// ```
    pub fn parse(
        file: &str,
        text: &[u8],
        environment: BTreeMap<Vec<u8>, Vec<u8>>,
        semantics: Semantics,
    ) -> Result<Self, ConfigError> {
        let context = Context { subsystem: "SUBMIT".to_owned(), environment, semantics, ..Context::default() };
        let mut found = Self { config: Config::new(context), queue: None, list: String::new() };
        let mut pending = PendingLines::default();
        let all = statements(text).0;
        // The number of conditions that are open, and the line that ends a value of several lines.
        let (mut open, mut end) = (0_usize, None::<String>);
        for (at, (number, _, line)) in all.iter().enumerate() {
            let one_line = folded(line);
            let one = String::from_utf8_lossy(&one_line);
            if end.is_some() {
                end = end.filter(|end| *end != one);
                pending.push(line);
                continue;
            }
            let one = one.strip_prefix(':').filter(|_| open > 0).unwrap_or(&one);
            let word = one.split_ascii_whitespace().next().unwrap_or_default();
            open = match word.to_ascii_lowercase().as_str() {
                "if" => open + 1,
                "endif" => open.saturating_sub(1),
                _ => open,
            };
            end = block_end(one);
            let arguments = queue_arguments(one.as_bytes());
            let fault = if arguments.is_none() { fault(one) } else { None };
            if (arguments.is_some() || fault.is_some()) && found.reads(file, pending.text(), open)? {
                if let Some(fault) = fault {
                    let place = Location { file: file.into(), line: *number as u32, column: 1 };
                    return Err(Diagnostic::error_at(fault, Some(place)));
                }
                found.queue = arguments.map(|arguments| String::from_utf8_lossy(arguments.trim_ascii()).into_owned());
                found.list = lines_after(text, &all, at).into_owned();
                (0..open).for_each(|_| pending.push(b"endif"));
                break;
            }
            if arguments.is_none() {
                pending.add(*number, line);
            }
        }
        found.config.add(file, pending.text())?;
        Ok(found)
    }

    /// Returns true if what follows the lines that are pending is read: some conditions in them are open.
    fn reads(&self, file: &str, pending: &[u8], open: usize) -> Result<bool, ConfigError> {
        if open == 0 {
            return Ok(true);
        }
        let mut tried = self.config.clone();
        tried.add(file, &[pending, b"queue = here\n", &b"endif\n".repeat(open)].concat())?;
        Ok(tried.assignment(b"queue").is_some())
    }

    /// The commands and their values as they are written, in the order of their first assignment.
    pub fn commands(&self) -> impl Iterator<Item = (String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.config.assignments().map(move |(name, raw, _)| (text(name), text(raw)))
    }

    /// The value of a command as it is written.
    pub fn value(&self, command: &str) -> Option<String> {
        let found = self.config.assignment(command.as_bytes())?;
        Some(String::from_utf8_lossy(found.raw).into_owned())
    }

    /// Sets a command.
    ///
    /// # Errors
    /// The values have grown beyond measure.
    pub fn set(&mut self, command: &str, value: &str) -> Result<(), ConfigError> {
        let place = Location { file: "description".into(), line: 1, column: 1 };
        self.config.set_text(command.as_bytes(), value.as_bytes(), place)
    }

    /// The commands with the macros of the first job.
    fn of_first_job(&self) -> Result<Config, ConfigError> {
        let mut config = self.config.clone();
        let missing = FIRST_JOB.iter().filter(|(name, _)| config.assignment(name.as_bytes()).is_none());
        let lines: String = missing.map(|(name, value)| format!("{name} = {value}\n")).collect();
        config.add("queue", lines.as_bytes())?;
        Ok(config)
    }

    /// The value of a command or of a macro, expanded for the first job; none if there is no such name.
    ///
    /// # Errors
    /// A circle of references, growth without end, or a function macro that fails.
    pub fn expand(&self, command: &str) -> Result<Option<String>, ConfigError> {
        let found = self.of_first_job()?.get(command)?;
        Ok(found.map(|found| String::from_utf8_lossy(&found.text).into_owned()))
    }

    /// The arguments of `queue`, without the lines of a list.
    pub fn queue(&self) -> Option<&str> {
        self.queue.as_deref()
    }

    /// Replaces the arguments of `queue`, which may have the lines of a list.
    pub fn set_queue(&mut self, arguments: &str) {
        let (first, list) = arguments.split_once('\n').unwrap_or((arguments, ""));
        self.queue = Some(first.trim().to_owned());
        list.clone_into(&mut self.list);
    }

    /// The items of `queue`, expanded, before a slice is taken; none without a list. Files are relative to the `folder`.
    ///
    /// # Errors
    /// Arguments that are not understood, a macro that cannot be expanded, or a file that cannot be read.
    pub fn items(&self, folder: &Path) -> Result<Option<QueueItems>, String> {
        let config = self.of_first_job().map_err(|error| error.to_string())?;
        let text = self.queue.as_deref().unwrap_or_default();
        let expanded = config.expansion(b"queue", text.as_bytes()).map_err(|error| error.to_string())?;
        let arguments = String::from_utf8_lossy(&expanded);
        let queue = QueueStatement::parse(&arguments).map_err(|fault| fault.message())?;
        if queue.jobs().is_none() {
            return Err(format!("`{}` is not a number of jobs", queue.count));
        }
        if queue.list == ItemList::None {
            return Ok(None);
        }
        let items = QueueItems::of(&queue, &self.list, Some(folder))?;
        match &items.heading_fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(Some(items)),
        }
    }
}
