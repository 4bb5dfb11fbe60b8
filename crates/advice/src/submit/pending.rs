//! Statements of a submit file that were not read yet, as lines of a configuration where they keep their numbers.

/// Lines for a configuration.
#[derive(Default)]
pub(crate) struct PendingLines {
    text: Vec<u8>,
    /// Number of line ends in the text.
    ends: u64,
    has_statements: bool,
}

impl PendingLines {
    /// No lines, where those up to a number were read already.
    pub(crate) fn behind(number: u64) -> Self {
        let mut lines = PendingLines::default();
        lines.skip(number);
        lines
    }

    /// The text of a configuration.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Tests whether anything was added.
    pub(crate) fn has_statements(&self) -> bool {
        self.has_statements
    }

    /// Adds a text, and a line end.
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.has_statements = true;
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.ends += memchr::memchr_iter(b'\n', text).count() as u64 + 1;
    }

    /// Adds a statement that begins at a line, counted from 1.
    pub(crate) fn add(&mut self, number: u64, statement: &[u8]) {
        self.skip(number.saturating_sub(1));
        match statement.trim_ascii_start() {
            [b'+', attribute @ ..] => self.push(&[b"MY.", attribute].concat()),
            // The attribute has no value.
            [b'-', rest @ ..] if memchr::memchr(b'=', rest).is_some() => {
                let name = rest[..memchr::memchr(b'=', rest).unwrap_or(0)].trim_ascii();
                self.push(&[b"MY.", name, b" ="].concat());
            }
            _ => self.push(statement),
        }
    }

    /// Adds empty lines until there are so many.
    fn skip(&mut self, number: u64) {
        let missing = number.saturating_sub(self.ends);
        self.text.extend(std::iter::repeat_n(b'\n', usize::try_from(missing).unwrap_or(0)));
        self.ends += missing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_keep_their_numbers() {
        let mut lines = PendingLines::behind(1);
        lines.add(3, b"+a = 1");
        lines.add(4, b"b = \\\n 2");
        lines.add(7, b"-c =");
        lines.push(b"d");
        assert_eq!(lines.text(), b"\n\nMY.a = 1\nb = \\\n 2\n\nMY.c =\nd\n");
    }
}
