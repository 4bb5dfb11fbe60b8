//! Maps from users to groups and the like: lines that are ignored, and names of maps that no list has.
//!
//! In: a configuration. Out: warnings, each with the variable that it is about.

use std::collections::{BTreeMap, BTreeSet};

use super::knobs::bare;
use super::near_names::NearNames;
use super::{lists, unknowns};
use classmate::Diagnostic;
use classmate::internal::builtin::near;
use classmate::internal::builtin::user_map::UserMap;
use classmate::internal::diagnostic::Severity;
use classmate_config::internal::config::check::has_root;
use classmate_config::internal::config::history::assigned;
use classmate_config::internal::config::setting::list_items;
use classmate_config::{Config, Definition, Location};

/// The end of the names of lists, `SCHEDD_CLASSAD_USER_MAP_NAMES`.
const LIST: &[u8] = b"CLASSAD_USER_MAP_NAMES";
/// The beginning of the names of variables with the text of a map.
const DATA: &[u8] = b"CLASSAD_USER_MAPDATA_";

/// The findings about maps.
pub(super) fn check(config: &Config) -> lists::Found {
    let mut found = Vec::new();
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let written: Vec<Definition<'_>> = written.collect();
    for definition in written.iter().filter(|one| bare(one.name).to_ascii_uppercase().starts_with(DATA)) {
        lines(definition, &mut found);
    }
    unwritten(config, &written, &mut found);
    let Some((names, is_whole)) = listed(config) else { return found };
    let near = NearNames::of(names.values().map(String::as_str));
    let has = |name: &str| {
        let lower = name.to_lowercase();
        // Another file may have the list with a map of these files.
        names.contains_key(&lower) || !is_whole && is_defined(config, name)
    };
    for definition in &written {
        calls(definition, &has, (&near, is_whole), &mut found);
    }
    found
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Tests whether a map has a file or lines.
fn is_defined(config: &Config, name: &str) -> bool {
    const WAYS: [&str; 2] = ["CLASSAD_USER_MAPFILE_", "CLASSAD_USER_MAPDATA_"];
    WAYS.iter().any(|way| config.definition(format!("{way}{name}").as_bytes()).is_some())
}

/// The names of the maps that these files list, lower case and as they are written, and whether these are all of them: no other file can
/// add to a list.
fn listed(config: &Config) -> Option<(BTreeMap<String, String>, bool)> {
    let is_list = |name: &[u8]| bare(name).to_ascii_uppercase().ends_with(LIST);
    let appends = |value: &[u8]| memchr::memmem::find(value, b"$(").is_some();
    let mut sets = config.sources().iter().flat_map(assigned).filter(|one| is_list(&one.name));
    let is_whole = has_root(config) || !sets.any(|one| appends(&one.value));
    let mut names = BTreeMap::new();
    for definition in config.definitions().filter(|one| is_list(one.name)) {
        let text = config.expansion(definition.name, definition.raw).ok()?;
        if unknowns::marked(&text).is_some() {
            return None;
        }
        names.extend(list_items(&text).iter().map(|item| (shown(item).to_lowercase(), shown(item))));
    }
    (!names.is_empty()).then_some((names, is_whole))
}

/// Names in a list of maps that have neither a file nor lines (`reconfig_user_maps` in `classad_usermap.cpp`), where the files have
/// calls of them.
fn unwritten(config: &Config, written: &[Definition<'_>], found: &mut lists::Found) {
    const CALL: &str = "usermap(\"";
    // Another file may have the map.
    let may_be_elsewhere = |list: &Definition<'_>| {
        !has_root(config) && (!list.verbatim || memchr::memmem::find(list.raw, b"$(").is_some())
            || lists::misses_files(config)
    };
    let mut called = BTreeSet::new();
    for one in written {
        let lower = shown(one.raw).to_ascii_lowercase();
        let is_end = |sign: char| matches!(sign, '"' | '.');
        called.extend(lower.match_indices(CALL).filter_map(|(at, _)| {
            let rest = &lower[at + CALL.len()..];
            Some(rest[..rest.find(is_end)?].to_owned())
        }));
    }
    let has = |name: &str| is_defined(config, name);
    for list in written.iter().filter(|one| bare(one.name).to_ascii_uppercase().ends_with(LIST)) {
        let Some(text) = unknowns::known_value(config, list) else { continue };
        let items = list_items(&text);
        // Beside another map of the list, other files hardly have it.
        let is_here = || items.iter().any(|item| has(&shown(item))) && !lists::has_includes(config);
        if may_be_elsewhere(list) && !is_here() {
            continue;
        }
        for item in items {
            let name = shown(&item);
            if name.contains('$') || has(&name) || !called.contains(&name.to_ascii_lowercase()) {
                continue;
            }
            let message = format!("the map `{name}` has neither a file nor lines, so `userMap` finds nothing in it");
            let warning = Diagnostic::warning_at(message, list.value_place().or(list.place.cloned()));
            let help = format!("set `CLASSAD_USER_MAPFILE_{name}`, or `CLASSAD_USER_MAPDATA_{name}`");
            found.push((warning.help(help).code("conflicting-knobs"), shown(list.name)));
        }
    }
}

/// The place of a line of a value, from 0.
fn place(definition: &Definition<'_>, line: usize) -> Option<Location> {
    if !definition.raw.contains(&b'\n') {
        return definition.value_place();
    }
    // The lines of the value are below the statement.
    let place = definition.place?;
    Some(Location { line: place.line + line as u32 + 1, column: 1, ..place.clone() })
}

/// Lines of a map that HTCondor ignores, and groups that a pattern does not have.
fn lines(definition: &Definition<'_>, found: &mut lists::Found) {
    // Macros may stand for anything.
    if memchr::memmem::find(definition.raw, b"$(").is_some() {
        return;
    }
    let map = UserMap::parse(definition.raw);
    let mut skipped = map.skipped().iter().peekable();
    for (number, line) in definition.raw.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let skipped = skipped.next_if(|skipped| skipped.line == number + 1);
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"@") {
            continue;
        }
        let (severity, message, help) = match (skipped, missing_group(line)) {
            // The library of patterns may be left out.
            (Some(skipped), _) if cfg!(feature = "pcre2") => {
                let message = format!("this line of the map is ignored: {}", skipped.reason);
                (Severity::Error, message, "write `* NAME OUTPUT`, or `* /PATTERN/ OUTPUT`".to_owned())
            }
            (None, Some(group)) => {
                let message = format!("`\\{group}` in the output is not replaced: the line has no such group");
                (Severity::Warning, message, format!("write a number below {group}, or a group `(…)` in the pattern"))
            }
            _ => continue,
        };
        let mut one = Diagnostic::warning_at(message, place(definition, number)).help(help).code("bad-value");
        one.severity = severity;
        found.push((one, shown(definition.name)));
    }
}

