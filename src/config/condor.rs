//! `HTCondor` configuration text: `NAME = value` lines with comments, continuations and `$(NAME)`.
//!
//! In: the text of one file. Out: [`Config`], names with raw values that are expanded when they are
//! looked up. Conditionals, includes, templates and multi-line values are refused as not supported yet.

use std::sync::Arc;

use hashbrown::HashMap;

use super::expand::{ExpandError, expand, expand_self, is_name_byte};
use super::{ConfigError, Place, shown, table};

/// Longest logical line (after continuations), in bytes.
const LONGEST_LINE: usize = 16 << 20;

/// A name's value as it was written, and where.
#[derive(Debug, Clone)]
struct Entry {
    name: Box<[u8]>,
    raw: Vec<u8>,
    place: Place,
}

/// Something odd that does not stop the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// What is odd.
    pub message: String,
    /// Where it stands.
    pub place: Place,
}

/// The names a configuration sets, over the built-in table of defaults.
///
/// Names are case-insensitive; the last assignment wins; values are expanded at look-up, so the order
/// of definition does not matter (`config-language.md` §4).
///
/// ```
/// use classmate::config::Config;
/// let config = Config::parse("pool.conf", b"HOURS = 2\nPRIORITY_HALFLIFE = $(HOURS)").unwrap();
/// assert_eq!(config.get("priority_halflife").unwrap().unwrap().text, b"2");
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    entries: Vec<Entry>,
    index: HashMap<Box<[u8]>, usize>,
    subsystem: Box<[u8]>,
    warnings: Vec<ConfigWarning>,
}

/// A value found: its expanded text and where it was set (nowhere for a built-in default).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The text after expansion; may be empty.
    pub text: Vec<u8>,
    /// The assignment it comes from.
    pub place: Option<Place>,
}

impl Default for Config {
    /// A negotiator's configuration in which nothing is set: the built-in defaults hold.
    fn default() -> Self {
        let subsystem = b"NEGOTIATOR".to_vec().into_boxed_slice();
        Self { entries: Vec::new(), index: HashMap::new(), subsystem, warnings: Vec::new() }
    }
}

