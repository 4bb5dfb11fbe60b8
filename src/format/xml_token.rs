//! Tags and text of the XML form: a few fixed tags, three entities, nothing else of XML
//! (`docs/reference/classad-language.md` 9.4).

use std::borrow::Cow;

use crate::syntax::token::{is_space, new_string};

/// The side of an element that a tag is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TagSide {
    /// `<i>`
    Start,
    /// `</i>`
    End,
    /// `<i/>`
    Empty,
}

/// A tag: everything between `<` and the next `>`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag<'t> {
    pub(crate) side: TagSide,
    pub(crate) name: &'t [u8],
    /// The text after the name.
    rest: &'t [u8],
    /// Offset behind the `>`.
    pub(crate) end: usize,
}

impl<'t> Tag<'t> {
    /// The tag that begins at the `<` at `start`. One that is cut off by the end of the text has no name.
    pub(crate) fn at(text: &'t [u8], start: usize) -> Self {
        let Some(length) = memchr::memchr(b'>', &text[start..]) else {
            return Tag { side: TagSide::Empty, name: &[], rest: &[], end: text.len() };
        };
        let close = start + length;
        let inner = text[start + 1..close].trim_ascii_start();
        let (inner, ends) = inner.strip_prefix(b"/").map_or((inner, false), |rest| (rest.trim_ascii_start(), true));
        let (inner, empty) = inner.strip_suffix(b"/").map_or((inner, false), |rest| (rest, true));
        let length = inner.iter().take_while(|byte| !is_space(**byte)).count();
        let side = match (ends, empty) {
            (true, _) => TagSide::End,
            (false, true) => TagSide::Empty,
            (false, false) => TagSide::Start,
        };
        let (name, rest) = inner.split_at(length);
        Tag { side, name, rest, end: close + 1 }
    }

    /// Tests whether this is the end tag of an element.
    pub(crate) fn closes(&self, name: &[u8]) -> bool {
        self.side == TagSide::End && self.name == name
    }

    /// The value of an attribute of the tag, entities as they are. The reference takes any character for the first
    /// quote, but only `"` for the second.
    pub(crate) fn attribute(&self, wanted: &[u8]) -> Option<&'t [u8]> {
        let mut rest = self.rest;
        loop {
            rest = rest.trim_ascii_start();
            let assign = memchr::memchr(b'=', rest)?;
            let name = rest[..assign].trim_ascii_end();
            let value = rest[assign + 1..].trim_ascii_start();
            let value = value.get(1..)?;
            let end = new_string(value, b'"').map_or(value.len(), |length| length - 1);
            if name == wanted {
                return Some(&value[..end]);
            }
            rest = value.get(end + 1..)?;
        }
    }
}

/// Replaces `&amp;`, `&lt;` and `&gt;`; other entities stay as they are.
pub(crate) fn decode_entities(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'&', text) else { return Cow::Borrowed(text) };
    let mut bytes = Vec::with_capacity(text.len());
    bytes.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    loop {
        let known: [(&[u8], u8); 3] = [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>')];
        if let Some((entity, byte)) = known.iter().find(|(entity, _)| rest.starts_with(entity)) {
            bytes.push(*byte);
            rest = &rest[entity.len()..];
        } else {
            bytes.extend(rest.first());
            rest = rest.get(1..).unwrap_or_default();
        }
        let Some(next) = memchr::memchr(b'&', rest) else {
            bytes.extend_from_slice(rest);
            return Cow::Owned(bytes);
        };
        bytes.extend_from_slice(&rest[..next]);
        rest = &rest[next..];
    }
}

/// Replaces `&`, `<` and `>` in what was written behind `start`.
pub(crate) fn encode_entities(out: &mut Vec<u8>, start: usize) {
    let special = |byte: u8| matches!(byte, b'&' | b'<' | b'>');
    let Some(first) = out[start..].iter().position(|byte| special(*byte)) else { return };
    let written = out.split_off(start + first);
    let mut rest = written.as_slice();
    while let Some(at) = rest.iter().position(|byte| special(*byte)) {
        out.extend_from_slice(&rest[..at]);
        let entity: &[u8] = match rest[at] {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            _ => b"&gt;",
        };
        out.extend_from_slice(entity);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Looks for the end of the ad that a text begins with; can go on when more of the text arrives.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    at: usize,
    /// The place to look for the end of the tag at `at`.
    searched: usize,
    depth: usize,
}

impl Elements {
    /// Forgets the text that was searched, of this length: the next one begins behind it, or with the tag in which it ends.
    /// Returns the length of what is forgotten.
    pub(crate) fn forget(&mut self, length: usize) -> usize {
        // A tag that is as long as an ad may be is forgotten.
        let forgotten = if self.at == 0 { length } else { self.at };
        (self.at, self.searched) = (0, self.searched.saturating_sub(forgotten));
        forgotten
    }

    /// The length of the text to the `</c>` that belongs to its first tag; `None` if that is not there yet.
    pub(crate) fn find(&mut self, text: &[u8]) -> Option<usize> {
        loop {
            self.at += memchr::memchr(b'<', &text[self.at..]).unwrap_or(text.len() - self.at);
            self.searched = self.searched.max(self.at);
            if memchr::memchr(b'>', &text[self.searched..]).is_none() {
                self.searched = text.len();
                return None;
            }
            let tag = Tag::at(text, self.at);
            self.at = tag.end;
            match (tag.name, tag.side) {
                (b"c", TagSide::Start) => self.depth += 1,
                (b"c", TagSide::End) => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth == 0 {
                return Some(self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_may_hold_spaces_and_any_first_quote() {
        let tag = Tag::at(b"< / i >", 0);
        assert_eq!((tag.side, tag.name, tag.end), (TagSide::End, b"i".as_slice(), 7));
        assert_eq!(Tag::at(b"x<b v=\"t\" />", 1).side, TagSide::Empty);
        for (text, name) in [
            ("<a n=\"x\">", Some("x")),
            ("<a n='x'>", Some("x'")),
            ("<a\nn = \"x\"m=\"y\">", Some("x")),
            ("<a m=\"y\" n=\"x\">", Some("x")),
            ("<a n=x>", Some("")),
            ("<a n=\"x>", Some("x")),
            ("<a n=\"x\\\"y\">", Some("x\\\"y")),
            ("<a n=\"x\\>", Some("x\\")),
            ("<a N=\"x\">", None),
            ("<a n>", None),
        ] {
            assert_eq!(Tag::at(text.as_bytes(), 0).attribute(b"n"), name.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn three_entities_are_known() {
        assert_eq!(&*decode_entities(b"&lt;&amp;&gt;"), b"<&>");
        assert_eq!(&*decode_entities(b"&amp;lt; &quot;&#65;&&amp"), b"&lt; &quot;&#65;&&amp");
        let mut out = b"<&".to_vec();
        encode_entities(&mut out, 1);
        assert_eq!(out, b"<&amp;");
        encode_entities(&mut out, 0);
        assert_eq!(out, b"&lt;&amp;amp;");
    }

    #[test]
    fn the_end_of_an_ad_is_found_in_pieces() {
        let text = b"<c><a n=\"x\"><c></c></a><c/></c> <c>";
        for step in [1, 2, 7, 100] {
            let mut elements = Elements::default();
            let found =
                (0..=text.len()).step_by(step).chain([text.len()]).find_map(|length| elements.find(&text[..length]));
            assert_eq!(found, Some(31));
        }
    }
}
