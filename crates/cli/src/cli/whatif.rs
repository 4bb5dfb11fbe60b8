//! `classmate whatif POOL` and `classmate diff OUTCOME OUTCOME`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hashbrown::HashSet;
use serde_json::error::Category;

use crate::cli::input::{self, Notes};
use crate::cli::negotiate::Pace;
use crate::cli::output::FORMATS;
use crate::cli::policy::{PolicyArguments, PolicyName};
use crate::cli::pool::{PoolFiles, expect_slots};
use crate::cli::proof::is_equal;
use crate::cli::provenance::{Made, provenance};
use crate::cli::report::shown;
use crate::cli::settings::{self, contents};
use crate::cli::{
    Failure, Form, FormatArguments, Reply, Streams, complain, language, leaked, parsed, print, print_result,
    raw_output, words,
};
use crate::report::change::page;
use crate::report::whatif as report;
use classmate::internal::builtin::near::closest;
use classmate::internal::syntax::literal::Literal;
use classmate::{ClassAd, Diagnostic, EvalOptions, Expr, Name, Scope};
use classmate_advice::internal::explain::cycle::reasons;
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::internal::lint::config::lint;
use classmate_advice::internal::picture::{PoolPicture, picture};
use classmate_advice::internal::whatif::kind::SlotKinds;
use classmate_advice::internal::whatif::unread::{ReadAttributes, slip};
use classmate_advice::internal::whatif::{AdEdit, Difference, GroupDerivations, PoolRun, derivations, drain, summed};
use classmate_config::internal::config::check::referenced;
use classmate_config::internal::config::knob;
use classmate_config::{Config, SlurmConf};
use classmate_pool::internal::negotiate::Purpose;
use classmate_pool::internal::negotiate::concurrency::demands;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::slot::copies;
use classmate_pool::internal::quota::QuotaSettings;
use classmate_pool::internal::simulate::replay::replay;
use classmate_pool::{Outcome, PreparedPool, Snapshot};

/// Compare a cycle before and after a change to the pool.
///
/// Changes are applied in this order: configuration, jobs, slots, drained slots, added slots. Read-only: no file is
/// modified.
#[derive(clap::Args, Debug)]
#[command(mut_arg("config", |arg| arg.help("Negotiator configuration after the change, instead of the files in POOL")))]
#[command(mut_arg("slurm_conf", |arg| arg.help(after("Weights, flags and partitions", "slurm.conf"))))]
#[command(mut_arg("associations", |arg| arg.help(after("Output of `sacctmgr dump`", "sacctmgr.dump"))))]
#[command(mut_arg("qos", |arg| arg.help(after("Output of `sacctmgr -P show qos`", "sacctmgr.qos"))))]
#[command(mut_arg("files", |arg| arg.help(after("DIRAC configuration file", "dirac.cfg") + "; repeatable, later files \
override earlier ones")))]
#[command(after_help = "\
Examples:
  classmate whatif examples/groups --set 'GROUP_QUOTA_chemistry = 5'
  classmate whatif examples/stuck --set-job 'RequestMemory > 8192' 'RequestMemory = 8192'
  classmate whatif examples/groups --set 'GROUP_QUOTA_chemistry = 5' --format html > whatif.html
  classmate whatif examples/slurm --policy-before condor --policy slurm
  classmate whatif examples/slurm --policy slurm --set 'PriorityWeightFairshare = 0'
  classmate whatif examples/pool --drain 'Name == \"slot1@m01.pool.test\"' --expect 'JobsLost <= 5'

