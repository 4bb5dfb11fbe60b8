//! Grants from the bottom up: each group first gets what it asks for within its quota; what is left goes to those that
//! accept it, level by level.
//!
//! Formula source: `group-quotas.md` §5.

use super::assign::Quota;
use super::tree::GroupTree;

/// What a group asks for and gets, in weighted slots.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Claim {
    /// What it asks for, running jobs included; after the allocation what of that it did not get.
    pub requested: f64,
    /// What it gets.
    pub allocated: f64,
    /// What of the allocation is beyond its own quota.
    pub surplus: f64,
    /// Whether it got a slot in turn, when slots are counted and not weighed.
    pub served: bool,
    /// What its subtree asks for and did not get, as far as groups accept surplus.
    subtree_requested: f64,
    /// When the one in its subtree that waits longest was served last.
    waits_since: f64,
}

impl Claim {
    /// A claim for so much, running jobs included.
    pub fn of(requested: f64) -> Self {
        Claim { requested, ..Claim::default() }
    }
}

/// Allocates in place. `last_served` is when each group was last served in turn: given when slots are counted and not
/// weighed, so that whole slots go to those who wait longest. Returns the surplus nobody took.
pub fn allocate(tree: &GroupTree, quotas: &[Quota], claims: &mut [Claim], last_served: Option<&[f64]>) -> f64 {
    for claim in claims.iter_mut() {
        *claim = Claim::of(claim.requested);
    }
    let mut allocation = Allocation { tree, quotas, claims, last_served: last_served.unwrap_or_default() };
    let mut surplus = allocation.fair_shares();
    if last_served.is_some() {
        surplus = allocation.whole_slots();
    }
    for (claim, quota) in claims.iter_mut().zip(quotas) {
        claim.surplus = f64::max(claim.allocated - quota.own, 0.0);
    }
    surplus
}

struct Allocation<'a> {
    tree: &'a GroupTree,
    quotas: &'a [Quota],
    claims: &'a mut [Claim],
    last_served: &'a [f64],
}

/// Deals a surplus in a group; what groups below get is pushed, to be dealt there.
type Deal<A> = fn(&mut A, usize, f64, &mut Vec<(usize, f64)>) -> f64;

/// One who competes for a surplus: a group below, or the group itself.
struct Member {
    at: usize,
    want: f64,
    weight: f64,
    given: f64,
    /// When it was last served in turn.
    since: f64,
}

