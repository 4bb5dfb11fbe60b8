//! Calls whose arguments cannot be meant: patterns that are not patterns, arguments in the wrong order or of the wrong
//! type, and versions that are not versions.

use super::attributes::{Kind, fact, is_known, is_string};
use super::compared_values::list;
use super::expression::{LintContext, written};
use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::pcre::{self, Options};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;
use classmate::{Diagnostic, Name, Span};

/// Functions whose first argument is a pattern, lower case, with the place of their letters of options.
const PATTERNS: [(&[u8], usize); 8] = [
    (b"regexp", 2),
    (b"regexps", 3),
    (b"replace", 3),
    (b"replaceall", 3),
    (b"regexpmember", 2),
    (b"stringlistregexpmember", 3),
    (b"stringlist_regexpmember", 3),
    (b"regexp_member", 2),
];

/// Functions whose arguments are versions, lower case.
const VERSIONS: [&[u8]; 8] = [
    b"versioncmp",
    b"versiongt",
    b"versionge",
    b"versionlt",
    b"versionle",
    b"versioneq",
    b"version_in_range",
    b"versioninrange",
];

/// Functions of strings of items, lower case, with the places of these strings.
pub(super) const OF_STRINGS: [(&[u8], &[usize]); 10] = [
    (b"stringlistmember", &[1]),
    (b"stringlistimember", &[1]),
    (b"stringlistsize", &[0]),
    (b"stringlistsum", &[0]),
    (b"stringlistavg", &[0]),
    (b"stringlistmin", &[0]),
    (b"stringlistmax", &[0]),
    (b"stringlistregexpmember", &[1]),
    (b"stringlist_regexpmember", &[1]),
    (b"stringlistsintersect", &[0, 1]),
];

/// Attributes, lower case, whose value is one name.
const OF_ONE: [&[u8]; 18] = [
    b"accountinggroup",
    b"acctgroup",
    b"acctgroupuser",
    b"arch",
    b"filesystemdomain",
    b"machine",
    b"name",
    b"ntdomain",
    b"opsys",
    b"opsysandver",
    b"owner",
    b"projectname",
    b"remotegroup",
    b"remoteowner",
    b"remoteuser",
    b"submitter",
    b"uiddomain",
    b"user",
];

/// Attributes of partitionable slots, lower case, that are lists: of their resources (`ResAttributes.cpp`), and of the values of their
/// dynamic slots (`Resource.cpp`).
const LISTS: [&[u8]; 12] = [
    b"availablegpus",
    b"childaccountinggroup",
    b"childactivity",
    b"childcpus",
    b"childcurrentrank",
    b"childdisk",
    b"childgpus",
    b"childmemory",
    b"childname",
    b"childremoteowner",
    b"childremoteuser",
    b"childstate",
];

fn is_list(name: Name) -> bool {
    LISTS.contains(&name.folded())
}

/// Letters of options of patterns.
const OPTIONS: &[u8] = b"ifmsxgFIMSXG";

/// The finding about a call, or a comparison of a version.
pub(super) fn misused(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let found = match tree.view(id) {
        View::Subscript { base, index } => banner_part(context, tree, base, index)?,
        View::Call { name, arguments } => Call { context, tree, name: name.folded(), arguments }.finding()?,
        View::Compare { op, left, right } => version(tree, op, left, right)?,
        _ => return None,
    };
    let (at, message, help) = found;
    Some(Diagnostic::warning(message, tree.span(at)?).help(help).code("bad-argument"))
}

/// A place, a message and a help.
type Finding = (NodeId, String, String);

struct Call<'a> {
    context: &'a LintContext<'a>,
    tree: &'a Tree,
    /// The function, lower case.
    name: &'a [u8],
    arguments: &'a [NodeId],
}

