//! The search for defects in an expression and in those that it leads to.
//!
//! In: an expression and its ads. Out: the defects that are met in one version.

use std::borrow::Cow;

use super::{DEFECTS, MAX_ATTRIBUTES, MAX_HOMES, PartInScope, VersionDefect};
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, EvalError, EvalOptions, Expr, Limits, Name, Scope};

/// Nodes of an expression beyond which it is not searched.
const MAX_NODES: usize = 1000;

/// Steps of the evaluation of a part.
const MAX_WORK: u64 = 20_000;

/// The defects that an expression meets in the version of the settings, in it or in the attributes that it refers to.
pub fn defects(expr: &Expr, my: &ClassAd, target: Option<&ClassAd>, settings: &EvalOptions) -> Vec<VersionDefect> {
    DefectSearch::new(my, target, settings).run(None, expr, true)
}

/// The defects that the expression of an attribute meets in the version of the settings, without the attributes that it refers to.
pub fn defects_of(name: Name, my: &ClassAd, settings: &EvalOptions) -> Vec<VersionDefect> {
    my.get(name).map_or_else(Vec::new, |expr| DefectSearch::new(my, None, settings).run(Some(name), &expr, false))
}

/// An expression that is looked at, its attribute, and the number of its ad.
type HousedExpr = (usize, Option<Name>, Expr);

/// The other expressions that one evaluates.
struct Followed {
    references: Vec<Reference>,
    /// Attributes that are selected in ads.
    selections: Vec<(Name, Vec<ClassAd>)>,
    /// Texts.
    texts: Vec<Expr>,
}

/// The search for the defects of one expression.
struct DefectSearch<'a> {
    of_version: Vec<&'static VersionDefect>,
    settings: &'a EvalOptions,
    /// With a small limit on the work.
    limited: EvalOptions,
    /// MY, TARGET if there is one, then ads inside expressions with what they can see; beside each the number of its other side.
    homes: Vec<(Cow<'a, ClassAd>, Option<usize>)>,
    exprs: Vec<HousedExpr>,
    found: Vec<VersionDefect>,
}

impl<'a> DefectSearch<'a> {
    fn new(my: &'a ClassAd, target: Option<&'a ClassAd>, settings: &'a EvalOptions) -> Self {
        let series = settings.semantics.series();
        let is_in = |defect: &&VersionDefect| defect.first <= series && defect.fixed.is_none_or(|fixed| series < fixed);
        let limits = Limits { work: settings.limits.work.min(MAX_WORK), ..settings.limits };
        let mut homes = vec![(Cow::Borrowed(my), target.map(|_| 1))];
        homes.extend(target.map(|target| (Cow::Borrowed(target), Some(0))));
        DefectSearch {
            of_version: DEFECTS.iter().filter(is_in).collect(),
            settings,
            limited: EvalOptions { limits, ..settings.clone() },
            homes,
            exprs: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Looks at an expression of MY, and at those that it refers to.
    fn run(mut self, name: Option<Name>, expr: &Expr, follow: bool) -> Vec<VersionDefect> {
        self.exprs.push((0, name, expr.clone()));
        let mut at = 0;
        while let Some((home, name, expr)) = self.exprs.get(at).cloned() {
            let Followed { references, selections, texts } = self.expression(home, name, &expr, at == 0);
            let room = MAX_ATTRIBUTES.saturating_sub(self.exprs.len());
            self.exprs.extend(texts.into_iter().take(room).map(|text| (home, name, text)));
            for reference in references.into_iter().filter(|_| follow) {
                self.refer(home, reference);
            }
            for (name, ads) in selections {
                for ad in ads {
                    self.select(home, name, &ad);
                }
            }
            at += 1;
        }
        self.found
    }

    /// Looks at one expression. Returns what it evaluates.
    fn expression(&mut self, home: usize, name: Option<Name>, expr: &Expr, is_asked: bool) -> Followed {
        let (own, other) = (&*self.homes[home].0, self.homes[home].1.map(|other| &*self.homes[other].0));
        let in_ads = |settings| {
            let scope = Scope::new(own, settings);
            other.map_or(scope, |other| scope.with_target(other))
        };
        let (scope, unlimited) = (in_ads(&self.limited), in_ads(self.settings));
        let (ads, semantics) = ([Some(own), other], self.settings.semantics);
        let settings = &self.limited;
        let part = |id| PartInScope { scope, settings, unlimited, ads, expr, id, name, is_asked, semantics };
        // Of a large expression, or one that takes more work, only the whole is looked at.
        let is_long = expr.nodes().len() > MAX_NODES || matches!(scope.eval(expr), Err(EvalError::Work(_)));
        let mut parts = vec![expr.root()];
        let mut next = 0;
        while let Some(id) = parts.get(next).copied().filter(|_| !is_long) {
            parts.extend(part(id).evaluated());
            next += 1;
        }
        parts.sort_unstable();
        if expr.nodes().len() <= MAX_NODES {
            for part in parts.iter().map(|id| part(*id)) {
                let new = self.of_version.iter().filter(|defect| !self.found.contains(defect));
                let met: Vec<VersionDefect> =
                    new.filter(|defect| (defect.test)(&part)).map(|defect| **defect).collect();
                self.found.extend(met);
            }
        }
        if is_long {
            let references = expr.tree().references(expr.root()).collect();
            return Followed { references, selections: Vec::new(), texts: Vec::new() };
        }
        Followed {
            references: parts.iter().filter_map(|id| expr.tree().reference(*id)).collect(),
            selections: parts.iter().filter_map(|id| part(*id).selected()).collect(),
            texts: parts.iter().filter_map(|id| part(*id).evaluated_text(expr, *id)).collect(),
        }
    }

    /// Notes the expression of an attribute that is referred to.
    fn refer(&mut self, home: usize, reference: Reference) {
        let mut places = [Some(home), self.homes[home].1];
        if reference.scope == RefScope::Target && places[1].is_some() {
            places.reverse();
        }
        let attribute = |home: usize| Some((home, self.homes[home].0.get(reference.name)?));
        if let Some((home, expr)) = places.into_iter().flatten().find_map(attribute) {
            self.add(home, reference.name, expr);
        }
    }

    /// Notes the expression of an attribute that is selected in an ad inside an expression.
    fn select(&mut self, home: usize, name: Name, ad: &ClassAd) {
        let Some(expr) = ad.get(name).filter(|_| self.homes.len() < MAX_HOMES) else { return };
        // It sees the attributes around it.
        let (mut own, other) = (self.homes[home].0.clone().into_owned(), self.homes[home].1);
        for (name, expr) in ad.names().filter_map(|name| Some((name, ad.get(name)?))) {
            own.insert_expr(name, &expr);
        }
        self.homes.push((Cow::Owned(own), other));
        self.add(self.homes.len() - 1, name, expr);
    }

    fn add(&mut self, home: usize, name: Name, expr: Expr) {
        let is_known = self.exprs.iter().any(|(other, known, _)| (*other, *known) == (home, Some(name)));
        if expr.as_literal().is_none() && !is_known && self.exprs.len() < MAX_ATTRIBUTES {
            self.exprs.push((home, Some(name), expr));
        }
    }
}
