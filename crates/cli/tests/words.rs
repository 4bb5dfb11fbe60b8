//! The words of user-visible text and of doc comments: plain English with HTCondor's terms.
//!
//! Text is what a user can read: transcripts, golden reports, the user guide, `--help`, and string literals of the
//! sources. A phrase of `PHRASES` in it fails the test, and so does a plural after a count of 1.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Phrases that no text contains, in lower case, each with a better one. A final `*` matches the rest of a word.
const PHRASES: &[(&str, &str)] = &[
    ("nobody", "no user"),
    ("somebody", "a user"),
    ("anybody", "any user"),
    ("everybody", "all users"),
    ("whoever", "the user that"),
    ("told", "reported, shown"),
    ("tell", "report, show"),
    ("tells", "reports, shows"),
    ("hardly", "probably not, almost never"),
    ("of no use", "has no effect"),
    ("exists nowhere", "does not exist, no slot advertises"),
    ("exist nowhere", "do not exist"),
    ("stands", "is, appears"),
    ("pre-empt*", "preempt"),
    ("so many", "N"),
    ("may be given several times", "repeatable"),
    ("what is odd", "warnings"),
    ("refuse it by", "reject it because of"),
    ("looked at", "considered, checked"),
    ("yet to come", "not yet submitted"),
    ("colour*", "color"),
    ("behaviour*", "behavior"),
    ("neighbour*", "neighbor"),
    ("recognise*", "recognize"),
    ("serialise*", "serialize"),
    ("misspelt", "misspelled"),
];

/// Words after which `no` is a determiner as usual: `there is no slot`, `is no longer`.
const BEFORE_IS_NO: &[&str] = &["there"];
const AFTER_IS_NO: &[&str] = &["longer", "more", "less"];

/// Words that end in `s` after a count of 1 without being plurals.
const SINGULARS: &[&str] =
    &["accepts", "adds", "as", "class", "does", "has", "is", "matches", "minus", "plus", "rejects", "was", "times"];

/// Largest fraction of doc comments that begin with a question word; to be lowered, never raised.
const MAX_QUESTIONS: f64 = 0.01;
const QUESTION_WORDS: &[&str] = &["what", "whether", "which", "who", "whose", "how", "where", "when", "why"];
/// Words for people, which no comment about programs needs.
const COMMENT_PHRASES: &[&str] = &["nobody", "somebody", "whoever"];

/// A text and its place in messages.
struct Text {
    place: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> Text {
    let place = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    Text { place, text: std::fs::read_to_string(path).unwrap() }
}

/// The files of a folder with an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension().is_some_and(|end| end == extension)).collect();
    files.sort();
    files
}

/// The sources of all crates.
fn sources() -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        found.extend(files(folder, "rs"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root().join("src"), &mut found);
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        collect(&entry.unwrap().path().join("src"), &mut found);
    }
    found
}

/// Recorded outputs: transcripts and golden reports.
fn outputs() -> Vec<Text> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let outputs = files(&tests.join("transcripts"), "md").into_iter().chain(files(&tests.join("golden"), "golden"));
    outputs.map(|path| read(&path)).collect()
}

/// The user guide.
fn documents() -> Vec<Text> {
    let mut found: Vec<Text> = files(&root().join("docs"), "md").iter().map(|path| read(path)).collect();
    found.push(read(&root().join("README.md")));
    found
}

/// The help of a command and of its subcommands.
fn helps(command: &[String]) -> Vec<Text> {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(command).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Subcommands are in groups before the options, or under one heading.
    let before_options = text.split("\nOptions:\n").next().unwrap_or_default();
    let has_some = before_options.contains("<COMMAND>");
    let subcommands = before_options.split_once("\nUsage:").filter(|_| has_some).map(|(_, rest)| rest);
    let names = subcommands.unwrap_or_default().lines().filter_map(|line| {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next()?;
        (name != "help").then(|| [command, &[name.to_owned()]].concat())
    });
    let inner: Vec<Text> = names.flat_map(|inner| helps(&inner)).collect();
    let place = format!("classmate {} --help", command.join(" "));
    std::iter::once(Text { place, text }).chain(inner).collect()
}

/// The string literals and the doc comments of a source, its tests left out.
struct Scanned {
    literals: Vec<Text>,
    /// Doc comments, one item for each block of lines.
    comments: Vec<Text>,
}

/// A source without its tests.
fn untested(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap()
}

