//! Reading configurations from files: those of a pool, or those a command names.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::failure::MessageBody;
use crate::cli::input::{self, Notes};
use crate::cli::{Failure, Now, language, parse_now};
use crate::report::config::SourceLines;
use crate::report::{self, Color};
use classmate::internal::builtin::user_map::UserMaps;
use classmate_config::internal::config::{self, BYTE_ORDER_MARK, Disk};
use classmate_config::{Config, ConfigError, Context, FileError};
use classmate_wire::{Address, COLLECTOR_PORT};

/// The files of a configuration, and the daemon that reads them.
#[derive(clap::Args, Debug)]
pub(super) struct Sources {
    /// Configuration files, read in this order, or the directory of a pool with `condor_config`, `config.d` and
    /// `config` [default: built-in defaults only]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Daemon or tool: SUBSYSTEM.NAME overrides NAME
    #[arg(long, value_name = "NAME", default_value = "NEGOTIATOR")]
    subsystem: String,
    /// Local name of the daemon: NAME.KNOB overrides KNOB
    #[arg(long, value_name = "NAME")]
    local_name: Option<String>,
    /// A line to add after the files, such as `PRIORITY_HALFLIFE = 3600`; repeatable
    #[arg(long = "set", value_name = "LINE")]
    set: Vec<String>,
    /// Run the commands of `include command` and of names with a trailing `|` (a configuration can run any program)
    #[arg(long)]
    allow_commands: bool,
    /// Use environment variables: `$ENV(NAME)` expands to their value, and `_CONDOR_NAME` sets NAME after the files
    #[arg(long)]
    environment: bool,
    /// Also read the files in `LOCAL_CONFIG_DIR` and `LOCAL_CONFIG_FILE`, like a daemon
    #[arg(long)]
    local_files: bool,
    /// Result of `time()` in function macros: seconds since 1970, a date, or `wall`
    #[arg(long, value_name = "TIME", default_value = "wall", value_parser = parse_now)]
    now: Now,
    /// Seed of `$RANDOM_CHOICE` and `$RANDOM_INTEGER`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

/// A configuration as far as it could be read, and why no further.
pub(super) struct Reading {
    pub(super) config: Config,
    pub(super) error: Option<ConfigError>,
}

impl Reading {
    /// The configuration, or the rendered error.
    pub(super) fn whole(self, color: Color) -> Result<Config, Failure> {
        match self.error {
            Some(error) => Err(rendered(&error, &self.config, color)),
            None => Ok(self.config),
        }
    }
}

/// An error of a configuration with the line it is about.
pub(super) fn rendered(error: &ConfigError, config: &Config, color: Color) -> Failure {
    let sources = SourceLines::of(config.sources());
    Failure::drawn(MessageBody::of(error), &report::config::render(error, &sources, color))
}

impl Sources {
    /// Reads what is named.
    pub(super) fn read(&self) -> Result<Reading, Failure> {
        let environment =
            || std::env::vars_os().map(|(name, value)| (name.into_encoded_bytes(), value.into_encoded_bytes()));
        let config = Config::new(Context {
            subsystem: self.subsystem.clone(),
            local_name: self.local_name.clone(),
            environment: if self.environment { environment().collect() } else { BTreeMap::new() },
            commands: self.allow_commands,
            now: self.now.seconds(),
            seed: self.seed,
            semantics: language::chosen(),
            defaults: language::chosen().series(),
            facts: BTreeMap::new(),
        });
        let mut reading = Reading { config, error: None };
        for path in &self.files {
            expect_configuration(path)?;
            reading.read(path, self.local_files)?;
        }
        if reading.error.is_none() && self.environment && !self.local_files {
            reading.error = reading.config.apply_environment().err();
        }
        if reading.error.is_none() && !self.set.is_empty() {
            reading.error = reading.config.add("--set", self.set.join("\n").as_bytes()).err();
        }
        Ok(reading)
    }
}

impl Reading {
    /// An empty configuration, which may run commands or not.
    fn empty(commands: bool) -> Self {
        let context = Context { commands, semantics: language::chosen(), ..Context::default() };
        Self { config: Config::new(context), error: None }
    }

