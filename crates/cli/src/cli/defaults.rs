//! `classmate.toml`: the default pool, the versions of HTCondor, and default options.
//!
//! It is searched in the working directory and those above it, then in the configuration directory of the user. Its options are
//! put before those of the command line, and those that are given there are left out.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use toml::{Table, Value};

use crate::cli::help::{in_short, misused};
use crate::cli::version::REFERENCE;
use crate::cli::{Failure, language};
use classmate::internal::span::Position;

/// The name of the file.
const NAME: &str = "classmate.toml";

/// Options that a file must not set: they run programs, write files, or do not end. The same holds for all under the heading [`CHANGES`].
const REFUSED: [&str; 10] =
    ["allow-commands", "commit", "fix", "job-times", "junit", "open", "output", "report", "unsafe-fixes", "watch"];
const CHANGES: &str = "Changes";

/// The defaults of a file.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    path: PathBuf,
    pool: Option<PathBuf>,
    /// The version of the language.
    semantics: Option<String>,
    /// Options of all subcommands that have them.
    options: Table,
    /// Options of one subcommand.
    commands: Table,
    /// The lines of keys, by table and key; those of tables by their name alone.
    lines: HashMap<(String, String), u64>,
}

/// An option of a file.
struct DefaultOption {
    /// The table that has it.
    table: String,
    name: String,
    /// As on the command line.
    spelled: Vec<OsString>,
}

/// Reads the file, if there is one.
pub(super) fn read() -> Result<Defaults, Failure> {
    let Some(path) = found() else { return Ok(Defaults::default()) };
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::reading(path.display(), &error))?;
    Defaults::parse(path, &text)
}

/// The file that applies here.
fn found() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let above = here.iter().flat_map(|here| here.ancestors()).map(|directory| directory.join(NAME));
    let user = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = user.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".config")));
    above.chain(user.map(|directory| directory.join("classmate").join(NAME))).find(|path| path.is_file())
}

