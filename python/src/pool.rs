//! Pools: reading, cycles, explanations, what-if, and the tables of ads. Results leave as JSON, whose names are those of
//! the command; the Python files make objects and tables of them.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use classmate::internal::eval::matching;
use classmate::{ClassAd, Expr, Name, Scope, Semantics};
use classmate_advice::{audit_autoclusters, explain_job, what_if};
use classmate_cli::cli::library::{self, Failure};
use classmate_cli::report::explain::ShownParts;
use classmate_cli::report::{self, Color, outcome};
use classmate_config::{Config, ConfigError};
use classmate_pool::internal::queue::cluster::Siblings;
use classmate_pool::{AccountantLog, JobId, LoadError, Snapshot, negotiate};
use classmate_wire::{Address, Client, Credentials, LivePool, Query, WireError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::ad::AdBase;
use crate::simulate::refused;
use crate::table::{Cell, Column, PyColumn, column, into_python};
use crate::world;

pyo3::import_exception!(classmate.errors, Error);
pyo3::import_exception!(classmate.errors, ConfigurationError);
pyo3::import_exception!(classmate.errors, SnapshotError);

pub(crate) fn invalid(error: &ConfigError) -> PyErr {
    let place = error.place.as_ref();
    let file = place.map(|place| place.file.to_string());
    let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
    let help = error.help.as_deref().map(str::to_owned);
    ConfigurationError::new_err((error.message.clone(), file, line, column, help))
}

/// Runs a function on a thread of its own, without the lock of the interpreter. Ctrl-C ends the wait for it.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    function: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    let semantics = world::semantics();
    let work = move || sender.send(library::in_version(semantics, function));
    std::thread::Builder::new().name("classmate".into()).spawn(work)?;
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(Duration::from_millis(50))) {
            Ok(result) => return Ok(result),
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Error::new_err("internal error: the computation ended without a result"));
            }
        }
    }
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// A result as JSON, and as the command prints it.
pub(crate) type Shown = (String, String);

/// Makes both forms of a result.
pub(crate) fn shown(
    value: &impl Serialize,
    write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
) -> Result<Shown, String> {
    let mut text = Vec::new();
    write(&mut text).map_err(|error| error.to_string())?;
    Ok((json(value)?, String::from_utf8_lossy(&text).into_owned()))
}

/// The error of a computation, before it is one of Python.
enum Failed {
    Config(ConfigError),
    Command(Failure),
    Other(String),
}

impl From<Failure> for Failed {
    fn from(error: Failure) -> Self {
        Failed::Command(error)
    }
}

impl From<ConfigError> for Failed {
    fn from(error: ConfigError) -> Self {
        Failed::Config(error)
    }
}

impl From<String> for Failed {
    fn from(error: String) -> Self {
        Failed::Other(error)
    }
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Config(error) => invalid(&error),
            Failed::Command(error) => refused(&error),
            Failed::Other(error) => Error::new_err(error),
        }
    }
}

/// A snapshot of a pool; it never changes.
#[pyclass(name = "_Pool", frozen, module = "classmate._classmate")]
pub(crate) struct PoolBase {
    snapshot: Arc<Snapshot>,
    #[pyo3(get)]
    problems: Vec<String>,
}

fn ads_of(ads: Option<Vec<Bound<'_, AdBase>>>) -> Option<Vec<ClassAd>> {
    ads.map(|ads| ads.iter().map(|ad| (*ad.get().ad()).clone()).collect())
}

impl PoolBase {
    /// The snapshot with further lines of configuration and another seed.
    fn changed(&self, config: Option<&str>, seed: Option<u64>) -> Result<Arc<Snapshot>, Failed> {
        if config.is_none() && seed.is_none_or(|seed| seed == self.snapshot.seed) {
            return Ok(Arc::clone(&self.snapshot));
        }
        let mut snapshot = (*self.snapshot).clone();
        if let Some(text) = config {
            snapshot.config.add("config", text.as_bytes())?;
        }
        snapshot.seed = seed.unwrap_or(snapshot.seed);
        Ok(Arc::new(snapshot))
    }

    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        function: impl FnOnce(&Snapshot) -> Result<T, Failed> + Send + 'static,
    ) -> PyResult<T> {
        let snapshot = Arc::clone(&self.snapshot);
        Ok(detached(py, move || function(&snapshot))??)
    }
}

/// The slots, jobs or submitters.
fn ads<'a>(snapshot: &'a Snapshot, of: &str) -> PyResult<&'a [ClassAd]> {
    match of {
        "slots" => Ok(&snapshot.slots),
        "jobs" => Ok(&snapshot.jobs),
        "submitters" => Ok(snapshot.submitters.as_deref().unwrap_or_default()),
        _ => Err(PyValueError::new_err(format!("`{of}` is not slots, jobs or submitters"))),
    }
}

