//! Ads on the wire (`docs/reference/wire-cedar.md` 4): strings `Name = expression`, which go into the language's reader where they lie.
//!
//! Private attributes are dropped: a client that only reads has no use for secrets of others.

use std::fmt;
use std::io::{Read, Write};

use classmate::internal::format::long::{LineReader, is_constant, is_private_text};
use classmate::{ClassAd, ParseOptions};

use crate::connection::{Connection, MAX_STRING, SMALL};
use crate::error::{Failure, WireError};
use crate::new_names::{NewNames, OF_PROCESS, TOO_MANY};

/// Attributes of a summary that say whether all is well.
const OF_SUMMARY: [&[u8]; 3] = [b"Owner", b"ErrorCode", b"ErrorString"];

/// Announces that the next string is a secret expression.
const SECRET: &[u8] = b"ZKM";

/// Limits on an ad that the client accepts. One of an answer that is larger is skipped.
#[derive(Clone, Copy)]
struct Bounds {
    /// Attributes of an ad.
    attributes: usize,
    /// Bytes of an ad.
    bytes: usize,
    /// Bytes of an expression that is not a constant: a tree takes many times as much.
    expression: usize,
    /// Bytes of all such expressions of an ad, after those in its first bytes.
    expressions: usize,
    /// These first bytes.
    first: usize,
    /// The last ad is a summary, which is not skipped because of its names.
    has_summary: bool,
}

/// Of an ad of the handshake.
const HANDSHAKE: Bounds =
    Bounds { attributes: 100, bytes: 64 << 10, expression: 0, expressions: 0, first: 0, has_summary: false };

/// Of an ad of an answer.
const ANSWER: Bounds = Bounds {
    attributes: 65_534,
    bytes: MAX_STRING + (1 << 20),
    expression: 256 << 10,
    expressions: 1 << 20,
    first: SMALL,
    has_summary: false,
};

/// Of an ad of a job: several access points are read at the same time, and the allocator may keep for each thread what its largest
/// ad took.
const JOB: Bounds = Bounds { bytes: 4 << 20, expressions: 256 << 10, has_summary: true, ..ANSWER };

/// A limit that an ad exceeds.
#[derive(Clone, Copy)]
enum Exceeded {
    Bytes(usize),
    Expression(usize),
    Expressions(usize),
    Names,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Bytes(most) => write!(f, "more than {most} bytes"),
            Exceeded::Expression(most) => write!(f, "an expression of more than {most} bytes"),
            Exceeded::Expressions(most) => write!(f, "more than {most} bytes of expressions"),
            Exceeded::Names => f.write_str(TOO_MANY),
        }
    }
}

/// Reads the ads of one connection.
pub(crate) struct AdStream {
    lines: LineReader,
    bounds: Bounds,
    names: &'static NewNames,
    /// The limit that the first ad exceeds that was skipped.
    exceeded: Option<Exceeded>,
}

impl AdStream {
    /// Reads the ads of an answer.
    pub(crate) fn of_answer(lines: LineReader) -> Self {
        AdStream { lines, bounds: ANSWER, names: &OF_PROCESS, exceeded: None }
    }

    /// Reads the ads of a handshake: few attributes, each a constant.
    pub(crate) fn of_handshake() -> Self {
        AdStream { bounds: HANDSHAKE, ..AdStream::of_answer(LineReader::new(&ParseOptions::default())) }
    }

    /// Reads the ads of jobs.
    pub(crate) fn of_jobs(lines: LineReader) -> Self {
        AdStream { bounds: JOB, ..AdStream::of_answer(lines) }
    }

    pub(crate) fn lines(&self) -> &LineReader {
        &self.lines
    }

    /// The ads that were skipped so far, since they exceed a limit.
    pub(crate) fn skipped(&self) -> Option<Failure> {
        let ads = self.lines.report().skipped_ads;
        self.exceeded.map(|limit| Failure::Skipped { ads, limit: limit.to_string() })
    }

