//! The settings of the negotiator and its accountant, typed, with the defaults of 25.14.1 (`docs/reference/knobs.md`).
//!
//! In: a [`Config`]. Out: one struct a concern. A default written here is one the reference has in
//! code only; all others come from [`super::table`].

use super::setting::{ExprText, Settings};
use super::{Config, ConfigError};

/// Everything one negotiation cycle asks its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct NegotiatorKnobs {
    /// The pie spins.
    pub pie: PieKnobs,
    /// The slots and jobs that take part.
    pub filter: FilterKnobs,
    /// The test and order of candidates.
    pub matching: MatchingKnobs,
    /// The job attributes that make an autocluster.
    pub significant: SignificantKnobs,
    /// Priorities and their factors.
    pub accountant: AccountantKnobs,
}

/// Knobs of the pie spins (`docs/reference/negotiation.md` 5, 7).
#[expect(clippy::struct_excessive_bools, reason = "one field is one knob of the configuration")]
#[derive(Debug, Clone, PartialEq)]
pub struct PieKnobs {
    /// `NEGOTIATOR_CONSIDER_PREEMPTION`: claimed slots may be matched again.
    pub consider_preemption: bool,
    /// `NEGOTIATOR_CONSIDER_EARLY_PREEMPTION`: also slots with retirement time left.
    pub consider_early_preemption: bool,
    /// `NEGOTIATOR_USE_SLOT_WEIGHTS`: otherwise every slot weighs 1.
    pub use_slot_weights: bool,
    /// `SLOT_WEIGHT`: the weight of slots that do not say.
    pub slot_weight: Option<ExprText>,
    /// `FORCE_NEGOTIATOR_SLOT_WEIGHT`: `SLOT_WEIGHT` also overrides what slots say.
    pub force_slot_weight: bool,
    /// `NEGOTIATOR_IGNORE_USER_PRIORITIES`: no submitter limit.
    pub ignore_user_priorities: bool,
    /// `USE_GLOBAL_JOB_PRIOS`: submitters are also ordered by job priority.
    pub use_global_job_prios: bool,
    /// `MAX_GLOBAL_JOB_PRIOS`: maximum number of priorities that an access point reports.
    pub most_global_job_prios: usize,
}

/// Knobs that select slots, submitters and jobs (`docs/reference/knobs.md` 2).
#[derive(Debug, Clone, PartialEq)]
pub struct FilterKnobs {
    /// `NEGOTIATOR_SLOT_CONSTRAINT`.
    pub slots: Option<ExprText>,
    /// `NEGOTIATOR_SUBMITTER_CONSTRAINT`.
    pub submitters: Option<ExprText>,
    /// `NEGOTIATOR_JOB_CONSTRAINT`.
    pub jobs: Option<ExprText>,
    /// `NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT`, or its old name `GROUP_DYNAMIC_MACH_CONSTRAINT`.
    pub pool_size: Option<ExprText>,
    /// `NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD`, seconds (an expression).
    pub shutdown_threshold: Option<ExprText>,
    /// `MATCH_WORKING_CM_SLOTS`: match claimed partitionable slots of other central managers.
    pub working_cm_slots: bool,
    /// `STARTD_AD_REEVAL_EXPR`: when the ad of a slot that wants another look replaces the one kept before.
    pub newer_ad: Option<ExprText>,
}

