//! The sentences about a job, compared with the outcome and with evaluations that are made here.
//! One file, because every sentence is read against the same pool and outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::{Expr, Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::{Name, Value};
use classmate_advice::explain_job;
use classmate_advice::internal::explain::Explanation;
use classmate_advice::internal::explain::causes::Reason;
use classmate_advice::internal::explain::repair::suggestion::{Change, Changed, Suggestion};
use classmate_cli::report::Color;
use classmate_cli::report::explain::{self as text, ShownParts};
use classmate_cli::report::fold::Folded;
use classmate_pool::JobId;
use classmate_pool::internal::negotiate::outcome::{Match, Negotiation, Rejected};
use classmate_pool::internal::negotiate::prepared::{OfferedJob, PreparedJob};
use classmate_pool::internal::negotiate::{Outcome, PreparedPool, Snapshot, negotiate};
use classmate_pool::internal::pool::{Slot, State};

use super::template::{Checked, check, fit, number, same, singular};
use super::{REPLAYED, quota, setting};

/// A pool before its cycle, and the outcome of the cycle.
pub(super) struct Played<'p> {
    pub(super) snapshot: &'p Snapshot,
    pub(super) outcome: &'p Outcome,
    pub(super) pool: &'p PreparedPool<'p>,
    pub(super) queue: &'p [OfferedJob],
    pub(super) settings: EvalOptions,
}

impl Played<'_> {
    pub(super) fn turns(&self, submitter: &str) -> Vec<(usize, &Negotiation)> {
        let all = self.outcome.negotiations.iter().enumerate();
        all.filter(|(_, visit)| visit.submitter == submitter).map(|(at, visit)| (at + 1, visit)).collect()
    }

    pub(super) fn priority(&self, submitter: &str) -> Option<f64> {
        self.turns(submitter).first().map(|(_, visit)| visit.priority)
    }

    /// The last match of a slot.
    fn taker(&self, slot: &str) -> Option<(JobId, &str)> {
        self.outcome.matches.iter().rev().find(|made| made.slot == slot).map(|made| (made.job, made.submitter.as_str()))
    }

    /// A sentence on a turn.
    pub(super) fn turn(&self, submitter: &str, parts: &[&str]) -> Checked {
        let [turn, place, share, pie, limit, matched] = parts else { return Err("another form".to_owned()) };
        let visit = self.outcome.negotiations.get(number(turn) as usize - 1).ok_or("no such turn")?;
        check(visit.submitter == submitter, "the turn is of another submitter")?;
        let group = visit.group.as_ref().map(|group| format!(" for {group}")).unwrap_or_default();
        check(*place == format!("pie {}, spin {}{group}", visit.pie, visit.spin), "place of the turn")?;
        same("share", share, visit.share * 100.0)?;
        let spin =
            self.outcome.pies.iter().find(|pie| (pie.pie, pie.spin) == (visit.pie, visit.spin)).ok_or("no pie")?;
        same("pie", pie, spin.pie_left)?;
        let (matched, passed) = matched.split_once("; skipped: ").map_or((*matched, None), |(a, b)| (a, Some(b)));
        check(passed.is_some() == visit.passed.is_some(), "whether it was skipped")?;
        if visit.limit < 1e15 {
            same("limit", limit, visit.limit)?;
        }
        let made = self
            .outcome
            .matches
            .iter()
            .filter(|made| made.submitter == submitter && (made.pie, made.spin) == (visit.pie, visit.spin));
        same("matches of the turn", matched.trim_end_matches(" match"), made.count() as f64)
    }
}

/// A job of a pool, and its explanation.
pub(super) struct JobCase<'p> {
    pub(super) played: &'p Played<'p>,
    pub(super) id: JobId,
    pub(super) submitter: String,
    pub(super) status: i64,
    pub(super) job: PreparedJob,
    pub(super) found: Explanation,
}

fn parsed(text: &str) -> Result<Expr, String> {
    parse_expr(text.as_bytes(), &ParseOptions::default()).map_err(|error| format!("`{text}`: {error}"))
}

/// The conditions that must all be true for an attribute of an ad to be, through its other attributes: the attribute that
/// contains each, and the condition.
fn conjuncts(ad: &ClassAd, holder: &str) -> Vec<(String, Expr)> {
    let Some(expr) = ad.get(holder) else { return Vec::new() };
    let mut found = Vec::new();
    let tree = expr.tree();
    for id in tree.flattened(BinaryOp::And, expr.root()) {
        let part = expr.part(tree.bare(id));
        let name = part.to_string();
        let is_own = ad.get(name.as_str()).is_some_and(|inner| inner.as_literal().is_none());
        if is_own && name != holder {
            found.extend(conjuncts(ad, &name));
        } else {
            found.push((holder.to_owned(), part));
        }
    }
    found
}

/// The one of two conditions that say the same which stands for both.
fn key(of_job: bool, text: &str) -> String {
    match text {
        "TARGET.RequestMemory <= Memory" => "job TARGET.Memory >= RequestMemory".to_owned(),
        "TARGET.RequestCpus <= Cpus" => "job TARGET.Cpus >= RequestCpus".to_owned(),
        _ => format!("{} {text}", if of_job { "job" } else { "slot" }),
    }
}

