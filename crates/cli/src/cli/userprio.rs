//! `classmate userprio POOL`
//!
//! One file: every listing and every change starts from the same options.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use crate::cli::input::{self, Notes};
use crate::cli::live::CollectorArguments;
use crate::cli::pool::{PoolFiles, parse_log};
use crate::cli::settings::{self, contents};
use crate::cli::{
    Failure, Form, FormatArguments, Now, Reply, Streams, complain, language, line_output, parse_now, print,
    print_result, raw_output, text_output,
};
use crate::report::Color;
use crate::report::userprio::{Columns, Layout, Listing, Setting, write_resources};
use classmate::internal::format::json::JsonWriter;
use classmate::internal::syntax::calendar::{Civil, DAY};
use classmate::internal::syntax::parse::parse_expr;
use classmate::{ClassAd, Format, Scope, Writer, Zone};
use classmate_config::{Config, NegotiatorKnobs};
use classmate_pool::internal::accountant::edit::{Edit, EditError};
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::accountant::lease::{LeaseError, LeaseKind};
use classmate_pool::internal::accountant::report::{
    GroupReport, accounting_ads, configured_share, numbered, roll_up, split_numbered,
};
use classmate_pool::internal::accountant::{AccountantLog, ROOT_GROUP};
use classmate_pool::internal::negotiate::concurrency::demands;
use classmate_pool::internal::negotiate::quotas::ExplainedGroup;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::quota::GroupTree;
use classmate_pool::{Journal, PreparedPool};
use classmate_wire::AdType;

/// Show and change user priorities and usage.
///
/// Works like `condor_userprio`. POOL is the negotiator's `Accountantnew.log`, or a directory with this log or with
/// `accounting.ads`, which `classmate snapshot` writes, and optionally the negotiator configuration in `config`.
/// Options can be written `--usage` or `-usage`, and any unambiguous prefix is accepted. Without --allusers, only
/// users with usage in the day before the last update are
/// listed.
#[expect(clippy::struct_excessive_bools, reason = "one field is one option of the command")]
#[derive(clap::Args, Debug)]
#[command(infer_long_args = true)]
#[command(group = clap::ArgGroup::new("change").multiple(false))]
#[command(after_help = "\
Examples:
  classmate userprio examples/pool -allusers
  classmate userprio examples/pool -all -allusers    # every column
  classmate userprio examples/pool -priority alice   # one user
  classmate userprio examples/pool/Accountantnew.log -setfactor bob@pool.test 10
  classmate userprio examples/pool/Accountantnew.log -setceiling bob@pool.test 8
  classmate userprio examples/pool -allusers -long > saved.ads
  classmate userprio -inputfile saved.ads -usage     # also of condor_userprio
  classmate userprio -pool cm.example.org -allusers  # a live pool (read-only)

The effective priority (lower is better) is the real priority times the priority factor. The real priority follows usage \
with the half-life PRIORITY_HALFLIFE and is never below 0.5.

Exit status: 0 on success, 1 on failure, 2 on a usage error or a damaged log.")]
pub(super) struct UserprioArguments {
    /// Directory with Accountantnew.log or accounting.ads, or the log itself
    #[arg(required_unless_present_any = ["inputfile", "collectors"])]
    pool: Option<PathBuf>,
    /// Users to list: full names, or the part before the @
    users: Vec<String>,