    /// Reads a file, or the files in the directory of a pool.
    fn read(&mut self, path: &Path, local_files: bool) -> Result<(), Failure> {
        if path.is_dir() {
            return of_pool(path)?.iter().try_for_each(|file| self.read_file(file, false));
        }
        self.read_file(path, local_files)
    }

    /// Reads a file after the earlier ones, unless there was an error before.
    fn read_file(&mut self, path: &Path, local_files: bool) -> Result<(), Failure> {
        if self.error.is_some() {
            return Ok(());
        }
        let result = if local_files {
            self.config.read_root(&path.display().to_string(), &Disk)
        } else {
            let (name, text) = named_text(path)?;
            self.config.read(&name, &text, &Disk)
        };
        self.error = result.err();
        Ok(())
    }
}

/// The name under which a file of a configuration is read, and its text with its byte order mark.
pub(super) fn named_text(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let (mut text, marked) = read_whole(path)?;
    if marked {
        text.splice(..0, BYTE_ORDER_MARK.iter().copied());
    }
    Ok((input::shown_name(path), text))
}

/// The configuration that some files make, read in this order; a directory is a pool's.
pub(super) fn of_files(paths: &[PathBuf]) -> Result<Reading, Failure> {
    let mut reading = Reading::empty(false);
    paths.iter().try_for_each(|path| reading.read(path, false))?;
    Ok(reading)
}

/// The settings of a pool: a given file, otherwise those in its directory, otherwise the defaults. With `commands` they may
/// run programs.
pub(super) fn pool(given: Option<&Path>, pool: Option<&Path>, commands: bool, color: Color) -> Result<Config, Failure> {
    let mut reading = Reading::empty(commands);
    if let Some(path) = given {
        expect_configuration(path)?;
    }
    if let Some(path) = given.or(pool.filter(|pool| pool.is_dir())) {
        reading.read(path, false)?;
    }
    let config = reading.whole(color)?;
    // Every ad has this attribute, and no configuration variable has this name.
    if let Some(path) = given.filter(|_| config.assignments().any(|(name, ..)| name.eq_ignore_ascii_case(b"MyType"))) {
        return Err(Failure::input(format!("`{}` does not contain a configuration, but ads", path.display())));
    }
    Ok(config)
}

/// Places of the configuration of HTCondor's tools, in the order in which they are tried.
const OWN_FILES: [&str; 2] = ["/etc/condor/condor_config", "/usr/local/etc/condor_config"];

/// The value of `CONDOR_CONFIG` for a configuration that is only in the environment.
const ONLY_ENVIRONMENT: &str = "ONLY_ENV";

/// The collectors that the configuration of this host names (`COLLECTOR_HOST`, with `COLLECTOR_PORT` where it names no port), as
/// HTCondor's tools read it: the file in the environment variable `CONDOR_CONFIG` or in a usual place, its local files, and
/// `_CONDOR_…` in the environment. It runs no commands.
pub(super) fn own_collectors() -> Result<Vec<Address>, Failure> {
    let named = std::env::var_os("CONDOR_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
    let usual = || OWN_FILES.into_iter().map(PathBuf::from).find(|path| path.exists());
    let Some(path) = named.or_else(usual) else {
        return Err(Failure::input("this host does not have a configuration of HTCondor")
            .help("name the collector of the pool: --pool HOST[:PORT]"));
    };
    let environment = std::env::vars_os().map(|(name, value)| (name.into_encoded_bytes(), value.into_encoded_bytes()));
    let context = Context {
        subsystem: "TOOL".to_owned(),
        environment: environment.collect(),
        facts: facts(),
        semantics: language::chosen(),
        ..Context::default()
    };
    let mut reading = Reading { config: Config::new(context), error: None };
    if path == Path::new(ONLY_ENVIRONMENT) {
        reading.error = reading.config.apply_environment().err();
    } else {
        reading.read(&path, true)?;
    }
    let config = reading.whole(Color::Off)?;
    let hosts = config.list("COLLECTOR_HOST")?;
    if hosts.is_empty() {
        return Err(Failure::input(format!("`{}` does not set COLLECTOR_HOST", path.display())));
    }
    let port = match config.get("COLLECTOR_PORT")? {
        None => COLLECTOR_PORT,
        Some(port) => {
            let text = String::from_utf8_lossy(port.text.trim_ascii()).into_owned();
            text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
                Failure::input(format!("`{}`: COLLECTOR_PORT is `{text}`", path.display()))
                    .help("expected a number from 1 to 65535")
            })?
        }
    };
    let address = |host: &Vec<u8>| Ok(Address::with_default_port(&String::from_utf8_lossy(host), port)?);
    hosts.iter().map(address).collect()
}

