//! Values that a template replaces, additions of a template that a later value loses, and arguments in another order.
//!
//! In: a configuration. Out: warnings of the rules `redefined-knob`, `conflicting-knobs` and `bad-value`, each with the variable that it is about.

use std::collections::HashMap;

use super::lists::Found;
use classmate::Diagnostic;
use classmate_config::internal::config::history::{Assigned, TemplateUse, assigned, templates};
use classmate_config::{Config, Source};

/// The findings about values and templates of one file that are in the wrong order.
pub(super) fn check(config: &Config) -> Found {
    config.sources().iter().flat_map(of_file).collect()
}

/// The origin of the value of a variable.
#[derive(Clone, Copy)]
enum Last<'f> {
    Own(&'f Assigned),
    /// A template that adds to an earlier value.
    Added(&'f TemplateUse),
    /// A template of which nothing is left without this value.
    Made(&'f TemplateUse),
}

fn of_file(source: &Source) -> Found {
    let used = templates(source);
    if used.is_empty() {
        return Found::new();
    }
    let own = assigned(source);
    let (mut last, mut found): (HashMap<Vec<u8>, Last<'_>>, _) = (HashMap::new(), Found::new());
    let mut uses = used.iter().peekable();
    for one in &own {
        while let Some(template) = uses.next_if(|template| template.place.line < one.place.line) {
            of_template(template, &mut last, &mut found);
        }
        of_own(one, &mut last, &mut found);
    }
    uses.for_each(|template| of_template(template, &mut last, &mut found));
    found
}

fn of_own<'f>(one: &'f Assigned, last: &mut HashMap<Vec<u8>, Last<'f>>, found: &mut Found) {
    let upper = one.name.to_ascii_uppercase();
    let reference = [b"$(", upper.as_slice()].concat();
    let refers = memchr::memmem::find(&one.value.to_ascii_uppercase(), &reference).is_some();
    if one.conditional || !one.replaces || refers {
        // Only what a plain value says may be lost as a whole.
        last.remove(&upper);
        return;
    }
    // Another rule speaks of daemons.
    if let Some(Last::Added(template) | Last::Made(template)) = last.insert(upper, Last::Own(one))
        && !one.name.eq_ignore_ascii_case(b"DAEMON_LIST")
    {
        let name = String::from_utf8_lossy(&one.name).into_owned();
        let message = format!("this replaces what `use {}` adds to `{name}`", template.title);
        let warning = Diagnostic::warning_at(message, Some(one.place.clone())).width(name.len());
        let help = format!("write the value ahead of line {}, or refer to it: `$({name})`", template.place.line);
        found.push((warning.help(help).code("conflicting-knobs"), name));
    }
}

/// The arguments of a template that makes a cron job, in another order: the program is a time, or the period is none (`InitPeriod` in
/// HTCondor's `cron_job_params.cpp`).
fn swapped(template: &TemplateUse) -> Option<(Diagnostic, String)> {
    const FORMS: [(&str, &[&str]); 3] = [
        ("PERIODIC", &["tag", "period", "program"]),
        ("ONESHOT", &["tag", "program"]),
        ("CONTINUOUS", &["tag", "program"]),
    ];
    let (_, name) = template.title.split_once(" : ")?;
    let upper = name.to_ascii_uppercase();
    let (kind, form) = FORMS.iter().find(|(kind, _)| upper.contains(kind))?;
    // The general ones begin with the name of the manager, `STARTD_CRON`.
    let (first, is_cron) = match upper.strip_suffix("CRONHOOK") {
        Some(front) => (1, front == *kind),
        None => (0, ["STARTDCRON", "SCHEDDCRON"].iter().any(|front| upper.strip_prefix(front) == Some(kind))),
    };
    let own: Vec<String> = template.arguments.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect();
    let argument = |what: &str| own.get(first + form.iter().position(|one| *one == what)?);
    let digits = |text: &str| text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let is_time = |text: &str| {
        let unit = text[digits(text)..].to_ascii_lowercase();
        digits(text) > 0 && matches!(unit.as_str(), "" | "s" | "m" | "h" | "d" | "min" | "sec")
    };
    let (tag, program) = (argument("tag")?, argument("program")?);
    let front = if first == 1 { "STARTD_CRON, " } else { "" };
    let help = format!("write `{name}({front}{})`", form.join(", "));
    let message = if is_time(program) {
        format!("`{program}` is the program of the job `{tag}` here: the arguments are in another order")
    } else {
        let period = argument("period").filter(|period| digits(period) == 0 && !period.contains('$'))?;
        format!("`{period}` is the period of the job `{tag}` here, so it never runs")
    };
    let found = Diagnostic::error_at(message, Some(template.place.clone())).width("use".len());
    is_cron.then(|| (found.help(help).code("bad-value"), name.to_owned()))
}

/// Slots whose first argument is not the number of a slot type: it becomes a part of names, as in `SLOT_TYPE_cpus=100%`.
fn untyped(template: &TemplateUse) -> Option<(Diagnostic, String)> {
    let (_, name) = template.title.split_once(" : ")?;
    let of_slots = ["PartitionableSlot", "StaticSlots"].iter().any(|one| one.eq_ignore_ascii_case(name));
    let first = String::from_utf8_lossy(template.arguments.first().filter(|_| of_slots)?).into_owned();
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || first.contains('$') {
        return None;
    }
    let message = format!("`{first}` is the number of a slot type here, so there are no such slots");
    let found = Diagnostic::warning_at(message, Some(template.place.clone())).width("use".len());
    Some((found.help(format!("write `{name}(1, …)`, with the number first")).code("bad-value"), name.to_owned()))
}

fn of_template<'f>(template: &'f TemplateUse, last: &mut HashMap<Vec<u8>, Last<'f>>, found: &mut Found) {
    found.extend(swapped(template));
    found.extend(untyped(template));
    let (title, line) = (&template.title, template.place.line);
    let mut is_said = false;
    for (name, adds) in &template.sets {
        if *adds {
            last.insert(name.clone(), Last::Added(template));
            continue;
        }
        let before = last.remove(name);
        // All that such a template asks for is this value, to which the next one may add.
        if name == b"WANT_HOLD" && title.to_ascii_uppercase().contains("HOLD_IF") {
            last.insert(name.clone(), Last::Made(template));
        }
        let (place, message, width, shown) = match before {
            Some(Last::Own(one)) if !one.value.is_empty() => {
                let shown = String::from_utf8_lossy(&one.name).into_owned();
                let message = format!("`use {title}` on line {line} sets `{shown}` again, so this value has no effect");
                (&one.place, message, shown.len(), shown)
            }
            // A template may be made of others.
            Some(Last::Added(other)) if other != template && !is_said => {
                is_said = true;
                let shown = String::from_utf8_lossy(name).into_owned();
                let message = format!("`use {title}` on line {line} replaces what this adds to `{shown}`");
                (&other.place, message, "use".len(), shown)
            }
            _ => continue,
        };
        let warning = Diagnostic::warning_at(message, Some(place.clone())).width(width).code("redefined-knob");
        found.push((warning.help(format!("move it below line {line}")), shown));
    }
}
