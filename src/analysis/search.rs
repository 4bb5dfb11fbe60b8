//! The search for a pair of ads that meets some requirements.
//!
//! In: requirements of which each has to do with the others. Out: a pair of ads that meets them, which evaluation has
//! confirmed; or the certainty that there is none; or neither. The values of attributes are divided into the regions that
//! the conditions distinguish, region by region until what is wanted is impossible in each.

use super::evaluate::Analysis;
use super::inequalities::{Inequalities, is_true};
use super::patterns::Searches;
use super::proof::PairAnswer;
use super::quantities::{ExaminedCondition, LARGEST, Quantities, QuantityKind, Region, any_attribute};
use super::requirement::Requirement;
use super::values::{Texts, Truths, Values, kind};
use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Scope};
use crate::random::SplitMix64;
use crate::syntax::expr::NodeId;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};
use crate::text::Text;
use crate::value::Value;

/// Pairs of ads that are tried at first.
const FIRST_TRIES: usize = 200;

/// Pairs of ads that are tried where a combination is not decided.
const TRIES: usize = 24;

/// Nodes that are evaluated for pairs of ads in all, about.
const MAX_TRIED_NODES: usize = 100_000;

/// Deepest nesting in which the undecided part of a condition is looked for.
const MAX_DEPTH: u32 = 100;

/// The possibility of what is wanted in some regions.
enum Possibility {
    No,
    /// Depends on a quantity whose region is not chosen yet.
    DependsOn(usize),
    /// Not decided by regions.
    Undecided,
}

/// The search for a pair of ads that meets requirements.
pub(super) struct PairSearch<'a> {
    settings: &'a EvalOptions,
    requirements: &'a [Requirement],
    examined: Vec<ExaminedCondition<'a>>,
    quantities: Quantities,
    random: SplitMix64,
    /// Number of nodes of all requirements.
    size: usize,
    /// Number of pairs that may still be tried.
    tries: usize,
    /// Regions of quantities, `None` where any is possible.
    chosen: Vec<Option<usize>>,
}

impl<'a> PairSearch<'a> {
    pub(super) fn new(requirements: &'a [Requirement], settings: &'a EvalOptions) -> Self {
        let conditions: Vec<_> = requirements.iter().map(|requirement| &requirement.expr).collect();
        let (quantities, examined) = Quantities::of(&conditions, settings);
        let chosen = vec![None; quantities.all.len()];
        let size = requirements.iter().map(Requirement::size).sum::<usize>();
        let tries = MAX_TRIED_NODES / size.max(1);
        Self { settings, requirements, examined, quantities, random: SplitMix64::new(1), size, tries, chosen }
    }

    /// Tries pairs of ads without a proof.
    pub(super) fn guess(&mut self) -> Option<(ClassAd, ClassAd)> {
        self.attempt(FIRST_TRIES)
    }

    /// Looks at all combinations of regions, but at no more nodes than are left, and than a number.
    pub(super) fn run(&mut self, left: &mut usize, most: usize) -> PairAnswer {
        if let Some((my, target)) = self.attempt(TRIES) {
            return PairAnswer::Found { my, target };
        }
        // Larger numbers than those of the regions are in the conditions.
        let mut open = self.quantities.all.iter().any(|quantity| quantity.is_beyond);
        let mut waiting = vec![self.chosen.clone()];
        let least = left.saturating_sub(most);
        while let Some(chosen) = waiting.pop() {
            self.chosen = chosen;
            if *left <= least {
                return PairAnswer::Open;
            }
            *left = left.saturating_sub(self.size);
            match self.possibility() {
                Possibility::No => {}
                Possibility::DependsOn(quantity) => {
                    for region in (0..self.quantities.all[quantity].regions.len()).rev() {
                        let mut chosen = self.chosen.clone();
                        chosen[quantity] = Some(region);
                        waiting.push(chosen);
                    }
                }
                Possibility::Undecided => {
                    if let Some((my, target)) = self.attempt(TRIES) {
                        return PairAnswer::Found { my, target };
                    }
                    open = true;
                }
            }
        }
        if open { PairAnswer::Open } else { PairAnswer::Impossible }
    }

    fn region(&self, reference: Reference) -> Option<&Region> {
        let at = self.quantities.of_reference(reference)?;
        Some(&self.quantities.all[at].regions[self.chosen[at]?])
    }

