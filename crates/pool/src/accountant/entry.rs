//! One line of the accountant's log: an operation and its fields.
//!
//! In and out: lines without their newline. Formula source: `docs/reference/accountant.md` 8.

/// An operation of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// `101`: create a record.
    Create {
        /// Key of the record.
        key: &'a [u8],
    },
    /// `102`: destroy a record.
    Destroy {
        /// Key of the record.
        key: &'a [u8],
    },
    /// `103`: set an attribute.
    Set {
        /// Key of the record.
        key: &'a [u8],
        /// Name of the attribute.
        name: &'a [u8],
        /// Text of the value, to the end of the line.
        value: &'a [u8],
    },
    /// `104`: delete an attribute.
    Delete {
        /// Key of the record.
        key: &'a [u8],
        /// Name of the attribute.
        name: &'a [u8],
    },
    /// `105`: a transaction begins.
    Begin,
    /// `106`: a transaction ends.
    End,
    /// `107`: the header.
    Header {
        /// Number of compactions of the log, plus 1.
        sequence: i64,
        /// Creation time of the first log, epoch seconds.
        created: i64,
    },
}

impl<'a> Entry<'a> {
    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// The expected content.
    ///
    /// ```
    /// use classmate_pool::internal::accountant::entry::Entry;
    /// assert_eq!(Entry::decode(b"102 Customer.a@x"), Ok(Entry::Destroy { key: b"Customer.a@x" }));
    /// assert!(Entry::decode(b"102").is_err());
    /// ```
    pub fn decode(line: &'a [u8]) -> Result<Self, &'static str> {
        let (op, body) = word(line);
        match op {
            b"101" => {
                let (key, types) = word(body);
                let (kind, _) = word(types);
                if key.is_empty() || kind.is_empty() {
                    return Err("`101 key type target-type`");
                }
                Ok(Self::Create { key })
            }
            b"102" => match word(body) {
                (b"", _) => Err("`102 key`"),
                (key, _) => Ok(Self::Destroy { key }),
            },
            b"103" => {
                let (key, rest) = word(body);
                let (name, value) = word(rest);
                // Exactly one separator; the value runs to the end of the line.
                let value = value.get(1..).unwrap_or_default();
                if key.is_empty() || name.is_empty() || value.trim_ascii().is_empty() {
                    return Err("`103 key attribute value`");
                }
                Ok(Self::Set { key, name, value })
            }
            b"104" => {
                let (key, rest) = word(body);
                let (name, _) = word(rest);
                if key.is_empty() || name.is_empty() {
                    return Err("`104 key attribute`");
                }
                Ok(Self::Delete { key, name })
            }
            b"105" => Ok(Self::Begin),
            b"106" => Ok(Self::End),
            b"107" => {
                let (sequence, rest) = word(body);
                let (_, rest) = word(rest);
                let (created, _) = word(rest);
                match (integer(sequence), integer(created)) {
                    (Some(sequence), Some(created)) => Ok(Self::Header { sequence, created }),
                    _ => Err("`107 sequence CreationTimestamp epoch`"),
                }
            }
            _ => Err("an operation from 101 to 107"),
        }
    }

    /// Writes the line, with its newline, as HTCondor does: operation, blank, body.
    ///
    /// # Errors
    /// A key or name that is empty or contains white space, or a value with a newline: they would read back as
    /// something else.
    pub fn encode(self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        let mut line = |op: &[u8], fields: &[&[u8]]| {
            out.extend_from_slice(op);
            out.push(b' ');
            out.extend_from_slice(&fields.join(&b' '));
            out.push(b'\n');
        };
        match self {
            Self::Create { key } => line(b"101", &[checked(key)?, b"*", b"*"]),
            Self::Destroy { key } => line(b"102", &[checked(key)?]),
            Self::Set { key, name, value } => {
                if value.trim_ascii().is_empty() || memchr::memchr2(b'\n', 0, value).is_some() {
                    return Err(Unwritable { text: String::from_utf8_lossy(value).into_owned() });
                }
                line(b"103", &[checked(key)?, checked(name)?, value]);
            }
            Self::Delete { key, name } => line(b"104", &[checked(key)?, checked(name)?]),
            Self::Begin => line(b"105", &[]),
            Self::End => line(b"106", &[]),
            Self::Header { sequence, created } => {
                let (sequence, created) = (sequence.to_string(), created.to_string());
                line(b"107", &[sequence.as_bytes(), b"CreationTimestamp", created.as_bytes()]);
            }
        }
        Ok(())
    }
}

/// A name or value that the log cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not valid in the accountant's log: names cannot contain white space, and values cannot contain \
newlines", text.escape_debug())]
pub struct Unwritable {
    /// The text.
    pub text: String,
}

fn checked(name: &[u8]) -> Result<&[u8], Unwritable> {
    if name.is_empty() || name.iter().any(|b| b.is_ascii_whitespace() || *b == 0) {
        return Err(Unwritable { text: String::from_utf8_lossy(name).into_owned() });
    }
    Ok(name)
}

/// The first word of a text and what follows it, separator included.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let text = &text[start..];
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let entries = [
            Entry::Create { key: b"K" },
            Entry::Destroy { key: b"K" },
            Entry::Set { key: b"K", name: b"A", value: b" \"x  y\" " },
            Entry::Delete { key: b"K", name: b"A" },
            Entry::Begin,
            Entry::End,
            Entry::Header { sequence: 2, created: 5 },
        ];
        let mut text = Vec::new();
        for entry in entries {
            entry.encode(&mut text).unwrap();
        }
        assert_eq!(text, b"101 K * *\n102 K\n103 K A  \"x  y\" \n104 K A\n105 \n106 \n107 2 CreationTimestamp 5\n");
        let read: Vec<_> =
            text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| Entry::decode(l).unwrap()).collect();
        assert_eq!(read, entries);
    }

    #[test]
    fn what_would_read_back_as_something_else_is_refused() {
        let refused = [
            Entry::Create { key: b"a b" },
            Entry::Create { key: b"" },
            Entry::Destroy { key: b"a\nb" },
            Entry::Set { key: b"K", name: b"A", value: b"1\n106 " },
            Entry::Set { key: b"K", name: b"A", value: b" " },
            Entry::Set { key: b"K", name: b"A B", value: b"1" },
        ];
        for entry in refused {
            let mut text = Vec::new();
            assert!(entry.encode(&mut text).is_err(), "{entry:?}");
            assert!(text.is_empty(), "{entry:?}");
        }
    }
}
