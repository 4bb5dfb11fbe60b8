//! Comparisons of known attributes with constants: of another type, in another unit, or with a value that they never
//! have; and quotients of integers that lose their fraction.

use super::attributes::{Fact, Kind, fact};
use super::expression::{LintContext, written};
use super::scope::Seen;
use super::units::meant_amount;
use classmate::internal::analysis::compare::compare;
use classmate::internal::analysis::evaluate::{Analysis, OPEN, unknown};
use classmate::internal::analysis::values::{Truths, Values};
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{Diagnostic, Expr, Name, Span, Value};
use classmate_config::internal::config::check::unit_of_days;

/// Parts of a constant that are computed.
const MAX_PARTS: u32 = 20;

/// Numbers of minutes, hours or days that people write, improbable as seconds.
const OTHER_TIMES: [f64; 7] = [7.0, 12.0, 15.0, 24.0, 36.0, 48.0, 72.0];

/// More of them, improbable for an attribute that counts seconds: a state may be so old, a keyboard is not idle after so short a time.
const SHORT_TIMES: [f64; 4] = [10.0, 20.0, 30.0, 45.0];

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
struct Measured {
    shown: String,
    fact: &'static Fact,
    /// It is `time() - attribute`.
    age: bool,
}

impl Finder<'_> {
    fn span(&self, id: NodeId) -> Option<Span> {
        self.tree.span(id)
    }

    /// The facts that are known about a reference, unless the ad that the expression is in defines it by itself.
    fn known(&self, reference: Reference) -> Option<&'static Fact> {
        let ours = reference.scope != RefScope::Target && (self.context.defined)(reference.name);
        fact(reference.name.folded()).filter(|_| !ours)
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
        let first = self.tree.first_of(id);
        let plain = |id: NodeId| {
            let node = self.tree.node(id);
            matches!(node, Node::Literal(_) | Node::Paren(_) | Node::Unary(..) | Node::Binary(..))
        };
        if id - first > MAX_PARTS || !(first..=id).all(plain) {
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

    /// An attribute that counts bytes, and the constant that it is multiplied by.
    fn sized(&self, id: NodeId) -> Option<(&'static Fact, f64)> {
        let id = self.tree.bare(id);
        let of = |id: NodeId| self.known(self.tree.reference(self.tree.bare(id))?);
        let number = |id: NodeId| number_of(&self.constant(id)?);
        let (fact, factor) = match self.tree.view(id) {
            View::Binary { op: BinaryOp::Multiply, left, right } => match number(right) {
                Some(factor) => (of(left)?, factor),
                None => (of(right)?, number(left)?),
            },
            View::Binary { op: BinaryOp::Divide, left, right } => (of(left)?, 1.0 / number(right)?),
            View::Reference(_) => (of(id)?, 1.0),
            _ => return None,
        };
        (matches!(fact.unit, Some("MiB" | "KiB")) && factor > 0.0).then_some((fact, factor))
    }

    /// `ResidentSetSize > RequestMemory`: two attributes that count in different units, or in the same after one of them was
    /// converted.
    fn units(&self, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
        let ((one, first), (two, second)) = (self.sized(left)?, self.sized(right)?);
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
            if !is_step(ratio) && !is_step(1.0 / ratio) {
                return None;
            }
            let message = format!("`{}` and `{}` are both in {one_unit}", one.name, two.name);
            let help = "compare them without a factor of 1024";
            return Some(Diagnostic::warning(message, span).help(help).code("odd-unit"));
        }
        let message = format!("`{}` is in {one_unit}, and `{}` is in {two_unit}", one.name, two.name);
        let small = if one_unit == "KiB" { left } else { right };
        let help = format!("write `{} / 1024`", written(self.context.text, self.span(small)?));
        Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
    }

    /// `EnteredCurrentStatus - time() > 3600`: a time that is over is before now.
    fn reversed(&self, op: BinaryOp, left: NodeId, right: NodeId, span: Span) -> Option<Diagnostic> {
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
        let exceeds = matches!(op, BinaryOp::Greater | BinaryOp::GreaterEqual) && is_positive && self.is_now(now);
        let (time, now) = (written(self.context.text, self.span(time)?), written(self.context.text, self.span(now)?));
        let message = format!("`{}` is in the past, so `{time} - {now}` is negative: this is never true", fact.name);
        let help = format!("write `{now} - {time}`");
        exceeds.then(|| Diagnostic::warning(message, span).help(help).code("impossible-value"))
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
        let message = format!("`{}` is a string: as a condition it is ERROR", fact.name);
        let help = format!("write a comparison, `{} == \"…\"`", written(self.context.text, span));
        Some(Diagnostic::warning(message, span).help(help).code("type-clash"))
    }

    /// `RequestMemory / Memory > 0.5`
    fn fraction(&self, of: NodeId, other: NodeId, span: Span) -> Option<Diagnostic> {
        let View::Binary { op: BinaryOp::Divide, left, right } = self.tree.view(self.tree.bare(of)) else {
            return None;
        };
        let Some(Value::Real(value)) = self.constant(other) else { return None };
        let is_integer = |id: NodeId| {
            let reference = self.tree.reference(self.tree.bare(id));
            reference.and_then(|one| self.known(one)).is_some_and(|fact| fact.kind == Some(Kind::Integer))
        };
        if value.fract() == 0.0 || value.abs() >= 1.0 || !is_integer(left) || !is_integer(right) {
            return None;
        }
        let quotient = written(self.context.text, self.span(of)?);
        let message = format!("`{quotient}` is a quotient of integers, which has no fraction");
        let help = format!("write `real({}) / …`", written(self.context.text, self.span(left)?));
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }

    /// `RequestCpus / Cpus` as the value of a whole expression: 0 for all jobs that are smaller than the slot.
    fn share(&self, id: NodeId, left: NodeId, right: NodeId) -> Option<Diagnostic> {
        let name = |id: NodeId| Some(self.tree.reference(self.tree.bare(id))?.name);
        let (one, two) = (name(left)?, name(right)?);
        let is_whole = id == self.tree.bare(self.root);
        if !is_whole || requested(one.folded()) != Some(two.folded()) {
            return None;
        }
        let span = self.span(id)?;
        let message = format!("`{}` is 0 for every smaller job: it has no fraction", written(self.context.text, span));
        let help = format!("write `real({}) / …`", written(self.context.text, self.span(left)?));
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
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
        let (Some(Value::Int(one)), Some(Value::Int(two))) = (self.constant(left), self.constant(right)) else {
            return None;
        };
        let span = self.span(id).filter(|_| one != 0 && one.unsigned_abs() < two.unsigned_abs())?;
        let message = format!("`{}` is 0: a quotient of integers has no fraction", written(self.context.text, span));
        let help = format!("write `{one}.0 / {two}`");
        Some(Diagnostic::warning(message, span).help(help).code("integer-division"))
    }
}

