//! Lists of names, `SUBMIT_REQUIREMENT_NAMES` and the like, and the variables that define their members.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Linter, shown_name};
use crate::lint::knobs::bare;
use crate::lint::lists::misses_files;
use crate::lint::near_names::NearNames;
use crate::lint::unknowns;
use classmate::Diagnostic;
use classmate::internal::builtin::near;
use classmate_config::Definition;
use classmate_config::internal::config::check::referenced;
use classmate_config::internal::config::setting::list_items;

/// Lists of names: the prefix of the variables that define them, the list, and the ends of those that complete them.
pub(super) const LISTS: [(&str, &str, &[&str]); 11] = [
    ("JOB_TRANSFORM_", "JOB_TRANSFORM_NAMES", &[]),
    ("JOB_ROUTER_ROUTE_", "JOB_ROUTER_ROUTE_NAMES", &[]),
    // `JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES` as well.
    ("JOB_ROUTER_TRANSFORM_", "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES", &[]),
    ("SUBMIT_REQUIREMENT_", "SUBMIT_REQUIREMENT_NAMES", &["REASON", "IS_WARNING"]),
    ("SYSTEM_PERIODIC_HOLD_", "SYSTEM_PERIODIC_HOLD_NAMES", &["REASON", "SUBCODE"]),
    ("SYSTEM_PERIODIC_RELEASE_", "SYSTEM_PERIODIC_RELEASE_NAMES", &["REASON", "SUBCODE"]),
    ("SYSTEM_PERIODIC_REMOVE_", "SYSTEM_PERIODIC_REMOVE_NAMES", &["REASON", "SUBCODE"]),
    ("SYSTEM_PERIODIC_VACATE_", "SYSTEM_PERIODIC_VACATE_NAMES", &["REASON", "SUBCODE"]),
    ("CLASSAD_USER_MAPFILE_", "CLASSAD_USER_MAP_NAMES", &[]),
    ("CLASSAD_USER_MAPDATA_", "CLASSAD_USER_MAP_NAMES", &[]),
    ("DOCKER_VOLUME_DIR_", "DOCKER_VOLUMES", &["MOUNT_IF"]),
];

