//! `--semantics`: the version of the language, of the whole command.

use std::sync::OnceLock;

use classmate::Semantics;
use classmate::internal::semantics::{LATEST, OLDEST};

static CHOSEN: OnceLock<Semantics> = OnceLock::new();

/// Reads a version of HTCondor.
pub(super) fn parse_semantics(text: &str) -> Result<Semantics, String> {
    let known =
        || format!("expected a series from {OLDEST} to {LATEST} such as 24.0, an alias such as 24.x, or `latest`");
    text.parse().map_err(|error| format!("{error}\n{}", known()))
}

/// Chooses the version for this process, once.
pub(super) fn choose(semantics: Semantics) {
    let _ = CHOSEN.set(semantics);
    if semantics.series() > LATEST {
        super::complain(&format!("note: HTCondor {semantics} is newer than {LATEST}, whose semantics are used"));
    }
}

/// The version that the command line or the settings file names.
pub(crate) fn chosen() -> Semantics {
    CHOSEN.get().copied().unwrap_or_default()
}
