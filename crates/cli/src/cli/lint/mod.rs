//! `classmate lint FILE…`

mod baseline;
mod fix;
mod reading;
mod watch;

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;

use crate::cli::input::{self, Notes};
use crate::cli::live::{LiveArguments, LiveSnapshot};
use crate::cli::settings::{contents, of_pool};
use crate::cli::{
    FORMATS, Failure, Form, Reply, Streams, columns, complain, language, print, print_result, raw_output,
    source_output, text_output, words, write_json,
};
use crate::report::config::assignment;
use crate::report::lint::Suppressed;
use crate::report::{counted, lint as report};
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::internal::format::detect::detect_ads;
use classmate::internal::span::Position;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, Format, ParseOptions, Reader, Semantics, Span};
use classmate_advice::internal::lint::ads::AdLinter;
use classmate_advice::internal::lint::allowed::allow;
use classmate_advice::internal::lint::attribute_lines::AttributeLines;
use classmate_advice::internal::lint::catalogue;
use classmate_advice::internal::lint::expression::{LintContext, Role};
use classmate_advice::internal::lint::schema::AdSchema;
use classmate_advice::internal::lint::versions::LintVersions;
use classmate_advice::internal::lint::{config, expression, placed, shifted_fix, submit, suite};
use classmate_advice::internal::submit::{DagMacros, is_submit};
use classmate_config::internal::config::is_name_byte;
use classmate_config::{Config, Context};
use classmate_pool::internal::negotiate::directory::SlotAttributes;

use baseline::Baseline;
pub(super) use fix::COMPRESSED;
use watch::WatchedFiles;

/// Check configuration, ads, submit files and expressions for mistakes.
///
/// Reports errors and likely mistakes. FILE is a configuration file, a file of ads (optionally compressed), a submit
/// file, a file of policy tests, or the directory of a pool. Its type is detected from its name and its first lines,
/// unless --as is given. Several configuration files are read in sequence, like a daemon does. Findings about clauses
/// (`always-false`, `contradiction`, `implied-clause` and so on) are proven: they hold for all ads.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate lint examples/pool/config
  classmate lint examples/stuck/slots.ads examples/stuck/jobs.ads
  classmate lint --expression 'TARGET.OpSys == LINUX && TARGET.Memory > 2G'
  classmate lint examples/pool/config --allow redefined-knob --format sarif > lint.sarif
  classmate lint examples/groups/config --fix
  classmate lint examples/groups/config --unsafe-fixes --diff
  classmate lint examples/stuck --statistics
  classmate lint --pool cm.example.org
  classmate lint --list

A comment `# classmate: allow CODE` suppresses a rule in the statement after it. \
The table `[lint]` of `classmate.toml` has options for all who work in a directory (docs/install.md). \
docs/lint.md has an example for each code.

Exit status: 0 without errors, 1 if a file cannot be read or would change (--diff), 2 with errors. \
Under --deny-warnings, a warning is an error.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct LintArguments {
    /// Files to check (`-` for standard input)
    #[arg(value_name = "FILE", required_unless_present_any = ["expressions", "list", "collectors"])]
    files: Vec<PathBuf>,
    /// An expression to check, as the Requirements of a job; repeatable
    #[arg(long = "expression", short = 'e', value_name = "EXPR", allow_hyphen_values = true)]
    expressions: Vec<String>,
    /// Type of the files [default: detected from their names and contents]
    #[arg(long = "as", value_name = "KIND", value_enum)]
    kind: Option<FileKind>,
    /// Report this rule only; repeatable
    #[arg(long, value_name = "CODE")]
    select: Vec<String>,
    /// Report this rule also if --select or --allow leave it out, such as those of `classmate.toml`; repeatable
    #[arg(long, value_name = "CODE")]
    extend: Vec<String>,
    /// Suppress this rule; repeatable
    #[arg(long, visible_alias = "ignore", value_name = "CODE")]
    allow: Vec<String>,
    /// Suppress what this result of `lint --format json` contains already
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Print the number of findings of each rule instead of the findings
    #[arg(long)]
    statistics: bool,
    /// Versions in which expressions must mean the same (`version-dependent`), with commas in between [default: those that
    /// the ads advertise, otherwise 23.0 and 25.14]
    #[arg(long, value_name = "SERIES", value_delimiter = ',', value_parser = language::parse_version)]
    versions: Vec<Semantics>,
    /// Treat warnings as errors
    #[arg(long)]
    deny_warnings: bool,
    /// Apply safe fixes in place; report everything else
    #[arg(long)]
    fix: bool,
    /// Also apply fixes that may change the meaning of a correct text, such as the correction of a name
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show the changes of the fixes as a diff; do not write, and count the other findings
    #[arg(long, conflicts_with_all = ["format", "statistics"])]
    diff: bool,
    /// Check again whenever a file changes, until interrupted
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes", "diff", "collectors"])]
    watch: bool,
    /// List all codes
    #[arg(long)]
    list: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMS), default_value = "text")]
    format: Form,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum FileKind {
    /// Configuration files
    Config,
    /// Ads in any format
    Ads,
    /// Submit files
    Submit,
    /// One expression per file
    Expression,
    /// Policy tests
    Test,
}

