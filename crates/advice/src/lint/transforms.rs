//! Transforms and routes of jobs: commands, one a line, that say when and how the ad of a job is changed.
//!
//! In: the value of `JOB_TRANSFORM_<name>`, `JOB_ROUTER_ROUTE_<name>` or `JOB_ROUTER_TRANSFORM_<name>`. Out: the
//! expressions in it, and commands that are none.

use std::ops::Range;

use super::expression::Role;
use super::knobs::{CONDITION, job_role};
use super::transform_steps::{self, TransformStep};
use classmate::internal::builtin::near;
use classmate::internal::pcre::{self, Options};
use classmate::{Diagnostic, Span};

/// A part of a transform.
#[derive(Debug)]
pub(crate) enum TransformPart {
    /// An expression.
    Expression {
        /// Its place in the value.
        place: Range<usize>,
        /// Its role.
        role: Role,
        /// True if it is evaluated in the job alone, when the transform is applied; others become attributes of the
        /// job.
        alone: bool,
        /// The place of the attribute that gets it, or its value.
        attribute: Option<Range<usize>>,
    },
    /// A command that is none, by its place in the value.
    Invalid(Diagnostic),
}

/// The arguments that a command takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Something other than an expression.
    Word,
    /// A condition.
    Condition,
    /// An attribute and the expression that it becomes.
    Sets,
    /// A name and an expression whose value it gets.
    Evaluates,
    /// An attribute or a pattern, and a name.
    Renames,
    /// An attribute or a pattern.
    Deletes,
}

/// The commands (the manual, "ClassAd Transforms").
const COMMANDS: [(&str, Form); 11] = [
    ("COPY", Form::Renames),
    ("DEFAULT", Form::Sets),
    ("DELETE", Form::Deletes),
    ("EVALMACRO", Form::Evaluates),
    ("EVALSET", Form::Evaluates),
    ("NAME", Form::Word),
    ("RENAME", Form::Renames),
    ("REQUIREMENTS", Form::Condition),
    ("SET", Form::Sets),
    ("TRANSFORM", Form::Word),
    ("UNIVERSE", Form::Word),
];

/// Words other than commands that a configuration may contain.
const OF_CONFIGURATIONS: [&str; 8] = ["IF", "ELIF", "ELSE", "ENDIF", "INCLUDE", "USE", "WARNING", "ERROR"];

/// The parts of a transform; none for one in the form of an ad.
pub(crate) fn parts(raw: &[u8]) -> Vec<TransformPart> {
    if raw.trim_ascii_start().starts_with(b"[") {
        return Vec::new();
    }
    let refers = memchr::memmem::find(&raw.to_ascii_uppercase(), b"$(REQUIREMENTS").is_some();
    let mut found: Vec<TransformPart> = without_end(raw).into_iter().chain(replaced_conditions(raw)).collect();
    found.extend(transform_steps::check(&steps(raw)).into_iter().map(TransformPart::Invalid));
    let mut start = 0;
    for line in raw.split(|byte| *byte == b'\n') {
        let of_line = no_condition(line, start).filter(|_| !refers).or_else(|| comparing_if(line, start));
        found.extend(of_line.or_else(|| part(line, start)));
        start += line.len() + 1;
    }
    found
}

/// The commands of a transform; of one that is not a text, none.
fn steps(raw: &[u8]) -> Vec<TransformStep<'_>> {
    let Ok(text) = std::str::from_utf8(raw) else { return Vec::new() };
    let (mut found, mut start) = (Vec::new(), 0);
    for line in text.split('\n') {
        let mut words = Words { line: line.as_bytes(), at: 0 };
        if let Some(word) = words.next().filter(|word| !line[word.clone()].starts_with('#')) {
            let command = line[word.clone()].trim_end_matches(':').to_ascii_uppercase();
            let argument = if command == "REQUIREMENTS" { None } else { words.argument() };
            let place = argument.clone().unwrap_or_else(|| word.clone());
            let attribute = argument.map_or("", |argument| &line[argument]);
            let rest = &line[words.rest()];
            found.push(TransformStep { command, attribute, rest, place: start + word.start..start + place.end });
        }
        start += line.len() + 1;
    }
    found
}

