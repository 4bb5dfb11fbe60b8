//! The inputs of a daemon besides its root file: folders, local files, the environment
//! (`docs/reference/config-language.md` 1).
//!
//! In: the path of a root file and a [`Files`]. Out: assignments in a [`Config`].

use std::sync::Arc;

use super::condor::{Config, Site, checked_name};
use super::files::{FileError, Files, beside};
use super::read::{MAX_FILES, Reader};
use super::{ConfigError, Diagnostic, Location, shown};
use classmate::internal::pcre::{self, Options};

impl Config {
    /// Reads a root file as a daemon does, with what its `LOCAL_CONFIG_DIR` and `LOCAL_CONFIG_FILE` name and the
    /// variables `_CONDOR_…` of the environment.
    ///
    /// # Errors
    /// As [`Config::read_file`], for each of the files.
    pub fn read_root(&mut self, path: &str, files: &dyn Files) -> Result<(), ConfigError> {
        let folder = path.rfind('/').map_or(".", |slash| &path[..slash.max(1)]);
        self.detect("CONFIG_ROOT", folder);
        self.read_file(path, files)?;
        let root: Arc<str> = Arc::from(path);
        let folders = self.listed("LOCAL_CONFIG_DIR")?;
        self.read_folders(&folders, &root, files)?;
        self.read_local_files(&root, files)?;
        let later = self.listed("LOCAL_CONFIG_DIR")?;
        let new: Vec<String> = later.into_iter().filter(|folder| !folders.contains(folder)).collect();
        self.read_folders(&new, &root, files)?;
        self.apply_environment()
    }

    /// Sets what the variables `_CONDOR_NAME` of the environment set, in the order of their names.
    ///
    /// # Errors
    /// A variable whose name is none.
    pub fn apply_environment(&mut self) -> Result<(), ConfigError> {
        const PREFIX: &[u8] = b"_CONDOR_";
        let found: Vec<(Vec<u8>, Vec<u8>)> = self
            .context()
            .environment
            .iter()
            .filter(|(name, _)| name.len() > PREFIX.len() && name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX))
            .map(|(name, value)| (name.clone(), value.trim_ascii().to_vec()))
            .collect();
        for (variable, value) in found {
            let place = Location::outside(&format!("environment variable {}", shown(&variable)));
            let name = &variable[PREFIX.len()..];
            checked_name(name).map_err(|message| Diagnostic::error_at(message, Some(place.clone())))?;
            let raw = self.with_earlier(name, &value, &place)?;
            self.assign(name, raw, Site::outside(place))?;
        }
        Ok(())
    }

    /// The items of a list of files or folders.
    fn listed(&self, name: &str) -> Result<Vec<String>, ConfigError> {
        let text = self.get(name)?.map(|found| found.text).unwrap_or_default();
        let items = super::setting::list_items(&text);
        Ok(items.iter().map(|item| String::from_utf8_lossy(item).into_owned()).collect())
    }

    fn read_folders(&mut self, folders: &[String], root: &str, files: &dyn Files) -> Result<(), ConfigError> {
        for folder in folders {
            let path = beside(root, folder);
            let mut names = match files.list(&path) {
                Ok(names) => names,
                // A folder that is not there holds nothing.
                Err(FileError::Missing) => continue,
                Err(error) => return Err(Diagnostic::without_place(format!("cannot read `{path}`: {error}"))),
            };
            let excluded = self.get("LOCAL_CONFIG_DIR_EXCLUDE_REGEXP")?.map(|found| found.text).unwrap_or_default();
            if !excluded.is_empty() {
                let pattern =
                    pcre::compile(&String::from_utf8_lossy(&excluded), Options::default(), false).map_err(|error| {
                        let message = format!("`LOCAL_CONFIG_DIR_EXCLUDE_REGEXP` is `{}`: {error}", shown(&excluded));
                        Diagnostic::without_place(message)
                    })?;
                names.retain(|name| !pattern.is_match(name.as_bytes()).unwrap_or(false));
            }
            names.sort();
            for name in names {
                self.read_file(&format!("{}/{name}", path.trim_end_matches('/')), files)?;
            }
        }
        Ok(())
    }

    /// Reads the files of `LOCAL_CONFIG_FILE`; the list is looked at again when reading them changed it.
    fn read_local_files(&mut self, root: &str, files: &dyn Files) -> Result<(), ConfigError> {
        let mut done: Vec<String> = Vec::new();
        loop {
            let list = self.get("LOCAL_CONFIG_FILE")?;
            let text = list.map(|found| found.text).unwrap_or_default();
            if text.trim_ascii().ends_with(b"|") {
                let place = self.definition(b"LOCAL_CONFIG_FILE").and_then(|found| found.place.cloned());
                let command = text.trim_ascii().strip_suffix(b"|").unwrap_or_default().trim_ascii().to_vec();
                let output = Reader { config: self, files }.command(&command, place.as_ref())?;
                return self.read(&format!("{} |", shown(&command)), &output.text, files);
            }
            let Some(next) = self.listed("LOCAL_CONFIG_FILE")?.into_iter().find(|file| !done.contains(file)) else {
                return Ok(());
            };
            let path = beside(root, &next);
            done.push(next);
            match files.read(&path) {
                Ok(text) => self.read(&path, &text, files)?,
                Err(error) => {
                    let required = self.letter("REQUIRE_LOCAL_CONFIG_FILE", true)?;
                    if required || error != FileError::Missing {
                        let place = self.definition(b"LOCAL_CONFIG_FILE").and_then(|found| found.place.cloned());
                        return Err(Diagnostic::error_at(format!("cannot read `{path}`: {error}"), place)
                            .help("`REQUIRE_LOCAL_CONFIG_FILE = false` allows a missing file"));
                    }
                }
            }
            self.files += 1;
            if self.files > MAX_FILES {
                return Err(Diagnostic::without_place(format!("the configuration takes more than {MAX_FILES} files")));
            }
        }
    }
}
