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

/// The algorithms behind the built-in functions.
pub mod builtin {
    pub mod arguments;
    pub mod environment;
    pub mod pattern;
    pub mod substitute;
    pub mod tokens;
    pub mod version;
}