impl Call<'_> {
    /// An argument that is a constant string.
    fn text(&self, at: usize) -> Option<String> {
        text(self.tree, *self.arguments.get(at)?)
    }

    fn attribute(&self, at: usize) -> Option<Name> {
        Some(self.tree.reference(self.tree.bare(*self.arguments.get(at)?))?.name)
    }

    fn shown(&self, at: usize) -> String {
        let span = self.arguments.get(at).and_then(|id| self.tree.span(*id)).unwrap_or(Span::new(0, 0));
        written(self.context.text, span)
    }

    fn is(&self, names: &[&[u8]]) -> bool {
        names.contains(&self.name)
    }

    fn finding(&self) -> Option<Finding> {
        if let Some(found) = self.swapped() {
            return Some(found);
        }
        if let Some((_, options)) = PATTERNS.iter().find(|(name, _)| *name == self.name) {
            return self.pattern(*options);
        }
        if VERSIONS.contains(&self.name) {
            let at = (0..self.arguments.len()).find(|at| self.attribute(*at).is_some_and(is_banner))?;
            let shown = self.shown(at);
            let message = format!("`{shown}` is a whole banner, `$CondorVersion: 25.14.1 …`, not a version");
            return Some((self.arguments[at], message, format!("write `split({shown})[1]`")));
        }
        if let Some((_, places)) = OF_STRINGS.iter().find(|(name, _)| *name == self.name)
            && let Some(at) = places.iter().find(|at| self.attribute(**at).is_some_and(is_list))
        {
            let shown = self.shown(*at);
            let message = format!("`{shown}` is a list, and the function takes a string of items: it is ERROR");
            let help = match self.name {
                b"stringlistmember" | b"stringlistimember" => format!("write `member({}, {shown})`", self.shown(0)),
                b"stringlistsize" => format!("write `size({shown})`"),
                b"stringlistsum" | b"stringlistavg" | b"stringlistmin" | b"stringlistmax" => {
                    format!("write `{}({shown})`", String::from_utf8_lossy(&self.name[b"stringlist".len()..]))
                }
                _ => format!("write `join(\",\", {shown})`"),
            };
            return Some((self.arguments[*at], message, help));
        }
        if self.is(&[b"stringlistmember", b"stringlistimember"]) {
            return self.string_list();
        }
        if self.name == b"usermap"
            && let Some(name) = self.attribute(0)
            && !is_known(name.folded())
        {
            let message = format!("`{name}` is an attribute: the name of a map is a string");
            return Some((self.arguments[0], message, format!("write `\"{name}\"`")));
        }
        if self.is(&[b"member", b"identicalmember"]) {
            return self.member();
        }
        if self.is(&[b"anycompare", b"allcompare"]) {
            return self.operator();
        }
        if self.name == b"substr" && self.arguments.len() > 1 {
            let number = matches!(self.tree.node(self.tree.bare(self.arguments[0])), Node::Literal(Literal::Int(_)));
            let message = "the first argument of `substr` is the string".to_owned();
            return number.then(|| (self.arguments[0], message, "write `substr(string, offset, length)`".to_owned()));
        }
        None
    }

    /// Arguments in the wrong order, of functions that take a constant in one place.
    fn swapped(&self) -> Option<Finding> {
        let &[first, second] = self.arguments else { return None };
        let is_constant = |id: NodeId| self.tree.is_constant(id);
        let is_number = |id: NodeId| {
            matches!(self.tree.node(self.tree.bare(id)), Node::Literal(Literal::Int(_) | Literal::Real(_)))
        };
        let are_signs = |at: usize| {
            let is_sign = |sign: char| ",;:|/ \t-".contains(sign);
            self.text(at).is_some_and(|text| !text.is_empty() && text.chars().all(is_sign))
        };
        let has_signs = |at: usize| self.text(at).is_some_and(|text| text.contains(['^', '$', '*', '+', '[', '\\']));
        let is_known_text = |at: usize| self.attribute(at).is_some_and(|name| is_string(name.folded()));
        let (is_swapped, what) = match self.name {
            b"quantize" => (is_number(first) && !is_constant(second), "number that is rounded up"),
            b"split" => (are_signs(0) && !is_constant(second), "string"),
            b"stringlistsize" | b"stringlistsum" | b"stringlistavg" | b"stringlistmin" | b"stringlistmax" => {
                (are_signs(0) && !is_constant(second), "string of items")
            }
            b"join" => (are_signs(1) && !is_constant(first), "separator"),
            b"regexp" => (is_known_text(0) && has_signs(1), "pattern"),
            b"usermap" => (is_known_text(0) && self.text(1).is_some(), "name of a map"),
            _ => return None,
        };
        let function = String::from_utf8_lossy(self.name);
        let name = if function == "usermap" { "userMap" } else { &*function };
        let message = format!("the {what} is the first argument, and this is `{}`", self.shown(0));
        let help = format!("write `{name}({}, {})`", self.shown(1), self.shown(0));
        is_swapped.then_some((first, message, help))
    }

    fn pattern(&self, options: usize) -> Option<Finding> {
        let first = *self.arguments.first()?;
        let slashes = self.text(0).filter(|text| text.len() > 2 && text.starts_with('/') && text.ends_with('/'));
        if let Some(inner) = slashes.as_deref().map(|text| &text[1..text.len() - 1])
            && (inner.starts_with('^') || inner.ends_with('$') && !inner.ends_with("\\$"))
        {
            let message = format!("`{}` never matches: the slashes are a part of the pattern", self.shown(0));
            return Some((first, message, format!("write `\"{inner}\"`")));
        }
        if let Some(letters) = self.attribute(options).filter(|name| self.are_bare_options(*name)) {
            let message = format!("`{letters}` is an attribute: the options of a pattern are a string");
            return Some((*self.arguments.get(options)?, message, format!("write `\"{letters}\"`")));
        }
        let letters = self.text(options).unwrap_or_default();
        if let Some(letter) = letters.bytes().find(|byte| !OPTIONS.contains(byte)) {
            let at = *self.arguments.get(options)?;
            let message = format!("`{}` is not an option of patterns", char::from(letter));
            return Some((at, message, "options are `i`, `m`, `s`, `x`, `f` and `g`".to_owned()));
        }
        let Some(pattern) = self.text(0) else {
            let other = self.text(1).filter(|other| self.attribute(0).is_some() && looks_like_pattern(other))?;
            let message = format!("the pattern is the first argument, and `{other}` is the second");
            return Some((self.arguments[1], message, format!("write `({}, {})`", self.shown(1), self.shown(0))));
        };
        let is_options = pattern.len() <= 3 && pattern.bytes().all(|byte| OPTIONS.contains(&byte.to_ascii_lowercase()));
        if let Some(other) = self.text(1).filter(|other| is_options && looks_like_pattern(other))
            && self.attribute(2).is_some()
        {
            let message = format!("`{pattern}` is the pattern here, and `{other}` the string that it is looked for in");
            let help = format!("write `({}, {}, {})`", self.shown(1), self.shown(2), self.shown(0));
            return Some((first, message, help));
        }
        if let Err(error) = pcre::compile(&pattern, Options::from_letters(letters.as_bytes()), false) {
            let help = if pattern.starts_with(['*', '?']) {
                "`*` repeats what is before it: write `.*`, or `\\.` for a dot".to_owned()
            } else {
                "correct the pattern".to_owned()
            };
            // The library of patterns may be left out.
            let error = error.to_string();
            let what = error.strip_prefix("PCRE2: ").unwrap_or(&error);
            return cfg!(feature = "pcre2").then(|| (first, format!("`{pattern}` is not a pattern: {what}"), help));
        }
        let is_of_lines = letters.bytes().any(|letter| matches!(letter.to_ascii_lowercase(), b'm' | b'x'));
        if let Some(at) = dead_anchor(&pattern).filter(|_| !is_of_lines && !pattern.contains("(?")) {
            let (sign, place) = if pattern[at..].starts_with('$') { ('$', "end") } else { ('^', "beginning") };
            let message = format!("`{pattern}` never matches: `{sign}` is the {place} of the string");
            return Some((first, message, format!("remove the `{sign}`, or write `\\{sign}` for the sign itself")));
        }
        let wildcard = wildcard(&pattern)?;
        let message = format!("`{wildcard}` repeats the letter `{}`: a pattern is not a wildcard", &wildcard[..1]);
        Some((first, message, format!("write `{}.*`", &wildcard[..1])))
    }

    /// Tests for the letters of options without quotes.
    fn are_bare_options(&self, name: Name) -> bool {
        let letters = name.folded();
        let is_known =
            is_known(letters) || (self.context.defined)(name) || self.context.schema.is_some_and(|all| all.has(name));
        letters.len() <= 2 && letters.iter().all(|letter| OPTIONS.contains(letter)) && !is_known
    }

    /// The operator that `anyCompare` and `allCompare` take as a string.
    fn operator(&self) -> Option<Finding> {
        const OPERATORS: [&str; 10] = ["<", "<=", "==", "!=", ">=", ">", "=?=", "=!=", "is", "isnt"];
        let operator = self.text(0)?;
        let known = OPERATORS.iter().any(|known| known.eq_ignore_ascii_case(operator.trim()));
        let message = format!("`{operator}` is not an operator, so the call is ERROR");
        let help =
            if operator.trim() == "=" { "write `\"==\"`" } else { "write an operator such as `\"==\"` or `\"<\"`" };
        (!known).then(|| (self.arguments[0], message, help.to_owned()))
    }

    fn string_list(&self) -> Option<Finding> {
        let second = *self.arguments.get(1)?;
        let function = "stringListMember";
        if matches!(self.tree.node(self.tree.bare(second)), Node::List(_)) {
            let help = format!("write `member({}, …)`, or the items as one string, `\"a,b\"`", self.shown(0));
            return Some((second, format!("`{function}` takes a string of items, not a list"), help));
        }
        if self.arguments.len() > 2 {
            return None;
        }
        if let Some(item) = self.text(0).filter(|item| item.contains(',')) {
            let message = format!("`{item}` has a comma, so it is never an item of a list");
            let help = format!("the item comes first: `{function}({}, {})`", self.shown(1), self.shown(0));
            return Some((self.arguments[0], message, help));
        }
        if let Some(item) = self.text(1).filter(|item| !item.is_empty() && !item.contains([',', ' ', ';', '|']))
            && let Some(name) = self.attribute(0).filter(|name| is_named_as_list(&name.to_string()))
        {
            let message = format!("`{name}` is looked for in the list `{item}`, which has one item");
            let help = format!("the item comes first: `{function}({}, {})`", self.shown(1), self.shown(0));
            return Some((self.arguments[0], message, help));
        }
        // The second is an attribute with the name of one user, machine or group.
        if let Some(one) = self.attribute(1).filter(|name| OF_ONE.contains(&name.folded()))
            && let Some(name) = self.attribute(0).filter(|name| is_named_as_list(&name.to_string()))
        {
            let message = format!("`{name}` is looked for in the list `{one}`, which is one name");
            let help = format!("the item comes first: `{function}({}, {})`", self.shown(1), self.shown(0));
            return Some((self.arguments[0], message, help));
        }
        if let Some(items) = self.text(1).filter(|items| items.contains([';', '|']) && !items.contains(',')) {
            let apart = items.contains(' ');
            // A blank that is not beside such a sign separates as it is meant to.
            if apart && !["; ", "| "].iter().any(|sign| items.contains(sign)) {
                return None;
            }
            let message = if apart {
                format!("`;` and `|` in `{items}` are a part of the items: commas and blanks separate")
            } else {
                format!("`{items}` is one item: commas and blanks separate")
            };
            let help = format!("write `\"{}\"`", items.replace([';', '|'], ","));
            return Some((second, message, help));
        }
        // Items that the attribute never is.
        let (fact, items) = (fact(self.attribute(0)?.folded()).filter(|fact| fact.closed)?, self.text(1)?);
        let mut items = items.split([',', ' ']).filter(|item| !item.is_empty()).peekable();
        items.peek()?;
        let legal = |item: &str| fact.values.iter().any(|known| known.eq_ignore_ascii_case(item));
        (!items.any(legal)).then(|| {
            let message = format!("`{}` is never one of {}", fact.name, self.shown(1));
            (self.arguments[1], message, format!("it is one of {}", list(&fact.values)))
        })
    }

    fn member(&self) -> Option<Finding> {
        let (&first, &second) = (self.arguments.first()?, self.arguments.get(1)?);
        let node = |id: NodeId| self.tree.node(self.tree.bare(id));
        if matches!(node(first), Node::List(_)) {
            let help = format!("the item comes first: `member({}, {})`", self.shown(1), self.shown(0));
            return Some((first, "the first argument of `member` is an item, not a list".to_owned(), help));
        }
        if matches!(node(second), Node::List(run) if self.tree.run(*run).is_empty()) {
            let message = format!("`{}` has no elements, so the call is never true", self.shown(1));
            return Some((second, message, "write the elements, as in `{ \"a\", \"b\" }`".to_owned()));
        }
        if let (Some(of), Node::List(run)) = (self.attribute(0).and_then(|name| fact(name.folded())), node(second)) {
            let items = self.tree.run(*run);
            let is = |id: &NodeId, text: bool| match node(*id) {
                Node::Literal(Literal::Str(_)) => text,
                Node::Literal(Literal::Int(_) | Literal::Real(_)) => !text,
                _ => false,
            };
            let never = match of.kind {
                Some(Kind::Integer | Kind::Number) => items.iter().all(|id| is(id, true)),
                Some(Kind::String) => items.iter().all(|id| is(id, false)),
                _ => false,
            };
            let what = of.kind.map_or("", Kind::with_article);
            let message = format!("`{}` is {what}, which is never one of these", of.name);
            if never && !items.is_empty() {
                return Some((second, message, "write the elements as values of the same type".to_owned()));
            }
        }
        let string = self.attribute(1).and_then(|name| fact(name.folded()));
        let is_string = string.is_some_and(|fact| fact.kind == Some(Kind::String)) && self.text(0).is_some();
        (matches!(node(second), Node::Literal(Literal::Str(_))) || is_string).then(|| {
            let help = format!("write `stringListMember({}, {})`", self.shown(0), self.shown(1));
            (second, format!("`member` takes a list, and `{}` is a string", self.shown(1)), help)
        })
    }
}

