//! Errors and findings as text for people: place, caret, help, colour.
//!
//! The only module that draws. Errors come in as values with a place; what would have been right is said here.

pub mod outcome;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::error::SyntaxError;
use crate::format::report::Fault;
use crate::span::Position;

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

/// Renders an error in a source text.
///
/// `origin` names the source (`job.ad`, or what the text is called) and the position in it at which the source
/// text begins. `help` says what to do.
pub fn render(error: &SyntaxError, source: &[u8], origin: &Origin<'_>, help: Option<&str>, color: Color) -> String {
    let window = Window::around(source, error.span.range());
    let within = Position::of(source, error.span.start as usize);
    let line = origin.line + within.line - 1;
    let column = if within.line == 1 { origin.column + within.column - 1 } else { within.column };
    let snippet = Snippet::source(window.text.as_str())
        .line_start(line as usize)
        .annotation(AnnotationKind::Primary.span(window.span.clone()));
    let message = error.to_string();
    let title = Level::ERROR.primary_title(message.as_str());
    // The renderer counts columns in what it shows, which is right unless the line begins elsewhere or is cut.
    let mut report = if window.cut || column != within.column {
        let place = annotate_snippets::Origin::path(origin.name).line(line as usize).char_column(column as usize);
        title.element(place).element(snippet)
    } else {
        title.element(snippet.path(origin.name))
    };
    if let Some(help) = help {
        report = report.element(Level::HELP.message(help));
    }
    let renderer = match color {
        Color::On => Renderer::styled(),
        Color::Off => Renderer::plain(),
    };
    let groups: [Group<'_>; 1] = [report];
    renderer.render(&groups)
}

/// Renders what a reader of ads found wrong in a file.
pub fn render_fault(fault: &Fault, file: &str, color: Color) -> String {
    let within = Position::of(&fault.excerpt, fault.error.span.start as usize);
    // The excerpt may begin inside the line.
    let column = fault.position.column.saturating_sub(within.column) + 1;
    let origin = Origin { name: file, line: fault.position.line, column };
    render(&fault.error, &fault.excerpt, &origin, None, color)
}

/// Where a source text comes from.
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

/// The lines around a place, cut to a readable length and made valid text.
struct Window {
    text: String,
    span: std::ops::Range<usize>,
    /// Whether the beginning of the line is left out.
    cut: bool,
}

impl Window {
    fn around(source: &[u8], span: std::ops::Range<usize>) -> Window {
        let start = span.start.min(source.len());
        let end = span.end.clamp(start, source.len());
        let line_start = memchr::memrchr(b'\n', &source[..start]).map_or(0, |newline| newline + 1);
        let line_end = memchr::memchr(b'\n', &source[start..]).map_or(source.len(), |newline| start + newline);
        let end = end.min(line_end).max(start);
        let from = cut_before(source, line_start, start.saturating_sub(CONTEXT));
        let to = line_end.min(end.min(start + CONTEXT) + CONTEXT);
        let mut text = String::new();
        if from > line_start {
            text.push('…');
        }
        text.push_str(&printable(&source[from..start]));
        let marked = text.len();
        text.push_str(&printable(&source[start..end.min(start + CONTEXT)]));
        let marked = marked..text.len();
        text.push_str(&printable(&source[end.min(start + CONTEXT).min(to)..to]));
        if to < line_end {
            text.push('…');
        }
        Window { text, span: marked, cut: from > line_start }
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
        render(
            &error,
            source.as_bytes(),
            &Origin { name: "job.ad", line: 3, column: 1 },
            Some("`*` needs a value on both sides"),
            Color::Off,
        )
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
