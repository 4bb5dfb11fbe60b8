//! The load of a pool, as readings of it show it.
//!
//! In: the jobs of one reading after another. Out: an ad for each job that ran and ended, from which a simulation can run it again.

use std::collections::{HashMap, HashSet};

use classmate::{ClassAd, EvalOptions};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::{Activity, Job};
use classmate_pool::internal::workload::job_ads::RUN_TIME;

use super::change::access_point;
use super::unread::{UnreadPart, unread_jobs};

/// The attribute with the first start of a job that ended, epoch seconds.
pub const FIRST_START: &str = "ClassmateFirstStart";

/// The attribute with the number of its runs that were cut short.
pub const CUT_RUNS: &str = "ClassmateCutRuns";

/// The attribute with the seconds of these runs.
pub const CUT_TIME: &str = "ClassmateCutTime";

/// Attributes that can be long and that no cycle reads.
const DROPPED: [&str; 8] = [
    "Args",
    "Arguments",
    "Env",
    "Environment",
    "TransferInput",
    "TransferOutput",
    "TransferOutputRemaps",
    "SubmitEventNotes",
];

/// A job in the queue. Times are epoch seconds.
#[derive(Debug, Clone)]
struct ObservedJob {
    ad: ClassAd,
    arrived: i64,
    first_start: Option<i64>,
    /// Start of the run that lasts.
    run: Option<i64>,
    cut_runs: i64,
    cut_time: i64,
    /// The last reading that has it.
    reading: u64,
    /// The time of that reading.
    seen: i64,
    /// The time of the first reading of its access point since then.
    missed: Option<i64>,
}

impl ObservedJob {
    /// Its ad, if it ran: with the time of arrival, and the time from the start of its last run to `end`.
    fn ended(self, end: i64) -> Option<ClassAd> {
        let (first_start, run) = self.first_start.zip(self.run)?;
        // What a job shares with others is in an ad of its own, above.
        let mut ad = ClassAd::new();
        ad.update_from_chain(&self.ad);
        for name in DROPPED {
            ad.remove(name);
        }
        for (name, value) in [
            ("JobStatus", 1),
            ("QDate", self.arrived),
            (RUN_TIME, (end - run).max(0)),
            (FIRST_START, first_start),
            (CUT_RUNS, self.cut_runs),
            (CUT_TIME, self.cut_time),
        ] {
            ad.insert(name, value);
        }
        Some(ad)
    }

    /// Its end, if it was not seen from a time on.
    fn end(&self, missed: i64) -> i64 {
        if missed - self.seen >= SILENCE { self.seen } else { missed }
    }

    fn cut(&mut self, now: i64) {
        if let Some(run) = self.run.take() {
            self.cut_runs += 1;
            self.cut_time += (now - run).max(0);
        }
    }
}

/// Seconds after which the jobs of an access point without any have ended.
const PATIENCE: i64 = 600;

/// Seconds after which the jobs of an access point that cannot be read count as ended at the reading that had them last, unless it has
/// them when it is read again.
const SILENCE: i64 = 86_400;

/// The jobs in the queue, with what became of them so far.
#[derive(Debug)]
pub struct LoadRecorder {
    began: i64,
    jobs: HashMap<String, ObservedJob>,
    readings: u64,
}

impl LoadRecorder {
    /// A record that began at this time. What happened before is not counted: a job that waited arrives then. What happened since,
    /// in another run, counts as far as the ads of jobs in the queue have its times.
    pub fn new(began: i64) -> Self {
        LoadRecorder { began, jobs: HashMap::new(), readings: 0 }
    }