    /// Calls a function with each requirement, its condition, and the analysis of it in the chosen regions.
    fn each<'s, T>(
        &'s self,
        mut look: impl FnMut(&'s Requirement, &'s ExaminedCondition<'a>, &Analysis<'_>) -> Option<T>,
    ) -> Option<T> {
        let base =
            |reference: Reference| self.region(reference).map_or_else(any_attribute, |region| region.values.clone());
        self.requirements.iter().zip(&self.examined).find_map(|(requirement, condition)| {
            let known = self.quantities.known(condition, &self.chosen, self.settings);
            look(requirement, condition, &Analysis::new(condition.expr.tree(), &base).with_parts(&known))
        })
    }

    fn possibility(&self) -> Possibility {
        let (mut depends, mut inequalities, mut searches) = (None, Inequalities::default(), Searches::default());
        let impossible = self.each(|requirement, condition, analysis| {
            let root = condition.expr.root();
            let truths = analysis.truths(root);
            if !truths.has(requirement.wanted) {
                return Some(());
            }
            if depends.is_none() && !truths.within(requirement.wanted) {
                depends = undecided(analysis, condition, root, &self.chosen, 0);
            }
            each_decided(analysis, condition, requirement.wanted, &mut |id, is_true| {
                inequalities.add(analysis, id, is_true);
                searches.add(analysis, id, is_true);
            });
            None
        });
        if impossible.is_some() || searches.is_contradiction() || inequalities.is_contradiction() {
            return Possibility::No;
        }
        depends.map_or(Possibility::Undecided, Possibility::DependsOn)
    }

    /// Tries pairs of ads with values of the chosen regions.
    fn attempt(&mut self, tries: usize) -> Option<(ClassAd, ClassAd)> {
        let mut inequalities = Inequalities::supposing_numbers();
        self.each(|requirement, condition, analysis| {
            each_decided(analysis, condition, requirement.wanted, &mut |id, is_true| {
                inequalities.add(analysis, id, is_true);
            });
            None::<()>
        });
        let numbers = inequalities.numbers(self.settings.time());
        for attempt in 0..tries.min(self.tries) {
            self.tries -= 1;
            let (mut my, mut target) = (ClassAd::new(), ClassAd::new());
            // Every second pair has the numbers that satisfy the inequalities.
            let number_of = |reference: Reference| {
                let number = numbers.iter().find(|(of, _)| *of == reference).filter(|_| attempt % 2 == 0)?.1;
                let is_whole = number.fract() == 0.0 && number.abs() < LARGEST as f64;
                Some(if is_whole { Value::Int(number as i64) } else { Value::Real(number) })
            };
            for (quantity, region) in self.quantities.all.iter().zip(&self.chosen) {
                let QuantityKind::Attribute(reference) = quantity.kind else { continue };
                let number = self.random.below(quantity.regions.len() as u64) as usize;
                let region = &quantity.regions[region.unwrap_or(number)];
                let ad = if reference.scope == RefScope::Target { &mut target } else { &mut my };
                let value = number_of(reference)
                    .or_else(|| value_of(region, &mut self.random, &|text| quantity.is_compared_with(text)));
                // A missing attribute is undefined, too.
                let value = value.filter(|value| !matches!(value, Value::Undefined));
                if let Some(value) = value.filter(|_| !ad.contains(reference.name)) {
                    ad.insert(reference.name, value);
                }
            }
            if are_met(self.requirements, &my, &target, self.settings) {
                return Some((my, target));
            }
        }
        None
    }
}

