//! `classmate versions EXPR|FILE|POOL`

use std::path::{Path, PathBuf};

use crate::cli::input::{self, Notes};
use crate::cli::lint::{FileKind, detect};
use crate::cli::pool::{JOBS, PoolFiles, SLOTS};
use crate::cli::settings::{of_files, of_pool};
use crate::cli::slurm::SLURM_CONF;
use crate::cli::{Failure, FormatArguments, Reply, Streams, World, complain, language, print_result};
use crate::report::versions as report;
use classmate::internal::format::advertised;
use classmate::internal::semantics::{LATEST, OLDEST};
use classmate::internal::syntax::token::Quoting;
use classmate::{EvalOptions, Semantics, Series};
use classmate_advice::internal::versions::configuration;
use classmate_advice::internal::versions::survey::survey;
use classmate_advice::internal::versions::upgrade::{self, Upgrade};
use classmate_advice::internal::versions::{VersionAds, VersionText};
use classmate_pool::Snapshot;

/// Show what means something else in other versions of HTCondor.
///
/// An expression is read and evaluated as each series does. A file of ads, a configuration or a pool is compared in two
/// versions: expressions with another meaning, and for a configuration changed defaults and variables. For a pool, the
/// matches of one cycle in the language of each version are compared too, if both accept its configuration. Every expression that is shown as a replacement
/// was evaluated in all series.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate versions 'MappingMethod ?: \"\" != \"Copy\"'
  classmate versions 'Memory > 2G' --from 23.0 --to 24.0
  classmate versions examples/pool --from 23.0
  classmate versions examples/pool/config --from 24.0 --to 25.14
  classmate versions examples/simulate --from 24.0

Exit status: 0 on success (also if a version refuses the configuration), 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
pub(super) struct VersionsArguments {
    /// An expression, a file of ads, a configuration file, or the directory of a pool or of a configuration
    #[arg(value_name = "EXPR|FILE|POOL", allow_hyphen_values = true)]
    subject: String,
    /// First version [default: the oldest that the ads advertise, otherwise 10.0]
    #[arg(long, value_name = "SERIES", value_parser = language::parse_version)]
    from: Option<Semantics>,
    /// Last version
    #[arg(long, value_name = "SERIES", default_value = "latest", value_parser = language::parse_version)]
    to: Semantics,
    /// File whose first ad is MY of the expression
    #[arg(long, value_name = "FILE")]
    my: Option<PathBuf>,
    /// File whose first ad is TARGET of the expression
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    /// The option of all commands, which has no effect here.
    #[arg(id = "semantics", long, hide = true, value_parser = language::parse_semantics)]
    _semantics: Option<Semantics>,
    #[command(flatten)]
    world: World,
    #[command(flatten)]
    output: FormatArguments,
}

/// Tests if a text that names no file was meant to: a name, or names with `/`, `.` or `-` between them and without spaces.
fn is_file_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let begins = ["/", "./", "../"].iter().any(|start| text.starts_with(start))
        || text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let scope = text.split_once('.').map_or("", |(scope, _)| scope);
    let is_scope = ["MY", "TARGET"].iter().any(|name| scope.eq_ignore_ascii_case(name));
    begins && !is_scope && text.bytes().all(is_of_name)
}

