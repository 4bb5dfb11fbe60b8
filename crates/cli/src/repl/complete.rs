//! Completions of a line.

use crate::repl::Session;
use crate::repl::command;
use classmate::internal::builtin::{all, find};
use classmate::internal::eval::walk::AdSide;
use classmate::{ClassAd, Name};

/// At most so many proposals.
const MAX_WORDS: usize = 300;

/// Proposals for the text before the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Completion {
    /// Texts that may stand from an offset on.
    Words {
        /// The offset of the text that they replace.
        start: usize,
        /// The texts, in order.
        words: Vec<String>,
    },
    /// A name of a file.
    File,
}

/// Proposals for a line with the cursor behind `pos` bytes.
pub fn complete(session: &Session, line: &str, pos: usize) -> Completion {
    let before = line.get(..pos).unwrap_or(line);
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = before.len() - before.bytes().rev().take_while(word).count();
    let begun = &before[start..];
    let words = |words: Vec<String>| Completion::Words { start, words };
    if let Some(rest) = before.trim_start().strip_prefix(':') {
        let Some((name, arguments)) = rest.split_once(char::is_whitespace) else {
            return words(spaced(matching(command::names().map(str::to_owned), begun), command::needs_arguments));
        };
        let fixed = |all: &[&str]| words(matching(all.iter().map(|word| (*word).to_owned()), begun));
        let first = !arguments.trim_start().contains(char::is_whitespace);
        match name {
            "load" | "l" if first => {
                let sides = ["my", "slots", "target"].into_iter().map(str::to_owned);
                return words(spaced(matching(sides, begun), |_| true));
            }
            "load" | "l" | "save" => return Completion::File,
            "strict" => return fixed(&["on", "off"]),
            "help" => return words(matching(command::names().map(str::to_owned), begun)),
            "functions" => return words(matching(all().map(|function| function.name.to_owned()), begun)),
            "now" => return fixed(&["wall"]),
            "use" => {
                // Names have other signs than words do.
                let start = before.len() - arguments.trim_start().len();
                let names = matching(session.slot_names(), arguments.trim_start());
                return Completion::Words { start, words: names };
            }
            "who" => return fixed(&["error", "false", "true", "undefined"]),
            "quit" | "match" => return words(Vec::new()),
            _ => {}
        }
    }
    let names =
        |side: AdSide| session.ad(side).into_iter().flat_map(ClassAd::names).map(|name| name.display().into_owned());
    let scope = before[..start].strip_suffix('.').map(|scope| {
        let from = scope.len() - scope.bytes().rev().take_while(word).count();
        scope[from..].to_ascii_lowercase()
    });
    match scope.as_deref() {
        Some("my") => return words(matching(names(AdSide::My), begun)),
        Some("target") => return words(matching(names(AdSide::Target), begun)),
        Some(_) => return words(Vec::new()),
        None => {}
    }
    let functions = all().map(|function| {
        let close = if function.most == Some(0) { ")" } else { "" };
        format!("{}({close}", function.name)
    });
    let keywords = ["true", "false", "undefined", "error", "isnt", "MY.", "TARGET."].map(str::to_owned);
    let everything = names(AdSide::My).chain(names(AdSide::Target)).chain(functions).chain(keywords);
    words(matching(everything, begun))
}

/// The only word with a space behind it, if more has to follow it.
fn spaced(mut words: Vec<String>, goes_on: impl Fn(&str) -> bool) -> Vec<String> {
    if let [word] = words.as_mut_slice()
        && goes_on(word)
    {
        word.push(' ');
    }
    words
}

/// The words that go on from a beginning, without regard to case, in order.
fn matching(words: impl Iterator<Item = String>, begun: &str) -> Vec<String> {
    let fits = |word: &String| word.get(..begun.len()).is_some_and(|head| head.eq_ignore_ascii_case(begun));
    let mut words: Vec<String> = words.filter(fits).collect();
    words.sort_by_key(|word| (word.to_ascii_lowercase(), word.clone()));
    words.dedup();
    words.truncate(MAX_WORDS);
    words
}

/// The signature of the function whose arguments are being written at the end of a line.
pub fn signature(line: &str) -> Option<&'static str> {
    let bytes = line.as_bytes();
    let mut closed = 0_usize;
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        match bytes[at] {
            b')' => closed += 1,
            b'(' if closed > 0 => closed -= 1,
            b'(' => {
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let from = at - bytes[..at].iter().rev().take_while(|byte| word(byte)).count();
                return (from < at).then(|| find(Name::new(&bytes[from..at])))?.map(|function| function.signature);
            }
            b'"' => return None, // inside a string, perhaps
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::Start;
    use crate::repl::tests::Still;

    fn proposed(line: &str) -> Vec<String> {
        let mut session = Session::new(Box::new(Still), Start::default());
        session.set(AdSide::My, ClassAd::parse(b"[ RequestMemory = 1; RequestCpus = 2 ]").unwrap());
        session.set(AdSide::Target, ClassAd::parse(b"[ Memory = 1; MemoryUsed = 2 ]").unwrap());
        session.set_slots(vec![ClassAd::parse(b"[ Name = \"slot1@host\" ]").unwrap()]);
        match complete(&session, line, line.len()) {
            Completion::Words { words, .. } => words,
            Completion::File => vec!["FILE".to_owned()],
        }
    }

    #[test]
    fn attributes_functions_and_commands_are_proposed() {
        assert_eq!(proposed("1 + request"), ["RequestCpus", "RequestMemory"]);
        assert_eq!(proposed("TARGET.mem"), ["Memory", "MemoryUsed"]);
        assert_eq!(proposed("MY.mem"), Vec::<String>::new());
        assert_eq!(proposed("ifth"), ["ifThenElse("]);
        assert_eq!(proposed(":fl"), ["flatten "]);
        assert_eq!(proposed(":ma"), ["match"]);
        assert_eq!(proposed(":strict o"), ["off", "on"]);
        assert_eq!(proposed(":load t"), ["target "]);
        assert_eq!(proposed(":load "), ["my", "slots", "target"]);
        assert_eq!(proposed(":use slot1@"), ["slot1@host"]);
        assert_eq!(proposed(":load target /tm"), ["FILE"]);
        assert_eq!(proposed(":trace target.m"), ["Memory", "MemoryUsed"]);
    }

    #[test]
    fn the_signature_of_the_open_call_is_shown() {
        assert_eq!(signature("1 + substr(Name, "), Some("substr(text, offset [, length])"));
        assert_eq!(signature("floor(1) + ("), None);
        assert_eq!(signature("1 + 2"), None);
    }
}
