//! Ads of JSON and XML as each version reads them.
//!
//! In: a text and two versions. Out: its ads by their places, with what each version reads or refuses, and the texts of their
//! attributes.

use std::cell::RefCell;
use std::io;

use classmate::internal::error::{SyntaxError, SyntaxErrorKind};
use classmate::internal::format::json::parse_json;
use classmate::internal::syntax::literal::Literal;
use classmate::{ClassAd, Expr, Format, Name, ParseOptions, Reader, Semantics, Span};

/// The ad that a version reads, or the reason that it refuses it.
type ReadAd = Result<ClassAd, SyntaxError>;

/// An ad of a file, of which one version at least reads something.
pub(super) struct SourceAd<'t> {
    text: &'t [u8],
    format: Format,
    /// The line, if the ad is on one alone.
    pub(super) line: Option<u64>,
    /// The ad in the two versions that are compared.
    pub(super) ads: [ReadAd; 2],
    options: [ParseOptions; 2],
    /// The ad in other versions, as far as they were asked for.
    others: RefCell<Vec<(Semantics, ReadAd)>>,
}

/// Hands on each ad of a text in the order of their places.
pub(super) fn each_ad(
    text: &[u8],
    format: Format,
    options: &[ParseOptions; 2],
    mut with: impl FnMut(&SourceAd<'_>),
) -> io::Result<()> {
    let mut readers = options.each_ref().map(|options| Reader::new(text, format, options));
    let mut read = |at: usize| -> io::Result<_> {
        let Some(ad) = readers[at].next().transpose()? else { return Ok(None) };
        let place = readers[at].place().unwrap_or_default();
        let [start, end] = [place.start, place.end].map(|place| usize::try_from(place).unwrap_or(text.len()));
        Ok(Some((start, end, ad)))
    };
    let mut next = [read(0)?, read(1)?];
    let (mut line, mut counted) = (1, 0);
    while let Some((start, end)) = next.iter().flatten().map(|(start, end, _)| (*start, *end)).min() {
        line += memchr::memchr_iter(b'\n', &text[counted..start]).count() as u64;
        counted = start;
        let own = &text[start..end];
        let mut taken = [None, None];
        for at in [0, 1] {
            if next[at].as_ref().is_some_and(|(other, ..)| *other == start) {
                taken[at] = std::mem::replace(&mut next[at], read(at)?).map(|(.., ad)| Ok(ad));
            }
        }
        let [first, second] = taken;
        let ads = [
            first.unwrap_or_else(|| read_ad(own, format, &options[0])),
            second.unwrap_or_else(|| read_ad(own, format, &options[1])),
        ];
        let line = memchr::memchr(b'\n', own).is_none().then_some(line);
        with(&SourceAd { text: own, format, line, ads, options: options.clone(), others: RefCell::default() });
    }
    Ok(())
}

fn read_ad(text: &[u8], format: Format, options: &ParseOptions) -> ReadAd {
    let unread = || SyntaxError::new(SyntaxErrorKind::TooLarge("an ad that is too large"), Span::new(0, text.len()));
    let mut reader = Reader::new(text, format, options);
    match reader.next() {
        Some(Ok(ad)) => Ok(ad),
        _ => Err(reader.report().faults.first().map_or_else(unread, |fault| fault.error.clone())),
    }
}

impl SourceAd<'_> {
    /// The names of the attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        let [first, second] = self.ads.each_ref().map(|ad| ad.as_ref().ok());
        let others = second.into_iter().flat_map(ClassAd::names);
        let others = others.filter(move |name| first.is_none_or(|first| !first.contains(*name)));
        first.into_iter().flat_map(ClassAd::names).chain(others)
    }

    /// An attribute, or the whole ad, as a version reads it.
    pub(super) fn part(&self, name: Option<Name>, semantics: Semantics) -> Result<Expr, SyntaxError> {
        let part = |ad: &ClassAd| match name {
            Some(name) => ad.get(name).unwrap_or_else(|| Expr::literal(Literal::Undefined)),
            None => ad.to_expr(),
        };
        let of = |ad: &ReadAd| ad.as_ref().map(part).map_err(SyntaxError::clone);
        if let Some(at) = (0..2).find(|at| self.options[*at].semantics == semantics) {
            return of(&self.ads[at]);
        }
        let mut others = self.others.borrow_mut();
        if let Some((_, ad)) = others.iter().find(|(other, _)| *other == semantics) {
            return of(ad);
        }
        let options = ParseOptions { semantics, ..self.options[0].clone() };
        let ad = read_ad(self.text, self.format, &options);
        let part = of(&ad);
        others.push((semantics, ad));
        part
    }

    /// The place of a name in the text, in quotes; `None` if it is there more than once.
    fn place(&self, name: Name) -> Option<usize> {
        let quoted = [b"\"", name.as_bytes(), b"\""].concat();
        let mut places = memchr::memmem::find_iter(self.text, &quoted);
        places.next().filter(|_| places.next().is_none())
    }

    /// The expression or number that an attribute has in the text; `None` if it is a list or an ad, or not found for sure.
    pub(super) fn written(&self, name: Name) -> Option<Vec<u8>> {
        let rest = self.text[self.place(name)? + name.as_bytes().len() + 2..].trim_ascii_start();
        match self.format {
            Format::Xml => in_xml(rest.strip_prefix(b">")?),
            _ => in_json(rest.strip_prefix(b":")?.trim_ascii_start()),
        }
    }

    /// The last attribute that one of the versions refuses: it refuses all that begins there.
    pub(super) fn last_refused(&self) -> Option<Name> {
        let refusing = self.ads.iter().position(Result::is_err)?;
        let mut places: Vec<(usize, Name)> = self.names().filter_map(|name| Some((self.place(name)?, name))).collect();
        places.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(*place));
        let is_refused = |(place, _): &(usize, Name)| {
            let rest = match self.format {
                Format::Xml => {
                    let tag = memchr::memrchr(b'<', &self.text[..*place]).unwrap_or(*place);
                    [b"<c>", &self.text[tag..]].concat()
                }
                _ => [b"{", &self.text[*place..]].concat(),
            };
            read_ad(&rest, self.format, &self.options[refusing]).is_err()
        };
        places.into_iter().find(is_refused).map(|(_, name)| name)
    }
}

