//! When an input goes on on the next line.

/// Whether brackets, a string or a comment are open at the end of a text.
///
/// ```
/// use classmate::repl::input::unfinished;
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

/// Whether an input goes on on the next line: something is open and its last line is not empty, so that an empty
/// line always ends it.
pub fn goes_on(text: &str) -> bool {
    let command = text.trim_start().starts_with(':');
    let last = text.rsplit('\n').next().unwrap_or_default();
    let expression = if command { text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) } else { text };
    let files = ["load", "save", "help", "functions", "my", "target"];
    let takes_text = command && files.iter().any(|name| text.trim_start()[1..].starts_with(name));
    !(last.trim().is_empty() || takes_text) && unfinished(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_strings_and_comments_go_on() {
        for text in ["(1 +", "[ a = 1;", "{ 1, \n 2", "\"abc", "\"a\\\"", "/* abc", "f(\"a)\"", ":trace (a &&"] {
            assert!(goes_on(text), "{text}");
        }
        for text in ["1 + 2", "1 )", "(1 +\n", "a // (", ":load my it's(", "don't", "/* ( */ 1", ":help ("] {
            assert!(!goes_on(text), "{text}");
        }
    }
}
