//! The order in which writers list attributes, remembered from one ad to the next.

use crate::ad::{Attribute, ClassAd};
use crate::name::Name;

/// Sorts the attributes of ads by the bytes of their names, the order of `-long`
/// (`docs/reference/classad-language.md` 8.5); ads with the names of the one before are not sorted again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    names: Vec<Name>,
    /// The head of each name, for the first comparison, and its place in the ad.
    places: Vec<(u128, usize)>,
}

/// The first bytes of a name, as a number of the same order.
fn head(name: Name) -> u128 {
    let (mut head, text) = ([0; 16], name.as_bytes());
    let count = text.len().min(16);
    head[..count].copy_from_slice(&text[..count]);
    u128::from_be_bytes(head)
}

impl Order {
    /// The attributes of an ad in this order; those of a chained parent do not count.
    pub(crate) fn of<'a>(&'a mut self, ad: &'a ClassAd) -> impl ExactSizeIterator<Item = (Name, &'a Attribute)> {
        let known = self.names.len() == ad.len()
            && self.names.iter().zip(ad.names()).all(|(known, name)| known.same_spelling(name));
        if !known {
            self.names.clear();
            self.names.extend(ad.names());
            let names = &self.names;
            self.places.clear();
            self.places.extend(names.iter().enumerate().map(|(place, name)| (head(*name), place)));
            self.places.sort_unstable_by(|(a, left), (b, right)| {
                a.cmp(b).then_with(|| names[*left].as_bytes().cmp(names[*right].as_bytes()))
            });
        }
        self.places.iter().map(|(_, place)| ad.at(*place))
    }

    /// As [`Order::of`], with what shows through of chained parents.
    pub(crate) fn of_merged(ad: &ClassAd) -> Vec<(Name, &Attribute)> {
        let mut attributes: Vec<_> = ad.attributes().collect();
        let mut above = ad;
        while let Some(parent) = above.chained() {
            let hidden = |name: Name| attributes.iter().any(|(known, _)| *known == name);
            let shown: Vec<_> = parent.attributes().filter(|(name, _)| !hidden(*name)).collect();
            attributes.extend(shown);
            above = parent;
        }
        attributes.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
        attributes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn listed_names(attributes: impl IntoIterator<Item = (Name, impl Sized)>) -> Vec<String> {
        attributes.into_iter().map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn both_orders_are_those_of_the_description() {
        let ad = ClassAd::parse(b"[ZZZ=1; b=2; AA=3; a=4]").unwrap();
        assert_eq!(listed_names(ad.listed()), ["a", "b", "AA", "ZZZ"]);
        assert_eq!(listed_names(Order::default().of(&ad)), ["AA", "ZZZ", "a", "b"]);
    }

    #[test]
    fn a_remembered_order_is_not_used_for_other_names() {
        let mut order = Order::default();
        for text in ["[b = 1; a = 2]", "[b = 1; a = 2]", "[b = 1; A = 2]", "[c = 1; a = 2]", "[a = 1]", "[]"] {
            let ad = ClassAd::parse(text.as_bytes()).unwrap();
            let mut expected: Vec<String> = ad.names().map(|name| name.to_string()).collect();
            expected.sort();
            assert_eq!(listed_names(order.of(&ad)), expected);
        }
    }

    #[test]
    fn long_names_are_compared_to_their_end() {
        let names = [
            "CVMFS_oasis_opensciencegrid_B",
            "CVMFS_oasis_opensciencegrid_a",
            "CVMFS_oasis",
            "CVMFS_oasis_openscience",
        ];
        let mut ad = ClassAd::new();
        for name in names {
            ad.insert(name, 1);
        }
        let listed = [
            "CVMFS_oasis",
            "CVMFS_oasis_openscience",
            "CVMFS_oasis_opensciencegrid_a",
            "CVMFS_oasis_opensciencegrid_B",
        ];
        let sorted = [
            "CVMFS_oasis",
            "CVMFS_oasis_openscience",
            "CVMFS_oasis_opensciencegrid_B",
            "CVMFS_oasis_opensciencegrid_a",
        ];
        assert_eq!(listed_names(ad.listed()), listed);
        assert_eq!(listed_names(Order::default().of(&ad)), sorted);
    }

    #[test]
    fn chained_parents_are_merged_in() {
        let mut child = ClassAd::parse(b"[b = 1; z = 2]").unwrap();
        child.chain(Some(Arc::new(ClassAd::parse(b"[B = 100; y = 3; a = 4]").unwrap())));
        assert_eq!(listed_names(Order::of_merged(&child)), ["a", "b", "y", "z"]);
    }
}
