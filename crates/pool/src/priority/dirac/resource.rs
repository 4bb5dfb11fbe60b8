//! A resource that requests jobs, and the task queues it accepts (`docs/reference/dirac-shares.md` 5).

use super::queue::Requirements;
use classmate_config::internal::config::dirac::Word;

/// A slot that requests a job. An empty list was not given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SiteResource {
    /// CPU time it has left, in seconds.
    pub cpu_time: f64,
    /// Owners it works for.
    pub owners: Vec<Word>,
    /// Groups it works for.
    pub groups: Vec<Word>,
    /// Its sites.
    pub sites: Vec<Word>,
    /// Computing elements it belongs to.
    pub ces: Vec<Word>,
    /// Its platforms.
    pub platforms: Vec<Word>,
    /// Kinds of job it takes.
    pub job_types: Vec<Word>,
    /// Tags it offers.
    pub tags: Vec<Word>,
    /// Tags that a job must have.
    pub required_tags: Vec<Word>,
    /// Sites that queues must not list; so for the others.
    pub banned_sites: Vec<Word>,
    /// Computing elements that queues must not list.
    pub banned_ces: Vec<Word>,
    /// Platforms that queues must not list.
    pub banned_platforms: Vec<Word>,
    /// Kinds of job it does not take.
    pub banned_job_types: Vec<Word>,
}

impl SiteResource {
    /// Returns whether the jobs of a queue with these requirements may run here.
    ///
    /// `shares_jobs` is true for groups that share their jobs among their members.
    ///
    /// ```
    /// use classmate_pool::internal::priority::dirac::{Requirements, SiteResource};
    /// let slot = SiteResource { cpu_time: 86400.0, sites: vec![b"CERN"[..].into()], ..SiteResource::default() };
    /// let anywhere = Requirements { cpu_time: 3600, ..Requirements::default() };
    /// let at_ral = Requirements { sites: vec![b"RAL"[..].into()], ..anywhere.clone() };
    /// assert!(slot.accepts(&anywhere, |_| false));
    /// assert!(!slot.accepts(&at_ral, |_| false));
    /// ```
    pub fn accepts(&self, queue: &Requirements, shares_jobs: impl Fn(&[u8]) -> bool) -> bool {
        self.unmet(queue, shares_jobs).is_none()
    }

    /// The attribute of a job for which the jobs of a queue with these requirements may not run here; none if they may.
    pub fn unmet(&self, queue: &Requirements, shares_jobs: impl Fn(&[u8]) -> bool) -> Option<&'static str> {
        let is_banned = || !is_open(&self.sites) && self.sites.iter().all(|site| queue.banned_sites.contains(site));
        if !self.works_for(queue, shares_jobs) {
            Some("Owner")
        } else if queue.cpu_time as f64 > self.cpu_time || self.cpu_time.is_nan() {
            Some("CPUTime")
        } else if !fits(&self.ces, &queue.ces) || !spares(&self.banned_ces, &queue.ces) {
            Some("GridCE")
        } else if !fits(&self.sites, &queue.sites) || !spares(&self.banned_sites, &queue.sites) {
            Some("Site")
        } else if is_banned() {
            Some("BannedSites")
        } else if !fits(&self.platforms, &queue.platforms) || !spares(&self.banned_platforms, &queue.platforms) {
            Some("Platform")
        } else if !fits(&self.job_types, &queue.job_types) || !spares(&self.banned_job_types, &queue.job_types) {
            Some("JobType")
        } else {
            (!self.tags_fit(&queue.tags)).then_some("Tags")
        }
    }

    fn works_for(&self, queue: &Requirements, shares_jobs: impl Fn(&[u8]) -> bool) -> bool {
        let owner = self.owners.is_empty() || self.owners.contains(&queue.owner);
        let group = self.groups.is_empty() || self.groups.contains(&queue.group);
        let any_member = !self.owners.is_empty() && !self.groups.is_empty() && shares_jobs(&queue.group);
        group && (owner || any_member)
    }

    fn tags_fit(&self, wanted: &[Word]) -> bool {
        let all = |some: &[Word], of: &[Word]| some.iter().all(|tag| of.contains(tag));
        let required =
            is_open(&self.required_tags) || all(&self.required_tags, &self.tags) && all(&self.required_tags, wanted);
        required && (is_any(&self.tags) || all(wanted, &self.tags))
    }
}

