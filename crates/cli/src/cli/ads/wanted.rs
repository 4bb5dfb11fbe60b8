//! Attributes that ads are asked for, and slips in their names.

use classmate::internal::builtin::near::closest;
use classmate::internal::syntax::expr::Node;
use classmate::{ClassAd, Expr, Name};

/// Attributes that ads are asked for, and which of them some ad had.
pub(super) struct Wanted {
    names: Vec<(Name, bool)>,
    any: bool,
}

impl Wanted {
    pub(super) fn new(names: Vec<Name>) -> Self {
        Wanted { names: names.into_iter().map(|name| (name, false)).collect(), any: false }
    }

    pub(super) fn meet(&mut self, ad: &ClassAd) {
        self.any = true;
        for (name, met) in self.names.iter_mut().filter(|(_, met)| !*met) {
            *met = ad.contains(*name);
        }
    }

    /// The attributes that no ad had, and the known ones similar to those of at least three letters; none if there was no
    /// ad.
    pub(super) fn missing(&self, known: &[Name]) -> Vec<(Name, Option<&'static str>)> {
        let known = known.iter().filter_map(|known| std::str::from_utf8(known.as_bytes()).ok());
        let near = |name: &[u8]| (name.len() > 2).then(|| closest(name, known.clone())).flatten();
        let missing = self.names.iter().filter(|(_, met)| self.any && !met);
        missing.map(|(name, _)| (*name, near(name.as_bytes()))).collect()
    }
}

/// The attributes that an expression refers to, each once, without those of a scope.
pub(super) fn names_in(expr: &Expr) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for node in &expr.tree().nodes {
        if let Node::Attr(name) = node
            && name.key().mark().is_none()
            && !names.contains(name)
        {
            names.push(*name);
        }
    }
    names
}
