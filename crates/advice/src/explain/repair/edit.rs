//! Single changes of a job: the place, and the replacement that a condition calls for.

use std::iter;
use std::sync::Arc;

use crate::explain::repair::suggestion::{Change, Changed};
use crate::submit::added::OtherCommand;
use crate::submit::bytes_of_unit;
use crate::submit::requirements::platform_line;
use classmate::internal::eval::conditions::leaf_count;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::{ClassAd, Expr, Name, Value};

/// The bound that a value has to satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Whatever it is, as long as it is there.
    Any,
    AtMost,
    Exactly,
    AtLeast,
}

/// One thing to change in the job.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) of: Changed,
    /// The attribute in which something is written.
    pub(crate) name: Name,
    /// The part of its expression that is reported, and the node in it that is replaced; none for the whole attribute.
    part: Option<(Expr, NodeId)>,
    /// The replacement.
    after: Expr,
    /// The bound that the replacement satisfies, if it is a value that a condition wants.
    bound: Option<Bound>,
    /// The change of a submit file by which `condor_submit` writes this.
    command: Option<Arc<str>>,
}

impl Edit {
    /// Another expression for an attribute.
    pub(crate) fn attribute(name: Name, after: Expr) -> Self {
        Edit { of: Changed::Job, name, part: None, after, bound: None, command: None }
    }

    /// Another expression in place of a node in the expression of an attribute.
    pub(crate) fn part(of: Changed, name: Name, part: Expr, id: NodeId, after: Expr) -> Self {
        Edit { of, name, part: Some((part, id)), after, bound: None, command: None }
    }

    /// A condition that is left out.
    pub(crate) fn without(holder: Name, condition: &Expr) -> Self {
        let after = Expr::literal(Literal::Bool(true));
        Self::part(Changed::Condition, holder, condition.clone(), condition.root(), after)
    }

    /// The edits that `condor_submit` makes for another command, which it answers with another condition in place of one.
    pub(crate) fn by_command(holder: Name, condition: &Expr, other: &OtherCommand) -> Option<Vec<Self>> {
        let after = other.condition()?;
        let attribute =
            |(name, value): &(&str, Literal)| Self::value_of(Name::new(name), Bound::Exactly, value.clone());
        let condition = Self::part(Changed::Condition, holder, condition.clone(), condition.root(), after);
        let all = iter::once(condition).chain(other.attributes.iter().map(attribute));
        Some(all.map(|edit| Edit { command: Some(other.command.into()), ..edit }).collect())
    }

    /// The edits that `condor_submit` makes if the command for a request is left out: neither the request nor the condition.
    pub(crate) fn without_request(holder: Name, condition: &Expr, request: Name) -> [Self; 2] {
        let resource = request.folded().strip_prefix(b"request").unwrap_or(request.folded());
        let command: Arc<str> = format!("remove request_{}", String::from_utf8_lossy(resource)).into();
        let nothing = Self::value_of(request, Bound::Exactly, Literal::Undefined);
        [Self::without(holder, condition), nothing].map(|edit| Edit { command: Some(command.clone()), ..edit })
    }

    /// An attribute with another value.
    pub(crate) fn value_of(name: Name, bound: Bound, value: Literal) -> Self {
        Edit { bound: Some(bound), ..Self::attribute(name, Expr::literal(value)) }
    }

    /// Another constant in the expression of an attribute.
    pub(crate) fn constant(holder: Name, part: Expr, id: NodeId, (bound, value): (Bound, Literal)) -> Self {
        Edit { bound: Some(bound), ..Self::part(Changed::Constant, holder, part, id, Expr::literal(value)) }
    }

    /// The constant that was meant in the expression of an attribute.
    pub(crate) fn corrected(holder: Name, part: Expr, id: NodeId, value: Literal) -> Self {
        Edit { of: Changed::Correction, ..Self::constant(holder, part, id, (Bound::Exactly, value)) }
    }

    /// The kind, the attribute and the node of an edit as a text: two edits of one place exclude each other.
    pub(crate) fn place(&self) -> String {
        let kind = match (self.of, self.bound) {
            (Changed::Condition, _) => 'c',
            _ if self.part.is_none() => 'a',
            (_, Some(_)) => 'b',
            (_, None) => 'd',
        };
        let id = self.part.as_ref().map(|(_, id)| format!(" {id}")).unwrap_or_default();
        format!("{kind} {}{id}", self.name.display().to_ascii_lowercase())
    }

    /// Tests if another value is written that was meant.
    pub(crate) fn corrects_value(&self) -> bool {
        self.of == Changed::Correction && self.bound.is_some()
    }

