//! The resources in use at this moment, which only a negotiator knows: `ResourcesInUseByUser`,
//! `ResourcesInUseByUsersGroup`.
//!
//! Formula source: `docs/reference/negotiation.md` 9.2.

use std::fmt;

use crate::builtin::{Call, Exit, Function};
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::impure("ResourcesInUseByUser(submitter)", |call| {
        // `condor_negotiator` has it in single precision, but that of the request in double precision.
        in_use(call, |usage, submitter| Some(f64::from(usage.of_submitter(submitter) as f32)))
    }),
    Function::impure("ResourcesInUseByUsersGroup(submitter)", |call| {
        in_use(call, |usage, submitter| usage.of_group(submitter))
    }),
];

/// The current usage of submitters and groups.
pub trait Usage: fmt::Debug + Send + Sync {
    /// Weighted slots that a submitter uses.
    fn of_submitter(&self, submitter: &[u8]) -> f64;

    /// Weighted slots that the group of a submitter uses; none if there are no groups.
    fn of_group(&self, submitter: &[u8]) -> Option<f64>;
}

fn in_use(call: &mut Call<'_, '_>, of: fn(&dyn Usage, &[u8]) -> Option<f64>) -> Result<Value, Exit> {
    let submitter = call.argument(0)?;
    let (Value::Str(submitter), Some(usage)) = (&submitter, &call.settings().usage) else { return Ok(Value::Error) };
    Ok(of(&**usage, submitter).map_or(Value::Error, Value::Real))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::builtin::tests::evaluate;
    use crate::eval::scope::EvalOptions;

    #[derive(Debug)]
    struct Known(Option<f64>);

    impl Usage for Known {
        fn of_submitter(&self, submitter: &[u8]) -> f64 {
            match submitter {
                b"alice@x" => 2.5,
                b"bob@x" => 0.001,
                _ => 0.0,
            }
        }

        fn of_group(&self, _: &[u8]) -> Option<f64> {
            self.0
        }
    }

    #[test]
    fn a_negotiator_knows_who_uses_how_much() {
        let settings = |group| EvalOptions { usage: Some(Arc::new(Known(group))), ..EvalOptions::default() };
        let value = |text: &str, group| evaluate(text, &settings(group)).unwrap();
        assert_eq!(value("ResourcesInUseByUser(\"alice@x\")", None), "2.500000000000000E+00");
        assert_eq!(value("ResourcesInUseByUser(\"nobody@x\") + 1", None), "1.000000000000000E+00");
        // The nearest number of single precision is larger.
        assert_eq!(value("ResourcesInUseByUser(\"bob@x\") > 0.001", None), "true");
        assert_eq!(value("ResourcesInUseByUser(5)", None), "error");
        assert_eq!(value("ResourcesInUseByUsersGroup(\"alice@x\")", None), "error");
        assert_eq!(value("ResourcesInUseByUsersGroup(\"alice@x\")", Some(7.0)), "7.000000000000000E+00");
    }
}
