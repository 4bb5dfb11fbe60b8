//! The accounting group that a job names, if it is not a group of the configuration.
//!
//! In: the ad of a job, and the groups. Out: the name, and a group whose name looks like it.

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use classmate::ClassAd;
use classmate::internal::builtin::near::closest;
use classmate_pool::internal::pool::ad_reader::AdReader;

/// A group that is not in `GROUP_NAMES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownGroup {
    /// Its name.
    pub(crate) name: String,
    /// The user in it.
    pub(crate) user: String,
    /// A group whose name looks like it.
    pub(crate) similar: Option<String>,
}

impl UnknownGroup {
    /// The group that a job names; none if it names none, or one of the groups.
    pub(crate) fn of(pool: &PoolFacts<'_>, job: &ClassAd) -> Option<Self> {
        let reader = AdReader::of(job, &pool.settings);
        let text = |name: &str| {
            let text = reader.string(name)?;
            Some(String::from_utf8_lossy(&text).into_owned())
        };
        let path = text("AccountingGroup")?;
        // The name of a user alone may have dots, too.
        if ["AcctGroupUser", "Owner"].into_iter().filter_map(text).any(|user| user == path) {
            return None;
        }
        let by_user = |user: String| Some(path.strip_suffix(user.as_str())?.strip_suffix('.')?.len());
        let end = text("AcctGroup").filter(|group| path.starts_with(&format!("{group}."))).map(|group| group.len());
        let end = end.or_else(|| ["AcctGroupUser", "Owner"].into_iter().filter_map(text).find_map(by_user));
        let end = end.or_else(|| path.rfind('.'))?;
        let (name, user) = (&path[..end], path[end..].trim_start_matches('.'));
        let tree = &pool.rules.groups.tree;
        if tree.is_empty() || tree.find(name.as_bytes()).is_some() {
            return None;
        }
        let similar = closest(name.as_bytes(), tree.names());
        let similar = similar.map(|known| String::from_utf8_lossy(known).into_owned());
        Some(UnknownGroup { name: name.to_owned(), user: user.to_owned(), similar })
    }

    /// The sentence on a job that belongs to another group because of the name.
    pub(crate) fn cause(&self, group: &str) -> Cause {
        let label = format!("group `{}` of the job is not in GROUP_NAMES", self.name);
        let similar = self.similar.as_ref().map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default();
        let text = format!("{label}, so the job belongs to group {group}{similar}");
        Cause::new(Reason::UnknownGroup, label, text)
    }
}