Exit status: 0 on success, 1 if an --expect is not true, a change has no effect, some input was skipped or a file cannot be read, 2 if a \
file or an option is invalid.")]
pub(super) struct WhatifArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// A line to add to the configuration of the negotiator or the policy: `PriorityWeightAge = 1000` or
    /// `PartitionName=debug PriorityTier=5` for Slurm, `Registry/Groups/lhcb_mc/JobShare = 500` for DIRAC; repeatable
    #[arg(long, value_name = "KNOB = VALUE")]
    set: Vec<String>,
    /// Set an attribute of the jobs for which EXPR is true; repeatable
    #[arg(long, num_args = 2, value_names = ["EXPR", "NAME = VALUE"])]
    set_job: Vec<String>,
    /// Set an attribute of the slots for which EXPR is true; repeatable
    #[arg(long, num_args = 2, value_names = ["EXPR", "NAME = VALUE"])]
    set_slot: Vec<String>,
    /// Add the slots in this file; repeatable
    #[arg(long, value_name = "FILE")]
    add_slots: Vec<PathBuf>,
    /// Remove the slots for which EXPR is true; repeatable
    #[arg(long, value_name = "EXPR")]
    drain: Vec<String>,
    /// Run N cycles before and after the change, like `negotiate --cycles`, and compare all their matches
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    cycles: u32,
    #[command(flatten)]
    pace: Pace,
    /// Scheduling policy before the change [default: that of --policy]
    #[arg(long, value_enum, value_name = "POLICY")]
    policy_before: Option<PolicyName>,
    #[arg(long, value_name = "EXPR", help = EXPECT, allow_hyphen_values = true)]
    expect: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMS), default_value = "text")]
    format: Form,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Compare two results of `classmate negotiate --format json`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate negotiate examples/pool --format json > before.json
  classmate negotiate examples/pool --config examples/groups/config --format json > after.json
  classmate diff before.json after.json

Exit status: 0 on success, 1 if an --expect is not true or a file cannot be read, 2 if a file is invalid.")]
pub(super) struct DiffArguments {
    /// Result before the change
    before: PathBuf,
    /// Result after the change
    after: PathBuf,
    #[arg(long, value_name = "EXPR", help = EXPECT, allow_hyphen_values = true)]
    expect: Vec<String>,
    #[command(flatten)]
    output: FormatArguments,
}

/// The help of a file with the settings of a policy.
fn after(what: &str, name: &str) -> String {
    format!("{what} after the change, instead of POOL/{name}; also used before the change if POOL has none")
}

const EXPECT: &str = "\
Condition on the result that must be true, such as `JobsLost == 0`; repeatable. Its attributes: MatchesBefore, MatchesAfter, WeightBefore, WeightAfter, PreemptionsBefore, PreemptionsAfter, JobsWon, JobsLost, \
JobsMoved, SlotsWon, SlotsLost, RequestsStranded, RequestsFreed, RequestsUnmatchedNow and RequestsUnmatchedBefore";

const FORMS: [(&str, &str, Form); 5] =
    [FORMATS[0], FORMATS[1], FORMATS[2], FORMATS[3], ("html", "HTML page: before and after side by side", Form::Html)];

/// Parses an edit of the ads for which an expression is true.
pub(super) fn edit(pair: &[String], flag: &str, streams: Streams) -> Result<AdEdit, Failure> {
    let Some((name, value)) =
        pair[1].split_once('=').filter(|(name, value)| !name.trim().is_empty() && !value.starts_with('='))
    else {
        return Err(Failure::input(format!("expected `NAME = VALUE`, found `{}`", pair[1])));
    };
    Ok(AdEdit {
        of: parsed(&pair[0], flag, streams)?,
        name: Name::new(name.trim()),
        value: parsed(value, flag, streams)?,
    })
}

/// Fails if a change applies to none of the ads; `text` is its condition as it was given.
pub(super) fn some(count: usize, (of, text): (&Expr, &str), ads: &[ClassAd], what: &str) -> Result<(), Failure> {
    if count > 0 {
        return Ok(());
    }
    let failure = Failure::input(format!("`{text}` is not true for any {what}"));
    Err(match slip(of, ads) {
        Some(meant) => failure.help(&format!("did you mean `{meant}`?")),
        None => failure,
    })
}

/// Findings about values, which are an effect that can be tried.
const TRIED: [&str; 5] = ["impossible-value", "odd-unit", "integer-division", "never-false", "bad-argument"];

/// Conditions of a cycle, which matter only where they are true.
const CONDITIONS: [&str; 5] = [
    "PREEMPTION_REQUIREMENTS",
    "NEGOTIATOR_SLOT_CONSTRAINT",
    "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT",
    "NEGOTIATOR_JOB_CONSTRAINT",
    "NEGOTIATOR_SUBMITTER_CONSTRAINT",
];

