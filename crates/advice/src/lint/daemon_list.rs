//! Daemons that `DAEMON_LIST` leaves out although other statements want them.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use std::collections::BTreeSet;

use super::knobs::bare;
use super::lists::{DAEMONS, Found, may_be_elsewhere, misses_files};
use super::{second_place, unknowns};
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
    local_names(config, &mut found);
    let Some(list) = config.definition(LIST.as_bytes()).filter(|list| list.place.is_some()) else { return found };
    let Some(text) = unknowns::known_value(config, &list) else { return found };
    let items: BTreeSet<String> =
        list_items(&text).iter().map(|item| String::from_utf8_lossy(item).to_ascii_uppercase()).collect();
    unused_ports(config, &list, &items, &mut found);
    controllers(config, &items, &mut found);
    available(config, &list, &items, &mut found);
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

/// The variables that name the controller of a daemon, each behind the daemon and the controller, upper case.
fn controlled(config: &Config) -> Vec<(String, String, Definition<'_>)> {
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let pair = |one: Definition<'_>| {
        let upper = String::from_utf8_lossy(bare(one.name)).to_ascii_uppercase();
        let daemon = upper.strip_prefix("MASTER_")?.strip_suffix("_CONTROLLER")?.to_owned();
        let value = unknowns::known_value(config, &one)?;
        let value = String::from_utf8_lossy(value.trim_ascii()).to_ascii_uppercase();
        (!value.is_empty()).then_some((daemon, value))
    };
    written.filter_map(|one| pair(one).map(|(daemon, controller)| (daemon, controller, one))).collect()
}

/// A daemon that another one is to start and to stop, `MASTER_NEGOTIATOR_CONTROLLER = HAD`, where the master does not have that one
/// (`SetupControllers` in HTCondor's `masterDaemon.cpp`: the master ends with an error), or where that one never does it.
fn controllers(config: &Config, items: &BTreeSet<String>, found: &mut Found) {
    if misses_files(config) {
        return;
    }
    for (daemon, value, one) in controlled(config).into_iter().filter(|(daemon, ..)| items.contains(daemon)) {
        // It is HAD that starts and stops the others.
        let is_reversed = daemon == "HAD" && items.contains(&value);
        let is_other = DAEMONS.contains(&&*value) && !is_like(config, &value, "HAD");
        let (message, help) = if is_reversed {
            let help = format!("write `MASTER_{value}_CONTROLLER = HAD`");
            (format!("`{value}` is to control `HAD`, and not the other way round"), help)
        } else if !items.contains(&value) {
            let help = format!("add it: `{LIST} = $({LIST}) {value}`");
            (format!("`{value}` is to control `{daemon}`, and is not in `{LIST}`"), help)
        } else if is_other {
            let message = format!("`{value}` is to control `{daemon}`, and does not start or stop other daemons");
            (message, format!("write `MASTER_{daemon}_CONTROLLER = HAD`"))
        } else {
            continue;
        };
        let name = String::from_utf8_lossy(one.name).into_owned();
        found.push((one.name_warning(message).help(help).code("conflicting-knobs"), name));
    }
}

