//! Evaluate ClassAds exactly as HTCondor does.

#![doc = include_str!("../README.md")]

pub mod ad;
pub mod analysis;
pub mod builtin;
pub mod diagnostic;
pub mod error;
pub mod eval;
pub mod format;
pub mod name;
pub mod pcre;
#[doc(hidden)]
pub mod plural;
pub mod program;
pub mod span;
pub mod syntax;
pub mod text;
mod threads;
pub mod value;

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        ad, analysis, builtin, diagnostic, error, eval, format, name, pcre, plural, program, span, syntax, text, value,
    };
}
