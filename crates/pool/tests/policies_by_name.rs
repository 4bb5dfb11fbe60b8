//! The cycle asks a policy through its trait: only `priority`, the configuration and the command know policies by name.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_cycle_knows_no_policy_by_name() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut files = Vec::new();
    for module in ["negotiate", "pool", "queue", "quota", "simulate", "workload", "accountant"] {
        sources(&root.join("pool/src").join(module), &mut files);
    }
    for module in ["explain", "whatif"] {
        sources(&root.join("advice/src").join(module), &mut files);
    }
    assert!(files.len() > 20, "found only {} sources", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if ["Condor", "Slurm", "Dirac", "condor::", "slurm::", "dirac::"].iter().any(|name| line.contains(name)) {
                wrong.push(format!("{}: {line}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these name a policy: {wrong:#?}");
}
