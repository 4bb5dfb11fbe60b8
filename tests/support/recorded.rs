//! The recorded pools and listings of `tests/data`, unpacked from their archives.
//!
//! Tests share one copy, which they must not change. Include this file with `#[path = "…/tests/support/recorded.rs"]`;
//! the crate that includes it needs `flate2`, `tar` and `tempfile`.

#![allow(dead_code, reason = "few test binaries read every archive")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flate2::read::GzDecoder;

/// The folder of the recorded negotiation cycles, with one subfolder per scenario.
pub(crate) fn scenarios() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> =
        LazyLock::new(|| unpack("scenarios", include_bytes!("../data/scenarios.tar.gz")));
    &FOLDER
}

/// The folder of the random negotiation cycles and of the small ones of one behavior each, with one subfolder per cycle.
pub(crate) fn cycles() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| unpack("cycles", include_bytes!("../data/cycles.tar.gz")));
    &FOLDER
}

/// The folder of the logs of the random negotiation cycles, one file per cycle.
pub(crate) fn negotiator_logs() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> =
        LazyLock::new(|| unpack("negotiator-logs", include_bytes!("../data/negotiator-logs.tar.gz")));
    &FOLDER
}

/// The folder of the listings of `condor_userprio` and the ads they were made from.
pub(crate) fn userprio() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| unpack("userprio", include_bytes!("../data/userprio.tar.gz")));
    &FOLDER
}

/// The folder of clusters of real Slurm daemons, with one subfolder each.
pub(crate) fn slurm_real() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> =
        LazyLock::new(|| unpack("slurm-real", include_bytes!("../data/slurm-real.tar.gz")));
    &FOLDER
}

/// Unpacks `archive`, which contains the folder `name`, unless an earlier run has already done so.
///
/// The path depends on the content of the archive. The complete folder is moved there in one step, so processes that run
/// at the same time never see a part of it.
fn unpack(name: &str, archive: &[u8]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    archive.hash(&mut hasher);
    // Cargo sets the variable for integration tests and benchmarks, not for unit tests.
    let parent = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = parent.join(format!("classmate-{name}-{:016x}", hasher.finish()));
    if !folder.is_dir() {
        std::fs::create_dir_all(&parent).unwrap();
        let temporary = tempfile::tempdir_in(&parent).unwrap();
        let mut files = tar::Archive::new(GzDecoder::new(archive));
        files.set_preserve_mtime(false);
        files.unpack(&temporary).unwrap();
        if let Err(error) = std::fs::rename(temporary.path().join(name), &folder) {
            // Another process may have been faster.
            assert!(folder.is_dir(), "{}: {error}", folder.display());
        }
    }
    folder
}
