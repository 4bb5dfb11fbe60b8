//! Limits of sites: how many jobs of a kind run there, and how long after one no other starts
//! (`docs/reference/dirac-shares.md` 5).

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::queue::Requirements;
use classmate_config::internal::config::dirac::{Attribute, DiracSettings, SiteLimit, Word};

/// The limits of sites with what they count.
///
/// ```
/// use classmate_config::internal::config::dirac::{Attribute, DiracSettings, DiracTree, Whose};
/// use classmate_pool::internal::priority::dirac::{Requirements, site::SiteLimits};
/// let tree = DiracTree::parse("c", b"JobScheduling {\nRunningLimit {\nCERN {\nOwner {\nann = 1\n}\n}\n}\n}")?;
/// let mut limits = SiteLimits::new(&DiracSettings::read(&tree, Whose::default())?);
/// let job = Requirements { owner: b"ann"[..].into(), ..Requirements::default() };
/// assert!(limits.allow(&[b"CERN"[..].into()], &job, 0.0));
/// limits.started(&[b"CERN"[..].into()], &job, 0.0);
/// assert!(!limits.allow(&[b"CERN"[..].into()], &job, 0.0));
/// # Ok::<(), classmate_config::internal::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SiteLimits(HashMap<Word, LimitSet>);

/// The limits of one site.
#[derive(Debug, Clone, Default)]
struct LimitSet {
    /// With the jobs that run.
    running: Vec<(SiteLimit, f64)>,
    /// With the time of the last match, seconds.
    delays: Vec<(SiteLimit, f64)>,
}

impl SiteLimits {
    /// The limits of a configuration; nothing runs yet.
    pub fn new(settings: &DiracSettings) -> Self {
        let mut sites: HashMap<Word, LimitSet> = HashMap::new();
        for limit in &settings.running_limits {
            sites.entry(limit.site.clone()).or_default().running.push((limit.clone(), 0.0));
        }
        for limit in &settings.matching_delays {
            sites.entry(limit.site.clone()).or_default().delays.push((limit.clone(), f64::NEG_INFINITY));
        }
        Self(sites)
    }

    /// Returns whether there are no limits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A job started at a slot of these sites.
    pub fn started(&mut self, sites: &[Word], job: &Requirements, at: f64) {
        for site in sites {
            let Some(LimitSet { running, delays }) = self.0.get_mut(site) else { continue };
            for (_, running) in running.iter_mut().filter(|(limit, _)| has(job, limit)) {
                *running += 1.0;
            }
            for (_, last) in delays.iter_mut().filter(|(limit, _)| has(job, limit)) {
                *last = last.max(at);
            }
        }
    }

    /// A job that started at a slot of these sites runs no longer; its start still delays others.
    pub fn ended(&mut self, sites: &[Word], job: &Requirements) {
        for site in sites {
            let Some(LimitSet { running, .. }) = self.0.get_mut(site) else { continue };
            for (_, running) in running.iter_mut().filter(|(limit, _)| has(job, limit)) {
                *running = (*running - 1.0).max(0.0);
            }
        }
    }

    /// A job was matched to a slot of these sites, wherever it is now.
    pub fn matched(&mut self, sites: &[Word], job: &Requirements, at: f64) {
        self.started(sites, job, at);
        self.ended(sites, job);
    }

    /// Returns whether the start of a job still delays others.
    pub fn delays(&self, now: f64) -> bool {
        let mut delays = self.0.values().flat_map(|limits| &limits.delays);
        delays.any(|(limit, last)| now < last + limit.limit)
    }

    /// The limits that keep such a job from the slots of these sites now, by their path in the configuration and their number.
    pub fn reached(&self, sites: &[Word], job: &Requirements, now: f64) -> Vec<String> {
        let name = |section: &str, SiteLimit { site, attribute, value, limit, .. }: &SiteLimit| {
            let text = |word: &Word| String::from_utf8_lossy(word).into_owned();
            format!("{section}/{}/{attribute:?}/{} = {limit}", text(site), text(value))
        };
        let of_site = |LimitSet { running, delays }: &LimitSet| {
            let full = running.iter().filter(|(limit, running)| *running >= limit.limit && has(job, limit));
            let recent = delays.iter().filter(|(limit, last)| now < last + limit.limit && has(job, limit));
            let full = full.map(|(limit, _)| name("RunningLimit", limit));
            full.chain(recent.map(|(limit, _)| name("MatchingDelay", limit))).collect::<Vec<String>>()
        };
        sites.iter().filter_map(|site| self.0.get(site)).flat_map(of_site).collect()
    }

