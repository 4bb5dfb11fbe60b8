//! The constants of ads that are kept while ads are read, when only some can ever be used.
//!
//! In: the attributes of an ad as they are read. Out: the ad without the constants that no expression can name. Expressions
//! are all kept, and in each ad the constants that an expression of that ad names; so what is left out makes no
//! difference to expressions that name attributes only as the selection says.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::ad::{Attribute, ClassAd, Shapes};
use crate::format::vocabulary::SharedTexts;
use crate::name::{Key, Name};
use crate::syntax::expr::Tree;
use crate::syntax::literal::Literal;
use crate::text::Text;

/// The attributes that an expression can use, in any ad.
#[derive(Debug, Clone, Default)]
pub struct Foreseen {
    /// Attributes that it names.
    pub names: Vec<Name>,
    /// Attributes whose values are the names of others that it looks at: `TARGET[Which]`.
    pub selectors: Vec<Name>,
    /// The attributes of ads that are written in it.
    pub written: Vec<(Name, Written)>,
}

/// The value of an attribute of an ad that is written in an expression, as far as it could select another.
#[derive(Debug, Clone)]
pub enum Written {
    /// A string.
    Text(Text),
    /// Another constant.
    Other,
    /// Anything else.
    Computed,
}

/// Returns the attributes that an expression can use; none if that cannot be foreseen.
pub type Foresight = fn(&Tree) -> Option<Foreseen>;

/// The attributes that are kept of every ad.
#[derive(Debug, Clone)]
pub struct Selection {
    named: Vec<bool>,
    /// Attributes that others than the slot may define.
    elsewhere: HashSet<Key>,
    prefixes: Vec<Vec<u8>>,
    listing: Vec<Key>,
    foresight: Foresight,
}

impl Selection {
    /// A selection of these attributes.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate::internal::format::selection::{Foreseen, Selection};
    /// use classmate::Name;
    /// let selection = Selection::of([Name::new("Cpus")], |_| {
    ///     Some(Foreseen { names: vec![Name::new("Speed")], ..Foreseen::default() })
    /// });
    /// let ad = ClassAd::parse(b"[Cpus = 1; Speed = 2; Memory = 3; Rank = Speed * 2]")?;
    /// // What an expression of the ad itself names is kept with it.
    /// assert_eq!(selection.project(&ad).to_string(), "[ Cpus = 1; Rank = Speed * 2; Speed = 2 ]");
    /// let ad = ClassAd::parse(b"[Cpus = 1; Speed = 2; Memory = 3]")?;
    /// assert_eq!(selection.project(&ad).to_string(), "[ Cpus = 1 ]");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn of(names: impl IntoIterator<Item = Name>, foresight: Foresight) -> Self {
        let (named, elsewhere, prefixes, listing) = (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        let mut selection = Self { named, elsewhere, prefixes, listing, foresight };
        selection.add(names);
        // An ad that defines a name of the language changes the meaning of expressions that do not name it.
        selection.add(crate::name::well_known());
        selection
    }

    /// Keeps these attributes too.
    pub fn add(&mut self, names: impl IntoIterator<Item = Name>) {
        for name in names {
            let at = name.key().index();
            if self.named.len() <= at {
                self.named.resize(at + 1, false);
            }
            self.named[at] = true;
        }
    }

    /// Keeps whatever an expression that is no slot's can look at; false if that cannot be foreseen, and everything has
    /// to be kept.
    #[must_use]
    pub fn add_named_in(&mut self, tree: &Tree) -> bool {
        let Some(foreseen) = (self.foresight)(tree) else { return false };
        self.add(foreseen.names);
        self.defined_elsewhere(foreseen.written.into_iter().map(|(name, _)| name));
        foreseen.selectors.is_empty()
    }

    /// Attributes that may also be found outside of the ads that are read: if one of them selects others, its values
    /// are not known from the ad.
    pub fn defined_elsewhere(&mut self, names: impl IntoIterator<Item = Name>) {
        self.elsewhere.extend(names.into_iter().map(Name::key));
    }

