//! The conditions that decide one that is not true: the branch of `?:` that was taken, the parts of `||` of which none is
//! true, and the expression in the opposite ad if a condition only names it, or in the same one if it only has a default.
//!
//! In: a condition with what its parts are for every slot. Out: the innermost conditions, with the slots for which each is
//! what has to change.

use indexmap::IndexMap;

use crate::explain::clauses::{AdCondition, AdConditions, Leaf, conditions_of, deciding_leaves, others, own, truth};
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name, Scope};

/// References to the ad opposite are followed for at most so many slots.
const MAX_FOLLOWED_SLOTS: usize = 20_000;
/// And so many times.
const MAX_FOLLOWED_DEPTH: usize = 4;

/// A condition that decides another one.
#[derive(Debug, Clone)]
pub(super) struct DecidingCondition {
    pub(super) condition: AdCondition,
    /// It is a condition of the job.
    pub(super) of_job: bool,
    /// The attributes that lead to it: of the ad opposite, or of the same one with a default.
    pub(super) through: Vec<Name>,
    /// The conditions of `?:` above it, with the truth that selects it.
    pub(super) since: Vec<(String, bool)>,
    /// The slots for which it decides.
    pub(super) slots: Vec<u32>,
}

/// The attribute of the ad opposite that a condition is by itself: `TARGET.name`, or that compared with true.
fn named(expr: &Expr, holder: &ClassAd) -> Option<Name> {
    let tree = expr.tree();
    let mut at = tree.bare(expr.root());
    if let Node::Binary(BinaryOp::Is | BinaryOp::Equal, left, right) = *tree.node(at)
        && matches!(tree.node(tree.bare(right)), Node::Literal(Literal::Bool(true)))
    {
        at = tree.bare(left);
    }
    others(tree, at, holder)
}

/// The attribute of the same ad that a condition is, but for a default: `name ?: true`.
fn defaulted(expr: &Expr) -> Option<Name> {
    let tree = expr.tree();
    let Node::Binary(BinaryOp::Default, left, right) = *tree.node(tree.bare(expr.root())) else { return None };
    let is_literal = matches!(tree.node(tree.bare(right)), Node::Literal(_));
    own(tree, tree.bare(left)).filter(|_| is_literal)
}

/// A condition of an ad, and the classes of slots for which it is not true: of all slots if it is the job's, otherwise of
/// those of one policy.
pub(super) struct PlacedCondition<'v> {
    pub(super) conditions: &'v AdConditions,
    /// Its number among them.
    pub(super) at: usize,
    pub(super) classes: Vec<usize>,
}

/// The conditions that decide one that may be in several policies; the most slots first, and of equal ones those that compare
/// a request of the job.
pub(super) fn deciding(view: &JobView<'_>, of_job: bool, places: &[PlacedCondition<'_>]) -> Vec<DecidingCondition> {
    let mut found: Vec<DecidingCondition> = Vec::new();
    for PlacedCondition { conditions, at, classes } in places {
        let mut leaves: IndexMap<Leaf, Vec<usize>> = IndexMap::new();
        for class in classes {
            let of_class = &view.classes.all[*class];
            let row = if of_job { &of_class.one } else { &of_class.many };
            for leaf in deciding_leaves(conditions, row, *at) {
                leaves.entry(leaf).or_default().push(*class);
            }
        }
        found.extend(leaves.into_iter().map(|((leaf, since), classes)| DecidingCondition {
            condition: conditions.all[leaf].clone(),
            of_job,
            through: Vec::new(),
            since: since.iter().map(|(at, is)| (format!("{:#}", conditions.all[*at].expr), *is)).collect(),
            slots: view.classes.ads_of(&classes),
        }));
    }
    let mut deciders: IndexMap<String, DecidingCondition> = IndexMap::new();
    for decider in found {
        for decider in followed(view, decider, 0) {
            let key = format!("{} {} {:?}", decider.of_job, decider.condition.expr, decider.through);
            match deciders.get_mut(&key) {
                Some(known) => {
                    known.slots.extend(&decider.slots);
                    known.slots.sort_unstable();
                    known.slots.dedup();
                }
                None => {
                    deciders.insert(key, decider);
                }
            }
        }
    }
    let mut deciders: Vec<DecidingCondition> = deciders.into_values().collect();
    // Of alternatives, the one that compares a request of the job says what to do.
    let is_of_request = |one: &DecidingCondition| {
        let found = references(one.condition.expr.tree(), one.condition.expr.root());
        found.iter().any(|found| found.name.folded().starts_with(b"request") && view.job.contains(found.name))
    };
    deciders.sort_by_cached_key(|one| (std::cmp::Reverse(one.slots.len()), !is_of_request(one)));
    deciders
}

