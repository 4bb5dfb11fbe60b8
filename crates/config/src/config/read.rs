//! Reading configuration files: statement by statement, with what they include (`docs/reference/config-language.md` 1,
//! 3, 5–8).
//!
//! One file: every kind of statement needs the same reader, and a third of the lines are its tests.
//!
//! In: the text of a file and a [`Files`] for what it names. Out: assignments in a [`Config`].

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::check::has_root;
use super::condition::VERSION;
use super::condor::{Config, Site, checked_name};
use super::expand::MAX_STEPS;
use super::files::{FileError, Files, TextFiles, beside};
use super::line::{Lines, Logical};
use super::statement::{self, Include, Operator, Statement, WRITTEN_WARNING};
use super::template::{self, Item};
use super::untaken::Circumstances;
use super::{ConfigError, Diagnostic, Location, condition, shown};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;

/// The bytes with which some editors begin a file in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Deepest chain of includes and templates.
const MAX_INCLUDE_DEPTH: usize = 20;
/// Most files and templates that one configuration may take.
pub(super) const MAX_FILES: usize = 10_000;
/// Deepest nesting of conditions.
const MAX_CONDITION_DEPTH: usize = 63;
/// Most references to follow while reading, all statements together.
const MAX_REFERENCES: usize = 10 * MAX_STEPS;

impl Config {
    /// Reads a further text over what is there; it cannot include files.
    ///
    /// # Errors
    /// The first statement that is not understood; what was read before it stays.
    pub fn add(&mut self, file: &str, text: &[u8]) -> Result<(), ConfigError> {
        self.read(file, text, &TextFiles::default())
    }

    /// Reads a further text over what is there; the files it names come from `files`.
    ///
    /// # Errors
    /// The first statement that is not understood, or what is included and missing; what was read before it stays.
    pub fn read(&mut self, file: &str, text: &[u8], files: &dyn Files) -> Result<(), ConfigError> {
        let name: Arc<str> = Arc::from(file);
        let text = self.without_mark(&name, text);
        self.keep_source(&name, text);
        let mut source = SourceText { lines: Lines::new(name, text), template: None };
        let read = Reader { config: self, files }.source(&mut source, 0);
        match self.refused.take() {
            Some(refused) => Err(refused),
            None => read,
        }
    }

    /// Keeps an error that refuses the configuration, although the rest of it can be read; a warning of every further
    /// one.
    fn refuse(&mut self, mut error: ConfigError) {
        if self.refused.is_none() {
            self.refused = Some(error);
        } else if error.place.is_some() {
            error.severity = Severity::Warning;
            self.warn(error);
        }
    }

    /// A text without the byte order mark at its beginning, which refuses the configuration: it belongs to the first
    /// name.
    fn without_mark<'t>(&mut self, name: &Arc<str>, text: &'t [u8]) -> &'t [u8] {
        let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) else { return text };
        let place = Location { file: Arc::clone(name), line: 1, column: 1 };
        let error =
            Diagnostic::error_at("the file starts with a byte order mark, which is not valid in a name", Some(place));
        self.refuse(error.help("HTCondor rejects the configuration: save the file as UTF-8 without the mark"));
        rest
    }

    /// Reads a further file over what is there.
    ///
    /// # Errors
    /// The file is missing, or as [`Config::read`].
    pub fn read_file(&mut self, path: &str, files: &dyn Files) -> Result<(), ConfigError> {
        let text =
            files.read(path).map_err(|error| Diagnostic::without_place(format!("cannot read `{path}`: {error}")))?;
        self.read(path, &text, files)
    }
}

/// Lines of a file, or of a template.
struct SourceText<'a> {
    lines: Lines<'a>,
    template: Option<Used<'a>>,
}

/// A template in use: what it is called, its arguments, and where it is asked for.
struct Used<'a> {
    title: Arc<str>,
    arguments: &'a [u8],
    place: Location,
}

impl SourceText<'_> {
    fn next(&mut self, config: &mut Config) -> Result<Option<Logical>, ConfigError> {
        let mut warnings = Vec::new();
        let line = self.lines.next(&mut warnings);
        for warning in warnings {
            config.warn(warning);
        }
        Ok(match (line?, &self.template) {
            (Some(line), Some(used)) => {
                let text = template::with_arguments(&line.text, used.arguments).into_owned();
                Some(Logical::at(text, &used.place))
            }
            (line, _) => line,
        })
    }

    fn title(&self) -> Option<Arc<str>> {
        self.template.as_ref().map(|used| Arc::clone(&used.title))
    }
}

/// An `if` that is open.
struct Branch {
    place: Location,
    /// True if the lines here are read.
    reading: bool,
    /// True if no further branch can be read: one was, or the lines around them are not.
    taken: bool,
    /// True if `else` was seen.
    otherwise: bool,
    /// The reason why a branch is not taken.
    circumstances: Circumstances,
}

pub(super) struct Reader<'c> {
    pub(super) config: &'c mut Config,
    pub(super) files: &'c dyn Files,
}

