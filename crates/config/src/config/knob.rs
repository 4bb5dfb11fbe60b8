//! The knobs of negotiator, accountant and groups: type, range, default and meaning of each
//! (`docs/reference/knobs.md`).
//!
//! In: a name. Out: the knob it is, also one of a family such as `GROUP_QUOTA_<group>`.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::table;

/// The type and range of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// `true`, `false`, or a constant expression that is a boolean or a number.
    Boolean,
    /// A boolean, or one of the letters `T` and `F`.
    Letter,
    /// A whole number from a smallest to a largest one.
    Integer(i64, i64),
    /// A number from a smallest to a largest one.
    Real(f64, f64),
    /// A number at the beginning of the text; the rest is not looked at.
    Number,
    /// An expression that is evaluated later.
    Expression,
    /// A regular expression.
    Pattern,
    /// Items separated by commas and blanks.
    List,
    /// Any text.
    Text,
    /// The name of a file.
    Path,
}

impl Kind {
    /// The kind and range in words.
    pub fn describe(self) -> String {
        match self {
            Kind::Boolean | Kind::Letter => "boolean".to_owned(),
            Kind::Integer(min, max) => match (min == i64::MIN, max == i64::MAX) {
                (true, _) => "integer".to_owned(),
                (false, true) => format!("integer, at least {min}"),
                (false, false) => format!("integer from {min} to {max}"),
            },
            Kind::Real(min, max) => match (min == f64::MIN, max == f64::MAX) {
                (true, _) => "number".to_owned(),
                (false, true) => format!("number, at least {min}"),
                (false, false) if max < 1e16 => format!("number from {min} to {max}"),
                (false, false) => format!("number from {min} to {max:e}"),
            },
            Kind::Number => "number".to_owned(),
            Kind::Expression => "expression".to_owned(),
            Kind::Pattern => "regular expression".to_owned(),
            Kind::List => "list".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::Path => "path".to_owned(),
        }
    }
}

/// A knob.
#[derive(Debug)]
#[non_exhaustive]
pub struct Knob {
    /// Its name; a part in angle brackets matches any text.
    pub name: &'static str,
    /// The type and range of its value.
    pub kind: Kind,
    /// The default in the code of the reference, for knobs without one in the table.
    pub code: Option<&'static str>,
    /// Its purpose, in one line.
    pub meaning: &'static str,
    /// The name to use now, for an obsolete one.
    pub now: Option<&'static str>,
}

impl Knob {
    /// The default as text: the table's, otherwise the code's; `None` if it is unset.
    pub fn default_text(&self) -> Option<&'static str> {
        table::default_text(self.name.as_bytes()).filter(|text| !text.is_empty()).or(self.code)
    }

    /// Returns true if the name is that of a family.
    pub fn is_family(&self) -> bool {
        self.name.contains('<')
    }
}

const ANY: Kind = Kind::Integer(i64::MIN, i64::MAX);
const WHOLE: Kind = Kind::Integer(0, i64::MAX);
const POSITIVE: Kind = Kind::Integer(1, i64::MAX);
const SWITCH: Kind = Kind::Boolean;
const EXPR: Kind = Kind::Expression;
const LIST: Kind = Kind::List;
const TEXT: Kind = Kind::Text;
const PATH: Kind = Kind::Path;

const fn knob(name: &'static str, kind: Kind, code: &'static str, meaning: &'static str) -> Knob {
    let code = if code.is_empty() { None } else { Some(code) };
    Knob { name, kind, code, meaning, now: None }
}

const fn old(name: &'static str, kind: Kind, now: &'static str) -> Knob {
    Knob { name, kind, code: None, meaning: "obsolete name", now: Some(now) }
}

/// The family of concurrency limits. Any macro may have such a name: only a job that asks for the resource makes it
/// one.
pub const LIMIT: &str = "<name>_LIMIT";

