//! Many ads by column, opposite to one ad: an expression is evaluated once for each combination of the values it looks at.
//!
//! In: ads, such as slots, and one, such as a job. Out: blocks of ads of one structure, and values of expressions for ads.

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::{Key, Name};
use classmate::internal::program::Side;
use classmate::internal::program::atom::{Atom, AtomKind, Atoms, Depends, Surveyed, World};
use classmate::internal::program::batch::{Columns, Groups, Rows};
use classmate::internal::program::column::{Column, Entry, refine};
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::{Expr, Tree};
use classmate::internal::value::Value;

/// In blocks of fewer ads than this every ad is looked at by itself.
const FEW: usize = 8;

/// Values of an expression.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// For each ad asked about, which value.
    pub(super) of: Vec<u32>,
    /// The values.
    pub(super) values: Vec<Value>,
}

/// Many ads, the rows, and what is said of them by column.
pub(super) struct Panel<'a> {
    /// The ads.
    pub(super) ads: Vec<&'a ClassAd>,
    /// Clock, seed and limits.
    pub(super) settings: &'a EvalOptions,
    /// Ads with the same attributes and expressions, as far as these can be reached from the Requirements of either side.
    pub(super) blocks: Vec<Vec<u32>>,
    /// For each ad its policy: ads of one policy have the same expressions, and the same Requirements.
    pub(super) policies: Vec<u32>,
    block_of: Vec<u32>,
    columns: Columns,
    selected: HashMap<Key, Vec<Name>>,
    /// Whether it is known what expressions look at.
    foreseen: bool,
}

/// Adds the names that a tree mentions; false if it can look at others too, or draws random numbers.
fn mention(tree: &Tree, names: &mut Vec<Name>) -> bool {
    let found = Mentions::of(tree);
    names.extend(found.names);
    names.extend(&found.selectors);
    !(found.opaque || found.random || found.bound) && found.selectors.is_empty()
}

impl<'a> Panel<'a> {
    /// The panel of ads that are opposite to one.
    pub(super) fn of(ads: Vec<&'a ClassAd>, one: &ClassAd, settings: &'a EvalOptions) -> Self {
        Self::with(ads, one, &[], settings)
    }

