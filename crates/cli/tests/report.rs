//! The page about a cycle: well formed, complete, with the numbers of the other commands; and a browser shows it if there is one.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

fn classmate(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn report(pool: &str) -> String {
    classmate(&["report", pool, "-o", "-"])
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&classmate(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// The names of the elements in the order in which they open; fails if they do not close as they opened.
fn elements(page: &str) -> Vec<String> {
    let (mut open, mut found) = (Vec::<String>::new(), Vec::new());
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closed out of order");
        } else {
            found.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

fn count(found: &[String], name: &str) -> usize {
    found.iter().filter(|one| *one == name).count()
}

#[test]
fn the_text_has_the_numbers_of_the_page() {
    let numbers = json(&["report", "examples/groups"]);
    let text = classmate(&["report", "examples/groups", "--format", "text"]);
    assert_eq!(text, classmate(&["report", "examples/groups", "--format", "table"]));
    let heading = format!("{} idle jobs in the queue, {} of which got a slot.", numbers["idle"], numbers["matched"]);
    assert_eq!(text.lines().next(), Some(heading.as_str()));
    // Each row once, with its number of jobs, in the order of the page.
    for (list, name, number) in [("submitters", "submitter", "matched"), ("groups", "name", "requested")] {
        let rows = numbers[list].as_array().unwrap();
        assert!(!rows.is_empty(), "{list}");
        for row in rows {
            let (name, number) = (row[name].as_str().unwrap(), row[number].as_f64().unwrap().to_string());
            let found = |line: &&str| line.contains(name) && line.split("  ").any(|cell| cell.trim() == number);
            assert!(text.lines().any(|line| found(&line)), "{list}: {name} {number}\n{text}");
        }
    }
}

#[test]
fn the_page_tells_groups_submitters_spins_slots_reasons_and_the_audit() {
    let page = report("examples/groups");
    let found = elements(&page);
    let headings: Vec<&str> = page.split("<h2>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    let expected = [
        "Machines",
        "Groups",
        "Submitters",
        "Why jobs stayed idle",
        "Explanations",
        "Pie spins",
        "Slots",
        "Significant attributes",
        "Provenance",
    ];
    assert_eq!(headings, expected);
    assert_eq!((count(&found, "table"), count(&found, "script"), count(&found, "img")), (5, 1, 0));
    // Each is in the contents, and each submitter has an explanation.
    assert_eq!(page.matches("<li><a href=\"#").count(), headings.len());
    for link in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
    // Five groups: four declared, and that of users in none; the names are those of the settings.
    assert_eq!(page.matches("class=\"group\"").count(), 5);
    assert!(page.contains("physics.hep</strong> quota "), "{page}");
    // Hand calculation: `GROUP_QUOTA_chemistry` is 10 of a pool of 30, and its user requests 12.
    assert!(page.contains("chemistry: quota 10, allocated 10, in use 10, requested 12"));
    // `GROUP_QUOTA_physics` is 20, all of it for the groups below: 4 jobs of 4 and 16 of 25 run.
    assert!(page.contains("physics with its subgroups: quota 20, allocated 20, in use 20, requested 29"));
    assert!(!page.contains("http") && !page.contains("src="), "something is fetched");
}

#[test]
fn requests_are_in_the_weight_of_slots() {
    let folder = tempfile::tempdir().unwrap();
    let slot = |name: &str| {
        format!(
            "[ Name = \"{name}\"; MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 4; Memory = 8192; SlotWeight = Memory / \
             1024; Requirements = true ]\n"
        )
    };
    let job = |process: u32| {
        format!(
            "[ ClusterId = 1; ProcId = {process}; JobStatus = 1; Owner = \"al\"; User = \"al@x\"; AcctGroup = \"phys\"; \
             AcctGroupUser = \"al\"; AccountingGroup = \"phys.al\"; RequestCpus = 1; RequestMemory = 6144; Requirements = \
             TARGET.Memory >= RequestMemory ]\n"
        )
    };
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("slots.ads", slot("a") + &slot("b"));
    write("jobs.ads", job(0) + &job(1) + &job(2));
    write("config", "GROUP_NAMES = phys\nGROUP_QUOTA_phys = 16\nSLOT_WEIGHT = Memory / 1024\n".to_owned());
    let pool = folder.path().to_str().unwrap();
    // Hand calculation: three jobs of 6144 / 1024 request 18, and two slots of 8192 / 1024 are matched.
    let found = json(&["report", pool]);
    let group = found["groups"].as_array().unwrap().iter().find(|group| group["name"] == "phys").unwrap();
    let numbers = ["requested", "allocated", "used", "unmet"].map(|name| group[name].as_f64().unwrap());
    assert_eq!(numbers, [18.0, 16.0, 16.0, 2.0], "{group}");
    let text = classmate(&["report", pool, "--format", "text"]);
    assert!(text.contains("Amounts are in slot weight; REQUESTED: running and idle jobs"), "{text}");
}

#[test]
fn what_users_write_is_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let slot = "[ Name = \"<b>s\"; MyType = \"Machine\"; State = \"Unclaimed\"; Memory = 1; Requirements = true ]";
    let job = "[ ClusterId = 1; JobStatus = 1; User = \"<script>@x\"; Requirements = TARGET.Memory > 2 && TARGET.A != \"<i>\" ]";
    std::fs::write(folder.path().join("slots.ads"), slot).unwrap();
    std::fs::write(folder.path().join("jobs.ads"), job).unwrap();
    let page = report(folder.path().to_str().unwrap());
    let found = elements(&page);
    assert_eq!((count(&found, "script"), count(&found, "b"), count(&found, "i")), (1, 0, 0));
    assert!(page.contains("&lt;script&gt;@x"));
    assert!(page.contains("no slot satisfies"), "{page}");
}

/// The texts of the cells of the table with a caption, row by row.
fn rows(page: &str, caption: &str) -> Vec<Vec<String>> {
    let table = page.split("<table>").find(|table| table.contains(&format!("<caption>{caption}"))).unwrap();
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let text = |cell: &str| {
        let inner = cell.split_once('>').unwrap().1.split(['\n', '\r']).collect::<String>();
        let inner = inner.split("</t").next().unwrap();
        inner
            .split('<')
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once('>').unwrap().1 })
            .collect()
    };
    let cells = |row: &str| row.split("<t").skip(1).filter(|cell| !cell.starts_with("r>")).map(text).collect();
    body.split("<tr>").skip(1).map(cells).collect()
}

/// A number as pages show weights: without decimals that are 0.
fn shown(number: &Value) -> String {
    let text = format!("{:.2}", number.as_f64().unwrap());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[test]
fn the_numbers_of_the_page_are_those_of_json() {
    for pool in ["examples/groups", "examples/pool", "examples/stuck", "examples/policy"] {
        if !Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(pool).join("slots.ads").exists() {
            continue;
        }
        let (page, own) = (report(pool), json(&["report", pool]));
        let (cycle, idle) = (json(&["negotiate", pool]), json(&["explain", pool, "--all"]));
        // The numbers of the report are those of the cycle.
        assert_eq!(own["pool_weight"], cycle["statistics"]["pool_weight"]);
        assert_eq!((&own["idle"], &own["matched"]), (&idle["idle"], &idle["matched"]));
        let jobs = |of: &Value| of.as_array().unwrap().iter().map(|one| one["jobs"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(jobs(&own["reasons"]), jobs(&idle["causes"]));
        let submitters = own["submitters"].as_array().unwrap();
        assert_eq!(submitters.len(), cycle["submitters"].as_array().unwrap().len());
        let table = rows(&page, "in negotiation order");
        assert_eq!(table.len(), submitters.len());
        let mut caused = 0;
        for ((row, own), cycle) in table.iter().zip(submitters).zip(cycle["submitters"].as_array().unwrap()) {
            for member in ["submitter", "priority", "share", "limit", "idle", "matched", "weight", "stopped"] {
                assert_eq!(own[member], cycle[member], "{pool} {member}");
            }
            assert_eq!(row[0], own["submitter"].as_str().unwrap());
            assert_eq!(row[4], format!("{:.1}%", own["pool_share"].as_f64().unwrap() * 100.0));
            assert_eq!(row[5], own["entitled"].as_f64().map_or("–".to_owned(), |part| format!("{:.1}%", part * 100.0)));
            assert_eq!(row[7..11], [&own["idle"], &own["matched"], &own["weight"], &own["used"]].map(shown));
            caused += jobs(&own["causes"]);
        }
        assert_eq!(caused, jobs(&own["reasons"]), "{pool}: the causes of all submitters");
        // Machines: the squares, the table and the tiles add up to the same.
        let machines = own["machines"].as_array().unwrap();
        assert_eq!(page.matches("title=\"").count(), machines.len());
        let sum = |of: &[Value], resource: &str, amount: &str| {
            of.iter().map(|one| one[resource][amount].as_f64().unwrap()).sum::<f64>()
        };
        let owners = own["owners"].as_array().unwrap();
        for resource in ["cores", "memory", "gpus"] {
            for amount in ["total", "before", "used", "wasted"] {
                let all = own[resource][amount].as_f64().unwrap();
                assert_eq!((sum(machines, resource, amount), sum(owners, resource, amount)), (all, all), "{pool}");
            }
        }
        let states = page.split("<caption>by ").nth(1).unwrap().split('<').next().unwrap().to_owned();
        for (row, own) in rows(&page, &format!("by {states}")).iter().zip(owners) {
            assert_eq!(
                row[2..6],
                [
                    shown(&own["machines"]),
                    shown(&own["cores"]["used"]),
                    shown(&own["cores"]["total"]),
                    shown(&own["cores"]["wasted"]),
                ]
            );
        }
        let (used, total) = (own["cores"]["used"].as_f64().unwrap(), own["cores"]["total"].as_f64().unwrap());
        assert!(page.contains(&format!("<strong>{:.1}%</strong>cores in use", used / total * 100.0)), "{pool}");
        assert!(page.contains(&format!("<strong>{}</strong>jobs matched", own["matched"])), "{pool}");
        for reason in own["reasons"].as_array().unwrap().iter().take(4) {
            assert!(page.contains(&format!("<strong>{}</strong>jobs idle", reason["jobs"])), "{pool}");
        }
        // Groups: borrowed, lent and unmet follow from the numbers of the cycle.
        for group in own["groups"].as_array().unwrap() {
            let all = cycle["groups"].as_array().unwrap();
            let other = all.iter().find(|other| other["name"] == group["name"]).unwrap();
            // All slots are static: what the negotiator counts is in use after the cycle.
            assert_eq!((&group["quota"], &group["used"]), (&other["quota"], &other["usage"]));
            assert_eq!((&group["counted"], &group["subtree"]["quota"]), (&other["usage"], &other["subtree_quota"]));
            let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
            assert_eq!(number(group, "borrowed"), (number(group, "used") - number(group, "quota")).max(0.0));
            assert_eq!(number(group, "unmet"), (number(other, "demand") - number(group, "used")).max(0.0));
            let kept = number(group, "allocated").max(number(group, "used"));
            assert_eq!(number(group, "lent"), (number(group, "quota") - kept).max(0.0));
            // The sums over the group and those below it, by name; the root has them all.
            let name = group["name"].as_str().unwrap();
            let is_below = |one: &&Value| {
                let other = one["name"].as_str().unwrap();
                name == "<none>" || other == name || other.starts_with(&format!("{name}."))
            };
            for amount in ["allocated", "used", "requested"] {
                let all = own["groups"].as_array().unwrap().iter().filter(is_below);
                let sum = all.map(|one| number(one, amount)).sum::<f64>();
                assert_eq!(number(&group["subtree"], amount), sum, "{pool} {name} {amount}");
            }
        }
    }
}

#[test]
fn waste_is_what_no_waiting_job_can_use() {
    let folder = tempfile::tempdir().unwrap();
    let slot = |machine: &str, cores: u32, memory: u32| {
        format!(
            "[ Name = \"slot1@{machine}\"; Machine = \"{machine}\"; MyType = \"Machine\"; State = \"Unclaimed\"; \
             PartitionableSlot = true; SlotWeight = Cpus; Cpus = {cores}; Memory = {memory}; Requirements = true ]\n"
        )
    };
    let job = |id: u32, cores: u32, memory: u32| {
        format!(
            "[ ClusterId = {id}; ProcId = 0; JobStatus = 1; User = \"ada@x\"; RequestCpus = {cores}; RequestMemory = {memory}; \
             Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory ]\n"
        )
    };
    std::fs::write(folder.path().join("slots.ads"), slot("a", 4, 4096) + &slot("b", 1, 1024)).unwrap();
    // The first takes all memory of `a` and one core; the second waits: `b` has half of what it needs.
    std::fs::write(folder.path().join("jobs.ads"), job(1, 1, 4096) + &job(2, 1, 2048)).unwrap();
    let found = json(&["report", folder.path().to_str().unwrap()]);
    let machine = |at: usize| &found["machines"][at];
    assert_eq!(
        (&machine(0)["name"], &machine(0)["state"], &machine(0)["owner"]),
        (&"a".into(), &"partly".into(), &"ada@x".into())
    );
    assert_eq!(machine(0)["cores"], serde_json::json!({"total": 4.0, "before": 0.0, "used": 1.0, "wasted": 3.0}));
    assert_eq!(
        machine(0)["memory"],
        serde_json::json!({"total": 4096.0, "before": 0.0, "used": 4096.0, "wasted": 0.0})
    );
    // One core beside 1024 MiB, less than the 2048 that the job needs.
    assert_eq!((&machine(1)["state"], &machine(1)["cores"]["wasted"]), (&"unclaimed".into(), &1.0.into()));
}

#[test]
fn a_match_counts_with_the_whole_partitionable_slot_but_uses_a_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let slot = |machine: &str| {
        format!(
            "[ Name = \"slot1@{machine}\"; Machine = \"{machine}\"; MyType = \"Machine\"; State = \"Unclaimed\"; \
             PartitionableSlot = true; SlotWeight = Cpus; Cpus = 8; Memory = 8192; Requirements = true ]\n"
        )
    };
    let job = |at: u32| {
        format!(
            "[ ClusterId = 1; ProcId = {at}; JobStatus = 1; User = \"ada@x\"; AccountingGroup = \"a.ada\"; AcctGroup = \"a\"; \
             RequestCpus = 1; RequestMemory = 1; Requirements = true ]\n"
        )
    };
    let config = "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 10\nGROUP_QUOTA_b = 6\n";
    std::fs::write(folder.path().join("slots.ads"), slot("x") + &slot("y") + &slot("z")).unwrap();
    std::fs::write(folder.path().join("jobs.ads"), (0..12).map(job).collect::<String>()).unwrap();
    std::fs::write(folder.path().join("config"), config).unwrap();
    let pool = folder.path().to_str().unwrap();
    let group = json(&["report", pool])["groups"][1].clone();
    // Of the quota of 10, the first match takes 8, and 2 are left, for which HTCondor gives one more slot in another pie
    // spin. In use are two cores, and 10 jobs wait.
    let expected = [("quota", 10.0), ("used", 2.0), ("counted", 16.0), ("requested", 12.0), ("unmet", 10.0)];
    for (name, amount) in expected {
        assert_eq!(group[name].as_f64(), Some(amount), "{name}: {group}");
    }
    let page = report(pool);
    assert!(page.contains("a: quota 10, allocated 10, in use 2 (16 counted), requested 12"), "{page}");
    assert!(page.contains("the weight of the whole partitionable slot"));
}

#[test]
fn the_default_file_is_named_after_the_pool_and_printed() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let run = |more: &[&str], browser: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.arg("report").arg(root.join("examples/pool")).args(more);
        command.current_dir(folder.path()).env("BROWSER", browser).output().unwrap()
    };
    assert_eq!(String::from_utf8(run(&["--open"], "true").stdout).unwrap(), "pool.html\n");
    assert!(folder.path().join("pool.html").is_file());
    let failed = run(&["--open"], "/none/such");
    assert!(String::from_utf8_lossy(&failed.stderr).contains("cannot open the report with `/none/such`"));
    assert_eq!(failed.status.code(), Some(1));
}

/// The change of the example: a quota of 5 instead of 10.
const QUOTA: [&str; 4] = ["whatif", "examples/groups", "--set", "GROUP_QUOTA_chemistry = 5"];

#[test]
fn results_name_the_program_the_command_and_the_files() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let sum = |name: &str| {
        let digest = Sha256::digest(std::fs::read(root.join(name)).unwrap());
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let files = ["examples/groups/config", "examples/groups/jobs.ads", "examples/groups/slots.ads"];
    let goal = "chemistry >= 30% of pool";
    let commands: [(&[&str], &str); 3] = [
        (&["report", "examples/groups", "-o", "-"], "classmate report examples/groups -o - --format html"),
        (
            &["whatif", "examples/groups", "--set", "GROUP_QUOTA_chemistry = 5"],
            "classmate whatif examples/groups --set 'GROUP_QUOTA_chemistry = 5' --format html",
        ),
        (&["advise", "examples/groups", "--goal", goal, "--cycles", "2"], ""),
    ];
    for (arguments, command) in commands {
        let made = json(arguments)["provenance"].clone();
        assert!(made["version"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{made}");
        let own: Vec<Value> = [arguments, &["--format", "json"]].concat().into_iter().map(Value::from).collect();
        assert_eq!(made["command"], Value::from(own));
        let mut sums: Vec<(String, String)> = Vec::new();
        for file in made["files"].as_array().unwrap() {
            sums.push((file["path"].as_str().unwrap().to_owned(), file["sha256"].as_str().unwrap().to_owned()));
        }
        sums.sort();
        assert_eq!(sums, files.map(|name| (name.to_owned(), sum(name))));
        if command.is_empty() {
            continue;
        }
        let page = classmate(&[arguments, &["--format", "html"]].concat());
        assert!(page.contains(&format!("<code>{command}</code>")), "{command}");
        for name in files {
            assert!(page.contains(&format!("<li>{name} (SHA-256 <code>{}</code>)</li>", sum(name))), "{name}");
        }
    }
}

fn what_if(change: &[&str], format: &str) -> String {
    classmate(&[change, &["--format", format]].concat())
}

#[test]
fn the_page_of_a_change_has_both_pools_and_the_reasons() {
    let page = what_if(&QUOTA, "html");
    let found = elements(&page);
    let headings: Vec<&str> = page.split("<h2>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    let expected = ["Groups", "Machines", "Submitters", "Idle jobs by reason", "Slots", "Jobs and slots", "Provenance"];
    assert!(
        headings.iter().all(|heading| expected.contains(heading)) && headings[..3] == expected[..3],
        "{headings:?}"
    );
    assert_eq!((count(&found, "script"), count(&found, "h3")), (1, 4));
    assert!(!page.contains("http") && !page.contains("src="), "something is fetched");
    assert!(page.contains("<code>GROUP_QUOTA_chemistry = 5</code>"));
    // The numbers are those of JSON, and of two reports.
    let own: Value = serde_json::from_str(&what_if(&QUOTA, "json")).unwrap();
    let arrow = |before: String, after: String| if before == after { before } else { format!("{before} → {after}") };
    let pair = |of: &Value| arrow(shown(&of[0]), shown(&of[1]));
    for (name, label) in [("matches", "matches"), ("weight", "weight matched"), ("preemptions", "preemptions")] {
        assert!(page.contains(&format!("<strong>{}</strong>{label}<", pair(&own[name]))), "{name}: {}", own[name]);
    }
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for name in ["slots.ads", "jobs.ads", "config"] {
        std::fs::copy(root.join("examples/groups").join(name), folder.path().join(name)).unwrap();
    }
    let config = std::fs::read_to_string(folder.path().join("config")).unwrap();
    std::fs::write(folder.path().join("config"), config + "\nGROUP_QUOTA_chemistry = 5\n").unwrap();
    let (before, after) = (json(&["report", "examples/groups"]), json(&["report", folder.path().to_str().unwrap()]));
    let squares = |of: &Value| of["machines"].as_array().unwrap().len();
    assert_eq!(page.matches("title=\"").count(), squares(&before) + squares(&after));
    let cores = |of: &Value| of["cores"]["used"].as_f64().unwrap() / of["cores"]["total"].as_f64().unwrap() * 100.0;
    let cores = arrow(format!("{:.1}%", cores(&before)), format!("{:.1}%", cores(&after)));
    assert!(page.contains(&format!("<strong>{cores}</strong>cores in use")), "{cores}");
    for pool in [&before, &after] {
        for group in pool["groups"].as_array().unwrap() {
            let facts = ["quota", "allocated", "used", "requested"].map(|name| shown(&group[name]));
            let [quota, allocated, used, requested] = facts;
            let facts = format!("quota {quota}, allocated {allocated}, in use {used}, requested {requested}");
            assert!(page.contains(&format!(
                "{}: {facts}",
                group["name"].as_str().unwrap().replace('<', "&lt;").replace('>', "&gt;")
            )));
        }
    }
    let reasons = own["group_reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), own["groups"].as_array().unwrap().len());
    let chemistry = reasons.iter().find(|one| one["name"] == "chemistry").unwrap();
    assert!(chemistry["before"].as_array().unwrap().contains(&"GROUP_QUOTA is 10".into()), "{chemistry}");
    assert!(chemistry["after"].as_array().unwrap().contains(&"GROUP_QUOTA is 5".into()), "{chemistry}");
    for line in chemistry["before"].as_array().unwrap().iter().chain(chemistry["after"].as_array().unwrap()) {
        assert!(page.contains(&format!("<li>{}</li>", line.as_str().unwrap())) && !page.contains('`'), "{line}");
    }
    assert!(page.contains("<strong>chemistry</strong>: quota 10 → 5, "));
    let policies = ["whatif", "examples/slurm", "--policy-before", "condor", "--policy", "slurm"];
    assert!(what_if(&policies, "html").contains("<li><code>policy: condor → slurm</code></li>"));
    // Several cycles are not a page.
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(QUOTA)
        .args(["--format", "html", "--cycles", "2"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--format html shows one cycle"));
}

/// The browser, if there is one.
fn browser() -> Option<String> {
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    known.iter().find(there).map(|name| (*name).to_owned())
}

#[test]
fn a_browser_builds_the_same_elements_and_complains_of_nothing() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (page, profile) = (folder.path().join("cycle.html"), folder.path().join("profile"));
    std::fs::create_dir(&profile).unwrap();
    for text in [report("examples/groups"), what_if(&QUOTA, "html")] {
        std::fs::write(&page, &text).unwrap();
        browser_builds(&browser, &page, &profile, &text);
    }
}

fn browser_builds(browser: &str, page: &Path, profile: &Path, text: &str) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--enable-logging=stderr",
        ])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("CONSOLE"), "{errors}");
    for tag in ["<table", "<h2", "<figure", "<tr", "role=\"img\""] {
        assert_eq!(dom.matches(tag).count(), text.matches(tag).count(), "{tag}");
    }
}
