//! A pool at the beginning of a cycle, as requests find it: slots that know their users, and jobs that know how they stand.

use std::sync::Arc;

use crate::negotiate::deal::mark_at_start;
use crate::negotiate::groups::KnownQuotas;
use crate::negotiate::preemption::{Groups, LiveUsage};
use crate::negotiate::quotas::{Division, divided};
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Snapshot, charge, introduce, whole_slots};
use crate::pool::slot::copies;
use crate::pool::{PoolSize, Slot};
use crate::priority::{PriorityPolicy, Standing};
use crate::queue::Submitter;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::Settings;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;
use classmate_config::internal::config::ConfigError;

/// What requests find.
pub struct Scene {
    /// The slots that take part, whether they are looked at or not; those in use know by whom.
    pub slots: Vec<Slot>,
    /// The configuration.
    pub rules: Rules,
    /// Clock, seed, and what is in use.
    pub settings: Settings,
}

/// A job as slots see it.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Its ad, with what the negotiator adds.
    pub ad: ClassAd,
    /// How its submitter stands.
    pub standing: Standing,
}

/// The ad with which a job stands in the queue: if there are several, one that takes what any of them takes.
fn candidacy(job: &ClassAd, policy: &dyn PriorityPolicy) -> ClassAd {
    let ways = policy.candidacies(job).unwrap_or_default();
    let Some(first) = ways.first() else { return job.clone() };
    let texts = ways
        .iter()
        .filter_map(|ad| Some([b"(", ad.get("Requirements")?.to_text(Style::New).as_slice(), b")"].concat()));
    let any = texts.collect::<Vec<_>>().join(&b" || "[..]);
    let mut ad = first.clone();
    if ways.len() > 1
        && let Ok(any) = parse_expr(&any, &ParseOptions::default())
    {
        ad.insert_expr("Requirements", &any);
    }
    ad
}

/// Looks at a pool as it is before the first turn, and at jobs with the names of their submitters.
///
/// # Errors
/// A setting of the configuration that is wrong.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_pool::internal::negotiate::{Snapshot, scene::scene};
/// let slot = ClassAd::parse(b"[Name = \"s\"; State = \"Claimed\"; RemoteUser = \"a@x\"]")?;
/// let (scene, _) = scene(&Snapshot { slots: vec![slot], ..Snapshot::default() }, &[]).unwrap();
/// assert!(scene.slots[0].ad.contains("RemoteUserPrio"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn scene(snapshot: &Snapshot, asking: &[(&ClassAd, &[u8])]) -> Result<(Scene, Vec<Asker>), ConfigError> {
    over(snapshot, copies(&snapshot.slots), asking)
}

/// As [`scene`], but the slots are taken out of the snapshot, which saves a copy of them.
///
/// # Errors
/// As [`scene`].
pub fn scene_taking(snapshot: &mut Snapshot, asking: &[(&ClassAd, &[u8])]) -> Result<(Scene, Vec<Asker>), ConfigError> {
    let slots = std::mem::take(&mut snapshot.slots);
    over(snapshot, slots, asking)
}

fn over(
    snapshot: &Snapshot,
    slots: Vec<ClassAd>,
    asking: &[(&ClassAd, &[u8])],
) -> Result<(Scene, Vec<Asker>), ConfigError> {
    let mut settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let size_of = |slots: &[Slot]| PoolSize::of(slots, rules.pool_size.as_ref(), rules.weighing.weighted, &settings);
    // What is told of slots in use is more than a cycle asks of them where it looks at idle ones alone.
    let trimmed = (!rules.trim.preemption).then(|| size_of(&negotiate::slots(slots.clone(), &rules, &settings)));
    let mut slots = whole_slots(slots, &rules, &settings);
    let policy = charge(snapshot, &slots, &rules, &settings);
    let size = trimmed.unwrap_or_else(|| size_of(&slots));
    rules.groups.fit(&size)?;
    let quotas = KnownQuotas::of(&rules.groups, &size).map(Arc::new);
    let live = Arc::new(LiveUsage::new(quotas.clone().map(|quotas| quotas as Arc<dyn Groups>)));
    introduce(&mut slots, &rules, &*policy, quotas.as_deref(), &live, &mut settings);
    let askers = asking.iter().map(|(ad, submitter)| asker(ad, submitter, &rules, &*policy)).collect();
    drop(policy);
    Ok((Scene { slots, rules, settings }, askers))
}

/// A job as slots see it before anybody was served.
fn asker(ad: &ClassAd, submitter: &[u8], rules: &Rules, policy: &dyn PriorityPolicy) -> Asker {
    let mut ad = candidacy(ad, policy);
    mark_at_start(&mut ad, submitter, policy, rules);
    Asker { ad, standing: policy.standing(submitter) }
}

/// A cycle at the same moment: what [`scene`] shows, where a cycle follows.
pub struct Opened<'o> {
    /// The slots that take part. They may be taken out for a look, and must be put back as they are.
    pub slots: &'o mut Vec<Slot>,
    pub(super) rules: &'o Rules,
    pub(super) policy: &'o dyn PriorityPolicy,
    pub(super) submitters: &'o [Submitter],
    pub(super) size: &'o PoolSize,
    pub(super) quotas: Option<&'o Arc<KnownQuotas>>,
    pub(super) settings: &'o Settings,
}

impl Opened<'_> {
    /// Clock, seed, and what is in use now, whatever the cycle makes of it.
    pub fn settings(&self) -> Settings {
        let live = LiveUsage::new(self.quotas.map(|quotas| Arc::clone(quotas) as Arc<dyn Groups>));
        for (name, usage) in self.policy.in_use() {
            live.set(name, usage);
        }
        Settings { usage: Some(Arc::new(live)), ..self.settings.clone() }
    }

    /// A job as slots see it.
    pub fn asker(&self, ad: &ClassAd, submitter: &[u8]) -> Asker {
        asker(ad, submitter, self.rules, self.policy)
    }

    /// What the groups are granted; `settings` are those of the snapshot.
    pub fn division(&self, settings: Settings) -> Division {
        divided(self.rules, self.size, self.submitters, self.policy, settings)
    }
}
