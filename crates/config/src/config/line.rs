//! Physical and logical lines of a configuration file (`docs/reference/config-language.md` 2).
//!
//! In: the bytes of a file. Out: lines after continuations, and the place in the file of every byte of them.

use std::ops::Range;
use std::sync::Arc;

use super::{ConfigError, Diagnostic, Location};

/// Longest logical line (after continuations), in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;

/// A line after continuations.
#[derive(Debug, Clone)]
pub(crate) struct Logical {
    pub(crate) text: Vec<u8>,
    file: Arc<str>,
    /// The offset of each physical line in the text, and its place in the file.
    joints: Vec<Joint>,
    /// True if every byte counts as standing at the beginning.
    fixed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Joint {
    at: usize,
    line: u32,
    column: u32,
}

impl Logical {
    /// The place of a byte of the line.
    pub(crate) fn place(&self, at: usize) -> Location {
        let at = if self.fixed { 0 } else { at };
        let joint = self.joints.iter().rev().find(|joint| joint.at <= at).or(self.joints.first());
        let (line, column) = joint.map_or((0, 0), |joint| (joint.line, joint.column + (at - joint.at) as u32));
        Location { file: Arc::clone(&self.file), line, column }
    }

    /// An error about a part of the line.
    pub(crate) fn error(&self, part: &Range<usize>, message: impl Into<String>) -> ConfigError {
        Diagnostic::error_at(message, Some(self.place(part.start))).width(part.len())
    }

    /// A warning about a part of the line.
    pub(crate) fn warning(&self, part: &Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning_at(message, self.place(part.start)).width(part.len())
    }

    /// The range of the whole line.
    pub(crate) fn whole(&self) -> Range<usize> {
        0..self.text.len()
    }

    /// The beginning of the line.
    pub(crate) fn start(&self) -> Location {
        self.place(0)
    }

    /// Returns true if the file contains a part of the line verbatim.
    pub(crate) fn is_verbatim(&self, from: usize) -> bool {
        self.joints.last().is_some_and(|joint| joint.at <= from)
    }

    /// A line of a template: the place of every byte is that of the statement that uses the template.
    pub(crate) fn at(text: Vec<u8>, place: &Location) -> Self {
        Logical {
            text,
            file: Arc::clone(&place.file),
            joints: vec![Joint { at: 0, line: place.line, column: place.column }],
            fixed: true,
        }
    }

    /// Without its first byte.
    pub(crate) fn without_first(mut self) -> Self {
        self.text.remove(0);
        for (index, joint) in self.joints.iter_mut().enumerate() {
            joint.at = joint.at.saturating_sub(1);
            joint.column += u32::from(index == 0);
        }
        self
    }
}

/// Reads the lines of a file.
pub(crate) struct Lines<'a> {
    file: Arc<str>,
    text: &'a [u8],
    line: u32,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(file: Arc<str>, text: &'a [u8]) -> Self {
        Self { file, text, line: 0 }
    }

