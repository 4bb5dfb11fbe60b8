//! Correcting shares by what was used lately (`docs/reference/dirac-shares.md` 4.3).

use hashbrown::HashMap;

use classmate_config::internal::config::dirac::{Profile, Word};

/// Usage in a time slice, and the weight of the slice.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceUse {
    /// Jobs that ran on average, by entity; an entity without a record is absent.
    pub running: HashMap<Word, f64>,
    /// Its part of the weights of all slices, 0 to 1.
    pub weight: f64,
    /// Its factor stays between this and its inverse.
    pub max_correction: f64,
}

/// A corrected share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// The share after correction.
    pub share: f64,
    /// The factor on the share.
    pub factor: f64,
}

/// The program would divide by zero: the history holds a use of exactly 0 (observed profile only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("zero usage entry")]
pub struct ZeroUse;

/// Multiplies each share with a factor: for each slice the part of the entity in the shares divided by its part in what
/// was used, bounded and weighted; all slices added up, and bounded by `global_max`.
///
/// Without slices nothing is corrected. A slice in which no entity ran is skipped, and its weight is lost. An entity
/// without a record in a slice counts with the slice's maximum, which the program forgets to weigh.
///
/// # Errors
/// A usage of exactly 0 in the observed profile; in the documented profile it is not a record.
///
/// ```
/// use classmate_config::internal::config::dirac::{Profile, Word};
/// use classmate_pool::internal::priority::dirac::{SliceUse, correct};
/// let (a, b): (Word, Word) = (b"a"[..].into(), b"b"[..].into());
/// let running = [(a.clone(), 75.0), (b.clone(), 25.0)].into_iter().collect();
/// let slice = SliceUse { running, weight: 1.0, max_correction: 2.0 };
/// let corrected = correct(&[(a, 1000.0), (b, 1000.0)], &[slice], 3.0, Profile::Observed).unwrap();
/// assert_eq!(corrected[0].factor, 0.5 / 0.75);
/// assert_eq!(corrected[1].share, 2000.0);
/// ```
pub fn correct(
    shares: &[(Word, f64)],
    slices: &[SliceUse],
    global_max: f64,
    profile: Profile,
) -> Result<Vec<Correction>, ZeroUse> {
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let mut sums: Vec<Option<f64>> = vec![None; shares.len()];
    for slice in slices {
        let used: f64 = shares.iter().filter_map(|(entity, _)| slice.running.get(entity)).sum();
        if used == 0.0 {
            continue;
        }
        for ((entity, share), sum) in shares.iter().zip(&mut sums) {
            let factor = match slice.running.get(entity) {
                Some(&running) if running > 0.0 => {
                    let deviation = (share / total) / (running / used);
                    deviation.min(slice.max_correction).max(1.0 / slice.max_correction) * slice.weight
                }
                Some(&running) if running == 0.0 && profile == Profile::Observed => return Err(ZeroUse),
                _ if profile == Profile::Observed => slice.max_correction,
                _ => slice.max_correction * slice.weight,
            };
            *sum = Some(sum.unwrap_or(0.0) + factor);
        }
    }
    let corrected = |(share, sum): (f64, Option<f64>)| {
        let factor = sum.map_or(1.0, |sum| sum.min(global_max).max(1.0 / global_max));
        Correction { share: share * factor, factor }
    };
    Ok(shares.iter().map(|(_, share)| *share).zip(sums).map(corrected).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Use<'a> = &'a [(&'a str, f64)];

    /// Corrected shares with the slices of the page: a week (weight 0.8, maximum 2) and an hour (0.2, 5), and maximum 3.
    fn page(shares: Use<'_>, week: Use<'_>, hour: Use<'_>, profile: Profile) -> Vec<f64> {
        let entity = |(name, number): &(&str, f64)| (Word::from(name.as_bytes()), *number);
        let slice = |running: Use<'_>, weight, max_correction| SliceUse {
            running: running.iter().map(entity).collect(),
            weight,
            max_correction,
        };
        let shares: Vec<(Word, f64)> = shares.iter().map(entity).collect();
        let slices = [slice(week, 0.8, 2.0), slice(hour, 0.2, 5.0)];
        correct(&shares, &slices, 3.0, profile).unwrap().iter().map(|corrected| corrected.share).collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < 5e-4;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?}, not {expected:?}");
    }

    /// `docs/reference/dirac-shares.md` 7.6.
    #[test]
    fn groups_are_corrected_by_the_pages_formula() {
        let shares = [("lhcb_user", 10_000.0), ("lhcb_mc", 300.0), ("lhcb_data", 40_000.0)];
        let week = [("lhcb_user", 300.0), ("lhcb_mc", 500.0), ("lhcb_data", 1200.0)];
        let hour = [("lhcb_user", 900.0), ("lhcb_mc", 100.0), ("lhcb_data", 1000.0)];
        for profile in [Profile::Observed, Profile::Documented] {
            near(&page(&shares, &week, &hour, profile), &[11_486.636, 132.0, 55_135.852]);
        }
    }

    /// `docs/reference/dirac-shares.md` 7.7.
    #[test]
    fn three_times_as_much_as_the_neighbour_costs_a_third() {
        let shares = [("a", 1000.0), ("b", 1000.0)];
        let used = [("a", 75.0), ("b", 25.0)];
        near(&page(&shares, &used, &used, Profile::Observed), &[666.6667, 2000.0]);
    }

    /// `docs/reference/dirac-shares.md` 7.8.
    #[test]
    fn a_newcomer_gets_the_maximum_and_in_the_program_all_of_it() {
        let shares = [("a", 1000.0), ("b", 3000.0)];
        let week = [("a", 75.0), ("b", 25.0)];
        near(&page(&shares, &week, &[("b", 9.0)], Profile::Documented), &[1400.0, 5250.0]);
        near(&page(&shares, &week, &[("b", 9.0)], Profile::Observed), &[3000.0, 5250.0]);
    }

    /// `docs/reference/dirac-shares.md` 7.9.
    #[test]
    fn the_weight_of_a_slice_in_which_nobody_ran_is_lost() {
        let shares = [("a", 1000.0), ("b", 1000.0)];
        let week = [("a", 1.0), ("b", 999.0)];
        near(&page(&shares, &week, &[("other", 5.0)], Profile::Documented), &[1600.0, 400.4004]);
    }

    #[test]
    fn without_history_nothing_is_corrected() {
        let shares = [(Word::from(&b"a"[..]), 700.0)];
        assert_eq!(correct(&shares, &[], 3.0, Profile::Observed), Ok(vec![Correction { share: 700.0, factor: 1.0 }]));
        assert_eq!(correct(&[], &[], 3.0, Profile::Observed), Ok(vec![]));
    }

    #[test]
    fn a_use_of_zero_is_no_record_or_an_error() {
        let entity = Word::from(&b"a"[..]);
        let running = [(entity.clone(), 0.0), (Word::from(&b"b"[..]), 1.0)].into_iter().collect();
        let slices = [SliceUse { running, weight: 1.0, max_correction: 2.0 }];
        let shares = [(entity, 1.0), (Word::from(&b"b"[..]), 1.0)];
        assert_eq!(correct(&shares, &slices, 3.0, Profile::Observed), Err(ZeroUse));
        assert_eq!(correct(&shares, &slices, 3.0, Profile::Documented).unwrap()[0].factor, 2.0);
    }
}
