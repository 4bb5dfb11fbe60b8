//! ClassAd interpreter and matchmaker.

/// Text of expressions and values.
pub mod syntax {
    pub mod calendar;
    pub mod number;
    pub mod time;
}

/// Values of the language.
pub mod value {
    pub mod time;
}