/// The attribute of a slot that a request, lower case, is at most.
fn requested(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"request").filter(|resource| [&b"cpus"[..], b"memory", b"disk"].contains(resource))
}

/// The effect of a comparison between two types.
fn effect(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Is => "is always false",
        BinaryOp::Isnt => "is always true",
        _ => "is ERROR",
    }
}

/// A value of another type than the attribute.
fn of_type(measured: &Measured, op: BinaryOp, value: &Value, text: &str, span: Span) -> Option<Diagnostic> {
    let (fact, identity) = (measured.fact, matches!(op, BinaryOp::Is | BinaryOp::Isnt));
    let clash = match (fact.kind?, value) {
        (Kind::String, Value::Int(_) | Value::Real(_) | Value::Bool(_)) => true,
        (Kind::Integer | Kind::Number | Kind::Boolean, Value::Str(_)) => true,
        // A boolean counts as 0 or 1, which some numbers are.
        (Kind::Integer | Kind::Number, Value::Bool(_)) => identity || fact.range.is_none_or(|range| range != (0, 1)),
        (Kind::Boolean, Value::Int(_) | Value::Real(_)) => identity,
        (Kind::Integer, Value::Real(_)) => identity,
        _ => false,
    };
    if !clash {
        return None;
    }
    let (shown, a) = (&measured.shown, fact.kind.map_or("", Kind::with_article));
    let message = match value {
        Value::Bool(truth) if fact.kind != Some(Kind::String) && !identity => {
            format!("`{shown}` is {a}, and `{text}` counts as {}", u8::from(*truth))
        }
        _ => format!("`{shown}` is {a}: its comparison with `{text}` {}", effect(op)),
    };
    let symbol = op.symbol();
    let meant = match value {
        Value::Str(word) => meant(fact, &word.to_string()),
        Value::Int(_) | Value::Real(_) if fact.kind == Some(Kind::String) => Some(format!("\"{text}\"")),
        Value::Real(value) if value.fract() == 0.0 => Some(format!("{value}")),
        _ => None,
    };
    let finding = Diagnostic::warning(message, span).code("type-clash");
    Some(match meant {
        Some(meant) if fact.kind == Some(Kind::Boolean) && matches!(op, BinaryOp::Equal) => {
            finding.help(format!("write `{shown}`, or `{shown} {symbol} {meant}`"))
        }
        Some(meant) => finding.help(format!("write `{shown} {symbol} {meant}`")),
        None => finding.help(format!("compare it with {a}")),
    })
}

