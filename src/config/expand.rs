//! References `$(NAME)` and `$(NAME:default)` inside a value.
//!
//! In: a value and a way to look names up. Out: the text without references. Knows nothing of files.

use super::shown;

/// Deepest chain of values referring to values, and of references inside references.
const DEEPEST: usize = 64;
/// Deepest nesting of references within one text; deeper ones are plain text. Bounds the look-ahead too.
const NESTED: usize = 32;
/// Longest text an expansion may give, in bytes.
const LONGEST: usize = 4 << 20;

/// Function macros of the configuration language; they need a clock, an environment or the evaluator.
const FUNCTIONS: [&[u8]; 12] = [
    b"ENV",
    b"INT",
    b"REAL",
    b"STRING",
    b"EVAL",
    b"CHOICE",
    b"SUBSTR",
    b"RANDOM_CHOICE",
    b"RANDOM_INTEGER",
    b"BASENAME",
    b"DIRNAME",
    b"DOLLAR",
];

/// Why a value could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A value refers to itself, directly or through others; the name that closes the circle.
    #[error("`{0}` refers to itself")]
    Circle(String),
    /// A chain of values too long to follow.
    #[error("`{0}` refers to other names more than {DEEPEST} deep")]
    Depth(String),
    /// The text grew beyond [`LONGEST`] bytes.
    #[error("the expanded value is longer than {LONGEST} bytes")]
    Length,
    /// A function macro.
    #[error("the function macro `${0}(…)` is not supported yet")]
    Function(String),
}

/// Finds the unexpanded value of a name; `None` if it is not defined.
pub(crate) type Lookup<'a> = dyn Fn(&[u8]) -> Option<&'a [u8]> + 'a;

/// The text of `value` with every reference replaced, lazily: values found are expanded in turn.
///
/// `owner` is the name whose value this is (empty if none); meeting it again is a circle.
pub(crate) fn expand(owner: &[u8], value: &[u8], lookup: &Lookup<'_>) -> Result<Vec<u8>, ExpandError> {
    let mut open = Vec::new();
    if !owner.is_empty() {
        open.push(owner.to_ascii_uppercase());
    }
    let mut expansion = Expansion { lookup, open, only: None, after_dollar: false };
    let mut out = Vec::with_capacity(value.len());
    expansion.text(value, &mut out, 0)?;
    Ok(out)
}

/// The text of `value` with only the references to `name` replaced, by `old` as it is (not expanded).
///
/// This is what an assignment does to references to the name being assigned.
pub(crate) fn expand_self(names: &[&[u8]], old: Option<&[u8]>, value: &[u8]) -> Result<Vec<u8>, ExpandError> {
    let lookup = |_: &[u8]| None;
    let mut expansion = Expansion { lookup: &lookup, open: Vec::new(), only: Some((names, old)), after_dollar: false };
    let mut out = Vec::with_capacity(value.len());
    expansion.text(value, &mut out, 0)?;
    Ok(out)
}

/// The names an assignment refers to itself by, and their earlier value.
type Own<'b> = (&'b [&'b [u8]], Option<&'b [u8]>);

struct Expansion<'a, 'b> {
    lookup: &'b Lookup<'a>,
    /// Names whose values are being expanded, upper case, outermost first.
    open: Vec<Vec<u8>>,
    /// When set, only these names are replaced, by this text.
    only: Option<Own<'b>>,
    /// The last thing written is the `$` of a `$(DOLLAR)`.
    after_dollar: bool,
}

/// A reference found in a text: its name part, its default part, and its length with `$(` and `)`.
struct Reference<'a> {
    name: &'a [u8],
    default: Option<&'a [u8]>,
    length: usize,
}

