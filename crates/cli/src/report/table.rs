//! Tables: aligned columns that fit the terminal.
//!
//! A table that is wider than the terminal gets headings of several lines, then folds the cells of its texts between words, then
//! leaves out columns, those that matter least first, and says so. If all that is left is still too wide, the texts of the last
//! column are below their rows. Where there is no terminal, a row is a line.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::Color;
use super::escape::{escaped, styled};

/// The place of text for people.
pub trait Screen: Write {
    /// The columns of the terminal; none if lines have no limit.
    fn width(&self) -> Option<usize>;
}

impl Screen for Vec<u8> {
    fn width(&self) -> Option<usize> {
        None
    }
}

/// Tests whether lines are no wider than the terminal, if there is one.
pub fn fits(out: &impl Screen, lines: &[String]) -> bool {
    out.width().is_none_or(|width| lines.iter().all(|line| line.trim_end().width() <= width))
}

/// Blanks between two columns.
const GAP: usize = 2;

/// As long as there are columns to leave out, texts of this width stay whole, and longer ones have two lines, unless these would
/// be wider than `READABLE_HALF`.
const READABLE: usize = 32;
const READABLE_HALF: usize = 40;

/// A column of a table whose rows are values of one type.
pub struct TableColumn<R> {
    /// The heading.
    pub heading: &'static str,
    /// True if cells end at the right, as numbers do.
    pub right: bool,
    /// The order in which columns are left out, the highest first; 0 for those that stay.
    pub spare: u8,
    /// The cell of a row.
    pub text: fn(&R) -> String,
}

impl<R> TableColumn<R> {
    /// A column of texts.
    pub const fn left(heading: &'static str, spare: u8, text: fn(&R) -> String) -> Self {
        TableColumn { heading, right: false, spare, text }
    }

    /// A column of numbers.
    pub const fn right(heading: &'static str, spare: u8, text: fn(&R) -> String) -> Self {
        TableColumn { heading, right: true, spare, text }
    }
}

/// Writes a table with a line for each row.
///
/// # Errors
/// The output cannot be written.
pub fn write_table<'r, R: 'r>(
    out: &mut impl Screen,
    columns: &[TableColumn<R>],
    rows: impl IntoIterator<Item = &'r R>,
    color: Color,
) -> io::Result<()> {
    let mut table = Table::default();
    for column in columns {
        table.column(column.heading, column.right, column.spare);
    }
    for row in rows {
        table.row(columns.iter().map(|column| (column.text)(row)));
    }
    table.write(out, color)
}

/// A table whose columns and cells are given one by one.
#[derive(Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Column {
    heading: String,
    right: bool,
    spare: u8,
}

/// A column as it is drawn: its number, and its width.
type Drawn = (usize, usize);

/// Blanks before a text that is below its row.
const BELOW: &str = "    ";

/// The columns that are drawn.
#[derive(Debug, Default)]
struct TableLayout {
    /// The columns beside one another.
    drawn: Vec<Drawn>,
    /// The column whose texts are below the rows.
    below: Option<Drawn>,
}

impl Table {
    /// A table with these headings; columns with these numbers are aligned right.
    pub fn new<H: AsRef<str>>(headings: impl IntoIterator<Item = H>, numbers: &[usize]) -> Self {
        let mut table = Table::default();
        for (at, heading) in headings.into_iter().enumerate() {
            table.column(heading.as_ref(), numbers.contains(&at), 0);
        }
        table
    }

    /// Adds a column; the highest number other than 0 is left out first.
    pub fn column(&mut self, heading: &str, right: bool, spare: u8) {
        self.columns.push(Column { heading: escaped(heading).into_owned(), right, spare });
    }

