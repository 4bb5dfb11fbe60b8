//! The resources of a machine: their names and amounts.
//!
//! In: a slot ad. Out: names of attributes. Formula source: `docs/reference/negotiation.md` 10.9, 10.10.

use std::sync::LazyLock;

use crate::pool::ad_reader::AdReader;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::value::Value;

static LISTED: LazyLock<Name> = LazyLock::new(|| Name::new("MachineResources"));

/// The resources of a slot whose ad does not list any.
const USUAL: [&str; 3] = ["Cpus", "Memory", "Disk"];

/// The resources that a slot lists in `MachineResources`, without `Swap`; `None` if it does not have the list.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::resource::listed;
/// let slot = ClassAd::parse(b"[MachineResources = \"Cpus Memory, GPUs Swap\"]")?;
/// let names: Vec<String> = listed(&slot, &EvalOptions::default()).unwrap().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["Cpus", "Memory", "GPUs"]);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn listed(slot: &ClassAd, settings: &EvalOptions) -> Option<Vec<Name>> {
    let text = AdReader::of(slot, settings).string(*LISTED)?;
    let names = text.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|name| !name.is_empty());
    Some(names.filter(|name| !name.eq_ignore_ascii_case(b"Swap")).map(Name::new).collect())
}

/// The resources of a slot: those it lists, or else `Cpus`, `Memory` and `Disk`.
pub fn resources(slot: &ClassAd, settings: &EvalOptions) -> Vec<Name> {
    listed(slot, settings).unwrap_or_else(|| USUAL.map(Name::new).to_vec())
}

/// An amount as a value: whole numbers stay integers.
pub fn amount(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9.0e15 { Value::Int(number as i64) } else { Value::Real(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_lists_nothing_has_the_usual_resources() {
        let settings = EvalOptions::default();
        let names = |text: &[u8]| -> Vec<String> {
            resources(&ClassAd::parse(text).unwrap(), &settings).iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(b"[]"), ["Cpus", "Memory", "Disk"]);
        assert_eq!(names(b"[MachineResources = \"Cpus\"]"), ["Cpus"]);
        assert_eq!(listed(&ClassAd::new(), &settings), None);
    }

    #[test]
    fn whole_amounts_are_integers() {
        assert!(matches!(amount(2.0), Value::Int(2)));
        assert!(matches!(amount(2.5), Value::Real(2.5)));
        assert!(matches!(amount(1e300), Value::Real(1e300)));
    }
}
