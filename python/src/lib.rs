//! The compiled part of the Python package `classmate`: [`mod@ad`] and [`expr`] are the types of `classmate.classad2`,
//! [`convert`] turns values of either language into the other's, [`read`] reads ads.
//!
//! The Python files beside it (`python/classmate`) complete the types: base classes, enumerations, files.
//! Nothing here knows the meaning of an expression; that is the crate `classmate`.

mod ad;
mod classes;
mod convert;
mod expr;
mod key;
mod read;
mod world;

use pyo3::prelude::*;

/// The compiled part of `classmate`.
#[pymodule]
mod _classmate {
    #[pymodule_export]
    use crate::ad::{AdBase, NameIterator};
    #[pymodule_export]
    use crate::classes::{ClassAdException, set_classes};
    #[pymodule_export]
    use crate::convert::{quote, unquote};
    #[pymodule_export]
    use crate::expr::ExprBase;
    #[pymodule_export]
    use crate::read::{AdReader, read_file};
    #[pymodule_export]
    use crate::world::last_error;
}
