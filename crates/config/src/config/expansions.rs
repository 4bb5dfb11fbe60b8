//! Known expansions: values are expanded once, not again for every value that refers to them.
//!
//! In: names, and their values before expansion. Out: the size and the text of their expansions. Known are values in which every `$`
//! begins a whole reference to a name, and which refer to such values only, without a circle: the text around a reference cannot
//! change their expansion.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::reference::{self, Text};

/// Most bytes of all texts that are kept.
const MAX_KEPT: usize = 32 << 20;

/// Finds the value of a name before expansion.
type Lookup<'l, 'a> = &'l dyn Fn(&[u8]) -> Option<&'a [u8]>;

/// The cost of the expansion of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExpansionSize {
    /// Names whose values are read at the same time, with its own.
    pub(crate) depth: usize,
    pub(crate) references: usize,
    /// Bytes of the text.
    length: usize,
    /// Most bytes of the text and of what is still to be read.
    pub(crate) peak: usize,
    /// The place in the order of these values: after all that it refers to.
    place: usize,
}

/// Expansions of the values of names, upper case.
#[derive(Debug, Default)]
pub(crate) struct Expansions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// `None` for what is not such a value, or is being measured.
    sizes: HashMap<Box<[u8]>, Option<ExpansionSize>>,
    /// Number of sizes that are known.
    measured: usize,
    texts: HashMap<Box<[u8]>, Arc<[u8]>>,
    /// Bytes of the texts.
    kept: usize,
}

impl Clone for Expansions {
    /// Nothing is known of a copy, which may get other values.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Expansions {
    /// Forgets everything, because a value changed.
    pub(crate) fn clear(&mut self) {
        let known = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !known.sizes.is_empty() {
            *known = Known::default();
        }
    }

    /// The size of the expansion of a name (upper case) that may be read inside of the value of another one; `None` if it is not
    /// known, or refers to that one.
    pub(crate) fn size(&self, name: &[u8], within: Option<&[u8]>, lookup: Lookup<'_, '_>) -> Option<ExpansionSize> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = known.measured(name, lookup)?;
        let outer = within.and_then(|outer| known.measured(outer, lookup));
        outer.is_none_or(|outer| size.place < outer.place).then_some(size)
    }

    /// The text of a name whose size is known. It is made if there is room for it.
    pub(crate) fn text<E>(
        &self,
        name: &[u8],
        size: ExpansionSize,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Option<Arc<[u8]>>, E> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let known = known();
            if let Some(text) = known.texts.get(name) {
                return Ok(Some(Arc::clone(text)));
            }
            if known.kept + size.length > MAX_KEPT {
                return Ok(None);
            }
        }
        let text: Arc<[u8]> = make()?.into();
        let mut known = known();
        known.kept += text.len();
        known.texts.insert(name.into(), Arc::clone(&text));
        Ok(Some(text))
    }
}

/// A value that is being measured.
struct Measured<'a> {
    name: Box<[u8]>,
    raw: &'a [u8],
    /// The place behind the last reference that was measured.
    at: usize,
    /// The size up to there; the length is that of the expanded text.
    size: ExpansionSize,
}

impl<'a> Measured<'a> {
    fn new(name: &[u8], raw: &'a [u8]) -> Self {
        Measured { name: name.into(), raw, at: 0, size: ExpansionSize { peak: raw.len(), ..ExpansionSize::default() } }
    }

    /// Adds what takes the place of a reference, after the text before it.
    fn add(&mut self, place: &Range<usize>, part: ExpansionSize) {
        let rest = self.raw.len() - place.end;
        let size = &mut self.size;
        size.length = size.length.saturating_add(place.start - self.at);
        size.peak = size.peak.max(size.length.saturating_add(part.peak).saturating_add(rest));
        size.length = size.length.saturating_add(part.length);
        size.references = size.references.saturating_add(part.references).saturating_add(1);
        size.depth = size.depth.max(part.depth);
        self.at = place.end;
    }
}

impl Known {
    /// The size of the expansion of a name's value; `None` for a value without references, too.
    fn measured(&mut self, name: &[u8], lookup: Lookup<'_, '_>) -> Option<ExpansionSize> {
        if let Some(size) = self.sizes.get(name) {
            return *size;
        }
        let raw = lookup(name).filter(|raw| memchr::memchr(b'$', raw).is_some())?;
        let mut open = vec![Measured::new(name, raw)];
        self.sizes.insert(name.into(), None);
        while let Some(last) = open.last_mut() {
            let Some(dollar) = memchr::memchr(b'$', &last.raw[last.at..]) else {
                self.end(&mut open);
                continue;
            };
            let start = last.at + dollar;
            // All open values have a part that is not such a value.
            let WholeReference { place, upper, default } = whole_reference(last.raw, start)?;
            let plain = |text: &[u8]| ExpansionSize { length: text.len(), peak: text.len(), ..Default::default() };
            match (lookup(&upper).filter(|value| !value.is_empty()), default) {
                (Some(value), _) if memchr::memchr(b'$', value).is_some() => match self.sizes.get(&*upper) {
                    Some(size) => last.add(&place, (*size)?),
                    None => {
                        self.sizes.insert(upper.as_slice().into(), None);
                        open.push(Measured::new(&upper, value));
                    }
                },
                (Some(value), _) => last.add(&place, plain(value)),
                (None, Some(default)) if memchr::memchr(b'$', default).is_some() => return None,
                (None, Some(default)) => last.add(&place, plain(default)),
                (None, None) => last.add(&place, ExpansionSize::default()),
            }
        }
        self.sizes.get(name).copied().flatten()
    }

