//! The session of the interactive command: a line in, outputs out.
//!
//! Nothing here touches the terminal, the file system or the clock: the shell passes a [`Host`].

mod ads;
pub mod command;
pub mod complete;
pub mod draw;
mod expression;
pub mod highlight;
pub mod input;
mod slots;

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use crate::report::fold::Folded;
use crate::report::versions::not_reproduced;
use crate::report::{Color, Origin, counted, printable, render_diagnostic};
use classmate::internal::builtin::check::check;
use classmate::internal::diagnostic::Severity;
use classmate::internal::eval::explain::{Cause, Reason, explain};
use classmate::internal::eval::walk::AdSide;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::lexer::{Lexer, Token};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::{Mark, is_space};
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Diagnostic, EvalOptions, Expr, Name, ParseOptions, Scope, SyntaxError, Value};
use classmate_advice::internal::versions::defects::{VersionDefect, defects};
use classmate_pool::internal::pool::slot::is_slot;

/// The environment of a session.
pub trait Host {
    /// Reads the Nth ad of a file, counted from 1; also returns messages about skipped input.
    ///
    /// # Errors
    /// The reason why there is no such ad, for people.
    fn load(&mut self, path: &str, at: u64, settings: &EvalOptions) -> Result<(ClassAd, Vec<String>), String>;

    /// Reads all ads of a file; also returns messages about skipped input.
    ///
    /// # Errors
    /// The reason why it cannot be read, for people.
    fn load_all(&mut self, path: &str, settings: &EvalOptions) -> Result<(Vec<ClassAd>, Vec<String>), String>;

    /// Writes a file.
    ///
    /// # Errors
    /// The reason, for people.
    fn save(&mut self, path: &str, text: &[u8]) -> Result<(), String>;

    /// Seconds since 1970.
    fn now(&self) -> i64;

    /// Time since some moment, never running backwards.
    fn elapsed(&self) -> Duration;
}

/// Something to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A value in canonical text.
    Value(String),
    /// Anything else that was asked for.
    Text(String),
    /// The description of commands or functions.
    Page(HelpPage),
    /// A likely mistake.
    Warning(String),
    /// The reason why the line failed.
    Problem(String),
    /// A likely mistake, or the reason why the line failed, with its place in the input.
    Finding(Box<Finding>),
}

impl Output {
    /// The text, of one or more lines, without the last line end.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Output::Value(text) | Output::Text(text) | Output::Warning(text) | Output::Problem(text) => {
                Cow::Borrowed(text)
            }
            Output::Page(page) => Cow::Owned(page.folded()),
            Output::Finding(finding) => Cow::Owned(finding.drawn()),
        }
    }

    /// The severity and the message, if it is one; for a page, its first line. Of many equal ones, most need not be shown.
    pub(crate) fn message(&self) -> Option<(&str, &str)> {
        match self {
            Output::Value(_) | Output::Text(_) => None,
            Output::Page(page) => Some(("page", page.lines.lines().next().unwrap_or_default())),
            Output::Warning(text) | Output::Problem(text) => {
                let line = text.lines().next().and_then(|line| line.split_once(": "));
                Some(line.unwrap_or(("message", text)))
            }
            Output::Finding(finding) => Some((finding.level(), &finding.diagnostic.message)),
        }
    }

    /// True if the line failed.
    pub fn is_problem(&self) -> bool {
        match self {
            Output::Problem(_) => true,
            Output::Finding(finding) => finding.diagnostic.severity == Severity::Error,
            Output::Value(_) | Output::Text(_) | Output::Page(_) | Output::Warning(_) => false,
        }
    }
}

/// A text whose lines are folded to a width when it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HelpPage {
    lines: Cow<'static, str>,
    width: Option<usize>,
}

impl HelpPage {
    fn folded(&self) -> String {
        let mut out = Vec::new();
        // Writing to memory cannot fail.
        let _ = writeln!(Folded::new(&mut out, self.width), "{}", self.lines);
        String::from_utf8_lossy(&out).trim_end().to_owned()
    }
}

