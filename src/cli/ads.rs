//! `classmate ads FILE…`

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::ad::ClassAd;
use crate::builtin::near::{allowance, distance};
use crate::cli::eval::warn;
use crate::cli::input::{self, Notes, unreadable};
use crate::cli::{Failure, Streams, World, complain, written};
use crate::eval::scope::{Scope, Settings};
use crate::format::json::JsonWriter;
use crate::format::{Format, Layout, Reader, Writer};
use crate::name::Name;
use crate::report::template::{Template, plain};
use crate::report::{self, Origin};
use crate::syntax::expr::Expr;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::print::Style;
use crate::value::Value;
use crate::value::compare::folded_order;

/// Convert, filter and project ads, in any form, at reading speed.
///
/// Reads files of any size in the form their first lines show (or that --from names) and writes the ads for which
/// the constraint holds. Memory is that of one ad, unless --sort or --format table asks for all of them.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate ads slots.ads --to json
  classmate ads slots.ads.gz --constraint 'Memory > 4096 && State == \"Unclaimed\"' --count
  classmate ads slots.ads --attributes Name,Cpus,Memory --format table --sort Memory
  classmate ads slots.ads --attributes Name,Memory --format '%-30s %8d MB\\n'
  condor_q -long | classmate ads - --attributes Owner --format values --unique

Exit status: 0 when everything was read, 1 when a file cannot be read or something in it was skipped,
2 on wrong usage or an expression that does not parse.")]
pub(super) struct Arguments {
    /// Files of ads, `.gz` or not; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The form of the files
    #[arg(long, value_name = "FORM", value_enum, default_value = "auto")]
    from: From,
    /// The form in which ads are written; by default that of the first file
    #[arg(long, value_name = "FORM", value_enum)]
    to: Option<To>,
    /// Keep the ads for which this is true (or a number other than zero)
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    constraint: Option<String>,
    /// Keep these attributes only, in this order where values are printed
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    attributes: Vec<String>,
    /// Print values of the attributes: `table`, `values` (a line an ad, separated by blanks), `json` (an object a
    /// line, in the dialect of --to jsonl), or a template such as '%-20s %d\n' with s v V d i f e g
    #[arg(long, value_name = "HOW", requires = "attributes", conflicts_with = "to")]
    format: Option<String>,
    /// Order the ads by the value of this: numbers first, then strings, then what is neither
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Leave out what was printed before, wherever it stood
    #[arg(long)]
    unique: bool,
    /// Print only how many ads there are; with --unique, how many different ones
    #[arg(long, conflicts_with_all = ["to", "format"])]
    count: bool,
    #[command(flatten)]
    world: World,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum From {
    /// What the first lines show
    Auto,
    /// `condor_status -long`
    Long,
    /// New syntax
    New,
    /// JSON objects or a list of them
    Json,
    /// A JSON object a line
    Jsonl,
    /// `condor_status -xml`
    Xml,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum To {
    /// An attribute a line
    Long,
    /// New syntax, an ad a line
    New,
    /// New syntax, an attribute a line
    Pretty,
    /// A JSON list
    Json,
    /// A JSON object a line
    Jsonl,
    /// XML, an attribute a line
    Xml,
    /// XML, an ad a line
    XmlCompact,
}

impl From {
    fn format(self) -> Option<Format> {
        match self {
            From::Auto => None,
            From::Long => Some(Format::Long),
            From::New => Some(Format::New),
            From::Json => Some(Format::Json),
            From::Jsonl => Some(Format::JsonLines),
            From::Xml => Some(Format::Xml),
        }
    }
}

impl To {
    fn format(self) -> Format {
        match self {
            To::Long => Format::Long,
            To::New | To::Pretty => Format::New,
            To::Json => Format::Json,
            To::Jsonl => Format::JsonLines,
            To::Xml | To::XmlCompact => Format::Xml,
        }
    }

    fn layout(self) -> Layout {
        match self {
            To::Pretty => Layout::Pretty,
            To::XmlCompact => Layout::Compact,
            _ => Layout::Usual,
        }
    }
}

/// How values are printed.
enum Values {
    Table,
    Line,
    Json,
    Template(Template),
}

/// What is done with every ad that is kept.
struct Sink<'a, W: Write> {
    /// Where lines of values go; whole ads go to the writer that takes its place.
    out: Option<W>,
    attributes: &'a [Name],
    /// Which of them an ad had, and whether there was an ad.
    met: Vec<bool>,
    any: bool,
    settings: &'a Settings,
    values: Option<Values>,
    /// Writes whole ads, once their form is known.
    writer: Option<Writer<W>>,
    layout: Layout,
    to: Option<Format>,
    seen: Option<HashSet<Vec<u8>>>,
    rows: Vec<Vec<String>>,
    count: Option<u64>,
    lost: u64,
    json: JsonWriter,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let constraint = expression(arguments.constraint.as_deref(), "--constraint", &settings, streams)?;
    let sort = expression(arguments.sort.as_deref(), "--sort", &settings, streams)?;
    let attributes = names(&arguments.attributes)?;
    let mut sink = Sink {
        out: Some(BufWriter::with_capacity(1 << 16, std::io::stdout().lock())),
        attributes: &attributes,
        met: vec![false; attributes.len()],
        any: false,
        settings: &settings,
        values: arguments.format.as_deref().map(|how| values(how, attributes.len())).transpose()?,
        writer: None,
        to: arguments.to.map(To::format),
        layout: arguments.to.map(To::layout).unwrap_or_default(),
        seen: arguments.unique.then(HashSet::new),
        rows: Vec::new(),
        count: arguments.count.then_some(0),
        lost: 0,
        json: JsonWriter::new(),
    };
    let mut notes = Notes::default();
    let mut unread: Vec<Failure> = Vec::new();
    let mut sorted: Vec<(Value, ClassAd)> = Vec::new();
    let mut first_names: Vec<Name> = Vec::new();
    for path in &arguments.files {
        // A file that cannot be read does not keep the others from being read.
        let (mut reader, name) = match open(path, arguments.from, &settings) {
            Ok(opened) => opened,
            Err(failure) => {
                unread.push(failure);
                continue;
            }
        };
        sink.to.get_or_insert(reader.format());
        for ad in reader.by_ref() {
            let ad = match ad {
                Ok(ad) => ad,
                Err(error) => {
                    unread.push(unreadable(&name, &error));
                    break;
                }
            };
            if first_names.is_empty() {
                first_names = ad.names().collect();
            }
            let kept = constraint.as_ref().is_none_or(|constraint| {
                let value = Scope::new(&ad, &settings).eval(constraint);
                value.is_ok_and(|value| value.as_condition() == Some(true))
            });
            match &sort {
                _ if !kept => {}
                Some(key) => sorted.push((Scope::new(&ad, &settings).eval(key).unwrap_or(Value::Error), ad)),
                None => {
                    let result = sink.ad(&ad);
                    if result.is_err() {
                        return written(result);
                    }
                }
            }
        }
        notes.add(&name, reader.report());
    }
    sorted.sort_by(|(a, _), (b, _)| order(a, b));
    written(sorted.iter().try_for_each(|(_, ad)| sink.ad(ad)).and_then(|()| sink.finish()))?;
    sink.unmet(&first_names, &mut notes);
    notes.show(streams.err);
    outcome(sink.lost, unread, notes.any())
}

/// The attributes to keep.
fn names(given: &[String]) -> Result<Vec<Name>, Failure> {
    let name = |text: &String| {
        let text = text.trim();
        if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_whitespace() || b"=()[]{};,\"".contains(&byte)) {
            return Err(Failure::input(format!("`--attributes`: expected a name, found `{text}`"))
                .help("names are separated by commas, with no blanks in them: --attributes Name,Cpus"));
        }
        Ok(Name::new(text))
    };
    given.iter().map(name).collect()
}

