//! Configurations: what [`crate::config::check`] finds, the expressions of policies, and knobs that do not go together.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::attributes::OF_GROUP;
use super::expression::{Found, Question, Role, lint as lint_expression};
use super::universe::Universe;
use super::{Alarm, Edit, Excerpt, LineStarts, unknowns};
use crate::analysis::evaluate::{OPEN, unknown};
use crate::analysis::facts::{Reference, Side};
use crate::config::check::{Diagnostic, check};
use crate::config::facts::UNKNOWN;
use crate::config::history::{Assigned, assigned};
use crate::config::knob::{self, Kind};
use crate::config::setting::Settings;
use crate::config::{Config, ConfigError, Definition, Place, Source};
use crate::error::{Finding, Severity};
use crate::quota::{GroupTree, QuotaSettings};
use crate::span::Span;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::token::Quoting;

/// Knobs of other daemons that hold expressions, and what they are for.
const POLICIES: &[(&str, Role)] = &[
    ("START", SLOT_CONDITION),
    ("RANK", SLOT_VALUE),
    ("PREEMPT", SLOT_CONDITION),
    ("SUSPEND", SLOT_CONDITION),
    ("CONTINUE", SLOT_CONDITION),
    ("KILL", SLOT_CONDITION),
    ("WANT_SUSPEND", SLOT_CONDITION),
    ("WANT_VACATE", SLOT_CONDITION),
    ("WANT_HOLD", SLOT_CONDITION),
    ("IS_OWNER", SLOT_CONDITION),
    ("MAXJOBRETIREMENTTIME", SLOT_VALUE),
    ("SYSTEM_PERIODIC_HOLD", CONDITION),
    ("SYSTEM_PERIODIC_REMOVE", CONDITION),
    ("SYSTEM_PERIODIC_RELEASE", CONDITION),
    ("SYSTEM_PERIODIC_VACATE", CONDITION),
    ("START_LOCAL_UNIVERSE", CONDITION),
    ("START_SCHEDULER_UNIVERSE", CONDITION),
    ("DEFRAG_REQUIREMENTS", CONDITION),
    ("DEFRAG_WHOLE_MACHINE_EXPR", CONDITION),
];

const CONDITION: Role = Role { condition: true, looks_at_jobs: false };
const VALUE: Role = Role { condition: false, looks_at_jobs: false };
const SLOT_CONDITION: Role = Role { condition: true, looks_at_jobs: true };
const SLOT_VALUE: Role = Role { condition: false, looks_at_jobs: true };

/// Knobs that other daemons read, whose expression sees one ad only.
const ONE_AD: [&str; 5] = [
    "NEGOTIATOR_SLOT_CONSTRAINT",
    "NEGOTIATOR_SUBMITTER_CONSTRAINT",
    "NEGOTIATOR_JOB_CONSTRAINT",
    "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT",
    "GROUP_SORT_EXPR",
];

/// What an expression of a knob is for; `None` for other knobs.
fn role(name: &[u8]) -> Option<Role> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    if let Some((_, role)) = POLICIES.iter().find(|(known, _)| *known == upper) {
        return Some(*role);
    }
    let knob = knob::find(name).filter(|knob| knob.kind == Kind::Expression)?;
    Some(match knob.name {
        "PREEMPTION_REQUIREMENTS" => SLOT_CONDITION,
        "PREEMPTION_RANK" | "NEGOTIATOR_PRE_JOB_RANK" | "NEGOTIATOR_POST_JOB_RANK" => SLOT_VALUE,
        name if name.ends_with("_CONSTRAINT") => CONDITION,
        _ => VALUE,
    })
}

/// Whether a knob, perhaps with the prefix of a daemon, holds an expression.
pub fn is_expression(name: &[u8]) -> bool {
    role(Linter::bare(name)).is_some()
}

/// What is wrong with a configuration that was read.
pub fn lint(config: &Config) -> Vec<Alarm> {
    lint_beside(config, None)
}