const FORMS: [(&str, &str, Form); 5] =
    [FORMATS[0], FORMATS[1], FORMATS[2], FORMATS[3], ("sarif", "A SARIF 2.1.0 log", Form::Sarif)];

pub(super) fn run(arguments: &LintArguments, streams: Streams) -> Result<ExitCode, Failure> {
    if arguments.list {
        print(text_output(), report::list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut codes = arguments.allow.iter().chain(&arguments.select).chain(&arguments.extend);
    if let Some(unknown) = codes.find(|code| catalogue::find(code).is_none()) {
        let list = "`classmate lint --list` lists all codes";
        let help = match near::closest(unknown.as_bytes(), catalogue::CHECKS.iter().map(|check| check.code)) {
            Some(meant) => format!("did you mean `{meant}`? {list}"),
            None => list.to_owned(),
        };
        return Err(Failure::input(format!("unknown code `{unknown}`")).help(&help));
    }
    let known = arguments.baseline.as_deref().map(Baseline::read).transpose()?.unwrap_or_default();
    let live = live(arguments, streams)?;
    if arguments.watch {
        return watched(arguments, &known, streams);
    }
    let mut findings = all(arguments, live.as_ref(), &known)?;
    findings.notes.show(streams.err);
    if arguments.diff {
        let changes = fix::show(&findings.alarms, arguments.unsafe_fixes, streams)?;
        findings.alarms.retain(|alarm| !fix::is_wanted(alarm, arguments.unsafe_fixes));
        if !findings.alarms.is_empty() {
            complain(&format!("{} without such a fix", counted(findings.alarms.len() as u64, "finding")));
        }
        let status = status(arguments, &findings.alarms);
        return Ok(if changes && status == ExitCode::SUCCESS { ExitCode::from(1) } else { status });
    }
    if arguments.fix || arguments.unsafe_fixes {
        let mut changed = 0;
        // A change may make room for another.
        for round in 0..MAX_FIX_ROUNDS {
            let edits = fix::apply(&findings.alarms, arguments.unsafe_fixes, round == 0)?;
            if edits == 0 {
                break;
            }
            changed += edits;
            findings = all(arguments, live.as_ref(), &known)?;
        }
        if changed > 0 {
            complain(&format!("{} made", counted(changed, "change")));
        }
    }
    show(arguments, &findings, streams)
}

/// Prints findings; returns the exit status.
fn show(arguments: &LintArguments, findings: &Findings, streams: Streams) -> Result<ExitCode, Failure> {
    let Findings { alarms, suppressed, .. } = findings;
    match arguments.format {
        Form::Sarif => print(raw_output(), |out| write_json(out, &report::sarif(alarms)))?,
        Form::Text if arguments.statistics => {
            print(text_output(), |out| report::statistics(out, alarms, *suppressed))?;
        }
        Form::Text => print(source_output(), |out| report::write(out, alarms, *suppressed, streams.out, columns()))?,
        form => {
            let rows = report::rows(alarms);
            let result = report::json(alarms, &rows);
            print_result(form, &Reply { schema: "lint/1", result: &result, rows: &rows }, |_| Ok(()))?;
        }
    }
    Ok(status(arguments, alarms))
}

/// The exit status for some findings.
fn status(arguments: &LintArguments, alarms: &[Diagnostic]) -> ExitCode {
    let is_denied = |severity| severity == Severity::Error || severity == Severity::Warning && arguments.deny_warnings;
    let wrong = alarms.iter().any(|alarm| is_denied(alarm.severity));
    if wrong { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// Checks the files each time that one of them changes, also one that a configuration includes; does not end.
fn watched(arguments: &LintArguments, known: &Baseline, streams: Streams) -> Result<ExitCode, Failure> {
    if arguments.files.is_empty() || arguments.files.iter().any(|file| file.as_os_str() == "-") {
        return Err(Failure::input("`--watch` needs files: expressions and standard input do not change"));
    }
    let (named, mut included) = (&arguments.files, Vec::new());
    loop {
        let (of_named, mut of_included) = (WatchedFiles::of(named), WatchedFiles::of(&included));
        match all(arguments, None, known) {
            Ok(findings) => {
                if findings.included != included {
                    included.clone_from(&findings.included);
                    of_included = WatchedFiles::of(&included);
                }
                findings.notes.show(streams.err);
                show(arguments, &findings, streams)?;
            }
            // A file may be missing for a moment.
            Err(failure) => failure.show(),
        }
        watch::wait(&[(&of_named, named), (&of_included, &included)]);
    }
}

/// Most rounds of changes.
const MAX_FIX_ROUNDS: usize = 20;

/// The findings of all inputs.
struct Findings {
    alarms: Vec<Diagnostic>,
    suppressed: Suppressed,
    /// About versions of ads.
    notes: Notes,
    /// The files of the configurations.
    included: Vec<PathBuf>,
}

/// The diagnostics of all inputs, without those that comments, options and the baseline suppress.
fn all(arguments: &LintArguments, live: Option<&LiveSnapshot>, known: &Baseline) -> Result<Findings, Failure> {
    let mut alarms = Vec::new();
    let mut suppressed = Suppressed::default();
    let mut notes = Notes::default();
    let schema = Arc::new(schema(arguments, live)?);
    let mut dags = DagMacros::default();
    for (at, text) in arguments.expressions.iter().enumerate() {
        let name =
            if arguments.expressions.len() == 1 { "expression".to_owned() } else { format!("expression {}", at + 1) };
        alarms.extend(of_expression(&name, text.as_bytes(), &schema.versions));
    }
    if let Some(live) = live {
        alarms.extend(of_live_pool(live, &schema)?);
    }
    let (mut configs, mut included) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        if path.is_dir() {
            configs.push(path.clone());
            let ads = ["slots.ads", "jobs.ads"].map(|name| path.join(name));
            if of_pool(path)?.is_empty() && !ads.iter().any(|file| file.is_file()) {
                let shown = path.display();
                return Err(Failure::input(format!("skipped `{shown}`: it is not the directory of a pool")).help(
                    "expected `condor_config`, `config.d`, `config`, `slots.ads` or `jobs.ads`; name other files on \
                    the command line",
                ));
            }
            for file in ads.iter().filter(|file| file.is_file()) {
                alarms.extend(of_file(file, FileKind::Ads, (&schema, &mut dags), &mut suppressed, &mut notes)?);
            }
            continue;
        }
        if let Some(alarm) = binary(path)? {
            alarms.push(alarm);
            continue;
        }
        match arguments.kind.map_or_else(|| detect(path), Ok)? {
            FileKind::Config => configs.push(path.clone()),
            kind => alarms.extend(of_file(path, kind, (&schema, &mut dags), &mut suppressed, &mut notes)?),
        }
    }
    if !configs.is_empty() {
        let reading = reading::read(&configs)?;
        let mut found = config::lint_beside(&reading.config, Some(&schema));
        found.extend(reading.errors.iter().map(|error| config::refusal(&reading.config, error)));
        let mut seen = BTreeSet::new();
        for source in reading.config.sources().iter().filter(|source| seen.insert(Arc::clone(&source.name))) {
            suppressed.allowed += allow(&source.name, &source.text, &mut found);
            included.push(PathBuf::from(&*source.name));
        }
        alarms.extend(found);
    }
    let is_code = |alarm: &Diagnostic, codes: &[String]| codes.iter().any(|code| code == alarm.code);
    alarms.retain(|alarm| {
        let selected = arguments.select.is_empty() || is_code(alarm, &arguments.select);
        selected && !is_code(alarm, &arguments.allow) || is_code(alarm, &arguments.extend)
    });
    suppressed.known = known.remove(&mut alarms);
    Ok(Findings { alarms, suppressed, notes, included })
}

/// Reads the live pool, if one is given.
fn live(arguments: &LintArguments, streams: Streams) -> Result<Option<LiveSnapshot>, Failure> {
    if !arguments.live.is_given() {
        return Ok(None);
    }
    let mut notes = Notes::default();
    let read = arguments.live.read(SlotAttributes::All, None, true, &mut notes)?;
    notes.show(streams.err);
    Ok(Some(read))
}

/// The diagnostics of a live pool: of its slots and jobs, and of the configuration of its negotiator, whose values have
/// their macros expanded.
fn of_live_pool(live: &LiveSnapshot, schema: &Arc<AdSchema>) -> Result<Vec<Diagnostic>, Failure> {
    let mut linter = AdLinter::within(Arc::clone(schema));
    for (name, ads) in [("slots of the pool", &live.snapshot.slots), ("jobs of the pool", &live.snapshot.jobs)] {
        let name = Arc::from(name);
        for ad in ads {
            linter.ad(&name, ad, &|_| 0);
        }
    }
    let mut alarms = linter.finish();
    let mut text = Vec::new();
    for (name, value) in live.settings.iter().flatten() {
        assignment(&mut text, name.as_bytes(), value.as_bytes())
            .map_err(|error| Failure::reading("the configuration", &error))?;
    }
    let mut config = Config::new(Context { semantics: language::chosen(), ..Context::default() });
    config.add("configuration of the negotiator", &text)?;
    alarms.extend(config::lint_beside(&config, Some(schema)));
    Ok(alarms)
}

/// A diagnostic of a file that is not text, such as a program: its first bytes contain a zero.
fn binary(path: &Path) -> Result<Option<Diagnostic>, Failure> {
    const LOOKED_AT: u64 = 1024;
    if !path.is_file() {
        return Ok(None);
    }
    let source = input::open(path)?;
    let mut start = Vec::new();
    let read = source.reader.take(LOOKED_AT).read_to_end(&mut start);
    read.map_err(|error| Failure::reading(&source.name, &error))?;
    let Some(zero) = memchr::memchr(0, &start) else { return Ok(None) };
    let first = memchr::memrchr(b'\n', &start[..zero]).map_or(0, |newline| newline + 1);
    let finding =
        Diagnostic::error("the file is not text: it contains a zero byte", Span::new(zero - first, zero - first + 1));
    let finding = finding.help("configuration, ads and submit files are UTF-8 text").code("syntax");
    let excerpt = Excerpt { text: start[first..=zero].to_vec(), subject: None };
    let name = Arc::from(&*source.name);
    Ok(Some(placed(finding, &name, Position::of(&start, zero).line, excerpt, None)))
}

/// The kind of a file, by its name or else by its text.
pub(super) fn detect(path: &Path) -> Result<FileKind, Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".ads", ".ad", ".classad", ".json", ".jsonl", ".xml", ".gz"]) {
        return Ok(FileKind::Ads);
    }
    if ends(&[".toml"]) {
        return Ok(FileKind::Test);
    }
    if ends(&[".sub", ".submit", ".jdl"]) {
        return Ok(FileKind::Submit);
    }
    let folder = path.parent().and_then(Path::file_name).map(|folder| folder.to_string_lossy().into_owned());
    let is_named = ends(&[".conf", ".config", "condor_config"]) || name == "config";
    // `condor_submit` takes a file of any name.
    let may_be_submit = name == "condor_config" && path.is_file();
    if (is_named || folder.as_deref() == Some("config.d")) && !may_be_submit {
        return Ok(FileKind::Config);
    }
    let text = if input::is_pipe(path) { input::peek(path)? } else { contents(path)? };
    if may_be_submit {
        return Ok(if is_submit(&text) { FileKind::Submit } else { FileKind::Config });
    }
    // A configuration can begin with a line `[section]`.
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let is_section = first.is_some_and(|line| {
        let name = line.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        name.is_some_and(|name| !name.is_empty() && !name.iter().any(|byte| b" \t=".contains(byte)))
    });
    // `NAME @=tag` begins a value of several lines, which may be an ad.
    let is_statement =
        |line: &[u8]| memchr::memmem::find(line, b"@=").is_some_and(|at| is_config_name(line[..at].trim_ascii()));
    if text.split(|byte| *byte == b'\n').any(is_statement) {
        return Ok(FileKind::Config);
    }
    if !is_section && detect_ads(&text, &options()) != Format::Long {
        return Ok(FileKind::Ads);
    }
    if is_submit(&text) {
        return Ok(FileKind::Submit);
    }
    let ad = [b"\nMyType = ".as_slice(), b"\nRequirements = ", b"\nClusterId = "];
    let is_ad = ad.iter().any(|line| text.starts_with(&line[1..]) || memchr::memmem::find(&text, line).is_some());
    Ok(if is_ad { FileKind::Ads } else { FileKind::Config })
}