    /// Adds a row.
    pub fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| escaped(cell.as_ref()).into_owned()).collect());
    }

    /// Tests whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table.
    ///
    /// # Errors
    /// The output cannot be written.
    ///
    /// ```
    /// use classmate_cli::report::Color;
    /// use classmate_cli::report::table::Table;
    /// let mut table = Table::new(["NAME", "CPUS"], &[1]);
    /// table.row(["slot1@東京", "16"]);
    /// table.row(["slot2", "4"]);
    /// let mut out = Vec::new();
    /// table.write(&mut out, Color::Off).unwrap();
    /// assert_eq!(String::from_utf8(out).unwrap(), "NAME        CPUS\nslot1@東京    16\nslot2          4\n");
    /// ```
    pub fn write(&self, out: &mut impl Screen, color: Color) -> io::Result<()> {
        let layout = self.layout(out.width());
        self.draw_headings(out, &layout, color)?;
        self.draw_rows(out, &layout)?;
        self.draw_end(out, &layout)
    }

    fn draw_headings(&self, out: &mut impl Write, layout: &TableLayout, color: Color) -> io::Result<()> {
        let drawn = &layout.drawn;
        let headings: Vec<Vec<&str>> =
            drawn.iter().map(|&(at, width)| wrapped(&self.columns[at].heading, width)).collect();
        let lines = headings.iter().map(Vec::len).max().unwrap_or(0);
        // Headings end in one line.
        let headings = headings.into_iter().map(|heading| {
            let above = lines - heading.len();
            std::iter::repeat_n("", above).chain(heading).collect()
        });
        for line in self.lines(drawn, &headings.collect::<Vec<_>>()) {
            writeln!(out, "{}", styled(&line, "1", color))?;
        }
        let below = layout.below.map(|(at, _)| styled(&format!("{BELOW}{}", self.columns[at].heading), "1", color));
        below.into_iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Names the columns that are left out.
    fn draw_end(&self, out: &mut impl Write, layout: &TableLayout) -> io::Result<()> {
        let is_drawn = |at: usize| layout.drawn.iter().chain(&layout.below).any(|(drawn, _)| *drawn == at);
        let hidden: Vec<&str> =
            (0..self.columns.len()).filter(|at| !is_drawn(*at)).map(|at| self.columns[at].heading.as_str()).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        writeln!(out, "not shown in this width: {}", hidden.join(", "))
    }

    /// Writes the headings of this table, which has no rows, and rows that are made twice: to measure them, and to write them.
    /// Takes no more memory for more of them.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_made<R: IntoIterator<Item: AsRef<str>>>(
        mut self,
        out: &mut impl Screen,
        rows: impl IntoIterator<Item = R> + Clone,
        color: Color,
    ) -> io::Result<()> {
        // Of each column the cells that decide its width.
        let mut widest: Vec<[(usize, String); 3]> = self.columns.iter().map(|_| Default::default()).collect();
        for row in rows.clone() {
            for (cell, known) in row.into_iter().zip(&mut widest) {
                let cell = escaped(cell.as_ref());
                let measures = [cell.width(), longest_piece(&cell), usize::from(cell.trim().contains(' '))];
                for ((most, text), measure) in known.iter_mut().zip(measures) {
                    if measure > *most {
                        (*most, *text) = (measure, cell.to_string());
                    }
                }
            }
        }
        for at in 0..3 {
            self.rows.push(widest.iter().map(|column| column[at].1.clone()).collect());
        }
        let layout = self.layout(out.width());
        self.rows.clear();
        self.draw_headings(out, &layout, color)?;
        for row in rows {
            self.row(row);
            self.draw_rows(out, &layout)?;
            self.rows.clear();
        }
        self.draw_end(out, &layout)
    }

    /// Writes the rows without the headings.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_rows(&self, out: &mut impl Screen) -> io::Result<()> {
        let layout = self.layout(out.width());
        self.draw_rows(out, &layout)
    }

    fn draw_rows(&self, out: &mut impl Write, TableLayout { drawn, below }: &TableLayout) -> io::Result<()> {
        for row in &self.rows {
            let cell = |&(at, width): &Drawn| row.get(at).map_or_else(Vec::new, |cell| wrapped(cell, width));
            for line in self.lines(drawn, &drawn.iter().map(cell).collect::<Vec<_>>()) {
                writeln!(out, "{line}")?;
            }
            for line in below.iter().flat_map(cell).filter(|line| !line.is_empty()) {
                writeln!(out, "{BELOW}{line}")?;
            }
        }
        Ok(())
    }

    /// The lines of a row of cells, each of which has lines of its own.
    fn lines(&self, drawn: &[Drawn], cells: &[Vec<&str>]) -> Vec<String> {
        let count = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut line = String::new();
            for (&(at, width), cell) in drawn.iter().zip(cells) {
                let text = cell.get(number).copied().unwrap_or_default();
                let blanks = " ".repeat(width.saturating_sub(text.width()));
                let (before, after) =
                    if self.columns[at].right { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
                line.extend([before, text, after, &"  "[..GAP]]);
            }
            line.truncate(line.trim_end().len());
            line
        };
        (0..count).map(line).collect()
    }

    /// All columns as wide as their widest cell.
    fn widths(&self) -> Vec<Drawn> {
        (0..self.columns.len()).map(|at| (at, self.widest(at))).collect()
    }

    /// The width of the widest cell of a column, or of its heading.
    fn widest(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.width()).fold(self.columns[at].heading.width(), usize::max)
    }

    /// The widest piece of a column that is not broken: of its heading, and of its cells if these are folded.
    fn least(&self, at: usize, is_folded: bool) -> usize {
        let heading = longest_piece(&self.columns[at].heading);
        let cell = |row: &Vec<String>| {
            row.get(at).map_or(0, |cell| if is_folded { longest_piece(cell) } else { cell.width() })
        };
        self.rows.iter().map(cell).fold(heading, usize::max)
    }

    /// The columns that fit a width, if there is one, as far as possible.
    fn layout(&self, most: Option<usize>) -> TableLayout {
        let mut drawn = self.widths();
        let Some(most) = most else { return TableLayout { drawn, below: None } };
        let is_text = |at: usize| {
            !self.columns[at].right
                && self.rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.trim().contains(' ')))
        };
        loop {
            let spare = drawn.iter().enumerate().filter(|(_, (at, _))| self.columns[*at].spare > 0);
            let last = spare.max_by_key(|(place, (at, _))| (self.columns[*at].spare, *place)).map(|(place, _)| place);
            let readable = |at: usize| match last {
                Some(_) => (self.widest(at) + self.least(at, true)).div_ceil(2).clamp(READABLE, READABLE_HALF),
                None => 0,
            };
            if let Some(fitted) = self.narrowed(&drawn, most, |at| is_text(at).then(|| readable(at))) {
                return TableLayout { drawn: fitted, below: None };
            }
            if let Some(place) = last {
                drawn.remove(place);
                continue;
            }
            let below = drawn.pop_if(|(at, _)| *at > 0 && is_text(*at));
            let below = below.map(|(at, _)| (at, most.saturating_sub(BELOW.len())));
            let drawn = self.narrowed(&drawn, most, |at| is_text(at).then_some(0)).unwrap_or(drawn);
            return TableLayout { drawn, below };
        }
    }

    /// The columns with folded headings, and with folded texts where `folds` gives their least width; none if they do not fit.
    fn narrowed(&self, drawn: &[Drawn], most: usize, folds: impl Fn(usize) -> Option<usize>) -> Option<Vec<Drawn>> {
        let total =
            |drawn: &[Drawn]| drawn.iter().map(|(_, width)| width).sum::<usize>() + GAP * drawn.len().saturating_sub(1);
        if total(drawn) <= most {
            return Some(drawn.to_vec());
        }
        let mut narrow: Vec<Drawn> = drawn.iter().map(|&(at, width)| (at, width.min(self.least(at, false)))).collect();
        let least: Vec<usize> = narrow
            .iter()
            .map(|&(at, width)| folds(at).map_or(width, |least| width.min(self.least(at, true).max(least))))
            .collect();
        // The widest text gives first.
        while total(&narrow) > most {
            let over = total(&narrow) - most;
            let widest = (0..narrow.len()).filter(|at| narrow[*at].1 > least[*at]).max_by_key(|at| narrow[*at].1)?;
            let others = (0..narrow.len()).filter(|at| *at != widest && narrow[*at].1 > least[*at]);
            let next = others.map(|at| narrow[at].1).max().unwrap_or(0).max(least[widest]);
            let gives = over.min((narrow[widest].1 - next).max(1));
            narrow[widest].1 -= gives;
        }
        Some(narrow)
    }
}

