//! Priorities and usage as `condor_userprio` lists them: same columns, widths, order and filters.
//!
//! In: accounting ads. Out: a table, character for character. Formula source: `docs/reference/accountant.md` 11.

pub mod column;
mod draw;
mod resources;
mod row;
mod values;

use std::cmp::Ordering;
use std::io;

pub use column::Columns;
pub use resources::write_resources;
pub use values::Setting;

use crate::cli::language;
use crate::report::table::Screen;
use classmate::{ClassAd, Zone};
use classmate_pool::internal::introsort;
use classmate_pool::internal::pool::ad_reader::AdReader;
use draw::Drawing;
use row::{Surplus, UserRow};

/// Layout of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Users below their groups, if anything but priorities is shown and there are groups.
    #[default]
    Automatic,
    /// Users below their groups: `-hierarchical`.
    Hierarchical,
    /// One list: `-flat`.
    Flat,
    /// Groups first, then users: `-grouporder`.
    GroupsFirst,
}

/// Options of a listing.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The requested columns; none: [`Columns::MOST`].
    pub columns: Columns,
    /// The requested layout.
    pub layout: Layout,
    /// Columns of quotas are kept even where no user is in a group: `-quotas`, `-surplus`.
    pub quotas: bool,
    /// The ads are sums over subtrees: `-grouprollup`.
    pub rollup: bool,
    /// Users active since then are shown, epoch seconds; -1: all, `-allusers`.
    pub active_since: i64,
    /// The zone of dates.
    pub zone: Zone,
}

impl Listing {
    /// Writes the listing; nothing if there are no ads.
    ///
    /// # Errors
    /// Those of the output.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate_cli::report::userprio::{Columns, Layout, Listing};
    /// use classmate::Zone;
    /// let ad = ClassAd::parse(b"[Name = \"alice@x\"; Priority = 500.0; PriorityFactor = 1000.0]")?;
    /// let listing = Listing {
    ///     columns: Columns::PRIORITIES, layout: Layout::Automatic, quotas: false, rollup: false,
    ///     active_since: -1, zone: Zone::utc(),
    /// };
    /// let mut out = Vec::new();
    /// listing.write(&mut out, &[ad])?;
    /// let text = String::from_utf8(out)?;
    /// assert_eq!(text.lines().nth(4), Some("alice@x                  500.00     0.50   1000.00"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, out: &mut impl Screen, ads: &[ClassAd]) -> io::Result<()> {
        if ads.is_empty() {
            return Ok(());
        }
        self.arranged(ads).write(out)
    }

    /// Number of ads left out because they were not active recently.
    pub fn hidden(&self, ads: &[ClassAd]) -> usize {
        let (rows, _) = row::rows(ads, self.rollup);
        rows.iter().filter(|row| row.last < self.active_since).count()
    }

    /// Decides what is shown, and sorts the rows.
    fn arranged(&self, ads: &[ClassAd]) -> Drawing<'_> {
        let (mut rows, mut found) = row::rows(ads, self.rollup);
        let mut columns = if self.columns.is_empty() { Columns::MOST } else { self.columns };
        let mut hierarchical = matches!(self.layout, Layout::Automatic | Layout::Hierarchical);
        let mut hide_groups = false;
        if columns.without(Columns::PRIORITIES).is_empty() {
            if self.layout == Layout::Automatic {
                hierarchical = false;
            }
            hide_groups = !hierarchical;
        }
        columns = self.with_data(columns, found.has);
        if found.grouped {
            sort(&mut rows, &Order { by: By::GroupsByName, columns, root_last: true });
            row::number_groups(&mut rows, columns, &mut found);
        }
        let visible = |row: &UserRow| row.last >= self.active_since;
        let all_in_root = !rows.iter().any(|row| visible(row) && row.group_id > 0);
        if !found.has.any(Columns::GROUP) || all_in_root {
            hierarchical = false;
        }
        if (hide_groups || all_in_root) && !self.quotas && !found.users_have_quotas {
            columns = columns.without(Columns::QUOTAS);
        }
        let only_quotas = columns.any(Columns::QUOTAS) && columns.without(Columns::QUOTAS).is_empty();
        let by = match (hierarchical, self.layout) {
            (true, _) if columns.any(Columns::PRIORITY.with(Columns::USED)) => By::GroupPlace,
            (true, _) => By::GroupNumber,
            (false, Layout::GroupsFirst) => By::GroupsFirst,
            (false, _) => By::Column,
        };
        // By its sort key the root is last anyway; among numbered groups it has none.
        let root_last = found.surplus == Surplus::Regroup || by == By::GroupNumber;
        sort(&mut rows, &Order { by, columns, root_last });
        let settings = language::settings();
        let updated = ads.first().and_then(|ad| AdReader::of(ad, &settings).integer("LastUpdate"));
        Drawing {
            listing: self,
            rows,
            columns,
            hierarchical,
            hide_groups,
            hide_users: only_quotas && !found.users_have_quotas,
            hide_root: all_in_root,
            surplus: found.surplus,
            updated: updated.unwrap_or(0),
            count: ads.len(),
        }
    }

    /// The columns without those of which no ad has anything.
    fn with_data(&self, mut columns: Columns, has: Columns) -> Columns {
        let dropped = [
            (Columns::USED, Columns::USED),
            (Columns::FACTOR, Columns::FACTOR),
            (Columns::BEGIN, Columns::BEGIN),
            (Columns::LAST, Columns::LAST.with(Columns::SINCE)),
            (Columns::QUOTAS, if self.quotas { Columns::NONE } else { Columns::QUOTAS }),
        ];
        for (needed, gone) in dropped {
            if !has.any(needed) {
                columns = columns.without(gone);
            }
        }
        columns
    }
}

