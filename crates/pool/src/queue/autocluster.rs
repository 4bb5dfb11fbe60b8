//! Autoclusters: jobs that are equal in every attribute that matters to a match.
//!
//! In: jobs and significant attributes. Out: the autocluster of each job, and the ad that represents it. Formula
//! source: `docs/reference/negotiation.md` 8.2.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use smallvec::SmallVec;

use crate::queue::cluster::same;
use crate::queue::significant::{Significant, references};
use classmate::Semantics;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::{Key, Name};
use classmate::internal::program::table::closure;
use classmate::internal::semantics::OLDEST;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::print::Style;
use classmate::internal::threads;

/// The attributes of an ad, its chained parents not counted, and the addresses of their expressions; 0 for a constant.
type AdStructure = SmallVec<[(Key, usize); MAX_DIFFERENT]>;

fn structure(ad: &ClassAd) -> impl Iterator<Item = (Key, usize)> {
    let address = |value: &Attribute| value.tree().map_or(0, |tree| Arc::as_ptr(tree) as usize);
    ad.attributes().map(move |(name, value)| (name.key(), address(value)))
}

/// Number of texts that are remembered from one queue to the next.
const MAX_TEXTS: usize = 1 << 16;

/// The kinds of texts in an encoded significant part: a constant that is an integer or a string, or the number of any
/// other text.
const INTEGER: u8 = 0;
const STRING: u8 = 1;
const NUMBERED_TEXT: u8 = 2;

/// Jobs that a thread encodes at a time, at least.
const GRAIN: usize = 1 << 10;

/// Number of significant parts that are remembered.
const MAX_PARTS: usize = 1024;

/// Jobs that are encoded together before they are numbered: as many as fill some megabytes.
const ENCODED_TOGETHER: usize = 1 << 16;

/// Numbers of texts by version.
type TextNumbers = HashMap<(Vec<u8>, Semantics), u32>;

/// Finds equal jobs.
///
/// Jobs are equal if the significant attributes, and the job attributes that these refer to, have the same text.
#[derive(Debug)]
pub struct Autoclusters<'j> {
    significant: &'j Significant,
    encoders: Mutex<Vec<Encoder<'j>>>,
    texts: Mutex<TextNumbers>,
    numbers: EncodedParts,
    /// The autocluster of each significant part, by its number; 0 for those not seen yet.
    by_part: Vec<u32>,
    /// The attributes that matter in jobs of each autocluster.
    names_of: Vec<Arc<[Name]>>,
}

/// The significant parts of jobs with chained parents, kept as long as the same attributes are significant.
#[derive(Debug, Default)]
pub struct KnownParts {
    significant: Vec<Name>,
    parts: HashMap<PartKey, Arc<SignificantPart>>,
    texts: TextNumbers,
    numbers: EncodedParts,
}

/// Significant parts as encoded, numbered in the order of first sight. Their bytes are in one piece: a hundred thousand pieces
/// take long to free.
#[derive(Debug, Default)]
struct EncodedParts {
    hasher: DefaultHashBuilder,
    /// The hash of each and its number.
    by_hash: HashTable<(u64, u32)>,
    pieces: Pieces,
}

/// Pieces of bytes, one after the other.
#[derive(Debug, Default)]
struct Pieces {
    bytes: Vec<u8>,
    /// The place after the last byte of each.
    ends: Vec<usize>,
}

impl Pieces {
    fn piece(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }
}

impl EncodedParts {
    fn number(&mut self, part: &[u8], hash: u64) -> usize {
        let pieces = &mut self.pieces;
        let is_part = |(other, number): &(u64, u32)| *other == hash && pieces.piece(*number as usize) == part;
        if let Some((_, number)) = self.by_hash.find(hash, is_part) {
            return *number as usize;
        }
        let number = pieces.ends.len();
        pieces.bytes.extend_from_slice(part);
        pieces.ends.push(pieces.bytes.len());
        self.by_hash.insert_unique(hash, (hash, number as u32), |(hash, _)| *hash);
        number
    }

    fn reserve(&mut self, count: usize) {
        self.by_hash.reserve(count, |(hash, _)| *hash);
        self.pieces.ends.reserve(count);
    }
}

/// The significant parts of some jobs.
#[derive(Debug, Default)]
struct EncodedJobs {
    pieces: Pieces,
    hashes: Vec<u64>,
    /// The attributes that matter in each job from the first of the given number on.
    names: Vec<(usize, Arc<[Name]>)>,
}

/// The address of the chained parent of a job, 0 without one, and the hash of the structure of the job.
type PartKey = (usize, u64);

