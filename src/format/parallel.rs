//! The long format read by several threads at once.
//!
//! In: an input. Out: its ads in order, and the same report as one reader would give. The input is cut behind blank
//! lines into chunks; every thread reads chunks with a reader of its own, which keeps what it learned (names in their
//! order, shapes of ads, expressions already parsed, strings already seen) from chunk to chunk.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ad::ClassAd;
use crate::format::MAX_AD_BYTES;
use crate::format::long::LongReader;
use crate::format::report::Report;
use crate::format::room::{Room, is_too_large};
use crate::format::selection::Selection;
use crate::format::source::Source;
use crate::syntax::parse::ParseOptions;
use crate::syntax::token::is_space;
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
    /// True if the input was not read to its end, because it takes too much room.
    is_cut: bool,
    /// The input goes on inside an ad that is too long, whose beginning was handed out: true at the start of a line.
    inside: Option<bool>,
}

impl<R: Read> Cutter<R> {
    fn new(input: R) -> Self {
        Self { is_cut: false, input, rest: Vec::new(), number: 0, offset: 0, line: 1, ended: false, inside: None }
    }

    /// The next chunk, in a buffer that is no longer needed: memory that is there already costs less than new.
    fn next(&mut self, mut text: Vec<u8>) -> io::Result<Option<Chunk>> {
        text.clear();
        text.append(&mut self.rest);
        while !self.ended {
            let before = text.len();
            text.reserve(CHUNK);
            let read = self.input.by_ref().take(CHUNK as u64).read_to_end(&mut text);
            self.is_cut = read.as_ref().is_err_and(is_too_large);
            self.ended = self.is_cut || read? < CHUNK;
            if self.inside.is_some() {
                self.skip(&mut text);
                continue;
            }
            let is_long = text.len() > MAX_AD_BYTES;
            let cut = last_blank_line(&text, before.saturating_sub(2))
                .or_else(|| if is_long { last_line_of_spaces(&text) } else { None });
            if let Some(cut) = cut {
                self.rest.extend_from_slice(&text[cut..]);
                text.truncate(cut);
                break;
            }
            if is_long {
                // The reader of this chunk sees that the ad is too long.
                self.inside = Some(text.ends_with(b"\n"));
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

    /// Drops lines of the ad that is too long, to the blank line behind it.
    fn skip(&mut self, text: &mut Vec<u8>) {
        let mut start = 0;
        while let Some(at_start) = self.inside
            && let Some(length) = memchr::memchr(b'\n', &text[start..])
        {
            let is_last = at_start && text[start..start + length].iter().all(|byte| is_space(*byte));
            self.inside = if is_last { None } else { Some(true) };
            start += length + 1;
            self.line += 1;
        }
        // The line that the text ends in is looked at when there is more of it, unless it is long itself.
        if self.inside.is_some() && text.len() - start > CHUNK {
            start = text.len();
            self.inside = Some(false);
        }
        self.offset += start as u64;
        text.drain(..start);
    }
}

/// The start of the line after the last blank line, looking from the end no further back than `from`.
fn last_blank_line(text: &[u8], from: usize) -> Option<usize> {
    // From line to line: a search for each kind of blank line would go through the whole text for the kind that is not there.
    let mut text = &text[from..];
    while let Some(end) = memchr::memrchr(b'\n', text) {
        let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
        if line.ends_with(b"\n") {
            return Some(from + end + 1);
        }
        text = &text[..end];
    }
    None
}

/// The start of the line after the last one of nothing but white space.
fn last_line_of_spaces(text: &[u8]) -> Option<usize> {
    let mut end = memchr::memrchr(b'\n', text)?;
    loop {
        let start = memchr::memrchr(b'\n', &text[..end]).map_or(0, |newline| newline + 1);
        if text[start..end].iter().all(|byte| is_space(*byte)) {
            return Some(end + 1);
        }
        end = start.checked_sub(1)?;
    }
}

/// A chunk that a thread read: its number, its ads, its errors.
type Part = (usize, Vec<ClassAd>, Report);

/// Reads all ads of an input of the long format, with as many threads as there are.
///
/// Of constants only those of the selection are kept, if there is one. The input is read as far as it has room. `make` may change each ad as it is read; it is
/// given a place to keep what it wants from ad to ad, one for each thread.
///
/// # Errors
/// The input cannot be read, or there is no room for its ads.
///
/// ```
/// use classmate::internal::format::parallel::read_long;
/// use classmate::ParseOptions;
/// let (text, options) = ("a = 1\n\na = 2\n".as_bytes(), ParseOptions::default());
/// let (ads, report) = read_long::<()>(text, &options, None, &Default::default(), |ad, ()| ad)?;
/// assert_eq!((ads.len(), report.ads), (2, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_long<K: Default>(
    input: impl Read + Send,
    options: &ParseOptions,
    selection: Option<&Arc<Selection>>,
    room: &Room,
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
                let ad = make(ad?, &mut kept);
                room.keep(&ad)?;
                ads.push(ad);
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
    let (ads, mut report) = joined(parts.into_inner().unwrap_or_else(PoisonError::into_inner));
    report.is_cut = cutter.into_inner().unwrap_or_else(PoisonError::into_inner).is_cut;
    Ok((ads, report))
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
        let (ads, report) =
            read_long::<()>(text, &ParseOptions::default(), None, &Room::default(), |ad, ()| ad).unwrap();
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
    fn the_last_blank_line_ends_in_either_way() {
        let cases: [(&[u8], usize, Option<usize>); 8] = [
            (b"", 0, None),
            (b"a\nb\n", 0, None),
            (b"a\n\nb\n", 0, Some(3)),
            (b"a\n\nb\r\n\r\nc", 0, Some(8)),
            (b"a\n\r\nb\n\nc\n", 0, Some(7)),
            // The line end in front of a blank line counts as part of it.
            (b"a\n\nb", 1, Some(3)),
            (b"a\n\nb", 2, None),
            (b"\n\r\r\n\r\n", 0, Some(6)),
        ];
        for (text, from, expected) in cases {
            assert_eq!(last_blank_line(text, from), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn an_ad_that_is_too_long_is_skipped_by_many_threads_too() {
        let line = b"Filler = \"abcdefghijklmnopqrstuvwxyz\"\n";
        let many = line.repeat(MAX_AD_BYTES / line.len() + 1000);
        let one = [b"b = \"", vec![b'x'; MAX_AD_BYTES + 5 * CHUNK].as_slice(), b"\"\n"].concat();
        let spaces = [vec![b' '; MAX_AD_BYTES + 5 * CHUNK].as_slice(), b"\n"].concat();
        for large in [many, one, spaces] {
            for end in [&b"\n"[..], b" \n", b"\r\n", b"a = 1\n\n"] {
                let text = [b"a = 1\n\n", large.as_slice(), end, b"c = 2\n"].concat();
                let (expected, report) = sequential(&text);
                assert_eq!((expected.len(), report.skipped_ads, report.errors), (2, 1, 1));
                same(&text);
            }
        }
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn equal_strings_are_one() {
        // Each thread shares what it reads itself.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let text = b"a = \"x\"\n\na = \"x\"\n";
        let read =
            || read_long::<()>(&text[..], &ParseOptions::default(), None, &Room::default(), |ad, ()| ad).unwrap();
        let (ads, _) = alone.install(read);
        let text = |ad: &ClassAd| ad.constant("a").and_then(|value| value.as_bytes().map(<[u8]>::as_ptr));
        assert_eq!(text(&ads[0]), text(&ads[1]));
    }
}
