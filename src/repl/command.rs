//! The commands of a session: lines that begin with a colon.

use std::fmt::Write as _;
use std::time::Duration;

use crate::ad::ClassAd;
use crate::ad::flatten::{Flattened, Inlining, flatten};
use crate::ad::refs::{Naming, external, internal};
use crate::builtin::near::{allowance, distance};
use crate::eval::clause::{Clause, clauses};
use crate::eval::matching::{is_true, rank, requirements};
use crate::eval::scope::Settings;
use crate::eval::trace::trace;
use crate::eval::walk::Side;
use crate::format::long::LongWriter;
use crate::name::Name;
use crate::repl::draw::{self, one_line, shortened};
use crate::repl::{Output, Session, because};
use crate::report::{functions, printable};
use crate::syntax::parse::Mode;
use crate::syntax::print::Style;
use crate::syntax::time::{Zone, parse_abs, write_abs};
use crate::text::Text;
use crate::value::Value;

/// Parts of an expression that `:trace` and `:ast` show at most.
const PARTS: usize = 200;

/// How long `:time` evaluates at most.
const LONGEST: Duration = Duration::from_millis(300);

type Run = fn(&mut Session, Input<'_>) -> Vec<Output>;

struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    more: &'static str,
    run: Run,
}

/// What stands behind the name of a command.
#[derive(Clone, Copy)]
struct Input<'l> {
    /// The whole line.
    line: &'l [u8],
    /// Where the argument begins.
    begins: usize,
}

impl Input<'_> {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.line[self.begins..]).trim().to_owned()
    }
}

const COMMANDS: &[Command] = &[
    Command {
        name: "help",
        arguments: "[COMMAND]",
        about: "List the commands, or say more of one",
        more: "",
        run: help,
    },
    Command {
        name: "load",
        arguments: "my|target FILE [N]",
        about: "Read MY or TARGET from a file",
        more: "The first ad of the file is taken, or the Nth.",
        run: load,
    },
    Command {
        name: "save",
        arguments: "[my|target] FILE",
        about: "Write MY or TARGET to a file, an attribute a line",
        more: "",
        run: save,
    },
    Command {
        name: "my",
        arguments: "[TEXT]",
        about: "Show MY",
        more: "With TEXT, only the attributes whose names contain it. `NAME = expression` defines an attribute.",
        run: |session, input| show(session, Side::My, input),
    },
    Command {
        name: "target",
        arguments: "[TEXT]",
        about: "Show TARGET, the ad on the other side",
        more: "With TEXT, only the attributes whose names contain it. `TARGET.NAME = expression` defines an attribute.",
        run: |session, input| show(session, Side::Target, input),
    },
    Command {
        name: "unset",
        arguments: "NAME",
        about: "Remove an attribute of MY, or of TARGET as TARGET.NAME",
        more: "",
        run: unset,
    },
    Command {
        name: "match",
        arguments: "",
        about: "Match MY with TARGET, and show which clauses refuse",
        more: "The clauses are what `&&` joins in Requirements and in the attributes that it consists of.",
        run: match_ads,
    },
    Command {
        name: "trace",
        arguments: "EXPRESSION",
        about: "Show the value of every part",
        more: "References are followed. What was not needed for the value is not evaluated.",
        run: trace_expression,
    },
    Command { name: "ast", arguments: "EXPRESSION", about: "Show how an expression is read", more: "", run: ast },
    Command {
        name: "refs",
        arguments: "EXPRESSION",
        about: "Show the attributes that an expression needs",
        more: "External references are those that MY does not define.",
        run: refs,
    },
    Command {
        name: "flatten",
        arguments: "EXPRESSION",
        about: "Show what is left when MY is known",
        more: "",
        run: flatten_expression,
    },
    Command { name: "type", arguments: "EXPRESSION", about: "Show the type of a value", more: "", run: type_of },
    Command {
        name: "time",
        arguments: "EXPRESSION",
        about: "Show how long an evaluation takes",
        more: "The expression is evaluated again and again for up to 0.3 seconds.",
        run: time,
    },
    Command {
        name: "strict",
        arguments: "[on|off]",
        about: "Evaluate as with STRICT_CLASSAD_EVALUATION",
        more: "Without an argument, the mode is shown.",
        run: strict,
    },
    Command {
        name: "now",
        arguments: "[TIME|wall]",
        about: "Set what time() answers",
        more: "TIME is in seconds since 1970 or a date such as 2026-07-05T12:00:00Z; `wall` goes back to the clock.",
        run: now,
    },
    Command {
        name: "functions",
        arguments: "[NAME]",
        about: "List the functions, or describe one",
        more: "",
        run: list_functions,
    },
    Command { name: "quit", arguments: "", about: "Leave", more: "Ctrl-D does the same.", run: quit },
];

