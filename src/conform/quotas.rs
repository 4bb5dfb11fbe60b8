//! Cases of kind `quotas`: a pool of groups with demand, played through the rounds with matches that only count.

use serde_json::{Map, Value as Json, json};

use crate::config::Config;
use crate::eval::scope::Settings;
use crate::quota::settings::terms;
use crate::quota::{Call, Defaults, Group, GroupTree, Rounds, Share, Terms};

pub(super) fn answers(case: &Json) -> Result<Map<String, Json>, String> {
    let spec = case.get("spec").filter(|spec| spec.is_object()).ok_or("expected an object in `spec`")?;
    let mut answers = Map::new();
    answers.insert("result".to_owned(), play(spec)?);
    Ok(answers)
}

fn number(json: &Json, what: &str) -> Result<f64, String> {
    json.as_f64().ok_or_else(|| format!("expected a number in `{what}`, found `{json}`"))
}

fn truth(spec: &Json, what: &str, default: bool) -> Result<bool, String> {
    match spec.get(what) {
        None | Some(Json::Null) => Ok(default),
        Some(json) => json.as_bool().ok_or_else(|| format!("expected true or false in `{what}`, found `{json}`")),
    }
}

fn group(spec: &Json, defaults: Defaults) -> Result<Group, String> {
    let name = spec.get("name").and_then(Json::as_str).ok_or("expected a string in `name`")?;
    let quota = |what: &str| spec.get(what).filter(|json| !json.is_null()).map(|json| number(json, what)).transpose();
    let share = match quota("static")? {
        Some(slots) => Some(Share::Static(slots)),
        None => quota("dynamic")?.map(Share::Dynamic),
    };
    Ok(Group {
        name: name.as_bytes().to_vec(),
        share,
        accepts_surplus: truth(spec, "accept", defaults.accepts_surplus)?,
        autoregroup: truth(spec, "autoregroup", defaults.autoregroup)?,
    })
}

/// Numbers by the name of a group; 0 for groups that are not named.
fn by_group(spec: &Json, what: &str, tree: &GroupTree) -> Result<Vec<Option<f64>>, String> {
    let mut numbers = vec![None; tree.len()];
    for (name, json) in spec.get(what).and_then(Json::as_object).into_iter().flatten() {
        let at = if name == "<none>" { 0 } else { tree.place(name.as_bytes()) };
        if at > 0 || name == "<none>" {
            numbers[at] = Some(number(json, what)?);
        }
    }
    Ok(numbers)
}

/// A pool whose matches only count.
struct Pool {
    total: f64,
    usage: Vec<f64>,
    /// Idle jobs of each group that can find a slot.
    matchable: Vec<f64>,
}

impl Pool {
    /// Lets a group use more, up to a limit.
    fn fill(&mut self, group: usize, limit: f64) {
        let free = self.total - self.usage.iter().sum::<f64>();
        let more = f64::min(limit - self.usage[group], self.matchable[group]).min(free).max(0.0).floor();
        self.usage[group] += more;
        self.matchable[group] -= more;
    }

    fn serve(&mut self, call: &Call, tree: &GroupTree) {
        if call.bounded {
            if let Some(limit) = call.quota() {
                self.fill(call.group, limit);
            }
            return;
        }
        for (at, node) in tree.nodes().iter().enumerate() {
            if at == 0 || node.group.autoregroup {
                self.fill(at, f64::INFINITY);
            }
        }
    }
}

fn play(spec: &Json) -> Result<Json, String> {
    let defaults = Defaults {
        accepts_surplus: truth(spec, "accept_default", false)?,
        autoregroup: truth(spec, "autoregroup_default", false)?,
    };
    let groups = spec.get("groups").and_then(Json::as_array).ok_or("expected a list in `groups`")?;
    let groups = groups.iter().map(|spec| group(spec, defaults)).collect::<Result<Vec<_>, _>>()?;
    let (tree, odd) = GroupTree::new(groups, defaults);
    let total = number(spec.get("total").unwrap_or(&Json::Null), "total")?;
    let weighted = truth(spec, "weighted", true)?;
    let preemption = truth(spec, "preempt", true)?;
    let built_in = terms(&Config::default(), total, weighted, preemption).map_err(|error| error.to_string())?;
    let terms = Terms {
        oversubscribe: truth(spec, "oversub", built_in.oversubscribe)?,
        strict: truth(spec, "strict", built_in.strict)?,
        rounds: spec.get("rounds").and_then(Json::as_u64).map_or(built_in.rounds, |n| n.try_into().unwrap_or(u32::MAX)),
        rate: spec.get("rate").and_then(Json::as_f64).unwrap_or(built_in.rate),
        ..built_in
    };
    let or_zero = |numbers: Vec<Option<f64>>| numbers.into_iter().map(Option::unwrap_or_default).collect::<Vec<f64>>();
    let demand = or_zero(by_group(spec, "demand", &tree)?);
    let usage = or_zero(by_group(spec, "usage", &tree)?);
    let last_served = or_zero(by_group(spec, "rr_time", &tree)?);
    let idle = |at: usize| f64::max(demand[at] - usage[at], 0.0);
    let matchable = by_group(spec, "matchable", &tree)?;
    let matchable = matchable.into_iter().enumerate().map(|(at, most)| most.unwrap_or_else(|| idle(at))).collect();
    let mut pool = Pool { total, usage: usage.clone(), matchable };
    let mut rounds = Rounds::new(&tree, terms, &demand, usage, last_served, Settings::default());
    let mut limits: Vec<Vec<Json>> = Vec::new();
    let regroups = |at: usize| tree.nodes()[at].group.autoregroup;
    let asks = |at: usize| {
        demand[at] > 0.0
            || (at == 0 && tree.autoregroup() && (1..tree.len()).any(|other| regroups(other) && demand[other] > 0.0))
    };
    while let Some(call) = rounds.next(&|at| pool.usage[at], &asks) {
        let name = name(&tree, call.group);
        limits.resize(call.round as usize, Vec::new());
        limits[call.round as usize - 1].push(json!([name, call.limit, call.quota()]));
        pool.serve(&call, &tree);
    }
    limits.resize(rounds.history().len(), Vec::new());
    let numbers = |numbers: &[f64]| -> Json {
        numbers.iter().enumerate().map(|(at, number)| (name(&tree, at), json!(number))).collect::<Map<_, _>>().into()
    };
    let played: Vec<Json> = rounds
        .history()
        .iter()
        .zip(limits)
        .map(|(round, limits)| {
            let groups: Map<String, Json> = round
                .grants
                .iter()
                .enumerate()
                .map(|(at, grant)| {
                    let shown = json!({
                        "quota": grant.quota, "subtree_quota": grant.subtree_quota, "allocated": grant.allocated,
                        "unmet": grant.unmet, "sort_key": grant.sort_key,
                    });
                    (name(&tree, at), shown)
                })
                .collect();
            json!({
                "round": round.round, "surplus": round.surplus, "maxdelta": round.largest_gap,
                "order": round.order.iter().map(|&at| name(&tree, at)).collect::<Vec<_>>(),
                "groups": groups, "limits": limits, "usage_after": numbers(&round.usage_after),
            })
        })
        .collect();
    Ok(json!({
        "warnings": odd.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "rounds": played, "final": numbers(&pool.usage),
        "any_accept": tree.anybody_accepts(), "autoregroup": tree.autoregroup(),
    }))
}

fn name(tree: &GroupTree, at: usize) -> String {
    String::from_utf8_lossy(&tree.nodes()[at].group.name).into_owned()
}