    /// The next ad, which must not exceed a limit. Two strings follow the attributes in most answers, its `types`, which mean nothing.
    pub(crate) fn read<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        types: bool,
    ) -> Result<ClassAd, WireError> {
        match self.strings(connection, types)? {
            None => Ok(self.lines.finish()),
            Some((limit, _)) => Err(connection.fails(Failure::Limit(limit.to_string()))),
        }
    }

    /// The next ad of an answer. None: it exceeds a limit, and was skipped.
    pub(crate) fn next<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
    ) -> Result<Option<ClassAd>, WireError> {
        let Some((limit, rest)) = self.strings(connection, true)? else { return Ok(Some(self.lines.finish())) };
        self.lines.skip();
        self.exceeded.get_or_insert(limit);
        // What follows of it takes no memory.
        connection.release();
        for _ in 0..rest {
            if connection.skip_string(SECRET)? {
                connection.skip_string(SECRET)?;
            }
        }
        Ok(None)
    }

    /// Reads the strings of an ad. If it exceeds a limit, returns that, and the number of those that were not read.
    fn strings<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        types: bool,
    ) -> Result<Option<(Exceeded, usize)>, WireError> {
        let Bounds { attributes, bytes, expression, expressions, first, has_summary } = self.bounds;
        let count = connection.length(attributes)?;
        let types = if types { 2 } else { 0 };
        let (mut left, mut code) = (bytes, 0);
        let (mut is_read, mut is_summary) = (true, false);
        self.lines.begin();
        for number in 0..count {
            let (most, rest) = (left.min(MAX_STRING), count - number + types);
            let too_long = || Ok(Some((Exceeded::Bytes(bytes), rest)));
            if !connection.has_string_within(most)? {
                return too_long();
            }
            let mut line = connection.string(most)?;
            let mut secret = false;
            if line == SECRET {
                secret = true;
                if !connection.has_string_within(most)? {
                    return too_long();
                }
                line = connection.string(most)?;
            }
            left = left.saturating_sub(line.len());
            if secret || is_secret(line) {
                continue;
            }
            if bytes - left > first && !is_constant(line) {
                code += line.len();
                if expression == 0 {
                    return Err(connection.invalid("an attribute of the security handshake is not a constant"));
                }
                if line.len() > expression || code > expressions {
                    let limit = if line.len() > expression {
                        Exceeded::Expression(expression)
                    } else {
                        Exceeded::Expressions(expressions)
                    };
                    return Ok(Some((limit, rest - 1)));
                }
            }
            is_summary |= has_summary && line.starts_with(b"Owner") && assigned(line) == Some((b"Owner", b"0"));
            is_read &= self.line(line, LineReader::line);
            if !is_read && !has_summary {
                return Ok(Some((Exceeded::Names, rest - 1)));
            }
        }
        for _ in 0..types {
            connection.string(MAX_STRING)?;
        }
        for line in self.lines.waiting() {
            is_read &= self.line(&line, LineReader::waiting_line);
        }
        Ok((!is_read && !is_summary).then_some((Exceeded::Names, 0)))
    }

    /// Reads a line like this; false if its new names would be too many, and none is that of a summary.
    fn line(&mut self, line: &[u8], read: fn(&mut LineReader, &[u8])) -> bool {
        if self.names.read(line, |line| read(&mut self.lines, line)) {
            return true;
        }
        let is_of_summary = self.bounds.has_summary
            && is_constant(line)
            && assigned(line).is_some_and(|(name, _)| OF_SUMMARY.contains(&name));
        if is_of_summary {
            read(&mut self.lines, line);
        }
        is_of_summary
    }
}

/// The name and the value of a line.
fn assigned(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let assign = memchr::memchr(b'=', line)?;
    Some((line[..assign].trim_ascii(), line[assign + 1..].trim_ascii()))
}