    /// The value that a condition wants, and its bound.
    pub(crate) fn value(&self) -> Option<(&Literal, Bound)> {
        Some((self.after.as_literal()?, self.bound?))
    }

    /// The present value and the one that a condition wants in its place.
    fn values(&self, job: &ClassAd) -> Option<(Literal, &Literal)> {
        let before = match &self.part {
            None => job.get(self.name)?.as_literal()?.clone(),
            Some((part, id)) => part.part(*id).as_literal()?.clone(),
        };
        Some((before, self.value()?.0))
    }

    /// The distance of the new number from the present one; 0 if one of them is not a number.
    pub(crate) fn shift(&self, job: &ClassAd) -> f64 {
        let numbers = self.values(job).and_then(|(before, after)| Some((number(&before)?, number(after)?)));
        numbers.map_or(0.0, |(before, after)| (after - before).abs())
    }

    /// The string that becomes another one.
    pub(crate) fn texts<'e>(&'e self, job: &ClassAd) -> Option<(Vec<u8>, &'e [u8])> {
        match self.values(job)? {
            (Literal::Str(before), Literal::Str(after)) => Some((before.to_vec(), &**after)),
            _ => None,
        }
    }

    /// The size of the change: removing a condition counts one more than the conditions that it consists of.
    pub(crate) fn weight(&self) -> usize {
        match &self.part {
            // One command makes all edits.
            part if self.command.is_some() => usize::from(part.is_some()),
            Some((part, id)) if self.of == Changed::Condition => 1 + leaf_count(part.tree(), *id),
            _ => 1,
        }
    }

    /// True but for the edits that a command makes beside that of a condition.
    pub(crate) fn is_counted(&self) -> bool {
        self.command.is_none() || self.part.is_some()
    }

    /// The text that is written, which distinguishes edits of one place.
    pub(crate) fn written(&self) -> String {
        format!("{:#}", self.after)
    }

    /// The same with an amount of disk that is nearly as large, and whole in GB or in MB: the larger unit first.
    pub(crate) fn in_larger_units(&self) -> Vec<Self> {
        /// The amount changes by at most one part of so many.
        const MOST: i64 = 20;
        /// KB in a unit.
        const UNITS: [i64; 2] = [1 << 20, 1 << 10];
        let units = if self.name.folded() == b"requestdisk" { &UNITS[..] } else { &[] };
        let (Some((&Literal::Int(amount), bound)), None) = (self.value(), &self.part) else { return Vec::new() };
        let rounded = |unit: &i64| {
            let over = amount.rem_euclid(*unit);
            match bound {
                _ if over == 0 => None,
                Bound::AtMost => amount.checked_sub(over),
                Bound::AtLeast => amount.checked_add(unit - over),
                Bound::Any | Bound::Exactly => None,
            }
        };
        let is_near = |other: &i64| *other > 0 && amount.abs_diff(*other) <= (amount / MOST).unsigned_abs();
        // What is whole in a unit already is written in it.
        let larger = units.iter().take_while(|unit| amount % **unit != 0);
        let amounts = larger.filter_map(rounded).filter(is_near);
        amounts.map(|other| Self::value_of(self.name, bound, Literal::Int(other))).collect()
    }

    fn change(&self, job: &ClassAd) -> Change {
        let mut command = self.command.as_deref().map(str::to_owned);
        let (before, after) = match &self.part {
            None => {
                let before = job.get(self.name).map_or_else(|| "undefined".to_owned(), |expr| format!("{expr:#}"));
                (before, format!("{:#}", self.after))
            }
            Some((part, id)) => {
                let after = part.with_part(*id, &self.after);
                if self.of == Changed::Constant || self.corrects_value() {
                    command = platform_line(job, part, &after);
                }
                (format!("{part:#}"), format!("{after:#}"))
            }
        };
        Change { of: self.of, attribute: self.name.to_string(), before, after, command }
    }
}

/// A number of a literal.
pub(crate) fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Real(value) => Some(*value),
        _ => None,
    }
}

/// Tests if a number that is no amount would be written in place of an amount: what is more than -1 is anything.
pub(crate) fn is_no_amount(present: &Literal, wanted: &Literal) -> bool {
    let is_negative = |literal: &Literal| number(literal).is_some_and(|number| number < 0.0);
    !is_negative(present) && is_negative(wanted)
}

/// Tests if an attribute is the request of something that every job needs.
pub(crate) fn is_request_of_all(name: Name) -> bool {
    matches!(name.folded(), b"requestcpus" | b"requestmemory" | b"requestdisk")
}

