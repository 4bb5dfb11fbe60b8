//! Environments in one string: the old syntax (V1, one delimiter) and the quoting one (V2).

use std::collections::BTreeMap;

use crate::builtin::arguments::{is_blank, push_v2, split_v2};
use crate::builtin::{Call, Exit, Function};
use crate::eval::EvalError;
use crate::value::Value;

/// The family's table: `envV1ToV2`, `mergeEnvironment`.
pub const FUNCTIONS: &[Function] = &[
    Function::new("envV1ToV2(environment)", env_v1_to_v2),
    Function::new("mergeEnvironment([environment, …])", merge_environment),
];

/// The variables of an environment, in byte order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// A macro that is still to be replaced has no value: it stands for whole entries.
    variables: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Environment {
    /// Adds the entries of a text in V1 syntax; a variable that is named again takes the later value.
    ///
    /// The delimiter is `;`, or the first character if that is a punctuation mark that may delimit; a newline always is
    /// one. White space before an entry is dropped, and so are empty entries. `None` if an entry is not valid.
    pub fn merge_v1(&mut self, text: &[u8]) -> Option<()> {
        let (delimiter, text) = match text.split_first() {
            Some((&first, rest)) if may_delimit(first) => (first, rest),
            _ => (b';', text),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let start = rest.iter().position(|&b| !is_blank(b)).unwrap_or(rest.len());
            let entry = &rest[start..];
            let end = entry.iter().position(|&b| b == delimiter || b == b'\n').unwrap_or(entry.len());
            rest = entry.get(end + 1..).unwrap_or_default();
            if end > 0 {
                self.insert(&entry[..end])?;
            }
        }
        Some(())
    }

    /// Adds the entries of a text in raw V2 syntax; a variable that is named again takes the later value. `None` if an
    /// entry is not valid.
    pub fn merge_v2(&mut self, text: &[u8]) -> Option<()> {
        split_v2(text)?.iter().try_for_each(|entry| self.insert(entry))
    }

    /// Adds one entry, `NAME=value`, or a macro `$$(…)` that is alone; `None` for anything else.
    fn insert(&mut self, entry: &[u8]) -> Option<()> {
        match memchr::memchr(b'=', entry) {
            Some(0) => return None,
            Some(at) => self.variables.insert(entry[..at].to_vec(), Some(entry[at + 1..].to_vec())),
            None if memchr::memmem::find(entry, b"$$").is_some() => self.variables.insert(entry.to_vec(), None),
            None => return None,
        };
        Some(())
    }

    /// The environment in raw V2 syntax, sorted by name.
    pub fn to_v2(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in &self.variables {
            if !out.is_empty() {
                out.push(b' ');
            }
            match value {
                Some(value) => push_v2(&mut out, &[name, &b"="[..], value].concat()),
                None => push_v2(&mut out, name),
            }
        }
        out
    }
}

/// Tests whether the first character of a V1 environment says what delimits the entries.
fn may_delimit(byte: u8) -> bool {
    b"!#$%&*+,-/:;<>?@^`|~\x1f".contains(&byte)
}

/// Rewrites a V1 environment in raw V2 syntax, sorted by name; `None` if it is not valid.
///
/// ```
/// # use classmate::internal::builtin::environment::v1_to_v2;
/// assert_eq!(v1_to_v2(b"B=x y;A=1"), Some(b"A=1 B=x' 'y".to_vec()));
/// ```
pub fn v1_to_v2(text: &[u8]) -> Option<Vec<u8>> {
    let mut environment = Environment::default();
    environment.merge_v1(text)?;
    Some(environment.to_v2())
}

/// Bytes of a variable beside its text.
const VARIABLE_SIZE: usize = 128;

/// Counts the work and memory of reading an environment. Entries have an equals sign or dollar signs; what becomes of
/// one that has neither is found out only after the text was cut at its blanks.
fn charge_for(call: &mut Call<'_, '_>, text: &[u8]) -> Result<(), EvalError> {
    let entries = text.iter().filter(|byte| is_blank(**byte) || matches!(byte, b'=' | b'$')).count();
    call.charge(text.len() / 16 + entries * 4)?;
    call.reserve(text.len() * 2 + entries * VARIABLE_SIZE)
}

