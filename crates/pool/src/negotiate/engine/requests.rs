//! The requests of the queue, without repetitions.
//!
//! In: the columns of a vocabulary, and equivalent values. Out: requests that differ in what expressions look at, and for each
//! request of the queue its number among these. A queue of a hundred thousand autoclusters may have a tenth as many.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::negotiate::engine::equivalence::RequestEquivalence;
use crate::negotiate::engine::evaluate::RequestKey;
use crate::negotiate::engine::vocabulary::{Vocabulary, is_plain};
use classmate::internal::ad::ClassAd;
use classmate::internal::program::partition::Partition;
use classmate::internal::threads;

/// The requests of the queue by their attributes.
#[derive(Debug)]
pub(super) struct QueueColumns<'s> {
    ads: Vec<&'s ClassAd>,
    /// For each attribute of the vocabulary the entry of each request, replaced by an equivalent one.
    columns: Vec<Vec<u32>>,
    /// The number of the structure of each request; none for those that have to be evaluated slot by slot.
    structure_of: Vec<Option<usize>>,
    /// The first request of each structure.
    firsts: Vec<usize>,
}

/// Requests that differ in what expressions look at, and for each request of the queue its number among these; none for those
/// that have to be evaluated slot by slot.
pub(super) type DistinctRequests<'s> = (Vec<RequestKey<'s>>, Vec<Option<usize>>);

impl<'s> QueueColumns<'s> {
    /// The requests with these ads, which are those that the vocabulary was collected from. Their columns are moved out of it.
    pub(super) fn of(ads: Vec<&'s ClassAd>, vocabulary: &mut Vocabulary, equivalence: &RequestEquivalence) -> Self {
        let columns = threads::filter_map_into(vocabulary.take_queue(), |(at, mut ids)| {
            equivalence.apply_to_column(at, &mut ids);
            Some(ids)
        });
        let mut odd = threads::map_all(&ads, |ad| !is_plain(ad));
        let mut structures = Partition::whole(ads.len());
        for (at, column) in columns.iter().enumerate() {
            let of_entries = vocabulary.structures_of(at);
            if of_entries.windows(2).any(|pair| pair[0] != pair[1]) {
                structures.split(|request| of_entries[column[request] as usize]);
            }
            if let Some(unforeseen) = vocabulary.unforeseen_of(at) {
                odd.iter_mut().zip(column).for_each(|(odd, id)| *odd |= unforeseen[*id as usize]);
            }
        }
        structures.split(|request| u32::from(odd[request]));
        let first_of_each = structures.firsts().into_iter().map(|first| first as usize);
        let firsts: Vec<usize> = first_of_each.clone().filter(|first| !odd[*first]).collect();
        let mut next = 0..;
        let numbers: Vec<Option<usize>> =
            first_of_each.map(|first| if odd[first] { None } else { next.next() }).collect();
        let structure_of = structures.of.iter().map(|class| numbers[*class as usize]).collect();
        Self { ads, columns, structure_of, firsts }
    }

    /// The number of requests of the queue.
    pub(super) fn len(&self) -> usize {
        self.ads.len()
    }

    /// The ad of the first request of each structure.
    pub(super) fn samples(&self) -> Vec<&'s ClassAd> {
        self.firsts.iter().map(|first| self.ads[*first]).collect()
    }

    /// The number of each structure, by the structure of each attribute.
    pub(super) fn structures(&self, vocabulary: &Vocabulary) -> HashMap<Vec<u32>, usize> {
        self.firsts.iter().map(|first| vocabulary.structure(&self.ids(*first))).zip(0..).collect()
    }

    /// The entries of a request.
    fn ids(&self, request: usize) -> Vec<u32> {
        self.columns.iter().map(|column| column[request]).collect()
    }

    /// The distinct requests, given for each structure the attributes that expressions look at, by place.
    pub(super) fn distinct(&self, looked_at: &[Vec<usize>]) -> DistinctRequests<'s> {
        let entries = |structure: usize, request: usize| {
            looked_at[structure].iter().map(move |place| self.columns[*place][request])
        };
        let hasher = DefaultHashBuilder::default();
        let hashes = threads::map_range(self.len(), |request| {
            let mut state = hasher.build_hasher();
            self.structure_of[request].into_iter().for_each(|structure| {
                structure.hash(&mut state);
                entries(structure, request).for_each(|id| state.write_u32(id));
            });
            state.finish()
        });
        let (mut known, mut firsts) = (HashTable::<(u64, usize)>::new(), Vec::new());
        let mut number = |(request, structure): (usize, &Option<usize>)| {
            let (hash, structure) = (hashes[request], (*structure)?);
            let same = |&(other, number): &(u64, usize)| {
                let first: usize = firsts[number];
                other == hash
                    && self.structure_of[first] == Some(structure)
                    && entries(structure, first).eq(entries(structure, request))
            };
            if let Some((_, number)) = known.find(hash, same) {
                return Some(*number);
            }
            let number = firsts.len();
            known.insert_unique(hash, (hash, number), |(hash, _)| *hash);
            firsts.push(request);
            Some(number)
        };
        let numbers = self.structure_of.iter().enumerate().map(&mut number).collect();
        let key = |&first: &usize| {
            let structure = self.structure_of[first]?;
            Some(RequestKey { ad: self.ads[first], ids: self.ids(first), structure })
        };
        (threads::map_all(&firsts, key).into_iter().flatten().collect(), numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::name::Name;
    use classmate::internal::program::view::AdSource;

    struct OneSlot(ClassAd);

    impl AdSource for OneSlot {
        fn ad(&self, _: u32) -> &ClassAd {
            &self.0
        }
    }

    #[test]
    fn requests_that_agree_in_what_is_looked_at_are_one() {
        // The fourth has another structure; the last one changes the meaning of `MY`.
        let texts = ["[a = 1; b = 1]", "[a = 2; b = 1]", "[a = 1; b = 2]", "[a = b; b = 1]", "[a = 1; b = 1; my = 1]"];
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        let of_queue: Vec<&ClassAd> = ads.iter().collect();
        let slot = OneSlot(ClassAd::new());
        let mut vocabulary = Vocabulary::collect((1, &slot), &of_queue, &["a", "b"], &[]).unwrap();
        let [a, b] = ["a", "b"].map(|name| vocabulary.place_of(Name::new(name).key()).unwrap());
        let queue = QueueColumns::of(of_queue, &mut vocabulary, &RequestEquivalence::default());
        assert_eq!((queue.samples().len(), queue.structures(&vocabulary).len()), (2, 2));
        let numbers = |places: &[usize]| queue.distinct(&[places.to_vec(), places.to_vec()]).1;
        assert_eq!(numbers(&[a]), [Some(0), Some(1), Some(0), Some(2), None]);
        assert_eq!(numbers(&[b]), [Some(0), Some(0), Some(1), Some(2), None]);
        assert_eq!(numbers(&[a, b]), [Some(0), Some(1), Some(2), Some(3), None]);
        let distinct = queue.distinct(&[vec![a], vec![a]]).0;
        let of_each = distinct.iter().map(|request| (request.structure, request.ids[a], request.ids[b]));
        assert_eq!(of_each.collect::<Vec<_>>(), [(0, 0, 0), (0, 1, 0), (1, 2, 0)]);
    }
}
