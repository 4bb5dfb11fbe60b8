//! Accounting ads: one per customer, as the negotiator answers a query.
//!
//! In: a log. Out: ads, groups first. Formula source: `docs/reference/accountant.md` 9.

use hashbrown::HashMap;

use super::factor::FactorRules;
use super::log::AccountantLog;
use super::record::Record;
use super::store::CLOCK;
use super::usage::Accountant;
use super::{GroupOf, ROOT_GROUP};
use crate::pool::ad_reader::AdReader;
use crate::quota::GroupTree;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::text::Text;
use classmate::internal::value::Value;
use classmate_config::internal::config::{Config, ConfigError};

/// The results of group quotas for a group, filled in by their owner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupReport {
    /// Quota after surplus, weighted slots; none if it was not computed.
    pub effective: Option<f64>,
    /// Quota as configured: slots, or a fraction below 1.
    pub configured: f64,
    /// Quota of the group and all below it, weighted slots; none if it was not computed.
    pub subtree: Option<f64>,
    /// The place in the order in which groups are negotiated; none if it was not computed.
    pub sort_key: Option<f64>,
    /// The surplus policy: `no`, `byquota` or `regroup`.
    pub surplus: &'static str,
    /// Weighted slots requested; none if it was not computed.
    pub requested: Option<f64>,
}

/// The configured quota of a group, before any computation.
///
/// # Errors
/// A setting that is not a number or not a truth value.
pub fn configured_share(config: &Config, groups: &GroupTree, name: &[u8]) -> Result<GroupReport, ConfigError> {
    let accepts = config.boolean("GROUP_ACCEPT_SURPLUS", false)?;
    let regroups = config.boolean("GROUP_AUTOREGROUP", false)?;
    // Names of the configuration language are ASCII.
    let of = |knob: &str, group: &[u8]| format!("{knob}_{}", String::from_utf8_lossy(group));
    let blank =
        GroupReport { effective: None, configured: 0.0, subtree: None, sort_key: None, surplus: "no", requested: None };
    if name == ROOT_GROUP {
        let mut regroup = regroups;
        for group in groups.names() {
            regroup |= config.boolean(&of("GROUP_AUTOREGROUP", group), regroups)?;
        }
        return Ok(GroupReport { surplus: if regroup { "regroup" } else { "byquota" }, ..blank });
    }
    let fixed = config.real(&of("GROUP_QUOTA", name), -1.0, f64::MIN, f64::MAX)?;
    let configured =
        if fixed >= 0.0 { fixed } else { config.real(&of("GROUP_QUOTA_DYNAMIC", name), 0.0, f64::MIN, f64::MAX)? };
    let surplus = if config.boolean(&of("GROUP_AUTOREGROUP", name), regroups)? {
        "regroup"
    } else if config.boolean(&of("GROUP_ACCEPT_SURPLUS", name), accepts)? {
        "byquota"
    } else {
        "no"
    };
    Ok(GroupReport { configured, surplus, ..blank })
}

/// The ads of all customers of a log: the groups breadth first, then the submitters as the log has them.
///
/// `share` is what is known of the quota of a group.
pub fn accounting_ads(
    log: &AccountantLog,
    rules: FactorRules,
    groups: &GroupTree,
    share: &dyn Fn(&[u8]) -> Option<GroupReport>,
) -> Vec<ClassAd> {
    let accountant = Accountant::from_log(log, rules);
    let order: HashMap<&[u8], usize> =
        std::iter::once(ROOT_GROUP).chain(groups.names()).enumerate().map(|(at, name)| (name, at)).collect();
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
    groups: &GroupTree,
    share: &dyn Fn(&[u8]) -> Option<GroupReport>,
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
    // Those of groups have been read when the negotiator started.
    let first = if is_group { None } else { accountant.first_priority(name, groups) };
    ad.insert("Priority", sent(first.unwrap_or_else(|| accountant.effective_priority(name, groups))));
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
                ad.insert(attribute, sent(value));
            }
        }
    }
    ad
}