/// Tests whether a pair of ads meets requirements.
pub(super) fn are_met(requirements: &[Requirement], my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> bool {
    let scope = Scope::new(my, settings).with_target(target);
    requirements.iter().all(|requirement| match scope.eval(&requirement.expr) {
        Ok(value) => Values::value(&value).truths().has(requirement.wanted),
        // An abandoned evaluation does not hold, as for `Scope::holds`.
        Err(_) => !requirement.wanted.within(Truths::TRUE),
    })
}

/// Calls a function with the comparisons and calls that are true, or false, wherever a condition has one of some truths.
fn each_decided(
    analysis: &Analysis<'_>,
    condition: &ExaminedCondition<'_>,
    wanted: Truths,
    found: &mut dyn FnMut(NodeId, bool),
) {
    let mut forced = Vec::new();
    force(analysis, condition.expr.root(), wanted, &mut forced);
    for &id in &condition.decisive {
        analysis.renew();
        let forced = forced.iter().filter(|(of, _)| *of == id);
        let truths = forced.fold(analysis.truths(id), |truths, (_, wanted)| truths.and(*wanted));
        if let Some(is_true) = is_true(truths) {
            found(id, is_true);
        }
    }
}

/// The truths that parts have wherever a condition has one of some truths.
fn force(analysis: &Analysis<'_>, id: NodeId, wanted: Truths, forced: &mut Vec<(NodeId, Truths)>) {
    let tree = analysis.tree();
    analysis.renew();
    match tree.view(id) {
        View::Paren(inner) => force(analysis, inner, wanted, forced),
        View::Not(operand) => force(analysis, operand, super::evaluate::not(wanted), forced),
        View::Logic { op, .. } => {
            let decides = if op == BinaryOp::And { Truths::FALSE } else { Truths::TRUE };
            let goes_on = super::evaluate::not(decides);
            let operands = tree.operands(op, id);
            let truths: Vec<Truths> = operands.iter().map(|operand| analysis.truths(*operand)).collect();
            if wanted == goes_on {
                for operand in operands {
                    force(analysis, operand, wanted, forced);
                }
            } else if !wanted.has(goes_on) {
                // The only one that can have another truth has one that is wanted.
                let mut others = (0..operands.len()).filter(|at| !truths[*at].within(goes_on));
                if let (Some(only), None) = (others.next(), others.next()) {
                    force(analysis, operands[only], wanted, forced);
                }
            }
        }
        View::Choice { condition, yes, no } => match is_true(analysis.truths(condition)) {
            Some(true) => force(analysis, yes, wanted, forced),
            Some(false) => force(analysis, no, wanted, forced),
            None => {}
        },
        _ => forced.push((id, wanted)),
    }
}

/// A quantity without a region in the first part of a condition that is not decided.
fn undecided(
    analysis: &Analysis<'_>,
    condition: &ExaminedCondition<'_>,
    id: NodeId,
    chosen: &[Option<usize>],
    depth: u32,
) -> Option<usize> {
    analysis.renew();
    let truths = analysis.truths(id);
    let decided = [Truths::NONE, Truths::TRUE, Truths::FALSE, Truths::UNDEFINED, Truths::ERROR].contains(&truths);
    if decided || depth > MAX_DEPTH {
        return None;
    }
    let tree = condition.expr.tree();
    let within = |id: NodeId| undecided(analysis, condition, id, chosen, depth + 1);
    match tree.view(id) {
        View::Paren(inner) | View::Not(inner) => within(inner),
        View::Logic { op, .. } => tree.operands(op, id).into_iter().find_map(within),
        View::Choice { condition, yes, no } => [condition, yes, no].into_iter().find_map(within),
        // The last one is the part or the order itself, which decides most.
        _ => condition.quantities(id).filter(|quantity| chosen[*quantity].is_none()).last(),
    }
}

/// The part of a range that is near its ends, if these are numbers that conditions name, else near zero.
fn near<T: PartialOrd + Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>>(
    low: T,
    high: T,
    least: T,
    most: T,
    width: T,
) -> (T, T) {
    match (low <= least, high >= most) {
        // Small numbers meet often.
        (true, true) => (least + most - width, width),
        (true, false) => (if high - width > low { high - width } else { low }, high),
        (false, _) => (low, if low + width < high { low + width } else { high }),
    }
}

/// A value of a region; none if it has none that can be written.
fn value_of(region: &Region, random: &mut SplitMix64, is_named: &dyn Fn(&Text) -> bool) -> Option<Value> {
    let values = &region.values;
    let way = random.below(4);
    if region.other_text {
        let letters = ["other", "Other", "x", ""].map(Text::new);
        return letters.into_iter().cycle().skip(way as usize).take(4).find(|text| !is_named(text)).map(Value::Str);
    }
    match &values.texts {
        Texts::Exact(texts) => return texts.first().cloned().map(Value::Str),
        Texts::Folded(texts) => {
            let text = texts.first()?;
            let turned = |byte: &u8| {
                if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
            };
            let other: Vec<u8> = text.as_bytes().iter().map(turned).collect();
            return Some(Value::Str(if way == 0 { Text::new(&other) } else { text.clone() }));
        }
        Texts::None | Texts::Any => {}
    }
    match (values.ints, values.reals) {
        (Some((low, high)), reals) if way < 3 || reals.is_none() => {
            let (low, high) = near(low, high, -LARGEST, LARGEST, if way < 2 { 1_000 } else { 12 });
            Some(Value::Int(match way {
                0 => low,
                1 => high,
                _ => low + random.below(high.abs_diff(low)) as i64,
            }))
        }
        (_, Some((low, high))) => {
            let (low, high) = near(low, high, -LARGEST as f64, LARGEST as f64, 12.0);
            let middle = low + (high - low) * random.uniform();
            let short = [2.0, 100.0].map(|parts| (middle * parts).round() / parts);
            let short = short.into_iter().find(|short| (low..=high).contains(short));
            Some(Value::Real(short.unwrap_or(middle)))
        }
        _ => [
            (kind::TRUE, Value::Bool(true)),
            (kind::FALSE, Value::Bool(false)),
            (kind::UNDEFINED, Value::Undefined),
            (kind::ERROR, Value::Error),
            (kind::NAN, Value::Real(f64::NAN)),
        ]
        .into_iter()
        .find_map(|(bit, value)| values.has(bit).then_some(value)),
    }
}
