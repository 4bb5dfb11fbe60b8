//! Causes and suggestions that state a fact once, as a person would, and that can be made.

use super::*;

/// A partitionable slot with 16 cores and 64000 MB, of which its dynamic slots leave some.
fn divided(name: &str, cpus: u32, memory: u32) -> String {
    format!(
        "[Name = \"{name}\"; MyType = \"Machine\"; State = \"Unclaimed\"; PartitionableSlot = true; Cpus = {cpus}; Memory = {memory}; \
         TotalSlotCpus = 16; TotalSlotMemory = 64000; \
         Requirements = TARGET.RequestCpus <= Cpus && TARGET.RequestMemory <= Memory]"
    )
}

const LARGE: &str = "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; RequestCpus = 8; \
    RequestMemory = 16000; Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory]";

#[test]
fn slots_that_are_large_enough_but_in_use_are_the_cause() {
    let slots = [divided("a", 1, 2000), divided("b", 0, 64000)];
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    assert_eq!(
        causes(LARGE, &slots),
        [
            "2 of 2 slots are large enough for the job, but in use: 0 to 1 of 16 cores and 2000 to 64000 of 64000 MB of memory are free"
        ]
    );
    // What concerns them comes after them, of however many slots.
    let small = "[Name = \"n\"; MyType = \"Machine\"; Cpus = 16; Memory = 8000; Requirements = true]";
    let found = causes(LARGE, &[slots[0], small, small, small]);
    assert!(found[0].starts_with("1 of 4 slots is large enough for the job, but in use: 1 of 16 cores"), "{found:?}");
    assert!(found[1].starts_with("no slot satisfies `TARGET.Memory >="), "{found:?}");
    let small = small.replace("Cpus = 16", "Cpus = 1");
    let found = causes(LARGE, &[slots[0], &small, &small, &small]);
    assert!(found[0].starts_with("1 of 4 slots is large enough for the job, but in use"), "{found:?}");
    // 20 cores are more than the slots have in all.
    let found = causes(&LARGE.replace("RequestCpus = 8", "RequestCpus = 20"), &slots);
    assert!(found.iter().all(|cause| !cause.contains("large enough")), "{found:?}");
    let told = proposed(&LARGE.replace("8; ", "1; "), &[&divided("c", 0, 64000)]);
    assert_eq!(told, [""; 0], "no job runs without cores, and no policy makes some");
    let snapshot =
        Snapshot { slots: slots.iter().map(|slot| ad(slot)).collect(), jobs: vec![ad(LARGE)], ..Snapshot::default() };
    let outcome = negotiate(&snapshot).unwrap();
    let queue = prepared(&snapshot).queued();
    let survey = reasons::survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    assert_eq!(survey.causes[0].label, "slots that are large enough are in use");
}

#[test]
fn a_slot_without_free_cores_is_in_use() {
    let snapshot = Snapshot { slots: vec![ad(&divided("s", 0, 2000))], jobs: vec![ad(LARGE)], ..Snapshot::default() };
    let outcome = negotiate(&snapshot).unwrap();
    let found = classmate_advice::internal::explain::slot::explain(prepared(&snapshot), &outcome, "s").unwrap();
    let causes: Vec<&str> = found.causes.iter().map(|cause| cause.text.as_str()).collect();
    assert_eq!(
        causes,
        [
            "it is in use: its dynamic slots have all of its 16 cores",
            "it rejects all idle jobs because of `TARGET.RequestMemory <= Memory` (RequestMemory of the job is 16000 MB, Memory of the slot is 2000 MB)",
        ]
    );
}

