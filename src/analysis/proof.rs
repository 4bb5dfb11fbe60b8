//! Proofs about conditions for all pairs of ads.
//!
//! In: conditions of which some shall hold and others not. Out: a pair of ads for which that is so, which evaluation has
//! confirmed; or the certainty that there is none; or neither. What shall be is taken apart into requirements; those that
//! have no attribute in common are looked at one by one.

use hashbrown::HashMap;

use super::evaluate::{Analysis, is_self_contained, unknown};
use super::facts::Facts;
use super::requirement::{NOT_TRUE, Requirement};
use super::search::{PairSearch, are_met};
use super::values::Truths;
use crate::ad::ClassAd;
use crate::eval::scope::EvalOptions;
use crate::name::{Key, Name, known};
use crate::semantics::VersionRule;
use crate::syntax::expr::{Expr, NodeId};
use crate::syntax::view::{RefScope, Reference, View};

/// Maximum number of nodes that are looked at in combinations of regions.
const MAX_NODES: usize = 300_000;

/// Maximum number of nodes that are looked at before a set of requirements is taken apart.
const MAX_NODES_AT_FIRST: usize = 15_000;

/// Maximum number of times that alternatives are looked for within alternatives.
const MAX_DEPTH: u32 = 6;

/// Maximum number of names that are looked up in either ad in one condition and in a certain one in another, and of
/// which it is distinguished which ad has them.
const MAX_MIXED: usize = 4;

/// The answer to the question for a pair of ads.
#[derive(Clone, Debug)]
pub enum PairAnswer {
    /// There is no such pair.
    Impossible,
    /// This is one.
    Found {
        /// The ad of the expression.
        my: ClassAd,
        /// The opposite ad.
        target: ClassAd,
    },
    /// None was found; that there is none is not proven.
    Open,
}

/// Searches a pair of ads for which all of some conditions hold and none of some others, by [`Scope::holds`].
///
/// Both are in the version of the settings, in which the conditions were parsed. Attributes can have any value, numbers up
/// to 2^50; outside the promise are those that change their value within one evaluation, as for [`Analysis`], durations
/// that are no number, and differences that only the rounding of real numbers makes. The search is limited by a number of
/// steps, so the answer does not depend on the machine.
///
/// ```
/// use classmate::internal::analysis::proof::{PairAnswer, find_pair};
/// use classmate::{EvalOptions, parse_expr};
/// let (old, new) = (parse_expr(b"TARGET.RequestMemory <= 2048")?, parse_expr(b"TARGET.RequestMemory < 4096")?);
/// let settings = EvalOptions::default();
/// assert!(matches!(find_pair(&[&old], &[&new], &settings), PairAnswer::Impossible));
/// let PairAnswer::Found { target, .. } = find_pair(&[&new], &[&old], &settings) else { unreachable!() };
/// assert!(target.eval_int("RequestMemory").is_some_and(|memory| memory > 2048 && memory < 4096));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
///
/// [`Scope::holds`]: crate::eval::scope::Scope::holds
/// [`Analysis`]: super::evaluate::Analysis
pub fn find_pair(hold: &[&Expr], fail: &[&Expr], settings: &EvalOptions) -> PairAnswer {
    let wanted =
        |(at, expr): (usize, &&Expr)| Requirement::of(expr, if at < hold.len() { Truths::TRUE } else { NOT_TRUE });
    let all: Vec<Requirement> = hold.iter().chain(fail).enumerate().map(wanted).collect();
    let found = PairSearch::new(&all, settings).guess().map_or_else(
        || Proof { settings, known: HashMap::new(), left: MAX_NODES }.of(all.clone(), 0),
        |(my, target)| PairAnswer::Found { my, target },
    );
    match found {
        PairAnswer::Found { my, target } if are_met(&all, &my, &target, settings) => {
            simplified(&all, my, target, settings)
        }
        PairAnswer::Impossible if !fail.iter().any(|condition| may_fail(condition)) => PairAnswer::Impossible,
        _ => PairAnswer::Open,
    }
}

