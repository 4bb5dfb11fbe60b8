//! Expression to text, in the forms of `docs/reference/classad-language.md` 8.
//!
//! Nothing recurses: what is still to be written waits on a stack, so a chain of a million operators prints.

use std::fmt;

use smallvec::SmallVec;

use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::number::{write_real, write_real_plain, write_real_short};
use crate::syntax::quote::{write_quoted, write_quoted_old, write_quoted_plain};
use crate::syntax::time::{write_abs, write_rel};

/// The form in which expressions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// Canonical new syntax on one line (`docs/reference/classad-language.md` 8.1–8.3).
    #[default]
    New,
    /// Old syntax, the right-hand sides of the long format (`docs/reference/classad-language.md` 8.5).
    Old,
    /// New syntax with lists and ads over several lines (`docs/reference/classad-language.md` 8.6).
    Pretty,
    /// Syntax inside sentences, written by `{:#}`: reals with as few digits as tell them apart, no second blank before an
    /// operator with one operand, and strings as configurations, submit files and ads in long format have them: a
    /// backslash is one. There it reads back as the same expression, unless a string has control characters.
    Plain,
    /// As [`Style::Plain`], with strings of new syntax. It reads back as the same expression in new syntax.
    PlainNew,
}

impl Style {
    fn is_plain(self) -> bool {
        matches!(self, Style::Plain | Style::PlainNew)
    }
}

