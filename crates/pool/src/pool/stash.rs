//! Slot ads that are kept from cycle to cycle: those with `WantAdRevaluate`.
//!
//! In: the ads of a cycle, one after another. Out: for each, the ad to negotiate with, which may be an older one.
//! Formula source: `docs/reference/negotiation.md` 4.2.

use hashbrown::HashMap;

use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::value::Value;

/// The ads that were kept, by address and name.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::stash::Stash;
/// let (mut stash, settings) = (Stash::default(), EvalOptions::default());
/// let ad = ClassAd::parse(b"[Name = \"s\"; WantAdRevaluate = true; UpdateSequenceNumber = 3]")?;
/// assert!(stash.instead_of(&ad, None, &settings).is_none());
/// // The same update again: the ad that was kept counts.
/// assert!(stash.instead_of(&ad, None, &settings).is_some());
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Debug, Default)]
pub struct Stash {
    kept: HashMap<Vec<u8>, ClassAd>,
}

impl Stash {
    /// The kept ad to use instead of this one; `None` if this one is used. It is kept then, if it has `WantAdRevaluate`
    /// and a sequence number.
    ///
    /// `newer` is `STARTD_AD_REEVAL_EXPR`, with the kept ad as MY and this one as TARGET: unless it is false, this one
    /// is used. Without it, this one is used if its sequence number is higher. The returned ad does not have a sequence
    /// number.
    pub fn instead_of(&mut self, ad: &ClassAd, newer: Option<&Expr>, settings: &EvalOptions) -> Option<ClassAd> {
        const NUMBER: &str = "UpdateSequenceNumber";
        let facts = AdReader::of(ad, settings);
        if facts.truth("WantAdRevaluate") != Some(true) || !ad.contains(NUMBER) {
            return None;
        }
        let text = |name: &str| facts.string(name).map_or_else(Vec::new, |text| text.to_vec());
        let address = if ad.contains("MyAddress") { text("MyAddress") } else { text("StartdIpAddr") };
        let key = [&address, b" ".as_slice(), &text("Name")].concat();
        let old = self.kept.get(&key).filter(|old| match newer {
            Some(newer) => {
                let value = Scope::new(old, settings).with_target(ad).eval(newer);
                matches!(value, Ok(Value::Bool(false)))
            }
            None => {
                let before = AdReader::of(old, settings).number(NUMBER);
                matches!((facts.number(NUMBER), before), (Some(now), Some(before)) if now <= before)
            }
        });
        if let Some(old) = old {
            let mut old = old.clone();
            old.remove(NUMBER);
            return Some(old);
        }
        self.kept.insert(key, ad.clone());
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn ad(number: u32, more: &str) -> ClassAd {
        let text =
            format!("[Name = \"s\"; WantAdRevaluate = true; UpdateSequenceNumber = {number}; Mark = {number}; {more}]");
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    /// The marks of the ads that count when these updates come one after another.
    fn marks(newer: Option<&str>, ads: &[ClassAd]) -> Vec<i64> {
        let settings = EvalOptions::default();
        let newer = newer.map(|text| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap());
        let mut stash = Stash::default();
        let mark = |ad: &ClassAd| {
            let used = stash.instead_of(ad, newer.as_ref(), &settings).unwrap_or_else(|| ad.clone());
            AdReader::of(&used, &settings).integer("Mark").unwrap()
        };
        ads.iter().map(mark).collect()
    }

    #[test]
    fn an_ad_counts_until_a_newer_one_comes() {
        assert_eq!(marks(None, &[ad(5, ""), ad(5, "Mark = 9"), ad(4, ""), ad(6, "")]), [5, 5, 5, 6]);
    }

    #[test]
    fn the_expression_decides_and_only_false_keeps_the_old_ad() {
        let slow = "TARGET.UpdateSequenceNumber > MY.UpdateSequenceNumber + 2";
        assert_eq!(marks(Some(slow), &[ad(1, ""), ad(2, ""), ad(3, ""), ad(4, "")]), [1, 1, 1, 4]);
        for other in ["true", "undefined", "1/0", "0"] {
            assert_eq!(marks(Some(other), &[ad(1, ""), ad(1, "Mark = 8")]), [1, 8], "{other}");
        }
    }

    #[test]
    fn slots_that_do_not_ask_for_it_are_not_kept() {
        let plain =
            |mark: u32| ClassAd::parse(format!("[Name = \"s\"; UpdateSequenceNumber = 1; Mark = {mark}]").as_bytes());
        assert_eq!(marks(Some("false"), &[plain(1).unwrap(), plain(2).unwrap()]), [1, 2]);
        let other = ad(1, "MyAddress = \"<1>\"; Mark = 7");
        assert_eq!(marks(Some("false"), &[ad(1, ""), other]), [1, 7]);
    }
}
