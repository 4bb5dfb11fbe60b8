//! The knobs of accounting groups, typed: which groups there are, what each is given, and how groups are dealt with.
//!
//! In: a [`Config`]. Out: the groups in the order of their declaration. What quotas mean, and which groups are left
//! out, is for the quota allocation to say.

use super::setting::{ExprText, Settings};
use super::{Config, ConfigError};

/// A group that `GROUP_NAMES` names, and what its own knobs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The name as it is declared.
    pub name: Vec<u8>,
    /// `GROUP_QUOTA_<group>`, in slots by weight.
    pub quota: Option<f64>,
    /// `GROUP_QUOTA_DYNAMIC_<group>`, a share from 0 to 1; also read when there is a static quota, which then counts.
    pub dynamic_quota: Option<f64>,
    /// `GROUP_ACCEPT_SURPLUS_<group>`, otherwise `GROUP_ACCEPT_SURPLUS`.
    pub accept_surplus: bool,
    /// `GROUP_AUTOREGROUP_<group>`, otherwise `GROUP_AUTOREGROUP`.
    pub autoregroup: bool,
    /// `GROUP_PRIO_FACTOR_<group>`; 0 counts as unset.
    pub priority_factor: Option<f64>,
}

/// All settings of groups.
#[expect(clippy::struct_excessive_bools, reason = "one field is one knob of the configuration")]
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The groups in the order of `GROUP_NAMES`; a name may stand there twice.
    pub declared: Vec<Group>,
    /// `GROUP_ACCEPT_SURPLUS`.
    pub accept_surplus: bool,
    /// `GROUP_AUTOREGROUP`.
    pub autoregroup: bool,
    /// `GROUP_SORT_EXPR`, the key by which groups are served, smallest first.
    pub sort: Option<ExprText>,
    /// `GROUP_QUOTA_MAX_ALLOCATION_ROUNDS`, or its old name `HFS_MAX_ALLOCATION_ROUNDS`; 1 to 1,000,000,000.
    pub rounds: i64,
    /// `GROUP_QUOTA_ROUND_ROBIN_RATE`, or its old name `HFS_ROUND_ROBIN_RATE`; 1 to 1e100.
    pub round_robin_rate: f64,
    /// `NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION`.
    pub oversubscription: bool,
    /// `NEGOTIATOR_STRICT_ENFORCE_QUOTA`.
    pub strict: bool,
    /// `NEGOTIATOR_USE_WEIGHTED_DEMAND`.
    pub weighted_demand: bool,
}

impl Groups {
    /// Reads the knobs of groups.
    ///
    /// ```
    /// use classmate::config::{Config, groups::Groups};
    /// let text = b"GROUP_NAMES = a, a.b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_a.b = 0.5\nGROUP_ACCEPT_SURPLUS_a = true";
    /// let groups = Groups::read(&Config::parse("pool.conf", text).unwrap()).unwrap();
    /// assert_eq!(groups.declared[0].quota, Some(5.0));
    /// assert_eq!(groups.declared[1].dynamic_quota, Some(0.5));
    /// assert!(groups.declared[0].accept_surplus && !groups.declared[1].accept_surplus);
    /// ```
    ///
    /// # Errors
    /// The first value that is not what its knob takes.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config);
        let accept_surplus = settings.boolean("GROUP_ACCEPT_SURPLUS", false)?;
        let autoregroup = settings.boolean("GROUP_AUTOREGROUP", false)?;
        let mut declared = Vec::new();
        for name in settings.list("GROUP_NAMES")? {
            declared.push(group(settings, name, accept_surplus, autoregroup)?);
        }
        // The old names only count where the new ones are not set by a file.
        let named = |now: &'static str, old: &'static str| {
            let set = config.definition(now.as_bytes()).is_some_and(|found| found.place.is_some());
            if !set && config.is_defined(old.as_bytes()) { old } else { now }
        };
        let rounds = named("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", "HFS_MAX_ALLOCATION_ROUNDS");
        let rate = named("GROUP_QUOTA_ROUND_ROBIN_RATE", "HFS_ROUND_ROBIN_RATE");
        Ok(Self {
            declared,
            accept_surplus,
            autoregroup,
            sort: settings.expression("GROUP_SORT_EXPR")?,
            rounds: settings.integer(rounds, 3, 1, 1_000_000_000)?,
            round_robin_rate: settings.real(rate, 1e100, 1.0, 1e100)?,
            oversubscription: settings.boolean("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", true)?,
            strict: settings.boolean("NEGOTIATOR_STRICT_ENFORCE_QUOTA", true)?,
            weighted_demand: settings.boolean("NEGOTIATOR_USE_WEIGHTED_DEMAND", true)?,
        })
    }
}