/// What is wrong with a configuration that was read, beside the ads of a pool.
pub fn lint_beside(config: &Config, universe: Option<&Universe>) -> Vec<Alarm> {
    // What only a machine knows is left open.
    let config = &config.without_facts();
    let sources: HashMap<&str, (&Source, LineStarts)> =
        config.sources().iter().map(|source| (&*source.name, (source, LineStarts::of(&source.text)))).collect();
    let mut linter = Linter { config, sources, alarms: Vec::new(), universe };
    for diagnostic in check(config) {
        // Expressions are looked at below, with more to say.
        if diagnostic.code != "syntax" {
            linter.diagnostic(&diagnostic);
        }
    }
    let names: Vec<Vec<u8>> = config.names().map(<[u8]>::to_vec).collect();
    for name in &names {
        linter.expression(name);
    }
    linter.quotas();
    linter.redefined();
    linter.conflicts();
    let order: HashMap<String, usize> =
        config.sources().iter().enumerate().map(|(at, source)| (source.name.to_string(), at)).collect();
    let mut alarms = linter.alarms;
    alarms.sort_by_key(|alarm| {
        let place = alarm.place().0;
        (order.get(&*alarm.excerpt.file).copied().unwrap_or(usize::MAX), place.line, place.column)
    });
    alarms
}

/// The fault that stopped the reading of a configuration.
pub fn refusal(config: &Config, error: &ConfigError) -> Alarm {
    let sources =
        config.sources().iter().map(|source| (&*source.name, (source, LineStarts::of(&source.text)))).collect();
    let mut linter = Linter { config, sources, alarms: Vec::new(), universe: None };
    linter.diagnostic(&Diagnostic::error(error.clone()).coded("bad-value"));
    linter.alarms.remove(0)
}

struct Linter<'c> {
    config: &'c Config,
    sources: HashMap<&'c str, (&'c Source, LineStarts)>,
    alarms: Vec<Alarm>,
    universe: Option<&'c Universe>,
}

impl<'c> Linter<'c> {
    /// The line of a place, and the offset of its first byte.
    fn line(&self, place: &Place) -> Option<(&'c [u8], usize)> {
        let (source, starts) = self.sources.get(&*place.file)?;
        let start = starts.offset(place.line, 1)?;
        let rest = source.text.get(start..)?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        Some((&rest[..end], start))
    }

    /// An alarm about some bytes of the line of a place; all that follow if the width is 0.
    fn at(&mut self, code: &'static str, severity: Severity, error: &ConfigError, subject: Option<String>) {
        let place = error.place.clone().unwrap_or_else(|| Place::outside("the built-in defaults"));
        let (line, _) = self.line(&place).unwrap_or((b"", 0));
        let start = (place.column.max(1) as usize - 1).min(line.len());
        let end = match error.width {
            0 => line.trim_ascii_end().len().max(start),
            width => (start + width as usize).min(line.len()),
        };
        let span = Span::new(start, end);
        let mut finding = match severity {
            Severity::Error => Finding::error(error.message.as_str(), span),
            Severity::Warning => Finding::warning(error.message.as_str(), span),
        };
        finding.help.clone_from(&error.help);
        let excerpt =
            Excerpt { file: Arc::clone(&place.file), line: place.line.into(), column: 1, text: line.to_vec() };
        self.alarms.push(Alarm { code, finding, excerpt, subject, repeated: 0, edit: None });
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.at(diagnostic.code, diagnostic.severity, &diagnostic.error, None);
        // An obsolete name is replaced where it stands.
        let now = diagnostic.error.help.as_deref().and_then(|help| help.strip_prefix("write `")?.strip_suffix('`'));
        if diagnostic.code == "obsolete-knob"
            && let (Some(now), Some(place)) = (now, &diagnostic.error.place)
            && let Some((_, start)) = self.line(place)
            && let Some(alarm) = self.alarms.last_mut()
        {
            let from = start + place.column as usize - 1;
            alarm.edit = Some(Edit { range: from..from + diagnostic.error.width as usize, text: now.to_owned() });
        }
    }

    /// The name of a knob without the prefix of a daemon.
    fn bare(name: &[u8]) -> &[u8] {
        const DAEMONS: [&[u8]; 5] = [b"NEGOTIATOR", b"STARTD", b"SCHEDD", b"COLLECTOR", b"TOOL"];
        match memchr::memchr(b'.', name) {
            Some(dot) if DAEMONS.iter().any(|daemon| daemon.eq_ignore_ascii_case(&name[..dot])) => &name[dot + 1..],
            _ => name,
        }
    }

