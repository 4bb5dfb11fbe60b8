//! Jobs that share what they have in common, as an access point keeps them.
//!
//! In: job ads one after another. Out: the same ads, each chained to the first one of its like, of its own only what
//! differs from that.

use std::sync::Arc;

use classmate::internal::ad::{Attribute, ClassAd, Shapes};
use classmate::internal::name::Name;
use classmate::internal::program::column::identical;

/// The ad that the jobs read last have in common.
#[derive(Debug, Default)]
pub struct Siblings {
    common: Option<Arc<ClassAd>>,
    shapes: Shapes,
    different: Vec<(Name, Attribute)>,
}

impl Siblings {
    /// The ad of a job, chained to the one before if most of both is the same.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate_pool::internal::queue::cluster::Siblings;
    /// let mut siblings = Siblings::default();
    /// let ad = |process| ClassAd::parse(format!("[a = 1; b = 2; c = 3; ProcId = {process}]").as_bytes());
    /// let (first, second) = (siblings.chain(ad(0)?), siblings.chain(ad(1)?));
    /// assert_eq!((first.len(), second.len()), (0, 1));
    /// assert_eq!(second.get("b").unwrap().to_string(), "2");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn chain(&mut self, ad: ClassAd) -> ClassAd {
        if ad.chained().is_some() {
            return ad;
        }
        if let Some(common) = &self.common
            && differs(&ad, common, &mut self.different)
        {
            let mut child = self.shapes.make(&mut self.different, 0);
            child.chain(Some(Arc::clone(common)));
            return child;
        }
        let common = Arc::new(ad);
        let mut child = ClassAd::new();
        child.chain(Some(Arc::clone(&common)));
        self.common = Some(common);
        child
    }
}

/// Collects what an ad has beside a common one; false if that has something it lacks, or if they have less than two
/// thirds in common.
fn differs(ad: &ClassAd, common: &ClassAd, different: &mut Vec<(Name, Attribute)>) -> bool {
    let most = ad.len() / 3;
    different.clear();
    let mut found = 0;
    for (name, value) in ad.attributes() {
        let shared = common.lookup(name);
        found += usize::from(shared.is_some());
        if !shared.is_some_and(|shared| same(shared, value)) {
            if different.len() >= most {
                return false;
            }
            different.push((name, value.clone()));
        }
    }
    found == common.len()
}

/// An ad with the attributes of its chained parents as its own: what [`Siblings::chain`] was given.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_pool::internal::queue::cluster::{Siblings, whole};
/// let job = Siblings::default().chain(ClassAd::parse(b"[a = 1; b = 2]")?);
/// assert_eq!((job.len(), whole(&job).to_string().as_str()), (0, "[ a = 1; b = 2 ]"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn whole(ad: &ClassAd) -> ClassAd {
    let lineage: Vec<&ClassAd> = ad.lineage().collect();
    let Some((first, nearer)) = lineage.split_last() else { return ad.clone() };
    let mut whole = ClassAd::clone(first);
    nearer.iter().rev().for_each(|ad| whole.update(ad));
    whole
}

/// Returns whether two attributes are identical. Expressions that were read together are shared if equal.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_pool::internal::queue::cluster::same;
/// let ad = ClassAd::parse(b"[a = 1; b = 1; c = 1.0]")?;
/// let values: Vec<_> = ad.attributes().map(|(_, value)| value).collect();
/// assert_eq!([same(values[0], values[1]), same(values[0], values[2])], [true, false]);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn same(a: &Attribute, b: &Attribute) -> bool {
    match (a, b) {
        (Attribute::Literal(a), Attribute::Literal(b)) => identical(a, b),
        (Attribute::Tree(a), Attribute::Tree(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chained(texts: &[&str]) -> Vec<ClassAd> {
        let mut siblings = Siblings::default();
        texts.iter().map(|text| siblings.chain(ClassAd::parse(text.as_bytes()).unwrap())).collect()
    }

    #[test]
    fn what_is_chained_is_what_was_read() {
        let texts = [
            "[a = 1; b = 2; c = \"x\"; d = 4]",
            "[a = 1; b = 2; c = \"X\"; d = 4]",
            "[a = 1; b = 2; c = \"x\"; d = 4; e = 5]",
        ];
        let ads = chained(&texts);
        assert_eq!(ads.iter().map(ClassAd::len).collect::<Vec<_>>(), [0, 1, 1]);
        for (text, ad) in texts.iter().zip(&ads) {
            let read = ClassAd::parse(text.as_bytes()).unwrap();
            let whole = whole(ad);
            assert!(whole.same_as(&read), "{text}: {whole}");
        }
    }

    #[test]
    fn an_ad_that_lacks_something_begins_anew() {
        let ads = chained(&["[a = 1; b = 2; c = 3; d = 4]", "[a = 1; b = 2; c = 3]"]);
        assert!(!ads[1].contains("d"));
        let ads = chained(&["[a = 1; b = 2; c = 3; d = 4]", "[a = 5; b = 6; c = 3; d = 4]"]);
        assert!(!Arc::ptr_eq(ads[0].chained().unwrap(), ads[1].chained().unwrap()));
    }
}
