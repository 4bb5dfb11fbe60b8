//! The expression that is the value of a variable: its type, its references, and what is left open.
//!
//! In: a definition and its expanded value. Out: the findings, at the places in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::attributes::{OF_GROUP, is_of_jobs};
use super::super::compared_values::assigned as assigned_value;
use super::super::expression::{LintContext, Role, lint as lint_expression, written};
use super::super::knobs::{SLOT_WEIGHT, bare, sees_one_ad};
use super::super::open_macros::{bypass, torn, torn_macro};
use super::super::placing::SourceMap;
use super::super::rules::published;
use super::super::scope::Seen;
use super::super::submit_requests::{is_amount, unlikely_request};
use super::super::unknowns;
use super::policies::{other_state, own_load, reversed_priorities, sleep_states};
use super::{Linter, attribute_of, shown_name};
use crate::versions::configuration::compared_as;
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::values::kind;
use classmate::internal::syntax::expr::{Expr, Node};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Diagnostic, Name, ParseOptions, Span};
use classmate_config::Definition;
use classmate_config::internal::config::check::has_root;
use classmate_config::internal::config::facts::{UNKNOWN, Undefined};

/// Returns true for expressions (upper case) whose value is a number.
pub(super) fn is_number(upper: &str) -> bool {
    const NUMBERS: [&str; 8] = [
        "FETCHWORKDELAY",
        "SLOT_WEIGHT",
        "RANK",
        "GROUP_SORT_EXPR",
        "JOB_RENICE_INCREMENT",
        "MAXJOBRETIREMENTTIME",
        "MACHINEMAXVACATETIME",
        "SCHEDD_SLOT_WEIGHT",
    ];
    NUMBERS.contains(&upper) || upper.ends_with("_RANK") || upper.ends_with("_SUBCODE")
}

/// Returns true for expressions (upper case) whose value is a string.
pub(super) fn is_text(upper: &str) -> bool {
    matches!(upper, "HIBERNATE" | "WANT_HOLD_REASON" | "SINGULARITY_IMAGE_EXPR") || upper.ends_with("_REASON")
}

/// The finding about a default request without a unit that is too small for any job.
pub(super) fn small_request(name: &[u8], text: &[u8]) -> Option<Diagnostic> {
    let (command, unit) = match name.to_ascii_uppercase().as_slice() {
        b"JOB_DEFAULT_REQUESTMEMORY" => ("request_memory", "MiB"),
        b"JOB_DEFAULT_REQUESTDISK" => ("request_disk", "KiB"),
        _ => return None,
    };
    let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
    let looks = unlikely_request(command, unit, text.parse().ok()?)?;
    let message = format!("`{}` is in {unit}, and the number is probably {looks}", shown_name(name));
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-unit");
    Some(found.help(format!("write a unit, as in `{text}GB`")))
}

/// Tests whether a value is a default request with a unit, which is read as `request_memory` is.
pub(super) fn is_default_request(name: &[u8], text: &[u8]) -> bool {
    let requests = ["JOB_DEFAULT_REQUESTMEMORY", "JOB_DEFAULT_REQUESTDISK"];
    let is_request = requests.iter().any(|request| name.eq_ignore_ascii_case(request.as_bytes()));
    is_request && is_amount(&String::from_utf8_lossy(text.trim_ascii()))
}

/// The finding about a condition or a number as the value of a knob that is a string.
pub(super) fn truth_for_text(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let shown = String::from_utf8_lossy(bare(name));
    let values = Analysis::new(expr.tree(), &unknown).values(expr.root());
    let is_number = values.ints.is_some() || values.reals.is_some();
    // A number alone, such as 0, often stands for none.
    let is_computed = is_number && !matches!(expr.node(), Node::Literal(_));
    let is_truth = !values.has_text() && (is_computed || !is_number && values.has(kind::TRUE | kind::FALSE));
    let span = Span::new(0, text.trim_ascii_end().len());
    let message = || format!("`{shown}` is a string, and this is never one");
    is_truth.then(|| Diagnostic::warning(message(), span).code("type-clash"))
}