    fn expression(&mut self, name: &[u8]) {
        let bare = Self::bare(name);
        let Some(role) = role(bare) else { return };
        let Some(definition) = self.config.assignment(name) else { return };
        let Ok(text) = self.config.expansion(name, definition.raw) else { return };
        if text.trim_ascii().is_empty() {
            return;
        }
        let open = unknowns::marked(&text);
        let text = open.as_deref().unwrap_or(&text);
        let (defined, universe) = (unknowns::is_fact, self.universe);
        let question = Question { text, quoting: Quoting::Old, role, defined: &defined, base: &unknown, universe };
        let mut found = lint_expression(&question);
        let upper = String::from_utf8_lossy(bare).to_ascii_uppercase();
        unseen(&upper, text, &mut found);
        if open.is_some() {
            unknowns::retain(text, &defined, &mut found);
        }
        if found.iter().any(|found| matches!(found.code, "syntax" | "size-suffix")) && self.undefined(name, &definition)
        {
            return;
        }
        for found in found {
            self.found(name, &definition, text, found);
        }
    }

    /// Tells which macros that nothing defines leave a text that is no expression; whether there is one.
    fn undefined(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        let undefined = self.config.undefined(definition);
        for one in &undefined {
            let macro_name = String::from_utf8_lossy(&one.name);
            let message = format!("`{macro_name}` is not defined: `$({macro_name})` stands for nothing");
            let place = one.within.place.map(|place| match one.within.value {
                Some((line, column)) if one.within.verbatim => {
                    Place { file: Arc::clone(&place.file), line, column: column + one.at.0 as u32 }
                }
                _ => place.clone(),
            });
            let width = if one.within.verbatim { one.at.1 } else { 0 };
            let knob = String::from_utf8_lossy(name).into_owned();
            let help = format!("without it, `{knob}` is no expression; define it, or write `$({macro_name}:value)`");
            let error = ConfigError::new(message, place).about(width).with_help(help);
            self.at("undefined-macro", Severity::Error, &error, Some(knob));
        }
        !undefined.is_empty()
    }

    /// An alarm about an expression: in the line, if it stands there as it is, otherwise in the expanded text.
    fn found(&mut self, name: &[u8], definition: &Definition<'_>, text: &[u8], found: Found) {
        let subject = Some(String::from_utf8_lossy(name).into_owned());
        let certain = found.is_certain();
        let Found { code, mut finding } = found;
        if memchr::memmem::find(text, &UNKNOWN.as_bytes()[1..]).is_some() {
            finding.message = unknowns::shown(&finding.message);
            finding.help = finding.help.as_deref().map(unknowns::shown);
        }
        let place = definition.place.cloned().unwrap_or_else(|| Place::outside("the built-in defaults"));
        let verbatim = definition.value.filter(|_| definition.verbatim && definition.raw == text);
        let Some(((line, column), (whole, start))) = verbatim.and_then(|value| {
            let place = Place { file: Arc::clone(&place.file), line: value.0, column: value.1 };
            Some((value, self.line(&place)?))
        }) else {
            let mut text = text.to_vec();
            text.iter_mut().filter(|byte| **byte == OPEN).for_each(|byte| *byte = UNKNOWN.as_bytes()[0]);
            let excerpt = Excerpt { file: Arc::clone(&place.file), line: place.line.into(), column: 1, text };
            let expanded = "this is the value after expansion";
            let help = match finding.help {
                Some(help) => format!("{help}; {expanded}"),
                None => expanded.to_owned(),
            };
            let finding = Finding { help: Some(help), fix: None, ..finding };
            self.alarms.push(Alarm { code, finding, excerpt, subject, repeated: 0, edit: None });
            return;
        };
        let offset = column as usize - 1;
        let edit = finding.fix.as_ref().filter(|_| certain).map(|fix| {
            let range = fix.span.range();
            Edit { range: start + offset + range.start..start + offset + range.end, text: fix.text.clone() }
        });
        let excerpt = Excerpt { file: Arc::clone(&place.file), line: line.into(), column: 1, text: whole.to_vec() };
        self.alarms.push(Alarm { code, finding: finding.shifted(offset), excerpt, subject, repeated: 0, edit });
    }