/// The search for a proof, or a pair of ads.
struct Proof<'a> {
    settings: &'a EvalOptions,
    /// Answers for sets of requirements.
    known: HashMap<String, PairAnswer>,
    /// Number of nodes that may still be looked at.
    left: usize,
}

impl Proof<'_> {
    /// A pair that meets all requirements.
    fn of(&mut self, requirements: Vec<Requirement>, depth: u32) -> PairAnswer {
        let Some(parts) = self.simplest(requirements) else {
            return PairAnswer::Impossible;
        };
        // What is one of several things alone connects parts that have nothing to do with each other.
        let broad = (0..parts.len()).filter(|at| parts[*at].wanted == NOT_TRUE && depth < MAX_DEPTH);
        if let Some((at, alternatives)) = first_with_alternatives(&parts, broad) {
            return self.one_of(&parts, at, alternatives, depth);
        }
        let (mut my, mut target, mut is_open) = (ClassAd::new(), ClassAd::new(), false);
        for component in components(parts) {
            match self.component(component, depth) {
                PairAnswer::Impossible => return PairAnswer::Impossible,
                PairAnswer::Open => is_open = true,
                PairAnswer::Found { my: more, target: others } => {
                    my.update(&more);
                    target.update(&others);
                }
            }
        }
        if is_open { PairAnswer::Open } else { PairAnswer::Found { my, target } }
    }

    /// Requirements of the smallest parts, as far as the nodes that are left allow: where only one of several conditions can
    /// be the one that is true, it is required. None if they cannot be met together.
    fn simplest(&mut self, mut requirements: Vec<Requirement>) -> Option<Vec<Requirement>> {
        loop {
            self.left = self.left.saturating_sub(requirements.iter().map(Requirement::size).sum());
            let (mut parts, wanted) = joined(requirements.into_iter().flat_map(Requirement::parts))?;
            let facts = facts_of(&parts)?;
            let is_possible = |one: &Requirement| {
                let known = one.key().and_then(|key| wanted.get(&key).copied());
                let analysis = Analysis::new(one.expr.tree(), &unknown);
                known.is_none_or(|known| known.has(one.wanted))
                    && analysis.values_where(one.expr.root(), &facts).truths().has(one.wanted)
            };
            let mut only = None;
            for (at, choices) in parts.iter().map(Requirement::choices).enumerate().filter(|(_, all)| !all.is_empty()) {
                let mut possible = choices.into_iter().filter(is_possible);
                let first = possible.next()?;
                if possible.next().is_none() {
                    only = Some((at, first));
                    break;
                }
            }
            match only {
                Some((at, choice)) if self.left > 0 => {
                    parts[at] = choice;
                    requirements = parts;
                }
                _ => return Some(parts),
            }
        }
    }

    /// A pair that meets all requirements, where one has alternatives.
    fn one_of(
        &mut self,
        parts: &[Requirement],
        at: usize,
        alternatives: Vec<Vec<Requirement>>,
        depth: u32,
    ) -> PairAnswer {
        let mut is_open = false;
        for alternative in alternatives {
            if self.left == 0 {
                return PairAnswer::Open;
            }
            let others = parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part.clone());
            match self.of(alternative.into_iter().chain(others).collect(), depth + 1) {
                PairAnswer::Impossible => {}
                PairAnswer::Open => is_open = true,
                found @ PairAnswer::Found { .. } => return found,
            }
        }
        if is_open { PairAnswer::Open } else { PairAnswer::Impossible }
    }

    /// A pair that meets all requirements, of which each has to do with the others.
    fn component(&mut self, mut parts: Vec<Requirement>, depth: u32) -> PairAnswer {
        let keys: Option<Vec<String>> =
            parts.iter().map(|part| Some(format!("{} {}", part.wanted.0, part.key()?))).collect();
        let key = keys.map(|keys| keys.join(" && "));
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return known.clone();
        }
        // What is simple decides most.
        parts.sort_by_key(Requirement::size);
        let several = first_with_alternatives(&parts, (0..parts.len()).filter(|_| depth < MAX_DEPTH));
        let mut answer = self.in_ads(&parts, if several.is_some() { MAX_NODES_AT_FIRST } else { usize::MAX });
        if let (PairAnswer::Open, Some((at, alternatives))) = (&answer, several) {
            answer = self.one_of(&parts, at, alternatives, depth);
        }
        if let Some(key) = key {
            self.known.insert(key, answer.clone());
        }
        answer
    }

    /// A pair that meets requirements, where names that are looked up in either ad are in one or the other.
    fn in_ads(&mut self, parts: &[Requirement], most: usize) -> PairAnswer {
        let names = mixed(parts);
        let mut is_open = false;
        for case in 0..1_u32 << names.len() {
            let names: Vec<(Name, bool)> =
                names.iter().enumerate().map(|(at, name)| (*name, case & (1 << at) != 0)).collect();
            let resolved: Vec<Requirement> = parts.iter().map(|part| part.resolved(&names)).collect();
            match PairSearch::new(&resolved, self.settings).run(&mut self.left, most) {
                PairAnswer::Impossible => {}
                PairAnswer::Open => is_open = true,
                found @ PairAnswer::Found { .. } => return found,
            }
        }
        if is_open { PairAnswer::Open } else { PairAnswer::Impossible }
    }
}

