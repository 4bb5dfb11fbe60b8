//! The conditions of `if` and `elif` (`docs/reference/config-language.md` 5).
//!
//! In: the text of a condition, expanded, what is defined, and the version. Out: whether it holds.

use super::setting::literal;
use super::template;

/// The release of the reference.
pub const VERSION: [u16; 3] = [25, 14, 1];

/// Returns true if a condition holds in a version, or the error in it; `defined` returns true for a name with a value that
/// is not empty.
pub(crate) fn holds(text: &[u8], version: [u16; 3], defined: impl Fn(&[u8]) -> bool) -> Result<bool, &'static str> {
    let text = text.trim_ascii();
    if let Some(negated) = text.strip_prefix(b"!") {
        return plain(negated.trim_ascii_start(), version, defined).map(|holds| !holds);
    }
    plain(text, version, defined)
}

const COMPLEX: &str = "a condition can be only one `defined`, `version`, boolean or number, optionally with a `!` \
before it";

fn plain(text: &[u8], version: [u16; 3], defined: impl Fn(&[u8]) -> bool) -> Result<bool, &'static str> {
    let (word, rest) = match text.iter().position(u8::is_ascii_whitespace) {
        Some(end) => (&text[..end], text[end..].trim_ascii_start()),
        None => (text, b"".as_slice()),
    };
    if word.eq_ignore_ascii_case(b"defined") {
        return is_defined(rest, defined);
    }
    if word.eq_ignore_ascii_case(b"version") && !rest.is_empty() {
        // HTCondor refuses a calculation, and skips any other text after the version.
        if rest.windows(2).any(|two| two == b"&&" || two == b"||") {
            return Err(COMPLEX);
        }
        return is_of_version(rest, version);
    }
    if let Some(truth) = boolean(text) {
        return Ok(truth);
    }
    literal(text).map(|number| number != 0.0).ok_or(COMPLEX)
}

fn boolean(text: &[u8]) -> Option<bool> {
    match text.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"t" => Some(true),
        b"false" | b"no" | b"f" => Some(false),
        _ => None,
    }
}

fn is_defined(text: &[u8], defined: impl Fn(&[u8]) -> bool) -> Result<bool, &'static str> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(name) = words.next() else {
        return Ok(false);
    };
    let second = words.next();
    if name.eq_ignore_ascii_case(b"use")
        && let Some(template) = second
    {
        if words.next().is_some() || template.ends_with(b":") {
            return Err("write the template without spaces: `defined use CATEGORY:NAME`");
        }
        // Also in submit files, those of configuration files are meant.
        let known = template::all("");
        return Ok(match memchr::memchr(b':', template) {
            Some(colon) => template::find(known, &template[..colon], &template[colon + 1..]).is_some(),
            None => template::is_category(known, template),
        });
    }
    match second {
        Some(_) => Err("`defined` requires exactly one name"),
        None => Ok(defined(name) || boolean(name).is_some() || literal(name).is_some()),
    }
}

/// `OP x.y[.z]`.
fn is_of_version(text: &[u8], version: [u16; 3]) -> Result<bool, &'static str> {
    let end = text.iter().position(|byte| !b"=<>!".contains(byte)).unwrap_or(text.len());
    let version = version.map(u32::from);
    let number = text[end..].trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let parts: Vec<u32> =
        number.split(|byte| *byte == b'.').map_while(|part| std::str::from_utf8(part).ok()?.parse().ok()).collect();
    let wanted = match parts[..] {
        [major, minor] if major >= 6 => [major, minor, version[2]],
        [major, minor, patch, ..] if major >= 6 => [major, minor, patch],
        _ => return Err("write a version comparison as `version >= 25.14.1`, or `25.14`"),
    };
    Ok(match &text[..end] {
        b"==" | b"=" => version == wanted,
        b"!=" => version != wanted,
        b">=" => version >= wanted,
        b"<=" => version <= wanted,
        b">" => version > wanted,
        b"<" => version < wanted,
        _ => return Err("expected `==`, `!=`, `>=`, `<=`, `>` or `<` between `version` and a version"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_with_x(text: &str) -> Option<bool> {
        holds(text.as_bytes(), VERSION, |name| name == b"X").ok()
    }

    /// Answers of the reference library.
    #[test]
    fn words_and_numbers_are_conditions() {
        for text in ["true", "TRUE", "yes", "t", "1", "-1", "1e3", "!false", "! no", "0.5"] {
            assert_eq!(holds_with_x(text), Some(true), "{text}");
        }
        for text in ["false", "no", "F", "0", "0.0", "! true", "!1"] {
            assert_eq!(holds_with_x(text), Some(false), "{text}");
        }
        for text in ["", "on", "!!true", "not true", "0x0", "5 > 3", "true && true", "\"true\"", "(true)", "= 3", "foo"]
        {
            assert_eq!(holds_with_x(text), None, "{text}");
        }
    }

    #[test]
    fn versions_compare_by_number_with_the_missing_part_equal() {
        for text in [
            ">= 25.14",
            "== 25.14",
            "> 25.14.0",
            ">=8.1.6",
            "= 25.14.1",
            ">= 25.14.1.2",
            "!= 25.14.2",
            "< 30.0",
            ">= 24.0 foo",
        ] {
            assert_eq!(holds_with_x(&format!("version {text}")), Some(true), "{text}");
        }
        for text in [">= 25.15", "> 25.14", "!= 25.14.1", "<= 24.99"] {
            assert_eq!(holds_with_x(&format!("version {text}")), Some(false), "{text}");
        }
        for text in [
            "version == 25",
            "version 25.14.1",
            "version>=25.14",
            "version < 5.0",
            "version >= a.b",
            "version",
            "version >= 24.0 && true",
        ] {
            assert_eq!(holds_with_x(text), None, "{text}");
        }
    }

    #[test]
    fn versions_compare_with_the_chosen_one() {
        let holds_in = |text: &str| holds(text.as_bytes(), [24, 0, 24], |_| false);
        for (text, expected) in [("version >= 24.0", true), ("version >= 24.1", false), ("version < 24.0.25", true)] {
            assert_eq!(holds_in(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn defined_asks_for_names_and_templates() {
        for (text, expected) in [
            ("X", Some(true)),
            ("Y", Some(false)),
            ("", Some(false)),
            ("X Y", None),
            ("use POLICY", Some(true)),
            ("use policy:desktop", Some(true)),
            ("use POLICY:Nope", Some(false)),
            ("use nope", Some(false)),
            ("use policy : desktop", None),
        ] {
            assert_eq!(holds_with_x(&format!("defined {text}")), expected, "{text}");
        }
    }
}