    /// What the division among groups finds odd.
    fn quotas(&mut self) {
        let Ok(settings) = QuotaSettings::read(self.config) else { return };
        let tree = GroupTree::new(&settings);
        for warning in tree.warnings() {
            // What names are wrong was said already.
            let known = |alarm: &Alarm| {
                let same = warning.place.as_ref().is_some_and(|place| {
                    u64::from(place.line) == alarm.excerpt.line && *place.file == *alarm.excerpt.file
                });
                same && matches!(alarm.code, "undeclared-group" | "obsolete-knob" | "unseen-attribute" | "unknown-knob")
            };
            if self.alarms.iter().any(known) {
                continue;
            }
            let error = ConfigError::new(warning.message.clone(), warning.place.clone());
            self.at("group-quota", Severity::Warning, &error, None);
        }
    }

    /// Knobs that one file sets twice, the second time without regard to the first.
    fn redefined(&mut self) {
        let mut told: Vec<(Assigned, Place)> = Vec::new();
        for source in self.config.sources() {
            let mut last: BTreeMap<Vec<u8>, Assigned> = BTreeMap::new();
            for one in assigned(source) {
                let upper = one.name.to_ascii_uppercase();
                let bare = Self::bare(&upper);
                let is_knob =
                    knob::find(bare).is_some() || role(bare).is_some() || self.config.built_in(bare).is_some();
                let own = [b"$(", upper.as_slice()].concat();
                let refers = memchr::memmem::find(&one.value.to_ascii_uppercase(), &own).is_some();
                if one.conditional || !one.replaces || !is_knob || refers {
                    last.remove(&upper);
                    continue;
                }
                if let Some(first) = last.insert(upper, one.clone())
                    && first.value != one.value
                {
                    told.push((first, one.place));
                }
            }
        }
        for (first, second) in told {
            let name = String::from_utf8_lossy(&first.name).into_owned();
            let message = format!("`{name}` is set again on line {}: this value is lost", second.line);
            let error = ConfigError::new(message, Some(first.place.clone()))
                .about(first.name.len())
                .with_help("leave one of them out; `+=` adds to a value, `$(NAME)` takes the earlier one");
            self.at("redefined-knob", Severity::Warning, &error, Some(name));
        }
    }

    /// The place of a name's value, if a file sets it.
    fn set(&self, name: &str) -> Option<Place> {
        let definition = self.config.definition(name.as_bytes())?;
        definition.place.cloned().filter(|_| !definition.raw.is_empty())
    }

    fn conflict(&mut self, name: &str, message: String, help: &str) {
        let Some(place) = self.set(name) else { return };
        let error = ConfigError::new(message, Some(place)).with_help(help);
        self.at("conflicting-knobs", Severity::Warning, &error, Some(name.to_owned()));
    }

