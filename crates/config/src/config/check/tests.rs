//! What the checks of configurations find and leave alone.

use super::*;

/// Severity, place, message and help of what is found, one a line.
fn found(text: &str) -> Vec<String> {
    found_in("25.14", text)
}

fn found_in(series: &str, text: &str) -> Vec<String> {
    let config = Config::parse("c", text.as_bytes()).unwrap().read_as(series.parse().unwrap());
    let line = |diagnostic: &Diagnostic| {
        let place =
            diagnostic.place.as_ref().map(|place| format!("{}:{}", place.line, place.column)).unwrap_or_default();
        let help = diagnostic.help.as_ref().map(|help| format!(" [{help}]")).unwrap_or_default();
        let (severity, width) = (diagnostic.severity.as_str(), diagnostic.span.end);
        format!("{severity} {place}+{width} {diagnostic}{help}")
    };
    check(&config).iter().map(line).collect()
}

#[test]
fn values_out_of_range_or_of_another_kind_are_errors_at_the_value() {
    assert_eq!(
        found("NEGOTIATION_CYCLE_STATS_LENGTH = 500"),
        [
            "error 1:34+3 `NEGOTIATION_CYCLE_STATS_LENGTH` is `500`: expected a number from 0 to 100 [the default is `3`]"
        ]
    );
    assert_eq!(
        found("\n  NEGOTIATOR_CONSIDER_PREEMPTION = maybe"),
        ["error 2:36+5 `NEGOTIATOR_CONSIDER_PREEMPTION` is `maybe`: expected a boolean [the default is `true`]"]
    );
    assert_eq!(found("PRIORITY_HALFLIFE = 2 * 3600\nNEGOTIATOR_INTERVAL = 7.5\nUSE_GLOBAL_JOB_PRIOS = 1"), [""; 0]);
    assert_eq!(found("NEGOTIATE_ALL_JOBS_IN_CLUSTER = T"), [""; 0]);
    let transform = "JOB_TRANSFORM_x @=end\nval = 3\nSET Y $INT(val) + 2\nif $INT(MY.x) > 2\nendif\n@end";
    assert_eq!(found(transform), [""; 0]);
    let second = "DAEMON_LIST = $(DAEMON_LIST) NEGOTIATOR_GPU\nNEGOTIATOR_GPU = $(NEGOTIATOR)\n\
                  NEGOTIATOR_GPU_ARGS = -local-name NEGOTIATOR_GPU\nNEGOTIATOR_GPU.NEGOTIATOR_NAME = gpu\n\
                  NEGOTIATOR_GPU_LOG = $(LOG)/gpu\nCOLLECTOR_ARGS = -f -local-name other\nother.NEGOTIATOR_NAME = x";
    assert_eq!(found(second), [""; 0]);
    assert_eq!(found("DAEMON_LIST = MASTER, EVENTD\nEVENTD = /bin/e\nEVENTD_LOG = $(LOG)/e"), [""; 0]);
    assert_eq!(found("NEGOTIATOR_USERID = a\nNEGOTIATOR_MAX_FILE_DESCRIPTORS = 9"), [""; 0]);
    assert_eq!(found("NEGOTIATOR_MATCH_EXPRS = NegotiatorName\nNegotiatorName = \"x\""), [""; 0]);
    assert_eq!(found("DAEMON_LIST = MASTER, NEGOTIATOR\nNEGOTIATOR_INTERVL = 9").len(), 1);
    let macros = "NEGOTIATOR_MATCH_EXPRS = A, B\nA = 1";
    assert_eq!(found(macros), ["error 1:26+4 `B` is not defined, so slots do not get it"]);
}

