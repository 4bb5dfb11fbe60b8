//! Explanations of jobs and slots, as text. One file, because all parts of a page share its limit of lines.

use std::io::{self, Write};
use std::ops::Range;

use crate::report::fold::Folded;
use crate::report::outcome::slots_left;
use crate::report::table::{Screen, Table, TableColumn, write_table};
use crate::report::{Color, Paint, counted, shortened};
use classmate::internal::eval::conditions::Connective;
use classmate_advice::internal::explain::Explanation;
use classmate_advice::internal::explain::causes::Reason;
use classmate_advice::internal::explain::clauses::Clause;
use classmate_advice::internal::explain::cycle::order::{JobRank, shown};
use classmate_advice::internal::explain::cycle::reasons::{CauseSurvey, CommonCause};
use classmate_advice::internal::explain::cycle::trace::CycleTrace;
use classmate_advice::internal::explain::names::MissingAttribute;
use classmate_advice::internal::explain::near_jobs::SlotChange;
use classmate_advice::internal::explain::repair::selection::MAX_SHOWN;
use classmate_advice::internal::explain::repair::suggestion::{ANY_STRING, Change, Changed, ReplayedJob, Suggestion};
use classmate_advice::internal::explain::slot::{CandidateSubmitter, SlotExplanation};
use classmate_advice::internal::explain::tested_setting::TestedSetting;
use classmate_advice::internal::explain::values::verb;
use classmate_advice::internal::submit::attributes::{command_of, unquoted};
use classmate_pool::internal::quota::derivation::slots;

/// The parts of an explanation that are written besides the causes and what to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShownParts {
    /// All conditions, the nearest slots or jobs, all suggestions, and the cycle.
    pub details: bool,
    /// The conditions of so many policies of slots.
    pub policies: usize,
}

/// Maximum number of lines without details.
const MAX_LINES: usize = 12;
/// Maximum number of lines of a suggestion without details: one that is longer makes too many changes to be worth more than a cause.
const MAX_SUGGESTION: usize = 4;
/// Characters of a condition in a sentence without details.
const MAX_CONDITION: usize = 60;

/// Characters of a condition that a suggestion writes.
const MAX_WRITTEN: usize = 200;

/// Characters of the rest of a sentence between two conditions.
const MAX_VALUES: usize = 240;

/// The same of causes that otherwise leave no room for others.
const SHORT_CONDITION: usize = 36;
const SHORT_VALUES: usize = 100;

/// Causes for which there should be room.
const FEW_CAUSES: usize = 3;

/// Characters of such a rest that are kept at its end, where the next condition is introduced.
const MAX_LINK: usize = 60;

/// A sentence with its conditions, which are in backticks, and its values cut to a readable length.
fn brief(text: &str) -> String {
    brief_but(text, (MAX_CONDITION, MAX_VALUES), |_, _| false)
}

/// A suggestion, cut as a sentence is, but for what is to be written, unless that is very long.
fn brief_change(text: &str) -> String {
    let is_written = |before: &str, part: &str| before.ends_with("with ") && part.chars().count() <= MAX_WRITTEN;
    brief_but(text, (MAX_CONDITION, MAX_VALUES), is_written)
}

/// As [`brief`], with so many characters of a condition and of the rest; a condition stays whole if that holds for the text before it
/// and for it.
fn brief_but(text: &str, (of_condition, of_values): (usize, usize), is_whole: impl Fn(&str, &str) -> bool) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let cut = |(at, part): (usize, &&str)| match at % 2 {
        1 if is_whole(parts[at - 1], part) => (*part).to_owned(),
        1 => shortened(&without_arguments(part, of_condition), of_condition),
        _ => with_fewer_values(part, of_values, at + 1 == parts.len()),
    };
    parts.iter().enumerate().map(cut).collect::<Vec<_>>().join("`")
}

/// A sentence on the parts of a condition without the condition at its end, which `--details` has.
fn without_whole(text: &str) -> &str {
    let whole =
        text.rfind(", so `").filter(|at| text[*at..].matches('`').count() == 2 && text.ends_with("` is not true"));
    whole.map_or(text, |at| &text[..at])
}

/// The rest of a sentence between two conditions, or its end, without the values in parentheses that are too many; what follows them
/// stays. A part of the sentence itself is left out only if it is very long: what is left might mean the contrary.
fn with_fewer_values(part: &str, most: usize, is_last: bool) -> String {
    if part.chars().count() <= most {
        return part.to_owned();
    }
    let is_link = |at: &usize| part[*at..].chars().count() <= MAX_LINK;
    let link = part.rfind(')').filter(is_link);
    let of_length = || part.char_indices().rev().nth(MAX_LINK - 1).map(|(at, _)| at).filter(|_| !is_last);
    let link = link.or_else(of_length).map_or("", |at| &part[at..]);
    let head = shortened(part, most.saturating_sub(link.chars().count()));
    let is_value = |at: &usize| head[..*at].matches('(').count() > head[..*at].matches(')').count();
    match head.rmatch_indices(", ").map(|(at, _)| at).find(is_value) {
        Some(end) => format!("{}, …{link}", &head[..end]),
        None if most < MAX_VALUES => with_fewer_values(part, MAX_VALUES, is_last),
        None => format!("{head}{link}"),
    }
}

