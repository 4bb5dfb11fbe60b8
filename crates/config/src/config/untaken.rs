//! Statements in branches of `if` that are not taken: another machine, or another release, may read them.
//!
//! In: the lines of such branches. Out: their assignments, and the configuration as it would be with them. What is kept here
//! changes no value of the configuration.

use std::collections::BTreeSet;

use super::condor::{AssignedValue, Config, Definition, Site, checked_name};
use super::facts::UNKNOWN;
use super::line::Logical;
use super::reference::is_name_byte;
use super::setting::literal;
use super::statement::{self, Operator, Statement};
use super::template;
use super::{Diagnostic, shown};
use classmate::internal::builtin::near;

/// Bytes of values that are kept.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The reason why a branch is not taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Circumstances {
    /// Its number among the branches of its `if` that are not taken.
    pub(super) number: usize,
    /// True if a version decides.
    of_version: bool,
    /// True if a constant decides: the text is certainly not in use.
    is_off: bool,
    /// True if something else decides, which another file may say.
    pub(super) is_open: bool,
}

impl Circumstances {
    /// Those of a branch with a further condition.
    pub(super) fn under(self, condition: &[u8]) -> Self {
        let plain = condition.trim_ascii().trim_ascii_start();
        let plain = plain.strip_prefix(b"!").unwrap_or(plain).trim_ascii();
        let is_version = plain.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"version"));
        let words: [&[u8]; 6] = [b"true", b"false", b"yes", b"no", b"t", b"f"];
        let is_constant = literal(plain).is_some() || words.iter().any(|word| word.eq_ignore_ascii_case(plain));
        Circumstances {
            number: self.number,
            of_version: self.of_version || is_version,
            is_off: self.is_off || is_constant,
            is_open: self.is_open || !is_version && !is_constant,
        }
    }
}

/// An assignment in a branch that is not taken.
#[derive(Debug, Clone)]
struct UntakenValue {
    value: AssignedValue,
    circumstances: Circumstances,
}

/// The assignments of branches that are not taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Untaken {
    values: Vec<UntakenValue>,
    /// Their names, upper case.
    names: BTreeSet<Vec<u8>>,
    /// The names (upper case) that `defined` asks for.
    tested: BTreeSet<Vec<u8>>,
    /// The end of the value of several lines that is being read, and the value as far as it was read.
    block: Option<(Vec<u8>, UntakenValue)>,
    kept_bytes: usize,
    /// The lines that would make HTCondor reject the configuration.
    pub(super) found: Vec<Diagnostic>,
}

/// Findings that are kept.
const MAX_FOUND: usize = 1000;

impl Untaken {
    /// Notes a condition: what it asks for, and that no value goes on behind it.
    pub(super) fn condition(&mut self, text: &[u8]) {
        self.block = None;
        let words: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        if let [first, name] = words[..]
            && first.strip_prefix(b"!").unwrap_or(first).eq_ignore_ascii_case(b"defined")
            && name.iter().copied().all(is_name_byte)
        {
            self.tested.insert(name.to_ascii_uppercase());
        }
    }

    fn keep(&mut self, value: UntakenValue) {
        self.kept_bytes += value.value.raw.len();
        if self.kept_bytes <= MAX_KEPT_BYTES {
            self.names.insert(value.value.name.to_ascii_uppercase());
            self.values.push(value);
        }
    }

    fn warn(&mut self, warning: Diagnostic) {
        if self.found.len() < MAX_FOUND {
            self.found.push(warning.code("odd-line"));
        }
    }

    fn has(&self, name: &[u8]) -> bool {
        self.names.contains(&name.to_ascii_uppercase())
    }
}

impl Config {
    /// Passes over a line of a branch that is not taken.
    pub(super) fn pass_over(&mut self, line: &Logical, circumstances: Circumstances) {
        if circumstances.is_off {
            return;
        }
        if let Some((end, mut value)) = self.untaken.block.take() {
            if line.text == end {
                self.untaken.keep(value);
                return;
            }
            if !value.value.raw.is_empty() {
                value.value.raw.push(b'\n');
            }
            value.value.raw.extend_from_slice(&line.text);
            self.untaken.block = Some((end, value));
            return;
        }
        match statement::parse(&line.text) {
            Ok(Statement::Assign { name, operator, value, stray }) => {
                let (name, text) = (&line.text[name], &line.text[value.clone()]);
                if checked_name(name).is_err() || stray.is_some() {
                    return;
                }
                let site = Site::of(line, value.start, None);
                self.pass_over_value(name, &operator, text, site, circumstances);
            }
            Ok(Statement::Use { category, items }) if !circumstances.of_version => {
                let (name, text) = (&line.text[category.clone()], &line.text[items.clone()]);
                let known = template::all(&self.context().subsystem);
                let Some(item) = template::items(text).ok().and_then(|all| {
                    all.into_iter()
                        .find(|item| !item.name.contains(&b'$') && template::find(known, name, item.name).is_none())
                }) else {
                    return;
                };
                let at = items.start + item.at;
                let message = format!("`{}` does not have a template `{}`", shown(name), shown(item.name));
                let of_category =
                    known.iter().filter(|template| template.category.as_bytes().eq_ignore_ascii_case(name));
                let near = near::closest(item.name, of_category.map(|template| template.name));
                let warning = line.warning(&(at..at + item.name.len()), message).did_you_mean(near);
                self.untaken.warn(warning);
            }
            Ok(_) => {}
            Err(error) if !circumstances.of_version => {
                let at = error.span.range();
                let warning = Diagnostic::warning_at(error.message, line.place(at.start)).width(at.len());
                let help = "where this branch is taken, HTCondor rejects the configuration";
                self.untaken.warn(warning.help(help));
            }
            Err(_) => {}
        }
    }