impl Config {
    /// Reads one file as the negotiator would.
    ///
    /// # Errors
    /// The first line that is not understood, with its place.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        config.add(file, text)?;
        Ok(config)
    }

    /// Reads a further file over what is there.
    ///
    /// # Errors
    /// As [`Config::parse`]; what was read before the error stays.
    pub fn add(&mut self, file: &str, text: &[u8]) -> Result<(), ConfigError> {
        let mut lines = Lines { file: Arc::from(file), text, line: 0 };
        while let Some(logical) = lines.next(&mut self.warnings)? {
            self.statement(&logical)?;
        }
        Ok(())
    }

    /// What is odd in the files read, in order.
    pub fn warnings(&self) -> &[ConfigWarning] {
        &self.warnings
    }

    /// The value of a name: `SUBSYSTEM.NAME`, then `NAME`, then the built-in table; `None` if nowhere.
    ///
    /// # Errors
    /// A circle of references, or a function macro, in the value.
    pub fn get(&self, name: &str) -> Result<Option<Found>, ConfigError> {
        let Some((raw, place)) = self.raw(name.as_bytes()) else {
            return Ok(None);
        };
        let text = expand(name.as_bytes(), raw, &|name| self.raw(name).map(|(raw, _)| raw)).map_err(|error| {
            let place = place.cloned();
            ConfigError::new(format!("`{name}` cannot be expanded: {error}"), place)
        })?;
        Ok(Some(Found { text, place: place.cloned() }))
    }

    /// The names the files set (not the built-in ones), in the order of their first assignment.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// Names, raw values and places, in the order of their first assignment: all there is to a configuration.
    pub fn assignments(&self) -> impl Iterator<Item = (&[u8], &[u8], &Place)> {
        self.entries.iter().map(|entry| (&*entry.name, &*entry.raw, &entry.place))
    }

    /// A configuration from its [`Config::assignments`].
    pub fn from_assignments(assignments: impl IntoIterator<Item = (Vec<u8>, Vec<u8>, Place)>) -> Self {
        let mut config = Self::default();
        for (name, raw, place) in assignments {
            config.set(&name, raw, place);
        }
        config
    }

    fn raw(&self, name: &[u8]) -> Option<(&[u8], Option<&Place>)> {
        let find = |name: &[u8]| {
            let entry = &self.entries[*self.index.get(&*name.to_ascii_uppercase())?];
            Some((&*entry.raw, Some(&entry.place)))
        };
        let prefixed = [&self.subsystem, b".".as_slice(), name].concat();
        find(&prefixed).or_else(|| find(name)).or_else(|| Some((table::default_text(name)?.as_bytes(), None)))
    }

    /// The raw value the first of these names has that has one, the table's default included.
    fn earlier(&self, names: &[&[u8]]) -> Option<&[u8]> {
        let set = names.iter().find_map(|name| self.index.get(&*name.to_ascii_uppercase()));
        match set {
            Some(&at) => Some(&self.entries[at].raw),
            None => names.iter().find_map(|name| table::default_text(name)).map(str::as_bytes),
        }
    }

    /// Extends a name's value in place; a value that comes from the table, or is empty, is set anew.
    fn append(&mut self, name: &[u8], between: &[u8], value: &[u8], place: &Place) {
        let set = self.index.get(&*name.to_ascii_uppercase()).copied();
        if let Some(at) = set.filter(|&at| !self.entries[at].raw.is_empty()) {
            self.entries[at].raw.extend_from_slice(between);
            self.entries[at].raw.extend_from_slice(value);
        } else {
            let old = self.earlier(&[name]).filter(|old| !old.is_empty());
            let raw = old.map_or_else(|| value.to_vec(), |old| [old, between, value].concat());
            self.set(name, raw, place.clone());
        }
    }

    fn set(&mut self, name: &[u8], raw: Vec<u8>, place: Place) {
        if let Some(&at) = self.index.get(&*name.to_ascii_uppercase()) {
            self.entries[at].raw = raw;
            self.entries[at].place = place;
        } else {
            self.index.insert(name.to_ascii_uppercase().into_boxed_slice(), self.entries.len());
            self.entries.push(Entry { name: name.into(), raw, place });
        }
    }

    fn statement(&mut self, line: &Logical) -> Result<(), ConfigError> {
        let text = line.text.as_slice();
        let word = text.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b':' | b'=')).unwrap_or(text.len());
        let after = text[word..].trim_ascii_start();
        refuse_keyword(&text[..word], after, &line.place)?;
        if text[0] == b'[' && word == text.len() {
            return Ok(());
        }
        let name_end = name_length(text);
        let (operator, value_at) = operator(text, name_end).ok_or_else(|| {
            ConfigError::new(format!("expected `NAME = value`, found `{}`", shown(text)), Some(line.place.clone()))
        })?;
        let value = text[value_at..].trim_ascii_start();
        let name = self.name(&text[..name_end], &line.place)?;
        let names = self.own_names(&name);
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let raw = match &operator {
            Operator::Set | Operator::ObsoleteSet => {
                expand_self(&names, self.earlier(&names), value).map_err(|e| at(&e, line))?
            }
            Operator::Append(between) => {
                self.append(&name, between, value, &line.place);
                return Ok(());
            }
        };
        if matches!(operator, Operator::ObsoleteSet) {
            let message = format!("`{} : value` is the obsolete form of `{0} = value`", shown(&name));
            self.warnings.push(ConfigWarning { message, place: line.place.clone() });
        }
        self.set(&name, raw, line.place.clone());
        Ok(())
    }

    /// The spellings under which an assignment refers to itself: with and without the subsystem.
    fn own_names(&self, name: &[u8]) -> Vec<Vec<u8>> {
        let mut names = vec![name.to_vec()];
        if let Some(dot) = name.iter().position(|b| *b == b'.')
            && name[..dot].eq_ignore_ascii_case(&self.subsystem)
        {
            names.push(name[dot + 1..].to_vec());
        }
        names
    }

    /// The name being assigned, its references expanded at once.
    fn name(&self, text: &[u8], place: &Place) -> Result<Vec<u8>, ConfigError> {
        let name = expand(b"", text, &|name| self.raw(name).map(|(raw, _)| raw))
            .map_err(|e| ConfigError::new(e.to_string(), Some(place.clone())))?;
        if name.is_empty() || !name.iter().copied().all(is_name_byte) {
            let message = format!("`{}` is not a name", shown(&name));
            return Err(ConfigError::new(message, Some(place.clone()))
                .with_help("names consist of letters, digits, `_`, `.` and `/`"));
        }
        Ok(name)
    }
}

