//! Read HTCondor configuration, `slurm.conf` and DIRAC configuration files.
//!
//! A [`Config`] holds the variables that files set, over the built-in defaults of HTCondor 25.14.1. Values are expanded
//! when they are looked up, as the daemons do: `$(NAME)`, `$INT(…)` and the other macros, conditions, includes and
//! templates. The crate reads no disk, no environment and no clock by itself: a [`Files`] provides included files, a
//! [`Context`] the daemon, its environment, the time and the seed.
//!
//! ```
//! use classmate_config::{Config, TextFiles, check};
//!
//! let files = TextFiles::from_iter([
//!     ("condor_config", "BASE = 20\ninclude : local"),
//!     ("local", "NEGOTIATOR_INTERVAL = $(BASE) * 3\nNEGOTIATOR_CONSIDER_PREEMPTION = maybe"),
//! ]);
//! let mut config = Config::default();
//! config.read_file("condor_config", &files)?;
//!
//! let interval = config.get("NEGOTIATOR_INTERVAL")?.unwrap();
//! assert_eq!(interval.text, b"20 * 3");
//!
//! // Problems are found without starting a daemon.
//! let problems = check(&config);
//! assert_eq!((problems[0].code, problems[0].file(), problems[0].line()), ("bad-value", "local", 2));
//! # Ok::<(), classmate_config::ConfigError>(())
//! ```
//!
//! The table of known variables gives the type, the range and the meaning of each:
//!
//! ```
//! use classmate_config::{KnobKind, find_knob};
//!
//! let knob = find_knob(b"NEGOTIATOR_INTERVAL").unwrap();
//! assert!(matches!(knob.kind, KnobKind::Integer(..)));
//! ```

// Pages of other crates of the workspace link here at the first `cargo doc`, whichever is written first.
#![doc(html_root_url = "../")]

mod config;

pub use config::check::check;
pub use config::dirac::{DiracSettings, DiracTree};
pub use config::knob::{Knob, KnobKind, all as all_knobs, find as find_knob};
pub use config::knobs::NegotiatorKnobs;
pub use config::slurm::{SlurmAssociations, SlurmConf};
pub use config::{
    Config, ConfigError, Context, Definition, Diagnostic, FileError, Files, Location, Output, Source, TextFiles,
};

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    /// The modules of this crate.
    pub mod config {
        pub use crate::config::*;
    }
}
