//! Whole-ad operations (`docs/reference/classad-language.md` 10.1–10.3): update, delete.

use crate::ad::{Attribute, ClassAd};
use crate::name::Name;
use crate::syntax::literal::Literal;

impl ClassAd {
    /// Sets every attribute that another ad itself has; its chained parents do not count. Values are replaced whole.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// let mut ad = ClassAd::parse(b"[ Foo = 1; bar = 2 ]")?;
    /// ad.update(&ClassAd::parse(b"[ foo = x ]")?);
    /// assert_eq!(ad.to_string(), "[ bar = 2; Foo = x ]");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn update(&mut self, from: &ClassAd) {
        for (name, value) in from.attributes() {
            self.set(name, value.clone());
        }
    }

    /// As [`ClassAd::update`], with the chained parents of the other ad first.
    pub fn update_from_chain(&mut self, from: &ClassAd) {
        let mut chain = vec![from];
        while let Some(parent) = chain.last().and_then(|ad| ad.chained()) {
            chain.push(parent);
        }
        for ad in chain.into_iter().rev() {
            self.update(ad);
        }
    }

    /// Deletes an attribute; one that a chained parent defines is hidden by `undefined`. Whether there was anything
    /// to delete.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use classmate::ClassAd;
    /// let mut job = ClassAd::parse(b"[ a = 1 ]")?;
    /// job.chain(Some(Arc::new(ClassAd::parse(b"[ a = 2; b = 3 ]")?)));
    /// assert!(job.delete("A") && job.delete("b") && !job.delete("c"));
    /// assert_eq!(job.to_string(), "[ a = undefined; b = undefined ]");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn delete(&mut self, name: impl Into<Name>) -> bool {
        let name = name.into();
        if self.chained().is_some_and(|parent| parent.contains(name)) {
            self.set(name, Attribute::Literal(Literal::Undefined));
            return true;
        }
        self.remove(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn chained(child: &str, parent: &str) -> ClassAd {
        let mut ad = ClassAd::parse(child.as_bytes()).unwrap();
        ad.chain(Some(Arc::new(ClassAd::parse(parent.as_bytes()).unwrap())));
        ad
    }

    #[test]
    fn an_update_takes_undefined_along_and_replaces_nested_ads() {
        let mut ad = ClassAd::parse(b"[a = 1; b = [c = 1]]").unwrap();
        ad.update(&ClassAd::parse(b"[a = undefined; b = [d = 2]]").unwrap());
        assert_eq!(ad.to_string(), "[ a = undefined; b = [ d = 2 ] ]");
    }

    #[test]
    fn an_update_from_a_chain_lets_the_child_win() {
        let mut ad = ClassAd::new();
        ad.update_from_chain(&chained("[a = 1]", "[a = 2; b = 3]"));
        assert_eq!(ad.to_string(), "[ a = 1; b = 3 ]");
    }
}
