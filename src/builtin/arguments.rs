//! Command lines in one string: the old syntax (V1, split at white space) and the quoting one (V2).

use crate::builtin::{Call, Exit, Function};
use crate::text::Text;
use crate::value::Value;

/// The family's table: `argsToList`, `listToArgs`.
pub const FUNCTIONS: &[Function] = &[
    Function::new("argsToList(arguments [, syntax])", args_to_list),
    Function::new("listToArgs(list [, syntax])", list_to_args),
];

/// Tests whether a byte separates arguments, in both syntaxes.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The arguments of a command line in V1 syntax: whatever white space separates, nothing can be quoted.
///
/// ```
/// # use classmate::internal::builtin::arguments::split_v1;
/// assert_eq!(split_v1(b" a  'b c'").collect::<Vec<_>>(), [&b"a"[..], b"'b", b"c'"]);
/// ```
pub fn split_v1(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| is_blank(byte)).filter(|part| !part.is_empty())
}

/// The arguments of a command line in raw V2 syntax; `None` if a quote does not close.
///
/// White space separates, `'…'` quotes, `''` inside quotes is a quote, and quoted parts join with what touches them.
///
/// ```
/// # use classmate::internal::builtin::arguments::split_v2;
/// assert_eq!(split_v2(b"a'b c'd 'it''s' ''"), Some(vec![b"ab cd".to_vec(), b"it's".to_vec(), Vec::new()]));
/// assert!(split_v2(b"a 'b").is_none());
/// ```
pub fn split_v2(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'\'' {
            let token = current.get_or_insert_default();
            loop {
                let end = memchr::memchr(b'\'', rest)?;
                token.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                if rest.first() != Some(&b'\'') {
                    break;
                }
                token.push(b'\'');
                rest = &rest[1..];
            }
        } else if is_blank(byte) {
            found.extend(current.take());
        } else {
            current.get_or_insert_default().push(byte);
        }
    }
    found.extend(current);
    Some(found)
}

/// Writes one argument in raw V2 syntax, quoting no more than is needed.
///
/// Nothing is `''`; runs of white space and quotes are put inside quotes, a quote doubled.
///
/// ```
/// # use classmate::internal::builtin::arguments::push_v2;
/// let mut out = Vec::new();
/// push_v2(&mut out, b"it's here");
/// assert_eq!(out, b"it''''s' 'here");
/// ```
pub fn push_v2(out: &mut Vec<u8>, argument: &[u8]) {
    if argument.is_empty() {
        out.extend_from_slice(b"''");
        return;
    }
    let mut quoted = false;
    for &byte in argument {
        let special = is_blank(byte) || byte == b'\'';
        if special != quoted {
            out.push(b'\'');
            quoted = special;
        }
        if byte == b'\'' {
            out.push(b'\'');
        }
        out.push(byte);
    }
    if quoted {
        out.push(b'\'');
    }
}

/// A command line in raw V2 syntax.
///
/// ```
/// # use classmate::internal::builtin::arguments::join_v2;
/// assert_eq!(join_v2([&b"a"[..], b"b c", b""]), b"a b' 'c ''");
/// ```
pub fn join_v2<'a>(arguments: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, argument) in arguments.into_iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        push_v2(&mut out, argument);
    }
    out
}

/// A command line in V1 syntax; `None` when an argument contains white space.
///
/// An empty argument leaves nothing but its separator, and not even that at the start.
///
/// ```
/// # use classmate::internal::builtin::arguments::join_v1;
/// assert_eq!(join_v1([&b"a"[..], b"", b"c"]), Some(b"a  c".to_vec()));
/// assert_eq!(join_v1([&b"a b"[..]]), None);
/// ```
pub fn join_v1<'a>(arguments: impl IntoIterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for argument in arguments {
        if argument.iter().any(|&byte| is_blank(byte)) {
            return None;
        }
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(argument);
    }
    Some(out)
}

/// Bytes of an argument beside its text.
const ARGUMENT_SIZE: usize = 64;

/// Evaluates the argument that says which syntax is meant: true for V2, false for V1, an error if it says neither.
fn is_v2(call: &mut Call<'_, '_>) -> Result<bool, Exit> {
    if call.len() == 1 {
        return Ok(true);
    }
    match call.argument(1)? {
        // HTCondor keeps the low 32 bits.
        Value::Int(version) if version as i32 == 1 => Ok(false),
        Value::Int(version) if version as i32 == 2 => Ok(true),
        _ => Err(Exit::Value(Value::Error)),
    }
}

