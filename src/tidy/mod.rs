//! Files in the canonical layout: expressions, ads, and the expressions inside configurations.
//!
//! In: text. Out: text that means the same ([`crate::syntax::layout`] checks every expression); what is not understood
//! stays as it is.

pub mod ads;
pub mod config;

use crate::error::SyntaxError;

/// A value that should be an expression and is none: it stays as it is.
#[derive(Debug)]
pub struct Unread {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The knob, or the attribute.
    pub name: String,
    /// What is wrong with it.
    pub error: SyntaxError,
}