pub(super) fn run(arguments: &VersionsArguments, streams: Streams) -> Result<(), Failure> {
    let named = arguments.from.filter(|from| *from != arguments.to);
    named.into_iter().chain([arguments.to]).for_each(language::note_newer);
    let path = Path::new(&arguments.subject);
    if !path.exists() {
        if let (true, Err(error)) = (is_file_name(&arguments.subject), path.metadata()) {
            return Err(
                Failure::reading(path.display(), &error).help("write spaces around the operators of an expression")
            );
        }
        return expression(arguments, streams);
    }
    if arguments.my.is_some() || arguments.target.is_some() {
        return Err(Failure::input("`--my` and `--target` are the ads of an expression: a file or a pool has its own")
            .help("remove them, or give an expression"));
    }
    if path.is_dir() {
        return pool(arguments, path, streams);
    }
    let settings = arguments.world.settings();
    let kind = detect(path)?;
    let other = match kind {
        FileKind::Submit => Some("a submit file"),
        FileKind::Test => Some("a policy test"),
        FileKind::Config | FileKind::Ads | FileKind::Expression => None,
    };
    if let Some(other) = other {
        let file = path.display();
        return Err(Failure::input(format!("`{file}` is {other}; expected a file of ads, a configuration or a pool"))
            .help("`classmate lint --versions 23.0,25.14 FILE` reports expressions that depend on the version"));
    }
    if kind == FileKind::Config {
        let versions = versions(arguments, None)?;
        let mut found = Upgrade::new(versions);
        add_config(&mut found, path, versions, &settings, streams)?;
        return show(arguments, &found, streams);
    }
    let text = input::open(path)?.text()?;
    let versions = versions(arguments, oldest_advertised(&text))?;
    let mut found = Upgrade::new(versions);
    add_ads(&mut found, path, &text, versions, &settings)?;
    show(arguments, &found, streams)
}

fn show(arguments: &VersionsArguments, found: &Upgrade, streams: Streams) -> Result<(), Failure> {
    let reply = Reply { schema: "versions/1", result: found, rows: &found.expressions };
    print_result(arguments.output.format, &reply, |out| report::write(out, found, streams.out))
}

/// The versions to compare.
fn versions(arguments: &VersionsArguments, advertised: Option<Semantics>) -> Result<[Semantics; 2], Failure> {
    let oldest = advertised.filter(|_| arguments.from.is_none());
    if let Some(note) = oldest.and_then(|version| language::older(&[version.series()])) {
        complain(&format!("note: {note}"));
    }
    let from = arguments.from.or(advertised.map(Semantics::measured)).unwrap_or(Semantics::of(OLDEST));
    if arguments.from.is_none() && from.series() == arguments.to.series() {
        let series = from.series();
        let source = if advertised.is_some() { "the version in which the oldest ads are read" } else { "the default" };
        return Err(Failure::input(format!(
            "HTCondor {series} would be compared with itself: it is {source}, and the version of `--to`"
        ))
        .help("name the version to compare from, for example `--from 24.0`"));
    }
    Ok([from, arguments.to])
}

/// The series whose variables a version has: the newest one for those after it.
fn known(version: Semantics) -> Series {
    version.series().min(LATEST)
}

/// The oldest version that ads advertise.
fn oldest_advertised(text: &[u8]) -> Option<Semantics> {
    advertised(text).min_by_key(|version| version.series())
}

fn add_ads(
    found: &mut Upgrade,
    path: &Path,
    text: &[u8],
    versions: [Semantics; 2],
    settings: &EvalOptions,
) -> Result<(), Failure> {
    let name = path.display().to_string();
    found.add_ads(&name, text, versions, settings).map_err(|error| Failure::reading(path.display(), &error))
}

/// Adds a configuration file, or the files of a directory.
fn add_config(
    found: &mut Upgrade,
    path: &Path,
    versions: [Semantics; 2],
    settings: &EvalOptions,
    streams: Streams,
) -> Result<(), Failure> {
    let read = |version| language::within(version, || of_files(&[path.to_owned()]))?.whole(streams.err);
    let (before, after) = (read(versions[0])?, read(versions[1])?);
    found.add_config([&before, &after], versions, settings);
    found.variables = configuration::variables(&after, versions.map(known));
    Ok(())
}

fn expression(arguments: &VersionsArguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let versions = versions(arguments, None)?;
    let mut notes = Notes::default();
    let mut ad = |path: &PathBuf| input::ad(path, 1, &settings, &mut notes);
    let my = arguments.my.as_ref().map(&mut ad).transpose()?;
    let target = arguments.target.as_ref().map(&mut ad).transpose()?;
    notes.show(streams.err);
    let empty = classmate::ClassAd::new();
    let ads = (my.is_some() || target.is_some()).then(|| VersionAds {
        my: [my.as_ref().unwrap_or(&empty); 2],
        target: [target.as_ref(); 2],
        name: None,
    });
    let text = VersionText { text: arguments.subject.as_bytes(), quoting: Quoting::New, prefix: false };
    let found = survey(text, versions, &settings, ads);
    if found.ranges.iter().all(|range| range.expression.is_none()) {
        super::parsed(&arguments.subject, "expression", streams)?;
    }
    // What means the same without ads does so for all.
    let of_ads = ads.is_some() && !survey(text, versions, &settings, None).rules.is_empty();
    let reply = Reply { schema: "versions-expression/1", result: &found, rows: &found.ranges };
    print_result(arguments.output.format, &reply, |out| report::write_survey(out, &found, of_ads, streams.out))
}