#[pymethods]
impl PoolBase {
    /// Reads a pool directory.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, now: Option<i64>) -> PyResult<Self> {
        let semantics = world::semantics();
        let loaded = detached(py, move || Snapshot::read_dir_as(path, semantics))?.map_err(|error| match error {
            LoadError::Config(error) => invalid(&error),
            other => SnapshotError::new_err(other.to_string()),
        })?;
        let mut snapshot = loaded.snapshot;
        snapshot.now = now.unwrap_or(snapshot.now);
        let mut problems = loaded.warnings;
        for (name, report) in &loaded.reports {
            problems.extend(
                report
                    .faults
                    .iter()
                    .map(|fault| format!("{name}:{}:{}: {fault}", fault.position.line, fault.position.column)),
            );
        }
        Ok(PoolBase { snapshot: Arc::new(snapshot), problems })
    }

    /// Reads a live pool: that of this host, if there are no hosts. `proofs`: the files with tokens, authorities, the
    /// certificate and its key.
    #[staticmethod]
    fn connect(
        py: Python<'_>,
        hosts: Option<Vec<String>>,
        proofs: [Option<PathBuf>; 4],
        now: Option<i64>,
    ) -> PyResult<Self> {
        let semantics = world::semantics();
        let read = move || {
            let [tokens, authorities, certificate, key] = proofs.each_ref().map(Option::as_deref);
            let own = certificate.map(|path| (path, key.unwrap_or(path)));
            let collectors: Vec<Address> = match hosts {
                None => library::own_collectors().map_err(|failure| failure.message().to_owned())?,
                Some(hosts) => {
                    let parsed: Result<_, WireError> = hosts.iter().map(|host| host.parse()).collect();
                    parsed.map_err(|error| error.to_string())?
                }
            };
            Credentials::in_files(tokens, authorities, own)
                .and_then(|credentials| live(&collectors, credentials, now, semantics))
                .map_err(|error| error.to_string())
        };
        let (snapshot, problems) = detached(py, read)?.map_err(SnapshotError::new_err::<String>)?;
        Ok(PoolBase { snapshot: Arc::new(snapshot), problems })
    }

    /// Makes a pool of ads and the text of a configuration.
    #[staticmethod]
    fn of(
        slots: Vec<Bound<'_, AdBase>>,
        jobs: Vec<Bound<'_, AdBase>>,
        submitters: Option<Vec<Bound<'_, AdBase>>>,
        config: Option<&str>,
        now: Option<i64>,
    ) -> PyResult<Self> {
        let mut snapshot = Snapshot {
            slots: ads_of(Some(slots)).unwrap_or_default(),
            jobs: ads_of(Some(jobs)).unwrap_or_default(),
            submitters: ads_of(submitters),
            config: Config::default().read_as(world::semantics()),
            ..Snapshot::default()
        };
        if let Some(text) = config {
            snapshot.config.add("config", text.as_bytes()).map_err(|error| invalid(&error))?;
        }
        snapshot.now = now.unwrap_or_else(|| snapshot.newest_time());
        Ok(PoolBase { snapshot: Arc::new(snapshot), problems: Vec::new() })
    }

    /// The clock of the pool.
    #[getter]
    fn now(&self) -> i64 {
        self.snapshot.now
    }

    /// Number of slots, jobs or submitters.
    fn count(&self, of: &str) -> PyResult<usize> {
        Ok(ads(&self.snapshot, of)?.len())
    }

    /// Runs a cycle.
    fn negotiate(&self, py: Python<'_>, config: Option<&str>, seed: Option<u64>) -> PyResult<Shown> {
        let snapshot = self.changed(config, seed)?;
        Ok(detached(py, move || {
            let outcome = negotiate(&snapshot)?;
            Ok::<_, Failed>(shown(&outcome, |out| outcome::write(out, &outcome, usize::MAX, Color::Off))?)
        })??)
    }

    /// The page of a cycle of the pool with this name.
    fn report(&self, py: Python<'_>, name: String, config: Option<&str>, seed: Option<u64>) -> PyResult<String> {
        let snapshot = self.changed(config, seed)?;
        Ok(detached(py, move || Ok::<_, Failed>(library::cycle_page(&name, &snapshot)?))??)
    }

    /// Searches for settings that reach goals.
    fn advise(
        &self,
        py: Python<'_>,
        goals: Vec<String>,
        cycles: u32,
        interval: i64,
        run_time: String,
    ) -> PyResult<Shown> {
        self.run(py, move |snapshot| {
            let found = library::advise(snapshot, &goals, (cycles, interval), &run_time)?;
            Ok(shown(&found, |out| report::advise::write(out, &found, Color::Off))?)
        })
    }

    /// Explains why a job is idle; nothing if there is no such job.
    fn explain(&self, py: Python<'_>, job: &str) -> PyResult<Option<Shown>> {
        let id: JobId = job.parse().map_err(|_| PyValueError::new_err(format!("`{job}` is not a job ID")))?;
        self.run(py, move |snapshot| {
            let Some(found) = explain_job(snapshot, id)? else { return Ok(None) };
            let parts = ShownParts::default();
            Ok(Some(shown(&found, |out| report::explain::write(out, &found, &parts, Color::Off))?))
        })
    }

    /// Compares cycles before and after a change.
    fn whatif(&self, py: Python<'_>, config: Option<&str>, drop: Vec<String>) -> PyResult<Shown> {
        let mut conditions = Vec::new();
        for text in drop {
            let parsed = Expr::parse_with(&text, &self.snapshot.settings().parse_options());
            conditions.push(parsed.map_err(|error| PyValueError::new_err(format!("`{text}`: {error}")))?);
        }
        let mut after = (*self.changed(config, None)?).clone();
        self.run(py, move |before| {
            let settings = after.settings();
            for condition in &conditions {
                after.slots.retain(|slot| !Scope::new(slot, &settings).holds(condition));
            }
            let found = what_if(before, &after)?;
            Ok(shown(&found, |out| report::whatif::write(out, &found, Color::Off))?)
        })
    }

    /// Lists what splits the queue into autoclusters.
    fn autoclusters(&self, py: Python<'_>) -> PyResult<Shown> {
        self.run(py, |snapshot| {
            let audit = audit_autoclusters(snapshot)?;
            Ok(shown(&audit, |out| report::autoclusters::write(out, &audit, false, Color::Off))?)
        })
    }

    /// Tests a job against all slots.
    #[pyo3(name = "match")]
    fn matching(&self, py: Python<'_>, job: &Bound<'_, AdBase>) -> PyResult<PyColumn> {
        let (snapshot, job) = (Arc::clone(&self.snapshot), job.get().ad());
        let cells: Vec<Cell> = detached(py, move || {
            let settings = snapshot.settings();
            snapshot.slots.iter().map(|slot| Cell::Bool(matching::symmetric(&job, slot, &settings))).collect()
        })?;
        Ok(column("matches".to_owned(), &cells).into_python(py))
    }

    /// The ad of a job.
    fn job<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id: JobId = id.parse().map_err(|_| PyValueError::new_err(format!("`{id}` is not a job ID")))?;
        let is_it =
            |ad: &&ClassAd| (ad.eval_int("ClusterId"), ad.eval_int("ProcId")) == (Some(id.cluster), Some(id.process));
        self.snapshot.jobs.iter().find(is_it).map(|ad| crate::classes::new_ad(py, ad.clone())).transpose()
    }

    /// Columns of the slots, jobs or submitters.
    fn columns(&self, py: Python<'_>, of: String, attributes: Option<Vec<String>>) -> PyResult<Vec<PyColumn>> {
        let snapshot = Arc::clone(&self.snapshot);
        let columns = detached(py, move || {
            Ok::<_, PyErr>(columns_of(ads(&snapshot, &of)?, attributes.as_deref(), &snapshot.settings(), || true))
        })??;
        Ok(into_python(py, columns))
    }
}