/// A condition, or what decides it in the ad opposite if it only names something there, or in the same one if it has a default.
fn followed(view: &JobView<'_>, decider: DecidingCondition, depth: usize) -> Vec<DecidingCondition> {
    let slot = |at: u32| &view.pool.slots[at as usize].ad;
    let Some(first) = decider.slots.first() else { return vec![decider] };
    let holder = if decider.of_job { view.job } else { slot(*first) };
    let expr = &decider.condition.expr;
    let across = named(expr, holder).map(|name| (name, !decider.of_job));
    let Some((name, of_job)) = across.or_else(|| Some((defaulted(expr)?, decider.of_job))) else {
        return vec![decider];
    };
    if depth == MAX_FOLLOWED_DEPTH || decider.slots.len() > MAX_FOLLOWED_SLOTS {
        return vec![decider];
    }
    let owner = |at: u32| if of_job { view.job } else { slot(at) };
    let mut found: IndexMap<(String, String), DecidingCondition> = IndexMap::new();
    let mut rest: Vec<u32> = Vec::new();
    // Most slots have the same expression.
    let mut last: Option<(String, AdConditions)> = None;
    for at in &decider.slots {
        let (my, target) = if of_job { (view.job, slot(*at)) } else { (slot(*at), view.job) };
        let Some(expr) = owner(*at).get(name).filter(|expr| expr.as_literal().is_none()) else {
            rest.push(*at);
            continue;
        };
        let text = expr.to_string();
        // What conditions lead through depends on the whole ad.
        let is_other = |(known, conditions): &(String, AdConditions)| {
            *known != text || conditions.all.iter().any(|condition| !condition.place.via.is_empty())
        };
        let known = last.take().filter(|known| of_job || !is_other(known));
        let (_, conditions) = last.insert(known.unwrap_or_else(|| (text, conditions_of(my, name))));
        let scope = Scope::new(my, &view.pool.settings).with_target(target);
        let row: Vec<Truth> = conditions.all.iter().map(|condition| truth(scope, &condition.expr)).collect();
        if row.first().is_none_or(|whole| *whole == Truth::True) {
            rest.push(*at);
            continue;
        }
        for (leaf, since) in deciding_leaves(conditions, &row, 0) {
            let condition = &conditions.all[leaf];
            let since: Vec<(String, bool)> =
                since.iter().map(|(at, is)| (format!("{:#}", conditions.all[*at].expr), *is)).collect();
            let key = (format!("{:#}", condition.expr), format!("{since:?}"));
            let entry = found.entry(key).or_insert_with(|| DecidingCondition {
                condition: condition.clone(),
                of_job,
                through: [decider.through.as_slice(), &[name]].concat(),
                since: [decider.since.clone(), since].concat(),
                slots: Vec::new(),
            });
            entry.slots.push(*at);
        }
    }
    let mut all: Vec<DecidingCondition> =
        found.into_values().flat_map(|inner| followed(view, inner, depth + 1)).collect();
    if !rest.is_empty() {
        all.push(DecidingCondition { slots: rest, ..decider });
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::explain::PoolFacts;
    use crate::explain::job_view::JobView;
    use classmate::internal::ad::ClassAd;
    use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};

    fn causes(job: &str, slots: &[&str]) -> Vec<String> {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots = slots.iter().map(|text| ad(text)).collect();
        let snapshot = Snapshot { slots, ..Snapshot::default() };
        let prepared = PreparedPool::for_explanation(&snapshot).unwrap();
        let pool = PoolFacts::new(&prepared);
        let found = JobView::of(&pool, &ad(job)).explanation("1.0".to_owned(), "a@x".to_owned());
        found.causes.into_iter().map(|cause| cause.text).collect()
    }

    const SLOT: &str =
        "[Name = \"a\"; Cpus = 4; Memory = 8192; IsGood = Memory > 10000 && Cpus > 1; Requirements = true]";

    #[test]
    fn the_branch_that_was_taken_decides() {
        let cause = |text: &str| causes(&format!("[Requirements = {text}]"), &[SLOT]).remove(0);
        assert_eq!(
            cause("TARGET.Cpus > 2 ? TARGET.Memory > 10000 : TARGET.HasX"),
            "no slot satisfies `TARGET.Memory > 10000` (Memory of slots is 8192 MB), in the branch of \
             `TARGET.Cpus > 2 ? TARGET.Memory > 10000 : TARGET.HasX` where `TARGET.Cpus > 2` is true"
        );
        assert_eq!(
            cause("ifThenElse(isUndefined(TARGET.Max), TARGET.Memory > 9000, TARGET.Max > 5)"),
            "no slot satisfies `TARGET.Memory > 9000` (Memory of slots is 8192 MB), in the branch of \
             `ifThenElse(isUndefined(TARGET.Max),TARGET.Memory > 9000,TARGET.Max > 5)` where `isUndefined(TARGET.Max)` is true"
        );
        assert_eq!(
            cause("TARGET.HasX is true || TARGET.Memory > 10000"),
            "no slot satisfies `TARGET.Memory > 10000` (Memory of slots is 8192 MB), nor `TARGET.HasX is true`: no slot \
             advertises `HasX`, so `TARGET.HasX is true || TARGET.Memory > 10000` is not true"
        );
    }

    #[test]
    fn what_a_slot_means_by_a_name_is_reported() {
        assert_eq!(
            causes("[Requirements = TARGET.IsGood && TARGET.Cpus > 1]", &[SLOT]).remove(0),
            "no slot satisfies `Memory > 10000` in `IsGood` of slots (Memory of slots is 8192 MB), so `TARGET.IsGood` is not true"
        );
        let slot = "[Name = \"a\"; Requirements = TARGET.IsShort]";
        assert_eq!(
            causes("[MaxTime = 7200; IsShort = MaxTime < 3600; Requirements = true]", &[slot]).remove(0),
            "1 of 1 slot rejects the job because of `MaxTime < 3600` in `IsShort` of the job \
             (MaxTime of the job is 7200), so `TARGET.IsShort` is not true"
        );
    }

    #[test]
    fn what_is_not_looked_at_is_no_cause() {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let snapshot = Snapshot { slots: vec![ad(SLOT)], ..Snapshot::default() };
        let prepared = PreparedPool::for_explanation(&snapshot).unwrap();
        let pool = PoolFacts::new(&prepared);
        let job = ad("[Requirements = (isUndefined(TARGET.Maint) || TARGET.Maint > 5) && TARGET.Cpus > 8]");
        let found = JobView::of(&pool, &job).explanation("1.0".to_owned(), "a@x".to_owned());
        let decides: Vec<(&str, bool)> = found.absent.iter().map(|one| (one.name.as_str(), one.decides)).collect();
        assert_eq!(decides, [("TARGET.Maint", false)]);
        let job = ad("[Requirements = TARGET.Maint > 5 && TARGET.Cpus > 8]");
        assert!(JobView::of(&pool, &job).explanation("1.0".to_owned(), "a@x".to_owned()).absent[0].decides);
    }
}
