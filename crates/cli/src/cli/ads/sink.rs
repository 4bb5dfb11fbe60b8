//! Output of the ads that are kept: whole, or as values of some attributes.

use std::borrow::Cow;
use std::io::Write;

use crate::cli::ads::AdsArguments;
use crate::cli::ads::meter::Meter;
use crate::cli::ads::seen::Seen;
use crate::cli::ads::wanted::Wanted;
use crate::cli::output::{JsonText, Out, csv_line};
use crate::cli::{Failure, Form};
use crate::report::escape::escaped_bytes;
use crate::report::table::Table;
use crate::report::template::{Template, plain};
use crate::report::{self, Color};
use classmate::internal::format::Layout;
use classmate::internal::format::json::JsonWriter;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, Format, Name, Value, Writer};

/// The form of printed values.
pub(super) enum Values {
    Table,
    Line,
    /// The list of a JSON object.
    Json,
    JsonLines,
    Csv,
    Template(Template),
}

/// The output of every ad that is kept.
pub(super) struct Sink<'a> {
    /// The output of lines of values; whole ads go to the writer that takes its place.
    pub(super) out: Option<Out>,
    pub(super) attributes: &'a [Name],
    /// Those of them that the kept ads have.
    pub(super) wanted: Wanted,
    /// Evaluates, in all ads together no more than a certain amount.
    pub(super) meter: Meter,
    pub(super) values: Option<Values>,
    /// Writes whole ads, once their form is known.
    pub(super) writer: Option<Writer<Out>>,
    pub(super) layout: Layout,
    pub(super) to: Option<Format>,
    pub(super) seen: Option<Seen>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) count: Option<u64>,
    pub(super) lost: u64,
    pub(super) json: JsonWriter,
    /// True if the list of a JSON object has begun.
    pub(super) begun: bool,
    pub(super) color: Color,
}

/// The beginning of the values of ads as one JSON object.
const BEGIN: &[u8] = b"{\"schema\": \"ads/1\", \"ads\": [\n";

/// The form in which values are printed; none if whole ads are.
pub(super) fn values(arguments: &AdsArguments, attributes: usize) -> Result<Option<Values>, Failure> {
    if let Some(template) = &arguments.template {
        let wrong = |why| Failure::input(format!("`--template {template}`: {why}"));
        let read = Template::parse(template).map_err(wrong)?;
        if read.values() != attributes {
            let takes = report::counted(read.values() as u64, "value");
            let why = format!("the template has {takes}, but --attributes has {attributes}");
            return Err(wrong(why).help("a template has one directive, such as %s, for each attribute"));
        }
        return Ok(Some(Values::Template(read)));
    }
    Ok(match arguments.format {
        _ if arguments.values => Some(Values::Line),
        None => None,
        Some(Form::Json) => Some(Values::Json),
        Some(Form::JsonLines) => Some(Values::JsonLines),
        Some(Form::Csv) => Some(Values::Csv),
        Some(_) => Some(Values::Table),
    })
}

impl Sink<'_> {
    pub(super) fn ad(&mut self, ad: &ClassAd) -> std::io::Result<()> {
        self.wanted.meet(ad);
        if let Some(count) = &mut self.count {
            let text = self.seen.as_ref().map(|_| projected(ad, self.attributes).to_expr().to_text(Style::New));
            *count += u64::from(text.is_none_or(|text| is_new(&mut self.seen, &text)));
            return Ok(());
        }
        let mut text = match &self.values {
            Some(how) => {
                let value = |name: &Name| self.meter.eval_attr(ad, *name).unwrap_or(Value::Error);
                let values: Vec<Value> = self.attributes.iter().map(value).collect();
                match how {
                    Values::Table | Values::Csv => {
                        let row: Vec<String> = values.iter().map(|value| escaped_bytes(&plain(value))).collect();
                        if is_new(&mut self.seen, row.join("\0").as_bytes()) {
                            self.rows.push(row);
                        }
                        return Ok(());
                    }
                    // As `condor_status -af` prints them.
                    Values::Line => {
                        let mut text = values.iter().map(plain).collect::<Vec<_>>().join(&b' ');
                        text.push(b'\n');
                        text
                    }
                    Values::Json | Values::JsonLines => {
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
        if !is_new(&mut self.seen, &text) {
            return Ok(());
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        if matches!(self.values, Some(Values::Json)) {
            out.write_all(if self.begun { b",\n" } else { BEGIN })?;
            self.begun = true;
            text.truncate(text.trim_ascii_end().len());
        }
        if matches!(self.values, Some(Values::Json | Values::JsonLines)) {
            return JsonText(out).write_all(&text);
        }
        out.write_all(&text)
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

    fn writer(&mut self) -> Option<&mut Writer<Out>> {
        if let Some(out) = self.out.take() {
            self.writer = Some(Writer::new(out, self.to.unwrap_or(Format::Long)).laid_out(self.layout));
        }
        self.writer.as_mut()
    }

    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        if self.values.is_none() && self.count.is_none() {
            self.writer();
            return self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop));
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        if let Some(count) = self.count {
            writeln!(out, "{count}")?;
        }
        let names = || self.attributes.iter().map(|name| name.display().into_owned());
        match &self.values {
            _ if self.count.is_some() => {}
            Some(Values::Table) => {
                let is_number = |at: usize| {
                    let number = |row: &Vec<String>| row[at].parse::<f64>().is_ok() || row[at] == "undefined";
                    !self.rows.is_empty() && self.rows.iter().all(number)
                };
                let numbers: Vec<usize> = (0..self.attributes.len()).filter(|at| is_number(*at)).collect();
                let mut table = Table::new(names(), &numbers);
                self.rows.drain(..).for_each(|row| table.row(row));
                table.write(out, self.color)?;
            }
            Some(Values::Csv) => {
                csv_line(out, names().collect::<Vec<_>>().iter().map(String::as_str))?;
                self.rows.iter().try_for_each(|row| csv_line(out, row.iter().map(String::as_str)))?;
            }
            Some(Values::Json) => {
                out.write_all(if self.begun { b"" } else { BEGIN })?;
                writeln!(out, "\n]}}")?;
            }
            _ => {}
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

/// True if a text was not seen before, or nothing is remembered.
fn is_new(seen: &mut Option<Seen>, text: &[u8]) -> bool {
    seen.as_mut().is_none_or(|seen| seen.insert(text))
}
