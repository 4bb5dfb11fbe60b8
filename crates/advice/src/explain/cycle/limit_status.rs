//! The concurrency limits that a job requests, and their holders.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use classmate::ClassAd;
use classmate_pool::Outcome;
use classmate_pool::internal::negotiate::concurrency::demands;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::quota::derivation::slots;

/// A resource that jobs hold, and that the job requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStatus {
    /// Its name, in lower case.
    pub name: String,
    /// The request of the job.
    pub wanted: f64,
    /// The maximum.
    pub maximum: f64,
    /// The configuration variable that sets it, or could.
    #[serde(skip)]
    pub(crate) setting: String,
    /// A limit that is configured, with a similar name, if this one is not.
    #[serde(skip)]
    pub(crate) similar: Option<String>,
    /// The holders at the end, with their amounts.
    pub holders: Vec<(String, f64)>,
}

impl LimitStatus {
    /// The amount in use at the end.
    pub fn held(&self) -> f64 {
        self.holders.iter().map(|(_, amount)| amount).sum()
    }

    /// Tests if the request of the job does not fit in.
    pub fn is_reached(&self) -> bool {
        self.held() + self.wanted > self.maximum
    }

    /// The first holders with their amounts, in a sentence.
    pub fn users(&self, most: usize) -> String {
        let users = self.holders.iter().take(most).map(|(who, amount)| format!("{who} {}", slots(*amount)));
        let users: Vec<String> = users.collect();
        if users.is_empty() { "no submitter".to_owned() } else { users.join(", ") }
    }
}

/// The concurrency limits that a job requests, as they are held before a cycle.
pub(crate) fn limits(pool: &PoolFacts, job: &ClassAd) -> Vec<LimitStatus> {
    let Some(text) = AdReader::of(job, &pool.settings).string("ConcurrencyLimits") else { return Vec::new() };
    let mut found = Vec::new();
    for wanted in demands(&text.to_ascii_lowercase()) {
        let mut holders: BTreeMap<String, f64> = BTreeMap::new();
        for (slot, facts) in pool.slots.iter().zip(&pool.of_slots) {
            let reader = AdReader::of(&slot.ad, &pool.settings);
            for held in ["ConcurrencyLimits", "PreemptingConcurrencyLimits"].iter().filter_map(|by| reader.string(*by))
            {
                let who = facts.user.as_deref().unwrap_or("unknown user");
                hold(&mut holders, wanted.name, who, &held.to_ascii_lowercase());
            }
        }
        found.push(LimitStatus {
            name: String::from_utf8_lossy(wanted.name).into_owned(),
            wanted: wanted.amount,
            maximum: pool.rules.concurrency.maximum(wanted.name),
            setting: pool.rules.concurrency.setting(wanted.name),
            similar: pool.rules.concurrency.similar(wanted.name).map(|name| String::from_utf8_lossy(name).into_owned()),
            holders: holders.into_iter().collect(),
        });
    }
    found
}

/// The limits as they are held at the end of a cycle.
pub(crate) fn at_the_end(before: &[LimitStatus], outcome: &Outcome) -> Vec<LimitStatus> {
    let after = |limit: &LimitStatus| {
        let mut holders: BTreeMap<String, f64> = limit.holders.iter().cloned().collect();
        for made in &outcome.matches {
            let held = made.limits.as_deref().unwrap_or_default().as_bytes();
            hold(&mut holders, limit.name.as_bytes(), &made.submitter, held);
        }
        LimitStatus { holders: holders.into_iter().collect(), ..limit.clone() }
    };
    before.iter().map(after).collect()
}

/// Adds the amount of a resource that a user holds.
fn hold(holders: &mut BTreeMap<String, f64>, name: &[u8], who: &str, held: &[u8]) {
    for held in demands(held).filter(|held| held.name == name) {
        *holders.entry(who.to_owned()).or_default() += held.amount;
    }
}

/// The causes for the limits that the job waits for: first those by which it can never run.
pub(crate) fn all_reached(limits: &[LimitStatus]) -> impl Iterator<Item = Cause> {
    let (never, others): (Vec<&LimitStatus>, Vec<_>) = limits.iter().partition(|limit| limit.wanted > limit.maximum);
    never.into_iter().chain(others).filter_map(reached)
}

/// The cause for a limit of which not enough is left, or that is less than the request.
fn reached(limit: &LimitStatus) -> Option<Cause> {
    let (name, wanted, most) = (&limit.name, slots(limit.wanted), slots(limit.maximum));
    let (label, text) = if limit.wanted > limit.maximum {
        let never = "so it can never run";
        let label = format!("the job requests more of concurrency limit `{name}` than its maximum of {most}, {never}");
        let text = format!(
            "the job requests {wanted} of concurrency limit `{name}`, more than its maximum of {most}, {never}"
        );
        (label, text)
    } else {
        let whose = limit.users(3);
        let text = format!(
            "concurrency limit `{name}` is reached: maximum {most}, in use by {whose}; the job requests {wanted}"
        );
        (format!("concurrency limit `{name}` reached"), text)
    };
    let meant = limit.similar.iter().map(|name| format!("; did you mean `{name}`?"));
    limit
        .is_reached()
        .then(|| Cause::new(Reason::ConcurrencyLimit, label, meant.fold(text, |text, meant| text + &meant)))
}
