//! Each scheduling system's own configuration files, read into typed settings.
//!
//! In: the text of a file and its name. Out: names with values ([`Config`]), and the settings the
//! product understands ([`knobs::NegotiatorKnobs`]). Reads no file itself.

pub mod condor;
pub mod expand;
pub mod knobs;
pub mod setting;
pub mod table;

use std::fmt;
use std::sync::Arc;

pub use condor::Config;

/// Where in a configuration file something stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The name under which the file was handed in.
    pub file: Arc<str>,
    /// Physical line, from 1.
    pub line: u32,
    /// Byte in that line, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
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
    /// What to do about it.
    pub help: Option<String>,
}

impl ConfigError {
    /// An error without help.
    pub fn new(message: impl Into<String>, place: Option<Place>) -> Self {
        Self { message: message.into(), place, help: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Bytes as text for a message: what is not UTF-8 is shown as replacement characters, long text is cut.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 120;
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
