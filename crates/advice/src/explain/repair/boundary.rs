//! The value nearest to the present one for which a comparison holds, by asking: integers by doubled steps and then by
//! halves, reals by the next number that is written as shortly.

/// Further than this from where algebra leads no integer is looked for: rounding and strictness are behind it.
const MAX_ADJUSTMENT: i64 = 4096;
/// Further than this from the present value no integer is looked for.
const MAX_DISTANCE: i64 = 1 << 62;

/// Doubled steps, up to a limit.
fn doubled(most: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(1_i64), |step| step.checked_mul(2)).take_while(move |step| *step <= most)
}

/// The first of an integer and those around it that holds, in doubled steps.
pub(crate) fn around(holds: &dyn Fn(i64) -> bool, middle: i64) -> Option<i64> {
    if holds(middle) {
        return Some(middle);
    }
    first_beside(holds, middle, MAX_ADJUSTMENT)
}

fn first_beside(holds: &dyn Fn(i64) -> bool, middle: i64, most: i64) -> Option<i64> {
    let both = |step: i64| [middle.checked_add(step), middle.checked_sub(step)];
    doubled(most).flat_map(both).flatten().find(|at| holds(*at))
}

/// The nearest integer that holds, if it is known of none: exact where the comparison holds from one value on. At most 126
/// questions until one is found, and as many until it is the nearest.
pub(crate) fn nearest(holds: &dyn Fn(i64) -> bool, present: i64) -> Option<i64> {
    first_beside(holds, present, MAX_DISTANCE).map(|found| toward(holds, found, present))
}

/// From an integer that holds toward one that does not: the last that holds before the first one found that does not.
pub(crate) fn toward(holds: &dyn Fn(i64) -> bool, found: i64, end: i64) -> i64 {
    let (from, way) = (i128::from(found), i128::from(end) - i128::from(found));
    let (sign, length) = (way.signum(), way.abs());
    // Between two integers lie integers.
    let at = |off: i128| i64::try_from(from + sign * off).unwrap_or(end);
    let (mut good, mut bad, mut off) = (0, length, 1);
    while off < length {
        if !holds(at(off)) {
            bad = off;
            break;
        }
        good = off;
        off *= 2;
    }
    while bad - good > 1 {
        let middle = i128::midpoint(good, bad);
        if holds(at(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    at(good)
}

/// As [`toward`], where nothing is known that does not hold: itself if there is none.
pub(crate) fn outward(holds: &dyn Fn(i64) -> bool, found: i64, up: bool) -> i64 {
    let end = if up { found.saturating_add(MAX_DISTANCE) } else { found.saturating_sub(MAX_DISTANCE) };
    match toward(holds, found, end) {
        // All that was asked held.
        last if last.abs_diff(end) <= 1 => found,
        last => last,
    }
}

/// Reals around one, those that may hold where it does not: the next number with as many decimals, and the very next.
pub(crate) fn beyond(real: f64, up: bool) -> [f64; 2] {
    /// More decimals than a real has.
    const DECIMALS: usize = 17;
    let written = real.to_string();
    let decimals = written.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let very_next = if up { real.next_up() } else { real.next_down() };
    if decimals > DECIMALS {
        return [very_next; 2];
    }
    let scale = 10_f64.powi(decimals as i32);
    let next = ((real * scale).round() + if up { 1.0 } else { -1.0 }) / scale;
    if next.is_finite() && next != real { [next, very_next] } else { [very_next; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_integer_that_holds_is_found() {
        assert_eq!(nearest(&|at| at / 1024 < 2, 9000), Some(2047));
        assert_eq!(nearest(&|at| at > 77, -5), Some(78));
        assert_eq!(nearest(&|at| at != 3, 3), Some(4));
        assert_eq!(nearest(&|_| false, 3), None);
        assert_eq!(nearest(&|at| at < i64::MIN + 2, i64::MAX), None);
        assert_eq!(around(&|at| at <= 98, 100), Some(98));
        assert_eq!(toward(&|at| at < i64::MAX, i64::MIN, i64::MAX), i64::MAX - 1);
        assert_eq!(outward(&|at| at / 1024 < 2, 1024, true), 2047);
        assert_eq!(outward(&|_| true, 5, true), 5);
        assert_eq!(outward(&|_| true, i64::MAX - 1, true), i64::MAX - 1);
    }

    #[test]
    fn the_next_real_is_written_as_shortly() {
        assert_eq!(beyond(0.6, true)[0], 0.7);
        assert_eq!(beyond(0.1, false)[0], 0.0);
        assert_eq!(beyond(12.0, true)[0], 13.0);
        assert_eq!(beyond(1638.4, false)[0], 1638.3);
        assert_eq!(beyond(1e300, true)[0], 1e300_f64.next_up());
    }
}
