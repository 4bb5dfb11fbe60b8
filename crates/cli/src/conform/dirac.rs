//! Cases of `dirac`: task queues, priorities, corrections, configuration files, matching, draws.

use serde_json::{Map, Value as Json, json};

use super::field::{answer_operation, flag, list, number as number_of, real, whole};
use super::{bytes, choice, lenient_choice, number, text};
use classmate_config::internal::config::dirac::{
    DiracTree, Entry, Lottery, Order, PolicyOptions, Profile, Section, ShareCorrections, Weighting, Word, word,
};
use classmate_pool::internal::priority::dirac::share::DEFAULT_SHARE;
use classmate_pool::internal::priority::dirac::{
    Correction, DiracGroup, QueuedJob, Requirements, Segments, SiteResource, SliceUse, SplitMix64, TaskQueue,
    TaskQueues, correct, draw_job, draw_order, entity_priorities, first_chances, group_priorities, queue,
    real_priority,
};

type Answer = Result<Json, String>;

/// Most draws of one case.
const MAX_DRAWS: u64 = 1_000_000;

pub(super) fn answers(case: &Json) -> Answer {
    answer_operation(case, |op, input| match op {
        "fit_cpu" => Ok(json!({ "segment": segments(input)?.fit(real(input, "cpu_time")?) })),
        "real_priority" => Ok(json!({ "real": number(real_priority(real(input, "user_priority")?)) })),
        "task_queues" => task_queues(input),
        "entity_priorities" => entity(input),
        "group_priorities" => group(input),
        "correct" => corrected(input),
        "cfg" => Ok(json!({ "tree": section(tree(input)?.root()) })),
        "correctors" => correctors(input),
        "matches" => matches(input),
        "first_probabilities" => probabilities(input),
        "draw_order" => orders(input),
        "draw_job" => jobs_drawn(input),
        other => Err(format!("unknown operation `{other}` of `dirac`")),
    })
}

fn task_queues(input: &Json) -> Answer {
    let segments = segments(input)?;
    let most = match input.get("max_jobs") {
        None => queue::MAX_QUEUE_JOBS,
        Some(most) => most.as_u64().ok_or("expected a number in `max_jobs`")? as usize,
    };
    let mut queues = TaskQueues::new(most);
    // The number and priority of a job are returned as given.
    let mut said = Vec::new();
    for (at, job) in list(input, "jobs")?.iter().enumerate() {
        let cpu_time = segments.fit(real(job, "CPUTime")?);
        let user_priority = job.get("UserPriority").cloned().unwrap_or_else(|| json!(1));
        said.push(json!({ "JobID": whole(job, "JobID")?, "UserPriority": user_priority }));
        queues.push(requirements(job, cpu_time)?, QueuedJob { id: at as i64, ..queued(job)? });
    }
    let shown = |queue: &TaskQueue| {
        let wanted = &queue.requirements;
        let set = |values: &[Word]| Json::Array(values.iter().map(|value| text(value)).collect());
        let jobs: Vec<&Json> = queue.jobs.iter().filter_map(|job| said.get(job.id as usize)).collect();
        json!({
            "id": queue.id,
            "Owner": text(&wanted.owner),
            "OwnerGroup": text(&wanted.group),
            "CPUTime": wanted.cpu_time,
            "jobs": jobs,
            "Sites": set(&wanted.sites),
            "GridCEs": set(&wanted.ces),
            "BannedSites": set(&wanted.banned_sites),
            "Platforms": set(&wanted.platforms),
            "JobTypes": set(&wanted.job_types),
            "Tags": set(&wanted.tags),
        })
    };
    Ok(json!({ "queues": queues.iter().map(shown).collect::<Vec<_>>() }))
}

fn entity(input: &Json) -> Answer {
    let queues = queues(input)?;
    let borrowed: Vec<&TaskQueue> = queues.iter().collect();
    let background = flag(input, "background")?;
    let found = entity_priorities(&borrowed, real(input, "share")?, weighting(input)?, background);
    Ok(priorities(&queues, found))
}

