//! Failures of a command: the message for the user, and the exit status.

use std::fmt::Display;
use std::io;

use serde::Serialize;

use crate::cli::output::show_message;
use crate::report::escape::{escaped, own};
use classmate::Diagnostic;
use classmate_advice::internal::anonymize::AnonymizeError;
use classmate_config::ConfigError;
use classmate_config::internal::config::disk::io_reason;
use classmate_pool::internal::accountant::JournalError;
use classmate_pool::internal::listing::InvalidListing;
use classmate_pool::{CommitError, LoadError};
use classmate_wire::WireError;

/// A message for a program: its severity is the name of the only member, such as `{"error": {"message": …}}`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Message {
    Error(MessageBody),
    Warning(MessageBody),
    Note(MessageBody),
}

/// The text of a message, and its place.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MessageBody {
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u64>,
    /// The exit status that it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u8>,
}

impl MessageBody {
    /// A message without a place.
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        MessageBody { message: message.into(), ..MessageBody::default() }
    }

    /// A diagnostic in a text that has this name, at a line and column of it.
    pub(crate) fn at(finding: &Diagnostic, file: &str, line: u64, column: u64) -> Self {
        MessageBody {
            message: finding.message.clone(),
            help: finding.help.as_deref().map(str::to_owned),
            file: Some(file.to_owned()),
            line: Some(line),
            column: Some(column),
            status: None,
        }
    }

    /// A diagnostic with the place that it names.
    pub(crate) fn of(finding: &Diagnostic) -> Self {
        let place = finding.place.as_ref();
        MessageBody {
            message: finding.message.clone(),
            help: finding.help.as_deref().map(str::to_owned),
            file: place.map(|place| place.file.to_string()),
            line: place.map(|place| u64::from(place.line)).filter(|line| *line > 0),
            column: place.map(|place| u64::from(place.column)).filter(|column| *column > 0),
            status: None,
        }
    }
}

impl Message {
    /// A text that begins with its severity, such as `warning: …`.
    pub(crate) fn of_text(text: &str) -> Self {
        let text = text.trim();
        let (text, help) = match text.split_once("\n  = help: ") {
            Some((text, help)) => (text, Some(help.to_owned())),
            None => (text, None),
        };
        let of = |severity: &str| text.strip_prefix(severity).and_then(|rest| rest.strip_prefix(": "));
        let body = |message: &str| MessageBody { help: help.clone(), ..MessageBody::plain(message) };
        if let Some(rest) = of("error") {
            Message::Error(body(rest))
        } else if let Some(rest) = of("warning") {
            Message::Warning(body(rest))
        } else {
            Message::Note(body(of("note").unwrap_or(text)))
        }
    }
}

/// The message of a failure, and the exit status.
#[derive(Clone, Debug)]
pub struct Failure {
    body: Box<MessageBody>,
    /// The message as it is drawn, if it shows a line of a source.
    drawn: Option<String>,
    /// Failures of the same kind.
    more: Vec<Failure>,
    pub(super) status: u8,
}

impl Failure {
    /// A task failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure { body: Box::new(MessageBody::plain(message)), drawn: None, more: Vec::new(), status: 1 }
    }

    /// The input was wrong: usage or text.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure { status: 2, ..Failure::new(message) }
    }

    /// A drawn report about wrong text, whose control characters are escaped already.
    pub(crate) fn drawn(body: MessageBody, drawn: &str) -> Self {
        Failure { body: Box::new(body), drawn: Some(own(drawn)), ..Failure::input("") }
    }

    /// A file could not be read.
    pub(super) fn reading(name: impl Display, error: &io::Error) -> Self {
        let failure = Failure::new(format!("cannot read `{name}`: {}", io_reason(error)));
        if error.get_ref().and_then(|inner| inner.downcast_ref::<InvalidListing>()).is_some() {
            let help = "expected the output of `squeue --json`, `scontrol -o show jobs` or `scontrol -o show nodes`";
            return Failure { status: 2, ..failure.help(help) };
        }
        failure
    }

    /// A file could not be written.
    pub(super) fn writing(name: impl Display, error: &io::Error) -> Self {
        Failure::new(format!("cannot write `{name}`: {}", io_reason(error)))
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.body.message
    }

    /// A suggestion.
    pub fn suggestion(&self) -> Option<&str> {
        self.body.help.as_deref()
    }

    /// The file, line and column of the mistake.
    pub fn place(&self) -> (Option<&str>, Option<u64>, Option<u64>) {
        (self.body.file.as_deref(), self.body.line, self.body.column)
    }

    /// Adds a suggestion on a line of its own.
    #[must_use]
    pub(crate) fn help(mut self, help: &str) -> Self {
        self.body.help = Some(help.to_owned());
        self
    }

    /// Adds failures of the same kind.
    #[must_use]
    pub(super) fn and(mut self, more: impl IntoIterator<Item = Failure>) -> Self {
        self.more.extend(more);
        self
    }

    /// Leaves out a text wherever it is, such as a folder that the user does not know.
    #[must_use]
    pub(super) fn without(mut self, text: &str) -> Self {
        let body = &mut self.body;
        let texts = [Some(&mut body.message), body.help.as_mut(), body.file.as_mut(), self.drawn.as_mut()];
        texts.into_iter().flatten().for_each(|one| *one = one.replace(text, ""));
        self.more = self.more.into_iter().map(|one| one.without(text)).collect();
        self
    }

    /// Shows lines before the message.
    #[must_use]
    pub(super) fn after(mut self, lines: &[String]) -> Self {
        self.drawn = Some(format!("{}\n{}", lines.join("\n"), self.own()));
        self
    }

    /// The message of this failure alone.
    fn own(&self) -> String {
        let help = self.body.help.as_ref().map(|help| format!("\n  = help: {help}")).unwrap_or_default();
        self.drawn.clone().unwrap_or_else(|| format!("error: {}{help}", self.body.message))
    }

    /// The whole message for people.
    pub(crate) fn shown(&self) -> String {
        std::iter::once(self.own()).chain(self.more.iter().map(Failure::shown)).collect::<Vec<_>>().join("\n")
    }

    /// Writes the message to standard error.
    pub(super) fn show(&self) {
        let body = MessageBody { status: Some(self.status), ..(*self.body).clone() };
        show_message(&Message::Error(body), &self.own());
        self.more.iter().for_each(Failure::show);
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::File { name, error } => Failure::reading(name, &error),
            error => Failure::new(error.to_string()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let help = error.help.as_ref().map(|help| format!("\n  = help: {}", escaped(help))).unwrap_or_default();
        Failure::drawn(MessageBody::of(&error), &format!("error: {}{help}", escaped(&error.to_line())))
    }
}

impl From<AnonymizeError> for Failure {
    fn from(error: AnonymizeError) -> Self {
        match error {
            AnonymizeError::Config(error) => error.into(),
            AnonymizeError::Outcome(_) => Failure::new(error.to_string()).help(
                "an expression looks at the letters of names (`substr`, `regexp`, `<`), a user map is in a file, or submitters differ \
                 in nothing but their names; nothing was written",
            ),
            error => Failure::new(error.to_string()),
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

impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        let failure = Failure::input(error.to_string());
        match error.help() {
            Some(help) => failure.help(&help),
            None => failure,
        }
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
