//! Help: the subcommands in groups, and the options of a scheduling policy only where it is chosen.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use clap::{Command, ValueEnum};

use crate::cli::output::messages_are_json;
use crate::cli::{ColorChoice, Failure, complain, print, text_output};
use crate::report::Color;
use crate::report::escape::own;

/// The subcommands by what they are for. Those that are in no group are listed last.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Negotiation cycles",
        &[
            "snapshot",
            "negotiate",
            "verify",
            "explain",
            "whatif",
            "advise",
            "diff",
            "report",
            "quotas",
            "userprio",
            "autoclusters",
        ],
    ),
    ("Live pools", &["top", "export", "shadow"]),
    ("ClassAds", &["eval", "match", "ads", "repl", "functions"]),
    ("Policies and configuration", &["config", "lint", "fmt", "test", "policy", "versions"]),
    ("Slurm and DIRAC", &["sprio", "sshare", "taskqueues"]),
    ("Simulation", &["simulate", "compare", "experiment", "generate"]),
    ("Setup", &["completions", "man", "conform"]),
];

/// The headings of the options of a policy, and the word that chooses it.
const POLICIES: [(&str, &str); 2] = [("Slurm", "slurm"), ("DIRAC", "dirac")];

/// The command with its help arranged; the arguments name the policy that is chosen.
pub(super) fn arranged(command: Command, arguments: &[OsString]) -> Command {
    let list = listed(&command);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}{{after-help}}");
    let is_chosen = |policy: &str| {
        let words = || arguments.iter().filter_map(|argument| argument.to_str());
        let next = words().zip(words().skip(1)).any(|(flag, value)| flag.starts_with("--policy") && value == policy);
        next || words().any(|word| word.strip_prefix("--policy=") == Some(policy))
    };
    command.help_template(template).mut_subcommands(|subcommand| {
        if !subcommand.get_arguments().any(|argument| argument.get_id() == "policy") {
            return subcommand;
        }
        subcommand.mut_args(|argument| {
            let heading = argument.get_help_heading();
            let policy = POLICIES.iter().find(|(name, _)| heading == Some(*name));
            let is_hidden = policy.is_some_and(|(_, policy)| !is_chosen(policy));
            if is_hidden { argument.hide(true) } else { argument }
        })
    })
}

/// The subcommands with what they do, in groups.
fn listed(command: &Command) -> String {
    let visible = || command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others: Vec<&str> = visible().filter(|name| !is_grouped(name)).collect();
    let width = visible().map(str::len).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS.into_iter().chain([("Other", others.as_slice())]) {
        let found: Vec<&Command> = names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        if found.is_empty() {
            continue;
        }
        text.push_str(&format!("{heading}:\n"));
        for subcommand in found {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {:width$}  {}\n", subcommand.get_name(), about.trim_end_matches('.')));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The failure of arguments that cannot be parsed; help and the version are printed, and end the process.
pub(super) fn misused(error: &clap::Error) -> Failure {
    if !error.use_stderr() {
        let text = rendered(error, std::io::stdout().is_terminal());
        return match print(text_output(), |out| out.write_all(text.as_bytes())) {
            Ok(()) => std::process::exit(error.exit_code()),
            Err(failure) => failure,
        };
    }
    if !messages_are_json() {
        complain(rendered(error, std::io::stderr().is_terminal()).trim_end());
        std::process::exit(error.exit_code());
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(|one| one.trim_end().lines().map(str::trim).collect::<Vec<_>>());
    // Lines behind the first one name arguments or values: `…: <POOL>, <--job <ID>>`.
    let first = paragraphs.next().unwrap_or_default();
    let (line, names) = first.split_first().unwrap_or((&"", &[]));
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let message = if names.is_empty() { line.to_owned() } else { format!("{line} {}", names.join(", ")) };
    let tips: Vec<&str> = paragraphs.flatten().filter_map(|line| line.strip_prefix("tip: ")).collect();
    let failure = Failure::input(message);
    if tips.is_empty() { failure } else { failure.help(&tips.join("; ")) }
}

/// The text of an error or a help in the colors that are asked for, on a terminal or not.
fn rendered(error: &clap::Error, terminal: bool) -> String {
    let arguments: Vec<String> = std::env::args_os().map(|one| one.to_string_lossy().into_owned()).collect();
    let text = error.render();
    // What the text repeats of the arguments must not be taken for colors.
    let is_plain = arguments.iter().any(|argument| argument.contains('\u{1b}'));
    match color_of(&arguments).for_stream(terminal) {
        Color::On if !is_plain => own(&text.ansi().to_string()),
        _ => text.to_string(),
    }
}

/// The value of `--color` in arguments that cannot be parsed.
fn color_of(arguments: &[String]) -> ColorChoice {
    let next = arguments.iter().zip(arguments.iter().skip(1)).filter(|(flag, _)| *flag == "--color");
    let values =
        next.map(|(_, value)| value.as_str()).chain(arguments.iter().filter_map(|one| one.strip_prefix("--color=")));
    values.filter_map(|value| ColorChoice::from_str(value, false).ok()).next_back().unwrap_or(ColorChoice::Auto)
}
