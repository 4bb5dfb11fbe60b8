//! The program, command and files that made a result, for people.

use std::borrow::Cow;
use std::fmt::Write;

use super::page::{Page, escaped};
use classmate_pool::internal::simulate::result::Provenance;

/// Provenance in a line.
pub fn provenance_line(made: &Provenance) -> String {
    let files = made.files.iter().map(|file| format!("{} (SHA-256 {})", file.path, file.sha256));
    let files: Vec<String> = files.collect();
    format!("classmate {}: `{}`; files: {}", made.version, command(made), files.join(", "))
}

/// Adds a part with the provenance of each result, if any is known.
pub fn provenance<'r>(page: &mut Page, made: impl IntoIterator<Item = &'r Provenance>) {
    let mut text = String::new();
    for made in made {
        let (version, command) = (escaped(&made.version), escaped(&command(made)));
        let _ = writeln!(text, "<p>classmate {version}: <code>{command}</code></p>\n<ul class=\"changes\">");
        for file in &made.files {
            let _ = writeln!(text, "<li>{} (SHA-256 <code>{}</code>)</li>", escaped(&file.path), escaped(&file.sha256));
        }
        text.push_str("</ul>\n");
    }
    if !text.is_empty() {
        page.part("provenance", "Provenance");
        page.markup(&text);
    }
}

/// The command as a shell reads it.
fn command(made: &Provenance) -> String {
    let words = made.command.iter().map(|word| quoted(word));
    std::iter::once(Cow::Borrowed("classmate")).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let words = ["whatif", "a b", "--set", "X = \"it's\"", "", "--now=2026-11-28"];
        let made = Provenance { command: words.map(str::to_owned).to_vec(), ..Provenance::default() };
        assert_eq!(command(&made), r#"classmate whatif 'a b' --set 'X = "it'\''s"' '' --now=2026-11-28"#);
    }
}
