//! References `$(NAME)` and `$(NAME:default)` inside a value, and the calls of function macros.
//!
//! In: a value and a place to look names up in. Out: the text without references. Knows nothing of files.
//! A value is expanded as text: a reference is replaced by its value, which is read again, so a reference may
//! begin in one value and end in another (`docs/reference/config-language.md` 4).

use classmate::Semantics;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::expansions::Expansions;
use super::function::{self, Call, Function};
use super::reference::{self, Reference, Text};
use super::shown;

/// Deepest chain of values referring to values.
const MAX_DEPTH: usize = 200;
/// Deepest expansion of texts inside texts: names made of references, arguments of functions.
const INSIDE: usize = 40;
/// Longest text an expansion may give, in bytes.
const MAX_LENGTH: usize = 4 << 20;
/// References that one value may take.
pub(crate) const MAX_STEPS: usize = 1_000_000;
/// References that one call of a function counts as.
const CALL: usize = 1_000;

/// An error in the expansion of a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A value refers to itself, directly or through others: the names, the first one repeated at the end.
    #[error("`{}` refers to itself: {}", .0.first().map_or("", String::as_str), .0.join(" → "))]
    Circle(Vec<String>),
    /// A chain of values too long to follow.
    #[error("`{0}` refers to other names more than {MAX_DEPTH} deep")]
    Depth(String),
    /// The text grew beyond `MAX_LENGTH` bytes.
    #[error("the expanded value is longer than {MAX_LENGTH} bytes")]
    Length,
    /// References that lead to ever more references.
    #[error("the value requires more than {MAX_STEPS} references to expand")]
    References,
    /// A function macro that cannot be evaluated: its text, and why.
    #[error("`{call}`: {why}")]
    Function {
        /// The call as it is written.
        call: String,
        /// The reason.
        why: String,
    },
}

impl ExpandError {
    /// Returns true if a function macro failed, and not the expansion itself.
    pub fn is_function(&self) -> bool {
        matches!(self, ExpandError::Function { .. })
    }
}

/// The environment of an expansion.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// Finds the unexpanded value of a name; `None` if it is not defined.
    pub(crate) lookup: &'a dyn Fn(&[u8]) -> Option<&'a [u8]>,
    /// The variables for `$ENV`.
    pub(crate) environment: &'a BTreeMap<Vec<u8>, Vec<u8>>,
    /// The value of `time()`, in seconds since 1970.
    pub(crate) now: i64,
    /// The seed of random choices.
    pub(crate) seed: u64,
    /// The version of the language of expressions.
    pub(crate) semantics: Semantics,
    /// True if what hangs on a machine, on its environment or on chance is left open.
    pub(crate) unknowing: bool,
    /// Known expansions of the values that `lookup` finds.
    pub(crate) known: Option<&'a Expansions>,
}

/// An expanded text, and how many references it took.
pub(crate) struct Expanded {
    pub(crate) text: Vec<u8>,
    pub(crate) references: usize,
}

/// The text of `value` with every reference and call replaced.
///
/// `owner` is the name whose value this is (empty if none); meeting it again is a circle.
pub(crate) fn expand(owner: &[u8], value: &[u8], around: Surroundings<'_>) -> Result<Expanded, ExpandError> {
    let mut budget = Budget { references: 0, drawn: 0 };
    let open = if owner.is_empty() { Vec::new() } else { vec![owner.to_ascii_uppercase()] };
    let text = Scope { around, budget: &mut budget, open, depth: 0 }.run(value)?;
    Ok(Expanded { text: dollars(text), references: budget.references })
}

/// The work that one expansion has used, with all nested texts.
pub(crate) struct Budget {
    references: usize,
    /// Random choices made.
    pub(crate) drawn: u64,
}

/// The value of a name inside a name's value: the reference is followed, and circles are found.
pub(crate) struct Scope<'a, 'b> {
    pub(crate) around: Surroundings<'a>,
    pub(crate) budget: &'b mut Budget,
    /// Names whose values the text is inside of, upper case, outermost first.
    open: Vec<Vec<u8>>,
    depth: usize,
}

