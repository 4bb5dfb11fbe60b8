//! The settings of group quotas, read from a configuration: the only place that knows how.
//!
//! In: a [`Config`]. Out: groups as they are declared, and the rules of division. Source: `docs/reference/group-quotas.md` 2.

use classmate::internal::syntax::expr::Expr;
use classmate_config::internal::config::FoundValue;
use classmate_config::internal::config::{Config, ConfigError, Diagnostic, Location};

/// The largest valid static quota.
const MAX_NUMBER: f64 = i32::MAX as f64;

/// The configuration variable, known to this program only, that selects the flat groups of `HTCondor` 7.
pub const FLAT: &str = "CLASSMATE_FLAT_GROUPS";

/// The configuration of groups.
#[derive(Debug, Clone, Default)]
pub struct QuotaSettings {
    /// The groups of `GROUP_NAMES`, in that order.
    pub groups: Vec<GroupSetting>,
    /// `GROUP_ACCEPT_SURPLUS`: the default of groups.
    pub accept_surplus: bool,
    /// `GROUP_AUTOREGROUP`: the default of groups.
    pub autoregroup: bool,
    /// The rules by which quotas are divided and used.
    pub rules: QuotaRules,
    /// Warnings about single settings.
    pub warnings: Vec<Diagnostic>,
}

/// A group as the configuration declares it.
#[derive(Debug, Clone, Default)]
pub struct GroupSetting {
    /// Its full name, components joined by dots, as it is spelled in `GROUP_NAMES`.
    pub name: Vec<u8>,
    /// The place of its name in the configuration.
    pub place: Option<Location>,
    /// `GROUP_QUOTA_<name>`: weighted slots, from 0.
    pub fixed: Option<Stated>,
    /// `GROUP_QUOTA_DYNAMIC_<name>`: a fraction of what the parent has left, 0 to 1.
    pub dynamic: Option<Stated>,
    /// `GROUP_ACCEPT_SURPLUS_<name>`.
    pub accept_surplus: Option<bool>,
    /// `GROUP_AUTOREGROUP_<name>`.
    pub autoregroup: Option<bool>,
}

/// A number and where it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// The number.
    pub value: f64,
    /// The place of the setting.
    pub place: Option<Location>,
}

impl From<f64> for Stated {
    fn from(value: f64) -> Self {
        Self { value, place: None }
    }
}

/// The rules by which quotas are divided and used.
#[expect(clippy::struct_excessive_bools, reason = "one field is one knob of the configuration")]
#[derive(Debug, Clone)]
pub struct QuotaRules {
    /// `NEGOTIATOR_USE_SLOT_WEIGHTS`: if false, slots are counted, and grants are whole numbers.
    pub weighted: bool,
    /// `NEGOTIATOR_USE_WEIGHTED_DEMAND`: demand is the weight of jobs, not their number.
    pub weighted_demand: bool,
    /// `NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION`: static quotas are not scaled down to what there is.
    pub oversubscription: bool,
    /// `NEGOTIATOR_STRICT_ENFORCE_QUOTA`: groups that accept no surplus also bound those below them.
    pub strict: bool,
    /// `NEGOTIATOR_CONSIDER_PREEMPTION`: groups that have what they were granted are still negotiated with.
    pub preemption: bool,
    /// `GROUP_QUOTA_MAX_ALLOCATION_ROUNDS`, at least 1.
    pub rounds: u32,
    /// `GROUP_QUOTA_ROUND_ROBIN_RATE`: weighted slots by which limits grow, at least 1.
    pub rate: f64,
    /// `GROUP_SORT_EXPR`; the lowest value is negotiated with first. None: every group is equal.
    pub order: Option<Expr>,
    /// The flat groups of `HTCondor` 7: see [`super::flat`].
    pub flat: bool,
}

impl Default for QuotaRules {
    /// The defaults of 25.14.1, with groups in the order of their names.
    fn default() -> Self {
        Self {
            weighted: true,
            weighted_demand: true,
            oversubscription: true,
            strict: true,
            preemption: true,
            rounds: 3,
            rate: 1e100,
            order: None,
            flat: false,
        }
    }
}

