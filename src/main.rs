//! The `classmate` command.
fn main() {}
