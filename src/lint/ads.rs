//! Ads: every expression of them.

use std::sync::Arc;

use hashbrown::HashMap;

use super::expression::{Found, Question, Role, is_unit, parsed, unparsed};
use super::{Alarm, Edit, Excerpt};
use crate::ad::ClassAd;
use crate::analysis::evaluate::{Analysis, unknown};
use crate::analysis::facts::{Reference, Side};
use crate::analysis::values::{Truths, Values};
use crate::error::{Finding, Severity};
use crate::name::Name;
use crate::span::Span;
use crate::syntax::expr::{Expr, Node};
use crate::syntax::operator::BinaryOp;
use crate::syntax::parse::{ParseOptions, parse_expr, parse_prefix};
use crate::syntax::token::{Quoting, is_space};

/// Alarms of one file that are kept; those that say the same are counted.
const MOST: usize = 1000;

/// Attributes that are conditions, lower case.
const CONDITIONS: &[&str] = &[
    "requirements",
    "start",
    "preempt",
    "suspend",
    "continue",
    "kill",
    "wantsuspend",
    "wantvacate",
    "isowner",
    "periodichold",
    "periodicremove",
    "periodicrelease",
    "periodicvacate",
    "onexithold",
    "onexitremove",
    "leavejobinqueue",
    "withinresourcelimits",
    "cronminute",
];

/// What an attribute of an ad is for.
fn role(name: Name, slot: bool) -> Role {
    let folded = name.folded();
    Role { condition: CONDITIONS.iter().any(|known| known.as_bytes() == folded), looks_at_jobs: slot }
}

/// Whether an ad is a slot's.
fn is_slot(ad: &ClassAd) -> bool {
    ad.contains("SlotID") || (ad.contains("State") && ad.contains("Activity")) || ad.contains("TotalSlots")
}

/// One attribute of an ad and where it stands.
struct Line {
    name: Name,
    expr: Option<Expr>,
    text: Vec<u8>,
    number: u64,
    /// Column and offset of the value.
    column: u64,
    offset: usize,
    faults: Vec<Found>,
}

/// Collects alarms; the same text is looked at once.
#[derive(Default)]
pub struct AdLinter {
    alarms: Vec<Alarm>,
    /// Texts of expressions, by attribute, and the alarms they gave.
    seen: HashMap<(Vec<u8>, Vec<u8>, bool), Vec<usize>>,
    ads: u64,
}

impl AdLinter {
    /// The alarms so far.
    pub fn finish(self) -> Vec<Alarm> {
        self.alarms
    }

    fn expression(&mut self, file: &Arc<str>, ad: &ClassAd, line: Line) {
        let slot = is_slot(ad);
        let key = (line.name.folded().to_vec(), line.text.clone(), slot);
        if let Some(known) = self.seen.get(&key) {
            for at in known {
                self.alarms[*at].repeated += 1;
            }
            return;
        }
        let quoting = if line.offset == usize::MAX { Quoting::New } else { Quoting::Old };
        let mut found = line.faults;
        if let Some(expr) = &line.expr {
            let defined = |name: Name| ad.contains(name);
            let question =
                Question { text: &line.text, quoting, role: role(line.name, slot), defined: &defined, base: &unknown };
            found.extend(parsed(&question, expr));
            if line.name.folded() == b"requirements" && found.iter().all(|found| !settles(found.code)) {
                found.extend(unsatisfiable(ad, expr));
            }
        }
        let mut given = Vec::new();
        for found in found {
            if self.alarms.len() >= MOST {
                break;
            }
            let edit =
                found.finding.fix.as_ref().filter(|_| found.is_certain() && line.offset != usize::MAX).map(|fix| {
                    let range = fix.span.range();
                    Edit { range: line.offset + range.start..line.offset + range.end, text: fix.text.clone() }
                });
            given.push(self.alarms.len());
            self.alarms.push(Alarm {
                code: found.code,
                finding: found.finding,
                excerpt: Excerpt {
                    file: Arc::clone(file),
                    line: line.number,
                    column: line.column,
                    text: line.text.clone(),
                },
                subject: Some(line.name.display().into_owned()),
                repeated: 0,
                edit,
            });
        }
        self.seen.insert(key, given);
    }

