//! Ads by what conditions are for them: one stands for all of its kind, so that 100,000 slots are as quickly counted as
//! their kinds.
//!
//! In: a panel of ads, the ad opposite, and its conditions. Out: kinds of ads, for which all conditions of both sides are
//! the same, and the policies that the ads have. Conditions are taken apart as in [`classmate::internal::program`], whose rules say when
//! what `&&`, `||` and `?:` make of the parts is what the whole is.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::explain::clauses::{AdCondition, AdConditions, conditions, truth_of};
use crate::explain::panel::{Panel, Sight};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::conditions::Connective;
use classmate::internal::name::Name;
use classmate::internal::program::Side;
use classmate::internal::program::atom::{AtomKind, Atoms};
use classmate::internal::program::condition::{MAX_ATOMS, MAX_HEIGHT};
use classmate::internal::value::logic::Truth;

/// Ads of one block for which all conditions are the same.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    /// The first of them.
    pub(super) first: usize,
    /// How many they are.
    pub(super) size: usize,
    /// The number of their policy.
    pub(super) policy: usize,
    /// What each condition of the ad opposite is.
    pub(super) one: Vec<Truth>,
    /// What each condition of theirs is.
    pub(super) many: Vec<Truth>,
}

impl Kind {
    /// Whether the ad opposite accepts them.
    pub(super) fn is_accepted(&self) -> bool {
        self.one.first() == Some(&Truth::True)
    }

    /// Whether they accept the ad opposite.
    pub(super) fn accepts(&self) -> bool {
        self.many.first() == Some(&Truth::True)
    }

    /// Whether both is so.
    pub(super) fn matches(&self) -> bool {
        self.is_accepted() && self.accepts()
    }
}

/// Ads with the same requirements.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// The first of them.
    pub(super) first: usize,
    /// How many they are.
    pub(super) size: usize,
    /// The conditions.
    pub(super) plan: AdConditions,
    /// Their kinds.
    pub(super) kinds: Vec<usize>,
}

/// The kinds of some ads.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// For each ad its kind.
    pub(super) of: Vec<u32>,
    /// The kinds, in the order in which each is met first.
    pub(super) all: Vec<Kind>,
    /// The policies, in the order in which each is met first.
    pub(super) policies: Vec<Policy>,
}

impl Kinds {
    /// The kinds of the ads of a panel, opposite to an ad with these conditions.
    pub(super) fn of(panel: &Panel<'_>, one: &ClassAd, plan: &AdConditions) -> Self {
        let requirements = Name::new("Requirements");
        let mut policies: Vec<Policy> = Vec::new();
        for (at, number) in panel.policies.iter().enumerate() {
            if *number as usize == policies.len() {
                policies.push(Policy { first: at, ..Policy::default() });
            }
            policies[*number as usize].size += 1;
        }
        policies.par_iter_mut().for_each(|policy| policy.plan = conditions(panel.ads[policy.first], requirements));
        let split = |ads: &Vec<u32>| {
            let number = panel.policies[ads[0] as usize] as usize;
            split(panel.sight(ads, one), plan, &policies[number].plan)
        };
        let parts: Vec<Part> = panel.blocks.par_iter().map(split).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        let mut of = vec![0; panel.ads.len()];
        for (ads, part) in panel.blocks.iter().zip(parts) {
            let policy = panel.policies[ads[0] as usize] as usize;
            let before = kinds.len();
            for row in part.rows {
                let (one, many) = row.split_at(plan.all.len());
                kinds.push(Kind { first: usize::MAX, size: 0, policy, one: one.to_vec(), many: many.to_vec() });
            }
            for (ad, row) in ads.iter().zip(part.of) {
                let number = before + row as usize;
                of[*ad as usize] = number as u32;
                kinds[number].size += 1;
                kinds[number].first = kinds[number].first.min(*ad as usize);
            }
        }
        // Blocks are not in the order of the ads.
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        order.sort_unstable_by_key(|at| kinds[*at].first);
        let mut place = vec![0; kinds.len()];
        order.iter().enumerate().for_each(|(at, old)| place[*old] = at as u32);
        for kind in &mut of {
            *kind = place[*kind as usize];
        }
        kinds.sort_unstable_by_key(|kind| kind.first);
        for (at, kind) in kinds.iter().enumerate() {
            policies[kind.policy].kinds.push(at);
        }
        Kinds { of, all: kinds, policies }
    }

