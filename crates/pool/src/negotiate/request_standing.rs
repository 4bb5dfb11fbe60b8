//! What a request says of its submitter: the attributes that the negotiator adds, and who refers to them.
//!
//! In: a submitter under a policy. Out: its standing as attributes of a request. Formula source:
//! `docs/reference/negotiation.md` 9.1.

use std::sync::LazyLock;

use hashbrown::HashSet;

use crate::negotiate::negotiation_loop::{NegotiatedGroup, NegotiationLoop};
use crate::negotiate::rules::Rules;
use crate::priority::PriorityPolicy;
use crate::queue::request::Request;
use crate::queue::significant::STANDING;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::Key;
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::Tree;
use classmate::internal::text::Text;
use classmate::internal::value::Value;

/// The name of the group negotiated for when there are no groups.
const NO_GROUP: &str = "<none>";

static STANDING_KEYS: LazyLock<HashSet<Key>> = LazyLock::new(|| STANDING.iter().map(|name| name.key()).collect());

impl NegotiationLoop<'_> {
    /// Adds the current attributes of the submitter to a request, unless nothing refers to them.
    pub(super) fn insert_submitter_attributes(&self, who: usize, request: &mut Request) {
        if !self.may_see_standing(request) {
            return;
        }
        let submitter = &self.submitters[who].name;
        insert_submitter_attributes(&mut request.ad, submitter, &*self.policy, self.rules, self.group.as_ref());
    }

    /// Returns whether an expression may refer to attributes that the negotiator adds to a request. Only asked where there are
    /// fewer slots than submitters, whom the answer saves these attributes.
    fn may_see_standing(&self, request: &Request) -> bool {
        let slots = self.outcome.statistics.total_slots;
        let seen = || {
            let by_slots = || (0..slots).any(|slot| !overlooks(&self.offers.slot(slot).ad, &STANDING_KEYS));
            self.rules.expressions().any(|expr| !is_blind_to(expr.tree(), &STANDING_KEYS)) || by_slots()
        };
        if slots > self.submitters.len() || *self.sees_standing.get_or_init(seen) {
            return true;
        }
        let mut known = self.mention_standing.borrow_mut();
        *known.entry(request.autocluster).or_insert_with(|| !overlooks(&request.ad, &STANDING_KEYS))
    }
}

/// The attributes of a submitter before its first turn, which requests have.
pub(super) fn submitter_attributes_at_start(submitter: &[u8], policy: &dyn PriorityPolicy, rules: &Rules) -> ClassAd {
    let negotiating = (!rules.groups.tree.is_empty()).then(NegotiatedGroup::default);
    let mut ad = ClassAd::with_capacity(STANDING.len());
    insert_submitter_attributes(&mut ad, submitter, policy, rules, negotiating.as_ref());
    ad
}

/// Adds the attributes of a submitter, which requests have.
fn insert_submitter_attributes(
    ad: &mut ClassAd,
    submitter: &[u8],
    policy: &dyn PriorityPolicy,
    rules: &Rules,
    negotiating: Option<&NegotiatedGroup>,
) {
    let standing = policy.standing(submitter);
    let [negotiating_group, autoregroup, group, group_usage, group_quota, prio, user_prio, usage] = *STANDING;
    ad.insert(negotiating_group, negotiating.map_or(NO_GROUP, |group| &group.name));
    ad.insert(autoregroup, negotiating.is_some_and(|group| group.autoregroup));
    if let Some(NegotiatedGroup { quotas, .. }) = negotiating {
        let tree = &rules.groups.tree;
        let at = tree.of(submitter);
        let name = &tree.groups()[at].name;
        ad.insert(group, Value::Str(Text::new(name)));
        ad.insert(group_usage, policy.group_usage(name));
        ad.insert(group_quota, quotas.get(at).copied().unwrap_or(0.0));
    }
    ad.insert(prio, standing.priority);
    ad.insert(user_prio, standing.priority);
    ad.insert(usage, standing.usage);
}

/// Returns whether no expression of an ad can refer to attributes of these names. False if an expression cannot be
/// foreseen, or the ad has a parent.
pub(super) fn overlooks(ad: &ClassAd, names: &HashSet<Key>) -> bool {
    let overlooking = |attribute: &Attribute| attribute.tree().is_none_or(|tree| is_blind_to(tree, names));
    ad.chained().is_none() && ad.attributes().all(|(_, attribute)| overlooking(attribute))
}

/// Returns whether an expression cannot refer to attributes of these names. False if it cannot be foreseen.
pub(super) fn is_blind_to(tree: &Tree, names: &HashSet<Key>) -> bool {
    let Mentions { names: mentioned, selectors, opaque, bound, random, live, .. } = Mentions::of(tree);
    let foreseen = !(opaque || bound || random || live) && selectors.is_empty();
    foreseen && !mentioned.iter().any(|name| names.contains(&name.key()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::{Snapshot, negotiate};
    use classmate_config::internal::config::Config;

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_an_ad_may_look_at_is_foreseen_or_counts() {
        let names: HashSet<Key> = [classmate::internal::name::Name::new("Owner").key()].into();
        for (expression, expected) in [
            ("TARGET.Cpus > 1", true),
            ("TARGET.owner == \"a\"", false),
            ("eval(\"Own\" + \"er\") == \"a\"", false),
            ("TARGET[Which] > 1", false),
            ("random(2) == 1", false),
        ] {
            assert_eq!(
                overlooks(&ad(&format!("[A = 1; Requirements = {expression}]")), &names),
                expected,
                "{expression}"
            );
        }
    }

    /// One slot and two submitters, each of which is new and has the priority 500.
    #[test]
    fn requests_have_the_attributes_of_the_submitter_that_an_expression_refers_to() {
        let matched = |slot: &str, job: &str, config: &str| {
            let slots = vec![ad(&format!("[Name = \"s\"; State = \"Unclaimed\"; Cpus = 1; {slot}]"))];
            let one = |id: i64, user: &str| {
                ad(&format!("[ClusterId = {id}; ProcId = 0; JobStatus = 1; User = \"{user}@x\"; {job}]"))
            };
            let config = Config::parse("c", config.as_bytes()).unwrap();
            let snapshot = Snapshot { slots, jobs: vec![one(1, "a"), one(2, "b")], config, ..Snapshot::default() };
            negotiate(&snapshot).unwrap().matches.len()
        };
        let (slot, job) = ("Requirements = true", "Requirements = true");
        assert_eq!(matched(slot, job, ""), 1);
        assert_eq!(matched("Requirements = TARGET.SubmitterUserPrio == 500.0", job, ""), 1);
        assert_eq!(matched("Requirements = Good; Good = SubmitterUserPrio == 500.0", job, ""), 1);
        assert_eq!(matched("Requirements = TARGET.SubmitterUserPrio < 500.0", job, ""), 0);
        assert_eq!(matched(slot, "Requirements = MY.SubmitterUserPrio == 500.0", ""), 1);
        assert_eq!(matched(slot, "Requirements = MY.SubmitterUserPrio < 500.0", ""), 0);
        assert_eq!(
            matched(
                "Requirements = NegotiatorMatchExprGood",
                job,
                "NEGOTIATOR_MATCH_EXPRS = Good\nGood = SubmitterUserPrio == 500.0"
            ),
            1
        );
    }
}
