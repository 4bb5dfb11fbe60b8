//! The attributes of all ads that are looked at together.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::attributes::is_known;
use super::versions::LintVersions;
use classmate::internal::builtin::near;
use classmate::internal::name::Key;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::value::Type;
use classmate::{ClassAd, Name, Semantics, Series, Value};

/// The attributes of all ads in use. With slots and jobs among the ads, a name that none of them has does not exist.
#[derive(Debug, Default)]
pub struct AdSchema {
    names: HashMap<Key, SchemaName>,
    slots: u64,
    jobs: u64,
    /// The series that the ads advertise.
    series: BTreeSet<Series>,
    /// The versions in which expressions are read and compared.
    pub versions: LintVersions,
}

/// Texts of an attribute that are kept.
const MAX_TEXTS: usize = 200;

/// An attribute of the ads.
#[derive(Debug, Default)]
struct SchemaName {
    /// Its name, as one ad spells it.
    name: String,
    /// True if some value is not a text.
    other: bool,
    /// The type of its values, as long as all are constants of one type.
    kind: Option<Type>,
    mixed: bool,
    /// Its values that are texts, as long as they are few.
    texts: BTreeSet<String>,
    /// Number of slots that have it.
    slots: u64,
    /// Number of jobs that have it.
    jobs: u64,
}

impl AdSchema {
    /// No ads, and the versions in which expressions are read and compared.
    pub(super) fn of(versions: &LintVersions) -> Self {
        AdSchema { versions: versions.clone(), ..AdSchema::default() }
    }

    /// Counts an ad in.
    pub fn add(&mut self, ad: &ClassAd) {
        let (slot, job) = match ad.constant("MyType") {
            Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Machine") => (1, 0),
            Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Job") => (0, 1),
            _ if ad.contains("SlotID") || ad.contains("TotalSlots") => (1, 0),
            _ if ad.contains("ClusterId") => (0, 1),
            _ => (0, 0),
        };
        if let Some(Value::Str(version)) = ad.constant("CondorVersion")
            && let Some(version) = Semantics::of_ad(&version)
        {
            self.series.insert(version.measured().series());
        }
        self.slots += slot;
        self.jobs += job;
        for (name, expr) in ad.iter() {
            let text = matches!(expr.as_literal(), Some(Literal::Str(_)));
            let known = self.names.entry(name.key()).or_default();
            if known.name.is_empty() {
                known.name = name.display().into_owned();
            }
            known.other |= !text;
            let kind = match expr.as_literal() {
                Some(Literal::Str(_)) => Some(Type::Str),
                Some(Literal::Int(_)) => Some(Type::Int),
                Some(Literal::Real(_)) => Some(Type::Real),
                Some(Literal::Bool(_)) => Some(Type::Bool),
                _ => None,
            };
            known.mixed |= kind.is_none() || known.kind.is_some_and(|earlier| Some(earlier) != kind);
            known.kind = kind;
            if let Some(Literal::Str(text)) = expr.as_literal()
                && known.texts.len() <= MAX_TEXTS
            {
                known.texts.insert(String::from_utf8_lossy(text).into_owned());
            }
            known.slots += slot;
            known.jobs += job;
        }
    }

    /// The versions that the ads advertise.
    pub fn advertised(&self) -> Vec<Semantics> {
        self.series.iter().copied().map(Semantics::of).collect()
    }

    /// Returns true if some ad has an attribute.
    pub fn has(&self, name: Name) -> bool {
        self.names.contains_key(&name.key())
    }

    /// The type that an attribute has in all ads that have it; none if it differs, or is computed.
    pub(super) fn type_of(&self, name: Name) -> Option<Type> {
        self.names.get(&name.key()).filter(|known| !known.mixed)?.kind
    }

    /// The values of an attribute that is a text in all ads that have it; none if there are many.
    pub(super) fn texts(&self, name: Name) -> Option<&BTreeSet<String>> {
        let known = self.names.get(&name.key()).filter(|known| !known.other)?;
        (known.texts.len() <= MAX_TEXTS).then_some(&known.texts)
    }

    /// Returns true if all slots or all jobs have an attribute.
    pub fn is_everywhere(&self, name: Name) -> bool {
        let all = |known: &SchemaName| {
            self.slots > 0 && known.slots == self.slots || self.jobs > 0 && known.jobs == self.jobs
        };
        self.names.get(&name.key()).is_some_and(all)
    }

    /// Returns true if there are both slots and jobs among the ads.
    pub fn is_whole(&self) -> bool {
        self.slots > 0 && self.jobs > 0
    }

    /// The attribute that a name probably misspells.
    pub fn near(&self, name: Name) -> Option<String> {
        let names = self.names.values().map(|known| known.name.as_str());
        let allowed = if name.folded().len() < 8 { 1 } else { 2 };
        near::closest_within(allowed, name.folded(), names).map(str::to_owned)
    }

    /// Returns true if a word beside an attribute can only be meant as a text: there are slots and jobs, none of them
    /// has an attribute of that name, no daemon adds one, and every value of the attribute is a text.
    pub fn is_text(&self, attribute: Name, word: Name) -> bool {
        let nowhere = !self.names.contains_key(&word.key()) && !is_known(word.folded());
        let texts = self.names.get(&attribute.key()).is_some_and(|known| !known.other);
        self.slots > 0 && self.jobs > 0 && nowhere && texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_text_only_where_everything_is_known() {
        let mut schema = AdSchema::default();
        let (site, mit) = (Name::new("GLIDEIN_Site"), Name::new("MIT"));
        schema.add(&ClassAd::parse(b"[ MyType = \"Machine\"; GLIDEIN_Site = \"MIT\"; Cpus = 1 ]").unwrap());
        // The jobs may have it.
        assert!(!schema.is_text(site, mit));
        schema.add(&ClassAd::parse(b"[ MyType = \"Job\"; Department = \"x\" ]").unwrap());
        assert!(schema.is_text(site, mit));
        assert!(!schema.is_text(site, Name::new("department")));
        assert!(!schema.is_text(site, Name::new("RemoteOwner")));
        assert!(!schema.is_text(Name::new("Cpus"), mit));
        assert!(!schema.is_text(Name::new("Nothing"), mit));
        assert!(schema.is_everywhere(site) && schema.is_everywhere(Name::new("Department")));
        schema.add(&ClassAd::parse(b"[ MyType = \"Machine\" ]").unwrap());
        assert!(!schema.is_everywhere(site));
    }
}
