//! DIRAC's configuration text (CS): sections in braces, options `key = value` (`docs/reference/dirac-shares.md` 6).
//!
//! In: the bytes of a file. Out: a table of sections and options, each with its place. Later texts go on where earlier
//! ones ended: a section that appears twice continues the first one.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::config::{ConfigError, Diagnostic, Location, Source, shown};

/// Deepest nesting of sections.
const MAX_DEPTH: usize = 100;
/// The row of the root.
const ROOT: usize = 0;

/// A configuration of DIRAC as it is written.
///
/// ```
/// use classmate_config::internal::config::dirac::DiracTree;
/// let tree = DiracTree::parse("dirac.cfg", b"Registry\n{\n  Groups\n  {\n    lhcb_mc { \n      JobShare = 300\n    }\n
/// }\n}\n")?;
/// let share = tree.root().option("Registry/Groups/lhcb_mc/JobShare").unwrap();
/// assert_eq!((share.text, share.place.to_string()), (&b"300"[..], "dirac.cfg:6:7".to_owned()));
/// # Ok::<(), classmate_config::internal::config::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DiracTree {
    nodes: Vec<Node>,
    names: HashMap<(usize, Vec<u8>), usize>,
    sources: Vec<Source>,
    warnings: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
struct Node {
    name: Vec<u8>,
    place: Location,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// Rows of what is in it, in the order of first appearance.
    Section(Vec<usize>),
    /// The value, and its place.
    Option(Vec<u8>, Location),
}

/// The state between lines.
struct ReadState {
    /// The rows of the sections that are open, the root first.
    open: Vec<usize>,
    pending: Pending,
}

/// Text that will be the name of a section if a brace follows.
#[derive(Default)]
struct Pending {
    text: Vec<u8>,
    place: Option<Location>,
}

impl Default for DiracTree {
    fn default() -> Self {
        let root = Node { name: Vec::new(), place: Location::outside("root"), content: Content::Section(Vec::new()) };
        Self { nodes: vec![root], names: HashMap::new(), sources: Vec::new(), warnings: Vec::new() }
    }
}