    /// Keeps attributes whose names begin so, in any case.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &[u8]) -> Self {
        self.prefixes.push(prefix.to_ascii_lowercase());
        self
    }

    /// In each ad, keeps the attributes whose names this one lists, between blanks or commas.
    #[must_use]
    pub fn listed_by(mut self, name: Name) -> Self {
        self.listing.push(name.key());
        self.add([name]);
        self
    }

    /// The part of an ad, read whole, that is kept.
    pub fn project(&self, ad: &ClassAd) -> ClassAd {
        Chooser::new(Arc::new(self.clone())).project(ad)
    }

    /// Tests whether the values of an attribute in an ad are all that an expression of the ad can find under this name.
    fn is_known_from_ad(&self, key: Key) -> bool {
        self.named.get(key.index()) != Some(&true) && !self.elsewhere.contains(&key)
    }

    fn names(&self, name: Name) -> bool {
        self.named.get(name.key().index()) == Some(&true)
            || self.prefixes.iter().any(|prefix| name.folded().starts_with(prefix))
    }
}

/// A constant that is kept only if the ad turns out to name it.
#[derive(Debug)]
struct Pending {
    /// Number of attributes before it that are kept anyway.
    before: usize,
    name: Name,
    value: Held,
}

#[derive(Debug)]
enum Held {
    Value(Literal),
    /// A range of the texts that are held.
    Text(usize, usize),
}

/// Expressions whose names are remembered; then all are forgotten.
const MAX_REMEMBERED: usize = 1 << 14;

/// Makes the choice, ad after ad.
#[derive(Debug)]
pub struct Chooser {
    selection: Arc<Selection>,
    /// For each key whether it is kept: not known, no, yes.
    known: Vec<u8>,
    /// For each key the last ad that named it.
    named: Vec<u32>,
    ad: u32,
    /// The attributes that each expression can use, by its address; the tree keeps the address taken.
    of_trees: HashMap<usize, (Arc<Tree>, Option<Foreseen>)>,
    selectors: Vec<Name>,
    pending: Vec<Pending>,
    held: Vec<u8>,
    merged: Vec<(Name, Attribute)>,
    shapes: Shapes,
}

impl Chooser {
    /// Prepares to project ads onto a selection.
    pub fn new(selection: Arc<Selection>) -> Self {
        Self {
            selection,
            known: Vec::new(),
            named: Vec::new(),
            ad: 0,
            of_trees: HashMap::new(),
            selectors: Vec::new(),
            pending: Vec::new(),
            held: Vec::new(),
            merged: Vec::new(),
            shapes: Shapes::default(),
        }
    }

    /// Tests whether an attribute is kept in every ad.
    #[inline]
    pub(crate) fn keeps(&mut self, name: Name) -> bool {
        let at = name.key().index();
        match self.known.get(at) {
            Some(1) => false,
            Some(2) => true,
            _ => self.decide(name, at),
        }
    }

    #[cold]
    fn decide(&mut self, name: Name, at: usize) -> bool {
        if self.known.len() <= at {
            self.known.resize(at + 1, 0);
        }
        let keeps = self.selection.names(name);
        self.known[at] = 1 + u8::from(keeps);
        keeps
    }

    /// Holds a constant back behind `before` attributes that are kept.
    #[inline]
    pub(crate) fn hold(&mut self, before: usize, name: Name, value: Literal) {
        self.pending.push(Pending { before, name, value: Held::Value(value) });
    }

    /// As [`Chooser::hold`], for a string.
    #[inline]
    pub(crate) fn hold_text(&mut self, before: usize, name: Name, text: &[u8]) {
        let start = self.held.len();
        self.held.extend_from_slice(text);
        self.pending.push(Pending { before, name, value: Held::Text(start, self.held.len()) });
    }

    /// Puts what was held back and is named among the attributes that are kept.
    pub(crate) fn settle(&mut self, entries: &mut Vec<(Name, Attribute)>, texts: &mut SharedTexts) {
        if self.pending.is_empty() {
            return;
        }
        let whole = !self.mark(entries);
        let (named, ad) = (&self.named, self.ad);
        let kept = |name: Name| whole || named.get(name.key().index()) == Some(&ad);
        if self.pending.iter().any(|pending| kept(pending.name)) {
            self.merged.clear();
            let mut rest = entries.drain(..);
            let mut taken = 0;
            for Pending { before, name, value } in self.pending.drain(..).filter(|pending| kept(pending.name)) {
                self.merged.extend(rest.by_ref().take(before - taken));
                taken = before;
                let value = match value {
                    Held::Value(literal) => literal,
                    Held::Text(start, end) => Literal::Str(texts.text(&self.held[start..end])),
                };
                self.merged.push((name, Attribute::Literal(value)));
            }
            self.merged.extend(rest);
            std::mem::swap(entries, &mut self.merged);
        }
        self.pending.clear();
        self.held.clear();
    }

