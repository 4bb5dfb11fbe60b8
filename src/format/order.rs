//! The order in which writers list attributes, remembered from one ad to the next.

use std::cmp::Ordering;

use crate::ad::{Attribute, ClassAd};
use crate::name::Name;

/// Sorts the attributes of ads; ads with the names of the one before are not sorted again.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    compare: fn(Name, Name) -> Ordering,
    names: Vec<Name>,
    places: Vec<usize>,
}

impl Order {
    /// Shorter names first, then without case: the order of the library's printers (§8.4).
    pub(crate) fn listing() -> Self {
        Order { compare: Name::listing_order, names: Vec::new(), places: Vec::new() }
    }

    /// By the bytes of the names: the order of `-long` (§8.5).
    pub(crate) fn bytes() -> Self {
        let compare = |a: Name, b: Name| a.as_bytes().cmp(b.as_bytes());
        Order { compare, names: Vec::new(), places: Vec::new() }
    }

    /// The attributes of an ad in this order; those of a chained parent do not count.
    pub(crate) fn of<'a>(&'a mut self, ad: &'a ClassAd) -> impl ExactSizeIterator<Item = (Name, &'a Attribute)> {
        let known = self.names.len() == ad.len()
            && self.names.iter().zip(ad.names()).all(|(known, name)| known.same_spelling(name));
        if !known {
            self.names.clear();
            self.names.extend(ad.names());
            self.places.clear();
            self.places.extend(0..ad.len());
            let (names, compare) = (&self.names, self.compare);
            self.places.sort_by(|a, b| compare(names[*a], names[*b]));
        }
        self.places.iter().map(|place| ad.at(*place))
    }

    /// As [`Order::of`], with what shows through of chained parents.
    pub(crate) fn of_merged<'a>(&'a mut self, ad: &'a ClassAd) -> Vec<(Name, &'a Attribute)> {
        if ad.chained().is_none() {
            return self.of(ad).collect();
        }
        let mut attributes: Vec<_> = ad.attributes().collect();
        let mut above = ad;
        while let Some(parent) = above.chained() {
            let hidden = |name: Name| attributes.iter().any(|(known, _)| *known == name);
            let shown: Vec<_> = parent.attributes().filter(|(name, _)| !hidden(*name)).collect();
            attributes.extend(shown);
            above = parent;
        }
        attributes.sort_by(|(a, _), (b, _)| (self.compare)(*a, *b));
        attributes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn names(attributes: impl IntoIterator<Item = (Name, impl Sized)>) -> Vec<String> {
        attributes.into_iter().map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn both_orders_are_those_of_the_description() {
        let ad = ClassAd::parse(b"[ZZZ=1; b=2; AA=3; a=4]").unwrap();
        assert_eq!(names(Order::listing().of(&ad)), ["a", "b", "AA", "ZZZ"]);
        assert_eq!(names(Order::bytes().of(&ad)), ["AA", "ZZZ", "a", "b"]);
    }

    #[test]
    fn a_remembered_order_is_not_used_for_other_names() {
        let mut order = Order::bytes();
        for text in ["[b = 1; a = 2]", "[b = 1; a = 2]", "[b = 1; A = 2]", "[c = 1; a = 2]", "[a = 1]", "[]"] {
            let ad = ClassAd::parse(text.as_bytes()).unwrap();
            let mut expected: Vec<String> = ad.names().map(|name| name.to_string()).collect();
            expected.sort();
            assert_eq!(names(order.of(&ad)), expected);
        }
    }

    #[test]
    fn chained_parents_are_merged_in() {
        let mut child = ClassAd::parse(b"[b = 1; z = 2]").unwrap();
        child.chain(Some(Arc::new(ClassAd::parse(b"[B = 100; y = 3; a = 4]").unwrap())));
        assert_eq!(names(Order::bytes().of_merged(&child)), ["a", "b", "y", "z"]);
    }
}