/// The significant part of a job.
#[derive(Debug)]
struct SignificantPart {
    /// Kept, so that no other ad has its address.
    _parent: Option<Arc<ClassAd>>,
    own: AdStructure,
    names: Arc<[Name]>,
    /// The encoded attributes that are not constants of the job itself.
    fixed: Vec<u8>,
    /// The constants of the job itself: other jobs of this structure and parent differ in nothing else.
    constants: Vec<OwnConstant>,
}

/// A constant of a job itself.
#[derive(Debug, Clone, Copy)]
struct OwnConstant {
    name: Name,
    /// Its place in the job.
    place: usize,
    /// The number of fixed bytes before it.
    after: usize,
}

impl<'j> Autoclusters<'j> {
    /// No autoclusters yet; what is known of jobs counts if it is about the same attributes.
    pub fn new(significant: &'j Significant, known: KnownParts) -> Self {
        let is_known = known.significant.iter().copied().eq(significant.names());
        let KnownParts { parts, texts, numbers, .. } = if is_known { known } else { KnownParts::default() };
        let encoders = Mutex::new(vec![Encoder { parts, ..Encoder::new(significant, numbers.hasher.clone()) }]);
        Self { significant, encoders, texts: Mutex::new(texts), numbers, by_part: Vec::new(), names_of: Vec::new() }
    }

    /// The autocluster of a job, numbered from 1 in the order of first sight.
    pub fn of(&mut self, job: &'j ClassAd) -> u32 {
        let jobs = self.encode(&[job]);
        self.number(&jobs, 0)
    }

    /// The autoclusters of jobs, in their order. They are encoded on all threads.
    pub fn of_all(&mut self, jobs: &[&'j ClassAd]) -> Vec<u32> {
        self.numbers.reserve(jobs.len());
        self.names_of.reserve(jobs.len());
        self.by_part.reserve(jobs.len());
        let mut all = Vec::with_capacity(jobs.len());
        for jobs in jobs.chunks(ENCODED_TOGETHER) {
            for jobs in threads::map_parts(jobs.len(), GRAIN, |part| self.encode(&jobs[part])) {
                all.extend((0..jobs.hashes.len()).map(|at| self.number(&jobs, at)));
            }
        }
        all
    }

    /// The number of autoclusters so far.
    pub fn count(&self) -> usize {
        self.names_of.len()
    }

    /// The attributes that matter in jobs of each autocluster, which all of these have, and what is known of jobs.
    pub fn into_names(self) -> (Vec<Arc<[Name]>>, KnownParts) {
        let Self { significant, encoders, texts, numbers, names_of, .. } = self;
        let mut encoders = encoders.into_inner().unwrap_or_else(PoisonError::into_inner);
        let parts = encoders.pop().map(|encoder| encoder.parts).unwrap_or_default();
        let texts = texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut known = KnownParts { significant: significant.names().collect(), parts, texts, numbers };
        if known.texts.len().max(known.numbers.pieces.ends.len()) > MAX_TEXTS {
            threads::drop_later(std::mem::take(&mut known));
        }
        // The addresses of what is in the jobs themselves may be those of something else in the next queue.
        known.parts.retain(|(parent, _), part| *parent != 0 && part.own.iter().all(|(_, tree)| *tree == 0));
        (names_of, known)
    }

    /// Encodes the significant parts of jobs. Threads take the encoder that was left last, or make another.
    fn encode(&self, jobs: &[&'j ClassAd]) -> EncodedJobs {
        let encoders = || self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let left = encoders().pop();
        let mut encoder = left.unwrap_or_else(|| Encoder::new(self.significant, self.numbers.hasher.clone()));
        let mut encoded = EncodedJobs::default();
        for (at, job) in jobs.iter().enumerate() {
            let start = encoded.pieces.bytes.len();
            let part = encoder.encode(job, &self.texts, &mut encoded.pieces.bytes);
            if !encoded.names.last().is_some_and(|(_, last)| Arc::ptr_eq(last, &part.names)) {
                encoded.names.push((at, Arc::clone(&part.names)));
            }
            encoded.hashes.push(self.numbers.hasher.hash_one(&encoded.pieces.bytes[start..]));
            encoded.pieces.ends.push(encoded.pieces.bytes.len());
        }
        encoders().push(encoder);
        encoded
    }

    /// The autocluster of one of the jobs.
    fn number(&mut self, jobs: &EncodedJobs, at: usize) -> u32 {
        let part = self.numbers.number(jobs.pieces.piece(at), jobs.hashes[at]);
        if self.by_part.len() <= part {
            self.by_part.resize(part + 1, 0);
        }
        if self.by_part[part] == 0 {
            let names = &jobs.names[jobs.names.partition_point(|(first, _)| *first <= at) - 1].1;
            self.names_of.push(Arc::clone(names));
            self.by_part[part] = self.names_of.len() as u32;
        }
        self.by_part[part]
    }
}

/// Encodes the significant parts of jobs.
#[derive(Debug)]
struct Encoder<'j> {
    significant: &'j Significant,
    /// The attributes that matter in jobs by the structure of the job and of its chained parents.
    names: HashMap<Vec<AdStructure>, Arc<[Name]>>,
    /// The significant part of a job with each chained parent and structure.
    parts: HashMap<PartKey, Arc<SignificantPart>>,
    hasher: DefaultHashBuilder,
    /// The numbers of the texts of expressions by address.
    trees: HashMap<usize, u32>,
}

impl<'j> Encoder<'j> {
    fn new(significant: &'j Significant, hasher: DefaultHashBuilder) -> Self {
        Self { significant, names: HashMap::new(), parts: HashMap::new(), hasher, trees: HashMap::new() }
    }