    /// Takes a reading, with the parts that could not be read; returns the jobs that ended since the last one. Jobs of an access
    /// point that was not read have not ended, as it may have them when it is read again. All jobs of one that was read without any,
    /// which may have been restarted, and jobs of one of which ads were skipped end after ten minutes. A job that was not seen for a
    /// day ended at the reading that had it last.
    pub fn observe(&mut self, ads: &[ClassAd], now: i64, unread: &[UnreadPart]) -> Vec<ClassAd> {
        let settings = EvalOptions::default();
        self.readings += 1;
        let mut ended = Vec::new();
        for ad in ads {
            let facts = AdReader::of(ad, &settings);
            let Some((job, id)) = Job::new(ad, None, &settings).zip(facts.string("GlobalJobId")) else { continue };
            let id = String::from_utf8_lossy(&id).into_owned();
            let time = |name: &str| facts.integer(name).unwrap_or(now).clamp(self.began, now.max(self.began));
            if job.activity == Activity::Neither {
                let end = time("EnteredCurrentStatus");
                ended.extend(self.jobs.remove(&id).and_then(|job| job.ended(end)));
                continue;
            }
            let reading = self.readings;
            let arrived = || match job.activity {
                // A job that was released arrives when it was.
                Activity::Idle => time("QDate").max(time("EnteredCurrentStatus")),
                _ => time("QDate"),
            };
            let known = self.jobs.entry(id).or_insert_with(|| ObservedJob {
                ad: ad.clone(),
                arrived: arrived(),
                first_start: None,
                run: None,
                cut_runs: 0,
                cut_time: 0,
                reading,
                seen: now,
                missed: None,
            });
            (known.reading, known.seen, known.missed) = (reading, now, None);
            if job.activity == Activity::Idle {
                known.cut(time("EnteredCurrentStatus"));
            } else {
                let start = time("JobCurrentStartDate");
                if known.run.is_some_and(|run| start > run) {
                    known.cut(start);
                }
                known.run.get_or_insert(start);
                known.first_start.get_or_insert(start);
            }
        }
        let reading = self.readings;
        let seen = self.jobs.iter().filter(|(_, job)| job.reading == reading);
        let seen: HashSet<String> = seen.map(|(id, _)| access_point(id).to_owned()).collect();
        let gone = self.jobs.extract_if(|id, job| {
            let place = access_point(id);
            if job.reading == reading {
                return false;
            }
            let unread = unread_jobs(unread, place);
            if unread.is_some_and(|unread| !unread.is_partial) {
                return false;
            }
            let missed = *job.missed.get_or_insert(now);
            unread.is_none() && seen.contains(place) || now - missed >= PATIENCE
        });
        ended.extend(gone.filter_map(|(_, job)| {
            let end = job.end(job.missed.unwrap_or(job.seen));
            job.ended(end)
        }));
        ended
    }

