//! Listings of shares and usage as `sshare` prints them.
//!
//! In: a tree with its figures, and the columns. Out: lines, column for column. Formula source:
//! `docs/reference/slurm-multifactor.md` 7.2.

use crate::report::template::exponential;
use classmate_config::internal::config::slurm::Shares;
use classmate_pool::internal::priority::slurm::{Association, AssociationTree, Figures, ROOT};

/// The widest column.
const MAX_WIDTH: usize = 4096;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `Account`
    Account,
    /// `Cluster`
    Cluster,
    /// `EffectvUsage`
    EffectiveUsage,
    /// `FairShare`
    FairShare,
    /// `GrpTRESMins`
    GroupMinutes,
    /// `GrpTRESRaw`
    GroupRaw,
    /// `ID`
    Id,
    /// `LevelFS`
    LevelFairShare,
    /// `NormShares`
    NormShares,
    /// `NormUsage`
    NormUsage,
    /// `Partition`
    Partition,
    /// `RawShares`
    RawShares,
    /// `RawUsage`
    RawUsage,
    /// `TRESRunMins`
    RunMinutes,
    /// `User`
    User,
}

/// Columns by name with their widths; negative: to the left.
const FIELDS: [(&str, Field, i64); 15] = [
    ("Account", Field::Account, -20),
    ("Cluster", Field::Cluster, 10),
    ("EffectvUsage", Field::EffectiveUsage, 13),
    ("FairShare", Field::FairShare, 10),
    ("GrpTRESMins", Field::GroupMinutes, 30),
    ("GrpTRESRaw", Field::GroupRaw, 30),
    ("ID", Field::Id, 6),
    ("LevelFS", Field::LevelFairShare, 10),
    ("NormShares", Field::NormShares, 11),
    ("NormUsage", Field::NormUsage, 11),
    ("Partition", Field::Partition, 12),
    ("RawShares", Field::RawShares, 10),
    ("RawUsage", Field::RawUsage, 11),
    ("TRESRunMins", Field::RunMinutes, 30),
    ("User", Field::User, 10),
];

/// Separators of columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// Padded and cut to their widths.
    #[default]
    Padded,
    /// `-p`: `|` after each.
    Parsable,
    /// `-P`: `|` between them.
    Bare,
}

/// The default columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// `-l`: all of them.
    pub long: bool,
    /// `-m`: partitions too.
    pub partitions: bool,
    /// True if there are level fair shares: only under Fair Tree.
    pub levels: bool,
}

/// The columns of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<(&'static str, Field, i64)>);

impl Columns {
    /// The columns by default.
    pub fn default_of(shown: Shown) -> Self {
        let Shown { long, partitions, levels } = shown;
        let all = [
            (Field::Account, true),
            (Field::User, true),
            (Field::Partition, partitions),
            (Field::RawShares, true),
            (Field::NormShares, true),
            (Field::RawUsage, true),
            (Field::NormUsage, long),
            (Field::EffectiveUsage, true),
            (Field::FairShare, true),
            (Field::LevelFairShare, long && levels),
            (Field::GroupMinutes, long),
            (Field::RunMinutes, long),
        ];
        let wanted = all.into_iter().filter(|(_, wanted)| *wanted);
        Self(wanted.filter_map(|(field, _)| FIELDS.iter().find(|(_, known, _)| *known == field).copied()).collect())
    }

    /// Reads a list of names, which may be shortened, each with `%` and a width if it has another.
    ///
    /// # Errors
    /// An invalid column, in words.
    ///
    /// ```
    /// use classmate_cli::report::sshare::Columns;
    /// assert_eq!(Columns::parse("acc,Eff%8"), Columns::parse("Account,EffectvUsage%8"));
    /// assert_eq!(Columns::parse("Usage"), Err("`Usage` is not a column".to_owned()));
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut columns = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, width) = item.split_once('%').map_or((item, None), |(name, width)| (name, Some(width)));
            let starts = |full: &str| full.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            let found = FIELDS.iter().find(|(full, ..)| !name.is_empty() && starts(full));
            let &(full, field, usual) = found.ok_or_else(|| format!("`{item}` is not a column"))?;
            let width = match width {
                None => usual,
                Some(width) => width
                    .parse()
                    .ok()
                    .filter(|width: &i64| *width != 0 && width.unsigned_abs() as usize <= MAX_WIDTH)
                    .ok_or_else(|| format!("expected a width from 1 to {MAX_WIDTH}, found `{width}`"))?,
            };
            columns.push((full, field, width));
        }
        Ok(Self(columns))
    }
}

