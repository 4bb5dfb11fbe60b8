//! Lists in a configuration whose items name other variables: attributes of daemons' ads, daemons, cron jobs, types of
//! slots, significant attributes. One file of more than 600 lines: all checks share the definitions that lists name.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::attributes::{is_known, misspelled_attribute, variety};
use super::expression::Role;
use super::knobs::{bare, is_list};
use super::near_names::NearNames;
use super::{second_place, unknowns};
use classmate::Diagnostic;
use classmate::internal::builtin::near;
use classmate_config::internal::config::check::{has_root, is_variable, referenced};
use classmate_config::internal::config::setting::list_items;
use classmate_config::{Config, Definition};

/// Daemons that `DAEMON_LIST` can name without further settings.
pub(super) const DAEMONS: [&str; 16] = [
    "MASTER",
    "COLLECTOR",
    "NEGOTIATOR",
    "SCHEDD",
    "STARTD",
    "SHARED_PORT",
    "CREDD",
    "DEFRAG",
    "GANGLIAD",
    "HAD",
    "REPLICATION",
    "JOB_ROUTER",
    "ROOSTER",
    "KBDD",
    "VIEW_SERVER",
    "GRIDMANAGER",
];

/// A warning and the variable that it is about.
pub(super) type Found = Vec<(Diagnostic, String)>;

/// The findings about lists; `advertised` are the names, upper case, that lists put into ads.
pub(super) fn check(config: &Config, advertised: &BTreeMap<Vec<u8>, Role>) -> Found {
    let own = own_names(config);
    let shown_own: Vec<String> = own.iter().map(|name| shown(name)).collect();
    let near = NearNames::of(shown_own.iter().map(String::as_str));
    let lists = Lists { config, advertised, own: &own, near, mentioned: OnceCell::new() };
    let mut found = Vec::new();
    lists.comments(&mut found);
    lists.attributes(&mut found);
    lists.daemons(&mut found);
    for daemon in ["STARTD", "SCHEDD"] {
        lists.cron(daemon, &mut found);
    }
    lists.slot_types(&mut found);
    lists.resources(&mut found);
    lists.volumes(&mut found);
    lists.significant(&mut found);
    lists.names(&mut found);
    found
}

/// Tests whether files of a configuration are not here, which its root names.
pub(super) fn misses_files(config: &Config) -> bool {
    let is_set = |name: &str| config.definition(name.as_bytes()).is_some_and(|one| one.place.is_some());
    config.sources().len() == 1 && (is_set("LOCAL_CONFIG_FILE") || is_set("LOCAL_CONFIG_DIR"))
}

/// Tests if a configuration includes files, which may not be here.
pub(super) fn has_includes(config: &Config) -> bool {
    let begins =
        |line: &[u8]| line.trim_ascii_start().get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"include"));
    config.sources().iter().any(|source| source.text.split(|byte| *byte == b'\n').any(begins))
}

/// Tests if files that are not here may set more: the root names them, or a file includes them.
pub(super) fn may_be_elsewhere(config: &Config) -> bool {
    misses_files(config) || has_includes(config)
}

/// The names, upper case, that files set and that HTCondor does not know.
fn own_names(config: &Config) -> BTreeSet<Vec<u8>> {
    let own = config.definitions().filter(|one| one.place.is_some() && config.built_in(bare(one.name)).is_none());
    own.map(|one| bare(one.name).to_ascii_uppercase()).collect()
}

struct Lists<'c> {
    config: &'c Config,
    advertised: &'c BTreeMap<Vec<u8>, Role>,
    own: &'c BTreeSet<Vec<u8>>,
    near: NearNames<'c>,
    /// The names, upper case, that values refer to, once they are asked for.
    mentioned: OnceCell<BTreeSet<Vec<u8>>>,
}

/// Findings about items of one list that say the same, of which the first is reported with the number of the others.
#[derive(Default)]
struct Alike {
    first: Option<String>,
    others: usize,
}

impl Alike {
    fn add(&mut self, item: &[u8]) {
        match self.first {
            None => self.first = Some(shown(item)),
            Some(_) => self.others += 1,
        }
    }