impl Defaults {
    fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        let lines = lines_of(text);
        let wrong = |table: &str, key: &str, message: String| mistake(&path, line_in(&lines, table, key), &message);
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map(|span| span.start.min(text.len()));
            let line = start.map(|start| Position::of(text.as_bytes(), start).line);
            mistake(&path, line, error.message())
        })?;
        let mut text = |name: &str| match table.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong("", name, format!("`{name}` is {}: expected a string", kind_of(&other)))),
        };
        let pool = text("pool")?.map(|pool| path.parent().unwrap_or(Path::new("")).join(pool));
        if let Some(reference) = text("reference")?.filter(|reference| reference != REFERENCE) {
            let message = format!("`reference` is HTCondor {reference}, but this program follows {REFERENCE}");
            return Err(wrong("", "reference", message)
                .help("use the version of classmate that follows it, or change `reference`"));
        }
        let semantics = text("semantics")?;
        if let Some(Err(problem)) = semantics.as_deref().map(language::parse_semantics) {
            let (message, help) = problem.split_once('\n').unwrap_or((&problem, ""));
            return Err(wrong("", "semantics", format!("`semantics`: {message}")).help(help));
        }
        let options = match table.remove("options") {
            None => Table::new(),
            Some(Value::Table(options)) => options,
            Some(_) => return Err(wrong("", "options", "`options` is not a table".to_owned())),
        };
        let of_commands = table.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_table()?)));
        for (table, name) in of_commands
            .chain([("options", &options)])
            .flat_map(|(table, options)| options.keys().map(move |name| (table, name)))
        {
            if REFUSED.contains(&name.as_str()) {
                return Err(wrong(table, name, format!("`{table}.{name}` can only be given on the command line")));
            }
        }
        Ok(Defaults { pool, semantics, options, commands: table, lines, path })
    }

    /// Parses arguments after the defaults.
    pub(super) fn matches(&self, command: &Command, arguments: &[OsString]) -> Result<ArgMatches, Failure> {
        let parse = |arguments: &[OsString]| command.clone().try_get_matches_from(arguments);
        self.check(command)?;
        let Some(place) = subcommand_place(arguments) else {
            return parse(arguments).map_err(|error| misused(&error));
        };
        let subcommand = command.find_subcommand(&arguments[place]);
        let mut options = self.general_options(command, arguments)?;
        options
            .extend(subcommand.map(|one| self.options_of(one, &arguments[place..])).transpose()?.into_iter().flatten());
        if let Some(semantics) = self.semantics.as_ref().filter(|_| !language::is_given(arguments)) {
            let spelled = vec![format!("--semantics={semantics}").into()];
            options.push(DefaultOption { table: String::new(), name: "semantics".to_owned(), spelled });
        }
        let takes_pool =
            subcommand.is_some_and(|one| one.get_positionals().any(|argument| argument.get_id() == "pool"));
        let pool = self.pool.as_ref().filter(|_| takes_pool);
        let parse_with = |options: &mut dyn Iterator<Item = &DefaultOption>| {
            let (before, after) = arguments.split_at(place + 1);
            let spelled: Vec<OsString> = options.flat_map(|option| option.spelled.iter().cloned()).collect();
            let mut whole = [before, &spelled, after].concat();
            match (parse(&whole), pool) {
                (Err(error), Some(pool)) if error.kind() == ErrorKind::MissingRequiredArgument => {
                    whole.insert(place + 1, pool.into());
                    parse(&whole)
                }
                (result, _) => result,
            }
        };
        let error = match parse_with(&mut options.iter()) {
            Ok(matches) => return Ok(matches),
            Err(error) => error,
        };
        if let Some(option) = options.iter().find(|option| option.is_in(&error)) {
            let (message, tips) = in_short(&error);
            let failure = self.wrong(&option.table, &option.name, &message);
            return Err(if tips.is_empty() { failure } else { failure.help(&tips) });
        }
        // An option of the file that excludes what is given, or needs what is not, gives way.
        if matches!(error.kind(), ErrorKind::ArgumentConflict | ErrorKind::MissingRequiredArgument) {
            let without = |at: usize| options.iter().enumerate().filter(move |(one, _)| *one != at).map(|(_, one)| one);
            let parsed = (0..options.len()).find_map(|at| parse_with(&mut without(at)).ok());
            if let Some(matches) = parsed.or_else(|| parse_with(&mut std::iter::empty()).ok()) {
                return Ok(matches);
            }
        }
        Err(misused(&error))
    }

    /// Fails if a key is unknown: a table that is not named like a subcommand, or an option that no subcommand has.
    fn check(&self, command: &Command) -> Result<(), Failure> {
        if let Some((name, value)) = self.commands.iter().find(|(name, _)| command.find_subcommand(name).is_none()) {
            let kind = if value.is_table() { "not a subcommand" } else { "an unknown key" };
            return Err(self.wrong("", name, &format!("`{name}` is {kind}")).help(
                "expected `pool`, `reference`, `semantics`, `[options]`, or the name of a subcommand in brackets",
            ));
        }
        match self.options.keys().find(|name| !has_option(command, name)) {
            Some(name) => Err(self.wrong("options", name, &format!("no subcommand has the option `--{name}`"))),
            None => Ok(()),
        }
    }

    /// The failure of a key of a table.
    fn wrong(&self, table: &str, key: &str, message: &str) -> Failure {
        mistake(&self.path, line_in(&self.lines, table, key), message)
    }

    /// The options of the command itself that are not given.
    fn general_options(&self, command: &Command, given: &[OsString]) -> Result<Vec<DefaultOption>, Failure> {
        let own = |name: &str| command.get_arguments().any(|one| names(one).iter().any(|own| own == name));
        let is_given = |name: &str| {
            let flag = format!("--{name}");
            let is_it = |one: &OsString| one.to_str().is_some_and(|one| one.split('=').next() == Some(flag.as_str()));
            given.iter().any(is_it)
        };
        let wanted = self.options.iter().filter(|(name, _)| own(name) && !is_given(name));
        wanted.map(|(name, value)| self.option("options", name, value)).collect()
    }

    /// The options of a subcommand that are not given.
    fn options_of(&self, subcommand: &Command, given: &[OsString]) -> Result<Vec<DefaultOption>, Failure> {
        let (command, none) = (subcommand.get_name(), Table::new());
        let own = match self.commands.get(command) {
            None => &none,
            Some(Value::Table(own)) => own,
            Some(_) => return Err(self.wrong("", command, &format!("`{command}` is not a table"))),
        };
        // A key is in the table of the subcommand, or in that of all of them.
        let table = |name: &str| if own.contains_key(name) { command } else { "options" };
        let option =
            |name: &str| subcommand.get_arguments().find(|argument| names(argument).iter().any(|own| own == name));
        // Under any of its names.
        let is_given = |name: &str| {
            let flags: Vec<String> = option(name).iter().flat_map(|found| names(found)).collect();
            let is_flag = |one: &str| {
                let flag = one.strip_prefix("--").map(|rest| rest.split_once('=').map_or(rest, |(flag, _)| flag));
                flag.is_some_and(|flag| flags.iter().any(|own| own == flag))
            };
            given.iter().any(|one| one.to_str().is_some_and(is_flag))
        };
        let has = |name: &str| option(name).is_some();
        let changes = |name: &&String| option(name).is_some_and(|found| found.get_help_heading() == Some(CHANGES));
        if let Some(name) = own.keys().chain(self.options.keys()).find(changes) {
            return Err(self.wrong(table(name), name, &format!("`{name}` can only be given on the command line")));
        }
        if let Some(name) = own.keys().find(|name| !has(name)) {
            let message = format!("`classmate {command}` does not have the option `--{name}`");
            return Err(self.wrong(command, name, &message));
        }
        let general = self.options.iter().filter(|(name, _)| has(name) && !own.contains_key(*name));
        let wanted = general.chain(own).filter(|(name, _)| !is_given(name));
        wanted.map(|(name, value)| self.option(table(name), name, value)).collect()
    }

    /// An option of a table.
    fn option(&self, table: &str, name: &str, value: &Value) -> Result<DefaultOption, Failure> {
        let spelled = spelled(name, value).map_err(|message| self.wrong(table, name, &message))?;
        Ok(DefaultOption { table: table.to_owned(), name: name.to_owned(), spelled })
    }
}

