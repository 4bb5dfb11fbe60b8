//! Commands about the two ads: load, save, show, unset, match.

use std::fmt::Write as _;

use crate::repl::command::{CommandInput, problem, text, usage};
use crate::repl::draw::{excerpt, one_line};
use crate::repl::{Output, Session, because, slots};
use crate::report::{counted, printable, shortened};
use classmate::internal::eval::clause::{ClauseOutcome, clauses};
use classmate::internal::eval::matching::{is_true, requirements};
use classmate::internal::eval::walk::AdSide;
use classmate::internal::format::long::LongWriter;
use classmate::{ClassAd, EvalOptions, Name, Scope, Value, rank};

fn side_of(word: &str) -> Option<AdSide> {
    match word.to_ascii_lowercase().as_str() {
        "my" => Some(AdSide::My),
        "target" => Some(AdSide::Target),
        _ => None,
    }
}

pub(super) fn load(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let argument = input.text();
    if let Some((word, file)) = argument.split_once(char::is_whitespace)
        && word.eq_ignore_ascii_case("slots")
    {
        return match file.trim().rsplit_once(char::is_whitespace) {
            Some((file, number)) if number.parse::<u64>().is_ok() => problem(format!(
                "`:load slots` reads all ads of a file, and takes no number: found `{number}`\n  = help: `:load target {} {number}` reads one of them",
                printable(file.trim().as_bytes())
            )),
            _ => slots::load(session, file.trim()),
        };
    }
    let Some((side, whole)) =
        argument.split_once(char::is_whitespace).and_then(|(side, file)| Some((side_of(side)?, file.trim())))
    else {
        return usage("load");
    };
    // A number behind the file, unless white space belongs to its name.
    let (file, at) = match whole.rsplit_once(char::is_whitespace) {
        Some((file, number)) => match number.parse::<u64>() {
            Ok(0) => return problem("ads are counted from 1"),
            Ok(number) => (file.trim(), number),
            Err(_) => (whole, 1),
        },
        None => (whole, 1),
    };
    let settings = session.settings();
    match session.host.load(file, at, &settings) {
        Ok((ad, notes)) => {
            let mut outputs: Vec<Output> = notes.into_iter().map(Output::Warning).collect();
            let named = name_of(&ad).map_or("has".to_owned(), |name| format!("is `{name}`, with"));
            let attributes = counted(ad.len() as u64, "attribute");
            outputs.push(Output::Text(format!("{} {named} {attributes}", side.as_str())));
            session.set(side, ad);
            outputs
        }
        Err(message) => problem(message),
    }
}

/// The name of an ad: its Name, or its job ID.
fn name_of(ad: &ClassAd) -> Option<String> {
    let number = |name: &str| ad.constant(name).and_then(|value| value.as_int());
    match ad.constant("Name") {
        Some(Value::Str(name)) => Some(printable(&name)),
        _ => Some(format!("{}.{}", number("ClusterId")?, number("ProcId")?)),
    }
}

pub(super) fn save(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let argument = input.text();
    let (side, file) = match argument.split_once(char::is_whitespace) {
        Some((word, file)) if side_of(word).is_some() => (side_of(word).unwrap_or(AdSide::My), file.trim()),
        _ => (AdSide::My, argument.as_str()),
    };
    if file.is_empty() || side_of(file).is_some() {
        return usage("save");
    }
    let Some(ad) = session.ad(side) else { return no_target() };
    let mut out = Vec::new();
    let lost = LongWriter::default().write(&mut out, ad);
    let lines = counted(memchr::memchr_iter(b'\n', &out).count() as u64, "attribute");
    let mut outputs = match session.host.save(file, &out) {
        Ok(()) => text(format!("wrote {lines} of {} to `{file}`", side.as_str())),
        Err(message) => return problem(message),
    };
    for lost in lost {
        outputs.push(Output::Warning(format!("warning: `{}` cannot be read back unchanged", lost.name)));
    }
    outputs
}

fn no_target() -> Vec<Output> {
    problem("there is no TARGET\n  = help: load one with `:load target FILE`, or define `TARGET.Name = value`")
}

pub(super) fn show(session: &mut Session, side: AdSide, input: CommandInput<'_>) -> Vec<Output> {
    let wanted = input.text().to_ascii_lowercase();
    let Some(ad) = session.ad(side) else { return no_target() };
    let shown = ad.iter().filter(|(name, _)| name.display().to_ascii_lowercase().contains(&wanted));
    let lines: Vec<String> = shown
        .map(|(name, expr)| session.painted(&printable(&format!("{} = {}", name, one_line(&expr)).into_bytes())))
        .collect();
    match lines.as_slice() {
        [] if wanted.is_empty() => text(format!("{} does not have any attributes", side.as_str())),
        [] => text(format!("{} does not have an attribute with `{wanted}` in its name", side.as_str())),
        lines => text(lines.join("\n")),
    }
}

pub(super) fn unset(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    let argument = input.text();
    let (side, name) = match argument.split_once('.') {
        Some((word, name)) if side_of(word).is_some() => (side_of(word).unwrap_or(AdSide::My), name.to_owned()),
        _ => (AdSide::My, argument),
    };
    if name.is_empty() {
        return usage("unset");
    }
    let ad = match side {
        AdSide::Target => session.target.as_mut(),
        _ => Some(&mut session.my),
    };
    match ad.and_then(|ad| ad.remove(Name::new(&name))) {
        Some(_) => Vec::new(),
        None => problem(format!("{} does not have an attribute `{name}`", side.as_str())),
    }
}

pub(super) fn match_ads(session: &mut Session, _: CommandInput<'_>) -> Vec<Output> {
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
            _ if !one.contains("Requirements") => "no: it does not have Requirements".to_owned(),
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
fn refusing(report: &mut String, one: &ClassAd, other: &ClassAd, settings: &EvalOptions, swapped: bool) {
    let scope = Scope::new(one, settings).with_target(other);
    let all = clauses(scope, "Requirements");
    let refusing: Vec<&ClauseOutcome> = all.iter().filter(|clause| !clause.accepts()).collect();
    for clause in &refusing {
        let value = match &clause.value {
            Ok(value) => shortened(&value.to_string(), 20),
            Err(_) => "abandoned".to_owned(),
        };
        let from: String = clause.path.iter().map(|via| format!("{} → ", via.name)).collect();
        let _ = writeln!(report, "  {value:9}  {from}{}", excerpt(&clause.expr, 100));
        for cause in &clause.causes {
            let why = because(cause, swapped);
            let _ = writeln!(report, "             {}", why.trim_start().replace('\n', "\n           "));
        }
    }
    let accepting = all.len() - refusing.len();
    if accepting > 0 {
        let _ = writeln!(report, "  {} of {} accept", accepting, counted(all.len() as u64, "clause"));
    }
}
