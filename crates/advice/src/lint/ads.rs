//! Ads: every expression of them.
//!
//! In: the text of ads in any form. Out: the findings about their attributes. One file of more than 600 lines: the readers of
//! each form give their attributes to the same linter, and a quarter of the lines are tests.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::ad_values;
use super::attribute_lines::tags;
use super::attributes::{is_known, misspelled_own, only_in};
use super::compared_values::assigned;
use super::expression::{LintContext, MAX_TEXT, Role, is_unit, parsed, unparsed};
use super::knobs::{SLOT_VALUE, job_role};
use super::rules::{bare_word, unquoted_text};
use super::schema::AdSchema;
use super::versions::{LintVersions, is_certain, read_elsewhere};
use super::{LineIndex, MAX_OF_LINE, placed, shifted_fix};
use crate::fmt::ads::{comment, separated};
use crate::versions::VersionText;
use classmate::internal::analysis::evaluate::Analysis;
use classmate::internal::analysis::values::{Truths, Values};
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::internal::format::new::parse_ad;
use classmate::internal::format::{advertised, bracketed};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::{parse_expr, parse_prefix};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::{Quoting, is_space};
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions, Semantics, Span, Value};

/// Alarms of one file that are kept; those that say the same are counted.
const MAX_DIAGNOSTICS: usize = 1000;
/// Bytes that are searched for the end of ads with errors, before the search is cut short.
const MAX_SEARCHED_BYTES: usize = 64 << 20;
/// Bytes of an ad behind [`MAX_SEARCHED_BYTES`] of ads with errors.
const MAX_AD_BYTES: usize = 16 << 10;
/// Maximum number of names in one expression that are distinguished by their values in the ad.
const MAX_NAMES: usize = 500;
/// Bytes of the lines that alarms of one file repeat.
const MAX_EXCERPTS: usize = 32 << 20;
/// Lines of an ad that wait until the ad is read; those after them are read twice.
const MAX_LINES: usize = 10_000;
/// Different ads that one text is looked at for.
const MAX_VARIANTS: usize = 10_000;

/// Attributes of slots that are conditions, lower case, beside `Requirements`.
const SLOT_CONDITIONS: [&str; 9] =
    ["start", "preempt", "suspend", "continue", "kill", "wantsuspend", "wantvacate", "isowner", "withinresourcelimits"];

/// The role of an attribute in an ad.
fn role(name: Name, slot: bool) -> Role {
    let folded = name.folded();
    let (of_job, of_slot) = (job_role(folded), SLOT_CONDITIONS.iter().any(|known| known.as_bytes() == folded));
    if !slot {
        return Role { condition: of_job.condition || of_slot, ..of_job };
    }
    // Requirements and Rank of a slot look at jobs too.
    let looks = of_slot || matches!(folded, b"requirements" | b"rank");
    let condition = of_job.condition || of_slot;
    if looks { Role { condition, ..SLOT_VALUE } } else { Role { condition, looks_at_jobs: true, ..Role::default() } }
}

/// Returns true if the value of an attribute is a constant that is fine there, whatever the others are, and the same in all
/// versions.
fn is_plain(name: Name, expr: &Expr, text: &[u8]) -> bool {
    let Node::Literal(literal) = expr.node() else { return false };
    let is_fine = match literal {
        Literal::Bool(_) | Literal::Int(_) | Literal::Real(_) | Literal::RelTime(_) => true,
        _ => !role(name, false).condition,
    };
    is_fine && is_certain(literal, text.trim_ascii())
}

/// Returns true if something beside its value may be odd about an attribute that is a plain constant.
fn may_be_odd(name: Name) -> bool {
    ad_values::depends_on_others(name) || !is_known(name.folded())
}

/// Returns true if an ad is a slot's: it says so, or has what only slots have.
fn is_slot(ad: &ClassAd) -> bool {
    if let Some(Value::Str(kind)) = ad.constant("MyType") {
        return kind.eq_ignore_ascii_case(b"Machine");
    }
    ad.contains("SlotID") || (ad.contains("State") && ad.contains("Activity")) || ad.contains("TotalSlots")
}

