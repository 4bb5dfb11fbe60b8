//! Time strings of `slurm.conf`.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 6.1.

use serde::{Deserialize, Serialize};

/// The number Slurm writes for a time without end.
pub const INFINITE: u64 = 4_294_967_295;

/// A length of time: seconds, or no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Duration {
    /// So many seconds.
    Seconds(u64),
    /// `-1`, `INFINITE`, `UNLIMITED`.
    Infinite,
}

impl Duration {
    /// Reads `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`,
    /// `days-hours:minutes:seconds`, or a time without end; none if the text is not a time.
    ///
    /// A bare number is minutes.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Duration;
    /// assert_eq!(Duration::parse("2:00"), Some(Duration::Seconds(120)));
    /// assert_eq!(Duration::parse("1-12"), Some(Duration::Seconds(129_600)));
    /// assert_eq!(Duration::parse("UNLIMITED"), Some(Duration::Infinite));
    /// assert_eq!(Duration::parse("1:2-3"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        if ["-1", "INFINITE", "UNLIMITED"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Some(Self::Infinite);
        }
        if text.starts_with('-') || !is_time(text) {
            return None;
        }
        let (days, rest) = match text.split_once('-') {
            Some((days, rest)) => (number(days), Some(rest)),
            None => (0, None),
        };
        let colons = text.bytes().filter(|&byte| byte == b':').count();
        let [hours, minutes, seconds] = match rest {
            Some(rest) => parts(rest),
            None if colons == 2 => parts(text),
            None => {
                let [minutes, seconds, _] = parts(text);
                [0, minutes, seconds]
            }
        };
        let of = |count: u64, unit: u64| count.saturating_mul(unit);
        let total =
            of(days, 86_400).saturating_add(of(hours, 3600)).saturating_add(of(minutes, 60)).saturating_add(seconds);
        Some(if total == INFINITE || i64::try_from(total).is_err() { Self::Infinite } else { Self::Seconds(total) })
    }

    /// Rounded up to whole minutes, as the options of priorities are.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Duration;
    /// assert_eq!(Duration::Seconds(90).in_whole_minutes(), Duration::Seconds(120));
    /// ```
    #[must_use]
    pub fn in_whole_minutes(self) -> Self {
        match self {
            // Minutes are written as the same number without end.
            Self::Seconds(seconds) if seconds.div_ceil(60) == INFINITE => Self::Infinite,
            Self::Seconds(seconds) => Self::Seconds(seconds.div_ceil(60).saturating_mul(60)),
            Self::Infinite => Self::Infinite,
        }
    }

    /// The number of seconds; none without end.
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Infinite => None,
        }
    }
}

/// Returns true if a text has the form of a time: digits, one `-` before any `:`, at most two `:`, and no part missing.
fn is_time(text: &str) -> bool {
    let (mut numbers, mut dashes, mut colons, mut inside) = (0, 0, 0, false);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                numbers += usize::from(!std::mem::replace(&mut inside, true));
                continue;
            }
            b'-' if colons == 0 => dashes += 1,
            b':' => colons += 1,
            _ => return false,
        }
        inside = false;
    }
    let needed = match (dashes, colons) {
        (0 | 1, 0) => 1,
        (0, 1 | 2) => colons + 1,
        (1, 1 | 2) => colons + 2,
        _ => return false,
    };
    numbers >= needed
}

fn number(digits: &str) -> u64 {
    digits.bytes().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

/// The first three numbers between colons; 0 from the first that is missing.
fn parts(text: &str) -> [u64; 3] {
    let mut parts = [0; 3];
    for (part, digits) in parts.iter_mut().zip(text.split(':').take_while(|digits| !digits.is_empty())) {
        *part = number(digits);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_in_the_table_and_rounded_up_to_minutes() {
        let table = [
            ("5", 300),
            ("1:30", 120),
            ("2:00:00", 7200),
            ("14-0", 1_209_600),
            ("0", 0),
            ("1-12", 129_600),
            ("1-02:03", 93_780),
            ("1-02:03:04", 93_840),
            ("0:30", 60),
            ("1-", 86_400),
        ];
        for (text, seconds) in table {
            let read = Duration::parse(text).map(Duration::in_whole_minutes);
            assert_eq!(read, Some(Duration::Seconds(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "abc", "-5", "1:2:3:4", "1:2-3", "1-:", "1--2", ":", "-", "1 0", "1-2-3"] {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_too_large_are_without_end() {
        assert_eq!(Duration::parse("99999999999999999999999"), Some(Duration::Infinite));
        assert_eq!(Duration::parse("4294967295"), Some(Duration::Seconds(4_294_967_295 * 60)));
        // The reference model: so many minutes are those of a time without end.
        let minutes = |text: &str| Duration::parse(text).map(Duration::in_whole_minutes);
        assert_eq!(minutes("4294967295"), Some(Duration::Infinite));
        assert_eq!(minutes("4294967294"), Some(Duration::Seconds(257_698_037_640)));
        assert_eq!(minutes("0:4294967295"), Some(Duration::Infinite));
        assert_eq!(Duration::parse("0:4294967294"), Some(Duration::Seconds(4_294_967_294)));
    }
}
