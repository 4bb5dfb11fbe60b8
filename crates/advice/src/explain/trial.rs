//! Changes of the one ad, tried on all ads opposite: which match then, and did not before.
//!
//! What a change does not touch is asked once for all changes.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::explain::panel::{Panel, Sight};
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::Side;
use classmate::internal::program::atom::{Atom, Atoms};
use classmate::internal::program::condition::{Clause, requirements};
use classmate::internal::program::mask::{Mask, Truths};

/// The sides whose Requirements must hold.
const SIDES: [Side; 2] = [Side::Other, Side::Row];

/// A condition with the rows for which it is true.
struct Known {
    clause: Clause,
    yes: Mask,
}

/// The conditions of a block, taken apart.
struct Compiled {
    atoms: Mutex<Atoms>,
    /// By the number of an atom.
    truths: HashMap<u32, Arc<Truths>>,
    /// Of the one ad, and of the others.
    sides: [Vec<Known>; 2],
    /// The expressions that these were made of, for each side.
    followed: [Vec<(Side, Key)>; 2],
}

/// A block before the change.
struct Block<'p> {
    ads: &'p [u32],
    /// None if its ads are asked one by one.
    compiled: Option<Compiled>,
    matching: Mask,
}

/// Tries changes of an ad.
pub(super) struct Trials<'p, 'a> {
    panel: &'p Panel<'a>,
    job: &'p ClassAd,
    blocks: Vec<Block<'p>>,
}

/// What a change does.
pub(super) struct Effect {
    /// Ads that match after it.
    pub(super) matching: usize,
    /// Of these, those that do not before.
    pub(super) won: usize,
    /// Ads that match before it and not after.
    pub(super) lost: usize,
    /// The first that matches after it and not before.
    pub(super) first: usize,
}

/// How an ad changed.
struct Change<'c> {
    /// The attributes that are other ones.
    names: &'c [Name],
    /// Those that have another expression.
    rewritten: Vec<Key>,
    /// Whether any is new or gone, or became an expression or is one no longer.
    reshaped: bool,
}

impl Change<'_> {
    fn touches(&self, atom: &Atom) -> bool {
        self.names.iter().any(|name| atom.other.iter().any(|other| other.key() == name.key()))
    }

    /// Whether conditions that were made of these expressions have to be taken apart anew.
    fn rewrites(&self, followed: &[(Side, Key)]) -> bool {
        self.reshaped || self.rewritten.iter().any(|key| followed.contains(&(Side::Other, *key)))
    }
}

impl<'p, 'a> Trials<'p, 'a> {
    /// For the ads of a panel and the one opposite as it is.
    pub(super) fn new(panel: &'p Panel<'a>, job: &'p ClassAd) -> Self {
        let block = |ads: &'p Vec<u32>| {
            let compiled = compiled(panel.sight(ads, job));
            let matching = match &compiled {
                Some(compiled) => {
                    let mut all = Mask::all(ads.len());
                    compiled.sides.iter().flatten().for_each(|known| {
                        all.keep(&known.yes);
                    });
                    all
                }
                None => one_by_one(panel.sight(ads, job)),
            };
            Block { ads, compiled, matching }
        };
        Trials { panel, job, blocks: panel.blocks.par_iter().map(block).collect() }
    }

    /// The ad with some attributes changed, tried on all others; none if no match is won.
    pub(super) fn of(&self, after: &ClassAd, names: &[Name]) -> Option<Effect> {
        let shape = |ad: &ClassAd, name: &Name| match ad.lookup(*name) {
            None => 0,
            Some(Attribute::Literal(_)) => 1,
            Some(Attribute::Tree(_)) => 2,
        };
        let reshaped = names.iter().any(|name| shape(self.job, name) != shape(after, name));
        let rewritten = names.iter().filter(|name| shape(after, name) == 2).map(|name| name.key()).collect();
        let change = Change { names, rewritten, reshaped };
        let tried = |block: &Block<'p>| {
            let sight = self.panel.sight(block.ads, after);
            let asked = block.compiled.as_ref().and_then(|compiled| compiled.changed(sight, &change));
            let now = asked.unwrap_or_else(|| one_by_one(sight));
            let first = now.rows().find(|row| !block.matching.contains(*row));
            let (before, after, mut both) = (block.matching.count(), now.count(), now);
            both.keep(&block.matching);
            ([after, before, both.count()], first.map(|row| block.ads[row] as usize))
        };
        let found: Vec<([usize; 3], Option<usize>)> = self.blocks.par_iter().map(tried).collect();
        let first = found.iter().filter_map(|(_, first)| *first).min()?;
        let sum = |which: usize| found.iter().map(|(counts, _)| counts[which]).sum::<usize>();
        let (matching, before, both) = (sum(0), sum(1), sum(2));
        Some(Effect { matching, won: matching - both, lost: before - both, first })
    }
}