    fn pass_over_value(
        &mut self,
        name: &[u8],
        operator: &Operator,
        text: &[u8],
        site: Site,
        circumstances: Circumstances,
    ) {
        let value = |raw: Vec<u8>, site: Site| UntakenValue {
            value: AssignedValue { name: name.into(), raw, site },
            circumstances,
        };
        if *operator == Operator::Block {
            let end = [b"@", text.trim_ascii()].concat();
            self.untaken.block = Some((end, value(Vec::new(), Site { verbatim: false, ..site })));
            return;
        }
        // The earlier value may be one of a branch that is not taken, or of another file.
        let own = [b"$(", name].concat().to_ascii_uppercase();
        let refers = memchr::memmem::find(&text.to_ascii_uppercase(), &own).is_some();
        let earlier = self.definition(name).map(|earlier| earlier.raw.to_vec()).filter(|_| !self.untaken.has(name));
        let raw = match (operator, earlier) {
            (Operator::Append(between), Some(earlier)) if !refers => [&earlier, between.as_slice(), text].concat(),
            (Operator::Append(_), _) => return,
            (_, None) if refers => return,
            _ => match self.with_earlier(name, text, &site.place) {
                Ok(raw) => raw,
                Err(_) => return,
            },
        };
        let verbatim = site.verbatim && raw == text;
        self.untaken.keep(value(raw, Site { verbatim, ..site }));
    }

    /// The number of configurations that [`Config::with_untaken`] makes: one for each branch of an `if` that is not taken.
    pub fn untaken_branches(&self) -> usize {
        self.untaken.values.iter().map(|one| one.circumstances.number + 1).max().unwrap_or_default()
    }

    /// The same configuration with the values of branches that are not taken; of several branches of one `if`, the one with a
    /// number counts. A name that a condition asks for has an unknown value.
    #[must_use]
    pub fn with_untaken(&self, number: usize) -> Config {
        let mut config = self.clone();
        for name in self.untaken.tested.iter().filter(|name| self.definition(name).is_none()) {
            let place = super::Location::outside("a condition");
            config.insert(name, [UNKNOWN.as_bytes(), name].concat(), Site::outside(place));
        }
        let is_of = |one: &&UntakenValue| one.circumstances.number == number;
        for one in self.untaken.values.iter().chain(self.untaken.values.iter().filter(is_of)) {
            config.insert(&one.value.name, one.value.raw.clone(), one.value.site.clone());
        }
        config
    }

    /// The values of the branch with a number of each `if`, as far as it is not taken; true beside those of another version.
    pub fn untaken(&self, number: usize) -> impl Iterator<Item = (Definition<'_>, bool)> {
        let of_number = move |one: &&UntakenValue| one.circumstances.number == number;
        self.untaken.values.iter().filter(of_number).map(|one| (one.value.definition(), one.circumstances.of_version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of untaken branches: the number of the branch, the name, the value, and `version` where one decides.
    fn untaken(text: &str) -> Vec<String> {
        let config = Config::parse("f", text.as_bytes()).unwrap();
        let all = (0..config.untaken_branches()).flat_map(|number| {
            let shown = move |(one, of_version): (Definition<'_>, bool)| {
                let (name, raw) = (String::from_utf8_lossy(one.name), String::from_utf8_lossy(one.raw));
                format!("{number} {name} {raw}{}", if of_version { " version" } else { "" })
            };
            config.untaken(number).map(shown).collect::<Vec<String>>()
        });
        all.collect()
    }

    #[test]
    fn assignments_of_branches_that_are_not_taken_are_kept() {
        assert_eq!(untaken("if defined A\n X = 1\nelse\n X = 2\nendif"), ["0 X 1"]);
        let chain = "F = x\nif defined F\n X = 1\nelif defined G\n X = 2\nelse\n X = 3\nendif";
        assert_eq!(untaken(chain), ["0 X 2", "1 X 3"]);
        assert_eq!(
            untaken("if version < 9.0\n X = 1\n if defined A\n  Y = 1\n endif\nendif"),
            ["0 X 1 version", "0 Y 1 version"]
        );
        // A constant decides.
        assert_eq!(untaken("if false\n X = 1\nendif\nif 1\nelse\n X = 2\nendif"), [""; 0]);
    }

    #[test]
    fn values_refer_to_what_was_set_before() {
        assert_eq!(untaken("X = a\nif defined A\n X = $(X) b\n Y = $(Y) c\nendif"), ["0 X a b"]);
        assert_eq!(untaken("X = a\nif defined A\n X += b\n X += c\nendif"), ["0 X a b"]);
        assert_eq!(untaken("if defined A\n X @=end\n  1\n  2\n @end\n Y = 3\nendif"), ["0 X 1\n2", "0 Y 3"]);
    }

    #[test]
    fn they_change_nothing() {
        let config = Config::parse("f", b"X = 1\nif defined A\n X = 2\n Y = $(A)\nendif").unwrap();
        assert_eq!(config.get("X").unwrap().unwrap().text, b"1");
        assert!(config.get("Y").unwrap().is_none());
        let other = config.with_untaken(0);
        assert_eq!(other.get("X").unwrap().unwrap().text, b"2");
        assert_eq!(other.get("Y").unwrap().unwrap().text, b"unknown_fact_A");
    }
}
