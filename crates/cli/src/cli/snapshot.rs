//! `classmate snapshot DIR`

use std::fs::DirBuilder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::cli::ads::lost_values;
use crate::cli::input::Notes;
use crate::cli::interruption::TemporaryFolder;
use crate::cli::live::LiveArguments;
use crate::cli::pool::PoolFiles;
use crate::cli::slurm::{SlurmArguments, is_cluster};
use crate::cli::{Failure, Streams, complain, print, raw_output, write_file};
use crate::report::config::assignment;
use classmate::{ClassAd, Format, Writer};
use classmate_advice::internal::anonymize::{AnonymousCluster, anonymized, anonymized_cluster};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::SlotAttributes;
use classmate_pool::internal::priority::slurm::machines::enlist;

/// Save a live pool, or a Slurm cluster, for the other commands.
///
/// Writes what a negotiation cycle reads to a directory, for `classmate negotiate` and all commands that read one: `slots.ads`, `jobs.ads`, `submitters.ads`,
/// `accounting.ads`, `negotiator.ads` and `config`. READ permission is enough, which most pools grant without
/// authentication. Claim IDs and other secrets are not written. If the pool cannot be read, nothing is written. For a pool
/// that can only be read from elsewhere, `--script` prints a shell script that saves the same with HTCondor's tools.
///
/// With `--anonymize`, users, groups, projects, sites, hosts and directories have pseudonyms, the same for the same name everywhere. Strings and
/// variables of the configuration that a cycle does not look at are left out. A cycle with pseudonyms has the same outcome, which is tried
/// before anything is written. Names of attributes, numbers and times stay as they are. Logs of daemons are left out.
///
/// With `--slurm`, runs Slurm's commands, and saves what `classmate sprio`, `sshare` and `negotiate --policy slurm` read. With `--anonymize`,
/// users, accounts, nodes and the cluster have pseudonyms, in the alphabetical order of their names. Names of jobs, commands, paths and comments
/// are left out, and partitions, QOS, licenses and generic resources stay as they are. Priorities, shares and a cycle are the same.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate snapshot --pool cm.example.org monday
  classmate negotiate monday
  classmate snapshot --script > snapshot.sh
  classmate snapshot --anonymize --from examples/groups anonymous
  classmate snapshot --slurm --script > snapshot.sh
  classmate snapshot --pool cm1.example.org,cm2.example.org --token ~/monitor.token --strict monday

Exit status: 0 on success, 1 if a file cannot be written or a source of the pool cannot be read, 2 if the pool cannot be read or an option is invalid.")]
pub(super) struct SnapshotArguments {
    /// Directory to write
    #[arg(required_unless_present_any = ["script", "output"])]
    directory: Option<PathBuf>,
    /// Directory to write, as an option
    #[arg(short, long, value_name = "DIR", conflicts_with_all = ["script", "directory"])]
    output: Option<PathBuf>,
    /// Print a shell script that saves a pool with HTCondor's tools where it runs, or with --slurm a cluster with Slurm's
    #[arg(long, conflicts_with_all = ["collectors", "directory"])]
    script: bool,
    /// Save the Slurm cluster that Slurm's commands reach from here
    #[arg(long, conflicts_with = "collectors")]
    slurm: bool,
    /// Write pseudonyms instead of the names of users, groups, accounts, projects, hosts and directories
    #[arg(long, conflicts_with = "script")]
    anonymize: bool,
    /// Read the pool from a directory that was saved before
    #[arg(long, value_name = "POOL", requires = "anonymize", conflicts_with_all = ["collectors", "script", "slurm"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    live: LiveArguments,
}

/// The commands that save a pool.
const SCRIPT: &str = concat!(include_str!("snapshot-save.sh"), include_str!("snapshot.sh"));

/// The commands that save a Slurm cluster.
const SLURM_SCRIPT: &str = concat!(include_str!("snapshot-save.sh"), include_str!("snapshot-slurm.sh"));