    /// The jobs that run, as if they ended now, and the number of those in the queue that do not. Those that were not seen for a day
    /// ended at the reading that had them last.
    pub fn running(&self, now: i64) -> (Vec<ClassAd>, u64) {
        let running: Vec<ClassAd> = self.jobs.values().filter_map(|job| job.clone().ended(job.end(now))).collect();
        let left = self.jobs.len() - running.len();
        (running, left as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::unread::PoolPart;

    fn job(number: i64, status: i64, more: &str) -> ClassAd {
        let text = format!(
            "[ClusterId = {number}; ProcId = 0; JobStatus = {status}; User = \"a@x\"; Owner = \"a\"; JobUniverse = 5; \
             GlobalJobId = \"s#{number}.0\"; RequestCpus = 1; {more}]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    fn without(access_point: &str) -> UnreadPart {
        UnreadPart { part: PoolPart::AccessPoint(access_point.to_owned()), is_partial: false }
    }

    fn facts(ad: &ClassAd) -> [i64; 5] {
        ["QDate", RUN_TIME, FIRST_START, CUT_RUNS, CUT_TIME].map(|name| ad.eval_int(name).unwrap())
    }

    #[test]
    fn jobs_that_ran_have_the_times_that_readings_show() {
        let mut load = LoadRecorder::new(100);
        let waits = |number| job(number, 1, "QDate = 50; EnteredCurrentStatus = 50");
        assert!(load.observe(&[waits(1), job(2, 2, "QDate = 60; JobCurrentStartDate = 70")], 100, &[]).is_empty());
        // Job 1 starts at 110; job 2 is preempted at 112, and starts again at 120.
        let idle = job(2, 1, "QDate = 60; EnteredCurrentStatus = 112");
        assert!(load.observe(&[job(1, 2, "QDate = 50; JobCurrentStartDate = 110"), idle], 115, &[]).is_empty());
        let again = job(2, 2, "QDate = 60; JobCurrentStartDate = 120");
        // A reading without their access point ends nothing.
        let unread = [without("s")];
        assert!(load.observe(&[], 125, &unread).is_empty());
        let ended = load.observe(&[again, waits(3)], 130, &[]);
        // Job 1 arrived when the record began, and ran from 110 to 130.
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 20, 110, 0, 0]]);
        let held = job(2, 5, "QDate = 60; EnteredCurrentStatus = 135");
        let ended = load.observe(&[held, waits(3)], 140, &[]);
        // Job 2 ran from 100, where the record began, to 112, and from 120 to 135.
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 15, 100, 1, 12]]);
        let (running, left) = load.running(150);
        assert_eq!((running.len(), left), (0, 1));
    }

    #[test]
    fn a_record_goes_on_with_the_arrivals_since_it_began() {
        let mut load = LoadRecorder::new(100);
        // The run before ended at 130; the next one first reads at 200.
        let jobs = [
            job(1, 1, "QDate = 120; EnteredCurrentStatus = 120"),
            job(2, 2, "QDate = 50; JobCurrentStartDate = 125"),
            job(3, 1, "QDate = 50; EnteredCurrentStatus = 50"),
        ];
        assert!(load.observe(&jobs, 200, &[]).is_empty());
        let starts = |number, start| job(number, 2, &format!("QDate = 120; JobCurrentStartDate = {start}"));
        load.observe(&[starts(1, 205), starts(2, 125), starts(3, 206)], 210, &[]);
        let (mut running, left) = load.running(215);
        running.sort_by_key(|ad| ad.eval_int("ClusterId"));
        let found: Vec<_> = running.iter().map(facts).collect();
        assert_eq!((found, left), (vec![[120, 10, 205, 0, 0], [100, 90, 125, 0, 0], [100, 9, 206, 0, 0]], 0));
    }

    #[test]
    fn jobs_of_an_access_point_that_restarts_have_not_ended() {
        let mut load = LoadRecorder::new(100);
        let runs = job(1, 2, "QDate = 50; JobCurrentStartDate = 100");
        load.observe(std::slice::from_ref(&runs), 110, &[]);
        assert!(load.observe(&[], 120, &[]).is_empty());
        assert!(load.observe(std::slice::from_ref(&runs), 130, &[]).is_empty());
        assert!(load.observe(&[], 140, &[]).is_empty());
        // Ten minutes after the first reading without it, it ended then: it ran from 100 to 140.
        let ended = load.observe(&[], 740, &[]);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 40, 100, 0, 0]]);
    }

    #[test]
    fn an_access_point_that_is_not_read_holds_back_its_own_jobs_alone() {
        let mut load = LoadRecorder::new(100);
        let runs = |number, place: &str| {
            let mut ad = job(number, 2, "QDate = 50; JobCurrentStartDate = 100");
            ad.insert("GlobalJobId", format!("{place}#{number}.0").as_str());
            ad
        };
        let all = [runs(1, "s"), runs(2, "s"), runs(3, "dead@s"), runs(4, "s2"), runs(5, "s2")];
        assert!(load.observe(&all, 110, &[]).is_empty());
        let configuration = PoolPart::Other("the configuration of the negotiator".to_owned());
        let unread = [UnreadPart { part: configuration, is_partial: false }, without("dead@s"), without("flocks")];
        // Job 1 ended.
        let ended = load.observe(&[runs(2, "s"), runs(4, "s2"), runs(5, "s2")], 120, &unread);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 20, 100, 0, 0]]);
        assert_eq!(ended[0].eval_int("ClusterId"), Some(1));
        // The others of `s` did ten minutes after the first reading without them.
        assert!(load.observe(&[runs(4, "s2"), runs(5, "s2")], 130, &unread).is_empty());
        let ended = load.observe(&[runs(4, "s2"), runs(5, "s2")], 730, &unread);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 30, 100, 0, 0]]);
        // A day after the reading that had it last, job 3 counts as ended at that reading: it ran from 100 to 110.
        let day = 24 * 60 * 60;
        let job_3 = |load: &LoadRecorder, now| {
            load.running(now).0.iter().find(|ad| ad.eval_int("ClusterId") == Some(3)).map(facts)
        };
        let others = [runs(4, "s2"), runs(5, "s2")];
        assert!(load.observe(&others, 110 + day, &unread).is_empty());
        assert_eq!(job_3(&load, 110 + day - 1), Some([100, day + 9, 100, 0, 0]));
        assert_eq!(job_3(&load, 110 + day), Some([100, 10, 100, 0, 0]));
        // It has outlived the silence: it is recorded once, when it ends, two days after its start.
        let back = [runs(3, "dead@s"), runs(6, "dead@s"), runs(4, "s2"), runs(5, "s2")];
        assert!(load.observe(&back, 200 + day, &[]).is_empty());
        let ended = load.observe(&back[1..], 100 + 2 * day, &[]);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 2 * day, 100, 0, 0]]);
        // Job 6 has not: it is gone when the access point is read again after two days.
        assert!(load.observe(&others, 200 + 4 * day, &unread).is_empty());
        let last = [runs(7, "dead@s"), runs(4, "s2"), runs(5, "s2")];
        let ended = load.observe(&last, 300 + 4 * day, &[]);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 2 * day, 100, 0, 0]]);
    }

    #[test]
    fn a_job_whose_ad_is_skipped_has_not_ended() {
        let mut load = LoadRecorder::new(100);
        let runs = |number| job(number, 2, "QDate = 50; JobCurrentStartDate = 100");
        assert!(load.observe(&[runs(1), runs(2)], 110, &[]).is_empty());
        let partly = [UnreadPart { is_partial: true, ..without("s") }];
        assert!(load.observe(&[runs(2)], 120, &partly).is_empty());
        // It is seen again, and ends: it ran from 100 to 140.
        assert!(load.observe(&[runs(1), runs(2)], 130, &partly).is_empty());
        let ended = load.observe(&[runs(2)], 140, &[]);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 40, 100, 0, 0]]);
        // Ten minutes after the first reading without it, the other one ended then: it ran from 100 to 150.
        assert!(load.observe(&[runs(3)], 150, &partly).is_empty());
        assert!(load.observe(&[runs(3)], 749, &partly).is_empty());
        let ended = load.observe(&[runs(3)], 750, &partly);
        assert_eq!(ended.iter().map(facts).collect::<Vec<_>>(), [[100, 50, 100, 0, 0]]);
    }

    #[test]
    fn what_jobs_share_is_not_written_either() {
        let mut load = LoadRecorder::new(100);
        let mut runs = job(1, 2, "QDate = 50; JobCurrentStartDate = 100");
        let shared = ClassAd::parse(b"[ Environment = \"SECRET=1\"; RequestMemory = 5 ]").unwrap();
        runs.chain(Some(std::sync::Arc::new(shared)));
        load.observe(&[runs, job(2, 1, "QDate = 50; EnteredCurrentStatus = 50")], 110, &[]);
        let ended = load.observe(&[job(2, 1, "QDate = 50; EnteredCurrentStatus = 50")], 120, &[]);
        assert_eq!(ended[0].eval_int("RequestMemory"), Some(5));
        assert!(!ended[0].to_string().contains("SECRET"));
    }
}