fn is_job(ad: &ClassAd) -> bool {
    matches!(ad.constant("MyType"), Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Job"))
        || ad.contains("ClusterId")
}

/// The finding about a known attribute that is a constant of another type, or none of its values.
fn odd_constant(name: Name, expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let Node::Literal(literal) = expr.node() else { return None };
    let text = text.trim_ascii();
    assigned(name, literal, &String::from_utf8_lossy(text), Span::new(0, text.len()))
}

/// The names that an expression mentions, each once, in the order of the text: all that a verdict can depend on.
fn mentioned(expr: &Expr) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for name in expr.tree().names(expr.root()) {
        if names.len() < MAX_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One attribute of an ad and its place.
struct Line<'a> {
    name: Name,
    expr: Option<Expr>,
    text: &'a [u8],
    number: u64,
    /// The text of the line before the value.
    before: &'a [u8],
    /// The offset of the value in the file, if it is known.
    offset: Option<usize>,
    quoting: Quoting,
    faults: Vec<Diagnostic>,
    /// The value is a constant of which nothing is to be said by itself.
    plain: bool,
}

impl<'a> Line<'a> {
    /// A line of which nothing but the value is known.
    fn new(name: Name, text: &'a [u8], quoting: Quoting, number: u64) -> Self {
        let (before, faults) = (&b""[..], Vec::new());
        Line { name, expr: None, text, number, before, offset: None, quoting, faults, plain: false }
    }
}

/// An expression that was met before.
#[derive(Default)]
struct SeenExpression {
    /// The names it mentions.
    mentioned: Vec<Name>,
    /// The indexes of the alarms, by which of the names the ad has.
    verdicts: HashMap<Vec<bool>, Vec<usize>>,
    /// The indexes of the alarms about its Requirements, by the values of the names.
    satisfied: HashMap<Vec<u8>, Vec<usize>>,
    /// The alarms it gave, with what was found in the text.
    given: Vec<(usize, Diagnostic)>,
}

/// Collects alarms; the same text is looked at once for all ads in which it can mean the same.
#[derive(Default)]
pub struct AdLinter {
    alarms: Vec<Diagnostic>,
    /// Bytes of the lines that they repeat.
    repeated: usize,
    /// Expressions by attribute, text, version, and whether the ad is a slot's.
    seen: HashMap<(Vec<u8>, Vec<u8>, Semantics, bool), SeenExpression>,
    /// The findings about names and about values beside others, by the name.
    given: HashMap<Vec<u8>, Vec<(usize, Diagnostic)>>,
    /// The attributes that names misspell.
    names: HashMap<Vec<u8>, Option<&'static str>>,
    schema: Option<Arc<AdSchema>>,
    /// The versions for the ad that is looked at, where each has its own.
    own: Option<LintVersions>,
}

impl AdLinter {
    /// A linter that knows the other ads that are looked at.
    pub fn within(schema: Arc<AdSchema>) -> Self {
        AdLinter { schema: Some(schema), ..AdLinter::default() }
    }

    /// The alarms so far.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.alarms
    }

    /// The reading of texts, with places.
    fn options(&self, quoting: Quoting) -> ParseOptions {
        let semantics = self.versions().read;
        ParseOptions { quoting, semantics, places: true, ..ParseOptions::default() }
    }

    fn versions(&self) -> &LintVersions {
        let of_all = || self.schema.as_ref().map_or(LintVersions::unknown(), |schema| &schema.versions);
        self.own.as_ref().unwrap_or_else(of_all)
    }

    /// Begins an ad, which is read in its own version where each has its own.
    fn begin(&mut self, version: impl FnOnce() -> Option<Semantics>) {
        self.own = None;
        let versions = self.versions();
        let read = versions.read.of_one(version);
        self.own = (read != versions.read).then(|| LintVersions { read, ..versions.clone() });
    }

    /// Looks at the name of an attribute, and at its value beside those of the others.
    fn beside(&mut self, file: &Arc<str>, ad: &ClassAd, line: &Line<'_>, slot: bool) {
        let is_other = !is_known(line.name.folded());
        let meant = if is_other { self.misspelled(line.name).filter(|meant| !ad.contains(*meant)) } else { None };
        let found = meant.map(|meant| {
            let message = format!("HTCondor does not know an attribute `{}`", line.name);
            let found = Diagnostic::warning(message, Span::new(0, line.text.trim_ascii().len()));
            found.help(format!("did you mean `{meant}`?")).code("unknown-attribute")
        });
        let Some(found) = found.or_else(|| ad_values::find(line.name, line.text, ad, slot)) else { return };
        let mut given = self.given.remove(line.name.folded()).unwrap_or_default();
        self.give(file, line, vec![found], &mut given);
        self.given.insert(line.name.folded().to_vec(), given);
    }

    /// The attribute that a name misspells.
    fn misspelled(&mut self, name: Name) -> Option<&'static str> {
        if let Some(known) = self.names.get(name.folded()) {
            return *known;
        }
        let meant = misspelled_own(name.folded());
        self.names.insert(name.folded().to_vec(), meant);
        meant
    }

    fn expression(&mut self, file: &Arc<str>, ad: &ClassAd, line: &mut Line<'_>) {
        let slot = is_slot(ad);
        let of_schedd =
            matches!(ad.constant("MyType"), Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Scheduler"));
        let other = if of_schedd { Some("scheduler") } else { is_job(ad).then_some("job") };
        let kind = if slot { Some("slot") } else { other };
        if kind.is_some_and(|kind| kind != "scheduler") {
            self.beside(file, ad, line, slot);
        }
        if line.plain {
            return;
        }
        let key = (line.name.folded().to_vec(), line.text.to_vec(), self.versions().read, slot);
        let mut known = self.seen.remove(&key).unwrap_or_else(|| SeenExpression {
            mentioned: line.expr.as_ref().map(mentioned).unwrap_or_default(),
            ..SeenExpression::default()
        });
        let has: Vec<bool> = known.mentioned.iter().map(|name| ad.contains(*name)).collect();
        let found_now = if let Some(found) = known.verdicts.get(&has) {
            self.again(found);
            found.clone()
        } else if known.verdicts.len() >= MAX_VARIANTS {
            Vec::new()
        } else {
            let quoting = line.quoting;
            let prefix = quoting == Quoting::Old;
            let written = VersionText { text: line.text, quoting, prefix };
            let faults = std::mem::take(&mut line.faults).into_iter();
            let mut found: Vec<Diagnostic> =
                faults.map(|fault| read_elsewhere(fault, written, self.versions())).collect();
            if let Some(expr) = line.expr.as_ref().filter(|_| line.text.len() <= MAX_TEXT) {
                let defined = |name: Name| ad.contains(name);
                let role = role(line.name, slot);
                let schema = self.schema.as_deref();
                let (own, versions) = (Some((line.name, ad)), self.versions());
                let context = LintContext::of(line.text, quoting, role);
                let context = LintContext { defined: &defined, prefix, schema, own, versions, ..context };
                let owner = only_in(line.name.folded());
                if kind.is_some() && (owner.is_none() || owner == kind) {
                    found.extend(odd_constant(line.name, expr, line.text));
                }
                let circle = circular(line.name, expr, ad);
                let of_expression = parsed(&context, expr);
                let is_circle = |one: &Diagnostic| one.code == "version-dependent" && one.message.ends_with("(cycle)");
                found.extend(of_expression.into_iter().filter(|one| circle.is_none() || !is_circle(one)));
                found.extend(circle);
                let bare = unquoted_text(line.name, line.text, expr, &defined);
                let word = || kind.and_then(|_| bare_word(line.name, line.text, expr, &defined));
                found.extend(bare.or_else(word));
            }
            let given = self.give(file, line, found, &mut known.given);
            known.verdicts.insert(has, given.clone());
            given
        };
        let settled = found_now.iter().any(|at| settles(self.alarms[*at].code));
        let is_judged = line.name.folded() == b"requirements" && !settled && line.text.len() <= MAX_TEXT;
        if let Some(expr) = line.expr.as_ref().filter(|_| is_judged) {
            let values = constants(ad, &known.mentioned);
            if let Some(found) = known.satisfied.get(&values) {
                self.again(found);
            } else if known.satisfied.len() < MAX_VARIANTS {
                let found: Vec<Diagnostic> = unsatisfiable(ad, expr).into_iter().collect();
                let given = self.give(file, line, found, &mut known.given);
                known.satisfied.insert(values, given);
            }
        }
        self.seen.insert(key, known);
    }

    /// Counts alarms that another ad gives too.
    fn again(&mut self, found: &[usize]) {
        for at in found {
            self.alarms[*at].repeated += 1;
        }
    }

    /// Keeps what was found in an expression, and counts what was found in the same expression of another ad.
    fn give(
        &mut self,
        file: &Arc<str>,
        line: &Line<'_>,
        found: Vec<Diagnostic>,
        given: &mut Vec<(usize, Diagnostic)>,
    ) -> Vec<usize> {
        let mut now = Vec::with_capacity(found.len());
        for found in found {
            if let Some((at, _)) = given.iter().find(|(_, known)| *known == found) {
                self.alarms[*at].repeated += 1;
                now.push(*at);
                continue;
            }
            if self.alarms.len() >= MAX_DIAGNOSTICS || self.repeated > MAX_EXCERPTS {
                break;
            }
            let fix = line.offset.and_then(|offset| shifted_fix(&found, offset));
            given.push((self.alarms.len(), found.clone()));
            now.push(self.alarms.len());
            let text = [line.before, line.text].concat();
            self.repeated += text.len();
            let excerpt = Excerpt { text, subject: Some(line.name.display().into_owned()) };
            self.alarms.push(placed(found.shifted(line.before.len()), file, line.number, excerpt, fix));
        }
        now
    }

    /// Looks at an ad whose places are not known; `line_of` tells the line on which an attribute is, if the file says so.
    pub fn ad(&mut self, file: &Arc<str>, ad: &ClassAd, line_of: &dyn Fn(Name) -> u64) {
        self.begin(|| Semantics::of_ad(ad.constant("CondorVersion")?.as_bytes()?));
        for (name, expr) in ad.iter() {
            let text = expr.to_text(Style::New);
            let plain = is_plain(name, &expr, &text);
            if plain && !may_be_odd(name) {
                continue;
            }
            // Parsed again, for the places in its text.
            let expr = if plain { None } else { parse_expr(&text, &self.options(Quoting::New)).ok() };
            let mut line = Line { expr, plain, ..Line::new(name, &text, Quoting::New, line_of(name)) };
            self.expression(file, ad, &mut line);
        }
    }

    /// Looks at ads in new syntax, `[ … ]`, alone, one after the other or in a list, with the places of their text.
    pub fn written(&mut self, file: &Arc<str>, text: &[u8]) {
        let lines = LineIndex::of(text);
        // Bytes that were searched for the end of ads that are not closed.
        let (mut at, mut searched) = (0, 0);
        while let Some(start) = text[at..].iter().position(|byte| !is_space(*byte) && !b"{},".contains(byte)) {
            let start = at + start;
            if let Some(length) = comment(&text[start..]) {
                at = start + length;
                continue;
            }
            let patient = searched < MAX_SEARCHED_BYTES;
            let rest = &text[start..if patient { text.len() } else { text.len().min(start + MAX_AD_BYTES) }];
            self.begin(|| advertised(bracketed(rest)?).next());
            // Alone, so that what follows is not searched for each ad.
            let options = self.options(Quoting::New);
            let alone = bracketed(rest).and_then(|alone| parse_ad(alone, &options).ok());
            let end = match alone.map_or_else(|| parse_ad(rest, &options), Ok) {
                Ok((_, length)) => start + length.max(1),
                Err(error) => {
                    searched += rest.len();
                    let read = if patient { 1 } else { error.span.range().start.saturating_sub(1).max(1) };
                    // The next ad probably begins a line.
                    memchr::memmem::find(&text[start + read..], b"\n[")
                        .map_or(text.len(), |next| start + read + next + 1)
                }
            };
            self.written_ad(file, text, &lines, start..end);
            at = end;
        }
    }

    /// Looks at the ad of new syntax in a part of a text.
    fn written_ad(&mut self, file: &Arc<str>, whole: &[u8], lines: &LineIndex, range: Range<usize>) {
        let options = self.options(Quoting::New);
        let start = range.start;
        let text = whole[range].trim_ascii_end();
        let (Ok(expr), Ok(ad)) = (parse_expr(text, &options), ClassAd::parse_with(text, &options)) else {
            if let Err(error) = parse_expr(text, &options) {
                let mut fault = unparsed(text, &error, &options);
                // What is missing is missing at the end of the attribute before it.
                let end = text[..fault.span.range().start.min(text.len())].trim_ascii_end().len();
                if fault.message.starts_with("expected `;` before the attribute") && end > 0 {
                    fault.span = Span::new(end - 1, end);
                }
                let line = Line::new(Name::new("ad"), text, Quoting::New, lines.line(start));
                let before = lines.before(whole, start);
                let mut line = Line { faults: vec![fault], before, offset: Some(start), ..line };
                self.expression(file, &ClassAd::new(), &mut line);
            }
            return;
        };
        let tree = expr.tree();
        let Node::Ad(run) = *tree.node(expr.root()) else { return };
        for &(name, id) in tree.ad(run) {
            let Some(span) = tree.span(id) else { continue };
            let range = span.range();
            let Some(part) = text.get(range.clone()) else { continue };
            let value = expr.part(id);
            let plain = is_plain(name, &value, part) && odd_constant(name, &value, part).is_none();
            if plain && !may_be_odd(name) {
                continue;
            }
            let at = start + range.start;
            let (expr, before) = (parse_expr(part, &options).ok(), lines.before(whole, at));
            let mut line =
                Line { expr, plain, before, offset: Some(at), ..Line::new(name, part, Quoting::New, lines.line(at)) };
            self.expression(file, &ad, &mut line);
        }
    }

    /// Looks at the values in XML that are read as others than they say: a boolean other than `t` is false, and a text
    /// that does not begin with a number is ERROR.
    pub fn elements(&mut self, file: &Arc<str>, text: &[u8]) {
        let lines = LineIndex::of(text);
        // The last line with findings, and their number.
        let mut of_line = (0, 0);
        for at in tags(text) {
            let rest = &text[at + 1..];
            let value = |open: &[u8], close: u8| {
                let inner = rest.strip_prefix(open)?;
                Some(inner[..memchr::memchr(close, inner)?].trim_ascii())
            };
            let truth = value(b"b v=\"", b'"');
            let number = value(b"i>", b'<').or_else(|| value(b"r>", b'<'));
            let is_number = |text: &[u8]| {
                let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
                let is_word =
                    ["nan", "inf", "infinity"].iter().any(|word| digits.eq_ignore_ascii_case(word.as_bytes()));
                is_word || digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
            };
            let (value, message, help) = match (truth, number) {
                (Some(truth), _) if !matches!(truth, b"t" | b"T" | b"f" | b"F") => {
                    (truth, "is not a boolean, and is read as false", "write `t` or `f`")
                }
                (_, Some(number)) if !is_number(number) => {
                    (number, "is not a number, and is read as ERROR", "write a number")
                }
                _ => continue,
            };
            let line = lines.line(at);
            of_line = if of_line.0 == line { (line, of_line.1 + 1) } else { (line, 1) };
            if of_line.1 > MAX_OF_LINE {
                if let Some(last) = self.alarms.last_mut() {
                    last.repeated += 1;
                }
                continue;
            }
            let message = format!("`{}` {message}", String::from_utf8_lossy(value));
            let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            let found = Diagnostic::warning(message, Span::new(at - start, end - start)).help(help).code("type-clash");
            if self.alarms.len() < MAX_DIAGNOSTICS {
                let excerpt = Excerpt { text: text[start..end].to_vec(), subject: None };
                self.alarms.push(placed(found, file, line, excerpt, None));
            }
        }
    }

    /// Looks at a text of the long format.
    pub fn long(&mut self, file: &Arc<str>, text: &[u8]) {
        let (mut number, mut start) = (0, 0);
        for ad_text in separated(text) {
            self.begin(|| advertised(ad_text).next());
            let options = self.options(Quoting::Old);
            let (mut ad, mut lines) = (ClassAd::new(), Vec::new());
            // The ad before the first line that does not wait, and the place of the line.
            let mut waiting: Option<(ClassAd, usize, u64, usize)> = None;
            let (mut at, mut previous) = (0, &b""[..]);
            for raw in ad_text.split_inclusive(|byte| *byte == b'\n') {
                if lines.len() >= MAX_LINES && waiting.is_none() {
                    waiting = Some((ad.clone(), at, number, start));
                }
                number += 1;
                match assigning(raw) {
                    Some((line, first)) if waiting.is_none() => {
                        lines.extend(attribute(line, first, (number, start), &options, &mut ad));
                    }
                    // The same line again changes nothing.
                    Some((line, first)) if raw != previous => assign(line, first, &options, &mut ad),
                    _ => {}
                }
                previous = raw;
                (at, start) = (at + raw.len(), start + raw.len());
            }
            for mut line in lines {
                self.expression(file, &ad, &mut line);
            }
            let Some((mut so_far, at, mut number, mut start)) = waiting else { continue };
            for raw in ad_text[at..].split_inclusive(|byte| *byte == b'\n') {
                number += 1;
                let found = assigning(raw)
                    .and_then(|(line, first)| attribute(line, first, (number, start), &options, &mut so_far));
                if let Some(mut line) = found {
                    self.expression(file, &ad, &mut line);
                }
                start += raw.len();
            }
        }
    }
}