/// A condition whose longest arguments of calls are cut, one after the other, until it has at most so many characters.
fn without_arguments(condition: &str, most: usize) -> String {
    let mut excess = condition.chars().count().saturating_sub(most);
    let places = arguments(condition);
    let lengths: Vec<usize> = places.iter().map(|range| condition[range.clone()].chars().count()).collect();
    let mut by_length: Vec<usize> = (0..places.len()).collect();
    by_length.sort_by_key(|at| std::cmp::Reverse((lengths[*at], *at)));
    let mut cut: Vec<Option<String>> = vec![None; places.len()];
    for at in by_length.into_iter().take_while(|at| lengths[*at] > 1) {
        if excess == 0 {
            break;
        }
        let kept = shortened(&condition[places[at].clone()], lengths[at].saturating_sub(excess + 1));
        excess = excess.saturating_sub(lengths[at].saturating_sub(kept.chars().count()));
        cut[at] = Some(kept);
    }
    let (mut text, mut done) = (String::new(), 0);
    for (range, kept) in places.into_iter().zip(cut) {
        text.push_str(&condition[done..range.start]);
        text.push_str(kept.as_deref().unwrap_or(&condition[range.clone()]));
        done = range.end;
    }
    text + &condition[done..]
}

/// The places of the arguments of the calls in an expression that are in no other call.
fn arguments(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut open, mut is_quoted, mut last) = (Vec::new(), Vec::new(), false, ' ');
    for (at, one) in text.char_indices() {
        match one {
            '"' if last != '\\' => is_quoted = !is_quoted,
            '(' if !is_quoted => open.push((at + 1, last.is_alphanumeric() || last == '_')),
            ')' if !is_quoted => {
                let call = open.pop().filter(|(_, is_call)| *is_call);
                if let Some((start, _)) = call.filter(|_| !open.iter().any(|(_, is_call)| *is_call)) {
                    found.push(start..at);
                }
            }
            _ => {}
        }
        last = one;
    }
    found
}

/// The number of lines of some texts, folded to a width.
fn line_count(texts: &[String], width: Option<usize>) -> usize {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = writeln!(Folded::new(&mut out, width), "{}", texts.join("\n"));
    memchr::memchr_iter(b'\n', &out).count()
}

/// Writes a status, causes and suggestions in at most twelve lines: left out first are causes after the second, then suggestions
/// after the first, and only then the second cause. Causes that are left out are counted. Where there is room for few, their conditions
/// and values are shorter.
fn summary(out: &mut impl Screen, lines: SummaryLines, parts: &ShownParts, color: Color) -> io::Result<()> {
    let SummaryLines { status, causes, mut folded, mut suggestions, more } = lines;
    let mut shown = causes.len();
    let mut lengths = (MAX_CONDITION, MAX_VALUES);
    // The heading alone suggests nothing.
    let lines_of = |change: &str| line_count(&[change.to_owned()], out.width());
    // What becomes of the job does not make a change longer.
    suggestions.retain(|one| parts.details || lines_of(&one.change) <= MAX_SUGGESTION);
    if suggestions.len() == 1 {
        suggestions.clear();
    }
    loop {
        let mut lines = vec![status.clone()];
        let is_short = lengths.0 == SHORT_CONDITION;
        let shorter =
            |text: &String| brief_but(if is_short { without_whole(text) } else { text }, lengths, |_, _| false);
        let cause = |text: &String| if parts.details { format!("- {text}") } else { format!("- {}", shorter(text)) };
        lines.extend(causes.iter().take(shown).map(cause));
        let hidden = causes.len() - shown;
        let hidden = (hidden > 0).then(|| format!("{} not shown", counted(hidden as u64, "more cause")));
        let notes: Vec<String> = hidden.into_iter().chain(folded.clone()).collect();
        lines.extend((!notes.is_empty()).then(|| color.paint(Paint::Faint, &notes.join("; "))));
        lines.extend(suggestions.iter().map(|one| format!("{}{}", one.change, one.stays_idle)));
        lines.extend((!parts.details).then(|| color.paint(Paint::Faint, &format!("more: {}", more.join(", ")))));
        let fits = parts.details || line_count(&lines, out.width()) <= MAX_LINES;
        if fits {
            return lines.iter().try_for_each(|line| writeln!(out, "{line}"));
        }
        // The first suggestion is below a heading.
        if shown <= FEW_CAUSES && causes.len() > 1 && lengths.0 > SHORT_CONDITION {
            (shown, lengths) = (causes.len(), (SHORT_CONDITION, SHORT_VALUES));
        } else if shown > 2 {
            shown -= 1;
        } else if suggestions.len() > 2 {
            suggestions.pop();
        } else if folded.is_some() {
            folded = None;
        } else if shown > 1 {
            shown -= 1;
        } else {
            return lines.iter().try_for_each(|line| writeln!(out, "{line}"));
        }
    }
}

/// The lines of an explanation without details.
struct SummaryLines {
    status: String,
    causes: Vec<String>,
    /// The line with the counts of conditions and causes that are not listed.
    folded: Option<String>,
    suggestions: Vec<SuggestionLine>,
    /// The options that show more.
    more: Vec<String>,
}

