//! Reset times of usage.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 3.5.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use classmate_config::internal::config::slurm::ResetPeriod;

/// The next reset after the one at `last`, both epoch seconds; none if never.
///
/// Days begin at midnight in the time zone. Daily and weekly resets that were missed are skipped.
///
/// ```
/// use classmate_config::internal::config::slurm::ResetPeriod;
/// use classmate_pool::internal::priority::slurm::reset::next_reset;
/// use jiff::tz::TimeZone;
/// // 2023-10-12 17:28:36 UTC; the year after begins at 1704067200.
/// assert_eq!(next_reset(ResetPeriod::Yearly, 1_697_132_916, 1_698_860_916, &TimeZone::UTC), Some(1_704_067_200));
/// assert_eq!(next_reset(ResetPeriod::None, 0, 0, &TimeZone::UTC), None);
/// ```
pub fn next_reset(period: ResetPeriod, last: i64, now: i64, zone: &TimeZone) -> Option<i64> {
    let today = Timestamp::from_second(last).ok()?.to_zoned(zone.clone()).date();
    let begins = |date: Date| Some(date.to_zoned(zone.clone()).ok()?.timestamp().as_second());
    let first = |year: i16, month: i8| begins(Date::new(year, month, 1).ok()?);
    let (year, month) = (today.year(), today.month());
    match period {
        ResetPeriod::None | ResetPeriod::Now => None,
        ResetPeriod::Every(seconds) => last.checked_add(i64::try_from(seconds).ok()?),
        ResetPeriod::Daily => skipping(today, 1, 1, now, &begins),
        ResetPeriod::Weekly => {
            let days = 7 - i64::from(today.weekday().to_sunday_zero_offset());
            skipping(today, days, 7, now, &begins)
        }
        ResetPeriod::Monthly if month == 12 => first(year + 1, 1),
        ResetPeriod::Monthly => first(year, month + 1),
        ResetPeriod::Quarterly if month >= 10 => first(year + 1, 1),
        ResetPeriod::Quarterly => first(year, (month - 1) / 3 * 3 + 4),
        ResetPeriod::Yearly => first(year + 1, 1),
    }
}

/// The first day that many days after `today`, and as many whole periods later as still lie in the past with one more.
fn skipping(today: Date, days: i64, period: i64, now: i64, begins: &dyn Fn(Date) -> Option<i64>) -> Option<i64> {
    let mut day = today.checked_add(days.days()).ok()?;
    let ahead = now.saturating_sub(begins(day)?);
    // One period less than fits: days are not all of one length.
    let whole = ahead / (86_400 * period) - 2;
    if whole > 0 {
        day = day.checked_add((whole * period).days()).ok()?;
    }
    loop {
        let next = day.checked_add(period.days()).ok()?;
        if begins(next)? >= now {
            return begins(day);
        }
        day = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(period: ResetPeriod, last: &str, now: &str, zone: &TimeZone) -> String {
        let seconds = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        let next = next_reset(period, seconds(last), seconds(now), zone).unwrap();
        Timestamp::from_second(next).unwrap().to_string()
    }

    #[test]
    fn periods_begin_with_the_calendar() {
        let last = "2026-11-18T15:00:00Z"; // a Wednesday
        for (period, expected) in [
            (ResetPeriod::Daily, "2026-11-19T00:00:00Z"),
            (ResetPeriod::Weekly, "2026-11-22T00:00:00Z"),
            (ResetPeriod::Monthly, "2026-12-01T00:00:00Z"),
            (ResetPeriod::Quarterly, "2027-01-01T00:00:00Z"),
            (ResetPeriod::Yearly, "2027-01-01T00:00:00Z"),
            (ResetPeriod::Every(3600), "2026-11-18T16:00:00Z"),
        ] {
            assert_eq!(next(period, last, "2026-11-18T15:01:00Z", &TimeZone::UTC), expected, "{period:?}");
        }
        assert_eq!(next(ResetPeriod::Quarterly, "2026-03-31T23:00:00Z", last, &TimeZone::UTC), "2026-04-01T00:00:00Z");
    }

    #[test]
    fn missed_days_and_weeks_are_skipped_but_not_the_last() {
        // One more period would still be in the past, or not.
        let daily = |now| next(ResetPeriod::Daily, "2026-11-01T15:00:00Z", now, &TimeZone::UTC);
        assert_eq!(daily("2026-11-18T15:00:00Z"), "2026-11-18T00:00:00Z");
        assert_eq!(daily("2026-11-18T00:00:00Z"), "2026-11-17T00:00:00Z");
        let weekly = next(ResetPeriod::Weekly, "1999-11-01T15:00:00Z", "2026-11-18T15:00:00Z", &TimeZone::UTC);
        assert_eq!(weekly, "2026-11-15T00:00:00Z");
    }

    #[test]
    fn days_begin_at_midnight_of_the_zone_and_may_be_short() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        // 2026-03-29 has 23 hours there.
        let daily = |last, now| next(ResetPeriod::Daily, last, now, &zone);
        assert_eq!(daily("2026-03-28T12:00:00Z", "2026-03-28T13:00:00Z"), "2026-03-28T23:00:00Z");
        assert_eq!(daily("2026-03-29T12:00:00Z", "2026-03-29T13:00:00Z"), "2026-03-29T22:00:00Z");
    }
}