fn group(input: &Json) -> Answer {
    let group = input.get("group").ok_or("`group` is missing")?;
    let name = string(group, "name")?;
    let queues: Vec<TaskQueue> = queues(input)?.into_iter().filter(|queue| queue.requirements.group == name).collect();
    let share = DiracGroup {
        share: number_of(group, "share")?.unwrap_or(DEFAULT_SHARE),
        job_sharing: flag(group, "job_sharing")?,
        background: flag(group, "background")?,
    };
    let borrowed: Vec<&TaskQueue> = queues.iter().collect();
    let same = |users: &[(Word, f64)]| users.iter().map(|(_, share)| *share).collect();
    let parts = group_priorities(&borrowed, &share, weighting(input)?, same);
    Ok(priorities(&queues, parts.into_iter().map(|part| part.priority).collect()))
}

/// Priorities by number; queues without jobs have none.
fn priorities(queues: &[TaskQueue], found: Vec<f64>) -> Json {
    let shown = |(queue, priority): (&TaskQueue, f64)| (queue.id.to_string(), number(priority));
    let waiting = queues.iter().zip(found).filter(|(queue, _)| !queue.jobs.is_empty());
    json!({ "priorities": waiting.map(shown).collect::<Map<_, _>>() })
}

fn corrected(input: &Json) -> Answer {
    let object =
        |key: &str| input.get(key).and_then(Json::as_object).ok_or_else(|| format!("expected an object in `{key}`"));
    let value = |(name, value): (&String, &Json)| match value.as_f64() {
        Some(number) => Ok((word(&bytes(name)), number)),
        None => Err(format!("expected a number in `{name}`")),
    };
    let shares = object("shares")?.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let known = object("slices")?;
    let slice = |(name, running): (&String, &Json)| -> Result<SliceUse, String> {
        let slice = known.get(name).ok_or_else(|| format!("`slices` lacks `{name}`"))?;
        let running = running.as_object().ok_or_else(|| format!("expected an object in `{name}`"))?;
        Ok(SliceUse {
            running: running.iter().map(value).collect::<Result<_, _>>()?,
            weight: real(slice, "Weight")?,
            max_correction: real(slice, "MaxCorrection")?,
        })
    };
    let slices = object("history")?.iter().map(slice).collect::<Result<Vec<_>, _>>()?;
    let profile = choice(input, "profile", &[("observed", Profile::Observed), ("documented", Profile::Documented)])?;
    Ok(match correct(&shares, &slices, real(input, "global_max")?, profile) {
        Err(error) => json!({ "error": error.to_string() }),
        Ok(found) => {
            let by_name = |value: fn(&Correction) -> f64| -> Map<String, Json> {
                let names = object("shares").into_iter().flatten().map(|(name, _)| name.clone());
                names.zip(found.iter().map(|correction| number(value(correction)))).collect()
            };
            json!({ "shares": by_name(|found| found.share), "factors": by_name(|found| found.factor) })
        }
    })
}

fn correctors(input: &Json) -> Answer {
    let tree = tree(input)?;
    let section = tree.root().section("ShareCorrections").ok_or("there is no section `ShareCorrections`")?;
    let found = ShareCorrections::read(section, &mut Vec::new()).map_err(|error| error.to_string())?;
    let lossy = |word: &Word| String::from_utf8_lossy(word).into_owned();
    let mut instances = Map::new();
    for instance in &found.instances {
        let target = instance.group.as_ref().map_or("global".to_owned(), |group| format!("gr:{}", lossy(group)));
        let slices = instance.slices.iter().map(|slice| {
            let shown = json!({
                "TimeSpan": number(slice.time_span),
                "Weight": number(slice.weight),
                "MaxCorrection": number(slice.max_correction),
            });
            (lossy(&slice.name), shown)
        });
        let shown = json!({
            "instance": text(&instance.name),
            "slices": slices.collect::<Map<_, _>>(),
            "global_max_documented": number(instance.global_max(Profile::Documented)),
            "global_max_observed": number(instance.global_max(Profile::Observed)),
        });
        instances.insert(format!("{}/{target}", lossy(&instance.corrector)), shown);
    }
    let order: Vec<Json> = found.order.iter().map(|name| text(name)).collect();
    Ok(json!({ "order": order, "instances": instances }))
}

