//! Which job attributes a match can depend on.
//!
//! The reference calls every attribute significant that any expression of a slot refers to, also expressions that no
//! match looks at. A match looks at Requirements and Rank of both sides, at what these refer to, and at the negotiator's
//! expressions.

use std::sync::Arc;

use hashbrown::HashSet;

use super::knob_expressions;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::{Key, Name};
use classmate::internal::syntax::expr::Tree;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::significant::{Significant, references};

/// Attributes of slots that a cycle evaluates, beside those that others refer to.
const LOOKED_AT: [&str; 4] = ["Requirements", "Rank", "NegotiatorRequirements", "SlotWeight"];

/// The attributes of jobs that a match with these slots can depend on.
pub fn reached(slots: &[&ClassAd], jobs: &[Job], rules: &Rules) -> Significant {
    let mut found = Significant::default();
    let also: Vec<Name> = rules.knobs.significant.slot_side.iter().map(Name::new).collect();
    let exprs: Vec<Arc<Tree>> = knob_expressions(rules).into_iter().map(|(_, expr)| expr.to_tree()).collect();
    let asked = asked_by(jobs);
    for ad in slots {
        let mut seen: HashSet<Key> = HashSet::new();
        let mut open: Vec<Name> = LOOKED_AT.into_iter().map(Name::new).chain(asked.iter().copied()).collect();
        open.extend(ad.names().filter(|name| name.folded().starts_with(b"consumption")));
        for tree in &exprs {
            for name in Significant::of_expression(tree, ad, &also).names() {
                found.insert(name);
            }
            open.extend(references(tree).into_iter().map(|(name, _)| name));
        }
        while let Some(name) = open.pop() {
            if !seen.insert(name.key()) {
                continue;
            }
            let Some(Attribute::Tree(tree)) = ad.lookup(name) else { continue };
            for name in Significant::of_expression(tree, ad, &[]).names() {
                found.insert(name);
            }
            open.extend(references(tree).into_iter().filter(|(_, external)| !external).map(|(name, _)| name));
        }
    }
    for name in Significant::schedd_minimum() {
        found.insert(name);
    }
    for name in &rules.knobs.significant.added {
        found.insert(Name::new(name));
    }
    found
}

/// What the jobs' expressions ask of slots; each text is looked at once.
fn asked_by(jobs: &[Job]) -> Vec<Name> {
    let mut asked: Vec<Name> = Vec::new();
    let mut known: HashSet<Key> = HashSet::new();
    let mut seen: HashSet<*const Tree> = HashSet::new();
    for job in jobs {
        for name in ["Requirements", "Rank"] {
            let Some(Attribute::Tree(tree)) = job.ad.lookup(Name::new(name)) else { continue };
            if !seen.insert(Arc::as_ptr(tree)) {
                continue;
            }
            for (name, _) in references(tree) {
                if known.insert(name.key()) {
                    asked.push(name);
                }
            }
        }
    }
    asked
}
