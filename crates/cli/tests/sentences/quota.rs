//! The sentences about groups and submitters, compared with the outcome.

use std::collections::BTreeSet;

use classmate_advice::internal::explain::cycle::submitter::ShareTrace;
use classmate_pool::internal::priority::Passed;
use classmate_pool::internal::quota::summary::{QuotaKind, RoundSummary, SurplusPolicy};
use classmate_pool::{GroupSummary, Outcome};

use super::job::Played;
use super::template::{Checked, check, fit, number, same, singular};

fn group<'o>(outcome: &'o Outcome, name: &str) -> Result<&'o GroupSummary, String> {
    outcome.groups.iter().find(|group| group.name == name).ok_or_else(|| format!("no group `{name}`"))
}

/// A figure of a group and of all groups below it.
fn subtree(outcome: &Outcome, name: &str, figure: fn(&GroupSummary) -> f64) -> f64 {
    let below = outcome.groups.iter().filter(|group| group.parent.as_deref() == Some(name));
    let own = outcome.groups.iter().find(|group| group.name == name).map_or(0.0, figure);
    own + below.map(|group| subtree(outcome, &group.name, figure)).sum::<f64>()
}

/// The group of a submitter: the innermost whose name its name begins with.
fn group_of<'o>(outcome: &'o Outcome, submitter: &str) -> Option<&'o GroupSummary> {
    let is_in =
        |group: &&GroupSummary| submitter.to_lowercase().starts_with(&format!("{}.", group.name.to_lowercase()));
    let innermost = outcome.groups.iter().filter(is_in).max_by_key(|group| group.name.len());
    innermost.or_else(|| outcome.groups.iter().find(|group| group.parent.is_none()))
}

/// A sentence about a group that has no slot left for a job of a submitter; without the word `group`.
pub(super) fn used(played: &Played<'_>, submitter: &str, text: &str, (lightest, which): (f64, &str)) -> Checked {
    let outcome = played.outcome;
    let parts = fit("{} {}: quota {}, {} {}, in use {}, requested {}; {}", text).ok_or("another form")?;
    let group = group(outcome, parts[0])?;
    check(group_of(outcome, submitter).is_some_and(|own| own.name == group.name), "group of another submitter")?;
    same("quota", parts[2], group.quota)?;
    // The limit may be more than was allocated, up to the quota. That of a round without a gap is 0, for want of a number.
    let limit = group.rounds.iter().flat_map(|round| round.limits.iter().copied()).max().map(f64::from);
    match parts[3] {
        "allocated" => same("allocated", parts[4], group.granted())?,
        "limit" => same("limit", parts[4], limit.ok_or("no turn")?)?,
        other => return Err(format!("`{other}`")),
    }
    same("in use", parts[5], group.usage)?;
    same("requested", parts[6], group.demand)?;
    // In the last spin with a limit that is not 0, all its submitters were skipped.
    let visits: Vec<_> =
        outcome.negotiations.iter().filter(|visit| visit.group.as_ref() == Some(&group.name)).collect();
    let last = visits.iter().rev().find(|visit| visit.limit > 0.0).map(|visit| (visit.pie, visit.spin));
    let is_exhausted = last.is_some()
        && visits
            .iter()
            .all(|visit| Some((visit.pie, visit.spin)) != last || visit.passed == Some(Passed::LessThanASlot));
    match (parts[1], parts[3]) {
        (words, "limit") if words.ends_with("quota") || words == "has a quota of less than a matching slot" => {
            let left = limit.ok_or("no turn")? - group.usage;
            check(limit.is_some_and(|limit| limit <= group.quota), "the limit is more than the quota")?;
            match words {
                "has reached its quota" => check(left <= 1e-6, "it has not")?,
                "has a quota of less than a matching slot" => check(group.usage <= 0.0 && left < lightest, "of more")?,
                "has less than a matching slot left of its quota" => {
                    check(group.usage > 0.0 && left > 0.0 && left < lightest, "it has more, or none")?;
                }
                other => return Err(format!("`{other}`")),
            }
        }
        ("has no allocation", "allocated") => check(group.granted() <= 0.0, "it has one")?,
        (words, "allocated") if words != "cannot use more slot" => {
            let left = group.granted() - group.usage;
            match words {
                "has used its allocation" => check(left <= 1e-6 && group.usage > 0.0, "it has not")?,
                "was allocated less than a matching slot" => {
                    check(group.usage <= 0.0 && group.granted() > 0.0 && left < lightest, "it was allocated more")?;
                }
                "has less than a matching slot left of its allocation" => {
                    check(group.usage > 0.0 && left > 0.0 && left < lightest, "it has more, or none")?;
                }
                other => return Err(format!("`{other}`")),
            }
            check(
                group.quota <= group.granted() || limit.is_none_or(|limit| limit <= group.granted()),
                "it may use more than its allocation",
            )?;
        }
        ("cannot use more slot", _) => {}
        (other, _) => return Err(format!("`{other}`")),
    }
    let (all, whole) = parts[7]
        .split_once("; during the cycle, a match counts the whole partitionable slot")
        .unwrap_or((parts[7], ""));
    check(whole.is_empty(), "another form")?;
    check(all == parts[7] || group.usage > group.quota, "it uses no more than its quota")?;
    let (rest, exhausted) =
        all.split_once("; what is left is less than a slot for each of its submitter").unwrap_or((all, "-"));
    check(exhausted == "-" || exhausted.is_empty() && is_exhausted, "a submitter had a slot left")?;
    let (why, heavy) = rest.split_once(&format!("; the lightest {which}")).unwrap_or((rest, ""));
    if !heavy.is_empty() {
        same("lightest slot", heavy, lightest)?;
    }
    reason(outcome, group, why)
}