impl Expansion<'_, '_> {
    fn text(&mut self, text: &[u8], out: &mut Vec<u8>, depth: usize) -> Result<(), ExpandError> {
        if depth > DEEPEST {
            return Err(ExpandError::Depth(shown(self.open.last().map_or(b"$()".as_slice(), Vec::as_slice))));
        }
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'$', rest) {
            self.write(&rest[..at], out)?;
            rest = &rest[at..];
            if rest.starts_with(b"$$(") || rest.starts_with(b"$$[") {
                // Left for the moment when a job starts.
                self.write(&rest[..3], out)?;
                rest = &rest[3..];
            } else if let Some(reference) = reference(rest) {
                self.reference(&reference, &rest[..reference.length], out, depth)?;
                rest = &rest[reference.length..];
            } else if let (Some(function), None) = (function(rest), self.only) {
                return Err(ExpandError::Function(shown(function)));
            } else {
                self.write(&rest[..1], out)?;
                rest = &rest[1..];
            }
        }
        self.write(rest, out)
    }

    fn write(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), ExpandError> {
        if !text.is_empty() {
            self.after_dollar = false;
            out.extend_from_slice(text);
        }
        if out.len() > LONGEST { Err(ExpandError::Length) } else { Ok(()) }
    }

    fn reference(
        &mut self,
        reference: &Reference<'_>,
        whole: &[u8],
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), ExpandError> {
        let after_dollar = self.after_dollar;
        let mut name = Vec::new();
        self.text(reference.name, &mut name, depth + 1)?;
        if let Some((names, old)) = self.only {
            if !names.iter().any(|n| n.eq_ignore_ascii_case(&name)) {
                // Keep the reference, but replace what is inside it.
                self.write(b"$(", out)?;
                self.write(&name, out)?;
                if let Some(default) = reference.default {
                    self.write(b":", out)?;
                    self.text(default, out, depth + 1)?;
                }
                return self.write(b")", out);
            }
            return match (old.filter(|old| !old.is_empty()), reference.default) {
                (Some(old), _) => self.write(old, out),
                (None, Some(default)) => self.text(default, out, depth + 1),
                (None, None) => Ok(()),
            };
        }
        if !name.iter().copied().all(is_name_byte) {
            return self.write(whole, out);
        }
        if name.eq_ignore_ascii_case(b"DOLLAR") {
            // Two in a row: the first `$` now stands before `$(DOLLAR)`, and `$$(…)` is left alone.
            self.write(if after_dollar { whole } else { b"$" }, out)?;
            self.after_dollar = !after_dollar;
            return Ok(());
        }
        let upper = name.to_ascii_uppercase();
        let value = (self.lookup)(&name);
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            if self.open.contains(&upper) {
                return Err(ExpandError::Circle(shown(&name)));
            }
            let before = out.len();
            self.open.push(upper);
            self.text(value, out, depth + 1)?;
            self.open.pop();
            if out.len() > before {
                return Ok(());
            }
        }
        match reference.default {
            Some(default) => self.text(default, out, depth + 1),
            None => Ok(()),
        }
    }
}

/// Whether a byte may stand in the name of a reference.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/')
}

/// The reference at the beginning of `text`, if `$(` there opens a well-formed one.
fn reference(text: &[u8]) -> Option<Reference<'_>> {
    let body = text.strip_prefix(b"$(")?;
    let mut colon = None;
    let mut depth = 0usize;
    for (at, &byte) in body.iter().enumerate() {
        match byte {
            b'(' => {
                // In the name part parentheses only come with a `$`.
                if colon.is_none() && depth == 0 && (at == 0 || body[at - 1] != b'$') {
                    return None;
                }
                depth += 1;
                if depth > NESTED {
                    return None;
                }
            }
            b')' if depth == 0 => {
                let name = &body[..colon.unwrap_or(at)];
                let default = colon.map(|colon| &body[colon + 1..at]);
                let valid = !name.is_empty();
                return valid.then_some(Reference { name, default, length: at + 3 });
            }
            b')' => depth -= 1,
            b':' if colon.is_none() && depth == 0 => colon = Some(at),
            b'$' => {}
            _ if is_name_byte(byte) => {}
            // In a default a few more are allowed, and anything inside parentheses.
            b',' | b'\\' | b':' | b' ' if colon.is_some() || depth > 0 => {}
            _ if colon.is_some() && depth > 0 => {}
            _ => return None,
        }
    }
    None
}

