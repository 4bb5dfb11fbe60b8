//! The configuration of a cycle with its expressions parsed.
//!
//! In: a [`Config`]. Out: all settings that the phases use, or the variable that is invalid and its place.

use classmate::Semantics;
use classmate::internal::pcre::{self, Options, Regex};

use crate::negotiate::candidate::Ranking;
use crate::negotiate::concurrency::ConcurrencyLimits;
use crate::negotiate::groups::GroupRules;
use crate::negotiate::preemption::Preemption;
use crate::pool::slot::Weighing;
use crate::pool::trim::Trim;
use crate::queue::job_weighing::JobWeighing;
use crate::queue::request::Offering;
use crate::queue::significant::Significant;
use crate::quota::settings::expression;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::value::Value;
use classmate_config::internal::config::FoundValue;
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_config::internal::config::{Config, ConfigError, Diagnostic};

/// The rules of a cycle.
#[derive(Debug)]
pub struct Rules {
    /// The settings as read.
    pub knobs: NegotiatorKnobs,
    /// The weights of slots.
    pub weighing: Weighing,
    /// The weights of jobs at their access points.
    pub job_weighing: JobWeighing,
    /// The slots that are left out of matchmaking.
    pub trim: Trim,
    /// The ranks by which candidates are compared.
    pub ranking: Ranking,
    /// `NEGOTIATOR_SLOT_CONSTRAINT`: slots for which it does not hold take no part. `None`: all do.
    pub slots: Option<Expr>,
    /// `NEGOTIATOR_SUBMITTER_CONSTRAINT`: submitters for which it does not hold take no part. `None`: all do.
    pub submitters: Option<Expr>,
    /// `NEGOTIATOR_JOB_CONSTRAINT`: jobs for which it does not hold are not offered. `None`: all are.
    pub jobs: Option<Expr>,
    /// `NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT`: slots for which it does not hold do not count for the size of the pool.
    /// `None`: all count.
    pub pool_size: Option<Expr>,
    /// `STARTD_AD_REEVAL_EXPR`: unless it is false, a new ad with `WantAdRevaluate` replaces the one that was kept.
    /// `None`: it does if its sequence number is higher.
    pub newer_ad: Option<Expr>,
    /// The conditions under which a job may be preempted.
    pub preemption: Preemption,
    /// The concurrency limits: the number of units of each named resource that jobs may hold at once.
    pub concurrency: ConcurrencyLimits,
    /// The groups of submitters.
    pub groups: GroupRules,
    /// `NEGOTIATOR_MATCH_EXPRS`: attributes that every slot ad gets.
    pub match_exprs: Vec<(Name, Expr)>,
    removed: Option<Regex>,
}

impl Rules {
    /// Reads the rules.
    ///
    /// # Errors
    /// An invalid value of a configuration variable.
    pub fn read(config: &Config, settings: &EvalOptions) -> Result<Self, ConfigError> {
        let knobs = NegotiatorKnobs::read(config)?;
        let (pie, filter, matching) = (&knobs.pie, &knobs.filter, &knobs.matching);
        let trim = Trim {
            preemption: pie.consider_preemption,
            early_preemption: pie.consider_early_preemption,
            shutdown_within: seconds(
                "NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD",
                filter.shutdown_threshold.as_ref(),
                settings,
            )?,
            working_cm_slots: filter.working_cm_slots,
        };
        let weighing = Weighing {
            weighted: pie.use_slot_weights,
            default: expression("SLOT_WEIGHT", pie.slot_weight.as_ref())?,
            forced: pie.force_slot_weight,
        };
        Ok(Self {
            job_weighing: JobWeighing::of(pie, weighing.default.as_ref()),
            weighing,
            trim,
            ranking: Ranking {
                before_job: expression("NEGOTIATOR_PRE_JOB_RANK", matching.pre_job_rank.as_ref())?,
                after_job: expression("NEGOTIATOR_POST_JOB_RANK", matching.post_job_rank.as_ref())?,
                preemption: expression("PREEMPTION_RANK", matching.preemption_rank.as_ref())?,
                ignore_jobs: matching.ignore_job_ranks,
            },
            slots: expression("NEGOTIATOR_SLOT_CONSTRAINT", filter.slots.as_ref())?,
            submitters: expression("NEGOTIATOR_SUBMITTER_CONSTRAINT", filter.submitters.as_ref())?,
            jobs: expression("NEGOTIATOR_JOB_CONSTRAINT", filter.jobs.as_ref())?,
            pool_size: expression("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT", filter.pool_size.as_ref())?,
            // An expression that does not parse counts as undefined: every new ad replaces the old one.
            newer_ad: expression("STARTD_AD_REEVAL_EXPR", filter.newer_ad.as_ref())
                .unwrap_or_else(|_| Some(Value::Undefined.to_expr())),
            preemption: Preemption::new(expression(
                "PREEMPTION_REQUIREMENTS",
                matching.preemption_requirements.as_ref(),
            )?)?,
            concurrency: ConcurrencyLimits::read(config)?,
            groups: GroupRules::read(config)?,
            match_exprs: match_exprs(&matching.match_exprs, config.semantics())?,
            removed: pattern("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX", knobs.significant.removed_pattern.as_ref())?,
            knobs,
        })
    }