/// The names that an expression needs a value of, as it is made of operators that are UNDEFINED where a side of them is.
pub(super) fn needed(expr: &Expr) -> Vec<Name> {
    let tree = expr.tree();
    let (mut open, mut names) = (vec![expr.root()], Vec::new());
    while let Some(id) = open.pop() {
        let id = tree.bare(id);
        if let Some(reference) = tree.reference(id) {
            names.extend(Some(reference.name).filter(|_| reference.scope != RefScope::Target));
            continue;
        }
        match *tree.node(id) {
            Node::Unary(_, operand) => open.push(operand),
            Node::Binary(op, left, right)
                if !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Is | BinaryOp::Isnt | BinaryOp::Default) =>
            {
                open.extend([left, right]);
            }
            _ => {}
        }
    }
    names
}

/// The finding about an attribute whose value needs the attribute itself: `Start = IsReady`, `IsReady = Start`.
pub(super) fn circular(name: Name, expr: &Expr, ad: &ClassAd) -> Option<Diagnostic> {
    /// Attributes that are followed.
    const MAX_FOLLOWED: usize = 20;
    let (mut open, mut seen) = (vec![(name, needed(expr))], Vec::new());
    while let Some((by, names)) = open.pop().filter(|_| seen.len() < MAX_FOLLOWED) {
        if names.contains(&name) {
            let span = expr.tree().span(expr.root())?;
            let through = if by == name { String::new() } else { format!(" through `{by}`") };
            let message = format!("`{name}` refers to itself{through}, and is UNDEFINED");
            let found =
                Diagnostic::warning(message, span).help("write a value that does not need the attribute itself");
            return Some(found.code("always-undefined"));
        }
        for other in names.into_iter().filter(|other| !seen.contains(other)).collect::<Vec<_>>() {
            seen.push(other);
            open.extend(ad.get(other).map(|expr| (other, needed(&expr))));
        }
    }
    None
}

