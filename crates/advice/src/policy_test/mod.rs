//! Tests of policies: ads, a configuration and what is expected of them.
//!
//! In: the text of a test file (TOML) and the files it names. Out: for every expectation whether it holds and what was
//! found instead, and which clauses the tests ever made true and ever made false. No clock, no environment: the same
//! file gives the same answer.

pub mod coverage;
pub mod file;
pub mod run;

pub use coverage::{Coverage, Covered};
pub use file::{PolicyFile, TestFileError};
pub use run::{TestResult, run};
