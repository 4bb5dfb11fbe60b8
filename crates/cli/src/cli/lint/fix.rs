//! Fixes of findings, written into the files or shown as differences.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use crate::cli::{Failure, Streams, complain, line_output, written};
use crate::report::diff;
use classmate::Diagnostic;
use classmate::internal::diagnostic::Fix;
use classmate_advice::internal::lint::{fixed, is_safe};
use classmate_config::internal::config::BYTE_ORDER_MARK;

/// The first bytes of a compressed file.
pub(in crate::cli) const COMPRESSED: [u8; 2] = [0x1f, 0x8b];

/// A file with fixes applied.
struct FixedFile<'a> {
    name: &'a str,
    /// The byte order mark, if the file has one.
    mark: &'static [u8],
    old: Vec<u8>,
    new: Vec<u8>,
    edits: u64,
}

/// Returns true if a finding has a fix that is safe, or any at all if `all` is true.
pub(super) fn is_wanted(alarm: &Diagnostic, all: bool) -> bool {
    alarm.fix.is_some() && (all || is_safe(alarm.code))
}

/// The files that fixes change, without unsafe fixes unless `all` is true. If it `complains`, it reports the inputs with
/// fixes that cannot be written: standard input, and compressed files.
fn files(alarms: &[Diagnostic], all: bool, complains: bool) -> Result<Vec<FixedFile<'_>>, Failure> {
    let wanted = |alarm: &&Diagnostic| is_wanted(alarm, all);
    let names: BTreeSet<&str> = alarms.iter().filter(wanted).map(Diagnostic::file).collect();
    let mut changed = Vec::new();
    for name in names {
        let path = Path::new(name);
        let read = || std::fs::read(path).map_err(|error| Failure::reading(name, &error));
        let text = match path.is_file().then(read).transpose()? {
            Some(text) if !text.starts_with(&COMPRESSED) => text,
            unwritable => {
                if complains {
                    let why = if unwritable.is_some() { "compressed" } else { "not a file" };
                    complain(&format!("cannot write `{name}`: it is {why}"));
                }
                continue;
            }
        };
        let fixes: Vec<&Fix> = alarms
            .iter()
            .filter(wanted)
            .filter(|alarm| alarm.file() == name)
            .filter_map(|alarm| alarm.fix.as_deref())
            .collect();
        // Places are counted without a byte order mark.
        let (mark, old) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest.to_vec()),
            None => (b"".as_slice(), text),
        };
        let new = fixed(&old, &fixes);
        if new != old {
            changed.push(FixedFile { name, mark, old, new, edits: fixes.len() as u64 });
        }
    }
    Ok(changed)
}

/// Writes fixes into the files; returns their number.
pub(super) fn apply(alarms: &[Diagnostic], all: bool, complains: bool) -> Result<u64, Failure> {
    let mut edits = 0;
    for file in files(alarms, all, complains)? {
        std::fs::write(file.name, [file.mark, &file.new].concat())
            .map_err(|error| Failure::writing(file.name, &error))?;
        edits += file.edits;
    }
    Ok(edits)
}

/// Shows the changes that fixes would make; returns true if there are any.
pub(super) fn show(alarms: &[Diagnostic], all: bool, streams: Streams) -> Result<bool, Failure> {
    let changed = files(alarms, all, true)?;
    let mut out = line_output();
    for file in &changed {
        written(diff::write(&mut out, file.name, &file.old, &file.new, streams.out))?;
    }
    written(out.flush())?;
    Ok(!changed.is_empty())
}
