//! The pager: shows texts that are longer than the terminal.

use std::io::Write;
use std::process::{Command, Stdio};

/// The pager if the environment names none.
const USUAL: &str = "less";

/// Shows a text with the pager if it does not fit on the terminal. False if it fits, or there is no pager: print it then.
pub(super) fn show(text: &str) -> bool {
    let Some((_, height)) = terminal_size::terminal_size() else { return false };
    if text.lines().count() < usize::from(height.0) {
        return false;
    }
    let chosen = std::env::var("CLASSMATE_PAGER").or_else(|_| std::env::var("PAGER"));
    let pager = chosen.unwrap_or_else(|_| USUAL.to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    // Colors are kept, and the text stays on the terminal.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut process) = command.spawn() else { return false };
    // A reader who leaves before the end has seen enough.
    if let Some(mut input) = process.stdin.take() {
        let _ = writeln!(input, "{text}");
    }
    process.wait().is_ok()
}