    /// Set the real priority
    #[arg(long, num_args = 2, value_names = ["USER", "VALUE"], group = "change", help_heading = "Changes")]
    setprio: Option<Vec<String>>,
    /// Set the priority factor, at least 1
    #[arg(long, num_args = 2, value_names = ["USER", "VALUE"], group = "change", help_heading = "Changes")]
    setfactor: Option<Vec<String>>,
    /// Set the ceiling in slot weight (-1 for no limit)
    #[arg(long, visible_alias = "setceil", num_args = 2, value_names = ["USER", "VALUE"], group = "change", help_heading = "Changes")]
    setceiling: Option<Vec<String>>,
    /// Set the floor in slot weight, which is served first
    #[arg(long, num_args = 2, value_names = ["USER", "VALUE"], group = "change", help_heading = "Changes")]
    setfloor: Option<Vec<String>>,
    /// Lease time of -setfactor, -setceiling or -setfloor
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..), conflicts_with_all = ["setprio", "setaccum", "setbegin", "setlast", "resetusage", "resetall", "delete"], help_heading = "Changes")]
    duration: Option<i64>,
    /// Cancel a ceiling that was set with -duration
    #[arg(long, value_name = "USER", group = "change", help_heading = "Changes")]
    cancelceilinglease: Option<String>,
    /// Cancel a floor that was set with -duration
    #[arg(long, value_name = "USER", group = "change", help_heading = "Changes")]
    cancelfloorlease: Option<String>,
    /// Cancel a priority factor that was set with -duration
    #[arg(long, value_name = "USER", group = "change", help_heading = "Changes")]
    cancelfactorlease: Option<String>,
    /// Set the accumulated usage in weighted seconds
    #[arg(long, num_args = 2, value_names = ["USER", "VALUE"], group = "change", help_heading = "Changes")]
    setaccum: Option<Vec<String>>,
    /// Set the time of the first usage, in seconds since 1970
    #[arg(long, num_args = 2, value_names = ["USER", "TIME"], group = "change", help_heading = "Changes")]
    setbegin: Option<Vec<String>>,
    /// Set the time of the last usage, in seconds since 1970
    #[arg(long, num_args = 2, value_names = ["USER", "TIME"], group = "change", help_heading = "Changes")]
    setlast: Option<Vec<String>>,
    /// Reset the accumulated usage of a user
    #[arg(long, value_name = "USER", group = "change", help_heading = "Changes")]
    resetusage: Option<String>,
    /// Reset the accumulated usage of all users
    #[arg(long, group = "change", help_heading = "Changes")]
    resetall: bool,
    /// Delete the record of a user
    #[arg(long, value_name = "USER", group = "change", help_heading = "Changes")]
    delete: Option<String>,

    /// Show the slots in use by a user
    #[arg(long, value_name = "USER", group = "change", help_heading = "Listing")]
    getreslist: Option<String>,
    /// Priorities and factors
    #[arg(long, help_heading = "Listing")]
    priority: bool,
    /// Usage, with its first and last time
    #[arg(long, help_heading = "Listing")]
    usage: bool,
    /// Group quotas
    #[arg(long, help_heading = "Listing")]
    quotas: bool,
    /// The default columns
    #[arg(long, help_heading = "Listing")]
    most: bool,
    /// All of these columns
    #[arg(long, help_heading = "Listing")]
    all: bool,
    /// Surplus policy of groups
    #[arg(long, help_heading = "Listing")]
    surplus: bool,
    /// Sort keys of groups
    #[arg(long, help_heading = "Listing")]
    sortkey: bool,
    /// Group numbers
    #[arg(long, help_heading = "Listing")]
    groupid: bool,
    /// Positions of groups in the list
    #[arg(long, help_heading = "Listing")]
    order: bool,
    /// List users below their groups
    #[arg(long, visible_alias = "heir", conflicts_with_all = ["flat", "grouporder"], help_heading = "Listing")]
    hierarchical: bool,
    /// List users and groups in one flat list
    #[arg(long, conflicts_with = "grouporder", help_heading = "Listing")]
    flat: bool,
    /// List groups first, then users
    #[arg(long, help_heading = "Listing")]
    grouporder: bool,
    /// Add the usage of groups to their parent groups
    #[arg(long, help_heading = "Listing")]
    grouprollup: bool,
    /// Include users without recent usage
    #[arg(long, help_heading = "Listing")]
    allusers: bool,
    /// Only users with usage since this day
    #[arg(long, num_args = 3, value_names = ["MONTH", "DAY", "YEAR"], conflicts_with = "allusers", help_heading = "Listing")]
    activefrom: Option<Vec<i64>>,
    /// Only ads for which this expression is true
    #[arg(long, value_name = "EXPR", help_heading = "Listing")]
    constraint: Option<String>,
    /// Print whole ads
    #[arg(long, conflicts_with = "json", help_heading = "Listing")]
    long: bool,
    /// Print whole ads as JSON
    #[arg(long, help_heading = "Listing")]
    json: bool,
    /// Print these attributes, one line per ad; `-af:` takes letters: `,` `t` `n` for the separator, `l` names, `V`
    /// quotes, `r` unevaluated
    #[arg(long, visible_alias = "autoformat", num_args = 1.., value_name = "ATTRIBUTE", conflicts_with_all = ["long", "json"], help_heading = "Listing")]
    af: Option<Vec<String>>,
    #[arg(long, hide = true, requires = "af", value_name = "LETTERS", default_value = "")]
    af_letters: String,
    #[command(flatten)]
    output: FormatArguments,
    /// With -long, -json, -af: one ad with numbered attributes, like older negotiators
    #[arg(long, conflicts_with = "modular", help_heading = "Listing")]
    legacy: bool,
    /// With -long, -json, -af: one ad per record (default)
    #[arg(long, help_heading = "Listing")]
    modular: bool,

    /// File of saved accounting ads, instead of POOL
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    inputfile: Option<PathBuf>,
    /// Read POOL/accounting.ads (`condor_status -accounting -long`), as from the collector
    #[arg(long, conflicts_with_all = ["negotiator", "inputfile"], help_heading = "Input")]
    collector: bool,
    /// Read the log, as from the negotiator (default)
    #[arg(long, conflicts_with = "inputfile", help_heading = "Input")]
    negotiator: bool,
    /// Expected negotiator; an error if POOL or the saved ads belong to another one
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    name: Option<String>,
    /// Negotiator configuration, instead of POOL/config
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    config: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long, help_heading = "Input")]
    allow_commands: bool,
    /// Current time: seconds since 1970, a date, or `wall` [default: the last update for listings, `wall` for changes]
    #[arg(long, value_name = "TIME", value_parser = parse_now, help_heading = "Input")]
    now: Option<Now>,
    #[command(flatten)]
    live: CollectorArguments,
}

