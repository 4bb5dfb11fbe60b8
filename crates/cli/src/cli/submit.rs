//! Submit files in place of job ads.

use std::path::Path;

use crate::cli::{Failure, input, language};
use classmate::ClassAd;
use classmate_advice::internal::submit::{self, SubmitContext};
use classmate_config::ConfigError;
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::ad_reader::AdReader;

/// Larger files are not submit files.
const MAX_SIZE: u64 = 1 << 20;

/// The user of this process, and what a pool says of its access points: the next cluster and the domains of its jobs.
pub(super) fn context(snapshot: Option<&Snapshot>) -> SubmitContext {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let owner = variable("USER").or_else(|| variable("LOGNAME")).unwrap_or_else(|| "user".to_owned());
    let semantics = language::chosen();
    let Some(snapshot) = snapshot else { return SubmitContext { owner, semantics, ..SubmitContext::default() } };
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
    // Slots of several domains do not determine that of the access point.
    let of_slots = || {
        let mut domains = snapshot.slots.iter().filter_map(|slot| text(slot, "UidDomain"));
        let first = domains.next()?;
        domains.all(|other| other == first).then_some(first)
    };
    let clusters = snapshot.jobs.iter().filter_map(|job| AdReader::of(job, &settings).integer("ClusterId"));
    SubmitContext {
        owner,
        domain: of_jobs().or_else(|| configured("UID_DOMAIN")).or_else(of_slots).unwrap_or_default(),
        file_system: configured("FILESYSTEM_DOMAIN")
            .or_else(|| snapshot.jobs.iter().find_map(|job| text(job, "FileSystemDomain"))),
        cluster: clusters.max().unwrap_or(0).saturating_add(1),
        now: snapshot.now,
        semantics,
    }
}

/// The job ads of a submit file; items of `queue` are read from files.
pub(super) fn jobs(name: &str, text: &[u8], context: &SubmitContext) -> Result<Vec<ClassAd>, ConfigError> {
    submit::jobs(name, text, context, Path::new(name).parent())
}

/// The job ads of a file if it is a submit file.
pub(super) fn jobs_of(path: &Path) -> Result<Option<Vec<ClassAd>>, Failure> {
    if !std::fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_SIZE) {
        return Ok(None);
    }
    let mut input = input::open(path)?;
    let text = input.text()?;
    if !submit::is_submit(&text) {
        return Ok(None);
    }
    Ok(Some(jobs(&input.name, &text, &context(None))?))
}