/// Knobs of the test and order of candidates (`docs/reference/negotiation.md` 10).
#[expect(clippy::struct_excessive_bools, reason = "one field is one knob of the configuration")]
#[derive(Debug, Clone, PartialEq)]
pub struct MatchingKnobs {
    /// `NEGOTIATOR_PRE_JOB_RANK`, first key.
    pub pre_job_rank: Option<ExprText>,
    /// `NEGOTIATOR_POST_JOB_RANK`, third key.
    pub post_job_rank: Option<ExprText>,
    /// `PREEMPTION_RANK`, fifth key.
    pub preemption_rank: Option<ExprText>,
    /// `PREEMPTION_REQUIREMENTS`; none means no test.
    pub preemption_requirements: Option<ExprText>,
    /// `PREEMPTION_REQUIREMENTS_STABLE`.
    pub preemption_requirements_stable: bool,
    /// `PREEMPTION_RANK_STABLE`.
    pub preemption_rank_stable: bool,
    /// `NEGOTIATOR_IGNORE_JOB_RANKS`: slots are ordered once per cycle.
    pub ignore_job_ranks: bool,
    /// `NEGOTIATOR_MATCHLIST_CACHING`: sorted candidates are kept for the next job of an autocluster.
    pub match_list_caching: bool,
    /// `ALLOW_PSLOT_PREEMPTION`.
    pub allow_pslot_preemption: bool,
    /// `NEGOTIATOR_CROSS_SLOT_PRIOS`.
    pub cross_slot_prios: bool,
    /// `STARTD_RESOURCE_PREFIX`, the prefix of attributes of sibling slots.
    pub resource_prefix: Vec<u8>,
    /// `NEGOTIATOR_DEPTH_FIRST`: the access point packs a partitionable slot.
    pub depth_first: bool,
    /// `NEGOTIATOR_MATCH_EXPRS`: macros copied into slot ads; name and text of those defined.
    pub match_exprs: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Knobs of autoclusters and of the fetching of requests (`docs/reference/negotiation.md` 8).
#[derive(Debug, Clone, PartialEq)]
pub struct SignificantKnobs {
    /// `SIGNIFICANT_ATTRIBUTES`: replaces the computed list if not empty.
    pub replaced_by: Vec<Vec<u8>>,
    /// `ADD_SIGNIFICANT_ATTRIBUTES`.
    pub added: Vec<Vec<u8>>,
    /// `REMOVE_SIGNIFICANT_ATTRIBUTES`.
    pub removed: Vec<Vec<u8>>,
    /// `REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX`.
    pub removed_pattern: Option<ExprText>,
    /// `STARTD_JOB_ATTRS`, `STARTD_JOB_EXPRS` and `SYSTEM_STARTD_JOB_ATTRS`: they count as slot attributes.
    pub slot_side: Vec<Vec<u8>>,
    /// `USE_RESOURCE_REQUEST_COUNTS`: one request represents several jobs.
    pub request_counts: bool,
    /// `NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE`, at least 1; 1 if counts are off.
    pub request_list_size: i64,
    /// `NEGOTIATE_ALL_JOBS_IN_CLUSTER`: the access point takes every job for one of its own kind.
    pub all_jobs_in_cluster: bool,
}

/// Priorities and their factors (`docs/reference/accountant.md` 2, 3).
#[derive(Debug, Clone, PartialEq)]
pub struct AccountantKnobs {
    /// `PRIORITY_HALFLIFE`, seconds, at least 1e-5.
    pub half_life: f64,
    /// `DEFAULT_PRIO_FACTOR`.
    pub default_factor: f64,
    /// `NICE_USER_PRIO_FACTOR`.
    pub nice_user_factor: f64,
    /// `REMOTE_PRIO_FACTOR`.
    pub remote_factor: f64,
    /// `ACCOUNTANT_LOCAL_DOMAIN`; unset: all users are local.
    pub local_domain: Option<Vec<u8>>,
    /// `GROUP_PRIO_FACTOR_<group>`: group as written in the knob, and factor.
    pub group_factors: Vec<(Vec<u8>, f64)>,
    /// `NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES`: suspended claims are not charged.
    pub discount_suspended: bool,
    /// `ACCOUNTING_DOMAIN` (or `UID_DOMAIN`): the domain of submitter names made from jobs.
    pub domain: Option<Vec<u8>>,
}

impl NegotiatorKnobs {
    /// Reads every knob.
    ///
    /// # Errors
    /// The first value that is not what its knob takes, with knob, place, value and expectation.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config);
        Ok(Self {
            pie: PieKnobs::read(settings)?,
            filter: FilterKnobs::read(settings)?,
            matching: MatchingKnobs::read(settings, config)?,
            significant: SignificantKnobs::read(settings)?,
            accountant: AccountantKnobs::read(settings, config)?,
        })
    }
}