/// The disk of 3 slots is too small: one says so itself, one with another subtrahend, and of the third the job does.
#[test]
fn one_comparison_in_several_forms_is_one_cause_of_all_its_slots() {
    let slot = |name: &str, disk: u32, condition: &str| {
        format!(
            "[Name = \"{name}\"; MyType = \"Machine\"; Version = {disk}; Disk = {disk}; Requirements = {condition}]"
        )
    };
    let slots = [
        slot("a", 10, "(TARGET.RequestDisk - (MY.Spare ?: 0)) <= MY.Disk"),
        slot("b", 20, "TARGET.RequestDisk <= MY.Disk"),
        slot("c", 5, "true"),
        slot("d", 90, "TARGET.Owner == \"x\""),
    ];
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let job = "[RequestDisk = 50; Owner = \"a\"; Requirements = TARGET.Version > 8 || TARGET.Disk >= RequestDisk]";
    let found = causes(job, &slots);
    assert!(
        found[0].starts_with("3 of 4 slots do not satisfy `TARGET.Disk >= RequestDisk` (Disk of slots is 5 to 20 KB, "),
        "{found:?}"
    );
    assert!(found[1..].iter().all(|cause| !cause.contains("Disk")), "{found:?}");
}

#[test]
fn alternatives_that_begin_and_end_with_the_same_attributes_are_two_facts() {
    // The second slot fails the second condition, but also that on the site, which alone keeps the first one away.
    let slot = |name: &str, memory: u32, disk: u32, site: &str| {
        format!(
            "[Name = \"{name}\"; Memory = {memory}; Disk = {disk}; Site = \"{site}\"; Arch = \"X\"; Requirements = true]"
        )
    };
    let slots = [slot("a", 10, 0, "b"), slot("b", 7, 0, "b"), slot("c", 2, 80, "a")];
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let job = "[Requirements = (TARGET.Arch == \"Z\" || TARGET.Memory > 6) && (TARGET.Memory > 8 || TARGET.Disk > 70 || \
               TARGET.Arch == \"Z\") && TARGET.Site == \"a\"]";
    let found = causes(job, &slots);
    let is_first =
        |text: &String| text.starts_with("in 1 of 3 slots neither") && text.contains("nor `TARGET.Memory > 6`");
    assert!(found.iter().any(is_first), "{found:?}");
    assert!(!found.iter().any(|text| text.contains("TARGET.Disk > 70")), "{found:?}");
}

#[test]
fn slots_require_only_their_own_amount_of_an_attribute() {
    let slot = |name: &str, start: &str| {
        format!("[Name = \"{name}\"; Memory = 5; Requirements = START; START = TARGET.RequestMemory <= {start}]")
    };
    let slots = [slot("a", "Memory"), slot("b", "Memory * 2")];
    let mut found = causes("[RequestMemory = 12; Requirements = true]", &[&slots[0], &slots[1]]);
    found.sort_unstable();
    let text = |of: &str| {
        format!(
            "1 of 2 slots rejects the job: `START` requires `TARGET.RequestMemory <= {of}` (RequestMemory of the job is 12 MB, \
             Memory of slots is 5 MB)"
        )
    };
    assert_eq!(found, [text("Memory * 2"), text("Memory")]);
    // Both slots have more memory than this job requests.
    let job = ad("[RequestMemory = 4; Requirements = TARGET.Memory - 3 >= RequestMemory]");
    let (_, found) = explained(&job, slots.iter().map(|slot| ad(slot)).collect());
    assert_eq!(found.causes[0].label, "no slot satisfies `TARGET.Memory - 3 >= RequestMemory`");
}

#[test]
fn an_attribute_that_slots_require_in_two_forms_is_one_cause() {
    let slot =
        |condition: &str| format!("[Name = \"s\"; MyType = \"Machine\"; Requirements = START; START = {condition}]");
    let slots =
        ["!isUndefined(TARGET.Project)", "isUndefined(TARGET.Project) != true", "TARGET.Project isnt undefined"];
    let slots = slots.map(slot);
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let found = causes("[Requirements = true]", &slots);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("3 of 3 slots reject the job: `START` requires"), "{found:?}");
    assert!(found[0].ends_with(", but the job does not define `Project`"), "{found:?}");
}

