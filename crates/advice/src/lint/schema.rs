//! The attributes of all ads that are looked at together.

use hashbrown::HashMap;

use super::attributes::is_known;
use classmate::internal::name::Key;
use classmate::{ClassAd, Name, Value};

/// The attributes of all ads in use. With slots and jobs among the ads, a name that none of them has does not exist.
#[derive(Debug, Default)]
pub struct AdSchema {
    /// True if all values of a name are texts.
    names: HashMap<Key, bool>,
    slots: bool,
    jobs: bool,
}

impl AdSchema {
    /// Counts an ad in.
    pub fn add(&mut self, ad: &ClassAd) {
        match ad.constant("MyType") {
            Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Machine") => self.slots = true,
            Some(Value::Str(kind)) if kind.eq_ignore_ascii_case(b"Job") => self.jobs = true,
            _ if ad.contains("SlotID") || ad.contains("TotalSlots") => self.slots = true,
            _ if ad.contains("ClusterId") => self.jobs = true,
            _ => {}
        }
        for (name, expr) in ad.iter() {
            let text = matches!(expr.as_literal(), Some(classmate::internal::syntax::literal::Literal::Str(_)));
            *self.names.entry(name.key()).or_insert(true) &= text;
        }
    }

    /// Returns true if some ad has an attribute.
    pub fn has(&self, name: Name) -> bool {
        self.names.contains_key(&name.key())
    }

    /// Returns true if a word beside an attribute can only be meant as a text: there are slots and jobs, none of them
    /// has an attribute of that name, no daemon adds one, and every value of the attribute is a text.
    pub fn is_text(&self, attribute: Name, word: Name) -> bool {
        let nowhere = !self.names.contains_key(&word.key()) && !is_known(word.folded());
        self.slots && self.jobs && nowhere && self.names.get(&attribute.key()) == Some(&true)
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
    }
}
