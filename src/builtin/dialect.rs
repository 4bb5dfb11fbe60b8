//! Patterns as PCRE2 10.32 reads them, the library that HTCondor comes with, for the later one that we search with.
//!
//! In: a pattern. Out: a pattern that means to a later PCRE2 what the first one meant to 10.32, or why that had no
//! meaning. What is new since 10.43 in braces (`{,2}`, spaces) is text or wrong here, and so are options, assertions
//! and lookbehinds that came later. Not everything is distinguished: see Q16 of `QUIRKS.md`.

/// Parts of patterns that 10.32 does not understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    /// `(?<=a?)`
    #[error("lookbehind assertion is not fixed length")]
    VaryingLookbehind,
    /// `\x{ 41 }`
    #[error("white space in the braces of an escape")]
    SpacedBraces,
    /// `\p{sc:Latin}`
    #[error("unknown property name after \\P or \\p")]
    Property,
    /// `(*pla:a)`
    #[error("(*VERB) not recognized or malformed")]
    Verb,
    /// `(?aD)`
    #[error("unrecognized character after (? or (?-")]
    OptionLetter,
}

/// A reader of a pattern, which writes it down as it goes.
struct PatternReader<'p> {
    rest: &'p str,
    out: String,
    /// Open parentheses, and whether each is a lookbehind or inside one.
    open: Vec<bool>,
}

/// The pattern for a later PCRE2.
///
/// # Errors
/// The pattern has a part that 10.32 refuses and later versions know.
pub(crate) fn translated(pattern: &str) -> Result<String, Unknown> {
    let mut reader = PatternReader { rest: pattern, out: String::with_capacity(pattern.len() + 8), open: Vec::new() };
    while let Some(letter) = reader.rest.chars().next() {
        match letter {
            '\\' => reader.escape()?,
            '[' => reader.class()?,
            '{' => reader.brace()?,
            '(' => reader.parenthesis()?,
            ')' => {
                reader.open.pop();
                reader.copy(1);
            }
            '?' if reader.looks_behind() && !reader.out.ends_with('(') => return Err(Unknown::VaryingLookbehind),
            other => reader.copy(other.len_utf8()),
        }
    }
    Ok(reader.out)
}