/// 2 slots have no cores, and 3 others too few.
#[test]
fn no_cores_are_too_few_cores() {
    let slot = |cpus: u32| {
        format!(
            "[Name = \"s\"; MyType = \"Machine\"; Cpus = {cpus}; Requirements = MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus]"
        )
    };
    let slots = [0, 0, 2, 2, 4].map(slot);
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let found = causes("[RequestCpus = 8; Requirements = true]", &slots);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("5 of 5 slots reject the job: `Requirements` requires `TARGET.RequestCpus"),
        "{found:?}"
    );
}

#[test]
fn what_an_attribute_of_the_job_refers_to_is_named_if_it_is_missing() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; Memory = 100; Requirements = true]";
    let job = "[RequestMemory = ImageSizeMB * 2; Requirements = TARGET.Memory >= RequestMemory]";
    assert_eq!(
        causes(job, &[slot]),
        [
            "no slot satisfies `TARGET.Memory >= RequestMemory`: RequestMemory of the job is `ImageSizeMB * 2`, and the job does not \
          define `ImageSizeMB`"
        ]
    );
}

#[test]
fn a_branch_that_is_false_leaves_it_to_its_condition() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; GPUs = 0; Requirements = true]";
    let found = causes("[Requirements = (TARGET.GPUs > 0) ? TARGET.Capability >= 9.0 : false]", &[slot]);
    assert!(found[0].starts_with("no slot satisfies `TARGET.GPUs > 0` (GPUs of slots is 0)"), "{found:?}");
}

/// Of 6 slots, 3 are at one site, 2 at another and 1 at a third.
#[test]
fn a_selection_that_no_slot_meets_can_be_left_out() {
    let slots = ["SU-ITS", "SU-ITS", "SU-ITS", "UTC", "UTC", "CHTC"]
        .map(|site| format!("[Name = \"s\"; MyType = \"Machine\"; Site = \"{site}\"; Requirements = true]"));
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let told = proposed("[Requirements = TARGET.Site == \"Fermilab\"]", &slots);
    assert_eq!(
        told[..2],
        [
            "in requirements, replace `TARGET.Site == \"Fermilab\"` with `TARGET.Site == \"SU-ITS\"`: 3 of 6 slots match",
            "in requirements, remove `TARGET.Site == \"Fermilab\"`: 6 of 6 slots match",
        ],
        "{told:?}"
    );
}

#[test]
fn another_number_in_a_name_is_another_thing() {
    let slot = "[Name = \"s\"; MyType = \"Machine\"; PORT_8443 = true; Requirements = true]";
    let found = causes("[Requirements = TARGET.PORT_443]", &[slot]);
    assert!(!found[0].contains("did you mean"), "{found:?}");
}

#[test]
fn a_condition_in_an_attribute_that_slots_name_is_changed_for() {
    let slot = "Requirements = START; START = ShortOK || LongOK; ShortOK = TARGET.Runtime < 100; LongOK = TARGET.Group is \"x\"";
    let told = suggestions("Runtime = 200; Requirements = true", slot);
    assert!(told.contains(&"+Runtime = 99: 1 of 1 slot matches".to_owned()), "{told:?}");
}

#[test]
fn the_type_of_an_attribute_is_known_where_slots_do_not_say_it() {
    let told = suggestions("Requirements = true", "Requirements = START; START = !isUndefined(TARGET.ProjectName)");
    assert_eq!(told[0], "+ProjectName = \"...\" (any string): 1 of 1 slot matches");
}

#[test]
fn commands_are_those_of_submit_files() {
    let told = suggestions("Requirements = true", "Requirements = START; START = TARGET.AcctGroup == \"phys\"");
    assert!(told.contains(&"accounting_group = phys: 1 of 1 slot matches".to_owned()), "{told:?}");
}