/// `REQUIREMENTS = condition`, which sets a macro of that name and leaves the transform without a condition.
fn no_condition(line: &[u8], start: usize) -> Option<TransformPart> {
    const NAME: &[u8] = b"REQUIREMENTS";
    let blanks = line.len() - line.trim_ascii_start().len();
    let (word, rest) = line[blanks..].split_at_checked(NAME.len())?;
    let sets = word.eq_ignore_ascii_case(NAME) && rest.trim_ascii_start().starts_with(b"=");
    let span = Span::new(start + blanks, start + blanks + NAME.len());
    let message = "`REQUIREMENTS =` sets a macro, so the transform does not have a condition";
    let finding = Diagnostic::warning(message, span);
    let help = "write `REQUIREMENTS condition`, without `=`";
    sets.then(|| TransformPart::Invalid(finding.help(help).code("odd-line")))
}

/// `if RequestMemory > 1000`: conditions of lines compare versions only.
fn comparing_if(line: &[u8], start: usize) -> Option<TransformPart> {
    let mut words = Words { line, at: 0 };
    let word = words.next()?;
    let is_if = [&b"if"[..], b"elif"].iter().any(|known| known.eq_ignore_ascii_case(&line[word.clone()]));
    let rest = words.rest();
    let condition = &line[rest.clone()];
    let front = condition.strip_prefix(b"!").unwrap_or(condition).trim_ascii_start();
    let is_other = [&b"version"[..], b"defined"]
        .iter()
        .any(|known| front.get(..known.len()).is_some_and(|front| front.eq_ignore_ascii_case(known)));
    let compares = condition.iter().any(|byte| b"<>=&|".contains(byte));
    if !is_if || is_other || !compares {
        return None;
    }
    let shown = String::from_utf8_lossy(condition).into_owned();
    let span = Span::new(start + rest.start, start + rest.end);
    let found = Diagnostic::error(format!("`{shown}` is not a condition of `if`, which compares versions only"), span);
    let help = "write it as `REQUIREMENTS`, or in `ifThenElse(…)`: the whole transform is ignored";
    Some(TransformPart::Invalid(found.help(help).code("syntax")))
}