/// The finding about a condition as the value of a knob that is a number of seconds: it counts as 1 or as 0.
pub(super) fn truth_for_seconds(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let upper = String::from_utf8_lossy(bare(name)).to_ascii_uppercase();
    let in_seconds = ["FETCHWORKDELAY", "MACHINEMAXVACATETIME", "MAXJOBRETIREMENTTIME"].contains(&upper.as_str());
    let values = Analysis::new(expr.tree(), &unknown).values(expr.root());
    let is_number = values.ints.is_some() || values.reals.is_some();
    let is_truth = !values.has_text() && !is_number && values.has(kind::TRUE | kind::FALSE);
    let span = Span::new(0, text.trim_ascii_end().len());
    let message = "a condition is not a number of seconds: it counts as 1 or as 0";
    let found = Diagnostic::warning(message, span).help("write `ifThenElse(condition, seconds, 0)`");
    (in_seconds && is_truth).then(|| found.code("type-clash"))
}

/// The finding about a string as the value of a knob that is a number.
pub(super) fn text_for_number(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let values = Analysis::new(expr.tree(), &unknown).values(expr.root());
    let is_number = values.ints.is_some() || values.reals.is_some() || values.has(kind::TRUE | kind::FALSE);
    if !matches!(expr.node(), Node::Literal(Literal::Str(_))) && (!values.has_text() || is_number) {
        return None;
    }
    // As `GetSlotWeight` in HTCondor's `Accountant.cpp`.
    let is_weight = bare(name).eq_ignore_ascii_case(SLOT_WEIGHT.as_bytes());
    let counts = if is_weight { "each slot has the weight 1" } else { "it counts as 0" };
    let span = Span::new(0, text.trim_ascii_end().len());
    let found = Diagnostic::warning(format!("a string is not a number, so {counts}"), span);
    let is_literal = matches!(expr.node(), Node::Literal(_));
    Some(found.help(if is_literal { "remove the quotes" } else { "write numbers" }).code("type-clash"))
}

/// The effect of a policy that does not parse, where it is known.
pub(super) fn effect(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    if upper.starts_with("SYSTEM_PERIODIC_") {
        return Some(format!("the schedd ignores `{upper}` silently"));
    }
    (upper == "PREEMPTION_REQUIREMENTS").then(|| format!("the negotiator ends with an error at `{upper}`"))
}

/// Attributes that the expression of a knob cannot see.
pub(super) fn unseen(
    knob: &str,
    text: &[u8],
    options: &ParseOptions,
    slots_have: &dyn Fn(Name) -> bool,
) -> Vec<Diagnostic> {
    let Ok(expr) = parse_expr(text, options) else { return Vec::new() };
    let (tree, mut found) = (expr.tree(), Vec::new());
    for id in 0..tree.nodes.len() as u32 {
        let (Some(reference), Some(span)) = (tree.reference(id), tree.span(id)) else { continue };
        let folded = reference.name.folded();
        let scope = matches!(folded, b"my" | b"target");
        if unknowns::is_fact(reference.name) {
            continue;
        }
        let shown = written(text, span);
        let (message, help) = if knob == SLOT_WEIGHT {
            let theirs = is_of_jobs(folded) && !slots_have(reference.name);
            if reference.scope != RefScope::Target && !theirs {
                continue;
            }
            let help = "compute the weight from attributes of the slot: `Cpus`, `Memory`, `GPUs`";
            (format!("`{shown}` is UNDEFINED: `SLOT_WEIGHT` is evaluated in the slot, without a job"), help)
        } else if reference.scope == RefScope::Target {
            (
                format!("`{shown}` is UNDEFINED: `{knob}` is evaluated in a single ad"),
                "there is no TARGET ad; write the name without `TARGET.`",
            )
        } else if knob == "GROUP_SORT_EXPR" && !scope && !OF_GROUP.iter().any(|known| known.as_bytes() == folded) {
            let help =
                "groups have `AccountingGroup`, `GroupQuota`, `GroupResourcesInUse` and `GroupResourcesAllocated`";
            (format!("`{shown}` is UNDEFINED: `GROUP_SORT_EXPR` is evaluated in a group, without jobs or slots"), help)
        } else {
            continue;
        };
        found.push(Diagnostic::warning(message, span).help(help).code("unseen-attribute"));
    }
    found
}