    /// The next physical line without white space at its ends, and the column of its first byte.
    fn physical(&mut self) -> Option<(&'a [u8], u32)> {
        if self.text.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.text);
        let line = &self.text[..end.unwrap_or(self.text.len())];
        self.text = &self.text[end.map_or(self.text.len(), |end| end + 1)..];
        self.line += 1;
        let column = (line.len() - line.trim_ascii_start().len()) as u32 + 1;
        Some((line.trim_ascii(), column))
    }

    /// The next line that holds more than a backslash.
    pub(crate) fn next(&mut self, warnings: &mut Vec<Diagnostic>) -> Result<Option<Logical>, ConfigError> {
        loop {
            match self.logical(warnings)? {
                Some(line) if line.text.is_empty() => {}
                line => return Ok(line),
            }
        }
    }

    /// The warning about a comment that ends the value around it.
    fn comment_in_value(&self, line: &[u8], column: u32) -> Diagnostic {
        let last = String::from_utf8_lossy(line).chars().last().unwrap_or('#');
        let message = format!("this comment ends the value, and its last character `{last}` is added to the value");
        let place = Location { file: Arc::clone(&self.file), line: self.line, column };
        let help =
            "the next line is read as a line of its own; end the comment with `\\`, or move it above the assignment";
        Diagnostic::warning_at(message, place).width(line.len()).help(help).code("comment-in-value")
    }

    fn logical(&mut self, warnings: &mut Vec<Diagnostic>) -> Result<Option<Logical>, ConfigError> {
        let (first, column) = loop {
            match self.physical() {
                None => return Ok(None),
                Some((line, column)) if !line.is_empty() && line[0] != b'#' => {
                    break (line, column);
                }
                Some(_) => {}
            }
        };
        let joints = vec![Joint { at: 0, line: self.line, column }];
        let mut logical = Logical { text: first.to_vec(), file: Arc::clone(&self.file), joints, fixed: false };
        while logical.text.last() == Some(&b'\\') {
            logical.text.pop();
            if logical.text.len() > MAX_LINE_BYTES {
                let message = format!("a line is longer than {MAX_LINE_BYTES} bytes");
                return Err(Diagnostic::error_at(message, Some(logical.start())));
            }
            let Some((line, column)) = self.physical() else {
                break;
            };
            if let (Some(b'#'), Some(last)) = (line.first(), line.last()) {
                // Of a comment inside a value the last byte counts: a backslash continues the value, another one is
                // its end.
                if *last != b'\\' {
                    let end = column + line.len() as u32 - 1;
                    logical.joints.push(Joint { at: logical.text.len(), line: self.line, column: end });
                    warnings.push(self.comment_in_value(line, column));
                }
                logical.text.push(*last);
            } else {
                if !line.is_empty() {
                    logical.joints.push(Joint { at: logical.text.len(), line: self.line, column });
                }
                logical.text.extend_from_slice(line);
            }
        }
        Ok(Some(logical))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_line_has_its_place() {
        let mut lines = Lines::new(Arc::from("f"), b"\n  A = one \\\n # c \\\n\t two\nB");
        let line = lines.next(&mut Vec::new()).unwrap().unwrap();
        assert_eq!(line.text, b"A = one two");
        let place = |at: usize| line.place(at).to_string();
        assert_eq!((place(0), place(4), place(8)), ("f:2:3".into(), "f:2:7".into(), "f:4:3".into()));
        assert!(!line.is_verbatim(4) && line.is_verbatim(8));
        let line = lines.next(&mut Vec::new()).unwrap().unwrap();
        assert_eq!(line.start().to_string(), "f:5:1");
        assert!(lines.next(&mut Vec::new()).unwrap().is_none());
    }
    /// As `condor_config_val` 25.14.1 reads these files.
    #[test]
    fn a_comment_inside_a_value_ends_it_with_its_last_byte() {
        let read = |text: &str| {
            let (mut lines, mut warnings, mut found) = (Lines::new(Arc::from("f"), text.as_bytes()), vec![], vec![]);
            while let Some(line) = lines.next(&mut warnings).unwrap() {
                found.push(String::from_utf8(line.text).unwrap());
            }
            (found, warnings.len())
        };
        assert_eq!(read("A = one \\\n# c g\nB = 2"), (vec!["A = one g".to_owned(), "B = 2".to_owned()], 1));
        assert_eq!(read("E = 1 \\\n#\nB"), (vec!["E = 1 #".to_owned(), "B".to_owned()], 1));
        assert_eq!(read("C = 1 \\\n  # x\\\n 2\nD"), (vec!["C = 1 2".to_owned(), "D".to_owned()], 0));
        assert_eq!(read("F = a, \\\n b, \\\n# c, \\\n  d"), (vec!["F = a, b, d".to_owned()], 0));
    }
}