impl QuotaSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// A value that is not a number or truth value or is out of range, or a `GROUP_SORT_EXPR` that does not parse; with
    /// its place.
    ///
    /// ```
    /// use classmate_config::Config;
    /// use classmate_pool::internal::quota::QuotaSettings;
    /// let config = Config::parse("c", b"GROUP_NAMES = physics\nGROUP_QUOTA_physics = -1").unwrap();
    /// let error = QuotaSettings::read(&config).unwrap_err();
    /// assert_eq!(error.message, "`GROUP_QUOTA_physics` is `-1`: expected a number from 0 to 2147483647");
    /// ```
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let mut faults = Vec::new();
        let read = Self::with_faults(config, &mut faults)?;
        faults.into_iter().next().map_or(Ok(read), Err)
    }

    /// Reads all valid settings: others have their defaults, and an invalid quota is NaN, which compares false with any
    /// number. Without the names of the groups there are none.
    ///
    /// ```
    /// use classmate_config::Config;
    /// use classmate_pool::internal::quota::QuotaSettings;
    /// let config = Config::parse("c", b"GROUP_NAMES = physics\nGROUP_AUTOREGROUP = maybe").unwrap();
    /// assert_eq!(QuotaSettings::readable(&config).groups[0].name, b"physics");
    /// ```
    pub fn readable(config: &Config) -> Self {
        Self::with_faults(config, &mut Vec::new()).unwrap_or_default()
    }

    /// Reads the settings and collects what is wrong with them, in the order of the reading.
    fn with_faults(config: &Config, faults: &mut Vec<ConfigError>) -> Result<Self, ConfigError> {
        let place = config.get("GROUP_NAMES")?.and_then(|found| found.place);
        let names = config.list("GROUP_NAMES")?;
        let groups: Vec<GroupSetting> =
            names.into_iter().map(|name| group(config, name, place.clone(), faults)).collect();
        let rules = rules(config, faults);
        let warnings = super::check::strays(config, &groups, faults);
        let read = Self {
            groups,
            accept_surplus: or(config.boolean("GROUP_ACCEPT_SURPLUS", false), false, faults),
            autoregroup: or(config.boolean("GROUP_AUTOREGROUP", false), false, faults),
            rules,
            warnings,
        };
        Ok(if or(config.boolean(FLAT, false), false, faults) { read.flat() } else { read })
    }
}

/// The value, or a default and the recorded error.
pub(super) fn or<T>(read: Result<T, ConfigError>, default: T, faults: &mut Vec<ConfigError>) -> T {
    read.unwrap_or_else(|fault| {
        faults.push(fault);
        default
    })
}

fn group(config: &Config, name: Vec<u8>, place: Option<Location>, faults: &mut Vec<ConfigError>) -> GroupSetting {
    // Names of the configuration language are ASCII; no other name has settings.
    let shown = String::from_utf8_lossy(&name).into_owned();
    let stated = |knob: &str, most: f64, faults: &mut Vec<ConfigError>| {
        let knob = format!("{knob}_{shown}");
        let found = match config.text(&knob) {
            Ok(found) => found?,
            Err(fault) => {
                faults.push(fault);
                return Some(Stated { value: f64::NAN, place: None });
            }
        };
        let value = or(config.real(&knob, 0.0, 0.0, most), f64::NAN, faults);
        Some(Stated { value, place: found.place })
    };
    let truth = |knob: &str, faults: &mut Vec<ConfigError>| {
        let knob = format!("{knob}_{shown}");
        let read = config.text(&knob).and_then(|found| found.map(|_| config.boolean(&knob, false)).transpose());
        or(read, None, faults)
    };
    GroupSetting {
        place,
        fixed: stated("GROUP_QUOTA", MAX_NUMBER, faults),
        dynamic: stated("GROUP_QUOTA_DYNAMIC", 1.0, faults),
        accept_surplus: truth("GROUP_ACCEPT_SURPLUS", faults),
        autoregroup: truth("GROUP_AUTOREGROUP", faults),
        name,
    }
}

fn rules(config: &Config, faults: &mut Vec<ConfigError>) -> QuotaRules {
    let default = QuotaRules::default();
    let order = config.expression("GROUP_SORT_EXPR");
    let order = or(order.and_then(|found| expression("GROUP_SORT_EXPR", found.as_ref())), None, faults);
    let rounds = config.integer("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", 3, 1, 1_000_000_000);
    let rate = config.real("GROUP_QUOTA_ROUND_ROBIN_RATE", default.rate, 1.0, 1e100);
    let mut truth = |knob: &str, default: bool| or(config.boolean(knob, default), default, faults);
    QuotaRules {
        weighted: truth("NEGOTIATOR_USE_SLOT_WEIGHTS", default.weighted),
        weighted_demand: truth("NEGOTIATOR_USE_WEIGHTED_DEMAND", default.weighted_demand),
        oversubscription: truth("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", default.oversubscription),
        strict: truth("NEGOTIATOR_STRICT_ENFORCE_QUOTA", default.strict),
        preemption: truth("NEGOTIATOR_CONSIDER_PREEMPTION", default.preemption),
        rounds: or(rounds, i64::from(default.rounds), faults) as u32,
        rate: or(rate, default.rate, faults),
        order,
        flat: false,
    }
}

