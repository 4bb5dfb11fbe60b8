//! The value of every part of an expression, with the expressions that references lead to.

use crate::eval::EvalError;
use crate::eval::scope::Scope;
use crate::eval::walk::{AdSide, Target, Walk};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node};
use crate::value::Value;

/// The outcome of one part.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its value.
    Value(Value),
    /// Its evaluation was abandoned.
    Failed(EvalError),
    /// Its value was not needed.
    Skipped,
}

/// One part of a traced expression.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// Number of parts around this one.
    pub level: usize,
    /// The part.
    pub expr: Expr,
    /// Its outcome.
    pub outcome: Outcome,
    /// For the expression of an attribute: the attribute and the ad that has it.
    pub attribute: Option<(Name, AdSide)>,
    /// For a reference: the ad in which its attribute was found.
    pub found_in: Option<AdSide>,
}

/// Evaluates an expression part by part, outer parts first; at most `most` parts.
///
/// Parentheses and constants have no step of their own. All parts together take at most the work that one
/// evaluation may take; what is behind that is left out.
///
/// ```
/// use classmate::{ClassAd, EvalOptions, Scope};
/// use classmate::internal::eval::trace::trace;
/// let ad = ClassAd::parse(b"[ Cpus = 4; Weight = Cpus * 2 ]")?;
/// let settings = EvalOptions::default();
/// let steps = trace(Scope::new(&ad, &settings), &ad.get("Weight").unwrap(), 100);
/// assert_eq!(steps.iter().map(|step| step.expr.to_string()).collect::<Vec<_>>(), ["Cpus * 2", "Cpus"]);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn trace(scope: Scope<'_>, expr: &Expr, most: usize) -> Vec<TraceStep> {
    let mut walk = Walk::new(scope);
    let start = walk.start(expr);
    let mut steps = Vec::new();
    // Parts with their level, the need for their value, and the attribute whose expression they are.
    let mut waiting = vec![(0, start, true, None)];
    while let Some((level, spot, evaluated, attribute)) = waiting.pop() {
        if steps.len() >= most || walk.exhausted() {
            break;
        }
        let spot = spot.part(spot.tree.bare(spot.id));
        if matches!(spot.node(), Node::Literal(_)) && level > 0 && attribute.is_none() {
            continue;
        }
        let outcome = match evaluated.then(|| walk.value(&spot)) {
            None => Outcome::Skipped,
            Some(Ok(value)) => Outcome::Value(walk.released(value)),
            Some(Err(failed)) => Outcome::Failed(failed),
        };
        let mut found_in = None;
        if evaluated {
            let level = level + 1;
            let children = walk.children(&spot).into_iter();
            let mut below: Vec<_> = children.map(|(spot, evaluated)| (level, spot, evaluated, None)).collect();
            if let Ok(Some((target, side))) = walk.target(&spot) {
                found_in = (!matches!(target, Target::Missing)).then_some(side);
                if let Target::Expr(spot) = target {
                    let attribute = spot.path.last().map(|via| (via.name, via.side));
                    below.push((level, spot, true, attribute));
                }
            }
            waiting.extend(below.into_iter().rev());
        }
        steps.push(TraceStep { level, expr: spot.expr(), outcome, attribute, found_in });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::EvalOptions;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn traced(my: &str, expr: &str) -> Vec<String> {
        let settings = EvalOptions::default();
        let my = ClassAd::parse(my.as_bytes()).unwrap();
        let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
        trace(Scope::new(&my, &settings), &expr, 50)
            .into_iter()
            .map(|step| {
                let value = match step.outcome {
                    Outcome::Value(value) => value.to_string(),
                    Outcome::Failed(_) => "failed".to_owned(),
                    Outcome::Skipped => "-".to_owned(),
                };
                format!("{}{} = {value}", " ".repeat(step.level), step.expr)
            })
            .collect()
    }

    #[test]
    fn references_are_followed_and_short_circuits_are_skipped() {
        assert_eq!(
            traced("[ a = b + 1; b = 2 ]", "(a > 2) || c"),
            ["(a > 2) || c = true", " a > 2 = true", "  a = 3", "   b + 1 = 3", "    b = 2", " c = -"]
        );
    }

    #[test]
    fn circles_end() {
        assert_eq!(traced("[ a = a + 1 ]", "a"), ["a = undefined", " a + 1 = undefined", "  a = undefined"]);
    }

    #[test]
    fn the_number_of_steps_is_bounded() {
        let wide = vec!["x"; 1000].join(" + ");
        assert_eq!(traced("[]", &wide).len(), 50);
    }
}