/// The reason a group was allocated no more.
fn reason(outcome: &Outcome, of: &GroupSummary, text: &str) -> Checked {
    let text = text.strip_suffix("; negotiates again with `<none>`").unwrap_or(text);
    if let Some(parts) =
        fit("group `{}` above it does not accept surplus, and its subtree uses {} of its quota of {}", text)
    {
        let above = group(outcome, parts[0])?;
        check(above.surplus == SurplusPolicy::No, "it accepts surplus")?;
        same("usage", parts[1], subtree(outcome, parts[0], |group| group.usage))?;
        return same("quota", parts[2], above.subtree_quota);
    }
    if text.starts_with("its slot weigh more")
        && let Some((first, above)) = text.split_once("; group `")
    {
        reason(outcome, of, &format!("group `{above}"))?;
        return reason(outcome, of, first);
    }
    if text == "its slot weigh more than their job request" {
        check(of.usage >= of.demand, "they do not")?;
        return check(of.granted() >= of.demand, "less was allocated");
    }
    if let Some(parts) = fit("its slot weigh more than the {} requested and allocated", text) {
        check(of.usage > of.demand, "they do not")?;
        check(of.granted() >= of.demand, "less was allocated")?;
        return same("requested", parts[0], of.demand);
    }
    let Some(first) = of.rounds.first() else { return Ok(()) };
    let taken: f64 = first.taken.iter().map(|taken| taken.amount).sum();
    let refuses = of.surplus == SurplusPolicy::No || of.surplus == SurplusPolicy::Regroup;
    match text {
        "negotiates last, with the autoregroup groups, for the whole pool" | "no slot requested" => Ok(()),
        "its quota covers its request" => {
            check(of.usage <= of.demand, "it uses more than it requested")?;
            check(first.unmet < 1.0 && taken <= 0.0, "it does not")
        }
        "limited by its quota; GROUP_ACCEPT_SURPLUS is false" => check(first.unmet > 0.0 && refuses, "it is not"),
        "its own quota is 0; GROUP_ACCEPT_SURPLUS is false" => check(of.quota <= 0.0 && refuses, "it is not"),
        "no surplus left" => check(first.unmet > 0.0 && taken <= 0.0, "there is"),
        _ => {
            if let Some(parts) = fit("took its part of the surplus; {} more requested", text) {
                check(taken > 0.0, "it took none")?;
                return same("unmet", parts[0], first.unmet);
            }
            if let Some(parts) = fit("surplus of {} covers its request", text) {
                return same("surplus", parts[0], taken);
            }
            if let Some(parts) = fit("its quota and a surplus of {} cover its request", text) {
                return same("surplus", parts[0], taken);
            }
            if let Some(parts) = fit("no surplus below `{}`, which does not accept surplus", text) {
                let surplus = group(outcome, parts[0])?.surplus;
                return check(matches!(surplus, SurplusPolicy::No | SurplusPolicy::Regroup), "it accepts surplus");
            }
            Err("a reason that nothing checks".to_owned())
        }
    }
}

