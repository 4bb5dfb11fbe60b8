//! Job ads as a workload: `QDate` is the arrival time, an expression the run time.

use super::{Arrival, MAX_NUMBER, Workload, whole};
use crate::pool::ad_reader::AdReader;
use crate::queue::Job;
use crate::queue::submitter::named;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;

/// The default attribute with the run time: that of history ads.
pub const RUN_TIME: &str = "RemoteWallClockTime";

/// Reads job ads; `run_time` is evaluated in each and gives seconds.
///
/// An ad without an ID, a submission time or a run time is reported with its place, and counted.
pub fn read(ads: Vec<ClassAd>, run_time: &Expr, domain: Option<&[u8]>, settings: &EvalOptions) -> Workload {
    let mut workload = Workload::default();
    for (ad, place) in ads.into_iter().zip(1_u64..) {
        workload.counts.records += 1;
        match arrival(&mut workload, (&ad, place), run_time, domain, settings) {
            Ok(arrival) => workload.arrivals.push(Arrival { ad: Some(Box::new(ad)), ..arrival }),
            Err(message) => workload.fault(place, message),
        }
    }
    workload.sort();
    workload
}

fn arrival(
    workload: &mut Workload,
    (ad, place): (&ClassAd, u64),
    run_time: &Expr,
    domain: Option<&[u8]>,
    settings: &EvalOptions,
) -> Result<Arrival, String> {
    let job = Job::new(ad, domain, settings).ok_or("`ClusterId` is missing: expected a job ad")?;
    let facts = AdReader::of(ad, settings);
    if !ad.contains("QDate") {
        return Err(format!("job {} does not have a `QDate`: expected its submission time", job.id));
    }
    let submit = seconds(facts.number("QDate"), || format!("`QDate` of job {}", job.id))?;
    let value = Scope::new(ad, settings).eval(run_time).ok().and_then(|value| value.as_number());
    let run_time = seconds(value, || format!("the run time of job {}", job.id))?;
    let cores = facts.integer("RequestCpus").unwrap_or(1);
    let cores = u32::try_from(cores)
        .ok()
        .filter(|cores| *cores > 0)
        .ok_or_else(|| format!("job {} requests {cores} cores: expected 1 or more", job.id))?;
    let group = facts.string("AccountingGroup").unwrap_or_else(|| "".into());
    let group = memchr::memrchr(b'.', &group).map_or(b"".as_slice(), |dot| &group[..dot]);
    let (id, name) = (job.id, named(job.submitter.clone(), settings).0);
    let submitter = workload.submitter(&name, group);
    Ok(Arrival { id, place, submit, run_time, cores, submitter, memory: 0, asked_time: None, ad: None })
}

/// Whole seconds, from 0 to as many as are believed.
fn seconds(value: Option<f64>, what: impl Fn() -> String) -> Result<i64, String> {
    let found = value.filter(|time| !time.is_nan());
    let found = found.ok_or_else(|| format!("{} is not a number: expected seconds", what()))?;
    if found < 0.0 {
        return Err(format!("{} is {}: expected 0 or more seconds", what(), shown(found)));
    }
    if found > MAX_NUMBER as f64 {
        return Err(format!("{} is {}: expected at most {MAX_NUMBER} seconds", what(), shown(found)));
    }
    Ok(whole(found))
}

/// A number, in a few letters however large it is.
fn shown(number: f64) -> String {
    if number.abs() < 1e18 { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn workload(ads: &[&str]) -> Workload {
        let ads = ads.iter().map(|ad| ClassAd::parse(ad.as_bytes()).unwrap()).collect();
        let run_time = parse_expr(RUN_TIME.as_bytes(), &ParseOptions::default()).unwrap();
        read(ads, &run_time, Some(b"x"), &EvalOptions::default())
    }

    #[test]
    fn ads_that_say_when_and_how_long_are_arrivals() {
        let found = workload(&[
            "[ClusterId = 2; ProcId = 1; Owner = \"b\"; QDate = 9; RemoteWallClockTime = 1.5; RequestCpus = 3]",
            "[ClusterId = 1; Owner = \"a\"; AccountingGroup = \"g.h.a\"; QDate = 7; RemoteWallClockTime = 4]",
        ]);
        let times = |job: &Arrival| (job.id.cluster, job.submit, job.run_time, job.cores);
        assert_eq!(found.arrivals.iter().map(times).collect::<Vec<_>>(), [(1, 7, 4, 1), (2, 9, 2, 3)]);
        let submitter = &found.submitters[found.arrivals[0].submitter];
        assert_eq!((submitter.name.as_slice(), submitter.group.as_slice()), (&b"g.h.a@x"[..], &b"g.h"[..]));
    }

    #[test]
    fn ads_that_do_not_are_reported_with_their_places() {
        let found = workload(&[
            "[Owner = \"a\"]",
            "[ClusterId = 1; RemoteWallClockTime = 4]",
            "[ClusterId = 2; QDate = 4]",
            "[ClusterId = 3; QDate = 4; RemoteWallClockTime = -2]",
            "[ClusterId = 4; QDate = 4; RemoteWallClockTime = 2; RequestCpus = 0]",
        ]);
        let faults: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "1: `ClusterId` is missing: expected a job ad",
                "2: job 1.0 does not have a `QDate`: expected its submission time",
                "3: the run time of job 2.0 is not a number: expected seconds",
                "4: the run time of job 3.0 is -2: expected 0 or more seconds",
                "5: job 4.0 requests 0 cores: expected 1 or more",
            ]
        );
        assert_eq!((found.arrivals.len(), found.counts.bad), (0, 5));
    }

    #[test]
    fn times_beyond_belief_are_reported_and_fractions_of_a_second_count_as_one() {
        let found = workload(&[
            "[ClusterId = 1; QDate = -5; RemoteWallClockTime = 1]",
            "[ClusterId = 2; QDate = 9223372036854775807; RemoteWallClockTime = 1]",
            "[ClusterId = 3; QDate = 4; RemoteWallClockTime = 1e300]",
            "[ClusterId = 4; QDate = 4; RemoteWallClockTime = real(\"INF\")]",
            "[ClusterId = 5; QDate = \"noon\"; RemoteWallClockTime = 1]",
            "[ClusterId = 6; QDate = 4; RemoteWallClockTime = 4503599627370497]",
            "[ClusterId = 7; QDate = 4; RemoteWallClockTime = 0.4]",
            "[ClusterId = 8; QDate = 4503599627370496; RemoteWallClockTime = 4503599627370496]",
        ]);
        let faults: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "1: `QDate` of job 1.0 is -5: expected 0 or more seconds",
                "2: `QDate` of job 2.0 is 9.223372036854776e18: expected at most 4503599627370496 seconds",
                "3: the run time of job 3.0 is 1e300: expected at most 4503599627370496 seconds",
                "4: the run time of job 4.0 is inf: expected at most 4503599627370496 seconds",
                "5: `QDate` of job 5.0 is not a number: expected seconds",
                "6: the run time of job 6.0 is 4503599627370497: expected at most 4503599627370496 seconds",
            ]
        );
        assert_eq!(found.arrivals.iter().map(|job| job.run_time).collect::<Vec<_>>(), [1, MAX_NUMBER]);
    }
}