/// The command line with `-option` written `--option`, where it is one of this command.
pub(super) fn spelled(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut ours = false;
    let spell = |argument: OsString| {
        let text = argument.to_str().unwrap_or_default();
        let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
        let single = letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next().is_some();
        let setting = text.trim_start_matches('-').split_once(':');
        let spelled = match setting.filter(|(option, _)| ours && text.starts_with('-') && is_af(option)) {
            Some((_, letters)) => vec![format!("--af-letters={letters}").into(), "--af".into()],
            None if ours && single => vec![format!("-{text}").into()],
            None => vec![argument.clone()],
        };
        ours |= argument == "userprio";
        spelled
    };
    arguments.into_iter().flat_map(spell).collect()
}

/// Returns whether an option is `-af` or `-autoformat`, shortened to at least `-auto…`.
fn is_af(option: &str) -> bool {
    option == "af" || (option.len() >= 5 && "autoformat".starts_with(option))
}

pub(super) fn run(arguments: &UserprioArguments, streams: Streams) -> Result<(), Failure> {
    match edit(arguments)? {
        Some(edit) => change(arguments, &edit),
        None => list(arguments, streams),
    }
}

/// A change of a user.
type UserEdit = fn(Vec<u8>) -> Edit;

/// A change of a value of a user; none if the text is not such a value.
type ValueEdit = fn(Vec<u8>, &str) -> Option<Edit>;

