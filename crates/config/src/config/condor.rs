//! An `HTCondor` configuration: the names that files set, over the built-in defaults.
//!
//! One file: the values of a configuration and the look-ups that find them.
//!
//! In: assignments, as a file makes them. Out: values, expanded when they are looked up, and where they come
//! from (`docs/reference/config-language.md` 4, 9).

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::expand::{ExpandError, Expanded, Surroundings, expand, expand_self, own_path};
use super::expansions::Expansions;
use super::line::Logical;
use super::untaken::Untaken;
use super::{ConfigError, Diagnostic, Location, series, shown, table};
use classmate::internal::diagnostic::Severity;
use classmate::internal::semantics::LATEST;
use classmate::internal::span::Span;
use classmate::internal::syntax::token::Quoting;
use classmate::{Expr, ParseOptions, Semantics, Series, SyntaxError};

/// Most bytes that all values may take together.
const MAX_BYTES: usize = 128 << 20;
/// Warnings that are kept.
const MAX_WARNINGS: usize = 1000;

/// For whom a configuration is read, and all that it may ask of the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The daemon: `SUBSYSTEM.NAME` counts before `NAME`.
    pub subsystem: String,
    /// The local name of the daemon: `LOCALNAME.NAME` counts before that.
    pub local_name: Option<String>,
    /// The variables for `$ENV`; `_CONDOR_NAME` sets `NAME` when [`Config::apply_environment`] is called.
    pub environment: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Values that only the machine knows, such as `FULL_HOSTNAME`, by name in upper case; a file may set others.
    pub facts: BTreeMap<Vec<u8>, Vec<u8>>,
    /// True if `include command` and a trailing `|` may run programs.
    pub commands: bool,
    /// The value of `time()` in a function macro, in seconds since 1970.
    pub now: i64,
    /// The seed of random choices.
    pub seed: u64,
    /// The version of the language of expressions.
    pub semantics: Semantics,
    /// The series whose defaults apply.
    pub defaults: Series,
}

impl Default for Context {
    /// A negotiator without a local name, in an empty environment, that runs no commands, at time 0.
    fn default() -> Self {
        Context {
            subsystem: "NEGOTIATOR".to_owned(),
            local_name: None,
            environment: BTreeMap::new(),
            facts: BTreeMap::new(),
            commands: false,
            now: 0,
            seed: 0,
            semantics: Semantics::default(),
            defaults: LATEST,
        }
    }
}

/// A name's value as it was written, and where.
#[derive(Debug, Clone)]
pub(super) struct AssignedValue {
    pub(super) name: Box<[u8]>,
    pub(super) raw: Vec<u8>,
    pub(super) site: Site,
}

/// The place at which a value was written.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The beginning of the statement.
    pub(crate) place: Location,
    /// Line and column of the beginning of the value.
    pub(crate) value: (u32, u32),
    /// True if the file contains the value verbatim, on one line.
    pub(crate) verbatim: bool,
    /// The template it comes from; the place is then where that was asked for.
    pub(crate) template: Option<Arc<str>>,
}

impl Site {
    /// The site of a value that begins at a byte of a line.
    pub(crate) fn of(line: &Logical, value: usize, template: Option<Arc<str>>) -> Self {
        let place = line.place(value);
        let verbatim = template.is_none() && line.is_verbatim(value);
        Site { place: line.start(), value: (place.line, place.column), verbatim, template }
    }

    pub(crate) fn outside(place: Location) -> Self {
        Site { value: (place.line, place.column), place, verbatim: false, template: None }
    }
}

/// A text that was read, kept to show places in it.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name under which it was handed in.
    pub name: Arc<str>,
    /// The text.
    pub text: Arc<[u8]>,
}

/// The definition of a name: its value and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition<'a> {
    /// The name that has the value, with its prefix, as it was first written.
    pub name: &'a [u8],
    /// The value before expansion.
    pub raw: &'a [u8],
    /// The place at which it was set; `None` for a built-in default.
    pub place: Option<&'a Location>,
    /// Line and column of the beginning of the value itself.
    pub value: Option<(u32, u32)>,
    /// True if the file contains the raw value verbatim.
    pub verbatim: bool,
    /// The template that set it, such as `use POLICY:Desktop`.
    pub template: Option<&'a str>,
}

impl<'a> Definition<'a> {
    fn without_place(name: &'a [u8], raw: &'a [u8]) -> Self {
        Definition { name, raw, place: None, value: None, verbatim: false, template: None }
    }

