//! Ads of one structure opposite to one ad.
//!
//! In: atoms and clauses. Out: a value for each group of ads that agree in what an atom looks at, and the ads for which
//! a clause is true. What can be evaluated over columns is ([`crate::program::batch`]); everything else once per group.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Limits, Scope};
use crate::eval::{EvalError, matching};
use crate::name::Name;
use crate::program::Side;
use crate::program::atom::{AdPair, Atom, AtomKind, Atoms, Dependencies, MentionsCache};
use crate::program::batch::{Batch, Vector};
use crate::program::condition::{Clause, ClauseStep, MAX_ATOMS, expression};
use crate::program::mask::{Mask, RowTruths};
use crate::program::partition::Partition;
use crate::program::table::Table;
use crate::syntax::expr::Expr;
use crate::threads::map_all;
use crate::value::Value;
use crate::value::logic::Truth;

/// Ads by number.
pub trait AdSource: Sync {
    /// The ad of a number.
    fn ad(&self, at: u32) -> &ClassAd;
}

impl AdSource for Vec<&ClassAd> {
    fn ad(&self, at: u32) -> &ClassAd {
        self[at as usize]
    }
}

/// Some ads of a table, all of one structure, and the ad opposite to them.
#[derive(Clone, Copy)]
pub struct TableView<'t> {
    /// The columns of all ads.
    pub table: &'t Table,
    /// The numbers of the ads.
    pub ads: &'t [u32],
    /// The ads of the table.
    pub source: &'t dyn AdSource,
    /// The ad on the other side.
    pub other: &'t ClassAd,
    /// Clock, seed and limits.
    pub settings: &'t EvalOptions,
}

/// Ads that agree in what an atom looks at.
#[derive(Debug)]
pub struct Groups {
    /// The group of each ad.
    pub of: Vec<u32>,
    /// The number of the first ad of each group.
    pub first: Vec<u32>,
}

/// The values of an expression.
#[derive(Debug, Default)]
pub struct RowValues {
    /// For each ad, the number of its value.
    pub of: Vec<u32>,
    /// The values.
    pub values: Vec<Value>,
}

