//! Files in the canonical layout: expressions, ads, and the expressions inside configurations.
//!
//! In: text. Out: text that means the same ([`crate::syntax::layout`] checks every expression); what is not understood
//! stays as it is.

pub mod ads;
pub mod config;
