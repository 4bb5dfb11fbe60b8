//! The concurrency limits a job asks for, and who holds them.

use serde::Serialize;

use crate::ad::ClassAd;
use crate::explain::Market;
use crate::explain::causes::{Cause, Reason};
use crate::negotiate::Outcome;
use crate::negotiate::concurrency::demands;
use crate::pool::facts::Facts;
use crate::quota::story::slots;

/// A resource that jobs hold, and that the job asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStand {
    /// Its name, in lower case.
    pub name: String,
    /// What the job asks for.
    pub wanted: f64,
    /// What may be held at once.
    pub maximum: f64,
    /// Who holds how much at the end.
    pub holders: Vec<(String, f64)>,
}

/// The concurrency limits that a job asks for.
pub(super) fn limits(outcome: &Outcome, market: &Market, job: &ClassAd) -> Vec<LimitStand> {
    let Some(text) = Facts::of(job, &market.settings).string("ConcurrencyLimits") else { return Vec::new() };
    let mut found = Vec::new();
    for wanted in demands(&text.to_ascii_lowercase()) {
        let mut holders: std::collections::BTreeMap<String, f64> = std::collections::BTreeMap::new();
        let mut hold = |who: &str, text: &[u8]| {
            for held in demands(text).filter(|held| held.name == wanted.name) {
                *holders.entry(who.to_owned()).or_default() += held.amount;
            }
        };
        for (slot, user) in market.slots.iter().zip(&market.users) {
            let facts = Facts::of(slot, &market.settings);
            for held in ["ConcurrencyLimits", "PreemptingConcurrencyLimits"].iter().filter_map(|by| facts.string(*by)) {
                hold(user.as_deref().unwrap_or("nobody"), &held.to_ascii_lowercase());
            }
        }
        for made in &outcome.matches {
            hold(&made.submitter, made.limits.as_deref().unwrap_or_default().as_bytes());
        }
        found.push(LimitStand {
            name: String::from_utf8_lossy(wanted.name).into_owned(),
            wanted: wanted.amount,
            maximum: market.rules.concurrency.maximum(wanted.name),
            holders: holders.into_iter().collect(),
        });
    }
    found
}

/// A limit of which not enough is left, or than which the job asks for more.
pub(super) fn reached(limit: &LimitStand) -> Option<Cause> {
    let held: f64 = limit.holders.iter().map(|(_, amount)| amount).sum();
    let whose: Vec<String> =
        limit.holders.iter().take(3).map(|(who, amount)| format!("{who} {}", slots(*amount))).collect();
    (held + limit.wanted > limit.maximum).then(|| {
        let (name, wanted, most) = (&limit.name, slots(limit.wanted), slots(limit.maximum));
        let whose = if whose.is_empty() { "nobody".to_owned() } else { whose.join(", ") };
        let text = if limit.wanted > limit.maximum {
            format!("the job asks for {wanted} of concurrency limit `{name}`, more than the {most} there are: it can never run")
        } else {
            format!("concurrency limit `{name}` is reached: at most {most}, held by {whose}; the job asks for {wanted}")
        };
        Cause::new(Reason::ConcurrencyLimit, text)
    })
}
