//! The public API of the library crates equals its listing in `tests/api.txt`; `UPDATE=1` rewrites the listing.
//!
//! The listing is made from the sources: what `src/lib.rs` of a crate exports, and the public methods of these types.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Library crates, with their folders.
const CRATES: [(&str, &str); 5] = [
    ("classmate", "."),
    ("classmate-config", "crates/config"),
    ("classmate-pool", "crates/pool"),
    ("classmate-advice", "crates/advice"),
    ("classmate-wire", "crates/wire"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The names at the end of a `use` path: `a::{B, c::D as E}` gives `B` and `E`.
fn exported(path: &str) -> Vec<String> {
    let leaf = |item: &str| {
        item.rsplit(" as ").next().and_then(|last| last.rsplit("::").next()).map(str::trim).map(str::to_owned)
    };
    match path.split_once('{') {
        Some((_, list)) => {
            list.trim_end_matches('}').split(',').filter(|item| !item.trim().is_empty()).filter_map(leaf).collect()
        }
        None => leaf(path).into_iter().collect(),
    }
}

/// The exports of a crate, without what is hidden from the documentation.
fn exports(lib: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let visible = lib.split("#[doc(hidden)]").next().unwrap_or_default();
    for statement in visible.split(';') {
        let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(at) = statement.find("pub use ") {
            found.extend(exported(&statement[at + "pub use ".len()..]));
        } else if let Some(at) = statement.find("pub mod ") {
            found.insert(format!("mod {}", &statement[at + "pub mod ".len()..]));
        }
    }
    found
}

/// The name of the type of an `impl` block without a trait.
fn inherent(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = if rest.starts_with('<') { rest.split_once("> ")?.1 } else { rest.trim_start() };
    let name = rest.split(['<', ' ']).next()?;
    (!line.contains(" for ")).then_some(name)
}

/// The public methods of each type in the sources of a crate.
fn methods(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let (mut files, mut found) = (Vec::new(), BTreeMap::<String, BTreeSet<String>>::new());
    sources(folder, &mut files);
    for file in files {
        let mut current = None;
        for line in fs::read_to_string(file).unwrap().lines() {
            if line.starts_with("impl") {
                current = inherent(line).map(str::to_owned);
            } else if line == "}" {
                current = None;
            }
            let method =
                line.strip_prefix("    pub ").and_then(|rest| rest.trim_start_matches("const ").strip_prefix("fn "));
            if let (Some(method), Some(current)) = (method, &current) {
                let name = method.split(['(', '<']).next().unwrap_or_default().to_owned();
                found.entry(current.clone()).or_default().insert(name);
            }
        }
    }
    found
}

#[test]
fn the_public_api_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut listing = String::new();
    for (name, folder) in CRATES {
        let source = root.join(folder).join("src");
        let methods = methods(&source);
        writeln!(listing, "# {name}\n").unwrap();
        for export in exports(&fs::read_to_string(source.join("lib.rs")).unwrap()) {
            let list =
                methods.get(&export).map(|names| names.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
            match list {
                Some(list) => writeln!(listing, "{export}: {list}").unwrap(),
                None => writeln!(listing, "{export}").unwrap(),
            }
        }
        listing.push('\n');
    }
    let path = root.join("tests/api.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &listing).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        listing, expected,
        "the public API changed: if that is intended, run with UPDATE=1 and say so in CHANGELOG.md"
    );
}

#[test]
fn exports_are_read_from_use_declarations() {
    assert_eq!(exported("a::{B, c::D as E, F}"), ["B", "E", "F"]);
    assert_eq!(exported("a::b::symmetric"), ["symmetric"]);
    assert_eq!(inherent("impl<'a> Scope<'a> {"), Some("Scope"));
    assert_eq!(inherent("impl Name {"), Some("Name"));
    assert_eq!(inherent("impl fmt::Display for Name {"), None);
}