#[test]
fn names_that_daemons_read_or_statements_use_are_known() {
    for text in [
        // Attributes that the startd takes from the configuration by their own name.
        "IsOwner = false\nISOWNER = true\nCpuBusy = true\ncpu_busy = true\nSlotWeight = Cpus\nRunBenchmarks = false",
        "SINGULARITY_BIND_EXPR = \"/a\"\nNUM_SLOTS = 3\nCCB_TIMEOUT = 3\nMAX_HISTORY_LOG = 1",
        "NEGOTIATOR_FLAG = true\nif defined NEGOTIATOR_FLAG\nendif",
        "NEGOTIATOR_FLAG = true\nif $(NEGOTIATOR_FLAG)\nA = 1\nelif version > 8\nendif",
        "NEGOTIATOR_DIR = x\ninclude ifexist : $(NEGOTIATOR_DIR)/y",
        "NEGOTIATOR_TIME = 3\nuse POLICY : Limit_Job_Runtimes($(NEGOTIATOR_TIME))",
        "NEGOTIATOR_A = 3\nB = $(NEGOTIATOR_A)\nB = 4",
        // Not concurrency limits.
        "MEMORY_LIMIT = 5 GB\nSWAP_LIMIT = 10K\nTIME_LIMIT = 2 * 3600\nCPU_LIMIT = RequestCpus\nX_LIMIT = 80%",
        "CGROUP_LOW_MEMORY_LIMIT = 75",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    assert_eq!(
        found("HOSTALLOW_WRITE = *\nGSI_DAEMON_CERT = /a"),
        [
            "warning 1:1+15 HTCondor 25.14.1 does not read `HOSTALLOW_WRITE` [it was replaced by `ALLOW_WRITE`]",
            "warning 2:1+15 HTCondor 25.14.1 does not read `GSI_DAEMON_CERT` [it was removed in HTCondor 10.2.0: remove the line]"
        ]
    );
    assert_eq!(found("GSI_DAEMON_CERT = /a\nA = $(GSI_DAEMON_CERT)"), [""; 0]);
    assert_eq!(found("MATLAB_LIMIT = 5O\nIDL_LIMIT = ten").len(), 2);
}

#[test]
fn expressions_are_parsed_with_the_exact_place() {
    assert_eq!(
        found("PREEMPTION_REQUIREMENTS = RemoteUserPrio > * 1"),
        [
            "error 1:44+1 `PREEMPTION_REQUIREMENTS` is not a valid expression: expected an expression, found `*` [a value is missing between `>` and `*`]"
        ]
    );
    let expanded = found("X = * 1\nPREEMPTION_RANK = Cpus > $(X)");
    assert_eq!(expanded.len(), 1);
    assert!(expanded[0].starts_with("error 2:19+11 `PREEMPTION_RANK` is not a valid expression"), "{expanded:?}");
    assert!(expanded[0].ends_with("after expansion it reads `Cpus > * 1`]"), "{expanded:?}");
}

#[test]
fn unknown_names_of_the_family_are_told_with_the_nearest() {
    assert_eq!(
        found("NEGOTIATOR_INTERVALL = 5"),
        ["warning 1:1+20 `NEGOTIATOR_INTERVALL` is not a knob of the negotiator [did you mean `NEGOTIATOR_INTERVAL`?]"]
    );
    assert_eq!(
        found("PRIORTY_HALFLIFE = 5"),
        ["warning 1:1+16 `PRIORTY_HALFLIFE` is not a knob [did you mean `PRIORITY_HALFLIFE`?]"]
    );
    assert_eq!(
        found("NEGOTIATOR_FROBNICATE = 5"),
        ["warning 1:1+21 `NEGOTIATOR_FROBNICATE` is not a knob of the negotiator"]
    );
    // A macro that is used, or a knob of another daemon, is intended.
    assert_eq!(
        found("NEGOTIATOR_FROB = 5\nNEGOTIATOR_INTERVAL = $(NEGOTIATOR_FROB)\nMY_OWN = 3\nDAEMON_LIST = MASTER"),
        [""; 0]
    );
}

#[test]
fn what_every_daemon_reads_is_no_mistake() {
    let text = "NEGOTIATOR_ADDRESS_FILE = /x\nNEGOTIATOR_ARGS = -f\nNEGOTIATOR_HOST = $(CONDOR_HOST)\n\
                NEGOTIATOR_SUPER_ADDRESS_FILE = /x\nNEGOTIATOR_USE_SHARED_PORT = true\nMAX_NEGOTIATOR_LOG = 50000\n\
                MAX_NEGOTIATOR_MATCH_LOG = 50000\nNEGOTIATOR_ENVIRONMENT = A=b\nNEGOTIATOR_LOG_KEEP = 3\n\
                TRUNC_NEGOTIATOR_LOG_ON_OPEN = true\nNEGOTIATOR_DEBUG = D_FULLDEBUG\nNEGOTIATOR_RUN_DIR = /x\n\
                NEGOTIATOR_TIMEOUT_MULTIPLIER = 2\nMAX_NUM_NEGOTIATOR_LOG = 2\nNEGOTIATOR_PUBLISH_CROSSING = 1";
    assert_eq!(found(text), [""; 0]);
    assert_eq!(found("NEGOTIATOR_INTERVALL = 5\nNEGOTIATOR_HOSTT = x").len(), 2);
}

#[test]
fn group_knobs_without_an_underscore_are_told_with_the_right_name() {
    let groups = "GROUP_NAMES = physics, chem\nGROUP_QUOTA_physics = 1\nGROUP_QUOTA_chem = 1\n";
    for (name, help) in [
        ("GROUPQUOTA_chem", "GROUP_QUOTA_chem"),
        ("GROUP_QUOTA_DYNAMICchem", "GROUP_QUOTA_DYNAMIC_chem"),
        ("GROUP_QUOTAphysics", "GROUP_QUOTA_physics"),
        ("GROUP_ACCEPT_SURPLUSphysics", "GROUP_ACCEPT_SURPLUS_physics"),
        ("GROUP_PRIOFACTOR_chem", "GROUP_PRIO_FACTOR_chem"),
        ("GROUP_QUOTAS_physics", "GROUP_QUOTA_physics"),
        ("GROUP_DYNAMIC_QUOTA_physics", "GROUP_QUOTA_DYNAMIC_physics"),
        ("GROUP_ACEPT_SURPLUS_chem", "GROUP_ACCEPT_SURPLUS_chem"),
        ("GROUP_NAME", "GROUP_NAMES"),
        ("GROUP_AUTO_REGROUP", "GROUP_AUTOREGROUP"),
    ] {
        let what = match name {
            "GROUP_NAME" => "knob of the negotiator",
            "GROUP_AUTO_REGROUP" => "knob",
            _ => "negotiator configuration variable",
        };
        let width = name.len();
        assert_eq!(
            found(&format!("{groups}{name} = 1")),
            [format!("warning 4:1+{width} `{name}` is not a {what} [did you mean `{help}`?]")],
        );
    }
    // An undeclared group is not suggested.
    let none = ["warning 1:1+18 `GROUP_QUOTAphysics` is not a knob of the negotiator"];
    assert_eq!(found("GROUP_QUOTAphysics = 1"), none);
    // A macro that is referred to is not a knob.
    let helper = "GROUP_NAMES = a, b\nGROUP_QUOTA_BASE = 5\nGROUP_QUOTA_a = $(GROUP_QUOTA_BASE)\n\
                  GROUP_QUOTA_b = $INT(GROUP_QUOTA_BASE)\nMEM_LIMIT = 10x\nB_LIMIT = $(MEM_LIMIT:1)0";
    assert_eq!(found(&helper.replace("\nB_LIMIT = $(MEM_LIMIT:1)0", "")).len(), 1);
    assert_eq!(found(&helper.replace("B_LIMIT = ", "B = ")), [""; 0]);
}

#[test]
fn nothing_is_concluded_from_what_only_a_machine_knows() {
    let text = "NEGOTIATOR_INTERVAL = $(DETECTED_CPUS)\nDEFAULT_PRIO_FACTOR = $INT(DETECTED_MEMORY)\n\
                NEGOTIATOR_CONSIDER_PREEMPTION = $ENV(PREEMPT)\nPREEMPTION_RANK = $INT(DETECTED_CPUS) > 3\n\
                GROUP_NAMES = $ENV(GROUPS)\nGROUP_QUOTA_a = 3\nNEGOTIATOR_CYCLE_DELAY = $RANDOM_INTEGER(1, 9)";
    assert_eq!(found(text), [""; 0]);
    assert_eq!(found("N = 7x\nNEGOTIATOR_INTERVAL = $(N)").len(), 1);
}

#[test]
fn quotas_of_groups_that_are_not_declared_are_told() {
    assert_eq!(
        found(
            "GROUP_NAMES = group_phys, bio\nGROUP_QUOTA_group_phsy = 5\nGROUP_ACCEPT_SURPLUS_chem = true\nGROUP_QUOTA_BIO = 3"
        ),
        [
            "warning 2:1+22 `GROUP_QUOTA_group_phsy` has no effect: group `group_phsy` is not in GROUP_NAMES [did you mean `group_phys`?]",
            "warning 3:1+25 `GROUP_ACCEPT_SURPLUS_chem` has no effect: group `chem` is not in GROUP_NAMES [declare it: `GROUP_NAMES = $(GROUP_NAMES), chem`]",
        ]
    );
    assert_eq!(
        found("GROUP_NAMES = a-b"),
        ["warning 1:15+3 the group `a-b` cannot have a quota [names of configuration variables can contain \
            only letters, digits, `_`, `.` and `/`]"]
    );
}

#[test]
fn obsolete_names_and_unread_prefixes_are_told() {
    assert_eq!(
        found("HFS_ROUND_ROBIN_RATE = 5"),
        [
            "note 1:1+20 `HFS_ROUND_ROBIN_RATE` is the obsolete name of `GROUP_QUOTA_ROUND_ROBIN_RATE` [write `GROUP_QUOTA_ROUND_ROBIN_RATE`]"
        ]
    );
    assert_eq!(
        found("NEGOTATOR.PRIORITY_HALFLIFE = 5"),
        [
            "warning 1:1+27 unknown daemon prefix `NEGOTATOR`: `NEGOTATOR.PRIORITY_HALFLIFE` has no effect [did you mean `NEGOTIATOR`?]"
        ]
    );
    assert_eq!(
        found("SCHEDD.PRIORITY_HALFLIFE = 0"),
        [
            "warning 1:1+24 `SCHEDD.PRIORITY_HALFLIFE` has no effect: SCHEDD does not read `PRIORITY_HALFLIFE` [only NEGOTIATOR does: write `PRIORITY_HALFLIFE`]"
        ]
    );
    assert_eq!(found("NEGOTIATOR.PRIORITY_HALFLIFE = 0").len(), 1);
    assert_eq!(found("LARGE.X_LIMIT = 5"), [""; 0]);
}

/// `docs/reference/versions.md` 6. The sources of 10.8.0 are the first that read `MATCH_WORKING_CM_SLOTS`, and those of 10.3.1
/// the last that read `NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS`; `htcondor.param` of 25.13.2 has no `LVM_THICK_LV_MARGIN`.
#[test]
fn variables_that_a_version_does_not_have_are_told() {
    let missing = |name: &str, series: &str, release: &str| {
        let width = name.len();
        vec![format!(
            "warning 1:1+{width} HTCondor {series} does not have `{name}` [it is new in HTCondor {release}: remove the line]"
        )]
    };
    for (name, series, release) in [
        ("MATCH_WORKING_CM_SLOTS", "10.7", Some("10.8.0")),
        ("MATCH_WORKING_CM_SLOTS", "10.8", None),
        ("LVM_THICK_LV_MARGIN", "25.12", Some("25.14.1")),
        ("KEEP_DATA_CLAIM_IDLE", "25.9", Some("25.10.1")),
        ("KEEP_DATA_CLAIM_IDLE", "25.10", None),
        // Only their entries in the table are new.
        ("NEGOTIATOR_NUM_THREADS", "10.1", None),
        ("STARTD_ENFORCE_DISK_LIMITS", "24.0", None),
    ] {
        let expected = release.map(|release| missing(name, series, release)).unwrap_or_default();
        assert_eq!(found_in(series, &format!("{name} = 1")), expected, "{name} in {series}");
    }
    let gone = "NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS = true";
    assert_eq!(found_in("10.0", gone), [""; 0]);
    assert_eq!(
        found_in("10.9", gone),
        [
            "warning 1:1+33 HTCondor 25.14.1 does not read `NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS` [it was removed in HTCondor 10.4.0: remove the line]"
        ]
    );
}

#[test]
fn slips_in_the_knobs_of_other_daemons_are_told() {
    for (text, meant) in [
        ("MAX_JOBS_RUNING = 5", "MAX_JOBS_RUNNING"),
        ("SLOT_TYPE_1_PARTITONABLE = true", "SLOT_TYPE_1_PARTITIONABLE"),
        ("SLOT_TYPE_12_STRAT = true", "SLOT_TYPE_12_START"),
        ("ALOW_WRITE = *", "ALLOW_WRITE"),
        ("DENY_WRTE = *", "DENY_WRITE"),
        ("deny_wirte = *", "DENY_WRITE"),
        ("DENY_REDA_COLLECTOR = *", "DENY_READ_COLLECTOR"),
        ("ALLOW_NEGOTATOR_SCHEDD = *", "ALLOW_NEGOTIATOR_SCHEDD"),
        ("SEC_CLEINT_ENCRYPTION = REQUIRED", "SEC_CLIENT_ENCRYPTION"),
        ("SEC_DEFUALT_AUTHENTICATON = REQUIRED", "SEC_DEFAULT_AUTHENTICATION"),
        ("SEC_READ_INTEGRTY = OPTIONAL", "SEC_READ_INTEGRITY"),
        ("SETTABLE_ATTR_CONFIG = X", "SETTABLE_ATTRS_CONFIG"),
        ("NUM_SLOT_TYPE_1 = 1", "NUM_SLOTS_TYPE_1"),
        ("NUM_SLOTS_TYPE2 = 1", "NUM_SLOTS_TYPE_2"),
        ("SLOTS_TYPE_1 = cpus=1", "SLOT_TYPE_1"),
        ("SLOT_TYP_1_PARTITIONABLE = true", "SLOT_TYPE_1_PARTITIONABLE"),
        ("STARTT = true", "START"),
        ("XSW_LIMT = 5", "XSW_LIMIT"),
    ] {
        let name = &text[..text.find(' ').unwrap()];
        let reported = format!("warning 1:1+{} `{name}` is not a knob [did you mean `{meant}`?]", name.len());
        assert_eq!(found(text), [reported], "{text}");
    }
    for text in [
        "STARTT = true\nSTART = $(STARTT)",
        "STARTD_ATTRS = Startt\nSTARTT = true",
        "SLOT_TYPE_1_PARTITIONABLE = true\nSLOT_TYPE_1 = 100%\nSLOT_TYPE_1_START = true",
        "SLOT_TYPE_1_Site = \"x\"\nSLOT_TYPE_1_CONSUMPTION_GPUS = 1",
        "DENY_WRITE = a\nDENY_READ = b\nALLOW_WRITE_COLLECTOR = c\nDENY_DAEMON = d\nALLOW_OWNER = e\nALLOW_CONFIG = f",
        "SEC_READ_INTEGRITY = OPTIONAL\nSEC_WRITE_ENCRYPTION = REQUIRED\nSEC_DAEMON_CRYPTO_METHODS = AES",
        "SEC_DEFAULT_AUTHENTICATION_SCHEDD = REQUIRED\nSEC_DEFAULT_SESSION_DURATION = 60",
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = auto\nNUM_SLOTS_TYPE_12 = 1\nSLOT_TYPE_2_PARTITIONABLE = true",
        // Names of a site's own.
        "DENY_WRTE = *\nDENY_WRITE = $(DENY_WRTE)",
        "DENY_HOSTS = a\nALLOW_GROUP = b\nSEC_SITE_ENCRYPTION = c\nMY_SLOT_TYPE_1 = auto\nSLOT_TYPE_A = auto",
        "START2 = true",
        "POOL = x",
        "SITE_LIMITER = x > 5",
        "MY_SUBLIME = 5",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn evaluations_without_a_value_are_told() {
    assert_eq!(
        found("START2 = $EVAL(WORDS) $EVAL(1+2) $EVAL($(WORDS))\nWORDS = two words"),
        ["warning 1:10+39 `$EVAL(WORDS)` has no value: `two words` is not a valid expression: expected an \
             operator or the end of the expression, found `words`"]
    );
}

#[test]
fn circles_are_errors_with_all_their_places() {
    assert_eq!(
        found("A = $(B)\nB = x $(A)"),
        [
            "error 1:5+4 `A` cannot be expanded: `A` refers to itself: A → B → A [`B` is set at c:2:1, `A` is set at c:1:1]",
            "error 2:5+6 `B` cannot be expanded: `B` refers to itself: B → A → B [`A` is set at c:1:1, `B` is set at c:2:1]",
        ]
    );
    assert_eq!(found("A = $(B)\nB = $(A)\nC = $(A)").len(), 2);
    assert_eq!(found("A = $(B)\nB = $(A)\nSTART = $(A)").len(), 3);
}

#[test]
fn numbers_that_are_read_by_their_beginning_are_told() {
    assert_eq!(
        found("DEFAULT_PRIO_FACTOR = 10 * 2"),
        ["warning 1:23+6 `DEFAULT_PRIO_FACTOR` is `10 * 2`: read as 10, because only plain numbers are supported"]
    );
}

/// The reference reads a limit when a job asks for it, as a number or a constant expression, and ends if it is
/// neither.
#[test]
fn limits_that_are_no_numbers_are_told() {
    assert_eq!(
        found("XSW_LIMIT = bad\nNEGOTIATOR.YSW_LIMIT = bad"),
        [
            "warning 1:13+3 `XSW_LIMIT` is `bad`: expected a number [a job that requests `xsw` stops the negotiator]",
            "warning 2:24+3 `NEGOTIATOR.YSW_LIMIT` is `bad`: expected a number [a job that requests `ysw` stops the negotiator]",
        ]
    );
    assert_eq!(found("XSW_LIMIT = 1 + 1\nCONCURRENCY_LIMIT_DEFAULT_x = 2 * 2.5"), [""; 0]);
    // A macro that is used as one.
    assert_eq!(found("DISK_LIMIT = TARGET.Disk > 5\nPREEMPTION_REQUIREMENTS = $(DISK_LIMIT)"), [""; 0]);
    for name in ["CONCURRENCY_LIMIT_DEFAULT", "CONCURRENCY_LIMIT_DEFAULT_x"] {
        let reported = found(&format!("{name} = y"));
        assert!(
            reported[0].starts_with(&format!("error 1:{}+1 `{name}` is `y`: expected a number", name.len() + 4)),
            "{reported:?}"
        );
    }
}

#[test]
fn a_configuration_of_bombs_is_given_up() {
    let mut text = String::new();
    for at in 0..100 {
        text.push_str(&format!("A{at}_0 = {}\n", "x".repeat(1000)));
        for level in 0..20 {
            text.push_str(&format!("A{at}_{} = $(A{at}_{level})$(A{at}_{level})\n", level + 1));
        }
    }
    let all = found(&text);
    assert!(all.len() < 1000);
    assert!(all.iter().any(|line| line.contains("is not checked")), "{:?}", all.last());
    assert!(all.iter().any(|line| line.contains("longer than 4194304 bytes")));
}

#[test]
fn the_texts_of_templates_are_no_mistakes() {
    for template in crate::config::template::all("STARTD") {
        let names = ["", "(A)", "(STARTD_CRON, A, /usr/libexec/a)", "(STARTD_CRON, A, 5m, /usr/libexec/a, b)"];
        let read = |arguments: &&str| {
            let text = format!("use {} : {}{arguments}\n", template.category, template.name);
            Some((Config::parse("f", text.as_bytes()).ok()?, text))
        };
        let all: Vec<_> = names.iter().filter_map(read).collect();
        assert!(!all.is_empty(), "{template:?}");
        for (config, text) in all {
            let found = crate::config::check::check(&config);
            assert!(found.iter().all(|one| one.code == "bad-value"), "{text}{found:?}");
        }
    }
}