/// The value that a string for an attribute of another type means.
fn meant(fact: &Fact, word: &str) -> Option<String> {
    let word = word.trim();
    if let Some(code) = fact.code_of(word) {
        return Some(code.to_owned());
    }
    if fact.kind == Some(Kind::Boolean) {
        let truth = ["true", "yes", "1", "t"].iter().any(|known| word.eq_ignore_ascii_case(known));
        return Some(truth.to_string());
    }
    let digits = word.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = (&word[..digits], word[digits..].trim());
    if digits == 0 || number.parse::<f64>().is_err() {
        return None;
    }
    if unit.is_empty() {
        return Some(number.to_owned());
    }
    let power = |letter: u8| b"kmgt".iter().position(|known| *known == letter.to_ascii_lowercase());
    let base = power(*fact.unit?.as_bytes().first()?)?;
    let steps = power(unit.bytes().next()?)?.checked_sub(base)?;
    Some(format!("{number}{}", " * 1024".repeat(steps)))
}

/// A name with a domain, or without one, that the attribute never is: `Owner == "alice@example.org"`.
fn of_sign(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let (Value::Str(text), Some(always)) = (value, measured.fact.sign) else { return None };
    let effect = match op {
        BinaryOp::Equal | BinaryOp::Is => "never true",
        BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
        _ => return None,
    };
    let text = text.to_string();
    let is_pattern = text.is_empty() || text.contains(['*', ',', ' ']);
    if text.contains('@') == always || is_pattern {
        return None;
    }
    let (has, help) = if always {
        ("always has a domain, `name@domain`", format!("compare `Owner`, or write `\"{text}@domain\"`"))
    } else {
        ("has no domain", format!("compare `User`, or write `\"{}\"`", text.split('@').next().unwrap_or_default()))
    };
    let message = format!("`{}` {has}: this is {effect}", measured.fact.name);
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

/// A fraction that an integer is compared with for equality.
fn of_fraction(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let is_fraction = matches!(value, Value::Real(number) if number.fract() != 0.0);
    if !is_fraction || measured.fact.kind != Some(Kind::Integer) || op != BinaryOp::Equal {
        return None;
    }
    let message = format!("`{}` is an integer: this is never true", measured.fact.name);
    Some(Diagnostic::warning(message, span).help("compare it with an integer").code("impossible-value"))
}

/// A string that the attribute never is.
fn of_values(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let (fact, Value::Str(text)) = (measured.fact, value) else { return None };
    let text = text.to_string();
    let always = match op {
        BinaryOp::Equal | BinaryOp::Is => "never true",
        BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
        _ if fact.name == "OpSysAndVer" => {
            let message = "`OpSysAndVer` is a text, so `AlmaLinux10` is before `AlmaLinux9`".to_owned();
            let help = "compare `OpSysMajorVer` with a number, and `OpSysName`";
            return Some(Diagnostic::warning(message, span).help(help).code("impossible-value"));
        }
        _ => return None,
    };
    if let Some((message, help)) = other_form(fact.name, &text) {
        let message = format!("{message}: this is {always}");
        return Some(Diagnostic::warning(message, span).help(help).code("impossible-value"));
    }
    let alike = fact.values.iter().find(|known| known.eq_ignore_ascii_case(&text));
    let shown = &measured.shown;
    let (message, help) = match alike {
        Some(known) if *known == text || !matches!(op, BinaryOp::Is | BinaryOp::Isnt) => return None,
        Some(known) => {
            let equal = if op == BinaryOp::Is { "==" } else { "!=" };
            let message =
                format!("`{}` distinguishes case, and `{}` is `{known}`: this is {always}", op.symbol(), fact.name);
            (message, format!("write `{shown} {} \"{known}\"`, or `{equal}`", op.symbol()))
        }
        None if fact.name == "OpSysAndVer" && text.contains(' ') => {
            let help = format!("write `{shown} {} \"{}\"`", op.symbol(), text.replace(' ', ""));
            (format!("`OpSysAndVer` has no blanks, as in `AlmaLinux9`: this is {always}"), help)
        }
        None if !fact.closed || text.is_empty() => {
            let help = format!("write `{shown} {} \"{}\"`", op.symbol(), misspelled_system(fact, &text)?);
            (format!("`{}` is never `{text}`: this is {always}", fact.name), help)
        }
        // The usual way to refer to an attribute, so that `condor_submit` adds no condition on it.
        None if always == "always true" && text.eq_ignore_ascii_case("dummy") => return None,
        None => {
            let help = fact.spelled(&text).map_or_else(
                || format!("it is one of {}", list(&fact.values)),
                |known| format!("write `{shown} {} \"{known}\"`", op.symbol()),
            );
            (format!("`{}` is never `{text}`: this is {always}", fact.name), help)
        }
    };
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

/// A text in a form that the values of an attribute never have, and the form that they have.
fn other_form(name: &str, text: &str) -> Option<(String, String)> {
    match name {
        "OpSysName" if text.contains([' ', '9', '8', '7']) && !text.starts_with("Windows") => {
            let plain = text.trim_end_matches(|sign: char| sign.is_ascii_digit() || " .".contains(sign));
            let message = format!("`OpSysName` has no release, and `{text}` has one");
            (plain.len() < text.len()).then(|| (message, format!("write `\"{plain}\"`, and compare `OpSysMajorVer`")))
        }
        "Microarch" => {
            let rest = text.get(..6).filter(|start| start.eq_ignore_ascii_case("x86_64") || *start == "x86-64");
            let level = text.bytes().last().filter(u8::is_ascii_digit)?;
            let meant = format!("x86_64-v{}", char::from(level));
            let message = format!("`Microarch` is never `{text}`");
            (rest.is_some() && !text.eq_ignore_ascii_case(&meant) && text.len() > 6)
                .then(|| (message, format!("write `\"{meant}\"`")))
        }
        _ => None,
    }
}

/// The value of `OpSysAndVer`, a name and a release, that one with a slip in the name means: `AlmaLinux9` for `AlmaLinx9`.
fn misspelled_system(fact: &Fact, text: &str) -> Option<String> {
    const MORE: [&str; 3] = ["Fedora", "RedHat", "openSUSE"];
    if fact.name != "OpSysAndVer" {
        return None;
    }
    let end = text.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, release) = text.split_at(end);
    let names = fact.values.iter().map(|value| value.trim_end_matches(|sign: char| sign.is_ascii_digit())).chain(MORE);
    let is_slip = |known: &&str| {
        !known.eq_ignore_ascii_case(name) && near::distance(name.as_bytes(), known.as_bytes(), 1).is_some()
    };
    let is_release = !release.is_empty() && release.bytes().all(|byte| byte.is_ascii_digit());
    let is_known = names.clone().any(|known| known.eq_ignore_ascii_case(name));
    let meant = names.filter(|_| name.len() >= 5 && is_release && !is_known).find(is_slip)?;
    Some(format!("{meant}{release}"))
}

/// Names in a row, at most six.
pub(super) fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 6 { " and others" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A number that no value of the attribute satisfies.
fn of_range(measured: &Measured, op: BinaryOp, value: &Value, span: Span) -> Option<Diagnostic> {
    let is_number = matches!(value, Value::Int(_) | Value::Real(_));
    // A boolean is 0 or 1 beside a number.
    let truths = (measured.fact.kind == Some(Kind::Boolean)).then_some((0, 1));
    let (low, high) = measured.fact.range.or(truths).filter(|_| is_number)?;
    let (op, always) = match op {
        BinaryOp::Is => (BinaryOp::Equal, "never true"),
        // -1 often stands for no value.
        BinaryOp::NotEqual | BinaryOp::Isnt if matches!(value, Value::Int(-1)) => return None,
        // Every value differs from one that there is not, and a missing one is UNDEFINED.
        BinaryOp::NotEqual => (BinaryOp::Equal, "never false"),
        BinaryOp::Isnt => (BinaryOp::Equal, "always true"),
        op => (op, "never true"),
    };
    let range = Values { ints: Some((low, high)), reals: Some((low as f64, high as f64)), ..Values::none() };
    if compare(op, &range, &Values::value(value)).has(Truths::TRUE) {
        return None;
    }
    let bounds = if high == i64::MAX { format!("at least {low}") } else { format!("from {low} to {high}") };
    let message = format!("`{}` is {bounds}: this is {always}", measured.fact.name);
    Some(Diagnostic::warning(message, span).help("compare it with a value that it can have").code("impossible-value"))
}

/// The number of a value that is one.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        _ => None,
    }
}