    /// Appends the significant part of a job, and returns what is known of it.
    fn encode(&mut self, job: &'j ClassAd, texts: &Mutex<TextNumbers>, bytes: &mut Vec<u8>) -> Arc<SignificantPart> {
        let mut job = job;
        // Many clusters have one job, which is all of its chained parent.
        while job.is_empty()
            && let Some(parent) = job.chained()
        {
            job = parent;
        }
        let parent = job.chained().map_or(0, |parent| Arc::as_ptr(parent) as usize);
        let mut state = self.hasher.build_hasher();
        structure(job).for_each(|attribute| attribute.hash(&mut state));
        let key = (parent, state.finish());
        let known = self.parts.get(&key).filter(|part| structure(job).eq(part.own.iter().copied()));
        let part = match known {
            Some(known) => Arc::clone(known),
            None => {
                let part = Arc::new(self.significant_part(job, structure(job).collect(), texts));
                if self.parts.len() >= MAX_PARTS {
                    self.parts.clear();
                }
                self.parts.insert(key, Arc::clone(&part));
                part
            }
        };
        let mut done = 0;
        for OwnConstant { name, place, after } in &part.constants {
            bytes.extend_from_slice(&part.fixed[done..*after]);
            self.encode_attribute(job, (*name, job.lookup_near(*name, *place)), texts, bytes);
            done = *after;
        }
        bytes.extend_from_slice(&part.fixed[done..]);
        part
    }

    fn significant_part(&mut self, job: &'j ClassAd, own: AdStructure, texts: &Mutex<TextNumbers>) -> SignificantPart {
        let significant = self.significant;
        let names = self
            .names
            .entry(job.lineage().map(|ad| structure(ad).collect()).collect())
            .or_insert_with(|| relevant(job, significant).into_iter().filter(|name| job.contains(*name)).collect());
        let names = Arc::clone(names);
        let (mut fixed, mut constants) = (Vec::new(), Vec::new());
        for name in names.iter() {
            match own.iter().position(|attribute| *attribute == (name.key(), 0)) {
                Some(place) => constants.push(OwnConstant { name: *name, place, after: fixed.len() }),
                None => self.encode_attribute(job, (*name, job.lookup(*name)), texts, &mut fixed),
            }
        }
        SignificantPart { _parent: job.chained().cloned(), own, names, fixed, constants }
    }