/// A line about what to do, or the heading of such lines.
struct SuggestionLine {
    /// The change and the slots that match then.
    change: String,
    /// The clause on the cause for which the job stays idle with the change; empty if it does not.
    stays_idle: String,
}

impl From<String> for SuggestionLine {
    fn from(change: String) -> Self {
        SuggestionLine { change, stays_idle: String::new() }
    }
}

/// Writes why a job is idle, or which slot it got.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Explanation, parts: &ShownParts, color: Color) -> io::Result<()> {
    let first = found.causes.first().map(|cause| cause.reason);
    let (job, submitter, all) = (&found.job, &found.submitter, counted(found.slots as u64, "slot"));
    let matches = if found.slots == 1 { "matches" } else { verb(found.matching, "matches", "match") };
    let matching = format!("{} of {all} {matches}", found.matching);
    let unclaimed = found.cycle.as_ref().filter(|story| story.taken.usable > 0).map(|story| story.taken.left);
    let unclaimed = unclaimed.map(|left| format!(", {left} unclaimed after the cycle")).unwrap_or_default();
    let state = match (first, &found.cycle) {
        (Some(Reason::Matched), Some(CycleTrace { matched: Some(made), .. })) if made.offline => {
            color.paint(Paint::Bad, "wakes an offline slot")
        }
        (Some(Reason::Matched), _) => color.paint(Paint::Good, "gets a slot"),
        (Some(Reason::NotIdle | Reason::Displaced), _) | (_, None) => String::new(),
        _ => color.paint(Paint::Bad, "is idle"),
    };
    let state = if state.is_empty() { state } else { format!(" {state}") };
    let mut more = vec!["--details".to_owned()];
    more.extend((parts.policies == 0 && !found.policies.is_empty()).then(|| "--policies".to_owned()));
    match (first, found.cycle.as_ref().and_then(|story| story.group.as_ref())) {
        (Some(Reason::GroupQuota), Some(group)) => more.push(format!("--group '{}'", group.group)),
        (Some(Reason::Taken), _) if is_unmatched(found) => {}
        (Some(Reason::Share | Reason::Ceiling | Reason::Taken), _) => more.push(format!("--submitter {submitter}")),
        _ => {}
    }
    let always = found.always.len();
    let is_unmatched = is_unmatched(found);
    let always = (is_unmatched && always > 0).then(|| {
        format!(
            "{} of the job {} true for every slot",
            counted(always as u64, "other condition"),
            verb(always, "is", "are")
        )
    });
    let others = (is_unmatched && found.others > 0).then(|| {
        format!("{} {} other conditions", counted(found.others as u64, "slot"), verb(found.others, "fails", "fail"))
    });
    let long = (is_unmatched && found.long > 0).then(|| {
        let of = verb(found.long, "only its removal was tested", "only their removal was tested");
        format!(
            "{} of the job {} too long to be changed in part: {of}",
            counted(found.long as u64, "condition"),
            verb(found.long, "is", "are")
        )
    });
    let folded: Vec<String> = others.into_iter().chain(always).chain(long).collect();
    let mut suggestions = suggestions(found, color);
    suggestions.extend(remedy(found, color).into_iter().map(SuggestionLine::from));
    // Without a domain the name of a submitter ends with `@`.
    let owner = submitter.strip_suffix('@').unwrap_or(submitter);
    let kind = if job.contains('.') { "Job" } else { "Job factory" };
    let lines = SummaryLines {
        status: format!("{kind} {job} of {owner}{state}: {matching}{unclaimed}"),
        causes: found.causes.iter().map(|cause| cause.text.clone()).collect(),
        folded: (!folded.is_empty()).then(|| folded.join("; ")),
        suggestions: if parts.details { Vec::new() } else { suggestions },
        more,
    };
    summary(out, lines, parts, color)?;
    if parts.details {
        details(out, found, color)?;
    }
    if parts.policies > 0 {
        policies(out, found, parts.policies, color)?;
    }
    match &found.cycle {
        Some(story) if parts.details => cycle(out, story, color),
        _ => Ok(()),
    }
}

/// Returns true if there are slots, and none matches.
fn is_unmatched(found: &Explanation) -> bool {
    found.matching == 0 && found.slots > 0
}

/// The suggestions to show, in the syntax of a submit file, with the number of slots that match then.
fn suggestions(found: &Explanation, color: Color) -> Vec<SuggestionLine> {
    let shown: Vec<&Suggestion> = found.suggestions.iter().filter(|one| one.is_shown).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let heading = format!("What to do (tested against {}):", every(found.slots, "slot"));
    let line = |one: &&Suggestion| {
        let (change, effect) = suggested(one, found);
        let change = format!("  {}: {effect}", color.paint(Paint::Good, &brief_change(&change)));
        SuggestionLine { change, stays_idle: stays_idle(one) }
    };
    std::iter::once(heading.into()).chain(shown.iter().map(line)).collect()
}

/// All of some things, or the only one.
fn every(count: usize, what: &str) -> String {
    if count == 1 { format!("the only {what}") } else { format!("all {}", counted(count as u64, what)) }
}