enum Step {
    Node(NodeId),
    Text(&'static str),
    /// A selector or function name, never quoted.
    Raw(Name),
    Name(Name),
    /// A new line with a number of spaces, in pretty form.
    Line(usize),
    /// From here on, the pretty form is indented so far.
    Indent(usize),
}

type Steps = SmallVec<[Step; 32]>;

/// The indentation of lists and ads in pretty form, in columns.
#[derive(Clone, Copy, Debug)]
pub struct Indent {
    /// That of what is around the expression, and then around the part that is written.
    pub around: usize,
    /// The deepest; lines that would be deeper are indented so far.
    pub deepest: usize,
}

impl Indent {
    /// That of an expression by itself, as `unparse` prints it.
    pub const ALONE: Indent = Indent { around: 0, deepest: usize::MAX };
}

/// Writes an expression.
pub fn write_expr(out: &mut Vec<u8>, tree: &Tree, root: NodeId, style: Style) {
    write_while(out, tree, root, style, Indent::ALONE, |_| true);
}

/// Writes an expression in steps, as long as `goes_on` returns true for what was written so far; it may take that away.
/// Returns false if it stopped.
pub fn write_while(
    out: &mut Vec<u8>,
    tree: &Tree,
    root: NodeId,
    style: Style,
    mut indent: Indent,
    mut goes_on: impl FnMut(&mut Vec<u8>) -> bool,
) -> bool {
    if let Node::Literal(literal) = tree.node(root) {
        write_literal(out, literal, style);
        return goes_on(out);
    }
    let mut steps: Steps = SmallVec::new();
    steps.push(Step::Node(root));
    while let Some(step) = steps.pop() {
        write_step(out, tree, &step, style, &mut indent, &mut steps);
        if !goes_on(out) {
            return false;
        }
    }
    true
}

fn write_step(out: &mut Vec<u8>, tree: &Tree, step: &Step, style: Style, indent: &mut Indent, steps: &mut Steps) {
    match *step {
        Step::Text(text) => out.extend_from_slice(text.as_bytes()),
        Step::Raw(name) => out.extend_from_slice(name.as_bytes()),
        Step::Name(name) => write_name(out, name, style),
        Step::Line(spaces) => write_line(out, spaces.min(indent.deepest)),
        Step::Indent(spaces) => indent.around = spaces,
        Step::Node(id) => node(out, tree, id, style, indent, steps),
    }
}

fn node(out: &mut Vec<u8>, tree: &Tree, id: NodeId, style: Style, indent: &mut Indent, steps: &mut Steps) {
    let mut later = |parts: &mut dyn DoubleEndedIterator<Item = Step>| steps.extend(parts.rev());
    match *tree.node(id) {
        Node::Literal(ref literal) => write_literal(out, literal, style),
        Node::Attr(name) => write_name(out, name, style),
        Node::Absolute(name) => {
            out.push(b'.');
            write_name(out, name, style);
        }
        Node::Select(name) => {
            later(&mut [Step::Node(base_of(id)), Step::Text("."), Step::Raw(name)].into_iter());
        }
        Node::Subscript { base, index } => {
            later(&mut [Step::Node(base), Step::Text("["), Step::Node(index), Step::Text("]")].into_iter());
        }
        Node::Paren(inner) => later(&mut [Step::Text("("), Step::Node(inner), Step::Text(")")].into_iter()),
        Node::Unary(op, operand) => {
            let is_apart = style.is_plain() && matches!(out.last(), None | Some(b' ' | b'('));
            let blank = Step::Text(if is_apart { "" } else { " " });
            later(&mut [blank, Step::Text(op.as_str()), Step::Node(operand)].into_iter());
        }
        Node::Binary(op, left, right) => {
            let symbol = if style == Style::Old { op.symbol() } else { op.as_str() };
            later(
                &mut [Step::Node(left), Step::Text(" "), Step::Text(symbol), Step::Text(" "), Step::Node(right)]
                    .into_iter(),
            );
        }
        Node::Conditional { condition, yes, no } => later(
            &mut [Step::Node(condition), Step::Text(" ? "), Step::Node(yes), Step::Text(" : "), Step::Node(no)]
                .into_iter(),
        ),
        Node::Call(call) => {
            let site = tree.calls[call as usize];
            out.extend_from_slice(site.name.as_bytes());
            out.push(b'(');
            steps.push(Step::Text(")"));
            for (at, argument) in tree.run(site.arguments).iter().enumerate().rev() {
                steps.push(Step::Node(*argument));
                if at > 0 {
                    steps.push(Step::Text(","));
                }
            }
        }
        Node::List(run) => {
            let spaces = (style == Style::Pretty).then_some(3);
            grouped(out, ["{", ",", "}"], spaces, tree.run(run), indent, steps, |element| (None, *element));
        }
        Node::Ad(run) => {
            let spaces = (style == Style::Pretty).then_some(4);
            let attribute = |(name, value): &(Name, NodeId)| (Some(*name), *value);
            grouped(out, ["[", "; ", "]"], spaces, tree.ad(run), indent, steps, attribute);
        }
    }
}

/// Writes an opening bracket; its parts, each with its name if it has one, and the closing bracket follow. In pretty form
/// each part has a line, with so many more spaces.
fn grouped<P>(
    out: &mut Vec<u8>,
    [open, separator, close]: [&'static str; 3],
    spaces: Option<usize>,
    parts: &[P],
    indent: &mut Indent,
    steps: &mut Steps,
    part: impl Fn(&P) -> (Option<Name>, NodeId),
) {
    let outside = indent.around;
    if let Some(spaces) = spaces {
        write_line(out, (outside + spaces).min(indent.deepest));
        indent.around = outside + 2 * spaces;
        steps.extend([Step::Indent(outside), Step::Text(close), Step::Line(outside + spaces)]);
    } else {
        steps.extend([Step::Text(close), Step::Text(" ")]);
    }
    out.extend_from_slice(open.as_bytes());
    out.extend(spaces.is_none().then_some(b' '));
    for (at, (name, value)) in parts.iter().map(part).enumerate().rev() {
        steps.push(Step::Node(value));
        if let Some(name) = name {
            steps.extend([Step::Text(" = "), Step::Name(name)]);
        }
        steps.extend(spaces.map(|spaces| Step::Line(outside + 2 * spaces)));
        if at > 0 {
            steps.push(Step::Text(separator));
        }
    }
}

/// A new line, its spaces.
pub fn write_line(out: &mut Vec<u8>, spaces: usize) {
    out.push(b'\n');
    out.resize(out.len() + spaces, b' ');
}

/// Writes a constant.
pub fn write_literal(out: &mut Vec<u8>, literal: &Literal, style: Style) {
    match literal {
        Literal::Undefined => out.extend_from_slice(b"undefined"),
        Literal::Error => out.extend_from_slice(b"error"),
        Literal::Bool(true) => out.extend_from_slice(b"true"),
        Literal::Bool(false) => out.extend_from_slice(b"false"),
        Literal::Int(value) => write_integer(out, *value),
        Literal::Real(value) if style == Style::Old => write_real_short(out, *value),
        Literal::Real(value) if style.is_plain() => write_real_plain(out, *value),
        Literal::Real(value) => write_real(out, *value),
        Literal::Str(text) if style == Style::Old => write_quoted_old(out, text, b'"'),
        Literal::Str(text) if style == Style::Plain => write_quoted_plain(out, text, b'"'),
        Literal::Str(text) => write_quoted(out, text, b'"'),
        Literal::AbsTime(time) => {
            out.extend_from_slice(b"absTime(\"");
            write_abs(out, *time);
            out.extend_from_slice(b"\")");
        }
        Literal::Suffixed(number, suffix) => {
            write_literal(out, number, style);
            out.push(suffix.letter());
        }
        Literal::RelTime(seconds) | Literal::OldRelTime(seconds) => {
            out.extend_from_slice(b"relTime(\"");
            write_rel(out, *seconds);
            out.extend_from_slice(b"\")");
        }
    }
}

/// Writes an integer in decimal.
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes a name, in quotes if it needs them (`docs/reference/classad-language.md` 8.3).
pub fn write_name(out: &mut Vec<u8>, name: Name, style: Style) {
    if name.is_plain() {
        out.extend_from_slice(name.as_bytes());
    } else if style == Style::Old {
        write_quoted_old(out, name.as_bytes(), b'\'');
    } else if style == Style::Plain {
        write_quoted_plain(out, name.as_bytes(), b'\'');
    } else {
        write_quoted(out, name.as_bytes(), b'\'');
    }
}

impl Expr {
    /// The text of the expression.
    ///
    /// ```
    /// use classmate::parse_expr;
    /// use classmate::internal::syntax::print::Style;
    /// let expr = parse_expr(b"{1.5,-x}[0]=?=undefined")?;
    /// assert_eq!(expr.to_text(Style::New), b"{ 1.500000000000000E+00, -x }[0] is undefined");
    /// assert_eq!(expr.to_text(Style::Old), b"{ 1.5, -x }[0] =?= undefined");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn to_text(&self, style: Style) -> Vec<u8> {
        let mut out = Vec::new();
        write_expr(&mut out, self.tree(), self.root(), style);
        out
    }

    /// The beginning of the canonical text of the expression: all of it, if that is not longer than about `limit`
    /// bytes. However long a chain of operators is, no more of it than that is held in memory.
    pub fn beginning(&self, limit: usize) -> Vec<u8> {
        let (mut out, mut steps, mut indent) = (Vec::new(), Steps::new(), Indent::ALONE);
        steps.push(Step::Node(self.root()));
        // At least every other step writes something, so what waits below so many of them lies behind the limit.
        let needed = limit.saturating_add(16).saturating_mul(2);
        while let Some(step) = steps.pop().filter(|_| out.len() <= limit) {
            write_step(&mut out, self.tree(), &step, Style::New, &mut indent, &mut steps);
            if steps.len() > needed.saturating_mul(2) {
                steps.drain(..steps.len() - needed);
            }
        }
        out
    }

    /// The text of the expression, if it is not longer than `limit` bytes. A short expression can have a long text:
    /// the pretty form indents every line, and parts that are values may be shared.
    pub fn to_text_within(&self, style: Style, limit: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let is_within = |out: &mut Vec<u8>| out.len() <= limit;
        write_while(&mut out, self.tree(), self.root(), style, Indent::ALONE, is_within).then_some(out)
    }
}

/// The canonical text; with `{:#}`, that of [`Style::Plain`].
///
/// ```
/// let expr = classmate::parse_expr("!(a < 1.5) && -b < 0.1 + 0.2e-9 && x[-1] > 8e300 && - -y < -7.0")?;
/// assert_eq!(
///     expr.to_string(),
///     " !(a < 1.500000000000000E+00) &&  -b < 1.000000000000000E-01 + 2.000000000000000E-10 && x[-1] > \
///      8.000000000000000E+300 &&  - -y < -7.000000000000000E+00"
/// );
/// assert_eq!(format!("{expr:#}"), "!(a < 1.5) && -b < 0.1 + 2e-10 && x[-1] > 8e300 && - -y < -7.0");
/// assert!(classmate::parse_expr(&format!("{expr:#}"))?.same_as(&expr));
/// # Ok::<(), classmate::SyntaxError>(())
/// ```
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = if f.alternate() { Style::Plain } else { Style::New };
        f.write_str(&String::from_utf8_lossy(&self.to_text(style)))
    }
}