/// `split(CondorVersion)[0]`, which is `$CondorVersion:`.
fn banner_part(context: &LintContext<'_>, tree: &Tree, base: NodeId, index: NodeId) -> Option<Finding> {
    let View::Call { name, arguments } = tree.view(tree.bare(base)) else { return None };
    let of = tree.reference(tree.bare(*arguments.first()?)).filter(|of| is_banner(of.name))?;
    let first = matches!(tree.node(tree.bare(index)), Node::Literal(Literal::Int(0)));
    let shown = written(context.text, tree.span(base)?);
    let message = format!("the first word of `{}` is `${}:`, not the version", of.name, of.name);
    (first && name.folded() == b"split").then(|| (index, message, format!("write `{shown}[1]`")))
}

/// A constant string in which nothing is open.
fn text(tree: &Tree, id: NodeId) -> Option<String> {
    match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Str(text)) if !text.contains(&OPEN) => std::str::from_utf8(text).ok().map(str::to_owned),
        _ => None,
    }
}

fn is_banner(name: Name) -> bool {
    matches!(name.folded(), b"condorversion" | b"condorplatform")
}

/// `CondorVersion >= "9.0"`
fn version(tree: &Tree, op: BinaryOp, left: NodeId, right: NodeId) -> Option<Finding> {
    let of = |one: NodeId, other: NodeId| {
        let reference = tree.reference(tree.bare(one)).filter(|one| one.name.folded() == b"condorversion")?;
        let text = text(tree, other).filter(|text| !text.starts_with('$'))?;
        Some((reference, text, other))
    };
    let (reference, text, at) = of(left, right).or_else(|| of(right, left))?;
    let message = format!("`{}` is a whole banner, `$CondorVersion: 25.14.1 …`, not a version", reference.name);
    let function = match op {
        BinaryOp::Less => "versionLT",
        BinaryOp::LessEqual => "versionLE",
        BinaryOp::Greater => "versionGT",
        BinaryOp::GreaterEqual => "versionGE",
        _ => "versionEQ",
    };
    Some((at, message, format!("write `{function}(split({reference})[1], \"{text}\")`")))
}