/// A step of the derivation of a quota, in the singular. Steps of later rounds are compared with any round.
pub(super) fn step(played: &Played<'_>, name: &str, text: &str) -> Checked {
    let outcome = played.outcome;
    let of = group(outcome, name)?;
    if text.starts_with("round ") || name == text {
        return Ok(());
    }
    let parent = || group(outcome, of.parent.as_deref().unwrap_or_default());
    if let Some(parts) = fit("pool size is {}", text) {
        return same("size", parts[0], of.subtree_quota);
    }
    if let Some(parts) = fit("GROUP_QUOTA is {}", text) {
        check(of.kind == QuotaKind::Static, "it is not static")?;
        return same("quota", parts[0], of.configured);
    }
    if let Some(parts) = fit("GROUP_QUOTA_DYNAMIC is {} of the quota of `{}` after static quotas", text) {
        check(of.kind == QuotaKind::Dynamic && of.parent.as_deref() == Some(parts[1]), "it is not")?;
        return same("quota", parts[0], of.configured);
    }
    let statics = |name: &str| {
        let below =
            outcome.groups.iter().filter(|one| one.parent.as_deref() == Some(name) && one.kind == QuotaKind::Static);
        below.map(|one| one.configured).sum::<f64>()
    };
    if let Some(parts) = fit("the static quotas below `{}` sum to {}, but it has {}: quota is {} · {} / {} = {}", text)
    {
        same("sum", parts[1], statics(parts[0]))?;
        same("quota above", parts[2], parent()?.subtree_quota)?;
        same("quota", parts[3], of.configured)?;
        let product = number(parts[3]) * number(parts[4]) / number(parts[5]);
        check((product - number(parts[6])).abs() < 1e-3, "arithmetic")?;
        return same("quota", parts[6], of.subtree_quota);
    }
    if text.contains("are kept (NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION)") || text.contains("is kept (NEGOTIATOR_ALLOW")
    {
        let parts = fit("the static quotas below `{}` sum to {}, more than its {}, but is kept{}", text)
            .ok_or("another form")?;
        same("sum", parts[1], statics(parts[0]))?;
        return same("quota above", parts[2], parent()?.subtree_quota);
    }
    if let Some(parts) = fit("`{}` has {}, static quotas take {}: {} · {} = {}", text) {
        same("quota above", parts[1], parent()?.subtree_quota)?;
        let fraction = parts[4].split(" / ").next().unwrap_or_default();
        let sum: f64 =
            parts[4].split(" / ").nth(1).map_or(1.0, |sum| number(sum.split(' ').next().unwrap_or_default()));
        let product = number(parts[3]) * number(fraction) / sum;
        check((product - number(parts[5])).abs() < 1e-3, "arithmetic")?;
        return same("quota", parts[5], of.subtree_quota);
    }
    let below = |figure: fn(&GroupSummary) -> f64| {
        outcome.groups.iter().filter(|one| one.parent.as_deref() == Some(name)).map(figure).sum::<f64>()
    };
    if let Some(parts) = fit("its subgroups get {}, and it keeps {}", text) {
        let below = below(|group| group.subtree_quota);
        same("subgroups", parts[0], below)?;
        // Where groups negotiate again with it, the root has the whole pool then.
        let is_whole = of.parent.is_none() && of.quota == of.subtree_quota;
        return same("rest", parts[1], if is_whole { (of.quota - below).max(0.0) } else { of.quota });
    }
    if let Some(parts) = fit("its subgroups get {}; with oversubscription it keeps {} in addition", text) {
        same("subgroups", parts[0], below(|group| group.subtree_quota))?;
        return same("rest", parts[1], of.quota);
    }
    round(outcome, of, text)
}