/// The daemons for high availability in the list, without what they need (`StateMachine.cpp`, `AbstractReplicatorStateMachine.cpp`), or
/// beside a daemon that the master does not leave to them.
fn available(config: &Config, list: &Definition<'_>, items: &BTreeSet<String>, found: &mut Found) {
    const CONTROLLEE: &str = "HAD_CONTROLLEE";
    if may_be_elsewhere(config) {
        return;
    }
    let is_set = |name: &str| {
        let own = |one: &Definition<'_>| {
            let own = one.name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
            own.eq_ignore_ascii_case(name.as_bytes()) && !one.raw.trim_ascii().is_empty()
        };
        config.definitions().any(|one| own(&one))
    };
    let controlled = controlled(config);
    let has_settings = || {
        let is_of_it = |name: &[u8]| {
            let upper = bare(name).to_ascii_uppercase();
            is_variable(&upper) && (upper.starts_with(b"HAD_") || upper.starts_with(b"REPLICATION_"))
        };
        !controlled.is_empty() || config.definitions().any(|one| one.place.is_some() && is_of_it(one.name))
    };
    let warning = |message: String| list.name_warning(message).code("conflicting-knobs");
    let replicates = config.boolean("HAD_USE_REPLICATION", false).unwrap_or(true);
    for (daemon, members) in [("HAD", "HAD_LIST"), ("REPLICATION", "REPLICATION_LIST")] {
        // `HAD_USE_REPLICATION` without its list is reported there.
        if !items.contains(daemon) || is_set(members) || !has_settings() || daemon == "REPLICATION" && replicates {
            continue;
        }
        let message = format!("`{daemon}` is in `{LIST}`, and `{members}` is not set: the daemon ends with an error");
        let help = format!("set `{members}` to the central managers, each with its port");
        found.push((warning(message).help(help), LIST.to_owned()));
    }
    if !items.contains("HAD") || !is_set("HAD_LIST") {
        return;
    }
    let own = config.definition(CONTROLLEE.as_bytes()).filter(|one| one.place.is_some());
    let value = own.as_ref().map_or_else(|| Some(b"NEGOTIATOR".to_vec()), |one| unknowns::known_value(config, one));
    let Some(value) = value else { return };
    let controllee = String::from_utf8_lossy(value.trim_ascii()).to_ascii_uppercase();
    let variable = format!("MASTER_{controllee}_CONTROLLER");
    let mut of_had = controlled.iter().filter(|(_, controller, _)| controller == "HAD");
    if is_set(&variable) {
        return;
    }
    if let Some((daemon, _, one)) = of_had.find(|(daemon, ..)| items.contains(daemon)) {
        // Several daemons of this kind have names of their own for it.
        let message = format!("`HAD` starts and stops `{controllee}`, and is to control `{daemon}`");
        let help = format!("write `{CONTROLLEE} = {daemon}`, or set `{variable} = HAD`");
        let at = own.as_ref().unwrap_or(one);
        let name = String::from_utf8_lossy(at.name).into_owned();
        let is_one =
            config.names().filter(|name| name.to_ascii_uppercase().ends_with(CONTROLLEE.as_bytes())).count() < 2;
        if is_one {
            found.push((at.name_warning(message).help(help).code("conflicting-knobs"), name));
        }
    } else if controlled.is_empty() && items.contains(&controllee) {
        let message =
            format!("`HAD` is in `{LIST}`, and `{variable}` is not set: `{controllee}` runs on every manager");
        found.push((warning(message).help(format!("set `{variable} = HAD`")), LIST.to_owned()));
    }
}

/// A local name that a daemon gets, `-local-name second`, and no setting has, while other settings have one that no daemon gets:
/// `SCHEDD.OTHER.SPOOL`.
fn local_names(config: &Config, found: &mut Found) {
    if may_be_elsewhere(config) {
        return;
    }
    let upper = |text: &[u8]| String::from_utf8_lossy(text).to_ascii_uppercase();
    let given = |one: Definition<'_>| {
        let value = unknowns::known_value(config, &one).filter(|_| upper(one.name).ends_with("_ARGS"))?;
        let words = upper(&value);
        let mut words = words.split_whitespace();
        words.find(|word| *word == "-LOCAL-NAME")?;
        Some(words.next()?.to_owned())
    };
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let given: Vec<(String, Definition<'_>)> = written.filter_map(|one| Some((given(one)?, one))).collect();
    if given.is_empty() {
        return;
    }
    // The master gives its daemons their own names as well.
    let started = config.list(LIST).unwrap_or_default();
    let started: BTreeSet<String> = started.iter().map(|name| upper(name)).collect();
    let names: Vec<String> = config.names().map(upper).collect();
    let of = |name: &str| name.split('.').map(str::to_owned).collect::<Vec<String>>();
    let parts: Vec<Vec<String>> = names.iter().map(|name| of(name)).filter(|parts| parts.len() > 1).collect();
    let is_used =
        |local: &String| parts.iter().any(|parts| parts.split_last().is_some_and(|(_, front)| front.contains(local)));
    let is_stray = |parts: &&Vec<String>| {
        let [daemon, local, _] = &parts[..] else { return false };
        let is_given = given.iter().any(|(name, _)| name == local);
        let is_daemon = |name: &String| DAEMONS.contains(&name.as_str());
        is_daemon(daemon) && !is_daemon(local) && !is_given && !started.contains(local)
    };
    let strays: BTreeSet<&String> = parts.iter().filter(is_stray).filter_map(|parts| parts.get(1)).collect();
    let mut unused = given.iter().filter(|(name, _)| !is_used(name));
    let (Some(stray), Some((name, one)), None) = (strays.first(), unused.next(), unused.next()) else { return };
    if strays.len() > 1 {
        return;
    }
    let message =
        format!("no setting is for the local name `{name}`: those here are for `{stray}`, which no daemon has");
    let warning = one.name_warning(message).help(format!("write one name in both, as in `-local-name {stray}`"));
    found.push((warning.code("unread-prefix"), String::from_utf8_lossy(one.name).into_owned()));
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
        let mut warning = list.name_warning(message).help(help).code("conflicting-knobs");
        if let Some(place) = first.place {
            let label = format!("`{name}` is set here");
            warning = second_place::beside(config, warning, (place, name.len()), &label);
        }
        found.push((warning, LIST.to_owned()));
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
