//! The builtin functions as text.

use std::sync::LazyLock;

use classmate::Name;
use classmate::internal::builtin::documentation::Documentation;
use classmate::internal::builtin::near::{foreign, nearest};
use classmate::internal::builtin::{Function, all, find};

/// All functions, one a line: what a call looks like and what it does.
pub fn list() -> &'static str {
    &LIST
}

static LIST: LazyLock<String> = LazyLock::new(|| {
    let mut functions: Vec<&Function> = all().collect();
    functions.sort_by_key(|function| function.name.to_ascii_lowercase());
    let column = functions.iter().map(|function| function.signature.len()).filter(|len| *len <= 40).max().unwrap_or(0);
    let lines = functions.iter().map(|function| {
        let about = function.documentation().about.as_str();
        let first = about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.');
        format!("{:column$}  {first}", function.signature)
    });
    lines.collect::<Vec<_>>().join("\n")
});

/// Columns of a description.
const WIDEST: usize = 100;

/// One function: what a call looks like, what it does in lines of at most `width` columns, examples.
///
/// # Errors
/// There is no such function; the message may say what was meant.
pub fn describe(name: &str, width: Option<usize>) -> Result<String, String> {
    let name = name.strip_suffix("()").unwrap_or(name);
    let Some(function) = find(Name::new(name)) else { return Err(unknown(name)) };
    let Documentation { about, examples } = function.documentation();
    let mut text =
        format!("{}\n\n{}\n", function.signature, filled(about, width.map_or(WIDEST, |width| width.min(WIDEST))));
    let width = examples.iter().map(|(call, _)| call.chars().count()).max().unwrap_or(0);
    for (call, value) in examples {
        text.push_str(&format!("\n  {call}{:gap$}  →  {value}", "", gap = width - call.chars().count()));
    }
    Ok(text.trim_end().to_owned())
}

/// That there is no such function, and what was meant.
fn unknown(name: &str) -> String {
    let message = format!("there is no function `{name}`");
    if let Some(help) = foreign(name.as_bytes()) {
        return format!("{message}\n  = help: {help}");
    }
    // Names that contain what was asked for, before those that are spelled alike.
    let wanted = name.to_ascii_lowercase();
    let mut near: Vec<&str> = nearest(name.as_bytes()).iter().map(|function| function.name).collect();
    let contained = all().any(|function| function.name.to_ascii_lowercase().contains(&wanted));
    if wanted.len() >= 5 && contained || near.is_empty() && wanted.len() >= 3 {
        near =
            all().map(|function| function.name).filter(|known| known.to_ascii_lowercase().contains(&wanted)).collect();
        near.truncate(10);
    }
    match near.as_slice() {
        [] => message,
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{message}\n  = help: did you mean {}?", names.join(" or "))
        }
    }
}

/// A text in lines of at most `width` columns.
fn filled(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_exist_is_answered_with_those_that_do() {
        assert!(describe("strct", None).unwrap_err().contains("did you mean `strcat`"));
        assert!(describe("len", None).unwrap_err().contains("write `size(value)`"));
        assert!(describe("stringList", None).unwrap_err().contains("`stringListSize`"));
        assert!(describe("IFTHENELSE", None).is_ok());
    }

    #[test]
    fn lines_are_no_longer_than_asked_for() {
        let about = describe("userMap", Some(60)).unwrap();
        assert!(about.lines().take_while(|line| !line.contains('→')).skip(1).all(|line| line.chars().count() <= 60));
        assert!(filled(&"word ".repeat(100), 30).lines().all(|line| line.len() <= 30));
    }
}