/// All knobs, by concern.
#[rustfmt::skip]
static KNOBS: &[Knob] = &[
    // Cycle timing and limits.
    knob("NEGOTIATOR_INTERVAL", ANY, "", "seconds between the starts of two cycles"),
    knob("NEGOTIATOR_MIN_INTERVAL", ANY, "", "minimum seconds between the starts of two cycles"),
    knob("NEGOTIATOR_CYCLE_DELAY", WHOLE, "20", "minimum seconds from the end of a cycle to the start of the next one"),
    knob("NEGOTIATOR_TIMEOUT", ANY, "", "network timeout in seconds"),
    knob("NEGOTIATOR_MAX_TIME_PER_CYCLE", ANY, "", "time limit in seconds for new submitters in a cycle"),
    knob("NEGOTIATOR_MAX_TIME_PER_SUBMITTER", ANY, "", "time limit in seconds per submitter in a cycle"),
    knob("NEGOTIATOR_MAX_TIME_PER_SCHEDD", ANY, "", "time limit in seconds per access point in a cycle"),
    knob("NEGOTIATOR_MAX_TIME_PER_PIESPIN", ANY, "", "time limit in seconds per submitter in a pie spin"),
    knob("NEGOTIATOR_READ_CONFIG_BEFORE_CYCLE", SWITCH, "", "read the configuration before each cycle"),
    knob("NEGOTIATOR_UPDATE_INTERVAL", ANY, "", "seconds between updates to the collector"),
    knob("NEGOTIATOR_UPDATE_AFTER_CYCLE", SWITCH, "", "update the collector after each cycle"),
    knob("NEGOTIATOR_ADVERTISE_ACCOUNTING", SWITCH, "true", "publish accounting ads after a cycle"),
    knob("NEGOTIATION_CYCLE_STATS_LENGTH", Kind::Integer(0, 100), "", "number of cycles with statistics in the \
    negotiator ad"),
    knob("NEGOTIATOR_SOCKET_CACHE_SIZE", POSITIVE, "", "maximum number of open connections to access points"),
    knob("NEGOTIATOR_NUM_THREADS", ANY, "", "number of threads that evaluate Requirements"),
    knob("INSERT_NEGOTIATOR_CYCLE_TEST_DURATION", ANY, "0", "seconds to wait in a cycle (for tests)"),
    knob("NEG_SLEEP", ANY, "0", "seconds to wait in a cycle (for tests)"),
    knob("NEGOTIATOR_NAME", TEXT, "", "name of the daemon [default: host name]"),
    knob("NEGOTIATOR_LOG", PATH, "", "log file of the negotiator"),
    knob("NEGOTIATOR_MATCH_LOG", PATH, "", "log file of matches"),
    knob("NEGOTIATOR_DEBUG", TEXT, "", "debug level of the log"),
    knob("COLLECTOR_HOST_FOR_NEGOTIATOR", TEXT, "", "preferred collector"),

    // What takes part.
    knob("NEGOTIATOR_SLOT_CONSTRAINT", EXPR, "", "condition for slots in the cycle"),
    knob("NEGOTIATOR_SUBMITTER_CONSTRAINT", EXPR, "", "condition for submitters in the cycle"),
    knob("NEGOTIATOR_JOB_CONSTRAINT", EXPR, "", "condition for jobs that the access point may offer"),
    knob("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT", EXPR, "", "condition for slots that are included in the pool size"),
    old("GROUP_DYNAMIC_MACH_CONSTRAINT", EXPR, "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT"),
    knob("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD", EXPR, "", "slots that shut down within this number of seconds are \
    ignored"),
    knob("MATCH_WORKING_CM_SLOTS", SWITCH, "false", "match claimed partitionable slots of other central managers"),
    knob("STARTD_AD_REEVAL_EXPR", EXPR, "target.UpdateSequenceNumber > my.UpdateSequenceNumber", "condition to \
    replace a cached ad"),
    knob("NEGOTIATOR_CLASSAD_USER_MAP_NAMES", LIST, "", "maps of users to groups"),
    knob("SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION", SWITCH, "", "use session capabilities in submitter ads"),

    // Matching and preemption.
    knob("PREEMPTION_REQUIREMENTS", EXPR, "", "condition for preemption by priority (MY is the slot, TARGET the job); \
    empty means always"),
    knob("PREEMPTION_REQUIREMENTS_STABLE", SWITCH, "true", "its value does not change within a cycle"),
    knob("PREEMPTION_RANK", EXPR, "", "preferred slots to preempt (MY is the slot, TARGET the job), fifth sort key"),
    knob("PREEMPTION_RANK_STABLE", SWITCH, "true", "its value does not change within a cycle"),
    knob("NEGOTIATOR_PRE_JOB_RANK", EXPR, "", "slot order before the job's Rank, first sort key"),
    knob("NEGOTIATOR_POST_JOB_RANK", EXPR, "", "slot order after the job's Rank, third sort key"),
    knob("NEGOTIATOR_IGNORE_JOB_RANKS", SWITCH, "false", "sort the slots once per cycle, ignoring job Rank"),
    knob("NEGOTIATOR_CONSIDER_PREEMPTION", SWITCH, "", "consider slots in use for preemption"),
    knob("NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", SWITCH, "", "also preempt slots within their retirement time"),
    knob("ALLOW_PSLOT_PREEMPTION", SWITCH, "false", "preempt dynamic slots for a partitionable slot"),
    knob("NEGOTIATOR_CROSS_SLOT_PRIOS", SWITCH, "", "add the users of sibling slots to slot ads"),
    knob("STARTD_RESOURCE_PREFIX", TEXT, "slot", "prefix of the attributes of sibling slots"),
    knob("NEGOTIATOR_MATCHLIST_CACHING", SWITCH, "", "reuse sorted candidates for the next job of an autocluster"),
    knob("NEGOTIATOR_DEPTH_FIRST", SWITCH, "", "let the access point fill a partitionable slot"),
    knob("NEGOTIATOR_MATCH_EXPRS", LIST, "", "macros put into slot ads as NegotiatorMatchExpr…"),
    knob("NEGOTIATOR_INFORM_STARTD", SWITCH, "", "notify execution points of matches"),
    knob("NEGOTIATOR_USE_NONBLOCKING_STARTD_CONTACT", SWITCH, "", "do not wait for execution points"),
    knob("NEGOTIATOR_USE_SLOT_WEIGHTS", SWITCH, "", "use slot weights; otherwise each slot counts as 1"),
    knob("SLOT_WEIGHT", EXPR, "", "default slot weight"),
    knob("FORCE_NEGOTIATOR_SLOT_WEIGHT", SWITCH, "", "SLOT_WEIGHT overrides the weights of slots"),
    knob("NEGOTIATOR_IGNORE_USER_PRIORITIES", SWITCH, "", "ignore submitter limits"),
    knob("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", SWITCH, "", "do not charge suspended claims"),
    knob("USE_GLOBAL_JOB_PRIOS", SWITCH, "", "order submitters by job priority across access points"),
    knob("MAX_GLOBAL_JOB_PRIOS", WHOLE, "", "number of job priorities that an access point advertises"),
    knob("SCHEDD_PREEMPTION_REQUIREMENTS", EXPR, "", "the same for parallel jobs, at the access point"),
    knob("SCHEDD_PREEMPTION_RANK", EXPR, "", "the same for parallel jobs, at the access point"),

    // Fetching jobs, autoclusters.
    knob("USE_RESOURCE_REQUEST_COUNTS", SWITCH, "", "a request can be for several jobs"),
    knob("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", POSITIVE, "", "requests per round trip; 1 if request counts are off"),
    knob("NEGOTIATOR_PREFETCH_REQUESTS", SWITCH, "", "fetch requests in parallel"),
    knob("NEGOTIATOR_PREFETCH_REQUESTS_TIMEOUT", ANY, "$(NEGOTIATOR_TIMEOUT)", "seconds to wait for prefetched requests"),
    knob("NEGOTIATOR_PREFETCH_REQUESTS_MAX_TIME", WHOLE, "", "seconds for all prefetching; 0: no limit"),
    knob("NEGOTIATE_ALL_JOBS_IN_CLUSTER", Kind::Letter, "false", "do not skip jobs of a rejected autocluster"),
    knob("SIGNIFICANT_ATTRIBUTES", LIST, "", "significant attributes, replacing the computed ones"),
    knob("ADD_SIGNIFICANT_ATTRIBUTES", LIST, "", "attributes added to the significant attributes"),
    knob("REMOVE_SIGNIFICANT_ATTRIBUTES", LIST, "", "attributes removed from the significant attributes"),
    knob("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX", Kind::Pattern, "", "attributes removed from the significant \
    attributes, by pattern"),
    knob("STARTD_JOB_ATTRS", LIST, "", "job attributes copied into slot ads"),
    old("STARTD_JOB_EXPRS", LIST, "STARTD_JOB_ATTRS"),
    knob("SYSTEM_STARTD_JOB_ATTRS", LIST, "", "job attributes copied into slot ads, built in"),
    knob("SCHEDD_USE_SLOT_WEIGHT", SWITCH, "", "the access point uses job weights"),
    knob("SCHEDD_SLOT_WEIGHT", EXPR, "", "job weight at the access point [default: SLOT_WEIGHT]"),
    knob("CLAIM_WORKLIFE", ANY, "", "seconds for which a claim accepts new jobs"),
    knob("CLAIM_RECYCLING_CONSIDER_LIMITS", SWITCH, "", "reuse a claim only with the same concurrency limits"),
    knob("MAX_JOBS_RUNNING", ANY, "", "maximum number of running jobs of an access point"),
    knob("FLOCK_TO", LIST, "", "pools that jobs can flock to"),
    knob("FLOCK_<what>", TEXT, "", "flocking to other pools"),

    // Accountant.
    knob("PRIORITY_HALFLIFE", Kind::Real(1e-5, f64::MAX), "", "half-life of past usage in seconds"),
    knob("DEFAULT_PRIO_FACTOR", Kind::Number, "", "priority factor of new users"),
    knob("NICE_USER_PRIO_FACTOR", Kind::Number, "", "priority factor of nice users"),
    knob("NICE_USER_ACCOUNTING_GROUP_NAME", TEXT, "", "the group of nice users"),
    knob("REMOTE_PRIO_FACTOR", Kind::Number, "", "priority factor of users of other domains"),
    knob("ACCOUNTANT_LOCAL_DOMAIN", TEXT, "", "domain of local users [default: all users are local]"),
    knob("GROUP_PRIO_FACTOR_<group>", Kind::Real(f64::MIN, f64::MAX), "", "priority factor of the members of a group"),
    knob("ACCOUNTANT_DATABASE_FILE", PATH, "", "log file of the accountant"),
    knob("MAX_ACCOUNTANT_DATABASE_SIZE", ANY, "", "size in bytes at which the log is rewritten"),
    knob("UID_DOMAIN", TEXT, "", "the domain of users"),
    knob("ACCOUNTING_DOMAIN", TEXT, "", "the domain of submitter names"),
    knob("CONCURRENCY_LIMIT_DEFAULT", Kind::Real(f64::MIN, f64::MAX), "", "default concurrency limit"),
    knob("CONCURRENCY_LIMIT_DEFAULT_<scope>", Kind::Real(f64::MIN, f64::MAX), "", "default concurrency limit for \
    names with this prefix"),
    knob(LIMIT, Kind::Real(f64::MIN, f64::MAX), "", "concurrency limit of a resource"),
    knob("USERPRIO_USE_NEGOTIATOR_MODULAR_QUERY", SWITCH, "true", "how condor_userprio queries"),
    knob("ACCOUNTANT_HOST", TEXT, "", "ignored"),

    // Groups.
    knob("GROUP_NAMES", LIST, "", "names of the accounting groups"),
    knob("GROUP_QUOTA_<group>", Kind::Real(0.0, i32::MAX as f64), "", "static quota of a group in slot weight"),
    knob("GROUP_QUOTA_DYNAMIC_<group>", Kind::Real(0.0, 1.0), "", "dynamic quota of a group as a fraction of its \
    parent"),
    knob("GROUP_ACCEPT_SURPLUS", SWITCH, "", "groups accept surplus"),
    knob("GROUP_ACCEPT_SURPLUS_<group>", SWITCH, "$(GROUP_ACCEPT_SURPLUS)", "the same for a group"),
    knob("GROUP_AUTOREGROUP", SWITCH, "", "group members also negotiate at the end, outside their group"),
    knob("GROUP_AUTOREGROUP_<group>", SWITCH, "$(GROUP_AUTOREGROUP)", "the same for a group"),
    knob("GROUP_SORT_EXPR", EXPR, "", "negotiation order of groups, lowest value first"),
    knob("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", Kind::Integer(1, 1_000_000_000), "", "maximum number of allocation \
    rounds"),
    old("HFS_MAX_ALLOCATION_ROUNDS", Kind::Integer(1, 1_000_000_000), "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"),
    knob("GROUP_QUOTA_ROUND_ROBIN_RATE", Kind::Real(1.0, 1e100), "", "quota step per group in an allocation round"),
    old("HFS_ROUND_ROBIN_RATE", Kind::Real(1.0, 1e100), "GROUP_QUOTA_ROUND_ROBIN_RATE"),
    knob("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", SWITCH, "", "group quotas can exceed the pool size"),
    knob("NEGOTIATOR_STRICT_ENFORCE_QUOTA", SWITCH, "true", "limit groups strictly to their quota and surplus"),
    knob("NEGOTIATOR_USE_WEIGHTED_DEMAND", SWITCH, "", "compute group demand with slot weights"),

    // Consumption policy, at execution points.
    knob("CONSUMPTION_POLICY", SWITCH, "", "consumption policies of partitionable slots"),
    knob("CONSUMPTION_CPUS", EXPR, "", "CPUs that a match consumes"),
    knob("CONSUMPTION_MEMORY", EXPR, "", "memory that a match consumes"),
    knob("CONSUMPTION_DISK", EXPR, "", "disk that a match consumes"),
    knob("CONSUMPTION_<asset>", EXPR, "", "amount of another resource that a match consumes"),
    knob("NUM_CLAIMS", ANY, "", "number of claims of a partitionable slot"),
    knob("NEGOTIATOR_STATE_FILE", PATH, "", "only for replication between negotiators"),
];

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Knob>> =
    LazyLock::new(|| KNOBS.iter().filter(|knob| !knob.is_family()).map(|knob| (knob.name.as_bytes(), knob)).collect());