/// Tests if a number is no amount of something that can be requested: less than nothing, or nothing of what every job needs.
pub(crate) fn is_no_request(name: Name, wanted: &Literal) -> bool {
    let is_request = name.folded().starts_with(b"request");
    number(wanted).is_some_and(|number| is_request && (number < 0.0 || number == 0.0 && is_request_of_all(name)))
}

/// An amount of memory or disk with its unit, in the unit of its attribute, if it is a string.
pub(crate) fn amount(name: Name, literal: &Literal) -> Option<i64> {
    let unit: i64 = match name.folded() {
        b"requestmemory" => 1 << 20,
        b"requestdisk" => 1 << 10,
        _ => return None,
    };
    let Literal::Str(text) = literal else { return None };
    let text = std::str::from_utf8(text).ok()?.trim();
    let digits = text.find(|one: char| !one.is_ascii_digit())?;
    let number: i64 = text[..digits].parse().ok()?;
    let bytes = i64::try_from(bytes_of_unit(text[digits..].trim_start())?).ok()?;
    // As `condor_submit` does, up to a whole unit.
    Some(number.checked_mul(bytes)?.checked_add(unit - 1)? / unit)
}

/// The changes of the job by some edits. An edit of a condition that others correct is one change with them.
pub(crate) fn changes(job: &ClassAd, edits: &[Edit]) -> Vec<Change> {
    let mut merged: Vec<bool> = vec![false; edits.len()];
    let mut found: Vec<Option<Change>> = edits.iter().map(|edit| Some(edit.change(job))).collect();
    for (at, edit) in edits.iter().enumerate() {
        let (Some((part, id)), Some(expr)) = (&edit.part, job.get(edit.name)) else { continue };
        let root = part.root();
        if root > expr.root() || format!("{:#}", expr.part(root)) == format!("{part:#}") {
            continue;
        }
        let tree = expr.tree();
        let (whole, replaced) = (tree.first_of(root)..=root, tree.first_of(*id)..=*id);
        let mut inside: Vec<(NodeId, &Edit)> = Vec::new();
        for (place, other) in edits.iter().enumerate().filter(|(_, other)| other.name == edit.name) {
            let Some((_, node)) = &other.part else { continue };
            if !whole.contains(node) {
                continue;
            }
            merged[place] |= place != at;
            if place == at || !replaced.contains(node) {
                inside.push((*node, other));
            }
        }
        inside.sort_by_key(|(node, _)| std::cmp::Reverse(*node));
        let before = expr.part(root);
        let after = inside.iter().fold(before.clone(), |whole, (node, other)| whole.with_part(*node, &other.after));
        found[at] = Some(Change {
            of: Changed::Correction,
            attribute: edit.name.to_string(),
            before: format!("{before:#}"),
            after: format!("{after:#}"),
            command: None,
        });
    }
    found.into_iter().zip(merged).filter(|(_, merged)| !merged).filter_map(|(change, _)| change).collect()
}

/// The job with changes made.
pub(crate) fn changed(job: &ClassAd, edits: &[Edit]) -> ClassAd {
    let mut job = job.clone();
    for edit in edits.iter().filter(|edit| edit.part.is_none()) {
        job.insert_expr(edit.name, &edit.after);
    }
    // Later nodes first: a replacement moves only the nodes after it.
    let mut inside: Vec<(NodeId, &Edit)> =
        edits.iter().filter_map(|edit| Some((edit.part.as_ref()?.1, edit))).collect();
    inside.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    for (id, edit) in inside {
        if let Some(expr) = job.get(edit.name).filter(|expr| expr.root() >= id) {
            job.insert_expr(edit.name, &expr.with_part(id, &edit.after));
        }
    }
    job
}

/// The bound on the left side of a comparison.
pub(crate) fn bound(op: BinaryOp, handle_is_left: bool) -> Option<(Bound, i64)> {
    let (bound, off) = match op {
        BinaryOp::LessEqual => (Bound::AtMost, 0),
        BinaryOp::Less => (Bound::AtMost, -1),
        BinaryOp::GreaterEqual => (Bound::AtLeast, 0),
        BinaryOp::Greater => (Bound::AtLeast, 1),
        BinaryOp::Equal | BinaryOp::Is => return Some((Bound::Exactly, 0)),
        _ => return None,
    };
    Some(match (handle_is_left, bound) {
        (true, bound) => (bound, off),
        (false, Bound::AtMost) => (Bound::AtLeast, -off),
        (false, _) => (Bound::AtMost, -off),
    })
}

