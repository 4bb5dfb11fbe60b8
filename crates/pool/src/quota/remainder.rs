//! Without slot weights a grant is a whole number of slots: fractions are collected and dealt as single slots, to those
//! first who were served longest ago.
//!
//! Formula source: `docs/reference/group-quotas.md` 5.3.

use super::allocate::{AllocationState, Member, gather};
use super::grant::Grant;
use super::tree::GroupTree;
use crate::introsort;

/// Rounds all grants to whole slots. `last_served` is the time at which each group last won a slot this way or had no
/// demand. Returns the remainder that could not be dealt.
pub(super) fn recover(
    tree: &GroupTree,
    states: &mut [AllocationState],
    grants: &mut [Grant],
    last_served: &[f64],
) -> f64 {
    let mut oldest = vec![f64::INFINITY; states.len()];
    let mut left = vec![0.0; states.len()];
    for at in (0..states.len()).rev() {
        let state = &mut states[at];
        let fraction = state.allocated - state.allocated.floor();
        state.allocated = (state.allocated - fraction).round();
        state.requested = (state.requested + fraction).round();
        state.subtree_requested = state.requested;
        let wants = state.requested > 0.0;
        grants[at].rounding = -fraction;
        oldest[at] = if wants { last_served[at] } else { f64::INFINITY };
        let mut surplus = fraction;
        let children = tree.groups()[at].children.clone();
        if children.is_empty() {
            left[at] = surplus;
            continue;
        }
        for child in children {
            surplus += left[child];
            if tree.groups()[child].accepts_surplus {
                states[at].subtree_requested += states[child].subtree_requested;
                if states[child].subtree_requested > 0.0 {
                    oldest[at] = oldest[at].min(oldest[child]);
                }
            }
        }
        left[at] = deal(tree, states, grants, (&oldest, last_served), at, surplus);
    }
    left.first().copied().unwrap_or(0.0)
}

/// Deals whole slots between a group and those below it. Returns what is left.
fn deal(
    tree: &GroupTree,
    states: &mut [AllocationState],
    grants: &mut [Grant],
    (oldest, last_served): (&[f64], &[f64]),
    origin: usize,
    slots: f64,
) -> f64 {
    let mut left = slots;
    let mut pending = vec![(origin, slots)];
    let mut members: Vec<Member> = Vec::new();
    while let Some((group, mut surplus)) = pending.pop() {
        states[group].subtree_requested = states[group].subtree_requested.floor();
        let mut wanted = states[group].subtree_requested;
        if wanted <= 0.0 || surplus < 1.0 {
            continue;
        }
        gather(tree, states, group, &mut members);
        let time = |member: &Member| if member.own { last_served[group] } else { oldest[member.group] };
        introsort::sort(&mut members, |a, b| {
            time(a).total_cmp(&time(b)).then(b.weight.total_cmp(&a.weight)).then(b.want.total_cmp(&a.want)).is_lt()
        });
        let mut asking = members.iter().filter(|member| member.want > 0.0).count();
        while surplus >= 1.0 && wanted > 0.0 {
            let most = (surplus / asking as f64).floor().max(1.0);
            asking = 0;
            let mut given = 0.0;
            for member in members.iter_mut().filter(|member| member.want > 0.0) {
                let part = member.want.min(most);
                member.given += part;
                states[member.group].served = true;
                member.want -= part;
                given += part;
                surplus -= part;
                wanted -= part;
                asking += usize::from(member.want > 0.0);
                if surplus < most {
                    break;
                }
            }
            if given < 1.0 {
                break;
            }
        }
        for member in members.iter().filter(|member| member.given > 0.0) {
            if member.own {
                states[group].allocated += member.given;
                states[group].requested -= member.given;
                grants[group].rounding += member.given;
            } else {
                pending.push((member.group, member.given));
            }
        }
        states[group].subtree_requested = wanted;
        if group == origin {
            left = surplus;
        }
    }
    left
}
