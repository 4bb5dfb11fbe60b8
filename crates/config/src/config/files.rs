//! Inputs of a configuration besides its own text: included files, folders and the output of commands.
//!
//! The reader asks a [`Files`] for them; only the shell has one that reaches the disk.

use std::collections::BTreeMap;

/// An error reading a file or running a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no such file.
    #[error("no such file")]
    Missing,
    /// Something else, in words.
    #[error("{0}")]
    Other(String),
}

/// The output and status of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Its standard output.
    pub text: Vec<u8>,
    /// True if it ended with status 0.
    pub success: bool,
}

/// A source of included files.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// The file is missing or cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// The names of the plain files in a folder, in any order.
    ///
    /// # Errors
    /// The folder is missing or cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<String>, FileError>;

    /// Runs a command; only asked when the reader may run commands.
    ///
    /// # Errors
    /// The command cannot be started.
    fn run(&self, command: &str) -> Result<Output, FileError> {
        let _ = command;
        Err(FileError::Other("commands are not allowed here".to_owned()))
    }

    /// Keeps the output of a command in a file; only asked when the reader may run commands.
    ///
    /// # Errors
    /// The file cannot be written.
    fn store(&self, path: &str, text: &[u8]) -> Result<(), FileError> {
        let _ = (path, text);
        Err(FileError::Other("files cannot be written here".to_owned()))
    }
}

/// Files held in memory, by name; empty for a reader that reads no further files.
///
/// ```
/// use classmate_config::{Config, TextFiles};
/// let files = TextFiles::from_iter([("root", "include : more"), ("more", "A = 5")]);
/// let mut config = Config::default();
/// config.read_file("root", &files).unwrap();
/// assert_eq!(config.get("A").unwrap().unwrap().text, b"5");
/// ```
#[derive(Debug, Clone, Default)]
pub struct TextFiles {
    files: BTreeMap<String, Vec<u8>>,
}

impl<N: Into<String>, T: Into<Vec<u8>>> FromIterator<(N, T)> for TextFiles {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(files: I) -> Self {
        Self { files: files.into_iter().map(|(name, text)| (name.into(), text.into())).collect() }
    }
}

impl Files for TextFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let plain = path.trim_start_matches("./");
        self.files.get(path).or_else(|| self.files.get(plain)).cloned().ok_or(FileError::Missing)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FileError> {
        let folder = format!("{}/", folder.trim_end_matches('/'));
        let names = self.files.keys().filter_map(|name| name.strip_prefix(&folder)).filter(|name| !name.contains('/'));
        let names: Vec<String> = names.map(str::to_owned).collect();
        if names.is_empty() { Err(FileError::Missing) } else { Ok(names) }
    }
}

/// A path as a file names it: from the folder of that file, unless it begins at the root.
pub(crate) fn beside(file: &str, path: &str) -> String {
    match file.rfind('/') {
        Some(slash) if !path.starts_with('/') => format!("{}/{path}", &file[..slash]),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_where_the_file_lies() {
        assert_eq!(beside("pool/condor_config", "more"), "pool/more");
        assert_eq!(beside("condor_config", "more"), "more");
        assert_eq!(beside("pool/condor_config", "/etc/more"), "/etc/more");
    }

    #[test]
    fn folders_list_their_own_files_only() {
        let files = TextFiles::from_iter([("d/a", ""), ("d/e/b", ""), ("c", "")]);
        assert_eq!(files.list("d/"), Ok(vec!["a".to_owned()]));
        assert_eq!(files.list("x"), Err(FileError::Missing));
        assert_eq!(files.read("./c"), Ok(Vec::new()));
    }
}
