//! The commands of a session: lines that begin with a colon.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::cli::library::newer;
use crate::repl::{HelpPage, Output, Session, ads, expression, slots};
use crate::report::{functions, printable, shortened};
use classmate::internal::builtin::near::{allowance, distance};
use classmate::internal::eval::walk::AdSide;
use classmate::internal::syntax::time::{parse_instant, write_abs};
use classmate::{AbsTime, Mode};

type Run = fn(&mut Session, CommandInput<'_>) -> Vec<Output>;

struct ReplCommand {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    more: &'static str,
    run: Run,
}

/// The argument of a command.
#[derive(Clone, Copy)]
pub(super) struct CommandInput<'l> {
    /// The whole line.
    pub(super) line: &'l [u8],
    /// The offset of the argument.
    pub(super) begins: usize,
}

impl CommandInput<'_> {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.line[self.begins..]).trim().to_owned()
    }
}

/// A command without further help.
const fn command(name: &'static str, arguments: &'static str, about: &'static str, run: Run) -> ReplCommand {
    ReplCommand { name, arguments, about, more: "", run }
}

impl ReplCommand {
    /// Adds sentences to the help of the command.
    const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }
}

const COMMANDS: &[ReplCommand] = &[
    command("help", "[COMMAND|FUNCTION]", "List the commands, or describe a command or a function", help),
    command("load", "my|target|slots FILE [N]", "Read MY, TARGET or slots from a file", ads::load)
        .more("Reads the first ad of the file, or the Nth; of slots all. Each expression is then evaluated in every slot."),
    command("who", "[VALUE|EXPRESSION]", "List the slots in which the last expression is true", slots::who)
        .more("With VALUE, those in which it has this value, such as `false` or `undefined`; with EXPRESSION, those in which that is true."),
    command("use", "NAME", "Make a slot TARGET", slots::choose).more("Part of its name is enough if no other slot has it."),
    command("save", "[my|target] FILE", "Write MY or TARGET to a file, one attribute per line", ads::save),
    command("my", "[TEXT]", "Show MY", |session, input| ads::show(session, AdSide::My, input))
        .more("With TEXT, shows only attributes with TEXT in their name. `NAME = expression` defines an attribute."),
    command("target", "[TEXT]", "Show TARGET, the other ad of the match", |session, input| {
        ads::show(session, AdSide::Target, input)
    })
    .more("With TEXT, shows only attributes with TEXT in their name. `TARGET.NAME = expression` defines an attribute."),
    command("unset", "NAME", "Remove an attribute of MY, or of TARGET as TARGET.NAME", ads::unset),
    command("match", "", "Match MY with TARGET, and show failing clauses", ads::match_ads)
        .more("Clauses are the operands of `&&` in Requirements and in the attributes it refers to."),
    command("trace", "EXPRESSION", "Show the value of each part of an expression", expression::trace_expression)
        .more("References are followed. Parts that do not affect the value are not evaluated."),
    command("ast", "EXPRESSION", "Show the syntax tree of an expression", expression::ast),
    command("refs", "EXPRESSION", "Show the attributes that an expression refers to", expression::refs)
        .more("External references are not defined in MY."),
    command("flatten", "EXPRESSION", "Simplify an expression with the values of MY", expression::flatten_expression),
    command("type", "EXPRESSION", "Show the type of a value", expression::type_of),
    command("time", "EXPRESSION", "Measure the evaluation time of an expression", expression::time)
        .more("Evaluates the expression repeatedly for up to 0.3 seconds."),
    command("strict", "[on|off]", "Evaluate as with STRICT_CLASSAD_EVALUATION", strict)
        .more("Without an argument, shows the mode."),
    command("semantics", "[SERIES]", "Evaluate as another version of HTCondor does", semantics)
        .more("SERIES is such as 23.0 or `latest`. Without an argument, shows it. Attributes keep the meaning they had when they were defined."),
    command("now", "[TIME|wall]", "Set the result of time()", now)
        .more("TIME is seconds since 1970 or a date such as 2026-07-05T12:00:00Z; `wall` restores the system clock."),
    command("functions", "[NAME]", "List the functions, or describe one", list_functions),
    command("quit", "", "Leave", quit).more("So do Ctrl-D, and `exit` or `quit` without a colon."),
];

