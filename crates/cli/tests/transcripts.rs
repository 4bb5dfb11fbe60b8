//! Sessions with the program: what each command reads, prints and returns.
//!
//! Each file in `transcripts` holds the sessions of one subcommand. In a block marked `console`, a line after `$ ` is a
//! shell command, continued by lines after `> `. Its standard output follows, then a line `[stderr]` with standard error
//! below it, then an exit status other than 0 as `[status 2]`. `[..]` matches any characters within a line. A session
//! starts in the root of the repository; `cd` holds for the commands after it. `$SCRATCH` is an empty directory.
//!
//! To add a test, write the command. `UPDATE=1 cargo test -p classmate-cli transcripts` writes its output; read the
//! difference before you keep it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shell that keeps its directory from one command to the next.
struct Shell {
    directory: PathBuf,
    scratch: tempfile::TempDir,
    path: String,
}

impl Shell {
    fn start(root: &Path) -> Shell {
        let programs = Path::new(env!("CARGO_BIN_EXE_classmate")).parent().unwrap();
        Shell {
            directory: root.to_owned(),
            scratch: tempfile::tempdir().unwrap(),
            path: format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()),
        }
    }

    /// Runs a command and returns its output as a transcript shows it.
    fn run(&mut self, command: &str) -> String {
        let moves = command.starts_with("cd ");
        let script = if moves { format!("{command} && pwd") } else { command.to_owned() };
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&self.directory)
            .env("PATH", &self.path)
            .env("SCRATCH", self.scratch.path())
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let mut shown = String::from_utf8(output.stdout).unwrap();
        if moves && output.status.success() {
            self.directory = shown.trim_end_matches('\n').into();
            shown.clear();
        }
        end_line(&mut shown);
        if !output.stderr.is_empty() {
            shown.push_str("[stderr]\n");
            shown.push_str(&String::from_utf8(output.stderr).unwrap());
            end_line(&mut shown);
        }
        match output.status.code() {
            Some(0) => {}
            Some(status) => writeln!(shown, "[status {status}]").unwrap(),
            None => shown.push_str("[ended by a signal]\n"),
        }
        shown
    }
}

/// Marks output that does not end with a line break.
fn end_line(shown: &mut String) {
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push_str("\n[no line break]\n");
    }
}

/// Compares a line with the expected one, in which `[..]` matches any characters.
fn matches(expected: &str, found: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == found,
        Some((before, after)) => found
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..]))),
    }
}

/// The sessions of one subcommand after they have run.
struct Checked {
    commands: usize,
    mistakes: String,
}

fn check(file: &Path, root: &Path, update: bool) -> Checked {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines().peekable();
    let mut checked = Checked { commands: 0, mistakes: String::new() };
    let mut shell = Shell::start(root);
    let mut written = String::new();
    let mut inside = false;
    while let Some(line) = lines.next() {
        writeln!(written, "{line}").unwrap();
        if line.starts_with("```") {
            let expected = if inside { "```" } else { "```console" };
            assert_eq!(line, expected, "{}: a block that is never run", file.display());
            inside = !inside;
        }
        if !inside || line.starts_with("```") {
            continue;
        }
        let Some(first) = line.strip_prefix("$ ") else {
            panic!("{}: expected a command after `$ `, found `{line}`", file.display())
        };
        let mut command = first.to_owned();
        while let Some(line) = lines.next_if(|line| line.starts_with('>')) {
            writeln!(written, "{line}").unwrap();
            write!(command, "\n{}", line.strip_prefix("> ").unwrap_or("")).unwrap();
        }
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")) {
            writeln!(expected, "{line}").unwrap();
        }
        let found = shell.run(&command);
        checked.commands += 1;
        let same = expected.lines().count() == found.lines().count()
            && expected.lines().zip(found.lines()).all(|(expected, found)| matches(expected, found));
        if !same {
            let name = file.display();
            writeln!(checked.mistakes, "{name}: `{command}` prints\n{found}instead of\n{expected}").unwrap();
        }
        if same {
            written.push_str(&expected);
        } else {
            for line in found.lines() {
                // Wildcards that still match are kept.
                let kept = expected.lines().find(|old| old.contains("[..]") && matches(old, line));
                writeln!(written, "{}", kept.unwrap_or(line)).unwrap();
            }
        }
    }
    assert!(!inside, "{}: a block is not closed", file.display());
    if update && written != text {
        std::fs::write(file, written).unwrap();
        checked.mistakes.clear();
    }
    checked
}

#[test]
fn commands_print_what_their_transcripts_show() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.join("../..").canonicalize().unwrap();
    let update = std::env::var_os("UPDATE").is_some();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(package.join("tests/transcripts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let checked: Vec<Checked> = std::thread::scope(|scope| {
        let sessions: Vec<_> = files.iter().map(|file| scope.spawn(|| check(file, &root, update))).collect();
        sessions.into_iter().map(|session| session.join().unwrap()).collect()
    });
    let commands: usize = checked.iter().map(|checked| checked.commands).sum();
    let mistakes: String = checked.into_iter().map(|checked| checked.mistakes).collect();
    assert!(mistakes.is_empty(), "look at the difference, then set UPDATE=1 to keep it\n{mistakes}");
    assert!(commands >= 289, "only {commands} commands were found");
}

#[test]
fn a_wildcard_matches_within_a_line() {
    assert!(matches("a", "a"));
    assert!(!matches("a", "ab"));
    assert!(matches("a[..]", "a"));
    assert!(matches("a[..]d", "abcd"));
    assert!(!matches("a[..]d", "abc"));
    assert!(matches("[..]b[..]", "abc"));
    assert!(matches("a[..][..]", "a"));
}