/// Slots that are closed on purpose are not opened.
#[test]
fn closed_slots_stay_closed() {
    let told = suggestions("Requirements = true", "Requirements = START; START = false");
    assert_eq!(told, [""; 0]);
}

/// The quota of 8 is in use by the other submitter, and 4 of the 6 slots that match are unclaimed: nothing but the quota keeps the
/// job from them.
#[test]
fn slots_in_use_are_no_cause_beside_unclaimed_ones() {
    let slot = |at: u32| {
        let state = match at {
            0 | 1 => "State = \"Claimed\"; RemoteUser = \"g.eve@x\"; AccountingGroup = \"g.eve@x\"",
            _ => "State = \"Unclaimed\"",
        };
        ad(&format!("[Name = \"s{at}\"; {state}; Cpus = 4; Memory = 100; SlotWeight = 4; Requirements = true]"))
    };
    let job = "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"ann@x\"; AccountingGroup = \"g.ann\"; \
               AcctGroup = \"g\"; AcctGroupUser = \"ann\"; RequestCpus = 1; Requirements = true]";
    let config = b"UID_DOMAIN = x\nGROUP_NAMES = g\nGROUP_QUOTA_g = 8\nGROUP_ACCEPT_SURPLUS = false\n\
                   PREEMPTION_REQUIREMENTS = false";
    let snapshot = Snapshot {
        slots: (0..6).map(slot).collect(),
        jobs: vec![ad(job)],
        config: Config::parse("config", config).unwrap(),
        ..Snapshot::default()
    };
    let found = explained_in_cycle(&snapshot, "1.0");
    assert_eq!(found.causes.len(), 1, "{:?}", found.causes);
    assert!(found.causes[0].text.starts_with("group g has reached its quota"), "{:?}", found.causes);
    let outcome = negotiate(&snapshot).unwrap();
    let slot = classmate_advice::internal::explain::slot::explain(prepared(&snapshot), &outcome, "s4").unwrap();
    assert!(
        slot.causes[0].text.starts_with("job 1.0 of g.ann@x matches, but group g has reached its quota"),
        "{:?}",
        slot.causes
    );
}

/// 2 jobs differ in their requests and in the number of slots that have enough.
#[test]
fn jobs_with_one_condition_have_one_cause() {
    let job = |cluster: u32, memory: u32| {
        ad(&format!(
            "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; RequestMemory = {memory}; \
             RequestCpus = 1; Requirements = TARGET.Memory >= RequestMemory]"
        ))
    };
    let slot = |memory: u32, start: &str| {
        ad(&format!(
            "[Name = \"s{memory}\"; MyType = \"Machine\"; State = \"Unclaimed\"; Memory = {memory}; Requirements = {start}]"
        ))
    };
    let snapshot = Snapshot {
        slots: vec![slot(10, "true"), slot(20, "true"), slot(30, "true"), slot(40, "false")],
        jobs: vec![job(1, 35), job(2, 38)],
        ..Snapshot::default()
    };
    let outcome = negotiate(&snapshot).unwrap();
    let queue = prepared(&snapshot).queued();
    let survey = reasons::survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
    let labels: Vec<(&str, usize)> = survey.causes.iter().map(|one| (one.label.as_str(), one.jobs)).collect();
    assert_eq!(labels, [("slots do not satisfy `TARGET.Memory >= RequestMemory`", 2)]);
}

/// Slots of three sites: one of A, two of B and four of C, one of which requires what a job has.
fn of_sites(policy: &str) -> Vec<String> {
    let slot = |at: usize, site: &str| {
        format!("[Name = \"s{at}\"; MyType = \"Machine\"; Site = \"{site}\"; Memory = 100; Requirements = {policy}]")
    };
    "ABBCCCC".chars().enumerate().map(|(at, site)| slot(at, &site.to_string())).collect()
}

