//! The conditions of an attribute of an ad, evaluated against many ads and counted.
//!
//! In: an ad and one of its attributes. Out: its tree of conditions, and [`Clause`]s with counts.

use serde::{Serialize, Serializer};

#[cfg(test)]
use classmate::EvalOptions;
use classmate::internal::eval::conditions::{Condition, Conditions, Connective, SplitRules};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name, Scope, Value};

/// A negation is one condition together with its operand.
const RULES: SplitRules =
    SplitRules { splits: |connective| !matches!(connective, Connective::Not), max_depth: 24, max_conditions: 200 };

/// The place of a condition in an ad.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The attribute whose expression contains it.
    pub(super) holder: Name,
    /// The attributes that lead to it, outermost first.
    pub(super) via: Vec<Name>,
}

/// A condition of an ad.
pub(super) type AdCondition = Condition<Place>;
/// The conditions of an attribute of an ad.
pub(super) type AdConditions = Conditions<Place>;

/// The number of ads by the truth of a condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TruthCounts {
    /// True.
    pub yes: usize,
    /// False.
    pub no: usize,
    /// Undefined.
    pub undefined: usize,
    /// An error.
    pub error: usize,
}

impl TruthCounts {
    fn add(&mut self, truth: Truth, ads: usize) {
        *match truth {
            Truth::True => &mut self.yes,
            Truth::False => &mut self.no,
            Truth::Undefined => &mut self.undefined,
            Truth::Error | Truth::NotBoolean => &mut self.error,
        } += ads;
    }

    /// Number of ads.
    pub fn total(&self) -> usize {
        self.yes + self.no + self.undefined + self.error
    }
}

/// A condition with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// Its level, from 0.
    pub depth: usize,
    /// The attributes that lead to it, outermost first.
    pub via: Vec<String>,
    /// The condition.
    pub text: String,
    /// The logic that joins the conditions below it.
    #[serde(serialize_with = "connective_name")]
    pub joint: Connective,
    /// The number of ads by the truth of the condition alone.
    pub alone: TruthCounts,
    /// For how many ads it is true and all conditions before it in the same expression are; for a part of `||`, for how many it or one
    /// before it is. None below `?:` and deeper down.
    pub together: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn connective_name<S: Serializer>(connective: &Connective, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(connective.as_str())
}

/// The attribute that a node takes from the ad that contains it: `name` or `MY.name`.
pub(super) fn own(tree: &Tree, id: NodeId) -> Option<Name> {
    tree.reference(id).filter(|found| found.scope != RefScope::Target).map(|found| found.name)
}

/// The attribute that a node takes from the opposite ad: `TARGET.name`, or a name that the ad does not have.
pub(super) fn others(tree: &Tree, id: NodeId, ad: &ClassAd) -> Option<Name> {
    tree.reference(id).filter(|found| is_of_others(found, ad)).map(|found| found.name)
}

/// Tests if a reference in an ad is to the opposite one.
pub(super) fn is_of_others(found: &Reference, ad: &ClassAd) -> bool {
    found.scope == RefScope::Target || found.scope == RefScope::Either && !ad.contains(found.name)
}

/// The conditions of an attribute, through the attributes of the same ad; empty if the ad does not have it.
pub(super) fn conditions_of(ad: &ClassAd, attribute: Name) -> AdConditions {
    let Some(expr) = ad.get(attribute) else { return AdConditions::default() };
    let place = Place { holder: attribute, via: Vec::new() };
    Conditions::new(expr, place, RULES, |expr, Place { via, .. }| {
        let name = own(expr.tree(), expr.root()).filter(|name| !via.contains(name) && *name != attribute)?;
        let inner = ad.get(name).filter(|inner| inner.as_literal().is_none())?;
        Some((inner, Place { holder: name, via: [via.as_slice(), &[name]].concat() }))
    })
}

/// Conditions with counts, given rows of truths and the number of ads with each row.
pub(super) fn counted<'t>(conditions: &AdConditions, rows: impl Iterator<Item = (&'t [Truth], usize)>) -> Vec<Clause> {
    let all = &conditions.all;
    let is_option =
        |condition: &AdCondition| condition.parent.is_some_and(|parent| all[parent].connective == Connective::Any);
    let mut alone = vec![TruthCounts::default(); all.len()];
    let mut together = vec![0usize; all.len()];
    for (row, ads) in rows {
        let mut so_far = true;
        for (at, condition) in all.iter().enumerate() {
            alone[at].add(row[at], ads);
            if condition.required {
                so_far &= row[at] == Truth::True;
                together[at] += if so_far { ads } else { 0 };
            } else if is_option(condition) {
                let before = (0..at).filter(|other| all[*other].parent == condition.parent);
                let any = before.chain([at]).any(|option| row[option] == Truth::True);
                together[at] += if any { ads } else { 0 };
            }
        }
    }
    let clause = |(at, condition): (usize, &AdCondition)| Clause {
        depth: condition.depth,
        via: condition.place.via.iter().map(|name| name.display().into_owned()).collect(),
        text: format!("{:#}", condition.expr),
        joint: condition.connective,
        alone: alone[at],
        together: (condition.required || is_option(condition)).then_some(together[at]),
    };
    all.iter().enumerate().map(clause).collect()
}

/// A condition that decides: its number, and the conditions of `?:` above it with their truth.
pub(super) type Leaf = (usize, Vec<(usize, bool)>);

