//! Autoclusters: jobs that are equal in every attribute that matters to a match.
//!
//! In: jobs and significant attributes. Out: the autocluster of each job, and the ad that represents it. Formula
//! source: `docs/reference/negotiation.md` 8.2.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::queue::cluster::same;
use crate::queue::significant::{Significant, references};
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::{Key, Name};
use classmate::internal::program::table::closure;
use classmate::internal::syntax::print::Style;

/// Finds equal jobs.
#[derive(Debug, Default)]
pub struct Autoclusters {
    by_signature: HashMap<Vec<u8>, u32>,
}

impl Autoclusters {
    /// The autocluster of a job, numbered from 1 in the order of first sight.
    ///
    /// Jobs are equal if the significant attributes, and the job attributes that these refer to, have the same text.
    pub fn of(&mut self, job: &ClassAd, significant: &Significant) -> u32 {
        self.of_signature(signature(job, significant))
    }

    /// The autocluster of the jobs with a signature.
    pub(super) fn of_signature(&mut self, signature: Vec<u8>) -> u32 {
        let next = self.by_signature.len() as u32 + 1;
        *self.by_signature.entry(signature).or_insert(next)
    }

    /// Number of autoclusters so far.
    pub fn len(&self) -> usize {
        self.by_signature.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_signature.is_empty()
    }
}

/// Encodes the significant part of a job.
pub(super) fn signature(job: &ClassAd, significant: &Significant) -> Vec<u8> {
    let mut signature = Vec::new();
    for name in relevant(job, significant) {
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
    signature
}

/// The significant attributes, then those of the job they refer to, directly or through others.
pub fn relevant(job: &ClassAd, significant: &Significant) -> Vec<Name> {
    relevant_without(job, significant, &[])
}

/// As [`relevant`], as if nothing referred to some of the attributes.
pub fn relevant_without(job: &ClassAd, significant: &Significant, without: &[Name]) -> Vec<Name> {
    let names: Vec<Name> = significant.names().filter(|name| !without.contains(name)).collect();
    let count = names.len();
    let mut found = closure(names, |names| {
        let trees = names.iter().filter_map(|name| job.lookup(*name)?.tree());
        let counts = |(name, external): &(Name, bool)| !external && job.contains(*name) && !without.contains(name);
        trees.flat_map(|tree| references(tree)).filter(counts).map(|(name, _)| name).collect()
    });
    found[count..].sort_by_key(|name| name.folded());
    found
}

/// Compares two jobs without encoding them: they are equal if they differ only in attributes that are neither
/// significant nor mentioned by one of their expressions. May return false for equal jobs.
#[derive(Debug)]
pub struct Neighbours<'s> {
    significant: &'s HashSet<Key>,
    /// References of expressions, by address.
    mentioned: HashMap<usize, Vec<Key>>,
    /// A chained parent, by address, and names that none of its expressions mentions.
    unmentioned: (usize, SmallVec<[Key; MAX_DIFFERENT]>),
}

/// Attributes that may differ.
const MAX_DIFFERENT: usize = 8;

impl<'s> Neighbours<'s> {
    /// For these significant attributes.
    pub fn new(significant: &'s HashSet<Key>) -> Self {
        Self { significant, mentioned: HashMap::new(), unmentioned: (0, SmallVec::new()) }
    }

    /// Returns whether both are certainly equal.
    pub fn alike(&mut self, a: &ClassAd, b: &ClassAd) -> bool {
        let same_parent = match (a.chained(), b.chained()) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        if !same_parent || a.len() != b.len() {
            return false;
        }
        let mut different: SmallVec<[Key; MAX_DIFFERENT]> = SmallVec::new();
        for ((name, value), (other, other_value)) in a.attributes().zip(b.attributes()) {
            if name != other {
                return false;
            }
            if !same(value, other_value) {
                if different.len() == MAX_DIFFERENT || self.significant.contains(&name.key()) {
                    return false;
                }
                different.push(name.key());
            }
        }
        if different.is_empty() {
            return true;
        }
        if a.attributes().any(|(_, value)| self.mentions(value, &different)) {
            return false;
        }
        let Some(parent) = a.chained() else { return true };
        let address = Arc::as_ptr(parent) as usize;
        if self.unmentioned.0 == address && self.unmentioned.1 == different {
            return true;
        }
        if parent.attributes().any(|(_, value)| self.mentions(value, &different)) {
            return false;
        }
        self.unmentioned = (address, different);
        true
    }

    fn mentions(&mut self, value: &Attribute, names: &[Key]) -> bool {
        let Attribute::Tree(tree) = value else { return false };
        let mentioned = self
            .mentioned
            .entry(Arc::as_ptr(tree) as usize)
            .or_insert_with(|| references(tree).iter().map(|(name, _)| name.key()).collect());
        names.iter().any(|name| mentioned.contains(name))
    }
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
    fn neighbours_are_alike_if_nothing_that_matters_differs() {
        let significant: HashSet<Key> = [Name::new("a").key()].into_iter().collect();
        let same = classmate::internal::syntax::parse::parse_expr(
            b"x + 1",
            &classmate::internal::syntax::parse::ParseOptions::default(),
        )
        .unwrap();
        let ad = |text: &str| {
            let mut ad = ClassAd::parse(text.as_bytes()).unwrap();
            ad.insert_expr("shared", &same);
            ad
        };
        let mut neighbours = Neighbours::new(&significant);
        let mut alike = |a: &str, b: &str| neighbours.alike(&ad(a), &ad(b));
        assert!(alike("[a = 1; p = 0]", "[a = 1; p = 1]"));
        assert!(!alike("[a = 1; p = 0]", "[a = 2; p = 0]"));
        assert!(!alike("[a = 1; x = 0]", "[a = 1; x = 1]"));
        assert!(!alike("[a = 1; p = 0]", "[p = 0; a = 1]"));
    }

    #[test]
    fn circular_references_end() {
        assert_eq!(numbers(&["a"], &["[a = b; b = c; c = a]"]), [1]);
    }
}
