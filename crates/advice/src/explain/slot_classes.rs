//! Ads by the outcomes of conditions: one stands for its whole class, so that 100,000 slots are counted as quickly as their
//! classes.
//!
//! In: a table of ads, the ad opposite, and its conditions. Out: classes of ads for which all conditions of both sides have
//! the same outcomes, and the policies of the ads. Conditions are split as in [`classmate::internal::program`], whose rules
//! say when `&&`, `||` and `?:` of the parts give the outcome of the whole.

use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdCondition, AdConditions, conditions_of, truth_of};
use classmate::internal::eval::conditions::Connective;
use classmate::internal::program::Side;
use classmate::internal::program::atom::{AtomKind, Atoms};
use classmate::internal::program::mask::RowTruths;
use classmate::internal::program::partition::Partition;
use classmate::internal::program::view::TableView;
use classmate::internal::threads;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Name};

/// Ads of one block for which all conditions have the same outcomes.
#[derive(Debug, Clone)]
pub(super) struct SlotClass {
    /// The first of them.
    pub(super) first: usize,
    /// Number of ads.
    pub(super) size: usize,
    /// The number of their policy.
    pub(super) policy: usize,
    /// The outcome of each condition of the ad opposite.
    pub(super) one: Vec<Truth>,
    /// The outcome of each of their own conditions.
    pub(super) many: Vec<Truth>,
}

impl SlotClass {
    /// Returns whether the ad opposite accepts them.
    pub(super) fn is_accepted(&self) -> bool {
        self.one.first() == Some(&Truth::True)
    }

    /// Returns whether they accept the ad opposite.
    pub(super) fn accepts(&self) -> bool {
        self.many.first() == Some(&Truth::True)
    }

    /// Returns whether both sides accept each other.
    pub(super) fn matches(&self) -> bool {
        self.is_accepted() && self.accepts()
    }
}

/// Ads with the same requirements.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// The first of them.
    pub(super) first: usize,
    /// Number of ads.
    pub(super) size: usize,
    /// The conditions.
    pub(super) conditions: AdConditions,
    /// Their classes.
    pub(super) classes: Vec<usize>,
}

/// The classes of some ads.
#[derive(Debug, Default)]
pub(super) struct SlotClasses {
    /// The class of each ad.
    pub(super) of: Vec<u32>,
    /// The ads of each class, in their order.
    members: Vec<Vec<u32>>,
    /// The classes, in the order of their first ads.
    pub(super) all: Vec<SlotClass>,
    /// The policies, in the order of their first ads.
    pub(super) policies: Vec<Policy>,
}

impl SlotClasses {
    /// The classes of the ads of a table, opposite to an ad with these conditions.
    pub(super) fn of(table: &AdTable<'_>, one: &ClassAd, conditions: &AdConditions) -> Self {
        let requirements = Name::new("Requirements");
        let policy = |ads: &Vec<u32>| {
            let first = ads[0] as usize;
            Policy {
                first,
                size: ads.len(),
                conditions: conditions_of(table.ads[first], requirements),
                classes: Vec::new(),
            }
        };
        let mut policies: Vec<Policy> = threads::map_all(&table.policies.members(), policy);
        let split = |ads: &Vec<u32>| {
            let policy = table.policies.of[ads[0] as usize] as usize;
            split(&table.view(ads, one), policy, [conditions, &policies[policy].conditions])
        };
        let parts: Vec<(Partition, Vec<SlotClass>)> = threads::map_all(&table.blocks, split);
        let mut all: Vec<SlotClass> = Vec::new();
        let mut of = vec![0; table.ads.len()];
        for (ads, (part, classes)) in table.blocks.iter().zip(parts) {
            for (ad, class) in ads.iter().zip(part.of) {
                of[*ad as usize] = all.len() as u32 + class;
            }
            all.extend(classes);
        }
        // Blocks are not in the order of the ads.
        let mut classes = Partition::whole(of.len());
        classes.split(|at| of[at]);
        all.sort_unstable_by_key(|class| class.first);
        for (at, class) in all.iter().enumerate() {
            policies[class.policy].classes.push(at);
        }
        SlotClasses { members: classes.members(), of: classes.of, all, policies }
    }

