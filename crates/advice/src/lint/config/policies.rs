//! Policies of slots and of groups that refer to what they never see, and words that are no values.

use std::collections::BTreeSet;

use super::Linter;
use crate::lint::ads::circular;
use crate::lint::attributes::is_known;
use crate::lint::expression::{Role, written};
use crate::lint::knobs::bare;
use crate::lint::own_types;
use crate::lint::rules::asks;
use crate::lint::scope::Seen;
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions};
use classmate_config::Definition;
use classmate_config::internal::config::check::{has_root, is_variable};
use classmate_pool::internal::pool::attribute;

/// Reports the names of sleep states without quotes: `HIBERNATE` is a string.
pub(super) fn sleep_states(text: &[u8], options: &ParseOptions, found: &mut Vec<Diagnostic>) {
    const STATES: [&[u8]; 14] = [
        b"none",
        b"s0",
        b"s1",
        b"s2",
        b"s3",
        b"s4",
        b"s5",
        b"ram",
        b"mem",
        b"disk",
        b"standby",
        b"suspend",
        b"hibernate",
        b"shutdown",
    ];
    let Ok(expr) = parse_expr(text, options) else { return };
    let tree = expr.tree();
    for id in tree.first_of(expr.root())..=expr.root() {
        let is_condition = |at: u32| matches!(tree.node(at), Node::Binary(..));
        if let Node::Literal(Literal::Str(word)) = tree.node(id)
            && !STATES.contains(&word.to_ascii_lowercase().as_slice())
            && !(id..=expr.root()).any(|at| is_condition(at) && tree.first_of(at) <= id)
            && let Some(span) = tree.span(id)
        {
            let message = format!("`{}` is not a state of sleep: the machine stays awake", written(text, span));
            let help = "write `\"S3\"`, `\"S4\"`, `\"S5\"`, `\"RAM\"`, `\"DISK\"`, `\"SHUTDOWN\"` or `\"NONE\"`";
            found.push(Diagnostic::warning(message, span).help(help).code("impossible-value"));
            continue;
        }
        let Node::Attr(word) = *tree.node(id) else { continue };
        let Some(span) = tree.span(id).filter(|_| STATES.contains(&word.folded())) else { continue };
        found.retain(|one| one.span != span);
        let message = format!("`{}` without quotes is an attribute reference", written(text, span));
        let string = format!("\"{}\"", written(text, span));
        found.push(Diagnostic::warning(message, span).write(span, string).code("unquoted-word"));
    }
}

/// `SUSPEND = LoadAvg > 0.5`: the load of the jobs themselves counts, so that they suspend each other.
pub(super) fn own_load(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    let tree = expr.tree();
    let is_policy = [&b"SUSPEND"[..], b"PREEMPT"].iter().any(|policy| policy.eq_ignore_ascii_case(name));
    let names = || tree.references(expr.root()).map(|reference| reference.name);
    let own = ["condorloadavg", "totalcondorloadavg"];
    if !is_policy || names().any(|name| own.iter().any(|known| known.as_bytes() == name.folded())) {
        return None;
    }
    let is_load = |id: u32| {
        let Node::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, _) = *tree.node(id) else { return false };
        tree.reference(tree.bare(left)).is_some_and(|one| matches!(one.name.folded(), b"loadavg" | b"totalloadavg"))
    };
    let id = (tree.first_of(expr.root())..=expr.root()).find(|id| is_load(*id))?;
    let span = tree.span(id)?;
    let message = format!("`{}` is true of the load of the job itself", written(text, span));
    let help = "write `LoadAvg - CondorLoadAvg` for the load of other programs";
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

