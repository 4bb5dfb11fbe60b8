//! Cases of `slurm`: times, decay, trees, factors, priorities, files and lines of listings.

use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json, json};

use super::field::{answer_operation, as_number, flag, list, number, numbers, object, real, text};
use super::lenient_choice;
use crate::report::sprio::{Format, PriorityLine};
use classmate_config::internal::config::slurm::{
    AssociationRow, BillingSum, Duration, INFINITE, PriorityFlags, ResetPeriod, Shares, SlurmAssociations, TresWeights,
    Weights,
};
use classmate_config::{SlurmConf, TextFiles};
use classmate_pool::internal::priority::slurm::billing::billing;
use classmate_pool::internal::priority::slurm::factor::{self, recomputed};
use classmate_pool::internal::priority::slurm::order::JobOrderKey;
use classmate_pool::internal::priority::slurm::reset::next_reset;
use classmate_pool::internal::priority::slurm::usage::{Decay, Tick, capacity, historical_usage};
use classmate_pool::internal::priority::slurm::{
    Algorithm, AssociationTree, ClusterSize, Factors, Figures, JobFacts, Maxima, ROOT, Scale, Ties, figures,
};

pub(super) fn answers(case: &Json) -> Result<Json, String> {
    answer_operation(case, run)
}

fn run(op: &str, input: &Json) -> Result<Json, String> {
    Ok(match op {
        "time_string" => time_string(input)?,
        "decay_factor" => json!({ "factor": decay(input)?.factor(real(input, "half_life")?, real(input, "dt")?) }),
        "tick" => tick(input)?,
        "historical_usage" => {
            let periods = numbers(input, "periods")?;
            let usage = historical_usage(&periods, real(input, "period_len")?, real(input, "half_life")?);
            json!({ "usage": usage })
        }
        "r_h" => json!({ "r_h": capacity(real(input, "procs")?, real(input, "half_life")?) }),
        "next_reset" => {
            let period = text(input, "period")?;
            let period = ResetPeriod::parse(period).ok_or_else(|| format!("unknown period `{period}`"))?;
            let (last, now) = (real(input, "last_reset")? as i64, real(input, "now")? as i64);
            json!({ "next": next_reset(period, last, now, &TimeZone::UTC) })
        }
        "classic" => classic(input)?,
        "fair_tree" => fair_tree(input)?,
        "parse_dump" => parse_dump(text(input, "text")?)?,
        "parse_conf" => parse_conf(text(input, "text")?),
        "age_factor" => {
            let since = number(input, "accrue_time")?.map(|since| since as i64);
            json!({ "factor": factor::age(real(input, "now")? as i64, since, real(input, "max_age")?) })
        }
        "job_size" => {
            let job = object(input, "job")?;
            let cluster = cluster(object(input, "cluster")?)?;
            let nodes = number(job, "min_nodes")?.unwrap_or(1.0);
            let limit = number(job, "time_limit_min")?.unwrap_or(f64::INFINITY);
            let cpus = number(job, "cpus")?.unwrap_or(0.0);
            let (small, by_time) = (flag(input, "favor_small")?, flag(input, "relative_to_time")?);
            json!({ "factor": factor::job_size(nodes, cpus, limit, cluster, small, by_time) })
        }
        "priority" => priority(input)?,
        "billing" => {
            let has_weights = input.get("weights").is_some_and(|weights| !weights.is_null());
            let weights = has_weights.then(|| amounts(input, "weights").map(TresWeights)).transpose()?;
            object(input, "tres")?;
            let tres = amounts(input, "tres")?;
            json!({ "billing": billing(&tres, weights.as_ref(), flags(input)?.billing) })
        }
        "evaluation_order" => evaluation_order(input)?,
        "sprio_row" => {
            let job = line(object(input, "job")?)?;
            let format = Format::parse(text(input, "format")?)?;
            json!({ "line": format.row(&job) })
        }
        "incr_only" => {
            let start = number(input, "start")?.unwrap_or(0.0) as u32;
            let only = flag(input, "incr_only")?;
            let priorities = numbers(input, "computed")?.into_iter().scan(start, |before, now| {
                *before = recomputed(*before, now as u32, only);
                Some(*before)
            });
            json!({ "priorities": priorities.collect::<Vec<_>>() })
        }
        other => return Err(format!("unknown operation `{other}`")),
    })
}

