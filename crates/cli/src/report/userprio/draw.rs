//! Drawing a priority listing: headings, cells, totals.

use std::io::{self, Write};

use super::Listing;
use super::column::{COLUMNS, Columns, UserColumn};
use super::row::{Surplus, UserRow};
use crate::report::table::Screen;
use classmate::Zone;
use classmate::internal::syntax::calendar::Civil;
use classmate::internal::syntax::number::write_general;

/// Names are cut at this many characters.
const LONGEST_NAME: usize = 99;
/// Sort keys from here on mean the last group.
const LAST_KEY: f64 = 3.402_820_01e38;

/// The columns that are left out on a narrow terminal, in this order.
const SPARE: [Columns; 14] = [
    Columns::ORDER,
    Columns::SORT_KEY,
    Columns::GROUP,
    Columns::BEGIN,
    Columns::LAST,
    Columns::CEILING,
    Columns::FLOOR,
    Columns::SURPLUS,
    Columns::SUBTREE_QUOTA,
    Columns::REQUESTED,
    Columns::SINCE,
    Columns::FACTOR,
    Columns::CONFIG_QUOTA,
    Columns::TOTAL,
];

/// Everything a listing is drawn from.
#[expect(clippy::struct_excessive_bools, reason = "four independent decisions about what is shown")]
pub(super) struct Drawing<'a> {
    pub(super) listing: &'a Listing,
    pub(super) rows: Vec<UserRow>,
    pub(super) columns: Columns,
    pub(super) hierarchical: bool,
    pub(super) hide_groups: bool,
    pub(super) hide_users: bool,
    /// The root is hidden as long as no other group is shown.
    pub(super) hide_root: bool,
    pub(super) surplus: Surplus,
    /// Time of the last update of priorities, epoch seconds.
    pub(super) updated: i64,
    /// Number of ads.
    pub(super) count: usize,
}