/// The names of the commands, without colon.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// The command that a line without a colon probably means: its name, or a word for it in other programs.
pub(super) fn meant(line: &[u8]) -> Option<&'static str> {
    let word = std::str::from_utf8(line.trim_ascii()).ok()?.to_ascii_lowercase();
    match word.as_str() {
        "bye" | "q" => Some("quit"),
        _ => names().find(|name| *name == word),
    }
}

/// True if a command does nothing without arguments.
pub(super) fn needs_arguments(name: &str) -> bool {
    COMMANDS.iter().any(|command| command.name == name && !matches!(command.arguments.as_bytes(), [] | [b'[', ..]))
}

/// Carries out a line that begins with a colon, after white space.
pub(super) fn run(session: &mut Session, line: &[u8]) -> Vec<Output> {
    let colon = line.len() - line.trim_ascii_start().len() + 1;
    let end = line[colon..].iter().position(u8::is_ascii_whitespace).map_or(line.len(), |at| colon + at);
    let name = String::from_utf8_lossy(&line[colon..end]).into_owned();
    match found(&name) {
        Ok(command) => (command.run)(session, CommandInput { line, begins: end }),
        Err(message) => problem(message),
    }
}

/// The command of a name, or of the beginning of one.
fn found(name: &str) -> Result<&'static ReplCommand, String> {
    let name = if name == "exit" { "quit" } else { name };
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return Ok(command);
    }
    let begun: Vec<&ReplCommand> = COMMANDS.iter().filter(|command| command.name.starts_with(name)).collect();
    let list = |names: &[&str]| names.iter().map(|name| format!("`:{name}`")).collect::<Vec<_>>().join(" or ");
    match begun.as_slice() {
        [only] => return Ok(only),
        [] => {}
        several if !name.is_empty() => {
            let names: Vec<&str> = several.iter().map(|command| command.name).collect();
            return Err(format!("`:{name}` is ambiguous: {}", list(&names)));
        }
        _ => return Err("expected the name of a command after `:`\n  = help: `:help` lists them".to_owned()),
    }
    let near =
        names().filter(|known| distance(name.as_bytes(), known.as_bytes(), allowance(name.as_bytes())).is_some());
    let near: Vec<&str> = near.collect();
    let help = if near.is_empty() {
        "`:help` lists the commands".to_owned()
    } else {
        format!("did you mean {}?", list(&near))
    };
    Err(format!("there is no command `:{}`\n  = help: {help}", shortened(&printable(name.as_bytes()), 40)))
}

pub(super) fn problem(message: impl Into<String>) -> Vec<Output> {
    vec![Output::Problem(format!("error: {}", message.into()))]
}

pub(super) fn text(text: impl Into<String>) -> Vec<Output> {
    vec![Output::Text(text.into())]
}

pub(super) fn usage(name: &str) -> Vec<Output> {
    let arguments = COMMANDS.iter().find(|command| command.name == name).map_or("", |command| command.arguments);
    problem(format!("expected `:{name} {arguments}`"))
}

fn help(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let width = session.start.width;
    let name = input.text();
    if !name.is_empty() {
        return match found(name.trim_start_matches(':')) {
            Ok(command) => {
                let mut about = format!("{}\n\n{}", call(command), command.about);
                if !command.more.is_empty() {
                    about.push('\n');
                    about.push_str(command.more);
                }
                page(about, width)
            }
            Err(message) => {
                functions::describe(&name, width).map_or_else(|_| problem(message), |about| page(about, width))
            }
        };
    }
    page(LIST.as_str(), width)
}

/// The commands.
static LIST: LazyLock<String> = LazyLock::new(|| {
    let mut lines =
        String::from("Type an expression to evaluate it, or `NAME = expression` to define an attribute of MY.\n");
    let column = COMMANDS.iter().map(|command| call(command).len()).max().unwrap_or(0);
    for command in COMMANDS {
        lines.push_str(&format!("\n  {:column$}  {}", call(command), command.about));
    }
    lines
});