/// Codes that say already that a condition is never true.
fn settles(code: &str) -> bool {
    matches!(code, "contradiction" | "never-true" | "always-false" | "always-undefined" | "always-error")
}

/// A line of the long format without its end, and where its text begins; none for empty lines and comments.
fn assigning(raw: &[u8]) -> Option<(&[u8], usize)> {
    let line = raw.strip_suffix(b"\n").unwrap_or(raw);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let first = line.iter().position(|byte| !is_space(*byte))?;
    (line[first] != b'#' && !line.starts_with(b"***")).then_some((line, first))
}

/// The parts of a line `Name = value`: the name as it is written, the name, and the offset of the value; none without `=`.
fn divided(line: &[u8], first: usize) -> Option<(&[u8], Name, usize)> {
    let equals = memchr::memchr(b'=', line)?;
    let written = line.get(first..equals)?.trim_ascii();
    let name = Name::new(written.strip_prefix(b"'").and_then(|name| name.strip_suffix(b"'")).unwrap_or(written));
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| is_space(**byte)).count();
    Some((written, name, value))
}

/// Puts the value of a line into the ad, as [`attribute`] does.
fn assign(line: &[u8], first: usize, options: &ParseOptions, ad: &mut ClassAd) {
    if let Some((_, name, value)) = divided(line, first)
        && let Ok((expr, _)) = parse_prefix(&line[value..], options)
    {
        ad.insert_expr(name, &expr);
    }
}

