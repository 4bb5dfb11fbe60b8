//! Pools without the names of people, groups, projects, hosts and directories.
//!
//! In: a pool. Out: the same pool with pseudonyms, in which a negotiation cycle has the same outcome.

mod addresses;
mod cluster;
mod pseudonyms;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use thiserror::Error;

pub use self::cluster::{AnonymousCluster, anonymized_cluster};
use self::pseudonyms::{NameKind, Pseudonyms};
use classmate::internal::ad::Attribute;
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::{Node, Tree};
use classmate::internal::syntax::lexer::{Lexer, Token};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::quote::quoted;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::text::Text;
use classmate::{ClassAd, Expr, ParseOptions, Semantics};
use classmate_config::Config;
use classmate_config::internal::config::knob::{self, KnobKind};
use classmate_config::internal::config::setting::list_items;
use classmate_config::internal::config::user_map::user_maps;
use classmate_config::internal::config::{ConfigError, Disk};
use classmate_pool::internal::negotiate::prepared::collected;
use classmate_pool::internal::pool::attribute;
use classmate_pool::internal::queue::cluster::whole;
use classmate_pool::{AccountantLog, Match, Outcome, Snapshot, negotiate};

/// Numberings of the pseudonyms that are tried: the order of equal submitters depends on their names.
const MAX_TRIES: usize = 20;

/// A pool that cannot be anonymized.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnonymizeError {
    /// The configuration is invalid.
    #[error("{}", .0.to_line())]
    Config(ConfigError),
    /// A cycle over the pool has another outcome with pseudonyms.
    #[error("with pseudonyms the outcome of a cycle differs: {0}")]
    Outcome(String),
    /// Accounting data that cannot be read back.
    #[error("the accounting data cannot be written with pseudonyms: {0}")]
    Log(String),
}

impl From<ConfigError> for AnonymizeError {
    fn from(error: ConfigError) -> Self {
        AnonymizeError::Config(error)
    }
}

/// The kind of the names in a string attribute, lower case.
fn kind_of(folded: &[u8]) -> Option<NameKind> {
    const ENDS: [(&str, NameKind); 20] = [
        ("owner", NameKind::User),
        ("user", NameKind::User),
        ("claimedby", NameKind::User),
        ("email", NameKind::User),
        ("subject", NameKind::User),
        ("voname", NameKind::User),
        ("fqan", NameKind::User),
        ("group", NameKind::Group),
        ("project", NameKind::Project),
        ("projectname", NameKind::Project),
        ("site", NameKind::Site),
        ("institution", NameKind::Site),
        ("resourcename", NameKind::Site),
        ("host", NameKind::Host),
        ("hostname", NameKind::Host),
        ("nodename", NameKind::Host),
        ("domain", NameKind::Host),
        ("machine", NameKind::Host),
        ("pool", NameKind::Host),
        ("scheddname", NameKind::Host),
    ];
    // Of partitionable slots: the values of their dynamic slots.
    let folded = folded.strip_prefix(b"child").unwrap_or(folded);
    match folded {
        b"name" => Some(NameKind::User),
        b"globaljobid" => Some(NameKind::Host),
        _ => ENDS.iter().find(|(end, _)| folded.ends_with(end.as_bytes())).map(|(_, kind)| *kind),
    }
}

fn is_contact(folded: &[u8], text: &[u8]) -> bool {
    folded.ends_with(b"addr") || folded.ends_with(b"address") || text.starts_with(b"<")
}

/// Returns true if the strings of an attribute are not names: mostly few words that HTCondor knows.
fn is_vocabulary(folded: &[u8]) -> bool {
    const OTHERS: [&[u8]; 8] = [
        b"jobprioarray",
        b"mytype",
        b"targettype",
        b"condorversion",
        b"condorplatform",
        b"concurrencylimits",
        b"matchedconcurrencylimits",
        b"machineresources",
    ];
    let known = || attribute::find(folded).is_some_and(|facts| facts.get("values").is_some());
    OTHERS.contains(&folded) || known()
}

