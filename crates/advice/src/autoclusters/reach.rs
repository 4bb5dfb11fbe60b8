//! Job attributes that a match can depend on.
//!
//! HTCondor treats every attribute as significant that any expression of a slot refers to, even expressions that no match
//! evaluates. A match evaluates Requirements and Rank of both sides, the attributes they refer to, and the negotiator's
//! expressions.

use std::sync::Arc;

use hashbrown::HashSet;

use super::knob_expressions;
use classmate::internal::program::table::closure;
use classmate::internal::syntax::expr::Tree;
use classmate::{ClassAd, Name};
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::significant::{Significant, references};

/// Attributes of slots that a cycle evaluates, besides those that others refer to.
const EVALUATED_ATTRIBUTES: [&str; 4] = ["Requirements", "Rank", "NegotiatorRequirements", "SlotWeight"];

/// The attributes of jobs that a match with these slots can depend on.
pub fn reached(slots: &[&ClassAd], jobs: &[Job], rules: &Rules) -> Significant {
    let added = rules.knobs.significant.added.iter().map(Name::new);
    let mut found: Significant = Significant::schedd_minimum().chain(added).collect();
    let also: Vec<Name> = rules.knobs.significant.slot_side.iter().map(Name::new).collect();
    let exprs: Vec<Arc<Tree>> = knob_expressions(rules).into_iter().map(|(_, expr)| expr.to_tree()).collect();
    let named = referenced_by(jobs);
    for ad in slots {
        let mut open: Vec<Name> =
            EVALUATED_ATTRIBUTES.into_iter().map(Name::new).chain(named.iter().copied()).collect();
        open.extend(ad.names().filter(|name| name.folded().starts_with(b"consumption")));
        for tree in &exprs {
            found.extend(Significant::of_expression(tree, ad, &also).names());
            open.extend(references(tree).into_iter().map(|(name, _)| name));
        }
        closure(open, |names| {
            let trees = names.iter().filter_map(|name| ad.lookup(*name)?.tree());
            let mentioned = trees.flat_map(|tree| {
                found.extend(Significant::of_expression(tree, ad, &[]).names());
                references(tree)
            });
            mentioned.filter(|(_, external)| !external).map(|(name, _)| name).collect()
        });
    }
    found
}

/// The attributes of slots that the expressions of jobs refer to.
fn referenced_by(jobs: &[Job]) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    let (mut known, mut seen) = (HashSet::new(), HashSet::new());
    for job in jobs {
        let trees = ["Requirements", "Rank"].into_iter().filter_map(|name| job.ad.lookup(Name::new(name))?.tree());
        for tree in trees.filter(|tree| seen.insert(Arc::as_ptr(tree))) {
            let names = references(tree).into_iter().map(|(name, _)| name);
            found.extend(names.filter(|name| known.insert(name.key())));
        }
    }
    found
}
