//! Files of this machine, for configurations that are not read from memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{FileError, Files, Output};

/// Reads the files of this machine.
///
/// ```
/// use classmate_config::internal::config::{Disk, FileError, Files};
/// assert_eq!(Disk.read("/there/is/no/such/file"), Err(FileError::Missing));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

/// Maximum size of an included file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Names by which the directory of a pool is known.
const OF_POOLS: [&str; 5] = ["condor_config", "config.d", "config", "slots.ads", "jobs.ads"];

impl Disk {
    /// The configuration files in a pool directory, in the order in which they are read: `condor_config`, the files in
    /// `config.d` by name, `config`. A directory `config.d` itself, or another one whose name ends in `.d` and that has no file
    /// of a pool, means its files, after the `condor_config` beside it.
    ///
    /// # Errors
    /// A folder that cannot be read, with its path.
    pub fn pool_config(pool: &Path) -> Result<Vec<PathBuf>, (PathBuf, FileError)> {
        let mut files = Vec::new();
        let name = pool.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let is_folder =
            name == "config.d" || name.ends_with(".d") && !OF_POOLS.iter().any(|name| pool.join(name).exists());
        let root = if is_folder { pool.parent().unwrap_or(pool) } else { pool };
        files.extend(Some(root.join("condor_config")).filter(|path| path.exists()));
        let folder = if is_folder { pool.to_path_buf() } else { pool.join("config.d") };
        if folder.is_dir() {
            let names = Disk.list(&folder.display().to_string());
            let mut names = names.map_err(|error| (folder.clone(), error))?;
            names.retain(|name| !is_left_over(name));
            names.sort();
            files.extend(names.iter().map(|name| folder.join(name)));
        }
        files.extend(Some(pool.join("config")).filter(|path| path.is_file()));
        Ok(files)
    }
}

/// Files that a daemon ignores in a folder: hidden ones, and those of editors and package managers.
fn is_left_over(name: &str) -> bool {
    const ENDINGS: [&str; 9] = [".pl", ".py", ".sh", "~", ".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-dist", ".cfsaved"];
    name.starts_with('.') || name.starts_with('#') || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

impl Files for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let file = std::fs::File::open(path).map_err(|error| reason(&error))?;
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| reason(&error))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(FileError::Other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
        }
        Ok(text)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FileError> {
        let entries = std::fs::read_dir(folder).map_err(|error| reason(&error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| reason(&error))?;
            if entry.path().is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }

    fn run(&self, command: &str) -> Result<Output, FileError> {
        let output = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| reason(&error))?;
        // The status by which a shell reports a program that it cannot find.
        if output.status.code() == Some(127) {
            return Err(FileError::Other("no such program".to_owned()));
        }
        Ok(Output { text: output.stdout, success: output.status.success() })
    }

    fn store(&self, path: &str, text: &[u8]) -> Result<(), FileError> {
        std::fs::write(path, text).map_err(|error| reason(&error))
    }
}

fn reason(error: &io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Other(io_reason(error)),
    }
}

/// The reason of an error of the operating system, without its number, or of a compressed file that cannot be expanded.
///
/// ```
/// use classmate_config::internal::config::disk::io_reason;
/// assert_eq!(io_reason(&std::io::Error::from_raw_os_error(2)), "no such file or directory");
/// assert_eq!(io_reason(&std::io::Error::other("incomplete deflate stream")), "the compressed data ends early");
/// ```
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.as_str() {
        "incomplete deflate stream" => return "the compressed data ends early".to_owned(),
        "corrupt deflate stream" => return "the compressed data is damaged".to_owned(),
        _ => {}
    }
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}