/// A step about the rounds of surplus, and what came of them.
#[expect(clippy::too_many_lines, reason = "one form of a sentence after another")]
fn round(outcome: &Outcome, of: &GroupSummary, text: &str) -> Checked {
    let name = of.name.as_str();
    let is_any = |of_round: &dyn Fn(&RoundSummary) -> Checked| {
        let all: Vec<Checked> = of.rounds.iter().map(of_round).collect();
        if all.iter().any(Result::is_ok) {
            Ok(())
        } else {
            all.into_iter().next().unwrap_or(Err("no round".to_owned()))
        }
    };
    if let Some(parts) = fit("requested {} in total, {} in use", text) {
        return is_any(&|round| {
            same("requested", parts[0], round.demand).and_then(|()| same("usage", parts[1], round.usage))
        });
    }
    if let Some(parts) = fit("its own quota covers {} and leaves {}", text) {
        return is_any(&|round| {
            same("covered", parts[0], round.fair).and_then(|()| same("left", parts[1], round.spare))
        });
    }
    if let Some(parts) = fit("its direct subgroups leave {}, so it has {} to share; {}", text) {
        return is_any(&|round| {
            same("pot", parts[1], round.level.pot)?;
            same("left below", parts[0], round.level.pot - round.spare)?;
            for (word, figure) in
                [(" requested at its level", round.level.wanted), (" moved up", round.level.passed_up)]
            {
                if let Some((before, _)) = parts[2].split_once(word) {
                    same(word, before.rsplit([' ', ';']).next().unwrap_or_default(), figure)?;
                }
            }
            match parts[2].rsplit_once("total ") {
                Some((_, total)) => same("weights", total, round.level.weights),
                None => Ok(()),
            }
        });
    }
    if let Some(parts) = fit("takes {} of the surplus of {} at the level of `{}`", text) {
        let pots = group(outcome, parts[2])?;
        return is_any(&|round| {
            let taken = round.taken.iter().find(|taken| taken.from == parts[2]).ok_or("none is taken there")?;
            same("taken", parts[0], taken.amount)?;
            let pot = pots.rounds.iter().find(|other| other.round == round.round).ok_or("no round")?;
            same("pot", parts[1], pot.level.pot)
        });
    }
    if text.starts_with("takes no surplus from higher levels, because ") {
        let barrier = text.split('`').nth(1).unwrap_or(name);
        let refuses = matches!(group(outcome, barrier)?.surplus, SurplusPolicy::No | SurplusPolicy::Regroup);
        return check(refuses && of.rounds.iter().any(|round| round.taken.is_empty()), "it accepts surplus");
    }
    if let Some(parts) = fit("without slot weights, allocations is whole numbers: it {} {}", text) {
        let sign = if parts[0] == "gives up" { -1.0 } else { 1.0 };
        let (amount, sign) =
            if parts[0] == "gives" { (parts[1].trim_start_matches("up "), -1.0) } else { (parts[1], sign) };
        return is_any(&|round| same("rounding", amount, sign * round.rounding));
    }
    if let Some(parts) = fit("allocated {}; {} more requested", text) {
        return is_any(&|round| {
            same("allocated", parts[0], round.allocated)?;
            same("unmet", parts[1], round.unmet.max(0.0))
        });
    }
    if let Some(parts) = fit("negotiates as number {} of {}, sort key {}", text) {
        same("groups", parts[1], outcome.groups.len() as f64)?;
        is_any(&|round| {
            check((round.sort_key - number(parts[2])).abs() <= 1e-9 * round.sort_key.abs().max(1.0), "sort key")
        })?;
        return check(number(parts[0]) >= 1.0 && number(parts[0]) <= outcome.groups.len() as f64, "place");
    }
    if let Some(parts) = fit("negotiates as number {} of {}: {} a lower sort key", text) {
        same("groups", parts[1], outcome.groups.len() as f64)?;
        let lower = parts[2].split(' ').next().filter(|lower| *lower != "no").map_or(0.0, number);
        return is_any(&|round| {
            let of = |group: &GroupSummary| {
                group.rounds.iter().find(|one| one.round == round.round).map_or(f64::NAN, |one| one.sort_key)
            };
            let count = outcome.groups.iter().filter(|group| of(group) < round.sort_key).count();
            check(round.sort_key >= 3.3e38 && count as f64 == lower, "groups with a lower sort key")
        });
    }
    if let Some(parts) = fit("negotiated with limit {}", text) {
        let limits: Vec<&str> = parts[0].split(", ").collect();
        return is_any(&|round| {
            check(round.limits.len() == limits.len(), "number of limits")?;
            let pairs = round.limits.iter().zip(&limits);
            pairs
                .filter(|(_, text)| !text.starts_with("none"))
                .try_for_each(|(limit, text)| same("limit", text, f64::from(*limit)))
        });
    }
    if let Some(parts) = fit("{}: {} of {} idle job matched; {}", text) {
        let line = outcome.submitters.iter().find(|line| line.submitter == parts[0]).ok_or("no such submitter")?;
        check(group_of(outcome, parts[0]).is_some_and(|own| own.name == name), "submitter of another group")?;
        same("matched", parts[1], outcome.matches.iter().filter(|made| made.submitter == parts[0]).count() as f64)?;
        return same("idle", parts[2], line.idle as f64);
    }
    if let Some(parts) = fit("after the cycle it uses {} of its quota of {}, with {} allocated: {}", text) {
        same("usage", parts[0], of.usage)?;
        same("quota", parts[1], of.quota)?;
        same("allocated", parts[2], of.granted())?;
        return reason(outcome, of, parts[3]);
    }
    if let Some(parts) = fit("after the cycle it uses {} of {} allocated: {}", text) {
        check(of.usage <= of.granted() || of.quota <= of.granted(), "it uses more, which its quota allows")?;
        same("usage", parts[0], of.usage)?;
        same("allocated", parts[1], of.granted())?;
        return reason(outcome, of, parts[2]);
    }
    if let Some(parts) =
        fit("including its subgroups, it uses {} of its subtree quota of {}, and {} is requested{}", text)
    {
        same("usage", parts[0], subtree(outcome, name, |group| group.usage))?;
        same("quota", parts[1], of.subtree_quota)?;
        same("requested", parts[2], subtree(outcome, name, |group| group.demand))?;
        return check(parts[3].is_empty() || of.surplus == SurplusPolicy::No, "it accepts surplus");
    }
    Err("a step that nothing checks".to_owned())
}

