//! Common parts of the ads of one input: the sequence of their names, and the texts of their expressions.
//!
//! The slots of a pool list the same few hundred names in the same order, and most of their expressions are the
//! same few texts. Remembering both makes reading the next ad mostly a matter of comparing bytes.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::ad::{Attribute, ClassAd};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::name::Name;
use crate::semantics::Semantics;
use crate::span::Span;
use crate::syntax::expr::Expr;
use crate::syntax::parse::ParseOptions;
use crate::text::Text;

/// Names ahead that are compared with one that is not the expected one.
const LOOK_AHEAD: usize = 8;

/// The names of an ad, in their order, as a guess at those of the next one.
#[derive(Debug, Default)]
pub(crate) struct Names {
    sequence: Vec<Name>,
    next: usize,
    /// The names of this ad, once one was not as expected.
    other: Option<Vec<Name>>,
}

impl Names {
    /// Expects the names of the first ad again.
    pub(crate) fn restart(&mut self, ad: &ClassAd) {
        self.next = 0;
        self.other = None;
        if !ad.is_empty() && !self.sequence.iter().copied().eq(ad.names()) {
            self.sequence.clear();
            self.sequence.extend(ad.names());
        }
    }

    /// Expects the names that were read since the last time.
    pub(crate) fn again(&mut self) {
        match self.other.take() {
            Some(names) => self.sequence = names,
            None if self.next > 0 => self.sequence.truncate(self.next),
            None => {}
        }
        self.next = 0;
    }

    /// Number of attributes to expect.
    pub(crate) fn len(&self) -> usize {
        self.sequence.len()
    }

    /// The name that is expected next.
    pub(crate) fn expected(&self) -> Option<Name> {
        self.sequence.get(self.next).copied()
    }

    /// The expected name was there.
    pub(crate) fn confirm(&mut self) {
        if let (Some(other), Some(name)) = (&mut self.other, self.sequence.get(self.next)) {
            other.push(*name);
        }
        self.next += 1;
    }

    /// The name of this spelling.
    pub(crate) fn name(&mut self, text: &[u8]) -> Name {
        let before = self.next.min(self.sequence.len());
        let ahead = self.sequence[before..].iter().take(LOOK_AHEAD);
        let name = match ahead.copied().enumerate().find(|(_, name)| name.as_bytes() == text) {
            // The expected one, written in another way.
            Some((0, name)) => {
                self.confirm();
                return name;
            }
            Some((skipped, name)) => {
                self.next += skipped + 1;
                name
            }
            None => Name::new(text),
        };
        self.other.get_or_insert_with(|| self.sequence[..before].to_vec()).push(name);
        name
    }
}

/// Strings that are remembered; then all are forgotten.
const MAX_STRINGS: usize = 1 << 16;

/// Longest string that is remembered.
const MAX_STRING_LENGTH: usize = 256;

/// Strings that were seen, so that equal ones are one.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts {
    hasher: DefaultHashBuilder,
    known: HashTable<Text>,
}

impl SharedTexts {
    /// A string of these bytes.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> Text {
        if bytes.len() > MAX_STRING_LENGTH {
            return Text::new(bytes);
        }
        let hash = self.hasher.hash_one(bytes);
        if let Some(known) = self.known.find(hash, |known| known.as_bytes() == bytes) {
            return known.clone();
        }
        if self.known.len() >= MAX_STRINGS {
            self.known.clear();
        }
        let text = Text::new(bytes);
        let hasher = &self.hasher;
        self.known.insert_unique(hash, text.clone(), |text| hasher.hash_one(text.as_bytes()));
        text
    }
}

/// Bytes of expression texts that are remembered, unless a reader wants fewer; then all are forgotten.
const MAX_EXPRESSIONS: usize = 1 << 20;

/// Texts longer than this are parsed each time.
const MAX_EXPRESSION_LENGTH: usize = 16 << 10;

/// Bytes of the expressions of an ad at most, without those that were parsed for an earlier ad: a tree takes up to sixteen times
/// the memory of its text.
const MAX_EXPRESSION_BYTES: usize = 4 << 20;
const TOO_MUCH_CODE: SyntaxErrorKind = SyntaxErrorKind::TooLarge("more than 4 MiB of expressions");

/// Results of parsing by text: the expression, and how many bytes it takes.
type ParsedTexts = HashMap<Box<[u8]>, (Attribute, usize)>;

