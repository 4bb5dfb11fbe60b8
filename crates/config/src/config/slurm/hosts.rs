//! Lists of hosts as `slurm.conf` writes them: `node[01-16,20],login`.

use serde::{Deserialize, Serialize};

/// A list of hosts, kept as its patterns: `n[1-1000000]` costs no more than `n1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostList(Vec<String>);

impl HostList {
    /// Reads a list; it is not checked.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::HostList;
    /// let hosts = HostList::parse("n[01-16,20]x,login");
    /// assert!(hosts.contains("n07x") && hosts.contains("login"));
    /// assert!(!hosts.contains("n7x") && !hosts.contains("n17x"));
    /// assert!(HostList::parse("ALL").contains("any"));
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut depth = 0usize;
        let hosts = text.split(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        Self(hosts.map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect())
    }

    /// Returns true if every bracket of a text is closed, and none is inside another.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::HostList;
    /// assert!(HostList::is_balanced("a[1-2],b[3]") && !HostList::is_balanced("a[1-2") &&
    /// !HostList::is_balanced("a]"));
    /// ```
    pub fn is_balanced(text: &str) -> bool {
        let mut open = false;
        let fits = text.bytes().all(|byte| match byte {
            b'[' => !std::mem::replace(&mut open, true),
            b']' => std::mem::replace(&mut open, false),
            _ => true,
        });
        fits && !open
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the hosts, at most 65,536 of each pattern.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::HostList;
    /// assert_eq!(HostList::parse("n[08-10],r[1-2]x[3]").names(), ["n08", "n09", "n10", "r1x3", "r2x3"]);
    /// ```
    pub fn names(&self) -> Vec<String> {
        self.0.iter().flat_map(|pattern| expand(pattern)).collect()
    }

    /// Returns true if a host is in the list, by its whole name or by that before the first dot.
    pub fn contains(&self, host: &str) -> bool {
        let short = host.split('.').next().unwrap_or(host);
        self.0
            .iter()
            .any(|pattern| pattern.eq_ignore_ascii_case("ALL") || covers(pattern, host) || covers(pattern, short))
    }
}

/// The largest number of names that a pattern gives: Slurm's own limit of hosts in a range.
const MAX_NAMES: usize = 65_536;

/// The names that a pattern gives, in the order of its ranges.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('[') else { return vec![pattern.to_owned()] };
    let Some((ranges, after)) = rest.split_once(']') else { return Vec::new() };
    let tails = expand(after);
    let numbers = ranges.split(',').filter_map(|range| {
        let (first, last) = range.trim().split_once('-').unwrap_or((range.trim(), range.trim()));
        let (from, to) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        Some((from..=to).map(|number| format!("{number:0width$}", width = first.len())))
    });
    let names = numbers.flatten().flat_map(|number| tails.iter().map(move |tail| format!("{before}{number}{tail}")));
    names.take(MAX_NAMES).collect()
}

/// Returns true if a pattern with any number of bracketed ranges covers a name.
fn covers(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    while let Some((before, rest)) = pattern.split_once('[') {
        let Some((ranges, after)) = rest.split_once(']') else { return false };
        let Some(tail) = name.strip_prefix(before) else { return false };
        let digits = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = tail.split_at(digits);
        if !ranges.split(',').any(|range| in_range(range.trim(), number)) {
            return false;
        }
        (pattern, name) = (after, tail);
    }
    pattern == name
}

/// Returns true if a number is in a range, padded as its beginning is.
fn in_range(range: &str, number: &str) -> bool {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let padded = number.len() == first.len() || (number.len() > first.len() && !number.starts_with('0'));
    let value = |digits: &str| digits.parse::<u64>().ok();
    match (value(first), value(number), value(last)) {
        (Some(first), Some(number), Some(last)) => padded && (first..=last).contains(&number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_padding() {
        let hosts = HostList::parse("a[1-3,8-11],b[08-12]");
        let inside = |name: &str| hosts.contains(name);
        assert!(["a1", "a3", "a8", "a10", "b08", "b10", "b12"].into_iter().all(inside));
        assert!(!["a4", "a01", "a12", "b8", "b13", "b", "a", "a1b"].into_iter().any(inside));
    }

    #[test]
    fn a_domain_may_be_left_out_and_several_ranges_may_follow() {
        assert!(HostList::parse("r[1-2]n[01-04]").contains("r2n03.example.org"));
        assert!(!HostList::parse("r[1-2]n[01-04]").contains("r3n03"));
        assert!(!HostList::parse("r[1-2").contains("r1"));
    }
}
