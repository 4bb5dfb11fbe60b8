//! The long format read by several threads at once.
//!
//! In: an input. Out: its ads in order, and the same report as one reader would give. The input is cut behind blank
//! lines into chunks; every thread reads chunks with a reader of its own, which keeps what it learned (names in their
//! order, shapes of ads, expressions already parsed, strings already seen) from chunk to chunk.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ad::ClassAd;
use crate::format::long::LongReader;
use crate::format::report::Report;
use crate::format::selection::Selection;
use crate::format::source::Source;
use crate::syntax::parse::ParseOptions;
use crate::threads::on_all;

/// Bytes that are handed to a thread at once.
const CHUNK: usize = 4 << 20;

/// A part of the input.
struct Chunk {
    number: usize,
    /// The text, in a buffer that is used again.
    text: Vec<u8>,
    offset: u64,
    line: u64,
}

/// Cuts an input into chunks.
struct Cutter<R> {
    input: R,
    /// The text after the last cut.
    rest: Vec<u8>,
    number: usize,
    offset: u64,
    line: u64,
    ended: bool,
}

impl<R: Read> Cutter<R> {
    fn new(input: R) -> Self {
        Self { input, rest: Vec::new(), number: 0, offset: 0, line: 1, ended: false }
    }

    /// The next chunk, in a buffer that is no longer needed: memory that is there already costs less than new.
    fn next(&mut self, mut text: Vec<u8>) -> io::Result<Option<Chunk>> {
        text.clear();
        text.append(&mut self.rest);
        while !self.ended {
            let before = text.len();
            text.reserve(CHUNK);
            let read = self.input.by_ref().take(CHUNK as u64).read_to_end(&mut text)?;
            self.ended = read < CHUNK;
            if let Some(cut) = last_blank_line(&text, before.saturating_sub(2)) {
                self.rest.extend_from_slice(&text[cut..]);
                text.truncate(cut);
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

/// The start of the line after the last blank line, looking from the end no further back than `from`.
fn last_blank_line(text: &[u8], from: usize) -> Option<usize> {
    let ends = |end: &[u8]| memchr::memmem::rfind(&text[from..], end).map(|at| from + at + end.len());
    ends(b"\n\n").max(ends(b"\n\r\n"))
}

/// A chunk that a thread read: its number, its ads, its errors.
type Part = (usize, Vec<ClassAd>, Report);

/// Reads all ads of an input of the long format, with as many threads as there are.
///
/// Of constants only those of the selection are kept, if there is one. `make` may change each ad as it is read; it is
/// given a place to keep what it wants from ad to ad, one for each thread.
///
/// # Errors
/// The input cannot be read.
///
/// ```
/// use classmate::internal::format::parallel::read_long;
/// use classmate::ParseOptions;
/// let (ads, report) = read_long::<()>("a = 1\n\na = 2\n".as_bytes(), &ParseOptions::default(), None, |ad, ()| ad)?;
/// assert_eq!((ads.len(), report.ads), (2, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_long<K: Default>(
    input: impl Read + Send,
    options: &ParseOptions,
    selection: Option<&Arc<Selection>>,
    make: impl Fn(ClassAd, &mut K) -> ClassAd + Sync,
) -> io::Result<(Vec<ClassAd>, Report)> {
    let cutter = Mutex::new(Cutter::new(input));
    let parts: Mutex<Vec<Part>> = Mutex::default();
    let failed: Mutex<Option<io::Error>> = Mutex::default();
    let work = || -> io::Result<()> {
        let mut reader = LongReader::new(io::empty(), options).sharing();
        if let Some(selection) = selection {
            reader = reader.selecting(Arc::clone(selection));
        }
        let (mut kept, mut buffer, mut of_one) = (K::default(), Vec::new(), 0);
        loop {
            let chunk = cutter.lock().unwrap_or_else(PoisonError::into_inner).next(std::mem::take(&mut buffer))?;
            let Some(Chunk { number, text, offset, line }) = chunk else { return Ok(()) };
            // As many as in the chunk before, and a few.
            let mut ads = Vec::with_capacity(of_one + of_one / 8);
            reader.go_on(Source::at(text, io::empty(), offset, line));
            for ad in reader.by_ref() {
                ads.push(make(ad?, &mut kept));
            }
            of_one = ads.len();
            let report;
            (report, buffer) = reader.go_on(Source::new(io::empty()));
            parts.lock().unwrap_or_else(PoisonError::into_inner).push((number, ads, report));
        }
    };
    on_all(&|| {
        if let Err(error) = work() {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
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
    let mut report = Report::on(Some(crate::syntax::token::Quoting::Old));
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
        let (ads, report) = read_long::<()>(text, &ParseOptions::default(), None, |ad, ()| ad).unwrap();
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

    #[cfg(feature = "parallel")]
    #[test]
    fn equal_strings_are_one() {
        // Each thread shares what it reads itself.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let text = b"a = \"x\"\n\na = \"x\"\n";
        let read = || read_long::<()>(&text[..], &ParseOptions::default(), None, |ad, ()| ad).unwrap();
        let (ads, _) = alone.install(read);
        let text = |ad: &ClassAd| ad.constant("a").and_then(|value| value.as_bytes().map(<[u8]>::as_ptr));
        assert_eq!(text(&ads[0]), text(&ads[1]));
    }
}
