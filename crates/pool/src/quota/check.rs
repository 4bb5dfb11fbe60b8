//! Warnings about the settings of groups, which take effect all the same.
//!
//! Formula source: `docs/reference/group-quotas.md` 2.1.

use hashbrown::HashSet;

use super::settings::{GroupSetting, QuotaSettings, or};
use super::tree::{Configured, GroupTree, ROOT};
use classmate_config::internal::config::check::referenced;
use classmate_config::internal::config::{Config, ConfigError, Diagnostic, Location};

/// The warnings about the groups of a configuration, except those already in `known`; unreadable settings are skipped.
pub fn diagnostics(config: &Config, known: &[Diagnostic]) -> Vec<Diagnostic> {
    let settings = QuotaSettings::readable(config);
    let tree = GroupTree::new(&settings);
    let is_known = |warning: &&Diagnostic| {
        let line = |diagnostic: &Diagnostic| diagnostic.place.as_ref().map(|place| (place.file.clone(), place.line));
        let same = |other: &Diagnostic| {
            matches!(other.code, "undeclared-group" | "obsolete-knob" | "unknown-knob") && line(other) == line(warning)
        };
        known.iter().any(same)
    };
    tree.warnings().iter().filter(|warning| !is_known(warning)).cloned().collect()
}

fn warning(message: impl Into<String>, place: Option<&Location>) -> Diagnostic {
    Diagnostic::warning_at(message, place.cloned()).code("group-quota")
}

/// As [`warning`], of what no cycle uses.
fn unused(message: impl Into<String>, place: Option<&Location>) -> Diagnostic {
    warning(message, place).code("unused-group-setting")
}

fn shown(group: &GroupSetting) -> String {
    String::from_utf8_lossy(&group.name).into_owned()
}

pub(super) fn named_like_the_root(group: &GroupSetting) -> Diagnostic {
    warning("`<none>` is reserved for users without a group: it cannot be a group name", group.place.as_ref())
}

pub(super) fn without_parent(group: &GroupSetting) -> Diagnostic {
    let name = shown(group);
    let parent = name.rsplit_once('.').map_or("", |(parent, _)| parent);
    let message = format!("group `{name}` is ignored: its parent `{parent}` is not in GROUP_NAMES");
    unused(message, group.place.as_ref())
}

pub(super) fn duplicate(group: &GroupSetting, first: &GroupSetting) -> Diagnostic {
    let message = format!("group `{}` is declared again as `{}`: the first one is used", shown(first), shown(group));
    unused(message, group.place.as_ref())
}

pub(super) fn no_flat_group(group: &GroupSetting) -> Diagnostic {
    let message = format!("group `{}` is ignored: flat groups do not have subgroups", shown(group));
    unused(message, group.place.as_ref())
}

pub(super) fn no_flat_quota(group: &GroupSetting) -> Diagnostic {
    let message = format!("`GROUP_QUOTA_DYNAMIC_{}` has no effect: flat groups have static quotas", shown(group));
    unused(message, group.place.as_ref())
}