fn args_to_list(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let v2 = is_v2(call)?;
    let text = call.argument(0)?;
    let Some(text) = text.as_bytes() else { return Ok(Value::Error) };
    let blanks = text.iter().filter(|byte| is_blank(**byte)).count();
    call.charge(text.len() / 16 + blanks)?;
    call.reserve(text.len() + (blanks + 1) * ARGUMENT_SIZE)?;
    let arguments: Vec<Value> = if v2 {
        let Some(arguments) = split_v2(text) else { return Ok(Value::Error) };
        arguments.into_iter().map(Value::text).collect()
    } else {
        split_v1(text).map(Value::text).collect()
    };
    call.list(arguments)
}

fn list_to_args(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let v2 = is_v2(call)?;
    let Value::List(list) = call.argument(0)? else { return Ok(Value::Error) };
    let mut arguments: Vec<Text> = Vec::new();
    for at in 0..list.len() {
        let Value::Str(argument) = call.element(&list, at)? else { return Ok(Value::Error) };
        // The longest way to write a byte takes four.
        call.reserve(argument.len() * 4 + 3)?;
        arguments.push(argument);
    }
    let arguments = arguments.iter().map(Text::as_bytes);
    Ok(if v2 { Some(join_v2(arguments)) } else { join_v1(arguments) }.map_or(Value::Error, Value::text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2(text: &str) -> Option<Vec<String>> {
        let found = split_v2(text.as_bytes())?;
        Some(found.into_iter().map(|token| String::from_utf8(token).unwrap()).collect())
    }

    fn quoted(argument: &str) -> String {
        String::from_utf8(join_v2([argument.as_bytes()])).unwrap()
    }

    #[test]
    fn v2_quotes_join_with_their_neighbours() {
        // Answers of argsToList of the reference.
        let list = |items: &[&str]| Some(items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(v2("a'b c'd'' e"), list(&["ab cd", "e"]));
        assert_eq!(v2("'a'''"), list(&["a'"]));
        assert_eq!(v2("'a' 'b'"), list(&["a", "b"]));
        assert_eq!(v2("''''"), list(&["'"]));
        assert_eq!(v2("' '"), list(&[" "]));
        assert_eq!(v2("''"), list(&[""]));
        assert_eq!(v2("a\x0bb\x0cc"), list(&["a\x0bb\x0cc"]));
        assert_eq!(v2("\"a b\""), list(&["\"a", "b\""]));
        assert_eq!(v2(""), list(&[]));
        assert_eq!(v2("a '"), None);
        assert_eq!(v2("it''s"), list(&["its"]));
    }

    #[test]
    fn v1_splits_at_white_space_only() {
        let found: Vec<_> = split_v1(b" a \n b\t\rc\x0b").collect();
        assert_eq!(found, [&b"a"[..], b"b", b"c\x0b"]);
        assert_eq!(split_v1(b"").count(), 0);
    }

    #[test]
    fn v2_output_merges_quoted_runs() {
        // Answers of listToArgs of the reference.
        for (argument, expected) in [
            ("a'b", "a''''b"),
            ("' '", "''' '''"),
            ("a b c", "a' 'b' 'c"),
            ("a b'c d", "a' 'b''''c' 'd"),
            (" a''", "' 'a''''''"),
            ("\x0b", "\x0b"),
            ("a\nb", "a'\n'b"),
            ("", "''"),
        ] {
            assert_eq!(quoted(argument), expected);
        }
    }

    #[test]
    fn v2_output_reads_back() {
        for argument in ["", "'", "''", " '", "a b", "x'y z'", "\t\r\n", "é\""] {
            assert_eq!(v2(&quoted(argument)), Some(vec![argument.to_owned()]));
        }
    }

    #[test]
    fn v1_output_loses_empty_arguments() {
        let join =
            |items: &[&'static str]| join_v1(items.iter().map(|s| s.as_bytes())).map(|t| String::from_utf8(t).unwrap());
        assert_eq!(join(&["", "", ""]).as_deref(), Some(""));
        assert_eq!(join(&["", "a"]).as_deref(), Some("a"));
        assert_eq!(join(&["a", ""]).as_deref(), Some("a "));
        assert_eq!(join(&["a\x0b"]).as_deref(), Some("a\x0b"));
        assert_eq!(join(&["a\rb"]), None);
        assert_eq!(join(&[" "]), None);
    }
}