/// The expression or number that a text of JSON begins with.
fn in_json(text: &[u8]) -> Option<Vec<u8>> {
    let Some(string) = text.strip_prefix(b"\"") else {
        let is_number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let number = &text[..text.iter().take_while(|byte| is_number(byte)).count()];
        return number.first().is_some_and(|first| b"-.0123456789".contains(first)).then(|| number.to_vec());
    };
    let expression = string.strip_prefix(b"\\/Expr(")?;
    let end = memchr::memmem::find(expression, b")\\/\"")?;
    // As the reader decodes a string.
    let (ad, _) = parse_json(&[b"{\"a\": \"", &expression[..end], b"\"}"].concat(), &ParseOptions::default()).ok()?;
    Some(ad.constant("a")?.as_bytes()?.to_vec())
}

/// The expression or number that is the element with which a text of XML begins.
fn in_xml(text: &[u8]) -> Option<Vec<u8>> {
    let element = text.trim_ascii_start().strip_prefix(b"<")?;
    let tag = &element[..memchr::memchr(b'>', element)?];
    let content = &element[tag.len() + 1..];
    let content = &content[..memchr::memchr(b'<', content)?];
    let time = |function: &[u8]| Some([function, b"(\"", content, b"\")"].concat());
    match tag {
        b"i" => Some(content.to_vec()),
        b"at" => time(b"absTime"),
        b"rt" => time(b"relTime"),
        b"e" => {
            let text = String::from_utf8_lossy(content);
            Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").into_bytes())
        }
        _ => None,
    }
}