impl DefaultOption {
    /// Tests whether an error is about its value.
    fn is_in(&self, error: &clap::Error) -> bool {
        let is_of_value = matches!(
            error.kind(),
            ErrorKind::InvalidValue
                | ErrorKind::ValueValidation
                | ErrorKind::NoEquals
                | ErrorKind::TooFewValues
                | ErrorKind::TooManyValues
                | ErrorKind::WrongNumberOfValues
        );
        let flag = format!("--{}", self.name);
        let is_it = |argument: &ContextValue| match argument {
            ContextValue::String(text) => text.split([' ', '=']).next() == Some(flag.as_str()),
            _ => false,
        };
        is_of_value && error.get(ContextKind::InvalidArg).is_some_and(is_it)
    }
}

/// Tests whether a command or one of its subcommands has an option.
fn has_option(command: &Command, name: &str) -> bool {
    let own = command.get_arguments().any(|option| names(option).iter().any(|own| own == name));
    own || command.get_subcommands().any(|one| has_option(one, name))
}

/// The long names of an option.
fn names(argument: &clap::Arg) -> Vec<String> {
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    argument.get_long().into_iter().chain(aliases).map(str::to_owned).collect()
}

/// The failure of a file, at one of its lines if it is known.
fn mistake(path: &Path, line: Option<u64>, message: &str) -> Failure {
    let path = path.display();
    Failure::input(match line {
        Some(line) => format!("{path}:{line}: {message}"),
        None => format!("`{path}`: {message}"),
    })
}

/// The line of a key of a table.
fn line_in(lines: &HashMap<(String, String), u64>, table: &str, key: &str) -> Option<u64> {
    lines.get(&(table.to_owned(), key.to_owned())).copied()
}

/// The lines of the keys that begin one, by table and key.
fn lines_of(text: &str) -> HashMap<(String, String), u64> {
    let (mut table, mut lines) = (String::new(), HashMap::new());
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let bare = |name: &str| name.trim().trim_matches(['"', '\'']).to_owned();
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            table = bare(name);
            lines.entry((String::new(), table.clone())).or_insert(number);
        } else if let Some((name, _)) = line.split_once('=') {
            lines.entry((table.clone(), bare(name))).or_insert(number);
        }
    }
    lines
}

/// An option with its values, one for each element of an array, as on the command line.
pub(super) fn spelled(name: &str, value: &Value) -> Result<Vec<OsString>, String> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let one = |value: &Value| match value {
        Value::Boolean(true) => Ok(Some(format!("--{name}").into())),
        Value::Boolean(false) => Ok(None),
        Value::String(text) => Ok(Some(format!("--{name}={text}").into())),
        Value::Integer(number) => Ok(Some(format!("--{name}={number}").into())),
        Value::Float(number) => Ok(Some(format!("--{name}={number}").into())),
        other => Err(format!("`{name}` is {}: expected a value", kind_of(other))),
    };
    values.iter().map(one).filter_map(Result::transpose).collect()
}

/// The type of a value with its article.
fn kind_of(value: &Value) -> String {
    let name = value.type_str();
    format!("{} {name}", if name.starts_with(['a', 'i']) { "an" } else { "a" })
}

