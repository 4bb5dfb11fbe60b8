//! Configurations: what [`classmate_config::internal::config::check`] finds, and the rules about expressions, lists and pairs of
//! variables, which report through one linter. One file of more than 600 lines: the linter, which keeps what the rules look up, and the
//! order of its rules.
//!
//! In: a configuration. Out: the findings, in the order of the files.

mod branches;
mod judgement;
mod macros;
mod members;
mod numbers;
mod policies;
mod statements;
#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;

use self::judgement::{effect, unseen};
use self::members::LISTS;
use super::ads::needed;
use super::attributes::{is_known, misspelled_own};
use super::compared_values::assigned as assigned_value;
use super::expression::{LintContext, MAX_TEXT, Role, quoted, written};
use super::knobs::{advertised, bare, copied, of_transforms, role};
use super::open_macros::{lint_with_macros, without_macros};
use super::placing::SourceMap;
use super::rules::{published, unquoted_text, word_of_case};
use super::schema::AdSchema;
use super::transforms::{self, TransformPart};
use super::versions::{LintVersions, changed_text, read_elsewhere};
use super::{
    LineIndex, MAX_OF_LINE, beside_comment, daemon_list, effects, execution_point, is_slip, lists, method_files, pairs,
    placed, shifted_fix, template_order, templates, undone, unknowns, user_maps,
};
use crate::versions::configuration::{attributes, compared_as, is_divided, referred_to};
use classmate::internal::diagnostic::{Excerpt, Fix, Severity};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, Diagnostic, Name, ParseOptions, Span};
use classmate_config::internal::config::check::check;
use classmate_config::internal::config::expand::ExpandError;
use classmate_config::internal::config::knob;
use classmate_config::internal::config::table::default_text;
use classmate_config::{Config, ConfigError, Definition, Location, Source};

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
    // What a template makes of its arguments may be reported already.
    let is_new = |found: &Diagnostic| {
        found.code != "bad-value" || !linter.bad_values.contains_key(&(Arc::from(found.file()), found.line()))
    };
    let of_templates = template_order::check(config).into_iter().filter(|(found, _)| is_new(found)).collect::<Vec<_>>();
    let of_others = of_daemons.chain(effects::check(config)).chain(of_templates).chain(undone::check(config));
    let of_others = of_others.chain(method_files::check(config));
    let of_several = pairs::check(config).into_iter().chain(of_lists).chain(user_maps::check(config)).chain(of_others);
    for (found, name) in of_several {
        linter.report(found, Some(name));
    }
    linter.uncounted();
    let mut alarms = linter.alarms;
    branches::check(config, schema, &mut alarms);
    drop_defaults(config, &mut alarms);
    alarms.sort_by_cached_key(|alarm| {
        let file = config.sources().iter().rposition(|source| *source.name == *alarm.file());
        let place = alarm.range().0;
        (file.unwrap_or(usize::MAX), place.line, place.column)
    });
    templates::once_in_each_file(&mut alarms);
    alarms
}