    /// Number of ads of some classes together.
    pub(super) fn count(&self, is: impl Fn(&SlotClass) -> bool) -> usize {
        self.all.iter().filter(|class| is(class)).map(|class| class.size).sum()
    }

    /// Number of ads of classes with these numbers.
    pub(super) fn size(&self, classes: &[usize]) -> usize {
        classes.iter().map(|class| self.all[*class].size).sum()
    }

    /// The ads of some classes, in their order.
    pub(super) fn ads(&self, is: impl Fn(&SlotClass) -> bool) -> Vec<u32> {
        let wanted: Vec<bool> = self.all.iter().map(is).collect();
        (0..).zip(&self.of).filter(|(_, class)| wanted[**class as usize]).map(|(ad, _)| ad).collect()
    }

    /// The ads of classes with these numbers, in their order.
    pub(super) fn ads_of(&self, classes: &[usize]) -> Vec<u32> {
        let mut ads: Vec<u32> = classes.iter().flat_map(|class| &self.members[*class]).copied().collect();
        if classes.len() > 1 {
            ads.sort_unstable();
            ads.dedup();
        }
        ads
    }
}

/// The classes of the ads of a block, by the conditions of the one ad and of theirs.
fn split(view: &TableView<'_>, policy: usize, [one, many]: [&AdConditions; 2]) -> (Partition, Vec<SlotClass>) {
    let columns = [truths(view, Side::Other, one), truths(view, Side::Row, many)];
    let mut part = Partition::whole(view.ads.len());
    for truths in columns.iter().flatten() {
        part.split(|row| truths.of_row(row) as u32);
    }
    let class = |rows: Vec<u32>| {
        let first = rows[0] as usize;
        let [one, many] = columns.each_ref().map(|columns| columns.iter().map(|truths| truths.of_row(first)).collect());
        SlotClass { first: view.ads[first] as usize, size: rows.len(), policy, one, many }
    };
    let classes = part.members().into_iter().map(class).collect();
    (part, classes)
}

/// The truth of each condition of a side for the ads of a block.
fn truths(view: &TableView<'_>, side: Side, conditions: &AdConditions) -> Vec<RowTruths> {
    if view.table.is_by_column(view.ads)
        && let Some(found) = joined(view, side, conditions)
    {
        return found;
    }
    let by_itself = |condition: &AdCondition| {
        let found = view.values_of(side, &condition.expr);
        RowTruths::of_groups(&found.of, &found.values.iter().map(truth_of).collect::<Vec<_>>())
    };
    conditions.all.iter().map(by_itself).collect()
}

