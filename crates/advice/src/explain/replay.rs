//! A job explained together with the cycle that is replayed over the same slots.
//!
//! In: a snapshot, whose slots are taken, and one of its jobs. Out: an [`Explanation`] with the cycle's [`Story`]. The slots
//! are made ready once, looked at when the cycle opens, and then go on into it, so that there is one copy of them.
//!
//! [`Story`]: crate::explain::cycle::Story

use crate::explain::cycle::{Asked, story};
use crate::explain::obstacle::of_cycle;
use crate::explain::stake::Stake;
use crate::explain::view::View;
use crate::explain::{Besides, Explanation, Market, unknown};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::Settings;
use classmate_config::internal::config::{ConfigError, Diagnostic};
use classmate_pool::internal::negotiate::quotas::{Division, divide};
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::negotiate::scene::{Asker, Opened, Scene, scene, scene_taking};
use classmate_pool::internal::negotiate::{Outcome, Path, Snapshot, Unwatched, Watch, run_taking};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::{Activity, JobId};

/// A job of a snapshot, by itself.
#[derive(Debug, Clone)]
pub struct Subject {
    id: JobId,
    submitter: Vec<u8>,
    activity: Activity,
    ad: ClassAd,
}

impl Subject {
    /// A job and its ad.
    pub fn of(job: &Job<'_>, ad: &ClassAd) -> Self {
        Subject { id: job.id, submitter: job.submitter.to_vec(), activity: job.activity, ad: ad.clone() }
    }

    fn submitter(&self) -> String {
        String::from_utf8_lossy(&self.submitter).into_owned()
    }
}

/// What is known of a job before the cycle.
struct Before {
    market: Market,
    asker: Asker,
    explanation: Explanation,
    stake: Stake,
}

impl Before {
    fn of(market: Market, asker: Asker, subject: &Subject) -> Self {
        let submitter = subject.submitter();
        let view = View::of(&market, &asker.ad);
        let stake = Stake::of(&view, &submitter);
        let explanation = view.explanation(subject.id.to_string(), submitter);
        Before { market, asker, explanation, stake }
    }

    /// With what the cycle made of it.
    fn after(
        mut self,
        outcome: &Outcome,
        snapshot: &Snapshot,
        subject: &Subject,
        division: Option<&Division>,
    ) -> Explanation {
        let submitter = subject.submitter();
        let asked = Asked { id: subject.id, submitter: &submitter, activity: subject.activity, asker: &self.asker };
        let known = (&self.market, &self.stake);
        let story = story(outcome, snapshot, division, known, &asked);
        let mut causes = of_cycle(&story, outcome, known, &asked);
        causes.append(&mut self.explanation.causes);
        self.explanation.causes = causes;
        self.explanation.cycle = Some(story);
        self.explanation
    }
}

/// Looks at a job when a cycle opens.
struct Look<'l> {
    subject: &'l Subject,
    settings: Settings,
    known: Option<(Rules, Besides)>,
    before: Option<Before>,
    division: Option<Division>,
}

impl Watch for Look<'_> {
    fn begins(&mut self, _: &'static str) {}

    fn opens(&mut self, opened: Opened<'_>) {
        let Some((rules, besides)) = self.known.take() else { return };
        if !rules.groups.tree.is_empty() {
            self.division = Some(opened.division(self.settings.clone()));
        }
        let (asker, settings) = (opened.asker(&self.subject.ad, &self.subject.submitter), opened.settings());
        let scene = Scene { slots: std::mem::take(opened.slots), rules, settings };
        let mut before = Before::of(Market::seen(scene, besides), asker, self.subject);
        *opened.slots = std::mem::take(&mut before.market.slots);
        self.before = Some(before);
    }
}

/// What is left when a job is explained: all slots. To give them back one by one takes long, so it is the caller who says
/// when; a process that ends may forget them.
#[derive(Default)]
pub struct Remains {
    _slots: [Vec<Slot>; 2],
}

/// Explains a job, with the cycle if it is wanted.
///
/// # Errors
/// A setting of the configuration that is wrong, or not supported.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_advice::internal::explain::{find, replay::{Subject, of_job}};
/// use classmate_pool::internal::negotiate::Snapshot;
/// let mut snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"s\"; State = \"Unclaimed\"; Requirements = true]")?],
///     jobs: vec![ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?],
///     ..Snapshot::default()
/// };
/// let subject = find(&snapshot, |_, _| true).map(|(job, ad)| Subject::of(&job, ad)).unwrap();
/// let (explanation, _) = of_job(&mut snapshot, &subject, true).unwrap();
/// assert_eq!(explanation.causes[0].text, "the job gets s, in spin 1 of pie 1");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn of_job(snapshot: &mut Snapshot, subject: &Subject, cycle: bool) -> Result<(Explanation, Remains), ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let besides = Besides::of(snapshot);
    if cycle && rules.trim.preemption {
        let known = Some((rules, besides));
        let mut look = Look { subject, settings, known, before: None, division: None };
        let cycle = run_taking(snapshot, Path::Fast, &mut look)?;
        let Look { before: Some(before), division, .. } = look else {
            return Err(Diagnostic::without_place("the cycle ended before it opened"));
        };
        let after = before.after(&cycle.outcome, snapshot, subject, division.as_ref());
        return Ok((after, Remains { _slots: [cycle.slots, Vec::new()] }));
    }
    by_itself(snapshot, subject, besides, cycle)
}