/// The part on a line that begins at an offset of the value.
fn part(line: &[u8], start: usize) -> Option<TransformPart> {
    let mut words = Words { line, at: 0 };
    let word = words.next()?;
    let first = &line[word.clone()];
    let comment = first.starts_with(b"#");
    // `name = value` sets a macro.
    let assigns = memchr::memchr(b'=', first).is_some() || line[word.end..].trim_ascii_start().starts_with(b"=");
    if comment || assigns {
        return None;
    }
    let wrong = |place: Range<usize>, message: String, help: String| {
        let span = Span::new(start + place.start, start + place.end.max(place.start + 1));
        Some(TransformPart::Invalid(Diagnostic::error(message, span).help(help).code("syntax")))
    };
    let shown = String::from_utf8_lossy(first).into_owned();
    let known = COMMANDS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(first));
    let Some((name, form)) = known else {
        let directive = first.strip_suffix(b":").unwrap_or(first);
        // What a macro gives may be anything.
        if OF_CONFIGURATIONS.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(directive)) || first.contains(&b'$') {
            return None;
        }
        let help = match near::closest(first, COMMANDS.map(|(name, _)| name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "each line is a command such as `SET Attribute expression`, or `macro = value`".to_owned(),
        };
        return wrong(
            word,
            format!("`{shown}` is not a transform command: expected `SET`, `DEFAULT` or another command"),
            help,
        );
    };
    let lacks = |what: &str, example: &str| {
        wrong(word.clone(), format!("`{name}` without {what}"), format!("write `{name} {example}`"))
    };
    let within = |place: Range<usize>| start + place.start..start + place.end;
    let expression = |place: Range<usize>, role: Role, alone: bool, attribute: Option<Range<usize>>| {
        Some(TransformPart::Expression { place: within(place), role, alone, attribute: attribute.map(within) })
    };
    if *form == Form::Condition {
        let rest = words.rest();
        let is_missing = rest.is_empty();
        return if is_missing {
            lacks("a condition", "JobUniverse == 5")
        } else {
            expression(rest, CONDITION, true, None)
        };
    }
    let Some(argument) = words.argument() else {
        // `TRANSFORM` alone ends a transform and is run once.
        if *name == "TRANSFORM" {
            return None;
        }
        let (what, example) = match form {
            Form::Word => ("a value", "value"),
            Form::Deletes => ("an attribute", "Attribute"),
            Form::Renames => ("attributes", "Attribute NewAttribute"),
            _ => ("an attribute", "Attribute expression"),
        };
        return lacks(what, example);
    };
    let (text, rest) = (&line[argument.clone()], words.rest());
    if let Some(error) = pattern(text).filter(|_| matches!(form, Form::Renames | Form::Deletes)) {
        let help = "without a valid pattern, no attributes match and the command has no effect".to_owned();
        return wrong(argument, format!("`{}` is not a valid pattern: {error}", String::from_utf8_lossy(text)), help);
    }
    let of_attributes = !matches!(form, Form::Word) && *name != "EVALMACRO" && !text.starts_with(b"/");
    if of_attributes && let Some((message, help)) = odd_attribute(text, &line[rest.clone()], *form == Form::Deletes) {
        let span = Span::new(start + argument.start, start + argument.end);
        let found = Diagnostic::warning(message, span).help(help).code("odd-line");
        return Some(TransformPart::Invalid(found));
    }
    if *name == "UNIVERSE" && !is_universe(text) {
        let (shown, help) = (String::from_utf8_lossy(text), "write a name such as `VANILLA` or `GRID`, or its number");
        return wrong(argument, format!("`{shown}` is not a universe, so the command has no effect"), help.to_owned());
    }
    match form {
        Form::Word | Form::Deletes => None,
        Form::Renames if rest.is_empty() => lacks("a second name", "Attribute NewAttribute"),
        Form::Renames => None,
        _ if rest.is_empty() => lacks("an expression", "Attribute expression"),
        Form::Evaluates => expression(rest, Role::default(), true, Some(argument).filter(|_| *name == "EVALSET")),
        _ => expression(rest, job_role(&text.to_ascii_lowercase()), false, Some(argument)),
    }
}

/// The name of an attribute with signs that become a part of it, and several attributes for a command that takes one.
fn odd_attribute(text: &[u8], rest: &[u8], deletes: bool) -> Option<(String, String)> {
    let shown = String::from_utf8_lossy(text).into_owned();
    if deletes && (text.contains(&b',') || !rest.is_empty() && !rest.starts_with(b"#")) {
        let message = "`DELETE` takes one attribute: the others stay".to_owned();
        return Some((message, "write a line for each of them, or a pattern, `/^(A|B)$/`".to_owned()));
    }
    let lower = text.to_ascii_lowercase();
    if let Some(front) = [&b"my."[..], b"target."].into_iter().find(|front| lower.starts_with(front)) {
        let message = format!("`{shown}` is the whole name of an attribute here");
        return Some((message, format!("write `{}`", String::from_utf8_lossy(&text[front.len()..]))));
    }
    let sign = [b',', b':', b';'].into_iter().find(|sign| text.ends_with(&[*sign]))?;
    let message = format!("`{}` is a part of the name of the attribute `{shown}`", char::from(sign));
    Some((message, format!("write `{}`", &shown[..shown.len() - 1])))
}