    /// Appends an attribute with its text: the same bytes for the same text, and no others.
    fn encode_attribute(
        &mut self,
        job: &ClassAd,
        (name, value): (Name, Option<&Attribute>),
        texts: &Mutex<TextNumbers>,
        bytes: &mut Vec<u8>,
    ) {
        bytes.extend_from_slice(&name.key().index().to_le_bytes());
        // What has the text of such a constant is one. Others, like `-1`, may be written as expressions, too.
        match value {
            Some(Attribute::Literal(Literal::Int(value @ 0..))) => {
                bytes.push(INTEGER);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Some(Attribute::Literal(Literal::Str(text))) => {
                bytes.push(STRING);
                bytes.extend_from_slice(&text.len().to_le_bytes());
                bytes.extend_from_slice(text);
            }
            _ => {
                bytes.push(NUMBERED_TEXT);
                bytes.extend_from_slice(&self.number(job, name, texts).to_le_bytes());
            }
        }
    }

    /// The number of the text of an attribute.
    fn number(&mut self, job: &ClassAd, name: Name, texts: &Mutex<TextNumbers>) -> u32 {
        let number = |semantics| {
            let text = job.get(name).map(|expr| expr.to_text(Style::New)).unwrap_or_default();
            let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            let next = texts.len() as u32;
            *texts.entry((text, semantics)).or_insert(next)
        };
        let value = job.lookup(name);
        match value.and_then(Attribute::tree) {
            Some(tree) => {
                *self.trees.entry(Arc::as_ptr(tree) as usize).or_insert_with(|| number(tree.semantics.language()))
            }
            // `relTime("1:30")` has the same text in all versions.
            None if matches!(value, Some(Attribute::Literal(Literal::OldRelTime(_)))) => number(Semantics::of(OLDEST)),
            None => number(Semantics::default()),
        }
    }
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
    use classmate::ParseOptions;

    fn numbers(significant: &[&str], jobs: &[&str]) -> Vec<u32> {
        let mut set = Significant::default();
        for name in significant {
            set.insert(Name::new(name));
        }
        let jobs: Vec<ClassAd> = jobs.iter().map(|job| ClassAd::parse(job.as_bytes()).unwrap()).collect();
        let mut clusters = Autoclusters::new(&set, KnownParts::default());
        jobs.iter().map(|job| clusters.of(job)).collect()
    }

    #[test]
    fn what_a_job_shares_with_others_counts_as_its_own() {
        let (mut set, ad) = (Significant::default(), |text: &str| ClassAd::parse(text.as_bytes()).unwrap());
        for name in ["a", "b", "r"] {
            set.insert(Name::new(name));
        }
        let child = |text: &str, parent: &Arc<ClassAd>| {
            let mut child = ad(text);
            child.chain(Some(Arc::clone(parent)));
            child
        };
        let [first, second] = ["[a = 1; r = k + 1]", "[a = 1; b = 2; k = 3; r = k + 1]"].map(|text| Arc::new(ad(text)));
        let jobs = [
            child("[b = 2; k = 3]", &first),
            child("[b = 3; k = 3]", &first),
            child("[b = 2; k = 3]", &first),
            ad("[R = k+1; a = 1; k = 3; b = 2]"),
            child("[p = 1]", &second),
            child("[p = 2]", &second),
            child("[b = 3]", &second),
            child("[b = 2]", &first),
        ];
        let mut clusters = Autoclusters::new(&set, KnownParts::default());
        let numbers: Vec<u32> = jobs.iter().map(|job| clusters.of(job)).collect();
        assert_eq!(numbers, [1, 2, 1, 1, 1, 1, 2, 3]);
        let names: Vec<usize> = clusters.into_names().0.iter().map(|names| names.len()).collect();
        assert_eq!(names, [4, 4, 3]);
    }

    #[test]
    fn jobs_alike_in_what_matters_are_one() {
        let jobs = ["[a = 1; b = 1]", "[A = 1; b = 2]", "[a = 2]", "[b = 1]", "[a = 1]"];
        assert_eq!(numbers(&["a"], &jobs), [1, 1, 2, 3, 1]);
    }

    #[test]
    fn values_are_compared_as_written() {
        assert_eq!(numbers(&["a"], &["[a = 2]", "[a = 1 + 1]", "[a = 2.0]", "[a = \"2\"]"]), [1, 2, 3, 4]);
        let texts = ["2", "-2", "- 2", "(2)", "+2", "\"b\"", "\"\\142\"", "\"B\"", "(\"b\")", "'b'", "b", "true"];
        let jobs = texts.map(|text| format!("[a = {text}; b = \"2\"]"));
        let written =
            jobs.each_ref().map(|job| ClassAd::parse(job.as_bytes()).unwrap().get("a").unwrap().to_text(Style::New));
        let first = written.each_ref().map(|text| written.iter().position(|other| other == text));
        let found = numbers(&["a"], &jobs.each_ref().map(String::as_str));
        let first_found: Vec<_> = found.iter().map(|number| found.iter().position(|other| other == number)).collect();
        assert_eq!(first_found, first);
    }

    /// `relTime("1:30")` was a relative time until 23.6, and is the real 90.0 since.
    #[test]
    fn values_of_other_versions_are_not_equal_because_their_text_is() {
        let mut set = Significant::default();
        set.insert(Name::new("a"));
        let jobs = ["23.0", "25.14", "23.6", "24.0"].map(|series| {
            let options = ParseOptions { semantics: series.parse().unwrap(), ..ParseOptions::default() };
            ClassAd::parse_with("[a = relTime(\"1:30\")]", &options).unwrap()
        });
        let mut clusters = Autoclusters::new(&set, KnownParts::default());
        assert_eq!(jobs.each_ref().map(|job| clusters.of(job)), [1, 2, 1, 2]);
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