    /// Marks what the attributes of an ad name; false if that cannot be foreseen.
    fn mark(&mut self, entries: &[(Name, Attribute)]) -> bool {
        self.ad = self.ad.wrapping_add(1);
        if self.ad == 0 {
            self.named.clear();
            self.ad = 1;
        }
        self.selectors.clear();
        for (name, value) in entries {
            let lists = self.selection.listing.contains(&name.key());
            match value {
                Attribute::Tree(tree) => {
                    // If it comes again, as a constant, the last one counts.
                    note(&mut self.named, self.ad, *name);
                    if lists || !self.mark_named_in(tree) {
                        return false;
                    }
                }
                Attribute::Literal(Literal::Str(text)) if lists => {
                    let parts = text.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
                    for name in parts.filter_map(Name::known) {
                        note(&mut self.named, self.ad, name);
                    }
                }
                Attribute::Literal(_) => {}
            }
        }
        let selectors = std::mem::take(&mut self.selectors);
        let foreseen = selectors.iter().all(|selector| self.mark_selected(*selector, entries));
        self.selectors = selectors;
        foreseen
    }

    fn mark_named_in(&mut self, tree: &Arc<Tree>) -> bool {
        let address = Arc::as_ptr(tree) as usize;
        if !self.of_trees.contains_key(&address) {
            if self.of_trees.len() >= MAX_REMEMBERED {
                self.of_trees.clear();
            }
            self.of_trees.insert(address, (Arc::clone(tree), (self.selection.foresight)(tree)));
        }
        let Some((_, Some(foreseen))) = self.of_trees.get(&address) else { return false };
        foreseen.names.iter().for_each(|name| note(&mut self.named, self.ad, *name));
        self.selectors.extend(&foreseen.selectors);
        true
    }

    /// Marks what an attribute can select, which is what it is in this ad and in the ads that are written in it; false
    /// if that cannot be foreseen.
    fn mark_selected(&mut self, selector: Name, entries: &[(Name, Attribute)]) -> bool {
        if !self.selection.is_known_from_ad(selector.key()) {
            return false;
        }
        note(&mut self.named, self.ad, selector);
        let (named, ad) = (&mut self.named, self.ad);
        let mut select = |text: &[u8]| {
            // All names of this ad are known; what is not is the name of nothing.
            if let Some(name) = Name::known(text) {
                note(named, ad, name);
            }
        };
        for pending in self.pending.iter().filter(|pending| pending.name == selector) {
            match &pending.value {
                Held::Value(Literal::Str(text)) => select(text),
                Held::Value(_) => {}
                Held::Text(start, end) => select(&self.held[*start..*end]),
            }
        }
        for (name, value) in entries {
            match value {
                Attribute::Tree(_) if *name == selector => return false,
                Attribute::Literal(Literal::Str(text)) if *name == selector => select(text),
                Attribute::Literal(_) => {}
                Attribute::Tree(tree) => {
                    // It was marked, so it is there, unless there were too many.
                    let address = Arc::as_ptr(tree) as usize;
                    let Some((_, Some(foreseen))) = self.of_trees.get(&address) else { return false };
                    for (_, value) in foreseen.written.iter().filter(|(name, _)| *name == selector) {
                        match value {
                            Written::Text(text) => select(text),
                            Written::Other => {}
                            Written::Computed => return false,
                        }
                    }
                }
            }
        }
        true
    }

    /// The part of an ad that is kept.
    pub fn project(&mut self, ad: &ClassAd) -> ClassAd {
        if ad.chained().is_some() {
            // Expressions of the parent may name what the child has.
            return ad.clone();
        }
        let mut entries = Vec::with_capacity(ad.len());
        for (name, value) in ad.attributes() {
            match value {
                Attribute::Literal(literal) if !self.keeps(name) => self.hold(entries.len(), name, literal.clone()),
                value => entries.push((name, value.clone())),
            }
        }
        self.settle(&mut entries, &mut SharedTexts::default());
        self.shapes.make(&mut entries, 0)
    }
}

