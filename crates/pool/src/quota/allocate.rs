//! Allocates a round: to each group its quota as far as it needs it, then surplus.
//!
//! Bottom up: a group takes what it needs of its quota and leaves the rest in the pot of its level, where it and
//! the groups directly below it that accept surplus compete by quota; what is left there goes up.
//! Formula source: `docs/reference/group-quotas.md` 5.1, 5.2.

use super::grant::Grant;
use super::tree::GroupTree;

/// A group while a round is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct AllocationState {
    /// Its own quota.
    pub(super) quota: f64,
    /// The quota of it and all below it.
    pub(super) subtree_quota: f64,
    /// All its demand between rounds; unmet demand in a round.
    pub(super) requested: f64,
    /// Unmet demand of it and those below that accept surplus.
    pub(super) subtree_requested: f64,
    /// Weighted slots allocated so far.
    pub(super) allocated: f64,
    /// It won a remainder in this round.
    pub(super) served: bool,
}

/// One who takes part in sharing a pot.
pub(super) struct Member {
    pub(super) group: usize,
    /// True if this group owns the pot, and not one below it.
    pub(super) own: bool,
    pub(super) want: f64,
    pub(super) weight: f64,
    pub(super) given: f64,
}

/// Fills `allocated`, leaves unmet demand in `requested`, and records the derivation in `grants`. Returns the quota
/// that no group requested.
pub(super) fn fair_share(tree: &GroupTree, states: &mut [AllocationState], grants: &mut [Grant]) -> f64 {
    let mut left = vec![0.0; states.len()];
    // Children come after their parents: in reverse order all groups below are done first.
    for at in (0..states.len()).rev() {
        let state = &mut states[at];
        state.allocated = state.requested.min(state.quota);
        grants[at].fair = state.allocated;
        state.requested -= state.allocated;
        let mut wanted = state.requested;
        let mut pot = state.quota - state.allocated;
        grants[at].spare = pot;
        let children = tree.groups()[at].children.clone();
        let leaf = children.is_empty();
        for child in children {
            pot += left[child];
            if tree.groups()[child].accepts_surplus {
                wanted += states[child].subtree_requested;
            }
        }
        states[at].subtree_requested = wanted;
        grants[at].level.pot = pot;
        grants[at].level.wanted = wanted;
        left[at] = if leaf { pot } else { share(tree, states, grants, at, pot) };
        grants[at].level.passed_up = left[at];
    }
    left.first().copied().unwrap_or(0.0)
}

/// Shares a pot between a group and those below it. Returns what is left.
fn share(tree: &GroupTree, states: &mut [AllocationState], grants: &mut [Grant], origin: usize, pot: f64) -> f64 {
    let mut left = 0.0;
    let mut pending = vec![(origin, pot)];
    let mut members = Vec::new();
    while let Some((group, mut surplus)) = pending.pop() {
        let mut wanted = states[group].subtree_requested;
        if surplus > 0.0 && wanted > 0.0 {
            gather(tree, states, group, &mut members);
            let weights = if surplus >= wanted {
                for member in &mut members {
                    member.given = std::mem::take(&mut member.want);
                }
                surplus -= wanted;
                wanted = 0.0;
                0.0
            } else {
                let weights = distribute(&mut members, &mut surplus, &mut wanted, |member| member.weight);
                // Only if all weights are 0, or those who have some have enough.
                distribute(&mut members, &mut surplus, &mut wanted, |_| 1.0);
                weights
            };
            if group == origin {
                grants[group].level.weights = weights;
            }
            for member in members.iter().filter(|member| member.given > 0.0) {
                if member.own {
                    states[group].allocated += member.given;
                    states[group].requested -= member.given;
                    grants[group].take(origin, member.given);
                } else {
                    pending.push((member.group, member.given));
                }
            }
            states[group].subtree_requested = wanted;
        }
        // What a group below gets it can use: only at the top something may be left.
        if group == origin {
            left = surplus.max(0.0);
        }
    }
    left
}

/// Those who take part in sharing a group's pot: those below it, then itself.
pub(super) fn gather(tree: &GroupTree, states: &[AllocationState], group: usize, members: &mut Vec<Member>) {
    members.clear();
    for child in tree.groups()[group].children.clone() {
        let state = &states[child];
        let want = if tree.groups()[child].accepts_surplus { state.subtree_requested.max(0.0) } else { 0.0 };
        members.push(Member { group: child, own: false, want, weight: state.subtree_quota, given: 0.0 });
    }
    let AllocationState { requested, quota, .. } = states[group];
    members.push(Member { group, own: true, want: requested.max(0.0), weight: quota, given: 0.0 });
}

/// Gives each group a part by weight, capped by its demand, until there is no surplus or no demand left. Returns the
/// sum of the weights of the first pass.
fn distribute(members: &mut [Member], surplus: &mut f64, wanted: &mut f64, weight: impl Fn(&Member) -> f64) -> f64 {
    let mut first = None;
    while *surplus > 0.0 {
        let asking = members.iter().filter(|member| member.want > 0.0);
        let sum: f64 = asking.map(&weight).fold(0.0, |sum, weight| sum + weight);
        first.get_or_insert(sum);
        if sum <= 0.0 {
            break;
        }
        let (mut given, mut capped) = (0.0, false);
        for member in members.iter_mut().filter(|member| member.want > 0.0) {
            let part = *surplus * (weight(member) / sum);
            capped |= part > member.want;
            let part = part.min(member.want);
            member.given += part;
            member.want -= part;
            given += part;
        }
        *surplus -= given;
        *wanted -= given;
        // What is left then is the dust of rounding.
        if !capped || *surplus < 0.0 {
            *surplus = 0.0;
        }
    }
    first.unwrap_or(0.0)
}