/// The order that some derivations state: groups with a smaller number have their first turn earlier.
pub(super) fn order(outcome: &Outcome, places: &[(String, f64)]) -> Checked {
    let first = |name: &str| outcome.negotiations.iter().position(|visit| visit.group.as_deref() == Some(name));
    let mut visited: Vec<(f64, usize)> =
        places.iter().filter_map(|(name, place)| Some((*place, first(name)?))).collect();
    // The root negotiates again after groups that it takes over.
    visited.sort_by(|a, b| a.0.total_cmp(&b.0));
    check(visited.is_sorted_by_key(|(_, turn)| *turn), &format!("groups negotiated as {visited:?}"))
}

/// The steps of the derivation of a share.
pub(super) fn share(played: &Played<'_>, found: &ShareTrace) -> Checked {
    let (outcome, own) = (played.outcome, &found.summary.submitter);
    let line = outcome.submitters.iter().find(|line| line.submitter == *own);
    for step in &found.steps {
        let text = &*singular(step);
        let checked = (|| {
            if let Some(parts) = fit("it advertises {} idle job and {} running job", text) {
                let Some(line) = line else { return Ok(()) };
                same("idle", parts[0], line.idle as f64)?;
                return same("running", parts[1], line.running as f64);
            }
            let line_of = fit("its effective priority is {} (lower is better), so it is number {} in line{}", text)
                .filter(|_| outcome.groups.is_empty())
                .or_else(|| {
                    fit(
                        "groups take turn in their order, and within a group the lowest effective priority is first: with {} it \
                        is number {} in line{}",
                        text,
                    )
                    .filter(|_| !outcome.groups.is_empty())
                });
            if let Some(parts) = line_of {
                let turns = played.turns(own);
                let (first, visit) = turns.first().ok_or("it had no turn")?;
                same("priority", parts[0], visit.priority)?;
                let before: Vec<&str> =
                    outcome.negotiations[..first - 1].iter().map(|visit| visit.submitter.as_str()).collect();
                same("place", parts[1], before.iter().collect::<BTreeSet<_>>().len() as f64 + 1.0)?;
                return match parts[2].strip_prefix(", after ") {
                    Some(name) => {
                        // Those who were served before, in the order of their first turns.
                        let mut others: Vec<&str> = Vec::new();
                        for one in before {
                            if !others.contains(&one) {
                                others.push(one);
                            }
                        }
                        check(others.last() == Some(&name), "another was before it")
                    }
                    None => check(before.is_empty(), "others were before"),
                };
            }
            let whose = if outcome.groups.is_empty() { "all submitter" } else { "the submitter in its pie" };
            if let Some(parts) = fit(&format!("its share is 1/{{}} divided by the sum {{}} over {whose}: {{}}%"), text)
            {
                let turns = played.turns(own);
                let (_, visit) = turns.first().ok_or("it had no turn")?;
                same("priority", parts[0], visit.priority)?;
                same("share", parts[2], visit.share * 100.0)?;
                return check(((1.0 / visit.priority) / number(parts[1]) - visit.share).abs() < 1e-3, "arithmetic");
            }
            if let Some(parts) = fit("turn {} ({}): share {}% of a pie of {}, limit {}, {}", text) {
                return played.turn(own, &parts);
            }
            if let Some(parts) = fit("its ceiling is {}", text) {
                let log = played.snapshot.log.as_ref().ok_or("no log")?;
                let ceiling =
                    log.get(format!("Customer.{own}").as_bytes()).and_then(|record| record.integer("Ceiling"));
                return same("ceiling", parts[0], ceiling.ok_or("no ceiling")? as f64);
            }
            if let Some(parts) = fit("rejections for `{}`: {}", text) {
                let all = outcome.rejections.iter().filter(|one| one.submitter == *own && one.reason == parts[0]);
                return same("rejections", parts[1], all.count() as f64);
            }
            if let Some(parts) = fit("in total it matched {} slot with weight {}: {}", text) {
                let all = || outcome.matches.iter().filter(|made| made.submitter == *own);
                same("matches", parts[0], all().count() as f64)?;
                return same("weight", parts[1], all().map(|made| made.weight).sum());
            }
            if text.starts_with("it did not negotiate: ") {
                return check(played.turns(own).is_empty(), "it did");
            }
            let known = [
                "NEGOTIATOR_SUBMITTER_CONSTRAINT excludes ",
                "NEGOTIATOR_JOB_CONSTRAINT excludes ",
                "a matching slot is heavier",
            ];
            check(known.iter().any(|start| text.starts_with(start)), "a step that nothing checks")
        })();
        checked.map_err(|wrong| format!("{step}: {wrong}"))?;
    }
    Ok(())
}
