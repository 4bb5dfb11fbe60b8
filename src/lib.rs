//! ClassAd interpreter and matchmaker: the answers of an HTCondor pool, with the reasons.

pub mod accountant;
pub mod ad;
pub mod builtin;
pub mod config;
pub mod error;
pub mod eval;
pub mod name;
pub mod priority;
pub mod span;
pub mod syntax;
pub mod text;
pub mod value;
