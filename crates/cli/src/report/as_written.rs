//! Conditions in the words of a submit file: its spaces, `=?=` for `is`, and its spelling of names.
//!
//! In: an explanation of the job of a submit file, and the text of the file. Out: the same with the text of each condition that is
//! in the file, so that it can be found there.

use std::collections::HashMap;
use std::ops::Range;

use classmate_advice::internal::explain::Explanation;
use classmate_advice::internal::explain::repair::suggestion::Changed;

/// A word, a string, a number, an operator or another sign, with its place.
struct Token {
    place: Range<usize>,
    /// The text that all spellings of it have.
    text: String,
}

/// The tokens of a text. A backslash at the end of a line continues it.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, one)) = rest.next() {
        let is_word = |one: char| one.is_alphanumeric() || one == '_' || one == '.';
        let is_continued = one == '\\' && text[start + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if one.is_whitespace() || is_continued {
            continue;
        }
        let mut end = start + one.len_utf8();
        if is_word(one) {
            while let Some((at, next)) = rest.next_if(|(_, next)| is_word(*next)) {
                end = at + next.len_utf8();
            }
        } else if one == '"' {
            let mut last = one;
            while let Some((at, next)) = rest.next_if(|(_, next)| *next != '\n') {
                end = at + next.len_utf8();
                if next == '"' && last != '\\' {
                    break;
                }
                last = next;
            }
        } else if let Some(operator) = ["=?=", "=!="].into_iter().find(|known| text[start..].starts_with(known)) {
            end = start + operator.len();
            rest.nth(operator.len() - 2);
        }
        let text = match &text[start..end] {
            string if one == '"' => string.to_owned(),
            word if word.eq_ignore_ascii_case("is") => "=?=".to_owned(),
            word if word.eq_ignore_ascii_case("isnt") => "=!=".to_owned(),
            word => word.to_ascii_lowercase(),
        };
        found.push(Token { place: start..end, text });
    }
    found
}

/// A submit file with its tokens, without those of comments.
struct Source<'f> {
    file: &'f str,
    tokens: Vec<Token>,
    /// The places of each token among all.
    places: HashMap<String, Vec<usize>>,
}

impl<'f> Source<'f> {
    fn of(file: &'f str) -> Self {
        let (mut all, mut line, mut seen) = (tokens(file), 0, 0);
        all.retain(|one| {
            line = file[seen..one.place.start].rfind('\n').map_or(line, |end| seen + end + 1);
            seen = one.place.start;
            !file[line..].trim_start().starts_with('#')
        });
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, token) in all.iter().enumerate() {
            places.entry(token.text.clone()).or_default().push(at);
        }
        Source { file, tokens: all, places }
    }

    /// The last tokens of the file that are those of a condition, unless it is very long: the last value of a command counts.
    fn find(&self, condition: &[Token]) -> Option<&[Token]> {
        const MAX_TOKENS: usize = 500;
        if condition.len() > MAX_TOKENS {
            return None;
        }
        let places = |token: &Token| self.places.get(&token.text).map_or([].as_slice(), Vec::as_slice);
        // The rarest token tells most places apart.
        let (offset, rarest) = condition.iter().enumerate().min_by_key(|(_, token)| places(token).len())?;
        let found = places(rarest).iter().rev().filter_map(|at| {
            let start = at.checked_sub(offset)?;
            self.tokens.get(start..start + condition.len())
        });
        let is_it = |some: &&[Token]| some.iter().zip(condition).all(|(one, other)| one.text == other.text);
        found.take(MAX_TOKENS).find(is_it)
    }

    /// A part of the file, on one line.
    fn shown(&self, place: Range<usize>) -> String {
        let text = &self.file[place];
        if !text.contains('\n') {
            return text.to_owned();
        }
        text.lines().map(|line| line.trim().trim_end_matches('\\').trim_end()).collect::<Vec<_>>().join(" ")
    }

    /// A condition as the file has it, and another one that is written in place of it; none if it is not in the file.
    fn replaced(&self, before: &str, after: &str) -> Option<(String, String)> {
        let (old, new) = (tokens(before), tokens(after));
        let found = self.find(&old)?;
        let is_same = |(one, other): &(&Token, &Token)| one.text == other.text;
        let first = old.iter().zip(&new).take_while(is_same).count();
        let most = old.len().min(new.len()) - first;
        let last = old.iter().rev().zip(new.iter().rev()).take(most).take_while(is_same).count();
        let whole = found.first()?.place.start..found.last()?.place.end;
        let (changed, written) = (&found[first..found.len() - last], &new[first..new.len() - last]);
        let (begin, end, middle) = match (changed, written) {
            // Something is written between two tokens, with the blanks around it.
            ([], _) => (
                first.checked_sub(1).map_or(whole.start, |at| found[at].place.end),
                found.get(first).map_or(whole.end, |next| next.place.start),
                first.checked_sub(1).map_or(0, |at| new[at].place.end)
                    ..new.get(new.len() - last).map_or(after.len(), |next| next.place.start),
            ),
            ([one, ..], []) => (one.place.start, changed[changed.len() - 1].place.end, 0..0),
            ([one, ..], [start, ..]) => (
                one.place.start,
                changed[changed.len() - 1].place.end,
                start.place.start..written[written.len() - 1].place.end,
            ),
        };
        let middle = &after[middle];
        // Where the file has no blank, none is written before what follows.
        let middle = if changed.is_empty() && begin == end { middle.trim_end() } else { middle };
        let written = [self.shown(whole.start..begin), middle.to_owned(), self.shown(end..whole.end)].concat();
        Some((self.shown(whole), written))
    }

    /// A condition as the file has it, or as it is if the file does not have it.
    fn condition(&self, text: &str) -> String {
        match self.find(&tokens(text)) {
            Some([first, .., last]) => self.shown(first.place.start..last.place.end),
            _ => text.to_owned(),
        }
    }

    /// A sentence in which conditions, which are in backticks, are as the file has them.
    fn sentence(&self, text: &str) -> String {
        let part = |(at, part): (usize, &str)| if at % 2 == 1 { self.condition(part) } else { part.to_owned() };
        text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
    }
}