/// Reads a live pool; also returns the sources that cannot be read.
fn live(
    collectors: &[Address],
    credentials: Credentials,
    now: Option<i64>,
    semantics: Semantics,
) -> Result<(Snapshot, Vec<String>), WireError> {
    let (client, all) = (Client::new(credentials).with_semantics(semantics), Query::all());
    let mut pool = LivePool::locate(&client, collectors, &|_, _| ())?;
    let settings = pool.settings().unwrap_or_default();
    let semantics = library::version_of(pool.negotiator_ads(), semantics);
    let name = pool.negotiator().map_or_else(String::new, |negotiator| negotiator.name.clone());
    let accounting = pool.accounting(&all);
    let jobs = pool.jobs(&all, |ad, siblings: &mut Siblings| siblings.chain(ad));
    let slots = pool.slots(&all, None)?;
    let mut problems: Vec<String> = pool.failures().iter().map(ToString::to_string).collect();
    let log = AccountantLog::of_ads(&accounting).map_err(|error| problems.push(error.to_string())).ok();
    let snapshot = Snapshot {
        config: Config::of_values(&settings, &format!("the negotiator `{name}`")).read_as(semantics),
        slots,
        jobs,
        submitters: Some(pool.submitters().to_vec()),
        log,
        now: now.unwrap_or_else(world::seconds),
        ..Snapshot::default()
    };
    Ok((snapshot, problems))
}

/// Columns with the values of attributes in ads, as long as `goes_on`: of some, or of all that an ad has.
pub(crate) fn columns_of(
    ads: &[ClassAd],
    attributes: Option<&[String]>,
    settings: &classmate::EvalOptions,
    goes_on: impl Fn() -> bool,
) -> Vec<Column> {
    let names: Vec<Name> = match attributes {
        Some(names) => names.iter().map(|name| Name::new(name.as_str())).collect(),
        None => {
            let mut seen = std::collections::HashSet::new();
            let mut names: Vec<Name> = ads.iter().flat_map(ClassAd::names).filter(|name| seen.insert(*name)).collect();
            names.sort_by(|a, b| a.listing_order(*b));
            names
        }
    };
    let value = |ad: &ClassAd, name: Name| match ad.constant(name) {
        Some(value) => Cell::from(&value),
        None => Scope::new(ad, settings).eval_attr(name).map_or(Cell::Null, |value| Cell::from(&value)),
    };
    let cells = |name: Name| ads.iter().map(|ad| value(ad, name)).collect::<Vec<_>>();
    names.into_iter().take_while(|_| goes_on()).map(|name| column(name.to_string(), &cells(name))).collect()
}