/// Parses expressions, each text once: equal texts share one tree.
#[derive(Debug)]
pub(crate) struct Expressions {
    options: ParseOptions,
    parse: ParseText,
    /// The version of ads that do not advertise one, if each ad is read in its own version.
    by_ad: Option<Semantics>,
    /// The results of texts that were parsed before.
    known: ParsedTexts,
    /// Those of other versions.
    others: Vec<(Semantics, ParsedTexts)>,
    bytes: usize,
    /// The most of these bytes.
    most: usize,
    /// Bytes of the expressions of this ad.
    of_ad: usize,
}

/// The versions that the text of ads of any format advertises as `CondorVersion`.
pub fn advertised(text: &[u8]) -> impl Iterator<Item = Semantics> {
    const NAME: &[u8] = b"CondorVersion";
    // `CondorVersion = "…"`, `"CondorVersion": "…"`, `<a n="CondorVersion"><s>…`
    const FORMS: [&[&[u8]]; 3] = [&[b"=", b"\""], &[b"\"", b":", b"\""], &[b"\"", b">", b"<s>"]];
    // `$CondorVersion: …` may be the value of another attribute, and `TARGET.CondorVersion` is one of another ad.
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    memchr::memchr2_iter(b'C', b'c', text).filter_map(move |at| {
        let (name, rest) = text[at..].split_at_checked(NAME.len())?;
        if !name.eq_ignore_ascii_case(NAME) || at > 0 && is_inside(text[at - 1]) {
            return None;
        }
        let value = FORMS
            .iter()
            .find_map(|marks| marks.iter().try_fold(rest, |rest, mark| rest.trim_ascii_start().strip_prefix(*mark)))?;
        Semantics::of_ad(value.split(|byte| matches!(byte, b'"' | b'<' | b'\n')).next()?)
    })
}

/// Parses a text; also returns how many bytes of it are the expression.
pub(crate) type ParseText = fn(&[u8], &ParseOptions) -> Result<(Expr, usize), SyntaxError>;

impl Expressions {
    /// Reads expressions with these options in this way.
    pub(crate) fn new(options: ParseOptions, parse: ParseText) -> Self {
        let (read, by_ad) = (options.semantics.alone(), options.semantics.is_advertised());
        let options = ParseOptions { semantics: read, ..options };
        let by_ad = by_ad.then_some(read);
        let known = HashMap::new();
        Expressions { options, parse, by_ad, known, others: Vec::new(), bytes: 0, most: MAX_EXPRESSIONS, of_ad: 0 }
    }

    /// Remembers so many bytes of texts.
    pub(crate) fn remember(&mut self, bytes: usize) {
        self.most = bytes;
    }

    /// Tests whether each ad is read in its own version.
    pub(crate) fn is_by_ad(&self) -> bool {
        self.by_ad.is_some()
    }

    /// Reads what follows in the version that the text of an ad advertises, if each ad is read in its own version.
    #[inline]
    pub(crate) fn choose(&mut self, ad: &[u8]) {
        if let Some(other) = self.by_ad {
            self.read_as(advertised(ad).next().unwrap_or(other));
        }
    }

    #[cold]
    fn read_as(&mut self, version: Semantics) {
        let before = std::mem::replace(&mut self.options.semantics, version);
        if before == version {
            return;
        }
        let place = self.others.iter().position(|(other, _)| *other == version);
        let known = place.map_or_else(HashMap::new, |place| self.others.swap_remove(place).1);
        self.others.push((before, std::mem::replace(&mut self.known, known)));
    }

    /// The version that was chosen for an ad, if each ad is read in its own version.
    pub(crate) fn chosen(&self) -> Option<Semantics> {
        self.by_ad.map(|_| self.options.semantics)
    }

    /// The next ad begins.
    pub(crate) fn begin(&mut self) {
        self.of_ad = 0;
    }

    /// Counts bytes of expressions of this ad, the last of which are in this place.
    ///
    /// # Errors
    /// They are too many.
    pub(crate) fn count(&mut self, bytes: usize, span: Span) -> Result<(), SyntaxError> {
        self.of_ad += bytes;
        if self.of_ad > MAX_EXPRESSION_BYTES { Err(SyntaxError::new(TOO_MUCH_CODE, span)) } else { Ok(()) }
    }

    /// The options.
    pub(crate) fn options(&self) -> &ParseOptions {
        &self.options
    }

