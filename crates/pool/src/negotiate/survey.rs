//! A pool at the beginning of a cycle, as a policy sees it: for listings of what waits.

use crate::negotiate::rules::Rules;
use crate::negotiate::single::Members;
use crate::negotiate::{Snapshot, charge, queue, slots};
use crate::pool::Slot;
use crate::priority::{Opening, Waiting};
use crate::queue::Submitter;
use classmate_config::internal::config::ConfigError;

/// What a policy sees.
pub struct Survey<'s> {
    /// The pool.
    pub opening: Opening<'s>,
    /// The slots that take part.
    pub slots: &'s [Slot],
    /// Who asks, in order of arrival.
    pub submitters: &'s [Submitter],
    /// Their idle jobs; numbers of claimants are those of submitters.
    pub waiting: &'s dyn Waiting,
}

/// Looks at a pool as it is before the first turn.
///
/// # Errors
/// A setting of the configuration that is wrong.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_pool::internal::negotiate::{Snapshot, survey};
/// let job = ClassAd::parse(b"[ClusterId = 1; JobStatus = 1; Owner = \"a\"]")?;
/// let waiting = survey(&Snapshot { jobs: vec![job], ..Snapshot::default() }, |pool| pool.waiting.jobs(0).len());
/// assert_eq!(waiting.unwrap(), 1);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn survey<T>(snapshot: &Snapshot, look: impl FnOnce(&Survey<'_>) -> T) -> Result<T, ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let slots = slots(snapshot.slots.clone(), &rules, &settings);
    let policy = charge(snapshot, &slots, &rules, &settings);
    let (submitters, queue, _) = queue(snapshot, &slots, &rules, &*policy, &settings);
    let members: Vec<usize> = (0..submitters.len()).collect();
    let waiting = Members { members: &members, queue: &queue };
    let quota = |group: &[u8]| rules.groups.quota(group);
    let opening = Opening {
        log: snapshot.log.as_ref(),
        knobs: &rules.knobs,
        groups: rules.groups.tree.clone(),
        quota: &quota,
        slots: &slots,
        jobs: &snapshot.jobs,
        settings: &settings,
    };
    Ok(look(&Survey { opening, slots: &slots, submitters: &submitters, waiting: &waiting }))
}