/// Returns true for a string that is a pattern rather than a name.
pub(super) fn looks_like_pattern(text: &str) -> bool {
    text.starts_with('^') || text.ends_with('$') || text.contains(".*") || text.contains("\\.")
}

/// The place of an anchor of a pattern that a letter or a digit must follow, or precede: a string ends at `$`.
fn dead_anchor(pattern: &str) -> Option<usize> {
    let bytes = pattern.as_bytes();
    // Where a class or a quotation ends is another matter in these.
    if ["[:", "[]", "[^]", "\\Q"].iter().any(|odd| pattern.contains(odd)) {
        return None;
    }
    let (mut at, mut in_class, mut before_is_letter) = (0, false, false);
    while let Some(&byte) = bytes.get(at) {
        let is_letter = !in_class && byte.is_ascii_alphanumeric();
        match byte {
            b'\\' => {
                at += 2;
                before_is_letter = false;
                continue;
            }
            b'[' if !in_class => in_class = true,
            b']' => in_class = false,
            b'^' if !in_class && before_is_letter => return Some(at),
            b'$' if !in_class => {
                let after = &bytes[at + 1..];
                let repeats = after.get(1).is_some_and(|sign| b"*?{".contains(sign));
                let is_sign = |sign: &u8| sign.is_ascii_alphanumeric() || matches!(sign, b'.' | b'_' | b'-');
                if after.first().is_some_and(is_sign) && !repeats {
                    return Some(at);
                }
            }
            _ => {}
        }
        before_is_letter = is_letter && !bytes.get(at + 1).is_some_and(|sign| b"*?{".contains(sign));
        at += 1;
    }
    None
}

