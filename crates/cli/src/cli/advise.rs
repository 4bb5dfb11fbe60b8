//! `classmate advise POOL --goal GOAL`

use crate::cli::input::Notes;
use crate::cli::pool::PoolFiles;
use crate::cli::provenance::{Made, provenance};
use crate::cli::{Failure, FormatArguments, Reply, Streams, parsed, print_result};
use crate::report::advise as report;
use classmate::Expr;
use classmate_advice::internal::advise::{Advice, Goal, GoalError, advise};
use classmate_pool::internal::quota::QuotaSettings;
use classmate_pool::internal::simulate::replay::ReplayPlan;
use classmate_pool::{PreparedPool, Snapshot};

/// Search for settings that make a pool reach a goal.
///
/// Runs cycles over the pool in a row: matched jobs run and end, a job that ends is replaced by an idle one like it, and
/// priorities are updated. Then tries other quotas, surplus settings and priority factors, one by one and combined, in
/// the same way, and reports those that reach the goal with their effects on all groups and submitters. Usage is the
/// mean over the second half of the cycles; `PRIORITY_HALFLIFE` is at most a tenth of the time of all cycles, so that
/// priorities settle before that. Choose cycles and interval so that several jobs run one after another on a slot.
/// Read-only: no file is modified.
///
/// A goal is a bound on the usage of a group (with the groups below it) or a submitter, in percent of the group's quota
/// or of the weight of the pool.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate advise examples/groups --goal 'chemistry >= 40% of pool'
  classmate advise examples/groups --goal 'dave@example.org >= 5% of pool' --run-time 7200

Exit status: 0 if the goals are met or a change meets them, 1 if no change does or a file cannot be read, 2 if a file or \
an option is invalid.")]
pub(super) struct AdviseArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Goal such as `physics >= 90% of quota`; repeatable, all must be met
    #[arg(long, value_name = "GOAL", required = true, value_parser = goal)]
    goal: Vec<Goal>,
    /// Number of cycles
    #[arg(long, value_name = "NUMBER", default_value_t = 60, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    cycles: u32,
    /// Seconds from one cycle to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 600,
          value_parser = clap::value_parser!(i64).range(1..=i64::from(i32::MAX)))]
    interval: i64,
    /// Run time of a job: seconds, or an expression over the job with the slot as TARGET
    #[arg(long, value_name = "EXPR", default_value = "3600")]
    run_time: String,
    #[command(flatten)]
    output: FormatArguments,
}

fn goal(text: &str) -> Result<Goal, GoalError> {
    text.parse()
}

pub(super) fn run(arguments: &AdviseArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let snapshot = arguments.files.snapshot(&mut notes, streams.err)?;
    notes.show(streams.err);
    let run_time = parsed(&arguments.run_time, "--run-time", streams)?;
    let found = advised(&snapshot, &arguments.goal, (arguments.cycles, arguments.interval), run_time)?;
    let made = provenance(arguments.output.format, &[&snapshot.config])?;
    let result = Made { provenance: made, result: &found };
    let answer = Reply { schema: "advise/1", result: &result, rows: &found.remedies };
    print_result(arguments.output.format, &answer, |out| report::write(out, &found, streams.out))?;
    if found.met || found.remedies.iter().any(|remedy| remedy.met) {
        return Ok(());
    }
    Err(Failure::new(format!("none of {} combinations of changes reaches the goal", found.tried)))
}

/// Searches for settings that reach goals, in a number of cycles at an interval.
pub(super) fn advised(
    snapshot: &Snapshot,
    goals: &[Goal],
    (cycles, interval): (u32, i64),
    run_time: Expr,
) -> Result<Advice, Failure> {
    let settings = QuotaSettings::read(&snapshot.config)?;
    for goal in goals.iter().filter(|goal| !goal.is_submitter()) {
        if !settings.groups.iter().any(|group| group.name.eq_ignore_ascii_case(goal.target.as_bytes())) {
            let help = "expected a group of GROUP_NAMES, or a submitter such as `alice@example.org`";
            return Err(Failure::input(format!("no group is named `{}`", goal.target)).help(help));
        }
    }
    if goals.iter().any(Goal::is_submitter) {
        let pool = PreparedPool::new(snapshot)?;
        for goal in goals.iter().filter(|goal| goal.is_submitter()) {
            let is_target = |name: &[u8]| name.eq_ignore_ascii_case(goal.target.as_bytes());
            if !pool.submitters().iter().any(|submitter| is_target(&submitter.name)) {
                let help = "expected a submitter with idle or running jobs, such as `alice@example.org`";
                return Err(Failure::input(format!("no submitter is named `{}`", goal.target)).help(help));
            }
        }
    }
    let plan = ReplayPlan { cycles, interval, run_time: Some(run_time), refill: true };
    Ok(advise(snapshot, goals, &plan)?)
}
