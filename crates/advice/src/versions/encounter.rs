//! Crashes and hangs of HTCondor that the conditions of slots and jobs meet in a cycle.
//!
//! In: the ads, and the version whose language applies. Out: for each defect an attribute of one ad that meets it. One ad of each
//! text of the conditions is looked at, beside a few ads of the other side: a value that only other ads have may escape.

use std::collections::HashSet;
use std::sync::Arc;

use super::defects::{VersionDefect, defects};
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, EvalOptions, Expr, Semantics};

/// A defect that an attribute meets in a match.
#[derive(Debug, Clone, PartialEq)]
pub struct DefectEncounter {
    /// True for an attribute of a job, false for one of a slot.
    pub of_job: bool,
    /// The first ad.
    pub ad: String,
    /// The attribute.
    pub attribute: &'static str,
    /// The text of its expression.
    pub text: Vec<u8>,
    /// True if the ad meets the defect without another ad too.
    pub alone: bool,
    /// The version of the ad, or the oldest that is known if the ad is older.
    pub version: Semantics,
    /// The defect.
    pub defect: VersionDefect,
}

/// The attributes that a cycle evaluates, and what they refer to.
const CONDITIONS: [&str; 2] = ["Requirements", "Rank"];
/// Texts of conditions on one side.
const MAX_TEXTS: usize = 200;
/// Ads of the other side beside each of them.
const MAX_PARTNERS: usize = 5;

/// The defects that slots and jobs meet, slots first.
pub fn encounters(slots: &[ClassAd], jobs: &[ClassAd], settings: &EvalOptions) -> Vec<DefectEncounter> {
    let kinds = [kinds(slots), kinds(jobs)];
    let mut found: Vec<DefectEncounter> = Vec::new();
    for (side, of_side) in kinds.iter().enumerate() {
        let others = &kinds[1 - side];
        for my in of_side {
            for attribute in CONDITIONS {
                let Some(expr) = my.get(attribute) else { continue };
                let version = settings.semantics.of_one(|| Some(expr.tree().semantics));
                let version = version.measured();
                let settings = EvalOptions { semantics: version, ..settings.clone() };
                let alone = others.is_empty().then_some(None);
                let partners = others.iter().take(MAX_PARTNERS).map(|other| Some(*other)).chain(alone);
                for defect in partners.flat_map(|other| defects(&expr, my, other, &settings)) {
                    let of_job = side == 1;
                    let is_it = |known: &DefectEncounter| {
                        (known.of_job, known.attribute, known.version) == (of_job, attribute, version)
                            && known.defect == defect
                    };
                    if !found.iter().any(is_it) {
                        let ad = name(my, of_job);
                        let alone = defects(&expr, my, None, &settings).contains(&defect);
                        let text = expr.to_text(Style::New);
                        found.push(DefectEncounter { of_job, ad, attribute, text, alone, version, defect });
                    }
                }
            }
        }
    }
    found
}

/// The first ad of each text of the conditions.
fn kinds(ads: &[ClassAd]) -> Vec<&ClassAd> {
    let (mut trees, mut texts) = (HashSet::new(), HashSet::new());
    let is_new = |ad: &&ClassAd| {
        let conditions: Vec<Option<Expr>> = CONDITIONS.iter().map(|name| ad.get(*name)).collect();
        let shared = |expr: &Expr| (Arc::as_ptr(expr.tree()), expr.root());
        let places: Vec<_> = conditions.iter().map(|expr| expr.as_ref().map(shared)).collect();
        trees.insert(places) && {
            let text = |expr: &Expr| expr.to_text(Style::New);
            texts.insert(conditions.iter().map(|expr| expr.as_ref().map(text)).collect::<Vec<_>>())
        }
    };
    ads.iter().filter(is_new).take(MAX_TEXTS).collect()
}

/// The name of an ad for people.
fn name(ad: &ClassAd, of_job: bool) -> String {
    let value = |name: &str| ad.constant(name).map(|value| value.to_string().trim_matches('"').to_owned());
    let number = || Some(format!("{}.{}", value("ClusterId")?, value("ProcId")?));
    if of_job { number() } else { value("Name") }.unwrap_or_else(|| "without a name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of HTCondor 24.0.20, the slot hangs if the job has `Big`; the other job hangs in its own `Rank`.
    #[test]
    fn each_defect_is_met_by_the_first_of_alike_ads() {
        let settings = |series: &str| EvalOptions { semantics: series.parse().unwrap(), ..EvalOptions::default() };
        let read = |texts: &[&str], settings: &EvalOptions| -> Vec<ClassAd> {
            texts.iter().map(|text| ClassAd::parse_with(text, &settings.parse_options()).unwrap()).collect()
        };
        let old = "$CondorVersion: 24.0.20 2025-01-01 $";
        let slot = |name: &str, version: &str| {
            format!(
                "[ Name = \"{name}\"; CondorVersion = \"{version}\"; Requirements = Start; Start = TARGET.Big ? Start : true ]"
            )
        };
        let slots = [slot("a", old), slot("b", old), slot("c", "$CondorVersion: 25.14.1 2026-01-01 $")];
        let jobs = [
            "[ ClusterId = 1; ProcId = 0; Requirements = true; Big = true ]",
            "[ ClusterId = 2; ProcId = 3; Requirements = true; Rank = R; R = 1 ? R : 2 ]",
        ];
        let met = |series: &str, slots: &[String]| -> Vec<_> {
            let settings = settings(series);
            let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
            let found = encounters(&read(&slots, &settings), &read(&jobs, &settings), &settings);
            found.into_iter().map(|one| (one.ad, one.attribute, one.version.to_string(), one.defect.name)).collect()
        };
        let is =
            |ad: &str, attribute, version: &str| (ad.to_owned(), attribute, version.to_owned(), "endless-conditional");
        assert_eq!(met("24.0", &slots), [is("a", "Requirements", "24.0"), is("2.3", "Rank", "24.0")]);
        assert_eq!(met("advertised", &slots), [is("a", "Requirements", "24.0")]);
        assert_eq!(met("advertised", &slots[2..]), []);
        // Nothing is known of versions before 10.0.
        let older = slot("d", "$CondorVersion: 9.0.17 2022-01-01 $");
        assert_eq!(met("advertised", &[older]), [is("d", "Requirements", "10.0")]);
        assert_eq!(met("25.14", &slots), []);
    }
}
