//! The order of attributes in strings that versions before 23.7 made of ads: that of a hash table.
//!
//! In: an expression with ads in it. Out: the same one, whose ads list their attributes as the table does. The table is the
//! `unordered_map` of GNU's C++ library: a list in which the attributes of a bucket are neighbors, new ones first.

use std::sync::Arc;

use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, copy_into};

/// Numbers of buckets, one after another as a table grows; larger ads keep the present order.
const SIZES: [usize; 9] = [13, 29, 59, 127, 257, 541, 1109, 2357, 5087];

/// The expression to be printed, with the attributes of its ads in the order of the table.
pub(crate) fn in_table_order(expr: &Expr) -> Expr {
    let mut tree = Tree::default();
    copy_into(&mut tree, expr.tree(), expr.root());
    let Tree { nodes, attributes, .. } = &mut tree;
    for node in nodes.iter() {
        if let Node::Ad(run) = node {
            let listed = &mut attributes[run.range()];
            // Values were read in the order of the text.
            listed.sort_by_key(|(_, value)| *value);
            let ordered: Option<Vec<(Name, NodeId)>> =
                order(listed).map(|places| places.iter().map(|at| listed[*at]).collect());
            match ordered {
                Some(ordered) => listed.copy_from_slice(&ordered),
                None => listed.sort_by(|(a, _), (b, _)| a.listing_order(*b)),
            }
        }
    }
    Expr::whole(Arc::new(tree))
}

/// The places of attributes in the order of the table into which they were put one after another; `None` for too many.
fn order(attributes: &[(Name, NodeId)]) -> Option<Vec<usize>> {
    let hashes: Vec<usize> = attributes.iter().map(|(name, _)| hash(*name)).collect();
    let mut sizes = SIZES.into_iter();
    let mut table = Buckets::new(sizes.next()?);
    for at in 0..hashes.len() {
        if table.count == table.of_bucket.len() {
            let listed = table.listed();
            table = Buckets::new(sizes.next()?);
            for one in listed {
                table.put(one, &hashes);
            }
        }
        table.put(at, &hashes);
    }
    Some(table.listed())
}

/// The attributes of buckets, oldest first, by the age of the buckets.
struct Buckets {
    groups: Vec<Vec<usize>>,
    of_bucket: Vec<Option<usize>>,
    count: usize,
}

impl Buckets {
    fn new(size: usize) -> Self {
        Buckets { groups: Vec::new(), of_bucket: vec![None; size], count: 0 }
    }

    fn put(&mut self, at: usize, hashes: &[usize]) {
        let bucket = hashes[at] % self.of_bucket.len();
        let new = self.groups.len();
        let group = *self.of_bucket[bucket].get_or_insert(new);
        if group == new {
            self.groups.push(Vec::new());
        }
        self.groups[group].push(at);
        self.count += 1;
    }

    /// The list of the table: the newest bucket first, and in it the newest attribute.
    fn listed(&self) -> Vec<usize> {
        self.groups.iter().rev().flat_map(|group| group.iter().rev().copied()).collect()
    }
}

fn hash(name: Name) -> usize {
    name.as_bytes().iter().fold(0, |hash: usize, byte| hash.wrapping_mul(5).wrapping_add(usize::from(byte | 0x20)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    /// The order in which HTCondor 23.0.28 prints `strcat([…])`.
    #[test]
    fn attributes_are_in_the_order_of_the_table() {
        for (text, expected) in [
            ("[zz = 1; a = 2; C = 3]", "[ C = 3; a = 2; zz = 1 ]"),
            ("{[b = 2; a = b; n = [q = a; p = 1]]}", "{ [ n = [ p = 1; q = a ]; a = b; b = 2 ] }"),
            (
                "[Cpus = 0; Memory = 1; Disk = 2; x1 = 3; x2 = 4; x3 = 5; q = 6; w = 7; e = 8; r = 9; t = 10; y = 11; u = 12; \
                 i = 13; o = 14; p = 15]",
                "[ p = 15; o = 14; i = 13; w = 7; Memory = 1; Disk = 2; x1 = 3; t = 10; Cpus = 0; x2 = 4; u = 12; x3 = 5; \
                 q = 6; e = 8; r = 9; y = 11 ]",
            ),
        ] {
            let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
            assert_eq!(in_table_order(&expr).to_string(), expected);
        }
    }
}
