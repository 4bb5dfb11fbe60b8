//! The version of the program: its number, its commit, and the version of HTCondor that it follows.

/// The version of HTCondor whose answers are given.
pub(super) const REFERENCE: &str = "25.14.1";

/// The commit of the sources; none if it is not known, as in builds for development.
const COMMIT: Option<&str> = option_env!("CLASSMATE_COMMIT");

/// The version as `--version` prints it: `0.2.0 (1a2b3c4d5e6f, HTCondor 25.14.1)`.
pub(super) fn version() -> String {
    let commit = COMMIT.filter(|commit| !commit.is_empty()).map(|commit| format!("{commit}, ")).unwrap_or_default();
    format!("{} ({commit}HTCondor {REFERENCE})", env!("CARGO_PKG_VERSION"))
}
