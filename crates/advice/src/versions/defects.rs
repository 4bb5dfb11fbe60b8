//! Crashes and hangs of HTCondor's library, which are not reproduced (`docs/reference/versions.md` 5).
//!
//! In: an expression and its ads. Out: the defects that it meets in one version, with what is answered instead. One file: almost half
//! of it is tests.

mod old_evaluation;
mod search;

use serde::Serialize;

use old_evaluation::OldEvaluation;
pub use search::{defects, defects_of};

use classmate::internal::semantics::VersionRule;
use classmate::internal::syntax::expr::{Node, NodeId, base_of};
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::{ClassAd, EvalError, EvalOptions, Expr, Name, ParseOptions, Scope, Semantics, Series, Value};

/// A defect of some versions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct VersionDefect {
    /// Its name, which never changes.
    pub name: &'static str,
    /// The behavior of HTCondor.
    pub does: &'static str,
    /// The value here.
    pub here: &'static str,
    #[serde(skip)]
    first: Series,
    /// The first series without it; `None` if all have it.
    #[serde(skip)]
    fixed: Option<Series>,
    #[serde(skip)]
    test: DefectTest,
}

impl PartialEq for VersionDefect {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl VersionDefect {
    /// Tests whether all releases of these versions crash or hang.
    pub(super) fn is_fatal(&self) -> bool {
        !["kept-value", "time-out-of-range", "year-out-of-range"].contains(&self.name)
    }
}

/// Tests whether a part of an expression meets the defect.
type DefectTest = fn(&PartInScope<'_>) -> bool;

const fn defect(
    name: &'static str,
    (first, fixed): (Series, Option<Series>),
    does: &'static str,
    here: &'static str,
    test: DefectTest,
) -> VersionDefect {
    VersionDefect { name, does, here, first, fixed, test }
}

const BEFORE_10_3: (Series, Option<Series>) = (Series::new(0, 0), Some(Series::new(10, 3)));
const BEFORE_25_13: (Series, Option<Series>) = (Series::new(0, 0), Some(Series::new(25, 13)));
const ALL: (Series, Option<Series>) = (Series::new(0, 0), None);

const AS_LATER: &str = "the value is that of later versions";

/// All defects that an expression can meet.
const DEFECTS: [VersionDefect; 9] = [
    defect(
        "endless-conditional",
        BEFORE_25_13,
        "hangs in a circular reference or a chain of references through a conditional: it needs 2^400 evaluations",
        "the evaluation fails at once",
        |part| part.is_whole() && (part.name.is_none() || part.refers_to_itself()) && OldEvaluation::is_endless(part),
    ),
    defect(
        "endless-work",
        BEFORE_25_13,
        "evaluates without a limit of its work, and may not end",
        "the evaluation fails after 10,000,000 steps, as since 25.13",
        |part| part.is_whole() && matches!(part.unlimited.eval(part.expr), Err(EvalError::Work(_))),
    ),
    defect("smallest-integer", BEFORE_10_3, "crashes when it divides the smallest integer by -1", AS_LATER, |part| {
        let Node::Binary(BinaryOp::Divide | BinaryOp::Modulo, left, right) = *part.node() else { return false };
        let is = |id, number| matches!(part.value(id), Ok(Value::Int(value)) if value == number);
        is(left, i64::MIN) && is(right, -1)
    }),
    defect(
        "lost-value",
        BEFORE_10_3,
        "crashes or reads freed memory when it uses a list or ad that `eval` or a selection made",
        AS_LATER,
        |part| match *part.node() {
            Node::Call(_) => part.calls(&["eval"]) && part.makes(part.id),
            Node::Select(_) => {
                let base = part.expr.tree().bare(base_of(part.id));
                matches!(part.expr.tree().node(base), Node::Select(_)) && matches!(part.value(base), Ok(Value::List(_)))
            }
            _ => false,
        },
    ),
    defect(
        "kept-value",
        (Series::new(10, 3), Some(Series::new(25, 11))),
        "releases before 24.0.22, 24.12.22, 25.0.12 and 25.11 read freed memory in tools that print this list or ad; daemons do not",
        AS_LATER,
        |part| part.is_whole() && part.is_made(part.expr, part.id, MAX_MAKING_LEVELS),
    ),
    defect(
        "counted-value",
        ALL,
        "crashes when `countMatches` gets a list that a function made",
        "the matches are counted",
        |part| {
            let is_list = |id| matches!(part.value(id), Ok(Value::List(_)));
            // One that a selection in a list makes is counted.
            let is_selected = |id| matches!(part.expr.tree().node(id), Node::Select(_)) && is_list(base_of(id));
            part.calls(&["countMatches"])
                && part
                    .argument(1)
                    .map(|id| part.expr.tree().bare(id))
                    .is_some_and(|id| is_list(id) && !is_selected(id) && part.is_made(part.expr, id, MAX_MAKING_LEVELS))
        },
    ),
    defect(
        "attribute-of-scalars",
        (Series::new(23, 9), None),
        "crashes when it takes an attribute of a list of strings or numbers that a function made",
        "each element is an error",
        |part| {
            let Node::Select(_) = part.node() else { return false };
            let base = part.expr.tree().bare(base_of(part.id));
            let is_scalar = |value: &Value| !matches!(value, Value::Ad(_) | Value::List(_) | Value::Undefined);
            matches!(part.expr.tree().node(base), Node::Call(_))
                && matches!(part.value(base), Ok(Value::List(list)) if list.values().is_some_and(|all| all.iter().any(is_scalar)))
        },
    ),
    defect(
        "time-out-of-range",
        ALL,
        "prints unpredictable text for a relative time of more than 2^31 seconds",
        "the text may differ",
        |part| {
            let is_long = |value: &Value| matches!(value, Value::RelTime(seconds) if seconds.abs() > 2_147_483_648.0);
            part.is_whole() && part.value(part.id).is_ok_and(|value| is_long(&value))
        },
    ),
    defect(
        "year-out-of-range",
        (Series::new(24, 2), None),
        "gives an unpredictable date for a time whose year has more than 32 bits",
        "the value is an error",
        |part| {
            // The first second of the year 2147483648.
            let far = |value: i64| value.unsigned_abs() >= 67_767_976_233_532_800;
            part.calls(&["formatTime", "splitTime"])
                && part.argument(0).is_some_and(|id| matches!(part.value(id), Ok(Value::Int(value)) if far(value)))
                && matches!(part.value(part.id), Ok(Value::Error))
        },
    ),
];

/// A part of an expression, in the ads in which it is evaluated.
struct PartInScope<'a> {
    /// With a small limit on the work.
    scope: Scope<'a>,
    settings: &'a EvalOptions,
    /// With the usual limits.
    unlimited: Scope<'a>,
    /// The ad of the expression, and the other one.
    ads: [Option<&'a ClassAd>; 2],
    expr: &'a Expr,
    id: NodeId,
    /// The attribute whose expression it is; `None` if it is in no ad.
    name: Option<Name>,
    /// True for the expression that was asked for.
    is_asked: bool,
    semantics: Semantics,
}

impl PartInScope<'_> {
    fn node(&self) -> &Node {
        self.expr.tree().node(self.id)
    }

    fn value(&self, id: NodeId) -> Result<Value, EvalError> {
        self.scope.eval(&self.expr.part(id))
    }

    /// Tests whether the part is all that was asked for.
    fn is_whole(&self) -> bool {
        self.is_asked && self.id == self.expr.root()
    }

    fn is_call_at(&self, id: NodeId, names: &[&str]) -> bool {
        is_call(self.expr, id, names)
    }

    fn calls(&self, names: &[&str]) -> bool {
        matches!(self.node(), Node::Call(_)) && self.is_call_at(self.id, names)
    }

    fn argument(&self, at: usize) -> Option<NodeId> {
        let Node::Call(call) = *self.node() else { return None };
        let tree = self.expr.tree();
        tree.run(tree.calls[call as usize].arguments).get(at).copied()
    }

    fn makes(&self, id: NodeId) -> bool {
        matches!(self.value(id), Ok(Value::List(_) | Value::Ad(_)))
    }

    /// The meaning of a part as a condition, if it has one.
    fn truth(&self, id: NodeId) -> Option<bool> {
        self.value(id).ok()?.as_condition()
    }

    /// The children that are evaluated, as far as it is certain that others are not.
    fn evaluated(&self) -> Vec<NodeId> {
        let tree = self.expr.tree();
        if let Some([condition, yes, no]) = tree.choice(self.id) {
            return match self.truth(condition) {
                Some(true) => vec![condition, yes],
                Some(false) => vec![condition, no],
                None if self.semantics.is_old(VersionRule::Cycle) => vec![condition, yes, no],
                None => vec![condition],
            };
        }
        // Of an ad, a selection evaluates the selected attribute alone, in the scope of the ad.
        if matches!(self.node(), Node::Select(_)) && matches!(tree.node(tree.bare(base_of(self.id))), Node::Ad(_)) {
            return Vec::new();
        }
        let Node::Binary(op, left, _) = *self.node() else { return tree.parts(self.id).to_vec() };
        let is_decided = match op {
            BinaryOp::And => self.truth(left) == Some(false),
            BinaryOp::Or => self.truth(left) == Some(true),
            BinaryOp::Default if self.semantics.is_old(VersionRule::ElvisPrecedence) => self.truth(left) == Some(false),
            BinaryOp::Default => self.value(left).is_ok_and(|value| !matches!(value, Value::Undefined)),
            _ => false,
        };
        if is_decided { vec![left] } else { tree.parts(self.id).to_vec() }
    }

    /// Tests whether the expression of an attribute has a conditional, and leads to itself, to an ad inside, or to more levels than
    /// a version allows.
    fn refers_to_itself(&self) -> bool {
        let has = |is_such: fn(&Node) -> bool| self.expr.nodes().iter().any(is_such);
        has(|node| matches!(node, Node::Conditional { .. }))
            && (has(|node| matches!(node, Node::Ad(_)))
                || matches!(self.value(self.expr.root()), Err(EvalError::Depth(_)))
                || self.reached().iter().any(|(name, _)| Some(*name) == self.name))
    }

    /// The attributes with expressions that the expression leads to.
    fn reached(&self) -> Vec<(Name, Expr)> {
        let mut next = self.names(self.expr);
        let mut found: Vec<(Name, Expr)> = Vec::new();
        while let Some(name) = next.pop() {
            let expr = self.ads.into_iter().flatten().find_map(|ad| ad.get(name));
            if let Some(expr) = expr.filter(|_| !found.iter().any(|(known, _)| *known == name))
                && found.len() < MAX_ATTRIBUTES
            {
                next.extend(self.names(&expr));
                found.push((name, expr));
            }
        }
        found
    }

    /// The names in an expression, and in the texts that it evaluates.
    fn names(&self, expr: &Expr) -> Vec<Name> {
        let mut names = Vec::new();
        let (mut waiting, mut texts) = (vec![expr.clone()], 0);
        while let Some(expr) = waiting.pop() {
            for id in expr.tree().first_of(expr.root())..=expr.root() {
                if let Node::Attr(name) | Node::Absolute(name) | Node::Select(name) = *expr.tree().node(id) {
                    names.push(name);
                }
                if texts < MAX_TEXTS
                    && let Some(text) = self.evaluated_text(&expr, id)
                {
                    texts += 1;
                    waiting.push(text);
                }
            }
        }
        names
    }

    /// The expression in the text that a call of `eval` evaluates.
    fn evaluated_text(&self, expr: &Expr, id: NodeId) -> Option<Expr> {
        evaluated_text(expr, id, &self.scope, self.semantics)
    }

    /// The ads in which the part selects an attribute, and the attribute.
    fn selected(&self) -> Option<(Name, Vec<ClassAd>)> {
        let tree = self.expr.tree();
        let Node::Select(name) = *self.node() else { return None };
        if tree.reference(self.id).is_some() {
            return None;
        }
        let ads = match self.value(base_of(self.id)).ok()? {
            Value::Ad(ad) => vec![ad.to_ad()],
            Value::List(list) => list.exprs().iter().filter_map(ClassAd::from_expr).take(MAX_HOMES).collect(),
            _ => return None,
        };
        Some((name, ads))
    }

    /// Tests whether the value of a part of an expression is a list or ad that was made in the evaluation.
    fn is_made(&self, expr: &Expr, id: NodeId, levels: usize) -> bool {
        let (tree, value) = (expr.tree(), |id: NodeId| self.scope.eval(&expr.part(id)));
        let id = tree.bare(id);
        let is_made = |id| self.is_made(expr, id, levels - 1);
        let is_made_there = |expr: Option<Expr>| expr.is_some_and(|expr| self.is_made(&expr, expr.root(), levels - 1));
        if levels == 0 || !matches!(value(id), Ok(Value::List(_) | Value::Ad(_))) {
            return false;
        }
        if let Some([condition, yes, no]) = tree.choice(id) {
            let is_true = value(condition).ok().and_then(|value| value.as_condition());
            return is_true.is_some_and(|is_true| is_made(if is_true { yes } else { no }));
        }
        if let Some(reference) = tree.reference(id) {
            return is_made_there(self.ads.into_iter().flatten().find_map(|ad| ad.get(reference.name)));
        }
        match *tree.node(id) {
            Node::Call(_) => true,
            Node::Select(name) => match value(base_of(id)) {
                Ok(Value::Ad(ad)) => is_made_there(ad.to_ad().get(name)),
                Ok(Value::List(_)) => true,
                _ => false,
            },
            Node::Binary(BinaryOp::Default, left, right) => match value(left) {
                Ok(Value::Undefined) => is_made(right),
                _ => is_made(left),
            },
            Node::Subscript { base, index } => {
                let (base, index) = (tree.bare(base), value(index));
                let (Node::List(_), Ok(Value::Int(index))) = (tree.node(base), index) else { return false };
                let element = usize::try_from(index).ok().and_then(|at| tree.parts(base).get(at).copied());
                element.is_some_and(is_made)
            }
            _ => false,
        }
    }
}

/// The expression in the text that a call of `eval` evaluates.
fn evaluated_text(expr: &Expr, id: NodeId, scope: &Scope<'_>, semantics: Semantics) -> Option<Expr> {
    let tree = expr.tree();
    let Node::Call(call) = *tree.node(id) else { return None };
    let [text] = *tree.run(tree.calls[call as usize].arguments) else { return None };
    if !is_call(expr, id, &["eval"]) {
        return None;
    }
    let Ok(Value::Str(text)) = scope.eval(&expr.part(text)) else { return None };
    parse_expr(&text, &ParseOptions { semantics, ..ParseOptions::default() }).ok()
}

pub(super) fn is_call(expr: &Expr, id: NodeId, names: &[&str]) -> bool {
    let tree = expr.tree();
    let Node::Call(call) = *tree.node(tree.bare(id)) else { return false };
    names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(tree.calls[call as usize].name.folded()))
}

