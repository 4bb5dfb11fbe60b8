//! The interactive session on a terminal: typing, completion, history, Ctrl-C.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::Command;

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};

/// Longest wait for an answer, in milliseconds. Answers take a few; a loaded machine may take long.
const PATIENCE: u64 = 60_000;

fn session(history: &Path, arguments: &[&str]) -> PtySession {
    started(Command::new(env!("CARGO_BIN_EXE_classmate")), history, arguments)
}

fn started(mut command: Command, history: &Path, arguments: &[&str]) -> PtySession {
    command.args(["repl", "--now", "5"]).args(arguments);
    command.env("TERM", "xterm").env("CLASSMATE_HISTORY", history).env("TZ", "UTC").env_remove("NO_COLOR");
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    session.exp_string("Ctrl-D to leave").unwrap();
    session.exp_string("> ").unwrap();
    session
}

fn plain(history: &Path) -> PtySession {
    session(history, &["--color", "never"])
}

/// Types a text and waits until it is shown, so that nothing is typed ahead.
fn type_in(session: &mut PtySession, text: &str, shown: &str) {
    session.send(text).unwrap();
    session.flush().unwrap();
    session.exp_string(shown).unwrap();
}

/// Ends the line and waits for the answer and the next prompt.
fn enter(session: &mut PtySession, answer: &str) {
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("\n").unwrap();
    session.exp_string(answer).unwrap();
    session.exp_string("> ").unwrap();
}

fn leave(mut session: PtySession) {
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
    let status = session.process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}");
}

#[test]
fn typed_expressions_are_answered_and_ctrl_d_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = plain(&folder.path().join("history"));
    type_in(&mut session, "6 * 7", "6 * 7");
    enter(&mut session, "42");
    type_in(&mut session, "time()", "time()");
    enter(&mut session, "5");
    leave(session);
}

#[test]
fn the_tab_key_completes_functions_commands_and_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = plain(&folder.path().join("history"));
    type_in(&mut session, "RequestMemory = 4096", "4096");
    enter(&mut session, "");
    type_in(&mut session, "requestm\t", "RequestMemory");
    type_in(&mut session, " + 1", "+ 1");
    enter(&mut session, "4097");
    type_in(&mut session, "ifthen\t", "ifThenElse(");
    type_in(&mut session, "true, 11, 12)", "12)");
    enter(&mut session, "11");
    type_in(&mut session, ":ty\t", ":type ");
    type_in(&mut session, "1.5", "1.5");
    enter(&mut session, "real");
    leave(session);
}

#[test]
fn an_open_bracket_goes_on_on_the_next_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = plain(&folder.path().join("history"));
    type_in(&mut session, "(10 +", "(10 +");
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("\n").unwrap();
    type_in(&mut session, "20)", "20)");
    enter(&mut session, "30");
    leave(session);
}

#[test]
fn ctrl_c_drops_the_line_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = plain(&folder.path().join("history"));
    type_in(&mut session, "a = 20", "a = 20");
    enter(&mut session, "");
    type_in(&mut session, "garbage (", "garbage (");
    session.send_control('c').unwrap();
    session.exp_string("> ").unwrap();
    type_in(&mut session, "a + 3", "a + 3");
    enter(&mut session, "23");
    leave(session);
}

#[test]
fn ctrl_c_during_a_command_does_not_end_the_session() {
    let folder = tempfile::tempdir().unwrap();
    // A terminal that shows the key when it has turned it into a signal.
    let mut command = Command::new("sh");
    command.args(["-c", "stty echo && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_classmate")]);
    let mut session = started(command, &folder.path().join("history"), &["--color", "never"]);
    type_in(&mut session, "a = 20", "a = 20");
    enter(&mut session, "");
    // The command waits until something is written to the pipe.
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let load = format!(":load target {}", pipe.display());
    type_in(&mut session, &load, "/pipe");
    session.send("\r").unwrap();
    session.flush().unwrap();
    // The editor gives the terminal back before the command begins.
    session.exp_string("\u{1b}[?2004l").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("^C").unwrap();
    std::fs::write(&pipe, "[ b = 1 ]").unwrap();
    session.exp_string("TARGET has 1 attribute").unwrap();
    session.exp_string("> ").unwrap();
    type_in(&mut session, "a + TARGET.b", "TARGET.b");
    enter(&mut session, "21");
    leave(session);
}

#[test]
fn pasted_lines_are_carried_out_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = plain(&folder.path().join("history"));
    type_in(&mut session, "\x1b[200~a = 1\nb = (a +\n 41)\nb\x1b[201~", " 41)");
    enter(&mut session, "42");
    leave(session);
}

#[test]
fn the_history_is_kept_between_runs() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("new/folder/history");
    let mut first = plain(&history);
    type_in(&mut first, "1000 + 1", "1000 + 1");
    enter(&mut first, "1001");
    leave(first);
    let mut second = plain(&history);
    type_in(&mut second, "\x1b[A", "1000 + 1");
    enter(&mut second, "1001");
    leave(second);
}

#[test]
fn a_history_that_cannot_be_written_disturbs_nobody() {
    // A folder cannot be made inside a file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut session = plain(&file.join("history"));
    type_in(&mut session, "2 + 2", "2 + 2");
    enter(&mut session, "4");
    leave(session);
}

#[test]
fn commands_show_times_traces_and_what_refuses_a_match() {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let (job, slots) = (data.join("job.ad"), data.join("slots.ad"));
    let ads = ["--color", "never", "--my", job.to_str().unwrap(), "--target", slots.to_str().unwrap()];
    let mut session = session(&folder.path().join("history"), &ads);
    type_in(&mut session, ":time 1 + 1", "1 + 1");
    enter(&mut session, "s each, over ");
    type_in(&mut session, ":trace RequestCpus + 1", "+ 1");
    enter(&mut session, "RequestCpus   2  from MY");
    type_in(&mut session, ":match", ":match");
    // The failing clause of either side.
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("MY accepts TARGET: no").unwrap();
    session.exp_string("TARGET.HasSingularity").unwrap();
    session.exp_string("TARGET accepts MY: no").unwrap();
    session.exp_string("Cpus >= TARGET.RequestCpus").unwrap();
    session.exp_string("match: no").unwrap();
    session.exp_string("> ").unwrap();
    leave(session);
}

#[test]
fn signatures_and_earlier_lines_are_hinted() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&folder.path().join("history"), &["--color", "always"]);
    type_in(&mut session, "substr(", "substr(text, offset [, length])");
    session.send_control('c').unwrap();
    session.exp_string("> ").unwrap();
    session.send("1234 + 1\r").unwrap();
    session.flush().unwrap();
    session.exp_string("1235").unwrap();
    session.exp_string("> ").unwrap();
    // The rest of the line before, faint; the right arrow takes it over.
    type_in(&mut session, "12", "34 + 1");
    type_in(&mut session, "\x1b[C", "1");
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("1235").unwrap();
    session.exp_string("> ").unwrap();
    leave(session);
}

#[test]
fn lines_are_coloured_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&folder.path().join("history"), &[]);
    session.send("size(\"abc\")").unwrap();
    session.flush().unwrap();
    session.exp_string("\x1b[32m\"abc\"\x1b[0m").unwrap();
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("\x1b[36m3\x1b[0m").unwrap();
    session.exp_string("> ").unwrap();
    leave(session);
}