/// All knobs, by concern.
///
/// ```
/// use classmate_config::internal::config::knob;
/// let half_life = knob::all().find(|knob| knob.name == "PRIORITY_HALFLIFE").unwrap();
/// assert_eq!(half_life.default_text(), Some("86400"));
/// assert_eq!(half_life.kind.describe(), "number, at least 0.00001");
/// ```
pub fn all() -> impl Iterator<Item = &'static Knob> {
    KNOBS.iter()
}

/// The knob of a name, in any case and without a prefix.
pub fn find(name: &[u8]) -> Option<&'static Knob> {
    let upper = name.to_ascii_uppercase();
    if let Some(knob) = BY_NAME.get(upper.as_slice()) {
        return Some(knob);
    }
    if table::entry(&upper).is_some() {
        // A knob of another daemon, whose name only looks like one of a family.
        return None;
    }
    let mut families: Vec<(usize, &'static Knob)> =
        KNOBS.iter().filter_map(|knob| Some((family_member(knob, &upper)?.0, knob))).collect();
    families.sort_by_key(|(fixed, _)| std::cmp::Reverse(*fixed));
    families.first().map(|(_, knob)| *knob)
}

/// The part of a name that matches the angle brackets of its family: `group_a` of `GROUP_QUOTA_group_a`.
pub fn member<'n>(knob: &Knob, name: &'n [u8]) -> Option<&'n [u8]> {
    let (_, range) = family_member(knob, &name.to_ascii_uppercase())?;
    Some(&name[range])
}

