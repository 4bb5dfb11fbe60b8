//! An expression as a tree of conditions, through `&&`, `||`, `?:` and the attributes it consists of.
//!
//! In: an ad and one of its attributes. Out: a plan, whose conditions are evaluated against many ads and counted.

use serde::Serialize;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::Scope;
#[cfg(test)]
use classmate::internal::eval::scope::Settings;
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use classmate::internal::syntax::operator::BinaryOp;

/// At most so many conditions of one expression.
const MOST: usize = 200;
/// At most so many levels.
const DEEPEST: usize = 24;

/// How the conditions below a condition make its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// There are none.
    Leaf,
    /// All must be true: `&&`.
    All,
    /// One must be true: `||`.
    Any,
    /// The first says which of the others counts: `?:`, `ifThenElse`.
    Choice,
}

/// What a condition is for one ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truth {
    /// True, or a number other than zero.
    True,
    /// False, or zero.
    False,
    /// Undefined.
    Undefined,
    /// An error, no condition, or an evaluation that was abandoned.
    Error,
}

/// For how many ads a condition is what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// True.
    pub yes: usize,
    /// False.
    pub no: usize,
    /// Undefined.
    pub undefined: usize,
    /// An error.
    pub error: usize,
}

impl Counts {
    fn add(&mut self, truth: Truth, ads: usize) {
        *match truth {
            Truth::True => &mut self.yes,
            Truth::False => &mut self.no,
            Truth::Undefined => &mut self.undefined,
            Truth::Error => &mut self.error,
        } += ads;
    }

    /// How many ads were looked at.
    pub fn total(&self) -> usize {
        self.yes + self.no + self.undefined + self.error
    }
}

/// A condition with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// How far down it stands, from 0.
    pub depth: usize,
    /// The attributes that lead to it, outermost first.
    pub via: Vec<String>,
    /// The condition.
    pub text: String,
    /// What the conditions below it do.
    pub joint: Joint,
    /// For how many ads it is what, looked at alone.
    pub alone: Counts,
    /// For how many ads it is true and all conditions before it in the same expression are; for a part of `||`, for how many it or one
    /// before it is. None below `?:` and deeper down.
    pub together: Option<usize>,
}

/// A condition to evaluate.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) expr: Expr,
    /// The attribute in whose expression it stands.
    pub(super) holder: Name,
    pub(super) via: Vec<Name>,
    pub(super) joint: Joint,
    pub(super) depth: usize,
    pub(super) parent: Option<usize>,
    /// Whether the whole is true only if this is: only `&&` stands above it, and it is none itself.
    pub(super) required: bool,
}

/// The conditions of an expression, each before those below it.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) conditions: Vec<Condition>,
}

/// The attribute that a node takes from the ad it stands in: `name` or `MY.name`.
pub(super) fn own(tree: &Tree, id: NodeId) -> Option<Name> {
    match tree.node(id) {
        Node::Attr(name) => Some(*name),
        Node::Select(name) => match tree.node(base_of(id)) {
            Node::Attr(base) if base.folded() == b"my" => Some(*name),
            _ => None,
        },
        _ => None,
    }
}

/// The attribute that a node takes from the ad on the other side: `TARGET.name`, or a name that the ad has not.
pub(super) fn others(tree: &Tree, id: NodeId, ad: &ClassAd) -> Option<Name> {
    match tree.node(id) {
        Node::Attr(name) if !ad.contains(*name) => Some(*name),
        Node::Select(name) => match tree.node(base_of(id)) {
            Node::Attr(base) if base.folded() == b"target" => Some(*name),
            _ => None,
        },
        _ => None,
    }
}

/// What joins the conditions directly below a node, and these, in the order of the text.
fn below(tree: &Tree, id: NodeId) -> (Joint, Vec<NodeId>) {
    if let Some(parts) = tree.choice(id) {
        return (Joint::Choice, parts.to_vec());
    }
    let Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) = *tree.node(id) else {
        return (Joint::Leaf, Vec::new());
    };
    let (mut waiting, mut found) = (vec![id], Vec::new());
    while let Some(at) = waiting.pop() {
        match *tree.node(tree.bare(at)) {
            Node::Binary(other, left, right) if other == op => waiting.extend([right, left]),
            _ => found.push(at),
        }
    }
    (if op == BinaryOp::And { Joint::All } else { Joint::Any }, found)
}

/// The operands of a chain of `&&`, through parentheses, in the order of the text; none if it is none.
pub(super) fn conjuncts(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    match below(tree, tree.bare(id)) {
        (Joint::All, operands) => operands,
        _ => Vec::new(),
    }
}

