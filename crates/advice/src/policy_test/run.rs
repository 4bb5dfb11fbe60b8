//! Running the tests of a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashSet;
use serde::Serialize;
use toml::Spanned;

use super::coverage::{Coverage, Covered};
use super::file::{AdSource, Copies, PolicyFile, PolicyTest, TestFileError};
use crate::lint::expression::Role;
use crate::lint::knobs::{advertised, job_conditions};
use classmate::internal::ad::Attribute;
use classmate::internal::analysis::clauses::is_value;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::syntax::expr::{Node, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalError, EvalOptions, Expr, Name, ParseOptions, Reader, Scope, Semantics, Value, rank};
use classmate_config::{Config, Context};
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::queue::job::{Activity, Job};
use classmate_pool::{Outcome, PreparedPool, Snapshot, negotiate};

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestResult {
    /// Its name.
    pub name: String,
    /// The failed expectations; none if the test passed.
    pub failures: Vec<String>,
}

/// The files a test names, by their names.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Runs the tests of a file.
///
/// # Errors
/// The file is wrong, names what there is not, or expects what cannot be asked.
///
/// ```
/// use classmate_advice::{PolicyFile, run_policy_tests};
/// let file = PolicyFile::parse("
///     ads.job = '[ RequestMemory = 4096; Requirements = TARGET.Memory >= RequestMemory ]'
///     ads.slot = '[ Memory = 1024; Requirements = true ]'
///     [[test]]
///     name = 'a small slot refuses'
///     job = 'job'
///     slot = 'slot'
///     match = false
///     clause = 'TARGET.Memory >= RequestMemory'
/// ").unwrap();
/// let (results, _) = run_policy_tests(&file, &|name| Err(format!("no `{name}` here"))).unwrap();
/// assert!(results[0].failures.is_empty());
/// ```
pub fn run(file: &PolicyFile, files: Files<'_>) -> Result<(Vec<TestResult>, Vec<Covered>), TestFileError> {
    let mut runner = Runner::new(file, files)?;
    let mut results = Vec::with_capacity(file.tests.len());
    for test in &file.tests {
        let failures = runner.test(test)?;
        results.push(TestResult { name: test.name.get_ref().clone(), failures });
    }
    Ok((results, runner.coverage.finish()))
}

struct Runner<'f> {
    ads: BTreeMap<&'f str, ClassAd>,
    settings: EvalOptions,
    snapshot: Snapshot,
    /// The conditions of the configuration.
    knobs: Vec<(String, Side, Expr)>,
    outcome: Option<Outcome>,
    division: Option<Division>,
    coverage: Coverage,
}

fn parsed(text: &Spanned<String>, settings: &EvalOptions) -> Result<Expr, TestFileError> {
    parse_expr(text.get_ref().as_bytes(), &settings.parse_options())
        .map_err(|error| TestFileError::at(format!("`{}`: {error}", text.get_ref()), text.span()))
}

impl<'f> Runner<'f> {
    fn new(file: &'f PolicyFile, files: Files<'_>) -> Result<Self, TestFileError> {
        let read = |name: &str| files(name).map_err(TestFileError::Other);
        let semantics = file.semantics;
        let options = ParseOptions { semantics, ..ParseOptions::default() };
        let mut ads = BTreeMap::new();
        for (name, source) in &file.ads {
            let ad = match source.get_ref() {
                AdSource::Text(text) => ads_of(text.as_bytes(), semantics).into_iter().next().ok_or_else(|| {
                    let error = ClassAd::parse_with(text.as_bytes().trim_ascii(), &options).err();
                    let why = error.map(|error| format!(": {error}")).unwrap_or_default();
                    TestFileError::at(format!("`{name}` is not an ad{why}"), source.span())
                })?,
                AdSource::File { file: path, at } => {
                    let found = ads_of(&read(path)?, semantics)
                        .into_iter()
                        .nth(usize::try_from(*at).unwrap_or(1).saturating_sub(1));
                    found
                        .ok_or_else(|| TestFileError::at(format!("`{path}` does not have an ad {at}"), source.span()))?
                }
            };
            ads.insert(name.as_str(), ad);
        }
        let now = file.now.as_ref().and_then(|clock| clock.get_ref().seconds()).unwrap_or(0);
        let mut config = Config::new(Context { semantics, ..Context::default() });
        let refused = |error: &classmate_config::internal::config::ConfigError| TestFileError::Other(error.to_line());
        if let Some(name) = &file.config_file {
            config.add(name, &read(name)?).map_err(|error| refused(&error))?;
        }
        if let Some(text) = &file.config {
            config.add("config", text.get_ref().as_bytes()).map_err(|error| refused(&error))?;
        }
        let mut snapshot = Snapshot { config, now, seed: file.seed, ..Snapshot::default() };
        let settings = snapshot.settings();
        let pool = &file.pool;
        if let Some(name) = &pool.log_file {
            let log = AccountantLog::read(&read(name)?)
                .map_err(|error| TestFileError::Other(format!("`{name}`: {error}")))?;
            snapshot.log = Some(log);
        }
        for (name, list) in [(&pool.slots_file, &mut snapshot.slots), (&pool.jobs_file, &mut snapshot.jobs)] {
            if let Some(name) = name {
                list.extend(ads_of(&read(name)?, semantics));
            }
        }
        let (knobs, coverage) = (conditions(&snapshot.config), Coverage::default());
        let mut runner = Runner { ads, settings, snapshot, knobs, outcome: None, division: None, coverage };
        for (list, slots) in [(&pool.slots, true), (&pool.jobs, false)] {
            for (at, copies) in list.iter().enumerate() {
                runner.copies(copies, at, slots)?;
            }
        }
        runner.expect(file);
        Ok(runner)
    }