impl Allocation<'_> {
    /// Each group within its quota; then what is left, from the lowest level up (§5.1).
    fn fair_shares(&mut self) -> f64 {
        let mut left = vec![0.0; self.claims.len()];
        for at in (0..self.claims.len()).rev() {
            let node = &self.tree.nodes()[at];
            let quota = self.quotas[at].own;
            let claim = &mut self.claims[at];
            claim.allocated = f64::min(claim.requested, quota);
            claim.requested -= claim.allocated;
            let mut surplus = quota - claim.allocated;
            let mut asked = claim.requested;
            for &child in &node.children {
                surplus += left[child];
                if self.tree.nodes()[child].group.accepts_surplus {
                    asked += self.claims[child].subtree_requested;
                }
            }
            self.claims[at].subtree_requested = asked;
            left[at] = if node.children.is_empty() { surplus } else { self.descend(at, surplus, Self::share) };
        }
        left.first().copied().unwrap_or(0.0)
    }

    /// Whole slots only: the fractions are collected and dealt in turn (§5.3).
    fn whole_slots(&mut self) -> f64 {
        let mut left = vec![0.0; self.claims.len()];
        for at in (0..self.claims.len()).rev() {
            let node = &self.tree.nodes()[at];
            let claim = &mut self.claims[at];
            let fraction = claim.allocated - claim.allocated.floor();
            claim.allocated = (claim.allocated - fraction).round();
            claim.requested = (claim.requested + fraction).round();
            let mut asked = claim.requested;
            let mut since = if claim.requested > 0.0 { self.last_served[at] } else { f64::INFINITY };
            let mut surplus = fraction;
            for &child in &node.children {
                surplus += left[child];
                let below = &self.claims[child];
                if self.tree.nodes()[child].group.accepts_surplus {
                    asked += below.subtree_requested;
                    if below.subtree_requested > 0.0 {
                        since = f64::min(since, below.waits_since);
                    }
                }
            }
            (self.claims[at].subtree_requested, self.claims[at].waits_since) = (asked, since);
            left[at] = if node.children.is_empty() { surplus } else { self.descend(at, surplus, Self::in_turn) };
        }
        left.first().copied().unwrap_or(0.0)
    }

    /// Deals a surplus among a group and those below it, and what each of these gets among those below them.
    fn descend(&mut self, at: usize, surplus: f64, deal: Deal<Self>) -> f64 {
        let mut below = Vec::new();
        let left = deal(self, at, surplus, &mut below);
        while let Some((at, surplus)) = below.pop() {
            deal(self, at, surplus, &mut below);
        }
        left
    }

    /// Groups below that accept surplus, then the group itself.
    fn members(&self, at: usize) -> Vec<Member> {
        let nodes = self.tree.nodes();
        let since = |times: &[f64], at: usize| times.get(at).copied().unwrap_or(0.0);
        let child = |&child: &usize| Member {
            at: child,
            want: if nodes[child].group.accepts_surplus {
                f64::max(self.claims[child].subtree_requested, 0.0)
            } else {
                0.0
            },
            weight: self.quotas[child].subtree,
            given: 0.0,
            since: self.claims[child].waits_since,
        };
        let own = Member {
            at,
            want: f64::max(self.claims[at].requested, 0.0),
            weight: self.quotas[at].own,
            given: 0.0,
            since: since(self.last_served, at),
        };
        nodes[at].children.iter().map(child).chain([own]).collect()
    }

    /// Gives members what was dealt to them; those below deal theirs on.
    fn give(&mut self, at: usize, members: &[Member], left_asked: f64, below: &mut Vec<(usize, f64)>) {
        for member in members.iter().filter(|member| member.given > 0.0) {
            if member.at == at {
                self.claims[at].allocated += member.given;
                self.claims[at].requested -= member.given;
            } else {
                below.push((member.at, member.given));
            }
        }
        self.claims[at].subtree_requested = left_asked;
    }

    /// In proportion to quotas, then equally (§5.2).
    fn share(&mut self, at: usize, mut surplus: f64, below: &mut Vec<(usize, f64)>) -> f64 {
        let mut asked = self.claims[at].subtree_requested;
        if surplus <= 0.0 {
            return 0.0;
        }
        if asked <= 0.0 {
            return surplus;
        }
        let mut members = self.members(at);
        if surplus >= asked {
            for member in &mut members {
                member.given = member.want;
            }
            surplus -= asked;
            asked = 0.0;
        } else {
            distribute(&mut members, &mut surplus, &mut asked, |member| member.weight);
            distribute(&mut members, &mut surplus, &mut asked, |_| 1.0);
        }
        self.give(at, &members, asked, below);
        surplus
    }

    /// Whole slots to those who wait longest (§5.3).
    fn in_turn(&mut self, at: usize, mut surplus: f64, below: &mut Vec<(usize, f64)>) -> f64 {
        self.claims[at].subtree_requested = self.claims[at].subtree_requested.floor();
        let mut asked = self.claims[at].subtree_requested;
        if asked <= 0.0 || surplus < 1.0 {
            return surplus;
        }
        let mut members = self.members(at);
        members.sort_by(|a, b| {
            a.since.total_cmp(&b.since).then(b.weight.total_cmp(&a.weight)).then(b.want.total_cmp(&a.want))
        });
        let mut waiting = members.iter().filter(|member| member.want > 0.0).count();
        while surplus >= 1.0 && asked > 0.0 && waiting > 0 {
            let most = f64::max((surplus / waiting as f64).floor(), 1.0);
            waiting = 0;
            let mut dealt = 0.0;
            for member in members.iter_mut().filter(|member| member.want > 0.0) {
                let slots = f64::min(member.want, most);
                (member.given, member.want) = (member.given + slots, member.want - slots);
                (surplus, asked, dealt) = (surplus - slots, asked - slots, dealt + slots);
                self.claims[member.at].served = true;
                waiting += usize::from(member.want > 0.0);
                if surplus < most {
                    break;
                }
            }
            if dealt <= 0.0 {
                break;
            }
        }
        self.give(at, &members, asked, below);
        surplus
    }
}

/// Deals a surplus in proportion to weights; nobody gets more than they want, and what that leaves is dealt again.
fn distribute(members: &mut [Member], surplus: &mut f64, asked: &mut f64, weight: fn(&Member) -> f64) {
    while *surplus > 0.0 {
        let all: f64 = members.iter().filter(|member| member.want > 0.0).map(weight).sum();
        if all.is_nan() || all <= 0.0 {
            return;
        }
        let (dealing, mut dealt, mut capped) = (*surplus, 0.0, false);
        for member in members.iter_mut().filter(|member| member.want > 0.0) {
            let due = dealing * (weight(member) / all);
            capped |= due > member.want;
            let slots = f64::min(due, member.want);
            (member.given, member.want) = (member.given + slots, member.want - slots);
            dealt += slots;
        }
        (*surplus, *asked) = (*surplus - dealt, *asked - dealt);
        // Rounding dust is not dealt on.
        if !capped || *surplus < 0.0 {
            *surplus = 0.0;
        }
    }
}
