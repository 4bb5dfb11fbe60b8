//! Help: the subcommands in groups, and the options of a scheduling policy only where it is chosen.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use clap::{Command, ValueEnum};

use crate::cli::output::{line_output, messages_are_json, print, text_output};
use crate::cli::{ColorChoice, Failure, complain};
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

/// The command with its help arranged for a width; the arguments name the policy that is chosen.
pub(super) fn arranged(command: Command, arguments: &[OsString], width: usize) -> Command {
    let list = laid_out(&listed(&command), width);
    let end = end(&command, width);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}\n\n{end}");
    let is_chosen = |policy: &str| {
        let words = || arguments.iter().filter_map(|argument| argument.to_str());
        let next = words().zip(words().skip(1)).any(|(flag, value)| flag.starts_with("--policy") && value == policy);
        next || words().any(|word| word.strip_prefix("--policy=") == Some(policy))
    };
    command.term_width(width).help_template(template).mut_subcommands(|subcommand| {
        // `--seed -1` is a value out of range, not another option.
        let subcommand = with_end(subcommand, width).mut_args(|argument| {
            let is_option = argument.get_long().is_some() && argument.get_action().takes_values();
            if is_option { argument.allow_negative_numbers(true) } else { argument }
        });
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

/// A command and its subcommands, with the end of their help laid out.
fn with_end(command: Command, width: usize) -> Command {
    let end = end(&command, width);
    let start = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}";
    let command = if end.is_empty() { command } else { command.help_template(format!("{start}\n\n{end}")) };
    command.mut_subcommands(|subcommand| with_end(subcommand, width))
}

/// The end of the help of a command: legends, examples and its exit status.
fn end(command: &Command, width: usize) -> String {
    laid_out(&command.get_after_help().map(ToString::to_string).unwrap_or_default(), width)
}

/// Returns whether a line of a help is an example, which stays a line so that it can be typed as it is printed.
fn is_example(line: &str) -> bool {
    line.starts_with("  ") && !line.starts_with("   ") && line.contains("classmate ")
}

/// A text in a width: a line of a legend goes on under its second column, and examples stay whole.
fn laid_out(text: &str, width: usize) -> String {
    let has_columns = |line: &str| line.starts_with("  ") && line.trim_start().contains("  ");
    // A line that begins further in belongs to the text before it, if there is one.
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut() {
            Some(last) if line.starts_with("     ") && has_columns(last) => {
                *last = format!("{last} {}", line.trim_start());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    let laid_out = lines.iter().map(|line| {
        if is_example(line) {
            return format!("{line}\n");
        }
        let leading = line.len() - line.trim_start().len();
        let gap = line[leading..].find("  ").filter(|_| leading > 0).map_or(0, |gap| leading + gap);
        let second = gap + line[gap..].len() - line[gap..].trim_start().len();
        let (first, rest) = line.split_at(second);
        let (mut text, mut column) = (first.to_owned(), first.chars().count());
        for word in rest.split(' ') {
            let length = word.chars().count();
            if column > second && column + 1 + length > width {
                text.push('\n');
                text.push_str(&" ".repeat(second));
                column = second;
            } else if column > second {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column += length;
        }
        text + "\n"
    });
    laid_out.collect()
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
        return match print_help(&text) {
            Ok(()) => std::process::exit(error.exit_code()),
            Err(failure) => failure,
        };
    }
    if !messages_are_json() {
        complain(rendered(error, std::io::stderr().is_terminal()).trim_end());
        std::process::exit(error.exit_code());
    }
    let (message, tips) = in_short(error);
    let failure = Failure::input(message);
    if tips.is_empty() { failure } else { failure.help(&tips) }
}

/// The message of an error in one line, and its tips.
pub(super) fn in_short(error: &clap::Error) -> (String, String) {
    let text = in_plain_words(error, error.render().to_string());
    let mut paragraphs = text.split("\n\n").map(|one| one.trim_end().lines().map(str::trim).collect::<Vec<_>>());
    // Lines after the first one name arguments or values: `…: <POOL>, <--job <ID>>`.
    let first = paragraphs.next().unwrap_or_default();
    let (line, names) = first.split_first().unwrap_or((&"", &[]));
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let message = if names.is_empty() { line.to_owned() } else { format!("{line} {}", names.join(", ")) };
    let tips: Vec<&str> = paragraphs.flatten().filter_map(|line| line.strip_prefix("tip: ")).collect();
    (message, tips.join("; "))
}

/// Prints a help, folded to the width of the terminal but for its examples.
fn print_help(text: &str) -> Result<(), Failure> {
    text.split_inclusive('\n').try_for_each(|line| {
        let out = if is_example(line) { line_output() } else { text_output() };
        print(out, |out| out.write_all(line.as_bytes()))
    })
}

/// The kind of value that was expected, in place of the texts of the library of numbers.
fn expectation(reason: &str) -> Option<String> {
    match reason {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            return Some("expected a whole number".to_owned());
        }
        "invalid float literal" | "cannot parse float from empty string" => {
            return Some("expected a number".to_owned());
        }
        "number too large to fit in target type" => return Some("the number is too large".to_owned()),
        "number too small to fit in target type" => return Some("the number is too small".to_owned()),
        _ => {}
    }
    let (given, range) = reason.rsplit_once(" is not in ")?;
    let (low, high) = range.split_once("..")?;
    let [given, low, high] = [given, low, high.trim_start_matches('=')].map(|number| number.parse::<i128>().ok());
    let (given, low, high) = (given?, low?, high?);
    let is_open =
        [i128::from(u16::MAX), i128::from(u32::MAX), i128::from(i64::MAX), i128::from(u64::MAX)].contains(&high);
    Some(if is_open && given < low {
        format!("expected a whole number of {low} or more")
    } else {
        format!("expected a whole number from {low} to {high}")
    })
}

/// The text of an error in plain words.
fn in_plain_words(error: &clap::Error, text: String) -> String {
    let reason = std::error::Error::source(error).map(ToString::to_string);
    let words = reason.as_deref().and_then(|reason| Some((reason, expectation(reason)?)));
    match words.and_then(|(reason, plain)| Some((text.rfind(reason)?, reason, plain))) {
        Some((at, reason, plain)) => format!("{}{plain}{}", &text[..at], &text[at + reason.len()..]),
        None => text,
    }
}

/// The text of an error or a help in the colors that are asked for, on a terminal or not.
fn rendered(error: &clap::Error, terminal: bool) -> String {
    let arguments: Vec<String> = std::env::args_os().map(|one| one.to_string_lossy().into_owned()).collect();
    let text = error.render();
    // What the text repeats of the arguments must not be taken for colors.
    let is_plain = arguments.iter().any(|argument| argument.contains('\u{1b}'));
    match color_of(&arguments).for_stream(terminal) {
        Color::On if !is_plain => own(&in_plain_words(error, text.ansi().to_string())),
        _ => in_plain_words(error, text.to_string()),
    }
}

/// The value of `--color` in arguments that cannot be parsed.
fn color_of(arguments: &[String]) -> ColorChoice {
    let next = arguments.iter().zip(arguments.iter().skip(1)).filter(|(flag, _)| *flag == "--color");
    let values =
        next.map(|(_, value)| value.as_str()).chain(arguments.iter().filter_map(|one| one.strip_prefix("--color=")));
    values.filter_map(|value| ColorChoice::from_str(value, false).ok()).next_back().unwrap_or(ColorChoice::Auto)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_go_on_under_their_texts_and_examples_stay_whole() {
        let text = "Columns:\n  IN USE  number of slots that are\n          in use now\n  A, B\n          both\n\nExamples:\n  classmate eval 'one + two + three'\n\nA sentence that is long.";
        let expected = "Columns:\n  IN USE  number of slots\n          that are in use\n          now\n  A, B\n          both\n\nExamples:\n  classmate eval 'one + two + three'\n\nA sentence that is long.\n";
        assert_eq!(laid_out(text, 25), expected);
        assert_eq!(laid_out("A sentence that is long.", 12), "A sentence\nthat is\nlong.\n");
    }

    #[test]
    fn ranges_of_numbers_are_in_plain_words() {
        let plain = |reason: &str| expectation(reason).unwrap();
        assert_eq!(plain("0 is not in 1..=256"), "expected a whole number from 1 to 256");
        assert_eq!(plain("0 is not in 1..=4294967295"), "expected a whole number of 1 or more");
        assert_eq!(plain("-5 is not in 1..=9223372036854775807"), "expected a whole number of 1 or more");
        assert_eq!(plain("5000000000 is not in 1..=4294967295"), "expected a whole number from 1 to 4294967295");
        assert_eq!(plain(&"abc".parse::<u32>().unwrap_err().to_string()), "expected a whole number");
        assert_eq!(plain(&"x".parse::<f64>().unwrap_err().to_string()), "expected a number");
        assert_eq!(plain(&"99999".parse::<u16>().unwrap_err().to_string()), "the number is too large");
        assert_eq!(expectation("expected `all` or a number"), None);
    }
}