impl PieKnobs {
    fn read(settings: Settings<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            consider_preemption: settings.boolean("NEGOTIATOR_CONSIDER_PREEMPTION", true)?,
            consider_early_preemption: settings.boolean("NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", false)?,
            use_slot_weights: settings.boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", true)?,
            slot_weight: settings.expression("SLOT_WEIGHT")?,
            force_slot_weight: settings.boolean("FORCE_NEGOTIATOR_SLOT_WEIGHT", false)?,
            ignore_user_priorities: settings.boolean("NEGOTIATOR_IGNORE_USER_PRIORITIES", false)?,
            use_global_job_prios: settings.boolean("USE_GLOBAL_JOB_PRIOS", false)?,
            most_global_job_prios: settings.integer("MAX_GLOBAL_JOB_PRIOS", 500, 0, i64::MAX)? as usize,
        })
    }
}

impl FilterKnobs {
    fn read(settings: Settings<'_>) -> Result<Self, ConfigError> {
        let pool_size = match settings.expression("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT")? {
            None => settings.expression("GROUP_DYNAMIC_MACH_CONSTRAINT")?,
            found => found,
        };
        Ok(Self {
            slots: settings.expression("NEGOTIATOR_SLOT_CONSTRAINT")?,
            submitters: settings.expression("NEGOTIATOR_SUBMITTER_CONSTRAINT")?,
            jobs: settings.expression("NEGOTIATOR_JOB_CONSTRAINT")?,
            pool_size,
            shutdown_threshold: settings.expression("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD")?,
            working_cm_slots: settings.boolean("MATCH_WORKING_CM_SLOTS", false)?,
            newer_ad: settings.expression("STARTD_AD_REEVAL_EXPR")?,
        })
    }
}

impl MatchingKnobs {
    fn read(settings: Settings<'_>, config: &Config) -> Result<Self, ConfigError> {
        let mut match_exprs = Vec::new();
        for name in settings.list("NEGOTIATOR_MATCH_EXPRS")? {
            let Ok(text) = std::str::from_utf8(&name) else {
                continue;
            };
            if let Some(found) = config.get(text)? {
                match_exprs.push((name, found.text));
            }
        }
        let prefix = settings.string("STARTD_RESOURCE_PREFIX")?;
        Ok(Self {
            pre_job_rank: settings.expression("NEGOTIATOR_PRE_JOB_RANK")?,
            post_job_rank: settings.expression("NEGOTIATOR_POST_JOB_RANK")?,
            preemption_rank: settings.expression("PREEMPTION_RANK")?,
            preemption_requirements: settings.expression("PREEMPTION_REQUIREMENTS")?,
            preemption_requirements_stable: settings.boolean("PREEMPTION_REQUIREMENTS_STABLE", true)?,
            preemption_rank_stable: settings.boolean("PREEMPTION_RANK_STABLE", true)?,
            ignore_job_ranks: settings.boolean("NEGOTIATOR_IGNORE_JOB_RANKS", false)?,
            match_list_caching: settings.boolean("NEGOTIATOR_MATCHLIST_CACHING", true)?,
            allow_pslot_preemption: settings.boolean("ALLOW_PSLOT_PREEMPTION", false)?,
            cross_slot_prios: settings.boolean("NEGOTIATOR_CROSS_SLOT_PRIOS", false)?,
            resource_prefix: prefix.unwrap_or_else(|| b"slot".to_vec()),
            depth_first: settings.boolean("NEGOTIATOR_DEPTH_FIRST", false)?,
            match_exprs,
        })
    }
}