/// Expressions of attributes that are looked at beside the one that was asked for.
const MAX_ATTRIBUTES: usize = 1000;
/// Ads inside expressions in which attributes are selected.
const MAX_HOMES: usize = 20;
/// Parts and attributes inside one another in which the making of a value is looked for.
const MAX_MAKING_LEVELS: usize = 50;
/// Texts that one expression evaluates: a text can evaluate itself.
const MAX_TEXTS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the defects, and the value.
    fn met(text: &str, my: &str, series: &str) -> (Vec<&'static str>, String) {
        let semantics: Semantics = series.parse().unwrap();
        let settings = EvalOptions { semantics, ..EvalOptions::default() };
        let my = ClassAd::parse_with(my, &settings.parse_options()).unwrap();
        let expr = Expr::parse_with(text, &settings.parse_options()).unwrap();
        let value = Scope::new(&my, &settings).eval(&expr).map_or("failed".to_owned(), |value| value.to_string());
        (defects(&expr, &my, None, &settings).into_iter().map(|defect| defect.name).collect(), value)
    }

    /// A defect, text, MY, series with the defect and without, and the value in both.
    type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, [&'a str; 2]);

    fn is_met((name, text, my, with, without, values): Row<'_>) {
        let (names, value) = met(text, my, with);
        assert!(names.contains(&name), "{text} in {with}: {names:?}");
        assert_eq!(value, values[0], "{text} in {with}");
        if !without.is_empty() {
            let (names, value) = met(text, my, without);
            assert!(!names.contains(&name), "{text} in {without}: {names:?}");
            assert_eq!(value, values[1], "{text} in {without}");
        }
    }

    /// The answers of `docs/reference/versions.md` 5.
    #[test]
    fn each_defect_is_named_and_answered() {
        let chain: String = (0..450).map(|at| format!("a{at} = true ? a{} : 2; ", at + 1)).collect();
        let chain = format!("[{chain}a450 = 1]");
        let doubling: String = (0..30).map(|at| format!("b{at} = b{0} + b{0}; ", at + 1)).collect();
        let doubling = format!("[{doubling}b30 = 1]");
        for row in [
            ("endless-conditional", "A0", "[ A0 = 0 ? e : A0 ]", "25.12", "25.13", ["failed", "undefined"]),
            ("endless-conditional", "a", "[ a = true ? a : 1 ]", "10.0", "25.14", ["failed", "undefined"]),
            ("endless-conditional", "a0", &chain, "24.0", "25.13", ["failed", "failed"]),
            // In ads inside expressions: HTCondor 10.0.9, 23.0.28, 24.0.20 and 25.12.2 hang in all of these.
            ("endless-conditional", "[a = true ? a : 1].a", "[]", "10.0", "25.13", ["failed", "undefined"]),
            ("endless-conditional", "[b = [a = true ? a : 1].a].b", "[]", "24.0", "25.13", ["failed", "undefined"]),
            ("endless-conditional", "[a = x ? a : 1].a", "[ x = true ]", "23.0", "25.14", ["failed", "undefined"]),
            ("endless-conditional", "y.a", "[ y = [a = true ? a : 1] ]", "25.12", "25.13", ["failed", "undefined"]),
            ("endless-conditional", "{[a = true ? a : 1]}.a", "[]", "25.12", "25.13", ["failed", "{ undefined }"]),
            ("endless-conditional", "[a = true ? [b = a].b : 1].a", "[]", "24.0", "25.13", ["failed", "undefined"]),
            // Through `eval`: 10.0.9, 10.9.0, 24.0.20 and 25.12.2 hang in all of these.
            ("endless-conditional", "a", "[ a = true ? eval(\"a\") : 1 ]", "10.0", "25.13", ["failed", "undefined"]),
            (
                "endless-conditional",
                "a",
                "[ a = true ? eval(\"b\") : 1; b = a + 1 ]",
                "25.12",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ a = b; b = true ? eval(\"c\") : 1; c = a ]",
                "24.0",
                "25.13",
                ["failed", "undefined"],
            ),
            ("endless-conditional", "a", "[ a = eval(\"true ? a : 1\") ]", "24.0", "25.13", ["failed", "undefined"]),
            (
                "endless-conditional",
                "a",
                "[ a = eval(\"x\"); x = true ? x : 1 ]",
                "10.9",
                "25.13",
                ["failed", "undefined"],
            ),
            // Only beside `strcat`: they hang.
            ("endless-conditional", "a", "[ a = true ? a + strcat(a) : 1 ]", "25.12", "25.13", ["failed", "undefined"]),
            (
                "endless-conditional",
                "a",
                "[ a = true ? strcat(b) : 1; b = true ? b : 1 ]",
                "24.0",
                "25.13",
                ["failed", "undefined"],
            ),
            // Through other attributes: 10.0.9, 10.9.0, 24.0.20 and 25.12.2 hang.
            (
                "endless-conditional",
                "a",
                "[ a = false ? 1 : b; b = 1 + c; c = true ? a : 1 ]",
                "10.0",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ a = [ b = [ c = true ? d : 1; d = b ].c ].b ]",
                "24.0",
                "25.13",
                ["failed", "undefined"],
            ),
            ("endless-work", "b0", &doubling, "24.0", "25.13", ["failed", "failed"]),
            ("smallest-integer", "m / -1", "[ m = -9223372036854775808 ]", "10.0", "10.9", ["9223372036854775807"; 2]),
            ("smallest-integer", "m % -1", "[ m = -9223372036854775808 ]", "10.2", "23.0", ["0"; 2]),
            ("lost-value", "eval(\"{x,2}\")[0]", "[ x = 1 ]", "10.0", "10.9", ["1"; 2]),
            ("lost-value", "eval(\"[a=x]\").a", "[ x = 1 ]", "10.0", "10.9", ["1"; 2]),
            ("lost-value", "size(eval(\"{1,2}\"))", "[]", "10.0", "10.9", ["2"; 2]),
            ("lost-value", "l.a.b", "[ l = {[a = [b = 1]]} ]", "10.0", "10.9", ["{ 1 }"; 2]),
            ("kept-value", "l.a", "[ l = {[a = 1]} ]", "24.0", "25.11", ["{ 1 }"; 2]),
            // 10.9.0 and 24.0.20 die, also of an attribute or of an ad inside.
            ("kept-value", "a", "[ l = {[b = 1]}; a = l.b ]", "10.9", "10.2", ["{ 1 }"; 2]),
            ("kept-value", "[q = l.b].q", "[ l = {[b = 1]} ]", "24.0", "25.11", ["{ 1 }"; 2]),
            // 10.9.0, 23.0.28 and 24.0.20 die.
            ("kept-value", "l.a ?: 3", "[ l = {[a = 1]} ]", "23.0", "25.11", ["{ 1 }"; 2]),
            ("kept-value", "y ?: l.a", "[ l = {[a = 1]} ]", "10.9", "25.11", ["{ 1 }"; 2]),
            ("kept-value", "true ? (l.a) : 3", "[ l = {[a = 1]} ]", "24.0", "25.11", ["{ 1 }"; 2]),
            ("kept-value", "ifThenElse(l is 1, 3, l.a)", "[ l = {[a = 1]} ]", "24.0", "25.11", ["{ 1 }"; 2]),
            ("kept-value", "{l.a, 2}[0]", "[ l = {[a = 1]} ]", "23.0", "25.11", ["{ 1 }"; 2]),
            ("counted-value", "countMatches(x, split(\"a b\"))", "[ x = 1 ]", "25.14", "", ["0"; 2]),
        ] {
            is_met(row);
        }
        assert_eq!(met("split(\"a,b\").a", "[]", "23.9").0, ["kept-value", "attribute-of-scalars"]);
        assert_eq!(met("split(\"a,b\").a", "[]", "23.0").0, ["kept-value"]);
    }

    /// 25.14.1 does not die where no list is made, and dies of the others.
    #[test]
    fn a_made_list_is_counted() {
        for (text, ad, dies) in [
            ("countMatches(x, split(zz))", "[]", false),
            ("countMatches(x, split())", "[]", false),
            ("countMatches(x, evalInEachContext(x, undefined))", "[]", false),
            ("countMatches(x, splitTime(0))", "[]", false),
            ("countMatches(x, l.a)", "[l = {[a = 1]}]", false),
            ("countMatches(1, a)", "[a = split(\"a b\")]", true),
            ("countMatches(1, b.a)", "[b = [a = split(\"a b\")]]", true),
            ("countMatches(x, ifThenElse(true, split(\"a b\"), 1))", "[]", true),
            ("countMatches(x, undefined ?: split(\"a\"))", "[]", true),
            ("countMatches(x, {split(\"a\")}[0])", "[]", true),
            ("countMatches(x, splitUserName(\"a@b\"))", "[]", true),
            ("countMatches(x, split(\"\"))", "[]", true),
            ("countMatches(x, eval(\"split(\\\"a b\\\")\"))", "[]", true),
        ] {
            assert_eq!(met(text, ad, "25.14").0.contains(&"counted-value"), dies, "{text}");
        }
    }

    /// 24.0.20 prints the lower 32 bits; 24.12.20 and 25.14.1 print other nonsense.
    #[test]
    fn times_out_of_range_are_named() {
        for (text, series, defects) in [
            ("formatTime(100000000000000000)", "24.0", &[][..]),
            ("formatTime(100000000000000000)", "24.12", &["year-out-of-range"]),
            ("splitTime(9223372036854775807).Year", "25.14", &["year-out-of-range"]),
            ("formatTime(10000000000000000)", "25.14", &[]),
            // 400 years: `--24855+-3:-14:-8` in 10.0.9 and 24.0.20.
            ("absTime(\"2300-01-01T00:00:00Z\") - absTime(\"1900-01-01T00:00:00Z\")", "24.0", &["time-out-of-range"]),
        ] {
            assert_eq!(met(text, "[]", series).0, defects, "{text} in {series}");
        }
    }

    /// The limit of the depth is reached again only in what is evaluated before a failure, except one of `strcat` or `join`.
    #[test]
    fn a_hang_needs_a_repeated_evaluation() {
        for row in [
            // Through `strcat` or `join`: 10.0.9 hangs, 10.9.0, 23.0.28, 24.0.20 and 25.12.2 fail at once.
            ("endless-conditional", "a", "[ a = true ? strcat(a, \"x\") : 1 ]", "10.2", "10.3", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? join(\",\", a, a) : 1 ]", "10.0", "25.12", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? b : 1; b = strcat(\"x\", a) ]", "10.0", "24.0", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? strcat(eval(\"a\")) : 1 ]", "10.0", "24.0", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = strcat(true ? a : 1) ]", "10.0", "25.12", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? max({strcat(a), a}) : 1 ]", "10.0", "25.12", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? member(1, {strcat(a), a}) : 1 ]", "10.0", "24.0", ["failed"; 2]),
            // If the condition is false, the other branch is evaluated before the same is again.
            ("endless-conditional", "a", "[ a = false ? strcat(a) : max({a, 0}) ]", "10.2", "24.0", ["failed"; 2]),
            // What is behind a failure on the left is not evaluated: as before.
            ("endless-conditional", "a", "[ a = true ? strcat(a) + a : 1 ]", "10.0", "10.9", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? -strcat(a) < a : 1 ]", "10.2", "25.12", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? 1 + strcat(a) || a : 1 ]", "10.0", "24.0", ["failed"; 2]),
            ("endless-conditional", "a", "[ a = true ? b + a : 1; b = strcat(a) ]", "10.0", "25.12", ["failed"; 2]),
            // All four hang, up to 25.12.2.
            (
                "endless-conditional",
                "a",
                "[ a = true ? strcat(\"x\") + a : 1 ]",
                "25.12",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ a = ifThenElse(false, a, true ? a : 1) ]",
                "10.0",
                "25.13",
                ["failed", "undefined"],
            ),
            ("endless-conditional", "a", "[ a = member(true ? a : 1, {a}) ]", "10.9", "25.13", ["failed", "undefined"]),
            ("endless-conditional", "a", "[ a = max({1, true ? a : 1}) ]", "24.0", "25.13", ["failed", "1"]),
            (
                "endless-conditional",
                "a",
                "[ a = isUndefined({a}) ? 1 : (true ? a : 1) ]",
                "24.0",
                "25.13",
                ["failed", "undefined"],
            ),
            ("endless-conditional", "a", "[ a = 1 + (true ? a : 1) ]", "10.0", "25.13", ["failed", "undefined"]),
            // Through `eval` of an attribute or of a computed text: they hang.
            (
                "endless-conditional",
                "a",
                "[ s = \"a\"; a = true ? eval(s) : 1 ]",
                "10.0",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ s = \"true ? a : 1\"; a = eval(s) ]",
                "24.0",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ s = \"a\"; t = \"eval(s)\"; a = true ? eval(t) : 1 ]",
                "25.12",
                "25.13",
                ["failed", "undefined"],
            ),
            (
                "endless-conditional",
                "a",
                "[ a = true ? eval(strcat(\"a\")) : 1 ]",
                "10.9",
                "25.13",
                ["failed", "undefined"],
            ),
        ] {
            is_met(row);
        }
    }

    /// An attribute meets the defects of its own expression.
    #[test]
    fn attributes_are_looked_at_one_by_one() {
        let text = "[ a = true ? a : 1; b = a; c = m / -1; m = -9223372036854775808; d = split(\"x\"); e = x ? e : 2 ]";
        let met = |series: &str| -> Vec<String> {
            let settings = EvalOptions { semantics: series.parse().unwrap(), ..EvalOptions::default() };
            let my = ClassAd::parse_with(text, &settings.parse_options()).unwrap();
            let of = |name: &str| defects_of(Name::new(name), &my, &settings).into_iter();
            let each = |name| of(name).map(move |defect| format!("{name}: {}", defect.name));
            ["a", "b", "c", "m", "d", "e"].into_iter().flat_map(each).collect()
        };
        assert_eq!(met("10.0"), ["a: endless-conditional", "c: smallest-integer"]);
        assert_eq!(met("24.0"), ["a: endless-conditional", "d: kept-value"]);
        assert_eq!(met("25.12"), ["a: endless-conditional"]);
        assert_eq!(met("25.13"), [""; 0]);
    }

    #[test]
    fn what_evaluates_everywhere_has_no_defect() {
        for (text, my) in [
            ("x > 1 ? y : 2", "[ x = 2; y = 3 ]"),
            ("a", "[ a = a ?: 1 ]"),
            ("9223372036854775807 / -1", "[]"),
            ("eval(\"1 + 1\")", "[]"),
            ("x", "[ x = true ? loop : 1; loop = loop + 1 ]"),
            ("x", "[ x = loop ? 1 : 2; loop = loop + 1 ]"),
            ("{1, 2}[0] + size(split(\"a b\"))", "[]"),
            ("formatTime(0)", "[]"),
            ("{5, l.a}[0]", "[ l = {[a = 1]} ]"),
            ("ifThenElse(true, l, l.a)", "[ l = {[a = 1]} ]"),
            ("countMatches(x, l)", "[ l = {[x = true]} ]"),
            // What is not evaluated.
            ("false && -9223372036854775808 / -1", "[]"),
            ("true || x", "[ x = -9223372036854775808 % -1 ]"),
            ("false ? formatTime(9223372036854775807) : 1", "[]"),
            ("ifThenElse(x, 1, countMatches(x, split(\"a b\")))", "[ x = true ]"),
            ("x && a", "[ x = false; a = true ? a : 1 ]"),
            ("x ? a : c", "[ x = false; a = true ? a : 1; c = 5 ]"),
            ("[a = true ? a : 1; b = 2].b", "[]"),
            ("[a = x ? a : 1].a", "[ x = false ]"),
            // A text that evaluates itself, in a branch that is not evaluated.
            ("x ? eval(s) : 1", "[ x = false; s = \"eval(s) + eval(s)\" ]"),
            // HTCondor 10.0.9, 24.0.20 and 25.12.2 fail at once.
            ("a", "[ a = a + (true ? a : 1) ]"),
            ("a", "[ a = a && (true ? a : 1) ]"),
            ("a", "[ a = a ?: (true ? a : 1) ]"),
            ("a", "[ a = b + (true ? a : 1); b = a ]"),
            ("a", "[ a = strcat(a) + (true ? a : 1) ]"),
            ("a", "[ a = undefined ? a : 1 ]"),
            ("a", "[ a = \"x\" ? a : 1 ]"),
            // 10.0.9, 10.9.0 and 24.0.20 fail at once.
            ("a", "[ a = a ? 1 : (true ? a : 1) ]"),
            ("a", "[ a = isUndefined(a) ? 1 : (true ? a : 2) ]"),
            ("a", "[ a = ifThenElse(a, true ? a : 1, 2) ]"),
            ("a", "[ a = member(a, {true ? a : 1}) ]"),
            ("a", "[ a = min({a, true ? a : 1}) ]"),
            ("a", "[ a = strcat(a, true ? a : 1) ]"),
            ("a", "[ a = max({strcat(a), a}) ]"),
            // 10.0.9 and the others fail: `strcat` ends at the first undefined argument, and the failures are not doubled.
            ("a", "[ a = sum({true ? strcat(undefined, a) : 1, true ? b : a}); b = b ? 1 : 2 ]"),
            ("a", "[ a = false ? strcat(a) : [q = strcat(b)].q; b = strcat(b || a) ]"),
            ("a", "[ n = 4; a = a =?= undefined ? true : (n > 3 ? a : false) ]"),
        ] {
            for series in ["10.0", "10.9", "23.0", "24.0", "25.12", "25.14"] {
                assert_eq!(met(text, my, series).0, [""; 0], "{text} in {series}");
            }
        }
    }
}
