//! Changes of the one ad, tried on all ads opposite: which match then, and did not before.
//!
//! Atoms that a change does not affect are evaluated once for all changes.

use std::sync::{Mutex, PoisonError};

use crate::explain::ad_table::AdTable;
use classmate::internal::ad::Attribute;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::Key;
use classmate::internal::program::Side;
use classmate::internal::program::atom::Atoms;
use classmate::internal::program::cache::{CachedView, EvalCache};
use classmate::internal::program::condition::{Clause, requirements};
use classmate::internal::program::mask::Mask;
use classmate::internal::program::view::TableView;
use classmate::internal::threads;
use classmate::{ClassAd, Name};

/// The sides whose Requirements must be true.
const SIDES: [Side; 2] = [Side::Other, Side::Row];

/// The Requirements of a side, compiled.
struct CompiledSide {
    side: Side,
    clauses: Vec<Clause>,
    /// The expressions that the clauses were made of.
    followed: Vec<(Side, Key)>,
}

/// The Requirements of both sides for a block, compiled.
struct Compiled {
    atoms: Mutex<Atoms>,
    sides: [CompiledSide; 2],
}

/// A block before the change.
struct Block<'p> {
    number: u32,
    ads: &'p [u32],
    /// None if its ads are evaluated one by one.
    compiled: Option<Compiled>,
    matching: Mask,
}

/// Tries changes of an ad.
pub(super) struct Trials<'p, 'a> {
    table: &'p AdTable<'a>,
    job: &'p ClassAd,
    blocks: Vec<Block<'p>>,
    cache: EvalCache,
}

/// The effect of a change.
pub(super) struct Effect {
    /// Ads that match after it.
    pub(super) matching: usize,
    /// Ads of these that do not match before it, in their order.
    pub(super) won: Vec<u32>,
    /// Ads that match before it and not after.
    pub(super) lost: usize,
}

/// A change of the one ad: the attributes that differ, and a test if clauses that were made of some expressions have to be
/// compiled again.
type AdChange<'c> = (&'c [Name], &'c (dyn Fn(&[(Side, Key)]) -> bool + Sync));

impl<'p, 'a> Trials<'p, 'a> {
    /// Trials for the ads of a table and the one opposite as it is.
    pub(super) fn new(table: &'p AdTable<'a>, job: &'p ClassAd) -> Self {
        let cache = EvalCache::default();
        let block = |number: usize| {
            let ads: &'p [u32] = &table.blocks[number];
            let (view, number) = (table.view(ads, job), number as u32);
            let compiled = view.table.is_by_column(ads).then(|| Compiled::new(&view));
            let matching =
                compiled.as_ref().and_then(|compiled| compiled.matching(view, (number, &cache), (&[], &|_| false)));
            match matching {
                Some(matching) => Block { number, ads, compiled, matching },
                None => Block { number, ads, compiled: None, matching: one_by_one(view) },
            }
        };
        let blocks = threads::map_range(table.blocks.len(), block);
        Trials { table, job, blocks, cache }
    }

    /// Tries the ad with some attributes changed on all others; none if no match is won.
    pub(super) fn of(&self, after: &ClassAd, names: &[Name]) -> Option<Effect> {
        let shape = |ad: &ClassAd, name: &Name| match ad.lookup(*name) {
            None => 0,
            Some(Attribute::Literal(_)) => 1,
            Some(Attribute::Tree(_)) => 2,
        };
        // An attribute is new or gone, or became an expression or ceased to be one.
        let reshaped = names.iter().any(|name| shape(self.job, name) != shape(after, name));
        let rewritten: Vec<(Side, Key)> =
            names.iter().filter(|name| shape(after, name) == 2).map(|name| (Side::Other, name.key())).collect();
        let rewrites = |followed: &[(Side, Key)]| reshaped || rewritten.iter().any(|key| followed.contains(key));
        let tried = |block: &Block<'p>| {
            let view = self.table.view(block.ads, after);
            let compiled = block.compiled.as_ref();
            let now =
                compiled.and_then(|compiled| compiled.matching(view, (block.number, &self.cache), (names, &rewrites)));
            let now = now.unwrap_or_else(|| one_by_one(view));
            let is_new = |row: &usize| !block.matching.contains(*row);
            let won: Vec<u32> = now.rows().filter(is_new).map(|row| block.ads[row]).collect();
            let kept = now.count() - won.len();
            (now.count(), block.matching.count() - kept, won)
        };
        let found: Vec<(usize, usize, Vec<u32>)> = threads::map_all(&self.blocks, tried);
        let (matching, lost) = (found.iter().map(|(now, ..)| now).sum(), found.iter().map(|(_, lost, _)| lost).sum());
        let mut won = found.into_iter().flat_map(|(.., won)| won).collect::<Vec<u32>>();
        won.sort_unstable();
        (!won.is_empty()).then_some(Effect { matching, won, lost })
    }
}

/// The ads that match the one opposite, each evaluated by itself.
fn one_by_one(view: TableView<'_>) -> Mask {
    Mask::of(view.ads.len(), |row| symmetric(view.other, view.source.ad(view.ads[row]), view.settings))
}

impl Compiled {
    fn new(view: &TableView<'_>) -> Self {
        let (pair, mut atoms) = (view.pair(), Atoms::default());
        let sides = SIDES.map(|side| {
            let followed = pair.depends_of(Name::new("Requirements"), side, &mut atoms.mentions).followed;
            CompiledSide { side, followed, clauses: requirements(&pair, side, &mut atoms) }
        });
        Compiled { atoms: Mutex::new(atoms), sides }
    }

    /// The ads that match after a change; none if they have to be evaluated one by one.
    fn matching(
        &self,
        view: TableView<'_>,
        (block, cache): (u32, &EvalCache),
        (names, rewrites): AdChange<'_>,
    ) -> Option<Mask> {
        let number = |name: &Name| (!names.contains(name)).then_some(0);
        let at = CachedView { view, block, number: &number };
        let mut all = Mask::all(view.ads.len());
        for CompiledSide { side, clauses, followed } in &self.sides {
            let rewritten = rewrites(followed).then(|| {
                let mut atoms = self.atoms.lock().unwrap_or_else(PoisonError::into_inner);
                requirements(&view.pair(), *side, &mut atoms)
            });
            for clause in rewritten.as_ref().unwrap_or(clauses) {
                if !all.keep(&*cache.clause(&at, clause)?) {
                    return Some(all);
                }
            }
        }
        Some(all)
    }
}
