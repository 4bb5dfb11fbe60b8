//! Control characters made visible, so that no ad can move the cursor, recolor the screen or change its title.
//!
//! Text for people is filtered where it leaves the program. Escape sequences of our own pass: they begin with a key that is drawn
//! anew for each process, so no input can contain it.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::Color;

/// The beginning of our own escape sequences, instead of the escape character alone.
static KEY: LazyLock<String> = LazyLock::new(|| format!("\u{1b}{:016x}", RandomState::new().hash_one(0)));

/// Writes a text in a style: the numbers of a terminal's graphic rendition, such as `1` for bold.
pub fn styled(text: &str, style: &str, color: Color) -> String {
    match color {
        Color::On if !text.is_empty() => format!("{0}[{style}m{text}{0}[0m", *KEY),
        _ => text.to_owned(),
    }
}

/// Lets the escape sequences of a text pass that has no others than our own.
pub fn own(text: &str) -> String {
    text.replace('\u{1b}', &KEY)
}

/// Makes all control characters of a text visible, line ends and tabs too: `\x1b`.
///
/// ```
/// use classmate_cli::report::escape::escaped;
/// assert_eq!(escaped("eve\u{1b}[2J\n"), "eve\\x1b[2J\\n");
/// assert_eq!(escaped("höchst 東京"), "höchst 東京");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    text.chars().for_each(|character| push(&mut shown, character));
    Cow::Owned(shown)
}

/// As [`escaped`], for bytes; those that are not text are shown as `\xff`.
pub fn escaped_bytes(text: &[u8]) -> String {
    filtered(text, |_| false).into_owned()
}

/// Makes the control characters of text for people visible, apart from line ends, tabs and our own escape sequences.
pub fn visible(text: &[u8]) -> Cow<'_, str> {
    filtered(text, |character| matches!(character, '\n' | '\t'))
}

fn filtered(text: &[u8], passes: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |character: char| is_hidden(character) && !passes(character);
    if let Ok(text) = std::str::from_utf8(text)
        && !text.chars().any(hidden)
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(at) = rest.find(hidden) {
            shown.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix(KEY.as_str()) {
                shown.push('\u{1b}');
                rest = after;
            } else if let Some(character) = rest.chars().next() {
                push(&mut shown, character);
                rest = &rest[character.len_utf8()..];
            }
        }
        shown.push_str(rest);
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    Cow::Owned(shown)
}

/// Tests whether a character would do something else than appear: controls, separators of lines, marks of direction, and characters
/// without a shape.
///
/// The joiners U+200C and U+200D pass: scripts of Iran and India need them, and so do emoji.
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn push(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        '\r' => shown.push_str("\\r"),
        hidden if is_hidden(hidden) && hidden.is_ascii() => shown.push_str(&format!("\\x{:02x}", u32::from(hidden))),
        hidden if is_hidden(hidden) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(hidden))),
        other => shown.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_sequences_pass() {
        let bold = styled("a\u{1b}[31mb", "1", Color::On);
        assert_eq!(visible(bold.as_bytes()), "\u{1b}[1ma\\x1b[31mb\u{1b}[0m");
        assert_eq!(visible(own("\u{1b}[2m").as_bytes()), "\u{1b}[2m");
        assert_eq!(styled("a", "1", Color::Off), "a");
    }

    #[test]
    fn what_would_act_is_visible() {
        assert_eq!(visible(b"\x1b]0;title\x07 \r\x00\x7f"), "\\x1b]0;title\\x07 \\r\\x00\\x7f");
        assert_eq!(visible("\u{9b}2J \u{202e}".as_bytes()), "\\u{9b}2J \\u{202e}");
        for hidden in
            "\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{2060}\u{feff}\u{fff9}\u{e0041}\u{e007f}\u{e0100}"
                .chars()
        {
            assert_eq!(escaped(&format!("a{hidden}b")), format!("a\\u{{{:x}}}b", u32::from(hidden)));
        }
        let joined = "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} \u{1f468}\u{200d}\u{1f33e} caf\u{e9}\u{301} \u{2026}";
        assert_eq!(visible(joined.as_bytes()), joined);
        assert_eq!(visible(b"\x9b \xff"), "\\x9b \\xff");
        assert_eq!(visible(b"a\tb\n"), "a\tb\n");
        assert_eq!(escaped_bytes(b"a\tb\n\xff"), "a\\tb\\n\\xff");
    }
}
