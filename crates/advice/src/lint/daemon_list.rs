//! Daemons that `DAEMON_LIST` leaves out although other statements want them.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use std::collections::BTreeSet;

use super::knobs::bare;
use super::lists::{Found, misses_files};
use super::unknowns;
use classmate::Diagnostic;
use classmate_config::internal::config::check::{has_root, is_variable, referenced};
use classmate_config::internal::config::history::{Assigned, assigned};
use classmate_config::internal::config::setting::list_items;
use classmate_config::{Config, Definition, Source};

const LIST: &str = "DAEMON_LIST";

/// Daemons whose variables no other daemon reads.
const ALONE: [&str; 6] = ["DEFRAG", "GANGLIAD", "HAD", "JOB_ROUTER", "REPLICATION", "ROOSTER"];

/// The templates of roles, lower case, and the daemons that they add.
const ROLES: [(&str, &[&str]); 7] = [
    ("centralmanager", &["COLLECTOR", "NEGOTIATOR"]),
    ("execute", &["STARTD"]),
    ("get_htcondor_central_manager", &["COLLECTOR", "NEGOTIATOR"]),
    ("get_htcondor_execute", &["STARTD"]),
    ("get_htcondor_submit", &["SCHEDD"]),
    ("personal", &["COLLECTOR", "NEGOTIATOR", "STARTD", "SCHEDD"]),
    ("submit", &["SCHEDD"]),
];

/// The findings about `DAEMON_LIST` and what it leaves out.
pub(super) fn check(config: &Config) -> Found {
    let mut found = Found::new();
    let Some(list) = config.definition(LIST.as_bytes()).filter(|list| list.place.is_some()) else { return found };
    let Some(text) = unknowns::known_value(config, &list) else { return found };
    let items: BTreeSet<String> =
        list_items(&text).iter().map(|item| String::from_utf8_lossy(item).to_ascii_uppercase()).collect();
    unused_ports(config, &list, &items, &mut found);
    controllers(config, &items, &mut found);
    lost_roles(config, &items, &mut found);
    idle_settings(config, &list, &items, &mut found);
    found
}

/// The daemon of shared ports in the list, where no daemon uses it (the manual's chapter on the master).
fn unused_ports(config: &Config, list: &Definition<'_>, items: &BTreeSet<String>, found: &mut Found) {
    const SWITCH: &str = "USE_SHARED_PORT";
    let is_set = config.definition(SWITCH.as_bytes()).is_some_and(|one| one.place.is_some());
    if items.contains("SHARED_PORT") && is_set && !config.boolean(SWITCH, true).unwrap_or(true) {
        let message = format!("`SHARED_PORT` in `{LIST}` has no effect: `{SWITCH}` is false");
        let warning = list.name_warning(message).help(format!("set `{SWITCH} = true`, or remove it from the list"));
        found.push((warning.code("conflicting-knobs"), LIST.to_owned()));
    }
}

/// A daemon that another one is to start and to stop, `MASTER_NEGOTIATOR_CONTROLLER = HAD`, where the master does not have that one
/// (`SetupControllers` in HTCondor's `masterDaemon.cpp`: the master ends with an error).
fn controllers(config: &Config, items: &BTreeSet<String>, found: &mut Found) {
    if misses_files(config) {
        return;
    }
    for one in config.definitions().filter(|one| one.place.is_some() && one.template.is_none()) {
        let upper = String::from_utf8_lossy(bare(one.name)).to_ascii_uppercase();
        let daemon = upper.strip_prefix("MASTER_").and_then(|rest| rest.strip_suffix("_CONTROLLER"));
        let (Some(daemon), Some(value)) = (daemon, unknowns::known_value(config, &one)) else { continue };
        let value = String::from_utf8_lossy(value.trim_ascii()).to_ascii_uppercase();
        // It is HAD that starts and stops the others.
        let is_reversed = daemon == "HAD" && items.contains(&value);
        if value.is_empty() || items.contains(&value) && !is_reversed || !items.contains(daemon) {
            continue;
        }
        let (message, help) = if is_reversed {
            let help = format!("write `MASTER_{value}_CONTROLLER = HAD`");
            (format!("`{value}` is to control `HAD`, and not the other way round"), help)
        } else {
            let help = format!("add it: `{LIST} = $({LIST}) {value}`");
            (format!("`{value}` is to control `{daemon}`, and is not in `{LIST}`"), help)
        };
        let name = String::from_utf8_lossy(one.name).into_owned();
        found.push((one.name_warning(message).help(help).code("conflicting-knobs"), name));
    }
}

