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

/// The attributes of each ad; those behind a word that no version knows are left out.
pub(super) fn entries(text: &[u8]) -> Vec<Vec<WrittenAttribute>> {
    // What the oldest version does not read as one word, it reads as several.
    let options = ParseOptions { quoting: Quoting::New, semantics: Semantics::of(OLDEST), ..ParseOptions::default() };
    let (mut ads, mut ad): (Vec<Vec<WrittenAttribute>>, Vec<WrittenAttribute>) = (Vec::new(), Vec::new());
    let (mut depth, mut name, mut value): (u32, Option<Name>, Option<Range<usize>>) = (0, None, None);
    for (start, token, end) in Lexer::new(text, &options).map_while(Result::ok) {
        match (&token, depth) {
            // Ads may be in a list.
            (Token::Mark(Mark::OpenBrace | Mark::CloseBrace | Mark::Comma), 0) => continue,
            (Token::Mark(Mark::OpenBracket), 0) => {
                depth = 1;
                continue;
            }
            (_, 0) => break,
            (Token::Mark(Mark::Semicolon), 1) => {
                ad.extend(name.take().zip(value.take()));
                continue;
            }
            (Token::Mark(Mark::CloseBracket), 1) => {
                ad.extend(name.take().zip(value.take()));
                ads.push(std::mem::take(&mut ad));
                depth = 0;
                continue;
            }
            (Token::Mark(Mark::OpenBracket | Mark::OpenBrace | Mark::OpenParen), _) => depth += 1,
            (Token::Mark(Mark::CloseBracket | Mark::CloseBrace | Mark::CloseParen), _) => depth -= 1,
            (Token::Name(word), 1) if name.is_none() => {
                name = Some(*word);
                continue;
            }
            (Token::Mark(Mark::Assign), 1) if value.is_none() => {
                value = Some(end..end);
                continue;
            }
            _ => {}
        }
        if let Some(value) = &mut value {
            *value = if value.start == value.end { start..end } else { value.start..end };
        }
    }
    ads
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
        assert_eq!(shown("[a = 1"), Vec::<Vec<String>>::new());
        assert_eq!(shown("a = 1"), Vec::<Vec<String>>::new());
    }
}
