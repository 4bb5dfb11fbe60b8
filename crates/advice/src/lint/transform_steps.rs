//! Commands of one transform that cannot be meant together: HTCondor runs them in order, on the ad that the ones before them left.
//!
//! In: the lines of a transform. Out: findings at its commands.

use std::ops::Range;

use super::attributes::is_always_present;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, ParseOptions, Span};

/// A command on a line.
pub(super) struct TransformStep<'a> {
    /// The command, upper case.
    pub(super) command: String,
    /// Its first argument.
    pub(super) attribute: &'a str,
    /// The rest of the line.
    pub(super) rest: &'a str,
    /// The place of the command and its argument.
    pub(super) place: Range<usize>,
}

impl TransformStep<'_> {
    fn is(&self, commands: &[&str]) -> bool {
        commands.contains(&self.command.as_str())
    }

    fn is_about(&self, attribute: &str) -> bool {
        self.attribute.eq_ignore_ascii_case(attribute)
    }

    /// The finding about a command without an effect.
    fn without_effect(&self, why: &str, help: String) -> Diagnostic {
        let message = format!("`{} {}` has no effect: {why}", self.command, self.attribute);
        Diagnostic::warning(message, Span::new(self.place.start, self.place.end)).help(help).code("odd-line")
    }
}

/// The findings about commands that another command, or the condition, leaves without effect.
pub(super) fn check(steps: &[TransformStep<'_>]) -> Vec<Diagnostic> {
    // What depends on a version or a macro may be left out.
    let is_open = |step: &TransformStep| {
        step.is(&["IF", "ELIF", "ELSE", "ENDIF", "TRANSFORM"]) || step.attribute.contains(['$', '/'])
    };
    if steps.iter().any(is_open) {
        return Vec::new();
    }
    removed(steps).into_iter().chain(refused(steps)).collect()
}

/// `DELETE A`, and then `COPY A B`: there is nothing to copy.
fn removed(steps: &[TransformStep<'_>]) -> Option<Diagnostic> {
    steps.iter().enumerate().find_map(|(at, first)| {
        let name = first.attribute;
        if !first.is(&["DELETE", "RENAME"]) || name.is_empty() {
            return None;
        }
        let sets = |step: &TransformStep| {
            step.is(&["SET", "DEFAULT", "EVALSET"]) && step.is_about(name)
                || step.is(&["COPY", "RENAME"]) && step.rest.trim().eq_ignore_ascii_case(name)
        };
        let after = steps[at + 1..].iter().take_while(|step| !sets(step));
        let second = after.into_iter().find(|step| step.is(&["COPY", "RENAME"]) && step.is_about(name))?;
        let why = format!("`{}` before it removed the attribute", first.command);
        Some(second.without_effect(&why, format!("write it above `{} {name}`", first.command)))
    })
}

/// `REQUIREMENTS A isnt undefined`, and `DEFAULT A 1`, which is for jobs without the attribute; and the other way round.
fn refused(steps: &[TransformStep<'_>]) -> Option<Diagnostic> {
    let mut conditions = steps.iter().filter(|step| step.command == "REQUIREMENTS");
    let (condition, None) = (conditions.next()?, conditions.next()) else { return None };
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let expr = parse_expr(condition.rest.as_bytes(), &options).ok().filter(|_| !condition.rest.contains('$'))?;
    let (mut present, mut missing) = (Vec::new(), Vec::new());
    for id in expr.tree().flattened(BinaryOp::And, expr.root()) {
        match asked(expr.tree(), id) {
            // A clause about the value of what all jobs have does not ask for it.
            Some((name, true)) if !is_always_present(name.to_ascii_lowercase().as_bytes()) || asks(expr.tree(), id) => {
                present.push(name);
            }
            Some((_, true)) => {}
            Some((name, false)) => missing.push(name),
            None => {}
        }
    }
    steps.iter().enumerate().find_map(|(at, step)| {
        let of = |names: &[String]| names.iter().any(|name| step.is_about(name));
        let is_changed = steps[..at].iter().any(|one| {
            let is_here = one.is_about(step.attribute) || one.rest.trim().eq_ignore_ascii_case(step.attribute);
            is_here && one.is(&["SET", "DEFAULT", "EVALSET", "COPY", "RENAME", "DELETE"])
        });
        let name = step.attribute;
        if is_changed {
            None
        } else if step.command == "DEFAULT" && of(&present) {
            let why = format!("`REQUIREMENTS` takes only jobs that have `{name}`");
            Some(step.without_effect(&why, "remove the clause from `REQUIREMENTS`, or write `SET`".to_owned()))
        } else if step.is(&["COPY", "RENAME", "DELETE"]) && of(&missing) {
            let why = format!("`REQUIREMENTS` takes only jobs without `{name}`");
            Some(step.without_effect(&why, format!("write `{name} isnt undefined` in `REQUIREMENTS`")))
        } else {
            None
        }
    })
}

/// Tests whether a clause asks if an attribute is there.
fn asks(tree: &Tree, id: NodeId) -> bool {
    (tree.first_of(id)..=id).any(|part| matches!(tree.node(part), Node::Literal(Literal::Undefined) | Node::Call(_)))
}

/// The attribute that a clause needs to be there (true), or to be missing.
fn asked(tree: &Tree, id: NodeId) -> Option<(String, bool)> {
    let name = |id: NodeId| {
        let reference = tree.reference(tree.bare(id)).filter(|one| one.scope != RefScope::Target)?;
        Some(reference.name.to_string())
    };
    let is_undefined = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Undefined));
    match *tree.node(tree.bare(id)) {
        Node::Binary(op, left, right) => {
            let (name, other) = name(left).map(|name| (name, right)).or_else(|| Some((name(right)?, left)))?;
            let is_constant = matches!(tree.node(tree.bare(other)), Node::Literal(_));
            match op {
                BinaryOp::Is if is_undefined(other) => Some((name, false)),
                BinaryOp::Isnt if is_undefined(other) => Some((name, true)),
                BinaryOp::Isnt | BinaryOp::Or => None,
                _ if op.precedence() == 6 || op.precedence() == 7 => {
                    (is_constant && !is_undefined(other)).then_some((name, true))
                }
                _ => None,
            }
        }
        Node::Unary(UnaryOp::Not, inner) => asked(tree, inner).and_then(|(name, there)| {
            let is_question = matches!(tree.node(tree.bare(inner)), Node::Call(_));
            is_question.then_some((name, !there))
        }),
        Node::Call(call) => {
            let site = tree.calls[call as usize];
            let &[argument] = tree.run(site.arguments) else { return None };
            (site.name.folded() == b"isundefined").then(|| name(argument)).flatten().map(|name| (name, false))
        }
        _ => None,
    }
}
