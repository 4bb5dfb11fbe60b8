//! `classmate top --pool HOST`

mod view;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use view::{AfterKey, TopView};

use crate::cli::interruption::Interruption;
use crate::cli::live::CollectorArguments;
use crate::cli::shadow::parse_duration;
use crate::cli::status::{PoolStatus, pause};
use crate::cli::{Failure, Streams, leaked, settings};
use classmate_config::internal::config::disk::io_reason;
use classmate_wire::Progress;

/// Watch a live pool in the terminal.
///
/// Shows submitters, groups, jobs and the causes for which jobs are idle, and the last negotiation cycle. Tables can be
/// sorted and filtered; a submitter, group or job is opened with its explanation.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Keys: Tab or 1 to 4 changes the table, arrows and Page Up or Down move, Enter opens, Esc goes back, s chooses the column to sort \
by, r reverses the order, / filters, q quits.

Examples:
  classmate top --pool cm.example.org
  classmate top --pool cm.example.org --every 1m

Exit status: 0 at the end, 1 if there is no terminal, 2 if the pool cannot be read at the start or an option is invalid.")]
pub(super) struct TopArguments {
    /// Time between two readings of the pool, at least; three times as long as a reading takes
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    every: Duration,
    /// Negotiator configuration, instead of the one it reports
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    place: CollectorArguments,
}

/// Time that is waited for a key.
const WAIT: Duration = Duration::from_millis(250);

pub(super) fn run(arguments: &TopArguments, streams: Streams) -> Result<(), Failure> {
    arguments.place.expect_given()?;
    let config = arguments.config.as_deref().map(|path| settings::pool(Some(path), None, false, streams.err));
    // The thread that reads may wait for a daemon when the command ends.
    let client = &*leaked(arguments.place.client()?);
    let nothing: Progress<'static> = &|_: &str, _: u64| ();
    let mut reader = arguments.place.reader(client, config.transpose()?, nothing)?;
    let name = reader.name();
    let started = Instant::now();
    let first = PoolStatus::read(&mut reader);
    let took = PoolStatus::worked(&first, started.elapsed());
    let first = first?;
    if !std::io::stdout().is_terminal() {
        return Err(Failure::new("standard output is not a terminal")
            .help("`classmate export` and `classmate report` write what other programs read"));
    }
    let receiver = readings(arguments.every, took, PoolStatus::worked, move || PoolStatus::read(&mut reader));
    let cannot = |error: std::io::Error| Failure::new(format!("cannot use the terminal: {}", io_reason(&error)));
    let interruption = Interruption::expected().map_err(cannot)?;
    let mut terminal = ratatui::try_init().map_err(cannot)?;
    let result = watch(&mut terminal, &mut TopView::new(name, first), &receiver, &interruption);
    ratatui::restore();
    result.map_err(cannot)
}

/// Reads in a thread of its own, until the receiver is dropped. A reading waits until it is taken, and the next one with it: a
/// terminal may take no output for hours. `took`: the time for which the reading before worked, as `worked` says of the next ones.
fn readings<T: Send + 'static>(
    every: Duration,
    mut took: Option<Duration>,
    worked: fn(&Result<T, Failure>, Duration) -> Option<Duration>,
    mut read: impl FnMut() -> Result<T, Failure> + Send + 'static,
) -> mpsc::Receiver<Result<T, Failure>> {
    let (sender, receiver) = mpsc::sync_channel(0);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(pause(every, took));
            let started = Instant::now();
            let result = read();
            took = worked(&result, started.elapsed());
            if sender.send(result).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Draws the view until the user quits, or a signal asks for the end: the terminal has to be as it was.
fn watch(
    terminal: &mut DefaultTerminal,
    view: &mut TopView,
    receiver: &mpsc::Receiver<Result<PoolStatus, Failure>>,
    interruption: &Interruption,
) -> std::io::Result<()> {
    while !interruption.is_requested() {
        while let Ok(result) = receiver.try_recv() {
            match result {
                Ok(status) => view.update(status),
                Err(failure) => view.fail(failure.message()),
            }
        }
        terminal.draw(|frame| view.draw(frame))?;
        if !event::poll(WAIT)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && view.press(key) == AfterKey::Quit
        {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn readings_that_are_not_taken_do_not_pile_up() {
        let count = Arc::new(AtomicU32::new(0));
        let (counter, (alive, ends)) = (Arc::clone(&count), mpsc::channel::<()>());
        let receiver = readings(
            Duration::ZERO,
            Some(Duration::ZERO),
            |_, took| Some(took),
            move || {
                let _alive = &alive;
                Ok(counter.fetch_add(1, Ordering::SeqCst))
            },
        );
        std::thread::sleep(Duration::from_millis(100));
        assert!(count.load(Ordering::SeqCst) <= 1);
        for number in 0..3 {
            assert_eq!(receiver.recv().unwrap().unwrap(), number);
        }
        assert!(count.load(Ordering::SeqCst) <= 4);
        // The thread ends, though a reading waits.
        drop(receiver);
        assert!(ends.recv().is_err());
    }
}