/// Drops the findings about statements that repeat a built-in default in files that consist of them, as the output of
/// `condor_config_val -dump` does: the site did not choose these.
fn drop_defaults(config: &Config, alarms: &mut Vec<Diagnostic>) {
    /// Fewer may well have been written by hand.
    const LISTING: usize = 100;
    let is_default =
        |one: &Definition<'_>| default_text(one.name).is_some_and(|default| default.as_bytes() == one.raw.trim_ascii());
    let mut defaults: HashMap<&str, BTreeSet<u64>> = HashMap::new();
    for definition in config.definitions().filter(is_default) {
        if let Some(place) = definition.place {
            defaults.entry(&*place.file).or_default().insert(u64::from(place.line));
        }
    }
    defaults.retain(|_, lines| lines.len() >= LISTING);
    alarms.retain(|alarm| defaults.get(alarm.file()).is_none_or(|lines| !lines.contains(&alarm.range().0.line)));
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

/// The findings of a line.
#[derive(Default)]
struct LineFindings {
    count: usize,
    /// The place of the last one that is kept among all findings.
    last: usize,
    has_error: bool,
}

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
    /// The findings on each line of a file.
    of_line: HashMap<(Arc<str>, u32), LineFindings>,
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

    /// Returns true if slots copy an attribute from a job, with its type and its values.
    fn copies(&self, name: Name) -> bool {
        let upper = name.folded().to_ascii_uppercase();
        self.copied.contains(&upper) && !self.advertised.contains_key(&upper) && !unknowns::is_fact(name)
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

    /// Returns true if a word in small letters after a capital, such as `Nebraska`, is the name of nothing.
    fn is_unknown_name(&self, word: Name) -> bool {
        let text = word.display();
        let is_plain = |rest: &str| rest.len() > 2 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_capital =
            text.starts_with(|sign: char| sign.is_ascii_uppercase()) && text.get(1..).is_some_and(is_plain);
        let is_defined = self.config.definition(word.folded()).is_some();
        is_capital && !self.may_exist(word) && !is_defined
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
            let Some((comment, _)) = self.line(&at) else { break };
            // The list that names the variable is beside it.
            let name = comment[..memchr::memchr(b'=', comment).unwrap_or(0)].trim_ascii().to_ascii_uppercase();
            if name.strip_suffix(b"_NAMES").is_some_and(|front| definition.name.to_ascii_uppercase().starts_with(front))
            {
                continue;
            }
            if !comment.trim_ascii_start().starts_with(b"#") {
                break;
            }
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
        let of_line = self.of_line.entry((Arc::clone(file), line)).or_default();
        of_line.count += 1;
        of_line.has_error |= found.severity == Severity::Error;
        if of_line.count > MAX_OF_LINE {
            return None;
        }
        of_line.last = self.alarms.len();
        Some(found)
    }

    /// Says of lines with many findings how many there are.
    fn uncounted(&mut self) {
        for of_line in self.of_line.values().filter(|of_line| of_line.count > MAX_OF_LINE) {
            let Some(alarm) = self.alarms.get_mut(of_line.last) else { continue };
            let more = format!("there are {} more findings on this line", of_line.count - MAX_OF_LINE);
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
            self.route_values(definition);
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
            Err(ExpandError::Depth(_)) => MAX_WORK >> 7,
            Err(_) => 0,
        };
        self.work.set(self.work.get() + cost);
        expanded.ok()
    }

    /// Compares the versions in a value that is an expression only where others refer to it, or has its expressions in ads.
    fn in_versions(&mut self, definition: &Definition<'_>) {
        let name = definition.name;
        let Some(text) = self.expand(definition).filter(|text| text.len() <= MAX_TEXT) else { return };
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
            // A template is HTCondor's own text, and uses its arguments as it likes.
            if definition.template.is_some() {
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
            // What a macro gives is not known.
            let attribute = attribute.filter(|_| memchr::memchr(b'$', text).is_none());
            let may_exist = |word: Name| !self.is_unknown_value(word);
            let of_case = attribute.and_then(|_| word_of_case(open, &self.options(), &may_exist));
            if alone {
                let mut found = unseen(&name, open, &self.options(), &|_| false);
                found.extend(of_case.or_else(|| attribute.and_then(|_| published(open, &self.options(), &may_exist))));
                return found;
            }
            let (Some(attribute), Ok(expr)) = (attribute, parse_expr(open, &self.options())) else { return Vec::new() };
            let constant = || {
                let Node::Literal(literal) = expr.node() else { return None };
                let span = Span::new(0, open.trim_ascii_end().len());
                assigned_value(attribute, literal, &written(open, span), span)
            };
            let word = || published(open, &self.options(), &may_exist).or(of_case);
            let misspelled = || {
                let meant = misspelled_own(attribute.folded()).filter(|_| !self.is_used_twice(attribute))?;
                let message = format!("HTCondor does not know an attribute `{attribute}`");
                let span = Span::new(0, open.trim_ascii_end().len());
                Some(Diagnostic::warning(message, span).did_you_mean(Some(meant)).code("unknown-attribute"))
            };
            let listed = |word: Name| self.advertised.contains_key(&word.folded().to_ascii_uppercase());
            // The new value is not computed when the transform is applied.
            let (tree, root) = (expr.tree(), expr.root());
            // `X ?: 5` may be meant for jobs without `X`.
            let has_default =
                (tree.first_of(root)..=root).any(|id| matches!(tree.node(id), Node::Binary(BinaryOp::Default, ..)));
            let is_own = |one: Reference| one.name == attribute && one.scope != RefScope::Target;
            let is_needed = needed(&expr).contains(&attribute);
            if is_needed || !has_default && tree.references(root).any(is_own) {
                let span = Span::new(0, open.trim_ascii_end().len());
                let effect = if is_needed { "and is UNDEFINED" } else { "in which it is UNDEFINED" };
                let message = format!("`{attribute}` becomes an expression that refers to itself, {effect}");
                let help = format!("write `EVALSET {attribute} …`, which computes the value");
                return vec![Diagnostic::warning(message, span).help(help).code("always-undefined")];
            }
            let found = unquoted_text(attribute, open, &expr, &listed).or_else(constant).or_else(word);
            found.or_else(misspelled).into_iter().collect()
        })
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
        let found_at = found.span.shifted(offset).range();
        let (span, gives) = place(found.span);
        found.span = span;
        found.message = unknowns::shown(&found.message);
        found.help = found.help.as_deref().map(|help| unknowns::shown(help).into());
        let related = found.related.take().map(|label| (place(label.span).0, label.text));
        if let Some((other, text)) = related.filter(|(other, _)| *other != span) {
            found = found.related(other, text);
        }
        let origin = self.origin(map, text, found_at);
        if let Some(gives) = gives {
            let end = gives.end.min(text.len());
            let part = unknowns::shown(&quoted(text, Span::new(gives.start.min(end), end)));
            let read = format!("after expansion: `{part}`");
            let beside = found.related.is_none() && map.is_somewhere();
            found = if beside { found.related(span, read) } else { found.more_help(read) };
        }
        if let Some(origin) = origin {
            found = found.more_help(origin);
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

    /// The line of the macro that a part of an expansion was written in.
    fn origin(&self, map: &SourceMap<'_>, text: &[u8], mut at: Range<usize>) -> Option<String> {
        /// Macros that refer to macros.
        const MOST: usize = 8;
        let (name, made) = map.of_macro(&at)?;
        let (mut name, mut text) = (name.to_vec(), text.get(made.clone())?.to_vec());
        at = at.start - made.start..at.end - made.start;
        for _ in 0..MOST {
            let definition = self.config.definition(&name).filter(|one| one.template.is_none())?;
            let source = definition.place.and_then(|place| self.sources.get(&*place.file))?;
            if self.config.expansion(definition.name, definition.raw).ok()? != text {
                return None;
            }
            let of_macro = SourceMap::new(self.config, Some(source), &definition, &text);
            let Some((inner, made)) = of_macro.of_macro(&at) else {
                let line = of_macro.line_at(of_macro.span(at).0.range().start);
                let is_below = line > 0;
                let line = of_macro.line + line;
                let file = if of_macro.file == map.file { String::new() } else { format!(" of `{}`", of_macro.file) };
                let name = shown_name(definition.name);
                return Some(if is_below {
                    format!("it is on line {line}{file}, in `{name}`")
                } else {
                    format!("`{name}` is defined on line {line}{file}")
                });
            };
            (name, text) = (inner.to_vec(), text.get(made.clone())?.to_vec());
            at = at.start - made.start..at.end - made.start;
        }
        None
    }

    /// Returns true if there is a comment between the lines of a part of a file: it is not part of the value.
    fn holds_comment(&self, file: &str, range: &Range<usize>) -> bool {
        let text = self.sources.get(file).and_then(|(source, _)| source.text.get(range.clone())).unwrap_or_default();
        let mut lines = text.split(|byte| *byte == b'\n').skip(1);
        lines.any(|line| line.trim_ascii_start().starts_with(b"#"))
    }
}
