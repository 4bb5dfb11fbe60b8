//! Ads of some attributes of other ads, as requests are of jobs.
//!
//! In: ads and lists of names. Out: ads with these attributes. Ads of one shape have them at the same places, so names are
//! looked up once for each shape.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::ad::shape::{Shape, Shapes};
use crate::ad::{Attribute, ClassAd};
use crate::name::Name;

/// Makes ads of attributes of other ads.
#[derive(Default)]
pub struct Excerpts {
    shapes: Shapes,
    /// By the addresses of the list of names, of the shape of the ad and of that of its parent.
    plans: HashMap<[usize; 3], ExcerptPlan>,
}

/// The places of the attributes of an excerpt.
struct ExcerptPlan {
    /// Kept, so that nothing else has their addresses.
    _kept: (Arc<[Name]>, [Option<Arc<Shape>>; 2]),
    /// The place of each attribute, in the parent if that is true.
    places: Vec<(bool, usize)>,
    /// The names of the excerpt.
    shape: Arc<Shape>,
}

/// Number of plans that are remembered; then all are forgotten.
const MAX_PLANS: usize = 1024;

impl std::fmt::Debug for Excerpts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Excerpts({})", self.plans.len())
    }
}

impl Excerpts {
    /// The ad of the attributes with some names and with others that are not among them, as far as an ad has these, and of
    /// `added`; `also` and the names of `added` are the same in all calls. It has room for `spare` attributes more.
    pub fn make<const N: usize>(
        &mut self,
        ad: &ClassAd,
        (names, also): (&Arc<[Name]>, &[Name]),
        added: [(Name, Attribute); N],
        spare: usize,
    ) -> ClassAd {
        let parent = ad.chained.as_deref();
        // Attributes of further parents have no places in a plan.
        let has_plan = parent.is_none_or(|parent| parent.chained.is_none());
        let shapes = [ad.shape.clone(), parent.and_then(|parent| parent.shape.clone())];
        let [own, above] = shapes.each_ref().map(|shape| shape.as_ref().map_or(0, |shape| Arc::as_ptr(shape) as usize));
        let key = [Arc::as_ptr(names).cast::<Name>() as usize, own, above];
        if has_plan && let Some(ExcerptPlan { places, shape, .. }) = self.plans.get(&key) {
            let mut values = Vec::with_capacity(places.len() + N + spare);
            let above = parent.map_or(&[][..], |parent| &parent.values);
            let value =
                |(is_above, at): &(bool, usize)| if *is_above { above[*at].clone() } else { ad.values[*at].clone() };
            values.extend(places.iter().map(value));
            values.extend(added.into_iter().map(|(_, value)| value));
            return ClassAd { shape: Some(Arc::clone(shape)), values, chained: None };
        }
        // A name that came twice would cost the search for the shape of the ad.
        let wanted = || names.iter().chain(also.iter().filter(|name| !names.contains(name)));
        let mut attributes: Vec<_> = wanted().filter_map(|name| Some((*name, ad.lookup(*name)?.clone()))).collect();
        attributes.extend(added);
        let count = attributes.len();
        let made = self.shapes.make(&mut attributes, spare);
        // Of a name that comes twice one value is left.
        if has_plan
            && made.len() == count
            && let Some(shape) = &made.shape
        {
            let place = |name: &Name| match ad.position(name.key()) {
                Some(at) => Some((false, at)),
                None => Some((true, parent?.position(name.key())?)),
            };
            if self.plans.len() >= MAX_PLANS {
                self.plans.clear();
            }
            let places = wanted().filter_map(place).collect();
            let plan = ExcerptPlan { _kept: (Arc::clone(names), shapes), places, shape: Arc::clone(shape) };
            self.plans.insert(key, plan);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::literal::Literal;

    /// Each ad comes twice: the second time its places are known.
    #[test]
    fn excerpts_have_the_attributes_of_their_ads() {
        let read = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let chained = |text: &str, parent: &ClassAd| {
            let mut ad = read(text);
            ad.chain(Some(Arc::new(parent.clone())));
            ad
        };
        let parent = read("[a = 6; c = 7]");
        let child = chained("[b = 5]", &parent);
        let grandchild = chained("[p = 9]", &child);
        let [orphan, heir] = [None, Some(&grandchild)].map(|parent| {
            let above = parent.map_or_else(|| read("[a = 6]"), |parent| chained("[a = 6]", parent));
            chained("[b = 5]", &above)
        });
        let own = read("[B = 2; a = 1; p = 3]");
        let cases = [
            (&own, "[ B = 2; a = 1; n = 0; p = 3 ]"),
            (&child, "[ a = 6; b = 5; n = 0 ]"),
            (&grandchild, "[ a = 6; b = 5; n = 0; p = 9 ]"),
            (&orphan, "[ a = 6; b = 5; n = 0 ]"),
            (&heir, "[ a = 6; b = 5; n = 0; p = 9 ]"),
            (&read("[a = x + 1; N = 4]"), "[ a = x + 1; n = 0 ]"),
            (&read("[]"), "[ n = 0 ]"),
        ];
        let names: Arc<[Name]> = ["a", "b"].map(Name::new).into();
        let also = ["p", "b"].map(Name::new);
        let mut excerpts = Excerpts::default();
        for (ad, expected) in cases.iter().chain(&cases) {
            let added = [(Name::new("n"), Attribute::Literal(Literal::Int(0)))];
            let made = excerpts.make(ad, (&names, &also), added, 1);
            let sorted = read(&made.to_string());
            let expected = read(expected);
            assert_eq!(made.len(), expected.len());
            for (name, value) in expected.attributes() {
                assert_eq!(format!("{:?}", sorted.lookup(name)), format!("{:?}", Some(value)));
            }
        }
        assert!(excerpts.plans.len() >= 3);
    }

    #[test]
    fn a_name_that_comes_twice_has_the_last_value() {
        let ad = ClassAd::parse(b"[a = 1; n = 2]").unwrap();
        let names: Arc<[Name]> = ["n", "a"].map(Name::new).into();
        let mut excerpts = Excerpts::default();
        for number in [3, 4] {
            let added = [(Name::new("N"), Attribute::Literal(Literal::Int(number)))];
            let made = excerpts.make(&ad, (&names, &[]), added, 0);
            assert_eq!((made.len(), made.constant("n").and_then(|value| value.as_int())), (2, Some(number)));
        }
    }
}
