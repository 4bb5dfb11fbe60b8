//! Whole ads as text: the long format, new syntax, JSON and XML.

pub mod json;
pub mod long;
pub mod new;
pub mod report;

mod extent;
mod json_string;
mod literal;
mod order;
mod source;
mod vocabulary;