/// The names that a cycle can look at: those in the expressions of ads and configuration, lower case.
fn mentioned(snapshot: &Snapshot, expressions: &[Expr]) -> HashSet<Vec<u8>> {
    let submitters = snapshot.submitters.iter().flatten();
    let ads = snapshot.slots.iter().chain(&snapshot.jobs).chain(submitters);
    let mut seen = HashSet::new();
    let trees = ads.flat_map(ClassAd::lineage).flat_map(ClassAd::attributes).filter_map(|(_, value)| value.tree());
    let trees = trees.filter(|tree| seen.insert(Arc::as_ptr(tree))).chain(expressions.iter().map(Expr::tree));
    trees.flat_map(|tree| Mentions::of(tree).names).map(|name| name.folded().to_vec()).collect()
}

/// A variable of the configuration with its value.
struct Setting<'c> {
    name: &'c [u8],
    /// The place in the name of a group, a user or the like.
    member: Option<Range<usize>>,
    kind: KnobKind,
    value: Vec<u8>,
}

/// The name of the user map whose text a variable is.
fn map_of(variable: &[u8]) -> Option<&[u8]> {
    const START: &[u8] = b"CLASSAD_USER_MAPDATA_";
    let (start, map) = variable.split_at_checked(START.len())?;
    start.eq_ignore_ascii_case(START).then_some(map)
}

/// The variables that are set and that a cycle can read, without what they refer to.
fn settings(config: &Config) -> Result<Vec<Setting<'_>>, ConfigError> {
    let exprs = config.get("NEGOTIATOR_MATCH_EXPRS")?.map(|found| found.text.to_ascii_uppercase()).unwrap_or_default();
    let is_match_expr = |name: &[u8]| list_items(&exprs).contains(&name.to_ascii_uppercase());
    let maps = config.list("NEGOTIATOR_CLASSAD_USER_MAP_NAMES")?;
    let is_map = |name: &[u8]| map_of(name).is_some_and(|map| maps.iter().any(|one| one.eq_ignore_ascii_case(map)));
    let mut settings = Vec::new();
    for definition in config.definitions() {
        let name = config.bare(definition.name);
        let knob = knob::find(name).filter(|knob| knob.kind != KnobKind::Path);
        let kind = knob.map(|knob| knob.kind).or_else(|| is_match_expr(name).then_some(KnobKind::Expression));
        let kind = kind.or_else(|| is_map(name).then_some(KnobKind::Text));
        let Some(kind) = kind else { continue };
        let Some(found) = config.get(&String::from_utf8_lossy(name))? else { continue };
        let member = knob.and_then(|knob| {
            let (start, member) = (knob.name.find('<')?, knob::member(knob, name)?);
            Some(start..start + member.len())
        });
        // The list of maps names them, too.
        let member = member.or_else(|| map_of(name).map(|map| name.len() - map.len()..name.len()));
        settings.push(Setting { name, member, kind, value: found.text });
    }
    Ok(settings)
}

fn has_strings(tree: &Tree) -> bool {
    tree.nodes.iter().any(|node| matches!(node, Node::Literal(Literal::Str(_))))
}

/// The reading of expressions of a configuration.
fn old_syntax(semantics: Semantics) -> ParseOptions {
    ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() }
}

/// The reading of expressions of ads.
fn new_syntax(semantics: Semantics) -> ParseOptions {
    ParseOptions { quoting: Quoting::New, semantics, ..ParseOptions::default() }
}

/// Replaces names in ads and texts.
struct Anonymizer {
    pseudonyms: Pseudonyms,
    mentioned: HashSet<Vec<u8>>,
    /// Attributes that stay as they are, lower case.
    done: HashSet<Vec<u8>>,
}

