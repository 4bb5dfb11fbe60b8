//! Whole ads as text: the long format, new syntax, JSON and XML.

pub mod long;
pub mod report;

mod literal;
mod order;
mod source;
mod vocabulary;
