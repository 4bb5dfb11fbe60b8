//! The values of commands of a submit file with their macros replaced, for the first job of each item.
//!
//! In: the text of a file that has its items itself. Out: the values.

use super::items::QueueItems;
use super::other_names::written;
use super::pending::PendingLines;
use super::queue::QueueStatement;
use super::shared::ItemCommands;
use super::statements::{block_end, joined, lines_after, queue_arguments, statements};
use super::variables;
use classmate_config::{Config, Context};

/// Items whose values are looked at.
const MAX_ITEMS: usize = 50;

/// The values of commands for each item; none if the file cannot be read alone. Of a command without a value, the text is empty.
pub(crate) fn values_of_items(text: &[u8], commands: &[&str]) -> Option<Vec<Vec<String>>> {
    let of_submit = Context { subsystem: "SUBMIT".to_owned(), ..Context::default() };
    let (mut config, mut pending) = (Config::new(of_submit), PendingLines::default());
    let all = statements(text).0;
    let mut end: Option<String> = None;
    for (at, (number, _, line)) in all.iter().enumerate() {
        let line_alone = joined(line);
        let one = String::from_utf8_lossy(line_alone.trim_ascii());
        if end.is_some() {
            end = end.filter(|end| *end != one);
            pending.push(line);
            continue;
        }
        end = block_end(&one);
        let Some(arguments) = queue_arguments(line_alone.trim_ascii()) else {
            pending.add(*number, line);
            continue;
        };
        config.add("submit", pending.text()).ok()?;
        let arguments = String::from_utf8_lossy(arguments.trim_ascii()).into_owned();
        let queue = QueueStatement::parse(&arguments).ok()?;
        // Where the items are in a file, what does not need them is known all the same.
        let items = QueueItems::of(&queue, &lines_after(text, &all, at), None).ok();
        let (names, rows) = items.as_ref().map_or((Vec::new(), vec![String::new()]), |items| {
            (items.names.clone(), items.rows.iter().take(MAX_ITEMS).cloned().collect())
        });
        let steps = i64::try_from(queue.jobs().unwrap_or(1)).ok()?;
        let mut of_items = ItemCommands::of(&config);
        let mut found = Vec::new();
        for (row, item) in rows.iter().enumerate() {
            let values: Vec<String> = items.iter().flat_map(|items| items.values(item)).map(str::to_owned).collect();
            // A blank item leaves the values of the item before.
            if values.len() != names.len() {
                continue;
            }
            let number = i64::try_from(row).ok()?;
            let process = number.saturating_mul(steps);
            let (config, _) = of_items.with(&variables(&names, &values, [1, process, 0, number])).ok()?;
            let value = |command: &&str| {
                let value = config.get(written(config, command)).ok().flatten();
                value.map_or_else(String::new, |value| String::from_utf8_lossy(&value.text).trim().to_owned())
            };
            found.push(commands.iter().map(value).collect());
        }
        return Some(found);
    }
    None
}
