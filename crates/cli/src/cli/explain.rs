//! `classmate explain POOL`

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::cli::input::Notes;
use crate::cli::policy::PolicyArguments;
use crate::cli::pool::PoolFiles;
use crate::cli::submit::SubmitFile;
use crate::cli::{Failure, FormatArguments, Reply, Streams, complain, leaked, parsed, print_result};
use crate::report::as_written::as_written;
use crate::report::counted;
use crate::report::explain::{self as report, ShownParts};
use classmate::internal::builtin::near::closest;
use classmate::internal::threads;
use classmate::{ClassAd, Scope};
use classmate_advice::internal::explain::cycle::reasons::{self, CauseSurvey};
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::internal::explain::cycle::{group, submitter};
use classmate_advice::internal::explain::replay::{self, ExplainedJob};
use classmate_advice::internal::explain::{AbandonedSlots, find, slot};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::{CycleOptions, JobId, Policy, PreparedPool, Snapshot, negotiate};

/// Explain why a job or slot is idle, or derive a share or quota.
///
/// For a job: failing conditions with their values, fixes that were tested, and what happened in the cycle. The
/// Requirements of the job and of the slots are split at `&&`, `||` and `?:`, and through the attributes they refer to.
/// Each condition is evaluated for each slot. Suggested changes are tested against all slots.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Columns:
  TRUE FALSE UNDEF ERROR  number of slots for which the condition by itself has this value
  TOGETHER                number of slots for which it and all conditions before it are true (for an operand of `||`:
                          it or one before it)

Examples:
  classmate explain examples/pool --job 1.0
  classmate explain examples/pool --job 'Owner == \"alice\"' --format json
  classmate explain examples/groups --all
  classmate explain examples/groups --owner carol
  classmate explain examples/stuck --slot slot1@m05.example.org
  classmate explain examples/pool --submitter carol@pool.test
  classmate explain examples/groups --group chemistry

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid or the name is unknown.")]
pub(super) struct ExplainArguments {
    #[command(flatten)]
    files: PoolFiles,
    #[command(flatten)]
    about: About,
    /// Also show all conditions, the nearest slots, all suggestions, and the cycle
    #[arg(long)]
    details: bool,
    /// Also show the conditions of this many slot policies, most rejections first [default: 3]
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "3")]
    policies: Option<usize>,
    /// Skip the cycle; only check whether the job can match
    #[arg(long, conflicts_with_all = ["slot", "submitter", "group", "owner", "all"])]
    no_cycle: bool,
    #[command(flatten)]
    output: FormatArguments,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// The jobs, slot, submitter or group to explain.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct About {
    /// Explain why a job is idle: a job ID, a `GlobalJobId`, or an expression that selects the first job for which it is true
    #[arg(long, value_name = "ID|EXPR")]
    job: Option<String>,
    /// Explain what would happen to the first job of a submit file (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    submit: Option<PathBuf>,
    /// Count the idle jobs of a user by cause
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Count all idle jobs by cause
    #[arg(long)]
    all: bool,
    /// Explain why a slot is idle, or which job it runs
    #[arg(long, value_name = "NAME")]
    slot: Option<String>,
    /// Derive the share of a submitter and show how much of it was used
    #[arg(long, value_name = "NAME")]
    submitter: Option<String>,
    /// Derive the quota of a group and show how much of it was used
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