/// Reads a line `Name = value`; what is a constant and right is only put into the ad.
fn attribute<'a>(
    line: &'a [u8],
    first: usize,
    (number, start): (u64, usize),
    options: &ParseOptions,
    ad: &mut ClassAd,
) -> Option<Line<'a>> {
    let Some((written, name, value)) = divided(line, first) else {
        let finding = Diagnostic::error("expected `name = value`, found no `=`", Span::new(first, line.len()));
        let fault = finding.help("HTCondor skips the rest of the ad").code("syntax");
        let place = Line::new(Name::new("a line"), line, Quoting::Old, number);
        return Some(Line { offset: Some(start), faults: vec![fault], ..place });
    };
    let odd = odd_name(written).or_else(|| ad.contains(name).then(|| twice(written)));
    let text = &line[value..];
    let place = |expr: Option<Expr>, faults: Vec<Diagnostic>| {
        let (before, offset) = (&line[..value], Some(start + value));
        Line { expr, before, offset, faults, ..Line::new(name, text, Quoting::Old, number) }
    };
    if let Some(odd) = odd
        && let Ok((expr, _)) = parse_prefix(text, options)
        && ad.get(name).is_none_or(|known| known.to_text(Style::New) != expr.to_text(Style::New))
    {
        ad.insert_expr(name, &expr);
        let line = Line { offset: Some(start), ..Line::new(name, line, Quoting::Old, number) };
        return Some(Line { faults: vec![odd], ..line });
    }
    match parse_prefix(text, options) {
        Err(error) => {
            let mut fault = unparsed(text, &error, options);
            fault.fix = fault.fix.filter(|_| fault.code == "assignment");
            Some(place(None, vec![fault]))
        }
        Ok((expr, read)) => {
            ad.insert_expr(name, &expr);
            let mut faults = Vec::new();
            let rest = &text[read..];
            if let Some(at) = rest.iter().position(|byte| !is_space(*byte)) {
                faults.push(ignored(text, read + at, options));
            }
            let plain = faults.is_empty() && is_plain(name, &expr, text) && odd_constant(name, &expr, text).is_none();
            if plain && !may_be_odd(name) {
                return None;
            }
            Some(Line { plain, ..place(Some(expr), faults) })
        }
    }
}