    /// How many ads some kinds have together.
    pub(super) fn count(&self, is: impl Fn(&Kind) -> bool) -> usize {
        self.all.iter().filter(|kind| is(kind)).map(|kind| kind.size).sum()
    }

    /// The ads of some kinds, in their order.
    pub(super) fn ads(&self, is: impl Fn(&Kind) -> bool) -> Vec<u32> {
        self.those(&self.all.iter().map(is).collect::<Vec<bool>>())
    }

    /// The ads of kinds with these numbers, in their order.
    pub(super) fn ads_of(&self, kinds: &[usize]) -> Vec<u32> {
        let mut wanted = vec![false; self.all.len()];
        for kind in kinds {
            wanted[*kind] = true;
        }
        self.those(&wanted)
    }

    fn those(&self, wanted: &[bool]) -> Vec<u32> {
        let all = self.of.iter().enumerate();
        all.filter(|(_, kind)| wanted[**kind as usize]).map(|(at, _)| at as u32).collect()
    }
}

/// Rows that occur in a block, and which each ad has.
struct Part {
    of: Vec<u32>,
    rows: Vec<Vec<Truth>>,
}

/// What the conditions of both sides are for the ads of a block, and which ads are alike in that.
fn split(sight: Sight<'_, '_>, plan: &AdConditions, policy: &AdConditions) -> Part {
    let columns = [truths(sight, Side::Other, plan), truths(sight, Side::Row, policy)].concat();
    let width = columns.len();
    let mut rows = vec![Truth::Undefined; width * sight.ads.len()];
    for (at, column) in columns.iter().enumerate() {
        for (place, truth) in column.iter().enumerate() {
            rows[place * width + at] = *truth;
        }
    }
    if width == 0 {
        return Part { of: vec![0; sight.ads.len()], rows: vec![Vec::new()] };
    }
    let mut known: HashMap<&[Truth], u32> = HashMap::new();
    let of = rows.chunks(width).map(|row| {
        let next = known.len() as u32;
        *known.entry(row).or_insert(next)
    });
    let of: Vec<u32> = of.collect();
    let mut distinct: Vec<(&[Truth], u32)> = known.into_iter().collect();
    distinct.sort_unstable_by_key(|(_, number)| *number);
    Part { of, rows: distinct.into_iter().map(|(row, _)| row.to_vec()).collect() }
}

/// What each condition of a side is for each ad of a block.
fn truths(sight: Sight<'_, '_>, side: Side, plan: &AdConditions) -> Vec<Vec<Truth>> {
    if sight.panel.is_by_column(sight.ads)
        && let Some(found) = apart(sight, side, plan)
    {
        return found;
    }
    let by_itself = |condition: &AdCondition| {
        let found = sight.values(side, &condition.expr);
        let truths: Vec<Truth> = found.values.iter().map(truth_of).collect();
        found.of.iter().map(|value| truths[*value as usize]).collect()
    };
    plan.all.iter().map(by_itself).collect()
}

/// As [`truths`], what consists of parts made of them; none if the parts of the expression might be something else by themselves.
fn apart(sight: Sight<'_, '_>, side: Side, plan: &AdConditions) -> Option<Vec<Vec<Truth>>> {
    let (world, mut atoms) = (sight.world(), Atoms::default());
    let requirements = Name::new("Requirements");
    let whole = world.depends_of(requirements, side, &mut atoms.surveyed);
    let leaves = plan.all.iter().filter(|condition| condition.connective == Connective::Leaf).count();
    if whole.random || whole.height > MAX_HEIGHT || leaves > MAX_ATOMS {
        return None;
    }
    let mut found: Vec<Vec<Truth>> = vec![Vec::new(); plan.all.len()];
    // Parts stand behind what they are parts of.
    for (at, condition) in plan.all.iter().enumerate().rev() {
        if condition.connective != Connective::Leaf {
            let parts: Vec<&[Truth]> = plan.parts(at).map(|below| found[below].as_slice()).collect();
            found[at] = joined(condition.connective, &parts);
            continue;
        }
        let expr = &condition.expr;
        let depends = world.depends(expr.tree(), expr.root(), side, &mut atoms.surveyed);
        let around = |name: &Name| depends.followed.contains(&(side, name.key()));
        // What refers to an expression in which it stands is circular there, and not by itself.
        if around(&requirements) || condition.place.via.iter().any(around) {
            return None;
        }
        let atom = atoms.intern(AtomKind::Subexpr(expr.clone()), side, depends);
        let groups = sight.groups(&atom);
        let values = sight.rows(|rows| rows.values(&atom, &groups, &world, sight.panel.settings))?;
        let truths = values.each(groups.first.len(), truth_of);
        found[at] = groups.of.iter().map(|group| truths[*group as usize]).collect();
    }
    Some(found)
}

