//! Variables that have no effect because a switch is off.
//!
//! In: a configuration, and the table of [`super::relations`]. Out: warnings of the rule `conflicting-knobs`, each with the variable that
//! it is about. A switch counts only with a value that a file gives it: another file may set one that is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::knobs::{bare, is_expression};
use super::relations::{NamedValues, Relation, Values, Verb, is_on, matched, of_config};
use super::{lists, second_place, unknowns};
use classmate::Diagnostic;
use classmate_config::internal::config::check::{has_root, referenced};
use classmate_config::internal::config::history::assigned;
use classmate_config::internal::config::is_name_byte;
use classmate_config::{Config, Definition};

/// The findings about variables without effect, about backfill without a system, and about exponents in place of percentages.
pub(super) fn check(config: &Config) -> lists::Found {
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let written: BTreeMap<String, Definition<'_>> =
        written.map(|one| (String::from_utf8_lossy(bare(one.name)).to_ascii_uppercase(), one)).collect();
    // What others refer to has an effect by itself.
    let referenced = referenced_by_others(config);
    let mut found = Vec::new();
    let switches = of_config().iter().filter(|one| one.verb == Verb::Off);
    let switches = switches.flat_map(|row| instances(row, &written).into_iter().map(move |one| (row.effect, one)));
    for (effect, (switch, values, names)) in switches {
        let Some(value) = written.get(&switch).and_then(|one| value(config, one)) else { continue };
        if !values.has(&value) || is_of_slot_types(&switch, &written) {
            continue;
        }
        let mut is_said = false;
        // Who turns off both means it, and who writes the same twice is served by either.
        let is_same = |other: &str| values == Values::Any && other == value;
        let lost = |name: &String| {
            let one = written.get(name).filter(|_| !referenced.contains(name.as_bytes()))?;
            let is_meant = |value: &str| is_on(value) && !is_same(value) && !is_default(config, name, one);
            self::value(config, one).is_some_and(|value| is_meant(&value)).then_some(one)
        };
        let lost: Vec<_> = names.iter().filter_map(|name| Some((name, lost(name)?))).collect();
        let others = lost.len().saturating_sub(1);
        for (name, one) in lost {
            let (message, help) = match values {
                _ if let Some(effect) = effect => {
                    (format!("`{name}` beside `{switch}`: {effect}"), format!("remove `{name}`, or `{switch}`"))
                }
                Values::Any => {
                    (format!("`{name}` has no effect: `{switch}` is set"), format!("remove `{name}`, or `{switch}`"))
                }
                Values::True => (
                    format!("`{name}` has no effect: `{switch}` is `{value}`"),
                    format!("remove `{name}`, or `{switch}`"),
                ),
                _ => (
                    format!("`{name}` has no effect: `{switch}` is `{value}`"),
                    format!("turn on `{switch}`, or remove `{name}`"),
                ),
            };
            let (Some(first), Some(second)) = (one.place, written[&switch].place) else { continue };
            let pair = second_place::later(config, (name, first.clone()), (&switch, second.clone()));
            // The policy that nothing asks for is not the mistake, and an older name is.
            let is_switch = (pair[0].0 == switch || switch == "WANT_SUSPEND" || others > 0) && effect.is_none();
            let (at, other) = if is_switch { (&written[&switch], one) } else { (one, &written[&switch]) };
            // One switch makes one finding.
            if is_switch && std::mem::replace(&mut is_said, true) {
                continue;
            }
            let (mut problem, subject) = warning(at, message, &help);
            if is_switch && others > 0 {
                problem =
                    problem.more_help(format!("{others} more {} no effect", if others == 1 { "has" } else { "have" }));
            }
            let Some(place) = other.place else { continue };
            let label = format!("`{}` is set here", if is_switch { name } else { &switch });
            let problem = second_place::beside(config, problem, (place, other.name.len()), &label);
            found.push((problem, subject));
        }
    }
    lacking(config, (&written, &referenced), &mut found);
    alike(config, &written, &mut found);
    if let Some(one) = written.get("ENABLE_BACKFILL")
        && value(config, one).is_some_and(|value| Values::True.has(&value))
        && written.contains_key("START_BACKFILL")
        && config.definition(b"BACKFILL_SYSTEM").is_none_or(|system| system.raw.is_empty())
    {
        let message = "`ENABLE_BACKFILL` has no effect: there is no `BACKFILL_SYSTEM`".to_owned();
        found.push(warning(one, message, "add `BACKFILL_SYSTEM = BOINC`"));
    }
    for (name, one) in &written {
        let Some(attribute) = name.strip_prefix("SCHEDD_ROUND_ATTR_") else { continue };
        let Some(exponent) = value(config, one).and_then(|value| value.parse::<u32>().ok()) else { continue };
        if exponent >= MAX_EXPONENT {
            let message = format!("`{attribute}` is rounded up to a multiple of 10 to the power of {exponent}");
            found.push(warning(one, message, &format!("write `{exponent}%` for a percentage")));
        }
    }
    for (name, one) in written.iter().filter(|(name, _)| name.starts_with("_CONDOR_")) {
        let meant = &name["_CONDOR_".len()..];
        let message = format!("`{name}` is not read: `_CONDOR_` begins names in the environment only");
        let (found_here, subject) = warning(one, message, &format!("write `{meant}`"));
        found.push((found_here.code("unknown-knob"), subject));
    }
    found
}