/// Returns true for a universe, and for what a macro may make one.
fn is_universe(text: &[u8]) -> bool {
    const NAMES: [&[u8]; 13] = [
        b"VANILLA",
        b"GRID",
        b"LOCAL",
        b"SCHEDULER",
        b"PARALLEL",
        b"JAVA",
        b"VM",
        b"DOCKER",
        b"CONTAINER",
        b"STANDARD",
        b"PVM",
        b"MPI",
        b"GLOBUS",
    ];
    text.contains(&b'$')
        || text.iter().all(u8::is_ascii_digit)
        || NAMES.iter().any(|name| name.eq_ignore_ascii_case(text))
}

/// An `if` that no `endif` ends: the rules are rejected as a whole.
fn without_end(raw: &[u8]) -> Option<TransformPart> {
    let (mut open, mut start) = (Vec::new(), 0);
    for line in raw.split(|byte| *byte == b'\n') {
        let blanks = line.len() - line.trim_ascii_start().len();
        let word = &line[blanks..][..line[blanks..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count()];
        let is_alone = line[blanks + word.len()..].first().is_none_or(u8::is_ascii_whitespace);
        if is_alone && word.eq_ignore_ascii_case(b"if") {
            open.push(Span::new(start + blanks, start + blanks + word.len()));
        } else if is_alone && word.eq_ignore_ascii_case(b"endif") {
            open.pop();
        }
        start += line.len() + 1;
    }
    let help = "without it, the whole transform is ignored";
    let finding = |span| Diagnostic::error("`if` without `endif`", span).help(help).code("syntax");
    open.pop().map(|span| TransformPart::Invalid(finding(span)))
}

/// Conditions that a later one replaces: HTCondor reads `REQUIREMENTS` before the commands, and keeps the last one.
fn replaced_conditions(raw: &[u8]) -> Vec<TransformPart> {
    let (mut conditions, mut start) = (Vec::new(), 0);
    for line in raw.split(|byte| *byte == b'\n') {
        let mut words = Words { line, at: 0 };
        let word = words.next().filter(|word| line[word.clone()].eq_ignore_ascii_case(b"REQUIREMENTS"));
        if let Some(word) = word.filter(|_| !words.rest().is_empty() && !line[words.rest()].starts_with(b"=")) {
            conditions.push(Span::new(start + word.start, start + word.end));
        }
        start += line.len() + 1;
    }
    conditions.pop();
    let help = "write one condition, with `&&` or `||` between the two";
    let message = "this condition has no effect: a later `REQUIREMENTS` replaces it";
    let finding = |span| Diagnostic::warning(message, span).help(help).code("odd-line");
    conditions.into_iter().map(|span| TransformPart::Invalid(finding(span))).collect()
}

/// The error in `/pattern/`; `None` for a valid one, and for plain names.
fn pattern(text: &[u8]) -> Option<String> {
    let body = text.strip_prefix(b"/")?;
    // A macro may have the end.
    let Some(end) = memchr::memrchr(b'/', body) else {
        return (!body.contains(&b'$')).then(|| "it has no `/` at its end".to_owned());
    };
    pcre::compile(&String::from_utf8_lossy(&body[..end]), Options::default(), false)
        .err()
        .map(|error| error.to_string())
}

/// The words of a line.
struct Words<'a> {
    line: &'a [u8],
    at: usize,
}

