//! Text to expression and back. Nothing here evaluates.

pub mod build;
pub mod calendar;
pub(crate) mod compiled;
pub mod diagnose;
pub mod expr;
pub mod layout;
pub mod lexer;
pub mod literal;
pub mod nesting;
pub mod number;
pub mod operator;
pub mod parse;
pub mod print;
pub mod quote;
pub(crate) mod table_order;
pub mod time;
pub mod token;
pub mod view;
