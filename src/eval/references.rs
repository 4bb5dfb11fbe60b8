//! The attributes that an expression refers to (`docs/reference/classad-language.md` 10.8): those outside an ad, and
//! those of the ad itself.
//!
//! In: an expression and an ad. Out: names in alphabetical order, without case. The walk keeps its own stack and
//! visits what a name stands for once for each ad it is looked at from, so neither depth nor repetition costs more
//! than the size of the ads.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use smallvec::SmallVec;
use thiserror::Error;

use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Scope};
use crate::eval::{EvalError, Evaluator, Found};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use crate::syntax::print::Style;
use crate::text::Text;
use crate::value::{FrameId, Value};

/// The names of external references such as `TARGET.Memory`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Naming {
    /// With their scope: `TARGET.Memory`.
    Full,
    /// By what is missing: `TARGET`.
    Short,
}

/// Reasons that the references of an expression cannot be determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Untraceable {
    /// Something like `a.b` where `a` is a number.
    #[error("an attribute is selected from a value that is not an ad")]
    NotAnAd,
    /// The expression of an attribute leads back to the attribute.
    #[error("circular reference")]
    Circular,
    /// Evaluating the left side of a selection was abandoned.
    #[error(transparent)]
    Failed(#[from] EvalError),
}

/// The names that an expression needs and that the ad does not define, directly or through its attributes.
///
/// # Errors
/// References go in a circle, or an attribute is selected from something that is no ad.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::eval::references::{Naming, external};
/// use classmate::EvalOptions;
/// let job = ClassAd::parse(b"[ RequestMemory = 2 * ImageSize; Requirements = TARGET.Memory >= RequestMemory ]")?;
/// let names = external(&job, &job.get("Requirements").unwrap(), Naming::Full, &EvalOptions::default()).unwrap();
/// assert_eq!(names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), ["ImageSize", "TARGET.Memory"]);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn external(ad: &ClassAd, expr: &Expr, naming: Naming, settings: &EvalOptions) -> Result<Vec<Text>, Untraceable> {
    collect(ad, expr, ReferenceKind::External(naming), settings)
}

/// The attributes of the ad that an expression needs, directly or through other attributes.
///
/// # Errors
/// As [`external`].
pub fn internal(ad: &ClassAd, expr: &Expr, settings: &EvalOptions) -> Result<Vec<Text>, Untraceable> {
    collect(ad, expr, ReferenceKind::Internal, settings)
}

fn collect(ad: &ClassAd, expr: &Expr, kind: ReferenceKind, settings: &EvalOptions) -> Result<Vec<Text>, Untraceable> {
    let mut evaluator = Evaluator::new(Scope::new(ad, settings));
    let root = evaluator.start();
    let mut collector = Collector::new(&mut evaluator, kind, root);
    // Ads written in an expression that is in no ad have nothing around them.
    let target = collector.target_of_expr(expr);
    collector.run(target, root, FrameId::NONE)?;
    Ok(collector.names())
}