/// Writes the conditions of an explanation of the job of a submit file as the file has them.
pub(crate) fn as_written(found: &mut Explanation, file: &str) {
    let source = Source::of(file);
    for cause in &mut found.causes {
        cause.text = source.sentence(&cause.text);
    }
    let clauses = found.clauses.iter_mut().map(|clause| &mut clause.text);
    let absent = found.absent.iter_mut().filter(|one| one.of_job).map(|one| &mut one.clause);
    let nearest = found.nearest.iter_mut().flat_map(|near| &mut near.by_job);
    for text in clauses.chain(absent).chain(nearest).chain(&mut found.never).chain(&mut found.always) {
        *text = source.condition(text);
    }
    let changes = found.suggestions.iter_mut().flat_map(|one| &mut one.changes);
    for change in changes.filter(|change| change.of != Changed::Slot) {
        if let Some((before, after)) = source.replaced(&change.before, &change.after) {
            (change.before, change.after) = (before, after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Disk  >=  5\nrequirements = (Machine =?= \"C01\") && \\\n   regexp(\"^p\", Machine) && Disk>=5 && x isnt 3\nqueue\n";

    fn source() -> Source<'static> {
        Source::of(FILE)
    }

    #[test]
    fn conditions_are_those_of_the_file() {
        let of = |before: &str, after: &str| source().replaced(before, after);
        let pair = |one: &str, other: &str| Some((one.to_owned(), other.to_owned()));
        assert_eq!(of("Machine is \"C01\"", "Machine is \"c01\""), pair("Machine =?= \"C01\"", "Machine =?= \"c01\""));
        assert_eq!(of("regexp(\"^p\",Machine)", "true"), pair("regexp(\"^p\", Machine)", "true"));
        assert_eq!(
            of("regexp(\"^p\",Machine)", "regexp(\"^p\",Machine,\"i\")"),
            pair("regexp(\"^p\", Machine)", "regexp(\"^p\", Machine,\"i\")")
        );
        assert_eq!(of("Disk >= 5", "Disk >= 41"), pair("Disk>=5", "Disk>=41"));
        assert_eq!(of("x isnt 3", "x isnt 4"), pair("x isnt 3", "x isnt 4"));
        assert_eq!(
            Source::of("requirements = member(Cpus, {2,4})").replaced("member(Cpus,{ 2,4 })", "member(Cpus,{ 2,4,1 })"),
            pair("member(Cpus, {2,4})", "member(Cpus, {2,4,1})")
        );
        assert_eq!(of("Disk >= 5", "Disk >= 5 * 1024"), pair("Disk>=5", "Disk>=5 * 1024"));
        // The names of strings are as they are written, and what is not there stays.
        assert_eq!(of("Machine is \"c01\"", "true"), None);
        assert_eq!(of("Memory > 1", "Memory > 0"), None);
        assert_eq!(of("", "1"), None);
    }

    #[test]
    fn a_condition_of_two_lines_is_on_one() {
        assert_eq!(
            source().sentence("no slot satisfies `Machine is \"C01\") && regexp(\"^p\"` (5)"),
            "no slot satisfies `Machine =?= \"C01\") && regexp(\"^p\"` (5)"
        );
    }
}