/// A finding about an input. It is drawn when it is shown: of many equal ones, most are not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    diagnostic: Diagnostic,
    source: Vec<u8>,
    /// The line of the session at which the input begins.
    line: u64,
    color: Color,
}

impl Finding {
    fn level(&self) -> &'static str {
        match self.diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }

    /// The message above the lines that it is about.
    fn drawn(&self) -> String {
        let origin = Origin { name: "input", line: self.line, column: 1 };
        let mut report = render_diagnostic(&self.diagnostic, &self.source, &origin, self.color);
        let more = memchr::memchr_iter(b'\n', self.source.trim_ascii_end()).count() as u64;
        if more > 0 && self.diagnostic.severity == Severity::Error {
            let (first, last) = (self.line, self.line + more);
            report.push_str(&format!(
                "\n  = note: lines {first} to {last} are one input, because a bracket or a string was open"
            ));
        }
        report
    }
}

/// The beginning of a session.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The options of evaluations.
    pub options: EvalOptions,
    /// The result of `time()`; `None` for the clock of the host.
    pub now: Option<i64>,
    /// True if outputs are colored.
    pub color: Color,
    /// The columns of the terminal, if there is one.
    pub width: Option<usize>,
}

/// An interactive session: two ads, slots, a clock, and the lines given so far.
pub struct Session {
    host: Box<dyn Host>,
    my: ClassAd,
    target: Option<ClassAd>,
    /// Slots in which each expression is evaluated, too.
    slots: Vec<ClassAd>,
    /// The last expression and its value.
    last: Option<(Expr, Value)>,
    start: Start,
    /// Number of the next line of input.
    line: u64,
    finished: bool,
}

impl Session {
    /// A session with an empty MY and no TARGET.
    pub fn new(host: Box<dyn Host>, start: Start) -> Self {
        Session {
            host,
            my: ClassAd::new(),
            target: None,
            slots: Vec::new(),
            last: None,
            start,
            line: 1,
            finished: false,
        }
    }

    /// True after `:quit`.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// The ad of a side, if there is one.
    pub fn ad(&self, side: AdSide) -> Option<&ClassAd> {
        match side {
            AdSide::Target => self.target.as_ref(),
            _ => Some(&self.my),
        }
    }

    /// Sets the ad of a side.
    pub fn set(&mut self, side: AdSide, ad: ClassAd) {
        match side {
            AdSide::Target => self.target = Some(ad),
            _ => self.my = ad,
        }
    }

    /// Sets the slots; the first one is TARGET unless there is one. Other ads, such as those of daemons, are skipped, with a
    /// note.
    pub fn set_slots(&mut self, mut slots: Vec<ClassAd>) -> Option<String> {
        let all = slots.len();
        slots.retain(is_slot);
        if self.target.is_none() {
            self.target = slots.first().cloned();
        }
        let skipped = counted((all - slots.len()) as u64, "ad");
        let note = (all > slots.len()).then(|| format!("skipped {skipped} that are not slot ads (MyType)"));
        self.slots = slots;
        note
    }

