//! Listings of shares and usage as `sshare` prints them.
//!
//! In: a tree with its figures, and the columns. Out: lines, column for column. Formula source:
//! `docs/reference/slurm-multifactor.md` 7.2.

use crate::report::table::Table;
use crate::report::template::exponential;
use classmate_config::internal::config::slurm::Shares;
use classmate_pool::internal::priority::slurm::running::RESOURCES;
use classmate_pool::internal::priority::slurm::{Association, AssociationTree, Figures, ROOT};

/// The widest column.
const MAX_WIDTH: usize = 4096;

/// A column: its name, its width (negative: to the left), and its content for an association.
type ShareColumn = (&'static str, i64, fn(&ShareListing<'_>, &ListedAssociation<'_>) -> Cell);

/// All columns, by name.
const COLUMNS: [ShareColumn; 15] = [
    ("Account", -20, |_, row| Cell::Text(format!("{}{}", " ".repeat(row.depth), row.node.account))),
    ("Cluster", 10, |listing, _| text(Some(listing.cluster))),
    ("EffectvUsage", 13, |_, row| Cell::Real(row.figures.effective_usage)),
    ("FairShare", 10, |listing, row| listing.factor(row).map_or(text(None), Cell::Real)),
    ("GrpTRESMins", 30, |_, row| text(row.node.group_minutes.as_deref())),
    ("GrpTRESRaw", 30, |_, row| text(row.node.by_resource.as_deref())),
    ("ID", 6, |_, row| Cell::Text((row.at + 1).to_string())),
    ("LevelFS", 10, |listing, row| match row.figures.level_fair_share {
        _ if row.node.shares == Shares::Parent => text(None),
        // The classic algorithms leave it at 0.
        _ if !listing.fair_tree => Cell::Real(0.0),
        level => level.filter(|_| row.at != ROOT).map_or(text(None), Cell::Real),
    }),
    ("NormShares", 11, |_, row| Cell::Real(row.figures.norm_shares)),
    ("NormUsage", 11, |_, row| if row.at == ROOT { text(None) } else { Cell::Real(row.figures.norm_usage) }),
    ("Partition", 12, |_, row| text(row.node.partition.as_deref())),
    ("RawShares", 10, |_, row| match row.node.shares {
        _ if row.at == ROOT => text(None),
        Shares::Own(shares) => Cell::Text(shares.to_string()),
        Shares::Parent => text(Some("parent")),
    }),
    ("RawUsage", 11, |_, row| Cell::Text(format!("{}", row.node.usage.trunc()))),
    ("TRESRunMins", 30, |listing, row| Cell::Text(listing.minutes(row.at))),
    ("User", 10, |_, row| text(row.node.user.as_deref())),
];

/// An association in a listing.
struct ListedAssociation<'a> {
    at: usize,
    depth: usize,
    node: &'a Association,
    figures: &'a Figures,
}

/// Separators of columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Separator {
    /// Padded and cut to their widths.
    #[default]
    Padded,
    /// `-p`: `|` after each.
    Parsable,
    /// `-P`: `|` between them.
    Bare,
}

/// The columns of a listing by their numbers, each with its width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareColumns(Vec<(usize, i64)>);

impl ShareColumns {
    /// The columns by default: all of them if it is `long`, partitions too, and level fair shares, which only Fair Tree
    /// has.
    pub fn default_of(long: bool, partitions: bool, levels: bool) -> Self {
        let all = [
            ("Account", true),
            ("User", true),
            ("Partition", partitions),
            ("RawShares", true),
            ("NormShares", true),
            ("RawUsage", true),
            ("NormUsage", long),
            ("EffectvUsage", true),
            ("FairShare", true),
            ("LevelFS", long && levels),
            ("GrpTRESMins", long),
            ("TRESRunMins", long),
        ];
        let number = |name: &str| COLUMNS.iter().position(|(known, ..)| *known == name);
        let wanted = all.into_iter().filter(|(_, wanted)| *wanted);
        Self(wanted.filter_map(|(name, _)| number(name)).map(|at| (at, COLUMNS[at].1)).collect())
    }