/// The names and the address of this host, which HTCondor defines before it reads a file.
fn facts() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let name = gethostname::gethostname().into_encoded_bytes();
    let short = name.split(|byte| *byte == b'.').next().unwrap_or_default().to_vec();
    // The address of the interface to other networks; nothing is sent.
    let towards = |own: &str, other: &str| {
        let socket = UdpSocket::bind(own).and_then(|socket| socket.connect(other).map(|()| socket));
        socket.and_then(|socket| socket.local_addr()).ok().map(|address| address.ip().to_string())
    };
    let (old, new) = (towards("0.0.0.0:0", "192.0.2.1:9"), towards("[::]:0", "[2001:db8::1]:9"));
    let address = old.clone().or_else(|| new.clone()).unwrap_or_else(|| "127.0.0.1".to_owned());
    let addresses = [("IP_ADDRESS", Some(address)), ("IPV4_ADDRESS", old), ("IPV6_ADDRESS", new)];
    let addresses = addresses.into_iter().filter_map(|(name, address)| Some((name, address?.into_bytes())));
    let names = [("FULL_HOSTNAME", name), ("HOSTNAME", short)];
    names.into_iter().chain(addresses).map(|(name, value)| (name.as_bytes().to_vec(), value)).collect()
}

/// The user maps of the negotiator.
pub(super) fn user_maps(config: &Config, notes: &mut Notes) -> Result<Arc<UserMaps>, Failure> {
    let (maps, warnings) = config::user_map::user_maps(config, "NEGOTIATOR", &Disk)?;
    for warning in warnings {
        notes.warn(warning);
    }
    Ok(Arc::new(maps))
}

/// The configuration files of a pool's directory, in the order in which they are read.
pub(super) fn of_pool(pool: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot =
        |(path, error): (PathBuf, FileError)| Failure::new(format!("cannot read `{}`: {error}", path.display()));
    Disk::pool_config(pool).map_err(cannot)
}

/// Fails if a path is a directory without a configuration.
fn expect_configuration(path: &Path) -> Result<(), Failure> {
    if path.is_dir() && of_pool(path)?.is_empty() {
        return Err(Failure::new(format!("`{}` does not contain a configuration", path.display()))
            .help("expected `condor_config`, `config.d` or `config` in it"));
    }
    Ok(())
}

/// Most bytes that are read of what is no file: a device may never end.
const ENDLESS: u64 = 512 << 20;

pub(super) fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    read_whole(path).map(|(text, _)| text)
}

/// The text of a file, and true if a byte order mark precedes it.
fn read_whole(path: &Path) -> Result<(Vec<u8>, bool), Failure> {
    let input = input::open(path)?;
    let most = if path.is_file() { u64::MAX } else { ENDLESS };
    let mut text = Vec::new();
    let read = input.reader.take(most).read_to_end(&mut text);
    read.map_err(|error| Failure::reading(&input.name, &error))?;
    if text.len() as u64 == most {
        return Err(Failure::new(format!("`{}` is endless: expected a file", input.name)));
    }
    Ok((text, input.marked))
}