/// Tests whether a comparison is one of order.
fn is_order(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt | BinaryOp::Equal | BinaryOp::Is)
}

/// A number that is probably in another unit than the attribute.
fn of_unit(measured: &Measured, op: BinaryOp, value: &Value, unit: &str, span: Span) -> Option<Diagnostic> {
    let (value, ordered) = (number_of(value)?, is_order(op));
    let least = matches!(op, BinaryOp::Greater | BinaryOp::GreaterEqual);
    let (is, looks) = match unit {
        "MiB" | "KiB" if ordered => {
            let of_use = || used_size(measured.fact.name, unit, value);
            (format!("is in {unit}"), wrong_size(unit, value).or_else(of_use)?)
        }
        "seconds" if least && (OTHER_TIMES.contains(&value) || !measured.age && SHORT_TIMES.contains(&value)) => {
            ("is in seconds".into(), "minutes, hours or days")
        }
        // Too short for an age of jobs that matters.
        "seconds" if least && measured.shown.contains("QDate") && value == 30.0 => ("is in seconds".into(), "days"),
        "seconds" if measured.age && ordered && value >= 86_400_000.0 => ("is in seconds".into(), "milliseconds"),
        "minutes" if ordered && (2.0..=24.0).contains(&value) => ("counts minutes since midnight".into(), "hours"),
        "hundredths" if (1.0..100.0).contains(&value) => ("is 100 times a release".into(), "the release"),
        "time" if ordered && value >= 1e11 => ("is in seconds since 1970".into(), "milliseconds"),
        "time" if ordered && (2.0..1e8).contains(&value) => ("is in seconds since 1970".into(), "an age"),
        _ => return None,
    };
    let message = format!("`{}` {is}, and the number is probably {looks}", measured.shown);
    let help = match (unit, looks) {
        ("MiB", "GiB") => format!("write `{value} * 1024`"),
        ("hundredths", _) => {
            let major = measured.shown.replace("OpSysVer", "OpSysMajorVer");
            format!("write `{}`, or compare `{major}`", value * 100.0)
        }
        ("KiB", _) if value < 1e6 => format!("write `{value} * 1024` for MiB, `{value} * 1024 * 1024` for GiB"),
        ("seconds", "milliseconds") => format!("write {}", value / 1000.0),
        ("seconds", _) => format!("write `{value} * 60` for minutes, `{value} * 3600` for hours"),
        ("minutes", _) => format!("write `{value} * 60`"),
        ("time", "an age") => format!("write `time() - {}` for the age", measured.shown),
        _ => format!("write the number in {}", if unit == "time" { "seconds" } else { unit }),
    };
    Some(Diagnostic::warning(message, span).help(help).code("odd-unit"))
}

