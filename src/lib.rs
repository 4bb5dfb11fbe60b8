//! ClassAd interpreter and matchmaker.

/// Text of expressions and values.
pub mod syntax {
    pub mod number;
}