impl Drawing<'_> {
    pub(super) fn write(mut self, out: &mut impl Screen) -> io::Result<()> {
        let width = self.name_width();
        let all = self.columns;
        if let Some(most) = out.width() {
            self.fit(width, most);
        }
        writeln!(out, "Last Priority Update: {}", date(self.updated, &self.listing.zone))?;
        let titles = match (self.hide_users, self.hierarchical) {
            (true, true) => ["Group", "Name"],
            (true, false) => ["", "Group Name"],
            (false, true) => ["Group", "  User Name"],
            (false, false) => ["", "User Name"],
        };
        for (at, title) in titles.iter().enumerate() {
            self.line(out, width, title.as_bytes(), |column| centred(column.heading[at], column.width))?;
        }
        let dashes = |out: &mut _| self.line(out, width, &vec![b'-'; width], |column| "-".repeat(column.width));
        dashes(out)?;
        let (mut users, mut in_use, mut accumulated) = (0, 0.0, 0.0);
        let mut hide_root = self.hide_root;
        for row in self.rows.iter().filter(|row| row.last >= self.listing.active_since) {
            if row.is_group {
                if self.hide_groups || (!self.hierarchical && hide_root && row.group_id == 0) {
                    continue;
                }
                // Where another group is shown, the root is shown too.
                hide_root = false;
            } else {
                users += 1;
                if self.hide_users {
                    continue;
                }
            }
            self.line(out, width, &self.name(row), |column| self.cell(row, column))?;
            if !row.is_group {
                in_use += row.value(Columns::IN_USE);
                accumulated += row.value(Columns::TOTAL);
            }
        }
        dashes(out)?;
        let count = format!("Number of users: {users}");
        self.line(out, width, count.as_bytes(), |column| self.total(column, in_use, accumulated))?;
        let hidden = COLUMNS.iter().filter(|column| all.without(self.columns).any(column.is));
        let hidden: Vec<String> = hidden.map(|column| column.heading.join(" ")).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        writeln!(out, "not shown in this width: {}", hidden.join(", "))
    }

    /// Leaves out columns, those that matter least first, until the lines fit.
    fn fit(&mut self, name: usize, most: usize) {
        for spare in SPARE {
            let shown = COLUMNS.iter().filter(|column| self.columns.any(column.is));
            if name + shown.map(|column| column.width + 1).sum::<usize>() <= most {
                return;
            }
            self.columns = self.columns.without(spare);
        }
    }

    /// Writes one line; names and cells are cut or filled up with blanks.
    fn line(
        &self,
        out: &mut impl Write,
        width: usize,
        name: &[u8],
        cell: impl Fn(&UserColumn) -> String,
    ) -> io::Result<()> {
        let mut line = name[..name.len().min(width)].to_vec();
        line.resize(width, b' ');
        for column in COLUMNS.iter().filter(|column| self.columns.any(column.is)) {
            let cell = cell(column);
            let end = line.len() + 1 + column.width;
            line.push(b' ');
            line.extend_from_slice(&cell.as_bytes()[..cell.len().min(column.width)]);
            line.resize(end, b' ');
        }
        line.push(b'\n');
        out.write_all(&line)
    }

    fn name_width(&self) -> usize {
        let shown = |row: &&UserRow| row.last >= self.listing.active_since;
        let length = |row: &UserRow| {
            let indented = self.hierarchical && !row.is_group;
            let prefix = if indented && row.group_id != 0 { row.group.len() } else { 0 };
            (row.name.len() + if indented { 2 } else { 0 }).saturating_sub(prefix)
        };
        let longest = self.rows.iter().filter(shown).map(length).max().unwrap_or(0).clamp(10, LONGEST_NAME);
        let count = format!("Number of users: {}", self.count);
        longest.max(count.len()) + if self.hierarchical { 2 } else { 0 }
    }

    fn name(&self, row: &UserRow) -> Vec<u8> {
        if !self.hierarchical || row.is_group {
            return row.name.clone();
        }
        let skipped = if row.group_id > 0 { (row.group.len() + 1).min(row.name.len()) } else { 0 };
        [b"  ", &row.name[skipped..]].concat()
    }

    fn cell(&self, row: &UserRow, column: &UserColumn) -> String {
        let (is, width, value) = (column.is, column.width, row.value(column.is));
        if !row.has.any(is) {
            let expected = row.is_group && is.any(Columns::QUOTAS.with(Columns::SORT_KEY));
            return if expected { right("n/d", width) } else { String::new() };
        }
        let two = |value: f64| real(value, width, 2);
        let positive = |holds: bool| if holds { two(value) } else { String::new() };
        match is {
            Columns::GROUP => real(row.group_id as f64, width, 0),
            Columns::SORT_KEY if value >= LAST_KEY => right("<last>", width),
            Columns::SURPLUS if row.group_id == 0 => "yes".to_owned(),
            Columns::SURPLUS => row.surplus.as_str().to_owned(),
            Columns::FACTOR | Columns::FLOOR => positive(value > 0.0),
            Columns::CEILING => positive(value > -1.0),
            Columns::IN_USE | Columns::REQUESTED => real(value, width, 0),
            Columns::TOTAL => two(value / 3600.0),
            Columns::BEGIN => self.date_year(value as i64, width),
            Columns::LAST => self.date_year(row.last, width),
            Columns::SINCE => duration(self.updated.saturating_sub(row.last), width),
            _ => two(value),
        }
    }

    fn total(&self, column: &UserColumn, in_use: f64, accumulated: f64) -> String {
        let (since, width) = (self.listing.active_since, column.width);
        match column.is {
            Columns::SURPLUS => self.surplus.as_str().to_owned(),
            Columns::IN_USE => real(in_use, width, 0),
            Columns::TOTAL => real(accumulated / 3600.0, width, 2),
            Columns::LAST => self.date_year(since, width),
            Columns::SINCE if since > 0 => duration(self.updated.saturating_sub(since), width),
            _ => String::new(),
        }
    }

    /// Month, day, year, hour and minute; blank if it never was.
    fn date_year(&self, time: i64, width: usize) -> String {
        if time <= 0 {
            return String::new();
        }
        let at = Civil::from_seconds(time, self.listing.zone.offset_at(time));
        right(&format!("{:2}/{:02}/{:<4} {:02}:{:02}", at.month, at.day, at.year, at.hour, at.minute), width)
    }
}

/// Month, day, hour and minute.
pub(crate) fn date(time: i64, zone: &Zone) -> String {
    let at = Civil::from_seconds(time, zone.offset_at(time));
    format!("{:2}/{:<2} {:02}:{:02}", at.month, at.day, at.hour, at.minute)
}

/// Days, hours and minutes.
fn duration(seconds: i64, width: usize) -> String {
    if seconds <= 0 {
        return right("<now>", width);
    }
    let minutes = seconds / 60;
    right(&format!("{:3}+{:02}:{:02}", minutes / 1440, minutes / 60 % 24, minutes % 60), width)
}

/// A number with a fixed number of decimals; one that is too wide loses digits.
fn real(value: f64, width: usize, decimals: usize) -> String {
    let shown = if value.is_nan() {
        if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned()
    } else {
        format!("{value:.decimals$}")
    };
    if shown.len() <= width {
        return right(&shown, width);
    }
    let mut short = Vec::new();
    write_general(&mut short, value, width.saturating_sub(6), false);
    right(&String::from_utf8_lossy(&short), width)
}

fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

fn centred(text: &str, width: usize) -> String {
    let left = width.saturating_sub(text.len()) / 2;
    format!("{}{text}", " ".repeat(left))
}