/// Tests whether a line assigns a private attribute.
fn is_secret(line: &[u8]) -> bool {
    let start = line.trim_ascii_start();
    // Most lines end here.
    matches!(start.first(), Some(b'c' | b'C' | b't' | b'T' | b'_'))
        && memchr::memchr(b'=', start).is_some_and(|assign| is_private_text(start[..assign].trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use classmate::Semantics;
    use classmate::internal::name::interned;

    use super::*;
    use crate::client::{Source, next_ad};
    use crate::entropy::Entropy;
    use crate::key::Key;
    use crate::script::Script;

    fn sending(count: i64, lines: &[&[u8]]) -> Connection<Script> {
        let mut body = count.to_be_bytes().to_vec();
        for line in lines {
            body.extend_from_slice(line);
            body.push(0);
        }
        let bytes = [&[1], &(body.len() as u32).to_be_bytes()[..], &body].concat();
        Connection::new(Script::new(bytes, usize::MAX), "peer".into())
    }

    fn answer() -> AdStream {
        AdStream::of_answer(LineReader::new(&ParseOptions::default()))
    }

    #[test]
    fn ads_are_read_without_their_secrets() {
        let lines: [&[u8]; 9] = [
            b"Name = \"a\nb\"",
            b"ClaimId = \"<1.2.3.4:5>#1#2#secret\"",
            b"ZKM",
            b"Other = \"secret\"",
            b"_condor_PrivRemoteAdminCapability=\"secret\"",
            b"x=1+1",
            b"X = 3",
            b"",
            b"",
        ];
        let mut connection = sending(6, &lines);
        let ad = answer().read(&mut connection, true).unwrap();
        assert_eq!(ad.to_string(), "[ x = 3; Name = \"a\\nb\" ]");
        connection.end().unwrap();
    }

    #[test]
    fn a_line_that_cannot_be_read_is_reported() {
        let mut stream = answer();
        let ad = stream.read(&mut sending(2, &[b"A = (", b"B = 2"]), false).unwrap();
        assert_eq!(ad.to_string(), "[ B = 2 ]");
        assert_eq!(stream.lines().report().errors, 1);
    }

    #[test]
    fn an_ad_of_a_handshake_has_few_attributes_that_are_constants() {
        let mut stream = AdStream::of_handshake();
        assert!(stream.read(&mut sending(1, &[b"A = \"x\""]), false).is_ok());
        for (count, line) in [(1, &b"A = x"[..]), (101, b"A = 1"), (-1, b""), (1, b"A = { 1 }")] {
            assert!(stream.read(&mut sending(count, &[line]), false).is_err());
        }
    }

    /// A connection on which these messages come encrypted, each with strings behind a number.
    fn sending_messages(messages: &[(i64, Vec<String>)]) -> Connection<Script> {
        let key = Key::of_session(b"test");
        let encrypted = |script| {
            let mut connection = Connection::new(script, "peer".into());
            connection.encrypt(&key, &mut Entropy::Fixed((0..16).collect())).unwrap();
            connection
        };
        let mut sender = encrypted(Script::new(Vec::new(), usize::MAX));
        for (count, strings) in messages {
            sender.put_int(*count);
            for string in strings {
                sender.put_string(string);
            }
            sender.send().unwrap();
        }
        let sent = std::mem::take(&mut sender.transport().outgoing);
        encrypted(Script::new(sent, usize::MAX))
    }

    #[test]
    fn an_ad_that_is_too_large_is_skipped() {
        let text = |bytes| format!("A = \"{}\"", "a".repeat(bytes));
        let code = |bytes: usize| format!("A = {}1", "1+".repeat(bytes / 2));
        let (zkm, end) = (|| "ZKM".to_owned(), ["B = 1", "ZKM", "C = \"secret\"", "Abc", "", ""]);
        // By the limits above, of 4 MiB, 256 KiB for an expression, and 256 KiB for all. A secret is a string more than the lines.
        let large: [(&str, Vec<String>); 6] = [
            ("more than 4194304 bytes", (0..5).map(|_| text(1_000_000)).collect()),
            ("more than 4194304 bytes", vec![text(5_000_000)]),
            (
                "more than 4194304 bytes",
                [vec![text(4_000_000), zkm(), text(500_000)], vec![text(9_000_000); 3]].concat(),
            ),
            ("an expression of more than 262144 bytes", vec![code(300_000), text(8_000_000)]),
            ("an expression of more than 262144 bytes", vec![code(300_000), zkm(), code(300_000), zkm(), zkm()]),
            ("more than 262144 bytes of expressions", (0..9).map(|_| code(200_000)).collect()),
        ];
        for (limit, lines) in large {
            let strings: Vec<String> = lines.into_iter().chain(end.map(str::to_owned)).collect();
            let (mut count, mut is_secret) = (-2, false);
            for string in &strings {
                is_secret = !is_secret && string == "ZKM";
                count += i64::from(!is_secret);
            }
            let other = |line: &str| (1, [line, "", ""].map(str::to_owned).to_vec());
            let messages = [other("D = 1"), (count, strings.clone()), (count, strings), other("E = 2")];
            let mut connection = sending_messages(&messages);
            let mut stream = AdStream::of_jobs(LineReader::new(&ParseOptions::default()));
            let mut read = |_| {
                let ad = stream.next(&mut connection).unwrap();
                connection.end().unwrap();
                ad.map(|ad| ad.to_string())
            };
            let ads = [0; 4].map(&mut read);
            assert_eq!(
                ads.each_ref().map(Option::as_deref),
                [Some("[ D = 1 ]"), None, None, Some("[ E = 2 ]")],
                "{limit}"
            );
            let Some(Failure::Skipped { ads: 2, limit: found }) = stream.skipped() else {
                panic!("{:?}", stream.skipped())
            };
            assert_eq!(found, limit);
        }
        // A string that the protocol does not permit ends the conversation.
        let mut connection = sending_messages(&[(2, vec![text(5_000_000), text(10_000_001)])]);
        let mut stream = AdStream::of_jobs(LineReader::new(&ParseOptions::default()));
        assert!(matches!(stream.next(&mut connection).unwrap_err().failure(), Failure::Limit(_)));
    }

    #[test]
    fn a_summary_is_read_after_endless_names() {
        for semantics in [Semantics::default(), Semantics::default().advertised()] {
            let options = ParseOptions { semantics, ..ParseOptions::default() };
            let read = |code: &str| {
                let new = format!("name_of_{code}_{}", semantics.is_advertised());
                let ad = |lines: &[String]| (lines.len() as i64, [lines, &[String::new(), String::new()]].concat());
                let messages = [
                    ad(&["Owner = \"eve\"".to_owned()]),
                    ad(&[format!("{new}_of_job = 0"), "Owner = \"eve\"".to_owned()]),
                    ad(&[
                        format!("{new}_jobs = 2"),
                        format!("ErrorCode = {code}"),
                        "ErrorString = \"too busy\"".to_owned(),
                        "Owner = 0".to_owned(),
                        format!("{new}_more = 2"),
                    ]),
                ];
                let names = Box::leak(Box::new(NewNames::full()));
                let mut stream = AdStream { names, ..AdStream::of_jobs(LineReader::new(&options)) };
                let mut connection = sending_messages(&messages);
                let mut next = || next_ad(&mut connection, &mut stream, Source::Queue);
                let first = next().unwrap().map(|ad| ad.to_string());
                assert_eq!(first.as_deref(), Some("[ Owner = \"eve\" ]"));
                let end = next().map(|ad| ad.map(|ad| ad.to_string())).map_err(|error| error.to_string());
                assert!(matches!(stream.skipped(), Some(Failure::Skipped { ads: 1, .. })));
                end
            };
            assert_eq!(read("0"), Ok(None));
            assert_eq!(read("5"), Err("`peer` reports an error: too busy".to_owned()));
        }
    }

    #[test]
    fn a_long_expression_is_refused() {
        let long = format!("A = {}1", "1+".repeat(200_000));
        let error = answer().read(&mut sending(1, &[long.as_bytes()]), false).unwrap_err();
        assert!(matches!(error.failure(), Failure::Limit(_)));
    }

    #[test]
    fn after_endless_names_those_that_are_known_are_read() {
        // In the version of each ad, lines wait until that is known.
        for semantics in [Semantics::default(), Semantics::default().advertised()] {
            let options = ParseOptions { semantics, ..ParseOptions::default() };
            let names = Box::leak(Box::new(NewNames::none()));
            let mut stream = AdStream { names, ..AdStream::of_answer(LineReader::new(&options)) };
            let mut read = |lines: &[String]| {
                let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).chain([&b""[..], b""]).collect();
                let mut connection = sending(lines.len() as i64 - 2, &lines);
                let ad = stream.next(&mut connection).unwrap();
                connection.end().unwrap();
                ad.map(|ad| ad.to_string())
            };
            // Each name has 34 bytes and counts 2 * 34 + 128: 16 MiB are 85,598 of them, in 171 ads of 500 and a part of one more.
            let kind = semantics.is_advertised();
            let name = |round, at: usize| format!("name_{round:05}_{at:05}_of_test_{kind:_<9}");
            let ads = (0..300).map(|round| (0..500).map(|at| name(round, at) + " = 1").collect::<Vec<_>>());
            assert_eq!(ads.map(|lines| usize::from(read(&lines).is_some())).sum::<usize>(), 171);
            let before = interned();
            let first = || name(0, 0) + " = \"any text\"";
            let expression = |of: &str| format!("{} = True isnt {} + {of}", name(0, 1), name(0, 2));
            for known in [name(0, 3), format!("'{}'", name(0, 4)), "\"another text\"".to_owned()] {
                assert!(read(&[first(), expression(&known)]).is_some(), "{known}");
            }
            let new = name(300, 0);
            for new in [&new, &format!("'{new}'"), &format!("new_{}(1)", name(0, 3)), &name(0, 3).to_ascii_uppercase()]
            {
                assert_eq!(read(&[first(), expression(new)]), None, "{new}");
                assert_eq!(read(&[first(), format!("{new} = 1")]), None, "{new}");
            }
            assert_eq!(interned(), before);
            assert!(read(&[first()]).is_some());
            assert!(matches!(stream.exceeded, Some(Exceeded::Names)));
        }
    }
}