impl JobCase<'_> {
    fn slots(&self) -> &[Slot] {
        self.played.pool.slots()
    }

    fn value(&self, expr: &Expr, of_job: bool, slot: &Slot) -> Value {
        let (my, target) = if of_job { (&self.job.ad, &slot.ad) } else { (&slot.ad, &self.job.ad) };
        Scope::new(my, &self.played.settings).with_target(target).eval(expr).unwrap_or(Value::Error)
    }

    fn is_true(&self, text: &str, of_job: bool, slot: &Slot) -> bool {
        parsed(text).is_ok_and(|expr| self.value(&expr, of_job, slot).as_condition() == Some(true))
    }

    fn matches(&self, slot: &Slot) -> bool {
        symmetric(&self.job.ad, &slot.ad, &self.played.settings)
    }

    fn matching(&self) -> Vec<&Slot> {
        self.slots().iter().filter(|slot| self.matches(slot)).collect()
    }

    fn exclusion(&self, slot: &Slot) -> bool {
        !self.played.pool.rules().trim.keeps(slot, &self.played.settings)
    }

    fn is_free(&self, slot: &Slot) -> bool {
        slot.user.is_none() && slot.state != State::Claimed && self.played.taker(&slot.name.to_string()).is_none()
    }

    /// A request of the job that has no attributes but those that every request has and some of its own.
    fn request(&self, with: &[&str]) -> ClassAd {
        let queue = classmate_pool::internal::queue::significant::Significant::from_iter(
            ["Requirements", "Rank", "JobPrio"].map(Name::new),
        );
        let sent = classmate_pool::internal::queue::autocluster::relevant(&self.job.ad, &queue);
        let added = |name: &Name| name.display().starts_with("Submitter") || name.display() == "RemoteUserPrio";
        let always = |name: &Name| classmate_pool::internal::queue::request::is_always_sent(*name);
        let is_sent = |name: &Name| sent.contains(name) || added(name) || always(name);
        let mut ad = self.job.ad.clone();
        ad.retain(|name| is_sent(&name) || with.iter().any(|one| Name::new(one) == name));
        ad
    }

    /// The weight of the lightest slot, and which: of those that were offered, match requests and are free, if there are any.
    fn lightest(&self, usable: &[&Slot]) -> (f64, &'static str) {
        let lightest = |slots: &mut dyn Iterator<Item = f64>| slots.reduce(f64::min);
        let rules = self.played.pool.rules();
        let leaves_out = rules.replaces_significant() && !rules.offering().whole;
        let request = if leaves_out { self.request(&[]) } else { self.job.ad.clone() };
        let takes = |slot: &Slot| symmetric(&request, &slot.ad, &self.played.settings);
        let free = |slot: &&&Slot| self.is_free(slot) && !self.exclusion(slot) && takes(slot);
        let all = || lightest(&mut usable.iter().map(|slot| slot.weight)).unwrap_or(f64::INFINITY);
        let unclaimed = lightest(&mut usable.iter().filter(free).map(|slot| slot.weight));
        unclaimed.map_or_else(
            || (all(), "matching slot has weight "),
            |weight| (weight, "unclaimed matching slot has weight "),
        )
    }

    /// The last rejection of a request of the submitter that is equal to the job's.
    fn rejection(&self) -> Option<&Rejected> {
        let cluster = |job: JobId| self.played.queue.iter().find(|one| one.job == job).map(|one| one.autocluster);
        let own = cluster(self.id)?;
        let all = self.played.outcome.rejections.iter().rev();
        all.into_iter().find(|one| one.submitter == self.submitter && cluster(one.job) == Some(own))
    }

    /// Tests if another job took a slot from its user only after the last rejection of the job.
    fn is_taken_later(&self, slot: &Slot) -> bool {
        let outcome = self.played.outcome;
        let turn = |submitter: &str, spin: (u32, u32)| {
            outcome
                .negotiations
                .iter()
                .position(|visit| visit.submitter == submitter && (visit.pie, visit.spin) == spin)
        };
        let made = outcome.matches.iter().rev().find(|made| made.slot == slot.name.to_string());
        let (Some(made), Some(refused)) = (made.filter(|_| slot.user.is_some()), self.rejection()) else {
            return false;
        };
        turn(&made.submitter, (made.pie, made.spin)) > turn(&refused.submitter, (refused.pie, refused.spin))
    }

    /// The conditions by which a slot and the job reject each other.
    fn failing(&self, slot: &Slot) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (of_job, ad) in [(true, &self.job.ad), (false, &slot.ad)] {
            let all = conjuncts(ad, "Requirements");
            if all.is_empty() {
                found.insert(key(of_job, ""));
            }
            for (_, condition) in all {
                if self.value(&condition, of_job, slot).as_condition() != Some(true) {
                    found.insert(key(of_job, &format!("{condition:#}")));
                }
            }
        }
        found
    }

    /// Everything that is printed about the job.
    pub(super) fn check(&self) -> Checked {
        for cause in &self.found.causes {
            self.cause(&cause.text).map_err(|wrong| format!("{}: {wrong}", cause.text))?;
        }
        self.causes().map_err(|wrong| {
            let texts: Vec<&str> = self.found.causes.iter().map(|cause| cause.text.as_str()).collect();
            format!("{wrong}\n{}", texts.join("\n"))
        })?;
        for one in &self.found.suggestions {
            self.suggestion(one).map_err(|wrong| format!("{one:?}: {wrong}"))?;
        }
        for details in [false, true] {
            let parts = ShownParts { details, policies: if details { 9 } else { 0 } };
            let mut out = Vec::new();
            text::write(&mut out, &self.found, &parts, Color::Off).unwrap();
            let out = String::from_utf8(out).unwrap();
            check(details || out.lines().count() <= 12, "more than twelve lines")?;
            self.lines(&out).map_err(|wrong| format!("{wrong}\n{out}"))?;
            self.settings(&out).map_err(|wrong| format!("{wrong}\n{out}"))?;
            self.replays(&out).map_err(|wrong| format!("{wrong}\n{out}"))?;
        }
        let (mut out, parts) = (Vec::new(), ShownParts::default());
        text::write(&mut Folded::new(&mut out, Some(80)), &self.found, &parts, Color::Off).unwrap();
        let lines = String::from_utf8_lossy(&out).lines().count();
        check(lines <= 12, &format!("{lines} lines at 80 columns\n{}", String::from_utf8_lossy(&out)))
    }

    /// The lines below the headings of tested settings.
    fn settings(&self, out: &str) -> Checked {
        let is_heading = |line: &&str| line.ends_with("(tested in a cycle):");
        let below = out.lines().skip_while(|line| !is_heading(line)).skip(1);
        let lines: Vec<&str> = below.take_while(|line| line.starts_with("  ")).collect();
        check(lines.len() == self.found.settings.len().min(3), "number of settings")?;
        let pool = (self.played.snapshot, self.played.outcome);
        lines.iter().try_for_each(|line| setting::line(pool, self.id, line).map_err(|wrong| format!("{line}: {wrong}")))
    }

    /// That the causes are those that block something, of a job that matches no slot.
    fn causes(&self) -> Checked {
        let usable = self.matching();
        let matching = usable.len();
        check(self.found.matching == matching, "matching slots")?;
        // The reason that a waiting job does not get unclaimed slots is named.
        let is_heavy = self.rejection().is_some_and(|one| one.slots.over_limit > 0);
        let first = self.found.causes.first().map(|cause| cause.reason);
        let waits = !matches!(
            first,
            Some(Reason::Matched | Reason::NotIdle | Reason::Displaced | Reason::HeldBack | Reason::LeftOut) | None
        );
        if is_heavy && waits && self.lightest(&usable).1.starts_with("unclaimed") {
            let of_limits = matches!(
                first,
                Some(
                    Reason::GroupQuota
                        | Reason::Share
                        | Reason::Ceiling
                        | Reason::ConcurrencyLimit
                        | Reason::NotSent
                        | Reason::UnknownGroup
                )
            );
            check(of_limits, "the limit is not named beside unclaimed slots")?;
        }
        // Two conditions, or all, that are never true together need not block anything each.
        let of_match = self.found.causes.iter().filter(|cause| {
            let is_of_one =
                ["satisfy", "satisfies `", "reject", "slot neither", "slots neither", "not have Requirements"];
            let is_of_claim = cause.text.starts_with("the request matched, but");
            !is_of_claim && is_of_one.iter().any(|words| cause.text.contains(words))
        });
        if matching > 0 {
            return check(
                of_match.count() == 0 || self.found.cycle.is_none(),
                "a match and conditions that prevent it",
            );
        }
        let sets: Vec<BTreeSet<String>> = self.slots().iter().map(|slot| self.failing(slot)).collect();
        let least: Vec<&BTreeSet<String>> = sets
            .iter()
            .filter(|set| !sets.iter().any(|other| other.len() < set.len() && other.is_subset(set)))
            .collect();
        let mut listed: BTreeSet<String> = BTreeSet::new();
        for cause in of_match {
            let conditions: Vec<&str> = cause.text.split('`').skip(1).step_by(2).collect();
            let is_listed = |key: &&String| {
                let condition = key.split_once(' ').unwrap().1;
                // Slots may require it unless an attribute is undefined.
                let is_within = |one: &&str| condition.ends_with(&format!("|| {one}"));
                let same = |one: &&str| *one == condition || is_within(one) || one.ends_with(&format!("{condition}…"));
                conditions.iter().any(|one| same(one) || self::key(false, one).ends_with(&format!("b {condition}")))
            };
            let keys: Vec<&String> = least.iter().flat_map(|set| set.iter()).collect();
            let blocking: BTreeSet<String> = keys.into_iter().filter(is_listed).cloned().collect();
            check(
                !blocking.is_empty() || cause.text.contains("Requirements, so"),
                &format!("{} blocks nothing", cause.text),
            )?;
            if cause.text.contains("not have Requirements") {
                listed.insert(key(false, ""));
            }
            listed.extend(blocking);
        }
        if self.found.others > 0 {
            let others = sets.iter().filter(|set| set.is_disjoint(&listed)).count();
            check(
                others == self.found.others,
                &format!("{} slots fail other conditions, not {}", others, self.found.others),
            )?;
        }
        Ok(())
    }

    /// The values beside a condition, for some slots.
    fn values(&self, text: &str, slots: &[&Slot]) -> Checked {
        beside(text, &[(" of slot is ", false), (" of the job is ", true)], |name, of_job| {
            let of = |slot: &&Slot| {
                let (ad, other) = if of_job { (&self.job.ad, &slot.ad) } else { (&slot.ad, &self.job.ad) };
                let scope = Scope::new(ad, &self.played.settings).with_target(other);
                scope.eval_attr(Name::new(name)).unwrap_or(Value::Error)
            };
            slots.iter().map(of).collect()
        })
    }

    /// The parts by which a condition is not true for a slot: all of `||`, those of `&&` that are not true, and the branch of `?:`.
    fn undecided(&self, expr: &Expr, id: NodeId, of_job: bool, slot: &Slot) -> Vec<String> {
        let tree = expr.tree();
        let at = tree.bare(id);
        let value = |id: NodeId| self.value(&expr.part(id), of_job, slot).as_condition();
        let is_false = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Bool(false)));
        if let Node::Binary(BinaryOp::Or | BinaryOp::And, left, right) = *tree.node(at) {
            let sides = [left, right].into_iter().filter(|side| value(*side) != Some(true));
            return sides.flat_map(|side| self.undecided(expr, side, of_job, slot)).collect();
        }
        match tree.choice(at).map(|parts| (parts, value(parts[0]))) {
            Some(([condition, yes, _], Some(true))) if is_false(yes) => {
                vec![format!("{:#}, which is true", expr.part(tree.bare(condition)))]
            }
            Some(([_, yes, _], Some(true))) => self.undecided(expr, yes, of_job, slot),
            Some(([_, _, no], Some(false))) if !is_false(no) => self.undecided(expr, no, of_job, slot),
            Some(([condition, ..], _)) => self.undecided(expr, condition, of_job, slot),
            None => vec![format!("{:#}", expr.part(at))],
        }
    }

    /// The conditions of a text in its order, each with the words after it; without the attributes that they are in.
    fn listed(text: &str) -> Vec<(&str, String)> {
        let parts: Vec<&str> = text.split('`').collect();
        let (mut found, mut at) = (Vec::new(), 1);
        while at < parts.len() {
            let is_in_attribute = parts.get(at + 1) == Some(&" in ");
            let rest = parts.get(at + if is_in_attribute { 3 } else { 1 }).copied().unwrap_or_default();
            let (condition, mut rest) = (parts[at], rest.to_owned());
            at += if is_in_attribute { 4 } else { 2 };
            // A note names attributes; it may end with one.
            let is_open =
                |rest: &str| ["advertises ", "define ", "defines ", "mean "].iter().any(|end| rest.ends_with(end));
            while let Some(more) = parts.get(at + 1).filter(|_| is_open(&rest)) {
                rest.push_str(more);
                at += 2;
            }
            found.push((condition, rest));
        }
        found
    }

    /// The parts because of which a condition of either side is not true for some slots, each with the number of slots and its values.
    fn reasons(&self, text: &str, (whole, of_job): (&str, bool), failing: &[&Slot]) -> Checked {
        let expr = parsed(whole)?;
        let of_slot: Vec<Vec<String>> =
            failing.iter().map(|slot| self.undecided(&expr, expr.root(), of_job, slot)).collect();
        let all = Self::listed(text);
        // The last condition of a group has the number of slots of each.
        let mut counts: Vec<Option<&str>> = vec![None; all.len()];
        for (at, (_, rest)) in all.iter().enumerate() {
            for (mark, size) in [("(for ", 1), ("(both for ", 2), ("(each for ", 3)] {
                let own = rest.split(" and other condition").next().unwrap_or_default();
                let count = own.split_once(mark).and_then(|(_, rest)| Some(rest.split_once(" of them)")?.0));
                (0..size).filter(|_| count.is_some()).for_each(|before| counts[at - before] = count);
            }
        }
        let mut named: Vec<String> = Vec::new();
        for ((condition, rest), count) in all.iter().zip(counts) {
            if rest.starts_with(" of the job") || rest.starts_with(" of slot") {
                // Its attribute is in the ad opposite.
                continue;
            }
            let is_it = |part: &String| match *condition {
                "false" => part.ends_with(", which is true"),
                _ => part.strip_suffix(", which is true").unwrap_or(part) == *condition,
            };
            let places = (0..failing.len()).filter(|at| of_slot[*at].iter().any(is_it));
            let slots: Vec<&Slot> = places.map(|at| failing[at]).collect();
            let expected = count.map_or_else(|| failing.len().to_string(), str::to_owned);
            same(&format!("slots of {condition}"), &expected, slots.len() as f64)?;
            named.extend(of_slot.iter().flatten().filter(|part| is_it(part)).cloned());
            let values = ["(for ", "(both for ", "(each for ", ", which is"].iter();
            let values = values.fold(rest.as_str(), |rest, mark| rest.split(mark).next().unwrap_or_default());
            if values.contains(" is ") {
                self.values(values, &slots)?;
            }
        }
        let others = of_slot.iter().filter(|parts| !parts.iter().any(|part| named.contains(part))).count();
        match text.split_once("other condition (for ").and_then(|(_, rest)| rest.split_once(" of them)")) {
            Some((count, _)) => same("slots of other conditions", count, others as f64),
            None => {
                check(others == 0 || text.contains(" of the job") || text.contains(" of slot"), "slots that are left")
            }
        }
    }

    /// The conditions of which none is true for so many slots.
    fn neither(&self, count: &str, text: &str) -> Checked {
        let all = Self::listed(text);
        let none = |slot: &&Slot| all.iter().all(|(one, rest)| !self.is_true(one, !rest.starts_with(" of slot"), slot));
        let slots: Vec<&Slot> = self.slots().iter().filter(none).collect();
        if text.contains(" other condition") {
            return check(number(count) as usize <= slots.len(), "more slots than the conditions that are named allow");
        }
        same("slots", count, slots.len() as f64)?;
        let mut with_values = all.iter().filter(|(_, rest)| rest.contains(" is "));
        with_values.try_for_each(|(_, rest)| self.values(rest, &slots))
    }

    /// A sentence about conditions that slots do not satisfy.
    fn unsatisfied(&self, count: Option<f64>, text: &str) -> Checked {
        let slots = self.slots();
        let whole =
            [", so `", "in the branch of `"].iter().find_map(|mark| text.split_once(mark)).map(|(_, rest)| rest);
        let whole = whole.and_then(|rest| rest.split('`').next());
        let conditions: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let first = conditions[0];
        let Some(whole) = whole else {
            let failing: Vec<&Slot> = slots.iter().filter(|slot| !self.is_true(first, true, slot)).collect();
            let rest = text.splitn(3, '`').nth(2).unwrap_or_default();
            same("slots", &count.unwrap_or(slots.len() as f64).to_string(), failing.len() as f64)?;
            return self.values(rest, &failing);
        };
        // The part that decides for some of the slots for which the whole is not true.
        let is_it = |slot: &&Slot| !self.is_true(whole, true, slot);
        let failing: Vec<&Slot> = slots.iter().filter(is_it).collect();
        let of_slots = text.contains("in `IsGood` of slot");
        let deciding = slots.iter().filter(|slot| !self.is_true(first, !of_slots, slot)).count() as f64;
        let count = count.unwrap_or(slots.len() as f64);
        same("slots that fail", &count.to_string(), failing.len() as f64)?;
        same(first, &count.to_string(), deciding)
    }

    fn cause(&self, text: &str) -> Checked {
        let text = &*singular(text);
        let (all, usable) = (self.slots().len() as f64, self.matching());
        let is_of = |text: &str, slots: f64| same("slots", text, slots);
        if text == "there is no slot in the cycle" {
            return is_of("0", all);
        }
        if text.starts_with("the job does not have Requirements") {
            return check(!self.job.ad.contains("Requirements"), "it has");
        }
        if let Some(parts) = fit("no slot satisfies both `{}` ({} slot does) and `{}` ({} does)", text) {
            let count =
                |condition: &str| self.slots().iter().filter(|slot| self.is_true(condition, true, slot)).count();
            is_of(parts[1], count(parts[0]) as f64)?;
            is_of(parts[3], count(parts[2]) as f64)?;
            let both = |slot: &&Slot| self.is_true(parts[0], true, slot) && self.is_true(parts[2], true, slot);
            return check(self.slots().iter().find(both).is_none(), "one does");
        }
        if let Some(parts) = fit("no slot satisfies all {} condition of the job together", text) {
            is_of(parts[0], conjuncts(&self.job.ad, "Requirements").len() as f64)?;
            return check(self.slots().iter().all(|slot| !self.is_true("MY.Requirements", true, slot)), "one does");
        }
        if let Some(rest) = text.strip_prefix("no slot satisfies ") {
            return self.unsatisfied(None, rest);
        }
        if let Some(parts) = fit("{} of {} slot does not satisfy {}", text) {
            is_of(parts[1], all)?;
            return self.unsatisfied(Some(number(parts[0])), parts[2]);
        }
        let because = fit("the job reject {} of {} slot because of {}, so `{}` is not true", text);
        if let Some(parts) =
            because.or_else(|| fit("the job reject {} of {} slot because of {}, in the branch of `{}` where {}", text))
        {
            let failing: Vec<&Slot> = self.slots().iter().filter(|slot| !self.is_true(parts[3], true, slot)).collect();
            is_of(parts[1], all)?;
            is_of(parts[0], failing.len() as f64)?;
            return self.reasons(parts[2], (parts[3], true), &failing);
        }
        if let Some(parts) = fit("in {} of {} slot neither {} is true, so `{}` is not true", text) {
            is_of(parts[1], all)?;
            let failing = self.slots().iter().filter(|slot| !self.is_true(parts[3], true, slot)).count();
            is_of(parts[0], failing as f64)?;
            return self.neither(parts[0], parts[2]);
        }
        if let Some(parts) = fit("{} of {} slot does not have Requirements, so it does not match any job", text) {
            let without = self.slots().iter().filter(|slot| !slot.ad.contains("Requirements")).count();
            return is_of(parts[0], without as f64).and_then(|()| is_of(parts[1], all));
        }
        if let Some(parts) = fit("{} of {} slot reject the job: `{}` requires `{}`{}", text) {
            let condition = parts[3];
            // Some may require it unless an attribute is undefined.
            let requires = |slot: &&Slot| {
                let is_it = |one: &Expr| {
                    let text = format!("{one:#}");
                    text == condition || text.ends_with(&format!("|| {condition}"))
                };
                let mut all = conjuncts(&slot.ad, "Requirements").into_iter();
                let fails = |one: &Expr| !self.is_true(&format!("{one:#}"), false, slot);
                all.any(|(_, one)| is_it(&one) && fails(&one)) && !self.is_true(condition, false, slot)
            };
            let failing: Vec<&Slot> = self.slots().iter().filter(requires).collect();
            let holds = |slot: &&Slot| conjuncts(&slot.ad, "Requirements").iter().any(|(holder, _)| holder == parts[2]);
            check(failing.iter().any(holds), "attribute that requires it")?;
            is_of(parts[1], all)?;
            is_of(parts[0], failing.len() as f64)?;
            if let Some(name) = fit(", but the job does not define `{}`", parts[4]) {
                return check(!self.job.ad.contains(name[0]), "it does");
            }
            return self.values(parts[4], &failing);
        }
        if let Some(parts) = fit("{} of {} slot reject the job because of {}, so `{}` is not true", text) {
            let condition = parts[3];
            let failing = self.slots().iter().filter(|slot| {
                let all = conjuncts(&slot.ad, "Requirements");
                all.iter().any(|(_, one)| format!("{one:#}") == condition) && !self.is_true(condition, false, slot)
            });
            let failing: Vec<&Slot> = failing.collect();
            is_of(parts[1], all)?;
            is_of(parts[0], failing.len() as f64)?;
            return self.reasons(parts[2], (condition, false), &failing);
        }
        if let Some(parts) =
            fit("NEGOTIATOR_SLOT_CONSTRAINT excludes {} slot, of which {} match: `{}` is not true ({})", text)
        {
            let out = self.played.pool.left_out();
            let which = if all == 0.0 {
                format!("all {}", out.len())
            } else {
                format!("{} of {}", out.len(), out.len() + all as usize)
            };
            check(parts[0] == which, "excluded slots")?;
            is_of(parts[1], out.iter().filter(|slot| self.matches(slot)).count() as f64)?;
            let value = parts[3].strip_prefix("their Disk is ").ok_or("other values")?;
            let of = |slot: &Slot| Scope::new(&slot.ad, &self.played.settings).eval_attr(Name::new("Disk")).unwrap();
            return summary("Disk", value, &out.iter().map(of).collect::<Vec<_>>());
        }
        self.of_cycle(text, &usable)
    }

    /// That slots match the job and not its requests, and these neither with all but one of some attributes: all of the slots,
    /// or some of them.
    fn unsent(&self, names: &str, which: &str, usable: &[&Slot], all_require_all: bool) -> Checked {
        let names: Vec<&str> = names.split(", ").map(|name| name.trim_matches('`')).collect();
        let rejects = |with: &[&str], slots: &[&Slot]| -> Vec<bool> {
            let ad = self.request(with);
            slots.iter().map(|slot| !symmetric(&ad, &slot.ad, &self.played.settings)).collect()
        };
        let is_rejected = |with: &[&str], slots: &[&Slot]| rejects(with, slots).contains(&true);
        check(!is_rejected(&names, usable), "more attributes are required")?;
        let without: Vec<&Slot> =
            usable.iter().zip(rejects(&[], usable)).filter_map(|(slot, rejects)| rejects.then_some(*slot)).collect();
        let mut is_by_all = true;
        for at in 0..names.len() {
            let others = [&names[..at], &names[at + 1..]].concat();
            check(is_rejected(&others, usable), &format!("{} is not required", names[at]))?;
            is_by_all &= !rejects(&others, &without).contains(&false);
        }
        check(is_by_all == all_require_all, "slots that require each of them")?;
        let count = without.len();
        let text = match (count, usable.len()) {
            (1, 1) => "1 of the 1 matching slot".to_owned(),
            (count, all) if count == all => format!("all {all} matching slot"),
            (count, all) => format!("{count} of {all} matching slot"),
        };
        check(which == text, &format!("{count} of {} reject the request", usable.len()))
    }

    /// A sentence about the cycle.
    #[expect(clippy::too_many_lines, reason = "one form of a sentence after another")]
    fn of_cycle(&self, text: &str, usable: &[&Slot]) -> Checked {
        let (outcome, own) = (self.played.outcome, &self.submitter);
        if let Some(why) = text.strip_prefix("the cycle does not consider the only matching slot: it is ") {
            return check(usable.len() == 1 && self.exclusion(usable[0]) && !why.is_empty(), "it is considered");
        }
        let text = &*text.replace("the only matching slot", "1 of the 1 matching slot");
        // A job stays idle after a match that its access point does not use, and may match again.
        let mut made = outcome.matches.iter().filter(|made| made.job == self.id).peekable();
        if let Some(parts) = fit("the job matched {} in spin {} of pie {}", text) {
            let pie = parts[2].split([',', ';']).next().unwrap_or_default();
            let is_it = |made: &Match| {
                (made.slot.as_str(), made.spin, made.pie) == (parts[0], number(parts[1]) as u32, number(pie) as u32)
            };
            let all: Vec<_> = made.collect();
            return check(all.iter().any(|made| is_it(made)), &format!("it matched {all:?}"));
        }
        if text.starts_with("the request matched, but no slot match") {
            check(made.peek().is_some(), "it did not match")?;
            return check(self.matching().is_empty(), "one does");
        }
        check(made.peek().is_none(), "it matched")?;
        if let Some(parts) = fit("the job is preempted on {} by job {} of {}: {}", text) {
            let by = outcome.matches.iter().find(|made| made.job.to_string() == parts[1]).ok_or("no such match")?;
            return check((by.slot.as_str(), by.submitter.as_str()) == (parts[0], parts[2]), "another match");
        }
        if let Some(parts) = fit("the job {} (JobStatus is {}", text) {
            let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
            if let Some((_, universe)) = parts[1].split_once("JobUniverse is ") {
                let own = self.job.ad.eval_int("JobUniverse").unwrap_or(0);
                same("universe", &digits(universe), own as f64)?;
            }
            return same("status", &digits(parts[1]), self.status as f64);
        }
        if let Some(parts) = fit("group `{}` of the job is not in GROUP_NAMES, so the job belongs to group {}", text) {
            let named = self.job.ad.eval_string("AcctGroup").ok_or("it names no group")?;
            check(named == parts[0], "the job names another group")?;
            let names: Vec<&str> = outcome.groups.iter().map(|group| group.name.as_str()).collect();
            check(!names.contains(&parts[0]), "there is such a group")?;
            let (group, near) = parts[1].split_once("; did you mean `").unwrap_or((parts[1], "phys`?"));
            // The submitter is in a group of its name, or above, or in none.
            let is_of = own.starts_with(&format!("{group}.")) || group == "<none>";
            return check(is_of && names.contains(&near.trim_end_matches("`?")), "another group");
        }
        if let Some(parts) = fit("NEGOTIATOR_JOB_CONSTRAINT excludes the job: `{}` is not true{}", text) {
            let (expr, scope) = (parsed(parts[0])?, Scope::new(&self.job.ad, &self.played.settings));
            check(!scope.holds(&expr), "it is")?;
            return beside(parts[1], &[(" is ", true)], |name, _| {
                vec![scope.eval_attr(Name::new(name)).unwrap_or(Value::Error)]
            });
        }
        if fit("submitter {} is not in the cycle: it is not advertised, or its ad does not request any slot", text)
            .is_some()
            || fit("NEGOTIATOR_SUBMITTER_CONSTRAINT excludes {}: `{}` is not true{}", text).is_some()
        {
            return check(outcome.submitters.iter().all(|line| line.submitter != *own), "it is in the cycle");
        }
        check(!usable.is_empty(), "no slot matches")?;
        let text = &*text.replace("slot requires of", "slot require of");
        if let Some(parts) = fit("SIGNIFICANT_ATTRIBUTES leaves out {}, which {} require of request", text) {
            return self.unsent(parts[0], parts[1], usable, true);
        }
        if let Some(parts) =
            fit("SIGNIFICANT_ATTRIBUTES leaves out {}; {} require at least one of them of request", text)
        {
            return self.unsent(parts[0], parts[1], usable, false);
        }
        if let Some(rest) = text.strip_prefix("group ") {
            return quota::used(self.played, own, rest, self.lightest(usable));
        }
        if let Some(parts) = fit(
            "submitter limit of {} reached: share {}% of the pie, {} in use before the cycle, {} matched, limit {} in its last \
             turn; the lightest {}",
            text,
        ) {
            let turns = self.played.turns(own);
            let (_, last) = turns.last().ok_or("it had no turn")?;
            check(parts[0] == own, "another submitter")?;
            same("share", parts[1], last.share * 100.0)?;
            same("usage", parts[2], self.job.standing.usage)?;
            let matched = outcome.matches.iter().filter(|made| made.submitter == *own).count();
            same("matches", parts[3], matched as f64)?;
            same("limit", parts[4], last.limit)?;
            let (weight, which) = self.lightest(usable);
            let heavy = parts[5].strip_prefix(which).ok_or("lightest of other slots")?;
            return same("lightest slot", heavy, weight);
        }
        if let Some(parts) = fit("{} has reached its ceiling of {}: {} in use", text) {
            let matched: f64 =
                outcome.matches.iter().filter(|made| made.submitter == *own).map(|made| made.weight).sum();
            check(parts[0] == own, "another submitter")?;
            let log = self.played.snapshot.log.as_ref().ok_or("no log")?;
            let ceiling = log.get(format!("Customer.{own}").as_bytes()).and_then(|record| record.integer("Ceiling"));
            same("ceiling", parts[1], ceiling.ok_or("no ceiling")? as f64)?;
            return same("usage", parts[2], self.job.standing.usage + matched);
        }
        if let Some(parts) = fit("nothing is left to allocate to {}: {} in use", text) {
            let matched: f64 =
                outcome.matches.iter().filter(|made| made.submitter == *own).map(|made| made.weight).sum();
            check(self.played.turns(own).iter().any(|(_, visit)| visit.passed.is_some()), "it was not passed over")?;
            return same("usage", parts[1], self.job.standing.usage + matched);
        }
        if let Some(parts) = fit("{} of the {} matching slot went to {} submitter in this cycle, most to {} ({})", text)
        {
            same("matching slots", parts[1], usable.len() as f64)?;
            let mut of: BTreeMap<String, usize> = BTreeMap::new();
            for slot in usable.iter().filter(|slot| !self.is_taken_later(slot)) {
                let taker = self.played.taker(&slot.name.to_string()).filter(|(job, _)| *job != self.id);
                *of.entry(taker.map(|(_, submitter)| submitter.to_owned()).unwrap_or_default()).or_default() += 1;
            }
            of.remove("");
            same("slots", parts[0], of.values().sum::<usize>() as f64)?;
            same("submitters", parts[2], of.len() as f64)?;
            same("slots of the first", parts[4], of.values().max().copied().unwrap_or(0) as f64)?;
            return same("slots of the one named", parts[4], of.get(parts[3]).copied().unwrap_or(0) as f64);
        }
        if let Some(parts) = fit("{} got {} of the {} matching slot: {}", text) {
            same("matching slots", parts[2], usable.len() as f64)?;
            let of = |slot: &&&Slot| {
                let taker = self.played.taker(&slot.name.to_string()).filter(|_| !self.is_taken_later(slot));
                taker.is_some_and(|(job, submitter)| job != self.id && submitter == parts[0])
            };
            same("slots", parts[1], usable.iter().filter(of).count() as f64)?;
            return self.turns_against(parts[0], parts[3], usable);
        }
        if let Some(parts) = fit("{} uses {} of the {} matching slot since before the cycle", text) {
            same("matching slots", parts[2], usable.len() as f64)?;
            let of = |slot: &&&Slot| {
                let user = slot.user.as_ref().map(ToString::to_string);
                let is_kept = self.played.taker(&slot.name.to_string()).is_none() || self.is_taken_later(slot);
                user.as_deref() == Some(parts[0]) && is_kept
            };
            return same("slots", parts[1], usable.iter().filter(of).count() as f64);
        }
        if let Some(parts) = fit("the cycle does not consider any of the {} matching slot: {}", text) {
            check(usable.iter().all(|slot| self.exclusion(slot)), "one is considered")?;
            let sum: f64 = parts[1].split(", ").filter_map(|part| part.split(" is ").next()?.parse::<f64>().ok()).sum();
            same("reasons", &sum.to_string(), usable.len() as f64)?;
            return same("matching slots", parts[0], usable.len() as f64);
        }
        if let Some(parts) = fit("the cycle does not consider {} of the {} matching slot: {}", text) {
            let excluded = usable.iter().filter(|slot| self.exclusion(slot)).count();
            let sum: f64 = parts[2].split(", ").filter_map(|part| part.split(" is ").next()?.parse::<f64>().ok()).sum();
            same("reasons", &sum.to_string(), excluded as f64)?;
            same("slots", parts[0], excluded as f64)?;
            return same("matching slots", parts[1], usable.len() as f64);
        }
        self.of_preemption(text, usable)
    }

    /// The turns in which another submitter got slots.
    fn turns_against(&self, winner: &str, text: &str, usable: &[&Slot]) -> Checked {
        if text == "other job of the same submitter" {
            return check(winner == self.submitter, "another submitter");
        }
        let parts = fit("in turn {}; {} had {}", text).ok_or("another form")?;
        check(parts[1] == self.submitter, "another submitter")?;
        let before = usable.iter().filter(|slot| !self.is_taken_later(slot));
        let names: BTreeSet<String> = before.map(|slot| slot.name.to_string()).collect();
        let spins: BTreeSet<(u32, u32)> = self
            .played
            .outcome
            .matches
            .iter()
            .filter(|made| {
                made.submitter == winner
                    && names.contains(&made.slot)
                    && made.job != self.id
                    && self.played.taker(&made.slot).is_some_and(|(job, _)| job == made.job)
            })
            .map(|made| (made.pie, made.spin))
            .collect();
        let won: Vec<usize> = self
            .played
            .turns(winner)
            .into_iter()
            .filter(|(_, visit)| visit.passed.is_none() && spins.contains(&(visit.pie, visit.spin)))
            .map(|(turn, _)| turn)
            .collect();
        let lost: Vec<usize> = self.played.turns(&self.submitter).into_iter().map(|(turn, _)| turn).collect();
        let visit = |turn: &usize| &self.played.outcome.negotiations[turn - 1];
        let (of_won, first) = (|| won.iter().map(visit), lost.first().map(visit));
        let is_before = !won.is_empty() && won.iter().max() < lost.iter().min();
        // Its group was negotiated with, and only then that of the job; or its pie was that of floors.
        let is_other = is_before && first.is_some_and(|first| of_won().all(|turn| turn.group != first.group));
        let same_group = |first: &Negotiation| of_won().all(|turn| turn.group == first.group && turn.pie < first.pie);
        let log = self.played.snapshot.log.as_ref().ok_or("no log")?;
        let floor = |name: &str| log.get(format!("Customer.{name}").as_bytes())?.integer("Floor");
        let of_floor = is_before && first.is_some_and(same_group) && floor(winner).unwrap_or(0) > 0;
        let is_met = floor(&self.submitter).unwrap_or(0) as f64 <= self.job.standing.usage;
        check(!of_floor || is_met, "its floor is not met")?;
        let why = match (is_other, of_floor) {
            (true, _) => ", as its group came later",
            (_, true) => ", as submitter below their floor came first",
            _ => "",
        };
        let (later, limit) =
            parts[2].split_once("; its limit in turn ").map_or((parts[2], None), |(a, b)| (a, Some(b)));
        if let Some(limit) = limit {
            let parts = fit("{} was {}", limit).ok_or("another form")?;
            let turn = number(parts[0]) as usize;
            check(lost.contains(&turn) && Some(&turn) < won.iter().max(), "another turn")?;
            same("limit", parts[1], visit(&turn).limit)?;
        }
        let later = later.strip_suffix(why).ok_or("another order")?;
        check(!later.contains(", as "), "the order of groups")?;
        self.turn_list(winner, &format!("turn {}", parts[0]), (&won, !why.is_empty()))?;
        self.turn_list(&self.submitter, later, (&lost, !why.is_empty()))
    }

    /// A list of turns, with the priority of the submitter, unless something else is the reason.
    fn turn_list(&self, submitter: &str, text: &str, (turns, is_other): (&[usize], bool)) -> Checked {
        let (listed, priority) = text.split_once(" (effective priority ").map_or((text, None), |(a, b)| (a, Some(b)));
        match priority {
            None if is_other => {}
            Some(priority) => {
                same("priority", priority.trim_end_matches(')'), self.played.priority(submitter).ok_or("no turn")?)?;
            }
            None => check(self.played.priority(submitter).is_none(), "it has a priority")?,
        }
        if listed == "no turn" {
            return check(turns.is_empty(), "it had turns");
        }
        let listed = listed.trim_start_matches("turns ").trim_start_matches("turn ");
        let (shown, more) =
            listed.split_once(" and ").map_or((listed, 0.0), |(a, b)| (a, number(b.trim_end_matches(" more"))));
        let shown: Vec<usize> = shown.split(", ").map(|turn| number(turn.trim_start_matches("s ")) as usize).collect();
        check(turns.starts_with(&shown) && shown.len() + more as usize == turns.len(), &format!("turns {turns:?}"))
    }

    /// A sentence about preemption, or about a concurrency limit.
    fn of_preemption(&self, text: &str, usable: &[&Slot]) -> Checked {
        let rules = self.played.pool.rules();
        let own = |slot: &Slot| slot.user.as_ref().is_some_and(|user| user.to_string() == self.submitter);
        let busy = || usable.iter().filter(|slot| slot.user.is_some() && !self.exclusion(slot) && !own(slot));
        let requirements = rules.preemption.requirements.as_ref();
        let protected = |slot: &&&Slot| {
            let requirements = requirements.map(|expr| self.value(expr, false, slot));
            requirements.is_some_and(|value| value.as_condition() != Some(true))
        };
        if let Some(parts) =
            fit("{} matching slot is busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption", text)
        {
            // Those that jobs got before by the rank of the slot are reported for their submitters.
            let is_taken =
                |slot: &&Slot| self.played.outcome.matches.iter().any(|made| made.slot == slot.name.to_string());
            let left = busy().filter(protected).filter(|slot| !is_taken(slot) || self.is_taken_later(slot));
            return same("slots", parts[0], left.count() as f64);
        }
        if let Some(parts) =
            fit("PREEMPTION_REQUIREMENTS protects {} of {} matching slot in use: `{}` is not true{}", text)
        {
            same("slots", parts[1], busy().filter(protected).count() as f64)?;
            let failing = busy().filter(protected).filter(|slot| !self.is_true(parts[2], false, slot));
            let failing: Vec<&Slot> = failing.copied().collect();
            same("slots", parts[0], failing.len() as f64)?;
            return self.values(parts[3], &failing);
        }
        if let Some(parts) = fit("PREEMPTION_REQUIREMENTS protects {} matching slot in use: {}", text) {
            same("slots", parts[0], busy().filter(protected).count() as f64)?;
            // The conditions that fail, each with its count.
            for one in parts[1].split(", `") {
                let each = fit("{}` is not true for {}", one.trim_start_matches('`')).ok_or("another form")?;
                let failing = busy().filter(protected).filter(|slot| !self.is_true(each[0], false, slot));
                same("slots of a condition", each[1], failing.count() as f64)?;
            }
            return Ok(());
        }
        let pair = |slot: &Slot| {
            let user = slot.user.as_ref().map(ToString::to_string).unwrap_or_default();
            rules.preemption.verdict(
                &slot.ad,
                &self.job.ad,
                (user.as_bytes(), self.submitter.as_bytes()),
                false,
                &self.played.settings,
            )
        };
        let considered = || usable.iter().filter(|slot| slot.user.is_some() && !self.exclusion(slot));
        let kept = || {
            considered().filter(|slot| {
                pair(slot) == Err(classmate_pool::internal::negotiate::preemption::PreemptionRefusal::Rank)
            })
        };
        if let Some(parts) = fit("{} matching slot in use does not define `{}`, so it is never preempted", text) {
            let lacking =
                |slot: &&&Slot| !slot.ad.contains(parts[1]) && (parts[1] == "Rank" || slot.ad.contains("Rank"));
            return same("slots", parts[0], kept().filter(lacking).count() as f64);
        }
        if text.contains("`MY.Rank >= MY.CurrentRank` is not true") {
            let numbers = |slot: &&&Slot| slot.ad.contains("Rank") && slot.ad.contains("CurrentRank");
            let is_number = |slot: &&&Slot| {
                ["Rank", "CurrentRank"]
                    .iter()
                    .all(|name| self.value(&parsed(name).unwrap(), false, slot).as_number().is_some())
            };
            let prefers = text.contains(" prefer");
            let found = kept().filter(numbers).filter(|slot| is_number(slot) == prefers).count();
            return same("slots", text.split(' ').next().unwrap_or_default(), found as f64);
        }
        if let Some(parts) =
            fit("concurrency limit `{}` is reached: maximum {}, in use by {}; the job request {}", text)
        {
            let name = parts[0].as_bytes();
            same("maximum", parts[1], rules.concurrency.maximum(name))?;
            let held = self.held(parts[0]);
            for (who, amount) in parts[2].split(", ").filter_map(|part| part.rsplit_once(' ')) {
                if part_of(who, "no") {
                    continue;
                }
                same("amount", amount, held.get(who).copied().ok_or_else(|| format!("{who} holds none"))?)?;
            }
            let asked = requested(&self.job.ad, parts[0]);
            same("request", parts[3], asked)?;
            return check(held.values().sum::<f64>() + asked > rules.concurrency.maximum(name), "it is not reached");
        }
        if let Some(parts) =
            fit("the job request {} of concurrency limit `{}`, more than its maximum of {}, so it can never run", text)
        {
            same("request", parts[0], requested(&self.job.ad, parts[1]))?;
            return same("maximum", parts[2], rules.concurrency.maximum(parts[1].as_bytes()));
        }
        if let Some(parts) = fit("the request of job {} was rejected: {}", text) {
            let rejection = self.rejection().ok_or("it was not")?;
            return check(rejection.job.to_string() == parts[0] && rejection.reason == parts[1], "another rejection");
        }
        Err("a sentence that nothing checks".to_owned())
    }

    /// The holders of a concurrency limit after the cycle.
    fn held(&self, limit: &str) -> BTreeMap<String, f64> {
        let mut held: BTreeMap<String, f64> = BTreeMap::new();
        let mut hold = |who: String, ad: &str| {
            let amount = amounts(ad).get(limit).copied().unwrap_or(0.0);
            if amount > 0.0 {
                *held.entry(who).or_default() += amount;
            }
        };
        for slot in self.slots() {
            let user = slot.user.as_ref().map_or("unknown user".to_owned(), ToString::to_string);
            hold(user, &slot.ad.eval_string("ConcurrencyLimits").unwrap_or_default());
        }
        for made in &self.played.outcome.matches {
            hold(made.submitter.clone(), made.limits.as_deref().unwrap_or_default());
        }
        held
    }

    /// A suggestion: made in the job, it gives the slots that it says.
    fn suggestion(&self, one: &Suggestion) -> Checked {
        let (change, effect) = text::suggested(one, &self.found);
        let effect = singular(&effect);
        let parts = fit("{} of {} slot match{}", &effect).ok_or("another form")?;
        same("slots", parts[1], self.slots().len() as f64)?;
        if one.changes.iter().any(|change| change.of == Changed::Slot) {
            let before = self.matching().len();
            return same("slots", parts[0], (before + one.won) as f64);
        }
        let Some(job) = Self::changed(one, &change, &self.job.ad)? else { return Ok(()) };
        let matches = |slot: &&Slot| symmetric(&job, &slot.ad, &self.played.settings);
        let after: Vec<&Slot> = self.slots().iter().filter(matches).collect();
        same("slots", parts[0], after.len() as f64)?;
        let won = after.iter().filter(|slot| !self.matches(slot));
        let lost = self.matching().len() + won.clone().count() - after.len();
        let free = won.clone().filter(|slot| self.is_free(slot) && !self.exclusion(slot)).count();
        let free = |text: &str| same("unclaimed", text, free as f64);
        if let Some(parts) = fit(", {} unclaimed", parts[2]) {
            check(won.clone().count() == after.len(), "others match as well")?;
            return free(parts[0]);
        }
        let (balance, less) = match fit(" (+{}, −{})", parts[2]) {
            Some(balance) => (balance[0], number(balance[1])),
            None => (fit(" (+{})", parts[2]).ok_or("another balance")?[0], 0.0),
        };
        check(less == lost as f64, &format!("{lost} are lost"))?;
        let gained = match fit("{}, {} of them unclaimed", balance) {
            Some(parts) => free(parts[1]).map(|()| parts[0])?,
            None => balance,
        };
        same("won", gained, won.count() as f64)
    }

    /// A job with a suggestion made, by its text; none if the text does not say where.
    fn changed(one: &Suggestion, change: &str, ad: &ClassAd) -> Result<Option<ClassAd>, String> {
        let mut job = ad.clone();
        for Change { of, attribute, before, after, .. } in &one.changes {
            let text = match of {
                Changed::Job => after.clone(),
                _ => {
                    let text = format!("{:#}", job.get(attribute.as_str()).ok_or("no such attribute")?);
                    check(
                        change.contains(before) && (after == "true" || change.contains(after)),
                        "text of the change",
                    )?;
                    // A condition that is there more than once cannot be told apart in the text.
                    if text.matches(before.as_str()).count() != 1 {
                        return Ok(None);
                    }
                    text.replacen(before.as_str(), after, 1)
                }
            };
            if *of == Changed::Job {
                Self::command(change, attribute, after)?;
            }
            job.insert_expr(attribute.as_str(), &parsed(&text)?);
        }
        // `condor_submit` adds these conditions to Requirements that do not name the attribute.
        let requirements = |ad: &ClassAd| format!("{:#}", ad.get("Requirements").unwrap());
        let (before, text) = (requirements(ad), requirements(&job));
        let is_gone = |name: &str| before.contains(name) && !text.contains(name);
        let arch = if is_gone("Arch") { " && TARGET.Arch == \"X86_64\"" } else { "" };
        let asks = is_gone("Cpus") && job.eval_int("RequestCpus").is_some_and(|cores| cores > 1);
        let cores = if asks { " && TARGET.Cpus >= RequestCpus" } else { "" };
        let added = format!("{arch}{cores}");
        if !added.is_empty() {
            job.insert_expr("Requirements", &parsed(&format!("({text}){added}"))?);
        }
        Ok(Some(job))
    }

    /// The lines of suggestions: of changes of the job those after which it matches in the cycle come first, and the others have the
    /// cause for which it stays idle.
    fn replays(&self, out: &str) -> Checked {
        let below = out.lines().skip_while(|line| !line.starts_with("What to do (tested against")).skip(1);
        let mut is_idle_before = false;
        for line in below.take_while(|line| line.starts_with("  ")) {
            let is_matched = self.replay(line.trim()).map_err(|wrong| format!("{line}: {wrong}"))?;
            check(!is_idle_before || is_matched != Some(true), "a change before it leaves the job idle")?;
            is_idle_before |= is_matched == Some(false);
        }
        Ok(())
    }

    /// A line of a suggestion, made in the ad of the job, with which the cycle is run. True if the job matches then, none if the
    /// submitter or a slot changes.
    fn replay(&self, line: &str) -> Result<Option<bool>, String> {
        let (text, label) =
            line.split_once("; the job stays idle: ").map_or((line, None), |(text, label)| (text, Some(label)));
        let is_it = |one: &&Suggestion| {
            let (change, effect) = text::suggested(one, &self.found);
            text.strip_suffix(effect.as_str())
                .and_then(|text| text.strip_suffix(": "))
                .is_some_and(|cut| is_cut(cut, &change))
        };
        let one = self.found.suggestions.iter().find(is_it).ok_or("no such suggestion")?;
        let of_others = |change: &Change| {
            let name = change.attribute.to_ascii_lowercase();
            change.of == Changed::Slot || name == "owner" || name == "user" || name.starts_with("acc")
        };
        if one.changes.iter().any(of_others) {
            return check(label.is_none(), "not a change of the job alone").map(|()| None);
        }
        let id = |ad: &&mut ClassAd| {
            (ad.eval_int("ClusterId"), ad.eval_int("ProcId")) == (Some(self.id.cluster), Some(self.id.process))
        };
        let mut after = self.played.snapshot.clone();
        let ad = after.jobs.iter_mut().find(id).ok_or("no such job")?;
        let Some(job) = Self::changed(one, &text::suggested(one, &self.found).0, ad)? else {
            return Ok(Some(label.is_none()));
        };
        *ad = job;
        let outcome = negotiate(&after).map_err(|error| error.to_line())?;
        let is_matched = outcome.matches.iter().any(|made| made.job == self.id);
        check(is_matched == label.is_none(), if is_matched { "the job matches then" } else { "the job is idle then" })?;
        REPLAYED[usize::from(is_matched)].fetch_add(1, Ordering::Relaxed);
        if let Some(label) = label {
            let found = explain_job(&after, self.id).map_err(|error| error.to_line())?.ok_or("no such job")?;
            check(
                is_cut(label, &found.causes[0].label),
                &format!("the first cause is then {}", found.causes[0].label),
            )?;
        }
        Ok(Some(is_matched))
    }

    /// A command of a submit file that sets an attribute.
    fn command(text: &str, attribute: &str, after: &str) -> Checked {
        let expected = match (attribute, after) {
            (_, "undefined") => format!("remove +{attribute}"),
            ("RequestMemory", _) => {
                let line =
                    text.split(" and ").find_map(|part| part.strip_prefix("request_memory = ")).ok_or("no command")?;
                let (amount, unit) = line.split_once(' ').ok_or("no unit")?;
                let factor = [("MB", 1.0), ("GB", 1024.0), ("TB", 1_048_576.0)]
                    .iter()
                    .find(|(name, _)| *name == unit)
                    .ok_or("unit")?
                    .1;
                return same("memory", &(number(amount) * factor).to_string(), number(after));
            }
            ("RequestCpus", _) => format!("request_cpus = {after}"),
            ("AcctGroup", _) => format!("accounting_group = {}", after.trim_matches('"')),
            _ => format!("+{attribute} = {after}"),
        };
        check(text.contains(&expected), &format!("`{expected}` is not in `{text}`"))
    }

    /// The lines of the text.
    fn lines(&self, out: &str) -> Checked {
        let plain = singular(out);
        let mut table: Option<bool> = None;
        for line in plain.lines() {
            table = match line {
                "Requirements of the job, evaluated for each slot" => Some(true),
                "" | "Requirements of the slot, evaluated for the job" | "Negotiation cycle" => None,
                _ if line.starts_with("PREEMPTION_REQUIREMENTS, evaluated") => None,
                _ => table,
            };
            let checked = match table {
                Some(true) if line.ends_with("CONDITION") || line.starts_with("Requirements of") => Ok(()),
                Some(true) => self.row(line),
                _ => self.line(line),
            };
            checked.map_err(|wrong| format!("{line}: {wrong}"))?;
        }
        Ok(())
    }

    /// A row of the table of the job's conditions.
    fn row(&self, line: &str) -> Checked {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("  the job does not have") {
            return check(!self.job.ad.contains("Requirements"), "it has");
        }
        // Conditions that are joined have words instead of a text.
        let Some(text) = line.get(37..).map(str::trim) else { return Ok(()) };
        let text = ["Fits: ", "START: "].iter().fold(text, |text, via| text.trim_start_matches(via));
        let whole = ["all of", "one of", "if, then, else"].contains(&text);
        let Ok(expr) = parsed(text) else { return Ok(()) };
        if whole || cells.len() < 5 {
            return Ok(());
        }
        let mut counts = [0.0; 4];
        for slot in self.slots() {
            let at = match self.value(&expr, true, slot) {
                value if value.as_condition() == Some(true) => 0,
                value if value.as_condition() == Some(false) => 1,
                Value::Undefined => 2,
                _ => 3,
            };
            counts[at] += 1.0;
        }
        counts.iter().zip(&cells).try_for_each(|(count, cell)| same("slots", cell, *count))
    }

    /// The first line: the state of the job, and the slots that match.
    fn status(&self, parts: &[&str]) -> Checked {
        let (outcome, own) = (self.played.outcome, &self.submitter);
        let state = parts[1].strip_prefix(own.as_str()).ok_or("another submitter")?;
        let is_matched = outcome.matches.iter().any(|made| made.job == self.id);
        check((state == " gets a slot") == is_matched, "state")?;
        check(state != " is idle" || self.status == 1, "state")?;
        let parts = fit("{} of {} slot match{}", parts[2]).ok_or("another form")?;
        same("matching", parts[0], self.matching().len() as f64)?;
        same("slots", parts[1], self.slots().len() as f64)?;
        match fit(", {} unclaimed after the cycle", parts[2]) {
            Some(left) => {
                same("left", left[0], self.matching().iter().filter(|slot| self.is_free(slot)).count() as f64)
            }
            None => Ok(()),
        }
    }

    fn line(&self, line: &str) -> Checked {
        let (outcome, own) = (self.played.outcome, &self.submitter);
        if let Some(parts) = fit("Job {} of {}: {}", line) {
            return self.status(&parts);
        }
        if let Some(cause) = line.strip_prefix("- ") {
            // The text of a cause, with long conditions cut.
            let is_it = |text: &str| {
                let text = singular(text);
                let mut rest = text.as_str();
                cause.split('…').all(|part| rest.find(part).map(|at| rest = &rest[at + part.len()..]).is_some())
            };
            return check(self.found.causes.iter().any(|cause| is_it(&cause.text)), "no cause");
        }
        if let Some(parts) = fit("the job's Requirements accept {} slot; {} slot accept the job", line) {
            let count =
                |of_job: bool| self.slots().iter().filter(|slot| self.is_true("MY.Requirements", of_job, slot)).count();
            same("accepted", parts[0], count(true) as f64)?;
            return same("accepting", parts[1], count(false) as f64);
        }
        if let Some(parts) = fit("request of job {} rejected: {}; {}", line) {
            let rejection = self.rejection().ok_or("none was")?;
            check(rejection.job.to_string() == parts[0] && rejection.reason == parts[1], "another rejection")?;
            return tally(parts[2], rejection);
        }
        if let Some(parts) =
            fit("its submitter is number {} in line (effective priority {}): {} of {} idle job matched; {}", line)
        {
            let first = self.played.turns(own).first().map(|(turn, _)| *turn).ok_or("it had no turn")?;
            let before: BTreeSet<&str> =
                outcome.negotiations[..first - 1].iter().map(|visit| visit.submitter.as_str()).collect();
            same("place", parts[0], before.len() as f64 + 1.0)?;
            same("priority", parts[1], self.played.priority(own).unwrap_or(0.0))?;
            let matched = outcome.matches.iter().filter(|made| made.submitter == *own).count();
            return same("matched", parts[2], matched as f64);
        }
        if line.starts_with("its submitter did not negotiate") {
            return check(self.played.turns(own).is_empty(), "it did");
        }
        if let Some(parts) = fit("  turn {} ({}): share {}% of a pie of {}, limit {}, {}", line) {
            return self.played.turn(own, &parts);
        }
        if let Some(parts) = fit("group {}: quota {}, allocated {}, requested {}, in use {}", line) {
            let group = outcome.groups.iter().find(|group| group.name == parts[0]).ok_or("no such group")?;
            same("quota", parts[1], group.quota)?;
            same("allocated", parts[2], group.granted())?;
            same("requested", parts[3], group.demand)?;
            return same("in use", parts[4], group.usage);
        }
        if let Some(parts) = fit("concurrency limit {}: requested {}, maximum {}, in use by {}", line) {
            same("requested", parts[1], requested(&self.job.ad, parts[0]))?;
            return same("maximum", parts[2], self.played.pool.rules().concurrency.maximum(parts[0].as_bytes()));
        }
        if let Some(parts) = fit("{} slot match; {} is still unclaimed", line) {
            same("matching", parts[0], self.matching().len() as f64)?;
            return same("left", parts[1], self.matching().iter().filter(|slot| self.is_free(slot)).count() as f64);
        }
        let is_of_cycle = |text: &&str| text.contains(" matching slot") && !text.contains("; the job stays idle: ");
        if let Some(text) = line.strip_prefix("  ").filter(is_of_cycle) {
            return self.of_cycle(text, &self.matching()).or_else(|wrong| {
                // Of a job that matched, the other slots.
                if wrong == "it matched" { Ok(()) } else { Err(wrong) }
            });
        }
        if line.contains("is true for every slot")
            || line.contains("fail other condition")
            || line.contains("not shown")
        {
            return self.notes(line);
        }
        let group = self.found.cycle.as_ref().and_then(|story| story.group.as_ref());
        if let Some(group) = group.filter(|group| group.steps.iter().any(|step| singular(&format!("  {step}")) == line))
        {
            return quota::step(self.played, &group.group, &singular(line.trim()));
        }
        // Suggestions, tables of slots and the nearest slots are compared as data.
        let known = [
            "What to do",
            "more: ",
            "Suggested changes",
            "Suggested settings",
            "Nearest slot",
            "note: ",
            "  ",
            "… ",
            "TRUE ",
            "Requirements of",
            "Negotiation cycle",
            "PREEMPTION_REQUIREMENTS, evaluated",
        ];
        let is_count = line.contains(" slot (") || line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        check(
            line.is_empty() || is_count || known.iter().any(|start| line.starts_with(start)),
            "a line that nothing checks",
        )
    }

    /// The parts that are counted instead of listed.
    fn notes(&self, line: &str) -> Checked {
        for part in line.split("; ") {
            if let Some(parts) = fit("{} other condition of the job is true for every slot", part) {
                let all = conjuncts(&self.job.ad, "Requirements");
                let always = all.iter().filter(|(_, condition)| {
                    self.slots().iter().all(|slot| self.value(condition, true, slot).as_condition() == Some(true))
                });
                same("conditions", parts[0], always.count() as f64)?;
            } else if let Some(parts) = fit("{} more cause not shown", part) {
                check((number(parts[0]) as usize) < self.found.causes.len(), "causes")?;
            } else if let Some(parts) = fit("{} slot fail other condition", part) {
                same("slots", parts[0], self.found.others as f64)?;
            } else {
                return Err("a note that nothing checks".to_owned());
            }
        }
        Ok(())
    }
}