/// Sort order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The first column that is a priority, a usage, or the name.
    Column,
    /// Groups as the ads have them, among the users.
    GroupsFirst,
    GroupNumber,
    GroupPlace,
    GroupsByName,
}

struct Order {
    by: By,
    columns: Columns,
    root_last: bool,
}

impl Order {
    fn compare(&self, a: &UserRow, b: &UserRow) -> Ordering {
        let groups_first = b.is_group.cmp(&a.is_group);
        let root_last = || match (self.root_last, a.group_id == 0, b.group_id == 0) {
            (true, true, false) => Ordering::Greater,
            (true, false, true) => Ordering::Less,
            _ => Ordering::Equal,
        };
        match self.by {
            By::Column => self.column(a, b),
            By::GroupsFirst if a.is_group || b.is_group => a.index.cmp(&b.index),
            By::GroupsFirst => self.column(a, b),
            By::GroupNumber | By::GroupPlace if a.group_id != b.group_id => {
                let place = if self.by == By::GroupPlace {
                    number(a.value(Columns::ORDER), b.value(Columns::ORDER))
                } else {
                    Ordering::Equal
                };
                root_last().then(place).then(a.group_id.cmp(&b.group_id))
            }
            By::GroupNumber | By::GroupPlace => groups_first.then_with(|| self.column(a, b)),
            By::GroupsByName if a.is_group && b.is_group => root_last().then_with(|| a.name.cmp(&b.name)),
            By::GroupsByName => groups_first.then_with(|| self.column(a, b)),
        }
    }

    fn column(&self, a: &UserRow, b: &UserRow) -> Ordering {
        if self.columns.any(Columns::PRIORITY) {
            number(a.value(Columns::PRIORITY), b.value(Columns::PRIORITY))
        } else if self.columns.any(Columns::USED) {
            number(a.value(Columns::TOTAL), b.value(Columns::TOTAL))
        } else {
            a.name.cmp(&b.name)
        }
    }
}

/// Numbers in a total order in which the zeros are equal.
fn number(a: f64, b: f64) -> Ordering {
    (a + 0.0).total_cmp(&(b + 0.0))
}

/// Sorts like HTCondor's library, also where the comparison is not an order: with [`By::GroupsFirst`] a group compares with
/// users by its place among the ads, users among themselves by columns.
fn sort(rows: &mut [UserRow], order: &Order) {
    introsort::sort(rows, |a, b| order.compare(a, b).is_lt());
}
