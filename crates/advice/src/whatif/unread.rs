//! Attributes that a change sets although no cycle looks at them.

use hashbrown::HashSet;

use classmate::internal::builtin::near::closest;
use classmate::internal::program::mentions::Mentions;
use classmate::{ClassAd, Expr, Name};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::needed::mentioned;
use classmate_pool::internal::pool::attribute;

/// Attributes of jobs that access points and the negotiator use themselves, and that no list of known attributes has.
const ASKED_OF_JOBS: [&str; 7] = [
    "JobMaterializeDigestFile",
    "JobMaterializeLimit",
    "PostJobPrio1",
    "PostJobPrio2",
    "PreJobPrio1",
    "PreJobPrio2",
    "WantMatchDiagnostics",
];

/// The attributes of jobs and slots that a cycle under HTCondor's policy may look at.
#[derive(Debug)]
pub struct ReadAttributes {
    mentioned: HashSet<Name>,
}

impl ReadAttributes {
    /// The attributes of a pool, and those of an expression that replaces run times; `None` if they cannot be foreseen.
    pub fn of(snapshot: &Snapshot, run_time: Option<&Expr>) -> Option<Self> {
        let mut mentioned = mentioned(snapshot)?;
        mentioned.extend(run_time.into_iter().flat_map(|expr| Mentions::of(expr.tree()).names));
        Some(ReadAttributes { mentioned })
    }

    /// Tests whether a cycle may look at an attribute: an expression refers to it, or HTCondor knows it.
    pub fn contains(&self, name: Name) -> bool {
        let folded = name.folded();
        self.mentioned.contains(&name)
            || attribute::find(folded).is_some()
            || ASKED_OF_JOBS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(folded))
            // Of the dynamic slots in a partitionable one, and of its consumption policy.
            || [&b"child"[..], b"consumption"].iter().any(|start| folded.starts_with(start))
    }

    /// The attribute that a name may be a slip of.
    pub fn similar(&self, name: Name) -> Option<String> {
        let known = attribute::all().iter().map(|known| known.name.to_owned());
        closest(name.as_bytes(), self.mentioned.iter().map(Name::to_string).chain(known))
    }
}

/// The attribute of some ads that a name in a condition may be a slip of, if none of them has it.
pub fn slip(condition: &Expr, ads: &[ClassAd]) -> Option<String> {
    let known: HashSet<Name> = ads.iter().flat_map(|ad| ad.lineage().flat_map(ClassAd::names)).collect();
    let missing = Mentions::of(condition.tree()).names.into_iter().filter(|name| !known.contains(name));
    missing.into_iter().find_map(|name| closest(name.as_bytes(), known.iter().map(Name::to_string)))
}
