//! Errors and findings as text for people: place, caret, help, colour.
//!
//! The only module that draws. Errors come in as values with a place; what would have been right is said here.

pub mod advise;
pub(crate) mod as_written;
pub mod autoclusters;
pub mod change;
pub mod config;
pub mod cycle;
pub mod cycle_text;
pub mod diff;
pub mod escape;
pub mod explain;
pub mod fold;
pub mod functions;
pub mod lint;
pub mod message_kinds;
pub mod metrics;
pub mod outcome;
pub mod page;
pub mod plot;
pub mod policy;
pub mod provenance;
pub mod quotas;
pub mod replay;
pub mod shadow;
pub mod simulated;
pub mod sprio;
pub mod sshare;
pub mod table;
pub mod taskqueues;
pub mod template;
pub mod userprio;
pub mod verify;
pub mod versions;
pub mod whatif;

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};

use self::escape::escaped;
use crate::cli::language;
use classmate::internal::diagnostic::Severity;
use classmate::internal::format::report::Fault;
pub use classmate::internal::plural::counted;
use classmate::internal::span::Position;
use classmate::internal::syntax::diagnose::diagnose_part;
use classmate::{Diagnostic, ParseOptions, Span};

/// True if output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    /// Escape sequences are written.
    On,
    /// Plain text.
    #[default]
    Off,
}

/// The meaning of a part of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// It works.
    Good,
    /// It does not.
    Bad,
    /// It matters less.
    Faint,
}

impl Color {
    /// A text in the color of its meaning.
    pub fn paint(self, meaning: Paint, text: &str) -> String {
        let style = match meaning {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Faint => "2",
        };
        escape::styled(text, style, self)
    }
}

/// The number of bytes of a long line that are shown on either side of a place.
const CONTEXT: usize = 160;

/// Renders what a reader of ads found wrong in a file, or left out behind a value, as the reference does.
pub fn render_fault(fault: &Fault, file: &str, is_left_out: bool, color: Color) -> String {
    let within = Position::of(&fault.excerpt, fault.error.span.start as usize);
    // The excerpt may begin inside the line.
    let column = fault.position.column.saturating_sub(within.column) + 1;
    let origin = Origin { name: file, line: fault.position.line, column };
    let mut finding = match fault.quoting {
        Some(quoting) if column == 1 => {
            let options = ParseOptions { quoting, ..language::settings().parse_options() };
            diagnose_part(&fault.excerpt, &fault.error, &options)
        }
        _ => Diagnostic::from(&fault.error),
    };
    if is_left_out {
        finding.severity = Severity::Warning;
        finding.message = format!("the rest of this line is ignored: {}", finding.message);
    }
    render_diagnostic(&finding, &fault.excerpt, &origin, color)
}

/// Renders a finding about a source text; `origin` names the source (`job.ad`, or what the text is called) and the position
/// in it at which the source text begins.
pub fn render_diagnostic(finding: &Diagnostic, source: &[u8], origin: &Origin<'_>, color: Color) -> String {
    render_within(finding, None, source, origin, (color, None))
}

/// As [`render_diagnostic`], with a code beside the severity, and with lines of the source cut around the places to a
/// number of columns, if there is one.
pub fn render_within(
    finding: &Diagnostic,
    code: Option<&str>,
    source: &[u8],
    origin: &Origin<'_>,
    (color, columns): (Color, Option<usize>),
) -> String {
    let name = escaped(origin.name);
    let origin = &Origin { name: &name, ..*origin };
    let primary = Mark { span: finding.span, kind: AnnotationKind::Primary, label: None };
    let related = finding.related.as_ref();
    let label = related.map(|label| escaped(&label.text));
    let related =
        related.map(|found| Mark { span: found.span, kind: AnnotationKind::Context, label: label.as_deref() });
    let pictures = match related {
        Some(related) if fits_beside(source, finding.span, related.span, columns) => vec![vec![primary, related]],
        Some(related) => vec![vec![primary], vec![related]],
        None => vec![vec![primary]],
    };
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = escaped(&finding.message);
    let title = level.primary_title(&*message);
    let mut group = Group::with_title(match code {
        Some(code) => title.id(code),
        None => title,
    });
    for marks in pictures {
        group = group.elements(picture(source, origin, &marks));
    }
    let help = finding.help.as_deref().map(escaped);
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(&**help));
    }
    let renderer = match color {
        Color::On => Renderer::styled(),
        Color::Off => Renderer::plain(),
    };
    match columns {
        Some(columns) => renderer.term_width(columns).render(&[group]),
        None => renderer.render(&[group]),
    }
}

/// A place that is underlined.
struct Mark<'f> {
    span: Span,
    kind: AnnotationKind,
    label: Option<&'f str>,
}

/// Returns true if two places are so near that one line of a number of columns, if there is one, shows both.
fn fits_beside(source: &[u8], one: Span, other: Span, columns: Option<usize>) -> bool {
    /// Columns of the number of the line and of the dots where it is cut.
    const BESIDE: usize = 18;
    let both = one.to(other).range();
    let text = &source[both.start.min(source.len())..both.end.min(source.len())];
    let most = columns.map_or(CONTEXT, |columns| CONTEXT.min(columns.saturating_sub(BESIDE)));
    text.len() <= most && memchr::memchr(b'\n', text).is_none()
}

