//! Source maps: the place in the file of each part of a knob's value, also of continued values and macros.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use super::LineIndex;
use classmate::Span;
use classmate_config::internal::config::origin::{self, Piece};
use classmate_config::{Config, Definition, Location, Source};

/// The value of a definition: as it is written, after expansion, and in its file.
pub(crate) struct SourceMap<'c> {
    pub(super) file: Arc<str>,
    /// The line on which [`SourceMap::text`] begins.
    pub(super) line: u32,
    /// The lines of the statement.
    pub(super) text: &'c [u8],
    /// The offset of these lines in the file.
    start: usize,
    /// The offsets of the value's lines in the value and in the file; `None` if the file does not contain the value
    /// verbatim.
    lines: Option<Vec<(usize, usize)>>,
    /// The place of the value in the lines of the statement; the statement if that is unknown.
    whole: Span,
    /// The pieces of the expansion; `None` if it cannot be divided into pieces.
    pieces: Option<Vec<Piece>>,
    /// The names of macros that the value refers to, with the parts of the expansion that they give.
    names: Vec<(Range<usize>, Vec<u8>)>,
    /// The part of the value that is not in the statement: it came from a template or the earlier value of the name.
    given: Range<usize>,
    length: usize,
    /// The beginnings of the lines of the statement, and the line of a comment among them, once they are asked for.
    starts: OnceCell<LineIndex>,
    comment: OnceCell<Option<u64>>,
}

impl<'c> SourceMap<'c> {
    pub(crate) fn new(
        config: &Config,
        source: Option<&(&'c Source, LineIndex)>,
        definition: &Definition<'_>,
        expanded: &[u8],
    ) -> Self {
        let place = definition.place.cloned().unwrap_or_else(|| Location::outside("the built-in defaults"));
        let raw = definition.raw;
        let stays = || vec![Piece { raw: 0..raw.len(), text: 0..raw.len(), stays: true }];
        let pieces = if raw == expanded { Some(stays()) } else { config.pieces(definition.name, raw, expanded) };
        let of_macro = |piece: &Piece| Some((piece.text.clone(), macro_name(&raw[piece.raw.clone()])?.to_vec()));
        let names = pieces.iter().flatten().filter(|piece| !piece.stays).filter_map(of_macro).collect();
        let mut map = SourceMap {
            names,
            file: place.file,
            line: place.line,
            text: b"",
            start: 0,
            lines: None,
            whole: Span::new(0, 0),
            pieces,
            given: if definition.template.is_some() { 0..raw.len() } else { 0..0 },
            length: raw.len(),
            starts: OnceCell::new(),
            comment: OnceCell::new(),
        };
        let Some((file, starts)) = source.map(|(source, starts)| (&*source.text, starts)) else { return map };
        let Some(start) = starts.offset(place.line, 1).filter(|start| *start <= file.len()) else { return map };
        let end_of = |at: usize| memchr::memchr(b'\n', &file[at..]).map_or(file.len(), |end| at + end);
        let value = definition.value.filter(|_| definition.template.is_none());
        let value = value.and_then(|(line, column)| starts.offset(line, column)).filter(|at| *at <= file.len());
        let lines = |at: usize| origin::lines(file, at, raw);
        map.lines = value.and_then(|value| lines(value).or_else(|| lines(origin::block(file, value)?)));
        let last = map.lines.as_ref().map_or(start, |lines| origin::offset(lines, raw.len().saturating_sub(1)));
        let end = end_of(last.max(start));
        map.text = &file[start..end];
        map.start = start;
        let from = value.filter(|at| (start..=end).contains(at)).unwrap_or(start + place.column.max(1) as usize - 1);
        let from = from.clamp(start, end) - start;
        let line = end_of(start + from) - start;
        let text = map.text[..line.min(map.text.len())].trim_ascii_end();
        let to = text.strip_suffix(b"\\").unwrap_or(text).trim_ascii_end().len();
        map.whole = Span::new(from, to.max(from));
        if map.lines.is_none() && definition.template.is_none() {
            // It begins on the first line and ends on the last one that is continued.
            let first = &map.text[from..to.max(from)];
            let mut lines = file[start + from..].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
            let last = lines.find(|line| !line.ends_with(b"\\")).unwrap_or(first);
            map.given = between(first, last, raw);
        }
        map
    }

    /// The line in the statement, from 0, of an offset.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        self.starts.get_or_init(|| LineIndex::of(self.text)).line(at).saturating_sub(1) as u32
    }

    /// The statement; of a long one the whole lines that one or two places are in.
    pub(super) fn lines_of(&self, span: Span, other: Option<Span>) -> Range<usize> {
        /// Bytes of a statement that is shown with each finding.
        const MAX_SHOWN: usize = 16 << 10;
        if self.text.len() <= MAX_SHOWN {
            return 0..self.text.len();
        }
        let (span, other) = (span.range(), other.unwrap_or(span).range());
        let starts = self.starts.get_or_init(|| LineIndex::of(self.text));
        let line = starts.line(span.start.min(other.start).min(self.text.len()));
        let start = starts.offset(line as u32, 1).unwrap_or_default();
        let last = span.end.max(other.end).min(self.text.len());
        let end = memchr::memchr(b'\n', &self.text[last..]).map_or(self.text.len(), |end| last + end);
        start..end.max(start)
    }

    /// The line of a comment between those of the statement.
    pub(super) fn comment(&self) -> Option<u64> {
        *self.comment.get_or_init(|| origin::comment_within(self.text))
    }

