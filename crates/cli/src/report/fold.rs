//! Text on its way out: lines folded to the width of a terminal, control characters made visible.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

use super::escape::visible;
use super::table::{Screen, is_break};

/// Narrower terminals are not folded for.
const NARROWEST: usize = 20;

/// Writes lines no wider than a terminal: those that are longer go on below, under their last column or two further in.
///
/// Lines are folded at spaces; a word that is longer than a line, behind a comma, a parenthesis, `&&` or `||`, and otherwise
/// stays whole. Colors have no width. Control characters are made visible ([`super::escape`]), unless the output is raw.
///
/// ```
/// use std::io::Write;
/// use classmate_cli::report::fold::Folded;
/// let mut out = Vec::new();
/// writeln!(Folded::new(&mut out, Some(24)), "  7  a condition that is long").unwrap();
/// assert_eq!(String::from_utf8(out).unwrap(), "  7  a condition that is\n     long\n");
/// ```
#[derive(Debug)]
pub struct Folded<W: Write> {
    out: W,
    width: Option<usize>,
    line: Vec<u8>,
    /// True if lines of a source stay whole.
    sources: bool,
    /// True for text that is not for people: nothing of it is changed.
    raw: bool,
}

impl<W: Write> Folded<W> {
    /// Folds to so many columns; not at all if there are none, or fewer than 20.
    pub fn new(out: W, width: Option<usize>) -> Self {
        Folded { out, width: width.filter(|width| *width >= NARROWEST), line: Vec::new(), sources: false, raw: false }
    }

    /// As [`Folded::new`], but lines of a source, with the marks below them, stay whole: what is said of them is folded.
    ///
    /// ```
    /// use std::io::Write;
    /// use classmate_cli::report::fold::Folded;
    /// let mut out = Vec::new();
    /// let text = b"error: a message of some words\n1 | a line of the source that is long\n  |                     ^\n";
    /// Folded::but_sources(&mut out, Some(24)).write_all(text).unwrap();
    /// let folded = b"error: a message of some\n  words\n1 | a line of the source that is long\n  |                     ^\n";
    /// assert_eq!(out, folded);
    /// ```
    pub fn but_sources(out: W, width: Option<usize>) -> Self {
        Folded { sources: true, ..Folded::new(out, width) }
    }

