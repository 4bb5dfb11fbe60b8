//! `classmate ads FILE…`

mod meter;
mod seen;
mod sink;
mod wanted;

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::cli::ads::meter::Meter;
use crate::cli::ads::seen::Seen;
use crate::cli::ads::sink::{Sink, Values, values};
use crate::cli::ads::wanted::{Wanted, names_in};
use crate::cli::eval::warn;
use crate::cli::input::{self, Notes};
use crate::cli::live::CollectorArguments;
use crate::cli::{
    FORMATS, Failure, Form, Streams, World, line_output, parsed_with, raw_output, text_output, words, written,
};
use crate::report::{self};
use classmate::internal::format::Layout;
use classmate::internal::format::json::JsonWriter;
use classmate::internal::value::compare::folded_order;
use classmate::{ClassAd, EvalOptions, Expr, Format, Name, ParseOptions, Value};
use classmate_wire::{AdType, Query};

/// Convert, filter and project ads, from files or from a live pool.
///
/// Reads files of any size and writes the ads that satisfy the constraint. The input format is detected from the first
/// lines unless --from is given; listings of Slurm are read as ads of its jobs or nodes. Memory use is one ad plus all attribute names, unless --sort, --format text or --format csv needs
/// all ads; --unique adds 16 bytes per distinct output. With --pool, the daemons of a pool are asked for the ads, and apply
/// the constraint and the projection themselves.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate ads examples/pool/slots.ads --to json
  classmate ads examples/pool/slots.ads --constraint 'Memory > 4096 && State == \"Unclaimed\"' --count
  classmate ads examples/pool/slots.ads --attributes Name,Cpus,Memory --format text --sort Memory
  classmate ads examples/pool/slots.ads --attributes Name,Memory --template '%-30s %8d MB\\n'
  condor_q -long | classmate ads - --attributes Owner --values --unique
  classmate ads --pool cm.example.org --constraint 'State == \"Unclaimed\"' --attributes Name,Memory --format text
  classmate ads --pool cm.example.org --type jobs --attributes Owner --values --unique

Exit status: 0 if all input was read, 1 if a file cannot be read or some input was skipped, 2 on a usage error, an expression that does not parse, or a pool that cannot be read.")]
pub(super) struct AdsArguments {
    /// Files of ads, optionally compressed with gzip (`-` for standard input)
    #[arg(required_unless_present = "collectors", conflicts_with = "collectors")]
    files: Vec<PathBuf>,
    /// Input format
    #[arg(long, value_name = "FORM", value_parser = words(&INPUTS), default_value = "auto")]
    from: FormatOrDetect,
    /// Output format of ads [default: format of the first file]
    #[arg(long, value_name = "FORM", value_parser = words(&OUTPUTS))]
    to: Option<(Format, Layout)>,
    /// Keep the ads for which EXPR is true or a nonzero number
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    constraint: Option<String>,
    /// Keep only these attributes; values are printed in this order
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    attributes: Vec<String>,
    /// Print the values of the attributes in this format, instead of ads
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMATS), requires = "attributes", conflicts_with = "to")]
    format: Option<Form>,
    /// Print the values of the attributes, separated by spaces, one line per ad
    #[arg(long, requires = "attributes", conflicts_with_all = ["to", "format"])]
    values: bool,
    /// Print the values of the attributes in a template such as '%-20s %d\n' with s v V d i f e g
    #[arg(long, value_name = "TEMPLATE", requires = "attributes", conflicts_with_all = ["to", "format", "values"])]
    template: Option<String>,
    /// Sort the ads by this value: numbers, then strings, then all other values
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Omit output that was already printed
    #[arg(long)]
    unique: bool,
    /// Print only the number of ads; with --unique, the number of distinct ads
    #[arg(long, conflicts_with_all = ["to", "format", "values", "template"])]
    count: bool,
    /// Type of the ads to read from a live pool
    #[arg(long = "type", value_name = "TYPE", value_parser = words(&TYPES), default_value = "slots", requires = "collectors")]
    kind: LiveType,
    /// Read at most this many ads from each daemon of a live pool
    #[arg(long, value_name = "NUMBER", requires = "collectors")]
    limit: Option<u64>,
    #[command(flatten)]
    world: World,
    #[command(flatten)]
    live: CollectorArguments,
}

/// The type of ads of a live pool; none: jobs, which access points have. The name keeps clap from reading `Option` as an
/// optional argument.
type LiveType = Option<AdType>;

const TYPES: [(&str, &str, LiveType); 9] = [
    ("slots", "`condor_status`", Some(AdType::Slot)),
    ("jobs", "`condor_q -global -allusers`", None),
    ("submitters", "`condor_status -submitters`", Some(AdType::Submitter)),
    ("accounting", "`condor_userprio`: priorities and usage, from the negotiator", Some(AdType::Accounting)),
    ("schedds", "`condor_status -schedd`", Some(AdType::AccessPoint)),
    ("negotiators", "`condor_status -negotiator`", Some(AdType::Negotiator)),
    ("masters", "`condor_status -master`", Some(AdType::Master)),
    ("collectors", "`condor_status -collector`", Some(AdType::Collector)),
    ("any", "`condor_status -any`", Some(AdType::Any)),
];