impl DiracTree {
    /// Reads a text; `file` is what it is called.
    ///
    /// # Errors
    /// The first line that is not understood: a brace too many or too few, a section without a name, text that is
    /// neither option nor section.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, ConfigError> {
        let mut tree = Self::default();
        tree.add(file, text)?;
        Ok(tree)
    }

    /// Reads a further text over what is there.
    ///
    /// # Errors
    /// As [`DiracTree::parse`]; what was read before stays.
    pub fn add(&mut self, file: &str, text: &[u8]) -> Result<(), ConfigError> {
        let name: Arc<str> = Arc::from(file);
        self.sources.push(Source { name: Arc::clone(&name), text: text.into() });
        let mut state = ReadState { open: vec![ROOT], pending: Pending::default() };
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let column = line.len() - line.trim_ascii_start().len() + 1;
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let place = Location { file: Arc::clone(&name), line: at as u32 + 1, column: column as u32 };
            if !line.starts_with(b"{") {
                state.pending.refuse()?;
            }
            self.line(line, &place, &mut state)?;
        }
        state.pending.refuse()?;
        let Some(node) = state.open.last().filter(|&&last| last != ROOT).map(|&last| &self.nodes[last]) else {
            return Ok(());
        };
        let message = format!("the section `{}` is not closed", shown(&node.name));
        Err(Diagnostic::error_at(message, Some(node.place.clone()))
            .width(node.name.len())
            .help("each `{` needs a `}`: the file may be truncated"))
    }

    fn line(&mut self, line: &[u8], start: &Location, state: &mut ReadState) -> Result<(), ConfigError> {
        let ReadState { open, pending } = state;
        let here = |at: usize| Location { column: start.column + at as u32, ..start.clone() };
        let inside = |open: &[usize]| open.last().copied().unwrap_or(ROOT);
        for (at, &byte) in line.iter().enumerate() {
            match byte {
                b'{' => {
                    let found = std::mem::take(pending);
                    let name = found.text.trim_ascii();
                    let place = found.place.unwrap_or_else(|| here(at));
                    if name.is_empty() {
                        return Err(Diagnostic::error_at("expected the name of a section before `{`", Some(here(at)))
                            .width(1)
                            .help("write the name before the brace, or on the line above it"));
                    }
                    if open.len() > MAX_DEPTH {
                        let message = format!("sections are nested more than {MAX_DEPTH} deep");
                        return Err(Diagnostic::error_at(message, Some(place)));
                    }
                    let section = self.section(inside(open), name, place)?;
                    open.push(section);
                }
                b'}' => {
                    pending.refuse()?;
                    if open.len() <= 1 {
                        return Err(Diagnostic::error_at("`}` does not close anything", Some(here(at)))
                            .width(1)
                            .help("there are more `}` than `{` before it"));
                    }
                    open.pop();
                }
                b'=' | b'+' if byte == b'=' || line.get(at + 1) == Some(&b'=') => {
                    let appends = byte == b'+';
                    let value = &line[at + if appends { 2 } else { 1 }..];
                    let skipped = value.len() - value.trim_ascii_start().len();
                    let value_place = here(line.len() - value.len() + skipped);
                    *pending = Pending::default();
                    let (name, value) = (line[..at].trim_ascii(), value.trim_ascii());
                    return self.option(inside(open), Written { name, place: here(0), value, value_place, appends });
                }
                _ => {
                    if !byte.is_ascii_whitespace() && pending.place.is_none() {
                        pending.place = Some(here(at));
                    }
                    pending.text.push(byte);
                }
            }
        }
        Ok(())
    }

    fn section(&mut self, parent: usize, name: &[u8], place: Location) -> Result<usize, ConfigError> {
        let Some(&known) = self.names.get(&(parent, name.to_vec())) else {
            return Ok(self.insert(parent, Node { name: name.to_vec(), place, content: Content::Section(Vec::new()) }));
        };
        match self.nodes[known].content {
            Content::Section(_) => Ok(known),
            Content::Option(..) => Err(self.twice(known, name, place, "a section", "an option")),
        }
    }

    fn option(&mut self, parent: usize, option: Written<'_>) -> Result<(), ConfigError> {
        let Written { name, place, value, value_place, appends } = option;
        if name.is_empty() {
            return Err(Diagnostic::error_at("expected the name of an option before `=`", place));
        }
        if name.iter().any(|byte| matches!(byte, b'{' | b'}')) {
            // DIRAC reads it so; it is never intended.
            let message = format!("the name of the option is `{}`, including the brace", shown(name));
            let warning = Diagnostic::warning_at(message, place.clone()).width(name.len());
            self.warnings.push(warning.help("write each option on its own line"));
        }
        let Some(&known) = self.names.get(&(parent, name.to_vec())) else {
            let content = Content::Option(value.to_vec(), value_place);
            self.insert(parent, Node { name: name.to_vec(), place, content });
            return Ok(());
        };
        match &mut self.nodes[known].content {
            Content::Section(_) => Err(self.twice(known, name, place, "an option", "a section")),
            Content::Option(text, _) if appends => {
                text.extend_from_slice(b", ");
                text.extend_from_slice(value);
                Ok(())
            }
            content @ Content::Option(..) => {
                *content = Content::Option(value.to_vec(), value_place);
                self.nodes[known].place = place;
                Ok(())
            }
        }
    }

    fn insert(&mut self, parent: usize, node: Node) -> usize {
        let at = self.nodes.len();
        self.names.insert((parent, node.name.clone()), at);
        self.nodes.push(node);
        if let Content::Section(rows) = &mut self.nodes[parent].content {
            rows.push(at);
        }
        at
    }

    fn twice(&self, known: usize, name: &[u8], place: Location, now: &str, before: &str) -> ConfigError {
        let message = format!("`{}` is {now} here and {before} at {}", shown(name), self.nodes[known].place);
        Diagnostic::error_at(message, Some(place)).width(name.len())
    }

    /// The section everything is in.
    pub fn root(&self) -> Section<'_> {
        Section { tree: self, row: ROOT }
    }

    /// The texts that were read, for messages.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The warnings.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

