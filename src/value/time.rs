//! Times as fields: `strftime`, the week day formula and intervals of `formatTime` and its relatives.

pub use crate::syntax::calendar::Civil;

/// Longest text [`strftime`] writes, in bytes.
pub const LONGEST_FORMATTED: usize = 1022;

/// Day of the week (0 is Sunday) and day of the year (0 is the first) of a date, by the formula of the reference.
///
/// For dates of the calendar these are the true ones. The arithmetic is 32 bits wide and wraps, and takes any month and
/// day, so both may be negative or too big; [`strftime`] writes `?` for a name that does not exist.
///
/// ```
/// # use classmate::internal::value::time::day_numbers;
/// assert_eq!(day_numbers(2020, 2, 29), (6, 59));
/// ```
pub fn day_numbers(year: i32, month: i32, day: i32) -> (i32, i32) {
    let fixed = fixed_day(year, month, day);
    (fixed % 7, fixed.wrapping_sub(fixed_day(year, 1, 1)))
}

/// Days since the last day of the year 0, counted as the reference does (Reingold and Dershowitz).
fn fixed_day(year: i32, month: i32, day: i32) -> i32 {
    let leap = year % 4 == 0 && !matches!(year % 400, 100 | 200 | 300);
    let adjustment = match (month, leap) {
        (..=2, _) => 0,
        (_, true) => -1,
        (_, false) => -2,
    };
    let before = year.wrapping_sub(1);
    let months = month.wrapping_mul(367).wrapping_sub(362) / 12;
    [before / 4, -(before / 100), before / 400, months, adjustment, day]
        .into_iter()
        .fold(before.wrapping_mul(365), i32::wrapping_add)
}

/// Writes an interval of seconds, beginning with the largest unit that is not zero: `1+01:01:01`, `1:01:01`, `1:01`,
/// `1`.
///
/// A negative interval has its sign on the first field only.
///
/// ```
/// # use classmate::internal::value::time::write_interval;
/// let mut out = Vec::new();
/// write_interval(&mut out, 3661);
/// assert_eq!(out, b"1:01:01");
/// ```
pub fn write_interval(out: &mut Vec<u8>, seconds: i32) {
    let magnitude = seconds.unsigned_abs();
    if seconds < 0 {
        out.push(b'-');
    }
    let (days, hours) = (magnitude / 86_400, magnitude / 3600 % 24);
    let (minutes, rest) = (magnitude / 60 % 60, magnitude % 60);
    let text = if days > 0 {
        format_args!("{days}+{hours:02}:{minutes:02}:{rest:02}").to_string()
    } else if hours > 0 {
        format_args!("{hours}:{minutes:02}:{rest:02}").to_string()
    } else if minutes > 0 {
        format_args!("{minutes}:{rest:02}").to_string()
    } else {
        rest.to_string()
    };
    out.extend_from_slice(text.as_bytes());
}

/// Writes fields by a format as the GNU C library's `strftime` does in the C locale.
///
/// All its conversions, the flags `_ - 0 ^ #`, widths and the modifiers `E` and `O` are known; an unknown conversion is
/// written as it is. `zone_name` is the text of `%Z`; `%z` is always `+0000`, because the reference never fills in
/// what it reads. `offset` is the standard offset of local time in seconds east of UTC, on which `%s` reads the fields.
///
/// Returns false and writes nothing when the text would be longer than [`LONGEST_FORMATTED`].
///
/// ```
/// # use classmate::internal::value::time::{Civil, strftime};
/// let mut out = Vec::new();
/// assert!(strftime(&mut out, b"%Y-%m-%d %a", &Civil::from_seconds(0, 0), 0, b"UTC"));
/// assert_eq!(out, b"1970-01-01 Thu");
/// ```
pub fn strftime(out: &mut Vec<u8>, format: &[u8], fields: &Civil, offset: i32, zone_name: &[u8]) -> bool {
    let start = out.len();
    let mut writer = TimeWriter { out, limit: start + LONGEST_FORMATTED, fields, offset, zone_name };
    let fits = writer.format(format, false).is_some();
    if !fits {
        out.truncate(start);
    }
    fits
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The letters that may not follow the modifier `E`, and those that may not follow `O`.
const NOT_AFTER_E: &[u8] = b"aAbBdDeFghGHIjklmMSUVwW";
const NOT_AFTER_O: &[u8] = b"aAcDFxXY";

/// The flags and the width of one conversion.
#[derive(Clone, Copy, Default)]
struct Conversion {
    /// One of `_`, `-`, `0`, or nothing.
    pad: u8,
    width: usize,
    upper: bool,
    lower: bool,
    /// The flag `#`.
    change: bool,
}

/// The text so far; every step fails when the text grows beyond the limit.
struct TimeWriter<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
    fields: &'a Civil,
    offset: i32,
    zone_name: &'a [u8],
}