/// The requested change; at most one option of a change is given.
fn edit(arguments: &UserprioArguments) -> Result<Option<Edit>, Failure> {
    let values: [(_, &str, ValueEdit); 7] = [
        (&arguments.setprio, "a number", |user, text| Some(Edit::Priority(user, text.parse().ok()?))),
        (&arguments.setfactor, "a number", |user, text| Some(Edit::Factor(user, text.parse().ok()?))),
        (&arguments.setaccum, "a number", |user, text| Some(Edit::Accumulated(user, text.parse().ok()?))),
        (&arguments.setceiling, "a whole number", |user, text| Some(Edit::Ceiling(user, text.parse().ok()?))),
        (&arguments.setfloor, "a whole number", |user, text| Some(Edit::Floor(user, text.parse().ok()?))),
        (&arguments.setbegin, "a whole number", |user, text| Some(Edit::Begin(user, text.parse().ok()?))),
        (&arguments.setlast, "a whole number", |user, text| Some(Edit::Last(user, text.parse().ok()?))),
    ];
    let users: [(_, UserEdit); 5] = [
        (&arguments.cancelceilinglease, |user| Edit::CancelLease(LeaseKind::Ceiling, user)),
        (&arguments.cancelfloorlease, |user| Edit::CancelLease(LeaseKind::Floor, user)),
        (&arguments.cancelfactorlease, |user| Edit::CancelLease(LeaseKind::Factor, user)),
        (&arguments.resetusage, Edit::ResetUsage),
        (&arguments.delete, Edit::Delete),
    ];
    let mut edit = arguments.resetall.then_some(Edit::ResetAll);
    for (given, expected, change) in values {
        let Some([user, value]) = given.as_deref() else { continue };
        let wrong = || Failure::input(format!("invalid value `{value}` for `{user}`: expected {expected}"));
        edit = Some(change(user.clone().into_bytes(), value).ok_or_else(wrong)?);
    }
    for (given, change) in users {
        edit = given.as_ref().map(|user| change(user.clone().into_bytes())).or(edit);
    }
    let Some(seconds) = arguments.duration else { return Ok(edit) };
    let (kind, user, value) = match edit {
        Some(Edit::Factor(user, value)) => (LeaseKind::Factor, user, value),
        Some(Edit::Ceiling(user, value)) => (LeaseKind::Ceiling, user, value as f64),
        Some(Edit::Floor(user, value)) => (LeaseKind::Floor, user, value as f64),
        _ => {
            return Err(Failure::input("-duration has no effect by itself")
                .help("give it with -setfactor, -setceiling or -setfloor"));
        }
    };
    Ok(Some(Edit::Lease(kind, user, value, seconds)))
}

/// The accountant's log of the pool.
fn log_of(arguments: &UserprioArguments) -> Option<PathBuf> {
    let pool = arguments.pool.as_ref()?;
    Some(if pool.is_dir() { pool.join("Accountantnew.log") } else { pool.clone() })
}

/// The settings of the pool; the defaults without any.
fn config_of(arguments: &UserprioArguments) -> Result<Config, Failure> {
    settings::pool(arguments.config.as_deref(), arguments.pool.as_deref(), arguments.allow_commands, Color::Off)
}

fn rules_of(config: &Config) -> Result<(FactorRules, GroupTree), Failure> {
    let knobs = NegotiatorKnobs::read(config)?;
    let groups = GroupTree::named_in(config)?;
    Ok((FactorRules::new(&knobs.accountant), groups))
}

fn change(arguments: &UserprioArguments, edit: &Edit) -> Result<(), Failure> {
    let Some(path) = log_of(arguments) else {
        return Err(Failure::input("there is no log to change: expected POOL"));
    };
    if !path.exists() {
        return Err(Failure::new(format!("`{}` does not exist: expected the negotiator's log", path.display()))
            .help("`classmate negotiate POOL --commit` creates one"));
    }
    let (rules, groups) = rules_of(&config_of(arguments)?)?;
    let now = arguments.now.unwrap_or(Now::Wall).seconds();
    let mut journal = Journal::open(&path, now)?;
    for warning in journal.found() {
        complain(&format!("warning: {}", warning.to_line(&path)));
    }
    let edited = edit.apply(journal.log(), rules, &groups, now).map_err(|error| match &error {
        EditError::Lease(LeaseError::InEffect { .. } | LeaseError::None { .. }) => Failure::new(error.to_string()),
        _ => Failure::input(error.to_string()),
    })?;
    journal.commit(&edited.transaction)?;
    journal.compact_if_large(now)?;
    if let Some(name) = edit.name().filter(|_| !edited.known) {
        complain(&format!("note: `{}` did not have a record", String::from_utf8_lossy(name)));
    }
    print(text_output(), |out| writeln!(out, "{}", edited.message))
}