/// A reader of a file, and what to call the file.
fn open(path: &Path, from: From, settings: &Settings) -> Result<(Reader<Box<dyn BufRead + Send>>, String), Failure> {
    let input = input::open(path)?;
    let options = settings.parse_options();
    let reader = match from.format() {
        Some(format) => Reader::new(input.reader, format, &options),
        None => Reader::detect(input.reader, &options).map_err(|error| unreadable(&input.name, &error))?,
    };
    Ok((reader, input.name))
}

/// How it ended: the last failure is told by the caller, those before it here.
fn outcome(lost: u64, mut unread: Vec<Failure>, faulty: bool) -> Result<(), Failure> {
    if lost > 0 {
        let values = report::counted(lost, "value");
        unread.push(
            Failure::new(format!(
                "{values} cannot be read back from the long format: a line break or a quote is in the way"
            ))
            .help("write another form with --to"),
        );
    } else if unread.is_empty() && faulty {
        unread.push(Failure::new("not everything could be read"));
    }
    let Some(last) = unread.pop() else { return Ok(()) };
    for failure in unread {
        complain(&failure.message);
    }
    Err(last)
}

fn expression(text: Option<&str>, flag: &str, settings: &Settings, streams: Streams) -> Result<Option<Expr>, Failure> {
    text.map(|text| {
        parse_expr(text.as_bytes(), &ParseOptions { places: true, ..settings.parse_options() }).map_err(|error| {
            Failure::rendered(report::render(&error, text.as_bytes(), &Origin::whole(flag), None, streams.err))
        })
    })
    .transpose()
    .inspect(|expr| {
        if let (Some(expr), Some(text)) = (expr, text) {
            warn(expr, text.as_bytes(), flag, streams.err);
        }
    })
}