    /// Enters the clauses of the configuration's conditions, of the pool's ads and of those that no match is asked of,
    /// so that what no test reaches is listed.
    fn expect(&mut self, file: &PolicyFile) {
        let nowhere = ClassAd::new();
        let matched = file.tests.iter().filter(|test| test.matches.is_some() || test.clause.is_some());
        let matched = matched.flat_map(|test| [&test.job, &test.slot]).flatten();
        let pooled = file.pool.slots.iter().chain(&file.pool.jobs).map(|copies| &copies.ad);
        let used: HashSet<&str> = matched.chain(pooled).map(|name| name.get_ref().as_str()).collect();
        for (name, ad) in self.ads.iter().filter(|(name, _)| !used.contains(*name)) {
            self.coverage.expect_of(&format!("ads.{name}"), Scope::new(ad, &self.settings));
        }
        for (name, _, expr) in &self.knobs {
            self.coverage.expect(&format!("config: {name}"), Scope::new(&nowhere, &self.settings), expr);
        }
        // Copies of an ad share their expressions.
        let mut seen: HashSet<(&str, *const Tree)> = HashSet::new();
        let slots = self.snapshot.slots.iter().map(|ad| ("slot", ad));
        for (whose, ad) in slots.chain(self.snapshot.jobs.iter().map(|ad| ("job", ad))) {
            let Some(Attribute::Tree(tree)) = ad.lookup(Name::new("Requirements")) else { continue };
            if seen.len() < EXPECTED && seen.insert((whose, Arc::as_ptr(tree))) {
                self.coverage.expect_of(whose, Scope::new(ad, &self.settings));
            }
        }
    }