    /// Hands everything on as it is: formats for programs.
    pub fn raw(out: W) -> Self {
        Folded { raw: true, ..Folded::new(out, None) }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let text = visible(&line);
        match self.width {
            Some(width) if !(self.sources && is_of_source(&text)) => fold(&mut self.out, &text, width)?,
            _ => self.out.write_all(text.as_bytes())?,
        }
        self.out.write_all(b"\n")?;
        self.line = line;
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Screen for Folded<W> {
    fn width(&self) -> Option<usize> {
        self.width
    }
}

impl<W: Write> Write for Folded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.raw {
            return self.out.write(bytes);
        }
        let mut lines = bytes.split(|byte| *byte == b'\n');
        self.line.extend_from_slice(lines.next().unwrap_or_default());
        for line in lines {
            self.end_line()?;
            self.line.extend_from_slice(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.out.write_all(visible(&line).as_bytes())?;
        self.out.flush()
    }
}

/// True if a line begins with a bar, perhaps after its number.
fn is_of_source(line: &str) -> bool {
    let columns = columns(line);
    let visible = line.bytes().zip(columns.windows(2)).filter(|(_, at)| at[0] < at[1]).map(|(byte, _)| byte);
    visible.into_iter().find(|byte| !byte.is_ascii_digit() && *byte != b' ') == Some(b'|')
}

/// The column of each byte of a line, and behind the last one; escapes take none, and wide characters two.
fn columns(line: &str) -> Vec<usize> {
    let (mut columns, mut column, mut escaped) = (Vec::with_capacity(line.len() + 1), 0, false);
    for character in line.chars() {
        columns.push(column);
        escaped |= character == '\u{1b}';
        if escaped {
            escaped = !character.is_ascii_alphabetic();
        } else {
            column += character.width().unwrap_or(0);
        }
        // The rest of a character is behind it.
        columns.resize(columns.len() + character.len_utf8() - 1, column);
    }
    columns.push(column);
    columns
}

/// The column in which a folded line continues: under the last column of a table that begins in the left half, or two further in.
fn indent(line: &[u8], columns: &[usize], width: usize) -> usize {
    let leading = line.iter().take_while(|byte| **byte == b' ').count();
    let begins = |at: &usize| line[at - 2..*at] == *b"  " && line[*at] != b' ';
    let gap = (leading + 2..line.len()).take_while(|at| columns[*at] <= width / 2).filter(begins).last();
    gap.map_or((leading + 2).min(width / 2), |at| columns[at])
}

fn fold(out: &mut impl Write, line: &str, width: usize) -> io::Result<()> {
    let columns = columns(line);
    let line = line.as_bytes();
    let indent = indent(line, &columns, width);
    let (mut from, mut before) = (0, 0);
    loop {
        // The rest of the line, with its indentation.
        let room = columns[from] + width - before;
        if columns[line.len()] <= room {
            return out.write_all(&line[from..]);
        }
        // Never within the indentation, which would leave an empty line.
        let text = line[from..].iter().position(|byte| *byte != b' ').map_or(line.len(), |at| from + at);
        let first = if from == 0 { (text..line.len()).find(|at| columns[*at] >= indent).unwrap_or(text) } else { text };
        let space = |at: &usize| line[*at] == b' ';
        let within = (first..line.len()).take_while(|at| columns[*at] <= room).filter(space).last();
        // A word that is longer than a line goes on behind what separates its parts.
        let part = |at: &usize| is_break(line, *at);
        let inside = || (first.max(text + 1)..line.len()).take_while(|at| columns[*at] <= room).filter(part).last();
        let beyond = || (first.max(text + 1)..line.len()).find(|at| space(at) || part(at));
        let Some(at) = within.or_else(inside).or_else(beyond) else {
            return out.write_all(&line[from..]);
        };
        let kept = line[from..at].trim_ascii_end();
        out.write_all(kept)?;
        from = line[at..].iter().position(|byte| *byte != b' ').map_or(line.len(), |skipped| at + skipped);
        if from == line.len() {
            return Ok(());
        }
        out.write_all(b"\n")?;
        out.write_all(&vec![b' '; indent])?;
        before = indent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Color;
    use crate::report::escape::styled;

    fn folded(text: &str, width: usize) -> String {
        let mut out = Vec::new();
        writeln!(Folded::new(&mut out, Some(width)), "{text}").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sentences_go_on_two_further_in() {
        assert_eq!(folded("- one two three four five six", 20), "- one two three four\n  five six\n");
        assert_eq!(folded("short", 20), "short\n");
    }

    #[test]
    fn rows_go_on_under_their_last_column() {
        assert_eq!(folded("  12   3  a > 1 && b > 2 && c", 22), "  12   3  a > 1 && b >\n          2 && c\n");
    }

    #[test]
    fn long_words_stay_whole_and_colours_have_no_width() {
        let word = "x".repeat(30);
        assert_eq!(folded(&format!("{word} y"), 20), format!("{word}\n  y\n"));
        assert_eq!(folded(&word, 20), format!("{word}\n"));
        assert_eq!(folded("- member(x,\"one,two,three\")||y z", 20), "- member(x,\"one,two,\n  three\")||y z\n");
        assert_eq!(folded("f(\"aaaaaaaaaaaaaaaaaaaaaa\",b,c)", 20), "f(\n  \"aaaaaaaaaaaaaaaaaaaaaa\",\n  b,c)\n");
        assert_eq!(folded("aaaaaaaaaa&&bbbbbbb||cccccccc", 20), "aaaaaaaaaa&&\n  bbbbbbb||cccccccc\n");
        let coloured = styled("one two three four", "1", Color::On);
        assert_eq!(folded(&coloured, 20), "\u{1b}[1mone two three four\u{1b}[0m\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(folded("東京東京東京 東京東京東京", 20), "東京東京東京\n  東京東京東京\n");
    }

    #[test]
    fn control_characters_are_visible_unless_the_output_is_raw() {
        assert_eq!(folded("eve\u{1b}[2J", 80), "eve\\x1b[2J\n");
        let mut out = Vec::new();
        writeln!(Folded::raw(&mut out), "eve\u{1b}[2J").unwrap();
        assert_eq!(out, b"eve\x1b[2J\n");
    }

    #[test]
    fn nothing_is_folded_without_a_width() {
        let mut out = Vec::new();
        let text = "word ".repeat(50);
        let mut folded = Folded::new(&mut out, None);
        write!(folded, "{text}").and_then(|()| folded.flush()).unwrap();
        assert_eq!(out, text.as_bytes());
    }
}