    /// True if slots were loaded.
    pub fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }

    /// The number of slots, and TARGET.
    pub fn slots_told(&self) -> String {
        let count = counted(self.slots.len() as u64, "slot");
        match self.target.as_ref().and_then(slots::name_of) {
            Some(name) => format!("{count}; TARGET is `{name}`"),
            None => count,
        }
    }

    /// The names of the slots.
    pub(crate) fn slot_names(&self) -> impl Iterator<Item = String> {
        self.slots.iter().filter_map(slots::name_of)
    }

    /// Carries out one input, which may span several lines: an expression, a definition, a command, or nothing.
    pub fn line(&mut self, source: &[u8]) -> Vec<Output> {
        let text = source.trim_ascii();
        let outputs = match text.first() {
            None | Some(b'#') => Vec::new(),
            Some(b':') => command::run(self, source),
            _ if only_a_comment(text) => Vec::new(),
            Some(b'?') if text.len() == 1 => {
                command::problem("expected an expression\n  = help: `:help` lists the commands")
            }
            _ if self.is_bare_command(text) => command::run(self, &[b":", text].concat()),
            _ => {
                let outputs = match self.definition(source) {
                    Some(definition) => self.define(source, definition),
                    None => self.evaluate(source),
                };
                outputs.unwrap_or_else(|problem| vec![problem])
            }
        };
        self.line += memchr::memchr_iter(b'\n', source).count() as u64 + 1;
        outputs
    }

    /// True for `exit`, `quit` and `help`, unless an ad defines them.
    fn is_bare_command(&self, text: &[u8]) -> bool {
        let is_word = ["exit", "quit", "help"].iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
        let ads = [AdSide::My, AdSide::Target].map(|side| self.ad(side));
        is_word && !ads.iter().flatten().any(|ad| ad.contains(Name::new(text)))
    }

    /// The settings of evaluations at this moment.
    pub(crate) fn settings(&self) -> EvalOptions {
        let options = &self.start.options;
        EvalOptions {
            now: self.start.now.unwrap_or_else(|| self.host.now()),
            seed: options.seed.wrapping_add(self.line),
            ..options.clone()
        }
    }

    pub(crate) fn scope<'a>(&'a self, settings: &'a EvalOptions) -> Scope<'a> {
        let scope = Scope::new(&self.my, settings);
        self.target.as_ref().map_or(scope, |target| scope.with_target(target))
    }

    fn options(&self) -> ParseOptions {
        ParseOptions { places: true, ..self.start.options.parse_options() }
    }

    fn finding(&self, diagnostic: Diagnostic, source: &[u8]) -> Output {
        let (line, color) = (self.line, self.start.color);
        Output::Finding(Box::new(Finding { diagnostic, source: source.to_vec(), line, color }))
    }

    /// Parses the rest of a line from an offset on; also returns the warnings.
    pub(crate) fn parse(&self, source: &[u8], begins: usize) -> Result<(Expr, Vec<Output>), Output> {
        let text = &source[begins.min(source.len())..];
        let options = self.options();
        let problem = |error: SyntaxError| self.finding(diagnose(text, &error, &options).shifted(begins), source);
        let expr = parse_expr(text, &options).map_err(problem)?;
        let warnings = check(&expr, text);
        let expr = self.with_last(expr);
        let warnings = warnings.into_iter().map(|finding| self.finding(finding.shifted(begins), source));
        Ok((expr, warnings.collect()))
    }

    /// An expression in which `_` is the last value, unless MY defines it. Lists, ads and times have no name.
    pub(super) fn with_last(&self, mut expr: Expr) -> Expr {
        let Some((_, value)) = self.last.as_ref().filter(|_| !self.my.contains("_")) else { return expr };
        if matches!(value, Value::List(_) | Value::Ad(_) | Value::AbsTime(_) | Value::RelTime(_)) {
            return expr;
        }
        let value = value.to_expr();
        let is_last = |expr: &Expr, id: NodeId| {
            let tree = expr.tree();
            let own = |ad: NodeId| matches!(tree.node(ad), Node::Ad(_)) && (tree.first_of(ad)..=ad).contains(&id);
            let reference = tree.reference(id);
            // Within an ad, it may be one of its attributes.
            reference.is_some_and(|one| one.scope == RefScope::Either && one.name.as_bytes() == b"_")
                && !(id..=expr.root()).any(own)
        };
        while let Some(id) = (expr.tree().first_of(expr.root())..=expr.root()).find(|id| is_last(&expr, *id)) {
            expr = expr.with_part(id, &value);
        }
        expr
    }

    /// The attribute that a line such as `Cpus = 4` defines, if it does: the side, the name, and the offset of the
    /// expression in the line.
    fn definition(&self, source: &[u8]) -> Option<(AdSide, Name, usize)> {
        memchr::memchr(b'=', source)?;
        let options = self.options();
        let tokens: Vec<(Token, usize)> =
            Lexer::new(source, &options).map_while(Result::ok).take(4).map(|(_, token, end)| (token, end)).collect();
        match tokens.as_slice() {
            [(Token::Name(name), _), (Token::Mark(Mark::Assign), begins), ..] => Some((AdSide::My, *name, *begins)),
            [
                (Token::Name(scope), _),
                (Token::Mark(Mark::Dot), _),
                (Token::Name(name), _),
                (Token::Mark(Mark::Assign), begins),
            ] => {
                let side = match scope.folded() {
                    b"my" => AdSide::My,
                    b"target" => AdSide::Target,
                    _ => return None,
                };
                Some((side, *name, *begins))
            }
            _ => None,
        }
    }

    fn define(&mut self, source: &[u8], (side, name, begins): (AdSide, Name, usize)) -> Result<Vec<Output>, Output> {
        // `a =! b` and `a => b` are slips, not definitions; `a =!b` means what it says.
        let negated = matches!(source.get(begins..), Some([b'!', next, ..]) if !is_space(*next));
        if !negated && matches!(source.get(begins), Some(b'!' | b'<' | b'>' | b'=' | b'~')) {
            return self.evaluate(source);
        }
        if name.as_bytes().is_empty() {
            return Err(Output::Problem("error: an attribute name cannot be empty".to_owned()));
        }
        let (expr, warnings) = self.parse(source, begins)?;
        match side {
            AdSide::Target => self.target.get_or_insert_default().insert_expr(name, &expr),
            _ => self.my.insert_expr(name, &expr),
        }
        Ok(warnings)
    }

    /// Evaluates a line; an undefined value or an error comes with its causes.
    fn evaluate(&mut self, source: &[u8]) -> Result<Vec<Output>, Output> {
        let (expr, warnings) = self.parse(source, 0)?;
        let settings = self.settings();
        let scope = self.scope(&settings);
        let value = scope.eval(&expr);
        let mut outputs = match &value {
            Ok(value) => {
                let shown = Output::Value(self.shown(value));
                std::iter::once(shown).chain(slots::summary(self, &expr).map(Output::Text)).collect()
            }
            Err(failed) => vec![Output::Problem(format!("error: evaluation stopped: {failed}"))],
        };
        if !matches!(value, Ok(ref value) if !value.is_undefined() && !value.is_error()) {
            // What a warning says of the line itself need not be said twice.
            let warned = |cause: &Cause| {
                let said = matches!(cause.reason, Reason::UnknownFunction | Reason::ArgumentCount(..));
                said && cause.path.is_empty() && !warnings.is_empty()
            };
            let causes = explain(scope, &expr).into_iter().filter(|cause| !warned(cause));
            outputs.extend(causes.map(|cause| Output::Text(because(&cause, false))));
            outputs.extend(command::meant(source).map(|command| Output::Text(format!("  help: or `:{command}`?"))));
        }
        outputs.extend(warnings);
        let [my, target] = [AdSide::My, AdSide::Target].map(|side| self.ad(side));
        let empty = ClassAd::new();
        let met = defects(&expr, my.unwrap_or(&empty), target, &settings);
        let note = |defect: VersionDefect| {
            Output::Text(format!("note: {}", not_reproduced(&defect, settings.semantics.alone())))
        };
        outputs.extend(met.into_iter().map(note));
        if let Ok(value) = value {
            self.last = Some((expr, value));
        }
        Ok(outputs)
    }

    /// A value as text, coloured if outputs are.
    pub(crate) fn shown(&self, value: &Value) -> String {
        self.painted(&printable(&value.to_text(Style::New)))
    }

    /// An expression as text, coloured if outputs are.
    pub(crate) fn painted(&self, text: &str) -> String {
        match self.start.color {
            Color::On => highlight::paint(text, self.start.options.mode),
            Color::Off => text.to_owned(),
        }
    }
}

