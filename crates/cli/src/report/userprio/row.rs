//! The rows of a priority listing, from accounting ads.
//!
//! Attributes that an ad lacks keep the value of the ad before, as in `condor_userprio`: without accumulated usage the
//! column shows `-0.00`, and after a user with usage it repeats that user's value.

use crate::cli::language;
use classmate::ClassAd;
use classmate_pool::internal::pool::ad_reader::AdReader;

use super::column::{COLUMNS, Columns};

/// The surplus policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Surplus {
    #[default]
    Unset,
    No,
    Regroup,
    ByQuota,
    Unknown,
}

impl Surplus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unset => "",
            Self::No => "no",
            Self::Regroup => "Regroup",
            Self::ByQuota => "ByQuota",
            Self::Unknown => "n/a",
        }
    }
}

/// One line of the listing.
#[derive(Debug, Clone, Default)]
pub(super) struct UserRow {
    pub(super) name: Vec<u8>,
    pub(super) group: Vec<u8>,
    pub(super) is_group: bool,
    /// 0 for the root and those in it, or the number of the group by name.
    pub(super) group_id: i64,
    pub(super) index: usize,
    /// Attributes present in its ad.
    pub(super) has: Columns,
    pub(super) last: i64,
    pub(super) surplus: Surplus,
    /// The numbers of the columns.
    values: [f64; COLUMNS.len()],
}

impl UserRow {
    /// The number of a column.
    pub(super) fn value(&self, of: Columns) -> f64 {
        self.values[of.index()]
    }

    fn set(&mut self, of: Columns, value: f64) {
        self.values[of.index()] = value;
    }

    /// Reads the numbers of columns, each with the columns that its attribute stands for.
    fn read(&mut self, facts: AdReader<'_>, attributes: &[(&str, Columns, Columns)]) {
        for (attribute, of, has) in attributes {
            if let Some(number) = facts.number(*attribute) {
                self.set(*of, number);
                self.has = self.has.with(*has);
            }
        }
    }
}

/// Attributes present in any of the ads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) has: Columns,
    /// The policy of the last group that had one.
    pub(super) surplus: Surplus,
    pub(super) users_have_quotas: bool,
    /// Groups are still to be numbered.
    pub(super) grouped: bool,
}

/// Attributes with the columns that they are the numbers of, and those that they stand for.
const ATTRIBUTES: [(&str, Columns, Columns); 8] = [
    ("PriorityFactor", Columns::FACTOR, Columns::FACTOR),
    ("WeightedAccumulatedUsage", Columns::TOTAL, Columns::USED),
    ("WeightedResourcesUsed", Columns::IN_USE, Columns::TOTAL),
    ("Ceiling", Columns::CEILING, Columns::CEILING),
    ("Floor", Columns::FLOOR, Columns::FLOOR),
    ("Requested", Columns::REQUESTED, Columns::REQUESTED),
    ("EffectiveQuota", Columns::EFFECTIVE_QUOTA, Columns::EFFECTIVE_QUOTA),
    ("ConfigQuota", Columns::CONFIG_QUOTA, Columns::CONFIG_QUOTA),
];

/// As [`ATTRIBUTES`], of groups alone.
const OF_GROUPS: [(&str, Columns, Columns); 2] = [
    ("GroupSortKey", Columns::SORT_KEY, Columns::SORT_KEY),
    ("SubtreeQuota", Columns::SUBTREE_QUOTA, Columns::SUBTREE_QUOTA),
];