    /// Looks at an ad whose places are not known.
    pub fn ad(&mut self, file: &Arc<str>, ad: &ClassAd) {
        self.ads += 1;
        for (name, expr) in ad.iter() {
            if matches!(expr.node(), Node::Literal(_)) {
                continue;
            }
            let text = expr.to_text(crate::syntax::print::Style::New);
            // Parsed again, for the places in its text.
            let options = ParseOptions { places: true, ..ParseOptions::default() };
            let expr = parse_expr(&text, &options).ok();
            let (number, column, offset) = (0, 1, usize::MAX);
            self.expression(file, ad, Line { name, expr, text, number, column, offset, faults: Vec::new() });
        }
    }

    /// Looks at a text of the long format.
    pub fn long(&mut self, file: &Arc<str>, text: &[u8]) {
        let mut lines: Vec<Line> = Vec::new();
        let mut ad = ClassAd::new();
        let mut start = 0;
        for (at, raw) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = raw.strip_suffix(b"\r").unwrap_or(raw);
            let content = line.iter().position(|byte| !is_space(*byte));
            match content {
                None => self.finished(file, &mut ad, &mut lines),
                Some(first) if line[first] == b'#' => {}
                Some(_) if line.starts_with(b"***") => self.finished(file, &mut ad, &mut lines),
                Some(first) => {
                    if let Some(line) = attribute(line, first, at as u64 + 1, start, &mut ad) {
                        lines.push(line);
                    }
                }
            }
            start += raw.len() + 1;
        }
        self.finished(file, &mut ad, &mut lines);
    }

    fn finished(&mut self, file: &Arc<str>, ad: &mut ClassAd, lines: &mut Vec<Line>) {
        if ad.is_empty() && lines.is_empty() {
            return;
        }
        self.ads += 1;
        let whole = std::mem::take(ad);
        for line in lines.drain(..) {
            self.expression(file, &whole, line);
        }
    }
}

/// Codes that say already that a condition is never true.
fn settles(code: &str) -> bool {
    matches!(code, "contradiction" | "never-true" | "always-false" | "always-undefined" | "always-error")
}

/// Reads a line `Name = value`; what is a constant and right is only put into the ad.
fn attribute(line: &[u8], first: usize, number: u64, start: usize, ad: &mut ClassAd) -> Option<Line> {
    let options = ParseOptions { quoting: Quoting::Old, places: true, ..ParseOptions::default() };
    let Some(equals) = memchr::memchr(b'=', line) else {
        let finding = Finding::error("expected `name = value`, found no `=`", Span::new(first, line.len()));
        let fault = Found::new("syntax", finding.help("HTCondor skips the rest of the ad"));
        let name = Name::new("a line");
        return Some(Line {
            name,
            expr: None,
            text: line.to_vec(),
            number,
            column: 1,
            offset: start,
            faults: vec![fault],
        });
    };
    let name = line[first..equals].trim_ascii();
    let name = Name::new(name.strip_prefix(b"'").and_then(|name| name.strip_suffix(b"'")).unwrap_or(name));
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| is_space(**byte)).count();
    let text = &line[value..];
    let place = |expr: Option<Expr>, faults: Vec<Found>| Line {
        name,
        expr,
        text: text.to_vec(),
        number,
        column: value as u64 + 1,
        offset: start + value,
        faults,
    };
    match parse_prefix(text, &options) {
        Err(error) => {
            let mut fault = unparsed(text, &error, &options);
            fault.finding.fix = fault.finding.fix.filter(|_| fault.code == "assignment");
            Some(place(None, vec![fault]))
        }
        Ok((expr, read)) => {
            ad.insert_expr(name, &expr);
            let mut faults = Vec::new();
            let rest = &text[read..];
            if let Some(at) = rest.iter().position(|byte| !is_space(*byte)) {
                faults.push(ignored(text, read + at, &options));
            }
            if faults.is_empty() && matches!(expr.node(), Node::Literal(_)) {
                return None;
            }
            Some(place(Some(expr), faults))
        }
    }
}