/// The tested settings that lift the limit that stops the job, or the command that releases it.
fn remedy(found: &Explanation, color: Color) -> Vec<String> {
    let line = |command: &str, effect: &str| format!("  {}: {effect}", color.paint(Paint::Good, command));
    let mut lines: Vec<String> =
        found.settings.iter().take(MAX_SHOWN).map(|one| line(&one.command, &effect(one))).collect();
    if !lines.is_empty() {
        lines.insert(0, "What to do (tested in a cycle):".to_owned());
    } else if found.causes.first().is_some_and(|first| first.label == "the job is held") {
        let release = format!("condor_release {}", found.job);
        lines = vec!["What to do:".to_owned(), line(&release, "after the reason for the hold is gone")];
    }
    lines
}

/// The effect of a tested setting: the job gets a slot, and others get or lose one.
fn effect(setting: &TestedSetting) -> String {
    let lost = if setting.lost > 0 { format!(", −{}", setting.lost) } else { String::new() };
    format!("the job gets a slot (jobs with a slot: +{}{lost})", setting.won)
}

/// The conditions of the job, the slots that are nearest to it, and all suggestions.
fn details(out: &mut impl Screen, found: &Explanation, color: Color) -> io::Result<()> {
    writeln!(
        out,
        "the job's Requirements accept {}; {} {} the job",
        counted(found.accepted_by_job as u64, "slot"),
        counted(found.accepting_job as u64, "slot"),
        verb(found.accepting_job, "accepts", "accept")
    )?;
    remarks(out, found)?;
    writeln!(out, "\nRequirements of the job, evaluated for each slot")?;
    if found.clauses.is_empty() {
        writeln!(out, "  the job does not have Requirements, so it does not match any slot")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    nearest(out, "slot", &found.nearest, |near| {
        let sides = [("the job requires ", &near.by_job), ("the slots require", &near.by_slot)];
        (near.slots, &near.example, sides)
    })?;
    if !found.suggestions.is_empty() {
        // What already matches is not lost sight of.
        let more = if found.matching > 0 { " for more matches" } else { "" };
        writeln!(out, "\nSuggested changes{more} (tested against all slots)")?;
        for suggestion in &found.suggestions {
            let (change, effect) = suggested(suggestion, found);
            writeln!(out, "  {change}: {effect}, such as {}{}", suggestion.example, stays_idle(suggestion))?;
        }
    }
    if !found.settings.is_empty() {
        writeln!(out, "\nSuggested settings (tested in a cycle):")?;
        found.settings.iter().try_for_each(|one| writeln!(out, "  {}: {}", one.command, effect(one)))?;
    }
    Ok(())
}

/// The conditions of so many policies of slots.
fn policies(out: &mut impl Screen, found: &Explanation, most: usize, color: Color) -> io::Result<()> {
    writeln!(out, "\nRequirements of the slots, evaluated for the job")?;
    for policy in found.policies.iter().take(most) {
        let refusing = policy.slots - policy.accepting;
        let does = if refusing > 0 {
            format!("{refusing} {} the job", verb(refusing, "rejects", "reject"))
        } else {
            format!("{} {} the job", policy.accepting, verb(policy.accepting, "accepts", "accept"))
        };
        writeln!(out, "{}: {does}", examples(policy.slots, "slot", &policy.example))?;
        if policy.clauses.is_empty() {
            writeln!(out, "  no Requirements, so they do not match any job")?;
        } else {
            clauses(out, &policy.clauses, color)?;
        }
    }
    if found.policies.len() > most {
        writeln!(out, "… {} more (use --policies NUMBER)", found.policies.len() - most)?;
    }
    Ok(())
}

/// A count with one example.
fn examples(count: usize, noun: &str, example: &str) -> String {
    let such_as = if count == 1 { "" } else { "such as " };
    format!("{} ({such_as}{example})", counted(count as u64, noun))
}

/// Notes on undefined names, and on conditions that every slot satisfies.
fn remarks(out: &mut impl Write, found: &Explanation) -> io::Result<()> {
    let is_reported = |clause: &str| found.causes.iter().any(|cause| cause.text.contains(clause));
    // Of one condition one note, whatever it names.
    let mut notes: Vec<(&MissingAttribute, Vec<String>)> = Vec::new();
    for one in found.absent.iter().filter(|one| one.decides && !is_reported(&one.clause)) {
        let name = match &one.similar {
            Some(similar) => format!("`{}` (did you mean `{similar}`?)", one.name),
            None => format!("`{}`", one.name),
        };
        let key = |one: &MissingAttribute| (one.of_job, one.is_of_own_ad());
        match notes.iter_mut().find(|(known, _)| key(known) == key(one) && known.clause == one.clause) {
            Some((_, names)) => names.push(name),
            None => notes.push((one, vec![name])),
        }
    }
    for (one, names) in notes {
        let absent = if one.of_job == one.is_of_own_ad() { "the job does not define" } else { "no slot advertises" };
        let side = if one.of_job { "the job requires" } else { "slots require" };
        writeln!(out, "note: {absent} {}; {side} `{}`", names.join(", "), shortened(&one.clause, MAX_NOTED))?;
    }
    if is_unmatched(found) && !found.always.is_empty() {
        let texts: Vec<String> = found.always.iter().map(|text| format!("`{text}`")).collect();
        writeln!(out, "note: every slot satisfies {}", texts.join(", "))?;
    }
    Ok(())
}

/// Characters of a condition in a note; its full text is in the table.
const MAX_NOTED: usize = 160;

fn clauses(out: &mut impl Screen, clauses: &[Clause], color: Color) -> io::Result<()> {
    let mut table = Table::new(["TRUE", "FALSE", "UNDEF", "ERROR", "TOGETHER", "CONDITION"], &[0, 1, 2, 3, 4]);
    for clause in clauses {
        let text = match clause.joint {
            Connective::All => "all of".to_owned(),
            Connective::Any => "one of".to_owned(),
            Connective::Choice => "if, then, else".to_owned(),
            Connective::Leaf | Connective::Not => clause.text.clone(),
        };
        let via = clause.via.last().map(|name| format!("{name}: ")).unwrap_or_default();
        let together = match clause.joint {
            Connective::All => clause.alone.yes.to_string(),
            _ => clause.together.map(|count| count.to_string()).unwrap_or_default(),
        };
        table.row([
            clause.alone.yes.to_string(),
            clause.alone.no.to_string(),
            clause.alone.undefined.to_string(),
            clause.alone.error.to_string(),
            together,
            format!("{}{via}{text}", "  ".repeat(clause.depth)),
        ]);
    }
    table.write(out, color)
}

/// Writes why a slot is idle, or who gets it.
///
/// # Errors
/// The output cannot be written.
pub fn write_slot(out: &mut impl Screen, found: &SlotExplanation, parts: &ShownParts, color: Color) -> io::Result<()> {
    let user = found.user.as_ref().map(|user| format!(", used by {user}")).unwrap_or_default();
    let all = counted(found.jobs as u64, "idle job");
    let matches = if found.jobs == 1 { "matches" } else { verb(found.matching, "matches", "match") };
    let (slot, state, weight) = (&found.slot, &found.state, slots(found.weight));
    let change = |change: &SlotChange| {
        let of_slot = change.changes.iter().all(|change| change.of == Changed::Slot);
        let changes = commands(&change.changes, "the slot").join(" and ");
        if of_slot {
            let matches = verb(change.jobs, "matches", "match");
            return format!("  {changes}: {} of {all} {matches}, such as {}", change.jobs, change.job);
        }
        format!("  job {}: {changes}", change.job)
    };
    let suggestions = || {
        let heading = format!("What to do (tested against {}):", every(found.jobs, "idle job"));
        let lines = found.changes.iter().take(MAX_SHOWN).map(change);
        std::iter::once(heading).chain(lines).map(SuggestionLine::from).collect()
    };
    let lines = SummaryLines {
        status: format!("Slot {slot}: {state}{user}, weight {weight}; {} of {all} {matches}", found.matching),
        causes: found.causes.iter().map(|cause| cause.text.clone()).collect(),
        folded: None,
        suggestions: if parts.details || found.changes.is_empty() { Vec::new() } else { suggestions() },
        more: vec!["--details".to_owned()],
    };
    summary(out, lines, parts, color)?;
    if found.jobs == 0 || !parts.details {
        return Ok(());
    }
    writeln!(
        out,
        "the slot accepts {}; {} {} the slot",
        counted(found.accepted_by_slot as u64, "job"),
        counted(found.accepting_slot as u64, "job"),
        verb(found.accepting_slot, "accepts", "accept")
    )?;
    writeln!(out, "\nRequirements of the slot, evaluated for each idle job")?;
    if found.clauses.is_empty() {
        writeln!(out, "  no Requirements, so it does not match any job")?;
    } else {
        clauses(out, &found.clauses, color)?;
    }
    if !found.refused_by.is_empty() {
        let which = if found.accepted_by_slot > 0 { "jobs that it accepts" } else { "jobs" };
        writeln!(out, "\nWhy {which} reject it")?;
        for (text, count) in found.refused_by.iter().take(10) {
            writeln!(out, "  {count} because of {text}")?;
        }
    }
    if !found.candidates.is_empty() {
        writeln!(out, "\nSubmitters with matching jobs")?;
        let columns: [TableColumn<CandidateSubmitter>; 4] = [
            TableColumn::left("SUBMITTER", 0, |one| one.submitter.clone()),
            TableColumn::right("JOBS", 0, |one| one.jobs.to_string()),
            TableColumn::right("MATCHED ELSEWHERE", 0, |one| one.elsewhere.to_string()),
            TableColumn::left("STOPPED", 0, |one| one.stopped.clone()),
        ];
        write_table(out, &columns, &found.candidates, color)?;
    }
    nearest(out, "job", &found.nearest, |near| {
        let sides = [("the slot requires", &near.by_slot), ("the job requires ", &near.by_job)];
        (near.jobs, &near.example, sides)
    })?;
    if !found.changes.is_empty() {
        writeln!(out, "\nSuggested changes (tested against all idle jobs)")?;
        found.changes.iter().try_for_each(|one| writeln!(out, "{}", change(one)))?;
    }
    Ok(())
}

/// The conditions of one side that fail, after the words that introduce them.
type FailingSide<'f> = (&'static str, &'f Vec<String>);

/// Slots or jobs that do not match, by the conditions of both sides that fail: how many, an example, and the conditions.
fn nearest<T>(
    out: &mut impl Write,
    noun: &str,
    all: &[T],
    parts: impl Fn(&T) -> (usize, &String, [FailingSide<'_>; 2]),
) -> io::Result<()> {
    if !all.is_empty() {
        writeln!(out, "\nNearest {noun}s that do not match")?;
    }
    for (count, example, sides) in all.iter().map(parts) {
        let failing: u64 = sides.iter().map(|(_, conditions)| conditions.len() as u64).sum();
        writeln!(out, "{}: {}", examples(count, noun, example), counted(failing, "failing condition"))?;
        for (who, conditions) in sides {
            conditions.iter().try_for_each(|text| writeln!(out, "  {who}  {text}"))?;
        }
    }
    Ok(())
}

/// Writes how many idle jobs got no slot for each cause.
///
/// # Errors
/// The output cannot be written.
pub fn write_survey(out: &mut impl Screen, found: &CauseSurvey, parts: &ShownParts) -> io::Result<()> {
    const MAX_CAUSES: usize = MAX_LINES - 3;
    let CauseSurvey { idle, matched, held, unmatched, causes, .. } = found;
    let jobs = counted(*idle as u64, "idle job");
    if *idle == 0 && *held > 0 {
        writeln!(out, "{jobs}; {held} held")?;
    } else {
        writeln!(out, "{jobs}: {matched} matched, {} not matched", idle - matched)?;
    }
    for CommonCause { label, jobs, example, .. } in unmatched {
        let place = label.strip_prefix("is ").unwrap_or(label);
        let are = verb(*jobs, "is", "are");
        writeln!(out, "{} {are} {place} (such as job {example})", counted(*jobs as u64, "more job"))?;
    }
    // At most four universes are not matched.
    let most = MAX_CAUSES.saturating_sub(unmatched.len());
    let line = |one: &CommonCause| {
        let label = if parts.details { one.label.clone() } else { brief(&one.label) };
        format!("{}: {label} (such as job {})", counted(one.jobs as u64, "job"), one.example)
    };
    let merged = found.by_kind();
    let causes = if parts.details || causes.len() <= most { causes } else { &merged };
    let mut shown = if parts.details { causes.len() } else { causes.len().min(most) };
    let lines: Vec<String> = causes[..shown].iter().map(line).collect();
    while !parts.details && shown > 1 && line_count(&lines[..shown], out.width()) > most {
        shown -= 1;
    }
    for (one, line) in causes[..shown].iter().zip(&lines) {
        writeln!(out, "{line}")?;
        if parts.details {
            writeln!(out, "  job {}: {}", one.example, one.text)?;
        }
    }
    let rest = &causes[shown..];
    if !rest.is_empty() {
        let jobs: usize = rest.iter().map(|one| one.jobs).sum();
        writeln!(out, "{}: {}", counted(jobs as u64, "job"), counted(rest.len() as u64, "other cause"))?;
    }
    if !parts.details && !causes.is_empty() {
        writeln!(out, "more: --details, --job ID")?;
    }
    Ok(())
}

/// Writes a story step by step.
///
/// # Errors
/// The output cannot be written.
pub fn write_steps(out: &mut impl Write, title: &str, steps: &[String]) -> io::Result<()> {
    writeln!(out, "{title}")?;
    steps.iter().try_for_each(|step| writeln!(out, "  {step}"))
}

/// A suggestion in the syntax of a submit file, and the slots that match then, with how many are won and lost if some
/// match now.
pub fn suggested(suggestion: &Suggestion, found: &Explanation) -> (String, String) {
    let changes = commands(&suggestion.changes, "slots");
    let Suggestion { slots, won, lost, unclaimed, .. } = *suggestion;
    let is_of_slots = suggestion.changes.iter().any(|change| change.of == Changed::Slot);
    let after = if is_of_slots { found.matching + won } else { slots };
    // Of the slots that match then, those that are won may be unclaimed: none that matches now is, or the job would have it,
    // unless it does not wait.
    let (left, of_won) = match found.cycle {
        Some(_) => (format!(", {unclaimed} unclaimed"), format!(", {unclaimed} of them unclaimed")),
        None => Default::default(),
    };
    let balance = match (won, lost) {
        (won, 0) if won == after => left,
        (won, 0) => format!(" (+{won}{of_won})"),
        (won, lost) => format!(" (+{won}{of_won}, −{lost})"),
    };
    let matches = if found.slots == 1 { "matches" } else { verb(after, "matches", "match") };
    let all = counted(found.slots as u64, "slot");
    (changes.join(" and "), format!("{after} of {all} {matches}{balance}"))
}

/// The clause after a suggestion on the cause for which the job stays idle, if it does in the replayed cycle.
fn stays_idle(suggestion: &Suggestion) -> String {
    match &suggestion.replayed {
        Some(ReplayedJob::Idle(label)) => format!("; the job stays idle: {}", brief(label)),
        Some(ReplayedJob::Matched) | None => String::new(),
    }
}

/// The command of a submit file for an attribute, with the number of bytes of its unit if it is an amount of memory or disk.
fn command(attribute: &str) -> (String, Option<u64>) {
    let lower = attribute.to_ascii_lowercase();
    let unit = match lower.as_str() {
        "requestmemory" | "gpusminmemory" => Some(1 << 20),
        "requestdisk" => Some(1 << 10),
        _ => None,
    };
    let command = match (lower.strip_prefix("request"), lower.as_str()) {
        (Some(resource), _) if !resource.is_empty() => format!("request_{resource}"),
        (_, "requirements" | "rank") => lower,
        (_, "gpusminruntime") => "gpus_minimum_runtime".to_owned(),
        (_, "gpusmincapability") => "gpus_minimum_capability".to_owned(),
        (_, "gpusmaxcapability") => "gpus_maximum_capability".to_owned(),
        (_, "gpusminmemory") => "gpus_minimum_memory".to_owned(),
        (_, "requiregpus") => "require_gpus".to_owned(),
        (_, "concurrencylimits") => "concurrency_limits".to_owned(),
        (_, "acctgroup" | "accountinggroup") => "accounting_group".to_owned(),
        (_, "acctgroupuser") => "accounting_group_user".to_owned(),
        _ => command_of(attribute).map_or_else(|| format!("+{attribute}"), |(command, _)| command.to_owned()),
    };
    (command, unit)
}

/// An amount of bytes in the largest unit in which it is whole; others as they are.
fn amount(value: &str, unit: Option<u64>) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let bytes = unit.and_then(|unit| value.parse::<u64>().ok()?.checked_mul(unit)).filter(|bytes| *bytes > 0);
    let Some(bytes) = bytes else { return value.to_owned() };
    let power = (bytes.trailing_zeros() as usize / 10).min(UNITS.len() - 1);
    format!("{} {}", bytes >> (10 * power), UNITS[power])
}

/// A version of CUDA, of which an ad has 1000 times the first part plus ten times the second; others as they are.
fn runtime(value: &str) -> String {
    value.parse::<u32>().map_or_else(|_| value.to_owned(), |both| format!("{}.{}", both / 1000, both % 1000 / 10))
}

/// Changes of the job as they are written in a submit file, or of the policy of slots.
fn commands(changes: &[Change], whose: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for change in changes.iter().map(|change| described(change, whose)) {
        // One command may make several changes.
        if !all.contains(&change) {
            all.push(change);
        }
    }
    all
}

/// Commands of submit files whose strings have no quotation marks.
const UNQUOTED: [&str; 3] = ["accounting_group", "accounting_group_user", "concurrency_limits"];

/// The commands of a submit file for another `AccountingGroup`: the group, a dot and the user.
fn account(before: &str, after: &str) -> String {
    let parts = |text: &str| -> Option<(String, String)> {
        let text = text.strip_prefix('"')?.strip_suffix('"')?;
        let (group, user) = text.rsplit_once('.').unwrap_or(("", text));
        Some((group.to_owned(), user.to_owned()))
    };
    let (old, Some((group, user))) = (parts(before), parts(after)) else {
        return format!("+AccountingGroup = {after}");
    };
    let commands = [("accounting_group", group), ("accounting_group_user", user)];
    let is_same = |(at, value): (usize, &String)| {
        old.as_ref().is_some_and(|(group, user)| [group, user][at] == value) || value.is_empty()
    };
    let changed = commands.iter().enumerate().filter(|(at, (_, value))| !is_same((*at, value)));
    let is_without = old.as_ref().is_some_and(|(group, _)| !group.is_empty()) && commands[0].1.is_empty();
    let removed = is_without.then(|| "remove accounting_group".to_owned());
    let written = changed.map(|(_, (command, value))| format!("{command} = {value}"));
    removed.into_iter().chain(written).collect::<Vec<_>>().join(" and ")
}

/// A change of the job as it is written in a submit file, or of the policy of slots.
fn described(change: &Change, whose: &str) -> String {
    let Change { attribute, before, after, .. } = change;
    if let Some(command) = &change.command {
        return command.clone();
    }
    let (command, unit) = command(attribute);
    match change.of {
        Changed::Job if after == "undefined" => format!("remove {command}"),
        Changed::Job if after.trim_matches('"') == ANY_STRING => format!("{command} = {after} (any string)"),
        Changed::Job if attribute.eq_ignore_ascii_case("AccountingGroup") => account(before, after),
        Changed::Job if UNQUOTED.contains(&command.as_str()) || command_of(attribute).is_some_and(|(_, text)| text) => {
            format!("{command} = {}", unquoted(after))
        }
        Changed::Job if command == "gpus_minimum_runtime" => format!("{command} = {}", runtime(after)),
        Changed::Job => format!("{command} = {}", amount(after, unit)),
        Changed::Correction | Changed::Constant => format!("in {command}, replace `{before}` with `{after}`"),
        Changed::Condition if command == "requirements" => format!("in {command}, remove `{before}`"),
        // Without it, the attribute may have no value.
        Changed::Condition => format!("in {command}, replace `{before}` with `{after}`"),
        Changed::Slot if after == "true" && before != "false" => {
            format!("remove `{before}` from `{attribute}` of {whose}")
        }
        Changed::Slot if after != "true" => format!("replace `{before}` with `{after}` in `{attribute}` of {whose}"),
        Changed::Slot => format!("set `{attribute}` of {whose} to {after}"),
    }
}

/// The group and the concurrency limits of a job.
fn bounds(out: &mut impl Write, story: &CycleTrace) -> io::Result<()> {
    if let Some(group) = &story.group {
        writeln!(
            out,
            "group {}: quota {:.2}, allocated {:.2}, requested {:.2}, in use {:.2}",
            group.group, group.quota, group.allocated, group.demand, group.usage
        )?;
        group.steps.iter().try_for_each(|step| writeln!(out, "  {step}"))?;
    }
    for limit in &story.limits {
        let (wanted, most, users) = (slots(limit.wanted), slots(limit.maximum), limit.users(usize::MAX));
        writeln!(out, "concurrency limit {}: requested {wanted}, maximum {most}, in use by {users}", limit.name)?;
    }
    Ok(())
}

fn cycle(out: &mut impl Screen, story: &CycleTrace, color: Color) -> io::Result<()> {
    writeln!(out, "\nNegotiation cycle")?;
    if let Some(refused) = &story.refused {
        writeln!(out, "request of job {} rejected: {}; {}", refused.job, refused.reason, slots_left(refused))?;
    }
    if let Some(rank) = &story.rank {
        let JobRank { priority, partition, tier, .. } = rank;
        writeln!(
            out,
            "its priority is {priority} in partition `{partition}` (PriorityTier {tier}); higher is better: {}",
            shown(rank)
        )?;
    }
    let stopped = story.stopped.map(|stopped| format!("; {}", stopped.as_str())).unwrap_or_default();
    match (story.place, &story.standing) {
        (Some(place), Some(standing)) => writeln!(
            out,
            "its submitter {}({standing}): {} of {} matched{stopped}",
            if story.rank.is_some() { String::new() } else { format!("is number {place} in line ") },
            story.submitter_matched,
            counted(story.submitter_idle as u64, "idle job"),
        )?,
        _ => writeln!(out, "its submitter did not negotiate{stopped}")?,
    }
    for turn in &story.turns {
        writeln!(out, "  {}", turn.sentence(story.ceiling.is_some()))?;
    }
    bounds(out, story)?;
    if !story.preemption.is_empty() {
        writeln!(out, "PREEMPTION_REQUIREMENTS, evaluated for the matching slots that it protects")?;
        clauses(out, &story.preemption, color)?;
    }
    let taken = &story.taken;
    if taken.usable > 0 {
        let matches = verb(taken.usable, "matches", "match");
        let (all, is) = (counted(taken.usable as u64, "slot"), verb(taken.left, "is", "are"));
        writeln!(out, "{all} {matches}; {} {is} still unclaimed", taken.left)?;
        taken.causes(10).iter().try_for_each(|cause| writeln!(out, "  {}", cause.text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_condition_the_arguments_of_calls_are_left_out() {
        let short = |text| without_arguments(text, 40);
        let sum = "(TARGET.Request - ifThenElse(A > 1,f(2),size(\")\"))) < Disk";
        assert_eq!(short(sum), "(TARGET.Request - ifThenElse(A…)) < Disk");
        let two = "member(TARGET.Site,{ \"a\" }) && member(TARGET.Job,{ \"bc\" })";
        assert_eq!(short(two), "member(TARGET.Site,{ \"a\" }) && member(…)");
        assert_eq!(short("member(TARGET.Site,Sites)"), "member(TARGET.Site,Sites)");
        let long = "(a + b) < 12345678901234567890123456789012";
        assert_eq!(short(long), long);
    }

    #[test]
    fn a_sentence_is_cut_only_in_its_values() {
        let short = |text| brief_but(text, (SHORT_CONDITION, SHORT_VALUES), |_, _| false);
        let free = "3 of 143 slots are large enough for the job, but in use: 0 to 26 of 64 cores and 131 to 1207 of 111671 to 114527 MB \
                    of memory are free";
        assert_eq!(short(free), free);
        let values = "4 slots do not satisfy `a` (Site of slots is \"SU-ITS\" (44), \"UNL-PATH\" (9), \"CHTC\" (6) and 39 other values, \
                      Memory of slots is 131 to 123986 MB)";
        assert_eq!(
            short(values),
            "4 slots do not satisfy `a` (Site of slots is \"SU-ITS\" (44), \"UNL-PATH\" (9), \"CHTC\" (6) and 39 other values, …)"
        );
    }

    #[test]
    fn the_words_between_conditions_stay() {
        let values = "x".repeat(300);
        let found = brief(&format!("1 slot does not satisfy `a` (A is {values}), nor `b` (B is {values})"));
        assert!(found.starts_with("1 slot does not satisfy `a` (A is xxx") && found.contains("x…), nor `b` (B is x"));
        assert!(found.ends_with("x…)") && found.matches('…').count() == 2, "{found}");
        let values = ["\"a long value\" (2)"; 20].join(", ");
        let found = brief(&format!("no slot satisfies `a` (A of slots is {values} and 9 other values)"));
        assert!(found.ends_with("\"a long value\" (2), …)") && found.chars().count() <= 270, "{found}");
    }
}