    /// All expressions of the configuration.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let Ranking { before_job, after_job, preemption, ignore_jobs: _ } = &self.ranking;
        let Preemption { requirements, prefers, likes_as_well } = &self.preemption;
        let filters = [&self.slots, &self.submitters, &self.jobs, &self.pool_size, &self.newer_ad];
        let optional = [&self.weighing.default, before_job, after_job, preemption, requirements];
        let added = self.match_exprs.iter().map(|(_, expr)| expr).chain(self.job_weighing.expr());
        optional.into_iter().chain(filters).flatten().chain([prefers, likes_as_well]).chain(added)
    }

    /// The jobs that access points offer, and the form of their requests.
    pub fn offering(&self) -> Offering<'_> {
        let significant = &self.knobs.significant;
        Offering {
            constraint: self.jobs.as_ref(),
            singly: significant.all_jobs_in_cluster,
            whole: significant.request_list_size == 1,
        }
    }

    /// Returns whether dynamic slots may be preempted so that a request fits into their partitionable slot.
    pub fn makes_room(&self) -> bool {
        self.trim.preemption && self.knobs.matching.allow_pslot_preemption
    }

    /// Returns whether the configuration replaces the list of significant attributes.
    pub fn replaces_significant(&self) -> bool {
        !self.knobs.significant.replaced_by.is_empty()
    }

    /// Returns whether a job has an attribute that may be used and is not significant: the configuration removes it, or
    /// it counts as a slot attribute and an expression of the configuration mentions it.
    pub fn may_use_insignificant(&self, job: &ClassAd) -> bool {
        let mut of_slots = self.knobs.significant.slot_side.iter().map(Name::new).filter(|name| job.contains(*name));
        let is_mentioned = |name| self.expressions().any(|expr| Mentions::of(expr.tree()).names.contains(&name));
        let removed = self.knobs.significant.removed.iter().any(|name| job.contains(Name::new(name)));
        // Jobs of one cluster share a parent ad, which has most of their attributes.
        let mut names = job.lineage().flat_map(ClassAd::names);
        removed || names.any(|name| self.removes_significant(name)) || of_slots.any(is_mentioned)
    }

    /// Returns whether `REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX` matches a name; also if it cannot be matched.
    pub fn removes_significant(&self, name: Name) -> bool {
        self.removed.as_ref().is_some_and(|pattern| pattern.is_match(name.as_bytes()).unwrap_or(true))
    }

    /// The attributes of jobs that can influence a match with these slots.
    pub fn significant<'a>(&self, slots: impl IntoIterator<Item = &'a ClassAd>) -> Significant {
        let knobs = &self.knobs.significant;
        let names = |list: &[Vec<u8>]| list.iter().map(Name::new).collect::<Vec<_>>();
        if self.replaces_significant() {
            return names(&knobs.replaced_by).into_iter().collect();
        }
        let Ranking { before_job, after_job, preemption, ignore_jobs: _ } = &self.ranking;
        let exprs = [before_job, after_job, preemption, &self.preemption.requirements, &self.jobs];
        let exprs: Vec<&Expr> = exprs.into_iter().flatten().collect();
        let mut set = Significant::of_pool(slots, &exprs, &names(&knobs.slot_side));
        if let Some(pattern) = &self.removed {
            set.retain(|name| !pattern.is_match(name.as_bytes()).unwrap_or(false));
        }
        set.extend(Significant::schedd_minimum().chain(names(&knobs.added)));
        for name in names(&knobs.removed) {
            set.remove(name);
        }
        set
    }
}

