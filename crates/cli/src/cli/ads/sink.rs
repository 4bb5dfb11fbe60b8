//! Output of the ads that are kept: whole, or as values of some attributes.

use std::borrow::Cow;
use std::io::Write;

use crate::cli::Failure;
use crate::cli::ads::meter::Meter;
use crate::cli::ads::seen::Seen;
use crate::cli::ads::wanted::Wanted;
use crate::report;
use crate::report::template::{Template, plain};
use classmate::internal::format::Layout;
use classmate::internal::format::json::JsonWriter;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, Format, Name, Value, Writer};

/// The form of printed values.
pub(super) enum Values {
    Table,
    Line,
    Json,
    Template(Template),
}

/// The output of every ad that is kept.
pub(super) struct Sink<'a, W: Write> {
    /// The output of lines of values; whole ads go to the writer that takes its place.
    pub(super) out: Option<W>,
    pub(super) attributes: &'a [Name],
    /// Those of them that the kept ads have.
    pub(super) wanted: Wanted,
    /// Evaluates, in all ads together no more than a certain amount.
    pub(super) meter: Meter,
    pub(super) values: Option<Values>,
    /// Writes whole ads, once their form is known.
    pub(super) writer: Option<Writer<W>>,
    pub(super) layout: Layout,
    pub(super) to: Option<Format>,
    pub(super) seen: Option<Seen>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) count: Option<u64>,
    pub(super) lost: u64,
    pub(super) json: JsonWriter,
}

pub(super) fn values(how: &str, attributes: usize) -> Result<Values, Failure> {
    Ok(match how {
        "table" => Values::Table,
        "values" => Values::Line,
        "json" => Values::Json,
        template if template.contains('%') => {
            let wrong = |why| Failure::input(format!("`--format {template}`: {why}"));
            let read = Template::parse(template).map_err(wrong)?;
            if read.values() != attributes {
                let takes = report::counted(read.values() as u64, "value");
                let why = format!("the template has {takes}, but --attributes has {attributes}");
                return Err(wrong(why));
            }
            Values::Template(read)
        }
        other => {
            return Err(Failure::input(format!(
                "unknown format `{other}`: expected table, values, json or a template"
            ))
            .help("a template has one directive, such as %s, for each attribute: --format '%s\\n'"));
        }
    })
}

impl<W: Write> Sink<'_, W> {
    pub(super) fn ad(&mut self, ad: &ClassAd) -> std::io::Result<()> {
        self.wanted.meet(ad);
        if let Some(count) = &mut self.count {
            let text = self.seen.as_ref().map(|_| projected(ad, self.attributes).to_expr().to_text(Style::New));
            *count += u64::from(text.is_none_or(|text| is_new(&mut self.seen, &text)));
            return Ok(());
        }
        let text = match &self.values {
            Some(how) => {
                let value = |name: &Name| self.meter.eval_attr(ad, *name).unwrap_or(Value::Error);
                let values: Vec<Value> = self.attributes.iter().map(value).collect();
                match how {
                    Values::Table => {
                        let row: Vec<String> = values.iter().map(|value| report::printable(&plain(value))).collect();
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

    pub(super) fn finish(&mut self) -> std::io::Result<()> {
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

/// True if a text was not seen before, or nothing is remembered.
fn is_new(seen: &mut Option<Seen>, text: &[u8]) -> bool {
    seen.as_mut().is_none_or(|seen| seen.insert(text))
}
