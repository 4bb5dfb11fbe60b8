//! A page for browsers in one file: nothing fetched, light or dark as the reader's system is, wide or narrow. A page with parts
//! that fold has a script that sorts and filters; without it, the page is complete.
//!
//! The page is also well-formed XML, so that other programs can read it.

use std::fmt::Write;

use crate::report::escape::is_hidden;
use classmate_pool::internal::quota::derivation::slots;

/// The style of all pages. The colors of data can be distinguished with color blindness too.
const STYLE: &str = include_str!("page.css");

/// The script of pages with parts. It has no characters that XML reads as markup.
const SCRIPT: &str = include_str!("page.js");

/// A column of a table: its heading, and its text for a row.
pub type PageColumn<R> = (&'static str, fn(&R) -> String);

/// A page that grows from top to bottom.
///
/// ```
/// use classmate_cli::report::page::Page;
/// let mut page = Page::new("A & B");
/// page.heading("Numbers");
/// page.table("all of them", &["", "jobs"], &[vec!["a".to_owned(), "7".to_owned()]]);
/// let text = page.finish();
/// assert!(text.starts_with("<!DOCTYPE html>") && text.contains("<h1>A &amp; B</h1>"));
/// ```
#[derive(Debug, Clone)]
pub struct Page {
    text: String,
    /// The place of the contents, and the parts: name and title.
    contents: usize,
    parts: Vec<(String, String)>,
}

impl Page {
    /// A page with a title.
    pub fn new(title: &str) -> Self {
        Self::with_head(title, "")
    }

    /// A page that a browser loads again after some seconds.
    pub fn reloading(title: &str, seconds: u32) -> Self {
        Self::with_head(title, &format!("<meta http-equiv=\"refresh\" content=\"{seconds}\"/>\n"))
    }

    fn with_head(title: &str, more: &str) -> Self {
        let title = escaped(title);
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\"/>\n{more}<link rel=\"icon\" href=\"data:,\"/>\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        );
        Self { contents: text.len(), text, parts: Vec::new() }
    }

    /// Begins a part that folds, with a name for links, and ends the one before.
    pub fn part(&mut self, name: &str, title: &str) {
        self.end_part();
        let (name, title) = (escaped(name), escaped(title));
        self.push(format_args!(
            "<details class=\"part\" id=\"{name}\" open=\"open\">\n<summary><h2>{title}</h2></summary>\n"
        ));
        self.parts.push((name, title));
    }

    fn end_part(&mut self) {
        if !self.parts.is_empty() {
            self.push(format_args!("</details>\n"));
        }
    }

    /// Sets where the contents go, if the page has parts.
    pub fn contents(&mut self) {
        self.contents = self.text.len();
    }

    /// Adds a piece of markup.
    pub fn markup(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// The heading of a part.
    pub fn heading(&mut self, text: &str) {
        self.push(format_args!("<h2>{}</h2>\n", escaped(text)));
    }

    /// A paragraph; text in backticks is code.
    pub fn paragraph(&mut self, text: &str) {
        self.push(format_args!("<p>{}</p>\n", coded(text)));
    }

    /// Terms with their meanings.
    pub fn definitions(&mut self, terms: &[(&str, &str)]) {
        self.push(format_args!("<dl>\n"));
        for (term, meaning) in terms {
            self.push(format_args!("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(meaning)));
        }
        self.push(format_args!("</dl>\n"));
    }

    /// A table; of each row the first field is its name, the others are numbers. It is as wide as the page allows, and scrolls
    /// by itself beyond that.
    pub fn table(&mut self, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|field| escaped(field)).collect()).collect();
        self.table_of_markup(caption, headings, &rows);
    }

    /// As [`Page::table`], with fields of markup.
    pub fn table_of_markup(&mut self, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
        self.push(format_args!("<div class=\"wide\">\n<table>\n<caption>{}</caption>\n<thead><tr>", escaped(caption)));
        for heading in headings {
            self.push(format_args!("<th scope=\"col\">{}</th>", escaped(heading)));
        }
        self.push(format_args!("</tr></thead>\n<tbody>\n"));
        for row in rows {
            self.push(format_args!("<tr>"));
            for (at, field) in row.iter().enumerate() {
                if at == 0 {
                    self.push(format_args!("<th scope=\"row\">{field}</th>"));
                } else {
                    self.push(format_args!("<td>{field}</td>"));
                }
            }
            self.push(format_args!("</tr>\n"));
        }
        self.push(format_args!("</tbody>\n</table>\n</div>\n"));
    }

    /// A table of columns, each with its heading and its text for a row.
    pub fn columns<'r, R: 'r>(
        &mut self,
        caption: &str,
        columns: &[PageColumn<R>],
        rows: impl IntoIterator<Item = &'r R>,
    ) {
        let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
        let rows = rows.into_iter().map(|row| columns.iter().map(|(_, text)| text(row)).collect());
        self.table(caption, &headings, &rows.collect::<Vec<_>>());
    }

    /// Figures, side by side where there is room: pieces of markup as [`super::plot`] draws them.
    pub fn figures(&mut self, figures: &[String]) {
        self.push(format_args!("<div class=\"plots\">\n{}</div>\n", figures.concat()));
    }

    /// Many small figures, three in a row where there is room.
    pub fn small_figures(&mut self, figures: &[String]) {
        self.push(format_args!("<div class=\"plots small\">\n{}</div>\n", figures.concat()));
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        self.end_part();
        if self.parts.is_empty() {
            return self.text + "</main>\n</body>\n</html>\n";
        }
        let link = |(name, title): &(String, String)| format!("<li><a href=\"#{name}\">{title}</a></li>");
        let links: String = self.parts.iter().map(link).collect();
        self.text.insert_str(self.contents, &format!("<nav aria-label=\"Contents\"><ul>{links}</ul></nav>\n"));
        self.text + "</main>\n<script>\n" + SCRIPT + "</script>\n</body>\n</html>\n"
    }

    fn push(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(part);
    }
}

/// Text as it is written between tags and in attributes; characters that no page may hold become U+FFFD.
///
/// ```
/// assert_eq!(classmate_cli::report::page::escaped("a<b & \"c\"\u{0}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}");
/// // Not shown either, but changes the order of what follows.
/// assert_eq!(classmate_cli::report::page::escaped("a\u{202e}b\u{2028}"), "a\u{fffd}b\u{fffd}");
/// ```
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            _ if is_hidden(c) || c == '\u{fffe}' || c == '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// As [`escaped`], with text in backticks as code.
///
/// ```
/// assert_eq!(classmate_cli::report::page::coded("`a<b` is false, `c"), "<code>a&lt;b</code> is false, `c");
/// ```
pub fn coded(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut markup = String::with_capacity(text.len());
    for (at, part) in parts.iter().enumerate() {
        let part = escaped(part);
        match at % 2 {
            0 => markup.push_str(&part),
            // The last backtick of an odd number of them opens nothing.
            _ if at + 1 == parts.len() => markup.extend(["`", &part]),
            _ => markup.extend(["<code>", &part, "</code>"]),
        }
    }
    markup
}

/// A number of slots, at most two decimals.
///
/// ```
/// use classmate_cli::report::page::decimal;
/// assert_eq!([1.0 / 3.0, 2.5, 40.0, -0.001].map(decimal), ["0.33", "2.5", "40", "0"]);
/// ```
pub fn decimal(number: f64) -> String {
    slots((number * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_is_text_and_never_markup() {
        let mut page = Page::new("<script>");
        page.heading("</h2>");
        page.paragraph("a & b");
        page.table("<b>", &["<i>"], &[vec!["\"".to_owned(), "<td>".to_owned()]]);
        let text = page.finish();
        assert!(!text.contains("<script>") && !text.contains("<b>") && !text.contains("<i>"));
        assert_eq!(text.matches("<td>").count(), 1);
        assert!(text.contains("<title>&lt;script&gt;</title>") && text.contains("<p>a &amp; b</p>"));
    }

    #[test]
    fn parts_are_listed_and_the_script_is_no_markup() {
        let mut page = Page::new("t");
        page.part("a", "A & B");
        page.part("c", "C");
        let text = page.finish();
        assert!(text.contains("<li><a href=\"#a\">A &amp; B</a></li><li><a href=\"#c\">C</a></li>"));
        assert_eq!((text.matches("<details").count(), text.matches("</details>").count()), (2, 2));
        assert!(!SCRIPT.contains(['<', '>', '&']));
    }

    #[test]
    fn nothing_is_fetched_and_nothing_runs() {
        let text = Page::new("t").finish();
        assert!(!text.contains("http") && !text.contains("src=") && !text.contains("script"));
    }
}
