//! What an evaluation reads from its surroundings: the clock, the zone of local times, random numbers.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, OsString};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use classmate::internal::builtin::user_map::Homes;
use classmate::internal::semantics::UnknownSeries;
use classmate::{EvalOptions, ParseOptions, Semantics, Zone};
use classmate_cli::cli::library::newer;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

thread_local! {
    static OPTIONS: RefCell<EvalOptions> = RefCell::new(first_options());
    /// The environment variable `TZ` as it was last, and how often it was another one.
    static ZONE: RefCell<(Option<OsString>, u64)> = const { RefCell::new((None, 0)) };
    static LAST_ERROR: Cell<&'static str> = const { Cell::new("") };
}

/// The home directories of this machine, for `userHome`.
static HOMES: LazyLock<Arc<Homes>> =
    LazyLock::new(|| Arc::new(std::fs::read("/etc/passwd").map(|text| Homes::parse(&text)).unwrap_or_default()));

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The wall clock.
pub(crate) fn seconds() -> i64 {
    since_1970().as_secs() as i64
}

fn first_options() -> EvalOptions {
    // Threads draw different numbers.
    let thread = std::thread::current().id();
    EvalOptions {
        seed: since_1970().as_nanos() as u64 ^ RandomState::new().hash_one(thread),
        clock: Some(seconds),
        zone: Zone::of_process(),
        homes: Arc::clone(&HOMES),
        ..EvalOptions::default()
    }
}

/// Calls the function with the options of an evaluation that begins now.
pub(crate) fn with_options<T>(function: impl FnOnce(&EvalOptions) -> T) -> T {
    OPTIONS.with(|options| match options.try_borrow_mut() {
        Ok(mut options) => {
            options.seed = options.seed.wrapping_add(1);
            function(&options)
        }
        Err(_) => function(&first_options()),
    })
}

/// The version of the language on this thread.
pub(crate) fn semantics() -> Semantics {
    with_options(|options| options.semantics)
}

/// Sets the version of the language on this thread; returns the one before.
#[pyfunction]
#[pyo3(name = "_set_semantics")]
pub(crate) fn set_semantics(python: Python<'_>, series: &str) -> PyResult<String> {
    let semantics: Semantics =
        series.parse().map_err(|error: UnknownSeries| PyValueError::new_err(error.to_string()))?;
    if let Some(note) = newer(semantics) {
        let note = CString::new(note)?;
        PyErr::warn(python, &python.get_type::<PyUserWarning>(), &note, 3)?;
    }
    let before = OPTIONS.with_borrow_mut(|options| std::mem::replace(&mut options.semantics, semantics));
    Ok(before.to_string())
}

/// A number that changes with the zone of local times: what was read in another one may mean something else now.
pub(crate) fn zone_number() -> u64 {
    let variable = std::env::var_os("TZ");
    ZONE.with_borrow_mut(|(known, number)| {
        if *known != variable {
            *known = variable;
            *number += 1;
        }
        *number
    })
}

/// The options of a text that is read now.
pub(crate) fn parse_options() -> ParseOptions {
    with_options(EvalOptions::parse_options)
}

/// Keeps a message for `lastError`.
pub(crate) fn set_last_error(message: &'static str) {
    LAST_ERROR.set(message);
}

/// Returns the last error that the ClassAd library noted, on this thread; empty if there was none.
#[pyfunction]
#[pyo3(name = "lastError")]
pub(crate) fn last_error() -> &'static str {
    if classmate::internal::value::compare::take_mixed() {
        set_last_error("strings can only be compared to strings");
    }
    LAST_ERROR.get()
}
