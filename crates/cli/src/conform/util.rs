//! Cases of kind `util`: partial evaluation, references, equality, matching, and changes of ads.

use serde_json::{Value as Json, json};

use super::{ad, describe, input, settings, text};
use classmate::internal::eval::matching::{accepts, match_attribute, symmetric};
use classmate::internal::eval::references::{Naming, external, internal};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::quote::{quoted, unquoted};
use classmate::{EvalOptions, Expr, Flattened, Inlining, Name, Semantics, Text, Value, flatten};

pub(super) fn answers(case: &Json, semantics: Semantics) -> Result<Json, String> {
    let settings = EvalOptions { semantics, ..settings(case)? };
    let operation = String::from_utf8_lossy(&input(case, "op")?).into_owned();
    match operation.as_str() {
        "flatten" => flattened(case, &settings),
        "external" | "internal" => references(case, &operation, &settings),
        "same" => {
            let same = expr(case, "a", &settings)?.same_as(&expr(case, "b", &settings)?);
            Ok(json!({ "same": same }))
        }
        "match" => matched(case, &settings),
        "update" => {
            let mut result = ad_of(case, "a", &settings)?;
            result.update(&ad_of(case, "b", &settings)?);
            Ok(json!({ "result": text(&result.to_expr().to_text(Style::New)) }))
        }
        "delete" => {
            let mut result = ad_of(case, "a", &settings)?;
            let deleted = result.delete(Name::new(input(case, "name")?));
            Ok(json!({ "ok": deleted, "result": text(&result.to_expr().to_text(Style::New)) }))
        }
        "lookup" => {
            let found = ad_of(case, "a", &settings)?.get(Name::new(input(case, "name")?));
            Ok(found_or_not("text", found.map(|found| text(&found.to_text(Style::New)))))
        }
        "quote" => Ok(json!({ "quoted": text(&quoted(&input(case, "s")?)) })),
        "unquote" => Ok(found_or_not("result", unquoted(&input(case, "s")?).map(|result| text(&result)))),
        other => Err(format!(
            "`op` must be flatten, external, internal, same, match, update, delete, lookup, quote or unquote, found `{other}`"
        )),
    }
}

/// The answer of an operation that may find nothing.
fn found_or_not(key: &str, found: Option<Json>) -> Json {
    let mut answers = json!({ "ok": found.is_some() });
    if let Some(found) = found {
        answers[key] = found;
    }
    answers
}

fn ad_of(case: &Json, key: &str, settings: &EvalOptions) -> Result<classmate::internal::ad::ClassAd, String> {
    ad(&input(case, key)?, key, &settings.parse_options())
}

fn expr(case: &Json, key: &str, settings: &EvalOptions) -> Result<Expr, String> {
    let source = input(case, key)?;
    parse_expr(&source, &settings.parse_options()).map_err(|error| format!("`{key}` is not an expression: {error}"))
}

fn flattened(case: &Json, settings: &EvalOptions) -> Result<Json, String> {
    let (my, expr) = (ad_of(case, "my", settings)?, expr(case, "expr", settings)?);
    let (kind, result) = match flatten(&my, &expr, Inlining::Keep, settings) {
        // The records show the constant that a value becomes, which for a duration is its seconds.
        Ok(Flattened::Value(Value::RelTime(seconds))) => ("value", Value::Real(seconds).to_text(Style::New)),
        Ok(Flattened::Value(value)) => ("value", value.to_text(Style::New)),
        Ok(Flattened::Residue(expr)) => ("expr", expr.to_text(Style::New)),
        Err(failed) => return Err(format!("partial evaluation stopped: {failed}")),
    };
    Ok(json!({ "kind": kind, "text": text(&result) }))
}

fn references(case: &Json, which: &str, settings: &EvalOptions) -> Result<Json, String> {
    let (my, expr) = (ad_of(case, "my", settings)?, expr(case, "expr", settings)?);
    let found = match which {
        "external" => external(&my, &expr, Naming::Full, settings),
        _ => internal(&my, &expr, settings),
    };
    let listed = |names: Vec<Text>| names.iter().filter(|name| !name.is_empty()).map(|name| text(name)).collect();
    Ok(found_or_not("refs", found.ok().map(listed)))
}

fn matched(case: &Json, settings: &EvalOptions) -> Result<Json, String> {
    let (left, right) = (ad_of(case, "left", settings)?, ad_of(case, "right", settings)?);
    let mut answers = json!({});
    for name in ["symmetricMatch", "leftMatchesRight", "rightMatchesLeft", "leftRankValue", "rightRankValue"] {
        let value = match_attribute(&left, &right, name, settings);
        answers[name] = describe(value.as_ref().ok());
    }
    answers["matches"] = json!(accepts(&right, &left, settings));
    answers["symmetric"] = json!(symmetric(&left, &right, settings));
    Ok(answers)
}