    /// The first item, and the words for the others; none if there is no item.
    fn items(self) -> Option<(String, String)> {
        let others = match self.others {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        Some((self.first?, others))
    }
}

/// A warning at the value of a list.
fn problem(definition: &Definition<'_>, message: String) -> Diagnostic {
    let place = definition.value_place().or_else(|| definition.place.cloned());
    Diagnostic::warning_at(message, place).code("conflicting-knobs")
}

/// Tests whether some type of slots has a number above 0.
fn has_numbers(numbers: &BTreeMap<u32, Definition<'_>>) -> bool {
    numbers.values().any(|one| one.raw.trim_ascii() != b"0")
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl<'c> Lists<'c> {
    /// The definitions in files whose names, upper case, satisfy a condition.
    fn written(&self, is: impl Fn(&str) -> bool) -> Vec<Definition<'c>> {
        let named = |one: &Definition<'_>| is(&shown(bare(one.name)).to_ascii_uppercase());
        let written = |one: &Definition<'_>| one.place.is_some() && one.template.is_none() && named(one);
        self.config.definitions().filter(written).collect()
    }

    /// The items of a list; none if a part is known to a machine only.
    fn items(&self, definition: &Definition<'_>) -> Vec<Vec<u8>> {
        let Ok(text) = self.config.expansion(definition.name, definition.raw) else { return Vec::new() };
        if unknowns::marked(&text).is_some() { Vec::new() } else { list_items(&text).into_iter().collect() }
    }

    /// `ALLOW_WRITE = 10.2.0.0/16 # head node`: the words after `#` are items.
    fn comments(&self, found: &mut Found) {
        const STARTS: [&str; 3] = ["ALLOW_", "DENY_", "FLOCK_"];
        const ENDS: [&str; 5] = ["_NAMES", "_ATTRS", "_EXPRS", "_JOBLIST", "_METHODS"];
        let is_list_name = |name: &str| {
            name == "DAEMON_LIST"
                || STARTS.iter().any(|start| name.starts_with(start))
                || ENDS.iter().any(|end| name.ends_with(end)) && is_variable(name.as_bytes())
        };
        for definition in self.written(is_list_name).iter().filter(|one| !one.raw.contains(&b'\n')) {
            let mut signs = memchr::memchr_iter(b'#', definition.raw);
            let is_comment = |at: &usize| *at == 0 || definition.raw[at - 1].is_ascii_whitespace();
            let Some(at) = signs.find(is_comment) else { continue };
            let message =
                format!("`{}` is a part of the list: `#` begins no comment here", shown(&definition.raw[at..]));
            let help = "move the comment to its own line";
            found.push((problem(definition, message).code("bad-value").help(help), shown(definition.name)));
        }
    }

    /// Items of `STARTD_ATTRS` and the like: there are no wildcards, and each is a variable.
    fn attributes(&self, found: &mut Found) {
        for definition in self.written(is_list) {
            if let Some(inner) = definition.raw.trim_ascii().strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\""))
            {
                let message = format!("the quotes are a part of the names in `{}`", shown(definition.name));
                let help = format!("write `{} = {}`", shown(definition.name), shown(inner));
                found.push((problem(&definition, message).help(help), shown(definition.name)));
                continue;
            }
            let (mut signs, mut wildcards) = (Alike::default(), Alike::default());
            let items = self.items(&definition);
            let only_one = self.only_missing(&definition, &items);
            for item in items {
                let upper = item.to_ascii_uppercase();
                let is_value = matches!(&*upper, b"TRUE" | b"FALSE") || upper.first().is_some_and(u8::is_ascii_digit);
                if is_value && self.config.definition(&item).is_none() {
                    let message =
                        format!("`{}` in `{}` is a value, and not a name", shown(&item), shown(definition.name));
                    let help = "write the name of the variable, without `$( )`";
                    found.push((problem(&definition, message).help(help), shown(definition.name)));
                    continue;
                }
                let is_odd =
                    |byte: &u8| !byte.is_ascii_alphanumeric() && matches!(byte, b'-' | b'.' | b':' | b'/' | b'@');
                let is_near = item.iter().position(is_odd).is_some_and(|at| at > 0 && at + 1 < item.len());
                // `+ProjectName`, as in a submit file.
                let is_near = is_near || item.len() > 1 && item.starts_with(b"+");
                if is_near && self.config.definition(&item).is_none() {
                    let message =
                        format!("`{}` in `{}` is not the name of an attribute", shown(&item), shown(definition.name));
                    let help = "write letters, digits and `_`: the attribute is not published";
                    found.push((problem(&definition, message).help(help), shown(definition.name)));
                } else if item == b"+" {
                    signs.add(&item);
                } else if item.contains(&b'*') {
                    wildcards.add(&item);
                } else if self.config.definition(&item).is_none() && !self.own.contains(&upper) {
                    let is_meant = |name: &str| {
                        !self.advertised.contains_key(name.as_bytes()) && !self.is_mentioned(name.as_bytes())
                    };
                    let near = self.near.closest(allowed(&upper), &shown(&upper), is_meant).map(str::to_owned);
                    let near = near.or_else(|| Some(shown(&self.longer(&upper)?)));
                    let near = near.or_else(|| Some(shown(&self.with_other_words(&item)?)));
                    if near.is_none() && only_one.as_ref() != Some(&item) {
                        continue;
                    }
                    let near = near
                        .map(|near| self.config.definition(near.as_bytes()).map_or(near, |one| shown(bare(one.name))));
                    let item = shown(&item);
                    let message = format!("`{item}` is listed but not defined, so it has no effect");
                    let warning = match near {
                        Some(near) => problem(&definition, message).did_you_mean(Some(near)),
                        None => {
                            problem(&definition, message).help(format!("define `{item}`, or remove it from the list"))
                        }
                    };
                    found.push((warning, shown(definition.name)));
                }
            }
            if signs.first.is_some() {
                let message = format!("`+` is listed as a name in `{}`", shown(definition.name));
                let help = format!("write `{} += …` to append", shown(definition.name));
                found.push((problem(&definition, message).help(help), shown(definition.name)));
            }
            if let Some((item, others)) = wildcards.items() {
                let message = format!("`{item}`{others} is not a wildcard: each attribute is listed by its name");
                let warning = problem(&definition, message).help("list the attributes one by one");
                found.push((warning, shown(definition.name)));
            }
        }
    }

    /// The only item of a list that is not defined and that no other statement has, if the file of the list defines all others: other
    /// files hardly define it.
    fn only_missing(&self, list: &Definition<'_>, items: &[Vec<u8>]) -> Option<Vec<u8>> {
        const LEAST: usize = 3;
        let is_here = |item: &&Vec<u8>| {
            let of_item = self.config.definition(item).and_then(|one| one.place);
            of_item.is_some_and(|at| list.place.is_some_and(|place| place.file == at.file))
        };
        let mut missing = items.iter().filter(|item| !is_here(item));
        let (item, None) = (missing.next()?, missing.next()) else { return None };
        let lower = item.to_ascii_lowercase();
        let is_of_others = is_known(&lower) || self.config.definition(item).is_some();
        if items.len() < LEAST || is_of_others || may_be_elsewhere(self.config) {
            return None;
        }
        // `SLOT1_HasMatlab = True`, and statements in branches that are not taken.
        let texts = self.config.sources().iter().map(|source| source.text.to_ascii_lowercase());
        let mentions: usize = texts.map(|text| memchr::memmem::find_iter(&text, &lower).count()).sum();
        (mentions == 1).then(|| item.clone())
    }

    /// Items of other lists of names: quotes, brackets and `;` are a part of them. Those of slots and of jobs are attributes.
    fn names(&self, found: &mut Found) {
        const ATTRIBUTES: [&str; 4] =
            ["STARTD_JOB_ATTRS", "STARTD_PARTITIONABLE_SLOT_ATTRS", "STARTD_SLOT_ATTRS", "SYSTEM_JOB_MACHINE_ATTRS"];
        const OTHERS: [&str; 6] = [
            "DAEMON_LIST",
            "DOCKER_MOUNT_VOLUMES",
            "DOCKER_VOLUMES",
            "FILETRANSFER_PLUGINS",
            "MASTER_HA_LIST",
            "QUEUE_SUPER_USERS",
        ];
        const ENDS: [&str; 3] = ["_NAMES", "_JOBLIST", "_ATTRS"];
        let is_named = |name: &str| {
            let is_list = ENDS.iter().any(|end| name.ends_with(end)) || name.starts_with("SETTABLE_ATTRS_");
            let is_significant = name.ends_with("SIGNIFICANT_ATTRIBUTES");
            OTHERS.contains(&name)
                || ATTRIBUTES.contains(&name)
                || is_significant
                || is_list && is_variable(name.as_bytes())
        };
        for definition in self.written(is_named) {
            let upper = shown(bare(definition.name)).to_ascii_uppercase();
            if found.iter().any(|(_, name)| name.eq_ignore_ascii_case(&shown(definition.name))) {
                continue;
            }
            let items = self.items(&definition);
            let signs = |item: &Vec<u8>| item.iter().copied().find(|byte| b"\"'{}[];".contains(byte));
            if let Some((item, sign)) = items.iter().find_map(|item| Some((item, signs(item)?))) {
                let sign = char::from(sign);
                let message = format!("`{sign}` is a part of the name `{}` in `{upper}`", shown(item));
                let help = "write the names alone, separated by commas or blanks";
                found.push((problem(&definition, message).help(help), shown(definition.name)));
                continue;
            }
            let is_there = |item: &[u8]| self.config.definition(item).is_some() || self.own.contains(item);
            let slip = |item: &Vec<u8>| {
                let lower = item.to_ascii_lowercase();
                let meant = misspelled_attribute(&lower).filter(|_| !is_known(&lower))?;
                (!is_there(&item.to_ascii_uppercase())).then_some(meant)
            };
            // `TARGET.Machine`: the name of an attribute has no scope.
            let scoped = |item: &Vec<u8>| {
                let at = memchr::memchr(b'.', item)?;
                let scope = item[..at].to_ascii_lowercase();
                matches!(&*scope, b"my" | b"target").then(|| shown(&item[at + 1..]))
            };
            let is_of_attributes = ATTRIBUTES.contains(&&*upper) || upper.ends_with("SIGNIFICANT_ATTRIBUTES");
            let mut of_attributes = items.iter().filter(|_| is_of_attributes);
            if let Some((item, plain)) = of_attributes.find_map(|item| Some((item, scoped(item)?))) {
                let message = format!("`{}` in `{upper}` is not the name of an attribute", shown(item));
                found.push((problem(&definition, message).help(format!("write `{plain}`")), shown(definition.name)));
                continue;
            }
            let mut own = items.iter().filter(|_| ATTRIBUTES.contains(&&*upper));
            let Some((item, meant)) = own.find_map(|item| Some((item, slip(item)?))) else { continue };
            let message = format!("HTCondor does not know an attribute `{}`", shown(item));
            let warning = problem(&definition, message).code("unknown-attribute").did_you_mean(Some(meant));
            found.push((warning, shown(definition.name)));
        }
    }

    /// A name of the files, which nothing lists or uses, that begins with another name (upper case), or the other way round.
    fn longer(&self, upper: &[u8]) -> Option<Vec<u8>> {
        const LEAST: usize = 6;
        /// The letters at the end in which the shorter of two names for one thing may differ.
        const OTHER_END: usize = 2;
        /// Names that are looked at.
        const MAX_NAMES: usize = 100;
        if upper.len() < LEAST {
            return None;
        }
        let shorter = (LEAST..upper.len()).filter_map(|end| self.own.get(&upper[..end]));
        let longer = self.own.range(upper.to_vec()..).take_while(|name| name.starts_with(upper));
        let is_meant =
            |name: &&Vec<u8>| !self.advertised.contains_key(*name) && !self.is_mentioned(name) && !is_variable(name);
        // `RackNo` for `RackNumber`.
        let common = &upper[..(upper.len() - OTHER_END).max(LEAST - 1)];
        let alike = self.own.range(common.to_vec()..).take_while(|name| name.starts_with(common));
        shorter.chain(longer).chain(alike).take(MAX_NAMES).find(is_meant).cloned()
    }

    /// A name of the files, which nothing lists or uses, with a word more or less than another name, or another one at its end:
    /// `HasLocalScratch`, `HasScratch`.
    fn with_other_words(&self, item: &[u8]) -> Option<Vec<u8>> {
        /// Names that are looked at.
        const MAX_NAMES: usize = 1000;
        let own = words(item);
        let is_meant =
            |name: &&Vec<u8>| !self.advertised.contains_key(*name) && !self.is_mentioned(name) && !is_variable(name);
        self.own.iter().take(MAX_NAMES).filter(is_meant).find_map(|name| {
            let written = bare(self.config.definition(name)?.name);
            let other = words(written);
            let (few, many) = if own.len() < other.len() { (&own, &other) } else { (&other, &own) };
            let mut rest = many.iter();
            let is_part =
                few.len() > 1 && many.len() == few.len() + 1 && few.iter().all(|word| rest.any(|one| one == word));
            // `HAS_CVMFS_ATLAS`, `HAS_CVMFS_cms`
            let is_word =
                |word: Option<&String>| word.is_some_and(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
            let has_other_end = own.len() > 2
                && own.len() == other.len()
                && own[..own.len() - 1] == other[..own.len() - 1]
                && is_word(own.last())
                && is_word(other.last());
            // `SLOT1_HasMatlab` is the one of a slot.
            let is_of_other = name.ends_with(&[b"_", item.to_ascii_uppercase().as_slice()].concat());
            (has_other_end || is_part && !is_of_other).then(|| written.to_vec())
        })
    }

    /// Returns true if a value refers to a macro (upper case).
    fn is_mentioned(&self, name: &[u8]) -> bool {
        self.mentioned.get_or_init(|| referenced(self.config)).contains(name)
    }

    fn daemons(&self, found: &mut Found) {
        /// Programs that are set for the daemons that start them.
        const OF_OTHERS: [(&str, &str); 2] = [("SHADOW", "schedd"), ("STARTER", "startd")];
        for definition in self.written(|name| name == "DAEMON_LIST") {
            let items = self.items(&definition);
            if let Some(item) = items.iter().find(|item| item.contains(&b';')) {
                let message = format!("`{}` in `DAEMON_LIST` is not a daemon: `;` does not separate them", shown(item));
                found.push((problem(&definition, message).help("separate them with commas"), shown(definition.name)));
                continue;
            }
            let is_of_other = |(name, _): &&(&str, &str)| items.iter().any(|item| item == name.as_bytes());
            if let Some((name, starter)) = OF_OTHERS.iter().find(is_of_other) {
                let message = format!("`{name}` is not a daemon of the master: the {starter} starts one for each job");
                found.push((problem(&definition, message).help("remove it"), shown(definition.name)));
            }
            // Other files may define what a part of a configuration adds.
            let is_part = !definition.verbatim && !has_root(self.config);
            let mut unknown = items
                .iter()
                .filter_map(|item| self.unknown_daemon(item).map(|near| (item, near)))
                .filter(|(_, near)| near.is_some() || !is_part);
            let Some((item, near)) = unknown.next() else { continue };
            let others = match unknown.count() {
                0 => String::new(),
                others => format!(", and neither are {others} more"),
            };
            let item = shown(item);
            let message = format!("`{item}` in `DAEMON_LIST` is not defined{others}: the master cannot start it");
            let warning = problem(&definition, message);
            let warning = match near {
                Some(near) => warning.did_you_mean(Some(shown(&near))),
                None => warning.help(format!("define `{item} = /path/to/program`, or remove `{item}`")),
            };
            found.push((warning, shown(definition.name)));
        }
    }

    /// A daemon that is neither known nor defined, with a name that is near; none for others.
    #[expect(clippy::option_option, reason = "two different questions")]
    fn unknown_daemon(&self, item: &[u8]) -> Option<Option<Vec<u8>>> {
        let upper = item.to_ascii_uppercase();
        let is_name = item.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if !is_name || self.config.definition(item).is_some_and(|one| !one.raw.is_empty()) {
            return None;
        }
        // `condor_schedd` is the name of the program.
        let short = upper.strip_prefix(b"CONDOR_").unwrap_or(&upper);
        let allowed = allowed(&upper).min(2);
        let own = self.near.closest(allowed, &shown(short), |_| true);
        let near = near::closest_within(allowed, short, DAEMONS.into_iter().chain(own));
        let near = near.map(|near| near.as_bytes().to_vec());
        let is_known = DAEMONS.iter().any(|name| name.as_bytes() == upper);
        if near.is_none() && is_known { None } else { Some(near) }
    }

    /// Jobs of `STARTD_CRON_JOBLIST` and the variables that define them.
    fn cron(&self, daemon: &str, found: &mut Found) {
        let (list, prefix) = (format!("{daemon}_CRON_JOBLIST"), format!("{daemon}_CRON_"));
        let lists = self.written(|name| name == list);
        if lists.is_empty() {
            return;
        }
        // A template sets what is missing here.
        let mut sources = self.config.sources().iter();
        let is_made =
            sources.any(|source| memchr::memmem::find(&source.text.to_ascii_lowercase(), b"startdcron").is_some());
        let job = |name: &str| Some(name.strip_prefix(&prefix)?.strip_suffix("_EXECUTABLE")?.to_owned());
        let defined: BTreeMap<String, Definition<'_>> = self
            .written(|name| job(name).is_some())
            .into_iter()
            .filter_map(|one| Some((job(&shown(bare(one.name)).to_ascii_uppercase())?, one)))
            .collect();
        let listed: BTreeSet<String> =
            lists.iter().flat_map(|one| self.items(one)).map(|item| shown(&item).to_ascii_uppercase()).collect();
        let near = NearNames::of(listed.iter().filter(|name| !defined.contains_key(*name)).map(String::as_str));
        for (name, definition) in defined.iter().filter(|(name, _)| !listed.contains(*name)) {
            let near = near.closest(near::allowance(name.as_bytes()), name, |_| true);
            let is_it = |item: &Vec<u8>| near.is_some_and(|near| near.as_bytes().eq_ignore_ascii_case(item));
            if let (Some(near), Some(one)) = (near, lists.iter().find(|one| self.items(one).iter().any(is_it))) {
                // With other settings of its own, it is reported below.
                if is_made || self.never_runs(one, &prefix, near.as_bytes()).is_none() {
                    let message = format!("the job `{near}` has no `{prefix}{near}_EXECUTABLE`, so it never runs");
                    let help = format!("write the same name here and in `{prefix}{name}_EXECUTABLE`");
                    found.push((problem(one, message).help(help), shown(one.name)));
                }
            }
            let message = format!("the job `{name}` is not in `{list}`, so it never runs");
            let help = match near {
                Some(near) => format!("the list has `{near}`: write the same name here and there"),
                None => format!("add it: `{list} = $({list}) {name}`"),
            };
            let warning = definition.name_warning(message).code("conflicting-knobs").help(help);
            found.push((warning, shown(definition.name)));
        }
        for list in lists.iter().filter(|_| !is_made) {
            let jobs = self.items(list);
            found.extend(jobs.iter().filter_map(|job| Some((self.never_runs(list, &prefix, job)?, shown(list.name)))));
        }
    }

    /// The finding about a job that has settings, but no program or no period.
    fn never_runs(&self, list: &Definition<'_>, prefix: &str, job: &[u8]) -> Option<Diagnostic> {
        const SETTINGS: [&str; 8] = ["PREFIX", "ARGS", "MODE", "PERIOD", "ENV", "CWD", "JOB_LOAD", "KILL"];
        let job = shown(job);
        let setting = |what: &str| {
            let set = self.config.definition(format!("{prefix}{job}_{what}").as_bytes())?;
            (!set.raw.trim_ascii().is_empty()).then_some(set)
        };
        let other = if prefix.starts_with("STARTD") { "SCHEDD_CRON_" } else { "STARTD_CRON_" };
        let of_other = self.config.definition(format!("{other}{job}_EXECUTABLE").as_bytes());
        if let Some(program) = of_other.filter(|one| setting("EXECUTABLE").is_none() && one.place.is_some()) {
            let message = format!(
                "the job `{job}` of `{prefix}JOBLIST` has no `{prefix}{job}_EXECUTABLE`: this is for another daemon"
            );
            let warning = program.name_warning(message).code("conflicting-knobs");
            return Some(warning.help(format!("write `{prefix}{job}_EXECUTABLE`")));
        }
        let what = if setting("EXECUTABLE").is_none() {
            // Other files may have all of its settings.
            SETTINGS.iter().any(|what| setting(what).is_some()).then_some("EXECUTABLE")?
        } else {
            let mode = setting("MODE").map_or(&b"Periodic"[..], |mode| mode.raw.trim_ascii());
            let (periodic, waits) = (mode.eq_ignore_ascii_case(b"Periodic"), mode.eq_ignore_ascii_case(b"WaitForExit"));
            match setting("PERIOD") {
                None => (periodic || waits).then_some("PERIOD")?,
                Some(period) => {
                    let number = period.raw.trim_ascii();
                    let number = number.strip_suffix(b"s").or(number.strip_suffix(b"m")).unwrap_or(number);
                    let is_zero = !number.is_empty() && number.iter().all(|digit| *digit == b'0');
                    let message = format!("the period of the job `{job}` is 0, so it never runs");
                    let place = period.value_place().or_else(|| period.place.cloned());
                    let warning = Diagnostic::warning_at(message, place).code("conflicting-knobs");
                    let help = "write a period of more than 0, or `WaitForExit` as its mode";
                    return (periodic && is_zero).then(|| warning.help(help));
                }
            }
        };
        let message = format!("the job `{job}` has no `{prefix}{job}_{what}`, so it never runs");
        let example = if what == "PERIOD" { "5m" } else { "/path/to/program" };
        // The mode asks for a period.
        let mode = setting("MODE").filter(|mode| what == "PERIOD" && mode.place.is_some());
        Some(problem(mode.as_ref().unwrap_or(list), message).help(format!("add `{prefix}{job}_{what} = {example}`")))
    }

    /// `SLOT_TYPE_2` without `NUM_SLOTS_TYPE_2`, where another type has its number.
    fn slot_types(&self, found: &mut Found) {
        let number = |name: &str, prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
        let of = |prefix: &str| -> BTreeMap<u32, Definition<'c>> {
            let written = self.written(|name| number(name, prefix).is_some());
            let numbered =
                |one: Definition<'c>| Some((number(&shown(bare(one.name)).to_ascii_uppercase(), prefix)?, one));
            written.into_iter().filter_map(numbered).collect()
        };
        let (types, numbers) = (of("SLOT_TYPE_"), of("NUM_SLOTS_TYPE_"));
        if types.is_empty() || numbers.is_empty() {
            self.no_numbers(&types, found);
            return;
        }
        // A number without a type of slots is probably that of the first type without a number.
        let is_odd =
            |(other, one): &(&u32, &Definition<'_>)| !types.contains_key(*other) && one.raw.trim_ascii() != b"0";
        let mut odd = numbers.iter().find(is_odd);
        for (number, definition) in types.iter().filter(|(number, _)| !numbers.contains_key(number)) {
            // The first type has a default.
            let default = self.config.definition(format!("NUM_SLOTS_TYPE_{number}").as_bytes());
            if default.is_some_and(|one| !one.raw.is_empty()) {
                continue;
            }
            let message = format!("`NUM_SLOTS_TYPE_{number}` is not defined, so there are no slots of type {number}");
            let help = format!("add `NUM_SLOTS_TYPE_{number} = 1`");
            let Some(((other, odd), place)) = odd.take().and_then(|odd| Some((odd, definition.place?))) else {
                let warning = definition.name_warning(message).code("conflicting-knobs").help(help);
                found.push((warning, shown(definition.name)));
                continue;
            };
            let message = format!("there is no `SLOT_TYPE_{other}`, and no number of slots of type {number}");
            let warning = odd.name_warning(message).code("conflicting-knobs");
            let warning = warning.help(format!("write `NUM_SLOTS_TYPE_{number}`"));
            let label = format!("type {number} is defined here");
            let warning = second_place::beside(self.config, warning, (place, definition.name.len()), &label);
            found.push((warning, shown(odd.name)));
        }
        let of_type = |name: &str| {
            let (number, _) = name.strip_prefix("SLOT_TYPE_")?.split_once('_')?;
            number.parse::<u32>().ok().filter(|number| !types.contains_key(number) && !numbers.contains_key(number))
        };
        let orphan = self.written(|name| of_type(name).is_some()).into_iter().next();
        if let Some(definition) = orphan.filter(|_| has_numbers(&numbers)) {
            let number = of_type(&shown(bare(definition.name)).to_ascii_uppercase()).unwrap_or_default();
            let message = format!("`{}` has no effect: there are no slots of type {number}", shown(definition.name));
            let warning = definition.name_warning(message).code("conflicting-knobs");
            found.push((warning.help(format!("add `NUM_SLOTS_TYPE_{number} = 1`")), shown(definition.name)));
        }
        for (resource, all) in self.amounts() {
            found.extend(self.too_much((&resource, all), &types, &numbers));
        }
    }

    /// `SLOT_TYPE_1` without a number of slots of any type: the default is 0 (`slot_builder.cpp`), and the machine is one slot.
    fn no_numbers(&self, types: &BTreeMap<u32, Definition<'c>>, found: &mut Found) {
        // A template, or a file that is not here, may have one.
        let has_number = |name: &[u8]| bare(name).to_ascii_uppercase().starts_with(b"NUM_SLOTS_TYPE_");
        let is_open = misses_files(self.config) || self.config.names().any(has_number);
        let Some((first, one)) = types.first_key_value().filter(|_| !is_open) else { return };
        let message = format!("`SLOT_TYPE_{first}` has no effect: `NUM_SLOTS_TYPE_{first}` is not defined, and is 0");
        let warning = one.name_warning(message).code("conflicting-knobs");
        found.push((warning.help(format!("add `NUM_SLOTS_TYPE_{first} = 1`")), shown(one.name)));
    }

    /// A resource that a variable defines under another name than `MACHINE_RESOURCE_NAMES`.
    fn resources(&self, found: &mut Found) {
        const PREFIX: &str = "MACHINE_RESOURCE_";
        let own = |name: &str| {
            let resource = name.strip_prefix(PREFIX).filter(|resource| *resource != "NAMES")?;
            Some(resource.strip_prefix("INVENTORY_").unwrap_or(resource).to_owned())
        };
        for list in self.written(|name| name == "MACHINE_RESOURCE_NAMES") {
            let listed: BTreeSet<String> =
                self.items(&list).iter().map(|item| shown(item).to_ascii_uppercase()).collect();
            let has = |item: &String| {
                ["", "INVENTORY_"]
                    .iter()
                    .any(|way| self.config.definition(format!("{PREFIX}{way}{item}").as_bytes()).is_some())
            };
            let is_open = |item: &&String| !has(item);
            let near = NearNames::of(listed.iter().filter(is_open).map(String::as_str));
            // Another file may have the names that the list begins with, which is all that counts (`ResAttributes.cpp`).
            let is_fixed = list.verbatim && memchr::memmem::find(list.raw, b"$(").is_none();
            let is_whole = has_root(self.config) || is_fixed && !misses_files(self.config);
            // Names of which these files have others, and no amount (`ResAttributes.cpp`).
            let missing = listed.iter().find(|item| !has(item) && *item != "GPUS" && !item.contains('$'));
            if let Some(item) = missing.filter(|_| is_whole && listed.iter().any(&has)) {
                let is_slip = self.written(|name| {
                    own(name).is_some_and(|name| near::distance(name.as_bytes(), item.as_bytes(), 1).is_some())
                });
                if is_slip.is_empty() {
                    let message = format!("`{item}` is listed, and there is no `{PREFIX}{item}`");
                    let help = format!("add `{PREFIX}{item} = 1`, or remove the name");
                    found.push((problem(&list, message).help(help), shown(list.name)));
                }
            }
            for definition in self.written(|name| own(name).is_some()) {
                let Some(name) = own(&shown(bare(definition.name)).to_ascii_uppercase()) else { continue };
                if listed.contains(&name) {
                    continue;
                }
                let warning = |message: String| definition.name_warning(message).code("conflicting-knobs");
                if let Some(meant) = near.closest(1, &name, |_| true) {
                    let message = format!("`{name}` is not in `MACHINE_RESOURCE_NAMES`, which has `{meant}`");
                    found.push((warning(message).help("write the same name in both"), shown(definition.name)));
                } else if is_whole && !listed.is_empty() && name != "GPUS" {
                    let own = shown(definition.name);
                    let message = format!("`{own}` has no effect: `MACHINE_RESOURCE_NAMES` does not have `{name}`");
                    found.push((warning(message).help("add the name to the list"), own));
                }
            }
        }
    }

    /// The resources of a machine, each with its amount as far as the configuration says it: a number, or the names of its parts
    /// (`parse_user_resource_config` in `ResAttributes.cpp`).
    fn amounts(&self) -> Vec<(String, Option<f64>)> {
        const PREFIX: &str = "MACHINE_RESOURCE_";
        let text = |one: &Definition<'_>| Some(shown(&self.config.expansion(one.name, one.raw).ok()?));
        let of =
            |name: &str| self.written(|written| written == name).first().and_then(text)?.trim().parse::<f64>().ok();
        // A number is a part of what the configuration says that the machine has.
        let standard = [("cpus", "NUM_CPUS"), ("memory", "MEMORY")];
        let standard = standard.map(|(name, total)| (name.to_owned(), of(total).filter(|all| *all >= 1.0)));
        let own = self.written(|name| name.starts_with(PREFIX) && !name.starts_with("MACHINE_RESOURCE_INVENTORY_"));
        let own = own.into_iter().filter_map(|one| {
            let name = shown(bare(one.name))
                .get(PREFIX.len()..)
                .filter(|name| !name.eq_ignore_ascii_case("NAMES"))?
                .to_owned();
            let value = text(&one)?;
            let is_id = |item: &Vec<u8>| {
                item.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
                    && item.iter().any(u8::is_ascii_alphanumeric)
            };
            let items = list_items(value.as_bytes());
            let count = items.len();
            let is_list = count > 1 && items.iter().all(is_id) && unknowns::marked(value.as_bytes()).is_none();
            let amount =
                value.trim().parse::<f64>().ok().or(is_list.then_some(count as f64)).filter(|all| *all > 0.0)?;
            Some((name, Some(amount)))
        });
        standard.into_iter().chain(own).collect()
    }

    /// The finding about shares of a resource that are more than all of it together.
    fn too_much(
        &self,
        (resource, all): (&str, Option<f64>),
        types: &BTreeMap<u32, Definition<'c>>,
        numbers: &BTreeMap<u32, Definition<'c>>,
    ) -> Option<(Diagnostic, String)> {
        let text = |one: &Definition<'_>| Some(shown(&self.config.expansion(one.name, one.raw).ok()?));
        let mut sum = 0.0;
        for (number, definition) in types {
            // Such slots take what the others leave.
            let is_backfill = self.config.boolean(&format!("SLOT_TYPE_{number}_BACKFILL"), false).unwrap_or(true);
            if is_backfill {
                continue;
            }
            let slots: f64 = numbers.get(number).and_then(text)?.trim().parse().ok()?;
            let part = share(&text(definition)?, resource, all);
            // That is reported as a value.
            if part > 1.0 && all.is_none() {
                return None;
            }
            sum += slots * part;
            if sum > 1.0 + 1e-6 {
                let percent = (sum * 100.0).round();
                let message = format!("up to type {number}, the slots have {percent} % of `{resource}`");
                let warning = problem(definition, message);
                let help = "the last slots are broken or missing: the shares of all slots together are at most 100 %";
                return Some((warning.help(help), shown(definition.name)));
            }
        }
        None
    }

    /// Volumes that all jobs of the docker universe are to get, and that are not defined.
    fn volumes(&self, found: &mut Found) {
        let known = self.config.list("DOCKER_VOLUMES").unwrap_or_default();
        let known: BTreeSet<Vec<u8>> = known.iter().map(|name| name.to_ascii_uppercase()).collect();
        for list in self.written(|name| name == "DOCKER_MOUNT_VOLUMES").iter().filter(|_| !known.is_empty()) {
            let mut unknown = Alike::default();
            let items = self.items(list);
            items.iter().filter(|item| !known.contains(&item.to_ascii_uppercase())).for_each(|item| unknown.add(item));
            let Some((item, others)) = unknown.items() else { continue };
            let message = format!("`{item}`{others} is not in `DOCKER_VOLUMES`, so jobs do not get it");
            let help = format!("add it there, and define `DOCKER_VOLUME_DIR_{item}`");
            found.push((problem(list, message).help(help), shown(list.name)));
        }
    }

    /// Attributes of which each job has its own among the significant ones.
    fn significant(&self, found: &mut Found) {
        for definition in self.written(|name| matches!(name, "SIGNIFICANT_ATTRIBUTES" | "ADD_SIGNIFICANT_ATTRIBUTES")) {
            let mut various = Alike::default();
            for item in self.items(&definition).iter().filter(|item| variety(&item.to_ascii_lowercase()).is_some()) {
                various.add(item);
            }
            if let Some((item, others)) = various.items() {
                let message = format!("`{item}`{others} differs from job to job, so there are as many autoclusters");
                let warning = problem(&definition, message).code("per-job-attribute");
                let help = "leave it out; `classmate autoclusters` shows the cost";
                found.push((warning.help(help), shown(definition.name)));
            }
        }
    }
}

