//! References lead somewhere: cited sections of the reference chapters, and relative links in the documentation.
//!
//! A citation is the path of a chapter in backticks with the numbers of sections, `docs/reference/knobs.md` 2 and 8.
//! A bare section sign is allowed inside a chapter only, where it names a section of that chapter.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CHAPTERS: &str = "docs/reference/";
/// Folders whose files are checked, and the extensions of texts in them.
const FOLDERS: &[&str] = &["src", "crates", "tests", "benches", "fuzz", "grammar", "docs", "examples", ".ci"];
const EXTENSIONS: &[&str] = &["rs", "md", "lalrpop", "py", "awk", "toml", ""];

fn has_extension(path: impl AsRef<Path>, extension: &str) -> bool {
    path.as_ref().extension().is_some_and(|found| found == extension)
}

/// The path and text of every source and document in the repository.
fn texts() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(REPOSITORY)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| has_extension(path, "md"))
        .collect();
    for folder in FOLDERS {
        collect(&Path::new(REPOSITORY).join(folder), &mut paths);
    }
    paths
        .iter()
        .filter_map(|path| {
            let name = path.strip_prefix(REPOSITORY).unwrap().to_string_lossy().replace('\\', "/");
            Some((name, std::fs::read_to_string(path).ok()?))
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "corpus", "artifacts", "data", "seeds"].contains(&name.as_str()) {
                collect(&path, paths);
            }
        } else if EXTENSIONS.contains(&path.extension().map(|e| e.to_string_lossy()).unwrap_or_default().as_ref()) {
            paths.push(path);
        }
    }
}

/// The lines of a Markdown text that start a section, without those in code blocks.
fn headings(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter_map(move |line| {
        code ^= line.starts_with("```");
        line.strip_prefix('#').filter(|_| !code).map(|rest| rest.trim_start_matches('#').trim())
    })
}

/// The section numbers of each chapter, by its path.
fn sections(texts: &[(String, String)]) -> BTreeMap<&str, BTreeSet<String>> {
    let numbers = |text| {
        headings(text)
            .filter_map(|heading| heading.split_whitespace().next())
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .map(|word| word.trim_end_matches('.').to_owned())
            .collect()
    };
    let chapters = texts.iter().filter(|(path, _)| path.starts_with(CHAPTERS));
    chapters.map(|(path, text)| (path.as_str(), numbers(text))).collect()
}

/// The text in one line, without the marks of comments.
fn joined(text: &str) -> String {
    let unmarked = |line: &str| line.trim().trim_start_matches(['/', '!', '#']).trim().to_owned();
    text.lines().map(unmarked).collect::<Vec<_>>().join(" ")
}

/// The section numbers at the start of a text: `1, 2.3 and 4`, `1 to 3`, `1–3`.
fn numbers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        if number.is_empty() {
            return found;
        }
        found.push(number);
        let after = &rest[number.len()..];
        let Some(next) = [", ", "–", " to ", " and "].iter().find_map(|separator| after.strip_prefix(separator))
        else {
            return found;
        };
        rest = next;
    }
}

/// The chapters that a text cites, each with the numbers of its sections.
fn citations(text: &str) -> Vec<(String, Vec<String>)> {
    let text = joined(text);
    let start = format!("`{CHAPTERS}");
    text.match_indices(&start)
        .filter_map(|(at, _)| {
            let (path, rest) = text[at + 1..].split_once('`')?;
            has_extension(path, "md").then(|| (path.to_owned(), numbers(rest).into_iter().map(str::to_owned).collect()))
        })
        .collect()
}