/// Quotas that are missing, contradict each other, or are more than there is.
pub(super) fn quotas(tree: &GroupTree, settings: &QuotaSettings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut without = Vec::new();
    let declared = tree.groups().iter().filter_map(|group| settings.groups.get(group.setting?));
    for group in declared {
        let name = shown(group);
        match (&group.fixed, &group.dynamic) {
            (None, None) => without.push(group),
            (Some(fixed), Some(dynamic)) if !fixed.value.is_nan() && !dynamic.value.is_nan() => {
                let message = format!(
                    "`GROUP_QUOTA_DYNAMIC_{name}` has no effect: `GROUP_QUOTA_{name}` is set ({})",
                    fixed.value
                );
                found.push(unused(message, dynamic.place.as_ref()));
            }
            _ => {}
        }
    }
    found.extend(without_quotas(&without));
    for (at, group) in tree.groups().iter().enumerate() {
        let (fixed, dynamic) = tree.sums_below(group);
        let (fixed, dynamic) = (decimal(fixed), decimal(dynamic));
        let whose = if at == ROOT { "at the top level".to_owned() } else { format!("below `{}`", tree.display(at)) };
        let place = || tree.place(settings, at);
        if let Configured::Static(own) = group.configured
            && fixed > own
        {
            let fate = if settings.rules.oversubscription { "they are kept" } else { "they are scaled down" };
            found.push(warning(format!("static quotas {whose} sum to {fixed}, more than its {own}: {fate}"), place()));
        }
        if dynamic > 1.0 + ROUNDING {
            // The last of them is where the sum is seen.
            let last = group.children.clone().rev().find_map(|child| {
                let child = tree.groups().get(child)?;
                let dynamic = settings.groups.get(child.setting?)?.dynamic.as_ref()?;
                dynamic.place.clone().filter(|_| matches!(child.configured, Configured::Dynamic(_)))
            });
            let message = format!("dynamic quotas {whose} sum to {dynamic}: they are scaled down to 1");
            found.push(warning(message, last.as_ref().or_else(place)));
        }
    }
    found
}

/// The excess of a sum of shares that are rounded: three of 0.33334 are 1.00002.
const ROUNDING: f64 = 0.001;

/// The groups without a quota, as one warning.
fn without_quotas(groups: &[&GroupSetting]) -> Option<Diagnostic> {
    const MAX_SHOWN: usize = 5;
    let names: Vec<String> = groups.iter().take(MAX_SHOWN).map(|group| format!("`{}`", shown(group))).collect();
    let what = "neither GROUP_QUOTA nor GROUP_QUOTA_DYNAMIC";
    let message = match groups.len() {
        1 => format!("group {} has {what}: its quota is 0", names[0]),
        number if number > MAX_SHOWN => {
            let more = number - MAX_SHOWN;
            format!("groups {} and {more} more have {what}: their quotas are 0", names.join(", "))
        }
        _ => {
            let (last, others) = names.split_last()?;
            format!("groups {} and {last} have {what}: their quotas are 0", others.join(", "))
        }
    };
    Some(warning(message, groups.first()?.place.as_ref()))
}

/// A sum of decimal fractions without what their binary ones add: 1.3, not 1.2999999999999998.
fn decimal(sum: f64) -> f64 {
    // Number of digits that are significant in a sum of fractions.
    format!("{sum:.9}").parse().unwrap_or(sum)
}

/// Settings that belong to no group, or to nothing; what cannot be read is a fault.
pub(super) fn strays(config: &Config, groups: &[GroupSetting], faults: &mut Vec<ConfigError>) -> Vec<Diagnostic> {
    let declared: HashSet<Vec<u8>> = groups.iter().map(|group| group.name.to_ascii_lowercase()).collect();
    let mut found = Vec::new();
    let referenced = referenced(config);
    for (name, _, place) in config.assignments() {
        let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
        let shown = String::from_utf8_lossy(name);
        if let Some(rest) = upper.strip_prefix("HFS_") {
            let now = match rest {
                "MAX_ALLOCATION_ROUNDS" | "ROUND_ROBIN_RATE" => format!("GROUP_QUOTA_{rest}"),
                _ => continue,
            };
            found.push(unused(format!("`{shown}` has no effect: its name is `{now}`"), Some(place)));
            continue;
        }
        if ["GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", "GROUP_QUOTA_ROUND_ROBIN_RATE"].contains(&upper.as_str()) {
            continue;
        }
        // A group may well be called `dynamic_x`: the setting is a stray only if neither reading fits.
        let subjects: Vec<&str> = PREFIXES.iter().filter_map(|prefix| upper.strip_prefix(prefix)).collect();
        let fits = |subject: &&str| declared.contains(&subject.to_ascii_lowercase().into_bytes());
        if let Some(subject) = subjects.first()
            && !subjects.iter().any(fits)
        {
            // A macro of the file's own, used where it is referred to.
            if referenced.contains(upper.as_bytes()) {
                continue;
            }
            let subject = &shown[shown.len() - subject.len()..];
            let message = format!("`{shown}` has no effect: `{subject}` is not in GROUP_NAMES");
            found.push(unused(message, Some(place)));
        } else if upper.starts_with("GROUP_PRIO_FACTOR_") {
            let factor = or(config.real(&shown, 1.0, f64::MIN, f64::MAX), 1.0, faults);
            if factor < 1.0 && factor != 0.0 {
                found.push(warning(format!("`{shown}` is `{factor}`: factors below 1 are treated as 1"), Some(place)));
            }
        }
        if upper == "GROUP_SORT_EXPR" {
            found.extend(or(of_order(config, place), Vec::new(), faults));
        }
    }
    found
}

