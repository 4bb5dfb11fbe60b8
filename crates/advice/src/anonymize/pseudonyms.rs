//! Names of people, hosts, projects and directories, and their pseudonyms.
//!
//! In: texts with such names. Out: the same texts with others, the same for the same name everywhere.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

use super::addresses::{AddressPart, address_part, decoded, encoded};
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
    texts.flat_map(|text| words(text).chain(runs(text))).map(<[u8]>::to_ascii_lowercase).collect()
});

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

/// The words of a text: its runs of letters. The numbers of hosts stay, for patterns such as `node0[1-5]`.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty())
}

pub(super) fn is_alphanumeric(byte: u8) -> bool {
    is_letter(byte) || byte.is_ascii_digit()
}

/// The runs of letters and digits of a text.
fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_alphanumeric(*byte)).filter(|run| !run.is_empty())
}

/// The letters of a run in which only digits follow them.
fn before_digits(run: &[u8]) -> Option<&[u8]> {
    let letters = run.iter().take_while(|byte| is_letter(**byte)).count();
    (letters > 0 && run[letters..].iter().all(u8::is_ascii_digit)).then(|| &run[..letters])
}

/// Returns true if digits follow in a text or in a pattern.
fn digits_follow(rest: &[u8]) -> bool {
    match rest {
        [first, ..] if first.is_ascii_digit() => true,
        [b'[', second, ..] => second.is_ascii_digit(),
        [b'\\', b'd', ..] => true,
        _ => false,
    }
}