/// A tree and what is shown of it.
#[derive(Debug, Clone)]
pub struct Listing<'a> {
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
    /// Remaining usage, by association: resources and their minutes.
    pub run_minutes: &'a [Vec<(String, f64)>],
    /// Resources that are counted, in their order.
    pub resources: &'a [&'a str],
    /// The columns.
    pub columns: &'a Columns,
    /// Separators of columns.
    pub layout: Layout,
    /// True if columns have headers.
    pub header: bool,
    /// Users that are shown; none: all.
    pub users: Option<&'a [String]>,
    /// Accounts that are shown with their users; none: all.
    pub accounts: Option<&'a [String]>,
    /// True if only users are shown.
    pub users_only: bool,
}

impl Listing<'_> {
    /// The lines of the listing.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.header {
            lines.push(self.line(|name, _, _| Cell::Text(name.to_owned())));
            if self.layout == Layout::Padded {
                lines.push(self.line(|_, _, width| Cell::Text("-".repeat(width.unsigned_abs() as usize))));
            }
        }
        for (at, depth) in self.tree.listed() {
            if self.shows(&self.tree.nodes()[at]) {
                lines.push(self.row(at, depth));
            }
        }
        lines
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
    fn factor(&self, at: usize) -> Option<f64> {
        let figures = &self.figures[at];
        match self.computed {
            None => figures.factor.filter(|_| self.tree.nodes()[at].is_user()),
            Some(_) if figures.norm_shares <= 0.0 => Some(0.0),
            Some(damping) => Some((-(figures.effective_usage / figures.norm_shares) / damping).exp2()),
        }
    }

    fn row(&self, at: usize, depth: usize) -> String {
        let (node, figures) = (&self.tree.nodes()[at], &self.figures[at]);
        let text = |text: &str| Cell::Text(text.to_owned());
        let parent = node.shares == Shares::Parent;
        self.line(|_, field, _| match field {
            Field::Account => Cell::Text(format!("{}{}", " ".repeat(depth), node.account)),
            Field::User => text(node.user.as_deref().unwrap_or_default()),
            Field::Partition => text(node.partition.as_deref().unwrap_or_default()),
            Field::Cluster => text(self.cluster),
            Field::Id => Cell::Text((at + 1).to_string()),
            Field::RawShares if at == ROOT => text(""),
            Field::RawShares => match node.shares {
                Shares::Own(shares) => Cell::Text(shares.to_string()),
                Shares::Parent => text("parent"),
            },
            Field::NormShares => Cell::Real(figures.norm_shares),
            Field::RawUsage => Cell::Text(format!("{}", node.usage.trunc())),
            Field::NormUsage if at == ROOT => text(""),
            Field::NormUsage => Cell::Real(figures.norm_usage),
            Field::EffectiveUsage => Cell::Real(figures.effective_usage),
            Field::FairShare => self.factor(at).map_or(text(""), Cell::Real),
            // The classic algorithms leave it at 0.
            Field::LevelFairShare if !self.fair_tree && !parent => Cell::Real(0.0),
            Field::LevelFairShare => {
                figures.level_fair_share.filter(|_| !parent && at != ROOT).map_or(text(""), Cell::Real)
            }
            Field::GroupMinutes => text(node.group_minutes.as_deref().unwrap_or_default()),
            Field::GroupRaw => text(node.by_resource.as_deref().unwrap_or_default()),
            Field::RunMinutes => Cell::Text(self.minutes(at)),
        })
    }

    fn minutes(&self, at: usize) -> String {
        let amount = |resource: &str| {
            let found = self.run_minutes.get(at).and_then(|all| all.iter().find(|(name, _)| name == resource));
            found.map_or(0.0, |(_, minutes)| minutes.trunc())
        };
        let items: Vec<String> =
            self.resources.iter().map(|resource| format!("{resource}={}", amount(resource))).collect();
        items.join(",")
    }

    fn line(&self, cell: impl Fn(&'static str, Field, i64) -> Cell) -> String {
        let cells = self.columns.0.iter().map(|&(name, field, width)| {
            let cell = cell(name, field, width);
            if self.layout == Layout::Padded { cell.padded(width) + " " } else { cell.plain() }
        });
        let cells: Vec<String> = cells.collect();
        match self.layout {
            Layout::Padded => cells.concat(),
            Layout::Parsable => cells.iter().flat_map(|cell| [cell.as_str(), "|"]).collect(),
            Layout::Bare => cells.join("|"),
        }
    }
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
        let columns = Columns::parse("User%-4,levelfs%8").unwrap();
        assert_eq!(columns.0, [("User", Field::User, -4), ("LevelFS", Field::LevelFairShare, 8)]);
        for wrong in ["x", "User%", "User%0", "User%99999"] {
            assert!(Columns::parse(wrong).is_err(), "{wrong}");
        }
    }
}