#[test]
fn a_site_that_does_not_exist_is_left_out_rather_than_replaced() {
    let slots = of_sites("true");
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    // Four of seven slots are no small part, two of three are.
    let told = proposed("[Requirements = TARGET.Site == \"Fermilab\"]", &slots);
    assert_eq!(
        told[0],
        "in requirements, replace `TARGET.Site == \"Fermilab\"` with `TARGET.Site == \"C\"`: 4 of 7 slots match"
    );
    let few: Vec<&str> = slots[..3]
        .iter()
        .copied()
        .chain([
            "[Name = \"t\"; MyType = \"Machine\"; Site = \"D\"; Requirements = true]",
            "[Name = \"u\"; MyType = \"Machine\"; Site = \"E\"; Requirements = true]",
        ])
        .collect();
    let told = proposed("[Requirements = TARGET.Site == \"Fermilab\"]", &few);
    assert_eq!(told[0], "in requirements, remove `TARGET.Site == \"Fermilab\"`: 5 of 5 slots match");
}

/// The lists of the job contradict each other: to remove either of them is worth more than a longer one.
#[test]
fn a_list_that_is_removed_is_not_a_list_with_another_value() {
    let policy = "(TARGET.Wanted is undefined || stringListMember(Site, TARGET.Wanted)) && \
                  (TARGET.Unwanted is undefined || !stringListMember(Site, TARGET.Unwanted))";
    let slots = of_sites(policy);
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let told = proposed("[Wanted = \"C\"; Unwanted = \"C\"; Requirements = true]", &slots);
    assert_eq!(
        told[..3],
        [
            "remove +Unwanted: 4 of 7 slots match",
            "remove +Wanted: 3 of 7 slots match",
            "+Wanted = \"C,B\": 2 of 7 slots match"
        ]
    );
}

#[test]
fn an_account_is_changed_by_the_commands_of_submit_files() {
    let policy = |text: &str| format!("Requirements = START; START = TARGET.AccountingGroup == \"{text}\"");
    let told = suggestions("AccountingGroup = \"chem.ann\"; Requirements = true", &policy("phys.lep.ann"));
    assert!(told.contains(&"accounting_group = phys.lep: 1 of 1 slot matches".to_owned()), "{told:?}");
    let told = suggestions("Requirements = true", &policy("phys.bob"));
    let both = "accounting_group = phys and accounting_group_user = bob: 1 of 1 slot matches";
    assert!(told.contains(&both.to_owned()), "{told:?}");
    let told = suggestions("AccountingGroup = \"ann\"; Requirements = true", &policy("bob"));
    assert!(told.contains(&"accounting_group_user = bob: 1 of 1 slot matches".to_owned()), "{told:?}");
    let told = suggestions("AccountingGroup = \"phys.ann\"; Requirements = true", &policy("bob"));
    let both = "remove accounting_group and accounting_group_user = bob: 1 of 1 slot matches";
    assert!(told.contains(&both.to_owned()), "{told:?}");
    let told = suggestions("AccountingGroup = \"phys.bob\"; Requirements = true", &policy("bob"));
    assert!(told.contains(&"remove accounting_group: 1 of 1 slot matches".to_owned()), "{told:?}");
}

/// The memory of one slot is a small part of what is requested; with fewer cores all others match.
#[test]
fn a_small_part_of_a_request_is_no_small_change() {
    let slot = |at: usize, cores: u32, memory: u32| {
        format!("[Name = \"s{at}\"; MyType = \"Machine\"; Cpus = {cores}; Memory = {memory}; Requirements = true]")
    };
    let slots: Vec<String> = (0..30).map(|at| if at == 0 { slot(at, 8, 300) } else { slot(at, 1, 2500) }).collect();
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let job = "[RequestCpus = 8; RequestMemory = 60000; Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory]";
    assert_eq!(proposed(job, &slots)[0], "request_cpus = 1 and request_memory = 2500 MB: 29 of 30 slots match");
    // A tenth is a change that a job may live with.
    let job = job.replace("60000", "3000");
    assert_eq!(proposed(&job, &slots)[0], "request_memory = 300 MB: 1 of 30 slots matches");
}

