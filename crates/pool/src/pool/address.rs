//! The Internet protocols by which an address can be reached.
//!
//! In: addresses as daemons advertise them, `<10.0.0.7:9618?addrs=10.0.0.7-9618+[fd00--7]-9618&…>`.

/// The protocols of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Protocols {
    /// Internet protocol version 4.
    pub v4: bool,
    /// Internet protocol version 6.
    pub v6: bool,
}

impl Protocols {
    /// The protocols of the primary address and of the alternates. An address without a numeric host counts as
    /// reachable by both.
    pub fn of(address: &[u8]) -> Self {
        let inner = address.strip_prefix(b"<").unwrap_or(address);
        let end = memchr::memchr2(b'?', b'>', inner).unwrap_or(inner.len());
        let mut found = Self { v4: false, v6: false };
        found.add(&inner[..end]);
        for parameter in inner[end..].split(|b| matches!(b, b'?' | b'&' | b';' | b'>')) {
            if let Some(alternates) = parameter.strip_prefix(b"addrs=") {
                alternates.split(|b| *b == b'+').for_each(|alternate| found.add(alternate));
            }
        }
        if found.v4 || found.v6 { found } else { Self { v4: true, v6: true } }
    }

    /// Returns whether the two addresses have a protocol in common.
    pub fn meet(self, other: Self) -> bool {
        (self.v4 && other.v4) || (self.v6 && other.v6)
    }

    fn add(&mut self, host: &[u8]) {
        match host.first() {
            Some(b'[') => self.v6 = true,
            Some(digit) if digit.is_ascii_digit() => self.v4 = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocols(address: &str) -> (bool, bool) {
        let found = Protocols::of(address.as_bytes());
        (found.v4, found.v6)
    }

    #[test]
    fn primary_and_alternate_addresses_count() {
        assert_eq!(protocols("<10.0.0.7:9618>"), (true, false));
        assert_eq!(protocols("<[::1]:9618?addrs=[--1]-9618>"), (false, true));
        assert_eq!(protocols("<10.0.0.7:9618?addrs=10.0.0.7-9618+[fd00--7]-9618&alias=x>"), (true, true));
    }

    #[test]
    fn an_unknown_address_meets_everything() {
        let four = Protocols::of(b"<10.0.0.7:9618>");
        let six = Protocols::of(b"<[::1]:9618>");
        assert!(!four.meet(six));
        assert!(Protocols::of(b"").meet(four) && Protocols::of(b"schedd@x").meet(six));
    }
}
