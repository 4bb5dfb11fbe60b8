//! Names that a daemon knows from its machine: a configuration that is only looked at knows them by name alone.
//!
//! In: a [`Config`]. Out: the same configuration in which every such name, and every call whose answer hangs on one,
//! is replaced by a word of its own, so that nothing is concluded from an unknown value
//! (`docs/reference/config-language.md` 1).

use super::condor::{Config, Definition};
use super::name_list::names;
use super::reference::{self, Text};

/// The prefix of words in place of unknown values: `unknown_fact_ARCH`.
pub const UNKNOWN: &str = "unknown_fact_";

/// Returns true if a text holds what only a machine knows.
pub(super) fn is_open(text: &[u8]) -> bool {
    memchr::memmem::find(text, UNKNOWN.as_bytes()).is_some()
}

/// A reference to an undefined name, and its place.
#[derive(Debug, Clone)]
pub struct Undefined<'a> {
    /// The name.
    pub name: Vec<u8>,
    /// The definition whose value contains it.
    pub within: Definition<'a>,
    /// Offset and length in bytes of the reference in the raw value.
    pub at: (usize, usize),
}

impl Config {
    /// The same configuration read on no machine in particular: what only a machine knows, the environment and chance
    /// are words that begin with [`UNKNOWN`].
    #[must_use]
    pub fn without_facts(&self) -> Config {
        let mut config = self.clone();
        config.unknowing = true;
        let settable = names("facts of a machine").filter(|name| self.assignment(name.as_bytes()).is_none());
        for name in settable.chain(names("facts of a process")) {
            config.detect(name, &format!("{UNKNOWN}{name}"));
        }
        config
    }

    /// The references of a definition's value to names that nothing defines, those of the values it refers to included.
    pub fn undefined<'a>(&'a self, definition: &Definition<'a>) -> Vec<Undefined<'a>> {
        const MAX_UNDEFINED: usize = 100;
        let mut open = vec![*definition];
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut found = Vec::new();
        while let Some(within) = open.pop() {
            for at in memchr::memchr_iter(b'$', within.raw) {
                let rest = &within.raw[at..];
                let Some(reference) = reference::find(&Text::Forward(rest)).filter(|_| !rest.starts_with(b"$$")) else {
                    continue;
                };
                let upper = rest[reference.name.clone()].to_ascii_uppercase();
                let made = upper.is_empty() || upper.contains(&b'$') || upper == b"DOLLAR";
                if made || seen.contains(&upper) || seen.len() >= MAX_UNDEFINED {
                    continue;
                }
                match self.definition(&upper) {
                    Some(known) => open.push(known),
                    None if reference.default.is_none() => {
                        let name = rest[reference.name].to_vec();
                        found.push(Undefined { name, within, at: (at, reference.length) });
                    }
                    None => {}
                }
                seen.push(upper);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        let config = Config::parse("c", text.as_bytes()).unwrap().without_facts();
        String::from_utf8(config.get("A").unwrap().unwrap().text).unwrap()
    }

    #[test]
    fn what_a_machine_knows_is_a_word() {
        assert_eq!(value("A = $(DETECTED_CPUS) > 4"), "unknown_fact_DETECTED_CPUS > 4");
        assert_eq!(value("A = $(N) * 2\nN = $(Detected_Memory)"), "unknown_fact_DETECTED_MEMORY * 2");
        assert_eq!(value("A = \"$(FULL_HOSTNAME)\"\nFULL_HOSTNAME = x"), "\"unknown_fact_FULL_HOSTNAME\"");
        assert_eq!(value("A = $ENV(SITE:x) $ENV(B)"), "unknown_fact_ENV unknown_fact_ENV");
        assert_eq!(
            value("A = $INT(DETECTED_CPUS) $INT(M, %04d)\nM = $(DETECTED_CPUS) / 2"),
            "unknown_fact_INT unknown_fact_INT"
        );
        assert_eq!(value("A = $RANDOM_INTEGER(1, 6)"), "unknown_fact_RANDOM_INTEGER");
    }

    #[test]
    fn what_a_file_sets_is_known() {
        assert_eq!(value("A = \"$(ARCH)\"\nARCH = X86_64"), "\"X86_64\"");
        assert_eq!(value("A = $INT(N) $CHOICE(1, x, y)\nN = 2 * 3"), "6 y");
    }

    #[test]
    fn references_to_nothing_are_found_where_they_stand() {
        let config = Config::parse("c", b"A = $(B) + $(NOWHERE) + $(X:3)\nB = x > $(GONE)").unwrap();
        let found = config.undefined(&config.definition(b"A").unwrap());
        let shown: Vec<String> = found
            .iter()
            .map(|one| {
                let (name, whose) = (String::from_utf8_lossy(&one.name), String::from_utf8_lossy(one.within.name));
                format!("{name} in {whose} at {:?}", one.at)
            })
            .collect();
        assert_eq!(shown, ["NOWHERE in A at (7, 10)", "GONE in B at (4, 7)"]);
    }
}