    /// Reads a list of names, which may be shortened, each with `%` and a width if it has another.
    ///
    /// # Errors
    /// An invalid column, in words.
    ///
    /// ```
    /// use classmate_cli::report::sshare::ShareColumns;
    /// assert_eq!(ShareColumns::parse("acc,Eff%8"), ShareColumns::parse("Account,EffectvUsage%8"));
    /// assert_eq!(ShareColumns::parse("Usage"), Err("`Usage` is not a column".to_owned()));
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut columns = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, width) = item.split_once('%').map_or((item, None), |(name, width)| (name, Some(width)));
            let starts = |full: &str| full.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            let found = COLUMNS.iter().position(|(full, ..)| !name.is_empty() && starts(full));
            let column = found.ok_or_else(|| format!("`{item}` is not a column"))?;
            let width = match width {
                None => COLUMNS[column].1,
                Some(width) => width
                    .parse()
                    .ok()
                    .filter(|width: &i64| *width != 0 && width.unsigned_abs() as usize <= MAX_WIDTH)
                    .ok_or_else(|| format!("expected a width from 1 to {MAX_WIDTH}, found `{width}`"))?,
            };
            columns.push((column, width));
        }
        Ok(Self(columns))
    }
}

/// A tree and what is shown of it.
#[derive(Debug, Clone)]
pub struct ShareListing<'a> {
    /// The associations.
    pub tree: &'a AssociationTree,
    /// Their figures.
    pub figures: &'a [Figures],
    /// The cluster.
    pub cluster: &'a str,
    /// True under Fair Tree.
    pub fair_tree: bool,
    /// The dampening factor, if `sshare` computes the factors of all rows itself: before 25.11, except under Fair Tree.
    pub computed: Option<f64>,
    /// Remaining usage, by association, where no record has it: resources and their minutes.
    pub run_minutes: &'a [Vec<(String, f64)>],
    /// The columns.
    pub columns: &'a ShareColumns,
    /// Separators of columns.
    pub separator: Separator,
    /// True if columns have headers.
    pub header: bool,
    /// Users that are shown; none: all.
    pub users: Option<&'a [String]>,
    /// Accounts that are shown with their users; none: all.
    pub accounts: Option<&'a [String]>,
    /// True if only users are shown.
    pub users_only: bool,
}

impl ShareListing<'_> {
    /// The lines of the listing.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.header {
            lines.push(self.line(|column, _| text(Some(column.0))));
            if self.separator == Separator::Padded {
                lines.push(self.line(|_, width| Cell::Text("-".repeat(width.unsigned_abs() as usize))));
            }
        }
        lines.extend(self.rows().map(|row| self.line(|column, _| column.2(self, &row))));
        lines
    }

    /// The listing as a table that fits a terminal: without padding, and without the columns that matter least.
    pub fn table(&self) -> Table {
        /// The columns that are left out, the first of them last.
        const SPARE: [&str; 6] = ["RawShares", "RawUsage", "NormShares", "NormUsage", "TRESRunMins", "GrpTRESMins"];
        let mut table = Table::default();
        for &(column, width) in &self.columns.0 {
            let name = COLUMNS[column].0;
            let spare = SPARE.iter().position(|spare| *spare == name).map_or(0, |at| at as u8 + 1);
            table.column(name, width > 0, spare);
        }
        for row in self.rows() {
            let cells = self.columns.0.iter().map(|&(column, width)| {
                let cell = COLUMNS[column].2(self, &row).padded(width);
                if width < 0 { cell.trim_end().to_owned() } else { cell.trim_start().to_owned() }
            });
            table.row(cells);
        }
        table
    }

    /// The associations that are shown.
    fn rows(&self) -> impl Iterator<Item = ListedAssociation<'_>> {
        let rows = self.tree.listed().into_iter().map(|(at, depth)| {
            let (node, figures) = (&self.tree.nodes()[at], &self.figures[at]);
            ListedAssociation { at, depth, node, figures }
        });
        rows.filter(|row| self.shows(row.node))
    }

    fn shows(&self, node: &Association) -> bool {
        let among =
            |names: Option<&[String]>, name: &str| names.is_none_or(|names| names.iter().any(|one| one == name));
        let user = match &node.user {
            Some(user) => among(self.users, user),
            None => !self.users_only,
        };
        user && among(self.accounts, &node.account)
    }

    /// The factor that a row shows: that of a user, or the one that old releases compute from the usage and the shares of the
    /// row, with a dampening factor.
    fn factor(&self, ListedAssociation { node, figures, .. }: &ListedAssociation<'_>) -> Option<f64> {
        match self.computed {
            None => figures.factor.filter(|_| node.is_user()),
            Some(_) if figures.norm_shares <= 0.0 => Some(0.0),
            Some(damping) => Some((-(figures.effective_usage / figures.norm_shares) / damping).exp2()),
        }
    }

    fn minutes(&self, at: usize) -> String {
        if let Some(listed) = &self.tree.nodes()[at].run_minutes {
            return listed.clone();
        }
        let amount = |resource: &str| {
            let found = self.run_minutes.get(at).and_then(|all| all.iter().find(|(name, _)| name == resource));
            found.map_or(0.0, |(_, minutes)| minutes.trunc())
        };
        let items: Vec<String> = RESOURCES.iter().map(|resource| format!("{resource}={}", amount(resource))).collect();
        items.join(",")
    }

    fn line(&self, cell: impl Fn(&ShareColumn, i64) -> Cell) -> String {
        let cells = self.columns.0.iter().map(|&(column, width)| {
            let cell = cell(&COLUMNS[column], width);
            if self.separator == Separator::Padded { cell.padded(width) + " " } else { cell.plain() }
        });
        let cells: Vec<String> = cells.collect();
        match self.separator {
            Separator::Padded => cells.concat(),
            Separator::Parsable => cells.iter().flat_map(|cell| [cell.as_str(), "|"]).collect(),
            Separator::Bare => cells.join("|"),
        }
    }
}

