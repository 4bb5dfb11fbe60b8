//! Submit commands, and names that look like misspellings of them.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::submit::other_names::command_of_other;
use classmate::internal::builtin::near;
use classmate::internal::records::{Record, records};

/// The commands of which misspellings are recognized.
static COMMANDS: LazyLock<Vec<&str>> = LazyLock::new(|| RECORDS.iter().map(|command| command.name).collect());

static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| records(include_str!("data/commands.txt")).collect());

/// The commands by their names.
static BY_NAME: LazyLock<HashMap<&str, &Record>> =
    LazyLock::new(|| RECORDS.iter().map(|command| (command.name, command)).collect());

/// The names of all commands without underscores, and whether only some universes have the command.
static SQUEEZED: LazyLock<HashMap<String, bool>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for command in RECORDS.iter() {
        *names.entry(command.name.replace('_', "")).or_default() |= command.get("needs").is_some();
    }
    names
});

/// The type of a command's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommandKind {
    Expression,
    /// A constant that is a boolean or a number.
    Boolean,
    /// As `Boolean`, meant as a number.
    Integer,
}

/// The type of the value of a command (lower case), if it is checked.
pub(super) fn kind(name: &str) -> Option<CommandKind> {
    match BY_NAME.get(name)?.get("type")? {
        "expression" => Some(CommandKind::Expression),
        "boolean" => Some(CommandKind::Boolean),
        _ => Some(CommandKind::Integer),
    }
}

/// The universes and commands of which one makes `condor_submit` read a command (lower case); none if it always does.
pub(super) fn needs(name: &str) -> Option<Vec<&'static str>> {
    Some(BY_NAME.get(name)?.get("needs")?.split(' ').collect())
}

/// Returns true for the name of a command, lower case, and for requests of the resources that all slots know.
pub(super) fn is_listed(name: &str) -> bool {
    BY_NAME.contains_key(name) || matches!(name, "request_cpus" | "request_memory" | "request_disk" | "request_gpus")
}

/// Returns true if a name (lower case) may be a command, or an attribute that commands are also known by.
pub(super) fn is_command(name: &str) -> bool {
    const FAMILIES: [&str; 12] = [
        "request_",
        "ec2_",
        "gce_",
        "azure_",
        "aws_",
        "arc_",
        "vm_",
        "batch_",
        "grid_",
        "keystore_",
        "tool_daemon_",
        "my_",
    ];
    BY_NAME.contains_key(name)
        || command_of_other(name).is_some()
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || !name.contains('_') && is_of_universe(name)
        // Tokens of any service: `box_oauth_permissions_work`.
        || name.contains("_oauth_permissions")
        || name.contains("_oauth_options")
        || name.contains("_oauth_resource")
}

/// Returns true if a name (lower case) without underscores may be the attribute of a command that only some universes have.
fn is_of_universe(name: &str) -> bool {
    const STARTS: [&str; 12] =
        ["ec2", "gce", "azure", "arc", "aws", "vm", "jobvm", "grid", "batch", "docker", "container", "x509"];
    SQUEEZED.get(name) == Some(&true) || STARTS.iter().any(|start| name.starts_with(start))
}

/// The command that a name (lower case) probably misspells. Resources can have any name, so a `request_` name must lack
/// a letter, have one too many, or have letters swapped.
pub(super) fn misspelled_command(name: &str) -> Option<&'static str> {
    if name.len() < 6
        || BY_NAME.contains_key(name)
        || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        return None;
    }
    // Many commands are also known by the name of their attribute: `JobBatchName`.
    if command_of_other(name).is_some() || SQUEEZED.contains_key(name) {
        return None;
    }
    if let Some(resource) = name.strip_prefix("request_") {
        // Shorter and other words for the resources that all slots have, and a time, which no slot has.
        const WORDS: [(&str, &[&str]); 5] = [
            ("request_memory", &["mem", "ram", "memory_mb", "memory_gb", "mem_mb", "mem_gb", "rss"]),
            ("request_cpus", &["core", "cores", "ncpus", "ncores", "num_cpus", "cpu_cores", "processors"]),
            ("request_disk", &["disk_space", "diskspace", "hdd"]),
            ("request_gpus", &["ngpus", "num_gpus"]),
            ("allowed_execute_duration", &["runtime", "run_time", "time", "walltime", "wall_time"]),
        ];
        if let Some((meant, _)) = WORDS.iter().find(|(_, words)| words.contains(&resource)) {
            return Some(meant);
        }
        if resource == "gpu_memory" {
            return Some("gpus_minimum_memory");
        }
        let known = near::closest_within(1, name.as_bytes(), COMMANDS.iter().copied())?;
        let sorted = |name: &str| {
            let mut letters = name.as_bytes().to_vec();
            letters.sort_unstable();
            letters
        };
        let other = known.strip_prefix("request_")?;
        return (resource.len() != other.len() || sorted(resource) == sorted(other)).then_some(known);
    }
    let allowed = if name.len() < 10 { 1 } else { 2 };
    near::closest_within(allowed, name.as_bytes(), COMMANDS.iter().copied().filter(|known| known.len() >= 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_known_and_names_of_their_own_are_not() {
        for (name, known) in [
            ("requirments", "requirements"),
            ("request_cpu", "request_cpus"),
            ("reqest_memory", "request_memory"),
            ("request_memroy", "request_memory"),
            ("excutable", "executable"),
            ("transfer_input_file", "transfer_input_files"),
        ] {
            assert_eq!(misspelled_command(name), Some(known), "{name}");
        }
        for name in [
            "requirements",
            "request_fpus",
            "request_mgpus_x",
            "my_input",
            "inputs2",
            "dir",
            "infile",
            "rank",
            "jobbatchname",
            "initial_dir",
        ] {
            assert_eq!(misspelled_command(name), None, "{name}");
        }
    }

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted() && COMMANDS.contains(&"requirements"));
    }
}
