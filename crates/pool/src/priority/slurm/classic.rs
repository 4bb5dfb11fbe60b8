//! The classic algorithms: the linear formula of version 2.0, the exponential one, and the one without regard to depth.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 4.

use super::{AssociationTree, Figures, ROOT};
use classmate_config::internal::config::slurm::Shares;

/// The formula of a classic algorithm; see [`super::Algorithm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Formula {
    Linear { capacity: f64 },
    Exponential { damping: f64 },
    DepthOblivious { damping: f64 },
}

pub(super) fn figures(tree: &AssociationTree, algorithm: Formula) -> Vec<Figures> {
    let nodes = tree.nodes();
    let whole = match algorithm {
        Formula::Linear { capacity } => capacity,
        _ => nodes[ROOT].usage,
    };
    let mut figures = vec![Figures::default(); nodes.len()];
    figures[ROOT].norm_shares = 1.0;
    for (at, node) in nodes.iter().enumerate() {
        if at != ROOT {
            // S: the product of the shares of the levels up to the root; a user without shares of its own has those of
            // its parent.
            let above = figures[node.parent].norm_shares;
            figures[at].norm_shares = match node.shares {
                Shares::Own(_) => node.share_of_level() * above,
                Shares::Parent => above,
            };
        }
        // U: what was used of the whole, at most all.
        figures[at].norm_usage = if whole > 0.0 { (node.usage / whole).min(1.0) } else { 0.0 };
    }
    figures[ROOT].effective_usage = 1.0;
    // Parents come before their children; the usage of all is known by now, as the third formula needs that of
    // siblings.
    let sums =
        if matches!(algorithm, Formula::DepthOblivious { .. }) { usage_below(tree, &figures) } else { Vec::new() };
    for at in 1..nodes.len() {
        figures[at].effective_usage = effective(tree, &figures, &sums, at, algorithm);
    }
    for at in 0..nodes.len() {
        figures[at].factor = Some(factor(tree, &figures, at, algorithm));
    }
    figures
}

/// The figures under `DEPTH_OBLIVIOUS` while `sshare` was never called: only accounts and the associations of jobs have been
/// visited, and the usage of all others counts as 4294967294 times the whole, Slurm's number for "not set". The listing then
/// visits them one by one.
pub(super) fn figures_at_first(tree: &AssociationTree, damping: f64, asked: &[bool]) -> Vec<Figures> {
    const UNKNOWN: f64 = 4_294_967_294.0;
    let algorithm = Formula::DepthOblivious { damping };
    let mut all = figures(tree, algorithm);
    let nodes = tree.nodes();
    let known: Vec<f64> = all.iter().map(|figures| figures.norm_usage).collect();
    for (at, node) in nodes.iter().enumerate() {
        if node.is_user() && !asked[at] {
            all[at].norm_usage = UNKNOWN;
        }
    }
    let own = |at: usize| if nodes[at].shares == Shares::Parent { 0.0 } else { 1.0 };
    let mut sums = usage_below(tree, &all);
    let early = |&at: &usize| !nodes[at].is_user() || asked[at];
    for at in (1..nodes.len()).filter(early) {
        all[at].effective_usage = effective(tree, &all, &sums, at, algorithm);
    }
    for at in tree.listed().into_iter().map(|(at, _)| at).filter(|at| !early(at)) {
        let parent = nodes[at].fair_share_parent;
        all[at].norm_usage = known[at];
        // Not the difference, in which the known usage of the others would be lost.
        let children = nodes[parent].children.iter();
        sums[parent] = children.map(|&child| own(child) * all[child].norm_usage).sum();
        all[at].effective_usage = effective(tree, &all, &sums, at, algorithm);
    }
    for at in 0..nodes.len() {
        all[at].factor = Some(factor(tree, &all, at, algorithm));
    }
    all
}

/// The sum of U over those below with shares of their own.
fn usage_below(tree: &AssociationTree, figures: &[Figures]) -> Vec<f64> {
    let nodes = tree.nodes();
    let own = |&&child: &&usize| nodes[child].shares != Shares::Parent;
    let sum = |children: &[usize]| children.iter().filter(own).map(|&child| figures[child].norm_usage).sum();
    nodes.iter().map(|node| sum(&node.children)).collect()
}

/// `U_E`, usage after that of siblings was mixed in (`docs/reference/slurm-multifactor.md` 4.2 to 4.4).
fn effective(tree: &AssociationTree, figures: &[Figures], sums: &[f64], at: usize, algorithm: Formula) -> f64 {
    let node = &tree.nodes()[at];
    let parent = node.fair_share_parent;
    let (own, above) = (figures[at], figures[parent]);
    let usage = own.norm_usage;
    if parent == ROOT {
        return usage;
    }
    if node.shares == Shares::Parent {
        return above.effective_usage;
    }
    if !matches!(algorithm, Formula::DepthOblivious { .. }) {
        return match node.level_shares {
            0 => above.effective_usage,
            _ => usage + (above.effective_usage - usage) * node.share_of_level(),
        };
    }
    if own.norm_shares == 0.0 || above.norm_shares == 0.0 || above.effective_usage == 0.0 || usage == 0.0 {
        return usage;
    }
    let of_parent = above.effective_usage / above.norm_shares;
    let of_siblings = sums[parent] / above.norm_shares;
    let local = (usage / own.norm_shares) / of_siblings;
    let opposed = of_parent != 0.0 && local != 0.0 && of_parent.ln() * local.ln() < 0.0;
    let exponent = if opposed { 1.0 / (1.0 + (5.0 * of_parent.ln()).powi(2)) } else { 1.0 };
    of_parent * local.powf(exponent) * own.norm_shares
}

fn factor(tree: &AssociationTree, figures: &[Figures], at: usize, algorithm: Formula) -> f64 {
    let node = &tree.nodes()[at];
    let damping = match algorithm {
        Formula::Linear { .. } => {
            return f64::midpoint(figures[at].norm_shares - figures[at].effective_usage, 1.0);
        }
        Formula::Exponential { damping } | Formula::DepthOblivious { damping } => damping,
    };
    let standing = match node.shares {
        Shares::Parent => figures[node.fair_share_parent],
        Shares::Own(_) => figures[at],
    };
    if standing.norm_shares <= 0.0 {
        return 0.0;
    }
    (-(standing.effective_usage / standing.norm_shares) / damping).exp2()
}
