//! The books as ads: one a customer, as the negotiator answers a query for accounting ads.
//!
//! In: a log. Out: ads, groups first. Formula source: `accountant.md` §9.

use hashbrown::HashMap;

use super::factor::FactorRules;
use super::groups::GroupNames;
use super::log::Log;
use super::record::Record;
use super::store::CLOCK;
use super::usage::Accountant;
use super::{GroupOf, ROOT_GROUP};
use crate::ad::ClassAd;
use crate::name::Name;
use crate::syntax::parse::{ParseOptions, parse_expr};

/// What group quotas say of a group; whoever computes them fills it in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupShare {
    /// Quota after surplus, weighted slots; none if it was not computed.
    pub effective: Option<f64>,
    /// Quota as configured: slots, or a fraction below 1.
    pub configured: f64,
    /// Quota of the group and all below it, weighted slots; none if it was not computed.
    pub subtree: Option<f64>,
    /// Which group is served first; none if it was not computed.
    pub sort_key: Option<f64>,
    /// What becomes of quota that others leave: `no`, `byquota` or `regroup`.
    pub surplus: &'static str,
    /// Weighted slots asked for; none if it was not computed.
    pub requested: Option<f64>,
}

/// The ads of all customers of a log: the groups breadth first, then the submitters as the log has them.
///
/// `share` is what is known of the quota of a group.
pub fn accounting_ads(
    log: &Log,
    rules: FactorRules,
    groups: &GroupNames,
    share: &dyn Fn(&[u8]) -> Option<GroupShare>,
) -> Vec<ClassAd> {
    let accountant = Accountant::from_log(log, rules);
    let order: HashMap<&[u8], usize> =
        std::iter::once(ROOT_GROUP).chain(groups.iter()).enumerate().map(|(at, name)| (name, at)).collect();
    let mut records: Vec<(&[u8], &Record)> = log.table("Customer").collect();
    // Stable: submitters, and groups that are not configured any more, keep the order of the log.
    records.sort_by_key(|(name, _)| (name.contains(&b'@'), order.get(name).copied().unwrap_or(usize::MAX)));
    let last_update = log.get(CLOCK).and_then(|record| record.integer("LastUpdateTime")).unwrap_or(0);
    records.iter().map(|(name, record)| ad(name, record, last_update, &accountant, groups, share)).collect()
}

fn ad(
    name: &[u8],
    record: &Record,
    last_update: i64,
    accountant: &Accountant,
    groups: &GroupNames,
    share: &dyn Fn(&[u8]) -> Option<GroupShare>,
) -> ClassAd {
    let mut ad = ClassAd::new();
    for (attribute, text) in record.iter() {
        let left_out = [b"UnchargedTime".as_slice(), b"WeightedUnchargedTime", b"MyType"];
        if left_out.iter().any(|known| attribute.eq_ignore_ascii_case(known)) {
            continue;
        }
        if let Ok(expr) = parse_expr(text, &ParseOptions::default()) {
            ad.insert_expr(Name::new(attribute), &expr);
        }
    }
    let is_group = !name.contains(&b'@');
    ad.insert("Name", text(name));
    ad.insert("LastUpdate", last_update);
    ad.insert("Priority", accountant.effective_priority(name, groups));
    ad.insert("PriorityFactor", accountant.factor(name, groups));
    ad.insert("Ceiling", accountant.ceiling(name));
    ad.insert("Floor", accountant.floor(name));
    ad.insert("IsAccountingGroup", is_group);
    ad.insert("AccountingGroup", text(if is_group { name } else { groups.group_of(name) }));
    if let Some(share) = is_group.then(|| share(name)).flatten() {
        ad.insert("ConfigQuota", share.configured);
        ad.insert("SurplusPolicy", share.surplus);
        let computed = [
            ("EffectiveQuota", share.effective),
            ("SubtreeQuota", share.subtree),
            ("GroupSortKey", share.sort_key),
            ("Requested", share.requested),
        ];
        for (attribute, value) in computed {
            if let Some(value) = value {
                ad.insert(attribute, value);
            }
        }
    }
    ad
}

fn text(name: &[u8]) -> crate::value::Value {
    crate::value::Value::Str(crate::text::Text::new(name))
}
