//! Autoclusters: jobs that are alike in every attribute that matters to a match.
//!
//! In: jobs and significant attributes. Out: a number for each job, and the ad that stands for its like.
//! Formula source: `negotiation.md` §8.2.

use hashbrown::HashMap;

use crate::ad::{Attribute, ClassAd};
use crate::name::{Key, Name};
use crate::queue::significant::{Significant, references};
use crate::syntax::print::Style;

/// Finds which jobs are alike.
#[derive(Debug, Default)]
pub struct Autoclusters {
    by_signature: HashMap<Vec<u8>, u32>,
}

impl Autoclusters {
    /// The autocluster of a job, numbered from 1 in the order of first sight.
    ///
    /// Jobs are alike if the significant attributes, and those of the job that these refer to, are written
    /// alike.
    pub fn of(&mut self, job: &ClassAd, significant: &Significant) -> u32 {
        let names = relevant(job, significant);
        let mut signature = Vec::new();
        for name in names {
            signature.extend_from_slice(name.folded());
            signature.push(b'=');
            match job.lookup(name) {
                Some(Attribute::Literal(_)) => {
                    if let Some(value) = job.constant(name) {
                        signature.extend(value.to_text(Style::New));
                    }
                }
                Some(Attribute::Tree(_)) => {
                    if let Some(expr) = job.get(name) {
                        signature.extend(expr.to_text(Style::New));
                    }
                }
                None => {}
            }
            signature.push(b'\n');
        }
        let next = self.by_signature.len() as u32 + 1;
        *self.by_signature.entry(signature).or_insert(next)
    }

    /// Number of autoclusters so far.
    pub fn len(&self) -> usize {
        self.by_signature.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_signature.is_empty()
    }
}

/// The significant attributes, then those of the job they refer to, directly or through others.
pub fn relevant(job: &ClassAd, significant: &Significant) -> Vec<Name> {
    let mut names: Vec<Name> = significant.names().collect();
    let mut known: hashbrown::HashSet<Key> = names.iter().map(|name| name.key()).collect();
    let mut also: Vec<Name> = Vec::new();
    let mut open: Vec<Name> = names.clone();
    while let Some(name) = open.pop() {
        let Some(Attribute::Tree(tree)) = job.lookup(name) else { continue };
        for (reference, external) in references(tree) {
            if !external && job.contains(reference) && known.insert(reference.key()) {
                also.push(reference);
                open.push(reference);
            }
        }
    }
    also.sort_by_key(|name| name.folded());
    names.append(&mut also);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(significant: &[&str], jobs: &[&str]) -> Vec<u32> {
        let mut set = Significant::default();
        for name in significant {
            set.insert(Name::new(name));
        }
        let mut clusters = Autoclusters::default();
        jobs.iter().map(|job| clusters.of(&ClassAd::parse(job.as_bytes()).unwrap(), &set)).collect()
    }

    #[test]
    fn jobs_alike_in_what_matters_are_one() {
        let jobs = ["[a = 1; b = 1]", "[A = 1; b = 2]", "[a = 2]", "[b = 1]", "[a = 1]"];
        assert_eq!(numbers(&["a"], &jobs), [1, 1, 2, 3, 1]);
    }

    #[test]
    fn values_are_compared_as_written() {
        assert_eq!(numbers(&["a"], &["[a = 2]", "[a = 1 + 1]", "[a = 2.0]", "[a = \"2\"]"]), [1, 2, 3, 4]);
    }

    #[test]
    fn what_significant_attributes_refer_to_in_the_job_counts_too() {
        let jobs = [
            "[r = TARGET.m > need; need = k * 2; k = 1]",
            "[r = TARGET.m > need; need = k * 2; k = 2]",
            "[r = TARGET.m > need; need = k * 2; k = 1; m = 5]",
        ];
        assert_eq!(numbers(&["r"], &jobs), [1, 2, 1]);
    }

    #[test]
    fn circular_references_end() {
        assert_eq!(numbers(&["a"], &["[a = b; b = c; c = a]"]), [1]);
    }
}