/// A value that satisfies a bound as a constant.
pub(crate) fn constant(value: &Value, off: i64) -> Option<Literal> {
    match value {
        Value::Int(value) => value.checked_add(off).map(Literal::Int),
        Value::Real(value) if off == 0 && value.is_finite() => Some(Literal::Real(*value)),
        Value::Real(value) if value.is_finite() => Some(Literal::Real(value + off as f64)),
        Value::Str(text) if off == 0 => Some(Literal::Str(text.clone())),
        Value::Bool(value) if off == 0 => Some(Literal::Bool(*value)),
        _ => None,
    }
}

/// A part without parentheses and `!` in front of it, and whether an odd number of `!` was there.
pub(crate) fn unnegated(tree: &Tree, id: NodeId) -> (NodeId, bool) {
    let (mut at, mut negated) = (tree.bare(id), false);
    while let Node::Unary(UnaryOp::Not, inner) = *tree.node(at) {
        (at, negated) = (tree.bare(inner), !negated);
    }
    (at, negated)
}

/// The part that a condition requires to be defined (true) or undefined: `isUndefined(x)`, `x is undefined`, their negations, and
/// comparisons of one of them with a truth value.
pub(crate) fn presence(tree: &Tree, id: NodeId) -> Option<(NodeId, bool)> {
    let (mut at, mut is_negated) = unnegated(tree, id);
    if let Node::Binary(op, left, right) = *tree.node(at)
        && let Some((tested, truth)) = [(left, right), (right, left)].into_iter().find_map(|(tested, other)| {
            let Node::Literal(Literal::Bool(truth)) = tree.node(tree.bare(other)) else { return None };
            Some((tested, *truth))
        })
    {
        // A test for being defined is true or false.
        let is_same = match op {
            BinaryOp::Equal | BinaryOp::Is => truth,
            BinaryOp::NotEqual | BinaryOp::Isnt => !truth,
            _ => return None,
        };
        let (inner, is_inner_negated) = unnegated(tree, tested);
        (at, is_negated) = (inner, is_negated ^ is_inner_negated ^ !is_same);
    }
    let test = tree.defined_test(at)?;
    Some((tree.bare(test.of), test.negated == is_negated))
}

/// The operator of a comparison and both sides; the opposite operator if the comparison is negated.
pub(crate) fn comparison(tree: &Tree, id: NodeId) -> Option<(BinaryOp, NodeId, NodeId)> {
    let (at, negated) = unnegated(tree, id);
    let Node::Binary(op, left, right) = *tree.node(at) else { return None };
    let op = match (negated, op) {
        (false, op) if op.is_comparison() => op,
        (true, BinaryOp::Less) => BinaryOp::GreaterEqual,
        (true, BinaryOp::LessEqual) => BinaryOp::Greater,
        (true, BinaryOp::Greater) => BinaryOp::LessEqual,
        (true, BinaryOp::GreaterEqual) => BinaryOp::Less,
        (true, BinaryOp::NotEqual) => BinaryOp::Equal,
        (true, BinaryOp::Isnt) => BinaryOp::Is,
        _ => return None,
    };
    Some((op, left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, bound: Bound, amount: i64) -> Vec<String> {
        let edit = Edit::value_of(Name::new(name), bound, Literal::Int(amount));
        edit.in_larger_units().iter().map(Edit::written).collect()
    }

    /// 15229609 KB are 14.5 GB: 14 GB are 14680064 KB, 3.6 % less, and 14872 MB are 15228928 KB.
    #[test]
    fn amounts_are_whole_in_a_unit_that_is_not_much_less_or_more() {
        assert_eq!(written("RequestDisk", Bound::AtMost, 15_229_609), ["14680064", "15228928"]);
        // 2.6 GB: 2 GB are too much less. 2708 MB are 2772992 KB, 2709 MB are 2774016 KB.
        assert_eq!(written("RequestDisk", Bound::AtMost, 2_773_220), ["2772992"]);
        assert_eq!(written("RequestDisk", Bound::AtLeast, 2_773_220), ["2774016"]);
        // Whole in MB, and not in GB.
        assert_eq!(written("RequestDisk", Bound::AtMost, 20_480), [""; 0]);
        assert_eq!(written("RequestDisk", Bound::AtMost, 2047), [""; 0]);
        assert_eq!(written("RequestDisk", Bound::Exactly, 15_229_609), [""; 0]);
        assert_eq!(written("RequestMemory", Bound::AtMost, 15_229_609), [""; 0]);
    }
}
