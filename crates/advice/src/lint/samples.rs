//! Parts that are ERROR, or have no value, whatever their attributes are: found by evaluation with sample values.
//!
//! In: an expression whose attributes have known types. Out: a finding for each smallest such part.

use std::ops::RangeInclusive;

use super::attributes::{Fact, Kind, fact};
use super::expression::{LintContext, written};
use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::eval::scope::{EvalOptions, Limits, Scope};
use classmate::internal::plural::counted;
use classmate::internal::syntax::expr::{NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;
use classmate::internal::value::Type;
use classmate::{ClassAd, Diagnostic, Expr, Value};

/// Samples of each attribute.
const SAMPLES: usize = 5;

/// Functions that ask for errors or types, or whose values depend on what is not here.
const OPEN_CALLS: [&[u8]; 15] = [
    b"iserror",
    b"isundefined",
    b"isstring",
    b"isinteger",
    b"isreal",
    b"isboolean",
    b"islist",
    b"isclassad",
    b"isabstime",
    b"isreltime",
    b"usermap",
    b"userhome",
    b"eval",
    b"evalineachcontext",
    b"countmatches",
];

/// Functions for which the text of a string decides, not its type.
const READ_TEXT: [&[u8]; 12] = [
    b"int",
    b"real",
    b"bool",
    b"floor",
    b"ceiling",
    b"round",
    b"abstime",
    b"reltime",
    b"totime",
    b"regexps",
    b"replace",
    b"replaceall",
];

/// Functions whose lists always have two elements.
const PAIRS: [&[u8]; 2] = [b"splitusername", b"splitslotname"];

/// Larger expressions are not evaluated.
const MAX_PARTS: u32 = 400;

/// Strings in every sample: neither all numbers, names of people, nor lists.
const STRINGS: [&str; SAMPLES] = ["abc", "5", "a_b.c@d.example", "slot1_2@host.example.org, x", "true"];

/// Values of attributes that always have the same form.
const FORMS: [(&str, &str); 3] = [
    ("CondorVersion", "$CondorVersion: 25.14.1 2026-10-16 BuildID: 900000 PackageID: 25.14.1-1 GitSHA: 1234abcd $"),
    ("CondorPlatform", "$CondorPlatform: x86_64_AlmaLinux9 $"),
    ("JobSubmitVersion", "$CondorVersion: 25.14.1 2026-10-16 BuildID: 900000 PackageID: 25.14.1-1 $"),
];

/// The state of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It can be evaluated with the samples.
    Known,
    /// Something in it is not known, or its errors are meant.
    Open,
    /// It or a part of it has a finding.
    Found,
}