pub(super) fn run(arguments: &SnapshotArguments, streams: Streams) -> Result<(), Failure> {
    let script = if arguments.slurm { SLURM_SCRIPT } else { SCRIPT };
    let Some(directory) = arguments.directory.as_deref().or(arguments.output.as_deref()) else {
        return print(raw_output(), |out| out.write_all(script.as_bytes()));
    };
    if arguments.slurm {
        return if arguments.anonymize {
            save_live_cluster(directory, streams)
        } else {
            save_cluster(
                directory,
                Command::status,
                &format!("some of the cluster was not saved in `{}`", directory.display()),
            )
        };
    }
    if !arguments.live.is_given() && arguments.from.is_none() {
        return Err(Failure::input("no pool is given").help(
            "name the collector: --pool HOST[:PORT]; for a Slurm cluster, add --slurm; for a directory, --anonymize --from POOL",
        ));
    }
    let log = directory.join("Accountantnew.log");
    if log.exists() {
        // It would count instead of the priorities that are written.
        return Err(Failure::input(format!("`{}` already has an accountant's log", directory.display()))
            .help("name a new directory"));
    }
    let mut notes = Notes::default();
    if let Some(from) = arguments.from.as_deref().filter(|from| is_cluster(from)) {
        let saved = save_anonymous_cluster(from, directory, &mut notes, streams);
        notes.show(streams.err);
        return saved;
    }
    if let Some(from) = &arguments.from {
        let files = PoolFiles { pool: Some(from.clone()), ..PoolFiles::default() };
        let snapshot = files.snapshot(&mut notes, streams.err)?;
        notes.show(streams.err);
        return save_anonymous(&snapshot, directory);
    }
    let mut read = arguments.live.read(SlotAttributes::All, None, false, &mut notes)?;
    notes.show(streams.err);
    if arguments.anonymize {
        read.snapshot.now = read.snapshot.newest_time();
        return save_anonymous(&read.snapshot, directory);
    }
    std::fs::create_dir_all(directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    let snapshot = &read.snapshot;
    let submitters = snapshot.submitters.as_deref().unwrap_or_default();
    let kinds = [
        ("slots", &*snapshot.slots),
        ("jobs", &*snapshot.jobs),
        ("submitters", submitters),
        ("accounting", &*read.accounting),
        ("negotiator", &*read.negotiators),
    ];
    write_all_ads(directory, &kinds)?;
    let Some(settings) = &read.settings else {
        // An earlier snapshot may have left that of another pool.
        let nothing = b"# the configuration of the negotiator could not be read\n";
        return write_file(&directory.join("config"), |file| file, |out| out.write_all(nothing));
    };
    write_settings(directory, settings.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
}

/// Saves a pool with pseudonyms.
fn save_anonymous(snapshot: &Snapshot, directory: &Path) -> Result<(), Failure> {
    if directory.join("slots.ads").exists() {
        return Err(
            Failure::input(format!("`{}` already has a pool", directory.display())).help("name a new directory")
        );
    }
    let anonymous = anonymized(snapshot)?;
    std::fs::create_dir_all(directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    let mut kinds = vec![("slots", &*anonymous.slots), ("jobs", &*anonymous.jobs)];
    kinds.extend(anonymous.submitters.as_deref().map(|ads| ("submitters", ads)));
    write_all_ads(directory, &kinds)?;
    if let Some(log) = &anonymous.log {
        write_file(&directory.join("Accountantnew.log"), |file| file, |out| out.write_all(&log.to_text()))?;
    }
    write_settings(directory, anonymous.config.assignments().map(|(name, value, _)| (name, value)))
}

/// Saves a Slurm cluster with pseudonyms, which the commands of Slurm reach.
fn save_live_cluster(directory: &Path, streams: Streams) -> Result<(), Failure> {
    // Only this user can read the files with the names, and they are not kept.
    let named = std::env::temp_dir().join(format!("classmate-snapshot-{}", std::process::id()));
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let folder = TemporaryFolder::at(named.clone())
        .and_then(|folder| builder.create(&named).map(|()| folder))
        .map_err(|error| Failure::writing(named.display(), &error))?;
    let mut notes = Notes::default();
    let run = |command: &mut Command| folder.run(command);
    let saved = save_cluster(&named, run, "some of the cluster could not be read, so nothing was saved")
        .and_then(|()| save_anonymous_cluster(&named, directory, &mut notes, streams));
    let removed = std::fs::remove_dir_all(&named).map_err(|error| Failure::writing(named.display(), &error));
    // Messages name files of this folder, which is gone when they are read.
    let folder = format!("{}/", named.display());
    notes.without(&folder).show(streams.err);
    saved.map_err(|failure| failure.without(&folder)).and(removed)
}

/// Saves a Slurm cluster with pseudonyms.
fn save_anonymous_cluster(from: &Path, directory: &Path, notes: &mut Notes, streams: Streams) -> Result<(), Failure> {
    if std::fs::read_dir(directory).is_ok_and(|mut files| files.next().is_some()) {
        // A file that is not written could count.
        return Err(Failure::input(format!("`{}` is not empty", directory.display())).help("name a new directory"));
    }
    let files = PoolFiles { pool: Some(from.to_owned()), ..PoolFiles::default() };
    let mut snapshot = files.snapshot(notes, streams.err)?;
    let (slots, jobs) = (&mut snapshot.slots, &snapshot.jobs);
    let slurm = SlurmArguments::default().read(Some(from), &snapshot.config, (slots, jobs), notes)?;
    let evaluation = snapshot.settings();
    enlist(&mut snapshot.slots, slurm.conf(), &evaluation);
    let AnonymousCluster { snapshot, files } = anonymized_cluster(&snapshot, &slurm)?;
    std::fs::create_dir_all(directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    write_all_ads(directory, &[("slots", &snapshot.slots), ("jobs", &snapshot.jobs)])?;
    for (name, text) in &files {
        write_file(&directory.join(name), |file| file, |out| out.write_all(text.as_bytes()))?;
    }
    let mut settings = snapshot.config.assignments().map(|(name, value, _)| (name, value)).peekable();
    if settings.peek().is_some() { write_settings(directory, settings) } else { Ok(()) }
}

/// Writes the ads of each kind; values that cannot be read back are a warning.
fn write_all_ads(directory: &Path, kinds: &[(&str, &[ClassAd])]) -> Result<(), Failure> {
    let mut lost = 0;
    for (name, ads) in kinds {
        lost += write_ads(&directory.join(format!("{name}.ads")), ads)?;
    }
    if lost > 0 {
        complain(&format!("warning: {}", lost_values(lost)));
    }
    Ok(())
}

/// Writes variables of the configuration.
fn write_settings<'s>(
    directory: &Path,
    mut settings: impl Iterator<Item = (&'s [u8], &'s [u8])>,
) -> Result<(), Failure> {
    write_file(
        &directory.join("config"),
        |file| file,
        |out| settings.try_for_each(|(name, value)| assignment(out, name, value)),
    )
}

/// Saves a Slurm cluster; the script names what cannot be read, and the failure has this message then.
fn save_cluster(
    directory: &Path,
    run: impl FnOnce(&mut Command) -> std::io::Result<ExitStatus>,
    unread: &str,
) -> Result<(), Failure> {
    match run(Command::new("sh").arg("-c").arg(SLURM_SCRIPT).arg("snapshot").arg(directory)) {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new(unread).help(
            "run it where `scontrol`, `squeue`, `sprio` and `sacctmgr` work, or copy the output of --script there",
        )),
        Err(error) => Err(Failure::new(format!("cannot run `sh`: {error}"))),
    }
}

/// Writes ads in the long format, with a blank line between them; returns how many values cannot be read back.
fn write_ads(path: &Path, ads: &[ClassAd]) -> Result<u64, Failure> {
    let mut lost = 0;
    write_file(
        path,
        |file| file,
        |out| {
            let mut writer = Writer::new(out, Format::Long);
            for ad in ads {
                lost += writer.write(ad)?.len() as u64;
            }
            writer.finish().map(drop)
        },
    )?;
    Ok(lost)
}