/// The number of letters that the family fixes, and the place of the others.
fn family_member(knob: &Knob, upper: &[u8]) -> Option<(usize, std::ops::Range<usize>)> {
    let (before, rest) = knob.name.split_once('<')?;
    let (_, after) = rest.split_once('>')?;
    let fixed = before.len() + after.len();
    let fits = upper.len() > fixed && upper.starts_with(before.as_bytes()) && upper.ends_with(after.as_bytes());
    fits.then(|| (fixed, before.len()..upper.len() - after.len()))
}

/// Returns true if a knob, without the prefix of a daemon, is a transform or a route of jobs: its macros are
/// expanded when it is applied to a job.
pub fn is_transform(name: &[u8]) -> bool {
    const KINDS: [&[u8]; 3] = [b"JOB_TRANSFORM_", b"JOB_ROUTER_ROUTE_", b"JOB_ROUTER_TRANSFORM_"];
    let upper = name.to_ascii_uppercase();
    KINDS.iter().any(|kind| upper.strip_prefix(*kind).is_some_and(|member| !member.is_empty() && member != b"NAMES"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_is_found_by_its_name() {
        for knob in all().filter(|knob| !knob.is_family()) {
            let found = find(knob.name.to_ascii_lowercase().as_bytes()).unwrap();
            assert_eq!(found.name, knob.name);
            assert!(!knob.meaning.is_empty());
            if let Some(now) = knob.now {
                assert!(find(now.as_bytes()).unwrap().now.is_none(), "{now}");
            }
        }
    }

    #[test]
    fn families_are_found_by_their_fixed_part() {
        let family = |name: &str| find(name.as_bytes()).map(|knob| knob.name);
        assert_eq!(family("group_quota_phys.hep"), Some("GROUP_QUOTA_<group>"));
        assert_eq!(family("GROUP_QUOTA_DYNAMIC_a"), Some("GROUP_QUOTA_DYNAMIC_<group>"));
        assert_eq!(family("GROUP_QUOTA_ROUND_ROBIN_RATE"), Some("GROUP_QUOTA_ROUND_ROBIN_RATE"));
        assert_eq!(family("LARGE.X_LIMIT"), Some("<name>_LIMIT"));
        assert_eq!(family("CONCURRENCY_LIMIT_DEFAULT_large"), Some("CONCURRENCY_LIMIT_DEFAULT_<scope>"));
        assert_eq!(family("_LIMIT"), None);
        assert_eq!(family("NOTHING"), None);
        let knob = find(b"GROUP_QUOTA_Group.A").unwrap();
        assert_eq!(member(knob, b"GROUP_QUOTA_Group.A"), Some(&b"Group.A"[..]));
    }

    #[test]
    fn defaults_fit_their_knobs() {
        for knob in all() {
            let text = knob.default_text().unwrap_or_default();
            match knob.kind {
                Kind::Boolean | Kind::Letter if !text.is_empty() && !text.contains('$') => {
                    assert!(["true", "false"].contains(&text.to_lowercase().as_str()), "{}", knob.name);
                }
                Kind::Integer(min, max) if text.parse::<i64>().is_ok() => {
                    assert!((min..=max).contains(&text.parse().unwrap()), "{}", knob.name);
                }
                Kind::Real(min, max) if !text.is_empty() => {
                    assert!((min..=max).contains(&text.parse().unwrap()), "{}", knob.name);
                }
                _ => {}
            }
        }
    }
}