fn tree(input: &Json) -> Result<DiracTree, String> {
    let source = super::input(input, "text")?;
    DiracTree::parse("text", &source).map_err(|error| error.to_line())
}

/// A section as an object. Trees are at most 100 levels deep.
fn section(section: Section<'_>) -> Json {
    let shown = |(name, entry): (&[u8], Entry<'_>)| {
        let value = match entry {
            Entry::Section(inner) => self::section(inner),
            Entry::Option(option) => text(option.text),
        };
        let Json::String(name) = text(name) else { return (String::new(), value) };
        (name, value)
    };
    Json::Object(section.entries().map(shown).collect())
}

fn matches(input: &Json) -> Answer {
    let queue = input.get("queue").ok_or("`queue` is missing")?;
    let found = input.get("resource").ok_or("`resource` is missing")?;
    let set = |key: &str| words(found, key);
    let resource = SiteResource {
        cpu_time: real(found, "CPUTime")?,
        owners: set("Owner")?,
        groups: set("OwnerGroup")?,
        sites: set("Site")?,
        ces: set("GridCE")?,
        platforms: set("Platform")?,
        job_types: set("JobType")?,
        tags: set("Tag")?,
        required_tags: set("RequiredTag")?,
        banned_sites: set("BannedSite")?,
        banned_ces: set("BannedGridCE")?,
        banned_platforms: set("BannedPlatform")?,
        banned_job_types: set("BannedJobType")?,
    };
    let sharing = words(input, "job_sharing_groups")?;
    let queue = as_given(queue)?;
    Ok(json!({ "match": resource.accepts(&queue, |group| sharing.iter().any(|name| **name == *group)) }))
}

fn probabilities(input: &Json) -> Answer {
    let priorities = list(input, "priorities")?.iter().map(Json::as_f64).collect::<Option<Vec<_>>>();
    let priorities = priorities.ok_or("expected numbers in `priorities`")?;
    Ok(json!({ "p": first_chances(&priorities).into_iter().map(number).collect::<Vec<_>>() }))
}

fn orders(input: &Json) -> Answer {
    let queues = pairs(input, "queues")?;
    let limit = match input.get("limit") {
        None => classmate_pool::internal::priority::dirac::draw::MAX_TRIED,
        Some(limit) => match limit.as_u64().ok_or("expected a number in `limit`")? {
            0 => usize::MAX,
            limit => limit as usize,
        },
    };
    let (mut generator, options) = (SplitMix64::new(seed(input)?), options(input)?);
    let drawn = (0..times(input)?).map(|_| draw_order(&queues, &mut generator, options, limit));
    Ok(json!({ "orders": drawn.collect::<Vec<_>>() }))
}

fn jobs_drawn(input: &Json) -> Answer {
    let job = |(id, user_priority)| QueuedJob { id, user_priority };
    let jobs: Vec<QueuedJob> = pairs(input, "jobs")?.into_iter().map(job).collect();
    let (mut generator, options) = (SplitMix64::new(seed(input)?), options(input)?);
    let drawn = (0..times(input)?).map(|_| draw_job(&jobs, &mut generator, options));
    Ok(json!({ "jobs": drawn.collect::<Vec<_>>() }))
}

/// The inputs `order` and `lottery`.
fn options(input: &Json) -> Result<PolicyOptions, String> {
    let order = choice(input, "order", &[("random", Order::Random), ("greedy", Order::Greedy)])?;
    let lottery =
        choice(input, "lottery", &[("observed", Lottery::Observed), ("proportional", Lottery::Proportional)])?;
    Ok(PolicyOptions { order, lottery, ..PolicyOptions::default() })
}

