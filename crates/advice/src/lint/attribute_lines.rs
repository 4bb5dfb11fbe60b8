//! The lines of attributes in ads in JSON or XML, whose readers do not keep them.

use std::collections::BTreeMap;

use classmate::{ClassAd, Name};

/// The lines of the attributes of each ad of a text.
#[derive(Debug, Default)]
pub struct AttributeLines {
    /// By names in lower case.
    ads: Vec<BTreeMap<Vec<u8>, u64>>,
    next: usize,
}

impl AttributeLines {
    /// The lines of a text in JSON.
    pub fn of_json(text: &[u8]) -> Self {
        let mut lines = AttributeLines::default();
        // The number of open objects: an ad is one that is in no other.
        let (mut open, mut line, mut at) = (0_usize, 1, 0);
        while let Some(byte) = text.get(at) {
            match byte {
                b'\n' => line += 1,
                b'{' => {
                    open += 1;
                    if open == 1 {
                        lines.ads.push(BTreeMap::new());
                    }
                }
                b'}' => open = open.saturating_sub(1),
                b'"' => {
                    let start = at + 1;
                    at = end_of_string(text, start);
                    let behind = text[at..].iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
                    if let Some(ad) = lines.ads.last_mut().filter(|_| open == 1 && behind == Some(&b':')) {
                        ad.entry(text[start..at].to_ascii_lowercase()).or_insert(line);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        lines
    }

    /// The lines of a text in XML.
    pub fn of_xml(text: &[u8]) -> Self {
        let mut lines = AttributeLines::default();
        let (mut depth, mut line, mut counted) = (0_usize, 1, 0);
        for at in tags(text) {
            line += memchr::memchr_iter(b'\n', &text[counted..at]).count() as u64;
            counted = at;
            let rest = &text[at..];
            if rest.starts_with(b"<c>") || rest.starts_with(b"<c ") {
                depth += 1;
                if depth == 1 {
                    lines.ads.push(BTreeMap::new());
                }
            } else if rest.starts_with(b"</c>") {
                depth = depth.saturating_sub(1);
            } else if let Some(name) = rest.strip_prefix(b"<a n=\"").filter(|_| depth == 1)
                && let Some(ad) = lines.ads.last_mut()
            {
                let end = name.iter().take_while(|byte| !matches!(byte, b'"' | b'<')).count();
                ad.entry(name[..end].to_ascii_lowercase()).or_insert(line);
            }
        }
        lines
    }

    /// Turns to the next ad that has all attributes of an ad: those that cannot be read are left out.
    pub fn turn_to(&mut self, ad: &ClassAd) {
        let has_all = |lines: &BTreeMap<Vec<u8>, u64>| ad.iter().all(|(name, _)| lines.contains_key(name.folded()));
        let found = self.ads.iter().skip(self.next).position(has_all);
        self.next = found.map_or(self.ads.len() + 1, |found| self.next + found + 1);
    }

    /// The line of an attribute of the present ad; 0 if it is not known.
    pub fn line(&self, name: Name) -> u64 {
        let ad = self.next.checked_sub(1).and_then(|at| self.ads.get(at));
        ad.and_then(|lines| lines.get(name.folded())).copied().unwrap_or_default()
    }
}

/// The offsets of the tags of a text in XML, outside of comments.
pub(super) fn tags(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut behind = 0;
    memchr::memchr_iter(b'<', text).filter(move |at| {
        let is_tag = *at >= behind && !text[*at..].starts_with(b"<!--");
        if *at >= behind && !is_tag {
            behind = memchr::memmem::find(&text[*at..], b"-->").map_or(text.len(), |end| at + end);
        }
        is_tag
    })
}

/// The end of a string in JSON that begins at an offset.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut known: AttributeLines, ads: &[&str]) -> Vec<u64> {
        let line = |text: &&str| {
            let ad: ClassAd = text.parse().unwrap();
            known.turn_to(&ad);
            known.line(Name::new("B"))
        };
        ads.iter().map(line).collect()
    }

    #[test]
    fn attributes_have_the_lines_of_their_ads() {
        let json =
            b"[\n{ \"A\": \"x\\\"{\",\n \"B\": { \"C\": [1, {\"B\": 2}] } },\n\n{ \"C\": 1 },\n{ \"b\" :\n 2 }\n]";
        // The second ad could not be read.
        assert_eq!(lines(AttributeLines::of_json(json), &["[ A = 1; B = 2 ]", "[ B = 2 ]"]), [3, 6]);
        assert_eq!(
            lines(AttributeLines::of_json(b"{ \"B\": 1 }\n{ \"B\": 2 }\n"), &["[ B = 1 ]", "[ B = 2 ]"]),
            [1, 2]
        );
        assert_eq!(lines(AttributeLines::of_json(b"{ \"B"), &["[ B = 1 ]"]), [0]);
        let xml = b"<classads>\n<c>\n<!-- <a n=\"B\"> -->\n<a n=\"B\"><i>1</i></a>\n</c>\n<c>\n<a n=\"D\"><c>\n<a n=\"B\"/></c></a>\n<a n=\"B\"/></c></classads>";
        assert_eq!(lines(AttributeLines::of_xml(xml), &["[ B = 1 ]", "[ D = 1; B = 2 ]"]), [4, 9]);
    }
}
