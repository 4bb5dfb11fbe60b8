//! The possible values of an expression, for all ads: evaluation over sets of values.
//!
//! In: an expression, and what is known of the attributes it refers to. Out: a set that holds every value the
//! expression can have ([`evaluate::Analysis`]), and what follows for its clauses ([`clauses::claims`]). The sets are
//! never too small, so what is said is true; they may be too large, so not everything that is true is said. Evaluations
//! that are abandoned for a limit, and attributes that change their value within one evaluation, such as one defined as
//! `random()`, are outside the promise.

pub mod clauses;
pub mod compare;
pub mod evaluate;
pub mod facts;
mod inequalities;
mod linear;
pub mod number;
mod patterns;
pub mod proof;
mod quantities;
mod requirement;
mod search;
pub mod values;
mod written;