fn is_config_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| is_name_byte(*byte))
}

/// The reading of ads.
fn options() -> ParseOptions {
    ParseOptions { semantics: language::chosen(), ..ParseOptions::default() }
}

/// The attributes of all ads that are named, pipes apart, which are read once.
fn schema(arguments: &LintArguments, live: Option<&LiveSnapshot>) -> Result<AdSchema, Failure> {
    let mut schema = AdSchema::default();
    let ads = live.map(|live| live.snapshot.slots.iter().chain(&live.snapshot.jobs));
    ads.into_iter().flatten().for_each(|ad| schema.add(ad));
    for path in &arguments.files {
        if path.is_dir() {
            for name in ["slots.ads", "jobs.ads"] {
                gather(&path.join(name), &mut schema);
            }
        } else if !input::is_pipe(path) && arguments.kind.map_or_else(|| detect(path), Ok)? == FileKind::Ads {
            gather(path, &mut schema);
        }
    }
    schema.versions.read = language::chosen();
    arguments.versions.iter().copied().for_each(language::note_newer);
    let known = if arguments.versions.is_empty() { schema.advertised() } else { arguments.versions.clone() };
    if !known.is_empty() {
        schema.versions.alike = known;
    }
    Ok(schema)
}

/// Adds the ads of a file to the schema; read errors are reported elsewhere.
fn gather(path: &Path, schema: &mut AdSchema) {
    let Ok(source) = input::open(path) else { return };
    let Ok(reader) = Reader::detect(source.reader, &options()) else { return };
    // After a fault of the file, there are no more ads.
    reader.map_while(Result::ok).for_each(|ad| schema.add(&ad));
}