/// Returns whether a field is no restriction: not given, or `any`.
fn is_open(values: &[Word]) -> bool {
    values.is_empty() || is_any(values)
}

/// Returns whether one of the values is `any`, ignoring punctuation and case.
fn is_any(values: &[Word]) -> bool {
    values.iter().any(|value| {
        let letters = value.iter().filter(|byte| !byte.is_ascii_punctuation());
        letters.map(u8::to_ascii_lowercase).eq(*b"any")
    })
}

fn fits(offered: &[Word], wanted: &[Word]) -> bool {
    is_open(offered) || wanted.is_empty() || offered.iter().any(|value| wanted.contains(value))
}

/// Some banned value is not among those listed: with several, not all of them may be.
fn spares(banned: &[Word], listed: &[Word]) -> bool {
    is_open(banned) || banned.iter().any(|value| !listed.contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[&str]) -> Vec<Word> {
        values.iter().map(|value| Word::from(value.as_bytes())).collect()
    }

    fn queue() -> Requirements {
        Requirements {
            owner: words(&["ann"])[0].clone(),
            group: words(&["g"])[0].clone(),
            cpu_time: 3600,
            ..Requirements::default()
        }
    }

    fn resource() -> SiteResource {
        SiteResource { cpu_time: 3600.0, ..SiteResource::default() }
    }

    fn accepts(resource: &SiteResource, queue: &Requirements) -> bool {
        resource.accepts(queue, |group| group == b"shared")
    }

    #[test]
    fn the_segment_must_fit_into_what_is_left() {
        assert!(accepts(&resource(), &queue()));
        assert!(!accepts(&SiteResource { cpu_time: 3599.0, ..resource() }, &queue()));
    }

    #[test]
    fn groups_that_share_their_jobs_let_any_member_work() {
        let shared = Requirements { group: words(&["shared"])[0].clone(), ..queue() };
        let bob = SiteResource { owners: words(&["bob"]), groups: words(&["g", "shared"]), ..resource() };
        assert!(accepts(&bob, &shared) && !accepts(&bob, &queue()));
        assert!(
            !accepts(&SiteResource { owners: words(&["bob"]), ..resource() }, &shared),
            "the owner alone must be the queue's"
        );
        assert!(accepts(&SiteResource { groups: words(&["g"]), ..resource() }, &queue()));
        assert!(!accepts(&SiteResource { groups: words(&["x"]), ..resource() }, &queue()));
    }

    #[test]
    fn values_are_shared_but_tags_are_all_needed() {
        let picky = Requirements { sites: words(&["CERN", "RAL"]), tags: words(&["GPU", "4Processors"]), ..queue() };
        let slot =
            |sites: &[&str], tags: &[&str]| SiteResource { sites: words(sites), tags: words(tags), ..resource() };
        assert!(accepts(&slot(&["RAL"], &["GPU", "4Processors", "x"]), &picky));
        assert!(!accepts(&slot(&["RAL"], &["GPU"]), &picky));
        assert!(!accepts(&slot(&["PIC"], &["GPU", "4Processors"]), &picky));
        assert!(accepts(&slot(&["A.N.Y"], &["any"]), &picky));
        assert!(accepts(&slot(&[], &["GPU", "4Processors"]), &picky), "what is not given restricts nothing");
    }

    #[test]
    fn banned_sites_and_required_tags_restrict() {
        let banning = Requirements { banned_sites: words(&["CERN"]), ..queue() };
        assert!(!accepts(&SiteResource { sites: words(&["CERN"]), ..resource() }, &banning));
        assert!(accepts(&SiteResource { sites: words(&["CERN", "RAL"]), ..resource() }, &banning));
        let gpu = Requirements { tags: words(&["GPU"]), ..queue() };
        let slot = |tags: &[&str]| SiteResource { tags: words(tags), required_tags: words(&["GPU"]), ..resource() };
        assert!(accepts(&slot(&["GPU"]), &gpu) && !accepts(&slot(&["GPU"]), &queue()));
        assert!(!accepts(&slot(&["any"]), &gpu), "what is required must be offered by name");
        let banned = SiteResource { banned_sites: words(&["CERN"]), ..resource() };
        assert!(!accepts(&banned, &Requirements { sites: words(&["CERN"]), ..queue() }));
        assert!(accepts(&banned, &queue()));
    }
}
