//! Failures of a command: the message for the user, and the exit status.

use std::fmt::Display;
use std::io;

use classmate_config::ConfigError;
use classmate_config::internal::config::disk::io_reason;
use classmate_pool::internal::accountant::JournalError;
use classmate_pool::{CommitError, LoadError};

/// The message of a failure, ready to be shown, and the exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The whole message, several lines if it shows a place.
    pub(super) message: String,
    pub(super) status: u8,
}

impl Failure {
    /// A task failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure { message: format!("error: {}", message.into()), status: 1 }
    }

    /// The input was wrong: usage or text.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure { status: 2, ..Failure::new(message) }
    }

    /// A rendered report about wrong text.
    pub(crate) fn rendered(message: String) -> Self {
        Failure { message, status: 2 }
    }

    /// A file could not be read.
    pub(super) fn reading(name: impl Display, error: &io::Error) -> Self {
        Failure::new(format!("cannot read `{name}`: {}", io_reason(error)))
    }

    /// A file could not be written.
    pub(super) fn writing(name: impl Display, error: &io::Error) -> Self {
        Failure::new(format!("cannot write `{name}`: {}", io_reason(error)))
    }

    /// Adds a suggestion on a line of its own.
    #[must_use]
    pub(crate) fn help(mut self, help: &str) -> Self {
        self.message.push_str("\n  = help: ");
        self.message.push_str(help);
        self
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let failure = Failure::input(error.to_line());
        match &error.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let failure = match &error {
            JournalError::File { what, path, source } => {
                Failure::new(format!("cannot {what} `{}`: {}", path.display(), io_reason(source)))
            }
            JournalError::Corrupt { .. } | JournalError::Unwritable(_) => Failure::input(error.to_string()),
            other => Failure::new(other.to_string()),
        };
        failure.help(error.help())
    }
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Config(error) => error.into(),
            CommitError::Journal(error) => error.into(),
        }
    }
}