impl Anonymizer {
    /// Learns the names in a pool.
    fn of(snapshot: &Snapshot, settings: &[Setting<'_>], done: HashSet<Vec<u8>>) -> Self {
        let options = old_syntax(snapshot.config.semantics());
        let of_settings = settings.iter().filter(|setting| setting.kind == KnobKind::Expression);
        let expressions: Vec<Expr> = of_settings.filter_map(|one| parse_expr(&one.value, &options).ok()).collect();
        let pseudonyms = Pseudonyms::default();
        let mut anonymizer = Anonymizer { pseudonyms, mentioned: mentioned(snapshot, &expressions), done };
        for setting in settings {
            match setting.name.to_ascii_uppercase().as_slice() {
                b"GROUP_NAMES" => anonymizer.pseudonyms.add(&setting.value, NameKind::Group),
                name if name.ends_with(b"_DOMAIN") => anonymizer.pseudonyms.add(&setting.value, NameKind::Host),
                _ => {}
            }
        }
        let mut seen = HashSet::new();
        for ad in snapshot.submitters.iter().flatten().chain(&snapshot.jobs).chain(&snapshot.slots) {
            ad.lineage().for_each(|ad| anonymizer.learn(ad, &mut seen));
        }
        for setting in settings.iter().filter(|setting| setting.kind == KnobKind::Expression) {
            anonymizer.learn_expression(&setting.value, &options, None);
        }
        if let Some(log) = &snapshot.log {
            anonymizer.learn_log(&log.to_text());
        }
        for map in settings.iter().filter(|setting| map_of(setting.name).is_some()) {
            anonymizer.learn_map(&map.value);
        }
        anonymizer
    }

    /// The pool with pseudonyms.
    fn pool(&self, snapshot: &Snapshot, settings: &[Setting<'_>]) -> Result<Snapshot, AnonymizeError> {
        let semantics = snapshot.config.semantics();
        let mut known = HashMap::new();
        let mut all = |ads: &[ClassAd]| ads.iter().map(|ad| self.ad(ad, &mut known)).collect::<Vec<ClassAd>>();
        let values: Vec<(String, String)> = settings.iter().map(|one| self.setting(one, semantics)).collect();
        let config = Config::of_values(&values, "config").read_as(semantics);
        // Maps in files are not kept, so the cycle does not have them either.
        let (maps, _) = user_maps(&config, "NEGOTIATOR", &Disk)?;
        let log = snapshot.log.as_ref().map(|log| AccountantLog::read(&self.log(&log.to_text()))).transpose();
        Ok(Snapshot {
            config,
            maps: Arc::new(maps),
            slots: all(&snapshot.slots),
            unkept: Vec::new(),
            jobs: all(&snapshot.jobs),
            submitters: collected(snapshot).map(|ads| all(&ads)),
            log: log.map_err(|error| AnonymizeError::Log(error.to_string()))?,
            ..snapshot.clone()
        })
    }

    /// True if a string is kept, with pseudonyms.
    fn keeps(&self, folded: &[u8], text: &[u8]) -> bool {
        kind_of(folded).is_some()
            || is_vocabulary(folded)
            || self.mentioned.contains(folded)
            || attribute::find(folded).is_some_and(|facts| facts.get("negotiator").is_some())
            || folded == b"scheddipaddr"
            || folded == b"assignedgpus" && !text.contains(&b'/')
    }

    /// Learns the names in an ad.
    fn learn(&mut self, ad: &ClassAd, seen: &mut HashSet<(usize, Option<NameKind>)>) {
        for (name, value) in ad.attributes() {
            let folded = name.folded();
            match value {
                _ if self.done.contains(folded) => {}
                Attribute::Literal(Literal::Str(text)) if is_contact(folded, text) => self.pseudonyms.add_contact(text),
                Attribute::Literal(Literal::Str(text)) => match kind_of(folded) {
                    // Machines with one slot have no `@` in its name.
                    Some(_) if folded == b"name" && !text.contains(&b'@') => self.pseudonyms.add(text, NameKind::Host),
                    Some(kind) => self.pseudonyms.add(text, kind),
                    None if is_vocabulary(folded) || !self.keeps(folded, text) => {}
                    None if text.contains(&b'@') => self.pseudonyms.add(text, NameKind::User),
                    None => {
                        // Versions have four numbers, too.
                        if memchr::memmem::find(folded, b"version").is_none() {
                            self.pseudonyms.add_addresses(text);
                        }
                        self.pseudonyms.add_paths(text);
                    }
                },
                Attribute::Literal(_) => {}
                Attribute::Tree(tree) => {
                    if seen.insert((Arc::as_ptr(tree) as usize, kind_of(folded))) {
                        let text = Expr::whole(Arc::clone(tree)).to_text(Style::New);
                        self.learn_expression(&text, &new_syntax(tree.semantics), kind_of(folded));
                    }
                }
            }
        }
    }

    /// Learns the names in the strings of an expression: all of an attribute of names, otherwise those that stand in one condition
    /// with such an attribute.
    fn learn_expression(&mut self, text: &[u8], options: &ParseOptions, kind: Option<NameKind>) {
        let (mut strings, mut found): (Vec<Text>, _) = (Vec::new(), kind);
        let mut add = |strings: &mut Vec<Text>, kind: Option<NameKind>| {
            for text in strings.drain(..) {
                if let Some(kind) = kind {
                    self.pseudonyms.add(&text, kind);
                }
            }
        };
        for (_, token, _) in Lexer::new(text, options).map_while(Result::ok) {
            match token {
                Token::Literal(Literal::Str(text)) => strings.push(text),
                Token::Name(name) => found = found.or_else(|| kind_of(name.folded())),
                Token::Binary(BinaryOp::And | BinaryOp::Or) => {
                    add(&mut strings, found);
                    found = kind;
                }
                _ => {}
            }
        }
        add(&mut strings, found);
    }

    /// An ad with pseudonyms, without the strings that a cycle does not look at; `known` has the expressions by address.
    fn ad(&self, ad: &ClassAd, known: &mut HashMap<usize, Option<Expr>>) -> ClassAd {
        let whole = whole(ad);
        let mut out = ClassAd::with_capacity(whole.len());
        for (name, value) in whole.attributes() {
            let folded = name.folded();
            match value {
                _ if self.done.contains(folded) => out.set(name, value.clone()),
                Attribute::Literal(Literal::Str(text)) if !self.keeps(folded, text) => {}
                Attribute::Literal(Literal::Str(text)) => {
                    let text = Text::from(self.pseudonyms.replace(text));
                    out.set(name, Attribute::Literal(Literal::Str(text)));
                }
                Attribute::Literal(_) => out.set(name, value.clone()),
                Attribute::Tree(tree) if !self.keeps(folded, b"") && has_strings(tree) => {}
                Attribute::Tree(tree) => {
                    let of_tree = || self.expression(&Expr::whole(Arc::clone(tree)));
                    match known.entry(Arc::as_ptr(tree) as usize).or_insert_with(of_tree) {
                        Some(expr) => out.insert_expr(name, expr),
                        None => out.set(name, value.clone()),
                    }
                }
            }
        }
        out
    }

    /// An expression with pseudonyms in its strings; `None`: it stays as it is.
    fn expression(&self, expr: &Expr) -> Option<Expr> {
        let text = expr.to_text(Style::New);
        let options = new_syntax(expr.tree().semantics);
        match self.strings(&text, &options) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => parse_expr(&text, &options).ok(),
        }
    }

    /// The text of an expression with pseudonyms in its strings.
    fn strings<'t>(&self, text: &'t [u8], options: &ParseOptions) -> Cow<'t, [u8]> {
        let (mut out, mut copied) = (Vec::new(), 0);
        for (start, token, end) in Lexer::new(text, options).map_while(Result::ok) {
            if let Token::Literal(Literal::Str(string)) = token {
                let replaced = self.pseudonyms.replace(&string);
                if replaced != *string {
                    out.extend_from_slice(&text[copied..start]);
                    out.extend_from_slice(&quoted(&replaced));
                    copied = end;
                }
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(&text[copied..]);
        Cow::Owned(out)
    }

    fn setting(&self, setting: &Setting<'_>, semantics: Semantics) -> (String, String) {
        let mut name = setting.name.to_vec();
        if let Some(member) = &setting.member {
            name.splice(member.clone(), self.pseudonyms.replace(&setting.name[member.clone()]));
        }
        let options = old_syntax(semantics);
        let value = match setting.kind {
            KnobKind::Expression => self.strings(&setting.value, &options).into_owned(),
            KnobKind::Pattern | KnobKind::List | KnobKind::Text => self.pseudonyms.replace(&setting.value),
            _ => setting.value.clone(),
        };
        (String::from_utf8_lossy(&name).into_owned(), String::from_utf8_lossy(&value).into_owned())
    }

    /// The text of an accountant's log with pseudonyms.
    fn log(&self, log: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(log.len());
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            // The operation, the key, the attribute and its value.
            for (place, field) in line.splitn(4, |byte| *byte == b' ').enumerate() {
                if place > 0 {
                    out.push(b' ');
                }
                match (place, memchr::memchr(b'.', field)) {
                    (1, Some(point)) => {
                        out.extend_from_slice(&field[..=point]);
                        out.extend_from_slice(&self.pseudonyms.replace(&field[point + 1..]));
                    }
                    (3, _) => out.extend_from_slice(&self.pseudonyms.replace(field)),
                    _ => out.extend_from_slice(field),
                }
            }
        }
        out
    }