/// The names of the commands, without colon.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// Carries out a line that begins with a colon, after white space.
pub(super) fn run(session: &mut Session, line: &[u8]) -> Vec<Output> {
    let colon = line.len() - line.trim_ascii_start().len() + 1;
    let end = line[colon..].iter().position(u8::is_ascii_whitespace).map_or(line.len(), |at| colon + at);
    let name = String::from_utf8_lossy(&line[colon..end]).into_owned();
    match found(&name) {
        Ok(command) => (command.run)(session, Input { line, begins: end }),
        Err(message) => problem(message),
    }
}

/// The command of a name, or of the beginning of one.
fn found(name: &str) -> Result<&'static Command, String> {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return Ok(command);
    }
    let begun: Vec<&Command> = COMMANDS.iter().filter(|command| command.name.starts_with(name)).collect();
    let list = |names: &[&str]| names.iter().map(|name| format!("`:{name}`")).collect::<Vec<_>>().join(" or ");
    match begun.as_slice() {
        [only] => return Ok(only),
        [] => {}
        several if !name.is_empty() => {
            let names: Vec<&str> = several.iter().map(|command| command.name).collect();
            return Err(format!("`:{name}` may be {}", list(&names)));
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

fn problem(message: impl Into<String>) -> Vec<Output> {
    vec![Output::Problem(format!("error: {}", message.into()))]
}

fn text(text: impl Into<String>) -> Vec<Output> {
    vec![Output::Text(text.into())]
}

fn usage(name: &str) -> Vec<Output> {
    let arguments = COMMANDS.iter().find(|command| command.name == name).map_or("", |command| command.arguments);
    problem(format!("expected `:{name} {arguments}`"))
}

fn help(_: &mut Session, input: Input<'_>) -> Vec<Output> {
    let name = input.text();
    if !name.is_empty() {
        return match found(name.trim_start_matches(':')) {
            Ok(command) => {
                let mut about = format!("{}\n\n{}", call(command), command.about);
                if !command.more.is_empty() {
                    about.push('\n');
                    about.push_str(command.more);
                }
                text(about)
            }
            Err(message) => problem(message),
        };
    }
    let mut lines =
        String::from("Type an expression for its value, or `NAME = expression` to define an attribute of MY.\n");
    let width = COMMANDS.iter().map(|command| call(command).len()).max().unwrap_or(0);
    for command in COMMANDS {
        lines.push_str(&format!("\n  {:width$}  {}", call(command), command.about));
    }
    text(lines)
}

fn call(command: &Command) -> String {
    format!(":{} {}", command.name, command.arguments).trim_end().to_owned()
}

fn side_of(word: &str) -> Option<Side> {
    match word.to_ascii_lowercase().as_str() {
        "my" => Some(Side::My),
        "target" => Some(Side::Target),
        _ => None,
    }
}

fn load(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    let argument = input.text();
    let Some((side, file)) =
        argument.split_once(char::is_whitespace).and_then(|(side, file)| Some((side_of(side)?, file.trim())))
    else {
        return usage("load");
    };
    let (file, at) = match file.rsplit_once(char::is_whitespace) {
        Some((file, number)) => match number.parse::<u64>() {
            Ok(0) => return problem("ads are counted from 1"),
            Ok(number) => (file.trim(), number),
            Err(_) => (argument_file(file, number, &argument), 1),
        },
        None => (file, 1),
    };
    let settings = session.settings();
    match session.host.load(file, at, &settings) {
        Ok((ad, notes)) => {
            let mut outputs: Vec<Output> = notes.into_iter().map(Output::Warning).collect();
            let named = name_of(&ad).map_or(String::new(), |name| format!(" `{name}`,"));
            let attributes = counted(ad.len(), "attribute");
            outputs.push(Output::Text(format!("{} is{named} with {attributes}", side.as_str())));
            session.set(side, ad);
            outputs
        }
        Err(message) => problem(message),
    }
}

/// A file name that holds white space.
fn argument_file<'a>(file: &str, number: &str, argument: &'a str) -> &'a str {
    let start = argument.find(file).unwrap_or_default();
    let end = argument.rfind(number).map_or(argument.len(), |at| at + number.len());
    argument.get(start..end).unwrap_or(argument)
}