pub(super) fn run(arguments: &ExplainArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let (files, about) = (&arguments.files, &arguments.about);
    // Other policies need more attributes of slots than the negotiator; the explanation of a slot needs all.
    let snapshot = leaked(if about.submit.is_some() {
        files.snapshot_to_submit(&mut notes, streams.err)?
    } else if arguments.policy.is_condor() && about.slot.is_none() {
        let of_jobs = about.job.is_some() || about.owner.is_some() || about.all;
        files.snapshot_to_explain(of_jobs, &mut notes, streams.err)?
    } else {
        files.snapshot(&mut notes, streams.err)?
    });
    snapshot.policy = arguments.policy.read(files.directory(), snapshot, &mut notes)?;
    notes.show(streams.err);
    let form = arguments.output.format;
    let parts = ShownParts { details: arguments.details, policies: arguments.policies.unwrap_or(0) };
    if about.job.is_some() || about.submit.is_some() {
        let file = about.submit.as_deref().map(SubmitFile::read).transpose()?;
        let subject = match &file {
            Some(file) => submitted(snapshot, file)?,
            None => subject(snapshot, about.job.as_deref().unwrap_or_default(), streams)?,
        };
        let pool = PreparedPool::for_explanation(snapshot)?;
        let mut explanation = replay::of_job(leaked(pool), &subject, !arguments.no_cycle)?;
        // A command that can be copied, if it repeats what was tried: a job that is not submitted is not in the pool.
        if let Some(place) = files.argument().filter(|_| about.submit.is_none()) {
            for one in &mut explanation.settings {
                one.command = one.command.replacen(" POOL", &format!(" {place}"), 1);
            }
        }
        if let Some(file) = &file {
            as_written(&mut explanation, &file.text());
        }
        warn_of_abandoned(explanation.abandoned.as_ref(), streams);
        let answer = Reply { schema: "explain-job/1", result: &explanation, rows: &explanation.causes };
        print_result(form, &answer, |out| report::write(out, &explanation, &parts, streams.out))
    } else if about.all || about.owner.is_some() {
        let survey = survey(snapshot, about.owner.as_deref())?;
        warn_of_abandoned(survey.abandoned.as_ref(), streams);
        if survey.unexamined > 0 {
            let requests = counted(survey.unexamined as u64, "request");
            complain(&format!(
                "note: too many pairs of requests and slots: the cause of {requests} is what the cycle recorded"
            ));
        }
        let answer = Reply { schema: "explain-all/1", result: &survey, rows: &survey.causes };
        print_result(form, &answer, |out| report::write_survey(out, &survey, &parts))
    } else if let Some(name) = &about.slot {
        let outcome = negotiate(snapshot)?;
        let pool = &*leaked(PreparedPool::for_explanation(snapshot)?);
        let names = || pool.slots().iter().map(|slot| slot.name.to_string()).collect::<Vec<_>>();
        let found =
            slot::explain(pool, &outcome, name).ok_or_else(|| nothing("slot in the cycle is named", name, &names()))?;
        let answer = Reply { schema: "explain-slot/1", result: &found, rows: &found.causes };
        print_result(form, &answer, |out| report::write_slot(out, &found, &parts, streams.out))
    } else {
        let pool = leaked(PreparedPool::new(snapshot)?);
        let division = pool.division();
        let outcome = pool.negotiate(CycleOptions::default())?.outcome;
        if let Some(name) = &about.submitter {
            let known: Vec<String> = outcome.submitters.iter().map(|line| line.submitter.clone()).collect();
            let found = submitter::trace(&outcome, pool, name)
                .ok_or_else(|| nothing("submitter in the cycle is named", name, &known))?;
            let title = format!("Submitter {}", found.summary.submitter);
            let answer = Reply { schema: "explain-submitter/1", result: &found, rows: &found.steps };
            print_result(form, &answer, |out| report::write_steps(out, &title, &found.steps))
        } else {
            let name = about.group.as_deref().unwrap_or_default();
            let known: Vec<String> = outcome.groups.iter().map(|group| group.name.clone()).collect();
            let found = group::trace(&outcome, division, name);
            let found = found.ok_or_else(|| match &snapshot.policy {
                Policy::Slurm(_) => Failure::input(format!("no group is named `{name}`"))
                    .help("Slurm accounts have shares, not quotas; use `classmate sshare`"),
                Policy::Dirac(_) => Failure::input(format!("no group is named `{name}`"))
                    .help("DIRAC groups have shares, not quotas; use `classmate taskqueues`"),
                Policy::Condor => nothing("group is named", name, &known),
            })?;
            let title = format!("Group {}", found.explained.summary.name);
            let answer = Reply { schema: "explain-group/1", result: &found, rows: &found.steps };
            print_result(form, &answer, |out| report::write_steps(out, &title, &found.steps))
        }
    }
}

/// Reports slots whose evaluation was abandoned.
fn warn_of_abandoned(abandoned: Option<&AbandonedSlots>, streams: Streams) {
    let Some(AbandonedSlots { slots, example, steps }) = abandoned else { return };
    let slots = counted(*slots as u64, "slot");
    let mut notes = Notes::default();
    notes.skip(format!(
        "evaluation limit reached: the Requirements of the job or of a slot take more than {steps} steps for {slots}, such as \
         `{example}`, counted as not matching"
    ));
    notes.show(streams.err);
}

/// The idle jobs by cause, of a user if one is named.
fn survey(snapshot: &Snapshot, owner: Option<&str>) -> Result<CauseSurvey, Failure> {
    let (outcome, queue) = reasons::ran(snapshot)?;
    let mut owners: BTreeSet<String> = BTreeSet::new();
    let settings = snapshot.settings();
    let names = |job: &Job<'_>| {
        let of = |name| {
            AdReader::of(&job.ad, &settings).string(name).map(|name| String::from_utf8_lossy(&name).into_owned())
        };
        [of("Owner"), Some(job.submitter.to_string())].into_iter().flatten().collect::<Vec<String>>()
    };
    if owner.is_some() {
        owners.extend(snapshot.jobs.iter().filter_map(|ad| Job::new(ad, None, &settings)).flat_map(|job| names(&job)));
    }
    if let Some(owner) = owner.filter(|owner| !owners.iter().any(|name| name.eq_ignore_ascii_case(owner))) {
        return Err(nothing("job belongs to", owner, &owners.into_iter().collect::<Vec<_>>()));
    }
    let is_wanted =
        |job: &Job<'_>| owner.is_none_or(|owner| names(job).iter().any(|name| name.eq_ignore_ascii_case(owner)));
    Ok(reasons::survey(snapshot, &OutcomeRecord::new(&outcome, &queue), is_wanted)?)
}

