//! Reading the configurations that are checked: as far as they can be read on another machine than that of the pool.
//!
//! A file on a path of the pool's machine is read if it is here, and is otherwise empty. No command is run: its output is empty, and
//! the rest is read.

use std::path::PathBuf;

use crate::cli::settings::{named_text, of_pool};
use crate::cli::{Failure, language};
use classmate_config::internal::config::Disk;
use classmate_config::{Config, ConfigError, Context, FileError, Files, Output};

/// A configuration and the errors that refuse it, at most one of each file.
pub(super) struct CheckedConfig {
    pub(super) config: Config,
    pub(super) errors: Vec<ConfigError>,
}

/// The configuration that some files make, read in this order; a directory is a pool's.
pub(super) fn read(paths: &[PathBuf]) -> Result<CheckedConfig, Failure> {
    let context = Context { commands: true, semantics: language::chosen(), ..Context::default() };
    let mut reading = CheckedConfig { config: Config::new(context), errors: Vec::new() };
    for path in paths {
        let files = if path.is_dir() { of_pool(path)? } else { vec![path.clone()] };
        for file in files {
            let (name, text) = named_text(&file)?;
            reading.errors.extend(reading.config.read(&name, &text, &CheckedFiles).err());
        }
    }
    Ok(reading)
}

/// The files of this machine, without those that only the machine of the pool has.
struct CheckedFiles;

impl Files for CheckedFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match Disk.read(path) {
            Err(FileError::Missing) if path.starts_with('/') => Ok(Vec::new()),
            read => read,
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FileError> {
        Disk.list(folder)
    }

    fn run(&self, _: &str) -> Result<Output, FileError> {
        Ok(Output { text: Vec::new(), success: true })
    }

    fn store(&self, _: &str, _: &[u8]) -> Result<(), FileError> {
        Ok(())
    }
}