    /// Ends the last of the values that are being measured.
    fn end(&mut self, open: &mut Vec<Measured<'_>>) {
        let Some(Measured { name, raw, at, mut size }) = open.pop() else { return };
        size.length = size.length.saturating_add(raw.len() - at);
        size.depth += 1;
        size.place = self.measured;
        self.measured += 1;
        self.sizes.insert(name, Some(size));
    }
}

/// A reference whose name is written, and not made of other references.
struct WholeReference<'a> {
    place: Range<usize>,
    upper: Vec<u8>,
    default: Option<&'a [u8]>,
}

/// The reference at a `$`, if it is whole.
fn whole_reference(raw: &[u8], start: usize) -> Option<WholeReference<'_>> {
    let rest = &raw[start..];
    let found = reference::find(&Text::Forward(rest))?;
    let upper = rest[found.name].to_ascii_uppercase();
    let is_made = memchr::memchr(b'$', &upper).is_some() || upper == b"DOLLAR";
    let place = start..start + found.length;
    (!is_made).then(|| WholeReference { place, upper, default: found.default.map(|default| &rest[default]) })
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::config::expand::Expanded;
    use classmate::internal::random::SplitMix64;

    /// A value of a few parts, with references to the names A0 to A7 and to undefined ones.
    fn value(random: &mut SplitMix64) -> String {
        let mut below = |end: u64| random.below(end);
        let mut text = String::new();
        for _ in 0..=below(3) {
            let name = below(9);
            text.push_str(&match below(12) {
                0 => format!("$(A{name}:x $(A{}))", below(9)),
                1 => "$".to_owned(),
                2 => format!("(A{name})"),
                3 => "$(DOLLAR)".to_owned(),
                4 => format!("$$(A{name})"),
                5 => format!("$INT(A{name})"),
                6 => "$(A".to_owned(),
                7 => ")".to_owned(),
                8 => String::new(),
                9 => "1".to_owned(),
                _ => format!("$(A{name}) "),
            });
        }
        text
    }

    /// The texts and errors are those of a configuration that has expanded nothing before.
    #[test]
    fn what_was_expanded_before_changes_no_text_and_no_error() {
        let mut random = SplitMix64::new(1);
        for _ in 0..1000 {
            let text: String = (0..8).map(|name| format!("A{name} = {}\n", value(&mut random))).collect();
            let Ok(config) = Config::parse("c", text.as_bytes()) else { continue };
            for _ in 0..12 {
                let (owner, part) = (format!("A{}", random.below(9)), value(&mut random));
                let alone = config.clone();
                assert_eq!(config.get(&owner), alone.get(&owner), "{owner} in {text}");
                let alone = config.expanded_anew(owner.as_bytes(), part.as_bytes());
                let found = config.expanded(owner.as_bytes(), part.as_bytes());
                let parts =
                    |one: Result<_, _>| one.map(|one: crate::config::expand::Expanded| (one.text, one.references));
                assert_eq!(parts(found), parts(alone), "{part} of {owner} in {text}");
            }
        }
    }

    /// Chains that are too deep, that branch, and that grow without end.
    #[test]
    fn limits_are_met_at_the_same_values() {
        let chain = |value: &dyn Fn(usize) -> String| -> String {
            std::iter::once("A0 = x\n".to_owned()).chain((1..400).map(value)).collect()
        };
        for text in [
            chain(&|at| format!("A{at} = $(A{}) +\n", at - 1)),
            chain(&|at| format!("A{at} = $(A{})$(A{})$(A{})\n", at - 1, at / 2, at / 3)),
            chain(&|at| format!("A{at} = $(A{})$(A{})\n", at - 1, at - 1)),
            chain(&|at| format!("A{at} = $(A{})$$(B)$(A{})\n", at - 1, at / 2)),
            chain(&|at| format!("A{at} = twenty bytes of text$(A{})$(A{})\n", at - 1, at.saturating_sub(2))),
        ] {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            for at in [3, 399, 17, 198, 199, 200, 201, 202, 25, 250, 22, 398] {
                let name = format!("A{at}");
                let raw = config.definition(name.as_bytes()).unwrap().raw;
                let parts = |one: Result<Expanded, _>| one.map(|one| (one.text, one.references));
                let anew = parts(config.expanded_anew(name.as_bytes(), raw));
                assert_eq!(parts(config.expanded(name.as_bytes(), raw)), anew, "{name} in {text}");
            }
        }
    }
}