/// A line with its marks, the first of which gives the place.
fn picture<'f>(source: &[u8], origin: &Origin<'f>, marks: &[Mark<'f>]) -> Vec<Element<'f>> {
    let spans: Vec<_> = marks.iter().map(|mark| mark.span.range()).collect();
    let window = Window::around(source, &spans);
    let within = Position::of(source, spans.first().map_or(0, |span| span.start));
    let line = (origin.line + within.line - 1) as usize;
    let column = if within.line == 1 { origin.column + within.column - 1 } else { within.column };
    let annotations = marks.iter().zip(window.marks).map(|(mark, span)| {
        let annotation = mark.kind.span(span);
        match mark.label {
            Some(label) => annotation.label(label),
            None => annotation,
        }
    });
    let snippet = Snippet::source(window.text).line_start(line).annotations(annotations);
    // The renderer counts columns in what it shows, which is right unless the line begins elsewhere or is cut.
    if window.cut || column != within.column {
        let place = annotate_snippets::Origin::path(origin.name).line(line).char_column(column as usize);
        vec![place.into(), snippet.into()]
    } else {
        vec![snippet.path(origin.name).into()]
    }
}

/// The line of a place, cut to a readable length and made valid text.
struct Window {
    text: String,
    /// The places in `text`, in the order asked for.
    marks: Vec<Range<usize>>,
    /// True if the beginning of the line is left out.
    cut: bool,
}

impl Window {
    /// The line of the first of some places that stand on it.
    fn around(source: &[u8], spans: &[Range<usize>]) -> Window {
        let start = spans.iter().map(|span| span.start).min().unwrap_or_default().min(source.len());
        let line_start = memchr::memrchr(b'\n', &source[..start]).map_or(0, |newline| newline + 1);
        let line_end = memchr::memchr(b'\n', &source[start..]).map_or(source.len(), |newline| start + newline);
        // What ends a line is not shown.
        let line_end = line_end - usize::from(line_end > start && source[line_end - 1] == b'\r');
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
        Window { text, marks, cut: from > line_start }
    }
}

/// The origin of a source text.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file, or what the text is called.
    pub name: &'a str,
    /// The line on which the text begins, from 1.
    pub line: u64,
    /// The column at which the text begins, from 1.
    pub column: u64,
}

impl<'a> Origin<'a> {
    /// A text that is the whole of what it is called.
    pub fn whole(name: &'a str) -> Self {
        Origin { name, line: 1, column: 1 }
    }
}

fn cut_before(source: &[u8], line_start: usize, wanted: usize) -> usize {
    let mut from = wanted.max(line_start);
    while from > line_start && source[from] & 0xC0 == 0x80 {
        from -= 1;
    }
    from
}

/// Bytes as text without characters that would move the cursor or turn the direction of writing.
///
/// ```
/// use classmate_cli::report::printable;
/// assert_eq!(printable("a\tb\u{1b}[2J\u{202e}c".as_bytes()), "a b·[2J·c");
/// ```
pub fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // Almost all texts need not be taken apart.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.into_owned();
    }
    text.chars()
        .map(|character| match character {
            '\t' => ' ',
            other if escape::is_hidden(other) => '·',
            other => other,
        })
        .collect()
}

/// A text cut to a number of characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A duration in its two largest units.
///
/// ```
/// use classmate_cli::report::duration;
/// assert_eq!([duration(45.2), duration(90.0), duration(7200.0)], ["45s", "1m 30s", "2h"]);
/// assert_eq!([duration(183_600.0), duration(-60.0)], ["2d 3h", "-1m"]);
/// ```
pub fn duration(seconds: f64) -> String {
    if seconds < 0.0 {
        return format!("-{}", duration(-seconds));
    }
    let whole = seconds.round();
    let (above, large, below, small) = match whole {
        whole if whole < 60.0 => return format!("{whole}s"),
        whole if whole < 3600.0 => (60.0, "m", 1.0, "s"),
        whole if whole < 86_400.0 => (3600.0, "h", 60.0, "m"),
        _ => (86_400.0, "d", 3600.0, "h"),
    };
    match ((whole / above).floor(), (whole % above / below).floor()) {
        (first, 0.0) => format!("{first}{large}"),
        (first, second) => format!("{first}{large} {second}{small}"),
    }
}

/// An amount of memory, given in MiB.
///
/// ```
/// use classmate_cli::report::gigabytes;
/// assert_eq!([gigabytes(512.0), gigabytes(8192.0), gigabytes(3_670_016.0)], ["0.5 GB", "8 GB", "3584 GB"]);
/// ```
pub fn gigabytes(mebibytes: f64) -> String {
    let text = format!("{:.1}", mebibytes / 1024.0);
    format!("{} GB", text.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn rendered(source: &str) -> String {
        let error = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap_err();
        let finding = Diagnostic::from(&error).help("`*` needs a value on both sides");
        render_diagnostic(&finding, source.as_bytes(), &Origin { name: "job.ad", line: 3, column: 1 }, Color::Off)
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
