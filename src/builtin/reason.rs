//! Reasons that a function did not work on arguments of the right types.

use crate::builtin::Function;
use crate::builtin::pattern::{Options, Pattern};
use crate::eval::scope::EvalOptions;
use crate::syntax::parse::parse_full;
use crate::value::Value;

/// The problem with the contents of the arguments of a call whose value is undefined or an error, if it is known:
/// what is no regular expression, a text that does not parse, a map that there is not.
pub(crate) fn reason(function: &Function, arguments: &[Value], settings: &EvalOptions) -> Option<String> {
    let text = |at: usize| arguments.get(at).and_then(Value::as_bytes);
    let options = match function.name {
        "regexp" | "regexpMember" => 2,
        "regexps" | "replace" | "replaceAll" | "stringList_regexpMember" => 3,
        "eval" => {
            return parse_full(text(0)?, &settings.parse_options())
                .err()
                .map(|error| format!("the string does not parse: {error}"));
        }
        "userMap" => {
            let map = text(0).filter(|map| !settings.maps.contains(map))?;
            return Some(format!("user map `{}` does not exist", String::from_utf8_lossy(map)));
        }
        _ => return None,
    };
    let letters = text(options).unwrap_or_default().to_ascii_lowercase();
    match Pattern::compile(text(0)?, Options::from_letters(&letters)) {
        Err(invalid) => Some(format!("the pattern is not valid: {}", invalid.reason)),
        Ok(pattern) => pattern.is_match(text(1)?).err().map(|error| error.to_string()),
    }
}
