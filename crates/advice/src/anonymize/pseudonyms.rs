//! Names of people, hosts, projects and directories, and what stands for them.
//!
//! In: texts with such names. Out: the same texts with others, the same for the same name everywhere.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

use classmate_pool::internal::pool::attribute;
use hashbrown::{HashMap, HashSet};

/// Words that are the same in every pool.
const COMMON: [&str; 62] = [
    "accountant",
    "any",
    "bin",
    "cache",
    "ch",
    "com",
    "condor",
    "customer",
    "cvmfs",
    "de",
    "dev",
    "edu",
    "error",
    "etc",
    "false",
    "fr",
    "gov",
    "group",
    "home",
    "http",
    "https",
    "idle",
    "in",
    "int",
    "job",
    "lib",
    "linux",
    "local",
    "localdomain",
    "localhost",
    "machine",
    "mil",
    "mnt",
    "net",
    "nice",
    "none",
    "null",
    "opt",
    "org",
    "osdf",
    "out",
    "owner",
    "proc",
    "resource",
    "root",
    "run",
    "sbin",
    "scheduler",
    "schedd",
    "share",
    "slot",
    "srv",
    "startd",
    "submitter",
    "sys",
    "tmp",
    "true",
    "uk",
    "undefined",
    "user",
    "usr",
    "var",
];

/// A kind of name, for the pseudonyms to be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NameKind {
    User,
    Group,
    Account,
    Project,
    Site,
    Host,
    Path,
}

impl NameKind {
    fn prefix(self) -> &'static str {
        match self {
            NameKind::User => "user",
            NameKind::Group => "group",
            NameKind::Account => "acct",
            NameKind::Project => "project",
            NameKind::Site => "site",
            NameKind::Host => "host",
            NameKind::Path => "part",
        }
    }
}

/// The pseudonyms of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Pseudonyms {
    /// The names, lower case.
    kinds: BTreeMap<Vec<u8>, NameKind>,
    /// The pseudonyms of the names.
    words: HashMap<Vec<u8>, String>,
    /// Addresses by their digits.
    addresses: HashMap<[u8; 4], u32>,
    addresses_6: HashMap<Ipv6Addr, u32>,
}

/// The pseudonyms of whole names: numbers in the alphabetical order of the names of a kind.
///
/// Slurm lists by name, and visits the tied by their lineage, `/account/0-user/`. There `a-b` comes before `a`, because `-` is less than
/// `/`, and so a name that goes on like this has a pseudonym that goes on so.
#[derive(Clone, Debug, Default)]
pub(super) struct RankedNames(BTreeMap<(NameKind, String), String>);

impl RankedNames {
    /// Adds a name.
    pub(super) fn add(&mut self, kind: NameKind, name: &str) {
        self.0.entry((kind, name.to_lowercase())).or_default();
    }

    /// Numbers the names.
    pub(super) fn number(&mut self) {
        let mut counts: HashMap<NameKind, usize> = HashMap::new();
        for (kind, _) in self.0.keys() {
            *counts.entry(*kind).or_default() += 1;
        }
        let mut last: (Option<NameKind>, usize) = (None, 0);
        // The names with which the next one may begin, and their pseudonyms.
        let mut open: Vec<(&str, String)> = Vec::new();
        for ((kind, name), pseudonym) in &mut self.0 {
            if last.0 != Some(*kind) {
                (last, open) = ((Some(*kind), 0), Vec::new());
            }
            last.1 += 1;
            let goes_on = |start: &str| name.strip_prefix(start).is_some_and(|rest| rest.bytes().next() < Some(b'/'));
            while open.pop_if(|(start, _)| !goes_on(start)).is_some() {}
            let start = open.last().map_or_else(|| kind.prefix().to_owned(), |(_, before)| format!("{before}-"));
            let width = counts[kind].to_string().len();
            *pseudonym = format!("{start}{:0width$}", last.1);
            open.push((name, pseudonym.clone()));
        }
    }

    /// The pseudonym of a name that was added; `root` stays the account of all others.
    pub(super) fn pseudonym(&self, kind: NameKind, name: &str) -> String {
        let name = name.to_lowercase();
        if name.is_empty() || kind == NameKind::Account && name == "root" {
            return name;
        }
        self.0.get(&(kind, name)).cloned().unwrap_or_default()
    }
}

/// Words that are not names, lower case: those that all pools have, and those of attributes whose values HTCondor knows.
static VOCABULARY: LazyLock<HashSet<Vec<u8>>> = LazyLock::new(|| {
    let values = attribute::all().iter().filter_map(|facts| facts.get("values"));
    let texts = values.chain(COMMON).map(str::as_bytes);
    texts.flat_map(words).map(<[u8]>::to_ascii_lowercase).collect()
});

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