fn list(arguments: &UserprioArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    if let Some(user) = &arguments.getreslist {
        if !user.contains('@') {
            return Err(Failure::input(format!("`{user}` is not the full name of a submitter: expected user@domain")));
        }
        let log = read_log(arguments, &mut notes)?;
        notes.show(streams.err);
        let now = arguments.now.unwrap_or(Now::Wall).seconds();
        return print(text_output(), |out| write_resources(out, &log, user.as_bytes(), now, &Zone::local()));
    }
    let mut ads = ads(arguments, &mut notes)?;
    notes.show(streams.err);
    if arguments.legacy && (arguments.long || arguments.json || arguments.af.is_some()) {
        ads = vec![legacy(arguments, &ads)?];
    }
    if let Some(names) = &arguments.af {
        let setting = Setting::parse(&arguments.af_letters)
            .map_err(|error| Failure::input(format!("`-af:{}`: {error}", arguments.af_letters)))?;
        return print(line_output(), |out| setting.write(out, &ads, names));
    }
    if arguments.long || arguments.json {
        let format = if arguments.json { Format::Json } else { Format::Long };
        return print(raw_output(), |out| {
            let mut writer = Writer::new(out, format);
            ads.iter().try_for_each(|ad| writer.write(ad).map(drop))?;
            writer.finish().map(drop)
        });
    }
    let listing = listing(arguments, &ads);
    let hidden = listing.hidden(&ads);
    if hidden > 0 && hidden == ads.len() {
        complain("note: no recent usage; use -allusers to list all users");
    }
    if arguments.output.format == Form::Text {
        return print(text_output(), |out| listing.write(out, &ads));
    }
    let rows = ads.iter().map(ad_object).collect::<Result<Vec<_>, _>>()?;
    let result = serde_json::json!({ "ads": rows });
    print_result(arguments.output.format, &Reply { schema: "userprio/1", result: &result, rows: &rows }, |_| Ok(()))
}

/// An ad as a JSON object.
fn ad_object(ad: &ClassAd) -> Result<serde_json::Value, Failure> {
    let mut text = Vec::new();
    JsonWriter::default().write_line(&mut text, ad);
    serde_json::from_slice(&text).map_err(|error| Failure::new(format!("cannot write an ad as JSON: {error}")))
}

fn read_log(arguments: &UserprioArguments, notes: &mut Notes) -> Result<AccountantLog, Failure> {
    let Some(path) = log_of(arguments) else {
        return Err(Failure::input("there is no log to read: expected POOL"));
    };
    parse_log(&path, &contents(&path)?, notes)
}

/// The ads to list.
fn ads(arguments: &UserprioArguments, notes: &mut Notes) -> Result<Vec<ClassAd>, Failure> {
    let settings = language::settings();
    let collected = || arguments.pool.as_ref().map(|pool| pool.join("accounting.ads"));
    let without_log = log_of(arguments).is_some_and(|log| !log.exists());
    let saved = match &arguments.inputfile {
        Some(path) => Some(path.clone()),
        None if arguments.collector => collected(),
        None => collected().filter(|path| without_log && !arguments.negotiator && path.exists()),
    };
    let saved = match saved {
        _ if arguments.live.is_given() => Some(arguments.live.ads(Some(AdType::Accounting), notes)?),
        Some(path) => Some(input::ads(&path, &settings, notes)?),
        None => None,
    };
    let ads = match saved {
        Some(ads) => {
            let name = ads.iter().find_map(|ad| AdReader::of(ad, &settings).string("NegotiatorName"));
            of_negotiator(arguments, name.as_deref())?;
            ads.iter().flat_map(|ad| split_numbered(ad).unwrap_or_else(|| vec![ad.clone()])).collect()
        }
        None => {
            let log = read_log(arguments, notes)?;
            let config = config_of(arguments)?;
            let name = config.string("NEGOTIATOR_NAME")?;
            of_negotiator(arguments, name.as_deref())?;
            let (rules, mut groups) = rules_of(&config)?;
            if groups.is_empty() {
                // Without settings the groups are those that have records.
                let recorded = log.table("Customer").map(|(name, _)| name.to_vec());
                groups = GroupTree::of_names(recorded.filter(|name| !name.contains(&b'@')));
                return chosen(accounting_ads(&log, rules, &groups, &|_| None), arguments);
            }
            let computed = division(arguments, notes)?;
            // An invalid setting is reported by the command that needs it; here it leaves a cell empty.
            let share = |name: &[u8]| {
                let share =
                    groups.find(name).is_some().then(|| configured_share(&config, &groups, name).ok()).flatten()?;
                let own = |group: &&ExplainedGroup| group.summary.name.as_bytes().eq_ignore_ascii_case(name);
                Some(match computed.iter().find(own) {
                    None => share,
                    Some(ExplainedGroup { summary, .. }) => GroupReport {
                        effective: Some(summary.quota),
                        subtree: Some(summary.subtree_quota),
                        sort_key: Some(summary.sort_key),
                        requested: Some(summary.demand),
                        ..share
                    },
                })
            };
            accounting_ads(&log, rules, &groups, &share)
        }
    };
    chosen(ads, arguments)
}