/// As [`of_job`], where the cycle sees less of slots in use than there is to tell, or where there is none.
fn by_itself(
    snapshot: &mut Snapshot,
    subject: &Subject,
    besides: Besides,
    cycle: bool,
) -> Result<(Explanation, Remains), ConfigError> {
    let asking: [(&ClassAd, &[u8]); 1] = [(&subject.ad, &subject.submitter)];
    let (scene, askers) = if cycle { scene(snapshot, &asking)? } else { scene_taking(snapshot, &asking)? };
    let market = Market::seen(scene, besides);
    let asker = askers.into_iter().next().unwrap_or_else(|| unknown(&subject.ad));
    let mut before = Before::of(market, asker, subject);
    let slots = std::mem::take(&mut before.market.slots);
    if !cycle {
        return Ok((before.explanation, Remains { _slots: [slots, Vec::new()] }));
    }
    let groups = !before.market.rules.groups.tree.is_empty();
    let division = if groups { Some(divide(snapshot)?) } else { None };
    let cycle = run_taking(snapshot, Path::Fast, &mut Unwatched)?;
    let after = before.after(&cycle.outcome, snapshot, subject, division.as_ref());
    Ok((after, Remains { _slots: [slots, cycle.slots] }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::find;
    use classmate::internal::format::long::LongReader;
    use classmate::internal::syntax::parse::ParseOptions;
    use classmate_config::internal::config::Config;
    use classmate_pool::internal::generate::{NOW, Pool};
    use classmate_pool::internal::negotiate::negotiate;

    /// A pool some of whose slots are in use, with groups or without, whose policy looks at what is in use.
    fn made(seed: u64) -> Snapshot {
        let groups = seed % 3;
        let pool = Pool { slots: 60, jobs: 80, autoclusters: 12, submitters: 5, groups, seed, ..Pool::default() };
        let (mut slots, mut jobs, mut config) = (Vec::new(), Vec::new(), Vec::new());
        pool.write_slots(&mut slots).unwrap();
        pool.write_jobs(&mut jobs).unwrap();
        pool.write_config(&mut config).unwrap();
        config.extend_from_slice(
            b"\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2 && RemoteUserResourcesInUse > 2\n",
        );
        if seed % 2 == 1 {
            config.extend_from_slice(b"NEGOTIATOR_SLOT_CONSTRAINT = Memory > 4000\n");
        }
        let ads =
            |text: &[u8]| LongReader::new(text, &ParseOptions::default()).collect::<Result<Vec<ClassAd>, _>>().unwrap();
        let (mut slots, jobs) = (ads(&slots), ads(&jobs));
        for slot in slots.iter_mut().step_by(3) {
            slot.insert("State", "Claimed");
            slot.insert("RemoteUser", "somebody@else");
        }
        Snapshot { slots, jobs, config: Config::parse("config", &config).unwrap(), now: NOW, ..Snapshot::default() }
    }

    #[test]
    fn slots_that_go_on_into_the_cycle_tell_what_copies_of_them_tell() {
        let (mut matched, mut preempting) = (0, 0);
        for seed in 0..6 {
            let snapshot = made(seed);
            let outcome = negotiate(&snapshot).unwrap();
            for at in (0..snapshot.jobs.len()).step_by(9) {
                let ad = &snapshot.jobs[at];
                let subject = find(&snapshot, |_, one| std::ptr::eq(one, ad)).map(|(job, ad)| Subject::of(&job, ad));
                let subject = subject.unwrap();
                let (shared, _) = of_job(&mut snapshot.clone(), &subject, true).unwrap();
                let besides = Besides::of(&snapshot);
                let (copied, _) = by_itself(&mut snapshot.clone(), &subject, besides, true).unwrap();
                assert_eq!(shared, copied, "seed {seed}: {}", subject.id);
                let story = shared.cycle.unwrap();
                let got = outcome.matches.iter().find(|made| made.job == subject.id.to_string());
                assert_eq!(story.matched.as_ref(), got);
                matched += usize::from(story.matched.is_some());
                preempting += usize::from(!story.preemption.is_empty());
                // Without the cycle the same is said of slots.
                let (alone, _) = of_job(&mut snapshot.clone(), &subject, false).unwrap();
                assert_eq!(
                    (alone.clauses, alone.policies, alone.suggestions),
                    (shared.clauses, shared.policies, shared.suggestions)
                );
            }
        }
        assert!(matched > 5 && preempting > 5, "{matched} {preempting}");
    }
}
