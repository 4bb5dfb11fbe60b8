//! Significant attributes: those of a job that can influence a match.
//!
//! In: slot ads and the negotiator's expressions. Out: a set of names. Formula source: `docs/reference/negotiation.md` 8.1.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hashbrown::HashSet;

use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::{Key, Name, known};
use classmate::internal::program::table::closure;
use classmate::internal::syntax::expr::{Expr, Node, Tree};
use classmate::internal::threads;

/// Attributes that are never significant: they change by themselves or belong to the slot.
const NEVER_SIGNIFICANT: [&str; 24] = [
    "CurrentTime",
    "LastHeardFrom",
    "RemoteUser",
    "RemoteOwner",
    "RemoteUserFloor",
    "RemoteUserPrio",
    "RemoteUserResourcesInUse",
    "RemoteGroupResourcesInUse",
    "SubmittorPrio",
    "SubmitterUserPrio",
    "SubmitterUserResourcesInUse",
    "SubmitterGroupResourcesInUse",
    "TotalJobRunTime",
    "MachineLastMatchTime",
    "JobCurrentStartDate",
    "JobState",
    "Mips",
    "KFlops",
    "SlotID",
    "DSlotID",
    "PartitionableSlot",
    "DynamicSlot",
    "Offline",
    "PelicanPluginVersion",
];

/// Attributes that are always significant to an access point.
const SCHEDD_MINIMUM: [&str; 4] = ["Requirements", "Rank", "ConcurrencyLimits", "FlockTo"];

/// Returns whether an ad has an attribute that is never significant.
pub fn has_insignificant(ad: &ClassAd) -> bool {
    NEVER_SIGNIFICANT.iter().any(|&name| ad.contains(name))
}

/// Attributes that the negotiator adds to a request to say how its submitter stands. The access point's job does not have
/// them, and requests of one autocluster may differ in them.
pub static STANDING: LazyLock<[Name; 8]> = LazyLock::new(|| {
    [
        "SubmitterNegotiatingGroup",
        "SubmitterAutoregroup",
        "SubmitterGroup",
        "SubmitterGroupResourcesInUse",
        "SubmitterGroupQuota",
        "SubmittorPrio",
        "SubmitterUserPrio",
        "SubmitterUserResourcesInUse",
    ]
    .map(Name::new)
});

