//! The parts of a pool that a reading does not have, or not all of.

use std::fmt;

/// A part of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolPart {
    /// The jobs of the access point with this name.
    AccessPoint(String),
    /// The slots.
    Slots,
    /// The submitters.
    Submitters,
    /// Another one, in words.
    Other(String),
}

/// A part that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadPart {
    /// The part.
    pub part: PoolPart,
    /// True if some of its ads were skipped, and the others were read.
    pub is_partial: bool,
}

impl fmt::Display for UnreadPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_partial {
            f.write_str("a part of ")?;
        }
        match &self.part {
            PoolPart::AccessPoint(name) => write!(f, "access point `{name}`"),
            PoolPart::Slots => f.write_str("the slots"),
            PoolPart::Submitters => f.write_str("the submitters"),
            PoolPart::Other(what) => f.write_str(what),
        }
    }
}

/// The part with the jobs of an access point, if it is one of these.
pub fn unread_jobs<'p>(parts: &'p [UnreadPart], name: &str) -> Option<&'p UnreadPart> {
    parts.iter().find(|unread| matches!(&unread.part, PoolPart::AccessPoint(one) if one == name))
}
