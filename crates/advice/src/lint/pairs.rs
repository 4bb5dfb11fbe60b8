//! Variables that have no effect because of another one, or without it.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about. One file of more
//! than 600 lines: it is a list of pairs, each with its check, that read the same values.

use std::collections::BTreeSet;

use super::knobs::bare;
use super::relations::{Verb, of_config};
use super::{lists, second_place, unknowns};
use classmate::Diagnostic;
use classmate_config::internal::config::check::has_root;
use classmate_config::internal::config::history::{Assigned, assigned};
use classmate_config::internal::config::setting::list_items;
use classmate_config::{Config, Location};

/// The findings about pairs of variables.
pub(super) fn check(config: &Config) -> lists::Found {
    let mut pairs = Pairs { config, found: Vec::new() };
    pairs.preemption();
    pairs.negotiator();
    pairs.bounds();
    pairs.ports();
    pairs.security();
    pairs.both_sides();
    pairs.denied();
    pairs.open_access();
    pairs.alone();
    pairs.lost_items();
    pairs.methods();
    pairs.alike();
    pairs.released();
    pairs.subcodes();
    pairs.protocols();
    pairs.slots();
    pairs.one_place();
    pairs.flocking();
    pairs.available();
    pairs.own_port();
    pairs.found
}

struct Pairs<'c> {
    config: &'c Config,
    found: lists::Found,
}