    fn conflicts(&mut self) {
        let config = self.config;
        let settings = Settings::new(config);
        let boolean = |name: &str, default: bool| settings.boolean(name, default).unwrap_or(default);
        let text = |name: &str| config.get(name).ok().flatten().map(|found| found.text).unwrap_or_default();
        let integer = |name: &str| String::from_utf8_lossy(&text(name)).trim().parse::<i64>().ok();
        if !boolean("NEGOTIATOR_CONSIDER_PREEMPTION", true) {
            let off = "`NEGOTIATOR_CONSIDER_PREEMPTION` is false: only idle slots are matched";
            let requirements = text("PREEMPTION_REQUIREMENTS");
            if !requirements.trim_ascii().eq_ignore_ascii_case(b"false") {
                self.conflict("PREEMPTION_REQUIREMENTS", "`PREEMPTION_REQUIREMENTS` is never asked".to_owned(), off);
            }
            for name in ["NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", "ALLOW_PSLOT_PREEMPTION"] {
                if boolean(name, false) {
                    self.conflict(name, format!("`{name}` has no effect"), off);
                }
            }
        }
        if !text("SIGNIFICANT_ATTRIBUTES").trim_ascii().is_empty() {
            for name in ["ADD_SIGNIFICANT_ATTRIBUTES", "REMOVE_SIGNIFICANT_ATTRIBUTES"] {
                let help = "`SIGNIFICANT_ATTRIBUTES` replaces the whole list: nothing is added to it or removed";
                self.conflict(name, format!("`{name}` has no effect"), help);
            }
        }
        if let (Some(least), Some(interval)) = (integer("NEGOTIATOR_MIN_INTERVAL"), integer("NEGOTIATOR_INTERVAL"))
            && least > interval
        {
            let message = format!("`NEGOTIATOR_MIN_INTERVAL` {least} is more than `NEGOTIATOR_INTERVAL` {interval}");
            let help = "a cycle begins at most as often as both allow: the interval is of no effect";
            self.conflict("NEGOTIATOR_MIN_INTERVAL", message, help);
        }
        if !boolean("USE_RESOURCE_REQUEST_COUNTS", true)
            && integer("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE").is_some_and(|size| size > 1)
        {
            let message = "`NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE` counts as 1".to_owned();
            let help = "`USE_RESOURCE_REQUEST_COUNTS` is false: every request stands for one job";
            self.conflict("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", message, help);
        }
        if !boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", true) {
            let help = "`NEGOTIATOR_USE_SLOT_WEIGHTS` is false: every slot weighs 1";
            self.conflict("SLOT_WEIGHT", "`SLOT_WEIGHT` has no effect in the negotiator".to_owned(), help);
        }
        if boolean("FORCE_NEGOTIATOR_SLOT_WEIGHT", false) && self.set("SLOT_WEIGHT").is_none() {
            let message = "`FORCE_NEGOTIATOR_SLOT_WEIGHT` forces the default `SLOT_WEIGHT`".to_owned();
            self.conflict("FORCE_NEGOTIATOR_SLOT_WEIGHT", message, "set `SLOT_WEIGHT` too");
        }
    }
}

