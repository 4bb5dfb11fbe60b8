//! Files in the canonical layout: expressions, ads, and the expressions inside configurations.
//!
//! In: text. Out: text that means the same ([`classmate::internal::syntax::layout`] checks every expression); what is
//! not understood stays as it is.

pub mod ads;
pub mod config;

use std::sync::Arc;

use classmate::{Diagnostic, SyntaxError};
use classmate_config::Location;

/// A warning that a value is not a valid expression or, without `error`, that a line is not an attribute; it is left
/// unchanged. The caller fills in the file.
fn unformatted(line: usize, name: &str, error: Option<&SyntaxError>) -> Diagnostic {
    let why = error.map_or_else(
        || "not an attribute and is left unchanged: expected `name = value`, found no `=`".to_owned(),
        |error| format!("not a valid expression and is left unchanged: {error}"),
    );
    let place = Location { file: Arc::from(""), line: line as u32, column: 1 };
    Diagnostic::warning_at(format!("`{name}` is {why}"), place)
}