/// What an ad is called: its Name, or its job's number.
fn name_of(ad: &ClassAd) -> Option<String> {
    let number = |name: &str| ad.constant(name).and_then(|value| value.as_int());
    match ad.constant("Name") {
        Some(Value::Str(name)) => Some(printable(&name)),
        _ => Some(format!("{}.{}", number("ClusterId")?, number("ProcId")?)),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn save(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    let argument = input.text();
    let (side, file) = match argument.split_once(char::is_whitespace) {
        Some((word, file)) if side_of(word).is_some() => (side_of(word).unwrap_or(Side::My), file.trim()),
        _ => (Side::My, argument.as_str()),
    };
    if file.is_empty() || side_of(file).is_some() {
        return usage("save");
    }
    let Some(ad) = session.ad(side) else { return no_target() };
    let mut out = Vec::new();
    let lost = LongWriter::new().write(&mut out, ad);
    let lines = counted(memchr::memchr_iter(b'\n', &out).count(), "attribute");
    let mut outputs = match session.host.save(file, &out) {
        Ok(()) => text(format!("wrote {lines} of {} to `{file}`", side.as_str())),
        Err(message) => return problem(message),
    };
    for lost in lost {
        outputs.push(Output::Warning(format!("warning: `{}` does not read back as it was", lost.name)));
    }
    outputs
}

fn no_target() -> Vec<Output> {
    problem("there is no TARGET\n  = help: load one with `:load target FILE`, or define `TARGET.Name = value`")
}

fn show(session: &mut Session, side: Side, input: Input<'_>) -> Vec<Output> {
    let wanted = input.text().to_ascii_lowercase();
    let Some(ad) = session.ad(side) else { return no_target() };
    let shown = ad.iter().filter(|(name, _)| name.display().to_ascii_lowercase().contains(&wanted));
    let lines: Vec<String> = shown
        .map(|(name, expr)| session.painted(&printable(&format!("{} = {}", name, one_line(&expr)).into_bytes())))
        .collect();
    match lines.as_slice() {
        [] if wanted.is_empty() => text(format!("{} has no attributes", side.as_str())),
        [] => text(format!("{} has no attribute with `{wanted}` in its name", side.as_str())),
        lines => text(lines.join("\n")),
    }
}

fn unset(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    let argument = input.text();
    let (side, name) = match argument.split_once('.') {
        Some((word, name)) if side_of(word).is_some() => (side_of(word).unwrap_or(Side::My), name.to_owned()),
        _ => (Side::My, argument),
    };
    if name.is_empty() {
        return usage("unset");
    }
    let ad = match side {
        Side::Target => session.target.as_mut(),
        _ => Some(&mut session.my),
    };
    match ad.and_then(|ad| ad.remove(Name::new(&name))) {
        Some(_) => Vec::new(),
        None => problem(format!("{} has no attribute `{name}`", side.as_str())),
    }
}

fn match_ads(session: &mut Session, _: Input<'_>) -> Vec<Output> {
    let Some(target) = session.target.as_ref() else { return no_target() };
    let settings = session.settings();
    let my = &session.my;
    let mut report = String::new();
    let mut both = true;
    for (one, other, names, swapped) in [(my, target, ("MY", "TARGET"), false), (target, my, ("TARGET", "MY"), true)] {
        let outcome = requirements(one, other, &settings);
        let accepts = is_true(&outcome);
        both &= accepts;
        let verdict = match &outcome {
            _ if !one.contains("Requirements") => "no: it has no Requirements".to_owned(),
            Ok(_) if accepts => "yes".to_owned(),
            Ok(value) => format!("no: its Requirements are {}", shortened(&value.to_string(), 40)),
            Err(failed) => format!("no: {failed}"),
        };
        let _ = writeln!(report, "{} accepts {}: {verdict}", names.0, names.1);
        if !accepts {
            refusing(&mut report, one, other, &settings, swapped);
        }
    }
    let verdict = if both { "yes" } else { "no" };
    let _ = write!(report, "match: {verdict}; Rank of TARGET for MY: {}", rank(my, target, &settings));
    text(report)
}

/// The clauses that do not accept, and why.
fn refusing(report: &mut String, one: &ClassAd, other: &ClassAd, settings: &Settings, swapped: bool) {
    let scope = crate::eval::scope::Scope::new(one, settings).with_target(other);
    let all = clauses(scope, "Requirements");
    let refusing: Vec<&Clause> = all.iter().filter(|clause| !clause.accepts()).collect();
    for clause in &refusing {
        let value = match &clause.value {
            Ok(value) => shortened(&value.to_string(), 20),
            Err(_) => "abandoned".to_owned(),
        };
        let from: String = clause.path.iter().map(|via| format!("{} → ", via.name)).collect();
        let _ = writeln!(report, "  {value:9}  {from}{}", shortened(&one_line(&clause.expr), 100));
        for cause in &clause.causes {
            let why = because(cause, swapped);
            let _ = writeln!(report, "             {}", why.trim_start().replace('\n', "\n           "));
        }
    }
    let accepting = all.len() - refusing.len();
    if accepting > 0 {
        let _ = writeln!(report, "  {} of {} accept", accepting, counted(all.len(), "clause"));
    }
}

fn with_expression(
    session: &mut Session,
    input: Input<'_>,
    name: &str,
    run: impl FnOnce(&Session, &crate::syntax::expr::Expr, &Settings) -> Vec<Output>,
) -> Vec<Output> {
    if input.text().is_empty() {
        return usage(name);
    }
    match session.parse(input.line, input.begins) {
        Ok((expr, warnings)) => {
            let settings = session.settings();
            let mut outputs = run(session, &expr, &settings);
            outputs.extend(warnings);
            outputs
        }
        Err(problem) => vec![problem],
    }
}

fn trace_expression(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "trace", |session, expr, settings| {
        let steps = trace(session.scope(settings), expr, PARTS);
        let mut drawn = draw::trace(&steps);
        if steps.len() == PARTS {
            drawn.push_str("\n… more parts may be left out");
        }
        text(drawn)
    })
}

fn ast(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "ast", |_, expr, _| text(draw::nodes(expr, PARTS)))
}