/// Adds the jobs of a submit file to a snapshot. Returns the first.
fn submitted(snapshot: &mut Snapshot, file: &SubmitFile) -> Result<ExplainedJob, Failure> {
    let count = file.add_to(snapshot)?;
    // An answer helps also if the file is not complete yet.
    file.warn_of("rejected-submit");
    let settings = snapshot.settings();
    let domain = snapshot.config.string("ACCOUNTING_DOMAIN")?;
    let ad = snapshot.jobs.iter().rev().nth(count - 1);
    let Some((job, ad)) = ad.and_then(|ad| Some((Job::new(ad, domain.as_deref(), &settings)?, ad))) else {
        return Err(Failure::input(format!("`{}` does not submit a job of HTCondor", file.name())));
    };
    let first = if count > 1 { format!("the first of {count} jobs") } else { "the job".to_owned() };
    complain(&format!("note: {first} is explained as {} of {}", job.id, job.submitter));
    Ok(ExplainedJob::of(&job, ad))
}

/// The failure of a name that does not exist, with the names that do: those that it may be a part or a misspelling of, or some.
fn nothing(what: &str, name: &str, known: &[String]) -> Failure {
    const LISTED: usize = 3;
    let lower = name.to_lowercase();
    let mut meant: Vec<&String> = known.iter().filter(|one| one.to_lowercase().contains(&lower)).collect();
    meant.sort_by_key(|one| (one.len(), *one));
    if meant.is_empty() {
        meant.extend(closest(name.as_bytes(), known));
    }
    let listed = |names: &mut dyn Iterator<Item = &String>| {
        names.take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let failure = Failure::input(format!("no {what} `{name}`"));
    match (meant.len(), known.len()) {
        (_, 0) => failure.help("there are none"),
        (0, 1) => failure.help(&format!("the only one is {}", listed(&mut known.iter()))),
        (1..=LISTED, _) => failure.help(&format!("did you mean {}?", listed(&mut meant.into_iter()))),
        (0, all) => {
            let more = if all > LISTED { format!(" and {} more", all - LISTED) } else { String::new() };
            failure.help(&format!("there are {}{more}", listed(&mut known.iter())))
        }
        (many, _) => {
            failure.help(&format!("did you mean {} or one of {} more?", listed(&mut meant.into_iter()), many - LISTED))
        }
    }
}

/// Tests if a text is a `GlobalJobId`: the access point, the ID and the time of submission, which no expression has.
fn is_global(text: &str) -> bool {
    let parts: Vec<&str> = text.split('#').collect();
    let is_time = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], [_, id, time] if id.parse::<JobId>().is_ok() && is_time(time))
}

/// The job to explain.
fn subject(snapshot: &Snapshot, wanted: &str, streams: Streams) -> Result<ExplainedJob, Failure> {
    let text = wanted.trim();
    let number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(text);
    let found = match number {
        Some(number) => {
            let whole = if number.contains('.') { number.to_owned() } else { format!("{number}.0") };
            let found = find(snapshot, |job, _| job.id.to_string() == whole);
            if let Some((job, _)) = &found
                && let Some((_, other)) = find(snapshot, |one, _| one.id == job.id && one.schedd != job.schedd)
                && let Some(name) = other.eval_string("GlobalJobId")
            {
                let place = job.schedd.as_ref().map_or_else(|| "an unknown one".to_owned(), |name| format!("`{name}`"));
                complain(&format!(
                    "note: several access points have a job {whole}; this explains the one of {place}; for another: \
                     --job '{name}'"
                ));
            }
            found
        }
        None if is_global(text) => {
            find(snapshot, |_, ad| ad.eval_string("GlobalJobId").is_some_and(|global| global == text))
        }
        None => {
            let expr = parsed(text, "--job", streams)?;
            let settings = snapshot.settings();
            let holds = |ad: &ClassAd| Scope::new(ad, &settings).holds(&expr);
            let found = find(snapshot, |_, ad| holds(ad));
            let all = threads::map_all(&snapshot.jobs, holds).into_iter().filter(|holds| *holds).count();
            if let Some((job, _)) = found.as_ref().filter(|_| all > 1) {
                complain(&format!("note: {all} jobs satisfy `{text}`; the first one is {}", job.id));
            }
            found
        }
    };
    let Some((job, ad)) = found else {
        let were_read = match snapshot.jobs.len() {
            1 => "1 job was read".to_owned(),
            count => format!("{count} jobs were read"),
        };
        let what = if number.is_some() { "there is no job" } else { "no job satisfies" };
        return Err(
            Failure::input(format!("{what} `{text}`")).help(&format!("{were_read}; a job ID is cluster.process"))
        );
    };
    Ok(ExplainedJob::of(&job, ad))
}

#[cfg(test)]
mod tests {
    use super::is_global;

    #[test]
    fn a_global_id_has_a_time() {
        assert!(is_global("schedd@x#1.0#1794990000"));
        for text in ["schedd@x#1.0#", "schedd@x#1.0", "schedd@x#a#1", "schedd@x#1.0#1b"] {
            assert!(!is_global(text), "{text}");
        }
    }
}