fn scan(path: &Path) -> Scanned {
    let Text { place: file, text } = read(path);
    let text = untested(&text);
    let mut scanned = Scanned { literals: Vec::new(), comments: Vec::new() };
    let (mut rest, mut line, mut last_comment) = (text, 1, 0);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            if let Some(comment) = rest[..end].strip_prefix("///").or_else(|| rest[..end].strip_prefix("//!")) {
                match scanned.comments.last_mut().filter(|_| last_comment + 1 == line) {
                    Some(block) => block.text.push_str(&format!("\n{comment}")),
                    None => {
                        let place = format!("{file}:{line}");
                        scanned.comments.push(Text { place, text: comment.trim().to_owned() });
                    }
                }
                last_comment = line;
            }
            end
        } else if let Some(hashes) = raw_string(rest) {
            let begin = rest.find('"').unwrap() + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            let length = rest[begin..].find(&end).unwrap();
            scanned
                .literals
                .push(Text { place: format!("{file}:{line}"), text: rest[begin..begin + length].to_owned() });
            begin + length + end.len()
        } else if first == '"' {
            let end = closing_quote(rest);
            scanned.literals.push(Text { place: format!("{file}:{line}"), text: unfolded(&rest[1..end]) });
            end + 1
        } else if first == '\'' {
            character(rest)
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|other: char| !other.is_alphanumeric() && other != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    scanned
}

/// The number of `#` if a raw string starts here.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

/// The place of the quote that closes a string.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len() - 1
}

/// The length of a character literal, or of a lifetime's quote.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            text[2..].char_indices().skip(1).find(|(_, other)| *other == '\'').map_or(1, |(at, _)| at + 3)
        }
        Some(_) if characters.next().is_some_and(|(_, other)| other == '\'') => {
            2 + text.chars().nth(1).unwrap().len_utf8()
        }
        _ => 1,
    }
}

/// A literal without its line continuations.
fn unfolded(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let mut text = lines.next().unwrap_or_default().to_owned();
    lines.for_each(|line| text.push_str(line.trim_start()));
    without_names(&text.replace("\\n", "\n").replace("\\\"", "\""))
}

/// A format string without the names of its arguments.
fn without_names(text: &str) -> String {
    let mut parts = text.split('{');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = |other: char| other.is_ascii_alphanumeric() || other == '_';
        kept.push('{');
        kept.push_str(part.trim_start_matches(name));
    }
    kept
}

/// The words of a text in lower case, each with the number of its line.
fn words(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate();
    let split = |(at, line): (usize, &str)| {
        let words = line.split(|other: char| !other.is_alphanumeric() && !"-'’_.".contains(other));
        let words = words.map(|word| word.trim_matches(['-', '\'', '.']).to_lowercase());
        words.filter(|word| !word.is_empty()).map(|word| (at + 1, word)).collect::<Vec<_>>()
    };
    lines.flat_map(split).collect()
}

/// The place of a phrase in words.
fn find(words: &[(usize, String)], phrase: &str) -> Option<usize> {
    let parts: Vec<&str> = phrase.split(' ').collect();
    let is = |word: &str, part: &str| part.strip_suffix('*').map_or(word == part, |stem| word.starts_with(stem));
    let found =
        words.windows(parts.len()).position(|window| window.iter().zip(&parts).all(|((_, word), part)| is(word, part)));
    found.map(|at| words[at].0)
}

/// The place of `is no` or `are no` for `is not a`.
fn find_is_no(words: &[(usize, String)]) -> Option<usize> {
    let found = words.windows(4).find(|window| {
        let [before, verb, no, after] = [0, 1, 2, 3].map(|at| window[at].1.as_str());
        ["is", "are"].contains(&verb) && no == "no" && !BEFORE_IS_NO.contains(&before) && !AFTER_IS_NO.contains(&after)
    });
    found.map(|window| window[1].0)
}

fn mistakes(texts: &[Text]) -> String {
    let mut mistakes = String::new();
    for Text { place, text } in texts {
        // A user of Unix systems, in quotes as a value.
        let words = words(&text.replace("\"nobody\"", "\"\""));
        for (phrase, better) in PHRASES {
            if let Some(line) = find(&words, phrase) {
                writeln!(mistakes, "{place}, line {line}: `{phrase}`, write `{better}`").unwrap();
            }
        }
        if let Some(line) = find_is_no(&words) {
            writeln!(mistakes, "{place}, line {line}: `is no …`, write `is not a …`").unwrap();
        }
    }
    mistakes
}

#[test]
fn recorded_outputs_are_plain_english() {
    let found = mistakes(&outputs());
    assert!(found.is_empty(), "{found}");
}

#[test]
fn documents_are_plain_english() {
    let found = mistakes(&documents());
    assert!(found.is_empty(), "{found}");
}