/// Tests if a text is another one, parts of which are left out.
fn is_cut(cut: &str, text: &str) -> bool {
    let mut rest = text;
    cut == text
        || cut.contains('…')
            && cut.split('…').all(|part| rest.find(part).map(|at| rest = &rest[at + part.len()..]).is_some())
}

fn part_of(text: &str, start: &str) -> bool {
    text.starts_with(start)
}

/// The amounts of each concurrency limit in a list.
fn amounts(text: &str) -> BTreeMap<String, f64> {
    let entries = text.split([',', ' ']).filter(|entry| !entry.is_empty());
    let mut found = BTreeMap::new();
    for entry in entries {
        let (name, amount) = entry.split_once(':').map_or((entry, 1.0), |(name, amount)| (name, number(amount)));
        *found.entry(name.to_ascii_lowercase()).or_insert(0.0) += amount;
    }
    found
}

fn requested(job: &ClassAd, limit: &str) -> f64 {
    amounts(&job.eval_string("ConcurrencyLimits").unwrap_or_default()).get(limit).copied().unwrap_or(0.0)
}

/// The verdicts on the slots that were left.
fn tally(text: &str, rejection: &Rejected) -> Checked {
    let counts = &rejection.slots;
    if text == "not considered" {
        return same("considered", "0", counts.considered as f64);
    }
    if text == "no candidate slot left" {
        return same("considered", "0", counts.considered as f64);
    }
    let (left, rest) = text.split_once(" candidate slot left").ok_or("another form")?;
    let words = [
        (counts.refused_by_job, "rejected by the job"),
        (counts.refused_by_slot, "reject the job"),
        (counts.used_by_submitter, "run job of the same submitter"),
        (counts.preemption_not_required, "protected by PREEMPTION_REQUIREMENTS"),
        (counts.prefers_its_job, "prefer the job it run"),
        (counts.unreachable, "unreachable"),
        (counts.beyond_share, "above the submitter limit"),
        (counts.over_limit, "heavier than the rest of the submitter limit"),
        (counts.over_concurrency_limit, "above a concurrency limit"),
    ];
    // What was considered and has no verdict was suitable, and given to the submitter since.
    let judged: usize = words.iter().map(|(count, _)| count).sum();
    let given = counts.considered.checked_sub(judged).ok_or("more verdicts than slots")?;
    check(judged == 0 || given <= counts.suitable, "slots without a verdict that were not suitable")?;
    same("left", left, if judged == 0 { counts.considered } else { judged } as f64)?;
    for part in rest.trim_start_matches(": ").split(", ").filter(|part| !part.is_empty()) {
        let (count, words_of) = match part.strip_prefix("all ") {
            Some(words) => (left, words),
            None => part.split_once(' ').ok_or("another form")?,
        };
        let words_of =
            &*words_of.replace("runs a job", "run job").replace("prefers the job it runs", "prefer the job it run");
        let (expected, _) =
            words.iter().find(|(_, words)| *words == words_of).ok_or_else(|| format!("`{words_of}`"))?;
        same(words_of, count, *expected as f64)?;
    }
    Ok(())
}