/// The settings that belong to one group each; the longer before the shorter.
const PREFIXES: [&str; 5] =
    ["GROUP_QUOTA_DYNAMIC_", "GROUP_QUOTA_", "GROUP_ACCEPT_SURPLUS_", "GROUP_AUTOREGROUP_", "GROUP_PRIO_FACTOR_"];

/// Names of attributes that the manual of version 8 gave and no version had.
fn of_order(config: &Config, place: &Location) -> Result<Vec<Diagnostic>, ConfigError> {
    let Some(text) = config.get("GROUP_SORT_EXPR")? else { return Ok(Vec::new()) };
    let lower = text.text.to_ascii_lowercase();
    let mentions = |name: &str| memchr::memmem::find(&lower, name.to_ascii_lowercase().as_bytes()).is_some();
    let renamed =
        [("GroupQuotaInUse", "GroupResourcesInUse"), ("GroupQuotaAllocated", "GroupResourcesAllocated")].into_iter();
    let of = |(old, new): (&str, &str)| {
        mentions(old).then(|| {
            warning(format!("`GROUP_SORT_EXPR` refers to `{old}`, which does not exist; use `{new}`"), Some(place))
        })
    };
    Ok(renamed.filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(config: &str) -> Vec<String> {
        let settings = QuotaSettings::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap();
        GroupTree::new(&settings).warnings().iter().map(Diagnostic::to_line).collect()
    }

    /// Example 19 of `docs/reference/group-quotas.md`.
    #[test]
    fn example_19_bad_names_are_left_out() {
        let found = warnings("GROUP_NAMES = B, b, a.b, <none>\nGROUP_QUOTA_B = 1");
        assert_eq!(
            found,
            [
                "c:1:1: `<none>` is reserved for users without a group: it cannot be a group name",
                "c:1:1: group `a.b` is ignored: its parent `a` is not in GROUP_NAMES",
                "c:1:1: group `B` is declared again as `b`: the first one is used",
            ]
        );
    }

    #[test]
    fn contradictory_missing_and_excessive_quotas_are_said() {
        let found = warnings(
            "GROUP_NAMES = a, b, c, b.x, b.y\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_b = 10\n\
             GROUP_QUOTA_b.x = 7\nGROUP_QUOTA_b.y = 8\nNEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false",
        );
        assert_eq!(
            found,
            [
                "c:3:1: `GROUP_QUOTA_DYNAMIC_a` has no effect: `GROUP_QUOTA_a` is set (5)",
                "c:1:1: group `c` has neither GROUP_QUOTA nor GROUP_QUOTA_DYNAMIC: its quota is 0",
                "c:1:1: static quotas below `b` sum to 15, more than its 10: they are scaled down",
            ]
        );
        let found = warnings("GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.75\nGROUP_QUOTA_DYNAMIC_b = 0.5");
        assert_eq!(found, ["c:3:1: dynamic quotas at the top level sum to 1.25: they are scaled down to 1"]);
        let rounded = warnings(
            "GROUP_NAMES = a, b, c\nGROUP_QUOTA_DYNAMIC_a = 0.33334\nGROUP_QUOTA_DYNAMIC_b = 0.33334\n\
             GROUP_QUOTA_DYNAMIC_c = 0.33334",
        );
        assert_eq!(rounded, [""; 0]);
    }

    #[test]
    fn sums_are_shown_as_decimal_fractions() {
        // 0.7 + 0.6 is 1.2999999999999998 in binary.
        let found = warnings("GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.7\nGROUP_QUOTA_DYNAMIC_b = 0.6");
        assert_eq!(found, ["c:3:1: dynamic quotas at the top level sum to 1.3: they are scaled down to 1"]);
        // 0.7 + 0.6 + 0.1 of 1.3 below `p`.
        let found = warnings(
            "GROUP_NAMES = p, p.a, p.b, p.c\nGROUP_QUOTA_p = 1.3\nGROUP_QUOTA_p.a = 0.7\nGROUP_QUOTA_p.b = 0.6\n\
             GROUP_QUOTA_p.c = 0.1",
        );
        assert_eq!(found, ["c:1:1: static quotas below `p` sum to 1.4, more than its 1.3: they are kept"]);
        // 0.1 + 0.2 is 0.30000000000000004 in binary, and no more than 0.3.
        assert_eq!(
            warnings("GROUP_NAMES = p, p.a, p.b\nGROUP_QUOTA_p = 0.3\nGROUP_QUOTA_p.a = 0.1\nGROUP_QUOTA_p.b = 0.2"),
            [""; 0]
        );
    }

    #[test]
    fn one_bad_value_does_not_silence_the_others() {
        let found = |text: &str| {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            diagnostics(&config, &[]).into_iter().map(|found| found.message).collect::<Vec<String>>()
        };
        let groups = "GROUP_NAMES = a, b, a.sub\nGROUP_QUOTA_a = 10\nGROUP_QUOTA_a.sub = 20\n";
        let over = "static quotas below `a` sum to 20, more than its 10: they are kept";
        assert_eq!(found(&format!("{groups}GROUP_QUOTA_b = 1\nNEGOTIATOR_CONSIDER_PREEMPTION = maybe")), [over]);
        // A quota that is not a number is not missing.
        assert_eq!(found(&format!("{groups}GROUP_QUOTA_b = x\nGROUP_ACCEPT_SURPLUS_b = y")), [over]);
        assert_eq!(
            found("GROUP_NAMES = a, a.b\nGROUP_QUOTA_a = x\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_a.b = 5"),
            [""; 0]
        );
        assert_eq!(found("GROUP_NAMES = $(X)\nX = $(GROUP_NAMES)\nGROUP_QUOTA_a = 5"), [""; 0]);
    }

    #[test]
    fn settings_without_a_group_are_said() {
        let found = warnings(
            "GROUP_NAMES = a, dynamic_x\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_Typo = 5\nGROUP_QUOTA_dynamic_x = 0.5\n\
             GROUP_PRIO_FACTOR_a = -2\nGROUP_AUTOREGROUP_z = true\nHFS_ROUND_ROBIN_RATE = 4\n\
             GROUP_QUOTA_ROUND_ROBIN_RATE = 4\nGROUP_SORT_EXPR = GroupQuotaInUse / GroupQuota",
        );
        assert_eq!(
            found,
            [
                "c:3:1: `GROUP_QUOTA_Typo` has no effect: `Typo` is not in GROUP_NAMES",
                "c:5:1: `GROUP_PRIO_FACTOR_a` is `-2`: factors below 1 are treated as 1",
                "c:6:1: `GROUP_AUTOREGROUP_z` has no effect: `z` is not in GROUP_NAMES",
                "c:7:1: `HFS_ROUND_ROBIN_RATE` has no effect: its name is `GROUP_QUOTA_ROUND_ROBIN_RATE`",
                "c:9:1: `GROUP_SORT_EXPR` refers to `GroupQuotaInUse`, which does not exist; use `GroupResourcesInUse`",
            ]
        );
    }

    #[test]
    fn an_orphan_is_said_before_its_quota_counts() {
        assert_eq!(
            warnings("GROUP_NAMES = x.y\nGROUP_QUOTA_x.y = 3"),
            ["c:1:1: group `x.y` is ignored: its parent `x` is not in GROUP_NAMES"]
        );
    }
}
