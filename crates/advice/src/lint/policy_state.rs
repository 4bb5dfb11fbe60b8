//! Policies of the access point that ask for a state in which they are not evaluated (HTCondor's `user_job_policy.cpp`, and
//! `DestroyProc` in its `qmgmt.cpp`).
//!
//! In: an expression and the state of its jobs. Out: a finding of the rule `never-true` for a clause that asks for another.

use super::expression::{LintContext, written};
use super::scope::Seen;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::{Diagnostic, Expr, Name};

/// The jobs for which a policy is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JobState {
    /// All jobs.
    #[default]
    Any,
    /// Jobs that are not removed.
    NotRemoved,
    /// Jobs that are not held, completed or removed.
    NotHeld,
    /// Held jobs, except those that their users held.
    Held,
    /// Jobs that run or are suspended.
    Running,
    /// Jobs that are completed or removed.
    Leaving,
    /// Jobs whose program just ended: they still count as running.
    Ending,
}

/// The value of `JobStatus` of a held job, and of `HoldReasonCode` of a job that its user held.
const HELD: i64 = 5;
/// The values of `JobStatus` of jobs that are removed, and of completed ones.
const REMOVED: i64 = 3;
const COMPLETED: i64 = 4;
const BY_USER: i64 = 1;

/// The finding about a clause that is never true when the policy is evaluated.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr) -> Option<Diagnostic> {
    let tree = expr.tree();
    tree.flattened(BinaryOp::And, expr.root()).into_iter().find_map(|id| {
        let Node::Binary(op, left, right) = *tree.node(tree.bare(id)) else { return None };
        let (why, help) = refuses(context.role.state, tree, (op, left, right))?;
        let span = tree.span(tree.bare(id))?;
        let message = format!("`{}` is never true here: {why}", written(context.text, span));
        Some(Diagnostic::warning(message, span).help(help).code("never-true"))
    })
}

/// The finding about a time since the start of a job, which is asked of idle jobs: those that never ran have no start.
pub(super) fn never_started(context: &LintContext<'_>, expr: &Expr) -> Option<Diagnostic> {
    /// Attributes that the access point gives jobs when they start (`schedd.cpp`).
    const STARTS: [&[u8]; 4] =
        [b"jobcurrentstartdate", b"jobcurrentstartexecutingdate", b"jobstartdate", b"shadowbday"];
    /// Attributes that jobs get, or that grow, when they run.
    const RUNS: [&[u8]; 19] = [
        b"committedtime",
        b"cumulativeremotesyscpu",
        b"cumulativeremoteusercpu",
        b"cumulativeslottime",
        b"joblaststartdate",
        b"jobruncount",
        b"lastjobstatus",
        b"lastremotehost",
        b"lastremotewallclocktime",
        b"lastvacatetime",
        b"numjobmatches",
        b"numjobreconnects",
        b"numjobstarts",
        b"numrestarts",
        b"numshadowstarts",
        b"remotesyscpu",
        b"remoteusercpu",
        b"remotewallclocktime",
        b"vacatereasoncode",
    ];
    const IDLE: i64 = 1;
    let tree = expr.tree();
    let is_of_job = context.role.mine == Seen::Job && context.role.other == Seen::Nothing;
    let clauses = tree.flattened(BinaryOp::And, expr.root());
    let is_number = |id: NodeId, wanted: i64| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Int(number)) if *number == wanted);
    let name = |id: NodeId| Some(tree.reference(tree.bare(id))?.name);
    let is_idle = |id: &NodeId| match *tree.node(tree.bare(*id)) {
        Node::Binary(BinaryOp::Equal | BinaryOp::Is, left, right) => {
            name(left).is_some_and(|name| name.folded() == b"jobstatus") && is_number(right, IDLE)
        }
        _ => false,
    };
    let asks_for_runs = |id: &NodeId| match *tree.node(tree.bare(*id)) {
        Node::Binary(BinaryOp::Equal | BinaryOp::Is, _, right) if is_number(right, 0) => false,
        _ => tree.references(*id).any(|one| RUNS.contains(&one.name.folded())),
    };
    if !is_of_job || !clauses.iter().any(is_idle) || clauses.iter().any(asks_for_runs) {
        return None;
    }
    clauses.iter().find_map(|clause| {
        let Node::Binary(op, left, right) = *tree.node(tree.bare(*clause)) else { return None };
        let is_start = |name: &Name| STARTS.contains(&name.folded());
        let start = [left, right].into_iter().find_map(|id| match *tree.node(tree.bare(id)) {
            Node::Binary(BinaryOp::Subtract, _, from) => name(from).filter(is_start),
            _ => None,
        })?;
        // A policy with another such attribute asks for jobs that ran.
        let asks = tree.references(expr.root()).filter(|one| is_start(&one.name)).count() > 1;
        if !op.is_comparison() || asks {
            return None;
        }
        let span = tree.span(*clause)?;
        let message = format!("an idle job that never ran has no `{start}`, so this is UNDEFINED for it");
        let help = "write `QDate`, when the job was submitted, or `EnteredCurrentStatus`, since when it is idle";
        Some(Diagnostic::warning(message, span).help(help).code("undefined-means-no"))
    })
}

/// The reason for which a comparison is false for all jobs in a state, and the help.
fn refuses(
    state: JobState,
    tree: &Tree,
    (op, left, right): (BinaryOp, NodeId, NodeId),
) -> Option<(&'static str, &'static str)> {
    let number = |id: NodeId| match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Int(number)) => Some(*number),
        _ => None,
    };
    let name = |id: NodeId| Some(tree.reference(tree.bare(id))?.name);
    let (name, value) = match (name(left), number(right)) {
        (Some(name), Some(value)) => (name, value),
        _ => (name(right)?, number(left)?),
    };
    let (equal, differs) =
        (matches!(op, BinaryOp::Equal | BinaryOp::Is), matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt));
    match (state, name.folded()) {
        (JobState::NotHeld, b"jobstatus") if equal && value == HELD => {
            Some(("held jobs are not held again", "remove the clause, or write `JobStatus != 5`"))
        }
        (JobState::NotRemoved | JobState::NotHeld, b"jobstatus") if equal && value == REMOVED => {
            Some(("it is not evaluated for removed jobs", "write 5 for held jobs, 2 for running ones"))
        }
        (JobState::NotHeld, b"jobstatus") if equal && value == COMPLETED => {
            Some(("completed jobs are not held", "write 2 for running jobs, or remove the clause"))
        }
        (JobState::Running, b"jobstatus") if equal && !matches!(value, 2 | 7) => {
            Some(("only running jobs are vacated", "remove the clause: `JobStatus` is 2"))
        }
        (JobState::Leaving, b"jobstatus") if equal && !matches!(value, 3 | 4) => {
            Some(("only completed and removed jobs leave the queue", "write `JobStatus == 4`"))
        }
        (JobState::Ending, b"jobstatus") if equal && !matches!(value, 2 | 6) => {
            Some(("it is evaluated when the program ends, while the job counts as running", "compare `ExitCode`"))
        }
        (JobState::Held, b"jobstatus") if equal && value != HELD || differs && value == HELD => {
            Some(("only held jobs are released", "remove the clause: `JobStatus` is 5"))
        }
        (JobState::Held, b"holdreasoncode") if equal && value == BY_USER => {
            Some(("jobs that their users held are not released", "compare `HoldReasonCode` with another reason"))
        }
        _ => None,
    }
}