/// `PREEMPT = State == "Unclaimed"`: a state in which the startd does not ask the policy (`eval_policy` in HTCondor's `ResState.cpp`).
pub(super) fn other_state(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    /// Policies, and the only state, or the activity, in which they are asked for.
    const ASKED: [(&str, &str, &str); 6] = [
        ("PREEMPT", "state", "claimed"),
        ("WANT_VACATE", "state", "claimed"),
        ("SUSPEND", "state", "claimed"),
        ("CONTINUE", "state", "claimed"),
        ("CONTINUE", "activity", "suspended"),
        ("KILL", "state", "preempting"),
    ];
    let tree = expr.tree();
    let mut open = vec![expr.root()];
    while let Some(id) = open.pop() {
        let id = tree.bare(id);
        let Node::Binary(op, left, right) = *tree.node(id) else { continue };
        if op == BinaryOp::And {
            open.extend([right, left]);
            continue;
        }
        let Some(reference) = tree.reference(tree.bare(left)).filter(|one| one.scope != RefScope::Target) else {
            continue;
        };
        let Node::Literal(Literal::Str(value)) = tree.node(tree.bare(right)) else { continue };
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        let is_equal = matches!(op, BinaryOp::Equal | BinaryOp::Is);
        let is_asked = |(policy, attribute, only): &&(&str, &str, &str)| {
            let is = policy.as_bytes().eq_ignore_ascii_case(name) && reference.name.folded() == attribute.as_bytes();
            is && is_equal && *only != value
        };
        if let Some((policy, attribute, only)) = ASKED.iter().find(is_asked) {
            let span = tree.span(id)?;
            let message = format!(
                "`{}` is never true here: `{policy}` is asked for while the {attribute} is {only}",
                written(text, span)
            );
            let help = "remove the clause, or write the condition into another policy";
            return Some(Diagnostic::warning(message, span).help(help).code("never-true"));
        }
    }
    None
}

/// `PREEMPTION_REQUIREMENTS = RemoteUserPrio < SubmitterUserPrio`: a larger number is a worse priority, so that the better user loses
/// the slot (the manual's chapter on the negotiator).
pub(super) fn reversed_priorities(name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
    if !name.eq_ignore_ascii_case(b"PREEMPTION_REQUIREMENTS") {
        return None;
    }
    let tree = expr.tree();
    let of = |id: u32, known: &str| {
        // Perhaps with a factor.
        let mut names = (tree.first_of(id)..=id).filter_map(|part| tree.reference(part)).map(|one| one.name);
        names.next().is_some_and(|name| name.folded() == known.as_bytes()) && names.next().is_none()
    };
    let mut open = vec![expr.root()];
    while let Some(id) = open.pop() {
        let id = tree.bare(id);
        let Node::Binary(op, left, right) = *tree.node(id) else { continue };
        let (small, large) = match op {
            BinaryOp::And | BinaryOp::Or => {
                open.extend([left, right]);
                continue;
            }
            BinaryOp::Less | BinaryOp::LessEqual => (left, right),
            BinaryOp::Greater | BinaryOp::GreaterEqual => (right, left),
            _ => continue,
        };
        if of(small, "remoteuserprio") && of(large, "submitteruserprio") {
            let span = tree.span(id)?;
            let message = format!("`{}` is true of a running user with a better priority", written(text, span));
            let help = "the larger number is the worse priority: write `RemoteUserPrio > SubmitterUserPrio * 1.2`";
            return Some(Diagnostic::warning(message, span).help(help).code("impossible-value"));
        }
    }
    None
}