/// The names, upper case, that statements other than their own refer to: `STARTD_EXPRS = $(STARTD_EXPRS) Zone` is no use of it.
fn referenced_by_others(config: &Config) -> BTreeSet<Vec<u8>> {
    let mut names = referenced(config);
    let count = |text: &[u8], name: &[u8]| {
        let reference = [b"(", name].concat();
        let ends = |at: &usize| text.get(at + reference.len()).is_none_or(|next| !is_name_byte(*next));
        memchr::memmem::find_iter(text, &reference).filter(ends).count()
    };
    let mut own: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for one in config.sources().iter().flat_map(assigned) {
        let name = bare(&one.name).to_ascii_uppercase();
        let times = count(&one.value.to_ascii_uppercase(), &name);
        if times > 0 {
            *own.entry(name).or_default() += times;
        }
    }
    let texts: Vec<Vec<u8>> = config.sources().iter().map(|source| source.text.to_ascii_uppercase()).collect();
    // A condition that adds to an earlier one is for whatever that is.
    for (name, times) in own.into_iter().filter(|(name, _)| !is_expression(name)) {
        let all: usize = texts.iter().map(|text| count(text, &name)).sum();
        if all == times {
            names.remove(&name);
        }
    }
    names
}

/// The variables that files set, by name.
type Written<'c> = BTreeMap<String, Definition<'c>>;

/// A switch, the values that turn it off, and the variables that have no effect then.
type Switch = (String, Values, Vec<String>);

/// The switches that a row of the table is about: one, or one for each text in place of a `*`.
fn instances(row: &Relation, written: &BTreeMap<String, Definition<'_>>) -> Vec<Switch> {
    let Some(left) = row.left.first() else { return Vec::new() };
    let with = |text: &str| {
        let names = row.right.iter().map(|side| side.name.replace('*', text)).collect();
        (left.name.replace('*', text), left.values, names)
    };
    if left.name.contains('*') {
        written.keys().filter_map(|name| matched(left.name, name)).map(with).collect()
    } else {
        vec![with("")]
    }
}

/// Variables that must differ, and do not.
fn alike(config: &Config, written: &BTreeMap<String, Definition<'_>>, found: &mut lists::Found) {
    for row in of_config().iter().filter(|row| row.verb == Verb::Differ) {
        for (name, _, others) in instances(row, written) {
            let known = |name: &str| written.get(name).and_then(|one| Some((one, value(config, one)?)));
            let (Some((one, text)), Some(other)) = (known(&name), others.first()) else { continue };
            if known(other).is_some_and(|(_, value)| value == text && !text.is_empty()) {
                let effect = row.effect.map(|effect| format!(": {effect}")).unwrap_or_default();
                let message = format!("`{name}` and `{other}` have one value{effect}");
                found.push(warning(one, message, &format!("write another value for `{name}`")));
            }
        }
    }
}

