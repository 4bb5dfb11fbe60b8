//! Configurations: what [`classmate_config::internal::config::check`] finds, the expressions of policies, and knobs
//! that one file sets twice. One file: these rules report through one linter.

mod branches;
mod macros;
mod members;
mod numbers;
mod policies;
#[cfg(test)]
mod tests;

use std::cell::{Cell, LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;

use self::members::LISTS;
use self::policies::{own_load, sleep_states};
use super::ads::needed;
use super::attributes::{OF_GROUP, is_known, is_of_jobs, misspelled_own};
use super::comparison::assigned as assigned_value;
use super::expression::{LintContext, Role, lint as lint_expression, quoted, written};
use super::knobs::{SLOT_WEIGHT, advertised, bare, copied, of_transforms, role, sees_one_ad};
use super::placing::SourceMap;
use super::rules::{published, unquoted_text};
use super::schema::AdSchema;
use super::scope::Seen;
use super::submit::{is_amount, lint_with_macros, unlikely_request, without_macros};
use super::transforms::{self, TransformPart};
use super::versions::{LintVersions, changed_text, read_elsewhere};
use super::{
    LineIndex, MAX_OF_LINE, beside_comment, daemon_list, effects, execution_point, is_slip, lists, pairs, placed,
    shifted_fix, template_order, unknowns, user_maps,
};
use crate::versions::configuration::{attributes, compared_as, is_divided, referred_to};
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::values::kind;
use classmate::internal::diagnostic::{Excerpt, Fix};
use classmate::internal::syntax::expr::{Expr, Node};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Diagnostic, Name, ParseOptions, Span};
use classmate_config::internal::config::check::{check, has_root, is_variable, lists_groups};
use classmate_config::internal::config::expand::ExpandError;
use classmate_config::internal::config::facts::{UNKNOWN, Undefined};
use classmate_config::internal::config::history::{Assigned, assigned};
use classmate_config::internal::config::knob;
use classmate_config::{Config, ConfigError, Definition, Location, Source};
use classmate_pool::internal::quota::{GroupTree, QuotaSettings};

/// Bytes of expanded values that are looked at, as [`check`] does, which says so.
const MAX_WORK: usize = 64 << 20;

/// Checks a configuration.
pub fn lint(config: &Config) -> Vec<Diagnostic> {
    lint_beside(config, None)
}

/// Checks a configuration together with the ads of a pool.
pub fn lint_beside(config: &Config, schema: Option<&AdSchema>) -> Vec<Diagnostic> {
    // What only a machine knows is left open.
    let config = &config.without_facts();
    let mut linter = Linter::new(config, schema);
    for diagnostic in check(config) {
        // Expressions are looked at below, with more to say.
        if diagnostic.code != "syntax" {
            linter.report(diagnostic, None);
        }
    }
    for (at, alarm) in linter.alarms.iter().enumerate().filter(|(_, alarm)| alarm.code == "bad-value") {
        linter.bad_values.entry((Arc::from(alarm.file()), alarm.line())).or_insert(at);
    }
    for definition in config.definitions() {
        linter.expression(&definition);
        linter.number(&definition);
        linter.replaced_list(&definition);
    }
    linter.undefined_macros();
    linter.misspelled_macros(config.definitions());
    linter.no_macros(config.definitions());
    linter.quotas();
    linter.redefined();
    linter.old_transforms();
    for list in LISTS {
        linter.listed(list);
    }
    let of_lists = lists::check(config, &linter.advertised);
    let of_daemons = daemon_list::check(config).into_iter().chain(execution_point::check(config));
    let of_others = of_daemons.chain(effects::check(config)).chain(template_order::check(config));
    let of_several = pairs::check(config).into_iter().chain(of_lists).chain(user_maps::check(config)).chain(of_others);
    for (found, name) in of_several {
        linter.report(found, Some(name));
    }
    linter.uncounted();
    let mut alarms = linter.alarms;
    branches::check(config, schema, &mut alarms);
    alarms.sort_by_cached_key(|alarm| {
        let file = config.sources().iter().rposition(|source| *source.name == *alarm.file());
        let place = alarm.range().0;
        (file.unwrap_or(usize::MAX), place.line, place.column)
    });
    alarms
}