#[test]
fn every_cited_section_exists() {
    let texts = texts();
    let chapters = sections(&texts);
    assert!(chapters.len() > 8 && chapters.values().map(BTreeSet::len).sum::<usize>() > 150, "{chapters:?}");
    let (mut wrong, mut cited) = (Vec::new(), 0);
    for (path, text) in &texts {
        for (chapter, numbers) in citations(text) {
            match chapters.get(chapter.as_str()) {
                None => wrong.push(format!("{path}: no chapter {chapter}")),
                Some(known) => {
                    cited += numbers.len();
                    let missing = numbers.iter().filter(|number| !known.contains(*number));
                    wrong.extend(missing.map(|number| format!("{path}: {chapter} has no section {number}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cited > 200, "only {cited} sections are cited: are citations still found?");
}

#[test]
fn a_section_sign_stands_only_in_a_chapter_and_names_a_section_of_it() {
    let texts = texts();
    let chapters = sections(&texts);
    let mut wrong = Vec::new();
    for (path, text) in &texts {
        let known = chapters.get(path.as_str());
        for (_, after) in text.match_indices('\u{a7}').map(|(at, sign)| text[at..].split_at(sign.len())) {
            if !numbers(after).first().is_some_and(|number| known.is_some_and(|known| known.contains(*number))) {
                wrong.push(format!("{path}: section sign before `{}`", after.chars().take(12).collect::<String>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The anchor that a Markdown renderer derives from a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The targets of inline links in a Markdown text, without those in code.
fn targets(text: &str) -> Vec<String> {
    let mut code = false;
    let lines = text.lines().filter(|line| {
        code ^= line.starts_with("```");
        !code
    });
    let prose = lines.collect::<Vec<_>>().join(" ");
    let prose: String = prose.split('`').step_by(2).collect();
    prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_heading() {
    let texts = texts();
    let (mut wrong, mut links) = (Vec::new(), 0);
    for (path, text) in texts.iter().filter(|(path, _)| has_extension(path, "md")) {
        for target in targets(text) {
            if target.contains("://") {
                continue;
            }
            links += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let document = Path::new(REPOSITORY).join(path);
            let linked = if file.is_empty() { document } else { document.parent().unwrap().join(file) };
            if !linked.exists() {
                wrong.push(format!("{path}: no file {file}"));
            } else if !fragment.is_empty() {
                let linked = std::fs::read_to_string(linked).unwrap();
                if !headings(&linked).any(|heading| anchor(heading) == fragment) {
                    wrong.push(format!("{path}: no heading for {target}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(links > 40, "only {links} links: are they still found?");
}

/// The paths of this repository that a Markdown text names in backticks.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    let lines = text.lines().filter(move |line| {
        code ^= line.starts_with("```");
        !code
    });
    let named = lines.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|path| {
        FOLDERS.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
            && !path.contains(|c: char| c.is_whitespace() || "<>*{}…".contains(c))
    });
    named.map(|path| path.split(':').next().unwrap_or(path))
}

#[test]
fn every_path_named_in_a_document_exists() {
    let texts = texts();
    let documents = texts.iter().filter(|(path, _)| has_extension(path, "md") && path != "CHANGELOG.md");
    let documents = documents.filter(|(path, _)| !path.starts_with(CHAPTERS) && !path.contains("/transcripts/"));
    let (mut missing, mut named) = (Vec::new(), 0);
    for (document, text) in documents {
        for path in named_paths(text) {
            named += 1;
            if !Path::new(REPOSITORY).join(path).exists() {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(named > 50, "only {named} paths: are they still found?");
}

/// The folders that have a README with a list of their modules.
const CRATES: &[(&str, &str)] = &[
    ("src", ""),
    ("crates/config", "src/"),
    ("crates/pool", "src/"),
    ("crates/advice", "src/"),
    ("crates/cli", "src/"),
];

#[test]
fn every_module_has_a_line_in_the_readme_of_its_crate() {
    let mut missing = Vec::new();
    for (folder, sources) in CRATES {
        let folder = Path::new(REPOSITORY).join(folder);
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        for entry in std::fs::read_dir(folder.join(sources)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let file = if has_extension(&name, "rs") { name } else { format!("{name}/mod.rs") };
            if !["lib.rs", "main.rs", "README.md/mod.rs"].contains(&file.as_str())
                && !readme.contains(&format!("]({sources}{file})"))
            {
                missing.push(format!("{}: {file}", folder.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The test programs, with their folders.
const PROGRAMS: &[(&str, &str)] = &[
    ("language", "tests"),
    ("pool", "crates/pool/tests"),
    ("advice", "crates/advice/tests"),
    ("cli", "crates/cli/tests"),
];

#[test]
fn every_test_module_has_a_line_in_the_readme_of_the_tests() {
    let readme = std::fs::read_to_string(Path::new(REPOSITORY).join("tests/README.md")).unwrap();
    let mut missing = Vec::new();
    for (program, folder) in PROGRAMS {
        let main = std::fs::read_to_string(Path::new(REPOSITORY).join(folder).join("main.rs")).unwrap();
        let modules = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        let named = modules.map(|module| format!("`{program}::{module}`"));
        missing.extend(named.filter(|name| !readme.contains(name) && !name.ends_with("::recorded`")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn citations_go_on_over_lines() {
    let text = "//! Source: `docs/reference/knobs.md` 2,\n    //! 8.3 and 9–10.1. See `docs/reference/accountant.md`.";
    let cited = citations(text);
    assert_eq!(cited[0], ("docs/reference/knobs.md".to_owned(), ["2", "8.3", "9", "10.1"].map(str::to_owned).to_vec()));
    assert_eq!(cited[1].1, Vec::<String>::new());
}

#[test]
fn the_book_has_every_page_once() {
    let read = |name: &str| std::fs::read_to_string(Path::new(REPOSITORY).join(name)).unwrap();
    let summary = read("docs/SUMMARY.md");
    let listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let pages = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(Path::new(REPOSITORY).join("docs").join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let pages = names.filter(|name| has_extension(name, "md") && name != "SUMMARY.md");
        pages.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }).collect()
    };
    let mut expected = [pages(""), pages("reference")].concat();
    let mut found: Vec<String> = listed.into_iter().map(str::to_owned).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let readme = read("README.md");
    for page in expected.iter().filter(|page| !page.contains('/')) {
        assert!(readme.contains(&format!("](docs/{page})")), "README.md does not lead to docs/{page}");
    }
}