fn of_file(
    path: &Path,
    kind: FileKind,
    (schema, dags): (&Arc<AdSchema>, &mut DagMacros),
    suppressed: &mut Suppressed,
    notes: &mut Notes,
) -> Result<Vec<Diagnostic>, Failure> {
    let mut source = input::open(path)?;
    let text = source.text()?;
    if kind == FileKind::Ads {
        language::note_advertised(&text, notes);
    }
    let name: Arc<str> = Arc::from(source.name.as_str());
    let mut alarms = of_text(path, (&name, text.as_slice()), kind, (schema, dags))?;
    suppressed.allowed += allow(&name, &text, &mut alarms);
    Ok(if kind == FileKind::Submit { once(alarms) } else { alarms })
}

/// Of findings of a file that say the same, the first one, with the lines of the others; those with a fix remain.
fn once(alarms: Vec<Diagnostic>) -> Vec<Diagnostic> {
    /// Lines that are named.
    const MOST: usize = 8;
    let mut kept: Vec<(Diagnostic, Vec<u64>)> = Vec::with_capacity(alarms.len());
    let mut first: HashMap<(&str, String, Option<Box<str>>), usize> = HashMap::new();
    for alarm in alarms {
        let line = alarm.range().0.line;
        let key = (alarm.code, alarm.message.clone(), alarm.help.clone());
        match first.get(&key).filter(|_| alarm.fix.is_none()) {
            Some(at) => kept[*at].1.push(line),
            None => {
                if alarm.fix.is_none() {
                    first.insert(key, kept.len());
                }
                kept.push((alarm, Vec::new()));
            }
        }
    }
    let shown = |(alarm, lines): (Diagnostic, Vec<u64>)| {
        let named: Vec<String> = lines.iter().take(MOST).map(ToString::to_string).collect();
        match lines.len() {
            0 => alarm,
            1 => alarm.more_help(format!("the same in line {}", named[0])),
            count if count > MOST => {
                alarm.more_help(format!("the same in lines {} and {} more", named.join(", "), count - MOST))
            }
            _ => alarm.more_help(format!("the same in lines {}", named.join(", "))),
        }
    };
    kept.into_iter().map(shown).collect()
}

