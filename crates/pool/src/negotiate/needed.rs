//! The slot attributes that a cycle can look at, given its settings and jobs.
//!
//! In: the configuration and the job ads. Out: a selection of attributes to read; `None` if all are needed. A cycle
//! over the selected attributes makes the same decisions as one over whole slot ads (`crates/cli/tests/projection.rs`).

use std::ops::Range;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::Snapshot;
use crate::negotiate::rules::Rules;
use crate::pool::needed::asked;
use crate::pool::similar::slip;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::format::selection::{Chooser, Selection, Written};
use classmate::internal::name::Name;
use classmate::internal::program::mentions::{Mentions, foresee};
use classmate::internal::syntax::expr::{Node, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::threads;
use classmate_config::internal::config::Config;

/// Minimum number of jobs per task of a thread.
const JOBS_PER_TASK: usize = 4096;

/// Pairs of names that are compared; if there are more, all attributes are read.
const MAX_COMPARED: usize = 2_000_000;

/// The slot attributes that one cycle under HTCondor's policy needs; `None` if they cannot be foreseen, or if the
/// configuration is invalid, which the cycle reports.
///
/// These are the attributes that the negotiator itself uses, and those that an expression of the configuration or of a job
/// names. Attributes that the expressions of a slot name are kept in that slot.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_config::Config;
/// use classmate_pool::internal::negotiate::needed::selection;
/// let job = ClassAd::parse(b"[Requirements = TARGET.Arch == \"a\"]")?;
/// let slot = ClassAd::parse(b"[Name = \"s\"; Arch = \"a\"; OpSys = \"b\"]")?;
/// let selection = selection(&Config::default(), &[job]).unwrap();
/// assert_eq!(selection.project(&slot).to_string(), r#"[ Arch = "a"; Name = "s" ]"#);
/// let job = ClassAd::parse(b"[Requirements = size(TARGET) > 1]")?;
/// assert!(classmate_pool::internal::negotiate::needed::selection(&Config::default(), &[job]).is_none());
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn selection(config: &Config, jobs: &[ClassAd]) -> Option<Selection> {
    of_cycle(config, jobs).map(|(selection, ..)| selection)
}

/// The selection, the settings, and the contents of the jobs.
fn of_cycle<'a>(config: &Config, jobs: &'a [ClassAd]) -> Option<(Selection, Rules, AdContents<'a>)> {
    let rules = Rules::read(config, &EvalOptions { semantics: config.semantics(), ..EvalOptions::default() }).ok()?;
    if rules.knobs.matching.cross_slot_prios {
        // Attributes of other slots of the machine, named by number.
        return None;
    }
    let mut selection = asked();
    selection.add(rules.match_exprs.iter().map(|(name, _)| *name));
    let of_jobs = contents(jobs);
    selection.defined_elsewhere(of_jobs.names.iter().copied());
    let foreseen = rules.expressions().all(|expr| selection.add_named_in(expr.tree()))
        && of_jobs.expressions.values().all(|tree| selection.add_named_in(tree));
    foreseen.then_some((selection, rules, of_jobs))
}

/// As [`selection`], for explanations of a cycle: with the attributes that may be intended by names that the first slots of
/// the pool do not have.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_config::Config;
/// use classmate_pool::internal::negotiate::needed::selection_to_explain;
/// let job = ClassAd::parse(b"[Requirements = TARGET.Memroy > 1]")?;
/// let slot = ClassAd::parse(b"[Memory = 2; Disk = 3]")?;
/// let selection = selection_to_explain(&Config::default(), &[job], &[slot.clone()]).unwrap();
/// assert!(selection.project(&slot).contains("Memory") && !selection.project(&slot).contains("Mips"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn selection_to_explain(config: &Config, jobs: &[ClassAd], first: &[ClassAd]) -> Option<Selection> {
    let (mut selection, rules, of_jobs) = of_cycle(config, jobs)?;
    let of_slots = contents(first);
    let trees = of_jobs.expressions.values().chain(of_slots.expressions.values()).map(|tree| &***tree);
    let mentioned: HashSet<Name> =
        trees.chain(rules.expressions().map(|expr| &**expr.tree())).flat_map(|tree| Mentions::of(tree).names).collect();
    if mentioned.len().saturating_mul(of_slots.names.len()) > MAX_COMPARED {
        return None;
    }
    for name in mentioned.difference(&of_slots.names) {
        selection.add(of_slots.names.iter().copied().filter(|one| slip(name.as_bytes(), one.as_bytes()).is_some()));
    }
    selection.add(OF_OTHER_COMMANDS.map(Name::new));
    selection.add([Name::new("Draining")]);
    Some(selection.with_prefix(TOTALS))
}

/// The beginning of the names of all resources of a partitionable slot.
const TOTALS: &[u8] = b"TotalSlot";

