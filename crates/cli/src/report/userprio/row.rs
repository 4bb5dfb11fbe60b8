//! The rows of a priority listing, from accounting ads.
//!
//! Attributes that an ad lacks keep the value of the ad before, as in `condor_userprio`: without accumulated usage the
//! column shows `-0.00`, and after a user with usage it repeats that user's value.

use classmate::{ClassAd, EvalOptions};
use classmate_pool::internal::pool::ad_reader::AdReader;

use super::column::Columns;

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
pub(super) struct Row {
    pub(super) name: Vec<u8>,
    pub(super) group: Vec<u8>,
    pub(super) is_group: bool,
    /// 0 for the root and those in it, or the number of the group by name.
    pub(super) group_id: i64,
    pub(super) index: usize,
    pub(super) order: f64,
    /// Attributes present in its ad.
    pub(super) has: Columns,
    pub(super) priority: f64,
    pub(super) factor: f64,
    pub(super) in_use: f64,
    pub(super) accumulated: f64,
    pub(super) requested: f64,
    pub(super) begin: i64,
    pub(super) last: i64,
    pub(super) effective_quota: f64,
    pub(super) config_quota: f64,
    pub(super) subtree_quota: f64,
    pub(super) ceiling: f64,
    pub(super) floor: f64,
    pub(super) sort_key: f64,
    pub(super) surplus: Surplus,
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

/// Reads the rows; ads without a name or priority are left out.
pub(super) fn rows(ads: &[ClassAd], rollup: bool) -> (Vec<Row>, Found) {
    let settings = EvalOptions::default();
    let mut found = Found::default();
    let mut rows: Vec<Row> = Vec::with_capacity(ads.len());
    let mut before = Row { accumulated: -1.0, ceiling: -1.0, floor: -1.0, ..Row::default() };
    let mut used = 0;
    for (at, ad) in ads.iter().enumerate() {
        let facts = AdReader::of(ad, &settings);
        let (Some(name), Some(priority)) = (facts.string("Name"), facts.number("Priority")) else { continue };
        let mut row = Row { name: name.to_vec(), priority, index: at + 1, ..before.clone() };
        (row.order, row.sort_key, row.surplus, row.group_id) = (0.0, 0.0, Surplus::Unset, 0);
        row.has = Columns::PRIORITY;
        let mut has = |columns: Columns| row.has = row.has.with(columns);
        if let Some(factor) = facts.number("PriorityFactor") {
            row.factor = factor;
            has(if factor > 0.0 { Columns::FACTOR.with(Columns::REAL_PRIORITY) } else { Columns::FACTOR });
        }
        let numbers = [
            ("WeightedAccumulatedUsage", &mut row.accumulated, Columns::USED),
            ("Ceiling", &mut row.ceiling, Columns::CEILING),
            ("Floor", &mut row.floor, Columns::FLOOR),
            ("Requested", &mut row.requested, Columns::REQUESTED),
            ("EffectiveQuota", &mut row.effective_quota, Columns::EFFECTIVE_QUOTA),
            ("ConfigQuota", &mut row.config_quota, Columns::CONFIG_QUOTA),
        ];
        for (attribute, place, columns) in numbers {
            if let Some(number) = facts.number(attribute) {
                *place = number;
                has(columns);
            }
        }
        if let Some(time) = facts.integer("BeginUsageTime") {
            row.begin = time;
            has(Columns::BEGIN);
        }
        if let Some(time) = facts.integer("LastUsageTime") {
            row.last = time;
            has(Columns::LAST.with(Columns::SINCE));
        }
        if let Some(slots) = facts.integer("ResourcesUsed") {
            used = slots;
            has(Columns::USED);
        }
        match facts.number("WeightedResourcesUsed") {
            Some(weighted) => {
                row.in_use = weighted;
                has(Columns::TOTAL);
            }
            None => row.in_use = used as f64,
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
fn group(row: &mut Row, facts: AdReader<'_>, rollup: bool, found: &mut Found) {
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
    if let Some(key) = facts.number("GroupSortKey") {
        row.sort_key = key;
        row.has = row.has.with(Columns::SORT_KEY);
    }
    if let Some(quota) = facts.number("SubtreeQuota") {
        row.subtree_quota = quota;
        row.has = row.has.with(Columns::SUBTREE_QUOTA);
    }
    if rollup && !row.has.any(Columns::EFFECTIVE_QUOTA) {
        row.has = row.has.without(Columns::PRIORITIES);
    }
    // A group's priority decides nothing.
    row.has = row.has.without(Columns::PRIORITY);
}

/// Numbers the groups by name and gives every row the place of its group. Rows must be sorted groups first.
pub(super) fn number_groups(rows: &mut [Row], columns: Columns, found: &mut Found) {
    let groups = rows.iter().take_while(|row| row.is_group).count();
    let mut root = 0;
    for (at, row) in rows.iter_mut().enumerate().take(groups) {
        if row.group_id < 0 {
            row.group_id = at as i64 + 1;
        } else {
            root = at;
        }
        let last = f64::from(f32::MAX);
        row.order = if columns.any(Columns::PRIORITY) {
            if found.has.any(Columns::SORT_KEY) {
                row.sort_key
            } else if row.group_id != 0 {
                row.priority
            } else {
                last
            }
        } else if columns.any(Columns::USED) {
            row.accumulated / 3600.0
        } else if row.group_id != 0 {
            row.group_id as f64
        } else {
            last
        };
        row.has = row.has.with(Columns::ORDER);
    }
    if groups > 0 {
        found.has = found.has.with(Columns::ORDER);
    }
    let places: hashbrown::HashMap<Vec<u8>, (i64, f64, Columns)> =
        rows[..groups].iter().rev().map(|row| (row.name.clone(), (row.group_id, row.order, row.has))).collect();
    let of_root = rows.get(root).map_or((0.0, Columns::NONE), |row| (row.order, row.has));
    for row in &mut rows[groups..] {
        let (order, has) = if row.group_id >= 0 {
            of_root
        } else if let Some(&(id, order, has)) = places.get(&row.group) {
            row.group_id = id;
            (order, has)
        } else {
            continue;
        };
        row.order = order;
        if has.any(Columns::ORDER) {
            row.has = row.has.with(Columns::ORDER);
        }
    }
}
