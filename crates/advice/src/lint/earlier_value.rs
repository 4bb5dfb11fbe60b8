//! Conditions that add to an earlier value of theirs which decides alone: `START = $(START) || …` where `START` is true.
//!
//! In: a configuration. Out: warnings of the rules `always-true` and `always-false`, each with the variable that it is about.

use std::collections::BTreeMap;

use super::knobs::{bare, role};
use super::lists::{Found, is_whole, misses_files};
use super::unknowns;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, ParseOptions};
use classmate_config::internal::config::history::{Assigned, assigned};
use classmate_config::{Config, Definition};

/// The findings about such conditions.
pub(super) fn check(config: &Config) -> Found {
    if misses_files(config) {
        return Found::new();
    }
    let mut all: BTreeMap<Vec<u8>, Vec<Assigned>> = BTreeMap::new();
    for one in config.sources().iter().flat_map(assigned) {
        all.entry(one.name.to_ascii_uppercase()).or_default().push(one);
    }
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let conditions = written.filter(|one| role(bare(one.name)).is_some_and(|role| role.condition));
    conditions.filter_map(|one| decided(config, &one, all.get(&one.name.to_ascii_uppercase())?)).collect()
}

/// The finding about one condition; `own` are all statements that set it.
fn decided(config: &Config, one: &Definition<'_>, own: &[Assigned]) -> Option<(Diagnostic, String)> {
    let name = String::from_utf8_lossy(one.name).into_owned();
    let last = own.last().filter(|last| one.place == Some(&last.place))?;
    let at = last.value.iter().position(|byte| *byte != b'(' && !byte.is_ascii_whitespace())?;
    let reference = [b"$(", one.name, b")"].concat();
    let front = last.value.get(at..at + reference.len())?;
    let is_conditional = own.iter().any(|other| other.conditional);
    if !front.eq_ignore_ascii_case(&reference) || is_conditional || own.len() < 2 && !is_whole(config) {
        return None;
    }
    let text = unknowns::known_value(config, one)?;
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let expr = parse_expr(&text, &options).ok()?;
    let tree = expr.tree();
    let mut id = tree.bare(expr.root());
    let Node::Binary(op @ (BinaryOp::Or | BinaryOp::And), ..) = *tree.node(id) else { return None };
    while let Node::Binary(other, left, _) = *tree.node(id)
        && other == op
    {
        id = tree.bare(left);
    }
    let Node::Literal(Literal::Bool(value)) = *tree.node(id) else { return None };
    let decides = if op == BinaryOp::Or { value } else { !value };
    let (code, other) = if value { ("always-true", "&&") } else { ("always-false", "||") };
    let message = format!("`{name}` is always {value}: its earlier value, `$({name})`, is {value}");
    let place = one.value_place().or_else(|| one.place.cloned());
    let found = Diagnostic::warning_at(message, place).width(one.raw.len());
    let help = format!("write `{other}`, or the condition without `$({name})`");
    decides.then(|| (found.help(help).code(code), name))
}
