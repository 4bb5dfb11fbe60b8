//! Trees as text: the parts of an expression and their values.

use crate::report::{printable, shortened};
use classmate::Expr;
use classmate::internal::eval::trace::{Outcome, TraceStep};
use classmate::internal::eval::walk::AdSide;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::print::Style;

/// Columns that the left side of a tree takes at most.
const WIDTH: usize = 60;

/// Longest value shown.
const VALUE: usize = 60;

/// A line of a tree: how many parts it is inside of, its text, and the text beside it.
pub struct Row {
    /// 0 for the root.
    pub level: usize,
    /// The text in the tree.
    pub text: String,
    /// The text beside the tree; may be empty.
    pub beside: String,
}

/// Rows as lines with branches, the texts beside them aligned.
pub fn tree(rows: &[Row]) -> String {
    let lefts: Vec<String> = rows.iter().zip(branches(rows)).map(|(row, branch)| branch + &row.text).collect();
    let width = lefts.iter().map(|left| left.chars().count()).filter(|width| *width <= WIDTH).max().unwrap_or(0);
    let lines = lefts.iter().zip(rows).map(|(left, row)| {
        let gap = width.saturating_sub(left.chars().count());
        format!("{left}{:gap$}  {}", "", row.beside).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The branches in front of each row.
fn branches(rows: &[Row]) -> Vec<String> {
    // From the last row up: at which levels another part follows below.
    let mut follows: Vec<bool> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        follows.resize((row.level + 1).max(follows.len()), false);
        follows.truncate(row.level + 1);
        let mut branch = String::new();
        for (level, more) in follows.iter().enumerate().skip(1) {
            branch.push_str(match (level == row.level, *more) {
                (true, true) => "├─ ",
                (true, false) => "└─ ",
                (false, true) => "│  ",
                (false, false) => "   ",
            });
        }
        follows[row.level] = true;
        out.push(branch);
    }
    out.reverse();
    out
}

/// An expression on one line.
pub fn one_line(expr: &Expr) -> String {
    printable(&expr.to_text(Style::New)).trim_start().to_owned()
}

/// An expression with more parts is only counted, not written: finding where a chain of operators begins takes as many
/// steps as it is long, and a tree has many lines.
const LONGEST_WRITTEN: usize = 50_000;

/// An expression on one line, cut to a number of characters.
pub fn excerpt(expr: &Expr, most: usize) -> String {
    let parts = expr.nodes().len();
    if parts > LONGEST_WRITTEN {
        return format!("(… {parts} parts …)");
    }
    // A character takes four bytes at most; spaces in front do not count.
    let text = printable(&expr.beginning(most.saturating_add(1).saturating_mul(4) + 8));
    shortened(text.trim_start(), most)
}

/// The steps of a trace as a tree, values beside.
pub fn trace(steps: &[TraceStep]) -> String {
    let rows: Vec<Row> = steps
        .iter()
        .map(|step| {
            let attribute =
                step.attribute.map(|(name, side)| format!("{}{name} = ", scope_of(side))).unwrap_or_default();
            let taken = 3 * step.level + attribute.chars().count();
            let expr = excerpt(&step.expr, WIDTH.saturating_sub(taken + 1).max(15));
            let text = attribute + &expr;
            let mut beside = match &step.outcome {
                Outcome::Value(value) => shortened(&printable(&value.to_text(Style::New)), VALUE),
                Outcome::Failed(failed) => format!("abandoned: {failed}"),
                Outcome::Skipped => "not evaluated".to_owned(),
            };
            if let (Node::Attr(_), Some(side @ (AdSide::My | AdSide::Target))) = (step.expr.node(), step.found_in) {
                beside.push_str("  from ");
                beside.push_str(side.as_str());
            }
            Row { level: step.level, text, beside }
        })
        .collect();
    tree(&rows)
}

fn scope_of(side: AdSide) -> &'static str {
    match side {
        AdSide::My => "MY.",
        AdSide::Target => "TARGET.",
        AdSide::Inner => "",
    }
}

/// The nodes of an expression as a tree, their kinds beside; at most `most` of them.
pub fn nodes(expr: &Expr, most: usize) -> String {
    let tree_of = expr.tree();
    let mut waiting = vec![(0, None, expr.root())];
    let mut rows = Vec::new();
    while let Some((level, name, id)) = waiting.pop() {
        if rows.len() >= most {
            rows.push(Row { level: 0, text: "… more nodes omitted".to_owned(), beside: String::new() });
            break;
        }
        let node = tree_of.node(id);
        let (text, beside) = described(&expr.part(id));
        let text = match name {
            Some(name) => format!("{name} = {text}"),
            None => text,
        };
        rows.push(Row { level, text, beside: beside.to_owned() });
        match node {
            Node::Ad(run) => {
                waiting.extend(tree_of.ad(*run).iter().rev().map(|(name, value)| (level + 1, Some(*name), *value)));
            }
            _ => waiting.extend(tree_of.parts(id).into_iter().rev().map(|part| (level + 1, None, part))),
        }
    }
    tree(&rows)
}

/// A node without its children, and its kind.
fn described(expr: &Expr) -> (String, &'static str) {
    let text = || excerpt(expr, WIDTH);
    match expr.node() {
        Node::Literal(literal) => (
            text(),
            match literal {
                Literal::Undefined | Literal::Error => "constant",
                Literal::Bool(_) => "boolean",
                Literal::Int(_) => "integer",
                Literal::Real(_) => "real",
                Literal::Str(_) => "string",
                Literal::AbsTime(_) => "absolute time",
                Literal::RelTime(_) | Literal::OldRelTime(_) => "relative time",
                Literal::Suffixed(..) => "real",
            },
        ),
        Node::Attr(_) => (text(), "attribute"),
        Node::Absolute(_) => (text(), "absolute attribute"),
        Node::Select(name) => (format!(".{name}"), "selection"),
        Node::Subscript { .. } => ("[ ]".to_owned(), "subscript"),
        Node::Paren(_) => ("( )".to_owned(), "parentheses"),
        Node::Unary(op, _) => (op.as_str().to_owned(), "prefix operator"),
        Node::Binary(op, ..) => (op.symbol().to_owned(), "operator"),
        Node::Conditional { .. } => ("? :".to_owned(), "conditional"),
        Node::Call(call) => (format!("{}( )", expr.tree().calls[*call as usize].name), "call"),
        Node::List(_) => ("{ }".to_owned(), "list"),
        Node::Ad(_) => ("[ ]".to_owned(), "ad"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    #[test]
    fn a_tree_shows_which_part_is_inside_which() {
        let expr = parse_expr(b"f(a, 1) + [ b = -c ].b", &ParseOptions::default()).unwrap();
        let expected = "\
+             operator
├─ f( )       call
│  ├─ a       attribute
│  └─ 1       integer
└─ .b         selection
   └─ [ ]     ad
      └─ b = -  prefix operator
         └─ c  attribute";
        let squeezed = |text: &str| {
            let mut text = text.to_owned();
            while text.contains("  ") {
                text = text.replace("  ", " ");
            }
            text
        };
        assert_eq!(squeezed(&nodes(&expr, 100)), squeezed(expected));
    }

    #[test]
    fn long_expressions_are_cut() {
        let expr = parse_expr("1+".repeat(100).as_bytes(), &ParseOptions::default());
        assert!(expr.is_err());
        let expr = parse_expr(["1"; 200].join("+").as_bytes(), &ParseOptions::default()).unwrap();
        assert_eq!(nodes(&expr, 10).lines().count(), 11);
    }
}
