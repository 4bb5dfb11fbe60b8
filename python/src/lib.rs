//! The compiled part of the Python package `classmate`: `ad` and `expr` are the types of `classmate.classad2`,
//! `convert` turns values of either language into the other's, `read` reads ads.
//!
//! The Python files beside it (`python/classmate`) complete the types: base classes, enumerations, files.
//! Nothing here knows the meaning of an expression; that is the crate `classmate`.

mod ad;
mod advice;
mod classes;
mod config;
mod convert;
mod expr;
mod key;
mod pool;
mod read;
mod scan;
mod simulate;
mod submit;
mod table;
mod world;

use pyo3::prelude::*;

/// The compiled part of `classmate`.
#[pymodule]
mod _classmate {
    #[pymodule_export]
    use crate::ad::{AdBase, Entries, NameLists};
    #[pymodule_export]
    use crate::advice::{format_text, lint_config};
    #[pymodule_export]
    use crate::classes::{ClassAdException, set_classes};
    #[pymodule_export]
    use crate::config::ConfigBase;
    #[pymodule_export]
    use crate::convert::{quote, unquote};
    #[pymodule_export]
    use crate::expr::ExprBase;
    #[pymodule_export]
    use crate::pool::PoolBase;
    #[pymodule_export]
    use crate::read::{AdReader, read_file};
    #[pymodule_export]
    use crate::scan::AdScan;
    #[pymodule_export]
    use crate::simulate::{RunBase, compare, experiment, test};
    #[pymodule_export]
    use crate::submit::SubmitBase;
    #[pymodule_export]
    use crate::table::columns;
    #[pymodule_export]
    use crate::world::{last_error, set_semantics};
}