fn group(settings: Settings<'_>, name: Vec<u8>, surplus: bool, regroup: bool) -> Result<Group, ConfigError> {
    // A name that cannot stand in a knob's name has no knobs; it is not found then.
    let suffix = String::from_utf8_lossy(&name).into_owned();
    let number = |family: &str, min: f64, max: f64| {
        let knob = format!("{family}_{suffix}");
        match settings.text(&knob)? {
            Some(_) => settings.real(&knob, 0.0, min, max).map(Some),
            None => Ok(None),
        }
    };
    Ok(Group {
        quota: number("GROUP_QUOTA", 0.0, f64::from(i32::MAX))?,
        dynamic_quota: number("GROUP_QUOTA_DYNAMIC", 0.0, 1.0)?,
        accept_surplus: settings.boolean(&format!("GROUP_ACCEPT_SURPLUS_{suffix}"), surplus)?,
        autoregroup: settings.boolean(&format!("GROUP_AUTOREGROUP_{suffix}"), regroup)?,
        priority_factor: number("GROUP_PRIO_FACTOR", f64::MIN, f64::MAX)?.filter(|factor| *factor != 0.0),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Groups {
        Groups::read(&Config::parse("c", text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn without_knobs_the_defaults_of_the_reference_hold() {
        let groups = groups("");
        assert!(groups.declared.is_empty() && !groups.accept_surplus && !groups.autoregroup);
        assert_eq!((groups.rounds, groups.round_robin_rate), (3, 1e100));
        assert!(groups.oversubscription && groups.strict && groups.weighted_demand);
        assert!(groups.sort.unwrap().text.starts_with(b"ifThenElse(AccountingGroup"));
    }

    #[test]
    fn groups_keep_their_order_and_inherit_switches() {
        let groups = groups(
            "GROUP_NAMES = b, a.x a\nGROUP_ACCEPT_SURPLUS = true\nGROUP_ACCEPT_SURPLUS_A = false\n\
             GROUP_AUTOREGROUP_b = 1\nGROUP_QUOTA_A.X = 15\nGROUP_PRIO_FACTOR_a = 2.5\nGROUP_PRIO_FACTOR_b = 0",
        );
        let names: Vec<&[u8]> = groups.declared.iter().map(|group| group.name.as_slice()).collect();
        assert_eq!(names, [&b"b"[..], b"a.x", b"a"]);
        let [b, ax, a] = &groups.declared[..] else { panic!() };
        assert_eq!((b.accept_surplus, b.autoregroup, b.priority_factor), (true, true, None));
        assert_eq!((ax.quota, ax.dynamic_quota, ax.accept_surplus), (Some(15.0), None, true));
        assert_eq!((a.accept_surplus, a.autoregroup, a.priority_factor), (false, false, Some(2.5)));
    }

    #[test]
    fn old_names_count_where_the_new_ones_are_not_set() {
        assert_eq!(groups("HFS_MAX_ALLOCATION_ROUNDS = 7").rounds, 7);
        assert_eq!(groups("HFS_MAX_ALLOCATION_ROUNDS = 7\nGROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 2").rounds, 2);
    }

    #[test]
    fn a_quota_out_of_range_is_refused() {
        let config = Config::parse("c", b"GROUP_NAMES = a\nGROUP_QUOTA_DYNAMIC_a = 1.5").unwrap();
        let error = Groups::read(&config).unwrap_err();
        assert_eq!(error.message, "`GROUP_QUOTA_DYNAMIC_a` is `1.5`: expected a number from 0 to 1");
    }
}