/// A pool as one version reads it.
fn read(path: &Path, version: Semantics, notes: &mut Notes, streams: Streams) -> Result<Snapshot, Failure> {
    let files = PoolFiles { pool: Some(path.to_owned()), ..PoolFiles::default() };
    language::within(version, || files.snapshot(notes, streams.err))
}

fn pool(arguments: &VersionsArguments, path: &Path, streams: Streams) -> Result<(), Failure> {
    let mut texts = Vec::new();
    for name in ["slots.ads", "jobs.ads", "submitters.ads"] {
        if let Some(file) = input::own(Some(path), name) {
            texts.push((file.clone(), input::open(&file)?.text()?));
        }
    }
    let oldest = texts.iter().filter_map(|(_, text)| oldest_advertised(text)).min_by_key(|version| version.series());
    let versions = versions(arguments, oldest)?;
    let has = |names: &[&str]| names.iter().any(|name| path.join(name).exists());
    if !has(&[SLOTS.as_slice(), &[SLURM_CONF]].concat()) || !has(&JOBS) {
        return without_pool(arguments, path, &texts, versions, streams);
    }
    let mut notes = Notes::default();
    let before = read(path, versions[0], &mut Notes::default(), streams)?;
    let after = read(path, versions[1], &mut notes, streams)?;
    notes.show(streams.err);
    let settings = EvalOptions { now: after.now, ..arguments.world.settings() };
    let mut found = Upgrade::new(versions);
    for (file, text) in &texts {
        add_ads(&mut found, file, text, versions, &settings)?;
    }
    let file = |name: &str| input::own(Some(path), name).unwrap_or_else(|| path.join(name)).display().to_string();
    found.add_encounters([&file("slots.ads"), &file("jobs.ads")], [&before, &after]);
    found.add_config([&before.config, &after.config], versions, &settings);
    let series = versions.map(known);
    found.variables = configuration::variables(&after.config, series);
    found.behavior = upgrade::behavior(series);
    found.add_matches([&before, &after]);
    show(arguments, &found, streams)
}

/// The first configuration file of a directory whose names do not say that they are one configuration.
fn first_configuration(path: &Path) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = path.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.into_iter().find(|file| file.is_file() && matches!(detect(file), Ok(FileKind::Config)))
}

/// A directory without slots or jobs: its configuration, and the ads that it has.
fn without_pool(
    arguments: &VersionsArguments,
    path: &Path,
    texts: &[(PathBuf, Vec<u8>)],
    versions: [Semantics; 2],
    streams: Streams,
) -> Result<(), Failure> {
    let has_config = !of_pool(path)?.is_empty();
    if texts.is_empty() && !has_config {
        let mut help = "expected `condor_config`, `config.d` or `config` in it, or slots.ads and jobs.ads".to_owned();
        if let Some(file) = first_configuration(path) {
            help.push_str(&format!("; name a file of it: `classmate versions {}`", file.display()));
        }
        return Err(
            Failure::new(format!("`{}` contains neither a configuration nor a pool", path.display())).help(&help)
        );
    }
    if !texts.is_empty() {
        complain("note: no matches are compared: the directory does not have both slots and jobs");
    }
    let settings = arguments.world.settings();
    let mut found = Upgrade::new(versions);
    for (file, text) in texts {
        add_ads(&mut found, file, text, versions, &settings)?;
    }
    if has_config {
        add_config(&mut found, path, versions, &settings, streams)?;
    }
    show(arguments, &found, streams)
}
