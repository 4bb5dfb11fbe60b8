//! Comparisons of known attributes with constants: of another type, in another unit, or with a value that they never
//! have; and quotients of integers that lose their fraction. One file of more than 600 lines: all rules share what the finder knows
//! of a part.

use super::attributes::{Fact, Kind, fact};
use super::compared_values::{
    is_order, number_of, of_fraction, of_range, of_sign, of_type, of_unit, of_values, requested,
};
use super::expression::{LintContext, written};
use super::own_types::string_as_condition;
use super::scope::Seen;
use super::units::meant_amount;
use classmate::internal::analysis::evaluate::{Analysis, OPEN, unknown};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{Diagnostic, Expr, Span, Value};
use classmate_config::internal::config::check::unit_of_days;

/// Parts of a constant that are computed.
const MAX_PARTS: u32 = 20;

/// Adds what is found in the comparisons of an expression.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let (tree, start) = (expr.tree(), found.len());
    let analysis = Analysis::new(tree, &unknown);
    for id in tree.first_of(expr.root())..=expr.root() {
        let finder = Finder { context, root: expr.root(), tree, analysis: &analysis };
        let one = match tree.view(id) {
            View::Compare { op, left, right } => finder.comparison(id, op, left, right),
            View::Logic { left, right, .. } => {
                [left, right].into_iter().find_map(|part| finder.condition(part).or_else(|| finder.order(part)))
            }
            View::Not(operand) => finder.condition(operand),
            View::Binary { op: BinaryOp::Divide, left, right } => {
                finder.quotient(id, left, right).or_else(|| finder.share(id, left, right))
            }
            View::Binary { op: BinaryOp::Multiply, left, right } => {
                finder.factor(left).or_else(|| finder.factor(right))
            }
            View::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, right } => {
                finder.moved(left, right).or_else(|| finder.moved(right, left))
            }
            _ => None,
        };
        // A part that has a finding of its type is explained.
        let Some(one) = one else { continue };
        let within = |known: &Diagnostic| one.span.start <= known.span.start && known.span.end <= one.span.end;
        if !found[..start]
            .iter()
            .any(|known| (known.code == one.code || known.code == "unseen-attribute") && within(known))
        {
            found.push(one);
        }
    }
    if context.role.condition {
        let finder = Finder { context, root: expr.root(), tree, analysis: &analysis };
        found.extend(finder.condition(expr.root()).or_else(|| finder.order(expr.root())));
    }
}

struct Finder<'a> {
    context: &'a LintContext<'a>,
    /// The whole expression.
    root: NodeId,
    tree: &'a Tree,
    analysis: &'a Analysis<'a>,
}

/// An attribute, or the age of one that is a time.
pub(super) struct Measured {
    pub(super) shown: String,
    pub(super) fact: &'static Fact,
    /// It is `time() - attribute`.
    pub(super) age: bool,
}

