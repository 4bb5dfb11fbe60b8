//! Cases of kind `config`: read configuration files and look names up.

use serde_json::{Map, Value as Json, json};

use super::{bytes, optional, text};
use classmate::Semantics;
use classmate_config::internal::config::expand::ExpandError;
use classmate_config::{Config, Context, TextFiles};

pub(super) fn answers(case: &Json, semantics: Semantics) -> Result<Json, String> {
    let word =
        |key: &str| Ok::<_, String>(optional(case, key)?.map(|word| String::from_utf8_lossy(&word).into_owned()));
    let mut context = Context { semantics, defaults: semantics.series(), ..Context::default() };
    if let Some(subsystem) = word("subsystem")? {
        context.subsystem = subsystem;
    }
    context.local_name = word("local_name")?;
    context.environment =
        texts(case, "env")?.unwrap_or_default().into_iter().map(|(name, value)| (bytes(&name), value)).collect();
    let files = texts(case, "files")?.ok_or("`files` is missing")?;
    let names = case.get("names").and_then(Json::as_array);
    let names = names.and_then(|names| names.iter().map(Json::as_str).collect::<Option<Vec<_>>>());
    let names = names.ok_or("`names` must be a list of strings")?;
    let root = files.first().map(|(name, _)| name.clone()).ok_or("`files` holds no file")?;
    let mut config = Config::new(context);
    let mut values = Map::new();
    let refused = config.read_root(&root, &TextFiles::from_iter(files));
    let mut error = refused.as_ref().err().map(classmate::Diagnostic::to_line);
    if refused.is_ok() {
        for name in names {
            let value = value(&config, name);
            // A function macro that fails has no value; one that never ends is an error of the files.
            if let Err(circle) = value.as_ref().map_err(|error| (!error.is_function()).then(|| error.to_string())) {
                error = error.or(circle);
            }
            values.insert(name.to_owned(), value.ok().flatten().unwrap_or(Json::Null));
        }
    }
    let mut answers = json!({ "values": values });
    if let Some(error) = error {
        answers["error"] = text(error.as_bytes());
    }
    Ok(answers)
}

/// The expanded text of a name; an empty one counts as undefined.
fn value(config: &Config, name: &str) -> Result<Option<Json>, ExpandError> {
    let Some(definition) = config.definition(&bytes(name)) else { return Ok(None) };
    let value = config.expansion(name.as_bytes(), definition.raw)?;
    Ok(Some(value).filter(|value| !value.is_empty()).map(|value| text(&value)))
}

/// Names and their texts, in the order of the case.
type Texts = Vec<(String, Vec<u8>)>;

/// An object of texts.
fn texts(case: &Json, key: &str) -> Result<Option<Texts>, String> {
    let wrong = || format!("`{key}` must be an object of strings");
    match case.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Object(texts)) => {
            let pairs = texts.iter().map(|(name, value)| Some((name.clone(), bytes(value.as_str()?))));
            pairs.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::conform::{Kind, answer};

    fn answered(case: &Json) -> Json {
        let mut answer = answer(Kind::Config, case.to_string().as_bytes());
        answer.as_object_mut().unwrap().remove("id");
        answer
    }

    #[test]
    fn the_first_file_is_the_root() {
        let files = json!({ "z": "include : a\nA = $(B)$ENV(V:x)\nX=", "a": "B = 1" });
        let case = json!({ "files": files, "names": ["a", "X", "NOPE", "NEGOTIATOR_INTERVAL"], "env": { "V": "v" } });
        let values = json!({ "a": "1v", "X": null, "NOPE": null, "NEGOTIATOR_INTERVAL": "60" });
        assert_eq!(answered(&case), json!({ "values": values }));
    }

    #[test]
    fn subsystem_and_local_name_count() {
        let files = json!({ "r": "NEGOTIATOR.X = 1\nTOOL.X = 2\nL.X = 3\nX = 4" });
        let case = |more: Json| {
            let mut case = json!({ "files": files, "names": ["X"] });
            case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            answered(&case)["values"]["X"].clone()
        };
        assert_eq!(case(json!({})), "1");
        assert_eq!(case(json!({ "subsystem": "TOOL" })), "2");
        assert_eq!(case(json!({ "subsystem": "SCHEDD" })), "4");
        assert_eq!(case(json!({ "local_name": "l" })), "3");
    }

    #[test]
    fn files_that_are_refused_have_an_error() {
        let refused = answered(&json!({ "files": { "r": "A=1\nif true" }, "names": ["A"] }));
        assert_eq!(refused, json!({ "values": {}, "error": "r:2:1: `if` without `endif`" }));
        let circle = answered(&json!({ "files": { "r": "A=$(B)\nB=$(A)\nC=$INT(x)\nD=1" }, "names": ["A", "C", "D"] }));
        assert_eq!(circle["values"], json!({ "A": null, "C": null, "D": "1" }));
        assert_eq!(circle["error"], "`A` refers to itself: A → B → A");
    }

    #[test]
    fn a_case_without_its_inputs_is_malformed() {
        for case in [
            json!({ "names": [] }),
            json!({ "files": {}, "names": [] }),
            json!({ "files": { "r": 1 }, "names": [] }),
            json!({ "files": { "r": "" } }),
        ] {
            assert!(answered(&case)["malformed"].is_string(), "{case}");
        }
    }
}