/// The name of the function macro at the beginning of `text`, which starts with `$`.
fn function(text: &[u8]) -> Option<&[u8]> {
    let body = &text[1..];
    let end = body.iter().position(|b| !(b.is_ascii_alphabetic() || *b == b'_'))?;
    if body[end] != b'(' || end == 0 {
        return None;
    }
    let name = &body[..end];
    let path_parts = name[0] == b'F' && name[1..].iter().all(|b| b"fpduwnxbqa".contains(b));
    (path_parts || FUNCTIONS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expands `text` with A=one, B=$(A) two, EMPTY empty, N=A.
    fn with_table(text: &str) -> Result<String, ExpandError> {
        let table = |name: &[u8]| -> Option<&'static [u8]> {
            match name.to_ascii_uppercase().as_slice() {
                b"A" => Some(b"one"),
                b"B" => Some(b"$(a) two"),
                b"EMPTY" => Some(b""),
                b"N" => Some(b"A"),
                b"LOOP" => Some(b"$(POOL)"),
                b"POOL" => Some(b"x$(LOOP)"),
                b"CALL" => Some(b"$ENV(HOME)"),
                _ => None,
            }
        };
        expand(b"", text.as_bytes(), &table).map(|v| String::from_utf8(v).unwrap())
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
    }

    #[test]
    fn what_is_no_reference_stays() {
        for text in ["$( A )", "$(A", "$A", "$$(A)", "$$([MY.X])", "$(X:[y])", "5 $", "$()"] {
            assert_eq!(with_table(text).unwrap(), text, "{text}");
        }
    }

    #[test]
    fn the_inner_reference_is_replaced_first() {
        assert_eq!(with_table("$($(N))").unwrap(), "one");
    }

    #[test]
    fn dollar_is_written_last() {
        assert_eq!(with_table("$(DOLLAR)(A)").unwrap(), "$(A)");
        assert_eq!(with_table("$(DOLLAR)$(DOLLAR)(A)").unwrap(), "$$(DOLLAR)(A)");
    }

    #[test]
    fn a_circle_is_an_error_and_not_a_hang() {
        assert_eq!(with_table("$(LOOP)"), Err(ExpandError::Circle("LOOP".to_owned())));
    }

    #[test]
    fn function_macros_are_refused() {
        assert_eq!(with_table("$(CALL)"), Err(ExpandError::Function("ENV".to_owned())));
        assert!(matches!(with_table("$Fn(A)"), Err(ExpandError::Function(_))));
        assert_eq!(with_table("$Hello(A)").unwrap(), "$Hello(A)");
    }

    #[test]
    fn growth_is_bounded() {
        // Each level doubles the text: 2^40 bytes if nothing stopped it.
        let values: Vec<Vec<u8>> = (0..41).map(|i| format!("$(L{i})$(L{i})").into_bytes()).collect();
        let table = |name: &[u8]| -> Option<&[u8]> {
            let level: usize = std::str::from_utf8(&name[1..]).ok()?.parse().ok()?;
            Some(if level == 0 { b"x" } else { &values[level - 1] })
        };
        assert_eq!(expand(b"", b"$(L40)", &table), Err(ExpandError::Length));
    }

    #[test]
    fn references_nested_too_deep_are_text() {
        let text = [b"$(X:".repeat(100_000), b")".repeat(100_000)].concat();
        // The innermost NESTED + 1 are a well-formed reference, and undefined; the others stay.
        let left = 100_000 - (NESTED + 1);
        let expected = [b"$(X:".repeat(left), b")".repeat(left)].concat();
        assert_eq!(expand(b"", &text, &|_| None), Ok(expected));
        let text = b"$(".repeat(300_000);
        assert_eq!(expand(b"", &text, &|_| None), Ok(text));
    }
}