/// Returns whether the Requirements of an ad, or what they refer to in it, refer to attributes that the negotiator adds
/// to a request.
pub fn requires_standing(ad: &ClassAd) -> bool {
    let names = |name: &Name| match ad.lookup(*name) {
        Some(Attribute::Tree(tree)) => references(tree).into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    let mut found = false;
    closure([Name::new("Requirements")], |some: &[Name]| {
        let next: Vec<Name> = some.iter().flat_map(names).collect();
        found |= next.iter().any(|name| STANDING.contains(name));
        next
    });
    found
}

/// A set of attribute names in case-insensitive alphabetical order.
#[derive(Debug, Clone, Default)]
pub struct Significant {
    names: BTreeMap<&'static [u8], Name>,
    /// True if slots refer to attributes that the negotiator adds to a request, or if that is not known.
    slots_require_standing: bool,
}

impl Significant {
    /// References to a job from slots and expressions.
    ///
    /// The expressions are looked at in the context of the first slot; attributes it has, and those in
    /// `slot_side`, are the slot's. Without slots nothing is significant.
    pub fn of_pool<'a>(slots: impl IntoIterator<Item = &'a ClassAd>, exprs: &[&Expr], slot_side: &[Name]) -> Self {
        let mut set = Self::default();
        let mut seen: HashSet<*const Tree> = HashSet::new();
        let mut sample = None;
        let ads: Vec<&ClassAd> = slots.into_iter().collect();
        for ad in distinct(&ads) {
            sample = sample.or(Some(ad));
            for (_, attribute) in ad.attributes() {
                let Attribute::Tree(tree) = attribute else { continue };
                // Slots share expressions, but the meaning of a name differs between slots: the shortcut is only for
                // expressions without references.
                if seen.contains(&Arc::as_ptr(tree)) || matches!(tree.node(tree.root()), Node::List(_)) {
                    continue;
                }
                if !set.collect(tree, ad, &[]) {
                    seen.insert(Arc::as_ptr(tree));
                }
            }
        }
        set.slots_require_standing = STANDING.iter().any(|name| set.contains(*name));
        if let Some(sample) = sample {
            let slot_side: Vec<Key> = slot_side.iter().map(|name| name.key()).collect();
            for expr in exprs {
                set.collect(&expr.to_tree(), sample, &slot_side);
            }
        }
        for name in NEVER_SIGNIFICANT {
            set.remove(Name::new(name));
        }
        set
    }

    /// References to a job from one expression of a slot or the negotiator: names that are neither in the ad nor in
    /// `also`.
    pub fn of_expression(tree: &Arc<Tree>, ad: &ClassAd, also: &[Name]) -> Self {
        let mut set = Self::default();
        let also: Vec<Key> = also.iter().map(|name| name.key()).collect();
        set.collect(tree, ad, &also);
        set
    }

    /// Attributes that the access point itself uses.
    pub fn schedd_minimum() -> impl Iterator<Item = Name> {
        SCHEDD_MINIMUM.into_iter().map(Name::new)
    }

    /// Returns whether slots refer to attributes that the negotiator adds to a request.
    pub fn slots_require_standing(&self) -> bool {
        self.slots_require_standing
    }

    /// Adds a name.
    pub fn insert(&mut self, name: Name) {
        self.names.entry(name.folded()).or_insert(name);
    }

    /// Removes a name.
    pub fn remove(&mut self, name: Name) {
        self.names.remove(name.folded());
    }

    /// Keeps only the names for which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(Name) -> bool) {
        self.names.retain(|_, name| keep(*name));
    }

    /// Returns whether a name is in the set.
    pub fn contains(&self, name: Name) -> bool {
        self.names.contains_key(name.folded())
    }

    /// The names, in case-insensitive alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.names.values().copied()
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds the names that an expression does not find in an ad (nor among `also`); follows the ad's own attributes only
    /// if they are lists, because all others are collected separately. Returns whether there are references at all.
    fn collect(&mut self, tree: &Tree, ad: &ClassAd, also: &[Key]) -> bool {
        let mut any = false;
        let list = |name: Name| ad.lookup(name).and_then(Attribute::tree).filter(|tree| is_list(tree));
        // Returns the lists of the ad that an expression refers to.
        let mut collect_from = |tree: &Tree| {
            let mut lists = Vec::new();
            for (name, external) in references(tree) {
                any = true;
                let ours = also.contains(&name.key()) || known::is_special(name.key());
                if external || !ours && !ad.contains(name) {
                    self.insert(name);
                } else if !ours && list(name).is_some() {
                    lists.push(name);
                }
            }
            lists
        };
        let roots = collect_from(tree);
        closure(roots, |names| {
            names.iter().filter_map(|name| list(*name)).flat_map(|tree| collect_from(tree)).collect()
        });
        any
    }
}

impl Extend<Name> for Significant {
    fn extend<T: IntoIterator<Item = Name>>(&mut self, names: T) {
        names.into_iter().for_each(|name| self.insert(name));
    }
}

impl FromIterator<Name> for Significant {
    fn from_iter<T: IntoIterator<Item = Name>>(names: T) -> Self {
        let mut set = Self { slots_require_standing: true, ..Self::default() };
        set.extend(names);
        set
    }
}

/// Ads per task of a thread.
const ADS_PER_TASK: usize = 2048;

