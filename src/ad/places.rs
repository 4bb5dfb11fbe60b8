//! The places of some attributes in many ads: found once for all ads of a shape.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::ad::{Attribute, ClassAd};
use crate::name::Name;

/// The places of some names in ads.
pub(crate) struct Places<'a> {
    names: &'a [Name],
    /// By the address of the shape, which its ads hold as long as this is used.
    known: HashMap<usize, Vec<Option<usize>>>,
}

impl<'a> Places<'a> {
    /// For these names.
    pub(crate) fn new(names: &'a [Name]) -> Self {
        Self { names, known: HashMap::new() }
    }

    /// The attributes of an ad with these names.
    pub(crate) fn of(&mut self, ad: &'a ClassAd) -> impl Iterator<Item = Option<&'a Attribute>> {
        let names = self.names;
        let places = match &ad.shape {
            Some(shape) if ad.chained.is_none() => {
                let find = || names.iter().map(|name| shape.position(name.key())).collect();
                Some(&*self.known.entry(Arc::as_ptr(shape) as usize).or_insert_with(find))
            }
            _ => None,
        };
        names.iter().enumerate().map(move |(at, name)| match places {
            Some(places) => places[at].map(|place| &ad.values[place]),
            None => ad.lookup(*name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ad_is_asked_for_what_it_has_itself() {
        let read = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let mut child = read("[b = 5]");
        child.chain(Some(Arc::new(read("[a = 6]"))));
        let ads = [read("[a = 1; b = 2]"), read("[A = 3; b = 4]"), read("[b = 7; a = 8]"), read("[]"), child];
        let names = ["a", "b", "c"].map(Name::new);
        let mut places = Places::new(&names);
        for ad in ads.iter().chain(&ads) {
            let found: Vec<String> = places.of(ad).map(|value| format!("{value:?}")).collect();
            let expected: Vec<String> = names.iter().map(|name| format!("{:?}", ad.lookup(*name))).collect();
            assert_eq!(found, expected);
        }
    }
}