/// The finding about a name that no expression can refer to.
fn odd_name(name: &[u8]) -> Option<Diagnostic> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let sign = name.iter().find(|byte| !is_word(byte) && byte.is_ascii_graphic())?;
    let plain = name.iter().all(|byte| is_word(byte) || b"-+*/%.:@".contains(byte)) && !name.starts_with(b"'");
    let shown = String::from_utf8_lossy(name).into_owned();
    let message = format!("`{shown}` in an expression is not this attribute: `{}` is an operator", char::from(*sign));
    let help = format!("write `{}`", shown.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_"));
    let span = Span::new(0, name.len());
    plain.then(|| Diagnostic::warning(message, span).help(help).code("ignored-text"))
}

/// The finding about an attribute that the ad has already, with another value.
fn twice(name: &[u8]) -> Diagnostic {
    let message = format!("the ad has `{}` already: only this value counts", String::from_utf8_lossy(name));
    Diagnostic::warning(message, Span::new(0, name.len())).help("remove one of them").code("redefined-knob")
}

/// The text behind an expression, which is not read.
fn ignored(text: &[u8], at: usize, options: &ParseOptions) -> Diagnostic {
    let span = Span::new(at, text.trim_ascii_end().len());
    if is_unit(text, at) {
        let kept = String::from_utf8_lossy(&text[..at.min(40)]).into_owned();
        let finding = Diagnostic::error(format!("the language has no units: the value read is `{kept}`"), span);
        return finding.help("write the whole number, or a product such as `2 * 1024`").code("size-suffix");
    }
    if let Err(error) = parse_expr(text, options) {
        let mut found = unparsed(text, &error, options);
        if matches!(found.code, "assignment" | "leftover-macro") {
            return found;
        }
        found.message = format!("the following text is ignored: {}", found.message);
        (found.severity, found.fix) = (Severity::Error, None);
        return found.code("ignored-text");
    }
    Diagnostic::error("text after the expression is ignored", span).code("ignored-text")
}

