//! Cases of kind `util`: partial evaluation, references, equality, matching, and changes of ads.

use serde_json::{Map, Value as Json};

use super::{ad, describe, input, settings, text};
use classmate::internal::eval::flatten::{Flattened, Inlining, flatten};
use classmate::internal::eval::matching::{accepts, match_attribute, symmetric};
use classmate::internal::eval::references::{Naming, external, internal};
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::quote::{quoted, unquoted};
use classmate::internal::value::Value;

type Answers = Map<String, Json>;

pub(super) fn answers(case: &Json) -> Result<Answers, String> {
    let settings = settings(case)?;
    let operation = String::from_utf8_lossy(&input(case, "op")?).into_owned();
    match operation.as_str() {
        "flatten" => flattened(case, &settings),
        "external" | "internal" => references(case, &operation, &settings),
        "same" => {
            let same = expr(case, "a", &settings)?.same_as(&expr(case, "b", &settings)?);
            Ok(one("same", Json::Bool(same)))
        }
        "match" => matched(case, &settings),
        "update" => {
            let mut result = ad_of(case, "a", &settings)?;
            result.update(&ad_of(case, "b", &settings)?);
            Ok(one("result", text(&result.to_expr().to_text(Style::New))))
        }
        "delete" => {
            let mut result = ad_of(case, "a", &settings)?;
            let mut answers = one("ok", Json::Bool(result.delete(Name::new(input(case, "name")?))));
            answers.insert("result".to_owned(), text(&result.to_expr().to_text(Style::New)));
            Ok(answers)
        }
        "lookup" => {
            let found = ad_of(case, "a", &settings)?.get(Name::new(input(case, "name")?));
            let mut answers = one("ok", Json::Bool(found.is_some()));
            if let Some(found) = found {
                answers.insert("text".to_owned(), text(&found.to_text(Style::New)));
            }
            Ok(answers)
        }
        "quote" => {
            let quoted = quoted(&input(case, "s")?);
            Ok(one("quoted", text(&quoted)))
        }
        "unquote" => {
            let result = unquoted(&input(case, "s")?);
            let mut answers = one("ok", Json::Bool(result.is_some()));
            if let Some(result) = result {
                answers.insert("result".to_owned(), text(&result));
            }
            Ok(answers)
        }
        other => Err(format!(
            "`op` must be flatten, external, internal, same, match, update, delete, lookup, quote or unquote, found `{other}`"
        )),
    }
}

fn one(key: &str, answer: Json) -> Answers {
    Map::from_iter([(key.to_owned(), answer)])
}

fn ad_of(case: &Json, key: &str, settings: &EvalOptions) -> Result<classmate::internal::ad::ClassAd, String> {
    ad(&input(case, key)?, key, &settings.parse_options())
}

fn expr(case: &Json, key: &str, settings: &EvalOptions) -> Result<Expr, String> {
    let source = input(case, key)?;
    parse_expr(&source, &settings.parse_options()).map_err(|error| format!("`{key}` is not an expression: {error}"))
}

fn flattened(case: &Json, settings: &EvalOptions) -> Result<Answers, String> {
    let (my, expr) = (ad_of(case, "my", settings)?, expr(case, "expr", settings)?);
    let (kind, result) = match flatten(&my, &expr, Inlining::Keep, settings) {
        // The records show the constant that a value becomes, which for a duration is its seconds.
        Ok(Flattened::Value(Value::RelTime(seconds))) => ("value", Value::Real(seconds).to_text(Style::New)),
        Ok(Flattened::Value(value)) => ("value", value.to_text(Style::New)),
        Ok(Flattened::Residue(expr)) => ("expr", expr.to_text(Style::New)),
        Err(failed) => return Err(format!("partial evaluation stopped: {failed}")),
    };
    let mut answers = one("kind", Json::String(kind.to_owned()));
    answers.insert("text".to_owned(), text(&result));
    Ok(answers)
}

fn references(case: &Json, which: &str, settings: &EvalOptions) -> Result<Answers, String> {
    let (my, expr) = (ad_of(case, "my", settings)?, expr(case, "expr", settings)?);
    let found = match which {
        "external" => external(&my, &expr, Naming::Full, settings),
        _ => internal(&my, &expr, settings),
    };
    let mut answers = one("ok", Json::Bool(found.is_ok()));
    if let Ok(names) = found {
        answers
            .insert("refs".to_owned(), names.iter().filter(|name| !name.is_empty()).map(|name| text(name)).collect());
    }
    Ok(answers)
}

fn matched(case: &Json, settings: &EvalOptions) -> Result<Answers, String> {
    let (left, right) = (ad_of(case, "left", settings)?, ad_of(case, "right", settings)?);
    let mut answers = Answers::new();
    for name in ["symmetricMatch", "leftMatchesRight", "rightMatchesLeft", "leftRankValue", "rightRankValue"] {
        let value = match_attribute(&left, &right, name, settings);
        answers.insert(name.to_owned(), describe(value.as_ref().ok()));
    }
    answers.insert("matches".to_owned(), Json::Bool(accepts(&right, &left, settings)));
    answers.insert("symmetric".to_owned(), Json::Bool(symmetric(&left, &right, settings)));
    Ok(answers)
}
