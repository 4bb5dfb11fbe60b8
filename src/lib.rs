//! ClassAd interpreter and matchmaker: the answers of an HTCondor pool, with the reasons.

#![doc = include_str!("../README.md")]

pub mod accountant;
pub mod ad;
pub mod analysis;
pub mod autoclusters;
pub mod builtin;
pub mod cli;
pub mod config;
pub mod conform;
pub mod error;
pub mod eval;
pub mod explain;
pub mod format;
pub mod generate;
pub mod lint;
pub mod name;
pub mod negotiate;
pub mod policy;
pub mod pool;
pub mod priority;
pub mod program;
pub mod queue;
pub mod quota;
pub mod repl;
pub mod report;
pub mod simulate;
pub mod span;
pub mod syntax;
pub mod text;
pub mod tidy;
pub mod value;
pub mod whatif;
pub mod workload;
