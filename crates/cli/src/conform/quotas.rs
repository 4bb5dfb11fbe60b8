//! Cases of `quotas`: the rounds of a cycle over a pool whose matches are simulated.

use serde_json::{Map, Value as Json, json};

use super::field::{number, object, truth};
use classmate::EvalOptions;
use classmate_config::Config;
use classmate_pool::internal::accountant::ROOT_GROUP;
use classmate_pool::internal::quota::settings::Stated;
use classmate_pool::internal::quota::{
    Call, GroupSetting, GroupTree, QuotaPool, QuotaRules, QuotaSettings, ROOT, Round, Rounds,
};

pub(super) fn answers(case: &Json) -> Result<Json, String> {
    let spec = object(case, "spec")?;
    let settings = settings(spec)?;
    let tree = GroupTree::new(&settings);
    let total = number(spec, "total")?.ok_or("expected a number in `total`, found `null`")?;
    let per_group = |key: &str| by_group(spec, key, &tree);
    let pool = QuotaPool {
        total,
        demand: per_group("demand")?.into_iter().map(|demand| demand.unwrap_or(0.0)).collect(),
        usage: per_group("usage")?.into_iter().map(|usage| usage.unwrap_or(0.0)).collect(),
        last_served: per_group("rr_time")?.into_iter().map(|time| time.unwrap_or(0.0)).collect(),
    };
    let idle = pool.demand.iter().zip(&pool.usage).map(|(demand, usage)| demand - usage);
    let matchable = per_group("matchable")?.into_iter().zip(idle).map(|(said, idle)| said.unwrap_or(idle)).collect();
    let rounds = simulate(&tree, &settings.rules, &pool, matchable);
    Ok(json!({ "result": result(&tree, &rounds) }))
}

/// Runs the rounds. Every call takes what its limit, the jobs that can be matched and the free slots allow.
fn simulate<'t>(tree: &'t GroupTree, rules: &'t QuotaRules, pool: &QuotaPool, mut matchable: Vec<f64>) -> Rounds<'t> {
    let mut rounds = Rounds::new(tree, rules, pool, EvalOptions::default());
    let mut free = pool.total - pool.usage.iter().sum::<f64>();
    let regroups = |group: usize| group == ROOT || tree.groups()[group].autoregroup;
    let asks = |group: usize| {
        let own = pool.demand[group] > 0.0;
        own || group == ROOT && tree.autoregroup && (0..tree.len()).any(|at| regroups(at) && pool.demand[at] > 0.0)
    };
    while let Some(call) = rounds.next(asks) {
        let Call { group, limit, unbounded, .. } = call;
        let Some(_) = limit else { continue };
        let bound = f64::from(call.whole_limit());
        let all_groups = 0..if unbounded { tree.len() } else { 0 };
        let served: Vec<usize> = if unbounded { all_groups.filter(|&at| regroups(at)).collect() } else { vec![group] };
        for at in served {
            let usage = rounds.in_use()[at];
            let room = if unbounded { f64::INFINITY } else { bound - usage };
            let won = room.min(matchable[at]).min(free).max(0.0).floor();
            matchable[at] -= won;
            free -= won;
            rounds.used(at, usage + won);
        }
    }
    rounds
}

fn settings(spec: &Json) -> Result<QuotaSettings, String> {
    let defaults = QuotaSettings::read(&Config::default()).map_err(|error| error.to_string())?;
    let rules = defaults.rules;
    let rounds = number(spec, "rounds")?.unwrap_or(f64::from(rules.rounds));
    Ok(QuotaSettings {
        accept_surplus: truth(spec, "accept_default")?.unwrap_or(false),
        rules: QuotaRules {
            weighted: truth(spec, "weighted")?.unwrap_or(rules.weighted),
            oversubscription: truth(spec, "oversub")?.unwrap_or(rules.oversubscription),
            strict: truth(spec, "strict")?.unwrap_or(rules.strict),
            preemption: truth(spec, "preempt")?.unwrap_or(rules.preemption),
            rounds: rounds.max(1.0) as u32,
            rate: number(spec, "rate")?.unwrap_or(rules.rate).max(1.0),
            ..rules
        },
        groups: match spec.get("groups") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(groups)) => groups.iter().map(group).collect::<Result<_, _>>()?,
            Some(_) => return Err("expected a list in `groups`".to_owned()),
        },
        ..defaults
    })
}

/// A group; quotas out of range are cut to the range, as in HTCondor.
fn group(spec: &Json) -> Result<GroupSetting, String> {
    let stated = |key: &str, most: f64| -> Result<Option<Stated>, String> {
        Ok(number(spec, key)?.map(|quota| Stated::from(quota.clamp(0.0, most))))
    };
    Ok(GroupSetting {
        name: super::input(spec, "name")?,
        place: None,
        fixed: stated("static", f64::from(i32::MAX))?,
        dynamic: stated("dynamic", 1.0)?,
        accept_surplus: truth(spec, "accept")?,
        autoregroup: truth(spec, "autoregroup")?,
    })
}

/// The numbers of an object by group; other names are skipped.
fn by_group(spec: &Json, key: &str, tree: &GroupTree) -> Result<Vec<Option<f64>>, String> {
    let mut values = vec![None; tree.len()];
    match spec.get(key) {
        None | Some(Json::Null) => {}
        Some(Json::Object(said)) => {
            for (name, value) in said {
                let value = value
                    .as_f64()
                    .ok_or_else(|| format!("expected a number in `{key}` of `{name}`, found `{value}`"))?;
                if let Some(group) = tree.find(&super::bytes(name)) {
                    values[group] = Some(value);
                }
            }
        }
        Some(_) => return Err(format!("expected an object in `{key}`")),
    }
    Ok(values)
}

fn result(tree: &GroupTree, rounds: &Rounds<'_>) -> Json {
    let name = |group: usize| super::text(&tree.groups()[group].name);
    let key = |group: usize| match name(group) {
        Json::String(name) => name,
        _ => String::from_utf8_lossy(ROOT_GROUP).into_owned(),
    };
    let by_name = |values: &[f64]| -> Json {
        values.iter().enumerate().map(|(at, value)| (key(at), json!(value))).collect::<Map<_, _>>().into()
    };
    let limit = |call: &Call| match call.limit {
        Some(limit) => json!([name(call.group), limit, call.whole_limit()]),
        None => json!([name(call.group), null, null]),
    };
    let round = |round: &Round| {
        let groups = round.grants.iter().enumerate().map(|(at, grant)| {
            let numbers = json!({
                "quota": grant.quota,
                "subtree_quota": grant.subtree_quota,
                "allocated": grant.allocated,
                "unmet": grant.unmet,
                "sort_key": grant.sort_key,
            });
            (key(at), numbers)
        });
        json!({
            "round": round.round,
            "surplus": round.surplus,
            "maxdelta": round.largest_gap,
            "order": round.order.iter().map(|&group| name(group)).collect::<Vec<_>>(),
            "groups": Json::Object(groups.collect()),
            "limits": round.calls.iter().map(limit).collect::<Vec<_>>(),
            "usage_after": by_name(&round.usage_after),
        })
    };
    json!({
        "warnings": tree.warnings().iter().map(classmate::Diagnostic::to_line).collect::<Vec<_>>(),
        "rounds": rounds.record().iter().map(round).collect::<Vec<_>>(),
        "final": by_name(rounds.in_use()),
        "any_accept": tree.any_accepts_surplus,
        "autoregroup": tree.autoregroup,
    })
}
