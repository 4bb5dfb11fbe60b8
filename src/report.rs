//! Errors and findings as text for people: place, caret, help, colour.
//!
//! The only module that draws. Errors come in as values with a place; what would have been right is said here.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::error::{Finding, Severity, SyntaxError};
use crate::span::Span;
use crate::syntax::diagnose::diagnose;
use crate::syntax::parse::ParseOptions;

/// Whether output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    /// Escape sequences are written.
    On,
    /// Plain text.
    #[default]
    Off,
}

/// How much of a long line is shown around a place.
const CONTEXT: usize = 160;

/// Renders an error in a source text that begins on a line of a file.
///
/// `origin` names the source (`job.ad`, or what the text is called), `first_line` is the number of the source's
/// first line in it. `help` says what to do; without it, what people usually mean by such a text is said.
pub fn render(
    error: &SyntaxError,
    source: &[u8],
    origin: &str,
    first_line: usize,
    help: Option<&str>,
    color: Color,
) -> String {
    let finding = match help {
        Some(help) => Finding::from(error).help(help),
        None => diagnose(source, error, &ParseOptions::default()),
    };
    render_finding(&finding, source, origin, first_line, color)
}

/// Renders a finding about a source text that begins on a line of a file; see [`render`].
pub fn render_finding(finding: &Finding, source: &[u8], origin: &str, first_line: usize, color: Color) -> String {
    let primary = Mark { span: finding.span, kind: AnnotationKind::Primary, label: None };
    let related = finding.related.as_ref();
    let related = related.map(|(span, why)| Mark { span: *span, kind: AnnotationKind::Context, label: Some(why) });
    let pictures = match related {
        Some(related) if fits_beside(source, finding.span, related.span) => vec![vec![primary, related]],
        Some(related) => vec![vec![primary], vec![related]],
        None => vec![vec![primary]],
    };
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(finding.message.as_str()));
    for marks in pictures {
        group = group.elements(picture(source, origin, first_line, &marks));
    }
    let help = finding.help.as_deref();
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = match color {
        Color::On => Renderer::styled(),
        Color::Off => Renderer::plain(),
    };
    renderer.render(&[group])
}

/// A place that is underlined.
struct Mark<'f> {
    span: Span,
    kind: AnnotationKind,
    label: Option<&'f String>,
}

/// Whether two places are so near that one line shows both.
fn fits_beside(source: &[u8], one: Span, other: Span) -> bool {
    let both = one.to(other).range();
    let text = &source[both.start.min(source.len())..both.end.min(source.len())];
    text.len() <= CONTEXT && memchr::memchr(b'\n', text).is_none()
}

/// A line with its marks, the first of which gives the place.
fn picture<'f>(source: &[u8], origin: &'f str, first_line: usize, marks: &[Mark<'f>]) -> Vec<Element<'f>> {
    let spans: Vec<_> = marks.iter().map(|mark| mark.span.range()).collect();
    let window = Window::around(source, &spans);
    let place = Origin::path(origin).line(first_line + window.lines_before).char_column(window.column);
    let annotations = marks.iter().zip(window.marks).map(|(mark, span)| {
        let annotation = mark.kind.span(span);
        match mark.label {
            Some(label) => annotation.label(label.as_str()),
            None => annotation,
        }
    });
    let snippet =
        Snippet::source(window.text).line_start(first_line + window.lines_before).annotations(annotations);
    vec![place.into(), snippet.into()]
}

/// The line of a place, cut to a readable length and made valid text.
struct Window {
    text: String,
    /// The places in `text`, in the order asked for.
    marks: Vec<Range<usize>>,
    /// Lines of the source before this one.
    lines_before: usize,
    /// Column of the first place in the source's line, in characters, from 1.
    column: usize,
}

impl Window {
    /// The line of the first of some places that stand on it.
    fn around(source: &[u8], spans: &[Range<usize>]) -> Window {
        let start = spans.iter().map(|span| span.start).min().unwrap_or_default().min(source.len());
        let line_start = memchr::memrchr(b'\n', &source[..start]).map_or(0, |newline| newline + 1);
        let line_end = memchr::memchr(b'\n', &source[start..]).map_or(source.len(), |newline| start + newline);
        let from = cut_before(source, line_start, start.saturating_sub(CONTEXT));
        let clamped: Vec<Range<usize>> = spans
            .iter()
            .map(|span| {
                let first = span.start.clamp(start, line_end);
                first..span.end.clamp(first, line_end).min(first + CONTEXT)
            })
            .collect();
        let last = clamped.iter().map(|span| span.end).max().unwrap_or(start);
        let to = line_end.min(last + CONTEXT);
        // Cut at every mark, so that marks stand between characters however the bytes are shown.
        let mut cuts: Vec<usize> = clamped.iter().flat_map(|span| [span.start, span.end]).chain([from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut text = String::from(if from > line_start { "…" } else { "" });
        let mut shown = vec![(from, text.len())];
        for pair in cuts.windows(2) {
            text.push_str(&printable(&source[pair[0]..pair[1]]));
            shown.push((pair[1], text.len()));
        }
        if to < line_end {
            text.push('…');
        }
        let at = |offset: usize| shown.iter().find(|(known, _)| *known == offset).map_or(0, |(_, place)| *place);
        let marks = clamped.iter().map(|span| at(span.start)..at(span.end)).collect();
        let lines_before = memchr::memchr_iter(b'\n', &source[..line_start]).count();
        let first = clamped.first().map_or(start, |span| span.start);
        let column = String::from_utf8_lossy(&source[line_start..first]).chars().count() + 1;
        Window { text, marks, lines_before, column }
    }
}

fn cut_before(source: &[u8], line_start: usize, wanted: usize) -> usize {
    let mut from = wanted.max(line_start);
    while from > line_start && source[from] & 0xC0 == 0x80 {
        from -= 1;
    }
    from
}

/// Bytes as text without characters that would move the caret or the cursor.
pub fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|character| match character {
            '\t' => ' ',
            other if other.is_control() => '·',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn rendered(source: &str) -> String {
        let error = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap_err();
        render(&error, source.as_bytes(), "job.ad", 3, Some("`*` needs a value on both sides"), Color::Off)
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let report = rendered("Memory + * 2");
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines[0], "error: expected an expression, found `*`");
        let source = lines.iter().position(|line| line.contains("Memory + * 2")).unwrap();
        let star = lines[source].find('*').unwrap();
        assert_eq!(lines[source + 1].find('^'), Some(star));
        assert!(report.contains("job.ad:3:10"), "{report}");
        assert!(report.contains("help: `*` needs a value on both sides"), "{report}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let source = format!("{} + * 2 {}", "a".repeat(5000), "+ b".repeat(5000));
        let report = rendered(&source);
        assert!(report.len() < 2000, "{}", report.len());
        assert!(report.contains("+ * 2"));
    }
}
