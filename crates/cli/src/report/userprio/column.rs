//! The columns of a priority listing: headings, widths, and which of them go together.

/// A set of columns, or of the attributes of an ad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Columns(u32);

impl Columns {
    /// No column.
    pub const NONE: Self = Self(0);
    /// Number of the group.
    pub const GROUP: Self = Self(1);
    /// Place of the group in the listing.
    pub const ORDER: Self = Self(1 << 1);
    /// Place in the order of groups.
    pub const SORT_KEY: Self = Self(1 << 2);
    /// Quota after surplus.
    pub const EFFECTIVE_QUOTA: Self = Self(1 << 3);
    /// Quota as configured.
    pub const CONFIG_QUOTA: Self = Self(1 << 4);
    /// Surplus policy.
    pub const SURPLUS: Self = Self(1 << 5);
    /// Quota of the subtree.
    pub const SUBTREE_QUOTA: Self = Self(1 << 6);
    /// Effective priority.
    pub const PRIORITY: Self = Self(1 << 7);
    /// Real priority.
    pub const REAL_PRIORITY: Self = Self(1 << 8);
    /// Priority factor.
    pub const FACTOR: Self = Self(1 << 9);
    /// Weighted slots in use.
    pub const IN_USE: Self = Self(1 << 10);
    /// Accumulated weighted usage.
    pub const TOTAL: Self = Self(1 << 11);
    /// Start of usage.
    pub const BEGIN: Self = Self(1 << 12);
    /// Time of the last usage.
    pub const LAST: Self = Self(1 << 13);
    /// Time since the last usage.
    pub const SINCE: Self = Self(1 << 14);
    /// Weighted slots requested.
    pub const REQUESTED: Self = Self(1 << 15);
    /// Floor.
    pub const FLOOR: Self = Self(1 << 16);
    /// Ceiling.
    pub const CEILING: Self = Self(1 << 17);

    /// Priorities: `-priority`.
    pub const PRIORITIES: Self = Self(Self::PRIORITY.0 | Self::FACTOR.0 | Self::REAL_PRIORITY.0);
    /// Current and accumulated usage.
    pub const USED: Self = Self(Self::IN_USE.0 | Self::TOTAL.0);
    /// `-usage`.
    pub const USAGE: Self = Self(Self::USED.0 | Self::BEGIN.0 | Self::LAST.0);
    /// `-quotas`.
    pub const QUOTAS: Self = Self(
        Self::EFFECTIVE_QUOTA.0 | Self::CONFIG_QUOTA.0 | Self::SUBTREE_QUOTA.0 | Self::SURPLUS.0 | Self::REQUESTED.0,
    );
    /// `-most`, the default.
    pub const MOST: Self = Self(
        Self::CONFIG_QUOTA.0
            | Self::SURPLUS.0
            | Self::PRIORITY.0
            | Self::FACTOR.0
            | Self::USED.0
            | Self::SINCE.0
            | Self::REQUESTED.0
            | Self::CEILING.0
            | Self::FLOOR.0,
    );
    /// `-all`.
    pub const ALL: Self = Self(Self::MOST.0 | Self::QUOTAS.0 | Self::PRIORITIES.0 | Self::BEGIN.0 | Self::LAST.0);

    /// Columns of either set.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Columns of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the sets have a column in common.
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The number of the first column.
    pub(super) const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Returns whether there is no column.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A column as it is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserColumn {
    /// The column.
    pub(super) is: Columns,
    /// Width in characters.
    pub(super) width: usize,
    /// The two lines of its heading.
    pub(super) heading: [&'static str; 2],
}

const fn column(is: Columns, width: usize, first: &'static str, second: &'static str) -> UserColumn {
    UserColumn { is, width, heading: [first, second] }
}

/// All columns in the order in which they are drawn.
pub(super) const COLUMNS: [UserColumn; 18] = [
    column(Columns::GROUP, 5, "Group", "Id"),
    column(Columns::ORDER, 9, "Group", "Order"),
    column(Columns::SORT_KEY, 9, "Group", "Sort Key"),
    column(Columns::EFFECTIVE_QUOTA, 9, "Effective", "Quota"),
    column(Columns::CONFIG_QUOTA, 9, "Config", "Quota"),
    column(Columns::SURPLUS, 7, "Use", "Surplus"),
    column(Columns::SUBTREE_QUOTA, 9, "Subtree", "Quota"),
    column(Columns::PRIORITY, 12, "Effective", "Priority"),
    column(Columns::REAL_PRIORITY, 8, "Real", "Priority"),
    column(Columns::FACTOR, 9, "Priority", "Factor"),
    column(Columns::IN_USE, 6, "Wghted", "In Use"),
    column(Columns::TOTAL, 12, "Total Usage", "(wghted-hrs)"),
    column(Columns::BEGIN, 16, "Usage", "Start Time"),
    column(Columns::LAST, 16, "Last", "Usage Time"),
    column(Columns::SINCE, 10, "Time Since", "Last Usage"),
    column(Columns::REQUESTED, 10, "Weighted", "Requested"),
    column(Columns::FLOOR, 9, "Submitter", "Floor"),
    column(Columns::CEILING, 9, "Submitter", "Ceiling"),
];
