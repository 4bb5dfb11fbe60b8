//! Ads on the wire (`docs/reference/wire-cedar.md` 4): strings `Name = expression`, which go into the language's reader where they lie.
//!
//! Private attributes are dropped: a client that only reads has no use for secrets of others.

use std::io::{Read, Write};
use std::sync::Arc;

use classmate::internal::format::long::{LineReader, is_constant, is_private_text};
use classmate::internal::name::interned;
use classmate::{ClassAd, ParseOptions};

use crate::connection::{Connection, MAX_STRING, SMALL};
use crate::error::{Failure, WireError};
use crate::new_names::{NewNames, TOO_MANY};

/// Announces that the next string is a secret expression.
const SECRET: &[u8] = b"ZKM";

/// Limits on an ad that the client accepts.
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
}

/// Of an ad of the handshake.
const HANDSHAKE: Bounds = Bounds { attributes: 100, bytes: 64 << 10, expression: 0, expressions: 0, first: 0 };

/// Of an ad of an answer.
const ANSWER: Bounds = Bounds {
    attributes: 65_534,
    bytes: MAX_STRING + (1 << 20),
    expression: 256 << 10,
    expressions: 1 << 20,
    first: SMALL,
};

/// Of an ad of a job: several access points are read at the same time, and the allocator keeps for each thread what its ads took.
const JOB: Bounds = Bounds { bytes: 4 << 20, ..ANSWER };

/// Reads the ads of one connection.
pub(crate) struct AdStream {
    lines: LineReader,
    bounds: Bounds,
    names: Arc<NewNames>,
}

impl AdStream {
    /// Reads the ads of an answer.
    pub(crate) fn of_answer(lines: LineReader) -> Self {
        AdStream { lines, bounds: ANSWER, names: Arc::default() }
    }

    /// Reads the ads of a handshake: few attributes, each a constant.
    pub(crate) fn of_handshake() -> Self {
        AdStream { lines: LineReader::new(&ParseOptions::default()), bounds: HANDSHAKE, names: Arc::default() }
    }

    /// Reads the ads of jobs.
    pub(crate) fn of_jobs(lines: LineReader) -> Self {
        AdStream { bounds: JOB, ..AdStream::of_answer(lines) }
    }

    /// Counts new names together with other streams.
    pub(crate) fn counting(self, names: &Arc<NewNames>) -> Self {
        AdStream { names: Arc::clone(names), ..self }
    }

    pub(crate) fn lines(&self) -> &LineReader {
        &self.lines
    }

    /// The next ad. Two strings follow the attributes in most answers, its `types`, which mean nothing.
    pub(crate) fn read<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        types: bool,
    ) -> Result<ClassAd, WireError> {
        let Bounds { attributes, bytes, expression, expressions, first } = self.bounds;
        let count = connection.length(attributes)?;
        let (mut left, mut code) = (bytes, 0);
        self.lines.begin();
        for _ in 0..count {
            let mut line = connection.string(left.min(MAX_STRING))?;
            let mut secret = false;
            if line == SECRET {
                secret = true;
                line = connection.string(left.min(MAX_STRING))?;
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
                    let what = if line.len() > expression {
                        format!("an expression of more than {expression} bytes")
                    } else {
                        format!("an ad with more than {expressions} bytes of expressions")
                    };
                    return Err(connection.fails(Failure::Limit(what)));
                }
            }
            let before = interned();
            self.lines.line(line);
            let new = interned() - before;
            if new > 0 && !self.names.count(new) {
                return Err(connection.fails(Failure::Limit(TOO_MANY.to_owned())));
            }
        }
        if types {
            connection.string(MAX_STRING)?;
            connection.string(MAX_STRING)?;
        }
        Ok(self.lines.finish())
    }
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
    use super::*;
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

    #[test]
    fn endless_names_and_expressions_are_refused() {
        let long = format!("A = {}1", "1+".repeat(200_000));
        assert!(answer().read(&mut sending(1, &[long.as_bytes()]), false).is_err());
        let mut stream = answer();
        let error = (0..400).find_map(|round| {
            let lines: Vec<Vec<u8>> =
                (0..500).map(|at| format!("name_{round}_{at}_of_this_test = 1").into_bytes()).collect();
            let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            stream.read(&mut sending(500, &lines), false).err()
        });
        assert!(matches!(error.unwrap().failure(), Failure::Limit(_)));
    }
}