/// The text behind an expression, which is not read.
fn ignored(text: &[u8], at: usize, options: &ParseOptions) -> Found {
    let span = Span::new(at, text.trim_ascii_end().len());
    if is_unit(text, at) {
        let kept = String::from_utf8_lossy(&text[..at.min(40)]).into_owned();
        let finding = Finding::error(format!("the language has no units: the value read is `{kept}`"), span);
        return Found::new("size-suffix", finding.help("write the whole number, or a product such as `2 * 1024`"));
    }
    if let Err(error) = parse_expr(text, options) {
        let found = unparsed(text, &error, options);
        if matches!(found.code, "assignment" | "leftover-macro") {
            return found;
        }
        let finding = Finding { severity: Severity::Error, fix: None, ..found.finding };
        let finding = Finding { message: format!("what follows is not read: {}", finding.message), ..finding };
        return Found::new("ignored-text", finding);
    }
    Found::new("ignored-text", Finding::error("what follows the expression is not read", span))
}

/// Whether Requirements are never true, given the constants of their own ad.
fn unsatisfiable(ad: &ClassAd, expr: &Expr) -> Option<Found> {
    let base = |reference: Reference| {
        if reference.side == Side::Target {
            return Values::any();
        }
        ad.constant(reference.name).map_or_else(Values::any, |value| Values::value(&value))
    };
    let tree = &**expr.tree();
    let analysis = Analysis::new(tree, &base);
    let truths = analysis.truths(expr.root());
    let plain = matches!(tree.node(expr.root()), Node::Literal(_));
    if plain || truths.has(Truths::TRUE) || truths == Truths::NONE {
        return None;
    }
    // The clause that is to blame, if it is one alone.
    let operands = tree.operands(BinaryOp::And, expr.root());
    let blame = operands.into_iter().find(|id| !analysis.truths(*id).has(Truths::TRUE)).unwrap_or(expr.root());
    let span = tree.span(blame)?;
    let finding = Finding::warning("with the other values of this ad, this is never true: it matches nothing", span);
    Some(Found::new("unsatisfiable", finding.help("see the attributes it refers to in the ad itself")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut linter = AdLinter::default();
        linter.long(&Arc::from("f"), text.as_bytes());
        let shown = |alarm: &Alarm| {
            let place = alarm.place().0;
            format!("{} {}:{} +{}", alarm.code, place.line, place.column, alarm.repeated)
        };
        linter.finish().iter().map(shown).collect()
    }

    #[test]
    fn lines_that_lose_something_are_told() {
        assert_eq!(found("RequestMemory = 2G\nCpus = 1"), ["size-suffix 1:18 +0"]);
        assert_eq!(found("A = 1 +\n\nB = x = 5"), ["syntax 1:8 +0", "assignment 3:7 +0"]);
        assert_eq!(found("A = \"x\" junk"), ["ignored-text 1:9 +0"]);
        assert_eq!(found("A = $(X)"), ["leftover-macro 1:5 +0"]);
    }

    #[test]
    fn the_same_in_many_ads_is_told_once() {
        let ad = "Requirements = x > 1 && x > 1\nSlotID = 1\n\n";
        assert_eq!(found(&ad.repeat(5)), ["duplicate-clause 1:25 +4"]);
    }

    #[test]
    fn requirements_that_the_ad_itself_refutes_are_told() {
        assert_eq!(
            found("RequestGPUs = 0\nRequirements = TARGET.Cpus > 1 && RequestGPUs > 0"),
            ["unsatisfiable 2:35 +0"]
        );
        assert_eq!(found("RequestGPUs = 1\nRequirements = TARGET.Cpus > 1 && RequestGPUs > 0"), Vec::<String>::new());
    }
}