/// The conditions of a cycle that are set and valid.
fn conditions(config: &Config) -> impl Iterator<Item = Option<Expr>> {
    CONDITIONS.iter().map(|name| config.expression(name).ok().flatten()?.expression().ok())
}

/// Reads lines after the settings of the negotiator.
pub(super) fn set(snapshot: &mut Snapshot, lines: &[&String], notes: &mut Notes) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let before: Vec<_> = conditions(&snapshot.config).collect();
    for line in lines {
        if line.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)) {
            return Err(Failure::input(format!("--set: expected `NAME = value`, found `{line}`"))
                .help("for example --set 'PRIORITY_HALFLIFE = 3600'"));
        }
        snapshot.config.add("--set", line.as_bytes())?;
    }
    for ((name, old), new) in CONDITIONS.iter().zip(before).zip(conditions(&snapshot.config)) {
        if let (Some(old), Some(new)) = (old, new)
            && old.to_string() != new.to_string()
            && is_equal(&old, &new)
        {
            let proven = format!("`{name}` is proven to be true for the same ads as before");
            complain(&format!("note: --set: {proven}, so its change has no effect"));
        }
    }
    // An invalid value ends the command: no finding repeats it.
    Rules::read(&snapshot.config, &snapshot.settings())?;
    QuotaSettings::read(&snapshot.config)?;
    // A slip in a name would change nothing.
    let config = &snapshot.config;
    let is_slip = |alarm: &Diagnostic| alarm.file() == "--set" && !TRIED.contains(&alarm.code);
    let slips: Vec<_> = lint(config).into_iter().filter(is_slip).collect();
    for alarm in &slips {
        let help = alarm.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        let message = format!("--set: {}{help}", alarm.message);
        // Quotas that are missing or too large have an effect.
        if alarm.code == "group-quota" { notes.warn(message) } else { notes.no_effect(message) }
    }
    if slips.is_empty() {
        let referenced = referenced(config);
        let lines = || config.sources().iter().flat_map(|source| source.text.split(|byte| *byte == b'\n'));
        let any_name = lines().any(computes_a_name);
        let copied = config.list("NEGOTIATOR_MATCH_EXPRS").unwrap_or_default();
        let set = config.assignments().filter(|(_, _, place)| &*place.file == "--set");
        for (name, ..) in set {
            let bare = config.bare(name);
            let upper = bare.to_ascii_uppercase();
            let is_referenced =
                any_name || referenced.contains(&upper) || copied.iter().any(|one| one.eq_ignore_ascii_case(bare));
            let known = knob::find(&upper);
            if let Some(limit) = known.filter(|known| known.name == knob::LIMIT && !is_referenced) {
                let limit = knob::member(limit, &upper).unwrap_or_default().to_ascii_lowercase();
                if let Some(near) = unrequested(snapshot, &limit) {
                    let (name, limit) = (String::from_utf8_lossy(name), String::from_utf8_lossy(&limit));
                    notes.no_effect(format!("--set: `{name}` has no effect: no job or slot requests `{limit}`{near}"));
                }
            }
            if is_referenced || known.is_some() {
                continue;
            }
            let name = String::from_utf8_lossy(name);
            let help = if SlurmConf::is_line(&name) { "; with `--policy slurm` it is a Slurm parameter" } else { "" };
            notes.no_effect(format!(
                "--set: `{name}` has no effect: no cycle reads it, and no value refers to it{help}"
            ));
        }
    }
    Ok(())
}

/// A similar limit that is requested in place of one that no job or slot requests, as help; none if it may be requested.
fn unrequested(snapshot: &Snapshot, limit: &[u8]) -> Option<String> {
    let attribute = Name::new("ConcurrencyLimits");
    let mut requested: BTreeSet<Vec<u8>> = BTreeSet::new();
    for expr in snapshot.jobs.iter().chain(&snapshot.slots).filter_map(|ad| ad.get(attribute)) {
        // An expression may request any limit.
        let Literal::Str(text) = expr.as_literal()? else { return None };
        let text = text.to_ascii_lowercase();
        requested.extend(demands(&text).map(|demand| demand.name.to_vec()));
    }
    let near = closest(limit, requested.iter());
    let near = near.map(|near| format!("; did you mean `{}`?", String::from_utf8_lossy(near)));
    (!requested.contains(limit)).then(|| near.unwrap_or_default())
}

