//! The functions on regular expressions and string lists, with any bytes as arguments.
//!
//! The input is a pattern, a text, a replacement and options, separated by bytes 0xFF.
#![no_main]

use std::sync::LazyLock;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{Limits, Scope, EvalOptions};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::value::Value;
use libfuzzer_sys::fuzz_target;

static CALLS: LazyLock<Vec<Expr>> = LazyLock::new(|| {
    [
        "regexp(p, s, o)", "regexpMember(p, { s, p, r }, o)", "regexps(p, s, r, o)", "regexps(p, s, r, strcat(o, \"g\"))",
        "replace(p, s, r, o)", "replaceAll(p, s, r, o)", "stringList_regexpMember(p, s, r, o)", "unresolved(q, p)", "split(s, p)",
        "stringListMember(p, s, r)", "stringListSubsetMatch(p, s, r)", "stringListsIntersect(p, s, r)", "stringListSum(s, r)",
        "versioncmp(s, r)", "formatTime(0, s)", "argsToList(s)", "listToArgs(split(s, r))", "envV1ToV2(s)", "mergeEnvironment(s, r)",
        "eval(s)", "int(s) + real(s)", "substr(s, size(p), size(r))",
    ]
    .iter()
    .map(|call| parse_expr(call.as_bytes(), &ParseOptions::default()).expect("the calls are expressions"))
    .collect()
});

fuzz_target!(|data: &[u8]| {
    let mut ad = ClassAd::new();
    let mut parts = data.split(|byte| *byte == 0xff);
    for name in ["p", "s", "r", "o"] {
        // The language has no strings with NUL.
        let text: Vec<u8> = parts.next().unwrap_or_default().iter().copied().filter(|byte| *byte != 0).collect();
        ad.insert(name, Value::text(text));
    }
    ad.insert_expr("q", &CALLS[0]);
    let limits = Limits { work: 200_000, bytes: 4 << 20, ..Limits::default() };
    let settings = EvalOptions { limits, ..EvalOptions::default() };
    for call in CALLS.iter() {
        let _ = Scope::new(&ad, &settings).eval(call);
    }
});
