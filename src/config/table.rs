//! The built-in parameter table: what a name is worth when no file sets it.
//!
//! Only names with an entry in the reference's table are here (`knobs.md`); a `$(NAME)` sees them.
//! Defaults that exist in code only belong to [`super::knobs`].

/// Name in upper case and default text, in byte order of the names.
static TABLE: [(&str, &str); 52] = [
    ("ACCOUNTANT_DATABASE_FILE", "$(SPOOL)/Accountantnew.log"),
    ("ACCOUNTING_DOMAIN", "$(UID_DOMAIN)"),
    ("CLAIM_RECYCLING_CONSIDER_LIMITS", "true"),
    ("CLAIM_WORKLIFE", "1200"),
    ("CONCURRENCY_LIMIT_DEFAULT", "2308032"),
    ("DEFAULT_PRIO_FACTOR", "1000"),
    ("FORCE_NEGOTIATOR_SLOT_WEIGHT", "false"),
    ("GROUP_ACCEPT_SURPLUS", "false"),
    ("GROUP_AUTOREGROUP", "false"),
    ("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", "3"),
    ("GROUP_QUOTA_ROUND_ROBIN_RATE", "1.0e100"),
    (
        "GROUP_SORT_EXPR",
        "ifThenElse(AccountingGroup=?=\"<none>\",3.4e+38,\
         ifThenElse(GroupQuota>0,GroupResourcesInUse/GroupQuota,3.3e+38))",
    ),
    ("MAX_ACCOUNTANT_DATABASE_SIZE", "1000000"),
    ("MAX_GLOBAL_JOB_PRIOS", "500"),
    ("NEGOTIATION_CYCLE_STATS_LENGTH", "3"),
    ("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", "true"),
    ("NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", "false"),
    ("NEGOTIATOR_CONSIDER_PREEMPTION", "true"),
    ("NEGOTIATOR_CROSS_SLOT_PRIOS", "false"),
    ("NEGOTIATOR_DEPTH_FIRST", "false"),
    ("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", "false"),
    ("NEGOTIATOR_IGNORE_USER_PRIORITIES", "false"),
    ("NEGOTIATOR_INFORM_STARTD", "false"),
    ("NEGOTIATOR_INTERVAL", "60"),
    ("NEGOTIATOR_MATCHLIST_CACHING", "true"),
    ("NEGOTIATOR_MAX_TIME_PER_CYCLE", "1200"),
    ("NEGOTIATOR_MAX_TIME_PER_PIESPIN", "120"),
    ("NEGOTIATOR_MAX_TIME_PER_SCHEDD", "120"),
    ("NEGOTIATOR_MAX_TIME_PER_SUBMITTER", "60"),
    ("NEGOTIATOR_MIN_INTERVAL", "5"),
    (
        "NEGOTIATOR_POST_JOB_RANK",
        "(RemoteOwner =?= UNDEFINED) * \
         (ifthenElse(isUndefined(KFlops), 1000, Kflops) - SlotID - 1.0e10*(Offline=?=True))",
    ),
    ("NEGOTIATOR_PREFETCH_REQUESTS", "true"),
    ("NEGOTIATOR_PREFETCH_REQUESTS_MAX_TIME", "60"),
    (
        "NEGOTIATOR_PRE_JOB_RANK",
        "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED)) - (100000 * Cpus) - Memory",
    ),
    ("NEGOTIATOR_READ_CONFIG_BEFORE_CYCLE", "false"),
    ("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", "200"),
    ("NEGOTIATOR_TIMEOUT", "30"),
    ("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD", "0"),
    ("NEGOTIATOR_UPDATE_INTERVAL", "300"),
    ("NEGOTIATOR_USE_SLOT_WEIGHTS", "true"),
    ("NEGOTIATOR_USE_WEIGHTED_DEMAND", "true"),
    ("NICE_USER_PRIO_FACTOR", "1e10"),
    ("PREEMPTION_RANK", "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)"),
    ("PREEMPTION_REQUIREMENTS", "False"),
    ("PRIORITY_HALFLIFE", "86400"),
    ("REMOTE_PRIO_FACTOR", "1e7"),
    ("REMOVE_SIGNIFICANT_ATTRIBUTES", "CpusUsage,DiskUsage,GPUsUsage,MemoryUsage,ResidentSetSize"),
    ("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX", "^Slot[0-9]*_"),
    ("SLOT_WEIGHT", "Cpus"),
    (
        "SYSTEM_STARTD_JOB_ATTRS",
        "ImageSize, ExecutableSize, JobUniverse, NiceUser, CPUsUsage, ResidentSetSize, ProportionalSetSizeKb, \
         MemoryUsage, DiskUsage, StdoutMtime, StderrMtime, ScratchDirFileCount",
    ),
    ("USE_GLOBAL_JOB_PRIOS", "false"),
    ("USE_RESOURCE_REQUEST_COUNTS", "true"),
];

/// The table's text for a name (any case), unexpanded.
pub fn default_text(name: &[u8]) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    TABLE.binary_search_by(|(known, _)| known.as_bytes().cmp(&name)).ok().map(|at| TABLE[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        for (name, text) in TABLE {
            assert_eq!(default_text(name.to_ascii_lowercase().as_bytes()), Some(text));
        }
        assert!(TABLE.is_sorted());
    }
}