/// An option as a line has it.
struct Written<'a> {
    name: &'a [u8],
    place: Location,
    value: &'a [u8],
    value_place: Location,
    /// True if it adds to the value that is there.
    appends: bool,
}

impl Pending {
    /// Refuses text that no brace follows.
    fn refuse(&self) -> Result<(), ConfigError> {
        let Some(place) = &self.place else { return Ok(()) };
        let text = self.text.trim_ascii();
        let message = format!("expected `{{` or `=` after `{}`", shown(text));
        Err(Diagnostic::error_at(message, Some(place.clone()))
            .width(text.len())
            .help("an option is `key = value`, a section is `Name` and `{` … `}`"))
    }
}

/// A section of a [`DiracTree`].
#[derive(Debug, Clone, Copy)]
pub struct Section<'t> {
    tree: &'t DiracTree,
    row: usize,
}

/// The content of a section under one name.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'t> {
    /// A section.
    Section(Section<'t>),
    /// An option.
    Option(Setting<'t>),
}

impl<'t> Entry<'t> {
    fn section(self) -> Option<Section<'t>> {
        if let Entry::Section(section) = self { Some(section) } else { None }
    }

    fn option(self) -> Option<Setting<'t>> {
        if let Entry::Option(option) = self { Some(option) } else { None }
    }
}

/// An option with its value.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'t> {
    /// Its name.
    pub name: &'t [u8],
    /// Its value, without white space at the ends.
    pub text: &'t [u8],
    /// The place of its name.
    pub place: &'t Location,
    value_place: &'t Location,
}

impl<'t> Section<'t> {
    /// Its name; empty for the root.
    pub fn name(self) -> &'t [u8] {
        &self.tree.nodes[self.row].name
    }

    /// Its place.
    pub fn place(self) -> &'t Location {
        &self.tree.nodes[self.row].place
    }

    /// The entries, in the order of first appearance.
    pub fn entries(self) -> impl Iterator<Item = (&'t [u8], Entry<'t>)> {
        let rows: &[usize] = match &self.tree.nodes[self.row].content {
            Content::Section(rows) => rows,
            Content::Option(..) => &[],
        };
        rows.iter().map(move |&row| (self.tree.nodes[row].name.as_slice(), self.entry_of(row)))
    }

    /// The sections in it.
    pub fn sections(self) -> impl Iterator<Item = Section<'t>> {
        self.entries().filter_map(|(_, entry)| entry.section())
    }

    /// The options in it.
    pub fn options(self) -> impl Iterator<Item = Setting<'t>> {
        self.entries().filter_map(|(_, entry)| entry.option())
    }

    /// The section in it with this name.
    pub fn named(self, name: &[u8]) -> Option<Section<'t>> {
        self.entry_of(*self.tree.names.get(&(self.row, name.to_vec()))?).section()
    }

    /// The section at a path such as `Registry/Groups`.
    pub fn section(self, path: &str) -> Option<Section<'t>> {
        self.entry(path)?.section()
    }

    /// The option at a path such as `Registry/Groups/lhcb_mc/JobShare`.
    pub fn option(self, path: &str) -> Option<Setting<'t>> {
        self.entry(path)?.option()
    }

    /// A warning about its name.
    pub fn warning(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning_at(message, self.place().clone()).width(self.name().len())
    }

    fn entry(self, path: &str) -> Option<Entry<'t>> {
        let mut row = self.row;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            row = *self.tree.names.get(&(row, part.as_bytes().to_vec()))?;
        }
        Some(self.entry_of(row))
    }

    fn entry_of(self, row: usize) -> Entry<'t> {
        let node = &self.tree.nodes[row];
        match &node.content {
            Content::Section(_) => Entry::Section(Section { tree: self.tree, row }),
            Content::Option(text, value_place) => {
                Entry::Option(Setting { name: &node.name, text, place: &node.place, value_place })
            }
        }
    }
}

impl<'t> Setting<'t> {
    /// A warning about its name.
    pub fn warning(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning_at(message, self.place.clone()).width(self.name.len())
    }

    /// The value as a list: separated by commas, blanks dropped.
    pub fn list(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
    }