fn refs(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "refs", |session, expr, settings| {
        let list = |names: Vec<Text>| match names.as_slice() {
            [] => "none".to_owned(),
            names => names.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", "),
        };
        let (outside, inside) =
            (external(&session.my, expr, Naming::Full, settings), internal(&session.my, expr, settings));
        match (outside, inside) {
            (Ok(outside), Ok(inside)) => text(format!("external: {}\ninternal: {}", list(outside), list(inside))),
            (Err(why), _) | (_, Err(why)) => problem(why.to_string()),
        }
    })
}

fn flatten_expression(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "flatten", |session, expr, settings| {
        match flatten(&session.my, expr, Inlining::Inline, settings) {
            Ok(Flattened::Value(value)) => vec![Output::Value(session.shown(&value))],
            Ok(Flattened::Residue(rest)) => {
                vec![Output::Value(session.painted(&printable(&rest.to_text(Style::New))))]
            }
            Err(failed) => problem(format!("flattening was abandoned: {failed}")),
        }
    })
}

fn type_of(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "type", |session, expr, settings| match session.scope(settings).eval(expr) {
        Ok(value) => text(value.type_of().as_str()),
        Err(failed) => problem(format!("the evaluation was abandoned: {failed}")),
    })
}

fn time(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    with_expression(session, input, "time", |session, expr, settings| {
        let scope = session.scope(settings);
        let begin = session.host.elapsed();
        let mut runs: u32 = 0;
        let spent = loop {
            let _ = std::hint::black_box(scope.eval(expr));
            runs += 1;
            let spent = session.host.elapsed().saturating_sub(begin);
            if spent >= LONGEST || runs >= 100_000 {
                break spent;
            }
        };
        text(format!("{:.3?} each, over {}", spent / runs, counted(runs as usize, "evaluation")))
    })
}