impl<'a> Scope<'a, '_> {
    /// The expanded text of a name; `None` if it is not defined.
    pub(crate) fn value(&mut self, name: &[u8]) -> Result<Option<Vec<u8>>, ExpandError> {
        let Some(value) = (self.around.lookup)(name) else { return Ok(None) };
        let upper = self.entered(name)?;
        self.nested(Some(upper)).run(value).map(Some)
    }

    /// A text with its references replaced.
    pub(crate) fn expanded(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        if memchr::memchr(b'$', text).is_none() {
            return Ok(text.to_vec());
        }
        self.nested(None).run(text)
    }

    /// The same for a text inside of this one, perhaps in the value of a further name.
    fn nested(&mut self, name: Option<Vec<u8>>) -> Scope<'a, '_> {
        let open = self.open.iter().cloned().chain(name).collect();
        Scope { around: self.around, budget: self.budget, open, depth: self.depth + 1 }
    }

    /// Counts references, or work that costs as much.
    pub(crate) fn spend(&mut self, references: usize) -> Result<(), ExpandError> {
        self.budget.references += references;
        if self.budget.references > MAX_STEPS { Err(ExpandError::References) } else { Ok(()) }
    }

    /// The name in upper case, if its value can be entered here.
    fn entered(&self, name: &[u8]) -> Result<Vec<u8>, ExpandError> {
        let upper = name.to_ascii_uppercase();
        if let Some(at) = self.open.iter().position(|known| *known == upper) {
            // Each name once, the first repeated at the end.
            return Err(ExpandError::Circle(self.open[at..].iter().chain([&upper]).map(|name| shown(name)).collect()));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(ExpandError::Depth(shown(self.open.first().unwrap_or(&upper))));
        }
        Ok(upper)
    }

    /// The text with every reference and call replaced.
    fn run(self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        if self.depth > INSIDE {
            return Err(ExpandError::Depth(shown(self.open.first().map_or(b"$()".as_slice(), Vec::as_slice))));
        }
        let pending = text.iter().rev().copied().collect();
        let mut expansion = Expansion { scope: self, floors: Vec::new(), pending, out: Vec::new() };
        expansion.run()?;
        Ok(expansion.out)
    }
}

struct Expansion<'a, 'b> {
    scope: Scope<'a, 'b>,
    /// For the last of the open names, whose values are in the text still to be read: the number of pending bytes at
    /// the end of each.
    floors: Vec<usize>,
    /// The bytes still to be read, in reverse: reading and inserting at the front is cheap.
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Expansion<'_, '_> {
    fn run(&mut self) -> Result<(), ExpandError> {
        while let Some(at) = memchr::memrchr(b'$', &self.pending) {
            self.keep(self.pending.len() - 1 - at);
            if self.pending.ends_with(b"$$") {
                // Left for the moment when a job starts.
                self.keep(2);
            } else if let Some(found) = reference::find(&Text::Backward(&self.pending)) {
                self.reference(&found)?;
            } else if let Some(call) = function::find(&Text::Backward(&self.pending)) {
                self.call(&call)?;
            } else {
                self.keep(1);
            }
            if self.out.len() + self.pending.len() > MAX_LENGTH {
                return Err(ExpandError::Length);
            }
        }
        self.keep(self.pending.len());
        if self.out.len() > MAX_LENGTH { Err(ExpandError::Length) } else { Ok(()) }
    }

    /// Moves bytes from what is to be read to what is done.
    fn keep(&mut self, bytes: usize) {
        let rest = self.pending.len() - bytes;
        self.out.extend(self.pending[rest..].iter().rev());
        self.pending.truncate(rest);
    }

    /// Takes bytes away from what is to be read.
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let rest = self.pending.len() - bytes;
        let taken = self.pending[rest..].iter().rev().copied().collect();
        self.pending.truncate(rest);
        taken
    }

    fn put(&mut self, text: &[u8]) {
        self.pending.extend(text.iter().rev());
    }

    /// Leaves the values of names that are read to their ends.
    fn leave(&mut self) {
        let here = self.pending.len();
        while self.floors.pop_if(|floor| here <= *floor).is_some() {
            self.scope.open.pop();
        }
    }