/// The words of a text: its runs of letters. The numbers of hosts stay, for patterns such as `node0[1-5]`.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty())
}

/// Returns true if a word, lower case, is a name that can tell something: not a letter alone, nor a word of all pools.
fn is_telling(folded: &[u8]) -> bool {
    folded.len() > 1 && !VOCABULARY.contains(folded)
}

/// A number in letters, as many as the numbers below another one need: `aa`, `ab`, …
fn letters(number: usize, end: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    if end <= 26 { last.to_string() } else { letters(number / 26, end.div_ceil(26)) + &last.to_string() }
}

/// Four numbers up to 255 with points or hyphens between them at the beginning of a text, and their length.
fn quad(text: &[u8]) -> Option<([u8; 4], usize)> {
    let (mut numbers, mut at, mut mark) = ([0; 4], 0, None);
    for (index, number) in numbers.iter_mut().enumerate() {
        if index > 0 {
            let found = *text.get(at).filter(|byte| matches!(byte, b'.' | b'-'))?;
            if *mark.get_or_insert(found) != found {
                return None;
            }
            at += 1;
        }
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        *number = std::str::from_utf8(&text[at..at + digits]).ok()?.parse().ok()?;
        at += digits;
    }
    Some((numbers, at))
}

/// An IPv6 address in brackets at the beginning of a text, as in `[fe80::1]` and `[fe80--1]`, and the length with brackets.
fn bracketed(text: &[u8]) -> Option<(Ipv6Addr, usize)> {
    let inner = text.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner)?;
    let address = std::str::from_utf8(&inner[..end]).ok()?.replace('-', ":");
    Some((address.parse().ok()?, end + 2))
}

impl Pseudonyms {
    /// Gives each name a pseudonym. Those of a kind are in the alphabetical order of the names; they are numbered from a number.
    pub(super) fn number(&mut self, first: usize) {
        let mut counts = [first; 7];
        let of_kind = |kind: NameKind| self.kinds.values().filter(|one| **one == kind).count();
        let words = self.kinds.iter().map(|(word, kind)| {
            let count = &mut counts[*kind as usize];
            *count += 1;
            (word.clone(), format!("{}{}", kind.prefix(), letters(*count - 1, first + of_kind(*kind))))
        });
        self.words = words.collect();
    }

    fn add_word(&mut self, word: &[u8], kind: NameKind) {
        let folded = word.to_ascii_lowercase();
        if is_telling(&folded) {
            self.kinds.entry(folded).or_insert(kind);
        }
    }