/// Attributes that the expression of a knob cannot see.
fn unseen(knob: &str, text: &[u8], found: &mut Vec<Found>) {
    if !ONE_AD.contains(&knob) {
        return;
    }
    let options = ParseOptions { quoting: Quoting::Old, places: true, ..ParseOptions::default() };
    let Ok(expr) = parse_expr(text, &options) else { return };
    let tree = expr.tree();
    for id in 0..tree.nodes.len() as u32 {
        let (Some(reference), Some(span)) = (Reference::of(tree, id), tree.span(id)) else { continue };
        let folded = reference.name.folded();
        let scope = matches!(folded, b"my" | b"target");
        if unknowns::is_fact(reference.name) {
            continue;
        }
        let shown = String::from_utf8_lossy(text.get(span.range()).unwrap_or_default()).into_owned();
        let (message, help) = if reference.side == Side::Target {
            (
                format!("`{shown}` is undefined: `{knob}` sees one ad"),
                "there is no other side; write the name without `TARGET.`",
            )
        } else if knob == "GROUP_SORT_EXPR" && !scope && !OF_GROUP.iter().any(|known| known.as_bytes() == folded) {
            let help =
                "a group has `AccountingGroup`, `GroupQuota`, `GroupResourcesInUse` and `GroupResourcesAllocated`";
            (format!("`{shown}` is undefined: `GROUP_SORT_EXPR` sees a group, not jobs or slots"), help)
        } else {
            continue;
        };
        found.push(Found::new("unseen-attribute", Finding::warning(message, span).help(help)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, line and column of what is found.
    fn found(text: &str) -> Vec<String> {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        lint(&config)
            .iter()
            .map(|alarm| {
                let place = alarm.place().0;
                format!("{} {}:{}", alarm.code, place.line, place.column)
            })
            .collect()
    }

    #[test]
    fn clauses_are_found_where_they_stand() {
        assert_eq!(found("\nPREEMPTION_REQUIREMENTS = Memory > 10 && Memory < 5"), ["contradiction 2:42"]);
        assert_eq!(found("START = $(X)\nX = Cpus > 1 && Cpus > 1"), ["duplicate-clause 1:13"]);
        assert_eq!(found("STARTD.START = TARGET.GlobalJobId != \"\""), ["per-job-attribute 1:16"]);
        assert_eq!(
            found("GROUP_SORT_EXPR = TARGET.Cpus + JobPrio"),
            ["unseen-attribute 1:19", "unseen-attribute 1:33"]
        );
    }

    #[test]
    fn what_only_a_machine_knows_gives_no_alarm() {
        for text in [
            "START = $(DETECTED_CPUS) > 4 && TARGET.RequestCpus < $(DETECTED_CORES)",
            "SUSPEND = MY.Machine == \"$(FULL_HOSTNAME)\" || \"$(HOSTNAME)\" == \"x\"",
            "PREEMPT = \"$ENV(SITE)\" == \"A\"",
            "CONTINUE = $(DETECTED_MEMORY) > 100",
            "RANK = \"$(ARCH)\" == \"X86_64\" && \"$(OPSYS)\" == TARGET.OpSys",
            "WANT_VACATE = $INT(DETECTED_CPUS) > 3",
            "START = a > 5 && $ENV(MORE) && a > 1",
            "START = a > 5 $ENV(MORE)",
            "GROUP_SORT_EXPR = $(DETECTED_CPUS) * GroupQuota",
            "START = $(DETECTED_CPUS) != 4 && !$(DETECTED_CORES)",
            "START = $RANDOM_INTEGER(0, 9) < 5",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        // The rest is looked at, and what the file itself says is known.
        assert_eq!(found("START = $(DETECTED_CPUS) > 4 && a > 5 && a < 3"), ["contradiction 1:44"]);
        assert_eq!(found("ARCH = X86_64\nSTART = TARGET.x > 1 && \"$(ARCH)\" == \"INTEL\""), ["always-false 2:17"]);
        let config = Config::parse("c", b"START = $(DETECTED_CPUS) > 4 && $(DETECTED_CPUS) > 4").unwrap();
        assert_eq!(lint(&config)[0].finding.message, "`$(DETECTED_CPUS) > 4` stands there already");
    }

    #[test]
    fn macros_that_nothing_defines_are_named_where_they_stand() {
        assert_eq!(found("START = $(UNDEFD) && TARGET.x > 1"), ["undefined-macro 1:9"]);
        assert_eq!(found("SUSPEND = TARGET.x > $(LIMIT)"), ["undefined-macro 1:22"]);
        assert_eq!(found("SUSPEND = $(A) && y\nA = x > $(LIMIT)"), ["undefined-macro 2:9"]);
        assert_eq!(found("SUSPEND = TARGET.x > $(LIMIT:3) $(EXTRA)"), Vec::<String>::new());
    }

    #[test]
    fn helper_macros_and_sums_of_shares() {
        let helper = "GROUP_NAMES = a, b\nGROUP_QUOTA_BASE = 5\nGROUP_QUOTA_a = $(GROUP_QUOTA_BASE)\n\
                      GROUP_QUOTA_b = $INT(GROUP_QUOTA_BASE)";
        assert_eq!(found(helper), Vec::<String>::new());
        let shares = "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.75\nGROUP_QUOTA_DYNAMIC_b = 0.5";
        assert_eq!(found(shares), ["group-quota 3:1"]);
        assert_eq!(
            found("GROUP_NAMES = chem\nGROUP_QUOTA_chem = 1\nGROUP_QUOTA_DYNAMICchem = 0.5"),
            ["unknown-knob 3:1"]
        );
        let config = Config::parse("c", b"MEM_LIMIT = 10K").unwrap();
        assert_eq!(lint(&config)[0].severity(), Severity::Warning);
    }

    #[test]
    fn knobs_that_contradict_each_other_are_told() {
        assert_eq!(found("NEGOTIATOR_INTERVAL = 60\nNEGOTIATOR_INTERVAL = 30"), ["redefined-knob 1:1"]);
        assert_eq!(
            found("NEGOTIATOR_INTERVAL = 60\nNEGOTIATOR_INTERVAL = $(NEGOTIATOR_INTERVAL) * 2"),
            Vec::<String>::new()
        );
        assert_eq!(
            found("NEGOTIATOR_CONSIDER_PREEMPTION = false\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > 5"),
            ["conflicting-knobs 2:1"]
        );
        let quotas = "GROUP_NAMES = a\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_a = 0.5";
        assert_eq!(found(quotas), ["group-quota 3:1"]);
    }

    #[test]
    fn a_macro_that_holds_a_condition_is_told() {
        assert_eq!(found("SYSTEM_PERIODIC_HOLD = $(JobStatus != 3)"), ["leftover-macro 1:24"]);
    }
}