/// A format, or none to detect it; the name keeps clap from reading `Option` as an optional argument.
type FormatOrDetect = Option<Format>;

const INPUTS: [(&str, &str, FormatOrDetect); 6] = [
    ("auto", "Detect from the first lines", None),
    ("long", "`condor_status -long`", Some(Format::Long)),
    ("new", "New syntax", Some(Format::New)),
    ("json", "JSON objects, or a list of objects", Some(Format::Json)),
    ("jsonl", "One JSON object per line", Some(Format::JsonLines)),
    ("xml", "`condor_status -xml`", Some(Format::Xml)),
];

const OUTPUTS: [(&str, &str, (Format, Layout)); 7] = [
    ("long", "One attribute per line", (Format::Long, Layout::Usual)),
    ("new", "New syntax, one ad per line", (Format::New, Layout::Usual)),
    ("pretty", "New syntax, one attribute per line", (Format::New, Layout::Pretty)),
    ("json", "A JSON list", (Format::Json, Layout::Usual)),
    ("jsonl", "One JSON object per line", (Format::JsonLines, Layout::Usual)),
    ("xml", "XML, one attribute per line", (Format::Xml, Layout::Usual)),
    ("xml-compact", "XML, one ad per line", (Format::Xml, Layout::Compact)),
];

pub(super) fn run(arguments: &AdsArguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let constraint = expression(arguments.constraint.as_deref(), "--constraint", &settings, streams)?;
    let key = expression(arguments.sort.as_deref(), "--sort", &settings, streams)?;
    let attributes = names(&arguments.attributes)?;
    let values = values(arguments, attributes.len())?;
    let out = match values {
        Some(Values::Table) => text_output(),
        Some(Values::Line | Values::Template(_)) => line_output(),
        _ => raw_output(),
    };
    let mut sink = Sink {
        out: Some(out),
        color: streams.out,
        attributes: &attributes,
        wanted: Wanted::new(attributes.clone()),
        meter: Meter::new(settings.clone()),
        values,
        begun: false,
        writer: None,
        to: arguments.to.map(|(format, _)| format),
        layout: arguments.to.map(|(_, layout)| layout).unwrap_or_default(),
        seen: arguments.unique.then(Seen::default),
        rows: Vec::new(),
        count: arguments.count.then_some(0),
        lost: 0,
        json: JsonWriter::default(),
    };
    let mut selection = Selection {
        referenced: Wanted::new([&constraint, &key].into_iter().flatten().flat_map(names_in).collect()),
        constraint,
        key,
        first_names: Vec::new(),
        sorted: Vec::new(),
    };
    let mut notes = Notes::default();
    let mut unread: Vec<Failure> = Vec::new();
    if arguments.live.is_given() {
        sink.to.get_or_insert(Format::Long);
        let query = query(arguments, &selection, &attributes);
        let mut done = Ok(());
        let read = arguments.live.each_ad(arguments.kind, &query, &mut notes, &mut |ad| {
            done = selection.ad(ad, &mut sink);
            if done.is_err() || sink.meter.exhausted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if done.is_err() {
            return written(done);
        }
        if read.is_err() {
            notes.show(streams.err);
        }
        unread.extend(read?.into_iter().map(Failure::input));
        if sink.meter.exhausted() {
            return Err(too_much_work());
        }
    }
    // True if the memory grows with the number of ads.
    let keeps =
        selection.key.is_some() || sink.seen.is_some() || matches!(sink.values, Some(Values::Table | Values::Csv));
    for path in &arguments.files {
        // A file that cannot be read does not keep the others from being read.
        let (mut reader, name, room) = match input::open_ads(path, arguments.from, &settings, &mut notes) {
            Ok(opened) => opened,
            Err(failure) => {
                unread.push(failure);
                continue;
            }
        };
        sink.to.get_or_insert(reader.format());
        for ad in reader.by_ref() {
            let ad = ad.and_then(|ad| if keeps { room.keep(&ad).map(|()| ad) } else { Ok(ad) });
            let done = match ad {
                Ok(ad) => selection.ad(ad, &mut sink),
                Err(error) => {
                    unread.push(Failure::reading(&name, &error));
                    break;
                }
            };
            if done.is_err() {
                return written(done);
            }
            if sink.meter.exhausted() {
                return Err(too_much_work());
            }
        }
        notes.add(&name, reader.report());
    }
    written(selection.rest(&mut sink).and_then(|()| sink.finish()))?;
    if sink.meter.exhausted() {
        return Err(too_much_work());
    }
    warn_of_missing(&selection, &sink.wanted, &mut notes);
    notes.show(streams.err);
    outcome(sink.lost, sink.to, unread)
}

/// The question to a live pool: what the constraint, the order and the output need.
fn query(arguments: &AdsArguments, selection: &Selection, attributes: &[Name]) -> Query {
    let mut query = Query::all();
    if let Some(constraint) = &selection.constraint {
        query = query.matching(constraint);
    }
    if !attributes.is_empty() {
        let others = [&selection.constraint, &selection.key].into_iter().flatten().flat_map(names_in);
        query = query.attributes(attributes.iter().copied().chain(others).map(Name::display));
    }
    match arguments.limit {
        Some(limit) => query.limit(limit),
        None => query,
    }
}

/// The ads that are kept, in their order.
struct Selection {
    constraint: Option<Expr>,
    key: Option<Expr>,
    /// The attributes that both refer to.
    referenced: Wanted,
    /// The names of the first ad.
    first_names: Vec<Name>,
    /// The ads that are kept until all are read, with the value they are sorted by.
    sorted: Vec<(Value, ClassAd)>,
}

impl Selection {
    /// Looks at an ad, and hands it on unless it is left out or has to wait for the others.
    fn ad(&mut self, ad: ClassAd, sink: &mut Sink<'_>) -> std::io::Result<()> {
        if self.first_names.is_empty() {
            self.first_names = ad.names().collect();
        }
        self.referenced.meet(&ad);
        sink.meter.meet(&ad);
        if let Some(constraint) = &self.constraint {
            let value = sink.meter.eval(&ad, constraint);
            if !value.is_ok_and(|value| value.as_condition() == Some(true)) {
                return Ok(());
            }
        }
        match &self.key {
            Some(key) => self.sorted.push((sink.meter.eval(&ad, key).unwrap_or(Value::Error), ad)),
            None => sink.ad(&ad)?,
        }
        Ok(())
    }

    /// Hands on the ads that waited, in their order.
    fn rest(&mut self, sink: &mut Sink<'_>) -> std::io::Result<()> {
        self.sorted.sort_by(|(a, _), (b, _)| order(a, b));
        self.sorted.iter().try_for_each(|(_, ad)| sink.ad(ad))
    }
}

fn too_much_work() -> Failure {
    Failure::new("evaluation limit reached")
        .help("the limit for all ads together is 20,000,000 steps plus 100 per attribute")
}

/// Says which attributes no ad had.
fn warn_of_missing(selection: &Selection, wanted: &Wanted, notes: &mut Notes) {
    // An attribute that some ads may lack is often asked for; a name near another one is a slip.
    for (name, near) in selection.referenced.missing(&selection.first_names) {
        if let Some(near) = near {
            notes.warn(format!("no ad has the attribute `{name}`; did you mean `{near}`?"));
        }
    }
    for (name, near) in wanted.missing(&selection.first_names) {
        let near = near.map(|near| format!("; did you mean `{near}`?"));
        notes.warn(format!("no ad has the attribute `{name}`{}", near.unwrap_or_default()));
    }
}

/// The attributes to keep.
fn names(given: &[String]) -> Result<Vec<Name>, Failure> {
    let name = |text: &String| {
        let text = text.trim();
        if let Some(quoted) =
            text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|name| !name.is_empty())
        {
            return Ok(Name::new(quoted));
        }
        if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_whitespace() || b"=()[]{};,\"".contains(&byte)) {
            return Err(Failure::input(format!("`--attributes`: expected a name, found `{text}`")).help(
                "separate names with commas: --attributes Name,Cpus; put other names than identifiers in single \
                quotes",
            ));
        }
        Ok(Name::new(text))
    };
    given.iter().map(name).collect()
}