/// Returns true for expressions (upper case) whose value is a number.
fn is_number(upper: &str) -> bool {
    const NUMBERS: [&str; 7] = [
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
fn is_text(upper: &str) -> bool {
    matches!(upper, "HIBERNATE" | "WANT_HOLD_REASON" | "SINGULARITY_IMAGE_EXPR") || upper.ends_with("_REASON")
}

/// The finding about a default request without a unit that is too small for any job.
fn small_request(name: &[u8], text: &[u8]) -> Option<Diagnostic> {
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
fn is_default_request(name: &[u8], text: &[u8]) -> bool {
    let requests = ["JOB_DEFAULT_REQUESTMEMORY", "JOB_DEFAULT_REQUESTDISK"];
    let is_request = requests.iter().any(|request| name.eq_ignore_ascii_case(request.as_bytes()));
    is_request && is_amount(&String::from_utf8_lossy(text.trim_ascii()))
}

/// The finding about a condition as the value of a knob that is a string.
fn truth_for_text(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let shown = String::from_utf8_lossy(bare(name));
    let values = Analysis::new(expr.tree(), &unknown).values(expr.root());
    let is_number = values.ints.is_some() || values.reals.is_some();
    let is_truth = !values.has_text() && !is_number && values.has(kind::TRUE | kind::FALSE);
    let span = Span::new(0, text.trim_ascii_end().len());
    let message = || format!("`{shown}` is a string, and this is never one");
    is_truth.then(|| Diagnostic::warning(message(), span).code("type-clash"))
}

/// The finding about a string as the value of a knob that is a number.
fn text_for_number(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
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

/// The attribute that a variable such as `JOB_DEFAULT_RequestCpus` sets.
fn attribute_of(name: &[u8]) -> Option<Name> {
    const FRONT: &[u8] = b"JOB_DEFAULT_";
    let front = name.get(..FRONT.len()).filter(|front| front.eq_ignore_ascii_case(FRONT))?;
    Some(Name::new(&name[front.len()..]))
}

/// `SET MaxJobs 100` in a route: the job router reads a macro of that name, and not an attribute of jobs.
fn set_for_router(knob: &[u8], raw: &[u8], at: Range<usize>, value: &[u8]) -> Option<Diagnostic> {
    const OF_ROUTER: [&str; 2] = ["MaxIdleJobs", "MaxJobs"];
    let name = OF_ROUTER.iter().find(|name| name.as_bytes().eq_ignore_ascii_case(&raw[at.clone()]))?;
    let is_route = knob.to_ascii_uppercase().starts_with(b"JOB_ROUTER_ROUTE_");
    let message = format!("this sets an attribute of the jobs: the job router reads the macro `{name}`");
    let help = format!("write `{name} = {}`", String::from_utf8_lossy(value));
    is_route.then(|| Diagnostic::warning(message, Span::new(at.start, at.end)).help(help).code("odd-line"))
}

fn shown_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The fault that stopped the reading of a configuration, or without which it would be refused.
pub fn refusal(config: &Config, error: &ConfigError) -> Diagnostic {
    let mut linter = Linter::new(config, None);
    let code = if error.code.is_empty() { "bad-value" } else { error.code };
    linter.report(error.clone().code(code), None);
    linter.alarms.remove(0)
}

type Said = (&'static str, Arc<str>, u32, (usize, usize), Option<String>, String);

struct Linter<'c> {
    config: &'c Config,
    sources: HashMap<&'c str, (&'c Source, LineIndex)>,
    alarms: Vec<Diagnostic>,
    schema: Option<&'c AdSchema>,
    versions: LintVersions,
    /// The macros, upper case, that values refer to, once they are asked for.
    macros: OnceCell<BTreeSet<String>>,
    /// Tells whether programs bring attributes, once that is asked for.
    brings: OnceCell<bool>,
    /// The names that are defined, without prefixes, and those that values refer to, upper case, once they are asked for.
    defined: OnceCell<Rc<BTreeSet<Vec<u8>>>>,
    referenced: OnceCell<Rc<BTreeSet<Vec<u8>>>>,
    /// Resources of machines and groups, upper case, once they are asked for.
    resources: OnceCell<BTreeSet<Vec<u8>>>,
    groups: OnceCell<BTreeSet<Vec<u8>>>,
    /// The findings of expressions so far: the code, the file, the line, the place in the statement, the variable, and the message.
    said: BTreeSet<Said>,
    /// The places of findings about invalid values, by file and line.
    bad_values: HashMap<(Arc<str>, u32), usize>,
    /// The number of findings on a line of a file, and the place of the last one that is kept.
    of_line: HashMap<(Arc<str>, u32), (usize, usize)>,
    /// Names, upper case, that lists put into ads.
    advertised: BTreeMap<Vec<u8>, Role>,
    /// Attributes of jobs, upper case, that slots get.
    copied: BTreeSet<Vec<u8>>,
    /// Words, upper case, of transforms of jobs, and how often their statements have them.
    transforms: BTreeMap<Vec<u8>, usize>,
    /// The attributes of lists such as `SCHEDD_ATTRS`, and of `STARTD_ATTRS`, once they are asked for.
    published: [OnceCell<ClassAd>; 2],
    /// Bytes that expansions gave; one that was given up counts as many.
    work: Cell<usize>,
    /// Undefined macros, upper case: the first reference, and the names of the variables that are not valid without it.
    undefined: BTreeMap<Vec<u8>, (Diagnostic, Vec<String>)>,
}

impl<'c> Linter<'c> {
    fn new(config: &'c Config, schema: Option<&'c AdSchema>) -> Self {
        let sources = config.sources().iter().map(|source| (&*source.name, (source, LineIndex::of(&source.text))));
        let (sources, advertised) = (sources.collect(), advertised(config));
        let (copied, transforms) = (copied(config), of_transforms(config));
        let (undefined, macros) = (BTreeMap::new(), OnceCell::new());
        let alike = schema.map_or_else(LintVersions::default, |schema| schema.versions.clone()).alike;
        let versions = LintVersions { read: config.semantics(), alike };
        Linter {
            config,
            sources,
            alarms: Vec::new(),
            schema,
            versions,
            macros,
            brings: OnceCell::new(),
            defined: OnceCell::new(),
            referenced: OnceCell::new(),
            resources: OnceCell::new(),
            groups: OnceCell::new(),
            said: BTreeSet::new(),
            bad_values: HashMap::new(),
            of_line: HashMap::new(),
            advertised,
            copied,
            transforms,
            published: [OnceCell::new(), OnceCell::new()],
            work: Cell::new(0),
            undefined,
        }
    }

    /// The reading of values, with places.
    fn options(&self) -> ParseOptions {
        let semantics = self.versions.read;
        ParseOptions { quoting: Quoting::Old, semantics, places: true, ..ParseOptions::default() }
    }

    /// Returns true if slots have an attribute because the configuration says so.
    fn slots_have(&self, name: Name) -> bool {
        let upper = name.folded().to_ascii_uppercase();
        self.advertised.get(&upper).is_some_and(|role| role.looks_at_jobs) || self.copied.contains(&upper)
    }

    /// Returns true if some ad may have an attribute that a value refers to.
    fn may_exist(&self, word: Name) -> bool {
        let upper = word.folded().to_ascii_uppercase();
        // Cron jobs and jobs bring attributes of their own.
        let of_jobs =
            ["want", "is", "has", "request", "my"].iter().any(|start| word.folded().starts_with(start.as_bytes()));
        let there = self.schema.is_some_and(|schema| schema.has(word));
        let listed = self.advertised.contains_key(&upper)
            || self.copied.contains(&upper)
            || self.transforms.contains_key(&upper);
        self.brings() || of_jobs || there || listed || is_known(word.folded()) || unknowns::is_fact(word)
    }

    /// Returns true if jobs may have an attribute because the configuration says so.
    fn jobs_get(&self, name: Name) -> bool {
        let upper = name.folded().to_ascii_uppercase();
        self.advertised.get(&upper).is_some_and(|role| !role.looks_at_jobs) || self.transforms.contains_key(&upper)
    }

    /// Returns true if a word is probably not an attribute: it is unknown, nothing sets it, no ad has it. Attributes
    /// are mostly written with capitals, names of people and machines without.
    fn is_unknown_word(&self, word: Name) -> bool {
        let upper = word.folded().to_ascii_uppercase();
        let listed = self.copied.contains(&upper) || self.transforms.contains_key(&upper);
        let named = is_known(word.folded()) || self.advertised.contains_key(&upper) || listed;
        let capital = word.display().bytes().any(|byte| byte.is_ascii_uppercase());
        let there = self.schema.is_some_and(|schema| schema.has(word));
        !(named || capital || there || unknowns::is_fact(word) || self.config.definition(word.folded()).is_some())
    }

    /// Returns true if a word that a transform sets an attribute to is probably not an attribute: no transform has it elsewhere.
    fn is_unknown_value(&self, word: Name) -> bool {
        let text = word.display();
        let plain = !text.bytes().any(|byte| byte.is_ascii_uppercase()) && !is_known(word.folded());
        if !plain || self.config.definition(word.folded()).is_some() || unknowns::is_fact(word) {
            return false;
        }
        self.transforms.get(&word.folded().to_ascii_uppercase()).is_none_or(|times| *times <= 1)
    }

    /// Returns true if transforms have a word more than once, so that it is a name of the site's own.
    fn is_used_twice(&self, word: Name) -> bool {
        let upper = word.folded().to_ascii_uppercase();
        self.transforms.get(&upper).is_some_and(|times| *times > 1) || self.advertised.contains_key(&upper)
    }

    /// The line of a place, and the offset of its first byte.
    fn line(&self, place: &Location) -> Option<(&'c [u8], usize)> {
        let (source, starts) = self.sources.get(&*place.file)?;
        let start = starts.offset(place.line, 1)?;
        let rest = source.text.get(start..)?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        Some((&rest[..end], start))
    }

    /// The comment above a definition, and the text of its reason.
    fn beside(&self, definition: &Definition<'_>) -> String {
        /// Lines of a comment that are looked at.
        const MAX_LINES: u32 = 20;
        let reason = self.config.definition(&[definition.name, b"_REASON"].concat());
        let mut text = reason.map(|reason| shown_name(reason.raw)).unwrap_or_default();
        let Some(place) = definition.place.filter(|_| definition.template.is_none()) else { return text };
        for line in (place.line.saturating_sub(MAX_LINES)..place.line).rev() {
            let at = Location { line, column: 1, ..place.clone() };
            let Some((comment, _)) = self.line(&at).filter(|(line, _)| line.trim_ascii_start().starts_with(b"#"))
            else {
                break;
            };
            text = format!("{} {text}", shown_name(comment.trim_ascii_start()));
        }
        text
    }

    /// Adds a diagnostic of the configuration, with the line of its place.
    fn report(&mut self, found: Diagnostic, subject: Option<String>) {
        let place = found.place.clone().unwrap_or_else(|| Location::outside("the built-in defaults"));
        let (line, start) = self.line(&place).unwrap_or((b"", 0));
        let at = start + place.column.max(1) as usize - 1;
        let fix = found.fix.as_ref().map(|fix| fix.shifted(at));
        let (file, number) = (Arc::clone(&place.file), place.line.into());
        // Of two places, the lines of both are there already.
        let text = found.excerpt.as_ref().map_or(line, |excerpt| &excerpt.text).to_vec();
        let found = if found.excerpt.is_some() { found } else { found.at(place).in_line(line) };
        let own = found.range().0.line as u32;
        let at = (found.span.range().start, found.span.range().end);
        self.said.insert((found.code, Arc::clone(&file), own, at, subject.clone(), found.message.clone()));
        if let Some(found) = self.counted(&file, own, found) {
            self.alarms.push(placed(found, &file, number, Excerpt { text, subject }, fix));
        }
    }

    /// A finding, unless its line has many already: it is counted then.
    fn counted(&mut self, file: &Arc<str>, line: u32, found: Diagnostic) -> Option<Diagnostic> {
        let (count, last) = self.of_line.entry((Arc::clone(file), line)).or_default();
        *count += 1;
        if *count > MAX_OF_LINE {
            return None;
        }
        *last = self.alarms.len();
        Some(found)
    }

    /// Says of lines with many findings how many there are.
    fn uncounted(&mut self) {
        for (count, last) in self.of_line.values().filter(|(count, _)| *count > MAX_OF_LINE) {
            let Some(alarm) = self.alarms.get_mut(*last) else { continue };
            let more = format!("there are {} more findings on this line", count - MAX_OF_LINE);
            *alarm = alarm.clone().more_help(more);
        }
    }

    /// Looks at the value of a knob that is an expression.
    fn expression(&mut self, definition: &Definition<'_>) {
        let name = definition.name;
        let bare = bare(name);
        if knob::is_transform(bare) {
            self.job_macros(definition);
            self.unused_macros(definition);
            self.grid_route(definition);
        }
        let of_list = || self.advertised.get(&bare.to_ascii_uppercase()).copied();
        let source = definition.place.and_then(|place| self.sources.get(&*place.file));
        if let Some(role) = role(bare).or_else(of_list) {
            let Some(text) = self.expand(definition) else { return };
            let map = SourceMap::new(self.config, source, definition, &text);
            if of_list().is_some()
                && definition.place.is_some()
                && let Some(found) = published(&text, &self.options(), &|word| self.may_exist(word))
            {
                self.found(name, &map, (&text, 0), found);
                return;
            }
            self.judge(definition, (&text, &map, 0), role);
            return;
        }
        if knob::is_transform(bare) {
            let map = SourceMap::new(self.config, source, definition, definition.raw);
            for part in transforms::parts(definition.raw) {
                match part {
                    TransformPart::Invalid(found) => self.found(name, &map, (definition.raw, 0), found),
                    TransformPart::Expression { place, role, alone, attribute } => {
                        let text = &definition.raw[place.clone()];
                        if let Some(found) =
                            attribute.clone().and_then(|at| set_for_router(bare, definition.raw, at, text))
                        {
                            self.found(name, &map, (definition.raw, 0), found);
                            continue;
                        }
                        let attribute = attribute.map(|place| Name::new(&definition.raw[place]));
                        for found in self.of_transform(bare, text, (role, alone), attribute) {
                            self.found(name, &map, (text, place.start), found);
                        }
                    }
                }
            }
        }
        self.in_versions(definition);
    }

    /// The expanded value of a definition; none if it has none, or if others took too much work already.
    fn expand(&self, definition: &Definition<'_>) -> Option<Vec<u8>> {
        if self.work.get() > MAX_WORK {
            return None;
        }
        let expanded = self.config.expansion(definition.name, definition.raw);
        let cost = match &expanded {
            Ok(text) => text.len(),
            Err(ExpandError::Length | ExpandError::References) => MAX_WORK >> 4,
            Err(_) => 0,
        };
        self.work.set(self.work.get() + cost);
        expanded.ok()
    }

    /// Compares the versions in a value that is an expression only where others refer to it, or has its expressions in ads.
    fn in_versions(&mut self, definition: &Definition<'_>) {
        let name = definition.name;
        let Some(text) = self.expand(definition) else { return };
        let quoting;
        let places: Vec<Range<usize>> = if is_divided(self.config, name) {
            quoting = Quoting::New;
            attributes(&text).into_iter().flatten().map(|(_, place)| place).collect()
        } else {
            quoting = Quoting::Old;
            compared_as(self.config, &self.advertised, name, &text).map(|_| 0..text.len()).into_iter().collect()
        };
        if places.is_empty() {
            return;
        }
        let source = definition.place.and_then(|place| self.sources.get(&*place.file));
        let map = SourceMap::new(self.config, source, definition, &text);
        for place in places {
            let value = &text[place.clone()];
            let Some(open) = without_macros(value) else { continue };
            let marked = unknowns::marked(&open.text);
            let read = marked.as_deref().unwrap_or(&open.text);
            let of_value = LintContext::of(read, quoting, Role::default());
            let context = LintContext { versions: &self.versions, is_macro: self.is_macro(name), ..of_value };
            // What cannot be read in this version may be known already.
            if parse_expr(read, &context.options()).is_err()
                && let Some(at) = self.bad_values.get(&(Arc::clone(&map.file), map.line))
                && let Some(known) = self.alarms.get_mut(*at)
            {
                *known = read_elsewhere(known.clone(), context.written(), &self.versions);
                continue;
            }
            for mut found in changed_text(&context) {
                open.restore(&mut found);
                self.found(name, &map, (value, place.start), found);
            }
        }
    }

    /// Tests whether values refer to a variable.
    fn is_macro(&self, name: &[u8]) -> bool {
        let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
        self.macros.get_or_init(|| referred_to(self.config)).contains(&upper)
    }

    /// Looks at an expression of a transform of jobs, whose macros are known when a job is transformed.
    fn of_transform(
        &self,
        name: &[u8],
        text: &[u8],
        (role, alone): (Role, bool),
        attribute: Option<Name>,
    ) -> Vec<Diagnostic> {
        // A word is in the words of transforms by being here.
        let unknown_word = |word: Name| {
            let upper = word.folded().to_ascii_uppercase();
            let is_there = self.copied.contains(&upper) || self.advertised.contains_key(&upper);
            self.is_unknown_value(word) && !is_there && !self.schema.is_some_and(|schema| schema.has(word))
        };
        let (schema, unknown_word): (_, Option<&dyn Fn(Name) -> bool>) = (self.schema, Some(&unknown_word));
        let context = LintContext::of(text, Quoting::Old, role);
        let context = LintContext { schema, unknown_word, attribute, versions: &self.versions, ..context };
        lint_with_macros(&context, |open| {
            let name = String::from_utf8_lossy(name);
            if alone {
                return unseen(&name, open, &self.options(), &|_| false);
            }
            // What a macro gives is not known.
            let attribute = attribute.filter(|_| memchr::memchr(b'$', text).is_none());
            let (Some(attribute), Ok(expr)) = (attribute, parse_expr(open, &self.options())) else { return Vec::new() };
            let constant = || {
                let Node::Literal(literal) = expr.node() else { return None };
                let span = Span::new(0, open.trim_ascii_end().len());
                assigned_value(attribute, literal, &written(open, span), span)
            };
            let word = || published(open, &self.options(), &|word| !self.is_unknown_value(word));
            let misspelled = || {
                let meant = misspelled_own(attribute.folded()).filter(|_| !self.is_used_twice(attribute))?;
                let message = format!("HTCondor does not know an attribute `{attribute}`");
                let span = Span::new(0, open.trim_ascii_end().len());
                Some(Diagnostic::warning(message, span).did_you_mean(Some(meant)).code("unknown-attribute"))
            };
            let listed = |word: Name| self.advertised.contains_key(&word.folded().to_ascii_uppercase());
            // The new value is not computed when the transform is applied.
            if needed(&expr).contains(&attribute) {
                let span = Span::new(0, open.trim_ascii_end().len());
                let message = format!("`{attribute}` becomes an expression that refers to itself, and is UNDEFINED");
                let help = format!("write `EVALSET {attribute} …`, which computes the value");
                return vec![Diagnostic::warning(message, span).help(help).code("always-undefined")];
            }
            let found = unquoted_text(attribute, open, &expr, &listed).or_else(constant).or_else(word);
            found.or_else(misspelled).into_iter().collect()
        })
    }

    /// Checks an expression at an offset of a value.
    fn judge(&mut self, definition: &Definition<'_>, (text, map, offset): (&[u8], &SourceMap<'_>, usize), role: Role) {
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
        let unknown_word = |word: Name| self.is_unknown_word(word);
        let beside = || self.beside(definition);
        let context = LintContext {
            beside: &beside,
            defined: &defined,
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
        if is_number(&upper) {
            found.extend(expr.as_ref().and_then(|expr| text_for_number(name, expr, text)));
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
        if is_text(&upper) {
            if found.is_empty() {
                found.extend(published(text, &self.options(), &|word| self.may_exist(word)));
            }
            found.extend(expr.as_ref().and_then(|expr| truth_for_text(name, expr, text)));
        }
        let foreign = map.foreign(&|place| self.is_foreign(definition.raw.get(place).unwrap_or_default()));
        let is_foreign = |span: Span| {
            let range = span.range();
            foreign.iter().any(|part| part.start <= range.start && range.end <= part.end)
        };
        // Who wrote neither of two clauses can leave out neither. A template uses its arguments as it likes.
        found.retain(|found| {
            let other = found.related.as_ref().map(|label| label.span);
            let both = is_foreign(found.span) && other.is_some_and(is_foreign);
            found.code != "duplicate-clause" || !(both || definition.template.is_some())
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

    /// The findings about what an expression refers to.
    fn of_references(&self, name: &[u8], expr: &Expr, text: &[u8], role: Role) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        found.extend(self.own_types(expr));
        found.extend(self.other_slots(expr, role, text));
        found.extend(own_load(bare(name), expr, text));
        found.extend(self.unpublished(expr, role, text));
        found.extend(self.bare_macros(expr, role, text));
        found.extend(self.group_alone(name, expr, text));
        found
    }

    /// Tests whether other files may define what makes a text an expression; the rest of it is checked then.
    fn is_open(&mut self, definition: &Definition<'_>, statement: &[u8], role: Role) -> bool {
        let is_open = self.undefined(definition.name, definition) || self.is_left_open(definition.name, statement);
        if is_open {
            self.judge_open(definition, role);
        }
        is_open
    }

    /// Checks an expression in which macros that nothing defines are values of which nothing is known.
    fn judge_open(&mut self, definition: &Definition<'_>, role: Role) {
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
        let (mut raw, mut at) = (Vec::with_capacity(definition.raw.len()), 0);
        for dollar in memchr::memchr_iter(b'$', definition.raw) {
            let rest = &definition.raw[dollar..];
            let known = lengths.iter().filter_map(|length| rest.get(..*length));
            let mut known = known.filter_map(|text| references.get_key_value(text));
            let Some((reference, name)) = known.next() else { continue };
            if dollar >= at {
                raw.extend_from_slice(&definition.raw[at..dollar]);
                raw.extend_from_slice(UNKNOWN.as_bytes());
                raw.extend_from_slice(name);
                at = dollar + reference.len();
            }
        }
        raw.extend_from_slice(&definition.raw[at..]);
        let opened = Definition { raw: &raw, value: None, verbatim: false, ..*definition };
        let Ok(text) = self.config.expansion(definition.name, &raw) else { return };
        let source = definition.place.and_then(|place| self.sources.get(&*place.file));
        let map = SourceMap::new(self.config, source, &opened, &text);
        self.judge(&opened, (&text, &map, 0), role);
    }

    /// Tests whether a statement refers to the earlier value of its variable, which is empty here: of a part of a configuration,
    /// another file may have set it.
    fn is_left_open(&self, name: &[u8], statement: &[u8]) -> bool {
        let own = [b"$(", name.to_ascii_uppercase().as_slice()].concat();
        let is_empty = self.config.built_in(bare(name)).is_none_or(|value| value.raw.trim_ascii().is_empty());
        is_empty && !has_root(self.config) && memchr::memmem::find(&statement.to_ascii_uppercase(), &own).is_some()
    }

    /// Returns true if a reference refers to a default, or to the text of a template.
    fn is_foreign(&self, reference: &[u8]) -> bool {
        let Some(rest) = reference.strip_prefix(b"$(") else { return false };
        let end = rest.iter().position(|byte| matches!(byte, b':' | b')')).unwrap_or(rest.len());
        let definition = self.config.definition(rest[..end].trim_ascii());
        definition.is_some_and(|definition| definition.place.is_none() || definition.template.is_some())
    }

    /// Adds a diagnostic of an expression, at the place in the file that the expression comes from: for a part that
    /// came from a macro, the reference to it.
    fn found(&mut self, name: &[u8], map: &SourceMap<'_>, (text, offset): (&[u8], usize), mut found: Diagnostic) {
        let excerpt = Excerpt { text: Vec::new(), subject: Some(String::from_utf8_lossy(name).into_owned()) };
        // Text after a comment between the lines may not belong to the value.
        let comment = map.comment();
        let fix = shifted_fix(&found, offset)
            .filter(|_| map.is_written() && comment.is_none())
            .map(|fix| Fix { range: map.in_file(fix.range), text: fix.text })
            .filter(|fix| !self.holds_comment(&map.file, &fix.range));
        let place = |span: Span| map.span(span.shifted(offset).range());
        let (span, gives) = place(found.span);
        found.span = span;
        found.message = unknowns::shown(&found.message);
        found.help = found.help.as_deref().map(|help| unknowns::shown(help).into());
        let related = found.related.take().map(|label| (place(label.span).0, label.text));
        if let Some((other, text)) = related.filter(|(other, _)| *other != span) {
            found = found.related(other, text);
        }
        if let Some(gives) = gives {
            let end = gives.end.min(text.len());
            let part = unknowns::shown(&quoted(text, Span::new(gives.start.min(end), end)));
            let read = format!("after expansion: `{part}`");
            let beside = found.related.is_none() && map.is_somewhere();
            found = if beside { found.related(span, read) } else { found.more_help(read) };
        }
        if let Some(effect) = effect(bare(name)).filter(|_| is_slip(found.code)) {
            found = found.more_help(effect);
        }
        if let Some(line) = comment.filter(|_| is_slip(found.code)) {
            found = beside_comment(found, u64::from(map.line) + line);
        }
        // Several parts of one macro have one place, as have the variables that one template sets.
        let subject = excerpt.subject.clone().filter(|_| map.is_written());
        let place = (span.range().start, span.range().end);
        if !self.said.insert((found.code, Arc::clone(&map.file), map.line, place, subject, found.message.clone())) {
            return;
        }
        // Of a long value, the lines that the finding is about.
        let lines = map.lines_of(found.span, found.related.as_ref().map(|label| label.span));
        let (skipped, text) = (lines.start, map.text[lines.clone()].to_vec());
        found.span = Span::new(span.range().start - skipped, span.range().end - skipped);
        if let Some(label) = &mut found.related {
            let range = label.span.range();
            label.span = Span::new(range.start - skipped, range.end - skipped);
        }
        let number = map.line + map.line_at(skipped);
        let own = map.line + map.line_at(span.range().start);
        if let Some(found) = self.counted(&map.file, own, found) {
            self.alarms.push(placed(found, &map.file, number.into(), Excerpt { text, ..excerpt }, fix));
        }
    }

    /// Returns true if there is a comment between the lines of a part of a file: it is not part of the value.
    fn holds_comment(&self, file: &str, range: &Range<usize>) -> bool {
        let text = self.sources.get(file).and_then(|(source, _)| source.text.get(range.clone())).unwrap_or_default();
        let mut lines = text.split(|byte| *byte == b'\n').skip(1);
        lines.any(|line| line.trim_ascii_start().starts_with(b"#"))
    }

    /// Adds the warnings of the quota division.
    fn quotas(&mut self) {
        if !lists_groups(self.config) {
            return;
        }
        let tree = GroupTree::new(&QuotaSettings::readable(self.config));
        // What names are wrong was said already.
        let is_name = |alarm: &&Diagnostic| {
            matches!(alarm.code, "undeclared-group" | "obsolete-knob" | "unseen-attribute" | "unknown-knob")
        };
        let place = |alarm: &Diagnostic| (alarm.range().0.line, Arc::<str>::from(alarm.file()));
        let known: BTreeSet<(u64, Arc<str>)> = self.alarms.iter().filter(is_name).map(place).collect();
        for warning in tree.warnings() {
            if known.contains(&(u64::from(warning.line()), Arc::from(warning.file()))) {
                continue;
            }
            self.report(warning.clone(), None);
        }
    }

    /// Knobs that one file sets twice, the second time without regard to the first.
    fn redefined(&mut self) {
        let config = self.config;
        for source in config.sources() {
            let mut last: BTreeMap<Vec<u8>, Assigned> = BTreeMap::new();
            let statements = LazyCell::new(|| statements(&source.text));
            for one in assigned(source) {
                let upper = one.name.to_ascii_uppercase();
                self.not_continued(&one);
                let own = [b"$(", upper.as_slice()].concat();
                let refers = memchr::memmem::find(&one.value.to_ascii_uppercase(), &own).is_some();
                if one.conditional || !one.replaces || refers {
                    last.remove(&upper);
                    continue;
                }
                let (line, value) = (one.place.line, one.value.clone());
                let Some(first) = last.insert(upper.clone(), one).filter(|first| first.value != value) else {
                    continue;
                };
                // A statement in between may have used a macro of the file's own.
                let known = bare(&upper);
                let is_knob = is_variable(known) || role(known).is_some() || config.built_in(known).is_some();
                if !is_knob && memchr::memmem::find(&statements, &upper).is_some() {
                    continue;
                }
                let name = String::from_utf8_lossy(&first.name).into_owned();
                let message = format!("`{name}` is set again on line {line}, so this value has no effect");
                let warning = Diagnostic::warning_at(message, first.place)
                    .width(first.name.len())
                    .help("remove one of them; `+=` appends to a value, `$(NAME)` refers to the earlier value");
                self.report(warning.code("redefined-knob"), Some(name));
            }
        }
    }

    /// A setting on an indented line right behind one that ends with a comma: the list is probably meant to go on.
    fn not_continued(&mut self, one: &Assigned) {
        let Some(number) = one.place.line.checked_sub(1).filter(|number| *number > 0) else { return };
        let above = Location { line: number, column: 1, ..one.place.clone() };
        let indent = |line: &[u8]| line.len() - line.trim_ascii_start().len();
        let (Some((line, _)), Some((before, _))) = (self.line(&one.place), self.line(&above)) else { return };
        let is_list = before.trim_ascii_end().ends_with(b",") && before.contains(&b'=') && indent(before) == 0;
        if !is_list || indent(line) == 0 || before.starts_with(b"#") {
            return;
        }
        let name = shown_name(&one.name);
        let message = format!("`{name}` is a setting of its own: the line before it has no `\\` at its end");
        let at = Location { column: indent(line) as u32 + 1, ..one.place.clone() };
        let found = Diagnostic::warning_at(message, Some(at)).width(one.name.len());
        let help = "end the line before it with `\\`, or without the comma";
        self.report(found.help(help).code("odd-line"), Some(name));
    }

    /// Transforms and routes in the form of an ad, and other settings of routes that are no longer read.
    fn old_transforms(&mut self) {
        const ROUTES: [&str; 4] =
            ["JOB_ROUTER_ENTRIES", "JOB_ROUTER_ENTRIES_FILE", "JOB_ROUTER_ENTRIES_CMD", "JOB_ROUTER_DEFAULTS"];
        const HELP: &str = "write one command per line, `SET Attribute expression`, between `@=end` and `@end`";
        let config = self.config;
        for definition in config.definitions() {
            let known = bare(definition.name);
            let is_old = ROUTES.iter().any(|old| old.as_bytes().eq_ignore_ascii_case(known));
            let is_ad = knob::is_transform(known) && definition.raw.trim_ascii_start().starts_with(b"[");
            let shown = String::from_utf8_lossy(definition.name).into_owned();
            let (message, help) = if is_ad {
                (format!("`{shown}` uses the old ad format, which is ignored"), HELP)
            } else if is_old && !definition.raw.trim_ascii().is_empty() {
                let help = "define each route as `JOB_ROUTER_ROUTE_<name>` and list it in `JOB_ROUTER_ROUTE_NAMES`";
                (format!("`{shown}` is the old format of routes, which is ignored"), help)
            } else {
                continue;
            };
            let warning = definition.name_warning(message).help(help);
            self.report(warning.code("obsolete-knob"), Some(shown));
        }
    }
}

/// The lines of a text with `if`, `include` and `use`, in upper case.
fn statements(text: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 5] = [b"IF", b"ELIF", b"INCLUDE", b"USE", b"@"];
    let begins =
        |line: &[u8], word: &[u8]| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    let lines: Vec<&[u8]> = lines.filter(|line| WORDS.iter().any(|word| begins(line, word))).collect();
    lines.join(&b'\n').to_ascii_uppercase()
}

/// The effect of a policy that does not parse, where it is known.
fn effect(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    if upper.starts_with("SYSTEM_PERIODIC_") {
        return Some(format!("the schedd ignores `{upper}` silently"));
    }
    (upper == "PREEMPTION_REQUIREMENTS").then(|| format!("the negotiator ends with an error at `{upper}`"))
}

/// Attributes that the expression of a knob cannot see.
fn unseen(knob: &str, text: &[u8], options: &ParseOptions, slots_have: &dyn Fn(Name) -> bool) -> Vec<Diagnostic> {
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
