//! The program, command and files that made a result.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::cli::version::version;
use crate::cli::{Failure, Form, input, language};
use classmate_config::Config;
use classmate_pool::internal::simulate::result::{FileSum, Provenance};

/// A result with what made it.
#[derive(Serialize)]
pub(super) struct Made<'r, R> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provenance: Option<Provenance>,
    #[serde(flatten)]
    pub(super) result: &'r R,
}

/// The arguments of this process, with the version of the language if only the settings file names it.
pub(super) fn command_line() -> Vec<String> {
    let mut command: Vec<String> = std::env::args().skip(1).collect();
    if !language::is_given(&std::env::args_os().collect::<Vec<_>>()) {
        command.extend(language::option());
    }
    command
}

/// The files that this thread opened since the last call, and those of some configurations.
pub(super) fn files_read(configs: &[&Config]) -> Vec<PathBuf> {
    let sources = configs.iter().flat_map(|config| config.sources());
    input::take_opened().into_iter().chain(sources.map(|source| PathBuf::from(&*source.name))).collect()
}

/// The provenance of a result of this process, in the forms that show it: checksums of a large pool take time.
pub(super) fn provenance(form: Form, configs: &[&Config]) -> Result<Option<Provenance>, Failure> {
    if !matches!(form, Form::Html | Form::Json) {
        return Ok(None);
    }
    Ok(Some(Provenance { version: version(), command: command_line(), files: sums(files_read(configs))? }))
}

/// Checksums of files that can be read again, each once.
pub(super) fn sums(files: impl IntoIterator<Item = PathBuf>) -> Result<Vec<FileSum>, Failure> {
    let files: IndexSet<PathBuf> = files.into_iter().filter(|path| path.is_file()).collect();
    let sum = |path: PathBuf| {
        let sha256 = sha256(&path).map_err(|error| Failure::reading(path.display(), &error))?;
        Ok(FileSum { path: path.display().to_string(), sha256 })
    };
    files.into_iter().map(sum).collect()
}

/// The SHA-256 of a file, read piece by piece: traces are large.
fn sha256(path: &Path) -> io::Result<String> {
    let (mut file, mut sum) = (BufReader::with_capacity(1 << 16, File::open(path)?), Sha256::new());
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        sum.update(piece);
        let length = piece.len();
        file.consume(length);
    }
}