/// The value of a statement of one line with a name of which nothing is known in place of the earlier value of its variable, which is
/// empty: `$(START) && …`.
fn opened(definition: &Definition<'_>, statement: &[u8]) -> Option<Vec<u8>> {
    let value = statement[memchr::memchr(b'=', statement)? + 1..].trim_ascii();
    let name = bare(definition.name);
    let own = [b"$(", name, b")"].concat();
    let is_own = |rest: &[u8]| rest.get(..own.len()).is_some_and(|text| text.eq_ignore_ascii_case(&own));
    let with = |text: &[u8]| replaced(value, |rest| is_own(rest).then(|| (own.len(), text.to_vec())));
    (with(b"").trim_ascii() == definition.raw.trim_ascii()).then(|| with(&[UNKNOWN.as_bytes(), name].concat()))
}

/// A text in which others take the place of references: for what begins with one, its length and the other text.
fn replaced(text: &[u8], reference: impl Fn(&[u8]) -> Option<(usize, Vec<u8>)>) -> Vec<u8> {
    let (mut made, mut at) = (Vec::with_capacity(text.len()), 0);
    for dollar in memchr::memchr_iter(b'$', text) {
        let Some((length, other)) = reference(&text[dollar..]).filter(|_| dollar >= at) else { continue };
        made.extend_from_slice(&text[at..dollar]);
        made.extend_from_slice(&other);
        at = dollar + length;
    }
    made.extend_from_slice(&text[at..]);
    made
}

