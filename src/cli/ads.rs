//! `classmate ads FILE…`

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Map, Value as Json};

use crate::ad::ClassAd;
use crate::cli::input::{self, Notes, unreadable};
use crate::cli::{Failure, Streams, World, written};
use crate::eval::scope::{Scope, Settings};
use crate::format::{Format, Layout, Reader, Writer};
use crate::name::Name;
use crate::report::template::{Template, plain};
use crate::report::{self, Origin};
use crate::syntax::expr::Expr;
use crate::syntax::parse::parse_expr;
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
    /// line), or a template such as '%-20s %d\n' with s v V d i f e g
    #[arg(long, value_name = "HOW", requires = "attributes", conflicts_with = "to")]
    format: Option<String>,
    /// Order the ads by the value of this: numbers first, then strings, then what is neither
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Leave out what was printed before, wherever it stood
    #[arg(long)]
    unique: bool,
    /// Print only how many ads there are
    #[arg(long, conflicts_with_all = ["to", "format", "unique"])]
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
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let constraint = expression(arguments.constraint.as_deref(), "--constraint", &settings, streams)?;
    let sort = expression(arguments.sort.as_deref(), "--sort", &settings, streams)?;
    let attributes: Vec<Name> = arguments.attributes.iter().map(|name| Name::new(name.trim())).collect();
    let mut sink = Sink {
        out: Some(BufWriter::with_capacity(1 << 16, std::io::stdout().lock())),
        attributes: &attributes,
        settings: &settings,
        values: arguments.format.as_deref().map(|how| values(how, attributes.len())).transpose()?,
        writer: None,
        to: arguments.to.map(To::format),
        layout: arguments.to.map(To::layout).unwrap_or_default(),
        seen: arguments.unique.then(HashSet::new),
        rows: Vec::new(),
        count: arguments.count.then_some(0),
        lost: 0,
    };
    let mut notes = Notes::default();
    let mut sorted: Vec<(Value, ClassAd)> = Vec::new();
    for path in &arguments.files {
        let input = input::open(path)?;
        let cannot = |error| unreadable(&input.name, &error);
        let options = settings.parse_options();
        let mut reader = match arguments.from.format() {
            Some(format) => Reader::new(input.reader, format, &options),
            None => Reader::detect(input.reader, &options).map_err(cannot)?,
        };
        sink.to.get_or_insert(reader.format());
        for ad in reader.by_ref() {
            let ad = ad.map_err(cannot)?;
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
        notes.add(&input.name, reader.report());
    }
    sorted.sort_by(|(a, _), (b, _)| order(a, b));
    written(sorted.iter().try_for_each(|(_, ad)| sink.ad(ad)).and_then(|()| sink.finish()))?;
    notes.show(streams.err);
    let complaints = (sink.lost > 0).then(|| {
        let values = report::counted(sink.lost, "value");
        Failure::new(format!(
            "{values} cannot be read back from the long format: a line break or a quote is in the way"
        ))
        .help("write another form with --to")
    });
    match complaints {
        Some(failure) => Err(failure),
        None if notes.any() => Err(Failure::new("not everything could be read")),
        None => Ok(()),
    }
}

fn expression(text: Option<&str>, flag: &str, settings: &Settings, streams: Streams) -> Result<Option<Expr>, Failure> {
    text.map(|text| {
        parse_expr(text.as_bytes(), &settings.parse_options()).map_err(|error| {
            Failure::rendered(report::render(&error, text.as_bytes(), &Origin::whole(flag), None, streams.err))
        })
    })
    .transpose()
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
        if let Some(count) = &mut self.count {
            *count += 1;
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
                    Values::Json => json_line(self.attributes, &values),
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
        let projected;
        let ad = if self.attributes.is_empty() {
            ad
        } else {
            let mut kept = ClassAd::with_capacity(self.attributes.len());
            for name in self.attributes {
                if let Some(expr) = ad.get(*name) {
                    kept.insert_expr(*name, &expr);
                }
            }
            projected = kept;
            &projected
        };
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

fn json_line(names: &[Name], values: &[Value]) -> Vec<u8> {
    let mut object = Map::new();
    for (name, value) in names.iter().zip(values) {
        let json = match value {
            Value::Undefined => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Real(value) if value.is_finite() => Json::from(*value),
            other => Json::String(String::from_utf8_lossy(&plain(other)).into_owned()),
        };
        object.insert(name.display().into_owned(), json);
    }
    let mut text = Json::Object(object).to_string().into_bytes();
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
