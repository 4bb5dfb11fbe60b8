//! The findings of an earlier run, which are not reported again.

use std::collections::HashMap;
use std::path::Path;

use crate::cli::Failure;
use crate::cli::settings::contents;
use classmate::Diagnostic;

/// The findings that are known already.
#[derive(Default)]
pub(super) struct Baseline(HashMap<KnownFinding, u64>);

/// The parts of a finding that make it the same as one of an earlier run: lines may have moved.
#[derive(Clone, PartialEq, Eq, Hash, serde::Deserialize)]
struct KnownFinding {
    code: String,
    file: String,
    message: String,
    subject: Option<String>,
}

impl Baseline {
    /// Reads the JSON result of an earlier run.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        #[derive(serde::Deserialize)]
        struct LintResult {
            alarms: Vec<KnownFinding>,
        }
        let text = contents(path)?;
        let read: LintResult = serde_json::from_slice(&text).map_err(|error| {
            let message = format!("`{}` is not a result of `classmate lint --format json`: {error}", path.display());
            Failure::input(message).help("write it with `classmate lint FILE --format json > baseline.json`")
        })?;
        let mut known = HashMap::new();
        read.alarms.into_iter().for_each(|alarm| *known.entry(alarm).or_default() += 1);
        Ok(Baseline(known))
    }

    /// Removes the findings that are known, each as often as it was found.
    pub(super) fn remove(&self, alarms: &mut Vec<Diagnostic>) -> u64 {
        let (before, mut left) = (alarms.len(), self.0.clone());
        alarms.retain(|alarm| {
            let finding = KnownFinding {
                code: alarm.code.to_owned(),
                file: alarm.file().to_owned(),
                message: alarm.message.clone(),
                subject: alarm.subject().map(str::to_owned),
            };
            match left.get_mut(&finding).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    false
                }
                None => true,
            }
        });
        (before - alarms.len()) as u64
    }
}
