//! The names that an expression mentions, and whether its value depends on anything else.

use crate::format::selection::{Foreseen, Written};
use crate::name::{Name, known};
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::view::is_ad_name;

/// The names and the properties of an expression that decide what it can look at.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub struct Mentions {
    /// Every attribute it names, in whatever ad.
    pub names: Vec<Name>,
    /// Attributes whose values are names of attributes it looks at: `TARGET[Which]`.
    pub selectors: Vec<Name>,
    /// It looks at ads as a whole, evaluates strings, or names the sides of a match by position.
    pub opaque: bool,
    /// Its parts depend on one another: a part by itself may have another value.
    pub bound: bool,
    /// It draws random numbers, so the evaluation of everything around it depends on it.
    pub random: bool,
    /// It reads usage, which changes during a cycle.
    pub live: bool,
    /// Its levels.
    pub depth: usize,
}

/// Functions that leave the evaluation where they found their first argument.
const MOVING: [&[u8]; 4] = [b"evalineachcontext", b"countmatches", b"unresolved", b"unparse"];

impl Mentions {
    /// The mentions of a whole tree.
    pub fn of(tree: &Tree) -> Self {
        Self::of_part(tree, (0, tree.root()))
    }

    /// The mentions of a part of a tree: its first node and its last, which is the part.
    pub fn of_part(tree: &Tree, (first, last): (NodeId, NodeId)) -> Self {
        let mut found = Self::default();
        // Parts come before the node they belong to.
        let mut depths: Vec<usize> = Vec::with_capacity((last - first + 1) as usize);
        for at in first..=last {
            found.node(tree, at, last);
            let below = tree.parts(at).into_iter().filter_map(|part| depths.get((part - first) as usize)).max();
            depths.push(1 + below.copied().unwrap_or(0));
        }
        found.depth = depths.into_iter().max().unwrap_or(0);
        found
    }

    fn node(&mut self, tree: &Tree, at: NodeId, last: NodeId) {
        match tree.node(at) {
            Node::Attr(name) if is_ad_name(*name) => {
                let selected = at < last && matches!(tree.node(at + 1), Node::Select(_));
                let is_base = |node| matches!(tree.node(node), Node::Subscript { base, .. } if *base == at);
                let subscripted = || (at..=last).any(is_base);
                let by_place = !matches!(name.key(), known::MY | known::TARGET);
                self.opaque |= by_place || !(selected || subscripted());
            }
            Node::Attr(name) | Node::Select(name) => self.names.push(*name),
            Node::Absolute(_) => self.opaque = true,
            Node::Subscript { index, .. } => match tree.node(*index) {
                // A string that was never seen as a name names no attribute.
                Node::Literal(Literal::Str(text)) => self.names.extend(Name::known(text)),
                Node::Literal(_) => {}
                Node::Attr(name) => self.selectors.push(*name),
                // An index into the list that a function or a list in place makes.
                _ => self.opaque = true,
            },
            Node::Call(call) => {
                let name = tree.calls[*call as usize].name.folded();
                self.opaque |= matches!(name, b"eval" | b"usermap" | b"userhome");
                self.bound |= is_moving(tree.calls[*call as usize].name);
                self.random |= name == b"random";
                self.live |= name.starts_with(b"resourcesinuse");
            }
            Node::Ad(run) => self.names.extend(tree.ad(*run).iter().map(|(name, _)| *name)),
            _ => {}
        }
    }
}

/// The attributes that the evaluation of a tree can look at, except those that other expressions lead to; none if they
/// cannot be foreseen.
pub fn foresee(tree: &Tree) -> Option<Foreseen> {
    let Mentions { mut names, selectors, opaque, .. } = Mentions::of(tree);
    // These two turn expressions into strings, including names that are not evaluated.
    let names_by_text = |name: Name| matches!(name.folded(), b"unparse" | b"unresolved");
    if opaque || tree.calls.iter().any(|call| names_by_text(call.name)) {
        return None;
    }
    // Ads that are read later may have the attribute that a string in brackets names.
    for node in &tree.nodes {
        if let Node::Subscript { index, .. } = node
            && let Node::Literal(Literal::Str(text)) = tree.node(*index)
        {
            names.push(Name::new(text.as_bytes()));
        }
    }
    let written = |(name, value): &(Name, NodeId)| {
        let written = match tree.node(*value) {
            Node::Literal(Literal::Str(text)) => Written::Text(text.clone()),
            Node::Literal(_) => Written::Other,
            _ => Written::Computed,
        };
        (*name, written)
    };
    let written = tree.attributes.iter().map(written).collect();
    Some(Foreseen { names, selectors, written })
}

/// Returns whether a function of this name leaves the evaluation where it found its first argument.
pub fn is_moving(name: Name) -> bool {
    MOVING.contains(&name.folded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn mentions(text: &str) -> Mentions {
        Mentions::of(parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap().tree())
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        // A text is the name of an attribute only if there is such an attribute anywhere. How a name is spelled is how it
        // was met first in this process, which another test may have done.
        let _ = Name::new("selected_by_text");
        let found = mentions("MY.a > TARGET.b && f({c, [d = e].g})[0] == TARGET[\"selected_by_text\"] || TARGET[i]");
        let mut names: Vec<String> = found.names.iter().map(ToString::to_string).collect();
        names.sort();
        names.dedup();
        assert_eq!(names, ["a", "b", "c", "d", "e", "g", "i", "selected_by_text"]);
        assert_eq!(found.selectors, [Name::new("i")]);
        assert!(!found.opaque);
    }

    #[test]
    fn levels_are_counted_as_they_nest() {
        for (text, depth) in [("a", 1), ("MY.a", 2), ("a && b && c", 3), ("f(a, (b + 1)) ?: 2", 5), ("{[x = !a]}", 4)] {
            assert_eq!(mentions(text).depth, depth, "{text}");
        }
    }

    #[test]
    fn what_looks_at_whole_ads_is_opaque() {
        for text in
            ["size(MY)", "eval(\"a\")", "LEFT.a", "TARGET", ".a", "MY[strcat(a, b)]", "root.a", "parent", "other.x"]
        {
            assert!(mentions(text).opaque, "{text}");
        }
        assert!(!mentions("CurrentTime > MY.a").opaque);
    }

    #[test]
    fn functions_that_bind_their_surroundings_are_known() {
        assert!(mentions("countMatches(a, b) > 1").bound && mentions("Random() > 0.5").random);
        assert!(mentions("ResourcesInUseByUser(a)").live);
    }
}
