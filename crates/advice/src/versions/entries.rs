//! The attributes of ads in new syntax by their texts, whether or not a version can read them.
//!
//! In: ads in new syntax, one after another or in a list. Out: for each ad the places of names and values.

use std::ops::Range;

use classmate::internal::semantics::OLDEST;
use classmate::internal::syntax::lexer::{Lexer, Token};
use classmate::internal::syntax::token::{Mark, Quoting};
use classmate::{Name, ParseOptions, Semantics};

/// An attribute, and the place of its value.
pub(super) type WrittenAttribute = (Name, Range<usize>);

/// The attributes of each ad, in the order of their places. An attribute with a word that no version knows goes on to the next
/// semicolon or bracket.
pub(super) fn entries(text: &[u8]) -> Vec<Vec<WrittenAttribute>> {
    // What the oldest version does not read as one word, it reads as several.
    let options = ParseOptions { quoting: Quoting::New, semantics: Semantics::of(OLDEST), ..ParseOptions::default() };
    let (mut found, mut from) = (WrittenAds::default(), 0);
    while from < text.len() {
        from = found.read(text, from, &options);
    }
    found.end_ad();
    found.ads
}

/// The ads that were read so far, and the one that is being read.
#[derive(Default)]
struct WrittenAds {
    ads: Vec<Vec<WrittenAttribute>>,
    ad: Vec<WrittenAttribute>,
    /// Number of open brackets, braces and parentheses.
    depth: u32,
    name: Option<Name>,
    value: Option<Range<usize>>,
}

impl WrittenAds {
    /// Reads words from a place on, and returns the place of what is not read.
    fn read(&mut self, text: &[u8], from: usize, options: &ParseOptions) -> usize {
        let mut lexer = Lexer::new(&text[from..], options);
        let mut end = from;
        loop {
            match lexer.next() {
                Some(Ok((start, token, next))) => {
                    end = from + next;
                    self.word(&token, from + start..end);
                }
                Some(Err(error)) => {
                    end = self.skip(text, from + error.span.start as usize);
                    if !lexer.skip_to(end - from) {
                        return end;
                    }
                }
                // A NUL ends what the lexer reads.
                None => return memchr::memchr(0, &text[end..]).map_or(text.len(), |nul| self.skip(text, end + nul)),
            }
        }
    }

    /// Leaves out words from one on that no version knows, up to a semicolon or a bracket, or between ads the beginning of one, and
    /// returns the place of that.
    fn skip(&mut self, text: &[u8], unread: usize) -> usize {
        let rest = &text[unread + 1..];
        let end = if self.depth == 0 { memchr::memchr(b'[', rest) } else { memchr::memchr2(b';', b']', rest) };
        let end = end.map_or(text.len(), |end| unread + 1 + end);
        self.extend(unread..end);
        self.depth = self.depth.min(1);
        end
    }

    fn word(&mut self, token: &Token, place: Range<usize>) {
        match (token, self.depth) {
            (Token::Mark(Mark::OpenBracket), 0) => self.depth = 1,
            // Ads may be in a list; what else is between them is no ad.
            (_, 0) => {}
            (Token::Mark(Mark::Semicolon), 1) => self.ad.extend(self.name.take().zip(self.value.take())),
            (Token::Mark(Mark::CloseBracket), 1) => {
                self.end_ad();
                self.depth = 0;
            }
            (Token::Name(word), 1) if self.name.is_none() => self.name = Some(*word),
            (Token::Mark(Mark::Assign), 1) if self.value.is_none() => self.value = Some(place.end..place.end),
            (token, _) => {
                match token {
                    Token::Mark(Mark::OpenBracket | Mark::OpenBrace | Mark::OpenParen) => self.depth += 1,
                    Token::Mark(Mark::CloseBracket | Mark::CloseBrace | Mark::CloseParen) => self.depth -= 1,
                    _ => {}
                }
                self.extend(place);
            }
        }
    }

    /// Makes a place a part of the value that is being read.
    fn extend(&mut self, place: Range<usize>) {
        if let Some(value) = &mut self.value {
            *value = if value.start == value.end { place } else { value.start..place.end };
        }
    }

    fn end_ad(&mut self) {
        self.ad.extend(self.name.take().zip(self.value.take()));
        if self.depth > 0 {
            self.ads.push(std::mem::take(&mut self.ad));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Vec<String>> {
        let entry = |(name, place): (Name, Range<usize>)| format!("{name}: {}", &text[place]);
        entries(text.as_bytes()).into_iter().map(|ad| ad.into_iter().map(entry).collect()).collect()
    }

    #[test]
    fn the_values_of_attributes_are_found_by_their_words() {
        assert_eq!(
            shown(
                "{ [ a = 10K; b = {1, [c = 2; d = 3]} ; 'e f' = (x ?: 1) != 2 ],\n [A = \"]; b = 1\" /* ; c = 1 */ ] }"
            ),
            [vec!["a: 10K", "b: {1, [c = 2; d = 3]}", "e f: (x ?: 1) != 2"], vec!["A: \"]; b = 1\""]]
        );
        assert_eq!(shown("[a = 1;; b = ; c = 2;]"), [["a: 1", "b: ", "c: 2"]]);
        assert_eq!(shown("[a = 1"), [["a: 1"]]);
        assert_eq!(shown("a = 1"), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_word_that_no_version_knows_ends_with_its_attribute() {
        assert_eq!(
            shown("[a = 1]\n[b = 2; c = (3 + `; d = 4]\n[e = 5]"),
            [vec!["a: 1"], vec!["b: 2", "c: (3 + `", "d: 4"], vec!["e: 5"]]
        );
        assert_eq!(shown("[a = `]\n[b = 1]"), [["a: `"], ["b: 1"]]);
        assert_eq!(shown("[a = 1; b = \"x\n; c = 2]\n[d = 3]").last(), Some(&vec!["d: 3".to_owned()]));
        assert_eq!(shown("[a = `"), [["a: `"]]);
        assert_eq!(shown("`[a = 1]"), [["a: 1"]]);
    }
}
