//! Weights of factors and of trackable resources.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 2, 2.4.

use serde::{Deserialize, Serialize};

/// The weights of the factors; 0 unless set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    /// `PriorityWeightAge`.
    pub age: u32,
    /// `PriorityWeightAssoc`.
    pub association: u32,
    /// `PriorityWeightFairshare`.
    pub fair_share: u32,
    /// `PriorityWeightJobSize`.
    pub job_size: u32,
    /// `PriorityWeightPartition`.
    pub partition: u32,
    /// `PriorityWeightQOS`.
    pub qos: u32,
}

/// A number for each of some trackable resources, such as `cpu`, `mem` (in MB), `gres/gpu`; in the order given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TresWeights(pub Vec<(String, f64)>);

impl TresWeights {
    /// Reads `type[/name]=number[unit],…`; a unit divides the number.
    ///
    /// # Errors
    /// The items of the list that are not valid, in words.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::TresWeights;
    /// let weights = TresWeights::parse("CPU=1000,Mem=0.25G").unwrap();
    /// assert_eq!(weights.of("cpu"), 1000.0);
    /// assert_eq!(weights.of("mem"), 0.25 / 1024.0);
    /// assert_eq!(weights.of("node"), 0.0);
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let weight = |item: &str| {
            let (name, number, unit) = parts(item, |c| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'))?;
            let divisor = divisor(&name, unit).filter(|_| !name.is_empty())?;
            Some((name, number / divisor))
        };
        let wrong = |item: &str| format!("expected `resource=number`, found `{item}`");
        items(text).map(|item| weight(item).ok_or_else(|| wrong(item))).collect::<Result<_, _>>().map(Self)
    }

    /// Reads the licenses of a cluster, `name[:count],…`; one of each without a count.
    pub fn licenses(text: &str) -> Option<Self> {
        let license = |item: &str| {
            let (name, count) = item.split_once([':', '=']).unwrap_or((item, "1"));
            let count: u32 = count.trim().parse().ok()?;
            Some((format!("license/{}", name.trim().to_ascii_lowercase()), f64::from(count)))
        };
        text.split(';').flat_map(items).map(license).collect::<Option<_>>().map(Self)
    }

    /// Reads amounts of resources, `name=amount[unit],…`, as Slurm prints those of a job: a unit multiplies the amount,
    /// and memory is in MB.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::TresWeights;
    /// let amounts = TresWeights::amounts("cpu=2,mem=1.5G,license/lic=4").unwrap();
    /// assert_eq!((amounts.of("mem"), amounts.of("license/lic")), (1536.0, 4.0));
    /// ```
    pub fn amounts(text: &str) -> Option<Self> {
        let amount = |item: &str| {
            let (name, number, unit) = parts(item, |c| c.is_ascii_alphabetic())?;
            let unit = multiplier(&name, unit)?;
            Some((name, number * unit))
        };
        items(text).map(amount).collect::<Option<_>>().map(Self)
    }

    /// Reads the generic resources of a node, `name[:type]:count[unit][(where)],…`, as `gres/name`. The counts of all types of
    /// a resource are added; one of a resource without a count.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::TresWeights;
    /// let node = TresWeights::generic("gpu:a100:2(S:0-1),gpu:t4:1,shard:8");
    /// assert_eq!((node.of("gres/gpu"), node.of("gres/shard")), (3.0, 8.0));
    /// ```
    pub fn generic(text: &str) -> Self {
        let mut found: Vec<(String, f64)> = Vec::new();
        // What is in parentheses has commas of its own.
        let mut depth = 0usize;
        let plain: String = text
            .chars()
            .filter(|c| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => return depth == 0,
                }
                false
            })
            .collect();
        for item in items(&plain).filter(|item| *item != "null") {
            let mut words = item.split(':');
            let Some(name) = words.next().filter(|name| !name.is_empty()) else { continue };
            let name = format!("gres/{}", name.to_ascii_lowercase());
            let count = words.next_back().and_then(|count| {
                let (number, unit) =
                    count.split_at(count.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(count.len()));
                Some(number.parse::<f64>().ok()? * multiplier(&name, unit)?)
            });
            let count = count.unwrap_or(1.0);
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => found.push((name, count)),
            }
        }
        Self(found)
    }

    /// Returns true if a resource is among them.
    pub fn has(&self, resource: &str) -> bool {
        self.0.iter().any(|(name, _)| name == resource)
    }

    /// The number of a resource, 0 if it has none.
    pub fn of(&self, resource: &str) -> f64 {
        self.0.iter().rev().find(|(name, _)| name == resource).map_or(0.0, |(_, number)| *number)
    }

    /// The names that are not resources of Slurm, in their order: their numbers count nothing.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::TresWeights;
    /// assert_eq!(TresWeights::parse("CPU=1,Foo=3,gres/gpu=2").unwrap().unknown(), ["foo"]);
    /// ```
    pub fn unknown(&self) -> Vec<&str> {
        let of_kind = |name: &str| KINDS.iter().any(|kind| name.strip_prefix(kind).is_some_and(|own| !own.is_empty()));
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.filter(|name| !RESOURCES.contains(name) && !of_kind(name)).collect()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The resources that Slurm always tracks.
pub(super) const RESOURCES: [&str; 9] =
    ["cpu", "mem", "node", "billing", "energy", "fs/disk", "fs/lustre", "vmem", "pages"];

/// Prefixes of other resources.
const KINDS: [&str; 5] = ["gres/", "license/", "bb/", "ic/", "fs/"];

/// The items of a list.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// The name, number and unit of an item.
fn parts(item: &str, of_unit: impl Fn(char) -> bool) -> Option<(String, f64, &str)> {
    let (name, number) = item.split_once('=')?;
    let (number, unit) = number.split_at(number.find(of_unit).unwrap_or(number.len()));
    let number = number.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    Some((name.trim().to_ascii_lowercase(), number, unit))
}

/// The factor of the unit of an amount.
fn multiplier(resource: &str, unit: &str) -> Option<f64> {
    let below = resource == "mem" && unit.trim().eq_ignore_ascii_case("K");
    if below { Some(1.0 / 1024.0) } else { divisor(resource, unit) }
}

/// The divisor of a unit: 1024 for each step above that of the resource (MB for memory, one for the others).
fn divisor(resource: &str, unit: &str) -> Option<f64> {
    let step = match unit.trim().to_ascii_uppercase().as_str() {
        "" => return Some(1.0),
        "K" | "KB" => 1,
        "M" | "MB" => 2,
        "G" | "GB" => 3,
        "T" | "TB" => 4,
        "P" | "PB" => 5,
        _ => return None,
    };
    let base = i32::from(resource == "mem") * 2;
    // A unit below that of the resource counts as that.
    Some(1024f64.powi((step - base).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_divide_relative_to_that_of_the_resource() {
        let weights = TresWeights::parse("cpu=1.0, Mem=2T,GRES/gpu=3k").unwrap();
        let expected = [("cpu", 1.0), ("mem", 2.0 / 1024.0 / 1024.0), ("gres/gpu", 3.0 / 1024.0)];
        assert_eq!(weights.0, expected.map(|(name, number)| (name.to_owned(), number)));
    }

    #[test]
    fn what_is_no_item_is_told() {
        assert_eq!(TresWeights::parse("cpu"), Err("expected `resource=number`, found `cpu`".to_owned()));
        for text in ["cpu=x", "cpu=1Q", "=1", "cpu=-1", "cpu=inf"] {
            assert!(TresWeights::parse(text).is_err(), "{text}");
        }
    }
}