/// The cause of an undefined value or an error; `swapped` when it was evaluated with TARGET as the ad of the scope.
pub(crate) fn because(cause: &Cause, swapped: bool) -> String {
    let (my, target) = if swapped { ("TARGET", "MY") } else { ("MY", "TARGET") };
    let mut text = format!("  because {}", cause.describe(my, target));
    let help = match cause.reason {
        Reason::NoTarget => Some("load one with `:load target FILE`".to_owned()),
        _ => cause.help(my, target),
    };
    if let Some(help) = help {
        text.push_str("\n  help: ");
        text.push_str(&help);
    }
    text
}

fn only_a_comment(text: &[u8]) -> bool {
    text.starts_with(b"//") && memchr::memchr(b'\n', text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A world in which nothing is random: one file, a fixed clock.
    pub(crate) struct Still;

    impl Host for Still {
        fn load(&mut self, path: &str, at: u64, settings: &EvalOptions) -> Result<(ClassAd, Vec<String>), String> {
            match (path, at) {
                ("slot.ad", 1) => ClassAd::parse_with(b"[ Name = \"slot1\"; Cpus = 4 ]", &settings.parse_options())
                    .map(|ad| (ad, Vec::new()))
                    .map_err(|error| error.to_string()),
                _ => Err(format!("cannot read `{path}`: not found")),
            }
        }

        fn load_all(&mut self, path: &str, settings: &EvalOptions) -> Result<(Vec<ClassAd>, Vec<String>), String> {
            let slot = |number: i64| {
                let text =
                    format!("[ Name = \"slot{number}@host\"; Cpus = {number}; Memory = {} ]", 1024 * (number % 2 + 1));
                ClassAd::parse_with(text.as_bytes(), &settings.parse_options()).unwrap()
            };
            if path == "slots.ads" {
                Ok(((1..=4).map(slot).collect(), Vec::new()))
            } else {
                Err("not found".to_owned())
            }
        }

        fn save(&mut self, path: &str, _: &[u8]) -> Result<(), String> {
            if path == "ro" { Err("cannot write `ro`".to_owned()) } else { Ok(()) }
        }

        fn now(&self) -> i64 {
            1_735_689_600
        }

        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    fn said(lines: &[&str]) -> Vec<String> {
        let mut session = Session::new(Box::new(Still), Start::default());
        let outputs = lines.iter().flat_map(|line| session.line(line.as_bytes())).collect::<Vec<_>>();
        outputs.iter().map(|output| output.text().into_owned()).collect()
    }

    #[test]
    fn definitions_are_seen_by_later_lines() {
        assert_eq!(said(&["a = 2", "b = a * 3", "b + 1", "TARGET.c = 5", "TARGET.c - a"]), ["7", "3"]);
    }

    #[test]
    fn a_comparison_is_no_definition() {
        assert_eq!(said(&["a = 2", "a == 2", "a =?= 2", "a =!= 2"]), ["true", "true", "false"]);
        assert_eq!(said(&["a =!true", "a"]), ["false"]);
        assert!(said(&["a =! 2"])[0].starts_with("error: `=!` is not an operator"));
    }

    #[test]
    fn an_undefined_value_says_what_is_missing() {
        let said = said(&["Memory = 1024", "Memry > 5"]);
        assert_eq!(said[0], "undefined");
        assert_eq!(said[1], "  because MY does not define `Memry`\n  help: did you mean `Memory` of MY?");
    }

    #[test]
    fn a_line_that_does_not_parse_is_a_problem_with_a_place() {
        let mut session = Session::new(Box::new(Still), Start::default());
        session.line(b"1");
        let outputs = session.line(b"x = 1 +");
        assert!(outputs[0].is_problem());
        assert!(outputs[0].text().contains("input:2:8"), "{}", outputs[0].text());
    }

    #[test]
    fn comments_and_empty_lines_say_nothing() {
        assert!(said(&["", "  ", "# a script", "// a comment"]).is_empty());
    }

    #[test]
    fn expressions_are_evaluated_in_every_slot() {
        // Four slots with 1 to 4 cores and 2048, 1024, 2048, 1024 MB.
        let load = ":load slots slots.ads";
        assert_eq!(said(&[load, "Cpus > 1"]), ["4 slots; TARGET is `slot1@host`", "false", "  true for 3 of 4 slots"]);
        assert_eq!(said(&[load, "Memory"])[1..], ["2048", "  of 4 slots: 1024 for 2, 2048 for 2"]);
        assert_eq!(said(&[load, "5"])[1..], ["5", "  5 for all 4 slots"]);
        // 2^26 references: more steps than one evaluation may take.
        let doubled = (1..=26).map(|at| format!("A{at} = A{} + A{0}", at - 1));
        let lines: Vec<String> = [load.to_owned(), "A0 = TARGET.Cpus".to_owned()].into_iter().chain(doubled).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["TARGET.Cpus > 1 ? A26 : 0"]).collect();
        assert_eq!(said(&lines).last().unwrap(), "  of 4 slots: not evaluated for 2, 0 for 1, stopped for 1");
        assert_eq!(
            said(&[":load slots slots.ads 2"]),
            [
                "error: `:load slots` reads all ads of a file, and takes no number: found `2`\n  = help: `:load target slots.ads 2` reads one of them"
            ]
        );
        assert_eq!(said(&[load, "Cpus > 2 || Gone"])[2], "  true for 2 of 4 slots, undefined for 2");
        assert_eq!(said(&[load, "Cpus > 2", ":who"])[3], "true for 2 of 4 slots\n  slot3@host\n  slot4@host");
        assert_eq!(said(&[load, "Memory", ":who 2048"])[3], "2048 for 2 of 4 slots\n  slot1@host\n  slot3@host");
        assert_eq!(said(&[load, ":use slot3", "Cpus"])[1..3], ["TARGET is `slot3@host`, with 3 attributes", "3"]);
        // Another expression, without a last one.
        assert_eq!(said(&[load, ":who Cpus > 2"])[1], "true for 2 of 4 slots\n  slot3@host\n  slot4@host");
        assert_eq!(said(&[load, "Cpus", ":who Memory == 2048 && Cpus > 1"])[3], "true for 1 of 4 slots\n  slot3@host");
        // Four cores are 2 + 2; with `_` as in a line by itself.
        assert_eq!(said(&[load, "1 + 1", ":who Cpus == _ * 2"])[3], "true for 1 of 4 slots\n  slot4@host");
        let all = said(&[load, "Cpus >= 1", "_", ":who _"]);
        assert_eq!([&all[4], all[5].lines().next().unwrap()], ["  true for 4 of 4 slots", "true for 4 of 4 slots"]);
        assert!(said(&[load, ":who Cpus >"])[1].starts_with("error: Cpus >: "));
        assert!(said(&[load, ":use host"])[1].starts_with("error: 4 slots have `host` in their names: `slot1@host`"));
        assert!(said(&[load, ":use slot9@host"])[1].contains("did you mean `slot"));
        assert!(said(&[":who"])[0].starts_with("error: there are no slots"));
    }

    #[test]
    fn the_last_value_has_a_name() {
        assert_eq!(said(&["2 + 3", "_ * 2", "{ _, _ }"]), ["5", "10", "{ 10,10 }"]);
        assert_eq!(said(&["2", "_ = 7", "_"]), ["2", "7"]);
        assert_eq!(said(&["0.1 + 0.2", "_ == 0.1 + 0.2"])[1], "true");
        assert_eq!(said(&["5", "[ _ = 7; b = _ ].b"])[1], "7");
        assert_eq!(said(&["[ a = _ ]", "_"])[1..], ["undefined", "  because MY does not define `_`"]);
    }

    #[test]
    fn a_file_is_loaded_into_a_side() {
        assert_eq!(said(&[":load target slot.ad", "TARGET.Cpus"]), ["TARGET is `slot1`, with 2 attributes", "4"]);
        assert_eq!(said(&[":load my nosuch.ad"]), ["error: cannot read `nosuch.ad`: not found"]);
    }
}