    fn ad(&self, name: &Spanned<String>) -> Result<&ClassAd, TestFileError> {
        self.ads.get(name.get_ref().as_str()).ok_or_else(|| {
            let known: Vec<String> = self.ads.keys().map(|known| format!("`{known}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            TestFileError::at(format!("ad `{}` does not exist; known ads: {known}", name.get_ref()), name.span())
        })
    }

    /// Puts copies of an ad into the pool.
    fn copies(&mut self, copies: &Copies, at: usize, slots: bool) -> Result<(), TestFileError> {
        const MAX_COPIES: usize = 1_000_000;
        let base = self.ad(&copies.ad)?.clone();
        if copies.count > MAX_COPIES {
            return Err(TestFileError::at(format!("more than {MAX_COPIES} copies of an ad"), copies.ad.span()));
        }
        for copy in 0..copies.count {
            let mut ad = base.clone();
            if slots {
                if copies.count > 1 || !ad.contains("Name") {
                    ad.insert("Name", format!("{}{}@{}", copies.ad.get_ref(), copy + 1, at + 1).as_str());
                }
            } else {
                ad.insert("ClusterId", at as i64 + 1);
                ad.insert("ProcId", copy as i64);
                if !ad.contains("JobStatus") {
                    ad.insert("JobStatus", 1i64);
                }
            }
            for (name, value) in &copies.set {
                ad.insert_expr(Name::new(name), &parsed(value, &self.settings)?);
            }
            if slots { self.snapshot.slots.push(ad) } else { self.snapshot.jobs.push(ad) }
        }
        Ok(())
    }

    fn test(&mut self, test: &PolicyTest) -> Result<Vec<String>, TestFileError> {
        let mut failures = Vec::new();
        if let Some(expression) = &test.expression {
            failures.push(self.value(test, expression)?);
        }
        if test.matches.is_some() || test.clause.is_some() {
            failures.push(self.matching(test)?);
        }
        if let Some(order) = &test.rank {
            failures.push(self.rank(test, order)?);
        }
        if !test.quota.is_empty() || !test.granted.is_empty() {
            failures.push(self.quotas(test)?);
        }
        if !test.gets.is_empty() || test.preempts.is_some() {
            failures.push(self.cycle(test)?);
        }
        if failures.is_empty() {
            let message = "the test has no expectation: add `value`, `match`, `clause`, `rank`, `gets`, `quota`, \
            `granted` or `preempts`";
            return Err(TestFileError::at(message, test.name.span()));
        }
        Ok(failures.concat())
    }

    fn value(&self, test: &PolicyTest, expression: &Spanned<String>) -> Result<Vec<String>, TestFileError> {
        let Some(expected) = &test.value else {
            return Err(TestFileError::at("an `expression` requires a `value`", expression.span()));
        };
        let nowhere = ClassAd::new();
        let my = test.my.as_ref().map_or(Ok(&nowhere), |name| self.ad(name))?;
        let mut scope = Scope::new(my, &self.settings);
        if let Some(name) = &test.target {
            scope = scope.with_target(self.ad(name)?);
        }
        let expr = parsed(expression, &self.settings)?;
        let wanted = Scope::new(&nowhere, &self.settings).eval(&parsed(expected, &self.settings)?);
        let found = match expr.node() {
            Node::Attr(name) => scope.eval_attr(*name),
            _ => scope.eval(&expr),
        };
        let shown = |value: Result<Value, EvalError>| {
            value.map_or_else(|failed| format!("no value: {failed}"), |value| value.to_string())
        };
        let (wanted, found) = (shown(wanted), shown(found));
        let failure = format!("`{}` is {found}, expected {wanted}", expression.get_ref());
        Ok(if wanted == found { Vec::new() } else { vec![failure] })
    }

    fn matching(&mut self, test: &PolicyTest) -> Result<Vec<String>, TestFileError> {
        let (Some(job), Some(slot)) = (&test.job, &test.slot) else {
            return Err(TestFileError::at("a match requires a `job` and a `slot`", test.name.span()));
        };
        let (job, slot) = (self.ad(job)?.clone(), self.ad(slot)?.clone());
        let settings = self.settings.clone();
        let matched = symmetric(&job, &slot, &settings);
        let sides = [("job", &job, &slot), ("slot", &slot, &job)];
        let mut refusing = Vec::new();
        for (whose, my, target) in sides {
            let clauses = self.coverage.look(whose, Scope::new(my, &settings).with_target(target));
            let none = clauses.is_empty();
            let refused = clauses.into_iter().find(|clause| !clause.accepts());
            if let Some(clause) = refused {
                let value = clause.value.as_ref().map_or_else(ToString::to_string, ToString::to_string);
                let causes: Vec<String> = clause.causes.iter().map(ToString::to_string).collect();
                let causes = if causes.is_empty() { String::new() } else { format!(" ({})", causes.join("; ")) };
                refusing.push((clause.expr.clone(), format!("the {whose}'s `{}` is {value}{causes}", clause.expr)));
            } else if none {
                let nothing = Expr::literal(Literal::Undefined);
                refusing.push((nothing, format!("the {whose} does not have Requirements")));
            }
        }
        self.look_at_knobs(&job, &slot);
        let why = refusing.first().map_or("both sides accept", |(_, why)| why.as_str());
        let mut failures = Vec::new();
        if let Some(expected) = test.matches
            && expected != matched
        {
            let found = if matched { "they match" } else { "they do not match" };
            failures.push(format!("{found}: {why}"));
        }
        if let Some(clause) = &test.clause {
            let expected = parsed(clause, &self.settings)?;
            if !refusing.iter().any(|(found, _)| found.to_string() == expected.to_string()) {
                failures.push(format!("`{}` does not decide: {why}", clause.get_ref()));
            }
        }
        Ok(failures)
    }

    fn rank(&self, test: &PolicyTest, order: &Spanned<Vec<String>>) -> Result<Vec<String>, TestFileError> {
        let Some(job) = &test.job else {
            return Err(TestFileError::at("`rank` requires a `job`", order.span()));
        };
        let job = self.ad(job)?;
        let mut ranked = Vec::new();
        for name in order.get_ref() {
            let slot = self.ads.get(name.as_str());
            let slot = slot.ok_or_else(|| TestFileError::at(format!("ad `{name}` does not exist"), order.span()))?;
            ranked.push((name, rank(job, slot, &self.settings)));
        }
        let failure = |pair: &[(&String, f64)]| {
            let ((first, one), (second, two)) = (pair[0], pair[1]);
            let is_higher = one.partial_cmp(&two) == Some(std::cmp::Ordering::Greater);
            let failure = || format!("`{first}` has rank {one}, which is not higher than {two} of `{second}`");
            (!is_higher).then(failure)
        };
        Ok(ranked.windows(2).filter_map(failure).collect())
    }

    fn quotas(&mut self, test: &PolicyTest) -> Result<Vec<String>, TestFileError> {
        let mut failures = Vec::new();
        if self.division.is_none() {
            let pool = PreparedPool::new(&self.snapshot).map_err(|error| TestFileError::Other(error.to_string()))?;
            self.division = Some(pool.division());
        }
        let Some(division) = &self.division else { return Ok(failures) };
        for (what, map) in [("quota", &test.quota), ("grant", &test.granted)] {
            for (group, expected) in map {
                let found = division.groups.iter().find(|known| known.summary.name.eq_ignore_ascii_case(group));
                let number = found.map(|found| match what {
                    "quota" => found.summary.quota,
                    _ => found.summary.allocated,
                });
                match number {
                    None => failures.push(format!("group `{group}` does not exist")),
                    Some(number) if (number - expected).abs() > 1e-6 => {
                        failures.push(format!("the {what} of `{group}` is {number}, expected {expected}"));
                    }
                    _ => {}
                }
            }
        }
        Ok(failures)
    }

    fn cycle(&mut self, test: &PolicyTest) -> Result<Vec<String>, TestFileError> {
        let mut failures = Vec::new();
        if self.outcome.is_none() {
            if self.snapshot.slots.is_empty() || self.snapshot.jobs.is_empty() {
                return Err(TestFileError::at("a cycle requires slots and jobs in `[pool]`", test.name.span()));
            }
            self.look_at_pool()?;
            self.outcome = Some(negotiate(&self.snapshot).map_err(|error| TestFileError::Other(error.to_string()))?);
        }
        let Some(outcome) = &self.outcome else { return Ok(failures) };
        for (submitter, expected) in &test.gets {
            let found = outcome.matches.iter().filter(|one| one.submitter.eq_ignore_ascii_case(submitter)).count();
            if found != *expected {
                let slots = if found == 1 { "slot" } else { "slots" };
                failures.push(format!("`{submitter}` gets {found} {slots}, expected {expected}"));
            }
        }
        if let Some(expected) = test.preempts {
            let displaced = outcome.matches.iter().find(|one| one.displaced.is_some());
            match (displaced, expected) {
                (None, true) => failures.push("no job is preempted".to_owned()),
                (Some(one), false) => {
                    let by = one.displaced.as_deref().unwrap_or_default();
                    failures.push(format!("`{by}` is preempted on `{}` by job {}", one.slot, one.job));
                }
                _ => {}
            }
        }
        Ok(failures)
    }

    /// Counts the clauses of the configuration's expressions about a job and a slot.
    fn look_at_knobs(&mut self, job: &ClassAd, slot: &ClassAd) {
        for (name, side, expr) in &self.knobs {
            let scope = match side {
                Side::Slot => Scope::new(slot, &self.settings),
                Side::Job => Scope::new(job, &self.settings),
                Side::SlotAndJob => Scope::new(slot, &self.settings).with_target(job),
                Side::Displacing => continue,
            };
            self.coverage.count(&format!("config: {name}"), scope, expr);
        }
    }

    /// Counts the clauses of every kind of slot and job of the pool, and of `PREEMPTION_REQUIREMENTS` for those that
    /// match in slots that others use.
    fn look_at_pool(&mut self) -> Result<(), TestFileError> {
        const PAIRS: usize = 10_000;
        let (slots, jobs) = (std::mem::take(&mut self.snapshot.slots), std::mem::take(&mut self.snapshot.jobs));
        let pairs = jobs.iter().flat_map(|job| slots.iter().map(move |slot| (job, slot)));
        for (job, slot) in pairs.take(PAIRS) {
            self.coverage.look("job", Scope::new(job, &self.settings).with_target(slot));
            self.coverage.look("slot", Scope::new(slot, &self.settings).with_target(job));
            self.look_at_knobs(job, slot);
        }
        (self.snapshot.slots, self.snapshot.jobs) = (slots, jobs);
        let Some((name, _, expr)) = self.knobs.iter().find(|(_, side, _)| *side == Side::Displacing) else {
            return Ok(());
        };
        let domain = self.snapshot.config.string("ACCOUNTING_DOMAIN").unwrap_or_default();
        let read = |ad| Job::new(ad, domain.as_deref(), &self.settings).filter(|job| job.activity == Activity::Idle);
        let jobs: Vec<Job<'_>> = self.snapshot.jobs.iter().filter_map(read).collect();
        let pool =
            PreparedPool::for_explanation(&self.snapshot).map_err(|error| TestFileError::Other(error.to_string()))?;
        let askers: Vec<_> = jobs.iter().map(|job| pool.job(&job.ad, &job.submitter)).collect();
        let settings = pool.settings();
        let place = format!("config: {name}");
        let pairs =
            askers.iter().zip(&jobs).flat_map(|(asker, job)| pool.slots().iter().map(move |slot| (asker, job, slot)));
        for (asker, job, slot) in pairs.take(PAIRS) {
            let others = slot.user.as_ref().is_some_and(|user| *user != job.submitter);
            if others && symmetric(&asker.ad, &slot.ad, &settings) {
                self.coverage.count(&place, Scope::new(&slot.ad, &settings).with_target(&asker.ad), expr);
            }
        }
        Ok(())
    }
}

/// Requirements of a pool whose clauses are listed even if no test reaches them.
const EXPECTED: usize = 100;

/// The ads that an expression of the configuration is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Slot,
    Job,
    SlotAndJob,
    /// A slot in use and a job that may displace the one in it.
    Displacing,
}

/// Knobs of the negotiator that hold conditions.
const CONDITIONS: &[(&str, Side)] = &[
    ("PREEMPTION_REQUIREMENTS", Side::Displacing),
    ("NEGOTIATOR_SLOT_CONSTRAINT", Side::Slot),
    ("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT", Side::Slot),
    ("NEGOTIATOR_JOB_CONSTRAINT", Side::Job),
];

/// The conditions that a configuration sets itself, and those that it puts into slots by `STARTD_ATTRS`.
fn conditions(config: &Config) -> Vec<(String, Side, Expr)> {
    let semantics = config.semantics();
    let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
    let condition = |name: &str| {
        let found = config.definition(name.as_bytes()).filter(|found| found.place.is_some())?;
        let text = config.get(name).ok()??.text;
        Some((String::from_utf8_lossy(found.name).into_owned(), parse_expr(&text, &options).ok()?))
    };
    let side = |role: Role| if role.looks_at_jobs { Side::SlotAndJob } else { Side::Job };
    let known = CONDITIONS.iter().copied().chain(job_conditions().map(|(name, role)| (name, side(role))));
    let known: Vec<(&str, Side)> = known.collect();
    let is_known = |name: &str| known.iter().any(|(known, _)| *known == name);
    let advertised = advertised(config).into_iter().filter(|(_, role)| role.looks_at_jobs);
    let advertised = advertised.filter_map(|(name, _)| String::from_utf8(name).ok()).filter(|name| !is_known(name));
    // A value that is not a condition, such as the name of a site, has no clauses.
    let advertised = advertised
        .filter_map(|name| condition(&name))
        .filter(|(_, expr)| !is_value(expr.tree(), expr.root()))
        .map(|(name, expr)| (name, Side::SlotAndJob, expr));
    let known = known.iter().filter_map(|(name, side)| Some(((*name).to_owned(), *side, condition(name)?.1)));
    known.chain(advertised).collect()
}

/// The ads of a text in any form; what cannot be read is left out.
pub fn ads_of(text: &[u8], semantics: Semantics) -> Vec<ClassAd> {
    let options = ParseOptions { semantics, ..ParseOptions::default() };
    let trimmed = text.trim_ascii();
    if let Ok(ad) = ClassAd::parse_with(trimmed, &options) {
        return vec![ad];
    }
    let reader = Reader::detect(trimmed, &options);
    reader.map(|reader| reader.flatten().collect()).unwrap_or_default()
}
