//! Counting autoclusters and requests with and without an attribute.

use std::rc::Rc;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use classmate::internal::ad::Attribute;
use classmate::internal::name::Key;
use classmate::internal::syntax::expr::Tree;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, Name};
use classmate_pool::internal::queue::autocluster::{relevant, relevant_without};
use classmate_pool::internal::queue::request::Queue;
use classmate_pool::internal::queue::significant::{Significant, references};

/// The values in jobs of the significant attributes and of those that these refer to.
pub struct JobValues<'q> {
    queue: &'q Queue<'q>,
    significant: &'q Significant,
    /// The significant attributes, then those that expressions of jobs refer to.
    pub names: Vec<Name>,
    /// The sum of the attributes of every job: equal jobs have equal sums.
    sums: Vec<u128>,
    /// The numbers of the values of every job, in the order of the names; 0 for an attribute that does not count.
    cells: Vec<Vec<u32>>,
    /// The attributes of every job that count and are expressions.
    written: Vec<Vec<Key>>,
    /// Numbers of values, by attribute and text.
    numbers: HashMap<Key, HashMap<Vec<u8>, u32>>,
    /// References between attributes: by the attribute referred to and by the referring one.
    pulls: HashMap<Key, HashMap<Key, Vec<Pull>>>,
    /// The expressions that were read, by address.
    read: HashMap<*const Tree, Rc<ReadExpr>>,
}

/// The references of an expression of a job to the job, and the beginning of its text.
struct ReadExpr {
    names: Vec<Name>,
    text: Vec<u8>,
}

/// An expression of jobs that refers to an attribute of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// The attribute that it belongs to.
    pub source: Name,
    /// The attribute that it refers to.
    pub name: Name,
    /// The beginning of its text; none for expressions beyond the first few.
    pub text: Option<Vec<u8>>,
    /// Jobs that have it.
    pub jobs: usize,
}

/// Maximum number of different texts for one attribute that refers to another.
const MAX_TEXTS: usize = 8;

impl<'q> JobValues<'q> {
    /// The jobs of a queue; at most `shown` characters of each expression are kept.
    pub fn of(queue: &'q Queue, significant: &'q Significant, shown: usize) -> Self {
        let count = queue.jobs.len();
        let mut values = JobValues {
            queue,
            significant,
            names: significant.names().collect(),
            sums: vec![0; count],
            cells: vec![Vec::new(); count],
            written: vec![Vec::new(); count],
            numbers: HashMap::new(),
            pulls: HashMap::new(),
            read: HashMap::new(),
        };
        let mut places: HashMap<Key, usize> =
            values.names.iter().enumerate().map(|(at, name)| (name.key(), at)).collect();
        for queued in queue.lists.iter().flatten() {
            let ad = &queue.jobs[queued.job].ad;
            let mut sum = 0u128;
            let mut cells = vec![0; values.names.len()];
            for name in relevant(ad, significant) {
                let number = values.number(ad, name);
                sum = sum.wrapping_add(mixed(name, u64::from(number)));
                let place = *places.entry(name.key()).or_insert_with(|| {
                    values.names.push(name);
                    values.names.len() - 1
                });
                if place >= cells.len() {
                    cells.resize(place + 1, 0);
                }
                cells[place] = number;
                if let Some(Attribute::Tree(tree)) = ad.lookup(name) {
                    values.written[queued.job].push(name.key());
                    values.pull(ad, name, tree, shown);
                }
            }
            values.sums[queued.job] = sum;
            values.cells[queued.job] = cells;
        }
        values
    }

    /// Adds the references of an expression of a job to the job.
    fn pull(&mut self, ad: &ClassAd, source: Name, tree: &Arc<Tree>, shown: usize) {
        let read = self.read.entry(Arc::as_ptr(tree)).or_insert_with(|| {
            let mut names: Vec<Name> =
                references(tree).into_iter().filter(|(_, external)| !external).map(|(name, _)| name).collect();
            names.sort_by_key(|name| name.folded());
            names.dedup();
            Rc::new(ReadExpr { names, text: ad.get(source).map(|expr| expr.beginning(shown)).unwrap_or_default() })
        });
        let read = Rc::clone(read);
        for name in read.names.iter().filter(|name| ad.contains(**name)) {
            let known = self.pulls.entry(name.key()).or_default().entry(source.key()).or_default();
            match known.iter_mut().find(|pull| pull.text.as_ref().is_none_or(|known| *known == read.text)) {
                Some(pull) => pull.jobs += 1,
                None => {
                    let text = (known.len() < MAX_TEXTS).then(|| read.text.clone());
                    known.push(Pull { source, name: *name, text, jobs: 1 });
                }
            }
        }
    }

