//! `classmate shadow --pool HOST`

mod history;
mod load;
mod log_tail;
mod watcher;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) use history::{ShadowHistory, ShadowRow};
use history::{ShadowLine, StateDirectory};
use watcher::Watcher;

use crate::cli::interruption::Interruption;
use crate::cli::live::CollectorArguments;
use crate::cli::output::{JsonText, csv_line, line_output, text_output};
use crate::cli::settings;
use crate::cli::{Failure, Form, FormatArguments, Now, Streams, complain, print, raw_output};
use crate::report::shadow as report;
use classmate_config::internal::config::disk::io_reason;

/// Predict the cycles of a live negotiator and check the predictions.
///
/// Reads the pool again and again. When the negotiator has finished a cycle, the cycle is replayed from what was read before
/// it, and compared with the matches that were made: those of the negotiator's log, if --match-log names it, otherwise those
/// that appear as claims afterwards. Prints a line for each cycle, and each difference with its likely cause. Nothing is
/// changed in the pool.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate shadow --pool cm.example.org --cycles 10
  classmate shadow --pool cm.example.org --for 7d --state shadow
  classmate shadow --pool cm.example.org --state shadow --policy other.conf
  classmate shadow --pool cm.example.org --match-log /var/log/condor/MatchLog

With --state, DIR/cycles.jsonl has all cycles, DIR/index.html is a page for browsers that is always up to date, and the next \
run goes on. A daemon that does not answer is reported, and asked again after up to a minute. The formats json and jsonl print \
one object for each cycle. With --policy, DIR/jobs.ads has the jobs that ended with their run times, which `classmate simulate` \
reads too, and DIR/policy.json the comparison.

Ctrl-C or SIGTERM ends it in order, as --for does; a second signal ends it at once.

Exit status: 0 at the end, also if cycles differ; 1 if a file cannot be read or written; 2 if the pool cannot be read at the \
start or an option is invalid.")]
pub(super) struct ShadowArguments {
    /// End after this many cycles [default: never]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    cycles: Option<u64>,
    /// End after this time, such as `90s`, `30m`, `12h` or `7d` [default: never]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// The negotiator's `NegotiatorLog` or `MatchLog`, to know its matches [default: the claims that appear]
    #[arg(long, value_name = "FILE")]
    match_log: Option<PathBuf>,
    /// Directory for the results and for resuming, which is created if necessary
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Another configuration of the negotiator, complete: simulate what it would have done with the load, next to what happened
    #[arg(long, value_name = "FILE", requires = "state")]
    policy: Option<PathBuf>,
    /// Pause between two readings of the pool, at least; three times as long as a reading takes
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_duration)]
    every: Duration,
    /// Negotiator configuration, instead of the one it reports
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    output: FormatArguments,
    #[command(flatten)]
    place: CollectorArguments,
}

/// Parses a duration: seconds, or a number with one of the units s, m, h and d.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a duration such as 90s, 30m, 12h or 7d".to_owned();
    let unit = match text.chars().last().ok_or_else(wrong)? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        digit if digit.is_ascii_digit() => 0,
        _ => return Err(wrong()),
    };
    let number = if unit == 0 { text } else { &text[..text.len() - 1] };
    let number: u32 = number.parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(u64::from(number) * unit.max(1)))
}

