//! Signals that end a command which runs for days: the first one in order, the second one at once.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Longest time until a signal is noticed.
const LOOK: Duration = Duration::from_millis(100);

/// A request to end, by Ctrl-C or SIGTERM.
pub(super) struct Interruption {
    is_requested: Arc<AtomicBool>,
    /// The number of the signal.
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Takes these signals from now on.
    ///
    /// # Errors
    /// The system does not permit it.
    pub(super) fn expected() -> io::Result<Self> {
        let (is_requested, number) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for signal in [SIGINT, SIGTERM] {
            // The status that shells give a program which a signal ended.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_requested))?;
            flag::register_usize(signal, Arc::clone(&number), usize::try_from(signal).unwrap_or_default())?;
            flag::register(signal, Arc::clone(&is_requested))?;
        }
        Ok(Interruption { is_requested, signal: number })
    }

    pub(super) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::SeqCst)
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

/// A folder that does not outlive the process: a signal ends the command that writes there, and the folder is removed.
pub(super) struct TemporaryFolder {
    interruption: Arc<Interruption>,
    /// The command that runs; 0: none.
    child: Arc<AtomicU32>,
}

impl TemporaryFolder {
    /// Removes a folder when a signal ends the process.
    ///
    /// # Errors
    /// The system does not permit it.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let interruption = Arc::new(Interruption::expected()?);
        let child = Arc::new(AtomicU32::new(0));
        let (signal, running) = (Arc::clone(&interruption), Arc::clone(&child));
        std::thread::Builder::new().spawn(move || {
            while !signal.is_requested() {
                signal.wait(LOOK);
            }
            end_group(running.load(Ordering::SeqCst));
            remove(&path);
            let number = i32::try_from(signal.signal.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
            std::process::exit(128 + number);
        })?;
        Ok(Self { interruption, child })
    }

    /// Runs a command with the processes that it starts as a group of their own; after a signal, the process ends here.
    ///
    /// # Errors
    /// The command does not start.
    pub(super) fn run(&self, command: &mut Command) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn()?;
        self.child.store(child.id(), Ordering::SeqCst);
        let status = child.wait();
        self.child.store(0, Ordering::SeqCst);
        while self.interruption.is_requested() {
            std::thread::park();
        }
        status
    }
}

/// Ends the processes of a group.
fn end_group(group: u32) {
    if group > 0 {
        // It may have ended.
        let _ = Command::new("sh").args(["-c", "kill -s TERM -- \"-$1\"", "sh", &group.to_string()]).output();
    }
}

/// Removes a folder, which may not be there yet, or be written to for a moment.
fn remove(path: &Path) {
    for _ in 0..20 {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(LOOK),
            _ => return,
        }
    }
}
