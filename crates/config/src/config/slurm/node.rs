//! The nodes of a `slurm.conf`.

use serde::{Deserialize, Serialize};

use super::conf::Pairs;
use super::{HostList, TresWeights};

/// The nodes of a `NodeName` line, which are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeLine {
    /// Their names.
    pub hosts: HostList,
    /// CPUs of each: `CPUs`, otherwise the product of boards, sockets, cores and threads.
    pub cpus: u64,
    /// `RealMemory` of each, in MB.
    pub memory: u64,
    /// Generic resources of each, as `gres/NAME`.
    pub generic: TresWeights,
    /// True if they do not exist yet (`State=FUTURE`): Slurm counts them all the same.
    pub future: bool,
}

impl NodeLine {
    /// Reads the pairs of a line, with those of the `DEFAULT` lines before it.
    ///
    /// # Errors
    /// A name, its value, and the expected form.
    pub(super) fn read(pairs: &Pairs) -> Result<Self, (String, String, &'static str)> {
        let number = |names: &[&str]| -> Result<Option<u64>, (String, String, &'static str)> {
            let Some((shown, value)) = names.iter().find_map(|name| pairs.get(*name)) else { return Ok(None) };
            let wrong = |_| (shown.clone(), value.clone(), "a number");
            value.parse().map(Some).map_err(wrong)
        };
        let mut product: u64 = 1;
        for names in [&["boards"][..], &["sockets", "socketsperboard"], &["corespersocket"], &["threadspercore"]] {
            product = product.saturating_mul(number(names)?.unwrap_or(1));
        }
        let text = |name: &str| pairs.get(name).map_or("", |(_, value)| value);
        Ok(Self {
            hosts: HostList::parse(text("nodename")),
            cpus: number(&["cpus", "procs"])?.unwrap_or(product),
            memory: number(&["realmemory"])?.unwrap_or(1),
            generic: TresWeights::generic(text("gres")),
            future: text("state").eq_ignore_ascii_case("FUTURE"),
        })
    }
}
