//! Logical lines of `slurm.conf`, and the pairs in them.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 6.1.

/// A line after comments are cut and continuations joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Physical line on which it begins, from 1.
    pub(super) number: u32,
    pub(super) text: String,
}

/// The lines of a file that are not empty.
pub(super) fn lines(text: &[u8]) -> Vec<Line> {
    let text = String::from_utf8_lossy(text);
    let mut lines = Vec::new();
    let (mut whole, mut begun) = (String::new(), None);
    let mut finish = |whole: &mut String, number: u32| {
        let text = whole.replace("\\#", "#").trim().to_owned();
        whole.clear();
        if !text.is_empty() {
            lines.push(Line { number, text });
        }
    };
    for (number, physical) in (1..).zip(text.split('\n')) {
        let start = *begun.get_or_insert(number);
        let line = physical[..comment(physical)].trim_end();
        if let Some(continued) = line.strip_suffix('\\') {
            whole.push_str(continued);
            continue;
        }
        whole.push_str(line);
        finish(&mut whole, start);
        begun = None;
    }
    finish(&mut whole, begun.unwrap_or(1));
    lines
}

/// The offset of a line's comment: at a `#` without an odd number of backslashes before it.
fn comment(line: &str) -> usize {
    let mut backslashes = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'#' if backslashes % 2 == 0 => return at,
            b'\\' => backslashes += 1,
            _ => backslashes = 0,
        }
    }
    line.len()
}

/// The leading `Key=Value` pairs of a line, and what is left that is none.
pub(super) fn pairs(line: &str) -> (Vec<(&str, &str)>, &str) {
    let mut pairs = Vec::new();
    let mut rest = line;
    while let Some((key, value, after)) = pair(rest) {
        pairs.push((key, value));
        rest = after;
    }
    (pairs, rest.trim())
}

fn pair(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))?;
    let (key, after) = text.split_at(end);
    let after = after.trim_start();
    let after = after.strip_prefix(['-', '*', '+', '/']).filter(|rest| rest.starts_with('=')).unwrap_or(after);
    let after = after.strip_prefix('=')?.trim_start();
    let quoted = after.strip_prefix('"').and_then(|inside| inside.split_once('"'));
    let (value, rest) = match quoted.filter(|(_, rest)| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        Some(found) => found,
        None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
    };
    let wanted = !key.is_empty() && (quoted.is_some() || !value.is_empty());
    wanted.then_some((key, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_cut_and_lines_joined_under_the_number_of_the_first() {
        let read = lines(b"# all\nA=1 # b\nB=x\\#y\nPartitionName=p \\\n  MaxTime=5\n\nC=3\\");
        let expected = [(2, "A=1"), (3, "B=x#y"), (4, "PartitionName=p   MaxTime=5"), (7, "C=3")];
        assert_eq!(read, expected.map(|(number, text)| Line { number, text: text.to_owned() }));
    }

    #[test]
    fn pairs_may_have_blanks_around_the_sign_and_quotes_around_values() {
        assert_eq!(pairs("A = 1  B=\"x y\" c.d=2"), (vec![("A", "1"), ("B", "x y"), ("c.d", "2")], ""));
        assert_eq!(pairs("Include other.conf"), (vec![], "Include other.conf"));
        assert_eq!(pairs("A=1 junk B=2"), (vec![("A", "1")], "junk B=2"));
    }
}
