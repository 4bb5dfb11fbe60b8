//! The format of a text, by the two rules of the reference (`docs/reference/classad-language.md` 9.5).

use std::io::{self, Read};

use crate::format::Format;
use crate::format::json::parse_json;
use crate::format::new::parse_ad;
use crate::format::source::{LineSource, Source};
use crate::syntax::parse::ParseOptions;
use crate::syntax::token::is_space;

/// The format of a file, as tools guess it from the first line that is neither blank nor a `#` comment.
///
/// New syntax and JSON are only recognised when that line is a whole ad, or a bracket alone that opens a list; anything
/// else is the long format.
///
/// ```
/// use classmate::Format;
/// use classmate::internal::format::detect::detect_file;
/// use classmate::ParseOptions;
/// let options = ParseOptions::default();
/// assert_eq!(detect_file(b"# slots\n\n[ a = 1 ]\n", &options), Format::New);
/// assert_eq!(detect_file(b"[\n{\n", &options), Format::Json);
/// assert_eq!(detect_file(b"a = [ b = 1 ]\n", &options), Format::Long);
/// ```
pub fn detect_file(text: &[u8], options: &ParseOptions) -> Format {
    // Reading from memory does not fail.
    Source::new(text).first_line(options).map_or(Format::Long, |(format, _)| format)
}

/// The format of ads in a text, as a [`crate::Reader`] that detects it reads them: what begins with a bracket is not of
/// the long format, although the tools of HTCondor read it so.
///
/// ```
/// use classmate::Format;
/// use classmate::internal::format::detect::detect_ads;
/// use classmate::ParseOptions;
/// let options = ParseOptions::default();
/// assert_eq!(detect_ads(b"// slots\n[\n a = 1\n]\n", &options), Format::New);
/// assert_eq!(detect_ads(b"a = [ b = 1 ]\n", &options), Format::Long);
/// ```
pub fn detect_ads(text: &[u8], options: &ParseOptions) -> Format {
    // Reading from memory does not fail.
    Source::new(text).detect(options).unwrap_or(Format::Long)
}

/// The format of a text as the Python bindings guess it: new syntax if it begins with `[` or `/`, otherwise the long
/// format.
pub fn detect_text(text: &[u8]) -> Format {
    match text.iter().find(|byte| !is_space(**byte)) {
        Some(b'[' | b'/') => Format::New,
        _ => Format::Long,
    }
}

impl<R: Read> Source<R> {
    /// As [`detect_file`], but what begins with a bracket is never of the long format: nothing of it could be read.
    /// Drops the blank lines and comments in front when the format would not skip them itself.
    pub(crate) fn detect(&mut self, options: &ParseOptions) -> io::Result<Format> {
        let (format, start) = self.first_line(options)?;
        if format != Format::Long {
            self.consume(start);
            return Ok(format);
        }
        // No name begins with a slash, so comments of new syntax may come first.
        let start = self.behind_comments(start)?;
        let Some(format) = self.bracketed(start)? else { return Ok(Format::Long) };
        self.consume(start);
        Ok(format)
    }

    /// The format by the rule of the reference, and where the first significant line begins.
    fn first_line(&mut self, options: &ParseOptions) -> io::Result<(Format, usize)> {
        let mut start = 0;
        loop {
            let (end, next) = self.line_from(start)?;
            if end == next && start == end {
                return Ok((Format::Long, start));
            }
            let line = trim(&self.rest()[start..end]);
            if !line.is_empty() && line[0] != b'#' {
                self.need(next + 1)?;
                let rest = &self.rest()[start..];
                let format = classify(trim(&rest[..end - start]), rest.get(next - start).copied(), options);
                return Ok((format, start));
            }
            start = next;
        }
    }

    /// The format of a text that begins with a bracket at `start`; `None` if it does not.
    fn bracketed(&mut self, start: usize) -> io::Result<Option<Format>> {
        let Some((first, at)) = self.solid(start)? else { return Ok(None) };
        if first == b'<' {
            return Ok(Some(Format::Xml));
        }
        let second = self.solid(at + 1)?;
        let alone = second.is_some_and(|(_, next)| self.rest()[at..next].contains(&b'\n'));
        Ok(match (first, second.map(|(byte, _)| byte)) {
            // A list without ads, as the tools and our own writers write it: a bracket a line.
            (b'[', Some(b']')) if alone => Some(Format::Json),
            (b'{', Some(b'}')) if alone => Some(Format::New),
            (b'[', Some(b'{')) => Some(Format::Json),
            (b'[', _) | (b'{', Some(b'[')) => Some(Format::New),
            (b'{', _) => Some(Format::Json),
            _ => None,
        })
    }

    /// The place after the comments that begin there, and after the white space around them.
    fn behind_comments(&mut self, mut start: usize) -> io::Result<usize> {
        while let Some((b'/', at)) = self.solid(start)? {
            let Some(end) = self.behind_comment(at)? else { break };
            start = end;
        }
        Ok(start)
    }