/// True if a line has a reference in the name of another one.
fn computes_a_name(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"$(").any(|at| {
        let name = &line[at + 2..];
        let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"_.".contains(byte));
        end.is_some_and(|end| name[end] == b'$')
    })
}

fn change(
    snapshot: &mut Snapshot,
    arguments: &WhatifArguments,
    notes: &mut Notes,
    streams: Streams,
) -> Result<(), Failure> {
    let settings = snapshot.settings();
    let mut set: Vec<(&str, Name)> = Vec::new();
    for pair in arguments.set_job.chunks_exact(2) {
        let edit = edit(pair, "--set-job", streams)?;
        let count = edit.apply(&mut snapshot.jobs, &settings);
        some(count, (&edit.of, &pair[0]), &snapshot.jobs, "job")?;
        set.push(("--set-job", edit.name));
    }
    for pair in arguments.set_slot.chunks_exact(2) {
        let edit = edit(pair, "--set-slot", streams)?;
        let count = edit.apply(&mut snapshot.slots, &settings);
        some(count, (&edit.of, &pair[0]), &snapshot.slots, "slot")?;
        set.push(("--set-slot", edit.name));
    }
    for condition in &arguments.drain {
        let is_name = condition.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@._-".contains(&byte));
        if is_name && condition.contains('@') {
            return Err(Failure::input(format!(
                "`--drain` expects a condition, not the name of a slot: `{condition}`"
            ))
            .help(&format!("write `Name == \"{condition}\"`")));
        }
        let expr = parsed(condition, "--drain", streams)?;
        let count = drain(&mut snapshot.slots, &expr, &settings);
        some(count, (&expr, condition), &snapshot.slots, "slot")?;
    }
    for path in &arguments.add_slots {
        let mut added = input::ads(path, &settings, notes)?;
        expect_slots(path, &added, notes)?;
        new_names(&snapshot.slots, &added, path, &settings)?;
        snapshot.slots.append(&mut added);
    }
    warn_of_unread(snapshot, &set, arguments, notes, streams)
}