fn env_v1_to_v2(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    match call.argument(0)? {
        Value::Undefined => Ok(Value::Undefined),
        Value::Str(text) => {
            charge_for(call, &text)?;
            v1_to_v2(&text).map_or(Ok(Value::Error), |text| call.string(text))
        }
        _ => Ok(Value::Error),
    }
}

fn merge_environment(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let mut environment = Environment::default();
    for at in 0..call.len() {
        match call.argument(at)? {
            Value::Undefined => {}
            Value::Str(text) => {
                charge_for(call, &text)?;
                if environment.merge_v2(&text).is_none() {
                    return Ok(Value::Error);
                }
            }
            _ => return Ok(Value::Error),
        }
    }
    call.string(environment.to_v2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(text: &str) -> Option<String> {
        v1_to_v2(text.as_bytes()).map(|out| String::from_utf8(out).unwrap())
    }

    fn merged(texts: &[&str]) -> Option<String> {
        let mut environment = Environment::default();
        texts.iter().try_for_each(|text| environment.merge_v2(text.as_bytes()))?;
        Some(String::from_utf8(environment.to_v2()).unwrap())
    }

    #[test]
    fn v1_entries_follow_the_reference() {
        // Answers of envV1ToV2 of the reference.
        for (text, expected) in [
            ("|A=1;B=2|C=3", Some("A=1;B=2 C=3")),
            (" |A=1|B=2", Some("|A=1|B=2")),
            ("\nA=1", Some("A=1")),
            ("A=1;\x0bB=2", Some("\x0bB=2 A=1")),
            ("A=1;\r\tB=2 ", Some("A=1 B=2' '")),
            ("A=1\r\nB=2", Some("A=1'\r' B=2")),
            ("=1", None),
            ("A", None),
            ("$$(X)", None),
            ("A=1;$$(X);B=2", Some("$$(X) A=1 B=2")),
            ("A=1;x$$;B=2", Some("A=1 B=2 x$$")),
            ("A=1;$$(X);$$(X)=5", Some("$$(X)=5 A=1")),
            ("A=1;$$(X)=5;$$(X)", Some("$$(X) A=1")),
            ("A=it's a", Some("A=it''''s' 'a")),
            ("A b=c d", Some("A' 'b=c' 'd")),
            ("_A=1_B=2", Some("_A=1_B=2")),
            (".A=1.B=2", Some(".A=1.B=2")),
            ("\x1fA=1\x1fB=2", Some("A=1 B=2")),
            ("~A=1~~B=2", Some("A=1 B=2")),
            ("!A=1\n!B=2", Some("A=1 B=2")),
            ("@=1", None),
            ("$$(A)=1$B=2", Some("(A)=1 B=2")),
            (";;;", Some("")),
            ("|", Some("")),
            (" ", Some("")),
            ("", Some("")),
        ] {
            assert_eq!(old(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn merging_keeps_the_last_value_and_sorts_bytes() {
        // Answers of mergeEnvironment of the reference.
        assert_eq!(merged(&["b=1 a=2 B=3 A=4 _=5 é=6"]).as_deref(), Some("A=4 B=3 _=5 a=2 b=1 é=6"));
        assert_eq!(merged(&["$$(X)=1", "$$(X)"]).as_deref(), Some("$$(X)"));
        assert_eq!(merged(&["'A B'='c d'"]).as_deref(), Some("A' 'B=c' 'd"));
        assert_eq!(merged(&["A='\nx'"]).as_deref(), Some("A='\n'x"));
        assert_eq!(merged(&["A=1 a$$b A=$$x"]).as_deref(), Some("A=$$x a$$b"));
        assert_eq!(merged(&[]).as_deref(), Some(""));
        assert_eq!(merged(&[" "]).as_deref(), Some(""));
        assert_eq!(merged(&["A=1 ''"]), None);
        assert_eq!(merged(&["A=1 =2"]), None);
        assert_eq!(merged(&["A"]), None);
        assert_eq!(merged(&["A='x"]), None);
    }
}