fn time_string(input: &Json) -> Result<Json, String> {
    let read = input.get("text").and_then(Json::as_str).and_then(Duration::parse);
    let shown = |time: Option<Duration>| match time {
        None => Json::Null,
        Some(Duration::Seconds(seconds)) => json!(seconds),
        Some(Duration::Infinite) => json!("INFINITE"),
    };
    Ok(json!({ "seconds": shown(read), "config_seconds": shown(read.map(Duration::in_whole_minutes)) }))
}

fn decay(input: &Json) -> Result<Decay, String> {
    lenient_choice(input, "mode", &[("linearized", Decay::Linearized), ("exact", Decay::Exact)])
}

fn tick(input: &Json) -> Result<Json, String> {
    let tick = Tick {
        last: real(input, "last_ran")?,
        now: real(input, "now")?,
        start: real(input, "start")?,
        end: number(input, "end")?,
        billing: real(input, "billable")? * number(input, "usage_factor")?.unwrap_or(1.0),
    };
    Ok(json!({ "usage": tick.usage(real(input, "usage")?, real(input, "half_life")?, decay(input)?) }))
}

/// The tree of a case's rows, with their usage.
fn tree(input: &Json) -> Result<AssociationTree, String> {
    let mut associations = SlurmAssociations { file: "rows".to_owned(), ..SlurmAssociations::default() };
    let mut usages = Vec::new();
    for (line, row) in (1..).zip(list(input, "rows")?) {
        let shares = match row.get("shares") {
            Some(Json::String(text)) if text == "parent" => Shares::Parent,
            Some(shares) => {
                let number = shares.as_f64().filter(|number| (0.0..=f64::from(u32::MAX)).contains(number));
                Shares::Own(number.ok_or_else(|| format!("`shares` is `{shares}`"))? as u32)
            }
            None => Shares::Own(1),
        };
        let account = text(row, "account")?;
        let mut association = match row.get("user").and_then(Json::as_str) {
            Some(user) => AssociationRow::user(user, account, shares),
            None => {
                let parent = row.get("parent").and_then(Json::as_str).unwrap_or("root");
                AssociationRow::account(account, parent, shares)
            }
        };
        association.line = line;
        association.partition = row.get("partition").and_then(Json::as_str).map(str::to_owned);
        usages.push(number(row, "usage")?.unwrap_or(0.0));
        associations.rows.push(association);
    }
    let mut tree = AssociationTree::new(&associations)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    for (row, usage) in associations.rows.iter().zip(usages) {
        let at = match &row.user {
            Some(user) => tree.find_user(&row.account, user, row.partition.as_deref()),
            None => tree.find_account(&row.account),
        };
        if let Some(at) = at {
            tree.charge(at, usage);
        }
    }
    Ok(tree)
}

fn by_key(tree: &AssociationTree, shown: impl Fn(usize, &Figures) -> Json, figures: &[Figures]) -> Json {
    let nodes = tree.nodes().iter().zip(figures).enumerate().filter(|(at, _)| *at != ROOT);
    let nodes: Map<String, Json> = nodes.map(|(at, (node, figures))| (node.key(), shown(at, figures))).collect();
    json!({ "nodes": nodes })
}

fn classic(input: &Json) -> Result<Json, String> {
    let tree = tree(input)?;
    let damping = number(input, "damping")?.unwrap_or(1.0);
    let algorithm = match text(input, "algorithm")? {
        "linear2.0" => Algorithm::Linear { capacity: real(input, "capacity")? },
        "exponential" => Algorithm::Exponential { damping },
        "depth_oblivious" => Algorithm::DepthOblivious { damping },
        other => return Err(format!("unknown algorithm `{other}`")),
    };
    let shown = |_: usize, figures: &Figures| {
        json!({
            "norm_shares": figures.norm_shares,
            "usage_norm": figures.norm_usage,
            "usage_efctv": figures.effective_usage,
            "factor": figures.factor,
        })
    };
    Ok(by_key(&tree, shown, &figures(&tree, algorithm)))
}

fn fair_tree(input: &Json) -> Result<Json, String> {
    let tree = tree(input)?;
    let ties = lenient_choice(input, "ties", &[("observed", Ties::Observed), ("documented", Ties::Documented)])?;
    let shown = |at: usize, figures: &Figures| {
        let level = figures.level_fair_share.map(|value| if value.is_infinite() { json!("inf") } else { json!(value) });
        let mut shown = json!({
            "norm_shares": figures.norm_shares,
            "usage_efctv": figures.effective_usage,
            "level_fs": level,
        });
        if tree.nodes()[at].is_user() {
            shown["rank"] = json!(figures.rank);
            shown["factor"] = json!(figures.factor);
        }
        shown
    };
    Ok(by_key(&tree, shown, &figures(&tree, Algorithm::FairTree { ties })))
}