/// The largest number of a group in the output of a line, if its pattern certainly has fewer groups.
fn missing_group(line: &[u8]) -> Option<usize> {
    let blank = line.iter().rposition(u8::is_ascii_whitespace)?;
    let (front, output) = line.split_at(blank);
    let (mut largest, mut rest) = (0, output);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let digit = rest.get(at + 1).filter(|byte| byte.is_ascii_digit());
        largest = largest.max(digit.map_or(0, |byte| usize::from(byte - b'0')));
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    let groups = memchr::memchr_iter(b'(', front).count();
    (largest > groups).then_some(largest)
}

/// `userMap("Group", Owner)` with the name of a map that no list has; where another file may add to a list, it has to be almost the name
/// of one of these maps.
fn calls(
    definition: &Definition<'_>,
    has: &dyn Fn(&str) -> bool,
    (near, is_whole): (&NearNames<'_>, bool),
    found: &mut lists::Found,
) {
    const CALL: &str = "usermap(";
    for (number, line) in definition.raw.split(|byte| *byte == b'\n').enumerate() {
        let text = shown(line);
        let lower = text.to_ascii_lowercase();
        if text.trim_start().starts_with('#') {
            continue;
        }
        for (at, _) in lower.match_indices(CALL) {
            let Some(rest) = text[at + CALL.len()..].trim_start().strip_prefix('"') else { continue };
            let Some(end) = rest.find('"').filter(|end| *end > 0 && !rest[..*end].contains('$')) else { continue };
            // `name.method`
            let name = rest[..end].split('.').next().unwrap_or_default();
            let near = near.closest(near::allowance(name.as_bytes()), name, |_| true);
            if has(name) || near.is_none() && !is_whole {
                continue;
            }
            let message = format!("no list of maps has `{name}`, so `userMap` finds nothing");
            let warning = Diagnostic::warning_at(message, place(definition, number)).code("conflicting-knobs");
            let warning = match near {
                Some(near) => warning.did_you_mean(Some(near.to_owned())),
                None => warning.help("add it to the list, as in `SCHEDD_CLASSAD_USER_MAP_NAMES`"),
            };
            found.push((warning, shown(definition.name)));
        }
    }
}
