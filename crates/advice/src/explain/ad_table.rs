//! Many ads by column, opposite to one ad: an expression is evaluated once for each combination of the values it looks at.
//!
//! In: ads, such as slots, and one, such as a job. Out: blocks of ads of one structure, and values of expressions for ads.

use indexmap::IndexMap;

use classmate::internal::ad::Attribute;
use classmate::internal::program::Side;
use classmate::internal::program::partition::Partition;
use classmate::internal::program::table::{Reach, Table, redefines_scopes};
use classmate::internal::program::view::{RowValues, TableView};
use classmate::internal::threads;
use classmate::{ClassAd, EvalOptions, Expr, Name};

/// Many ads by column.
pub(super) struct AdTable<'a> {
    /// The ads.
    pub(super) ads: Vec<&'a ClassAd>,
    /// Clock, seed and limits.
    pub(super) settings: &'a EvalOptions,
    /// The ads of each policy that have the same attributes and expressions, as far as these can be reached from the
    /// Requirements of either side.
    pub(super) blocks: Vec<Vec<u32>>,
    /// The policies: ads of one policy have the same expressions, and the same Requirements.
    pub(super) policies: Partition,
    block_of: Vec<u32>,
    table: Table,
}

impl<'a> AdTable<'a> {
    /// The table of ads that are opposite to one, also for the evaluation of some expressions in them.
    pub(super) fn of(ads: Vec<&'a ClassAd>, one: &ClassAd, exprs: &[&Expr], settings: &'a EvalOptions) -> Self {
        let requirements = Name::new("Requirements");
        let mut reach = Reach::new(vec![requirements], |mentions| {
            !(mentions.opaque || mentions.random || mentions.bound) && mentions.selectors.is_empty()
        });
        reach.foreseen = !redefines_scopes(one) && !threads::any(&ads, |ad| redefines_scopes(ad));
        for expr in exprs {
            reach.foreseen &= reach.add(expr.tree());
        }
        let table = Table::collect((ads.len(), &|at| ads[at]), &mut reach, |_, names, reach| {
            for name in names {
                if let Some(Attribute::Tree(tree)) = one.lookup(*name) {
                    reach.foreseen &= reach.add(tree);
                }
            }
        });
        let mut policies = Partition::whole(ads.len());
        for column in &table.columns {
            if column.name == requirements {
                policies.split(|at| column.ids[at]);
            } else {
                let structures = column.structures();
                if structures.iter().any(|structure| *structure > 1) {
                    policies.split(|at| structures[column.ids[at] as usize].max(1));
                }
            }
        }
        let mut blocks = table.structures(ads.len());
        blocks.split(|at| policies.of[at]);
        AdTable { ads, settings, blocks: blocks.members(), policies, block_of: blocks.of, table }
    }

    /// Returns whether any of the ads has an attribute; known only for those that can be reached.
    pub(super) fn has(&self, name: Name) -> bool {
        self.table.has(name)
    }

    /// The columns.
    pub(super) fn columns(&self) -> &Table {
        &self.table
    }

    /// Returns whether expressions look at nothing but the columns.
    pub(super) fn is_foreseen(&self) -> bool {
        self.table.is_foreseen()
    }

    /// Ads of one block, opposite to one.
    pub(super) fn view<'v>(&'v self, ads: &'v [u32], one: &'v ClassAd) -> TableView<'v> {
        TableView { table: &self.table, ads, source: &self.ads, other: one, settings: self.settings }
    }

    /// The value of an expression in the ad of its side, for some ads.
    pub(super) fn values(&self, one: &ClassAd, side: Side, expr: &Expr, some: &[u32]) -> RowValues {
        self.by_block(some, &|ads| self.view(ads, one).values_of(side, expr))
    }

    /// The value of an attribute for some ads.
    pub(super) fn attribute(&self, one: &ClassAd, name: Name, some: &[u32]) -> RowValues {
        self.by_block(some, &|ads| self.view(ads, one).attribute(name))
    }

    /// Some ads by block, with the place of each among them.
    pub(super) fn parts(&self, some: &[u32]) -> Vec<(Vec<usize>, Vec<u32>)> {
        let mut parts: IndexMap<u32, (Vec<usize>, Vec<u32>)> = IndexMap::new();
        for (at, ad) in some.iter().enumerate() {
            let (places, ads) = parts.entry(self.block_of[*ad as usize]).or_default();
            places.push(at);
            ads.push(*ad);
        }
        parts.into_values().collect()
    }

    /// Joins the values for the ads of each block.
    fn by_block(&self, some: &[u32], of: &(dyn Fn(&[u32]) -> RowValues + Sync)) -> RowValues {
        let parts = self.parts(some);
        if let [(_, ads)] = parts.as_slice() {
            return of(ads);
        }
        let found: Vec<RowValues> = threads::map_all(&parts, |(_, ads)| of(ads));
        let mut all = RowValues { of: vec![0; some.len()], values: Vec::new() };
        for ((places, _), found) in parts.iter().zip(found) {
            let first = all.values.len() as u32;
            for (at, value) in places.iter().zip(&found.of) {
                all.of[*at] = first + value;
            }
            all.values.extend(found.values);
        }
        all
    }
}