impl PatternReader<'_> {
    /// Copies a number of bytes.
    fn copy(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn looks_behind(&self) -> bool {
        self.open.last() == Some(&true)
    }

    /// A backslash and what belongs to it.
    fn escape(&mut self) -> Result<(), Unknown> {
        let Some(letter) = self.rest[1..].chars().next() else {
            self.copy(1);
            return Ok(());
        };
        let after = &self.rest[1 + letter.len_utf8()..];
        match letter {
            'Q' => {
                let end = after.find("\\E").map_or(self.rest.len(), |at| 2 + at + 2);
                self.copy(end);
            }
            'x' if !after.starts_with(|next: char| next == '{' || next.is_ascii_hexdigit()) => {
                self.copy(2);
                self.out.push_str("00");
            }
            'x' | 'o' | 'p' | 'P' | 'g' | 'k' if after.starts_with('{') => {
                let length = after.find('}').unwrap_or(after.len());
                let name = &after[1..length.max(1)];
                if name.starts_with([' ', '\t']) || name.ends_with([' ', '\t']) {
                    return Err(Unknown::SpacedBraces);
                }
                if letter.eq_ignore_ascii_case(&'p') && name.contains([':', '=', ' ', '-']) {
                    return Err(Unknown::Property);
                }
                self.copy((2 + length + 1).min(self.rest.len()));
            }
            _ => self.copy(1 + letter.len_utf8()),
        }
        Ok(())
    }

    /// `[…]`, in which only backslashes and the names of classes in brackets have a meaning.
    fn class(&mut self) -> Result<(), Unknown> {
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        if self.rest.starts_with(']') {
            self.copy(1);
        }
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                ']' => {
                    self.copy(1);
                    break;
                }
                '\\' => self.escape()?,
                '[' if self.rest[1..].starts_with([':', '.', '=']) => {
                    let mark = &self.rest[1..2];
                    let end = self.rest[2..].find(&format!("{mark}]")).map_or(1, |at| 2 + at + 2);
                    self.copy(end);
                }
                other => self.copy(other.len_utf8()),
            }
        }
        Ok(())
    }

    /// `{…}`, which is text unless it is digits, or digits and a comma and perhaps more digits.
    fn brace(&mut self) -> Result<(), Unknown> {
        let Some(end) = self.rest.find('}') else {
            self.copy(1);
            return Ok(());
        };
        let inside = &self.rest[1..end];
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if number(least) && most.is_none_or(|most| most.is_empty() || number(most)) {
            if self.looks_behind() && most.is_some_and(|most| most.parse::<u32>().ok() != least.parse().ok()) {
                return Err(Unknown::VaryingLookbehind);
            }
            self.copy(end + 1);
            return Ok(());
        }
        let blank = |letter| matches!(letter, ' ' | '\t');
        let loose = |text: &str| text.trim_matches(blank).bytes().all(|byte| byte.is_ascii_digit());
        if loose(least) && most.is_none_or(loose) {
            self.out.push('\\');
        }
        self.copy(1);
        Ok(())
    }

    /// `(` and what says which kind of group it is.
    fn parenthesis(&mut self) -> Result<(), Unknown> {
        let after = &self.rest[1..];
        let behind = self.looks_behind();
        if let Some(verb) = after.strip_prefix('*') {
            if verb.starts_with(|letter: char| letter.is_ascii_lowercase()) {
                return Err(Unknown::Verb);
            }
        } else if let Some(comment) = after.strip_prefix("?#") {
            let end = comment.find(')').map_or(self.rest.len(), |at| 3 + at + 1);
            self.copy(end);
            return Ok(());
        } else if let Some(kind) = after.strip_prefix('?') {
            let letters = kind.find(|letter: char| !letter.is_ascii_alphabetic() && !matches!(letter, '-' | '^'));
            let options = &kind[..letters.unwrap_or(kind.len())];
            if matches!(kind[options.len()..].chars().next(), Some(')' | ':')) && options.contains(['a', 'r']) {
                return Err(Unknown::OptionLetter);
            }
            self.open.push(match kind {
                _ if kind.starts_with("<=") || kind.starts_with("<!") => true,
                _ if kind.starts_with(['=', '!']) => false,
                _ => behind,
            });
            self.copy(2);
            return Ok(());
        }
        self.open.push(behind);
        self.copy(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::pattern::{Options, Pattern};

    /// Answers of `regexp` of the reference; none where it says error.
    #[test]
    fn patterns_mean_what_they_mean_to_the_reference() {
        for (pattern, text, expected) in [
            ("^a{,2}$", "aa", Some(false)),
            ("^a{,2}$", "a{,2}", Some(true)),
            ("a{ 2 }", "a{ 2 }", Some(true)),
            ("a{ 2}", "aa", Some(false)),
            ("a{2, 3}", "aaa", Some(false)),
            ("{,2}", "{,2}", Some(true)),
            ("[^]{,2}]a{,2}", "2a{,2}", Some(false)),
            ("[^]{,2}]a{,2}", "xa{,2}", Some(true)),
            ("\\{,2}", "{,2}", Some(true)),
            ("\\Qa{,2}\\E", "a{,2}", Some(true)),
            ("^a{}$", "a{}", Some(true)),
            ("^a{2}$", "aa", Some(true)),
            ("^a{2,}$", "aaa", Some(true)),
            ("\\x", "q", Some(false)),
            ("[\\xg]", "g", Some(true)),
            ("\\x4", "\x04", Some(true)),
            ("\\x{41}", "A", Some(true)),
            ("\\x{ 41 }", "A", None),
            ("(?<=a?)d", "aad", None),
            ("(?<=a{1,2})d", "aad", None),
            ("(?<=a{2})d", "aad", Some(true)),
            ("(?<=a|bc)d", "bcd", Some(true)),
            ("(?<=(?=a?)a)d", "ad", Some(true)),
            ("(*pla:a)a", "a", None),
            ("(?aD)a", "a", None),
            ("(?i-s)A", "a", Some(true)),
            ("\\p{sc:Latin}", "A", None),
            ("\\p{Lu}", "A", Some(true)),
            ("(?<n>a)\\k{ n }", "aa", None),
            ("(?#a{,2})a", "a", Some(true)),
        ] {
            let found = Pattern::compile(pattern.as_bytes(), Options::default()).ok();
            assert_eq!(found.map(|found| found.is_match(text.as_bytes()).unwrap()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_has_one_meaning_is_copied() {
        for pattern in [
            "",
            "a\\",
            "[",
            "[]",
            "[[:alpha:]",
            "(?",
            "(?<",
            "(*",
            "(?#x",
            "{",
            "a{2",
            "\\p{",
            "\\x{",
            "\\Qa(",
            "é{2}[é]\\é",
        ] {
            assert_eq!(translated(pattern).as_deref(), Ok(pattern));
        }
    }
}