pub(super) fn run(arguments: &ShadowArguments, streams: Streams) -> Result<(), Failure> {
    arguments.place.expect_given()?;
    let config = arguments.config.as_deref().map(|path| settings::pool(Some(path), None, false, streams.err));
    let config = config.transpose()?;
    let client = arguments.place.client()?;
    let nothing = |_: &str, _: u64| ();
    let reader = arguments.place.reader(&client, config, &nothing)?;
    let name = reader.name();
    let mut watcher = Watcher::start(reader, arguments.match_log.as_deref(), arguments.every)?;
    let (directory, history) = match &arguments.state {
        Some(path) => StateDirectory::open(path, &name).map(|(directory, history)| (Some(directory), history))?,
        None => (None, None),
    };
    let mut history =
        history.unwrap_or_else(|| ShadowHistory { pool: name, began: Now::Wall.seconds(), ..ShadowHistory::default() });
    if let (Some(policy), Some(state)) = (&arguments.policy, &arguments.state) {
        let other = settings::pool(Some(policy), None, false, streams.err)?;
        let began = *history.load_began.get_or_insert_with(|| Now::Wall.seconds());
        watcher.record_load(state, other, began)?;
    }
    let interruption = Interruption::expected();
    let interruption =
        interruption.map_err(|error| Failure::new(format!("cannot wait for signals: {}", io_reason(&error))))?;
    let (began, before) = (Instant::now(), history.cycles);
    let is_within = |cycle: u64| arguments.cycles.is_none_or(|most| cycle - before <= most);
    let mut is_saved = true;
    while is_within(history.cycles + 1) {
        let is_over = arguments.duration.is_some_and(|most| began.elapsed() >= most);
        let is_end = is_over || interruption.is_requested();
        let seen = if is_end { watcher.end(&mut history) } else { watcher.step(&mut history) };
        let is_new = !seen.cycles.is_empty() || !seen.events.is_empty();
        for event in seen.events {
            complain(&format!("warning: {event}"));
            history.note(Now::Wall.seconds(), &event);
        }
        for line in seen.cycles {
            if is_within(line.cycle) {
                show(arguments.output.format, &line, &history, line.cycle == before + 1)?;
            }
            if let Some(directory) = &directory {
                report_once(&mut is_saved, &directory.append(&line));
            }
        }
        let compared = watcher.compare_policies(false).unwrap_or_else(|failure| {
            complain(&format!("warning: {}", failure.message()));
            None
        });
        let is_compared = compared.is_some();
        history.policy = compared.or(history.policy.take());
        if (is_new || is_compared)
            && let Some(directory) = &directory
        {
            report_once(&mut is_saved, &directory.save(&history));
        }
        if is_end {
            break;
        }
        interruption.wait(seen.pause);
    }
    // The comparison may take long, or fail.
    let is_text = arguments.output.format == Form::Text;
    if is_text {
        print(line_output(), |out| writeln!(out, "{}", report::summary(&history)))?;
    }
    if arguments.policy.is_none() {
        return saved(is_saved);
    }
    if interruption.is_requested() {
        complain("note: comparing the policies a last time; another signal ends at once");
    }
    let compared = watcher.compare_policies(true);
    if let Ok(Some(compared)) = &compared {
        history.policy = Some(compared.clone());
        if let Some(directory) = &directory {
            report_once(&mut is_saved, &directory.save(&history));
        }
    }
    if let Some(policy) = history.policy.as_ref().filter(|_| is_text) {
        print(text_output(), |out| report::write_policy(out, policy))?;
    }
    compared?;
    saved(is_saved)
}

/// Fails if the state could not be written last.
fn saved(is_saved: bool) -> Result<(), Failure> {
    if is_saved { Ok(()) } else { Err(Failure::new("the state directory could not be written")) }
}

/// Reports that the state cannot be written, once.
fn report_once(is_saved: &mut bool, result: &std::io::Result<()>) {
    if let Err(error) = result
        && *is_saved
    {
        complain(&format!("warning: cannot write the state directory: {error}"));
    }
    *is_saved = result.is_ok();
}

/// Prints a cycle, the first one of this run with headings.
fn show(form: Form, line: &ShadowLine, history: &ShadowHistory, is_first: bool) -> Result<(), Failure> {
    let Some(row) = history.last.iter().find(|row| row.cycle == line.cycle) else { return Ok(()) };
    match form {
        Form::Json | Form::JsonLines => print(raw_output(), |out| {
            serde_json::to_writer(JsonText(&mut *out), line)?;
            writeln!(out)
        }),
        Form::Csv => print(raw_output(), |out| {
            if is_first {
                csv_line(out, ["cycle", "started", "predicted", "actual", "agreed", "different"].into_iter())?;
            }
            let numbers = [row.cycle, row.started as u64, row.predicted, row.actual, row.agreed, row.different];
            csv_line(out, numbers.map(|number| number.to_string()).iter().map(String::as_str))
        }),
        _ => print(line_output(), |out| report::write_cycle(out, row)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text| parse_duration(text).unwrap().as_secs();
        assert_eq!(["45", "90s", "30m", "12h", "7d"].map(seconds), [45, 90, 1800, 43_200, 604_800]);
        for wrong in ["", "d", "1w", "-1s", "1.5h", "99999999999s", "é"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
