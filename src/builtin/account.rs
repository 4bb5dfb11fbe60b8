//! Facts about users: `userMap`, `userHome`.

use crate::builtin::tokens::tokens;
use crate::builtin::{Call, Exit, Function};
use crate::eval::{EvalError, as_error_value};
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("userMap(map, user [, preferred [, default]])", user_map),
    // With another number of arguments it is abandoned.
    Function { least: 0, most: None, ..Function::new("userHome(user [, default])", user_home) },
];

/// Steps that trying one rule of a map counts for.
const RULE_STEPS: usize = 8;

fn user_map(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let (map, user) = (call.argument(0)?, call.argument(1)?);
    let preferred = if call.len() > 2 { Some(call.argument(2)?) } else { None };
    let default = if call.len() > 3 { call.argument(3)? } else { Value::Undefined };
    let (Value::Str(map), Value::Str(user)) = (&map, &user) else {
        return Ok(if map.is_error() || user.is_error() { Value::Error } else { default });
    };
    let maps = &call.settings().maps;
    call.charge((map.len() + user.len()) / 64 + maps.rules(map) * RULE_STEPS)?;
    let Some(output) = maps.output(map, user) else { return Ok(default) };
    let Some(preferred) = preferred else { return call.string(output) };
    let preferred = preferred.as_bytes();
    let mut items = tokens(&output, b",");
    let chosen = items
        .clone()
        .find(|item| preferred.is_some_and(|preferred| preferred.eq_ignore_ascii_case(item)))
        .or_else(|| items.next());
    chosen.map_or(Ok(default), |item| call.string(item))
}

fn user_home(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    if !(1..=2).contains(&call.len()) {
        return Err(EvalError::Function("userHome").into());
    }
    let default = if call.len() > 1 { as_error_value(call.argument(1))? } else { Value::Undefined };
    let default = Some(default).filter(|default| default.as_bytes().is_some_and(|text| !text.is_empty()));
    Ok(match as_error_value(call.argument(0))? {
        Value::Str(user) => match call.settings().homes.of(&user) {
            Some(home) => call.string(home)?,
            None => default.unwrap_or(Value::Undefined),
        },
        Value::Undefined => default.unwrap_or(Value::Undefined),
        _ => default.unwrap_or(Value::Error),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::builtin::tests::evaluate;
    use crate::builtin::user_map::{Homes, UserMap, UserMaps};
    use crate::eval::scope::EvalOptions;

    fn settings() -> EvalOptions {
        let mut maps = UserMaps::default();
        maps.insert(b"Groups", UserMap::parse(b"* alice physics,, chem\nnight alice bio\n* carol \" , \""));
        let homes = Homes::parse(b"joe:x:1:1::/home/joe:/bin/sh\n");
        EvalOptions { maps: Arc::new(maps), homes: Arc::new(homes), ..EvalOptions::default() }
    }

    #[test]
    fn maps_say_one_item_or_everything() {
        // Answers of the reference with these maps; the output of the first line ends at its space.
        for (text, expected) in [
            ("userMap(\"groups\", \"alice\")", "\"physics,,\""),
            ("userMap(\"GROUPS\", \"alice\", \"Physics\")", "\"physics\""),
            ("userMap(\"groups\", \"alice\", \"\")", "\"physics\""),
            ("userMap(\"groups.night\", \"alice\")", "\"bio\""),
            ("userMap(\"groups.\", \"alice\")", "undefined"),
            ("userMap(\"groups\", \"carol\")", "\" , \""),
            ("userMap(\"groups\", \"carol\", \"x\", \"D\")", "\"D\""),
            ("userMap(1, \"x\", \"y\", error)", "error"),
        ] {
            assert_eq!(evaluate(text, &settings()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn homes_are_those_of_the_settings() {
        assert_eq!(evaluate("userHome(\"joe\", \"/d\")", &settings()).as_deref(), Ok("\"/home/joe\""));
        assert_eq!(evaluate("userHome(\"jim\", \"\")", &settings()).as_deref(), Ok("undefined"));
        assert_eq!(evaluate("userHome()", &settings()), Err(EvalError::Function("userHome")));
        assert_eq!(evaluate("isError(userHome(1, 2, 3))", &settings()), Err(EvalError::Function("userHome")));
    }
}
