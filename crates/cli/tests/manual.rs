//! Every example in the documents gives the answer that stands beside it.
//!
//! A block marked `console` holds commands behind `$ ` and what they print, standard error behind standard output;
//! `[status 2]` is an exit status other than 0, and a line `…` stands for any lines. Commands run in a shell in the
//! root of the repository; the folder `target/` and the name of the document is theirs, and empty at first.
//! `UPDATE=1 cargo test -p classmate-cli --test cli manual::` writes the answers; read the difference before you keep it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

/// What a command prints, and its status if it is not 0.
fn transcript(command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_classmate")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("PATH", path)
        .env("TZ", "UTC")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if let Some(status) = output.status.code().filter(|status| *status != 0) {
        text.push_str(&format!("[status {status}]\n"));
    }
    text
}

/// True if the lines are those expected, where `…` stands for any number of lines.
fn alike(expected: &[&str], found: &[&str]) -> bool {
    match (expected, found) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=found.len()).any(|skipped| alike(rest, &found[skipped..])),
        ([line, rest @ ..], [other, others @ ..]) => line.trim_end() == other.trim_end() && alike(rest, others),
        _ => false,
    }
}

/// Runs the examples of a document; returns it with the answers found, and how many there were.
fn check(document: &Path, update: bool) -> usize {
    // What an earlier run of the examples left could be taken for their results.
    let left = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).join(document.file_stem().unwrap());
    if left.is_dir() {
        std::fs::remove_dir_all(left).unwrap();
    }
    let text = std::fs::read_to_string(document).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut written, mut at, mut ran) = (String::new(), 0, 0);
    let mut inside = false;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        written.push_str(line);
        written.push('\n');
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => {
                let end = (at..lines.len()).find(|&end| lines[end].starts_with("$ ") || lines[end].starts_with("```"));
                let expected = &lines[at..end.unwrap_or(lines.len())];
                let found = transcript(command);
                let same = alike(expected, &found.lines().collect::<Vec<_>>());
                assert!(
                    same || update,
                    "{}: `{command}` prints\n{found}\nnot\n{}",
                    document.display(),
                    expected.join("\n")
                );
                let kept = if same { expected.iter().map(|line| format!("{line}\n")).collect() } else { found };
                written.push_str(&kept);
                at += expected.len();
                ran += 1;
            }
            _ => {}
        }
    }
    if update && written != text {
        std::fs::write(document, written).unwrap();
    }
    ran
}

#[test]
fn the_documents_tell_the_truth() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let update = std::env::var_os("UPDATE").is_some();
    let mut documents = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    documents.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    documents.sort();
    let ran: usize = documents.iter().map(|document| check(document, update)).sum();
    assert!(ran >= 5, "only {ran} examples were found");
}

/// The picture of a terminal in which a command was typed, as SVG.
fn picture(command: &str) -> String {
    let (width, height) = (8.4, 19);
    let text = format!("$ {command}\n{}", transcript(command));
    let columns = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let lines = text.lines().enumerate().map(|(at, line)| {
        let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let heading = line.chars().all(|character| !character.is_lowercase()) && !line.is_empty();
        let style = if line.starts_with('$') || heading { " font-weight=\"bold\"" } else { "" };
        format!("<text x=\"16\" y=\"{}\"{style} xml:space=\"preserve\">{line}</text>\n", 32 + at * height)
    });
    let (right, bottom) = ((columns as f64 * width) as usize + 32, text.lines().count() * height + 36);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {right} {bottom}\" font-family=\"ui-monospace, Menlo, Consolas, \
         monospace\" font-size=\"14\" fill=\"#e6e6e6\">\n<title>{command}</title>\n<rect width=\"{right}\" height=\"{bottom}\" \
         rx=\"8\" fill=\"#1e2127\"/>\n{}</svg>\n",
        lines.collect::<String>()
    )
}

#[test]
fn the_picture_shows_what_the_command_prints() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/picture.svg"));
    let expected = picture("classmate negotiate examples/groups --matches none");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), expected);
}

#[test]
fn the_example_programs_print_what_they_promise() {
    // Of the whole workspace, as `cargo test --workspace` has built them: nothing is compiled again.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--workspace", "--examples"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let folder = Path::new(env!("CARGO_BIN_EXE_classmate")).with_file_name("examples");
    for (name, expected) in [
        (
            "hello",
            "Memory is 8192\n\
             strcat(Name,\"@\",Site,\" has \",Memory / 1024,\" GB\")\n  = \"slot1@Madison has 8 GB\"\n\
             GPUs > 0 && Cpus > 2\n  = undefined\n\
             [ Cpus = 4; Name = \"slot1\"; Site = \"Madison\"; Memory = Cpus * 2048 ]\n",
        ),
        (
            "match_two",
            "\"small\" does not match, rank 900\n\"large\" matches, rank 700\n\
             asks for TARGET.RequestMemory > 1024 && TARGET.RequestCpus <= 8\n",
        ),
    ] {
        let output = Command::new(folder.join(name)).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
    }
}

#[test]
fn omitted_lines_match_any_lines() {
    assert!(alike(&["a", "…", "z"], &["a", "b", "c", "z"]));
    assert!(alike(&["a", "…"], &["a"]));
    assert!(!alike(&["a", "…", "y"], &["a", "b", "z"]));
    assert!(!alike(&["a"], &["a", "b"]));
}

#[test]
fn no_document_is_unfinished() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.is_file());
    for document in docs.chain(["README.md", "DESIGN.md", "QUIRKS.md", "CHANGELOG.md"].map(|name| root.join(name))) {
        let text = std::fs::read_to_string(&document).unwrap();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let unfinished =
            words.filter(|word| ["TODO", "TBD", "FIXME"].contains(word) || word.ends_with("TABLE") && word.len() > 5);
        assert_eq!(unfinished.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", document.display());
    }
}
