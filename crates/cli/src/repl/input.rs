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
    let bytes = text.as_bytes();
    let (mut open, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            // A bracket that closes nothing is an error that more lines do not mend.
            b')' | b']' | b'}' if open == 0 => return false,
            b')' | b']' | b'}' => open -= 1,
            b'"' | b'\'' => match string_end(bytes, at, byte) {
                Some(end) => at = end,
                // An apostrophe in a word, `don't`, rarely begins a name.
                None => return byte == b'"',
            },
            b'/' if bytes.get(at) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
            }
            b'/' if bytes.get(at) == Some(&b'*') => match memchr::memmem::find(&bytes[at + 1..], b"*/") {
                Some(end) => at += end + 3,
                None => return true,
            },
            _ => {}
        }
    }
    open > 0
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
    if text.len() > LONGEST || memchr::memchr_iter(b'\n', text.as_bytes()).count() > MOST_LINES {
        return false;
    }
    let command = text.trim_start().starts_with(':');
    let last = text.rsplit('\n').next().unwrap_or_default();
    let expression = if command { text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) } else { text };
    let files = ["load", "save", "help", "functions", "my", "target", "use", "who"];
    let takes_text = command && files.iter().any(|name| text.trim_start()[1..].starts_with(name));
    let ends = last.trim().is_empty() || (last.len() < text.len() && is_command(last));
    !(ends || takes_text) && unfinished(expression)
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
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let next = text[newline + 1..].split('\n').next().unwrap_or_default();
        if !goes_on(&text[start..newline]) || is_command(next) {
            inputs.push(&text[start..newline]);
            start = newline + 1;
        }
    }
    inputs.push(&text[start..]);
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

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