/// Tests whether a word may be broken before a byte: after a comma, an opening parenthesis, `&&` or `||`.
pub(super) fn is_break(text: &[u8], at: usize) -> bool {
    at > 0 && at < text.len() && b",(&|".contains(&text[at - 1]) && text[at] != text[at - 1]
}

/// The width of the widest part of a text that is not broken.
fn longest_piece(text: &str) -> usize {
    let indent = text.width() - text.trim_start().width();
    let pieces = text.split(' ').flat_map(|word| {
        let breaks = (1..word.len()).filter(|at| is_break(word.as_bytes(), *at));
        let ends: Vec<usize> = breaks.chain([word.len()]).collect();
        let starts = std::iter::once(0).chain(ends.clone());
        starts.zip(ends).map(|(start, end)| word[start..end].width()).collect::<Vec<_>>()
    });
    pieces.max().unwrap_or(0) + indent
}

/// The lines of a text in a width, broken between words, and in words that are longer where these may be broken.
fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.width() > width {
        let leading = rest.len() - rest.trim_start().len();
        let fits = |at: &usize| rest[..*at].trim_end().width() <= width;
        let inside = || leading + 1..rest.len();
        let space = inside().filter(|at| rest.as_bytes()[*at] == b' ').take_while(fits).last();
        let within = || inside().filter(|at| is_break(rest.as_bytes(), *at)).take_while(fits).last();
        let Some(at) = space.or_else(within) else { break };
        lines.push(rest[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fold::Folded;

    fn drawn(table: &Table, width: usize) -> String {
        let mut out = Vec::new();
        let mut folded = Folded::new(&mut out, Some(width));
        table.write(&mut folded, Color::Off).unwrap();
        folded.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sample() -> Table {
        let mut table = Table::default();
        for (heading, right, spare) in [("GROUP", false, 0), ("IN USE", true, 0), ("ORDER", true, 1), ("WHY", false, 0)]
        {
            table.column(heading, right, spare);
        }
        table.row(["chemistry", "12", "1", "quota reached and its parent does not accept surplus"]);
        table
    }

    #[test]
    fn texts_are_folded_between_words_before_columns_are_left_out() {
        let folded = "            IN\nGROUP      USE  ORDER  WHY\nchemistry   12      1  quota reached and its parent does\n                       \
                      not accept surplus\n";
        assert_eq!(drawn(&sample(), 56), folded);
        // Not in three lines.
        let without = "            IN\nGROUP      USE  WHY\nchemistry   12  quota reached and its parent does not\n                \
                       accept surplus\nnot shown in this width: ORDER\n";
        assert_eq!(drawn(&sample(), 54), without);
        // Without a column to leave out, in as many as are needed.
        let without = "            IN\nGROUP      USE  WHY\nchemistry   12  quota reached and its\n                parent does \
                       not accept\n                surplus\nnot shown in this width: ORDER\n";
        assert_eq!(drawn(&sample(), 40), without);
    }

    #[test]
    fn texts_that_do_not_fit_beside_the_other_columns_are_below_their_rows() {
        let mut table = Table::new(["GROUP", "QUOTA", "WHY"], &[1]);
        table.row(["a_group_with_a_long_name", "12", "quota reached; GROUP_ACCEPT_SURPLUS is false"]);
        table.row(["b", "3", ""]);
        let below = "GROUP                     QUOTA\n    WHY\na_group_with_a_long_name     12\n    quota reached;\n    \
                     GROUP_ACCEPT_SURPLUS is false\nb                             3\n";
        assert_eq!(drawn(&table, 36), below);
    }

    #[test]
    fn rows_that_are_made_are_drawn_as_those_that_are_kept() {
        let rows = [
            ["chemistry", "12", "1", "quota reached and its parent does not accept surplus"],
            ["物理", "3", "20", "short"],
            ["b", "123456789", "", "one,averylongwordwithoutblanks"],
        ];
        let empty = || {
            let mut table = sample();
            table.rows.clear();
            table
        };
        for width in 10..90 {
            let mut kept = empty();
            for row in &rows {
                kept.row(row);
            }
            let mut out = Vec::new();
            let mut folded = Folded::new(&mut out, Some(width));
            empty().write_made(&mut folded, rows.iter(), Color::Off).unwrap();
            folded.flush().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), drawn(&kept, width), "{width}");
        }
    }

    #[test]
    fn a_wide_terminal_has_a_line_for_each_row() {
        let whole = "GROUP      IN USE  ORDER  WHY\n\
                     chemistry      12      1  quota reached and its parent does not accept surplus\n";
        assert_eq!(drawn(&sample(), 80), whole);
        let mut out = Vec::new();
        sample().write(&mut out, Color::Off).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), whole);
    }

    #[test]
    fn control_characters_of_cells_are_visible() {
        let mut table = Table::new(["A"], &[]);
        table.row(["x\u{1b}[31m\ny"]);
        assert_eq!(drawn(&table, 80), "A\nx\\x1b[31m\\ny\n");
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("member(a,{\"one\",\"two\"})", 12), ["member(a,", "{\"one\",", "\"two\"})"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        assert_eq!(wrapped("  deep inside it", 8), ["  deep", "inside", "it"]);
        assert_eq!(wrapped("東京 東京", 5), ["東京", "東京"]);
    }
}
