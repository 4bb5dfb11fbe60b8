//! The other names of submit commands: `cmd` for `executable`, `JobPrio` for `priority`.
//!
//! In: `data/other_names.txt`. Out: the command that a name is taken for, and the names of a command.

use std::sync::LazyLock;

use classmate_config::Config;
use hashbrown::HashMap;

static ROWS: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let lines = include_str!("data/other_names.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next().filter(|command| !command.is_empty())?, words.collect()))
    });
    rows.collect()
});

static BY_OTHER: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| rows().flat_map(|(command, others)| others.iter().map(move |other| (*other, command))).collect());

static BY_COMMAND: LazyLock<HashMap<&str, &[&str]>> = LazyLock::new(|| rows().collect());

/// The commands with other names, and these.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    ROWS.iter().map(|(command, others)| (*command, others.as_slice()))
}

/// The other names of a command, lower case.
pub(crate) fn others(command: &str) -> &'static [&'static str] {
    BY_COMMAND.get(command).copied().unwrap_or_default()
}

/// The names of a command in the order in which they count: its own, then the others.
pub(crate) fn names(command: &str) -> impl Iterator<Item = &str> {
    std::iter::once(command).chain(others(command).iter().copied())
}

/// The name by which a command is set; its own if it is not.
pub(crate) fn written<'n>(config: &Config, command: &'n str) -> &'n str {
    names(command).find(|name| config.assignment(name.as_bytes()).is_some()).unwrap_or(command)
}

/// The command that a name (lower case) is taken for; none for a name that is not another name.
pub(crate) fn command_of_other(name: &str) -> Option<&'static str> {
    BY_OTHER.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_of_one_command() {
        let all = rows().map(|(_, others)| others.len()).sum::<usize>();
        assert_eq!(all, BY_OTHER.len());
        assert!(rows().all(|(command, _)| command_of_other(command).is_none()));
        assert_eq!((command_of_other("cmd"), others("input")), (Some("executable"), ["stdin"].as_slice()));
    }
}
