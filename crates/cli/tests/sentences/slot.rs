//! The sentences about a slot, compared with the outcome and with evaluations that are made here.

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::Scope;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::{Name, Value};
use classmate_advice::internal::explain::slot::SlotExplanation;
use classmate_cli::report::Color;
use classmate_cli::report::explain::{self as text, ShownParts};
use classmate_pool::JobId;
use classmate_pool::internal::pool::Slot;

use super::job::{Played, beside};
use super::template::{Checked, check, fit, number, same, singular};

/// An idle job.
pub(super) struct Waiting<'p> {
    pub(super) id: JobId,
    pub(super) submitter: String,
    pub(super) ad: &'p ClassAd,
}

/// A slot of a pool, and its explanation.
pub(super) struct SlotCase<'p> {
    pub(super) played: &'p Played<'p>,
    pub(super) slot: &'p Slot,
    pub(super) jobs: &'p [Waiting<'p>],
    pub(super) found: SlotExplanation,
}

impl SlotCase<'_> {
    fn is_true(&self, text: &str, of_slot: bool, job: &Waiting<'_>) -> bool {
        let (my, target) = if of_slot { (&self.slot.ad, job.ad) } else { (job.ad, &self.slot.ad) };
        let scope = Scope::new(my, &self.played.settings).with_target(target);
        parse_expr(text.as_bytes(), &ParseOptions::default()).is_ok_and(|expr| scope.holds(&expr))
    }

    fn matching(&self) -> Vec<&Waiting<'_>> {
        self.jobs.iter().filter(|job| symmetric(job.ad, &self.slot.ad, &self.played.settings)).collect()
    }

    /// The matching jobs of a submitter that got no slot.
    fn left(&self, submitter: &str) -> Vec<String> {
        let matches = &self.played.outcome.matches;
        let own = self.matching().into_iter().filter(|job| job.submitter == submitter);
        own.filter(|job| !matches.iter().any(|made| made.job == job.id)).map(|job| job.id.to_string()).collect()
    }

    /// Everything that is printed about the slot.
    pub(super) fn check(&self) -> Checked {
        for cause in &self.found.causes {
            self.cause(&singular(&cause.text)).map_err(|wrong| format!("{}: {wrong}", cause.text))?;
        }
        let (mut out, parts) = (Vec::new(), ShownParts::default());
        text::write_slot(&mut out, &self.found, &parts, Color::Off).unwrap();
        let out = String::from_utf8(out).unwrap();
        check(out.lines().count() <= 12, "more than twelve lines")?;
        let first = singular(out.lines().next().unwrap_or_default());
        let parts = fit("Slot {}: {}, weight {}; {} of {} idle job match", &first).ok_or("another form")?;
        check(parts[0] == self.slot.name.to_string(), "another slot")?;
        same("weight", parts[2], self.slot.weight)?;
        same("matching", parts[3], self.matching().len() as f64)?;
        same("jobs", parts[4], self.jobs.len() as f64)?;
        for line in out.lines().filter(|line| line.starts_with("  job ") || line.contains(" idle job")) {
            self.change(&singular(line)).map_err(|wrong| format!("{line}: {wrong}\n{out}"))?;
        }
        Ok(())
    }

    /// A change of a job: made in its ad, the job matches.
    fn change(&self, line: &str) -> Checked {
        let Some(parts) = fit("  job {}: {}", line) else { return Ok(()) };
        let job = self.jobs.iter().find(|job| job.id.to_string() == parts[0]).ok_or("no such job")?;
        let change = self.found.changes.iter().find(|one| one.job == parts[0]).ok_or("no such change")?;
        let is_plain = |text: &str| !text.contains("in requirements") && !text.contains("of the slot");
        if !is_plain(parts[1]) || self.found.changes.iter().filter(|one| one.job == parts[0]).count() > 1 {
            return Ok(());
        }
        let mut ad = job.ad.clone();
        for one in &change.changes {
            let after = parse_expr(one.after.as_bytes(), &ParseOptions::default());
            ad.insert_expr(one.attribute.as_str(), &after.map_err(|error| error.to_string())?);
        }
        check(symmetric(&ad, &self.slot.ad, &self.played.settings), "it does not match then")
    }

    /// A condition with the values beside it, and the jobs for which it is not true; of a condition of jobs at most those, as some
    /// may not have it, and at least those that have it as an operand of their Requirements.
    fn condition(&self, text: &str, of_slot: bool, (jobs, is_least): (f64, bool), among: &[&Waiting<'_>]) -> Checked {
        let mut parts = text.splitn(3, '`').skip(1);
        let (condition, rest) = (parts.next().ok_or("no condition")?, parts.next().unwrap_or_default());
        if condition == "missing Requirements" {
            let without = among.iter().filter(|job| !job.ad.contains("Requirements")).count();
            return same("jobs", &jobs.to_string(), without as f64);
        }
        let failing: Vec<&&Waiting<'_>> = among.iter().filter(|job| !self.is_true(condition, of_slot, job)).collect();
        check(jobs <= failing.len() as f64, &format!("it fails for {} jobs", failing.len()))?;
        let has = |job: &&&&Waiting<'_>| {
            let Some(expr) = job.ad.get("Requirements") else { return false };
            let operands = expr.tree().flattened(BinaryOp::And, expr.root());
            operands.iter().any(|id| format!("{:#}", expr.part(expr.tree().bare(*id))) == condition)
        };
        let least = failing.iter().filter(has).count();
        check(jobs >= least as f64, &format!("{least} jobs have it, and it fails for them"))?;
        if !is_least {
            same("jobs", &jobs.to_string(), failing.len() as f64)?;
        }
        if jobs < failing.len() as f64 {
            return Ok(());
        }
        beside(rest, &[(" of the slot is ", true), (" of job is ", false), (" of the job is ", false)], |name, one| {
            let of = |job: &&&Waiting<'_>| {
                let (my, target) = if one { (&self.slot.ad, job.ad) } else { (job.ad, &self.slot.ad) };
                let scope = Scope::new(my, &self.played.settings).with_target(target);
                scope.eval_attr(Name::new(name)).unwrap_or(Value::Error)
            };
            failing.iter().map(of).collect()
        })
    }

    fn cause(&self, text: &str) -> Checked {
        let (outcome, all) = (self.played.outcome, self.jobs.iter().collect::<Vec<_>>());
        let made = outcome.matches.iter().find(|made| made.slot == self.slot.name.to_string());
        if let Some(parts) = fit("matched to job {} of {} in spin {} of pie {}", text) {
            let made = made.ok_or("it did not match")?;
            let pie = parts[3].split([',', ';', ':']).next().unwrap_or_default();
            let is_it = made.job.to_string() == parts[0]
                && made.submitter == parts[1]
                && (made.spin, made.pie) == (number(parts[2]) as u32, number(pie) as u32);
            return check(is_it, "another match");
        }
        check(made.is_none(), "it matched")?;
        if text == "there is no idle job" {
            return check(self.jobs.is_empty(), "there are");
        }
        if text.starts_with("the slot does not have Requirements") {
            return check(!self.slot.ad.contains("Requirements"), "it has");
        }
        if text.starts_with("the cycle does not consider it: it is ") {
            let rules = self.played.pool.rules();
            return check(!rules.trim.keeps(self.slot, &self.played.settings), "it does");
        }
        if let Some(parts) = fit("excluded by NEGOTIATOR_SLOT_CONSTRAINT: `{}` is not true", text) {
            let expr = parse_expr(parts[0].as_bytes(), &ParseOptions::default()).map_err(|error| error.to_string())?;
            return check(!Scope::new(&self.slot.ad, &self.played.settings).holds(&expr), "it is");
        }
        if text == "no idle job satisfies all of its condition together" {
            let accepted = all.iter().filter(|job| self.is_true("MY.Requirements", true, job)).count();
            return same("accepted", "0", accepted as f64);
        }
        if let Some(rest) = text.strip_prefix("it reject all idle job because of ") {
            return self.condition(rest, true, (all.len() as f64, false), &all);
        }
        if let Some(parts) = fit("it reject {} of {} idle job because of {}", text) {
            same("jobs", parts[1], all.len() as f64)?;
            return self.condition(parts[2], true, (number(parts[0]), false), &all);
        }
        if let Some(parts) = fit("{} of the {} job that it accept reject it because of {}", text) {
            let accepted: Vec<&Waiting<'_>> =
                self.jobs.iter().filter(|job| self.is_true("MY.Requirements", true, job)).collect();
            same("accepted", parts[1], accepted.len() as f64)?;
            return self.condition(parts[2], false, (number(parts[0]), true), &accepted);
        }
        if let Some(parts) = fit("{} of {} idle job reject it because of {}", text) {
            same("jobs", parts[1], all.len() as f64)?;
            return self.condition(parts[2], false, (number(parts[0]), true), &all);
        }
        if let Some(parts) = fit("the {} matching job of {} got other slot", text) {
            let own: Vec<&Waiting<'_>> = self.matching().into_iter().filter(|job| job.submitter == parts[1]).collect();
            same("matching jobs", parts[0], own.len() as f64)?;
            return check(self.left(parts[1]).is_empty(), "some got none");
        }
        if let Some(parts) = fit("job {} of {} match, but got {}", text) {
            let got = outcome.matches.iter().find(|made| made.job.to_string() == parts[0]).ok_or("it got none")?;
            check(self.matching().iter().filter(|job| job.submitter == parts[1]).count() == 1, "others match")?;
            return check(got.slot == parts[2], "another slot");
        }
        if let Some(parts) = fit("job {} of {} match ({} more of its job too), but {}", text) {
            let left = self.left(parts[1]);
            check(left.contains(&parts[0].to_owned()), "it got a slot")?;
            return same("jobs", parts[2], left.len() as f64 - 1.0);
        }
        if let Some(parts) = fit("job {} of {} match, but {}", text) {
            return check(self.left(parts[1]) == [parts[0]], "other jobs are left");
        }
        let user = self.slot.user.as_ref().map(ToString::to_string);
        if let Some(parts) = fit("{} uses it, and only its own job match", text) {
            check(user.as_deref() == Some(parts[0]), "another user")?;
            return check(self.matching().iter().all(|job| job.submitter == parts[0]), "others match");
        }
        if let Some(parts) = fit("{} uses it; job {} of {}", text) {
            check(user.as_deref() == Some(parts[0]), "another user")?;
            return check(self.matching().iter().any(|job| job.id.to_string() == parts[1]), "it does not match");
        }
        if let Some(parts) = fit("NEGOTIATOR_JOB_CONSTRAINT excludes {} of {} matching job: `{}` is not true{}", text) {
            let matching = self.matching();
            same("matching", parts[1], matching.len() as f64)?;
            let expr = parse_expr(parts[2].as_bytes(), &ParseOptions::default()).map_err(|error| error.to_string())?;
            let out = matching.iter().filter(|job| !Scope::new(job.ad, &self.played.settings).holds(&expr));
            return same("excluded", parts[0], out.count() as f64);
        }
        Err("a sentence that nothing checks".to_owned())
    }
}
