//! Evaluate ClassAds exactly as HTCondor 25.14.1 does: parse, print, evaluate and match ads.
//!
//! ```
//! use classmate::{ClassAd, EvalOptions, Scope};
//!
//! let job: ClassAd = "[ RequestCpus = 2; Requirements = TARGET.Cpus >= RequestCpus ]".parse()?;
//! let slot: ClassAd = r#"[ Name = "slot1"; Cpus = 4; Requirements = TARGET.RequestCpus <= MY.Cpus ]"#.parse()?;
//!
//! let options = EvalOptions::default();
//! assert!(classmate::matches(&job, &slot, &options));
//!
//! assert_eq!(slot.eval_int("Cpus"), Some(4));
//! let expr = classmate::parse_expr(r#"strcat(Name, " has ", Cpus, " cores")"#)?;
//! assert_eq!(Scope::new(&slot, &options).eval(&expr)?.to_string(), r#""slot1 has 4 cores""#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Ads: [`ClassAd`], with attributes that are [`Expr`]s, under [`Name`]s without case
//! - Text: [`parse_expr`], [`parse_ad`] and [`ParseOptions`] for single texts; [`read_ads`], [`Reader`] and [`Writer`]
//!   for streams in any [`Format`]; mistakes are [`SyntaxError`]s with a [`Span`], or [`Diagnostic`]s for people
//! - Evaluation: a [`Scope`] of one or two ads and [`EvalOptions`]; the result is a [`Value`] or an [`EvalError`]
//! - Matching: [`matches()`] and [`rank`]; [`flatten`] computes what one ad decides of an expression
//!
//! An evaluation reads nothing from the process: the clock, the time zone and the seed of `random()` are options, and
//! so are the limits on work and memory. The feature `pcre2` (default) provides the functions with regular expressions,
//! the feature `parallel` (default) reads large inputs on all threads.

// Pages of other crates of the workspace link here at the first `cargo doc`, whichever is written first.
#![doc(html_root_url = "../")]

mod ad;
mod analysis;
mod builtin;
mod diagnostic;
mod error;
mod eval;
mod format;
mod name;
mod pcre;
mod plural;
mod program;
mod random;
mod records;
mod semantics;
mod shortcuts;
mod span;
mod syntax;
mod text;
mod threads;
mod value;
mod version_rule;

pub use ad::ClassAd;
pub use diagnostic::Diagnostic;
pub use error::SyntaxError;
pub use eval::EvalError;
pub use eval::flatten::{Flattened, Inlining, flatten};
pub use eval::matching::{rank, symmetric as matches};
pub use eval::scope::{EvalOptions, Limits, Scope};
pub use format::report::Report;
pub use format::{Format, Reader, Writer};
pub use name::Name;
pub use semantics::{Semantics, Series};
pub use shortcuts::{parse_ad, parse_expr, read_ads};
pub use span::Span;
pub use syntax::expr::Expr;
pub use syntax::parse::{Mode, ParseOptions};
pub use syntax::time::{AbsTime, Zone};
pub use text::Text;
pub use value::{AdValue, List, Value};

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    /// Modules with the public items of the modules of the same names.
    macro_rules! modules {
        ($($name:ident)*) => {
            $(pub mod $name {
                pub use crate::$name::*;
            })*
        };
    }

    modules! {
        ad analysis builtin diagnostic error eval format name pcre
        plural program random records semantics span syntax text threads value
    }
}

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