/// Two GPUs of one slot are too old, and another slot has none: the property of GPUs is the fact, not the names in the condition.
#[test]
fn the_property_that_gpus_lack_is_named() {
    let gpus = "[Name = \"g\"; MyType = \"Machine\"; AvailableGPUs = { A, B }; A = [ Capability = 8.6; Memory = 40 ]; \
        B = [ Capability = 7.5; Memory = 80 ]; Requirements = true]";
    let none = "[Name = \"n\"; MyType = \"Machine\"; Requirements = true]";
    let found = |rest: &str| {
        let job = "Requirements = countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs";
        causes(&format!("[{rest}; {job}]"), &[gpus, none])[0].clone()
    };
    assert_eq!(
        found("RequestGPUs = 1; RequireGPUs = Capability >= 12.0"),
        "no free GPU satisfies `Capability >= 12.0` (Capability of GPUs is 7.5 to 8.6); 1 of 2 slots does not have a free GPU"
    );
    assert_eq!(
        found("RequestGPUs = 1; GPUsMinMemory = 90; RequireGPUs = Capability >= 8.0 && Memory >= GPUsMinMemory"),
        "no free GPU satisfies `Memory >= GPUsMinMemory` (Memory of GPUs is 40 to 80, GPUsMinMemory of the job is 90); \
         1 of 2 slots does not have a free GPU"
    );
    assert_eq!(
        found("RequestGPUs = 2; RequireGPUs = Capability >= 8.0"),
        "no slot has 2 free GPUs that satisfy `Capability >= 8.0` (Capability of GPUs is 7.5 to 8.6); 1 of 2 slots does not have a free GPU"
    );
    // Each part is true for one of the GPUs.
    assert_eq!(
        found("RequestGPUs = 1; RequireGPUs = Capability >= 8.0 && Memory >= 80"),
        "no free GPU satisfies `Capability >= 8.0 && Memory >= 80` (Capability of GPUs is 7.5 to 8.6, Memory of GPUs is 40 to 80); \
         1 of 2 slots does not have a free GPU"
    );
}

/// A setting that leaves every slot out of the pool size makes every submitter limit 0.
#[test]
fn the_setting_that_makes_the_pool_small_is_named_and_removed() {
    let config = "UID_DOMAIN = x\nNEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Memory > 9000\n";
    let job = ad(
        "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; Owner = \"a\"; Requirements = true]",
    );
    let slots = vec![unclaimed("s", "true"), unclaimed("t", "true")];
    let config = Config::parse("c", config.as_bytes()).unwrap();
    let snapshot = Snapshot { config, slots, jobs: vec![job], ..Snapshot::default() };
    let found = explained_in_cycle(&snapshot, "1.0");
    assert!(
        found.causes[0].text.ends_with(
            ": NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT (`Memory > 9000`) leaves 2 of 2 slots out of the pool size"
        ),
        "{:?}",
        found.causes
    );
    let lines: Vec<&str> = found.settings.iter().flat_map(|one| &one.lines).map(String::as_str).collect();
    assert_eq!(lines, ["NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = True"]);
}

/// Jobs of one group, and six slots of weight 4.
fn of_group(config: &str, group: &str, jobs: usize) -> Snapshot {
    let slot = |at: usize| {
        ad(&format!(
            "[Name = \"s{at}\"; MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 4; SlotWeight = Cpus; Requirements = true]"
        ))
    };
    let job = |at: usize| {
        ad(&format!(
            "[ClusterId = 1; ProcId = {at}; JobStatus = 1; JobUniverse = 5; Owner = \"ann\"; User = \"ann@x\"; AcctGroup = \"{group}\"; \
             AcctGroupUser = \"ann\"; AccountingGroup = \"{group}.ann\"; RequestCpus = 1; Requirements = TARGET.Cpus > 0]"
        ))
    };
    Snapshot {
        config: Config::parse("c", format!("UID_DOMAIN = x\n{config}").as_bytes()).unwrap(),
        slots: (0..6).map(slot).collect(),
        jobs: (0..jobs).map(job).collect(),
        ..Snapshot::default()
    }
}

