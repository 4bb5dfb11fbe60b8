//! The maps behind `userMap`: tables from users to whatever an administrator writes beside them.
//!
//! A map is a text of lines `method principal output`, HTCondor's canonicalisation format.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::builtin::pattern::{MatchGroups, Options, Pattern};

/// A line of a map that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the map: {reason}")]
pub struct SkippedLine {
    /// Number of the line, from 1.
    pub line: usize,
    /// The problem.
    pub reason: String,
}

/// One map.
#[derive(Debug, Default)]
pub struct UserMap {
    /// By method in lower case, in the order of the lines.
    methods: HashMap<Vec<u8>, Vec<MapRule>>,
    text: Vec<u8>,
    skipped: Vec<SkippedLine>,
}

/// Lines of a map for one method.
#[derive(Debug)]
enum MapRule {
    /// Lines in a row with principals that stand for themselves; the first line of a principal counts.
    Literals(HashMap<Vec<u8>, Vec<u8>>),
    /// A line with a regular expression.
    Regex(Box<Pattern>, Vec<u8>),
}

impl UserMap {
    /// Reads a map.
    ///
    /// A line is `method principal output`, separated by blanks; a field in double quotes may contain some. The method
    /// is `*` unless a user asks for another. A principal `/…/`, optionally with the letters `i` (without regard to
    /// case) and `U` (not greedy) behind it, is a regular expression that matches anywhere. In the output `\0` to `\9`
    /// stand for the groups of the match. Lines that begin with `#` are comments; lines that make no sense are skipped
    /// and noted.
    ///
    /// ```
    /// # use classmate::internal::builtin::user_map::UserMap;
    /// let map = UserMap::parse(b"* alice physics,chem\n* /^(.*)@cs[.]edu$/i \\1\n");
    /// assert_eq!(map.output(b"*", b"alice"), Some(b"physics,chem".to_vec()));
    /// assert_eq!(map.output(b"*", b"Bob@CS.edu"), Some(b"Bob".to_vec()));
    /// ```
    pub fn parse(text: &[u8]) -> UserMap {
        let mut map = UserMap { text: text.to_vec(), ..UserMap::default() };
        for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if let Err(reason) = map.read(line) {
                map.skipped.push(SkippedLine { line: index + 1, reason });
            }
        }
        map
    }

    /// The lines that were skipped because they make no sense.
    pub fn skipped(&self) -> &[SkippedLine] {
        &self.skipped
    }

    fn read(&mut self, line: &[u8]) -> Result<(), String> {
        let mut fields = Fields(line);
        let method = fields.next();
        if method.is_empty() || method.starts_with(b"#") {
            return Ok(());
        }
        if method == b"@include" {
            return Err("`@include` is not followed".to_owned());
        }
        let (principal, regex) = fields.next_principal();
        let output = fields.next();
        if principal.is_empty() || output.is_empty() {
            return Err("expected a method, a principal and an output".to_owned());
        }
        let rule = match regex {
            Some(letters) => {
                let text = if letters.contains(&b'U') { [b"(?U)", &principal[..]].concat() } else { principal.clone() };
                Some(Pattern::compile(&text, Options::from_letters(letters)).map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let rules = self.methods.entry(method.to_ascii_lowercase()).or_default();
        match (rule, rules.last_mut()) {
            (Some(pattern), _) => rules.push(MapRule::Regex(Box::new(pattern), output)),
            (None, Some(MapRule::Literals(known))) => {
                known.entry(principal).or_insert(output);
            }
            (None, _) => rules.push(MapRule::Literals(HashMap::from_iter([(principal, output)]))),
        }
        Ok(())
    }

    /// The output of the map for a user, by the lines of one method, whose case does not count.
    ///
    /// The first line that fits counts; `None` if there is none.
    pub fn output(&self, method: &[u8], user: &[u8]) -> Option<Vec<u8>> {
        self.methods.get(&method.to_ascii_lowercase())?.iter().find_map(|rule| match rule {
            MapRule::Literals(known) => {
                known.get(user).map(|output| substituted(output, user, &vec![Some((0, user.len()))]))
            }
            // A search that is given up has found nothing.
            MapRule::Regex(pattern, output) => {
                pattern.captures(user).ok().flatten().map(|groups| substituted(output, user, &groups))
            }
        })
    }

    /// Number of rules that a look-up may have to try.
    fn len(&self) -> usize {
        self.methods.values().map(Vec::len).max().unwrap_or(0)
    }
}

/// The output with `\0` to `\9` replaced by groups; other backslashes, and those of groups that there are not, stay.
fn substituted(output: &[u8], user: &[u8], groups: &MatchGroups) -> Vec<u8> {
    let mut text = Vec::with_capacity(output.len());
    let mut rest = output;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        let next = rest.get(at + 1).copied();
        let digit = next.filter(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
        match (digit.and_then(|digit| groups.get(digit)), next) {
            (Some(group), _) => text.extend_from_slice(group.map_or(&[], |(start, end)| &user[start..end])),
            (None, Some(next)) => text.extend_from_slice(&[b'\\', next]),
            (None, None) => text.push(b'\\'),
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

/// The rest of a line, from which fields are taken.
struct Fields<'l>(&'l [u8]);

/// Tests whether a byte separates fields.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl<'l> Fields<'l> {
    fn skip_blanks(&mut self) {
        let start = self.0.iter().position(|&byte| !is_blank(byte)).unwrap_or(self.0.len());
        self.0 = &self.0[start..];
    }

    /// The next field, empty at the end of the line.
    fn next(&mut self) -> Vec<u8> {
        self.skip_blanks();
        if self.0.first() == Some(&b'"') {
            return self.enclosed(b'"');
        }
        let end = self.0.iter().position(|&byte| is_blank(byte)).unwrap_or(self.0.len());
        let (field, rest) = self.0.split_at(end);
        self.0 = rest;
        field.to_vec()
    }

    /// The next field, and the letters behind it if it is a regular expression.
    fn next_principal(&mut self) -> (Vec<u8>, Option<&'l [u8]>) {
        self.skip_blanks();
        if self.0.first() != Some(&b'/') {
            return (self.next(), None);
        }
        let pattern = self.enclosed(b'/');
        let count = self.0.iter().take_while(|letter| matches!(letter, b'i' | b'U')).count();
        let (letters, rest) = self.0.split_at(count);
        self.0 = rest;
        (pattern, Some(letters))
    }

    /// A field between two marks, in which a backslash takes the special meaning of a mark or of itself away. The end
    /// of the line also ends it.
    fn enclosed(&mut self, mark: u8) -> Vec<u8> {
        let mut field = Vec::new();
        let mut rest = &self.0[1..];
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match (byte, after.first()) {
                (b'\\', Some(&next)) => {
                    if next != mark && next != b'\\' {
                        field.push(b'\\');
                    }
                    field.push(next);
                    rest = &after[1..];
                }
                _ if byte == mark => break,
                (b'\\', None) => {}
                _ => field.push(byte),
            }
        }
        self.0 = rest;
        field
    }
}

/// All maps of a configuration, by name without regard to case.
#[derive(Debug, Default)]
pub struct UserMaps(HashMap<Vec<u8>, Arc<UserMap>>);

impl UserMaps {
    /// Adds a map, or replaces the one of that name.
    pub fn insert(&mut self, name: &[u8], map: impl Into<Arc<UserMap>>) {
        self.0.insert(name.to_ascii_lowercase(), map.into());
    }

    /// The names of the maps, in lower case, and their texts, in the order of their names.
    pub fn texts(&self) -> Vec<(&[u8], &[u8])> {
        let mut texts: Vec<(&[u8], &[u8])> = self.0.iter().map(|(name, map)| (&**name, &*map.text)).collect();
        texts.sort();
        texts
    }

    /// The output of the map `name`, or `name.method`, for a user. The method is `*` if none is named.
    ///
    /// ```
    /// # use classmate::internal::builtin::user_map::{UserMap, UserMaps};
    /// let mut maps = UserMaps::default();
    /// maps.insert(b"groups", UserMap::parse(b"* alice physics\nnight alice chem"));
    /// assert_eq!(maps.output(b"Groups", b"alice"), Some(b"physics".to_vec()));
    /// assert_eq!(maps.output(b"groups.night", b"alice"), Some(b"chem".to_vec()));
    /// ```
    pub fn output(&self, name: &[u8], user: &[u8]) -> Option<Vec<u8>> {
        let (map, method) = self.find(name)?;
        map.output(method, user)
    }

    /// Tests whether there is a map of the name, or of the name before `.method`.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }

    /// Number of rules that a look-up of this name may have to try.
    pub(crate) fn rules(&self, name: &[u8]) -> usize {
        self.find(name).map_or(0, |(map, _)| map.len())
    }

    fn find<'n>(&self, name: &'n [u8]) -> Option<(&UserMap, &'n [u8])> {
        let (name, method) = match memchr::memchr(b'.', name) {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (name, &b"*"[..]),
        };
        Some((self.0.get(&name.to_ascii_lowercase())?, method))
    }
}

/// Home directories by account, the lines of an account database.
#[derive(Debug, Default)]
pub struct Homes(HashMap<Vec<u8>, Vec<u8>>);

impl Homes {
    /// Reads a database in the format of `/etc/passwd`: seven fields between colons, the first is the account and the
    /// sixth its home directory. Other lines are skipped; of two lines for one account the first counts.
    ///
    /// ```
    /// # use classmate::internal::builtin::user_map::Homes;
    /// let homes = Homes::parse(b"joe:x:1000:1000:Joe:/home/joe:/bin/sh\n");
    /// assert_eq!(homes.of(b"joe"), Some(&b"/home/joe"[..]));
    /// ```
    pub fn parse(text: &[u8]) -> Homes {
        let mut homes = HashMap::new();
        for line in text.split(|&byte| byte == b'\n') {
            let fields: Vec<&[u8]> = line.splitn(7, |&byte| byte == b':').collect();
            if let [account, _, _, _, _, home, _] = fields[..] {
                homes.entry(account.to_vec()).or_insert_with(|| home.to_vec());
            }
        }
        Homes(homes)
    }

    /// The home directory of an account.
    pub fn of(&self, account: &[u8]) -> Option<&[u8]> {
        self.0.get(account).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map, and what it says about some users.
    type Case = (&'static str, &'static [(&'static str, Option<&'static str>)]);

    fn found(map: &UserMap, name: &str) -> Option<String> {
        let (user, method) = name.split_once('@').map_or((name, "*"), |(user, method)| (user, method));
        map.output(method.as_bytes(), user.as_bytes()).map(|output| String::from_utf8(output).unwrap())
    }

    #[test]
    fn maps_answer_like_the_reference() {
        // Outputs are those of userMap in HTCondor 25.14.1 with these maps.
        let cases: [Case; 5] = [
            (
                "* alice physics,chem\n* alice second\n* bob x\n",
                &[("alice", Some("physics,chem")), ("ALICE", None), ("bob", Some("x")), ("zed", None)],
            ),
            (
                "GSI alice gsi\n* \"al ice\" \"sp ace\"\n* /(a)(b)?/ [\\0|\\1|\\2|\\x|\\\\]\n* zed \\0-\\1\n* ab late",
                &[
                    ("alice@gsi", Some("gsi")),
                    ("alice", Some("[a|a|\\2|\\x|\\\\]")),
                    ("ab", Some("[ab|a|b|\\x|\\\\]")),
                    ("al ice", Some("sp ace")),
                    ("zed", Some("zed-\\1")),
                    ("al ice@GSI", None),
                ],
            ),
            (
                "#x y z\n* /[/ bad\n* /^x/U ok\n* \"/q/\" lit\n* /a\\/b/ slash\n* \"q\\\"r\" qq\n* \"s\\\\t\" tt\n* only\n",
                &[
                    ("[", None),
                    ("xx", Some("ok")),
                    ("/q/", Some("lit")),
                    ("a/b", Some("slash")),
                    ("q\"r", Some("qq")),
                    ("s\\t", Some("tt")),
                    ("only", None),
                ],
            ),
            (
                "* emp \"\"\n* sp \" , \"\n* u\tv\n* multi one two\n* /e(x)?y/ <\\1>\n* e (\\0)\n* /^$/ empty\n * lead ws\n",
                &[
                    ("emp", None),
                    ("sp", Some(" , ")),
                    ("u", Some("v")),
                    ("multi", Some("one")),
                    ("ey", Some("<\\1>")),
                    ("e", Some("(e)")),
                    ("", Some("empty")),
                    ("lead", Some("ws")),
                ],
            ),
            (
                "* q\ttab\r\n* r \"un closed\n* \"\" e\n* // e2\n* /y/iUx z\n* /zz/ \"a b\" c\n\"*\" w quoted\n\"g h\" w gh\n",
                &[
                    ("q", Some("tab\r")),
                    ("r", Some("un closed\n")),
                    ("Y", Some("x")),
                    ("zz", Some("a b")),
                    ("w", Some("quoted")),
                    ("w@g h", Some("gh")),
                ],
            ),
        ];
        for (text, expected) in cases {
            let map = UserMap::parse(text.as_bytes());
            for (name, output) in expected {
                assert_eq!(found(&map, name).as_deref(), *output, "{name} in {text}");
            }
        }
    }

    #[test]
    fn senseless_lines_are_noted() {
        let map = UserMap::parse(b"# a comment\n\n* only\n* /[/ x\n@include other\n* a b\n");
        let lines: Vec<usize> = map.skipped().iter().map(|skipped| skipped.line).collect();
        assert_eq!(lines, [3, 4, 5]);
        assert!(map.skipped()[1].to_string().starts_with("line 4 of the map: expected a regular expression"));
        assert_eq!(found(&map, "a").as_deref(), Some("b"));
    }

    #[test]
    fn the_first_line_of_an_account_counts_and_short_lines_do_not() {
        let homes = Homes::parse(b"a:x:1:1::/home/a:/bin/sh\na:x:2:2::/other:/bin/sh\nb:x:/home/b\n");
        assert_eq!(homes.of(b"a"), Some(&b"/home/a"[..]));
        assert_eq!(homes.of(b"b"), None);
    }
}