/// The first ad of each shape: the same attributes in order, the same ones constants, and the same expressions.
/// External references depend on nothing else.
fn distinct<'a>(ads: &[&'a ClassAd]) -> Vec<&'a ClassAd> {
    type AdShape = Vec<(Key, usize)>;
    let of_part = |part: Range<usize>| {
        let mut known: HashSet<AdShape> = HashSet::new();
        let mut found: Vec<(AdShape, &'a ClassAd)> = Vec::new();
        let mut shape: AdShape = Vec::new();
        for &ad in &ads[part] {
            shape.clear();
            shape.extend(ad.attributes().map(|(name, value)| match value {
                Attribute::Literal(_) => (name.key(), 0),
                Attribute::Tree(tree) => (name.key(), Arc::as_ptr(tree) as usize),
            }));
            if ad.chained().is_some() || !known.contains(&shape) {
                known.insert(shape.clone());
                found.push((shape.clone(), ad));
            }
        }
        found
    };
    let mut known: HashSet<AdShape> = HashSet::new();
    let all: Vec<(AdShape, &ClassAd)> = threads::map_parts(ads.len(), ADS_PER_TASK, of_part).concat();
    all.into_iter().filter_map(|(shape, ad)| (known.insert(shape) || ad.chained().is_some()).then_some(ad)).collect()
}

fn is_list(tree: &Tree) -> bool {
    matches!(tree.node(tree.root()), Node::List(_))
}

/// The attributes an expression refers to, and whether they are explicitly the other side's.
pub fn references(tree: &Tree) -> Vec<(Name, bool)> {
    let mut found = Vec::new();
    let mut nodes = tree.nodes.iter().peekable();
    while let Some(node) = nodes.next() {
        let (Node::Attr(name) | Node::Absolute(name)) = node else { continue };
        // The base of a selection is directly before it.
        match nodes.peek() {
            Some(Node::Select(selected)) if is_scope(*name) => found.push((*selected, name.key() != known::MY)),
            _ => found.push((*name, false)),
        }
    }
    found
}

fn is_scope(name: Name) -> bool {
    matches!(name.key(), known::MY | known::TARGET | known::OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn expr(text: &str) -> Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    fn names(set: &Significant) -> Vec<String> {
        set.names().map(|name| name.display().into_owned()).collect()
    }

    fn of_slot(ad: &str, exprs: &[&str]) -> Vec<String> {
        let ad = ClassAd::parse(ad.as_bytes()).unwrap();
        let exprs: Vec<Expr> = exprs.iter().map(|text| expr(text)).collect();
        let exprs: Vec<&Expr> = exprs.iter().collect();
        names(&Significant::of_pool([&ad], &exprs, &[Name::new("ImageSize")]))
    }

    #[test]
    fn names_that_a_slot_does_not_define_are_the_jobs() {
        let slot = "[Cpus = 4; Start = TARGET.RequestCpus <= Cpus && Owner == \"x\" && MY.Missing =!= 3; Cpus2 = cpus]";
        assert_eq!(of_slot(slot, &[]), ["Missing", "Owner", "RequestCpus"]);
    }

    #[test]
    fn target_is_the_jobs_also_when_the_slot_has_the_name() {
        assert_eq!(of_slot("[Memory = 4; R = TARGET.Memory > Memory]", &[]), ["Memory"]);
    }

    #[test]
    fn lists_count_only_where_they_are_used() {
        assert_eq!(of_slot("[L = { A, B }]", &[]), [""; 0]);
        assert_eq!(of_slot("[L = { A, B }; R = member(1, L)]", &[]), ["A", "B"]);
        assert_eq!(of_slot("[L = { A, L }; R = member(1, L)]", &[]), ["A"]);
    }

    #[test]
    fn the_negotiators_expressions_are_read_in_the_first_slot() {
        let found = of_slot("[Cpus = 4]", &["Cpus + ImageSize + TARGET.JobPrio + RemoteOwner + KFlops"]);
        assert_eq!(found, ["JobPrio"]);
    }

    #[test]
    fn names_differing_in_case_are_one() {
        assert_eq!(of_slot("[R = TARGET.a + TARGET.A + b + B]", &[]).len(), 2);
    }

    #[test]
    fn without_slots_nothing_is_significant() {
        let exprs = [&expr("TARGET.JobPrio")];
        assert!(Significant::of_pool([], &exprs, &[]).is_empty());
    }

    #[test]
    fn special_names_are_never_significant() {
        assert_eq!(of_slot("[R = CurrentTime > 5 && MY.x == TARGET.y]", &[]), ["x", "y"]);
    }
}
