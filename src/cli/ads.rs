//! `classmate ads FILE…`

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::ad::ClassAd;
use crate::builtin::near::closest;
use crate::cli::eval::warn;
use crate::cli::input::{self, Notes, unreadable};
use crate::cli::{Failure, Streams, World, complain, written};
use crate::eval::scope::{Scope, Settings};
use crate::format::json::JsonWriter;
use crate::format::{Format, Layout, Reader, Writer};
use crate::name::Name;
use crate::report::template::{Template, plain};
use crate::report::{self, Origin};
use crate::syntax::expr::{Expr, Node};
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::print::Style;
use crate::value::Value;
use crate::value::compare::folded_order;

/// Convert, filter and project ads, in any form, at reading speed.
///
/// Reads files of any size in the form their first lines show (or that --from names) and writes the ads for which
/// the constraint holds. Memory is that of one ad and of the names met so far, unless --sort or --format table asks
/// for all ads; --unique keeps 16 bytes for each different output. The limits of an evaluation hold for each ad.
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
    /// Which of them the ads that were kept have.
    wanted: Wanted,
    settings: &'a Settings,
    values: Option<Values>,
    /// Writes whole ads, once their form is known.
    writer: Option<Writer<W>>,
    layout: Layout,
    to: Option<Format>,
    seen: Option<Seen>,
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
        wanted: Wanted::new(attributes.clone()),
        settings: &settings,
        values: arguments.format.as_deref().map(|how| values(how, attributes.len())).transpose()?,
        writer: None,
        to: arguments.to.map(To::format),
        layout: arguments.to.map(To::layout).unwrap_or_default(),
        seen: arguments.unique.then(Seen::default),
        rows: Vec::new(),
        count: arguments.count.then_some(0),
        lost: 0,
        json: JsonWriter::new(),
    };
    let mut notes = Notes::default();
    let mut unread: Vec<Failure> = Vec::new();
    let mut sorted: Vec<(Value, ClassAd)> = Vec::new();
    let mut first_names: Vec<Name> = Vec::new();
    let mut referenced = Wanted::new([&constraint, &sort].into_iter().flatten().flat_map(names_in).collect());
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
            referenced.meet(&ad);
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
    // An attribute that some ads may lack is often asked for; a name near another one is a slip.
    for (name, near) in referenced.missing(&first_names) {
        if let Some(near) = near {
            notes.warn(format!("no ad has the attribute `{name}`: did you mean `{near}`?"));
        }
    }
    for (name, near) in sink.wanted.missing(&first_names) {
        let near = near.map(|near| format!(": did you mean `{near}`?"));
        notes.warn(format!("no ad has the attribute `{name}`{}", near.unwrap_or_default()));
    }
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
                let takes = report::counted(read.values() as u64, "value");
                let why = format!("it takes {takes}, but --attributes names {attributes}");
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
        self.wanted.meet(ad);
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

/// Attributes that ads are asked for, and which of them some ad had.
struct Wanted {
    names: Vec<(Name, bool)>,
    any: bool,
}

impl Wanted {
    fn new(names: Vec<Name>) -> Self {
        Wanted { names: names.into_iter().map(|name| (name, false)).collect(), any: false }
    }

    fn meet(&mut self, ad: &ClassAd) {
        self.any = true;
        for (name, met) in self.names.iter_mut().filter(|(_, met)| !*met) {
            *met = ad.contains(*name);
        }
    }

    /// The attributes that no ad had, and what they may have meant; none if there was no ad.
    fn missing(&self, known: &[Name]) -> Vec<(Name, Option<&'static str>)> {
        let missing = self.names.iter().filter(|(_, met)| self.any && !met);
        missing.map(|(name, _)| (*name, closest_name(*name, known))).collect()
    }
}

/// The attributes that an expression refers to, each once, without those of a scope.
fn names_in(expr: &Expr) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for node in &expr.tree().nodes {
        if let Node::Attr(name) = node
            && name.key().mark().is_none()
            && !names.contains(name)
        {
            names.push(*name);
        }
    }
    names
}

/// The known attribute that a name may have meant; of a name of one or two letters nobody can say.
fn closest_name(name: Name, known: &[Name]) -> Option<&'static str> {
    let known = known.iter().filter_map(|known| std::str::from_utf8(known.as_bytes()).ok());
    (name.as_bytes().len() > 2).then(|| closest(name.as_bytes(), known)).flatten()
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

/// Texts that were printed, each by 128 bits that no other text has but by a chance of one in 10^26 among a million.
#[derive(Default)]
struct Seen(HashSet<(u64, u64)>);

impl Seen {
    /// Whether a text is here for the first time.
    fn insert(&mut self, text: &[u8]) -> bool {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(salt);
            hasher.write(text);
            hasher.finish()
        };
        self.0.insert((half(0), half(1)))
    }
}

/// Whether a text was not seen before; always, when nothing is remembered.
fn is_new(seen: &mut Option<Seen>, text: &[u8]) -> bool {
    seen.as_mut().is_none_or(|seen| seen.insert(text))
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