impl Words<'_> {
    /// The next word; none at the end of the line.
    fn next(&mut self) -> Option<Range<usize>> {
        let blanks = self.line[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let start = self.at + blanks;
        let length = self.line[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.at = start + length;
        (length > 0).then_some(start..start + length)
    }

    /// The first argument of a command: a pattern, or a word, behind which `=` and `,` mean nothing.
    fn argument(&mut self) -> Option<Range<usize>> {
        let mut word = self.next()?;
        if self.line[word.start] == b'/' {
            // A pattern may hold blanks.
            if let Some(end) = memchr::memchr(b'/', &self.line[word.start + 1..]) {
                word.end = word.end.max(word.start + 1 + end + 1);
                self.at = word.end;
            }
            return Some(word);
        }
        if word.len() > 1 && matches!(self.line[word.end - 1], b'=' | b',') {
            word.end -= 1;
        }
        let before = self.at;
        if !self.next().is_some_and(|next| matches!(&self.line[next], b"=" | b",")) {
            self.at = before;
        }
        Some(word)
    }

    /// The rest of the line, trimmed.
    fn rest(&self) -> Range<usize> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.len() - rest.trim_ascii_start().len();
        start..start + self.line[start..].trim_ascii_end().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::knob;

    /// The expressions of a value, conditions with `?`, those that become attributes in brackets; what is wrong with
    /// `!`.
    fn shown(raw: &str) -> Vec<String> {
        let line = |part: TransformPart| match part {
            TransformPart::Expression { place, role, alone, .. } => {
                let mark = if role.condition { "?" } else { "" };
                if alone { format!("{}{mark}", &raw[place]) } else { format!("[{}{mark}]", &raw[place]) }
            }
            TransformPart::Invalid(found) => format!("! {}: {}", &raw[found.span.range()], found.message),
        };
        parts(raw.as_bytes()).into_iter().map(line).collect()
    }

    #[test]
    fn the_expressions_of_commands_are_found() {
        let raw = "NAME x\nrequirements   JobUniverse == 5 \nSET A 1 + B\nEvalSet C D * 2\nDEFAULT Requirements E\n\
                   EVALMACRO m F\nm = 5\n  SET G = H\nSET I, J\nCOPY A B\nRENAME /^A(.*)/ B\\1\nDELETE /x y/\nUNIVERSE 5\nTRANSFORM\n\
                   if defined MY.x\nelse\nendif\n# SET\n$(COMMAND) K L\nSET M  ";
        assert_eq!(
            shown(raw),
            ["JobUniverse == 5?", "[1 + B]", "D * 2", "[E?]", "F", "[H]", "[J]", "! SET: `SET` without an expression"]
        );
        assert_eq!(shown("[ Requirements = a; ]"), Vec::<String>::new());
    }

    #[test]
    fn commands_that_are_none_are_told() {
        assert_eq!(
            shown("REQUIREMENTS\nSETT A 1\nCOPY A\nDELETE\nDELETE /(/\nRENAME /a(/ b"),
            [
                "! REQUIREMENTS: `REQUIREMENTS` without a condition",
                "! SETT: `SETT` is not a transform command: expected `SET`, `DEFAULT` or another command",
                "! COPY: `COPY` without a second name",
                "! DELETE: `DELETE` without an attribute",
            ]
            .into_iter()
            .map(str::to_owned)
            .chain(["/(/", "/a(/"].map(|text| {
                let error = pattern(text.as_bytes()).unwrap();
                format!("! {text}: `{text}` is not a valid pattern: {error}")
            }))
            .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_condition_behind_an_equals_sign_is_none() {
        let reported = ["! Requirements: `REQUIREMENTS =` sets a macro, so the transform does not have a condition"];
        assert_eq!(shown("NAME x\n Requirements = A > 1"), reported);
        for raw in ["Requirements = A\nSET B $(Requirements)", "RequirementsOf = A", "SET A 1\nRequirements A > 1"] {
            assert!(!shown(raw).iter().any(|line| line.starts_with('!')), "{raw}");
        }
    }

    #[test]
    fn transforms_and_routes_are_known_by_their_names() {
        for name in ["JOB_TRANSFORM_x", "job_router_route_Condor", "JOB_ROUTER_TRANSFORM_a"] {
            assert!(knob::is_transform(name.as_bytes()), "{name}");
        }
        for name in ["JOB_TRANSFORM_NAMES", "JOB_TRANSFORM_", "JOB_ROUTER_ROUTE_NAMES", "JOB_ROUTER_NAME", "START"] {
            assert!(!knob::is_transform(name.as_bytes()), "{name}");
        }
    }
}