/// The first of some requirements that has alternatives, and these.
fn first_with_alternatives(
    parts: &[Requirement],
    mut places: impl Iterator<Item = usize>,
) -> Option<(usize, Vec<Vec<Requirement>>)> {
    places.find_map(|at| Some((at, parts[at].alternatives())).filter(|(_, alternatives)| !alternatives.is_empty()))
}

/// Requirements without those of the same part, and for each key the truths of which one is wanted; none if two of them
/// cannot be met together.
fn joined(requirements: impl Iterator<Item = Requirement>) -> Option<(Vec<Requirement>, HashMap<String, Truths>)> {
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<Requirement> = Vec::new();
    for requirement in requirements {
        if requirement.wanted == Truths::NONE {
            return None;
        }
        if let Some(key) = requirement.key() {
            if let Some(at) = by_key.get(&key) {
                let wanted = found[*at].wanted.and(requirement.wanted);
                if wanted == Truths::NONE {
                    return None;
                }
                found[*at].wanted = wanted;
                continue;
            }
            by_key.insert(key, found.len());
        }
        found.push(requirement);
    }
    let wanted = by_key.into_iter().map(|(key, at)| (key, found[at].wanted)).collect();
    Some((found, wanted))
}

/// The facts where requirements are met that allow one truth; none if they cannot be met together.
fn facts_of(parts: &[Requirement]) -> Option<Facts> {
    let single = [Truths::TRUE, Truths::FALSE, Truths::UNDEFINED, Truths::ERROR];
    let certain = parts.iter().filter(|part| single.contains(&part.wanted));
    certain.into_iter().try_fold(Facts::default(), |facts, part| {
        Analysis::new(part.expr.tree(), &unknown).where_it_is(part.expr.root(), part.wanted, &facts)
    })
}

