//! Cases of kind `eval`: parse, print and evaluate an expression.

use serde_json::{Value as Json, json};

use super::{ad, choice, describe, input, optional, settings, text};
use classmate::internal::format::new::parse_ad;
use classmate::internal::syntax::parse::{parse_expr, parse_full, parse_prefix};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalOptions, Expr, ParseOptions, Scope, Semantics};

pub(super) fn answers(case: &Json, semantics: Semantics) -> Result<Json, String> {
    let settings = EvalOptions { semantics, ..settings(case)? };
    let source = input(case, "expr")?;
    let old = choice(case, "syntax", &[("new", false), ("old", true)])?;
    let options = settings.parse_options();
    let my = match optional(case, "my")? {
        Some(text) => ad(&text, "my", &options)?,
        None => ClassAd::new(),
    };
    let target = optional(case, "target")?.map(|text| ad(&text, "target", &options)).transpose()?;

    let parsed = if old {
        let options = ParseOptions { quoting: Quoting::Old, ..options.clone() };
        // One line of the long format: anything after the expression, and after the line, is ignored.
        let end = memchr::memchr(b'\n', &source).unwrap_or(source.len());
        let line = source[..end].strip_suffix(b"\r").unwrap_or(&source[..end]);
        parse_prefix(line, &options).map(|(expr, _)| expr)
    } else {
        parse_expr(&source, &options).or_else(|error| swallowed(&source, &options).ok_or(error))
    };
    let Ok(expr) = parsed else {
        let full = !old && parse_full(&source, &options).is_ok();
        return Ok(if full { json!({ "parse": false, "full_parse": true }) } else { json!({ "parse": false }) });
    };
    let scope = Scope::new(&my, &settings);
    let scope = target.as_ref().map_or(scope, |target| scope.with_target(target));
    let value = describe(scope.eval(&expr).as_ref().ok());
    Ok(json!({ "parse": true, "unparsed": text(&expr.to_text(Style::New)), "value": value }))
}

/// The records took a text for an expression when it was the value of the only attribute of an ad written around
/// it, and a full parse accepted it too. So `true ? 1 : 2;` is one: a full parse does not look behind a conditional.
fn swallowed(source: &[u8], options: &ParseOptions) -> Option<Expr> {
    parse_full(source, options).ok()?;
    let (ad, _) = parse_ad(&[b"[expression = ", source, b"\n]"].concat(), options).ok()?;
    ad.get("expression").filter(|_| ad.len() == 1)
}