/// Adds a finding for each smallest part that is ERROR, or for a subscript UNDEFINED, with every sample.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let tree = expr.tree();
    let first = tree.first_of(expr.root());
    let asks = |id: NodeId| matches!(tree.view(id), View::Call { .. } | View::Subscript { .. } | View::Binary { .. });
    // What is certain of constants is said elsewhere.
    let refers = |id: NodeId| match tree.view(id) {
        View::Reference(_) => true,
        View::Call { name, .. } => name.folded() == b"time",
        _ => false,
    };
    if expr.root() - first > MAX_PARTS || !(first..=expr.root()).any(asks) {
        return;
    }
    let limits = Limits { work: 20_000, bytes: 1 << 20, ..Limits::default() };
    let settings = EvalOptions { now: 1 << 30, semantics: context.versions.read, limits, ..EvalOptions::default() };
    let ads = ads(tree, first..=expr.root());
    let samples = Samples { others: ads.clone(), ads, settings, expr };
    let mut meant = vec![false; (expr.root() - first) as usize + 1];
    for id in first..=expr.root() {
        let is_open = match tree.view(id) {
            View::Call { name, .. } => OPEN_CALLS.contains(&name.folded()),
            View::Compare { op, .. } => matches!(op, BinaryOp::Is | BinaryOp::Isnt),
            _ => false,
        };
        if is_open {
            meant[(tree.first_of(id) - first) as usize..=(id - first) as usize].fill(true);
        }
    }
    // A string whose text is not known.
    let is_any_text = |id: NodeId| match tree.view(id) {
        View::Reference(reference) => fact(reference.name.folded())
            .is_some_and(|fact| fact.kind == Some(Kind::String) && !fact.closed && fact.values.is_empty()),
        _ => false,
    };
    let mut states: Vec<State> = Vec::new();
    for id in first..=expr.root() {
        let state = |part: NodeId| states[(part - first) as usize];
        let inner = tree.parts(id);
        let is_in = |other: State| inner.iter().any(|part| state(*part) == other);
        let mut now = match tree.view(id) {
            View::Reference(reference) => {
                let ours = context.has_its_own(reference);
                let known = fact(reference.name.folded()).is_some_and(|fact| sample(fact, 0).is_some());
                if known && !ours { State::Known } else { State::Open }
            }
            View::AdName(_) | View::Absolute(_) | View::Select { .. } => State::Open,
            // A macro in a string can be anything.
            View::Literal(Literal::Str(text)) if text.as_bytes().contains(&OPEN) => State::Open,
            _ if meant[(id - first) as usize] => State::Open,
            View::Call { name, .. }
                if READ_TEXT.contains(&name.folded()) && (tree.first_of(id)..=id).any(is_any_text) =>
            {
                State::Open
            }
            // The number of words of a string is not known.
            View::Subscript { base, .. } if !matches!(tree.view(tree.bare(base)), View::Call { name, .. } if PAIRS.contains(&name.folded())) => {
                State::Open
            }
            // The samples may happen to be equal.
            View::Binary { op: BinaryOp::Divide | BinaryOp::Modulo, right, .. }
                if (tree.first_of(right)..=right).any(refers) =>
            {
                State::Open
            }
            _ if is_in(State::Found) => State::Found,
            _ if is_in(State::Open) => State::Open,
            _ => State::Known,
        };
        let is_candidate = matches!(
            tree.view(id),
            View::Call { .. } | View::Subscript { .. } | View::Compare { .. } | View::Binary { .. }
        );
        let whole = tree.first_of(id)..=id;
        let asked = is_candidate && now == State::Known && whole.clone().any(asks) && whole.clone().any(refers);
        if let Some(finding) = asked.then(|| samples.finding(context, id)).flatten() {
            now = State::Found;
            let span = finding.span;
            if !found.iter().any(|known| span.start <= known.span.start && known.span.end <= span.end) {
                found.push(finding);
            }
        }
        states.push(now);
    }
}

/// An expression with ads to evaluate it with.
struct Samples<'e> {
    ads: Vec<ClassAd>,
    /// The same on the other side of a match.
    others: Vec<ClassAd>,
    settings: EvalOptions,
    expr: &'e Expr,
}

impl Samples<'_> {
    /// The values of a part; none if one takes too long.
    fn values(&self, id: NodeId) -> Option<Vec<Value>> {
        let part = self.expr.part(id);
        let value = |(ad, other)| Scope::new(ad, &self.settings).with_target(other).eval(&part).ok();
        self.ads.iter().zip(&self.others).map(value).collect()
    }

    /// The finding about a part.
    fn finding(&self, context: &LintContext<'_>, id: NodeId) -> Option<Diagnostic> {
        let tree = self.expr.tree();
        let is_subscript = matches!(tree.view(id), View::Subscript { .. });
        let values = self.values(id)?;
        let what = match &values {
            values if values.iter().all(Value::is_error) => "ERROR",
            values if is_subscript && values.iter().all(Value::is_undefined) => "UNDEFINED",
            _ => return None,
        };
        let shown = |id: NodeId| Some(written(context.text, tree.span(id)?));
        let message = format!("`{}` is always {what}", shown(id)?);
        let types = tree.parts(id).into_iter().filter(|part| !is_literal(tree, *part)).filter_map(|part| {
            let values = self.values(part)?;
            let kind = values.first()?.type_of();
            values.iter().all(|value| value.type_of() == kind).then_some(())?;
            let lengths = values.iter().map(|value| if let Value::List(list) = value { list.len() } else { 0 });
            let kind = match (kind, lengths.max()?) {
                (Type::List, longest) => format!("a list of {}", counted(longest as u64, "value")),
                _ => kind.with_article(),
            };
            Some(format!("`{}` is {kind}", shown(part)?))
        });
        let help = types.collect::<Vec<_>>().join(", ");
        let warning = Diagnostic::warning(message, tree.span(id)?).code("type-clash");
        Some(if help.is_empty() { warning } else { warning.help(help) })
    }
}