impl SignificantKnobs {
    fn read(settings: Settings<'_>) -> Result<Self, ConfigError> {
        let mut slot_side = Vec::new();
        for name in ["STARTD_JOB_ATTRS", "STARTD_JOB_EXPRS", "SYSTEM_STARTD_JOB_ATTRS"] {
            slot_side.extend(settings.list(name)?);
        }
        let request_counts = settings.boolean("USE_RESOURCE_REQUEST_COUNTS", true)?;
        let size = settings.integer("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", 200, 1, i64::MAX)?;
        Ok(Self {
            replaced_by: settings.list("SIGNIFICANT_ATTRIBUTES")?,
            added: settings.list("ADD_SIGNIFICANT_ATTRIBUTES")?,
            removed: settings.list("REMOVE_SIGNIFICANT_ATTRIBUTES")?,
            removed_pattern: settings.expression("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX")?,
            slot_side,
            request_counts,
            request_list_size: if request_counts { size } else { 1 },
            all_jobs_in_cluster: settings.letter("NEGOTIATE_ALL_JOBS_IN_CLUSTER", false)?,
        })
    }
}

impl AccountantKnobs {
    fn read(settings: Settings<'_>, config: &Config) -> Result<Self, ConfigError> {
        let factor = |name, code| Ok::<_, ConfigError>(settings.leading_number(name)?.unwrap_or(code));
        Ok(Self {
            half_life: settings.real("PRIORITY_HALFLIFE", 86400.0, 1e-5, f64::MAX)?,
            default_factor: factor("DEFAULT_PRIO_FACTOR", 1000.0)?,
            nice_user_factor: factor("NICE_USER_PRIO_FACTOR", 1e10)?,
            remote_factor: factor("REMOTE_PRIO_FACTOR", 1e7)?,
            local_domain: settings.string("ACCOUNTANT_LOCAL_DOMAIN")?,
            group_factors: group_factors(settings, config)?,
            discount_suspended: settings.boolean("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", false)?,
            domain: settings.string("ACCOUNTING_DOMAIN")?,
        })
    }
}

