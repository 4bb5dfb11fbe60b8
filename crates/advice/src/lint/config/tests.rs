//! Tests of [`super`]: findings in configurations, with their places.
use super::*;
use classmate::internal::diagnostic::Severity;
use classmate_config::internal::config::table::entries;

/// Code, line and column of what is found.
fn found(text: &str) -> Vec<String> {
    let config = Config::parse("c", text.as_bytes()).unwrap();
    lint(&config)
        .iter()
        .map(|alarm| {
            let place = alarm.range().0;
            format!("{} {}:{}", alarm.code, place.line, place.column)
        })
        .collect()
}

#[test]
fn clauses_are_found_where_they_stand() {
    assert_eq!(found("\nPREEMPTION_REQUIREMENTS = Memory > 1000 && Memory < 500"), ["contradiction 2:44"]);
    assert_eq!(found("START = $(X)\nX = Cpus > 1 && Cpus > 1"), ["duplicate-clause 1:9"]);
    assert_eq!(found("STARTD.START = TARGET.GlobalJobId != \"\""), ["per-job-attribute 1:16"]);
    assert_eq!(found("GROUP_SORT_EXPR = TARGET.Cpus + JobPrio"), ["unseen-attribute 1:19", "unseen-attribute 1:33"]);
}

#[test]
fn members_of_lists_are_compared_with_their_definitions() {
    for (text, places) in [
        ("SUBMIT_REQUIREMENT_NAMES = A\nSUBMIT_REQUIREMENT_A = true\nSUBMIT_REQUIREMENT_B = true", vec!["3:1"]),
        ("SYSTEM_PERIODIC_HOLD_NAMES = Memory\nSYSTEM_PERIODIC_HOLD_Memry = false", vec!["1:1", "2:1"]),
        ("JOB_ROUTER_ROUTE_NAMES = a\nJOB_ROUTER_ROUTE_a = SET X 1\nJOB_ROUTER_ROUTE_b = SET X 1", vec!["3:1"]),
    ] {
        let expected: Vec<String> = places.iter().map(|place| format!("conflicting-knobs {place}")).collect();
        assert_eq!(found(text), expected, "{text}");
    }
    for text in [
        "SUBMIT_REQUIREMENT_NAMES = A\nSUBMIT_REQUIREMENT_A = true\nSUBMIT_REQUIREMENT_A_REASON = \"x\"\n\
         SUBMIT_REQUIREMENT_A_IS_WARNING = true",
        "SYSTEM_PERIODIC_REMOVE = false\nSYSTEM_PERIODIC_REMOVE_REASON = \"x\"\nSYSTEM_PERIODIC_REMOVE_NAMES = A",
        // The list may be in another file, and the definition too.
        "SYSTEM_PERIODIC_HOLD_Memory = false",
        "SUBMIT_REQUIREMENT_NAMES = $(SUBMIT_REQUIREMENT_NAMES) A, B",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn transforms_that_are_never_applied_are_told() {
    assert_eq!(
        found("JOB_TRANSFORM_NAMES = A, Memory\nJOB_TRANSFORM_A = SET X 1\nJOB_TRANSFORM_Memry = SET X 2"),
        ["conflicting-knobs 1:1", "conflicting-knobs 3:1"]
    );
    for text in [
        // Another file may define it.
        "JOB_TRANSFORM_NAMES = A, Memory\nJOB_TRANSFORM_A = SET X 1\nLOCAL_CONFIG_DIR = /etc/condor/config.d",
        "JOB_TRANSFORM_C = SET X 2",
        "JOB_TRANSFORM_NAMES = a\nSCHEDD.JOB_TRANSFORM_A = SET X 1",
        "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = $(JOB_TRANSFORM_B)\nJOB_TRANSFORM_B = SET X 1",
        "JOB_TRANSFORM_NAMES = $ENV(NAMES)\nJOB_TRANSFORM_A = SET X 1",
        "use POLICY : OnlyRegisteredCheckpointDestinations",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    // The old form of an ad is not read: "macro appears to be in ClassAd format … Ignoring."
    assert_eq!(found("JOB_TRANSFORM_A = [ set_X = 1; ]"), ["obsolete-knob 1:1"]);
    let router = "JOB_ROUTER_ENTRIES = [ a = 1; ]\nJOB_ROUTER_ROUTE_B = [ a = 1 ]\nJOB_ROUTER_ENTRIES_REFRESH = 60";
    assert_eq!(found(router), ["obsolete-knob 1:1", "obsolete-knob 2:1"]);
}

#[test]
fn places_are_those_of_the_file_through_macros_and_continued_lines() {
    let spans = |text: &str| {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        let shown = |alarm: &Diagnostic| {
            let (start, end) = alarm.range();
            format!("{} {}:{}-{}:{}", alarm.code, start.line, start.column, end.line, end.column)
        };
        lint(&config).iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(spans("BASE = Cpus > 1 && Cpus > 1\nSTART=$(BASE)\n"), ["duplicate-clause 2:7-2:14"]);
    assert_eq!(spans("B = a\nSTART = $(B) > 1 && c && $(B) > 1"), ["duplicate-clause 2:26-2:34"]);
    assert_eq!(spans("START = a > 1 && \\\n   a > 1\n"), ["duplicate-clause 2:4-2:9"]);
    assert_eq!(spans("RANK = a + \\\n # no \\\n  b + * 2\n"), ["syntax 3:7-3:8"]);
    assert_eq!(spans("START @=end\n  a > 1\n\n  && a > 1\n@end\n"), ["duplicate-clause 4:6-4:11"]);
    assert_eq!(spans("START = a > 1\nSTART = $(START) && \\\n a > 1"), ["duplicate-clause 2:9-2:20"]);
    assert_eq!(spans("START = a >\nSTART += 1 2"), ["syntax 2:10-2:13"]);
    let config = Config::parse("c", b"B = a > 1\nSTART = x && \\\n $(B) && $(B)").unwrap();
    let alarm = &lint(&config)[0];
    assert_eq!(alarm.help.as_deref(), Some("remove one of them; after expansion: `a > 1`; `B` is defined on line 1"));
    assert_eq!(alarm.text(), b"START = x && \\\n $(B) && $(B)");
}

#[test]
fn what_is_continued_is_mended_in_the_file() {
    let text = "START = a > 1 && \\\n  b > 1 && \\\n  a > 1 && c > 1\n";
    let config = Config::parse("c", text.as_bytes()).unwrap();
    let alarms = lint(&config);
    let fixes: Vec<&Fix> = alarms.iter().filter_map(|alarm| alarm.fix.as_deref()).collect();
    assert_eq!(
        String::from_utf8(super::super::fixed(text.as_bytes(), &fixes)).unwrap(),
        "START = a > 1 && \\\n  b > 1 && c > 1\n"
    );
    // A comment between the lines gets no diagnostic and is not lost.
    for text in [
        "START = a > 1 || \\\n  # why b \\\n  a > 1 || \\\n  b\n",
        "START = a > 1 || b || \\\n# why\\\n  a > 1\n",
        "START = a > 1 || \\\n\t#\\\n  a > 0\n",
        "START @=end\n  a > 1\n  # why\n  && a > 1\n@end\n",
        "START = a == \\\n # why \\\n undefined\n",
    ] {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        let alarms = lint(&config);
        assert_eq!(alarms.len(), 1, "{text}");
        let fixes: Vec<&Fix> = alarms.iter().filter_map(|alarm| alarm.fix.as_deref()).collect();
        let edited = String::from_utf8(super::super::fixed(text.as_bytes(), &fixes)).unwrap();
        assert_eq!(edited.matches('#').count(), 1, "{edited}");
    }
    // Behind a comment nothing is mended: the line may be meant to be one of its own.
    let config = Config::parse("c", b"START = A > 1 && \\\n# c1 \\\nRANK=3\n").unwrap();
    let alarms = lint(&config);
    let slip = alarms.iter().find(|alarm| alarm.code == "assignment").unwrap();
    assert_eq!(slip.fix, None);
    let help = slip.help.as_deref().unwrap();
    assert!(help.starts_with("the comment on line 2 is inside a continued value; "));
    // Bits may be meant.
    let config = Config::parse("c", b"SUSPEND = (TARGET.flags ^ 2) == 0").unwrap();
    assert!(lint(&config).iter().all(|alarm| alarm.code == "bitwise-operator" && alarm.fix.is_none()));
}

/// The linter reports what `classmate versions` does, and no more. Expected: the text of `docs/reference/versions.md` 2.1, 2.5, 2.9.
#[test]
fn versions_differ_where_the_comparison_of_a_configuration_says_so() {
    let dependent = |text: &str| -> Vec<String> {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        let alarms = lint(&config).into_iter().filter(|alarm| alarm.code == "version-dependent");
        alarms.map(|alarm| format!("{} {}", alarm.subject().unwrap_or_default(), alarm.line())).collect()
    };
    for (text, expected) in [
        ("CATALOG_SPACE = ifthenelse(MappingMethod ?: \"\" != \"Copy\", 1, 0)", vec!["CATALOG_SPACE 1"]),
        ("MY_LIMIT = 10 * 2G", vec!["MY_LIMIT 1"]),
        ("A = a ?: 1 + 2\nMY_SUM = $(A) * $ENV(N)", vec!["A 1", "MY_SUM 2"]),
        ("JOB_ROUTER_ENTRIES = [ set_A = 1; Requirements = x ?: 1 < $$(n); ]", vec!["JOB_ROUTER_ENTRIES 1"]),
        ("START = START ?: true", vec!["START 1"]),
        // It is in no ad.
        ("PREEMPTION_REQUIREMENTS = PREEMPTION_REQUIREMENTS ?: true", vec![]),
        ("MY_SIZE = 10K\nMAX_X_LOG = 10M\nX = /usr/2g/x -m 2G\nY = a:b ?: c", vec![]),
        ("EXTRA_ARGS = \"-m 2G\" ?: 3K", vec!["EXTRA_ARGS 1"]),
    ] {
        assert_eq!(dependent(text), expected, "{text}");
    }
    // What is reported already is not reported again.
    let alarms = lint(&Config::parse("c", b"UPDATE_INTERVAL = 1K").unwrap());
    let help = alarms[0].help.as_deref().unwrap_or_default();
    assert_eq!((alarms.len(), alarms[0].code), (1, "bad-value"));
    assert!(help.ends_with("23.0: `1K`; 25.14: refused (size-suffix)"), "{help}");
}

#[test]
fn a_switch_that_is_kept_in_a_macro_is_no_mistake() {
    for text in [
        "USE_PREEMPTION = False\nPREEMPTION_REQUIREMENTS = $(USE_PREEMPTION) && (RemoteUserPrio > 5)",
        "WANTED = true\nSUSPEND = $(WANTED) || Activity == \"Idle\"",
        "START = ($(MAX_JOBS:10) > 0) && TARGET.RequestCpus > 1",
        "MY_VAR = 1\nPREEMPT = ($(MY_VAR) == 1)",
        "OFF = 1 > 2\nSTART = $(OFF) && TARGET.RequestCpus > 1",
        "SWITCH = undefined\nSTART = $(SWITCH)",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    // What does not hang on the macro is certain whatever it holds.
    assert_eq!(found("ON = true\nSTART = ($(ON)) && 1 > 2"), ["always-false 2:20"]);
    assert_eq!(found("LIMIT = 3\nSTART = a > $(LIMIT) && a < 2"), ["contradiction 2:25"]);
    assert_eq!(found("START = false && a > 5"), ["constant-clause 1:9"]);
}

#[test]
fn policies_outside_the_negotiator_are_parsed() {
    for (text, place) in [
        ("SUBMIT_REQUIREMENT_A = x >", "1:27"),
        ("SUBMIT_REQUIREMENT_A_REASON = strcat(\"a\"", "1:41"),
        ("SYSTEM_PERIODIC_HOLD_REASON = strcat(\"a\"", "1:41"),
        ("SYSTEM_PERIODIC_REMOVE_SUBCODE = 1 2", "1:36"),
        ("APPEND_REQUIREMENTS = x >", "1:26"),
        ("DEFRAG_RANK = x +", "1:18"),
        ("MODIFY_REQUEST_EXPR_REQUESTCPUS = quantize(RequestCpus, {1)", "1:59"),
        ("STARTD_ATTRS = Site, Other\nSite = (x", "2:10"),
        ("SUBMIT_ATTRS = Site\nSite = a b", "2:10"),
        ("JOB_TRANSFORM_x @=end\n  NAME x\n  REQUIREMENTS x >\n@end", "3:19"),
    ] {
        assert_eq!(found(text), [format!("syntax {place}")], "{text}");
    }
    assert_eq!(found("STARTD_ATTRS = Site\nSite = \"x\"\nOther = a b"), Vec::<String>::new());
}

#[test]
fn transforms_of_jobs_are_looked_at_line_by_line() {
    let text = "JOB_TRANSFORM_x @=end\n  NAME x\n  # SET Bad 1 2\n  REQUIREMENTS TARGET.MemoryX > 5 && Cpus > 1 && Cpus > 1\n\n\
                \x20 SET Requirements TARGET.OpSys == LINUX\n  EVALSET A TARGET.Memory * 2\n  SET B 1 +\n  DEFAULT C isUndefind(D)\n\
                \x20 SETT E 1\n  SET F $(MY.G) > 1 && H == 2G\n  SET PeriodicHold $(JobStatus != 3)\n  SET I $(j) $(k)\n@end\n";
    assert_eq!(
        found(text),
        [
            "unseen-attribute 4:16",
            "duplicate-clause 4:50",
            "unquoted-word 6:36",
            "unseen-attribute 7:13",
            "syntax 8:12",
            "unknown-function 9:13",
            "syntax 10:3",
            "leftover-macro 12:20",
        ]
    );
    assert_eq!(
        found("JOB_ROUTER_ROUTE_a @=jr\n  SET B 1 +\n  MaxJobs = 5\n  UNIVERSE vanilla\n@jr\n"),
        ["syntax 2:12"]
    );
    // The list is not a transform.
    assert_eq!(found("JOB_TRANSFORM_NAMES = SET, B"), Vec::<String>::new());
    let text = "JOB_TRANSFORM_a @=e\n  if defined MY.B\n    SET B $(C)\n  endif\n  DELETE /^X/\n@e";
    assert_eq!(found(text), Vec::<String>::new(), "{text}");
}

#[test]
fn periodic_policies_see_the_job_alone() {
    assert_eq!(found("SYSTEM_PERIODIC_REMOVE = TARGET.Memory > 5"), ["unseen-attribute 1:26"]);
    assert_eq!(found("SYSTEM_PERIODIC_HOLD_Big = TARGET.Memory > 5"), ["unseen-attribute 1:28"]);
    // The manual: the ad of the schedd is `MY`, that of the job `TARGET`.
    assert_eq!(found("SUBMIT_REQUIREMENT_A = TARGET.RequestMemory > 5000"), Vec::<String>::new());
}

#[test]
fn what_only_a_machine_knows_gives_no_alarm() {
    for text in [
        "START = $(DETECTED_CPUS) > 4 && TARGET.RequestCpus < $(DETECTED_CORES)",
        "SUSPEND = MY.Machine == \"$(FULL_HOSTNAME)\" || \"$(HOSTNAME)\" == \"x\"",
        "PREEMPT = \"$ENV(SITE)\" == \"A\"",
        "CONTINUE = $(DETECTED_MEMORY) > 100",
        "RANK = \"$(ARCH)\" == \"X86_64\" && \"$(OPSYS)\" == TARGET.WantOpSys",
        "WANT_VACATE = $INT(DETECTED_CPUS) > 3",
        "START = a > 5 && $ENV(MORE) && a > 1",
        "START = a > 5 $ENV(MORE)",
        "GROUP_SORT_EXPR = $(DETECTED_CPUS) * GroupQuota",
        "START = $(DETECTED_CPUS) != 4 && !$(DETECTED_CORES)",
        "START = $RANDOM_INTEGER(0, 9) < 5",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    // The rest is looked at, and what the file itself says is known.
    assert_eq!(found("START = $(DETECTED_CPUS) > 4 && a > 5 && a < 3"), ["contradiction 1:42"]);
    assert_eq!(found("ARCH = X86_64\nSTART = MY.Arch == \"$(ARCH)\" && MY.Arch == \"INTEL\""), ["contradiction 2:33"]);
    // But a constant in a macro may be set otherwise.
    assert_eq!(found("ARCH = X86_64\nSTART = TARGET.x > 1 && \"$(ARCH)\" == \"INTEL\""), Vec::<String>::new());
    let config = Config::parse("c", b"START = $(DETECTED_CPUS) > 4 && $(DETECTED_CPUS) > 4").unwrap();
    assert_eq!(lint(&config)[0].message, "`$(DETECTED_CPUS) > 4` is repeated");
}

#[test]
fn macros_that_nothing_defines_are_named_where_they_stand() {
    assert_eq!(found("START = $(UNDEFD) && TARGET.x > 1"), ["undefined-macro 1:9"]);
    assert_eq!(found("SUSPEND = TARGET.x > $(LIMIT)"), ["undefined-macro 1:22"]);
    assert_eq!(found("SUSPEND = $(A) && y\nA = x > $(LIMIT)"), ["undefined-macro 2:9"]);
    assert_eq!(found("SUSPEND = TARGET.x > $(LIMIT:3) $(EXTRA)"), Vec::<String>::new());
    // Once for each macro; files that are a part of a configuration may leave it to others.
    let text = b"START = $(A) && x > 1\nSUSPEND = $(A) == 1\nPREEMPT = x > $(a)\nCONTINUE = $(A) < 2";
    for (name, severity) in [("90-site.conf", Severity::Warning), ("etc/condor_config", Severity::Error)] {
        let alarms = lint(&Config::parse(name, text).unwrap());
        assert_eq!(alarms.len(), 1);
        assert_eq!(alarms[0].severity, severity, "{name}");
        let help = alarms[0].help.as_deref().unwrap();
        assert!(help.starts_with("without it, `START` and 3 other variables are not valid expressions; "), "{help}");
    }
}

#[test]
fn helper_macros_and_sums_of_shares() {
    let helper = "GROUP_NAMES = a, b\nGROUP_QUOTA_BASE = 5\nGROUP_QUOTA_a = $(GROUP_QUOTA_BASE)\n\
                  GROUP_QUOTA_b = $INT(GROUP_QUOTA_BASE)";
    assert_eq!(found(helper), Vec::<String>::new());
    let shares = "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.75\nGROUP_QUOTA_DYNAMIC_b = 0.5";
    assert_eq!(found(shares), ["group-quota 3:1"]);
    assert_eq!(found("GROUP_NAMES = chem\nGROUP_QUOTA_chem = 1\nGROUP_QUOTA_DYNAMICchem = 0.5"), ["unknown-knob 3:1"]);
    let config = Config::parse("c", b"MEM_LIMIT = 10x").unwrap();
    assert_eq!(lint(&config)[0].severity, classmate::internal::diagnostic::Severity::Warning);
}

#[test]
fn what_slots_get_is_looked_at_as_they_look_at_jobs() {
    let per_job = |name: &str| format!("STARTD_ATTRS = Foo\nFoo = TARGET.{name} =!= LastOne");
    for name in ["GlobalJobId", "ClusterId", "ProcId"] {
        assert_eq!(found(&per_job(name)), ["per-job-attribute 2:7"], "{name}");
    }
    assert_eq!(found("STARTD.STARTD_ATTRS = Foo\nFoo = TARGET.ProcId > 5"), ["per-job-attribute 2:7"]);
    assert_eq!(found("startd.startd_attrs = Foo\nFoo = TARGET.ProcId > 5"), ["per-job-attribute 2:7"]);
    assert_eq!(found("SCHEDD.SCHEDD_ATTRS = Foo\nFoo = TARGET.ProcId > 5"), Vec::<String>::new());
    assert_eq!(found("SCHEDD.SCHEDD_ATTRS = Foo\nFoo = a b"), ["syntax 2:9"]);
    let of_older_list = ["obsolete-knob 1:1", "per-job-attribute 2:7"];
    assert_eq!(found("STARTD_EXPRS = Foo\nFoo = GlobalJobId =!= \"x\""), of_older_list);
    assert_eq!(found("SLOT_TYPE_1_STARTD_ATTRS = Foo\nFoo = TARGET.ProcId > 5"), ["per-job-attribute 2:7"]);
    // Not what other ads get, nor what the slot has itself.
    assert_eq!(found("SCHEDD_ATTRS = Foo\nFoo = TARGET.ProcId > 5"), Vec::<String>::new());
    assert_eq!(found("STARTD_ATTRS = Foo, Env\nEnv = \"a\"\nFoo = Env == \"b\""), Vec::<String>::new());
}

#[test]
fn the_weight_of_a_slot_sees_no_job() {
    assert_eq!(found("SLOT_WEIGHT = TARGET.RequestCpus"), ["unseen-attribute 1:15"]);
    assert_eq!(found("SLOT_WEIGHT = Owner"), ["unseen-attribute 1:15"]);
    assert_eq!(found("SLOT_WEIGHT = Cpus + RequestMemory / 1024"), ["unseen-attribute 1:22"]);
    for text in [
        "SLOT_WEIGHT = Cpus",
        "SLOT_WEIGHT = ifThenElse(Owner =?= \"x\", 1, Cpus)\nSTARTD_JOB_ATTRS = Owner",
        "SLOT_WEIGHT = MY.Cpus + Weight\nSTARTD_ATTRS = Weight\nWeight = 5",
        // Of the access point: it asks the job.
        "SCHEDD_SLOT_WEIGHT = RequestCpus",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn words_beside_attributes_that_are_texts_are_texts() {
    for (text, place) in [
        ("START = Owner == alice", "1:18"),
        ("START = Owner == lastmatchname", "1:18"),
        ("START = TARGET.Owner =!= undefined && TARGET.Owner == alice", "1:55"),
        ("START = TARGET.Owner =!= alice", "1:26"),
        ("START = MY.Machine == node01", "1:23"),
        ("START = node01.example.org == MY.Machine", "1:9"),
        ("START = TARGET.AccountingGroup == physics", "1:35"),
        ("START = TARGET.AcctGroup =?= cms && TARGET.WantX == many", "1:30"),
        ("RANK = (Owner == alice) * 10", "1:18"),
        ("WHO = alice\nSTART = TARGET.Owner == $(WHO)", "2:25"),
    ] {
        assert_eq!(found(text), [format!("unquoted-word {place}")], "{text}");
    }
    for text in [
        "START = Owner == \"alice\"",
        "START = Owner == RemoteOwner",
        "START = TARGET.Owner == MY.Alice && MY.Machine == TARGET.LastHost.Name",
        "START = Owner == Alice\nSTARTD_ATTRS = Alice\nAlice = \"alice\"",
        "START = Owner == Alice\nAlice = \"alice\"",
        "START = Owner == SiteOwner\nSTARTD_CRON_JOBLIST = site",
        // Attributes that a job or a slot may have, also unknown ones.
        "START = TARGET.Owner == NotifyUser || TARGET.User == DAGManOwner || Owner == LocalOwner",
        "START = Machine == LastMatchName0 && Machine == MachineAttrName1",
        "START = TARGET.Owner == notifyuser || MY.Machine == lastmatchname12 || Name == machineattrname0",
        "START = TARGET.Owner == PoolBoss",
        "START = boss =!= undefined && TARGET.Owner == boss",
        "START = TARGET.Owner == boss && !isUndefined(boss)",
        "START = TARGET.Owner == (boss ?: \"eve\") || TARGET.Owner == boss",
        "START = Owner == Boss\nSTARTD_JOB_ATTRS = Boss",
        "START = Owner == boss\nJOB_TRANSFORM_a @=end\n  SET Boss \"eve\"\n@end",
        "START = TARGET.Site == mit",
        "START = TARGET.Owner == $(DETECTED_CPUS)",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_comment_that_ends_a_value_is_an_error() {
    let text = "DAEMON_LIST = MASTER, \\\n  # SCHEDD,\nNEGOTIATOR_INTERVAL = 60";
    assert_eq!(found(text), ["comment-in-value 2:3"]);
    let alarms = lint(&Config::parse("c", text.as_bytes()).unwrap());
    assert_eq!(alarms[0].severity, Severity::Error);
    assert_eq!(found("START = TARGET.x > 1 && \\\n# y\nRANK = 0"), ["comment-in-value 2:1"]);
    assert_eq!(found("START = TARGET.x > 1 && \\\n# y > 3 \\\n  TARGET.z > 2"), Vec::<String>::new());
}

#[test]
fn one_word_has_one_message() {
    for word in ["null", "none", "NULL"] {
        assert_eq!(found(&format!("START = TARGET.Owner == {word}")), ["unquoted-word 1:25"], "{word}");
    }
    // All slots have it, or all of the pool.
    assert_eq!(found("START = TARGET.x > 1 && MY.TotalCpus != 3 && LoadAvg != 1"), Vec::<String>::new());
}

#[test]
fn one_bad_value_leaves_the_other_quotas_to_be_told() {
    let text = "GROUP_NAMES = group_a, group_b, group_a.sub\nGROUP_QUOTA_group_a = 10\n\
                GROUP_QUOTA_group_a.sub = 20\nGROUP_QUOTA_DYNAMIC_group_b = 0.5\n\
                NEGOTIATOR_CONSIDER_PREEMPTION = maybe";
    assert_eq!(found(text), ["group-quota 1:1", "bad-value 5:34"]);
}

#[test]
fn parts_of_one_macro_are_told_once() {
    let twice = "WANT_VACATE = $(FOO) && $(FOO)\nFOO = TARGET.A > 3 && TARGET.A > 3";
    assert_eq!(found(twice), ["duplicate-clause 1:15", "duplicate-clause 1:25"]);
}

#[test]
fn constants_of_defaults_templates_and_earlier_values_are_switches() {
    for text in [
        "use POLICY : Preempt_If_Memory_Exceeded",
        "use POLICY : Preempt_If_Cpus_Exceeded",
        "use POLICY : Hold_If_Memory_Exceeded",
        "use POLICY : Hold_If_Disk_Exceeded",
        "SUSPEND = ($(SUSPEND)) && Owner != \"coltrane\"",
        "START = ($(START)) || Owner == \"coltrane\"",
        "WANT_SUSPEND = ($(WANT_SUSPEND)) && Owner != \"coltrane\"",
        "START = false\nSTART = $(START) && Owner != \"coltrane\"",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    // The text beside the earlier value is in the file.
    assert_eq!(found("START = ($(START)) && false"), ["constant-clause 1:9"]);
    assert_eq!(found("START = a > 1 && b > 1 && a > 1\nSTART = $(START) && a > 1"), ["duplicate-clause 2:9"]);
}

#[test]
fn knobs_that_contradict_each_other_are_told() {
    assert_eq!(found("NEGOTIATOR_INTERVAL = 60\nNEGOTIATOR_INTERVAL = 30"), ["redefined-knob 1:1"]);
    assert_eq!(
        found("NEGOTIATOR_INTERVAL = 60\nNEGOTIATOR_INTERVAL = $(NEGOTIATOR_INTERVAL) * 2"),
        Vec::<String>::new()
    );
    assert_eq!(
        found("NEGOTIATOR_CONSIDER_PREEMPTION = false\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > 5"),
        ["conflicting-knobs 2:1"]
    );
    let quotas = "GROUP_NAMES = a\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_a = 0.5";
    assert_eq!(found(quotas), ["unused-group-setting 3:1"]);
}

#[test]
fn a_macro_that_holds_a_condition_is_told() {
    assert_eq!(found("SYSTEM_PERIODIC_HOLD = $(JobStatus != 3)"), ["leftover-macro 1:24"]);
}

#[test]
fn defaults_in_a_listing_of_all_variables_are_left_alone() {
    let listing: String = entries().map(|(name, text)| format!("{name} = {text}\n")).collect();
    assert_eq!(found(&listing), [""; 0]);
    // A variable with another value is not.
    let changed = listing.replace("\nNEGOTIATOR_INTERVAL = 60\n", "\nNEGOTIATOR_INTERVAL = often\n");
    let line = 1 + changed.lines().position(|line| line.ends_with("= often")).unwrap();
    assert_eq!(found(&changed), [format!("bad-value {line}:23")]);
}

#[test]
fn a_word_of_older_versions_is_known_there() {
    // HTCondor 10.5 took it out of `vanilla_proc.cpp`.
    for (series, count) in [("10.0", 0), ("10.4", 0), ("10.5", 1), ("23.0", 1), ("25.14", 1)] {
        let config = Config::parse("c", b"CGROUP_MEMORY_LIMIT_POLICY = soft").unwrap();
        let found = lint(&config.read_as(series.parse().unwrap()));
        assert_eq!(found.len(), count, "{series}");
        assert!(found.iter().all(|one| (one.severity, one.code) == (Severity::Error, "bad-value")));
    }
}

#[test]
fn values_that_are_read_as_something_else_are_warnings() {
    let severity = |text: &str| {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        lint(&config).iter().find(|one| one.code == "bad-value").map(|one| one.severity)
    };
    for text in [
        "MAX_SCHEDD_LOG = 100m",
        "SEC_DEFAULT_ENCRYPTION = ON",
        "HA_POLL_PERIOD = 5m",
        "JOB_RENICE_INCREMENT = 30",
        "SCHEDD_ENVIRONMENT = \"A=1;B=2\"",
    ] {
        assert_eq!(severity(text), Some(Severity::Warning), "{text}");
    }
    // HTCondor ignores these, or ends.
    for text in [
        "SEC_DEFAULT_AUTHENTICATION_METHODS = FS, GSI",
        "SCHEDD_DEBUG = D_FULDEBUG",
        "ALLOW_WRITE = https://a.example.org",
        "STARTD_CRON_A_MODE = often",
        "NEGOTIATOR_INTERVAL = often",
        "use FEATURE : StartdCronPeriodic(a, /usr/libexec/a, 5m)",
    ] {
        assert_eq!(severity(text), Some(Severity::Error), "{text}");
    }
}