impl Linter<'_> {
    /// The finding about a comparison of an attribute that the configuration publishes with a constant of another type; slots have
    /// only what the startd publishes.
    pub(super) fn own_types(&self, expr: &Expr, role: Role) -> Option<Diagnostic> {
        own_types::check(expr, &|name| {
            let list = self.advertised.get(&name.folded().to_ascii_uppercase());
            let published = list.is_some_and(|list| list.looks_at_jobs || role.mine != Seen::Slot);
            let value = self.config.definition(name.folded()).filter(|one| published && one.place.is_some())?;
            parse_expr(value.raw.trim_ascii(), &self.options()).ok()
        })
    }

    /// `slot2_State`, which slots see of each other only if `STARTD_SLOT_ATTRS` lists the attribute.
    pub(super) fn other_slots(&self, expr: &Expr, role: Role, text: &[u8]) -> Option<Diagnostic> {
        const LIST: &str = "STARTD_SLOT_ATTRS";
        if role.mine != Seen::Slot {
            return None;
        }
        let tree = expr.tree();
        (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
            let name = tree.reference(id)?.name;
            let rest = name.folded().strip_prefix(b"slot")?;
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let attribute = rest[digits..].strip_prefix(b"_").filter(|rest| digits > 0 && is_known(rest))?;
            let listed = self.upper_list(LIST);
            let there = self.slots_have(name) || listed.contains(&attribute.to_ascii_uppercase());
            let span = tree.span(id).filter(|_| !there)?;
            let shown = String::from_utf8_lossy(attribute);
            let message = format!("`{}` is UNDEFINED: slots do not see `{shown}` of each other", written(text, span));
            let help = format!("add the attribute to `{LIST}`");
            Some(Diagnostic::warning(message, span).help(help).code("unseen-attribute"))
        })
    }

    /// The finding about an attribute of a list such as `STARTD_ATTRS` that needs itself, perhaps through others.
    pub(super) fn circle(&self, name: Name, expr: &Expr) -> Option<Diagnostic> {
        let of_slots = self.advertised.get(&name.folded().to_ascii_uppercase())?.looks_at_jobs;
        let ad = self.published[usize::from(of_slots)].get_or_init(|| {
            let mut ad = ClassAd::new();
            for (known, _) in self.advertised.iter().filter(|(_, role)| role.looks_at_jobs == of_slots) {
                let Some(definition) = self.config.definition(known) else { continue };
                let text = self.config.expansion(definition.name, definition.raw).ok();
                if let Some(expr) = text.and_then(|text| parse_expr(&text, &self.options()).ok()) {
                    ad.insert_expr(Name::new(known), &expr);
                }
            }
            ad
        });
        circular(name, expr, ad)
    }

    /// `MY.MaxHours` in a policy of slots, of which the configuration sets `MaxHours` and does not publish it.
    pub(super) fn unpublished(&self, expr: &Expr, role: Role, text: &[u8]) -> Vec<Diagnostic> {
        if role.mine != Seen::Slot || self.brings() {
            return Vec::new();
        }
        let tree = expr.tree();
        let finding = |id| {
            let reference = tree.reference(id).filter(|reference| reference.scope == RefScope::My)?;
            let name = reference.name;
            let sets = self.config.definition(name.folded()).is_some_and(|one| one.place.is_some());
            let is_there = is_known(name.folded()) || self.slots_have(name) || self.is_resource(name);
            let there = self.schema.is_some_and(|schema| schema.has(name));
            let span = tree.span(id).filter(|_| sets && !is_there && !there)?;
            let message = format!("`{}` is UNDEFINED: slots do not publish `{name}`", written(text, span));
            let help = format!("write `STARTD_ATTRS = $(STARTD_ATTRS) {name}`, or `$({name})` for its value");
            Some(Diagnostic::warning(message, span).help(help).code("unseen-attribute"))
        };
        (tree.first_of(expr.root())..=expr.root()).filter_map(finding).collect()
    }

    /// `START = StartIdle`: a macro without `$( )`, which is an attribute that no ad has.
    pub(super) fn bare_macros(&self, expr: &Expr, role: Role, text: &[u8]) -> Vec<Diagnostic> {
        if !matches!(role.mine, Seen::Job | Seen::Slot) {
            return Vec::new();
        }
        let tree = expr.tree();
        let finding = |id| {
            let reference = tree.reference(id).filter(|reference| reference.scope == RefScope::Either)?;
            let name = reference.name;
            let there = self.schema.is_some_and(|schema| schema.has(name));
            if is_known(name.folded()) || there || self.slots_have(name) || self.jobs_get(name) {
                return None;
            }
            let is_time =
                matches!(name.folded(), b"activitytimer" | b"hour" | b"minute" | b"statetimer") && !self.brings();
            if !is_time && !self.is_own_macro(name, role) {
                return None;
            }
            let span = tree.span(id).filter(|_| !asks(tree, id))?;
            let shown = written(text, span);
            let message = format!("`{shown}` is UNDEFINED: it is a macro here, and not an attribute");
            Some(Diagnostic::warning(message, span).help(format!("write `$({shown})`")).code("unseen-attribute"))
        };
        (tree.first_of(expr.root())..=expr.root()).filter_map(finding).collect()
    }

    /// Tests whether a name is a macro of these files, which others of the configuration do not publish.
    fn is_own_macro(&self, name: Name, role: Role) -> bool {
        let is_set = |name: &[u8]| self.config.definition(name).is_some_and(|one| one.place.is_some());
        let is_resource = self.is_resource(name);
        if !is_set(name.folded()) || is_variable(name.folded()) || is_resource || self.brings() {
            return false;
        }
        let list: &[u8] = if role.mine == Seen::Slot { b"STARTD_ATTRS" } else { b"SUBMIT_ATTRS" };
        has_root(self.config) || is_set(list)
    }

    /// Tests whether a name is that of a resource of machines that the configuration defines.
    fn is_resource(&self, name: Name) -> bool {
        let upper = name.folded().to_ascii_uppercase();
        let resource = upper.strip_prefix(b"TOTALSLOT").or(upper.strip_prefix(b"TOTAL")).unwrap_or(&upper);
        let defined = [&b"MACHINE_RESOURCE_"[..], b"MACHINE_RESOURCE_INVENTORY_"];
        let has = |prefix: &&[u8]| self.config.definition(&[prefix, resource].concat()).is_some();
        let listed = self.resources.get_or_init(|| self.upper_list("MACHINE_RESOURCE_NAMES"));
        listed.contains(resource) || defined.iter().any(has)
    }

    /// The items of a list, upper case.
    fn upper_list(&self, name: &str) -> BTreeSet<Vec<u8>> {
        self.config.list(name).unwrap_or_default().iter().map(|item| item.to_ascii_uppercase()).collect()
    }

    /// Tests whether programs may bring attributes of any name.
    pub(super) fn brings(&self) -> bool {
        *self.brings.get_or_init(|| {
            let is_source = |name: &[u8]| bare(name).to_ascii_uppercase().ends_with(b"_JOBLIST");
            // Templates of cron jobs and of monitors.
            let has_template = |text: &[u8]| {
                let mut lines = text.split(|byte| *byte == b'\n').map(|line| line.trim_ascii().to_ascii_lowercase());
                let word = |line: &[u8], word: &[u8]| memchr::memmem::find(line, word).is_some();
                lines.any(|line| line.starts_with(b"use") && (word(&line, b"cron") || word(&line, b"monitor")))
            };
            // That of `use FEATURE : GPUs` brings attributes that are known.
            let is_own = |one: &Definition<'_>| one.place.is_some() && one.template != Some("use FEATURE:Monitor");
            self.config.definitions().any(|one| is_own(&one) && is_source(one.name) && !one.raw.is_empty())
                || self.config.sources().iter().any(|source| has_template(&source.text))
        })
    }

    /// `SLOT_WEIGHT = Cpu`: a number that is almost the name of an attribute.
    pub(super) fn no_number(&self, text: &[u8]) -> Option<Diagnostic> {
        let expr = parse_expr(text, &self.options()).ok()?;
        let word = expr.tree().reference(expr.tree().bare(expr.root()))?.name;
        let span = expr.tree().span(expr.root()).filter(|_| !self.may_exist(word))?;
        let attributes = attribute::all().iter().map(|record| record.name);
        let meant = near::closest_within(1, word.folded(), attributes)?;
        let message = format!("HTCondor does not know an attribute `{word}`");
        Some(Diagnostic::warning(message, span).did_you_mean(Some(meant)).code("unknown-attribute"))
    }

    /// `AccountingGroup == "physics"`: it has the name of the user behind the group.
    pub(super) fn group_alone(&self, name: &[u8], expr: &Expr, text: &[u8]) -> Option<Diagnostic> {
        let tree = expr.tree();
        // The ad of a group has the name of the group.
        let of_jobs = !bare(name).eq_ignore_ascii_case(b"GROUP_SORT_EXPR");
        if !of_jobs {
            return None;
        }
        let groups = self.groups.get_or_init(|| self.upper_list("GROUP_NAMES"));
        (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
            let Node::Binary(op, left, right) = *tree.node(id) else { return None };
            let is_equality = matches!(op, BinaryOp::Equal | BinaryOp::Is);
            let name = tree.reference(tree.bare(left)).filter(|_| is_equality)?.name;
            let Node::Literal(Literal::Str(group)) = tree.node(tree.bare(right)) else { return None };
            let is_group = groups.contains(&group.to_ascii_uppercase());
            if name.folded() != b"accountinggroup" || !is_group {
                return None;
            }
            let span = tree.span(id)?;
            let group = String::from_utf8_lossy(group);
            let message = format!("`{}` is never true: `{name}` is `group.user`", written(text, span));
            let help = format!("write `AcctGroup == \"{group}\"`");
            Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
        })
    }
}