/// Which ads match the one opposite, asked one by one.
fn one_by_one(sight: Sight<'_, '_>) -> Mask {
    let settings = sight.panel.settings;
    Mask::of(sight.ads.len(), |row| symmetric(sight.one, sight.pair(Side::Row, sight.ads[row]).0, settings))
}

/// The conditions of a block; none if its ads are to be asked one by one.
fn compiled(sight: Sight<'_, '_>) -> Option<Compiled> {
    if !sight.panel.is_by_column(sight.ads) {
        return None;
    }
    let (world, mut atoms) = (sight.world(), Atoms::default());
    let followed = SIDES.map(|side| world.depends_of(Name::new("Requirements"), side, &mut atoms.surveyed).followed);
    let clauses = SIDES.map(|side| requirements(&world, side, &mut atoms));
    let mut truths: HashMap<u32, Arc<Truths>> = HashMap::new();
    let [one, many] = clauses.map(|clauses| {
        let known = |clause: Clause| {
            let yes = yes(sight, &clause, |atom| {
                if let Some(known) = truths.get(&atom.id) {
                    return Some(Arc::clone(known));
                }
                let found = asked(sight, atom)?;
                truths.insert(atom.id, Arc::clone(&found));
                Some(found)
            })?;
            Some(Known { clause, yes })
        };
        clauses.into_iter().map(known).collect::<Option<Vec<Known>>>()
    });
    Some(Compiled { sides: [one?, many?], followed, truths, atoms: Mutex::new(atoms) })
}

/// The truths of an atom.
fn asked(sight: Sight<'_, '_>, atom: &Atom) -> Option<Arc<Truths>> {
    let groups = sight.groups(atom);
    sight.rows(|rows| rows.truths(atom, &groups, &sight.world(), sight.panel.settings)).map(Arc::new)
}

/// Where a condition is true.
fn yes(sight: Sight<'_, '_>, clause: &Clause, truths: impl FnMut(&Atom) -> Option<Arc<Truths>>) -> Option<Mask> {
    sight.rows(|rows| rows.clause(clause, truths)).map(|truths| truths.yes.clone())
}

impl Compiled {
    /// Which ads match after a change; none if they are to be asked one by one.
    fn changed(&self, sight: Sight<'_, '_>, change: &Change<'_>) -> Option<Mask> {
        let mut all = Mask::all(sight.ads.len());
        let truths = |atom: &Atom| match self.truths.get(&atom.id).filter(|_| !change.touches(atom)) {
            Some(known) => Some(Arc::clone(known)),
            None => asked(sight, atom),
        };
        for ((side, known), followed) in SIDES.into_iter().zip(&self.sides).zip(&self.followed) {
            if change.rewrites(followed) {
                let clauses = {
                    let mut atoms = self.atoms.lock().unwrap_or_else(PoisonError::into_inner);
                    requirements(&sight.world(), side, &mut atoms)
                };
                for clause in &clauses {
                    if !all.keep(&yes(sight, clause, truths)?) {
                        return Some(all);
                    }
                }
                continue;
            }
            for Known { clause, yes: before } in known {
                let left = if clause.atoms().any(|atom| change.touches(atom)) {
                    all.keep(&yes(sight, clause, truths)?)
                } else {
                    all.keep(before)
                };
                if !left {
                    return Some(all);
                }
            }
        }
        Some(all)
    }
}
