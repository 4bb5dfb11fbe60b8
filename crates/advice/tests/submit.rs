//! Job ads that `condor_submit -dry-run` of HTCondor 25.14.1 made of submit files: in `data/submit.jsonl` some attributes, in
//! `data/submit-whole.jsonl` all of them.

use std::collections::BTreeMap;

use classmate::ClassAd;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;
use classmate_advice::internal::submit::{SubmitContext, jobs};
use classmate_pool::internal::queue::cluster::whole;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    name: String,
    submit: String,
    jobs: Vec<BTreeMap<String, String>>,
}

#[test]
fn submit_files_make_the_ads_that_condor_submit_makes() {
    let context = SubmitContext { owner: "root".to_owned(), domain: "x".to_owned(), cluster: 1, ..Default::default() };
    let records: Vec<Recorded> =
        include_str!("data/submit.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() >= 120);
    for Recorded { name, submit, jobs: recorded } in records {
        let made = jobs(&name, submit.as_bytes(), &context, None).unwrap();
        assert!(!made.is_empty(), "{name}");
        for job in made {
            let process = job.eval_int("ProcId").unwrap().to_string();
            let recorded = recorded.iter().find(|one| one["ProcId"] == process).unwrap();
            for (attribute, text) in recorded {
                let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
                let expected = parse_expr(text.as_bytes(), &options).unwrap();
                let found = job.get(attribute.as_str()).map(|expr| expr.to_string()).unwrap_or_default();
                assert_eq!(found, expected.to_string(), "{name} {process}: {attribute}");
            }
        }
    }
}

#[derive(Deserialize)]
struct RecordedWhole {
    name: String,
    submit: String,
    job: BTreeMap<String, String>,
}

/// Each attribute that is written is as it was recorded, and those that were recorded are written but for names of files, the
/// environment, and what the tool alone knows.
#[test]
fn every_attribute_is_as_condor_submit_writes_it() {
    /// Attributes of which a dry run knows another value: the user, the access point and the time.
    const OTHERWISE: [&str; 4] = ["Owner", "User", "QDate", "EnteredCurrentStatus"];
    const LEFT_OUT: [&str; 18] = [
        "In",
        "Out",
        "Err",
        "Iwd",
        "Cmd",
        "UserLog",
        "TransferIn",
        "TransferOut",
        "TransferErr",
        "StreamIn",
        "StreamOut",
        "StreamErr",
        "TransferInput",
        "JobSubmitFile",
        "KillSig",
        "ContainerImageSource",
        "ContainerImageFullPath",
        "Environment",
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, size) in [("run.sh", 5000), ("in1", 3_000_000), ("in1.sif", 3_000_000)] {
        std::fs::write(folder.path().join(name), vec![0; size]).unwrap();
    }
    let context = SubmitContext {
        owner: "root".to_owned(),
        file_system: Some("vm".to_owned()),
        cluster: 1,
        ..SubmitContext::default()
    };
    let records: Vec<RecordedWhole> =
        include_str!("data/submit-whole.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() >= 16);
    let mut wrong = Vec::new();
    for RecordedWhole { name, submit, job: recorded } in records {
        let made = jobs(&name, submit.as_bytes(), &context, Some(folder.path())).unwrap().remove(0);
        let expected = |text: &str| {
            let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
            parse_expr(text.as_bytes(), &options).unwrap().to_string()
        };
        for (attribute, expr) in made.iter().filter(|(name, _)| !OTHERWISE.contains(&&*name.display())) {
            let attribute = attribute.display();
            let text = recorded.get(&*attribute).map(|text| expected(text));
            if text.as_ref() != Some(&expr.to_string()) {
                wrong.push(format!("{name}: {attribute} is {expr}, expected {text:?}"));
            }
        }
        // The program of `evict` does not exist, and quotation marks are in its arguments.
        let may_miss = |attribute: &str| {
            LEFT_OUT.contains(&attribute)
                || attribute.starts_with("VMPARAM_")
                || ["JobVM_VCPUS", "JobVMVNCConsole", "ToolDaemonCmd", "ToolDaemonArguments"].contains(&attribute)
                || name == "evict" && ["ExecutableSize", "ImageSize", "Arguments"].contains(&attribute)
        };
        let missing = recorded.keys().filter(|attribute| !made.contains(attribute.as_str()) && !may_miss(attribute));
        wrong.extend(missing.map(|attribute| format!("{name}: {attribute} is missing")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files that were there when `data/queue.jsonl` was recorded; `dir.dat` and `run.b` were folders.
const FILES: [(&str, &str); 13] = [
    ("plain.txt", "a b\n\n# c\nc, d e\n  f\tg h  \ni , j\n"),
    ("cont.txt", "a b \\\nc d\ne\n"),
    ("table.csv", "X, Y\n1 2, 3\n4, 5 6\n7\n,8\n"),
    ("skip.csv", "junk\nX,Y\nunits,m\n1,2\n3,4\n"),
    ("bad.csv", "X 1,Y\n1,2\n"),
    ("one.dat", ""),
    ("two.dat", ""),
    ("b.txt", ""),
    ("d[1.q", ""),
    ("d2.q", ""),
    ("x1.q", ""),
    ("run/f", ""),
    ("run-1/f", ""),
];

#[derive(Deserialize)]
struct RecordedQueue {
    queue: String,
    /// X, Y, Item, and `Row ItemIndex Step Process` of each job; none if it was rejected.
    jobs: Option<Vec<[String; 4]>>,
}

#[test]
fn queue_sets_the_variables_that_condor_submit_sets() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["dir.dat", "run", "run-1", "run.b"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let records: Vec<RecordedQueue> =
        include_str!("data/queue.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() >= 73);
    for RecordedQueue { queue, jobs: recorded } in records {
        let attributes = "executable = /bin/sleep\nMY.X = \"<$(X)>\"\nMY.Y = \"<$(Y)>\"\nMY.I=\"<$(Item)>\"\n\
            MY.Places = \"$(Row) $(ItemIndex) $(Step) $(Process)\"\n";
        let text = format!("{attributes}{queue}\n");
        std::fs::write(folder.path().join("a.sub"), &text).unwrap();
        let made = jobs("a.sub", text.as_bytes(), &SubmitContext::default(), Some(folder.path())).ok();
        let values = |job: &ClassAd| ["X", "Y", "I", "Places"].map(|name| job.eval_string(name).unwrap());
        let made = made.map(|jobs| jobs.iter().map(values).collect::<Vec<_>>());
        assert_eq!(made, recorded, "{queue}");
    }
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let of = |text: &str| jobs("a.sub", text.as_bytes(), &SubmitContext::default(), None).unwrap_err().to_line();
    assert!(
        of("executable = x\nrequest_memory = 1 +\nqueue").starts_with("a.sub:2:18: `request_memory` is not a valid")
    );
    assert!(of("queue x from list.txt").starts_with("a.sub:1:1: cannot read the items of `queue` from `list.txt`"));
    assert!(of("a b c\nqueue").starts_with("a.sub:1:"));
}

/// `condor_submit -dry-run` 25.14.1 makes `Rank= -LoadAvg * (KFlops >= 10)` and `Args="--epochs=3"` of these.
#[test]
fn a_value_of_several_lines_may_look_like_commands() {
    let text = b"executable = /bin/sleep\n# x @=end\nrank @=end\n-LoadAvg * (KFlops >= 10)\n@end\narguments @=end\n\
        --epochs=3\n@end\nqueue";
    let made = jobs("a.sub", text, &SubmitContext::default(), None).unwrap();
    let text = |name: &str| made[0].get(name).map(|expr| expr.to_string());
    assert_eq!(text("Rank").as_deref(), Some(" -LoadAvg * (KFlops >= 10)"));
    assert!(
        whole(&made[0]).names().all(|name| !name.display().contains("epochs") && !name.display().contains("LoadAvg"))
    );
}

/// Numbers of a job decide about conditions where other attributes look at them: the conditions that `condor_submit -dry-run`
/// 25.14.1 adds to the second job, and not to the first.
#[test]
fn conditions_follow_the_numbers_that_requests_look_at() {
    let of_memory = "request_memory = $(mem)\nrequest_gpus = ifThenElse(RequestMemory > 4096, 1, 0)\nqueue mem from (\n2048\n8192\n)\n";
    let of_process = "log = x.$(Process).log\nrequest_gpus = ProcId % 2\nqueue 2\n";
    for file in [of_memory, of_process] {
        let text = format!("executable = /bin/true\n{file}");
        let made = jobs("a.sub", text.as_bytes(), &SubmitContext::default(), None).unwrap();
        let has = |job: &ClassAd| job.get("Requirements").unwrap().to_string().contains("TARGET.GPUs >= RequestGPUs");
        assert_eq!(made.iter().map(has).collect::<Vec<_>>(), [false, true], "{file}");
    }
}

/// `condor_submit -dry-run` 25.14.1 warns of all these but `request_foo`, and makes neither attributes nor conditions of them.
#[test]
fn misspelled_requests_are_not_made() {
    let text =
        b"executable = /bin/true\nrequest_cpu = 64\nrequest_gpu = 2\nrequest_gpu_memory = 5\nrequest_gpus_memory = 6\n\
        request_foo = 3\nqueue";
    let made = jobs("a.sub", text, &SubmitContext::default(), None).unwrap();
    let mut names: Vec<String> = whole(&made[0]).names().map(|name| name.display().to_ascii_lowercase()).collect();
    names.retain(|name| name.starts_with("request"));
    names.sort();
    assert_eq!(names, ["requestcpus", "requestdisk", "requestfoo", "requestmemory"]);
    let requirements = made[0].get("Requirements").map(|expr| expr.to_string()).unwrap_or_default();
    assert!(requirements.contains("TARGET.foo >= Requestfoo"), "{requirements}");
    assert!(!requirements.to_ascii_lowercase().contains("cpu") && !requirements.to_ascii_lowercase().contains("gpu"));
}

/// `condor_submit -dry-run` 25.14.1 makes these of `nice_user = true`, and 60 of `max_job_retirement_time = 60` beside it.
#[test]
fn nice_users_have_a_group_of_their_own() {
    let context = SubmitContext { owner: "root".to_owned(), ..Default::default() };
    let made = |more: &str| {
        let text = format!("executable = /bin/sleep\nnice_user = true\n{more}\nqueue");
        let ad = jobs("a.sub", text.as_bytes(), &context, None).unwrap().remove(0);
        let text = |name: &str| ad.get(name).map(|expr| expr.to_string()).unwrap_or_default();
        ["AcctGroup", "AcctGroupUser", "AccountingGroup", "MaxJobRetirementTime"].map(text).join(" ")
    };
    assert_eq!(made(""), "\"nice-user\" \"root\" \"nice-user.root\" 0");
    assert_eq!(made("accounting_group_user = bob"), "\"nice-user\" \"bob\" \"nice-user.bob\" 0");
    assert_eq!(made("max_job_retirement_time = 60"), "\"nice-user\" \"root\" \"nice-user.root\" 60");
}