/// The innermost parts that have to change for a condition to become true, given the truth of each.
pub(super) fn deciding_leaves(conditions: &AdConditions, row: &[Truth], at: usize) -> Vec<Leaf> {
    let mut found: Vec<Leaf> = Vec::new();
    let mut waiting: Vec<Leaf> = vec![(at, Vec::new())];
    while let Some((at, since)) = waiting.pop() {
        match conditions.all[at].connective {
            Connective::Leaf | Connective::Not => found.push((at, since)),
            Connective::All | Connective::Any => {
                let parts: Vec<usize> = conditions.parts(at).filter(|part| row[*part] != Truth::True).collect();
                if parts.is_empty() {
                    found.push((at, since));
                } else {
                    waiting.extend(parts.into_iter().rev().map(|part| (part, since.clone())));
                }
            }
            Connective::Choice => {
                let parts: Vec<usize> = conditions.parts(at).collect();
                match (parts.as_slice(), parts.first().map(|first| row[*first])) {
                    // A branch that is `false` leaves it to the condition.
                    (&[condition, _, no], Some(Truth::False)) if is_false(&conditions.all[no].expr) => {
                        waiting.push((condition, since));
                    }
                    (&[condition, yes, no], Some(chosen @ (Truth::True | Truth::False))) => {
                        let is = chosen == Truth::True;
                        let mut since = since;
                        since.push((condition, is));
                        waiting.push((if is { yes } else { no }, since));
                    }
                    (&[condition, ..], _) => waiting.push((condition, since)),
                    _ => found.push((at, since)),
                }
            }
        }
    }
    found
}

/// Tests if a condition is too long to be changed in its parts: there are few such conditions, and each part would take long to test.
pub(super) fn is_long(expr: &Expr) -> bool {
    const MAX_PARTS: usize = 2000;
    const MAX_BYTES: usize = 20_000;
    let (parts, bytes) = parts_and_bytes(expr);
    parts > MAX_PARTS || bytes > MAX_BYTES
}

/// The number of parts of an expression and of the bytes of its strings together.
pub(super) fn size(expr: &Expr) -> usize {
    let (parts, bytes) = parts_and_bytes(expr);
    parts + bytes
}

fn parts_and_bytes(expr: &Expr) -> (usize, usize) {
    let tree = expr.tree();
    let ids = tree.first_of(expr.root())..=expr.root();
    let bytes = |id: NodeId| if let Node::Literal(Literal::Str(text)) = tree.node(id) { text.len() } else { 0 };
    (ids.clone().count(), ids.map(bytes).sum())
}

/// Tests if an expression is the constant `false`.
pub(super) fn is_false(expr: &Expr) -> bool {
    matches!(expr.as_literal(), Some(Literal::Bool(false)))
}

/// The truth of a value, in which a value that is not a condition is an error.
pub(super) fn truth_of(value: &Value) -> Truth {
    Truth::True.and(Truth::of(value))
}

/// The truth of a condition in a scope; an error if its evaluation fails.
pub(super) fn truth(scope: Scope<'_>, expr: &Expr) -> Truth {
    scope.eval(expr).map_or(Truth::Error, |value| truth_of(&value))
}

/// The truth of each condition for a pair of ads, evaluated one by one.
#[cfg(test)]
pub(super) fn truths(conditions: &AdConditions, my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> Vec<Truth> {
    let scope = Scope::new(my, settings).with_target(target);
    conditions.all.iter().map(|condition| truth(scope, &condition.expr)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_counted_alone_and_with_those_before() {
        let job = ClassAd::parse(
            b"[ Requirements = (Cpus >= 2 && Fits) && (Arch == \"A\" || Arch == \"B\"); Fits = TARGET.Memory > 10 ]",
        )
        .unwrap();
        let slots: Vec<ClassAd> = [
            &b"[ Cpus = 4; Memory = 5; Arch = \"A\" ]"[..],
            b"[ Cpus = 1; Memory = 50; Arch = \"B\" ]",
            b"[ Cpus = 2; Memory = 50; Arch = \"C\" ]",
            b"[ Cpus = 2; Arch = 7 ]",
        ]
        .iter()
        .map(|text| ClassAd::parse(text).unwrap())
        .collect();
        let conditions = conditions_of(&job, Name::new("Requirements"));
        let settings = EvalOptions::default();
        let rows: Vec<_> = slots.iter().map(|slot| truths(&conditions, &job, slot, &settings)).collect();
        let clauses = counted(&conditions, rows.iter().map(|row| (row.as_slice(), 1)));
        let shown: Vec<_> = clauses[1..]
            .iter()
            .map(|c| {
                (c.depth, c.text.as_str(), [c.alone.yes, c.alone.no, c.alone.undefined, c.alone.error], c.together)
            })
            .collect();
        assert_eq!(
            shown,
            [
                (1, "Cpus >= 2", [3, 1, 0, 0], Some(3)),
                (1, "TARGET.Memory > 10", [2, 1, 1, 0], Some(1)),
                (1, "Arch == \"A\" || Arch == \"B\"", [2, 1, 0, 1], Some(0)),
                (2, "Arch == \"A\"", [1, 2, 0, 1], Some(1)),
                (2, "Arch == \"B\"", [1, 2, 0, 1], Some(2)),
            ]
        );
        assert_eq!(clauses[2].via, ["Fits"]);
    }

    #[test]
    fn an_attribute_that_leads_to_itself_ends() {
        let ad = ClassAd::parse(b"[ Requirements = A && Requirements; A = B; B = A || Cpus > 1 ]").unwrap();
        assert!(conditions_of(&ad, Name::new("Requirements")).all.len() < 10);
    }
}
