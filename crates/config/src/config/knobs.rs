//! The settings of the negotiator and its accountant, typed, with the defaults of 25.14.1 (`docs/reference/knobs.md`).
//!
//! In: a [`Config`]. Out: one struct a concern. A default written here is one the reference has in
//! code only; all others come from [`super::table`].

use super::condor::FoundValue;
use super::{Config, ConfigError};

/// Declares knobs of one concern, each with the way in which it is read.
macro_rules! knobs {
    ($(#[$about:meta])* $group:ident($config:ident) {
        $($(#[$doc:meta])* $field:ident: $type:ty = $read:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $group {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $group {
            fn read($config: &Config) -> Result<Self, ConfigError> {
                Ok(Self { $($field: $read,)* })
            }
        }
    };
}

/// The name of a macro and its text.
type NamedText = (Vec<u8>, Vec<u8>);

/// Everything one negotiation cycle asks its configuration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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

knobs! {
    /// Knobs of the pie spins (`docs/reference/negotiation.md` 5, 7).
    PieKnobs(config) {
        /// `NEGOTIATOR_CONSIDER_PREEMPTION`: claimed slots may be matched again.
        consider_preemption: bool = config.boolean("NEGOTIATOR_CONSIDER_PREEMPTION", true)?,
        /// `NEGOTIATOR_CONSIDER_EARLY_PREEMPTION`: also slots with retirement time left.
        consider_early_preemption: bool = config.boolean("NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", false)?,
        /// `NEGOTIATOR_USE_SLOT_WEIGHTS`: otherwise every slot weighs 1.
        use_slot_weights: bool = config.boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", true)?,
        /// `SLOT_WEIGHT`: the weight of slots that do not say.
        slot_weight: Option<FoundValue> = config.expression("SLOT_WEIGHT")?,
        /// `FORCE_NEGOTIATOR_SLOT_WEIGHT`: `SLOT_WEIGHT` also overrides what slots say.
        force_slot_weight: bool = config.boolean("FORCE_NEGOTIATOR_SLOT_WEIGHT", false)?,
        /// `SCHEDD_USE_SLOT_WEIGHT`: otherwise access points count the cores of jobs.
        weigh_jobs: bool = config.boolean("SCHEDD_USE_SLOT_WEIGHT", true)?,
        /// `SCHEDD_SLOT_WEIGHT`: the weight of a job at its access point; `SLOT_WEIGHT` if there is none.
        job_weight: Option<FoundValue> = config.expression("SCHEDD_SLOT_WEIGHT")?,
        /// `NEGOTIATOR_IGNORE_USER_PRIORITIES`: no submitter limit.
        ignore_user_priorities: bool = config.boolean("NEGOTIATOR_IGNORE_USER_PRIORITIES", false)?,
        /// `USE_GLOBAL_JOB_PRIOS`: submitters are also ordered by job priority.
        use_global_job_prios: bool = config.boolean("USE_GLOBAL_JOB_PRIOS", false)?,
        /// `MAX_GLOBAL_JOB_PRIOS`: maximum number of priorities that an access point reports.
        most_global_job_prios: usize = config.integer("MAX_GLOBAL_JOB_PRIOS", 500, 0, i64::MAX)? as usize,
    }
}

knobs! {
    /// Knobs that select slots, submitters and jobs (`docs/reference/knobs.md` 2).
    FilterKnobs(config) {
        /// `NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT`, or its old name `GROUP_DYNAMIC_MACH_CONSTRAINT`.
        pool_size: Option<FoundValue> = match config.expression("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT")? {
            None => config.expression("GROUP_DYNAMIC_MACH_CONSTRAINT")?,
            found => found,
        },
        /// `NEGOTIATOR_SLOT_CONSTRAINT`.
        slots: Option<FoundValue> = config.expression("NEGOTIATOR_SLOT_CONSTRAINT")?,
        /// `NEGOTIATOR_SUBMITTER_CONSTRAINT`.
        submitters: Option<FoundValue> = config.expression("NEGOTIATOR_SUBMITTER_CONSTRAINT")?,
        /// `NEGOTIATOR_JOB_CONSTRAINT`.
        jobs: Option<FoundValue> = config.expression("NEGOTIATOR_JOB_CONSTRAINT")?,
        /// `NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD`, seconds (an expression).
        shutdown_threshold: Option<FoundValue> = config.expression("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD")?,
        /// `MATCH_WORKING_CM_SLOTS`: match claimed partitionable slots of other central managers.
        working_cm_slots: bool = config.boolean("MATCH_WORKING_CM_SLOTS", false)?,
        /// `STARTD_AD_REEVAL_EXPR`: when the ad of a slot that wants another look replaces the one kept before.
        newer_ad: Option<FoundValue> = config.expression("STARTD_AD_REEVAL_EXPR")?,
    }
}

knobs! {
    /// Knobs of the test and order of candidates (`docs/reference/negotiation.md` 10).
    MatchingKnobs(config) {
        /// `NEGOTIATOR_MATCH_EXPRS`: macros copied into slot ads; name and text of those defined.
        match_exprs: Vec<NamedText> = match_exprs(config)?,
        /// `STARTD_RESOURCE_PREFIX`, the prefix of attributes of sibling slots.
        resource_prefix: Vec<u8> = config.string("STARTD_RESOURCE_PREFIX")?.unwrap_or_else(|| b"slot".to_vec()),
        /// `NEGOTIATOR_PRE_JOB_RANK`, first key.
        pre_job_rank: Option<FoundValue> = config.expression("NEGOTIATOR_PRE_JOB_RANK")?,
        /// `NEGOTIATOR_POST_JOB_RANK`, third key.
        post_job_rank: Option<FoundValue> = config.expression("NEGOTIATOR_POST_JOB_RANK")?,
        /// `PREEMPTION_RANK`, fifth key.
        preemption_rank: Option<FoundValue> = config.expression("PREEMPTION_RANK")?,
        /// `PREEMPTION_REQUIREMENTS`; none means no test.
        preemption_requirements: Option<FoundValue> = config.expression("PREEMPTION_REQUIREMENTS")?,
        /// `PREEMPTION_REQUIREMENTS_STABLE`.
        preemption_requirements_stable: bool = config.boolean("PREEMPTION_REQUIREMENTS_STABLE", true)?,
        /// `PREEMPTION_RANK_STABLE`.
        preemption_rank_stable: bool = config.boolean("PREEMPTION_RANK_STABLE", true)?,
        /// `NEGOTIATOR_IGNORE_JOB_RANKS`: slots are ordered once per cycle.
        ignore_job_ranks: bool = config.boolean("NEGOTIATOR_IGNORE_JOB_RANKS", false)?,
        /// `NEGOTIATOR_MATCHLIST_CACHING`: sorted candidates are kept for the next job of an autocluster.
        match_list_caching: bool = config.boolean("NEGOTIATOR_MATCHLIST_CACHING", true)?,
        /// `NEGOTIATOR_NUM_THREADS` of 2 or more: slots are tested for the request as it is, consumption policies aside.
        threads: bool = config.integer("NEGOTIATOR_NUM_THREADS", 1, i64::MIN, i64::MAX)? > 1,
        /// `ALLOW_PSLOT_PREEMPTION`.
        allow_pslot_preemption: bool = config.boolean("ALLOW_PSLOT_PREEMPTION", false)?,
        /// `NEGOTIATOR_CROSS_SLOT_PRIOS`.
        cross_slot_prios: bool = config.boolean("NEGOTIATOR_CROSS_SLOT_PRIOS", false)?,
        /// `NEGOTIATOR_DEPTH_FIRST`: the access point packs a partitionable slot.
        depth_first: bool = config.boolean("NEGOTIATOR_DEPTH_FIRST", false)?,
    }
}

knobs! {
    /// Knobs of autoclusters and of the fetching of requests (`docs/reference/negotiation.md` 8).
    SignificantKnobs(config) {
        /// `STARTD_JOB_ATTRS`, `STARTD_JOB_EXPRS` and `SYSTEM_STARTD_JOB_ATTRS`: they count as slot attributes.
        slot_side: Vec<Vec<u8>> = slot_side(config)?,
        /// `USE_RESOURCE_REQUEST_COUNTS`: one request represents several jobs.
        request_counts: bool = config.boolean("USE_RESOURCE_REQUEST_COUNTS", true)?,
        /// `NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE`, at least 1; 1 if counts are off.
        request_list_size: i64 = request_list_size(config)?,
        /// `NEGOTIATOR_PREFETCH_REQUESTS`: the first list of requests is fetched before the pie spin.
        prefetch: bool = config.boolean("NEGOTIATOR_PREFETCH_REQUESTS", true)?,
        /// `SIGNIFICANT_ATTRIBUTES`: replaces the computed list if not empty.
        replaced_by: Vec<Vec<u8>> = config.list("SIGNIFICANT_ATTRIBUTES")?,
        /// `ADD_SIGNIFICANT_ATTRIBUTES`.
        added: Vec<Vec<u8>> = config.list("ADD_SIGNIFICANT_ATTRIBUTES")?,
        /// `REMOVE_SIGNIFICANT_ATTRIBUTES`.
        removed: Vec<Vec<u8>> = config.list("REMOVE_SIGNIFICANT_ATTRIBUTES")?,
        /// `REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX`.
        removed_pattern: Option<FoundValue> = config.expression("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX")?,
        /// `NEGOTIATE_ALL_JOBS_IN_CLUSTER`: the access point takes every job for one of its own kind.
        all_jobs_in_cluster: bool = config.letter("NEGOTIATE_ALL_JOBS_IN_CLUSTER", false)?,
    }
}

knobs! {
    /// Priorities and their factors (`docs/reference/accountant.md` 2, 3).
    AccountantKnobs(config) {
        /// `PRIORITY_HALFLIFE`, seconds, at least 1e-5.
        half_life: f64 = config.real("PRIORITY_HALFLIFE", 86400.0, 1e-5, f64::MAX)?,
        /// `DEFAULT_PRIO_FACTOR`.
        default_factor: f64 = config.leading_number("DEFAULT_PRIO_FACTOR")?.unwrap_or(1000.0),
        /// `NICE_USER_PRIO_FACTOR`.
        nice_user_factor: f64 = config.leading_number("NICE_USER_PRIO_FACTOR")?.unwrap_or(1e10),
        /// `REMOTE_PRIO_FACTOR`.
        remote_factor: f64 = config.leading_number("REMOTE_PRIO_FACTOR")?.unwrap_or(1e7),
        /// `ACCOUNTANT_LOCAL_DOMAIN`; unset: all users are local.
        local_domain: Option<Vec<u8>> = config.string("ACCOUNTANT_LOCAL_DOMAIN")?,
        /// `GROUP_PRIO_FACTOR_<group>`: group as written in the knob, and factor.
        group_factors: Vec<(Vec<u8>, f64)> = group_factors(config)?,
        /// `NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES`: suspended claims are not charged.
        discount_suspended: bool = config.boolean("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", false)?,
        /// `ACCOUNTING_DOMAIN` (or `UID_DOMAIN`): the domain of submitter names made from jobs.
        domain: Option<Vec<u8>> = config.string("ACCOUNTING_DOMAIN")?,
    }
}

impl NegotiatorKnobs {
    /// Reads every knob.
    ///
    /// # Errors
    /// The first value that is not what its knob takes, with knob, place, value and expectation.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            pie: PieKnobs::read(config)?,
            filter: FilterKnobs::read(config)?,
            matching: MatchingKnobs::read(config)?,
            significant: SignificantKnobs::read(config)?,
            accountant: AccountantKnobs::read(config)?,
        })
    }
}