fn seed(input: &Json) -> Result<u64, String> {
    let seed = input.get("seed").ok_or("`seed` is missing")?;
    seed.as_u64()
        .or_else(|| seed.as_i64().map(i64::cast_unsigned))
        .ok_or_else(|| "expected a whole number in `seed`".to_owned())
}

fn times(input: &Json) -> Result<u64, String> {
    match input.get("times") {
        None => Ok(1),
        Some(times) => match times.as_u64() {
            Some(times) if times <= MAX_DRAWS => Ok(times),
            _ => Err(format!("expected a number from 0 to {MAX_DRAWS} in `times`, found `{times}`")),
        },
    }
}

/// Pairs of a number and a priority.
fn pairs(input: &Json, key: &str) -> Result<Vec<(i64, f64)>, String> {
    let pair = |pair: &Json| Some((pair.get(0)?.as_i64()?, pair.get(1)?.as_f64()?));
    list(input, key)?
        .iter()
        .map(pair)
        .collect::<Option<_>>()
        .ok_or_else(|| format!("expected pairs of numbers in `{key}`"))
}

fn weighting(input: &Json) -> Result<Weighting, String> {
    let words =
        [("observed", Weighting::Observed), ("literal", Weighting::Literal), ("proportional", Weighting::Proportional)];
    lenient_choice(input, "weighting", &words)
}

fn segments(input: &Json) -> Result<Segments, String> {
    match input.get("segments") {
        None | Some(Json::Null) => Ok(Segments::default()),
        Some(Json::Array(list)) => {
            // What is not numeric makes the list unusable, as in a configuration.
            let list: Option<Vec<i64>> = list.iter().map(Json::as_i64).collect();
            Ok(Segments::new(&list.unwrap_or_default()))
        }
        Some(_) => Err("expected a list in `segments`".to_owned()),
    }
}

fn queues(input: &Json) -> Result<Vec<TaskQueue>, String> {
    let queue = |queue: &Json| {
        Ok(TaskQueue {
            id: whole(queue, "id")?,
            requirements: as_given(queue)?,
            jobs: list(queue, "jobs")?.iter().map(queued).collect::<Result<_, String>>()?,
            unlisted: 0,
        })
    };
    list(input, "queues")?.iter().map(queue).collect()
}

fn queued(job: &Json) -> Result<QueuedJob, String> {
    Ok(QueuedJob { id: whole(job, "JobID")?, user_priority: number_of(job, "UserPriority")?.unwrap_or(1.0) })
}

/// The requirements of a queue, whose CPU time is a segment.
fn as_given(queue: &Json) -> Result<Requirements, String> {
    requirements(queue, real(queue, "CPUTime")? as i64)
}

fn requirements(found: &Json, cpu_time: i64) -> Result<Requirements, String> {
    let set = |key: &str| Ok::<_, String>(Requirements::set(words(found, key)?.iter().map(|word| &**word)));
    Ok(Requirements {
        owner: string(found, "Owner")?,
        group: string(found, "OwnerGroup")?,
        cpu_time,
        sites: set("Sites")?,
        ces: set("GridCEs")?,
        banned_sites: set("BannedSites")?,
        platforms: set("Platforms")?,
        job_types: set("JobTypes")?,
        tags: set("Tags")?,
        autocluster: 0,
    })
}

/// One text or a list of them; nothing if it is missing.
fn words(input: &Json, key: &str) -> Result<Vec<Word>, String> {
    match input.get(key) {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::String(one)) => Ok(vec![word(&bytes(one))]),
        Some(Json::Array(list)) => {
            let text = |item: &Json| Some(word(&bytes(item.as_str()?)));
            list.iter().map(text).collect::<Option<_>>().ok_or_else(|| format!("expected strings in `{key}`"))
        }
        Some(other) => Err(format!("expected a string or a list in `{key}`, found `{other}`")),
    }
}

fn string(input: &Json, key: &str) -> Result<Word, String> {
    Ok(word(&super::input(input, key)?))
}