    /// The place of the value itself, otherwise that of the statement.
    pub fn value_place(&self) -> Option<Location> {
        let place = self.place?;
        Some(match self.value {
            Some((line, column)) => Location { file: Arc::clone(&place.file), line, column },
            None => place.clone(),
        })
    }

    /// A problem at the value.
    pub fn value_problem(&self, severity: Severity, message: impl Into<String>) -> Diagnostic {
        let width = if self.verbatim { self.raw.len() } else { 0 };
        Diagnostic::new(severity, message, Span::new(0, width)).at(self.value_place())
    }

    /// A warning about the name.
    pub fn name_warning(&self, message: impl Into<String>) -> Diagnostic {
        let width = if self.template.is_some() { 0 } else { self.name.len() };
        Diagnostic::warning_at(message, self.place.cloned()).width(width)
    }
}

/// The names a configuration sets, over the built-in table of defaults.
///
/// Names are case-insensitive; the last assignment wins; values are expanded at look-up, so the order
/// of definition does not matter (`docs/reference/config-language.md` 4).
///
/// ```
/// use classmate_config::Config;
/// let config = Config::parse("pool.conf", b"HOURS = 2\nPRIORITY_HALFLIFE = $(HOURS)").unwrap();
/// assert_eq!(config.get("priority_halflife").unwrap().unwrap().text, b"2");
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    entries: Vec<AssignedValue>,
    index: HashMap<Box<[u8]>, usize>,
    /// Prefixes that count, upper case, with their dot, the first one first.
    prefixes: Vec<Vec<u8>>,
    /// Names that are known without a file, upper case.
    detected: BTreeMap<Vec<u8>, Vec<u8>>,
    context: Arc<Context>,
    warnings: Vec<Diagnostic>,
    /// An error in the text being read, reported at its end.
    pub(super) refused: Option<ConfigError>,
    sources: Vec<Source>,
    /// Bytes of all values.
    stored: usize,
    /// References followed while reading.
    pub(crate) references: usize,
    /// Files and templates read.
    pub(crate) files: usize,
    /// True if what hangs on a machine, on its environment or on chance is left open.
    pub(super) unknowing: bool,
    /// Known expansions of the values.
    expansions: Expansions,
    /// The values of branches that are not taken.
    pub(super) untaken: Untaken,
}

/// A value found: its expanded text and where it was set (nowhere for a built-in default).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundValue {
    /// The text after expansion; may be empty.
    pub text: Vec<u8>,
    /// The assignment it comes from.
    pub place: Option<Location>,
    /// The version of the language, if it is an expression.
    pub semantics: Semantics,
}

impl FoundValue {
    /// The expression that the text is.
    ///
    /// # Errors
    /// The text does not parse.
    pub fn expression(&self) -> Result<Expr, SyntaxError> {
        let semantics = self.semantics;
        let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
        Expr::parse_with(&self.text, &options)
    }
}

impl Default for Config {
    /// A negotiator's configuration in which nothing is set: the built-in defaults hold.
    fn default() -> Self {
        Config::new(Context::default())
    }
}

/// The value of `CONDOR_VERSION`.
fn version_text(semantics: Semantics) -> Vec<u8> {
    semantics.series().release().map(|number| number.to_string()).join(".").into_bytes()
}

impl Config {
    /// An empty configuration for a context.
    pub fn new(context: Context) -> Self {
        let prefix = |name: &str| [name.to_ascii_uppercase().as_bytes(), b"."].concat();
        let subsystem = prefix(&context.subsystem);
        let mut prefixes = Vec::new();
        prefixes.extend(context.local_name.as_deref().map(prefix));
        prefixes.push(subsystem);
        let local = context.local_name.as_ref().unwrap_or(&context.subsystem);
        let mut detected = context.facts.clone();
        detected.extend([
            (b"SUBSYSTEM".to_vec(), context.subsystem.clone().into_bytes()),
            (b"LOCALNAME".to_vec(), local.clone().into_bytes()),
            (b"CONDOR_VERSION".to_vec(), version_text(context.semantics)),
        ]);
        Config {
            entries: Vec::new(),
            index: HashMap::new(),
            prefixes,
            detected,
            context: Arc::new(context),
            warnings: Vec::new(),
            refused: None,
            sources: Vec::new(),
            stored: 0,
            references: 0,
            files: 0,
            unknowing: false,
            expansions: Expansions::default(),
            untaken: Untaken::default(),
        }
    }

