//! Each scheduling system's own configuration files, read into typed settings.
//!
//! In: the text of files and their names. Out: names with values ([`Config`]), the settings the product understands
//! ([`knobs::NegotiatorKnobs`]), and what is wrong with them ([`check::check`]). Reads no file, no
//! environment and no clock itself: all that comes with a [`Context`] and a [`Files`].

pub mod check;
pub mod condition;
pub mod condor;
pub mod dirac;
pub mod expand;
pub mod facts;
pub mod files;
mod format;
mod function;
pub mod history;
pub mod knob;
pub mod knobs;
mod line;
pub mod origin;
mod path;
mod read;
mod reference;
mod roots;
pub mod setting;
pub mod slurm;
mod statement;
pub mod table;
mod template;
pub mod user_map;

use std::fmt;
use std::sync::Arc;

pub use condor::{Config, Context, Definition, Source};
pub use files::{FileError, Files, Output, TextFiles};
pub use read::BYTE_ORDER_MARK;

/// Where in a configuration file something stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The name under which the file was handed in, or what else the value comes from.
    pub file: Arc<str>,
    /// Physical line, from 1; 0 for what comes from no file.
    pub line: u32,
    /// Byte in that line, from 1.
    pub column: u32,
}

impl Place {
    /// Something that stands in no file, such as an environment variable.
    pub fn outside(what: &str) -> Self {
        Place { file: Arc::from(what), line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// Why a configuration is refused: a message, the place it is about, and help if there is any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong: lower case, no full stop, user input in backticks.
    pub message: String,
    /// Where; nowhere if the fault is in a built-in default.
    pub place: Option<Place>,
    /// How many bytes from there on it is about; 0 if that is not known.
    pub width: u32,
    /// What to do about it.
    pub help: Option<String>,
}

impl ConfigError {
    /// An error without help.
    pub fn new(message: impl Into<String>, place: Option<Place>) -> Self {
        Self { message: message.into(), place, width: 0, help: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error about so many bytes.
    #[must_use]
    pub fn about(mut self, width: usize) -> Self {
        self.width = u32::try_from(width).unwrap_or(u32::MAX);
        self
    }
}

/// Something odd that does not stop the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// What is odd.
    pub message: String,
    /// Where it stands.
    pub place: Place,
    /// How many bytes from there on it is about; 0 if that is not known.
    pub width: u32,
    /// What to do about it.
    pub help: Option<String>,
}

impl ConfigWarning {
    pub(crate) fn new(message: impl Into<String>, place: Place) -> Self {
        Self { message: message.into(), place, width: 0, help: None }
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn about(mut self, width: usize) -> Self {
        self.width = u32::try_from(width).unwrap_or(u32::MAX);
        self
    }
}

/// Bytes as text for a message: what is not UTF-8 is shown as replacement characters, long text is cut.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 120;
    let (start, cut) = match bytes.get(..4 * LONGEST) {
        Some(start) => (start, bytes.len() > 4 * LONGEST),
        None => (bytes, false),
    };
    let text = String::from_utf8_lossy(start);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if cut => format!("{text}…"),
        None => text.into_owned(),
    }
}