impl Pairs<'_> {
    /// The place of a name's value, if a file sets it.
    fn set(&self, name: &str) -> Option<Location> {
        let definition = self.config.definition(name.as_bytes())?;
        definition.place.cloned().filter(|_| !definition.raw.is_empty())
    }

    fn conflict(&mut self, name: &str, message: impl Into<String>, help: &str) {
        let Some(place) = self.set(name) else { return };
        let warning = Diagnostic::warning_at(message, Some(place)).help(help);
        self.found.push((warning.code("conflicting-knobs"), name.to_owned()));
    }

    /// Reports a conflict of two variables at the later of the two, and names the other place.
    fn conflict_of(&mut self, names: [&str; 2], message: impl Into<String>, help: &str) {
        let [first, second] = names.map(|name| self.set(name));
        let (Some(first), Some(second)) = (first, second) else {
            // A built-in default is the other.
            let name = if self.set(names[0]).is_some() { names[0] } else { names[1] };
            return self.conflict(name, message, help);
        };
        let pair = second_place::later(self.config, (names[0], first), (names[1], second));
        self.conflict_at(pair, message, help);
    }

    /// Reports a conflict of two numbers, of which the defaults are given: at the one that differs from its default, if the
    /// other does not.
    fn odd_of(&mut self, numbers: [(&str, i64); 2], message: impl Into<String>, help: &str) {
        let [one, other] = numbers.map(|(name, default)| self.integer(name).is_none_or(|number| number == default));
        let names = numbers.map(|(name, _)| name);
        match names.map(|name| self.set(name)) {
            [Some(first), Some(second)] if one != other => {
                let (first, second) = ((names[0], first), (names[1], second));
                self.conflict_at(if one { [second, first] } else { [first, second] }, message, help);
            }
            [Some(_), Some(_)] => self.conflict_of(names, message, help),
            // Another file may set what is missing here.
            [Some(_), None] => self.conflict(names[0], message, help),
            [None, Some(_)] if has_root(self.config) => self.conflict(names[1], message, help),
            _ => {}
        }
    }

    /// Reports a conflict at the first of two places.
    fn conflict_at(
        &mut self,
        [(name, at), (other, there)]: [(&str, Location); 2],
        message: impl Into<String>,
        help: &str,
    ) {
        let warning = Diagnostic::warning_at(message, Some(at)).help(help).code("conflicting-knobs");
        let label = format!("`{other}` is set here");
        let warning = second_place::beside(self.config, warning, (&there, other.len()), &label);
        self.found.push((warning, name.to_owned()));
    }

    fn boolean(&self, name: &str, default: bool) -> bool {
        self.config.boolean(name, default).unwrap_or(default)
    }

    fn text(&self, name: &str) -> Vec<u8> {
        self.config.get(name).ok().flatten().map(|found| found.text).unwrap_or_default()
    }

    fn integer(&self, name: &str) -> Option<i64> {
        String::from_utf8_lossy(&self.text(name)).trim().parse().ok()
    }

    fn number(&self, name: &str) -> Option<f64> {
        String::from_utf8_lossy(&self.text(name)).trim().parse().ok()
    }

    fn preemption(&mut self) {
        if self.boolean("NEGOTIATOR_CONSIDER_PREEMPTION", true) {
            return;
        }
        let off = "`NEGOTIATOR_CONSIDER_PREEMPTION` is false, so only idle slots are matched";
        if !self.text("PREEMPTION_REQUIREMENTS").trim_ascii().eq_ignore_ascii_case(b"false")
            && self.set("PREEMPTION_REQUIREMENTS").is_some()
        {
            let names = ["PREEMPTION_REQUIREMENTS", "NEGOTIATOR_CONSIDER_PREEMPTION"];
            self.conflict_of(names, "`PREEMPTION_REQUIREMENTS` is never evaluated", off);
        }
        for name in ["NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", "ALLOW_PSLOT_PREEMPTION"] {
            if self.boolean(name, false) {
                self.conflict(name, format!("`{name}` has no effect"), off);
            }
        }
    }

    fn negotiator(&mut self) {
        if !self.text("SIGNIFICANT_ATTRIBUTES").trim_ascii().is_empty() {
            for name in ["ADD_SIGNIFICANT_ATTRIBUTES", "REMOVE_SIGNIFICANT_ATTRIBUTES"] {
                let help = "`SIGNIFICANT_ATTRIBUTES` replaces the whole list, so additions and removals are ignored";
                self.conflict(name, format!("`{name}` has no effect"), help);
            }
        }
        let (least, interval) = (self.integer("NEGOTIATOR_MIN_INTERVAL"), self.integer("NEGOTIATOR_INTERVAL"));
        if let (Some(least), Some(interval)) = (least, interval)
            && least > interval
        {
            let message = format!("`NEGOTIATOR_MIN_INTERVAL` {least} is more than `NEGOTIATOR_INTERVAL` {interval}");
            let help = "cycles cannot start more often than the minimum, so the interval has no effect";
            self.odd_of([("NEGOTIATOR_MIN_INTERVAL", 5), ("NEGOTIATOR_INTERVAL", 60)], message, help);
        }
        if !self.boolean("USE_RESOURCE_REQUEST_COUNTS", true)
            && self.integer("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE").is_some_and(|size| size > 1)
        {
            let message = "`NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE` is treated as 1";
            let help = "`USE_RESOURCE_REQUEST_COUNTS` is false, so each request is for one job";
            self.conflict("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", message, help);
        }
        if !self.boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", true) {
            let help = "`NEGOTIATOR_USE_SLOT_WEIGHTS` is false, so each slot has weight 1";
            self.conflict("SLOT_WEIGHT", "`SLOT_WEIGHT` has no effect in the negotiator", help);
        }
        if self.boolean("FORCE_NEGOTIATOR_SLOT_WEIGHT", false) && self.set("SLOT_WEIGHT").is_none() {
            let message = "`FORCE_NEGOTIATOR_SLOT_WEIGHT` forces the default `SLOT_WEIGHT`";
            self.conflict("FORCE_NEGOTIATOR_SLOT_WEIGHT", message, "set `SLOT_WEIGHT` too");
        }
    }

    /// Numbers in the wrong order.
    fn bounds(&mut self) {
        for row in of_config().iter().filter(|row| row.verb == Verb::Most) {
            let (Some(least), Some(most)) = (row.left.first(), row.right.first()) else { continue };
            // A site may not know the default of the other.
            let written = |name: &str| self.number(name).filter(|_| self.set(name).is_some());
            let (Some(low), Some(high)) = (written(least.name), written(most.name)) else { continue };
            if low > high && high > 0.0 {
                let effect = row.effect.map(|effect| format!(": {effect}")).unwrap_or_default();
                let message = format!("`{}` {low} is more than `{}` {high}{effect}", least.name, most.name);
                let help = format!("write more in `{}`, or less in `{}`", most.name, least.name);
                self.conflict_of([least.name, most.name], message, &help);
            }
        }
    }

    /// Ranges of ports, as HTCondor's `get_port_range.cpp` reads them.
    fn ports(&mut self) {
        for start in ["", "IN_", "OUT_"] {
            let (low, high) = (format!("{start}LOWPORT"), format!("{start}HIGHPORT"));
            for (one, other) in [(&low, &high), (&high, &low)] {
                if self.set(other).is_none() {
                    let message = format!("`{one}` without `{other}`: daemons ignore the range, and take any port");
                    self.conflict(one, message, &format!("set `{other}` too"));
                }
            }
            let (Some(least), Some(most)) = (self.integer(&low), self.integer(&high)) else { continue };
            if least > most {
                let message = format!("`{low}` {least} is more than `{high}` {most}");
                self.conflict_of([&low, &high], message, "daemons ignore such a range, and take any port");
            } else if (1..1024).contains(&least) && most >= 1024 {
                let message = format!("the ports from `{low}` {least} to `{high}` {most} are below 1024 in part");
                let help = "only root binds to ports below 1024: write a range that is above, or below, as a whole";
                self.conflict_of([&low, &high], message, help);
            }
        }
    }

    /// The port of a daemon for high availability that the list of all of them does not have: the daemon finds itself by it
    /// (`StateMachine.cpp`, `AbstractReplicatorStateMachine.cpp`).
    fn own_port(&mut self) {
        for (arguments, list) in [("HAD_ARGS", "HAD_LIST"), ("REPLICATION_ARGS", "REPLICATION_LIST")] {
            if self.set(arguments).is_none() || self.set(list).is_none() {
                continue;
            }
            let (words, members) = (self.text(arguments), self.text(list));
            if [&words, &members].into_iter().any(|text| unknowns::marked(text).is_some()) {
                continue;
            }
            let words = shown(&words);
            let words: Vec<&str> = words.split_whitespace().collect();
            let own = words.windows(2).find(|pair| matches!(pair[0], "-p" | "-port")).map(|pair| pair[1]);
            let Some(own) = own.and_then(|port| port.parse::<u16>().ok()) else { continue };
            let port = |item: &Vec<u8>| {
                let item = shown(item);
                item.trim_matches(['<', '>']).rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok())
            };
            let ports: Option<Vec<u16>> = list_items(&members).iter().map(port).collect();
            let Some(ports) = ports.filter(|ports| !ports.is_empty() && !ports.contains(&own)) else { continue };
            let message = format!("`{arguments}` has the port {own}, and no member of `{list}` has it");
            let help =
                format!("write one port in both, such as {}: the daemon finds itself in the list by it", ports[0]);
            self.conflict(arguments, message, &help);
        }
    }

    /// Requirements for which authentication is missing (HTCondor's `condor_secman.cpp`).
    fn security(&mut self) {
        const LEVELS: [&str; 7] = ["DEFAULT", "CLIENT", "READ", "WRITE", "DAEMON", "NEGOTIATOR", "ADMINISTRATOR"];
        let first = |text: Vec<u8>| text.trim_ascii().first().map(u8::to_ascii_uppercase);
        for level in LEVELS {
            let value = |what: &str| {
                let name = format!("SEC_{level}_{what}");
                self.set(&name).is_some().then(|| first(self.text(&name))).flatten()
            };
            let is_never = |what: &str| matches!(value(what), Some(b'N' | b'F'));
            let is_required = |what: &str| matches!(value(what), Some(b'R' | b'Y' | b'T'));
            let without = ["AUTHENTICATION", "NEGOTIATION"].into_iter().find(|what| is_never(what));
            let required = ["ENCRYPTION", "INTEGRITY", "AUTHENTICATION"].into_iter().find(|what| is_required(what));
            let (Some(without), Some(required)) = (without, required.filter(|what| Some(*what) != without)) else {
                continue;
            };
            let name = format!("SEC_{level}_{required}");
            let message =
                format!("`{name}` is required, and `SEC_{level}_{without}` is never used: no connection succeeds");
            let help = format!("`{required}` needs `{without}`: write `REQUIRED` or `OPTIONAL` for it");
            self.conflict_of([&name, &format!("SEC_{level}_{without}")], message, &help);
        }
    }

    /// A step that clients never take and daemons require, or the other way round: no connection succeeds (the table of the
    /// manual's chapter on security).
    fn both_sides(&mut self) {
        const LEVELS: [&str; 5] = ["READ", "WRITE", "DAEMON", "NEGOTIATOR", "ADMINISTRATOR"];
        for what in ["AUTHENTICATION", "ENCRYPTION", "INTEGRITY", "NEGOTIATION"] {
            let value = |level: &str| {
                let name = format!("SEC_{level}_{what}");
                let first = self.text(&name).trim_ascii().first().map(u8::to_ascii_uppercase);
                self.set(&name).and(first).filter(|first| b"NFRYT".contains(first))
            };
            let Some(client) = value("CLIENT") else { continue };
            let is_never = |first: u8| matches!(first, b'N' | b'F');
            // A default counts for the levels that have no value of their own.
            let has_default = LEVELS.iter().any(|level| self.set(&format!("SEC_{level}_{what}")).is_none());
            let mut levels = ["DEFAULT"].into_iter().filter(|_| has_default).chain(LEVELS);
            let other = levels.find(|level| value(level).is_some_and(|first| is_never(first) != is_never(client)));
            let Some(level) = other else { continue };
            let (name, other) = (format!("SEC_CLIENT_{what}"), format!("SEC_{level}_{what}"));
            let (one, two) = if is_never(client) { ("never used", "required") } else { ("required", "never used") };
            let message = format!("`{name}` is {one}, and `{other}` is {two}: every connection fails");
            self.conflict_of([&name, &other], message, "write `OPTIONAL` or `PREFERRED` for one of them");
        }
    }

    /// Methods of authentication that clients and daemons do not have in common (`condor_secman.cpp`).
    fn methods(&mut self) {
        const LEVELS: [&str; 6] = ["DEFAULT", "READ", "WRITE", "DAEMON", "NEGOTIATOR", "ADMINISTRATOR"];
        const CLIENT: &str = "SEC_CLIENT_AUTHENTICATION_METHODS";
        // One method has several names.
        let plain = |item: &Vec<u8>| shown(item).to_ascii_uppercase().trim_end_matches('S').replace("IDTOKEN", "TOKEN");
        let methods = |name: &str| -> Option<BTreeSet<String>> {
            let text = self.set(name).map(|_| self.text(name)).filter(|text| unknowns::marked(text).is_none())?;
            Some(list_items(&text).iter().map(plain).collect())
        };
        let Some(own) = methods(CLIENT) else { return };
        let names = LEVELS.map(|level| format!("SEC_{level}_AUTHENTICATION_METHODS"));
        let is_other = |name: &&String| methods(name).is_some_and(|other| !other.is_empty() && own.is_disjoint(&other));
        let Some(other) = names.iter().find(is_other) else { return };
        let message = format!("`{CLIENT}` and `{other}` have no method in common: authentication always fails");
        self.conflict_of([CLIENT, other], message, "write a method into both lists, such as `IDTOKENS` or `FS`");
    }

    /// A condition in lower case, without parentheses, blanks and `MY.`, and with one form of equality.
    fn plain_clauses(&self, name: &str) -> String {
        let text = shown(&self.text(name)).to_ascii_lowercase().replace(['(', ')', ' ', '\t', '\n'], "");
        text.replace("my.", "").replace("=?=", "==")
    }

    /// A release of what has a subcode that no policy of the access point gives (`user_job_policy.cpp`).
    fn subcodes(&mut self) {
        const RELEASE: &str = "SYSTEM_PERIODIC_RELEASE";
        let is_subcode = |name: &str| name.starts_with("SYSTEM_PERIODIC_HOLD") && name.ends_with("_SUBCODE");
        let names: BTreeSet<String> = self.config.names().map(|name| shown(bare(name)).to_ascii_uppercase()).collect();
        let names: Vec<&String> = names.iter().filter(|name| is_subcode(name) && self.set(name).is_some()).collect();
        let codes: Option<Vec<i64>> = names.iter().map(|name| self.integer(name)).collect();
        let (Some(codes), Some(first)) = (codes, names.first()) else { return };
        let plain = self.plain_clauses(RELEASE);
        if plain.contains("||") {
            return;
        }
        let of = |name: &str| plain.split("&&").find_map(|clause| clause.strip_prefix(name)?.parse::<i64>().ok());
        let Some(code) = of("holdreasonsubcode==").filter(|code| !codes.contains(code)) else { return };
        // Other reasons have subcodes of their own, of which a number with the digits of one here is a slip. A policy without one
        // gives 0.
        let digits = |code: i64| {
            let mut digits = code.to_string().into_bytes();
            digits.sort_unstable();
            digits
        };
        let is_slip = || codes.iter().any(|one| digits(*one) == digits(code));
        let is_of_policies = of("holdreasoncode==").map_or_else(is_slip, |reason| reason == 26);
        if !is_of_policies || code == 0 {
            return;
        }
        let message = format!("`{RELEASE}` asks for the subcode {code}, and no policy here gives it");
        self.conflict_of([RELEASE, first], message, "write one number in both");
    }

    /// A release of all held jobs, or of all that the policy of the access point holds, without a limit: `HoldReasonCode == 26` is each of
    /// the latter (`condor_holdcodes.h`).
    fn released(&mut self) {
        const HOLD: &str = "SYSTEM_PERIODIC_HOLD";
        const RELEASE: &str = "SYSTEM_PERIODIC_RELEASE";
        let plain =
            |name: &str| Some(self.plain_clauses(name)).filter(|text| self.set(name).is_some() && text != "false");
        let is_limited = self.integer("SYSTEM_MAX_RELEASES").is_some_and(|most| most >= 0);
        if plain(RELEASE).is_some_and(|text| text == "true") && !is_limited {
            let message = format!("`{RELEASE}` is true: jobs that HTCondor holds are released again and again");
            self.conflict(
                RELEASE,
                message,
                "write which jobs are released, such as `HoldReasonCode == 13 && NumHolds < 3`",
            );
            return;
        }
        let (Some(_), Some(release)) = (plain(HOLD), plain(RELEASE)) else { return };
        let mut clauses = release.split("&&").filter(|clause| *clause != "jobstatus==5");
        if clauses.next() != Some("holdreasoncode==26") || clauses.next().is_some() {
            return;
        }
        let message = format!("`{RELEASE}` releases all that `{HOLD}` holds, again and again");
        let help = "add a limit, such as `NumSystemHolds < 3`, or what must have changed";
        self.conflict_of([RELEASE, HOLD], message, help);
    }

    /// No protocol of the internet at all, or an address of the one that is turned off (`condor_config.cpp`).
    fn protocols(&mut self) {
        let is_off = |name: &str| self.set(name).is_some() && !self.boolean(name, true);
        let (four, six) = (is_off("ENABLE_IPV4"), is_off("ENABLE_IPV6"));
        if four && six {
            let message = "`ENABLE_IPV4` and `ENABLE_IPV6` are both false: daemons have no network";
            self.conflict_of(["ENABLE_IPV4", "ENABLE_IPV6"], message, "turn on one of them");
            return;
        }
        let address = shown(self.text("NETWORK_INTERFACE").trim_ascii());
        let is_of = |off: bool, is: bool, name: &str| (off && is).then(|| name.to_owned());
        let is_four = address.parse::<std::net::Ipv4Addr>().is_ok();
        let is_six = address.parse::<std::net::Ipv6Addr>().is_ok();
        let Some(off) = is_of(four, is_four, "ENABLE_IPV4").or_else(|| is_of(six, is_six, "ENABLE_IPV6")) else {
            return;
        };
        let message = format!("`NETWORK_INTERFACE` is `{address}`, and `{off}` is false: daemons end with an error");
        let help = format!("turn on `{off}`, or write an address of the other kind");
        self.conflict_of(["NETWORK_INTERFACE", &off], message, &help);
    }

    /// The same condition holds a job and releases or removes it.
    fn alike(&mut self) {
        const PAIRS: [(&str, &str, &str); 4] = [
            ("SYSTEM_PERIODIC_HOLD", "SYSTEM_PERIODIC_RELEASE", "jobs are held, and the other follows at once"),
            ("SYSTEM_PERIODIC_HOLD", "SYSTEM_PERIODIC_REMOVE", "jobs are held, and the other follows at once"),
            ("START", "PREEMPT", "jobs that start are preempted at once"),
            ("SUSPEND", "CONTINUE", "jobs that are suspended go on at once"),
        ];
        let plain = |name: &str| {
            let text = shown(&self.text(name)).split_whitespace().collect::<String>().to_ascii_lowercase();
            Some(text).filter(|text| self.set(name).is_some() && !matches!(text.as_str(), "" | "false" | "true"))
        };
        let same = PAIRS.into_iter().find(|(one, two, _)| plain(one).is_some() && plain(one) == plain(two));
        let Some((one, two, effect)) = same else { return };
        let message = format!("`{two}` is the condition of `{one}`");
        self.conflict(two, message, &format!("write another condition: {effect}"));
    }

    /// Numbers of slots that do not count (HTCondor's `slot_builder.cpp`), and resources that are defined twice.
    fn slots(&mut self) {
        const MOST: &str = "MAX_SLOT_TYPES";
        let most = self.integer(MOST).unwrap_or(10);
        // Those of a template count as well.
        let written = self.config.definitions().filter(|one| one.place.is_some() || one.template.is_some());
        let (mut types, mut resources) = (Vec::new(), BTreeSet::new());
        let mut all: i64 = 0;
        for one in written {
            let upper = shown(bare(one.name)).to_ascii_uppercase();
            if let Some(number) = upper.strip_prefix("NUM_SLOTS_TYPE_").and_then(|rest| rest.parse::<i64>().ok())
                && let Some(count) = self.integer(&upper).filter(|count| *count > 0)
            {
                all = all.saturating_add(count);
                types.push((number, upper));
            } else if let Some(name) = upper.strip_prefix("MACHINE_RESOURCE_INVENTORY_") {
                resources.insert(name.to_owned());
            }
        }
        // The same number does no harm.
        if let Some((_, name)) = types.first().filter(|_| self.integer("NUM_SLOTS") != Some(all)) {
            let message = format!("`NUM_SLOTS` has no effect: `{name}` is set");
            self.conflict("NUM_SLOTS", message, "remove `NUM_SLOTS`: the types of slots have numbers of their own");
        }
        if let Some((number, name)) = types.iter().find(|(number, _)| *number > most) {
            let message = format!("there are no slots of type {number}: `{MOST}` is {most}");
            self.conflict(name, message, &format!("set `{MOST} = {number}`, or use a lower number"));
        }
        for name in resources {
            let (list, inventory) = (format!("MACHINE_RESOURCE_{name}"), format!("MACHINE_RESOURCE_INVENTORY_{name}"));
            let message = format!("`{inventory}` and `{list}` define one resource, and one of them counts");
            if self.set(&list).is_some() {
                self.conflict_of([&inventory, &list], message, "remove one of them");
            }
        }
    }

    /// Folders and logs that two daemons would share.
    fn one_place(&mut self) {
        const FOLDERS: [&str; 3] = ["SPOOL", "EXECUTE", "LOG"];
        const LOGS: [&str; 23] = [
            "EVENT_LOG",
            "HISTORY",
            "JOB_EPOCH_HISTORY",
            "STARTD_HISTORY",
            "DEFRAG_LOG",
            "GANGLIAD_LOG",
            "HAD_LOG",
            "JOB_ROUTER_LOG",
            "REPLICATION_LOG",
            "COLLECTOR_ADDRESS_FILE",
            "NEGOTIATOR_ADDRESS_FILE",
            "MASTER_ADDRESS_FILE",
            "SCHEDD_ADDRESS_FILE",
            "STARTD_ADDRESS_FILE",
            "MASTER_LOG",
            "COLLECTOR_LOG",
            "NEGOTIATOR_LOG",
            "SCHEDD_LOG",
            "STARTD_LOG",
            "SHADOW_LOG",
            "STARTER_LOG",
            "SHARED_PORT_LOG",
            "CREDD_LOG",
        ];
        for (names, what) in [(&FOLDERS[..], "folder"), (&LOGS[..], "file")] {
            let mut known: Vec<(String, &str)> = Vec::new();
            for name in names {
                let text = shown(self.text(name).trim_ascii()).trim_end_matches('/').to_owned();
                if self.set(name).is_none() || text.is_empty() || text.starts_with("/dev/") {
                    continue;
                }
                if let Some((_, other)) = known.iter().find(|(one, _)| *one == text) {
                    let other = *other;
                    let message = format!("`{name}` and `{other}` are one {what}, `{text}`");
                    let help = if what == "file" {
                        "give each a file of its own: each is written, and rotated, by itself"
                    } else {
                        "give each a folder of its own: `condor_preen` removes what it does not know there"
                    };
                    self.conflict_of([name, other], message, help);
                    break;
                }
                known.push((text, name));
            }
        }
    }

    /// Lists of flocking that have different lengths (`schedd.cpp`).
    fn flocking(&mut self) {
        const LISTS: [&str; 2] = ["FLOCK_COLLECTOR_HOSTS", "FLOCK_NEGOTIATOR_HOSTS"];
        let count = |name: &str| {
            let text = self.text(name);
            unknowns::marked(&text).is_none().then(|| list_items(&text).len())
        };
        let (Some(one), Some(two)) = (count(LISTS[0]), count(LISTS[1])) else { return };
        if one == two {
            return;
        }
        let message = format!("`{}` has {one} hosts, and `{}` has {two}: jobs do not flock", LISTS[0], LISTS[1]);
        let help = "write as many hosts in both, or set `FLOCK_TO` alone";
        // The shorter one lacks a host.
        let (short, long) = if one < two { (LISTS[0], LISTS[1]) } else { (LISTS[1], LISTS[0]) };
        match (self.set(short), self.set(long)) {
            (Some(first), Some(second)) => self.conflict_at([(short, first), (long, second)], message, help),
            (Some(_), None) => self.conflict(short, message, help),
            (None, Some(_)) => self.conflict(long, message, help),
            (None, None) => {}
        }
    }

    /// Lists for high availability of different lengths (`hadMonitor` and `replicator` pair their members).
    fn available(&mut self) {
        const LISTS: [&str; 2] = ["HAD_LIST", "REPLICATION_LIST"];
        let count = |name: &str| {
            let text = self.text(name);
            unknowns::marked(&text).is_none().then(|| list_items(&text).len())
        };
        if LISTS.iter().any(|name| self.set(name).is_none()) {
            return;
        }
        let (Some(one), Some(two)) = (count(LISTS[0]), count(LISTS[1])) else { return };
        if one != two && one > 0 && two > 0 {
            let message = format!("`HAD_LIST` has {one} members, and `REPLICATION_LIST` has {two}");
            self.conflict_of(LISTS, message, "write the same hosts in both");
        }
    }

    /// Hosts that are allowed and denied: `DENY_…` decides.
    fn denied(&mut self) {
        let names = self.config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
        let denied = |name: &[u8]| Some(shown(name).to_ascii_uppercase().strip_prefix("DENY_")?.to_owned());
        let levels: Vec<String> = names.filter_map(|one| denied(one.name)).collect();
        for level in levels {
            let (allow, deny) = (format!("ALLOW_{level}"), format!("DENY_{level}"));
            if self.set(&allow).is_none() || self.set(&deny).is_none() {
                continue;
            }
            let (allowed, denied) = (list_items(&self.text(&allow)), list_items(&self.text(&deny)));
            let is_all = |item: &Vec<u8>| matches!(item.as_slice(), b"*" | b"*/*");
            let allowed: BTreeSet<Vec<u8>> = allowed.iter().map(|item| item.to_ascii_uppercase()).collect();
            let both = denied.iter().find(|item| allowed.contains(&item.to_ascii_uppercase()));
            let Some(item) = denied.iter().find(|item| is_all(item)).or(both) else { continue };
            if is_all(item) {
                let message = format!("`{deny}` denies all hosts, so `{allow}` has no effect");
                self.conflict(&deny, message, "name the hosts that are to be denied, or remove the variable");
                continue;
            }
            let message = format!("`{allow}` has no effect for `{}`, which is denied", shown(item));
            self.conflict(&deny, message, &format!("`{deny}` decides: remove `{}` from it", shown(item)));
        }
    }

    /// Lists of hosts with which anyone may administer the pool.
    fn open_access(&mut self) {
        for level in ["ADMINISTRATOR", "CONFIG"] {
            let name = format!("ALLOW_{level}");
            let all = |item: &Vec<u8>| matches!(item.as_slice(), b"*" | b"*/*" | b"*@*" | b"*@*/*");
            if let Some(item) = list_items(&self.text(&name)).iter().find(|item| all(item)) {
                let message = format!("`{}` in `{name}` lets any user on any host change the pool", shown(item));
                self.open(&name, message, "name the users and hosts, as in `root@example.org/cm.example.org`");
            }
        }
    }

    fn open(&mut self, name: &str, message: String, help: &str) {
        let Some(place) = self.set(name) else { return };
        let is_template = self.config.definition(name.as_bytes()).is_some_and(|one| one.template.is_some());
        if !is_template {
            let warning = Diagnostic::warning_at(message, Some(place)).help(help);
            self.found.push((warning.code("open-access"), name.to_owned()));
        }
    }

    /// Variables that do nothing without another one.
    fn alone(&mut self) {
        if self.set("PRIVATE_NETWORK_NAME").is_none() {
            let message = "`PRIVATE_NETWORK_INTERFACE` without `PRIVATE_NETWORK_NAME`: the address is not published";
            self.conflict("PRIVATE_NETWORK_INTERFACE", message, "set `PRIVATE_NETWORK_NAME` too");
        }
        if self.set("ENABLE_BACKFILL").is_none() {
            let message = "`BACKFILL_SYSTEM` has no effect: `ENABLE_BACKFILL` is false by default";
            self.conflict("BACKFILL_SYSTEM", message, "set `ENABLE_BACKFILL = true`");
        }
        if let (Some(lifetime), Some(update)) = (self.integer("CLASSAD_LIFETIME"), self.integer("UPDATE_INTERVAL"))
            && lifetime <= update
        {
            let message = format!("ads expire after {lifetime} seconds, before the next update after {update}");
            let help = "write more in `CLASSAD_LIFETIME` than in `UPDATE_INTERVAL`";
            self.odd_of([("CLASSAD_LIFETIME", 900), ("UPDATE_INTERVAL", 300)], message, help);
        }
        if self.text("LOCAL_CONFIG_DIR").contains(&b'*') {
            let message = "`LOCAL_CONFIG_DIR` is a directory: patterns are not expanded";
            self.conflict(
                "LOCAL_CONFIG_DIR",
                message,
                "write the directory; `LOCAL_CONFIG_DIR_EXCLUDE_REGEXP` leaves files out",
            );
        }
        let begins = |name: &[u8], start: &str| bare(name).to_ascii_uppercase().starts_with(start.as_bytes());
        let mut routes = self.config.definitions().filter(|one| one.place.is_some() && !one.raw.is_empty());
        let is_route = |name: &[u8]| begins(name, "JOB_ROUTER_ROUTE_") && !begins(name, "JOB_ROUTER_ROUTE_NAMES");
        let Some(route) = routes.find(|one| is_route(one.name)) else { return };
        let name = String::from_utf8_lossy(route.name).into_owned();
        let is_routed = self.config.sources().iter().any(|source| names_router(&source.text));
        if self.set("JOB_ROUTER_ROUTE_NAMES").is_none() && is_routed {
            let message = format!("`{name}` has no effect: `JOB_ROUTER_ROUTE_NAMES` is not set");
            self.conflict(&name, message, "list the routes in `JOB_ROUTER_ROUTE_NAMES`");
        }
    }

    /// Attributes of a list such as `STARTD_ATTRS` that a later file replaces without them.
    fn lost_items(&mut self) {
        for list in ["STARTD_ATTRS", "SCHEDD_ATTRS"] {
            let text = self.text(list);
            if text.is_empty() || unknowns::marked(&text).is_some() {
                continue;
            }
            let last: BTreeSet<Vec<u8>> = list_items(&text).into_iter().map(|item| item.to_ascii_uppercase()).collect();
            let sets = self.config.sources().iter().flat_map(assigned);
            let sets = sets.filter(|one| one.name.eq_ignore_ascii_case(list.as_bytes()) && !one.conditional);
            let sets: Vec<Assigned> = sets.collect();
            // The statement that starts anew: later ones append to it.
            let own = [b"$(", list.as_bytes()].concat();
            let appends = |one: &Assigned| memchr::memmem::find(&one.value.to_ascii_uppercase(), &own).is_some();
            let Some(anew) = sets.iter().rposition(|one| one.replaces && !appends(one)) else { continue };
            // Of two plain values in one file, another rule speaks.
            let is_other = |one: &&Assigned| one.place.file != sets[anew].place.file || appends(one);
            let lost = sets[..anew].iter().filter(is_other).find_map(|one| {
                let items = list_items(&one.value).into_iter();
                let is_lost = |item: &Vec<u8>| {
                    let definition = self.config.definition(item).and_then(|found| found.place);
                    !last.contains(&item.to_ascii_uppercase())
                        && definition.is_some_and(|found| found.file == one.place.file)
                };
                let mut items = items.filter(is_lost);
                Some((String::from_utf8_lossy(&items.next()?).into_owned(), one.place.clone()))
            });
            if let Some((item, at)) = lost {
                let message = format!("this replaces `{list}` of {}, so `{item}` is no longer published", at.file);
                let found = Diagnostic::warning_at(message, Some(sets[anew].place.clone())).width(list.len());
                let found = found.help(format!("write `{list} = $({list}) …`")).code("conflicting-knobs");
                self.found.push((found, list.to_owned()));
            }
        }
    }
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Tests whether a text starts the job router.
fn names_router(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    lines.any(|line| {
        let upper = line.to_ascii_uppercase();
        upper.starts_with(b"DAEMON_LIST") && memchr::memmem::find(&upper, b"JOB_ROUTER").is_some()
    })
}