/// Warns of attributes that are set and that no cycle looks at, as far as this is certain: other policies read attributes of
/// their own.
fn warn_of_unread(
    snapshot: &Snapshot,
    set: &[(&str, Name)],
    arguments: &WhatifArguments,
    notes: &mut Notes,
    streams: Streams,
) -> Result<(), Failure> {
    let is_condor = arguments.policy.is_condor() && arguments.policy_before.is_none_or(|it| it == PolicyName::Condor);
    if set.is_empty() || !is_condor {
        return Ok(());
    }
    let plan = arguments.pace.plan(arguments.cycles, &snapshot.config, streams)?;
    let Some(read) = ReadAttributes::of(snapshot, plan.run_time.as_ref()) else { return Ok(()) };
    for (flag, name) in set.iter().filter(|(_, name)| !read.contains(*name)) {
        let near = read.similar(*name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        notes.no_effect(format!(
            "{flag}: `{name}` has no effect: no cycle reads it, and no expression refers to it{near}"
        ));
    }
    Ok(())
}

/// Slots are identified by their names, which must be unique.
fn new_names(slots: &[ClassAd], added: &[ClassAd], path: &Path, settings: &EvalOptions) -> Result<(), Failure> {
    let name = |slot: &ClassAd| AdReader::of(slot, settings).string("Name").map(|name| name.to_vec());
    let mut known: HashSet<Vec<u8>> = slots.iter().filter_map(name).collect();
    match added.iter().filter_map(name).find(|name| !known.insert(name.clone())) {
        None => Ok(()),
        Some(name) => {
            let name = String::from_utf8_lossy(&name).into_owned();
            Err(Failure::input(format!("`{}`: slot `{name}` already exists", path.display()))
                .help("give it another `Name`, or change the existing slot with --set-slot"))
        }
    }
}

/// Runs one cycle, which takes the slots, or several.
fn ran(snapshot: &mut Snapshot, arguments: &WhatifArguments, streams: Streams) -> Result<PoolRun, Failure> {
    let kinds = SlotKinds::of(&snapshot.slots, &snapshot.settings());
    let once = arguments.cycles == 1;
    let slots = if once { std::mem::take(&mut snapshot.slots) } else { copies(&snapshot.slots) };
    let pool = PreparedPool::prepare(snapshot, slots, Purpose::Cycle, &mut ())?;
    let ran = PoolRun::of(leaked(pool), &kinds)?;
    if once {
        return Ok(ran);
    }
    let plan = arguments.pace.plan(arguments.cycles, &snapshot.config, streams)?;
    let mut outcomes = Vec::new();
    replay(snapshot.clone(), &plan, |_, _| Ok(None), |cycle| outcomes.push(cycle.outcome))
        .map_err(|error| Failure::input(error.to_string()))?;
    let outcome = summed(outcomes);
    Ok(PoolRun { classes: kinds.matched(&outcome), outcome, ..ran })
}

/// The settings after the change, if a file has others.
fn configure(
    after: &mut Snapshot,
    arguments: &WhatifArguments,
    notes: &mut Notes,
    streams: Streams,
) -> Result<(), Failure> {
    let Some(path) = &arguments.files.config else { return Ok(()) };
    after.config =
        settings::pool(Some(path), arguments.files.directory(), arguments.files.allow_commands, streams.err)?;
    after.maps = settings::user_maps(&after.config, notes)?;
    Ok(())
}

pub(super) fn run(arguments: &WhatifArguments, streams: Streams) -> Result<ExitCode, Failure> {
    let mut notes = Notes::default();
    let directory = arguments.files.directory();
    expectations(&arguments.expect, streams)?;
    if changes(arguments).is_empty() && !arguments.policy.has_settings() {
        return Err(Failure::input("no change is given").help(
            "use --set, --set-job, --set-slot, --drain, --add-slots, --config, or --policy-before with another policy",
        ));
    }
    if arguments.format == Form::Html && arguments.cycles > 1 {
        return Err(Failure::input("--format html shows one cycle").help("remove --cycles"));
    }
    let own_settings = PoolFiles { config: None, ..arguments.files.clone() };
    let before = leaked(own_settings.snapshot(&mut notes, streams.err)?);
    // There are many jobs, and one copy of them will do: they are changed when the cycle before the change has run.
    let (mut jobs, slots) = (std::mem::take(&mut before.jobs), std::mem::take(&mut before.slots));
    let after = leaked(before.clone());
    after.slots = copies(&slots);
    before.slots = slots;
    std::mem::swap(&mut before.jobs, &mut jobs);
    arguments.policy.check(arguments.policy_before)?;
    let mut policy = arguments.policy.clone();
    let lines: Vec<&String> = arguments.set.iter().filter(|line| !policy.change(line)).collect();
    let policy_before = arguments.policy.before(arguments.policy_before, directory);
    before.policy = policy_before.read_checked(directory, before, &mut notes)?;
    configure(after, arguments, &mut notes, streams)?;
    std::mem::swap(&mut after.jobs, &mut before.jobs);
    set(after, &lines, &mut notes)?;
    after.policy = policy.read_checked(directory, after, &mut notes)?;
    std::mem::swap(&mut after.jobs, &mut before.jobs);
    let derived_before = derived(before, arguments)?;
    let seen_before = seen(before, arguments)?;
    let old = leaked(ran(before, arguments, streams)?);
    std::mem::swap(&mut after.jobs, &mut before.jobs);
    change(after, arguments, &mut notes, streams)?;
    notes.show(streams.err);
    let derived_after = derived(after, arguments)?;
    let seen_after = seen(after, arguments)?;
    let new = leaked(ran(after, arguments, streams)?);
    let mut difference = Difference::between(old, new);
    if let Some((before, after)) = derived_before.zip(derived_after) {
        difference.add_reasons(&before, &after);
    }
    let made = provenance(arguments.format, &[&before.config, &after.config])?;
    let page = seen_before.zip(seen_after).map(|(before, after)| {
        let name = directory.map_or_else(|| "pool".to_owned(), shown);
        page((&name, &changes(arguments)), (&before, &after), (&difference, made.as_ref()))
    });
    show(&Made { provenance: made, result: &difference }, &arguments.expect, (arguments.format, page), streams)
}

/// The derivations of quotas, for formats that have them.
fn derived(snapshot: &Snapshot, arguments: &WhatifArguments) -> Result<Option<GroupDerivations>, Failure> {
    let wanted = arguments.cycles == 1 && matches!(arguments.format, Form::Html | Form::Json);
    Ok(if wanted { Some(derivations(snapshot)?) } else { None })
}

/// The pool after a cycle, for a page.
fn seen(snapshot: &Snapshot, arguments: &WhatifArguments) -> Result<Option<PoolPicture>, Failure> {
    if arguments.format != Form::Html {
        return Ok(None);
    }
    let (outcome, queue) = reasons::ran(snapshot)?;
    let survey = reasons::survey(snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true)?;
    Ok(Some(picture(snapshot, &outcome, &survey)?))
}

/// The changes in words.
fn changes(arguments: &WhatifArguments) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(arguments.files.config.as_ref().map(|path| format!("configuration: {}", path.display())));
    words.extend(arguments.policy_before.and_then(|before| arguments.policy.changed_from(before)));
    words.extend(arguments.set.iter().cloned());
    for (what, pairs) in [("jobs", &arguments.set_job), ("slots", &arguments.set_slot)] {
        words.extend(pairs.chunks_exact(2).map(|pair| format!("{what} with {}: {}", pair[0], pair[1])));
    }
    words.extend(arguments.drain.iter().map(|condition| format!("without slots with {condition}")));
    words.extend(arguments.add_slots.iter().map(|path| format!("slots added: {}", path.display())));
    words
}

