//! The arrows between modules point down only.
//!
//! Reads every `crate::module` in the sources (tests, comments and documentation apart) and compares the layers.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::path::{Path, PathBuf};

/// From the ground up. Modules of one layer may use each other.
const LAYERS: &[(&str, &[&str])] = &[
    ("ground", &["name", "span", "error", "text"]),
    ("syntax", &["syntax"]),
    ("language", &["value", "ad", "eval", "builtin", "format"]),
    ("program", &["program"]),
    ("analysis", &["analysis"]),
    ("pool", &["generate", "pool", "queue", "quota", "accountant", "priority", "config"]),
    ("negotiate", &["negotiate", "workload", "simulate"]),
    ("counsel", &["lint", "tidy", "autoclusters", "policy", "explain", "whatif"]),
    ("shell", &["conform", "report", "cli", "repl", "main", "lib"]),
];

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|(_, modules)| modules.contains(&module))
        .unwrap_or_else(|| panic!("`{module}` belongs to no layer: add it to LAYERS"))
}

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

/// The modules that a source text names as `crate::module`.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut modules = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for path in line.split("crate::").skip(1) {
            let names = path.strip_prefix('{').map_or(path, |group| group.split('}').next().unwrap_or_default());
            let grouped = names.len() != path.len();
            for name in names.split(',').take(if grouped { usize::MAX } else { 1 }) {
                let name: String = name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if !name.is_empty() {
                    modules.push(name);
                }
            }
        }
    }
    modules
}

#[test]
fn arrows_point_down_only() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 20, "found only {} sources", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let first = path.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        for name in used(&std::fs::read_to_string(&file).unwrap()) {
            if layer(&name) > layer(&module) {
                wrong.push(format!("{} uses {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these point up: {wrong:#?}");
}

/// Which policy there is, is said in `priority`, in `config` and by the shell: everything between knows the trait.
#[test]
fn a_cycle_knows_no_policy_by_name() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    let mut files = Vec::new();
    for module in ["negotiate", "pool", "queue", "quota", "simulate", "explain", "whatif", "workload", "accountant"] {
        sources(&root.join(module), &mut files);
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

#[test]
fn imports_of_groups_and_paths_are_seen() {
    assert_eq!(used("use crate::eval::{Failed, Machine};"), ["eval"]);
    assert_eq!(used("use crate::{ad::ClassAd, cli};"), ["ad", "cli"]);
    assert_eq!(used("// use crate::cli\nfn f() { crate::name::Name::new(\"\") }"), ["name"]);
    assert_eq!(used("fn f() {}\n#[cfg(test)]\nmod tests { use crate::cli; }"), Vec::<String>::new());
}
