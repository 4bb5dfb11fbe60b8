//! Messages about a place in a text, for people and for tools.
//!
//! One type serves the parser, the configuration reader, the linter and the policy tests. It carries its parts as
//! data: nothing has to be read back from a sentence, and only the command line draws it.

use std::fmt;
use std::ops::Range;

use crate::error::SyntaxError;
use crate::span::{Location, Position, Span};

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used, but probably does not mean what its author intended.
    Warning,
    /// The text is right if something outside of it completes it, such as the command line or the person who fills in a template.
    Note,
}

impl Severity {
    /// The word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A replacement for a part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The bytes to replace; empty for an insertion.
    pub range: Range<usize>,
    /// The replacement.
    pub text: String,
}

impl Fix {
    /// The same replacement in a text that this one's begins `offset` bytes into.
    #[must_use]
    pub fn shifted(&self, offset: usize) -> Self {
        Fix { range: self.range.start + offset..self.range.end + offset, text: self.text.clone() }
    }

    /// The text with the part replaced.
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        let start = self.range.start.min(source.len());
        let end = self.range.end.clamp(start, source.len());
        [&source[..start], self.text.as_bytes(), &source[end..]].concat()
    }
}

/// A second place that matters, and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place, in the same text as [`Diagnostic::span`].
    pub span: Span,
    /// The reason, in a few words.
    pub text: String,
}

/// The lines of a file that a diagnostic is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Excerpt {
    /// The lines, from the first byte of the first one.
    pub text: Vec<u8>,
    /// The configuration variable, attribute or command whose value the lines are.
    pub subject: Option<String>,
}

/// A problem in a text: the message, the place, and what to do about it.
///
/// ```
/// use classmate::{Diagnostic, Span};
/// let diagnostic = Diagnostic::error("`and` is not an operator", Span::new(2, 5)).fix(Span::new(2, 5), "&&");
/// assert_eq!(diagnostic.fix.unwrap().apply(b"a and b"), b"a && b");
/// ```
// Parts that are rarely there are boxed, so that it stays small enough to be an error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The stable name of the problem, such as `never-true`; empty for a problem without a name.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The problem, in one line: lower case, no full stop, user input in backticks.
    pub message: String,
    /// The place in a file at which the text of [`Diagnostic::span`] begins. `None` for a text that the caller has at
    /// hand, and for a built-in value.
    pub place: Option<Location>,
    /// The bytes to underline. With a place and without an excerpt, an empty span means the rest of the line.
    pub span: Span,
    /// The lines that the span counts in, once they are known.
    pub excerpt: Option<Box<Excerpt>>,
    /// A second place that matters.
    pub related: Option<Box<Label>>,
    /// A suggestion.
    pub help: Option<Box<str>>,
    /// A replacement that solves the problem, in the same text as the span; in the file once there is an excerpt.
    pub fix: Option<Box<Fix>>,
    /// The number of further ads in the file that have the same problem.
    pub repeated: u32,
}

impl Diagnostic {
    /// A problem at a place in a text.
    pub fn new(severity: Severity, message: impl Into<String>, span: Span) -> Self {
        Diagnostic {
            code: "",
            severity,
            message: message.into(),
            place: None,
            span,
            excerpt: None,
            related: None,
            help: None,
            fix: None,
            repeated: 0,
        }
    }

    /// An error at a place in a text.
    pub fn error(message: impl Into<String>, span: Span) -> Self {
        Diagnostic::new(Severity::Error, message, span)
    }