impl Reader<'_> {
    fn source(&mut self, text: &mut SourceText<'_>, depth: usize) -> Result<(), ConfigError> {
        let mut open: Vec<Branch> = Vec::new();
        while let Some(mut line) = text.next(self.config)? {
            // Inside a condition a `:` hides a statement from ancient readers.
            if !open.is_empty() && line.text.len() > 1 && line.text[0] == b':' && !line.text[1].is_ascii_whitespace() {
                line = line.without_first();
            }
            if line.text.is_empty() {
                continue;
            }
            if let Some(condition) = statement::condition(&line.text) {
                self.condition(condition, &line, &mut open)?;
                continue;
            }
            match open.last().filter(|branch| !branch.reading) {
                // Another file of the configuration may define what this part of it asks for.
                None if open.last().is_some_and(|branch| branch.circumstances.is_open)
                    && text.template.is_none()
                    && !has_root(self.config)
                    && matches!(statement::parse(&line.text), Ok(Statement::Message { error: true, .. })) => {}
                None => self.statement(&line, text, depth)?,
                Some(branch) if text.template.is_none() => self.config.pass_over(&line, branch.circumstances),
                Some(_) => {}
            }
        }
        match open.pop() {
            Some(branch) => Err(Diagnostic::error_at("`if` without `endif`", Some(branch.place))
                .width(2)
                .help("a condition must end in the same file: write `endif` on its own line")),
            None => Ok(()),
        }
    }

    fn condition(&mut self, found: Statement, line: &Logical, open: &mut Vec<Branch>) -> Result<(), ConfigError> {
        let word = line.text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let keyword = shown(&line.text[..word].to_ascii_lowercase());
        let refuse = |message: String| Err(line.error(&(0..word), message));
        let extra = |config: &mut Config, rest: Range<usize>| {
            if !rest.is_empty() {
                let message = format!("`{}` after `{keyword}` is ignored", shown(&line.text[rest.clone()]));
                config.warn(line.warning(&rest, message));
            }
        };
        if let Statement::If(rest) = found {
            if open.len() >= MAX_CONDITION_DEPTH {
                return refuse(format!("conditions are nested more than {MAX_CONDITION_DEPTH} deep"));
            }
            let outer = open.last().is_none_or(|branch| branch.reading);
            let around = open.last().map(|branch| branch.circumstances).unwrap_or_default();
            let circumstances = around.under(&line.text[rest.clone()]);
            self.config.untaken.condition(&line.text[rest.clone()]);
            let reading = outer && self.holds(line, rest)?;
            let (place, taken) = (line.start(), reading || !outer);
            open.push(Branch { place, reading, taken, otherwise: false, circumstances });
            return Ok(());
        }
        let Some(branch) = open.last_mut() else {
            return refuse(format!("`{keyword}` without `if`"));
        };
        if branch.otherwise && !matches!(found, Statement::Endif(_)) {
            return refuse(format!("`{keyword}` after `else`"));
        }
        branch.circumstances.number += usize::from(!branch.reading);
        self.config.untaken.condition(b"");
        match found {
            Statement::Elif(rest) => {
                let condition = &line.text[rest.clone()];
                branch.circumstances = branch.circumstances.under(condition);
                self.config.untaken.condition(condition);
                branch.reading = !branch.taken && self.holds(line, rest)?;
                branch.taken |= branch.reading;
            }
            Statement::Else(rest) => {
                branch.otherwise = true;
                branch.reading = !branch.taken;
                extra(self.config, rest);
            }
            Statement::Endif(rest) => {
                open.pop();
                extra(self.config, rest);
            }
            _ => {}
        }
        Ok(())
    }

    fn holds(&mut self, line: &Logical, range: Range<usize>) -> Result<bool, ConfigError> {
        let written = &line.text[range.clone()];
        let text = self.expand(line, &range)?;
        if text.trim_ascii().is_empty() && !written.is_empty() {
            return Ok(false);
        }
        let config = &*self.config;
        let version = config.semantics().series().release();
        condition::holds(&text, version, |name| config.is_defined(name)).map_err(|why| {
            let keyword = line.text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let keyword = shown(&line.text[..keyword].to_ascii_lowercase());
            let found = if written.is_empty() { "nothing".to_owned() } else { format!("`{}`", shown(&text)) };
            line.error(
                &range,
                format!("expected a boolean, a number, `defined` or `version` after `{keyword}`, found {found}"),
            )
            .help(why)
        })
    }

    /// A part of a line with its references replaced now.
    fn expand(&mut self, line: &Logical, part: &Range<usize>) -> Result<Vec<u8>, ConfigError> {
        let text = &line.text[part.clone()];
        if memchr::memchr(b'$', text).is_none() {
            return Ok(text.to_vec());
        }
        let expanded = self.config.expanded(b"", text).map_err(|error| line.error(part, error.to_string()))?;
        self.config.references += expanded.references + expanded.text.len() / 64;
        if self.config.references > MAX_REFERENCES {
            let message = format!("the configuration takes more than {MAX_REFERENCES} references to read");
            return Err(Diagnostic::error_at(message, Some(line.start())));
        }
        Ok(expanded.text)
    }

    fn statement(&mut self, line: &Logical, text: &mut SourceText<'_>, depth: usize) -> Result<(), ConfigError> {
        let parsed = statement::parse(&line.text).map_err(|error| {
            let at = error.span.range();
            error.at(line.place(at.start)).width(at.len())
        })?;
        match parsed {
            Statement::Assign { name, operator, stray, value } => {
                if let Some(stray) = stray {
                    let message = format!("`{}` before the operator is ignored", shown(&line.text[stray.clone()]));
                    self.config.warn(line.warning(&stray, message).help("names cannot contain spaces"));
                }
                self.assign(line, name, &operator, value, text)
            }
            Statement::Use { category, items } => self.templates(line, category, items, depth),
            Statement::Include(include) => self.include(line, &include, depth),
            Statement::Message { error, text } => {
                let message = self.expand(line, &text)?;
                if error {
                    let message = format!("the configuration reports an error: {}", shown(&message));
                    return Err(line.error(&line.whole(), message));
                }
                self.config.warn(line.warning(&line.whole(), shown(&message)).code(WRITTEN_WARNING));
                Ok(())
            }
            // Conditions are read before; a section line says nothing.
            _ => Ok(()),
        }
    }

    fn assign(
        &mut self,
        line: &Logical,
        written: Range<usize>,
        operator: &Operator,
        value: Range<usize>,
        text: &mut SourceText<'_>,
    ) -> Result<(), ConfigError> {
        let name = self.expand(line, &written)?;
        checked_name(&name).map_err(|message| {
            let help = if name.starts_with(b"|") || name.starts_with(b"&") {
                "an operator at the beginning of a line: the line before it does not end with `\\`"
            } else if name.contains(&b'$') {
                "a reference in a name cannot have a default"
            } else {
                "names consist of letters, digits, `_`, `.` and `/`; operators require a space before them"
            };
            line.error(&written, message).help(help)
        })?;
        let site = Site::of(line, value.start, text.title());
        let mut value = Cow::Borrowed(&line.text[value]);
        if *operator == Operator::ObsoleteSet {
            let (message, help) = match value.strip_prefix(b"=") {
                Some(rest) => {
                    let help = format!("write `{} = {}`", shown(&name), shown(rest.trim_ascii()));
                    ("`:=` is not an operator: the `=` is a part of the value".to_owned(), Some(help))
                }
                None => (format!("`{} : value` is the obsolete form of `{0} = value`", shown(&name)), None),
            };
            self.config.warn(line.warning(&written, message).help_if(help));
        }
        if *operator == Operator::Block {
            value = Cow::Owned(self.block(line, &name, value.trim_ascii(), text)?);
        }
        let raw = self.config.with_earlier(&name, &value, &site.place)?;
        let verbatim = site.verbatim && *operator != Operator::Block && raw == *value;
        let site = Site { verbatim, ..site };
        match operator {
            Operator::Append(between) => self.config.append(&name, between, &raw, site),
            _ => self.config.assign(&name, raw, site),
        }
    }

    /// The lines up to `@TAG`, the value of a name.
    fn block(
        &mut self,
        line: &Logical,
        name: &[u8],
        tag: &[u8],
        text: &mut SourceText<'_>,
    ) -> Result<Vec<u8>, ConfigError> {
        let end = [b"@", tag].concat();
        let mut lines: Vec<Vec<u8>> = Vec::new();
        while let Some(next) = text.next(self.config)? {
            if next.text == end {
                return Ok(lines.join(&b'\n'));
            }
            lines.push(next.text);
        }
        let message = format!("the value of `{}` does not end", shown(name));
        let help = format!("expected `{}` on a line of its own", shown(&end));
        Err(line.error(&line.whole(), message).help(help))
    }

    /// Counts a file or template that is read from another.
    fn enter(&mut self, line: &Logical, depth: usize) -> Result<(), ConfigError> {
        let error = |message: String| line.error(&line.whole(), message);
        if depth >= MAX_INCLUDE_DEPTH {
            let error = error(format!("includes and templates are nested more than {MAX_INCLUDE_DEPTH} deep"));
            return Err(error.help("a file cannot include itself, directly or indirectly"));
        }
        self.config.files += 1;
        if self.config.files > MAX_FILES {
            return Err(error(format!("the configuration takes more than {MAX_FILES} files and templates")));
        }
        Ok(())
    }

    fn templates(
        &mut self,
        line: &Logical,
        category: Range<usize>,
        range: Range<usize>,
        depth: usize,
    ) -> Result<(), ConfigError> {
        let name = &line.text[category.clone()];
        let subsystem = &self.config.context().subsystem;
        if !template::is_category(template::all(subsystem), name) {
            let error = line.error(&category, format!("`{}` is not a category of templates", shown(name)));
            return Err(error.help(match subsystem.as_str() {
                "SUBMIT" => "the category of submit files is `STRICT`",
                _ => "the categories are `ROLE`, `FEATURE`, `POLICY`, `SECURITY` and `EXPERIMENTAL`",
            }));
        }
        let items = template::items(&line.text[range.clone()]).map_err(|open| {
            let at = range.start + open;
            line.error(&(at..at + 1), "expected `)` after the arguments of the template")
        })?;
        for item in items {
            self.template(line, name, &item, range.start + item.at, depth)?;
        }
        Ok(())
    }

    fn template(
        &mut self,
        line: &Logical,
        category: &[u8],
        item: &Item<'_>,
        at: usize,
        depth: usize,
    ) -> Result<(), ConfigError> {
        let known = template::all(&self.config.context().subsystem);
        let Some(found) = template::find(known, category, item.name) else {
            let message = format!("`{}` does not have a template `{}`", shown(category), shown(item.name));
            let error = line.error(&(at..at + item.name.len()), message);
            let known = known.iter();
            let known = known.filter(|template| template.category.as_bytes().eq_ignore_ascii_case(category));
            let near = near::closest(item.name, known.map(|template| template.name));
            let [major, minor, patch] = VERSION;
            let help = if item.name.contains(&b'$') {
                "references are not expanded in this place".to_owned()
            } else {
                format!("it is not in HTCondor {major}.{minor}.{patch}")
            };
            self.config.refuse(error.help(help).did_you_mean(near));
            // What follows can be read without it.
            return Ok(());
        };
        self.enter(line, depth)?;
        let title: Arc<str> = Arc::from(format!("use {}:{}", found.category, found.name));
        let used = Used { title: Arc::clone(&title), arguments: item.arguments, place: line.place(at) };
        let mut text = SourceText { lines: Lines::new(title, found.text.as_bytes()), template: Some(used) };
        self.source(&mut text, depth + 1)
    }

    fn include(&mut self, line: &Logical, include: &Include, depth: usize) -> Result<(), ConfigError> {
        let place = line.place(include.what.start);
        let what = self.expand(line, &include.what)?;
        let cache = include.cache.as_ref().map(|cache| self.expand(line, cache)).transpose()?;
        let width = include.what.len();
        self.enter(line, depth)?;
        let beside = |path: &[u8]| beside(&place.file, &String::from_utf8_lossy(path));
        let (name, text) = if include.command {
            let kept = cache.as_deref().map(beside);
            match kept.as_ref().and_then(|kept| self.files.read(kept).ok()) {
                Some(text) => (kept.unwrap_or_default(), text),
                None => {
                    let output = match self.command(&what, Some(&place)) {
                        Ok(output) => output,
                        // What is not allowed is not allowed with `ifexist` either.
                        Err(_) if include.if_exists && self.config.context().commands => return Ok(()),
                        Err(error) => return Err(error.width(width)),
                    };
                    if !output.success && !include.if_exists {
                        let message = format!("the command `{}` failed; its output is used", shown(&what));
                        self.config.warn(Diagnostic::warning_at(message, place.clone()).width(width));
                    }
                    if let Some(kept) = kept.filter(|_| output.success) {
                        self.files.store(&kept, &output.text).map_err(|error| {
                            Diagnostic::error_at(format!("cannot write `{kept}`: {error}"), Some(place.clone()))
                        })?;
                    }
                    (format!("{} |", shown(&what)), output.text)
                }
            }
        } else {
            let path = beside(&what);
            if what.contains(&b'*') {
                let message =
                    format!("`{}` is taken for the name of one file: `include` has no wildcards", shown(&what));
                let found = Diagnostic::warning_at(message, place.clone()).width(width).code("bad-value");
                self.config.warn(found.help("set `LOCAL_CONFIG_DIR` to the folder: all files in it are read"));
            }
            match self.files.read(&path) {
                Ok(text) => (path, text),
                Err(FileError::Missing) if include.if_exists => return Ok(()),
                Err(error) => {
                    let refused =
                        Diagnostic::error_at(format!("cannot include `{path}`: {error}"), Some(place)).width(width);
                    if error != FileError::Missing {
                        return Err(refused);
                    }
                    // What follows can be read without it.
                    let help = "`include ifexist : FILE` allows a missing file";
                    self.config.refuse(refused.help(help).code("odd-line"));
                    return Ok(());
                }
            }
        };
        let name: Arc<str> = Arc::from(name);
        let text = self.config.without_mark(&name, &text);
        if !self.config.sources().iter().any(|source| source.name == name && *source.text == *text) {
            self.config.keep_source(&name, text);
        }
        let mut text = SourceText { lines: Lines::new(name, text), template: None };
        self.source(&mut text, depth + 1)
    }

    /// The output of a command, if commands may be run.
    pub(super) fn command(&mut self, command: &[u8], place: Option<&Location>) -> Result<super::Output, ConfigError> {
        if !self.config.context().commands {
            let message = format!("skipped the command `{}`", shown(command));
            return Err(Diagnostic::error_at(message, place.cloned())
                .help("a configuration can run any program: use --allow-commands if you trust it"));
        }
        let text = String::from_utf8_lossy(command);
        self.files
            .run(&text)
            .map_err(|error| Diagnostic::error_at(format!("cannot run `{}`: {error}", shown(command)), place.cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Context, Output};

    fn read(files: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        let root = files[0].0;
        config.read_root(root, &files.iter().copied().collect::<TextFiles>())?;
        Ok(config)
    }

    fn value(text: &str, name: &str) -> Option<String> {
        let config = read(&[("root", text)]).unwrap();
        config.get(name).unwrap().map(|found| String::from_utf8(found.text).unwrap())
    }

    /// Message, place and help of a refusal.
    fn refused(files: &[(&str, &str)]) -> (String, String, String) {
        let error = read(files).unwrap_err();
        let place = error.place.map(|place| place.to_string()).unwrap_or_default();
        (error.message, place, error.help.unwrap_or_default().into())
    }

    #[test]
    fn the_first_branch_whose_condition_holds_is_read() {
        let text = |a: &str, b: &str| format!("if {a}\nA=1\nelif {b}\nA=2\nelse\nA=3\nendif");
        assert_eq!(value(&text("true", "true"), "A").unwrap(), "1");
        assert_eq!(value(&text("false", "true"), "A").unwrap(), "2");
        assert_eq!(value(&text("false", "false"), "A").unwrap(), "3");
        assert_eq!(value(&text("$(NOPE)", "$(NOPE:true)"), "A").unwrap(), "2");
        assert_eq!(value("IF TRUE\nA=1\nELSE\nA=2\nENDIF", "A").unwrap(), "1");
        assert_eq!(value("if defined NEGOTIATOR_INTERVAL\nA=1\nendif", "A").unwrap(), "1");
        assert_eq!(value("if defined NEGOTIATOR_SLOT_CONSTRAINT\nA=1\nendif", "A"), None);
        assert_eq!(value("X=Y\nif defined $(X)\nA=1\nelse\nA=2\nendif", "A").unwrap(), "2");
    }

    #[test]
    fn a_template_that_is_not_known_refuses_the_configuration_but_the_rest_is_read() {
        let mut config = Config::default();
        let text = b"use FEATURE : Nonesuch\nA = 1\nuse POLICY : Prempt_If\nB = 2";
        let error = config.add("f", text).unwrap_err();
        assert_eq!(error.message, "`FEATURE` does not have a template `Nonesuch`");
        assert_eq!(error.help.as_deref().unwrap(), "it is not in HTCondor 25.14.1");
        assert_eq!(config.get("B").unwrap().unwrap().text, b"2");
        let warning = &config.warnings()[0];
        assert_eq!((warning.message.as_str(), warning.line()), ("`POLICY` does not have a template `Prempt_If`", 3));
        // The next text is judged by itself.
        config.add("g", b"C = 3").unwrap();
    }

    #[test]
    fn a_byte_order_mark_refuses_the_configuration() {
        let mut config = Config::default();
        let error = config.add("f", b"\xef\xbb\xbfSTART = true\nRANK = 1").unwrap_err();
        assert!(error.message.contains("byte order mark"), "{error}");
        assert_eq!(config.get("START").unwrap().unwrap().text, b"true");
    }

    #[test]
    fn templates_of_other_daemons_set_what_those_of_the_reference_set() {
        let of = |text: &str, name: &str| value(text, name).unwrap();
        assert_eq!(of("use FEATURE : ChildCollector(3)", "COLLECTOR3_ARGS"), "-sock collector3");
        assert_eq!(of("use FEATURE : ChildCollector(3, 9620)", "COLLECTOR3_ARGS"), "-p 9620");
        assert_eq!(of("use FEATURE : PelicanCache", "PELICANCACHE_SIZE"), "256GB");
        assert_eq!(of("use EXPERIMENTAL : HADSharedPort(NEGOTIATOR, a)", "HAD_CONTROLLEE"), "NEGOTIATOR");
        // 8 * 60 - 29.5 = 450.5 and (12 + 5) * 60 + 0.5 = 1020.5, without their fractions.
        let hours = of("use FEATURE : POLICY_HOURS_TO_START", "RunJobsHours");
        assert_eq!(hours, "(ClockMin < 450 || ClockMin > 1020)");
        for text in [
            "use FEATURE : KRB, LIBRARIAN, METRICD, AssignProjectName(map)",
            "use SECURITY : FIPS\nuse POLICY : OnlyRegisteredCheckpointDestinations\nuse EXPERIMENTAL : CollectorNode(2)",
        ] {
            let config = Config::parse("f", text.as_bytes()).unwrap();
            assert_eq!(crate::config::check::check(&config), [], "{text}");
        }
    }

    #[test]
    fn what_is_not_read_is_not_looked_at() {
        assert_eq!(value("if false\nif bogus stuff\nelse\nendif\nA=1\nelse\nA=2\nendif", "A").unwrap(), "2");
        assert_eq!(
            value("if false\n bad line here\nuse nope:nope\nerror : no\ninclude : /nope\nendif\nA=1", "A").unwrap(),
            "1"
        );
        assert_eq!(value("if true\nelif not one\nendif\nA=1", "A").unwrap(), "1");
        // A continued line takes the `endif` into it.
        assert_eq!(value("if false\nA = 1 \\\nendif\nB=2\nendif\nC=3", "B"), None);
    }

    #[test]
    fn conditions_must_be_balanced() {
        for (text, message, place) in [
            ("A=1\n if true\nA=1", "`if` without `endif`", "root:2:2"),
            ("endif", "`endif` without `if`", "root:1:1"),
            ("else", "`else` without `if`", "root:1:1"),
            ("elif true", "`elif` without `if`", "root:1:1"),
            ("if true\nelse\nelse\nendif", "`else` after `else`", "root:3:1"),
            ("if false\nelse\nelif true\nendif", "`elif` after `else`", "root:3:1"),
            (
                "if 1 > 0\nendif",
                "expected a boolean, a number, `defined` or `version` after `if`, found `1 > 0`",
                "root:1:4",
            ),
            (
                "if false\nelif 1 > 0\nendif",
                "expected a boolean, a number, `defined` or `version` after `elif`, found `1 > 0`",
                "root:2:6",
            ),
            ("if\nendif", "expected a boolean, a number, `defined` or `version` after `if`, found nothing", "root:1:3"),
        ] {
            let (found, at, _) = refused(&[("root", text)]);
            assert_eq!((found.as_str(), at.as_str()), (message, place), "{text}");
        }
        let nested = |levels: usize| format!("{}A=1\n{}", "if true\n".repeat(levels), "endif\n".repeat(levels));
        assert_eq!(value(&nested(63), "A").unwrap(), "1");
        assert_eq!(refused(&[("root", &nested(64))]).1, "root:64:1");
        // A file must close its own conditions.
        let (message, place, _) = refused(&[("root", "if true\ninclude : o\nendif"), ("o", "else")]);
        assert_eq!((message.as_str(), place.as_str()), ("`else` without `if`", "o:1:1"));
    }

    #[test]
    fn a_colon_hides_statements_inside_a_condition_only() {
        assert_eq!(value("if true\n:A=1\n:if true\n:B=2\n:endif\nendif", "B").unwrap(), "2");
        assert_eq!(refused(&[("root", ":A=1")]).0, "`` is not a name");
        assert_eq!(refused(&[("root", "if true\n: A=1\nendif")]).1, "root:2:1");
    }

    #[test]
    fn values_may_have_many_lines() {
        assert_eq!(value("A @=end\nl1\n  l2\\\nl3\n# c\n\nl4\n@end\nB=1", "A").unwrap(), "l1\nl2l3\nl4");
        assert_eq!(value("A @=end\nl1\n@END\nif true\n@end", "A").unwrap(), "l1\n@END\nif true");
        assert_eq!(value("A=5\nA @= end\n$(A) 6\n@end", "A").unwrap(), "5 6");
        assert_eq!(value("A @=\nx\n@", "A").unwrap(), "x");
        let (message, place, help) = refused(&[("root", "B=1\nA @=end\nl1")]);
        assert_eq!((message.as_str(), place.as_str()), ("the value of `A` does not end", "root:2:1"));
        assert_eq!(help, "expected `@end` on a line of its own");
    }

    #[test]
    fn files_are_included_at_once_and_beside_their_file() {
        let config =
            read(&[("pool/root", "F=o\ninclude : $(F)\nA=$(B)\ninclude ifexist : nope"), ("pool/o", "B=1")]).unwrap();
        assert_eq!(config.get("A").unwrap().unwrap().text, b"1");
        assert_eq!(config.get("B").unwrap().unwrap().place.unwrap().to_string(), "pool/o:1:1");
        assert_eq!(config.get("CONFIG_ROOT").unwrap().unwrap().text, b"pool");
        let (message, place, help) = refused(&[("root", "include : nope")]);
        assert_eq!((message.as_str(), place.as_str()), ("cannot include `nope`: no such file", "root:1:11"));
        assert_eq!(help, "`include ifexist : FILE` allows a missing file");
    }

    #[test]
    fn includes_by_a_pattern_are_told_where_they_are_read() {
        let text = "if false\ninclude : a/*\nendif\nX @=end\ninclude : b/*\n@end\ninclude ifexist : c/*.conf\n";
        let config = read(&[("root", text)]).unwrap();
        let [warning] = config.warnings() else { panic!("{:?}", config.warnings()) };
        assert_eq!((warning.line(), warning.code), (7, "bad-value"));
        assert!(warning.message.starts_with("`c/*.conf` is taken for the name of one file"), "{}", warning.message);
    }

    #[test]
    fn includes_do_not_go_on_for_ever() {
        let (message, place, _) = refused(&[("root", "A=1\ninclude : root")]);
        assert_eq!(message, "includes and templates are nested more than 20 deep");
        assert_eq!(place, "root:2:1");
        // Twice in every file, to a depth that is allowed: 2^19 files if nothing stopped it.
        let files: Vec<(String, String)> = (0..19)
            .map(|at| (format!("f{at}"), format!("include : f{next}\ninclude : f{next}", next = at + 1)))
            .chain([("f19".to_owned(), "A=1".to_owned())])
            .collect();
        let mut config = Config::default();
        let error = config.read_root("f0", &TextFiles::from_iter(files)).unwrap_err();
        assert_eq!(error.message, "the configuration takes more than 10000 files and templates");
    }

    #[test]
    fn commands_are_only_run_when_that_is_allowed() {
        struct Shell;
        impl Files for Shell {
            fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
                if path == "kept" { Ok(b"B = 9".to_vec()) } else { Err(FileError::Missing) }
            }
            fn list(&self, _: &str) -> Result<Vec<String>, FileError> {
                Err(FileError::Missing)
            }
            fn run(&self, command: &str) -> Result<Output, FileError> {
                match command {
                    "nope" => Err(FileError::Missing),
                    _ => Ok(Output { text: b"B = 5".to_vec(), success: command != "false" }),
                }
            }
        }
        let run = |text: &str, commands: bool| {
            let mut config = Config::new(Context { commands, ..Context::default() });
            config.read("root", text.as_bytes(), &Shell)?;
            Ok::<_, ConfigError>((config.get("B").unwrap().map(|found| found.text), config.warnings().len()))
        };
        for text in [
            "include : echo |",
            "include command : echo",
            "include ifexist command : echo",
            "include command into c : echo",
        ] {
            let error = run(text, false).unwrap_err();
            assert_eq!(error.message, "skipped the command `echo`", "{text}");
            assert!(error.help.unwrap().contains("--allow-commands"));
        }
        assert_eq!(run("include : echo |", true), Ok((Some(b"B = 5"[4..].to_vec()), 0)));
        assert_eq!(run("include command into kept : echo", true), Ok((Some(b"9".to_vec()), 0)));
        assert_eq!(run("include command into kept : echo", false), Ok((Some(b"9".to_vec()), 0)));
        assert_eq!(run("include command : false", true), Ok((Some(b"5".to_vec()), 1)));
        assert_eq!(run("include command : nope", true).unwrap_err().message, "cannot run `nope`: no such file");
        assert_eq!(run("include ifexist command : nope", true), Ok((None, 0)));
    }

    #[test]
    fn local_files_follow_the_root_in_their_order() {
        let config = read(&[
            ("root", "LOCAL_CONFIG_DIR = d\nLOCAL_CONFIG_FILE = o, p\nA = 1\nB = 1\nC = 1"),
            ("d/20", "A = $(A) 20"),
            ("d/10", "A = $(A) 10\nLOCAL_CONFIG_FILE = o p q"),
            ("d/.hidden", "A = hidden"),
            ("d/x.rpmsave", "A = saved"),
            ("o", "A = $(A) o"),
            ("p", "A = $(A) p"),
            ("q", "A = $(A) q\nLOCAL_CONFIG_DIR = e"),
            ("e/1", "A = $(A) e"),
        ])
        .unwrap();
        assert_eq!(config.get("A").unwrap().unwrap().text, b"1 10 20 o p q e");
        let (message, place, help) = refused(&[("root", "LOCAL_CONFIG_FILE = nope")]);
        assert_eq!((message.as_str(), place.as_str()), ("cannot read `nope`: no such file", "root:1:1"));
        assert!(help.contains("REQUIRE_LOCAL_CONFIG_FILE"));
        assert_eq!(value("LOCAL_CONFIG_FILE = nope\nREQUIRE_LOCAL_CONFIG_FILE = F\nA=1", "A").unwrap(), "1");
    }

    #[test]
    fn the_environment_sets_names_last() {
        let environment = [("_CONDOR_A", "7"), ("_condor_b", "$(B)$(C)"), ("HOME", "/"), ("_CONDOR_EMPTY", "")];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        let mut config = Config::new(Context { environment: environment.into_iter().collect(), ..Context::default() });
        config.read_root("root", &TextFiles::from_iter([("root", "A=1\nB=2\nC=3\nEMPTY=4")])).unwrap();
        let text = |name| config.get(name).unwrap().unwrap().text;
        assert_eq!((text("A"), text("B"), text("EMPTY")), (b"7".to_vec(), b"23".to_vec(), Vec::new()));
        assert_eq!(config.get("A").unwrap().unwrap().place.unwrap().to_string(), "environment variable _CONDOR_A");
    }

    #[test]
    fn messages_are_told_and_errors_stop() {
        let config = read(&[("root", "A=1\nwarning : hello $(A)")]).unwrap();
        assert_eq!(config.warnings()[0].message, "hello 1");
        let (message, place, _) = refused(&[("root", "X=q\nerror 5 : hello $(X)\nA=1")]);
        assert_eq!((message.as_str(), place.as_str()), ("the configuration reports an error: hello q", "root:2:1"));
    }

    /// Effects as the reference library shows them.
    #[test]
    fn templates_set_what_they_say() {
        assert_eq!(
            value("use ROLE : CentralManager, Submit Execute", "DAEMON_LIST").unwrap(),
            "MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD"
        );
        assert_eq!(
            value("use role:get_htcondor_central_manager", "DAEMON_LIST").unwrap(),
            "MASTER COLLECTOR NEGOTIATOR"
        );
        let text = "use POLICY : Always_Run_Jobs";
        assert_eq!(value(text, "PREEMPTION_REQUIREMENTS").unwrap(), "False");
        assert_eq!(value(text, "NEGOTIATOR_CONSIDER_PREEMPTION").unwrap(), "False");
        assert_eq!(
            value("use POLICY : UWCS_Desktop", "PREEMPTION_REQUIREMENTS").unwrap(),
            "((SubmitterGroup =?= RemoteGroup) && ((time() - EnteredCurrentState) > (1 * 3600)) && \
             (RemoteUserPrio > TARGET.SubmitterUserPrio * 1.2)) || (MY.NiceUser == True)"
        );
        assert_eq!(
            value("use POLICY : UWCS_Desktop", "WANT_SUSPEND").unwrap(),
            "( (TARGET.ImageSize <  (15 * 1024)) || ((KeyboardIdle < 60) == False) || (TARGET.JobUniverse == 5) ) && \
             ( ( (KeyboardIdle < 60) || ( (IfThenElse(CpuBusyValue is 1, time() - CpuBusyTime, 0) > 2 * 60) && \
             ifThenElse(JobStart =!= UNDEFINED, (time() - JobStart), 0) > 90 ) ) )"
        );
        assert_eq!(value("use POLICY:Desktop_Hours", "START").unwrap(), "(ClockMin < 450 || ClockMin > 1020)");
        assert_eq!(value("use FEATURE : PartitionableSlot", "SLOT_TYPE_1").unwrap(), "100%");
        assert_eq!(
            value("use FEATURE : PartitionableSlot( 2 , cpus=1,memory=2 )", "SLOT_TYPE_2").unwrap(),
            "cpus=1,memory=2"
        );
        assert_eq!(value("use POLICY : Limit_Job_Runtimes (5)", "MaxJobRetirementTime").unwrap(), "5+120");
        assert_eq!(value("use POLICY : Limit_Job_Runtimes", "MAX_JOB_RUNTIME").unwrap(), "24*3600");
        assert_eq!(
            value("use POLICY : Want_Hold_If(FOO,5,why, not (really))\nFOO=x", "WANT_HOLD_REASON").unwrap(),
            "ifThenElse(x, \"why, not (really)\", UNDEFINED)"
        );
        assert_eq!(
            value("use POLICY : Preempt_If_Memory_Exceeded", "MAXJOBRETIREMENTTIME").unwrap(),
            "ifthenelse((JobUniverse != 13 && MemoryUsage =!= UNDEFINED && MemoryUsage > Memory),-1,0)"
        );
        assert_eq!(value("PREEMPT=a\nuse POLICY : Preempt_If(FOO)\nFOO=x>1", "PREEMPT").unwrap(), "x>1 || a");
        assert!(
            value("use FEATURE : AssignAccountingGroup(/m)", "JOB_TRANSFORM_AssignAccountingGroup")
                .unwrap()
                .contains('\n')
        );
        assert_eq!(value("use SECURITY : recommended_v9_0, Strong\nuse POLICY :\nA=1", "A").unwrap(), "1");
    }

    #[test]
    fn a_value_from_a_template_stands_where_that_is_used() {
        let config = read(&[("root", "A=1\nuse POLICY : Always_Run_Jobs")]).unwrap();
        let found = config.definition(b"START").unwrap();
        assert_eq!(found.place.unwrap().to_string(), "root:2:14");
        assert_eq!(found.template, Some("use POLICY:Always_Run_Jobs"));
    }

    #[test]
    fn bad_uses_are_told() {
        for (text, message, place, help) in [
            (
                "use POLICY : Always_Run_Job",
                "`POLICY` does not have a template `Always_Run_Job`",
                "root:1:14",
                "did you mean `Always_Run_Jobs`?",
            ),
            (
                "use POLICY : $(X)",
                "`POLICY` does not have a template `$`",
                "root:1:14",
                "references are not expanded in this \
            place",
            ),
            ("use NOPE : x", "`NOPE` is not a category of templates", "root:1:5", "the categories are"),
            ("use POLICY : Limit_Job_Runtimes(5", "expected `)` after the arguments of the template", "root:1:32", ""),
            (
                "use POLICY : Preempt_If",
                "the configuration reports an error: use POLICY : PREEMPT_IF requires an argument",
                "root:1:14",
                "",
            ),
        ] {
            let found = refused(&[("root", text)]);
            assert!(found.0.starts_with(message) && found.1 == place && found.2.starts_with(help), "{text}: {found:?}");
        }
    }

    #[test]
    fn what_reading_may_take_is_bounded() {
        // A value that doubles itself.
        let text = format!("A = {}\n{}", "x".repeat(1000), "A = $(A)$(A)\n".repeat(40));
        assert!(refused(&[("root", &text)]).0.contains("longer than 4194304 bytes"));
        // Many values of nearly that length.
        let one = |name: usize| {
            format!("A{name} = {}\n{}", "x".repeat(1000), format!("A{name} = $(A{name})$(A{name})\n").repeat(12))
        };
        let text: String = (0..100).map(one).collect();
        assert_eq!(refused(&[("root", &text)]).0, "the total length of all values exceeds 128 MiB");
        // Conditions that take very many references to nothing.
        let links: String = (0..17).map(|at| format!("A{at} = $(A{next})$(A{next})\n", next = at + 1)).collect();
        let text = format!("{links}{}", "if $(A0)\nendif\n".repeat(1000));
        assert!(refused(&[("root", &text)]).0.contains("references to read"));
    }
}