/// The `GROUP_PRIO_FACTOR_*` knobs a configuration sets.
fn group_factors(settings: Settings<'_>, config: &Config) -> Result<Vec<(Vec<u8>, f64)>, ConfigError> {
    const PREFIX: &[u8] = b"GROUP_PRIO_FACTOR_";
    let mut factors = Vec::new();
    for name in config.names() {
        if name.len() > PREFIX.len() && name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX) {
            // Names of the configuration language are ASCII.
            let text = String::from_utf8_lossy(name);
            let factor = settings.real(&text, 0.0, f64::MIN, f64::MAX)?;
            if factor != 0.0 {
                factors.push((name[PREFIX.len()..].to_vec(), factor));
            }
        }
    }
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs(text: &str) -> NegotiatorKnobs {
        NegotiatorKnobs::read(&Config::parse("c", text.as_bytes()).unwrap()).unwrap()
    }

    fn text(found: Option<&ExprText>) -> &str {
        std::str::from_utf8(&found.unwrap().text).unwrap()
    }

    /// Every value is copied from the tables of `docs/reference/knobs.md`.
    #[test]
    fn defaults_are_those_of_the_reference() {
        let k = knobs("");
        let PieKnobs {
            consider_preemption,
            consider_early_preemption,
            use_slot_weights,
            slot_weight,
            force_slot_weight,
            ignore_user_priorities,
            use_global_job_prios,
            most_global_job_prios,
        } = k.pie;
        assert_eq!(most_global_job_prios, 500);
        assert!(consider_preemption && use_slot_weights);
        assert!(!(consider_early_preemption || force_slot_weight || ignore_user_priorities || use_global_job_prios));
        assert_eq!(text(slot_weight.as_ref()), "Cpus");

        let FilterKnobs { slots, submitters, jobs, pool_size, shutdown_threshold, working_cm_slots, newer_ad } =
            k.filter;
        assert_eq!((slots, submitters, jobs, pool_size, newer_ad), (None, None, None, None, None));
        assert_eq!(text(shutdown_threshold.as_ref()), "0");
        assert!(!working_cm_slots);

        let m = k.matching;
        assert_eq!(
            text(m.pre_job_rank.as_ref()),
            "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED)) - (100000 * Cpus) - Memory"
        );
        assert_eq!(
            text(m.post_job_rank.as_ref()),
            "(RemoteOwner =?= UNDEFINED) * (ifthenElse(isUndefined(KFlops), 1000, Kflops) - SlotID - 1.0e10*(Offline=?=True))"
        );
        assert_eq!(
            text(m.preemption_rank.as_ref()),
            "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)"
        );
        assert_eq!(text(m.preemption_requirements.as_ref()), "False");
        assert!(m.preemption_requirements_stable && m.preemption_rank_stable && m.match_list_caching);
        assert!(!(m.ignore_job_ranks || m.allow_pslot_preemption || m.cross_slot_prios || m.depth_first));
        assert_eq!(m.resource_prefix, b"slot");
        assert!(m.match_exprs.is_empty());

        let s = k.significant;
        assert!(s.replaced_by.is_empty() && s.added.is_empty());
        let names = |list: &[Vec<u8>]| list.iter().map(|n| String::from_utf8(n.clone()).unwrap()).collect::<Vec<_>>();
        assert_eq!(names(&s.removed), ["CpusUsage", "DiskUsage", "GPUsUsage", "MemoryUsage", "ResidentSetSize"]);
        assert_eq!(text(s.removed_pattern.as_ref()), "^Slot[0-9]*_");
        assert_eq!(names(&s.slot_side).len(), 12);
        assert_eq!(names(&s.slot_side)[..3], ["ImageSize", "ExecutableSize", "JobUniverse"]);
        assert!(s.request_counts);
        assert_eq!((s.request_list_size, s.all_jobs_in_cluster), (200, false));

        let a = k.accountant;
        assert_eq!((a.half_life, a.default_factor, a.nice_user_factor, a.remote_factor), (86400.0, 1000.0, 1e10, 1e7));
        assert_eq!((a.local_domain, a.domain), (None, None));
        assert!(a.group_factors.is_empty() && !a.discount_suspended);
    }

    #[test]
    fn the_domain_of_submitters_follows_uid_domain() {
        assert_eq!(knobs("UID_DOMAIN = pool.test").accountant.domain.unwrap(), b"pool.test");
        let both = knobs("UID_DOMAIN = pool.test\nACCOUNTING_DOMAIN = acc.test");
        assert_eq!(both.accountant.domain.unwrap(), b"acc.test");
    }

    #[test]
    fn an_empty_preemption_requirements_is_no_test() {
        assert_eq!(knobs("PREEMPTION_REQUIREMENTS =").matching.preemption_requirements, None);
    }

    #[test]
    fn group_factors_are_collected() {
        let k = knobs("GROUP_PRIO_FACTOR_group_a = 2\ngroup_prio_factor_group_b.x = 5.5\nGROUP_PRIO_FACTOR_z = 0");
        let expected = [(b"group_a".to_vec(), 2.0), (b"group_b.x".to_vec(), 5.5)];
        assert_eq!(k.accountant.group_factors, expected);
    }

    #[test]
    fn request_lists_have_one_entry_without_counts() {
        assert_eq!(knobs("USE_RESOURCE_REQUEST_COUNTS = false").significant.request_list_size, 1);
    }

    #[test]
    fn the_obsolete_pool_size_constraint_still_counts() {
        let k = knobs("GROUP_DYNAMIC_MACH_CONSTRAINT = Cpus > 1");
        assert_eq!(text(k.filter.pool_size.as_ref()), "Cpus > 1");
    }

    #[test]
    fn match_exprs_take_the_text_of_their_macros() {
        let k = knobs("NEGOTIATOR_MATCH_EXPRS = A, B\nA = $(C)\nC = 7");
        assert_eq!(k.matching.match_exprs, [(b"A".to_vec(), b"7".to_vec())]);
    }

    #[test]
    fn a_bad_value_is_refused() {
        let config = Config::parse("c", b"PRIORITY_HALFLIFE = 0").unwrap();
        let error = NegotiatorKnobs::read(&config).unwrap_err();
        assert_eq!(error.message, "`PRIORITY_HALFLIFE` is `0`: expected a number of at least 0.00001");
    }
}