/// A number as it arrives: ads are sent as text, in which numbers have 16 digits.
fn sent(value: f64) -> f64 {
    format!("{value:.15e}").parse().ok().filter(|sent: &f64| sent.is_finite()).unwrap_or(value)
}

/// Sums what the groups use into the groups above them, the root last; a group's priority means nothing then.
pub fn roll_up(ads: &mut [ClassAd]) {
    let settings = EvalOptions::default();
    let name = |ad: &ClassAd| {
        let facts = AdReader::of(ad, &settings);
        facts.string("Name").filter(|_| facts.truth("IsAccountingGroup") == Some(true))
    };
    let groups: Vec<Option<Text>> = ads.iter().map(name).collect();
    let is_above = |above: &[u8], below: &[u8]| {
        above == ROOT_GROUP || below == above || (below.starts_with(above) && below.get(above.len()) == Some(&b'.'))
    };
    let before = ads.to_vec();
    for (at, above) in groups.iter().enumerate() {
        let Some(above) = above else { continue };
        let below = || {
            let mine = |other: &Option<Text>| other.as_ref().is_some_and(|below| is_above(above, below));
            before.iter().zip(&groups).filter(move |(_, other)| mine(other)).map(|(ad, _)| AdReader::of(ad, &settings))
        };
        let ad = &mut ads[at];
        ad.insert("Priority", 0.0);
        ad.insert("ResourcesUsed", below().filter_map(|facts| facts.integer("ResourcesUsed")).sum::<i64>());
        for sum in ["WeightedResourcesUsed", "AccumulatedUsage", "WeightedAccumulatedUsage"] {
            ad.insert(sum, below().filter_map(|facts| facts.number(sum)).sum::<f64>());
        }
        let begins = below().filter_map(|facts| facts.integer("BeginUsageTime")).filter(|time| *time > 0);
        if let Some(begin) = begins.min() {
            ad.insert("BeginUsageTime", begin);
        }
        if let Some(last) = below().filter_map(|facts| facts.integer("LastUsageTime")).max() {
            ad.insert("LastUsageTime", last);
        }
    }
}

/// The priority factor that a group has by the settings.
type Factor<'f> = dyn Fn(&[u8]) -> f64 + 'f;

/// The ads as the single one that older negotiators answer with: attributes with numbers, from 1, groups first. Groups that
/// are not `known` are left out. `factor` is the priority factor a group has by the settings, 0 if it has none; with
/// `limits`, what is held of each concurrency limit.
pub fn numbered(
    ads: &[ClassAd],
    known: &dyn Fn(&[u8]) -> bool,
    factor: Option<&Factor<'_>>,
    limits: &[(Vec<u8>, f64)],
) -> ClassAd {
    let settings = EvalOptions::default();
    let mut whole = ClassAd::new();
    whole.insert(
        "LastUpdate",
        ads.first().and_then(|ad| AdReader::of(ad, &settings).integer("LastUpdate")).unwrap_or(0),
    );
    for (name, held) in limits {
        let name = name.iter().map(|byte| if *byte == b'.' { b'_' } else { *byte });
        whole.insert(Name::new(b"ConcurrencyLimit_".iter().copied().chain(name).collect::<Vec<u8>>()), *held);
    }
    let mut count = 0i64;
    for ad in ads {
        let facts = AdReader::of(ad, &settings);
        let name = facts.string("Name").unwrap_or_else(|| Text::from(""));
        let is_group = facts.truth("IsAccountingGroup") == Some(true);
        if is_group && !known(&name) {
            continue;
        }
        count += 1;
        let of_kind = if is_group { GROUP_ATTRIBUTES.as_slice() } else { &SUBMITTER_ATTRIBUTES };
        for attribute in NUMBERED_ATTRIBUTES.iter().chain(of_kind) {
            let Some(expr) = ad.get(*attribute) else { continue };
            whole.insert_expr(format!("{attribute}{count}").as_str(), &expr);
        }
        if is_group {
            whole.insert(format!("AccountingGroup{count}").as_str(), text(parent(&name)));
            if let Some(factor) = factor {
                whole.insert(format!("PriorityFactor{count}").as_str(), factor(&name));
            }
        }
    }
    whole.insert("NumSubmittors", count);
    whole
}