pub(super) fn diff(arguments: &DiffArguments, streams: Streams) -> Result<ExitCode, Failure> {
    expectations(&arguments.expect, streams)?;
    let difference = Difference::of(&outcome(&arguments.before)?, &outcome(&arguments.after)?);
    let made = Made { provenance: provenance(arguments.output.format, &[])?, result: &difference };
    show(&made, &arguments.expect, (arguments.output.format, None), streams)
}

fn outcome(path: &Path) -> Result<Outcome, Failure> {
    serde_json::from_slice(&contents(path)?).map_err(|error: serde_json::Error| {
        let problem = match error.classify() {
            Category::Eof => "it ends early".to_owned(),
            Category::Syntax => format!("line {} is not valid JSON", error.line()),
            Category::Data | Category::Io => error.to_string(),
        };
        Failure::input(format!("`{}` is not a result of a cycle: {problem}", path.display()))
            .help("expected the output of `classmate negotiate --format json`")
    })
}

/// The expected conditions.
fn expectations(expect: &[String], streams: Streams) -> Result<Vec<(&str, Expr)>, Failure> {
    expect.iter().map(|text| Ok((text.as_str(), parsed(text, "--expect", streams)?))).collect()
}

fn show(
    made: &Made<'_, Difference>,
    expect: &[String],
    (format, page): (Form, Option<String>),
    streams: Streams,
) -> Result<ExitCode, Failure> {
    let difference = made.result;
    let ad = difference.to_ad();
    let mut failed = Vec::new();
    for (text, expr) in expectations(expect, streams)? {
        let value = Scope::new(&ad, &language::settings()).eval(&expr);
        if !value.as_ref().is_ok_and(|value| value.as_condition() == Some(true)) {
            let value = value.map_or_else(|failed| failed.to_string(), |value| value.to_string());
            let meant = slip(&expr, std::slice::from_ref(&ad));
            let help = meant.map(|meant| format!("\n  = help: did you mean `{meant}`?")).unwrap_or_default();
            failed.push(format!("error: expected `{text}`, which is {value}{help}"));
        }
    }
    let answer = Reply { schema: "whatif/1", result: made, rows: &report::rows(difference) };
    match page {
        Some(page) => print(raw_output(), |out| out.write_all(page.as_bytes()))?,
        None => print_result(format, &answer, |out| report::write(out, difference, streams.out))?,
    }
    for message in &failed {
        complain(message);
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