/// The values in parentheses after a condition: of each attribute, by the words between it and its values, those that are
/// given for its name and for what the words mean.
pub(super) fn beside(text: &str, marks: &[(&str, bool)], values: impl Fn(&str, bool) -> Vec<Value>) -> Checked {
    let Some(start) = text.find('(') else { return Ok(()) };
    let inside = text[start + 1..].split(')').next().unwrap_or_default();
    let mut places: Vec<(usize, usize, bool)> = Vec::new();
    for (mark, of_one) in marks {
        places.extend(inside.match_indices(mark).map(|(at, _)| {
            let begin = inside[..at].rfind(' ').map_or(0, |at| at + 1);
            (begin, at + mark.len(), *of_one)
        }));
    }
    places.sort_unstable();
    for (at, (begin, value, of_one)) in places.iter().enumerate() {
        let name = inside[*begin..].split(' ').next().unwrap_or_default();
        let end = places.get(at + 1).map_or(inside.len(), |(next, ..)| next - 2);
        summary(name, &inside[*value..end], &values(name, *of_one)).map_err(|wrong| format!("{name}: {wrong}"))?;
    }
    check(!places.is_empty() || inside.starts_with("these slot") || inside.is_empty(), "values that were not read")
}

/// Values of an attribute in a few words: a range of numbers, in MB of memory and KB of disk, and the most frequent others, with their
/// counts if they differ.
fn summary(name: &str, text: &str, values: &[Value]) -> Checked {
    let unit = match name {
        "Memory" | "RequestMemory" => " MB",
        "Disk" | "RequestDisk" => " KB",
        _ => "",
    };
    let numbers: Vec<(f64, String)> = values
        .iter()
        .filter(|value| matches!(value, Value::Int(_) | Value::Real(_)))
        .map(|value| (value.as_number().unwrap(), format!("{value:#}")))
        .collect();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for value in values.iter().filter(|value| !matches!(value, Value::Int(_) | Value::Real(_))) {
        *others.entry(format!("{value:#}")).or_default() += 1;
    }
    let is_single = usize::from(!numbers.is_empty()) + others.len() == 1;
    for part in text.split(" and ").next().unwrap_or_default().split(", ") {
        let (value, count) = match part.rsplit_once(" (").filter(|_| !is_single) {
            Some((value, count)) => (value, number(count.trim_end_matches(')')) as usize),
            None => (part, values.len()),
        };
        if let Some(found) = others.get(value) {
            check(*found == count, &format!("{value} is the value of {found}, not {count}"))?;
            continue;
        }
        let value = value.strip_suffix(unit).ok_or_else(|| format!("{value} without its unit"))?;
        let (low, high) = value.split_once(" to ").unwrap_or((value, value));
        let low_value = numbers.iter().map(|(number, _)| *number).fold(f64::INFINITY, f64::min);
        let high_value = numbers.iter().map(|(number, _)| *number).fold(f64::NEG_INFINITY, f64::max);
        check(count == numbers.len(), &format!("{} are numbers, not {count}", numbers.len()))?;
        check(
            numbers.iter().any(|(number, text)| *number == low_value && text == low),
            &format!("least value {low_value}"),
        )?;
        check(
            numbers.iter().any(|(number, text)| *number == high_value && text == high),
            &format!("most value {high_value}"),
        )?;
    }
    Ok(())
}