/// Attributes of the single ad, by all customers, submitters and groups.
const NUMBERED_ATTRIBUTES: [&str; 11] = [
    "Name",
    "IsAccountingGroup",
    "AccountingGroup",
    "Priority",
    "PriorityFactor",
    "ResourcesUsed",
    "WeightedResourcesUsed",
    "AccumulatedUsage",
    "WeightedAccumulatedUsage",
    "BeginUsageTime",
    "LastUsageTime",
];
const SUBMITTER_ATTRIBUTES: [&str; 4] = ["Ceiling", "Floor", "SubmitterShare", "SubmitterLimit"];
const GROUP_ATTRIBUTES: [&str; 7] = [
    "EffectiveQuota",
    "ConfigQuota",
    "SubtreeQuota",
    "GroupSortKey",
    "SurplusPolicy",
    "Requested",
    "HierWeightedResourcesUsed",
];

/// The group above a group; the root is above itself.
fn parent(group: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', group).map_or(ROOT_GROUP, |dot| &group[..dot])
}

/// Takes the single ad that older tools save apart, with numbered attributes, into one ad a customer. Other ads stay.
pub fn split_numbered(ad: &ClassAd) -> Option<Vec<ClassAd>> {
    let settings = EvalOptions::default();
    let facts = AdReader::of(ad, &settings);
    let count = facts.integer("NumSubmittors").filter(|count| *count >= 0)?;
    // No more than there can be: every customer has a name.
    let count = (count as usize).min(ad.len());
    let mut ads = vec![ClassAd::new(); count];
    for (name, expr) in ad.iter() {
        let text = name.to_string();
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = text[stem.len()..].parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        if let Some(number) = number {
            ads[number - 1].insert_expr(Name::new(stem), &expr);
        }
    }
    if let Some(updated) = facts.integer("LastUpdate") {
        for ad in &mut ads {
            ad.insert("LastUpdate", updated);
        }
    }
    Some(ads)
}

