//! Compiled expressions: conditions over many ads at once.
//!
//! In: an expression, the ads on one side of a match (the rows) and the one ad on the other side. Out: for each row the
//! value that [`crate::eval`] gives. An expression is split into atoms; an atom is evaluated once for each distinct
//! combination of the attributes it looks at, by operators over columns or, if it holds anything else, by the evaluator
//! itself. An expression that cannot be split safely is one atom.
//!
//! The ads are a [`table::Table`]; ads of one structure opposite to one ad are a [`view::TableView`], whose results can
//! be shared in a [`cache::EvalCache`]; ads with equal results are the classes of a [`partition::Partition`].

pub mod atom;
pub mod batch;
pub mod cache;
pub mod column;
pub mod condition;
pub mod fallbacks;
pub mod liveness;
pub mod mask;
pub mod mentions;
pub mod partition;
pub mod table;
pub mod view;

/// The two sides of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The ads of which there are many.
    Row,
    /// The one ad opposite to all of them.
    Other,
}

impl Side {
    /// The opposite side.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Side::Row => Side::Other,
            Side::Other => Side::Row,
        }
    }
}