/// Reads the rows; ads without a name or priority are left out.
pub(super) fn rows(ads: &[ClassAd], rollup: bool) -> (Vec<UserRow>, Found) {
    let settings = language::settings();
    let mut found = Found::default();
    let mut rows: Vec<UserRow> = Vec::with_capacity(ads.len());
    let mut before = UserRow::default();
    for missing in [Columns::TOTAL, Columns::CEILING, Columns::FLOOR] {
        before.set(missing, -1.0);
    }
    let mut used = 0;
    for (at, ad) in ads.iter().enumerate() {
        let facts = AdReader::of(ad, &settings);
        let (Some(name), Some(priority)) = (facts.string("Name"), facts.number("Priority")) else { continue };
        let mut row = UserRow { name: name.to_vec(), index: at + 1, has: Columns::PRIORITY, ..before.clone() };
        (row.surplus, row.group_id) = (Surplus::Unset, 0);
        row.set(Columns::ORDER, 0.0);
        row.set(Columns::SORT_KEY, 0.0);
        row.set(Columns::PRIORITY, priority);
        if let Some(time) = facts.integer("BeginUsageTime") {
            row.set(Columns::BEGIN, time as f64);
            row.has = row.has.with(Columns::BEGIN);
        }
        if let Some(time) = facts.integer("LastUsageTime") {
            row.last = time;
            row.has = row.has.with(Columns::LAST.with(Columns::SINCE));
        }
        if let Some(slots) = facts.integer("ResourcesUsed") {
            used = slots;
            row.has = row.has.with(Columns::USED);
        }
        row.set(Columns::IN_USE, used as f64);
        row.read(facts, &ATTRIBUTES);
        let factor = row.value(Columns::FACTOR);
        row.set(Columns::REAL_PRIORITY, if factor > 0.0 { priority / factor } else { 0.0 });
        if factor > 0.0 && row.has.any(Columns::FACTOR) {
            row.has = row.has.with(Columns::REAL_PRIORITY);
        }
        row.group = facts.string("AccountingGroup").map_or_else(|| b"<none>".to_vec(), |group| group.to_vec());
        row.is_group = facts.truth("IsAccountingGroup").unwrap_or(false);
        if row.is_group {
            group(&mut row, facts, rollup, &mut found);
        } else {
            if row.group != b"<none>" && row.group != b"." {
                row.group_id = -1;
                found.grouped = true;
            }
            found.users_have_quotas |= row.has.any(Columns::EFFECTIVE_QUOTA.with(Columns::CONFIG_QUOTA));
        }
        if row.group_id != 0 {
            row.has = row.has.with(Columns::GROUP);
        }
        if row.last == 0 {
            row.last = -1;
        }
        found.has = found.has.with(row.has);
        before = row.clone();
        rows.push(row);
    }
    (rows, found)
}

/// Values that only groups have.
fn group(row: &mut UserRow, facts: AdReader<'_>, rollup: bool, found: &mut Found) {
    row.group_id = if row.name == b"<none>" || row.name == b"." { 0 } else { -1 };
    let regroup = facts.truth("GroupAutoRegroup");
    row.surplus = if regroup == Some(true) { Surplus::Regroup } else { Surplus::No };
    if regroup == Some(true) {
        found.surplus = Surplus::Regroup;
    }
    let policy = facts.string("SurplusPolicy");
    if regroup.is_some() || policy.is_some() {
        row.has = row.has.with(Columns::SURPLUS);
    }
    if let Some(policy) = policy {
        row.surplus = match policy.to_ascii_lowercase().as_slice() {
            b"regroup" => Surplus::Regroup,
            b"byquota" => Surplus::ByQuota,
            b"no" => Surplus::No,
            _ => Surplus::Unknown,
        };
        if matches!(row.surplus, Surplus::Regroup | Surplus::ByQuota) {
            found.surplus = row.surplus;
        }
    }
    row.read(facts, &OF_GROUPS);
    if rollup && !row.has.any(Columns::EFFECTIVE_QUOTA) {
        row.has = row.has.without(Columns::PRIORITIES);
    }
    // A group's priority decides nothing.
    row.has = row.has.without(Columns::PRIORITY);
}

/// Numbers the groups by name and gives every row the place of its group. Rows must be sorted groups first.
pub(super) fn number_groups(rows: &mut [UserRow], columns: Columns, found: &mut Found) {
    let groups = rows.iter().take_while(|row| row.is_group).count();
    let mut root = 0;
    for (at, row) in rows.iter_mut().enumerate().take(groups) {
        if row.group_id < 0 {
            row.group_id = at as i64 + 1;
        } else {
            root = at;
        }
        let last = f64::from(f32::MAX);
        let order = if columns.any(Columns::PRIORITY) {
            if found.has.any(Columns::SORT_KEY) {
                row.value(Columns::SORT_KEY)
            } else if row.group_id != 0 {
                row.value(Columns::PRIORITY)
            } else {
                last
            }
        } else if columns.any(Columns::USED) {
            row.value(Columns::TOTAL) / 3600.0
        } else if row.group_id != 0 {
            row.group_id as f64
        } else {
            last
        };
        row.set(Columns::ORDER, order);
        row.has = row.has.with(Columns::ORDER);
    }
    if groups > 0 {
        found.has = found.has.with(Columns::ORDER);
    }
    let places: hashbrown::HashMap<Vec<u8>, (i64, f64, Columns)> = rows[..groups]
        .iter()
        .rev()
        .map(|row| (row.name.clone(), (row.group_id, row.value(Columns::ORDER), row.has)))
        .collect();
    let of_root = rows.get(root).map_or((0.0, Columns::NONE), |row| (row.value(Columns::ORDER), row.has));
    for row in &mut rows[groups..] {
        let (order, has) = if row.group_id >= 0 {
            of_root
        } else if let Some(&(id, order, has)) = places.get(&row.group) {
            row.group_id = id;
            (order, has)
        } else {
            continue;
        };
        row.set(Columns::ORDER, order);
        if has.any(Columns::ORDER) {
            row.has = row.has.with(Columns::ORDER);
        }
    }
}
