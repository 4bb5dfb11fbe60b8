//! Sets of rows, a bit each, and three-valued truths of rows.

use crate::value::logic::Truth;

/// A set of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Mask {
    words: Vec<u64>,
    len: usize,
}

impl Mask {
    /// No row of a number of rows.
    pub fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// All rows of a number of rows.
    pub fn all(len: usize) -> Self {
        let mut mask = Self { words: vec![u64::MAX; len.div_ceil(64)], len };
        if let Some(last) = mask.words.last_mut()
            && !len.is_multiple_of(64)
        {
            *last = (1 << (len % 64)) - 1;
        }
        mask
    }

    /// The rows for which something holds.
    pub fn of(len: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let mut word = |at: usize| {
            (at * 64..len.min(at * 64 + 64)).fold(0, |word, row| word | u64::from(holds(row)) << (row % 64))
        };
        Self { words: (0..len.div_ceil(64)).map(&mut word).collect(), len }
    }

    /// Number of rows, in the set or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no row is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns whether a row is in the set.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// Keeps the rows that are in another set too; whether any are left.
    pub fn keep(&mut self, other: &Mask) -> bool {
        let mut any = 0;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
            any |= *word;
        }
        any != 0
    }

    /// Puts a row into the set or takes it out.
    pub fn set(&mut self, row: usize, contained: bool) {
        let bit = 1 << (row % 64);
        if contained {
            self.words[row / 64] |= bit;
        } else {
            self.words[row / 64] &= !bit;
        }
    }

    /// Number of rows in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The first row from some row on that is in both sets.
    pub fn next_common(&self, other: &Mask, from: usize) -> Option<usize> {
        let first = from / 64;
        let (ours, theirs) = (self.words.get(first..)?, other.words.get(first..)?);
        let mut below = (1 << (from % 64)) - 1;
        for (at, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let word = a & b & !std::mem::take(&mut below);
            if word != 0 {
                return Some((first + at) * 64 + word.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Rows 64 to a word.
    pub fn word(&self, at: usize) -> u64 {
        self.words[at]
    }

    /// Adds the rows of a set of a part of them, which begins at a row whose number is a multiple of 64.
    pub fn put(&mut self, first: usize, part: &Mask) {
        self.words[first / 64..first / 64 + part.words.len()].copy_from_slice(&part.words);
    }

    /// The rows in the set, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

/// The truth of a condition in each row: true, false, error, or else undefined.
///
/// A value that is not a condition (a string, a list) counts as error, as it does for the operators of logic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowTruths {
    /// The rows for which it is true.
    pub yes: Mask,
    /// The rows for which it is false.
    pub no: Mask,
    /// The rows for which it is an error.
    pub error: Mask,
}

impl RowTruths {
    /// The truth of each row, given the truths of groups of rows.
    pub fn of_groups(groups: &[u32], truths: &[Truth]) -> Self {
        let len = groups.len();
        if let [truth] = truths {
            return Self::same(len, *truth);
        }
        let mut found = Self { yes: Mask::none(len), no: Mask::none(len), error: Mask::none(len) };
        // Two bits a group: 0 undefined, 1 true, 2 false, 3 error.
        let codes: Vec<u8> = truths.iter().map(|truth| code(*truth)).collect();
        for (at, chunk) in groups.chunks(64).enumerate() {
            let (mut low, mut high) = (0u64, 0u64);
            for (bit, group) in chunk.iter().enumerate() {
                let code = u64::from(codes[*group as usize]);
                low |= (code & 1) << bit;
                high |= (code >> 1) << bit;
            }
            found.yes.words[at] = low & !high;
            found.no.words[at] = high & !low;
            found.error.words[at] = low & high;
        }
        found
    }

    /// The same truth in every row.
    pub fn same(len: usize, truth: Truth) -> Self {
        let when = |is: u8| if code(truth) == is { Mask::all(len) } else { Mask::none(len) };
        Self { yes: when(1), no: when(2), error: when(3) }
    }

    /// The truth of a row; an error also for a value that is not a condition.
    pub fn of_row(&self, row: usize) -> Truth {
        match [self.yes.contains(row), self.no.contains(row), self.error.contains(row)] {
            [true, _, _] => Truth::True,
            [_, true, _] => Truth::False,
            [_, _, true] => Truth::Error,
            _ => Truth::Undefined,
        }
    }

    fn each(&self, other: &Self, combine: impl Fn([u64; 3], [u64; 3]) -> [u64; 3]) -> Self {
        let len = self.yes.len;
        let mut made = Self { yes: Mask::none(len), no: Mask::none(len), error: Mask::none(len) };
        for at in 0..self.yes.words.len() {
            let of = |truths: &Self| [truths.yes.words[at], truths.no.words[at], truths.error.words[at]];
            [made.yes.words[at], made.no.words[at], made.error.words[at]] = combine(of(self), of(other));
        }
        made
    }

    /// `self && right`
    #[must_use]
    pub fn and(&self, right: &Self) -> Self {
        self.each(right, |[t, f, e], [rt, rf, re]| [t & rt, f | (!e & rf), e | (!f & re)])
    }

    /// `self || right`
    #[must_use]
    pub fn or(&self, right: &Self) -> Self {
        self.each(right, |[t, f, e], [rt, rf, re]| [t | (!e & rt), f & rf, e | (!t & re)])
    }

    /// `!self`
    #[must_use]
    pub fn not(&self) -> Self {
        Self { yes: self.no.clone(), no: self.yes.clone(), error: self.error.clone() }
    }

    /// `self ? yes : no`
    #[must_use]
    pub fn choose(&self, yes: &Self, no: &Self) -> Self {
        let chosen = |condition: &Mask, of: &Self| {
            let keep = |mask: &Mask| {
                let mut kept = mask.clone();
                kept.keep(condition);
                kept
            };
            Self { yes: keep(&of.yes), no: keep(&of.no), error: keep(&of.error) }
        };
        let (first, second) = (chosen(&self.yes, yes), chosen(&self.no, no));
        let made = first.each(&second, |[t, f, e], [st, sf, se]| [t | st, f | sf, e | se]);
        made.each(self, |[t, f, e], [_, _, error]| [t, f, e | error])
    }
}

fn code(truth: Truth) -> u8 {
    match truth {
        Truth::Undefined => 0,
        Truth::True => 1,
        Truth::False => 2,
        Truth::Error | Truth::NotBoolean => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Truth; 4] = [Truth::True, Truth::False, Truth::Undefined, Truth::Error];

    fn of(truths: &[Truth]) -> RowTruths {
        let groups: Vec<u32> = (0..truths.len() as u32).collect();
        RowTruths::of_groups(&groups, truths)
    }

    #[test]
    fn logic_of_masks_is_logic_of_truths() {
        let pairs: Vec<(Truth, Truth)> = ALL.iter().flat_map(|a| ALL.iter().map(|b| (*a, *b))).collect();
        let left: Vec<Truth> = pairs.iter().map(|pair| pair.0).collect();
        let right: Vec<Truth> = pairs.iter().map(|pair| pair.1).collect();
        let each = |combine: &dyn Fn(Truth, Truth) -> Truth| -> Vec<Truth> {
            pairs.iter().map(|(a, b)| combine(*a, *b)).collect()
        };
        assert_eq!(of(&left).and(&of(&right)), of(&each(&Truth::and)));
        assert_eq!(of(&left).or(&of(&right)), of(&each(&Truth::or)));
        assert_eq!(of(&left).not(), of(&each(&|a, _| a.not())));
        let choose = |condition, yes: Truth| match condition {
            Truth::True => yes,
            Truth::False => Truth::False,
            other => other,
        };
        let no = of(&vec![Truth::False; left.len()]);
        assert_eq!(of(&left).choose(&of(&right), &no), of(&each(&choose)));
    }

    #[test]
    fn sets_hold_their_rows_and_no_others() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mask = Mask::of(len, |row| row % 3 == 0);
            assert_eq!(mask.rows().collect::<Vec<_>>(), (0..len).filter(|row| row % 3 == 0).collect::<Vec<_>>());
            assert_eq!((Mask::all(len).rows().count(), Mask::all(len).count()), (len, len));
            let mut both = Mask::all(len);
            assert_eq!(both.keep(&mask), len > 0);
            assert_eq!(both, mask);
        }
        let (mut twos, threes) = (Mask::of(200, |row| row % 2 == 0), Mask::of(200, |row| row % 3 == 0));
        let sixes = |set: &Mask| {
            std::iter::successors(set.next_common(&threes, 0), |at| set.next_common(&threes, at + 1))
                .collect::<Vec<_>>()
        };
        assert_eq!(sixes(&twos), (0..200).step_by(6).collect::<Vec<_>>());
        twos.set(6, false);
        twos.set(9, true);
        assert_eq!((twos.contains(6), sixes(&twos)[1], twos.next_common(&threes, 199)), (false, 9, None));
        assert_eq!((Mask::none(0).next_common(&Mask::none(0), 0), twos.next_common(&threes, 200)), (None, None));
        let mut whole = Mask::none(300);
        whole.put(128, &Mask::of(70, |row| row == 69));
        assert_eq!(whole.rows().collect::<Vec<_>>(), [197]);
    }

    #[test]
    fn rows_have_the_truth_of_their_group() {
        let truths = RowTruths::of_groups(&[1, 0, 1, 2], &[Truth::True, Truth::False, Truth::NotBoolean]);
        assert_eq!(truths.no.rows().collect::<Vec<_>>(), [0, 2]);
        assert_eq!((truths.yes.contains(1), truths.error.contains(3)), (true, true));
    }
}