fn parse_dump(text: &str) -> Result<Json, String> {
    let (dump, defects) = SlurmAssociations::read("dump", text.as_bytes());
    if let Some(error) = defects.errors.first() {
        return Err(error.to_string());
    }
    let row = |row: &AssociationRow| {
        let mut shown = match &row.user {
            Some(user) => json!({ "user": user, "account": row.account }),
            None => json!({ "account": row.account, "parent": row.parent }),
        };
        shown["shares"] = match row.shares {
            Shares::Own(shares) => json!(shares),
            Shares::Parent => json!("parent"),
        };
        if let Some(partition) = &row.partition {
            shown["partition"] = json!(partition);
        }
        if let Some(priority) = row.priority {
            shown["priority"] = json!(priority);
        }
        shown
    };
    Ok(json!({ "cluster": dump.cluster, "rows": dump.rows.iter().map(row).collect::<Vec<_>>() }))
}

/// The settings of a configuration; invalid ones keep their defaults, as the errors report.
fn parse_conf(text: &str) -> Json {
    let (conf, defects) = SlurmConf::read("slurm.conf", text.as_bytes(), &TextFiles::default());
    let written = |key: &str, otherwise: &str| conf.written.get(key).map_or(otherwise, String::as_str).to_owned();
    let time = |time: Duration| time.seconds().unwrap_or(INFINITE);
    let Weights { age, association, fair_share, job_size, partition, qos } = conf.weights;
    let partitions: Map<String, Json> = conf
        .partitions
        .iter()
        .map(|partition| {
            let shown = json!({ "PriorityJobFactor": partition.job_factor, "PriorityTier": partition.tier });
            (partition.name.clone(), shown)
        })
        .collect();
    let mut shown = json!({
        "PriorityType": written("prioritytype", "priority/multifactor"),
        "PriorityFavorSmall": conf.favor_small,
        "FairShareDampeningFactor": conf.dampening,
        "PriorityUsageResetPeriod": written("priorityusageresetperiod", "NONE").to_uppercase(),
        "PriorityWeightTRES": conf.written.get("priorityweighttres"),
        "flags": conf.flags.words(),
        "PriorityDecayHalfLife": time(conf.half_life),
        "PriorityCalcPeriod": time(conf.calc_period),
        "PriorityMaxAge": time(conf.max_age),
        "PriorityWeightAge": age,
        "PriorityWeightAssoc": association,
        "PriorityWeightFairshare": fair_share,
        "PriorityWeightJobSize": job_size,
        "PriorityWeightPartition": partition,
        "PriorityWeightQOS": qos,
        "partitions": partitions,
    });
    if !defects.errors.is_empty() {
        shown["errors"] = defects.errors.iter().map(classmate::Diagnostic::to_line).collect();
    }
    shown
}

fn priority(input: &Json) -> Result<Json, String> {
    let (job, cfg) = (object(input, "job")?, object(input, "cfg")?);
    let partition = job.get("partition").unwrap_or(&Json::Null);
    let facts = JobFacts {
        now: number(job, "now")?.unwrap_or(0.0) as i64,
        accrues_since: number(job, "accrue_time")?.map(|since| since as i64),
        nodes: number(job, "min_nodes")?.unwrap_or(1.0),
        cpus: number(job, "cpus")?.unwrap_or(0.0),
        time_limit: number(job, "time_limit_min")?.unwrap_or(f64::INFINITY),
        fair_share: number(job, "fairshare")?.unwrap_or(0.0),
        association_priority: number(job, "assoc_priority")?.unwrap_or(0.0),
        qos_priority: number(job, "qos_priority")?.unwrap_or(0.0),
        partition_factor: number(partition, "job_factor")?.unwrap_or(0.0),
        tres: amounts(job, "tres")?,
        partition_tres: TresWeights(amounts(partition, "tres")?),
        site: number(job, "site")?.unwrap_or(0.0) as i64,
        nice: number(job, "nice")?.unwrap_or(0.0) as i64,
        held: flag(job, "held")?,
        direct: number(job, "direct_priority")?.map(|priority| priority as u32).filter(|&priority| priority > 0),
    };
    let tres_weights = TresWeights(amounts(cfg, "tres_weights")?);
    let scale = Scale {
        weights: weights(object(cfg, "weights")?)?,
        tres_weights: &tres_weights,
        flags: flags(cfg)?,
        max_age: number(cfg, "max_age")?.unwrap_or(f64::INFINITY),
        favor_small: flag(cfg, "favor_small")?,
        cluster: cfg.get("cluster").map_or(Ok(ClusterSize::default()), cluster)?,
        maxima: Maxima {
            job_factor: number(cfg, "max_job_factor")?.unwrap_or(1.0),
            qos: number(cfg, "max_qos_priority")?.unwrap_or(0.0),
            association: number(cfg, "max_assoc_priority")?.unwrap_or(0.0),
        },
    };
    let factors = facts.factors(&scale);
    // The records show what the factors would weigh, also for a priority set by hand.
    let terms = JobFacts { direct: None, ..facts.clone() }.terms(&scale).weighted;
    let shown = |factors: &Factors| {
        let tres: Map<String, Json> = factors.tres.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "age": factors.age,
            "assoc": factors.association,
            "fairshare": factors.fair_share,
            "jobsize": factors.job_size,
            "partition": factors.partition,
            "qos": factors.qos,
            "tres": tres,
        })
    };
    Ok(json!({ "priority": facts.terms(&scale).priority, "terms": shown(&terms), "factors": shown(&factors) }))
}

