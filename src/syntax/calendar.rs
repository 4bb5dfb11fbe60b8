//! The calendar: seconds of the epoch to fields of a date and clock, and back.

/// Seconds in a day.
pub const DAY: i64 = 86_400;

/// The fields of a date and a clock, in the proleptic Gregorian calendar.
///
/// The fields are wide and unchecked, because the language lets a program name any of them; see [`Civil::to_seconds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Civil {
    /// Year; 0 is the year before 1.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: i64,
    /// Day of the month, 1 to 31.
    pub day: i64,
    /// Hour, 0 to 23.
    pub hour: i64,
    /// Minute, 0 to 59.
    pub minute: i64,
    /// Second, 0 to 59.
    pub second: i64,
    /// Day of the week, 0 is Sunday.
    pub weekday: i64,
    /// Day of the year, 0 is the first of January.
    pub yearday: i64,
}

impl Civil {
    /// The fields at `seconds` since 1970-01-01T00:00:00Z on a clock `offset` seconds east of UTC.
    ///
    /// Every pair has an answer: an `i64` of seconds reaches about 292 thousand million years each way.
    ///
    /// ```
    /// # use classmate::internal::syntax::calendar::Civil;
    /// let leap_day = Civil::from_seconds(1_582_979_696, 0);
    /// assert_eq!((leap_day.year, leap_day.month, leap_day.day, leap_day.weekday), (2020, 2, 29, 6));
    /// ```
    pub fn from_seconds(seconds: i64, offset: i32) -> Civil {
        let local = i128::from(seconds) + i128::from(offset);
        let days = local.div_euclid(i128::from(DAY)) as i64;
        let clock = local.rem_euclid(i128::from(DAY)) as i64;
        let (year, month, day) = date_of(days);
        Civil {
            year,
            month,
            day,
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
            // 1970-01-01 was a Thursday.
            weekday: (days % 7 + 11) % 7,
            yearday: days - days_of(year, 1, 1),
        }
    }

    /// Seconds since 1970-01-01T00:00:00 of these fields read as UTC; the day of week and of year are ignored.
    ///
    /// Fields out of range are carried over as C `timegm` does: month 13 is January of the next year, day 0 the last of
    /// the month before. What does not fit saturates.
    ///
    /// ```
    /// # use classmate::internal::syntax::calendar::Civil;
    /// let new_year = Civil { year: 2019, month: 13, day: 1, ..Civil::default() };
    /// assert_eq!(new_year.to_seconds(), 1_577_836_800);
    /// ```
    pub fn to_seconds(&self) -> i64 {
        // Keeps every intermediate sum far inside 128 bits and the years inside what the day count can hold.
        const YEARS: i64 = 1_000_000_000_000;
        let months = self.month.saturating_sub(1);
        let year = self.year.saturating_add(months.div_euclid(12)).clamp(-YEARS, YEARS);
        let days = i128::from(days_of(year, months.rem_euclid(12) + 1, 1)) + i128::from(self.day) - 1;
        let clock = i128::from(self.hour) * 3600 + i128::from(self.minute) * 60 + i128::from(self.second);
        let seconds = days * i128::from(DAY) + clock;
        seconds.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// Days from 1970-01-01 to a date with a month from 1 to 12.
///
/// Counts from the first of March of a 400-year cycle, so that the leap day comes last.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let shifted = year - i64::from(month <= 2);
    let cycle = shifted.div_euclid(400);
    let year_of_cycle = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The year, month and day that lies a number of days after 1970-01-01; the inverse of [`days_of`].
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let cycle = shifted.div_euclid(146_097);
    let day_of_cycle = shifted.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(seconds: i64) -> (i64, i64, i64) {
        let fields = Civil::from_seconds(seconds, 0);
        (fields.year, fields.month, fields.day)
    }

    #[test]
    fn known_days_have_their_fields() {
        // date -u -d @1582979696
        let fields = Civil::from_seconds(1_582_979_696, 0);
        let expected =
            Civil { year: 2020, month: 2, day: 29, hour: 12, minute: 34, second: 56, weekday: 6, yearday: 59 };
        assert_eq!(fields, expected);
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(Civil::from_seconds(-1, 0).weekday, 3);
        assert_eq!(date(951_782_400), (2000, 2, 29));
        assert_eq!(date(-2_203_891_200), (1900, 3, 1));
        // The reference prints absTime("0000-00-00") as -1-11-30.
        assert_eq!(date(Civil::default().to_seconds()), (-1, 11, 30));
    }

    #[test]
    fn the_offset_moves_the_clock() {
        let fields = Civil::from_seconds(0, -3600);
        assert_eq!((fields.year, fields.hour, fields.yearday), (1969, 23, 364));
    }

    #[test]
    fn fields_and_seconds_are_inverse() {
        for day in (-800_000_i64..800_000).step_by(97) {
            let seconds = day * DAY + 12_345;
            let fields = Civil::from_seconds(seconds, 0);
            assert_eq!(fields.to_seconds(), seconds);
            assert_eq!(fields.weekday, (day + 4).rem_euclid(7));
        }
    }

    #[test]
    fn fields_out_of_range_carry_over() {
        // formatTime([Year=2020;Month=2;Day=31;Hours=25;Minutes=61;Seconds=-5], "%s") of the reference.
        let fields = Civil { year: 2020, month: 2, day: 31, hour: 25, minute: 61, second: -5, ..Civil::default() };
        assert_eq!(fields.to_seconds(), 1_583_200_855);
        let fields = Civil { year: 1900, month: 1, ..Civil::default() };
        assert_eq!(fields.to_seconds(), -2_209_075_200);
        // Month 0 of 2020 is December 2019, so month -11 is January 2019: date -u -d 2019-01-01 +%s
        let fields = Civil { year: 2020, month: -11, day: 1, ..Civil::default() };
        assert_eq!(fields.to_seconds(), 1_546_300_800);
    }

    #[test]
    fn extremes_do_not_overflow() {
        for seconds in [i64::MIN, i64::MAX] {
            for offset in [i32::MIN, i32::MAX] {
                let fields = Civil::from_seconds(seconds, offset);
                assert!((0..7).contains(&fields.weekday) && (0..366).contains(&fields.yearday));
            }
            assert_eq!(Civil::from_seconds(seconds, 0).to_seconds(), seconds);
        }
        let wild = Civil {
            year: i64::MAX,
            month: i64::MAX,
            day: i64::MAX,
            hour: i64::MAX,
            minute: i64::MAX,
            second: i64::MAX,
            ..Civil::default()
        };
        assert_eq!(wild.to_seconds(), i64::MAX);
    }
}