/// The macros that every slot ad gets as attributes. Their names get a prefix unless they have it.
fn match_exprs(macros: &[(Vec<u8>, Vec<u8>)], semantics: Semantics) -> Result<Vec<(Name, Expr)>, ConfigError> {
    const PREFIX: &[u8] = b"NegotiatorMatchExpr";
    let mut exprs = Vec::with_capacity(macros.len());
    for (name, text) in macros {
        let shown = String::from_utf8_lossy(name);
        let text = FoundValue { text: text.clone(), place: None, semantics };
        if let Some(expr) = expression(&shown, Some(&text))? {
            let prefix = if name.starts_with(PREFIX) { b"".as_slice() } else { PREFIX };
            exprs.push((Name::new([prefix, name].concat()), expr));
        }
    }
    Ok(exprs)
}

/// A number of seconds, given as an expression; 0 if it is not a number.
fn seconds(knob: &str, text: Option<&FoundValue>, settings: &EvalOptions) -> Result<i64, ConfigError> {
    let Some(expr) = expression(knob, text)? else { return Ok(0) };
    let value = Scope::new(&ClassAd::new(), settings).eval(&expr).ok();
    Ok(value.and_then(|value| value.as_number()).unwrap_or(0.0) as i64)
}

fn pattern(knob: &str, text: Option<&FoundValue>) -> Result<Option<Regex>, ConfigError> {
    let Some(FoundValue { text, place, .. }) = text else { return Ok(None) };
    let shown = String::from_utf8_lossy(text);
    match pcre::compile(&shown, Options::from_letters(b"i"), false) {
        Ok(regex) => Ok(Some(regex)),
        Err(error) => Err(Diagnostic::error_at(format!("`{knob}` is `{shown}`: {error}"), place.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(config: &str) -> Result<Rules, ConfigError> {
        Rules::read(&Config::parse("c", config.as_bytes()).unwrap(), &EvalOptions::default())
    }

    fn significant(config: &str, slot: &str) -> Vec<String> {
        let ad = ClassAd::parse(slot.as_bytes()).unwrap();
        rules(config).unwrap().significant([&ad]).names().map(|name| name.display().into_owned()).collect()
    }

    #[test]
    fn an_expression_that_does_not_parse_names_its_knob_and_place() {
        let error = rules("\nPREEMPTION_REQUIREMENTS = (1 +").unwrap_err();
        assert_eq!(error.message, "`PREEMPTION_REQUIREMENTS` is `(1 +`: expected an expression, found the end");
        assert_eq!(error.place.unwrap().line, 2);
    }

    #[test]
    fn room_is_made_only_where_slots_in_use_are_matched() {
        assert!(rules("ALLOW_PSLOT_PREEMPTION = true").unwrap().makes_room());
        assert!(!rules("").unwrap().makes_room());
        let without = "ALLOW_PSLOT_PREEMPTION = true\nNEGOTIATOR_CONSIDER_PREEMPTION = false";
        assert!(!rules(without).unwrap().makes_room());
    }

    #[test]
    fn attributes_of_a_parent_ad_may_be_used() {
        let rules = rules("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX = ^De").unwrap();
        let mut siblings = crate::queue::cluster::Siblings::default();
        let job = siblings.chain(ClassAd::parse(b"[Dept = \"phys\"]").unwrap());
        assert!(job.is_empty() && rules.may_use_insignificant(&job));
    }

    #[test]
    fn significant_attributes_follow_the_knobs() {
        let slot = "[Cpus = 1; R = TARGET.RequestMemory > MemoryUsage && Slot1_x == WantGpus]";
        let minimum = ["ConcurrencyLimits", "FlockTo", "Rank", "Requirements"];
        let with = |more: &[&str]| {
            let mut names: Vec<String> = minimum.iter().chain(more).map(|&name| name.to_owned()).collect();
            names.sort();
            names
        };
        // The default ranks ask for what this slot lacks: its Memory, which the job then may have.
        assert_eq!(significant("", slot), with(&["Memory", "RequestMemory", "WantGpus"]));
        let config = "ADD_SIGNIFICANT_ATTRIBUTES = Extra\nREMOVE_SIGNIFICANT_ATTRIBUTES = WantGpus, memory";
        assert_eq!(significant(config, slot), with(&["Extra", "MemoryUsage", "RequestMemory"]));
        assert_eq!(significant("SIGNIFICANT_ATTRIBUTES = b, a", slot), ["a", "b"]);
    }

    #[test]
    fn the_shutdown_threshold_may_be_an_expression() {
        assert_eq!(rules("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD = 10 * 60").unwrap().trim.shutdown_within, 600);
        assert_eq!(rules("").unwrap().trim.shutdown_within, 0);
    }
}
