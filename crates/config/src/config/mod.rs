//! Each scheduling system's own configuration files, read into typed settings.
//!
//! In: the text of files and their names. Out: names with values ([`Config`]), the settings the product understands
//! ([`knobs::NegotiatorKnobs`]), and what is wrong with them ([`check::check`]). Reads no file, no
//! environment and no clock itself: all that comes with a [`Context`] and a [`Files`].

pub mod check;
pub mod condition;
pub mod condor;
pub mod dirac;
pub mod disk;
pub mod expand;
mod expansions;
pub mod facts;
pub mod files;
mod format;
mod function;
pub mod history;
pub mod knob;
pub mod knobs;
mod line;
mod name_list;
pub mod origin;
mod path;
mod read;
mod reference;
mod roots;
pub mod series;
pub mod setting;
pub mod slurm;
mod statement;
pub mod table;
mod template;
mod untaken;
pub mod user_map;

pub use classmate::internal::diagnostic::Diagnostic;
pub use classmate::internal::span::Location;
pub use condor::{Config, Context, Definition, FoundValue, Source};
pub use disk::Disk;
pub use files::{FileError, Files, Output, TextFiles};
pub use read::BYTE_ORDER_MARK;
pub use reference::{is_name_byte, parenthesized, unclosed};
pub use statement::is_statement;

/// A diagnostic that stops the reading of a configuration.
pub type ConfigError = Diagnostic;

/// Bytes as text for a message: what is not UTF-8 is shown as replacement characters, long text is cut.
pub(crate) fn shown(bytes: &[u8]) -> String {
    beginning(bytes, 120)
}

/// The first characters of a text, for a message.
pub fn beginning(bytes: &[u8], characters: usize) -> String {
    let start = bytes.get(..4 * characters).unwrap_or(bytes);
    let (text, cut) = (String::from_utf8_lossy(start), start.len() < bytes.len());
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if cut => format!("{text}…"),
        None => text.into_owned(),
    }
}