/// The third slot makes 12 of the 8 that the groups above have, while the group itself has 16.
#[test]
fn the_group_above_that_limits_a_nested_group_is_named_and_its_quota_raised() {
    let config = "GROUP_NAMES = a, a.b, a.b.c\nGROUP_QUOTA_a = 8\nGROUP_QUOTA_a.b = 8\nGROUP_QUOTA_a.b.c = 16\n";
    let found = explained_in_cycle(&of_group(config, "a.b.c", 6), "1.2");
    assert_eq!(
        found.causes[0].text,
        "group a.b.c cannot use more slots: quota 16, limit 8, in use 8, requested 6; its slots weigh more than the 6 requested and \
         allocated; group `a.b` above it does not accept surplus, and its subtree uses 8 of its quota of 8"
    );
    let lines: Vec<&str> = found.settings.iter().flat_map(|one| &one.lines).map(String::as_str).collect();
    assert_eq!(lines, ["GROUP_QUOTA_a.b = 12", "GROUP_QUOTA_a = 12"]);
}

/// Two slots of weight 4 are the 8 that eight jobs of one core request.
#[test]
fn a_quota_that_covers_the_requests_does_not_keep_jobs_idle() {
    let found = explained_in_cycle(&of_group("GROUP_NAMES = g\nGROUP_QUOTA_g = 8\n", "g", 8), "1.5");
    assert_eq!(
        found.causes[0].text,
        "group g has used its allocation: quota 8, allocated 8, in use 8, requested 8; its slots weigh more than their jobs request"
    );
}

#[test]
fn a_use_above_the_quota_counts_whole_partitionable_slots() {
    let mut snapshot = of_group("GROUP_NAMES = g\nGROUP_QUOTA_g = 4\n", "g", 8);
    let cause = |snapshot: &Snapshot| explained_in_cycle(snapshot, "1.7").causes[0].text.clone();
    let whole = "; during the cycle, a match counts the whole partitionable slot";
    // One slot of weight 4 is the quota.
    assert!(!cause(&snapshot).contains("whole"), "{}", cause(&snapshot));
    for slot in &mut snapshot.slots {
        slot.insert("Cpus", 16);
        slot.insert("PartitionableSlot", true);
    }
    let found = cause(&snapshot);
    assert!(
        found.starts_with("group g has used its allocation: quota 4, allocated 4, in use 16, requested 8; "),
        "{found}"
    );
    assert!(found.ends_with(whole), "{found}");
}

/// Slots, each with an attribute and a user if it is in use.
fn with_attribute(attribute: &str, slots: &[(&str, Option<&str>)]) -> Vec<ClassAd> {
    let slot = |(at, (value, user)): (usize, &(&str, Option<&str>))| {
        let state = match user {
            Some(user) => format!("State = \"Claimed\"; RemoteUser = \"{user}\"; RemoteOwner = \"{user}\""),
            None => "State = \"Unclaimed\"".to_owned(),
        };
        let name = if attribute == "Name" { String::new() } else { format!("Name = \"s{at}\"; ") };
        ad(&format!("[{name}{attribute} = \"{value}\"; MyType = \"Machine\"; {state}; Requirements = true]"))
    };
    slots.iter().enumerate().map(slot).collect()
}

