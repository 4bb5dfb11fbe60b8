//! ClassAd interpreter and matchmaker.

pub mod config;