impl TimeWriter<'_> {
    /// Writes a whole format; `upper` makes every letter of it upper case.
    fn format(&mut self, format: &[u8], upper: bool) -> Option<()> {
        let start = self.out.len();
        let mut rest = format;
        while let Some(at) = memchr::memchr(b'%', rest) {
            self.plain(&rest[..at])?;
            rest = &rest[at..];
            let used = self.conversion(rest)?;
            rest = &rest[used..];
        }
        self.plain(rest)?;
        if upper {
            self.out[start..].make_ascii_uppercase();
        }
        Some(())
    }

    /// Writes one conversion, which begins at the start of the text, and returns its length.
    fn conversion(&mut self, text: &[u8]) -> Option<usize> {
        let mut shape = Conversion::default();
        let mut at = 1;
        while let Some(&flag) = text.get(at) {
            match flag {
                b'_' | b'-' | b'0' => shape.pad = flag,
                b'^' => shape.upper = true,
                b'#' => shape.change = true,
                _ => break,
            }
            at += 1;
        }
        while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
            // Any width beyond the limit is as bad as the largest.
            shape.width = (shape.width * 10 + usize::from(digit - b'0')).min(1 << 20);
            at += 1;
        }
        let modifier = text.get(at).copied().filter(|b| matches!(b, b'E' | b'O'));
        at += usize::from(modifier.is_some());
        let letter = text.get(at).copied();
        let used = (at + 1).min(text.len());
        let refused = letter.is_some_and(|letter| match modifier {
            Some(b'E') => NOT_AFTER_E.contains(&letter),
            Some(_) => NOT_AFTER_O.contains(&letter),
            None => false,
        });
        // The library notes the change of case before it refuses these two.
        shape.upper |= refused && shape.change && matches!(letter, Some(b'b' | b'h'));
        match letter {
            Some(letter) if !refused && self.known(letter, shape)? => {}
            _ => self.text(&text[..used], shape)?,
        }
        Some(used)
    }

    /// Writes the conversion of a letter; false when there is none.
    fn known(&mut self, letter: u8, mut shape: Conversion) -> Option<bool> {
        let f = *self.fields;
        let hour12 = match f.hour {
            13.. => f.hour - 12,
            0 => 12,
            hour => hour,
        };
        match letter {
            b'%' => self.text(b"%", shape),
            b'n' => self.text(b"\n", shape),
            b't' => self.text(b"\t", shape),
            b'a' | b'A' | b'b' | b'B' | b'h' => self.name(letter, shape),
            b'c' => self.composed(b"%a %b %e %H:%M:%S %Y", shape),
            b'D' | b'x' => self.composed(b"%m/%d/%y", shape),
            b'F' => self.composed(b"%Y-%m-%d", shape),
            b'R' => self.composed(b"%H:%M", shape),
            b'r' => self.composed(b"%I:%M:%S %p", shape),
            b'T' | b'X' => self.composed(b"%H:%M:%S", shape),
            b'C' => self.number(f.year / 100 - i64::from(f.year % 100 < 0), 1, shape),
            b'd' => self.number(f.day, 2, shape),
            b'e' => self.spaced(f.day, shape),
            b'H' => self.number(f.hour, 2, shape),
            b'I' => self.number(hour12, 2, shape),
            b'k' => self.spaced(f.hour, shape),
            b'l' => self.spaced(hour12, shape),
            b'j' => self.number(f.yearday.saturating_add(1), 3, shape),
            b'M' => self.number(f.minute, 2, shape),
            b'm' => self.number(f.month, 2, shape),
            b'S' => self.number(f.second, 2, shape),
            b'u' => self.number((f.weekday - 1 + 7) % 7 + 1, 1, shape),
            b'w' => self.number(f.weekday, 1, shape),
            b'U' => self.number((f.yearday - f.weekday + 7) / 7, 2, shape),
            b'W' => self.number((f.yearday - (f.weekday - 1 + 7) % 7 + 7) / 7, 2, shape),
            b'V' => self.number(iso_week(&f).1, 2, shape),
            b'g' => self.number(iso_week(&f).0.rem_euclid(100), 2, shape),
            b'G' => self.number(iso_week(&f).0, 1, shape),
            b'Y' => self.number(f.year, 1, shape),
            b'y' => self.number(f.year.rem_euclid(100), 2, shape),
            b's' => {
                let seconds = f.to_seconds().saturating_sub(i64::from(self.offset));
                self.text(seconds.to_string().as_bytes(), shape)
            }
            b'p' | b'P' => {
                shape.lower = letter == b'P' || shape.change;
                self.text(if f.hour > 11 { b"PM" } else { b"AM" }, shape)
            }
            b'Z' => {
                shape.lower = shape.change;
                self.text(self.zone_name, shape)
            }
            b'z' => {
                self.text(b"+", shape)?;
                self.number(0, 4, shape)
            }
            _ => return Some(false),
        }?;
        Some(true)
    }

    /// Writes the name of a week day or a month, `?` when there is none.
    fn name(&mut self, letter: u8, mut shape: Conversion) -> Option<()> {
        shape.upper |= shape.change;
        let names: &[&str] = if matches!(letter, b'a' | b'A') { &WEEKDAYS } else { &MONTHS };
        let index = if matches!(letter, b'a' | b'A') { self.fields.weekday } else { self.fields.month - 1 };
        let name = usize::try_from(index).ok().and_then(|index| names.get(index)).copied();
        let length = if matches!(letter, b'A' | b'B') { usize::MAX } else { 3 };
        let text = name.map_or("?", |name| name.get(..length).unwrap_or(name));
        self.text(text.as_bytes(), shape)
    }

    /// Writes a conversion that abbreviates several others.
    fn composed(&mut self, format: &[u8], shape: Conversion) -> Option<()> {
        let start = self.out.len();
        self.format(format, shape.upper)?;
        let length = self.out.len() - start;
        let missing = shape.width.saturating_sub(length);
        self.room(missing)?;
        let fill = if shape.pad == b'0' { b'0' } else { b' ' };
        self.out.splice(start..start, std::iter::repeat_n(fill, missing));
        Some(())
    }

    /// Writes a number of at least two digits, padded with a space unless a flag says otherwise.
    fn spaced(&mut self, value: i64, mut shape: Conversion) -> Option<()> {
        if !matches!(shape.pad, b'0' | b'-') {
            shape.pad = b'_';
        }
        self.number(value, 2, shape)
    }

    /// Writes a number of at least `digits` digits.
    fn number(&mut self, value: i64, digits: usize, mut shape: Conversion) -> Option<()> {
        let text = value.unsigned_abs().to_string();
        let sign: &[u8] = if value < 0 { b"-" } else { b"" };
        if shape.pad == b'-' {
            return self.text(&[sign, text.as_bytes()].concat(), shape);
        }
        let missing = digits.max(shape.width).saturating_sub(sign.len() + text.len());
        shape.width = 0;
        if shape.pad == b'_' {
            self.fill(b' ', missing)?;
            self.plain(sign)?;
        } else {
            self.plain(sign)?;
            self.fill(b'0', missing)?;
        }
        self.text(text.as_bytes(), shape)
    }

    /// Writes a text, padded at the left to the width and in the case that the flags ask for.
    fn text(&mut self, text: &[u8], shape: Conversion) -> Option<()> {
        let missing = shape.width.saturating_sub(text.len());
        self.fill(if shape.pad == b'0' { b'0' } else { b' ' }, missing)?;
        let start = self.out.len();
        self.plain(text)?;
        if shape.lower {
            self.out[start..].make_ascii_lowercase();
        } else if shape.upper {
            self.out[start..].make_ascii_uppercase();
        }
        Some(())
    }

    /// Writes bytes as they are.
    fn plain(&mut self, text: &[u8]) -> Option<()> {
        self.room(text.len())?;
        self.out.extend_from_slice(text);
        Some(())
    }

    /// Writes one byte several times.
    fn fill(&mut self, byte: u8, count: usize) -> Option<()> {
        self.room(count)?;
        self.out.extend(std::iter::repeat_n(byte, count));
        Some(())
    }

    /// Fails unless there is room for this number of bytes.
    fn room(&self, more: usize) -> Option<()> {
        (self.out.len() + more <= self.limit).then_some(())
    }
}