/// Variables without the one that they belong to.
fn lacking(config: &Config, (written, referenced): (&Written<'_>, &BTreeSet<Vec<u8>>), found: &mut lists::Found) {
    // Files that are not here may have it.
    if lists::misses_files(config) {
        return;
    }
    let is_set = |name: &str| {
        let text = config.get(name).ok().flatten().map(|found| found.text).unwrap_or_default();
        is_on(&String::from_utf8_lossy(text.trim_ascii()).to_ascii_lowercase())
    };
    // `COLLECTOR1.CONDOR_VIEW_HOST`, for a daemon with a local name.
    let prefixed: BTreeSet<Vec<u8>> =
        config.names().filter_map(|name| Some(name[memchr::memchr(b'.', name)? + 1..].to_ascii_uppercase())).collect();
    let has = |name: &&str| match name.split_once('*') {
        Some((front, end)) => written.keys().any(|known| known.starts_with(front) && known.ends_with(end)),
        None => is_set(name) || is_of_slot_types(name, written) || prefixed.contains(name.as_bytes()),
    };
    for row in of_config().iter().filter(|row| matches!(row.verb, Verb::Need | Verb::NeedBeside | Verb::NeedTogether)) {
        let needed: Vec<&str> = row.right.iter().map(|side| side.name).collect();
        let all =
            row.left.iter().flat_map(|side| written.iter().filter(|(known, _)| matched(side.name, known).is_some()));
        let is_meant = |(name, one): &(&String, &Definition<'_>)| {
            let is_said = needed.iter().any(|switch| written.contains_key(*switch) && is_switched_off(switch, name));
            // A negative number stands for the default.
            value(config, one).is_some_and(|value| is_on(&value) && !Values::Negative.has(&value))
                && !is_default(config, name, one)
                && !is_said
                && !referenced.contains(name.as_bytes())
        };
        let all: Vec<(&String, &Definition<'_>)> = all.filter(is_meant).collect();
        let first = all.iter().min_by_key(|(_, one)| one.place.map(|place| (&place.file, place.line)));
        let Some((name, one)) = first.filter(|_| !needed.iter().any(has)) else { continue };
        // Other files may have what is set for a whole machine.
        let is_told = needed.iter().any(|name| written.contains_key(*name));
        let is_there = |side: &&NamedValues| all.iter().any(|(known, _)| matched(side.name, known).is_some());
        let sides = row.left.iter().filter(is_there).count();
        let is_whole_feature = sides > if row.verb == Verb::NeedTogether { 1 } else { 2 };
        if row.verb != Verb::Need && !is_told && !is_whole_feature && !has_root(config) {
            continue;
        }
        let needed: Vec<String> =
            needed.iter().filter(|name| !name.contains('*')).map(|name| format!("`{name}`")).collect();
        let needed = needed.join(" or ");
        let message = match row.effect {
            Some(effect) => format!("`{name}` is set without {needed}: {effect}"),
            None => format!("`{name}` has no effect without {needed}"),
        };
        found.push(warning(one, message, &format!("set {needed} too, or remove `{name}`")));
    }
}

/// Tests whether another row says that a name has no effect while a switch is off.
fn is_switched_off(switch: &str, name: &str) -> bool {
    of_config().iter().any(|row| {
        let is = |side: Option<&NamedValues>| side.is_some_and(|side| side.name == switch);
        row.verb == Verb::Off && is(row.left.first()) && row.right.iter().any(|side| side.name == name)
    })
}

/// Tests whether a type of slots has its own value of a variable (`Resource.cpp`).
fn is_of_slot_types(name: &str, written: &Written<'_>) -> bool {
    let own = |known: &String| {
        known.strip_prefix("SLOT_TYPE_").and_then(|rest| rest.split_once('_')).is_some_and(|(_, rest)| rest == name)
    };
    written.keys().any(own)
}

/// Tests whether a file gives a variable the value that it has without it.
fn is_default(config: &Config, name: &str, one: &Definition<'_>) -> bool {
    config.built_in(name.as_bytes()).is_some_and(|known| known.raw.trim_ascii() == one.raw.trim_ascii())
}

/// The exponent from which on a rounded attribute says nothing.
const MAX_EXPONENT: u32 = 10;

fn warning(one: &Definition<'_>, message: String, help: &str) -> (Diagnostic, String) {
    let name = String::from_utf8_lossy(one.name).into_owned();
    (one.name_warning(message).code("conflicting-knobs").help(help), name)
}

/// The expanded value, lower case; none if a machine decides it.
fn value(config: &Config, one: &Definition<'_>) -> Option<String> {
    let text = unknowns::known_value(config, one)?;
    Some(String::from_utf8_lossy(&text).to_ascii_lowercase())
}