    /// A warning about a place in a text.
    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Diagnostic::new(Severity::Warning, message, span)
    }

    /// An error from a place in a file to the end of the line; see [`Diagnostic::width`].
    pub fn error_at(message: impl Into<String>, place: impl Into<Option<Location>>) -> Self {
        Diagnostic::error(message, Span::default()).at(place)
    }

    /// A warning from a place in a file to the end of the line; see [`Diagnostic::width`].
    pub fn warning_at(message: impl Into<String>, place: impl Into<Option<Location>>) -> Self {
        Diagnostic::warning(message, Span::default()).at(place)
    }

    /// An error that is about no place in particular.
    pub fn without_place(message: impl Into<String>) -> Self {
        Diagnostic::error(message, Span::default())
    }

    /// Sets the code.
    #[must_use]
    pub fn code(self, code: &'static str) -> Self {
        Diagnostic { code, ..self }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(self, place: impl Into<Option<Location>>) -> Self {
        Diagnostic { place: place.into(), ..self }
    }

    /// Sets the number of bytes that the diagnostic is about, from its place on; 0 for the rest of the line.
    #[must_use]
    pub fn width(self, bytes: usize) -> Self {
        Diagnostic { span: Span::new(0, bytes), ..self }
    }

    /// Sets the second place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related = Some(Box::new(Label { span, text: text.into() }));
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<Box<str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the help, if there is any.
    #[must_use]
    pub fn help_if(mut self, help: Option<impl Into<Box<str>>>) -> Self {
        self.help = help.map(Into::into);
        self
    }

    /// Sets the help to a word that was probably intended; without one, the help stays.
    #[must_use]
    pub fn did_you_mean(self, word: Option<impl fmt::Display>) -> Self {
        let Some(word) = word else { return self };
        self.help(format!("did you mean `{word}`?"))
    }

    /// Adds to the help.
    #[must_use]
    pub fn more_help(mut self, more: impl fmt::Display) -> Self {
        self.help = Some(match self.help {
            Some(help) => format!("{help}; {more}").into(),
            None => more.to_string().into(),
        });
        self
    }

    /// Sets the replacement, and a help that shows it: "write `text`".
    #[must_use]
    pub fn write(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        self.help(format!("write `{text}`")).fix(span, text)
    }

    /// Sets the replacement.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Box::new(Fix { range: span.range(), text: text.into() }));
        self
    }

    /// The same diagnostic in a text that this one's begins `offset` bytes into.
    #[must_use]
    pub fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.shifted(offset);
        if let Some(related) = &mut self.related {
            related.span = related.span.shifted(offset);
        }
        if let Some(fix) = &mut self.fix {
            **fix = fix.shifted(offset);
        }
        self
    }

    /// The same diagnostic with the line of its place as the excerpt.
    #[must_use]
    pub fn in_line(mut self, line: &[u8]) -> Self {
        let Some(place) = &mut self.place else { return self };
        let start = (place.column.max(1) as usize - 1).min(line.len());
        place.column = 1;
        let end = match self.span.range().end {
            0 => line.trim_ascii_end().len().max(start),
            width => (start + width).min(line.len()),
        };
        self.span = Span::new(start, end);
        self.excerpt = Some(Box::new(Excerpt { text: line.to_vec(), ..Excerpt::default() }));
        self
    }

    /// The file of the place; empty without one.
    pub fn file(&self) -> &str {
        self.place.as_ref().map_or("", |place| &place.file)
    }

    /// The configuration variable, attribute or command whose value it is about, if that is known.
    pub fn subject(&self) -> Option<&str> {
        self.excerpt.as_ref()?.subject.as_deref()
    }

    /// The text of the excerpt; empty without one.
    pub fn text(&self) -> &[u8] {
        self.excerpt.as_ref().map_or(&[], |excerpt| &excerpt.text)
    }

    /// Lines and columns of the beginning and the end of the underlined place.
    pub fn range(&self) -> (Position, Position) {
        self.range_of(self.span)
    }

    /// Lines and columns of the beginning and the end of a part of the excerpt.
    pub fn range_of(&self, span: Span) -> (Position, Position) {
        let first = self.place.as_ref().map_or(1, |place| u64::from(place.line));
        let at = |offset: u32| {
            let within = Position::of(self.text(), offset as usize);
            Position { line: first + within.line - 1, column: within.column }
        };
        (at(span.start), at(span.end))
    }

    /// The line of the place, from 1; 0 without one.
    pub fn line(&self) -> u32 {
        self.place.as_ref().map_or(0, |place| place.line)
    }

    /// The place and the message on one line, as a log file has it: `file:2:5: message`.
    pub fn to_line(&self) -> String {
        self.place.as_ref().map_or_else(|| self.message.clone(), |place| format!("{place}: {}", self.message))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl From<&SyntaxError> for Diagnostic {
    fn from(error: &SyntaxError) -> Self {
        Diagnostic::error(error.to_string(), error.span)
    }
}
