//! Attributes that an expression looks for in the wrong ad: `MY.RequestCpus` in a slot, `TARGET.LoadAvg` of a job.

use super::attributes::only_in;
use super::expression::{LintContext, written};
use classmate::Diagnostic;
use classmate::internal::syntax::expr::{NodeId, Tree};
use classmate::internal::syntax::view::{RefScope, Reference};

/// An ad that an expression sees as MY or TARGET.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Seen {
    /// It is not known.
    #[default]
    Anything,
    /// A job.
    Job,
    /// A slot.
    Slot,
    /// An access point.
    Scheduler,
    /// There is none.
    Nothing,
}

impl Seen {
    fn word(self) -> Option<&'static str> {
        match self {
            Seen::Job => Some("job"),
            Seen::Slot => Some("slot"),
            Seen::Scheduler => Some("scheduler"),
            Seen::Anything | Seen::Nothing => None,
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Seen::Job => "the job",
            Seen::Slot => "the slot",
            Seen::Scheduler => "the access point",
            Seen::Anything | Seen::Nothing => "nothing",
        }
    }
}

/// Attributes of slots, lower case, that access points have too (the manual's page of their attributes).
const OF_BOTH: [&[u8]; 10] = [
    b"daemoncoredutycycle",
    b"detectedcpus",
    b"detectedmemory",
    b"machine",
    b"monitorselfage",
    b"monitorselfcpuusage",
    b"monitorselfimagesize",
    b"monitorselfresidentsetsize",
    b"monitorselftime",
    b"virtualmemory",
];

/// The owner of `MY.HasFpga` in the Requirements of a job: slots advertise with such names what they have. A job has none of them unless
/// its submit file, or the configuration, gives it one.
fn of_capability(context: &LintContext<'_>, reference: Reference) -> Option<&'static str> {
    let (name, role) = (reference.name, context.role);
    let is_in_job = role.mine == Seen::Job && role.other == Seen::Slot && reference.scope == RefScope::My;
    let shown = name.display();
    let is_capability =
        shown.strip_prefix("Has").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()));
    let is_given = (context.given)(name) || context.schema.is_some_and(|schema| schema.has(name));
    (is_in_job && is_capability && !is_given).then_some("slot")
}

/// A reference to an attribute that the ad it looks in never has.
pub(super) fn unseen(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (mine, other) = (context.role.mine, context.role.other);
    if mine == Seen::Anything {
        return None;
    }
    let reference = tree.reference(id)?;
    if reference.scope == RefScope::Target && other == Seen::Nothing {
        let span = tree.span(id)?;
        let message =
            format!("`{}` is UNDEFINED: the expression is evaluated in a single ad", written(context.text, span));
        let help = "there is no TARGET ad; write the name without `TARGET.`";
        return Some(Diagnostic::warning(message, span).help(help).code("unseen-attribute"));
    }
    let owner = only_in(reference.name.folded()).or_else(|| of_capability(context, reference))?;
    let ours = reference.scope != RefScope::Target && (context.defined)(reference.name);
    let has = |seen: Seen| seen == Seen::Scheduler && OF_BOTH.contains(&reference.name.folded());
    let lacks = |seen: Seen| seen == Seen::Nothing || seen.word().is_some_and(|word| word != owner && !has(seen));
    let missed = match reference.scope {
        RefScope::My => lacks(mine),
        RefScope::Target => lacks(other),
        RefScope::Either => other != Seen::Anything && lacks(mine) && lacks(other),
    };
    if ours || !missed {
        return None;
    }
    let span = tree.span(id)?;
    let shown = written(context.text, span);
    let seen = if reference.scope == RefScope::Target { other } else { mine };
    let message = format!("`{shown}` is UNDEFINED: `{}` is not an attribute of {}", reference.name, seen.shown());
    let help = match (reference.scope, mine, other) {
        (RefScope::My, _, other) if other.word() == Some(owner) => format!("write `TARGET.{}`", reference.name),
        (RefScope::Target, mine, _) if mine.word() == Some(owner) => format!("write `MY.{}`", reference.name),
        _ => {
            let whose = if owner == "scheduler" { "access points" } else { owner };
            format!("only the ads of {whose}{} have it", if owner == "scheduler" { "" } else { "s" })
        }
    };
    Some(Diagnostic::warning(message, span).help(help).code("unseen-attribute"))
}