/// Slot attributes that `condor_submit` requires for commands that may do instead of those of a job.
const OF_OTHER_COMMANDS: [&str; 3] = ["HasContainer", "HasDockerURL", "HasFileTransfer"];

/// The names of all attributes that a cycle under HTCondor's policy may look at because an expression or a list names them: of the
/// configuration, of a job or of a slot. Those that the negotiator itself uses are not among them. `None` if they cannot be foreseen.
///
/// ```
/// use classmate::{ClassAd, Name};
/// use classmate_pool::Snapshot;
/// use classmate_pool::internal::negotiate::needed::mentioned;
/// let job = ClassAd::parse(b"[Requirements = TARGET.Arch == Wanted; RequestTokens = 2]")?;
/// let names = mentioned(&Snapshot { jobs: vec![job], ..Snapshot::default() }).unwrap();
/// assert!(["arch", "Wanted", "Tokens"].iter().all(|name| names.contains(&Name::new(name))));
/// assert!(!names.contains(&Name::new("OpSys")));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn mentioned(snapshot: &Snapshot) -> Option<HashSet<Name>> {
    /// A custom resource `X` of a slot is requested by `RequestX`.
    const REQUEST: &[u8] = b"Request";
    let rules = Rules::read(&snapshot.config, &snapshot.settings()).ok()?;
    if rules.knobs.matching.cross_slot_prios {
        return None;
    }
    let (jobs, slots) = (contents(&snapshot.jobs), contents(&snapshot.slots));
    let mut names: HashSet<Name> = rules.significant([]).names().collect();
    let trees = jobs.expressions.values().chain(slots.expressions.values()).map(|tree| &***tree);
    let (mut selectors, mut written) = (HashSet::new(), Vec::new());
    for tree in trees.chain(rules.expressions().map(|expr| &**expr.tree())) {
        let found = foresee(tree)?;
        names.extend(found.names);
        selectors.extend(found.selectors);
        written.extend(found.written);
    }
    // The values of attributes that select others by their names, in ads and in those written within them.
    for (_, value) in written.into_iter().filter(|(name, _)| selectors.contains(name)) {
        match value {
            Written::Text(text) => drop(names.insert(Name::new(&*text))),
            Written::Other => {}
            Written::Computed => return None,
        }
    }
    let ads = || snapshot.jobs.iter().chain(&snapshot.slots);
    for value in selectors.iter().flat_map(|name| ads().filter_map(|ad| ad.get(*name))) {
        match value.tree().node(value.root()) {
            Node::Literal(Literal::Str(text)) => drop(names.insert(Name::new(&**text))),
            Node::Literal(_) => {}
            _ => return None,
        }
    }
    let of_jobs = jobs.names.iter().filter(|name| name.folded().starts_with(b"request"));
    names.extend(of_jobs.map(|name| Name::new(&name.as_bytes()[REQUEST.len()..])));
    names.extend(slots.names.iter().map(|name| Name::new([REQUEST, name.as_bytes()].concat())));
    Some(names)
}

/// The contents of ads.
#[derive(Default)]
struct AdContents<'a> {
    /// Their distinct expressions, by address.
    expressions: HashMap<usize, &'a Arc<Tree>>,
    /// The names of their attributes.
    names: HashSet<Name>,
}

impl<'a> AdContents<'a> {
    fn add(&mut self, ad: &'a ClassAd) {
        for (name, value) in ad.attributes() {
            self.names.insert(name);
            self.expressions.extend(value.tree().map(|tree| (Arc::as_ptr(tree) as usize, tree)));
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.expressions.extend(other.expressions);
        self.names.extend(other.names);
        self
    }
}

fn contents(ads: &[ClassAd]) -> AdContents<'_> {
    let of_part = |part: Range<usize>| {
        let mut found = AdContents::default();
        let mut last: Option<&Arc<ClassAd>> = None;
        for ad in &ads[part] {
            found.add(ad);
            let mut above = ad.chained();
            if above.map(Arc::as_ptr) == last.map(Arc::as_ptr) {
                continue;
            }
            last = above;
            while let Some(parent) = above {
                found.add(parent);
                above = parent.chained();
            }
        }
        found
    };
    let parts = threads::map_parts(ads.len(), JOBS_PER_TASK, of_part);
    parts.into_iter().fold(AdContents::default(), AdContents::join)
}

impl Snapshot {
    /// Removes the slot attributes that one cycle under HTCondor's policy cannot use; returns false if all are needed.
    pub fn project(&mut self) -> bool {
        let Some(selection) = selection(&self.config, &self.jobs) else { return false };
        let mut chooser = Chooser::new(Arc::new(selection));
        self.slots.iter_mut().for_each(|ad| *ad = chooser.project(ad));
        true
    }
}