/// The ads as one, with the limits that the log knows of.
fn legacy(arguments: &UserprioArguments, ads: &[ClassAd]) -> Result<ClassAd, Failure> {
    let config = config_of(arguments)?;
    let knobs = NegotiatorKnobs::read(&config)?;
    let (_, groups) = rules_of(&config)?;
    let any = !groups.is_empty();
    let known = |group: &[u8]| group == ROOT_GROUP || !any || groups.find(group).is_some();
    let factor = |group: &[u8]| {
        let own = knobs.accountant.group_factors.iter().find(|(name, _)| name.eq_ignore_ascii_case(group));
        own.map_or(0.0, |(_, factor)| *factor)
    };
    let mut held: BTreeMap<Vec<u8>, f64> = BTreeMap::new();
    if arguments.inputfile.is_none() && !arguments.collector && log_of(arguments).is_some_and(|log| log.exists()) {
        let log = read_log(arguments, &mut Notes::default())?;
        for (_, slot) in log.table("Resource") {
            let limits = slot.string("MatchedConcurrencyLimits").unwrap_or_default().to_ascii_lowercase();
            for demand in demands(&limits) {
                *held.entry(demand.name.to_vec()).or_default() += demand.amount;
            }
        }
    }
    let limits: Vec<(Vec<u8>, f64)> = held.into_iter().collect();
    // What is rolled up keeps the factors of the records.
    Ok(numbered(ads, &known, if arguments.grouprollup { None } else { Some(&factor) }, &limits))
}

/// Returns whether the log is that of the requested negotiator.
fn of_negotiator(arguments: &UserprioArguments, name: Option<&[u8]>) -> Result<(), Failure> {
    match (&arguments.name, name) {
        (Some(asked), Some(name)) if !name.eq_ignore_ascii_case(asked.as_bytes()) => {
            let name = String::from_utf8_lossy(name);
            Err(Failure::new(format!("these records are from the negotiator `{name}`, not from `{asked}`")))
        }
        _ => Ok(()),
    }
}

/// The quotas of the groups of a pool, computed if the pool's slots and jobs are available.
fn division(arguments: &UserprioArguments, notes: &mut Notes) -> Result<Vec<ExplainedGroup>, Failure> {
    let there = |pool: &&PathBuf| ["slots.ads", "jobs.ads"].iter().all(|file| pool.join(file).exists());
    let Some(pool) = arguments.pool.as_ref().filter(there) else { return Ok(Vec::new()) };
    let files = PoolFiles {
        pool: Some(pool.clone()),
        config: arguments.config.clone(),
        allow_commands: arguments.allow_commands,
        now: arguments.now,
        ..PoolFiles::default()
    };
    let snapshot = files.snapshot(notes, Color::Off)?;
    let division = PreparedPool::new(&snapshot)?.division();
    Ok(division.groups)
}

/// The ads that are asked for.
fn chosen(mut ads: Vec<ClassAd>, arguments: &UserprioArguments) -> Result<Vec<ClassAd>, Failure> {
    let settings = language::settings();
    if arguments.grouprollup {
        roll_up(&mut ads);
    }
    if let Some(text) = &arguments.constraint {
        let constraint = parse_expr(text.as_bytes(), &settings.parse_options())
            .map_err(|error| Failure::input(format!("invalid constraint `{text}`: {error}")))?;
        ads.retain(|ad| Scope::new(ad, &settings).holds(&constraint));
    }
    if !users(arguments).is_empty() {
        let asked_for = |ad: &ClassAd| {
            let name = AdReader::of(ad, &settings).string("Name").unwrap_or_else(|| "".into());
            let before = memchr::memchr(b'@', &name).map_or(&*name, |at| &name[..at]);
            let is = |user: &String| {
                let full = user.contains('@') || user == "<none>";
                user.as_bytes() == if full { &*name } else { before }
            };
            users(arguments).iter().any(is)
        };
        ads.retain(asked_for);
    }
    Ok(ads)
}