    fn reference(&mut self, found: &Reference) -> Result<(), ExpandError> {
        self.scope.spend(1)?;
        self.leave();
        let whole = self.take(found.length);
        let name_text = &whole[found.name.clone()];
        let default = found.default.clone().map(|default| &whole[default]);
        let made;
        let name = if memchr::memchr(b'$', name_text).is_some() {
            self.leave();
            made = self.scope.nested(None).run(name_text)?;
            if !made.iter().copied().all(reference::is_name_byte) {
                self.out.extend_from_slice(b"$(");
                self.out.extend_from_slice(&made);
                self.out.extend_from_slice(&whole[found.name.end..]);
                return Ok(());
            }
            made.as_slice()
        } else {
            name_text
        };
        if name.eq_ignore_ascii_case(b"DOLLAR") && default.is_none() {
            // Replaced in a step of its own, the last one.
            self.out.extend_from_slice(&whole);
            return Ok(());
        }
        let value = (self.scope.around.lookup)(name).filter(|value| !value.is_empty());
        match (value, default) {
            (Some(value), _) => self.enter(name, value),
            (None, Some(default)) => {
                self.put(default);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Puts the value of a name before what is still to be read.
    fn enter(&mut self, name: &[u8], value: &[u8]) -> Result<(), ExpandError> {
        if memchr::memchr(b'$', value).is_none() {
            // Nothing to follow; but a `$` before it may make a reference of it and what comes behind.
            self.put(value);
            return Ok(());
        }
        let upper = name.to_ascii_uppercase();
        if let Some(text) = self.known(&upper)? {
            self.put(&text);
            return Ok(());
        }
        let upper = self.scope.entered(name)?;
        self.scope.open.push(upper);
        self.floors.push(self.pending.len());
        self.put(value);
        Ok(())
    }

    /// The expansion of a name (upper case), if it is known to be within all limits; the error if it is known to be too deep.
    fn known(&mut self, upper: &[u8]) -> Result<Option<Arc<[u8]>>, ExpandError> {
        let Scope { around, open, budget, .. } = &mut self.scope;
        let Some(known) = around.known else { return Ok(None) };
        let Some(size) = known.size(upper, open.first().map(Vec::as_slice), around.lookup) else { return Ok(None) };
        let is_short = (self.out.len() + self.pending.len()).saturating_add(size.peak) <= MAX_LENGTH;
        if !is_short || budget.references.saturating_add(size.references) > MAX_STEPS {
            return Ok(None);
        }
        if open.len().saturating_add(size.depth) > MAX_DEPTH {
            return Err(ExpandError::Depth(shown(open.first().map_or(upper, Vec::as_slice))));
        }
        let text = known.text(upper, size, || {
            let value = (around.lookup)(upper).unwrap_or_default();
            let mut budget = Budget { references: 0, drawn: 0 };
            Scope { around: *around, budget: &mut budget, open: vec![upper.to_vec()], depth: 0 }.run(value)
        })?;
        if text.is_some() {
            budget.references += size.references;
        }
        Ok(text)
    }

    fn call(&mut self, call: &Call) -> Result<(), ExpandError> {
        // A call costs as much as very many references.
        self.scope.spend(CALL + 1)?;
        self.leave();
        let whole = self.take(call.length);
        let argument = &whole[call.argument.clone()];
        let value = function::value(call.function, argument, &mut self.scope).map_err(|failed| match failed {
            function::Failed::Expand(error) => error,
            function::Failed::Call(why) => ExpandError::Function { call: shown(&whole), why },
        })?;
        self.put(&value);
        Ok(())
    }
}

/// Replaces `$(DOLLAR)`, the last step: `$$(DOLLAR)` is left alone, and so is what would become one.
fn dollars(text: Vec<u8>) -> Vec<u8> {
    const DOLLAR: &[u8] = b"$(DOLLAR)";
    let is_dollar = |at: usize| text[at..].get(..DOLLAR.len()).is_some_and(|found| found.eq_ignore_ascii_case(DOLLAR));
    let Some(first) = memchr::memchr_iter(b'$', &text).find(|at| is_dollar(*at)) else {
        return text;
    };
    let mut out = text[..first].to_vec();
    let mut at = first;
    while at < text.len() {
        if text[at] == b'$' && out.last() != Some(&b'$') && is_dollar(at) {
            out.push(b'$');
            at += DOLLAR.len();
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// The text of `value` with only the references to `names` replaced, by `old` as it is (not expanded).
///
/// This is what an assignment does to references to the name being assigned, except to those inside of other references.
pub(crate) fn expand_self(names: &[&[u8]], old: Option<&[u8]>, value: &[u8]) -> Result<Vec<u8>, ExpandError> {
    let old = old.filter(|old| !old.is_empty());
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(dollar) = memchr::memchr(b'$', &value[at..]) {
        out.extend_from_slice(&value[at..at + dollar]);
        at += dollar;
        let rest = &value[at..];
        if rest.starts_with(b"$$") {
            out.extend_from_slice(b"$$");
            at += 2;
            continue;
        }
        let text = Text::Forward(rest);
        let Some(found) = reference::find(&text) else {
            // A call is kept whole, with all references in it.
            let length = function::find(&text).map_or(1, |call| call.length);
            out.extend_from_slice(&rest[..length]);
            at += length;
            continue;
        };
        let is_own = names.iter().any(|name| name.eq_ignore_ascii_case(&rest[found.name.clone()]));
        match (old, found.default) {
            // So is a reference to another name, with its default.
            _ if !is_own => out.extend_from_slice(&rest[..found.length]),
            (Some(old), _) => out.extend_from_slice(old),
            // A default nests no deeper than references do.
            (None, Some(default)) => out.extend_from_slice(&expand_self(names, None, &rest[default])?),
            (None, None) => {}
        }
        at += found.length;
        if out.len() > MAX_LENGTH {
            return Err(ExpandError::Length);
        }
    }
    out.extend_from_slice(&value[at..]);
    if out.len() > MAX_LENGTH { Err(ExpandError::Length) } else { Ok(out) }
}

/// The first call of a path function, `$Fn(NAME)`, whose argument is one of some names.
pub(crate) fn own_path(names: &[&[u8]], value: &[u8]) -> Option<Range<usize>> {
    let is_escaped = |at: usize| value[..at].ends_with(b"$");
    memchr::memchr_iter(b'$', value).filter(|at| !is_escaped(*at)).find_map(|at| {
        let rest = &value[at..];
        let call = function::find(&Text::Forward(rest)).filter(|call| matches!(call.function, Function::Path(_)))?;
        let argument = &rest[call.argument.clone()];
        names.iter().any(|name| name.eq_ignore_ascii_case(argument)).then(|| at..at + call.length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded<'t>(text: &[u8], lookup: &dyn Fn(&[u8]) -> Option<&'t [u8]>) -> Result<Vec<u8>, ExpandError> {
        let environment = BTreeMap::new();
        let table = |name: &[u8]| lookup(name);
        let around = Surroundings {
            lookup: &table,
            environment: &environment,
            now: 0,
            seed: 0,
            semantics: Semantics::default(),
            unknowing: false,
            known: None,
        };
        expand(b"", text, around).map(|expanded| expanded.text)
    }

    /// Expands `text` with A=one, B=$(A) two, EMPTY empty, N=A.
    fn with_table(text: &str) -> Result<String, ExpandError> {
        let table = |name: &[u8]| -> Option<&'static [u8]> {
            match name.to_ascii_uppercase().as_slice() {
                b"A" => Some(b"one"),
                b"B" => Some(b"$(a) two"),
                b"EMPTY" => Some(b""),
                b"BLANK" => Some(b"$(NOPE)"),
                b"N" => Some(b"A"),
                b"D" => Some(b"$"),
                b"TAIL" => Some(b"(A)"),
                b"LOOP" => Some(b"$(POOL)"),
                b"POOL" => Some(b"x$(LOOP)"),
                _ => None,
            }
        };
        expanded(text.as_bytes(), &table).map(|v| String::from_utf8(v).unwrap())
    }

    #[test]
    fn references_are_replaced_case_insensitively_and_lazily() {
        assert_eq!(with_table("x $(a) $(B)").unwrap(), "x one one two");
    }

    #[test]
    fn undefined_and_empty_names_take_the_default() {
        assert_eq!(with_table("[$(NOPE)][$(EMPTY)]").unwrap(), "[][]");
        assert_eq!(with_table("[$(NOPE:d, e)][$(EMPTY:7)][$(A:8)]").unwrap(), "[d, e][7][one]");
        assert_eq!(with_table("$(X:$(Y:$(Z:q)))").unwrap(), "q");
        // Defined by a text that expands to nothing: no default.
        assert_eq!(with_table("[$(BLANK:d)]").unwrap(), "[]");
        assert_eq!(with_table("$(:x)$()").unwrap(), "x");
    }

    #[test]
    fn what_is_no_reference_stays() {
        for text in ["$( A )", "$(A", "$A", "$$(A)", "$$([MY.X])", "$(X:[y])", "5 $", "$(X:a-b)", "$(X:a;b)", "$((A))"]
        {
            assert_eq!(with_table(text).unwrap(), text, "{text}");
        }
        assert_eq!(with_table("$(B:$(C:[x]))$(X:$(C:[x]))").unwrap(), "one two$(C:[x])");
        assert_eq!(with_table("$$$(A)").unwrap(), "$$one");
    }

    #[test]
    fn the_inner_reference_is_replaced_first() {
        assert_eq!(with_table("$($(N))").unwrap(), "one");
        assert_eq!(with_table("$(X_$(N):d)").unwrap(), "d");
    }

    #[test]
    fn a_reference_may_begin_in_one_value_and_end_in_another() {
        assert_eq!(with_table("$(D)(A)").unwrap(), "one");
        assert_eq!(with_table("$(D)$(TAIL)").unwrap(), "$$(TAIL)");
    }

    #[test]
    fn dollar_is_written_last() {
        assert_eq!(with_table("$(DOLLAR)(A)").unwrap(), "$(A)");
        assert_eq!(with_table("$(dollar)$(A)").unwrap(), "$one");
        assert_eq!(with_table("$(DOLLAR)$(DOLLAR)(A)").unwrap(), "$$(DOLLAR)(A)");
        assert_eq!(with_table("$$(DOLLAR)$(DOLLAR:x)").unwrap(), "$$(DOLLAR)x");
    }

    #[test]
    fn a_circle_is_an_error_with_all_its_names() {
        let circle = with_table("$(LOOP)").unwrap_err();
        assert_eq!(circle.to_string(), "`LOOP` refers to itself: LOOP → POOL → LOOP");
    }

    #[test]
    fn growth_is_bounded() {
        // Each level doubles the text: 2^40 bytes if nothing stopped it.
        let values: Vec<Vec<u8>> = (0..41).map(|i| format!("$(L{i})$(L{i})").into_bytes()).collect();
        let table = |name: &[u8]| -> Option<&[u8]> {
            let level: usize = std::str::from_utf8(&name[1..]).ok()?.parse().ok()?;
            Some(if level == 0 { b"twenty bytes of text" } else { &values[level - 1] })
        };
        assert_eq!(expanded(b"$(L40)", &table), Err(ExpandError::Length));
    }

    #[test]
    fn a_chain_of_values_has_an_end() {
        let values: Vec<Vec<u8>> = (0..300).map(|i| format!("$(L{})", i + 1).into_bytes()).collect();
        let table = |name: &[u8]| -> Option<&[u8]> {
            let level: usize = std::str::from_utf8(&name[1..]).ok()?.parse().ok()?;
            values.get(level).map(Vec::as_slice)
        };
        assert_eq!(expanded(b"$(L0)", &table), Err(ExpandError::Depth("L0".to_owned())));
        assert_eq!(expanded(b"$(L150)", &table), Ok(Vec::new()));
    }

    #[test]
    fn references_nested_too_deep_are_text() {
        let nested = reference::NESTED + 1;
        let text = [b"$(X:".repeat(100_000), b")".repeat(100_000)].concat();
        // The innermost ones are a well-formed reference, and undefined; the others stay.
        let left = 100_000 - nested;
        let expected = [b"$(X:".repeat(left), b")".repeat(left)].concat();
        assert_eq!(expanded(&text, &|_| None), Ok(expected));
        let text = b"$(".repeat(300_000);
        assert_eq!(expanded(&text, &|_| None), Ok(text));
    }

    #[test]
    fn an_assignment_replaces_only_references_to_itself() {
        let own = |old: Option<&[u8]>, value: &str| {
            String::from_utf8(expand_self(&[b"A", b"S.A"], old, value.as_bytes()).unwrap()).unwrap()
        };
        // As `condor_config_val -raw` 25.14.1 shows them.
        assert_eq!(own(Some(b"1"), "$(a) $(S.A:x) $(B:$(A)) $$(A)"), "1 1 $(B:$(A)) $$(A)");
        assert_eq!(own(Some(b"1"), "$(A) $ENV(X:$(A)) $(B)"), "1 $ENV(X:$(A)) $(B)");
        assert_eq!(own(None, "$(A:$(A:y)) $(A)."), "y .");
    }
    /// As `condor_config_val` 25.14.1 reads `N = /a/b.c` and these values of `N` after it.
    #[test]
    fn path_functions_of_a_name_use_its_earlier_value() {
        use crate::config::Config;
        let value = |text: &str| {
            let config = Config::parse("c", text.as_bytes()).unwrap();
            String::from_utf8(config.get("N").unwrap().unwrap().text).unwrap()
        };
        assert_eq!(value("N = /a/b\nN = $Fp(N)"), "/a/");
        assert_eq!(value("N = /a/b/c.d\nN = $Fn(n)x"), "cx");
        assert_eq!(value("N = $Fn(N)x"), "Nx");
        assert_eq!(value("M = $(K)\nK = /p/q.r\nN = $(M)\nN = $Fn(N)\nK = /k/l"), "q");
        assert_eq!(value("X = /q/w\nN = /a/b.c\nN = $Fn(X) $Fx(N)"), "w .c");
        assert_eq!(value("DAEMON_LIST = $Fn(DAEMON_LIST)\nN = $(DAEMON_LIST)"), "MASTER");
        assert!(Config::parse("c", b"N = 5\nN = $INT(N)").unwrap().get("N").is_err());
    }
}