    /// Adds the names in a text of one kind. What is behind an `@` is a host.
    pub(super) fn add(&mut self, text: &[u8], kind: NameKind) {
        let (before, host) = match memchr::memchr(b'@', text) {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, &b""[..]),
        };
        self.add_addresses(text);
        words(before).for_each(|word| self.add_word(word, kind));
        words(host).for_each(|word| self.add_word(word, NameKind::Host));
    }

    /// Adds the parts of paths in a text.
    pub(super) fn add_paths(&mut self, text: &[u8]) {
        let items = text.split(|byte| byte.is_ascii_whitespace() || b",;:=\"'()".contains(byte));
        for item in items.filter(|item| item.contains(&b'/')) {
            words(item).for_each(|word| self.add_word(word, NameKind::Path));
        }
    }

    /// Adds the addresses in a text, and the host names in it.
    pub(super) fn add_contact(&mut self, text: &[u8]) {
        self.add_addresses(text);
        for (at, _) in text.windows(6).enumerate().filter(|(_, window)| *window == b"alias=") {
            let host = &text[at + 6..];
            let end = host
                .iter()
                .position(|byte| !byte.is_ascii_alphanumeric() && !b".-".contains(byte))
                .unwrap_or(host.len());
            self.add(&host[..end], NameKind::Host);
        }
    }

    fn add_addresses(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            if let Some((address, length)) = bracketed(&text[at..]) {
                let number = self.addresses_6.len() as u32 + 1;
                self.addresses_6.entry(address).or_insert(number);
                at += length;
            } else if let Some((address, length)) = quad(&text[at..]) {
                let number = self.addresses.len() as u32 + 1;
                if !matches!(address, [127, ..] | [0, 0, 0, 0]) {
                    self.addresses.entry(address).or_insert(number);
                }
                at += length;
            } else {
                at += text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count().max(1);
            }
        }
    }

    /// The pseudonym of a word in the case of the word.
    fn word(&self, word: &[u8]) -> Option<Vec<u8>> {
        let pseudonym = self.words.get(&word.to_ascii_lowercase())?.as_bytes();
        let letters = || word.iter().filter(|byte| byte.is_ascii_alphabetic());
        // `==` does not distinguish cases, `=?=` does.
        Some(if letters().all(u8::is_ascii_lowercase) {
            pseudonym.to_vec()
        } else if letters().all(u8::is_ascii_uppercase) {
            pseudonym.to_ascii_uppercase()
        } else {
            [&pseudonym[..1].to_ascii_uppercase(), &pseudonym[1..]].concat()
        })
    }

    /// The text with pseudonyms for all names.
    pub(super) fn replace(&self, text: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        while at < text.len() {
            let rest = &text[at..];
            let starts = at == 0 || !text[at - 1].is_ascii_alphanumeric();
            if let Some((address, length)) = bracketed(rest)
                && let Some(number) = self.addresses_6.get(&address)
            {
                let mark = if rest[..length].contains(&b':') { "::" } else { "--" };
                out.extend_from_slice(format!("[fd00{mark}{number:x}]").as_bytes());
                at += length;
            } else if let Some((address, length)) = quad(rest).filter(|_| starts)
                && let Some(number) = self.addresses.get(&address)
            {
                let [_, b, c, d] = number.to_be_bytes();
                let mark = if rest[..length].contains(&b'-') { '-' } else { '.' };
                out.extend_from_slice(format!("10{mark}{b}{mark}{c}{mark}{d}").as_bytes());
                at += length;
            } else {
                let length = rest.iter().take_while(|byte| is_letter(**byte)).count();
                // In patterns: `\balice`.
                let escaped = at > 0 && text[at - 1] == b'\\' && length > 1;
                let behind_escape = || escaped.then(|| Some([&rest[..1], &self.word(&rest[1..length])?].concat()))?;
                let found = self.word(&rest[..length]).or_else(behind_escape);
                let length = length.max(1);
                out.extend_from_slice(found.as_deref().unwrap_or(&rest[..length]));
                at += length;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pseudonyms: &Pseudonyms, text: &str) -> String {
        String::from_utf8(pseudonyms.replace(text.as_bytes())).unwrap()
    }

    #[test]
    fn names_are_replaced_everywhere_in_their_case() {
        let mut pseudonyms = Pseudonyms::default();
        pseudonyms.add(b"physics.alice@cs.example.org", NameKind::Group);
        pseudonyms.add(b"slot1_2@node-7.example.org", NameKind::User);
        pseudonyms.number(0);
        let cases = [
            ("alice,bob", "groupa,bob"),
            ("Alice ALICE alicee", "Groupa GROUPA alicee"),
            ("slot1_2@node-7.example.org", "slot1_2@hostc-7.hostb.org"),
            (r"^physics\.alice@.*\.example\.org$", r"^groupb\.groupa@.*\.hostb\.org$"),
            (r"\balice\b node-[1-5]", r"\bgroupa\b hostc-[1-5]"),
        ];
        for (text, expected) in cases {
            assert_eq!(replaced(&pseudonyms, text), expected);
        }
    }

    #[test]
    fn addresses_are_replaced_in_both_spellings() {
        let mut pseudonyms = Pseudonyms::default();
        pseudonyms.add_contact(b"<192.168.3.4:9618?addrs=192.168.3.4-9618+[2001-db8--7]-9618&alias=ap.example.org>");
        pseudonyms.number(0);
        assert_eq!(
            replaced(&pseudonyms, "<192.168.3.4:9618?addrs=192.168.3.4-9618+[2001-db8--7]-9618&alias=ap.example.org>"),
            "<10.0.0.1:9618?addrs=10.0.0.1-9618+[fd00--1]-9618&alias=hosta.hostb.org>"
        );
        assert_eq!(
            replaced(&pseudonyms, "[2001:db8::7]:9618 192-168-3-4 127.0.0.1"),
            "[fd00::1]:9618 10-0-0-1 127.0.0.1"
        );
    }

    #[test]
    fn paths_lose_their_names() {
        let mut pseudonyms = Pseudonyms::default();
        pseudonyms.add_paths(b"/home/alice/run-3.sh 4/5");
        pseudonyms.number(0);
        assert_eq!(replaced(&pseudonyms, "/home/alice/run-3.sh 4/5"), "/home/parta/run-3.partb 4/5");
    }
}
