//! Submit files in place of job ads.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::cli::input::with_help;
use crate::cli::lint::{FileKind, detect};
use crate::cli::output::complain;
use crate::cli::{Failure, input, language};
use classmate::ClassAd;
use classmate_advice::internal::lint::submit;
use classmate_advice::internal::lint::versions::LintVersions;
use classmate_advice::internal::submit::{SubmitContext, is_submit, jobs};
use classmate_config::ConfigError;
use classmate_pool::Snapshot;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::{Job, Submitter};

/// Files up to this size are looked at whole to recognize a submit file.
const MAX_WHOLE: u64 = 1 << 20;
/// Bytes at the beginning and at the end of larger files that are.
const EDGE: u64 = 1 << 16;

/// The user of this process, and what a pool says of its access points: the next cluster, and the domains and the
/// release of its jobs.
pub(super) fn context(snapshot: Option<&Snapshot>) -> SubmitContext {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let owner = variable("USER").or_else(|| variable("LOGNAME")).unwrap_or_else(|| "user".to_owned());
    let semantics = language::chosen();
    let Some(snapshot) = snapshot else {
        return SubmitContext { owner, semantics, cluster: 1, ..SubmitContext::default() };
    };
    let settings = snapshot.settings();
    let text = |job: &ClassAd, name: &str| {
        AdReader::of(job, &settings).string(name).map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let configured = |name: &str| {
        let value = snapshot.config.string(name).ok().flatten();
        value.map(|value| String::from_utf8_lossy(&value).into_owned()).filter(|value| !value.is_empty())
    };
    let of_jobs = || {
        let user = snapshot.jobs.iter().find_map(|job| text(job, "User"))?;
        Some(user.rsplit_once('@')?.1.to_owned())
    };
    let of_some_job = |name: &str| snapshot.jobs.iter().find_map(|job| text(job, name));
    // Slots of several domains do not determine that of the access point.
    let of_slots = || only(snapshot.slots.iter().filter_map(|slot| text(slot, "UidDomain")));
    let clusters = snapshot.jobs.iter().filter_map(|job| AdReader::of(job, &settings).integer("ClusterId"));
    let of_log = || only(customers(snapshot.log.as_ref()?));
    let domains = || of_jobs().or_else(|| configured("UID_DOMAIN")).or_else(of_slots).or_else(of_log);
    SubmitContext {
        owner,
        domain: domains().unwrap_or_default(),
        file_system: configured("FILESYSTEM_DOMAIN").or_else(|| of_some_job("FileSystemDomain")),
        version: of_some_job("CondorVersion"),
        platform: of_some_job("CondorPlatform"),
        cluster: clusters.max().unwrap_or(0).saturating_add(1),
        now: snapshot.now,
        semantics,
    }
}

/// The first of some texts, if all others are equal.
fn only(mut texts: impl Iterator<Item = String>) -> Option<String> {
    let first = texts.next()?;
    texts.all(|other| other == first).then_some(first)
}

/// The domains of the submitters in an accountant's log.
fn customers(log: &AccountantLog) -> impl Iterator<Item = String> {
    let names = log.table("Customer").map(|(name, _)| String::from_utf8_lossy(name).into_owned());
    names.filter_map(|name| Some(name.rsplit_once('@')?.1.to_owned()))
}

/// A submit file, and its text.
pub(super) struct SubmitFile {
    name: String,
    text: Vec<u8>,
}

impl SubmitFile {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut input = input::open(path)?;
        let file = SubmitFile { text: input.text()?, name: input.name };
        file.warn_of("unknown-command");
        Ok(file)
    }

    /// Reads a file if it is a submit file. Standard input never is, nor a compressed file.
    pub(super) fn detect(path: &Path) -> Result<Option<Self>, Failure> {
        let Some(facts) = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file) else { return Ok(None) };
        let (parts, length) = match facts.len() {
            ..=MAX_WHOLE => (1, MAX_WHOLE),
            _ => (2, EDGE),
        };
        let edge = |start: u64| -> std::io::Result<Vec<u8>> {
            let (mut file, mut text) = (File::open(path)?, Vec::new());
            file.seek(SeekFrom::Start(start))?;
            file.take(length).read_to_end(&mut text)?;
            Ok(text)
        };
        // A statement may queue many items, or stand behind many values.
        for start in [0, facts.len().saturating_sub(length)].into_iter().take(parts) {
            if is_submit(&edge(start).map_err(|error| Failure::reading(path.display(), &error))?) {
                return Self::read(path).map(Some);
            }
        }
        Ok(None)
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Its job ads; items of `queue` are read from files.
    fn jobs(&self, context: &SubmitContext) -> Result<Vec<ClassAd>, ConfigError> {
        jobs(&self.name, &self.text, context, Path::new(&self.name).parent())
    }

    /// Its job ads where nothing is known of a pool, and the name of the file.
    pub(super) fn into_ads(self) -> Result<(Vec<ClassAd>, String), Failure> {
        Ok((self.jobs(&context(None))?, self.name))
    }

    /// Warns of findings with one code, such as commands that `condor_submit` ignores, of which it warns as well.
    pub(super) fn warn_of(&self, code: &str) {
        let found = submit::lint(&Arc::from(self.name.as_str()), &self.text, &LintVersions::default());
        for one in found.iter().filter(|one| one.code == code) {
            complain(&format!("warning: {}", with_help(one)));
        }
    }

    /// The reason why it does not submit any jobs.
    fn why_none(&self) -> &'static str {
        if self.text.trim_ascii().is_empty() {
            return "the file is empty";
        }
        if self.text.contains(&0) {
            return "the file is not text";
        }
        let path = Path::new(&self.name);
        if path.is_file() && matches!(detect(path), Ok(FileKind::Ads)) {
            return "of a file of job ads, name the job: `--jobs FILE --job ID`";
        }
        let mut words = self
            .text
            .split(|byte| *byte == b'\n')
            .filter_map(|line| line.trim_ascii().split(u8::is_ascii_whitespace).next());
        if words.any(|word| word.eq_ignore_ascii_case(b"queue")) {
            "`queue` has no items: no file matches its pattern, or its list is empty"
        } else {
            "add the command `queue` at its end"
        }
    }

    /// Adds its jobs to a pool, and their submitters. Returns the number of jobs.
    pub(super) fn add_to(&self, snapshot: &mut Snapshot) -> Result<usize, Failure> {
        let jobs = self.jobs(&context(Some(snapshot)))?;
        let count = jobs.len();
        if count == 0 {
            let failure = Failure::input(format!("`{}` does not submit any jobs", self.name));
            return Err(failure.help(self.why_none()));
        }
        let (settings, domain) = (snapshot.settings(), snapshot.config.string("ACCOUNTING_DOMAIN")?);
        if let Some(submitters) = &mut snapshot.submitters {
            let jobs: Vec<Job<'_>> = jobs.iter().filter_map(|ad| Job::new(ad, domain.as_deref(), &settings)).collect();
            let weighing = Rules::read(&snapshot.config, &settings)?.job_weighing;
            submitters.extend(Submitter::of_jobs(&jobs, &weighing, &settings).iter().map(Submitter::to_ad));
        }
        snapshot.jobs.extend(jobs);
        Ok(count)
    }
}