impl Linter<'_> {
    /// Checks an expression at an offset of a value.
    pub(super) fn judge(
        &mut self,
        definition: &Definition<'_>,
        (text, map, offset): (&[u8], &SourceMap<'_>, usize),
        role: Role,
    ) {
        let name = definition.name;
        if text.trim_ascii().is_empty() || is_default_request(bare(name), text) {
            if let Some(found) = small_request(bare(name), text) {
                self.found(name, map, (text, offset), found);
            }
            return;
        }
        let open = unknowns::marked(text);
        let text = open.as_deref().unwrap_or(text);
        let made = map.made();
        let gets = |name: Name| match role.mine {
            Seen::Job => self.jobs_get(name),
            Seen::Slot => self.slots_have(name),
            _ => role.looks_at_jobs && self.slots_have(name),
        };
        let defined = |name: Name| unknowns::is_fact(name) || gets(name);
        let copied = |name: Name| self.copies(name);
        let given = |name: Name| self.jobs_get(name);
        // With one ad alone, an attribute is hardly compared with another one of it.
        let alone = sees_one_ad(&String::from_utf8_lossy(bare(name)).to_ascii_uppercase());
        let unknown_word = |word: Name| self.is_unknown_word(word) || alone && self.is_unknown_name(word);
        let beside = || self.beside(definition);
        let context = LintContext {
            beside: &beside,
            defined: &defined,
            copied: &copied,
            given: &given,
            schema: self.schema,
            unknown_word: Some(&unknown_word),
            made: &made,
            is_macro: self.is_macro(name),
            versions: &self.versions,
            attribute: attribute_of(bare(name)),
            ..LintContext::of(text, Quoting::Old, role)
        };
        let own = compared_as(self.config, &self.advertised, name, text).filter(|own| !own.folded().is_empty());
        let expr = parse_expr(text, &self.options()).ok();
        let mut ad = ClassAd::new();
        if let (Some(own), Some(expr)) = (own, &expr) {
            ad.insert_expr(own, expr);
        }
        let context = LintContext { own: own.map(|own| (own, &ad)), ..context };
        let (mut found, whole) = (lint_expression(&context), Span::new(0, text.trim_ascii_end().len()));
        if let Some(expr) = &expr {
            found.extend(self.of_references(name, expr, text, role));
            found.extend(own.and_then(|own| self.circle(own, expr)));
            if offset == 0 && open.is_none() {
                let torn = self.torn_macros(definition, map, text);
                // The text of the macro is what has to change.
                let overlaps = |one: &Diagnostic| {
                    let span = |one: &Diagnostic| one.span.range();
                    torn.as_ref()
                        .is_some_and(|torn| span(one).start < span(torn).end && span(torn).start < span(one).end)
                };
                found.retain(|one| one.code != "precedence" || !overlaps(one));
                found.extend(torn.or_else(|| self.bypassed(definition, map, text)));
            }
        }
        if let Some(attribute) = context.attribute
            && let Some(Node::Literal(literal)) = expr.as_ref().map(Expr::node)
        {
            found.extend(assigned_value(attribute, literal, &written(text, whole), whole));
        }
        if bare(name).eq_ignore_ascii_case(b"HIBERNATE") {
            sleep_states(text, &self.options(), &mut found);
        }
        let upper = String::from_utf8_lossy(bare(name)).to_ascii_uppercase();
        self.of_kind((name, &upper, role), text, expr.as_ref(), &mut found);
        let foreign = map.foreign(&|place| self.is_foreign(definition.raw.get(place).unwrap_or_default()));
        let is_foreign = |span: Span| {
            let range = span.range();
            foreign.iter().any(|part| part.start <= range.start && range.end <= part.end)
        };
        // Who wrote neither of two clauses can leave out neither. A template uses its arguments as it likes.
        found.retain(|found| {
            let other = found.related.as_ref().map(|label| label.span);
            let both = is_foreign(found.span) && other.is_some_and(is_foreign);
            let is_of_template =
                definition.template.is_some() && matches!(found.code, "duplicate-clause" | "version-dependent");
            !(is_of_template || found.code == "duplicate-clause" && both)
        });
        if sees_one_ad(&upper) {
            let known: Vec<Span> =
                found.iter().filter(|one| one.code == "unseen-attribute").map(|one| one.span).collect();
            let more = unseen(&upper, text, &self.options(), &|name| self.slots_have(name));
            found.extend(more.into_iter().filter(|one| !known.contains(&one.span)));
        }
        if open.is_some() {
            unknowns::retain(text, self.versions.read, &unknowns::is_fact, &mut found);
        }
        if found.iter().any(|found| matches!(found.code, "syntax" | "size-suffix"))
            && self.is_open(definition, map.text, role)
        {
            return;
        }
        for found in found {
            self.found(name, map, (text, offset), found);
        }
    }

    /// Adds the findings about the kind of value that a variable (in upper case too) has: a number, a condition or a text.
    fn of_kind(
        &self,
        (name, upper, role): (&[u8], &str, Role),
        text: &[u8],
        expr: Option<&Expr>,
        found: &mut Vec<Diagnostic>,
    ) {
        if is_number(upper) {
            found.extend(expr.and_then(|expr| text_for_number(name, expr, text)));
            found.extend(expr.and_then(|expr| truth_for_seconds(name, expr, text)));
            if found.is_empty() {
                found.extend(self.no_number(text));
            }
        }
        // A condition that is a word of which nothing is known: `KILL = never`.
        let may_exist = |word: Name| !self.is_unknown_word(word) || self.may_exist(word);
        if role.condition && found.is_empty() {
            let condition = |mut one: Diagnostic| {
                one.fix = None;
                one.help("write `true`, `false` or a comparison")
            };
            found.extend(published(text, &self.options(), &may_exist).into_iter().map(condition));
        }
        if is_text(upper) {
            if found.is_empty() {
                found.extend(published(text, &self.options(), &|word| self.may_exist(word)));
            }
            found.extend(expr.and_then(|expr| truth_for_text(name, expr, text)));
        }
    }

    /// `$(A) && b` with `A = x || y`: an operator outside of a macro's text binds more tightly than the one within it.
    fn torn_macros(&self, definition: &Definition<'_>, map: &SourceMap<'_>, text: &[u8]) -> Option<Diagnostic> {
        /// Macros of an expression that are looked at.
        const MOST: usize = 64;
        let name_of = |raw: Range<usize>| definition.raw.get(raw).filter(|raw| !self.is_foreign(raw));
        let macros = map.macros().filter_map(|(raw, part)| Some((name_of(raw)?, part)));
        let earlier = map.earlier().filter(|_| definition.template.is_none());
        let own = [b"$(", bare(definition.name), b")"].concat();
        let mut all = macros.chain(earlier.map(|part| (own.as_slice(), part))).take(MOST);
        all.find_map(|(reference, part)| {
            let (outside, within) = torn(text, part.clone(), &self.options())?;
            Some(torn_macro(&String::from_utf8_lossy(reference), (outside, within), Span::new(part.start, part.end)))
        })
    }

    /// `START = $(START) && a || b`: the earlier value does not count where `b` is true.
    fn bypassed(&self, definition: &Definition<'_>, map: &SourceMap<'_>, text: &[u8]) -> Option<Diagnostic> {
        let upper = String::from_utf8_lossy(bare(definition.name)).to_ascii_uppercase();
        let restricts = upper == "START" || upper.contains("REQUIREMENTS") && !upper.contains("PREEMPTION");
        let earlier = map.earlier().filter(|_| restricts && definition.template.is_none())?;
        let span = bypass(text, earlier, &self.options())?;
        let (shown, name) = (written(text, span), shown_name(bare(definition.name)));
        let message =
            format!("where `{shown}` is true, the earlier value of `{name}` does not count: `&&` binds tighter");
        let help = format!("write `$({name}) && (… || {shown})`");
        Some(Diagnostic::warning(message, span).help(help).code("precedence"))
    }

    /// The findings about what an expression refers to.
    pub(super) fn of_references(&self, name: &[u8], expr: &Expr, text: &[u8], role: Role) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        found.extend(self.own_types(expr, role));
        found.extend(self.other_slots(expr, role, text));
        found.extend(own_load(bare(name), expr, text));
        found.extend(reversed_priorities(bare(name), expr, text));
        found.extend(other_state(bare(name), expr, text));
        found.extend(self.unpublished(expr, role, text));
        found.extend(self.bare_macros(expr, role, text));
        found.extend(self.group_alone(name, expr, text));
        found
    }

    /// Tests whether other files may define what makes a text an expression; the rest of it is checked then.
    pub(super) fn is_open(&mut self, definition: &Definition<'_>, statement: &[u8], role: Role) -> bool {
        if self.undefined(definition.name, definition) {
            self.judge_open(definition, role);
            return true;
        }
        let is_opened = memchr::memmem::find(definition.raw, UNKNOWN.as_bytes()).is_some();
        let is_open = !is_opened && self.is_left_open(definition.name, statement);
        if let Some(raw) = opened(definition, statement).filter(|_| is_open) {
            self.judge_opened(definition, &raw, role);
        }
        is_open
    }

    /// Checks an expression in which macros that nothing defines are values of which nothing is known.
    pub(super) fn judge_open(&mut self, definition: &Definition<'_>, role: Role) {
        let mut undefined = self.config.undefined(definition);
        undefined.sort_by_key(|one| std::cmp::Reverse(one.at.0));
        let is_here = |one: &Undefined<'_>| one.within == *definition && !one.name.contains(&b'.');
        if undefined.is_empty() || !undefined.iter().all(is_here) {
            return;
        }
        // Each reference to a name: the first one is noted.
        let references: BTreeMap<&[u8], &[u8]> =
            undefined.iter().map(|one| (&definition.raw[one.at.0..one.at.0 + one.at.1], one.name.as_slice())).collect();
        let lengths: BTreeSet<usize> = references.keys().map(|reference| reference.len()).collect();
        let raw = replaced(definition.raw, |rest| {
            let mut known = lengths.iter().filter_map(|length| rest.get(..*length));
            let (reference, name) = known.find_map(|text| references.get_key_value(text))?;
            Some((reference.len(), [UNKNOWN.as_bytes(), name].concat()))
        });
        self.judge_opened(definition, &raw, role);
    }

    /// Checks an expression with names of which nothing is known in place of macros.
    fn judge_opened(&mut self, definition: &Definition<'_>, raw: &[u8], role: Role) {
        let opened = Definition { raw, value: None, verbatim: false, ..*definition };
        let Ok(text) = self.config.expansion(definition.name, raw) else { return };
        let source = definition.place.and_then(|place| self.sources.get(&*place.file));
        let map = SourceMap::new(self.config, source, &opened, &text);
        self.judge(&opened, (&text, &map, 0), role);
    }

    /// Tests whether a statement refers to the earlier value of its variable, which is empty here: of a part of a configuration,
    /// another file may have set it.
    pub(super) fn is_left_open(&self, name: &[u8], statement: &[u8]) -> bool {
        let own = [b"$(", name.to_ascii_uppercase().as_slice()].concat();
        let is_empty = self.config.built_in(bare(name)).is_none_or(|value| value.raw.trim_ascii().is_empty());
        is_empty && !has_root(self.config) && memchr::memmem::find(&statement.to_ascii_uppercase(), &own).is_some()
    }

    /// Returns true if a reference refers to a default, or to the text of a template.
    pub(super) fn is_foreign(&self, reference: &[u8]) -> bool {
        let Some(rest) = reference.strip_prefix(b"$(") else { return false };
        let end = rest.iter().position(|byte| matches!(byte, b':' | b')')).unwrap_or(rest.len());
        let definition = self.config.definition(rest[..end].trim_ascii());
        definition.is_some_and(|definition| definition.place.is_none() || definition.template.is_some())
    }
}