/// The changes of each suggestion, with the slots that are won and lost.
fn changes_in_cycle(slots: Vec<ClassAd>, requirements: &str) -> Vec<(Changed, String, usize, usize)> {
    let job = ad(&format!(
        "[ClusterId = 1; ProcId = 0; JobStatus = 1; JobUniverse = 5; Owner = \"a\"; User = \"a@x\"; Requirements = {requirements}]"
    ));
    let found = explained_in_cycle(&Snapshot { slots, jobs: vec![job], ..Snapshot::default() }, "1.0");
    let change = |one: &Suggestion| (one.changes[0].of, one.changes[0].after.clone(), one.won, one.lost);
    found.suggestions.iter().map(change).collect()
}

#[test]
fn a_selection_by_name_is_removed_if_the_named_slot_is_busy() {
    let names = [("slot1@n01", Some("bob@x")), ("slot1@n02", None), ("slot1@n03", None), ("slot1@n04", None)];
    let found = changes_in_cycle(with_attribute("Name", &names), "TARGET.Name == \"slot1@n01\"");
    assert_eq!((found[0].0, found[0].2, found[0].3), (Changed::Condition, 3, 0), "{found:?}");
}

#[test]
fn a_value_that_loses_slots_comes_after_the_removal_of_its_condition() {
    let kinds = [("Static", Some("bob@x")), ("Dynamic", None), ("Dynamic", None), ("Dynamic", None), ("Other", None)];
    let found = changes_in_cycle(with_attribute("Kind", &kinds), "TARGET.Kind == \"Static\"");
    assert_eq!((found[0].0, found[0].2, found[0].3), (Changed::Condition, 4, 0), "{found:?}");
}

#[test]
fn a_string_that_begins_another_one_is_similar() {
    let sites = [("SU-ITS", None), ("SU-ITS", None), ("SU-ITS", None), ("UNL-PATH", None), ("UNLV", None)];
    let found = changes_in_cycle(with_attribute("Site", &sites), "TARGET.Site == \"UNL\"");
    assert!(found.iter().any(|one| one.1 == "TARGET.Site == \"UNL-PATH\""), "{found:?}");
}

/// Each cause that is counted is the first one of the job that is named with it.
#[test]
fn the_summary_of_all_jobs_and_the_page_of_one_name_the_same_cause() {
    let limited = {
        let job = |at: usize, limits: &str| {
            ad(&format!(
                "[ClusterId = {at}; ProcId = 0; JobStatus = 1; JobUniverse = 5; User = \"a@x\"; ConcurrencyLimits = \"{limits}\"; \
                 RequestCpus = {at}; Requirements = true]"
            ))
        };
        let slot = |at: usize| {
            ad(&format!(
                "[Name = \"s{at}\"; MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]"
            ))
        };
        Snapshot {
            slots: (0..4).map(slot).collect(),
            jobs: vec![job(1, "sw"), job(2, "sw"), job(3, "sw,big:2"), job(4, "big:3")],
            config: Config::parse("c", b"SW_LIMIT = 1\nBIG_LIMIT = 1").unwrap(),
            now: 100,
            ..Snapshot::default()
        }
    };
    let example = |name: &str| {
        let folder = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        Snapshot::read_dir(folder).unwrap().snapshot
    };
    let of = |snapshot: &Snapshot| {
        let (outcome, queue) = reasons::ran(snapshot).unwrap();
        let found = reasons::survey(snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
        for cause in &found.causes {
            assert_eq!(explained_in_cycle(snapshot, &cause.example).causes[0].label, cause.label);
        }
        found.causes.into_iter().map(|cause| (cause.label, cause.jobs)).collect::<Vec<_>>()
    };
    for name in ["stuck", "groups", "pool"] {
        assert!(!of(&example(name)).is_empty(), "{name}");
    }
    // 4 slots match all jobs; the first gets the only unit of `sw`, and the maximum of `big` is 1.
    let never =
        "the job requests more of concurrency limit `big` than its maximum of 1, so it can never run".to_owned();
    assert_eq!(of(&limited), [(never, 2), ("concurrency limit `sw` reached".to_owned(), 1)]);
}