fn page(lines: impl Into<Cow<'static, str>>, width: Option<usize>) -> Vec<Output> {
    vec![Output::Page(HelpPage { lines: lines.into(), width })]
}

fn call(command: &ReplCommand) -> String {
    format!(":{} {}", command.name, command.arguments).trim_end().to_owned()
}

fn strict(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    session.start.options.mode = match input.text().to_ascii_lowercase().as_str() {
        "" => return text(if session.start.options.mode == Mode::Strict { "on" } else { "off" }),
        "on" => Mode::Strict,
        "off" => Mode::HTCondor,
        _ => return usage("strict"),
    };
    Vec::new()
}

fn semantics(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let argument = input.text();
    if argument.is_empty() {
        return text(session.start.options.semantics.to_string());
    }
    match argument.parse() {
        Ok(semantics) => {
            session.start.options.semantics = semantics;
            newer(semantics).map_or_else(Vec::new, |note| text(format!("note: {note}")))
        }
        Err(error) => problem(format!("{error}\n  = help: expected a series such as 23.0, `latest`, or `advertised`")),
    }
}

fn now(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let argument = input.text();
    let zone = session.start.options.zone.clone();
    match argument.as_str() {
        "" => {
            let seconds = session.settings().now;
            let offset = zone.offset_at(seconds);
            let mut date = Vec::new();
            write_abs(&mut date, AbsTime { seconds, offset });
            let date = printable(&date);
            let utc = date.strip_suffix("-00:00").or_else(|| date.strip_suffix("+00:00"));
            text(format!("{seconds}, {}", utc.map_or_else(|| date.clone(), |date| format!("{date}Z"))))
        }
        "wall" => {
            session.start.now = None;
            Vec::new()
        }
        other => match parse_instant(other, &zone) {
            Some(seconds) => {
                session.start.now = Some(seconds);
                Vec::new()
            }
            None => usage("now"),
        },
    }
}

fn list_functions(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let width = session.start.width;
    match input.text().as_str() {
        "" => page(functions::list(), width),
        name => functions::describe(name, width).map_or_else(problem, |about| page(about, width)),
    }
}

