//! Counting autoclusters and requests with and without an attribute.

use hashbrown::{HashMap, HashSet};

use crate::ad::{Attribute, ClassAd};
use crate::name::{Key, Name};
use crate::queue::autocluster::relevant;
use crate::queue::request::Queue;
use crate::queue::significant::{Significant, references};
use crate::syntax::print::Style;

/// Jobs by the values of their significant attributes.
pub struct Columns<'q> {
    queue: &'q Queue<'q>,
    significant: &'q Significant,
    names: Vec<Name>,
    /// For every job the sum of its attributes: like jobs have like sums.
    sums: Vec<u128>,
    /// For every job the numbers of its values, in the order of the names.
    cells: Vec<Vec<u64>>,
    /// For every job the significant attributes that are expressions.
    written: Vec<Vec<Key>>,
    /// For every job the significant attributes that an expression of it refers to: they stay relevant in any case.
    referred: Vec<Vec<Key>>,
    /// Numbers of values, by attribute and text.
    numbers: HashMap<Key, HashMap<Vec<u8>, u64>>,
}

impl<'q> Columns<'q> {
    /// The jobs of a queue.
    pub fn of(queue: &'q Queue, significant: &'q Significant) -> Self {
        let count = queue.jobs.len();
        let mut columns = Columns {
            queue,
            significant,
            names: significant.names().collect(),
            sums: vec![0; count],
            cells: vec![Vec::new(); count],
            written: vec![Vec::new(); count],
            referred: vec![Vec::new(); count],
            numbers: HashMap::new(),
        };
        for queued in queue.lists.iter().flatten() {
            let ad = &queue.jobs[queued.job].ad;
            let mut sum = 0u128;
            let mut cells = Vec::with_capacity(columns.names.len());
            let relevant = relevant(ad, significant);
            for (at, name) in relevant.iter().enumerate() {
                let number = columns.number(ad, *name);
                sum = sum.wrapping_add(mixed(*name, number));
                // The significant ones come first, in their order.
                if at < columns.names.len() {
                    cells.push(number);
                }
                if let Some(Attribute::Tree(tree)) = ad.lookup(*name) {
                    if at < columns.names.len() {
                        columns.written[queued.job].push(name.key());
                    }
                    let inner = references(tree)
                        .into_iter()
                        .filter(|(inner, external)| !external && significant.contains(*inner) && ad.contains(*inner));
                    columns.referred[queued.job].extend(inner.map(|(inner, _)| inner.key()));
                }
            }
            columns.sums[queued.job] = sum;
            columns.cells[queued.job] = cells;
        }
        columns
    }

    /// The number of the value of an attribute.
    fn number(&mut self, ad: &ClassAd, name: Name) -> u64 {
        let values = self.numbers.entry(name.key()).or_default();
        let next = values.len() as u64 + 1;
        *values.entry(text(ad, name)).or_insert(next)
    }

    fn known(&self, ad: &ClassAd, name: Name) -> u128 {
        let number = self.numbers.get(&name.key()).and_then(|values| values.get(&text(ad, name))).copied();
        mixed(name, number.unwrap_or(0))
    }

    /// How many values an attribute has.
    pub fn values(&self, name: Name) -> usize {
        self.numbers.get(&name.key()).map_or(0, HashMap::len)
    }

    /// Autoclusters and requests, perhaps without one of the attributes.
    pub fn count(&self, without: Option<Name>) -> (usize, usize) {
        let shorter = without.and_then(|name| {
            let mut shorter = self.significant.clone();
            shorter.remove(name);
            let at = self.names.iter().position(|known| *known == name)?;
            Some((name, at, shorter))
        });
        let mut clusters: HashSet<u128> = HashSet::new();
        let mut requests = 0;
        for list in &self.queue.lists {
            let mut last = None;
            for queued in list {
                let whole = self.sums[queued.job];
                let sum = match &shorter {
                    None => whole,
                    // An expression pulls in what it refers to.
                    Some((name, _, shorter)) if self.written[queued.job].contains(&name.key()) => {
                        let ad = &self.queue.jobs[queued.job].ad;
                        let left = relevant(ad, shorter);
                        left.into_iter().fold(0u128, |sum, name| sum.wrapping_add(self.known(ad, name)))
                    }
                    // What another expression refers to stays.
                    Some((name, ..)) if self.referred[queued.job].contains(&name.key()) => whole,
                    Some((name, at, _)) => whole.wrapping_sub(mixed(*name, self.cells[queued.job][*at])),
                };
                clusters.insert(sum);
                if last != Some(sum) {
                    requests += 1;
                }
                last = Some(sum);
            }
        }
        (clusters.len(), requests)
    }
}

fn text(ad: &ClassAd, name: Name) -> Vec<u8> {
    ad.get(name).map(|expr| expr.to_text(Style::New)).unwrap_or_default()
}

/// A number of 128 bits in which every bit depends on both: sums of different rows hardly ever agree.
fn mixed(name: Name, number: u64) -> u128 {
    let half = |salt: u64| {
        let mut mixed = (name.key().index() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number ^ salt);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (u128::from(half(0)) << 64) | u128::from(half(0x5851_F42D_4C95_7F2D))
}
