//! ClassAd interpreter and matchmaker.

pub mod accountant;
pub mod config;
pub mod priority;