/// The unit that a number of MiB or KiB is probably in; `None` if it is plausible.
pub(super) fn wrong_size(unit: &str, value: f64) -> Option<&'static str> {
    match unit {
        "MiB" if (4.0..=64.0).contains(&value) && value % 4.0 == 0.0 => Some("GiB"),
        "MiB" if value >= 4_194_304.0 => Some("KiB or bytes"),
        "KiB" if (8.0..=1024.0).contains(&value) && (value % 10.0 == 0.0 || value % 8.0 == 0.0) => Some("MiB or GiB"),
        "KiB" if value >= 1e12 => Some("bytes"),
        _ => None,
    }
}

/// The unit that a limit of what a job uses is probably in: no job uses so little, or so much.
fn used_size(name: &str, unit: &str, value: f64) -> Option<&'static str> {
    const USED: [&str; 5] = ["DiskUsage", "ImageSize", "MemoryUsage", "ProportionalSetSizeKb", "ResidentSetSize"];
    let is_round = value % 1000.0 == 0.0 || value % 1024.0 == 0.0;
    match unit {
        _ if !USED.contains(&name) => None,
        "KiB" if is_round && (1000.0..=65_536.0).contains(&value) => Some("MiB or GiB"),
        "MiB" if value >= 1_048_576.0 => Some("KiB or bytes"),
        _ => None,
    }
}

