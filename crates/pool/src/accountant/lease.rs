//! Leases: a ceiling, floor or factor that holds for some time and then goes back to what it was.
//!
//! Formula source: `docs/reference/accountant.md` 7.

use super::customer::Customer;

/// The values that can be leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseKind {
    /// Most weighted slots.
    Ceiling,
    /// Weighted slots served first.
    Floor,
    /// The priority factor.
    Factor,
}

impl LeaseKind {
    /// All kinds, in the order of [`Customer::leases`].
    pub const ALL: [Self; 3] = [Self::Ceiling, Self::Floor, Self::Factor];

    /// The kind in HTCondor's words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Floor => "floor",
            Self::Factor => "priority-factor",
        }
    }

    /// Attributes of the value before the lease and of its end.
    pub(super) fn attributes(self) -> (&'static str, &'static str) {
        match self {
            Self::Ceiling => ("CeilingPreLeaseValue", "CeilingLeaseExpiration"),
            Self::Floor => ("FloorPreLeaseValue", "FloorLeaseExpiration"),
            Self::Factor => ("PriorityFactorPreLeaseValue", "PriorityFactorLeaseExpiration"),
        }
    }
}

/// A lease of a customer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lease {
    /// The value that comes back.
    pub before: f64,
    /// End of the lease, epoch seconds; 0: no lease.
    pub expires: i64,
}

/// The reason for which a lease is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// It would last no time.
    #[error("lease duration must be positive")]
    Duration,
    /// A ceiling below -1.
    #[error("ceiling must be -1 (unlimited) or non-negative")]
    Ceiling,
    /// A floor below 0.
    #[error("floor must be non-negative")]
    Floor,
    /// A factor below 1, or none.
    #[error("priority factor must be >= 1")]
    Factor,
    /// There is one already.
    #[error("{} lease for {name} is already in effect (expires at {expires})", kind.as_str())]
    InEffect {
        /// The leased values.
        kind: LeaseKind,
        /// To whom.
        name: String,
        /// Until when, epoch seconds.
        expires: i64,
    },
    /// There is none.
    #[error("no {} lease in effect for {name}", kind.as_str())]
    None {
        /// The values that are not leased.
        kind: LeaseKind,
        /// To whom.
        name: String,
    },
}

impl Customer {
    /// Ends the leases that have run out at `now`: the values before come back.
    pub(super) fn expire_leases(&mut self, now: i64) {
        for kind in LeaseKind::ALL {
            let expires = self.leases[kind as usize].expires;
            if 0 < expires && expires <= now {
                self.end_lease(kind);
            }
        }
    }

    /// Sets a value for `duration` seconds. `factor` is the factor that holds now.
    pub(super) fn lease(
        &mut self,
        kind: LeaseKind,
        name: &[u8],
        value: f64,
        duration: i64,
        now: i64,
        factor: f64,
    ) -> Result<(), LeaseError> {
        if duration <= 0 {
            return Err(LeaseError::Duration);
        }
        match kind {
            LeaseKind::Ceiling if value < -1.0 => return Err(LeaseError::Ceiling),
            LeaseKind::Floor if value < 0.0 => return Err(LeaseError::Floor),
            LeaseKind::Factor if value.is_nan() || value < 1.0 => return Err(LeaseError::Factor),
            _ => {}
        }
        self.expire_leases(now);
        let expires = self.leases[kind as usize].expires;
        if expires > 0 {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(LeaseError::InEffect { kind, name, expires });
        }
        let before = match kind {
            LeaseKind::Ceiling => self.ceiling as f64,
            LeaseKind::Floor => self.floor as f64,
            LeaseKind::Factor => factor,
        };
        self.leases[kind as usize] = Lease { before, expires: now.saturating_add(duration) };
        self.set_leased(kind, value);
        Ok(())
    }

    /// Ends a lease before its time.
    pub(super) fn cancel_lease(&mut self, kind: LeaseKind, name: &[u8]) -> Result<(), LeaseError> {
        if self.leases[kind as usize].expires == 0 {
            return Err(LeaseError::None { kind, name: String::from_utf8_lossy(name).into_owned() });
        }
        self.end_lease(kind);
        Ok(())
    }

    fn end_lease(&mut self, kind: LeaseKind) {
        let lease = &mut self.leases[kind as usize];
        lease.expires = 0;
        let before = lease.before;
        self.set_leased(kind, before);
    }

    fn set_leased(&mut self, kind: LeaseKind, value: f64) {
        match kind {
            LeaseKind::Ceiling => self.ceiling = value as i64,
            LeaseKind::Floor => self.floor = value as i64,
            LeaseKind::Factor => self.factor = Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leased() -> Customer {
        let mut customer = Customer { ceiling: 10, ..Customer::default() };
        customer.lease(LeaseKind::Ceiling, b"a@x", 4.0, 60, 1000, 1000.0).unwrap();
        customer
    }

    #[test]
    fn a_lease_ends_when_its_time_is_over() {
        let mut customer = leased();
        customer.expire_leases(1059);
        assert_eq!((customer.ceiling, customer.leases[0].expires), (4, 1060));
        customer.expire_leases(1060);
        assert_eq!((customer.ceiling, customer.leases[0].expires), (10, 0));
    }

    #[test]
    fn a_plain_value_set_during_a_lease_is_overwritten_at_its_end() {
        let mut customer = leased();
        customer.ceiling = 7;
        customer.expire_leases(1059);
        assert_eq!(customer.ceiling, 7);
        customer.expire_leases(2000);
        assert_eq!(customer.ceiling, 10);
    }

    #[test]
    fn a_factor_lease_restores_the_factor_that_held() {
        let mut customer = Customer::default();
        customer.lease(LeaseKind::Factor, b"a@x", 5.0, 60, 1000, 1000.0).unwrap();
        assert_eq!(customer.factor, Some(5.0));
        customer.cancel_lease(LeaseKind::Factor, b"a@x").unwrap();
        assert_eq!(customer.factor, Some(1000.0));
    }

    #[test]
    fn leases_are_refused_in_the_words_of_the_reference() {
        let refused = |kind, value, duration| {
            leased().lease(kind, b"a@x", value, duration, 1000, 1000.0).unwrap_err().to_string()
        };
        assert_eq!(refused(LeaseKind::Ceiling, 1.0, 0), "lease duration must be positive");
        assert_eq!(refused(LeaseKind::Ceiling, -2.0, 1), "ceiling must be -1 (unlimited) or non-negative");
        assert_eq!(refused(LeaseKind::Floor, -1.0, 1), "floor must be non-negative");
        assert_eq!(refused(LeaseKind::Factor, 0.5, 1), "priority factor must be >= 1");
        let message = "ceiling lease for a@x is already in effect (expires at 1060)";
        assert_eq!(refused(LeaseKind::Ceiling, 1.0, 1), message);
        let error = leased().cancel_lease(LeaseKind::Floor, b"a@x").unwrap_err();
        assert_eq!(error.to_string(), "no floor lease in effect for a@x");
    }

    #[test]
    fn a_lease_that_has_run_out_makes_room_for_the_next() {
        let mut customer = leased();
        customer.lease(LeaseKind::Ceiling, b"a@x", 5.0, 60, 1060, 1000.0).unwrap();
        assert_eq!((customer.ceiling, customer.leases[0]), (5, Lease { before: 10.0, expires: 1120 }));
    }
}