fn at(error: &ExpandError, line: &Logical) -> ConfigError {
    ConfigError::new(error.to_string(), Some(line.place.clone()))
}

enum Operator {
    Set,
    ObsoleteSet,
    /// Append, with this between the old and the new value.
    Append(Vec<u8>),
}

/// Length of the name at the beginning of a line: to a blank, `=` or `:` outside parentheses.
fn name_length(text: &[u8]) -> usize {
    let mut depth = 0u32;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'=' | b':' if depth == 0 => return at,
            _ if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// The operator after the name, and where the value begins.
fn operator(text: &[u8], name_end: usize) -> Option<(Operator, usize)> {
    let blanks = text[name_end..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let start = name_end + blanks;
    let rest = &text[start..];
    match rest.first()? {
        b'=' => Some((Operator::Set, start + 1)),
        b':' => Some((Operator::ObsoleteSet, start + 1)),
        b'+' if rest.get(1) == Some(&b'=') => Some((Operator::Append(b" ".to_vec()), start + 2)),
        b'+' => {
            let separator = *rest.get(1).filter(|b| b",;|&*".contains(b))?;
            if rest.get(2) == Some(&b'=') {
                Some((Operator::Append(vec![separator]), start + 3))
            } else if rest.get(2) == Some(&separator) && rest.get(3) == Some(&b'=') {
                Some((Operator::Append(vec![b' ', separator, separator, b' ']), start + 4))
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Refuses the statements of the full language that are not read yet.
fn refuse_keyword(word: &[u8], after: &[u8], place: &Place) -> Result<(), ConfigError> {
    let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
    let assigned = after.first() == Some(&b'=');
    let message = after.contains(&b':') && !assigned;
    let what = if after.starts_with(b"@=") {
        Some("multi-line value `@=`".to_owned())
    } else if ["if", "elif", "else", "endif"].into_iter().any(is) && !assigned {
        Some(format!("conditional `{}`", shown(word)))
    } else if word.starts_with(b"@")
        || (word.starts_with(b":") || is("use") || is("include")) && !assigned
        || (is("warning") || is("error")) && message
    {
        Some(format!("statement `{}`", shown(word)))
    } else {
        None
    };
    match what {
        Some(what) => Err(ConfigError::new(format!("{what} is not supported yet"), Some(place.clone()))),
        None => Ok(()),
    }
}

/// A line after continuations and the place where it begins.
struct Logical {
    text: Vec<u8>,
    place: Place,
}

struct Lines<'a> {
    file: Arc<str>,
    text: &'a [u8],
    line: u32,
}

impl<'a> Lines<'a> {
    /// The next physical line without white space at its ends, and the column of its first byte.
    fn physical(&mut self) -> Option<(&'a [u8], u32)> {
        if self.text.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.text);
        let line = &self.text[..end.unwrap_or(self.text.len())];
        self.text = &self.text[end.map_or(self.text.len(), |end| end + 1)..];
        self.line += 1;
        let column = (line.len() - line.trim_ascii_start().len()) as u32 + 1;
        Some((line.trim_ascii(), column))
    }

    /// The next line that holds more than a backslash.
    fn next(&mut self, warnings: &mut Vec<ConfigWarning>) -> Result<Option<Logical>, ConfigError> {
        loop {
            match self.logical(warnings)? {
                Some(line) if line.text.is_empty() => {}
                line => return Ok(line),
            }
        }
    }

    fn logical(&mut self, warnings: &mut Vec<ConfigWarning>) -> Result<Option<Logical>, ConfigError> {
        let (first, column) = loop {
            match self.physical() {
                None => return Ok(None),
                Some((line, column)) if !line.is_empty() && line[0] != b'#' => {
                    break (line, column);
                }
                Some(_) => {}
            }
        };
        let place = Place { file: Arc::clone(&self.file), line: self.line, column };
        let mut text = first.to_vec();
        while text.last() == Some(&b'\\') {
            text.pop();
            if text.len() > LONGEST_LINE {
                let message = format!("a line is longer than {LONGEST_LINE} bytes");
                return Err(ConfigError::new(message, Some(place)));
            }
            let Some((line, column)) = self.physical() else {
                break;
            };
            if line.first() == Some(&b'#') {
                // A comment inside a value: dropped, and the value goes on.
                text.push(b'\\');
                if line.last() != Some(&b'\\') {
                    let message = "a comment inside a continued value does not end it".to_owned();
                    let place = Place { file: Arc::clone(&self.file), line: self.line, column };
                    warnings.push(ConfigWarning { message, place });
                }
            } else {
                text.extend_from_slice(line);
            }
        }
        Ok(Some(Logical { text, place }))
    }
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
    fn a_comment_inside_a_value_is_dropped_with_a_warning() {
        let config = Config::parse("f", b"A = one \\\n # no bs\n two").unwrap();
        assert_eq!(config.get("A").unwrap().unwrap().text, b"one two");
        assert_eq!(config.warnings()[0].place.to_string(), "f:2:2");
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
    }

    #[test]
    fn the_subsystem_prefix_comes_first() {
        let text = "NEGOTIATOR.X = a\nX = b\nY = $(X)";
        assert_eq!(value(text, "X").unwrap(), "a");
        assert_eq!(value(text, "Y").unwrap(), "a");
    }

    #[test]
    fn a_name_may_contain_references() {
        assert_eq!(value("N = q\nA_$(N) = 7", "A_q").unwrap(), "7");
        assert_eq!(value("A_$(N:z) = 7", "A_z").unwrap(), "7");
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
    fn the_rest_of_the_language_is_refused_as_not_supported_yet() {
        for text in [
            "use ROLE : CentralManager",
            "@use FEATURE : GPUs",
            "include : other.conf",
            "include ifexist command : x |",
            "if true",
            "IF defined A",
            "else",
            "endif",
            "A @=end\nx\n@end",
            "warning : hm",
            "error 5 : no",
        ] {
            let (message, line, _) = refusal(text);
            assert!(message.ends_with("is not supported yet"), "{text}: {message}");
            assert_eq!(line, 1);
        }
        // Ordinary names all the same.
        assert_eq!(value("use = 1", "use").unwrap(), "1");
        assert_eq!(value("error = 1", "error").unwrap(), "1");
    }

    #[test]
    fn a_function_macro_is_refused_when_the_value_is_read() {
        let config = Config::parse("f", b"\nA = $ENV(HOME)").unwrap();
        let error = config.get("A").unwrap_err();
        assert_eq!(error.message, "`A` cannot be expanded: the function macro `$ENV(…)` is not supported yet");
        assert_eq!(error.place.unwrap().line, 2);
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
        for text in ["\\\n", "\\\n\n", "A += x\n", "[x]\n"] {
            assert!(Config::parse("f", text.repeat(200_000).as_bytes()).is_ok());
        }
    }
}
