//! The long format read by several threads at once.
//!
//! In: an input. Out: its ads in order, and the same report as one reader would give. The input is cut behind blank
//! lines into chunks; every thread reads chunks with a reader of its own, which keeps what it learned (names in their
//! order, expressions already parsed, strings already seen) from chunk to chunk.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::ad::{Attribute, ClassAd};
use crate::format::long::LongReader;
use crate::format::report::Report;
use crate::format::source::Source;
use crate::syntax::literal::Literal;
use crate::syntax::parse::ParseOptions;
use crate::text::Text;

/// Bytes that are handed to a thread at once.
const CHUNK: usize = 4 << 20;

/// Strings that a thread remembers; then all are forgotten.
const STRINGS: usize = 1 << 16;

/// Longest string that is remembered.
const LONGEST: usize = 256;

/// A part of the input.
struct Chunk {
    number: usize,
    text: Vec<u8>,
    offset: u64,
    line: u64,
}

/// Cuts an input into chunks.
struct Cutter<R> {
    input: R,
    /// What was read behind the last cut.
    rest: Vec<u8>,
    number: usize,
    offset: u64,
    line: u64,
    ended: bool,
}

impl<R: Read> Cutter<R> {
    fn next(&mut self) -> io::Result<Option<Chunk>> {
        let mut text = std::mem::take(&mut self.rest);
        while !self.ended {
            let before = text.len();
            self.ended = (&mut self.input).take(CHUNK as u64).read_to_end(&mut text)? == 0;
            if let Some(cut) = last_blank_line(&text, before.saturating_sub(2)) {
                self.rest = text.split_off(cut);
                break;
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        let chunk = Chunk { number: self.number, offset: self.offset, line: self.line, text };
        self.number += 1;
        self.offset += chunk.text.len() as u64;
        self.line += memchr::memchr_iter(b'\n', &chunk.text).count() as u64;
        Ok(Some(chunk))
    }
}

/// Where the line behind the last blank line begins, looking from the end no further back than `from`.
fn last_blank_line(text: &[u8], from: usize) -> Option<usize> {
    let ends = |end: &[u8]| memchr::memmem::rfind(&text[from..], end).map(|at| from + at + end.len());
    ends(b"\n\n").max(ends(b"\n\r\n"))
}

/// Strings that were seen, so that equal ones are one.
#[derive(Default)]
struct Strings {
    hasher: DefaultHashBuilder,
    known: HashTable<Text>,
}

impl Strings {
    fn share(&mut self, ad: &mut ClassAd) {
        use std::hash::BuildHasher;
        for value in ad.values_mut() {
            let Attribute::Literal(Literal::Str(text)) = value else { continue };
            if text.len() > LONGEST {
                continue;
            }
            let hash = self.hasher.hash_one(text.as_bytes());
            if let Some(known) = self.known.find(hash, |known| known == text) {
                *text = known.clone();
                continue;
            }
            if self.known.len() >= STRINGS {
                self.known.clear();
            }
            let hasher = &self.hasher;
            self.known.insert_unique(hash, text.clone(), |text| hasher.hash_one(text.as_bytes()));
        }
    }
}

/// What a thread read: the number of the chunk, its ads, what was wrong.
type Part = (usize, Vec<ClassAd>, Report);

/// Reads all ads of an input of the long format, with as many threads as there are.
///
/// `make` may change each ad as it is read; it is given a place to keep what it wants from ad to ad, one for each thread.
///
/// # Errors
/// The input cannot be read.
///
/// ```
/// use classmate::format::parallel::read_long;
/// use classmate::syntax::parse::ParseOptions;
/// let (ads, report) = read_long::<()>("a = 1\n\na = 2\n".as_bytes(), &ParseOptions::default(), |ad, ()| ad)?;
/// assert_eq!((ads.len(), report.ads), (2, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_long<K: Default>(
    input: impl Read + Send,
    options: &ParseOptions,
    make: impl Fn(ClassAd, &mut K) -> ClassAd + Sync,
) -> io::Result<(Vec<ClassAd>, Report)> {
    let cutter = Mutex::new(Cutter { input, rest: Vec::new(), number: 0, offset: 0, line: 1, ended: false });
    let parts: Mutex<Vec<Part>> = Mutex::default();
    let failed: Mutex<Option<io::Error>> = Mutex::default();
    let work = || -> io::Result<()> {
        let mut reader: LongReader<&[u8]> = LongReader::new(&[], options);
        let (mut strings, mut kept) = (Strings::default(), K::default());
        loop {
            let Some(chunk) = cutter.lock().unwrap_or_else(PoisonError::into_inner).next()? else { return Ok(()) };
            let mut ads = Vec::new();
            let mut of_chunk = reader.over_next(Source::at(chunk.text.as_slice(), chunk.offset, chunk.line));
            for ad in of_chunk.by_ref() {
                let mut ad = ad?;
                strings.share(&mut ad);
                ads.push(make(ad, &mut kept));
            }
            let report;
            (report, reader) = of_chunk.finished();
            parts.lock().unwrap_or_else(PoisonError::into_inner).push((chunk.number, ads, report));
        }
    };
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                if let Err(error) = work() {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    Ok(joined(parts.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// The parts in order.
fn joined(mut parts: Vec<Part>) -> (Vec<ClassAd>, Report) {
    parts.sort_by_key(|(number, ..)| *number);
    let mut ads = Vec::with_capacity(parts.iter().map(|(_, ads, _)| ads.len()).sum());
    let mut report = Report::on(crate::syntax::token::Quoting::Old);
    for (_, mut part, of_part) in parts {
        ads.append(&mut part);
        report.join(of_part);
    }
    (ads, report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequential(text: &[u8]) -> (Vec<String>, Report) {
        let mut reader = LongReader::new(text, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        (ads, reader.report().clone())
    }

    fn same(text: &[u8]) {
        let (ads, report) = read_long::<()>(text, &ParseOptions::default(), |ad, ()| ad).unwrap();
        let (expected, of_one) = sequential(text);
        assert_eq!(ads.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        assert_eq!(report, of_one);
    }

    #[test]
    fn many_threads_read_what_one_reads() {
        for text in [
            &b""[..],
            b"a = 1",
            b"\n\n\na = 1\n\n\n\nb = 2\n",
            b"a = 1\r\n\r\nb = \"x\"\r\n",
            b"a = (\n\nb = 1\n\nno\n",
        ] {
            same(text);
        }
        // Several chunks, with faults in some.
        let mut text = Vec::new();
        for number in 0..60_000 {
            let value = if number % 9_973 == 7 { "(" } else { "x + 1" };
            text.extend(format!("Name = \"slot{number}\"\nA = {value}\nSite = \"s{}\"\n\n", number % 5).into_bytes());
            text.extend(b"Filler = \"".iter().chain([b'z'; 200].iter()).chain(b"\"\n\n"));
        }
        assert!(text.len() > 3 * CHUNK);
        same(&text);
    }

    #[test]
    fn equal_strings_are_one() {
        // Each thread shares what it reads itself.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let text = b"a = \"x\"\n\na = \"x\"\n";
        let read = || read_long::<()>(&text[..], &ParseOptions::default(), |ad, ()| ad).unwrap();
        let (ads, _) = alone.install(read);
        let text = |ad: &ClassAd| ad.constant("a").and_then(|value| value.as_bytes().map(<[u8]>::as_ptr));
        assert_eq!(text(&ads[0]), text(&ads[1]));
    }
}