fn strict(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    session.start.mode = match input.text().to_ascii_lowercase().as_str() {
        "" => return text(if session.start.mode == Mode::Strict { "on" } else { "off" }),
        "on" => Mode::Strict,
        "off" => Mode::HTCondor,
        _ => return usage("strict"),
    };
    Vec::new()
}

fn now(session: &mut Session, input: Input<'_>) -> Vec<Output> {
    let argument = input.text();
    let zone = session.start.zone.clone().unwrap_or_else(Zone::utc);
    match argument.as_str() {
        "" => {
            let seconds = session.settings().now;
            let offset = zone.offset_at(seconds);
            let mut date = Vec::new();
            write_abs(&mut date, crate::syntax::time::AbsTime { seconds, offset });
            let date = printable(&date);
            let utc = date.strip_suffix("-00:00").or_else(|| date.strip_suffix("+00:00"));
            text(format!("{seconds}, {}", utc.map_or_else(|| date.clone(), |date| format!("{date}Z"))))
        }
        "wall" => {
            session.start.now = None;
            Vec::new()
        }
        other => {
            let seconds = other.parse().ok().or_else(|| parse_abs(other.as_bytes(), &zone).map(|time| time.seconds));
            match seconds {
                Some(seconds) => {
                    session.start.now = Some(seconds);
                    Vec::new()
                }
                None => usage("now"),
            }
        }
    }
}

fn list_functions(_: &mut Session, input: Input<'_>) -> Vec<Output> {
    match input.text().as_str() {
        "" => text(functions::list(100)),
        name => functions::describe(name).map_or_else(problem, text),
    }
}

fn quit(session: &mut Session, _: Input<'_>) -> Vec<Output> {
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
    fn beginnings_of_names_are_enough() {
        assert_eq!(last(&[":ty 1.5"]), "real");
        assert_eq!(last(&[":t 1"]), "error: `:t` may be `:target` or `:trace` or `:type` or `:time`");
        assert!(last(&[":flaten 1"]).contains("did you mean `:flatten`?"));
        assert!(last(&[":"]).contains("expected the name of a command"));
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
             because TARGET has no attribute for `TARGET.HasGpu`
  1 of 2 clauses accept
TARGET accepts MY: no: its Requirements are undefined
  undefined  START → TARGET.Owner == \"ada\"
             because in `START` of TARGET: MY has no attribute for `TARGET.Owner`
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
            (":load", ":load my|target FILE [N]"),
            (":load other x", ":load my|target FILE [N]"),
            (":save", ":save [my|target] FILE"),
            (":trace", ":trace EXPRESSION"),
            (":strict maybe", ":strict [on|off]"),
            (":now soon", ":now [TIME|wall]"),
        ] {
            assert_eq!(last(&[line]), format!("error: expected `{form}`"), "{line}");
        }
        assert!(last(&[":load my slot.ad 0"]).contains("counted from 1"));
        assert!(last(&[":save ro"]).contains("cannot write `ro`"));
        assert!(last(&[":match"]).contains("there is no TARGET"));
    }
}