fn quit(session: &mut Session, _: CommandInput<'_>) -> Vec<Output> {
    session.finished = true;
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::Start;
    use crate::repl::tests::Still;

    fn last(lines: &[&str]) -> String {
        let mut session = Session::new(Box::new(Still), Start::default());
        let mut outputs = Vec::new();
        for line in lines {
            outputs = session.line(line.as_bytes());
        }
        outputs.iter().map(Output::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn commands_without_their_colon_are_recognised() {
        assert_eq!(last(&["bye"]), "undefined\n  because MY does not define `bye`\n  help: or `:quit`?");
        assert!(last(&["trace"]).ends_with("help: or `:trace`?"));
        assert_eq!(last(&["help"]), last(&[":help"]));
        for word in ["exit", "quit"] {
            let mut session = Session::new(Box::new(Still), Start::default());
            assert!(session.line(word.as_bytes()).is_empty() && session.finished(), "{word}");
        }
        assert_eq!(last(&["help = 1", "help"]), "1");
        assert!(last(&["?"]).contains("`:help` lists the commands"));
    }

    #[test]
    fn help_knows_functions_too() {
        assert!(last(&[":help strcat"]).contains("strcat("));
        assert!(last(&[":help nosuchthing"]).starts_with("error: there is no command"));
    }

    #[test]
    fn an_input_of_several_lines_that_does_not_parse_says_which_lines_it_took() {
        assert!(last(&["1", "(1 +\n2\n"]).contains("lines 2 to 3 are one input"));
    }

    #[test]
    fn beginnings_of_names_are_enough() {
        assert_eq!(last(&[":ty 1.5"]), "real");
        assert_eq!(last(&[":t 1"]), "error: `:t` is ambiguous: `:target` or `:trace` or `:type` or `:time`");
        assert!(last(&[":flaten 1"]).contains("did you mean `:flatten`?"));
        assert!(last(&[":"]).contains("expected the name of a command"));
    }

    #[test]
    fn help_is_folded_between_words() {
        let mut session = Session::new(Box::new(Still), Start { width: Some(60), ..Start::default() });
        let long = last(&[":functions"]);
        for (line, whole) in
            [(":help", last(&[":help"])), (":functions", long), (":help strcat", last(&[":help strcat"]))]
        {
            let outputs = session.line(line.as_bytes());
            let folded = outputs[0].text();
            assert!(folded.lines().all(|line| line.chars().count() <= 60), "{folded}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&folded), words(&whole));
        }
    }

    #[test]
    fn every_command_is_in_the_help_and_explains_itself() {
        let help = last(&[":help"]);
        for command in COMMANDS {
            assert!(help.contains(&format!(":{}", command.name)));
            assert!(last(&[&format!(":help {}", command.name)]).contains(command.about));
        }
    }

    #[test]
    fn the_clause_that_refuses_is_shown_for_both_sides() {
        let shown = last(&[
            "RequestMemory = 4096",
            "Requirements = TARGET.Memory >= RequestMemory && TARGET.HasGpu",
            "TARGET.Memory = 8192",
            "TARGET.Requirements = START",
            "TARGET.START = MY.Memory > 1 && TARGET.Owner == \"ada\"",
            ":match",
        ]);
        assert_eq!(
            shown,
            "\
MY accepts TARGET: no: its Requirements are undefined
  undefined  TARGET.HasGpu
             because TARGET does not define `TARGET.HasGpu`
  1 of 2 clauses accept
TARGET accepts MY: no: its Requirements are undefined
  undefined  START → TARGET.Owner == \"ada\"
             because in `START` of TARGET: MY does not define `TARGET.Owner`
  1 of 2 clauses accept
match: no; Rank of TARGET for MY: 0"
        );
    }

    #[test]
    fn the_clock_can_be_set() {
        assert_eq!(last(&[":now 2026-07-05T12:00:00Z", "time()"]), "1783252800"); // date -ud 2026-07-05T12:00:00Z +%s
        assert_eq!(last(&[":now 5", ":now wall", "time()"]), "1735689600");
        assert_eq!(last(&[":now 0", ":now"]), "0, 1970-01-01T00:00:00Z");
    }

    #[test]
    fn the_version_can_be_chosen() {
        let text = "\"x\" ?: \"\" != \"Copy\"";
        assert_eq!(last(&[":semantics 23.0", text]), "\"x\"");
        assert_eq!(last(&[":semantics 23.0", ":semantics latest", text]), "true");
        assert_eq!(last(&[":semantics 24.x", ":semantics"]), "24.12");
        assert!(last(&[":semantics 9.0"]).starts_with("error: the semantics of HTCondor 9.0 were not measured"));
    }

    #[test]
    fn strict_mode_can_be_turned_on() {
        assert!(last(&[":strict on", "010"]).starts_with("10\nwarning: `010` has the value 10"));
        assert!(last(&["010"]).starts_with("error:"));
    }

    #[test]
    fn references_and_what_is_left_are_shown() {
        let lines = ["a = 2", "b = a + x", ":refs b * TARGET.y"];
        assert_eq!(last(&lines), "external: TARGET.y, x\ninternal: a, b");
        assert_eq!(last(&["a = 2", ":flatten a * 3 + x"]), "6 + x");
    }

    #[test]
    fn wrong_arguments_are_answered_with_the_right_form() {
        for (line, form) in [
            (":load", ":load my|target|slots FILE [N]"),
            (":load other x", ":load my|target|slots FILE [N]"),
            (":save", ":save [my|target] FILE"),
            (":trace", ":trace EXPRESSION"),
            (":strict maybe", ":strict [on|off]"),
            (":now soon", ":now [TIME|wall]"),
            (":now 2026-13-45", ":now [TIME|wall]"),
        ] {
            assert_eq!(last(&[line]), format!("error: expected `{form}`"), "{line}");
        }
        assert!(last(&[":load my slot.ad 0"]).contains("counted from 1"));
        assert!(last(&[":save ro"]).contains("cannot write `ro`"));
        assert!(last(&[":match"]).contains("there is no TARGET"));
    }
}