/// The values of some names in an ad as one text: constants by value, expressions by a mark.
fn constants(ad: &ClassAd, names: &[Name]) -> Vec<u8> {
    let mut text = Vec::new();
    for name in names {
        match ad.constant(*name) {
            Some(value) => {
                text.push(b'=');
                let value = value.to_string();
                text.extend_from_slice(value.len().to_string().as_bytes());
                text.push(b':');
                text.extend_from_slice(value.as_bytes());
            }
            None => text.push(b'?'),
        }
    }
    text
}

/// Attributes of slots, lower case, that are of the moment at which the ad was made.
const MOMENTARY: [&[u8]; 13] = [
    b"activity",
    b"clockday",
    b"clockmin",
    b"condorloadavg",
    b"consoleidle",
    b"cpubusytime",
    b"cpuisbusy",
    b"currenttime",
    b"keyboardidle",
    b"loadavg",
    b"state",
    b"totalcondorloadavg",
    b"totalloadavg",
];

/// Returns true if Requirements are never true, given the constants of their own ad.
fn unsatisfiable(ad: &ClassAd, expr: &Expr) -> Option<Diagnostic> {
    // The startd of a slot that drains, or that its owner uses, evaluated it.
    // What it sees there changes from minute to minute.
    let evaluated =
        |name: Name| (name.folded() == b"start" || MOMENTARY.contains(&name.folded())) && ad.contains("State");
    let base = |reference: Reference| {
        if reference.scope == RefScope::Target || evaluated(reference.name) {
            return Values::any();
        }
        ad.constant(reference.name).map_or_else(Values::any, |value| Values::value(&value))
    };
    let tree = expr.tree();
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
    let finding = Diagnostic::warning("with the other values of this ad, this is never true, so nothing matches", span);
    Some(finding.help("check the attributes of the ad that it refers to").code("unsatisfiable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut linter = AdLinter::default();
        linter.long(&Arc::from("f"), text.as_bytes());
        let shown = |alarm: &Diagnostic| {
            let place = alarm.range().0;
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
    fn units_are_units_also_behind_a_blank() {
        assert_eq!(found("RequestMemory = 2 GB\nCpus = 1"), ["size-suffix 1:19 +0"]);
        assert_eq!(found("RequestMemory = 2 GiB"), ["size-suffix 1:19 +0"]);
        assert_eq!(found("RequestMemory = 2 b\n\nCpus = 2 Gx"), ["ignored-text 1:19 +0", "ignored-text 3:10 +0"]);
    }

    #[test]
    fn texts_without_quotes_are_told() {
        assert_eq!(found("AccountingGroup = physics"), ["unquoted-word 1:19 +0"]);
        for text in
            ["AccountingGroup = physics\nphysics = \"p\"", "AcctGroupUser = Owner", "AccountingGroup = \"physics\""]
        {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_line_is_shown_as_it_stands_in_the_file() {
        let mut linter = AdLinter::default();
        linter.long(&Arc::from("f"), b"Cpus = 1\n  Requirements = x > 1 && x > 1\n\nRequirements=x > 1 && x > 1\n");
        let alarms = linter.finish();
        assert_eq!(alarms.len(), 1);
        assert_eq!(alarms[0].text(), b"  Requirements = x > 1 && x > 1");
        assert_eq!((alarms[0].range().0.line, alarms[0].range().0.column, alarms[0].repeated), (2, 27, 1));
        let mut linter = AdLinter::default();
        linter.written(&Arc::from("f"), b"[ Cpus = 1;\n  Start = x > 1 && x > 1 ]");
        let alarms = linter.finish();
        assert_eq!(alarms[0].text(), b"  Start = x > 1 && x > 1");
        assert_eq!((alarms[0].range().0.line, alarms[0].range().0.column), (2, 20));
        // Several ads, with comments and a mistake in one of them.
        let text = b"// slots\n{ [ Cpus = 1 ],\n  [ A = 1;\n    Start = x > 1 && x > 1 ] }\n[ B = 1 + ]\n[ Start = y > 1 && y > 1 ]\n";
        let mut linter = AdLinter::default();
        linter.written(&Arc::from("f"), text);
        let places = |alarm: &Diagnostic| (alarm.code, alarm.range().0.line, alarm.range().0.column);
        let found: Vec<_> = linter.finish().iter().map(places).collect();
        assert_eq!(found, [("duplicate-clause", 4, 22), ("syntax", 5, 11), ("duplicate-clause", 6, 20)]);
    }

    #[test]
    fn an_ad_behind_many_open_brackets_is_looked_at() {
        // Each of the first 1,600 lines would be searched to the end of the text.
        let text = format!("{}[ B = [ C = 1 ];\n  Start = x > 1 && x > 1 ]\n", "[\n".repeat(20_000));
        let mut linter = AdLinter::default();
        linter.written(&Arc::from("f"), text.as_bytes());
        let alarms = linter.finish();
        let clause = alarms.iter().find(|alarm| alarm.code == "duplicate-clause").map(|alarm| alarm.range().0);
        assert_eq!(clause.map(|place| (place.line, place.column)), Some((20_002, 20)));
    }

    #[test]
    fn conditions_that_are_no_conditions_are_told() {
        assert_eq!(found("Requirements = \"yes\""), ["never-true 1:16 +0"]);
        assert_eq!(found("Start = undefined\nCpus = undefined\nName = \"x\""), ["always-undefined 1:9 +0"]);
        assert_eq!(found("Requirements = true\nStart = 1"), Vec::<String>::new());
    }

    #[test]
    fn the_same_in_many_ads_is_told_once() {
        let ad = "Requirements = x > 1 && x > 1\nSlotID = 1\n\n";
        assert_eq!(found(&ad.repeat(5)), ["duplicate-clause 1:25 +4"]);
    }

    #[test]
    fn the_same_text_is_judged_by_what_each_ad_has() {
        // The claimed slot has the attribute itself, the other one looks at the job's.
        let (claimed, idle) = ("MyType = \"Machine\"\nGlobalJobId = \"x#1\"\n", "MyType = \"Machine\"\n");
        let start = "Start = GlobalJobId =!= \"y\"\n\n";
        assert_eq!(found(&format!("{claimed}{start}{idle}{start}")), ["per-job-attribute 6:9 +0"]);
        assert_eq!(found(&format!("{idle}{start}{claimed}{start}{idle}{start}")), ["per-job-attribute 2:9 +1"]);
        let job = |gpus: u32| {
            format!("RequestGPUs = {gpus}\nRequirements = TARGET.Cpus > 1 && RequestGPUs > 0 && TARGET.Cpus > 1\n\n")
        };
        let twice = "duplicate-clause";
        assert_eq!(found(&(job(1) + &job(0))), [format!("{twice} 2:54 +1"), "unsatisfiable 5:35 +0".to_owned()]);
        assert_eq!(found(&(job(0) + &job(1) + &job(0))), ["duplicate-clause 2:54 +2", "unsatisfiable 2:35 +1"]);
        let word = "ClusterId = 1\nLINUX = \"LINUX\"\nRequirements = TARGET.OpSys == LINUX\n\n";
        assert_eq!(found(&format!("{word}{}", word.replace("LINUX = \"LINUX\"\n", ""))), ["unquoted-word 6:32 +0"]);
    }

    #[test]
    fn what_says_so_is_a_slot() {
        let start = "Start = TARGET.GlobalJobId =!= \"y\"\n";
        assert_eq!(found(&format!("MyType = \"Machine\"\n{start}")), ["per-job-attribute 2:9 +0"]);
        assert_eq!(found(&format!("MyType = \"Job\"\nSlotID = 1\n{start}")), Vec::<String>::new());
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
