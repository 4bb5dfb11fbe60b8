//! Files in the canonical layout: expressions, ads, and the expressions inside configurations.
//!
//! In: text. Out: text that means the same ([`classmate::internal::syntax::layout`] checks every expression); what is
//! not understood
//! stays as it is.

pub mod ads;
pub mod config;

use classmate::internal::error::SyntaxError;

/// A value that should be an expression and is none, or a line that should be an attribute: it stays as it is.
#[derive(Debug)]
pub struct Unformatted {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The knob, or the attribute; for a line that is not an attribute, its text.
    pub name: String,
    /// The error in its value; `None` for a line of an ad without `=`.
    pub error: Option<SyntaxError>,
}