impl<'t> TableView<'t> {
    /// One of the ads and the one opposite.
    pub fn pair(&self) -> AdPair<'t> {
        AdPair {
            row: self.source.ad(self.ads[0]),
            other: self.other,
            selected: &self.table.selected,
            semantics: self.settings.semantics,
        }
    }

    /// An ad and the one opposite, the ad of a side first.
    pub fn sides(&self, side: Side, ad: u32) -> (&'t ClassAd, &'t ClassAd) {
        match side {
            Side::Row => (self.source.ad(ad), self.other),
            Side::Other => (self.other, self.source.ad(ad)),
        }
    }

    /// Groups the ads by what an atom looks at.
    pub fn groups(&self, atom: &Atom) -> Groups {
        self.groups_of(self.ads, &atom.row)
    }

    /// Groups some of the ads by attributes.
    pub(crate) fn groups_of(&self, ads: &[u32], names: &[Name]) -> Groups {
        let mut groups = Partition::whole(ads.len());
        let columns = names.iter().filter_map(|name| self.table.column(name.key()));
        for column in columns.filter(|column| column.entries.len() > 1) {
            groups.split(|at| column.ids[ads[at] as usize]);
        }
        let first = groups.firsts().into_iter().map(|at| ads[at as usize]).collect();
        Groups { of: groups.of, first }
    }

    /// The settings for one of so many parts of an atom, which is itself one of many.
    pub(crate) fn settings_of_part(&self, parts: usize) -> EvalOptions {
        let (Limits { depth, work, bytes }, parts) = (self.settings.limits, (MAX_ATOMS * parts) as u64);
        EvalOptions { limits: Limits { depth, work: work / parts, bytes: bytes / parts }, ..self.settings.clone() }
    }

    /// The value of an atom for each group; none if a part of an expression takes so much work that the whole might not
    /// have been evaluated to the end.
    pub fn values(&self, atom: &Atom, groups: &Groups) -> Option<Vector> {
        // Only the evaluator knows the rules of older versions.
        let batched = self.settings.semantics.is_present().then(|| Batch::new(self, groups).atom(atom));
        if let Some(values) = batched.flatten() {
            self.table.batched.fetch_add(1, Ordering::Relaxed);
            return Some(values);
        }
        self.table.scalar.add(atom, groups.first.len());
        let part = matches!(atom.kind, AtomKind::Subexpr(_));
        let limited = if part { self.settings_of_part(1) } else { self.settings.clone() };
        let value = |at: &u32| scalar(atom, self.source.ad(*at), self.other, &limited);
        Some(Vector::Each(groups.first.iter().map(value).collect::<Option<_>>()?))
    }

    /// The ads for which an atom is true.
    pub fn yes(&self, atom: &Atom, groups: &Groups) -> Option<Mask> {
        let len = groups.of.len();
        let is_true = |value: &Value| value.as_condition() == Some(true);
        Some(match self.values(atom, groups)? {
            Vector::Same(value) if is_true(&value) => Mask::all(len),
            Vector::Same(_) => Mask::none(len),
            values => {
                let yes = values.each(groups.first.len(), is_true);
                Mask::of(len, |row| yes[groups.of[row] as usize])
            }
        })
    }

    /// The truth of an atom for each ad.
    pub fn truths(&self, atom: &Atom, groups: &Groups) -> Option<RowTruths> {
        Some(match self.values(atom, groups)? {
            Vector::Same(value) => RowTruths::same(groups.of.len(), Truth::of(&value)),
            values => RowTruths::of_groups(&groups.of, &values.each(groups.first.len(), Truth::of)),
        })
    }

    /// The truth of a clause for each ad.
    pub fn clause(
        &self,
        clause: &Clause,
        mut truths: impl FnMut(&Atom) -> Option<Arc<RowTruths>>,
    ) -> Option<Arc<RowTruths>> {
        let mut stack: Vec<Arc<RowTruths>> = Vec::new();
        for step in &clause.steps {
            let made = match step {
                ClauseStep::Atom(atom) => truths(atom)?,
                ClauseStep::Not => Arc::new(stack.pop()?.not()),
                ClauseStep::And | ClauseStep::Or => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    Arc::new(if matches!(step, ClauseStep::And) { left.and(&right) } else { left.or(&right) })
                }
                ClauseStep::Choose => {
                    let (no, yes, condition) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    Arc::new(condition.choose(&yes, &no))
                }
            };
            stack.push(made);
        }
        stack.pop()
    }

    /// The value of an expression for each ad; it belongs to the ad of a side.
    pub fn values_of(&self, side: Side, expr: &Expr) -> RowValues {
        if !self.table.is_by_column(self.ads) {
            return self.each(&|ad| {
                let (my, target) = self.sides(side, ad);
                Scope::new(my, self.settings).with_target(target).eval(expr).unwrap_or(Value::Error)
            });
        }
        let atom = expression(&self.pair(), expr, side, &mut Atoms::default());
        let groups = self.groups(&atom);
        let values = self.values(&atom, &groups);
        let values = values.map(|values| values.each(groups.first.len(), Value::clone)).unwrap_or_default();
        RowValues { of: groups.of, values }
    }

    /// The value of an attribute of each ad.
    pub fn attribute(&self, name: Name) -> RowValues {
        let value = |ad: u32| {
            let scope = Scope::new(self.source.ad(ad), self.settings).with_target(self.other);
            scope.eval_attr(name).unwrap_or(Value::Error)
        };
        if !self.table.is_by_column(self.ads) {
            return self.each(&value);
        }
        let Dependencies { row, .. } = self.pair().depends_of(name, Side::Row, &mut MentionsCache::default());
        let groups = self.groups_of(self.ads, &row);
        RowValues { values: map_all(&groups.first, |ad| value(*ad)), of: groups.of }
    }

    /// A value for every ad by itself.
    fn each(&self, value: &(dyn Fn(u32) -> Value + Sync)) -> RowValues {
        RowValues { of: (0..self.ads.len() as u32).collect(), values: map_all(self.ads, |ad| value(*ad)) }
    }
}

/// The value of an atom for one pair of ads.
pub fn scalar(atom: &Atom, row: &ClassAd, other: &ClassAd, settings: &EvalOptions) -> Option<Value> {
    let (my, target) = match atom.side {
        Side::Row => (row, other),
        Side::Other => (other, row),
    };
    let scope = Scope::new(my, settings).with_target(target);
    match &atom.kind {
        AtomKind::Subexpr(expr) => match scope.eval(expr) {
            Ok(value) => Some(value),
            Err(EvalError::Function(_)) => Some(Value::Error),
            Err(_) => None,
        },
        AtomKind::Expr(expr) => Some(scope.eval(expr).unwrap_or(Value::Error)),
        AtomKind::Requirements => Some(Value::Bool(matching::accepts(my, target, settings))),
        AtomKind::Rank => Some(Value::Real(matching::rank(my, target, settings))),
    }
}