/// The knobs of `NEGOTIATOR_MATCH_EXPRS` that are defined, and their texts.
fn match_exprs(config: &Config) -> Result<Vec<NamedText>, ConfigError> {
    let mut defined = Vec::new();
    for name in config.list("NEGOTIATOR_MATCH_EXPRS")? {
        let Ok(text) = std::str::from_utf8(&name) else { continue };
        if let Some(found) = config.get(text)? {
            defined.push((name, found.text));
        }
    }
    Ok(defined)
}

/// The attributes of jobs that slots have.
fn slot_side(config: &Config) -> Result<Vec<Vec<u8>>, ConfigError> {
    let lists = ["STARTD_JOB_ATTRS", "STARTD_JOB_EXPRS", "SYSTEM_STARTD_JOB_ATTRS"].map(|name| config.list(name));
    Ok(lists.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

fn request_list_size(config: &Config) -> Result<i64, ConfigError> {
    let size = config.integer("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", 200, 1, i64::MAX)?;
    Ok(if config.boolean("USE_RESOURCE_REQUEST_COUNTS", true)? { size } else { 1 })
}

/// The `GROUP_PRIO_FACTOR_*` knobs a configuration sets.
fn group_factors(config: &Config) -> Result<Vec<(Vec<u8>, f64)>, ConfigError> {
    const PREFIX: &[u8] = b"GROUP_PRIO_FACTOR_";
    let mut factors = Vec::new();
    for name in config.names() {
        if name.len() > PREFIX.len() && name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX) {
            // Names of the configuration language are ASCII.
            let text = String::from_utf8_lossy(name);
            let factor = config.real(&text, 0.0, f64::MIN, f64::MAX)?;
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

    fn text(found: Option<&FoundValue>) -> &str {
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
            weigh_jobs,
            job_weight,
            ignore_user_priorities,
            use_global_job_prios,
            most_global_job_prios,
        } = k.pie;
        assert_eq!(most_global_job_prios, 500);
        assert!(consider_preemption && use_slot_weights && weigh_jobs);
        assert_eq!(job_weight, None);
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
        assert!(!(m.ignore_job_ranks || m.allow_pslot_preemption || m.cross_slot_prios || m.depth_first || m.threads));
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