/// The letter and the star of a pattern that is otherwise a plain name: `e*` in `node*.example.org`.
fn wildcard(pattern: &str) -> Option<&str> {
    let plain = pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*.-_@".contains(&byte));
    let at = pattern.match_indices('*').map(|(at, _)| at).find(|at| {
        let before = at.checked_sub(1).and_then(|before| pattern.as_bytes().get(before));
        before.is_some_and(u8::is_ascii_alphanumeric)
    })?;
    (plain && !pattern.contains(".*")).then(|| &pattern[at - 1..=at])
}

/// Tests whether the name of an attribute says that it has several items.
fn is_named_as_list(name: &str) -> bool {
    const ENDS: [&str; 11] =
        ["accounts", "groups", "hosts", "list", "machines", "names", "owners", "projects", "sites", "tags", "users"];
    /// Ends of words that are not plurals: `Physics`, `CpuSeries`, `Wants`.
    const SINGULAR: [&str; 10] = ["as", "fs", "ics", "is", "os", "series", "ss", "sys", "us", "wants"];
    let lower = name.to_ascii_lowercase();
    let is_plural = lower.len() > 4 && lower.ends_with('s') && !SINGULAR.iter().any(|end| lower.ends_with(end));
    ENDS.iter().any(|end| lower.ends_with(end)) || is_plural && !is_known(lower.as_bytes())
}