    /// Reads one file as the negotiator would; it cannot include others.
    ///
    /// # Errors
    /// The first line that is not understood, with its place.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        config.add(file, text)?;
        Ok(config)
    }

    /// For whom this configuration is.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The warnings about the files read, in order, at most a thousand.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The texts that were read, in order.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    pub(crate) fn keep_source(&mut self, name: &Arc<str>, text: &[u8]) {
        self.sources.push(Source { name: Arc::clone(name), text: Arc::from(text) });
    }

    /// Sets a name that is known without a file, such as the folder of the root file.
    pub(crate) fn detect(&mut self, name: &str, value: &str) {
        self.detected.insert(name.as_bytes().to_vec(), value.as_bytes().to_vec());
        self.expansions.clear();
    }

    /// The version of the language of expressions.
    pub fn semantics(&self) -> Semantics {
        self.context.semantics
    }

    /// The value of a name: with the prefixes that count, then without, then the built-in table; `None` if nowhere.
    ///
    /// # Errors
    /// A circle of references, a value that grows without end, or a function macro that fails.
    pub fn get(&self, name: &str) -> Result<Option<FoundValue>, ConfigError> {
        let Some(definition) = self.definition(name.as_bytes()) else {
            return Ok(None);
        };
        let expanded = self.expanded(name.as_bytes(), definition.raw);
        let text = expanded.map_err(|error| self.not_expanded(name, &definition, &error))?.text;
        Ok(Some(FoundValue { text, place: definition.place.cloned(), semantics: self.semantics() }))
    }

    /// A text of this configuration with its references replaced, as if it were the value of a name.
    ///
    /// # Errors
    /// A circle of references, growth without end, or a function macro that fails.
    pub fn expansion(&self, owner: &[u8], text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        self.expanded(owner, text).map(|expanded| expanded.text)
    }

    /// An expansion error with the place of the value, and of all values of a circle.
    pub(crate) fn not_expanded(&self, name: &str, definition: &Definition<'_>, error: &ExpandError) -> ConfigError {
        let refused = definition.value_problem(Severity::Error, format!("`{name}` cannot be expanded: {error}"));
        match error {
            ExpandError::Circle(names) => {
                let mut sites: Vec<String> = Vec::new();
                for name in names.iter().skip(1) {
                    let found = self.definition(name.as_bytes()).and_then(|found| found.place);
                    sites.extend(found.map(|place| format!("`{name}` is set at {place}")));
                }
                refused.help(sites.join(", "))
            }
            ExpandError::Function { .. } if definition.raw.windows(2).filter(|pair| pair == b"$(").count() > 0 => {
                refused.help(
                    "the argument of a function macro ends at the first `)`: write macro names in it without \
                    `$( )`",
                )
            }
            _ => refused,
        }
    }

    /// A text of this configuration with its references replaced; `owner` is the name whose value it is.
    pub(crate) fn expanded(&self, owner: &[u8], text: &[u8]) -> Result<Expanded, ExpandError> {
        expand(owner, text, self.surroundings(&|name| self.raw(name)))
    }

    fn surroundings<'a>(&'a self, lookup: &'a dyn Fn(&[u8]) -> Option<&'a [u8]>) -> Surroundings<'a> {
        Surroundings {
            lookup,
            environment: &self.context.environment,
            now: self.context.now,
            seed: self.context.seed,
            semantics: self.context.semantics,
            unknowing: self.unknowing,
            known: Some(&self.expansions),
        }
    }

    /// As [`Self::expanded`], with each value expanded where it is referred to.
    #[cfg(test)]
    pub(crate) fn expanded_anew(&self, owner: &[u8], text: &[u8]) -> Result<Expanded, ExpandError> {
        expand(owner, text, Surroundings { known: None, ..self.surroundings(&|name| self.raw(name)) })
    }

    /// The names the files set (not the built-in ones), in the order of their first assignment.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// A name without the prefix that makes it count for this daemon alone, if it has one: what [`Config::get`] is
    /// asked.
    pub fn bare<'n>(&self, name: &'n [u8]) -> &'n [u8] {
        let prefix = self.prefixes.iter().find(|prefix| {
            name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
                && name.len() > prefix.len()
        });
        prefix.map_or(name, |prefix| &name[prefix.len()..])
    }

    /// The definitions that the files make, in the order of their first assignment.
    pub fn definitions(&self) -> impl Iterator<Item = Definition<'_>> {
        self.entries.iter().map(AssignedValue::definition)
    }

    /// Names, raw values and places, in the order of their first assignment: all there is to a configuration, besides
    /// its [`Context`].
    pub fn assignments(&self) -> impl Iterator<Item = (&[u8], &[u8], &Location)> {
        self.entries.iter().map(|entry| (&*entry.name, &*entry.raw, &entry.site.place))
    }

    /// A configuration from its [`Config::assignments`].
    pub fn from_assignments(assignments: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, Location)>) -> Self {
        let mut config = Self::default();
        for (name, raw, place) in assignments {
            config.insert(&name, raw, Site::outside(place));
        }
        config
    }

    /// The same configuration, whose expressions are in another version of the language.
    #[must_use]
    pub fn read_as(mut self, semantics: Semantics) -> Self {
        Arc::make_mut(&mut self.context).semantics = semantics;
        self.detected.insert(b"CONDOR_VERSION".to_vec(), version_text(semantics));
        self.expansions.clear();
        self
    }

    /// A configuration from the names and values that a daemon reports; each is a line of a file that messages call `place`.
    pub fn of_values(values: &[(String, String)], place: &str) -> Self {
        let file: Arc<str> = place.into();
        let assignment = |(at, (name, value)): (usize, &(String, String))| {
            let place = Location { file: Arc::clone(&file), line: at as u32 + 1, column: 1 };
            (name.as_bytes().to_vec(), value.as_bytes().to_vec(), place)
        };
        Self::from_assignments(values.iter().enumerate().map(assignment))
    }

    /// The definition that gives a name its value, found as by [`Config::get`].
    pub fn definition(&self, name: &[u8]) -> Option<Definition<'_>> {
        let upper = name.to_ascii_uppercase();
        // What is detected cannot be set.
        self.detected(&upper).or_else(|| self.set(&upper)).or_else(|| self.built_in(&upper))
    }

    /// The definition of exactly this name, without prefixes and defaults.
    pub fn assignment(&self, name: &[u8]) -> Option<Definition<'_>> {
        Some(self.entries[*self.index.get(&*name.to_ascii_uppercase())?].definition())
    }

    /// The definition of a name (upper case) in a file.
    fn set(&self, upper: &[u8]) -> Option<Definition<'_>> {
        let find = |name: &[u8]| Some(self.entries[*self.index.get(name)?].definition());
        let mut prefixed = Vec::with_capacity(upper.len() + 16);
        for prefix in &self.prefixes {
            prefixed.clear();
            prefixed.extend_from_slice(prefix);
            prefixed.extend_from_slice(upper);
            if let Some(found) = find(&prefixed) {
                return Some(found);
            }
        }
        find(upper)
    }

    fn detected(&self, upper: &[u8]) -> Option<Definition<'_>> {
        self.detected.get_key_value(upper).map(|(name, value)| Definition::without_place(name, value))
    }

    /// The built-in default of a name.
    pub fn built_in(&self, name: &[u8]) -> Option<Definition<'_>> {
        let upper = name.to_ascii_uppercase();
        let entry = || series::entry(self.context.defaults, &upper);
        let definition =
            |(name, text): (&'static str, &'static str)| Definition::without_place(name.as_bytes(), text.as_bytes());
        self.detected(&upper).or_else(|| entry().map(definition))
    }

    /// The value of a name as it is written. A default that is empty is none, and an empty value of a file is one (`lookup_macro` in
    /// HTCondor's `config.cpp`).
    fn raw(&self, name: &[u8]) -> Option<&[u8]> {
        let found = self.definition(name)?;
        (found.place.is_some() || !found.raw.is_empty()).then_some(found.raw)
    }

    /// Returns true if a name has a value that is not empty.
    pub(crate) fn is_defined(&self, name: &[u8]) -> bool {
        self.raw(name).is_some_and(|raw| !raw.is_empty())
    }

    /// The raw value the first of these names has that has one, the table's default included.
    fn earlier(&self, names: &[&[u8]]) -> Option<&[u8]> {
        let set = names.iter().find_map(|name| self.index.get(&*name.to_ascii_uppercase()));
        match set {
            Some(&at) => Some(&self.entries[at].raw),
            None => names.iter().find_map(|name| table::default_text(name)).map(str::as_bytes),
        }
    }

    /// A value in which references to the name that is set are replaced by its earlier value.
    pub(crate) fn with_earlier(&self, name: &[u8], value: &[u8], place: &Location) -> Result<Vec<u8>, ConfigError> {
        if memchr::memchr(b'$', value).is_none() {
            return Ok(value.to_vec());
        }
        let names = self.own_names(name);
        let refused = |error: ExpandError| Diagnostic::error_at(error.to_string(), place.clone());
        let mut value = expand_self(&names, self.earlier(&names), value).map_err(refused)?;
        // `$Fn(NAME)` and its kind are evaluated now; every other function macro of the name itself is a circle.
        for _ in 0..memchr::memchr_iter(b'$', &value).count() {
            let Some(call) = own_path(&names, &value) else { break };
            let part = self.expanded(b"", &value[call.clone()]).map_err(refused)?;
            value.splice(call, part.text);
        }
        Ok(value)
    }

    /// The spellings under which an assignment refers to itself: with and without a prefix that counts.
    fn own_names<'n>(&self, name: &'n [u8]) -> Vec<&'n [u8]> {
        let bare = self.bare(name);
        if bare.len() < name.len() { vec![name, bare] } else { vec![name] }
    }

    /// Extends a name's value in place; a value that comes from the table, or is empty, is set anew.
    pub(crate) fn append(&mut self, name: &[u8], between: &[u8], value: &[u8], site: Site) -> Result<(), ConfigError> {
        let set = self.index.get(&*name.to_ascii_uppercase()).copied();
        if let Some(at) = set.filter(|&at| !self.entries[at].raw.is_empty()) {
            self.expansions.clear();
            let entry = &mut self.entries[at];
            entry.raw.extend_from_slice(between);
            entry.raw.extend_from_slice(value);
            entry.site = Site { verbatim: false, ..site };
            self.stored += between.len() + value.len();
            return self.bounded(at);
        }
        let old = self.earlier(&[name]).filter(|old| !old.is_empty());
        let raw = old.map_or_else(|| value.to_vec(), |old| [old, between, value].concat());
        let verbatim = site.verbatim && raw.len() == value.len();
        self.assign(name, raw, Site { verbatim, ..site })
    }

    /// Sets a name, which may be any text, to a value as it is.
    ///
    /// # Errors
    /// The values have grown beyond measure.
    pub fn set_text(&mut self, name: &[u8], value: &[u8], place: Location) -> Result<(), ConfigError> {
        self.assign(name, value.to_vec(), Site::outside(place))
    }

    /// Replaces the value of a name that is set, which keeps its place.
    pub fn replace(&mut self, name: &[u8], value: &[u8]) {
        let Some(&at) = self.index.get(&*name.to_ascii_uppercase()) else { return };
        let entry = &mut self.entries[at];
        if entry.raw != value {
            self.stored = self.stored - entry.raw.len() + value.len();
            value.clone_into(&mut entry.raw);
            self.expansions.clear();
        }
    }

    /// Sets a name.
    pub(crate) fn assign(&mut self, name: &[u8], raw: Vec<u8>, site: Site) -> Result<(), ConfigError> {
        let at = self.insert(name, raw, site);
        self.bounded(at)
    }

    pub(super) fn insert(&mut self, name: &[u8], raw: Vec<u8>, site: Site) -> usize {
        self.stored += raw.len();
        self.expansions.clear();
        let upper = name.to_ascii_uppercase();
        if let Some(&at) = self.index.get(&*upper) {
            self.stored -= self.entries[at].raw.len();
            self.entries[at].raw = raw;
            self.entries[at].site = site;
            return at;
        }
        self.index.insert(upper.into_boxed_slice(), self.entries.len());
        self.entries.push(AssignedValue { name: name.into(), raw, site });
        self.entries.len() - 1
    }

    /// An error if the values have grown beyond measure.
    fn bounded(&self, at: usize) -> Result<(), ConfigError> {
        if self.stored <= MAX_BYTES {
            return Ok(());
        }
        let message = format!("the total length of all values exceeds {} MiB", MAX_BYTES >> 20);
        Err(Diagnostic::error_at(message, Some(self.entries[at].site.place.clone())))
    }

    /// Every name with a value: those the files set and those of the built-in table, by name.
    pub fn all(&self) -> Vec<Definition<'_>> {
        let mut found: BTreeMap<Vec<u8>, Definition<'_>> = BTreeMap::new();
        let changed = series::histories().iter().map(|history| history.name);
        for name in table::entries().map(|(name, _)| name).chain(changed) {
            if let Some(definition) = self.built_in(name.as_bytes()) {
                found.insert(name.to_ascii_uppercase().into_bytes(), definition);
            }
        }
        for entry in &self.entries {
            found.insert(entry.name.to_ascii_uppercase(), entry.definition());
        }
        for (name, value) in &self.detected {
            found.insert(name.clone(), Definition::without_place(name, value));
        }
        found.into_values().collect()
    }
}

