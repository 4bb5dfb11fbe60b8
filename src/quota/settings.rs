//! The settings of groups: which there are, what each is due, how they are negotiated for.
//!
//! In: a configuration. Out: the tree, the terms, and what is odd about them. Source: `group-quotas.md` §2.

use super::rounds::Terms;
use super::tree::{Defaults, Group, GroupTree, Share};
use crate::config::setting::Settings;
use crate::config::{Config, ConfigError};
use crate::syntax::expr::Expr;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::token::Quoting;

/// The groups of a configuration, and what is odd about them in words.
///
/// # Errors
/// A quota that is negative or no number, or a setting that is no truth.
pub fn groups(config: &Config) -> Result<(GroupTree, Vec<String>), ConfigError> {
    let settings = Settings::new(config);
    let accepts = settings.boolean("GROUP_ACCEPT_SURPLUS", false)?;
    let regroups = settings.boolean("GROUP_AUTOREGROUP", false)?;
    let names = settings.list("GROUP_NAMES")?;
    let mut groups = Vec::with_capacity(names.len());
    for name in &names {
        // Names of the configuration language are ASCII.
        let knob = |of: &str| format!("{of}_{}", String::from_utf8_lossy(name));
        let quota = |of: &str, most: f64| {
            let knob = knob(of);
            match settings.text(&knob)? {
                Some(_) => settings.real(&knob, 0.0, 0.0, most).map(Some),
                None => Ok(None),
            }
        };
        let share = match quota("GROUP_QUOTA", f64::MAX)? {
            Some(slots) => Some(Share::Static(slots)),
            None => quota("GROUP_QUOTA_DYNAMIC", 1.0)?.map(Share::Dynamic),
        };
        groups.push(Group {
            name: name.clone(),
            share,
            accepts_surplus: settings.boolean(&knob("GROUP_ACCEPT_SURPLUS"), accepts)?,
            autoregroup: settings.boolean(&knob("GROUP_AUTOREGROUP"), regroups)?,
        });
    }
    let (tree, odd) = GroupTree::new(groups, Defaults { accepts_surplus: accepts, autoregroup: regroups });
    let mut odd: Vec<String> = odd.iter().map(ToString::to_string).collect();
    odd.extend(strangers(config, &names));
    Ok((tree, odd))
}

/// Quotas of groups that are not named.
fn strangers(config: &Config, names: &[Vec<u8>]) -> Vec<String> {
    let mut odd = Vec::new();
    for name in config.names() {
        let folded = name.to_ascii_uppercase();
        let of = |prefix: &str| folded.strip_prefix(prefix.as_bytes()).map(|rest| &name[name.len() - rest.len()..]);
        let Some(group) = of("GROUP_QUOTA_DYNAMIC_").or_else(|| of("GROUP_QUOTA_")) else { continue };
        let known =
            ["MAX_ALLOCATION_ROUNDS", "ROUND_ROBIN_RATE"].iter().any(|k| group.eq_ignore_ascii_case(k.as_bytes()));
        if !known && !names.iter().any(|known| known.eq_ignore_ascii_case(group)) {
            let (knob, group) = (String::from_utf8_lossy(name), String::from_utf8_lossy(group));
            odd.push(format!("`{knob}` is of no use: `GROUP_NAMES` does not name the group `{group}`"));
        }
    }
    odd
}

/// The terms of the rounds over a pool of so many weighted slots.
///
/// # Errors
/// A value that is not what its knob takes.
pub fn terms(config: &Config, pool: f64, weighted: bool, preemption: bool) -> Result<Terms, ConfigError> {
    let settings = Settings::new(config);
    Ok(Terms {
        pool,
        weighted,
        oversubscribe: settings.boolean("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", true)?,
        strict: settings.boolean("NEGOTIATOR_STRICT_ENFORCE_QUOTA", true)?,
        preemption,
        rounds: u32::try_from(settings.integer("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", 3, 1, i64::from(u32::MAX))?)
            .unwrap_or(u32::MAX),
        rate: settings.real("GROUP_QUOTA_ROUND_ROBIN_RATE", 1e100, 1.0, f64::MAX)?,
        order: order(settings)?,
    })
}

fn order(settings: Settings<'_>) -> Result<Option<Expr>, ConfigError> {
    let Some(found) = settings.expression("GROUP_SORT_EXPR")? else { return Ok(None) };
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    match parse_expr(&found.text, &options) {
        Ok(expr) => Ok(Some(expr)),
        Err(error) => {
            let shown = String::from_utf8_lossy(&found.text);
            Err(ConfigError::new(format!("`GROUP_SORT_EXPR` is `{shown}`: {error}"), found.place))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(GroupTree, Vec<String>), ConfigError> {
        groups(&Config::parse("c", text.as_bytes()).unwrap())
    }

    #[test]
    fn knobs_are_read_for_each_group() {
        let (tree, odd) = read(
            "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 3 + 17\nGROUP_QUOTA_DYNAMIC_A = 0.5\nGROUP_QUOTA_DYNAMIC_b = 0.25\n\
             GROUP_ACCEPT_SURPLUS = true\nGROUP_ACCEPT_SURPLUS_b = false\nGROUP_AUTOREGROUP_b = true",
        )
        .unwrap();
        let of = |at: usize| {
            let group = &tree.nodes()[at].group;
            (group.share, group.accepts_surplus, group.autoregroup)
        };
        assert_eq!(of(1), (Some(Share::Static(20.0)), true, false));
        assert_eq!(of(2), (Some(Share::Dynamic(0.25)), false, true));
        assert_eq!((odd.len(), tree.autoregroup(), tree.anybody_accepts()), (0, true, true));
    }

    #[test]
    fn what_cannot_be_a_quota_is_refused_with_its_place() {
        let error = read("GROUP_NAMES = a\nGROUP_QUOTA_a = -1").unwrap_err();
        assert_eq!(error.message, "`GROUP_QUOTA_a` is `-1`: expected a number of at least 0");
        assert_eq!(error.place.unwrap().line, 2);
        let error = read("GROUP_NAMES = a\nGROUP_QUOTA_DYNAMIC_a = 1.5").unwrap_err();
        assert_eq!(error.message, "`GROUP_QUOTA_DYNAMIC_a` is `1.5`: expected a number from 0 to 1");
    }

    #[test]
    fn quotas_of_groups_that_are_not_named_are_told() {
        let (_, odd) =
            read("GROUP_NAMES = a\nGROUP_QUOTA_a = 1\nGROUP_QUOTA_b = 1\nGROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 2")
                .unwrap();
        assert_eq!(odd, ["`GROUP_QUOTA_b` is of no use: `GROUP_NAMES` does not name the group `b`"]);
    }
}