fn evaluation_order(input: &Json) -> Result<Json, String> {
    let key = |job: &Json| {
        Ok(JobOrderKey {
            tier: number(job, "tier")?.unwrap_or(1.0) as u16,
            priority: real(job, "priority")? as u32,
            submitted: real(job, "submit")? as i64,
            id: real(job, "id")? as i64,
        })
    };
    let mut keys = list(input, "jobs")?.iter().map(key).collect::<Result<Vec<_>, String>>()?;
    keys.retain(|key| key.priority > 0);
    keys.sort_by(JobOrderKey::compare);
    Ok(json!({ "order": keys.iter().map(|key| key.id).collect::<Vec<_>>() }))
}

/// A job as a line of `sprio` shows it.
fn line(job: &Json) -> Result<PriorityLine, String> {
    let terms = object(job, "terms")?;
    let word = |key: &str| job.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let weighted = Factors {
        age: real(terms, "age")?,
        association: real(terms, "assoc")?,
        fair_share: real(terms, "fairshare")?,
        job_size: real(terms, "jobsize")?,
        partition: real(terms, "partition")?,
        qos: real(terms, "qos")?,
        tres: amounts(terms, "tres")?,
    };
    let (site, nice) = (number(job, "site")?.unwrap_or(0.0), number(job, "nice")?.unwrap_or(0.0));
    Ok(PriorityLine {
        id: job.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)).unwrap_or_default(),
        partition: word("partition_name"),
        user: word("user"),
        account: word("account"),
        qos: word("qos_name"),
        cluster: word("cluster"),
        sum: weighted.sum() + site - nice,
        weighted,
        site: site as i64,
        nice: nice as i64,
        weights: job.get("weights").map_or(Ok(Weights::default()), weights)?,
        tres_weights: TresWeights(amounts(job, "tres_weights")?),
        ..PriorityLine::default()
    })
}

fn weights(of: &Json) -> Result<Weights, String> {
    let weight = |key: &str| Ok::<u32, String>(number(of, key)?.unwrap_or(0.0) as u32);
    Ok(Weights {
        age: weight("age")?,
        association: weight("assoc")?,
        fair_share: weight("fairshare")?,
        job_size: weight("jobsize")?,
        partition: weight("partition")?,
        qos: weight("qos")?,
    })
}

fn cluster(of: &Json) -> Result<ClusterSize, String> {
    Ok(ClusterSize { nodes: real(of, "nodes")?, cpus: real(of, "cpus")? })
}

/// The flags of a list of words.
fn flags(of: &Json) -> Result<PriorityFlags, String> {
    let Some(words) = of.get("flags").filter(|words| !words.is_null()) else {
        return Ok(PriorityFlags { billing: BillingSum::Sum, ..PriorityFlags::default() });
    };
    let words = words.as_array().ok_or("expected a list in `flags`")?;
    let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
    Ok(PriorityFlags::parse(&words.join(",")))
}

/// The numbers of an object by name; none if it is missing.
fn amounts(of: &Json, key: &str) -> Result<Vec<(String, f64)>, String> {
    match of.get(key) {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::Object(amounts)) => {
            let amount = |(name, amount): (&String, &Json)| {
                let amount = as_number(amount).ok_or_else(|| format!("expected a number, found `{amount}`"))?;
                Ok((name.clone(), amount))
            };
            amounts.iter().map(amount).collect()
        }
        Some(other) => Err(format!("expected an object of numbers, found `{other}`")),
    }
}