    /// Learns the names in a user map: who is mapped, and to which groups.
    fn learn_map(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).skip(1);
            for kind in [NameKind::User, NameKind::Group] {
                fields.next().into_iter().for_each(|field| self.pseudonyms.add(field, kind));
            }
        }
    }

    /// Learns the names in the keys and values of an accountant's log.
    fn learn_log(&mut self, log: &[u8]) {
        for line in log.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"103 ")) {
            let value = line.splitn(4, |byte| *byte == b' ').nth(3).unwrap_or_default();
            if value.contains(&b'@') {
                self.pseudonyms.add(value, NameKind::User);
            } else {
                self.pseudonyms.add_addresses(value);
            }
        }
        for line in log.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"101 ")) {
            let key = line.split(|byte| *byte == b' ').next().unwrap_or_default();
            if let Some(point) = memchr::memchr(b'.', key) {
                let is_host = key.starts_with(b"Resource.") && !key.contains(&b'@');
                self.pseudonyms.add(&key[point + 1..], if is_host { NameKind::Host } else { NameKind::User });
            }
        }
    }
}

/// The pool with pseudonyms, as a cycle reads it: configuration, ads and accounting. Strings that a cycle does not look at are
/// left out, and so are variables of the configuration that it does not read.
///
/// # Errors
/// An invalid configuration, or a cycle with another outcome, where an expression looks at the letters of names.
pub fn anonymized(snapshot: &Snapshot) -> Result<Snapshot, AnonymizeError> {
    let settings = settings(&snapshot.config)?;
    let expected = negotiate(snapshot)?;
    let mut anonymizer = Anonymizer::of(snapshot, &settings, HashSet::new());
    let mut difference = String::new();
    for first in 0..MAX_TRIES {
        anonymizer.pseudonyms.number(first);
        let anonymous = anonymizer.pool(snapshot, &settings)?;
        let found = negotiate(&anonymous)?;
        match differing(&expected, &found, &anonymizer.pseudonyms) {
            None => return Ok(anonymous),
            Some(text) => difference = text,
        }
    }
    Err(AnonymizeError::Outcome(difference))
}

/// The first difference of two outcomes, the second with pseudonyms.
fn differing(expected: &Outcome, found: &Outcome, pseudonyms: &Pseudonyms) -> Option<String> {
    let text = |text: &str| String::from_utf8_lossy(&pseudonyms.replace(text.as_bytes())).into_owned();
    let same = |a: &Match, b: &Match| {
        (a.job, a.preempting, a.cluster) == (b.job, b.preempting, b.cluster)
            && (text(&a.submitter), text(&a.slot)) == (b.submitter.clone(), b.slot.clone())
    };
    if let Some((one, _)) = expected.matches.iter().zip(&found.matches).find(|(a, b)| !same(a, b)) {
        return Some(format!("job {} of `{}` on `{}` is another match", one.job, one.submitter, one.slot));
    }
    let counts = |outcome: &Outcome| (outcome.matches.len(), outcome.rejections.len());
    let ((matches, rejections), (others, rejected)) = (counts(expected), counts(found));
    ((matches, rejections) != (others, rejected))
        .then(|| format!("{others} matches and {rejected} rejections, expected {matches} and {rejections}"))
}