impl AssignedValue {
    pub(super) fn definition(&self) -> Definition<'_> {
        Definition {
            name: &self.name,
            raw: &self.raw,
            place: Some(&self.site.place),
            value: (self.site.place.line > 0).then_some(self.site.value),
            verbatim: self.site.verbatim,
            template: self.site.template.as_deref(),
        }
    }
}

/// A name as an assignment may set it.
pub(crate) fn checked_name(name: &[u8]) -> Result<(), String> {
    if name.is_empty() || !name.iter().copied().all(super::reference::is_name_byte) {
        return Err(format!("`{}` is not a name", shown(name)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, name: &str) -> Option<String> {
        let config = Config::parse("test", text.as_bytes()).unwrap();
        config.get(name).unwrap().map(|found| String::from_utf8(found.text).unwrap())
    }

    fn refusal(text: &str) -> (String, u32, u32) {
        let error = Config::parse("test", text.as_bytes()).unwrap_err();
        let place = error.place.unwrap();
        (error.message, place.line, place.column)
    }

    /// As `condor_config_val` 25.14.1 prints them.
    #[test]
    fn a_default_that_is_empty_is_not_the_value_of_a_name() {
        assert_eq!(value("A =\nB = x$Fn(A)", "B").as_deref(), Some("x"));
        assert_eq!(value("B = x$Fn(GROUP_NAMES)", "B").as_deref(), Some("xGROUP_NAMES"));
        assert_eq!(value("GROUP_NAMES =\nB = x$Fn(GROUP_NAMES)", "B").as_deref(), Some("x"));
    }

    /// The defaults of HTCondor 10.0, 24.0 and 25.14 (`docs/reference/versions.md` 6).
    #[test]
    fn defaults_are_those_of_a_series() {
        let of = |major, minor| Config::new(Context { defaults: Series::new(major, minor), ..Context::default() });
        let (oldest, old, now) = (of(10, 0), of(24, 0), of(25, 14));
        let value = |config: &Config, name: &str| {
            config.get(name).unwrap().map(|found| String::from_utf8_lossy(&found.text).into_owned())
        };
        for (name, expected) in [
            (
                "JOB_DEFAULT_REQUESTDISK",
                ["DiskUsage", "DiskUsage", "MAX({1024, (TransferInputSizeMB+1) * 1.25}) * 1024"],
            ),
            (
                "CURB_MATCHMAKING",
                [
                    "RecentDaemonCoreDutyCycle > 0.98",
                    "(RecentDaemonCoreDutyCycle > 0.98) || (TransferQueueNumWaitingToUpload > TransferQueueMaxUploading)",
                    "(RecentDaemonCoreDutyCycle > 0.98) || (TransferQueueNumWaitingToUpload > TransferQueueMaxUploading)",
                ],
            ),
            ("NEGOTIATOR_INTERVAL", ["60", "60", "60"]),
        ] {
            assert_eq!([&oldest, &old, &now].map(|config| value(config, name).unwrap()), expected, "{name}");
        }
        let has = |config: &Config, name: &str| {
            let all = config.all();
            let listed = all.iter().any(|definition| definition.name.eq_ignore_ascii_case(name.as_bytes()));
            assert_eq!(listed, config.definition(name.as_bytes()).is_some(), "{name}");
            listed
        };
        for (name, expected) in [
            // Its default was in the code: the table of 10.0.9 does not have it.
            ("NEGOTIATOR_SCHEDDS_ARE_SUBMITTERS", [false, false, false]),
            ("ENABLE_CLAIMABLE_PARTITIONABLE_SLOTS", [false, true, true]),
            ("REMOVE_SIGNIFICANT_ATTRIBUTES", [false, false, true]),
            ("KEEP_DATA_CLAIM_IDLE", [false, false, true]),
        ] {
            assert_eq!([&oldest, &old, &now].map(|config| has(config, name)), expected, "{name}");
        }
    }

    #[test]
    fn a_value_keeps_quotes_and_trailing_comments() {
        assert_eq!(value("A = 5 # x", "a").unwrap(), "5 # x");
        assert_eq!(value("  A =  \"b c\" \r\n", "A").unwrap(), "\"b c\"");
        assert_eq!(value("A = x = y : z", "A").unwrap(), "x = y : z");
        assert_eq!(value("A =", "A").unwrap(), "");
        assert_eq!(value("A=1\na = 2", "A").unwrap(), "2");
        assert_eq!(value("3A/b.c = 1", "3a/B.C").unwrap(), "1");
    }

    #[test]
    fn a_backslash_continues_a_line() {
        assert_eq!(value("A = one \\  \n   two", "A").unwrap(), "one two");
        assert_eq!(value("C=3 \\\n\nD=4", "C").unwrap(), "3 ");
        assert_eq!(value("C=3 \\\n\nD=4", "D").unwrap(), "4");
        assert_eq!(value("# comment \\\nA = 1", "A").unwrap(), "1");
        assert_eq!(value("A = one \\\n# comment \\\n two", "A").unwrap(), "one two");
        assert_eq!(value("A = 1 \\", "A").unwrap(), "1 ");
        assert_eq!(value("\\\nA = 1", "A").unwrap(), "1");
    }

    #[test]
    fn a_comment_inside_a_value_ends_it_with_a_warning() {
        let config = Config::parse("f", b"A = one \\\n # no bs\nB = two").unwrap();
        assert_eq!(config.get("A").unwrap().unwrap().text, b"one s");
        assert_eq!(config.warnings()[0].place.as_ref().unwrap().to_string(), "f:2:2");
    }

    #[test]
    fn values_are_expanded_when_read() {
        assert_eq!(value("A = $(B)\nB = 1\nB = 2", "A").unwrap(), "2");
    }

    #[test]
    fn a_reference_to_itself_takes_the_earlier_value() {
        assert_eq!(value("X = a\nX = $(x), b\nX = $(X), c", "X").unwrap(), "a, b, c");
        assert_eq!(value("X = $(X:none), b", "X").unwrap(), "none, b");
        assert_eq!(value("Y = 1\nX = $(Y)\nX = $(X) 2\nY = 3", "X").unwrap(), "3 2");
        // Not in the default of another name, or in a call; so says `condor_config_val`, which may never end then.
        assert_eq!(value("A = 1\nB = 2\nA = $(B:x$(A))", "A").unwrap(), "2");
        for text in
            ["A = 1\nA = $(NO:x$(A))", "A = $(NO:x$(A))", "A = 1\nA = $ENV(NO:$(A))", "A = 1\nA = $(X:$(Y:$(A)))"]
        {
            let found = Config::parse("f", text.as_bytes()).unwrap().get("A").map(|_| ());
            assert!(found.unwrap_err().to_string().contains("refers to itself"), "{text}");
        }
        assert_eq!(value("A = 1\nA = $$(NO:$(A)) $$([ $(A) ])", "A").unwrap(), "$$(NO:1) $$([ 1 ])");
        assert_eq!(value("A = $(A:x$(A:z))", "A").unwrap(), "xz");
        // What is no expression takes the place of the call if it has a `$`.
        assert_eq!(value("C = 1 2\nA = $EVAL($(C))x", "A").unwrap(), "1 2x");
        assert_eq!(value("B = $(C) foo bar\nA = $EVAL(B)x", "A").unwrap(), " foo barx");
        assert_eq!(value("B = foo bar\nA = $EVAL(B)x", "A").unwrap(), "x");
        assert_eq!(value("B =\nA = $EVAL(B)x", "A").unwrap(), "x");
        assert_eq!(value("A = 1\nA = $EVAL($(A)+1)", "A").unwrap(), "$(A+1)");
        // The earlier value may be the table's default, 60.
        let text = "NEGOTIATOR_INTERVAL = $(NEGOTIATOR_INTERVAL)*2";
        assert_eq!(value(text, "NEGOTIATOR_INTERVAL").unwrap(), "60*2");
        assert_eq!(value("A = 1\nNEGOTIATOR.A = $(A) 2", "A").unwrap(), "1 2");
    }

    #[test]
    fn appending_joins_with_a_blank_or_the_separator() {
        assert_eq!(value("A = 1\nA += 2", "A").unwrap(), "1 2");
        assert_eq!(value("A += 2", "A").unwrap(), "2");
        assert_eq!(value("A = 1\nA +,= 2", "A").unwrap(), "1,2");
        assert_eq!(value("A = x\nA +&&= y", "A").unwrap(), "x && y");
        assert_eq!(value("A = 1\nA += $(A)", "A").unwrap(), "1 1");
        assert_eq!(value("A = 1\nA +=", "A").unwrap(), "1 ");
        assert_eq!(value("DAEMON_LIST += X", "DAEMON_LIST").unwrap(), "MASTER X");
    }

    #[test]
    fn the_subsystem_prefix_comes_first() {
        let text = "NEGOTIATOR.X = a\nX = b\nY = $(X)";
        assert_eq!(value(text, "X").unwrap(), "a");
        assert_eq!(value(text, "Y").unwrap(), "a");
        // An empty value stops the search.
        assert_eq!(value("NEGOTIATOR.X =\nX = 2", "X").unwrap(), "");
    }

    #[test]
    fn a_local_name_comes_before_the_subsystem() {
        let context = Context { local_name: Some("second".to_owned()), ..Context::default() };
        let mut config = Config::new(context);
        config.add("f", b"X = 1\nNEGOTIATOR.X = 2\nSecond.X = 3\nY = $(X)$(LOCALNAME)").unwrap();
        assert_eq!(config.get("Y").unwrap().unwrap().text, b"3second");
        // Both together are in the manual; condor_config_val of 25.14.1 does not read them.
        config.add("f", b"NEGOTIATOR.SECOND.X = 4").unwrap();
        assert_eq!(config.get("X").unwrap().unwrap().text, b"3");
    }

    #[test]
    fn what_is_detected_cannot_be_set() {
        assert_eq!(value("SUBSYSTEM = x\nA = $(SUBSYSTEM)", "A").unwrap(), "NEGOTIATOR");
        assert_eq!(value("", "CONDOR_VERSION").unwrap(), "25.14.1");
    }

    #[test]
    fn a_name_may_contain_references() {
        assert_eq!(value("N = q\nA_$(N) = 7", "A_q").unwrap(), "7");
        // The colon of a default is taken for the operator.
        assert_eq!(refusal("A_$(N:z) = 7"), ("`A_$(N` is not a name".to_owned(), 1, 1));
    }

    #[test]
    fn a_section_line_is_ignored_if_it_is_one_word() {
        assert_eq!(value("[section]\nA = 1", "A").unwrap(), "1");
        assert_eq!(refusal("[two words]").1, 1);
    }

    #[test]
    fn bad_lines_are_refused_with_their_place() {
        assert_eq!(refusal("A = 1\n\n  D+=z"), ("`D+` is not a name".to_owned(), 3, 3));
        assert_eq!(refusal("hello"), ("expected `NAME = value`, found `hello`".to_owned(), 1, 1));
        assert_eq!(refusal("a-b = 1").0, "`a-b` is not a name");
        assert_eq!(refusal(" = 1").0, "`` is not a name");
    }

    #[test]
    fn a_function_macro_that_fails_is_told_when_the_value_is_read() {
        let config = Config::parse("f", b"\nA = $INT(x +)").unwrap();
        let error = config.get("A").unwrap_err();
        assert!(
            error.message.starts_with("`A` cannot be expanded: `$INT(x +)`: `x +` is not a valid expression"),
            "{error}"
        );
        assert_eq!(error.place.unwrap().to_string(), "f:2:5");
        // The argument ends at the first `)`.
        let config = Config::parse("f", b"N = 5\nA = $INT($(N))").unwrap();
        assert!(config.get("A").unwrap_err().help.unwrap().contains("ends at the first `)`"));
    }

    #[test]
    fn the_obsolete_colon_assigns_with_a_warning() {
        let config = Config::parse("f", b"A : 1").unwrap();
        assert_eq!(config.get("A").unwrap().unwrap().text, b"1");
        assert_eq!(config.warnings().len(), 1);
    }

    #[test]
    fn hostile_text_is_read_in_linear_time() {
        let text = b"A = x \\\n".repeat(200_000);
        assert!(Config::parse("f", &text).is_ok());
        for text in ["\\\n", "\\\n\n", "A += x\n", "[x]\n", "A : x\n", "A = $(\n", "if true\nendif\n"] {
            assert!(Config::parse("f", text.repeat(200_000).as_bytes()).is_ok());
        }
    }
}