/// A text that may be missing, as a cell.
fn text(text: Option<&str>) -> Cell {
    Cell::Text(text.unwrap_or_default().to_owned())
}

/// Content of a cell.
enum Cell {
    Text(String),
    Real(f64),
}

impl Cell {
    fn plain(self) -> String {
        match self {
            Cell::Text(text) => text,
            Cell::Real(value) => format!("{value:.6}"),
        }
    }

    /// In its width; text that does not fit ends in `+`, a number is written with an exponent.
    fn padded(self, width: i64) -> String {
        let room = width.unsigned_abs() as usize;
        let text = match self {
            Cell::Text(text) if text.chars().count() > room && text.parse::<f64>().is_err() => {
                let mut cut: String = text.chars().take(room - 1).collect();
                cut.push('+');
                cut
            }
            Cell::Text(text) => text,
            Cell::Real(value) => real(value, room),
        };
        if width < 0 { format!("{text:<room$}") } else { format!("{text:>room$}") }
    }
}

fn real(value: f64, room: usize) -> String {
    let plain = format!("{value:.6}");
    if plain.len() <= room {
        return plain;
    }
    let precise = exponential(value, 6);
    match precise.len().checked_sub(room) {
        Some(0) | None => precise,
        Some(over) => exponential(value, 6usize.saturating_sub(over)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_get_an_exponent_and_wide_text_a_plus() {
        assert_eq!(Cell::Real(0.25).padded(10), "  0.250000");
        assert_eq!(Cell::Real(f64::INFINITY).padded(10), "       inf");
        assert_eq!(Cell::Real(1_234_567.0).padded(10), "1.2346e+06");
        assert_eq!(Cell::Real(1_234_567.0).padded(13), " 1.234567e+06");
        assert_eq!(Cell::Text("averylongaccount".to_owned()).padded(-6), "avery+");
        assert_eq!(Cell::Text("12345678901234".to_owned()).padded(11), "12345678901234");
    }

    #[test]
    fn names_of_columns_may_be_shortened_and_widths_set() {
        let columns = ShareColumns::parse("User%-4,levelfs%8").unwrap().0;
        let named: Vec<(&str, i64)> = columns.into_iter().map(|(column, width)| (COLUMNS[column].0, width)).collect();
        assert_eq!(named, [("User", -4), ("LevelFS", 8)]);
        for wrong in ["x", "User%", "User%0", "User%99999"] {
            assert!(ShareColumns::parse(wrong).is_err(), "{wrong}");
        }
    }
}
