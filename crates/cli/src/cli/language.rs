//! `--semantics`: the version of the language, of the whole command.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use crate::cli::input::Notes;
use crate::report::versions::not_reproduced;
use classmate::internal::format::advertised;
use classmate::internal::semantics::{LATEST, OLDEST};
use classmate::{EvalOptions, Semantics, Series};
use classmate_advice::internal::versions::configuration::defects_in;
use classmate_advice::internal::versions::encounter::{DefectEncounter, encounters};
use classmate_advice::internal::versions::upgrade::PlacedDefect;
use classmate_pool::Snapshot;

static CHOSEN: Mutex<Option<Semantics>> = Mutex::new(None);

thread_local! {
    /// The version on this thread, before that of the process.
    static OF_THREAD: Cell<Option<Semantics>> = const { Cell::new(None) };
}

/// Reads a version of HTCondor, or `advertised`.
pub(super) fn parse_semantics(text: &str) -> Result<Semantics, String> {
    text.parse().map_err(|error| format!("{error}\n{}; {ADVERTISED}", expected()))
}

const ADVERTISED: &str = "with `advertised` or `advertised:24.0`, each ad has its own";

/// Reads a version of HTCondor.
pub(super) fn parse_version(text: &str) -> Result<Semantics, String> {
    match text.parse::<Semantics>() {
        Ok(semantics) if !semantics.is_advertised() => Ok(semantics),
        Ok(_) => Err(format!("`advertised` is not one version\n{}", expected())),
        Err(error) => Err(format!("{error}\n{}", expected())),
    }
}

fn expected() -> String {
    format!("expected a series from {OLDEST} to {LATEST} such as 24.0, an alias such as 24.x, or `latest`")
}

fn replace(semantics: Option<Semantics>) -> Option<Semantics> {
    std::mem::replace(&mut *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner), semantics)
}

/// Runs a function in another version.
pub(super) fn within<T>(semantics: Semantics, inner: impl FnOnce() -> T) -> T {
    let outer = replace(Some(semantics));
    let value = inner();
    replace(outer);
    value
}

/// Runs a function in another version on this thread.
pub(super) fn on_thread<T>(semantics: Semantics, inner: impl FnOnce() -> T) -> T {
    let outer = OF_THREAD.replace(Some(semantics));
    let value = inner();
    OF_THREAD.set(outer);
    value
}

/// Chooses the version for this process.
pub(super) fn choose(semantics: Semantics) {
    replace(Some(semantics));
    note_newer(semantics);
}

/// The note about a version that is newer than all that are known, or nothing.
pub fn newer(semantics: Semantics) -> Option<String> {
    all_newer(&[semantics.series()])
}

fn all_newer(versions: &[Series]) -> Option<String> {
    let new: Vec<Series> = versions.iter().copied().filter(|version| *version > LATEST).collect();
    let are = if new.len() == 1 { "is" } else { "are" };
    (!new.is_empty()).then(|| format!("HTCondor {} {are} newer than {LATEST}, whose semantics are used", first(&new)))
}

/// The note about ads of versions that are older than all that are known, or nothing.
pub(super) fn older(versions: &[Series]) -> Option<String> {
    let old: Vec<Series> = versions.iter().copied().filter(|version| *version < OLDEST).collect();
    let are = format!("are read as those of {OLDEST}, the oldest version that is known");
    (!old.is_empty()).then(|| format!("ads of HTCondor {} {are}", first(&old)))
}

/// The notes about versions of ads that are read as another one.
pub(super) fn unmeasured(versions: &BTreeSet<Series>) -> impl Iterator<Item = String> {
    let versions: Vec<Series> = versions.iter().copied().collect();
    older(&versions).into_iter().chain(all_newer(&versions))
}

/// The first versions and the number of the others: "9.0, 9.1, 9.2 and 4 more".
fn first(versions: &[Series]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = versions.iter().take(SHOWN).map(Series::to_string).collect();
    match versions.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        hidden => format!("{} and {hidden} more", shown.join(", ")),
    }
}

/// Notes the versions that the text of ads advertises and that are read as another one, if each ad is read in its own.
pub(super) fn note_advertised(text: &[u8], notes: &mut Notes) {
    if chosen().is_advertised() {
        notes.advertise(advertised(text).map(Semantics::series));
    }
}

/// Prints the note about a newer version.
pub(super) fn note_newer(semantics: Semantics) {
    if let Some(note) = newer(semantics) {
        super::complain(&format!("note: {note}"));
    }
}

/// Notes the crashes and hangs of the version that the conditions of slots and jobs, and expressions of the configuration, meet.
pub(super) fn note_defects(snapshot: &Snapshot, notes: &mut Notes) {
    let settings = snapshot.settings();
    if settings.semantics.is_present() {
        return;
    }
    for DefectEncounter { of_job, ad, attribute, version, defect, .. } in
        encounters(&snapshot.slots, &snapshot.jobs, &settings)
    {
        let kind = if of_job { "job" } else { "slot" };
        notes.warn(format!("`{attribute}` of {kind} {ad}: {}", not_reproduced(&defect, version)));
    }
    for PlacedDefect { name, file, line, defect, .. } in defects_in(&snapshot.config, &settings) {
        let version = settings.semantics.alone().measured();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        notes.warn(format!("`{name}` of {file}{line}: {}", not_reproduced(&defect, version)));
    }
}

/// The version that the command line or the settings file names.
pub(crate) fn chosen() -> Semantics {
    let of_process = || *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    OF_THREAD.get().or_else(of_process).unwrap_or_default()
}

/// Tests whether the arguments of a command name a version.
pub(super) fn is_given(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| word.to_string_lossy().starts_with("--semantics"))
}

/// The option that chooses that version, if it is not the default.
pub(super) fn option() -> Option<String> {
    let chosen = chosen();
    (chosen != Semantics::default()).then(|| format!("--semantics={chosen}"))
}

/// Evaluation in that version, with defaults otherwise.
pub(crate) fn settings() -> EvalOptions {
    EvalOptions { semantics: chosen(), ..EvalOptions::default() }
}