impl Linter<'_> {
    /// Members of a list that are not defined, or defined and not listed.
    pub(super) fn listed(&mut self, (prefix, list, parts): (&str, &str, &[&str])) {
        let config = self.config;
        let upper = |name: &[u8]| bare(name).to_ascii_uppercase();
        let defined = Rc::clone(self.defined.get_or_init(|| Rc::new(config.names().map(upper).collect())));
        // Without the list itself, and the variables that complete a member.
        let is_member = |name: &[u8]| {
            let member = name.strip_prefix(prefix.as_bytes()).unwrap_or_default();
            let completes = |part: &&str| {
                let front = member.strip_suffix(part.as_bytes());
                front.is_some_and(|front| front.is_empty() || front.ends_with(b"_"))
            };
            !member.is_empty() && member != b"NAMES" && !parts.iter().any(completes)
        };
        let (mut listed, mut lists, mut missing) = (BTreeSet::new(), false, Vec::new());
        // The list that the files set.
        let mut own_list = list.to_owned();
        // Daemons may have lists of their own: `SCHEDD_CLASSAD_USER_MAP_NAMES`.
        let after = list.replace("_PRE_", "_POST_");
        let is_list = |name: &[u8]| {
            let upper = upper(name);
            let mut fronts = [list, after.as_str()].into_iter().filter_map(|list| upper.strip_suffix(list.as_bytes()));
            fronts.any(|front| front.is_empty() || front.ends_with(b"_"))
        };
        for definition in config.definitions().filter(|one| is_list(one.name)) {
            let name = definition.name;
            let Ok(text) = config.expansion(name, definition.raw) else { return };
            // What only a machine knows may be any name.
            if unknowns::marked(&text).is_some() {
                return;
            }
            lists = true;
            if definition.place.is_some() {
                own_list = shown_name(bare(name)).to_ascii_uppercase();
            }
            for item in list_items(&text) {
                let member = [prefix.as_bytes(), &item].concat().to_ascii_uppercase();
                if !defined.contains(&member) {
                    missing.push((item, definition.place.cloned(), String::from_utf8_lossy(name).into_owned()));
                }
                listed.insert(member);
            }
        }
        // A list may name what other files define; one that is like a member that is not listed is a slip.
        let unlisted: Vec<String> = defined
            .iter()
            .filter(|member| is_member(member.as_slice()) && !listed.contains(*member))
            .filter_map(|member| Some(String::from_utf8_lossy(member.strip_prefix(prefix.as_bytes())?).into_owned()))
            .collect();
        let mut slips: BTreeMap<String, String> = BTreeMap::new();
        let near_unlisted = NearNames::of(unlisted.iter().map(String::as_str));
        let may_be_elsewhere = misses_files(config) || prefix.starts_with("CLASSAD_USER_MAP");
        let here = config.definitions().filter(|one| listed.contains(&upper(one.name)));
        let places: BTreeSet<&str> = here.filter_map(|one| Some(&*one.place?.file)).collect();
        for (item, place, shown) in missing {
            let item = String::from_utf8_lossy(&item).into_owned();
            let is_path = item.contains('/');
            let near = near_unlisted.closest(near::allowance(item.as_bytes()), &item.to_ascii_uppercase(), |_| true);
            // Beside members of the list in the same file, other files hardly define it.
            let is_here = place.as_ref().is_some_and(|at| places.contains(&*at.file)) && !may_be_elsewhere;
            let of_other = self.member_of_other_list(prefix, &item);
            if near.is_none() && of_other.is_none() && !is_here && !is_path {
                continue;
            }
            // Either of the two may be the slip: both places are shown.
            let slip = near.filter(|_| !is_path).map(|near| format!("{prefix}{near}").to_ascii_uppercase());
            slips.extend(slip.map(|slip| (slip, item.clone())));
            let (message, help) = self.undefined_member((prefix, list), &item, near, of_other);
            let warning = Diagnostic::warning_at(message, place).help(help);
            self.report(warning.code("conflicting-knobs"), Some(shown));
        }
        if !lists {
            return;
        }
        let list = own_list.as_str();
        let used = Rc::clone(self.referenced.get_or_init(|| Rc::new(referenced(config))));
        self.orphans((prefix, list, parts), &defined, &listed, &used);
        for definition in config.definitions().filter(|found| found.template.is_none() && !found.raw.is_empty()) {
            let name = definition.name;
            let member = upper(name);
            if !is_member(member.as_slice()) || listed.contains(&member) || used.contains(&name.to_ascii_uppercase()) {
                continue;
            }
            let shown = String::from_utf8_lossy(name).into_owned();
            let message = format!("`{shown}` is not listed in `{list}`, so it has no effect");
            let item = shown_name(&bare(name)[prefix.len()..]);
            // A listed name and an end that is none: `…_REASONS`.
            let ends = memchr::memchr_iter(b'_', &member).filter(|_| !parts.is_empty());
            let mut of_listed = ends.filter(|end| listed.contains(&member[..*end]));
            let of_listed = of_listed.next().and_then(|end| {
                Some((shown_name(member[..end].strip_prefix(prefix.as_bytes())?), shown_name(&member[end + 1..])))
            });
            if let Some((known, end)) = of_listed {
                self.report(other_end(&definition, &shown, (&known, &end), parts), Some(shown.clone()));
                continue;
            }
            let help = match slips.get(&*shown_name(&member)) {
                Some(meant) => format!("the list has `{meant}`: write the same name here and there"),
                None => format!("add it: `{list} = $({list}) {item}`"),
            };
            self.report(definition.name_warning(message).help(help).code("conflicting-knobs"), Some(shown));
        }
    }

    /// The message and the help about a listed name that is not defined. Other variables may be like it: one of the same kind that is not
    /// listed, and one of another list.
    fn undefined_member(
        &self,
        (prefix, list): (&str, &str),
        item: &str,
        near: Option<&str>,
        of_other: Option<String>,
    ) -> (String, String) {
        if item.contains('/') {
            let message = format!("`{item}` in `{list}` is not a name, so it has no effect");
            return (message, format!("write a name, and define `{prefix}<name> = {item}`"));
        }
        let help = match (near, of_other) {
            (Some(near), _) => {
                format!("write the same name here and in `{prefix}{}`", self.as_written(prefix, near))
            }
            (None, Some(other)) => format!("define `{prefix}{item}`: `{other}` is read by another list"),
            (None, None) => format!("define `{prefix}{item}`, or remove `{item}` from the list"),
        };
        (format!("`{item}` is listed but `{prefix}{item}` is not defined, so it has no effect"), help)
    }

    /// The variable that defines a member (as listed) of a list of transforms for the other one, which does not name it.
    fn member_of_other_list(&self, prefix: &str, item: &str) -> Option<String> {
        let (other, list) = match prefix {
            "JOB_ROUTER_TRANSFORM_" => ("JOB_TRANSFORM_", "JOB_TRANSFORM_NAMES"),
            "JOB_TRANSFORM_" => ("JOB_ROUTER_TRANSFORM_", "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES"),
            _ => return None,
        };
        let own = self.config.definition(format!("{other}{item}").as_bytes())?;
        let lists = [list.to_owned(), list.replace("_PRE_", "_POST_")];
        let names = lists.iter().flat_map(|list| self.config.list(list).unwrap_or_default());
        let is_listed = names.into_iter().any(|name| name.eq_ignore_ascii_case(item.as_bytes()));
        (!is_listed).then(|| shown_name(own.name))
    }

    /// The name of a member (upper case) as a file has it.
    fn as_written(&self, prefix: &str, member: &str) -> String {
        let known = self.config.definition(format!("{prefix}{member}").as_bytes());
        known.and_then(|known| bare(known.name).get(prefix.len()..)).map_or_else(|| member.to_owned(), shown_name)
    }

    /// Variables that complete a member which is neither listed nor defined: `SYSTEM_PERIODIC_HOLD_Dsik_REASON`.
    fn orphans(
        &mut self,
        (prefix, list, parts): (&str, &str, &[&str]),
        defined: &BTreeSet<Vec<u8>>,
        listed: &BTreeSet<Vec<u8>>,
        used: &BTreeSet<Vec<u8>>,
    ) {
        let config = self.config;
        let known: Vec<String> =
            listed.iter().filter_map(|name| Some(shown_name(name.strip_prefix(prefix.as_bytes())?))).collect();
        let near_listed = NearNames::of(known.iter().map(String::as_str));
        for definition in config.definitions().filter(|found| found.place.is_some() && found.template.is_none()) {
            let upper = bare(definition.name).to_ascii_uppercase();
            let front = |part: &&str| upper.strip_suffix(part.as_bytes())?.strip_suffix(b"_");
            let Some(front) = parts.iter().find_map(front) else { continue };
            let Some(member) = front.strip_prefix(prefix.as_bytes()).filter(|member| !member.is_empty()) else {
                continue;
            };
            let is_known = |name: &[u8]| listed.contains(name) || defined.contains(name);
            // A macro that others refer to is of use, whatever it is called.
            let is_used = used.contains(&upper) || used.contains(&definition.name.to_ascii_uppercase());
            if is_known(front) || listed.contains(&upper) || is_used {
                continue;
            }
            let (written, shown) = (bare(definition.name), shown_name(definition.name));
            let near = near_listed.closest(near::allowance(member), &shown_name(member), |_| true);
            let near = near.map(|near| self.as_written(prefix, near));
            let member = shown_name(&written[prefix.len()..prefix.len() + member.len()]);
            let message = format!("`{shown}` has no effect: `{member}` is not in `{list}`");
            let warning = definition.name_warning(message).code("conflicting-knobs");
            let warning = match near {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning.help(format!("add it to `{list}`, or remove this variable")),
            };
            self.report(warning, Some(shown));
        }
    }
}

/// The finding about a variable with the name of a member that is listed, and an end that such variables do not have.
fn other_end(definition: &Definition<'_>, shown: &str, (known, end): (&str, &str), parts: &[&str]) -> Diagnostic {
    let plain = |text: &str| text.replace('_', "");
    let alike = |part: &&&str| plain(part) == plain(end) || plain(end).contains(&plain(part));
    let within = |part: &&&str| alike(part) || plain(part).contains(&plain(end));
    let meant = parts.iter().find(alike).or_else(|| parts.iter().find(within)).copied();
    let meant = meant.or_else(|| near::closest(end.as_bytes(), parts.iter().copied()));
    let ends: Vec<String> = parts.iter().map(|part| format!("`_{part}`")).collect();
    let message = format!("`{shown}` is not read: `_{end}` does not belong to `{known}`");
    let warning = definition.name_warning(message).code("conflicting-knobs");
    let warning = warning.help(format!("the ends of such names are {}", ends.join(" and ")));
    let front = &shown[..shown.len() - end.len()];
    warning.did_you_mean(meant.map(|meant| format!("{front}{meant}")))
}