    /// Returns whether such a job may start at a slot of these sites now.
    ///
    /// If jobs are limited by several attributes, one that does not limit this job is enough.
    pub fn allow(&self, sites: &[Word], job: &Requirements, now: f64) -> bool {
        let mut by_attribute: BTreeMap<Attribute, bool> = BTreeMap::new();
        for LimitSet { running, delays } in sites.iter().filter_map(|site| self.0.get(site)) {
            let full = running.iter().filter(|(limit, running)| *running >= limit.limit);
            let recent = delays.iter().filter(|(limit, last)| now < last + limit.limit);
            for (limit, _) in full.chain(recent) {
                *by_attribute.entry(limit.attribute).or_default() |= has(job, limit);
            }
        }
        by_attribute.is_empty() || by_attribute.values().any(|limited| !limited)
    }
}

/// Returns whether a limit applies to a job.
fn has(job: &Requirements, limit: &SiteLimit) -> bool {
    let value = &limit.value;
    match limit.attribute {
        Attribute::Owner => job.owner == *value,
        Attribute::OwnerGroup => job.group == *value,
        Attribute::JobType => job.job_types.contains(value),
        Attribute::Platform => job.platforms.contains(value),
        Attribute::GridCE => job.ces.contains(value),
        Attribute::Tag => job.tags.contains(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::dirac::{DiracTree, Whose};

    fn limits(body: &str) -> SiteLimits {
        let tree = DiracTree::parse("c", format!("JobScheduling {{\n{body}\n}}").as_bytes()).unwrap();
        SiteLimits::new(&DiracSettings::read(&tree, Whose::default()).unwrap())
    }

    fn job(owner: &str, kind: &str) -> Requirements {
        let set = |text: &str| Requirements::set([text.as_bytes()]);
        Requirements { owner: owner.as_bytes().into(), job_types: set(kind), ..Requirements::default() }
    }

    fn cern() -> Vec<Word> {
        vec![b"CERN"[..].into()]
    }

    #[test]
    fn running_jobs_count_at_their_site_only() {
        let mut limits = limits("RunningLimit {\nCERN {\nJobType {\nUser = 2\n}\n}\n}");
        for _ in 0..2 {
            limits.started(&cern(), &job("a", "User"), 0.0);
        }
        assert!(!limits.allow(&cern(), &job("b", "User"), 0.0));
        assert!(limits.allow(&cern(), &job("b", "MC"), 0.0));
        assert!(limits.allow(&[b"RAL"[..].into()], &job("b", "User"), 0.0));
        assert_eq!(limits.reached(&cern(), &job("b", "User"), 0.0), ["RunningLimit/CERN/JobType/User = 2"]);
        assert!(limits.reached(&cern(), &job("b", "MC"), 0.0).is_empty());
    }

    #[test]
    fn a_delay_lasts_its_seconds() {
        let mut limits = limits("MatchingDelay {\nCERN {\nOwner {\na = 10\n}\n}\n}");
        assert!(limits.allow(&cern(), &job("a", ""), 5.0));
        limits.started(&cern(), &job("a", ""), 5.0);
        assert_eq!(limits.reached(&cern(), &job("a", ""), 14.9), ["MatchingDelay/CERN/Owner/a = 10"]);
        assert!(!limits.allow(&cern(), &job("a", ""), 14.9) && limits.allow(&cern(), &job("a", ""), 15.0));
    }

    #[test]
    fn one_attribute_that_is_not_limited_suffices() {
        let limits = limits("RunningLimit {\nCERN {\nOwner {\na = 0\n}\nJobType {\nUser = 0\n}\n}\n}");
        assert!(!limits.allow(&cern(), &job("a", "User"), 0.0));
        assert!(limits.allow(&cern(), &job("a", "MC"), 0.0) && limits.allow(&cern(), &job("b", "User"), 0.0));
    }

    #[test]
    fn checks_can_be_turned_off() {
        assert!(limits("CheckJobLimits = no\nRunningLimit {\nCERN {\nOwner {\na = 0\n}\n}\n}").is_empty());
    }
}