/// The ISO 8601 year and week of a day.
fn iso_week(fields: &Civil) -> (i64, i64) {
    /// Days from the Monday of the first week; the week with Thursday is the first.
    fn days(yearday: i64, weekday: i64) -> i64 {
        const BIG_MULTIPLE_OF_7: i64 = 378;
        yearday - (yearday - weekday + 4 + BIG_MULTIPLE_OF_7) % 7 + 4 - 1
    }
    fn length(year: i64) -> i64 {
        365 + i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
    }
    let year = fields.year;
    let own = days(fields.yearday, fields.weekday);
    if own < 0 {
        let before = days(fields.yearday + length(year.saturating_sub(1)), fields.weekday);
        return (year.saturating_sub(1), before / 7 + 1);
    }
    let after = days(fields.yearday - length(year), fields.weekday);
    if after >= 0 { (year.saturating_add(1), after / 7 + 1) } else { (year, own / 7 + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, format: &str) -> String {
        formatted(&Civil::from_seconds(seconds, 0), format)
    }

    /// Fields as `formatTime` takes them from an ad.
    fn ad(year: i32, month: i32, day: i32, clock: (i64, i64, i64)) -> Civil {
        let (weekday, yearday) = day_numbers(year, month, day);
        Civil {
            year: year.into(),
            month: month.into(),
            day: day.into(),
            hour: clock.0,
            minute: clock.1,
            second: clock.2,
            weekday: weekday.into(),
            yearday: yearday.into(),
        }
    }

    fn formatted(fields: &Civil, format: &str) -> String {
        let mut out = Vec::new();
        assert!(strftime(&mut out, format.as_bytes(), fields, 0, b"UTC"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn common_formats_are_written() {
        assert_eq!(at(1_582_979_696, "%c"), "Sat Feb 29 12:34:56 2020");
        assert_eq!(
            at(1_582_979_696, "%x %X %D %T %F %R %r"),
            "02/29/20 12:34:56 02/29/20 12:34:56 2020-02-29 12:34 12:34:56 PM"
        );
        assert_eq!(at(1_582_979_696, "%a %A %b %B %h"), "Sat Saturday Feb February Feb");
        assert_eq!(at(1_582_979_696, "%j %U %w %W %u %V %G %g"), "060 08 6 08 6 09 2020 20");
        assert_eq!(at(0, "%e|%k|%l|%I|%p|%P|%y|%C|%s|%n|%t|%%"), " 1| 0|12|12|AM|am|70|19|0|\n|\t|%");
        assert_eq!(at(0, "%Z %z"), "UTC +0000");
        assert_eq!(at(0, ""), "");
    }

    #[test]
    fn unknown_conversions_stand_as_they_are() {
        assert_eq!(at(0, "%Q %5Q %-_0^#12EOx %5"), "%Q   %5Q 00%-_0^#12EOx    %5");
        assert_eq!(at(0, "%N %f %i %q %v %+ %L %J %K %E %O"), "%N %f %i %q %v %+ %L %J %K %E %O");
        assert_eq!(at(0, "%"), "%");
        assert_eq!(at(0, "%^q %E6y"), "%^Q %E6y");
        assert_eq!(at(0, "%#Ea|%#EB|%#Eb|%#Eh|%#Ed|%#Ox|%^Ed"), "%#Ea|%#EB|%#EB|%#EH|%#Ed|%#Ox|%^ED");
    }

    #[test]
    fn modifiers_are_taken_where_the_library_takes_them() {
        let format = "%Ey %Oy %EY %OY %Oc %EC %OC %Ex %Ox %OX %Od %Ed %OB %EB %Eh %Oh %Oa %EA %Ep %Ez %ED %ET %Or %OF";
        let expected = "70 70 1970 %OY %Oc 19 19 01/01/70 %Ox %OX 01 %Ed January %EB %Eh Jan %Oa %EA AM +0000 %ED 00:00:00 12:00:00 AM %OF";
        assert_eq!(at(0, format), expected);
        let format =
            "%Eu %EV %OV %EG %OG %Eg %EU %OW %Ew %Ow %Ej %Oj %Ek %Ok %El %EM %Em %OS %ES %EI %E% %O% %EP %Es %On";
        let expected = "4 %EV 01 %EG 1970 %Eg %EU 00 %Ew 4 %Ej 001 %Ek  0 %El %EM %Em 00 %ES %EI % % am 0 \n";
        assert_eq!(at(0, format), expected);
    }

    #[test]
    fn flags_and_widths_shape_the_text() {
        assert_eq!(
            at(0, "%^p %#p %P %#Z %^Z %^a %#a %#B %^c"),
            "AM am am utc UTC THU THU JANUARY THU JAN  1 00:00:00 1970"
        );
        assert_eq!(
            at(0, "%5z|%_5z|%-z|%_10z|%-10z"),
            "    +00000|    +    0|+0|         +         0|         +         0"
        );
        assert_eq!(
            at(0, "%10s|%3%|%10D|%_10j|%-j|%-3j|%05Z|%7j|%_1d|%01e"),
            "         0|  %|  01/01/70|         1|1|  1|00UTC|0000001| 1|01"
        );
        assert_eq!(
            at(0, "%-5d|%-5e|%0_5d|%_05d|%_-5d|%-05d|%5k|%05k|%-5k"),
            "    1|    1|    1|00001|    1|00001|    0|00000|    0"
        );
        let odd = ad(-5, 0, 0, (0, 0, 0));
        assert_eq!(
            formatted(&odd, "%10Y|%_10Y|%-Y|%010Y|%5m|%_5m|%-5m|%5n|%05%|%05a"),
            "-000000005|        -5|-5|-000000005|00000|    0|    0|    \n|0000%|0000?"
        );
        assert_eq!(
            formatted(&odd, "%10c|%10F|%_10F|%25T|%020T"),
            "? ?  0 00:00:00 -5|  -5-00-00|  -5-00-00|                 00:00:00|00000000000000:00:00"
        );
    }

    #[test]
    fn fields_out_of_range_are_written_as_they_are() {
        assert_eq!(
            formatted(&ad(2020, 13, 1, (0, 0, 0)), "%Y-%m-%d %a %b %j %B %A %U %s"),
            "2020-13-01 Fri ? 367 ? Friday 52 1609459200"
        );
        assert_eq!(formatted(&ad(2020, 0, 1, (0, 0, 0)), "%Y-%m-%d %a %b %j"), "2020-00-01 Mon ? -29");
        assert_eq!(
            formatted(&ad(2020, 2, 31, (25, 61, -5)), "%c %j %I %p %l"),
            "Mon Feb 31 25:61:-5 2020 062 13 PM 13"
        );
        assert_eq!(
            formatted(&ad(-5, 2, 3, (0, 0, 0)), "%c %C %y %G %g %V %F %D"),
            "? Feb  3 00:00:00 -5 -1 95 -5 95 05 -5-02-03 02/03/95"
        );
        assert_eq!(formatted(&ad(99, 1, -4000, (0, 0, 0)), "%a %j %U %W %V %C"), "Sun -4000 -570 -571 -517 0");
        assert_eq!(
            formatted(&ad(0, 0, 0, (-5, -100, 1000)), "%H %I %M %S %k %l %p %T"),
            "-5 -5 -100 1000 -5 -5 AM -5:-100:1000"
        );
        assert_eq!(
            formatted(&ad(-12_345, 3, 1, (0, 0, 0)), "%y %C %08Y|%08C|%_8C"),
            "55 -124 -0012345|-0000124|    -124"
        );
    }

    #[test]
    fn the_week_day_formula_wraps_in_32_bits() {
        // formatTime(9000000000000000, "%a") and its negation; the true days are not these.
        assert_eq!(day_numbers(285_200_616, 7, 24).0, 5);
        assert!(day_numbers(-285_196_677, 6, 10).0 < 0);
        assert_eq!(day_numbers(i32::MIN, i32::MIN, i32::MIN), day_numbers(i32::MIN, i32::MIN, i32::MIN));
    }

    #[test]
    fn texts_beyond_the_limit_are_refused() {
        let fields = Civil::from_seconds(0, 0);
        let mut out = b"kept".to_vec();
        assert!(strftime(&mut out, b"%1022d", &fields, 0, b""));
        assert_eq!(out.len(), 4 + LONGEST_FORMATTED);
        out.truncate(4);
        for format in ["%1023d", "%1023c", "%_1023d", "%99999999999999999999Y", &"x".repeat(1023)] {
            assert!(!strftime(&mut out, format.as_bytes(), &fields, 0, b""));
            assert_eq!(out, b"kept");
        }
    }

    #[test]
    fn intervals_begin_with_the_largest_unit() {
        for (seconds, expected) in [
            (0, "0"),
            (59, "59"),
            (60, "1:00"),
            (3600, "1:00:00"),
            (86_400, "1+00:00:00"),
            (-61, "-1:01"),
            (-90_061, "-1+01:01:01"),
            (i32::MIN, "-24855+03:14:08"),
        ] {
            let mut out = Vec::new();
            write_interval(&mut out, seconds);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
