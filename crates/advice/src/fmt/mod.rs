//! Files in the canonical layout: expressions, ads, and the expressions inside configurations.
//!
//! In: text. Out: text that means the same ([`classmate::internal::syntax::layout`] checks every expression); what is
//! not understood stays as it is.

pub mod ads;
pub mod config;

use std::sync::Arc;

use classmate::{Diagnostic, SyntaxError};
use classmate_config::Location;

/// Characters of a line that are shown.
const MAX_SHOWN: usize = 60;

/// The reason why something is left unchanged.
enum Unformatted<'e> {
    /// A value is not a valid expression.
    Value(&'e SyntaxError),
    /// A line is not an attribute.
    Attribute,
    /// A line is not a statement of a configuration.
    Statement,
}

/// A warning that a line or a value is left unchanged. The caller fills in the file.
fn unformatted(line: usize, name: &str, reason: &Unformatted<'_>) -> Diagnostic {
    let why = match reason {
        Unformatted::Value(error) => format!("not a valid expression and is left unchanged: {error}"),
        Unformatted::Attribute => {
            "not an attribute and is left unchanged: expected `name = value`, found no `=`".to_owned()
        }
        Unformatted::Statement => "not a statement and is left unchanged: expected `NAME = value`".to_owned(),
    };
    let place = Location { file: Arc::from(""), line: line as u32, column: 1 };
    Diagnostic::warning_at(format!("`{name}` is {why}"), place)
}