fn text(name: &[u8]) -> Value {
    Value::Str(Text::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    const LOG: &str = "101 Accountant. * *\n103 Accountant. LastUpdateTime 1000\n\
        101 Customer.g.b.eve@x * *\n103 Customer.g.b.eve@x Priority 10.0\n103 Customer.g.b.eve@x UnchargedTime 7\n\
        101 Customer.g.b * *\n103 Customer.g.b WeightedResourcesUsed 3.0\n103 Customer.g.b LastUsageTime 9\n\
        101 Customer.g * *\n103 Customer.g WeightedResourcesUsed 4.0\n103 Customer.g LastUsageTime 5\n\
        101 Customer.<none> * *\n";

    fn ads() -> Vec<ClassAd> {
        let rules = FactorRules::new(&NegotiatorKnobs::read(&Config::default()).unwrap().accountant);
        let groups = GroupTree::of_names([b"g".to_vec(), b"g.b".to_vec()]);
        accounting_ads(&AccountantLog::read(LOG.as_bytes()).unwrap(), rules, &groups, &|_| None)
    }

    fn fact(ad: &ClassAd, name: &str) -> String {
        ad.get(name).map(|expr| expr.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_settings_say_quota_and_surplus() {
        let text =
            b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 10\nGROUP_QUOTA_DYNAMIC_b = 0.25\nGROUP_ACCEPT_SURPLUS_b = true\n";
        let config = Config::parse("c", text).unwrap();
        let groups = GroupTree::named_in(&config).unwrap();
        let share = |name: &[u8]| configured_share(&config, &groups, name).map(|s| (s.configured, s.surplus)).unwrap();
        assert_eq!((share(b"a"), share(b"b"), share(b"<none>")), ((10.0, "no"), (0.25, "byquota"), (0.0, "byquota")));
    }

    #[test]
    fn the_groups_come_first_and_priorities_are_effective() {
        let ads = ads();
        let names: Vec<_> = ads.iter().map(|ad| fact(ad, "Name")).collect();
        assert_eq!(names, ["\"<none>\"", "\"g\"", "\"g.b\"", "\"g.b.eve@x\""]);
        let eve = &ads[3];
        assert_eq!((fact(eve, "AccountingGroup"), fact(eve, "UnchargedTime")), ("\"g.b\"".into(), String::new()));
        assert_eq!(eve.constant("Priority").and_then(|value| value.as_number()), Some(10_000.0));
        assert_eq!(eve.constant("LastUpdate").and_then(|value| value.as_number()), Some(1000.0));
    }

    #[test]
    fn numbers_arrive_with_16_digits() {
        assert_eq!(format!("{:.2}", 55.25 * 33.3), "1839.82");
        assert_eq!(format!("{:.2}", sent(55.25 * 33.3)), "1839.83");
        assert_eq!(sent(f64::MAX), f64::MAX);
    }

    #[test]
    fn rolling_up_sums_into_the_groups_above() {
        let mut ads = ads();
        roll_up(&mut ads);
        let used = |at: usize| ads[at].constant("WeightedResourcesUsed").and_then(|value| value.as_number());
        assert_eq!((used(0), used(1), used(2)), (Some(7.0), Some(7.0), Some(3.0)));
        assert_eq!(fact(&ads[1], "LastUsageTime"), "9");
    }

    #[test]
    fn one_ad_holds_all_and_can_be_taken_apart() {
        let all = ads();
        let whole = numbered(&all, &|group| group != b"g.b", Some(&|_| 3.0), &[(b"lic.sw".to_vec(), 2.0)]);
        let value = |name: &str| fact(&whole, name);
        assert_eq!((value("NumSubmittors"), value("LastUpdate")), ("3".into(), "1000".into()));
        assert_eq!((value("Name1"), value("AccountingGroup1")), ("\"<none>\"".into(), "\"<none>\"".into()));
        assert_eq!((value("Name2"), value("AccountingGroup2")), ("\"g\"".into(), "\"<none>\"".into()));
        assert_eq!((value("Name3"), value("AccountingGroup3")), ("\"g.b.eve@x\"".into(), "\"g.b\"".into()));
        let number = |name: &str| AdReader::of(&whole, &EvalOptions::default()).number(name);
        assert_eq!((number("ConcurrencyLimit_lic_sw"), number("PriorityFactor2")), (Some(2.0), Some(3.0)));
        let again = split_numbered(&whole).unwrap();
        let same = ["Name", "Priority", "WeightedResourcesUsed", "Ceiling", "LastUpdate"];
        assert!(same.iter().all(|name| fact(&again[2], name) == fact(&all[3], name)));
    }

    #[test]
    fn an_ad_with_numbered_attributes_is_taken_apart() {
        let ad = ClassAd::parse(
            b"[NumSubmittors = 2; LastUpdate = 7; Name1 = \"a@x\"; Priority1 = 5.0; Name2 = \"b@x\"; Name9 = 1]",
        );
        let ads = split_numbered(&ad.unwrap()).unwrap();
        assert_eq!((ads.len(), fact(&ads[0], "Name"), fact(&ads[1], "LastUpdate")), (2, "\"a@x\"".into(), "7".into()));
        assert!(split_numbered(&ads[0]).is_none());
        let hostile = ClassAd::parse(b"[NumSubmittors = 9223372036854775807; Name1 = \"a@x\"]").unwrap();
        assert_eq!(split_numbered(&hostile).unwrap().len(), 2);
    }
}