    /// The value as a boolean: `y`, `yes`, `true` and `1` in any case are true, everything else is false.
    pub fn is_true(self) -> bool {
        [&b"y"[..], b"yes", b"true", b"1"].iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// The value as a finite number.
    pub fn number(self) -> Option<f64> {
        std::str::from_utf8(self.text).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// An error about the value: what was expected instead.
    pub fn expected(self, what: &str) -> ConfigError {
        let message = format!("`{}` is `{}`: expected {what}", shown(self.name), shown(self.text));
        let place = if self.text.is_empty() { self.place } else { self.value_place };
        let width = if self.text.is_empty() { self.name.len() } else { self.text.len() };
        Diagnostic::error_at(message, Some(place.clone())).width(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> DiracTree {
        DiracTree::parse("c", text.as_bytes()).unwrap()
    }

    fn error(text: &str) -> String {
        let error = DiracTree::parse("c", text.as_bytes()).unwrap_err();
        format!("{}+{} {}", error.place.unwrap(), error.span.end, error.message)
    }

    fn value<'t>(tree: &'t DiracTree, path: &str) -> Option<&'t [u8]> {
        tree.root().option(path).map(|option| option.text)
    }

    #[test]
    fn braces_stand_behind_the_name_or_below_it() {
        let tree = parse("A {\n B\n {\n  c = 1\n } }\nA\n{\n d = 2 }\n}\n");
        assert_eq!(value(&tree, "/A/B/c"), Some(&b"1"[..]));
        assert_eq!(value(&tree, "A/d"), Some(&b"2 }"[..]), "a value runs to the end of the line");
        assert_eq!(value(&tree, "A/c"), None);
        assert_eq!(value(&tree, "a/d"), None, "names are case-sensitive");
    }

    #[test]
    fn values_may_hold_anything_and_be_appended_to() {
        let tree = parse("Motto = a=b {x}\nEmpty =\nUsers += a\nUsers += b, c\n# Users = z\nLast = 1\nLast = 2 # kept");
        assert_eq!(value(&tree, "Motto"), Some(&b"a=b {x}"[..]));
        assert_eq!(value(&tree, "Empty"), Some(&b""[..]));
        assert_eq!(value(&tree, "Users"), Some(&b"a, b, c"[..]));
        assert_eq!(value(&tree, "Last"), Some(&b"2 # kept"[..]));
        let users: Vec<&[u8]> = tree.root().option("Users").unwrap().list().collect();
        assert_eq!(users, [b"a", b"b", b"c"]);
    }

    #[test]
    fn booleans_are_four_words() {
        for (text, truth) in [("Yes", true), ("y", true), ("TRUE", true), ("1", true), ("on", false), ("", false)] {
            assert_eq!(parse(&format!("a = {text}")).root().option("a").unwrap().is_true(), truth, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(error("A\n{\n  b = 1\n"), "c:1:1+1 the section `A` is not closed");
        assert_eq!(error("A\n{\n}\n }"), "c:4:2+1 `}` does not close anything");
        assert_eq!(error("  {\n}"), "c:1:3+1 expected the name of a section before `{`");
        assert_eq!(error("A\n{\n  some words\n}"), "c:3:3+10 expected `{` or `=` after `some words`");
        assert_eq!(error("word\nb = 1"), "c:1:1+4 expected `{` or `=` after `word`");
        assert_eq!(error("last"), "c:1:1+4 expected `{` or `=` after `last`");
        assert_eq!(error("= 1"), "c:1:1+0 expected the name of an option before `=`");
        assert_eq!(error("A = 1\nA\n{\n}"), "c:2:1+1 `A` is a section here and an option at c:1:1");
        assert_eq!(error("A\n{\n}\nA = 1"), "c:4:1+1 `A` is an option here and a section at c:1:1");
    }

    #[test]
    fn an_option_behind_a_brace_is_read_as_dirac_does_and_told() {
        let tree = parse("A { x = 1\n}");
        assert_eq!(value(&tree, "A/A { x"), Some(&b"1"[..]));
        assert_eq!(tree.warnings()[0].message, "the name of the option is `A { x`, including the brace");
    }

    #[test]
    fn a_tower_of_sections_is_refused() {
        assert!(error(&"a {\n".repeat(100_000)).contains("nested more than 100 deep"));
    }
}