/// The key of letters that are a name only with digits after them.
fn numbered(letters: &[u8]) -> Vec<u8> {
    [&letters.to_ascii_lowercase(), &b"#"[..]].concat()
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

/// A pseudonym in the case of a word: `==` does not distinguish cases, `=?=` does.
fn in_case(pseudonym: &str, word: &[u8]) -> Vec<u8> {
    let pseudonym = pseudonym.as_bytes();
    let letters = || word.iter().filter(|byte| byte.is_ascii_alphabetic());
    if letters().all(u8::is_ascii_lowercase) {
        pseudonym.to_vec()
    } else if letters().all(u8::is_ascii_uppercase) {
        pseudonym.to_ascii_uppercase()
    } else {
        [&pseudonym[..1].to_ascii_uppercase(), &pseudonym[1..]].concat()
    }
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
        runs(before).for_each(|run| self.add_run(run, kind));
        runs(host).for_each(|run| self.add_run(run, NameKind::Host));
    }

    /// Adds the words of a run of letters and digits; if none of them tells anything alone, what tells it with the digits, such as
    /// `c103`.
    fn add_run(&mut self, run: &[u8], kind: NameKind) {
        words(run).for_each(|word| self.add_word(word, kind));
        let folded = run.to_ascii_lowercase();
        let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits == run.len() || VOCABULARY.contains(&folded) || words(&folded).any(is_telling) {
            return;
        }
        match before_digits(&folded).filter(|_| kind == NameKind::Host) {
            Some(b"slot") => {}
            // The digits stay, for patterns.
            Some(letters) => drop(self.kinds.entry(numbered(letters)).or_insert(kind)),
            None if kind == NameKind::Host || words(&folded).all(|word| word.len() == 1) => {
                self.kinds.entry(folded).or_insert(kind);
            }
            None => {}
        }
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
        const BEFORE_HOSTS: [&[u8]; 4] = [b"alias=", b"PrivNet=", b"CCBID=", b"<"];
        self.add_addresses(text);
        let text = decoded(text);
        for mark in BEFORE_HOSTS {
            for at in memchr::memmem::find_iter(&text, mark) {
                let host = &text[at + mark.len()..];
                let is_end = |byte: &u8| !is_alphanumeric(*byte) && !b".-_".contains(byte);
                let end = host.iter().position(is_end).unwrap_or(host.len());
                self.add(&host[..end], NameKind::Host);
            }
        }
    }

    /// Adds the addresses in a text.
    pub(super) fn add_addresses(&mut self, text: &[u8]) {
        let (text, mut at, mut start) = (decoded(text), 0, true);
        while at < text.len() {
            let (found, length) = address_part(&text[at..], start);
            match found {
                AddressPart::Address([127, ..] | [0, 0, 0, 0]) | AddressPart::Other => {}
                AddressPart::Address(address) => {
                    let number = self.addresses.len() as u32 + 1;
                    self.addresses.entry(address).or_insert(number);
                }
                AddressPart::Address6(address) => {
                    let number = self.addresses_6.len() as u32 + 1;
                    self.addresses_6.entry(address).or_insert(number);
                }
            }
            at += length;
            start = !is_alphanumeric(text[at - 1]);
        }
    }

    /// The pseudonym of a word in the case of the word.
    fn word(&self, word: &[u8]) -> Option<Vec<u8>> {
        Some(in_case(self.words.get(&word.to_ascii_lowercase())?, word))
    }

    /// The pseudonym of the run of letters and digits at the beginning of a text, if it is a name as a whole, and the length of what it
    /// replaces.
    fn run(&self, rest: &[u8]) -> Option<(Vec<u8>, usize)> {
        let length = rest.iter().take_while(|byte| is_alphanumeric(**byte)).count();
        let run = &rest[..length];
        if VOCABULARY.contains(&run.to_ascii_lowercase()) && run.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let letters = before_digits(run).filter(|letters| digits_follow(&rest[letters.len()..]));
        let of_letters = letters.and_then(|letters| {
            let pseudonym = self.words.get(&numbered(letters))?;
            Some((in_case(pseudonym, letters), letters.len()))
        });
        let of_run = || run.iter().any(u8::is_ascii_digit).then(|| Some((self.word(run)?, length)))?;
        of_letters.or_else(of_run)
    }

    /// The text with pseudonyms for all names.
    pub(super) fn replace(&self, text: &[u8]) -> Vec<u8> {
        let (mut out, mut at, mut start) = (Vec::with_capacity(text.len()), 0, true);
        while at < text.len() {
            let rest = &text[at..];
            let (found, length) = address_part(rest, start);
            let number = match &found {
                AddressPart::Address(address) => self.addresses.get(address),
                AddressPart::Address6(address) => self.addresses_6.get(address),
                AddressPart::Other => None,
            };
            if let Some(number) = number {
                let written = match found {
                    AddressPart::Address6(_) => {
                        let spelled = decoded(&rest[..length]);
                        if spelled.starts_with(b"[") {
                            // The bracket as it was.
                            out.extend_from_slice(&rest[..encoded(rest).map_or(1, |(_, length)| length)]);
                        }
                        let mark = if spelled.contains(&b':') { "::" } else { "--" };
                        format!("fd00{mark}{number:x}")
                    }
                    _ => {
                        let [_, b, c, d] = number.to_be_bytes();
                        let mark = if rest[..length].contains(&b'-') { '-' } else { '.' };
                        format!("10{mark}{b}{mark}{c}{mark}{d}")
                    }
                };
                out.extend_from_slice(written.as_bytes());
                at += length;
                start = false;
                continue;
            }
            if let Some((_, length)) = encoded(rest) {
                out.extend_from_slice(&rest[..length]);
                at += length;
                start = true;
                continue;
            }
            // In patterns: `\balice`.
            let escaped = at > 0 && text[at - 1] == b'\\' && is_letter(rest[0]);
            let skipped = usize::from(escaped);
            if let Some((replaced, length)) = self.run(&rest[skipped..]).filter(|_| start) {
                out.extend_from_slice(&rest[..skipped]);
                out.extend_from_slice(&replaced);
                at += skipped + length;
            } else {
                let length = rest.iter().take_while(|byte| is_letter(**byte)).count();
                let escaped = escaped && length > 1;
                let behind_escape = || escaped.then(|| Some([&rest[..1], &self.word(&rest[1..length])?].concat()))?;
                let found = self.word(&rest[..length]).or_else(behind_escape);
                let length = length.max(1);
                out.extend_from_slice(found.as_deref().unwrap_or(&rest[..length]));
                at += length;
            }
            start = !is_alphanumeric(text[at - 1]);
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
    fn contacts_within_contacts_lose_addresses_and_names() {
        let mut pseudonyms = Pseudonyms::default();
        let text = "<10.1.2.3:41525?CCBID=128.105.82.148:9618%3faddrs%3d128.105.82.148-9618+%5B2607-f388--5%5D-9618%26alias%3d\
            collector-ccb.example.org%26noUDP#65&PrivNet=c103.example.org>";
        pseudonyms.add_contact(text.as_bytes());
        pseudonyms.add(b"C7-192-168-171-97", NameKind::Host);
        pseudonyms.add(b"fe80::7", NameKind::Host);
        pseudonyms.number(0);
        assert_eq!(
            replaced(&pseudonyms, text),
            "<10.0.0.1:41525?CCBID=10.0.0.2:9618%3faddrs%3d10.0.0.2-9618+%5Bfd00--1%5D-9618%26alias%3d\
            hostc-hostb.hostd.org%26noUDP#65&PrivNet=hosta103.hostd.org>"
        );
        assert_eq!(replaced(&pseudonyms, "C7-192-168-171-97 fe80::7"), "HOSTA7-10-0-0-3 fd00::2");
        assert_eq!(replaced(&pseudonyms, "%253d128.105.82.148 a::b"), "%253d10.0.0.2 a::b");
        assert_eq!(
            replaced(&pseudonyms, "x%255bfe80%253a%253a7%255d [fe80::7, [fe80--7"),
            "x%255bfd00::2%255d [fd00::2, [fd00--2"
        );
    }

    #[test]
    fn short_names_are_replaced_with_their_digits() {
        let mut pseudonyms = Pseudonyms::default();
        pseudonyms.add(b"slot3@machine1@c103", NameKind::User);
        pseudonyms.add(b"802b8c97f50a", NameKind::Host);
        pseudonyms.add(b"x9", NameKind::Host);
        pseudonyms.add(b"s1234567", NameKind::User);
        pseudonyms.number(0);
        let cases = [
            ("slot3@machine1@c103", "slot3@hostc1@hostb103"),
            (r"^c10[1-5]$ \bc[0-9]+ c\d", r"^hostb10[1-5]$ \bhostb[0-9]+ hostb\d"),
            ("802b8c97f50a C103", "hosta HOSTB103"),
            ("X86_64 x9 c slot1_2", "X86_64 hostd9 c slot1_2"),
            ("s1234567@c7", "usera@hostb7"),
        ];
        for (text, expected) in cases {
            assert_eq!(replaced(&pseudonyms, text), expected);
        }
    }

    #[test]
    fn paths_lose_their_names() {
        let mut pseudonyms = Pseudonyms::default();
        pseudonyms.add_paths(b"/home/alice/run-3.sh 4/5");
        pseudonyms.number(0);
        assert_eq!(replaced(&pseudonyms, "/home/alice/run-3.sh 4/5"), "/home/parta/run-3.partb 4/5");
    }
}