impl Finder<'_> {
    fn span(&self, id: NodeId) -> Option<Span> {
        self.tree.span(id)
    }

    /// The facts that are known about a reference, unless the ad that the expression is in defines it by itself.
    fn known(&self, reference: Reference) -> Option<&'static Fact> {
        fact(reference.name.folded()).filter(|_| !self.context.has_its_own(reference))
    }

    fn measured(&self, id: NodeId) -> Option<Measured> {
        let id = self.tree.bare(id);
        let shown = written(self.context.text, self.span(id)?);
        if let Some(reference) = self.tree.reference(id) {
            return Some(Measured { shown, fact: self.known(reference)?, age: false });
        }
        let View::Binary { op: BinaryOp::Subtract, left, right } = self.tree.view(id) else { return None };
        let fact = self.known(self.tree.reference(self.tree.bare(right))?)?;
        (fact.unit == Some("time") && self.is_now(left)).then_some(Measured { shown, fact, age: true })
    }

    /// The value of a part that is a constant.
    fn constant(&self, id: NodeId) -> Option<Value> {
        if id - self.tree.first_of(id) > MAX_PARTS || !self.tree.is_constant(id) {
            return None;
        }
        let value = self.analysis.values(id).single()?;
        let open = matches!(&value, Value::Str(text) if text.as_bytes().contains(&OPEN));
        (!open && !matches!(value, Value::Undefined | Value::Error)).then_some(value)
    }

    /// The unit of a product that calculates with 24 hours, and not with the seconds of an hour: `7 * 24 * 60` are minutes. With it the
    /// product in seconds.
    fn calendar_product(&self, id: NodeId) -> Option<(&'static str, String)> {
        let mut factors: Vec<i64> = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match *self.tree.node(id) {
                Node::Paren(inner) => open.push(inner),
                Node::Binary(BinaryOp::Multiply, left, right) => open.extend([right, left]),
                Node::Literal(Literal::Int(number)) if factors.len() < MAX_PARTS as usize => factors.push(number),
                _ => return None,
            }
        }
        let (unit, seconds) = unit_of_days(&factors)?;
        let text = written(self.context.text, self.span(self.tree.bare(id))?);
        Some((unit, format!("{text} * {seconds}")))
    }

    /// The finding about a time in seconds, and a part that is a number in another unit.
    fn other_unit(&self, seconds: NodeId, number: NodeId, unit: &str, product: &str) -> Option<Diagnostic> {
        let (shown, span) = (written(self.context.text, self.span(seconds)?), self.span(number)?);
        let message =
            format!("`{shown}` is in seconds, and `{}` is a number of {unit}", written(self.context.text, span));
        Some(Diagnostic::warning(message, span).help(format!("write `{product}`")).code("odd-unit"))
    }

    /// Tests whether a part is a time: the present one, or an attribute that is one.
    fn is_time(&self, id: NodeId) -> bool {
        let reference = self.tree.reference(self.tree.bare(id));
        self.is_now(id) || reference.and_then(|one| self.known(one)).is_some_and(|fact| fact.unit == Some("time"))
    }

    /// A time that is moved by minutes or hours: `QDate + 7 * 24 * 60`.
    fn moved(&self, time: NodeId, by: NodeId) -> Option<Diagnostic> {
        let (unit, seconds) = self.calendar_product(by)?;
        if self.is_time(time) { self.other_unit(time, by, unit, &seconds) } else { None }
    }

    /// An age, or an amount of seconds, beside a number of minutes or hours: `time() - QDate > 7 * 24 * 60`.
    fn minutes(&self, of: NodeId, number: NodeId) -> Option<Diagnostic> {
        let (unit, seconds) = self.calendar_product(number)?;
        let is_seconds = match self.measured(of) {
            Some(measured) => measured.age || measured.fact.unit == Some("seconds"),
            None => self.is_between_times(of),
        };
        if is_seconds { self.other_unit(of, number, unit, &seconds) } else { None }
    }

    /// Tests whether a part is the difference of two times.
    fn is_between_times(&self, id: NodeId) -> bool {
        let View::Binary { op: BinaryOp::Subtract, left, right } = self.tree.view(self.tree.bare(id)) else {
            return false;
        };
        self.is_time(left) && self.is_time(right)
    }

    /// `LoadAvg / Cpus < 50`: a share that is compared with a percentage.
    fn percentage(&self, op: BinaryOp, of: NodeId, number: NodeId, span: Span) -> Option<Diagnostic> {
        const LOADS: [&[u8]; 5] = [b"loadavg", b"condorloadavg", b"totalloadavg", b"totalcondorloadavg", b"cpususage"];
        const CPUS: [&[u8]; 6] =
            [b"cpus", b"totalcpus", b"totalslotcpus", b"detectedcpus", b"detectedcores", b"requestcpus"];
        let percent = number_of(&self.constant(number)?)?;
        let View::Binary { op: BinaryOp::Divide, left, right } = self.tree.view(self.tree.bare(of)) else {
            return None;
        };
        let (least, most) = (self.tree.first_of(left), left);
        // What multiplies by 100 is a percentage.
        let is_plain = (least..=most).all(|id| match *self.tree.node(id) {
            Node::Literal(Literal::Int(number)) => number == 1,
            Node::Literal(Literal::Real(number)) => number == 1.0,
            _ => true,
        });
        let is_of = |id: NodeId, names: &[&[u8]]| {
            let mut all = self.tree.references(id).peekable();
            all.peek().is_some() && all.all(|reference| names.contains(&reference.name.folded()))
        };
        let is_share = is_of(left, &LOADS) && is_of(right, &CPUS);
        if !is_order(op) || !is_plain || !is_share || !(10.0..=100.0).contains(&percent) {
            return None;
        }
        let share = written(self.context.text, self.span(of)?);
        let message =
            format!("`{share}` is a share, which is about 1 at most, and the number is probably a percentage");
        let help = format!("write `{}`", percent / 100.0);
        Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
    }

    fn comparison(&self, id: NodeId, op: BinaryOp, left: NodeId, right: NodeId) -> Option<Diagnostic> {
        let span = self.span(id)?;
        let of_calendar = self.minutes(left, right).or_else(|| self.minutes(right, left));
        let of_share = || self.percentage(op, left, right, span).or_else(|| self.percentage(op, right, left, span));
        if let Some(found) = of_calendar.or_else(of_share) {
            return Some(found);
        }
        let found = self.fraction(left, right, span).or_else(|| self.fraction(right, left, span));
        let found = found.or_else(|| self.units(left, right, span)).or_else(|| self.reversed(op, left, right, span));
        let of_call = || self.of_call(op, left, right, span).or_else(|| self.of_call(op, right, left, span));
        let found = found.or_else(of_call).or_else(|| self.no_request(op, left, right, span));
        let found = found.or_else(|| self.other_form(op, left, right, span));
        let found = found.or_else(|| self.above_total(op, left, right, span));
        let found = found.or_else(|| self.with_itself(op, left, right, span));
        if let Some(found) = found {
            return Some(found);
        }
        let pair = |of: NodeId, other: NodeId| Some((self.measured(of)?, self.constant(other)?, other));
        let (op, (measured, value, at)) = match (pair(left, right), pair(right, left)) {
            (Some(pair), _) => (op, pair),
            (None, Some(pair)) => (op.turned(), pair),
            _ => return None,
        };
        let text = written(self.context.text, self.span(at)?);
        // A number in a macro can be set differently.
        let place = self.span(at)?.range();
        let (whole, is_time_of_day) = (span.range(), measured.fact.unit == Some("minutes"));
        // A time of day that is compared within the macro is written there.
        let made = self.context.made.iter().any(|made| {
            let holds = is_time_of_day && made.start <= whole.start && whole.end <= made.end;
            made.start < place.end && place.start < made.end && !holds
        });
        let unit = if measured.age { Some("seconds") } else { measured.fact.unit };
        if let Some(found) =
            unit.filter(|_| !made).and_then(|unit| self.said_otherwise(&measured, op, &value, unit, span))
        {
            return Some(found);
        }
        if measured.age {
            return of_unit(&measured, op, &value, "seconds", span).filter(|_| !made);
        }
        of_type(&measured, op, &value, &text, span)
            .or_else(|| of_sign(&measured, op, &value, span))
            .or_else(|| of_fraction(&measured, op, &value, span))
            .or_else(|| of_values(&measured, op, &value, span))
            .or_else(|| of_range(&measured, op, &value, span))
            .or_else(|| of_unit(&measured, op, &value, measured.fact.unit.filter(|_| !made)?, span))
    }

    /// A part that is an attribute, times a constant, plus another one: the attribute and both constants.
    fn linear(&self, id: NodeId) -> Option<(Reference, f64, f64)> {
        /// Operators of a part.
        const MOST: usize = 8;
        let number = |id: NodeId| number_of(&self.constant(id)?);
        let (mut id, mut steps) = (self.tree.bare(id), Vec::new());
        let reference = loop {
            if let Some(reference) = self.tree.reference(id) {
                break reference;
            }
            let View::Binary { op, left, right } = self.tree.view(id) else { return None };
            let (part, step) = match (op, number(right)) {
                (BinaryOp::Add, Some(by)) => (left, (1.0, by)),
                (BinaryOp::Subtract, Some(by)) => (left, (1.0, -by)),
                (BinaryOp::Multiply, Some(by)) => (left, (by, 0.0)),
                (BinaryOp::Add, None) => (right, (1.0, number(left)?)),
                (BinaryOp::Subtract, None) => (right, (-1.0, number(left)?)),
                (BinaryOp::Multiply, None) => (right, (number(left)?, 0.0)),
                _ => return None,
            };
            steps.push(step);
            if steps.len() > MOST {
                return None;
            }
            id = self.tree.bare(part);
        };
        let (factor, sum) =
            steps.iter().rev().fold((1.0, 0.0), |(factor, sum), (by, more)| (factor * by, sum * by + more));
        Some((reference, factor, sum))
    }

    /// `RemoteUserPrio > RemoteUserPrio * 1.2`, `Owner == Owner`: one attribute on both sides, and the comparison decides alike for all of
    /// its values.
    fn with_itself(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let ((one, first, added), (two, second, more)) = (self.linear(left)?, self.linear(right)?);
        if one.name != two.name || one.scope != two.scope {
            return None;
        }
        let is_same = first == second && added == more;
        // The larger side of `<` is the right one.
        let sign = if matches!(op, BinaryOp::Less | BinaryOp::LessEqual) { -1.0 } else { 1.0 };
        let (factor, sum) = (sign * (first - second), sign * (added - more));
        let range = fact(one.name.folded()).and_then(|fact| fact.range);
        let bound = |end: i64| if matches!(end, i64::MIN | i64::MAX) { None } else { Some(end as f64) };
        let (low, high) = range.map_or((None, None), |(low, high)| (bound(low), bound(high)));
        // The most that the first side is above the second one.
        let most = if factor == 0.0 {
            sum
        } else {
            let at = if factor > 0.0 { high } else { low };
            at.map_or(f64::INFINITY, |at| factor * at + sum)
        };
        let is_never = match op {
            BinaryOp::Greater | BinaryOp::Less => most <= 0.0,
            BinaryOp::GreaterEqual | BinaryOp::LessEqual => most < 0.0,
            BinaryOp::NotEqual | BinaryOp::Isnt => is_same,
            _ => false,
        };
        let effect = if is_never {
            "never true"
        } else if is_same && matches!(op, BinaryOp::Equal | BinaryOp::Is) && one.scope != RefScope::My {
            "true for every value of it"
        } else {
            return None;
        };
        let name = written(self.context.text, self.span(right)?);
        let name = if is_same { name } else { one.name.to_string() };
        let message = format!("both sides are about `{name}`: this is {effect}");
        let help = "write another attribute on one side, or that of the other ad, `TARGET.…`";
        Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// Two names of which one always has an `@`, as `slot1@host` has, and the other one never.
    fn other_form(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let of = |id: NodeId| self.known(self.tree.reference(self.tree.bare(id))?);
        let (one, other) = (of(left)?, of(right)?);
        let always = match op {
            BinaryOp::Equal | BinaryOp::Is => "never true",
            BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
            _ => return None,
        };
        let (with, without) = match (one.sign?, other.sign?) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return None,
        };
        let message = format!("`{}` has an `@`, and `{}` has none: this is {always}", with.name, without.name);
        let help = if without.name == "Machine" {
            format!("compare `splitSlotName({})[1]`, which is the machine unless `STARTD_NAME` is set", with.name)
        } else {
            format!("compare `splitUserName({})[0]`", with.name)
        };
        Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// A number of which the words beside the expression say the amount in another unit: `> 90`, for "90 minutes".
    fn said_otherwise(
        &self,
        measured: &Measured,
        op: BinaryOp,
        value: &Value,
        unit: &str,
        span: Span,
    ) -> Option<Diagnostic> {
        let number = number_of(value).filter(|_| is_order(op))?;
        let (amount, product) = meant_amount(&(self.context.beside)(), number, unit)?;
        let message = format!("`{}` is in {unit}, and the text beside it says `{}`", measured.shown, amount.shown);
        Some(Diagnostic::warning(message, span).help(format!("write `{product}`")).code("odd-unit"))
    }

    /// An attribute that counts bytes, and the product of the constants that it is multiplied by.
    ///
    /// Beside them, true if there is more than one constant.
    fn sized(&self, id: NodeId) -> Option<(&'static Fact, f64, bool)> {
        let mut id = self.tree.bare(id);
        let number = |id: NodeId| number_of(&self.constant(id)?);
        let (mut product, mut factors) = (1.0, 0);
        loop {
            let (part, factor) = match self.tree.view(id) {
                View::Binary { op: BinaryOp::Multiply, left, right } => match number(right) {
                    Some(factor) => (left, factor),
                    None => (right, number(left)?),
                },
                View::Binary { op: BinaryOp::Divide, left, right } => (left, 1.0 / number(right)?),
                View::Reference(reference) => {
                    let fact = self.known(reference)?;
                    let is_size = matches!(fact.unit, Some("MiB" | "KiB")) && product > 0.0 && f64::is_finite(product);
                    return is_size.then_some((fact, product, factors > 1));
                }
                _ => return None,
            };
            (id, product, factors) = (self.tree.bare(part), product * factor, factors + 1);
        }
    }

    /// Tests if a factor of 1024, or of its square, is written in a part.
    fn writes_step(&self, id: NodeId) -> bool {
        let is_step = |id: NodeId| matches!(self.tree.node(id), Node::Literal(Literal::Int(1024 | 1_048_576)));
        (self.tree.first_of(id)..=id).any(is_step)
    }

    /// `ResidentSetSize > RequestMemory`: two attributes that count in different units, or in the same after one of them was
    /// converted.
    fn units(&self, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let ((one, first, of_several), (two, second, of_more)) = (self.sized(left)?, self.sized(right)?);
        let (one_unit, two_unit) = (one.unit?, two.unit?);
        let of = |unit: &str, factor: f64| if unit == "MiB" { factor / 1024.0 } else { factor };
        let ratio = of(one_unit, first) / of(two_unit, second);
        // A part of the other amount, or a multiple, is far from a factor of 1024.
        if (1.0 / 256.0..256.0).contains(&ratio) {
            return None;
        }
        if one_unit == two_unit {
            // Other factors may be meant: a thousandth of a disk.
            let is_step = |ratio: f64| ratio == 1024.0 || ratio == 1_048_576.0;
            let is_written = self.writes_step(left) != self.writes_step(right);
            if !is_step(ratio) && !is_step(1.0 / ratio) && !is_written {
                return None;
            }
            let message = format!("`{}` and `{}` are both in {one_unit}", one.name, two.name);
            let help = "compare them without a factor of 1024";
            return Some(Diagnostic::warning(message, span).help(help).code("odd-unit"));
        }
        // Of several factors it is not known which one is wrong.
        if of_several || of_more {
            return None;
        }
        let message = format!("`{}` is in {one_unit}, and `{}` is in {two_unit}", one.name, two.name);
        let small = if one_unit == "KiB" { left } else { right };
        let help = format!("write `{} / 1024`", written(self.context.text, self.span(small)?));
        Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
    }

    /// `QDate > time()` and `time() - QDate < 0`: a time that is over is not later than now.
    fn in_future(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let past = |id: NodeId| self.known(self.tree.reference(self.tree.bare(id))?).filter(|fact| fact.past);
        let zero = |id: NodeId| matches!(self.constant(id), Some(Value::Int(0)));
        let age = |id: NodeId| match self.tree.view(self.tree.bare(id)) {
            View::Binary { op: BinaryOp::Subtract, left, right } if self.is_now(left) => past(right),
            _ => None,
        };
        let fact = match op {
            BinaryOp::Greater if self.is_now(right) => past(left),
            BinaryOp::Less if self.is_now(left) => past(right),
            BinaryOp::Less if zero(right) => age(left),
            BinaryOp::Greater if zero(left) => age(right),
            _ => None,
        }?;
        let message = format!("`{}` is in the past: this is never true", fact.name);
        let help = format!("write `time() - {} > seconds` for an age", fact.name);
        Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// `time() < 18 * 3600`: seconds since 1970 are not those of a day, nor an age.
    fn of_now(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let (op, limit) = if self.is_now(left) { (op, right) } else { (op.turned(), left) };
        let now = if limit == right { left } else { right };
        let limit = match self.constant(limit).filter(|_| self.is_now(now))? {
            Value::Int(number) => number as f64,
            Value::Real(number) => number,
            _ => return None,
        };
        let effect = match op {
            BinaryOp::Greater | BinaryOp::GreaterEqual => "always true",
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Equal => "never true",
            _ => return None,
        };
        // Until 2001, the seconds have nine digits.
        let is_of_today = limit <= 0.0 || limit >= 1e9;
        let now = written(self.context.text, self.span(now)?);
        let message = format!("`{now}` is in seconds since 1970: this is {effect}");
        let help = format!("write `{now} - QDate` for the age of a job; `ClockMin` of a slot is the minute of the day");
        (!is_of_today).then(|| Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// `EnteredCurrentStatus - time() > 3600`: a time that is over is before now.
    fn reversed(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        if let Some(found) = self.in_future(op, left, right, span).or_else(|| self.of_now(op, left, right, span)) {
            return Some(found);
        }
        let (op, difference, limit) = match self.constant(right) {
            Some(limit) => (op, left, limit),
            None => (op.turned(), right, self.constant(left)?),
        };
        let View::Binary { op: BinaryOp::Subtract, left: time, right: now } =
            self.tree.view(self.tree.bare(difference))
        else {
            return None;
        };
        let fact = self.known(self.tree.reference(self.tree.bare(time))?).filter(|fact| fact.past)?;
        let is_positive =
            matches!(limit, Value::Int(number) if number > 0) || matches!(limit, Value::Real(number) if number > 0.0);
        let always = match op {
            BinaryOp::Greater | BinaryOp::GreaterEqual => "never true",
            BinaryOp::Less | BinaryOp::LessEqual => "always true",
            _ => return None,
        };
        let decides = is_positive && self.is_now(now);
        let (time, now) = (written(self.context.text, self.span(time)?), written(self.context.text, self.span(now)?));
        let message = format!("`{}` is in the past, so `{time} - {now}` is negative: this is {always}", fact.name);
        let help = format!("write `{now} - {time}`");
        decides.then(|| Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// `Cpus > TotalSlotCpus`: what is free of a slot is never more than what it has.
    fn above_total(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let (small, large) = match op {
            BinaryOp::Greater => (left, right),
            BinaryOp::Less => (right, left),
            _ => return None,
        };
        let of = |id: NodeId| self.tree.reference(self.tree.bare(id));
        let (part, whole) = (of(small)?, of(large)?);
        let (part_fact, whole_fact) = (self.known(part)?, self.known(whole)?);
        let names = (part.name.folded(), whole.name.folded());
        // The disk of a slot is measured again, and that of `TotalSlotDisk` is not. `Detected…` may be less: the configuration can set more.
        let is_free = matches!(names.0, b"cpus" | b"memory" | b"gpus") && names.1.starts_with(b"total");
        if part.scope != whole.scope || !is_free || !is_part(names) {
            return None;
        }
        let message = format!("`{}` is at most `{}`: this is never true", part_fact.name, whole_fact.name);
        let texts = (written(self.context.text, self.span(small)?), written(self.context.text, self.span(large)?));
        let help = format!("write `{} == {}` for a partitionable slot that nothing uses", texts.0, texts.1);
        Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
    }

    /// `substr(Owner, 0, 4) == "pilot"` and `toLower(Owner) =?= "Alice"`: a text that a function never gives.
    fn of_call(&self, op: BinaryOp, call: NodeId, other: NodeId, span: Span) -> Option<Diagnostic> {
        let View::Call { name, arguments } = self.tree.view(self.tree.bare(call)) else { return None };
        let Some(Value::Str(text)) = self.constant(other) else { return None };
        let text = text.to_string();
        let identical = matches!(op, BinaryOp::Is | BinaryOp::Isnt);
        let always = match op {
            BinaryOp::Equal | BinaryOp::Is => "never true",
            BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
            _ => return None,
        };
        let shown = written(self.context.text, self.span(call)?);
        let (what, help) = match name.folded() {
            b"substr" => {
                let Some(Value::Int(most)) = self.constant(*arguments.get(2)?) else { return None };
                let letters = text.chars().count();
                let is_longer = usize::try_from(most).is_ok_and(|most| letters > most);
                let what = format!("`{shown}` has at most {most} letters, and `{text}` has {letters}");
                is_longer.then(|| (what, format!("write `{letters}` as its length")))?
            }
            b"tolower" if identical && text.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                (format!("`{shown}` has no capitals"), format!("write `\"{}\"`", text.to_lowercase()))
            }
            b"toupper" if identical && text.bytes().any(|byte| byte.is_ascii_lowercase()) => {
                (format!("`{shown}` has capitals only"), format!("write `\"{}\"`", text.to_uppercase()))
            }
            _ => return None,
        };
        Some(Diagnostic::warning(format!("{what}: this is {always}"), span).help(help).code("impossible-value"))
    }

    /// `RequestGPUs == 0`, which no job satisfies: jobs that ask for no GPU do not have the attribute.
    fn no_request(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let (op, of, limit) = match self.constant(right) {
            Some(limit) => (op, left, limit),
            None => (op.turned(), right, self.constant(left)?),
        };
        let name = self.tree.reference(self.tree.bare(of))?.name;
        let count = self.tree.references(self.root).filter(|one| one.name.folded() == b"requestgpus").count();
        let is_none = match (op, number_of(&limit)?) {
            (BinaryOp::Equal | BinaryOp::Is | BinaryOp::LessEqual, 0.0) => true,
            (BinaryOp::Less, most) => most > 0.0 && most <= 1.0,
            _ => false,
        };
        if name.folded() != b"requestgpus" || count > 1 || !is_none || self.context.role.mine == Seen::Job {
            return None;
        }
        let shown = written(self.context.text, self.span(of)?);
        let message = format!("jobs that ask for no GPU do not have `{name}`, so this is UNDEFINED for them");
        let help = format!("write `({shown} ?: 0) == 0`");
        Some(Diagnostic::warning(message, span).help(help).code("undefined-means-no"))
    }

    /// Tests whether a part is the current time.
    fn is_now(&self, id: NodeId) -> bool {
        match self.tree.view(self.tree.bare(id)) {
            View::Call { name, .. } => name.folded() == b"time",
            View::Reference(reference) => {
                matches!(reference.name.folded(), b"currenttime" | b"mycurrenttime" | b"servertime")
            }
            _ => false,
        }
    }

    /// The order of two texts as a condition: `strcmp(…) && …`.
    fn order(&self, id: NodeId) -> Option<Diagnostic> {
        let View::Call { name, .. } = self.tree.view(self.tree.bare(id)) else { return None };
        let same = match name.folded() {
            b"strcmp" => "a =?= b",
            b"stricmp" => "a == b",
            b"versioncmp" => "versionEQ(a, b)",
            _ => return None,
        };
        let span = self.span(id)?;
        let message = format!("`{}` is 0, which is false, if both are the same", written(self.context.text, span));
        let help = format!("compare it with 0, or write `{same}`");
        Some(Diagnostic::warning(message, span).help(help).code("bad-argument"))
    }

    /// A string as a condition: `TARGET.Arch && …`.
    fn condition(&self, id: NodeId) -> Option<Diagnostic> {
        let reference = self.tree.reference(self.tree.bare(id))?;
        let fact = self.known(reference).filter(|fact| fact.kind == Some(Kind::String))?;
        let span = self.span(id)?;
        let help = format!("write a comparison, `{} == \"…\"`", written(self.context.text, span));
        Some(string_as_condition(fact.name, span).help(help))
    }

    /// Tests if a value is an integer: an attribute, a constant, the time, or what is calculated from them.
    fn is_integer(&self, id: NodeId) -> bool {
        let id = self.tree.bare(id);
        if let Some(reference) = self.tree.reference(id) {
            return self.known(reference).is_some_and(|fact| fact.kind == Some(Kind::Integer));
        }
        match self.tree.view(id) {
            View::Binary { op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, left, right } => {
                self.is_integer(left) && self.is_integer(right)
            }
            View::Call { name, arguments } => name.folded() == b"time" && arguments.is_empty(),
            _ => matches!(self.constant(id), Some(Value::Int(_))),
        }
    }

    /// `RequestMemory / Memory > 0.5`, `(time() - QDate) / 3600 > 0.5`
    fn fraction(&self, of: NodeId, other: NodeId, span: Span) -> Option<Diagnostic> {
        let View::Binary { op: BinaryOp::Divide, left, right } = self.tree.view(self.tree.bare(of)) else {
            return None;
        };
        let Some(Value::Real(value)) = self.constant(other) else { return None };
        let is_constant = self.constant(left).is_some() && self.constant(right).is_some();
        let are_integers = self.is_integer(left) && self.is_integer(right);
        if value.fract() == 0.0 || value.abs() >= 10.0 || is_constant || !are_integers {
            return None;
        }
        let quotient = written(self.context.text, self.span(of)?);
        let message = format!("`{quotient}` is a quotient of integers, which has no fraction");
        let help = format!("write `real({}) / …`", written(self.context.text, self.span(left)?));
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }

    /// `RequestCpus / Cpus` as a value: 0 for all jobs that are smaller than the slot.
    fn share(&self, id: NodeId, left: NodeId, right: NodeId) -> Option<Diagnostic> {
        let name = |id: NodeId| Some(self.tree.reference(self.tree.bare(id))?.name);
        let (one, two) = (name(left)?, name(right)?);
        if !self.is_term(id) || !is_part((one.folded(), two.folded())) {
            return None;
        }
        let span = self.span(id)?;
        let message = format!("`{}` is 0 for every smaller job: it has no fraction", written(self.context.text, span));
        let help = format!("write `real({}) / …`", written(self.context.text, self.span(left)?));
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }

    /// `1 / Cpus` as a value: 0 for all slots with more than one core.
    fn inverse(&self, id: NodeId, number: i64, right: NodeId) -> Option<Diagnostic> {
        let fact = self.known(self.tree.reference(self.tree.bare(right))?)?;
        let most = match fact.name {
            // No slot has less.
            "Disk" | "Memory" | "TotalDisk" | "TotalMemory" | "TotalSlotDisk" | "TotalSlotMemory" => 100,
            name if is_cores(name) => 1,
            _ => return None,
        };
        let span = self.span(id).filter(|_| (1..=most).contains(&number) && self.is_term(id))?;
        let (shown, divisor) = (written(self.context.text, span), written(self.context.text, self.span(right)?));
        let message =
            format!("`{shown}` is 0 where `{divisor}` is above {number}: a quotient of integers has no fraction");
        let help = format!("write `{number}.0 / {divisor}`");
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }

    /// Tests whether a part is a term of the whole expression: of a sum, or of a product.
    fn is_term(&self, part: NodeId) -> bool {
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            let id = self.tree.bare(id);
            if id == part {
                return true;
            }
            if let View::Binary { op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, left, right } =
                self.tree.view(id)
            {
                open.extend([left, right]);
            }
        }
        false
    }

    /// `(3 / 2) * RequestMemory`
    fn factor(&self, id: NodeId) -> Option<Diagnostic> {
        // Without parentheses, a whole part may be meant: `7 / 2 * Cpus`.
        let Node::Paren(inner) = *self.tree.node(id) else { return None };
        let View::Binary { op: BinaryOp::Divide, left, right } = self.tree.view(self.tree.bare(inner)) else {
            return None;
        };
        let (Some(Value::Int(one)), Some(Value::Int(two))) = (self.constant(left), self.constant(right)) else {
            return None;
        };
        // Less than 1 is reported as 0.
        let span = self.span(self.tree.bare(id)).filter(|_| two > 0 && one > two && one % two != 0)?;
        let quotient = written(self.context.text, span);
        let message = format!("`{quotient}` is {}: a quotient of integers has no fraction", one / two);
        Some(Diagnostic::warning(message, span).help(format!("write `{one}.0 / {two}`")).code("integer-division"))
    }

    /// `1 / 2`
    fn quotient(&self, id: NodeId, left: NodeId, right: NodeId) -> Option<Diagnostic> {
        let Some(Value::Int(one)) = self.constant(left) else { return None };
        let Some(Value::Int(two)) = self.constant(right) else { return self.inverse(id, one, right) };
        let span = self.span(id).filter(|_| one != 0 && one.unsigned_abs() < two.unsigned_abs())?;
        let message = format!("`{}` is 0: a quotient of integers has no fraction", written(self.context.text, span));
        let help = format!("write `{one}.0 / {two}`");
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }
}

/// Tests whether an attribute counts cores, of which there is one at least.
fn is_cores(name: &str) -> bool {
    ["Cpus", "DetectedCores", "DetectedCpus", "RequestCpus", "TotalCpus", "TotalSlotCpus"].contains(&name)
}

/// Tests whether the first of two attributes (lower case) is at most the second one: the request of what a slot has, or what a slot has
/// of its machine.
fn is_part((one, whole): (&[u8], &[u8])) -> bool {
    let of = |name: &[u8]| {
        [b"total".as_slice(), b"totalslot", b"detected"].iter().any(|front| whole.strip_prefix(*front) == Some(name))
    };
    let Some(own) = requested(one) else { return matches!(one, b"cpus" | b"memory" | b"disk" | b"gpus") && of(one) };
    own == whole || of(own)
}