/// The place of the subcommand among the arguments.
fn subcommand_place(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        let text = argument.to_str().unwrap_or_default();
        match text {
            "--color" | "--semantics" => at += 2,
            option if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(file: &str, line: &str) -> Result<ArgMatches, String> {
        let pool = clap::Arg::new("pool").required(true);
        let option = |name: &'static str| clap::Arg::new(name).long(name);
        let format = option("format").value_parser(["text", "json"]);
        let slot = option("slot").conflicts_with("job").requires("format");
        let explain = Command::new("explain").arg(pool).args([option("job"), format, slot]);
        let command = Command::new("classmate").arg(option("color").global(true)).subcommand(explain);
        let defaults = Defaults::parse("/etc/classmate.toml".into(), file).map_err(|failure| failure.shown())?;
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        defaults.matches(&command, &arguments).map_err(|failure| failure.shown())
    }

    fn shown(file: &str, line: &str) -> Result<String, String> {
        let matches = parsed(file, line)?;
        let (_, matches) = matches.subcommand().ok_or("no subcommand")?;
        let value = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        Ok([value("pool"), value("job"), value("format")].join(" "))
    }

    #[test]
    fn options_of_all_commands_are_set_and_given_ones_come_first() {
        let color = |line: &str| {
            let matches = parsed("pool = 'pool'\n[options]\ncolor = 'never'", line).unwrap();
            matches.get_one::<String>("color").cloned().unwrap_or_default()
        };
        assert_eq!(color("classmate explain x"), "never");
        assert_eq!(color("classmate explain"), "never");
        assert_eq!(color("classmate --color always explain"), "always");
        assert_eq!(color("classmate --color=always explain x"), "always");
        assert_eq!(color("classmate explain x --color auto"), "auto");
    }

    #[test]
    fn the_command_line_comes_first() {
        let file = "pool = 'pool'\n[options]\nformat = 'json'\n[explain]\njob = '2.0'\n";
        assert_eq!(shown(file, "classmate explain"), Ok("/etc/pool 2.0 json".to_owned()));
        assert_eq!(shown(file, "classmate --color never explain x --job=1.0"), Ok("x 1.0 json".to_owned()));
        assert_eq!(shown("", "classmate explain x"), Ok("x  ".to_owned()));
        assert_eq!(shown("[options]\ncolor = 'never'", "classmate explain x"), Ok("x  ".to_owned()));
    }

    #[test]
    fn an_option_that_does_not_fit_the_command_line_gives_way() {
        let slot = |file: &str, line: &str| {
            let matches = parsed(file, line)?;
            let (_, matches) = matches.subcommand().ok_or("no subcommand")?;
            let value = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
            Ok::<_, String>([value("job"), value("slot"), value("format")].join(" "))
        };
        let file = "[explain]\nslot = 'm01'\nformat = 'json'\n";
        assert_eq!(slot(file, "classmate explain x"), Ok(" m01 json".to_owned()));
        assert_eq!(slot(file, "classmate explain x --job 1.0"), Ok("1.0  json".to_owned()));
        // It needs another option.
        assert_eq!(slot("[explain]\nslot = 'm01'\n", "classmate explain x"), Ok("  ".to_owned()));
    }

    #[test]
    fn mistakes_name_the_file() {
        for (file, message) in [
            ("# x\npool = 1", "/etc/classmate.toml:2: `pool` is an integer: expected a string"),
            ("reference = '9.0.0'", "/etc/classmate.toml:1: `reference` is HTCondor 9.0.0, but this program follows"),
            (
                "semantics = '9.0'",
                "/etc/classmate.toml:1: `semantics`: the semantics of HTCondor 9.0 were not measured",
            ),
            ("[explain]\njobs = 1", "/etc/classmate.toml:2: `classmate explain` does not have the option `--jobs`"),
            ("[explain]\njob = {}", "/etc/classmate.toml:2: `job` is a table: expected a value"),
            ("[options]\njob = [{}]", "/etc/classmate.toml:2: `job` is a table: expected a value"),
            (
                "[options]\nallow-commands = true",
                "/etc/classmate.toml:2: `options.allow-commands` can only be given on the command line",
            ),
            ("pool = 'x'\n\n[explain", "/etc/classmate.toml:3: "),
            ("# defaults\npol = 'x'", "/etc/classmate.toml:2: `pol` is an unknown key"),
            ("pool = 'x'\n[explian]\njob = '1.0'", "/etc/classmate.toml:2: `explian` is not a subcommand"),
            ("[explain]\n\nformat = 'xml'", "/etc/classmate.toml:3: invalid value 'xml' for '--format <format>'"),
            ("[options]\nformat = 'json'\nbogus = 3", "/etc/classmate.toml:3: no subcommand has the option `--bogus`"),
        ] {
            let failure = shown(file, "classmate explain x").unwrap_err();
            assert!(failure.contains(message), "{failure}");
        }
    }
}
