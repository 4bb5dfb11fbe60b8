//! The table of checks.

use classmate::internal::diagnostic::Severity;

/// One thing that is looked for. Its code never changes.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The code: `never-true`.
    pub code: &'static str,
    /// An error loses or rejects something; a warning is about a likely mistake.
    pub severity: Severity,
    /// The problem, in one line.
    pub about: &'static str,
}

const fn error(code: &'static str, about: &'static str) -> Check {
    Check { code, severity: Severity::Error, about }
}

const fn warning(code: &'static str, about: &'static str) -> Check {
    Check { code, severity: Severity::Warning, about }
}

/// All checks, in the order of the documentation.
pub const CHECKS: &[Check] = &[
    // Text that is lost.
    error("syntax", "invalid expression (HTCondor usually ignores it silently)"),
    error("assignment", "`=` used as a comparison"),
    error("size-suffix", "number with a unit (the language does not have units)"),
    error("ignored-text", "ignored text after an expression"),
    error("leftover-macro", "`$(…)` that is not expanded"),
    error("rejected-submit", "submit file that `condor_submit` rejects"),
    error("undefined-macro", "undefined macro that makes an expression invalid"),
    // Configuration.
    error("bad-value", "invalid value for a configuration variable"),
    error("comment-in-value", "comment that ends a continued value and adds its last character to it"),
    warning("odd-line", "line that is read in an unexpected way"),
    warning("unknown-knob", "unknown name similar to a configuration variable"),
    warning("obsolete-knob", "obsolete name of a configuration variable"),
    warning("unread-prefix", "unknown daemon prefix"),
    warning("undeclared-group", "configuration variable of a group that is not in `GROUP_NAMES`"),
    warning("group-quota", "quotas that are missing or larger than the pool"),
    warning("unused-group-setting", "setting of a group that has no effect, or group that is ignored"),
    warning("redefined-knob", "configuration variable or submit command that one file sets twice"),
    warning("conflicting-knobs", "configuration variables that conflict"),
    warning("open-access", "security setting that lets anyone in"),
    warning("unseen-attribute", "attribute that the expression can never see"),
    warning("unknown-attribute", "attribute that no ad of the pool has"),
    warning("per-job-attribute", "attribute that puts each job in its own autocluster"),
    warning("unknown-command", "unknown name similar to a submit command"),
    warning("odd-command", "value of a submit command that is read in an unexpected way"),
    warning("unused-allow", "comment `# classmate: allow CODE` without effect"),
    // Conditions.
    warning(
        "undefined-means-no",
        "condition that fails where an attribute is missing, although it seems to test for that",
    ),
    warning("true-when-undefined", "condition that is true where an attribute is missing"),
    warning("always-true", "clause that is true for all ads"),
    warning("always-false", "clause that is false for all ads"),
    warning("always-undefined", "clause that is UNDEFINED for all ads"),
    warning("always-error", "clause that is ERROR for all ads"),
    warning("never-true", "condition that is not true for any ads"),
    warning("unsatisfiable", "Requirements that can never be satisfied, given the values of the ad"),
    warning("contradiction", "two clauses that are never true together"),
    warning("duplicate-clause", "duplicate clause"),
    warning("implied-clause", "clause that is implied by another one"),
    warning("never-false", "alternatives of which one is always true"),
    warning("constant-clause", "constant that decides a whole condition, such as `true || …`"),
    // Words and operators.
    warning("unquoted-word", "unquoted word that is probably a string"),
    warning("single-quotes", "single quotes around a string"),
    warning("glob-comparison", "wildcard in a string comparison"),
    warning("compared-with-undefined", "`==` or `!=` with UNDEFINED or ERROR"),
    warning("bitwise-operator", "bitwise operator instead of logic or a power"),
    warning("comparison-chain", "`a < b < c`"),
    warning("precedence", "operator with surprising precedence"),
    warning("type-clash", "values of incompatible types"),
    warning("impossible-value", "value that an attribute never has"),
    warning("odd-unit", "number that is probably in another unit"),
    warning("integer-division", "quotient of integers that loses its fraction"),
    warning("division-by-zero", "division by zero"),
    warning("odd-number", "number with a surprising value"),
    warning("string-escape", "backslash that starts an escape"),
    warning("missing-parentheses", "function name without parentheses"),
    warning("unknown-function", "unknown function"),
    warning("bad-argument", "argument that a function cannot use"),
    warning("argument-count", "call with too few or too many arguments"),
    warning("version-dependent", "construct that differs between versions, or is a bug in this version"),
];

/// The check of a code.
pub fn find(code: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.code == code)
}