    /// Parses a text, or returns what it was parsed to before; also how many bytes of it are the expression. The text
    /// begins `offset` bytes into the one that places count in, if nodes are to remember their places; then no trees
    /// are shared.
    ///
    /// # Errors
    /// The text is no expression.
    pub(crate) fn parse(&mut self, text: &[u8], offset: usize) -> Result<(Attribute, usize), SyntaxError> {
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        self.count(text.len(), Span::new(0, text.len()))?;
        if self.options.places {
            let (expr, length) = (self.parse)(text, &self.options)?;
            let mut attribute = Attribute::from(&expr);
            drop(expr);
            if let Attribute::Tree(tree) = &mut attribute
                && let Some(tree) = Arc::get_mut(tree)
            {
                tree.spans.iter_mut().for_each(|span| *span = span.shifted(offset));
            }
            return Ok((attribute, length));
        }
        let (expr, length) = (self.parse)(text, &self.options)?;
        let attribute = Attribute::from(&expr);
        if text.len() <= MAX_EXPRESSION_LENGTH {
            if self.bytes + text.len() > self.most {
                self.known.clear();
                self.others.clear();
                self.bytes = 0;
            }
            self.bytes += text.len();
            self.known.insert(text.into(), (attribute.clone(), length));
        }
        Ok((attribute, length))
    }
}

/// A text that has to be an expression as a whole, by one of the parsers that want that.
pub(crate) fn whole(
    parse: fn(&[u8], &ParseOptions) -> Result<Expr, SyntaxError>,
    text: &[u8],
    options: &ParseOptions,
) -> Result<(Expr, usize), SyntaxError> {
    parse(text, options).map(|expr| (expr, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::parse_expr;

    #[test]
    fn names_are_predicted_and_omissions_are_skipped() {
        let ad = ClassAd::parse(b"[A = 1; B = 2; C = 3; D = 4]").unwrap();
        let mut names = Names::default();
        names.restart(&ad);
        assert_eq!(names.expected().map(Name::as_bytes), Some(b"A".as_slice()));
        assert_eq!(names.name(b"C").as_bytes(), b"C");
        assert_eq!(names.expected().map(Name::as_bytes), Some(b"D".as_slice()));
        assert_eq!(names.name(b"d").as_bytes(), b"d");
        assert_eq!(names.expected().map(Name::as_bytes), Some(b"D".as_slice()));
    }

    #[test]
    fn ads_of_every_format_advertise_their_version() {
        let series = |text: &str| advertised(text.as_bytes()).next().map(|version| version.to_string());
        // Another ad's, a comparison, and a name in other letters.
        let other = r#"Requirements = TARGET.CondorVersion == "$CondorVersion: 23.0.28 $""#;
        let compared = r#"A = CondorVersion == "$CondorVersion: 23.0.28 $""#;
        let own = r#"condorversion = "$CondorVersion: 24.0.1 $""#;
        assert_eq!(series(&format!("{other}\n{compared}\n{own}\n")), Some("24.0".to_owned()));
        for text in [
            "Name = \"a\"\nCondorVersion = \"$CondorVersion: 24.0.1 2024-10-31 BuildID: 765651 $\"\nCpus = 1\n",
            "[ ShadowVersion = \"$CondorVersion: 23.0.1 $\"; CondorVersion = \"24.0.1\" ]",
            "{ \"CondorVersion\": \"$CondorVersion: 24.0.1 $\" }",
            "<a n=\"CondorVersion\"><s>$CondorVersion: 24.0.1 $</s></a>",
        ] {
            assert_eq!(series(text).as_deref(), Some("24.0"), "{text}");
        }
        for text in ["A = 1", "ShadowVersion = \"$CondorVersion: 23.0.1 $\"", "CondorVersion = 3", "A = CondorVersion"]
        {
            assert_eq!(series(text), None, "{text}");
        }
    }

    #[test]
    fn equal_texts_share_a_tree_and_memory_stays_bounded() {
        let mut expressions =
            Expressions::new(ParseOptions::default(), |text, options| whole(parse_expr, text, options));
        let (Ok((Attribute::Tree(a), 5)), Ok((Attribute::Tree(b), 5))) =
            (expressions.parse(b"x + 1", 0), expressions.parse(b"x + 1", 0))
        else {
            panic!("not trees");
        };
        assert!(Arc::ptr_eq(&a, &b));
        for number in 0..5000 {
            expressions.parse(format!("x + {number:>500}").as_bytes(), 0).unwrap();
            assert!(expressions.bytes <= MAX_EXPRESSIONS);
        }
        assert!(expressions.parse(b"x +", 0).is_err());
    }
}