/// Requirements in groups: those in two groups have no attribute in common.
fn components(parts: Vec<Requirement>) -> Vec<Vec<Requirement>> {
    let mut groups: Vec<(Vec<Key>, Vec<Requirement>)> = Vec::new();
    for part in parts {
        let (tree, root) = (part.expr.tree(), part.expr.root());
        let is_time = |id: NodeId| matches!(tree.view(id), View::Call { name, .. } if name.folded() == b"time");
        let time = (tree.first_of(root)..=root).any(is_time).then(|| Name::new("time"));
        let is_ad = |name: &Name| name.key() == known::MY || name.key() == known::TARGET;
        let names: Vec<Key> = tree.names(root).filter(|name| !is_ad(name)).chain(time).map(Name::key).collect();
        let (with, without) =
            groups.into_iter().partition(|(keys, _): &(Vec<Key>, _)| keys.iter().any(|key| names.contains(key)));
        groups = without;
        let mut merged = (names, vec![]);
        for (keys, others) in with {
            merged.0.extend(keys);
            merged.1.extend(others);
        }
        merged.1.push(part);
        groups.push(merged);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Names that are looked up in either ad at one place and in a certain ad at another; none if there are too many.
fn mixed(parts: &[Requirement]) -> Vec<Name> {
    let references: Vec<Reference> =
        parts.iter().flat_map(|part| part.expr.tree().references(part.expr.root())).collect();
    let is_mixed = |one: &&Reference| {
        let elsewhere = |other: &Reference| other.name == one.name && other.scope != RefScope::Either;
        // Where no ad has it, it is the time.
        let is_clock = one.name.key() == known::CURRENT_TIME;
        one.scope == RefScope::Either && !is_clock && references.iter().any(elsewhere)
    };
    let mut found: Vec<Name> = Vec::new();
    for reference in references.iter().filter(is_mixed) {
        if !found.contains(&reference.name) {
            found.push(reference.name);
        }
    }
    let has_ad = |part: &Requirement| {
        let tree = part.expr.tree();
        let root = part.expr.root();
        let is_ad = |id: NodeId| match tree.view(id) {
            View::AdName(_) => id == root || tree.reference(id + 1).is_none(),
            view => looks_into_ads(view),
        };
        (tree.first_of(root)..=root).any(is_ad)
    };
    if found.len() > MAX_MIXED || parts.iter().any(has_ad) { Vec::new() } else { found }
}

/// Removes the attributes that do not matter, and makes others whole numbers where that is as good.
fn simplified(all: &[Requirement], my: ClassAd, target: ClassAd, settings: &EvalOptions) -> PairAnswer {
    let mut ads = [my, target];
    for at in [0, 1] {
        for name in ads[at].names().collect::<Vec<_>>() {
            let number =
                ads[at].constant(name).and_then(|value| value.as_number()).map_or(2, |number| number.ceil() as i64);
            let simpler = [None, Some(1), Some(0), Some(number)].map(|value| {
                let mut others = ads.clone();
                match value {
                    Some(value) => others[at].insert(name, value),
                    None => drop(others[at].remove(name)),
                }
                others
            });
            if let Some(found) = simpler.into_iter().find(|[my, target]| are_met(all, my, target, settings)) {
                ads = found;
            }
        }
    }
    let [my, target] = ads;
    PairAnswer::Found { my, target }
}

/// Tests whether names in a part can mean attributes of other ads than the two of a match.
fn looks_into_ads(view: View<'_>) -> bool {
    match view {
        View::Ad(_) | View::Absolute(_) => true,
        View::Call { name, .. } => !is_self_contained(name) && name.folded() != b"time",
        _ => false,
    }
}

/// Tests whether the evaluation of a condition can be abandoned because of a circle in an ad that it makes or looks into, so
/// that it does not hold although its values say so. The present language has no such circles.
fn may_fail(condition: &Expr) -> bool {
    let tree = condition.tree();
    let looks_into = |id: NodeId| match tree.view(id) {
        View::Select { .. } | View::Subscript { .. } => true,
        view => looks_into_ads(view),
    };
    tree.semantics.is_old(VersionRule::Cycle) && (tree.first_of(condition.root())..=condition.root()).any(looks_into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::scope::Scope;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn answer(hold: &[&str], fail: &[&str]) -> PairAnswer {
        let parsed = |texts: &[&str]| -> Vec<Expr> {
            texts.iter().map(|text| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()).collect()
        };
        let (hold, fail) = (parsed(hold), parsed(fail));
        let (hold, fail): (Vec<&Expr>, Vec<&Expr>) = (hold.iter().collect(), fail.iter().collect());
        find_pair(&hold, &fail, &EvalOptions::default())
    }

    #[test]
    fn what_follows_is_proven() {
        for (given, follows) in [
            ("Memory > 4096", "Memory > 1024"),
            ("Memory > 4096 && Cpus == 2", "Cpus < 3 || Memory > 1"),
            ("TARGET.RequestMemory <= MY.Memory && MY.Memory <= 1000", "TARGET.RequestMemory <= 1000"),
            ("TARGET.RequestMemory <= MY.Memory", "!(MY.Memory < TARGET.RequestMemory)"),
            ("Owner == \"ann\" || Owner == \"bob\"", "Owner != \"carl\""),
            ("stringListIMember(Owner, \"ann, bob\")", "Owner == \"ann\" || Owner == \"bob\""),
            ("member(Owner, { \"ann\", \"bob\" })", "Owner == \"BOB\" || Owner == \"ann\""),
            ("regexp(\"^a\", Owner) && Cpus > 1", "regexp(\"^a\", owner)"),
            ("(time() - EnteredCurrentState) > 3600", "time() - EnteredCurrentState > 600"),
            ("Memory / 1024 > 4", "Memory > 4096"),
            ("Memory * 2 >= 10", "Memory >= 5"),
            ("ifThenElse(isUndefined(x), 0, x) > 3", "x >= 3"),
            ("(x ?: 5) < 3", "x < 3 && x =!= undefined"),
            ("!(x =?= undefined) && x == 3", "x > 2.5 && x < 3.5"),
            ("Arch =?= \"X86_64\"", "Arch == \"x86_64\""),
            ("Cpus", "Cpus != 0"),
            ("'my.x' == 1 && MY.x == 1", "'MY.X' < 2"),
            // Parts that are the same, however the rest is.
            ("Scheduler =?= \"d\" || (Idle > 900 && Owner == \"c\")", "Scheduler =?= \"d\" || Owner == \"c\""),
            ("(Group =?= RemoteGroup) && Prio > TARGET.Prio * 1.2", "RemoteGroup =?= Group"),
            ("versionGE(split(v)[1], \"24\") && Memory > 2", "versionGE(split(v)[1], \"23.9\")"),
            ("MY.Partitionable =?= true && Cpus > 0", "Partitionable && Cpus > -1"),
            ("sum(evalInEachContext(a, b)) > 1 && b > 2", "sum(evalInEachContext(a, b)) > 1 || c"),
            // Inequalities of several attributes.
            ("Rss > 2048 * Request && Request > 0", "Rss > 1024 * Request"),
            ("RemotePrio > Prio * 1.5 && Prio >= 0.5", "RemotePrio > Prio * 1.2"),
            ("a <= b && b <= c", "a <= c"),
            ("MY.Memory - TARGET.RequestMemory >= 1024", "TARGET.RequestMemory < MY.Memory"),
            ("QDate + 86400 < time()", "time() - QDate > 86400"),
            ("time() < Retire && Retire <= Die", "time() < Die"),
            ("Request <= 4096 && Cpus >= 1", "Request <= 4096 * Cpus"),
            // Versions and strings.
            ("!versionLT(v, \"1.2.0\") && isString(v)", "versionGE(v, \"1.1\")"),
            ("version_in_range(v, \"1.1\", \"1.3\")", "versioncmp(v, \"1.1\") >= 0"),
            ("Owner =?= \"ann\"", "stringListMember(Owner, \"ann,bob\")"),
            ("regexp(\"^atlas0\", Owner)", "regexp(\"^atlas\", Owner)"),
            (r#"regexp("\\.wisc\\.edu$", Machine)"#, r#"regexp("\\.edu$", Machine)"#),
            ("Owner == \"cmsprod\"", "!regexp(\"^atlas\", Owner)"),
            ("regexp(\"^(ann|bob)$\", Owner)", "regexp(\"^[ab]\", Owner)"),
            ("member(Universe, {5, 12})", "Universe == 12 || Universe == 5"),
        ] {
            assert!(matches!(answer(&[given], &[follows]), PairAnswer::Impossible), "{given} => {follows}");
        }
    }

    #[test]
    fn one_of_many_follows_from_one_of_fewer() {
        let names = |most: usize| (0..most).map(|at| format!("x == \"n{at}\"")).collect::<Vec<_>>().join(" || ");
        assert!(matches!(answer(&[&names(60)], &[&names(61)]), PairAnswer::Impossible));
        assert!(matches!(answer(&[&names(31)], &[&names(30)]), PairAnswer::Found { .. }));
    }

    #[test]
    fn what_does_not_follow_is_refuted_by_a_pair_of_few_attributes() {
        for (given, other, most) in [
            ("Memory > 1024", "Memory > 4096", 1),
            ("Memory > 1024 || Cpus > 1", "Memory > 1024", 1),
            ("TARGET.RequestMemory <= MY.Memory", "TARGET.RequestMemory < MY.Memory", 2),
            ("Owner != \"ann\"", "Owner == \"bob\"", 1),
            ("Arch == \"X86_64\"", "Arch =?= \"X86_64\"", 1),
            ("x > 4", "x >= 5", 1),
            ("true", "Memory > 1024 || Memory <= 1024", 0),
            ("x =!= 3", "x != 3", 0),
            ("time() - Start > 600", "time() - Start > 3600", 1),
            ("Rss > 1024 * Request", "Rss > 2048 * Request", 2),
            // `$` also matches before a newline.
            ("regexp(\"^ann$\", Owner)", "Owner =?= \"ann\"", 1),
            ("regexp(\"^slot[1-6]@\", Name)", "regexp(\"^slot6@\", Name)", 1),
            ("stringListMember(\"a\", Vos)", "!stringListMember(\"b\", Vos)", 1),
            ("versionGE(split(v)[1], \"23.0\")", "versionGE(split(v)[1], \"24.0\")", 1),
        ] {
            let PairAnswer::Found { my, target } = answer(&[given], &[other]) else { panic!("{given} => {other}") };
            assert!(my.len() + target.len() <= most, "{given}, not {other}: {my} {target}");
        }
    }

    #[test]
    fn nothing_is_claimed_where_parts_are_not_understood() {
        // Every number whose square is 2 is no number of the language, but that is not seen.
        let found = answer(&["x * x + y == 2 && y == 0 && x > 1.5"], &[]);
        assert!(!matches!(found, PairAnswer::Found { .. }));
        // `random()` has a value of its own at each place.
        assert!(!matches!(answer(&["random(10) < x"], &["random(10) < x"]), PairAnswer::Impossible));
    }

    /// Rules `elvis-precedence`, `version-case`, `suffix-conversion`, `reltime-literal`, `cycle` and `integer-range` of
    /// `docs/reference/versions.md` 2.
    #[test]
    fn a_proof_is_about_one_version() {
        let (proven, refuted, unknown) = ("proven", "refuted", "unknown");
        let is = |series: &str, hold: &str, fail: &str, expected: &str| {
            let settings = EvalOptions { semantics: series.parse().unwrap(), ..EvalOptions::default() };
            let parsed = |text: &str| parse_expr(text.as_bytes(), &settings.parse_options()).unwrap();
            let (hold, fail) = (parsed(hold), parsed(fail));
            let found = match find_pair(&[&hold], &[&fail], &settings) {
                PairAnswer::Impossible => proven,
                PairAnswer::Found { .. } => refuted,
                PairAnswer::Open => unknown,
            };
            assert_eq!(found, expected, "{hold}, not {fail} in {series}");
        };
        // `(x ?: 1) < 5` of x = 9 is false; `x ?: (1 < 5)` is 9.
        is("24.0", "x ?: 1 < 5", "x < 5 || x =?= undefined", proven);
        is("23.0", "x ?: 1 < 5", "x < 5 || x =?= undefined", refuted);
        is("25.13", "versiongt(x, \"1\")", "versionGT(x, \"1\")", proven);
        is("24.0", "versionGT(x, \"1\")", "versiongt(x, \"1\")", refuted);
        is("24.0", "true", "versiongt(\"2\", \"1\") =?= true", refuted);
        is("24.0", "x > int(\"2K\")", "x > 100", refuted);
        is("23.0", "x > int(\"2K\")", "x > 100", proven);
        is("24.0", "true", "relTime(\"0:05\") == 5", proven);
        is("23.0", "true", "isRelTime(relTime(\"0:05\"))", proven);
        is("23.0", "x < 9223372036854775808", "x < 0", refuted);
        is("24.0", "x < 9223372036854775808", "x < 0", proven);
        // The evaluation of `y` fails until 25.12.
        is("24.0", "true", "isUndefined([y = y].y)", refuted);
        is("24.0", "x > 4 && x.y =?= 1", "x > 3", proven);
        is("25.13", "x > 4", "x > 3 || x.y =?= 1", proven);
        is("24.0", "x > 4", "x > 3 || x.y =?= 1", unknown);
    }

    #[test]
    fn parts_that_differ_are_not_taken_for_one() {
        const MANY: &str =
            "member(x, {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,
            31,32,33,34,35,36,37,38,39,40,41,42,43,44,45})";
        for text in [
            "(time() - a.b > 100) && (time() - c.d < 50)",
            "(time() - a[0] > 100) && (time() - a[1] < 50)",
            "time() + random(10) > 5 && time() + random(10) < 5",
            "x * x > 9100000000000000 && x * x > 1",
            "int(x) > 9100000000000000 && int(x) > 5",
            "stringListIMember(x, \"a\\t\")",
            "x * y * 1.0000000000000002 != 3 && x * y * 1.0 == 3",
            "'my.x' == 1 && MY.x == 2",
            "x > 1e17",
            "x =?= 9007199254740993",
            "x == real(\"INF\")",
        ] {
            assert!(!matches!(answer(&[text], &[]), PairAnswer::Impossible), "{text}");
        }
        for (given, other) in [
            // Undefined delimiters are the usual ones.
            ("stringListMember(\"a\", l, d)", "d =!= undefined"),
            ("stringListMember(x, \"a,b\", undefined)", "x == \"c\""),
            // The smallest integer is its own negative: x = 2097152.
            ("x * x * x < 0 && isInteger(x)", "-(x * x * x) >= 0"),
            // More numbers than are looked at one by one.
            (MANY, "x < 41"),
        ] {
            assert!(!matches!(answer(&[given], &[other]), PairAnswer::Impossible), "{given} => {other}");
        }
        let given = "stringListIMember(Owner, \"ann,bob\\n\")";
        assert!(!matches!(answer(&[given], &["Owner == \"ann\""]), PairAnswer::Impossible));
    }

    #[test]
    fn the_order_of_two_values_explains_all_comparisons() {
        // What `PairOrder` says of a comparison has to be what evaluation says, for values that are equal to themselves.
        let values = [
            "1",
            "2",
            "1.0",
            "2.5",
            "true",
            "false",
            "\"a\"",
            "\"A\"",
            "\"b\"",
            "undefined",
            "error",
            "{1}",
            "[a=1]",
            "absTime(\"2020-01-01T00:00:00Z\")",
            "relTime(\"5\")",
        ];
        for one in values {
            for two in values {
                for (op, same) in [("<", ">"), ("<=", ">="), ("==", "=="), ("!=", "!="), (">", "<"), (">=", "<=")] {
                    for other in ["<", "<=", "==", "!=", ">", ">="] {
                        // Both comparisons of the pair, with its order as one quantity, and with nothing known of it.
                        let set = |text: &str| format!("x =?= ({one}) && y =?= ({two}) && ((x {text} y) =!= true)");
                        let given = format!("{} && ((y {same} x) =?= true)", set(other));
                        let direct = format!("(({one}) {op} ({two})) =?= true && (({one}) {other} ({two})) =!= true");
                        let expr = parse_expr(direct.as_bytes(), &ParseOptions::default()).unwrap();
                        let holds = Scope::new(&ClassAd::new(), &EvalOptions::default()).holds(&expr);
                        if holds {
                            assert!(!matches!(answer(&[&given], &[]), PairAnswer::Impossible), "{given}");
                        }
                    }
                }
            }
        }
    }
}