/// Settings of a daemon that is not in the list.
fn idle_settings(config: &Config, list: &Definition<'_>, items: &BTreeSet<String>, found: &mut Found) {
    // Files that are not here may add to the list, for one machine of several.
    if misses_files(config) {
        return;
    }
    let whole = has_root(config);
    let of_daemon = |one: &Definition<'_>| {
        let upper = String::from_utf8_lossy(bare(one.name)).to_ascii_uppercase();
        // `HAD` leaves the copies to the other (`StateMachine.cpp`).
        if upper == "HAD_USE_REPLICATION" && items.contains("HAD") && config.boolean(&upper, false).unwrap_or(false) {
            return Some("REPLICATION");
        }
        ALONE.into_iter().find(|daemon| upper.strip_prefix(daemon).is_some_and(|rest| rest.starts_with('_')))
    };
    let settings: Vec<(&str, Definition<'_>)> = config
        .definitions()
        .filter(|one| one.place.is_some() && one.template.is_none() && !one.raw.trim_ascii().is_empty())
        .filter_map(|one| Some((of_daemon(&one)?, one)))
        .collect();
    if settings.is_empty() {
        return;
    }
    let used = referenced(config);
    for daemon in ALONE {
        // The daemon may have another name, or be started on some machines only.
        if items.iter().any(|item| is_like(config, item, daemon))
            || config.sources().iter().any(|one| adds(one, daemon))
        {
            continue;
        }
        let counts = |one: &Definition<'_>| {
            let name = bare(one.name);
            let upper = name.to_ascii_uppercase();
            let is_known = is_variable(name) || upper.starts_with(b"JOB_ROUTER_ROUTE_");
            let is_default = config.built_in(name).is_some_and(|known| known.raw.trim_ascii() == one.raw.trim_ascii());
            let beside = whole || one.place.map(|place| &place.file) == list.place.map(|place| &place.file);
            is_known && !is_default && beside && !used.contains(&upper)
        };
        let mut own = settings.iter().filter(|(whose, one)| *whose == daemon && counts(one));
        let Some((_, first)) = own.next() else { continue };
        let others = match own.count() {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        let name = String::from_utf8_lossy(first.name).into_owned();
        let message = format!("`{name}`{others} has no effect: `{daemon}` is not in `{LIST}`");
        let help = format!("add it: `{LIST} = $({LIST}) {daemon}`");
        found.push((first.name_warning(message).help(help).code("conflicting-knobs"), name));
    }
}

/// Tests whether an item of the list is a daemon, or another one that runs the same program.
fn is_like(config: &Config, item: &str, daemon: &str) -> bool {
    let program = config.definition(item.as_bytes()).map(|one| String::from_utf8_lossy(one.raw).to_ascii_uppercase());
    item.contains(daemon) || program.is_some_and(|program| program.contains(daemon))
}

/// Tests whether some statement of a text, also one that is not read, puts a daemon into a list.
fn adds(source: &Source, daemon: &str) -> bool {
    let mut lines = source.text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    lines.any(|line| {
        let is_list = line.get(..LIST.len()).is_some_and(|start| start.eq_ignore_ascii_case(LIST.as_bytes()));
        is_list && memchr::memmem::find(&line.to_ascii_uppercase(), daemon.as_bytes()).is_some()
    })
}

/// A list that replaces the one that `use ROLE : …` made: the daemons of the role are not started.
fn lost_roles(config: &Config, items: &BTreeSet<String>, found: &mut Found) {
    let own = [b"$(", LIST.as_bytes()].concat();
    let (mut roles, mut last): (Vec<(&str, &[&str])>, _) = (Vec::new(), None);
    for source in config.sources() {
        let anew = |one: &Assigned| {
            let refers = memchr::memmem::find(&one.value.to_ascii_uppercase(), &own).is_some();
            one.name.eq_ignore_ascii_case(LIST.as_bytes()) && one.replaces && !one.conditional && !refers
        };
        let mut lists = assigned(source).into_iter().filter(anew).peekable();
        for (at, role) in used_roles(&source.text) {
            while lists.peek().is_some_and(|list| list.place.line < at) {
                last = lists.next().map(|list| (list, std::mem::take(&mut roles)));
            }
            roles.push(role);
        }
        for list in lists {
            last = Some((list, std::mem::take(&mut roles)));
        }
    }
    let Some((list, before)) = last else { return };
    let lost = before.into_iter().find_map(|(role, daemons)| {
        let lost: Vec<String> =
            daemons.iter().filter(|name| !items.contains(**name)).map(|name| format!("`{name}`")).collect();
        (!lost.is_empty()).then(|| (role, lost.join(" and ")))
    });
    let Some((role, lost)) = lost else { return };
    let message = format!("this replaces the list of `use ROLE : {role}`, so {lost} is not started");
    let warning = Diagnostic::warning_at(message, Some(list.place)).width(list.name.len());
    let help = format!("write `{LIST} = $({LIST}) …`");
    found.push((warning.help(help).code("conflicting-knobs"), LIST.to_owned()));
}

/// The roles that a text uses outside of conditions, with their lines.
fn used_roles(text: &[u8]) -> Vec<(u32, (&str, &'static [&'static str]))> {
    let (mut depth, mut found) = (0_u32, Vec::new());
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let line = line.trim();
        let mut words = line.splitn(2, char::is_whitespace);
        let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is = |word: &str| first.trim_start_matches('@').eq_ignore_ascii_case(word);
        if is("if") {
            depth += 1;
        } else if is("endif") {
            depth = depth.saturating_sub(1);
        } else if is("use")
            && depth == 0
            && let Some((category, items)) = rest.split_once(':')
            && category.trim().eq_ignore_ascii_case("ROLE")
        {
            for item in items.split([',', ' ', '\t']).filter(|item| !item.is_empty()) {
                let known = ROLES.iter().find(|(role, _)| role.eq_ignore_ascii_case(item));
                found.extend(known.map(|(_, daemons)| (at as u32 + 1, (item, *daemons))));
            }
        }
    }
    found
}