/// How many conditions a condition consists of, through `&&`, `||` and `?:`.
pub(super) fn leaves(tree: &Tree, id: NodeId) -> usize {
    let (mut waiting, mut count) = (vec![id], 0);
    while let Some(id) = waiting.pop() {
        match below(tree, tree.bare(id)) {
            (Joint::Leaf, _) => count += 1,
            (_, parts) => waiting.extend(parts),
        }
    }
    count
}

impl Plan {
    /// The conditions of an attribute; none if the ad has no such attribute.
    pub(super) fn of(ad: &ClassAd, attribute: Name) -> Self {
        let Some(expr) = ad.get(attribute) else { return Plan::default() };
        let mut plan = Plan::default();
        // (condition, the attribute it stands in, the attributes that lead to it, the condition above, only && above)
        let mut waiting = vec![(expr, attribute, Vec::<Name>::new(), None::<usize>, true)];
        while let Some((expr, mut holder, mut via, parent, required)) = waiting.pop() {
            let mut expr = expr.part(expr.tree().bare(expr.root()));
            while let Some(name) = own(expr.tree(), expr.root()) {
                match ad.get(name) {
                    Some(inner) if inner.as_literal().is_none() && !via.contains(&name) && name != attribute => {
                        expr = inner.part(inner.tree().bare(inner.root()));
                        holder = name;
                        via.push(name);
                    }
                    _ => break,
                }
            }
            let depth = parent.map_or(0, |parent: usize| plan.conditions[parent].depth + 1);
            let (mut joint, mut parts) = below(expr.tree(), expr.root());
            if depth >= DEEPEST || plan.conditions.len() + waiting.len() + parts.len() >= MOST {
                (joint, parts) = (Joint::Leaf, Vec::new());
            }
            let here = plan.conditions.len();
            let all = required && joint == Joint::All;
            for part in parts.into_iter().rev() {
                waiting.push((expr.part(part), holder, via.clone(), Some(here), all));
            }
            let required = required && joint != Joint::All;
            plan.conditions.push(Condition { expr, holder, via, joint, depth, parent, required });
        }
        plan
    }

    /// The conditions without which the whole is not true.
    pub(super) fn required(&self) -> impl Iterator<Item = (usize, &Condition)> {
        self.conditions.iter().enumerate().filter(|(_, condition)| condition.required)
    }

    /// What each condition is for a pair of ads, each evaluated by itself.
    #[cfg(test)]
    pub(super) fn truths(&self, my: &ClassAd, target: &ClassAd, settings: &Settings) -> Vec<Truth> {
        let scope = Scope::new(my, settings).with_target(target);
        self.conditions.iter().map(|condition| truth(scope, &condition.expr)).collect()
    }

    /// The conditions with what they are for many ads: what each is, and for how many ads it is so.
    pub(super) fn counted<'t>(&self, rows: impl Iterator<Item = (&'t [Truth], usize)>) -> Vec<Clause> {
        let mut alone = vec![Counts::default(); self.conditions.len()];
        let mut together = vec![0usize; self.conditions.len()];
        for (row, ads) in rows {
            let mut so_far = true;
            for (at, condition) in self.conditions.iter().enumerate() {
                alone[at].add(row[at], ads);
                if condition.required {
                    so_far &= row[at] == Truth::True;
                    together[at] += if so_far { ads } else { 0 };
                } else if self.is_option(at) {
                    let before = (0..at).filter(|other| self.conditions[*other].parent == condition.parent);
                    let any = before.chain([at]).any(|option| row[option] == Truth::True);
                    together[at] += if any { ads } else { 0 };
                }
            }
        }
        let clauses = self.conditions.iter().enumerate().map(|(at, condition)| Clause {
            depth: condition.depth,
            via: condition.via.iter().map(|name| name.display().into_owned()).collect(),
            text: condition.expr.to_string(),
            joint: condition.joint,
            alone: alone[at],
            together: (condition.required || self.is_option(at)).then_some(together[at]),
        });
        clauses.collect()
    }

    fn is_option(&self, at: usize) -> bool {
        self.conditions[at].parent.is_some_and(|parent| self.conditions[parent].joint == Joint::Any)
    }
}

/// What a condition is in a scope.
pub(super) fn truth(scope: Scope<'_>, expr: &Expr) -> Truth {
    match scope.eval(expr) {
        Ok(value) if value.is_undefined() => Truth::Undefined,
        Ok(value) => match value.as_condition() {
            Some(true) => Truth::True,
            Some(false) => Truth::False,
            None => Truth::Error,
        },
        Err(_) => Truth::Error,
    }
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
        let plan = Plan::of(&job, Name::new("Requirements"));
        let settings = Settings::default();
        let rows: Vec<_> = slots.iter().map(|slot| plan.truths(&job, slot, &settings)).collect();
        let clauses = plan.counted(rows.iter().map(|row| (row.as_slice(), 1)));
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
        assert!(Plan::of(&ad, Name::new("Requirements")).conditions.len() < 10);
    }
}
