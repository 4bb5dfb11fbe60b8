//! Conditions that are not read as they are meant.
//!
//! In: the text of the files of a configuration. Out: warnings with their places.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::line::Lines;
use super::super::reference::is_name_byte;
use super::super::statement::{self, Statement};
use super::super::{Config, Diagnostic, shown};

/// Lines that look like `elif` and are not: within a branch that is not taken, nothing says so.
pub(super) fn not_elif(file: Arc<str>, text: &[u8]) -> Vec<Diagnostic> {
    let (mut lines, mut found) = (Lines::new(file, text), Vec::new());
    while let Ok(Some(line)) = lines.next(&mut Vec::new()) {
        let start = line.text.len() - line.text.trim_ascii_start().len();
        let rest = &line.text[start..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is = |words: &[&[u8]]| words.iter().any(|word| word.eq_ignore_ascii_case(&rest[..length]));
        let more = rest[length..].trim_ascii_start();
        let two =
            is(&[b"else"]) && more.len() > 3 && more[..2].eq_ignore_ascii_case(b"if") && more[2].is_ascii_whitespace();
        if !two && (!is(&[b"elsif", b"elseif"]) || more.is_empty() || more.starts_with(b"=")) {
            continue;
        }
        let end = start + if two { length + (rest.len() - length - more.len()) + 2 } else { length };
        let written = shown(&line.text[start..end]);
        let message = format!("`{written}` is not a keyword, so the condition is not read");
        found.push(line.warning(&(start..end), message).help("write `elif`").code("odd-line"));
    }
    found
}

/// Conditions with a macro that only a later line of the same file sets: a condition is decided when it is read.
pub(super) fn before_values(config: &Config) -> Vec<Diagnostic> {
    let (mut set, mut found) = (BTreeSet::new(), Vec::new());
    for source in config.sources() {
        let mut lines = Lines::new(Arc::clone(&source.name), &source.text);
        while let Ok(Some(line)) = lines.next(&mut Vec::new()) {
            let indent = line.text.len() - line.text.trim_ascii_start().len();
            let text = &line.text[indent..];
            let range = match statement::condition(text) {
                Some(Statement::If(rest) | Statement::Elif(rest)) => rest,
                Some(_) => continue,
                None => {
                    let statement = if text.is_empty() { None } else { statement::parse(text).ok() };
                    if let Some(Statement::Assign { name, .. }) = statement {
                        set.insert(text[name].to_ascii_uppercase());
                    }
                    continue;
                }
            };
            let condition = &text[range.clone()];
            let (Some(start), true) = (memchr::memmem::find(condition, b"$("), condition.ends_with(b")")) else {
                continue;
            };
            let name = &condition[start + 2..condition.len() - 1];
            let upper = name.to_ascii_uppercase();
            let is_name = !name.is_empty() && name.iter().all(|byte| is_name_byte(*byte));
            if !is_name || set.contains(&upper) || config.built_in(&upper).is_some() {
                continue;
            }
            let later = config.definition(&upper).and_then(|definition| definition.place.cloned());
            let Some(later) = later.filter(|later| later.file == source.name && later.line > line.start().line) else {
                continue;
            };
            let message = format!(
                "`$({})` has no value yet: line {} sets it after this condition is decided",
                shown(name),
                later.line
            );
            let warning = line
                .warning(&(indent + range.start + start..indent + range.end), message)
                .help("set it before the condition");
            found.push(warning.code("odd-line"));
        }
    }
    found
}