/// The diagnostic of a known attribute that an ad sets to a constant that it never has.
pub(super) fn assigned(name: Name, literal: &Literal, text: &str, span: Span) -> Option<Diagnostic> {
    let fact = fact(name.folded())?;
    let value = match literal {
        Literal::Int(value) => Value::Int(*value),
        Literal::Real(value) => Value::Real(*value),
        Literal::Str(value) => Value::Str(value.clone()),
        Literal::Bool(value) => Value::Bool(*value),
        _ => return None,
    };
    let clash = match (fact.kind, &value) {
        (Some(Kind::String), Value::Int(_) | Value::Real(_) | Value::Bool(_)) => true,
        (Some(Kind::Integer | Kind::Number | Kind::Boolean), Value::Str(_)) => true,
        _ => fact.expression && matches!(value, Value::Str(_)),
    };
    if clash {
        let a = if fact.expression { "an expression" } else { fact.kind.map_or("", Kind::with_article) };
        let message = format!("`{}` is {a}, and `{text}` is not", fact.name);
        let help = match &value {
            Value::Str(word) if fact.expression => format!("write `{word}` without quotes"),
            Value::Str(word) => {
                meant(fact, &word.to_string()).map_or_else(|| format!("write {a}"), |meant| format!("write `{meant}`"))
            }
            _ => format!("write `\"{text}\"`"),
        };
        return Some(Diagnostic::warning(message, span).help(help).code("type-clash"));
    }
    let measured = Measured { shown: fact.name.to_owned(), fact, age: false };
    let found = of_values(&measured, BinaryOp::Equal, &value, span);
    let mut found = found.or_else(|| of_range(&measured, BinaryOp::Equal, &value, span))?;
    found.message = found.message.rsplit_once(": this is").map_or(found.message.clone(), |(what, _)| what.to_owned());
    Some(found)
}