    /// The end of the comment that begins at a slash; none if it is not a comment, or not closed.
    pub(crate) fn behind_comment(&mut self, slash: usize) -> io::Result<Option<usize>> {
        self.need(slash + 2)?;
        match self.rest().get(slash + 1) {
            Some(b'/') => Ok(Some(self.line_from(slash)?.1)),
            Some(b'*') => self.behind(b"*/", slash + 2),
            _ => Ok(None),
        }
    }

    /// The end of the first occurrence of a text from `start` on.
    fn behind(&mut self, text: &[u8], start: usize) -> io::Result<Option<usize>> {
        let mut from = start;
        loop {
            if let Some(at) = memchr::memmem::find(&self.rest()[from..], text) {
                return Ok(Some(from + at + text.len()));
            }
            from = start.max((self.rest().len() + 1).saturating_sub(text.len()));
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// The first byte from `start` on that is not white space, and its place.
    fn solid(&mut self, start: usize) -> io::Result<Option<(u8, usize)>> {
        let mut at = start;
        loop {
            match self.rest().get(at).copied() {
                Some(byte) if is_space(byte) => at += 1,
                Some(byte) => return Ok(Some((byte, at))),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// As [`Source::line`], of the line that begins at `start` of [`Source::rest`].
    pub(crate) fn line_from(&mut self, start: usize) -> io::Result<(usize, usize)> {
        let mut searched = start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.rest()[searched..]) {
                return Ok((searched + at, searched + at + 1));
            }
            searched = self.rest().len();
            if !self.more()? {
                return Ok((searched, searched));
            }
        }
    }
}

fn trim(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !is_space(*byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// The format that the first significant line and the byte behind its line end point to.
fn classify(line: &[u8], next: Option<u8>, options: &ParseOptions) -> Format {
    match line {
        b"<?xml version=\"1.0\"?>" => Format::Xml,
        b"[" if next == Some(b'{') => Format::Json,
        b"{" if next == Some(b'[') => Format::New,
        [b'{', _, .., b'}'] if parse_json(line, options).is_ok() => Format::JsonLines,
        [b'[', _, .., b']'] if parse_ad(line, options).is_ok() => Format::New,
        _ => Format::Long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Format {
        detect_file(text.as_bytes(), &ParseOptions::default())
    }

    #[test]
    fn files_are_classified_by_their_first_significant_line() {
        assert_eq!(file("\n# c\n<?xml version=\"1.0\"?>\n"), Format::Xml);
        assert_eq!(file("<c></c>"), Format::Long);
        assert_eq!(file("[\r\n{\"a\": 1}\n]"), Format::Json);
        assert_eq!(file("{\n[a = 1]\n}"), Format::New);
        assert_eq!(file("{\n\"a\": 1\n}"), Format::Long);
        assert_eq!(file("[\na = 1\n]"), Format::Long);
        assert_eq!(file(" {\"a\": 1} \n{\"b\": 2}"), Format::JsonLines);
        assert_eq!(file("[a = 1] [b = 2]\n"), Format::New);
        assert_eq!(file(""), Format::Long);
        assert_eq!(file("\n\n# only\n"), Format::Long);
        assert_eq!(file("# only"), Format::Long);
    }

    #[test]
    fn lines_that_only_look_like_ads_are_of_the_long_format() {
        // The reference aborts the process on these.
        assert_eq!(file("{not json}"), Format::Long);
        assert_eq!(file("[not an ad]"), Format::Long);
        assert_eq!(file("{}"), Format::Long);
        assert_eq!(file("[]"), Format::Long);
    }

    #[test]
    fn a_reader_takes_nothing_in_brackets_for_the_long_format() {
        for (text, format) in [
            ("[not an ad]", Format::New),
            ("\n[\na = 1\n]", Format::New),
            ("{ [a = 1], [b = 2] }", Format::New),
            ("[]", Format::New),
            ("[\n]\n", Format::Json),
            ("{\n}\n", Format::New),
            ("[{\"a\": 1},\n{\"a\": 2}]", Format::Json),
            ("{\n\"a\": 1\n}", Format::Json),
            ("{not json}", Format::Json),
            ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<classads/>", Format::Xml),
            ("/* two\nlines */ // and one\n[a = 1]", Format::New),
            ("// c\n\n{ [a = 1] }", Format::New),
            ("// c\na = 1", Format::Long),
            ("/* not closed [a = 1]", Format::Long),
            ("/", Format::Long),
            ("# only", Format::Long),
            ("a = [b = 1]", Format::Long),
            ("not an ad", Format::Long),
        ] {
            let mut source = Source::new(text.as_bytes());
            assert_eq!(source.detect(&ParseOptions::default()).unwrap(), format, "{text}");
        }
    }

    #[test]
    fn texts_are_classified_by_their_first_character() {
        assert_eq!(detect_text(b" \n[a = 1]"), Format::New);
        assert_eq!(detect_text(b"// c\na = 1"), Format::New);
        assert_eq!(detect_text(b"{\"a\": 1}"), Format::Long);
        assert_eq!(detect_text(b""), Format::Long);
    }
}
