//! Configurations for people: what is wrong with one, and what its names are worth.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::escape::escaped;
use super::{Color, Origin, render_diagnostic};
use classmate::Diagnostic;
use classmate_config::internal::config::knob;
use classmate_config::{Config, Definition, Location, Source};

/// Renders a diagnostic of a configuration, with its line.
pub fn render(diagnostic: &Diagnostic, sources: &SourceLines<'_>, color: Color) -> String {
    let place = diagnostic.place.as_ref().filter(|place| place.line > 0);
    let line = place.and_then(|place| Some((place, sources.line(place)?)));
    let Some((place, line)) = line else {
        let help = diagnostic.help.as_ref().map(|help| format!("\n  = help: {}", escaped(help))).unwrap_or_default();
        return format!("{}: {}{help}", diagnostic.severity.as_str(), escaped(&diagnostic.to_line()));
    };
    let origin = Origin { name: &place.file, line: u64::from(place.line), column: 1 };
    render_diagnostic(&diagnostic.clone().in_line(line), line, &origin, color)
}

/// The lines of sources.
pub struct SourceLines<'s>(HashMap<&'s str, Vec<&'s [u8]>>);

impl<'s> SourceLines<'s> {
    /// The lines of all sources; of several with one name, those of the first.
    pub fn of(sources: &'s [Source]) -> Self {
        let lines = |source: &'s Source| source.text.split(|byte| *byte == b'\n').collect();
        SourceLines(sources.iter().rev().map(|source| (&*source.name, lines(source))).collect())
    }

    fn line(&self, place: &Location) -> Option<&'s [u8]> {
        self.0.get(&*place.file)?.get(place.line as usize - 1).copied()
    }
}

/// The form in which values are listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigLayout {
    /// Values after expansion, not as they are written.
    pub expand: bool,
    /// With where each comes from, how it is written, and its default.
    pub verbose: bool,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The origin of a value, as `condor_config_val` prints it.
pub fn origin(definition: &Definition<'_>) -> String {
    match (definition.place, definition.template) {
        (Some(Location { file, line: 0, .. }), _) => file.to_string(),
        (Some(place), None) => format!("{}, line {}", place.file, place.line),
        (Some(place), Some(template)) => format!("{}, line {}, {template}", place.file, place.line),
        (None, _) => "<Default>".to_owned(),
    }
}

/// Writes `NAME = value`; a value of several lines as a block that can be read again.
///
/// # Errors
/// The output cannot be written.
pub fn assignment(out: &mut impl Write, name: &[u8], value: &[u8]) -> io::Result<()> {
    let name = text(name);
    if value.contains(&b'\n') {
        let mut tag = "end".to_owned();
        while text(value).lines().any(|line| line.trim() == format!("@{tag}")) {
            tag.push('_');
        }
        return writeln!(out, "{name} @={tag}\n{}\n@{tag}", text(value));
    }
    writeln!(out, "{}", format!("{name} = {}", text(value)).trim_end())
}

/// Writes one name with its value.
///
/// # Errors
/// The output cannot be written.
pub fn write(
    out: &mut impl Write,
    config: &Config,
    definition: &Definition<'_>,
    layout: ConfigLayout,
) -> io::Result<()> {
    let value =
        if layout.expand || layout.verbose { expanded(config, definition) } else { Ok(definition.raw.to_vec()) };
    match &value {
        Ok(value) => assignment(out, definition.name, value)?,
        Err(why) => writeln!(out, "# {} {why}", text(definition.name))?,
    }
    if layout.verbose {
        writeln!(out, " # at: {}", origin(definition))?;
        if value.as_ref().map(Vec::as_slice) != Ok(definition.raw) {
            writeln!(out, " # raw: {} = {}", text(definition.name), text(definition.raw).replace('\n', "\n #      "))?;
        }
        let default = default(config, definition);
        if definition.place.is_some()
            && let Some(default) = &default
        {
            writeln!(out, " # default: {}", text(default))?;
        }
        if let Some(knob) = knob::find(definition.name) {
            writeln!(out, " # {}: {}", knob.kind.describe(), knob.meaning)?;
        }
    }
    Ok(())
}

