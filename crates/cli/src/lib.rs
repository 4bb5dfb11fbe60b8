//! The `classmate` command.

pub mod cli;
pub mod conform;
pub mod repl;
pub mod report;