/// The message about values that the long format does not hold.
pub(super) fn lost_values(lost: u64) -> String {
    let values = report::counted(lost, "value");
    format!("{values} cannot be read back from the long format because of a line break or a quote")
}

/// The result of the command: the last failure is returned, those before it are shown.
fn outcome(lost: u64, to: Option<Format>, mut unread: Vec<Failure>) -> Result<(), Failure> {
    if lost > 0 {
        let message = match to.unwrap_or(Format::Long) {
            Format::Long => lost_values(lost),
            _ => {
                let numbers = report::counted(lost, "number");
                format!("{numbers} without the size suffix, which HTCondor before 23.2 does not write in this format")
            }
        };
        unread.push(Failure::new(message).help("choose another format with --to"));
    }
    let Some(last) = unread.pop() else { return Ok(()) };
    for failure in unread {
        failure.show();
    }
    Err(last)
}

fn expression(
    text: Option<&str>,
    flag: &str,
    settings: &EvalOptions,
    streams: Streams,
) -> Result<Option<Expr>, Failure> {
    text.map(|text| {
        let options = ParseOptions { places: true, ..settings.parse_options() };
        parsed_with(text.as_bytes(), flag, &options, streams.err)
    })
    .transpose()
    .inspect(|expr| {
        if let (Some(expr), Some(text)) = (expr, text) {
            warn(expr, text.as_bytes(), flag, streams.err);
        }
    })
}

/// Numbers by value, then strings without case, then everything else.
fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    let kind = |value: &Value| match value {
        Value::Str(_) => 1,
        other if other.as_number().is_some_and(|number| !number.is_nan()) => 0,
        _ => 2,
    };
    kind(a).cmp(&kind(b)).then_with(|| match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) => folded_order(a, b).then_with(|| a.cmp(b)),
        _ => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal),
            _ => std::cmp::Ordering::Equal,
        },
    })
}