    /// The parts of the expansion that come from macros, templates or the name's own earlier value.
    pub(super) fn made(&self) -> Vec<Range<usize>> {
        self.parts(&|_| true).unwrap_or_else(|| std::iter::once(0..usize::MAX).collect())
    }

    /// Those of them that come from a template or an earlier value, or from a macro of which `is_foreign` holds for the
    /// place of the reference in the value.
    pub(super) fn foreign(&self, is_foreign: &dyn Fn(Range<usize>) -> bool) -> Vec<Range<usize>> {
        self.parts(is_foreign).unwrap_or_default()
    }

    fn parts(&self, of_macro: &dyn Fn(Range<usize>) -> bool) -> Option<Vec<Range<usize>>> {
        let part = |piece: &Piece| {
            if !piece.stays {
                return of_macro(piece.raw.clone()).then(|| piece.text.clone());
            }
            let (start, end) = (piece.raw.start.max(self.given.start), piece.raw.end.min(self.given.end));
            let shifted = |at: usize| piece.text.start + (at - piece.raw.start);
            (start < end).then(|| shifted(start)..shifted(end))
        };
        Some(self.pieces.as_ref()?.iter().filter_map(part).collect())
    }

    /// The references to macros in the value, with the parts of the expansion that they give.
    pub(super) fn macros(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let pieces = self.pieces.as_deref().unwrap_or_default().iter().filter(|piece| !piece.stays);
        pieces.map(|piece| (piece.raw.clone(), piece.text.clone()))
    }

    /// The macro that gives a part of the expansion, and the part of the expansion that it gives.
    pub(super) fn of_macro(&self, part: &Range<usize>) -> Option<(&[u8], Range<usize>)> {
        let holds = |made: &Range<usize>| made.start <= part.start && part.end <= made.end && part.start < part.end;
        self.names.iter().find(|(made, _)| holds(made)).map(|(made, name)| (name.as_slice(), made.clone()))
    }

    /// The part of the expansion that is the name's own earlier value, as far as it is known.
    pub(super) fn earlier(&self) -> Option<Range<usize>> {
        let mut stays = self.pieces.as_deref()?.iter().filter(|piece| piece.stays);
        let holds = |piece: &&Piece| piece.raw.start <= self.given.start && self.given.end <= piece.raw.end;
        let piece = stays.find(holds).filter(|_| !self.given.is_empty())?;
        let shifted = |at: usize| piece.text.start + (at - piece.raw.start);
        Some(shifted(self.given.start)..shifted(self.given.end))
    }

    /// Returns true if the file contains the value, and none of it is replaced.
    pub(super) fn is_written(&self) -> bool {
        self.lines.is_some() && self.made().is_empty()
    }

    /// The source of a part of the expansion, in the lines of the statement; and the part of the expansion that all of
    /// that gives, if it is not there as it is.
    pub(super) fn span(&self, part: Range<usize>) -> (Span, Option<Range<usize>>) {
        let Some(pieces) = &self.pieces else { return (self.whole, Some(0..usize::MAX)) };
        let raw = origin::origin(pieces, part.clone());
        let touched = |piece: &&Piece| piece.raw.start < raw.end.max(raw.start + 1) && raw.start < piece.raw.end;
        let made = pieces.iter().filter(touched).any(|piece| !piece.stays);
        let gives = made.then(|| {
            let touched: Vec<&Piece> = pieces.iter().filter(touched).collect();
            let start = touched.first().map_or(part.start, |first| {
                if first.stays { first.text.start + (raw.start - first.raw.start) } else { first.text.start }
            });
            let end = touched.last().map_or(part.end, |last| {
                if last.stays { last.text.start + (raw.end - last.raw.start) } else { last.text.end }
            });
            start..end.max(start)
        });
        let Some(lines) = &self.lines else { return (self.whole, gives.or(Some(0..usize::MAX))) };
        let start = origin::offset(lines, raw.start);
        let end = if raw.end > raw.start { origin::offset(lines, raw.end - 1) + 1 } else { start };
        let within = |at: usize| at.saturating_sub(self.start).min(self.text.len());
        (Span::new(within(start), within(end).max(within(start))), gives)
    }

    /// The bytes of the file that bytes of the value are.
    pub(crate) fn in_file(&self, part: Range<usize>) -> Range<usize> {
        let (span, _) = self.span(part);
        self.start + span.range().start..self.start + span.range().end
    }

    /// Returns true if a part of the value has a place in a file at all.
    pub(super) fn is_somewhere(&self) -> bool {
        !self.text.is_empty() && self.length > 0
    }
}

/// The name in `$(name)` or `$(name:default)`.
fn macro_name(reference: &[u8]) -> Option<&[u8]> {
    let rest = reference.strip_prefix(b"$(")?;
    let end = rest.iter().position(|byte| matches!(byte, b':' | b')'))?;
    Some(rest[..end].trim_ascii())
}

/// The part of a value after the prefix it shares with its first line and before the suffix it shares with its last
/// line.
fn between(first: &[u8], last: &[u8], raw: &[u8]) -> Range<usize> {
    let alike = |(one, two): &(&u8, &u8)| one == two;
    let start = first.iter().zip(raw).take_while(alike).count();
    let end = last.iter().rev().zip(raw[start..].iter().rev()).take_while(alike).count();
    start..raw.len() - end
}