fn expanded(config: &Config, definition: &Definition<'_>) -> Result<Vec<u8>, String> {
    match config.get(&text(definition.name)) {
        Ok(found) => Ok(found.map(|found| found.text).unwrap_or_default()),
        Err(error) => Err(error.message),
    }
}

/// The default of a name: the table's, otherwise the code's.
fn default(config: &Config, definition: &Definition<'_>) -> Option<Vec<u8>> {
    let built_in = config.built_in(definition.name).map(|built_in| built_in.raw.to_vec());
    built_in.or_else(|| Some(knob::find(definition.name)?.code?.as_bytes().to_vec()))
}

/// A name with all there is to say about it.
pub fn json(config: &Config, definition: &Definition<'_>) -> Json {
    let mut shown = json!({ "name": text(definition.name) });
    match expanded(config, definition) {
        Ok(value) => shown["value"] = json!(text(&value)),
        Err(why) => shown["error"] = json!(why),
    }
    shown["raw"] = json!(text(definition.raw));
    shown["default"] = json!(default(config, definition).map(|default| text(&default)));
    let place = definition.place;
    shown["source"] = json!(place.map_or("<Default>", |place| &place.file));
    if let Some(place) = place.filter(|place| place.line > 0) {
        shown["line"] = json!(place.line);
        shown["column"] = json!(place.column);
    }
    if let Some(template) = definition.template {
        shown["template"] = json!(template);
    }
    if let Some(knob) = knob::find(definition.name) {
        shown["type"] = json!(knob.kind.describe());
        shown["meaning"] = json!(knob.meaning);
    }
    shown
}

/// A diagnostic with its place.
pub fn diagnostic_json(diagnostic: &Diagnostic) -> Json {
    let place = diagnostic.place.as_ref();
    json!({
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "file": place.map(|place| &*place.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "help": diagnostic.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(source: &str, name: &str, layout: ConfigLayout) -> String {
        let config = Config::parse("c", source.as_bytes()).unwrap();
        let mut out = Vec::new();
        write(&mut out, &config, &config.definition(name.as_bytes()).unwrap(), layout).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_of_several_lines_are_written_to_be_read_again() {
        let text = listed("A @=x\none\n@end\ntwo\n@x", "A", ConfigLayout::default());
        assert_eq!(text, "A @=end_\none\n@end\ntwo\n@end_\n");
        let again = Config::parse("c", text.as_bytes()).unwrap();
        assert_eq!(again.get("A").unwrap().unwrap().text, b"one\n@end\ntwo");
    }

    #[test]
    fn the_verbose_layout_tells_place_raw_value_and_default() {
        let layout = ConfigLayout { verbose: true, ..ConfigLayout::default() };
        assert_eq!(
            listed("X = 2\nNEGOTIATOR_INTERVAL = $(X)0", "NEGOTIATOR_INTERVAL", layout),
            "NEGOTIATOR_INTERVAL = 20\n # at: c, line 2\n # raw: NEGOTIATOR_INTERVAL = $(X)0\n # default: 60\n \
             # integer: seconds between the starts of two cycles\n"
        );
        assert_eq!(listed("", "HOUR", layout), "HOUR = 3600\n # at: <Default>\n");
    }

    #[test]
    fn a_place_is_shown_with_its_line() {
        let config = Config::parse("c", b"\n  NEGOTIATOR_INTERVAL = soon").unwrap();
        let diagnostics = classmate_config::internal::config::check::check(&config);
        let report = render(&diagnostics[0], &SourceLines::of(config.sources()), Color::Off);
        assert!(report.contains("c:2:25"), "{report}");
        assert!(report.contains("  NEGOTIATOR_INTERVAL = soon"), "{report}");
        assert!(report.contains("^^^^"), "{report}");
    }
}