/// The external references of what a name stands for, in the middle of an evaluation; none when they cannot be traced.
pub(crate) fn of_found<'a>(
    evaluator: &mut Evaluator<'a>,
    found: &Found<'a>,
    at: FrameId,
    naming: Naming,
) -> Result<Vec<Text>, EvalError> {
    let root = evaluator.root();
    let mut collector = Collector::new(evaluator, ReferenceKind::External(naming), root);
    let Some(target) = collector.target(found) else { return Ok(Vec::new()) };
    let at = collector.standing(target, at);
    match collector.run(target, at, at) {
        Ok(()) => Ok(collector.names()),
        Err(Untraceable::Failed(failed @ (EvalError::Work(_) | EvalError::Memory(_) | EvalError::Contexts(_)))) => {
            Err(failed)
        }
        Err(_) => Ok(Vec::new()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReferenceKind {
    External(Naming),
    Internal,
}

/// An expression or ad that is searched for references.
#[derive(Clone, Copy)]
enum VisitTarget {
    /// A node, and its tree among those of the collector.
    Node(u32, NodeId),
    /// All attributes of an ad.
    Ad(FrameId),
}

/// A target, the ads in which its names are looked up and in which it is written, and whether it is only the left side
/// of a selection.
#[derive(Clone, Copy)]
struct Visit {
    target: VisitTarget,
    at: FrameId,
    /// The ad that the target is written in.
    home: FrameId,
    scoping: bool,
}

enum VisitStep {
    Visit(Visit),
    /// A selection whose left side was visited.
    Select(Visit),
    /// The meaning of a name was searched.
    Leave(VisitKey),
}

/// Identifies a visit: the address of the tree and the node, or the ad; where; and how. The collector keeps the tree alive, so
/// that its address stays its own.
type VisitKey = (usize, u32, u32, bool);

struct Collector<'m, 'a> {
    evaluator: &'m mut Evaluator<'a>,
    kind: ReferenceKind,
    root: FrameId,
    /// By name in lower case.
    names: BTreeMap<Vec<u8>, Text>,
    /// The trees of what is visited.
    trees: SmallVec<[Arc<Tree>; 4]>,
    /// Followed references: the number of those below on the longest path; `None` while one is visited.
    seen: HashMap<VisitKey, Option<u32>>,
    steps: SmallVec<[VisitStep; 8]>,
    /// For each followed reference on the path, the height known so far.
    path: Vec<u32>,
}

impl<'m, 'a> Collector<'m, 'a> {
    fn new(evaluator: &'m mut Evaluator<'a>, kind: ReferenceKind, root: FrameId) -> Self {
        Collector {
            evaluator,
            kind,
            root,
            names: BTreeMap::new(),
            trees: SmallVec::new(),
            seen: HashMap::new(),
            steps: SmallVec::new(),
            path: Vec::new(),
        }
    }

    fn names(self) -> Vec<Text> {
        self.names.into_values().collect()
    }

    /// The target that an expression is.
    fn target_of_expr(&mut self, expr: &Expr) -> VisitTarget {
        self.trees.push(Arc::clone(expr.tree()));
        VisitTarget::Node(self.trees.len() as u32 - 1, expr.root())
    }

    /// The target that the meaning of a name is, unless it is a constant.
    fn target(&mut self, found: &Found<'_>) -> Option<VisitTarget> {
        if let Found::Frame(id) = found {
            return Some(VisitTarget::Ad(*id));
        }
        let (tree, node) = found.tree()?;
        self.trees.push(tree);
        Some(VisitTarget::Node(self.trees.len() as u32 - 1, node))
    }

    fn key(&self, visit: &Visit) -> VisitKey {
        match visit.target {
            VisitTarget::Node(tree, node) => {
                (Arc::as_ptr(&self.trees[tree as usize]) as usize, node, visit.at.0, visit.scoping)
            }
            VisitTarget::Ad(id) => (usize::MAX, id.0, visit.at.0, visit.scoping),
        }
    }

    fn run(&mut self, target: VisitTarget, at: FrameId, home: FrameId) -> Result<(), Untraceable> {
        self.steps.push(VisitStep::Visit(Visit { target, at, home, scoping: false }));
        while let Some(step) = self.steps.pop() {
            match step {
                VisitStep::Visit(visit) => self.visit(visit)?,
                VisitStep::Select(visit) => self.select(visit)?,
                VisitStep::Leave(key) => self.leave(key),
            }
        }
        Ok(())
    }

    fn visit(&mut self, visit: Visit) -> Result<(), Untraceable> {
        self.evaluator.charge_work(1)?;
        let (number, id) = match visit.target {
            VisitTarget::Ad(_) if visit.scoping => return Ok(()),
            VisitTarget::Ad(frame) => {
                let parts = self.evaluator.parts(frame);
                let at = if self.evaluator.is_side_context(frame) { self.root } else { visit.at };
                for found in &*parts {
                    let Some(target) = self.target(found) else { continue };
                    self.steps.push(VisitStep::Visit(Visit { target, at, home: frame, ..visit }));
                }
                return Ok(());
            }
            VisitTarget::Node(number, id) => (number, id),
        };
        let part = |id| VisitStep::Visit(Visit { target: VisitTarget::Node(number, id), ..visit });
        let tree = &self.trees[number as usize];
        match tree.node(id) {
            Node::Attr(name) => self.lookup(*name, visit.at, visit),
            Node::Absolute(name) => self.lookup(*name, self.root, visit),
            Node::Select(_) => {
                self.steps.push(VisitStep::Select(visit));
                if self.kind == ReferenceKind::Internal {
                    let target = VisitTarget::Node(number, base_of(id));
                    self.steps.push(VisitStep::Visit(Visit { target, scoping: true, ..visit }));
                }
                Ok(())
            }
            Node::Ad(_) if visit.scoping => Ok(()),
            Node::Literal(_) => Ok(()),
            // As all others, without a list of the parts.
            Node::Binary(_, left, right) => {
                self.evaluator.charge_work(2)?;
                self.steps.push(part(*right));
                self.steps.push(part(*left));
                Ok(())
            }
            _ => {
                let parts = tree.parts(id);
                self.evaluator.charge_work(parts.len() as u64)?;
                self.steps.extend(parts.into_iter().rev().map(part));
                Ok(())
            }
        }
    }

    fn select(&mut self, visit: Visit) -> Result<(), Untraceable> {
        let VisitTarget::Node(number, id) = visit.target else { return Ok(()) };
        let tree = Arc::clone(&self.trees[number as usize]);
        let Node::Select(name) = tree.node(id) else { return Ok(()) };
        let base = Expr::at(Arc::clone(&tree), base_of(id));
        match self.evaluator.with_fresh_search(|evaluator| evaluator.eval_relocated(visit.home, &base, visit.at))? {
            Value::Undefined => match self.kind {
                ReferenceKind::External(Naming::Full) => {
                    let whole = Expr::at(Arc::clone(&tree), id);
                    let limit = self.evaluator.bytes_left();
                    let text =
                        whole.to_text_within(Style::New, limit).ok_or_else(|| self.evaluator.too_many_bytes())?;
                    self.add(&text)?;
                    Ok(())
                }
                ReferenceKind::External(Naming::Short) => {
                    let target = VisitTarget::Node(number, base_of(id));
                    self.steps.push(VisitStep::Visit(Visit { target, ..visit }));
                    Ok(())
                }
                ReferenceKind::Internal => Ok(()),
            },
            Value::Ad(ad) => {
                let start = self.evaluator.frame_of(&ad)?;
                self.lookup(*name, start, visit)
            }
            _ => Err(Untraceable::NotAnAd),
        }
    }

    /// Looks a name up in an ad and the ads around it, and follows it if it is there.
    fn lookup(&mut self, name: Name, start: FrameId, visit: Visit) -> Result<(), Untraceable> {
        let Some((found, at)) = self.evaluator.resolve(name, start) else {
            if let ReferenceKind::External(_) = self.kind {
                self.add(name.as_bytes())?;
            }
            return Ok(());
        };
        if self.kind == ReferenceKind::Internal && at == self.root && self.evaluator.find(name, at).is_some() {
            self.add(name.as_bytes())?;
        }
        match self.target(&found) {
            Some(target) => {
                let home = at;
                let at = self.standing(target, at);
                self.follow(Visit { target, at, home, scoping: visit.scoping })
            }
            None => self.reached(0),
        }
    }

    /// The ad in which the names of a target are looked up that was found in an ad. What stands in the ads around a
    /// match are absolute references to its sides, whose attributes are then looked up in the root.
    fn standing(&self, target: VisitTarget, at: FrameId) -> FrameId {
        match target {
            VisitTarget::Ad(id) if self.evaluator.is_side_context(at) && Evaluator::is_side(id) => self.root,
            _ => at,
        }
    }

    fn follow(&mut self, visit: Visit) -> Result<(), Untraceable> {
        let key = self.key(&visit);
        match self.seen.get(&key) {
            Some(None) => return Err(Untraceable::Circular),
            Some(Some(height)) => {
                let height = *height;
                // The tree was the last that was added.
                if let VisitTarget::Node(number, _) = visit.target {
                    self.trees.truncate(number as usize);
                }
                return self.reached(height);
            }
            None => {}
        }
        self.reached(0)?;
        self.seen.insert(key, None);
        self.path.push(0);
        self.steps.push(VisitStep::Leave(key));
        self.steps.push(VisitStep::Visit(visit));
        Ok(())
    }

    /// Notes that one more reference is followed here, with the number of those below it.
    fn reached(&mut self, height: u32) -> Result<(), Untraceable> {
        let limit = self.evaluator.settings().limits.depth;
        if self.path.len() as u32 + height >= limit {
            return Err(EvalError::Depth(limit).into());
        }
        if let Some(known) = self.path.last_mut() {
            *known = (*known).max(height + 1);
        }
        Ok(())
    }

    fn leave(&mut self, key: VisitKey) {
        let height = self.path.pop().unwrap_or_default();
        self.seen.insert(key, Some(height));
        if let Some(known) = self.path.last_mut() {
            *known = (*known).max(height + 1);
        }
    }

    fn add(&mut self, name: &[u8]) -> Result<(), EvalError> {
        if let Entry::Vacant(place) = self.names.entry(name.to_ascii_lowercase()) {
            self.evaluator.charge_bytes(2 * name.len())?;
            place.insert(Text::new(name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn names(ad: &str, expr: &str, naming: Option<Naming>) -> Result<Vec<String>, Untraceable> {
        let ad = ClassAd::parse(ad.as_bytes()).unwrap();
        let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
        let settings = EvalOptions::default();
        let names = match naming {
            Some(naming) => external(&ad, &expr, naming, &settings),
            None => internal(&ad, &expr, &settings),
        };
        Ok(names?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn missing_scopes_are_named_whole_or_by_what_is_missing() {
        let ad = "[a = 1; c = TARGET.q && b > MY.a]";
        assert_eq!(names(ad, "c", Some(Naming::Full)).unwrap(), ["b", "TARGET.q"]);
        assert_eq!(names(ad, "c", Some(Naming::Short)).unwrap(), ["b", "TARGET"]);
        assert_eq!(names(ad, "c", None).unwrap(), ["a", "c"]);
    }

    /// Answers of 25.14.1.
    #[test]
    fn an_ad_written_in_a_loose_expression_has_nothing_around_it() {
        let ad = "[a = 1; b = a + 1; d = [a = 5; c = b]; x = [q = a]]";
        for (expr, outside) in [
            ("[q = a].q", "a"),
            ("[q = [r = a]].q.r", "a"),
            ("[q = x.y == a].q", "a x.y"),
            ("[q = d].q.c", "[ q = d ].q.c"),
            ("[a = [b = c]; c = 5].a.b", ""),
        ] {
            assert_eq!(names(ad, expr, Some(Naming::Full)).unwrap().join(" "), outside, "{expr}");
            assert_eq!(names(ad, expr, None).unwrap().join(" "), "", "{expr}");
        }
        assert_eq!(names(ad, "x.q", None).unwrap(), ["a", "x"]);
    }

    #[test]
    fn circles_and_attributes_of_numbers_cannot_be_traced() {
        assert_eq!(names("[n = n + a]", "n", Some(Naming::Full)), Err(Untraceable::Circular));
        assert_eq!(names("[a = 1]", "a.b", None), Err(Untraceable::NotAnAd));
    }

    /// A chain of 400 references is followed, one of 401 is not, as in the reference.
    #[test]
    fn references_are_followed_to_the_depth_limit() {
        let chain = |links: u32| {
            let ad: Vec<String> = (0..links).map(|link| format!("a{link} = a{}", link + 1)).collect();
            names(&format!("[{}; a{links} = x]", ad.join("; ")), "a0", Some(Naming::Full))
        };
        assert_eq!(chain(399).unwrap(), ["x"]);
        assert_eq!(chain(400), Err(Untraceable::Failed(EvalError::Depth(400))));
    }

    /// 2^60 paths, each name looked at once.
    #[test]
    fn what_was_looked_at_is_not_looked_at_again() {
        let ad: Vec<String> = (0..60).map(|link| format!("a{link} = a{0} + a{0}", link + 1)).collect();
        assert_eq!(names(&format!("[{}]", ad.join("; ")), "a0", Some(Naming::Short)).unwrap(), ["a60"]);
    }

    #[test]
    fn a_long_chain_of_operators_needs_no_stack() {
        let sum = vec!["x"; 100_000].join(" + ");
        assert_eq!(names("[a = 1]", &sum, Some(Naming::Full)).unwrap(), ["x"]);
    }
}