fn is_literal(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.view(tree.bare(id)), View::Literal(_))
}

/// Ads with a sample of each attribute that an expression refers to and whose type is known.
fn ads(tree: &Tree, parts: RangeInclusive<NodeId>) -> Vec<ClassAd> {
    let mut ads = vec![ClassAd::new(); SAMPLES];
    for id in parts {
        let View::Reference(reference) = tree.view(id) else { continue };
        let Some(fact) = fact(reference.name.folded()) else { continue };
        for (at, ad) in ads.iter_mut().enumerate() {
            if let Some(value) = sample(fact, at) {
                ad.insert(fact.name, value);
            }
        }
    }
    ads
}

/// A sample value of an attribute; none if its type is not known.
fn sample(fact: &Fact, at: usize) -> Option<Value> {
    if let Some((_, text)) = FORMS.iter().find(|(name, _)| *name == fact.name) {
        return Some(Value::text(text));
    }
    if fact.expression {
        return None;
    }
    let (low, high) = fact.range.unwrap_or((0, 1 << 40));
    Some(match fact.kind? {
        Kind::String if !fact.values.is_empty() && (fact.closed || at > 0) => {
            Value::text(fact.values[at % fact.values.len()])
        }
        Kind::String => Value::text(STRINGS[at]),
        Kind::Boolean => Value::Bool(at == 0 || at == 3),
        Kind::Number if at == 1 => Value::Real(low as f64 + 0.5),
        Kind::Integer | Kind::Number => Value::Int([low, low.saturating_add(1), 2, 100, high][at].clamp(low, high)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::expression::{Role, lint};
    use super::*;
    use classmate::internal::syntax::token::Quoting;

    fn messages(text: &str) -> Vec<String> {
        let role = Role { condition: true, ..Role::default() };
        let found = lint(&LintContext::of(text.as_bytes(), Quoting::Old, role));
        found
            .iter()
            .map(|found| format!("{}: {} [{}]", found.code, found.message, found.help.as_deref().unwrap_or("")))
            .collect()
    }

    #[test]
    fn parts_without_a_value_are_told() {
        // As the library of HTCondor 25.14.1 evaluates them for any slot.
        for (text, message) in [
            (
                r#"formatTime(CurrentTime, "%H") > 8"#,
                r#"`formatTime(CurrentTime, "%H") > 8` is always ERROR [`formatTime(CurrentTime, "%H")` is a string]"#,
            ),
            (
                r#"regexp("x", TARGET.Memory)"#,
                r#"`regexp("x", TARGET.Memory)` is always ERROR [`TARGET.Memory` is an integer]"#,
            ),
            (
                r#"formatTime("%H", time()) == "08""#,
                r#"`formatTime("%H", time())` is always ERROR [`time()` is an integer]"#,
            ),
            (
                r#"splitUserName(Owner)[2] == "x""#,
                "`splitUserName(Owner)[2]` is always ERROR [`splitUserName(Owner)` is a list of 2 values]",
            ),
        ] {
            assert_eq!(messages(text), [format!("type-clash: {message}")], "{text}");
        }
    }

    #[test]
    fn parts_with_a_value_for_some_attributes_are_left_alone() {
        for text in [
            r#"split(TARGET.CondorVersion)[1] == "25.0.0""#,
            r#"splitSlotName(Name)[1] == "host""#,
            "int(TARGET.CUDADriverVersion) > 11",
            r#"isError(regexp("x", Memory)) || Cpus > 1"#,
            "size(Owner) > 3 && floor(LoadAvg) < 2",
            r#"regexp("x", MyOwn)"#,
            // What strings contain is not known.
            r##"split(GlobalJobId, "#")[1] == "5.0""##,
            r#"split(TARGET.Machine, "-")[1] == "gpu""#,
            r#"int(regexps("node([0-9]+)", TARGET.Machine, "\\1")) % 2 == 0"#,
            "relTime(JobBatchName) > relTime(5)",
            r#"size(split(Iwd, "/")) > 3 && split(Iwd, "/")[3] == "alice""#,
            r#"isString(split(Iwd, "/")[3])"#,
            "(time() - JobStartDate) / (CompletionDate - QDate) > 1",
        ] {
            assert_eq!(messages(text), [""; 0], "{text}");
        }
    }
}