    /// The expressions of jobs that refer to an attribute, the most frequent first.
    pub fn pulls(&self, name: Name) -> Vec<&Pull> {
        let of = self.pulls.get(&name.key());
        let mut found: Vec<&Pull> = of.into_iter().flat_map(HashMap::values).flatten().collect();
        found.sort_by(|one, two| {
            let by_name = one.source.folded().cmp(two.source.folded());
            two.jobs.cmp(&one.jobs).then(by_name).then_with(|| one.text.cmp(&two.text))
        });
        found
    }

    /// The references of each attribute of jobs.
    pub fn references(&self) -> HashMap<Key, Vec<Name>> {
        let mut found: HashMap<Key, Vec<Name>> = HashMap::new();
        for pull in self.pulls.values().flat_map(HashMap::values).filter_map(|pulls| pulls.first()) {
            found.entry(pull.source.key()).or_default().push(pull.name);
        }
        found
    }

    /// The number of the value of an attribute.
    fn number(&mut self, ad: &ClassAd, name: Name) -> u32 {
        let values = self.numbers.entry(name.key()).or_default();
        let next = values.len() as u32 + 1;
        *values.entry(text(ad, name)).or_insert(next)
    }

    fn known(&self, ad: &ClassAd, name: Name) -> u128 {
        let number = self.numbers.get(&name.key()).and_then(|values| values.get(&text(ad, name))).copied();
        mixed(name, u64::from(number.unwrap_or(0)))
    }

    /// Number of values of an attribute.
    pub fn values(&self, name: Name) -> usize {
        self.numbers.get(&name.key()).map_or(0, HashMap::len)
    }

    /// Returns whether any job defines an attribute.
    pub fn is_defined(&self, name: Name) -> bool {
        self.numbers.get(&name.key()).is_some_and(|values| values.keys().any(|text| !text.is_empty()))
    }

    /// Returns whether all values of an attribute are numbers or missing, so that they can be rounded.
    pub fn is_of_numbers(&self, name: Name) -> bool {
        let number = |text: &Vec<u8>| text.first().is_none_or(|first| first.is_ascii_digit() || *first == b'-');
        self.numbers.get(&name.key()).is_none_or(|values| values.keys().all(number))
    }

    /// Number of autoclusters and requests if no slot and no job referred to some attributes, or if these were the same in all
    /// jobs.
    pub fn count(&self, without: &[Name]) -> (usize, usize) {
        let places = self.places(without);
        let mut clusters: HashSet<u128> = HashSet::new();
        let mut requests = 0;
        for list in &self.queue.lists {
            let mut last = None;
            for queued in list {
                let sum = self.sum(queued.job, without, &places);
                clusters.insert(sum);
                if last != Some(sum) {
                    requests += 1;
                }
                last = Some(sum);
            }
        }
        (clusters.len(), requests)
    }

    /// Number of autoclusters if some attributes were the same in all jobs whose autoclusters have the same outcome.
    pub fn differing(&self, without: &[Name], outcomes: &HashMap<u32, u32>) -> usize {
        let places = self.places(without);
        let queued = self.queue.lists.iter().flatten();
        let seen: HashSet<(u128, Option<u32>)> =
            queued.map(|one| (self.sum(one.job, without, &places), outcomes.get(&one.autocluster).copied())).collect();
        seen.len()
    }

    /// The places of the cells of attributes.
    fn places(&self, names: &[Name]) -> Vec<(Name, usize)> {
        let place = |name: &Name| Some((*name, self.names.iter().position(|known| known == name)?));
        names.iter().filter_map(place).collect()
    }

    /// The sum of a job without some attributes.
    fn sum(&self, job: usize, without: &[Name], places: &[(Name, usize)]) -> u128 {
        let written = &self.written[job];
        if places.iter().any(|(name, _)| written.contains(&name.key())) {
            // Without the expression, the attributes it refers to do not count either.
            let ad = &self.queue.jobs[job].ad;
            let left = relevant_without(ad, self.significant, without);
            return left.into_iter().fold(0u128, |sum, name| sum.wrapping_add(self.known(ad, name)));
        }
        let cells = &self.cells[job];
        places.iter().fold(self.sums[job], |sum, (name, at)| match cells.get(*at) {
            None | Some(0) => sum,
            Some(number) => sum.wrapping_sub(mixed(*name, u64::from(*number))),
        })
    }
}

fn text(ad: &ClassAd, name: Name) -> Vec<u8> {
    ad.get(name).map(|expr| expr.to_text(Style::New)).unwrap_or_default()
}

/// Hashes an attribute and the number of its value to 128 bits: sums of different rows practically never agree.
fn mixed(name: Name, number: u64) -> u128 {
    let half = |salt: u64| {
        let mut mixed = (name.key().index() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number ^ salt);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (u128::from(half(0)) << 64) | u128::from(half(0x5851_F42D_4C95_7F2D))
}