/// As [`truths`], but conditions are joined from their parts; none if parts of the expression might have another value by
/// themselves.
fn joined(view: &TableView<'_>, side: Side, conditions: &AdConditions) -> Option<Vec<RowTruths>> {
    let (pair, mut atoms) = (view.pair(), Atoms::default());
    let requirements = Name::new("Requirements");
    let whole = pair.depends_of(requirements, side, &mut atoms.mentions);
    let leaves = conditions.all.iter().filter(|condition| condition.connective == Connective::Leaf).count();
    if !whole.is_divisible(leaves) {
        return None;
    }
    let mut found: Vec<RowTruths> = vec![RowTruths::same(0, Truth::Undefined); conditions.all.len()];
    // Parts come after the condition they belong to.
    for (at, condition) in conditions.all.iter().enumerate().rev() {
        if condition.connective != Connective::Leaf {
            let parts: Vec<&RowTruths> = conditions.parts(at).map(|below| &found[below]).collect();
            found[at] = match (condition.connective, parts.as_slice()) {
                (Connective::Choice, [condition, yes, no]) => condition.choose(yes, no),
                (connective, [first, rest @ ..]) => rest.iter().fold(RowTruths::clone(first), |left, right| {
                    if connective == Connective::Any { left.or(right) } else { left.and(right) }
                }),
                _ => continue,
            };
            continue;
        }
        let expr = &condition.expr;
        let depends = pair.depends(expr.tree(), expr.root(), side, &mut atoms.mentions);
        let around = |name: &Name| depends.followed.contains(&(side, name.key()));
        // A reference to an expression that contains it is circular there, and not by itself.
        if around(&requirements) || condition.place.via.iter().any(around) {
            return None;
        }
        let atom = atoms.intern(AtomKind::Subexpr(expr.clone()), side, depends);
        found[at] = view.truths(&atom, &view.groups(&atom))?;
    }
    Some(found)
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
    use classmate_pool::internal::generate::{GeneratedPool, NOW, Shape};

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    fn classes(job: &str, slots: &[&str]) -> Vec<u32> {
        let (job, settings) = (ad(job), EvalOptions::default());
        // As many as are looked at by column.
        let slots: Vec<ClassAd> = slots.iter().cycle().take(slots.len() * 8).map(|text| ad(text)).collect();
        let table = AdTable::of(slots.iter().collect(), &job, &[], &settings);
        SlotClasses::of(&table, &job, &conditions_of(&job, Name::new("Requirements"))).of[..slots.len() / 8].to_vec()
    }

    #[test]
    fn only_outcomes_tell_slots_apart() {
        let slots = [
            "[Name = \"a\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"b\"; Memory = 2; Disk = 8; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"c\"; Memory = 3; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"d\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big isnt true]",
        ];
        assert_eq!(classes("[Requirements = TARGET.Memory > 1]", &slots), [0, 1, 1, 2]);
        assert_eq!(classes("[Requirements = Fits; Fits = TARGET.Disk > 7]", &slots), [0, 1, 0, 2]);
        // A condition that evaluates a text can look at anything.
        assert_eq!(classes("[Requirements = eval(TARGET.Text) || TARGET.Memory > 2]", &slots), [0, 0, 1, 2]);
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
        let pool = GeneratedPool {
            slots: 120,
            jobs: 12,
            autoclusters: 12,
            seed,
            shape,
            claimed: 0.2,
            ..GeneratedPool::default()
        };
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
        // What jobs ask after a change; a change is made of what is there, so the table knows its names.
        let exprs = ["true", "TARGET.Cpus > 1 && Loop", "TARGET.Disk >= RequestDisk && MY.New"].map(parsed);
        for (seed, shape) in
            [(1, Shape::Ospool), (2, Shape::Gpu), (3, Shape::Static), (4, Shape::Distinct), (5, Shape::Stock)]
        {
            let (slots, jobs) = made(seed, shape);
            for job in &jobs {
                let conditions = conditions_of(job, Name::new("Requirements"));
                let table = AdTable::of(slots.iter().collect(), job, &exprs.each_ref(), &settings);
                let classes = SlotClasses::of(&table, job, &conditions);
                assert!(classes.all.iter().map(|class| class.size).sum::<usize>() == slots.len());
                for (slot, class) in slots.iter().zip(&classes.of) {
                    let class = &classes.all[*class as usize];
                    let policy = conditions_of(slot, Name::new("Requirements"));
                    let texts = |conditions: &AdConditions| {
                        conditions.all.iter().map(|condition| condition.expr.to_string()).collect::<Vec<_>>()
                    };
                    assert_eq!(texts(&policy), texts(&classes.policies[class.policy].conditions));
                    assert_eq!(class.one, truths(&conditions, job, slot, &settings), "seed {seed}: {job} {slot}");
                    assert_eq!(class.many, truths(&policy, slot, job, &settings), "seed {seed}: {job} {slot}");
                    assert_eq!(class.matches(), symmetric(job, slot, &settings), "seed {seed}: {job} {slot}");
                }
                let trials = Trials::new(&table, job);
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
                    assert_eq!(won.as_ref().map(|won| won.won[0] as usize), first, "seed {seed}: {job} {names:?}");
                    assert!(won.is_none_or(|won| won.matching == count), "seed {seed}: {job} {names:?}");
                }
            }
        }
    }
}
