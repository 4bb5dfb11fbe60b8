//! Access points that let a reader wait: one that reads a pool again and again leaves them out for a while.
//!
//! In: the failures of a reading. Out: the access points of the next one. Each of its readings would otherwise take as long as
//! the time limit of an answer, while a negotiation cycle takes place.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use crate::error::{Failure, WireError};
use crate::pool::{Daemon, SourceFailure};

/// The first pause, and the longest: each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_mins(1);
const MAX_PAUSE: Duration = Duration::from_mins(16);

/// The access points that did not answer in time when they were last asked.
#[derive(Debug, Default)]
pub struct SilentAccessPoints {
    by_name: HashMap<String, Silence>,
}

/// The silence of one access point.
#[derive(Debug)]
struct Silence {
    /// The time at which it is asked again, and the pause until then.
    until: Instant,
    pause: Duration,
    peer: String,
    failure: Failure,
}

impl SilentAccessPoints {
    /// Takes out those that are not asked now, and returns a failure for each, the one that it had. Forgets those that the pool
    /// no longer has.
    pub(crate) fn leave_out(&mut self, access_points: &mut Vec<Daemon>, now: Instant) -> Vec<SourceFailure> {
        let mut failures = Vec::new();
        let names: HashSet<&str> = access_points.iter().map(|access_point| &*access_point.name).collect();
        self.by_name.retain(|name, _| names.contains(&**name));
        access_points.retain(|access_point| {
            let silence = self.by_name.get(&access_point.name).filter(|silence| now < silence.until);
            failures.extend(silence.and_then(|silence| {
                let error = WireError::new(silence.peer.clone(), waiting(&silence.failure)?);
                Some(SourceFailure { source: access_point.source(), error })
            }));
            silence.is_none()
        });
        failures
    }

    /// Remembers what became of those that were to be asked; true if one of them was silent.
    pub(crate) fn remember(&mut self, access_points: &[Daemon], failures: &[SourceFailure], now: Instant) -> bool {
        let mut is_silent = false;
        for access_point in access_points {
            let source = access_point.source();
            let failed = failures.iter().find(|failure| failure.source == source);
            if failed.is_some_and(|failed| matches!(failed.error.failure(), Failure::NotAsked(_))) {
                continue;
            }
            let Some((peer, failure)) =
                failed.and_then(|failed| Some((failed.error.peer(), waiting(failed.error.failure())?)))
            else {
                self.by_name.remove(&access_point.name);
                continue;
            };
            let before = self.by_name.get(&access_point.name);
            let pause = before.map_or(FIRST_PAUSE, |before| MAX_PAUSE.min(before.pause * 2));
            let silence = Silence { until: now + pause, pause, peer: peer.to_owned(), failure };
            self.by_name.insert(access_point.name.clone(), silence);
            is_silent = true;
        }
        is_silent
    }
}

/// The same failure, if it is one that takes time.
pub(crate) fn waiting(failure: &Failure) -> Option<Failure> {
    let is_late = |error: &io::Error| error.kind() == ErrorKind::TimedOut;
    Some(match failure {
        Failure::Silent(time) => Failure::Silent(*time),
        Failure::Unanswered { method, time } => Failure::Unanswered { method, time: *time },
        Failure::Late(time) => Failure::Late(*time),
        Failure::Connect(error) if is_late(error) => Failure::Connect(ErrorKind::TimedOut.into()),
        Failure::Resolve(error) if is_late(error) => Failure::Resolve(ErrorKind::TimedOut.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::PoolSource;

    fn access_points() -> Vec<Daemon> {
        ["a", "b"].map(|name| Daemon { name: name.to_owned(), address: "h:1".parse().unwrap() }).to_vec()
    }

    fn failure(source: &str, failure: Failure) -> SourceFailure {
        SourceFailure { source: PoolSource::AccessPoint(source.to_owned()), error: WireError::new("h:1", failure) }
    }

    #[test]
    fn a_silent_one_is_asked_after_longer_and_longer_pauses() {
        let mut silent = SilentAccessPoints::default();
        let mut now = Instant::now();
        let twenty = Duration::from_secs(20);
        for minutes in [1, 2, 4, 8, 16, 16] {
            let late = [failure("b", Failure::Silent(twenty))];
            assert!(silent.remember(&access_points(), &late, now));
            let mut asked = access_points();
            let failures = silent.leave_out(&mut asked, now + Duration::from_secs(60 * minutes - 1));
            assert_eq!(asked.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a"]);
            // The message is the one that it had.
            assert_eq!(failures.iter().map(ToString::to_string).collect::<Vec<_>>(), [late[0].to_string()]);
            now += Duration::from_mins(minutes);
            let mut asked = access_points();
            assert!(silent.leave_out(&mut asked, now).is_empty());
            assert_eq!(asked.len(), 2);
        }
        // Once it answered, it is as any other; and a refusal takes no time.
        let refused = || [failure("b", Failure::Connect(ErrorKind::ConnectionRefused.into()))];
        for failures in [&[][..], &refused()] {
            assert!(!silent.remember(&access_points(), failures, now));
            assert!(silent.leave_out(&mut access_points(), now).is_empty());
        }
        let unanswered = Failure::Unanswered { method: "IDTOKENS", time: twenty };
        for late in [Failure::Connect(ErrorKind::TimedOut.into()), unanswered] {
            let late = [failure("b", late)];
            let mut silent = SilentAccessPoints::default();
            assert!(silent.remember(&access_points(), &late, now));
            let failures = silent.leave_out(&mut access_points(), now + Duration::from_secs(59));
            assert_eq!(failures.iter().map(ToString::to_string).collect::<Vec<_>>(), [late[0].to_string()]);
            assert_eq!(silent.leave_out(&mut access_points(), now + Duration::from_secs(61)).len(), 0);
        }
    }

    #[test]
    fn one_that_was_not_asked_is_not_silent() {
        let (mut silent, now) = (SilentAccessPoints::default(), Instant::now());
        let not_asked = || failure("b", Failure::NotAsked(Duration::from_mins(10)));
        assert!(!silent.remember(&access_points(), &[not_asked()], now));
        assert!(silent.leave_out(&mut access_points(), now).is_empty());
        // It says nothing about one that was silent before, either: the next pause is the second one.
        let late = || failure("b", Failure::Silent(Duration::from_secs(20)));
        silent.remember(&access_points(), &[late()], now);
        silent.remember(&access_points(), &[not_asked()], now);
        silent.remember(&access_points(), &[late()], now);
        assert_eq!(silent.leave_out(&mut access_points(), now + Duration::from_secs(119)).len(), 1);
    }

    #[test]
    fn one_that_the_pool_no_longer_has_is_forgotten() {
        let (mut silent, now) = (SilentAccessPoints::default(), Instant::now());
        for number in 0..100 {
            let name = format!("ap{number}");
            let mut listed = vec![Daemon { name: name.clone(), address: "h:1".parse().unwrap() }];
            assert!(silent.leave_out(&mut listed, now).is_empty());
            assert!(silent.remember(&listed, &[failure(&name, Failure::Silent(Duration::from_secs(20)))], now));
        }
        assert_eq!(silent.by_name.len(), 1);
    }
}
