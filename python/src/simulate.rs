//! Simulations, experiments and policy tests, as the commands run them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use classmate::Text;
use classmate_cli::cli::library::{self, Failure, PlanSource, Played, Progress, Watch};
use classmate_cli::report::Color;
use classmate_cli::report::simulated::{self, html};
use classmate_pool::Workload;
use classmate_pool::internal::simulate::compare::Comparison;
use classmate_pool::internal::simulate::{JobRun, SimulationRun};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pool::{ConfigurationError, Error, Shown, detached, shown};
use crate::table::{Cell, PyColumn, column};
use crate::world;

pub(crate) fn refused(failure: &Failure) -> PyErr {
    let ((file, line, column), help) = (failure.place(), failure.suggestion());
    let of_file = file.is_some();
    let parts = (failure.message().to_owned(), file.map(str::to_owned), line, column, help.map(str::to_owned));
    if of_file { ConfigurationError::new_err(parts) } else { Error::new_err(parts) }
}

/// The progress of a computation on another thread.
#[derive(Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    is_stopped: AtomicBool,
}

/// The longest wait for a computation that was stopped.
const LONGEST_STOP: Duration = Duration::from_secs(2);

/// Runs a function on a thread of its own, without the lock of the interpreter, and calls `progress` with the steps that are
/// done and all steps. Ctrl-C, and an exception of `progress`, stop the function.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    function: impl FnOnce(&Watch<'_>) -> T + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (of_thread, semantics) = (Arc::clone(&shared), world::semantics());
    let (sender, mut receiver) = mpsc::channel();
    let work = move || {
        let watch = |step: Progress| {
            of_thread.done.store(step.done, Ordering::Relaxed);
            of_thread.total.store(step.total, Ordering::Relaxed);
            if of_thread.is_stopped.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        sender.send(library::in_version(semantics, || function(&watch)))
    };
    std::thread::Builder::new().name("classmate".into()).spawn(work)?;
    let mut last = None;
    let mut show = || -> PyResult<()> {
        let now = (shared.done.load(Ordering::Relaxed), shared.total.load(Ordering::Relaxed));
        match progress {
            Some(progress) if now.1 > 0 && last.replace(now) != Some(now) => progress.call1(now).map(drop),
            _ => Ok(()),
        }
    };
    loop {
        let waiting = &mut receiver;
        let stopped = match py.detach(move || waiting.recv_timeout(Duration::from_millis(50))) {
            Ok(result) => {
                show()?;
                return Ok(result);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| show()),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Error::new_err("internal error: the computation ended without a result"));
            }
        };
        if let Err(error) = stopped {
            shared.is_stopped.store(true, Ordering::Relaxed);
            let waiting = &mut receiver;
            let _ = py.detach(move || waiting.recv_timeout(LONGEST_STOP));
            return Err(error);
        }
    }
}

/// Options, or the description of an experiment, in JSON.
fn table(text: &str) -> PyResult<toml::Table> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A simulation that was run, or read from its file.
#[pyclass(name = "_Run", frozen, module = "classmate._classmate")]
pub(crate) struct RunBase {
    run: SimulationRun,
    /// The times of the jobs; a file does not have them.
    jobs: Option<(Workload, Vec<JobRun>)>,
    #[pyo3(get)]
    problems: Vec<String>,
}

#[pymethods]
impl RunBase {
    /// Runs a simulation.
    #[new]
    fn new(py: Python<'_>, options: &str, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let options = table(options)?;
        let (Played { run, workload, jobs }, problems) =
            watched(py, progress, move |watch| library::simulate(&options, watch))?.map_err(|error| refused(&error))?;
        Ok(RunBase { run, jobs: Some((workload, jobs)), problems })
    }

