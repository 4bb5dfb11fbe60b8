//! The settings that an explanation says give the job a slot, read back from the text, made, and compared with a cycle.

use std::collections::BTreeSet;

use classmate::ClassAd;
use classmate_pool::JobId;
use classmate_pool::internal::accountant::Ungrouped;
use classmate_pool::internal::accountant::edit::Edit;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::negotiate::{Outcome, Snapshot, negotiate};

use super::template::{Checked, check, fit, number, same};

/// Makes the change of a command in a snapshot.
fn changed(before: &Snapshot, command: &str, job: JobId) -> Result<Snapshot, String> {
    let mut after = before.clone();
    if let Some(parts) = fit("classmate whatif POOL --set '{}'", command) {
        for line in parts[0].split("' --set '") {
            let added = after.config.add("set", line.as_bytes());
            added.map_err(|error| format!("`{line}`: {}", error.to_line()))?;
        }
    } else if let Some(parts) = fit("condor_userprio -setceiling {} {}", command) {
        let rules = Rules::read(&after.config, &after.settings()).map_err(|error| error.to_line())?;
        let edit = Edit::Ceiling(parts[0].into(), number(parts[1]) as i64);
        let log = after.log.clone().unwrap_or_default();
        let edited = edit.applied(&log, FactorRules::new(&rules.knobs.accountant), &Ungrouped, after.now);
        after.log = Some(edited.map_err(|error| error.to_string())?);
    } else if let Some(parts) = fit("accounting_group = {}", command) {
        let id = |ad: &ClassAd| (ad.eval_int("ClusterId"), ad.eval_int("ProcId"));
        let ads = after.jobs.iter_mut().filter(|ad| id(ad) == (Some(job.cluster), Some(job.process)));
        for ad in ads {
            let user = ad.eval_string("AcctGroupUser").ok_or("no user")?;
            ad.insert("AcctGroup", parts[0]);
            ad.insert("AccountingGroup", format!("{}.{user}", parts[0]).as_str());
        }
    } else {
        return Err("a command that nothing checks".to_owned());
    }
    Ok(after)
}

/// The line of a setting: the job gets a slot, and as many others get or lose one as it says.
pub(super) fn line((before, outcome): (&Snapshot, &Outcome), job: JobId, line: &str) -> Checked {
    let parts = fit("  {}: the job gets a slot (jobs with a slot: +{})", line).ok_or("another form")?;
    let after = negotiate(&changed(before, parts[0], job)?).map_err(|error| error.to_line())?;
    let served = |outcome: &Outcome| outcome.matches.iter().map(|made| made.job).collect::<BTreeSet<JobId>>();
    let (old, new) = (served(outcome), served(&after));
    check(new.contains(&job) && !old.contains(&job), "the job is not matched then, or was before")?;
    let (won, lost) = parts[1].split_once(", −").unwrap_or((parts[1], "0"));
    same("jobs that get a slot", won, new.difference(&old).count() as f64)?;
    same("jobs that lose a slot", lost, old.difference(&new).count() as f64)
}