#[test]
fn help_is_plain_english_and_summaries_are_short() {
    let helps = helps(&[]);
    assert!(helps.len() > 25, "only {} commands", helps.len());
    let mut found = mistakes(&helps);
    for Text { place, text } in helps.iter().skip(1) {
        let summary = text.split("\n\n").next().unwrap().replace('\n', " ");
        let summary = summary.trim_end_matches('.');
        if summary.chars().count() > 70 || summary.contains(';') {
            writeln!(found, "{place}: a summary has at most 70 characters and no semicolon: {summary}").unwrap();
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn messages_are_plain_english() {
    let literals: Vec<Text> = sources().iter().flat_map(|path| scan(path).literals).collect();
    assert!(literals.len() > 5000, "only {} literals", literals.len());
    let found = mistakes(&literals);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn counts_have_the_right_number() {
    let mut found = String::new();
    for Text { place, text } in outputs().iter().chain(&documents()) {
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            for pair in words.windows(2) {
                let one = pair[0].trim_start_matches(['(', '`', '"']) == "1";
                let word = pair[1].trim_end_matches([',', '.', ';', ':', ')', '`']);
                let plural = word.len() > 2 && word.ends_with('s') && word.chars().all(char::is_alphabetic);
                if one && plural && !SINGULARS.contains(&word) {
                    writeln!(found, "{place}:{}: 1 {word}", at + 1).unwrap();
                }
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn doc_comments_are_phrases_about_things() {
    let comments: Vec<Text> = sources().iter().flat_map(|path| scan(path).comments).collect();
    assert!(comments.len() > 4000, "only {} comments", comments.len());
    let (mut persons, mut questions) = (Vec::new(), Vec::new());
    for Text { place, text } in &comments {
        let words = words(text);
        if words.first().is_some_and(|(_, word)| QUESTION_WORDS.contains(&word.as_str())) {
            questions.push(place);
        }
        let phrases = COMMENT_PHRASES.iter().filter(|phrase| find(&words, phrase).is_some());
        persons.extend(phrases.map(|phrase| format!("{place}: {phrase}")));
    }
    assert!(persons.is_empty(), "{persons:#?}");
    let share = questions.len() as f64 / comments.len() as f64;
    assert!(share <= MAX_QUESTIONS, "{:.1}% of {} doc comments: {questions:?}", share * 100.0, comments.len());
}

/// The name that a line of a source gives to a type.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| word.starts_with("pub"));
    words.next().filter(|word| ["struct", "enum", "trait", "type", "union"].contains(word))?;
    words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn type_names_are_unique_within_a_crate() {
    let (mut places, mut found) = (HashMap::new(), String::new());
    for path in sources() {
        let Text { place, text } = read(&path);
        let package = place.split("src/").next().unwrap().to_owned();
        for (at, line) in untested(&text).lines().enumerate() {
            let Some(name) = type_name(line) else { continue };
            let here = format!("{place}:{}", at + 1);
            if let Some(other) = places.insert((package.clone(), name.to_owned()), here.clone()) {
                writeln!(found, "{name}: {other}, {here}").unwrap();
            }
        }
    }
    assert!(places.len() > 900, "only {} types", places.len());
    assert!(found.is_empty(), "{found}");
}

#[test]
fn types_are_found_in_lines() {
    assert_eq!(type_name("pub(crate) struct Spot<'a> {"), Some("Spot"));
    assert_eq!(type_name("enum Mark {"), Some("Mark"));
    assert_eq!(type_name("type Pair = (u8, u8);"), Some("Pair"));
    assert_eq!(type_name("pub fn struct_of(x: u8) {"), None);
    assert_eq!(type_name("    type Err = Error;"), None);
}

#[test]
fn literals_and_comments_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rs");
    let source = "/// One.\n///\n/// Two.\nfn f<'a>(x: &'a str) { g('\"', '\\'', \"three \\\n      four\", r#\"five\"#); } // \"six\"\n\
                  #[cfg(test)]\nmod tests { \"seven\" }\n";
    std::fs::write(&path, source).unwrap();
    let scanned = scan(&path);
    let texts = |texts: &[Text]| texts.iter().map(|text| text.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&scanned.literals), ["three four", "five"]);
    assert_eq!(texts(&scanned.comments), ["One.\n\n Two."]);
}

#[test]
fn phrases_are_whole_words() {
    let is_found = |text: &str, phrase: &str| find(&words(text), phrase).is_some();
    assert!(is_found("It is of\nno use.", "of no use"));
    assert!(is_found("Pre-emption is considered", "pre-empt*"));
    assert!(!is_found("a storyteller understands", "tell") && !is_found("understands", "stands"));
    assert!(find_is_no(&words("`x` is no expression here")).is_some());
    assert!(find_is_no(&words("there is no slot here, and it is no longer used")).is_none());
}