fn of_text(
    path: &Path,
    (name, text): (&Arc<str>, &[u8]),
    kind: FileKind,
    (schema, dags): (&Arc<AdSchema>, &mut DagMacros),
) -> Result<Vec<Diagnostic>, Failure> {
    Ok(match kind {
        FileKind::Submit => submit::lint_given(name, text, &schema.versions, dags.given(path)),
        FileKind::Test => {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            suite::lint(name, text, &schema.versions, &|file| contents(&folder.join(file)).ok())
        }
        FileKind::Expression => of_expression(name, text.trim_ascii_end(), &schema.versions),
        _ => {
            let mut linter = AdLinter::within(Arc::clone(schema));
            match detect_ads(text, &options()) {
                Format::Long => linter.long(name, text),
                Format::New => linter.written(name, text),
                _ => return of_other_ads(linter, name, text),
            }
            linter.finish()
        }
    })
}

/// The diagnostics of ads in a format for tools: of their values.
fn of_other_ads(mut linter: AdLinter, name: &Arc<str>, text: &[u8]) -> Result<Vec<Diagnostic>, Failure> {
    let cannot = |error| Failure::reading(name, &error);
    let mut lines = if detect_ads(text, &options()) == Format::Xml {
        linter.elements(name, text);
        AttributeLines::of_xml(text)
    } else {
        AttributeLines::of_json(text)
    };
    let mut reader = Reader::detect(text, &options()).map_err(cannot)?;
    for ad in reader.by_ref() {
        let ad = ad.map_err(cannot)?;
        lines.turn_to(&ad);
        linter.ad(name, &ad, &|attribute| lines.line(attribute));
    }
    let faults = reader.report().faults.iter().map(|fault| {
        let excerpt = Excerpt { text: fault.excerpt.clone(), subject: None };
        placed(Diagnostic::from(&fault.error).code("syntax"), name, fault.position.line, excerpt, None)
    });
    Ok(faults.collect::<Vec<_>>().into_iter().chain(linter.finish()).collect())
}

/// Tests whether an expression is a call whose result is a string, such as `strcat(Owner, "@pool")`: a value, not a condition.
fn is_string_call(text: &[u8]) -> bool {
    let Ok(expr) = parse_expr(text, &ParseOptions::default()) else { return false };
    let tree = expr.tree();
    matches!(tree.node(tree.bare(expr.root())), Node::Call(_))
        && Analysis::new(tree, &unknown).values(expr.root()).has_text()
}

fn of_expression(name: &str, text: &[u8], versions: &LintVersions) -> Vec<Diagnostic> {
    let role = Role { condition: !is_string_call(text), ..Role::default() };
    let name = Arc::from(name);
    let alarm = |found: Diagnostic| {
        let (fix, excerpt) = (shifted_fix(&found, 0), Excerpt { text: text.to_vec(), subject: None });
        placed(found, &name, 1, excerpt, fix)
    };
    let context = LintContext { versions, ..LintContext::of(text, Quoting::New, role) };
    expression::lint(&context).into_iter().map(alarm).collect()
}