    /// Reads a run that was written.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let run = detached(py, move || library::read_run(&path))?.map_err(|error| refused(&error))?;
        Ok(RunBase { run, jobs: None, problems: Vec::new() })
    }

    /// Settings and results.
    fn shown(&self) -> PyResult<Shown> {
        shown(&self.run, |out| simulated::write(out, &self.run.simulated, Color::Off)).map_err(Error::new_err)
    }

    /// The page of the run.
    fn page(&self) -> String {
        html::run(&self.run)
    }

    /// The times of each job; nothing if they are not known.
    fn job_times(&self, py: Python<'_>) -> Option<Vec<PyColumn>> {
        let (workload, runs) = self.jobs.as_ref()?;
        let arrivals = &workload.arrivals;
        let texts = |of: fn(&Workload, usize) -> Text| {
            let known: Vec<Text> = (0..workload.submitters.len()).map(|at| of(workload, at)).collect();
            arrivals.iter().map(|job| Cell::Text(known[job.submitter].clone())).collect::<Vec<_>>()
        };
        let ints = |of: &dyn Fn(usize) -> Option<i64>| {
            (0..arrivals.len()).map(|at| of(at).map_or(Cell::Null, Cell::Int)).collect::<Vec<_>>()
        };
        let job = arrivals.iter().map(|job| Cell::Text(Text::from(job.id.to_string().as_str()))).collect();
        let slowdown = arrivals.iter().zip(runs).map(|(job, run)| run.slowdown(job).map_or(Cell::Null, Cell::Real));
        let state = runs.iter().map(|run| Cell::Text(Text::from(run.state.as_str())));
        // The columns of `jobs.csv`.
        let columns: [(&str, Vec<Cell>); 13] = [
            ("job", job),
            ("place", ints(&|at| i64::try_from(arrivals[at].place).ok())),
            ("submitter", texts(|workload, at| Text::new(&workload.submitters[at].name))),
            ("group", texts(|workload, at| Text::new(&workload.submitters[at].group))),
            ("cores", ints(&|at| Some(i64::from(arrivals[at].cores)))),
            ("submit", ints(&|at| Some(arrivals[at].submit))),
            ("start", ints(&|at| runs[at].start)),
            ("end", ints(&|at| runs[at].end)),
            ("run_time", ints(&|at| Some(arrivals[at].run_time))),
            ("wait", ints(&|at| runs[at].wait(&arrivals[at]))),
            ("slowdown", slowdown.collect()),
            ("preemptions", ints(&|at| Some(i64::from(runs[at].preemptions)))),
            ("state", state.collect()),
        ];
        Some(columns.into_iter().map(|(name, cells)| column(name.to_owned(), &cells).into_python(py)).collect())
    }
}

/// Compares runs, each with its name: the result as JSON, and the page.
#[pyfunction]
#[pyo3(name = "_compare")]
pub(crate) fn compare(runs: Vec<(String, Bound<'_, RunBase>)>) -> PyResult<(Shown, String)> {
    let runs: Vec<(String, SimulationRun)> =
        runs.into_iter().map(|(name, run)| (name, run.get().run.clone())).collect();
    let found = Comparison::new(&runs);
    let both = shown(&found, |out| simulated::compared::write(out, &found, Color::Off)).map_err(Error::new_err)?;
    Ok((both, html::comparison(&runs)))
}

/// Makes the runs of an experiment, of a file or of a description in JSON: the result as JSON, the page, and warnings.
#[pyfunction]
#[pyo3(name = "_experiment")]
pub(crate) fn experiment(
    py: Python<'_>,
    file: Option<PathBuf>,
    description: Option<&str>,
    output: Option<PathBuf>,
    baseline: Option<String>,
    jobs: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Shown, String, Vec<String>)> {
    let description = description.map(table).transpose()?.unwrap_or_default();
    let made = watched(py, progress, move |watch| {
        let source = file.as_deref().map_or(PlanSource::Table(description), PlanSource::File);
        library::experiment(source, (output.as_deref(), baseline.as_deref()), jobs, watch)
    })?;
    let (found, problems) = made.map_err(|error| refused(&error))?;
    let both = shown(&found, |out| simulated::experiment::write(out, &found, Color::Off)).map_err(Error::new_err)?;
    Ok((both, html::experiment(&found), problems))
}

/// Runs policy tests; the results as JSON.
#[pyfunction]
#[pyo3(name = "_test")]
pub(crate) fn test(py: Python<'_>, files: Vec<PathBuf>, only: Option<String>, coverage: bool) -> PyResult<Shown> {
    let results = detached(py, move || library::test(&files, only.as_deref(), coverage))?;
    let (results, text) = results.map_err(|error| refused(&error))?;
    Ok((results.to_string(), text))
}