    /// As [`Panel::of`], to be asked expressions of the configuration too.
    pub(super) fn with(ads: Vec<&'a ClassAd>, one: &ClassAd, exprs: &[&Expr], settings: &'a EvalOptions) -> Self {
        let scopes: Vec<Name> = classmate::internal::name::scopes().collect();
        // An ad that defines what names an ad means something else by it.
        let plain = |ad: &ClassAd| !scopes.iter().any(|scope| ad.contains(*scope));
        let mut foreseen = plain(one) && ads.par_iter().all(|ad| plain(ad));
        let requirements = Name::new("Requirements");
        let (mut blocks, mut policies) = (vec![0; ads.len()], vec![0; ads.len()]);
        let mut columns = Columns::default();
        let mut known: HashSet<Key> = HashSet::from([requirements.key()]);
        let mut waiting = vec![requirements];
        for expr in exprs {
            let mut mentioned = Vec::new();
            foreseen &= mention(expr.tree(), &mut mentioned);
            waiting.extend(mentioned.into_iter().filter(|name| known.insert(name.key())));
        }
        while !waiting.is_empty() {
            let made = Column::of(&waiting, ads.len(), &|at| ads[at]);
            let mut mentioned = Vec::new();
            for (name, column) in waiting.drain(..).zip(made) {
                if let Some(Attribute::Tree(tree)) = one.lookup(name) {
                    foreseen &= mention(tree, &mut mentioned);
                }
                let Some(column) = column else { continue };
                for entry in &column.entries {
                    if let Entry::Tree(tree) = entry {
                        foreseen &= mention(tree, &mut mentioned);
                    }
                }
                separate(&column, &mut blocks, &mut policies);
                columns.by_key.insert(name.key(), columns.columns.len());
                columns.columns.push(column);
            }
            waiting = mentioned.into_iter().filter(|name| known.insert(name.key())).collect();
        }
        refine(&mut blocks, |at| policies[at]);
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            if *block as usize == members.len() {
                members.push(Vec::new());
            }
            members[*block as usize].push(at as u32);
        }
        let selected = HashMap::new();
        Panel { ads, settings, blocks: members, policies, block_of: blocks, columns, selected, foreseen }
    }

    /// Whether any of the ads has an attribute; of those only that can be reached.
    pub(super) fn has(&self, name: Name) -> bool {
        self.columns.by_key.contains_key(&name.key())
    }

    /// Whether it is known what expressions look at.
    pub(super) fn is_foreseen(&self) -> bool {
        self.foreseen
    }

    /// Whether ads of a block, or a part of it, are looked at by column.
    pub(super) fn is_by_column(&self, ads: &[u32]) -> bool {
        self.foreseen && ads.len() >= FEW
    }

    /// The block of an ad.
    pub(super) fn block_of(&self, ad: usize) -> u32 {
        self.block_of[ad]
    }

    /// The ads of one block, opposite to one.
    pub(super) fn sight<'p>(&'p self, ads: &'p [u32], one: &'p ClassAd) -> Sight<'p, 'a> {
        Sight { panel: self, ads, one }
    }

    /// The value of an expression for some ads; it stands in the ad of its side.
    pub(super) fn values(&self, one: &ClassAd, side: Side, expr: &Expr, some: &[u32]) -> Values {
        self.by_block(some, &|ads| self.sight(ads, one).values(side, expr))
    }

    /// The value of an attribute for some ads.
    pub(super) fn attribute(&self, one: &ClassAd, name: Name, some: &[u32]) -> Values {
        self.by_block(some, &|ads| self.sight(ads, one).attribute(name))
    }

    /// What is so of some ads, made up of what is so of those of each block.
    fn by_block(&self, some: &[u32], of: &(dyn Fn(&[u32]) -> Values + Sync)) -> Values {
        let mut parts: Vec<(Vec<usize>, Vec<u32>)> = Vec::new();
        let mut place: HashMap<u32, usize> = HashMap::new();
        for (at, ad) in some.iter().enumerate() {
            let part = *place.entry(self.block_of[*ad as usize]).or_insert_with(|| {
                parts.push((Vec::new(), Vec::new()));
                parts.len() - 1
            });
            parts[part].0.push(at);
            parts[part].1.push(*ad);
        }
        if let [(_, ads)] = parts.as_slice() {
            return of(ads);
        }
        let found: Vec<Values> = parts.par_iter().map(|(_, ads)| of(ads)).collect();
        let mut all = Values { of: vec![0; some.len()], values: Vec::new() };
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

/// Separates ads by whether they have an attribute and by its expression; policies by expressions alone, and by all
/// that Requirements can be.
fn separate(column: &Column, blocks: &mut [u32], policies: &mut [u32]) {
    if column.entries.len() < 2 {
        return;
    }
    let shape = |(id, entry): (usize, &Entry)| match entry {
        Entry::Absent => 0,
        Entry::Constant(_) => 1,
        Entry::Tree(_) => id as u32 + 2,
    };
    let shapes: Vec<u32> = column.entries.iter().enumerate().map(shape).collect();
    if shapes.iter().any(|shape| *shape != shapes[0]) {
        refine(blocks, |at| shapes[column.ids[at] as usize]);
    }
    if column.name == Name::new("Requirements") {
        refine(policies, |at| column.ids[at]);
    } else if shapes.iter().any(|shape| *shape > 1) {
        refine(policies, |at| shapes[column.ids[at] as usize].max(1));
    }
}

/// Some ads of a block, opposite to one.
#[derive(Clone, Copy)]
pub(super) struct Sight<'p, 'a> {
    pub(super) panel: &'p Panel<'a>,
    pub(super) ads: &'p [u32],
    pub(super) one: &'p ClassAd,
}

impl<'p> Sight<'p, '_> {
    /// An ad of the block and the one opposite.
    pub(super) fn world(&self) -> World<'p> {
        World { row: self.panel.ads[self.ads[0] as usize], other: self.one, selected: &self.panel.selected }
    }

    /// Which of the ads are alike in what an atom looks at.
    pub(super) fn groups(&self, atom: &Atom) -> Groups {
        self.rows(|rows| rows.groups(atom))
    }

    /// Asks the ads by column.
    pub(super) fn rows<T>(&self, ask: impl FnOnce(&Rows<'_, '_>) -> T) -> T {
        let panel = self.panel;
        ask(&Rows { columns: &panel.columns, ads: self.ads, ad: &|at| panel.ads[at as usize] })
    }

    /// Both ads of a pair, the one of a side first.
    pub(super) fn pair(&self, side: Side, ad: u32) -> (&'p ClassAd, &'p ClassAd) {
        let row: &'p ClassAd = self.panel.ads[ad as usize];
        match side {
            Side::Row => (row, self.one),
            Side::Other => (self.one, row),
        }
    }

    /// The value of an expression for the ads.
    pub(super) fn values(&self, side: Side, expr: &Expr) -> Values {
        if !self.panel.is_by_column(self.ads) {
            return self.each(&|ad| {
                let (my, target) = self.pair(side, ad);
                Scope::new(my, self.panel.settings).with_target(target).eval(expr).unwrap_or(Value::Error)
            });
        }
        let (world, mut atoms) = (self.world(), Atoms::default());
        let depends = world.depends(expr.tree(), expr.root(), side, &mut atoms.surveyed);
        let atom = atoms.intern(AtomKind::Expr(expr.clone()), side, depends);
        let groups = self.groups(&atom);
        let values = self.rows(|rows| rows.values(&atom, &groups, &world, self.panel.settings));
        let values = values.map(|values| values.each(groups.first.len(), Value::clone)).unwrap_or_default();
        Values { of: groups.of, values }
    }

    fn attribute(&self, name: Name) -> Values {
        let value = |ad: u32| {
            let scope = Scope::new(self.panel.ads[ad as usize], self.panel.settings).with_target(self.one);
            scope.eval_attr(name).unwrap_or(Value::Error)
        };
        if !self.panel.is_by_column(self.ads) {
            return self.each(&value);
        }
        let Depends { row, other, .. } = self.world().depends_of(name, Side::Row, &mut Surveyed::default());
        let groups = self.groups(&Atom { id: 0, kind: AtomKind::Requirements, side: Side::Row, row, other });
        Values { values: groups.first.par_iter().map(|ad| value(*ad)).collect(), of: groups.of }
    }

    /// A value for every ad.
    fn each(&self, value: &(dyn Fn(u32) -> Value + Sync)) -> Values {
        Values { of: (0..self.ads.len() as u32).collect(), values: self.ads.par_iter().map(|ad| value(*ad)).collect() }
    }
}
