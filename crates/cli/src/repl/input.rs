//! Inputs that continue on the next line.

use crate::repl::command::names;

/// True if brackets, a string or a comment are open at the end of a text.
///
/// ```
/// use classmate_cli::repl::input::unfinished;
/// assert!(unfinished("member(x, {1,"));
/// assert!(unfinished("\"text"));
/// assert!(!unfinished("\"(\" // (")); // a bracket in a string, one in a comment
/// ```
pub fn unfinished(text: &str) -> bool {
    LinesSoFar::default().is_open_after(text)
}

fn string_end(bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Longest input that may go on on the next line, in bytes.
const LONGEST: usize = 1 << 20;

/// Most lines of an input.
const MOST_LINES: usize = 5000;

/// True if a line is a command by its full name. Such a line ends open brackets and strings: `:quit` inside a bracket is
/// rarely intended.
pub fn is_command(line: &str) -> bool {
    let name = line.trim_start().strip_prefix(':').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| line.contains(&format!(":{name}")) && names().any(|known| known == name))
}

/// True if an input continues on the next line: something is open and its last line is neither empty nor a command, so
/// that an empty line always ends it.
pub fn goes_on(text: &str) -> bool {
    part_that_may_go_on(text).is_some_and(unfinished)
}

/// The part of an input in which something may be open, if its last line does not end it.
fn part_that_may_go_on(text: &str) -> Option<&str> {
    if text.len() > LONGEST || memchr::memchr_iter(b'\n', text.as_bytes()).count() > MOST_LINES {
        return None;
    }
    let argument = argument(text);
    let last = text.rsplit('\n').next().unwrap_or_default();
    let files = ["load", "save", "help", "functions", "my", "target", "use", "who"];
    let takes_text = argument.is_some() && files.iter().any(|name| text.trim_start()[1..].starts_with(name));
    let ends = last.trim().is_empty() || (last.len() < text.len() && is_command(last));
    (!ends && !takes_text).then(|| argument.unwrap_or(text))
}

/// The lines of an input so far. Each is looked at once.
#[derive(Debug, Default)]
pub struct LinesSoFar {
    lines: usize,
    bytes: usize,
    brackets: usize,
    inside: Inside,
}

/// The surroundings of the next line.
#[derive(Clone, Copy, Debug, Default)]
enum Inside {
    #[default]
    Code,
    Text,
    Comment,
}

impl LinesSoFar {
    /// Adds a line without its end; true if the input continues on the next line, as [`goes_on`] finds for all lines
    /// together. If not, there is nothing to add.
    ///
    /// ```
    /// use classmate_cli::repl::input::LinesSoFar;
    /// let mut lines = LinesSoFar::default();
    /// assert_eq!(["f(1,", "\"a)", "b\", 2)"].map(|line| lines.add(line)), [true, true, false]);
    /// ```
    pub fn add(&mut self, line: &str) -> bool {
        let is_first = self.lines == 0;
        self.lines += 1;
        self.bytes += line.len() + usize::from(!is_first);
        if is_first {
            return part_that_may_go_on(line).is_some_and(|text| self.is_open_after(text));
        }
        let ends = self.bytes > LONGEST || self.lines > MOST_LINES + 1 || line.trim().is_empty() || is_command(line);
        !ends && self.is_open_after(line)
    }

    /// True if something is open at the end of a line, or of several.
    fn is_open_after(&mut self, text: &str) -> bool {
        let (bytes, mut at) = (text.as_bytes(), 0);
        loop {
            let end = match self.inside {
                Inside::Code => Some(at),
                Inside::Text => string_end(bytes, at, b'"'),
                Inside::Comment => memchr::memmem::find(&bytes[at..], b"*/").map(|end| at + end + 2),
            };
            let Some(end) = end else { return true };
            (self.inside, at) = (Inside::Code, end);
            while let Some(&byte) = bytes.get(at) {
                at += 1;
                match byte {
                    b'(' | b'[' | b'{' => self.brackets += 1,
                    // A bracket that closes nothing is an error that more lines do not mend.
                    b')' | b']' | b'}' if self.brackets == 0 => return false,
                    b')' | b']' | b'}' => self.brackets -= 1,
                    b'"' => {
                        self.inside = Inside::Text;
                        break;
                    }
                    b'\'' => match string_end(bytes, at, byte) {
                        Some(end) => at = end,
                        // An apostrophe in a word, `don't`, rarely begins a name.
                        None => return false,
                    },
                    b'/' if bytes.get(at) == Some(&b'/') => {
                        at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
                    }
                    b'/' if bytes.get(at) == Some(&b'*') => {
                        self.inside = Inside::Comment;
                        at += 1;
                        break;
                    }
                    _ => {}
                }
            }
            if matches!(self.inside, Inside::Code) {
                return self.brackets > 0;
            }
        }
    }
}

/// The argument of a command.
fn argument(text: &str) -> Option<&str> {
    let is_command = text.trim_start().starts_with(':');
    is_command.then(|| text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest))
}

/// The inputs of a text that was pasted as a whole.
///
/// ```
/// use classmate_cli::repl::input::split;
/// assert_eq!(split("a = 1\nf(2,\n3)\n4"), ["a = 1", "f(2,\n3)", "4"]);
/// assert_eq!(split("f(2,\n:my"), ["f(2,", ":my"]);
/// ```
pub fn split(text: &str) -> Vec<&str> {
    let mut inputs = Vec::new();
    let (mut start, mut next_line) = (0, 0);
    let mut lines = LinesSoFar::default();
    for newline in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let next = text[newline + 1..].split('\n').next().unwrap_or_default();
        let goes_on = lines.add(&text[next_line..newline]);
        next_line = newline + 1;
        if !goes_on || is_command(next) {
            inputs.push(&text[start..newline]);
            start = next_line;
            lines = LinesSoFar::default();
        }
    }
    inputs.push(&text[start..]);
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_one_by_one_go_on_as_all_together() {
        let parts = [
            "(", ")", "\"", "'", "\\", "/", "*", "//", "/*", "*/", "a", "\n", "\n", " ", "{", "]", "\n:my ", ":trace ",
        ];
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut went_on = 0;
        for _ in 0..20_000 {
            let text: String = (0..3 + next() % 20).map(|_| parts[next() % parts.len()]).collect();
            let (mut lines, mut end) = (LinesSoFar::default(), 0);
            for line in text.split('\n') {
                end += line.len();
                let found = lines.add(line);
                assert_eq!(found, goes_on(&text[..end]), "{:?}", &text[..end]);
                if !found {
                    break;
                }
                went_on += 1;
                end += 1;
            }
        }
        assert!(went_on > 8_000, "{went_on}");
    }

    #[test]
    fn brackets_strings_and_comments_go_on() {
        for text in ["(1 +", "[ a = 1;", "{ 1, \n 2", "\"abc", "\"a\\\"", "/* abc", "f(\"a)\"", ":trace (a &&"] {
            assert!(goes_on(text), "{text}");
        }
        for text in ["(a\n:quit", "(a\n  :my\t", "[\n:match"] {
            assert!(!goes_on(text), "{text}");
        }
        for text in ["(a ? b\n: my", "(a ? b\n:mine", "(a ? b\n:(my"] {
            assert!(goes_on(text), "{text}");
        }
        for text in ["1 + 2", "1 )", "(1 +\n", "a // (", ":load my it's(", "don't", "/* ( */ 1", ":help ("] {
            assert!(!goes_on(text), "{text}");
        }
    }
}