/// The part of a resource that a type of slots has, as far as it is a percentage or a fraction, or a number of what is known to be all
/// of it.
fn share(value: &str, resource: &str, all: Option<f64>) -> f64 {
    let separators: &[char] = if value.contains(',') { &[','] } else { &[' ', '\t'] };
    let (mut default, mut own) = (0.0, None);
    for item in value.split(separators).map(str::trim) {
        let (name, text) = item.split_once('=').map_or(("", item), |(name, text)| (name.trim(), text.trim()));
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let part = match (text.strip_suffix('%'), text.split_once('/')) {
            (Some(percent), _) => number(percent).map(|percent| percent / 100.0),
            (_, Some((part, whole))) => number(part).zip(number(whole)).map(|(part, whole)| part / whole),
            _ => number(text).zip(all.filter(|_| !name.is_empty())).map(|(part, all)| part / all),
        };
        let part = part.filter(|part| part.is_finite()).unwrap_or_default();
        let is_named = |of: &str| !name.is_empty() && of.starts_with(&name.to_ascii_lowercase());
        // Of a resource of the site's own, the share that is meant is written with its whole name.
        if !matches!(resource, "cpus" | "memory") {
            own = own.or(name.eq_ignore_ascii_case(resource).then_some(part));
        } else if name.is_empty() {
            default = part;
        } else if is_named(resource) || resource == "memory" && is_named("ram") {
            own = Some(part);
        }
    }
    own.unwrap_or(default)
}

/// The words of a name, lower case: `HasLocalScratch`, `HAS_LOCAL_SCRATCH`.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_lower = false;
    for byte in name {
        let begins = words.is_empty() || *byte == b'_' || is_lower && byte.is_ascii_uppercase();
        if begins {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| *byte != b'_') {
            last.push(char::from(byte.to_ascii_lowercase()));
        }
        is_lower = byte.is_ascii_lowercase() || byte.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The number of edits that still look like a slip in a name of which nothing else is known.
fn allowed(name: &[u8]) -> usize {
    if name.len() < 8 { 1 } else { 2 }
}