/// What an operator of logic makes of its parts.
fn joined(joint: Connective, parts: &[&[Truth]]) -> Vec<Truth> {
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    let mut made = first.to_vec();
    let mut each = |other: &[Truth], combine: fn(Truth, Truth) -> Truth| {
        made.iter_mut().zip(other).for_each(|(truth, other)| *truth = combine(*truth, *other));
    };
    match (joint, rest) {
        (Connective::Choice, [yes, no]) => {
            let chosen = |(at, truth): (usize, &Truth)| match truth {
                Truth::True => yes[at],
                Truth::False => no[at],
                other => *other,
            };
            return first.iter().enumerate().map(chosen).collect();
        }
        (Connective::Any, _) => rest.iter().for_each(|part| each(part, Truth::or)),
        _ => rest.iter().for_each(|part| each(part, Truth::and)),
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::clauses::truths;
    use crate::explain::trial::Trials;
    use classmate::internal::eval::matching::symmetric;
    use classmate::internal::eval::scope::EvalOptions;
    use classmate::internal::format::long::LongReader;
    use classmate::internal::syntax::literal::Literal;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
    use classmate_pool::internal::generate::{NOW, Pool, Shape};

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    fn kinds(job: &str, slots: &[&str]) -> Vec<u32> {
        let (job, settings) = (ad(job), EvalOptions::default());
        // As many as are looked at by column.
        let slots: Vec<ClassAd> = slots.iter().cycle().take(slots.len() * 8).map(|text| ad(text)).collect();
        let panel = Panel::of(slots.iter().collect(), &job, &settings);
        Kinds::of(&panel, &job, &conditions(&job, Name::new("Requirements"))).of[..slots.len() / 8].to_vec()
    }

    #[test]
    fn only_outcomes_tell_slots_apart() {
        let slots = [
            "[Name = \"a\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"b\"; Memory = 2; Disk = 8; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"c\"; Memory = 3; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"d\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big isnt true]",
        ];
        assert_eq!(kinds("[Requirements = TARGET.Memory > 1]", &slots), [0, 1, 1, 2]);
        assert_eq!(kinds("[Requirements = Fits; Fits = TARGET.Disk > 7]", &slots), [0, 1, 0, 2]);
        // A condition that evaluates a text can look at anything.
        assert_eq!(kinds("[Requirements = eval(TARGET.Text) || TARGET.Memory > 2]", &slots), [0, 0, 1, 2]);
    }

    /// Conditions of jobs that are hard to take apart, and one that is not.
    const ODD: [&str; 9] = [
        "TARGET.Memory >= RequestMemory && (TARGET.Cpus > 4 || TARGET.HasSingularity) && TARGET.OpSys == \"LINUX\"",
        "TARGET.START && TARGET.Disk > 100000",
        "(TARGET.GPUs > 0 ? TARGET.Memory > 1000 : TARGET.Cpus) && TARGET.Arch",
        "TARGET.Nothing || TARGET.OpSys || TARGET.Memory > 4000",
        "Loop && TARGET.Cpus > 1",
        "TARGET.WithinResourceLimits && MY.Requirements",
        "eval(\"TARGET.Cpus > 2\") && TARGET.Memory > 2000",
        "TARGET[\"Memory\"] > 2000 && !(TARGET.Cpus < 2 || TARGET.GPUs)",
        "countMatches(TARGET.Cpus > 1, {MY}) > 0 || size(TARGET.OpSys) + TARGET.Cpus > 8",
    ];

    /// Slots of a made pool, some with odd policies.
    fn made(seed: u64, shape: Shape) -> (Vec<ClassAd>, Vec<ClassAd>) {
        let pool = Pool { slots: 120, jobs: 12, autoclusters: 12, seed, shape, claimed: 0.2, ..Pool::default() };
        let read =
            |text: &[u8]| LongReader::new(text, &ParseOptions::default()).collect::<Result<Vec<ClassAd>, _>>().unwrap();
        let (mut slots, mut jobs) = (Vec::new(), Vec::new());
        pool.write_slots(&mut slots).unwrap();
        pool.write_jobs(&mut jobs).unwrap();
        let (mut slots, mut jobs) = (read(&slots), read(&jobs));
        let texts = [
            "START && TARGET.RequestMemory <= Memory",
            "MY.Circle || TARGET.RequestCpus < Cpus",
            "TARGET.Requirements && Memory > 2000",
            "\"text\" && START",
        ];
        for (at, slot) in slots.iter_mut().enumerate() {
            slot.insert_expr("Circle", &parsed("Circle2 && Cpus > 2"));
            slot.insert_expr("Circle2", &parsed("Circle || Cpus > 4"));
            if let Some(text) = texts.get((at + seed as usize) % 9) {
                slot.insert_expr("Requirements", &parsed(text));
            }
        }
        for (job, text) in jobs.iter_mut().zip(ODD) {
            job.insert_expr("Loop", &parsed("Loop || TARGET.Memory > 5000"));
            job.insert_expr("Requirements", &parsed(text));
        }
        (slots, jobs)
    }

    fn parsed(text: &str) -> classmate::internal::syntax::expr::Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    #[test]
    fn kinds_are_counted_as_slot_by_slot_and_changes_are_tried_as_slot_by_slot() {
        let settings = EvalOptions { now: NOW, ..EvalOptions::default() };
        // What jobs ask after a change; a change is made of what is there, so the panel knows its names.
        let exprs = ["true", "TARGET.Cpus > 1 && Loop", "TARGET.Disk >= RequestDisk && MY.New"].map(parsed);
        for (seed, shape) in [(1, Shape::Ospool), (2, Shape::Gpu), (3, Shape::Static), (4, Shape::Distinct)] {
            let (slots, jobs) = made(seed, shape);
            for job in &jobs {
                let plan = conditions(job, Name::new("Requirements"));
                let panel = Panel::with(slots.iter().collect(), job, &exprs.each_ref(), &settings);
                let kinds = Kinds::of(&panel, job, &plan);
                assert!(kinds.all.iter().map(|kind| kind.size).sum::<usize>() == slots.len());
                for (slot, kind) in slots.iter().zip(&kinds.of) {
                    let kind = &kinds.all[*kind as usize];
                    let policy = conditions(slot, Name::new("Requirements"));
                    let texts = |plan: &AdConditions| {
                        plan.all.iter().map(|condition| condition.expr.to_string()).collect::<Vec<_>>()
                    };
                    assert_eq!(texts(&policy), texts(&kinds.policies[kind.policy].plan));
                    assert_eq!(kind.one, truths(&plan, job, slot, &settings), "seed {seed}: {job} {slot}");
                    assert_eq!(kind.many, truths(&policy, slot, job, &settings), "seed {seed}: {job} {slot}");
                    assert_eq!(kind.matches(), symmetric(job, slot, &settings), "seed {seed}: {job} {slot}");
                }
                let trials = Trials::new(&panel, job);
                let mut changed: Vec<(ClassAd, Vec<Name>)> = Vec::new();
                for (name, value) in [("RequestMemory", 1), ("RequestDisk", 1), ("New", 1), ("RequestGPUs", 0)] {
                    let mut other = job.clone();
                    other.insert_expr(name, &classmate::internal::syntax::expr::Expr::literal(Literal::Int(value)));
                    changed.push((other.clone(), vec![Name::new(name)]));
                    other.insert_expr("Requirements", &exprs[seed as usize % 3]);
                    changed.push((other, vec![Name::new(name), Name::new("Requirements")]));
                }
                for (other, names) in changed {
                    let before: Vec<bool> = slots.iter().map(|slot| symmetric(job, slot, &settings)).collect();
                    let after: Vec<bool> = slots.iter().map(|slot| symmetric(&other, slot, &settings)).collect();
                    let first = after.iter().zip(&before).position(|(after, before)| *after && !before);
                    let won = trials.of(&other, &names);
                    let count = after.iter().filter(|after| **after).count();
                    assert_eq!(won.as_ref().map(|won| won.first), first, "seed {seed}: {job} {names:?}");
                    assert!(won.is_none_or(|won| won.matching == count), "seed {seed}: {job} {names:?}");
                }
            }
        }
    }
}
