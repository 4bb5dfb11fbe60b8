//! Fair Tree: users ranked by a walk through the tree, level by level.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 5.

use std::cmp::Ordering;

use super::{AssociationTree, Figures, ROOT, Ties};
use classmate_config::internal::config::slurm::Shares;

/// The level fair share of an account without shares of its own: above all numbers, below infinity.
const NO_VALUE: f64 = 4_294_967_294.0;

pub(super) fn figures(tree: &AssociationTree, ties: Ties) -> Vec<Figures> {
    let nodes = tree.nodes();
    let whole = nodes[ROOT].usage;
    let part = |usage: f64, of: f64| if of == 0.0 { 0.0 } else { usage / of };
    let mut figures = vec![Figures::default(); nodes.len()];
    figures[ROOT].effective_usage = 1.0;
    figures[ROOT].norm_usage = part(whole, whole);
    for (at, node) in nodes.iter().enumerate().skip(1) {
        let stands_as = match node.shares {
            Shares::Own(_) => node,
            Shares::Parent => &nodes[node.fair_share_parent],
        };
        let shares = stands_as.share_of_level();
        let usage = part(node.usage, nodes[node.fair_share_parent].usage);
        figures[at] = Figures {
            norm_shares: shares,
            norm_usage: part(node.usage, whole).min(1.0),
            effective_usage: usage,
            level_fair_share: match node.shares {
                Shares::Parent if node.is_user() => Some(f64::INFINITY),
                Shares::Parent => None,
                Shares::Own(_) if shares == 0.0 => Some(0.0),
                Shares::Own(_) if usage == 0.0 => Some(f64::INFINITY),
                Shares::Own(_) => Some(shares / usage),
            },
            rank: None,
            factor: None,
        };
    }
    Walk::new(tree, ties, figures).run()
}

/// The largest part of a usage that digits which were cut off may be for two to count as tied.
const NEGLIGIBLE: f64 = 2e-3;

/// The part by which numbers that are the same can differ after computing.
const COMPUTED: f64 = 1e-12;

/// A list of siblings during traversal.
struct SiblingLevel {
    /// Best first.
    order: Vec<usize>,
    next: usize,
    /// The level fair share of the one before.
    before: f64,
    /// True if the first of them is tied with the sibling before their account.
    tied_in: bool,
}

struct Walk<'t> {
    tree: &'t AssociationTree,
    ties: Ties,
    figures: Vec<Figures>,
    /// The level fair shares by which siblings are ordered.
    values: Vec<f64>,
    users: usize,
    /// The rank given last.
    rank: usize,
    /// The rank for the next user that is not tied.
    next_rank: usize,
}

impl<'t> Walk<'t> {
    fn new(tree: &'t AssociationTree, ties: Ties, figures: Vec<Figures>) -> Self {
        let users = tree.users();
        let values = figures.iter().map(level_value).collect();
        Self { tree, ties, figures, values, users, rank: users, next_rank: users }
    }

    fn run(mut self) -> Vec<Figures> {
        // Levels that are open, outermost first: a tree may be deeper than the stack.
        let mut open = vec![self.level(self.tree.nodes()[ROOT].children.clone(), false)];
        while let Some(level) = open.last_mut() {
            let Some(&at) = level.order.get(level.next) else {
                open.pop();
                continue;
            };
            let value = self.values[at];
            let tied = if level.next == 0 && level.tied_in { true } else { level.before == value };
            level.next += 1;
            level.before = value;
            if self.tree.nodes()[at].is_user() {
                self.place(at, tied);
                continue;
            }
            let mut members = self.tree.nodes()[at].children.clone();
            if self.ties == Ties::Documented {
                while let Some(&other) = level.order.get(level.next)
                    && !self.tree.nodes()[other].is_user()
                    && self.values[other] == value
                {
                    members.extend(&self.tree.nodes()[other].children);
                    level.next += 1;
                }
            }
            let below = self.level(members, tied);
            open.push(below);
        }
        self.figures
    }

    /// Siblings, the highest level fair share first, then users before accounts, then in their given order.
    fn level(&mut self, mut members: Vec<usize>, tied_in: bool) -> SiblingLevel {
        self.tie(&members);
        let nodes = self.tree.nodes();
        members.sort_by(|&a, &b| {
            let (one, other) = (self.values[a], self.values[b]);
            let by_value = other.partial_cmp(&one).unwrap_or(Ordering::Equal);
            by_value.then(nodes[b].is_user().cmp(&nodes[a].is_user()))
        });
        SiblingLevel { order: members, next: 0, before: NO_VALUE, tied_in }
    }

    /// Ties siblings whose level fair shares can be the same before a listing cuts digits off their usage: with two shares,
    /// 1996153.67 is to be as good as 998076.84 with one. Whole numbers are cut off, decimals are rounded.
    fn tie(&mut self, members: &[usize]) {
        let digit = self.tree.digit();
        if digit == 0.0 {
            return;
        }
        let nodes = self.tree.nodes();
        let mut order: Vec<usize> = members.to_vec();
        order.sort_by(|&a, &b| self.values[b].partial_cmp(&self.values[a]).unwrap_or(Ordering::Equal));
        let (less, more) = if digit >= 1.0 { (0.0, digit) } else { (digit / 2.0, digit / 2.0) };
        // The first of those that are tied, and the bounds of the value that all of them can have.
        let mut tied: Option<(usize, f64, f64)> = None;
        for at in order {
            let (value, usage) = (self.values[at], nodes[at].usage);
            if !(digit < usage * NEGLIGIBLE && value > 0.0 && value.is_finite()) {
                tied = None;
                continue;
            }
            let (low, high) = (value * usage / (usage + more), value * usage / (usage - less));
            let with = tied.map(|(first, least, most)| (first, least.max(low), most.min(high)));
            match with.filter(|(_, low, high)| low * (1.0 + COMPUTED) < *high) {
                Some((first, ..)) => {
                    self.values[at] = self.values[first];
                    tied = with;
                }
                None => tied = Some((at, low, high)),
            }
        }
    }

    /// Ranks a user.
    fn place(&mut self, at: usize, tied: bool) {
        if !tied {
            self.rank = self.next_rank;
        }
        self.figures[at].rank = Some(self.rank);
        self.figures[at].factor = Some(self.rank as f64 / self.users as f64);
        self.next_rank -= 1;
    }
}

fn level_value(figures: &Figures) -> f64 {
    figures.level_fair_share.unwrap_or(NO_VALUE)
}
