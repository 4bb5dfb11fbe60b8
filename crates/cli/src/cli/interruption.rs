//! Signals that end a command which runs for days: the first one in order, the second one at once.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Longest time until a signal is noticed.
const LOOK: Duration = Duration::from_millis(100);

/// A request to end, by Ctrl-C or SIGTERM.
pub(super) struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Takes these signals from now on.
    ///
    /// # Errors
    /// The system does not permit it.
    pub(super) fn expected() -> io::Result<Self> {
        let is_requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The status that shells give a program which a signal ended.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_requested))?;
            flag::register(signal, Arc::clone(&is_requested))?;
        }
        Ok(Interruption(is_requested))
    }

    /// Ends the process at these signals, and removes a folder before.
    ///
    /// # Errors
    /// The system does not permit it.
    pub(super) fn removes(folder: PathBuf) -> io::Result<()> {
        let signal = Self::expected()?;
        std::thread::Builder::new().spawn(move || {
            while !signal.is_requested() {
                signal.wait(LOOK);
            }
            // It may not be there yet, or no more.
            let _ = std::fs::remove_dir_all(&folder);
            std::process::exit(128 + SIGINT);
        })?;
        Ok(())
    }

    pub(super) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for some time, or until there is a request.
    pub(super) fn wait(&self, time: Duration) {
        let started = Instant::now();
        while !self.is_requested() {
            let left = time.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}