/// The expression of a configuration variable, if it has one.
///
/// # Errors
/// A text that does not parse, with its place.
pub(crate) fn expression(knob: &str, found: Option<&FoundValue>) -> Result<Option<Expr>, ConfigError> {
    let Some(found) = found else { return Ok(None) };
    found.expression().map(Some).map_err(|error| {
        let shown = String::from_utf8_lossy(&found.text);
        Diagnostic::error_at(format!("`{knob}` is `{shown}`: {error}"), found.place.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<QuotaSettings, ConfigError> {
        QuotaSettings::read(&Config::parse("c", text.as_bytes()).unwrap())
    }

    fn refusal(text: &str) -> String {
        let error = read(text).unwrap_err();
        format!("{}: {}", error.place.unwrap(), error.message)
    }

    /// The defaults column of `docs/reference/group-quotas.md` 2.
    #[test]
    fn defaults_are_those_of_the_reference() {
        let settings = read("").unwrap();
        assert!(settings.groups.is_empty() && !settings.accept_surplus && !settings.autoregroup);
        let QuotaRules { weighted, weighted_demand, oversubscription, strict, preemption, rounds, rate, order, flat } =
            settings.rules;
        assert!(weighted && weighted_demand && oversubscription && strict && preemption && !flat);
        assert_eq!((rounds, rate), (3, 1e100));
        assert!(order.unwrap().to_string().starts_with("ifThenElse(AccountingGroup is \"<none>\""));
    }

    #[test]
    fn groups_have_the_settings_of_their_names_whatever_the_case() {
        let text = "GROUP_NAMES = Physics, physics.hep\ngroup_quota_PHYSICS = 3 + 17\n\
                    GROUP_QUOTA_DYNAMIC_physics.hep = 0.75\nGROUP_ACCEPT_SURPLUS_physics.hep = true\n\
                    GROUP_AUTOREGROUP = true\nGROUP_AUTOREGROUP_physics = false";
        let QuotaSettings { groups, autoregroup, .. } = read(text).unwrap();
        let [physics, hep] = groups.as_slice() else { panic!("{groups:?}") };
        assert_eq!((physics.name.as_slice(), hep.name.as_slice()), (&b"Physics"[..], &b"physics.hep"[..]));
        assert_eq!(physics.fixed.as_ref().map(|quota| quota.value), Some(20.0));
        assert_eq!(physics.fixed.as_ref().unwrap().place.as_ref().unwrap().line, 2);
        assert_eq!((hep.fixed.clone(), hep.dynamic.as_ref().map(|quota| quota.value)), (None, Some(0.75)));
        assert_eq!((hep.accept_surplus, hep.autoregroup, physics.autoregroup), (Some(true), None, Some(false)));
        assert!(autoregroup);
    }

    #[test]
    fn values_out_of_range_and_no_numbers_are_refused_with_their_place() {
        let cases = [
            ("GROUP_QUOTA_a = -0.5", "c:2:1: `GROUP_QUOTA_a` is `-0.5`: expected a number from 0 to 2147483647"),
            ("GROUP_QUOTA_a = real(\"NaN\")", "c:2:1: `GROUP_QUOTA_a` is `real(\"NaN\")`: expected a number"),
            ("GROUP_QUOTA_a = many", "c:2:1: `GROUP_QUOTA_a` is `many`: expected a number"),
            ("GROUP_QUOTA_DYNAMIC_a = 1.5", "c:2:1: `GROUP_QUOTA_DYNAMIC_a` is `1.5`: expected a number from 0 to 1"),
            ("GROUP_ACCEPT_SURPLUS_a = perhaps", "c:2:1: `GROUP_ACCEPT_SURPLUS_a` is `perhaps`: expected a boolean"),
            (
                "GROUP_QUOTA_ROUND_ROBIN_RATE = 0",
                "c:2:1: `GROUP_QUOTA_ROUND_ROBIN_RATE` is `0`: expected a number from 1 to ",
            ),
            (
                "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 0",
                "c:2:1: `GROUP_QUOTA_MAX_ALLOCATION_ROUNDS` is `0`: expected a number from 1 to 1000000000",
            ),
            (
                "GROUP_SORT_EXPR = GroupQuota *",
                "c:2:1: `GROUP_SORT_EXPR` is `GroupQuota *`: expected an expression, found the end",
            ),
        ];
        for (line, expected) in cases {
            let found = refusal(&format!("GROUP_NAMES = a\n{line}"));
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
