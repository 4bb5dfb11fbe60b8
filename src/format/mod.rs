//! Whole ads as text: the long format, new syntax, JSON and XML.

pub mod long;
pub mod new;
pub mod report;

mod extent;
mod literal;
mod order;
mod source;
mod vocabulary;