#[inline]
fn note(named: &mut Vec<u32>, ad: u32, name: Name) {
    let at = name.key().index();
    if named.len() <= at {
        named.resize(at + 1, 0);
    }
    named[at] = ad;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::long::LongReader;
    use crate::syntax::expr::Node;
    use crate::syntax::parse::ParseOptions;

    /// Names that stand alone or behind a dot; calls cannot be foreseen here.
    fn foresight(tree: &Tree) -> Option<Foreseen> {
        let name = |node: &Node| match node {
            Node::Attr(name) | Node::Select(name) => Some(*name),
            _ => None,
        };
        let calls = tree.nodes.iter().any(|node| matches!(node, Node::Call(_)));
        let names = tree.nodes.iter().filter_map(name).collect();
        (!calls).then(|| Foreseen { names, ..Foreseen::default() })
    }

    fn selection(names: &[&str]) -> Selection {
        Selection::of(names.iter().map(Name::new), foresight)
    }

    fn kept(selection: &Selection, ad: &str) -> String {
        selection.project(&ClassAd::parse(ad.as_bytes()).unwrap()).to_string()
    }

    #[test]
    fn each_ad_keeps_what_its_own_expressions_name() {
        let some = selection(&["A"]);
        assert_eq!(
            kept(&some, "[A = 1; B = 2; C = \"x\"; D = MY.B > TARGET.C]"),
            "[ A = 1; B = 2; C = \"x\"; D = MY.B > TARGET.C ]"
        );
        assert_eq!(kept(&some, "[A = 1; B = 2; C = \"x\"; D = B]"), "[ A = 1; B = 2; D = B ]");
        assert_eq!(kept(&some, "[B = 2; C = \"x\"]"), "[  ]");
    }

    #[test]
    fn an_ad_that_may_be_looked_at_as_a_whole_stays_whole() {
        assert_eq!(kept(&selection(&["A"]), "[A = 1; B = 2; C = f(A)]"), "[ A = 1; B = 2; C = f(A) ]");
    }

    #[test]
    fn names_of_the_language_prefixes_and_lists_are_kept() {
        let some = selection(&[]).with_prefix(b"Child").listed_by(Name::new("MachineResources"));
        assert_eq!(kept(&some, "[ChildCpus = 1; Parent1 = 2; target = 3]"), "[ target = 3; ChildCpus = 1 ]");
        let listed = "[Cpus = 1; GPUs = 2; MachineResources = \"Cpus, gpus\"; Swap = 3]";
        assert_eq!(kept(&some, listed), "[ Cpus = 1; GPUs = 2; MachineResources = \"Cpus, gpus\" ]");
        let computed = "[Cpus = 1; GPUs = 2; MachineResources = strcat(\"Cpus\"); Swap = 3]";
        assert_eq!(ClassAd::parse(kept(&some, computed).as_bytes()).unwrap().len(), 4);
    }

    #[test]
    fn reading_with_a_selection_is_reading_and_then_projecting() {
        let text = "A = 1\nB = \"b\"\nC = B == \"x\"\nX = 1\nX = Y\n\nY = 1\nY = 2\nX = Y\nQ = \"q\\\"q\"\n\nZ = 1\nz = 2\nA = 3\n\
            R = f(1)\n\nB = 2\nC = 3\n\n# only a comment\n\nA = 5\nB = (\nC = 1\n\nMachineResources = \"B\"\nC = \"\"\nB = \"\"\n";
        let some = selection(&["A"]).listed_by(Name::new("MachineResources"));
        let mut whole = LongReader::new(text.as_bytes(), &ParseOptions::default());
        let expected: Vec<String> = whole.by_ref().map(|ad| some.project(&ad.unwrap()).to_string()).collect();
        let mut projecting = LongReader::new(text.as_bytes(), &ParseOptions::default()).selecting(Arc::new(some));
        let read: Vec<String> = projecting.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        assert_eq!(read, expected);
        assert_eq!(whole.report(), projecting.report());
        assert_eq!(read[3], "[  ]");
        assert_eq!(read[1], "[ X = Y; Y = 2 ]");
        assert_eq!(read[2], "[ A = 3; R = f(1); Z = 2 ]");
    }

    #[test]
    fn the_last_of_several_values_counts_also_if_nobody_names_it() {
        let text = "X = Y\nY = 2\nX = 7\n";
        let reader = LongReader::new(text.as_bytes(), &ParseOptions::default());
        let ads: Vec<_> = reader.selecting(Arc::new(selection(&["A"]))).map(|ad| ad.unwrap().to_string()).collect();
        assert_eq!(ads, ["[ X = 7; Y = 2 ]"]);
    }
}