fn values(how: &str, attributes: usize) -> Result<Values, Failure> {
    Ok(match how {
        "table" => Values::Table,
        "values" => Values::Line,
        "json" => Values::Json,
        template if template.contains('%') => {
            let wrong = |why| Failure::input(format!("`--format {template}`: {why}"));
            let read = Template::parse(template).map_err(wrong)?;
            if read.values() != attributes {
                let why = format!("it takes {} values, but --attributes names {attributes}", read.values());
                return Err(wrong(why));
            }
            Values::Template(read)
        }
        other => {
            return Err(Failure::input(format!(
                "unknown format `{other}`: expected table, values, json or a template"
            ))
            .help("a template has a directive such as %s for every attribute: --format '%s\\n'"));
        }
    })
}

impl<W: Write> Sink<'_, W> {
    fn ad(&mut self, ad: &ClassAd) -> std::io::Result<()> {
        self.any = true;
        for (name, met) in self.attributes.iter().zip(&mut self.met).filter(|(_, met)| !**met) {
            *met = ad.contains(*name);
        }
        if let Some(count) = &mut self.count {
            let text = self.seen.as_ref().map(|_| projected(ad, self.attributes).to_expr().to_text(Style::New));
            *count += u64::from(text.is_none_or(|text| is_new(&mut self.seen, &text)));
            return Ok(());
        }
        let text = match &self.values {
            Some(how) => {
                let scope = Scope::new(ad, self.settings);
                let value = |name: &Name| scope.eval_attr(*name).unwrap_or(Value::Error);
                let values: Vec<Value> = self.attributes.iter().map(value).collect();
                match how {
                    Values::Table => {
                        let row: Vec<String> = values.iter().map(|value| report::printable(&plain(value))).collect();
                        if is_new(&mut self.seen, row.join("\0").as_bytes()) {
                            self.rows.push(row);
                        }
                        return Ok(());
                    }
                    Values::Line => line(&values),
                    Values::Json => {
                        let mut text = Vec::new();
                        self.json.write_values(&mut text, self.attributes.iter().copied().zip(values));
                        text.push(b'\n');
                        text
                    }
                    Values::Template(template) => {
                        let mut text = Vec::new();
                        template.write(&mut text, &values);
                        text
                    }
                }
            }
            None => return self.whole(ad),
        };
        match &mut self.out {
            Some(out) if is_new(&mut self.seen, &text) => out.write_all(&text),
            _ => Ok(()),
        }
    }

    fn whole(&mut self, ad: &ClassAd) -> std::io::Result<()> {
        let kept = projected(ad, self.attributes);
        let ad = &*kept;
        if self.seen.is_some() && !is_new(&mut self.seen, &ad.to_expr().to_text(Style::New)) {
            return Ok(());
        }
        if let Some(writer) = self.writer() {
            self.lost += writer.write(ad)?.len() as u64;
        }
        Ok(())
    }

    fn writer(&mut self) -> Option<&mut Writer<W>> {
        if let Some(out) = self.out.take() {
            self.writer = Some(Writer::new(out, self.to.unwrap_or(Format::Long)).laid_out(self.layout));
        }
        self.writer.as_mut()
    }

    /// Says which attributes no ad had.
    fn unmet(&self, known: &[Name], notes: &mut Notes) {
        // Only ads that were kept are looked at; what other ads have, nobody asked.
        if known.is_empty() || !self.any {
            return;
        }
        for (name, _) in self.attributes.iter().zip(&self.met).filter(|(_, met)| !**met) {
            let allowed = if name.as_bytes().len() > 2 { allowance(name.folded()) } else { 0 };
            let near =
                known.iter().filter_map(|known| Some((distance(name.folded(), known.folded(), allowed)?, known)));
            let help =
                near.min_by_key(|(distance, _)| *distance).map(|(_, known)| format!(": did you mean `{known}`?"));
            notes.warn(format!("no ad has the attribute `{name}`{}", help.unwrap_or_default()));
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        if self.values.is_none() && self.count.is_none() {
            self.writer();
            return self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop));
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        if let Some(count) = self.count {
            writeln!(out, "{count}")?;
        } else if matches!(self.values, Some(Values::Table)) {
            report::columns(out, self.attributes, &self.rows)?;
        }
        out.flush()
    }
}

/// The part of an ad with these attributes; all of it if none are named.
fn projected<'a>(ad: &'a ClassAd, attributes: &[Name]) -> Cow<'a, ClassAd> {
    if attributes.is_empty() {
        return Cow::Borrowed(ad);
    }
    let mut kept = ClassAd::with_capacity(attributes.len());
    for name in attributes {
        if let Some(expr) = ad.get(*name) {
            kept.insert_expr(*name, &expr);
        }
    }
    Cow::Owned(kept)
}

/// Whether a text was not seen before; always, when nothing is remembered.
fn is_new(seen: &mut Option<HashSet<Vec<u8>>>, text: &[u8]) -> bool {
    seen.as_mut().is_none_or(|seen| seen.insert(text.to_vec()))
}

/// Values separated by blanks, as `condor_status -af` prints them.
fn line(values: &[Value]) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(&plain(value));
    }
    text.push(b'\n');
    text
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