/// The users named; with saved ads there is no POOL before them.
fn users(arguments: &UserprioArguments) -> Vec<String> {
    let first = arguments.pool.iter().filter(|_| arguments.inputfile.is_some() || arguments.live.is_given());
    first.map(|name| name.display().to_string()).chain(arguments.users.iter().cloned()).collect()
}

fn listing(arguments: &UserprioArguments, ads: &[ClassAd]) -> Listing {
    let asked = [
        (arguments.priority, Columns::PRIORITIES),
        (arguments.usage, Columns::USAGE),
        (arguments.quotas, Columns::QUOTAS),
        (arguments.most, Columns::MOST),
        (arguments.all, Columns::ALL),
        (arguments.surplus, Columns::SURPLUS),
        (arguments.sortkey, Columns::SORT_KEY),
        (arguments.groupid, Columns::GROUP),
        (arguments.order, Columns::ORDER),
    ];
    let columns = asked.iter().filter(|(asked, _)| *asked).fold(Columns::NONE, |all, (_, one)| all.with(*one));
    let zone = Zone::local();
    let settings = language::settings();
    let updated = ads.first().and_then(|ad| AdReader::of(ad, &settings).integer("LastUpdate")).unwrap_or(0);
    let now = arguments.now.map_or(updated, Now::seconds);
    let active_since = match arguments.activefrom.as_deref() {
        _ if arguments.allusers || !users(arguments).is_empty() => -1,
        Some([month, day, year]) => midnight(*month, *day, *year, &zone),
        _ => now.saturating_sub(DAY),
    };
    Listing {
        columns,
        layout: if arguments.hierarchical {
            Layout::Hierarchical
        } else if arguments.flat {
            Layout::Flat
        } else if arguments.grouporder {
            Layout::GroupsFirst
        } else {
            Layout::Automatic
        },
        quotas: arguments.quotas || arguments.surplus,
        rollup: arguments.grouprollup,
        active_since,
        zone,
    }
}

/// The beginning of a day, epoch seconds; years below 50 are those of this century.
fn midnight(month: i64, day: i64, year: i64, zone: &Zone) -> i64 {
    let year = match year {
        ..50 => year + 2000,
        50..=1900 => year + 1900,
        _ => year,
    };
    let mut date = Civil::from_seconds(0, 0);
    (date.year, date.month, date.day) = (year.clamp(1970, 9999), month.clamp(1, 12), day.clamp(1, 31));
    let local = date.to_seconds();
    local - i64::from(zone.offset_at(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_this_command_may_have_one_dash() {
        let spell = |line: &str| -> Vec<String> {
            let spelled = spelled(line.split(' ').map(OsString::from));
            spelled.into_iter().map(|argument| argument.into_string().unwrap()).collect()
        };
        assert_eq!(spell("c userprio p -setprio a@x -1 -h"), ["c", "userprio", "p", "--setprio", "a@x", "-1", "-h"]);
        assert_eq!(spell("c eval -x -foo"), ["c", "eval", "-x", "-foo"]);
        assert_eq!(spell("c userprio --all -usage"), ["c", "userprio", "--all", "--usage"]);
        let set = ["c", "userprio", "p", "--af-letters=,l", "--af", "Name"];
        assert_eq!(spell("c userprio p -af:,l Name"), set);
        assert_eq!(spell("c userprio p --autoformat:,l Name"), set);
    }

    /// 2026-11-20 00:00 UTC is 1795132800 (`date -u -d 2026-11-20 +%s`).
    #[test]
    fn days_begin_at_midnight() {
        assert_eq!(midnight(11, 20, 2026, &Zone::utc()), 1_795_132_800);
        assert_eq!(midnight(11, 20, 26, &Zone::utc()), 1_795_132_800);
    }
}
