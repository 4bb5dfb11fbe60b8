//! Random bytes: those of the operating system, or given ones for tests that replay recorded connections.

use crate::error::{Failure, WireError};

/// A source of random bytes.
pub(crate) enum Entropy {
    /// The operating system.
    System,
    /// These bytes, one after another.
    Fixed(std::collections::VecDeque<u8>),
}

impl Entropy {
    /// Fills a buffer.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<(), WireError> {
        match self {
            Entropy::System => getrandom::fill(buffer).map_err(|_| {
                WireError::new("getrandom", Failure::Credential("the system has no random numbers".to_owned()))
            }),
            Entropy::Fixed(bytes) => {
                for byte in buffer {
                    *byte = bytes.pop_front().unwrap_or(1);
                }
                Ok(())
            }
        }
    }

    /// Random bytes of a fixed number.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }
}
